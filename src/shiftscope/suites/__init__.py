"""Suites: one folder per paper, with all that is special about it; what every suite shares is here.

A suite's `suite.py` holds a `Suite` named SUITE. Its spec is a frozen record: the fields are the JSON in the
manifest and, where they have an `option`, the options of `shiftscope make SUITE`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import Field, dataclass, field, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, TypeVar

from ..errors import UserError, unknown
from ..executor import Executor, Progress, open_executor
from ..files import digest_of, file_digest
from ..folder import lock_folder
from ..geometry.camera import SIZE, read_size
from ..question import Question
from ..registry import REPORTED, SUITES, WORLDS
from ..render import CPU, open_renderer
from ..scene import Scene
from ..store.build_dataset import PIECE, ShardRecords, build_dataset, refuse_foreign_folder
from ..store.dataset import Dataset
from ..store.image import StoredImage
from ..store.manifest import DatasetInfo, MakeCommand, describe_versions, format_size_option, read_manifest
from ..store.shard import SharedImages
from ..world import Sampling, finish_scenes

if TYPE_CHECKING:
    from .study import Study

DEVICE = "device"  # in a stored spec: where the pictures were drawn, unless on the CPU
GPU_PIECE = 32  # images that one process draws together there
ALIKE = "a cluster makes the bytes of one machine only where nodes are alike: install the same there, or leave it out"
ON_GPU = (
    "The pictures were drawn on a GPU: scenes, questions, masks and boxes are those that a CPU makes, and so are the "
    "colours, within 1 of 255 in at least 99.9% of the pixels."
)
ProgressBar = Callable[[str], AbstractContextManager[Progress | None]]  # by the name of what is under way


def show_no_bar(name: str) -> AbstractContextManager[Progress | None]:
    return nullcontext()


def ignore_progress(done: int, total: int, what: str) -> None:
    pass


# The spec, and the options of the command line that its fields give.


@dataclass(frozen=True, slots=True)
class Option:
    """An option of `shiftscope make SUITE`; without a value of its own the spec's field keeps its default."""

    help: str
    name: str = ""  # without dashes; the field's name by default
    type: Any = None  # as Typer takes it; the type of the default by default
    default: Any = None
    required: bool = False
    min: int | None = None
    short: str = ""
    show_default: bool | str = True
    parse: Callable[[Any], Any] | None = None  # makes the field's value
    show: Callable[[Any], Any] | None = None  # and the option's from what is stored


def option(default: Any, help: str, **rest: Any) -> Any:
    """A field of a spec with an option of the same default, unless `shown` gives another."""
    shown = rest.pop("shown", default)
    return field(default=default, metadata={"option": Option(help, default=shown, **rest)})


def size_option(
    help: str = "Width and height in pixels.", default: str = format_size_option(SIZE), **named: tuple[int, int]
) -> Any:
    """Sizes that have a name can be given by it."""
    return option(SIZE, help, shown=default, parse=partial(read_size, named=named), show=format_size_option)


def seed_option(what: str = "data") -> Any:
    return option(0, f"Another seed makes other {what}.")


def shard_option(default: int, what: str = "Images") -> Any:
    return option(default, f"{what} per shard; part of the spec.", min=1)


