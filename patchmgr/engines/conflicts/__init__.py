"""Conflicts: their ids, what people made of them, and what is reported about them."""
