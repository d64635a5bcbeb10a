"""A stored scene looked at in passing: with msgspec and without it."""

import json

import pytest

from shiftscope.scene import Object, Part, Scene
from shiftscope.store import tables as module

SCENE = Scene(
    (
        Object((("color", "red"), ("shape", "bus")), parts=(Part("roof"), Part("door", (("color", "blue"),)))),
        Object((("color", "blue"), ("shape", "jet"))),
    ),
    id="one",
)


@pytest.mark.parametrize("installed", [True, False])
def test_a_glance_tells_attributes_and_parts(installed, monkeypatch):
    if not installed:
        monkeypatch.setattr(module, "_build_decoder", lambda: None)
    seen = module.summarize_scene(json.dumps(SCENE.to_json()))
    assert seen == ("one", [o.attributes for o in SCENE.objects], 2)
