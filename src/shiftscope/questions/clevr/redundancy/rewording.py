"""Rewording: a changed program in the words of a template of its shape.

Where no template has the shape, relations are taken off until one has, and are put back into its texts:
"Find the <Z> <C> <M> <S>; how large is it?" becomes "Find the <Z> <C> <M> <S> that is <R_5> the <Z_5> …; how
large is it?". The slots of the template keep their numbers, new ones follow.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property
from typing import NamedTuple

from ....english.synonyms import noun_attribute
from ....errors import UserError
from ....scene_table import Terms
from ....schema import Schema
from .. import template as templates
from ..compiled_templates import EMPTY_SLOT
from ..generator import ClevrQuestionGenerator
from ..template import Template, TemplateNode, TemplateProgramBuilder, TemplateSlot
from ..wording import Clause, QuestionWording
from .clauses import ClauseWriter, add_clause_marks
from .modifiers import list_relations
from .program_tree import RELATIONS, FullDescription, TreeStep, build_tree, list_steps

NO_SLOT = -1
JOINED_OPS = ("union", "intersect")  # worded with "or" and "and"
NOTHING: frozenset[int] = frozenset()


class StepSlots(NamedTuple):
    """Where a template takes the words of a step from."""

    relation: int  # slot, or NO_SLOT
    words: dict[str, int]  # attribute → slot
    needed: frozenset[str]  # attributes that its texts do not go without
    node: int  # the template node that describes the step, or NO_SLOT


def compute_shape(step: TreeStep, cut: frozenset[int] = NOTHING) -> str:
    """The ops of a tree; the relations in `cut`, by identity, are taken off."""
    if id(step) in cut:
        return "scene()"
    name = step.op
    if step.params and name not in RELATIONS:
        name = f"{name}:{','.join(step.params)}"
    if not step.inputs:
        return f"{name}()"
    return f"{name}({''.join([compute_shape(s, cut) for s in step.inputs])})"


def build_template_tree(template: Template) -> TreeStep:
    """The template's tree with every slot filled by its number."""
    program = templates.fill_program(template, str)
    return build_tree(program, (None,) * len(program))


def list_step_slots(template: Template) -> tuple[StepSlots, ...]:
    """One per step, in the order of `list_steps`."""
    said = {p.name for p in template.params if all(p.name in text for text in template.texts)}
    never = {s for s in template.empty_slots if template.params[s].name not in said}
    single = {template.find_slot(s) for n in template.nodes if n.meaning.takes == "one" for s in n.slots}
    describes = {
        template.find_slot(s): number
        for number, n in enumerate(template.nodes)
        if n.meaning.takes in ("many", "relation and many")
        for s in n.slots
    }
    found = []
    for step in list_steps(build_template_tree(template)):
        slots = {w.attribute: int(w.value) for w in step.words}
        relation = int(step.params[0]) if step.op == "relate" else NO_SLOT
        words = {a: s for a, s in slots.items() if s not in never}
        needed = frozenset(a for a, s in slots.items() if s in single)
        node = next((describes[s] for s in slots.values() if s in describes), NO_SLOT)
        found.append(StepSlots(relation, words, needed, node))
    return tuple(found)


class RelationInsert(NamedTuple):
    """A chain of relations for the set that a template node describes."""

    node: int
    length: int  # of the chain
    bare: bool  # "every cube left of …", where a second "that is" would mislead


