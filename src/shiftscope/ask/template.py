"""Template: the plan of a family of questions, with slots for the words that a scene fills in.

The record mirrors the official files: `<Z>` is a slot, `[that is]` in a text may be left out, `<S>s` is a
plural. A node is a function of `function.py`; constraints say which fillings are no question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import UserError
from ..lang.check import plan_of
from ..lang.program import Node, Program, ProgramError, node
from ..schema import Words
from .function import Function, attribute_named, function_named, nearest, nearest_description

NULL = "NULL"  # the slot named stays empty
OUT_NEQ = "OUT_NEQ"  # the two nodes give different things
APART = "APART"  # neither of two descriptions contains the other by its words alone (ours)
CONSTRAINTS = {NULL: str, OUT_NEQ: int, APART: int}
RELATION = "relation"
OTHER = "other"  # a word of a text that goes where the descriptions already differ
REPAINTED = "repainted"  # goes where the part after it, of one object, is named outright
MAX_SLOTS = 62  # so that the set of filled ones is one machine word
MAX_STEPS = 64

SLOT = re.compile(r"<[^<>\s]*>")
OPTIONAL = re.compile(r"\[[^\]]*\]")
TOKEN = re.compile(r"\[|\]|[^\s\[\]]+")
# marks, the slot, an s for the plural, what belongs to its word ('s, -colored), marks
SLOT_TOKEN = re.compile(rf"([^\w<]*)({SLOT.pattern})(s(?![a-z]))?([^<]*?)([^\w<]*)")


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a word: `<Z2>`, of type Size."""

    name: str
    type: str

    @property
    def attribute(self) -> str:
        """The attribute whose values fill it, or `relation`."""
        return attribute_named(self.type)


@dataclass(frozen=True, slots=True)
class TemplateNode:
    """A function, the nodes it reads and the slots it takes its words from."""

    function: str
    inputs: tuple[int, ...] = ()
    slots: tuple[str, ...] = ()

    @property
    def meaning(self) -> Function:
        found = function_named(self.function)
        assert found is not None, self.function
        return found


@dataclass(frozen=True, slots=True)
class Constraint:
    type: str
    params: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """One family of questions."""

    file: str
    family: int  # its number in the file
    params: tuple[Slot, ...]
    texts: tuple[str, ...]
    nodes: tuple[TemplateNode, ...]
    constraints: tuple[Constraint, ...] = ()

    @property
    def where(self) -> str:
        return f"{self.file}: template {self.family}"

    def slot(self, name: str) -> int:
        return [p.name for p in self.params].index(name)

    @property
    def never(self) -> frozenset[int]:
        """The slots that constraints keep empty."""
        return frozenset(self.slot(str(c.params[0])) for c in self.constraints if c.type == NULL)


@dataclass(frozen=True, slots=True)
class TemplateSet:
    """Templates that are used together, and the words to say things in."""

    templates: tuple[Template, ...]
    synonyms: Words = ()  # (word, how it may be said); where empty, our own lexicon
    name: str = ""  # tells two sets apart that ask about the same scenes: in random paths and question ids

    def __len__(self) -> int:
        return len(self.templates)


@dataclass(frozen=True, slots=True)
class Piece:
    """One program node that a template node stands for: an op, its fixed words and perhaps a slot's."""

    op: str
    fixed: tuple[str, ...] = ()
    slot: int = -1


def pieces_of(template: Template) -> tuple[tuple[Piece, ...], ...]:
    """For each template node its program nodes, each reading the one before; empty slots drop theirs."""
    found: list[tuple[Piece, ...]] = []
    for n in template.nodes:
        f = n.meaning
        slots = [template.slot(s) for s in n.slots]
        pieces: list[Piece] = []
        if f.op == "relate" or f.relate:
            pieces.append(Piece("relate", (), slots.pop(0)))
        if f.op == "describe":
            pieces += [Piece("filter", (f.attribute or template.params[s].attribute,), s) for s in slots]
            pieces += [Piece(f.tail)] if f.tail else []
        elif f.op == "exclude":
            pieces.append(Piece("exclude", (f.attribute,), slots[0]))
        elif f.op != "relate":
            pieces.append(Piece(f.op, (f.attribute,) if f.op in ("query", "same") else ()))
        found.append(tuple(pieces))
    return tuple(found)


def check_template(template: Template, where: str = "") -> Template:
    """The template itself, or one sentence about what is wrong with it and where."""
    trouble = _trouble(template)
    if trouble:
        raise UserError(f"{where or template.where}: {trouble}")
    return template


