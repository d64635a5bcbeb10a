"""COVR's spec, and how its questions are made from graphs or from a world of ours."""

import operator
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self

from ... import suites
from ...errors import UserError, unknown
from ...executor import Executor
from ...geometry.camera import check_size
from ...render import CPU
from ...store.dataset import Dataset
from ...store.image import StoredImage
from ...store.manifest import DatasetInfo, MakeCommand
from ...url_path import refuse_url
from ...world import superclevr as world
from .. import Option, ProgressBar, ShardPlan, option
from ..graph_inputs import GraphInputs, list_input_options, load_stored_image
from ..sources import credit_sources
from ..split_graphs import SPLITS, SplitGraphs
from .candidates import CandidateSpec, SelectedQuestions, read_candidates, read_selection

WORLDS = ("superclevr",)
LEAST = 15  # questions per split: one of each template
SHARE = 6
GRAPH_SUBGRAPHS = 60  # of a graph; of a scene of ours, in which everything is related, the spec's default
WORLD_FIELDS = ("world", "n", "size")
GRAPH_FIELDS = ("graphs", "val", "images", "overlap", "keep_spatial", "verify")


class CovrWorld(StrEnum):
    SUPERCLEVR = WORLDS[0]


def parse_counts(text: str) -> tuple[int, ...]:
    """`9000`, the same for every split, or `9000,1500,1500`."""
    try:
        found = tuple(int(word.replace("_", "")) for word in text.split(","))
    except ValueError:
        found = ()
    if len(found) not in (1, 3):
        raise UserError(f"--questions {text}: expected one number, or three as in 9000,1500,1500")
    return found if len(found) == 3 else found * 3


@dataclass(frozen=True, slots=True)
class CovrSpec(suites.SuiteSpec):
    suite: ClassVar[str] = "covr"
    version: ClassVar[int] = 3

    world: str = option(
        WORLDS[0], "Sample and render new scenes instead of reading graphs.", shown=None, type=CovrWorld, parse=str
    )  # empty where scene graphs are given
    n: int = option(
        3000, "How many scenes of the world, over all splits; else 3,000.", shown=None, type=int, min=1, short="-n"
    )
    size: tuple[int, int] = suites.size_option("Width and height of their pictures; else 480x320.", default="")
    graphs: tuple[str, ...] = ()  # given files, by name and content
    val: tuple[str, ...] = ()  # of these, the ones for val and test
    images: str = ""  # the folder of their pictures, by name and content, if there is one
    questions: tuple[int, ...] = option(
        (9000, 1500, 1500),
        "At most so many per split, or three numbers: train,val,test.",
        shown="9000,1500,1500",
        parse=parse_counts,
    )
    sources: int = option(0, "Images per split that are asked about; 0: as many as questions. Others distract.", min=0)
    subgraphs: int = option(
        8,
        "Pieces of one image that are asked about, at most; else 60, or 8 of the world's.",
        shown=None,
        type=int,
        min=1,
    )
    share: int = option(SHARE, "One image in so many is for val, and one for test.", min=3)
    seed: int = suites.seed_option("questions")
    easy_distractors: bool = option(False, "Random images instead of nearly right ones.")
    paraphrased: bool = option(False, "Word the questions more freely.")
    overlap: tuple[str, ...] = ("schema",)  # who says which words exclude which
    keep_spatial: bool = option(False, "Ask about left and right too, where graphs are open.")
    verify: str = option(
        "",
        "For graphs that lack things seen: any model of `shiftscope run` that sees images, or "
        "MODULE:NAME of a class with probability(texts, images); one with fit is trained here.",
    )  # empty: nothing checked that graphs lack nothing
    trust_remote_code: bool = option(False, "With --verify hf:MODEL: run code of its own, and load pickled weights.")
    shard: int = suites.shard_option(500, "Questions")
    pictured: bool = option(
        True,
        "Keep the world's scenes, and draw no pictures of them: training draws them then.",
        name="no-images",
        shown=False,
        parse=operator.not_,
        show=operator.not_,
    )

    def __post_init__(self) -> None:
        if bool(self.world) == bool(self.graphs):
            raise UserError("COVR is made either from scene graphs or from a world: give one of the two")
        if self.world and self.world not in WORLDS:
            raise unknown("world", self.world, WORLDS)
        if len(self.questions) != len(SPLITS) or min(self.questions) < LEAST:
            raise UserError(f"questions are one number per split, {LEAST} at least: one of each template")
        if self.shard < 1 or self.subgraphs < 1 or self.sources < 0 or self.share < len(SPLITS):
            raise UserError(f"shard size and subgraphs must be at least 1, the share at least {len(SPLITS)}")
        if self.world and self.n < self.share:
            raise UserError(f"{self.n} scenes are too few; one in {self.share} is for testing")
        check_size(self.size)

    def spec(self) -> dict[str, Any]:
        """The fields that a world or graphs do not have are left out."""
        found = self.write_fields() | {"questions": ",".join(map(str, self.questions))}
        left_out = {*WORLD_FIELDS, *GRAPH_FIELDS, "trust_remote_code", "pictured"}
        own = WORLD_FIELDS if self.world else GRAPH_FIELDS
        made = self.identify() | {name: found[name] for name in own}
        made |= {} if self.pictured else {"pictured": False}
        made |= {"trust_remote_code": True} if self.trust_remote_code and not self.world else {}
        return made | {name: value for name, value in found.items() if name not in left_out}

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Self:
        absent = {f.name: f.default for f in cls.list_fields()} | {"world": ""}
        found = cls.read_fields(absent | dict(spec))
        return cls(**found | {"questions": parse_counts(spec["questions"])})

    def splits(self) -> dict[str, int]:
        """How many questions each split has at most; how many there are depends on the graphs."""
        return dict(zip(SPLITS, self.questions, strict=True))

    def source_counts(self) -> dict[str, int]:
        return {split: self.sources or count for split, count in self.splits().items()}

    def scene_counts(self) -> dict[str, int]:
        held = self.n // self.share
        return {"train": self.n - 2 * held, "val": held, "test": held}


