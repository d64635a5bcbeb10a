"""Template: the plan of a family of questions, with slots for the words that a scene fills in.

The record mirrors the official files: `<Z>` is a slot, `[that is]` in a text may be left out, `<S>s` is a plural. A
node is a function with an official name: `relate_filter_unique` is relate, then a description of up to one filter per
attribute, then unique. Attributes are read off the name, so that `query_texture` works wherever a schema has a
texture. Constraints say which fillings are no question. A filled template gives a program.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any, Literal

from ...errors import UserError, did_you_mean
from ...lang.check import plan_program
from ...lang.program import Node, Program, ProgramError, node
from ...schema import Words
from .vocabulary import SlotVocabulary

Takes = Literal["nothing", "relation", "one", "many", "relation and many"]

SIMPLE_FUNCTIONS = {  # official name → our op, number of inputs
    "scene": ("scene", 0),
    "unique": ("unique", 1),
    "uniquepart": ("unique", 1),
    "union": ("union", 2),
    "intersect": ("intersect", 2),
    "count": ("count", 1),
    "exist": ("exist", 1),
    "equal_integer": ("equal", 2),
    "equal_object": ("equal", 2),
    "less_than": ("less", 2),
    "greater_than": ("greater", 2),
    "object2part": ("parts", 1),
    "part2object": ("owners", 1),
}
ATTRIBUTE_FUNCTIONS = {"query": 1, "same": 1, "equal": 2, "partquery": 1}
TAILS = ("unique", "count", "exist")
DESCRIPTIONS = tuple(
    f"{head}{tail}" for head in ("filter", "relate_filter", "partfilter") for tail in ("", *(f"_{t}" for t in TAILS))
)


@dataclass(frozen=True, slots=True)
class TemplateFunction:
    op: str  # of our language; "describe" for the template-only ones and single filters
    inputs: int
    takes: Takes = "nothing"  # what its side inputs are
    attribute: str = ""  # that the name fixes
    relate: bool = False  # a description that starts with a relation
    tail: str = ""  # what a description ends with: unique, count, exist or nothing
    on_parts: bool = False  # filters or queries parts

    @property
    def question_type(self) -> str:
        """The type of a question that ends here, without its attribute: count, query, equal, …"""
        return self.tail or self.op


@lru_cache(maxsize=512)
def parse_attribute(word: str) -> str:
    """The attribute that a parameter's type, or the end of a function's name, stands for."""
    lowered = word.lower()
    return "name" if lowered == "partname" else lowered


@lru_cache(maxsize=512)
def parse_function(name: str) -> TemplateFunction | None:
    """What the function does; None for a name that says nothing."""
    if name == "relate":
        return TemplateFunction("relate", 1, "relation")
    if name in DESCRIPTIONS:
        head, _, tail = name.rpartition("filter")
        relate = head == "relate_"
        takes: Takes = "relation and many" if relate else "many"
        return TemplateFunction("describe", 1, takes, relate=relate, tail=tail.strip("_"), on_parts=head == "part")
    if name in SIMPLE_FUNCTIONS:
        op, inputs = SIMPLE_FUNCTIONS[name]
        return TemplateFunction(op, inputs)
    head, _, attribute = name.partition("_")
    if not attribute:
        return None
    on_parts = head.startswith("part")
    if head in ("filter", "partfilter"):
        return TemplateFunction("describe", 1, "one", parse_attribute(attribute), on_parts=on_parts)
    if head == "not":
        return TemplateFunction("exclude", 1, "one", parse_attribute(attribute))
    if head in ATTRIBUTE_FUNCTIONS:
        op = head.removeprefix("part")
        return TemplateFunction(op, ATTRIBUTE_FUNCTIONS[head], "nothing", parse_attribute(attribute), on_parts=on_parts)
    return None


def suggest_description(name: str) -> str:
    """`; did you mean 'filter_unique'?` for `filter_uniq`, which reads like a filter by an attribute `uniq`."""
    return did_you_mean(name, DESCRIPTIONS) if did_you_mean(name.rpartition("_")[2], TAILS) else ""


NULL = "NULL"  # the slot named stays empty
OUT_NEQ = "OUT_NEQ"  # the two nodes give different things
# Ours, of two nodes that describe: by the words alone, neither contains the other; the second does not contain the
# first; they are not worded alike; what the first calls its things, the second calls its own where "other" is said.
APART, OUTSIDE, UNLIKE, NAMED = "APART", "OUTSIDE", "UNLIKE", "NAMED"
MANY, NOUN = "MANY", "NOUN"  # ours: the node gives two things or more; its description has a noun
CONSTRAINTS = (NULL, OUT_NEQ, APART, OUTSIDE, UNLIKE, NAMED, MANY, NOUN)
RELATION = "relation"
OTHER = "other"  # a word of a text that goes where the descriptions already differ
MAX_SLOTS = 62  # so that the set of filled ones is one machine word
MAX_STEPS = 64

SLOT = re.compile(r"<[^<>\s]*>")
OPTIONAL = re.compile(r"\[[^\]]*\]")
TOKEN = re.compile(r"\[|\]|[^\s\[\]]+")
# marks, the slot, an s for the plural, what belongs to its word ('s, -colored), marks
SLOT_TOKEN = re.compile(rf"([^\w<]*)({SLOT.pattern})(s(?![a-z]))?([^<]*?)([^\w<]*)")
SLOT_RULES = {  # relation slots, all slots, and how to say that
    "nothing": ([0, 0], "no slots"),
    "relation": ([1, 1], "one relation slot"),
    "one": ([0, 1], "one attribute slot"),
}


@dataclass(frozen=True, slots=True)
class TemplateSlot:
    """A place for a word: `<Z2>`, of type Size."""

    name: str
    type: str

    @property
    def attribute(self) -> str:
        """The attribute whose values fill it, or `relation`."""
        return parse_attribute(self.type)


@dataclass(frozen=True, slots=True)
class TemplateNode:
    """A function, the nodes it reads and the slots it takes its words from."""

    function: str
    inputs: tuple[int, ...] = ()
    slots: tuple[str, ...] = ()

    @property
    def meaning(self) -> TemplateFunction:
        found = parse_function(self.function)
        assert found is not None, self.function
        return found


@dataclass(frozen=True, slots=True)
class TemplateConstraint:
    type: str
    params: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Template:
    file: str
    family: int  # its number in the file
    params: tuple[TemplateSlot, ...]
    texts: tuple[str, ...]
    nodes: tuple[TemplateNode, ...]
    constraints: tuple[TemplateConstraint, ...] = ()
    long_texts: tuple[str, ...] = field(default=(), compare=False)  # with places for clauses, `{+<S> that are}`

    @property
    def location(self) -> str:
        return f"{self.file}: template {self.family}"

    def find_slot(self, name: str) -> int:
        return [p.name for p in self.params].index(name)

    @property
    def empty_slots(self) -> frozenset[int]:
        """The slots that constraints keep empty."""
        return frozenset(self.find_slot(str(c.params[0])) for c in self.constraints if c.type == NULL)


@dataclass(frozen=True, slots=True)
class TemplateSet:
    """Templates that are used together, and the words to say things in."""

    templates: tuple[Template, ...]
    synonyms: Words = ()  # (word, its synonyms); where empty, our own lexicon
    name: str = ""  # tells two sets apart that ask about the same scenes: in random paths and question ids

    def __len__(self) -> int:
        return len(self.templates)


@dataclass(frozen=True, slots=True)
class ProgramPiece:
    """One program node that a template node stands for: an op, its fixed words and perhaps a slot's."""

    op: str
    fixed: tuple[str, ...] = ()
    slot: int = -1


