"""Find the gates that guard a changed statement, and the code that runs with all gates off.

A gate is a condition on an environment variable, a setting, a platform or the like.
"""
