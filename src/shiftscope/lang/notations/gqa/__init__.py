"""GQA programs: the `semantic` list of a question, its one-line form, and calls such as `filter([0], white)`.

    select: wall (722332)->relate: _,on,s (722335) [0]->query: name [1]

In `relate`, `s` says that the thing named is the subject of the relation, `o` that it is the object. A step
on `select: scene` speaks of the whole image.
"""

import re
from collections.abc import Iterable
from typing import Any

from ....errors import did_you_mean
from ....scene import FREE
from ...ops.attributes import COMPARATIVES
from ...program import Notes, Program, ProgramError
from .steps import ANY, INPUTS, GqaStep, build_program, build_steps

# Calls, as the Meta Module Network's files write them: `[722335]=relate_inv([1], on)`. Before the `=` stand the ids
# of the objects (`[]`: none, `?`: not given). `filter([0], white)` names no attribute and reads as `attribute=white`.

_CALL = re.compile(r"(\?|\[([^\]]*)\])=(\w+)\((.*)\)", re.DOTALL)
_INPUT = re.compile(r"\[(\d+)\](,? ?)")
_UNSAYABLE_IN_CALL = re.compile(r"[,()\[\]]|^\s|\s$|^$")

# function: its kind of step, and that step's words, None where the call gives the word.
Form = tuple[str, tuple[str | None, ...]]
_ATTRIBUTES = {"": FREE, "_h": "hposition", "_v": "vposition"}  # that the end of a function's name says
_SIDES = {"": "object", "_inv": "subject"}
FORMS: dict[str, Form] = {
    "select": ("select", (None,)),
    **{f"filter{end}": ("filter", (attribute, None)) for end, attribute in _ATTRIBUTES.items()},
    "filter_not": ("exclude", (FREE, None)),
    **{f"relate{side}": ("relate", (None, ANY, role)) for side, role in _SIDES.items()},
    **{f"relate{side}_name": ("relate", (None, None, role)) for side, role in _SIDES.items()},
    "relate_attr": ("alike_to", (None, None)),
    **{f"query{end}": ("query", (attribute,)) for end, attribute in (_ATTRIBUTES | {"": None, "_n": "name"}).items()},
    "query_f": ("query_image", (None,)),
    **{f"verify{end}": ("verify", (attribute, None)) for end, attribute in _ATTRIBUTES.items()},
    "verify_f": ("verify_image", (FREE, None)),
    **{f"verify_rel{side}": ("verify_rel", (None, None, role)) for side, role in _SIDES.items()},
    **{f"choose{end}": ("choose", (attribute, None, None)) for end, attribute in _ATTRIBUTES.items()},
    "choose_n": ("choose", ("name", None, None)),
    "choose_attr": ("choose", (None, None, None)),
    "choose_f": ("choose_image", (FREE, None, None)),
    **{f"choose_rel{side}": ("choose_rel", (None, None, None, role)) for side, role in _SIDES.items()},
    "choose_subj": ("choose_more", (None,)),
    **{name: (name, ()) for name in ("exist", "and", "or", "common")},
    "same": ("alike", ("name",)),
    "different": ("differ", ("name",)),
    "same_attr": ("alike", (None,)),
    "different_attr": ("differ", (None,)),
}
_RELATION_FIRST = ("relate", "verify_rel", "alike_to")  # a call says relation, name; a step name, relation
_CUT = {"less healthy": "less"}  # these files keep one word of a comparative
_WHOLE = {cut: whole for whole, cut in _CUT.items()}
_VERTICAL = ("top", "middle", "bottom")  # `filter_h` is written for these as well
_ON_SET = ("same", "different")  # compare the members of one set


def read_calls(calls: Iterable[Any]) -> Program:
    """The program of a list of calls."""
    return build_program([_read_call(text, at) for at, text in enumerate(calls)])


