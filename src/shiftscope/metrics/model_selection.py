"""Model selection: which epoch of a training is chosen by which data, and its accuracy on the IID and OOD sets.

VQA-VS (Si et al., 2022), §5.3 and appendix C: after each epoch a model is measured on every set, and the epoch is
chosen that does best on the IID val set, on the mean of the OOD val sets, or on the mean of the OOD test sets. The last
two look at what should be unknown until the test, so that a figure says by which it was chosen. A fourth,
`selected_on_test`, chooses by the IID test itself, as figures of VQA v2 are.

Sets are slices of one list of test questions, so that one run gives all figures and differences are paired by question.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..records import content_id
from ..result import Score
from ..shortcuts.concepts import SHORTCUTS
from .intervals import Estimate, RatioTerm, SceneClusters, widen_side

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
FORMAT = 1
IID_VAL, OOD_VAL, OOD_TEST, ON_TEST = STRATEGIES = ("iid_val", "ood_val", "ood_test", "selected_on_test")
MARKED = {OOD_VAL: "chosen on OOD val", OOD_TEST: "chosen on OOD test", ON_TEST: "chosen on the test itself"}
LANGUAGE = "language"  # the scale of a study on an audit of VQA files, of which models read the questions alone
WHOLE, PRIORS, PROPORTION = "whole", "changing_priors", "proportion"
IID, PRIORS_TEST, PLANTED = "iid", "changing_priors", "ood_test"  # sets: the last is the world's own OOD test
VAL, TEST = "val", "test"
BLIND = ("prior", "second")  # by its question type alone: the most frequent answer of train, the second most frequent
STAGE_VAL = "_val"  # in a recipe, behind the name of a stage that was trained before: its accuracy on val
DEVICE = "device"  # in the spec of a world: what drew its pictures, unless a CPU did


def tail_of(shortcut: str, split: str = TEST) -> str:
    """The name of an OOD set."""
    return f"{split}/{shortcut}/tail"


def head_of(shortcut: str) -> str:
    return f"{TEST}/{shortcut}/head"


@dataclass(frozen=True, slots=True)
class StudyWorld:
    """The data that a study is on: which questions of the IID test are in which set, and how imbalanced train is."""

    KIND: ClassVar[str] = "world"
    study: str
    scale: str
    data: str  # content id of the dataset
    spec: Mapping[str, Any]
    questions: int  # of the IID test, and behind it those of the world's own OOD test
    sizes: Mapping[str, int]  # questions of train, val and each set
    degrees: Mapping[str, float]  # E of eq. 8, by shortcut
    sets: Mapping[str, str]  # packed: [question] whether it is in the set
    images: str  # packed: [question] its image
    tied: tuple[Mapping[str, Any], ...] = ()  # what was planted
    several_degrees: Mapping[str, float] = field(default_factory=dict)  # E over groups with several answers alone
    blind: Mapping[str, str] = field(default_factory=dict)  # packed: [question] whether a rule of BLIND is right

    @property
    def name(self) -> str:
        return f"{self.scale}-world-{content_id(self.to_json())[:12]}.json"

    def to_json(self) -> dict[str, Any]:
        plain = {**asdict(self), "tied": [dict(one) for one in self.tied]}
        for name in ("several_degrees", "blind"):
            if not plain[name]:  # as records were before
                del plain[name]
        return {"format": FORMAT, "kind": self.KIND} | plain

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> StudyWorld:
        given = {name: value for name, value in data.items() if name not in ("format", "kind")}
        return cls(**given | {"tied": tuple(data["tied"])})

    def is_redrawn(self, other: StudyWorld) -> bool:
        """Whether another has the same scenes, questions and sets, and pictures that another kind of device drew."""
        return self.data != other.data and self._describe_scenes() == other._describe_scenes()

    def _describe_scenes(self) -> str:
        spec = {name: value for name, value in self.spec.items() if name != DEVICE}
        return content_id({**replace(self, blind={}).to_json(), "spec": spec, "data": ""})

    def unpack_set(self, name: str) -> Bools:
        """[question] whether it is in the set."""
        return unpack_bits(self.sets[name], self.questions)

    def unpack_images(self) -> Ints:
        return np.frombuffer(zlib.decompress(base64.b64decode(self.images)), "<i4").astype(np.int64)


@dataclass(frozen=True, slots=True)
class SelectionRun:
    """One training: how many of each set were right after each epoch, and which, after the epochs that were chosen."""

    KIND: ClassVar[str] = "run"
    study: str
    scale: str
    data: str
    method: str
    seed: int
    training: str  # WHOLE, PRIORS, or PROPORTION/SHORTCUT/SHARE
    examples: int  # questions that were learned from
    right: Mapping[str, tuple[float, ...]]  # [epoch] by set, how many were right; a score in thirds may be a fraction
    hits: Mapping[str, str]  # by epoch, packed: [plane, question] whether it was right
    weights: str  # hash of the last epoch's
    recipe: Mapping[str, Any]  # numbers; the method's settings as text
    seconds: Mapping[str, float]
    device: str
    version: str
    made: str
    command: str = ""
    planes: int = 1  # of bits, of which a question's score is the mean
    throughput: float = 0.0  # questions learned from per second, in the best epoch of the last part
    together: int = 1  # trainings that shared the device with it at once, itself among them, at most
    shared_throughput: float = 0.0  # of all of them, while its last part was trained: in the epoch with the most

    @property
    def name(self) -> str:
        label = f"{self.scale}-{self.method}-{self.training}-{self.seed}".replace("/", "_").replace(" ", "_")
        return f"{label}-{content_id(self.to_json())[:12]}.json"

    @property
    def key(self) -> tuple[str, int, str]:
        return self.method, self.seed, self.training

    @property
    def settings(self) -> dict[str, str]:
        """Of the method, as the study gave them; a record that names no loss was made when all were one softmax."""
        return {"loss": "softmax"} | {name: value for name, value in self.recipe.items() if isinstance(value, str)}

    @property
    def earlier_stages(self) -> dict[str, float]:
        """The accuracy on val of what was trained before, such as a branch, by its name."""
        named = {name.removesuffix(STAGE_VAL): value for name, value in self.recipe.items() if name.endswith(STAGE_VAL)}
        return {name: value for name, value in named.items() if isinstance(value, float)}

    def to_json(self) -> dict[str, Any]:
        plain = asdict(self) | {"right": {name: list(counts) for name, counts in self.right.items()}}
        if self.together == 1:  # as records were before there was another way
            del plain["together"], plain["shared_throughput"]
        return {"format": FORMAT, "kind": self.KIND} | plain

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SelectionRun:
        given = {name: value for name, value in data.items() if name not in ("format", "kind")}
        return cls(**given | {"right": {name: tuple(counts) for name, counts in data["right"].items()}})


def select_epoch(right: Mapping[str, Sequence[float]], sizes: Mapping[str, int], strategy: str) -> int:
    """The place of the chosen epoch, from 0; of equals the first. OOD sets count alike, whatever their size."""
    if strategy in (IID_VAL, ON_TEST):
        names = [VAL if strategy == IID_VAL else IID]
    else:
        split = VAL if strategy == OOD_VAL else TEST
        names = [tail_of(s, split) for s in SHORTCUTS if sizes.get(tail_of(s, split))]
        if not names:
            raise ValueError(f"no OOD set of {split} has a question")
    means = sum(np.array(right[name]) / sizes[name] for name in names) / len(names)
    return int(np.argmax(means))


def select_priors_epoch(right: Mapping[str, Sequence[float]]) -> int:
    """By the changing-priors test itself, as VQA-CP figures are chosen."""
    return int(np.argmax(np.array(right[PRIORS_TEST])))


def parse_selection_record(data: Any) -> StudyWorld | SelectionRun:
    """A record from its JSON; ValueError, KeyError or TypeError where it is none."""
    kinds: dict[str, Any] = {StudyWorld.KIND: StudyWorld, SelectionRun.KIND: SelectionRun}
    if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("kind") not in kinds:
        raise ValueError(f"not a record of this format ({FORMAT})")
    record: StudyWorld | SelectionRun = kinds[data["kind"]].from_json(data)
    if record.to_json() != data:
        raise ValueError("it has fields that are not known")
    return record


@dataclass(frozen=True, slots=True)
class AccuracyTerm:
    """A method's accuracy on a set, or its mean over several, as a part of a sum."""

    method: str
    sets: tuple[str, ...]
    by: float = 1.0  # its coefficient
    strategy: str = IID_VAL
    training: str = WHOLE


