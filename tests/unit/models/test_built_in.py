"""The models that need nothing but the data, on toy scenes."""

from collections import Counter

import pytest

from asked import asked
from shiftscope.model import (
    ModelName,
    ModelOptions,
    ModelSetting,
    Prompt,
    Response,
    build_model,
    parse_model_name,
    predict_checked,
)
from shiftscope.question import Provenance, Question
from shiftscope.registry import MODELS
from shiftscope.schemas.clevr import SCHEMA
from toy import THREE_AND_ONE, scene, thing

COUNT = "count(filter(scene(), color=red))"
COLOR = "query(unique(filter(scene(), shape=cube)), color)"
EXIST = "exist(filter(scene(), shape=cube))"


def learned(text, answer, template="t", family=0, kind="count"):
    return Question(
        "x", text, ("s",), answer=answer, kind=kind, provenance=Provenance("toy", "train", template, family)
    )


TRAIN = [
    learned("How many cubes are there?", 2),
    learned("How many balls are there?", 2),
    learned("How many things are there?", 3),
    learned("Is there a cube?", True, family=1, kind="exist"),
    learned("Is there a ball?", True, family=1, kind="exist"),
    learned("Is there a cylinder?", True, family=1, kind="exist"),
    learned("Which color is the cube?", "red", "u", kind="query_color"),
    learned("Which color is the ball?", "red", "u", kind="query_color"),
]
SETTING = ModelSetting(lambda: TRAIN, SCHEMA)


def answers(name, *prompts, setting=SETTING):
    return [r.answer for r in predict_checked(build_model(name, setting), prompts)]


def test_the_oracle_runs_the_program_on_what_is_shown():
    other = scene(thing("small green rubber cube"))
    assert answers("oracle", asked(COUNT), asked(COLOR), asked(EXIST), asked(COLOR, other)) == [2, "red", True, "green"]


def test_the_oracle_says_why_it_has_no_answer():
    two_cubes = scene(thing("small green rubber cube"), thing("small red rubber cube"))
    ambiguous, blind = asked(COLOR, two_cubes), Prompt(asked(COLOR).question)
    unprogrammed = Prompt(Question("q", "What?", ("toy",)), scenes=(THREE_AND_ONE,))
    said = predict_checked(build_model("oracle", SETTING), [ambiguous, blind, unprogrammed])
    assert [(r.status, r.reason) for r in said] == [
        ("undefined", "several found"),
        ("undefined", "no scene"),
        ("undefined", "no program"),
    ]


def test_the_majority_is_the_commonest_answer():
    assert answers("majority", asked(COUNT), asked(COLOR)) == [True, True]
    assert predict_checked(build_model("majority", SETTING), [asked(COUNT)])[0].confidence == 3 / 8


def test_equal_counts_are_settled_by_spelling():
    both = [learned("?", "red"), learned("?", "blue")]
    assert answers("majority", asked(COUNT), setting=ModelSetting(lambda: both)) == ["blue"]
    assert answers("majority", asked(COUNT), setting=ModelSetting(lambda: both[::-1])) == ["blue"]


def test_the_majority_of_a_template_then_of_a_kind_then_of_all():
    known = learned("", None, "t", 0)
    unseen = learned("", None, "other", 9, kind="query_color")
    new = learned("", None, "other", 9, kind="new")
    assert answers("majority_per_template", *map(Prompt, (known, unseen, new))) == [2, "red", True]


COLORS = "choose(unique(filter(scene(), shape=cube)), color, red, blue)"
PLACES = "choose_relation(unique(filter(scene(), shape=cube)), filter(scene(), shape=sphere), left, right)"


@pytest.mark.parametrize("model", ["majority_per_template", "random"])
@pytest.mark.parametrize(("program", "two"), [(COLORS, ("red", "blue")), (PLACES, ("left", "right"))])
def test_of_two_answers_that_a_question_names_one_is_drawn(model, program, two):
    prompts = [asked(program, name=str(k)) for k in range(200)]
    said = answers(model, *prompts)
    assert min(said.count(word) for word in two) > 70
    assert set(said) == set(two)
    assert answers(model, *prompts[::-1]) == said[::-1]
    assert answers(model, *prompts, setting=ModelSetting(lambda: TRAIN, SCHEMA, ModelOptions(seed=1))) != said
    assert predict_checked(build_model(model, SETTING), prompts[:1])[0].confidence == 0.5


