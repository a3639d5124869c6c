"""The audit: find faults that a merge without conflicts can hide. Each kind of check has a file."""
