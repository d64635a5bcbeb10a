"""Tied answers: concepts that go with an answer in train and not in the dataset's own OOD test."""

from ...shortcuts.tied_answers import LEAST_EFFECT, FoundTie
from ..audit_page import AuditEvidence, describe_shortcut
from ..markup import tag
from ..number_format import format_percent
from ..page import Section
from ..table import Table, TableCell, TableHead, count_cell, numeric

PLACES = {"audit": 15}


def section(evidence: AuditEvidence) -> Section | None:
    if evidence.tied is None:
        return None
    heads = [
        TableHead("Shortcut"),
        TableHead("Concept"),
        TableHead("Answer"),
        numeric("Share", "of the answer among train samples with the concept that could have it, per cent"),
        numeric("OOD test", "the same share there, per cent"),
        numeric("n", "samples of train"),
    ]
    lead = (
        "A sample has a concept if its type, its words and the objects of its image are those named, whatever its "
        "answer. Every line is what the lines above leave unexplained: a tie of a question type also shows in the "
        "words of such questions, and is told once. "
        f"Differences below {format_percent(LEAST_EFFECT, 0)} points are not told."
    )
    note = "Share with its 95% interval from the number of samples."
    table = Table("", heads, [_build_row(one) for one in evidence.tied], note, "tied")
    nothing = [] if evidence.tied else [tag("p", "Nothing is tied in train that is not tied in the OOD test.")]
    return Section(
        "Answers tied in train and not in the OOD test", [nothing, table] if evidence.tied else nothing, lead
    )


def _build_row(one: FoundTie) -> list[TableCell]:
    share = f"{format_percent(one.tie.strength)} ± {format_percent(1.96 * one.error)}"
    return [
        TableCell(one.tie.shortcut, one.tie.shortcut, title=describe_shortcut(one.tie.shortcut)),
        TableCell(one.tie.concept),
        TableCell(one.tie.answer),
        TableCell(share, one.tie.strength),
        TableCell(format_percent(one.expected), one.expected),
        count_cell(one.n),
    ]
