"""Incomplete graphs, from end to end: models that are asked, and one that is taught on what it is to check."""

import pickle
import sys
from collections import Counter
from dataclasses import replace
from io import BytesIO
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from endpoints import completion, serving
from graphs import graph, random_graph
from report_toys import log, right, study
from shiftscope.answer import is_same_answer
from shiftscope.errors import UserError
from shiftscope.executor import ONE_PROCESS, LocalExecutor
from shiftscope.formats import clevr
from shiftscope.formats.gqa import write_scenes
from shiftscope.lang.exec.exact import execute
from shiftscope.model import Response
from shiftscope.render.raster import render
from shiftscope.report.sections import method
from shiftscope.rng import derive
from shiftscope.scene import Object, Scene
from shiftscope.scene_graph.subgraph import ObjectNode, SubgraphLink
from shiftscope.scene_graph.subgraph_classifier import (
    FOLDS,
    ClassifierExample,
    choose_hidden_boxes,
    generate_classifier_examples,
    is_simple,
)
from shiftscope.schemas.gqa import SCHEMA
from shiftscope.suites import describe_verification
from shiftscope.suites.covr import train_classifier as stage
from shiftscope.suites.covr.make import build_covr_spec, read_yield
from shiftscope.suites.covr.suite import SUITE
from shiftscope.suites.covr.train_classifier import phrase_question, phrase_subgraph
from shiftscope.suites.covr.verify import find_classifier
from shiftscope.suites.graph_inputs import GraphInputs, OverlapSources
from shiftscope.suites.split_graphs import SPLITS, SplitGraphs, index_graphs, read_user_graphs, write_graphs
from shiftscope.world import superclevr as world
from toy import THREE_AND_ONE

RULES = world.SuperClevrRules(objects=(2, 5), parts=0, visual="easy", size=(96, 64))
SCENES, LOST = 90, 0.3


@pytest.fixture(scope="module")
def lossy(tmp_path_factory):
    """Vehicles rendered, called cars, of which graphs lack three in ten; and the graphs that lack none."""
    folder = tmp_path_factory.mktemp("lossy")
    (folder / "pictures").mkdir()
    drawn = [world.sample_scene(0, "verify", k, RULES) for k in range(SCENES)]
    images = render(drawn, RULES.size, ("rgb", "mask"), workers=1)
    whole, left = {}, []
    for k, scene in enumerate(drawn):
        things = tuple(
            Object((("name", "car"), ("color", o.values("color")[0])), box=tuple(map(float, box)))
            for o, box in zip(scene.objects, images.boxes[k], strict=True)
        )
        whole[str(k)] = Scene(id=str(k), schema=SCHEMA, objects=things, size=RULES.size)
        kept = derive("lost", k).random(len(things)) >= LOST
        seen = tuple(o for o, there in zip(things, kept, strict=True) if there)
        left.append(replace(whole[str(k)], objects=seen))
        Image.fromarray(images.rgb[k]).save(folder / "pictures" / f"{k}.png")
    write_scenes(folder / "graphs.json", left)
    return folder, whole


def ordered(folder, verify):
    asked = {"questions": (150, 60, 60), "sources": 25, "subgraphs": 3}
    path, pictures = folder / "graphs.json", folder / "pictures"
    return build_covr_spec([path], [], pictures, ["schema"], verify=verify, **asked)


def made(folder, out, verify=""):
    order, inputs = ordered(folder, verify)
    return SUITE.make(order, folder / out, inputs, workers=1)[0]


def stopped(*_):
    raise UserError("stopped")


def shares(dataset, whole):
    """Of distractors that do show what is asked about, and of wrong answers; where a colour is named.

    No distractor lacks a car of any colour, so that nothing can be learned about these.
    """
    found = Counter()
    for q in dataset.questions():
        color = next((name for kind, name in q.note("nodes") if kind == "attribute"), None)
        if color is None:
            continue
        told = execute(q.program, [whole[i] for i in q.scenes]).answer
        found.update(questions=1, wrong=not is_same_answer(told, q.answer))
        for image, _ in q.note("distractors"):
            there = any(color in o.values("color") for o in whole[image].objects)
            found.update(distractors=1, showing=there)
    print(f"{found['distractors']} distractors, {found['questions']} answers")
    return found["showing"] / found["distractors"], found["wrong"] / found["questions"]


