"""Super-CLEVR's templates about parts: each group is a function of the schema.

A scene lists the parts that have a color of their own, while a picture shows every wheel of every vehicle, the others
in the color of their vehicle. So a question is only asked if its plain words are true of both: a part is described by
a color that no vehicle in question has ("the red wheel of the small bus"), or by a name that fits one part of a
vehicle ("the roof"). `compiled_templates.py` has the rule; docs/decisions/009 the reasons.
"""

from ...english.inflection import plural
from ...english.synonyms import generic_noun
from ...schema import Schema
from .template import MANY
from .templates import TemplateBuilder, TemplateSketches, fill_texts, get_texts

PART, OTHER_PART, OWNER = "the {2} of the {1}", "the {4} of the {3}", "the {1} with a {2}"
COUNT_FILE, OWNER_FILE, VALUE_FILE = (f"part_{group}.json" for group in ("counts", "owners", "values"))


def list_part_comparison_templates(schema: Schema) -> TemplateSketches:
    """For each attribute that objects have too: a part beside one of another vehicle, of the same one, or a vehicle."""
    own = [a.name for a in schema.attributes]
    for other in ("part", "own", "thing"):
        for attribute in TemplateBuilder(schema).part_attributes:
            if attribute in own:
                sketch = _build_comparison(schema, attribute, other)
                if other == "own":
                    texts = sketch.fill_sameness(get_texts("part comparison")["own"], attribute)
                else:
                    texts = sketch.list_comparisons(attribute, PART, OTHER_PART if other == "part" else "the {3}")
                yield "part_comparison.json", sketch, texts


def _build_comparison(schema: Schema, attribute: str, other: str) -> TemplateBuilder:
    """A part beside one of another vehicle (`part`), another of the same one (`own`), or a whole vehicle (`thing`)."""
    sketch = TemplateBuilder(schema)
    vehicle = sketch.describe("filter_unique", 1)
    parts = sketch.add_node("object2part", vehicle)
    left = sketch.describe_parts("partfilter_unique", 2, parts)
    values = [sketch.query(attribute, 2, left)]
    if other == "own":
        right = sketch.describe_parts("partfilter_unique", 3, parts)
        sketch.require_different(left, right)
    else:
        right = sketch.describe("filter_unique", 3)
        sketch.require_different(vehicle, right)
    if other == "part":
        right = sketch.describe_parts_of("partfilter_unique", 4, right)
    values.append(sketch.query(attribute, 4 if other == "part" else 3, right))
    sketch.add_node(f"equal_{attribute}", *values)
    return sketch


def list_part_count_templates(schema: Schema) -> TemplateSketches:
    """How many, and is there any: in the picture, on one vehicle or one over a relation, on all of a description."""
    texts = get_texts("part count")
    for end in ("count", "exist"):
        sketch = TemplateBuilder(schema)
        sketch.describe_parts_of(f"partfilter_{end}", 1, sketch.add_node("scene"))
        noun = generic_noun(schema)
        yield COUNT_FILE, sketch, fill_texts(texts[end], thing=noun, things=plural(noun))
    for related in (False, True) if schema.relations else (False,):
        for end in ("count", "exist"):
            sketch = TemplateBuilder(schema)
            at, vehicle, number = _describe_vehicle(sketch, related, "that is")
            sketch.describe_parts_of(f"partfilter_{end}", number, at)
            words = {"Ps": f"{{{number}s}}", "P": f"{{{number}}}", "X": vehicle}
            direct = () if related and end == "count" else texts[f"{end} of one"]  # … does the A behind the B have?
            yield COUNT_FILE, sketch, fill_texts(direct + texts[f"{end} of it"], **words)
    sketch = TemplateBuilder(schema)
    vehicles = sketch.describe("filter", 1)
    sketch.require(MANY, vehicles)
    sketch.describe_parts_of("partfilter_count", 2, vehicles)
    yield COUNT_FILE, sketch, texts["count of several"]


