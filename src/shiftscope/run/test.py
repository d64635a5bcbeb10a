"""Test: put a model through a generalization test: make the questions, ask them, measure, keep everything.

What a test is, its test sets and its table, is said by its file in `run/generalization/`. Here its questions become
datasets (`OUT/data`), these are run (`OUT/runs`), and what the test finds in the runs is kept (`OUT/result.json`).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..executor import ONE_PROCESS, Executor
from ..files import encode_utf8, write_whole
from ..folder import lock_folder
from ..json_files import load_json
from ..metrics.slices import WITHOUT_ANSWER, to_percent
from ..model import PROGRAMS, parse_model_name
from ..question import Question
from ..records import canonical_json, content_id
from ..registry import GENERALIZATION_TESTS
from ..result import AS_IS, BLIND, CacheUse, RunLog, Score
from ..store.dataset import Dataset
from ..store.manifest import Manifest, list_versions, read_manifest, write_manifest
from ..store.shard import SharedImages, iterate_row_groups, write_shard
from ..url_path import parse_path
from .consistency import MissingPictures
from .evaluate import RunSpec, evaluate
from .generalization import FindingsRow, GeneralizationPlan, GeneralizationRun, GeneralizationTestSet, SourceSplit

RESULT = "result.json"
Tell = Callable[[str, int, int], None]  # the test set, questions asked, of how many
Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class GeneralizationOutcome:
    """What a test found; `to_json()` is what `result.json` holds and `--json` prints, shares in percent."""

    test: str
    model: str
    spec: Mapping[str, Any]  # the data, the split and the options
    plan: GeneralizationPlan
    lines: tuple[FindingsRow, ...]
    runs: tuple[Path, ...]
    asked: int = 0
    shown: tuple[Path, ...] = ()  # those of the runs that a report is best made of
    given: Mapping[str, Any] = field(default_factory=dict)  # what else the model was asked with
    new: int = 0  # responses that were not there before; not in `to_json()`, which does not depend on resuming
    cache: CacheUse | None = None  # where an endpoint was asked

    def to_json(self) -> dict[str, Any]:
        return {
            "test": self.test,
            "model": self.model,
            **self.spec,
            **({"given": dict(self.given)} if self.given else {}),
            "considered": self.plan.considered,
            "asked": self.asked,
            **({"cache": self.cache.to_json()} if self.cache else {}),
            "left_out": dict(self.plan.left_out),
            "lines": [
                {"of": dict(line.of), "scores": {s.metric: _score_to_json(s) for s in line.scores}}
                for line in self.lines
            ],
            "runs": [str(run) for run in self.runs],
        }


def _score_to_json(score: Score) -> dict[str, Any]:
    figures: dict[str, Any] = {k: to_percent(getattr(score, k)) for k in ("value", "low", "high")}
    return figures | {"n": score.n} | {k: n for k in WITHOUT_ANSWER if (n := getattr(score, k))}


def test(
    name: str,
    run: RunSpec,
    out: Path,
    options: Any = None,
    *,
    cache: Path | None = None,
    use_cache: bool = True,
    executor: Executor = ONE_PROCESS,
    tell: Tell = lambda test_set, done, total: None,
    warn: Warn = lambda sentence: None,
) -> GeneralizationOutcome:
    """Run a test of the registry on the run's data; the same call again resumes.

    `options` is an `Options` of the test's file. The run's `limit` is of the questions a test is made from.
    """
    module = GENERALIZATION_TESTS.load(name)
    _refuse_foreign(out, name)
    with lock_folder(out):
        _refuse_foreign(out, name)
        options = module.OPTIONS() if options is None else options
        data = SourceSplit(run.data, run.split, run.limit, run.images)
        plan: GeneralizationPlan = module.plan(data, options)
        if not plan.test_sets or plan.why_not:
            raise UserError(plan.why_not or f"{name} does not apply to {run.data}: {module.APPLIES}")
        spec = {
            "data": str(run.data.resolve()),
            "data_id": data.source.data_id(),
            "split": run.split,
            "limit": run.limit,
            "options": asdict(options),
        }
        _refuse_other_runs(out, plan)
        _check_models(plan, run, warn)
        evaluate_options = {"cache": cache, "use_cache": use_cache, "executor": executor, "warn": warn}
        runs = {
            test_set.name: _run_test_set(test_set, run, out, {"test": name, **spec}, tell, evaluate_options)
            for test_set in plan.test_sets
        }
        findings = module.findings(plan, runs, options)
        outcome = GeneralizationOutcome(
            test=name,
            model=run.model,
            spec=spec,
            plan=plan,
            lines=findings.lines,
            runs=(*(one.folder for one in runs.values()), *findings.runs),
            shown=findings.runs or tuple(one.folder for one in runs.values() if one.test_set.condition == AS_IS),
            asked=sum(one.log.questions or len(one.log.records) for one in runs.values()),
            given=_list_other_options(run),
            new=sum(one.new for one in runs.values()),
            cache=_sum_cache_use([one.log for one in runs.values()]),
        )
        text = json.dumps(outcome.to_json(), ensure_ascii=False, allow_nan=False, indent=1)
        write_whole(out / RESULT, encode_utf8(f"{text}\n"))
        return outcome


test.__test__ = False  # type: ignore[attr-defined]  # what pytest looks at: this is no test of ours


def _list_other_options(run: RunSpec) -> dict[str, Any]:
    """What a test's command is given besides the data and the test's own options, where it is not usual."""
    parameters = run.options.parameters
    options = {
        "learn-from": str(run.learn_from.resolve()) if run.learn_from else "",
        "images": str(run.images.resolve()) if run.images else "",
        "mode": run.mode,
        "parameters": json.dumps(dict(parameters)) if parameters else "",
        "seed": run.options.seed,
    }
    return {name: value for name, value in options.items() if value != ""}


def _sum_cache_use(logs: Sequence[RunLog]) -> CacheUse | None:
    """How many responses came from the cache, over all runs of an endpoint; None where none is of one."""
    uses = [log.cache for log in logs if log.cache]
    oldest = [use.oldest for use in uses if use.oldest is not None]
    return CacheUse(sum(use.replies for use in uses), min(oldest, default=None)) if uses else None


def _run_test_set(
    test_set: GeneralizationTestSet,
    run: RunSpec,
    out: Path,
    spec: Mapping[str, Any],
    tell: Tell,
    evaluate_options: Mapping[str, Any],
) -> GeneralizationRun:
    """Ask the model the questions of one test set; `spec` is the test's own."""
    model = test_set.model or run.model
    learns = parse_model_name(model).traits.learns
    run = replace(
        run,
        model=model,
        data=test_set.data,
        split=test_set.split,
        limit=None,
        learn_from=run.learn_from or test_set.learn_from,
        trained_on=(test_set.trained_on if learns else "") or run.trained_on,
        variant=test_set.variant or spec["test"],
        images=run.images if test_set.data == run.data else None,
        part=test_set.part,
        learn_part=test_set.learn_part if learns else None,
        conditions=(test_set.condition,),
    )
    if test_set.questions is not None:
        own = {"exam": test_set.name, "questions": content_id([q.to_json() for q in test_set.questions])}
        described = {k: v for k, v in spec.items() if k != "data"}  # the same wherever the data stands
        folder = out / "data" / test_set.name
        write_test_set(folder, test_set.data, test_set.questions, {**described, **own})
        run = replace(run, data=folder, split="test", learn_from=run.learn_from or test_set.data, images=None)
    folder = out / "runs" / test_set.name
    added: list[int] = []
    try:
        log = evaluate(
            run,
            folder,
            tell=lambda done, total: tell(test_set.name, done, total),
            count=lambda new, before: added.append(new),
            **evaluate_options,
        )
    except MissingPictures as error:
        raise UserError(
            f"{error.what}; a test compares what is seen: make {test_set.data} with pictures, or test a model "
            "that does not look at them"
        ) from None
    return GeneralizationRun(test_set, log, folder, sum(added))


