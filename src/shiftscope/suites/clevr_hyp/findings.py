"""What CLEVR_HYP's paper concludes, and what we aimed at: each a rule over the study's figures.

A conclusion of the paper holds where every difference that it speaks of is surely above 0, and does not where one is
surely below: by its interval at 95%, of figures taken as independent. Else it is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..model_study import ACCURACY, ACTION, OUTCOME, Figure
from ..study import FAILS, HOLDS, NOT_MEASURED, UNDECIDED, Finding
from .reported import TESTS

if TYPE_CHECKING:
    from ..model_study import StudyResults

ORIGINAL, BALANCED, ACTIONS, QUESTIONS = TESTS
READER, LXMERT, EDITOR, PLAIN = "text_reader, parsed scene", "lxmert", "image_edit", "scene_edit"
RECOMBINED, OURS = "scene_edit, recombined", "scene_edit_worlds, recombined (ours)"
BASELINES = (READER, LXMERT, EDITOR, PLAIN)
TARGETS = (
    *((row, {ORIGINAL: 0.95, BALANCED: 0.95, ACTIONS: 0.93, QUESTIONS: 0.93}) for row in (PLAIN, RECOMBINED)),
    (OURS, {ORIGINAL: 0.984, ACTIONS: 0.962, QUESTIONS: 0.966}),
)
EASY, HARD = ("remove", "change"), ("add", "move_in_plane", "move_on_top")
PAIRS = ("add+remove", "add+change", "add+move", "remove+change", "remove+move", "change+move")
PLAIN_TYPES, COMPARISONS = ("count", "exist", "query_attribute"), ("compare_integer", "compare_attribute")

Figures = Mapping[str, Figure | None]
Ends = tuple[float, float, float]  # a share between the ends of its interval
Means = tuple[Sequence[str], Sequence[str]]  # the mean of the first is above the mean of the second


def check_targets(results: StudyResults) -> Iterator[Finding]:
    """Accuracy from pictures; ours against what people scored on the paper's data."""
    for row, least in TARGETS:
        for split, share in least.items():
            found = results.share(row, split)
            says = f"{row} on {TESTS[split]}: at least {100 * share:.1f}%"
            if found is None:
                yield Finding(says, "accuracy", NOT_MEASURED)
            else:
                yield Finding(says, "accuracy", HOLDS if found >= share else FAILS, f"{row} {100 * found:.1f}")


def check_paper_findings(results: StudyResults) -> Iterator[Finding]:
    original = {row: results.find(row, ORIGINAL) for row in BASELINES}
    yield _compare(
        "Editing the scene graph is best on Original.",
        "scene_edit above text_reader, lxmert and image_edit",
        original,
        _put_above((PLAIN,), original),
    )
    yield _compare(
        "Editing the image is best on Balanced.",
        "image_edit above the other three on Balanced",
        {row: results.find(row, BALANCED) for row in BASELINES},
        _put_above((EDITOR,), original),
    )
    yield _compare(
        "Text alone does worst on Original.",
        "text_reader below the other three on Original",
        original,
        [((row,), (READER,)) for row in BASELINES if row != READER],
    )
    for row, figure in ((PLAIN, ACTION), (EDITOR, OUTCOME)):
        parts = {kind: results.find(row, ORIGINAL, figure, f"action={kind}") for kind in (*EASY, *HARD)}
        yield _compare(
            f"{row} does better on remove and change than on add and move.",
            f"{figure} accuracy of remove and change each above those of add and both moves",
            parts,
            _put_above(EASY, parts),
        )
        pairs = {pair: results.find(row, ACTIONS, figure, f"action={pair}") for pair in PAIRS}
        yield _compare(
            f"{row}: remove+change is the easiest pair of actions.",
            f"{figure} accuracy of remove+change above the other five pairs",
            pairs,
            _put_above(("remove+change",), pairs),
        )
        yield _compare(
            f"{row} loses more to a second action than to a second step of reasoning.",
            "accuracy on 2HopQ_H above that on 2HopT_A",
            {TESTS[split]: results.find(row, split) for split in (ORIGINAL, ACTIONS, QUESTIONS)},
            [((TESTS[QUESTIONS],), (TESTS[ACTIONS],))],
        )
    for row in BASELINES:
        yield _compare(
            f"{row}: counting, existence and attribute queries are easier than comparisons.",
            "on Original the mean of the three above the mean of the two; the paper says it of most models",
            {kind: results.find(row, ORIGINAL, ACCURACY, f"kind={kind}") for kind in (*PLAIN_TYPES, *COMPARISONS)},
            [(PLAIN_TYPES, COMPARISONS)],
        )


def _put_above(high: Sequence[str], names: Iterable[str]) -> list[Means]:
    """Each of these above each of the others."""
    return [((one,), (other,)) for one in high for other in names if other not in high]


def _compare(says: str, rule: str, found: Figures, above: Sequence[Means]) -> Finding:
    known = {name: _read_ends(figure) for name, figure in found.items() if figure is not None}
    if len(known) < len(found):
        return Finding(says, rule, NOT_MEASURED)
    figures = ", ".join(f"{name} {100 * share:.1f}" for name, (_, share, _) in known.items())
    pairs = [([known[name] for name in high], [known[name] for name in low]) for high, low in above]
    if all(_is_surely_above(high, low) for high, low in pairs):
        return Finding(says, rule, HOLDS, figures)
    fails = any(_is_surely_above(low, high) for high, low in pairs)
    return Finding(says, rule, FAILS if fails else UNDECIDED, figures)


def _read_ends(figure: Figure) -> Ends:
    share, low, high, _ = figure
    assert share is not None
    return (-math.inf if low is None else low, share, math.inf if high is None else high)


def _is_surely_above(high: Sequence[Ends], low: Sequence[Ends]) -> bool:
    """Whether the lower end of the difference of two means is above 0."""
    difference = sum(share for _, share, _ in high) / len(high) - sum(share for _, share, _ in low) / len(low)
    below = [(share - end) / len(high) for end, share, _ in high]
    above = [(end - share) / len(low) for _, share, end in low]
    return difference > math.hypot(*below, *above)
