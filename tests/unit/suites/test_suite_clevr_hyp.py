"""CLEVR_HYP's suite: what an order makes, of our scenes or a user's, and that models find their way in it."""

import json
from collections import Counter
from dataclasses import replace

import pytest

from command import make_here
from shiftscope.formats.clevr import write_scenes
from shiftscope.prompt import join_action
from shiftscope.question import Question
from shiftscope.questions.answer_space import list_answers
from shiftscope.run.evaluate import RunSpec as Run
from shiftscope.run.evaluate import evaluate
from shiftscope.run.make import make
from shiftscope.run.question_source import open_source
from shiftscope.store.dataset import Dataset
from shiftscope.suites.clevr_hyp.suite import (
    SUITE,
    ClevrHypSpec,
    HypStatistics,
    compute_statistics,
    format_shares,
    list_shortages,
)
from shiftscope.world import clevr as world

SMALL = ClevrHypSpec(images=14, shard=5, size=(160, 112), placements=4)
SPLITS = [
    *("train", "val", "test", "balanced_train", "balanced_val", "balanced_test"),
    *("two_hop_actions", "two_hop_questions"),
]  # fmt: skip


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return make("clevr_hyp", SMALL, tmp_path_factory.mktemp("hyp") / "made", workers=1)


def test_the_sizes_are_those_of_the_paper():
    order = ClevrHypSpec()
    assert order.pools() == {"train": 5000, "val": 1000, "test": 1000}
    assert order.jobs() == dict(zip(SPLITS, (20, 4, 4, 20, 4, 4, 4, 4), strict=True))
    assert (order.placements, order.size) == (20, (480, 320))
    assert ClevrHypSpec(images=3).pools() == {"train": 3, "val": 0, "test": 0}
    assert ClevrHypSpec(images=3).jobs() == {"train": 1, "balanced_train": 1}


def test_an_order_survives_its_spec():
    assert ClevrHypSpec.of(SMALL.spec()) == SMALL


@pytest.mark.parametrize("wrong", [{"images": 0}, {"placements": 0}, {"placements": 1001}, {"shard": 0}])
def test_an_order_that_makes_no_sense_is_refused(wrong, refuses):
    with refuses("placements go from 1 to 1,000" if "placements" in wrong else "must be at least 1"):
        ClevrHypSpec(**wrong)


def test_a_dataset_has_every_partition(dataset):
    assert list(dataset.splits) == SPLITS
    assert [dataset.count(s)[0] for s in SPLITS] == [10, 2, 2, 0, 0, 0, 0, 0]
    counts = {s: dataset.count(s)[1] for s in SPLITS}
    assert 225 <= counts["train"] <= 250
    assert 24 * 5 <= counts["balanced_train"] <= 27 * 5
    assert 20 <= counts["two_hop_actions"] <= 30 and 20 <= counts["two_hop_questions"] <= 30


def test_an_example_of_a_two_hop_set_finds_its_image(dataset):
    example = dataset.example(0, "two_hop_actions")
    assert example.question.scenes == (example.images[0].id,)
    assert example.question.note("joined").startswith(("If ", "Suppose "))
    assert 4 <= len(example.images[0].scene.objects) <= 10


def test_a_shard_is_a_function_of_its_spec(dataset):
    images, questions = SUITE.make_shard(SMALL.spec(), "test", 0)
    assert [q.content_id() for q in questions] == [q.content_id() for q in dataset.questions("test")]
    assert [i.png for i in images] == [i.png for i in dataset.images("test")]


def test_statistics_count_what_is_there(dataset):
    found = {f.split: f for f in compute_statistics(dataset)}
    train = found["train"]
    assert train.questions == dataset.count("train")[1]
    assert train.images == 10
    assert train.actions == len({(q.scenes, q.action) for q in dataset.questions("train")})
    assert train.types == Counter(q.kind for q in dataset.questions("train"))
    assert 0 < train.refused_share < 1
    assert [found[s].wanted for s in SPLITS] == [250, 50, 50, 135, 27, 27, 30, 30]
    assert train.shortage == ("" if train.questions == 250 else f"train: {train.questions} of 250")
    assert found["balanced_test"].answers.total() == found["balanced_test"].questions
    assert format_shares(Counter({"b": 1, "a": 3})) == "a 75.0%, b 25.0%"
    card = (dataset.folder / "README.md").read_text()
    assert "### Distribution of question types" in card
    assert "| train | 10 |" in card


