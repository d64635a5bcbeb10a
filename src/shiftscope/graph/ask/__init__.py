"""Ask about subgraphs of scene graphs, over several images: phrases, programs, templates, balance."""
