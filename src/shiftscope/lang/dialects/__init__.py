"""Official program notations, in and out; one file each, with `read` and `write`."""
