"""Captions: sentences about one image, written from its scene graph, that teach a model what words look like.

They stand for what people wrote about the photographs that VisualBERT and ViLBERT were pretrained on. A caption names
one thing or two, with what they are like and what they stand to: "a small jet that is behind a red sedan, and there is
a truck". It names nothing twice, or what it says of a thing would have to agree, and a foil could be told by that. It
counts nothing, asks nothing and speaks of no other image. A foil is a caption with one word exchanged, so that it is
not true of the image.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import NamedTuple

from ...english import nouns
from ...english.adjectives import describe_attribute
from ...english.relations import add_article, parse_relation
from ...english.synonyms import Lexicon
from ...formats.gqa import DERIVED
from ...rng import derive
from ...scene import Pairs, Scene, mask_members
from ...scene_graph.pack import get_noun_attribute
from ...schema import Schema
from ...shortcuts.tokens import tokenize

NO_PHRASE = -1
RULE = 1  # another number whenever captions are written otherwise or teach otherwise: what was learned never mixes
THINGS = (1, 1, 2)  # how many things a caption begins with, alike often
DESCRIBED = 0.45  # chance that an attribute of a thing is told
RELATED = (0.6, 0.4)  # chance that it is told what a thing stands to: of the first, and of what that stands to
TRIES = 8  # words that are exchanged until what is said is not true
SEEDS = 1 << 62


@dataclass(frozen=True, slots=True)
class Mention:
    """A thing as a caption names it, and how it stands to the thing that is named next."""

    noun: str
    told: Pairs  # attributes with their values
    relation: str = ""


Chain = tuple[Mention, ...]


class Caption(NamedTuple):
    """A sentence about an image, true or not, and what its phrases denote."""

    text: str
    things: tuple[int, ...]  # [word] set of the things that its phrase is true of, NO_PHRASE outside of phrases


def write_captions(scene: Scene, count: int) -> list[tuple[Caption, Caption | None]]:
    """So many captions, each with a foil; the same for the same scene.

    There is no foil in an open vocabulary, where what is not annotated may be true. Of a scene in which nothing has a
    name there is no caption.
    """
    told = _CaptionedScene(scene)
    if not told.named:
        return []
    random = Random(int(derive("captions", scene.id).integers(SEEDS)))  # many small draws, which NumPy is slow at
    found = []
    for _ in range(count):
        chains = told.draw(random.choice(THINGS), random)
        foil = told.exchange(chains, random)
        found.append((told.write(chains), told.write(foil) if foil else None))
    return found


class _CaptionedScene:
    """What there is to tell of a scene."""

    def __init__(self, scene: Scene) -> None:
        self.schema = schema = scene.schema
        self.noun = get_noun_attribute(schema)
        self.names: list[str] = []  # [thing] what it is called, nothing where it has no name
        self.told: list[Pairs] = []  # [thing] its attributes that stand before a noun
        self.have: dict[tuple[str, str], int] = {}  # attribute and value → set of things
        for k, thing in enumerate(scene.objects):
            self.names.append(next(iter(thing.values(self.noun)), ""))
            others = ((name, value) for name, value in thing.attributes if name not in (self.noun, *DERIVED))
            self.told.append(tuple(pair for pair in others if _spell_adjective(schema, pair[1])))
            for pair in thing.attributes:
                self.have[pair] = self.have.get(pair, 0) | 1 << k
        self.rows: dict[str, tuple[int, ...]] = {}  # relation → [thing] set of those that stand so to it
        self.links: list[list[tuple[str, int]]] = [[] for _ in self.names]  # [thing] relation and what it leads to
        for name in dict.fromkeys([*(relation.name for relation in scene.relations), *schema.relations]):
            rows = scene.relation(name)
            if rows is None or not _is_sayable(schema, name):
                continue
            self.rows[name] = rows
            for target, row in enumerate(rows):
                if self.names[target]:
                    for subject in mask_members(row):
                        self.links[subject].append((name, target))
        self.named = [k for k, name in enumerate(self.names) if name]

    def draw(self, count: int, random: Random) -> list[Chain]:
        """So many things, or as many as there are, each with what it stands to; none is named twice."""
        named: set[int] = set()
        found: list[Chain] = []
        while len(found) < count and (others := [thing for thing in self.named if thing not in named]):
            found.append(self._draw_chain(random.choice(others), named, random))
        return found

    def _draw_chain(self, thing: int, named: set[int], random: Random) -> Chain:
        """A thing, perhaps with something that it stands to, and with what that stands to; adds them to the named."""
        found: list[Mention] = []
        while True:
            named.add(thing)
            told = tuple(pair for pair in self.told[thing] if random.random() < DESCRIBED)
            mention = Mention(self.names[thing], told)
            links = []
            if len(found) < len(RELATED) and random.random() < RELATED[len(found)]:
                links = [link for link in self.links[thing] if link[1] not in named]
            if not links:
                return (*found, mention)
            relation, thing = random.choice(links)
            found.append(replace(mention, relation=relation))

    def exchange(self, chains: Sequence[Chain], random: Random) -> list[Chain] | None:
        """The same with one noun, attribute or relation exchanged for another, so that it is not true."""
        if not self.schema.closed:
            return None
        for _ in range(TRIES):
            at = random.randrange(len(chains))
            chain = self._exchange_word(chains[at], random)
            if not self.find_things(chain)[0]:
                return [chain if k == at else other for k, other in enumerate(chains)]
        return None

    def _exchange_word(self, chain: Chain, random: Random) -> Chain:
        """Nouns, attributes and relations alike often, however many of each there are."""
        places = {"noun": [*range(len(chain))], "told": [k for k, one in enumerate(chain) if one.told]}
        places["relation"] = [*range(len(chain) - 1)]
        kind = random.choice([kind for kind, some in places.items() if some])
        place = random.choice(places[kind])
        mention = chain[place]
        if kind == "noun":
            new = replace(mention, noun=_pick_other(self.schema.attribute(self.noun).values, mention.noun, random))
        elif kind == "relation":
            new = replace(mention, relation=_pick_other(tuple(self.rows), mention.relation, random))
        else:
            which = random.randrange(len(mention.told))
            name, value = mention.told[which]
            other = _pick_other(self.schema.attribute(name).values, value, random)
            new = replace(mention, told=(*mention.told[:which], (name, other), *mention.told[which + 1 :]))
        return (*chain[:place], new, *chain[place + 1 :])

    def find_things(self, chain: Chain) -> list[int]:
        """Of each mention, the set of things that are so and stand so to what follows."""
        sets: list[int] = []
        for mention in reversed(chain):
            found = self.have.get((self.noun, mention.noun), 0)
            for pair in mention.told:
                found &= self.have.get(pair, 0)
            if mention.relation:
                rows, reached = self.rows[mention.relation], 0
                for target in mask_members(sets[-1]):
                    reached |= rows[target]
                found &= reached
            sets.append(found)
        return sets[::-1]

    def write(self, chains: Sequence[Chain]) -> Caption:
        told: list[str] = []
        things: list[int] = []
        for k, chain in enumerate(chains):
            if k:  # "and" alone would join it to what the first stands to, as it does in questions
                told.append(_begin_another(self.schema, chain[0]))
                things += [NO_PHRASE] * _count_words(told[-1])
            words: list[str] = []
            for mention, found in zip(chain, self.find_things(chain), strict=True):
                phrase, link = _word_mention(self.schema, mention)
                things += [found] * _count_words(phrase) + [NO_PHRASE] * _count_words(link)
                words += [phrase, link] if link else [phrase]
            told.append(" ".join(words))
        return Caption("".join(told), tuple(things))


def _pick_other(values: Sequence[str], value: str, random: Random) -> str:
    return random.choice([one for one in values if one != value] or [value])


def _word_mention(schema: Schema, mention: Mention) -> tuple[str, str]:
    """Its phrase, and what leads to the next, if there is one."""
    phrase = _word_thing(schema, mention.noun, mention.told)
    if not mention.relation:
        return phrase, ""
    return phrase, f"that {_write_relation(schema, mention.relation, _is_plural(schema, mention))}"


def _begin_another(schema: Schema, mention: Mention) -> str:
    return f", and there {'are' if _is_plural(schema, mention) else 'is'} "


def _is_plural(schema: Schema, mention: Mention) -> bool:
    return nouns.is_plural_noun(_spell(schema, mention.noun))


@lru_cache(maxsize=1 << 16)
def _word_thing(schema: Schema, noun: str, told: Pairs) -> str:
    name = _spell(schema, noun)
    return add_article(" ".join([*(_spell_adjective(schema, value) for _, value in told), name]), name, "a")


@lru_cache(maxsize=1 << 16)
def _count_words(text: str) -> int:
    return len(tokenize(text))


@lru_cache(maxsize=4096)
def _write_relation(schema: Schema, relation: str, plural: bool) -> str:
    predicate = parse_relation(_spell(schema, relation))
    assert predicate is not None
    return predicate.write_finite(plural)


@lru_cache(maxsize=4096)
def _is_sayable(schema: Schema, relation: str) -> bool:
    return parse_relation(_spell(schema, relation)) is not None


@lru_cache(maxsize=4096)
def _spell_adjective(schema: Schema, value: str) -> str:
    """The words for it before a noun, if it can stand there."""
    phrase = describe_attribute(_spell(schema, value))
    return phrase.words if phrase and phrase.before else ""


@lru_cache(maxsize=4096)
def _spell(schema: Schema, word: str) -> str:
    return _get_lexicon(schema).get_forms(word).one[0]


_get_lexicon = lru_cache(maxsize=8)(Lexicon)
