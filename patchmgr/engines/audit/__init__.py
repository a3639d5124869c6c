"""The audit: what a merge without a conflict does not prove. One file a kind of check."""
