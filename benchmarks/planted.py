"""Planted weaknesses: is each found out? `python -m benchmarks.planted [--seeds 20] [--budget 2000] [WEAKNESS …]`.

A model with a planted weakness is the oracle, with a few errors by chance, made to fail in one place. It fails in one
stage: one that does not see answers right once the scene is told, one that does not read once the program is told, one
that does not reason never. It is found out if the verdict of its diagnosis surely names its factor first, or its slice
as the worst, and before it no factor but one whose drop this slice explains; and if it names its stage. A model without
a weakness, that errs by chance alone, must have none named: no sure drop, no slice.

A seed varies everything: it is that of a private diagnostic set, with other scenes and other questions, and the errors
by chance fall on other questions. Of each set the oracle is diagnosed, once; the planted models are its runs with other
answers. (As models they can be diagnosed too: `shiftscope diagnose benchmarks.planted:FailsOnRubber --seed 1`.)
Pictures are small, since nobody looks at them; the part about several images is left out, as it takes as long to make
as the rest together. Models without a weakness get `--draws` draws of errors per seed, as nothing else varies.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar, NamedTuple

import numpy as np

from benchmarks.table import table
from shiftscope.columns import Column
from shiftscope.model import EVERYTHING, Prompt, Response
from shiftscope.models.oracle import Oracle
from shiftscope.question import Question
from shiftscope.report.runs import arrange_runs
from shiftscope.report.verdict import Verdict, find_verdict, spell_verdict
from shiftscope.result import RunLog
from shiftscope.rng import derive
from shiftscope.run.diagnose import Diagnosis, diagnose
from shiftscope.run.diagnosis_plan import DiagnosisSpec, plan_diagnosis
from shiftscope.run.diagnostic_set import SPLIT, DiagnosticSet, load_diagnostic_set
from shiftscope.scene import Scene
from shiftscope.store.dataset import Dataset

SIZE = (120, 80)  # of pictures
LEFT_OUT = "several images"
WRONG = "nothing"  # the answer of who errs
SEEING, READING, REASONING = "seeing", "reading the question", "reasoning"
MENDS = {SEEING: "scene_text", READING: "program_text"}  # the condition under which a stage is spared


class PlantedWeakness:
    """The oracle, but for one weakness; subclasses say where it is."""

    reads = EVERYTHING
    errors: ClassVar[float] = 0.03  # of all answers
    stage: ClassVar[str] = ""
    factor: ClassVar[str] = ""  # that the verdict must name first
    slice: ClassVar[str] = ""  # or a pattern of the words of the first slice

    def __init__(self) -> None:
        self._oracle = Oracle()

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        return [self._spoil(prompt, one) for prompt, one in zip(batch, self._oracle.predict(batch), strict=True)]

    def _spoil(self, prompt: Prompt, response: Response) -> Response:
        asked = replace(prompt.question, answer=response.answer)  # a prompt does not carry its answer
        unlucky = derive("planted", asked.id, asked.text, prompt.condition).random() < self.errors
        fails = prompt.condition != MENDS.get(self.stage) and self.fails(asked, prompt.scenes)
        return Response(answer=WRONG) if response.answer is not None and (unlucky or fails) else response

    @classmethod
    def fails(cls, question: Question, scenes: Sequence[Scene]) -> bool:
        return False


class FailsOnRubber(PlantedWeakness):
    """Takes rubber for something else, wherever the question turns on it."""

    stage, slice = SEEING, r"\brubber\b"

    @classmethod
    def fails(cls, question: Question, scenes: Sequence[Scene]) -> bool:
        program = question.program
        return question.answer == "rubber" or any("rubber" in n.params for n in (program.nodes if program else ()))


class FailsOnLargeCounts(PlantedWeakness):
    """Cannot count beyond three."""

    stage, slice = REASONING, r"\bnumber, (?:[4-9]|\d\d+)\b"

    @classmethod
    def fails(cls, question: Question, scenes: Sequence[Scene]) -> bool:
        return type(question.answer) is int and question.answer > 3


class FailsOnLongQuestions(PlantedWeakness):
    """Does not read questions of more than 20 words."""

    stage, factor, slice = READING, "Question redundancy", r"\bof (?:2[1-9]|[3-9]\d)\b.* words\b"

    @classmethod
    def fails(cls, question: Question, scenes: Sequence[Scene]) -> bool:
        return len(question.text.split()) > 20


class FailsOnTextures(PlantedWeakness):
    """Sees nothing right where there are textures."""

    stage, factor = SEEING, "Visual complexity"

    @classmethod
    def fails(cls, question: Question, scenes: Sequence[Scene]) -> bool:
        return any(o.texture or any(p.texture for p in o.parts) for s in scenes for o in s.objects)


class ErrsSeldom(PlantedWeakness):
    """Has no weakness, and is right on 97%."""


class ErrsOften(PlantedWeakness):
    """Has no weakness, and is right on 80%."""

    errors = 0.2


WEAKNESSES = (FailsOnRubber, FailsOnLargeCounts, FailsOnLongQuestions, FailsOnTextures)
SOUND = (ErrsSeldom, ErrsOften)


class Outcome(NamedTuple):
    """What a verdict on a planted model says."""

    named: bool  # the weakness first
    staged: bool
    factor: bool  # a factor surely costs something, which is not the weakness, and no slice explains it
    slice: bool  # a slice stands out


@dataclass(frozen=True, slots=True)
class OracleRun:
    """A run of the oracle, with all that its questions are about."""

    log: RunLog
    folder: Path
    asked: Mapping[str, tuple[Question, tuple[Scene, ...]]]  # by id


def main(argv: Sequence[str] | None = None) -> None:
    kinds = {kind.__name__: kind for kind in (*WEAKNESSES, *SOUND)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="WEAKNESS", help=", ".join(kinds))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--draws", type=int, default=5, help="draws of errors per seed, without a weakness")
    parser.add_argument("--budget", type=int, default=2000)
    given = parser.parse_args(argv)
    outcomes: dict[type[PlantedWeakness], list[Outcome]] = {kinds[name]: [] for name in given.names or kinds}
    for seed in range(given.first, given.first + given.seeds):
        plan = plan_diagnosis(DiagnosisSpec("oracle", given.budget, seed), whole=load_small_set(seed))
        with TemporaryDirectory() as folder:
            runs = list(read_oracle(diagnose(plan, Path(folder) / "out")))
        for kind, some in outcomes.items():
            for draw in range(1 if kind.stage else given.draws):
                verdict = judge_planted(kind, runs, seed, draw)
                some.append(judge(kind, verdict))
                print(f"{kind.__name__}, seed {seed}: {some[-1]} {' '.join(spell_verdict(verdict))}", flush=True)
    rows = [build_row(kind, some) for kind, some in outcomes.items()]
    table("Planted weaknesses", ("planted", "named first", "stage right", "another factor named", "slice named"), rows)


def load_small_set(seed: int) -> DiagnosticSet:
    """The private set of a seed, with small pictures."""
    whole = load_diagnostic_set(seed)
    parts = [
        replace(part, fields={**part.fields, "size": SIZE} if part.fields else part.fields)
        for part in whole.parts
        if part.name != LEFT_OUT
    ]
    return replace(whole, parts=tuple(parts), workers=1)  # starting processes takes longer than the work


def read_oracle(done: Diagnosis) -> Iterator[OracleRun]:
    for run, log, folder in zip(done.plan.runs, done.logs, done.folders, strict=True):
        made = Dataset.open(run.data)
        scenes = {scene.id: scene for scene in made.scenes(SPLIT)}
        questions = (q for q in made.questions(SPLIT) if q.id in run.questions.ids)
        yield OracleRun(log, folder, {q.id: (q, tuple(scenes[s] for s in q.scenes)) for q in questions})


def judge_planted(kind: type[PlantedWeakness], runs: Sequence[OracleRun], seed: int, draw: int) -> Verdict:
    """The verdict on the oracle's runs with a weakness and some errors."""
    logs = []
    for k, run in enumerate(runs):
        records = run.log.records
        failing = [*(kind.fails(*run.asked[name]) for name in records.question.values), False]
        fails = np.array(failing)[records.question.codes] & ~records.condition.equals(MENDS.get(kind.stage, ""))
        unlucky = derive("planted", kind.__name__, seed, draw, k).random(len(records)) < kind.errors
        values = (*records.answer.values, WRONG)  # of truths and answers
        answered = records.answer.codes >= 0
        codes = np.where(answered & (fails | unlucky), len(values) - 1, records.answer.codes).astype(np.int32)
        changed = replace(records, truth=Column(values, records.truth.codes), answer=Column(values, codes))
        logs.append((replace(run.log, records=changed), run.folder))
    report = arrange_runs(logs)
    return find_verdict(report, *report.contenders)


def judge(kind: type[PlantedWeakness], verdict: Verdict) -> Outcome:
    sure = [one for one in verdict.factors if one.is_sure]
    described = [one["words"] for one in verdict.to_json()["slices"]]
    named = bool(sure) and sure[0].factor == kind.factor
    if not sure or sure[0].is_explained:
        named = named or bool(kind.slice and described and re.search(kind.slice, described[0]))
    main_stage = verdict.stages.main if verdict.stages else None
    staged = main_stage is not None and main_stage.stage == kind.stage
    others = [one for one in sure if one.factor != kind.factor and not one.is_explained]
    return Outcome(named, staged, bool(others), bool(described))


def build_row(kind: type[PlantedWeakness], outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    named, staged, factor, sliced = (f"{sum(column)} of {len(outcomes)}" for column in zip(*outcomes, strict=True))
    return (kind.__name__, *((named, staged) if kind.stage else ("", "")), factor, sliced)


if __name__ == "__main__":
    main()
