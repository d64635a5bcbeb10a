"""CLEVR_HYP's models trained and tested: Table 3's layout, measured beside reported, with intervals.

`python -m benchmarks.clevr_hyp_models --out build/hyp --results "$OUT" --minutes 8`. Makes the data, trains the scene
parser on CLEVR and each model on Original's train split, and runs every model on the four test sets. What is finished
is kept in --results at once; the same command again, on the same --out, resumes where it paused. --model scene_edit
does one row and what it needs; --images 35 --one-set --epochs 1 --size 240x160 is a rehearsal on a processor.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.end_to_end import ProgressLines, keep_results
from benchmarks.table import table
from shiftscope.geometry.camera import read_size
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.program import split_action
from shiftscope.metrics import accuracy, action_accuracy
from shiftscope.model import ModelOptions
from shiftscope.models.scene_edit.outcome import describe_outcome, match_outcome
from shiftscope.result import RunLog, Score
from shiftscope.run.evaluate import RunSpec, evaluate
from shiftscope.run.make import make
from shiftscope.store.dataset import Dataset, ImageIndex
from shiftscope.store.run_log import read_rows
from shiftscope.store.shard import read_questions
from shiftscope.suites.clevr_hyp.reported import REPORTED, SLICES, TESTS
from shiftscope.suites.clevr_hyp.suite import ClevrHypSpec
from shiftscope.train.loop import TrainingPaused
from shiftscope.train.train import TrainSpec, train

SCENE = "clevr_scene"
HYP, CLEVR = "hyp", "clevr"  # what is trained on: the dataset that is made, or CLEVR's world, drawn while training


@dataclass(frozen=True, slots=True)
class HypTraining:
    """A folder to train, in terms of those before it."""

    model: str
    data: str = HYP
    only: str = ""
    other: str = ""  # the folder that other parts are taken from
    folders: tuple[tuple[str, str], ...] = ()  # settings that name folders

    @property
    def needs(self) -> tuple[str, ...]:
        return tuple(name for name in (self.other, *(folder for _, folder in self.folders)) if name)


TRAININGS = {
    SCENE: HypTraining("nsvqa", CLEVR, only="scene"),
    "scene_edit": HypTraining("scene_edit", only="actions,questions", other=SCENE),
    "scene_edit_reinforced": HypTraining(
        "scene_edit", only="actions,questions", other="scene_edit", folders=(("reinforce", "scene_edit"),)
    ),
    "text_reader": HypTraining("text_reader", only="reader", other=SCENE),
    "lxmert": HypTraining("lxmert", folders=(("backbone", SCENE),)),
    "lxmert_clevr": HypTraining("lxmert", CLEVR, folders=(("backbone", SCENE),)),
    "image_edit": HypTraining("image_edit", folders=(("answerer", "lxmert_clevr"),)),
}


@dataclass(frozen=True, slots=True)
class HypRow:
    """A row of the table: a model, the folder it is trained in, the condition it is run under, and the paper's name."""

    model: str
    training: str = ""
    condition: str = "as_is"
    paper: str = ""


ROWS = {
    "random (27 answers alike)": HypRow("random_uniform", paper="random"),
    "random (by type)": HypRow("random"),
    "text_reader, parsed scene": HypRow("text_reader", "text_reader", paper="BL1"),
    "text_reader, oracle scene": HypRow("text_reader", "text_reader", "scene_text"),
    "lxmert": HypRow("lxmert", "lxmert", paper="BL2"),
    "image_edit": HypRow("image_edit", "image_edit", paper="BL3"),
    "scene_edit": HypRow("scene_edit", "scene_edit", paper="BL4"),
    "scene_edit, reinforced": HypRow("scene_edit", "scene_edit_reinforced", paper="BL4"),
    "scene_edit, oracle scene": HypRow("scene_edit", "scene_edit", "scene_text"),
    "scene_edit_soft": HypRow("scene_edit_soft", "scene_edit"),
    "scene_edit_worlds (ours)": HypRow("scene_edit_worlds", "scene_edit"),
}
RESULT = "result.json"


