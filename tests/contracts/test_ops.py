"""Every op: described, typed, reachable from the text notation, and in the generated reference."""

import inspect

import pytest

from shiftscope.lang.exec.packed import PACKED_OPS
from shiftscope.lang.exec.soft import SoftLowering
from shiftscope.lang.op import (
    BOOL,
    GROUPS,
    IMAGES,
    INT,
    OBJECT,
    OBJECTS,
    PART,
    PARTS,
    THING,
    VALUE,
    Op,
    all_ops,
    get_op,
)
from shiftscope.lang.program import ProgramError
from shiftscope.lang.text import format_program, parse_program
from shiftscope.schemas import superclevr
from tools.docs import op_reference

MAKE = {  # the shortest text of each type
    OBJECTS: "scene()",
    OBJECT: "unique(scene())",
    PARTS: "parts(scene())",
    PART: "unique(parts(scene()))",
    IMAGES: "images(scene())",
    GROUPS: "group(scene())",
    INT: "2",
    BOOL: "exist(scene())",
    VALUE: "query(unique(scene()), color)",
    THING: "thing(color=red)",
}
WORD = {"attribute": "color", "relation": "left", "role": "object", "test": "equal", "number": "2", "comparative": "older"}  # fmt: skip


def written(op: Op, inputs: tuple) -> str:
    words = ["color=red"] if op.pairs or op.params[:2] == ("attribute", "value") else []
    words += [WORD.get(p, "red") for p in op.params[2 * len(words) :]]
    return f"{op.name}({', '.join([*(MAKE[t] for t in inputs), *words])})"


PAPERS = ("intersect", "union", "number")  # soft meanings as the paper has them, nothing added
BOTH = ("scene", "filter", "relate", "same", "count", "exist")  # the paper's rule, and something of ours
EVERY = [(op, s) for op in all_ops().values() for s in op.signatures]


@pytest.mark.parametrize("op", all_ops().values(), ids=lambda op: op.name)
def test_an_op_says_what_it_is(op):
    assert op.summary.endswith((".", "`."))
    assert op.summary[0].isupper()
    assert len(op.summary) <= 100
    assert {len(s.inputs) for s in op.signatures} == {op.arity}


@pytest.mark.parametrize(("op", "signature"), EVERY, ids=lambda x: getattr(x, "name", str(x)))
def test_every_signature_can_be_written_and_read(op, signature):
    if op.name in ("it", "number"):
        return  # no call of its own: bound by a quantifier, or a plain number
    text = written(op, signature.inputs)
    program = parse_program(text)
    assert program.root.op == op.name
    assert parse_program(format_program(program)) == program


def test_an_unknown_op_gets_the_nearest(refuses):
    with refuses("no op 'filtre'; did you mean 'filter'?"):
        get_op("filtre")


def test_the_reference_lists_ops_by_what_runs_them():
    """Ops × {exact, soft, packed}: every op runs exactly, and softly if and only if packed."""
    table = op_reference()
    print(table)
    for op in all_ops().values():
        line = next(line for line in table.splitlines() if f"`{op.usage}`" in line)
        soft, packed = (cell.strip() == "yes" for cell in line.split("|")[-3:-1])
        assert soft == (op.soft is not None), op.name
        assert packed == (op.name in PACKED_OPS), op.name
        assert soft == packed, op.name


@pytest.mark.parametrize("op", [op for op in all_ops().values() if op.soft], ids=lambda op: op.name)
def test_a_soft_meaning_says_its_rule_and_whose_it_is(op):
    rule = inspect.getdoc(op.soft) or ""
    assert rule
    assert ("Ours" in rule) == (op.name not in PAPERS) or op.name in BOTH, op.name


@pytest.mark.parametrize("op", [op for op in all_ops().values() if not op.soft], ids=lambda op: op.name)
def test_an_op_without_a_soft_meaning_is_refused_by_name(op):
    if op.name == "it":
        return  # no call of its own: bound by a quantifier
    text = written(op, op.signatures[0].inputs)
    whole = "all(scene(), verify(it(), color=red))" if op.body is not None else text
    with pytest.raises(ProgramError, match="soft execution does not cover this op"):
        SoftLowering(superclevr.SCHEMA)([parse_program(whole)], [0])
