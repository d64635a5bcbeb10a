"""Questions over one scene graph: their words, what is asked, the dataset, and the test made from it."""

import json
from dataclasses import replace

import pytest
from test_gqa_redundancy import program_of

from graphs import graph, random_graph
from shiftscope.errors import UserError
from shiftscope.formats.gqa import write_scenes
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.notations import gqa
from shiftscope.lang.program import Program, node
from shiftscope.question import Question
from shiftscope.questions.gqa.commonplace import can_be, has_always, is_always_so
from shiftscope.questions.gqa.plausibility import is_worth_asking
from shiftscope.questions.gqa.scene_view import GqaVocabulary, SceneView, find_kind
from shiftscope.questions.gqa.soundness import is_sound
from shiftscope.questions.gqa.templates import TEMPLATES, GqaQuestioner
from shiftscope.questions.gqa.wording import (
    DescriptionLink,
    DescriptionWord,
    GqaProgramBuilder,
    ObjectDescription,
    Unsayable,
    is_sayable,
    question_text,
    read_description,
)
from shiftscope.run.evaluate import RunSpec as RunOrder
from shiftscope.run.generalization.redundancy import RedundancyOptions
from shiftscope.run.make import resolve_data
from shiftscope.run.test import test as put_to_test
from shiftscope.scene_graph.exclusivity import build_exclusivity
from shiftscope.schemas.gqa import SCHEMA
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.dataset import Dataset
from shiftscope.store.image import StoredImage
from shiftscope.suites.gqa.suite import SUITE, build_gqa_spec
from shiftscope.world import clevr

WORDED = {
    "select: cat->query: color [0]": "What color is the cat?",
    "select: trees->query: color [0]": "What color are the trees?",
    "select: fence->query: material [0]": "What is the fence made of?",
    "select: man->query: age [0]": "What is the age of the man?",
    "select: cat->filter: not(black) [0]->verify: sitting [1]": "Is the cat that is not black sitting?",
    "select: cat->verify: not(black) [0]": "Is the cat not black?",
    "select: cat->choose color: black|white [0]": "Is the cat black or white?",
    "select: cat->filter hposition: left [0]->verify: black [1]": (
        "Is the cat that is on the left of the picture black?"
    ),
    "select: cat->choose hposition: left|right [0]": (
        "Is the cat on the left of the picture or on the right of the picture?"
    ),
    "select: hat->relate: person,wearing,s [0]->query: name [1]": "Who is wearing the hat?",
    "select: person->query: name [0]": "Who is in the picture?",
    "select: man->relate: animal,riding,o [0]->query: name [1]": "What animal is the man riding?",
    "select: car->relate: _,have,o [0]->query: name [1]": "What does the car have?",
    "select: table->relate: _,on,s [0]->choose name: cup|plate [1]": "What is on the table, a cup or a plate?",
    "select: man->relate: hat,wear,o [0]->query: color [1]": "What color is the hat that the man is wearing?",
    "select: cat->relate: mat,on,o [0]->query: color [1]": "What color is the mat with the cat on it?",
    "select: dog->relate: woman,behind,o [0]->verify: old [1]": "Is the woman with the dog behind her old?",
    "select: mat->relate: man,on,s [0]->verify: old [1]": "Is the man who is on the mat old?",
    "select: mat->relate: cat,on,s [0]->exist: ? [1]": "Is there a cat on a mat?",
    "select: floor->relate: cat,on,s [0]->exist: ? [1]": "Is there a cat on the floor?",
    "select: man->verify rel: tennis,playing,o [0]": "Is the man playing tennis?",
    "select: man->verify rel: guitar,playing,o [0]": "Is the man playing a guitar?",
    "select: tennis->relate: person,playing,s [0]->query: name [1]": "Who is playing tennis?",
    "select: cat->verify rel: floor,on,o [0]": "Is the cat on the floor?",
    "select: fence->verify material: wood [0]": "Is the fence made of wood?",
    "select: fence->choose material: wood|metal [0]": "Is the fence made of wood or metal?",
    "select: mat->relate: cat,on,s [0]->exist: ? [1]->select: dog->exist: ? [3]->or:  [2, 4]": (
        "Is there a cat on a mat, or is there a dog?"
    ),
    "select: men->verify rel: hats,wear,o [0]": "Are the men wearing hats?",
    "select: car->verify rel: wheel,have,o [0]": "Does the car have a wheel?",
    "select: table->verify rel: cup,on,s [0]": "Is there a cup on the table?",
    "select: cat->choose rel: table,on|under,o [0]": "Is the cat on or under the table?",
    "select: cat->filter: black [0]->exist: ? [1]": "Is there a black cat?",
    "select: cat->exist: ? [0]->select: dog->exist: ? [2]->and:  [1, 3]": "Is there a cat and a dog?",
    "select: cat->exist: ? [0]->select: trees->exist: ? [2]->and:  [1, 3]": "Are there trees and a cat?",
    "select: shirt->query: pattern [0]": "What kind of pattern is on the shirt?",
    "select: water->relate: animals,above,s [0]->query: name [1]": "What animals are above the water?",
    "select: man->relate: rope,holding,o [0]->exist: ? [1]": "Is there a man holding a rope?",
    "select: cat->exist: ? [0]->select: dog->exist: ? [2]->or:  [1, 3]": "Is there a cat or a dog?",
    "select: cat->verify: black [0]->select: dog->verify: black [2]->and:  [1, 3]": (
        "Are both the cat and the dog black?"
    ),
    "select: cat->verify: black [0]->select: dogs->verify: white [2]->or:  [1, 3]": (
        "Is the cat black, or are the dogs white?"
    ),
    "select: cat->select: dog->same color:  [0, 1]": "Are the cat and the dog the same color?",
    "select: cat->select: dog->different color:  [0, 1]": "Are the cat and the dog different colors?",
    "select: chair->same: color [0]": "Are all the chairs the same color?",
    "select: cat->select: dog->common:  [0, 1]": "What do the cat and the dog have in common?",
    "select: man->select: woman->choose older:  [0, 1]": "Which is older, the man or the woman?",
    "select: scene->query: weather [0]": "What is the weather like?",
    "select: scene->verify location: outdoors [0]": "Is it outdoors?",
}


