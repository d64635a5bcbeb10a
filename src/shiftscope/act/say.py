"""Saying: an action in words of ours: as an order, in the passive, or done by somebody with a name.

In a wording `[add]` is a verb of the one who acts ("add", "Anna adds"), `{old}` and the like are filled in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ..ask.english import article, plural
from ..ask.lexicon import THING, Lexicon
from ..schemas.clevr import SCHEMA
from .action import Action
from .dice import Dice
from .ref import Pairs, Ref
from .wordings import ACTIVE, PASSIVE

PEOPLE = (
    *(("Anna", "she"), ("Ben", "he"), ("Clara", "she"), ("David", "he"), ("Emma", "she"), ("Felix", "he")),
    *(("Grace", "she"), ("Hugo", "he"), ("Iris", "she"), ("Jonas", "he"), ("Lena", "she"), ("Omar", "he")),
)
ORDER, PASSIVELY, PERSON = range(3)
RELATIONS = {
    "left": ("to the left of", "on the left side of", "left of"),
    "right": ("to the right of", "on the right side of", "right of"),
    "front": ("in front of",),
    "behind": ("behind",),
}
NOUNS = {"metal": ("metal",), "rubber": ("rubber",)}  # materials, where a noun is wanted
THEN = ("; then ", ", then ", ", and then ")

_LEXICON = Lexicon(SCHEMA)
_VERB = re.compile(r"\[(\w+)\]")
_GAP = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Said:
    """An action text, and the same as a clause that "if" may stand before."""

    sentence: str
    clause: str


def say(actions: tuple[Action, ...], dice: Dice) -> Said:
    """One or two actions in words; two are told in the same manner."""
    manner = dice.below(3)
    name, pronoun = dice.pick(PEOPLE)
    told: list[str] = []
    clauses: list[str] = []
    for number, action in enumerate(actions):
        table = PASSIVE if manner == PASSIVELY else ACTIVE
        wording = dice.pick(_fitting(table[action.form], action))
        filled = _filled(wording, action, dice)
        if manner == PASSIVELY:
            told.append(filled)
            clauses.append(filled)
        elif manner == ORDER:
            told.append(_VERB.sub(r"\1", filled))
            clauses.append(("" if number else "I ") + told[-1])
        else:
            done = _VERB.sub(lambda found: third_person(found[1]), filled)
            told.append(f"{pronoun if number else name} {done}")
            clauses.append(told[-1])
    text = dice.pick(THEN).join(told)
    return Said(text[:1].upper() + text[1:] + ".", " and then ".join(clauses))


def third_person(verb: str) -> str:
    """What he or she does: adds, pushes, copies."""
    return plural(verb)


def the(ref: Ref, dice: Dice) -> str:
    """A noun phrase for what is meant: the small ball, all cubes that are behind the red cylinder."""
    if ref.said:
        return ref.said
    start = dice.pick(("all ", "all the ", "all of the ")) if ref.many else "the "
    phrase = start + described(ref.pairs, dice, several=ref.many)
    if ref.anchor is None:
        return phrase
    link = "that are" if ref.many else "that is"
    return f"{phrase} {link} {dice.pick(RELATIONS[ref.relation])} {the(ref.anchor, dice)}"


def described(pairs: Pairs, dice: Dice, *, several: bool = False, noun: str = "") -> str:
    """The words of a description, each said one of its ways; the noun last."""
    words = [word(value, dice) for attribute, value in pairs if attribute != "shape"]
    shape = dict(pairs).get("shape", "")
    last = noun or word(shape or THING, dice)
    return " ".join([*words, plural(last) if several else last])


def word(value: str, dice: Dice) -> str:
    return dice.pick(_LEXICON.ways(value))


def _fitting(wordings: tuple[str, ...], action: Action) -> tuple[str, ...]:
    """The wordings that read well: no "the color of it"; a short verb's particle not after a long phrase."""
    subject = action.subject
    if subject is None:
        return wordings
    if subject.said == "it":
        wordings = tuple(w for w in wordings if "of {old}" not in w and "away {old}" not in w)
    if subject.anchor is not None:
        wordings = tuple(w for w in wordings if "{old} {" not in w) or wordings
    return wordings


def _filled(wording: str, action: Action, dice: Dice) -> str:
    def fill(gap: str) -> str:
        match gap:
            case "old":
                assert action.subject is not None
                return the(action.subject, dice)
            case "anchor":
                assert action.anchor is not None
                return the(action.anchor, dice)
            case "source":
                assert action.new is not None and action.new.source is not None
                return the(action.new.source, dice)
            case "new":
                return _new(action, dice)
            case "rel":
                return dice.pick(RELATIONS[action.relation])
            case "to":  # where something goes
                return RELATIONS[action.relation][0]
            case "attribute":
                return action.new.attribute if action.new else action.attribute
            case "value":
                return word(action.value, dice)
            case "plain":  # a noun: metal, and never metallic
                return dice.pick(NOUNS.get(action.value, (action.value,)))
            case "a_value":
                said = word(action.value, dice)
                return f"{article(said)} {said}"
            case "values":
                return plural(word(action.value, dice))
            case "grow":
                return {"large": "enlarge", "small": "shrink"}[action.value]
            case "grown":
                return {"large": "enlarged", "small": "shrunk"}[action.value]
        raise KeyError(gap)

    return "".join([fill(piece) if i % 2 else piece for i, piece in enumerate(_pieces(wording))])


@cache
def _pieces(wording: str) -> tuple[str, ...]:
    """Words and gaps in turn."""
    return tuple(_GAP.split(wording))


def _new(action: Action, dice: Dice) -> str:
    assert action.new is not None
    told = tuple(p for p in action.new.pairs if p[0] != action.new.attribute)
    phrase = described(told, dice)
    return f"{article(phrase)} {phrase}"