def _describe_vehicle(sketch: TemplateBuilder, related: bool, link: str) -> tuple[int, str, int]:
    """(node, noun phrase, the next description's number) of one vehicle, described or found over a relation."""
    at = sketch.describe("filter_unique", 1)
    if not related:
        return at, "the {1}", 2
    return sketch.describe_related("relate_filter_unique", 2, at, 1), f"the {{2}} {link} <R> the {{1}}", 3


def list_part_owner_templates(schema: Schema) -> TemplateSketches:
    """Vehicles by a part: each attribute of theirs, each of one in a relation to them; how many there are, is any."""
    texts = get_texts("part owner")
    for related in (False, True) if schema.relations else (False,):
        for attribute in schema.attributes:
            sketch = TemplateBuilder(schema)
            at, number = sketch.add_node("unique", _add_owners(sketch, sketch.describe("filter", 1))), 1
            if related:
                at, number = sketch.describe_related("relate_filter_unique", 3, at, 1), 3
            sketch.query(attribute.name, number, at)
            worded = sketch.list_value_questions(attribute.name, OWNER)
            if related:  # the owner first: in "the A behind the B with a C" either could have the C
                asked = sketch.list_value_questions(attribute.name, "the {3} <R> it", pointed=False)
                worded = [text for q in asked for text in fill_texts(texts["related"], X=OWNER, Q=q)]
            yield OWNER_FILE, sketch, worded
    sketch = TemplateBuilder(schema)
    sketch.add_node("count", _add_owners(sketch, sketch.describe("filter", 1)))
    yield OWNER_FILE, sketch, texts["count"]
    sketch = TemplateBuilder(schema)
    sketch.add_node("count", _add_owners(sketch, sketch.add_node("scene")))
    yield OWNER_FILE, sketch, fill_texts(texts["count any"], things=plural(generic_noun(schema)))
    sketch = TemplateBuilder(schema)
    sketch.describe_parts_of("partfilter_exist", 2, sketch.describe("filter", 1))
    yield OWNER_FILE, sketch, texts["exist"]


def _add_owners(sketch: TemplateBuilder, among: int) -> int:
    return sketch.add_node("part2object", sketch.describe_parts_of("partfilter", 2, among))


def list_part_value_templates(schema: Schema) -> TemplateSketches:
    """Each attribute of a part, and its name: of a vehicle described, found over a relation, known by another part."""
    names = get_texts("part name")

    def list_questions(sketch: TemplateBuilder, attribute: str, part: str, vehicle: str) -> list[str]:
        if attribute == "name":
            return fill_texts(names["any"], P=part, X=vehicle)
        return sketch.list_value_questions(attribute, f"the {part} of {vehicle}")

    attributes = TemplateBuilder(schema).part_attributes
    for related in (False, True) if schema.relations else (False,):
        for attribute in attributes:
            sketch = TemplateBuilder(schema)
            at, vehicle, number = _describe_vehicle(sketch, related, "[that is]")
            sketch.query(attribute, number, sketch.describe_parts_of("partfilter_unique", number, at))
            yield VALUE_FILE, sketch, list_questions(sketch, attribute, f"{{{number}}}", vehicle)
    for attribute in attributes:
        sketch = TemplateBuilder(schema)
        known = sketch.describe_parts_of("partfilter_unique", 1, sketch.add_node("scene"))
        part = sketch.describe_parts_of("partfilter_unique", 2, sketch.add_node("part2object", known))
        sketch.require_different(known, part)
        sketch.query(attribute, 2, part)
        yield VALUE_FILE, sketch, list_questions(sketch, attribute, "{2}", f"the {generic_noun(schema)} with a {{1}}")


PART_TEMPLATE_GROUPS = (
    list_part_comparison_templates,
    list_part_count_templates,
    list_part_owner_templates,
    list_part_value_templates,
)  # the order decides which question a seed gives
