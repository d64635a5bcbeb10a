"""English: inflection, nouns, adjectives, relations, synonyms, phrases and prompts; word lists are in `data/`."""
