"""CLEVR_HYP programs: both namings come back as they were read, and actions do what they say."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shiftscope.lang.check import check
from shiftscope.lang.exec.exact import Undefined, execute
from shiftscope.lang.notations import clevr_hyp
from shiftscope.lang.notations.clevr_hyp import TABLE, read, read_pair, write, write_pair
from shiftscope.lang.program import Program, ProgramError
from shiftscope.lang.text import parse_program
from shiftscope.scene import Object, Scene
from shiftscope.schemas.clevr import SCHEMA

Listed = list[dict[str, Any]]


def n(function: str, *inputs: int, values: tuple[str, ...] = (), key: str = "function") -> dict[str, Any]:
    return {"inputs": list(inputs), key: function, "value_inputs": list(values)}


def thing(words: str, x: float) -> Object:
    size, color, material, shape = words.split()
    pairs = (("size", size), ("color", color), ("material", material), ("shape", shape))
    return Object(pairs, position=(x, 0.0, 0.7 if size == "large" else 0.35))


SCENE = Scene(
    (
        thing("large red metal cube", -2.0),
        thing("small blue rubber sphere", 0.0),
        thing("large green rubber sphere", 2.0),
    ),
    directions=(
        ("left", (-1.0, 0.0, 0.0)),
        ("right", (1.0, 0.0, 0.0)),
        ("front", (0.0, -1.0, 0.0)),
        ("behind", (0.0, 1.0, 0.0)),
    ),
    schema=SCHEMA,
    id="toy",
)

RED = (n("scene"), n("filter_color", 0, values=("red",)))
CUBE = n("object", values=("small", "cyan", "metal", "cube"))

# Action lists by function, and the same action in our notation.
ACTIONS: dict[str, tuple[Listed, str]] = {
    "copy": (
        [*RED, n("unique", 1), n("copy", 2), n("add_abs", 0, 3)],
        "add(scene(), copy(unique(filter(scene(), color=red))))",
    ),
    "copy beside": (
        [
            *(*RED, n("unique", 1), n("filter_color", 0, values=("green",)), n("unique", 3)),
            *(n("relate", 4, values=("left",)), n("copy", 2), n("add_relate", 5, 6)),
        ],
        "add_beside(scene(), copy(unique(filter(scene(), color=red))), unique(filter(scene(), color=green)), left)",
    ),
    **{
        f"inherit_{a}": (
            [*RED, n("unique", 1), n("object", values=told), n(f"inherit_{a}", 3, 2), n("add_abs", 0, 4)],
            f"add(scene(), inherit(thing({pair}), unique(filter(scene(), color=red)), {a}))",
        )
        for a, told, pair in (
            ("size", ("cube",), "shape=cube"),
            ("color", ("cube",), "shape=cube"),
            ("material", ("small",), "size=small"),
            ("shape", ("small",), "size=small"),
        )
    },
    "swap": (
        [*RED, n("unique", 1), n("filter_color", 0, values=("blue",)), n("unique", 3), n("swap", 0, 2, 4)],
        "swap(scene(), unique(filter(scene(), color=red)), unique(filter(scene(), color=blue)))",
    ),
    "add_abs": (
        [n("scene"), CUBE, n("add_abs", 0, 1)],
        "add(scene(), thing(size=small, color=cyan, material=metal, shape=cube))",
    ),
    "add": (
        [n("scene"), n("object", values=("cube", "cyan")), n("add", 0, 1)],
        "add(scene(), thing(shape=cube, color=cyan))",
    ),
    "remove_abs": (
        [n("scene"), n("scene"), n("filter_shape", 1, values=("sphere",)), n("remove_abs", 0, 2)],
        "remove(scene(), filter(scene(), shape=sphere))",
    ),
    "remove": (
        [n("scene"), n("filter_color", 0, values=("red",)), n("unique", 1), n("remove", 0, 2)],
        "remove(scene(), unique(filter(scene(), color=red)))",
    ),
    "remove described": (
        [n("scene"), n("object", values=("large", "sphere")), n("remove", 0, 1)],
        "remove(scene(), filter(scene(), size=large, shape=sphere))",
    ),
    "add_relate": (
        [*RED, n("relate", 1, values=("right",)), CUBE, n("add_relate", 2, 3)],
        "add_beside(scene(), thing(size=small, color=cyan, material=metal, shape=cube), "
        "unique(filter(scene(), color=red)), right)",
    ),
    "add_relate unique": (
        [*RED, n("unique", 1), n("relate", 2, values=("right",)), CUBE, n("add_relate", 3, 4)],
        "add_beside(scene(), thing(size=small, color=cyan, material=metal, shape=cube), "
        "unique(filter(scene(), color=red)), right)",
    ),
    "add_relate with values": (
        [*RED, n("unique", 1), n("add_relate", 0, 2, values=("left", "small", "brown"))],
        "add_beside(scene(), thing(size=small, color=brown), unique(filter(scene(), color=red)), left)",
    ),
    "add_rel": (
        [*RED, n("unique", 1), n("scene"), CUBE, n("add_rel", 3, 4, 2, values=("front",))],
        "add_beside(scene(), thing(size=small, color=cyan, material=metal, shape=cube), "
        "unique(filter(scene(), color=red)), front)",
    ),
    "remove_relate": (
        [
            *RED,
            n("relate", 1, values=("right",)),
            n("scene"),
            n("filter_shape", 3, values=("sphere",)),
            n("remove_relate", 2, 4),
        ],
        "remove(scene(), intersect(relate(unique(filter(scene(), color=red)), right), filter(scene(), shape=sphere)))",
    ),
    "remove_relate with values": (
        [*RED, n("remove_relate", 0, 1, values=("right", "small", "rubber"))],
        "remove(scene(), filter(relate(unique(filter(scene(), color=red)), right), size=small, material=rubber))",
    ),
    "remove_relate with a relation only": (
        [*RED, n("remove_relate", 0, 1, values=("right",))],
        "remove(scene(), relate(unique(filter(scene(), color=red)), right))",
    ),
    "remove_rel": (
        [*RED, n("scene"), n("filter_shape", 2, values=("sphere",)), n("remove_rel", 2, 3, 1, values=("right",))],
        "s = filter(scene(), shape=sphere); "
        "remove(scene(), intersect(s, relate(unique(filter(scene(), color=red)), right)))",
    ),
    "change_loc_rel": (
        [*RED, n("object", values=("small", "sphere")), n("change_loc_rel", 1, 2, values=("left",))],
        "move(scene(), unique(filter(scene(), size=small, shape=sphere)), unique(filter(scene(), color=red)), left)",
    ),
    "change_loc_on": (
        [*RED, n("object", values=("blue",)), n("change_loc_on", 1, 2, values=("on",))],
        "move(scene(), unique(filter(scene(), color=blue)), unique(filter(scene(), color=red)), on)",
    ),
    "change_loc_rel of a set": (
        [*RED, n("scene"), n("filter_color", 2, values=("blue",)), n("change_loc_rel", 1, 3, values=("behind",))],
        "move(scene(), unique(filter(scene(), color=blue)), unique(filter(scene(), color=red)), behind)",
    ),
    "change_loc": (
        [*RED, n("object", values=("blue",)), n("scene"), n("change_loc", 3, 2, 1, values=("on",))],
        "move(scene(), unique(filter(scene(), color=blue)), unique(filter(scene(), color=red)), on)",
    ),
    "filter": (
        [n("scene"), n("filter", 0, values=("large", "sphere")), n("change_color", 1, values=("red",))],
        "change(filter(scene(), size=large, shape=sphere), color=red)",
    ),
    "change": (
        [*RED, n("change", 1, values=("small", "blue"))],
        "change(filter(scene(), color=red), size=small, color=blue)",
    ),
    "change of one": ([*RED, n("change", 1, values=("small",))], "change(filter(scene(), color=red), size=small)"),
    "change_size": ([*RED, n("change_size", 1, values=("small",))], "change(filter(scene(), color=red), size=small)"),
    "change_color": ([*RED, n("change_color", 1, values=("gray",))], "change(filter(scene(), color=red), color=gray)"),
    "change_material": (
        [*RED, n("change_material", 1, values=("rubber",))],
        "change(filter(scene(), color=red), material=rubber)",
    ),
    "change_shape": (
        [*RED, n("change_shape", 1, values=("sphere",))],
        "change(filter(scene(), color=red), shape=sphere)",
    ),
    "object in two roles": (
        [*RED, n("object", values=("blue",)), n("change_loc_rel", 1, 2, values=("left",)), n("add_abs", 3, 2)],
        "add(move(scene(), unique(filter(scene(), color=blue)), unique(filter(scene(), color=red)), left), "
        "thing(color=blue))",
    ),
}

COUNT_RED: Listed = [n("scene"), n("filter_color", 0, values=("red",)), n("count", 1)]
QUESTIONS: dict[str, Listed] = {
    "count": COUNT_RED,
    "two scenes": [
        n("scene"),
        n("count", 0),
        n("scene"),
        n("filter_shape", 2, values=("cube",)),
        n("count", 3),
        n("greater_than", 1, 4),
    ],
    "one scene read twice": [
        n("scene"),
        n("not_shape", 0, values=("cube",)),
        n("not_color", 0, values=("red",)),
        n("and", 1, 2),
        n("count", 3),
    ],
    "scenes first": [n("scene"), n("scene"), n("or", 1, 0), n("not_size", 2, values=("small",)), n("exist", 3)],
    "out of order": [
        n("filter_color", 1, values=("red",)),
        n("scene"),
        n("not_material", 0, values=("metal",)),
        n("count", 2),
    ],
    "generator": [
        n("scene", key="type"),
        n("filter_shape", 0, values=("cube",), key="type"),
        n("unique", 1, key="type"),
        n("same_color", 2, key="type") | {"_output": [1, 2]},
        n("exist", 3, key="type"),
    ],
    "relate without unique": [*COUNT_RED[:2], n("relate", 1, values=("right",)), n("count", 2)],
}


@pytest.mark.parametrize("listed, text", ACTIONS.values(), ids=ACTIONS.keys())
def test_action_comes_back_as_read_and_means_this(listed: Listed, text: str) -> None:
    program = read(listed)
    check(program, SCHEMA)
    assert exact(write(program)) == exact(listed)
    assert execute(program, SCENE).answer == execute(parse_program(text), SCENE).answer
    assert meaning(program) == meaning(parse_program(text))


@pytest.mark.parametrize("_, text", ACTIONS.values(), ids=ACTIONS.keys())
def test_typed_program_is_written_and_read_back(_: Listed, text: str) -> None:
    program = parse_program(text)
    assert meaning(read(write(program))) == meaning(program)


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS.keys())
@pytest.mark.parametrize("action", [listed for listed, _ in ACTIONS.values()], ids=ACTIONS.keys())
def test_pair_comes_back_as_read(action: Listed, question: Listed) -> None:
    program = read_pair(action, question)
    check(program, SCHEMA)
    written = write_pair(program, "Do it.")
    assert list(written) == ["action_text", "action_program", "program"]
    assert exact(written["action_program"]) == exact(action)
    assert exact(written["program"]) == exact(question)


def test_every_function_is_tried() -> None:
    lists = [listed for listed, _ in ACTIONS.values()] + list(QUESTIONS.values())
    tried = {entry.get("function") or entry["type"] for listed in lists for entry in listed}
    assert tried >= TABLE.keys() - clevr_hyp.FUNCTIONS.keys()


def test_added_object_is_counted_after_the_action() -> None:
    action, _ = ACTIONS["add_relate"]
    cubes: Listed = [n("scene"), n("filter_shape", 0, values=("cube",)), n("count", 1)]
    assert execute(read_pair(action, cubes), SCENE).answer == 2


def test_added_object_stands_where_the_action_says() -> None:
    action, _ = ACTIONS["add_relate"]
    right_of_red: Listed = [
        *COUNT_RED[:2],
        n("unique", 1),
        n("relate", 2, values=("right",)),
        n("filter_color", 3, values=("cyan",)),
        n("count", 4),
    ]
    assert execute(read_pair(action, right_of_red), SCENE).answer == 1


def test_removed_objects_are_gone() -> None:
    action, _ = ACTIONS["remove_relate"]
    assert execute(read_pair(action, [n("scene"), n("count", 0)]), SCENE).answer == 1


def test_changed_colour_is_what_a_question_hears() -> None:
    action: Listed = [n("scene"), n("filter_shape", 0, values=("sphere",)), n("change_color", 1, values=("red",))]
    assert execute(read_pair(action, COUNT_RED), SCENE).answer == 3
    assert execute(read(COUNT_RED), SCENE).answer == 1


def test_moved_onto_means_on_top() -> None:
    action, _ = ACTIONS["change_loc_on"]
    on_red: Listed = [*COUNT_RED[:2], n("relate", 1, values=("on",)), n("unique", 2), n("query_color", 3)]
    assert execute(read_pair(action, on_red), SCENE).answer == "blue"


def test_action_on_the_outcome_of_an_action() -> None:
    two_hops: Listed = [
        n("scene"),
        n("filter_shape", 0, values=("sphere",)),
        n("change_color", 1, values=("red",)),
        n("filter_color", 2, values=("red",)),
        n("filter_size", 3, values=("large",)),
        n("remove_abs", 2, 4),
    ]
    program = read_pair(two_hops, COUNT_RED)
    assert execute(program, SCENE).answer == 1
    assert exact(write_pair(program, "")["action_program"]) == exact(two_hops)
    second = read_pair(two_hops[:3], [n("scene"), n("filter_color", 0, values=("red",)), n("count", 1)])
    assert execute(second, SCENE).answer == 3


def test_one_list_may_hold_action_and_question() -> None:
    listed: Listed = [*ACTIONS["change_size"][0], n("filter_size", 2, values=("small",)), n("count", 3)]
    program = read(listed)
    assert execute(program, SCENE).answer == 2
    assert write_pair(program, "") == {"program": listed}


def test_original_scene_stays_as_it_was() -> None:
    before = json.dumps(SCENE.to_json())
    for action, _ in ACTIONS.values():
        execute(read_pair(action, COUNT_RED), SCENE)
    assert json.dumps(SCENE.to_json()) == before


def test_set_where_one_object_is_wanted_must_hold_exactly_one() -> None:
    action: Listed = [
        n("scene"),
        n("filter_shape", 0, values=("sphere",)),
        n("object", values=("red",)),
        n("change_loc_rel", 1, 2, values=("left",)),
    ]
    answer = execute(read_pair(action, COUNT_RED), SCENE).answer
    assert isinstance(answer, Undefined)
    assert answer.reason == "several found"


def test_action_without_question() -> None:
    action, _ = ACTIONS["add_abs"]
    assert write_pair(read_pair(action, []), "Add it.") == {"action_text": "Add it.", "action_program": action}


def test_typed_pair_is_split_at_the_last_action() -> None:
    program = parse_program(
        "a = change(filter(scene(), shape=sphere), color=red); greater(count(a), count(filter(a, color=red)))"
    )
    assert write_pair(program, "") == {
        "action_program": [
            {"function": "scene", "inputs": [], "value_inputs": []},
            {"function": "filter_shape", "inputs": [0], "value_inputs": ["sphere"]},
            {"function": "change_color", "inputs": [1], "value_inputs": ["red"]},
        ],
        "program": [
            {"function": "scene", "inputs": [], "value_inputs": []},
            {"function": "count", "inputs": [0], "value_inputs": []},
            {"function": "scene", "inputs": [], "value_inputs": []},
            {"function": "filter_color", "inputs": [2], "value_inputs": ["red"]},
            {"function": "count", "inputs": [3], "value_inputs": []},
            {"function": "greater_than", "inputs": [1, 4], "value_inputs": []},
        ],
    }


REFUSED: dict[str, tuple[Listed, str]] = {
    "a node that reads itself": (
        [n("scene"), n("filter_color", 0, values=("red",)), n("change_color", 2, values=("red",))],
        "the program is cyclic at node 2 (change_color)",
    ),
    "no description": ([n("scene"), n("object"), n("add_abs", 0, 1)], "node 1 (object): expected a description"),
    "an unknown value": (
        [n("scene"), n("object", values=("pink",)), n("add_abs", 0, 1)],
        "node 1 (object): unknown value 'pink'",
    ),
    "two colours": (
        [n("scene"), n("object", values=("red", "blue")), n("add_abs", 0, 1)],
        "node 1 (object): it says the color twice",
    ),
    "no relate": ([*RED, CUBE, n("add_relate", 1, 2)], "node 3 (add_relate): expected a relate node"),
    "no object": ([*RED, n("add_abs", 0, 1)], "node 1 (filter_color) stands where a description"),
    "a description as a set": ([CUBE, n("count", 0)], "node 1 (count) reads the description at node 0"),
    "an unknown function": ([n("scene"), n("paint", 0)], "node 1: unknown op 'paint' in CLEVR_HYP"),
    "too few inputs": ([n("scene"), n("remove_abs", 0)], "node 1 (remove_abs): expected 2 inputs, got 1"),
    "no relation": ([*RED, CUBE, n("change_loc", 0, 2, 1)], "node 3 (change_loc): expected 1 value_inputs, got 0"),
    "an index out of range": ([n("count", 7)], "node 0 (count) reads node 7; there are only 1 nodes"),
    "nothing": ([], "a program needs at least one node"),
}


@pytest.mark.parametrize("listed, sentence", REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_a_sentence(listed: Listed, sentence: str) -> None:
    with pytest.raises(ProgramError) as error:
        read(listed)
    assert sentence in str(error.value)


def test_action_program_must_end_in_an_action() -> None:
    with pytest.raises(ProgramError, match="action program: its last node must be an action"):
        read_pair(COUNT_RED, COUNT_RED)


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("at_least(count(scene()), 2)", "node 2 (number) has no CLEVR_HYP function"),
        ("and(exist(scene()), exist(scene()))", "node 4 (and) has no CLEVR_HYP function"),
        ("count(filter(scene(), name=dog))", "node 1 (filter) has no CLEVR_HYP function"),
        ("count(add(scene(), thing(name=dog)))", "node 1 (thing): unknown value 'dog'"),
        ("count(add(scene(), thing(shape=red)))", "node 1 (thing): CLEVR_HYP cannot describe an object so"),
    ],
)
def test_what_the_dialect_can_not_say_is_refused_by_name(text: str, sentence: str) -> None:
    with pytest.raises(ProgramError) as error:
        write(parse_program(text))
    assert sentence in str(error.value)


def test_pair_can_not_ask_about_the_scene_before() -> None:
    program = parse_program("greater(count(scene()), count(remove(scene(), filter(scene(), shape=cube))))")
    assert len(write(program)) == 8
    with pytest.raises(ProgramError, match="node 0 \\(scene\\) is the scene before the action"):
        write_pair(program, "")


@st.composite
def action_lists(draw: st.DrawFn) -> Listed:
    """One to three actions on each other, every node as a file might have it, in any order."""
    listed: Listed = []

    def put(function: str, *inputs: int, values: tuple[str, ...] = ()) -> int:
        listed.append(n(function, *inputs, values=values, key=draw(st.sampled_from(("function", "type")))))
        return len(listed) - 1

    def words() -> tuple[str, ...]:
        options = [draw(st.sampled_from(a.values)) for a in SCHEMA.attributes if draw(st.booleans())]
        return tuple(draw(st.permutations(options or ["cube"])))

    def some(state: int, depth: int = 0) -> int:
        match draw(st.integers(0, 4 if depth < 2 else 0)):
            case 1:
                return put("filter", some(state, depth + 1), values=words())
            case 2:
                return put("not_color", some(state, depth + 1), values=("red",))
            case 3:
                both = some(state, depth + 1), some(state, depth + 1)
                return put(draw(st.sampled_from(("and", "or", "union"))), *both)
            case 4:
                return put("relate", some(state, depth + 1), values=("left",))
        return state

    def described(state: int) -> int:
        return put("object", values=words()) if draw(st.booleans()) else some(state)

    state = put("scene")
    for _ in range(draw(st.integers(1, 3))):
        match draw(st.integers(0, 8)):
            case 0:
                state = put("add", state, put("object", values=words()))
            case 1:
                relate = put("relate", some(state), values=("left",))
                state = put("add_relate", relate, put("object", values=words()))
            case 2:
                state = put("add_relate", state, some(state), values=("left", *words()))
            case 3:
                state = put("add_rel", state, put("object", values=words()), described(state), values=("left",))
            case 4:
                state = put("remove", state, described(state))
            case 5:
                state = put("remove_relate", put("relate", some(state), values=("left",)), described(state))
            case 6:
                state = put("remove_rel", state, described(state), described(state), values=("right",))
            case 7:
                state = put("change_loc_rel", some(state), described(state), values=("front",))
            case 8:
                state = put("change_shape", some(state), values=("cube",))
    order = draw(st.permutations(range(len(listed) - 1)))
    place = {old: new for new, old in enumerate((*order, len(listed) - 1))} if draw(st.booleans()) else None
    if place is None:
        return listed
    shuffled = sorted(range(len(listed)), key=place.__getitem__)
    return [listed[old] | {"inputs": [place[i] for i in listed[old]["inputs"]]} for old in shuffled]


@settings(deadline=None)
@given(action_lists(), st.sampled_from(sorted(QUESTIONS)))
def test_any_list_comes_back_exactly(action: Listed, question: str) -> None:
    assert exact(write(read(action))) == exact(action)
    program = read_pair(action, QUESTIONS[question])
    check(program, SCHEMA)
    written = write_pair(program, "")
    assert exact(written["action_program"]) == exact(action)
    assert exact(written["program"]) == exact(QUESTIONS[question])
    plain = Program.from_json([node | {"notes": {}} for node in program.to_json()])
    assert meaning(read_again(plain)) == meaning(program)


def read_again(program: Program) -> Program:
    written = write_pair(program, "")
    return read_pair(written["action_program"], written["program"])


def exact(listed: Listed) -> list[str]:
    """The nodes as JSON text, so that the order of their fields counts too."""
    return [json.dumps(entry) for entry in listed]


def meaning(program: Program) -> Program:
    return program.canonicalize()


def test_below_is_what_an_object_rests_on() -> None:
    blue = [n("scene"), n("filter_color", 0, values=("blue",)), n("unique", 1)]
    action = [*blue, n("filter_color", 0, values=("red",)), n("unique", 3), n("change_loc_on", 4, 2, values=("on",))]
    question = [*blue, n("relate", 2, values=("below",)), n("unique", 3), n("query_color", 4)]
    program = read_pair(action, question)
    assert execute(program, SCENE).answer == "red"
    assert exact(write_pair(program, "")["program"]) == exact(question)
