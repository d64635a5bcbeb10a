"""How a training of a study is asked: networks in batches of what was seen of each image once, others by prompts.

A model that learned programs is asked twice, with its own scenes (GenExec) and with the true ones (GTExec); what it
writes is compared with the true program (Exact), and whether an object it names was missing is kept.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...answer import Answer, spell
from ...files import write_whole
from ...metrics.held_out_records import EXACT, GT_EXEC, MISSING, Bools
from ...metrics.missing_objects import REASON
from ...model import EVERYTHING, IMAGES, Model, Prompt, Response, get_traits, predict_checked
from ...question import Question
from ...records import content_id
from ...result import compare_programs, program_text
from ...train.loop import TrainingPaused
from ...trainable import SplitData, TrainStage
from ...trained_folder import TrainedFolder
from .study_data import StudyData

BATCH = 1024  # questions that a network answers at once, where its stage does not say
TRUE_SCENES = "the true scenes"  # what stands for them in words, for a model that reads scenes themselves
TYPED: Mapping[str, Answer] = {"yes": True, "no": False}

Said = tuple[Answer | None, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ModelAnswers:
    """What a model said to some questions."""

    said: Mapping[str, Said]  # "" as asked, GT_EXEC on the true scenes → [question]
    flags: Mapping[str, Bools] = field(default_factory=dict)  # EXACT, MISSING → [question]


def mark_right(said: Said, truth: Sequence[Answer | None]) -> Bools:
    """[question] whether the answer is the true one; no answer never is."""
    pairs = zip(said, truth, strict=True)
    return np.array([a is not None and b is not None and spell(a) == spell(b) for a, b in pairs], np.bool_)


def exchange_images(questions: Sequence[Question]) -> list[Question]:
    """Each about the images of another that has as many, and none in common with it where there is such a one."""
    alike: dict[int, list[int]] = {}
    for row, q in enumerate(questions):
        alike.setdefault(len(q.scenes), []).append(row)
    found = list(questions)
    for rows in alike.values():
        half = len(rows) // 2  # those next to each other are often about the same images
        for place, row in enumerate(rows):
            mine = set(questions[row].scenes)
            others = (questions[rows[(place + half + n) % len(rows)]].scenes for n in range(len(rows)))
            found[row] = replace(questions[row], scenes=_find_apart(mine, others))
    return found


def _find_apart(mine: AbstractSet[str], others: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The first that has nothing of mine, or else the first of those that have least."""
    seen: list[tuple[int, tuple[str, ...]]] = []
    for images in others:
        shared = len(mine & set(images))
        if not shared:
            return images
        seen.append((shared, images))
    return min(seen, key=lambda one: one[0])[1]


def read_word(word: str) -> Answer:
    """The answer that a network's word stands for: yes is true, 3 a number."""
    return int(word) if word.isdecimal() else TYPED.get(word, word)


def ask_network(
    stage: TrainStage, trained: TrainedFolder, seen: SplitData, supervision: Any, device: str
) -> ModelAnswers:
    """The answers of a network over answers; `supervision` is what its stage collects of the questions."""
    import torch

    config = stage.read_config(trained.config(stage.name))
    module = trained.load(stage.name, stage.build(config, {})).to(device).eval()
    data = replace(seen, supervision={**seen.supervision, stage.name: supervision})
    examples = stage.make_examples(data, config, device)
    batches = torch.split(torch.arange(len(examples)), stage.batch_to_measure(device) or BATCH)
    with torch.no_grad(), torch.autocast("cuda", torch.bfloat16, enabled=device != "cpu"):
        found = [stage.logits(module, examples.batch(rows)).argmax(-1).cpu().numpy() for rows in batches]
    words = [read_word(word) for word in config.answers]
    return ModelAnswers({"": tuple(words[k] for k in np.concatenate(found).tolist())})


@dataclass(frozen=True, slots=True)
class KeptResponses:
    """Responses are kept in a file batch by batch, so that asking can be paused: a parser may take its time."""

    path: Path
    deadline: float | None = None  # on the monotonic clock
    by: str = ""  # id of the weights that answer: those of others are not taken

    def predict(self, model: Model, name: str, prompts: Sequence[Prompt]) -> list[Response]:
        """The responses to all prompts; TrainingPaused where the time is over before."""
        size = int(getattr(model, "batch", BATCH))
        listed = [[p.question.id, p.question.text, list(p.question.scenes), bool(p.scene_text)] for p in prompts]
        asked = content_id([self.by, *listed])
        found = self._read(asked)
        while len(found) < len(prompts):
            if found and self.deadline is not None and time.monotonic() > self.deadline:
                raise TrainingPaused
            found += predict_checked(model, prompts[len(found) : len(found) + size], name)
            rows = [[r.answer, r.program, r.reason] for r in found]
            write_whole(self.path, json.dumps([asked, rows]).encode())
        return found

    def _read(self, asked: str) -> list[Response]:
        """What was kept of the same prompts; none of others."""
        if not self.path.is_file():
            return []
        kept, rows = json.loads(self.path.read_bytes())
        return [Response(answer=a, program=p, reason=r) for a, p, r in rows] if kept == asked else []


def ask_model(
    model: Model,
    name: str,
    questions: Sequence[Question],
    source: StudyData,
    split: str,
    *,
    folder: Path,
    deadline: float | None = None,
    by: str = "",
    programs: bool = False,
) -> ModelAnswers:
    """The answers of a model of the registry; one that writes programs is also given the true scenes.

    What was answered by the deadline is kept in the folder, for the weights of that id.
    """
    traits = get_traits(name)
    reads = getattr(model, "reads", None) or traits.reads or (() if traits.learns else EVERYTHING)
    pictures = source.find_pictures(split) if IMAGES in reads else {}
    scenes = {scene.id: scene for scene in source.list_scenes(split)}
    asked = [replace(q, answer=None, program=None, answers=()) for q in questions]
    shown = [Prompt(q, pictures=tuple(pictures[one] for one in q.scenes if pictures)) for q in asked]
    responses = KeptResponses(folder / "as_asked.json", deadline, by).predict(model, name, shown)
    said = {"": tuple(r.answer for r in responses)}
    if not programs:
        return ModelAnswers(said)
    told = [Prompt(q, scenes=tuple(scenes[one] for one in q.scenes), scene_text=TRUE_SCENES) for q in asked]
    true_scenes = KeptResponses(folder / f"{GT_EXEC}.json", deadline, by).predict(model, name, told)
    said[GT_EXEC] = tuple(r.answer for r in true_scenes)
    express = getattr(model, "express", lambda program: program)  # as its logical form says a program
    true = ["" if q.program is None else program_text(express(q.program)) for q in questions]
    exact = [compare_programs(a, r.program) == 1 for a, r in zip(true, responses, strict=True)]
    missing = [r.reason.startswith(REASON) for r in responses]
    return ModelAnswers(said, {EXACT: np.array(exact, np.bool_), MISSING: np.array(missing, np.bool_)})
