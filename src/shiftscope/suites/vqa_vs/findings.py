"""What the paper finds about debiasing and selection, each with the rule by which it holds here or does not."""

from collections.abc import Iterator, Sequence

import numpy as np

from ...metrics.model_selection import IID, OOD_TEST, OOD_VAL, SelectionResults, tail_of
from ...result import Score
from ...shortcuts.concepts import SHORTCUTS
from ..study import FAILS, HOLDS, NOT_MEASURED, Finding

CRITICAL = 0.600  # of Spearman's correlation of nine pairs, one-sided at 5%


def check_findings(results: SelectionResults) -> Iterator[Finding]:
    yield _beats_on_all(results)
    yield _hurts_others(results)
    yield _imbalance_is_harder(results)
    yield _choosing_adds(results)
    yield _ssl_needs_ood_choice(results)
    yield _lpf_loses_with_gamma(results)
    yield _best_on_all(results)
    yield _iid_is_easier(results)


def _beats_on_all(results: SelectionResults) -> Finding:
    says = "No debiasing method beats its backbone on all nine OOD test sets"
    rule = "of no method are the lower ends of all nine gains above 0 (chosen on IID val)"
    won: list[str] = []
    winner, measured = False, True
    for method in (m for m in results.study.methods if m.backbone):
        gains = _list_gains(results, method.label, method.backbone)
        if len(gains) < len(SHORTCUTS):
            measured = False
            continue
        better = sum(_is_above(gain) for gain in gains.values())
        winner |= better == len(SHORTCUTS)
        won.append(f"{method.label} {better}/9")
    if winner:
        return Finding(says, rule, FAILS, ", ".join(won))
    return Finding(says, rule, HOLDS if measured else NOT_MEASURED, ", ".join(won))


def _hurts_others(results: SelectionResults) -> Finding:
    says = "Debiasing for one shortcut hurts on others (LMH: for question types)"
    rule = "updn+lmh loses points on an OOD set that is not of question types alone: an upper end below 0"
    gains = _list_gains(results, "updn+lmh", "updn")
    others = {name: gain for name, gain in gains.items() if name != "QT"}
    if len(gains) < len(SHORTCUTS):
        return Finding(says, rule, NOT_MEASURED)
    hurt = [name for name, gain in others.items() if gain.high is not None and gain.high < 0]
    listed = ", ".join(f"{name} {_points(gain)}" for name, gain in gains.items())
    return Finding(says, rule, HOLDS if hurt else FAILS, listed)


def _imbalance_is_harder(results: SelectionResults) -> Finding:
    says = "The more imbalanced the train answers of a shortcut, the harder its OOD test set"
    rule = f"Spearman's correlation of E and OOD accuracy over nine sets is at least {CRITICAL:.2f} for every backbone"
    if results.world is None:
        return Finding(says, rule, NOT_MEASURED)
    found = []
    for method in (m for m in results.study.methods if not m.backbone):
        scores = [results.find_score(method.label, tail_of(s), OOD_TEST) for s in SHORTCUTS]
        values = [s.value for s in scores if s is not None and s.value is not None]
        if len(values) == len(SHORTCUTS):
            degrees = [results.world.degrees[s] for s in SHORTCUTS]
            found.append((method.label, correlate_ranks(degrees, values)))
    if not found:
        return Finding(says, rule, NOT_MEASURED)
    listed = ", ".join(f"{label} {value:+.2f}" for label, value in found)
    return Finding(says, rule, HOLDS if all(value >= CRITICAL for _, value in found) else FAILS, listed)


def _choosing_adds(results: SelectionResults) -> Finding:
    says = "Choosing the epoch on OOD data adds points on the OOD test sets"
    rule = "the mean over models of what choosing on OOD test adds to choosing on IID val is above 0, and is told"
    gains = {
        strategy: [
            g for m in results.study.methods if (g := results.find_selection_gain(m.label, strategy)) is not None
        ]
        for strategy in (OOD_TEST, OOD_VAL)
    }
    if not gains[OOD_TEST]:
        return Finding(says, rule, NOT_MEASURED)
    means = {strategy: float(np.mean([g.value for g in some])) for strategy, some in gains.items()}
    told = f"OOD test {100 * means[OOD_TEST]:+.2f}, OOD val {100 * means[OOD_VAL]:+.2f} points"
    told += f", over {len(gains[OOD_TEST])} models"
    return Finding(says, rule, HOLDS if means[OOD_TEST] > 0 else FAILS, told)


