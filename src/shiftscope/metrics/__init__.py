"""Metrics, one file each: a pure function of records, with its count and interval."""