@pytest.mark.parametrize("line", WORDED)
def test_a_program_in_words(line):
    assert question_text(program_of(line)) == WORDED[line]


UNSOUND = {  # a question that nobody would ask: its answer
    "select: man->relate: _,skiing on,o [0]->query: name [1]": "snow",
    "select: man->relate: _,on,o [0]->query: name [1]": "phone",
    "select: building->relate: _,above,s [0]->query: name [1]": "sky",
    "select: pane->query: material [0]": "glass",
    "select: snowboard->relate: person,on,s [0]->query: name [1]": "snowboarder",
    "select: jockey->verify rel: motorcycle,riding,o [0]": False,
    "select: snake->relate: man,holding,s [0]->verify rel: bed,on,o [1]": False,
    "select: field->relate: man,playing on,s [0]->verify rel: frisbee,playing,o [1]": False,
    "select: stripe->query: color [0]": "red",
    "select: hawk->verify rel: trees,in,o [0]": True,
}
SOUND = {
    "select: man->relate: _,sitting on,o [0]->query: name [1]": "bench",
    "select: cup->relate: _,on,o [0]->query: name [1]": "table",
    "select: pane->query: color [0]": "blue",
    "select: man->verify rel: motorcycle,riding,o [0]": False,
    "select: snake->relate: man,holding,s [0]->verify: tall [1]": True,
}


@pytest.mark.parametrize("line", [*UNSOUND, *SOUND])
def test_a_question_that_answers_itself_or_reads_badly_is_unsound(line):
    program = program_of(line)
    assert is_sound(program, question_text(program), (UNSOUND | SOUND)[line]) == (line in SOUND)


def test_what_we_have_no_words_for_is_refused_by_name():
    with pytest.raises(Unsayable, match="no words for the relation 'zzz'"):
        question_text(program_of("select: cat->relate: _,zzz,s [0]->query: name [1]"))
    assert not is_sayable(program_of("select: the->query: color [0]"))
    assert not is_sayable(Program((node("scene"), node("count", (0,)))))


def test_a_description_is_read_as_it_was_put():
    mat = ObjectDescription("mat", (DescriptionWord("color", "red"),))
    cat = ObjectDescription(
        "cat",
        (DescriptionWord("color", "black"), DescriptionWord("size", "large", denied=True)),
        DescriptionLink("on", mat),
    )
    hat = ObjectDescription("hat", (), DescriptionLink("wearing", cat, subject=False))
    same = ObjectDescription("bus", (), DescriptionLink("color", mat, alike=True))
    for thing in (mat, cat, hat, same, ObjectDescription(link=DescriptionLink("on", mat))):
        making = GqaProgramBuilder()
        at = making.add_set(thing)
        assert read_description(making.build(), at) == thing


@pytest.fixture(scope="module")
def scenes():
    return [random_graph(7, k) for k in range(120)]


