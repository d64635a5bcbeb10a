"""Official program notations, in and out; one file or folder each, with `read` and `write`."""
