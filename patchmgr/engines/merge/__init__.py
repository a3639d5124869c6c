"""Structural merging: lift a change to edits, replay them on the other side, verify, choose."""
