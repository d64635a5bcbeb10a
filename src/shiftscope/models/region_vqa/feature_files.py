"""Region features in files: bottom-up features as TSV, npz, HDF5 or Parquet, or the labels and boxes of a scene file.

The usual files hold 36 regions of 2048 numbers for each image of COCO. What is read of an image:
- TSV (base64): the columns of bottom-up-attention (6) or of LXMERT (10), without a header;
- npz: one file with `image_ids`, `features` [image, region, number] and `boxes`, or a folder with a file per image
  (`features` or `x`, `boxes` or `bbox`, `image_w`, `image_h`);
- HDF5: `image_ids`, `features` or `image_features`, and `boxes` or `spatial_features`, whose first four numbers are
  corners;
- Parquet: `image_id`, `num_boxes`, `features`, `boxes` as lists or bytes of float32, `image_w` and `image_h`;
- any file of scenes that `shiftscope.formats` reads (COCO, GQA, Visual Genome): a 1 for each word that describes an
  object, instead of features. It says what a detector would have to find out.

Boxes are corners, in pixels where the image's size is known, else from 0 to 1.
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import UserError

REGIONS = 36  # of an image, the first
LABELS = 2048  # words of a scene file that are told apart, the most frequent
COLUMNS = {  # of a TSV, by how many there are: where each thing stands
    6: ("image_id", "image_w", "image_h", "num_boxes", "boxes", "features"),
    10: ("image_id", "image_h", "image_w", *("",) * 4, "num_boxes", "boxes", "features"),
}
Floats = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class RegionArrays:
    """The regions of some images, in the order in which they were asked for."""

    features: npt.NDArray[np.float16]  # [image, region, number]
    corners: npt.NDArray[np.float32]  # [image, region, left top right bottom] from 0 to 1
    exists: npt.NDArray[np.bool_]  # [image, region]


@dataclass(frozen=True, slots=True, eq=False)
class ImageRegions:
    """The regions of one image, as a file has them."""

    image: str
    features: Floats  # [region, number]
    boxes: Floats  # [region, 4]
    size: tuple[float, float]  # width and height; 1 by 1 where boxes are from 0 to 1


def describe_file(path: Path) -> dict[str, Any]:
    """What a network needs to know of a file: how long features are, and which words stand for what."""
    if not path.exists():
        raise UserError(f"{path}: no such file of region features")
    if _find_reader(path) is None:
        labels = _list_labels(path)
        return {"file": str(path.resolve()), "labels": labels, "numbers": len(labels), "trained": False}
    first = next(iter(_read_images(path, None)), None)
    if first is None:
        raise UserError(f"{path} holds the features of no image")
    return {"file": str(path.resolve()), "numbers": int(first.features.shape[1]), "trained": False}


def read_regions(about: Mapping[str, Any], images: Sequence[str]) -> RegionArrays:
    """The regions of these images; a UserError names how many the file lacks."""
    path, numbers = Path(about["file"]), int(about["numbers"])
    if not path.exists():
        raise UserError(f"{path}: the file of region features is gone that this model was trained with")
    place = {normalise_id(name): k for k, name in enumerate(images)}
    shape = (len(images), REGIONS)
    found = RegionArrays(
        np.zeros((*shape, numbers), np.float16), np.zeros((*shape, 4), np.float32), np.zeros(shape, bool)
    )
    left = set(place)
    rows = _read_images(path, place) if "labels" not in about else _label_scenes(path, about["labels"], place)
    for one in rows:
        k, n = place[one.image], min(len(one.features), REGIONS)
        if one.features.ndim != 2 or one.features.shape[1] != numbers or one.boxes.shape[:1] != one.features.shape[:1]:
            raise UserError(
                f"{path}: image {one.image} has features of shape {one.features.shape} and {len(one.boxes)} boxes; "
                f"expected {numbers} numbers for each box"
            )
        if not np.isfinite(one.features).all() or np.abs(one.features).max(initial=0) > np.finfo(np.float16).max:
            raise UserError(f"{path}: image {one.image} has features that are not finite, or too large for float16")
        found.features[k, :n], found.exists[k, :n] = one.features[:n], True
        found.corners[k, :n] = one.boxes[:n, :4] / np.array([*one.size, *one.size], np.float32)
        left.discard(one.image)
        if not left:
            break
    if left:
        raise UserError(f"{path} lacks {len(left):,} of {len(place):,} images, such as {min(left)}")
    return found


def list_images(about: Mapping[str, Any]) -> list[str]:
    """All images of a file, by their normalised names."""
    path = Path(about["file"])
    if not path.exists():
        raise UserError(f"{path}: the file of region features is gone that this model was trained with")
    if "labels" in about:
        return [normalise_id(scene.id) for scene in _iterate_scenes(path)]
    return [one.image for one in _read_images(path, None)]


def normalise_id(name: object) -> str:
    """An image's name without what COCO's files put around its number: COCO_val2014_000000000042 is 42."""
    text = name.decode() if isinstance(name, bytes) else str(name)
    number = re.fullmatch(r"(?:COCO_\w+?_)?0*(\d+)(?:\.\w+)?", text)
    return number[1] if number else text


def _find_reader(path: Path) -> Any:
    """What reads the file, by its name; None for a file of scenes."""
    if path.is_dir():
        return _read_npz_folder if any(path.glob("*.npz")) else None
    readers = {".tsv": _read_tsv, ".npz": _read_npz, ".h5": _read_hdf5, ".hdf5": _read_hdf5, ".parquet": _read_parquet}
    return readers.get(path.suffix.lower())


def _read_images(path: Path, wanted: Mapping[str, int] | None) -> Iterator[ImageRegions]:
    """The images of a bottom-up file, those that are wanted; whatever is wrong with it is one sentence."""
    try:
        yield from _find_reader(path)(path, wanted)
    except UserError:
        raise
    except (KeyError, ValueError, OSError, IndexError, TypeError) as error:
        why = f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
        raise UserError(f"{path} cannot be read as bottom-up features ({why})") from None


def _read_tsv(path: Path, wanted: Mapping[str, int] | None) -> Iterator[ImageRegions]:
    with path.open() as file:
        for row in (line.rstrip("\n").split("\t") for line in file):  # nothing in them is quoted
            if len(row) not in COLUMNS:
                raise ValueError(f"a row of {len(row)} columns, not 6 or 10")
            named = dict(zip(COLUMNS[len(row)], row, strict=True))
            image, count = normalise_id(named["image_id"]), int(named["num_boxes"])
            if wanted is None or image in wanted:
                boxes, features = (_decode_floats(base64.b64decode(named[key]), count) for key in ("boxes", "features"))
                yield ImageRegions(image, features, boxes, (float(named["image_w"]), float(named["image_h"])))


def _decode_floats(data: bytes, rows: int) -> Floats:
    return np.frombuffer(data, np.float32).reshape(rows, -1)


def _read_npz(path: Path, wanted: Mapping[str, int] | None) -> Iterator[ImageRegions]:
    with np.load(path, allow_pickle=False) as held:
        ids, features, boxes = (held[name] for name in ("image_ids", "features", "boxes"))
        sizes = held["sizes"] if "sizes" in held else np.ones((len(ids), 2))
    yield from _iterate_rows(ids.tolist(), features, boxes, sizes, wanted)


def _iterate_rows(
    ids: Sequence[Any], features: Any, boxes: Any, sizes: Floats, wanted: Mapping[str, int] | None
) -> Iterator[ImageRegions]:
    for k, name in enumerate(ids):
        if wanted is None or normalise_id(name) in wanted:
            size = (float(sizes[k][0]), float(sizes[k][1]))
            yield ImageRegions(normalise_id(name), np.asarray(features[k]), np.asarray(boxes[k])[:, :4], size)


def _read_npz_folder(path: Path, wanted: Mapping[str, int] | None) -> Iterator[ImageRegions]:
    for file in sorted(path.glob("*.npz")):
        image = normalise_id(file.stem)
        if wanted is not None and image not in wanted:
            continue
        with np.load(file, allow_pickle=False) as held:
            boxes = held["boxes" if "boxes" in held else "bbox"]
            features = held["features" if "features" in held else "x"]
            size = tuple(float(held[name]) if name in held else 1.0 for name in ("image_w", "image_h"))
        features = features if len(features) == len(boxes) else features.T  # some have a column per region
        yield ImageRegions(image, features, boxes, (size[0], size[1]))


def _read_hdf5(path: Path, wanted: Mapping[str, int] | None) -> Iterator[ImageRegions]:
    if find_spec("h5py") is None:
        raise UserError(f"{path} is HDF5, and h5py is not installed here: pip install 'shiftscope[hdf5]'")
    import h5py

    with h5py.File(path) as held:
        if "image_ids" not in held:
            raise UserError(f"{path} does not name its images; add a dataset image_ids, in the order of the features")
        features = held["features" if "features" in held else "image_features"]
        boxes = held["boxes" if "boxes" in held else "spatial_features"]
        sizes = held["sizes"][:] if "sizes" in held else np.ones((len(features), 2))
        yield from _iterate_rows(held["image_ids"][:].tolist(), features, boxes, sizes, wanted)


def _read_parquet(path: Path, wanted: Mapping[str, int] | None) -> Iterator[ImageRegions]:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=64):
            for row in batch.to_pylist():
                image = normalise_id(row["image_id"])
                if wanted is None or image in wanted:
                    count = int(row["num_boxes"])
                    boxes, features = (_read_floats(row[key], count) for key in ("boxes", "features"))
                    size = (float(row.get("image_w") or 1), float(row.get("image_h") or 1))
                    yield ImageRegions(image, features, boxes, size)


def _read_floats(value: Any, rows: int) -> Floats:
    if isinstance(value, bytes):
        return _decode_floats(value, rows)
    return np.asarray(value, np.float32).reshape(rows, -1)


def _list_labels(path: Path) -> list[str]:
    """The words for objects of a scene file, the most frequent."""
    counts = Counter(word for scene in _iterate_scenes(path) for one in scene.objects for word in _describe(one))
    if not counts:
        raise UserError(f"{path} describes no object; name a file of bottom-up features or of scenes with objects")
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    return sorted(ranked[:LABELS])


def _label_scenes(path: Path, labels: Sequence[str], wanted: Mapping[str, int]) -> Iterator[ImageRegions]:
    number = {word: k for k, word in enumerate(labels)}
    for scene in _iterate_scenes(path):
        image = normalise_id(scene.id)
        if image not in wanted:
            continue
        features = np.zeros((len(scene.objects), len(labels)), np.float32)
        boxes = np.zeros((len(scene.objects), 4), np.float32)
        for k, one in enumerate(scene.objects):
            features[k, [number[word] for word in _describe(one) if word in number]] = 1
            if one.box is not None:
                left, top, width, height = one.box
                boxes[k] = (left, top, left + width, top + height)
        size = (float(scene.size[0]), float(scene.size[1])) if scene.size else _find_extent(boxes)
        yield ImageRegions(image, features, boxes, size)


def _find_extent(boxes: Floats) -> tuple[float, float]:
    """The least image that holds all boxes, where the file does not say how large it is."""
    return max(1.0, float(boxes[:, 2].max(initial=1))), max(1.0, float(boxes[:, 3].max(initial=1)))


def _describe(thing: Any) -> list[str]:
    """The words for an object: its name, and the values of its attributes."""
    return [str(value) for _, value in thing.attributes]


def _iterate_scenes(path: Path) -> Iterator[Any]:
    from ...formats import iterate_scenes

    return iterate_scenes(path)