def test_random_answers_are_of_the_questions_type_and_even():
    prompts = [asked(COLOR, name=str(k)) for k in range(800)]
    counts = Counter(answers("random", *prompts))
    assert set(counts) == set(SCHEMA.attribute("color").values)
    assert min(counts.values()) > 60
    numbers = answers("random", *(asked(COUNT, name=str(k)) for k in range(200)))
    assert set(numbers) == set(range(11))
    assert set(answers("random", *(asked(EXIST, name=str(k)) for k in range(20)))) == {True, False}


def test_uniformly_random_answers_are_any_of_27():
    said = answers("random_uniform", *(asked(COUNT, name=str(k)) for k in range(1000)))
    counts = Counter((type(answer), answer) for answer in said)
    assert len(counts) == 27
    assert counts.keys() >= {(str, "cube"), (str, "red"), (int, 9), (bool, True), (bool, False)}
    assert max(counts.values()) < 70


def test_random_depends_on_the_seed_and_the_question_alone():
    prompts = [asked(COLOR, name=str(k)) for k in range(50)]
    first = answers("random", *prompts)
    assert answers("random", *prompts[::-1]) == first[::-1]
    other = ModelSetting(lambda: TRAIN, SCHEMA, ModelOptions(seed=1))
    assert answers("random", *prompts, setting=other) != first


def test_random_over_an_open_vocabulary_uses_the_answers_seen():
    open_question = Prompt(Question("q", "What?", ("s",), kind="what"))
    wide = ModelSetting(lambda: [learned("?", "dog", kind="what"), learned("?", "cat", kind="who")])
    assert answers("random", open_question, setting=wide) == ["dog"]


def test_question_only_learns_words():
    many = [
        learned(f"How many {c} things are there {k}?", 1 if c == "red" else 4)
        for k in range(40)
        for c in ("red", "blue")
    ]
    model = build_model("question_only", ModelSetting(lambda: many, SCHEMA))
    asked_now = [Prompt(learned(f"How many {c} things are there?", None)) for c in ("red", "blue")]
    said = predict_checked(model, asked_now)
    assert [r.answer for r in said] == [1, 4]
    assert all(0.8 < r.confidence <= 1 for r in said)


def test_question_only_reads_any_script():
    many = [learned(f"{c} {k}?", 1 if c == "赤い" else 4) for k in range(40) for c in ("赤い", "青い")]
    model = build_model("question_only", ModelSetting(lambda: many, SCHEMA))
    said = predict_checked(model, [Prompt(learned(c, None)) for c in ("赤い", "青い")])
    assert [r.answer for r in said] == [1, 4]


@pytest.mark.parametrize("name", ["majority", "majority_per_template", "question_only"])
def test_a_model_that_learns_needs_questions(name, refuses):
    with refuses("learns from answered questions and there are none; name a dataset with a train split"):
        build_model(name, ModelSetting())


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("oracle", ModelName("oracle")),
        ("openai:gpt@http://localhost:1/v1", ModelName("openai", "gpt@http://localhost:1/v1")),
        ("hf:org/model", ModelName("hf", "org/model")),
        ("predictions:a.json", ModelName("predictions", "a.json")),
        ("my_package.models:Mine", ModelName("python", "my_package.models:Mine")),
    ],
)
def test_a_model_is_named_by_one_string(text, name):
    assert parse_model_name(text) == name


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("orcale", "no model 'orcale'; did you mean 'oracle'? (shiftscope list models)"),
        ("openai", "model 'openai' lacks what to run; write openai:MODEL@URL"),
        ("hf:", "lacks what to run; write hf:ORG/MODEL or hf:FOLDER"),
        ("what ever:x", "'what ever' is neither a model nor a module; write ban:FOLDER, cnn_lstm:FOLDER, film:FOLDER,"),
        ("python", "no model 'python'"),
    ],
)
def test_a_wrong_name_is_refused_with_the_right_form(text, sentence, refuses):
    with refuses(sentence):
        parse_model_name(text)


