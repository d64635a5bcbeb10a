"""imSitu: what an image is about as a verb with roles, `{"verb": "uncorking", "frames": [{"agent": "n1"}]}`.

A frame becomes a scene: its agent does the verb to one thing. Further roles are relations called by the verb
and a preposition ("uncorking with"); the note `modifiers` says so: {"uncorking with": ["uncorking", "with"]}.
Of the three annotators' frames each role takes what most of them say, the first of them where none agree.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .. import json_files as _json
from ..errors import UserError
from ..files import read_bytes
from ..scene import FREE, Object, Relation, Scene
from ..schemas.gqa import SCHEMA

SPACE = "imsitu_space.json"
AGENT = "agent"
PREPOSITION_BY_ROLE = {  # where the verb's own sentence does not say it
    **dict.fromkeys(("tool", "instrument", "coagent", "agentpart", "coagentpart"), "with"),
    **dict.fromkeys(("place", "container", "vehicle"), "in"),
    **dict.fromkeys(("destination", "end", "recipient", "addressee"), "to"),
    **dict.fromkeys(("source", "start"), "from"),
    "surface": "on",
    "location": "at",
    "goal": "for",
    "contact": "against",
    "path": "along",
}
PREPOSITIONS = frozenset(
    (
        *("about", "above", "across", "after", "against", "along", "among", "around", "at", "before", "behind"),
        *("below", "beneath", "beside", "between", "by", "down", "for", "from", "in", "inside", "into", "near"),
        *("of", "off", "on", "onto", "out", "over", "past", "through", "to", "toward", "towards", "under", "up"),
        *("upon", "using", "via", "with", "within", "without"),
    )
)
_ARTICLES = frozenset(("a", "an", "the", "his", "her", "its", "their", "some", "another"))
_ROLE = re.compile(r"\b[A-Z][A-Z]+\b")


class VerbRole(NamedTuple):
    """A role of a verb and its preposition; none for what the verb is done to."""

    name: str
    preposition: str


class ImsituSpace(NamedTuple):
    """The words: what a synset is called, and the roles of each verb."""

    nouns: dict[str, str]
    verbs: dict[str, tuple[VerbRole, ...]]  # the agent first


def sniff_scenes(file: _json.InputFile) -> bool:
    return file.first_value().keys() >= {"verb", "frames"}


def read_scenes(path: Path, space: Path | None = None) -> Iterator[Scene]:
    """The images of train, dev or test.json, one at a time; the space lies beside it unless it is named."""
    beside = space or path.with_name(SPACE)
    if not beside.is_file():
        raise UserError(f"{path}: imSitu's frames need {SPACE}, and {beside} is not there")
    words, entries = read_space(beside), _json.iterate_entries(read_bytes(path), path)
    rows = ((f"image {image}", (image, raw, words)) for image, raw in entries)
    return _json.parse_records(rows, parse_scene, path, "images")


def read_space(path: Path) -> ImsituSpace:
    data = _json.load_json(path)
    with _json.locate_errors(f"{path}"):
        if not isinstance(data, dict) or not data.keys() >= {"nouns", "verbs"}:
            raise UserError("expected an object with nouns and verbs")
        nouns = {synset: str(noun["gloss"][0]) for synset, noun in data["nouns"].items()}
        verbs = {verb: _parse_roles(about) for verb, about in data["verbs"].items()}
    return ImsituSpace(nouns, verbs)


def _parse_roles(about: dict[str, Any]) -> tuple[VerbRole, ...]:
    """The roles, agent first, each with the preposition before it in "an AGENT uncorks the ITEM with a TOOL"."""
    names = [str(name) for name in about["order"]]
    if not names:
        raise UserError("a verb without roles")
    if AGENT in names:
        names.remove(AGENT)
        names.insert(0, AGENT)
    sentence, end = str(about.get("abstract", "")), 0
    prepositions = dict(PREPOSITION_BY_ROLE)
    for match in _ROLE.finditer(sentence):
        words = [w for w in sentence[end : match.start()].lower().split() if w not in _ARTICLES]
        end = match.end()
        prepositions[match[0].lower()] = words[-1] if words and words[-1] in PREPOSITIONS else ""
    return tuple(VerbRole(name, prepositions.get(name, "")) for name in names)


def parse_scene(image: str, raw: dict[str, Any], space: ImsituSpace) -> Scene:
    verb, frames = raw["verb"], raw["frames"]
    if verb not in space.verbs:
        raise UserError(f"the verb {verb!r} is not in {SPACE}")
    if not isinstance(frames, list) or not frames:
        raise UserError("expected a list of frames")
    roles = space.verbs[verb]
    fillers = {r.name: [str(frame.get(r.name, "")) for frame in frames] for r in roles}
    # Of equal counts, most_common takes the one that came first.
    chosen = {name: Counter(synsets).most_common(1)[0][0] for name, synsets in fillers.items()}
    filled = [role for role in roles if chosen[role.name]]
    agent, index = roles[0], {role.name: k for k, role in enumerate(filled)}
    relations, modifiers = _build_relations(verb, filled[1:]) if agent in filled else ({}, {})
    for role in filled:
        if chosen[role.name] not in space.nouns:
            raise UserError(f"the noun {chosen[role.name]!r} is not in {SPACE}")
    words = [[("name", space.nouns[chosen[role.name]])] for role in filled]
    if filled == [agent]:
        words[0].append((FREE, verb))
    return Scene(
        id=image,
        schema=SCHEMA,
        objects=tuple(Object(tuple(w), id=role.name) for w, role in zip(words, filled, strict=True)),
        relations=tuple(
            Relation.of(name, [(0, index[target]) for target in targets], len(filled))
            for name, targets in relations.items()
        ),
        notes=(("verb", verb), ("modifiers", modifiers), ("frames", frames)),
    )


def _build_relations(verb: str, roles: list[VerbRole]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Relations of the agent, each to its roles, and which of them modify another.

    The verb is done to the first role without a preposition; where there is none, the first role is related
    to by verb and preposition. A further role that nothing says a preposition for is left out.
    """
    if not roles:
        return {}, {}
    main = next((role for role in roles if not role.preposition), roles[0])
    base = f"{verb} {main.preposition}".strip()
    relations: dict[str, list[str]] = {base: [main.name]}
    modifiers: dict[str, list[str]] = {}
    for role in roles:
        if role is not main and role.preposition:
            name = f"{base} {role.preposition}"
            relations.setdefault(name, []).append(role.name)
            modifiers[name] = [base, role.preposition]
    return relations, modifiers