def _read_call(text: Any, at: int) -> GqaStep:
    found = _CALL.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise ProgramError(f"node {at}: expected a call such as ?=filter([0], white), got {text!r}")
    pointed, ids, function, inside = found.groups()
    if function not in FORMS:
        raise ProgramError(f"node {at}: unknown op {function!r} in GQA calls{did_you_mean(function, FORMS)}")
    inputs, words, comma = _parse_arguments(inside)
    late = next((i for i in inputs if i >= at), None)
    if late is not None:
        raise ProgramError(f"node {at} ({function}) reads node {late}, which does not come before it")
    kind, pattern = FORMS[function]
    wanted = 1 if function in _ON_SET else INPUTS[kind]
    if len(inputs) != wanted or len(words) != pattern.count(None):
        sample = [*(f"[{i}]" for i in range(wanted)), *["word"] * pattern.count(None)]
        raise ProgramError(f"node {at}: expected a call like ?={function}({', '.join(sample)}), got {text!r}")
    notes: Notes = (("comma", ","),) if comma else ()
    if pointed != "?":
        notes += (("id", ids or "-"),)
    if function == "filter_h" and words[0] in _VERTICAL:
        pattern = FORMS["filter_v"][1]
        notes += (("call", function),)
    given = iter(words)
    made = [next(given) if p is None else p for p in pattern]
    if kind in _RELATION_FIRST:
        made[:2] = made[1], made[0].removeprefix("same ") if kind == "alike_to" else made[0]
    if kind == "choose_more":
        made = [_WHOLE.get(made[0], made[0])]
    return GqaStep(kind, inputs * 2 if function in _ON_SET else inputs, tuple(made), notes)


def _parse_arguments(inside: str) -> tuple[tuple[int, ...], list[str], bool]:
    """The steps a call reads, its words, and whether a comma without a blank sets the steps apart."""
    inputs: list[int] = []
    comma, end = False, 0
    while found := _INPUT.match(inside, end):
        inputs.append(int(found[1]))
        comma = comma or found[2] == ","
        end = found.end()
    return tuple(inputs), inside[end:].split(", ") if inside[end:] else [], comma


def write_calls(program: Program) -> list[str]:
    """The program as calls; refuses, by name, what they cannot say."""
    return [_write_call(step, at) for at, step in enumerate(build_steps(program))]


def _write_call(step: GqaStep, at: int) -> str:
    notes = dict(step.notes)
    function, words = _choose_function(step, at)
    for word in words:
        if _UNSAYABLE_IN_CALL.search(word):
            raise ProgramError(f"the word {word!r} cannot stand in a GQA call (node {at}, {function})")
    inputs = step.inputs[:1] if function in _ON_SET else step.inputs
    together = notes.get("comma", ", ").join(f"[{i}]" for i in inputs)
    ids = notes.get("id")
    pointed = "?" if ids is None else f"[{'' if ids == '-' else ids}]"
    return f"{pointed}={function}({', '.join([*([together] if inputs else []), *words])})"


def _choose_function(step: GqaStep, at: int) -> tuple[str, list[str]]:
    """The function that says the step with the fewest words, and those words."""
    kind, words = step.kind, list(step.words)
    if kind in _RELATION_FIRST:
        words[:2] = [f"same {words[1]}" if kind == "alike_to" else words[1], words[0]]
    if kind == "choose_more":
        words = [_CUT.get(words[0], words[0])]
    if kind in ("alike", "differ"):
        verb = "same" if kind == "alike" else "different"
        alone = step.inputs[0] == step.inputs[1] and words[0] == "name"
        return (verb, []) if alone else (f"{verb}_attr", words)
    patterns = {function: pattern for function, (of, pattern) in FORMS.items() if of == kind}
    for said in (words, [FREE, *words[1:]]):  # a value says its attribute only where no function spells it out
        fits = [f for f, pattern in patterns.items() if all(p in (None, w) for p, w in zip(pattern, said, strict=True))]
        if fits:
            function = min(fits, key=lambda f: patterns[f].count(None))
            taken = [w for p, w in zip(patterns[function], words, strict=True) if p is None]
            return dict(step.notes).get("call", function), taken
    raise ProgramError(f"node {at} ({kind}: {', '.join(step.words)}) cannot be said as a GQA call")


def tokenize_calls(calls: list[str]) -> list[str]:
    """The calls word by word, as these files also store them: select ( sky ) ; verify ( [0] , dark )."""
    tokens: list[str] = []
    for call in calls:
        found = _CALL.fullmatch(call)
        assert found is not None
        inputs, words, _ = _parse_arguments(found[4])
        apart = [token for word in (*(f"[{i}]" for i in inputs), *words) for token in (",", word)][1:]
        tokens += [*([";"] if tokens else []), found[3], "(", *apart, ")"]
    return tokens


