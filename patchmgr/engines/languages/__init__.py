"""What engines know about single languages."""
