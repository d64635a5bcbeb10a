"""Figures: simulated studies whose truth is known, changed in ways that must not change what is reported.

Each trial draws a study: scenes, questions that go together within a scene, two samples of one model, and a
twin of the data on which the model loses a known share. Then
- the order of rows and of models changes nothing;
- asking every question twice within its scene leaves the estimates and narrows no interval;
- a reply that goes missing never raises an accuracy;
- data of another seed under the same ids pair with nothing.
Over all trials two samples of one model differ significantly in 3 to 7% of them, and the interval of the
planted drop covers it in at least 93%.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from shiftscope.metrics import accuracy
from shiftscope.metrics.significance import PairedTest, compare_models
from shiftscope.report.drops import find_shifts
from shiftscope.report.measure import measure_accuracy as accuracy_of
from shiftscope.report.runs import arrange_runs
from shiftscope.result import Lineage, Prediction, QuestionRecord, RunLog, RunRecords, Score, records_of

from .trial import Trial

NAME, UNIT, TARGET = "figures", "simulated studies", 10_000
PROMISE = (
    "Order and duplicates change no figure, and missing responses raise none; over all studies, two samples "
    "of one model differ significantly in 3 to 7%, and the interval of a planted drop covers it in at least "
    "93%."
)
ENOUGH = 1000  # trials before shares are judged
NEAR = 1e-9
KINDS = ("count", "exist", "query")

Row = tuple[QuestionRecord, Prediction | None]


@dataclass(frozen=True, slots=True)
class World:
    """How questions are spread over scenes, and how likely each is answered right."""

    asked: tuple[QuestionRecord, ...]
    chance: np.ndarray  # [question]


def attack(random: np.random.Generator, folder: Path) -> Trial:
    world = draw_world(random)
    rows = [sample(random, world) for _ in range(2)]
    first, second = map(records_of, rows)
    lost = float(random.uniform(0, 0.3))
    twin, planted = shift(random, world, rows[0], lost)
    faults = [
        *changed_by_order(random, first, second),
        *changed_by_duplicates(rows, first, second),
        *raised_by_missing(random, rows[0], first),
        *paired_across_seeds(first, rows[1]),
    ]
    seeds = compare_models(first, second)
    drop = twin_drop(first, records_of(twin))
    figures = {
        "seeds": 1.0,
        "significant": float((seeds.p or 0.0) < 0.05),
        "planted": 1.0,
        "covered": float(drop.low is not None and drop.high is not None and drop.low <= planted <= drop.high),
        "found": float((drop.p or 0.0) < 0.05),
    }
    scenes = len({a.scenes for a in world.asked})
    what = f"a study at {len(world.asked)} questions of {scenes} scenes"
    return Trial(NAME, 0, what, fault="; ".join(faults), figures=figures)


def judge(trials: list[Trial]) -> list[str]:
    if len(trials) < ENOUGH:
        return []
    total = {name: sum(t.figures.get(name, 0.0) for t in trials) for name in trials[0].figures}
    wrong = []
    differ = total["significant"] / total["seeds"]
    if not 0.03 <= differ <= 0.07:
        wrong.append(f"two samples of one model differ significantly in {100 * differ:.1f}%")
    covered = total["covered"] / total["planted"]
    if covered < 0.93:
        wrong.append(f"a planted drop is covered in {100 * covered:.1f}%")
    return wrong


def describe(trials: list[Trial]) -> str:
    total = {name: sum(t.figures.get(name, 0.0) for t in trials) for name in trials[0].figures}
    shares = {n: total[n] / total["planted"] for n in ("significant", "covered", "found")}
    return (
        f"Two samples of one model differ significantly in {100 * shares['significant']:.1f}% of the "
        f"studies; the interval of the planted drop covers it in {100 * shares['covered']:.1f}%, and it is "
        f"found (p < 0.05) in {100 * shares['found']:.1f}%."
    )


def draw_world(random: np.random.Generator) -> World:
    scenes, most = int(random.integers(10, 120)), int(random.integers(1, 10))
    level, alike = random.uniform(0.2, 0.95), random.uniform(0.02, 0.4)
    size = 1 / alike - 1
    asked, chance = [], []
    for s in range(scenes):
        likely = random.beta(level * size, (1 - level) * size)
        for k in range(int(random.integers(1, most + 1))):
            facts = (("kind", KINDS[int(random.integers(3))]),)
            name = f"{s}-{k}"
            asked.append(QuestionRecord(name, (f"scene {s}",), "yes", facts=facts, content=f"seed 0 {name}"))
            chance.append(likely)
    return World(tuple(asked), np.array(chance))


def sample(random: np.random.Generator, world: World) -> list[Row]:
    """What a model says that answers at random: right with the chance of each question."""
    right = random.random(len(world.asked)) < world.chance
    return [(a, Prediction(a.question, "yes" if r else "no")) for a, r in zip(world.asked, right, strict=True)]


def shift(random: np.random.Generator, world: World, base: Sequence[Row], lost: float) -> tuple[list[Row], float]:
    """A twin of the data on which a share of the right answers is lost; and the drop that is expected."""
    twin: list[Row] = []
    for asked, said in base:
        right = said is not None and said.answer == "yes" and random.random() >= lost
        name = f"{asked.question} twin"
        facts = (*asked.facts, ("factor", "visual"), ("variant", "hard"))
        about = replace(asked, question=name, twin=asked.question, facts=facts, content=f"twin {name}")
        twin.append((about, Prediction(name, "yes" if right else "no")))
    return twin, lost * float(world.chance.mean())


def twin_drop(base: RunRecords, twin: RunRecords) -> PairedTest:
    """The paired drop as the report has it."""
    logs = [
        RunLog((("model", "m"), ("data_id", name)), records, lineage=Lineage(name, "base", "base"))
        for name, records in (("base", base), ("hard", twin))
    ]
    (found,) = find_shifts(arrange_runs([(log, None) for log in logs]))
    made = found.measure_drop()
    assert made is not None
    return made


def changed_by_order(random: np.random.Generator, first: RunRecords, second: RunRecords) -> list[str]:
    mixed = first.take(random.permutation(len(first)))
    one, other = (accuracy.measure(records, ("kind",)) for records in (first, mixed))
    pairs = zip(one, other, strict=True)
    faults = [f"the order of rows changes {a} to {b}" for a, b in pairs if not same(a, b)]
    there, back = compare_models(first, second), compare_models(second, mixed)
    turned = np.array((there.drop, there.low, there.high, there.p), float)
    expected = np.array((back.drop, back.high, back.low, back.p), float) * (-1, -1, -1, 1)
    if not np.allclose(turned, expected, atol=NEAR):
        faults.append(f"the order of models changes {there} to {back}")
    logs = [(log(records, model), None) for model, records in (("a", first), ("b", second))]
    studies = [arrange_runs(order) for order in (logs, logs[::-1])]
    found = [{run.model: accuracy_of(run) for run in study.runs} for study in studies]
    if found[0] != found[1]:
        faults.append(f"the order of runs changes {found[0]} to {found[1]}")
    return faults


def changed_by_duplicates(rows: Sequence[Sequence[Row]], first: RunRecords, second: RunRecords) -> list[str]:
    doubled = [records_of([*one, *map(again, one)]) for one in rows]
    faults = []
    one, two = (accuracy.measure(records)[0] for records in (first, doubled[0]))
    pair, pairs = compare_models(first, second), compare_models(*doubled)
    for name, a, b in (("accuracy", ends(one), ends(two)), ("difference", ends(pair), ends(pairs))):
        if abs(a[0] - b[0]) > NEAR:
            faults.append(f"asking twice changes the {name} from {a[0]} to {b[0]}")
        if b[2] - b[1] < a[2] - a[1] - NEAR:
            faults.append(f"asking twice narrows the interval of the {name}: {a} to {b}")
    return faults


def again(row: Row) -> Row:
    asked, said = row
    name = f"{asked.question} again"
    told = None if said is None else replace(said, question=name)
    return replace(asked, question=name, content=f"{asked.content} again"), told


def raised_by_missing(random: np.random.Generator, rows: Sequence[Row], records: RunRecords) -> list[str]:
    gone = random.random(len(rows)) < random.uniform(0, 1)
    left = records_of((a, None if g else p) for (a, p), g in zip(rows, gone, strict=True))
    whole, part = (accuracy.measure(r)[0] for r in (records, left))
    faults = []
    if (part.value or 0.0) > (whole.value or 0.0) + NEAR or part.n != whole.n:
        faults.append(f"missing replies raise {whole} to {part}")
    if part.missing != int(gone.sum()) or part.complete != (not gone.any()):
        faults.append(f"{int(gone.sum())} missing replies are told as {part.missing}")
    return faults


def paired_across_seeds(first: RunRecords, rows: Sequence[Row]) -> list[str]:
    elsewhere = [(replace(a, content=a.content.replace("seed 0", "seed 1")), p) for a, p in rows]
    found = compare_models(replace(first, data="data 0"), replace(records_of(elsewhere), data="data 1"))
    return [f"data of two seeds pair in {found.n} questions"] if found.n else []


def log(records: RunRecords, model: str) -> RunLog:
    return RunLog((("model", model), ("data", "d")), records)


def ends(figure: Score | PairedTest) -> tuple[float, float, float]:
    value = figure.value if isinstance(figure, Score) else figure.drop
    return value or 0.0, figure.low or 0.0, figure.high or 0.0


def same(one: Score, other: Score) -> bool:
    if (one.metric, one.n, one.slice, one.scenes) != (other.metric, other.n, other.slice, other.scenes):
        return False
    first, second = (np.array((s.value, s.low, s.high), np.float64) for s in (one, other))
    return bool(np.allclose(first, second, atol=NEAR, equal_nan=True))
