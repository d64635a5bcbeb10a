"""Properties of a question (COVR, Table 5): each a family, whose instances are what it finds in the program.

`has_num` is true of a question that has any instance, `has_num_3` of one that has this. What the program does
not say (which template, what subgraph) is read from the question's provenance and notes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...answer import spell
from ...lang.check import plan_program
from ...lang.op import BOOL, INT
from ...scene import FREE
from .facts import NOUN_ATTRIBUTES, QUANTIFIERS, RELATION_OPS, ProgramFacts, find_structures, to_snake_case

ONLY_INSTANCE = ""  # the instance of a family that has no others


@dataclass(frozen=True, slots=True)
class PropertyFamily:
    """Properties that differ in what they look for."""

    name: str
    find: Callable[[ProgramFacts], Iterator[str]]
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
        return (self.name, *(self.name_property(one) for one in self.known))

    def name_property(self, instance: str) -> str:
        """The property's name; the parts of a name such as `rm_v_c` stand alone."""
        if instance in self.name.split("_"):
            return instance
        return f"{self.name}_{instance}" if instance else self.name


FAMILIES: dict[str, PropertyFamily] = {}
FindInstances = Callable[[ProgramFacts], Iterator[str]]


def register_family(
    name: str, *known: str, any_word: bool = False, alone: bool = True
) -> Callable[[FindInstances], FindInstances]:
    """Register what finds the instances of a family."""

    def register(find: FindInstances) -> FindInstances:
        FAMILIES[name] = PropertyFamily(name, find, None if any_word else known, alone)
        return find

    return register


@register_family("has_quant", *QUANTIFIERS, "compscope")
def _find_quantifiers(facts: ProgramFacts) -> Iterator[str]:
    """All, some, none; also "do all have the same color". compscope: of what has an attribute or relation."""
    for n in facts.nodes:
        if n.op in QUANTIFIERS:
            yield n.op
        elif n.op in ("alike", "differ") and facts.is_same(*n.inputs):
            yield "all"
        else:
            continue
        scope = [facts.nodes[i] for i in facts.program.find_reachable(n.inputs[0])]
        if any(s.op in (*RELATION_OPS, "same") or facts.is_attribute_filter(s) for s in scope):
            yield "compscope"


COMPARISONS = {"greater": "more", "less": "fewer", "equal": "same", "at_least": "at_least", "at_most": "at_most"}


@register_family("has_compar", *COMPARISONS.values())
def _find_comparisons(facts: ProgramFacts) -> Iterator[str]:
    """Two counts are compared."""
    for n in facts.nodes:
        if n.op in COMPARISONS and all(facts.nodes[j].op == "count" for j in n.inputs):
            yield COMPARISONS[n.op]


@register_family("has_groupby")
def _find_grouping(facts: ProgramFacts) -> Iterator[str]:
    """Things are grouped by the image they are in, or the images that have some are counted."""
    counted = {j for n in facts.nodes if n.op == "count" for j in n.inputs}
    if any(n.op == "group" or (n.op == "images" and i in counted) for i, n in enumerate(facts.nodes)):
        yield ONLY_INSTANCE


@register_family("has_num", any_word=True)
def _find_numbers(facts: ProgramFacts) -> Iterator[str]:
    """A number is said; has_num_3: this one."""
    unsaid = {j for n in facts.nodes if n.note("default") for j in n.inputs}
    for i, n in enumerate(facts.nodes):
        if n.op == "number" and i not in unsaid and not n.note("implicit"):
            yield n.params[0]
        elif n.op == "keep" and not n.note("default"):
            yield n.params[1]


@register_family("has_attr", any_word=True)
def _find_attributes(facts: ProgramFacts) -> Iterator[str]:
    """An attribute tells which things are meant; has_attr_red, has_attr_color: this one."""
    for n in facts.nodes:
        if facts.is_attribute_filter(n):
            attribute, value = n.params
            yield to_snake_case(value)
            if attribute != FREE:
                yield to_snake_case(attribute)


