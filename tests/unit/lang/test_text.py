import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_programs import generate_random_program
from shiftscope.lang.exec.packed import PACKED_OPS
from shiftscope.lang.program import Node, Program, ProgramError
from shiftscope.lang.text import format_program, parse_program
from shiftscope.rng import derive
from shiftscope.schemas import superclevr

EXAMPLE = "count(filter(relate(unique(filter(scene(), shape=sphere)), left), color=red))"


def test_a_program_reads_and_prints():
    program = parse_program(EXAMPLE)
    assert [n.op for n in program.nodes] == ["scene", "filter", "unique", "relate", "filter", "count"]
    assert program.nodes[1].params == ("shape", "sphere")
    assert format_program(program) == EXAMPLE


def test_spaces_and_lines_do_not_matter():
    assert parse_program(EXAMPLE.replace("(", "(\n  ")) == parse_program(EXAMPLE)


def test_filter_takes_several_words_and_their_negation():
    assert format_program(parse_program("count(filter(scene(), color=red, shape!=cube))")) == (
        "count(exclude(filter(scene(), color=red), shape=cube))"
    )


def test_words_of_several_parts_are_quoted():
    text = 'exist(related(find("fire truck"), "to the left of"))'
    assert parse_program(text).nodes[0].params == ("fire truck",)
    assert format_program(parse_program(text)) == text
    assert parse_program(r'exist(find("a \"b\" \\ c"))').nodes[0].params == (r'a "b" \ c',)


def test_a_default_word_may_be_left_out():
    assert parse_program("exist(related(scene(), on, subject))") == parse_program("exist(related(scene(), on))")
    assert format_program(parse_program("exist(related(scene(), on, object))")) == "exist(related(scene(), on, object))"


def test_numbers_are_inputs_or_words_by_their_place():
    program = parse_program("at_least(count(keep(group(find(dog)), at_least, 2)), 3)")
    assert program.nodes[2].params == ("at_least", "2")
    assert program.nodes[4].op == "number"


def test_a_named_result_is_shared():
    text = "a = change(filter(scene(), shape=cube), color=red); equal(count(a), count(filter(a, color=red)))"
    program = parse_program(text)
    assert sum(n.op == "change" for n in program.nodes) == 1
    assert format_program(program) == text


@pytest.mark.parametrize(
    ("text", "character", "why"),
    [
        ("", 1, "expected an op"),
        ("count(scene(", 13, "expected a word"),
        ("cout(scene())", 1, "no op 'cout'; did you mean 'count'"),
        ("count(scene()) x", 16, "ended before this"),
        ("count(left)", 7, "expected an input, got the word 'left'"),
        ("relate(unique(scene()))", 1, "expected the words of relate(Object, relation)"),
        ("filter(scene(), red)", 1, "attribute=value"),
        ("count(filter(scene(), color=?))", 29, "'?' means nothing here"),
        ("count(scene(), scene())", 16, "more inputs than the op takes"),
        ("same(unique(scene()), color!=red)", 1, "only filter takes !="),
        ("thing()", 1, "expected the words of thing(attribute=value"),
    ],
)
def test_an_error_points_at_the_character(text, character, why):
    with pytest.raises(ProgramError) as error:
        parse_program(text)
    assert str(error.value).startswith(f"character {character}: ")
    assert why in str(error.value)


def test_a_text_nested_without_end_is_refused():
    with pytest.raises(ProgramError, match="inside each other"):
        parse_program("not(" * 5000)


@given(st.integers(0, 10**6))
def test_text_and_json_give_back_every_program(seed):
    program = generate_random_program(derive("text", seed), superclevr.SCHEMA, tuple(sorted(PACKED_OPS)))
    assert parse_program(format_program(program)) == program
    assert Program.from_json(program.to_json()) == program


def test_canonical_order_is_depth_first_and_drops_what_is_unused():
    listed = Program.from_json(
        [
            {"op": "scene"},
            {"op": "scene"},
            {"op": "number", "params": ["3"]},
            {"op": "filter", "inputs": [1], "params": ["color", "red"]},
            {"op": "intersect", "inputs": [3, 0]},
        ]
    )
    assert format_program(listed) == "intersect(filter(scene(), color=red), scene())"
    assert parse_program(format_program(listed)) == listed.canonicalize()
    assert len(listed.canonicalize()) == 4


def test_what_is_nested_deeply_gets_names():
    nodes = [Node("scene")]
    for k in range(0, 450, 3):
        nodes += [Node("filter", (k,), ("color", "red")), Node("unique", (k + 1,)), Node("relate", (k + 2,), ("left",))]
    program = Program((*nodes, Node("count", (len(nodes) - 1,))))
    assert parse_program(format_program(program)).canonicalize() == program.canonicalize()