def insert_relations(template: Template, grafts: tuple[RelationInsert, ...], schema: Schema) -> Template:
    noun = noun_attribute(schema.attributes)
    names = [a.name for a in schema.attributes if a.name != noun] + [noun]
    params = list(template.params)
    texts = template.texts
    nodes: list[TemplateNode] = []
    at: list[int] = []  # new number of each old node
    by_node = {g.node: g for g in grafts}
    freed = {template.nodes[g.node].inputs[0] for g in grafts}
    for number, n in enumerate(template.nodes):
        if number in freed:
            at.append(-1)
            continue
        graft = by_node.get(number)
        if graft is None:
            nodes.append(replace(n, inputs=tuple(at[i] for i in n.inputs)))
        else:
            if not n.function.startswith("filter") or n.meaning.takes != "many":
                raise UserError(f"{template.location}: node {number} ({n.function}) takes no relation")
            firsts = [len(params) + k * (len(names) + 1) for k in range(graft.length)]
            links = [[TemplateSlot(f"<{a}_{i}>", a.capitalize()) for a in (templates.RELATION, *names)] for i in firsts]
            params += [slot for link in links for slot in link]
            noun_slot = next((s for s in n.slots if template.params[template.find_slot(s)].attribute == noun), None)
            if noun_slot is None:
                raise UserError(f"{template.location}: {n.function} has no noun that a relation could follow")
            texts = tuple(_insert_phrase(t, noun_slot, links, graft.bare) for t in texts)
            nodes.append(TemplateNode("scene"))
            function = "filter_unique"
            relation: tuple[str, ...] = ()
            for link in reversed(links):
                words = tuple(slot.name for slot in link[1:])
                nodes.append(TemplateNode(function, (len(nodes) - 1,), relation + words))
                function, relation = "relate_filter_unique", (link[0].name,)
            nodes.append(TemplateNode(f"relate_{n.function}", (len(nodes) - 1,), relation + n.slots))
        at.append(len(nodes) - 1)
    kept = tuple(c for c in template.constraints if c.type == templates.NULL)
    made = replace(template, params=tuple(params), texts=texts, nodes=tuple(nodes), constraints=kept, long_texts=())
    return templates.check_template(made)


def _insert_phrase(text: str, noun: str, links: list[list[TemplateSlot]], bare: bool) -> str:
    """The text with the chain after the noun, wherever it is mentioned."""
    phrase = ""
    for link in reversed(links):
        relation, *words = (slot.name for slot in link)
        that = "" if bare and link is links[0] else "that is "
        phrase = f" {that}{relation} the {' '.join(words)}{phrase}"
    pattern = re.compile(rf"{re.escape(noun)}(s(?![a-z]))?")
    if not pattern.search(text):
        raise UserError(f"the text {text!r} has no {noun} that a relation could follow")
    plural = phrase if bare else phrase.replace(" that is ", " that are ", 1)
    return pattern.sub(lambda found: found[0] + (plural if found[1] else phrase), text)


class FittedTemplate(NamedTuple):
    template: Template
    program: TemplateProgramBuilder
    text: QuestionWording
    places: tuple[StepSlots, ...]  # one a step
    with_clauses: dict[tuple[int, ...], QuestionWording]  # by the nodes whose sets have them


