"""Prompts: the exact words a model is asked with, versioned, and part of a run's spec.

Change a word, and raise VERSION: runs under different prompts are different runs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..errors import UserError, unknown
from ..question import JOINED, Question

VERSION = 1
MODES = {
    "short": "Answer with one word or one number and nothing else.",
    "free": 'Reason step by step. End with a line "Answer: X", where X is one word or one number.',
}
NO_IMAGE = "The image is not shown. Give the answer you hold most likely."
SCENE = "Instead of an image, here is all that it shows:"
ACTION = "Suppose the following is done first:"
PROGRAM = "The question means this program, which is run from the inside out:"


def prompt_text(
    question: Question, mode: str = "short", *, blind: bool = False, scene: str = "", program: str = ""
) -> str:
    """The text of a prompt; images, where there are any, come before it."""
    lines = []
    if scene:
        lines += [SCENE, scene]
    if blind:
        lines.append(NO_IMAGE)
    if question.action:
        lines.append(f"{ACTION} {question.action}")
    lines.append(question.text)
    if program:
        lines += [PROGRAM, program]
    return "\n".join([*lines, MODES[mode]])


def in_one_text(question: Question) -> Question:
    """The question with its action in the same text, for models that take a single one."""
    if not question.action:
        return question
    text = question.note(JOINED)
    if not isinstance(text, str):
        raise UserError(
            f"question {question.id!r} has no text that joins it and its action; leave out --joined"
        )
    return replace(question, text=text, action="")


def prompt_spec(mode: str) -> dict[str, Any]:
    """What a run's spec says of its prompts."""
    check_mode(mode)
    return {"mode": mode, "version": VERSION, "instruction": MODES[mode]}


def check_mode(mode: str) -> None:
    if mode not in MODES:
        raise unknown("mode", mode, MODES)