def expand_nodes(template: Template) -> tuple[tuple[ProgramPiece, ...], ...]:
    """For each template node its program nodes, each reading the one before; empty slots drop theirs."""
    found: list[tuple[ProgramPiece, ...]] = []
    for n in template.nodes:
        f = n.meaning
        slots = [template.find_slot(s) for s in n.slots]
        pieces: list[ProgramPiece] = []
        if f.op == "relate" or f.relate:
            pieces.append(ProgramPiece("relate", (), slots.pop(0)))
        if f.op == "describe":
            pieces += [ProgramPiece("filter", (f.attribute or template.params[s].attribute,), s) for s in slots]
            pieces += [ProgramPiece(f.tail)] if f.tail else []
        elif f.op == "exclude":
            pieces.append(ProgramPiece("exclude", (f.attribute,), slots[0]))
        elif f.op != "relate":
            pieces.append(ProgramPiece(f.op, (f.attribute,) if f.op in ("query", "same") else ()))
        found.append(tuple(pieces))
    return tuple(found)


def fill_program(template: Template, word: Callable[[int], str]) -> Program:
    nodes: list[Node] = []
    last: list[int] = []
    for n, pieces in zip(template.nodes, expand_nodes(template), strict=True):
        inputs = tuple(last[i] for i in n.inputs)
        for piece in pieces:
            nodes.append(node(piece.op, inputs, piece.fixed if piece.slot < 0 else (*piece.fixed, word(piece.slot))))
            inputs = (len(nodes) - 1,)
        last.append(inputs[0])
    return Program(tuple(nodes))


