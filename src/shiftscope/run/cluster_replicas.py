"""Model replicas: a run's batches of prompts spread over a cluster, where each CPU or GPU has the model built once.

The batches are those of one machine, so a model's responses are too.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import UserError
from ..executor import AHEAD, Executor
from ..model import Model, Prompt, Response, parse_model_name, predict_checked
from .concurrent_calls import Responses
from .conditions import EvalExample

if TYPE_CHECKING:
    from .evaluate import RunSpec


class PromptBatch(NamedTuple):
    """Prompts that are answered together; the examples stay with the driver."""

    items: Sequence[EvalExample]
    prompts: Sequence[Prompt]

    def __reduce__(self) -> tuple[Any, ...]:
        return PromptBatch, ((), self.prompts)


def can_replicate(model: Any, executor: Executor) -> bool:
    """Whether a cluster is to answer: an endpoint is asked from here, and a file of predictions is read here."""
    return not executor.shares_disk and not any(hasattr(model, name) for name in ("ask", "check_questions"))


def predict_on_replicas(run: "RunSpec", batches: Iterator[PromptBatch], executor: Executor) -> Responses:
    """Every item with its response, as they come."""
    device = run.options.device
    if device == "all":
        raise UserError("--device all spreads one model over the GPUs of one machine; omit it, or --cluster")
    on_gpu = device != "cpu" and executor.gpus > 0
    if device.startswith("cuda") and not on_gpu:
        raise UserError("no node of the cluster has a GPU; omit --device")
    there = replace(run, options=replace(run.options, device="cuda" if on_gpu else "cpu"))
    executor.require_files(_list_files(run))
    build = partial(_build_replica, there)
    with closing(executor.map_replicated(build, predict_batch, batches, on_gpu=on_gpu, ahead=AHEAD)) as answered:
        for batch, responses in answered:
            yield from zip(batch.items, responses, strict=True)


def _list_files(run: "RunSpec") -> Iterator[Path]:
    """The files and folders that a replica is built from."""
    yield run.data
    yield from filter(None, (run.learn_from, run.images))
    target = parse_model_name(run.model).target
    if target and Path(target).exists():
        yield Path(target)


def _build_replica(run: "RunSpec") -> tuple[Model, str]:
    from .evaluate import build_run_model
    from .question_source import open_source

    source = open_source(run.data, run.images)
    return run.adapt.apply(build_run_model(run, source), source)[0], run.model


def predict_batch(named: tuple[Any, str], batch: PromptBatch) -> list[Response]:
    """The responses to a batch, with the time that each took."""
    model, name = named
    if hasattr(model, "ready"):
        model.ready(batch.prompts)
    start = time.perf_counter()
    responses = predict_checked(model, batch.prompts, name)
    each = (time.perf_counter() - start) / len(batch.prompts)
    return [replace(one, seconds=each) if one.seconds is None else one for one in responses]
