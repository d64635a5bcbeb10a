"""Picture: PNG bytes or a tensor, whichever is asked for; and what of a prompt a model is given."""

import io
import pickle

import numpy as np
import pytest
from PIL import Image

from lazy import lazy
from shiftscope.lang.text import parse_program
from shiftscope.model import EVERYTHING, Prompt
from shiftscope.picture import Picture, stack
from shiftscope.question import Question
from shiftscope.scene import Scene
from shiftscope.schemas.clevr import SCHEMA

torch = lazy("torch")


@pytest.fixture(autouse=True, scope="module")
def four_pictures():
    global BLOCK
    BLOCK = torch.arange(4 * 6 * 8 * 3, dtype=torch.uint8).reshape(4, 6, 8, 3)


def png(pixels):
    buffer = io.BytesIO()
    Image.fromarray(np.asarray(pixels)).save(buffer, "PNG")
    return buffer.getvalue()


def test_a_picture_is_the_same_as_png_and_as_tensor():
    drawn = Picture(block=BLOCK, row=2, id="toy:2")
    stored = Picture(png(BLOCK[2]), name="toy")
    assert drawn.png() == stored.png()
    for one in (drawn, stored):
        found = one.tensor("cpu")
        assert found.dtype == torch.uint8 and torch.equal(found, BLOCK[2])


def test_the_id_is_of_the_content():
    assert Picture(png(BLOCK[0])).id == Picture(png(BLOCK[0]), name="another name").id
    assert Picture(png(BLOCK[0])) == Picture(png(BLOCK[0])) != Picture(png(BLOCK[1]))
    assert Picture(block=BLOCK, row=1).id == Picture(block=BLOCK[1:2].clone()).id
    assert Picture(block=BLOCK, row=1, id="given").id == "given"
    assert pickle.loads(pickle.dumps(Picture(png(BLOCK[0])))) == Picture(png(BLOCK[0]))


def test_rows_of_one_block_are_stacked_as_a_slice():
    rows = [Picture(block=BLOCK, row=k, id=f"{k}") for k in range(4)]
    assert stack(rows[1:3]).data_ptr() == BLOCK[1:3].data_ptr()  # nothing was copied
    assert torch.equal(stack([rows[3], rows[0]]), BLOCK[[3, 0]])
    assert torch.equal(stack([rows[1], Picture(png(BLOCK[2]))]), BLOCK[1:3])
    assert stack(rows, size=(4, 3)).shape == (4, 3, 4, 3)


SCENE = Scene("s", SCHEMA, ())
ASKED = Prompt(
    Question("q", "How many?", ("s",), program=parse_program("count(scene())")), "How many?", (b"png",), (SCENE,)
)


def test_bytes_are_taken_as_a_picture_of_the_question():
    assert ASKED.images == (b"png",) and ASKED.pictures[0].name == "s"


def test_a_model_is_given_what_it_reads():
    assert ASKED.restrict(EVERYTHING) is ASKED
    seen = ASKED.restrict(frozenset({"text", "images"}))
    assert (seen.images, seen.scenes, seen.question.program) == ((b"png",), (), None)
    assert ASKED.restrict(frozenset({"scenes", "programs"})).images == ()


def test_what_a_condition_puts_in_words_is_given_to_all():
    told = Prompt(ASKED.question, "…", (), (SCENE,), scene_text="A cube.", program_text="count(scene())")
    assert told.restrict(frozenset({"text"})) is told