@pytest.mark.parametrize(
    ("model", "split", "least", "most"),
    [
        ("oracle", "test", 1, 1),
        ("oracle", "two_hop_actions", 1, 1),
        ("oracle", "two_hop_questions", 1, 1),
        ("action_ignored", "test", 0, 0),
        ("action_ignored", "balanced_test", 0, 0),
        ("question_only", "balanced_test", 0.02, 0.35),  # 27 questions, each answer once
        ("majority", "balanced_test", 1 / 27, 1 / 24),  # whichever it gives; two scenes may not allow all 27
        ("majority", "test", 0.2, 0.5),  # yes or no, which is 3 questions of 5
        ("random", "train", 0.28, 0.46),  # of 250; a half of yes and no, less of numbers and values
    ],
)
def test_reference_points(dataset, tmp_path, model, split, least, most):
    log = evaluate(Run(model, dataset.folder, split), tmp_path / "run")
    assert least <= log.records.right.mean() <= most
    assert set(log.records.column("action").values) <= {
        *("add", "remove", "change", "move_in_plane", "move_on_top"),
        *("add+remove", "add+change", "add+move", "remove+change", "remove+move", "change+move"),
    }


def test_what_is_short_is_told_in_full():
    few = [
        HypStatistics("train", questions=1480, wanted=1500),
        HypStatistics("balanced_train", questions=27, wanted=27),
    ]
    assert few[0].shortage == "train: 1,480 of 1,500" and few[1].shortage == ""
    told = list_shortages(few)
    assert "- train: 1,480 of 1,500" in told
    assert told[-1] == (
        "With fewer than 7 images there is no val, test, balanced_val, balanced_test, two_hop_actions, "
        "two_hop_questions."
    )
    assert list_shortages([HypStatistics(split) for split in SPLITS]) == []


def test_the_share_refused_is_of_what_was_tried_in_several_places():
    assert HypStatistics("train", placed=3, elsewhere=1, placements=20).refused_share == 0.25
    assert HypStatistics("train", placed=3, elsewhere=1, placements=20).to_row()[-1] == "25.0%"
    assert HypStatistics("train", placed=3, placements=1).refused_share is None
    assert HypStatistics("train", placed=3, placements=1).to_row()[-1] == ""


def test_random_answers_are_among_the_27(dataset):
    counted = next(q for q in dataset.questions("test") if q.kind == "count")
    assert list_answers(counted, next(dataset.images("test")).scene.schema) == tuple(range(10))


def test_action_and_question_may_be_asked_in_one_text(dataset, tmp_path):
    (item, *_) = open_source(dataset.folder).prompts("test", "short", True).iter_examples("as_is")
    assert item.prompt.text.startswith(f"{item.question.note('joined')}\n")
    assert "Suppose the following" not in item.prompt.text and item.prompt.question.action == ""
    order = Run("oracle", dataset.folder, "test", joined=True)
    assert order.spec(open_source(dataset.folder))["joined"] is True
    assert "joined" not in replace(order, joined=False).spec(open_source(dataset.folder))
    assert evaluate(order, tmp_path / "run").records.right.all()


def test_a_question_that_was_never_joined_can_not_be_asked_so(refuses):
    plain = Question("q", "How many cubes are there?", ("s",))
    assert join_action(plain) == plain
    with refuses("question 'q' has no text that joins it and its action; leave out --joined"):
        join_action(replace(plain, action="Paint the cube red."))


def test_scenes_without_pictures_are_kept_and_asked_about(tmp_path):
    order = ClevrHypSpec(images=7, pictured=False, placements=1)
    made = make("clevr_hyp", order, tmp_path / "bare", workers=1)
    (image, *_) = made.images("test")
    assert image.png == b"" and image.scene.objects
    log = evaluate(Run("oracle", made.folder), tmp_path / "run")
    assert log.records.right.all()


def test_a_users_own_scenes(tmp_path):
    few = [world.sample_scene(1, "mine", i, world.ClevrRules(objects=(3, 3))) for i in range(2)]
    fit = [world.sample_scene(2, "mine", 10 + i, world.ClevrRules(objects=(5, 6))) for i in range(7)]
    path = tmp_path / "scenes.json"
    write_scenes(path, [*few, *fit])
    made, left_out = SUITE.make(ClevrHypSpec(placements=2, pictured=False), tmp_path / "made", (path, None), workers=1)
    assert left_out == 2
    assert made.count("train")[0] == 5 and made.count("test")[0] == 1
    assert made.manifest.spec["images"] == 7
    asked = {q.scenes[0] for split in made.splits for q in made.questions(split)}
    assert asked == {s.id for s in fit}


