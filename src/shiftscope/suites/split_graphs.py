"""Split graphs: scene graphs of files, or of a world, dealt into splits, kept to be read one by one, and indexed.

Which split an image is in depends on its name alone: another seed, or more images, never moves one. Regions
of one picture go together. Scenes of open vocabularies are kept in the words in which questions are asked.
"""

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from .. import rng
from ..errors import UserError
from ..executor import Executor, Progress
from ..files import write_whole
from ..scene import Scene
from ..scene_graph.extract import normalize_scene
from ..scene_graph.index import build_index
from ..scene_graph.pack import pack_graphs
from ..schema import Schema
from .graph_inputs import GraphInputs, find_picture_name, has_picture, iter_scenes

SPLITS = ("train", "val", "test")
DONE = "done.json"
ELSEWHERE = "of_pictures_in_another_split"
TOGETHER = 50  # scenes of a world that a worker makes at a time

SplitScene = tuple[str, Scene, int]  # the split that a scene goes into, the scene, and the number of its file


@contextmanager
def open_stage_file(path: Path) -> Iterator[Path]:
    """A file that a stage left for a later one; where it is not what was written, its folder is to go."""
    try:
        yield path
    except (OSError, EOFError, ValueError, KeyError, IndexError, TypeError, AttributeError, BadZipFile):
        raise UserError(f"{path} is damaged; delete {path.parent} and run the same command again") from None


class SplitGraphs:
    """The scenes of a split as they were laid out, by number; the index numbers them alike."""

    def __init__(self, folder: Path, split: str) -> None:
        self.folder, self.split = folder, split
        with open_stage_file(folder / f"{split}.json") as path:
            listed = json.loads(path.read_bytes())
            self.ids: list[str] = listed["ids"]
            self.pictures: list[str] = listed["pictures"]
            self.sources: list[int] = listed["sources"]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def index_path(self) -> Path:
        return self.folder / f"{self.split}.index"

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.ids)}

    @cached_property
    def picture_of(self) -> dict[str, str]:
        return dict(zip(self.ids, self.pictures, strict=True))

    @cached_property
    def _regions(self) -> dict[str, list[int]]:
        """The scenes of each picture."""
        found: dict[str, list[int]] = {}
        for k, picture in enumerate(self.pictures):
            found.setdefault(picture, []).append(k)
        return found

    def list_elsewhere(self, number: int) -> list[str]:
        """What the other scenes of the same picture name."""
        others = (self.scene(k) for k in self._regions[self.pictures[number]] if k != number)
        return sorted({name for scene in others for o in scene.objects for name in o.values("name")})

    @cached_property
    def _starts(self) -> list[int]:
        with open_stage_file(self.folder / f"{self.split}.npy") as path:
            starts: list[int] = np.load(path, allow_pickle=False).tolist()
        return starts

    def scene(self, number: int) -> Scene:
        with open_stage_file(self.folder / f"{self.split}.jsonl") as path, path.open("rb") as file:
            file.seek(self._starts[number])
            return Scene.from_json(json.loads(file.readline()))

    def scenes(self) -> Iterator[Scene]:
        with open_stage_file(self.folder / f"{self.split}.jsonl") as path, path.open("rb") as file:
            for line in file:
                yield Scene.from_json(json.loads(line))


