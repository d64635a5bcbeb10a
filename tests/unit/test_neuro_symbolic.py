"""Neuro-symbolic models with parsers that are known to be right: what is seen, read, remembered and refused."""

import io
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from shiftscope.lang.beliefs import certain
from shiftscope.lang.calibration import Calibration
from shiftscope.lang.text import parse
from shiftscope.models import nsvqa, p_nsvqa, p_nsvqa_exact
from shiftscope.models._model import Prompt, Setting
from shiftscope.models._name import ModelName, read_name
from shiftscope.models._neuro_symbolic import NeuroSymbolic
from shiftscope.models._picture import decoded, fitted
from shiftscope.models._weights import Trained
from shiftscope.question import Question
from shiftscope.scene import Object, Scene
from shiftscope.scenetable import pack
from shiftscope.schemas.clevr import SCHEMA

torch = pytest.importorskip("torch")

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
    "How many cubes?": parse("count(filter(scene(), shape=cube))"),
    "What color is left of the blue one?": parse(
        "query(unique(relate(unique(filter(scene(), color=blue)), left)), color)"
    ),
}


def png(shade, size=SIZE):
    held = io.BytesIO()
    Image.new("RGB", size, (shade, 0, 0)).save(held, "PNG")
    return held.getvalue()


PLAIN = Calibration.none(SCHEMA).to_json()
TRAINED = Trained(Path("there"), {"schema": "clevr", "size": SIZE, "calibration": PLAIN})


@dataclass
class Right:
    """Sees in an image of red k scene k, and reads the two questions."""

    trained: Trained = TRAINED
    device: str = "cpu"
    looked: list = field(default_factory=list)

    def see(self, images):
        shades = images[:, 0, 0, 0].tolist()
        self.looked.append(shades)
        return certain(pack([SCENES[k] for k in shades]))

    def read(self, texts):
        return [PROGRAMS[text] for text in texts]


def built(model, parsers):
    if model is p_nsvqa_exact:
        return NeuroSymbolic(parsers, model.executor(parsers.trained), model.execute_known)
    return NeuroSymbolic(parsers, model.execute, getattr(model, "execute_known", None))


def prompt(text, *images, **rest):
    return Prompt(Question("q", text, ("s",), program=parse("count(scene())")), images=images, **rest)


HOW_MANY, LEFT = PROGRAMS
MODELS = [nsvqa, p_nsvqa, p_nsvqa_exact]


@pytest.mark.parametrize("model", MODELS)
def test_what_is_seen_is_answered(model):
    said = built(model, Right()).predict(
        [prompt(HOW_MANY, png(1)), prompt(HOW_MANY, png(0)), prompt(LEFT, png(0))]
    )
    assert [r.answer for r in said] == [3, 2, "red"]
    assert [parse(r.program) for r in said] == [PROGRAMS[HOW_MANY], PROGRAMS[HOW_MANY], PROGRAMS[LEFT]]


def test_only_exact_execution_finds_a_question_unfit():
    (exact,) = built(nsvqa, Right()).predict([prompt(LEFT, png(1))])
    assert (exact.answer, exact.status, exact.reason) == (None, "undefined", "several found")
    for model in (p_nsvqa, p_nsvqa_exact):
        assert built(model, Right()).predict([prompt(LEFT, png(1))])[0].answer == "red"


def test_exact_inference_gets_used_to_the_images_first(monkeypatch):
    """To the first of the split, once, whatever it is asked first; the other models never do."""
    shown = [(f"image {k}", png(k % 2)) for k in range(100)]
    for model in MODELS:
        parsers, attuned, used = Right(), Right(), []
        parsers.attuned = lambda images, used=used, attuned=attuned: used.append(len(images)) or attuned
        monkeypatch.setattr(model, "load", lambda *given, parsers=parsers: parsers)
        made = model.build("", Setting(shown=lambda: iter(shown)))
        made.ready([prompt(HOW_MANY)])  # no image: nothing to get used to
        assert used == []
        for asked in ([prompt(HOW_MANY, png(1))], [prompt(LEFT, png(0))]):
            made.predict(asked)
        exact = model is p_nsvqa_exact
        assert used == ([p_nsvqa_exact.ATTUNED] if exact else [])
        assert (attuned if exact else parsers).looked == [[1], [0]]


