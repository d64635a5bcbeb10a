"""Which kinds of objects each image shows, from COCO files, scene graphs, YOLO labels or scenes of ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..formats import _any, _json
from ..scene import Pairs, Scene
from .keys import distinct
from .samples import EXAMPLES, Id, Objects, Remark, Samples

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """What the images of one file show: object k is `kinds[kind[k]]` in `images[image[k]]`."""

    images: Sequence[Id]
    kinds: Sequence[str]
    image: Ints  # [object]
    kind: Ints


def with_objects(samples: Samples, files: Iterable[Shown]) -> Samples:
    """The samples with the objects of their images; images that no sample asks about are passed over."""
    place = {str(name): k for k, name in enumerate(samples.images.values)}
    known = np.zeros(len(place), bool)
    number: dict[str, int] = {}
    images: list[Ints] = [np.zeros(0, np.int64)]
    kinds: list[Ints] = [np.zeros(0, np.int64)]
    for file in files:
        where = np.array([place.get(str(name), -1) for name in file.images], np.int64)
        known[where[where >= 0]] = True
        codes = np.array([number.setdefault(kind, len(number)) for kind in file.kinds], np.int64)
        asked = where[file.image] >= 0 if len(where) else np.zeros(0, bool)
        images.append(where[file.image[asked]])
        kinds.append(codes[file.kind[asked]])
    image, kind = np.concatenate(images), np.concatenate(kinds)
    words = sorted(number)
    rank = np.empty(len(words), np.int64)
    rank[[number[word] for word in words]] = np.arange(len(words))
    width = max(1, len(words))
    key = distinct(image * width + rank[kind])
    at = np.searchsorted(key // width, np.arange(len(place) + 1)).astype(np.int64)
    found = Objects(tuple(words), (key % width).astype(np.int32), at, known)
    return replace(samples, objects=found, remarks=(*samples.remarks, *_unknown(samples, known)))


def _unknown(samples: Samples, known: npt.NDArray[np.bool_]) -> Iterator[Remark]:
    images = samples.images.codes
    missing = np.flatnonzero((images >= 0) & ~np.append(known, False)[images])
    if len(missing):
        what = "questions about images that the object annotations do not name"
        some = tuple(samples.ids_of(missing[:EXAMPLES].tolist()))
        yield Remark(what, "kept, in no group by objects", len(missing), some)


def read_objects(paths: Sequence[Path]) -> Iterator[Shown]:
    """What COCO instance files, scene graphs or folders of YOLO labels show, one file after the other."""
    for path in paths:
        yield (None if path.is_dir() else _fast(path)) or objects_of(_any.read_scenes(path))


def objects_of(scenes: Iterable[Scene]) -> Shown:
    """The kinds in scenes: an object's shape where it has one (CLEVR), else its name."""
    return shown((s.id, [k for o in s.objects for k in kind_of(o.attributes)]) for s in scenes)


def kind_of(attributes: Pairs) -> tuple[str, ...]:
    """What kind of thing an object is: its first shape, else its first name, else nothing."""
    named = [v for a, v in attributes if a == "shape"] or [v for a, v in attributes if a == "name"]
    return tuple(named[:1])


def shown(listed: Iterable[tuple[Id, Iterable[str]]]) -> Shown:
    """From each image and the kinds of its objects."""
    number: dict[str, int] = {}
    names: list[Id] = []
    image: list[int] = []
    kind: list[int] = []
    for name, kinds in listed:
        for one in kinds:
            image.append(len(names))
            kind.append(number.setdefault(one, len(number)))
        names.append(name)
    return Shown(names, tuple(number), np.array(image, np.int64), np.array(kind, np.int64))


@cache
def _decoders() -> tuple[Any, Any]:
    import msgspec

    name = int | str
    category = msgspec.defstruct("Category", [("id", name), ("name", str)])
    annotation = msgspec.defstruct("Annotation", [("image_id", name), ("category_id", name)], gc=False)
    image = msgspec.defstruct("Image", [("id", name)], gc=False)
    lists: list[tuple[str, Any]] = [
        ("images", list[image]),  # type: ignore[valid-type]
        ("annotations", list[annotation]),  # type: ignore[valid-type]
        ("categories", list[category]),  # type: ignore[valid-type]
    ]
    coco = msgspec.defstruct("Coco", lists)
    thing = msgspec.defstruct("Thing", [("name", str)], gc=False)
    graph = msgspec.defstruct("Graph", [("objects", dict[str, thing])])  # type: ignore[valid-type]
    return msgspec.json.Decoder(coco), msgspec.json.Decoder(dict[str, graph])  # type: ignore[valid-type]


def _fast(path: Path) -> Shown | None:
    """A COCO file or scene graphs, or None: then the slow reader reads it, or says what is wrong."""
    try:
        import msgspec
    except ImportError:
        return None
    data = _json.read_bytes(path)
    coco, graphs = _decoders()
    try:
        return _coco(coco.decode(data))
    except (msgspec.DecodeError, RecursionError, KeyError):
        pass
    try:
        found = graphs.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return None
    if data.count(b'"objects"') != len(found):  # an image may stand twice: only the last would be here
        return None
    return shown((image, [o.name for o in graph.objects.values()]) for image, graph in found.items())


def _coco(whole: Any) -> Shown | None:
    """None where an id stands twice, KeyError where one is not listed: the slow reader names the culprit."""
    kinds = {c.id: k for k, c in enumerate(whole.categories)}
    images = {i.id: k for k, i in enumerate(whole.images)}
    if len(kinds) < len(whole.categories) or len(images) < len(whole.images):
        return None
    objects = whole.annotations
    return Shown(
        list(images),
        [c.name for c in whole.categories],
        np.fromiter((images[a.image_id] for a in objects), np.int64, len(objects)),
        np.fromiter((kinds[a.category_id] for a in objects), np.int64, len(objects)),
    )
