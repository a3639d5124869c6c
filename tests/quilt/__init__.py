"""patchmgr beside the real quilt."""
