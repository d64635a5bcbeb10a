"""What the paper finds about debiasing and selection, each with the rule by which it holds here or does not.

Rules go by 95% intervals over scenes and seeds: what they leave open is undecided. Where one set of several settles a
rule, its interval is at a level corrected for so many sets (Bonferroni), or one of them would settle it by chance.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from ...metrics.model_selection import (
    IID,
    IID_VAL,
    OOD_TEST,
    OOD_VAL,
    PLANTED,
    PROPORTION,
    AccuracyTerm,
    SelectionResults,
    head_of,
    tail_of,
)
from ...models.debiasing.ssl import IrrelevantPairs
from ...result import Score
from ...shortcuts.concepts import SHORTCUTS
from ..selection_study import StudyMethod
from ..study import FAILS, HOLDS, NOT_MEASURED, UNDECIDED, Finding
from .reported import SMALL_LXMERT, WIDE_LXMERT

CRITICAL = 0.600  # of Spearman's correlation of nine pairs, one-sided at 5%
MOST_GAINING = 3  # models without which a mean is told, too
ROUNDING = 1e-12  # an end so near to 0 is 0
SETS, OTHER_SETS = len(SHORTCUTS), len(SHORTCUTS) - 1  # comparisons: of all sets, and of those that LMH is not for


def check_findings(results: SelectionResults) -> Iterator[Finding]:
    yield _beats_on_all(results)
    yield _hurts_others(results)
    yield _imbalance_is_harder(results)
    yield _choosing_adds(results)
    yield _ssl_needs_ood_choice(results)
    yield _lpf_loses_with_gamma(results)
    yield _best_on_all(results)
    yield _iid_is_easier(results)
    yield _shortcut_samples_cost_tails(results)
    yield _heads_are_soon_learned(results)


def _list_judged(results: SelectionResults) -> list[StudyMethod]:
    """All but the LXMERT that is small for speed: the wide one is the paper's counterpart."""
    return [method for method in results.study.methods if method.label != SMALL_LXMERT]


def _beats_on_all(results: SelectionResults) -> Finding:
    says = "No debiasing method beats its backbone on all nine OOD test sets"
    rule = (
        "every method surely loses on some set (upper end below 0, corrected for nine sets); does not hold if some "
        "method's nine lower ends are all above 0 (chosen on IID val)"
    )
    listed, seeds = [], []
    winner, loses, measured = False, True, True
    for method in (m for m in results.study.methods if m.backbone):
        gains = _list_gains(results, method.label, method.backbone)
        if len(gains) < SETS:
            measured = False
            continue
        corrected = _list_gains(results, method.label, method.backbone, SETS)
        worse = sum(map(_is_below, corrected.values()))
        winner, loses = winner or all(map(_is_above, gains.values())), loses and worse > 0
        listed.append(f"{method.label}: above on {sum(map(_is_above, corrected.values()))}, below on {worse}")
        if not worse:
            listed[-1] += f" (by its values above on {sum((gain.value or 0.0) > 0 for gain in gains.values())})"
        seeds.append(len(results.list_seeds(method.label, method.backbone)))
    told = _tell_seeds("; ".join(listed) + " (all by corrected intervals)" * bool(listed), seeds)
    if not measured and not winner:
        return Finding(says, rule, NOT_MEASURED, told)
    return Finding(says, rule, _decide(loses and measured, winner), told)


def _hurts_others(results: SelectionResults) -> Finding:
    says = "Debiasing for one shortcut hurts on others (LMH: for question types)"
    rule = (
        "updn+lmh surely gains on QT and surely loses on another set (upper end below 0, corrected for eight sets); "
        "does not hold if it surely loses on QT, its own shortcut, or is below 0 on no set"
    )
    gains = _list_gains(results, "updn+lmh", "updn")
    if len(gains) < SETS:
        return Finding(says, rule, NOT_MEASURED)
    own = gains["QT"]
    corrected = _list_gains(results, "updn+lmh", "updn", OTHER_SETS)
    hurt = any(_is_below(gain) for name, gain in corrected.items() if name != "QT")
    lower = any((gain.value or 0.0) < 0 for name, gain in gains.items() if name != "QT")
    verdict = _decide(_is_above(own) and hurt, _is_below(own) or not lower)
    listed = ", ".join(f"{name} {_points(gain)}" for name, gain in gains.items())
    if (untied := results.find_gain("updn+lmh", "updn", PLANTED)) is not None:
        listed += f"; where nothing is tied (ood_test) {_interval(untied)}"
    return Finding(says, rule, verdict, _tell_seeds(listed, [len(results.list_seeds("updn+lmh", "updn"))]))