OPERATIONS = (
    *("select", "filter", "relate", "query", "verify", "choose", "exist", "and", "or"),
    *("same", "different", "common"),
)
SCENE = "scene"
ROLES = {"s": "subject", "o": "object"}
_GROUNDED = ("select", "relate", "verify rel", "choose rel")  # which name the object they find
_DENIED = {"filter": "exclude", "verify": "deny"}  # of `not(…)`
_ALIKE = {"same": "alike", "different": "differ"}
KIND = {"type": "name"}  # `same: type` asks whether they are called the same
_ROLE_LETTER = {role: letter for letter, role in ROLES.items()}
_KIND_WORD = {ours: theirs for theirs, ours in KIND.items()}
_WITH_ID = re.compile(r"(\s*)(.*?)(?: \(([^()]*)\))?(\s*)", re.DOTALL)
_WITHOUT_ID = re.compile(r"(\s*)(.*?)(\s*)", re.DOTALL)
_NOT = re.compile(r"not\((.*)\)", re.DOTALL)
_UNSAYABLE = re.compile(r"[|,()]|^\s|\s$|^$")


def read(semantic: Iterable[Any]) -> Program:
    """The program of a question's `semantic` list."""
    steps: list[GqaStep] = []
    place: dict[int, int] = {}  # listed node → step; `select: scene` is no step
    scenes: dict[int, str] = {}  # listed node of a `select: scene` → the blanks after it
    unread: set[int] = set()
    for at, raw in enumerate(semantic):
        operation, argument, dependencies = _read_fields(raw, at)
        if operation == "select" and argument.rstrip() == SCENE:
            scenes[at] = argument[len(SCENE) :]
            unread.add(at)
            continue
        step = _read_step(operation, argument, len(dependencies), at)
        scene = next((d for d in dependencies if d in scenes), None)
        if scene is None:
            inputs = tuple(place[d] for d in dependencies)
            step = step._replace(inputs=inputs * 2 if len(inputs) < INPUTS[step.kind] else inputs)
        else:  # about the whole image; notes say where `select: scene` stood if not just before
            if step.kind not in ("query", "verify", "choose"):
                raise ProgramError(f"node {at} ({operation}) cannot be asked of the whole scene (node {scene})")
            notes: Notes = (("scene", str(scene)),) if scene != at - 1 else ()
            notes += (("scene tail", scenes[scene]),) if scenes[scene] else ()
            step = GqaStep(f"{step.kind}_image", (), step.words, (*step.notes, *notes))
            unread.discard(scene)
        place[at] = len(steps)
        steps.append(step)
    if unread:
        raise ProgramError(f"node {min(unread)} (select: scene) is not read by a query, verify or choose")
    return build_program(steps)


def _read_fields(raw: Any, at: int) -> tuple[str, str, list[int]]:
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


def _read_step(operation: str, argument: str, inputs: int, at: int) -> GqaStep:
    """The step an operation and its argument say, its inputs left open; notes keep ids and outer blanks."""
    where = f"node {at} ({operation})"
    found = (_WITH_ID if operation in _GROUNDED else _WITHOUT_ID).fullmatch(argument)
    assert found is not None  # both patterns match any text
    lead, text, *ids, tail = found.groups()
    step = _parse_meaning(operation, text, where)
    if step is None:
        hint = did_you_mean(operation.partition(" ")[0], OPERATIONS)
        raise ProgramError(f"node {at}: unknown op {operation!r} in GQA{hint}")
    wanted = 1 if operation in ("same", "different") else INPUTS[step.kind]
    if inputs != wanted:
        raise ProgramError(f"{where}: expected {wanted} dependencies, got {inputs}")
    notes = (("lead", lead or None), ("id", ids[0] if ids else None), ("tail", tail or None))
    return step._replace(notes=(*step.notes, *((k, v) for k, v in notes if v is not None)))


def _parse_meaning(operation: str, text: str, where: str) -> GqaStep | None:
    verb, _, about = operation.partition(" ")
    attribute = about or FREE
    match verb, about:
        case (("select" | "query"), ""):
            return GqaStep(verb, (), (text,))
        case "relate", "":
            name, *rest = text.split(",")
            if not rest or not rest[0].startswith("same ") or len(rest) > 2 or rest[-1] in ROLES:
                return GqaStep("relate", (), _parse_relation_argument(text, where))
            third = rest[1] if len(rest) == 2 else ""
            notes = (("third", third),) if third != ANY else ()
            return GqaStep("alike_to", (), (name, rest[0].removeprefix("same ")), notes)
        case "verify", "rel":
            return GqaStep("verify_rel", (), _parse_relation_argument(text, where))
        case (("filter" | "verify"), _):
            denied = _NOT.fullmatch(text)
            kind = _DENIED[verb] if denied else verb
            return GqaStep(kind, (), (attribute, denied[1] if denied else text))
        case "choose", "rel":
            name, relations, role = _parse_relation_argument(text, where)
            return GqaStep("choose_rel", (), (name, *_parse_choices(relations, where), role))
        case "choose", _ if about not in COMPARATIVES:
            return GqaStep("choose", (), (attribute, *_parse_choices(text, where)))
        case "exist", "":
            if text != "?":
                raise ProgramError(f"{where}: expected the argument '?', got {text!r}")
            return GqaStep("exist")
        case (("same" | "different"), ""):
            return GqaStep(_ALIKE[verb], (), (KIND.get(text, text),))
        case (("and" | "or" | "common"), "") | (("same" | "different" | "choose"), _):
            if text:
                raise ProgramError(f"{where}: expected no argument, got {text!r}")
            kind = "choose_more" if verb == "choose" else _ALIKE.get(verb, verb)
            return GqaStep(kind, (), (about,) if about else ())
    return None


