"""Questions over one scene graph, as GQA asks them, and their redundant operations."""
