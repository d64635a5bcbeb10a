"""Template builder: a template for whatever attributes a schema has, and the phrases that templates share.

In texts, `{1}` stands for description 1 in the singular, `{1s}` in the plural, `<R>` for a relation. Objects
and parts share one numbering of descriptions. The texts are in `english/data/clevr_questions.txt`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from ...english.synonyms import noun_attribute
from ...english.word_lists import text_table
from ...schema import Attribute, Schema
from .template import APART, NULL, OUT_NEQ, Template, TemplateConstraint, TemplateNode, TemplateSlot, check_template

LETTERS = {"size": "Z", "color": "C", "material": "M", "shape": "S", "relation": "R"}
INHERITED_ATTRIBUTES = ("size",)  # what a part has from its object, and no description of it mentions
DESCRIPTION = re.compile(r"\{(\d)(s?)\}")


def get_texts(section: str) -> dict[str, tuple[str, ...]]:
    return text_table("clevr_questions", section)


VALUE_TEXTS, COMPARISON_TEXTS = get_texts("value"), get_texts("comparison")


def fill_texts(texts: Iterable[str], **words: str) -> list[str]:
    """The texts with `{A}` replaced by what is given for A."""
    filled = list(texts)
    for name, word in words.items():
        filled = [text.replace(f"{{{name}}}", word) for text in filled]
    return filled


class TemplateBuilder:
    """Collects nodes, slots and constraints; `build_template` closes it."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
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
        part_name = attribute == "name" and number in self.parts
        letter = "P" if part_name else LETTERS.get(attribute, attribute.upper())
        name = f"<{letter}{number if number > 1 else ''}>"
        self.slots.setdefault(name, TemplateSlot(name, "Partname" if part_name else attribute.capitalize()))
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

    def query(self, attribute: str, number: int, on: int) -> int:
        """Ask for the value of what another node gives, which description `number` then does not mention."""
        self.keep_empty(attribute, number)
        return self.add_node(f"{'part' if number in self.parts else ''}query_{attribute}", on)

    def keep_empty(self, attribute: str, *numbers: int) -> None:
        """Descriptions of these numbers do not mention the attribute."""
        self.constraints += [TemplateConstraint(NULL, (self.add_slot(attribute, n),)) for n in numbers]

    def require_different(self, left: int, right: int) -> None:
        self.constraints.append(TemplateConstraint(OUT_NEQ, (left, right)))

    def require_apart(self, left: int, right: int) -> None:
        self.constraints.append(TemplateConstraint(APART, (left, right)))

    def get_attribute_word(self, attribute: str) -> str:
        """What a question calls the attribute; a shape that has kinds is the model of a vehicle."""
        return "model" if attribute == self.noun and self.schema.attribute(attribute).kinds else attribute

    def list_value_questions(self, attribute: str, *subjects: str) -> list[str]:
        """Questions for the value of one thing's attribute; a subject is a noun phrase with its article."""
        word = self.get_attribute_word(attribute)
        texts = VALUE_TEXTS.get(word, VALUE_TEXTS["other"])
        return [text for subject in subjects for text in fill_texts(texts, X=subject, a=word)]

    def list_comparisons(self, attribute: str, left: str, right: str) -> list[str]:
        """Questions whether two things have the same value of the attribute."""
        word = self.get_attribute_word(attribute)
        texts = COMPARISON_TEXTS["any"]
        if word != "model":
            texts += (*COMPARISON_TEXTS["but model"], *COMPARISON_TEXTS.get(word, ()))
        return fill_texts(texts, X=left, Y=right, a=word)

    def build_template(self, file: str, family: int, texts: Sequence[str]) -> Template:
        """The finished template."""

        def spell_description(found: re.Match[str]) -> str:
            number = int(found[1])
            attributes = self.part_attributes if number in self.parts else self.attributes
            return " ".join(self.add_slot(a, number) for a in attributes) + found[2]

        return Template(
            file=file,
            family=family,
            params=tuple(self.slots.values()),
            texts=tuple(DESCRIPTION.sub(spell_description, text) for text in texts),
            nodes=tuple(self.nodes),
            constraints=tuple(self.constraints),
        )


def _order_noun_last(attributes: tuple[Attribute, ...]) -> list[str]:
    noun = noun_attribute(attributes)
    return [a.name for a in attributes if a.name != noun] + ([noun] if noun else [])


TemplateSketches = Iterator[tuple[str, TemplateBuilder, Sequence[str]]]  # file, template, its texts


def build_templates(groups: Iterable[Callable[[Schema], TemplateSketches]], schema: Schema) -> Iterator[Template]:
    """The templates of all groups, checked; families are numbered within their file."""
    families: Counter[str] = Counter()
    for group in groups:
        for file, sketch, texts in group(schema):
            yield check_template(sketch.build_template(file, families[file], texts))
            families[file] += 1


def build_chain_phrase(hops: int) -> str:
    """`the {3} [that is] <R2> the {2} that is <R> the {1}`: one thing, found over relations."""
    phrase = "the {1}"
    for hop in range(1, hops + 1):
        link = "[that is]" if hop == hops else "that is"
        phrase = f"the {{{hop + 1}}} {link} <R{hop if hop > 1 else ''}> {phrase}"
    return phrase