@dataclass(frozen=True, slots=True, eq=False)
class SelectionResults:
    """The records of one world, and every figure made of them; what is not measured is None."""

    study: Any  # the definition
    world: StudyWorld | None
    runs: Mapping[tuple[str, int, str], SelectionRun]  # by method, seed and training
    left_out: int = 0  # records of other worlds
    outdated: int = 0  # records of this world whose methods had other settings than today, such as another loss
    redrawn: tuple[StudyWorld, ...] = ()  # the same world by other devices, whose records count, too
    repeats: tuple[SelectionRun, ...] = ()  # earlier trainings with the seed of another, which counts
    language: SelectionResults | None = None  # the same of real questions, by models that read these alone
    _clusters: dict[str, SceneClusters] = field(default_factory=dict)
    _unpacked: dict[tuple[Any, ...], npt.NDArray[Any]] = field(default_factory=dict)  # of runs' epochs, and of sets

    @property
    def scenes(self) -> SceneClusters:
        assert self.world is not None
        if "all" not in self._clusters:
            self._clusters["all"] = SceneClusters(self.world.unpack_images())
        return self._clusters["all"]

    def list_runs(self, method: str, training: str = WHOLE) -> list[SelectionRun]:
        """By seed."""
        return [run for (name, _, how), run in sorted(self.runs.items()) if (name, how) == (method, training)]

    def list_seeds(self, *methods: str, training: str = WHOLE) -> list[int]:
        """Those that all of the methods were trained with."""
        seeds = [{run.seed for run in self.list_runs(method, training)} for method in methods]
        return sorted(set.intersection(*seeds)) if seeds else []

    def list_epochs(self, method: str, strategy: str, training: str = WHOLE) -> list[int]:
        """Which epoch a strategy chose, from 1, by seed."""
        return [self._choose_epoch(run, strategy) + 1 for run in self.list_runs(method, training)]

    def list_shares(self, method: str, names: Sequence[str]) -> dict[int, list[float]]:
        """By seed, how much of each set was right after the epoch chosen on IID val."""
        assert self.world is not None
        sizes, found = self.world.sizes, {}
        for run in self.list_runs(method):
            epoch = self._choose_epoch(run, IID_VAL)
            found[run.seed] = [run.right[name][epoch] / sizes[name] for name in names]
        return found

    def list_repeats(self) -> dict[tuple[str, int, str], list[float]]:
        """By method, seed and training, the accuracies on the IID test of all trainings, where there are several."""
        assert self.world is not None
        found: dict[tuple[str, int, str], list[float]] = {}
        for run in sorted(self.repeats, key=lambda run: run.made):
            found.setdefault(run.key, []).append(self._measure_iid(run))
        return {key: [*values, self._measure_iid(self.runs[key])] for key, values in found.items()}

    def _measure_iid(self, run: SelectionRun) -> float:
        assert self.world is not None
        return run.right[IID][self._choose_epoch(run, IID_VAL)] / self.world.sizes[IID]

    def list_sets(self) -> list[str]:
        """The shortcuts whose OOD test sets have a question."""
        return [s for s in SHORTCUTS if self.world is not None and self.world.sizes.get(tail_of(s))]

    def find_score(self, method: str, name: str, strategy: str = IID_VAL, training: str = WHOLE) -> Score | None:
        """Accuracy on a set, mean over the seeds."""
        return self.estimate("accuracy", [[AccuracyTerm(method, (name,), 1.0, strategy, training)]])

    def find_mean(self, method: str, strategy: str = IID_VAL) -> Score | None:
        """The mean over the OOD test sets."""
        return self.estimate("mean_ood", [[AccuracyTerm(method, self._list_tails(), 1.0, strategy)]])

    def find_blind(self, rule: str, *sets: str) -> Score | None:
        """The accuracy of a rule of BLIND on a set, or its mean over several; an interval over scenes."""
        known = [world for world in (self.world, *self.redrawn) if world is not None and rule in world.blind]
        if not known or not all(known[0].sizes.get(name) for name in sets):
            return None
        right = unpack_bits(known[0].blind[rule], known[0].questions)
        terms = [RatioTerm(right * among, among) for among in map(self._unpack_set, sets)]
        made = self.scenes.combine(terms, [1 / len(sets)] * len(sets))
        return Score("blind", n=int(np.any([term.among for term in terms], axis=0).sum()), **made.to_score())

    def find_gain(
        self, method: str, backbone: str, name: str, strategy: str = IID_VAL, comparisons: int = 1
    ) -> Score | None:
        """Accuracy on a set less that of the backbone, paired by seed and question."""
        pair = [AccuracyTerm(one, (name,), by, strategy) for one, by in ((method, 1.0), (backbone, -1.0))]
        return self.estimate("gain", [pair], comparisons)

    def find_mean_gain(self, method: str, backbone: str, strategy: str = IID_VAL) -> Score | None:
        """The same of the mean over the OOD test sets."""
        tails = self._list_tails()
        pair = [AccuracyTerm(one, tails, by, strategy) for one, by in ((method, 1.0), (backbone, -1.0))]
        return self.estimate("mean_gain", [pair])

    def find_gap(self, method: str, name: str, comparisons: int = 1) -> Score | None:
        """Accuracy on the IID test less that on another set, by the same seeds."""
        pair = [AccuracyTerm(method, (one,), by) for one, by in ((IID, 1.0), (name, -1.0))]
        return self.estimate("gap", [pair], comparisons)

    def find_selection_gain(self, strategy: str, *methods: str) -> Score | None:
        """What choosing by a strategy adds to the mean over the OOD test sets, against IID val; mean over methods."""
        tails = self._list_tails()
        pairs = [
            [AccuracyTerm(method, tails, by, how) for how, by in ((strategy, 1.0), (IID_VAL, -1.0))]
            for method in methods
        ]
        return self.estimate("selection_gain", pairs)

    def estimate(self, metric: str, groups: Sequence[Sequence[AccuracyTerm]], comparisons: int = 1) -> Score | None:
        """The mean over groups of the sum of their terms; None where a term is not measured.

        Terms of a group go by the seeds that they have in common; seeds of two groups have nothing to do with each
        other. The interval is over scenes and, where a group has two seeds, over seeds; with several comparisons it is
        as much longer as Bonferroni's correction makes it.
        """
        terms: list[RatioTerm] = []
        by: list[float] = []
        parts: list[tuple[float, float]] = []
        for group in groups:
            seeds = self._list_common(group)
            if not seeds or not all(self._is_known(term) for term in group):
                return None
            values = np.zeros(len(seeds))
            for term in group:
                scores = np.array(
                    [self._unpack(self.runs[term.method, k, term.training], term.strategy) for k in seeds]
                )
                weight, mean = term.by / len(term.sets) / len(groups), scores.mean(0)
                for among in map(self._unpack_set, term.sets):
                    values += weight * scores[:, among].mean(1)
                    terms.append(RatioTerm(mean * among, among))
                    by.append(weight)
            if len(seeds) > 1:
                parts.append((float(values.var(ddof=1)) / len(seeds), len(seeds) - 1.0))
        if not terms:
            return None
        counted = int(np.any([term.among for term in terms], axis=0).sum())
        made = add_seed_parts(self.scenes.combine(terms, by), parts, by, comparisons)
        return Score(metric, n=counted, **made.to_score())

    def _list_common(self, group: Sequence[AccuracyTerm]) -> list[int]:
        return sorted(set.intersection(*({*self.list_seeds(t.method, training=t.training)} for t in group)))

    def _list_tails(self) -> tuple[str, ...]:
        return tuple(map(tail_of, self.list_sets()))

    def _is_known(self, term: AccuracyTerm) -> bool:
        sizes = self.world.sizes if self.world is not None else {}
        return bool(term.sets) and all(sizes.get(name) for name in term.sets)

    def _choose_epoch(self, run: SelectionRun, strategy: str) -> int:
        assert self.world is not None
        if run.training == PRIORS:
            return select_priors_epoch(run.right)
        return select_epoch(run.right, self.world.sizes, strategy)

    def _unpack(self, run: SelectionRun, strategy: str) -> npt.NDArray[np.float64]:
        """[question] its score."""
        assert self.world is not None
        key = (*run.key, self._choose_epoch(run, strategy))
        if key not in self._unpacked:
            bits = unpack_bits(run.hits[str(key[-1] + 1)], run.planes * self.world.questions)
            self._unpacked[key] = np.asarray(bits.reshape(run.planes, -1).mean(0), np.float64)
        return np.asarray(self._unpacked[key])

    def _unpack_set(self, name: str) -> Bools:
        assert self.world is not None
        if (name,) not in self._unpacked:
            self._unpacked[name,] = self.world.unpack_set(name)
        return np.asarray(self._unpacked[name,])


