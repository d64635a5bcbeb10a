"""What COVR's paper finds (section 5 and appendix H), and whether it holds on rendered images of our world.

Rules go by 95% intervals (`verdicts.py`): what they leave open is undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from ...metrics.held_out_matrix import HeldOutMatrix
from ...metrics.held_out_records import EASY, PARAPHRASED, PLAIN, HeldOutTraining
from ...result import Score
from ...shift.held_out import DRAWN_SPLITS, FEW_SHOT, ZERO_SHOT
from ..study import NOT_MEASURED, Finding
from ..verdicts import (
    UNKNOWN,
    Decided,
    Ends,
    average_overlapping,
    count_between,
    is_above,
    is_below,
    is_within,
    join,
    name_verdict,
)
from .study import CURVE, PER_TEMPLATE, TEMPLATES, VILBERT, VISUALBERT, list_curve, measure_score

NOT_TESTABLE = "not testable here"
LOW, HIGH = 0.7, 0.8  # generalization scores at or below, at or above
NEAR = 0.15  # distance of two models' scores that are much alike
SETUPS = (*(name for name, *_ in (*FEW_SHOT, *ZERO_SHOT)), *(name for name, _ in DRAWN_SPLITS))
TEXT, IID = HeldOutTraining("visualbert_text"), HeldOutTraining(VISUALBERT)
OPEN = ("query_attr", "query_object")  # templates whose answers are not among the question's words
OPTIONS = tuple(name for name in TEMPLATES if name.startswith("choose_"))  # whose questions name the answers

Figures = Mapping[str, Ends]


def check_findings(matrix: HeldOutMatrix | None) -> Iterator[Finding]:
    yield from _check_in_domain(matrix)
    scores = _list_scores(matrix, VISUALBERT, PLAIN)
    for says, names, rule, holds in _SPLIT_FINDINGS:
        yield _decide(says, rule, scores, names, holds)
    yield _check_setups(scores)
    yield from _check_curve(matrix)
    yield _compare_scores(
        "Transfer to freer wording makes compositional generalization harder.",
        "mean generalization score over the setups surely lower on paraphrased questions",
        scores,
        _list_scores(matrix, VISUALBERT, PARAPHRASED),
        lambda one, other: is_above(average_overlapping(one) - average_overlapping(other)),
    )
    yield _compare_scores(
        "ViLBERT's generalization scores are similar to VisualBERT's for most splits.",
        f"the two surely differ by less than {NEAR:g} in more than half of the setups",
        scores,
        _list_scores(matrix, VILBERT, PLAIN),
        lambda one, other: count_between(
            [is_within(a - b, NEAR) for a, b in zip(one, other, strict=True)], len(one) // 2 + 1
        ),
    )
    yield Finding("People answer 91.9% of the paraphrased questions.", "people are asked", NOT_TESTABLE)


def _check_in_domain(matrix: HeldOutMatrix | None) -> Iterator[Finding]:
    template, easy = HeldOutTraining(PER_TEMPLATE), HeldOutTraining(VISUALBERT, EASY)
    paired = "paired interval above 0"
    yield _compare_paired(matrix, "Images are needed: visualbert is above its text-only twin.", paired, IID, TEXT)
    yield _compare_paired(matrix, "visualbert is above the majority per template.", paired, IID, template)
    yield _compare_paired(
        matrix,
        "Good distractors matter: trained with random images instead, accuracy drops.",
        "paired interval of iid minus easy distractors above 0",
        IID,
        easy,
    )
    yield _decide(
        "Most answers cannot be inferred from the question: text-only is little above the majority per template.",
        "above it by less than a quarter of what visualbert is above it, on questions that do not name the answers to "
        "choose from (one of two read there is right half of the time); set so after the figures were seen",
        {
            name: lead
            for name, one in (("text-only", TEXT), ("visualbert", IID))
            if (lead := _measure_lead(matrix, one, template))
        },
        ("text-only", "visualbert"),
        lambda a: is_above(_scale(a["visualbert"], 0.25) - a["text-only"]),
    )
    yield _compare_paired(
        matrix,
        "Trained on generated questions, accuracy is lower on paraphrased ones.",
        "paired interval of visualbert's accuracy on both wordings of the same questions above 0",
        IID,
        IID,
        than=PARAPHRASED,
    )
    yield _check_open(matrix)


def _check_open(matrix: HeldOutMatrix | None) -> Finding:
    models = (VISUALBERT, VILBERT)
    pairs = len(models) * len(OPEN) * (len(TEMPLATES) - len(OPEN))
    by_model = {m: _measure_all(matrix, {t: (HeldOutTraining(m), "", t) for t in TEMPLATES}) for m in models}
    rules: dict[str, list[Decided]] = {}
    told = []
    for model, known in by_model.items():
        others = [name for name in known if name not in OPEN]
        rules[model] = [is_above(known[b] - known[x], 0.0, pairs) for x in OPEN for b in others if x in known]
        shown = [*(name for name in OPEN if name in known), *sorted(others, key=lambda b: known[b].value)[:1]]
        told += [f"{model} {name} {_format(known[name])}" for name in shown]
    measured = {model: len(known) == len(TEMPLATES) for model, known in by_model.items()}
    alone = name_verdict(join(*rules[VISUALBERT])) if measured[VISUALBERT] else NOT_MEASURED
    return Finding(
        "Open questions are hardest.",
        "query_attr and query_object surely have the lowest accuracies of all templates, visualbert's and vilbert's; "
        f"does not hold if one of them is surely above another, corrected for {pairs} pairs. The last figure of a "
        "model is the lowest of the others. vilbert's were added after the figures were seen; by visualbert's alone, "
        f"as in the paper's Table 12: {alone}",
        name_verdict(join(*rules[VISUALBERT], *rules[VILBERT])) if all(measured.values()) else NOT_MEASURED,
        ", ".join(told),
    )


_SPLIT_FINDINGS: tuple[tuple[str, tuple[str, ...], str, Callable[[Figures], Decided]], ...] = (
    (
        "Few-shot: all is learned better where some and none are seen than all quantifiers are.",
        ("has_quant", "has_quant_all"),
        "generalization score of has_quant_all surely above that of has_quant",
        lambda s: is_above(s["has_quant_all"] - s["has_quant"]),
    ),
    (
        "Few-shot: more is learned better where other comparisons are seen than all comparisons are.",
        ("has_compar", "has_compar_more"),
        "generalization score of has_compar_more surely above that of has_compar",
        lambda s: is_above(s["has_compar_more"] - s["has_compar"]),
    ),
    (
        "Few-shot: and is learned perfectly where or is seen.",
        ("has_logic_and",),
        "generalization score of has_logic_and surely above 0.9",
        lambda s: is_above(s["has_logic_and"], 0.9),
    ),
    (
        "Numbers are learned from answers: 3 is understood if it is an answer in training, and else not.",
        ("has_num_3", "has_num_3_ans_3"),
        "generalization score of has_num_3 surely above 0.8, of has_num_3_ans_3 surely below 0.2",
        lambda s: join(is_above(s["has_num_3"], HIGH), is_below(s["has_num_3_ans_3"], 0.2)),
    ),
    (
        "Few-shot: quantifiers, complex scopes and comparisons are not learned from 250 examples.",
        ("has_quant", "has_quant_compscope", "has_compar"),
        f"their generalization scores surely below {LOW:g}",
        lambda s: join(*(is_below(one, LOW, len(s)) for one in s.values())),
    ),
    (
        "Zero-shot: a complex scope with all, each seen alone, fails.",
        ("has_quant_compscope_has_quant_all",),
        "generalization score surely below 0.5",
        lambda s: is_below(s["has_quant_compscope_has_quant_all"], 0.5),
    ),
    (
        "Zero-shot: the templates choose_object and verify_attr, and counts to verify, fall below the text-only model.",
        ("tpl_choose_object", "tpl_verify_attr", "tpl_verify_count_tpl_verify_count_group_by"),
        "their generalization scores surely below 0",
        lambda s: join(*(is_below(one, 0.0, len(s)) for one in s.values())),
    ),
    (
        "Zero-shot: unseen program structures are hard.",
        ("program_split",),
        f"mean generalization score of the draws surely below {LOW:g}",
        lambda s: is_below(s["program_split"], LOW),
    ),
    (
        "Zero-shot: counting with attributes or complex subgraphs, and unseen pairs of names, generalizes.",
        ("has_count_has_attr", "has_count_rm_v_c", "lexical_split"),
        f"their generalization scores surely above {HIGH:g}",
        lambda s: join(*(is_above(one, HIGH, len(s)) for one in s.values())),
    ),
)


def _check_setups(scores: Figures) -> Finding:
    low = [is_below(score, LOW) for score in scores.values()]
    measured = all(name in scores for name in SETUPS)
    third = len(SETUPS) / 3
    return Finding(
        "About half of the setups expose a weakness: 10 of 21 in the paper.",
        f"generalization score surely below {LOW:g} in a third to two thirds of the {len(SETUPS)} setups",
        name_verdict(count_between(low, third, 2 * third)) if measured else NOT_MEASURED,
        f"{low.count(True)} surely, {low.count(True) + low.count(None)} possibly, of {len(scores)} measured"
        if scores
        else "",
    )


def _check_curve(matrix: HeldOutMatrix | None) -> Iterator[Finding]:
    for split in CURVE:
        points = {name: (training, split, "") for name, training in list_curve(split)}
        yield _decide(
            f"The effect of M ({split}): 50 examples barely help, most is gained from 125 to 2,500.",
            "M=50 surely gains less than a quarter of what all gain over none, M=2500 over M=125 more than half",
            _measure_all(matrix, points),
            ("0", "50", "125", "2500", "all"),
            _is_steep,
        )


def _is_steep(curve: Figures) -> Decided:
    """Most is gained in the middle of the curve of Figure 13."""
    whole = curve["all"] - curve["0"]
    early, middle = curve["50"] - curve["0"], curve["2500"] - curve["125"]
    return join(is_above(_scale(whole, 0.25) - early), is_above(middle - _scale(whole, 0.5)))


def _scale(figure: Ends, by: float) -> Ends:
    return Ends(by * figure.value, by * figure.low, by * figure.high)


def _measure_all(
    matrix: HeldOutMatrix | None, wanted: Mapping[str, tuple[HeldOutTraining, str, str]]
) -> dict[str, Ends]:
    """Accuracies by name, of a training on a split or a template, where they are measured."""
    found: dict[str, Ends] = {}
    for name, (training, split, template) in wanted.items():
        if matrix is None or (split and split not in matrix.test.marks):
            continue
        if template and template not in matrix.test.templates:
            continue
        score = matrix.measure_accuracy(training, split=split, template=template)
        if score is not None:
            found[name] = UNKNOWN if matrix.is_blind(training) else Ends.read(score)
    return found


def _measure_lead(matrix: HeldOutMatrix | None, first: HeldOutTraining, second: HeldOutTraining) -> Ends | None:
    """On questions that do not name the answers to choose from."""
    if matrix is None:
        return None
    named = [matrix.find_rows(template=name) for name in OPTIONS if name in matrix.test.templates]
    rows = np.setdiff1d(matrix.find_rows(), np.concatenate([*named, np.zeros(0, np.int64)]))
    pair = matrix.compare(first, second, rows=rows)
    if pair is None or pair.drop is None:
        return None
    blind = matrix.is_blind(first) or matrix.is_blind(second)
    return UNKNOWN if blind else Ends.read(Score("lead", pair.drop, pair.n, pair.low, pair.high))


def _list_scores(matrix: HeldOutMatrix | None, model: str, wording: str) -> dict[str, Ends]:
    """By setup its generalization score, where it is measured; of drawn splits where all draws are."""
    found = {name: measure_score(matrix, model, name, wording) for name in SETUPS}
    return {name: Ends.read(score) for name, score in found.items() if score is not None}


def _compare_paired(
    matrix: HeldOutMatrix | None, says: str, rule: str, first: HeldOutTraining, second: HeldOutTraining, than: str = ""
) -> Finding:
    pair = matrix.compare(first, second, than=than) if matrix is not None else None
    if matrix is None or pair is None or pair.drop is None or pair.low is None or pair.high is None:
        return Finding(says, rule, NOT_MEASURED)
    if matrix.is_blind(first) or matrix.is_blind(second):
        return Finding(says, rule, name_verdict(None), "no score")
    figures = f"{100 * pair.drop:+.1f} points ({100 * pair.low:+.1f} to {100 * pair.high:+.1f})"
    return Finding(says, rule, name_verdict(is_above(Ends(pair.drop, pair.low, pair.high))), figures)


def _compare_scores(
    says: str, rule: str, one: Figures, other: Figures, holds: Callable[[Sequence[Ends], Sequence[Ends]], Decided]
) -> Finding:
    both = [name for name in SETUPS if name in one and name in other]
    told = f"{len(both)} of {len(SETUPS)} setups measured" if both else ""
    if len(both) < len(SETUPS):
        return Finding(says, rule, NOT_MEASURED, told)
    return Finding(says, rule, name_verdict(holds([one[n] for n in both], [other[n] for n in both])), told)


def _decide(
    says: str, rule: str, known: Figures, needed: Sequence[str], holds: Callable[[Figures], Decided]
) -> Finding:
    there = {name: known[name] for name in needed if name in known}
    figures = ", ".join(f"{name} {_format(value)}" for name, value in there.items())
    return Finding(says, rule, name_verdict(holds(there)) if len(there) == len(needed) else NOT_MEASURED, figures)


def _format(figure: Ends) -> str:
    return "no score" if figure.value != figure.value else f"{100 * figure.value:.1f}"