def _imbalance_is_harder(results: SelectionResults) -> Finding:
    says = "The more imbalanced the train answers of a shortcut, the harder its OOD test set"
    rule = (
        f"Spearman's correlation of E and OOD accuracy over nine sets is at least {CRITICAL:.2f} for every backbone; "
        "does not hold if it is 0 or less for one"
    )
    found, others, measured = [], [], results.world is not None
    for method in (m for m in _list_judged(results) if not m.backbone):
        scores = [results.find_score(method.label, tail_of(s), OOD_TEST) for s in SHORTCUTS]
        values = [s.value for s in scores if s is not None and s.value is not None]
        if results.world is None or len(values) < SETS:
            measured = False
            continue
        found.append((method.label, correlate_ranks([results.world.degrees[s] for s in SHORTCUTS], values)))
        if several := results.world.several_degrees:
            others.append((method.label, correlate_ranks([several[s] for s in SHORTCUTS], values)))
    listed = ", ".join(f"{label} {value:+.2f}" for label, value in found)
    if others:
        listed += f"; by groups with several answers alone {', '.join(f'{one} {value:+.2f}' for one, value in others)}"
    listed = _tell_seeds(listed, [len(results.list_seeds(label)) for label, _ in found])
    high = all(value >= CRITICAL for _, value in found)
    if not found or (high and not measured):
        return Finding(says, rule, NOT_MEASURED, listed)
    return Finding(says, rule, _decide(high, any(value <= 0 for _, value in found)), listed)


def _choosing_adds(results: SelectionResults) -> Finding:
    says = "Choosing the epoch on OOD data adds points on the OOD test sets"
    rule = (
        "what choosing on OOD val adds to choosing on IID val is surely above 0, mean over the models with at least "
        "two seeds (over all, if none has); choosing on OOD test, the very figure, cannot lose: it is told as an upper "
        "bound"
    )
    seeds = {m.label: len(results.list_seeds(m.label)) for m in _list_judged(results)}
    several = [label for label, n in seeds.items() if n > 1] or [label for label, n in seeds.items() if n]
    gain, bound = (results.find_selection_gain(strategy, *several) for strategy in (OOD_VAL, OOD_TEST))
    if gain is None or bound is None:
        return Finding(says, rule, NOT_MEASURED)
    single = {label: results.find_selection_gain(OOD_VAL, label) for label in several}
    ordered = sorted((score.value or 0.0, label) for label, score in single.items() if score is not None)
    told = f"OOD val {_interval(gain)}, OOD test {_interval(bound)} points, over {len(several)} models; OOD val from "
    told += " to ".join(f"{100 * value:+.2f} ({label})" for value, label in (ordered[0], ordered[-1]))
    told += f", median {100 * float(np.median([value for value, _ in ordered])):+.2f}"
    if len(ordered) > 2 * MOST_GAINING:
        rest = [value for value, _ in ordered[:-MOST_GAINING]]
        told += f", mean without the {MOST_GAINING} that gain most {100 * float(np.mean(rest)):+.2f}"
    told = _tell_seeds(told, [seeds[label] for label in several])
    return Finding(says, rule, _decide(_is_above(gain), _is_not_above(gain)), told)


def _ssl_needs_ood_choice(results: SelectionResults) -> Finding:
    says = "SSL beats UpDn only if its epoch is chosen on OOD data (Table 4)"
    rule = (
        "its mean over the OOD test sets is surely above UpDn's if both are chosen on OOD test, and surely not if "
        "chosen on IID val; does not hold if one of the two is surely otherwise; at most undecided where IID val chose "
        "epochs before SSL's own term begins, whose weights are UpDn's"
    )
    chosen, plain = (results.find_mean_gain("updn+ssl", "updn", strategy) for strategy in (OOD_TEST, IID_VAL))
    if chosen is None or plain is None:
        return Finding(says, rule, NOT_MEASURED)
    told = f"OOD test {_interval(chosen)}, IID val {_interval(plain)} points"
    epochs = results.list_epochs("updn+ssl", IID_VAL)
    told += f"; epochs chosen on IID val: {', '.join(map(str, epochs))}"
    before = [begins_after(len(next(iter(run.right.values())))) for run in results.list_runs("updn+ssl")]
    acts = all(epoch > last for epoch, last in zip(epochs, before, strict=True))
    if not acts:
        told += f" (its own term begins after epoch {max(before)})"
    told = _tell_seeds(told, [len(results.list_seeds("updn+ssl", "updn"))])
    holds = _is_above(chosen) and _is_not_above(plain) and acts
    return Finding(says, rule, _decide(holds, _is_not_above(chosen) or (_is_above(plain) and acts)), told)


def begins_after(epochs: int) -> int:
    """The last epoch, from 1, that SSL learns as its backbone does."""
    return math.ceil(IrrelevantPairs.settings["begin"] * epochs)


