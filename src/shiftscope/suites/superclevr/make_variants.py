"""Make every variant of a suite, each from its base, and check that twins differ in one factor alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from typing import Any

from ...errors import UserError
from ...executor import Progress
from ...files import read_whole, write_whole
from ...folder import list_contents, lock_folder
from ...question import Question
from ...records import read_json
from ...scene import Scene
from ...shift.concept_distribution import has_same_outlines
from ...store.dataset import Dataset
from ...store.shard import Shard, iterate_row_groups, read_questions
from ...world.superclevr import SuperClevrRules
from .. import MakeReport, ProgressBar, count_splits, show_no_bar
from .suite import SHARED_QUESTIONS, SUITE, SuperclevrSpec, TwinBase
from .variants import DEFAULT, VARIANTS, load_shift

NAME = "study.json"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class StudyVariant:
    """One dataset of a study: DIR/NAME, a twin of DIR/BASE."""

    name: str
    base: str | None  # None for the default
    factor: str
    test_only: bool

    def to_json(self) -> dict[str, Any]:
        found = {"folder": self.name, "base": self.base, "factor": self.factor, "test_only": self.test_only}
        return {"variant": self.name} | {k: v for k, v in found.items() if v}


def plan_study(spec: SuperclevrSpec, visual: str = "mid") -> list[tuple[StudyVariant, SuperclevrSpec]]:
    """Every variant with what it is made from, bases before their twins.

    `visual` is the level at which the variants of the other factors, and so their base, are seen.
    """
    found = []
    for name, variant in VARIANTS.items():
        level = variant.visual if variant.factor in ("", "visual") else visual
        own = replace(spec, variant=name, visual=level)
        base = None if name == DEFAULT else own.base().variant
        found.append((StudyVariant(name, base, variant.factor, variant.test_only), own))
    return found


def make_study(
    spec: SuperclevrSpec,
    out: Path,
    *,
    visual: str = "mid",
    workers: int | None = None,
    repair: bool = False,
    bar: ProgressBar = show_no_bar,
) -> Iterator[tuple[StudyVariant, Dataset]]:
    """Make all variants under a folder, one after the other; resumes where an earlier run stopped.

    At the end `study.json` names the twins. `bar` gives the progress bar of a variant by its name.
    """
    members = plan_study(spec, visual)
    _refuse_foreign(out)
    with lock_folder(out):
        for member, own in members:
            base = TwinBase(out / member.base) if member.base else None
            with bar(member.name) as progress:
                folder = out / member.name
                made = SUITE.make(own, folder, base, workers=workers, repair=repair, bar=partial(_reuse_bar, progress))
            yield member, made.dataset
        listed = [m.to_json() for m, _ in members]
        data = {"format": FORMAT, "suite": SUITE.name, "order": members[0][1].spec(), "variants": listed}
        write_whole(out / NAME, (json.dumps(data, indent=1) + "\n").encode())


def report_study(
    spec: SuperclevrSpec, visual: str, out: Path, check: bool, *, workers: int | None, repair: bool, bar: ProgressBar
) -> Iterator[MakeReport]:
    """Make all variants, and compare the twins if wanted; a report each as it is done."""
    shards = 0
    own_bar = partial(_name_bar, bar, "making")
    for member, dataset in make_study(spec, out, visual=visual, workers=workers, repair=repair, bar=own_bar):
        shards += dataset.made or 0
        splits = count_splits(dataset)
        data = {"variant": member.name, "base": member.base, "shards_made": dataset.made, "splits": splits}
        images, questions = (sum(c[what] for c in splits.values()) for what in ("images", "questions"))
        yield MakeReport(data, [f"{member.name:<8} {images:>8,} images {questions:>10,} questions"])
    what = f"wrote {out}" if shards else f"nothing to do: {out} was whole already"
    yield MakeReport({}, [f"{what} (study.json there names the twins)"])
    if check:
        yield from _report_checks(check_study(out, bar=partial(_name_bar, bar, "checking")))


def _reuse_bar(progress: Progress | None, name: str) -> AbstractContextManager[Progress | None]:
    return nullcontext(progress)


def _name_bar(bar: ProgressBar, doing: str, name: str) -> AbstractContextManager[Progress | None]:
    return bar(f"{doing} {name}")


def _report_checks(checks: Iterable[TwinCheck]) -> Iterator[MakeReport]:
    """What was compared, variant by variant; refuses the study if any is not a twin."""
    bad: list[TwinCheck] = []
    yield MakeReport({}, ["twin     base       scenes compared  questions compared  vehicles moved     wrong"])
    for one in checks:
        line = f"{one.variant:<8} {one.base:<8} {one.scenes:>17,} {one.questions:>19,} {one.moved_share:>15.2%} "
        yield MakeReport(asdict(one) | {"moved_share": one.moved_share}, [f"{line}{one.wrong:>9,}"])
        bad += [one] if one.wrong else []
    if bad:
        raise UserError(
            f"{bad[0].variant} differs from {bad[0].base} in more or less than its factor: "
            f"{bad[0].wrong:,} faults, the first: {bad[0].examples[0]}"
        )


def _refuse_foreign(out: Path) -> None:
    """A new or empty folder, or one that a study began."""
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; choose another folder for the study")
    other = {*(list_contents(out) if out.is_dir() else [])} - {*VARIANTS, NAME}
    if other:
        raise UserError(f"{out} holds something else than a study ({min(other)}); choose another folder")


def read_study(folder: Path) -> list[StudyVariant]:
    """The datasets of a finished study."""
    path = folder / NAME
    if not path.is_file():
        raise UserError(f"{folder}: no finished study there (no {NAME}); make it with --study")
    try:
        data = read_json(read_whole(path))
        if data["format"] != FORMAT:
            raise UserError(f"{path}: format {data['format']} is not the {FORMAT} this version reads")
        found = [
            StudyVariant(v["variant"], v.get("base"), v.get("factor", ""), v.get("test_only", False))
            for v in data["variants"]
        ]
        known = {m.name for m in found}
        if not all(m.name in VARIANTS and (m.base is None or m.base in known) for m in found):
            raise KeyError(NAME)
        return found
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"{path}: not a study; make it again with --study") from None


# Compare what is stored with the pictures of twins.

COLUMN_NAMES = ("image_id", "width", "height", "num_objects")
SEEN = ("boxes", "visible_pixels", "mask_values", "mask_lengths")
PARTS = ("part_values", "part_lengths")


@dataclass(frozen=True, slots=True, eq=False)
class StoredRows:
    """The rows of a shard of images, without the pictures."""

    scenes: tuple[Scene, ...]
    table: Any


def read_stored_rows(dataset: Dataset, shard: Shard) -> StoredRows:
    """The scenes of a shard and what is stored with their pictures."""
    import pyarrow as pa

    if shard.images is None:
        return StoredRows((), None)
    read = ["scene", *COLUMN_NAMES, *SEEN, *PARTS]
    table = pa.concat_tables(iterate_row_groups(dataset.folder / shard.images.path, read)).combine_chunks()
    scenes = tuple(Scene.from_json(json.loads(text)) for text in table["scene"].to_pylist())
    return StoredRows(scenes, table)


def find_stored_breaches(
    base: StoredRows, twin: StoredRows, factor: str, level: str
) -> Iterator[tuple[str, list[str]]]:
    """For each image of the twin with anything wrong about it: its name, and what is.

    Every column must be as in the base where the same is seen (but masks of parts where there are none);
    everywhere boxes must be those of the scene, and no vehicle less seen than the rules allow.
    """
    both = range(min(len(base.scenes), len(twin.scenes)))
    wrong: dict[int, list[str]] = {k: _compare_with_scene(twin, k) for k in range(len(twin.scenes))}
    alike = list(both)
    if factor == "distribution":
        alike = [k for k in both if has_same_outlines(base.scenes[k], twin.scenes[k])]
    for name in (*SEEN, *(PARTS if level != "easy" else ())):
        for k in _find_different_rows(base.table, twin.table, name, alike):
            wrong[k].append(f"stored {name}")
    for name in COLUMN_NAMES:
        for k in _find_different_rows(base.table, twin.table, name, both):
            wrong[k].append(f"stored {name}")
    yield from ((twin.scenes[k].id, found) for k, found in wrong.items() if found)


def _find_different_rows(base: Any, twin: Any, name: str, rows: Sequence[int]) -> list[int]:
    """The rows in which a column differs."""
    if not rows or base[name].equals(twin[name]):
        return []
    one, two = base[name], twin[name]
    return [k for k in rows if not one.slice(k, 1).equals(two.slice(k, 1))]


def _compare_with_scene(twin: StoredRows, k: int) -> list[str]:
    """Where the columns of an image contradict its scene."""
    scene, row = twin.scenes[k], {name: twin.table[name][k].as_py() for name in (*COLUMN_NAMES, *SEEN[:2])}
    found = []
    if (row["image_id"], row["num_objects"]) != (scene.id, len(scene.objects)):
        found.append("stored image_id or num_objects")
    if [tuple(map(float, box)) for box in row["boxes"]] != [o.box for o in scene.objects]:
        found.append("boxes that are not those of its picture")
    rules = SuperClevrRules(size=(row["width"], row["height"]))
    if scene.size != rules.size:
        found.append("a size that is not that of its picture")
    if any(pixels < rules.scale_pixels(rules.pixels) for pixels in row["visible_pixels"]):
        found.append("a vehicle that is hardly seen")
    return found


# Check a study: all fields of the scenes, what is stored with the pictures, and the questions that twins share.

MOST = 20  # differences that are described
MOST_MOVED = 0.05  # of the vehicles: more, and the layouts are not shared
FEW_MOVED = 5  # vehicles that say nothing yet about the share, in a small study


@dataclass(frozen=True, slots=True)
class TwinCheck:
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


def check_study(folder: Path, bar: ProgressBar = show_no_bar) -> Iterator[TwinCheck]:
    """Every twin of a finished study, compared as it is read back from disk."""
    for member in read_study(folder):
        if member.base is not None:
            with bar(member.name) as progress:
                made = check_variant(folder, member, progress)
            yield made


def check_variant(folder: Path, member: StudyVariant, progress: Progress | None = None) -> TwinCheck:
    """All scenes, and all questions that a variant shares with its base."""
    assert member.base is not None
    base, twin = Dataset.open(folder / member.base), Dataset.open(folder / member.name)
    shift = load_shift(VARIANTS[member.name])
    count = TwinCounts()
    beside = {(s.split, s.index): s for s in base.shards()}
    if dict(twin.manifest.plan) != _list_shards(base, member):
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
    return TwinCheck(
        *(member.name, str(member.base), count.scenes, count.questions, count.vehicles, count.moved),
        *(count.wrong, tuple(count.examples)),
    )


class TwinCounts:
    """What was compared so far."""

    def __init__(self) -> None:
        self.scenes = self.questions = self.vehicles = self.moved = self.wrong = 0
        self.changed = False  # whether the factor made any difference yet
        self.examples: list[str] = []

    def add(self, *wrong: str, of: str = "") -> None:
        self.wrong += len(wrong)
        self.examples += [f"{of}: {what}" if of else what for what in wrong][: MOST - len(self.examples)]


def _list_shards(base: Dataset, member: StudyVariant) -> dict[str, int]:
    """The splits, and how many shards each must have."""
    plan = dict(base.manifest.plan)
    return {"test": plan.get("test", 0)} if member.test_only else plan


TwinHalf = tuple[Dataset, Shard]


def _check_shard(count: TwinCounts, shift: ModuleType, level: str, base: TwinHalf, twin: TwinHalf) -> None:
    kept = read_stored_rows(*base), read_stored_rows(*twin)
    _check_scenes(count, shift, level, *kept)
    if shift.FACTOR.name == "redundancy" and _digest_shard(base[1]) != _digest_shard(twin[1]):
        count.add("its pictures", of=f"shard {twin[1].index} of {twin[1].split}")
    questions = _read_shard_questions(*base), _read_shard_questions(*twin)
    if shift.FACTOR.name in SHARED_QUESTIONS:
        known = {s.id: s for s in kept[1].scenes}
        whole = not any(o.parts for s in kept[1].scenes for o in s.objects)
        _check_questions(count, shift, known, _pair_questions(*questions, whole=whole))
        return
    one, two = (Counter(q.scenes[0] for q in half) for half in questions)
    for name in one.keys() | two.keys():
        if one[name] != two[name]:
            count.add(f"{two[name]} questions, not {one[name]}", of=name)
    count.add(*("names a twin" for q in questions[1] if q.note("twin") is not None))


def _check_scenes(count: TwinCounts, shift: ModuleType, level: str, base: StoredRows, twin: StoredRows) -> None:
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
    for name, wrong in find_stored_breaches(base, twin, shift.FACTOR.name, level):
        count.add(*wrong, of=name)


def _check_questions(
    count: TwinCounts,
    shift: ModuleType,
    scenes: dict[str, Scene],
    beside: Iterator[tuple[Question | None, Question | None]],
) -> None:
    for a, b in beside:
        count.questions += 1
        if a is None or b is None:
            found = a or b
            count.add("a question is missing", of=found.id if found else "")
        elif not set(b.scenes) <= scenes.keys():
            count.add("it is about no scene there", of=b.id)
        else:
            count.changed |= (a.text, a.program) != (b.text, b.program)
            count.add(*shift.question_breaches(a, b, scenes[b.scenes[0]]), of=b.id)


def _digest_shard(shard: Shard) -> str:
    return shard.images.digest if shard.images else ""


def _read_shard_questions(dataset: Dataset, shard: Shard) -> list[Question]:
    return list(read_questions(dataset.folder / shard.questions.path)) if shard.questions else []


def _pair_questions(
    base: list[Question], twin: list[Question], *, whole: bool
) -> Iterator[tuple[Question | None, Question | None]]:
    """Questions with their twins; where the twin's vehicles are whole, those about parts have none."""
    found = {str(q.note("twin", q.id)): q for q in twin}
    for a in base:
        b = found.pop(a.id, None)
        if b is not None or not (whole and a.program is not None and _is_about_parts(a)):
            yield a, b
    for b in found.values():
        yield None, b


def _is_about_parts(question: Question) -> bool:
    from ...lang.check import plan_program

    assert question.program is not None
    return plan_program(question.program).on_parts
