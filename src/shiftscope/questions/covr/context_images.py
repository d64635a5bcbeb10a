"""Context images: one subgraph of one image, and the related images that questions about it choose from.

Look-ups are made when a template first needs them and then serve all templates. Which images form a set is
drawn; there are at most five.
"""

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, NamedTuple

from ...english.adjectives import count_colors
from ...english.nouns import is_person
from ...rng import PathDice, seed_of
from ...scene_graph.pack import get_noun_attribute
from ...scene_graph.related_images import ContainingImage, Distractor, Edit, RelatedImages, list_edits
from ...scene_graph.relation_exclusivity import classify_target, score_relations
from ...scene_graph.subgraph import Subgraph, split_branches, split_modifiers
from ...scene_graph.subgraph_classifier import RelatedImageChecker
from ...schema import Schema
from .alternatives import are_comparable_objects, are_comparable_things
from .ambiguity import CountAmbiguity
from .attested import has_attribute, has_triple, is_usual
from .fluency import can_be_asked, is_everyday, is_sayable
from .phrases import spell_name, spell_subgraph
from .program import CovrProgramBuilder, read_graph
from .wording import are_told_apart

MOST_IMAGES = 5
MOST_CONTAINING = 6  # images with the subgraph that a case looks for, besides its own
NEAR = 3  # distractors with exactly one given node replaced
FAR = 4  # distractors with two nodes replaced, one of them given
ANY = 8  # distractors with any nodes replaced
ENOUGH = 3  # of these are enough for a question that wants certain nodes replaced
MOST_RANDOM = 12  # random images, where distractors are to be easy
MOST_RIVALS = 4  # images with what a distractor holds instead
COMPANY = "with"
FAMILIES = ("color", "material", "shape", "pattern", "flavor")  # of open vocabularies: one has one's own


class CaseSettings(NamedTuple):
    related: RelatedImages
    seed: int
    easy: bool = False
    verifier: RelatedImageChecker | None = None


class RivalSubgraph(NamedTuple):
    """What a distractor holds instead of the subgraph, and images with it."""

    subgraph: Subgraph
    graphs: tuple[int, ...]


