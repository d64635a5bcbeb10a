"""Changes of a quantifier: other words of the same meaning, or of the opposite one.

The rows of Table 3 of Zhu et al. (2022). A change takes both the text and the program: the words are replaced
where they stand exactly once, and what the changed program gives is the new answer, never a flip taken on
trust. "At least one" and "either none or only some" are said with "of the", which the paper leaves out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...lang.program import Program, node
from ._shape import COUNT_GROUP_BY, VERIFY_COUNT, VERIFY_COUNT_GROUP_BY, VERIFY_QUANT, Shape

NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
IMAGE = r"(?=(?:\s+of\s+the)?\s+(?:images?|pictures?|photos?|photographs?)\b)"
NOT_IMAGE = IMAGE.replace("(?=", "(?!", 1)
OPENING = {"no": "none", "some": "some", "all": "all"}  # the word → the op
_CLAUSE = re.compile(r"\b(that|which|who|and|or)\s+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Change:
    """One row of the table: in questions of which kind, from which words to which."""

    kind: str
    before: str
    after: str
    alters: bool
    said: str = ""  # the words that are written, where they are not `after`

    @property
    def level(self) -> str:
        """What the row is called; no → some and some → no are one row."""
        return "no ↔ some" if {self.before, self.after} == {"no", "some"} else f"{self.before} → {self.after}"

    @property
    def slug(self) -> str:
        return f"{self.before} to {self.after}".replace(" ", "_")

    def applies(self, shape: Shape) -> bool:
        """Whether a question of this shape has the quantifier, as far as the program tells."""
        wanted = OPENING.get(self.before, "at_least")
        return shape.kind == self.kind and shape.test == wanted

    def text(self, text: str, shape: Shape) -> str | None:
        """The text with the other words; None where the words to change do not stand in it exactly once."""
        found = list(re.finditer(_pattern(self.before, shape), text, re.IGNORECASE))
        if len(found) != 1:
            return None
        start, end = found[0].span(1)
        words = self.said or self.after
        made = f"{text[:start]}{_cased(words, text[start:end])}{text[end:]}"
        return _singular(made) if self.after == "at least one" else made

    def program(self, program: Program) -> Program:
        """What the changed question means."""
        root = program.root
        rest = program.nodes[:-1]
        match self.before, self.after:
            case "at least", "less than":
                return Program((*rest, node("less", root.inputs)))
            case ("no", _) | ("some", _):
                return Program((*rest, node("some" if self.before == "no" else "none", root.inputs)))
            case "all", _:
                return Program((*program.nodes, node("not", (len(rest),))))
        return program


CHANGES = (
    Change(COUNT_GROUP_BY, "at least", "no less than", alters=False),
    Change(VERIFY_COUNT, "at least", "no less than", alters=False),
    Change(VERIFY_COUNT, "at least", "less than", alters=True),
    Change(VERIFY_COUNT_GROUP_BY, "at least", "no less than", alters=False),
    Change(VERIFY_COUNT_GROUP_BY, "at least", "less than", alters=True),
    Change(VERIFY_QUANT, "no", "some", alters=True),
    Change(VERIFY_QUANT, "some", "no", alters=True),
    Change(VERIFY_QUANT, "no", "at least one", alters=True, said="at least one of the"),
    Change(VERIFY_QUANT, "some", "none of the", alters=True),
    Change(
        VERIFY_QUANT,
        "all",
        "either none or only some",
        alters=True,
        said="either none or only some of the",
    ),
)


def _pattern(words: str, shape: Shape) -> str:
    """What must stand in the text once: the words (group 1), and for a number the number itself."""
    said = r"\s+".join(words.split())
    if words != "at least":
        return rf"\b({said})\b"
    number = shape.number
    assert number is not None
    spelled = f"{number}|{NUMBERS[number]}" if number < len(NUMBERS) else str(number)
    ahead = {COUNT_GROUP_BY: NOT_IMAGE, VERIFY_COUNT_GROUP_BY: IMAGE}.get(shape.kind, "")
    return rf"\b({said})\s+(?:{spelled})\b{ahead}"


def _cased(words: str, like: str) -> str:
    return words[0].upper() + words[1:] if like[:1].isupper() else words


def _singular(text: str) -> str:
    """With the main verb in the singular, for "at least one of the …"; as it is where none is clearly it."""
    verbs = [
        m
        for m in re.finditer(r"\b(are|have)\b", text, re.IGNORECASE)
        if not _CLAUSE.search(text[: m.start()])
    ]
    if len(verbs) != 1:
        return text
    (verb,) = verbs
    said = {"are": "is", "have": "has"}[verb[0].lower()]
    return f"{text[: verb.start()]}{_cased(said, verb[0])}{text[verb.end() :]}"
