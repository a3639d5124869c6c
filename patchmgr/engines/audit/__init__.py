"""The audit: find faults in a result that merged without conflicts. Each check is a module."""
