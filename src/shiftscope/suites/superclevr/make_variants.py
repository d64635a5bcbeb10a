"""Make every variant of a suite, each from its base, and check that twins differ in one factor alone."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from ...errors import UserError
from ...executor import Executor, Progress
from ...files import read_whole, write_whole
from ...folder import list_contents, lock_folder
from ...lang.check import plan_program
from ...question import Question
from ...records import read_json
from ...render import CPU
from ...scene import Scene
from ...shift.concept_distribution import has_same_outlines
from ...store.dataset import Dataset
from ...store.shard import Shard, iterate_row_groups, read_questions
from ...world.superclevr import SuperClevrRules
from .. import MakeReport, ProgressBar, count_splits, show_no_bar
from .suite import SHARED_QUESTIONS, SUITE, SuperclevrSpec
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
    executor: Executor | None = None,
    repair: bool = False,
    bar: ProgressBar = show_no_bar,
    device: str = CPU,
) -> Iterator[tuple[StudyVariant, Dataset]]:
    """Make all variants under a folder, one after the other; resumes where an earlier run stopped.

    At the end `study.json` names the twins. `bar` gives the progress bar of a variant by its name.
    """
    members = plan_study(spec, visual)
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; choose another folder for the study")
    other = {*(list_contents(out) if out.is_dir() else [])} - {*VARIANTS, NAME}
    if other:
        raise UserError(f"{out} holds something else than a study ({min(other)}); choose another folder")
    with lock_folder(out):
        for member, own in members:
            base = out / member.base if member.base else None
            own_bar = partial(lambda name, _: bar(name), member.name)
            how: dict[str, Any] = {"repair": repair, "bar": own_bar, "device": device}
            made = SUITE.make(own, out / member.name, base, workers=workers, executor=executor, **how)
            yield member, made.dataset
        listed = [m.to_json() for m, _ in members]
        data = {"format": FORMAT, "suite": SUITE.name, "order": members[0][1].spec(), "variants": listed}
        write_whole(out / NAME, (json.dumps(data, indent=1) + "\n").encode())


def report_study(
    spec: SuperclevrSpec, visual: str, out: Path, check: bool, *, bar: ProgressBar, **how: Any
) -> Iterator[MakeReport]:
    """Make all variants, and compare the twins if wanted; a report each as it is done."""
    shards = 0
    made = make_study(spec, out, visual=visual, bar=lambda name: bar(f"making {name}"), **how)
    for member, dataset in made:
        shards += dataset.made or 0
        splits = count_splits(dataset)
        data = {"variant": member.name, "base": member.base, "shards_made": dataset.made, "splits": splits}
        images, questions = (sum(c[what] for c in splits.values()) for what in ("images", "questions"))
        yield MakeReport(data, [f"{member.name:<8} {images:>8,} images {questions:>10,} questions"])
    what = f"wrote {out}" if shards else f"nothing to do: {out} was whole already"
    yield MakeReport({}, [f"{what} (study.json there names the twins)"])
    if not check:
        return
    bad: list[TwinCheck] = []
    yield MakeReport({}, ["twin     base       scenes compared  questions compared  vehicles moved     wrong"])
    for one in check_study(out, bar=lambda name: bar(f"checking {name}")):
        line = f"{one.variant:<8} {one.base:<8} {one.scenes:>17,} {one.questions:>19,} {one.moved_share:>15.2%} "
        yield MakeReport(one.to_json(), [f"{line}{one.wrong:>9,}"])
        bad += [one] if one.wrong else []
    if bad:
        raise UserError(
            f"{bad[0].variant} differs from {bad[0].base} in more or less than its factor: "
            f"{bad[0].wrong:,} faults, the first: {bad[0].examples[0]}"
        )


def read_study(folder: Path) -> list[StudyVariant]:
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


class StoredRows(NamedTuple):
    """The rows of a shard of images, without the pictures."""

    scenes: tuple[Scene, ...]
    table: Any


def read_stored_rows(dataset: Dataset, shard: Shard) -> StoredRows:
    import pyarrow as pa

    if shard.images is None:
        return StoredRows((), None)
    read = ["scene", *COLUMN_NAMES, *SEEN, *PARTS]
    table = pa.concat_tables(iterate_row_groups(dataset.folder / shard.images.path, read)).combine_chunks()
    return StoredRows(tuple(Scene.from_json(json.loads(text)) for text in table["scene"].to_pylist()), table)


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
    seen = (*SEEN, *(PARTS if level != "easy" else ()))
    for name, rows in [*((name, alike) for name in seen), *((name, both) for name in COLUMN_NAMES)]:
        if rows and not base.table[name].equals(twin.table[name]):
            one, two = base.table[name], twin.table[name]
            for k in rows:
                if not one.slice(k, 1).equals(two.slice(k, 1)):
                    wrong[k].append(f"stored {name}")
    yield from ((twin.scenes[k].id, found) for k, found in wrong.items() if found)


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


@dataclass(slots=True)
class TwinCheck:
    """One variant against its base: what was compared so far."""

    variant: str
    base: str
    scenes: int = 0
    questions: int = 0
    vehicles: int = 0
    moved: int = 0  # vehicles that had no place where their base stands
    wrong: int = 0  # differences that should not be, or that should and are not
    examples: tuple[str, ...] = ()  # the first of them, in words
    changed: bool = False  # whether the factor made any difference yet

    @property
    def moved_share(self) -> float:
        return self.moved / self.vehicles if self.vehicles else 0.0

    def add(self, *wrong: str, of: str = "") -> None:
        self.wrong += len(wrong)
        self.examples = (*self.examples, *(f"{of}: {what}" if of else what for what in wrong))[:MOST]

    def to_json(self) -> dict[str, Any]:
        found = asdict(self) | {"moved_share": self.moved_share}
        return {name: value for name, value in found.items() if name != "changed"}


def check_study(folder: Path, bar: ProgressBar = show_no_bar) -> Iterator[TwinCheck]:
    """Every twin of a finished study, compared as it is read back from disk."""
    for member in read_study(folder):
        if member.base is not None:
            with bar(member.name) as progress:
                made = _check_variant(folder, member, member.base, progress)
            yield made


def _check_variant(folder: Path, member: StudyVariant, of: str, progress: Progress | None) -> TwinCheck:
    """All scenes, and all questions that a variant shares with its base."""
    check = TwinCheck(member.name, of)
    base, twin = Dataset.open(folder / of), Dataset.open(folder / member.name)
    shift = load_shift(VARIANTS[member.name])
    plan = dict(base.manifest.plan)
    if dict(twin.manifest.plan) != ({"test": plan.get("test", 0)} if member.test_only else plan):
        check.add("its splits")
    beside = {(s.split, s.index): s for s in base.shards()}
    shards = twin.shards()
    for done, shard in enumerate(shards, 1):
        other = beside.get((shard.split, shard.index))
        if other is None:
            check.add(f"shard {shard.index} of {shard.split} has none beside it")
        else:
            _check_shard(check, shift, (base, other), (twin, shard))
        if progress is not None:
            progress(done, len(shards), f"{check.scenes:,} scenes, {check.questions:,} questions")
    if not check.changed:
        check.add(f"nothing differs in {shift.FACTOR.name}")
    if check.moved > max(FEW_MOVED, MOST_MOVED * check.vehicles):
        check.add(f"{check.moved:,} of {check.vehicles:,} vehicles are moved, more than {MOST_MOVED:.0%}")
    return check


def _check_shard(check: TwinCheck, shift: ModuleType, *both: tuple[Dataset, Shard]) -> None:
    """The shard of the base and that of the twin."""
    twin = both[1][1]
    rows = [read_stored_rows(*half) for half in both]
    _check_scenes(check, shift, *rows)
    images = {shard.images.digest if shard.images else "" for _, shard in both}
    if shift.FACTOR.name == "redundancy" and len(images) > 1:
        check.add("its pictures", of=f"shard {twin.index} of {twin.split}")
    asked = [list(read_questions(d.folder / s.questions.path)) if s.questions else [] for d, s in both]
    if shift.FACTOR.name in SHARED_QUESTIONS:
        _check_questions(check, shift, {s.id: s for s in rows[1].scenes}, *asked)
        return
    one, two = (Counter(q.scenes[0] for q in half) for half in asked)
    for name in one.keys() | two.keys():
        if one[name] != two[name]:
            check.add(f"{two[name]} questions, not {one[name]}", of=name)
    check.add(*("names a twin" for q in asked[1] if q.note("twin") is not None))


def _check_scenes(check: TwinCheck, shift: ModuleType, base: StoredRows, twin: StoredRows) -> None:
    for a, b in zip_longest(base.scenes, twin.scenes):
        check.scenes += 1
        if a is None or b is None:
            check.add("a scene is missing", of=(a or b).id)
            continue
        wrong = list(shift.breaches(a, b))
        if hasattr(shift, "off_level"):
            wrong += shift.off_level(a, b, check.variant)
        check.changed |= a.objects != b.objects
        check.vehicles += len(b.objects)
        check.moved += len(b.note("moved", ()))
        check.add(*wrong, of=b.id)
    for name, wrong in find_stored_breaches(base, twin, shift.FACTOR.name, check.variant):
        check.add(*wrong, of=name)


def _check_questions(
    check: TwinCheck, shift: ModuleType, scenes: dict[str, Scene], base: list[Question], twin: list[Question]
) -> None:
    """Questions with their twins; where the twin's vehicles are whole, those about parts have none."""
    whole = not any(o.parts for s in scenes.values() for o in s.objects)
    found = {str(q.note("twin", q.id)): q for q in twin}
    for a in base:
        b = found.pop(a.id, None)
        if b is None:
            if whole and a.program is not None and plan_program(a.program).on_parts:
                continue
            check.add("a question is missing", of=a.id)
        elif not set(b.scenes) <= scenes.keys():
            check.add("it is about no scene there", of=b.id)
        else:
            check.changed |= (a.text, a.program) != (b.text, b.program)
            check.add(*shift.question_breaches(a, b, scenes[b.scenes[0]]), of=b.id)
        check.questions += 1
    for b in found.values():
        check.questions += 1
        check.add("a question is missing", of=b.id)
