"""Scenes of a file or of a dataset's splits, and what files made from them say of their licence."""

import json

import pytest

from shiftscope.errors import UserError
from shiftscope.formats import clevr
from shiftscope.run.scene_source import describe_licenses, read_given_scenes
from shiftscope.scene import Scene
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.manifest import DatasetInfo
from store_toys import JOBS, SPEC, make


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("given") / "data"
    return build_dataset(folder, SPEC, JOBS, make, about=DatasetInfo("Toys", license="cc0-1.0"))


def nothing(spec, split, k):
    return [], []


def test_scenes_of_a_dataset_are_those_of_its_images_split_by_split(dataset):
    assert read_given_scenes(dataset.folder) == [i.scene for i in dataset.images()]
    assert read_given_scenes(dataset.folder, ["val"]) == [i.scene for i in dataset.images("val")]
    both = [i.scene for split in ("test", "val") for i in dataset.images(split)]
    assert read_given_scenes(dataset.folder, ["test", "val", "test"]) == both


def test_a_split_that_is_not_there_or_empty_is_refused(dataset, tmp_path):
    with pytest.raises(UserError, match=r"no split 'vall' in .*; did you mean 'val'"):
        read_given_scenes(dataset.folder, ["vall"])
    empty = build_dataset(tmp_path / "empty", {}, {"train": 1}, nothing)
    with pytest.raises(UserError, match="the dataset has no images, and so no scenes"):
        read_given_scenes(empty.folder)
    with pytest.raises(UserError, match="holds several datasets; name one of them"):
        read_given_scenes(dataset.folder.parent)


def test_a_file_has_no_splits(tmp_path):
    path = tmp_path / "scenes.json"
    clevr.write_scenes(path, [Scene((), id="0", notes=(("image_index", 0),))])
    assert [s.id for s in read_given_scenes(path)] == ["0"]
    with pytest.raises(UserError, match=r"--split is for datasets, and .*scenes\.json is none; omit it"):
        read_given_scenes(path, ["val"])


def write(path, data):
    path.write_text(json.dumps(data))
    return path


SCENES = [{"image_index": 0, "objects": []}]
GRAPHS = {"1": {"width": 4, "height": 4, "objects": {}}}
VQA = {"questions": [{"question_id": 1, "image_id": 1, "question": "Is it?"}]}
BY = {"name": "Creative Commons Attribution 4.0 International License", "url": "http://creativecommons.org"}


@pytest.mark.parametrize(
    ("data", "license", "said"),
    [
        ({"info": {"license": "Creative Commons Attribution (CC BY 4.0)"}, "scenes": SCENES}, "cc-by-4.0", "CC BY 4.0"),
        ({"info": {"license": "CC BY-NC 4.0"}, "scenes": SCENES}, "other", "says of its licence: CC BY-NC 4.0"),
        ({"info": {}, "scenes": SCENES}, "other", "its licence is not known here"),
        (GRAPHS, "cc-by-4.0", "in the format of GQA, which is released under cc-by-4.0"),
        (VQA | {"license": BY}, "cc-by-4.0", "Attribution 4.0 International License http://creativecommons.org"),
        (VQA, "cc-by-4.0", "in the format of VQA"),
        ({"anything": 1}, "other", "its licence is not known here"),
    ],
)
def test_the_licence_of_a_file_is_what_it_says_else_that_of_the_release_in_whose_format_it_is(
    data, license, said, tmp_path
):
    found = describe_licenses([write(tmp_path / "given.json", data)])
    assert found["license"] == license
    assert found["sources"].startswith("- `given.json`")
    assert said in found["sources"]


def test_a_dataset_says_its_licence_and_a_mixture_has_none_of_its_own(dataset, tmp_path):
    graphs = write(tmp_path / "graphs.json", GRAPHS)
    assert describe_licenses([graphs])["license"] == "cc-by-4.0"
    found = describe_licenses([graphs, dataset.folder])
    assert found["license"] == "other"
    assert "- `data`: Toys (cc0-1.0)" in found["sources"]
