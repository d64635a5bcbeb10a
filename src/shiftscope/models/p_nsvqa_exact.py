"""P-NSVQA by possible-worlds inference (ours): adapted to its test images, calibrated, exact."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from ..lang.exec.packed import Programs
from ..lang.exec.possible_worlds import infer_answers, prepare_programs
from ..lang.exec.soft import SoftAnswers
from ..lang.program import Program
from ..lang.scene_posterior import ScenePosterior, build_certain_posterior
from ..model import Adaptation, ModelOptions, ModelSetting, Response
from ..scene_table import SceneTable
from ..schema import Schema
from .nsvqa import neuro_symbolic
from .nsvqa.trained_model import TrainedModel

ADAPTATION_IMAGES = 64  # of a split, the first, that the scene parser is adapted to; no label is looked at
ADAPTATION_VERSION = 2  # another number whenever adaptation changes, so that a run never mixes two of them
TRAITS = neuro_symbolic.make_traits("p_nsvqa_exact", Adaptation(neuro_symbolic.ADAPTATIONS[0], ADAPTATION_IMAGES))
BLOCK = 100  # scenes whose possible worlds are gone through by one thread
UNSETTLED = "the question fits none of the likeliest scenes; answered by the soft rules"


def make_executor(trained: TrainedModel) -> neuro_symbolic.Execute:
    """Runs programs on the likeliest possible scenes, as the model's own validation data weigh them."""
    answer = make_answerer(trained)
    # The answer that the possible scenes which the question fits give most weight, and that weight.
    return lambda programs, posterior, rows: _make_responses(answer(programs, posterior, rows))


def make_answerer(trained: TrainedModel) -> Callable[[Programs, ScenePosterior, Iterable[int]], SoftAnswers]:
    """The same, as arrays; many scenes are gone through in blocks, by threads, the same on every machine."""
    calibration, relation = trained.calibration, trained.spatial

    def answer(programs: Programs, posterior: ScenePosterior, rows: Iterable[int]) -> SoftAnswers:
        return infer_answers(programs, calibration.apply(posterior), rows, relation=relation)

    def answer_in_blocks(programs: Programs, posterior: ScenePosterior, rows: Iterable[int]) -> SoftAnswers:
        scene = np.asarray(rows if isinstance(rows, np.ndarray) else list(rows), np.int64)
        if len(posterior) <= BLOCK or not len(scene):
            return answer(programs, posterior, scene)
        held, prepared = posterior.to_numpy(), prepare_programs(programs, posterior.schema)
        order = np.argsort(scene, kind="stable")
        edges = np.searchsorted(scene[order], np.arange(0, len(held) + BLOCK, BLOCK))

        def answer_block(k: int) -> SoftAnswers:
            here = order[edges[k] : edges[k + 1]]
            return answer(prepared.take(here), held.take(slice(k * BLOCK, (k + 1) * BLOCK)), scene[here] - k * BLOCK)

        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            made = list(threads.map(answer_block, np.flatnonzero(np.diff(edges)).tolist()))
        back = np.argsort(order)
        value, confidence, settled = (
            np.concatenate([getattr(m, name) for m in made])[back] for name in ("value", "confidence", "settled")
        )
        return SoftAnswers(value, confidence, settled, prepared.kinds, made[0].terms, made[0].part_terms)

    return answer_in_blocks


def execute_known(programs: Sequence[Program], table: SceneTable, rows: Sequence[int]) -> list[Response]:
    """A scene that is known needs no calibration, and places tell its relations."""
    return _make_responses(infer_answers(programs, build_certain_posterior(table), rows))


def _make_responses(found: SoftAnswers) -> list[Response]:
    made = [neuro_symbolic.make_response(found[i], float(found.confidence[i])) for i in range(len(found))]
    return [r if ok else replace(r, trace=UNSETTLED) for r, ok in zip(made, found.settled, strict=True)]


def describe_run(target: str, options: ModelOptions, schema: Callable[[], Schema]) -> dict[str, Any]:
    return neuro_symbolic.describe_weights("p_nsvqa_exact", target, schema()) | {
        "attuned": ADAPTATION_IMAGES,
        "attuning": ADAPTATION_VERSION,
    }


def build(target: str, setting: ModelSetting) -> neuro_symbolic.NeuroSymbolicModel:
    parsers = neuro_symbolic.load_named_parsers("p_nsvqa_exact", target, setting)
    return neuro_symbolic.NeuroSymbolicModel(parsers, make_executor(parsers.trained), execute_known)
