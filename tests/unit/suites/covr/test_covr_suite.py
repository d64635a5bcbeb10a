"""The COVR suite: what is made of scene graphs, and what is refused."""

import json
import shutil
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from io import BytesIO
from types import ModuleType

import pytest
from PIL import Image

from graphs import graph, random_graph
from shiftscope.answer import is_same_answer
from shiftscope.errors import UserError
from shiftscope.formats import clevr
from shiftscope.formats.gqa import write_scenes
from shiftscope.formats.visual_genome import write_scenes as write_regions
from shiftscope.lang.exec.exact import execute
from shiftscope.store.dataset import Dataset
from shiftscope.store.exports import export_dataset
from shiftscope.suites import describe_verification
from shiftscope.suites.covr import reported as paper
from shiftscope.suites.covr.make import CovrYield, build_covr_spec, list_empty_splits, read_yield
from shiftscope.suites.covr.suite import SUITE, CovrSpec
from shiftscope.suites.graph_inputs import GraphInputs, identify_pictures, iter_scenes, load_stored_image
from shiftscope.suites.split_graphs import _assign_split
from shiftscope.suites.split_graphs import read_user_graphs as lines_of
from toy import THREE_AND_ONE

ASKED = {"questions": (60, 30, 30), "sources": 3, "subgraphs": 3, "shard": 25}
MORE = {"sources": 8, "subgraphs": 5}


def given(path, out, *, held_out=(), images=None, overlap=("schema",), repair=False, **rest):
    order, inputs = build_covr_spec([path], held_out, images, overlap, **{**ASKED, **rest})
    return SUITE.make(order, out, inputs, workers=1, repair=repair)


def region(scene, picture):
    """The graph as one of a region, whose things have names of their own."""
    named = [replace(o, id=f"{o.values('name')[0]}:{k}") for k, o in enumerate(scene.objects)]
    return replace(scene, objects=tuple(named), notes=(("image_id", picture), ("caption", "so it is")))


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("graphs") / "graphs.json"
    write_scenes(path, [random_graph(1, k) for k in range(240)])
    return path


@pytest.fixture(scope="module")
def made(file, tmp_path_factory):
    return given(file, tmp_path_factory.mktemp("covr") / "data", **MORE)[0]


def test_every_stored_answer_is_what_its_program_gives(made):
    assert len(made) > 60
    for example in made.examples():
        scenes = [image.scene for image in example.images]
        assert 1 <= len(set(example.question.scenes)) == len(scenes) <= 5
        assert is_same_answer(execute(example.question.program, scenes).answer, example.question.answer)


def test_an_image_is_in_one_split_and_is_there_because_it_is_asked_about(made):
    stored, asked = defaultdict(set), defaultdict(set)
    for split in made.splits:
        stored[split] = {image.id for image in made.images(split)}
        asked[split] = {image for q in made.questions(split) for image in q.scenes}
        assert stored[split] == asked[split]
    assert sum(map(len, stored.values())) == len(set().union(*stored.values()))


def test_val_and_test_share_no_words(made):
    texts = [{q.text for q in made.questions(split)} for split in ("val", "test")]
    assert all(texts)
    assert not texts[0] & texts[1]
    said = [{q.note("paraphrase") for q in made.questions(split)} for split in ("val", "test")]
    assert all(said)
    assert not (texts[0] | said[0]) & (texts[1] | said[1])


def test_no_template_has_more_than_its_share(made):
    counts = Counter(q.provenance.template for q in made.questions("train"))
    assert len(counts) > 8
    assert max(counts.values()) <= 60 // 15


def test_a_pair_has_the_same_words_other_images_and_another_answer(made):
    questions = {q.id: q for q in made.questions()}
    assert len(questions) == len(made)
    paired = [q for q in questions.values() if q.note("pair")]
    assert len(paired) > len(questions) / 3
    for q in paired:
        other = questions[q.note("pair")]
        assert other.text == q.text
        assert set(other.scenes) != set(q.scenes)
        assert not is_same_answer(other.answer, q.answer)


def test_names_and_splits_are_given(made):
    for split in made.splits:
        names = [q.id for q in made.questions(split)]
        assert names == [f"covr_{split}_{k:06d}" for k in range(len(names))]
        assert {q.provenance.split for q in made.questions(split)} == {split}


