import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_programs import generate_random_program
from shiftscope.lang.check import check
from shiftscope.lang.exec.packed import PACKED_OPS
from shiftscope.lang.op import Type
from shiftscope.lang.program import Program, ProgramError, node
from shiftscope.lang.text import parse_program
from shiftscope.rng import derive
from shiftscope.schemas import clevr, superclevr


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("relate(scene(), left)", "node 1 (relate): expected Object as input 1, got Objects"),
        ("count(count(scene()))", "node 2 (count): expected Objects or Parts or Images or Groups as input 1, got Int"),
        (
            "equal(query(unique(scene()), color), query(unique(scene()), shape))",
            "node 6 (equal): expected two values of one attribute, got color and shape",
        ),
        ("exist(keep(group(find(dog)), about, 2))", "node 2 (keep): expected equal or at_least"),
        ("verify(it(), color=red)", "uses it() outside of all, some and none"),
        (
            "intersect(change(scene(), color=red), scene())",
            "node 3 (intersect) mixes objects from before and after the edit at node 1",
        ),
        ("all(scene(), exist(change(it(), color=red)))", "an edit cannot stand inside a quantifier"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(text, why):
    with pytest.raises(ProgramError) as error:
        check(parse_program(text))
    assert why in str(error.value)


def test_a_value_knows_its_attribute():
    assert check(parse_program("query(unique(scene()), color)"))[-1] == Type("Value", "color")


def test_numbers_from_before_and_after_an_edit_may_be_compared():
    text = "less(count(filter(scene(), color=red)), count(filter(change(scene(), color=red), color=red)))"
    assert str(check(parse_program(text))[-1]) == "Bool"


def test_the_same_edit_written_twice_is_one_state():
    text = "exist(intersect(filter({e}, color=red), filter({e}, shape=cube)))"
    check(parse_program(text.format(e="change(filter(scene(), shape=cube), color=red)")))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("count(filter(scene(), color=mauve))", "no color 'mauve' in clevr"),
        ("count(filter(scene(), colour=red))", "no attribute 'colour' in clevr; did you mean 'color'?"),
        ("count(relate(unique(scene()), lefft))", "no relation 'lefft' in clevr; did you mean 'left'?"),
        ("choose(unique(scene()), color, red, gren)", "no color 'gren' in clevr; did you mean 'green'?"),
        ("count(add(scene(), thing(shape=cone)))", "no shape 'cone' in clevr"),
        ("count(filter(parts(scene()), color=red))", "no part attribute 'color' in clevr"),
    ],
)
def test_a_closed_vocabulary_is_kept_to(text, why):
    program = parse_program(text)
    check(program)
    with pytest.raises(ProgramError, match=why.replace("?", r"\?")):
        check(program, clevr.SCHEMA)


def test_kinds_are_words_to_filter_by():
    check(parse_program("count(filter(parts(filter(scene(), shape=car)), name=wheel))"), superclevr.SCHEMA)


# An independent statement of the types, to hold the checker against: op → [(inputs, output)].
SETS = {"O": "Objects", "P": "Parts"}
ONES = {"O": "Object", "P": "Part"}
TYPES = {
    "scene": [((), "Objects")],
    "number": [((), "Int")],
    "parts": [(("Objects",), "Parts")],
    "owners": [(("Parts",), "Objects")],
    "relate": [(("Object",), "Objects")],
    "related": [(("Objects",), "Objects")],
    "not": [(("Bool",), "Bool")],
    **{n: [((s,), s) for s in SETS.values()] for n in ("filter", "exclude")},
    **{n: [((s, s), s) for s in (*SETS.values(), "Images")] for n in ("intersect", "union")},
    "unique": [((SETS[k],), ONES[k]) for k in SETS],
    "same": [((ONES[k],), SETS[k]) for k in SETS],
    **{n: [((s,), o) for s in (*SETS.values(), "Images", "Groups")] for n, o in (("count", "Int"), ("exist", "Bool"))},
    **{n: [((o,), "Value") for o in ONES.values()] for n in ("query", "choose")},
    "verify": [((o,), "Bool") for o in ONES.values()],
    "equal": [((t, t), "Bool") for t in ("Value", "Int", "Object", "Part")],
    **{n: [(("Int", "Int"), "Bool")] for n in ("less", "greater", "at_least", "at_most")},
    **{n: [(("Bool", "Bool"), "Bool")] for n in ("and", "or")},
}  # fmt: skip
WIDER = {"Object": "Objects", "Part": "Parts"}


def well_typed(program: Program) -> bool:
    kinds: list[tuple[str, str]] = []
    for n in program.nodes:
        given_kinds = [kinds[i] for i in n.inputs]
        outputs = [
            output
            for wanted, output in TYPES[n.op]
            if len(wanted) == len(given_kinds)
            and all(g[0] == w or WIDER.get(g[0]) == w for g, w in zip(given_kinds, wanted, strict=True))
        ]
        if not outputs:
            return False
        output = outputs[0]
        if n.op == "equal" and given_kinds[0][0] == "Value" and given_kinds[0][1] != given_kinds[1][1]:
            return False
        kinds.append((output, n.params[0] if output == "Value" else ""))
    return True


@given(st.integers(0, 10**6), st.data())
def test_the_checker_accepts_what_is_well_typed_and_rejects_mutants_that_are_not(seed, data):
    program = generate_random_program(derive("check", seed), superclevr.SCHEMA, tuple(sorted(PACKED_OPS)))
    assert well_typed(program)
    check(program, superclevr.SCHEMA)
    at = data.draw(st.integers(0, len(program) - 1))
    n = program.nodes[at]
    if at and n.inputs:
        inputs = tuple(data.draw(st.integers(0, at - 1)) for _ in n.inputs)
    else:
        inputs = n.inputs
    other = data.draw(st.sampled_from(sorted(PACKED_OPS)))
    op, params = data.draw(st.sampled_from([(n.op, n.params), (other, n.params)]))
    mutant = Program((*program.nodes[:at], node(op, inputs, params), *program.nodes[at + 1 :]))
    if op != n.op and len(params) != len(EXAMPLES[op].params):
        expected = False
    else:
        expected = well_typed(mutant) and words_fit(op, params)
    try:
        check(mutant)
        accepted = True
    except ProgramError:
        accepted = False
    assert accepted == expected


EXAMPLES = {
    n.op: n
    for seed in range(300)
    for n in generate_random_program(derive("ops", seed), superclevr.SCHEMA, tuple(sorted(PACKED_OPS))).nodes
}


def words_fit(op: str, params: tuple[str, ...]) -> bool:
    if op == "number":
        return params[0].isdigit()
    return op != "related" or params[1] in ("subject", "object")


def test_every_packed_op_is_exercised():
    assert set(EXAMPLES) == set(PACKED_OPS)
