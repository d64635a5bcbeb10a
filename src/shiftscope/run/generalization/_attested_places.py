"""Which nouns fit a place in a question: a passenger train and a passenger bus, but no passenger hill.

A place makes demands: the attributes that the question gives the thing there, the relations to others that it takes
part in, and what it is asked after together with. A name fits if the graphs have it with each of these, and it is of
the class of the name that it replaces; one who does something, or what is done to, may be of any. A class is the
smallest kind of the schema that has a name, or what is close in WordNet. Places are hardly ever exclusive, and what
holds a thing is there with it: neither replaces the other.
"""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from ...english.inflection import is_plural
from ...english.nouns import are_part_and_whole, is_kind, is_noun, is_person
from ...english.relations import parse_relation
from ...lang.program import Program
from ...questions.gqa.commonplace import can_be
from ...questions.gqa.wording import read_description
from ...scene import Scene
from ...scene_graph.wordnet import WordNet
from ...schema import Schema
from ...schemas.gqa import plural_name
from ...shift.held_out.facts import truncate_program

FEWEST_WIDER = (
    5,
    7,
)  # by steps up in WordNet: what has fewer wider senses is too wide to share: an object, a structure
FEWEST_ATTESTED = 2  # graphs that have a name in a place
_EXCLUSIVE_PLACES = ("room", "road")  # kinds of places of which a thing is in one
_THROUGH = ("filter", "exclude", "unique")  # of a set, what leaves it or a part of it


class WordDemand(NamedTuple):
    """The thing has this attribute."""

    value: str


class RelationDemand(NamedTuple):
    """It is the subject or the object of this relation, and the other thing has this name."""

    relation: str
    subject: bool
    other: str


class CompanionDemand(NamedTuple):
    """It is asked after together with a thing of this name."""

    name: str


Demand = WordDemand | RelationDemand | CompanionDemand


def list_demands(program: Program, place: int, noun: str) -> list[Demand]:
    """What the question says of the thing whose name this node gives."""
    thing = read_description(program, place)
    found: list[Demand] = []
    if thing is not None and thing.link is not None:
        found.append(RelationDemand(thing.link.relation, thing.link.subject, thing.link.other.name))
    if program.root.op in ("and", "or"):
        halves = [truncate_program(program, at).nodes for at in program.root.inputs]
        names = [[n.params[-1] for n in nodes if n.op == "find" or n.params[:1] == (noun,)] for nodes in halves]
        own = program.nodes[place].params[-1] in names[1]
        found += map(CompanionDemand, names[0 if own else 1])
    same = {place}
    for number, node in enumerate(program.nodes[place + 1 :], place + 1):
        if same.isdisjoint(node.inputs):
            continue
        if node.op in ("filter", "exclude", "verify") and node.params[0] != noun:
            found.append(WordDemand(node.params[-1]))
        if node.op in _THROUGH:
            same.add(number)
        elif node.op in ("related", "relate"):
            other = _find_name(program, number, noun)
            subject = node.op == "relate" or node.params[1:] in ((), ("subject",))
            found.append(RelationDemand(node.params[0], not subject, other))
    return found


def _find_name(program: Program, related: int, noun: str) -> str:
    """The name that the things found by a relation must have; none where they may be anything."""
    for node in program.nodes[related + 1 :]:
        if related in node.inputs and node.op == "filter" and node.params[0] == noun:
            return node.params[-1]
    return ""