def write_test_set(
    folder: Path,
    data: Path,
    questions: Sequence[Question],
    spec: Mapping[str, Any],
    split: str = "test",
    title: str = "The questions of a generalization test",
) -> None:
    """Write questions as a dataset of their own, unless it is there; its image files are those of `data`.

    It has a shard for each of the source's that has an image asked about; questions stand with their first image.
    """
    there = read_manifest(folder)
    if there is not None and there.complete:
        if canonical_json(dict(there.spec)) != canonical_json(dict(spec)):
            raise UserError(
                f"{folder} holds the questions of another test; choose another folder for --out, or delete it"
            )
        if all(file.is_whole(folder) for shard in there.shards for file in shard.files):
            return
    base = Dataset.open(data)
    wanted = {name for q in questions for name in q.scenes}
    shard_of: dict[str, int] = {}
    for at, shard in enumerate(base.shards()):
        for table in iterate_row_groups(base.folder / shard.images.path, ["image_id"]) if shard.images else ():
            for name in wanted.intersection(table["image_id"].to_pylist()):
                shard_of.setdefault(name, at)
    if lost := wanted - shard_of.keys():
        raise UserError(f"{base.folder}: no image {min(lost)!r} in it")
    by_shard: dict[int, list[Question]] = {at: [] for at in sorted(set(shard_of.values()))}
    for question in questions:
        by_shard[shard_of[question.scenes[0]]].append(question)
    with lock_folder(folder):
        shards = []
        for index, (at, some) in enumerate(by_shard.items()):
            images = base.shards()[at].images
            assert images is not None
            shards.append(write_shard(folder, split, index, SharedImages(base.folder, images), some))
        source = base.manifest.about
        about = replace(source, title=title, summary=f"Made from {source.title}.")
        write_manifest(folder, Manifest(dict(spec), ((split, len(shards)),), list_versions(), about, tuple(shards)))


