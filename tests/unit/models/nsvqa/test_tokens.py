"""Programs as tokens and back, and the numbers of words and tokens."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazy import lazy
from parser_tokens import build_program, decode_program, tokenize_program
from random_programs import generate_random_program
from shiftscope.errors import UserError
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.exec.packed import PACKED_OPS
from shiftscope.lang.execution_world import ExecutionWorld
from shiftscope.lang.op import OBJECT, PARTS, Type
from shiftscope.lang.program import Program, node
from shiftscope.lang.text import parse_program
from shiftscope.rng import derive
from shiftscope.schemas import clevr, superclevr
from worlds import random_scene

tokens_module = lazy("shiftscope.models.nsvqa.question_parser.tokens")
vocabulary = lazy("shiftscope.models.nsvqa.question_parser.vocabulary")

OPS = tuple(sorted(PACKED_OPS))
SCHEMA = superclevr.SCHEMA

# On the red car, does the door share its material with the wheel? Both are parts of one node.
SHARED = Program(
    (
        node("scene"),
        node("filter", (0,), ("color", "red")),
        node("filter", (1,), ("shape", "car")),
        node("unique", (2,)),
        node("parts", (3,)),
        node("filter", (4,), ("name", "door")),
        node("unique", (5,)),
        node("query", (6,), ("material",)),
        node("filter", (4,), ("name", "wheel")),
        node("unique", (8,)),
        node("query", (9,), ("material",)),
        node("equal", (7, 10)),
    )
)
SMALL_RED_CAR = parse_program("query(unique(filter(filter(filter(scene(), size=small), color=red), shape=car)), color)")


def learned(*questions):
    return vocabulary.ParserVocabulary.learn(questions or [("What color is the small red car?", SMALL_RED_CAR)], SCHEMA)


def test_a_program_is_written_in_the_order_of_english():
    said = [(t.op, *t.words) for t in tokenize_program(SMALL_RED_CAR)]
    assert said == [
        ("query", "color"),
        ("unique",),
        ("filter", "size", "small"),
        ("filter", "color", "red"),
        ("filter", "shape", "car"),
        ("scene",),
    ]


def test_a_token_tells_the_types_of_its_node():
    assert tokenize_program(SMALL_RED_CAR)[0] == tokens_module.ParserToken(
        "query", ("color",), (OBJECT,), Type("Value", "color")
    )
    assert tokenize_program(SHARED)[0].inputs == (Type("Value", "material"),) * 2


def test_what_two_branches_read_is_written_once():
    tokens = tokenize_program(SHARED)
    assert tokens[-1] == tokens_module.ParserToken("again", ("parts", "0"), (), PARTS)
    assert [t.op for t in tokens].count("parts") == 1
    assert build_program(tokens) == SHARED.canonicalize()


@pytest.mark.parametrize("shared", [1, 2, 3])
def test_a_filter_that_is_read_again_keeps_its_place(shared):
    nodes = [node("scene"), *(node("filter", (i,), ("color", c)) for i, c in enumerate(("red", "blue", "gray")))]
    program = Program(
        (*nodes, node("filter", (shared,), ("size", "small")), node("union", (3, 4)), node("count", (5,)))
    )
    assert build_program(tokenize_program(program)) == program.canonicalize()


def check_round_trip(program):
    """It comes back as it was; intersections of intersections, and repeated things, as what is written alike."""
    tokens = tokenize_program(program)
    back = build_program(tokens)
    if "intersect" in {n.op for n in program.nodes}:
        assert tokenize_program(back) == tokens
    else:
        repeated = Counter(n.op for n in back.nodes) - Counter(n.op for n in program.canonicalize().nodes)
        assert back == program.canonicalize() or (repeated and tokenize_program(back) == tokens)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([clevr.SCHEMA, superclevr.SCHEMA]))
def test_every_program_comes_back(seed, schema):
    ops = OPS if schema.part_attributes else tuple(op for op in OPS if op not in ("parts", "owners"))
    check_round_trip(generate_random_program(derive("tokens", seed), schema, ops))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_a_program_with_shared_nodes_comes_back(seed):
    """Equal nodes merged, so that much is read again."""
    rng = derive("shared", seed)
    tree = generate_random_program(rng, SCHEMA, OPS, depth=7)
    nodes, number, place = [], {}, []
    for n in tree.nodes:
        new = node(n.op, tuple(place[i] for i in n.inputs), n.params)
        place.append(number.setdefault(new, len(nodes)))
        nodes += [new] if place[-1] == len(nodes) else []
    check_round_trip(Program(tuple(nodes)))


@pytest.mark.parametrize("seed", range(40))
def test_a_program_of_many_relations_means_the_same_when_it_comes_back(seed):
    """Of all things that stand in some relations to some things, which are described once and named often."""
    rng = derive("relations", seed)
    scene = next(s for k in range(10 * seed, 10 * seed + 10) if len((s := random_scene(SCHEMA, k)).objects) > 2)
    nodes, things = [], []
    for thing in scene.objects[:3]:
        start = len(nodes)
        nodes += [node("scene"), *(node("filter", (start + k,), pair) for k, pair in enumerate(thing.attributes))]
        nodes.append(node("unique", (len(nodes) - 1,)))
        things.append(len(nodes) - 1)
    at = None
    for _ in range(6):
        nodes.append(node("relate", (things[rng.integers(len(things))],), (SCHEMA.relations[rng.integers(4)],)))
        both = (at, len(nodes) - 1) if rng.random() < 0.5 else (len(nodes) - 1, at)
        nodes += [node("intersect", both)] if at is not None else []
        at = len(nodes) - 1
    program = Program((*nodes, node("count", (at,))))
    tokens = tokenize_program(program)
    assert "again" not in {t.op for t in tokens}
    back = build_program(tokens)
    assert tokenize_program(back) == tokens
    run, again = (execute(p, ExecutionWorld((scene,))) for p in (program, back))
    assert run.is_defined == again.is_defined
    assert not run.is_defined or run.answer == again.answer


def test_a_list_of_relations_is_written_before_what_else_is_said_of_the_set():
    """The red bus (left of and behind the jet) that is behind the car (right of and behind the jet)."""
    nodes = [node("scene"), node("filter", (0,), ("shape", "jet")), node("unique", (1,))]
    nodes += [node("relate", (2,), ("right",)), node("relate", (2,), ("behind",)), node("intersect", (3, 4))]
    nodes += [node("filter", (5,), ("shape", "car")), node("unique", (6,)), node("relate", (7,), ("behind",))]
    nodes += [node("relate", (2,), ("left",)), node("intersect", (8, 9)), node("relate", (2,), ("behind",))]
    nodes += [node("intersect", (10, 11)), node("filter", (12,), ("color", "red")), node("count", (13,))]
    tokens = tokenize_program(Program(tuple(nodes)))
    said = " ".join(t.words[-1] for t in tokens if t.words)
    assert said == "red left behind jet behind car right behind jet"
    back = build_program(tokens)
    assert back == back.canonicalize() and tokenize_program(back) == tokens
    assert len([n for n in back.nodes if n.params == ("shape", "jet")]) == 1  # it is found once


def test_many_programs_are_read_as_one_is():
    made = [generate_random_program(derive("many", k), SCHEMA, OPS, depth=6) for k in range(200)]
    written = [tokenize_program(program) for program in (*made, SHARED)]
    tokens = list(dict.fromkeys(token for tokens in written for token in tokens))
    number = {token: k for k, token in enumerate(tokens)}
    reading = tokens_module.ProgramReader(tokens)
    for _ in range(2):  # unknown, then known
        for one in written:
            assert reading.read_program([number[t] for t in one]) == build_program(one)


def test_sub_programs_are_refused():
    with pytest.raises(UserError, match="neither sub-programs"):
        tokenize_program(parse_program("all(scene(), verify(it(), color=red))"))


def test_a_vocabulary_comes_back_from_json():
    made = learned(("Does the door of the red car share its material with the wheel?", SHARED))
    again = vocabulary.ParserVocabulary.from_json(json.loads(json.dumps(made.to_json())))
    assert again == made
    assert again.encode_program(SHARED) == made.encode_program(SHARED)
    assert np.array_equal(again.word_terms(), made.word_terms())


def test_the_order_of_the_questions_does_not_matter():
    one, other = ("What color is the small red car?", SMALL_RED_CAR), ("Is it?", SHARED)
    assert learned(one, other) == learned(other, one)


def test_numbers_stand_for_words_and_programs():
    made = learned()
    words, tokens = made.encode([("the car", SMALL_RED_CAR), ("the small red car", SMALL_RED_CAR)])
    assert words[0].tolist()[:1] == [vocabulary.BEGIN] and words[0].tolist()[3:] == [vocabulary.PAD, vocabulary.PAD]
    assert decode_program(made, tokens[1, 1:].tolist()) == SMALL_RED_CAR


def test_a_word_of_the_schema_is_known_though_no_question_held_it():
    made = learned()
    ids = made.encode_text("Grey aeroplanes, frobnicated")
    assert vocabulary.UNKNOWN not in ids[:3] and ids[-1] == vocabulary.UNKNOWN
    assert [made.terms[k] for k in made.meanings[ids[1]]] == ["gray"]
    assert "aeroplane" in [made.terms[k] for k in made.meanings[ids[2]]]


def test_tokens_of_values_never_asked_for_are_there():
    purple = parse_program("query(unique(filter(scene(), color=purple)), shape)")
    assert decode_program(learned(), learned().encode_program(purple)) == purple


def test_a_program_beyond_the_vocabulary_is_refused():
    with pytest.raises(UserError, match="no token for count"):
        learned().encode_program(parse_program("count(scene())"))


def test_nothing_to_learn_from_is_refused():
    with pytest.raises(UserError, match="without questions"):
        vocabulary.ParserVocabulary.learn([], SCHEMA)


def test_a_very_long_text_is_cut():
    assert len(learned().encode_text("the " * 5000)) == 400
    assert learned().encode_text("") == [vocabulary.BEGIN]
