"""Audit any question answering dataset for shortcuts, and make its out-of-distribution test sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..errors import UserError, warn
from ..executor import open_executor
from ..registry import RECIPES
from . import _console as shared
from ._console import print_json, print_table, shard_bar

if TYPE_CHECKING:
    from ..result import Score
    from ..run.audit import AuditFiles, AuditSummary

Several = list[Path] | None
Names = list[str] | None
NAMED_FILES = 8  # in the title of a report
RECIPE_NAMES = " or ".join(RECIPES.names())


def _audit(
    *,
    out: Annotated[Path, typer.Option(help="Folder for the sets, the figures and the report.")],
    dataset: Annotated[Path | None, typer.Argument(help="A dataset of ours; else give --questions.")] = None,
    questions: Annotated[
        Several,
        typer.Option(
            help="VQA or GQA questions, or sample rows in Parquet, JSON Lines or tar files: a file, a folder, a "
            "pattern in quotes; may be repeated."
        ),
    ] = None,
    annotations: Annotated[Several, typer.Option(help="VQA annotations; may be repeated.")] = None,
    objects: Annotated[Several, typer.Option(help="Objects: COCO instances, GQA scene graphs, a YOLO folder.")] = None,
    train: Annotated[Several, typer.Option(help="Questions of the train split, instead of a drawn one.")] = None,
    val: Annotated[Several, typer.Option(help="Questions of the val split.")] = None,
    test: Annotated[Several, typer.Option(help="Questions of the IID test; may be all there is.")] = None,
    split: Annotated[
        Literal["auto", "drawn", "given"],
        typer.Option(
            help="drawn at random, or given by the rows' own split fields; auto: given by --train and "
            "--test or by a dataset of ours that has both, else drawn."
        ),
    ] = "auto",
    shares: Annotated[str, typer.Option(help="Percent of a drawn split: train, val and IID test.")] = "70,5,25",
    imbalanced: Annotated[float, typer.Option(help="Normalised entropy below which a group is imbalanced.")] = 0.9,
    rare: Annotated[float, typer.Option(help="An answer is rare below this many times the mean count.")] = 1.2,
    statistics: Annotated[
        Literal["all", "train"], typer.Option(help="Samples that keywords and key objects are chosen by.")
    ] = "all",
    types: Annotated[
        Literal["auto", "given", "prefixes", "learned"],
        typer.Option(help="Question types: as given, the 65 prefixes of VQA, or learned ones."),
    ] = "auto",
    pairs: Annotated[
        Literal["two", "any"],
        typer.Option(help="KWP groups: of questions with two keywords, or also of those with one or none."),
    ] = "two",
    type_words: Annotated[
        Literal["out", "in"], typer.Option(help="Words of the question's type are no keywords, or may be.")
    ] = "out",
    seed: Annotated[int, typer.Option(help="Of the split that is drawn.")] = 0,
    blind: Annotated[bool, typer.Option(help="Also ask models that see no image or no question.")] = True,
    proportions: Annotated[str, typer.Option(help="Train on these percents of shortcut samples: 0,30,70,100.")] = "",
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--no-stream",
            help="Never hold all samples in memory (sample rows only; no blind models, no report); "
            "by itself from 1 GB of them on.",
        ),
    ] = None,
    recipe: Annotated[Names, typer.Option(help=f"Also make sets by {RECIPE_NAMES}; repeatable.")] = None,
    cluster: shared.Cluster = "",
    as_json: shared.AsJson = False,
    recipe_settings: Mapping[str, Mapping[str, Any]],
) -> None:
    from ..report.audit_page import write_audit_page
    from ..run.audit import audit_files, collect_figures, expand_files, summarize_result
    from ..run.stream_audit import audit_stream, choose_workers, should_stream
    from ..shortcuts.audit import AuditSettings
    from ..shortcuts.audit_folder import AUDIT_FILE, REPORT_FILE

    files = expand_files(_collect_files(dataset, questions, annotations, objects, (train, val, test)))
    if files.splits and split == "drawn":
        raise UserError("--train and --test give the split; omit --split drawn, or use --questions")
    settings = AuditSettings(
        imbalanced=imbalanced,
        rare=rare,
        statistics=statistics,
        types=types,
        pairs=pairs,
        type_words=type_words,
        split="given" if files.splits else split,
        seed=seed,
        shares=_parse_split_shares(shares),
    )
    for name in recipe_settings:
        if name not in (recipe or ()):
            raise UserError(f"settings of {name} are given; name it with --recipe {name}")
    recipes = {name: recipe_settings.get(name, {}) for name in recipe or ()}
    if stream or (stream is None and should_stream(files)):
        if proportions:
            raise UserError("--proportions trains on all samples, and --stream never holds them; omit one of them")
        with shard_bar("auditing") as bar:
            summary = audit_stream(
                files,
                out,
                settings,
                recipes=recipes,
                tell=lambda what, done, total: bar(done, total, what),
                executor=open_executor(0 if cluster else choose_workers(files), cluster),
            )
        report = None
    else:
        source = ", ".join(path.name for path in ([files.dataset] if files.dataset else files.questions[:NAMED_FILES]))
        with shard_bar("auditing") as bar:
            made = audit_files(
                files,
                out,
                settings,
                blind=blind,
                proportions=_parse_shares(proportions),
                recipes=recipes,
                also=lambda folder, made: write_audit_page(
                    folder / REPORT_FILE, made.found, made.blind, made.blends, source, made.tied
                ),
                tell=lambda what, done, total: bar(done, total, what),
                executor=open_executor(cluster=cluster),
            )
        summary, report = summarize_result(made), out / REPORT_FILE
    if as_json:
        print_json(collect_figures(summary) | {"out": str(out), "report": None if report is None else str(report)})
        return
    _print_audit(summary)
    print(f"sets in {out}, figures in {out / AUDIT_FILE}")
    if report is not None:
        print(f"report: {report}")


def _list_recipe_options() -> Iterator[tuple[Parameter, str, str]]:
    """The options that the files of recipes add, each with its recipe and the setting that it gives."""
    for recipe in RECIPES.names():
        for flag, (setting, kind, about) in (RECIPES.read_constant(recipe, "AUDIT_OPTIONS") or {}).items():
            option = typer.Option(f"--{flag}", help=f"{recipe}: {about}")
            value: Any = float | None if kind == "float" else str | None
            annotation = Annotated[value, option]
            parameter = Parameter(flag.replace("-", "_"), Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            yield parameter, recipe, setting


def command(**given: Any) -> None:
    """Find which shortcuts a dataset has, build an OOD test set for each, and report how strong they are."""
    settings: dict[str, dict[str, Any]] = {}
    for parameter, recipe, setting in RECIPE_OPTIONS:
        if (value := given.pop(parameter.name)) is not None:
            settings.setdefault(recipe, {})[setting] = value
    _audit(**given, recipe_settings=settings)


RECIPE_OPTIONS = list(_list_recipe_options())
_parameters = [p for p in signature(_audit, eval_str=True).parameters.values() if p.name != "recipe_settings"]
_parameters[-1:-1] = [parameter for parameter, _, _ in RECIPE_OPTIONS]  # before --json
command.__signature__ = Signature(_parameters)  # type: ignore[attr-defined]
command.__annotations__ = {p.name: p.annotation for p in _parameters}


def _collect_files(
    dataset: Path | None, questions: Several, annotations: Several, objects: Several, parts: Sequence[Several]
) -> AuditFiles:
    from ..run.audit import AuditFiles

    named = [(path, split) for split, part in zip(("train", "val", "test"), parts, strict=True) for path in part or ()]
    if dataset is None and not questions and not named:
        raise UserError("nothing to audit: give a dataset's folder, or --questions FILE --annotations FILE")
    if questions and named:
        raise UserError("give --questions (a split is drawn), or --train and --test; not both")
    if named and "test" not in {split for _, split in named}:
        raise UserError("a given split needs a test: name it with --test FILE")
    if dataset is not None and (annotations or objects or named):
        raise UserError(f"{dataset}: a dataset knows its answers, objects and split; name nothing else")
    return AuditFiles(
        questions=tuple(questions or (path for path, _ in named)),
        annotations=tuple(annotations or ()),
        objects=tuple(objects or ()),
        splits=tuple(split for _, split in named),
        dataset=dataset,
    )


def _parse_shares(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(one) for one in text.split(",") if one.strip())
    except ValueError:
        raise UserError(f"{text!r} are no per cents; write whole numbers as in 0,30,70,100") from None


def _parse_split_shares(text: str) -> tuple[float, float]:
    """Of train and val; the rest is the test."""
    try:
        train, val, test = (float(one) for one in text.split(","))
        if not (train > 0 and val >= 0 and test > 0 and abs(train + val + test - 100) < 1e-6):
            raise ValueError
    except ValueError:
        raise UserError(f"{text!r} are no shares of a split; write per cents as in 70,5,25") from None
    return train / 100, val / 100


def _print_audit(made: AuditSummary) -> None:
    found = made.figures
    for remark in found.remarks:
        warn(str(remark))
    for why in dict.fromkeys(why for _, why in found.missing):
        left = ", ".join(shortcut for shortcut, reason in found.missing if reason == why)
        warn(f"left out: {left}: {why}")
    for model, why in made.skipped:
        warn(f"left out: {model}: {why}")
    for kind, unseen in found.unseen.items():
        warn(
            f"{kind}: {unseen.pairs:,} pairs with an answer were never seen in train, in "
            f"{unseen.samples:,} samples; of {unseen.blind:,} samples none was seen"
        )
    evenness = "evenness" if found.split["train"] else "evenness, test"
    drawn = "drawn" if found.drawn else "as given"
    split = ", ".join(f"{name} {n:,}" for name, n in found.split.items())
    print(f"{found.samples:,} samples; split {drawn}: {split}; question types {found.types}")
    print_table(
        ("shortcut", "groups", "imbalanced", "head", "OOD test", "OOD val", evenness),
        [
            (n.shortcut, n.test_groups, n.imbalanced, n.head, n.tail, n.val_tail, f"{n.degree:.3f}")
            for n in found.shortcuts
        ],
    )
    if made.tied is not None:
        tied = [
            (one.tie.shortcut, one.tie.concept, one.tie.answer, f"{one.tie.strength:.1%}", f"{one.expected:.1%}", one.n)
            for one in made.tied
        ]
        print_table(("tied in train", "concept", "answer", "share", "in ood_test", "samples"), tied)
    for kind, count in found.ties.items():
        print(f"ties: in {count:,} samples the alphabet decides between equally informative {kind}")
    for recipe, one in made.recipes.items():
        figures = ", ".join(
            f"{name} {n:,}" if isinstance(n, int) else f"{name} {n:.3f}" for name, n in one.counts.items()
        )
        given = ((name, f"{v:.3g}" if isinstance(v, float) else v) for name, v in one.settings.items() if v is not None)
        print(f"{recipe} ({', '.join(f'{name} {value}' for name, value in given)}): {figures}")
    if made.blind:
        sets = {n.shortcut: ("ood", n.shortcut) for n in found.shortcuts}
        columns = {"IID": ("iid",), **sets, "mean OOD": ("mean_ood",)}
        rows = [(model, *(_format_score(s, *of) for of in columns.values())) for model, s in made.blind.items()]
        print_table(("solved, %", *columns), rows)


def _format_score(scores: Sequence[Score], metric: str, shortcut: str = "") -> str:
    where = (("shortcut", shortcut),) if shortcut else ()
    found = next((s for s in scores if s.metric == metric and s.slice == where), None)
    if found is None or found.value is None:
        return "–"
    if found.low is None or found.high is None:
        return f"{100 * found.value:.1f}"
    return f"{100 * found.value:.1f} ({100 * found.low:.1f}–{100 * found.high:.1f})"
