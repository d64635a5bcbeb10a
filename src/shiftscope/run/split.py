"""Split: which questions with a property are held out, and the lists that a study of it trains and tests on.

The questions are read once, or twice where something is drawn from them; the dataset is not changed. What is
written depends on the questions, the property, the shots and the seed alone.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import UserError, did_you_mean
from ..files import PARTIAL, explain_write_errors, file_digest, resolve_links, write_whole
from ..folder import lock_path
from ..formats import read_questions
from ..question import Question
from ..records import content_id
from ..shift import held_out
from ..shift.held_out import ROLES, TEST, TRAIN, VAL
from ..shift.held_out.facts import ProgramFacts
from ..shift.held_out.predicates import HasProperty, QuestionCorpus, QuestionPredicate, parse_expression
from ..shift.held_out.properties import FAMILIES
from ..store.dataset import Dataset, data_id, refuse_study
from ..store.question_part import FORMAT, MANIFEST
from ..url_path import parse_path, refuse_url

OFFICIAL = "official"
SPELLED = {TRAIN: ("train", "training"), VAL: ("val", "valid", "validation", "dev"), TEST: ("test",)}

Tell = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class SplitSpec:
    """What to hold out: an expression, or the name of a split of the paper."""

    hold_out: str = ""
    name: str = ""
    shots: int | None = None  # None: as the named split has it, else 0
    seed: int = 0

    def __post_init__(self) -> None:
        if bool(self.hold_out) == bool(self.name):
            raise UserError("say what to hold out: --hold-out EXPRESSION, or --name for a split of the paper")

    @property
    def paper_split(self) -> held_out.CovrSplit | None:
        return held_out.get_split(self.name) if self.name else None

    def settings(self) -> held_out.HeldOutSettings:
        split = self.paper_split
        hold_out, shots = (split.hold_out, split.shots) if split else (self.hold_out, 0)
        return held_out.HeldOutSettings(hold_out, shots if self.shots is None else self.shots, self.seed)


@dataclass(frozen=True, slots=True)
class HeldOutSplit:
    """What was held out, and the lists it was written as."""

    name: str
    hold_out: QuestionPredicate
    settings: held_out.HeldOutSettings
    marked: Mapping[str, held_out.HeldOutIds]  # role → questions with the property, and without
    parts: tuple[held_out.HeldOutPart, ...]
    splits: Mapping[str, str]  # role → what the dataset calls it
    data_id: str
    paper: held_out.CovrSplit | None
    new: bool = True  # whether anything was written that was not there

    @property
    def filtered(self) -> int:
        """Training questions that are left out."""
        return len(self.marked[TRAIN].held) - self.settings.shots

    def to_json(self) -> dict[str, Any]:
        reported = {"filtered": self.paper.reported, "table": self.paper.table} if self.paper else None
        return {
            "format": FORMAT,
            "name": self.name,
            "hold_out": str(self.hold_out),
            "shots": self.settings.shots,
            "seed": self.settings.seed,
            "data_id": self.data_id,
            "filtered": self.filtered,
            "with_property": {self.splits[role]: len(m.held) for role, m in self.marked.items()},
            "questions": {self.splits[role]: len(m.held) + len(m.rest) for role, m in self.marked.items()},
            "reported": reported,
            "parts": {
                p.name: {"split": self.splits[p.role], "questions": len(p.ids), "use": p.use} for p in self.parts
            },
        }


class SplitQuestions:
    """The questions of a dataset's folder, or of files, by the role they play."""

    def __init__(self, data: tuple[str, ...], test: str = "") -> None:
        if not data:
            raise UserError("name the folder of a dataset, or files of questions")
        folder = parse_path(data[0])
        refuse_study(folder)
        self._dataset = Dataset.open(folder) if len(data) == 1 and folder.is_dir() else None
        self._files: dict[str, list[Path]] = {}
        if self._dataset is None:
            if test:
                raise UserError(f"--test names a split of a dataset; of files, say which it is: test={data[-1]}")
            for text in data:
                role, path = _parse_file(text)
                self._files.setdefault(role, []).append(path)
            self.splits = {role: role for role in ROLES if role in self._files}
        else:
            self.splits = _assign_roles(self._dataset, test)

    def data_id(self) -> str:
        if self._dataset is not None:
            return data_id(self._dataset)
        return content_id(sorted((role, file_digest(f)) for role, files in self._files.items() for f in files))

    def read_role(self, role: str) -> Iterator[Question]:
        if self._dataset is not None:
            for shard in self._dataset.shards(self.splits[role]):
                if shard.questions:
                    self._dataset.check_file(shard.questions)
            yield from self._dataset.questions(self.splits[role])
            return
        for path in self._files[role]:
            yield from read_questions(path)

    def build_corpus(self) -> QuestionCorpus:
        """Every question, and whether it is one to train on."""
        return QuestionCorpus(lambda: ((role == TRAIN, q) for role in self.splits for q in self.read_role(role)))


