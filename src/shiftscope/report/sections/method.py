"""Method: how the numbers on the page come about."""

import tomllib
from collections.abc import Iterator
from importlib.resources import files

import numpy as np

from ...metrics.bootstrap import REPLICATES
from ...metrics.calibration import BINS
from ...metrics.intervals import FEW_SCENES, wilson_interval
from ...metrics.position_bias import DRAWS
from ...metrics.transfer_matrix import TransferMatrix
from ...result import OPTIONS, JudgeUse
from ...run.notes import TOKENS, list_run_notes
from ...suites import describe_verification
from ..audit_page import AuditEvidence
from ..examples import has_dataset
from ..markup import render_terms
from ..measure import describe_metric
from ..number_format import MINUS, format_percent
from ..page import Section
from ..runs import ReportRuns
from ..table import Table
from .findings import MINUS_SIGN
from .reproduce import strip_credentials
from .worst_slices import FEWEST, FEWEST_SCENES

PLACES = {"report": 85, "audit": 80, "study": 80}
MOST_NAMED = 3  # tests in a term


def section(records: ReportRuns | AuditEvidence | TransferMatrix) -> Section | None:
    if isinstance(records, TransferMatrix):
        tables = []
        if differences := records.study.list_differences(records):
            rows = [tuple(MINUS_SIGN.sub(MINUS, cell) for cell in row) for row in differences]
            tables.append(Table("Differences from the paper", ("", "the paper", "here"), rows))
        if records.left_out:
            tables.append(Table("Left out", ("record", "why"), records.left_out))
        return Section("Differences from the paper", tables) if tables else None
    notes = _list_audit_notes(records) if isinstance(records, AuditEvidence) else _list_notes(records)
    return Section("Method", [render_terms(notes)])


def _fill_texts(page: str, **values: object) -> dict[str, str]:
    """The texts of a page's terms, from method.toml."""
    texts = tomllib.loads(files("shiftscope.report").joinpath("method.toml").read_text("utf-8"))
    return {term: text.format(**values, replicates=f"{REPLICATES:,}") for term, text in texts[page].items()}


def _list_notes(report: ReportRuns) -> Iterator[tuple[str, str]]:
    seeded = [f"{r.contender} on {r.test} ({len(r.seeds)})" for r in report.runs if r.seeds]
    unseen = dict.fromkeys(r.test for r in report.runs if r.data is None or not has_dataset(r.data))
    unfinished = [f"{r.contender} on {r.test}" for r in report.each if not r.log.finished]
    texts = _fill_texts(
        "report",
        few_scenes=FEW_SCENES,
        fewest=FEWEST,
        fewest_scenes=FEWEST_SCENES,
        bins=BINS,
        draws=f"{DRAWS:,}",
        seeded=", ".join(seeded),
        unseen=", ".join(unseen),
        unfinished=", ".join(unfinished),
    )
    yield describe_metric(report), texts["Accuracy"]
    yield "Intervals", texts["Intervals"]
    for run in report.each:
        if judge := run.log.judge:
            yield f"Judge of {run.contender} on {run.test}", f"{_describe_judge(judge)}. {texts['Judge']}"
    yield from _describe_prompts(report)
    if any(run.log.records.replies for run in report.each):
        yield "Samples", texts["Samples"]
    if any(OPTIONS in dict(run.log.records.facts) for run in report.each):
        yield "Position bias", texts["Position bias"]
    yield from _describe_selection(report)
    if len(report.contenders) > 1 or len(report.tests) > 1:
        yield "Significance", texts["Significance"]
        yield "Detectable drop", texts["Detectable drop"]
    yield "Worst slices", texts["Worst slices"]
    if seeded:
        yield "Seeds", texts["Seeds"]
    # Whether what scene graphs may lack was looked for, of each dataset made from graphs.
    known = [(r.test, r.data) for r in report.runs if r.data and has_dataset(r.data)]
    checks = {test: text for test, folder in known if (text := describe_verification(folder))}
    for text in dict.fromkeys(checks.values()):
        tests = ", ".join(test for test, same in checks.items() if same == text)
        yield "Incomplete scene graphs", f"{tests}: {text}"
    if unseen:
        yield "Images left out", texts["Images left out"]
    if unfinished:
        yield "Unfinished runs", texts["Unfinished runs"]
    if any(np.isfinite(r.records.confidence).any() for r in report.runs):
        yield "Calibration error", texts["Calibration error"]


def _describe_prompts(report: ReportRuns) -> Iterator[tuple[str, str]]:
    """How each contender was asked besides the questions, once for all tests where that is so; not what it cost."""
    tests: dict[tuple[str, str, str], dict[str, None]] = {}
    for run in report.each:
        for term, sentence in list_run_notes(run.log):
            if not term.startswith(TOKENS):
                tests.setdefault((term, run.contender, sentence), {})[run.test] = None
    for (term, contender, sentence), on in tests.items():
        where = ", ".join(on) if len(on) <= MOST_NAMED else f"{len(on)} tests"
        yield f"{term.capitalize()} of {contender} on {where}", str(strip_credentials(f"{sentence}."))


def _describe_judge(judge: JudgeUse) -> str:
    """What it did, and the interval of how far it agrees with the rules."""
    what = str(strip_credentials(str(judge)))
    if not judge.sampled:
        return what
    low, high = (format_percent(end) for end in wilson_interval(judge.agreed, judge.sampled))
    return f"{what}, with a 95% interval of {low}% to {high}%"


def _describe_selection(report: ReportRuns) -> Iterator[tuple[str, str]]:
    """Which runs were chosen among several, and whether that was fair to the figures here."""
    for run in report.runs:
        chosen = run.selection
        text = f"It was the best of {len(chosen.get('chosen_from', ()))} on split {chosen.get('split')!r}"
        if chosen.get("on_ood"):
            unfair = ", by a flag: its figures on that data are no fair test."
            yield f"{run.contender} was chosen on out-of-distribution data", text + unfair
        elif chosen:
            yield f"{run.contender} was chosen on validation data", f"{text}."


def _list_audit_notes(evidence: AuditEvidence) -> Iterator[tuple[str, str]]:
    settings = evidence.audit.settings
    train, val = (format_percent(share, 0) for share in settings.shares)
    texts = _fill_texts(
        "audit",
        train=train,
        val=val,
        seed=settings.seed,
        imbalanced=f"{settings.imbalanced:g}",
        rare=f"{settings.rare:g}",
    )
    yield "Split", texts["Split" if evidence.audit.split.made else "Split as given"]
    for term, text in texts.items():
        if not term.startswith("Split") and (term != "Blind models" or evidence.blind):
            yield term, text
