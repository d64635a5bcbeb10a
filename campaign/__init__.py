"""The campaign: attacks on what figures and folders promise, seeded and resumable; `make campaign`."""
