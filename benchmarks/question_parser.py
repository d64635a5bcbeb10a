"""How well a trained question parser reads each level of redundancy, for questions about vehicles and about parts.

`python -m benchmarks.question_parser [FOLDER] [--device cuda] [--images 250]`; without a folder the shipped weights.
Programs are compared as written, and with the relations of a list in any order; answers are those of the parsed
program on the true scene.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from shiftscope.answer import is_same_answer
from shiftscope.lang.check import plan_program
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.execution_world import ExecutionWorld
from shiftscope.lang.program import Program
from shiftscope.models.nsvqa.neuro_symbolic import load_parsers
from shiftscope.models.nsvqa.trained_model import SHIPPED, read_trained_model
from shiftscope.question import Question
from shiftscope.scene import Scene
from shiftscope.suites.superclevr.suite import SHARE, SUITE, SuperclevrSpec

VARIANTS = ("default", "rd-", "rd", "rd+")


def main() -> None:
    """Print a row for each variant and kind of question."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", nargs="?", type=Path, default=SHIPPED / "superclevr")
    options.add_argument("--device", default="auto")
    options.add_argument("--images", type=int, default=250)
    given = options.parse_args()
    parsers = load_parsers(read_trained_model(given.folder), given.device)
    print("variant  about     questions   exact   alike  answers  longest  seconds")
    for variant in VARIANTS:
        scenes, questions = _ask(variant, given.images)
        start = time.perf_counter()
        programs = parsers.parse_questions([q.text for q in questions])
        seconds = time.perf_counter() - start
        for on_parts in (False, True):
            pairs = [
                (q, p)
                for q, p in zip(questions, programs, strict=True)
                if plan_program(_get_program(q)).on_parts == on_parts
            ]
            shares = _measure(pairs, scenes)
            longest = max(len(q.text.split()) for q, _ in pairs)
            row = f"{variant:<8} {'parts' if on_parts else 'vehicles':<9} {len(pairs):>9,}"
            print(f"{row} {' '.join(f'{share:>7.2%}' for share in shares)} {longest:>8} {seconds:>8.1f}", flush=True)


def _ask(variant: str, images: int) -> tuple[dict[str, ExecutionWorld], list[Question]]:
    spec = SuperclevrSpec.from_variant(variant, images=SHARE * images)
    plans = [SUITE.sample(spec, "test", k) for k in range(spec.jobs()["test"])]
    scenes: list[Scene] = [scene for plan in plans for scene in plan.scenes]
    return {s.id: ExecutionWorld((s,)) for s in scenes}, [q for plan in plans for q in plan.questions]


def _get_program(question: Question) -> Program:
    assert question.program is not None
    return question.program


def _measure(pairs: Sequence[tuple[Question, Program]], scenes: dict[str, ExecutionWorld]) -> list[float]:
    exact = alike = right = 0
    for question, program in pairs:
        true = _get_program(question)
        exact += program.canonicalize() == true.canonicalize()
        alike += _normalize(program) == _normalize(true)
        run = execute(program, scenes[question.scenes[0]])
        assert question.answer is not None
        right += run.is_defined and is_same_answer(run.answer, question.answer)
    return [count / len(pairs) for count in (exact, alike, right)]


def _normalize(program: Program) -> object:
    """The program as a tree in which the order of what is intersected does not matter."""
    found: list[tuple[object, ...]] = []
    for n in program.nodes:
        inputs = [found[i] for i in n.inputs]
        if n.op == "intersect":
            parts = {part for one in inputs for part in (one[1:] if one[0] == "intersect" else (one,))}
            found.append(("intersect", *sorted(parts, key=repr)))
        else:
            found.append((n.op, n.params, *inputs))
    return found[-1]


if __name__ == "__main__":
    main()
