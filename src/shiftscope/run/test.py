"""Test: put a model through a generalization test: make the questions, ask them, measure, keep everything."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from .. import json_files as _json
from ..errors import UserError
from ..files import encode_utf8, write_whole
from ..folder import lock_folder
from ..model import PROGRAMS, parse_model_name
from ..records import content_id
from ..registry import GENERALIZATION_TESTS
from ..result import AS_IS, BLIND, CacheUse, RunLog
from ..store.manifest import read_manifest
from .consistency import MissingPictures
from .evaluate import RunSpec, evaluate
from .generalization import (
    GeneralizationOutcome,
    GeneralizationPlan,
    GeneralizationRun,
    GeneralizationTestSet,
    SourceSplit,
    write_test_set,
)

RESULT = "result.json"
Tell = Callable[[str, int, int], None]  # the test set, questions asked, of how many


def test(
    name: str,
    run: RunSpec,
    out: Path,
    options: Any = None,
    *,
    cache: Path | None = None,
    use_cache: bool = True,
    tell: Tell = lambda test_set, done, total: None,
    warn: Callable[[str], None] = lambda sentence: None,
) -> GeneralizationOutcome:
    """Run a test of the registry on the run's data; the same call again resumes.

    `options` is an `Options` of the test's file. The run's `limit` is of the questions a test is made from.
    """
    module = GENERALIZATION_TESTS.load(name)
    refuse_foreign(out, name)
    with lock_folder(out):
        refuse_foreign(out, name)
        asking: dict[str, Any] = {"cache": cache, "use_cache": use_cache, "tell": tell, "warn": warn}
        return _run_test(name, run, out, module.OPTIONS() if options is None else options, asking)


test.__test__ = False  # type: ignore[attr-defined]  # what pytest looks at: this is no test of ours


def _run_test(name: str, run: RunSpec, out: Path, options: Any, asking: Mapping[str, Any]) -> GeneralizationOutcome:
    module = GENERALIZATION_TESTS.load(name)
    material = SourceSplit(run.data, run.split, run.limit, run.images)
    plan: GeneralizationPlan = module.plan(material, options)
    if not plan.test_sets or plan.why_not:
        raise UserError(plan.why_not or f"{name} does not apply to {run.data}: {module.APPLIES}")
    spec = {
        "data": str(run.data.resolve()),
        "data_id": material.source.data_id(),
        "split": run.split,
        "limit": run.limit,
        "options": asdict(options),
    }
    refuse_other_runs(out, plan)
    for test_set in plan.test_sets:
        refuse_unknown_model(test_set.model or run.model)
    for test_set in plan.test_sets:
        refuse_blind_unfit(test_set, run)
    for sentence in dict.fromkeys(explain_untrained(test_set, run) for test_set in plan.test_sets):
        if sentence:
            asking["warn"](sentence)
    taken = {
        test_set.name: run_test_set(test_set, run, out, {"test": name, **spec}, name, **asking)
        for test_set in plan.test_sets
    }
    found = module.findings(plan, taken, options)
    made = GeneralizationOutcome(
        test=name,
        model=run.model,
        spec=spec,
        plan=plan,
        lines=found.lines,
        runs=(*(one.folder for one in taken.values()), *found.runs),
        shown=found.runs or tuple(one.folder for one in taken.values() if one.test_set.condition == AS_IS),
        asked=sum(one.log.questions or len(one.log.records) for one in taken.values()),
        given=_collect_options(run),
        new=sum(one.new for one in taken.values()),
        cache=sum_cache_use([one.log for one in taken.values()]),
    )
    text = json.dumps(made.to_json(), ensure_ascii=False, allow_nan=False, indent=1)
    write_whole(out / RESULT, encode_utf8(f"{text}\n"))
    return made


def _collect_options(run: RunSpec) -> dict[str, Any]:
    """What a test's command is given besides the data and the test's own options, where it is not usual."""
    asked = run.options
    found = {
        "learn-from": str(run.learn_from.resolve()) if run.learn_from else "",
        "images": str(run.images.resolve()) if run.images else "",
        "mode": run.mode,
        "parameters": json.dumps(dict(asked.parameters)) if asked.parameters else "",
        "seed": asked.seed,
    }
    return {name: value for name, value in found.items() if value != ""}


def sum_cache_use(logs: Sequence[RunLog]) -> CacheUse | None:
    """How many replies came from the cache, over all runs of an endpoint; None where none is of one."""
    asked = [log.cache for log in logs if log.cache]
    oldest = [one.oldest for one in asked if one.oldest is not None]
    return CacheUse(sum(one.replies for one in asked), min(oldest, default=None)) if asked else None


def run_test_set(
    test_set: GeneralizationTestSet,
    run: RunSpec,
    out: Path,
    spec: Mapping[str, Any],
    test_name: str,
    *,
    cache: Path | None = None,
    use_cache: bool = True,
    tell: Tell = lambda test_set, done, total: None,
    warn: Callable[[str], None] = lambda sentence: None,
) -> GeneralizationRun:
    """Ask the model the questions of one test set."""
    model = test_set.model or run.model
    asked = replace(
        run,
        model=model,
        data=test_set.data,
        split=test_set.split,
        limit=None,
        learn_from=run.learn_from or test_set.learn_from,
        trained_on=(test_set.trained_on if is_trained_here(model) else "") or run.trained_on,
        variant=test_set.variant or test_name,
        images=run.images if test_set.data == run.data else None,
        part=test_set.part,
        learn_part=test_set.learn_part if is_trained_here(model) else None,
        conditions=(test_set.condition,),
    )
    if test_set.questions is not None:
        own = {"exam": test_set.name, "questions": content_id([q.to_json() for q in test_set.questions])}
        described = {k: v for k, v in spec.items() if k != "data"}  # the same wherever the data stands
        made = write_test_set(out / "data" / test_set.name, test_set, {**described, **own})
        learned = asked.learn_from or test_set.data
        asked = replace(asked, data=made.folder, split="test", learn_from=learned, images=None)
    folder = out / "runs" / test_set.name
    added: list[int] = []
    try:
        log = evaluate(
            asked,
            folder,
            cache=cache,
            use_cache=use_cache,
            tell=lambda d, n: tell(test_set.name, d, n),
            warn=warn,
            count=lambda new, before: added.append(new),
        )
    except MissingPictures as error:
        raise UserError(
            f"{error.what}; a test compares what is seen: make {test_set.data} with pictures, or test a model "
            "that does not look at them"
        ) from None
    return GeneralizationRun(test_set, log, folder, sum(added))


def refuse_other_runs(out: Path, plan: GeneralizationPlan) -> None:
    """An unfinished test without data of its own is told by its runs alone."""
    own = {test_set.name for test_set in plan.test_sets}
    others = sorted(p.name for p in out.glob("runs/*") if p.name not in own)
    if others and not (out / RESULT).exists() and not (out / "data").exists():
        raise UserError(f"{out} holds another test's run ({others[0]}); choose another folder for --out")


def refuse_unknown_model(model: str) -> None:
    """Refuse a name that is no model's, or whose file is not there, before any test set is run."""
    name = parse_model_name(model)
    if name.target and name.traits.stored and not Path(name.target).exists():
        raise UserError(f"model {model!r}: there is no {name.target}")