def test_the_card_has_the_statistics_and_says_who_judged(made):
    card = (made.folder / "README.md").read_text("utf-8")
    assert "unique questions" in card
    assert "decided by schema" in card
    assert "no model looked for what they lack" in card
    assert "reported: COVR (Bogin et al., 2021)" in card
    assert "MajTempl 41.5%" in card


def test_it_says_what_came_of_the_graphs(made):
    found = read_yield(made.folder)
    assert sum(found.graphs.values()) == 240
    assert found.sources["train"] == 8
    assert sum(found.asked["train"].values()) > 60


def test_a_finished_dataset_is_not_made_again_and_no_work_is_left(made, file, monkeypatch):
    monkeypatch.setattr("shiftscope.suites.covr.make.run_stages", None)
    again, came = given(file, made.folder, **MORE)
    assert again.manifest == made.manifest
    assert came == read_yield(made.folder)
    assert {p.name for p in made.folder.iterdir() if p.name.startswith(".")} == set()


def test_another_order_in_the_same_folder_is_refused_before_any_work(made, file, refuses):
    with refuses("another spec (seed 0 there, 1 here)"):
        given(file, made.folder, seed=1, **MORE)


def test_damage_is_found_and_repaired(made, file, tmp_path, refuses):
    folder = tmp_path / "damaged"
    shutil.copytree(made.folder, folder)
    path = next(folder.glob("questions/val/*.parquet"))
    before = path.read_bytes()
    path.write_bytes(before[:-9] + b"something")
    with refuses("is not what was written there"):
        given(file, folder, **MORE)
    given(file, folder, repair=True, **MORE)
    assert path.read_bytes() == before


def test_easy_distractors_are_another_dataset(made, file, tmp_path):
    easy = given(file, tmp_path / "easy", easy_distractors=True)[0]
    assert "Distractors are random images" in (easy.folder / "README.md").read_text("utf-8")
    for example in easy.examples("test"):
        scenes = [image.scene for image in example.images]
        assert is_same_answer(execute(example.question.program, scenes).answer, example.question.answer)
    assert [q.scenes for q in easy.questions()] != [q.scenes for q in made.questions()]


def test_questions_can_be_told_in_other_words(file, tmp_path):
    made, _ = given(file, tmp_path / "told", paraphrased=True)
    texts = {split: {q.text for q in made.questions(split)} for split in made.splits}
    assert not texts["val"] & texts["test"]
    said = [(q.text, q.note("generated")) for q in made.questions()]
    assert all(own for _, own in said)
    assert sum(text != own for text, own in said) > len(said) / 2
    for example in made.examples("test"):
        scenes = [image.scene for image in example.images]
        assert is_same_answer(execute(example.question.program, scenes).answer, example.question.answer)


def test_both_official_forms_are_written_and_read_back(made, tmp_path):
    from shiftscope.formats import read_questions, read_scenes

    stored = {q.id: q for q in made.questions("test")}
    for form in ("covr", "covr_compositional"):
        out = export_dataset(made.folder, form, tmp_path / form)
        scenes = {s.id: s for s in read_scenes(out / "scenes" / "test.json")}
        read = list(read_questions(out / "test.jsonl"))
        assert [q.id for q in read] == list(stored)
        for q in read:
            assert (q.text, q.scenes, q.provenance.template) == (
                stored[q.id].text,
                stored[q.id].scenes,
                stored[q.id].provenance.template,
            )
            answer = execute(q.program, [scenes[s] for s in q.scenes]).answer
            assert is_same_answer(answer, stored[q.id].answer)
    lines = [(tmp_path / form / "test.jsonl").read_text("utf-8") for form in ("covr", "covr_compositional")]
    assert lines[0] != lines[1]


def test_an_image_stays_in_its_split_whatever_else_is_there():
    splits = Counter(_assign_split("", str(k), 6, False, False) for k in range(6000))
    assert splits.keys() == {"train", "val", "test"}
    assert all(900 < splits[s] < 1100 for s in ("val", "test"))
    assert _assign_split("test", "1", 6, False, False) == "test"  # as its own dataset has it
    assert {_assign_split("", str(k), 6, True, True) for k in range(20)} == {"val", "test"}
    assert {_assign_split("", str(k), 6, False, True) for k in range(20)} == {"train"}


