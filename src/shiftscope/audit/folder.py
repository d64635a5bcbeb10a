"""The folder of an audit: what makes it one, what may not become one, and how a new audit takes its place.

A new audit is written into a hidden folder inside and moved up at the end. `audit.json` goes first and comes
last, so that a folder which has it is whole: sets, marks and report are of one audit.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import UserError
from ..whole import real, writing
from .layout import ANSWERS, HEAD, OOD_TEST, OOD_VAL, QUESTIONS, TEST, TRAIN, VAL

FIGURES, MARKS, REPORT = "audit.json", "marks.parquet", "report.html"
GQA_OOD, CHANGING_PRIORS, PROPORTION = "GQA-OOD", "Changing-Priors", "Proportion"
SETS = (TRAIN, VAL, TEST, OOD_TEST, OOD_VAL, HEAD, GQA_OOD, CHANGING_PRIORS, PROPORTION)
STAGE = ".audit.partial"
MANIFEST = "manifest.json"  # of a dataset of ours


def is_audit(folder: Path) -> bool:
    """Whether a whole audit is there."""
    return (folder / FIGURES).is_file() and (folder / MARKS).is_file()


def check_audit(folder: Path) -> None:
    """Refuse what is not the folder of a whole audit."""
    if is_audit(folder):
        return
    if folder.is_file():
        raise UserError(f"{folder} is a file; an audit is the folder that shiftscope audit made")
    if was_audit(folder):
        raise UserError(
            f"{folder}: the audit there was not finished (no {FIGURES}); run the same shiftscope audit again"
        )
    raise UserError(f"{folder}: no audit there (no {FIGURES}); make one with: shiftscope audit … --out DIR")


def refuse_unfit(out: Path, inputs: Iterable[Path]) -> None:
    """Refuse a folder in which an audit would destroy or be taken for something else."""
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; --out names a folder for the audit")
    if (out / MANIFEST).exists():
        raise UserError(f"{out} holds a dataset ({MANIFEST}); name a folder of its own for the audit")
    for path in inputs:
        if real(path).is_relative_to(real(out)):
            raise UserError(f"{out} holds {path}, which is audited; name a folder of its own for the audit")
    if not was_audit(out) and (foreign := [name for name in SETS if (out / name).exists()]):
        raise UserError(f"{out / foreign[0]} is there already, and no audit made it; name another --out")


@contextmanager
def staged(out: Path) -> Iterator[Path]:
    """A folder to write an audit into; it takes the place of an earlier one only if all goes well.

    One process at a time: the caller holds `out`.
    """
    stage = out / STAGE
    with writing(out):
        if stage.exists():
            shutil.rmtree(stage)
        stage.mkdir(parents=True)
    try:
        yield stage
    except BaseException:
        shutil.rmtree(stage, ignore_errors=True)
        raise
    with writing(out):  # an interrupt from here on leaves the stage, by which the folder is known as ours
        _clear(out)
        files = sorted(path.relative_to(stage) for path in stage.rglob("*") if path.is_file())
        for name in sorted(files, key=lambda name: name == Path(FIGURES)):
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (stage / name).replace(out / name)
        shutil.rmtree(stage)


def was_audit(folder: Path) -> bool:
    """Whether an audit was begun there, whole or not."""
    return any((folder / name).exists() for name in (FIGURES, MARKS, STAGE))


def _clear(out: Path) -> None:
    """Remove what an earlier audit wrote, and nothing that someone else put beside it."""
    for name in (FIGURES, MARKS, REPORT):
        (out / name).unlink(missing_ok=True)
    for top in (out / name for name in SETS):
        folders = [top, *(p for p in sorted(top.glob("*")) if p.is_dir())] if top.is_dir() else []
        for folder in reversed(folders):
            stem = "-".join(folder.relative_to(out).parts)
            for what in (QUESTIONS, ANSWERS):
                (folder / f"{stem}-{what}.json").unlink(missing_ok=True)
            with suppress(OSError):
                folder.rmdir()