def check_template(template: Template, where: str = "") -> Template:
    """The template itself, or one sentence about what is wrong with it and where."""
    for trouble in _list_troubles(template):
        raise UserError(f"{where or template.location}: {trouble}")
    return template


def _list_troubles(template: Template) -> Iterator[str]:
    """What is wrong with it; only the first is sure to make sense."""
    if not template.nodes or not template.texts:
        yield "it needs at least one node and one text"
    if len(template.params) > MAX_SLOTS or len(template.nodes) > MAX_STEPS:
        yield f"it has more than {MAX_SLOTS} slots or {MAX_STEPS} nodes"
    names = [p.name for p in template.params]
    for name in names:
        if not SLOT.fullmatch(name) or names.count(name) > 1:
            yield f"the slot {name!r} must be written like <Z> and be declared once"
    for at in range(len(template.nodes)):
        yield from _list_node_troubles(template, at)
    for constraint in template.constraints:
        rule, params = constraint.type, constraint.params
        if rule not in CONSTRAINTS:
            yield f"there is no constraint {rule!r}; known: {', '.join(CONSTRAINTS)}"
        elif rule == NULL and (len(params) != 1 or params[0] not in names):
            yield f"NULL takes one declared slot, got {list(params)}"
        elif rule != NULL:
            size = 1 if rule in (MANY, NOUN) else 2
            if len(params) != size or not all(type(i) is int and 0 <= i < len(template.nodes) for i in params):
                yield f"{rule} takes the number{'s of two nodes' if size == 2 else ' of a node'}, got {list(params)}"
            if rule in (APART, NAMED, NOUN) and any(template.nodes[int(i)].meaning.op != "describe" for i in params):
                yield f"{rule} takes {'two nodes' if size == 2 else 'a node'} that describe{'s' if size == 1 else ''}"
    for text in template.texts:
        yield from _list_text_troubles(text, names)
    try:
        kind = plan_program(fill_program(template, lambda slot: "?")).types[-1]
    except ProgramError as error:
        yield f"its program does not fit together: {error}"
    else:
        if kind.name not in ("Int", "Bool", "Value"):
            yield f"it ends in {kind}, which is not an answer"


def _list_node_troubles(template: Template, at: int) -> Iterator[str]:
    n = template.nodes[at]
    f = parse_function(n.function)
    if f is None:
        known = (*SIMPLE_FUNCTIONS, *DESCRIPTIONS, "relate", "query_color", "same_color", "equal_color")
        yield f"node {at}: there is no function {n.function!r}{did_you_mean(n.function, known)}"
        return
    where = f"node {at} ({n.function})"
    if len(n.inputs) != f.inputs or any(not 0 <= i < at for i in n.inputs):
        yield f"{where} needs {f.inputs} earlier nodes as inputs, got {list(n.inputs)}"
    types = {p.name: p.attribute for p in template.params}
    for slot in n.slots:
        if slot not in types:
            yield f"{where} takes {slot}, which is not among the params"
    relations = [s for s in n.slots if types[s] == RELATION]
    if f.takes in SLOT_RULES:
        wanted, words = SLOT_RULES[f.takes]
        if [len(relations), len(n.slots)] != wanted:
            yield f"{where} takes {words}, got {' '.join(n.slots) or 'none'}{suggest_description(n.function)}"
        return
    lead = list(n.slots[:1]) if f.relate else []
    if relations != lead or len(n.slots) <= len(lead):
        yield f"{where} takes {'a relation first, then ' if f.relate else ''}at least one attribute slot"
    described = [types[s] for s in n.slots]
    if len(set(described)) != len(described):
        yield f"{where} has two slots of one type"


