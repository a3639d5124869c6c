"""The only modules that import subprocess and GitPython."""
