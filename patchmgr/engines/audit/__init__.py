"""The audit: find faults that a merge without conflicts can hide, with a module for each check."""
