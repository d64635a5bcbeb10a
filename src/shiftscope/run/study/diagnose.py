"""Diagnose: where the pipeline loses answers, with true scenes and programs in place of parsed ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...lang.beliefs import Beliefs, certain
from ...lang.exec import possible
from ...lang.exec.packed import Prepared, execute_many
from ...lang.exec.soft import execute_soft
from ...scenetable import SceneTable, pack
from .cell import BOTH, OBJECTS, ORACLES, PROGRAM, SCENE, Diagnosis, Origin, Share
from .exam import Exam, Sheet
from .outcome import Reliability
from .pipeline import BATCH, BATCH_HERE, Eyes, Reader, Said, Seen, answering, answers, in_blocks

BINS = 15


def diagnose(exam: Exam, seen: Mapping[str, Seen], reader: Reader, eyes: Eyes, origin: Origin) -> Diagnosis:
    """Of the models that saw the exam, which must hold whole questions; the parser as it was trained."""
    table = pack(exam.scenes)
    true = certain(table)
    oracles: list[tuple[str, str, str, Share]] = []
    exact: dict[str, Share] = {}  # programs read as they were meant, by sort
    for sort, sheet in exam.sheets.items():
        if not len(sheet):
            continue
        read = reader.read(sheet)
        programs = [q.program for q in sheet.questions if q.program is not None]
        meant = reader.lowering.prepare(programs)
        written = reader.lowering.prepare([p.canonical() for p in programs])  # as what is read stands, too
        exact[sort] = int(read.prepared.same(written).sum()), len(sheet)
        for model, one in seen.items():
            for given in ORACLES:
                asked = meant if given in (PROGRAM, BOTH) else read.prepared
                if given in (SCENE, BOTH):
                    found = _on_true(model, asked, table, true, sheet)
                else:
                    held = true if given == OBJECTS else one.beliefs
                    found = answers(answering(model, eyes), asked, held, sheet.rows)
                oracles.append((model, sort, given, (int(found.right(sheet).sum()), len(sheet))))
    whole = sum(right for right, _ in exact.values()), sum(of for _, of in exact.values())
    shares = {"program, all of it": whole}
    shares |= {f"program, {sort} questions": share for sort, share in exact.items()}
    shares |= _seen(exam, eyes)
    return Diagnosis(
        origin,
        exam.asked,
        tuple(oracles),
        tuple(shares.items()),
        tuple(_reliability(exam, _plain(exam, seen, eyes), eyes)),
    )


def _plain(exam: Exam, seen: Mapping[str, Seen], eyes: Eyes) -> Beliefs:
    """What the parser believes as it was trained."""
    there = next((one.beliefs for one in seen.values() if one.attuned is None), None)
    return eyes.see(exam.pixels) if there is None else there


def _on_true(model: str, programs: Prepared, table: SceneTable, true: Beliefs, sheet: Sheet) -> Said:
    """The scene itself, as `run` shows it in words: nsvqa takes its relations from it, p_nsvqa_exact its
    places; p_nsvqa has no other rule of relations than its own."""
    if model == "nsvqa":
        return answers(execute_many, programs, table, sheet.rows)
    known = execute_soft if model == "p_nsvqa" else in_blocks(possible.answer)
    return answers(known, programs, true, sheet.rows)


def _batches(exam: Exam, eyes: Eyes) -> Iterator[tuple[slice, Any, Any]]:
    """Images and labels on the device, batch by batch."""
    from ...models._scene_parser import labels_of

    labels = labels_of(exam.scenes).tensors(eyes.device)
    size = BATCH if eyes.device != "cpu" else BATCH_HERE
    for start in range(0, len(exam.pixels), size):
        rows = slice(start, start + size)
        yield rows, exam.pixels[rows].to(eyes.device), labels.take(rows)


def _seen(exam: Exam, eyes: Eyes) -> dict[str, Share]:
    """What the scene parser finds, and what it knows of that, in counts."""
    from ...models._scene_parser import Batch, measure

    sums: dict[str, list[int]] = {}
    for _, images, labels in _batches(exam, eyes):
        with eyes.precision():
            found = measure(eyes.module, Batch(images, labels))
        for name, (right, of) in found.items():
            held = sums.setdefault(name, [0, 0])
            held[0] += int(right)
            held[1] += int(of)
    return {name.replace("_", " "): (right, of) for name, (right, of) in sums.items()}


def _reliability(exam: Exam, beliefs: Beliefs, eyes: Eyes) -> Iterator[tuple[str, Reliability]]:
    """Of beliefs that an object is there, and in the likeliest value of each of its attributes."""
    from ...models._scene_parser import labels_of
    from ...models._scene_parser.measure import MATCH, matched

    labels = labels_of(exam.scenes).tensors(eyes.device)
    there, found = labels.boxes[..., 2] > 0, beliefs.exists > 0
    match = matched(beliefs.boxes, found, labels.boxes, there, MATCH).cpu().numpy()  # [image, true object]
    image, thing = np.nonzero(match >= 0)
    seat = match[image, thing]
    exists = beliefs.exists.float().cpu().numpy()
    real = np.zeros(exists.shape, np.bool_)
    real[image, seat] = True
    rows = exists > 0
    yield "object is there", Reliability.of(exists[rows], real[rows], BINS)
    codes = labels.attributes.cpu().numpy()
    calibrated = eyes.calibration.apply(beliefs)
    for kind, held in (("", beliefs), (", calibrated", calibrated)):
        for k, attribute in enumerate(eyes.config.schema.attributes):
            chances = held.attributes[k].float().cpu().numpy()[image, seat]
            known = codes[image, thing, k] >= 0
            right = chances.argmax(-1) == codes[image, thing, k]
            yield f"{attribute.name}{kind}", Reliability.of(chances.max(-1)[known], right[known], BINS)
