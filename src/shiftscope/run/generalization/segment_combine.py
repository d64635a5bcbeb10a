"""Segment-combine: each image of a question asked about among irrelevant ones, the replies put together.

After Zhu et al. (2022), section 4: for a question about n images, the same words are asked n times. The k-th
time image k keeps its place and the other places hold images that have nothing of what is counted, so that
the sum of the n answers (*how many images …*) or their disjunction (*there is at least 1 image …*) is the
answer to the question itself. A model that looks at images one by one loses nothing; one that has learned
that many irrelevant images mean "no" does.

That it holds is checked by execution for every question: what its parts' answers combine to must be its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...answer import Answer, same_answer, spell
from ...lang.exec.exact import Undefined
from ...lang.program import Program
from ...question import Question
from ...result import Asked, Prediction
from ...rng import derive
from ...store.runlog import RunWriter, read_rows
from ._frame import Exam, Findings, Line, Material, Plan, Taken, listed, told
from ._paired import paired
from ._shape import COUNT_GROUP_BY, VERIFY_COUNT_GROUP_BY, Shape, shape_of

APPLIES = (
    "it needs questions about several images that count images (how many images …) or ask whether there is "
    "at least 1 (there is at least 1 image …), with programs and scenes"
)
NAME = "segment_combine"
EXAM, COMBINED = "segments", "combined"
PART = "+image"  # what the id of a question about image k ends in
WHOLE = "+combined"
OTHER = "neither a count of images nor whether there is at least 1"
NOT_ONE = "verify_count_group_by with another condition than at least 1"
AT_MOST = "of images with at most so many, as an irrelevant image with none of it would be"
ONE_IMAGE = "about one image, which is no segment"
NO_FILLERS = "too few irrelevant images in the split"
NOT_ITS_ANSWER = "the program does not give the stored answer"
NOT_COMBINED = "the segments' answers do not combine to the answer"
FIGURES = {  # of the metric → as the table calls them
    "original_accuracy": "original",
    "contrast_accuracy": "combined",
    "contrast_drop": "drop",
    "local_coherency": "same_answer",
}


@dataclass(frozen=True, slots=True)
class Options:
    """`seed` draws the irrelevant images."""

    seed: int = 0

    def words(self) -> dict[str, Any]:
        """As options of the command line."""
        return {"draw": self.seed}


def combined(kind: str, replies: Sequence[Answer]) -> Answer | None:
    """Whether any is true, or the sum of the numbers; None where a reply is not of that type."""
    if kind == VERIFY_COUNT_GROUP_BY:
        return any(replies) if all(isinstance(r, bool) for r in replies) else None
    numbers = [r for r in replies if isinstance(r, int) and not isinstance(r, bool)]
    return sum(numbers) if len(numbers) == len(replies) else None


def plan(data: Material, options: Options) -> Plan:
    """The questions that apply, each followed by its segments."""
    if not data.is_dataset:
        return Plan(why_not=f"segment-combine does not apply to {data.folder}, an audit: {APPLIES}")
    asked: list[Question] = []
    why: Counter[str] = Counter()
    used = considered = 0
    fillers = _Fillers(data, options.seed)
    for question in data.questions():
        if data.limit is not None and used >= data.limit:
            break
        considered += 1
        reason = _unfit(question)
        made = () if reason else _segments(question, data, fillers)
        if reason or isinstance(made, str):
            why[reason or str(made)] += 1
            continue
        used += 1
        asked += [question, *made]
    left_out = listed(why)
    if not asked:
        return Plan(
            (),
            considered,
            left_out,
            f"segment-combine does not apply to {data.folder}: {APPLIES} ({told(left_out)})",
        )
    return Plan((Exam(EXAM, data.folder, tuple(asked), variant="segment-combine"),), considered, left_out)


def _unfit(question: Question) -> str:
    """Why a question has no segments, or nothing."""
    shape = shape_of(question.program)
    if shape is None or shape.kind not in (COUNT_GROUP_BY, VERIFY_COUNT_GROUP_BY):
        return OTHER
    if shape.kind == VERIFY_COUNT_GROUP_BY and not _at_least_one(shape):
        return NOT_ONE
    kept = question.program.nodes[shape.keep].params if question.program and shape.keep >= 0 else ()
    if kept and (kept[0] in ("at_most", "less") or kept[1] == "0"):
        return AT_MOST
    return ONE_IMAGE if len(question.scenes) < 2 else ""


def _at_least_one(shape: Shape) -> bool:
    return (shape.test, shape.number) in (("at_least", 1), ("greater", 0))


def _segments(question: Question, data: Material, fillers: _Fillers) -> tuple[Question, ...] | str:
    """The question asked for each image by itself, or why that can not be."""
    program, shape = question.program, shape_of(question.program)
    assert program is not None and shape is not None
    if question.answer is None or not data.holds(question):
        return NOT_ITS_ANSWER
    made = []
    for k, image in enumerate(question.scenes):
        others = fillers.draw(question, program, k)
        if others is None:
            return NO_FILLERS
        names = (*others[:k], image, *others[k:])
        answer = data.answer(program, names)
        if isinstance(answer, Undefined):
            return NOT_COMBINED
        notes = (("part of", question.id), ("factor", NAME), ("level", "segment"))
        made.append(
            replace(
                question,
                id=f"{question.id}{PART}{k + 1}",
                scenes=names,
                answer=answer,
                answers=(),
                notes=notes,
            )
        )
    whole = combined(shape.kind, [q.answer for q in made if q.answer is not None])
    if whole is None or not same_answer(whole, question.answer):
        return NOT_COMBINED
    return tuple(made)


class _Fillers:
    """Images of the split that hold nothing of what a question counts, drawn by chance."""

    def __init__(self, data: Material, seed: int) -> None:
        self._data, self._seed = data, seed

    def draw(self, question: Question, program: Program, k: int) -> tuple[str, ...] | None:
        """As many as the question has other images; None where the split does not have them."""
        images = self._data.images
        wanted = len(question.scenes) - 1
        order = derive(NAME, self._seed, question.id, k).permutation(len(images))
        found: list[str] = []
        shape = shape_of(program)
        assert shape is not None
        objects = Program(program.nodes[: shape.counted + 1])
        for at in order.tolist():
            if len(found) == wanted:
                break
            name = images[at]
            if name not in question.scenes and not self._data.answer(objects, (name,)):
                found.append(name)
        return tuple(found) if len(found) == wanted else None


def findings(plan: Plan, taken: Mapping[str, Taken], options: Options) -> Findings:
    """The question itself beside its segments put together, for each kind of question and for all."""
    run = taken[EXAM]
    questions = run.exam.questions or ()
    folder = run.folder.parent / COMBINED
    kind_of = {q.id: shape.kind for q in questions if (shape := shape_of(q.program))}
    rows = _with_combined(questions, list(read_rows(run.folder)), kind_of)
    spec = {**dict(run.log.spec), "variant": "segment-combine, combined"}
    with RunWriter(folder, spec, questions=2 * sum(_is_whole(q) for q in questions)) as writer:
        writer.add([(a, p) for a, p in rows if (p.question, p.condition) not in writer.done])
        log = writer.finish([a.question for a, _ in rows])
    twins = {f"{q.id}{WHOLE}": q.id for q in questions if _is_whole(q)}
    kinds = (COUNT_GROUP_BY, VERIFY_COUNT_GROUP_BY)
    parts = {kind: {k: v for k, v in twins.items() if kind_of[v] == kind} for kind in kinds}
    rows_of = {kind: of for kind, of in parts.items() if of}
    rows_of |= {"both": twins} if len(rows_of) > 1 else {}
    lines = [Line((("template", name),), paired(log.records, of, FIGURES)) for name, of in rows_of.items()]
    return Findings(tuple(lines), (folder,))


def _is_whole(question: Question) -> bool:
    return question.note("part of") is None


def _with_combined(
    questions: Sequence[Question], rows: Sequence[tuple[Asked, Prediction]], kinds: Mapping[str, str]
) -> list[tuple[Asked, Prediction]]:
    """Each question's own row, followed by that of its segments put together where all have one."""
    by_id = {asked.question: (asked, said) for asked, said in rows}
    parts: dict[str, list[str]] = {q.id: [] for q in questions if _is_whole(q)}
    for question in questions:
        if not _is_whole(question):
            parts[question.note("part of")].append(question.id)
    made = []
    for name, segments in parts.items():
        if name in by_id:
            asked, said = by_id[name]
            made.append((asked, said))
            if all(segment in by_id for segment in segments):
                made.append(_put_together(asked, kinds[name], [by_id[segment][1] for segment in segments]))
    return made


def _put_together(asked: Asked, kind: str, said: Sequence[Prediction]) -> tuple[Asked, Prediction]:
    """One row for all segments; a segment without an answer leaves the whole without one."""
    name = f"{asked.question}{WHOLE}"
    facts = {**dict(asked.facts), "factor": NAME, "level": COMBINED}
    answers = [p.answer for p in said if p.answer is not None]
    bad = next((p for p in said if p.status == "failed"), None)
    bad = bad or next((p for p in said if p.answer is None), None)
    answer = combined(kind, answers) if bad is None else None
    status, reason = "answered", ""
    if answer is None:
        status = bad.status if bad else "unreadable"
        reason = bad.reason if bad else "a reply is of another type than the question asks for"
    prediction = Prediction(
        question=name,
        answer=answer,
        raw=" | ".join(p.raw or ("" if p.answer is None else spell(p.answer)) for p in said),
        status=status,
        reason=reason,
        seconds=_sum(p.seconds for p in said),
        cost=_sum(p.cost for p in said),
    )
    return replace(asked, question=name, facts=tuple(facts.items()), twin=asked.question), prediction


def _sum(values: Iterable[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return sum(known) if known else None
