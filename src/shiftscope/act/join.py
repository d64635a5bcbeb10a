"""Joining: an action and a question as one sentence, for models that read a single text."""

from __future__ import annotations

ASKING = ("How", "Which", "What", "Would", "Could", "Do", "Does", "Is", "Are", "Of", "With")
IF, SUPPOSE = "If ", "Suppose "


def join(clause: str, question: str) -> str:
    """ "If I paint the ball red, how many …?"; a question told in two steps gets a sentence of its own."""
    if question.partition(" ")[0] in ASKING:
        return f"{IF}{clause}, {question[:1].lower()}{question[1:]}"
    return f"{SUPPOSE}{clause}. {question}"


def rejoined(text: str, before: str, after: str) -> str:
    """The joined text of a clause and a question, with the question said in other words."""
    start = IF if text.startswith(IF) else SUPPOSE
    clause = text.removeprefix(start)[: -len(before) - len(", ")]
    return join(clause, after)
