"""Apply, place, reorder and compare patches, and select those that an upstream state needs."""