@dataclass(frozen=True, slots=True)
class ListedQuestions:
    """Questions that are in memory, by the role they play."""

    roles: Mapping[str, Sequence[Question]]

    @property
    def splits(self) -> dict[str, str]:
        return {role: role for role in self.roles}

    def read_role(self, role: str) -> Iterator[Question]:
        return iter(self.roles[role])

    def build_corpus(self) -> QuestionCorpus:
        return QuestionCorpus(lambda: ((role == TRAIN, q) for role, some in self.roles.items() for q in some))


def split(
    spec: SplitSpec, questions: SplitQuestions, out: Path | None = None, tell: Tell = lambda done: None
) -> HeldOutSplit:
    """Mark every question, list the parts, and write them into a folder of their own."""
    refuse_url(out, "a split")
    with nullcontext() if out is None else lock_path(out):
        settings, paper = spec.settings(), spec.paper_split
        hold_out = parse_expression(settings.hold_out)
        marked = mark_questions({"": hold_out}, questions, settings.seed, tell)[""]
        name = paper.name if paper else held_out.name_split(hold_out)
        parts = held_out.build_parts(marked, settings, hold_out)
        made = HeldOutSplit(name, hold_out, settings, marked, parts, questions.splits, questions.data_id(), paper)
        return made if out is None else replace(made, new=_write_lists(made, out))


def survey(questions: SplitQuestions, seed: int = 0, tell: Tell = lambda done: None) -> dict[str, dict[str, int]]:
    """Of every split of the paper, how many questions of each role have its property."""
    wanted = {name: parse_expression(one.hold_out) for name, one in held_out.COVR_SPLITS.items()}
    found = mark_questions(wanted, questions, seed, tell, strict=False)
    return {name: {role: len(m.held) for role, m in marked.items()} for name, marked in found.items()}


def mark_questions(
    wanted: Mapping[str, QuestionPredicate],
    questions: SplitQuestions | ListedQuestions,
    seed: int,
    tell: Tell,
    strict: bool = True,
) -> dict[str, dict[str, held_out.HeldOutIds]]:
    """For each predicate and role the questions that have it; each is looked at once for all.

    Strictly, every property that is named must be true of some question, or it is taken for a mistake.
    """
    fitted = {}
    corpus = questions.build_corpus()
    for name, one in wanted.items():
        with nullcontext() if strict else suppress(UserError):
            fitted[name] = one.fit(corpus, seed)
    unseen = list(dict.fromkeys(leaf for one in fitted.values() for leaf in one.list_properties()))
    ids: dict[str, dict[str, list[tuple[str, bool]]]] = {name: {} for name in wanted}
    seen: set[str] = set()
    done = 0
    for role in questions.splits:
        for question in questions.read_role(role):
            if question.id in seen:
                raise UserError(f"question {question.id!r} appears twice; ids must tell questions apart")
            seen.add(question.id)
            facts = ProgramFacts(question)
            unseen = [leaf for leaf in unseen if not leaf.holds(facts)] if unseen else unseen
            for name, one in fitted.items():
                ids[name].setdefault(role, []).append((question.id, one.holds(facts)))
            done += 1
            tell(done)
    if unseen and strict:
        raise _explain_no_match(unseen[0], questions)
    return {name: {role: held_out.divide_ids(rows) for role, rows in found.items()} for name, found in ids.items()}


