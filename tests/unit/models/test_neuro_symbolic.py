"""Neuro-symbolic models with parsers that are known to be right: what is seen, read, remembered and refused."""

import io
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lazy import lazy
from shiftscope.lang.posterior_calibration import BY_PLACES, Calibration, build_centre_likelihood
from shiftscope.lang.scene_posterior import build_certain_posterior
from shiftscope.lang.text import parse_program
from shiftscope.model import ModelName, Prompt, parse_model_name
from shiftscope.models import nsvqa, p_nsvqa, p_nsvqa_exact
from shiftscope.models.nsvqa.neuro_symbolic import NeuroSymbolicModel, NsvqaParsers, ParserCache
from shiftscope.models.nsvqa.trained_model import TrainedModel
from shiftscope.picture import Picture, fit_pixels
from shiftscope.question import Question
from shiftscope.scene import Object, Scene
from shiftscope.scene_table import pack_scenes
from shiftscope.schemas.clevr import SCHEMA

torch = lazy("torch")


SIZE = (48, 32)
DIRECTIONS = (("left", (-1.0, 0.0, 0.0)), ("right", (1.0, 0.0, 0.0)), ("front", (0.0, -1.0, 0.0)), ("behind", (0.0, 1.0, 0.0)))  # fmt: skip


def cube(color, x):
    attributes = (("size", "small"), ("color", color), ("material", "rubber"), ("shape", "cube"))
    return Object(attributes, position=(float(x), 0.0, 0.0), box=(20.0 + 8 * x, 10.0, 6.0, 6.0))


SCENES = [
    Scene((cube("red", -1), cube("blue", 1)), directions=DIRECTIONS, schema=SCHEMA, size=SIZE, id="two"),
    Scene((cube("red", -1), cube("red", 0), cube("blue", 1)), directions=DIRECTIONS, schema=SCHEMA, size=SIZE, id="three"),
]  # fmt: skip
PROGRAMS = {
    "How many cubes?": parse_program("count(filter(scene(), shape=cube))"),
    "What color is left of the blue one?": parse_program(
        "query(unique(relate(unique(filter(scene(), color=blue)), left)), color)"
    ),
}


def png(shade, size=SIZE):
    held = io.BytesIO()
    Image.new("RGB", size, (shade, 0, 0)).save(held, "PNG")
    return held.getvalue()


PLAIN = Calibration.identity(SCHEMA).to_json()
TRAINED = TrainedModel(Path("there"), {"schema": "clevr", "size": SIZE, "calibration": PLAIN})


@dataclass
class Right:
    """Sees in an image of red k scene k, and reads the two questions."""

    trained: TrainedModel = TRAINED
    device: str = "cpu"
    looked: list = field(default_factory=list)
    adapted: tuple | None = None
    seen: ParserCache = field(default_factory=ParserCache)
    read: ParserCache = field(default_factory=ParserCache)

    def synchronize(self):
        pass

    def parse_images(self, images):
        shades = images[:, 0, 0, 0].tolist()
        self.looked.append(shades)
        return build_certain_posterior(pack_scenes([SCENES[k] for k in shades]))

    def parse_questions(self, texts):
        return [PROGRAMS[text] for text in texts]


def built(model, parsers):
    return NeuroSymbolicModel(parsers, model.make_executor(parsers.trained))


def prompt(text, *images, **rest):
    return Prompt(Question("q", text, ("s",), program=parse_program("count(scene())")), pictures=images, **rest)


HOW_MANY, LEFT = PROGRAMS
MODELS = [nsvqa, p_nsvqa, p_nsvqa_exact]


@pytest.mark.parametrize("model", MODELS)
def test_what_is_seen_is_answered(model):
    said = built(model, Right()).predict([prompt(HOW_MANY, png(1)), prompt(HOW_MANY, png(0)), prompt(LEFT, png(0))])
    assert [r.answer for r in said] == [3, 2, "red"]
    assert [parse_program(r.program) for r in said] == [PROGRAMS[HOW_MANY], PROGRAMS[HOW_MANY], PROGRAMS[LEFT]]


def test_only_exact_execution_finds_a_question_unfit():
    (exact,) = built(nsvqa, Right()).predict([prompt(LEFT, png(1))])
    assert (exact.answer, exact.status, exact.reason) == (None, "undefined", "several found")
    for model in (p_nsvqa, p_nsvqa_exact):
        assert built(model, Right()).predict([prompt(LEFT, png(1))])[0].answer == "red"


def test_a_model_adapts_to_pictures_and_stays_as_it_is():
    parsers, adapted, used = Right(), Right(), []
    parsers.adapt = lambda images, kind: used.append((len(images), kind)) or adapted
    for model in MODELS:
        made = built(model, parsers)
        new = made.adapt([Picture(png(k % 2)) for k in range(3)], "prior")
        assert new.parsers is adapted and made.parsers is parsers
        assert new.predict([prompt(HOW_MANY, png(1))])[0].answer == 3
    assert used == [(3, "prior")] * 3
    assert adapted.looked == [[1]] and parsers.looked == []  # models of one parser share what it saw


