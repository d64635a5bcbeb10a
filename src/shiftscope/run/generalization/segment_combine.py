"""Segment-combine: each image of a question among irrelevant ones, the answers combined.

After Zhu et al. (2022), section 4: for a question about n images, the same words are asked n times. The k-th
time image k keeps its place and the other places hold images that have nothing of what is counted, so that
the sum of the n answers (*how many images …*) or their disjunction (*there is at least 1 image …*) is the
answer to the question itself. A model that looks at images one by one loses nothing; one that has learned
that many irrelevant images mean "no" does.

Ours besides, in a row of its own: *there is exactly 1 image …*, which is so where one answer alone is yes. For images
with *at most* 2 of something, of which those without any could be counted too, irrelevant are those with more.

That it holds is checked by execution for every question: what its parts' answers combine to must be its own.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ...answer import Answer, is_same_answer, spell
from ...lang.exec.exact import Undefined
from ...lang.program import Program
from ...question import Question
from ...result import Prediction, QuestionRecord
from ...rng import derive
from ...shift.held_out.facts import COUNT_GROUP_BY, VERIFY_COUNT_GROUP_BY, QuestionShape, find_shape, truncate_program
from ...store.run_log import RunWriter, read_rows
from .. import generalization as frame

APPLIES = (
    "it needs questions about several images that count images (how many images …) or ask whether there is "
    "at least or exactly 1 (there is at least 1 image …), with programs and scenes"
)
Row = tuple[QuestionRecord, Prediction]
NAME, TITLE = "segment_combine", "segment-combine"
SEGMENTS, COMBINED = "segments", "combined"
PART = "+image"  # what the id of a question about image k ends in
WHOLE = "+combined"
EXACTLY_ONE = f"{VERIFY_COUNT_GROUP_BY}, exactly 1"  # the row of questions that the paper does not have
KINDS = {"sum": COUNT_GROUP_BY, "or": VERIFY_COUNT_GROUP_BY, "one": EXACTLY_ONE}  # fusion → row of the table
FUSIONS: dict[tuple[str, int | None], str] = {  # of whether there are so many images
    ("at_least", 1): "or",
    ("greater", 0): "or",
    ("equal", 1): "one",
}
OTHER = "neither a count of images nor whether there are so many"
NOT_ONE = "verify_count_group_by with another condition than at least or exactly 1"
NONE_OF_IT = "of images with none of it, as an irrelevant image would be"
ONE_IMAGE = "about one image, which is no segment"
UPPER = ("at_most", "less")
NO_FILLERS = "too few irrelevant images in the split"
NOT_COMBINED = "the segments' answers do not combine to the answer"
FIGURES = {  # of the metric → as the table calls them
    "original_accuracy": "original",
    "contrast_accuracy": "combined",
    "contrast_drop": "drop",
    "local_coherency": "same_answer",
}


@dataclass(frozen=True, slots=True)
class SegmentCombineOptions(frame.GeneralizationOptions):
    """`seed` draws the irrelevant images."""

    seed: int = frame.draw_option()


def find_fusion(shape: QuestionShape | None) -> str:
    """How the answers of segments are put together: sum, or, one (alone is true); nothing where they cannot be."""
    if shape is None or shape.kind not in (COUNT_GROUP_BY, VERIFY_COUNT_GROUP_BY):
        return ""
    return "sum" if shape.kind == COUNT_GROUP_BY else FUSIONS.get((shape.test, shape.number), "")


def combine_answers(fusion: str, answers: Sequence[Answer]) -> Answer | None:
    """Whether any is true, or one alone, or the sum of the numbers; None where an answer is not of that type."""
    if fusion != "sum":
        if not all(isinstance(a, bool) for a in answers):
            return None
        return any(answers) if fusion == "or" else answers.count(True) == 1
    numbers = [a for a in answers if isinstance(a, int) and not isinstance(a, bool)]
    return sum(numbers) if len(numbers) == len(answers) else None


def plan(data: frame.SourceSplit, options: SegmentCombineOptions) -> frame.GeneralizationPlan:
    """The questions that apply, each followed by its segments."""

    def build(question: Question, why: Counter[str]) -> list[Question]:
        segments = _explain_exclusion(question) or _build_segments(question, data, options.seed)
        if isinstance(segments, str):
            why[segments] += 1
            return []
        return [question, *segments]

    questions, plan = frame.collect_questions(TITLE, APPLIES, data, build)
    test_set = frame.GeneralizationTestSet(SEGMENTS, data.folder, tuple(questions), variant=TITLE)
    return replace(plan, test_sets=(test_set,)) if questions else plan


def _explain_exclusion(question: Question) -> str:
    """Why a question has no segments, or nothing."""
    shape = find_shape(question.program)
    if shape is None or shape.kind not in (COUNT_GROUP_BY, VERIFY_COUNT_GROUP_BY):
        return OTHER
    if not find_fusion(shape):
        return NOT_ONE
    if _find_condition(question.program, shape)[1] == 0:
        return NONE_OF_IT
    return ONE_IMAGE if len(question.scenes) < 2 else ""


def _build_segments(question: Question, data: frame.SourceSplit, seed: int) -> list[Question] | str:
    """The question asked for each image by itself, or why that cannot be."""
    program, shape = question.program, find_shape(question.program)
    assert program is not None and shape is not None
    if question.answer is None or not data.is_answer_right(question):
        return frame.WRONG_ANSWER
    counted = truncate_program(program, shape.counted)
    test, number = _find_condition(program, shape)
    most = number if test == "at_most" else number - 1

    def is_irrelevant(name: str) -> bool:
        """Whether nobody would count the image: it has nothing of it, or where few are asked for, more."""
        many = data.answer(counted, (name,)).bit_count()  # objects are a bit mask
        return many > most if test in UPPER else not many

    segments = []
    for k, image in enumerate(question.scenes):
        # Images of the split that hold nothing of what is counted, as many as the question has others.
        order = derive(NAME, seed, question.id, k).permutation(len(data.images)).tolist()
        shuffled = (data.images[at] for at in order if data.images[at] not in question.scenes)
        irrelevant = filter(is_irrelevant, shuffled)
        others = tuple(islice(irrelevant, len(question.scenes) - 1))
        if len(others) < len(question.scenes) - 1:
            return NO_FILLERS
        names = (*others[:k], image, *others[k:])
        answer = data.answer(program, names)
        if isinstance(answer, Undefined):
            return NOT_COMBINED
        notes = (("part of", question.id), ("factor", NAME), ("level", "segment"))
        name = f"{question.id}{PART}{k + 1}"
        segments.append(replace(question, id=name, scenes=names, answer=answer, answers=(), notes=notes))
    whole = combine_answers(find_fusion(shape), [q.answer for q in segments if q.answer is not None])
    if whole is None or not is_same_answer(whole, question.answer):
        return NOT_COMBINED
    return segments


def _find_condition(program: Program | None, shape: QuestionShape) -> tuple[str, int]:
    """How many of what is counted an image must hold."""
    if program is None or shape.keep < 0:
        return "at_least", 1
    test, number = program.nodes[shape.keep].params
    return test, int(number)


def findings(plan: frame.GeneralizationPlan, runs: frame.TestRuns, options: SegmentCombineOptions) -> frame.Findings:
    """The question itself beside its segments put together, for each kind of question and for all."""
    run = runs[SEGMENTS]
    questions = run.test_set.questions or ()
    folder = run.folder.parent / COMBINED
    fusions = {q.id: find_fusion(find_shape(q.program)) for q in questions}
    rows = _add_combined(questions, list(read_rows(run.folder)), fusions)
    spec = {**dict(run.log.spec), "variant": f"{TITLE}, combined"}
    with RunWriter(folder, spec, questions=2 * sum(_is_whole(q) for q in questions)) as writer:
        writer.add([(a, p) for a, p in rows if (p.question, p.condition) not in writer.done])
        log = writer.finish([a.question for a, _ in rows])
    twins = {f"{q.id}{WHOLE}": q.id for q in questions if _is_whole(q)}
    parts = {kind: {k: v for k, v in twins.items() if fusions[v] == fusion} for fusion, kind in KINDS.items()}
    parts = {kind: of for kind, of in parts.items() if of}
    parts |= {"all": twins} if len(parts) > 1 else {}
    lines = (
        frame.FindingsRow((("template", name),), frame.measure_pairs(log.records, of, FIGURES))
        for name, of in parts.items()
    )
    return frame.Findings(tuple(lines), (folder,))


def pair_questions(questions: Sequence[Question]) -> list[frame.PairedQuestion]:
    """Every question with its segments, by the row of the table that it counts in."""
    segments: dict[str, list[Question]] = {q.id: [] for q in questions if _is_whole(q)}
    for question in questions:
        if not _is_whole(question):
            segments[str(question.note("part of"))].append(question)
    pairs = []
    for question in filter(_is_whole, questions):
        fusion = find_fusion(find_shape(question.program))
        pairs.append(frame.PairedQuestion(question, tuple(segments[question.id]), (KINDS[fusion],), fusion))
    return pairs


def _is_whole(question: Question) -> bool:
    return question.note("part of") is None


def _add_combined(questions: Sequence[Question], rows: Sequence[Row], fusions: Mapping[str, str]) -> list[Row]:
    """Each question's own row, followed by that of its segments put together where all have one."""
    by_id = {record.question: (record, prediction) for record, prediction in rows}
    parts: dict[str, list[str]] = {q.id: [] for q in questions if _is_whole(q)}
    for question in questions:
        if not _is_whole(question):
            parts[question.note("part of")].append(question.id)
    combined = []
    for name, segments in parts.items():
        if name in by_id:
            combined.append(by_id[name])
            if all(segment in by_id for segment in segments):
                predictions = [by_id[segment][1] for segment in segments]
                combined.append(_combine_rows(by_id[name][0], fusions[name], predictions))
    return combined


def _combine_rows(record: QuestionRecord, fusion: str, predictions: Sequence[Prediction]) -> Row:
    """One row for all segments; a segment without an answer leaves the whole without one."""
    name = f"{record.question}{WHOLE}"
    facts = {**dict(record.facts), "factor": NAME, "level": COMBINED}
    answers = [p.answer for p in predictions if p.answer is not None]
    bad = next((p for p in predictions if p.status == "failed"), None)
    bad = bad or next((p for p in predictions if p.answer is None), None)
    answer = combine_answers(fusion, answers) if bad is None else None
    status, reason = "answered", ""
    if answer is None:
        status = bad.status if bad else "unreadable"
        reason = bad.reason if bad else "an answer is of another type than the question asks for"
    prediction = Prediction(
        question=name,
        answer=answer,
        raw=" | ".join(p.raw or ("" if p.answer is None else spell(p.answer)) for p in predictions),
        status=status,
        reason=reason,
        seconds=_sum(p.seconds for p in predictions),
        cost=_sum(p.cost for p in predictions),
    )
    return replace(record, question=name, facts=tuple(facts.items()), twin=record.question), prediction


def _sum(values: Iterable[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return sum(known) if known else None


OPTIONS = SegmentCombineOptions
