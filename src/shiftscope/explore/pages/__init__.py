"""The explorer's pages, one file each: records in, HTML out."""
