"""Object substitution: another thing's name in place of one, in text and program, so that the answer changes.

After Bitton et al. (2021), for questions about one image. The new name is of something in the image, or of
something that the data know and the image has not; it must be told apart from whatever else is in the image
(a man is a person), and what it changes the answer to is found by execution. What is spoken of as known ("the
man") must be there afterwards, and still be one where it was one.

Photographs have names of all sorts. There a name gives way to one of the same grammatical number that is
frequent in its place, the changed program must be one that we have words for, and a question in our own words
is worded again from it. An annotation does not say all: "no" is taken only where the image has no such thing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from ...answer import Answer, same_answer
from ...ask.english import article, is_plural, plural
from ...ask.lexicon import Lexicon
from ...graph.ask._nouns import BARE, OWN_PARTS, THE, number
from ...graph.gqa.described import described
from ...graph.gqa.view import is_thing
from ...graph.gqa.vocabulary import FEWEST, MOST, Vocabulary
from ...graph.gqa.words import Unsayable, question_text
from ...graph.overlap import THRESHOLD, Overlap, overlap_for
from ...graph.pack import noun_of
from ...lang.check import plan_of
from ...lang.exec.exact import Undefined
from ...lang.program import Program, node
from ...lang.types import OBJECTS
from ...question import Question
from ...rng import derive
from ...schema import Schema
from ._frame import Material

TRIED = 40  # names that are tried in a place before it is given up
LEVEL = "another object"
NO_NAME = "no object's name stands in the text exactly once"
NO_OTHER = "no other object's name that fits changes the answer"
KNOWN = (  # of what these are given the question speaks as known, and it must be there
    *("unique", "related", "relate", "same", "query", "verify", "choose", "choose_relation", "choose_more"),
    *("alike", "differ", "common", "all"),
)

Said = tuple[int, int, bool]  # where a name stands in a text, and whether for several


class Substitution:
    """What may stand in for what, in the questions of one split."""

    def __init__(self, data: Material, seed: int, wordnet: str = "") -> None:
        self._data, self._seed, self._wordnet = data, seed, wordnet
        self._lexicons: dict[str, Lexicon] = {}

    @cached_property
    def _words(self) -> Vocabulary:
        """The frequent names of each place in the split's scene graphs."""
        return Vocabulary.of(self._data.scenes((image,))[0] for image in self._data.images)

    @cached_property
    def _frequent(self) -> tuple[str, ...]:
        """The commonest names in the split's scene graphs."""
        names = (n for image in self._data.images for n in self._names((image,)))
        found = Counter(n for n in names if is_thing(n))
        kept = sorted((n for n in found if found[n] >= FEWEST), key=lambda n: (-found[n], n))
        return tuple(kept[: 4 * MOST])

    def _names(self, images: tuple[str, ...]) -> list[str]:
        (scene,) = self._data.scenes(images)
        noun = noun_of(scene.schema)
        return [value for thing in scene.objects for a, value in thing.attributes if a == noun]

    def changed(self, question: Question) -> tuple[str, Program, Answer] | str:
        """Text, program and answer with another name in one place; or why there is none."""
        (scene,) = self._data.scenes(question.scenes)
        schema, program = scene.schema, question.program
        assert program is not None and question.answer is not None
        noun = noun_of(schema)
        lexicon = self._lexicons.setdefault(schema.name, Lexicon(schema))
        chance = derive("contrast", "objects", self._seed, question.id)
        ours = not schema.closed and _text(program) == question.text
        said = _places(question, noun, lexicon, ours)
        if not said:
            return NO_NAME
        present = self._names(question.scenes)
        # "does the cube share its size with a cube?" could mean the cube itself
        once = not schema.closed or any(n.op == "same" for n in program.nodes)
        taken = {n.params[-1] for n in program.nodes if _name_in(n.op, n.params, noun)} if once else set()
        for k in chance.permutation(sorted(said)).tolist():
            for name in self._candidates(program, k, present, schema, chance):
                other = _renamed(program, k, name)
                if name in taken or not (schema.closed or _text(other)):
                    continue
                made = _text(other) if ours else _reworded(question.text, said[k], name, lexicon)
                if not made or not self._is_founded(program, other, question.scenes):
                    continue
                answer = self._data.answer(other, question.scenes)
                if isinstance(answer, Undefined) or same_answer(answer, question.answer):
                    continue
                if schema.closed or name not in present or answer is not False:
                    return made, other, answer
        return NO_OTHER

    def _candidates(
        self, program: Program, k: int, present: list[str], schema: Schema, chance: Any
    ) -> Iterator[str]:
        """Names that can be told apart from the image's other things and from the one replaced."""
        name = program.nodes[k].params[-1]
        here, away = set(present), set(self._pool(program, k, schema)) - {*present, *OWN_PARTS}
        tried = [n for some in (here, away) for n in _shuffled(some, chance)[:TRIED]]
        overlap = _overlap(schema, self._wordnet)
        for other in tried:
            if other == name or not (schema.closed or _alike(name, other)):
                continue
            rest = [thing for thing in {*present, name} if thing != other]
            if all(m > THRESHOLD for m in overlap.judge("object", other, sorted(rest))):
                yield other

    def _pool(self, program: Program, k: int, schema: Schema) -> Iterable[str]:
        """What the data know to stand in such a place."""
        if schema.closed:
            return schema.attribute(noun_of(schema)).values
        thing = described(program, k)
        if thing is None or thing.link is None:
            return self._frequent
        return self._words.names.get((thing.link.relation, thing.link.subject), {})

    def _is_founded(self, before: Program, after: Program, images: tuple[str, ...]) -> bool:
        """Whether all that the changed question speaks of as known is there, and one where it was one."""
        known = {at for n in after.nodes if n.op in KNOWN for at in n.inputs}
        types = plan_of(after).types
        for at in known:
            if types[at] != OBJECTS:
                continue
            was, found = (self._data.answer(_upto(program, at), images) for program in (before, after))
            if isinstance(found, Undefined) or not found or (_one(was) and not _one(found)):
                return False
        return True