class CovrSuite(suites.Suite[CovrSpec]):
    spec = CovrSpec
    about = DatasetInfo(
        title="COVR, made by ShiftScope",
        summary="Questions over up to five images each, made from scene graphs by 15 templates, with programs "
        "and executed answers; the images that distract differ from what is asked about in a word or two.",
    )
    help = "Make a COVR dataset: questions over several images, from scene graphs or from a world of ours."
    parts = True
    has_page = True
    options: Mapping[str, Option] = {
        "graphs": Option(
            "Scene graphs: GQA, Visual Genome regions, imSitu, CLEVR or Super-CLEVR scenes, or a "
            "dataset of ours; several files are taken together.",
            type=list[Path],
        ),
        "images": Option("The folder of their pictures; graphs without one are left out.", type=Path),
        "val": Option("Graphs for val and test, half of the images each; else --share says how many.", type=list[Path]),
        "overlap": Option(
            "Who says which words exclude which: schema, wordnet, wordnet:FOLDER, table:FILE, "
            "nli:MODEL; may be repeated. Else WordNet for open vocabularies and the schema for closed ones.",
            type=list[str],
        ),
        "cache": Option("Folder of the replies already paid for, where --verify names an endpoint.", type=Path),
        "no_cache": Option("Pay for every reply: read none from the cache, keep none there.", default=False),
    }

    def count_images(self, spec: CovrSpec, split: str, k: int, inputs: Any = None) -> int:
        return 0  # which images a shard has depends on its questions

    def sample(self, spec: CovrSpec, split: str, k: int, inputs: Any = None, *, grounding: bool = False) -> ShardPlan:
        """The questions of a shard, and the images that none before asked about; inputs are what `run_stages` left."""
        asking, chosen = inputs
        graphs, some = _load_split(asking, chosen, split)
        first, last = k * spec.shard, min((k + 1) * spec.shard, len(some.rows))
        questions = []
        for number, q in enumerate(read_candidates(asking, split, some, range(first, last)), first):
            pair = int(some.pairs[number])
            notes = (*q.notes, ("pair", _format_question_id(split, pair))) if pair >= 0 else q.notes
            provenance = replace(q.provenance, split=split)
            questions.append(replace(q, id=_format_question_id(split, number), provenance=provenance, notes=notes))
        mine = some.images[(some.first >= first) & (some.first < last)].tolist()
        files = [asking.inputs.files[graphs.sources[number]] for number in mine] if not spec.world else []
        return ShardPlan([graphs.scene(number) for number in mine], questions, files)

    def draws(self, spec: CovrSpec, inputs: Any = None) -> bool:
        return bool(spec.world) and spec.pictured

    def draw(
        self, spec: CovrSpec, split: str, plan: ShardPlan, inputs: Any = None, device: str = CPU
    ) -> Sequence[StoredImage]:
        if not spec.pictured:
            return [StoredImage(scene) for scene in plan.scenes]
        if spec.world:
            return super().draw(spec, split, plan, device=device)
        asking, _ = inputs
        return [load_stored_image(s, f, asking.inputs.images) for s, f in zip(plan.scenes, plan.files, strict=True)]

    def credit(self, spec: CovrSpec, inputs: Any = None) -> DatasetInfo:
        return self.about if spec.world else credit_sources(self.about, inputs.files, inputs.images)

    def prepare(
        self, spec: CovrSpec, out: Path, inputs: Any, executor: Executor, bar: ProgressBar
    ) -> AbstractContextManager[suites.PreparedInputs]:
        from .make import run_stages

        return run_stages(spec, out, inputs or GraphInputs(), executor, bar)

    def make(
        self, spec: CovrSpec, out: Path, inputs: Any = None, *, repair: bool = False, **how: Any
    ) -> suites.MadeDataset:
        """A finished dataset is found before its graphs are read again."""
        from .make import find_finished

        refuse_url(out, "a COVR dataset, which needs large files while it is made,")
        there = None if repair else find_finished(out, spec.spec())
        return there or super().make(spec, out, inputs, repair=repair, **how)

    def label(self, spec: CovrSpec, inputs: Any = None) -> str:
        return "writing shards"

    def summarize(self, notes: Any, dataset: Dataset) -> str:
        from .make import format_summary

        return format_summary(notes, dataset)

    def describe(self, made: suites.MadeDataset) -> suites.MakeReport:
        from .make import describe_made

        return describe_made(made.dataset, made.notes)

    def read_options(self, given: Mapping[str, Any]) -> tuple[CovrSpec, Any]:
        _refuse_conflicts(given)
        rest = self.spec.parse_options(given)
        if given["world"]:
            return self.spec(**rest), None
        from .make import build_covr_spec

        files = given["graphs"], given["val"] or [], given["images"]
        spec, inputs = build_covr_spec(*files, given["overlap"] or [], **{"subgraphs": GRAPH_SUBGRAPHS} | rest)
        return spec, replace(inputs, cache=given["cache"], use_cache=not given["no_cache"])

    def make_command(self, spec: Mapping[str, Any]) -> MakeCommand:
        """Given graphs and pictures must be at hand."""
        made = super().make_command(spec)
        if spec.get("world"):
            return made
        given, needs = list_input_options(spec, ("graphs", "val", "images"))
        return MakeCommand({**given, **made.options}, needs)

    def describe_verification(self, folder: Path, spec: Mapping[str, Any]) -> str:
        from .verify import describe_verification

        return describe_verification(folder, spec)

    def write_gallery_page(self, data: Path, out: Path, seed: int, source: str) -> Path:
        from .make import write_page

        return write_page(data, out, seed, source)


