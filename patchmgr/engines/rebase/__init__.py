"""Rebase a series from one upstream state to another, merging each file by a ladder of methods."""
