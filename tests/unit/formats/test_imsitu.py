"""imSitu's frames become scenes whose further roles are relations, noted as modifiers."""

import json
from pathlib import Path

import pytest

from shiftscope.errors import UserError
from shiftscope.formats import read_scenes as read_any
from shiftscope.formats.imsitu import read_scenes
from shiftscope.scene import FREE, Relation
from shiftscope.scene_graph.extract import extract_subgraphs
from shiftscope.scene_graph.pack import pack_graphs

SPACE = {
    "nouns": {
        "n1": {"gloss": ["man", "adult male"], "def": ""},
        "n2": {"gloss": ["bottle"], "def": ""},
        "n3": {"gloss": ["corkscrew"], "def": ""},
        "n4": {"gloss": ["kitchen"], "def": ""},
    },
    "verbs": {
        "uncorking": {
            "abstract": "an AGENT uncorks the ITEM with a TOOL in a PLACE",
            "order": ["item", "agent", "tool", "place"],
            "roles": {},
        },
        "clinging": {"abstract": "the AGENT clings to the CLUNGTO", "order": ["agent", "clungto", "place"]},
    },
}
IMAGES = {
    "uncorking_1.jpg": {
        "verb": "uncorking",
        "frames": [
            {"agent": "n1", "item": "n2", "tool": "n3", "place": "n4"},
            {"agent": "n1", "item": "n3", "tool": "", "place": "n4"},
            {"agent": "n1", "item": "n2", "tool": "n3", "place": ""},
        ],
    },
    "clinging_1.jpg": {"verb": "clinging", "frames": [{"agent": "n1", "clungto": "n2", "place": "n4"}]},
    "uncorking_2.jpg": {"verb": "uncorking", "frames": [{"agent": "n1", "item": "", "tool": "n3", "place": ""}]},
    "uncorking_3.jpg": {"verb": "uncorking", "frames": [{"agent": "n1", "item": "", "tool": "", "place": ""}]},
    "uncorking_4.jpg": {"verb": "uncorking", "frames": [{"agent": "", "item": "n2", "tool": "", "place": ""}]},
}


def stored(folder: Path, images=IMAGES, space=SPACE) -> Path:
    if space is not None:
        (folder / "imsitu_space.json").write_text(json.dumps(space))
    path = folder / "dev.json"
    path.write_text(json.dumps(images))
    return path


def test_a_frame_becomes_a_scene(tmp_path):
    full, clinging, tool, alone, nobody = read_scenes(stored(tmp_path))
    assert [o.values("name")[0] for o in full.objects] == ["man", "bottle", "corkscrew", "kitchen"]
    assert full.relations == (
        Relation("uncorking", (0, 1, 0, 0)),
        Relation("uncorking with", (0, 0, 1, 0)),
        Relation("uncorking in", (0, 0, 0, 1)),
    )
    assert full.note("modifiers") == {"uncorking with": ["uncorking", "with"], "uncorking in": ["uncorking", "in"]}
    assert [r.name for r in clinging.relations] == ["clinging to", "clinging to in"]
    assert [r.name for r in tool.relations] == ["uncorking with"]
    assert tool.note("modifiers") == {}
    assert alone.objects[0].attributes == (("name", "man"), (FREE, "uncorking"))
    assert (nobody.objects[0].values("name"), nobody.relations) == (("bottle",), ())


def test_roles_become_modifiers_of_subgraphs(tmp_path):
    packed = pack_graphs(read_any(stored(tmp_path)))
    found = [str(s) for s in extract_subgraphs(packed, 0)]
    assert "man uncorking bottle in kitchen with corkscrew" in found
    assert "man uncorking bottle with corkscrew" in found
    assert len(found) == 8  # four things, and the relation with none, either or both of its modifiers


@pytest.mark.parametrize(
    ("images", "space", "message"),
    [
        (IMAGES, None, "imSitu's frames need imsitu_space.json"),
        ({}, SPACE, "there are no images in it"),
        ({"a.jpg": {"verb": "flying", "frames": [{}]}}, SPACE, "image a.jpg: the verb 'flying' is not in"),
        ({"a.jpg": {"verb": "uncorking", "frames": []}}, SPACE, "image a.jpg: expected a list of frames"),
        ({"a.jpg": {"verb": "uncorking", "frames": [{"agent": "n9"}]}}, SPACE, "the noun 'n9' is not in"),
        ({"a.jpg": {"verb": "uncorking"}}, SPACE, "image a.jpg is malformed: there is no 'frames' in it"),
        (IMAGES, {"nouns": {}}, "expected an object with nouns and verbs"),
    ],
)
def test_a_malformed_file_is_refused(tmp_path, images, space, message):
    with pytest.raises(UserError, match=message):
        list(read_scenes(stored(tmp_path, images, space)))