def test_a_verifier_taught_on_lossy_graphs_finds_most_of_what_they_lack(lossy):
    folder, whole = lossy
    free, seen = made(folder, "free"), made(folder, "seen", "colour_seer:Colours")
    (showing, wrong), (still, fewer) = shares(free, whole), shares(seen, whole)
    print(f"distractors that show it {showing:.1%} → {still:.1%}, wrong answers {wrong:.1%} → {fewer:.1%}")
    assert showing > 0.04 and still < showing / 2
    assert wrong > 0.1 and fewer <= wrong + 0.01  # of some fifty questions, not always as many
    tally = read_yield(seen.folder).checked
    assert tally["lessons"] > 200
    assert 0 < tally["distractors_dropped"] < tally["distractors"]
    assert 0 < tally["counted_dropped"] < tally["counted"]
    said = describe_verification(seen.folder)
    assert f"checked by colour_seer:Colours, trained five ways on {tally['lessons']:,} examples" in said
    assert said in (seen.folder / "README.md").read_text("utf-8")
    both = [log(right(5), data=str(one.folder), variant=one.folder.name) for one in (free, seen)]
    noted = [said for what, said in method._list_notes(study(*both)) if what == "Incomplete scene graphs"]
    assert len(noted) == 2 and "no model looked for what they lack" in noted[0] and said in noted[1]
    assert seen.manifest.spec["verify"] == "colour_seer:Colours"


class Rote:
    """Learns its pictures by heart; each has a colour of its own in its first pixel."""

    taught = 0

    def fit(self, texts, images, truths, seed):
        type(self).taught += 1
        self.seed, self.texts, self.truths = seed, texts, truths
        self.seen = {tuple(picture[0, 0].tolist()) for picture in images}
        self.black = sum(int((picture[3, 3] == 0).all()) for picture in images[:])

    def probability(self, texts, images):
        return [float(tuple(picture[0, 0].tolist()) in self.seen) for picture in images]


@pytest.fixture
def classroom(tmp_path, monkeypatch):
    """Graphs laid out and indexed, with a picture each."""
    module = ModuleType("rote")
    module.Rote = Rote
    monkeypatch.setitem(sys.modules, "rote", module)
    monkeypatch.setattr(Rote, "__module__", "rote")
    (tmp_path / "pictures").mkdir()
    scenes = []
    for k in range(50):
        boxed = tuple(replace(o, box=(2.0, 2.0, 4.0, 3.0)) for o in random_graph(5, k).objects)
        scenes.append(replace(random_graph(5, k), objects=boxed, size=(8, 6)))
        Image.new("RGB", (8, 6), (200, 100, k)).save(tmp_path / "pictures" / f"{k}.png")
    write_scenes(tmp_path / "g.json", scenes)
    inputs = GraphInputs((tmp_path / "g.json",), (), tmp_path / "pictures", OverlapSources())
    about = dict.fromkeys(("repeated", "empty", "without_picture"), 0)
    write_graphs(read_user_graphs(inputs, 6, lambda *_: None, about), tmp_path / "graphs", about)
    index_graphs(tmp_path / "graphs", False, ONE_PROCESS)
    return stage.ClassifierTraining(tmp_path / "graphs", tmp_path / "verifier", inputs, 3)


def silent(*_):
    pass


def test_an_image_is_judged_by_the_model_that_was_not_shown_it(classroom):
    taught = stage.train_classifiers(classroom, find_classifier("rote:Rote"), ONE_PROCESS, silent)
    shown = set()
    for split in SPLITS:
        graphs = SplitGraphs(classroom.graphs, split)
        folds = stage.assign_classifiers(graphs, taught, classroom.seed)
        for image in graphs.ids:
            mine = (200, 100, int(image))
            others = [k for k in range(FOLDS) if mine in folds.classifiers[k].seen]
            assert others in ([], [k for k in range(FOLDS) if k != folds.fold[image]])
            shown.update(others and [image])
    assert len(shown) > 40
    assert len({seer.seed for seer in folds.classifiers}) == FOLDS
    for seer in folds.classifiers:
        assert 0.4 < sum(seer.truths) / len(seer.truths) < 0.6
        assert seer.black > 0  # some boxes are painted over


def test_what_is_taught_again_is_the_same(classroom):
    seeing = find_classifier("rote:Rote")
    first, again = (stage.train_classifiers(classroom, seeing, ONE_PROCESS, silent) for _ in range(2))
    assert [vars(seer) for seer in first.classifiers] == [vars(seer) for seer in again.classifiers]
    assert (first.fingerprint, first.examples) == (again.fingerprint, again.examples)
    before = stage.read_trained_classifiers(classroom.folder)
    assert (before.fingerprint, before.examples) == (first.fingerprint, first.examples) and first.examples > 100


