"""Segment-combine: the parts of a question put together are the question, and oracle execution shows it."""

import json

import pytest

from covr_toys import asked, dataset, questions_of, scenes_of
from graphs import graph
from shiftscope.lang.text import parse_program
from shiftscope.run.evaluate import RunSpec
from shiftscope.run.generalization import WRONG_ANSWER, SourceSplit, segment_combine
from shiftscope.run.generalization.segment_combine import SegmentCombineOptions, combine_answers
from shiftscope.run.test import test as take_test
from shiftscope.shift.held_out.facts import QuestionShape, find_shape
from shiftscope.store.dataset import Dataset
from shiftscope.store.run_log import read_rows, read_run

SCENES = scenes_of(40)


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    made = {"train": questions_of(60, SCENES, "train"), "test": questions_of(200, SCENES)}
    return dataset(tmp_path_factory.mktemp("covr") / "data", made, SCENES).folder


@pytest.mark.parametrize(
    ("program", "shape"),
    [
        ("count(keys(keep(group(find(dog)), equal, 2)))", QuestionShape("count_group_by", "equal", 2, 0, 2)),
        ("count(keep(group(find(dog)), at_least, 2))", QuestionShape("count_group_by", "at_least", 2, 0, 2)),
        ("count(images(find(dog)))", QuestionShape("count_group_by", "at_least", 1, 0)),
        (
            "at_least(count(keep(group(find(dog)), equal, 2)), 1)",
            QuestionShape("verify_count_group_by", "at_least", 1, 0, 2),
        ),
        ("less(count(find(dog)), 4)", QuestionShape("verify_count", "less", 4, 0)),
        ("none(find(dog), verify(it(), attribute=red))", QuestionShape("verify_quant", "none", None, 0)),
        ("count(find(dog))", None),
        ("greater(count(find(dog)), count(find(cat)))", None),
        ("exist(find(dog))", None),
    ],
)
def test_a_program_tells_what_kind_of_question_it_is(program, shape):
    assert find_shape(parse_program(program)) == shape


def test_replies_are_summed_or_joined_by_or_and_nothing_else():
    assert combine_answers("sum", [1, 0, 1]) == 2
    assert combine_answers("or", [False, True]) is True
    assert combine_answers("or", [False, False]) is False
    assert combine_answers("one", [False, True]) is True
    assert combine_answers("one", [True, True]) is combine_answers("one", [False, False]) is False
    assert combine_answers("sum", [1, True]) is None
    assert combine_answers("sum", [True, False]) is None
    assert combine_answers("or", ["yes", True]) is None


def test_each_image_stands_in_its_place_among_images_without_what_is_counted(toys):
    data = SourceSplit(toys)
    plan = segment_combine.plan(data, SegmentCombineOptions())
    (exam,) = plan.test_sets
    wholes = {q.id: q for q in exam.questions if q.note("part of") is None}
    parts = [q for q in exam.questions if q.note("part of") is not None]
    few = 0
    assert len(wholes) > 15
    assert len(parts) == sum(len(q.scenes) for q in wholes.values())
    for part in parts:
        whole = wholes[part.note("part of")]
        k = int(part.id.removeprefix(f"{whole.id}+image")) - 1
        assert part.text == whole.text
        assert part.scenes[k] == whole.scenes[k]
        fillers = [name for at, name in enumerate(part.scenes) if at != k]
        assert not set(fillers) & set(whole.scenes)
        assert len({*fillers}) == len(fillers)
        counted, kept = parse_counted(whole), find_shape(whole.program).keep
        many = [data.answer(counted, (name,)).bit_count() for name in fillers]
        if kept >= 0 and whole.program.nodes[kept].params[0] == "at_most":
            assert min(many) > int(whole.program.nodes[kept].params[1])
            few += 1
        else:
            assert not any(many)
    assert few


def parse_counted(question):
    from shiftscope.lang.program import Program

    return Program(question.program.nodes[: find_shape(question.program).counted + 1])


def test_what_has_no_segments_is_counted_by_its_reason(toys):
    plan = segment_combine.plan(SourceSplit(toys), SegmentCombineOptions())
    reasons = dict(plan.left_out)
    assert set(reasons) == {segment_combine.OTHER, segment_combine.NOT_ONE, segment_combine.NO_FILLERS}
    wholes = sum(q.note("part of") is None for q in plan.test_sets[0].questions)
    assert plan.considered == 200 == wholes + sum(reasons.values())


def test_oracle_execution_scores_everything(toys, tmp_path):
    made = take_test("segment_combine", RunSpec("oracle", toys), tmp_path / "out")
    assert [dict(line.of)["template"] for line in made.lines] == [
        *("count_group_by", "verify_count_group_by", "verify_count_group_by, exactly 1", "all")
    ]
    for line in made.lines:
        scores = {s.metric: s for s in line.scores}
        assert scores["original"].value == scores["combined"].value == scores["same_answer"].value == 1
        assert scores["drop"].value == 0
        assert scores["combined"].n > 0


