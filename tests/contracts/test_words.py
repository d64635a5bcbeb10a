"""Every way in which a question can say an answer is read back as that answer, for every schema with templates."""

import pytest

from shiftscope import registry as catalog
from shiftscope.english.synonyms import Lexicon
from shiftscope.expected_answer import expect_value
from shiftscope.questions.clevr.template_sets import builtin_part_templates, builtin_templates
from shiftscope.questions.clevr.vocabulary import SlotVocabulary
from shiftscope.response import parse_response

SCHEMAS = {name: schema for name in catalog.SCHEMAS.names() if (schema := catalog.SCHEMAS.load(name).SCHEMA).closed}
ASKED = sorted(
    {
        (name, last.attribute, last.on_parts)
        for name, schema in SCHEMAS.items()
        if schema.relations
        for own in (builtin_templates, builtin_part_templates)[: 1 + bool(schema.part_attributes)]
        for t in own(schema).templates
        if (last := t.nodes[-1].meaning).op == "query"
    }
)


def test_there_is_something_to_read():
    asked = [
        *(("clevr", a, False) for a in ("color", "material", "shape", "size")),
        *(("superclevr", "color", part) for part in (False, True)),
        *(("superclevr", "material", part) for part in (False, True)),
        ("superclevr", "name", True),
        ("superclevr", "shape", False),
        ("superclevr", "size", False),
    ]
    assert asked == ASKED


def list_answers(schema, attribute, part):
    """Every term, but of a part's names those that are answers: of two that read alike the first."""
    terms = schema.attribute(attribute, part=part).terms
    if attribute != "name":
        return terms
    words = SlotVocabulary.from_schema(schema)
    answers = {name for name, fine in zip(words.names, words.answer, strict=True) if fine}
    return [term for term in terms if term in answers]


@pytest.mark.parametrize(("name", "attribute", "part"), ASKED)
@pytest.mark.parametrize("frame", ["{}", "It is a {}.", "The answer is: {}"])
def test_what_is_said_is_read_back(name, attribute, part, frame):
    schema = SCHEMAS[name]
    expected = expect_value(schema, attribute, part=part)
    lexicon = Lexicon(schema)
    misread = {
        (term, way): read
        for term in list_answers(schema, attribute, part)
        for way in {*lexicon.list_synonyms(term), *lexicon.list_accepted_phrases(term)}
        if (read := parse_response(frame.format(way), expected)) != term
    }
    assert misread == {}


@pytest.mark.parametrize(("name", "attribute", "part"), ASKED)
def test_what_is_said_stands_for_its_value(name, attribute, part):
    schema = SCHEMAS[name]
    ways = Lexicon(schema).list_synonyms
    for term in list_answers(schema, attribute, part):
        assert {schema.canonical(way) for way in ways(term)} == {term}