class AttestedPlaces:
    """What the names of a collection of graphs occur with."""

    def __init__(self, scenes: Iterable[Scene], schema: Schema, wordnet: WordNet, noun: str) -> None:
        self._wordnet = wordnet
        kinds = next(dict(a.kinds) for a in schema.attributes if a.name == noun)
        self._smallest: dict[str, tuple[int, str]] = {}
        for kind, members in sorted(kinds.items()):
            own = {kind, plural_name(kind)}  # "he" contains men as well
            for name in members if is_noun(kind) and not is_plural(kind) else ():
                if name not in own and kind not in kinds.get(name, ()):  # a bike is a bicycle is a bike
                    mine = len(members), kind
                    self._smallest[name] = min(mine, self._smallest.get(name, mine))
        self._with_word: set[tuple[str, str]] = set()  # a name and a value
        self._ends: dict[tuple[str, bool, str], Counter[str]] = {}  # how many graphs have a name so, with which others
        self._together: Counter[tuple[str, str]] = Counter()
        for scene in scenes:
            names = [next(iter(o.values(noun)), "") for o in scene.objects]
            for name, thing in zip(names, scene.objects, strict=True):
                self._with_word.update((name, value) for attribute, value in thing.attributes if attribute != noun)
            self._together.update((one, other) for one in set(names) for other in set(names) - {one})
            for relation in scene.relations:
                for one, other in {(names[subject], names[target]) for subject, target in relation.triples()}:
                    self._ends.setdefault((relation.name, True, one), Counter())[other] += 1
                    self._ends.setdefault((relation.name, False, other), Counter())[one] += 1
        self._senses = cache(self._find_near_senses)
        self.are_alike = cache(self._compare_classes)
        self._meets = cache(self._find_attested)

    def fits(self, name: str, instead_of: str, demands: Iterable[Demand]) -> bool:
        """Whether the name may stand in a place that makes these demands."""
        demands = list(demands)
        if are_part_and_whole(name, instead_of) or not (
            self.are_alike(name, instead_of) or any(map(_is_open, demands))
        ):
            return False
        places = [is_kind(one, "place") for one in (name, instead_of)]
        if any(places) and not any(is_kind(name, kind) and is_kind(instead_of, kind) for kind in _EXCLUSIVE_PLACES):
            return False
        return all(self._meets(name, demand) for demand in demands)

    def _find_attested(self, name: str, demand: Demand) -> bool:
        if isinstance(demand, WordDemand):
            return (name, demand.value) in self._with_word
        if isinstance(demand, CompanionDemand):
            return self.are_alike(name, demand.name) or self._together[name, demand.name] >= FEWEST_ATTESTED
        ends = (name, demand.other) if demand.subject else (demand.other, name)
        if demand.other and not can_be(ends[0], demand.relation, ends[1]):
            return False
        others = self._ends.get((demand.relation, demand.subject, name), Counter())
        person = is_person(demand.other)
        fitting = (n for one, n in others.items() if one == demand.other or (person and is_person(one)))
        return sum(fitting if demand.other else others.values()) >= FEWEST_ATTESTED

    def _compare_classes(self, one: str, other: str) -> bool:
        if one == other or (is_person(one) and is_person(other)):
            return True
        kinds = self._smallest.get(one), self._smallest.get(other)
        if kinds[0] and kinds[1]:
            return kinds[0] == kinds[1] or kinds[0][1] == other or kinds[1][1] == one
        return not self._senses(one).isdisjoint(self._senses(other))

    def _find_near_senses(self, name: str) -> frozenset[int]:
        """The most frequent sense of a name and what is little wider: the less, the wider that is."""
        base = self._wordnet.find_base(name)
        senses = set(self._wordnet.find_senses(base, "noun")[:1] if base else ())
        near = set(senses)
        for fewest in FEWEST_WIDER:
            senses = {wider for sense in senses for wider in self._wordnet.list_parents(sense)}
            near |= {sense for sense in senses if len(self._wordnet.list_wider(sense)) >= fewest}
        return frozenset(near)


def _is_open(demand: Demand) -> bool:
    """Whether things of any class may be there: what is held, who holds it, what is on a desk; not where things are."""
    predicate = parse_relation(demand.relation) if isinstance(demand, RelationDemand) else None
    return predicate is not None and isinstance(demand, RelationDemand) and (demand.subject or not predicate.is_place)
