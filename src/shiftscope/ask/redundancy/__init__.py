"""Redundancy: the same question said with as few words as will do, as it came, or with all that is true."""
