"""Facts about single languages that several engines use."""
