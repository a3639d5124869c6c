"""The audit: faults that a merge without conflicts can hide. One file per kind of check."""
