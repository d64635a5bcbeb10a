"""Region features in every kind of file are read alike."""

import base64
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lazy import lazy
from shiftscope.errors import UserError
from shiftscope.models.region_vqa.feature_files import describe_file, list_images, normalise_id, read_regions

h5py = lazy("h5py")
RANDOM = np.random.default_rng(0)
FEATURES = RANDOM.random((2, 3, 5), np.float32)
BOXES = np.array([[[0, 0, 50, 20], [10, 10, 100, 80], [5, 5, 6, 6]]] * 2, np.float32)
SIZE = (100, 80)  # width, height
IDS = (42, 7)


def write_tsv(path):
    with path.open("w") as file:
        for name, features, boxes in zip(IDS, FEATURES, BOXES, strict=True):
            coded = [base64.b64encode(array.tobytes()).decode() for array in (boxes, features)]
            file.write("\t".join(map(str, (name, *SIZE, 3, *coded))) + "\n")


def write_long_tsv(path):
    with path.open("w") as file:
        for name, features, boxes in zip(IDS, FEATURES, BOXES, strict=True):
            coded = [base64.b64encode(array.tobytes()).decode() for array in (boxes, features)]
            row = (f"COCO_val2014_{name:012}", SIZE[1], SIZE[0], *"abcd", 3, *coded)
            file.write("\t".join(map(str, row)) + "\n")


def write_npz(path):
    np.savez(path, image_ids=np.array(IDS), features=FEATURES, boxes=BOXES, sizes=np.array([SIZE] * 2))


def write_npz_folder(path):
    path.mkdir()
    for name, features, boxes in zip(IDS, FEATURES, BOXES, strict=True):
        np.savez(path / f"COCO_train2014_{name:012}.npz", x=features.T, bbox=boxes, image_w=SIZE[0], image_h=SIZE[1])


def write_parquet(path):
    rows = [
        {"image_id": name, "num_boxes": 3, "features": f.ravel().tolist(), "boxes": b.tobytes()}
        | {"image_w": SIZE[0], "image_h": SIZE[1]}
        for name, f, b in zip(IDS, FEATURES, BOXES, strict=True)
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)


def write_hdf5(path):
    with h5py.File(path, "w") as file:
        file["image_ids"], file["features"], file["boxes"] = np.array(IDS), FEATURES, BOXES
        file["sizes"] = np.array([SIZE] * 2)


def write_spatial_hdf5(path):
    """As the authors of UpDn convert bottom-up features: corners as shares of the image, then width and height."""
    shares = BOXES / np.array([*SIZE, *SIZE])
    with h5py.File(path, "w") as file:
        file["image_ids"] = [f"COCO_val2014_{name:012}.jpg" for name in IDS]
        file["image_features"] = FEATURES
        file["spatial_features"] = np.concatenate([shares, shares[..., 2:] - shares[..., :2]], axis=-1)


FILES = {
    "a.tsv": write_tsv,
    "b.tsv": write_long_tsv,
    "c.npz": write_npz,
    "folder": write_npz_folder,
    "d.h5": write_hdf5,
    "d.hdf5": write_spatial_hdf5,
    "e.parquet": write_parquet,
}


@pytest.mark.parametrize("name", FILES)
def test_every_kind_of_file_gives_the_same_regions(name, tmp_path):
    FILES[name](tmp_path / name)
    about = describe_file(tmp_path / name)
    assert about["numbers"] == 5 and sorted(list_images(about)) == ["42", "7"]
    found = read_regions(json.loads(json.dumps(about)), ["7", "42"])
    np.testing.assert_allclose(found.features[:, :3], FEATURES[::-1], atol=1e-3)
    np.testing.assert_allclose(found.corners[0, 1], [0.1, 0.125, 1.0, 1.0], atol=1e-6)
    assert found.exists.sum(1).tolist() == [3, 3] and not found.exists[:, 3:].any()


def test_images_that_a_file_lacks_are_named(tmp_path):
    write_npz(tmp_path / "c.npz")
    with pytest.raises(UserError, match="lacks 1 of 2 images, such as 8"):
        read_regions(describe_file(tmp_path / "c.npz"), ["7", "8"])


def test_a_damaged_file_is_one_sentence(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("1\t2\t3\n")
    with pytest.raises(UserError, match=r"cannot be read as bottom-up features \(ValueError: a row of 3 columns"):
        describe_file(path)


def test_features_that_overflow_are_refused(tmp_path):
    np.savez(tmp_path / "c.npz", image_ids=np.array([1]), features=np.full((1, 2, 3), 1e6), boxes=np.zeros((1, 2, 4)))
    with pytest.raises(UserError, match="too large for float16"):
        read_regions(describe_file(tmp_path / "c.npz"), ["1"])


def test_hdf5_without_its_reader_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("shiftscope.models.region_vqa.feature_files.find_spec", lambda name: None)
    (tmp_path / "d.h5").write_bytes(b"")
    with pytest.raises(UserError, match=r"h5py is not installed here: pip install 'shiftscope\[hdf5\]'$"):
        describe_file(tmp_path / "d.h5")


def test_hdf5_that_does_not_name_its_images_is_refused(tmp_path):
    with h5py.File(tmp_path / "d.h5", "w") as file:
        file["features"], file["boxes"] = FEATURES, BOXES
    with pytest.raises(UserError, match="does not name its images; add a dataset image_ids"):
        describe_file(tmp_path / "d.h5")


def test_labels_and_boxes_stand_for_regions(tmp_path):
    coco = {
        "images": [{"id": 42, "width": 100, "height": 80, "file_name": "42.jpg"}],
        "annotations": [
            {"id": 1, "image_id": 42, "category_id": 3, "bbox": [10, 20, 30, 40]},
            {"id": 2, "image_id": 42, "category_id": 1, "bbox": [0, 0, 100, 80]},
        ],
        "categories": [{"id": 3, "name": "dog"}, {"id": 1, "name": "cat"}],
    }
    (tmp_path / "instances.json").write_text(json.dumps(coco))
    about = describe_file(tmp_path / "instances.json")
    assert about["labels"] == ["cat", "dog"]
    found = read_regions(about, ["42"])
    assert found.features[0, :2].tolist() == [[0, 1], [1, 0]]
    np.testing.assert_allclose(found.corners[0, 0], [0.1, 0.25, 0.4, 0.75])


@pytest.mark.parametrize(
    "name, plain", [("COCO_val2014_000000000042", "42"), ("000042.jpg", "42"), ("n161313", "n161313")]
)
def test_names_of_images_are_plain(name, plain):
    assert normalise_id(name) == plain
