"""Our own templates, in our own words: one file a group, each a function of the schema."""
