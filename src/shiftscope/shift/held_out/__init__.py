"""Held out: questions with a property, or a composition of them, are kept from training and tested on.

COVR (Bogin et al., 2021), section 4. For example, `has_quant_all & has_quant_compscope` holds out "All mice
on a mouse pad are black" while "All birds are black" and "No man next to a horse is standing" are learned.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import UserError, unknown
from ...question import Question
from ...records import content_id
from ...rng import derive
from .facts import to_snake_case
from .predicates import (
    DRAW_RULES,
    DRAWS,
    LEXICAL_SPLIT,
    PROGRAM_SPLIT,
    QuestionCorpus,
    QuestionPredicate,
    parse_expression,
)
from .predicates import parse_expression as hold_out

if TYPE_CHECKING:
    from ...question_table import SampleSet


# Splits: COVR's by the paper's names, and the questions that a study of a split trains and tests on.
#
# *Few-shot* splits (Table 7) keep 250 questions with the property to train on, *zero-shot* ones (Table 8) none.
# A name of two properties joins both names; has_num_3_ans_3 and the last of Table 8 are unions, the others are
# intersections. The parts of a split:
#
# train_iid        all training questions
# train_text_only  the same, for a model that is shown no image
# train_zero_shot  those without the property; with shots it is train_m_shot, which has so many with it, too
# train_iid_size   as many as that, drawn evenly from all: the upper bound
# val_without      development questions without the property, to stop early by; val_comp: those with it
# test_comp        test questions with the property; test_iid: all of them

SHOTS = 250
MAX_NAME_LENGTH = 100  # characters of a name, which files are called by
NAME_HASH_LENGTH = 8


class TooFewQuestions(UserError):
    """What the data has too few questions for: other data may have enough."""


@dataclass(frozen=True, slots=True)
class CovrSplit:
    """One split of the paper."""

    name: str
    hold_out: str
    shots: int
    table: int
    reported: str  # how many of the 248,100 training questions the paper filters

    @property
    def kind(self) -> str:
        return f"few-shot, M={self.shots}" if self.shots else "zero-shot"


FEW_SHOT = (
    ("has_quant", "has_quant", "33.3k"),
    ("has_quant_all", "has_quant_all", "21.1k"),
    ("has_quant_compscope", "has_quant_compscope", "22.8k"),
    ("has_compar", "has_compar", "16.7k"),
    ("has_compar_more", "has_compar_more", "7.6k"),
    ("has_groupby", "has_groupby", "33.3k"),
    ("has_logic", "has_logic", "16.7k"),
    ("has_logic_and", "has_logic_and", "8.8k"),
    ("has_num_3", "has_num_3", "6.9k"),
    ("has_num_3_ans_3", "has_num_3 | ans_3", "12.1k"),
    ("ans_num", "ans_num", "33.3k"),
)
ZERO_SHOT = (
    ("has_quant_compscope_has_quant_all", "has_quant_compscope & has_quant_all", "12.9k"),
    ("has_count_has_attr", "has_count & has_attr", "37.6k"),
    ("has_count_rm_v_c", "has_count & rm_v_c", "36.9k"),
    ("has_sameattr_color", "has_sameattr_color", "27.3k"),
    ("tpl_choose_object", "tpl_choose_object", "16.7k"),
    ("tpl_verify_quant_attr", "tpl_verify_quant_attr", "16.7k"),
    ("tpl_verify_attr", "tpl_verify_attr", "16.7k"),
    ("tpl_verify_count_tpl_verify_count_group_by", "tpl_verify_count | tpl_verify_count_group_by", "33.3k"),
)
DRAWN_SPLITS = ((PROGRAM_SPLIT, "48k ± 11k"), (LEXICAL_SPLIT, "40k ± 3k"))

COVR_SPLITS = {
    split.name: split
    for split in (
        *(CovrSplit(name, text, SHOTS, 7, count) for name, text, count in FEW_SHOT),
        *(CovrSplit(name, text, 0, 8, count) for name, text, count in ZERO_SHOT),
        *(CovrSplit(f"{kind}_{n}", f"{kind}_{n}", 0, 8, count) for kind, count in DRAWN_SPLITS for n in DRAWS),
    )
}


def get_split(name: str) -> CovrSplit:
    """The split of that name, spelled in snake case or as in the paper."""
    known = {called.replace("_", ""): split for called, split in COVR_SPLITS.items()}
    found = known.get(to_snake_case(name).replace("_", ""))
    if found is None:
        raise unknown("named split", name, [*COVR_SPLITS])
    return found


def find_draw_rule(name: str) -> str:
    """Names the rule by which what a split holds out is drawn; nothing where nothing is drawn."""
    kind, _, number = name.rpartition("_")
    return f"{kind} {DRAW_RULES[kind]}" if kind in DRAW_RULES and number.isdigit() else ""


def name_split(hold_out: QuestionPredicate) -> str:
    """What the split of an expression is called: `not_has_count`, `has_quant_or_ans_yes`.

    A mark of the expression is put to what would not tell it from others: where it has brackets, is long, or
    would have the name of one of the paper's splits.
    """
    text, name = str(hold_out), hold_out.format_name()
    paper = COVR_SPLITS.get(name)
    if "(" in text or len(name) > MAX_NAME_LENGTH or (paper is not None and paper.hold_out != text):
        return f"{name[:MAX_NAME_LENGTH]}_{content_id(text)[:NAME_HASH_LENGTH]}"
    return name


TRAIN, VAL, TEST = "train", "val", "test"
ROLES = (TRAIN, VAL, TEST)


@dataclass(frozen=True, slots=True)
class HeldOutSettings:
    """What the parts depend on besides the questions."""

    hold_out: str
    shots: int = 0  # questions with the property that are trained on all the same
    seed: int = 0


@dataclass(frozen=True, slots=True)
class HeldOutIds:
    """The ids of one role, sorted: those with the property, and those without."""

    held: tuple[str, ...]
    rest: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        return tuple(sorted((*self.held, *self.rest)))


@dataclass(frozen=True, slots=True)
class HeldOutPart:
    """A list of questions, sorted, and what it is for."""

    name: str
    role: str  # whose questions they are: train, val or test
    ids: tuple[str, ...]
    use: str


def sets(samples: Sequence[Question], settings: HeldOutSettings) -> "tuple[SampleSet, ...]":
    """The parts of questions whose provenance names their split, as rows of them."""
    import numpy as np

    from ...question_table import SampleSet

    rows = {question.id: k for k, question in enumerate(samples)}
    if len(rows) < len(samples):
        raise UserError("two questions have the same id")
    hold_out = parse_expression(settings.hold_out)
    splits = [question.provenance.split for question in samples]
    corpus = QuestionCorpus(lambda: ((split == TRAIN, q) for split, q in zip(splits, samples, strict=True)))
    fitted = hold_out.fit(corpus, settings.seed)
    marked = {
        role: divide_ids([(q.id, fitted(q)) for split, q in zip(splits, samples, strict=True) if split == role])
        for role in ROLES
        if role in splits
    }
    parts = build_parts(marked, settings, hold_out)
    return tuple(SampleSet(p.name, np.array(sorted(rows[one] for one in p.ids), np.int64)) for p in parts)


def divide_ids(ids: Sequence[tuple[str, bool]]) -> HeldOutIds:
    """Ids with whether they have the property, in one order."""
    return HeldOutIds(tuple(sorted(i for i, held in ids if held)), tuple(sorted(i for i, held in ids if not held)))


def build_parts(
    marked: Mapping[str, HeldOutIds], settings: HeldOutSettings, hold_out: QuestionPredicate
) -> tuple[HeldOutPart, ...]:
    """All parts; what cannot be trained or tested is refused. Without test questions, val is tested on."""
    train = marked.get(TRAIN)
    tested = TEST if TEST in marked else VAL
    if train is None or tested not in marked:
        raise UserError(
            "a split needs questions to train on and to test on, and there are none for "
            + ("training" if train is None else "testing (a split test or val)")
        )
    test, shots, seed = marked[tested], settings.shots, settings.seed
    if shots < 0:
        raise UserError(f"{shots} shots cannot be drawn; give 0 or more")
    if not train.held:
        raise TooFewQuestions(f"no training question has {hold_out}, so that nothing would be held out")
    if not test.held:
        raise TooFewQuestions(f"no test question has {hold_out}, so that nothing would be tested")
    if len(train.held) <= shots:
        raise TooFewQuestions(
            f"{len(train.held):,} training questions have {hold_out}: with {shots:,} shots none is held "
            "out; give fewer with --shots"
        )
    if not train.rest and not shots:
        raise TooFewQuestions(f"every training question has {hold_out}, so that none would be left to train on")
    shown = _draw_ids(train.held, shots, "m_shot", seed)
    comp = tuple(sorted((*train.rest, *shown)))
    kind = f"few-shot, of M={shots:,} with the property" if shots else "zero-shot"
    upper = _draw_ids(train.all, len(comp), "iid_size", seed)
    parts = [
        ("train_text_only", TRAIN, train.all, "the text baseline: the same questions, no image is shown"),
        ("train_m_shot" if shots else "train_zero_shot", TRAIN, comp, f"the model that is to generalise, {kind}"),
        ("train_iid_size", TRAIN, upper, "the upper bound of the score: as many questions, drawn evenly from all"),
        ("train_iid", TRAIN, train.all, "for comparison: all training questions"),
    ]
    if VAL in marked:
        parts.append(("val_without", VAL, marked[VAL].rest, "to stop early by: without the property"))
        parts.append(("val_comp", VAL, marked[VAL].held, "development questions with the property"))
    parts.append(("test_comp", tested, test.held, "the test: questions with the property"))
    parts.append(("test_iid", tested, test.all, "all test questions"))
    return tuple(HeldOutPart(*part) for part in parts)


def _draw_ids(ids: Sequence[str], count: int, what: str, seed: int) -> tuple[str, ...]:
    """So many of sorted ids, each as likely, sorted again."""
    order = derive("held_out", what, seed).permutation(len(ids))
    return tuple(sorted(ids[k] for k in order[:count].tolist()))


__all__ = ["HeldOutSettings", "hold_out", "sets"]
