"""Apply, place, reorder and compare patches, and select those that a state needs."""