def test_getting_ready_is_done_once_and_before(monkeypatch):
    parsers, used = Right(), []
    parsers.attuned = lambda images: used.append(len(images)) or parsers
    monkeypatch.setattr(p_nsvqa_exact, "load", lambda *given: parsers)
    made = p_nsvqa_exact.build("", Setting(shown=lambda: [("one", png(0))]))
    made.ready([prompt(HOW_MANY, png(1))])
    assert (used, parsers.looked) == ([1], [])
    made.predict([prompt(HOW_MANY, png(1))])
    assert used == [1]


def test_an_image_that_is_only_looked_at_beforehand_is_said_to_be(monkeypatch, refuses):
    monkeypatch.setattr(p_nsvqa_exact, "load", lambda *given: Right())
    made = p_nsvqa_exact.build("", Setting(shown=lambda: [("torn", b"nothing")]))
    with refuses("the first images of the split are looked at beforehand"):
        made.predict([prompt(HOW_MANY, png(1))])


def test_without_images_beforehand_exact_inference_looks_as_it_learned(monkeypatch):
    monkeypatch.setattr(p_nsvqa_exact, "load", lambda *given: Right())  # which can not be attuned
    made = p_nsvqa_exact.build("", Setting())
    assert made.predict([prompt(HOW_MANY, png(1))])[0].answer == 3


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
    said = built(model, Right()).predict(
        [prompt(HOW_MANY), prompt(HOW_MANY, png(0), png(1)), prompt(HOW_MANY, png(0))]
    )
    assert [r.reason for r in said] == ["no image", "2 images; this model looks at one", ""]
    assert [r.status for r in said] == ["undefined", "undefined", ""]
    assert said[2].answer == 2


def test_an_image_of_another_size_is_resized():
    same = fitted(decoded(png(9, (96, 64)), "s"), SIZE)
    assert np.array_equal(same, decoded(png(9), "s"))


def test_an_image_of_another_aspect_is_neither_squeezed_nor_cut():
    """A square of 240 pixels in a picture of 640 × 480 stays a square, in the middle of 480 × 320."""
    picture = np.full((480, 640, 3), 90, np.uint8)
    picture[120:360, 200:440] = 250
    picture[:, :8] = 40  # what is at the edge goes on beyond it
    found = fitted(picture, (480, 320))
    assert found.shape == (320, 480, 3) and found.dtype == np.uint8
    rows, columns = np.nonzero(found[..., 0] > 170)
    assert [np.ptp(rows) + 1, np.ptp(columns) + 1] == pytest.approx([160, 160], abs=1)
    assert (columns.min() + columns.max() + 1) / 2 == pytest.approx(240, abs=1)
    assert (rows.min() + rows.max() + 1) / 2 == pytest.approx(160, abs=1)
    assert (found[:, :26] == 40).all() and (found[:, -26:] == 90).all()
    tall = fitted(np.full((640, 480, 3), 7, np.uint8), (480, 320))
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
    with refuses("image 's' can not be read ("):
        decoded(wrong, "s")
    with refuses("image 's' can not be read ("):
        built(nsvqa, Right()).predict([prompt(HOW_MANY, png(0)), prompt(HOW_MANY, wrong)])


def test_soft_execution_tells_its_steps():
    parsers = Right()
    model = NeuroSymbolic(parsers, p_nsvqa.execute_told)
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
    assert [(r.answer, r.belief) for r in plain] == [(r.answer, r.belief) for r in (count, color)]


def test_exact_inference_says_where_no_scene_fits():
    fits, unfit = built(p_nsvqa_exact, Right()).predict([prompt(LEFT, png(0)), prompt(LEFT, png(1))])
    assert (fits.trace, unfit.trace) == ("", p_nsvqa_exact.UNSETTLED)


def test_a_model_is_named_with_its_folder():
    assert read_name("p_nsvqa:out/model") == ModelName("p_nsvqa", "out/model")
    assert read_name("nsvqa:model") == ModelName("nsvqa", "model")  # no module:Class
    assert read_name("nsvqa") == ModelName("nsvqa")
