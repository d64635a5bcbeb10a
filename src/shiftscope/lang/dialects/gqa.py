"""GQA programs: the `semantic` list of a question, its one-line form, and calls such as `filter([0], white)`.

    select: wall (722332)->relate: _,on,s (722335) [0]->query: name [1]

In `relate`, `s` says that the thing named is the subject of the relation, `o` that it is the object. A step
on `select: scene` speaks of the whole image.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ...errors import did_you_mean
from ...scene import FREE
from ..ops.attributes import COMPARATIVES
from ..program import Notes, Program, ProgramError
from ._gqa_calls import read_calls, write_calls
from ._gqa_steps import ANY, INPUTS, Step, program_of, steps_of

OPERATIONS = (
    *("select", "filter", "relate", "query", "verify", "choose", "exist", "and", "or"),
    *("same", "different", "common"),
)
SCENE = "scene"
ROLES = {"s": "subject", "o": "object"}
KIND = {"type": "name"}  # `same: type` asks whether they are called the same
_ROLE_LETTER = {role: letter for letter, role in ROLES.items()}
_KIND_WORD = {ours: theirs for theirs, ours in KIND.items()}
_WITH_ID = re.compile(r"(\s*)(.*?)(?: \(([^()]*)\))?(\s*)", re.DOTALL)
_WITHOUT_ID = re.compile(r"(\s*)(.*?)(\s*)", re.DOTALL)
_NOT = re.compile(r"not\((.*)\)", re.DOTALL)
_UNSAYABLE = re.compile(r"[|,()]|^\s|\s$|^$")

__all__ = ["read", "read_calls", "semantic_str", "write", "write_calls"]


def read(semantic: Iterable[Any]) -> Program:
    """The program of a question's `semantic` list."""
    steps: list[Step] = []
    place: dict[int, int] = {}  # listed node → step; `select: scene` is no step
    scenes: dict[int, str] = {}  # listed node of a `select: scene` → the blanks after it
    unread: set[int] = set()
    for at, raw in enumerate(semantic):
        operation, argument, dependencies = _fields(raw, at)
        if operation == "select" and argument.rstrip() == SCENE:
            scenes[at] = argument[len(SCENE) :]
            unread.add(at)
            continue
        step = _step(operation, argument, len(dependencies), f"node {at} ({operation})")
        whole = [d for d in dependencies if d in scenes]
        if whole:
            step = _of_image(step, at, whole[0], scenes[whole[0]], f"node {at} ({operation})")
            unread.discard(whole[0])
        else:
            inputs = tuple(place[d] for d in dependencies)
            step = step._replace(inputs=inputs * 2 if len(inputs) < INPUTS[step.kind] else inputs)
        place[at] = len(steps)
        steps.append(step)
    if unread:
        raise ProgramError(f"node {min(unread)} (select: scene) is not read by a query, verify or choose")
    return program_of(steps)


def _fields(raw: Any, at: int) -> tuple[str, str, list[int]]:
    try:
        operation, argument, dependencies = raw["operation"], raw["argument"], raw["dependencies"]
    except (KeyError, TypeError, IndexError):
        raise ProgramError(f"node {at} must have an operation, an argument and dependencies") from None
    if not isinstance(operation, str) or not isinstance(argument, str) or not isinstance(dependencies, list):
        raise ProgramError(f"node {at}: its operation and argument must be text, its dependencies a list")
    for d in dependencies:
        if type(d) is not int or not 0 <= d < at:
            raise ProgramError(f"node {at} ({operation}) reads node {d!r}, which does not come before it")
    return operation, argument, dependencies


def _step(operation: str, argument: str, inputs: int, where: str) -> Step:
    """The step an operation and its argument say, its inputs left open."""
    verb, _, about = operation.partition(" ")
    grounded = operation in ("select", "relate", "verify rel", "choose rel")
    text, notes = _spelling(argument, grounded)
    step = _meaning(verb, about, text, where)
    if step is None:
        hint = did_you_mean(verb, OPERATIONS)
        raise ProgramError(f"{where.partition(' (')[0]}: unknown op {operation!r} in GQA{hint}")
    wanted = 1 if operation in ("same", "different") else INPUTS[step.kind]
    if inputs != wanted:
        raise ProgramError(f"{where}: expected {wanted} dependencies, came {inputs}")
    return step._replace(notes=(*step.notes, *notes))


