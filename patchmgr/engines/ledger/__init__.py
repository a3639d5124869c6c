"""The ledger accounts for every line of a series; it shares no code with the engine."""