def _trouble(template: Template) -> str:
    if not template.nodes or not template.texts:
        return "it needs at least one node and one text"
    if len(template.params) > MAX_SLOTS or len(template.nodes) > MAX_STEPS:
        return f"it has more than {MAX_SLOTS} slots or {MAX_STEPS} nodes"
    names = [p.name for p in template.params]
    for name in names:
        if not SLOT.fullmatch(name) or names.count(name) > 1:
            return f"the slot {name!r} must be written like <Z> and be declared once"
    return (
        next((t for i in range(len(template.nodes)) if (t := _node_trouble(template, i))), "")
        or next((t for c in template.constraints if (t := _constraint_trouble(template, c))), "")
        or next((t for text in template.texts if (t := _text_trouble(template, text))), "")
        or _program_trouble(template)
    )


def _node_trouble(template: Template, at: int) -> str:
    n = template.nodes[at]
    f = function_named(n.function)
    if f is None:
        return f"node {at}: there is no function {n.function!r}{nearest(n.function)}"
    where = f"node {at} ({n.function})"
    if len(n.inputs) != f.inputs or any(not 0 <= i < at for i in n.inputs):
        return f"{where} needs {f.inputs} earlier nodes as inputs, came {list(n.inputs)}"
    types = {p.name: p.attribute for p in template.params}
    missing = [s for s in n.slots if s not in types]
    if missing:
        return f"{where} takes {missing[0]}, which is not among the params"
    relations = [s for s in n.slots if types[s] == RELATION]
    fixed = {
        "nothing": (0, 0, "no slots"),
        "relation": (1, 1, "one relation slot"),
        "one": (0, 1, "one attribute slot"),
    }
    if f.takes in fixed:
        *wanted, words = fixed[f.takes]
        if [len(relations), len(n.slots)] != wanted:
            return (
                f"{where} takes {words}, came {' '.join(n.slots) or 'none'}{nearest_description(n.function)}"
            )
    else:
        lead = list(n.slots[:1]) if f.relate else []
        if relations != lead or len(n.slots) <= len(lead):
            return f"{where} takes {'a relation first, then ' if f.relate else ''}at least one attribute slot"
        described = [types[s] for s in n.slots]
        if len(set(described)) != len(described):
            return f"{where} has two slots of one type"
    return ""


def _constraint_trouble(template: Template, constraint: Constraint) -> str:
    kind, params = constraint.type, constraint.params
    if kind not in CONSTRAINTS:
        return f"there is no constraint {kind!r}; known: {', '.join(CONSTRAINTS)}"
    if kind == NULL:
        if len(params) == 1 and params[0] in [p.name for p in template.params]:
            return ""
        return f"NULL takes one declared slot, came {list(params)}"
    if len(params) != 2 or not all(type(i) is int and 0 <= i < len(template.nodes) for i in params):
        return f"{kind} takes the numbers of two nodes, came {list(params)}"
    if kind == APART and any(template.nodes[int(i)].meaning.op != "describe" for i in params):
        return "APART takes two nodes that describe"
    return ""


def _text_trouble(template: Template, text: str) -> str:
    known = {p.name for p in template.params}
    strange = [s for s in SLOT.findall(text) if s not in known]
    if strange:
        return f"the text {text!r} mentions {strange[0]}, which is not among the params"
    depth = 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if depth not in (0, 1):
            break
    if depth or not text.strip():
        return f"the text {text!r} is empty, or its square brackets do not match"
    if set("<>") & set(SLOT.sub("", text)):
        return f"the text {text!r} has a < or > too many; a slot is written like <Z>"
    crowded = [t for t in TOKEN.findall(text) if SLOT.search(t) and not SLOT_TOKEN.fullmatch(t)]
    if crowded:
        return f"the text {text!r} has a slot stuck to what is before or after it: {crowded[0]!r}"
    always = [t for t in TOKEN.findall(OPTIONAL.sub(" ", text)) if not SLOT.search(t) and t.lower() != OTHER]
    if not any(letter.isalnum() for letter in "".join(always)):
        return f"the text {text!r} has no word that is always there, outside slots and square brackets"
    return ""


def _program_trouble(template: Template) -> str:
    """Type-check the program with every slot filled."""
    nodes: list[Node] = []
    last: list[int] = []
    try:
        for n, pieces in zip(template.nodes, pieces_of(template), strict=True):
            inputs = tuple(last[i] for i in n.inputs)
            for p in pieces:
                nodes.append(node(p.op, inputs, p.fixed if p.slot < 0 else (*p.fixed, "?")))
                inputs = (len(nodes) - 1,)
            last.append(inputs[0])
        kind = plan_of(Program(tuple(nodes))).types[-1]
    except ProgramError as error:
        return f"its program does not fit together: {error}"
    if kind.name not in ("Int", "Bool", "Value"):
        return f"it ends in {kind}, which is not an answer"
    return ""