def _lpf_loses_with_gamma(results: SelectionResults) -> Finding:
    says = "Keeping a model more from frequent samples (LPF, γ from 1 to 5) costs IID and OOD accuracy"
    rule = (
        "γ = 5 is surely below γ = 1 on the IID test and on the mean over the OOD test sets; does not hold if it is "
        "surely above on one"
    )
    low, high = "updn+lpf gamma=1", "updn+lpf gamma=5"
    iid, ood = results.find_gain(high, low, IID), results.find_mean_gain(high, low)
    if iid is None or ood is None:
        return Finding(says, rule, NOT_MEASURED)
    told = f"IID {_interval(iid)}, mean OOD {_interval(ood)} points, chosen on IID val"
    for strategy, name in ((OOD_VAL, "OOD val"), (OOD_TEST, "OOD test")):
        if (other := results.find_mean_gain(high, low, strategy)) is not None:
            told += f"; mean OOD {_interval(other)}, chosen on {name}"
    told = _tell_seeds(told, [len(results.list_seeds(high, low))])
    holds, fails = _is_below(iid) and _is_below(ood), _is_above(iid) or _is_above(ood)
    return Finding(says, rule, _decide(holds, fails), told)


def _best_on_all(results: SelectionResults) -> Finding:
    says = "LXMERT, with better joint features, is above every UpDn-based method on all nine OOD test sets"
    others = [m.label for m in results.study.methods if m.model.partition("+")[0] == "updn"]
    rule = (
        f"every difference of {WIDE_LXMERT} is surely above 0 (chosen on IID val; here it was not pre-trained); does "
        f"not hold if one is surely below, corrected for {SETS * len(others)} differences"
    )
    listed, seeds = [], []
    above, below, measured = True, False, True
    for label in others:
        gains = _list_gains(results, WIDE_LXMERT, label)
        if len(gains) < SETS:
            measured = False
            continue
        corrected = _list_gains(results, WIDE_LXMERT, label, SETS * len(others)).values()
        worse = sum(map(_is_below, corrected))
        above, below = above and all(map(_is_above, gains.values())), below or worse > 0
        listed.append(f"{label}: above on {sum(map(_is_above, corrected))}, below on {worse}")
        seeds.append(len(results.list_seeds(WIDE_LXMERT, label)))
    told = _tell_seeds("; ".join(listed), seeds)
    if not measured and not below:
        return Finding(says, rule, NOT_MEASURED, told)
    return Finding(says, rule, _decide(above and measured, below), told)


def _iid_is_easier(results: SelectionResults) -> Finding:
    says = "Every model is better on the IID test than on every OOD test set"
    rule = (
        "IID less OOD accuracy is surely above 0 for every model measured and all nine sets; does not hold if one is "
        "surely below, corrected for all of them"
    )
    measured = [m.label for m in _list_judged(results) if results.list_seeds(m.label)]
    count = SETS * len(measured)
    pairs = [(label, name) for label in measured for name in results.list_sets()]
    gaps = {pair: gap for pair in pairs if (gap := results.find_gap(pair[0], tail_of(pair[1]))) is not None}
    if not gaps:
        return Finding(says, rule, NOT_MEASURED)
    harder = [
        pair
        for pair in gaps
        if (gap := results.find_gap(pair[0], tail_of(pair[1]), count)) is not None and _is_below(gap)
    ]
    least = min(gaps, key=lambda pair: gaps[pair].value or 0.0)
    backbones = {m.label for m in results.study.methods if not m.backbone}
    told = ""
    for name, own in (("backbones", True), ("methods", False)):
        some = {pair: gap for pair, gap in gaps.items() if (pair[0] in backbones) == own}
        lower = sum(pair in some for pair in harder)
        told += f"{name}: {sum(map(_is_above, some.values()))} of {len(some)} surely above, {lower} surely below; "
    told += f"the least: {least[0]}, {least[1]} {_interval(gaps[least])} points"
    told = _tell_seeds(told, [len(results.list_seeds(label)) for label in measured])
    return Finding(says, rule, _decide(all(map(_is_above, gaps.values())), bool(harder)), told)


def _shortcut_samples_cost_tails(results: SelectionResults) -> Finding:
    few, *_, many = results.study.proportions
    says = "More shortcut samples to train on cost accuracy on the tail (Figure 7)"
    rule = (
        f"on the tail of every shortcut, {many}% of shortcut samples are surely worse than {few}% (points lost, "
        "chosen on OOD test); does not hold if they are surely better on one, corrected for nine sets"
    )
    return _judge_shares(results, says, rule, tail_of, {few: 1.0, many: -1.0})


