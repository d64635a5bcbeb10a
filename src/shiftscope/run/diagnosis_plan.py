"""The plan of a diagnosis: which questions of the diagnostic set a budget of calls is spent on.

At most 15% go to the parts beside the factors, in equal numbers; of the rest two thirds to the
factors, and what is left to the conditions that tell stages apart. All factors share one base, and every twin asks
about the scenes that the base asks about, so that each drop is paired, question by question where questions are twins,
scene by scene where not. Numbers are equal over the factors, which is within 4% of the least total variance of their
drops for accuracies of 60 to 90% and up to a quarter of the pairs that part, whichever these turn out to be. Scenes are
as many as the budget allows, four questions each, since questions about one scene tell less than questions about
several. A twin that is the same as its original to the letter (a question about parts, in rd+) is not asked: its drop
is 0. Conditions are asked of a subset, spread over the scenes, the same questions in the base and in every twin.

Of the questions that a scene has, those are asked whose answers are rare, so that rare answers are asked often enough
to be a slice (`choose_questions`).
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from .. import model as model_api
from ..errors import UserError
from ..metrics.significance import smallest_detectable_drop
from ..model import ModelOptions
from ..question import Question
from ..result import AS_IS, BLIND
from ..rng import derive
from ..scene import load_schema
from ..store.dataset import Dataset, data_id
from ..store.question_part import QuestionPart
from ..suites import ProgressBar, show_no_bar
from .diagnostic_set import FACTORS, SPLIT, DiagnosticPart, DiagnosticSet, load_diagnostic_set
from .question_source import open_source

RECOMMENDED = 2000  # calls
BESIDE_SHARE = 0.15  # of the budget
FACTOR_SHARE = 2 / 3  # of the rest
SCENES_IN_SHARD = 20
FEWEST_SCENES = 5  # with fewer, a drop has no interval worth the name
ACCURACY, DISCORDANT, WITHIN_SCENE = 0.8, 0.15, 0.1  # assumed before anything is known; the last, a correlation
CHARACTERS, PIXELS = 4, 750  # that make up a token, about
REPLY_TOKENS = {"short": 5, "free": 150}  # expected


@dataclass(frozen=True, slots=True)
class DiagnosisSpec:
    """What is diagnosed, and by how much."""

    model: str
    budget: int = RECOMMENDED  # calls
    seed: int = 0  # of the set; 0 for the public one
    mode: str = "short"
    learn_from: Path | None = None
    options: ModelOptions = model_api.DEFAULTS


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One part of the set as it will be asked."""

    part: DiagnosticPart
    data: Path
    questions: QuestionPart
    subset: QuestionPart | None  # asked under conditions too
    conditions: tuple[str, ...]
    mode: str
    scenes: int
    pairs: int  # questions whose drop is estimated
    tests: int = 1  # drops of the whole plan, for which the verdict corrects
    calls: int = 0
    images: int = 0  # sent
    read: int = 0  # tokens, about
    written: int = 0

    @property
    def folder(self) -> str:
        return re.sub(r"[^\w+-]+", "_", self.part.name)

    @property
    def detectable(self) -> float | None:
        """The smallest drop that would be sure in four of five cases, at the rates assumed above; 1 for none."""
        if self.scenes < FEWEST_SCENES:
            return 1.0
        together = max(1.0, self.pairs / self.scenes)
        n = self.pairs / (1 + (together - 1) * WITHIN_SCENE)
        found = None
        with suppress(UserError):  # scipy is not installed
            apart = DISCORDANT if self.part.paired else None
            found = smallest_detectable_drop(n, ACCURACY, discordant=apart, tests=self.tests)
        return found

    def to_json(self) -> dict[str, Any]:
        given = {"factor": self.part.factor, "base": self.part.base, "mode": self.mode}
        numbers = {name: getattr(self, name) for name in ("scenes", "calls", "images", "read", "written")}
        shown = {"part": self.part.name, "questions": len(self.questions.ids), "conditions": list(self.conditions)}
        shown |= {"asked_under_conditions": len(self.subset.ids)} if self.subset else {}
        shown |= {"pairs": self.pairs, "detectable": self.detectable} if self.part.factor else {}
        return shown | {name: value for name, value in given.items() if value} | numbers


