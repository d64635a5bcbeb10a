"""CLEVR and Super-CLEVR questions: templates, the search for valid fillings, wording and inversion."""
