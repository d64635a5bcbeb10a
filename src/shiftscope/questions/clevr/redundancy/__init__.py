"""Redundancy of questions (Super-CLEVR's rd-, rd, rd+): twins that say less or more with the same answer."""
