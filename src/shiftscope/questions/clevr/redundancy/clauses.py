"""Clauses: the relations that rd+ adds to a set, as English, and where a template's texts take them.

One list for each set: "left of and behind the small red bus and the jet, and in front of the sedan". Of one thing the
clause is non-restrictive ("the small bus, which is …"), since it singles nothing out; of several it is "that are …".
Both stand at the end of a sentence alone. Where the sentence goes on, or more is said of the set (a relation that it
stands in, another set that it is joined to), the list is in brackets after its noun, and what follows says "that is":
"the sedan (left of the jet) that is behind the bus". So a clause never parts from the noun it is about, and no other
words are taken for its own. A text may name another place, at its end: `{+1 that are}`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ....english.synonyms import Lexicon
from ....errors import UserError
from ..template import RELATION, Template
from ..wording import CLAUSE_MARK, IN_BRACKETS, PHRASE_MARK, Clause
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
        self._forms: dict[FullDescription, list[tuple[tuple[str, ...], int]]] = {}

    def describe(self, thing: FullDescription, dice: int) -> str:
        """`the small red rubber cube` between two marks; `dice` choose the synonyms."""
        forms = self._forms.get(thing)
        if forms is None:
            found = [self.lexicon.get_forms(term) for _, term in thing]
            forms = self._forms[thing] = [(f.one, f.shift) for f in found]
        words = " ".join([one[(dice >> shift & 255) % len(one)] for one, shift in forms])
        return f"{PHRASE_MARK}the {words}{PHRASE_MARK}"

    def join(self, relations: Sequence[tuple[str, int]], phrases: Mapping[int, str]) -> Clause:
        """The list as one text; the phrases are marked."""
        return _join_relations(relations, phrases, self.relations)


def write_clause(
    relations: Sequence[tuple[str, int]], phrases: Mapping[int, str], worded: Mapping[str, str]
) -> list[ClausePiece]:
    """The pieces of a list; things that stand in the same relations share them. `phrases` say what each is."""
    marked = {thing: f"{PHRASE_MARK}{words}{PHRASE_MARK}" for thing, words in phrases.items()}
    text, things = _join_relations(relations, marked, worded)
    found = [
        ClausePiece(words, things[k // 2] if k % 2 else NOWHERE) for k, words in enumerate(text.split(PHRASE_MARK))
    ]
    return [piece for piece in found if piece.words]


def _join_relations(
    relations: Sequence[tuple[str, int]], phrases: Mapping[int, str], worded: Mapping[str, str]
) -> Clause:
    by_thing: dict[int, list[str]] = {}
    for relation, thing in relations:
        by_thing.setdefault(thing, []).append(relation)
    groups: dict[tuple[str, ...], list[int]] = {}
    for thing, held in by_thing.items():
        groups.setdefault(tuple(held), []).append(thing)
    listed: list[str] = []
    order: list[int] = []
    for sides in sorted(groups):
        things = groups[sides]
        said = [phrases[thing] for thing in things]
        listed.append(f"{' and '.join([worded[side] for side in sides])} {join_last(said, ', ', ' and ')}")
        order += things
    return Clause(join_last(listed, ", ", ", and "), tuple(order))


def join_last(listed: Sequence[str], mark: str, last: str) -> str:
    return last.join([mark.join(listed[:-1]), listed[-1]]) if len(listed) > 1 else listed[0]


def add_clause_marks(template: Template, nodes: Sequence[int], noun: str) -> Template:
    """The template with a mark for the clause of each of these nodes, in all texts."""
    texts = template.long_texts or template.texts
    for number in nodes:
        place = _ClausePlace(template, number, noun)
        texts = tuple(place.insert(text) for text in texts)
    return replace(template, texts=tuple(PLACE.sub("", text) for text in texts), long_texts=())


SENTENCE_ENDS = (".", "?", "!")
PLACE = re.compile(r"\s*\{\+(<[^<>]*>) ([^}]*)\}")


class _ClausePlace:
    def __init__(self, template: Template, number: int, noun: str) -> None:
        n = template.nodes[number]
        slot = next((s for s in n.slots if template.params[template.find_slot(s)].attribute == noun), None)
        if slot is None:
            raise UserError(f"{template.location}: {n.function} has no noun that a relation could follow")
        self.slot, self.mark = slot, f"{CLAUSE_MARK}{number}"
        last = template.nodes[-1]
        self.is_one = n.meaning.tail == "unique" or any(
            r.meaning.op == "unique" for r in template.nodes if number in r.inputs
        )
        related = n.meaning.relate or template.nodes[n.inputs[0]].meaning.op != "scene"
        joined = not self.is_one and n is not last and last.inputs != (number,)  # to another set, or compared with one
        self.in_brackets = related or joined
        self.relations = {p.name for p in template.params if p.attribute == RELATION}
        self.noun = re.compile(rf"{re.escape(slot)}(s(?![a-z]))?([^\w\s<\[]*)(\s*)(\[that \w+\] )?(?=(<[^<>]*>)?)")

    def insert(self, text: str) -> str:
        if any(m[1] == self.slot for m in PLACE.finditer(text)):
            return PLACE.sub(lambda m: f" {m[2]} {self.mark} " if m[1] == self.slot else m[0], text)
        if not self.noun.search(text):
            raise UserError(f"the text {text!r} has no {self.slot} that a relation could follow")
        return self.noun.sub(self._follow_noun, text)

    def _follow_noun(self, found: re.Match[str]) -> str:
        """The noun with its clause, in brackets unless that ends the sentence and nothing else is said of the set."""
        several, marks, space, option = found[1] or "", found[2], found[3], found[4] or ""
        noun, link = f"{self.slot}{several}", f"that {'are' if several else 'is'}"
        if self.in_brackets or not marks.startswith(SENTENCE_ENDS):
            if found[5] in self.relations:  # after brackets, its "that is" is always said; other options stay as drawn
                option = f"{link} [] " if option else f"{link} "
            return f"{noun} {self.mark}{IN_BRACKETS} {marks}{space}{option}"
        return f"{noun} {', which is' if self.is_one else link} {self.mark} {marks}{space}{option}"
