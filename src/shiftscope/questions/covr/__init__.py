"""COVR: questions about subgraphs of scene graphs, over several images."""
