"""One file a verb: wires ports, calls an engine, returns a value."""
