"""Scene graphs, many at once: packed, indexed, cut into subgraphs, and searched for related images."""
