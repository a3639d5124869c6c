"""quilt's own test suite against patchmgr, behind a shim that has quilt's name."""
