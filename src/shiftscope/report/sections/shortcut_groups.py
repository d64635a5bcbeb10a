"""Strongest groups: concepts that make each shortcut, their answers (Figures 4, 8, 10) and samples."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...shortcuts import audit_statistics
from ...shortcuts.audit import ShortcutAudit
from ...shortcuts.groups import HEAD, TAIL, AnswerGroups
from ..audit_page import AuditEvidence, describe_shortcut
from ..chart.frame import draw_frame, draw_line, draw_text
from ..markup import Html, render_swatches, shorten_text, tag
from ..number_format import DASH, count_noun, format_count, format_percent
from ..page import Section
from .shortcut_strength import render_meter

MOST_ANSWERS = 40  # answers drawn
WIDTH, PANEL, GAP, LEFT, TOP = 430.0, 60.0, 31.0, 30.0, 16.0
LEAST = 1.2  # pixels that an answer which is there is high at least
PART_LOOK = {"head": "is-head", "tail": "is-tail", "": "is-rest"}


def draw_histogram(spread: audit_statistics.AnswerDistribution, limit: float | None) -> Html:
    """Three panels; `limit` is the share of the test below which an answer is rare, a dashed line."""
    shown = min(len(spread.answers), MOST_ANSWERS)
    sets = [("Train", spread.train, ("",) * shown), ("IID test", spread.test, spread.parts[:shown])]
    if spread.ood.any():
        sets.append(("OOD test", spread.ood, ("tail",) * shown))
    parts: list[Html] = []
    top = TOP
    for name, counts, looks in sets:
        total = int(counts.sum())
        parts.append(draw_text(LEFT, top - 5, f"{name}, n = {format_count(total)}", class_="heading"))
        parts += _draw_panel(counts, looks, top, limit if name == "IID test" else None)
        top += PANEL + GAP
    left_out = len(spread.answers) - shown
    end = f"; {count_noun(left_out, 'rarer answer')} not drawn" if left_out else ""
    parts.append(draw_text(LEFT, top - GAP + 13, f"answers, commonest in train first{end}", class_="tick"))
    return draw_frame(WIDTH, top - GAP + 18, f"Answers of {spread.name} in {', '.join(s[0] for s in sets)}", *parts)


def _draw_panel(counts: npt.NDArray[np.int64], looks: Sequence[str], top: float, limit: float | None) -> list[Html]:
    shares = (counts / max(int(counts.sum()), 1))[: len(looks)].tolist()
    most = max([*shares, limit or 0.0]) or 1.0
    base, step = top + PANEL, (WIDTH - LEFT) / max(len(shares), 12)
    parts = [
        draw_line(LEFT, base, WIDTH, base, "base"),
        draw_text(LEFT - 5, top + 8, f"{format_percent(most, 0)}%", at="end", class_="tick"),
    ]
    for look in dict.fromkeys(looks):
        path = "".join(
            f"M{LEFT + k * step + 0.5:.1f} {base:.0f}v-{max(PANEL * s / most, LEAST):.1f}h{step - 1:.1f}V{base:.0f}z"
            for k, (s, of) in enumerate(zip(shares, looks, strict=True))
            if of == look and s > 0
        )
        if path:
            parts.append(tag("path", d=path, class_=f"share {PART_LOOK[look]}"))
    if limit is not None:
        y = base - PANEL * limit / most
        parts.append(draw_line(LEFT, y, WIDTH, y, "guide"))
        parts.append(draw_text(WIDTH - 2, y - 3, "rare below", at="end", class_="tick"))
    return parts


MOST_COMMON = 6  # the commonest in train
MOST_RARE = 4  # and the commonest of the OOD set among the others
LONGEST_ANSWER = 40


def render_answer_table(spread: audit_statistics.AnswerDistribution) -> Html:
    """The commonest answers of a group with their shares in each set, as bars; the last row sums the others."""
    listed = list(range(min(MOST_COMMON, len(spread.answers))))
    rare = np.argsort(-spread.ood[MOST_COMMON:], kind="stable")[:MOST_RARE] + MOST_COMMON
    listed += sorted(int(k) for k in rare if spread.ood[k] > 0)
    rest = np.ones(len(spread.answers), bool)
    rest[listed] = False
    sets = [("Train", spread.train), ("IID test", spread.test), ("OOD test", spread.ood)]
    head = tag("tr", [tag("th", name, scope="col") for name in ("Answer", *(s[0] for s in sets))])
    shown: list[tuple[str, str | None, list[tuple[int, float | None]]]]
    shown = [
        (spread.answers[k], spread.parts[k], [_share_of(int(c[k]), int(c.sum())) for _, c in sets]) for k in listed
    ]
    if rest.any():
        name = count_noun(int(rest.sum()), "other answer")
        shown.append((name, None, [_share_of(int(c[rest].sum()), int(c.sum())) for _, c in sets]))
    most = max((share for _, _, cells in shown for _, share in cells if share), default=1.0)  # fills its place
    rows = []
    for name, part, cells in shown:
        short = name if len(name) <= LONGEST_ANSWER else f"{name[:LONGEST_ANSWER]}…"
        mark = None if part is None else tag("i", class_=PART_LOOK[part], title=part or "balanced")
        drawn = [tag("th", mark, short or "(empty)", scope="row", class_="other" if part is None else None)]
        for n, share in cells:
            if share and n:
                drawn.append(tag("td", format_percent(share), style=f"--n:{share / most:.3g}", title=format_count(n)))
            else:
                drawn.append(tag("td", DASH) if share is None else tag("td", "0", class_="quiet"))
        rows.append(tag("tr", drawn))
    return tag("table", tag("thead", head), tag("tbody", rows), class_="answers")


def _share_of(n: int, total: int) -> tuple[int, float | None]:
    return n, n / total if total else None


SAMPLES_EACH = 3  # of the head, and of the tail
LONGEST_TEXT = 160


def render_samples(audit: ShortcutAudit, shortcut: str, concept: int) -> Html:
    """A few samples of a group's head and tail in the IID test; in train, where the test has none."""
    where, picked = "IID test", _pick_samples(audit.test[shortcut], concept)
    if not picked:
        where, picked = "train split", _pick_samples(audit.train[shortcut], concept)
    samples, listed = audit.samples, []
    for row, part in picked:
        text, image, name = str(samples.texts[row]), samples.images[row], audit_statistics.PART_NAMES[part]
        of_image = "" if image is None else f", image {image}"
        words = [
            tag("span", name, class_=f"part {PART_LOOK[name]}"),
            tag("span", shorten_text(text, LONGEST_TEXT) or "(no question)", class_="asked"),
            tag("b", shorten_text(str(samples.answers[row]), LONGEST_TEXT) or "(empty)"),
            tag("span", f"id {samples.ids[row]}{of_image}", class_="id"),
        ]
        listed.append(tag("li", words))
    return tag("div", tag("p", f"Samples of the {where}", class_="facts"), tag("ul", listed), class_="behind")


