"""Open-vocabulary scene graphs: pack, index, search, related images."""
