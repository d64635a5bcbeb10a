"""Asking: shards are functions of their inputs, and the records are ready for official files."""

from pathlib import Path

import pytest

from hash_seeds import run_script
from shiftscope.formats.clevr import read_questions, write_questions
from shiftscope.lang.program import Program, node
from shiftscope.question import Provenance, Question
from shiftscope.questions import count_questions
from shiftscope.questions.clevr.generator import generate_all_questions, generate_questions
from shiftscope.questions.clevr.template import Template, TemplateNode, TemplateSet, TemplateSlot
from shiftscope.questions.clevr.template_sets import builtin_templates
from shiftscope.records import content_id
from shiftscope.scene_table import pack_scenes
from shiftscope.schemas import clevr, superclevr
from toy import THREE_AND_ONE
from worlds import random_scene

OURS = builtin_templates(clevr.SCHEMA)
SCENES = [random_scene(clevr.SCHEMA, k) for k in range(30)]


def test_the_same_question_whether_packed_or_not():
    assert generate_questions(pack_scenes(SCENES), OURS, seed=1) == generate_questions(SCENES, OURS, seed=1)


def test_seed_split_and_shard_change_the_questions():
    base = generate_questions(SCENES, OURS)
    for other in ({"seed": 1}, {"split": "val"}, {"shard": 1}):
        assert [q.text for q in generate_questions(SCENES, OURS, **other)] != [q.text for q in base]
    assert generate_questions(SCENES, OURS) == base


def test_shards_follow_each_other():
    whole = list(generate_all_questions(SCENES, OURS, shard_size=12, split="val"))
    first = generate_questions(SCENES[:12], OURS, split="val")
    assert whole[: len(first)] == first
    assert whole[len(first)] == generate_questions(SCENES[12:24], OURS, split="val", shard=1, start=len(first))[0]
    assert [q.note("question_index") for q in whole] == list(range(len(whole)))


def test_a_question_says_where_it_comes_from():
    (question,) = generate_questions([SCENES[7]], OURS, per_image=1, split="val", start=40)
    assert question.id == "7_0"
    assert question.scenes == ("7",)
    assert question.provenance.source == "clevr"
    assert question.provenance.split == "val"
    assert question.provenance.template in {t.file for t in OURS.templates}
    assert dict(question.notes) == {"question_index": 40, "image_filename": "7.png", "image_index": 7, "image": "7"}


@pytest.mark.parametrize("schema", [clevr.SCHEMA, superclevr.SCHEMA], ids=lambda s: s.name)
def test_official_files_hold_them(tmp_path, schema):
    scenes = [random_scene(schema, k) for k in range(20)]
    made = generate_questions(scenes, builtin_templates(schema), split="train")
    write_questions(tmp_path / "q.json", made)
    back = list(read_questions(tmp_path / "q.json"))
    for ours, theirs in zip(made, back, strict=True):
        assert (theirs.text, theirs.program, theirs.answer) == (ours.text, ours.program, ours.answer)
        assert (theirs.kind, theirs.scenes, theirs.notes) == (ours.kind, ours.scenes, ours.notes)
        assert theirs.provenance.template == ours.provenance.template
        assert theirs.provenance.family == ours.provenance.family


def test_nonsense_is_refused(refuses):
    with refuses("questions per image and attempts must be at least 1, not 0 and 60"):
        generate_questions([THREE_AND_ONE], OURS, per_image=0)
    too_many = "at most 10,000 questions can be asked of an image, not 10,001"
    with refuses(too_many):
        generate_questions([THREE_AND_ONE], OURS, per_image=10_001)
    with refuses(too_many):
        next(generate_all_questions([THREE_AND_ONE], OURS, per_image=10_001))
    with refuses("there are no scenes to pack"):
        generate_questions([], OURS)


def test_fewer_templates_than_questions_go_round_again():
    few = TemplateSet(OURS.templates[:3])
    made = generate_questions(SCENES[:5], few, per_image=6)
    assert max(sum(q.scenes == (s.id,) for q in made) for s in SCENES[:5]) > 3


SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
from worlds import random_scene
from shiftscope.questions.clevr.template_sets import builtin_templates
from shiftscope.questions.clevr.generator import generate_questions
from shiftscope.records import content_id
from shiftscope.schemas.superclevr import SCHEMA
made = generate_questions([random_scene(SCHEMA, k) for k in range(25)], builtin_templates(SCHEMA), seed=11)
print(content_id([q.to_json() for q in made]))
"""


def test_the_same_bytes_whatever_the_hash_seed_and_the_machine():
    scenes = [random_scene(superclevr.SCHEMA, k) for k in range(25)]
    made = generate_questions(scenes, builtin_templates(superclevr.SCHEMA), seed=11)
    here = content_id([q.to_json() for q in made])
    script = SCRIPT.format(tests=str(Path(__file__).parents[3]))
    for hash_seed in ("1", "4242"):
        assert run_script(script, hash_seed).strip() == here


CHAIN = Template(
    "chain",
    0,
    tuple(
        TemplateSlot(f"<{letter}{n}>", kind)
        for n in ("", "2")
        for letter, kind in (("C", "Color"), ("S", "Shape"), ("R", "Relation"))
    ),
    ("How many <C2> <S2>s are <R2> the <C> <S>?", "Count the <C2> <S2>s <R2> a <C> <S>."),
    (
        TemplateNode("scene"),
        TemplateNode("filter_unique", (0,), ("<C>", "<S>")),
        TemplateNode("relate_filter_count", (1,), ("<R2>", "<C2>", "<S2>")),
    ),
)


def test_every_machine_asks_the_same():
    """The name of the content was found on ARM; x86 must find it too."""
    made = generate_questions(SCENES, TemplateSet((CHAIN,)), seed=5, per_image=3)
    found = [(q.text, q.program.content_id(), q.answer) for q in made]
    assert len(found) == 82
    assert content_id(found) == "66bfd0c5661596b2992c8289ad032aef"


def test_distribution_counts():
    program = Program((node("scene"), node("count", (0,))))
    source = Provenance("clevr", "", "zero_hop.json", 0)
    questions = [
        Question("a", "How many things?", ("s",), program, 3, kind="count", provenance=source),
        Question("b", "How many red things?", ("s",), program, 3, kind="count", provenance=source),
        Question("c", "Any?", ("t",), None, True),
    ]
    found = count_questions(questions)
    assert (found.questions, found.scenes) == (3, 2)
    assert list(found.types.items()) == [("count", 2), ("unknown", 1)]
    assert list(found.families.items()) == [("unknown#?", 1), ("zero_hop.json#0", 2)]
    assert list(found.words.items()) == [("1", 1), ("3", 1), ("4", 1)]
    assert found.steps == {"2": 2}
    assert found.answers == {"count": {"3": 2}, "unknown": {"yes": 1}}
    assert found.to_json()["family_answers"]["zero_hop.json#0"] == {"3": 2}
    assert count_questions([]).questions == 0
