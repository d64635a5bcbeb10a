"""Prompts: the exact text sent to a model, versioned and part of a run's spec; and a scene as text.

Change a word, and raise PROMPT_VERSION: runs under different prompts are different runs.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from .errors import UserError, unknown
from .lang.exec.exact import describe_object
from .question import JOINED, Question
from .scene import Object, Scene, mask_members

PROMPT_VERSION = 1
MODES = {
    "short": "Answer with one word or one number and nothing else.",
    "free": 'Reason step by step. End with a line "Answer: X", where X is one word or one number.',
}
NO_IMAGE = "The image is not shown. Give the answer you hold most likely."
SCENE = "Instead of an image, here is all that it shows:"
ACTION = "Suppose the following is done first:"
PROGRAM = "The question means this program, which is run from the inside out:"


LETTERS = "ABCDEFGHIJ"  # of options, in order


def list_options(options: Sequence[str]) -> str:
    """The options of a multiple choice, a line each."""
    return "".join(f"{letter}. {option}\n" for letter, option in zip(LETTERS, options, strict=False))


def format_prompt(
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


JUDGE_VERSION = 1
JUDGE = """\
Another model was asked a question, and you read which answer its reply gives. Do not answer the question yourself.
Question: {question}
Possible answers: {answers}
Reply, between the lines:
----------
{reply}
----------
Write the answer that the reply gives, and nothing else. If it gives none, declines to answer, or names several without
choosing one, write UNCLEAR."""
LONGEST_JUDGED = 6000  # characters of a reply: its beginning, and its end


def format_judge_prompt(question: Question, answers: str, reply: str) -> str:
    """What a judge is sent to read a reply; the true answer is not in it."""
    half = LONGEST_JUDGED // 2
    shown = reply if len(reply) <= LONGEST_JUDGED else f"{reply[:half]}\n[…]\n{reply[-half:]}"
    asked = f"{ACTION} {question.action} {question.text}" if question.action else question.text
    return JUDGE.format(question=asked, answers=answers, reply=shown)


def join_action(question: Question) -> Question:
    """The question with its action in the same text, for models that take a single one."""
    if not question.action:
        return question
    text = question.note(JOINED)
    if not isinstance(text, str):
        raise UserError(f"question {question.id!r} has no text that joins it and its action; leave out --joined")
    return replace(question, text=text, action="", grounding=())


def build_prompt_spec(mode: str) -> dict[str, Any]:
    """What a run's spec says of its prompts."""
    check_mode(mode)
    return {"mode": mode, "version": PROMPT_VERSION, "instruction": MODES[mode]}


def check_mode(mode: str) -> None:
    if mode not in MODES:
        raise unknown("mode", mode, MODES)


SCENE_OPENING = "The scene holds"  # so begins every scene in words
RELATION_PHRASES = {"left": "Left of", "right": "Right of", "front": "In front of", "behind": "Behind"}


@lru_cache(maxsize=256)
def describe_scene(scene: Scene) -> str:
    """Complete: whatever can be asked of the scene follows from the text."""
    objects = [f"{i}: {_describe_object(o)}." for i, o in enumerate(scene.objects, 1)]
    lines = [f"{SCENE_OPENING} {len(objects)} objects, numbered from 1.", *objects]
    lines += [f"The {name} of the scene is {value}." for name, value in scene.attributes]
    names = scene.schema.relations if scene.schema.closed else tuple(r.name for r in scene.relations)
    for name in names:
        numbered = [(i, [str(j + 1) for j in mask_members(row)]) for i, row in enumerate(scene.relation(name) or (), 1)]
        if scene.schema.closed:  # one line per object: what is so related to it
            start = RELATION_PHRASES.get(name, f"{name} of".capitalize())
            lines += [f"{start} {i}: {', '.join(subjects) or 'nothing'}." for i, subjects in numbered]
        else:
            lines += [f"{subject} {name} {i}." for i, subjects in numbered for subject in subjects]
    return "\n".join(lines)


def _describe_object(thing: Object) -> str:
    parts = [f"{' '.join(v for _, v in p.attributes)} {p.name.replace('_', ' ')}" for p in thing.parts]
    return describe_object(thing) + (f"; parts: {', '.join(parts)}" if parts else "")