def write_graphs(lines: Iterable[SplitScene], folder: Path, about: Mapping[str, Any]) -> None:
    """Write the scenes of every split; what is there afterwards is not yet indexed."""
    folder.mkdir(parents=True, exist_ok=True)
    listed: dict[str, dict[str, list[Any]]] = {split: {"ids": [], "pictures": [], "sources": []} for split in SPLITS}
    starts: dict[str, list[int]] = {split: [0] for split in SPLITS}
    with ExitStack() as stack:
        files = {split: stack.enter_context((folder / f"{split}.jsonl").open("wb")) for split in SPLITS}
        for split, scene, source in lines:
            data = json.dumps(scene.to_json(), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            files[split].write(data)
            starts[split].append(starts[split][-1] + len(data))
            for name, value in (("ids", scene.id), ("pictures", find_picture_name(scene)), ("sources", source)):
                listed[split][name].append(value)
    for split in SPLITS:
        np.save(folder / f"{split}.npy", np.array(starts[split], np.int64))
        write_whole(folder / f"{split}.json", json.dumps(listed[split]).encode(), durable=False)
    write_whole(folder / "about.json", json.dumps(dict(about)).encode(), durable=False)


def index_graphs(folder: Path, keep_spatial: bool, executor: Executor) -> None:
    """Index what was laid out, split by split; the stage is done then."""
    splits = [split for split in SPLITS if len(SplitGraphs(folder, split))]
    task = partial(_index_split, folder, keep_spatial)
    with closing(executor.map_unordered(task, splits)) as indexed:
        deque(indexed, maxlen=0)
    write_whole(folder / DONE, b"{}")


def _index_split(folder: Path, keep_spatial: bool, split: str) -> None:
    """Scenes of a closed schema are synthetic: they have no other relations than where things stand."""
    graphs = SplitGraphs(folder, split)
    packed = pack_graphs(graphs.scenes(), keep_spatial=keep_spatial or graphs.scene(0).schema.closed)
    build_index(packed).save(graphs.index_path)


def read_user_graphs(inputs: GraphInputs, share: int, tell: Progress, about: dict[str, Any]) -> Iterator[SplitScene]:
    """The scenes of a user's files; `about` counts what is left out.

    A picture is in one split: what later files have of it for another is left out.
    """
    known: dict[str, Path] = {}
    places: dict[str, str] = {}  # picture → split
    words: tuple[Schema, Path] | None = None
    done = 0
    for number, path in enumerate(inputs.files):
        held_out = number >= len(inputs.graphs)
        here = things = 0
        for split, scene in iter_scenes(path):
            here += 1
            things += len(scene.objects)
            if not scene.id:
                raise UserError(f"{path}: graph {here - 1} has no image id")
            words = words or (scene.schema, path)
            if scene.schema != words[0]:
                raise UserError(
                    f"{path}: image {scene.id!r} is described in the words of {scene.schema.name}, those of "
                    f"{words[1]} in the words of {words[0].name}; make a dataset of each"
                )
            if scene.id in known:
                if known[scene.id] != path or not scene.note("caption"):
                    both = f" and {path}" if known[scene.id] != path else ""
                    raise UserError(f"image {scene.id!r} has two scene graphs: {known[scene.id]}{both}")
                about["repeated"] += 1  # a region that was described twice
                continue
            known[scene.id] = path
            if not scene.objects:
                about["empty"] += 1
                continue
            if inputs.images is not None and not has_picture(scene, path, inputs.images):
                about["without_picture"] += 1
                continue
            picture = find_picture_name(scene)
            place = _assign_split(split, picture, share, held_out, bool(inputs.held_out))
            if places.setdefault(picture, place) != place:
                about[ELSEWHERE] = about.get(ELSEWHERE, 0) + 1
                continue
            done += 1
            if done % 100 == 0:
                tell(done, 0, "graphs")
            yield place, normalize_scene(scene), number
        if here and not things:
            raise UserError(f"{path}: none of its {here:,} graphs has an object")
    if not done and (lacking := about["without_picture"]):
        raise UserError(f"{inputs.images}: there is no picture there for any of the {lacking:,} graphs")
    if not done:
        raise UserError("there are no scene graphs")
    tell(done, done, "graphs")


def _assign_split(named: str, picture: str, share: int, held_out: bool, others_held_out: bool) -> str:
    """The split of an image: as its dataset has it, by its file, or drawn by its name."""
    place = rng.seed_of("covr", "split", picture)
    if held_out:
        return SPLITS[1 + place % 2]
    if others_held_out:
        return SPLITS[0]
    if named in SPLITS:
        return named
    return {0: "val", 1: "test"}.get(place % share, "train")


def sample_world_graphs(
    scene: Callable[[str, int], Scene], counts: Mapping[str, int], executor: Executor, tell: Progress
) -> Iterator[SplitScene]:
    """New scenes; `scene(split, i)` makes one and is a function at the top level of a module."""
    jobs = [
        (split, first, min(first + TOGETHER, count))
        for split, count in counts.items()
        for first in range(0, count, TOGETHER)
    ]
    done, total = 0, sum(counts.values())
    made = executor.limit(len(jobs)).map(partial(_sample_block, scene), jobs, ahead=4 * executor.workers)
    with closing(made):
        for (split, _, _), scenes in zip(jobs, made, strict=True):
            done += len(scenes)
            tell(done, total, "scenes")
            yield from ((split, one, 0) for one in scenes)


def _sample_block(scene: Callable[[str, int], Scene], job: tuple[str, int, int]) -> list[Scene]:
    split, first, last = job
    return [scene(split, i) for i in range(first, last)]
