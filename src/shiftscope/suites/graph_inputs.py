"""Graph inputs: what COVR and GQA are made from (files, images, sources of exclusivity), and how specs name them.

A spec names files, and folders of pictures, by name and content and never by where they lie.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, Self

from ..errors import UserError, unknown
from ..files import digest_of, file_digest, read_whole, resolve_links
from ..formats import iterate_scenes
from ..formats.coco import image_id
from ..formats.imsitu import SPACE
from ..scene import Scene
from ..scene_graph.exclusivity import MutualExclusivity, build_exclusivity
from ..scene_graph.wordnet import SHIPPED as WORDNET
from ..scene_graph.wordnet import identify_wordnet
from ..schema import Schema
from ..store.dataset import Dataset, ImageIndex
from ..store.image import StoredImage
from ..store.manifest import MANIFEST_FILE as MANIFEST

OVERLAP_SOURCES = ("schema", "wordnet", "table", "nli")
ENDINGS = (".png", ".jpg", ".jpeg")
DIGITS = 16  # of a digest that a spec gives
EDGE = 4096  # bytes at either end of a picture that tell it from others


@dataclass(frozen=True, slots=True)
class OverlapSources:
    """Who decides which words exclude which, besides the schema and our own tables."""

    wordnet: Path | None = None
    table: Path | None = None
    nli: str | None = None

    @classmethod
    def from_names(cls, names: Sequence[str], schema: Schema) -> Self:
        """As a user names them; the schema alone for a closed one, WordNet too for an open one by default."""
        found: dict[str, Any] = {}
        for name in names or (["schema"] if schema.closed else ["wordnet"]):
            kind, _, rest = name.partition(":")
            if kind not in OVERLAP_SOURCES:
                raise unknown("overlap", kind, OVERLAP_SOURCES)
            if kind in found:
                raise UserError(f"--overlap {kind} is given twice")
            if (kind in ("table", "nli")) != bool(rest) and kind != "wordnet":
                ways = "schema, wordnet, wordnet:FOLDER, table:FILE or nli:MODEL"
                raise UserError(f"--overlap {name}: expected {ways}")
            if schema.closed and kind in ("wordnet", "nli"):
                raise UserError(
                    f"--overlap {kind} is for open vocabularies; {schema.name} scenes are closed: their "
                    "schema says what excludes what"
                )
            found[kind] = rest if kind == "nli" else Path(rest) if rest else WORDNET
        sources = cls(found.get("wordnet"), found.get("table"), found.get("nli"))
        sources.build_overlap(schema)  # a missing file or model is reported at once
        return sources

    def build_overlap(self, schema: Schema) -> MutualExclusivity:
        return build_exclusivity(schema, table=self.table, wordnet=self.wordnet, nli=self.nli)

    def to_spec(self) -> list[str]:
        """For the spec: by content, not by where it lies."""
        found = ["schema"]
        if self.table:
            found.append(f"table {self.table.name} {file_digest(self.table)[:DIGITS]}")
        if self.wordnet:
            found.append(f"wordnet {identify_wordnet(self.wordnet)[:DIGITS]}")
        return found + ([f"nli {self.nli}"] if self.nli else [])


@dataclass(frozen=True, slots=True)
class GraphInputs:
    """What a user gave besides options; nothing for a world of our own."""

    graphs: tuple[Path, ...] = ()
    held_out: tuple[Path, ...] = ()  # whose images are for val and test; else they are dealt by name
    images: Path | None = None
    overlap_sources: OverlapSources = OverlapSources()
    cache: Path | None = None  # of the replies of a verifier behind an endpoint, as for `evaluate`
    use_cache: bool = True

    def __post_init__(self) -> None:
        for path in (*self.graphs, *self.held_out):
            if not path.exists():
                raise UserError(f"{path}: no such file")
        if self.images is not None and not self.images.is_dir():
            raise UserError(f"{self.images}: no such folder of pictures")

    @property
    def files(self) -> tuple[Path, ...]:
        return self.graphs + self.held_out


def identify_file(path: Path) -> str:
    """A file or folder of scenes by its name and content."""
    if (path / MANIFEST).is_file():
        digest = file_digest(path / MANIFEST)  # which has the digests of all else
    elif path.is_dir():
        digest = _join_digests(p for p in sorted(path.rglob("*")) if p.is_file())
    elif (space := path.with_name(SPACE)).is_file():  # imSitu's words
        digest = _join_digests((path, space))
    else:
        digest = file_digest(path)
    return f"{path.name} {digest[:DIGITS]}"


def _join_digests(paths: Iterable[Path]) -> str:
    return digest_of("".join(map(file_digest, paths)).encode())


def list_input_options(spec: Mapping[str, Any], fields: Sequence[str]) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """The options that give a spec's files and overlap sources again by name, and what these must be by content."""
    files = {name: _as_list(spec.get(name)) for name in fields}
    sources = _as_list(spec.get("overlap"))
    options = {name: [_find_file_name(one) for one in some] for name, some in files.items()}
    options["overlap"] = []
    for one in sources:  # `wordnet DIGEST` is `wordnet`, `table NAME DIGEST` is `table:NAME`
        kind, _, rest = one.partition(" ")
        name = {"wordnet": "", "table": _find_file_name(rest)}.get(kind, rest)
        options["overlap"].append(f"{kind}:{name}" if name else kind)
    named = [one for some in files.values() for one in some]
    named += [one for one in sources if one.partition(" ")[0] in ("table", "wordnet")]
    return options, (f"by name and content: {', '.join(named)}",)


