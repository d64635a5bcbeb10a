"""What COVR's paper finds (section 5 and appendix H), and whether it holds on rendered images of our world."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean

from ...metrics.held_out_matrix import EASY, PARAPHRASED, PLAIN, HeldOutMatrix, HeldOutTraining
from ...shift.held_out import DRAWN_SPLITS, FEW_SHOT, ZERO_SHOT
from ..study import FAILS, HOLDS, NOT_MEASURED, Finding
from .study import CURVE, PER_TEMPLATE, TEMPLATES, VILBERT, VISUALBERT, list_curve, measure_split

NOT_TESTABLE = "not testable here"
LOW, HIGH = 0.7, 0.8  # generalization scores at or below, at or above
NEAR = 0.15  # mean distance of two models' scores that are much alike
SETUPS = (*(name for name, *_ in (*FEW_SHOT, *ZERO_SHOT)), *(name for name, _ in DRAWN_SPLITS))
TEXT, IID = HeldOutTraining("visualbert_text"), HeldOutTraining(VISUALBERT)


def check_findings(matrix: HeldOutMatrix | None) -> Iterator[Finding]:
    yield from _check_in_domain(matrix)
    scores = _list_scores(matrix, VISUALBERT, PLAIN)
    for says, names, rule, holds in _SPLIT_FINDINGS:
        yield _decide_by_scores(says, rule, scores, names, holds)
    yield _check_setups(scores)
    yield from _check_curve(matrix)
    yield _compare_scores(
        "Transfer to freer wording makes compositional generalization harder.",
        "mean generalization score over the setups lower on paraphrased questions",
        scores,
        _list_scores(matrix, VISUALBERT, PARAPHRASED),
        lambda one, other: fmean(other) < fmean(one),
    )
    yield _compare_scores(
        "ViLBERT's generalization scores are similar to VisualBERT's for most splits.",
        f"the two differ by {NEAR:g} or less in more than half of the setups",
        scores,
        _list_scores(matrix, VILBERT, PLAIN),
        lambda one, other: sum(abs(a - b) <= NEAR for a, b in zip(one, other, strict=True)) > len(one) / 2,
    )
    yield Finding("People answer 91.9% of the paraphrased questions.", "people are asked", NOT_TESTABLE)


def _check_in_domain(matrix: HeldOutMatrix | None) -> Iterator[Finding]:
    yield _compare_paired(
        matrix, "Images are needed: visualbert is above its text-only twin.", IID, TEXT, "paired interval above 0"
    )
    yield _compare_paired(
        matrix,
        "visualbert is above the majority per template.",
        IID,
        HeldOutTraining(PER_TEMPLATE),
        "paired interval above 0",
    )
    yield _compare_paired(
        matrix,
        "Good distractors matter: trained with random images instead, accuracy drops.",
        IID,
        HeldOutTraining(VISUALBERT, EASY),
        "paired interval of iid minus easy distractors above 0",
    )
    known: dict[str, float] = {}
    if matrix is not None:
        for name, training in (("text", TEXT), ("template", HeldOutTraining(PER_TEMPLATE)), ("iid", IID)):
            score = matrix.measure_accuracy(training)
            known |= {name: score.value} if score and score.value is not None else {}
    yield _decide_by_scores(
        "Most answers cannot be inferred from the question: text-only is little above the majority per template.",
        "above it by less than a quarter of what visualbert is above it",
        known,
        ("text", "template", "iid"),
        lambda a: a["text"] - a["template"] < (a["iid"] - a["template"]) / 4,
    )
    worded = {
        wording: score.value
        for wording in (PLAIN, PARAPHRASED)
        if matrix is not None and (score := matrix.measure_accuracy(IID, wording=wording)) and score.value is not None
    }
    yield _decide_by_scores(
        "Trained on generated questions, accuracy is lower on paraphrased ones.",
        "accuracy of visualbert, the same questions in both wordings",
        worded,
        (PLAIN, PARAPHRASED),
        lambda a: a[PARAPHRASED] < a[PLAIN],
    )
    by_template = {
        template: score.value
        for template in TEMPLATES
        if matrix is not None
        and template in matrix.test.templates
        and (score := matrix.measure_accuracy(IID, template=template))
        and score.value is not None
    }
    yield _decide_by_scores(
        "Open questions are hardest.",
        "query_attr and query_object have the lowest accuracies of all templates",
        by_template,
        TEMPLATES,
        lambda a: (
            max(a["query_attr"], a["query_object"])
            <= min(v for name, v in a.items() if name not in ("query_attr", "query_object"))
        ),
    )


Scores = Mapping[str, float]
_SPLIT_FINDINGS: tuple[tuple[str, tuple[str, ...], str, Callable[[Scores], bool]], ...] = (
    (
        "Few-shot: all is learned better where some and none are seen than all quantifiers are.",
        ("has_quant", "has_quant_all"),
        "generalization score of has_quant_all above that of has_quant",
        lambda s: s["has_quant_all"] > s["has_quant"],
    ),
    (
        "Few-shot: more is learned better where other comparisons are seen than all comparisons are.",
        ("has_compar", "has_compar_more"),
        "generalization score of has_compar_more above that of has_compar",
        lambda s: s["has_compar_more"] > s["has_compar"],
    ),
    (
        "Few-shot: and is learned perfectly where or is seen.",
        ("has_logic_and",),
        "generalization score of has_logic_and 0.9 or more",
        lambda s: s["has_logic_and"] >= 0.9,
    ),
    (
        "Numbers are learned from answers: 3 is understood if it is an answer in training, and else not.",
        ("has_num_3", "has_num_3_ans_3"),
        "generalization score of has_num_3 0.8 or more, of has_num_3_ans_3 0.2 or less",
        lambda s: s["has_num_3"] >= HIGH and s["has_num_3_ans_3"] <= 0.2,
    ),
    (
        "Few-shot: quantifiers, complex scopes and comparisons are not learned from 250 examples.",
        ("has_quant", "has_quant_compscope", "has_compar"),
        f"their generalization scores {LOW:g} or less",
        lambda s: max(s.values()) <= LOW,
    ),
    (
        "Zero-shot: a complex scope with all, each seen alone, fails.",
        ("has_quant_compscope_has_quant_all",),
        "generalization score 0.5 or less",
        lambda s: s["has_quant_compscope_has_quant_all"] <= 0.5,
    ),
    (
        "Zero-shot: the templates choose_object and verify_attr, and counts to verify, fall below the text-only model.",
        ("tpl_choose_object", "tpl_verify_attr", "tpl_verify_count_tpl_verify_count_group_by"),
        "their generalization scores below 0",
        lambda s: max(s.values()) < 0,
    ),
    (
        "Zero-shot: unseen program structures are hard.",
        ("program_split",),
        f"mean generalization score of the draws {LOW:g} or less",
        lambda s: s["program_split"] <= LOW,
    ),
    (
        "Zero-shot: counting with attributes or complex subgraphs, and unseen pairs of names, generalizes.",
        ("has_count_has_attr", "has_count_rm_v_c", "lexical_split"),
        f"their generalization scores {HIGH:g} or more",
        lambda s: min(s.values()) >= HIGH,
    ),
)


def _check_setups(scores: Scores) -> Finding:
    low = [name for name, value in scores.items() if value <= LOW]
    measured = all(name in scores for name in SETUPS)
    return Finding(
        "About half of the setups expose a weakness: 10 of 21 in the paper.",
        f"generalization score {LOW:g} or less in a third to two thirds of the {len(SETUPS)} setups",
        _decide(len(SETUPS) / 3 <= len(low) <= 2 * len(SETUPS) / 3 if measured else None),
        f"{len(low)} of {len(scores)} measured" if scores else "",
    )


def _check_curve(matrix: HeldOutMatrix | None) -> Iterator[Finding]:
    for split in CURVE:
        known = {
            name: score.value
            for name, training in list_curve(split)
            if matrix is not None
            and split in matrix.test.marks
            and (score := matrix.measure_accuracy(training, split=split))
            and score.value is not None
        }
        yield _decide_by_scores(
            f"The effect of M ({split}): 50 examples barely help, most is gained from 125 to 2,500.",
            "M=50 gains less than a quarter of what all gain over none, M=2500 over M=125 more than half",
            known,
            ("0", "50", "125", "2500", "all"),
            lambda a: a["50"] - a["0"] < (a["all"] - a["0"]) / 4 and a["2500"] - a["125"] > (a["all"] - a["0"]) / 2,
        )


def _list_scores(matrix: HeldOutMatrix | None, model: str, wording: str) -> dict[str, float]:
    """By setup its generalization score, where it is measured; of drawn splits where all draws are."""
    found = {}
    for name in SETUPS:
        score = measure_split(matrix, model, name, wording).get("score")
        if score is not None and score.value is not None:
            found[name] = score.value
    return found


def _compare_paired(
    matrix: HeldOutMatrix | None, says: str, first: HeldOutTraining, second: HeldOutTraining, rule: str
) -> Finding:
    pair = matrix.compare(first, second) if matrix is not None else None
    if pair is None or pair.drop is None or pair.low is None or pair.high is None:
        return Finding(says, rule, NOT_MEASURED)
    figures = f"{100 * pair.drop:+.1f} points ({100 * pair.low:+.1f} to {100 * pair.high:+.1f})"
    return Finding(says, rule, _decide(pair.low > 0), figures)


def _compare_scores(
    says: str, rule: str, one: Scores, other: Scores, holds: Callable[[Sequence[float], Sequence[float]], bool]
) -> Finding:
    both = [name for name in SETUPS if name in one and name in other]
    decided = holds([one[n] for n in both], [other[n] for n in both]) if len(both) == len(SETUPS) else None
    return Finding(says, rule, _decide(decided), f"{len(both)} of {len(SETUPS)} setups measured" if both else "")


def _decide_by_scores(
    says: str, rule: str, known: Scores, needed: Sequence[str], holds: Callable[[Scores], bool]
) -> Finding:
    there = {name: known[name] for name in needed if name in known}
    figures = ", ".join(f"{name} {100 * value:.1f}" for name, value in there.items())
    return Finding(says, rule, _decide(holds(there) if len(there) == len(needed) else None), figures)


def _decide(decided: bool | None) -> str:
    return NOT_MEASURED if decided is None else HOLDS if decided else FAILS
