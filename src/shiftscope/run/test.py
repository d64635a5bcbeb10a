"""Test: put a model through a generalization test: make the questions, ask them, measure, keep all of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ..canonical import content_id
from ..catalog import TESTS
from ..errors import UserError
from ..formats import _json
from ..models._name import TRAINED, read_name
from ..result import AS_IS, BLIND, CacheUse, RunLog
from ..store.lock import locked
from ..store.manifest import read_manifest
from ..whole import utf8, write_whole
from .evaluate import Order, evaluate
from .generalization._dataset import write_exam
from .generalization._frame import Exam, Material, Outcome, Plan, Taken
from .pictures import Unseen

RESULT = "result.json"
NOT_LEARNING = ("openai", "hf", "oracle", "predictions", *TRAINED)  # when they are run
Tell = Callable[[str, int, int], None]  # the exam, questions asked, of how many


def test(
    name: str,
    order: Order,
    out: Path,
    options: Any = None,
    *,
    cache: Path | None = None,
    use_cache: bool = True,
    tell: Tell = lambda exam, done, total: None,
    warn: Callable[[str], None] = lambda sentence: None,
) -> Outcome:
    """Run a test of the catalogue on the order's data; the same call again goes on where it stopped.

    `options` is an `Options` of the test's file. The order's `limit` is of the questions a test is made from.
    """
    module = TESTS.load(name)
    refuse_foreign(out, name)
    with locked(out):
        refuse_foreign(out, name)
        asking: dict[str, Any] = {"cache": cache, "use_cache": use_cache, "tell": tell, "warn": warn}
        return _test(name, order, out, module.Options() if options is None else options, asking)


test.__test__ = False  # type: ignore[attr-defined]  # what pytest looks at: this is no test of ours


def _test(name: str, order: Order, out: Path, options: Any, asking: Mapping[str, Any]) -> Outcome:
    module = TESTS.load(name)
    material = Material(order.data, order.split, order.limit, order.images)
    plan: Plan = module.plan(material, options)
    if not plan.exams or plan.why_not:
        raise UserError(plan.why_not or f"{name} does not apply to {order.data}: {module.APPLIES}")
    spec = {
        "data": str(order.data.resolve()),
        "data_id": material.source.data_id(),
        "split": order.split,
        "limit": order.limit,
        "options": asdict(options),
    }
    refuse_runs(out, plan)
    for exam in plan.exams:
        refuse_nameless(exam.model or order.model)
    for exam in plan.exams:
        refuse_sighted(exam, order)
    for sentence in dict.fromkeys(unlearned(exam, order) for exam in plan.exams):
        if sentence:
            asking["warn"](sentence)
    taken = {exam.name: take(exam, order, out, {"test": name, **spec}, name, **asking) for exam in plan.exams}
    found = module.findings(plan, taken, options)
    made = Outcome(
        test=name,
        model=order.model,
        spec=spec,
        plan=plan,
        lines=found.lines,
        runs=(*(one.folder for one in taken.values()), *found.runs),
        shown=found.runs or tuple(one.folder for one in taken.values() if one.exam.condition == AS_IS),
        asked=sum(one.log.questions or len(one.log.records) for one in taken.values()),
        given=_given(order),
        new=sum(one.new for one in taken.values()),
        cache=cache_use([one.log for one in taken.values()]),
    )
    text = json.dumps(made.data(), ensure_ascii=False, allow_nan=False, indent=1)
    write_whole(out / RESULT, utf8(f"{text}\n"))
    return made


def _given(order: Order) -> dict[str, Any]:
    """What a test's command is given besides the data and the test's own options, where it is not usual."""
    asked = order.options
    found = {
        "learn-from": str(order.learn_from.resolve()) if order.learn_from else "",
        "images": str(order.images.resolve()) if order.images else "",
        "mode": order.mode,
        "parameters": json.dumps(dict(asked.parameters)) if asked.parameters else "",
        "seed": asked.seed,
    }
    return {name: value for name, value in found.items() if value != ""}


def cache_use(logs: Sequence[RunLog]) -> CacheUse | None:
    """How many replies came from the cache, over all runs of an endpoint; None where none is of one."""
    asked = [log.cache for log in logs if log.cache]
    oldest = [one.oldest for one in asked if one.oldest is not None]
    return CacheUse(sum(one.replies for one in asked), min(oldest, default=None)) if asked else None


def take(
    exam: Exam,
    order: Order,
    out: Path,
    spec: Mapping[str, Any],
    test_name: str,
    *,
    cache: Path | None = None,
    use_cache: bool = True,
    tell: Tell = lambda exam, done, total: None,
    warn: Callable[[str], None] = lambda sentence: None,
) -> Taken:
    """Ask the model one exam's questions."""
    model = exam.model or order.model
    asked = replace(
        order,
        model=model,
        data=exam.data,
        split=exam.split,
        limit=None,
        learn_from=order.learn_from or exam.learn_from,
        trained_on=(exam.trained_on if learns(model) else "") or order.trained_on,
        variant=exam.variant or test_name,
        images=order.images if exam.data == order.data else None,
        part=exam.part,
        learn_part=exam.learn_part if learns(model) else None,
        conditions=(exam.condition,),
    )
    if exam.questions is not None:
        own = {"exam": exam.name, "questions": content_id([q.to_json() for q in exam.questions])}
        described = {k: v for k, v in spec.items() if k != "data"}  # the same wherever the data stands
        made = write_exam(out / "data" / exam.name, exam, {**described, **own})
        learned = asked.learn_from or exam.data
        asked = replace(asked, data=made.folder, split="test", learn_from=learned, images=None)
    folder = out / "runs" / exam.name
    added: list[int] = []
    try:
        log = evaluate(
            asked,
            folder,
            cache=cache,
            use_cache=use_cache,
            tell=lambda d, n: tell(exam.name, d, n),
            warn=warn,
            count=lambda new, before: added.append(new),
        )
    except Unseen as error:
        raise UserError(
            f"{error.what}; a test compares what is seen: make {exam.data} with pictures, or test a model "
            "that does not look at them"
        ) from None
    return Taken(exam, log, folder, sum(added))


