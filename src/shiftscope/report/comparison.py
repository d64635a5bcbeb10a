"""A comparison of two models as rows of a table, sentences, JSON, and Markdown for a pull request."""

from collections.abc import Sequence
from typing import Any

from ..metrics.intervals import FEW_SCENES
from ..metrics.slices import to_percent
from ..run.compare import AccuracyChange, Comparison, PartingExample
from .measure import spell_fact
from .number_format import count_noun, format_p, format_percent, format_points

GROUPS = {"overall": "", "kind": "question type", "answer": "answer:"}  # else by their own names
MOST_LISTED = 5  # parts in a sentence; the table has all
RULE = (
    "A drop is sure where the upper end of the 95% interval of the change lies below the threshold and the permutation "
    "test by scene against the threshold has one-sided p < 0.025: of all questions as it is, of factors and slices "
    "after Holm's correction over all of them."
)


def label_change(one: AccuracyChange) -> str:
    """What part of the questions it is about: factor hard, question type count."""
    return spell_fact(f"{GROUPS.get(one.group, one.group)} {one.name}".strip())


def format_change(one: AccuracyChange) -> str:
    """−2.4 points (−3.9 to −0.9)."""
    return f"{format_points(one.change)} points ({_format_interval(one)})"


def _format_interval(one: AccuracyChange) -> str:
    return f"{format_points(one.low)} to {format_points(one.high)}"


def list_columns(of: Comparison) -> tuple[str, ...]:
    return ("", "questions", "scenes", of.first, of.second, "change", "95% interval", "p", "")


def list_rows(of: Comparison) -> list[list[str]]:
    rows = []
    for one in of.changes:
        mark = "FAIL" if one.fails else "too few scenes" if one.scenes < FEW_SCENES else one.direction
        figures = [f"{one.n:,}", f"{one.scenes:,}", format_percent(one.first), format_percent(one.second)]
        changed = [
            format_points(one.change),
            _format_interval(one),
            format_p(one.p).removeprefix("p ").removeprefix("= "),
        ]
        rows.append([label_change(one), *figures, *changed, mark])
    return rows


def describe_coverage(of: Comparison) -> str:
    """Which questions were compared, and which share of both that is."""
    scenes = count_noun(of.overall.scenes, "scene")
    if not of.only_first and not of.only_second:
        return f"{count_noun(of.common, 'question')} about {scenes}, all that either was asked"
    shares = [
        f"{format_percent(of.common / (of.common + only))}% of the {of.common + only:,} of {name}"
        for name, only in ((of.first, of.only_first), (of.second, of.only_second))
    ]
    return f"{count_noun(of.common, 'question')} about {scenes} that both were asked: {' and '.join(shares)}"


def describe_verdict(of: Comparison) -> str:
    """Whether a drop beyond the threshold is sure, in a sentence."""
    least = f"at this size, an overall drop of {format_percent(of.detectable)} points would be sure 9 times in 10"
    if of.threshold is None:
        return f"{of.second} against {of.first}: {format_change(of.overall)}; {least}"
    beyond = f"a drop beyond {format_percent(-of.threshold)} points" if of.threshold else "a drop"
    if not of.failing:
        return f"{beyond.replace('a drop', 'no drop', 1)} is sure; {least}"
    parts = sorted(of.failing, key=lambda one: (one is not of.overall, one.change))
    return f"{beyond} is sure: {_list_some([f'{label_change(one)} {format_change(one)}' for one in parts])}"


def list_directions(of: Comparison) -> list[tuple[str, str]]:
    """What got worse and what got better, surely; overall is not among them."""
    listed = []
    for direction in ("worse", "better"):
        parts = [one for one in of.changes[1:] if one.direction == direction]
        if parts:
            parts.sort(key=lambda one: one.change, reverse=direction == "better")
            words = [f"{label_change(one)} {format_points(one.change)}" for one in parts]
            listed.append((direction, _list_some(words)))
    return listed


def _list_some(words: Sequence[str]) -> str:
    more = len(words) - MOST_LISTED
    return ", ".join([*words[:MOST_LISTED], *([f"and {more} more"] if more > 0 else [])])


def to_json(of: Comparison) -> dict[str, Any]:
    """All of it, figures in percent as `shiftscope score --json` gives them."""
    return {
        "first": of.first,
        "second": of.second,
        "common": of.common,
        "only_first": of.only_first,
        "only_second": of.only_second,
        "fail_below": to_percent(of.threshold),
        "fails": bool(of.failing),
        "detectable_drop": to_percent(of.detectable),
        "changes": [_change_to_json(one) for one in of.changes],
        "examples": [_example_to_json(one) for one in of.examples],
        "notes": list(of.notes),
    }


def _change_to_json(one: AccuracyChange) -> dict[str, Any]:
    counts = {name: getattr(one, name) for name in ("group", "name", "n", "scenes")}
    shares = {name: to_percent(getattr(one, name)) for name in ("first", "second", "change", "low", "high")}
    found = {"better": one.better, "worse": one.worse, "p": one.p, "p_drop": one.p_drop}
    return counts | shares | found | {"direction": one.direction, "fails": one.fails}


def _example_to_json(one: PartingExample) -> dict[str, Any]:
    names = ("question", "images", "text", "truth", "first", "second", "factor", "better")
    return {name: getattr(one, name) for name in names}


EXAMPLE_COLUMNS = ("question", "image", "text", "true answer")


def list_examples(of: Comparison) -> list[list[str]]:
    """A row per example: question, image, text, true answer, both answers."""
    return [[one.question, ", ".join(one.images), one.text, one.truth, one.first, one.second] for one in of.examples]


def build_markdown(of: Comparison) -> str:
    """A summary for a pull request."""
    heads = ["part of the questions", *list_columns(of)[1:]]
    rows = [[f"**{cell}**" if cell == "FAIL" else cell for cell in row] for row in list_rows(of)]
    lines = [f"### {_escape(of.second)} against {_escape(of.first)}", ""]
    sign = "" if of.threshold is None else ":x: " if of.failing else ":white_check_mark: "
    lines += [f"{sign}{_escape(describe_verdict(of))}.", ""]
    lines += [f"Compared on {_escape(describe_coverage(of))}.", "", *_build_table(heads, rows, {1, 2, 3, 4, 5, 7}), ""]
    lines += [f"- **{direction}**: {_escape(parts)}" for direction, parts in list_directions(of)]
    lines += [f"- {_escape(note)}" for note in of.notes]
    if of.examples:
        columns = [*EXAMPLE_COLUMNS, of.first, of.second]
        inside = _build_table(columns, list_examples(of), set())
        lines += ["", "<details><summary>Examples where they part</summary>", "", *inside, "", "</details>"]
    return "\n".join([*lines, "", f"<sub>{RULE} Missing, failed and unparseable responses count as wrong.</sub>", ""])


def _build_table(columns: Sequence[str], rows: Sequence[Sequence[str]], right: set[int]) -> list[str]:
    bars = "".join("---:|" if at in right else "---|" for at in range(len(columns)))
    return [
        f"| {' | '.join(map(_escape, columns))} |",
        f"|{bars}",
        *(f"| {' | '.join(map(_escape, row))} |" for row in rows),
    ]


def _escape(text: str) -> str:
    """As a cell of a table, or part of a line; no tag of a reply is taken for one."""
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
