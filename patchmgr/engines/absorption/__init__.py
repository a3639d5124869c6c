"""Find which parts of a series upstream already has."""
