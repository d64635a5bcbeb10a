"""The ops of the language, in families; every file here is one, found by its name."""