def _text(program: Program) -> str:
    """The question in our own words; none where we have no words for it."""
    try:
        return question_text(program)
    except Unsayable:
        return ""


def _places(question: Question, noun: str, lexicon: Lexicon, ours: bool) -> dict[int, Said]:
    """The nodes whose name can be changed, and where it stands in the text; anywhere in our own words."""
    program = question.program
    assert program is not None
    kind = _asked_kind(program, noun)
    places = [k for k, n in enumerate(program.nodes) if _name_in(n.op, n.params, noun) and k not in kind]
    if ours:
        return dict.fromkeys(places, (0, 0, False))
    named = Counter(program.nodes[k].params[-1] for k in places)
    once = [k for k in places if named[program.nodes[k].params[-1]] == 1]  # else the words could be of either
    found = {k: _said(question.text, program.nodes[k].params[-1], lexicon) for k in once}
    return {k: where for k, where in found.items() if where is not None}


def _asked_kind(program: Program, noun: str) -> set[int]:
    """The nodes of what is asked for by kind: no "what hat is the man riding?" of "what animal …?"."""
    if program.root.op not in ("query", "choose") or program.root.params[0] != noun:
        return set()
    at, found = program.root.inputs[0], set()
    while program.nodes[at].op in ("unique", "filter", "exclude", "find"):
        found.add(at)
        if not program.nodes[at].inputs:
            break
        at = program.nodes[at].inputs[0]
    return found


def _alike(name: str, other: str) -> bool:
    """Whether one noun reads well where the other does."""
    same = number(name) == number(other)
    return same and is_thing(other) and all((name in some) == (other in some) for some in (BARE, THE))


def _shuffled(names: Iterable[str], chance: Any) -> list[str]:
    listed = sorted(names)
    return [listed[i] for i in chance.permutation(len(listed))]


def _upto(program: Program, k: int) -> Program:
    return Program(program.nodes[: k + 1])


def _one(found: int | Undefined) -> bool:
    """Of a mask of objects."""
    return not isinstance(found, Undefined) and found.bit_count() == 1


@lru_cache(maxsize=8)
def _overlap(schema: Schema, wordnet: str) -> Overlap:
    """What tells names apart; reading WordNet takes half a second."""
    return overlap_for(schema, wordnet=Path(wordnet) if wordnet else None)


def _name_in(op: str, params: tuple[str, ...], noun: str) -> bool:
    return op == "find" or (op in ("filter", "verify") and params[0] == noun)


def _renamed(program: Program, k: int, name: str) -> Program:
    old = program.nodes[k]
    new = node(old.op, old.inputs, (*old.params[:-1], name))
    return Program((*program.nodes[:k], new, *program.nodes[k + 1 :]))


def _said(text: str, name: str, lexicon: Lexicon) -> Said | None:
    """Where a name stands, in any of its forms; None unless exactly once, and for clearly one or several."""
    forms: dict[str, bool] = {}
    for way in lexicon.heard(name):
        several = plural(way)
        if several == way and not is_plural(way):  # sheep: one or several, nobody can tell
            return None
        forms |= {way.lower(): is_plural(way), several.lower(): True}
    longest = sorted(forms, key=len, reverse=True)
    found = list(re.finditer(rf"\b(?:{'|'.join(map(re.escape, longest))})\b", text, re.IGNORECASE))
    if len(found) != 1:
        return None
    return found[0].start(), found[0].end(), forms[found[0][0].lower()]


def _reworded(text: str, where: Said, name: str, lexicon: Lexicon) -> str | None:
    """The text with another name in that place, its article with it; None where the number would change."""
    start, end, several = where
    word = lexicon.ways(name)[0]
    if is_plural(word) and not several:
        return None
    said = plural(word) if several else word
    before = re.sub(
        r"\b(an?)(\s+)$", lambda m: f"{_like(m[1], article(said))}{m[2]}", text[:start], flags=re.IGNORECASE
    )
    return f"{before}{_like(text[start:end], said)}{text[end:]}"


def _like(old: str, new: str) -> str:
    return new[0].upper() + new[1:] if old[:1].isupper() and not new[:1].isupper() else new