class HypStudy:
    """Everything in one folder, so that it can be left and resumed."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given, self.out = given, given.out
        self.deadline = time.monotonic() + 60 * given.minutes
        self.data = self.out / "data"

    def run(self) -> bool:
        """Whether all is done."""
        try:
            with self._stop_in_time():
                self._make_data()
            chosen = {k: row for k, row in ROWS.items() if not self.given.model or row.model in self.given.model}
            for row in chosen.values():
                if row.training:
                    self._train(row.training)
            for name, row in chosen.items():
                for split in TESTS:
                    self._evaluate(name, row, split)
        except (TrainingPaused, KeyboardInterrupt):
            print("paused; resume with the same command", flush=True)
            return False
        return True

    def _make_data(self) -> None:
        spec = ClevrHypSpec(
            images=self.given.images, size=self.given.size, shard=min(250, max(1, self.given.images // 7))
        )
        make("clevr_hyp", spec, self.data, workers=self.given.workers)

    def _train(self, name: str) -> None:
        plan = TRAININGS[name]
        for needed in plan.needs:
            self._train(needed)
        left = (self.deadline - time.monotonic()) / 60
        if left <= 0:
            raise TrainingPaused
        folder = self.out / "models" / name
        drawn = plan.data == CLEVR and not self.given.one_set
        images = self.given.scene_images if drawn else self.given.images
        spec = TrainSpec(
            plan.model,
            "clevr" if drawn else str(self.data),
            images=images,
            only=plan.only,
            other=self.out / "models" / plan.other if plan.other else None,
            epochs=self.given.epochs,
            settings=tuple((key, str(self.out / "models" / other)) for key, other in plan.folders),
            device=self.given.device,
            workers=self.given.workers,
            minutes=left,
        )
        began = time.monotonic()
        trained = train(spec, folder, bar=ProgressLines)
        if trained.new:
            entries = {part: trained.about[part] for part in trained.parts}
            shown = {
                part: {k: e[k] for k in ("val", "epoch", "rise", "seconds") if k in e} for part, e in entries.items()
            }
            print(f"{name}: {time.monotonic() - began:.0f} s; {json.dumps(shown)}", flush=True)
            keep_results(folder, self.given.results)

    def _evaluate(self, name: str, row: HypRow, split: str) -> None:
        folder = self.out / "runs" / _name_folder(name) / split
        if (folder / RESULT).exists():
            return
        model = f"{row.model}:{self.out / 'models' / row.training}" if row.training else row.model
        options = ModelOptions(device=self.given.device)
        spec = RunSpec(model, self.data, split, conditions=(row.condition,), options=options, limit=self.given.limit)
        began = time.monotonic()
        with self._stop_in_time():
            log = evaluate(spec, folder / "run", use_cache=False)
        seconds = round(time.monotonic() - began, 1)
        result = measure_run(log) | {"outcome": measure_outcomes(self.data, split, folder / "run"), "seconds": seconds}
        (folder / RESULT).write_text(json.dumps(result) + "\n")
        self._keep_figures()
        print(f"{name} on {split}: {_format(result['accuracy'][''])}, {result['seconds']} s", flush=True)

    def _keep_figures(self) -> None:
        """All figures so far, as one file, since few come back from a borrowed machine."""
        if self.given.results is None:
            return
        figures = {name: {split: self.find_result(name, split) for split in TESTS} for name in ROWS}
        self.given.results.mkdir(parents=True, exist_ok=True)
        (self.given.results / "figures.json").write_text(json.dumps(figures) + "\n")

    @contextmanager
    def _stop_in_time(self) -> Iterator[None]:
        """Within, the end of the minutes is as Ctrl-C: what is written by then is kept."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TrainingPaused

        def interrupt(number: int, frame: Any) -> None:
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, left)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def find_result(self, name: str, split: str) -> dict[str, Any]:
        path = self.out / "runs" / _name_folder(name) / split / RESULT
        return dict(json.loads(path.read_text())) if path.exists() else {}


def _name_folder(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name)


def measure_run(log: RunLog) -> dict[str, Any]:
    """Accuracy and action accuracy, overall and by slices: value, low, high, how many."""
    facts = {name for name, _ in log.records.facts}
    by = [name for name in ("action", "kind", "logic") if name in facts]
    found = {"accuracy": _list_scores(accuracy.measure(log.records, by))}
    if (log.records.action_right >= 0).any():
        found["action"] = _list_scores(action_accuracy.measure(log.records, by))
    return found


