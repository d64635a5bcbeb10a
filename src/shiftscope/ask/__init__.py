"""Questions about scenes: templates, the search for what fits a scene, wording, balance and checks."""