def _list_text_troubles(text: str, slots: list[str]) -> Iterator[str]:
    for slot in SLOT.findall(text):
        if slot not in slots:
            yield f"the text {text!r} mentions {slot}, which is not among the params"
    brackets = "".join(letter for letter in text if letter in "[]")
    if brackets.replace("[]", "") or not text.strip():
        yield f"the text {text!r} is empty, or its square brackets do not match"
    if set("<>") & set(SLOT.sub("", text)):
        yield f"the text {text!r} has a < or > too many; a slot is written like <Z>"
    for token in TOKEN.findall(text):
        if SLOT.search(token) and not SLOT_TOKEN.fullmatch(token):
            yield f"the text {text!r} has a slot stuck to what is before or after it: {token!r}"
    always = [t for t in TOKEN.findall(OPTIONAL.sub(" ", text)) if not SLOT.search(t) and t.lower() != OTHER]
    if not any(letter.isalnum() for letter in "".join(always)):
        yield f"the text {text!r} has no word that is always there, outside slots and square brackets"


class NodesByInputs(dict[int | tuple[int, ...], Node]):
    """The nodes of one op with its words, by the nodes that they read; each is made when first asked for."""

    def __init__(self, op: str, params: tuple[str, ...]) -> None:
        self.op, self.params = op, params

    def __missing__(self, inputs: int | tuple[int, ...]) -> Node:
        made = self[inputs] = node(self.op, (inputs,) if isinstance(inputs, int) else inputs, self.params)
        return made


share_nodes = cache(NodesByInputs)  # by all templates


@cache
def share_ways(op: str, fixed: tuple[str, ...], words: tuple[str, ...]) -> tuple[NodesByInputs, ...]:
    """The nodes of an op for each of the words; templates have the same few, hundreds of times."""
    return tuple(share_nodes(op, (*fixed, word)) for word in words)


class TemplateProgramBuilder:
    """The programs of one template; a node made once is used again."""

    def __init__(self, template: Template, vocabulary: SlotVocabulary) -> None:
        self.template = template
        self.terms = vocabulary.names
        self.relations = vocabulary.schema.relations

    @cached_property  # few questions use few templates
    def _plan(self) -> list[tuple[int, int, list[tuple[int, Sequence[NodesByInputs]]]]]:
        """For each node of the template the two that it reads, −1 for none, and its pieces.

        A piece is its slot, −1 for none, and the nodes for each code in it.
        """
        plan = []
        for n, pieces in zip(self.template.nodes, expand_nodes(self.template), strict=True):
            left, right = (*n.inputs, -1, -1)[:2]
            plan.append((left, right, [(p.slot, self._list_nodes(p)) for p in pieces]))
        return plan

    def __call__(self, values: list[int]) -> Program:
        """The program for these codes, one a slot; a negative one leaves the slot empty."""
        return self.build(values)[0]

    def build(self, values: list[int]) -> tuple[Program, list[int]]:
        """The program, and for each node of the template the last of its own."""
        nodes: list[Node] = []
        last = self._add_nodes(nodes, values)
        return Program(tuple(nodes)), last

    def build_after(self, values: list[int], action: tuple[Node, ...]) -> Program:
        """The program asked of the scene after an action, as `join_action` puts the two together."""
        nodes = list(action)
        self._add_nodes(nodes, values, len(action) - 1)
        return Program(tuple(nodes))

    def _add_nodes(self, nodes: list[Node], values: list[int], outcome: int = -1) -> list[int]:
        """Add the program's nodes; where there is an `outcome`, that node stands for the scene."""
        codes = [*values, 0]  # a piece without a slot finds its own at −1
        at = len(nodes)
        last: list[int] = []
        for left, right, pieces in self._plan:
            if left < 0 <= outcome:  # only the scene reads nothing
                last.append(outcome)
                continue
            read: Any = (last[left], last[right]) if right >= 0 else last[left] if left >= 0 else ()
            for slot, ways in pieces:
                code = codes[slot]
                if code >= 0:
                    nodes.append(ways[code][read])
                    read = at
                    at += 1
            last.append(read)
        return last

    def _list_nodes(self, piece: ProgramPiece) -> Sequence[NodesByInputs]:
        """The nodes of a piece for each code in its slot; of one that has none, the only ones."""
        if piece.slot < 0:
            return (share_nodes(piece.op, piece.fixed),)
        return share_ways(piece.op, piece.fixed, self.relations if piece.op == "relate" else self.terms)
