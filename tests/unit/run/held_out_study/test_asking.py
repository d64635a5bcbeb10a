"""Asking a model of a study can be paused: what it answered is kept, and only of the same questions."""

import time
from dataclasses import replace

import pytest

from shiftscope.lang.text import format_program, parse_program
from shiftscope.metrics.held_out_records import EXACT
from shiftscope.model import Prompt, Response
from shiftscope.question import Question
from shiftscope.run.held_out_study.asking import KeptResponses, ask_model, exchange_images
from shiftscope.scene import Scene
from shiftscope.schemas.superclevr import SCHEMA
from shiftscope.train.loop import TrainingPaused


class Echo:
    """Answers with the last word, two prompts at a time."""

    batch = 2

    def __init__(self):
        self.asked = 0

    def predict(self, batch):
        self.asked += len(batch)
        return [Response(answer=p.question.text.split()[-1], program="p", reason="r") for p in batch]


def make_prompts(*words):
    return [Prompt(Question(f"q{k}", f"say {word}", ("a",))) for k, word in enumerate(words)]


def test_what_was_answered_before_the_deadline_is_not_asked_again(tmp_path):
    model, prompts = Echo(), make_prompts("a", "b", "c", "d", "e")
    late = KeptResponses(tmp_path / "new" / "kept.json", deadline=time.monotonic() - 1)
    with pytest.raises(TrainingPaused):
        late.predict(model, "echo", prompts)
    assert model.asked == 2  # every call gets on
    with pytest.raises(TrainingPaused):
        KeptResponses(late.path, late.deadline).predict(model, "echo", prompts)
    found = KeptResponses(late.path).predict(model, "echo", prompts)
    assert [r.answer for r in found] == ["a", "b", "c", "d", "e"] and model.asked == 5
    assert {(r.program, r.reason) for r in found} == {("p", "r")}


def test_answers_of_other_weights_are_not_taken(tmp_path):
    kept = KeptResponses(tmp_path / "kept.json", by="first")
    kept.predict(Echo(), "echo", make_prompts("a", "b"))
    for by, asked in (("first", 0), ("second", 2)):
        model = Echo()
        replace(kept, by=by).predict(model, "echo", make_prompts("a", "b"))
        assert model.asked == asked


def test_answers_to_other_questions_are_not_taken(tmp_path):
    kept = KeptResponses(tmp_path / "kept.json")
    kept.predict(Echo(), "echo", make_prompts("a", "b"))
    assert [r.answer for r in kept.predict(Echo(), "echo", make_prompts("a", "c"))] == ["a", "c"]
    model = Echo()
    elsewhere = [replace(p, question=replace(p.question, scenes=("b",))) for p in make_prompts("a", "c")]
    kept.predict(model, "echo", elsewhere)
    assert model.asked == 2  # the same words about other images


class Source:
    """A split with one scene, whose pictures nobody may draw."""

    def list_scenes(self, split):
        return [Scene(schema=SCHEMA, objects=(), id="a")]

    def find_pictures(self, split):
        raise AssertionError("drawn for a model that reads no image")


class Parser:
    """Writes what its logical form has for the one program: without `unique`, as COVR's compositional form."""

    reads = frozenset(("text", "scenes"))
    form = parse_program("query(filter(scene(), shape=jet), color)")

    def express(self, program):
        return self.form if program == TRUE else program

    def predict(self, batch):
        return [Response(answer="red", program=format_program(self.form)) for _ in batch]


TRUE = parse_program("query(unique(filter(scene(), shape=jet)), color)").canonicalize()


def test_programs_are_compared_as_the_parsers_logical_form_says_them(tmp_path):
    other = parse_program("query(unique(filter(scene(), shape=truck)), color)").canonicalize()
    questions = [Question(f"q{k}", "?", ("a",), program, "red") for k, program in enumerate((TRUE, other))]
    found = ask_model(Parser(), "neuro_symbolic", questions, Source(), "test", folder=tmp_path, programs=True)
    assert found.flags[EXACT].tolist() == [True, False]
    plain = Parser()
    plain.express = lambda program: program
    found = ask_model(plain, "neuro_symbolic", questions, Source(), "test", folder=tmp_path / "plain", programs=True)
    assert found.flags[EXACT].tolist() == [False, False]


def test_a_model_that_reads_nothing_is_shown_nothing(tmp_path):
    questions = [Question("q0", "?", ("a",), TRUE, "red")]
    assert ask_model(Echo(), "majority", questions, Source(), "test", folder=tmp_path).said == {"": ("?",)}


def test_questions_are_asked_about_images_that_are_not_theirs():
    shown = [("a",), ("a", "b"), ("b",), ("b", "c"), ("c", "d"), ("d",), ("e", "f", "g")]
    asked = [Question(f"q{k}", f"text {k}", scenes) for k, scenes in enumerate(shown)]
    found = exchange_images(asked)
    assert [(q.id, q.text) for q in found] == [(q.id, q.text) for q in asked]
    assert [len(q.scenes) for q in found] == [len(q.scenes) for q in asked]
    assert all(set(old.scenes).isdisjoint(new.scenes) for old, new in zip(asked[:3], found[:3], strict=True))
    assert found[1].scenes == ("c", "d") and found[4].scenes == ("a", "b")
    assert found[3].scenes == ("c", "d")  # all others share one with it: the first of those that share least
    assert found[6].scenes == ("e", "f", "g")  # nothing else has as many
