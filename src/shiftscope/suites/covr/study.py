"""COVR's study: end-to-end models over several images, on questions whose properties training never or rarely showed.

VB_text, VB_iid, VB_iid-size, M-shot and 0-shot of every named split, the effect of M, easy distractors and
paraphrased questions (Bogin et al., 2021, section 5 and appendix H), on rendered images of our world.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Any

from ...errors import unknown
from ...metrics.held_out_matrix import HeldOutMatrix
from ...metrics.held_out_records import EASY, HELD_OUT, IID, IID_SIZE, PARAPHRASED, PLAIN, HeldOutTraining
from ...metrics.intervals import student_quantile
from ...result import Score
from ...shift.held_out import COVR_SPLITS, DRAWN_SPLITS, FEW_SHOT, SHOTS, ZERO_SHOT
from ...shift.held_out.predicates import DRAWS
from ..held_out_study import BLIND, NO_GAP, FigureCell, FigureTable, HeldOutStudy, mark_blind
from ..study import Finding
from .reported import REPORTED, find_accuracy
from .suite import CovrSpec

VISUALBERT, VILBERT = "visualbert", "vilbert"
TEXT_TWINS = {VISUALBERT: "visualbert_text", VILBERT: "vilbert_text"}
MAJORITY, PER_TEMPLATE = "majority", "majority_per_template"
CURVE = ("has_quant", "has_compar")  # of Figure 13, whose two splits the paper's text does not name
CURVE_SHOTS = (0, 50, 125, SHOTS, 2500)  # then all: iid
TEMPLATES = tuple(dict.fromkeys(key[1] for key in REPORTED.tables["template_accuracy"]))
PAPER_NAMES = {"text": "VB text", "iid": "VB iid"}


@dataclass(frozen=True, slots=True)
class CovrScale:
    """A size of study. Some templates have fewer questions than their share: at the paper's scale 104,000 remain."""

    name: str
    scenes: int
    share: int  # one scene in so many is for val, and one for test
    questions: tuple[int, int, int]  # of train, val and test, at most
    sources: int  # images per split that are asked about, the others shown beside them
    size: tuple[int, int]
    shard: int = 500
    epochs: int | None = None  # else as many as a recipe says


SCALES = {
    "small": CovrScale("small", 120, 10, (450, 150, 150), 40, (240, 160), shard=150, epochs=2),
    "paper": CovrScale("paper", 12_000, 15, (112_500, 6_000, 9_000), 3_000, (480, 320)),
}


