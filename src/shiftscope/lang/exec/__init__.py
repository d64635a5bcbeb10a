"""Running programs: exactly and one by one, or packed by the thousand."""