@dataclass(frozen=True, slots=True)
class DiagnosisPlan:
    """All that will be asked, before any of it is."""

    spec: DiagnosisSpec
    set: DiagnosticSet
    runs: tuple[PlannedRun, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)  # parts, and why

    def count(self, what: str) -> int:
        return sum(getattr(run, what) for run in self.runs)

    @property
    def price(self) -> float | None:
        price = self.spec.options.price
        return (self.count("read") * price[0] + self.count("written") * price[1]) / 1e6 if price else None

    @property
    def too_small(self) -> list[str]:
        """Factors of which no drop could be shown."""
        return [f"{run.part.factor} ({run.part.name})" for run in self.runs if run.part.factor and run.detectable == 1]

    def identify(self) -> dict[str, Any]:
        """What a diagnosis in a folder must have in common with this one to be resumed."""
        of = {"version": self.set.version, "digest": self.set.digest, "seed": self.set.seed}
        return of | {"model": self.spec.model, "budget": self.spec.budget}

    def to_json(self) -> dict[str, Any]:
        totals = {name: self.count(name) for name in ("calls", "images", "read", "written")}
        return {
            **totals,
            **({"price": self.price} if self.price is not None else {}),
            "parts": [run.to_json() for run in self.runs],
            "left_out": dict(self.left_out),
        }


def plan_diagnosis(
    spec: DiagnosisSpec, bar: ProgressBar = show_no_bar, whole: DiagnosticSet | None = None
) -> DiagnosisPlan:
    """Choose the questions; the parts that they are of are made if they are not there yet.

    They are of the set of the spec's seed, or of another that is given.
    """
    whole = whole or load_diagnostic_set(spec.seed)
    traits = model_api.parse_model_name(spec.model).traits
    if traits.learns and traits.reads is not None and spec.learn_from is None:  # a class of the user's own need not
        raise UserError(
            f"model {spec.model!r} learns from a train split, which the diagnostic set does not have; name a dataset "
            "with --learn-from"
        )
    left_out = {part.name: why for part in whole.parts if (why := _explain_unsuited(part, spec, whole.base))}
    if whole.base.name in left_out:
        raise UserError(f"model {spec.model!r} cannot be diagnosed: {left_out[whole.base.name]}")
    suited = [part for part in whole.parts if part.name not in left_out]
    factors = [part for part in suited if part.group == FACTORS]
    beside = [part for part in suited if part.group != FACTORS]
    each = int(BESIDE_SHARE * spec.budget / max(1, len(beside)))
    aside = _plan_beside(spec, whole, beside, each, bar) if each else []
    rest = spec.budget - sum(len(run.questions.ids) for run in aside)
    per_scene = sum(part.per_scene for part in factors)
    scenes = int(FACTOR_SHARE * rest / per_scene)
    if scenes < 1:
        least = math.ceil(per_scene * FEWEST_SCENES / FACTOR_SHARE / (1 - BESIDE_SHARE))
        raise UserError(
            f"a budget of {spec.budget:,} calls is too small: no factor could be estimated; give --budget "
            f"{RECOMMENDED:,}, or at least {least:,}"
        )
    scenes = min(scenes, whole.base.shards * SCENES_IN_SHARD)
    conditions = {part.name: _select_conditions(part, traits) for part in factors}
    extra = sum(len(some) - 1 for some in conditions.values())
    staged = (rest - scenes * per_scene) // extra if extra else 0
    runs = _plan_factors(spec, whole, factors, scenes, staged, conditions, bar)
    tests = max(1, sum(bool(run.part.factor) for run in (*runs, *aside)))
    planned = tuple(replace(_count_costs(run), tests=tests) for run in (*runs, *aside))
    return DiagnosisPlan(spec, whole, planned, left_out)


