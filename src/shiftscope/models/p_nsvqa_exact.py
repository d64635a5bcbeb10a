"""P-NSVQA by possible scenes (ours): used to its images, calibrated, inferring over what may be there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice

from ..lang.beliefs import Beliefs, certain
from ..lang.exec.packed import Programs
from ..lang.exec.possible import answer
from ..lang.exec.soft import SoftAnswers
from ..lang.program import Program
from ..scenetable import SceneTable
from ._model import Reply, Setting
from ._neuro_symbolic import Execute, NeuroSymbolic, answered, load
from ._weights import Trained

ATTUNED = 64  # images of a split, the first, that the scene parser gets used to; no label is looked at
ATTUNING = 2  # how it does; another number when it is done otherwise, so that no answers of both are mixed
UNSETTLED = "the question fits none of the likeliest scenes; answered by the soft rules"


def executor(trained: Trained) -> Execute:
    """Runs programs on the likeliest possible scenes, as the model's own validation data weigh them."""
    found = answering(trained)

    def execute(programs: Sequence[Program], beliefs: Beliefs, rows: Sequence[int]) -> list[Reply]:
        """The answer that the possible scenes which the question fits give most weight, and that weight."""
        return _replies(found(programs, beliefs, rows))

    return execute


def answering(trained: Trained) -> Callable[[Programs, Beliefs, Iterable[int]], SoftAnswers]:
    """The same, raw, for who asks many."""
    calibration, relation = trained.calibration, trained.spatial

    def found(programs: Programs, beliefs: Beliefs, rows: Iterable[int]) -> SoftAnswers:
        return answer(programs, calibration.apply(beliefs), rows, relation=relation)

    return found


def execute_known(programs: Sequence[Program], table: SceneTable, rows: Sequence[int]) -> list[Reply]:
    """A scene that is known needs no calibration, and places tell its relations."""
    return _replies(answer(programs, certain(table), rows))


def _replies(found: SoftAnswers) -> list[Reply]:
    made = [answered(found[i], float(found.belief[i])) for i in range(len(found))]
    return [r if ok else replace(r, trace=UNSETTLED) for r, ok in zip(made, found.settled, strict=True)]


def build(target: str, setting: Setting) -> NeuroSymbolic:
    parsers = load("p_nsvqa_exact", target, setting)
    return NeuroSymbolic(
        parsers, executor(parsers.trained), execute_known, lambda: islice(setting.shown(), ATTUNED)
    )