@pytest.fixture(scope="module")
def asked(scenes):
    asker = GqaQuestioner(GqaVocabulary.from_scenes(scenes), build_exclusivity(scenes[0].schema), 1)
    return [(scene, q) for scene in scenes for q in asker.generate_questions(scene, 8)]


def test_all_forms_are_asked_with_their_executed_answers(asked):
    assert {q.provenance.template for _, q in asked} == set(TEMPLATES)
    for scene, q in asked:
        assert execute(q.program, scene).answer == q.answer
        assert q.scenes == (scene.id,)
        assert q.kind == TEMPLATES[q.provenance.template][0]


def test_every_program_goes_through_gqas_notation(asked):
    for _, q in asked:
        assert gqa.read(gqa.write(q.program)).canonicalize() == q.program.canonicalize()
        assert question_text(gqa.read(gqa.write(q.program))) == q.text


def test_yes_and_no_are_about_as_frequent_and_each_text_is_asked_once(asked):
    truths = [q.answer for _, q in asked if isinstance(q.answer, bool)]
    assert len(truths) > 150
    assert 0.4 < sum(truths) / len(truths) < 0.6
    pairs = [(scene.id, q.text) for scene, q in asked]
    assert len(set(pairs)) == len(pairs)


def test_what_is_asked_is_not_said(asked):
    for _, q in asked:
        if q.provenance.template == "query_attr":
            root = q.program.root
            said = read_description(q.program, root.inputs[0])
            assert root.params[0] not in [word.attribute for word in said.words]


def test_a_no_is_one_that_surely_does_not_hold():
    words = GqaVocabulary.from_scenes([graph(str(k), "gray cat, silver cat, black cat, red cat") for k in range(3)])
    scene = graph("a", "gray cat")
    asker = GqaQuestioner(words, build_exclusivity(scene.schema), 0)
    told = [
        q.text for seed in range(20) for q in GqaQuestioner(words, asker.overlap, seed).generate_questions(scene, 6)
    ]
    assert any("black" in text or "red" in text for text in told)
    assert not any("silver" in text for text in told)  # what is called gray may be silver


@pytest.fixture(scope="module")
def dataset(tmp_path_factory, scenes):
    folder = tmp_path_factory.mktemp("gqa")
    write_scenes(folder / "graphs.json", scenes)
    order, inputs = build_gqa_spec([folder / "graphs.json"], None, [], questions=3, share=3, shard=30)
    made, left_out = SUITE.make(order, folder / "data", inputs, workers=1)
    assert left_out == {"repeated": 0, "empty": 0, "without_picture": 0}
    return made


def test_a_dataset_of_given_graphs(dataset, scenes):
    names = {scene.id: scene for scene in scenes}
    assert dataset.splits == ("train", "val", "test")
    images = [image.id for image in dataset.images()]
    assert len(set(images)) == len(images) > 80
    for question in dataset.questions():
        assert execute(question.program, names[question.scenes[0]]).answer == question.answer


def test_the_same_dataset_again(dataset, tmp_path):
    graphs = dataset.folder.parent / "graphs.json"
    order, inputs = build_gqa_spec([graphs], None, [], questions=3, share=3, shard=30)
    again, _ = SUITE.make(order, tmp_path / "again", inputs, workers=1)
    digests = [[f.digest for s in one.shards() for f in s.files] for one in (dataset, again)]
    assert digests[0] == digests[1]
    SUITE.make(order, dataset.folder, inputs, workers=1)  # there already
    assert Dataset.open(dataset.folder).manifest == dataset.manifest


def test_the_oracle_loses_nothing_when_redundancy_is_removed(dataset, tmp_path):
    found = put_to_test("redundancy", RunOrder("oracle", dataset.folder), tmp_path / "out", RedundancyOptions())
    assert [dict(line.of)["removed"] for line in found.lines] == ["0%", "14%", "32%", "70%", "91%", "100%"]
    for line in found.lines:
        assert {s.metric: s.value for s in line.scores} in ({"accuracy": 1.0}, {"accuracy": 1.0, "drop": 0.0})
        assert all(s.n == dataset.count("test")[1] for s in line.scores)
    words = [float(dict(line.of)["words"]) for line in found.lines]
    assert words == sorted(words, reverse=True)
    assert words[0] - words[-1] > 0.5
    stored = json.loads((tmp_path / "out" / "result.json").read_bytes())
    assert stored["lines"][-1]["scores"]["accuracy"]["value"] == 100