def _heads_are_soon_learned(results: SelectionResults) -> Finding:
    few, some, *_, many = results.study.proportions
    says = f"Accuracy on the head rises fast and is stable from {some}% of shortcut samples on (Figure 7)"
    rule = (
        f"on the head of every shortcut, what {some}% add to {few}% is surely more than what {many}% add to {some}% "
        "(points more, chosen on OOD test); does not hold if it is surely less on one, corrected for nine sets"
    )
    return _judge_shares(results, says, rule, head_of, {few: -1.0, some: 2.0, many: -1.0})


def _judge_shares(
    results: SelectionResults, says: str, rule: str, name_set: Callable[[str], str], by: Mapping[int, float]
) -> Finding:
    """Whether a sum of accuracies after training with several shares of shortcut samples is above 0, every shortcut."""
    sums = _list_share_sums(results, name_set, by, OOD_TEST)
    corrected = _list_share_sums(results, name_set, by, OOD_TEST, SETS)
    told = ", ".join(f"{name} {_interval(score)}" for name, score in sums.items())
    below = any(map(_is_below, corrected.values()))
    if len(sums) < SETS and not below:
        return Finding(says, rule, NOT_MEASURED, told)
    plain = _list_share_sums(results, name_set, by, IID_VAL, SETS).values()
    told += f"; chosen on IID val surely above 0 on {sum(map(_is_above, plain))}, below on {sum(map(_is_below, plain))}"
    last = [f"{name} {100 * value:+.1f}" for name, value in _sum_last_epochs(results, name_set, by).items()]
    told += f" (corrected); after the last epoch {', '.join(last)}"
    method, trainings = (
        results.study.proportion_method,
        {f"{PROPORTION}/{name}/{share}" for name in sums for share in by},
    )
    told = _tell_seeds(told, [len(results.list_seeds(method, training=training)) for training in trainings])
    return Finding(says, rule, _decide(all(map(_is_above, sums.values())), below), told)


def _list_share_sums(
    results: SelectionResults,
    name_set: Callable[[str], str],
    by: Mapping[int, float],
    strategy: str,
    comparisons: int = 1,
) -> dict[str, Score]:
    method, found = results.study.proportion_method, {}
    for name in SHORTCUTS:
        terms = [
            AccuracyTerm(method, (name_set(name),), factor, strategy, f"{PROPORTION}/{name}/{share}")
            for share, factor in by.items()
        ]
        score = results.estimate("share_sum", [terms], comparisons)
        if score is not None and score.value is not None:
            found[name] = score
    return found


def _sum_last_epochs(
    results: SelectionResults, name_set: Callable[[str], str], by: Mapping[int, float]
) -> dict[str, float]:
    """The same sums of the first seed's last epochs, whichever are chosen."""
    study, found = results.study, {}
    assert results.world is not None
    for name in SHORTCUTS:
        runs = [results.list_runs(study.proportion_method, f"{PROPORTION}/{name}/{share}") for share in by]
        if all(runs):
            counts = [run[0].right[name_set(name)][-1] for run in runs]
            whole = results.world.sizes[name_set(name)]
            found[name] = sum(n * factor for n, factor in zip(counts, by.values(), strict=True)) / whole
    return found


def correlate_ranks(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's correlation; equal values share their mean rank."""
    ranks = []
    for values in (one, other):
        array = np.asarray(values, float)
        below = (array[None, :] < array[:, None]).sum(1)
        equal = (array[None, :] == array[:, None]).sum(1)
        ranks.append(below + (equal - 1) / 2)
    if any(np.ptp(rank) == 0 for rank in ranks):
        return 0.0
    return float(np.corrcoef(*ranks)[0, 1])


def _list_gains(results: SelectionResults, method: str, backbone: str, comparisons: int = 1) -> dict[str, Score]:
    found = {s: results.find_gain(method, backbone, tail_of(s), comparisons=comparisons) for s in SHORTCUTS}
    return {name: gain for name, gain in found.items() if gain is not None and gain.value is not None}


def _decide(surely_true: bool, surely_false: bool) -> str:
    return FAILS if surely_false else HOLDS if surely_true else UNDECIDED


def _is_above(score: Score) -> bool:
    return score.low is not None and score.low > ROUNDING


def _is_below(score: Score) -> bool:
    return score.high is not None and score.high < -ROUNDING


def _is_not_above(score: Score) -> bool:
    return score.high is not None and score.high <= ROUNDING


def _points(score: Score) -> str:
    return f"{100 * (score.value or 0):+.2f}"


def _interval(score: Score) -> str:
    if score.low is None or score.high is None:
        return _points(score)
    return f"{_points(score)} ({100 * score.low:+.1f}, {100 * score.high:+.1f})"


def _tell_seeds(told: str, seeds: Iterable[int]) -> str:
    """With the fewest seeds of all figures; with one, an interval is over scenes alone."""
    fewest = min(seeds, default=0)
    return f"{told}; fewest seeds: {fewest}" if fewest else told