def is_trained_here(model: str) -> bool:
    """Whether the model learns when it is run."""
    return parse_model_name(model).traits.learns


def refuse_blind_unfit(test_set: GeneralizationTestSet, run: RunSpec) -> None:
    """A model that says nothing, or the same, without the images cannot be asked blind."""
    model = test_set.model or run.model
    if test_set.condition == BLIND and not parse_model_name(model).traits.answers_blind:
        raise UserError(
            f"{model} cannot be asked without images, so it is no {test_set.name.replace('_', '-')} model: "
            "name a run of one, or a model that learns here"
        )


def explain_untrained(test_set: GeneralizationTestSet, run: RunSpec) -> str:
    """What is to be known of a model that the test would have learn from something; nothing of the oracle."""
    model = test_set.model or run.model
    traits = parse_model_name(model).traits
    if not test_set.trained_on or traits.learns or PROGRAMS in (traits.reads or ()):
        return ""  # who is given the programs has nothing to learn
    return f"{model} does not learn here, and so not from {test_set.trained_on}: it is asked as it was trained"


def refuse_foreign(out: Path, name: str) -> None:
    """A folder is of one test; another model's run in it is refused by the run itself."""
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; --out takes a folder")
    if not out.is_dir():
        return
    known = {"data", "runs", RESULT}
    there = {str(made.spec.get("test")) for f in out.glob("data/*") if (made := read_manifest(f)) is not None}
    if (out / RESULT).is_file():  # a test need not have data of its own
        stored = _json.load_json(out / RESULT)
        there.add(str(stored.get("test")) if isinstance(stored, dict) else "unknown")
    if there - {name}:
        raise UserError(f"{out} holds another test ({min(there - {name})}); choose another folder for --out")
    others = sorted(p.name for p in out.iterdir() if p.name not in known and not p.name.startswith("."))
    if others:
        raise UserError(f"{out} is not empty and no test's folder ({others[0]} is in it); choose another for --out")
