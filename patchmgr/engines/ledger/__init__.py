"""Account for every line of a series. The ledger shares no code with the engine that it checks."""