def test_models_that_judge_otherwise_have_another_voice(classroom, monkeypatch):
    seeing = find_classifier("rote:Rote")
    first = stage.train_classifiers(classroom, seeing, ONE_PROCESS, silent)
    monkeypatch.setattr(Rote, "probability", lambda self, texts, images: [0.25] * len(images))
    assert stage.train_classifiers(classroom, seeing, ONE_PROCESS, silent).fingerprint != first.fingerprint


def test_what_was_taught_goes_to_other_processes(classroom, monkeypatch, refuses):
    monkeypatch.setattr(Rote, "fit", lambda self, texts, images, truths: setattr(self, "net", lambda x: x))
    with refuses("the trained models cannot be sent to other processes"):
        stage.train_classifiers(classroom, find_classifier("rote:Rote"), LocalExecutor(2), silent)


class Evil:
    """What a pickle in an unfinished folder would run."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return (open, (str(self.marker), "w"))


@pytest.mark.full
def test_nothing_in_an_unfinished_folder_is_run(lossy, tmp_path, monkeypatch):
    """A folder as the version before left it: the models pickled, and the mark that all of them are there."""
    folder, _ = lossy
    order, inputs = ordered(folder, "colour_seer:Colours")
    monkeypatch.setattr("shiftscope.suites.covr.candidates.make_candidates", stopped)
    with pytest.raises(UserError, match="stopped"):
        SUITE.make(order, tmp_path / "out", inputs, workers=1)
    (kept,) = (tmp_path / "out" / ".work").glob("verifier-*")
    for k in range(FOLDS):
        (kept / f"{k}.pickle").write_bytes(pickle.dumps(Evil(tmp_path / "marker")))
    (kept / "done.json").write_text('{"lessons": 5}')
    monkeypatch.undo()
    made = SUITE.make(order, tmp_path / "out", inputs, workers=2)[0]
    assert len(made) > 50
    assert not (tmp_path / "marker").exists()


def test_a_restart_does_not_teach_what_is_asked_already(lossy, tmp_path, monkeypatch):
    folder, _ = lossy
    order, inputs = ordered(folder, "colour_seer:Colours")
    monkeypatch.setattr("shiftscope.suites.covr.candidates.select_questions", stopped)
    with pytest.raises(UserError, match="stopped"):
        SUITE.make(order, tmp_path / "out", inputs, workers=1)
    monkeypatch.undo()
    monkeypatch.setattr("shiftscope.suites.covr.make.train_classifiers", None)
    made = SUITE.make(order, tmp_path / "out", inputs, workers=1)[0]
    assert read_yield(made.folder).checked["lessons"] > 200


def test_a_model_that_can_not_be_taught_is_told(classroom, monkeypatch, refuses):
    def fit(self, texts, images, truths):
        raise RuntimeError("out of memory")

    monkeypatch.setattr(Rote, "fit", fit)
    with refuses("--verify: the model stopped with RuntimeError: out of memory while it was trained"):
        stage.train_classifiers(classroom, find_classifier("rote:Rote"), ONE_PROCESS, silent)


def test_a_module_that_raises_is_told(tmp_path, monkeypatch, refuses):
    (tmp_path / "raising_module.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with refuses("--verify raising_module:Seer: it cannot be imported (ZeroDivisionError: division by zero)"):
        find_classifier("raising_module:Seer")


def test_lessons_are_simple_and_their_other_image_lacks_them(classroom):
    graphs, related = stage._load_related(classroom, "train")
    found = [
        x
        for k in range(len(graphs))
        for x in generate_classifier_examples(related, k, 3, most=5, sayable=lambda one: True)
    ]
    assert len(found) > 100
    for first, second in zip(found[::2], found[1::2], strict=True):
        assert first.subgraph == second.subgraph and (first.truth, second.truth) == (True, False)
        assert related.find_roots(first.subgraph, first.graph) and not related.find_roots(second.subgraph, second.graph)
        assert is_simple(first.subgraph)
    assert not is_simple(ObjectNode("man", "tall", (SubgraphLink("holding", ObjectNode("ball", "red")),)))
    assert not is_simple(
        ObjectNode("man", "", (SubgraphLink("near", ObjectNode("dog")), SubgraphLink("on", ObjectNode("bed"))))
    )


def test_three_boxes_in_twenty_are_hidden_but_never_what_is_true():
    about, box = ObjectNode("man", "", (SubgraphLink("holding", ObjectNode("ball")),)), (0.0, 0.0, 1.0, 1.0)
    names, counts = ["man", "ball", "dog", "cat"], Counter()
    for k in range(500):
        for truth in (True, False):
            boxes = [(float(i), *box[1:]) for i in range(3)] + [None]
            counts.update(
                (truth, int(b[0])) for b in choose_hidden_boxes(ClassifierExample(about, 0, truth), names, boxes, k)
            )
    assert counts.keys() == {(True, 2), (False, 0), (False, 1), (False, 2)}
    assert all(50 < number < 100 for number in counts.values())


class Guesser:
    """Replies in turn as it is told to."""

    said: tuple = ()
    seen: list = []

    def predict(self, batch):
        self.seen.extend(batch)
        return list(self.said[: len(batch)])


def test_a_model_is_asked_yes_or_no_and_believed_as_far_as_it_believes(monkeypatch, refuses):
    module = ModuleType("guessing")
    module.Guesser = Guesser
    monkeypatch.setitem(sys.modules, "guessing", module)
    seeing = find_classifier("guessing:Guesser")
    assert seeing.is_prompted and not seeing.learns
    picture = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    Guesser.said = (
        Response(answer=True, confidence=0.8),
        Response(answer=False, confidence=0.7),
        "No.",
        "Yes",
        "Hard to say",
    )
    seer = seeing.make()
    asked = [phrase_question(ObjectNode("dog", "black"))] * 5
    assert seer.probability(asked, [picture] * 5) == pytest.approx([0.8, 0.3, 0.0, 1.0, 1.0])
    assert seer.answer_counts == {"beliefs": 2, "answers": 2, "unread": 1}
    prompt = Guesser.seen[-1]
    assert prompt.text.startswith("Is there a black dog?\nAnswer with one word")
    assert np.array_equal(np.asarray(Image.open(BytesIO(prompt.images[0]))), picture)
    Guesser.said = (Response(status="failed", reason="out of memory"),)
    with refuses("no answer to 'Is there a black dog?' (out of memory)"):
        seer.probability(asked[:1], [picture])


def test_an_endpoint_that_looks_is_told_from_another_and_its_cached_replies_are_counted(monkeypatch, tmp_path):
    picture = np.zeros((2, 4, 3), np.uint8)
    with serving(monkeypatch) as server:
        server.replies = [completion("yes")]
        server.listing = {"data": [{"id": "toy", "root": "/a"}]}
        seeing = replace(find_classifier(f"openai:toy@{server.url}"), cache=tmp_path)
        assert seeing.identify() == {"toy": {"root": "/a"}}
        for cached in (0, 1):
            seer = seeing.make()
            assert seer.probability(["Is there a dog?"], [picture]) == [1.0]
            assert (seer.answer_counts["cached"], len(server.bodies)) == (cached, 1)
        server.listing = {"data": [{"id": "toy", "root": "/b"}]}
        assert seeing.make().probability(["Is there a dog?"], [picture]) == [1.0]
        assert len(server.bodies) == 2
        uncached = replace(seeing, cache=tmp_path / "none", use_cache=False).make()
        assert uncached.probability(["Is there a dog?"], [picture]) == [1.0]
        assert (len(server.bodies), (tmp_path / "none").exists()) == (3, False)


def test_what_is_asked_is_english():
    holding = ObjectNode("man", "tall", (SubgraphLink("holding", ObjectNode("umbrella")),))
    assert phrase_question(holding) == "Is there a tall man that is holding an umbrella?"
    assert phrase_question(ObjectNode("trees", "green")) == "Are there green trees?"
    assert phrase_subgraph(ObjectNode("dog", "black")) == "a black dog"


def test_a_verifier_must_see_and_graphs_must_need_it(tmp_path, refuses):
    write_scenes(tmp_path / "g.json", [graph("a", "man")])
    for name, why in (("majority", "does not look at pictures"), ("json:loads", "no method probability")):
        with refuses(why):
            build_covr_spec([tmp_path / "g.json"], [], tmp_path, ["schema"], verify=name)
    clevr.write_scenes(tmp_path / "s.json", [replace(THREE_AND_ONE, notes=(("image_filename", "a.png"),))])
    with refuses("clevr scenes are complete; omit --verify"):
        build_covr_spec([tmp_path / "s.json"], [], tmp_path, ["schema"], verify="colour_seer:Colours")
