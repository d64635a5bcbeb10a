"""GQA programs as calls: `[722335]=relate_inv([1], on)`, the notation of the Meta Module Network's files.

Before the `=` stand the ids of the objects meant (`[]` for none there, `?` where nothing is pointed at). A
call names no attribute where a value says enough: `filter([0], white)` keeps what is white in any respect, so
`color=white` written here reads back as `attribute=white`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ...errors import did_you_mean
from ...scene import FREE
from ..program import Notes, Program, ProgramError
from ._gqa_steps import ANY, INPUTS, Step, program_of, steps_of

_CALL = re.compile(r"(\?|\[([^\]]*)\])=(\w+)\((.*)\)", re.DOTALL)
_INPUT = re.compile(r"\[(\d+)\](,? ?)")
_UNSAYABLE = re.compile(r"[,()\[\]]|^\s|\s$|^$")

# function: its kind of step, and that step's words, None where the call gives the word.
Form = tuple[str, tuple[str | None, ...]]
FORMS: dict[str, Form] = {
    "select": ("select", (None,)),
    "filter": ("filter", (FREE, None)),
    "filter_not": ("exclude", (FREE, None)),
    "filter_h": ("filter", ("hposition", None)),
    "filter_v": ("filter", ("vposition", None)),
    "relate": ("relate", (None, ANY, "object")),
    "relate_inv": ("relate", (None, ANY, "subject")),
    "relate_name": ("relate", (None, None, "object")),
    "relate_inv_name": ("relate", (None, None, "subject")),
    "relate_attr": ("alike_to", (None, None)),
    "query": ("query", (None,)),
    "query_n": ("query", ("name",)),
    "query_h": ("query", ("hposition",)),
    "query_v": ("query", ("vposition",)),
    "query_f": ("query_image", (None,)),
    "verify": ("verify", (FREE, None)),
    "verify_h": ("verify", ("hposition", None)),
    "verify_v": ("verify", ("vposition", None)),
    "verify_f": ("verify_image", (FREE, None)),
    "verify_rel": ("verify_rel", (None, None, "object")),
    "verify_rel_inv": ("verify_rel", (None, None, "subject")),
    "choose": ("choose", (FREE, None, None)),
    "choose_n": ("choose", ("name", None, None)),
    "choose_h": ("choose", ("hposition", None, None)),
    "choose_v": ("choose", ("vposition", None, None)),
    "choose_attr": ("choose", (None, None, None)),
    "choose_f": ("choose_image", (FREE, None, None)),
    "choose_rel": ("choose_rel", (None, None, None, "object")),
    "choose_rel_inv": ("choose_rel", (None, None, None, "subject")),
    "choose_subj": ("choose_more", (None,)),
    "exist": ("exist", ()),
    "and": ("and", ()),
    "or": ("or", ()),
    "same": ("alike", ("name",)),
    "different": ("differ", ("name",)),
    "same_attr": ("alike", (None,)),
    "different_attr": ("differ", (None,)),
    "common": ("common", ()),
}
_RELATION_FIRST = ("relate", "verify_rel", "alike_to")  # a call says relation, name; a step name, relation
_CUT = {"less healthy": "less"}  # these files keep one word of a comparative
_WHOLE = {cut: whole for whole, cut in _CUT.items()}
_VERTICAL = ("top", "middle", "bottom")  # `filter_h` is written for these as well
_ON_SET = ("same", "different")  # compare the members of one set


def read_calls(calls: Iterable[Any]) -> Program:
    """The program of a list of calls."""
    return program_of([_read_call(text, at) for at, text in enumerate(calls)])


def _read_call(text: Any, at: int) -> Step:
    found = _CALL.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise ProgramError(f"node {at}: expected a call such as ?=filter([0], white), came {text!r}")
    pointed, ids, function, inside = found.groups()
    if function not in FORMS:
        hint = did_you_mean(function, FORMS)
        raise ProgramError(f"node {at}: unknown op {function!r} in GQA calls{hint}")
    inputs, notes, rest = _inputs(inside, f"node {at} ({function})", at)
    words = rest.split(", ") if rest else []
    kind, pattern = FORMS[function]
    if len(inputs) != (1 if function in _ON_SET else INPUTS[kind]) or len(words) != pattern.count(None):
        raise ProgramError(f"node {at}: expected a call like {_sample(function)}, came {text!r}")
    if pointed != "?":
        notes += (("id", ids or "-"),)
    if function == "filter_h" and words[0] in _VERTICAL:
        pattern = FORMS["filter_v"][1]
        notes += (("call", function),)
    given = iter(words)
    made = [next(given) if p is None else p for p in pattern]
    return Step(kind, inputs * 2 if function in _ON_SET else inputs, _stepwise(kind, made), notes)


def _inputs(inside: str, where: str, at: int) -> tuple[tuple[int, ...], Notes, str]:
    """The steps a call reads, how they are set apart, and what follows them."""
    inputs: list[int] = []
    notes: Notes = ()
    end = 0
    while found := _INPUT.match(inside, end):
        i = int(found[1])
        if i >= at:
            raise ProgramError(f"{where} reads node {i}, which does not come before it")
        inputs.append(i)
        end = found.end()
        if found[2] == ",":
            notes = (("comma", ","),)
    return tuple(inputs), notes, inside[end:]


def _stepwise(kind: str, words: list[str]) -> tuple[str, ...]:
    if kind in _RELATION_FIRST:
        words = [words[1], words[0].removeprefix("same ") if kind == "alike_to" else words[0], *words[2:]]
    if kind == "choose_more":
        words = [_WHOLE.get(words[0], words[0])]
    return tuple(words)


def write_calls(program: Program) -> list[str]:
    """The program as calls; refuses, by name, what they can not say."""
    return [_write_call(step, at) for at, step in enumerate(steps_of(program))]


def _write_call(step: Step, at: int) -> str:
    notes = dict(step.notes)
    function, words = _called(step, notes, at)
    for word in words:
        if _UNSAYABLE.search(word):
            raise ProgramError(f"the word {word!r} can not stand in a GQA call (node {at}, {function})")
    inputs = step.inputs[:1] if function in _ON_SET else step.inputs
    together = notes.get("comma", ", ").join(f"[{i}]" for i in inputs)
    ids = notes.get("id")
    pointed = "?" if ids is None else f"[{'' if ids == '-' else ids}]"
    return f"{pointed}={function}({', '.join([*([together] if inputs else []), *words])})"


def _called(step: Step, notes: dict[str, str], at: int) -> tuple[str, list[str]]:
    """The function that says the step with the fewest words, and those words."""
    words = list(step.words)
    if step.kind in _RELATION_FIRST:
        words[:2] = [f"same {words[1]}" if step.kind == "alike_to" else words[1], words[0]]
    if step.kind == "choose_more":
        words = [_CUT.get(words[0], words[0])]
    if step.kind in ("alike", "differ"):
        verb = "same" if step.kind == "alike" else "different"
        alone = step.inputs[0] == step.inputs[1] and words[0] == "name"
        return (verb, []) if alone else (f"{verb}_attr", words)
    # A value says its attribute only where no function spells it out.
    fits = _fitting(step.kind, words) or _fitting(step.kind, [FREE, *words[1:]])
    if not fits:
        raise ProgramError(f"node {at} ({step.kind}: {', '.join(step.words)}) can not be said as a GQA call")
    function = min(fits, key=lambda f: FORMS[f][1].count(None))
    taken = [w for p, w in zip(FORMS[function][1], words, strict=True) if p is None]
    return notes.get("call", function), taken


def _fitting(kind: str, words: list[str]) -> list[str]:
    return [
        function
        for function, (of, pattern) in FORMS.items()
        if of == kind and all(p in (None, w) for p, w in zip(pattern, words, strict=True))
    ]


def _sample(function: str) -> str:
    kind, pattern = FORMS[function]
    inputs = [f"[{i}]" for i in range(1 if function in _ON_SET else INPUTS[kind])]
    return f"?={function}({', '.join([*inputs, *('word' for p in pattern if p is None)])})"


def tokens_of(calls: list[str]) -> list[str]:
    """The calls word by word, as these files also store them: select ( sky ) ; verify ( [0] , dark )."""
    tokens: list[str] = []
    for call in calls:
        found = _CALL.fullmatch(call)
        assert found is not None
        inputs, _, rest = _inputs(found[4], "", 1 << 30)
        words = [*(f"[{i}]" for i in inputs), *(rest.split(", ") if rest else [])]
        apart = [token for word in words for token in (",", word)][1:]
        tokens += [*([";"] if tokens else []), found[3], "(", *apart, ")"]
    return tokens