def test_without_pictures_nothing_is_adapted():
    made = built(p_nsvqa_exact, Right())  # which has no method `adapt`
    assert made.adapt([], "norm") is made


def test_an_unknown_adaptation_is_refused(refuses):
    with refuses("no adaptation 'all'"):
        built(nsvqa, Right()).adapt([Picture(png(0))], "all")


def test_all_of_them_know_the_same_conditions():
    known = [parse_model_name(m).traits for m in ("nsvqa", "p_nsvqa", "p_nsvqa_referent", "p_nsvqa_exact")]
    assert {t.adaptations for t in known} == {("norm", "prior", "both")}
    assert {t.positions for t in known} == {("boxes", "fitted", "predicted")}


def test_a_picture_that_cannot_be_adapted_to_is_named(refuses):
    parsers = NsvqaParsers(TRAINED, "cpu", None, None)
    with refuses("it is one of the images that the model is adapted to"):
        built(nsvqa, parsers).adapt([Picture(b"nothing", name="torn")], "norm")


def test_models_of_one_parser_share_what_it_was_adapted_to(monkeypatch):
    """Adapted once by kind and pictures; where nothing is kept, also what the parser saw as it was trained."""
    made = []

    def adapt(module, images, calibration, steps):
        made.append(steps)
        return ("adapted", steps) if "norm" in steps else (module, ())

    monkeypatch.setattr("shiftscope.models.nsvqa.scene_parser.adapt.adapt_parser", adapt)
    parsers, pictures = NsvqaParsers(TRAINED, "cpu", "as trained", None), [Picture(png(0))]
    one, other = (built(model, parsers).adapt(pictures, "norm").parsers for model in (nsvqa, p_nsvqa))
    assert (one.scene, one.adapted) == ("adapted", ("norm",)) and one.seen is other.seen is not parsers.seen
    same = built(nsvqa, parsers).adapt(pictures, "prior").parsers
    assert (same.scene, same.adapted) == ("as trained", ()) and same.seen is parsers.seen
    assert made == [("norm",), ("prior",)]
    built(nsvqa, parsers).adapt([Picture(png(1))], "norm")
    assert len(made) == 3


@pytest.mark.parametrize("model", MODELS)
def test_columns_are_what_predict_answers(model):
    asked = [prompt(HOW_MANY, png(1)), prompt(LEFT, png(1)), prompt(HOW_MANY, png(0)), prompt(LEFT, png(0))]
    said, found = built(model, Right()).predict(asked), built(model, Right()).predict_columns(asked)
    assert [found.answers[k] for k in found.codes] == [r.answer for r in said]
    sure = [None if np.isnan(c) else float(c) for c in found.confidence]
    assert sure == pytest.approx([r.confidence for r in said])


def test_relations_are_told_from_boxes_or_from_predicted_places():
    """The blue cube's box lies right of the red one's; where it is predicted to stand, it is the other way round."""
    across = Scene((cube("red", -1), cube("blue", 1)), directions=DIRECTIONS, schema=SCHEMA, size=SIZE)
    posterior = build_certain_posterior(pack_scenes([across]))
    turned = replace(posterior, places=-posterior.places)
    learned = {"spatial": BY_PLACES.to_json(), "centres": build_centre_likelihood((40.0, 40.0), (0.1, 0.1)).to_json()}
    trained = TrainedModel(Path("there"), TRAINED.about | learned)
    question = [parse_program("query(unique(relate(unique(filter(scene(), color=blue)), left)), color)")]
    turned_round = [parse_program("query(unique(relate(unique(filter(scene(), color=red)), left)), color)")]
    for model in MODELS:
        for positions in ("boxes", "fitted"):
            (said,) = model.make_executor(trained, positions).execute(question, turned, [0])
            assert said.answer == "red", (model, positions)
        (said,) = model.make_executor(trained, "predicted").execute(turned_round, turned, [0])
        assert said.answer == "blue", model


def test_what_was_not_learned_cannot_be_used(refuses):
    for model in MODELS:
        with refuses("there has learned no relations from predicted; train it again, or use boxes"):
            model.make_executor(TRAINED, "predicted")
        with refuses("no way to tell positions 'guessed'"):
            model.make_executor(TRAINED, "guessed")


def test_an_image_is_looked_at_once():
    parsers = Right()
    model = built(nsvqa, parsers)
    model.predict([prompt(HOW_MANY, png(1)), prompt(HOW_MANY, png(1)), prompt(LEFT, png(0))])
    model.predict([prompt(LEFT, png(0)), prompt(HOW_MANY, png(1))])
    assert parsers.looked == [[1, 0]]


