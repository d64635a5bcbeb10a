"""Template builder: a template for whatever attributes a schema has, and the phrases that templates share.

In texts, `{1}` stands for description 1 in the singular, `{1s}` in the plural, `<R>` for a relation. Objects
and parts share one numbering of descriptions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...english.synonyms import noun_attribute
from ...schema import Attribute, Schema
from .template import APART, NULL, OUT_NEQ, Template, TemplateConstraint, TemplateNode, TemplateSlot

LETTERS = {"size": "Z", "color": "C", "material": "M", "shape": "S"}
PART_LETTERS = LETTERS | {"name": "P"}
INHERITED_ATTRIBUTES = ("size",)  # what a part has from its object, and no description of it mentions
_DESCRIPTION = re.compile(r"\{(\d)(s?)\}")


class TemplateBuilder:
    """Collects nodes, slots and constraints; `template` closes it."""

    def __init__(self, schema: Schema) -> None:
        self.attributes = _order_noun_last(schema.attributes)
        self.part_attributes = [a for a in _order_noun_last(schema.part_attributes) if a not in INHERITED_ATTRIBUTES]
        self.noun = noun_attribute(schema.attributes)
        self.parts: set[int] = set()  # the numbers of descriptions that are of parts
        self.slots: dict[str, TemplateSlot] = {}
        self.nodes: list[TemplateNode] = []
        self.constraints: list[TemplateConstraint] = []

    def add_node(self, function: str, *inputs: int, slots: Sequence[str] = ()) -> int:
        """Add a node; its number."""
        self.nodes.append(TemplateNode(function, inputs, tuple(slots)))
        return len(self.nodes) - 1

    def add_slot(self, attribute: str, number: int) -> str:
        """The slot of an attribute in the description of that number, `<C2>`."""
        part = number in self.parts and attribute != "relation"
        letters = PART_LETTERS if part else LETTERS
        letter = "R" if attribute == "relation" else letters.get(attribute, attribute.upper())
        name = f"<{letter}{number if number > 1 else ''}>"
        kind = "Partname" if part and attribute == "name" else attribute.capitalize()
        self.slots.setdefault(name, TemplateSlot(name, kind))
        return name

    def describe(self, function: str, number: int, on: int | None = None) -> int:
        """A description of the whole scene, or of what another node gives."""
        on = self.add_node("scene") if on is None else on
        return self.add_node(function, on, slots=[self.add_slot(a, number) for a in self.attributes])

    def describe_related(self, function: str, number: int, to: int, relation: int) -> int:
        """A description of what stands in a relation to an object."""
        words = [self.add_slot("relation", relation)]
        words += [self.add_slot(a, number) for a in self.attributes]
        return self.add_node(function, to, slots=words)

    def describe_parts_of(self, function: str, number: int, of: int) -> int:
        """A description of the parts of the objects that another node gives."""
        return self.describe_parts(function, number, self.add_node("object2part", of))

    def describe_parts(self, function: str, number: int, on: int) -> int:
        """A description of the parts that another node gives."""
        self.parts.add(number)
        return self.add_node(function, on, slots=[self.add_slot(a, number) for a in self.part_attributes])

    def keep_empty(self, attribute: str, *numbers: int) -> None:
        """Descriptions of these numbers do not mention the attribute."""
        self.constraints += [TemplateConstraint(NULL, (self.add_slot(attribute, n),)) for n in numbers]

    def require_different(self, left: int, right: int) -> None:
        self.constraints.append(TemplateConstraint(OUT_NEQ, (left, right)))

    def require_apart(self, left: int, right: int) -> None:
        self.constraints.append(TemplateConstraint(APART, (left, right)))

    def build_template(self, file: str, family: int, texts: Sequence[str]) -> Template:
        """The finished template."""
        return Template(
            file=file,
            family=family,
            params=tuple(self.slots.values()),
            texts=tuple(_DESCRIPTION.sub(self._spell_description, text) for text in texts),
            nodes=tuple(self.nodes),
            constraints=tuple(self.constraints),
        )

    def _spell_description(self, found: re.Match[str]) -> str:
        number = int(found[1])
        attributes = self.part_attributes if number in self.parts else self.attributes
        return " ".join(self.add_slot(a, number) for a in attributes) + found[2]


def _order_noun_last(attributes: tuple[Attribute, ...]) -> list[str]:
    noun = noun_attribute(attributes)
    return [a.name for a in attributes if a.name != noun] + ([noun] if noun else [])


# Phrases that several groups of templates share: asking for a value, comparing two, chains of relations.

VALUE_QUESTIONS = {
    "size": (
        "How large is {X}?",
        "Which size is {X}?",
        "Find {X}; how large is it?",
        "Look at {X}. Which size does it have?",
    ),
    "color": (
        "Which color is {X}?",
        "What would you call the color of {X}?",
        "Find {X}; which color does it have?",
        "Look at {X}. Which color is it?",
    ),
    "material": (
        "Which material is {X}?",
        "Which material has been used for {X}?",
        "Find {X}; what is it made from?",
        "Look at {X}. Which material does it consist of?",
    ),
    "shape": (
        "Which shape is {X}?",
        "What would you call the shape of {X}?",
        "Find {X}; which shape does it have?",
        "Look at {X}. Which shape is it?",
    ),
    "model": ("Which model is {X}?", "Find {X}; which model is it?", "Look at {X}. Which model do you see?"),
}
OTHER_VALUE_QUESTIONS = (
    "Which {a} do you see on {X}?",
    "Find {X}; which {a} does it have?",
    "Look at {X}. Which {a} is it?",
)
# "{X} and {Y}" would mislead: "the cube that is left of the ball and the cone"
COMPARISONS = ("Is {X} the same {a} as {Y}?", "Does {X} share its {a} with {Y}?")
VALUE_COMPARISON = "Does {X} have the same {a} as {Y}?"  # a vehicle is a model, it does not have one
MORE_COMPARISONS = {
    "size": ("Is {X} just as large as {Y}?",),
    "material": ("Is {X} made from the same material as {Y}?",),
}


def attribute_word(attribute: str, schema: Schema) -> str:
    """What a question calls the attribute; a shape that has kinds is the model of a vehicle."""
    nouns_have_kinds = attribute == noun_attribute(schema.attributes) and schema.attribute(attribute).kinds
    return "model" if nouns_have_kinds else attribute


def list_value_questions(attribute: str, subject: str, schema: Schema) -> list[str]:
    """Questions for the value of one thing's attribute; the subject is a noun phrase with its article."""
    word = attribute_word(attribute, schema)
    patterns = VALUE_QUESTIONS.get(word, OTHER_VALUE_QUESTIONS)
    return [p.replace("{X}", subject).replace("{a}", word) for p in patterns]


def list_comparisons(attribute: str, left: str, right: str, schema: Schema) -> list[str]:
    """Questions whether two things have the same value of the attribute."""
    word = attribute_word(attribute, schema)
    patterns = COMPARISONS
    if word != "model":
        patterns += (VALUE_COMPARISON, *MORE_COMPARISONS.get(word, ()))
    return [p.replace("{X}", left).replace("{Y}", right).replace("{a}", word) for p in patterns]


def build_chain_phrase(hops: int) -> str:
    """`the {3} [that is] <R2> the {2} that is <R> the {1}`: one thing, found over relations."""
    phrase = "the {1}"
    for hop in range(1, hops + 1):
        link = "[that is]" if hop == hops else "that is"
        phrase = f"the {{{hop + 1}}} {link} <R{hop if hop > 1 else ''}> {phrase}"
    return phrase