def _spelling(argument: str, grounded: bool) -> tuple[str, Notes]:
    """The argument without ids and outer blanks, and those as notes."""
    found = (_WITH_ID if grounded else _WITHOUT_ID).fullmatch(argument)
    assert found is not None  # both patterns match any text
    lead, text, *ids, tail = found.groups()
    notes = (("lead", lead), ("id", ids[0] if ids else None), ("tail", tail))
    return text, tuple((k, v) for k, v in notes if v or (k == "id" and v is not None))


def _meaning(verb: str, about: str, text: str, where: str) -> Step | None:
    attribute = about or FREE
    match verb, about:
        case (("select" | "query"), ""):
            return Step(verb, (), (text,))
        case "filter", _:
            denied = _NOT.fullmatch(text)
            return Step("exclude" if denied else "filter", (), (attribute, denied[1] if denied else text))
        case "relate", "":
            return _relation(text, where)
        case "verify", "rel":
            name, relation, role = _three(text, where)
            return Step("verify_rel", (), (name, relation, role))
        case "verify", _:
            denied = _NOT.fullmatch(text)
            return Step("deny" if denied else "verify", (), (attribute, denied[1] if denied else text))
        case "choose", "rel":
            name, relations, role = _three(text, where)
            return Step("choose_rel", (), (name, *_two(relations, where), role))
        case "choose", _ if about in COMPARATIVES:
            return Step("choose_more", (), (about, *_nothing(text, where)))
        case "choose", _:
            return Step("choose", (), (attribute, *_two(text, where)))
        case "exist", "":
            if text != "?":
                raise ProgramError(f"{where}: expected the argument '?', came {text!r}")
            return Step("exist")
        case (("and" | "or" | "common"), ""):
            return Step(verb, (), _nothing(text, where))
        case (("same" | "different"), _):
            of = (about, *_nothing(text, where)) if about else (KIND.get(text, text),)
            return Step("alike" if verb == "same" else "differ", (), of)
    return None


def _relation(text: str, where: str) -> Step:
    name, *rest = text.split(",")
    if rest and rest[0].startswith("same ") and len(rest) <= 2 and rest[-1] not in ROLES:
        third = rest[1] if len(rest) == 2 else ""
        notes = (("third", third),) if third != ANY else ()
        return Step("alike_to", (), (name, rest[0].removeprefix("same ")), notes)
    return Step("relate", (), _three(text, where))


def _three(text: str, where: str) -> tuple[str, str, str]:
    name, _, rest = text.partition(",")
    relation, comma, role = rest.rpartition(",")
    if not comma or role not in ROLES:
        raise ProgramError(f"{where}: expected name,relation,s or name,relation,o, came {text!r}")
    return name, relation, ROLES[role]


def _two(text: str, where: str) -> tuple[str, str]:
    this, bar, that = text.partition("|")
    if not bar or "|" in that:
        raise ProgramError(f"{where}: expected two choices such as red|blue, came {text!r}")
    return this, that


def _nothing(text: str, where: str) -> tuple[()]:
    if text:
        raise ProgramError(f"{where}: expected no argument, came {text!r}")
    return ()


def _of_image(step: Step, at: int, scene: int, blanks: str, where: str) -> Step:
    """The step as one about the whole image; notes say where `select: scene` stood if not just before."""
    if step.kind not in ("query", "verify", "choose"):
        raise ProgramError(f"{where} can not be asked of the whole scene (node {scene})")
    notes: Notes = (("scene", str(scene)),) if scene != at - 1 else ()
    notes += (("scene tail", blanks),) if blanks else ()
    return Step(f"{step.kind}_image", (), step.words, (*step.notes, *notes))


