"""Normalize an open-vocabulary scene: one word per relation, attribute and name (synonyms, inflections).

Files write "wear", "wears" and "has on", or "in back of", where a question says "wearing" and "behind". So
scenes, programs, texts and answers have one word for it, and names that read alike are one relation. Plain
synonyms are one name: beside an airplane there is no other plane.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from ..english.adjectives import describe_attribute
from ..english.inflection import plural
from ..english.nouns import is_alive
from ..english.relations import parse_relation
from ..english.word_lists import word_table
from ..scene import Object, Relation, Scene

WITH, HAVE = "with", "have"


def normalize_scene(scene: Scene) -> Scene:
    """The scene in the words of its questions; one of a closed schema as it is."""
    if scene.schema.closed:
        return scene
    parted: dict[str, Sequence[str]] = dict(scene.note("modifiers", ()))
    renamed = {name: f"{normalize_relation(relation)} {modifier}" for name, (relation, modifier) in parted.items()}
    company = sum(1 << k for k, thing in enumerate(scene.objects) if any(map(is_alive, thing.values("name"))))
    found: dict[str, list[int]] = {}
    for one in scene.relations:
        for name, rows in _normalize_rows(one, renamed.get(one.name, ""), company):
            before = found.setdefault(name, [0] * len(rows))
            found[name] = [a | b for a, b in zip(before, rows, strict=True)]
    modifiers = {renamed[name]: [normalize_relation(relation), word] for name, (relation, word) in parted.items()}
    return replace(
        scene,
        objects=tuple(map(_normalize_object, scene.objects)),
        relations=tuple(Relation(name, tuple(rows)) for name, rows in found.items()),
        notes=tuple((key, modifiers if key == "modifiers" else value) for key, value in scene.notes),
    )


@lru_cache(maxsize=8192)
def normalize_relation(name: str) -> str:
    """The relation as it answers "holding it or wearing it"; as it is where we have no words for it."""
    predicate = parse_relation(name)
    if predicate is None:
        return name
    words = HAVE if predicate.verb == HAVE and not predicate.rest else predicate.write_reduced()
    return words if parse_relation(words) == predicate else name  # what is spread on a bed is not spreading on it


@lru_cache(maxsize=8192)
def normalize_attribute(value: str) -> str:
    """The attribute as it answers "running or looking up"."""
    phrase = describe_attribute(value)
    return value if phrase is None or describe_attribute(phrase.words) != phrase else phrase.words


def normalize_name(name: str) -> str:
    """The one name of a thing that has several: airplane for plane."""
    return _NAMES.get(name, name)


def _normalize_rows(one: Relation, renamed: str, company: int) -> list[tuple[str, tuple[int, ...]]]:
    """The relation under its new name; one is *with* somebody, but *has* something."""
    if renamed or one.name != WITH:
        return [(renamed or normalize_relation(one.name), one.rows)]
    rows = {
        name: tuple(row if (company >> k & 1) == alive else 0 for k, row in enumerate(one.rows))
        for name, alive in ((WITH, 1), (HAVE, 0))
    }
    return [(name, kept) for name, kept in rows.items() if any(kept)]


def _normalize_object(thing: Object) -> Object:
    words = tuple((a, normalize_name(v) if a == "name" else normalize_attribute(v)) for a, v in thing.attributes)
    return thing if words == thing.attributes else replace(thing, attributes=tuple(dict.fromkeys(words)))


_NAMES = {
    form: instead
    for name, others in word_table("synonyms", "open").items()
    for other in others
    for form, instead in ((other, name), (plural(other), plural(name)))
}
