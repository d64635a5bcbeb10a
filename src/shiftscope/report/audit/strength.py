"""Strength: Table 1 of VQA-VS for this dataset, with what the concept alone is worth."""

from __future__ import annotations

from ...audit.tables import Line
from ..chart.stack import Share, stack
from ..figure import figure
from ..legend import swatches
from ..markup import Child, Html, tag, text
from ..number import count, percent
from ..section import Section
from ..table import Cell, Head, table
from .evidence import Evidence, called

LOOKS = (("head", "is-head"), ("tail: the OOD set", "is-tail"), ("neither", "is-rest"))


def section(shown: Evidence) -> Section | None:
    heads = [
        Head("Shortcut"),
        Head("Evenness", numeric=True, title="E of eq. 8, over the train split: lower is more imbalanced"),
        Head("Guess", numeric=True, title="of the IID test, by the commonest answer of the concept in train"),
        Head("IID test", sortable=False, title="samples in a head, in a tail, in neither"),
        Head("Head", numeric=True, title="samples of the IID test with a frequent answer"),
        Head("Tail", numeric=True, title="samples of the IID test with a rare answer: the OOD test set"),
        Head("OOD val", numeric=True, title="samples of the val split with a rare answer"),
        Head("Groups train", numeric=True, title="concepts in the train split"),
        Head("Groups test", numeric=True, title="concepts in the IID test"),
        Head("imbal\u00adanced", numeric=True, title="of the groups in the test"),
        Head("One answer", numeric=True, title="samples of the IID test in groups with one answer, per cent"),
    ]
    unknown = any(line.outside for line in shown.lines)
    if unknown:
        heads.append(
            Head("No group", numeric=True, title="samples of the IID test whose objects are not known")
        )
    rows = [_row(shown, line, unknown) for line in shown.lines]
    lead = (
        "Samples with the same concept form a group. A group whose answers are uneven is imbalanced: its "
        "frequent answers are its head, its rare ones its tail, and all tails together are the OOD test set."
    )
    note = (
        "Evenness is 1 where all answers of a group are equally frequent; groups with one answer count as 1, "
        "so that many of them hide how uneven the rest is. Guess is the share of the IID test, in per cent "
        "with its 95% interval, that always giving the concept’s commonest train answer gets right to the "
        "letter. All concepts but QT are chosen with the answer at hand, so that their guess is more than a "
        "model could reach by them."
    )
    if unknown:
        note += " All of this is of the samples in a group; those whose objects are not known are in none."
    body = text([swatches(LOOKS), table(heads, [rows], class_="strengths"), _note(note)])
    return Section("How strong each shortcut is", body, lead)


def _row(shown: Evidence, line: Line, unknown: bool) -> list[Cell]:
    total = shown.audit.test[line.shortcut].grouped
    guess = shown.guesses.get(line.shortcut)
    name: Child = [tag("span", line.shortcut), tag("small", called(line.shortcut))]
    return [
        Cell(name, line.shortcut, class_="shortcut"),
        Cell(text([f"{line.degree:.3f}", meter(1 - line.degree)]), line.degree, title="bar: 1 − E"),
        figure(guess.iid if guess else None),
        Cell(_parts(line, total), class_="pick"),
        _count(line.head),
        _count(line.tail),
        _count(line.val_tail),
        _count(line.train_groups),
        _count(line.test_groups),
        _count(line.imbalanced),
        Cell(percent(line.single_share), line.single_share, title=f"{count(line.single_groups)} groups"),
        *([_count(line.outside)] if unknown else []),
    ]


def _count(n: int) -> Cell:
    return Cell(count(n), float(n))


def meter(share: float) -> Html:
    """A bar as long as the share of its place."""
    return tag("span", class_="meter", style=f"--w:{100 * min(max(share, 0.0), 1.0):.1f}%")


def _parts(line: Line, total: int) -> Html:
    if not total:
        return text("")
    sizes = (line.head, line.tail, total - line.head - line.tail)
    shares = [
        Share(name, n / total, f"{percent(n / total, 0)}%", look)
        for (name, look), n in zip(LOOKS, sizes, strict=True)
    ]
    said = ", ".join(f"{percent(s.value)}% {s.name}" for s in shares)
    return stack(f"{line.shortcut}: {said}", shares, width=140, height=16)


def _note(said: str) -> Html:
    return tag("p", said, class_="note")
