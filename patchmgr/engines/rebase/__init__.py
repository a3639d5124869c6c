"""Rebase a series from one upstream state to another, merging each file as simply as possible."""
