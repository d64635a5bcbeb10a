"""World: how what is measured here differs from the paper's data and models, computed where cells tell."""

from __future__ import annotations

from ...run.study.board import Board
from ...run.study.matrix import MODELS, Domain, Trained
from ...suites import _reported_superclevr as paper
from ..number import points
from .text_table import Table

LITTLE = 0.02  # a loss of accuracy below this is hardly one
REPORTED = {"nsvqa": "NSVQA", "p_nsvqa": "P-NSVQA"}  # the paper's names


def differences(board: Board) -> Table:
    width, height = board.scale.size
    rows = [
        ("pictures", "CLEVR's pipeline, in Blender, 640×480", f"a renderer of our own, {width}×{height}"),
        ("vehicles", "3D models of UDA-Part", "meshes of our own, of the same names, made by code"),
        (
            "parts",
            "on mid and hard, up to three visible parts of an object differ from it",
            "the same: up to three are repainted, many of them a few pixels wide",
        ),
        (
            "object questions",
            "CLEVR's templates",
            "templates and wording of our own; redundancy is added and removed as the paper says",
        ),
        (
            "part questions",
            "10 an image, which Tables 1 and 2 seem to leave out: its models learned from 200,000 questions",
            f"{board.scale.part_questions} an image, ours: they speak of repainted parts, and have tables of "
            "their own, beside which nothing is reported",
        ),
        (
            "relations",
            "CLEVR's rule",
            "CLEVR's rule, on the ground; nsvqa and p_nsvqa must guess them from the centres of boxes",
        ),
        (
            "scene parser",
            "Mask R-CNN, then a ResNet-50 for attributes",
            "one small detector of our own, no pretrained backbone; boxes only, masks are not used",
        ),
        (
            "question parser",
            "an LSTM",
            "a GRU with attention; half of its training questions get more adjectives and relations, a "
            "quarter lose some",
        ),
        ("figures", "of the validation split", "of the test split, unless they say validation"),
        ("co-0 → co-1, object questions", _reported_loss(), _measured_loss(board)),
    ]
    return Table("How this world differs from the paper's", ("", "the paper", "here"), tuple(rows))


def _reported_loss() -> str:
    told = []
    for model, said in REPORTED.items():
        given = paper.accuracies(said, "compositionality")
        told.append(f"{model} {points(given['co-0', 'co-1'] - given['co-0', 'co-0'], 2)} points")
    return ", ".join(told)


def _measured_loss(board: Board) -> str:
    """What the default's model loses to another composition of shapes and colours."""
    found: dict[str, float] = {}
    for model in MODELS:
        own = board.score(model, Trained(), Domain(), "object")
        other = board.score(model, Trained(), Domain.of("co-1"), "object")
        if own and other and own.value is not None and other.value is not None:
            found[model] = other.value - own.value
    if not found:
        return "not measured yet"
    told = ", ".join(f"{model} {points(loss, 2)} points" for model, loss in found.items())
    if all(loss > -LITTLE for loss in found.values()):
        told += ": this shift hardly hurts a model trained on the default here"
    return told