def _pick_samples(groups: AnswerGroups, concept: int) -> list[tuple[int, int]]:
    mine = groups.labels.codes[groups.rows] == concept
    picked = []
    for part in (HEAD, TAIL):
        rows = groups.rows[mine & (groups.part == part)]
        places = np.unique(np.linspace(0, len(rows) - 1, min(SAMPLES_EACH, len(rows))).round().astype(int))
        picked += [(int(row), part) for row in rows[places]]  # evenly over all of them
    return picked


PLACES = {"audit": 40}
MOST_GROUPS = 8  # per shortcut
GROUP_LOOKS = (
    ("frequent answer (head)", "is-head"),
    ("rare answer (tail)", "is-tail"),
    ("train, or a balanced group", "is-rest"),
)


def section(evidence: AuditEvidence) -> Section | None:
    names = ("Concept", "Commonest answer", "Its share", "In train", "Answers")
    head = tag("div", [tag("span", one) for one in names], class_="group-head", aria_hidden="true")
    parts = []
    for name in (line.shortcut for line in evidence.lines):
        if groups := audit_statistics.find_strongest_groups(evidence.audit, name, MOST_GROUPS):
            uneven = int(evidence.audit.train[name].imbalanced.sum())
            about = f": {describe_shortcut(name)}. {count_noun(uneven, 'imbalanced group')} in train"
            heading = tag("h3", name, tag("span", about, class_="about"), id=f"groups-{name}")
            drawn = [_build_group(evidence, name, group) for group in groups]
            parts.append(tag("div", heading, head, drawn, class_="groups"))
    if not parts:
        return None
    lead = (
        "Of each shortcut, the groups of the train split in which guessing pays most: many samples, uneven "
        "answers. Open one for the answers it leads to and for samples behind it."
    )
    return Section("Strongest groups", [render_swatches(GROUP_LOOKS), parts], lead)


def _build_group(evidence: AuditEvidence, shortcut: str, one: audit_statistics.StrongGroup) -> Html:
    audit = evidence.audit
    summary = tag(
        "summary",
        tag("span", one.name, class_="concept"),
        tag("span", one.answer, class_="answer"),
        tag("span", tag("span", f"{format_percent(one.share, 0)}%"), render_meter(one.share), class_="share"),
        tag("span", format_count(one.size), tag("span", " samples", class_="unit"), class_="n"),
        tag("span", format_count(one.classes), tag("span", " answers", class_="unit"), class_="n"),
        title=f"normalised entropy {one.entropy:.2f}; {format_count(one.tail)} samples of train in its tail",
    )
    spread = audit_statistics.compute_distribution(audit, shortcut, one.concept)
    uneven = bool(audit.test[shortcut].imbalanced[one.concept])
    limit = audit.settings.rare / max(int(audit.test[shortcut].classes[one.concept]), 1) if uneven else None
    inner = [
        tag("div", draw_histogram(spread, limit), render_answer_table(spread), class_="spread"),
        render_samples(audit, shortcut, one.concept),
    ]
    return tag("details", summary, inner, class_="group")