def _explain_no_match(leaf: QuestionPredicate, questions: SplitQuestions | ListedQuestions) -> UserError:
    """The error for a property that no question has, with what is near it in the data."""
    hint = ""
    if isinstance(leaf, HasProperty):
        family = FAMILIES[leaf.family]
        facts = (ProgramFacts(question) for _, question in questions.build_corpus().read())
        there = {instance for one in facts for instance in one.find_instances(family.name, family.find)}
        hint = did_you_mean(str(leaf), sorted(family.name_property(one) for one in there))
    return UserError(f"no question has {leaf}{hint}")


def _assign_roles(dataset: Dataset, test: str) -> dict[str, str]:
    """What the dataset calls the questions of each role; val is tested on as where there is no test."""

    def find_split(names: tuple[str, ...]) -> str:
        return next((name for name in names if name in dataset.splits and dataset.count(name)[1]), "")

    splits = {role: name for role in ROLES if (name := find_split(SPELLED[role]))}
    if not test:
        return splits
    splits.pop(TEST, None)
    if test == splits.get(TRAIN):
        raise UserError(f"{test} is what is trained on; test on another split of {dataset.folder}")
    if test == splits.get(VAL):
        return splits
    if not find_split((test,)):
        dataset.count(test)
        raise UserError(f"{dataset.folder}: there are no questions in split {test!r}")
    return splits | {TEST: test}


def _parse_file(text: str) -> tuple[str, Path]:
    """A file and its role: `train=FILE`, or a name that says it, such as val.jsonl."""
    before, sign, after = text.partition("=")
    if sign and before in ROLES and not parse_path(text).exists():
        role, path = before, parse_path(after)
    else:
        path = parse_path(text)
        words = re.split(r"[^a-z]+", path.name.lower())
        role = next((role for role in ROLES if set(SPELLED[role]) & set(words)), "")
    if path.is_dir() or not path.exists():
        what = "a dataset's folder stands alone" if path.is_dir() else "no such file or folder"
        raise UserError(f"{path}: {what}")
    if not role:
        raise UserError(f"{path}: its name does not say which split it is; write train={path}, or val=, or test=")
    return role, path


def _write_lists(made: HeldOutSplit, out: Path) -> bool:
    """All lists into a new folder, under a temporary name first; the same split again leaves it as it is."""
    about = json.dumps(made.to_json(), ensure_ascii=False, indent=1) + "\n"
    if (out / MANIFEST).is_file():
        if (out / MANIFEST).read_text("utf-8") == about:
            return False
        raise UserError(f"{out} holds another split; choose another folder for --out")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out} is there already and is no split; choose another folder for --out")
    out = resolve_links(out)
    partial = out.with_name(f".{out.name}.{os.getpid()}{PARTIAL}")

    def write_list(name: str, data: Any) -> None:
        write_whole(partial / name, f"{json.dumps(data, ensure_ascii=False)}\n".encode(), durable=False)

    try:
        for part in made.parts:
            write_list(f"{part.name}.json", list(part.ids))
        for role, marked in made.marked.items():
            for kind, ids in (("iid", marked.rest), ("comp", marked.held)):
                listed = {"comp_split_name": made.name, "split_name": role, "ids": list(ids)}
                write_list(f"{OFFICIAL}/{made.name}_{role}_{kind}.json", listed)
        write_whole(partial / MANIFEST, about.encode())
        with explain_write_errors(out):
            partial.replace(out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return True