def test_a_folder_with_a_configuration_is_a_hugging_face_model(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    assert parse_model_name(str(tmp_path)) == ModelName("hf", str(tmp_path))


def test_a_class_of_ones_own(tmp_path, monkeypatch, refuses):
    (tmp_path / "mine_for_test.py").write_text(
        "class Plain:\n    def predict(self, batch):\n        return ['red'] * len(batch)\n"
        "class Told:\n    def __init__(self, setting):\n        self.schema = setting.schema\n"
        "    def predict(self, batch):\n        return [self.schema.name for _ in batch]\n"
        "class Mute: pass\n"
    )
    monkeypatch.chdir(tmp_path)
    assert predict_checked(build_model("mine_for_test:Plain", SETTING), [asked(COLOR)]) == [Response(raw="red")]
    assert predict_checked(build_model("mine_for_test:Told", SETTING), [asked(COLOR)]) == [Response(raw="clevr")]
    with refuses("has no method predict(batch)"):
        build_model("mine_for_test:Mute", SETTING)
    with refuses("mine_for_test has no 'Plian'; did you mean 'Plain'?"):
        build_model("mine_for_test:Plian", SETTING)
    with refuses("there is no module 'nowhere_to_be_found'"):
        build_model("nowhere_to_be_found.x:Y", SETTING)


@pytest.mark.parametrize("name", MODELS.names())
def test_a_model_file_builds(name):
    assert callable(MODELS.load(name).build)


def given(made):
    class Given:
        def predict(self, batch):
            return made

    return predict_checked(Given(), [asked(COLOR)], "m:Given")


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (None, "model 'm:Given' gave None instead of a list of responses"),
        ("red", "model 'm:Given' gave 'red' instead of a list"),
        ([], "model 'm:Given' gave 0 responses to 1 prompts"),
        ([None], "None is neither text nor a Response"),
        ([Response(answer=2.5)], "an answer must be true or false, a whole number or text, not 2.5"),
        ([Response(answer="red", confidence=1.5)], "confidence must be a number from 0 to 1, not 1.5"),
        ([Response(answer="red", confidence=float("nan"))], "confidence must be a number from 0 to 1, not nan"),
        ([Response(answer="red", cost=float("inf"))], "cost must be finite"),
        ([Response(answer="red", tokens=1.5)], "tokens must be a whole number from 0 up, not 1.5"),
        ([Response(status="undefind")], "no status 'undefind' in model 'm:Given', question"),
        ([Response(raw=5)], "raw must be text, not 5"),
    ],
)
def test_replies_that_are_none(made, sentence, refuses):
    with refuses(sentence):
        given(made)


def test_numbers_of_numpy_and_halves_of_letters_are_taken():
    import numpy as np

    said = given([Response(answer=np.int64(2), confidence=np.float32(0.5), raw="\ud800é", status="answered")])
    assert said == [Response(answer=2, confidence=0.5, raw="?é")]
    assert type(said[0].answer) is int


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("class A(:", "cannot be imported: SyntaxError: "),
        ("import os\nos.nothing", "cannot be imported: AttributeError: module 'os' has no attribute 'nothing'"),
        ("from os import nothing", "cannot be imported: ImportError: cannot import name 'nothing'"),
        ("class A:\n def __init__(self, a, b): pass", "cannot be made: TypeError: "),
        ("class A:\n def __init__(self): raise OSError('no weights')", "made: OSError: no weights (broken"),
        ("A = 5", "is not a class"),
        ("class A: pass", "has no method predict(batch)"),
    ],
)
def test_a_class_that_can_not_be_made(text, sentence, tmp_path, monkeypatch, refuses):
    name = f"broken_{abs(hash(text))}"
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    with refuses(sentence):
        build_model(f"{name}:A", SETTING)
