"""Shortcut strength: Table 1 of VQA-VS for this dataset, with the accuracy of guessing by concept alone."""

from ...shortcuts.audit_statistics import ShortcutStatistics
from ..audit_page import AuditEvidence, describe_shortcut
from ..chart.bars import StackedShare, draw_stacked_bar
from ..markup import Child, Html, join_markup, render_swatches, tag
from ..number_format import format_count, format_percent
from ..page import Section
from ..score_table import score_cell
from ..table import Table, TableCell, TableHead, count_cell, numeric

PLACES = {"audit": 10}
LOOKS = (("head", "is-head"), ("tail: the OOD set", "is-tail"), ("neither", "is-rest"))


def section(evidence: AuditEvidence) -> Section | None:
    heads = [
        TableHead("Shortcut"),
        numeric("Evenness", "E of eq. 8, over the train split, else over the test: lower is more imbalanced"),
        numeric("Guess", "of the IID test, by the commonest answer of the concept in train"),
        TableHead("IID test", sortable=False, title="samples in a head, in a tail, in neither"),
        numeric("Head", "samples of the IID test with a frequent answer"),
        numeric("Tail", "samples of the IID test with a rare answer: the OOD test set"),
        numeric("OOD val", "samples of the val split with a rare answer"),
        numeric("Groups train", "concepts in the train split"),
        numeric("Groups test", "concepts in the IID test"),
        numeric("imbal\u00adanced", "of the groups in the test"),
        numeric("One answer", "samples of the IID test in groups with one answer, per cent"),
    ]
    unknown = any(line.outside for line in evidence.lines)
    if unknown:
        heads.append(numeric("No group", "samples of the IID test without known objects, or without two words for KWP"))
    rows = [_build_row(evidence, line, unknown) for line in evidence.lines]
    lead = (
        "Samples with the same concept form a group. A group whose answers are uneven is imbalanced: its "
        "frequent answers are its head, its rare ones its tail, and all tails together are the OOD test set."
    )
    note = (
        "Evenness is 1 where all answers of a group are equally frequent; groups with one answer count as 1, so that "
        "many of them hide how uneven the rest is. Guess is the share of the IID test, in per cent with its 95% "
        "interval, that always giving the concept’s commonest train answer gets right to the letter. All concepts but "
        "QT are chosen with the answer at hand, so that their guess is more than a model could reach by them."
    )
    if unknown:
        note += (
            " All of this is of the samples in a group; in none are those whose objects are not known and, for KWP, "
            "questions with fewer than two words besides their type."
        )
    table = Table("", heads, rows, note, "strengths")
    return Section("Shortcut strength", [render_swatches(LOOKS), table], lead)


def _build_row(evidence: AuditEvidence, line: ShortcutStatistics, unknown: bool) -> list[TableCell]:
    total = evidence.audit.test[line.shortcut].sample_count
    guess = evidence.guesses.get(line.shortcut)
    name: Child = [tag("span", line.shortcut), tag("small", describe_shortcut(line.shortcut))]
    return [
        TableCell(name, line.shortcut, class_="shortcut"),
        TableCell(join_markup([f"{line.degree:.3f}", render_meter(1 - line.degree)]), line.degree, title="bar: 1 − E"),
        score_cell(guess.iid if guess else None),
        TableCell(_draw_parts(line, total), class_="pick"),
        *map(count_cell, (line.head, line.tail, line.val_tail, line.train_groups, line.test_groups, line.imbalanced)),
        TableCell(
            format_percent(line.single_share), line.single_share, title=f"{format_count(line.single_groups)} groups"
        ),
        *([count_cell(line.outside)] if unknown else []),
    ]


def render_meter(share: float) -> Html:
    """A bar as long as the share of its place."""
    return tag("span", class_="meter", style=f"--w:{100 * min(max(share, 0.0), 1.0):.1f}%")


def _draw_parts(line: ShortcutStatistics, total: int) -> Html:
    if not total:
        return join_markup("")
    sizes = (line.head, line.tail, total - line.head - line.tail)
    shares = [
        StackedShare(name, n / total, f"{format_percent(n / total, 0)}%", look)
        for (name, look), n in zip(LOOKS, sizes, strict=True)
    ]
    listed = ", ".join(f"{format_percent(s.value)}% {s.name}" for s in shares)
    return draw_stacked_bar(f"{line.shortcut}: {listed}", shares, width=140, height=16)