@register_family("has_sameattr", any_word=True)
def _find_same_attributes(facts: ProgramFacts) -> Iterator[str]:
    """Whether things share an attribute; has_sameattr_color: this one."""
    for n in facts.nodes:
        if n.op in ("alike", "differ", "same"):
            yield to_snake_case(n.params[0])
        elif n.op == "common":
            yield ONLY_INSTANCE
        elif n.op == "equal" and facts.nodes[n.inputs[0]].op == "query":
            yield to_snake_case(facts.nodes[n.inputs[0]].params[0])


@register_family("has_logic", "and", "or")
def _find_logic(facts: ProgramFacts) -> Iterator[str]:
    """Two truths, or two sets of things, are joined by and or by or."""
    for n in facts.nodes:
        if n.op in ("and", "or"):
            yield n.op
        elif n.op == "intersect" and not any(facts.nodes[j].op in ("related", "it") for j in n.inputs):
            yield "and"
        elif n.op == "union" and not _is_one_word(facts, n.inputs):
            yield "or"


def _is_one_word(facts: ProgramFacts, inputs: tuple[int, ...]) -> bool:
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
    return alike and all(facts.is_same(first.inputs[0], n.inputs[0]) for n in others)


@register_family("has_count")
def _find_counting(facts: ProgramFacts) -> Iterator[str]:
    """Something is counted."""
    if any(n.op == "count" for n in facts.nodes):
        yield ONLY_INSTANCE


STRUCTURES = {"modifier": "rm", "v": "v", "chain": "c"}  # the note `structure` → the property


@register_family("rm_v_c", *STRUCTURES.values())
def _find_relation_structures(facts: ProgramFacts) -> Iterator[str]:
    """A relation with a modifier (rm), two relations of one thing (v), or a chain of them (c)."""
    said = facts.question.note("structure")
    if said is None:
        yield from find_structures(facts)
    else:
        yield from (STRUCTURES[one] for one in said if one in STRUCTURES)


# By source: what its official files call the templates whose names are others there.
RELEASED_TEMPLATES = {
    "covr": {
        "quantifier": "verify_quant",
        "quantifier_same_attr": "verify_quant_attr",
        "specific_same_attr": "verify_same_attr",
        "multiple_ref": "verify_logic",
        "count_ref": "count",
        "verify_count_ref": "verify_count",
        "count_ref_group_by": "count_group_by",
        "verify_count_ref_group_by": "verify_count_group_by",
    }
}


@register_family("tpl", any_word=True, alone=False)
def _find_template(facts: ProgramFacts) -> Iterator[str]:
    """The question was made from this template."""
    made = facts.question.provenance
    if made.template:
        name = to_snake_case(made.template)
        name = RELEASED_TEMPLATES.get(made.source, {}).get(name, name)
        yield name
        yield name.replace("_", "")


@register_family("wording", any_word=True, alone=False)
def _find_wording(facts: ProgramFacts) -> Iterator[str]:
    """The question, or its action, is put in this wording: a template's second is 1."""
    for note in ("wording", "action_wording"):
        said = facts.question.note(note)
        if said is not None:
            yield from (to_snake_case(one) for one in str(said).split(" + "))


@register_family("ans", any_word=True, alone=False)
def _find_answer(facts: ProgramFacts) -> Iterator[str]:
    """The answer is this word, or a number, attribute, noun, relation, truth: num, attr, noun, rel, bool."""
    if facts.question.answer is None:
        return
    said = spell(facts.question.answer)
    yield to_snake_case(said)
    if facts.question.program is None and (said.isdecimal() or said in ("yes", "no")):
        yield "num" if said.isdecimal() else "bool"
        return
    kind = plan_program(facts.program).types[-1]
    if kind in (INT, BOOL):
        yield "num" if kind == INT else "bool"
    else:
        of = kind.of or facts.program.root.params[0]  # a query says which attribute it is of
        yield "noun" if of in NOUN_ATTRIBUTES else "rel" if of == "relation" else "attr"


@register_family("lexical", any_word=True, alone=False)
def _find_names(facts: ProgramFacts) -> Iterator[str]:
    """An object, attribute or relation of this name is asked about."""
    nodes = facts.question.note("nodes")
    yield from facts.names if nodes is None else (to_snake_case(name) for _, name in nodes)


@register_family("op", any_word=True, alone=False)
def _find_ops(facts: ProgramFacts) -> Iterator[str]:
    """The program has this op (shiftscope list ops)."""
    yield from (n.op for n in facts.nodes)