@pytest.mark.parametrize("model", MODELS)
def test_a_condition_spares_a_parser(model):
    parsers = Right()
    shown = prompt(HOW_MANY, scenes=(SCENES[1],), scene_text="The scene holds …")
    told = prompt("a question nobody can read", png(0), program_text="count(scene())")
    said = built(model, parsers).predict([shown, told])
    assert [r.answer for r in said] == [3, 2]
    assert parsers.looked == [[0]]


@pytest.mark.parametrize("model", MODELS)
def test_what_is_not_one_image_is_undefined(model):
    said = built(model, Right()).predict([prompt(HOW_MANY), prompt(HOW_MANY, png(0), png(1)), prompt(HOW_MANY, png(0))])
    assert [r.reason for r in said] == ["no image", "2 images; this model looks at one", ""]
    assert [r.status for r in said] == ["undefined", "undefined", ""]
    assert said[2].answer == 2


def test_an_image_of_another_size_is_resized():
    same = fit_pixels(Picture(png(9, (96, 64))).pixels(), SIZE)
    assert np.array_equal(same, Picture(png(9)).pixels())


def test_an_image_of_another_aspect_is_neither_squeezed_nor_cut():
    """A square of 240 pixels in a picture of 640 × 480 stays a square, in the middle of 480 × 320."""
    picture = np.full((480, 640, 3), 90, np.uint8)
    picture[120:360, 200:440] = 250
    picture[:, :8] = 40  # what is at the edge goes on beyond it
    found = fit_pixels(picture, (480, 320))
    assert found.shape == (320, 480, 3) and found.dtype == np.uint8
    rows, columns = np.nonzero(found[..., 0] > 170)
    assert [np.ptp(rows) + 1, np.ptp(columns) + 1] == pytest.approx([160, 160], abs=1)
    assert (columns.min() + columns.max() + 1) / 2 == pytest.approx(240, abs=1)
    assert (rows.min() + rows.max() + 1) / 2 == pytest.approx(160, abs=1)
    assert (found[:, :26] == 40).all() and (found[:, -26:] == 90).all()
    tall = fit_pixels(np.full((640, 480, 3), 7, np.uint8), (480, 320))
    assert tall.shape == (320, 480, 3) and (tall == 7).all()


def test_pictures_of_several_sizes_are_looked_at_together():
    parsers = Right()
    asked = [prompt(HOW_MANY, png(1, (64, 48))), prompt(HOW_MANY, png(0)), prompt(HOW_MANY, png(1, (30, 90)))]
    assert [r.answer for r in built(nsvqa, parsers).predict(asked)] == [3, 2, 3]
    assert parsers.looked == [[1, 0, 1]]


def broken():
    """A PNG whose second chunk has no name that a chunk can have; Pillow says so with a SyntaxError."""
    whole = png(1)
    return whole[:37] + b"\0\0\0\0" + whole[41:]


@pytest.mark.parametrize("wrong", [b"nothing", b"", png(1)[:60], broken()])
def test_a_picture_that_can_not_be_read_is_named(wrong, refuses):
    with refuses("image 's' cannot be read ("):
        Picture(wrong, name="s").pixels()
    with refuses("image 's' cannot be read ("):
        built(nsvqa, Right()).predict([prompt(HOW_MANY, png(0)), prompt(HOW_MANY, wrong)])


def test_soft_execution_tells_its_steps():
    parsers = Right()
    model = NeuroSymbolicModel(parsers, p_nsvqa.make_executor(TRAINED, trace=True))
    count, color = model.predict([prompt(HOW_MANY, png(1)), prompt(LEFT, png(0))])
    assert count.trace.splitlines() == [
        "count(): 3 (1.00)",
        "filter(shape=cube): #0 1.00, #1 1.00, #2 1.00",
        "scene(): #0 1.00, #1 1.00, #2 1.00",
    ]
    assert color.trace.splitlines()[1].startswith("unique(): #0 (")
    assert color.trace.splitlines()[-1] == "scene(): #0 1.00, #1 1.00"
    assert color.trace.startswith("query(color): red (")
    plain = built(p_nsvqa, parsers).predict([prompt(HOW_MANY, png(1)), prompt(LEFT, png(0))])
    assert [(r.answer, r.confidence) for r in plain] == [(r.answer, r.confidence) for r in (count, color)]


def test_exact_inference_says_where_no_scene_fits():
    sure = TrainedModel(Path("there"), TRAINED.about | {"spatial": BY_PLACES.to_json()})  # of where things stand
    model = NeuroSymbolicModel(Right(), p_nsvqa_exact.make_executor(sure, "predicted"))
    fits, unfit = model.predict([prompt(LEFT, png(0)), prompt(LEFT, png(1))])
    assert (fits.trace, unfit.trace) == ("", p_nsvqa_exact.UNSETTLED)


def test_a_model_is_named_with_its_folder():
    assert parse_model_name("p_nsvqa:out/model") == ModelName("p_nsvqa", "out/model")
    assert parse_model_name("nsvqa:model") == ModelName("nsvqa", "model")  # no module:Class
    assert parse_model_name("nsvqa") == ModelName("nsvqa")
