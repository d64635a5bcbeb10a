"""Diagnose: ask a model the diagnostic set, as much of it as a budget of calls allows, in ordinary runs."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
from ..files import encode_utf8, write_whole
from ..folder import lock_folder, refuse_foreign_files
from ..json_files import load_json
from ..result import RunLog
from ..url_path import refuse_url
from .diagnosis_plan import DiagnosisPlan, PlannedRun
from .diagnostic_set import SPLIT
from .evaluate import RunSpec, evaluate

NAME = "diagnosis.json"
FORMAT = 1
FIRST_CALLS = 20  # after which the rate is known

Tell = Callable[[str, int, int], None]  # what is asked, calls done, of how many
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A diagnosis that was run: its runs, in the order of the plan."""

    plan: DiagnosisPlan
    out: Path
    logs: tuple[RunLog, ...]
    new: int  # calls made now
    seconds: float

    @property
    def folders(self) -> tuple[Path, ...]:
        return tuple(self.out / "runs" / run.folder for run in self.plan.runs)

    @property
    def failed(self) -> int:
        return sum(int(log.records.status.equals("failed").sum()) for log in self.logs)


def refuse_other_diagnosis(out: Path, plan: DiagnosisPlan) -> None:
    """A folder is of one diagnosis: one model, one set, one budget."""
    refuse_foreign_files(out, "diagnosis", [NAME], remedy="choose another folder for --out")
    if not (out / NAME).is_file():
        return
    there = load_json(out / NAME)
    if not isinstance(there, dict) or there.get("format") != FORMAT:
        raise UserError(f"{out / NAME}: not what shiftscope diagnose writes; choose another folder for --out")
    for name, value in plan.identify().items():
        if there.get(name) != value:
            what = {"digest": "diagnostic set", "version": "version of the diagnostic set"}.get(name, name)
            raise UserError(
                f"{out} holds a diagnosis with another {what} ({there.get(name)} there, {value} here); choose another "
                "folder for --out"
            )


def diagnose(
    plan: DiagnosisPlan,
    out: Path,
    *,
    cache: Path | None = None,
    use_cache: bool = True,
    tell: Tell = lambda part, done, total: None,
    warn: Say = lambda sentence: None,
    say: Say = lambda sentence: None,
) -> Diagnosis:
    """Run what is planned, or what is missing of it; `say` hears once how long it takes at the rate measured."""
    refuse_url(out, "a diagnosis")
    refuse_other_diagnosis(out, plan)
    start, total, before, added = time.monotonic(), plan.count("calls"), 0, 0
    clock = _RateClock(total, say)
    logs = []
    with lock_folder(out):
        _write_json(out, plan)
        for run in plan.runs:

            def tell_part(done: int, _: int, offset: int = before, name: str = run.part.name) -> None:
                clock.note(offset + done)
                tell(name, offset + done, total)

            counted: list[int] = []
            logs.append(
                evaluate(
                    build_run_spec(plan, run),
                    out / "runs" / run.folder,
                    cache=cache,
                    use_cache=use_cache,
                    tell=tell_part,
                    warn=warn,
                    count=lambda new, _, counted=counted: counted.append(new),  # type: ignore[misc]
                )
            )
            added += sum(counted)
            before += run.calls
            _link_data(out, run)
    return Diagnosis(plan, out, tuple(logs), added, time.monotonic() - start)


def build_run_spec(plan: DiagnosisPlan, run: PlannedRun) -> RunSpec:
    """The ordinary run that a part of a plan is."""
    spec = plan.spec
    return RunSpec(
        spec.model,
        run.data,
        SPLIT,
        conditions=run.conditions,
        mode=run.mode,
        learn_from=spec.learn_from,
        options=spec.options,
        variant=run.part.name,
        part=run.questions,
        factor=run.part.factor,
        diagnostic=plan.set.describe(run.part),
        conditions_part=run.subset,
    )


class _RateClock:
    """Says, once, how long all calls take at the rate of the first."""

    def __init__(self, total: int, say: Say) -> None:
        self._total, self._say = total, say
        self._before: int | None = None  # calls made by earlier sessions
        self._first: tuple[int, float] | None = None
        self._over = False

    def note(self, done: int) -> None:
        now = time.monotonic()
        if self._before is None:
            self._before = done
        if self._first is None and done > self._before:  # what comes before the first reply is loading
            self._first = done, now
        if self._first is None:
            return
        calls, seconds = done - self._first[0], now - self._first[1]
        if not self._over and calls >= FIRST_CALLS and seconds > 1:
            self._over = True
            left = (self._total - done) * seconds / calls
            self._say(f"{calls / seconds:,.1f} calls a second so far: about {format_seconds(left)} left")


def format_seconds(seconds: float) -> str:
    return f"{seconds:,.0f} seconds" if seconds < 120 else f"{seconds / 60:,.0f} minutes"


def _write_json(out: Path, plan: DiagnosisPlan) -> None:
    data = {"format": FORMAT, **plan.identify(), "mode": plan.spec.mode, "plan": plan.to_json()}
    write_whole(out / NAME, encode_utf8(json.dumps(data, ensure_ascii=False, indent=1) + "\n"))


def _link_data(out: Path, run: PlannedRun) -> None:
    """data/PART leads to the cache, where links can be made."""
    link = out / "data" / run.folder
    with suppress(OSError):
        link.parent.mkdir(exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(run.data.resolve(), target_is_directory=True)
