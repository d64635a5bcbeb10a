"""The list of examples: filters beside, a page of cards, and the way through them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...columns import Column
from ...report.chart.frame import draw_legend_mark
from ...report.markup import Child, Html, render_details, shorten_text, tag
from ...report.measure import spell_fact
from ...report.number_format import count_noun, format_count
from ..collection import RIGHT, OpenedData
from ..filters import FACT, FACT_LABELS, GROUP, OUTCOME_SETS, PART, RUN, ExampleFilter
from ..question_index import ExampleRow
from .frame import PageFrame, render_hidden, render_select

PAGE_SIZE = 24
MOST_OPTIONS = 80  # of a menu; a fact of more values is typed
MOST_FACTS = 14
PLAIN = ("split", "kind", "template", "answer")  # facts that are not folded away
LONGEST_TEXT = 180


def render_list(frame: PageFrame, data: OpenedData, chosen: ExampleFilter, page: int, more: bool = False) -> str:
    """The page; `more` also reads the facts that are in the notes, which takes longer."""
    rows = np.flatnonzero(chosen.select(data))
    pages = max(1, -(-len(rows) // PAGE_SIZE))
    page = min(max(page, 1), pages)
    shown = rows[(page - 1) * PAGE_SIZE :][:PAGE_SIZE].tolist()
    cards = [_render_card(data, one, chosen) for one in data.index.read_rows(shown)]
    here = f"/d/{data.number}"
    total = len(data.index)
    lead = f"{format_count(len(rows))} of {count_noun(total, 'question')}" if chosen.conditions else None
    heading = tag(
        "div", tag("h1", data.name), tag("p", lead or count_noun(total, "question"), role="status"), class_="heading"
    )
    random = tag("a", "Random example", href=f"{here}/random{chosen.to_query()}", class_="button", data_key="r")
    chips = [
        tag(
            "li",
            tag(
                "a",
                text,
                tag("span", " ×", aria_hidden="true"),
                href=_drop(here, chosen, name),
                aria_label=f"Drop: {text}",
            ),
        )
        for text, name in chosen.describe(data)
    ]
    empty = tag("p", "No question fits these filters.", class_="empty") if not cards else None
    body = tag(
        "div",
        _render_filters(data, chosen, more),
        tag(
            "div",
            tag("div", heading, random if len(rows) else None, class_="list-head"),
            tag("ul", chips, class_="chips", aria_label="Filters in use") if chips else None,
            _render_damage(data),
            tag("p", data.index.notice, class_="note") if data.index.notice else None,
            empty,
            tag("div", cards, class_="cards", id="cards"),
            _render_pages(here, chosen, page, pages),
            class_="listing",
        ),
        class_="browse",
    )
    return frame.render(data.name, body, data=data, here=here, keys="list")


def _drop(here: str, chosen: ExampleFilter, name: str) -> str:
    return f"{here}{ExampleFilter(tuple(c for c in chosen.conditions if c[0] != name)).to_query()}"


def _render_damage(data: OpenedData) -> Html | None:
    """Files that cannot be read: filters pass over their rows, so it is said above the list."""
    if not data.index.damage:
        return None
    listed = [tag("li", sentence) for sentence in data.index.damage.values()]
    return tag(
        "div", tag("p", "Some rows cannot be read, and no filter finds them:"), tag("ul", listed), class_="alert"
    )


def _render_card(data: OpenedData, one: ExampleRow, chosen: ExampleFilter) -> Html:
    link = f"/d/{data.number}/e/{one.row}"
    if one.error:
        words = tag("div", tag("p", f"Question {one.row}", class_="asked"), tag("p", one.error, class_="row-error"))
        return tag("article", tag("div", words, class_="words"), class_="card damaged")
    many = min(len(one.images), 5)
    shots = [
        tag("img", src=f"{link}/picture/{k}", alt="", loading="lazy", width=480, height=320)
        for k in range(len(one.images))
    ]
    title = tag(
        "a", shorten_text(one.text, LONGEST_TEXT) or "(no text)", href=f"{link}{chosen.to_query()}", class_="cover"
    )
    answers: list[Child] = [tag("span", one.answer if one.answer is not None else "not known", class_="truth")]
    answers += [_render_outcome(data, k, one.row) for k in range(len(data.runs))]
    facts = " · ".join(filter(None, (one.split, spell_fact(one.kind) if one.kind else "", one.id)))
    words = tag(
        "div",
        tag("h2", title, class_="asked"),
        tag("p", answers, class_="replies"),
        tag("p", facts, class_="facts"),
        class_="words",
    )
    return tag("article", tag("div", shots, class_=f"pictures of-{many}") if shots else None, words, class_="card")


def _render_outcome(data: OpenedData, k: int, row: int) -> Html:
    """What a run answers, with its sign; in words for those who do not see it."""
    view = data.runs[k]
    outcome = str(view.outcome[row])
    sign = {RIGHT: "✓", "wrong": "✗"}.get(outcome, "–")
    answer = view.get_answer(row)
    return tag(
        "span",
        draw_legend_mark(k),
        tag("span", f"{view.name}: ", class_="unseen"),
        answer if answer is not None else outcome,
        tag("span", f" {sign}", aria_hidden="true"),
        tag("span", f" ({outcome})", class_="unseen"),
        class_=f"outcome is-{outcome.replace(' ', '-')}",
        title=view.name,
    )


def _render_filters(data: OpenedData, chosen: ExampleFilter, more: bool) -> Html:
    search = tag(
        "label",
        tag("span", "Words in the question"),
        tag("input", type="search", name="q", value=chosen.get("q"), id="search", autocomplete="off"),
    )
    used = {k.removeprefix(FACT) for k, _ in chosen.conditions if k.startswith(FACT)}
    facts = [name for name in data.fact_names if name not in PLAIN]
    more = more or bool(used.intersection(facts))
    others = [_render_fact(data, name, chosen) for name in facts[:MOST_FACTS]] if more else []
    unfold = tag("a", "More facts", href=f"/d/{data.number}{chosen.to_query(more=1)}") if facts and not more else None
    runs = [
        render_select(
            view.name, f"{RUN}{k}", [("", "any outcome"), *((o, o) for o in OUTCOME_SETS)], chosen.get(f"{RUN}{k}")
        )
        for k, view in enumerate(data.runs)
    ]
    groups: list[Html] = []
    for shortcut in data.marks.groups if data.marks else ():
        parts = [("", "any"), ("head", "head (frequent answer)"), ("tail", "tail (rare answer)")]
        groups.append(render_select(f"{shortcut} answers", f"{PART}{shortcut}", parts, chosen.get(f"{PART}{shortcut}")))
    kept = [(k, v) for k, v in chosen.conditions if k in ("pair", "worst") or k.startswith(GROUP)]
    return tag(
        "form",
        render_hidden([*kept, *((("more", "1"),) if more else ())]),
        search,
        [_render_fact(data, name, chosen) for name in data.fact_names if name in PLAIN],
        tag("fieldset", tag("legend", "Outcome"), runs) if runs else None,
        tag("fieldset", tag("legend", "More facts"), others) if any(others) else None,
        unfold,
        _fold("Shortcuts", groups, any(k.startswith(PART) for k, _ in chosen.conditions)),
        tag("div", tag("button", "Show"), tag("a", "Clear", href=f"/d/{data.number}"), class_="form-end"),
        action=f"/d/{data.number}",
        method="get",
        class_="filter-form",
        aria_label="Filters",
        data_autosubmit=True,
    )


def _fold(title: str, menus: Sequence[Html], is_open: bool) -> Html | None:
    if not menus:
        return None
    if is_open:
        return tag("details", tag("summary", title), menus, open=True)
    return render_details(title, menus)


def _render_fact(data: OpenedData, name: str, chosen: ExampleFilter) -> Html | None:
    """A menu of a fact's values with their counts; a field to type in where there are too many."""
    label = FACT_LABELS.get(name, spell_fact(name)).capitalize()
    column, key = data.column(name), f"{FACT}{name}"
    if len(column.values) < 2 and not chosen.get(key):
        return None
    if len(column.values) > MOST_OPTIONS:
        field = tag("input", type="text", name=key, value=chosen.get(key), autocomplete="off")
        return tag("label", tag("span", label), field)
    counts = count_values(column)
    options = [(str(v), f"{spell_fact(v)} ({format_count(n)})") for v, n in sort_values(column, counts)]
    return render_select(label, key, [("", "any"), *options], chosen.get(key))


def count_values(column: Column) -> list[int]:
    counts: list[int] = np.bincount(column.codes[column.codes >= 0], minlength=len(column.values)).tolist()
    return counts


def sort_values(column: Column, counts: Sequence[int]) -> list[tuple[object, int]]:
    """Numbers by size, words by the alphabet; splits as the dataset orders them."""
    pairs = list(zip(column.values, counts, strict=True))
    if all(isinstance(v, int | float) for v in column.values):
        return sorted(pairs)
    return sorted(pairs, key=lambda p: (isinstance(p[0], str), str(p[0])))


def _render_pages(here: str, chosen: ExampleFilter, page: int, pages: int) -> Html | None:
    if pages < 2:
        return None

    def link(text: str, to: int, key: str) -> Html:
        if not 1 <= to <= pages:
            return tag("span", text, class_="button", aria_disabled="true")
        return tag("a", text, href=f"{here}{chosen.to_query(page=to)}", class_="button", data_key=key, rel=text.lower())

    where = tag("span", f"Page {page:,} of {pages:,}")
    return tag(
        "nav", link("Previous", page - 1, "p"), where, link("Next", page + 1, "n"), class_="pages", aria_label="Pages"
    )
