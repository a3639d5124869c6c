"""What engines know of single languages."""
