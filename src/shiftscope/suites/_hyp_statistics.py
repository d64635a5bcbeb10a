"""Statistics of a CLEVR_HYP dataset: those of the paper's Table 2 and Figure 5, and what was refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from ..act.examples import REFUSED
from ..store.dataset import Dataset
from ..store.shard import groups
from ._hyp_splits import SHARE, SPLITS

COLUMNS = ("image_ids", "question", "action", "answer", "question_type", "notes")


@dataclass(slots=True)
class Figures:
    """One split in numbers."""

    split: str
    images: int = 0  # asked about
    objects: float = 0.0  # an image, on average
    actions: int = 0  # an image and an action text
    unique_actions: int = 0
    action_words: float = 0.0  # on average, between blanks
    questions: int = 0
    wanted: int = 0  # questions, were every image to allow all that is asked of it
    unique_questions: int = 0
    question_words: float = 0.0
    kinds: Counter[str] = field(default_factory=Counter)  # of actions
    types: Counter[str] = field(default_factory=Counter)  # of questions
    answers: Counter[str] = field(default_factory=Counter)
    placed: int = 0  # questions about an action that leaves a place open
    elsewhere: int = 0  # and those refused because their answer depends on that place
    placements: int = 1  # that were compared; of one, nothing can be refused

    @property
    def refused(self) -> float | None:
        """Of the questions kept about free places and those refused before them, the share refused."""
        if self.placements == 1 or not self.placed:
            return None
        return self.elsewhere / (self.elsewhere + self.placed)

    @property
    def short(self) -> str:
        """`two_hop_actions: 14,800 of 15,000`, where some are missing."""
        return f"{self.split}: {self.questions:,} of {self.wanted:,}" if self.questions < self.wanted else ""

    def to_json(self) -> dict[str, Any]:
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        counted = {n: dict(sorted(v.items())) for n, v in plain.items() if isinstance(v, Counter)}
        refused = self.refused
        return plain | counted | {"refused": None if refused is None else round(refused, 6)}

    def row(self) -> tuple[Any, ...]:
        return (
            *(self.split, self.images, round(self.objects, 1), self.actions, self.unique_actions),
            *(round(self.action_words, 1), self.questions, self.unique_questions),
            *(round(self.question_words, 1), "" if self.refused is None else f"{self.refused:.1%}"),
        )


HEADER = (
    *("split", "images", "objects", "actions", "unique", "words", "questions", "unique", "words"),
    "refused: place decides",
)


def figures(dataset: Dataset) -> list[Figures]:
    """The statistics of every split."""
    sizes: dict[str, int] = {}
    for shard in dataset.shards():
        if shard.images:
            for table in groups(dataset.folder / shard.images.path, ["image_id", "num_objects"]):
                sizes |= dict(zip(*(table[n].to_pylist() for n in ("image_id", "num_objects")), strict=True))
    return [_figures(dataset, split, sizes) for split in dataset.splits]


def _figures(dataset: Dataset, split: str, sizes: dict[str, int]) -> Figures:
    pool = SPLITS[split].pool
    found = Figures(split, placements=dataset.manifest.spec["placements"])
    found.wanted = SPLITS[split].full(dataset.count(pool)[0])
    images: set[str] = set()
    actions: set[tuple[str, str]] = set()
    texts: set[str] = set()
    words = 0
    for shard in dataset.shards(split):
        for table in groups(dataset.folder / shard.questions.path, list(COLUMNS)) if shard.questions else ():
            for (image, *_), text, action, answer, kind, notes in zip(
                *(table[n].to_pylist() for n in COLUMNS), strict=True
            ):
                told = json.loads(notes)
                images.add(image)
                actions.add((image, action))
                texts.add(text)
                words += len(text.split())
                found.questions += 1
                found.types[kind] += 1
                found.kinds[told["action_kind"]] += 1
                found.answers[answer] += 1
                free = told.get("placed") == "free"
                found.placed += free
                found.elsewhere += told.get(REFUSED[1], 0)
    found.images, found.actions = len(images), len(actions)
    found.unique_actions, found.unique_questions = len({a for _, a in actions}), len(texts)
    found.objects = sum(sizes.get(i, 0) for i in images) / max(len(images), 1)
    found.action_words = sum(len(a.split()) for _, a in actions) / max(len(actions), 1)
    found.question_words = words / max(found.questions, 1)
    return found


def described(dataset: Dataset) -> str:
    """The statistics as Markdown."""
    found = figures(dataset)
    lines = ["## Statistics", "", f"| {' | '.join(HEADER)} |", "|---" + "|---:" * (len(HEADER) - 1) + "|"]
    lines += [f"| {' | '.join(_cell(c) for c in f.row())} |" for f in found]
    lines += [
        "",
        "`objects` is how many an image has on average, `words` how many a text has; an action counts once "
        "an image. The last column is about actions that leave a place open: of the questions kept and those "
        "tried before them in the same search that differ in nothing else, the share refused because their "
        "answer depends on the place taken. It is empty where only one place was looked at.",
    ]
    lines += missing(found)
    for title, counts in (
        ("actions", [(f.split, f.kinds) for f in found]),
        ("question types", [(f.split, f.types) for f in found]),
        ("answers", [(f.split, f.answers) for f in found]),
    ):
        lines += ["", f"### Distribution of {title}", ""]
        lines += [f"- {split}: {shares(counted)}" for split, counted in counts if counted]
    return "\n".join(lines)


def missing(found: Sequence[Figures]) -> list[str]:
    """What is short, as Markdown: splits that have fewer examples than were asked for, or none."""
    lines: list[str] = []
    if any(f.short for f in found):
        lines += ["", "Fewer examples than asked for, since some scenes do not allow more:", ""]
        lines += [f"- {f.short}" for f in found if f.short]
    none = [name for name in SPLITS if name not in {f.split for f in found}]
    if none:
        lines += ["", f"With fewer than {SHARE} images there is no {', '.join(none)}."]
    return lines


def shares(counts: Counter[str]) -> str:
    """`add 20.0%, change 20.0%, …`, in the order of their names, numbers first."""
    total = counts.total()
    return ", ".join(f"{name} {n / total:.1%}" for name, n in sorted(counts.items()))


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
