"""Clauses: the relations that rd+ adds to a set, as English, and where a template's texts take them.

One list for each set: "left of and behind the small red bus and the jet, and in front of the sedan". Of one thing the
clause is non-restrictive ("the small bus, which is …,"), since it singles nothing out; of several it is "that are …".
Where more is said of the set later on (a relation that it stands in, what it shares), the list is in brackets after
its noun: "the sedan (left of the jet) that is behind the bus". So a clause never parts from the noun it is about. A
text may name another place: `{+1 that are}`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ....english.synonyms import Lexicon
from ....errors import UserError
from ..template import Template
from ..wording import CLAUSE_MARK, IN_BRACKETS, PHRASE_MARK, WITH_COMMA, Clause
from .program_tree import FullDescription

NOWHERE = -1


class ClausePiece(NamedTuple):
    """Some words of a clause, and the object that they describe, if any."""

    words: str
    thing: int = NOWHERE


class ClauseWriter:
    """Words lists of relations; the lexicon is one that has worded the templates, so that its choices are settled."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.relations = {r: min(lexicon.list_synonyms(r), key=len) for r in lexicon.schema.relations}

    def describe(self, thing: FullDescription, dice: int) -> str:
        """`the small red rubber cube`; `dice` choose the synonyms."""
        words = ["the"]
        for _, term in thing:
            forms = self.lexicon.get_forms(term)
            words.append(forms.one[(dice >> forms.shift & 255) % len(forms.one)])
        return " ".join(words)

    def join(self, relations: Sequence[tuple[str, int]], phrases: Mapping[int, str]) -> Clause:
        """The list as one text, its phrases marked."""
        pieces = write_clause(relations, phrases, self.relations)
        words = [p.words if p.thing == NOWHERE else f"{PHRASE_MARK}{p.words}{PHRASE_MARK}" for p in pieces]
        return Clause("".join(words), tuple(p.thing for p in pieces if p.thing != NOWHERE))


def write_clause(
    relations: Sequence[tuple[str, int]], phrases: Mapping[int, str], worded: Mapping[str, str]
) -> list[ClausePiece]:
    """The pieces of a list; things that stand in the same relations share them. `phrases` say what each is."""
    by_thing: dict[int, tuple[str, ...]] = {}
    for relation, thing in relations:
        by_thing[thing] = (*by_thing.get(thing, ()), relation)
    groups: dict[tuple[str, ...], list[int]] = {}
    for thing, held in by_thing.items():
        groups.setdefault(held, []).append(thing)
    found: list[ClausePiece] = []
    for g, held in enumerate(sorted(groups)):
        start = "" if g == 0 else ", and " if g == len(groups) - 1 else ", "
        found.append(ClausePiece(f"{start}{' and '.join([worded[r] for r in held])} "))
        last = groups[held][-1]
        for thing in groups[held]:
            if thing != groups[held][0]:
                found.append(ClausePiece(" and " if thing == last else ", "))
            found.append(ClausePiece(phrases[thing], thing))
    return found


def add_clause_marks(template: Template, nodes: Sequence[int], noun: str) -> Template:
    """The template with a mark for the clause of each of these nodes, in all texts."""
    texts = template.long_texts or template.texts
    for number in nodes:
        place = _ClausePlace(template, number, noun)
        texts = tuple(place.insert(text) for text in texts)
    return replace(template, texts=tuple(PLACE.sub("", text) for text in texts), long_texts=())


PLACE = re.compile(r"\s*\{\+(<[^<>]*>) ([^}]*)\}")


class _ClausePlace:
    def __init__(self, template: Template, number: int, noun: str) -> None:
        n = template.nodes[number]
        slot = next((s for s in n.slots if template.params[template.find_slot(s)].attribute == noun), None)
        if slot is None:
            raise UserError(f"{template.location}: {n.function} has no noun that a relation could follow")
        self.slot, self.mark = slot, f"{CLAUSE_MARK}{number}"
        self.goes_on = n.meaning.relate or template.nodes[n.inputs[0]].meaning.op != "scene"
        readers = [r.meaning.op for r in template.nodes if number in r.inputs]
        self.is_one = n.meaning.tail == "unique" or "unique" in readers
        self.noun = re.compile(rf"{re.escape(slot)}(s(?![a-z]))?([^\w\s<\[]*)(\s*)")

    def insert(self, text: str) -> str:
        if any(m[1] == self.slot for m in PLACE.finditer(text)):
            return PLACE.sub(lambda m: f" {m[2]} {self.mark} " if m[1] == self.slot else m[0], text)
        if not self.noun.search(text):
            raise UserError(f"the text {text!r} has no {self.slot} that a relation could follow")
        return self.noun.sub(self._follow_noun, text)

    def _follow_noun(self, found: re.Match[str]) -> str:
        """The noun with its clause, which ends with a comma where the sentence goes on."""
        several, marks, space = found[1] or "", found[2], found[3]
        noun = f"{self.slot}{several}"
        if self.goes_on:
            return f"{noun} {self.mark}{IN_BRACKETS} {marks}{space}"
        if self.is_one:
            return f"{noun} , which is {self.mark} {marks or (',' if space else '')}{space}"
        closing = WITH_COMMA if space and not marks else ""
        return f"{noun} that {'are' if several else 'is'} {self.mark}{closing} {marks}{space}"
