"""Questions about scenes: CLEVR templates, hypothetical actions, COVR and GQA, and what they share."""