def _refuse_conflicts(given: Mapping[str, Any]) -> None:
    if given["no_cache"] and given["cache"] is not None:
        raise UserError("--cache and --no-cache exclude each other; give one of them")
    if bool(given["graphs"]) == bool(given["world"]):
        raise UserError("give either --graphs FILE or --world superclevr")
    if given["trust_remote_code"] and not given["verify"]:
        raise UserError("--trust-remote-code is for the model of --verify; omit it")
    unfit, why = ["-n", "--size", "--pictured"], "given graphs are as they are"
    if given["world"]:
        unfit = ["--images", "--val", "--overlap", "--keep-spatial", "--verify"]
        why = f"--world {given['world']} makes its own scenes and pictures"
    for name in unfit:
        if given[name.strip("-").replace("-", "_")]:
            raise UserError(f"{why}; omit {name.replace('--pictured', '--no-images')}")
    pictured = given["images"] is not None or any((p / "manifest.json").is_file() for p in given["graphs"] or ())
    if given["verify"] and not pictured:
        raise UserError("--verify looks at pictures; name their folder with --images")


@lru_cache(maxsize=1)
def _load_split(asking: CandidateSpec, chosen: Path, split: str) -> tuple[SplitGraphs, SelectedQuestions]:
    return SplitGraphs(asking.graphs, split), read_selection(chosen, split)


def _format_question_id(split: str, number: int) -> str:
    return f"covr_{split}_{number:06d}"


def sample_world_scene(spec: CovrSpec, split: str, index: int) -> Any:
    return world.sample_scene(spec.seed, f"covr_{split}", index, world.SuperClevrRules(size=spec.size))


SUITE = CovrSuite()