def _ssl_needs_ood_choice(results: SelectionResults) -> Finding:
    says = "SSL beats UpDn only if its epoch is chosen on OOD data (Table 4)"
    rule = "its mean over the OOD test sets is above UpDn's chosen on OOD test, and not above it chosen on IID val"
    pairs = [
        (results.find_mean("updn+ssl", strategy), results.find_mean("updn", strategy))
        for strategy in (OOD_TEST, "iid_val")
    ]
    if any(one is None or one.value is None for pair in pairs for one in pair):
        return Finding(says, rule, NOT_MEASURED)
    chosen, plain = (float(a.value - b.value) for a, b in pairs)  # type: ignore[union-attr, operator]
    told = f"OOD test {100 * chosen:+.2f}, IID val {100 * plain:+.2f} points"
    return Finding(says, rule, HOLDS if chosen > 0 >= plain else FAILS, told)


def _lpf_loses_with_gamma(results: SelectionResults) -> Finding:
    says = "Keeping a model more from frequent samples (LPF, γ from 1 to 5) costs IID and OOD accuracy"
    rule = "γ = 5 is below γ = 1 on the IID test and on the mean over the OOD test sets"
    low, high = "updn+lpf gamma=1", "updn+lpf gamma=5"
    iid = [results.find_score(label, IID) for label in (high, low)]
    ood = [results.find_mean(label) for label in (high, low)]
    if any(one is None or one.value is None for one in (*iid, *ood)):
        return Finding(says, rule, NOT_MEASURED)
    changes = [float(a.value - b.value) for a, b in (iid, ood)]  # type: ignore[union-attr, operator]
    told = f"IID {100 * changes[0]:+.2f}, mean OOD {100 * changes[1]:+.2f} points"
    return Finding(says, rule, HOLDS if max(changes) < 0 else FAILS, told)


def _best_on_all(results: SelectionResults) -> Finding:
    says = "LXMERT, with better joint features, is above every UpDn-based method on all nine OOD test sets"
    rule = "its accuracy is higher on each set (chosen on IID val); here it was not pre-trained"
    mine = [results.find_score("lxmert", tail_of(s)) for s in SHORTCUTS]
    others = [m.label for m in results.study.methods if "updn" in (m.label, m.backbone)]
    theirs = {label: [results.find_score(label, tail_of(s)) for s in SHORTCUTS] for label in others}
    listed = [*mine, *(one for some in theirs.values() for one in some)]
    if any(one is None or one.value is None for one in listed):
        return Finding(says, rule, NOT_MEASURED)
    behind = [
        label
        for label, some in theirs.items()
        if not all(a.value > b.value for a, b in zip(mine, some, strict=True))  # type: ignore[union-attr, operator]
    ]
    return Finding(says, rule, FAILS if behind else HOLDS, f"not above {', '.join(behind)}" if behind else "above all")


def _iid_is_easier(results: SelectionResults) -> Finding:
    says = "Every model is better on the IID test than on every OOD test set"
    rule = "IID accuracy is above OOD accuracy for every model measured and all nine sets"
    gaps = []
    for method in results.study.methods:
        iid = results.find_score(method.label, IID)
        for name in SHORTCUTS:
            ood = results.find_score(method.label, tail_of(name))
            if iid and ood and iid.value is not None and ood.value is not None:
                gaps.append(iid.value - ood.value)
    if not gaps:
        return Finding(says, rule, NOT_MEASURED)
    told = f"gaps from {100 * min(gaps):.2f} to {100 * max(gaps):.2f} points"
    return Finding(says, rule, HOLDS if min(gaps) > 0 else FAILS, told)


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


def _list_gains(results: SelectionResults, method: str, backbone: str) -> dict[str, Score]:
    found = {s: results.find_gain(method, backbone, tail_of(s)) for s in SHORTCUTS}
    return {name: gain for name, gain in found.items() if gain is not None and gain.value is not None}


def _is_above(gain: Score) -> bool:
    return gain.low is not None and gain.low > 0


def _points(score: Score) -> str:
    return f"{100 * (score.value or 0):+.2f}"
