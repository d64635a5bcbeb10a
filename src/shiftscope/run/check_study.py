"""Check a study: that every twin differs from its base in the one factor, and in that alone.

Compared are all fields of the scenes, the boxes, visible pixels and masks that are stored with the pictures,
and the questions that twins share. The pictures themselves are compared where they are the same file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from types import ModuleType

from ..question import Question
from ..scene import Scene
from ..store.build import Progress
from ..store.dataset import Dataset
from ..store.shard import Shard, read_questions
from ..suites._superclevr_variants import VARIANTS, shift_of
from ..suites.superclevr import SHARED_QUESTIONS
from .check_stored import Stored, read_stored, stored_breaches
from .make_study import Bar, Member, read_study

MOST = 20  # differences that are told apart
MOST_MOVED = 0.05  # of the vehicles: more, and the layouts are not shared
FEW_MOVED = 5  # vehicles that say nothing yet about the share, in a small study


@dataclass(frozen=True, slots=True)
class Checked:
    """One variant against its base."""

    variant: str
    base: str
    scenes: int  # compared
    questions: int
    vehicles: int
    moved: int  # vehicles that had no place where their base stands
    wrong: int  # differences that should not be, or that should and are not
    examples: tuple[str, ...]  # the first of them, in words

    @property
    def moved_share(self) -> float:
        return self.moved / self.vehicles if self.vehicles else 0.0


def check_study(folder: Path, bar: Bar = lambda name: nullcontext()) -> Iterator[Checked]:
    """Every twin of a finished study, compared as it is read back from disk."""
    for member in read_study(folder):
        if member.base is not None:
            with bar(member.name) as progress:
                made = check_variant(folder, member, progress)
            yield made


def check_variant(folder: Path, member: Member, progress: Progress | None = None) -> Checked:
    """All scenes, and all questions that a variant shares with its base."""
    assert member.base is not None
    base, twin = Dataset.open(folder / member.base), Dataset.open(folder / member.name)
    shift = shift_of(VARIANTS[member.name])
    count = Counts()
    beside = {(s.split, s.index): s for s in base.shards()}
    if dict(twin.manifest.plan) != _planned(base, member):
        count.add("its splits")
    shards = twin.shards()
    for done, shard in enumerate(shards, 1):
        other = beside.get((shard.split, shard.index))
        if other is None:
            count.add(f"shard {shard.index} of {shard.split} has none beside it")
        else:
            _check_shard(count, shift, member.name, (base, other), (twin, shard))
        if progress is not None:
            progress(done, len(shards), f"{count.scenes:,} scenes, {count.questions:,} questions")
    if not count.changed:
        count.add(f"nothing differs in {shift.FACTOR.name}")
    if count.moved > max(FEW_MOVED, MOST_MOVED * count.vehicles):
        count.add(f"{count.moved:,} of {count.vehicles:,} vehicles are moved, more than {MOST_MOVED:.0%}")
    return Checked(
        *(member.name, str(member.base), count.scenes, count.questions, count.vehicles, count.moved),
        *(count.wrong, tuple(count.examples)),
    )


class Counts:
    """What was compared so far."""

    def __init__(self) -> None:
        self.scenes = self.questions = self.vehicles = self.moved = self.wrong = 0
        self.changed = False  # whether the factor made any difference yet
        self.examples: list[str] = []

    def add(self, *wrong: str, of: str = "") -> None:
        self.wrong += len(wrong)
        self.examples += [f"{of}: {what}" if of else what for what in wrong][: MOST - len(self.examples)]


def _planned(base: Dataset, member: Member) -> dict[str, int]:
    """The splits, and how many shards each must have."""
    plan = dict(base.manifest.plan)
    return {"test": plan.get("test", 0)} if member.test_only else plan


Half = tuple[Dataset, Shard]


def _check_shard(count: Counts, shift: ModuleType, level: str, base: Half, twin: Half) -> None:
    kept = read_stored(*base), read_stored(*twin)
    _check_scenes(count, shift, level, *kept)
    if shift.FACTOR.name == "redundancy" and _digest(base[1]) != _digest(twin[1]):
        count.add("its pictures", of=f"shard {twin[1].index} of {twin[1].split}")
    asked = _asked(*base), _asked(*twin)
    if shift.FACTOR.name in SHARED_QUESTIONS:
        known = {s.id: s for s in kept[1].scenes}
        whole = not any(o.parts for s in kept[1].scenes for o in s.objects)
        _check_questions(count, shift, known, _beside(*asked, whole=whole))
        return
    one, two = (Counter(q.scenes[0] for q in half) for half in asked)
    for name in one.keys() | two.keys():
        if one[name] != two[name]:
            count.add(f"{two[name]} questions, not {one[name]}", of=name)
    count.add(*("names a twin" for q in asked[1] if q.note("twin") is not None))


def _check_scenes(count: Counts, shift: ModuleType, level: str, base: Stored, twin: Stored) -> None:
    for a, b in zip_longest(base.scenes, twin.scenes):
        count.scenes += 1
        if a is None or b is None:
            count.add("a scene is missing", of=(a or b).id)
            continue
        wrong = list(shift.breaches(a, b))
        if hasattr(shift, "off_level"):
            wrong += shift.off_level(a, b, level)
        count.changed |= a.objects != b.objects
        count.vehicles += len(b.objects)
        count.moved += len(b.note("moved", ()))
        count.add(*wrong, of=b.id)
    for name, wrong in stored_breaches(base, twin, shift.FACTOR.name, level):
        count.add(*wrong, of=name)


def _check_questions(
    count: Counts,
    shift: ModuleType,
    scenes: dict[str, Scene],
    beside: Iterator[tuple[Question | None, Question | None]],
) -> None:
    for a, b in beside:
        count.questions += 1
        if a is None or b is None:
            asked = a or b
            count.add("a question is missing", of=asked.id if asked else "")
        elif not set(b.scenes) <= scenes.keys():
            count.add("it is about no scene there", of=b.id)
        else:
            count.changed |= (a.text, a.program) != (b.text, b.program)
            count.add(*shift.question_breaches(a, b, scenes[b.scenes[0]]), of=b.id)


def _digest(shard: Shard) -> str:
    return shard.images.digest if shard.images else ""


def _asked(dataset: Dataset, shard: Shard) -> list[Question]:
    return list(read_questions(dataset.folder / shard.questions.path)) if shard.questions else []


def _beside(
    base: list[Question], twin: list[Question], *, whole: bool
) -> Iterator[tuple[Question | None, Question | None]]:
    """Questions with their twins; where the twin's vehicles are whole, those about parts have none."""
    found = {str(q.note("twin", q.id)): q for q in twin}
    for a in base:
        b = found.pop(a.id, None)
        if b is not None or not (whole and a.program is not None and _about_parts(a)):
            yield a, b
    for b in found.values():
        yield None, b


def _about_parts(question: Question) -> bool:
    from ..lang.check import plan_of

    assert question.program is not None
    return plan_of(question.program).on_parts
