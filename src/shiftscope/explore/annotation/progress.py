"""The progress of an annotation: who judged how much, how far people agree, and the human score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from shlex import quote

from ...answer import spell
from ...report.markup import Child, Html, tag
from ...report.number_format import count_noun, format_percent, spell_accuracy
from ...report.table import Table, TableCell, TableHead, count_cell, numeric
from ...result import QuestionRecord
from ..pages.frame import render_heading
from ..question_index import ANSWER, DatasetQuestions
from .agreement import Agreement, measure_agreement
from .export import build_human_row, group_by_question, is_kept, score_humans
from .qualification import QualificationRound, measure_qualification, select_counting
from .store import ACCEPT, VERDICTS, Annotation, AnnotationStore


def render_progress(store: AnnotationStore, index: DatasetQuestions, first: int) -> list[Child]:
    """The page; `first` is the row of the first question that is annotated."""
    everything, qualification = store.list_annotations(), store.read_round()
    annotations = select_counting(qualification, everything)
    judged = [one for one in annotations if one.verdict]
    grouped = group_by_question(annotations)
    verdicts = {q: {one.annotator: one.verdict for one in given if one.verdict} for q, given in grouped.items()}
    done = [given for given in grouped.values() if any(one.verdict for one in given)]
    total = count_noun(store.count_questions(), "question")
    accepted = sum(map(is_kept, done))
    lead = f"{count_noun(len(judged), 'judgement')} of {len(done):,} of {total}; {accepted:,} accepted"
    command = (
        f"shiftscope explore {quote(str(index.dataset.folder))} --annotations {quote(str(store.path))} --export OUT"
    )
    export = tag(
        "section",
        tag("h2", "Export"),
        tag("p", "A run of people's answers and a dataset of the accepted questions:"),
        tag("pre", command, class_="commands", tabindex="0", role="group", aria_label="Command"),
    )
    return [
        render_heading("Progress", lead),
        _render_round(qualification),
        _render_people(everything, qualification, index, first),
        _render_verdicts(judged),
        _render_agreement(measure_agreement({q: given for q, given in verdicts.items() if given})),
        _render_score(grouped, index, first),
        export,
    ]


def _render_round(qualification: QualificationRound) -> Html | None:
    if not qualification.questions:
        return None
    n, expert = count_noun(qualification.questions, "question"), qualification.expert
    alike = f"more than {qualification.above:g}% of them as {expert} does"
    rule = f"The first {n} qualify: whoever judges {alike} gets the others."
    counts = f"Below the annotators these count as {expert} judged them, the others as those did who passed."
    return tag("p", f"{rule} {counts}", class_="note")


def _render_people(
    annotations: Sequence[Annotation], qualification: QualificationRound, index: DatasetQuestions, first: int
) -> Table:
    truth = index.column(ANSWER)
    results = measure_qualification(qualification, annotations) if qualification.questions else {}
    rows = []
    for name in sorted({one.annotator for one in annotations}):
        mine = [one for one in annotations if one.annotator == name]
        verdicts = Counter(one.verdict for one in mine if one.verdict)
        n = sum(verdicts.values())
        accepted = verdicts[ACCEPT] / n if n else None
        answered = [one for one in mine if one.answer is not None]
        stored = [truth[first + one.place] for one in answered]
        right = sum(
            o.parsed is not None and t is not None and o.parsed == spell(t)
            for o, t in zip(answered, stored, strict=True)
        )
        share = right / len(answered) if answered else None
        rows.append(
            [
                TableCell(name),
                count_cell(n),
                TableCell(format_percent(accepted), accepted),
                count_cell(sum(bool(one.paraphrase) for one in mine)),
                TableCell(f"{format_percent(share)} of {len(answered):,}", share),
                *([TableCell(str(results.get(name, "expert")))] if qualification.questions else []),
            ]
        )
    figures = ("Judged", "Accepted, %", "Paraphrases", "Own answer is the stored one, %")
    heads = [TableHead("Annotator"), *map(numeric, figures)]
    heads += [TableHead("Qualification")] if qualification.questions else []
    return Table("Annotators", heads, rows)


def _render_verdicts(judged: Sequence[Annotation]) -> Table:
    counts = Counter(one.verdict for one in judged)
    rows = [
        [
            TableCell(words),
            count_cell(counts[key]),
            TableCell(format_percent(counts[key] / len(judged) if judged else None)),
        ]
        for key, words in VERDICTS.items()
    ]
    return Table("Verdicts", [TableHead("Verdict"), numeric("Judgements"), numeric("Share, %")], rows)


def _render_agreement(agreement: Agreement) -> Html:
    if not agreement.n:
        return tag("p", "No question has two judgements yet, so there is no agreement to measure.", class_="quiet")
    alpha = "not defined: all judgements are alike" if agreement.alpha is None else f"{agreement.alpha:.3f}"
    questions = count_noun(agreement.n, "question")
    lines: list[Child] = [
        tag("li", f"{format_percent(agreement.observed)}% of pairs of judgements are alike, over {questions}"),
        tag("li", f"Krippendorff's alpha: {alpha}"),
    ]
    for pair in agreement.pairs:
        kappa = "not defined" if pair.kappa is None else f"{pair.kappa:.3f}"
        lines.append(
            tag("li", f"{pair.first} and {pair.second}: Cohen's kappa {kappa}, {count_noun(pair.n, 'question')}")
        )
    return tag("section", tag("h2", "Agreement"), tag("ul", lines))


def _render_score(grouped: Mapping[str, Sequence[Annotation]], index: DatasetQuestions, first: int) -> Html:
    """The human score: over all answered questions, and over those that people accept."""
    rows = []
    for question, given in grouped.items():
        [shown] = index.read_rows([first + given[0].place])
        if row := build_human_row(QuestionRecord(question, shown.images, shown.answer), given):
            rows.append((row, is_kept(given)))
    if not rows:
        return tag("p", "Nobody has answered a question yet.", class_="quiet")
    lines = []
    for name, chosen in (("answered", rows), ("accepted", [r for r in rows if r[1]])):
        if chosen:
            vote, single = score_humans([row for row, _ in chosen])
            one = f"; a single person: {spell_accuracy(single)}" if single else ""
            lines.append(tag("li", f"Over all {len(chosen):,} {name} questions: {spell_accuracy(vote)}{one}"))
    return tag("section", tag("h2", "Human score"), tag("ul", lines))