def test_a_reader_of_words_alone_can_be_put_to_it(dataset, tmp_path):
    found = put_to_test(
        "redundancy", RunOrder("question_only", dataset.folder), tmp_path / "out", RedundancyOptions((100,), seed=5)
    )
    assert [dict(line.of)["removed"] for line in found.lines] == ["0%", "100%"]
    base, trimmed = (line.scores[0].value for line in found.lines)
    assert found.lines[1].scores[1].value == pytest.approx(base - trimmed)


def test_other_questions_are_left_out_and_counted(tmp_path):
    scene = replace(clevr.sample_scene(0, "test", 0), id="s")
    asked = [
        Question("a", "Is there a cube?", ("s",), program_of("select: cube->exist: ? [0]"), False),
        Question("b", "How many are there?", ("s",)),
    ]
    build_dataset(tmp_path / "data", {}, {"test": 1}, lambda spec, split, k: ([StoredImage(scene)], asked))
    with pytest.raises(UserError, match=r"1 no program, or several images; 1 scenes of a closed vocabulary"):
        put_to_test("redundancy", RunOrder("oracle", tmp_path / "data"), tmp_path / "out", RedundancyOptions())


def test_bad_orders_are_refused(tmp_path):
    with pytest.raises(UserError, match="gqa is made from scene graphs: shiftscope make gqa --graphs"):
        resolve_data("gqa")
    with pytest.raises(UserError, match="whole percents from 0 to 100"):
        RedundancyOptions((0, 120))
    with pytest.raises(UserError, match=r"nothing.json: no such file"):
        build_gqa_spec([tmp_path / "nothing.json"], None, [])


# What is plausible


def test_words_that_go_together_are_counted_by_kind():
    worn = [graph("1", "man, red hat", "0 wearing 1")] * 2
    ridden = [graph("1", "boy, brown pony", "0 riding 1")] * 2
    words = GqaVocabulary.from_scenes([*worn, *ridden])
    assert words.fitting_names["wearing", False, "person"] == {"hat": 2}
    assert words.fitting_names["riding", True, "animal"] == {"boy": 2}
    assert words.fitting_values["color", "pony"] == {"brown": 2}
    assert GqaVocabulary.from_json(json.loads(json.dumps(words.to_json()))) == words


def test_a_kind_is_as_wide_or_as_narrow_as_wanted():
    assert [find_kind(SCHEMA, "ponies", wide) for wide in (True, False)] == ["animal", "pony"]
    assert find_kind(SCHEMA, "bathroom", wide=True) == "room"  # a place, and that says nothing
    assert find_kind(SCHEMA, "dog house", wide=True) == "building"
    assert find_kind(SCHEMA, "gizmo", wide=True) == "gizmo"


def test_what_everybody_has_is_neither_asked_for_nor_denied():
    view = SceneView(graph("1", "man, arm, cup", "0 have 1", "0 holding 2", "0 have 2"))
    asked_for = {(view.names[i], t.relation) for i in view.things for t in view.ties[i] if is_worth_asking(view, i, t)}
    assert asked_for == {("cup", "holding"), ("man", "holding")}
    assert has_always("boy", "eyes")
    assert has_always("plane", "wing")
    assert not has_always("boy", "hat")
    assert is_always_so("sky", "clouds")
    assert is_always_so("airplane", "wings")
    assert not is_always_so("table", "plate")


def test_what_annotators_slip_on_is_left_out():
    assert can_be("man", "walking on", "sidewalk")
    assert not can_be("sidewalk", "walking on", "man")
    assert not can_be("man", "playing", "catcher")
    assert not can_be("people", "sitting on", "chair")
    assert not can_be("cat", "between", "chair")


def test_a_region_does_not_tell_what_else_is_in_the_picture():
    """What is absent is asked for only as who does something, and not where another region names it."""
    whole = [graph(str(k), f"{who}, horse, tree", "0 riding 1", "0 near 2") for k, who in enumerate(("man", "dog") * 4)]
    words = GqaVocabulary.from_scenes(whole)
    region = replace(graph("r", "man, horse, tree", "0 riding 1", "0 near 2"), notes=(("caption", "a man"),))

    def ask(scene, **how):
        askers = [GqaQuestioner(words, build_exclusivity(SCHEMA), seed) for seed in range(30)]
        made = (q for asker in askers for q in asker.generate_questions(scene, 8, **how))
        return {q.text for q in made if q.provenance.template == "exist"}

    assert ask(region) == {"Is there a man riding a horse?", "Is there a dog riding a horse?"}
    assert not ask(region, elsewhere=["dog"])
    assert "Is there a dog?" in ask(whole[0])


def test_people_have_no_color():
    view = SceneView(graph("1", "black woman, black hat"))
    assert [[w.value for w in words] for words in view.words] == [[], ["black"]]