def test_the_combined_run_pairs_each_question_with_its_segments(toys, tmp_path):
    made = take_test("segment_combine", RunSpec("question_only", toys), tmp_path / "out")
    said = {p.question: p.answer for _, p in read_rows(tmp_path / "out/runs/segments")}
    whole = {q.id: q for q in SourceSplit(toys).questions()}
    for row, prediction in read_rows(tmp_path / "out/runs/combined"):
        if row.twin:
            parts = [a for name, a in said.items() if name.startswith(f"{row.twin}+image")]
            fusion = segment_combine.find_fusion(find_shape(whole[row.twin].program))
            assert prediction.answer == combine_answers(fusion, parts)
    log = read_run(tmp_path / "out/runs/combined")
    assert log.finished
    assert len(log.records) == log.questions
    stored = json.loads((tmp_path / "out/result.json").read_text())
    assert stored == json.loads(json.dumps(made.to_json()))


def test_a_segment_without_a_readable_reply_leaves_the_whole_without_one(tmp_path):
    scenes = {s.id: s for s in (graph("a", "dog, dog"), graph("b", "dog"), graph("c", "cat"), graph("d", "hat"))}
    one = asked(
        "q",
        "How many images contain at least 1 dog?",
        "count(keys(keep(group(find(dog)), at_least, 1)))",
        scenes,
        ("a", "b"),
    )
    data = dataset(tmp_path / "data", {"test": [one]}, scenes, 1).folder
    said = tmp_path / "said.json"
    said.write_text(json.dumps({"q": 2, "q+image1": "who knows", "q+image2": 1}))
    made = take_test("segment_combine", RunSpec(f"predictions:{said}", data), tmp_path / "out")
    (line,) = made.lines
    scores = {s.metric: s for s in line.scores}
    assert (scores["original"].value, scores["combined"].value, scores["combined"].unreadable) == (1, 0, 1)


def test_a_segment_without_a_reply_counts_as_wrong_and_is_told(tmp_path):
    scenes = {s.id: s for s in (graph("a", "dog, dog"), graph("b", "dog"), graph("c", "cat"), graph("d", "hat"))}
    program = "count(keys(keep(group(find(dog)), at_least, 1)))"
    both = [asked(n, "How many images contain at least 1 dog?", program, scenes, ("a", "b")) for n in ("p", "q")]
    data = dataset(tmp_path / "data", {"test": both}, scenes, 1).folder
    said = tmp_path / "said.json"
    said.write_text(json.dumps({"p": 2, "p+image1": 1, "p+image2": 1, "q": 2, "q+image2": 1}))
    made = take_test("segment_combine", RunSpec(f"predictions:{said}", data), tmp_path / "out")
    scores = {s.metric: s for s in made.lines[0].scores}
    assert (scores["combined"].value, scores["combined"].n, scores["combined"].missing) == (0.5, 2, 1)
    said.write_text(json.dumps({"p": 2, "p+image1": 1, "p+image2": 1, "q": 2, "q+image1": 0, "q+image2": 1}))
    made = take_test("segment_combine", RunSpec(f"predictions:{said}", data), tmp_path / "all of them")
    scores = {s.metric: s for s in made.lines[0].scores}
    assert (scores["combined"].value, scores["combined"].n, scores["combined"].missing) == (0.5, 2, 0)


def test_a_split_with_too_few_irrelevant_images_is_refused_with_the_reason(tmp_path, refuses):
    scenes = {s.id: s for s in (graph("a", "dog, dog"), graph("b", "dog"))}
    one = asked(
        "q",
        "How many images contain at least 1 dog?",
        "count(keys(keep(group(find(dog)), at_least, 1)))",
        scenes,
        ("a", "b"),
    )
    data = dataset(tmp_path / "data", {"test": [one]}, scenes, 1).folder
    with refuses(f"1 {segment_combine.NO_FILLERS}"):
        take_test("segment_combine", RunSpec("oracle", data), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_wrong_stored_answer_is_counted_and_not_asked(tmp_path, refuses):
    from dataclasses import replace

    scenes = {s.id: s for s in (graph("a", "dog"), graph("b", "dog"), graph("c", "cat"))}
    one = asked(
        "q",
        "How many images contain at least 1 dog?",
        "count(keys(keep(group(find(dog)), at_least, 1)))",
        scenes,
        ("a", "b"),
    )
    data = dataset(tmp_path / "data", {"test": [replace(one, answer=1)]}, scenes, 1).folder
    with refuses(f"1 {WRONG_ANSWER}"):
        take_test("segment_combine", RunSpec("oracle", data), tmp_path / "out")


def test_the_draw_chooses_the_irrelevant_images_and_nothing_else(toys):
    first, second = (
        segment_combine.plan(SourceSplit(toys), SegmentCombineOptions(seed)).test_sets[0].questions for seed in (0, 1)
    )
    again = segment_combine.plan(SourceSplit(toys), SegmentCombineOptions()).test_sets[0].questions
    assert first == again
    assert [q.id for q in first] == [q.id for q in second]
    assert first != second


def test_the_questions_are_a_dataset_that_shares_its_images(toys, tmp_path):
    take_test("segment_combine", RunSpec("oracle", toys, limit=3), tmp_path / "out")
    made = Dataset.open(tmp_path / "out/data/segments")
    made.verify()
    base = Dataset.open(toys)
    there = {s.images.digest for s in made.shards() if s.images}
    assert there <= {s.images.digest for s in base.shards() if s.images}
    for shard in made.shards():
        file = tmp_path / "out/data/segments" / shard.images.path
        assert file.stat().st_nlink > 1
    wholes = [q for q in made.questions() if q.note("part of") is None]
    assert len(wholes) == 3
