"""Facts about single programming languages, for several engines."""
