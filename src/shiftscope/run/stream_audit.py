"""Audit more samples than fit into memory: files of sample rows, in passes, with the figures of an audit in memory.

Memory grows with the words, objects, answers and groups there are, not with the samples. What every pass counted lies
in the audit's folder until it is whole, by the digests of the files, so an audit that was stopped goes on where it was.
The blind models and the report, which look at all samples at once, are left out, and the output says so.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import reduce
from pathlib import Path
from secrets import token_hex
from typing import Any, Generic, TypeVar

import numpy as np

from ..errors import UserError
from ..executor import ONE_PROCESS, Executor
from ..files import file_digest, write_whole
from ..folder import lock_folder
from ..formats import read_objects
from ..formats.sample_rows import SOURCE, is_sample_file
from ..formats.vqa import OTHER_TYPE, question_types
from ..question_table import EXAMPLES, Remark
from ..records import content_id
from ..registry import RECIPES
from ..shift import RecipeSets, StreamedRecipe, vqa_vs
from ..shortcuts.audit import (
    AUDIT_VERSION,
    NO_SPLIT,
    NO_TRAIN,
    SPLIT_NAMES,
    TEST,
    TRAIN,
    AuditSettings,
    build_no_test_error,
    build_unsplit_remark,
    check_settings,
    read_split_names,
)
from ..shortcuts.audit_folder import SET_FOLDERS, SPOOL_FOLDER, refuse_folder, stage_audit
from ..shortcuts.audit_statistics import AuditFigures, ShortcutStatistics, compare_heads, compare_tails
from ..shortcuts.concepts import (
    KO,
    KW,
    MAX_PREFIX_WORDS,
    NO_IMAGE_ANNOTATED,
    NO_OBJECTS,
    SHORTCUTS,
    UnseenPairs,
    choose_type_source,
)
from ..shortcuts.stream.counts import PairCounts, Vocabularies, find_starts
from ..shortcuts.stream.keys import count_images, draw_streamed_split
from ..shortcuts.stream.label import (
    TYPE_COUNTS,
    LabelCounts,
    PrefixJob,
    TypeCounts,
    assign_part,
    choose_prefixes,
    count_enough,
    count_part,
    count_prefixes,
    label_part,
)
from ..shortcuts.stream.plan import UNTYPED_VOCABULARY_FILE, LabelJob, StreamPlan, save_vocabulary
from ..shortcuts.stream.reduce import ReduceJob, mark_test_pairs, reduce_groups, reduce_members
from ..shortcuts.stream.scan import ObjectLookup, ScanJob, ScannedFile, ScannedPart, merge_remarks, scan_file
from ..shortcuts.stream.spool import Spool
from ..shortcuts.stream.write import RecipeRule, SetCounts, WriteJob, join_marks, join_sets, write_file
from ..url_path import refuse_url
from .audit import AuditFiles, AuditSummary, RecipeOptions, Tell, check_recipes, expand_files, write_figures

J = TypeVar("J")
R = TypeVar("R")
TOKEN_FILE = "token"
STREAM_VERSION = 1  # raise it when a pass keeps something else
STREAM_BYTES = 1 << 30  # of sample files: from here on they are streamed where nobody says otherwise
SMALL_BYTES = 4 << 20  # less is audited before a process has started
TOO_LARGE = "it learns from all samples at once, and this audit streams them; --no-stream, where memory allows"
LEFT_OUT = (("blind models", TOO_LARGE), ("report", "it shows what all samples have; --no-stream, where memory allows"))


def should_stream(files: AuditFiles) -> bool:
    """Whether an audit streams by itself: its files are of sample rows, and large together."""
    return _count_bytes(files) >= STREAM_BYTES and all(is_sample_file(path) for path in files.questions)


def choose_workers(files: AuditFiles) -> int:
    """How many processes are worth their start; 0 for one per core."""
    return 0 if _count_bytes(files) >= SMALL_BYTES else 1


def _count_bytes(files: AuditFiles) -> int:
    return sum(path.stat().st_size for path in files.questions if path.is_file())


def audit_stream(
    files: AuditFiles,
    out: Path,
    settings: AuditSettings | None = None,
    *,
    recipes: Mapping[str, RecipeOptions] | None = None,
    tell: Tell = lambda what, done, total: None,
    executor: Executor = ONE_PROCESS,
) -> AuditSummary:
    """Audit files of sample rows without holding the samples; the folder is that of `audit_files`, byte by byte.

    Only what `LEFT_OUT` names is missing. Stopped, it goes on when called again; a file edited since is read anew.
    """
    chosen = settings or AuditSettings()
    check_settings(chosen)
    check_recipes(recipes or {})
    refuse_url(out, "an audit that streams")
    files = expand_files(files)
    _check_files(files, recipes or {})
    folders = (*SET_FOLDERS, *(RECIPES.load(name).FOLDER for name in RECIPES.names()))
    refuse_folder(out, files.paths, folders)
    with lock_folder(out):
        refuse_folder(out, files.paths, folders)
        spool = Spool((out / SPOOL_FOLDER).absolute())
        with _open_spool(spool) as token, stage_audit(out, folders) as stage:
            stage.mkdir()
            return _Stream(executor, tell, spool, files, chosen, recipes or {}, token).audit(stage)


@contextmanager
def _open_spool(spool: Spool) -> Iterator[str]:
    """A word that all workers find in the spool; one that nothing was kept in is removed again."""
    token = token_hex(8)
    write_whole(spool.folder / TOKEN_FILE, token.encode(), durable=False)
    try:
        yield token
    finally:
        (spool.folder / TOKEN_FILE).unlink(missing_ok=True)
        with suppress(OSError):
            spool.folder.rmdir()


@dataclass(frozen=True, slots=True)
class SharedTask(Generic[J, R]):
    """A task that keeps what it counts in a folder, which the machine it runs on must see."""

    task: Callable[[J], R]
    folder: Path
    token: str

    def __call__(self, job: J) -> R:
        try:
            seen = (self.folder / TOKEN_FILE).read_text("utf-8") == self.token
        except OSError:
            seen = False
        if not seen:
            raise UserError(
                f"{self.folder.parent} is not the same folder on every machine; an audit that streams on a cluster "
                "needs its files and its --out on a disk that all of them share"
            )
        return self.task(job)


def _check_files(files: AuditFiles, recipes: Mapping[str, RecipeOptions]) -> None:
    if files.dataset is not None:
        raise UserError(f"{files.dataset}: a dataset of ours is audited in memory; omit --stream")
    if not files.questions:
        raise UserError("no questions file is given")
    if files.annotations:
        raise UserError("rows that are streamed hold their answers; omit --annotations, or --stream")
    for path in files.questions:
        if not path.exists():
            raise UserError(f"{path}: no such file")
        if not is_sample_file(path):
            raise UserError(
                f"{path} cannot be streamed: it is neither Parquet, nor JSON Lines, nor a WebDataset tar with one row "
                "per sample; omit --stream"
            )
    for name in recipes:
        if not hasattr(RECIPES.load(name), "stream_recipe"):
            raise UserError(f"the recipe {name} looks at all samples at once; omit --recipe {name}, or --stream")


@dataclass(frozen=True, slots=True, eq=False)
class _Stream:
    """One audit, pass by pass."""

    executor: Executor
    tell: Tell
    scans: Spool
    files: AuditFiles
    settings: AuditSettings
    recipes: Mapping[str, RecipeOptions]
    token: str

    def audit(self, stage: Path) -> AuditSummary:
        scanned, found = self._scan()
        parts = tuple(part for file in scanned for part in file.parts)
        if not found.samples:
            raise UserError(f"{self.files.questions[0]}: there are no questions with an answer in it")
        settings = replace(self.settings, split="drawn") if self.settings.split == "auto" else self.settings
        plan = self._plan(scanned, parts, found, settings)
        images = count_images(self.scans, parts, settings.seed)
        types = reduce(TypeCounts.merge, self._map("typing", assign_part, self._list_jobs(plan, parts)))
        plan.spool.save(TYPE_COUNTS, {}, asked=types.asked, begun=types.begun)
        kinds = (KW, KO) if plan.objects else (KW,)
        lengths = [one.sizes for one in self._map("counting words", count_part, self._list_jobs(plan, parts))]
        sizes = {kind: tuple(one[k] for one in lengths) for k, kind in enumerate(kinds)}
        jobs = [ReduceJob(plan, kind, sizes[kind]) for kind in kinds]
        never = list(self._map("merging words", reduce_members, jobs))
        starts = _list_starts([sizes[kind] for kind in kinds])
        labelled = reduce(LabelCounts.merge, self._map("labelling", label_part, self._list_jobs(plan, parts, starts)))
        sizes = {s: tuple(one[k] for one in labelled.sizes) for k, s in enumerate(plan.shortcuts)}
        groups = [ReduceJob(plan, shortcut, sizes[shortcut], labelled.splits) for shortcut in plan.shortcuts]
        lines = tuple(self._map("grouping", reduce_groups, groups))
        missing = self._list_missing(plan, parts)
        given = self.recipes.items()
        streamed = {name: RECIPES.load(name).stream_recipe(options, dict(missing)) for name, options in given}
        rules = tuple(self._mark_recipes(plan, streamed, groups))
        counts = self._write(plan, scanned, parts, sizes, rules, stage)
        figures = self._collect(plan, parts, found, images, labelled, never, lines, counts, missing)
        summary = AuditSummary(figures, _count_recipes(streamed, rules, counts), skipped=LEFT_OUT)
        write_figures(stage, summary, [*self.files.questions, *self.files.objects])
        return summary

    def _map(self, what: str, task: Callable[[J], R], jobs: Sequence[J]) -> Iterator[R]:
        self.tell(what, 0, len(jobs))
        shared = SharedTask(task, self.scans.folder, self.token)
        for done, result in enumerate(self.executor.map(shared, jobs, 2 * self.executor.workers), 1):
            self.tell(what, done, len(jobs))
            yield result

    def _scan(self) -> tuple[list[ScannedFile], Vocabularies]:
        """All files, and the vocabularies of all: those of each file are merged as they come, and let go."""
        objects = ""
        if self.files.objects:
            digests = [_digest_objects(path) for path in self.files.objects]
            objects = f"objects-{content_id(digests)[:24]}"
            if not self.scans.has(objects):
                self.tell("reading objects", 0, 0)
                ObjectLookup.save(self.scans, objects, map(read_objects, self.files.objects))
        splits = self.files.splits or ("",) * len(self.files.questions)
        pairs = zip(self.files.questions, splits, strict=True)
        jobs = [ScanJob(self.scans, path, split, self.settings.seed, objects) for path, split in pairs]
        scanned, found = [], Vocabularies()
        for file in self._map("reading", scan_file, jobs):
            found = found.merge(file.vocabularies)
            scanned.append(replace(file, vocabularies=Vocabularies()))
        return scanned, found

    def _plan(
        self, scanned: Sequence[ScannedFile], parts: Sequence[ScannedPart], found: Vocabularies, settings: AuditSettings
    ) -> StreamPlan:
        given = settings.split == "given"
        names = sorted(found.splits)
        codes = dict(zip([*names, None], read_split_names(names).tolist(), strict=True))
        if given and not names:
            raise UserError(NO_SPLIT)
        there = {codes[name] for part in parts for name, _, _ in part.splits}
        if given and SPLIT_NAMES.index(TEST) not in there:
            raise build_no_test_error(names)
        if given and settings.statistics == TRAIN and SPLIT_NAMES.index(TRAIN) not in there:
            raise UserError(NO_TRAIN)
        self.tell("comparing ids", 0, 0)
        draw = draw_streamed_split(self.scans, parts, settings.seed, None if given else settings.shares)
        way = choose_type_source(settings.types, bool(found.types), SOURCE)
        key = [AUDIT_VERSION, STREAM_VERSION, [file.key for file in scanned], asdict(settings)]
        key.append({name: dict(options) for name, options in self.recipes.items()})
        spool = Spool(self.scans.folder / f"audit-{content_id(key)[:24]}")
        self._forget_others(scanned, spool)
        spool.folder.mkdir(exist_ok=True)
        words, prefixes = sorted(found.words), tuple(question_types()[:-1]) if way == "prefixes" else ()
        plan = StreamPlan(
            self.scans, spool, settings, way, prefixes, None if given else draw, given and -1 in there,
            any(part.known for part in parts), (len(found.answers), 0, len(words), len(found.kinds)),
        )  # fmt: skip
        kept = {"words": words, "answers": sorted(found.answers), "kinds": sorted(found.kinds)}
        if way == "learned":
            save_vocabulary(spool, {"types": [], **kept}, UNTYPED_VOCABULARY_FILE)
            plan = replace(plan, prefixes=self._learn_prefixes(plan, parts, words, found.samples))
        types = sorted(found.types) if way == "given" else sorted({*plan.prefixes, OTHER_TYPE})
        save_vocabulary(spool, {"types": types, **kept})
        plan = replace(plan, sizes=(len(found.answers), len(types), len(words), len(found.kinds)))
        plan.check_widths()
        return plan

    def _learn_prefixes(
        self, plan: StreamPlan, parts: Sequence[ScannedPart], words: Sequence[str], samples: int
    ) -> tuple[str, ...]:
        levels: list[PairCounts] = []
        while len(levels) < MAX_PREFIX_WORDS:
            found = tuple(level.keys for level in levels)
            jobs = [PrefixJob(job, len(words), found) for job in self._list_jobs(plan, parts)]
            merged = reduce(PairCounts.merge, self._map("learning types", count_prefixes, jobs))
            enough = merged.counts >= count_enough(samples)
            if not enough.any():
                break
            levels.append(PairCounts(merged.keys[enough], merged.counts[enough]))
        return choose_prefixes(levels, words, samples) if levels else ()

    def _forget_others(self, scanned: Sequence[ScannedFile], spool: Spool) -> None:
        """Remove what was kept of files or settings that are no longer audited here."""
        mine = tuple(f"scan-{file.key}" for file in scanned)
        for path in self.scans.folder.iterdir():
            if path.is_dir() and path != spool.folder:
                shutil.rmtree(path)
            elif path.name.startswith("scan-") and not path.name.startswith(mine):
                path.unlink()

    def _list_jobs(
        self, plan: StreamPlan, parts: Sequence[ScannedPart], starts: Sequence[tuple[int, ...]] | None = None
    ) -> list[LabelJob]:
        return [LabelJob(plan, part, k, starts[k] if starts else ()) for k, part in enumerate(parts)]

    def _list_missing(self, plan: StreamPlan, parts: Sequence[ScannedPart]) -> tuple[tuple[str, str], ...]:
        why = NO_IMAGE_ANNOTATED if any(part.says_objects for part in parts) else NO_OBJECTS
        return tuple((shortcut, why) for shortcut in SHORTCUTS if shortcut not in plan.shortcuts)

    def _mark_recipes(
        self, plan: StreamPlan, streamed: Mapping[str, StreamedRecipe], groups: Sequence[ReduceJob]
    ) -> Iterator[RecipeRule]:
        for name, recipe in streamed.items():
            self.tell(name, 0, 0)
            (job,) = (one for one in groups if one.what == recipe.shortcut)
            array = f"recipe-{name}"
            mark_test_pairs(job, array, recipe.mark)
            for one, marks in recipe.sets:
                folder = f"{RECIPES.load(name).FOLDER}/{one}"
                yield RecipeRule(folder, f"{name}/{one}", recipe.shortcut, array, marks)

    def _write(
        self,
        plan: StreamPlan,
        scanned: Sequence[ScannedFile],
        parts: Sequence[ScannedPart],
        sizes: Mapping[str, tuple[int, ...]],
        recipes: tuple[RecipeRule, ...],
        stage: Path,
    ) -> SetCounts:
        rules = vqa_vs.list_set_rules(plan.shortcuts)
        starts, each = _list_starts(list(sizes.values())), list(zip(*sizes.values(), strict=True))
        jobs, place = [], 0
        for file in scanned:
            places = tuple(range(place, place + len(file.parts)))
            mine = slice(place, place + len(file.parts))
            first = file.parts[0]
            aligned = places, tuple(starts[mine]), tuple(each[mine])
            jobs.append(WriteJob(plan, first.path, first.split, file.digest, *aligned, rules, recipes))
            place += len(file.parts)
        counts = reduce(SetCounts.merge, self._map("writing", write_file, jobs))
        names = [*(rule.name for rule in rules), *(recipe.name for recipe in recipes)]
        every = range(len(parts))
        join_marks(plan, every, [recipe.mark for recipe in recipes], stage)
        join_sets(plan.spool, every, names, stage, lambda done, total: self.tell("joining sets", done, total))
        return counts

    def _collect(
        self,
        plan: StreamPlan,
        parts: Sequence[ScannedPart],
        found: Vocabularies,
        images: int,
        labelled: LabelCounts,
        never: Sequence[int],
        lines: tuple[ShortcutStatistics, ...],
        counts: SetCounts,
        missing: tuple[tuple[str, str], ...],
    ) -> AuditFigures:
        kinds = ("words", "objects")[: len(never)]
        pairs = zip(kinds, never, labelled.unseen, strict=True)
        unseen = {kind: UnseenPairs(n, *samples) for kind, n, samples in pairs}
        remarks = merge_remarks(parts, bool(found.types), any(part.says_objects for part in parts))
        return AuditFigures(
            source=SOURCE,
            samples=found.samples,
            images=images,
            answers=len(found.answers),
            split=dict(zip(SPLIT_NAMES, labelled.splits, strict=True)),
            drawn=plan.draw is not None,
            types=plan.types,
            settings=plan.settings,
            remarks=(*remarks, *_remark_unsplit(plan, parts)),
            missing=missing,
            unseen=unseen if plan.settings.statistics == TRAIN else {},
            ties=dict(zip(kinds, labelled.ties, strict=True)),
            shortcuts=lines,
            jaccard=compare_heads(plan.shortcuts, counts.heads.astype(np.float64)),
            coincidence=compare_tails(plan.shortcuts, counts.tails.astype(np.float64)),
        )


def _digest_objects(path: Path) -> Any:
    if path.is_dir():
        return [[str(one.relative_to(path)), file_digest(one)] for one in sorted(path.rglob("*")) if one.is_file()]
    return file_digest(path)


def _list_starts(sizes: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """[part] where its keys of each kind begin, from how many of each kind every part has."""
    starts = [find_starts(one)[:-1].tolist() for one in sizes]
    return list(zip(*starts, strict=True))


def _remark_unsplit(plan: StreamPlan, parts: Sequence[ScannedPart]) -> tuple[Remark, ...]:
    if not plan.unsplit:
        return ()
    found = [one for part in parts for one in part.splits if read_split_names([one[0]])[0] < 0]
    names = {name for name, _, _ in found}
    listed: list[str | None] = [None] * (None in names)
    examples: list[Any] = []
    for part in parts:
        rows = [one for one in part.splits if read_split_names([one[0]])[0] < 0]
        examples += [name for _, name in sorted(pair for one in rows for pair in one[2])]
    listed += sorted(name for name in names if name is not None)
    return (build_unsplit_remark(listed, sum(n for _, n, _ in found), tuple(examples[:EXAMPLES])),)


def _count_recipes(
    streamed: Mapping[str, StreamedRecipe], rules: Sequence[RecipeRule], counts: SetCounts
) -> dict[str, RecipeSets]:
    found, at = {}, len(counts.sets) - len(rules)
    for name, recipe in streamed.items():
        sizes = counts.sets[at : at + len(recipe.sets)].tolist()
        at += len(recipe.sets)
        found[name] = RecipeSets(recipe.settings, dict(zip((s for s, _ in recipe.sets), sizes, strict=True)), ())
    return found
