"""The page of a campaign: what was attacked, how often, for how long, and what did not hold."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from shiftscope import __version__
from shiftscope.files import write_whole

from .trial import Part, Trial, latest

HEAD = """# Reliability

*Measured* by `make campaign`, and written by `python -m campaign --report docs/results/reliability.md`.
Every trial is determined by a seed and a number, so that faults can be reproduced. A fault is lost or changed
data, a wrong figure, a traceback, or a rate outside the range in the last column.
"""
COVERAGE = """## Intervals

How often 95% intervals cover the true value, in simulated runs where it is known: the output of
`python -m benchmarks.coverage`. Unlike the campaign's simulated studies (section *Figures*), whose 93% is an
average over all studies, this is a grid of conditions: *mean* is over the grid, and *lowest* is its worst point.
The 92% of decision 022 is the lowest coverage of an accuracy with ten scenes or more; that of a paired drop can
be lower, where losses are rare and clustered. With fewer than ten scenes, reports show "too few scenes".

*Kind* is how the chance of a right answer varies between scenes. beta: a beta distribution. copied: some answers
of a scene copy a common one, so that a few scenes are entirely wrong. probit: a normal latent variable.
"""
MOST = 12  # faults that the page quotes
LABELS = {  # of attacks whose name in the journal reads badly
    "reader of a lines of predictions": "reader of predictions as JSON lines",
    "reader of a object of predictions": "reader of predictions as a JSON object",
    "reader of a list of predictions": "reader of predictions as a JSON list",
}


def write_report(path: Path, parts: Mapping[str, Part], trials: Sequence[Trial], coverage: str = "") -> None:
    machine = f"ShiftScope {__version__}, Python {platform.python_version()}, {platform.machine()}."
    columns = ("part", "attacks", "target", "trials", "minutes", "faults", "what must hold")
    pieces = [HEAD, machine, "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    known = {name: [t for t in latest(trials) if t.part == name] for name in parts}
    pieces += [_row(part, known[name]) for name, part in parts.items()]
    for name, part in parts.items():
        if known[name]:
            pieces += ["", f"## {name.capitalize()}", "", *_detail(part, known[name])]
            pieces += _mended([t for t in trials if t.part == name], known[name])
    if coverage:
        pieces += ["", COVERAGE, coverage.strip()]
    write_whole(path, ("\n".join(pieces) + "\n").encode())


def _row(part: Part, trials: list[Trial]) -> str:
    wrong = sum(bool(t.fault) for t in trials) + len(part.judge(trials))
    minutes = sum(t.seconds for t in trials) / 60
    attacks = f"{sum(t.count for t in trials):,} {part.UNIT}"
    cells = (part.NAME, attacks, f"{part.TARGET:,}", f"{len(trials):,}", f"{minutes:.0f}", f"{wrong:,}")
    return f"| {' | '.join((*cells, part.PROMISE))} |"


def _detail(part: Part, trials: list[Trial]) -> list[str]:
    said = part.describe(trials)
    lines = [said, ""] if said else []
    kinds: Counter[str] = Counter()
    for trial in trials:
        kinds[_kind(trial)] += trial.count
    if len(kinds) > 1:
        lines += [f"| attack | {part.UNIT} |", "|---|---|"]
        lines += [f"| {kind} | {n:,} |" for kind, n in kinds.most_common()]
    for wrong in part.judge(trials):
        lines += ["", f"**Does not hold: {wrong}.**"]
    for trial in [t for t in trials if t.fault][:MOST]:
        lines += ["", f"**Fault** of trial {trial.number} (seed {trial.seed}), {trial.what}: {trial.fault}"]
    return lines


def _mended(trials: Sequence[Trial], last: Sequence[Trial]) -> list[str]:
    """What was found on the way, and is no fault when the same trial is taken again, after the mend."""
    left = {(t.seed, t.number) for t in last if t.fault}
    found = [t for t in trials if t.fault and (t.seed, t.number) not in left]
    return [
        line for t in found for line in ("", f"Found and fixed: trial {t.number} (seed {t.seed}), {t.what}: {t.fault}")
    ]


def _kind(trial: Trial) -> str:
    """What was attacked, without the numbers of the single trial."""
    name = trial.what.partition(" at ")[0]
    return LABELS.get(name, name).replace("of replies", "of responses")