class SubgraphCase:
    """A subgraph, its image, and what is related to it."""

    def __init__(self, look: CaseSettings, subgraph: Subgraph, source: int) -> None:
        self.look, self.subgraph, self.source = look, subgraph, source
        self.nodes = subgraph.nodes()
        self._edits = list_edits(len(self.nodes), keep=1)  # so that a distractor shares something with the subgraph
        self.schema: Schema = look.related.graphs.schema
        self._seed = seed_of("case", look.seed, look.related.graphs.ids[source], str(subgraph))
        self.clear = _get_ambiguity(look.related)
        self._roots: dict[Subgraph, dict[int, tuple[int, ...]]] = {}
        self._apart: dict[Subgraph, dict[int, bool]] = {}
        self._distances: dict[int, int] = {}  # of the images met so far; 0 where it is not known
        self._all = False  # whether `distractors` are all that there are
        self.image_sets: Any = None  # what `list_image_sets` drew, for all templates
        self._ordered: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._looked: dict[tuple[Edit, ...] | None, tuple[Distractor, ...]] = {}

    def make_dice(self, name: str) -> PathDice:
        return PathDice(name, self._seed)

    def make_program_builder(self) -> CovrProgramBuilder:
        return CovrProgramBuilder(self.schema)

    def spell_subgraph(self, subgraph: Subgraph) -> Subgraph:
        return spell_subgraph(subgraph, self.schema)

    def is_askable(self, subgraph: Subgraph) -> bool:
        """Whether one would ask about it: it is as things usually are, and can be worded."""
        usual = self.schema.closed or is_usual(self.look.related.graphs, subgraph)
        return usual and is_sayable(self.spell_subgraph(subgraph))

    def can_be_asked(self, attribute: str) -> bool:
        """Whether one asks if the root is so."""
        return can_be_asked(self.spell_word(attribute), self.spell_word(self.subgraph.name), self.schema.closed)

    def spell_word(self, name: str) -> str:
        return spell_name(name, self.schema)

    # Images

    @cached_property
    def containing_images(self) -> tuple[int, ...]:
        """Images that contain the subgraph, its own first unless the verifier drops it."""
        return self._note_images(self._find_containing(self.subgraph, MOST_CONTAINING, first=self.source))

    def find_replacing_only(self, node: int) -> tuple[Distractor, ...]:
        """Distractors in which just this node is replaced."""
        return self._find_by_edits([(node,)])[:NEAR]

    def find_replacing_also(self, node: int, queried: Collection[int]) -> tuple[Distractor, ...]:
        """Distractors in which this node is replaced, and one that is not among the queried ones."""
        rest = (k for k in range(len(self.nodes)) if k not in queried)
        return self._find_by_edits([(min(k, node), max(k, node)) for k in rest])

    def find_replacing_others(self, queried: Iterable[int]) -> tuple[Distractor, ...]:
        """Distractors in which one or two nodes are replaced, none of the queried ones."""
        kept = set(queried)
        return self._find_by_edits([e for e in self._edits if kept.isdisjoint(e)])

    def find_replacing_within(self, queried: Iterable[int]) -> tuple[Distractor, ...]:
        """Distractors in which one or two nodes are replaced, all of them queried ones."""
        wanted = set(queried)
        return self._find_by_edits([e for e in self._edits if wanted.issuperset(e)])

    def _find_by_edits(self, wanted: Sequence[Edit]) -> tuple[Distractor, ...]:
        """Distractors by these edits; of those by any edit if that is enough of them, or all there are."""
        found = tuple(one for one in self.distractors if one.replaced_nodes in wanted)
        return found if self._all or len(found) >= ENOUGH else self._find_distractors(wanted, FAR)

    def find_beside(self, thing: Subgraph, node: int, name: str) -> tuple[Distractor, ...]:
        """Distractors with this name at the node that differ in one node of the description of the thing."""
        other = self.subgraph.replace_nodes({node: name})
        branches = (*split_branches(other), *split_modifiers(other))
        kept = next((b.nodes for b in branches if b.rest == thing), range(1, 2))
        found = self._search_distractors(other, FAR, [(k,) for k in range(len(self.nodes)) if k not in kept])
        self._note_images([one.graph for one in found], 2)
        return found

    def _search_distractors(
        self, subgraph: Subgraph, count: int, among: Sequence[Edit] | None
    ) -> tuple[Distractor, ...]:
        edits = self._edits if among is None else among
        found = self.look.related.find_distractors(subgraph, count, self._seed, among=edits)
        if among is None:
            self._all = len(found) < count
        verifier = self.look.verifier
        return found if verifier is None else verifier.filter_distractors(subgraph, found)

    @cached_property
    def distractors(self) -> tuple[Distractor, ...]:
        return self._find_distractors(None, ANY)

    @cached_property
    def random_images(self) -> tuple[int, ...]:
        """Random images without the subgraph."""
        dice, size = self.make_dice("strangers"), len(self.look.related.graphs)
        drawn = self._note_images(dict.fromkeys(dice.draw_below(size) for _ in range(MOST_RANDOM)))
        found = tuple(graph for graph in drawn if not self.count_instances(self.subgraph, graph))
        verifier = self.look.verifier
        return found if verifier is None else verifier.filter_lacking(self.subgraph, found)

    @cached_property
    def rival(self) -> RivalSubgraph | None:
        """What one of the distractors holds instead, if it can be worded; a near one if there is any."""
        links = self.subgraph.relations
        if links and all(map(is_everyday, links)):  # more men wearing a shirt than boys
            return None
        near = sorted(self.make_dice("rival").shuffle(self.distractors), key=lambda other: other.distance)
        found = next(filter(self._is_rival, near), None)
        if found is None and not self._all:
            found = next(
                filter(self._is_rival, self._find_distractors([e for e in self._edits if len(e) == 1], ANY)), None
            )
        if found is None:
            return None
        graphs = self._filter_confirmed(self._find_containing(found.subgraph, MOST_RIVALS, first=found.graph))
        return RivalSubgraph(found.subgraph, self._note_images(graphs, found.distance))

    def _is_rival(self, one: Distractor) -> bool:
        return self._is_comparable(one) and self.is_askable(one.subgraph)

    def _is_comparable(self, one: Distractor) -> bool:
        """Whether one would compare the two, which differ in one word: not arms on a table with bottles on a table."""
        if len(one.changes) > 1:
            return False
        (change,) = one.changes
        if change.kind == "relation":
            both = map(self.spell_word, (change.before, change.after))
            return are_told_apart(*both) and self.exclude_each_other(change.node, change.after)
        if change.kind != "object" or self.schema.closed:
            return True
        if change.node > 0:
            return are_comparable_objects(change.before, change.after)
        if not are_comparable_things(change.before, change.after):
            return False
        return not list_kinds(self.schema, change.after).isdisjoint(list_kinds(self.schema, change.before))

    def find_holding(self, subgraph: Subgraph, distance: int) -> tuple[int, ...]:
        """Images with another subgraph, at this distance from the case's own."""
        return self._note_images(self._filter_confirmed(self._find_containing(subgraph, MOST_RIVALS)), distance)

    def _find_containing(self, subgraph: Subgraph, count: int, first: int | None = None) -> list[int]:
        """Up to so many images with a subgraph after the first, less those that seem to have more of it."""
        related, verifier = self.look.related, self.look.verifier
        without = () if first is None else (first,)
        found = related.find_containing(subgraph, count, self._seed, without=without)
        if verifier is not None:
            own = [ContainingImage(graph, related.find_roots(subgraph, graph)) for graph in without]
            return [one.graph for one in verifier.filter_containing(subgraph, (*own, *found))]
        return [*without, *(one.graph for one in found)]

    def _filter_confirmed(self, graphs: list[int]) -> list[int]:
        """Those in whose images the subgraph seems to be as often as graphs tell, or not at all."""
        related, verifier = self.look.related, self.look.verifier
        if verifier is None:
            return graphs
        roots = {graph: related.find_roots(self.subgraph, graph) for graph in graphs}
        there = [ContainingImage(g, found) for g, found in roots.items() if found]
        good = {one.graph for one in verifier.filter_containing(self.subgraph, there)}
        good.update(verifier.filter_lacking(self.subgraph, [g for g, found in roots.items() if not found]))
        return [graph for graph in graphs if graph in good]

    def _find_distractors(self, among: Sequence[Edit] | None, count: int) -> tuple[Distractor, ...]:
        key = None if among is None else tuple(among)
        if key not in self._looked:
            found = self._looked[key] = self._search_distractors(self.subgraph, count, among)
            own = self._roots.setdefault(self.subgraph, {})
            for one in found:
                self._note_images((one.graph,), one.distance)
                own[one.graph] = ()  # which is what makes it a distractor
        return self._looked[key]

    def _note_images(self, graphs: Iterable[int], distance: int = 0) -> tuple[int, ...]:
        found = tuple(graphs)
        for graph in found:
            known = self._distances.setdefault(graph, distance)
            if distance and (not known or distance < known):
                self._distances[graph] = distance
        return found

    def distance(self, graph: int) -> int:
        """Of what is known to be there instead; 0 where the subgraph itself is there, or nothing is known."""
        return 0 if self.count_instances(self.subgraph, graph) else self._distances[graph]

    # What is in them

    def find_roots(self, subgraph: Subgraph) -> dict[int, tuple[int, ...]]:
        """For each image met so far the objects that a subgraph describes, numbered through all graphs."""
        known = self._roots.setdefault(subgraph, {})
        if len(known) < len(self._distances):
            missing = [met for met in self._distances if met not in known]
            counts, roots = self.look.related.find_instances(subgraph, missing)
            things, at = roots.tolist(), 0
            for graph, count in zip(missing, counts.tolist(), strict=True):
                known[graph] = tuple(things[at : at + count])
                at += count
        return known

    def find_things(self, subgraph: Subgraph, graph: int) -> tuple[int, ...]:
        return self.find_roots(subgraph)[graph]

    def count_instances(self, subgraph: Subgraph, graph: int) -> int:
        return len(self.find_roots(subgraph)[graph])

    def count_total(self, subgraph: Subgraph, graphs: Iterable[int]) -> int:
        """How many objects of all these images the subgraph describes."""
        roots = self.find_roots(subgraph)
        return sum(len(roots[graph]) for graph in graphs)

    def count_images(self, subgraph: Subgraph, graphs: Iterable[int]) -> int:
        """How many of these images the subgraph describes something in."""
        roots = self.find_roots(subgraph)
        return sum(1 for graph in graphs if roots[graph])

    def has_no_lookalikes(self, subgraph: Subgraph, graph: int) -> bool:
        """Whether nothing else in the image may be one of those as well, under another name."""
        known = self._apart.setdefault(subgraph, {})
        if graph not in known:
            known[graph] = not self.clear.has_lookalikes(subgraph, graph)
        return known[graph]

    def is_countable_in(self, subgraph: Subgraph, graph: int) -> bool:
        """Whether a person would count as many as the graph has objects that the subgraph describes."""
        things = self.find_things(subgraph, graph)
        if things and (self.clear.has_plural_objects(subgraph, things) or self.clear.has_mixed_colors(subgraph, graph)):
            return False
        return self.has_no_lookalikes(subgraph, graph)

    def is_unique_in(self, subgraph: Subgraph, graph: int) -> bool:
        """Whether the subgraph describes one thing of the image, so that one may say "the"."""
        return self.count_instances(subgraph, graph) == 1 and self.is_countable_in(subgraph, graph)

    def filter_unique(self, subgraph: Subgraph, graphs: Iterable[int]) -> list[int]:
        return [graph for graph in graphs if self.is_unique_in(subgraph, graph)]

    def is_only_name(self, graph: int, name: str) -> bool:
        """Whether all that answers to a name there is called just so: a pony is no answer to "a horse or a cow"."""
        graphs = self.look.related.graphs
        code = graphs.name_codes.get(name, -1)
        narrower = graphs.narrower[code].tolist() if code >= 0 else ()
        return {code}.issuperset(set(narrower).intersection(read_graph(graphs, graph).names))

    def is_only_relation(self, thing: Subgraph, other: Subgraph, graph: int) -> bool:
        """Whether one relation alone leads there from a thing to another; "with" says nothing besides one.

        Of a closed schema, in which any two are on one side of each other and before or behind, all will do.
        """
        if self.schema.closed:
            return True
        graphs = self.look.related.graphs
        start, table = int(graphs.object_starts[graph]), read_graph(graphs, graph)
        ours, theirs = (set(self.find_things(one, graph)) for one in (thing, other))
        triples = zip(table.relations, table.subjects, table.targets, strict=True)
        found = [code for code, a, b in triples if a + start in ours and b + start in theirs]
        return sum(1 for code in found if graphs.relations[code] != COMPANY) == 1

    def is_seen(self, subject: str, relation: str, target: str) -> bool:
        """Whether something of the one name, or any person, is so related to something of the other in some graph."""
        return self.schema.closed or has_triple(self.look.related.graphs, subject, relation, target)

    def exclude_each_other(self, node: int, other: str) -> bool:
        """Whether of the relation at a node and another one neither may be true besides, in an open vocabulary."""
        like, own = classify_target(self.nodes[node + 1].name), self.nodes[node].name
        return self.schema.closed or bool(score_relations(own, other, like) and score_relations(other, own, like))

    def is_said_of(self, attribute: str, name: str) -> bool:
        """Whether something of the name has the attribute in some graph."""
        return self.schema.closed or has_attribute(self.look.related.graphs, name, attribute)

    def is_attribute_clear(self, subgraph: Subgraph, graph: int, attribute: str) -> bool:
        """Whether such an attribute is plain to see there: no color of what has several."""
        return not (count_colors(attribute) and self.clear.is_multicolored(self.find_things(subgraph, graph)))

    def get_value(self, thing: int, family: str) -> str:
        """The only value of an attribute that an object has; "" where it has none or several."""
        if family == "color" and self.clear.is_multicolored((thing,)):
            return ""
        words = self.look.related.graphs.list_attributes(thing)
        found = [word for word in words if word in list_values(self.schema, family)]
        return found[0] if len(found) == 1 and get_queryable_attribute(self.schema, found[0]) == family else ""

    @cached_property
    def queryable_attribute(self) -> str:
        """What the root's attribute tells and one can ask for: its color, its material; "" for nothing."""
        if is_person(self.spell_word(self.subgraph.name)):
            return ""  # a black man is not asked for his color
        return get_queryable_attribute(self.schema, self.subgraph.attribute)

    # Sets of them

    def order_images(self, graphs: tuple[int, ...]) -> tuple[int, ...]:
        """The images in a drawn order, the same for the same images."""
        if graphs not in self._ordered:
            self._ordered[graphs] = tuple(PathDice("order", self._seed, *graphs).shuffle(graphs))
        return self._ordered[graphs]

    def add_distractors(
        self, chosen: Sequence[int], fill: Iterable[Distractor], absent: Sequence[Subgraph], dice: PathDice
    ) -> tuple[int, ...]:
        """The chosen images and, as far as there is room, others in which these subgraphs are absent.

        Nor is there anything in them that may be one under another name.
        """
        room = MOST_IMAGES - len(chosen)
        if room < 1:
            return tuple(chosen)
        offered = self.random_images if self.look.easy else [one.graph for one in fill]
        there = [self.find_roots(subgraph) for subgraph in absent]
        free = [g for g in dict.fromkeys(offered) if g not in chosen and not any(roots[g] for roots in there)]
        clear = (g for g in dice.shuffle(free) if all(self.has_no_lookalikes(subgraph, g) for subgraph in absent))
        return (*chosen, *islice(clear, room))


@lru_cache(maxsize=4096)
def list_kinds(schema: Schema, name: str) -> frozenset[str]:
    return frozenset(schema.kinds_of("name", name))


@lru_cache(maxsize=1)
def _get_ambiguity(related: RelatedImages) -> CountAmbiguity:
    return CountAmbiguity(related.graphs, related.overlap)


@lru_cache(maxsize=16384)
def get_queryable_attribute(schema: Schema, value: str) -> str:
    """The attribute that a value tells and that one can ask for; "" where there is none, or several."""
    found = list_families(schema, value)
    if len(found) != 1 or found[0] == get_noun_attribute(schema):
        return ""
    return found[0] if schema.closed or found[0] in FAMILIES else ""


@lru_cache(maxsize=16384)
def list_families(schema: Schema, value: str) -> tuple[str, ...]:
    """The attributes that have such a value: color, size."""
    return tuple(a.name for a in schema.attributes if value in a.values)


@lru_cache(maxsize=256)
def list_values(schema: Schema, family: str) -> frozenset[str]:
    return frozenset(value for a in schema.attributes if a.name == family for value in a.values)