def write(program: Program) -> list[dict[str, Any]]:
    """The program as a `semantic` list; refuses, by name, what GQA can not say."""
    steps = steps_of(program)
    listed: list[dict[str, Any]] = []
    place: list[int] = []  # of each step
    scenes: set[int] = set()
    noted = [dict(step.notes) for step in steps]
    wanted = {int(notes["scene"]): notes for notes in noted if "scene" in notes}

    def put_scene(notes: dict[str, str]) -> int:
        scenes.add(len(listed))
        listed.append(_listed("select", SCENE + notes.get("scene tail", ""), []))
        return len(listed) - 1

    for step, notes in zip(steps, noted, strict=True):
        while len(listed) in wanted:
            put_scene(wanted[len(listed)])
        operation, text = _said(step, notes)
        if step.kind.endswith("_image"):
            at = int(notes.get("scene", len(listed) - 1))
            dependencies = [at if at in scenes else put_scene(notes)]
        else:
            dependencies = [place[i] for i in step.inputs]
            if operation in ("same", "different"):
                dependencies = dependencies[:1]
        place.append(len(listed))
        listed.append(_listed(operation, text, dependencies))
    return listed


def semantic_str(program: Program) -> str:
    """The program on one line: `select: wall (722332)->query: color [0]`."""
    return line_of(write(program))


def line_of(listed: list[dict[str, Any]]) -> str:
    """A `semantic` list on one line."""
    return "->".join(
        f"{n['operation']}: {n['argument']}"
        + (f" [{', '.join(map(str, n['dependencies']))}]" if n["dependencies"] else "")
        for n in listed
    )


def _listed(operation: str, argument: str, dependencies: list[int]) -> dict[str, Any]:
    return {"operation": operation, "dependencies": dependencies, "argument": argument}


def _said(step: Step, notes: dict[str, str]) -> tuple[str, str]:
    """Operation and argument of a step."""
    kind, words = step.kind.removesuffix("_image"), step.words
    for word in words:
        if _UNSAYABLE.search(word) or (kind == "select" and word == SCENE):
            raise ProgramError(f"the word {word!r} can not stand in a GQA {kind}")
    match kind:
        case "filter" | "exclude" | "verify" | "deny":
            verb = {"exclude": "filter", "deny": "verify"}.get(kind, kind)
            operation = _about(verb, words[0])
            text = words[1] if kind == verb else f"not({words[1]})"
        case "choose":
            operation, text = _about(kind, words[0]), f"{words[1]}|{words[2]}"
        case "relate" | "verify_rel":
            operation, text = kind.replace("_", " "), f"{words[0]},{words[1]},{_ROLE_LETTER[words[2]]}"
        case "alike_to":
            third = notes.get("third", ANY)
            operation, text = "relate", f"{words[0]},same {words[1]}{',' if third else ''}{third}"
        case "choose_rel":
            operation, text = "choose rel", f"{words[0]},{words[1]}|{words[2]},{_ROLE_LETTER[words[3]]}"
        case "choose_more":
            operation, text = f"choose {words[0]}", ""
        case "alike" | "differ":
            verb = "same" if kind == "alike" else "different"
            alone = step.inputs[0] == step.inputs[1]
            operation, text = (
                (verb, _KIND_WORD.get(words[0], words[0])) if alone else (f"{verb} {words[0]}", "")
            )
        case "exist":
            operation, text = kind, "?"
        case _:
            operation, text = kind, words[0] if words else ""
    grounded = kind in ("select", "relate", "alike_to", "verify_rel", "choose_rel")
    ids = f" ({notes['id']})" if grounded and "id" in notes else ""
    return operation, f"{notes.get('lead', '')}{text}{ids}{notes.get('tail', '')}"


def _about(verb: str, attribute: str) -> str:
    if verb != "filter" and (attribute == "rel" or (verb == "choose" and attribute in COMPARATIVES)):
        raise ProgramError(f"the attribute {attribute!r} can not stand in a GQA {verb}")
    return verb if attribute == FREE else f"{verb} {attribute}"
