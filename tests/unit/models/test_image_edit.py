"""image_edit draws where an action is told, and leaves other pictures as they are."""

from types import SimpleNamespace

import numpy as np

from lazy import lazy
from shiftscope.models.end_to_end.questions import AnswererConfig
from shiftscope.models.image_edit import ImageEditModel
from shiftscope.models.image_edit.config import EditorConfig
from shiftscope.picture import Picture

torch = lazy("torch")


def test_without_an_action_a_picture_stays_as_it_is():
    from shiftscope.models.image_edit.network import ImageEditor

    words = AnswererConfig(("remove", "the", "cube"), (), (0, 0), {}, {})
    torch.manual_seed(0)
    module = ImageEditor(EditorConfig(words, {"width": 32, "text": 8, "layers": 2, "heads": 2})).eval()
    model = ImageEditModel(SimpleNamespace(size=(48, 32)), module, "cpu")
    block = np.random.default_rng(0).integers(0, 255, (2, 32, 48, 3), np.uint8)
    pictures = [Picture(block=block, row=k) for k in range(2)]
    with torch.inference_mode():
        assert np.array_equal(model.draw(pictures, ["", ""]).numpy(), block)
        first, second = model.draw(pictures, ["", "Remove the cube."]).numpy()
    assert np.array_equal(first, block[0]) and not np.array_equal(second, block[1])
