"""The splits of COVR by the paper's names in snake case, with how many questions it says they filter.

*Few-shot* splits (Table 7) keep 250 questions with the property to train on, *zero-shot* ones (Table 8) none.
A name of two properties joins both names; has_num_3_ans_3 and the last of Table 8 are unions, the others are
intersections.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...canonical import content_id
from ...errors import unknown
from .drawn import DRAWS, LEXICAL, PROGRAM
from .facts import snake
from .predicate import Predicate

SHOTS = 250
LONGEST = 100  # characters of a name, which files are called by
MARK = 8


@dataclass(frozen=True, slots=True)
class Named:
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
    (
        "tpl_verify_count_tpl_verify_count_group_by",
        "tpl_verify_count | tpl_verify_count_group_by",
        "33.3k",
    ),
)
DRAWN = ((PROGRAM, "48k ± 11k"), (LEXICAL, "40k ± 3k"))

SPLITS = {
    split.name: split
    for split in (
        *(Named(name, text, SHOTS, 7, count) for name, text, count in FEW_SHOT),
        *(Named(name, text, 0, 8, count) for name, text, count in ZERO_SHOT),
        *(Named(f"{kind}_{n}", f"{kind}_{n}", 0, 8, count) for kind, count in DRAWN for n in DRAWS),
    )
}


def named(name: str) -> Named:
    """The split of that name, spelled in snake case or as in the paper."""
    wanted = _bare(name)
    found = next((split for split in SPLITS.values() if _bare(split.name) == wanted), None)
    if found is None:
        raise unknown("named split", name, [*SPLITS])
    return found


def name_of(hold_out: Predicate) -> str:
    """What the split of an expression is called: `not_has_count`, `has_quant_or_ans_yes`.

    A mark of the expression is put to what would not tell it from others: where it has brackets, is long, or
    would have the name of one of the paper's splits.
    """
    text, name = str(hold_out), hold_out.in_words()
    paper = SPLITS.get(name)
    if "(" in text or len(name) > LONGEST or (paper is not None and paper.hold_out != text):
        return f"{name[:LONGEST]}_{content_id(text)[:MARK]}"
    return name


def _bare(name: str) -> str:
    return snake(name).replace("_", "")
