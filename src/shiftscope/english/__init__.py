"""English: inflection, nouns, adjectives, relations and synonyms; word lists are in `data/`."""
