"""Neuro-symbolic models: a scene parser sees, a question parser reads, and an executor of programs answers.

Under a condition that shows the scene in words its parser is spared: the scene is taken as it is. Under one
that gives the program, the question is not read. What is left is the model's own.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import UserError
from ..lang.beliefs import Beliefs, certain
from ..lang.program import Program, ProgramError
from ..lang.text import show
from ..scene import Scene
from ..scenetable import SceneTable, pack
from ._model import Prompt, Reply, Setting
from ._picture import decoded, fitted
from ._weights import NAME, QUESTIONS, SAID, SCENE, Trained, trained_named

KEPT = 512  # images whose beliefs are remembered: questions about one come one after the other
SEEN = 32  # images looked at together on a processor
SEEN_GPU = 256
THREADS = 4  # that decode images
NEEDS = "needs torch and transformers: pip install 'shiftscope[models]'"

# Answers to programs about scenes, the scene of each by its row: about believed ones, or about known ones.
Execute = Callable[[Sequence[Program], Beliefs, Sequence[int]], list[Reply]]
ExecuteKnown = Callable[[Sequence[Program], SceneTable, Sequence[int]], list[Reply]]
Attuning = Callable[[], Iterable[tuple[str, bytes]]]  # names of images, and their PNG
Held = tuple[Beliefs | SceneTable, int]  # what holds a scene, and its row there


@dataclass(frozen=True, slots=True, eq=False)
class Parsers:
    """The two parsers of a trained model, on a device."""

    trained: Trained
    device: str
    scene: Any  # the scene parser's module
    questions: Any

    def see(self, images: Any) -> Beliefs:
        """What is believed of images, a tensor [image, height, width, 3] of uint8 on any device."""
        from ._scene_parser import parse

        with self._precision():
            return parse(self.scene, images.to(self.device))

    def attuned(self, images: Any) -> Parsers:
        """The same, with a scene parser that is used to these images."""
        from ._scene_parser import attuned

        with self._precision():
            used = attuned(self.scene, images.to(self.device), self.trained.calibration)
        return replace(self, scene=used.module)

    def _precision(self) -> Any:
        import torch

        return torch.autocast("cuda", torch.bfloat16, enabled=self.device.startswith("cuda"))

    def read(self, texts: Sequence[str]) -> list[Program]:
        """The program of each question; equal texts are read once."""
        from ._question_parser import parse

        different = list(dict.fromkeys(texts))
        found = dict(zip(different, parse(self.questions, different), strict=True))
        return [found[text] for text in texts]


class NeuroSymbolic:
    """Sees, reads and executes, in batches. Without `execute_known` a known scene is believed wholly.

    `attuning` gives the images that the scene parser is to get used to before it looks at the first.
    """

    def __init__(
        self,
        parsers: Parsers,
        execute: Execute,
        execute_known: ExecuteKnown | None = None,
        attuning: Attuning | None = None,
    ) -> None:
        gpu = parsers.device.startswith("cuda")
        self.parsers, self._execute, self._execute_known = parsers, execute, execute_known
        self._attuning = attuning
        self.batch = 4096 if gpu else 256  # prompts at once
        self._together = SEEN_GPU if gpu else SEEN
        self._seen: OrderedDict[bytes, tuple[Beliefs, int]] = OrderedDict()

    def identity(self, before: Mapping[str, Any]) -> dict[str, Any]:
        return {"model_id": {NAME: self.parsers.trained.content()}}

    def ready(self, batch: Sequence[Prompt]) -> None:
        """Attune the scene parser, where an image is to be looked at and it was not done yet."""
        if self._attuning is None or not any(p.images and not p.scene_text for p in batch):
            return
        before = dict(self._attuning())
        if before:
            try:
                pixels = self._pixels(list(before.values()), list(before))
            except UserError as error:
                raise UserError(f"{error}; the first images of the split are looked at beforehand") from None
            self.parsers = self.parsers.attuned(pixels)
        self._attuning = None

    def predict(self, batch: Sequence[Prompt]) -> list[Reply]:
        self.ready(batch)
        made: dict[int, Reply] = {}
        asked: list[int] = []
        for k, prompt in enumerate(batch):
            why = _unfit(prompt)
            if why:
                made[k] = Reply(status="undefined", reason=why)
            else:
                asked.append(k)
        programs = dict(zip(asked, self._programs([batch[k] for k in asked]), strict=True))
        places = dict(zip(asked, self._places([batch[k] for k in asked]), strict=True))
        groups: dict[int, list[int]] = {}
        for k in asked:
            groups.setdefault(id(places[k][0]), []).append(k)
        for group in groups.values():
            scenes, rows = places[group[0]][0], [places[k][1] for k in group]
            said = self._run([programs[k] for k in group], scenes, rows)
            made |= {
                k: replace(reply, program=show(programs[k])) for k, reply in zip(group, said, strict=True)
            }
        return [made[k] for k in range(len(batch))]

    def _programs(self, prompts: Sequence[Prompt]) -> list[Program]:
        told = [p.question.program if p.program_text else None for p in prompts]
        unread = [k for k, program in enumerate(told) if program is None]
        read = dict(zip(unread, self.parsers.read([prompts[k].question.text for k in unread]), strict=True))
        return [program if program is not None else read[k] for k, program in enumerate(told)]

    def _places(self, prompts: Sequence[Prompt]) -> list[Held]:
        names: dict[bytes, str] = {}
        for p in prompts:
            if not p.scene_text:
                names.setdefault(p.images[0], _shown(p))
        new = [png for png in names if png not in self._seen]
        for start in range(0, len(new), self._together):
            some = new[start : start + self._together]
            beliefs = self._looked(some, [names[png] for png in some])
            for row, png in enumerate(some):
                self._seen[png] = beliefs, row
        scenes = list({id(p.scenes[0]): p.scenes[0] for p in prompts if p.scene_text}.values())
        known = self._known(scenes)
        row_of = {id(scene): row for row, scene in enumerate(scenes)}
        found: list[Held] = []
        for p in prompts:
            if p.scene_text:
                assert known is not None
                found.append((known, row_of[id(p.scenes[0])]))
            else:
                self._seen.move_to_end(p.images[0])
                found.append(self._seen[p.images[0]])
        while len(self._seen) > KEPT:
            self._seen.popitem(last=False)
        return found

    def _looked(self, pngs: Sequence[bytes], names: Sequence[str]) -> Beliefs:
        return self.parsers.see(self._pixels(pngs, names))

    def _pixels(self, pngs: Sequence[bytes], names: Sequence[str]) -> Any:
        import torch

        size = self.parsers.trained.size
        with ThreadPoolExecutor(THREADS) as threads:
            arrays = list(threads.map(lambda png, name: fitted(decoded(png, name), size), pngs, names))
        return torch.from_numpy(np.stack(arrays))

    def _known(self, scenes: Sequence[Scene]) -> Beliefs | SceneTable | None:
        if not scenes:
            return None
        return pack(scenes) if self._execute_known else certain(pack(scenes))

    def _run(
        self, programs: Sequence[Program], scenes: Beliefs | SceneTable, rows: Sequence[int]
    ) -> list[Reply]:
        """Together; where one of the programs is not covered, each by itself."""
        try:
            if isinstance(scenes, Beliefs):
                return self._execute(programs, scenes, rows)
            assert self._execute_known is not None
            return self._execute_known(programs, scenes, rows)
        except ProgramError as error:
            if len(programs) == 1:
                return [Reply(status="undefined", reason=str(error))]
        pairs = zip(programs, rows, strict=True)
        return [self._run([program], scenes, [row])[0] for program, row in pairs]


def _unfit(prompt: Prompt) -> str:
    """Why a prompt can not be answered; nothing where it can."""
    if prompt.question.action:
        return "an action is told, and this model sees only what is shown"
    if prompt.scene_text:
        if len(prompt.scenes) != 1:
            return f"{len(prompt.scenes)} scenes; this model looks at one"
        return "" if all(o.box for o in prompt.scenes[0].objects) else "the scene has no boxes"
    if len(prompt.images) != 1:
        return f"{len(prompt.images)} images; this model looks at one" if prompt.images else "no image"
    return ""


def _shown(prompt: Prompt) -> str:
    """What its image is called."""
    return prompt.question.scenes[0] if prompt.question.scenes else f"of question {prompt.question.id}"


def answered(answer: Any, belief: float | None) -> Reply:
    """A reply with how far it is believed; a belief that is no number is none."""
    sure = None if belief is None or math.isnan(belief) else min(1.0, max(0.0, float(belief)))
    return Reply(answer=answer, belief=sure)


def load(model: str, target: str, setting: Setting) -> Parsers:
    """The parsers of the weights that a model string names, on the device that is asked for or the best."""
    trained = trained_named(model, target, setting.schema)
    return load_parsers(trained, setting.options.device)


def load_parsers(trained: Trained, device: str = "auto") -> Parsers:
    try:
        import torch
        import transformers  # noqa: F401
    except ImportError as error:
        raise UserError(f"{trained.folder} {NEEDS} ({error})") from None
    from . import _question_parser, _scene_parser

    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise UserError("torch finds no GPU here; use --device cpu")
    made = []
    for part, parser in ((SCENE, _scene_parser), (QUESTIONS, _question_parser)):
        settings = trained.config(part)
        try:
            built = parser.build(parser.Config.from_json(settings))
        except Exception as error:  # whatever a network says of sizes that can not be
            why = f"{type(error).__name__}: {' '.join(str(error).split())[:SAID]}"
            raise UserError(
                f"{trained.folder}: the config of its {part} is damaged ({why}); {trained.remedy}"
            ) from None
        module = trained.load(part, built).to(device)
        made.append(module.to(memory_format=torch.channels_last) if part == SCENE else module)
    return Parsers(trained, device, *made)
