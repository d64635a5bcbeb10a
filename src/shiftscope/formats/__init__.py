"""Official file families, one file each: sniff, read and write."""
