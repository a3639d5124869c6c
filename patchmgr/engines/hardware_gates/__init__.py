"""Find the gates (such as conditions on a platform or setting) that guard a changed statement."""
