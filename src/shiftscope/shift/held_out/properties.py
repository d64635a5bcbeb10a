"""Properties of a question (COVR, Table 5): each a family, whose instances are what it finds in the program.

`has_num` is true of a question that has any instance, `has_num_3` of one that has this. What the program does
not say (which template, what subgraph) is read from the question's provenance and notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...answer import spell
from ...lang.check import plan_of
from ...lang.types import BOOL, INT
from ...scene import FREE
from .facts import NARROWING, NOUNS, QUANTIFIERS, RELATING, Facts, snake
from .relations import shapes

ONE = ""  # the instance of a family that has no others


@dataclass(frozen=True, slots=True)
class Family:
    """Properties that differ in what they look for."""

    name: str
    find: Callable[[Facts], Iterator[str]]
    known: tuple[str, ...] | None  # the instances there are; None for any word
    alone: bool  # whether the name without an instance is a property, too

    @property
    def summary(self) -> str:
        return (self.find.__doc__ or "").splitlines()[0]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its properties, as far as they can be listed."""
        if self.known is None:
            return ((self.name,) if self.alone else ()) + (f"{self.name}_X",)
        return (self.name, *(self.named(one) for one in self.known))

    def named(self, instance: str) -> str:
        """The property's name; the parts of a name such as `rm_v_c` stand alone."""
        if instance in self.name.split("_"):
            return instance
        return f"{self.name}_{instance}" if instance else self.name


FAMILIES: dict[str, Family] = {}
Find = Callable[[Facts], Iterator[str]]


def family(name: str, *known: str, any_word: bool = False, alone: bool = True) -> Callable[[Find], Find]:
    """Register what finds the instances of a family."""

    def register(find: Find) -> Find:
        FAMILIES[name] = Family(name, find, None if any_word else known, alone)
        return find

    return register


@family("has_quant", *QUANTIFIERS, "compscope")
def _quant(facts: Facts) -> Iterator[str]:
    """All, some, none; also "do all have the same color". compscope: of what has an attribute or relation."""
    for n in facts.nodes:
        if n.op in QUANTIFIERS:
            yield n.op
        elif n.op in ("alike", "differ") and facts.same(*n.inputs):
            yield "all"
        else:
            continue
        if any(_describes(facts, i) for i in facts.below(n.inputs[0])):
            yield "compscope"


def _describes(facts: Facts, i: int) -> bool:
    n = facts.nodes[i]
    return n.op in (*RELATING, "same") or (n.op in NARROWING and n.params[0] not in NOUNS)


COMPARED = {"greater": "more", "less": "fewer", "equal": "same", "at_least": "at_least", "at_most": "at_most"}


@family("has_compar", *COMPARED.values())
def _compar(facts: Facts) -> Iterator[str]:
    """Two counts are compared."""
    for n in facts.nodes:
        if n.op in COMPARED and all(facts.nodes[j].op == "count" for j in n.inputs):
            yield COMPARED[n.op]


@family("has_groupby")
def _groupby(facts: Facts) -> Iterator[str]:
    """Things are grouped by the image they are in, or the images that have some are counted."""
    counted = {j for n in facts.nodes if n.op == "count" for j in n.inputs}
    if any(n.op == "group" or (n.op == "images" and i in counted) for i, n in enumerate(facts.nodes)):
        yield ONE


@family("has_num", any_word=True)
def _num(facts: Facts) -> Iterator[str]:
    """A number is said; has_num_3: this one."""
    unsaid = {j for n in facts.nodes if n.note("default") for j in n.inputs}
    for i, n in enumerate(facts.nodes):
        if n.op == "number" and i not in unsaid and not n.note("implicit"):
            yield n.params[0]
        elif n.op == "keep" and not n.note("default"):
            yield n.params[1]


@family("has_attr", any_word=True)
def _attr(facts: Facts) -> Iterator[str]:
    """An attribute tells which things are meant; has_attr_red, has_attr_color: this one."""
    for n in facts.nodes:
        if n.op in NARROWING and n.params[0] not in NOUNS:
            attribute, value = n.params
            yield snake(value)
            if attribute != FREE:
                yield snake(attribute)


