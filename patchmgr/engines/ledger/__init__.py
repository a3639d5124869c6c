"""The ledger accounts for every line of a series. It shares no code with the engine."""
