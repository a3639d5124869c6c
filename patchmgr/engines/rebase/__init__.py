"""Rebase a series from one upstream state to another. Each file is merged as simply as possible."""
