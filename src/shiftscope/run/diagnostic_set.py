"""The diagnostic set: a frozen list of small datasets that every diagnosis asks about, made here and checked by digest.

`diagnostic_set.json` pins it: of each part the suite, the spec and, shard by shard, a digest of its scenes, questions
and answers. Parts are made by their suites into the user's cache, as many shards as a diagnosis needs; what comes out
otherwise than pinned is refused, for figures of another set are not comparable. A seed makes the private twin of the
set: the same in every rule, with other scenes and questions, which nobody can have learned by heart.

Parts of the group `factors` share their scenes: one is the base, the others are its twins, shifted in one factor.
Those of the group `beside` stand by themselves.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..files import find_cache_folder
from ..question import Question
from ..records import content_id
from ..registry import GENERALIZATION_TESTS
from ..result import AS_IS, program_text
from ..rng import seed_of
from ..store.dataset import Dataset
from ..store.shard import DamagedFile, Shard, read_questions, read_shard_scenes
from ..suites import ProgressBar, load_suite, show_no_bar
from .generalization import SourceSplit
from .test import write_test_set

FILE = Path(__file__).with_suffix(".json")
SPLIT = "test"
FACTORS, BESIDE = "factors", "beside"
DIGITS = 16  # of a digest


@dataclass(frozen=True, slots=True)
class DiagnosticPart:
    """One dataset of the set, and how it is asked."""

    name: str
    group: str
    suite: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)  # of the suite's spec, but for the seed
    shards: int = 0  # that the set has of it
    factor: str = ""  # what it shifts, in words; nothing for the base
    base: str = ""  # the part that it is a twin of
    paired: bool = True  # whether its questions are twins too, not its scenes alone
    conditions: tuple[str, ...] = (AS_IS,)
    derive: str = ""  # a generalization test that makes its questions from the suite's
    same_as: str = ""  # the part whose questions it asks, in another mode
    mode: str = ""  # how a model is to answer; else as the user says
    images: int = 1  # that a question shows, at most
    actions: bool = False  # whether something is done to the scene first
    least_budget: int = 0  # below which the part is left out
    schema: str = ""  # of its scenes
    per_scene: int = 0  # questions asked about one scene, of those it has, where it shares its scenes with others


@dataclass(frozen=True, slots=True)
class DiagnosticSet:
    """The set of a version and a seed; seed 0 is the public one."""

    version: int
    parts: tuple[DiagnosticPart, ...]
    digests: Mapping[str, Sequence[str]]  # of every shard of a part, of the public set
    public_seed: int
    seed: int = 0
    workers: int | None = None  # processes that make it; None: as many as there are cores

    @property
    def digest(self) -> str:
        """What every result says of the set."""
        public = content_id([self.version, self.public_seed, dict(self.digests)])
        return (content_id([public, self.seed]) if self.seed else public)[:DIGITS]

    @property
    def base(self) -> DiagnosticPart:
        return next(part for part in self.parts if part.group == FACTORS and not part.base)

    def find(self, name: str) -> DiagnosticPart:
        return next(part for part in self.parts if part.name == name)

    def describe(self, part: DiagnosticPart) -> dict[str, Any]:
        """What a run's spec says of the part it is about."""
        return {"version": self.version, "digest": self.digest, "part": part.name, "seed": self.seed}

    def build_spec(self, part: DiagnosticPart) -> Any:
        """The suite's spec of a part."""
        fields = {name: tuple(v) if isinstance(v, list) else v for name, v in part.fields.items()}
        seed = seed_of("diagnostic set", self.seed) % 2**31 if self.seed else self.public_seed
        return load_suite(part.suite).spec(**fields, seed=seed + bool(part.derive))

    def locate(self, part: DiagnosticPart, shards: int) -> Path:
        """Where so many shards of a part are kept: another folder for another number, as each is whole, and for
        another set, as its data were made by other code."""
        key = content_id([self.build_spec(part).spec(), shards, self.digest])[:12]
        return find_cache_folder() / "data" / f"diagnostic-{part.suite}-{key}"

    def make(self, part: DiagnosticPart, shards: int, bar: ProgressBar = show_no_bar) -> Path:
        """The first shards of a part, made if they are not there yet, and checked."""
        made = self.build(part, shards, bar)
        self._check(part, made)
        return made.folder

    def build(self, part: DiagnosticPart, shards: int, bar: ProgressBar = show_no_bar) -> Dataset:
        """The same, whatever comes out."""
        shards = min(shards, part.shards)
        base = self.build(self.find(part.base), shards, bar).folder if part.base else None
        folder = self.locate(part, shards)
        suite, spec = load_suite(part.suite), self.build_spec(part)
        how: dict[str, Any] = {"only": {SPLIT: shards}, "workers": self.workers}
        how["bar"] = lambda name: bar(f"making {part.name}")
        try:
            made = suite.make(spec, folder, base, **how).dataset
        except DamagedFile:  # it is ours alone
            made = suite.make(spec, folder, base, repair=True, **how).dataset
        return self._derive(part, folder) if part.derive else made

    def _derive(self, part: DiagnosticPart, folder: Path) -> Dataset:
        """The dataset of the questions that a generalization test makes from those of a folder."""
        test = GENERALIZATION_TESTS.load(part.derive)
        (made,) = test.plan(SourceSplit(folder, SPLIT), test.OPTIONS()).test_sets
        target = folder.with_name(f"{folder.name}-{part.derive}")
        questions = made.questions or ()
        write_test_set(target, folder, questions, {"test": part.derive, "questions": _digest_questions(questions)})
        return Dataset.open(target)

    def _check(self, part: DiagnosticPart, made: Dataset) -> None:
        """Refuse what is not as pinned; a private set is pinned by nobody."""
        if self.seed:
            return
        pinned, found = self.digests.get(part.name, ()), digest_shards(made)
        if [*found] != [*pinned[: len(found)]] or not found:
            raise UserError(
                f"{made.folder}: part {part.name!r} of the diagnostic set is not that of version {self.version}: this "
                "ShiftScope makes other data, so its figures would not be comparable; install the version that pinned "
                "the set, or diagnose on a private set with --seed 1"
            )


def digest_shards(made: Dataset) -> list[str]:
    """A digest of each shard's scenes, questions and answers; pictures differ from machine to machine."""
    return [_digest_shard(made, shard) for shard in made.shards(SPLIT)]


def _digest_shard(made: Dataset, shard: Shard) -> str:
    scenes = read_shard_scenes(made.folder / shard.images.path) if shard.images else ()
    questions = read_questions(made.folder / shard.questions.path) if shard.questions else ()
    return content_id([[s.content_id() for s in scenes], _digest_questions(list(questions))])[:DIGITS]


def _digest_questions(questions: Sequence[Question]) -> str:
    rows = [
        [q.id, q.text, q.action, list(q.scenes), q.answer, program_text(q.program) if q.program else ""]
        for q in questions
    ]
    return content_id(rows)


@cache
def load_diagnostic_set(seed: int = 0) -> DiagnosticSet:
    """The set as this version pins it; with a seed, its private twin."""
    if seed < 0:
        raise UserError(f"--seed is 0 for the public set, or a number above it for a private one, not {seed}")
    data = json.loads(FILE.read_text("utf-8"))
    parts = [{**one, "conditions": tuple(one.get("conditions", (AS_IS,)))} for one in data["parts"]]
    return DiagnosticSet(
        data["version"], tuple(DiagnosticPart(**one) for one in parts), data["digests"], data["seed"], seed
    )