def _explain_unsuited(part: DiagnosticPart, spec: DiagnosisSpec, base: DiagnosticPart) -> str:
    """Why a part is not asked of the model that the base is asked of; nothing where it is."""
    name = model_api.parse_model_name(spec.model)
    if spec.budget < part.least_budget:
        return f"asked from a budget of {part.least_budget:,} calls on"
    if name.traits.most_images is not None and part.images > name.traits.most_images:
        return "the model looks at one image"
    if part.actions and not name.traits.takes_actions:
        return "the model cannot be told of actions"
    if part.mode and not name.traits.prompted:
        return "the model's answers do not depend on instructions"
    describe = getattr(model_api.load_kind(name.kind), "describe_run", None)
    try:
        if describe:
            parts = (part, base)
            there, here = (describe(name.target, spec.options, partial(load_schema, one.schema)) for one in parts)
            if there != here:
                return f"other weights would answer it, those that ship for {part.schema}"
    except UserError as error:
        return str(error)
    return ""


def _select_conditions(part: DiagnosticPart, traits: model_api.ModelTraits) -> tuple[str, ...]:
    return tuple(c for c in part.conditions if c != BLIND or traits.answers_blind)


# Which questions of a part are asked.


def _plan_factors(
    spec: DiagnosisSpec,
    whole: DiagnosticSet,
    parts: Sequence[DiagnosticPart],
    scenes: int,
    staged: int,
    conditions: Mapping[str, tuple[str, ...]],
    bar: ProgressBar,
) -> list[PlannedRun]:
    shards = math.ceil(scenes / SCENES_IN_SHARD)
    runs: list[PlannedRun] = []
    base_rows: dict[str, tuple[str, str]] = {}  # of a question of the base: its text, and what its scene shows
    subset: frozenset[str] = frozenset()
    for part in parts:
        folder = whole.make(part, shards, bar)
        made = Dataset.open(folder)
        shown = {scene.id: scene.content_id() for scene in made.scenes(SPLIT)}
        first = frozenset([*shown][:scenes])
        asked = list(made.questions(SPLIT))
        if not (part.base and part.paired):
            asked = choose_questions(asked, part.per_scene)  # of whole shards, so that more scenes only add to them
        asked = [q for q in asked if q.scenes[0] in first]
        rows = {q.id: (q.text, shown[q.scenes[0]]) for q in asked}
        if part.base and part.paired:
            of = {q.id: str(q.note("twin", "")) for q in asked}
            asked = [q for q in asked if of[q.id] in base_rows and base_rows[of[q.id]] != rows[q.id]]
            some = frozenset(q.id for q in asked if of[q.id] in subset)
        else:
            fewer = choose_questions(asked, math.ceil(staged / scenes))
            some = frozenset(q.id for q in _spread(fewer)[:staged])
        if not part.base:
            base_rows, subset = rows, some
        runs.append(_plan_run(spec, part, made, asked, some, conditions[part.name]))
    return runs


