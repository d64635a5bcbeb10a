"""P-NSVQA by possible-worlds inference (ours): calibrated, exact."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from ..lang.exec.packed import Programs
from ..lang.exec.possible_worlds import BY_PAPER, infer_answers, prepare_programs
from ..lang.exec.soft import SoftAnswers
from ..lang.execution_world import SoftRules
from ..lang.scene_posterior import ScenePosterior, build_certain_posterior
from ..model import ModelOptions, ModelSetting, Response
from ..scene_table import SceneTable
from ..schema import Schema
from .nsvqa import neuro_symbolic
from .nsvqa.trained_model import TrainedModel

TRAITS = neuro_symbolic.make_traits("p_nsvqa_exact")
BLOCK = 100  # scenes whose possible worlds are gone through by one thread
UNSETTLED = "the question fits none of the likeliest scenes; answered by the soft rules"


def make_executor(trained: TrainedModel, positions: str = TRAITS.positions[0]) -> neuro_symbolic.ProgramExecutor:
    """Runs programs on the likeliest possible scenes, as the model's own validation data weigh them.

    The answer that the possible scenes which the question fits give most weight, and that weight. Many scenes are
    gone through in blocks, by threads, the same on every machine.
    """
    calibration, relation = trained.calibration, trained.find_relation(positions)
    rules = SoftRules(spatial=relation)  # where no scene fits

    def answer(programs: Programs, posterior: ScenePosterior, rows: Iterable[int]) -> SoftAnswers:
        weighed = calibration.apply(posterior)
        return infer_answers(programs, weighed, rows, relation=relation or BY_PAPER, rules=rules)

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

    return neuro_symbolic.ProgramExecutor(answer_in_blocks, answer_known, respond)


def answer_known(programs: Programs, table: SceneTable, rows: Iterable[int]) -> SoftAnswers:
    """A scene that is known needs no calibration, and places tell its relations."""
    return infer_answers(programs, build_certain_posterior(table), rows)


def respond(found: SoftAnswers) -> list[Response]:
    made = neuro_symbolic.respond_surely(found)
    return [r if ok else replace(r, trace=UNSETTLED) for r, ok in zip(made, found.settled, strict=True)]


def describe_run(target: str, options: ModelOptions, schema: Callable[[], Schema]) -> dict[str, Any]:
    return neuro_symbolic.describe_model("p_nsvqa_exact", target, options, schema())


def build(target: str, setting: ModelSetting) -> neuro_symbolic.NeuroSymbolicModel:
    parsers = neuro_symbolic.load_named_parsers("p_nsvqa_exact", target, setting)
    return neuro_symbolic.NeuroSymbolicModel(parsers, make_executor(parsers.trained, setting.options.positions))
