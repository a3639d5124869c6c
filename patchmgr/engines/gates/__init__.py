"""What `check` holds every patch to."""
