"""COVR's 15 question templates, one file each."""