def measure_outcomes(data: Path, split: str, run: Path) -> dict[str, list[int]]:
    """How often the scene after the action is the true one: right, of how many, by kind of action; each action once."""
    dataset = Dataset.open(data)
    traces = {question.question: prediction.trace for question, prediction in read_rows(run)}
    if not any(text.startswith("{") for text in traces.values()):
        return {}
    index = ImageIndex(dataset.folder, dataset.shards(), dataset.check_file)
    counts: dict[str, list[int]] = {}
    known: dict[tuple[str, str], None] = {}
    for shard in dataset.shards(split):
        for question in read_questions(dataset.folder / shard.questions.path) if shard.questions else ():
            key = (question.scenes[0], question.action)
            if question.program is None or question.id not in traces or key in known:
                continue
            known[key] = None
            action = split_action(question.program)[0]
            if action is None:
                continue
            after = execute(action, index.get(question.scenes[0], shard).scene).worlds[-1].scenes[0]
            right = match_outcome(traces[question.id], describe_outcome(after))
            for name in ("", f"action={question.note('action_kind')}"):
                pair = counts.setdefault(name, [0, 0])
                pair[0] += right
                pair[1] += 1
    return counts


def _list_scores(scores: Sequence[Score]) -> dict[str, list[float | int | None]]:
    made: dict[str, list[float | int | None]] = {}
    for s in scores:
        key = ",".join(f"{name}={value}" for name, value in s.slice)
        made.setdefault(key, [s.value, s.low, s.high, s.n])
    return made


def print_tables(study: HypStudy) -> None:
    """Table 3: overall, then by kind of action and type of question; action accuracy apart."""
    heads = ("model", *(f"{paper}, measured" for paper in TESTS.values()), *(f"{p}, reported" for p in TESTS.values()))
    rows: list[Sequence[object]] = []
    for name, row in ROWS.items():
        measured = [_format(study.find_result(name, split).get("accuracy", {}).get("")) for split in TESTS]
        reported = [_format_share(REPORTED.find("hypothetical_accuracy", row.paper, split)) for split in TESTS]
        if any(measured):
            rows.append((name, *measured, *reported))
    people = [_format_share(REPORTED.find("hypothetical_accuracy", "people", split)) for split in TESTS]
    table("Accuracy, %, with 95% intervals over images", heads, [*rows, ("people", *[""] * len(TESTS), *people)])
    for title, figure in (("Accuracy", "accuracy"), ("Action accuracy (exact program)", "action")):
        _print_slices(study, title, figure)
    rows = []
    for name in ROWS:
        counted = [study.find_result(name, split).get("outcome", {}).get("") for split in TESTS]
        if any(counted):
            rows.append((name, *("" if not c else f"{100 * c[0] / c[1]:.1f} of {c[1]:,}" for c in counted)))
    table(
        "Scenes after actions that are right (looks exactly, no relation turned), %", ("model", *TESTS.values()), rows
    )


def _print_slices(study: HypStudy, title: str, figure: str) -> None:
    for split, by, names in SLICES:
        rows: list[Sequence[object]] = []
        for name, row in ROWS.items():
            found = study.find_result(name, split).get(figure, {})
            if found:
                rows.append((f"{name}, measured", *(_format(found.get(f"{by}={value}")) for value in names)))
                paper = [REPORTED.find("hypothetical_slices", row.paper, split, by, value) for value in names]
                if figure == "accuracy" and any(share is not None for share in paper):
                    rows.append((f"{name}, reported", *map(_format_share, paper)))
        if rows:
            table(f"{title} on {TESTS[split]} by {by}, %", ("model", *names), rows)


def _format(score: Sequence[Any] | None) -> str:
    if not score or score[0] is None:
        return ""
    value, low, high, n = score
    around = f" ({100 * low:.1f}–{100 * high:.1f})" if low is not None and high is not None else ""
    return f"{100 * value:.1f}{around} of {n:,}"


def _format_share(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--results", type=Path)
    options.add_argument("--images", type=int, default=7000, help="of CLEVR_HYP, as in the paper")
    options.add_argument("--scene-images", type=int, default=20_000, help="of CLEVR, for the scene parser")
    size: Callable[[str], tuple[int, int]] = read_size
    options.add_argument("--size", type=size, default=(480, 320))
    options.add_argument("--model", action="append")
    options.add_argument("--one-set", action="store_true", help="train the scene parser on CLEVR_HYP's images too")
    options.add_argument("--epochs", type=int)
    options.add_argument("--limit", type=int, help="questions of each test set; all if not given")
    options.add_argument("--minutes", type=float, default=1e6)
    options.add_argument("--device", default="auto")
    options.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = options.parse_args()
    study = HypStudy(given)
    done = study.run()
    print_tables(study)
    print("done" if done else "not done: run the same command again", flush=True)


if __name__ == "__main__":
    main()
