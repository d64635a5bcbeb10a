"""Every op: described, typed, reachable from the text notation, and in the generated reference."""

import pytest

from shiftscope.docs import op_reference
from shiftscope.lang.op import Op, all_ops, get_op
from shiftscope.lang.text import parse, show
from shiftscope.lang.types import BOOL, GROUPS, IMAGES, INT, OBJECT, OBJECTS, PART, PARTS, THING, VALUE

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
    program = parse(text)
    assert program.root.op == op.name
    assert parse(show(program)) == program


def test_an_unknown_op_gets_the_nearest(refuses):
    with refuses("no op 'filtre'; did you mean 'filter'?"):
        get_op("filtre")


def test_the_reference_lists_ops_by_what_runs_them():
    table = op_reference()
    print(table)
    for op in all_ops().values():
        assert f"`{op.written}`" in table