class CovrHeldOutStudy(HeldOutStudy):
    suite = "covr"
    title = "COVR: several images, and splits that hold questions out"
    models = (VISUALBERT, "visualbert_text", VILBERT, "vilbert_text")
    baselines = (MAJORITY, PER_TEMPLATE)
    splits = tuple(COVR_SPLITS)
    scales = tuple(SCALES)
    differences = (
        (
            "images",
            "photographs of GQA and imSitu, described by people",
            "rendered scenes of the world superclevr, whose graphs are exact",
        ),
        (
            "region features",
            "of a Faster R-CNN trained on Visual Genome's objects and attributes",
            "of the shipped scene parser, trained on this world's objects and attributes: what its attributes are "
            "read from, with the corners of the box",
        ),
        (
            "weights",
            "VisualBERT and ViLBERT of Volta: 12 layers of width 768, pretrained on captions of photographs",
            "the same architectures, smaller; pretrained on captions of the training images, and on which regions each "
            "phrase is true of, by the true boxes. Captions are written from the graphs in the noun phrases of the "
            "questions, once for all trainings and seeds, the pairs of names among them that lexical splits hold out "
            "(docs/decisions/048). The text-only twin begins from nothing. "
            "`--set pretrained=` begins from VisualBERT's own weights, `--set captions=0` from nothing",
        ),
        (
            "text-only model",
            "images are zeroed, how many there are is seen",
            "one image of zeros for every question: not even how many images there are is seen",
        ),
        (
            "paraphrases",
            "written by people",
            "the same test questions in our generator's freer wording, which training never shows",
        ),
        (
            "lexical split",
            "a fifth of all pairs of names, which takes a sixth of the training questions away",
            "of the same pairs as many as take a fifth of the questions away: with so few names, a fifth of the pairs "
            "would take six in seven",
        ),
        (
            "epochs",
            "8",
            "8, in which the rate falls as a cosine, and up to four more at the lowest rate while validation rises; "
            "the table of trainings tells which was best, of how many, and which ended while it rose",
        ),
        (
            "what stands for an image and the question",
            "in Volta's controlled models the product of what the first word and a region for the whole image became, "
            "each through a pooler",
            "vilbert's is the product of the first word and the mean of what the regions became, without poolers; "
            "visualbert's is the first word alone, and such a product with `--set product=1`",
        ),
        (
            "words that training never showed",
            "are cut into known pieces",
            "say nothing to the text-only twins. To visualbert and vilbert they stand for the mask of a hidden word, "
            "which captions taught them to fill in: this concerns paraphrased questions",
        ),
        ("figures of splits", "of the test split", "the same; Figure 13 is of the test split too, not of development"),
    )

    def find_scale(self, name: str) -> CovrScale:
        if name not in SCALES:
            raise unknown("scale", name, SCALES)
        return SCALES[name]

    def build_spec(self, scale: CovrScale, kind: str) -> CovrSpec:
        return CovrSpec(
            n=scale.scenes,
            share=scale.share,
            size=scale.size,
            questions=scale.questions,
            sources=scale.sources,
            shard=scale.shard,
            easy_distractors=kind == EASY,
            pictured=False,
        )

    def list_trainings(
        self,
        models: Sequence[str],
        splits: Sequence[str],
        seeds: Sequence[int],
        *,
        shots: Sequence[int] = (),
        scale: Any = None,
    ) -> list[HeldOutTraining]:
        self.check_choice(models, splits, seeds)
        found = [HeldOutTraining(name) for name in self.baselines if name in models and IID in splits]
        seen = [model for model in (VISUALBERT, VILBERT) if model in models]
        found += [
            HeldOutTraining(model, seed=seed)
            for seed in seeds
            for model in ("visualbert_text", VISUALBERT, "vilbert_text", VILBERT)
            if model in models and IID in splits
        ]
        if VISUALBERT in seen and EASY in splits:
            found.append(HeldOutTraining(VISUALBERT, EASY))
        for model in seen:
            pairs = [pair for name in splits if name in COVR_SPLITS for pair in _list_split(model, name, seeds)]
            found += [one for kind in zip(*pairs, strict=True) for one in kind]  # what is held out, then iid-size
            if model == VISUALBERT:
                found += [
                    HeldOutTraining(model, HELD_OUT, name, shots)
                    for name in CURVE
                    if name in splits
                    for shots in CURVE_SHOTS
                    if shots != COVR_SPLITS[name].shots
                ]
        return found

    def describe_scale(self, scale: CovrScale) -> str:
        train, val, test = scale.questions
        width, height = scale.size
        return (
            f"At most {train:,} training, {val:,} validation and {test:,} test questions about {scale.scenes:,} "
            f"rendered scenes of {width}×{height} pixels; an image is in one split only."
        )

    def list_tables(self, matrix: HeldOutMatrix | None) -> Iterator[FigureTable]:
        yield _build_overall(matrix)
        few, zero = [name for name, *_ in FEW_SHOT], [name for name, *_ in ZERO_SHOT]
        zero += [name for name, _ in DRAWN_SPLITS]
        titles = ("few-shot (M=250)", "zero-shot")
        for model, wording, numbers in (
            (VISUALBERT, PLAIN, (7, 8)),
            (VISUALBERT, PARAPHRASED, (14, 15)),
            (VILBERT, PLAIN, (16, 17)),
        ):
            for number, names, kind in zip(numbers, (few, zero), titles, strict=True):
                title = f"Table {number}: {model}, {kind}" + (", paraphrased" if wording == PARAPHRASED else "")
                yield _build_splits(matrix, title, model, wording, names)
        for number, wording in ((12, PLAIN), (13, PARAPHRASED)):
            yield _build_templates(matrix, number, wording)
        yield _build_curve(matrix)

    def check_findings(self, matrix: HeldOutMatrix | None) -> Iterator[Finding]:
        from .findings import check_findings

        return check_findings(matrix)

    def write_command(self, training: HeldOutTraining) -> str:
        what = training.split or training.kind
        seeds = f" --seeds {training.seed}" if training.seed else ""
        return f"shiftscope study covr --scale paper --models {training.model} --splits {what}{seeds} --out DIR"


def _list_split(model: str, name: str, seeds: Sequence[int]) -> Iterator[tuple[HeldOutTraining, HeldOutTraining]]:
    """For each seed the training without what is held out, and the one on as many questions of all kinds."""
    shots = COVR_SPLITS[name].shots
    for seed in seeds:
        yield (HeldOutTraining(model, HELD_OUT, name, shots, seed), HeldOutTraining(model, IID_SIZE, name, shots, seed))


def list_draws(split: str) -> list[str]:
    """The splits that a row is the mean of."""
    return [f"{split}_{n}" for n in DRAWS] if split in dict(DRAWN_SPLITS) else [split]


