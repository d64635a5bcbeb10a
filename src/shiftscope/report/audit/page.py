"""Page: an audit as one file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ...audit.audit import Audit
from ...errors import UserError
from ...result import Score
from ...run.proportion import BlendScore
from ...whole import utf8, write_whole
from ..page import document
from ..section import Section
from . import blind as blind_section
from . import groups, imbalance, known, method, overlap, proportion, strength
from .evidence import Evidence, evidence
from .headline import header, title

SECTIONS = (
    ("strength", strength.section),
    ("known", known.section),
    ("blind", blind_section.section),
    ("groups", groups.section),
    ("overlap", overlap.section),
    ("imbalance", imbalance.section),
    ("proportion", proportion.section),
    ("method", method.section),
)


def write_audit_page(
    out: Path,
    found: Audit,
    blind: Mapping[str, Sequence[Score]],
    blends: Sequence[BlendScore] = (),
    source: str = "",
) -> None:
    """Write the page whole; one that is there is replaced. `source` is what the dataset is called."""
    if out.is_dir():
        raise UserError(f"{out} is a folder; name the page, as in {out / 'report.html'}")
    write_whole(out, utf8(page(evidence(found, blind, blends, source))))


def page(shown: Evidence) -> str:
    """The page as text; a section without anything to tell is left out."""
    made: list[tuple[str, Section]] = []
    for name, section in SECTIONS:
        one = section(shown)
        if one is not None:
            made.append((name, one))
    return document(f"ShiftScope audit: {title(shown)}", header(shown), made, ("style.css", "audit.css"))