def _parse_relation_argument(text: str, where: str) -> tuple[str, str, str]:
    name, _, rest = text.partition(",")
    relation, comma, role = rest.rpartition(",")
    if not comma or role not in ROLES:
        raise ProgramError(f"{where}: expected name,relation,s or name,relation,o, got {text!r}")
    return name, relation, ROLES[role]


def _parse_choices(text: str, where: str) -> tuple[str, str]:
    this, bar, that = text.partition("|")
    if not bar or "|" in that:
        raise ProgramError(f"{where}: expected two choices such as red|blue, got {text!r}")
    return this, that


def write(program: Program) -> list[dict[str, Any]]:
    """The program as a `semantic` list; refuses, by name, what GQA cannot say."""
    steps = build_steps(program)
    listed: list[dict[str, Any]] = []
    place: list[int] = []  # of each step
    scenes: set[int] = set()
    noted = [dict(step.notes) for step in steps]
    wanted = {int(notes["scene"]): notes for notes in noted if "scene" in notes}

    def append_scene(notes: dict[str, str]) -> int:
        scenes.add(len(listed))
        listed.append({"operation": "select", "dependencies": [], "argument": SCENE + notes.get("scene tail", "")})
        return len(listed) - 1

    for step, notes in zip(steps, noted, strict=True):
        while len(listed) in wanted:
            append_scene(wanted[len(listed)])
        operation, text = _write_step(step, notes)
        if step.kind.endswith("_image"):
            at = int(notes.get("scene", len(listed) - 1))
            dependencies = [at if at in scenes else append_scene(notes)]
        else:
            dependencies = [place[i] for i in step.inputs]
            if operation in ("same", "different"):
                dependencies = dependencies[:1]
        place.append(len(listed))
        listed.append({"operation": operation, "dependencies": dependencies, "argument": text})
    return listed


def format_line(listed: list[dict[str, Any]]) -> str:
    """A `semantic` list on one line: `select: wall (722332)->query: color [0]`."""
    return "->".join(
        f"{n['operation']}: {n['argument']}"
        + (f" [{', '.join(map(str, n['dependencies']))}]" if n["dependencies"] else "")
        for n in listed
    )


def _write_step(step: GqaStep, notes: dict[str, str]) -> tuple[str, str]:
    """Operation and argument of a step."""
    kind, words = step.kind.removesuffix("_image"), step.words
    for word in words:
        if _UNSAYABLE.search(word) or (kind == "select" and word == SCENE):
            raise ProgramError(f"the word {word!r} cannot stand in a GQA {kind}")
    match kind:
        case "filter" | "exclude" | "verify" | "deny":
            verb = {denied: said for said, denied in _DENIED.items()}.get(kind, kind)
            operation = _name_operation(verb, words[0])
            text = words[1] if kind == verb else f"not({words[1]})"
        case "choose":
            operation, text = _name_operation(kind, words[0]), f"{words[1]}|{words[2]}"
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
            operation, text = (verb, _KIND_WORD.get(words[0], words[0])) if alone else (f"{verb} {words[0]}", "")
        case "exist":
            operation, text = kind, "?"
        case _:
            operation, text = kind, words[0] if words else ""
    ids = f" ({notes['id']})" if operation in _GROUNDED and "id" in notes else ""
    return operation, f"{notes.get('lead', '')}{text}{ids}{notes.get('tail', '')}"


def _name_operation(verb: str, attribute: str) -> str:
    if verb != "filter" and (attribute == "rel" or (verb == "choose" and attribute in COMPARATIVES)):
        raise ProgramError(f"the attribute {attribute!r} cannot stand in a GQA {verb}")
    return verb if attribute == FREE else f"{verb} {attribute}"