def test_a_number_of_images_takes_the_first_scenes_that_do(tmp_path, capsys):
    few = [world.sample_scene(1, "mine", 0, world.ClevrRules(objects=(3, 3)))]
    fit = [world.sample_scene(2, "mine", 10 + i, world.ClevrRules(objects=(5, 6))) for i in range(4)]
    write_scenes(tmp_path / "scenes.json", [*few, *fit])
    out = tmp_path / "made"
    make_here("clevr_hyp", out, images=2, scenes=tmp_path / "scenes.json", placements=1, pictured=True, workers=1)
    assert [i.scene.id for i in Dataset.open(out).images()] == [s.id for s in fit[:2]]
    told = capsys.readouterr().out
    assert "With fewer than 7 images there is no val, test," in told
    assert "1 scenes do not have 4 to 10 objects" in told
    assert "With fewer than 7 images there is no val, test," in (out / "README.md").read_text()


@pytest.mark.parametrize("gone", ["directions", "3d_coords"])
def test_scenes_without_places_are_refused_before_anything_is_written(tmp_path, refuses, gone):
    path = tmp_path / "scenes.json"
    write_scenes(path, [world.sample_scene(2, "mine", i, world.ClevrRules(objects=(5, 6))) for i in range(2)])
    told = json.loads(path.read_text())
    for scene in told["scenes"]:
        for place in (scene, *scene["objects"]):
            place.pop(gone, None)
    path.write_text(json.dumps(told))
    with refuses("scenes.json: scene"):
        SUITE.make(ClevrHypSpec(pictured=False), tmp_path / "made", (path, None), workers=1)
    assert not (tmp_path / "made").exists()


def test_a_paraphraser_that_is_not_there_is_refused_before_anything_is_written(tmp_path, refuses):
    wrong = str(tmp_path / "nosuch")
    path = tmp_path / "scenes.json"
    write_scenes(path, [world.sample_scene(2, "mine", 0, world.ClevrRules(objects=(5, 6)))])
    order = ClevrHypSpec(images=1, pictured=False, paraphraser=wrong)
    with refuses("nosuch' is no seq2seq model that opens here"):
        make("clevr_hyp", order, tmp_path / "made", workers=1)
    with refuses("nosuch' is no seq2seq model that opens here"):
        SUITE.make(order, tmp_path / "made", (path, None), workers=1)
    assert not (tmp_path / "made").exists()


def test_the_command_prints_the_statistics(tmp_path, capsys):
    make_here("clevr_hyp", tmp_path / "made", images=7, placements=1, pictured=True, workers=1, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert list(told["splits"]) == SPLITS
    assert told["splits"]["test"]["images"] == 1
    assert len(Dataset.open(tmp_path / "made")) == sum(s["questions"] for s in told["splits"].values())


def test_an_example_is_shown_with_both_programs_and_the_scene_after(dataset, tmp_path, capsys):
    from shiftscope.cli.show import show_example

    show_example(dataset.folder, "two_hop_actions", 0, tmp_path / "is.png", False, tmp_path / "would_be.png")
    told = capsys.readouterr().out
    for line in (
        "action    ",
        "question  ",
        "answer    ",
        "does      ",
        "asks      ",
        "before the action",
        "after the action",
    ):
        assert f"\n{line}" in f"\n{told}"
    assert (tmp_path / "is.png").read_bytes()[:4] == (tmp_path / "would_be.png").read_bytes()[:4] == b"\x89PNG"
    assert (tmp_path / "is.png").read_bytes() != (tmp_path / "would_be.png").read_bytes()


def test_a_picture_that_was_not_drawn_can_not_be_saved(tmp_path, refuses):
    from shiftscope.cli.show import show_example

    made = make("clevr_hyp", ClevrHypSpec(images=1, pictured=False, placements=1), tmp_path / "bare", workers=1)
    with refuses("holds scenes without pictures; make it without --no-images"):
        show_example(made.folder, "", 0, tmp_path / "is.png", False)
