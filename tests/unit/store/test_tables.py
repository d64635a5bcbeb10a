"""What counting needs of a stored scene."""

import json

from shiftscope.scene import Object, Part, Scene
from shiftscope.store.tables import summarize_scene

SCENE = Scene(
    (
        Object((("color", "red"), ("shape", "bus")), parts=(Part("roof"), Part("door", (("color", "blue"),)))),
        Object((("color", "blue"), ("shape", "jet"))),
    ),
    id="one",
)


def test_a_summary_tells_attributes_and_parts():
    seen = summarize_scene(json.dumps(SCENE.to_json()))
    assert seen == ("one", [o.attributes for o in SCENE.objects], 2)