def refuse_runs(out: Path, plan: Plan) -> None:
    """An unfinished test without data of its own is told by its runs alone."""
    own = {exam.name for exam in plan.exams}
    others = sorted(p.name for p in out.glob("runs/*") if p.name not in own)
    if others and not (out / RESULT).exists() and not (out / "data").exists():
        raise UserError(f"{out} holds another test's run ({others[0]}); choose another folder for --out")


def refuse_nameless(model: str) -> None:
    """Refuse a name that is no model's, or whose file is not there, before any exam is taken."""
    name = read_name(model)
    if name.target and name.kind in ("predictions", *TRAINED) and not Path(name.target).exists():
        raise UserError(f"model {model!r}: there is no {name.target}")


def learns(model: str) -> bool:
    """Whether the model learns when it is run."""
    return read_name(model).kind not in NOT_LEARNING


def refuse_sighted(exam: Exam, order: Order) -> None:
    """A model that says nothing, or the same, without the images can not be asked blind."""
    model = exam.model or order.model
    if exam.condition == BLIND and read_name(model).kind in ("oracle", "predictions", *TRAINED):
        raise UserError(
            f"{model} can not be asked without images, so it is no {exam.name.replace('_', '-')} model: "
            "name a run of one, or a model that learns here"
        )


def unlearned(exam: Exam, order: Order) -> str:
    """What is to be known of a model that the test would have learn from something; nothing of the oracle."""
    model = exam.model or order.model
    if not exam.trained_on or learns(model) or read_name(model).kind == "oracle":
        return ""
    return f"{model} does not learn here, and so not from {exam.trained_on}: it is asked as it was trained"


def refuse_foreign(out: Path, name: str) -> None:
    """A folder is of one test; another model's run in it is refused by the run itself."""
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; --out takes a folder")
    if not out.is_dir():
        return
    known = {"data", "runs", RESULT}
    there = {str(made.spec.get("test")) for f in out.glob("data/*") if (made := read_manifest(f)) is not None}
    if (out / RESULT).is_file():  # a test need not have data of its own
        stored = _json.load(out / RESULT)
        there.add(str(stored.get("test")) if isinstance(stored, dict) else "unknown")
    if there - {name}:
        raise UserError(f"{out} holds another test ({min(there - {name})}); choose another folder for --out")
    others = sorted(p.name for p in out.iterdir() if p.name not in known and not p.name.startswith("."))
    if others:
        raise UserError(
            f"{out} is not empty and no test's folder ({others[0]} is in it); choose another for --out"
        )
