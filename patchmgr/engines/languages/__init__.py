"""Facts about programming languages that several engines need."""