def test_regions_of_one_picture_go_together_and_never_meet_in_a_question(tmp_path):
    regions = [region(random_graph(2, k), str(k // 2)) for k in range(240)]
    write_regions(tmp_path / "regions.csv", [*regions, regions[0]])  # one is described twice
    made, came = given(tmp_path / "regions.csv", tmp_path / "out")
    assert came.left_out["repeated"] == 1
    picture = {image.id: image.scene.note("image_id") for image in made.images()}
    seen = {split: {picture[i] for q in made.questions(split) for i in q.scenes} for split in made.splits}
    assert not seen["train"] & (seen["val"] | seen["test"])
    for q in made.questions():
        assert len({picture[i] for i in q.scenes}) == len(q.scenes)


def test_pictures_are_taken_along_png_as_it_is_jpeg_converted(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    scenes = [random_graph(3, k) for k in range(200)]
    for scene in scenes[:-20]:
        picture = Image.new("RGB", (8, 6), (int(scene.id), 100, 50))
        picture.save(folder / f"{scene.id}.{'png' if int(scene.id) % 2 else 'jpg'}")
    write_scenes(tmp_path / "g.json", scenes)
    made, came = given(tmp_path / "g.json", tmp_path / "out", images=folder)
    assert came.left_out["without_picture"] == 20
    kept = 0
    for image in made.images():
        with Image.open(BytesIO(image.png)) as opened:
            assert abs(opened.convert("RGB").getpixel((0, 0))[0] - int(image.id)) < 4
        if int(image.id) % 2:
            kept += 1
            assert image.png == (folder / f"{image.id}.png").read_bytes()
    assert kept


def test_other_pictures_in_a_folder_of_the_same_name_are_other_data(tmp_path, refuses):
    scenes = [random_graph(3, k) for k in range(80)]
    write_scenes(tmp_path / "g.json", scenes)
    for where, shade in (("a", 10), ("b", 20), ("c", 10)):
        folder = tmp_path / where / "pictures"
        folder.mkdir(parents=True)
        for scene in scenes:
            Image.new("RGB", (8, 6), (int(scene.id), shade, 0)).save(folder / f"{scene.id}.png")
    first, second, third = (tmp_path / where / "pictures" for where in "abc")
    assert identify_pictures(first) == identify_pictures(third) != identify_pictures(second)
    assert identify_pictures(first).startswith("pictures ")
    (third / "0.png").unlink()
    assert identify_pictures(first) != identify_pictures(third)
    few = {"questions": (15, 15, 15), "sources": 2}
    given(tmp_path / "g.json", tmp_path / "out", images=first, **few)
    with refuses('holds a dataset with another spec (images "pictures '):
        given(tmp_path / "g.json", tmp_path / "out", images=second, **few)


def test_an_unfinished_build_reads_graphs_again_for_other_pictures(tmp_path, monkeypatch, refuses):
    scenes = [random_graph(3, k) for k in range(80)]
    write_scenes(tmp_path / "g.json", scenes)
    for where, missing in (("a", 15), ("b", 5)):
        (tmp_path / where / "pictures").mkdir(parents=True)
        for scene in scenes[missing:]:
            Image.new("RGB", (8, 6)).save(tmp_path / where / "pictures" / f"{scene.id}.png")

    def stop(*_):
        raise KeyboardInterrupt

    few = {"questions": (15, 15, 15), "sources": 2}
    with monkeypatch.context() as patch, refuses("run the same command again"):
        patch.setattr("shiftscope.suites.covr.candidates.select_questions", stop)
        given(tmp_path / "g.json", tmp_path / "out", images=tmp_path / "a" / "pictures", **few)
    _, came = given(tmp_path / "g.json", tmp_path / "out", images=tmp_path / "b" / "pictures", **few)
    assert came.left_out["without_picture"] == 5


def laid_out(*files, held_out=()):
    """The lines of files, and what was left out."""
    about = dict.fromkeys(("repeated", "empty", "without_picture"), 0)
    return list(lines_of(GraphInputs(files, held_out), 6, lambda *_: None, about)), about


def test_a_picture_is_in_one_split_whatever_files_have_regions_of_it(tmp_path):
    regions = [region(random_graph(2, k), str(k % 20)) for k in range(60)]
    write_regions(tmp_path / "train.csv", regions[:30])  # all of the 20 pictures
    write_regions(tmp_path / "val.csv", [*regions[30:], region(random_graph(2, 99), "alone")])
    lines, about = laid_out(tmp_path / "train.csv", held_out=(tmp_path / "val.csv",))
    assert about["of_pictures_in_another_split"] == 30
    splits = defaultdict(set)
    for split, scene, _ in lines:
        splits[scene.note("image_id")].add(split)
    assert all(len(found) == 1 for found in splits.values())
    assert splits["alone"] <= {"val", "test"}


def test_datasets_that_disagree_on_a_split_are_not_mixed(made, tmp_path):
    folder = tmp_path / "again"
    shutil.copytree(made.folder, folder)
    moved = {"train": "val", "val": "test", "test": "train"}

    def named(path):
        for split, scene in iter_scenes(path):
            other = path == folder
            notes = (("image_id", scene.id), ("caption", str(path)))
            yield moved[split] if other else split, replace(scene, id=f"{scene.id}{other}", notes=notes)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shiftscope.suites.split_graphs.iter_scenes", named)
        lines, about = laid_out(made.folder, folder)
    assert about["of_pictures_in_another_split"] == len(lines) == len(list(made.images()))


def test_files_in_different_words_are_refused_with_their_names(file, tmp_path, refuses):
    clevr.write_scenes(tmp_path / "s.json", [replace(THREE_AND_ONE, notes=(("image_filename", "a.png"),))])
    with refuses(f"s.json: image 'a' is described in the words of clevr, those of {file} in the words of"):
        laid_out(file, tmp_path / "s.json")


def test_graphs_for_val_and_test_can_be_named(file, tmp_path):
    write_scenes(tmp_path / "held.json", [random_graph(4, k) for k in range(240, 400)])
    made, _ = given(file, tmp_path / "out", held_out=[tmp_path / "held.json"])
    named = {split: {int(i) for q in made.questions(split) for i in q.scenes} for split in made.splits}
    assert max(named["train"]) < 240 <= min(named["val"] | named["test"])


def test_our_own_dataset_keeps_its_splits_and_pictures(tmp_path):
    order = CovrSpec(n=36, size=(96, 64), questions=(15, 15, 15), subgraphs=3, shard=20)
    world, came = SUITE.make(order, tmp_path / "world", workers=1)
    assert came.graphs == {"train": 24, "val": 6, "test": 6}
    first = next(iter(world.images("train")))
    assert first.size == (96, 64)
    assert first.mask is not None
    relations = {w for q in world.questions() for kind, w in q.note("nodes") if kind == "relation"}
    assert relations <= {"left", "right", "front", "behind"}
    again, _ = given(world.folder, tmp_path / "again", overlap=(), questions=(15, 15, 15), subgraphs=3)
    for split in again.splits:
        pictures = {image.id: image.png for image in world.images(split)}
        for image in again.images(split):
            assert image.png == pictures[image.id]
    for example in (*world.examples("test"), *again.examples("test")):
        scenes = [image.scene for image in example.images]
        assert is_same_answer(execute(example.question.program, scenes).answer, example.question.answer)


WRITTEN = {"wearing": ("wears", "has on"), "holding": ("hold",), "under": ("in back of",), "on": ("lay on",)}


def test_scenes_are_stored_in_the_words_of_their_questions(tmp_path):
    scenes = []
    for k in range(240):
        scene = random_graph(1, k)
        names = [WRITTEN.get(r.name, (r.name,)) for r in scene.relations]
        called = [replace(r, name=n[k % len(n)]) for r, n in zip(scene.relations, names, strict=True)]
        scenes.append(replace(scene, relations=tuple(called)))
    write_scenes(tmp_path / "written.json", scenes)
    made, _ = given(tmp_path / "written.json", tmp_path / "data", **MORE)
    for example in made.examples():
        question, shown = example.question, [image.scene for image in example.images]
        assert is_same_answer(execute(question.program, shown).answer, question.answer)
        if question.kind == "or":
            assert str(question.answer) in question.text
    stored_as = {r.name for image in made.images() for r in image.scene.relations}
    assert {"wearing", "holding", "behind", "lying on"} <= stored_as
    assert not stored_as & {name for names in WRITTEN.values() for name in names}
    assert "`has on` is `wearing`" in (made.folder / "README.md").read_text("utf-8")


def test_a_picture_of_a_dataset_comes_with_the_scene_as_it_is_asked_about(made):
    (scene, *_) = (image.scene for image in made.images("train") if image.scene.relations)
    bare = replace(scene, relations=())
    assert load_stored_image(bare, made.folder, None).scene == bare


class Seer:
    """Sees whatever it is asked about with one probability."""

    sure = 0.0

    def probability(self, texts, images):
        assert all(image.shape == (6, 8, 3) for image in images)
        return [self.sure] * len(texts)


class Everything(Seer):
    sure = 0.99


class Needy(Seer):
    def __init__(self, weights):
        self.weights = weights


class Broken(Seer):
    def __init__(self):
        raise RuntimeError("no weights")


def test_a_verifier_is_asked_and_named(tmp_path, monkeypatch, refuses):
    module = ModuleType("seeing")
    module.Nothing, module.Everything, module.Needy, module.Broken = Seer, Everything, Needy, Broken
    monkeypatch.setitem(sys.modules, "seeing", module)
    folder = tmp_path / "pictures"
    folder.mkdir()
    scenes = []
    for k in range(90):
        scene = random_graph(5, k)
        boxed = tuple(replace(o, box=(1.0, 1.0, 3.0, 2.0)) for o in scene.objects)
        scenes.append(replace(scene, objects=boxed, size=(8, 6)))
        Image.new("RGB", (8, 6)).save(folder / f"{k}.png")
    path = tmp_path / "g.json"
    write_scenes(path, scenes)
    free, _ = given(path, tmp_path / "free", images=folder, sources=3)
    seen, _ = given(path, tmp_path / "seen", images=folder, sources=3, verify="seeing:Nothing")
    assert [q.text for q in seen.questions()] == [q.text for q in free.questions()]
    assert seen.manifest.spec["verify"] == "seeing:Nothing"
    assert "checked by seeing:Nothing" in (seen.folder / "README.md").read_text("utf-8")
    try:  # where everything is seen, no image can be a distractor, nor be counted in
        none, _ = given(path, tmp_path / "none", images=folder, sources=3, verify="seeing:Everything")
    except UserError as error:
        assert "too few images" in str(error)
    else:
        assert len(none) < len(free) / 2
    with refuses("--verify seeing:Needy: it is made without arguments, and needs weights"):
        given(path, tmp_path / "x", images=folder, verify="seeing:Needy")
    with refuses("--verify seeing:Broken: it cannot be made (RuntimeError: no weights)"):
        given(path, tmp_path / "x", images=folder, verify="seeing:Broken", sources=3)
    write_scenes(path, [replace(s, objects=tuple(replace(o, box=None) for o in s.objects)) for s in scenes])
    bare, came = given(path, tmp_path / "bare", images=folder, sources=3, verify="seeing:Nothing")
    assert came.checked["counted"] == 0 < came.checked["unboxed"]
    assert f"{came.checked['unboxed']:,} more to count in were not looked at" in describe_verification(bare.folder)
    assert describe_verification(bare.folder) in (bare.folder / "README.md").read_text("utf-8")
    with refuses("it has no method probability"):
        given(path, tmp_path / "x", images=folder, verify="json:dumps")
    with refuses("no model 'clip'"):
        given(path, tmp_path / "x", images=folder, verify="clip")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "no such file"),
        ('{"1": {"objects": {"a": {"name": "dog", "attributes": [], "relations": []}}}, "2": {"obj', "valid JSON"),
        ('{"1": {"width": 5, "height": 5, "objects": {}}}', "none of its 1 graphs has an object"),
        ('{"a": 1}', "no scenes that ShiftScope knows"),
    ],
)
def test_a_file_that_is_no_scene_graphs_is_refused(text, sentence, tmp_path, refuses):
    path = tmp_path / "bad.json"
    if text is not None:
        path.write_text(text)
    with refuses(sentence):
        given(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_image_with_two_graphs_is_refused(file, tmp_path, refuses):
    write_scenes(tmp_path / "again.json", [random_graph(9, 7)])
    order, inputs = build_covr_spec([file, tmp_path / "again.json"], [], None, ["schema"], **ASKED)
    (tmp_path / "out").mkdir()
    with refuses("image '7' has two scene graphs"):
        SUITE.make(order, tmp_path / "out", inputs, workers=1)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("overlap", "sentence"),
    [
        (["wordnets"], "no overlap 'wordnets'; did you mean 'wordnet'?"),
        (["table"], "expected schema, wordnet, wordnet:FOLDER, table:FILE or nli:MODEL"),
        (["table:nowhere.csv"], "no such file"),
        (["wordnet:/nowhere"], "apt-get install wordnet-base"),
        (["schema", "schema"], "given twice"),
    ],
)
def test_an_unknown_judge_of_overlap_is_refused(overlap, sentence, file, refuses):
    with refuses(sentence):
        build_covr_spec([file], [], None, overlap, **ASKED)


def test_too_few_images_are_said_with_what_came_out(tmp_path, refuses):
    write_scenes(tmp_path / "two.json", [graph("a", "man, dog", "0 holding 1"), graph("b", "cat")])
    with refuses("too few images: the 2 graphs"):
        given(tmp_path / "two.json", tmp_path / "out")


def test_a_split_without_questions_is_named():
    came = CovrYield({"train": 1, "val": 0, "test": 30}, {}, {}, {}, {})
    assert list_empty_splits(came, ["test"]) == [
        "No question for train, which has 1 graph.",
        "No question for val, which has 0 graphs.",
    ]


def test_a_folder_without_their_pictures_is_refused(file, tmp_path, refuses):
    with refuses("there is no picture there for any of the 240 graphs"):
        given(file, tmp_path / "out", images=tmp_path)
    with refuses("no such folder of pictures"):
        given(file, tmp_path / "out", images=tmp_path / "nowhere")


def test_orders_are_checked(refuses):
    with refuses("either from scene graphs or from a world"):
        CovrSpec(graphs=("x",))
    with refuses("one number per split"):
        CovrSpec(questions=(100, 100))
    with refuses("no world 'mars'"):
        CovrSpec(world="mars")


def test_reported_figures_are_the_papers():
    assert paper.find_accuracy("Maj", "test") == 0.268
    assert paper.find_accuracy("VB iid", "val", paraphrased=True) == 0.611
    assert paper.find_accuracy("Humans", "val") is None
    assert paper.REPORTED.tables["template_accuracy"]["VB iid", "verify_count", ""] == 0.877
    assert len({template for _, template, _ in paper.REPORTED.tables["template_accuracy"]}) == 15
    for name in ("true/false", "or", "how many", "open"):
        assert name in paper.STATISTICS
    assert json.loads(json.dumps(dict(paper.STATISTICS)))["unique images"] == [79_000, 9_500]


def test_an_unfinished_dataset_does_not_open(file, tmp_path, refuses, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("shiftscope.suites.covr.candidates.select_questions", stop)
    with refuses("run the same command again to resume"):
        given(file, tmp_path / "out", questions=(15, 15, 15), sources=3)
    assert (tmp_path / "out" / ".work").is_dir()
    with refuses("no dataset there"):
        Dataset.open(tmp_path / "out")
    monkeypatch.undo()
    monkeypatch.setattr("shiftscope.suites.covr.candidates.make_candidate_block", None)  # all blocks are there
    made, _ = given(file, tmp_path / "out", questions=(15, 15, 15), sources=3)
    assert len(made) > 0


@pytest.mark.parametrize("damage", [b"{", b"\x80\x04N."])
@pytest.mark.parametrize("name", ["graphs-*/train.json", "graphs-*/about.json", "graphs-*/train.npy"])
def test_damage_in_the_hidden_folder_is_told_with_what_to_delete(name, damage, file, tmp_path, monkeypatch):
    def stopped(*_):
        raise UserError("stopped")

    monkeypatch.setattr("shiftscope.suites.covr.candidates.make_candidates", stopped)
    with pytest.raises(UserError, match="stopped"):
        given(file, tmp_path / "out")
    monkeypatch.undo()
    (path,) = (tmp_path / "out" / ".work").glob(name)
    path.write_bytes(damage)
    with pytest.raises(UserError, match=f"{path.name} is damaged; delete .*graphs-.* and run the same command"):
        given(file, tmp_path / "out")