def measure_split(matrix: HeldOutMatrix | None, model: str, split: str, wording: str) -> dict[str, Score | None]:
    """The figures of one row: text-only, held out, iid-size and iid on the questions with the property, and the score.

    Of program and lexical splits the mean over the draws, once all are measured, with their standard deviation. A
    score without a value is one of which nothing is known: there is no gap, or a training did not come to see.
    """
    drawn = list_draws(split)
    if matrix is None or any(name not in matrix.test.marks for name in drawn):
        return {}
    rows = [_measure_drawn(matrix, model, name, wording) for name in drawn]
    return {column: _average_draws([row[column] for row in rows]) for column in rows[0]}


def measure_score(matrix: HeldOutMatrix | None, model: str, split: str, wording: str) -> Score | None:
    """The generalization score of a split with its interval at 95%; of several draws Student's, over the draws."""
    found = measure_split(matrix, model, split, wording).get("score")
    if found is None or found.value is None or found.high is None or split not in dict(DRAWN_SPLITS):
        return found  # a score of which nothing is known, too
    half = student_quantile(len(DRAWS) - 1) * (found.high - found.value) / len(DRAWS) ** 0.5
    return replace(found, low=found.value - half, high=found.value + half)


def list_row(model: str, split: str) -> dict[str, HeldOutTraining]:
    """The trainings of a row of one split, by column."""
    shots = COVR_SPLITS[split].shots
    return {
        "text": HeldOutTraining(TEXT_TWINS[model]),
        "held_out": HeldOutTraining(model, HELD_OUT, split, shots),
        "iid_size": HeldOutTraining(model, IID_SIZE, split, shots),
        "iid": HeldOutTraining(model),
    }


def _measure_drawn(matrix: HeldOutMatrix, model: str, split: str, wording: str) -> dict[str, Score | None]:
    trainings = list_row(model, split)
    found = {name: matrix.measure_accuracy(one, split=split, wording=wording) for name, one in trainings.items()}
    three = (trainings[name] for name in ("held_out", "text", "iid_size"))
    found["score"] = matrix.measure_generalization(*three, split=split, wording=wording)
    if found["score"] is not None and any(map(matrix.is_blind, trainings.values())):
        found["score"] = Score("generalization_score", None, found["score"].n)
    return found


def _list_marks(matrix: HeldOutMatrix | None, model: str, split: str, wording: str) -> dict[str, str]:
    """By column what its figure is to be read with."""
    marks: dict[str, str] = {}
    for name in list_draws(split):
        if matrix is None or name not in matrix.test.marks:
            continue
        trainings = list_row(model, name)
        marks |= {column: BLIND for column, one in trainings.items() if matrix.is_blind(one)}
        if matrix.has_gap(trainings["iid"], trainings["text"], name, wording) is False:
            marks.setdefault("iid", NO_GAP)
    return marks


def _average_draws(scores: Sequence[Score | None]) -> Score | None:
    there = [s for s in scores if s is not None]
    if len(scores) < 2 or len(there) < len(scores):
        return scores[0] if len(scores) == 1 else None
    known = [(s, s.value) for s in there if s.value is not None]
    if len(known) < len(there):
        return next(s for s in there if s.value is None)
    mean, spread = fmean(value for _, value in known), stdev(value for _, value in known)
    return Score(known[0][0].metric, mean, sum(s.n for s, _ in known), mean - spread, mean + spread)


def _find_reported(model: str, wording: str, split: str) -> dict[str, float | None]:
    found = {
        column: REPORTED.find("held_out_accuracy", model, wording, split, column)
        for column in ("text", "held_out", "iid_size", "iid")
    }
    text, held, upper = (found[name] for name in ("text", "held_out", "iid_size"))
    known = text is not None and held is not None and upper is not None
    return found | {"score": (held - text) / (upper - text) if known else None}  # type: ignore[operator]


def _build_splits(
    matrix: HeldOutMatrix | None, title: str, model: str, wording: str, names: Sequence[str]
) -> FigureTable:
    rows: list[tuple[FigureCell | str, ...]] = []
    for name in names:
        measured, reported = measure_split(matrix, model, name, wording), _find_reported(model, wording, name)
        marks = _list_marks(matrix, model, name, wording)
        cells = [
            FigureCell(measured.get(column), reported[column], marks.get(column, ""))
            for column in ("text", "held_out", "score", "iid_size", "iid")
        ]
        rows.append((name, _count_filtered(matrix, name), *cells))
    kind = "M=250" if "few-shot" in title else "M=0"
    return FigureTable(
        title,
        ("split", "filtered", "text-only", kind, "gen. score", "iid-size", "iid"),
        tuple(rows),
        "Accuracy on the test questions with the property, %, and generalization score, %: measured (reported). "
        "Of program and lexical splits the mean of the draws ± their standard deviation. The M questions, and those of "
        "iid-size, are drawn once, whatever the seed of a training.",
    )


