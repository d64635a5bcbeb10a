"""Diagnosis: what true scenes and programs would mend, how good the parsers are, what beliefs are worth."""

from __future__ import annotations

from collections.abc import Iterator

from ...run.study.board import Board
from ...run.study.cell import BOTH, NEITHER, OBJECTS, PROGRAM, SCENE, SORTS, Diagnosis
from ...run.study.matrix import MODELS, Domain, Trained
from ..number import percent
from .figures import DIGITS, measure_name, share_text
from .text_table import Table

GIVEN = {  # what is true, and the column's name
    NEITHER: "parsed both",
    OBJECTS: "true objects, own relations",
    SCENE: "oracle scene",
    PROGRAM: "oracle program",
    BOTH: "both oracles",
}


def diagnosis(board: Board) -> Iterator[Table]:
    """What true scenes and true programs would mend, and how good the parsers are part by part."""
    for one in board.diagnoses:
        where = f"{one.trained.label} on {one.tested.label}"
        known = {(m, s, given): share for m, s, given, share in one.oracles}
        rows = [
            (f"{model}, {sort} questions", *(share_text(known.get((model, sort, o))) for o in GIVEN))
            for sort in SORTS
            for model in MODELS
            if any((model, sort, o) in known for o in GIVEN)
        ]
        title = f"Diagnosis, {where}: true scenes and programs in place of parsed ones"
        yield Table(title, ("right, %", *GIVEN.values()), tuple(rows), _meant(one))
        shares = tuple((measure_name(name), share_text(share), f"{share[1]:,}") for name, share in one.shares)
        yield Table(f"Diagnosis, {where}: the parsers", ("", "%", "of"), shares)
        errors = tuple(
            (name, percent(r.error, DIGITS), f"{r.n:,}") for name, r in one.reliability if r.error is not None
        )
        if errors:
            note = "Mean distance of belief and accuracy over bins of belief; the page of HTML draws them."
            yield Table(f"Diagnosis, {where}: calibration error", ("belief in", "points", "of"), errors, note)
    answers = tuple(
        (model, f"{percent(r.error, DIGITS)}", f"{r.n:,}")
        for model in MODELS
        if (out := board.outcome(model, Trained(), Domain(), "object")) and (r := out.belief) and r.n
    )
    if answers:
        yield Table(
            "Calibration error of answers, default on default, object questions",
            ("model", "points", "of"),
            answers,
        )


def _meant(one: Diagnosis) -> str:
    """What the columns give to which model."""
    note = (
        "True objects, own relations: objects, boxes and places as they are, but relations by the model's "
        "own rule (nsvqa and p_nsvqa: box centres; p_nsvqa_exact: its learned likelihood, on true places). "
        "Parsed, p_nsvqa_exact sees as attuned; the parsers' own figures and beliefs are as trained. "
        "Oracle scene: nsvqa gets the true relations too; p_nsvqa has no rule but its own"
    )
    if any(given == OBJECTS for _, _, given, _ in one.oracles):
        return f"{note}; p_nsvqa_exact applies CLEVR's rule to true places, as under `run --condition`."
    return (
        f"{note}; p_nsvqa_exact here used its learned likelihood on true places, where `run --condition` "
        "applies CLEVR's rule to them: this diagnosis is older than the column with the dashes."
    )
