"""CLEVR_HYP: hypothetical actions on scenes, and questions about what would be true after them."""