def describe_left_out(left_out: Mapping[str, int]) -> list[str]:
    """A line on the graphs that were left out, if any were."""
    listed = ", ".join(f"{n:,} {why.replace('_', ' ')}" for why, n in left_out.items() if n)
    return [f"graphs left out: {listed}"] if listed else []


def _as_list(value: Any) -> list[str]:
    return [str(one) for one in (value if isinstance(value, list | tuple) else [value]) if one]


def _find_file_name(spelled: str) -> str:
    return spelled.rpartition(" ")[0] or spelled


def identify_pictures(folder: Path) -> str:
    """A folder of pictures by its name and by the pictures under it: their names, sizes and both ends.

    A hundred thousand photographs are not read whole; both PNG and JPEG end in bytes that all else bears on.
    """
    lines = []
    for path in _list_pictures(folder):
        try:
            with path.open("rb") as file:
                size, data = os.fstat(file.fileno()).st_size, file.read(EDGE)
                file.seek(max(len(data), size - EDGE))
                digest = digest_of(data + file.read())[:DIGITS]
        except OSError as error:
            raise UserError(f"{path}: cannot be read ({error.strerror})") from None
        lines.append(f"{path.relative_to(folder).as_posix()} {size} {digest}\n")
    return f"{resolve_links(folder).name} {digest_of(os.fsencode(''.join(lines)))[:DIGITS]}"


def read_schema(path: Path) -> Schema:
    for _, scene in iter_scenes(path):
        return scene.schema
    raise UserError(f"{path}: there are no scenes in it")


def iter_scenes(path: Path) -> Iterator[tuple[str, Scene]]:
    """The scenes of a file, or of a dataset of ours, with the split that each is in there; else none."""
    if not (path / MANIFEST).is_file():
        for scene in iterate_scenes(path):
            yield "", scene
        return
    dataset = Dataset.open(path)
    for split in dataset.splits:
        for scene in dataset.scenes(split):
            yield split, scene


def find_picture_name(scene: Scene) -> str:
    """The picture that the scene is of, or a region of: two regions of one are the same to look at."""
    return str(scene.note("image_id") or scene.id)


def has_picture(scene: Scene, source: Path, images: Path | None) -> bool:
    return (source / MANIFEST).is_file() or (images is not None and _find_picture(scene, images) is not None)


def load_stored_image(scene: Scene, source: Path, images: Path | None) -> StoredImage:
    """The scene with its picture, where there is one."""
    if (source / MANIFEST).is_file():
        dataset, images_by_id = _open_dataset(source)
        return replace(images_by_id.get(scene.id, dataset.shards()[0]), scene=scene)
    path = _find_picture(scene, images) if images else None
    return StoredImage(scene, _encode_png(path) if path else b"")


def _find_picture(scene: Scene, images: Path) -> Path | None:
    there = _index_pictures(images)
    names = (scene.id, Path(scene.id).stem, find_picture_name(scene))
    return next((there[name] for name in names if name in there), None)


@lru_cache(maxsize=1)
def _index_pictures(folder: Path) -> dict[str, Path]:
    """The pictures under a folder by their names, with the ending and without, and by COCO's numbers."""
    found: dict[str, Path] = {}
    for path in _list_pictures(folder):
        for name in (path.name, path.stem, image_id(path.stem)):
            found.setdefault(name, path)
    return found


def _list_pictures(folder: Path) -> list[Path]:
    """All pictures under a folder; where two have one name, the first counts."""
    walked: list[Path] = []
    seen: set[str] = set()
    for root, folders, names in os.walk(folder, followlinks=True):
        seen.add(os.path.realpath(root))
        folders[:] = sorted(f for f in folders if os.path.realpath(Path(root, f)) not in seen)  # no circles
        walked += [Path(root, name) for name in names]
    there = [path for path in walked if path.suffix.lower() in ENDINGS]
    return sorted(there, key=lambda p: (p.suffix.lower() != ENDINGS[0], str(p)))


def _encode_png(path: Path) -> bytes:
    """The bytes of a PNG as they are; any other picture encoded as one."""
    from PIL import Image

    try:
        data = read_whole(path)
        with Image.open(BytesIO(data)) as picture:
            if picture.format == "PNG":
                picture.load()
                return data
            file = BytesIO()
            picture.convert("RGB").save(file, "PNG", compress_level=1)
            return file.getvalue()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise UserError(f"{path}: not a picture that opens ({error})") from None


@lru_cache(maxsize=4)
def _open_dataset(folder: Path) -> tuple[Dataset, ImageIndex]:
    dataset = Dataset.open(folder)
    return dataset, ImageIndex(folder, dataset.shards())
