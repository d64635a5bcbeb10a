import numpy as np
import pytest

from random_programs import generate_random_program
from shiftscope.lang.exec.exact import Undefined, execute
from shiftscope.lang.exec.packed import PACKED_OPS, ProgramLowering, execute_many, run_lowered
from shiftscope.lang.execution_world import ExecutionWorld
from shiftscope.lang.op import all_ops
from shiftscope.lang.program import ProgramError
from shiftscope.lang.text import format_program, parse_program
from shiftscope.rng import derive
from shiftscope.scene_table import pack_scenes
from shiftscope.schema import Attribute, Schema
from shiftscope.schemas import clevr, superclevr
from toy import THREE_AND_ONE, TRAFFIC
from worlds import random_scene

OPS = tuple(sorted(PACKED_OPS))


@pytest.mark.parametrize("schema", [clevr.SCHEMA, superclevr.SCHEMA], ids=lambda s: s.name)
def test_exact_and_packed_agree_on_random_programs_over_random_scenes(schema):
    agree_on(schema, programs=5_000, scenes=200)


@pytest.mark.full
@pytest.mark.parametrize("schema", [clevr.SCHEMA, superclevr.SCHEMA], ids=lambda s: s.name)
def test_exact_and_packed_agree_on_a_hundred_thousand(schema):
    agree_on(schema, programs=100_000, scenes=1_000)


def agree_on(schema, programs, scenes):
    ops = OPS if schema.part_attributes else tuple(o for o in OPS if o not in ("parts", "owners"))
    table = pack_scenes([random_scene(schema, k) for k in range(scenes)])
    worlds = [ExecutionWorld((scene,)) for scene in table]
    rng = derive("packed", schema.name)
    made = [generate_random_program(rng, schema, ops) for _ in range(programs)]
    rows = rng.integers(0, scenes, programs)
    packed = execute_many(made, table, rows)
    for i, (program, row) in enumerate(zip(made, rows, strict=True)):
        expected, found = execute(program, worlds[row]).answer, packed[i]
        assert found == expected and type(found) is type(expected), (format_program(program), row)
    reasons = {packed[i].reason for i in range(programs) if isinstance(packed[i], Undefined)}
    assert {"none found", "several found", "neither choice holds"} <= reasons
    assert sum(not isinstance(packed[i], Undefined) for i in range(programs)) > programs / 5


def test_sets_come_back_as_masks():
    answers = execute_many([parse_program("filter(scene(), color=red)")], pack_scenes([THREE_AND_ONE]), [0])
    assert answers[0] == 0b101


def test_answers_stand_in_the_order_of_the_programs():
    texts = ["count(scene())", "exist(filter(scene(), color=cyan))", "count(filter(scene(), color=red))"]
    answers = execute_many([parse_program(t) for t in texts], pack_scenes([THREE_AND_ONE]), [0, 0, 0])
    assert [answers[i] for i in range(3)] == [4, False, 2]


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("count(find(dog))", "node 0 (find)"),
        ("alike(scene(), scene(), color)", "node 2 (alike)"),
        ("count(keep(group(scene()), equal, 1))", "node 1 (group)"),
        ("all(scene(), verify(it(), color=red))", "node 1 (it)"),
        ("count(remove(scene(), scene()))", "node 2 (remove)"),
    ],
)
def test_an_op_it_does_not_cover_is_refused_by_name(text, at):
    with pytest.raises(ProgramError) as error:
        ProgramLowering(clevr.SCHEMA)([parse_program(text)], [0])
    assert str(error.value).startswith(f"{at}: packed execution does not cover this op")


def test_it_covers_only_ops_there_are():
    assert set(all_ops()) >= PACKED_OPS


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("count(filter(scene(), color=mauve))", "no color 'mauve'"),
        ("count(filter(scene(), colour=red))", "no attribute 'colour'; did you mean 'color'"),
        ("count(relate(unique(scene()), beneath))", "no relation 'beneath'"),
        ("greater(count(scene()), 5000)", "packed numbers end at 4095"),
    ],
)
def test_words_it_does_not_know_are_refused(text, why):
    with pytest.raises(ProgramError, match=why):
        ProgramLowering(clevr.SCHEMA)([parse_program(text)], [0])


def test_scenes_must_fit_the_programs():
    lowered = ProgramLowering(clevr.SCHEMA)([parse_program("count(scene())")], [3])
    with pytest.raises(ValueError, match="not in the table"):
        run_lowered(lowered, pack_scenes([THREE_AND_ONE]))
    with pytest.raises(ValueError, match="programs in clevr, scenes in superclevr"):
        run_lowered(lowered, pack_scenes([TRAFFIC]))
    with pytest.raises(ValueError, match="2 programs need as many"):
        ProgramLowering(clevr.SCHEMA)([parse_program("count(scene())")] * 2, np.array([0]))


def test_programs_prepared_once_run_on_any_scenes():
    schema = superclevr.SCHEMA
    table = pack_scenes([random_scene(schema, k) for k in range(20)])
    made = [generate_random_program(derive("prepared", k), schema, tuple(sorted(PACKED_OPS))) for k in range(200)]
    prepared = ProgramLowering(schema).prepare(made)
    for rows in (np.arange(200) % 20, np.arange(200)[::-1] // 10):
        every, told = execute_many(prepared, table, rows), execute_many(made, table, rows)
        assert [every[i] for i in range(200)] == [told[i] for i in range(200)]
        some = np.array([7, 3, 150, 3])
        few = execute_many(prepared.take(some), table, rows[some])
        assert [few[i] for i in range(4)] == [told[i] for i in some]
        part = execute_many(prepared.take(slice(50, 90)), table, rows[50:90])
        assert [part[i] for i in range(40)] == [told[i] for i in range(50, 90)]


def test_programs_are_told_from_others():
    texts = ["count(scene())", "exist(scene())", "count(filter(scene(), color=red))", "count(scene())"]
    others = [
        "count(scene())",
        "count(scene())",
        "count(filter(scene(), color=blue))",
        "exist(filter(scene(), color=red))",
    ]
    one, other = (ProgramLowering(clevr.SCHEMA).prepare([parse_program(t) for t in some]) for some in (texts, others))
    assert one.compare_programs(other).tolist() == [True, False, False, False]
    assert one.compare_programs(one).all()


def test_what_was_prepared_for_other_words_is_refused():
    prepared = ProgramLowering(superclevr.SCHEMA, ("right", "left")).prepare([parse_program("count(scene())")])
    with pytest.raises(ValueError, match="prepared for other words"):
        execute_many(prepared, pack_scenes([TRAFFIC]), [0])
    few = ProgramLowering(superclevr.SCHEMA)
    few.covers = frozenset({"scene"})
    with pytest.raises(ValueError, match="does not cover"):
        few.prepare(ProgramLowering(superclevr.SCHEMA).prepare([parse_program("count(scene())")]))


def test_values_of_objects_and_parts_compare_only_where_their_codes_mean_the_same():
    text = "equal(query(unique(scene()), color), query(unique(parts(scene())), color))"
    ProgramLowering(superclevr.SCHEMA)([parse_program(text)], [0])
    odd = Schema(
        "odd",
        attributes=(Attribute("color", ("red", "blue")),),
        part_attributes=(Attribute("name", ("lid",)), Attribute("color", ("red", "blue"))),
    )
    with pytest.raises(ProgramError, match="node 7 \\(equal\\): the color of objects and of parts is coded"):
        ProgramLowering(odd)([parse_program(text)], [0])