def add_seed_parts(
    scenes: Estimate, parts: Sequence[tuple[float, float]], by: Sequence[float], comparisons: int = 1
) -> Estimate:
    """An estimate over scenes that is unsure for its seeds too: each side apart, within what shares can sum up to.

    `parts` are variances of means over seeds with their degrees of freedom, `by` the coefficients of the shares.
    """
    if np.isnan(scenes.low) or np.isnan(scenes.high):
        return scenes
    below = widen_side(scenes.value - scenes.low, parts, comparisons=comparisons)
    above = widen_side(scenes.high - scenes.value, parts, comparisons=comparisons)
    least, most = (sum(sign * max(0.0, sign * one) for one in by) for sign in (-1, 1))
    return scenes._replace(low=max(least, scenes.value - below), high=min(most, scenes.value + above))


def build_selection_results(
    study: Any, records: Sequence[StudyWorld | SelectionRun], scale: str = ""
) -> SelectionResults:
    """The records of the world that most runs are of, of one scale or of the largest; of equal runs the latest.

    A world that differs only in which device drew its pictures counts as the same (`StudyWorld.is_redrawn`).
    """
    if scale != LANGUAGE:
        language = [r for r in records if r.scale == LANGUAGE]
        records = [r for r in records if r.scale != LANGUAGE]
        found = _build_results(study, records, scale)
        return replace(found, language=_build_results(study, language, LANGUAGE)) if language else found
    return _build_results(study, records, scale)


