"""Grounding: the noun phrases of a template's texts, and the objects and parts that each refers to.

A phrase is a description's words with the article before them, or a noun for whatever has no description of its own
("how many other things match the cube?"). It stands for what is left once the program has said all it says of it: "the
bus" of "the bus with a red wheel" is the one with the wheel. Clauses belong to no phrase, so phrases never overlap.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ...english.synonyms import PART, THING, Lexicon, noun_attribute
from ...english.word_lists import word_set
from ...lang.program import Program
from ...question import GroundedPhrase
from ...scene import Scene, mask_members
from .template import RELATION, Template

LEADING_WORDS = word_set("clevr_questions", "leading words")
PRONOUNS = word_set("clevr_questions", "pronouns")
FOLLOWING_WORDS = word_set("clevr_questions", "following words")
UNDESCRIBED_OPS = ("same", "union", "intersect", "owners", "parts")
ENDS = ("count", "exist")  # tails after which a node no longer gives its things

TextWord = str | int | None  # a word, the number of a slot, or a mark


class Referent(NamedTuple):
    """What a phrase refers to: the things of these template nodes, all together."""

    nodes: tuple[tuple[int, bool], ...]  # and whether the node ends in their number or existence
    on_parts: bool


class Phrase(NamedTuple):
    first: int  # words of a text, the last included
    last: int
    referent: Referent


Reference = Referent | int  # or the number of an object
PhraseSpan = tuple[int, int, Reference]  # characters of the text


class PhraseFinder:
    """Finds the noun phrases in the texts of a template."""

    def __init__(self, template: Template, lexicon: Lexicon) -> None:
        self.template, schema = template, lexicon.schema
        own, of_parts = noun_attribute(schema.attributes), noun_attribute(schema.part_attributes)
        self.described: dict[int, int] = {}  # slot → the node that it describes
        self.nouns: set[int] = set()  # slots that hold a noun
        for number, n in enumerate(template.nodes):
            if n.meaning.op != "describe":
                continue
            for slot in map(template.find_slot, n.slots):
                if (attribute := template.params[slot].attribute) != RELATION:
                    self.described.setdefault(slot, number)
                    self.nouns |= {slot} if attribute == (of_parts if n.meaning.on_parts else own) else set()
        self.named = {self.described[slot] for slot in self.nouns}
        self.readers = [
            [i for i, n in enumerate(template.nodes) if at in n.inputs] for at in range(len(template.nodes))
        ]
        self.referents = {at: self._build_referent([at], self._gives_parts(at)) for at in self.named}
        self.words = self._ground_plain_nouns(lexicon)

    def find(self, words: Sequence[TextWord]) -> list[Phrase]:
        """The phrases of a text, in order."""
        return list(self._iterate_phrases([w.lower() if isinstance(w, str) else w for w in words]))

    def _iterate_phrases(self, words: list[TextWord]) -> Iterator[Phrase]:
        at = 0
        while at < len(words):
            first, word = at, words[at]
            at += 1
            referent = None
            if isinstance(word, str):
                referent = self.words.get(word)
                at += referent is not None and at < len(words) and words[at] in FOLLOWING_WORDS
            elif word is not None:
                node = self.described.get(word)
                while at < len(words) and isinstance(follows := words[at], int) and self.described.get(follows) == node:
                    at += 1
                if node is not None and self.nouns.intersection(w for w in words[first:at] if isinstance(w, int)):
                    referent = self.referents[node]
            if referent is not None:
                while first and words[first - 1] in LEADING_WORDS:
                    first -= 1
                yield Phrase(first, at - 1, referent)

    def _ground_plain_nouns(self, lexicon: Lexicon) -> dict[str, Referent]:
        """Nouns for anything, by what no description names."""
        followed = {node for at in self.named for node in self._follow(at)}
        found: dict[str, Referent] = {}
        for noun, on_parts, more in ((THING, False, PRONOUNS), (PART, True, frozenset[str]())):
            nodes = [
                at
                for at, n in enumerate(self.template.nodes)
                if n.meaning.op in UNDESCRIBED_OPS
                and at not in followed
                and self._gives_parts(at) == on_parts
                and not self.named.intersection(self.readers[at])
            ]
            if nodes:
                forms = lexicon.get_forms(noun)
                found |= dict.fromkeys((*forms.one, *forms.several, *more), self._build_referent(nodes, on_parts))
        return found

    def _build_referent(self, nodes: Sequence[int], on_parts: bool) -> Referent:
        """What is left of the nodes' things in the end."""
        ends = [(at, *self._follow(at))[-1] for at in nodes]
        return Referent(tuple((at, self.template.nodes[at].meaning.tail in ENDS) for at in ends), on_parts)

    def _follow(self, at: int) -> Iterator[int]:
        """The nodes that say more of the same things, without a phrase of their own."""
        while len(self.readers[at]) == 1 and self.template.nodes[at].meaning.tail not in ENDS:
            (reader,) = self.readers[at]
            meaning = self.template.nodes[reader].meaning
            if meaning.op == "parts" and (owners := self._find_owners(reader)) is not None:
                at = owners
            elif meaning.op in ("unique", "exclude") or (meaning.op == "describe" and reader not in self.named):
                at = reader
            else:
                return
            yield at

    def _find_owners(self, parts: int) -> int | None:
        """The node that goes back from parts to those of their objects that have them."""
        readers = self.readers[parts]
        while len(readers) == 1:
            meaning = self.template.nodes[readers[0]].meaning
            if meaning.op == "owners":
                return readers[0]
            if meaning.op != "describe" or meaning.tail:  # one part, or a number
                return None
            readers = self.readers[readers[0]]
        return None

    def _gives_parts(self, at: int) -> bool:
        n = self.template.nodes[at]
        if n.meaning.op in ("parts", "owners") or not n.inputs:
            return n.meaning.op == "parts"
        return n.meaning.on_parts or self._gives_parts(n.inputs[0])


def list_scene_parts(scene: Scene) -> list[tuple[int, str]]:
    """Of each part that the scene lists, the number of its object and its name."""
    return [(i, part.name) for i, thing in enumerate(scene.objects) for part in thing.parts]


def ground_phrases(
    spans: Sequence[PhraseSpan],
    program: Program,
    ends: Sequence[int],
    trace: Sequence[Any],
    parts: Sequence[tuple[int, str]],
) -> tuple[GroundedPhrase, ...]:
    """What the phrases refer to; `ends` are the last program node of each template node, `trace` the nodes' values."""
    found = []
    for start, end, reference in spans:
        if isinstance(reference, int):
            found.append(GroundedPhrase(start, end, (reference,)))
            continue
        nodes, on_parts = reference
        mask = 0
        for number, counted in nodes:
            at = ends[number]
            mask |= trace[program.nodes[at].inputs[0] if counted else at]
        members = _list_members(mask)
        if on_parts:
            found.append(GroundedPhrase(start, end, (), tuple([parts[i] for i in members])))
        else:
            found.append(GroundedPhrase(start, end, members))
    return tuple(found)


@lru_cache(maxsize=1 << 14)
def _list_members(mask: int) -> tuple[int, ...]:
    return tuple(mask_members(mask))
