"""What CLEVR_HYP's paper concludes, and what we aimed at: each a rule over the study's figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..model_study import ACCURACY, ACTION, OUTCOME
from ..study import FAILS, HOLDS, NOT_MEASURED, Finding
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

Shares = dict[str, float | None]


def check_targets(results: StudyResults) -> Iterator[Finding]:
    """Accuracy from pictures; ours against what people scored on the paper's data."""
    for row, least in TARGETS:
        for split, share in least.items():
            found = results.share(row, split)
            says = f"{row} on {TESTS[split]}: at least {100 * share:.1f}%"
            yield _decide(says, "accuracy", {row: found}, partial(_reaches, share))


def check_paper_findings(results: StudyResults) -> Iterator[Finding]:
    original = {row: results.share(row, ORIGINAL) for row in BASELINES}
    yield _decide(
        "The scene graph update model has the best overall performance on Original.",
        "scene_edit above text_reader, lxmert and image_edit",
        original,
        lambda v: v[3] > max(v[:3]),
    )
    yield _decide(
        "Text-editing is best over Balanced.",
        "image_edit above the other three on Balanced",
        {row: results.share(row, BALANCED) for row in BASELINES},
        lambda v: v[2] > max(v[0], v[1], v[3]),
    )
    yield _decide(
        "Text alone does worst.", "text_reader below the other three on Original", original, lambda v: v[0] < min(v[1:])
    )
    for row, figure in ((PLAIN, ACTION), (EDITOR, OUTCOME)):
        parts = {kind: results.share(row, ORIGINAL, figure, f"action={kind}") for kind in (*EASY, *HARD)}
        yield _decide(
            f"{row} does well on remove and change, and struggles with add and move.",
            f"{figure} accuracy of remove and change each above those of add and both moves",
            parts,
            lambda v: min(v[:2]) > max(v[2:]),
        )
        pairs = {pair: results.share(row, ACTIONS, figure, f"action={pair}") for pair in PAIRS}
        yield _decide(
            f"{row}: remove+change is the easiest pair of actions.",
            f"{figure} accuracy of remove+change above the other five pairs",
            pairs,
            lambda v: v[3] > max(v[:3] + v[4:]),
        )
        yield _decide(
            f"{row} loses more to a second action than to a second step of reasoning.",
            "drop from Original to 2HopT_A above that to 2HopQ_H",
            {TESTS[split]: results.share(row, split) for split in (ORIGINAL, ACTIONS, QUESTIONS)},
            lambda v: v[0] - v[1] > v[0] - v[2],
        )
    kinds = {kind: results.share(PLAIN, ORIGINAL, ACCURACY, f"kind={kind}") for kind in (*PLAIN_TYPES, *COMPARISONS)}
    yield _decide(
        "Counting, existence and attribute queries are easier than comparisons.",
        "scene_edit on Original: the mean of the three above the mean of the two",
        kinds,
        lambda v: sum(v[:3]) / 3 > sum(v[3:]) / 2,
    )


def _reaches(least: float, found: Sequence[float]) -> bool:
    return found[0] >= least


def _decide(says: str, rule: str, shares: Shares, holds: Callable[[list[float]], bool]) -> Finding:
    known = [value for value in shares.values() if value is not None]
    if len(known) < len(shares):
        return Finding(says, rule, NOT_MEASURED)
    figures = ", ".join(f"{name} {100 * value:.1f}" for name, value in zip(shares, known, strict=True))
    return Finding(says, rule, HOLDS if holds(known) else FAILS, figures)