class TemplateRewording:
    """The templates of a generator by shape, each looked at when first needed; those made here are kept."""

    def __init__(self, generator: ClevrQuestionGenerator) -> None:
        self.vocabulary = generator.lowered.vocabulary
        self.schema = self.vocabulary.schema
        self.code = Terms.of(self.schema.attributes).code
        self.writer = ClauseWriter(generator.families[0].text.lexicon)
        self.relation = {name: code for code, name in enumerate(self.schema.relations)}
        self.families = generator.families
        self.get_own = cache(self._read_own)
        self.get_traits = cache(self._find_traits)
        self._made: dict[tuple[int, tuple[RelationInsert, ...]], FittedTemplate] = {}

    def _read_own(self, number: int) -> FittedTemplate:
        f = self.families[number]
        return FittedTemplate(f.template, f.program, f.text, list_step_slots(f.template), {})

    def _find_traits(self, number: int) -> tuple[bool, bool]:
        """Whether the template is about parts, and whether it has a relation to drop."""
        tree = build_template_tree(self.families[number].template)
        return any(s.on_parts for s in list_steps(tree)), bool(list_relations(tree))

    @cached_property
    def _by_shape(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, family in enumerate(self.families):
            found.setdefault(compute_shape(build_template_tree(family.template)), []).append(number)
        return found

    def fit(self, last: TreeStep, like: int, is_its_own: bool = False) -> tuple[FittedTemplate, list[int]]:
        """A template for the tree, that of number `like` where it fits, and the codes of its slots.

        `is_its_own`: the tree is known to be of that template's shape.
        """
        if is_its_own and all(map(_has_room, self.get_own(like).places, left := list_steps(last))):
            return self.get_own(like), self._list_codes(self.get_own(like), left)
        for cut in _list_cuts(last):
            left = list_steps(last, cut)
            numbers = self._by_shape.get(compute_shape(last, cut), ())
            for number in (like, *numbers) if like in numbers else numbers:
                fitted = self.get_own(number)
                if not all(map(_has_room, fitted.places, left)):
                    continue
                if cut:
                    fitted = self._insert_relations(number, left, cut)
                    left = list_steps(last)
                return fitted, self._list_codes(fitted, left)
        raise UserError(f"no template says anything of the shape {compute_shape(last)}")

    def _list_codes(self, fitted: FittedTemplate, steps: list[TreeStep]) -> list[int]:
        codes = [EMPTY_SLOT] * len(fitted.template.params)
        for place, step in zip(fitted.places, steps, strict=True):
            if place.relation != NO_SLOT:
                codes[place.relation] = self.relation[step.params[0]]
            for word in step.words:
                codes[place.words[word.attribute]] = self.code[word.attribute, word.value]
        return codes

    def word_clauses(
        self, fitted: FittedTemplate, listed: list[TreeStep], things: Mapping[int, FullDescription], dice: int
    ) -> tuple[QuestionWording, dict[int, Clause]]:
        """The template's texts with places for the relations that were added, and the clauses that stand there."""
        related = [(place.node, s.relations) for place, s in zip(fitted.places, listed, strict=True) if s.relations]
        mentioned = {i for _, relations in related for _, i in relations}
        said = {i: self.writer.describe(things[i], dice) for i in mentioned}
        clauses = {number: self.writer.join(relations, said) for number, relations in related}
        nodes = tuple(clauses)
        text = fitted.with_clauses.get(nodes)
        if text is None:
            template = add_clause_marks(fitted.template, nodes, noun_attribute(self.schema.attributes))
            text = fitted.with_clauses[nodes] = QuestionWording(template, self.vocabulary, fitted.text.lexicon)
            text.rivals = fitted.text.rivals
        return text, clauses

    def _insert_relations(self, number: int, left: list[TreeStep], cut: frozenset[int]) -> FittedTemplate:
        fitted = self.get_own(number)
        grafts = tuple(
            RelationInsert(place.node, _count_chain(step), any(s.op in JOINED_OPS for s in step.list_readers()))
            for place, step in zip(fitted.places, left, strict=True)
            if id(step) in cut
        )
        made = self._made.get((number, grafts))
        if made is None:
            template = insert_relations(fitted.template, grafts, self.schema)
            text = QuestionWording(template, self.vocabulary, fitted.text.lexicon)
            text.rivals = fitted.text.rivals  # "other" still tells the same two descriptions apart
            program = TemplateProgramBuilder(template, self.vocabulary)
            made = self._made[number, grafts] = FittedTemplate(template, program, text, list_step_slots(template), {})
        return made


def _has_room(place: StepSlots, step: TreeStep) -> bool:
    """Whether the template has a place for each of the step's words, and they fill those it needs."""
    named: set[str] = set()
    for word in step.words:
        if word.op != "filter" or word.attribute not in place.words or word.attribute in named:
            return False
        named.add(word.attribute)
    return place.needed <= named


def _list_cuts(last: TreeStep) -> Iterator[frozenset[int]]:
    """Relations to take off, in turn: none, all."""
    yield NOTHING
    yield frozenset(id(s) for s in list_steps(last) if s.op in RELATIONS and not s.is_half)


def _count_chain(step: TreeStep) -> int:
    """How many relations follow each other from here."""
    length = 0
    while step.op in RELATIONS:
        length, step = length + 1, step.inputs[0].inputs[0]
    return length
