"""Planted shortcuts: ties hold at their strength, the audit finds these and no others, and nothing else is touched."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from shiftscope.answer import spell
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.execution_world import ExecutionWorld
from shiftscope.question_join import build_question_table
from shiftscope.question_table import add_objects, build_image_contents, object_kind
from shiftscope.shift import shortcut
from shiftscope.shortcuts.tied_answers import AnswerTie, find_tied_answers
from shiftscope.suites import load_suite
from shiftscope.suites.planted_shortcuts import list_ties, load_vocabulary
from tests.command import here

CLEVR = load_suite("clevr")
SPEC = CLEVR.spec(images=200, size=(160, 112), shard=120)
VOCABULARY = load_vocabulary(SPEC.schema, SPEC.list_templates())


@pytest.fixture(scope="module")
def scenes():
    return CLEVR.sample_scenes(SPEC, "train", 0, range(120))


@pytest.fixture(scope="module")
def pools(scenes):
    seeds = [shortcut.seed_pool(SPEC.seed, pool) for pool in range(shortcut.POOLS)]
    return [CLEVR.ask(replace(SPEC, seed=seed), "train", 0, scenes) for seed in seeds]


def choose(pools, scenes, text):
    ties = shortcut.plan_ties(text, VOCABULARY)
    return ties, *shortcut.choose_questions(pools, scenes, ties, VOCABULARY, ("test", 0))


def find(train, ood, scenes):
    asked = [*train, *ood]
    texts = [q.text for q in asked], [], []
    names = list(map(str, range(len(asked)))), [q.scenes[0] for q in asked]
    answers = {"answers": [spell(q.answer) for q in asked], "types": [q.kind for q in asked]}
    kinds = [(s.id, [kind for o in s.objects for kind in object_kind(o.attributes)]) for s in scenes]
    samples = add_objects(build_question_table("shiftscope", *names, *texts, **answers), [build_image_contents(kinds)])
    return find_tied_answers(samples, np.arange(len(train)), np.arange(len(train), len(asked)))


@pytest.mark.parametrize("text", ["question_type=exist>yes:0.9,question_type=count>1:0.7", "keyword=metal>no:0.85"])
def test_the_audit_finds_what_was_planted_at_its_strength_and_nothing_else(pools, scenes, text):
    ties, chosen, reached = choose(pools, scenes, text)
    assert [one.share for one in reached] == pytest.approx([tie.strength for tie in ties], abs=0.005)
    found = find(chosen, pools[0], scenes)
    assert {one.tie.plain for one in found} == {tie.plain for tie in ties}
    strengths = {tie.plain: tie.strength for tie in ties}
    for one in found:  # within four standard errors of a share of so many questions
        planted = strengths[one.tie.plain]
        assert abs(one.tie.strength - planted) < 4 * np.sqrt(planted * (1 - planted) / one.n)


def test_without_ties_nothing_is_found(pools, scenes):
    assert find(pools[1], pools[0], scenes) == ()


def test_scenes_templates_and_answers_are_as_without_ties(pools, scenes):
    _, chosen, _ = choose(pools, scenes, "question_type:0.65")
    first = pools[0]
    assert [q.id for q in chosen] == [q.id for q in first]
    assert len({(q.scenes, q.text) for q in chosen}) == len(chosen)
    kinds = [Counter(q.kind for q in some) for some in (first, chosen)]
    assert all(abs(kinds[0][kind] - kinds[1][kind]) < 4 * np.sqrt(kinds[0][kind]) for kind in kinds[0])
    worlds = {scene.id: ExecutionWorld((scene,)) for scene in scenes}
    assert all(execute(q.program, worlds[q.scenes[0]]).answer == q.answer for q in chosen)


def test_ties_are_drawn_by_the_seed_and_contradict_nobody():
    ties = shortcut.plan_ties("question_type:0.6,key_object:0.5", VOCABULARY)
    assert shortcut.plan_ties("question_type:0.6,key_object:0.5", VOCABULARY) == ties
    assert {tie.type for tie in ties if tie.shortcut == "QT"} == {*VOCABULARY.spaces}
    assert all(tie.answer not in ("yes", "no") for tie in ties if tie.shortcut == "KO")  # half are anyway
    named = shortcut.plan_ties("key_object+question_type=cube+count>0:0.5", VOCABULARY)
    assert named == (AnswerTie("count", (), ("cube",), "0", 0.5),)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("question_type", "not of the form"),
        ("colour:0.5", "no shortcut 'colour'"),
        ("keyword=red>yes:1", "between 0 and 1"),
        ("question_type=query_colour:0.5", "no question type"),
        ("key_object=bus>yes:0.7", "no kind of object"),
        ("question_type=exist>red:0.7", "no answer 'red'"),
        ("question_type+keyword=exist:0.7", "named by 2 values"),
        ("keyword=red>yes:0.7,keyword=red>yes:0.8", "twice"),
    ],
)
def test_what_is_no_tie_is_refused(refuses, text, why):
    with refuses(why):
        replace(SPEC, shortcut=text)


def test_a_tie_that_scenes_do_not_allow_is_refused_with_what_they_allow(pools, scenes, refuses):
    _, _, reached = choose(pools, scenes, "keyword=metal>no:0.9,keyword=metal>yes:0.9")
    with refuses("cannot be tied to 'no' at 0.9"):
        shortcut.refuse_unreachable(reached)


def test_the_ood_test_lacks_ties_or_inverts_them():
    spec = replace(SPEC, shortcut="question_type=exist>yes:0.8,question_type=query_color>red:0.3")
    assert spec.splits()["ood_test"] == spec.splits()["test"]
    assert list_ties(spec, "ood_test") == ()
    inverted = list_ties(replace(spec, ood="inverted"), "ood_test")
    assert [tie.strength for tie in inverted] == pytest.approx([0.2, 0.1])


@pytest.mark.full
@pytest.mark.parametrize(
    ("suite", "text"),
    [
        ("superclevr", "QT=count>1:0.7,QT=query_color>red:0.5,QT=exist>no:0.7"),
        ("superclevr", "keyword=red>yes:0.85,key_object=sedan>no:0.75,QT+KO=exist+jet>yes:0.95"),
        ("clevr", "question_type=exist>yes:0.85,keyword=cyan>no:0.85"),
    ],
)
def test_a_world_made_and_audited_on_the_command_line(tmp_path, suite, text):
    made = here("make", suite, "--shortcut", text, "--images", 900, "--size", "160x112", "--out", tmp_path / "data")
    assert made.returncode == 0, made.stderr
    audited = here("audit", tmp_path / "data", "--no-blind", "--out", tmp_path / "audit")
    assert audited.returncode == 0, audited.stderr
    found = json.loads((tmp_path / "audit" / "audit.json").read_text())["tied_answers"]
    planted = list_ties(load_suite(suite).spec(images=900, size=(160, 112), shortcut=text))
    told = {AnswerTie(f["type"], tuple(f["words"]), tuple(f["kinds"]), f["answer"]): f for f in found}
    assert set(told) == {tie.plain for tie in planted}
    for tie in planted:
        n = told[tie.plain]["n"]
        assert abs(told[tie.plain]["strength"] - tie.strength) < 4 * np.sqrt(tie.strength * (1 - tie.strength) / n)