class SuiteSpec:
    """Everything that a suite's data depend on; a suite's own is a frozen dataclass with slots."""

    __slots__ = ()
    suite: ClassVar[str]
    version: ClassVar[int]  # of what the spec means: another version makes other data
    question_fields: ClassVar[tuple[str, ...]] = ("questions",)  # questions per image; 0 for scenes alone
    shard: int

    def splits(self) -> dict[str, int]:
        """How many images, or what else shards hold, each split has."""
        raise NotImplementedError

    def jobs(self, counts: Mapping[str, int] | None = None) -> dict[str, int]:
        """How many shards each split has; `counts` where the splits' sizes are known only later."""
        sizes = self.splits() if counts is None else counts
        return {name: -(-size // self.shard) for name, size in sizes.items() if size}

    def shard_range(self, split: str, k: int) -> range:
        return range(k * self.shard, min((k + 1) * self.shard, self.splits()[split]))

    def spec(self) -> dict[str, Any]:
        """The JSON that names the data."""
        return self.identify() | self.write_fields()

    def identify(self, version: int | None = None) -> dict[str, Any]:
        """What data of today's version or an earlier one depend on besides the fields."""
        return {"suite": self.suite, "version": version or self.version}

    def write_fields(self) -> dict[str, Any]:
        """The fields as JSON; None is left out."""
        found = {f.name: getattr(self, f.name) for f in self.list_fields()}
        lists = {name: list(value) for name, value in found.items() if isinstance(value, tuple)}
        records = {name: value.to_json() for name, value in found.items() if hasattr(value, "to_json")}
        return {name: value for name, value in (found | lists | records).items() if value is not None}

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Self:
        """From the JSON; a KeyError names a field that is missing."""
        return cls(**cls.read_fields(spec))

    @classmethod
    def read_fields(cls, spec: Mapping[str, Any]) -> dict[str, Any]:
        read = [f.name for f in cls.list_fields() if f.default is not None or f.name in spec]
        return {name: tuple(v) if isinstance(v := spec[name], list) else v for name in read}

    @classmethod
    def list_fields(cls) -> tuple[Field[Any], ...]:
        return fields(cls)  # type: ignore[arg-type]

    @classmethod
    def list_options(cls) -> dict[str, Option]:
        return {f.name: f.metadata["option"] for f in cls.list_fields() if "option" in f.metadata}

    @classmethod
    def parse_options(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that were given on a command line."""
        found = {name: (o, given[name]) for name, o in cls.list_options().items() if given[name] not in (None, "")}
        return {name: o.parse(value) if o.parse else value for name, (o, value) in found.items()}

    @classmethod
    def from_variant(cls, variant: str = "", visual: str = "", **rest: Any) -> Self:
        if variant or visual:
            raise UserError(f"suite {cls.suite!r} has no variants; write --data {cls.suite}")
        return cls(**rest)


# The suite.


class ShardPlan(NamedTuple):
    """A shard before its pictures are drawn."""

    scenes: Sequence[Scene]
    questions: Sequence[Question]
    files: Sequence[Path] = ()  # of each scene, where it was read from one
    images: SharedImages | None = None  # where another dataset has the pictures already


class PreparedInputs(NamedTuple):
    """What the passes before the shards made: all that the shards depend on."""

    spec: Mapping[str, Any]
    jobs: Mapping[str, int]
    inputs: Any = None  # for `sample`; picklable
    notes: Any = None  # what came of the user's files, in numbers


class MadeDataset(NamedTuple):
    """A dataset and what came of the user's files."""

    dataset: Dataset
    notes: Any = None


class TextTable(NamedTuple):
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    title: str = ""


class MakeReport(NamedTuple):
    """What `make` tells of what it made: one JSON object, or lines and tables."""

    data: Mapping[str, Any]
    text: Sequence[str | TextTable]


@dataclass(frozen=True, slots=True)
class ReportedFigures:
    """What a suite's paper reports, none of it measured here: shares, by table and by what each is of."""

    source: str
    models: tuple[str, ...]
    tables: Mapping[str, Mapping[tuple[Any, ...], float]]
    notes: Mapping[str, str] = field(default_factory=dict)  # by table

    def find_model(self, name: str) -> str | None:
        """The paper's name for a model, however it is spelled here."""
        letters = re.compile(r"[^a-z0-9]")
        wanted = letters.sub("", name.lower())
        return next((model for model in self.models if letters.sub("", model.lower()) == wanted), None)

    def find(self, table: str, *key: Any) -> float | None:
        return self.tables.get(table, {}).get(key)


NOTHING_REPORTED = ReportedFigures("", (), {})


S = TypeVar("S", bound=SuiteSpec)


class Suite(Generic[S]):
    """A benchmark: what it is made from, and how. Picklable, for other processes make its shards."""

    spec: type[S]
    about: DatasetInfo
    help: str  # of `shiftscope make SUITE`
    options: Mapping[str, Option] = {}  # of `make`, besides the spec's: files of the user's, and switches
    variants: Mapping[str, Any] = {}  # by the names that `spec.from_variant` takes, what is shifted in each
    world: str = ""  # that its scenes are sampled from, if that is all they come from
    trainable: bool = False  # whether `sample` needs no input, so that training can draw from it
    parts: bool = False  # whether masks of parts are stored
    has_sheets: bool = False  # whether `build_sheets` draws some
    has_page: bool = False  # whether `write_gallery_page` writes one

    @property
    def name(self) -> str:
        return self.spec.suite

    def count_images(self, spec: S, split: str, k: int, inputs: Any = None) -> int:
        """How many images of shard k `sample_scenes` and `draw` give one by one; 0: `sample` makes it as a whole."""
        return len(spec.shard_range(split, k))

    def begin_scenes(self, spec: S, split: str, k: int, places: range, inputs: Any = None) -> Sequence[Sampling] | None:
        """Scenes of shard k, each a function of its place in it, in the making; None where none is sampled."""
        return None

    def sample_scenes(
        self, spec: S, split: str, k: int, places: range, inputs: Any = None, *, device: str = CPU
    ) -> Sequence[Scene]:
        """The same finished; a GPU looks at many together, and sees the same."""
        begun = self.begin_scenes(spec, split, k, places, inputs)
        if begun is None:
            raise NotImplementedError
        return finish_scenes(begun, open_renderer(device).measure)

    def ask(
        self, spec: S, split: str, k: int, scenes: Sequence[Scene], inputs: Any = None, *, grounding: bool = False
    ) -> Sequence[Question]:
        """The questions of shard k, which has these scenes; with their grounding if wanted and the suite has any."""
        raise NotImplementedError

    def sample(self, spec: S, split: str, k: int, inputs: Any = None, *, grounding: bool = False) -> ShardPlan:
        """The scenes and questions of shard k: a function of the arguments alone."""
        places = range(self.count_images(spec, split, k, inputs))
        scenes = self.sample_scenes(spec, split, k, places, inputs)
        return ShardPlan(scenes, self.ask(spec, split, k, scenes, inputs, grounding=grounding))

    def draws(self, spec: S, inputs: Any = None) -> bool:
        """Whether pictures are rendered, rather than none or a user's own taken."""
        return True

    def draw(
        self, spec: S, split: str, plan: ShardPlan, inputs: Any = None, device: str = CPU
    ) -> Sequence[StoredImage]:
        from .scene_images import render_stored_images

        size: tuple[int, int] = spec.size  # type: ignore[attr-defined]
        return list(render_stored_images(plan.scenes, size, parts=self.parts, device=device))

    def make_images(
        self, spec: Mapping[str, Any], split: str, k: int, places: range, inputs: Any = None
    ) -> Sequence[StoredImage]:
        own, device = self.spec.of(spec), spec.get(DEVICE, CPU)
        on = {} if device == CPU else {"device": device}
        plan = ShardPlan(self.sample_scenes(own, split, k, places, inputs, **on), ())
        return self.draw(own, split, plan, inputs, device)

    def make_shard(
        self,
        spec: Mapping[str, Any],
        split: str,
        k: int,
        images: Sequence[StoredImage] | None = None,
        *,
        inputs: Any = None,
    ) -> ShardRecords:
        """What is stored of shard k; `images` are those that `make_images` made."""
        own = self.spec.of(spec)
        if images is not None:
            return images, self.ask(own, split, k, [i.scene for i in images], inputs, grounding=True)
        plan = self.sample(own, split, k, inputs, grounding=True)
        return plan.images or self.draw(own, split, plan, inputs, spec.get(DEVICE, CPU)), plan.questions

    def check(self, spec: S, inputs: Any = None) -> None:
        """Refuse what cannot be made before anything is written."""

    def credit(self, spec: S, inputs: Any = None) -> DatasetInfo:
        """The texts of the card; where data are made from a user's files, these and their licences are named."""
        return self.about

    def prepare(
        self, spec: S, out: Path, inputs: Any, executor: Executor, bar: ProgressBar
    ) -> AbstractContextManager[PreparedInputs]:
        """The passes over all inputs before any shard, and what remains to do after the last one."""
        return nullcontext(PreparedInputs(spec.spec(), spec.jobs(), inputs))

    def make(
        self,
        spec: S,
        out: Path,
        inputs: Any = None,
        *,
        workers: int | None = None,
        executor: Executor | None = None,
        repair: bool = False,
        bar: ProgressBar = show_no_bar,
        device: str = CPU,
        only: Mapping[str, int] | None = None,
    ) -> MadeDataset:
        """Make the dataset, or what is missing of it; the same for any `executor`, else for any `workers` here.

        `only` says of which splits it has shards, and how many; these are the same as in the whole. On a GPU pictures
        have slightly other colours, so the stored spec tells of it.
        """
        refuse_foreign_folder(out)
        if device != CPU:
            if not self.draws(spec, inputs):
                raise UserError("no pictures are drawn here; omit --device")
            if executor is None or executor.shares_disk:
                open_renderer(device)  # refuses one that is not there
            elif not executor.gpus:
                raise UserError("no node of the cluster has a GPU; omit --device")
        if not out.exists():
            self.check(spec, inputs)
        executor = executor or open_executor(workers or 0)
        with (
            lock_folder(out),
            self.prepare(spec, out, inputs, executor, bar) as ready,
            bar(self.label(spec, inputs)) as progress,
        ):
            own = self.spec.of(ready.spec)
            jobs = dict(ready.jobs)
            if only is not None:
                jobs = {split: min(shards, only[split]) for split, shards in jobs.items() if split in only}
            keys = [(split, k) for split, shards in jobs.items() for k in range(shards)]
            counts = {key: n for key in keys if (n := self.count_images(own, *key, ready.inputs))}
            executor.require_alike(partial(describe_versions, images=self.draws(spec, inputs)), ALIKE)
            executor.require_files(_list_paths(ready.inputs))
            about = self.credit(spec, inputs)
            if device != CPU:
                about = replace(about, summary=f"{about.summary} {ON_GPU}")
            made = build_dataset(
                out,
                {**ready.spec} | ({DEVICE: device.partition(":")[0]} if device != CPU else {}),
                jobs,
                partial(self.make_shard, inputs=ready.inputs),
                counts=counts,
                make_images=partial(self.make_images, inputs=ready.inputs),
                piece=PIECE if device == CPU else GPU_PIECE,
                on_gpu=device != CPU,
                executor=executor,
                repair=repair,
                progress=progress,
                about=about,
                section=partial(self.summarize, ready.notes),
                held=True,
            )
        return MadeDataset(made, ready.notes)

    def label(self, spec: S, inputs: Any = None) -> str:
        """What a progress bar calls the making of shards."""
        return f"making {self.name}"

    def summarize(self, notes: Any, dataset: Dataset) -> str:
        """The suite's own part of the dataset card, in Markdown."""
        return ""

    # The command line.

    def read_options(self, given: Mapping[str, Any]) -> tuple[S, Any]:
        """The spec and the inputs that options of `make` mean."""
        return self.spec(**self.spec.parse_options(given)), None

    def run(
        self, given: Mapping[str, Any], out: Path, *, executor: Executor, repair: bool, bar: ProgressBar, device: str
    ) -> Iterator[MakeReport]:
        """Do what `shiftscope make SUITE` was asked for."""
        spec, inputs = self.read_options(given)
        yield self.describe(self.make(spec, out, inputs, executor=executor, repair=repair, bar=bar, device=device))

    def describe(self, made: MadeDataset) -> MakeReport:
        return describe_splits(made.dataset)

    def make_command(self, spec: Mapping[str, Any]) -> MakeCommand:
        """The command that makes the dataset of a stored spec."""
        listed = self.spec.list_options().items()
        shown = {o.name or name.replace("_", "-"): (o, spec[name]) for name, o in listed if name in spec}
        options = {name: o.show(value) if o.show else value for name, (o, value) in shown.items()}
        return MakeCommand(options | ({DEVICE: spec[DEVICE]} if DEVICE in spec else {}))

    # What else a suite may have.

    @property
    def study(self) -> "Study | None":
        """The trainings and tests that `shiftscope study SUITE` runs: STUDY in the folder's `study.py`."""
        from .study import list_studies, load_study

        return load_study(self.name) if self.name in list_studies() else None

    @property
    def reported(self) -> ReportedFigures:
        """The paper's figures: REPORTED in the folder's `reported.py`."""
        return REPORTED.load(self.name).REPORTED if self.name in REPORTED.names() else NOTHING_REPORTED

    def base_spec(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """The stored spec of what a dataset is a variant of; its own where it is none."""
        return dict(spec)

    def describe_verification(self, folder: Path, spec: Mapping[str, Any]) -> str:
        """Who checked that the sources of a dataset lack nothing, and the outcome; nothing where nobody need check."""
        return ""

    def build_sheets(self, seed: int) -> dict[str, Any]:
        """Contact sheets of what its world can show, by file name."""
        raise NotImplementedError

    def write_gallery_page(self, data: Path, out: Path, seed: int, source: str) -> Path:
        """A page of questions drawn from a dataset; `source` says what its graphs are."""
        raise NotImplementedError


def _list_paths(value: Any) -> Iterator[Path]:
    """The files and folders that inputs name."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _list_paths(one)
    elif is_dataclass(value) and not isinstance(value, type):
        for part in fields(value):
            yield from _list_paths(getattr(value, part.name))


def load_suite(name: str) -> Suite[Any]:
    return SUITES.load(name).SUITE  # type: ignore[no-any-return]


def load_suites() -> dict[str, Suite[Any]]:
    return {name: module.SUITE for name, module in SUITES.load_all()}


def load_world_suite(world: str) -> Suite[Any]:
    if world not in WORLDS.names():
        raise unknown("world", world, WORLDS.names())
    for suite in load_suites().values():
        if suite.world == world:
            return suite
    raise UserError(f"world {world!r} has no suite that samples from it")


def find_reported(table: str) -> ReportedFigures:
    """What the paper of a suite reports in a table of this name."""
    papers = (module.REPORTED for _, module in REPORTED.load_all())
    return next((figures for figures in papers if table in figures.tables), NOTHING_REPORTED)


def describe_verification(folder: Path) -> str:
    """How the sources of the dataset in a folder were checked, as its suite tells it."""
    manifest = read_manifest(folder)
    name = str(manifest.spec.get("suite")) if manifest else ""
    return load_suite(name).describe_verification(folder, manifest.spec) if manifest and name in SUITES.names() else ""


def describe_folder(dataset: Dataset) -> dict[str, Any]:
    return {"folder": str(dataset.folder), "shards_made": dataset.made}


def count_splits(dataset: Dataset) -> dict[str, dict[str, int]]:
    counts = {split: dataset.count(split) for split in dataset.splits}
    return {split: {"images": images, "questions": questions} for split, (images, questions) in counts.items()}


def describe_splits(dataset: Dataset, what: str = "images") -> MakeReport:
    splits = count_splits(dataset)
    lines = [f"{name:<6} {n['images']:>8,} {what} {n['questions']:>10,} questions" for name, n in splits.items()]
    return MakeReport(describe_folder(dataset) | {"splits": splits}, [*lines, describe_done(dataset)])


def describe_done(dataset: Dataset) -> str:
    """What a command did, which may be nothing."""
    what = f"wrote {dataset.folder}" if dataset.made else f"nothing to do: {dataset.folder} was whole already"
    return f"{what} (README.md there says what is in it)"


def digest_scene_files(path: Path) -> str:
    """A digest that changes with any of the scenes' files."""
    files = sorted(path.glob("*.json*")) if path.is_dir() else [path]
    return digest_of("".join(map(file_digest, files)).encode())[:32]
