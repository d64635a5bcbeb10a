"""Case: one subgraph of one image, and the related images that questions about it choose from.

Look-ups are made when a template first needs them and then serve all templates. Of which images a set is
made is drawn; there are at most five.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import combinations, islice
from typing import Any, NamedTuple

from ...rng import seed_of
from ...schema import Schema
from ..pack import noun_of
from ..related import Containing, Distractor, Edit, Related
from ..subgraph import Subgraph
from ..verify import Verifier
from ._clear import Clear
from ._colors import is_color
from ._dice import Dice
from ._nouns import is_person
from ._parts import branches, modifications
from .meaning import Making
from .say import sayable, word, worded

MOST_IMAGES = 5
WITH_IT = 6  # images with the subgraph that a case looks for, besides its own
NEAR = 3  # distractors with exactly one given node replaced
FAR = 4  # distractors with two nodes replaced, one of them given
ANY = 8  # distractors with any nodes replaced
ENOUGH = 3  # of these are enough for a question that wants certain nodes replaced
STRANGERS = 12  # random images, where distractors are to be easy
RIVALS = 4  # images with what a distractor holds instead
FAMILIES = ("color", "material", "shape", "pattern", "flavor")  # of open vocabularies: one has one's own


class Look(NamedTuple):
    """Where and how a case looks for images."""

    related: Related
    seed: int
    easy: bool = False
    verifier: Verifier | None = None

    @property
    def clear(self) -> Clear:
        return _clear(self.related)


class Rival(NamedTuple):
    """What a distractor holds instead of the subgraph, and images with it."""

    subgraph: Subgraph
    distance: int
    graphs: tuple[int, ...]


class Case:
    """A subgraph, its image, and what is related to it."""

    def __init__(self, look: Look, subgraph: Subgraph, source: int) -> None:
        self.look, self.subgraph, self.source = look, subgraph, source
        self.nodes = subgraph.nodes()
        self.schema: Schema = look.related.graphs.schema
        self._seed = seed_of("case", look.seed, look.related.graphs.ids[source], str(subgraph))
        self.clear = look.clear
        self._roots: dict[Subgraph, dict[int, tuple[int, ...]]] = {}
        self._apart: dict[Subgraph, dict[int, bool]] = {}
        self._distances: dict[int, int] = {}  # of the images met so far; 0 where it is not known
        self._all = False  # whether `others` are all distractors that there are
        self.kept: dict[str, Any] = {}  # what one template worked out and others use
        self._ordered: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._looked: dict[tuple[Edit, ...] | None, tuple[Distractor, ...]] = {}

    def dice(self, name: str) -> Dice:
        return Dice(name, self._seed)

    def making(self) -> Making:
        """A program in the making."""
        return Making(self.schema)

    def said(self, subgraph: Subgraph) -> Subgraph:
        """In plain English words."""
        return worded(subgraph, self.schema)

    def word(self, name: str) -> str:
        """The same for one word."""
        return word(name, self.schema)

    # Images

    @cached_property
    def with_it(self) -> tuple[int, ...]:
        """Images that contain the subgraph, its own first unless the verifier drops it."""
        return self._met(self._containing(self.subgraph, WITH_IT, first=self.source))

    def only(self, node: int) -> tuple[Distractor, ...]:
        """Distractors in which just this node is replaced."""
        return self._among([(node,)])[:NEAR]

    def also(self, node: int, asked: Collection[int]) -> tuple[Distractor, ...]:
        """Distractors in which this node is replaced, and one that is not among those asked about."""
        rest = (k for k in range(len(self.nodes)) if k not in asked)
        return self._among([(min(k, node), max(k, node)) for k in rest])

    def but(self, asked: Iterable[int]) -> tuple[Distractor, ...]:
        """Distractors in which one or two nodes are replaced, none of those asked about."""
        kept = set(asked)
        return self._among([e for e in _edits(len(self.nodes)) if kept.isdisjoint(e)])

    def within(self, asked: Iterable[int]) -> tuple[Distractor, ...]:
        """Distractors in which one or two nodes are replaced, all of them asked about."""
        wanted = set(asked)
        return self._among([e for e in _edits(len(self.nodes)) if wanted.issuperset(e)])

    def _among(self, wanted: Sequence[Edit]) -> tuple[Distractor, ...]:
        """Distractors by these edits; of those by any edit if that is enough of them, or all there are."""
        found = tuple(one for one in self.others if one.changed in wanted)
        return found if self._all or len(found) >= ENOUGH else self._distractors(wanted, FAR)

    def beside(self, thing: Subgraph, node: int, name: str) -> tuple[Distractor, ...]:
        """Distractors with this name at the node that differ in one node of the description of the thing."""
        other = self.subgraph.replaced({node: name})
        asked = (*branches(other), *modifications(other))
        kept = next((b.nodes for b in asked if b.rest == thing), range(1, 2))
        among = [(k,) for k in range(len(self.nodes)) if k not in kept]
        found = self.look.related.distractors(other, FAR, self._seed, among=among)
        if self.look.verifier is not None:
            found = self.look.verifier.distractors(other, found)
        for one in found:
            self._met((one.graph,), 2)
        return found

    @cached_property
    def others(self) -> tuple[Distractor, ...]:
        """Distractors of any kind."""
        return self._distractors(None, ANY)

    @cached_property
    def strangers(self) -> tuple[int, ...]:
        """Random images without the subgraph."""
        dice = self.dice("strangers")
        size = len(self.look.related.graphs)
        drawn = self._met(dict.fromkeys(dice.below(size) for _ in range(STRANGERS)))
        found = tuple(graph for graph in drawn if not self.count(self.subgraph, graph))
        verifier = self.look.verifier
        return found if verifier is None else verifier.lacking(self.subgraph, found)

    @cached_property
    def rival(self) -> Rival | None:
        """What one of the distractors holds instead, if it can be said; a near one if there is any."""
        for one in sorted(self.dice("rival").order(self.others), key=lambda other: other.distance):
            if sayable(self.said(one.subgraph)):
                graphs = self._told(self._containing(one.subgraph, RIVALS, first=one.graph))
                return Rival(one.subgraph, one.distance, self._met(graphs, one.distance))
        return None

    def holding(self, subgraph: Subgraph, distance: int) -> tuple[int, ...]:
        """Images with another subgraph, at this distance from the case's own."""
        return self._met(self._told(self._containing(subgraph, RIVALS)), distance)

    def _containing(self, subgraph: Subgraph, count: int, first: int | None = None) -> list[int]:
        """Up to so many images with a subgraph after the first, less those that seem to have more of it."""
        related, verifier = self.look.related, self.look.verifier
        without = () if first is None else (first,)
        found = related.containing(subgraph, count, self._seed, without=without)
        if verifier is not None:
            own = [Containing(graph, related.roots(subgraph, graph)) for graph in without]
            return [one.graph for one in verifier.containing(subgraph, (*own, *found))]
        return [*without, *(one.graph for one in found)]

    def _told(self, graphs: list[int]) -> list[int]:
        """Those in whose images the subgraph seems to be as often as graphs tell, or not at all."""
        related, verifier = self.look.related, self.look.verifier
        if verifier is None:
            return graphs
        roots = {graph: related.roots(self.subgraph, graph) for graph in graphs}
        there = verifier.containing(
            self.subgraph, [Containing(g, found) for g, found in roots.items() if found]
        )
        good = {one.graph for one in there}
        good.update(verifier.lacking(self.subgraph, [g for g, found in roots.items() if not found]))
        return [graph for graph in graphs if graph in good]

    def _distractors(self, among: Sequence[Edit] | None, count: int) -> tuple[Distractor, ...]:
        key = None if among is None else tuple(among)
        if key not in self._looked:
            related, verifier = self.look.related, self.look.verifier
            found = related.distractors(self.subgraph, count, self._seed, among=among)
            if among is None:
                self._all = len(found) < count
            if verifier is not None:
                found = verifier.distractors(self.subgraph, found)
            own = self._roots.setdefault(self.subgraph, {})
            for one in found:
                self._met((one.graph,), one.distance)
                own[one.graph] = ()  # which is what makes it a distractor
            self._looked[key] = found
        return self._looked[key]

    def _met(self, graphs: Iterable[int], distance: int = 0) -> tuple[int, ...]:
        found = tuple(graphs)
        for graph in found:
            known = self._distances.setdefault(graph, distance)
            if distance and (not known or distance < known):
                self._distances[graph] = distance
        return found

    def distance(self, graph: int) -> int:
        """Of what is known to be there instead; 0 where the subgraph itself is there, or nothing is known."""
        return 0 if self.count(self.subgraph, graph) else self._distances[graph]

    # What is in them

    def roots(self, subgraph: Subgraph) -> dict[int, tuple[int, ...]]:
        """For each image met so far the objects that a subgraph describes, numbered through all graphs."""
        known = self._roots.get(subgraph)
        if known is None:
            known = self._roots[subgraph] = {}
        if len(known) < len(self._distances):
            missing = [met for met in self._distances if met not in known]
            counts, roots = self.look.related.instances(subgraph, missing)
            things, at = roots.tolist(), 0
            for graph, count in zip(missing, counts.tolist(), strict=True):
                known[graph] = tuple(things[at : at + count])
                at += count
        return known

    def things(self, subgraph: Subgraph, graph: int) -> tuple[int, ...]:
        """The objects of an image that a subgraph describes."""
        return self.roots(subgraph)[graph]

    def count(self, subgraph: Subgraph, graph: int) -> int:
        return len(self.roots(subgraph)[graph])

    def total(self, subgraph: Subgraph, graphs: Iterable[int]) -> int:
        """How many objects of all these images the subgraph describes."""
        roots = self.roots(subgraph)
        return sum(len(roots[graph]) for graph in graphs)

    def apart(self, subgraph: Subgraph, graph: int) -> bool:
        """Whether nothing else in the image may be one of those as well, under another name."""
        known = self._apart.get(subgraph)
        if known is None:
            known = self._apart[subgraph] = {}
        apart = known.get(graph)
        if apart is None:
            apart = known[graph] = not self.clear.others(subgraph, graph)
        return apart

    def counted(self, subgraph: Subgraph, graph: int) -> bool:
        """Whether a person would count as many as the graph has objects that the subgraph describes."""
        things = self.things(subgraph, graph)
        if things and (self.clear.many(subgraph, things) or self.clear.blurred(subgraph, graph)):
            return False
        return self.apart(subgraph, graph)

    def alone(self, subgraph: Subgraph, graph: int) -> bool:
        """Whether the subgraph describes one thing of the image, so that one may say "the"."""
        return self.count(subgraph, graph) == 1 and self.counted(subgraph, graph)

    def single(self, subgraph: Subgraph, graphs: Iterable[int]) -> list[int]:
        """Those of the images in which the subgraph describes one thing."""
        return [graph for graph in graphs if self.alone(subgraph, graph)]

    def told(self, subgraph: Subgraph, graph: int, attribute: str) -> bool:
        """Whether such an attribute is plain to see there: no color of what has several."""
        return not (is_color(attribute) and self.clear.colorful(self.things(subgraph, graph)))

    def value(self, thing: int, family: str) -> str:
        """The only value of an attribute that an object has; "" where it has none or several."""
        if family == "color" and self.clear.colorful((thing,)):
            return ""
        words = self.look.related.graphs.attributes_of(thing)
        found = [word for word in words if word in values_of(self.schema, family)]
        return found[0] if len(found) == 1 and family_of(self.schema, found[0]) == family else ""

    @cached_property
    def family(self) -> str:
        """What the root's attribute tells and one can ask for: its color, its material; "" for nothing."""
        if is_person(self.word(self.subgraph.name)):
            return ""  # a black man is not asked for his color
        return family_of(self.schema, self.subgraph.attribute)

    # Sets of them

    def ordered(self, graphs: tuple[int, ...]) -> tuple[int, ...]:
        """The images in a drawn order, the same for the same images."""
        known = self._ordered.get(graphs)
        if known is None:
            known = self._ordered[graphs] = tuple(Dice("order", self._seed, *graphs).order(graphs))
        return known

    def around(
        self, chosen: Sequence[int], fill: Iterable[Distractor], absent: Sequence[Subgraph], dice: Dice
    ) -> tuple[int, ...]:
        """The chosen images and, as far as there is room, others in which these subgraphs are absent.

        Nor is there anything in them that may be one under another name.
        """
        room = MOST_IMAGES - len(chosen)
        if room < 1:
            return tuple(chosen)
        offered = self.strangers if self.look.easy else [one.graph for one in fill]
        there = [self.roots(subgraph) for subgraph in absent]
        free = [
            graph
            for graph in dict.fromkeys(offered)
            if graph not in chosen and not any(roots[graph] for roots in there)
        ]
        clear = (g for g in dice.order(free) if all(self.apart(subgraph, g) for subgraph in absent))
        return (*chosen, *islice(clear, room))


@lru_cache(maxsize=1)
def _clear(related: Related) -> Clear:
    return Clear(related.graphs, related.overlap)


@lru_cache(maxsize=64)
def _edits(size: int) -> tuple[Edit, ...]:
    """Every one and every two of so many nodes."""
    return (*combinations(range(size), 1), *combinations(range(size), 2))


@lru_cache(maxsize=16384)
def family_of(schema: Schema, value: str) -> str:
    """The attribute that a value tells and that one can ask for; "" where there is none, or several."""
    found = [a.name for a in schema.attributes if value in a.values]
    if len(found) != 1 or found[0] == noun_of(schema):
        return ""
    return found[0] if schema.closed or found[0] in FAMILIES else ""


@lru_cache(maxsize=256)
def values_of(schema: Schema, family: str) -> frozenset[str]:
    """The values that an attribute may have."""
    return frozenset(value for a in schema.attributes if a.name == family for value in a.values)
