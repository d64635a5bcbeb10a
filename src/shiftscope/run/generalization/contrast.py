"""Contrast sets: a question's quantifier or one of its objects replaced, the answer found anew by execution.

After Zhu et al. (2022), section 4 and Tables 2 and 3. *Quantifiers*: questions over several images, with
other words of the same meaning (at least → no less than) or of the opposite one (at least → less than).
*Objects*: questions about one image, with another object's name such that the answer changes (after Bitton et
al., 2021). A variant's answer is what its program gives on its images; where that is not what the change
should make of the original's answer, the variant is dropped, and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...answer import Answer, spell
from ...errors import unknown
from ...graph.wordnet import WordNet
from ...lang.exec.exact import Undefined
from ...lang.program import Program
from ...question import Question
from ...result import Records
from ._frame import Exam, Findings, Line, Material, Plan, Taken, listed, told
from ._paired import original, paired
from ._quantifiers import CHANGES, Change
from ._shape import COUNT_GROUP_BY, VERIFY_QUANT, Shape, shape_of
from ._substitution import LEVEL as ANOTHER_OBJECT
from ._substitution import Substitution

APPLIES = (
    "it needs questions with programs and scenes, over several images with at least, no, some or all, or "
    "about one image with an object's name that can be replaced"
)
NAME = EXAM = "contrast"
SETS = ("quantifiers", "objects")
KEPT_NOTES = ("nodes", "size", "depth", "structure")  # true of the variant as well
NOT_ITS_ANSWER = "the program does not give the stored answer"
NO_QUANTIFIER = "no quantifier of the table"
UNSAID = "it has no quantifier, as in how many images contain a dog"
NOT_ONCE = "the quantifier's words do not stand in the text exactly once"
OVER_NOTHING = "the quantifier ranges over nothing"
DISAGREES = "execution does not give the answer that the change should"
UNPROGRAMMED = "no program"
OPPOSITE = {"yes": "no", "no": "yes"}
FIGURES = {  # of the metric → as the table calls them
    "contrast_accuracy": "accuracy",
    "original_accuracy": "original",
    "contrast_drop": "drop",
    "local_coherency": "local_coherency",
    "consistency": "consistency",
}


OVERALL = {k: v for k, v in FIGURES.items() if k != "local_coherency"}  # some answers change, others do not


@dataclass(frozen=True, slots=True)
class Options:
    """Which sets are made; `seed` draws the objects that stand in for others.

    `wordnet` is a folder of its files: with it, names that our own tables do not know can be told apart too.
    """

    sets: tuple[str, ...] = SETS
    seed: int = 0
    wordnet: str = ""

    def __post_init__(self) -> None:
        for name in self.sets:
            if name not in SETS:
                raise unknown("contrast set", name, SETS)

    def words(self) -> dict[str, Any]:
        """As options of the command line."""
        return {"set": list(self.sets), "draw": self.seed, "wordnet": self.wordnet}


def plan(data: Material, options: Options) -> Plan:
    """The questions that have variants, each followed by them."""
    if not data.is_dataset:
        return Plan(why_not=f"contrast does not apply to {data.folder}, an audit: {APPLIES}")
    asked: list[Question] = []
    why: Counter[str] = Counter()
    used = considered = 0
    if options.wordnet:
        WordNet(Path(options.wordnet))  # refused before anything is made
    objects = Substitution(data, options.seed, options.wordnet) if "objects" in options.sets else None
    for question in data.questions():
        if data.limit is not None and used >= data.limit:
            break
        considered += 1
        made = list(_variants(question, data, options, objects, why))
        if made:
            used += 1
            asked += [question, *made]
    left_out = listed(why)
    if not asked:
        sentence = f"contrast does not apply to {data.folder}: {APPLIES} ({told(left_out)})"
        return Plan((), considered, left_out, sentence)
    return Plan((Exam(EXAM, data.folder, tuple(asked)),), considered, left_out)


def _variants(
    question: Question, data: Material, options: Options, objects: Substitution | None, why: Counter[str]
) -> Iterator[Question]:
    """What can be made of a question; what can not is counted in `why`."""
    if question.program is None or question.answer is None:
        why[UNPROGRAMMED] += 1
        return
    shape = shape_of(question.program)
    changes = [c for c in CHANGES if shape is not None and c.applies(shape)]
    changes = changes if "quantifiers" in options.sets else []
    single = objects is not None and len(question.scenes) == 1 and not question.action
    if not changes and not single:
        why[NO_QUANTIFIER] += 1
        return
    if not data.holds(question):
        why[NOT_ITS_ANSWER] += 1
        return
    for change in changes:
        assert shape is not None
        made = requantified(question, change, shape, data)
        if isinstance(made, str):
            why[f"{change.kind}, {change.level}: {made}"] += 1
        else:
            yield made
    if single:
        assert objects is not None
        found = objects.changed(question)
        if isinstance(found, str):
            why[f"{ANOTHER_OBJECT}: {found}"] += 1
        else:
            text, program, answer = found
            yield _variant(question, "another_object", ANOTHER_OBJECT, text, program, answer)


def requantified(question: Question, change: Change, shape: Shape, data: Material) -> Question | str:
    """The question with its quantifier changed, or why that can not be."""
    assert question.program is not None
    text = change.text(question.text, shape)
    if text is None:
        return UNSAID if shape.kind == COUNT_GROUP_BY and shape.keep < 0 else NOT_ONCE
    if change.before == "all" and not data.answer(_upto(question.program, shape.counted), question.scenes):
        return OVER_NOTHING  # all of nothing are so, and none of it
    program = change.program(question.program)
    answer = data.answer(program, question.scenes)
    assert question.answer is not None
    told = spell(question.answer)
    expected = OPPOSITE.get(told) if change.alters else told
    if isinstance(answer, Undefined) or spell(answer) != expected:
        return DISAGREES
    return _variant(question, change.slug, change.level, text, program, answer)


def _upto(program: Program, k: int) -> Program:
    return Program(program.nodes[: k + 1])


def _variant(
    question: Question, slug: str, level: str, text: str, program: Program, answer: Answer
) -> Question:
    kept = tuple((key, value) for key, value in question.notes if key in KEPT_NOTES)
    return replace(
        question,
        id=f"{question.id}+{slug}",
        text=text,
        program=program,
        answer=_spelled(answer, question.answer),
        answers=(),
        notes=(*kept, ("twin", question.id), ("factor", NAME), ("level", level)),
    )


def _spelled(answer: Answer, like: Answer | None) -> Answer:
    """As the original's answer is: official files have True where others have yes."""
    if not isinstance(like, str):
        return answer
    if isinstance(answer, bool) and like.lower() in ("true", "false"):
        return str(answer).lower() if like.islower() else str(answer)
    return spell(answer)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: the variants of some levels in questions of one kind, or their originals."""

    kind: str
    change: str
    levels: tuple[str, ...]
    original: bool = False


def rows() -> tuple[Row, ...]:
    """The rows of the paper's Table 3 in its order, and the objects' at the end."""
    made: list[Row] = []
    for kind in dict.fromkeys(c.kind for c in CHANGES if c.kind != VERIFY_QUANT):
        levels = [c.level for c in CHANGES if c.kind == kind]
        made.append(Row(kind, "at least → at least", tuple(levels), original=True))
        made += [Row(kind, level, (level,)) for level in levels]
    made.append(Row(VERIFY_QUANT, "no → no, some → some", ("no ↔ some",), original=True))
    for level in dict.fromkeys(c.level for c in CHANGES if c.kind == VERIFY_QUANT):
        before = level.partition(" → ")[0]
        if before != level:
            made.append(Row(VERIFY_QUANT, f"{before} → {before}", (level,), original=True))
        made.append(Row(VERIFY_QUANT, level, (level,)))
    made.append(Row("one image", "as asked", (ANOTHER_OBJECT,), original=True))
    made.append(Row("one image", ANOTHER_OBJECT, (ANOTHER_OBJECT,)))
    return tuple(made)


def findings(plan: Plan, taken: Mapping[str, Taken], options: Options) -> Findings:
    """Accuracy on originals and variants, the paired drop, how often the answer stays; then over all."""
    run = taken[EXAM]
    questions = run.exam.questions or ()
    lines = [line for row in rows() if (line := _line(row, questions, run.log.records)) is not None]
    twins = {q.id: str(q.note("twin")) for q in questions if q.note("twin") is not None}
    of = (("template", "all"), ("change", "all of a question's variants"), ("answer", ""))
    lines.append(Line(of, paired(run.log.records, twins, OVERALL)))
    return Findings(tuple(lines))


def _line(row: Row, questions: Sequence[Question], records: Records) -> Line | None:
    """The figures of a row; None where no variant is of it."""
    kinds = {q.id: shape.kind for q in questions if (shape := shape_of(q.program)) and q.note("twin") is None}
    quantified = row.levels != (ANOTHER_OBJECT,)
    variants = [
        q
        for q in questions
        if q.note("level") in row.levels and (not quantified or kinds.get(q.note("twin")) == row.kind)
    ]
    if not variants:
        return None
    twins = {q.id: str(q.note("twin")) for q in variants}
    of = (("template", row.kind), ("change", row.change))
    if row.original:
        return Line((*of, ("answer", "")), (original(records, set(twins.values())),))
    flips = any(c.alters for c in CHANGES if c.level in row.levels) or not quantified
    return Line((*of, ("answer", "changed" if flips else "same")), paired(records, twins, FIGURES))
