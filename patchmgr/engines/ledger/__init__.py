"""Whether every line of a series is accounted for; it shares no code with the engine."""