def _build_results(study: Any, records: Sequence[StudyWorld | SelectionRun], scale: str) -> SelectionResults:
    worlds = {r.data: r for r in records if isinstance(r, StudyWorld) and (not scale or r.scale == scale)}
    if not worlds:
        return SelectionResults(study, None, {}, len(records))
    counts = {data: sum(isinstance(r, SelectionRun) and r.data == data for r in records) for data in worlds}
    best = max(worlds, key=lambda data: (worlds[data].sizes["train"], counts[data], data))
    redrawn = tuple(world for world in worlds.values() if world.is_redrawn(worlds[best]))
    same = {best, *(world.data for world in redrawn)}
    runs = [r for r in records if isinstance(r, SelectionRun) and r.data in same]
    alike = [run for run in runs if study.trains_alike(run)]
    kept = {run.key: run for run in sorted(alike, key=lambda run: run.made)}
    repeats = tuple(run for run in alike if kept[run.key] is not run)
    others = sum(isinstance(r, SelectionRun) for r in records) - len(runs)
    return SelectionResults(study, worlds[best], kept, others, len(runs) - len(alike), redrawn, repeats)


def pack_bits(values: npt.NDArray[Any]) -> str:
    return base64.b64encode(zlib.compress(np.packbits(np.asarray(values, bool)).tobytes(), 9)).decode("ascii")


def unpack_bits(text: str, count: int) -> Bools:
    bits = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8)
    return np.unpackbits(bits, count=count).astype(bool)


def pack_numbers(values: npt.NDArray[Any]) -> str:
    return base64.b64encode(zlib.compress(np.asarray(values, "<i4").tobytes(), 9)).decode("ascii")
