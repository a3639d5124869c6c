"""A result to text, one file a form."""
