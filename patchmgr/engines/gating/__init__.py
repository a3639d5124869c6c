"""Find the gates before a changed statement, and the code that runs when all gates are off.

A gate is a condition on an environment variable, a setting, a platform or the like.
"""
