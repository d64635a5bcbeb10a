"""Planted weaknesses: is each found out? `python -m benchmarks.planted [--seeds 20] [--budget 2000] [WEAKNESS …]`.

A model with a planted weakness is the oracle, with a few errors by chance, made to fail in one place. It fails in one
stage: one that does not see answers right once the scene is told, one that does not read once the program is told, one
that does not reason never. Each is diagnosed on private sets of several seeds, by `shiftscope diagnose` as a user
would call it, and is found out if the verdict names its factor first, or the slice where it is no factor, and its
stage.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from shiftscope.answer import Answer
from shiftscope.model import EVERYTHING, Prompt, Response
from shiftscope.models.oracle import Oracle
from shiftscope.rng import derive

ERRORS = 0.03  # of the answers elsewhere
SEEING, READING, REASONING = "seeing", "reading the question", "reasoning"


class PlantedWeakness:
    """The oracle, but for one weakness; subclasses say where it is."""

    reads = EVERYTHING
    stage: ClassVar[str]
    factor: ClassVar[str] = ""  # that the verdict must name first
    slice: ClassVar[tuple[str, ...]] = ()  # else words of which the first slice must have one

    def __init__(self) -> None:
        self._oracle = Oracle()

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        return [self._spoil(prompt, one) for prompt, one in zip(batch, self._oracle.predict(batch), strict=True)]

    def _spoil(self, prompt: Prompt, response: Response) -> Response:
        if response.answer is None:
            return response
        mended = {SEEING: prompt.scene_text, READING: prompt.program_text}.get(self.stage)
        unlucky = derive("planted", prompt.question.id, prompt.condition).random() < ERRORS
        if unlucky or (not mended and self.fails(prompt, response.answer)):
            return Response(answer=_miss(response.answer))
        return response

    def fails(self, prompt: Prompt, answer: Answer) -> bool:
        raise NotImplementedError


def _miss(answer: Answer) -> Answer:
    """A wrong answer of the same kind."""
    if isinstance(answer, bool):
        return not answer
    if isinstance(answer, int):
        return answer + 1
    return "rubber" if answer == "metal" else "metal" if answer == "rubber" else "nothing"


class FailsOnRubber(PlantedWeakness):
    """Takes rubber for metal, wherever the question turns on it."""

    stage, slice = SEEING, ("rubber",)

    def fails(self, prompt: Prompt, answer: Answer) -> bool:
        program = prompt.question.program
        return answer == "rubber" or any("rubber" in node.params for node in (program.nodes if program else ()))


class FailsOnLargeCounts(PlantedWeakness):
    """Cannot count beyond three."""

    stage, slice = REASONING, ("true answer", "answer")

    def fails(self, prompt: Prompt, answer: Answer) -> bool:
        return isinstance(answer, int) and not isinstance(answer, bool) and answer > 3


class FailsOnLongQuestions(PlantedWeakness):
    """Does not read questions of more than 20 words."""

    stage, factor, slice = READING, "redundancy", ("words", "length")

    def fails(self, prompt: Prompt, answer: Answer) -> bool:
        return len(prompt.question.text.split()) > 20


class FailsOnTextures(PlantedWeakness):
    """Sees nothing right where there are textures."""

    stage, factor = SEEING, "visual complexity"

    def fails(self, prompt: Prompt, answer: Answer) -> bool:
        return any(o.texture or any(p.texture for p in o.parts) for s in prompt.scenes for o in s.objects)


WEAKNESSES = (FailsOnRubber, FailsOnLargeCounts, FailsOnLongQuestions, FailsOnTextures)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[one.__name__ for one in WEAKNESSES])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--budget", type=int, default=2000)
    parser.add_argument("--out", type=Path, default=Path("out/planted"))
    given = parser.parse_args(argv)
    for kind in WEAKNESSES:
        if kind.__name__ in given.names:
            results = [judge(kind, seed, given.budget, given.out) for seed in range(1, given.seeds + 1)]
            found, staged = (sum(one[k] for one in results) for k in (0, 1))
            print(
                f"{kind.__name__}: named first in {found} of {given.seeds} seeds, stage right in {staged}", flush=True
            )


def judge(kind: type[PlantedWeakness], seed: int, budget: int, out: Path) -> tuple[bool, bool]:
    """Whether a diagnosis names the weakness first, and its stage."""
    folder = out / f"{kind.__name__}-{budget}-{seed}"
    words = [f"{__spec__.name if __spec__ else __name__}:{kind.__name__}", "--budget", budget, "--seed", seed]
    command = [sys.executable, "-m", "shiftscope", "diagnose", *map(str, [*words, "--out", folder, "--json"])]
    shown = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ}).stdout
    (verdict,) = json.loads(shown)["verdicts"]
    named, staged = find_out(kind, verdict)
    if not (named and staged):
        print(f"  seed {seed}: {' '.join(verdict['text'])}", flush=True)
    return named, staged


def find_out(kind: type[PlantedWeakness], verdict: dict[str, Any]) -> tuple[bool, bool]:
    """Whether a verdict, as JSON, names the weakness first, and whether it names its stage."""
    first = verdict["factors"][0] if verdict["factors"] else {}
    surely = bool(first) and first["drop"] > 0 and (first["p_holm"] or 1) < 0.05
    slices = [one["words"].lower() for one in verdict["slices"]]
    named = bool(kind.factor) and surely and kind.factor in first["factor"].lower()
    named = named or any(word in slices[0] for word in kind.slice if slices)
    stages = (verdict["stages"] or {}).get("stages") or [{"stage": ""}]
    return named, stages[0]["stage"] == kind.stage


if __name__ == "__main__":
    main()
