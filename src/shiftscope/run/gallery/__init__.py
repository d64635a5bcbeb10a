"""Contact sheets of what the worlds can show."""
