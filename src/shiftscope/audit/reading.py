"""Samples from VQA and GQA files, with the objects of their images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import UserError
from ..formats import _json, gqa
from .gqa_rows import read_gqa_rows
from .join import join
from .objects import read_objects, with_objects
from .samples import Samples
from .vqa_rows import read_annotation_rows, read_question_rows


def read_samples(
    questions: Sequence[Path],
    annotations: Sequence[Path] = (),
    objects: Sequence[Path] = (),
    splits: Sequence[str] = (),
) -> Samples:
    """The samples of VQA files (questions and annotations) or of GQA files, told apart by what is in them."""
    if not questions:
        raise UserError("no questions file is given")
    if not annotations:
        sample = _json.outline(_json.read_bytes(questions[0]), questions[0])
        if not (isinstance(sample, dict) and gqa.sniff_questions(sample)):
            raise UserError(
                f"{questions[0]}: its answers are in another file; name it with --annotations "
                "(only GQA's questions hold their answers)"
            )
        return read_gqa(questions, objects, splits)
    return read_vqa(questions, annotations, objects, splits)


def read_vqa(
    questions: Sequence[Path],
    annotations: Sequence[Path],
    objects: Sequence[Path] = (),
    splits: Sequence[str] = (),
) -> Samples:
    """The samples of VQA v2, VQA-VS or VQA-CP files, wrapped or bare; several files are merged.

    `splits` names the split of each questions file; else a row's own `split` counts, or the file's subset.
    """
    _check(questions, splits)
    asked = [read_question_rows(path) for path in questions]
    if splits:
        asked = [replace(f, splits=[s] * len(f.ids)) for f, s in zip(asked, splits, strict=True)]
    samples = join(asked, [read_annotation_rows(path) for path in annotations])
    return with_objects(samples, read_objects(objects)) if objects else samples


def read_gqa(questions: Sequence[Path], objects: Sequence[Path] = (), splits: Sequence[str] = ()) -> Samples:
    """The samples of GQA question files, objects from its scene graphs."""
    _check(questions, splits)
    samples = read_gqa_rows(questions, splits)
    return with_objects(samples, read_objects(objects)) if objects else samples


def _check(files: Sequence[Path], splits: Sequence[str]) -> None:
    if splits and len(splits) != len(files):
        raise UserError(f"{len(files)} questions files, but {len(splits)} splits are named")