def _check_models(plan: GeneralizationPlan, run: RunSpec, warn: Warn) -> None:
    """Refuse a model that cannot be asked what the plan would ask of it; warn of one that would have to learn here.

    A model that is given the programs, as the oracle, has nothing to learn.
    """
    models = [(one, one.model or run.model, parse_model_name(one.model or run.model)) for one in plan.test_sets]
    for _, model, name in models:
        if name.target and name.traits.stored and not parse_path(name.target).exists():
            raise UserError(f"model {model!r}: there is no {name.target}")
    for test_set, model, name in models:
        if test_set.condition == BLIND and not name.traits.answers_blind:
            raise UserError(
                f"{model} cannot be asked without images, so it is no {test_set.name.replace('_', '-')} model: "
                "name a run of one, or a model that learns here"
            )
    untrained = {
        f"{model} does not learn here, and so not from {test_set.trained_on}: it is asked as it was trained": None
        for test_set, model, name in models
        if test_set.trained_on and not name.traits.learns and PROGRAMS not in (name.traits.reads or ())
    }
    for sentence in untrained:
        warn(sentence)


def _refuse_foreign(out: Path, name: str) -> None:
    """A folder is of one test; another model's run in it is refused by the run itself."""
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; --out takes a folder")
    if not out.is_dir():
        return
    there = {str(made.spec.get("test")) for f in out.glob("data/*") if (made := read_manifest(f)) is not None}
    if (out / RESULT).is_file():  # a test need not have data of its own
        stored = load_json(out / RESULT)
        there.add(str(stored.get("test")) if isinstance(stored, dict) else "unknown")
    if there - {name}:
        raise UserError(f"{out} holds another test ({min(there - {name})}); choose another folder for --out")
    own = ("data", "runs", RESULT)
    others = sorted(p.name for p in out.iterdir() if p.name not in own and not p.name.startswith("."))
    if others:
        raise UserError(f"{out} is not empty and no test's folder ({others[0]} is in it); choose another for --out")


def _refuse_other_runs(out: Path, plan: GeneralizationPlan) -> None:
    """An unfinished test without data of its own is told by its runs alone."""
    own = {test_set.name for test_set in plan.test_sets}
    others = sorted(p.name for p in out.glob("runs/*") if p.name not in own)
    if others and not (out / RESULT).exists() and not (out / "data").exists():
        raise UserError(f"{out} holds another test's run ({others[0]}); choose another folder for --out")