def _plan_beside(
    spec: DiagnosisSpec, whole: DiagnosticSet, parts: Sequence[DiagnosticPart], each: int, bar: ProgressBar
) -> list[PlannedRun]:
    runs: list[PlannedRun] = []
    for part in parts:
        source = whole.find(part.same_as) if part.same_as else part
        made = Dataset.open(whole.make(source, source.shards, bar))
        questions = list(made.questions(SPLIT))
        order = derive("diagnose", source.name, spec.seed).permutation(len(questions)).tolist()
        asked = _spread([questions[k] for k in order])[:each]
        if part.derive:  # pairs: a variant with its original
            known = {q.id: q for q in questions}
            variants = [q for q in _spread([questions[k] for k in order]) if q.note("twin") is not None]
            asked = [one for q in variants[: each // 2] for one in (known[str(q.note("twin"))], q)]
        if asked:
            runs.append(_plan_run(spec, part, made, asked, frozenset(), part.conditions))
    return runs


def choose_questions(questions: Sequence[Question], per_scene: int) -> list[Question]:
    """So many of each scene, whose answers are spread: types come as often as they do, their answers as evenly.

    Twenty scenes at a time, in their order, so that what is asked of the first does not depend on how many follow.
    The type that was taken least for how often it comes is next; of its questions, the one whose answer was taken
    least.
    """
    by_scene = _group_by_scene(questions)
    scenes = list(by_scene)
    come: Counter[tuple[str, str]] = Counter()  # types
    taken: Counter[tuple[str, str]] = Counter()
    answers: Counter[tuple[str, object]] = Counter()  # by what is asked
    chosen: set[str] = set()
    for at in range(0, len(scenes), SCENES_IN_SHARD):
        room = dict.fromkeys(scenes[at : at + SCENES_IN_SHARD], per_scene)
        pool = [q for scene in room for q in by_scene[scene]]
        come.update(map(_get_type, pool))
        while pool:
            rarest = min(map(_get_type, pool), key=lambda t: (taken[t] + 0.5) / come[t])
            left = Counter((q.kind, q.answer) for q in pool)
            some = (q for q in pool if _get_type(q) == rarest)
            one = min(some, key=lambda q: (answers[q.kind, q.answer], left[q.kind, q.answer]))
            chosen.add(one.id)
            taken[rarest] += 1
            answers[one.kind, one.answer] += 1
            room[one.scenes[0]] -= 1
            pool = [q for q in pool if q is not one and room[q.scenes[0]]]
    return [q for q in questions if q.id in chosen]


def _get_type(question: Question) -> tuple[str, str]:
    return question.provenance.template, question.kind


def _group_by_scene(questions: Iterable[Question]) -> dict[str, list[Question]]:
    grouped: dict[str, list[Question]] = {}
    for question in questions:
        grouped.setdefault(question.scenes[0], []).append(question)
    return grouped


def _spread(questions: Iterable[Question]) -> list[Question]:
    """One question of each scene, then a second of each, and so on; of the k-th scene the k-th is first."""
    by_scene = _group_by_scene(questions)
    turned = [some[k % len(some) :] + some[: k % len(some)] for k, some in enumerate(by_scene.values())]
    most = max(map(len, turned), default=0)
    return [some[at] for at in range(most) for some in turned if at < len(some)]


def _plan_run(
    spec: DiagnosisSpec,
    part: DiagnosticPart,
    made: Dataset,
    asked: Sequence[Question],
    some: frozenset[str],
    conditions: tuple[str, ...],
) -> PlannedRun:
    of = (SPLIT, data_id(made))
    ids = frozenset(q.id for q in asked)
    return PlannedRun(
        part,
        made.folder,
        QuestionPart(part.name, ids, *of),
        QuestionPart(f"{part.name}, under conditions", some, *of) if some else None,
        conditions if some else (AS_IS,),
        part.mode or spec.mode,
        len({q.scenes[0] for q in asked}),
        len(asked) if not part.derive else sum(q.note("twin") is not None for q in asked),
    )


def _count_costs(run: PlannedRun) -> PlannedRun:
    """With its calls, the images they send, and their tokens, about."""
    prompts = open_source(run.data).prompts(SPLIT, run.mode, False, run.questions.ids)
    spared = run.questions.ids - run.subset.ids if run.subset else frozenset()
    calls = images = read = 0
    for condition in run.conditions:
        for item in prompts.iter_examples(condition, None, spared if condition != AS_IS else frozenset()):
            pictures = item.prompt.pictures
            sizes = [scene.size or (0, 0) for scene in item.scenes] if pictures else []
            calls += 1
            images += len(pictures)
            read += len(item.prompt.text) // CHARACTERS + sum(w * h // PIXELS for w, h in sizes)
    return replace(run, calls=calls, images=images, read=read, written=calls * REPLY_TOKENS[run.mode])