@family("has_sameattr", any_word=True)
def _sameattr(facts: Facts) -> Iterator[str]:
    """Whether things share an attribute; has_sameattr_color: this one."""
    for n in facts.nodes:
        if n.op in ("alike", "differ", "same"):
            yield snake(n.params[0])
        elif n.op == "common":
            yield ONE
        elif n.op == "equal" and facts.nodes[n.inputs[0]].op == "query":
            yield snake(facts.nodes[n.inputs[0]].params[0])


@family("has_logic", "and", "or")
def _logic(facts: Facts) -> Iterator[str]:
    """Two truths, or two sets of things, are joined by and or by or."""
    for n in facts.nodes:
        if n.op in ("and", "or"):
            yield n.op
        elif n.op == "intersect" and not any(facts.nodes[j].op in ("related", "it") for j in n.inputs):
            yield "and"
        elif n.op == "union" and not _one_word_of(facts, n.inputs):
            yield "or"


def _one_word_of(facts: Facts, inputs: tuple[int, ...]) -> bool:
    """Whether sets are what one word or another names: "a cat or a dog" where COVR lists both names."""
    ends: list[int] = []
    todo = list(inputs)
    while todo:
        i = todo.pop()
        if facts.nodes[i].op == "union":
            todo.extend(facts.nodes[i].inputs)
        else:
            ends.append(i)
    first, *others = (facts.nodes[i] for i in ends)
    if first.op == "find":
        return all(n.op == "find" for n in others)
    alike = first.op == "filter" and all(n.op == "filter" for n in others)
    return alike and all(facts.same(first.inputs[0], n.inputs[0]) for n in others)


@family("has_count")
def _count(facts: Facts) -> Iterator[str]:
    """Something is counted."""
    if any(n.op == "count" for n in facts.nodes):
        yield ONE


SHAPES = {"modifier": "rm", "v": "v", "chain": "c"}  # the note `structure` → the property


@family("rm_v_c", *SHAPES.values())
def _rm_v_c(facts: Facts) -> Iterator[str]:
    """A relation with a modifier (rm), two relations of one thing (v), or a chain of them (c)."""
    said = facts.question.note("structure")
    if said is None:
        yield from shapes(facts)
    else:
        yield from (SHAPES[one] for one in said if one in SHAPES)


# What the official files call the templates whose names are others there.
RELEASED = {
    "quantifier": "verify_quant",
    "quantifier_same_attr": "verify_quant_attr",
    "specific_same_attr": "verify_same_attr",
    "multiple_ref": "verify_logic",
    "count_ref": "count",
    "verify_count_ref": "verify_count",
    "count_ref_group_by": "count_group_by",
    "verify_count_ref_group_by": "verify_count_group_by",
}


@family("tpl", any_word=True, alone=False)
def _tpl(facts: Facts) -> Iterator[str]:
    """The question was made from this template."""
    template = facts.question.provenance.template
    if template:
        name = snake(template)
        name = RELEASED.get(name, name) if facts.question.provenance.source == "covr" else name
        yield name
        yield name.replace("_", "")


@family("ans", any_word=True, alone=False)
def _ans(facts: Facts) -> Iterator[str]:
    """The answer is this word, or a number, attribute, noun, relation, truth: num, attr, noun, rel, bool."""
    if facts.question.answer is None:
        return
    said = spell(facts.question.answer)
    yield snake(said)
    if facts.question.program is None and (said.isdecimal() or said in ("yes", "no")):
        yield "num" if said.isdecimal() else "bool"
        return
    kind = plan_of(facts.program).types[-1]
    if kind in (INT, BOOL):
        yield "num" if kind == INT else "bool"
    else:
        of = kind.of or facts.program.root.params[0]  # a query says which attribute it is of
        yield "noun" if of in NOUNS else "rel" if of == "relation" else "attr"


@family("lexical", any_word=True, alone=False)
def _lexical(facts: Facts) -> Iterator[str]:
    """An object, attribute or relation of this name is asked about."""
    nodes = facts.question.note("nodes")
    yield from facts.names if nodes is None else (snake(name) for _, name in nodes)


@family("op", any_word=True, alone=False)
def _op(facts: Facts) -> Iterator[str]:
    """The program has this op (shiftscope list ops)."""
    yield from (n.op for n in facts.nodes)