def _count_filtered(matrix: HeldOutMatrix | None, name: str) -> str:
    """Training questions left out: here, and in the paper."""
    drawn = dict(DRAWN_SPLITS)
    splits = [f"{name}_{n}" for n in DRAWS] if name in drawn else [name]
    reported = drawn.get(name) or COVR_SPLITS[name].reported
    counts = [
        matrix.test.with_property[one] - COVR_SPLITS[one].shots
        for one in splits
        if matrix is not None and one in matrix.test.with_property
    ]
    here = f"{fmean(counts):,.0f}" if counts and min(counts) > 0 else "–"
    return f"{here} ({reported})"


def _build_overall(matrix: HeldOutMatrix | None) -> FigureTable:
    named = {
        "majority": (HeldOutTraining(MAJORITY), "Maj"),
        "majority per template": (HeldOutTraining(PER_TEMPLATE), "MajTempl"),
        "visualbert, text-only": (HeldOutTraining("visualbert_text"), "VB text"),
        "visualbert, iid": (HeldOutTraining(VISUALBERT), "VB iid"),
        "visualbert, easy distractors": (HeldOutTraining(VISUALBERT, EASY), "VB easy distractors"),
        "vilbert, text-only": (HeldOutTraining("vilbert_text"), ""),
        "vilbert, iid": (HeldOutTraining(VILBERT), ""),
    }
    rows: list[tuple[FigureCell | str, ...]] = []
    for label, (training, paper) in named.items():
        cells = []
        for wording in (PLAIN, PARAPHRASED):
            reported = find_accuracy(paper, "test", paraphrased=wording == PARAPHRASED) if paper else None
            measured = None if matrix is None else matrix.measure_accuracy(training, wording=wording)
            cells.append(FigureCell(measured, reported, mark_blind(matrix, training)))
        seeds = len(matrix.list_seeds(training)) if matrix else 0
        rows.append((label, str(seeds or "–"), *cells))
    people = FigureCell(None, find_accuracy("Humans", "test", paraphrased=True))
    rows.append(("people (not testable here)", "–", FigureCell(None), people))
    return FigureTable(
        "Table 6: in-domain, all test questions",
        ("model", "seeds", "generated", "paraphrased"),
        tuple(rows),
        "Accuracy, %: measured (reported); of several seeds the mean. Easy distractors: trained on questions whose "
        "other images are random, tested on the same questions as all.",
    )


def _build_templates(matrix: HeldOutMatrix | None, number: int, wording: str) -> FigureTable:
    rows: list[tuple[FigureCell | str, ...]] = []
    for template in TEMPLATES:
        there = matrix if matrix is not None and template in matrix.test.templates else None
        cells = []
        for model, column in (("visualbert_text", "text"), (VISUALBERT, "iid")):
            kind = "" if wording == PLAIN else PARAPHRASED
            reported = REPORTED.find("template_accuracy", PAPER_NAMES[column], template, kind)
            training = HeldOutTraining(model)
            measured = None if there is None else there.measure_accuracy(training, template=template, wording=wording)
            cells.append(FigureCell(measured, reported, mark_blind(matrix, training)))
        rows.append((template, *cells))
    title = f"Table {number}: accuracy per template" + (", paraphrased" if wording == PARAPHRASED else "")
    return FigureTable(
        title, ("template", "text-only", "iid"), tuple(rows), "visualbert; accuracy, %: measured (reported)."
    )


def list_curve(split: str) -> list[tuple[str, HeldOutTraining]]:
    """The trainings of one curve of Figure 13, by M."""
    points = [(str(shots), HeldOutTraining(VISUALBERT, HELD_OUT, split, shots)) for shots in CURVE_SHOTS]
    return [*points, ("all", HeldOutTraining(VISUALBERT))]


def _build_curve(matrix: HeldOutMatrix | None) -> FigureTable:
    rows: list[tuple[FigureCell | str, ...]] = []
    for split in CURVE:
        there = matrix if matrix is not None and split in matrix.test.marks else None
        points = [one for _, one in list_curve(split)]
        cells = [
            FigureCell(there.measure_accuracy(p, split=split), mark=mark_blind(there, p)) if there else FigureCell(None)
            for p in points
        ]
        rows.append((split, *cells))
    return FigureTable(
        "Figure 13: accuracy by M, the number of training questions with the property",
        ("split", *(f"M={name}" for name, _ in list_curve(CURVE[0]))),
        tuple(rows),
        "visualbert, test questions with the property, %. The paper draws two splits, on development questions, and "
        "gives no figures; these two are ours.",
    )


STUDY = CovrHeldOutStudy()
