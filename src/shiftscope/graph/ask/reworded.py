"""Reworded: a scene of an open vocabulary under the words in which its questions are asked.

Files write "wear", "wears" and "has on", or "in back of", where a question says "wearing" and "behind". So
scenes, programs, texts and answers have one word for it, and names that read alike are one relation. Plain
synonyms are one name: beside an airplane there is no other plane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from ...ask.english import plural
from ...question import Notes
from ...scene import Object, Relation, Scene
from ._adjectives import described
from ._nouns import is_alive
from ._relations import predicate

WITH, HAVE = "with", "have"
_SYNONYMS = {  # the name that the schema knows → what else annotators write
    "airplane": "plane, aeroplane, air plane",
    "television": "tv, television set, tv set",
    "bike": "bicycle",
    "couch": "sofa",
    "cell phone": "cellphone, mobile phone, mobile, cellular phone",
    "refrigerator": "fridge",
    "car": "automobile",
    "motorcycle": "motorbike, motor bike, motor cycle",
    "t-shirt": "t shirt, tee shirt, tshirt, tee-shirt, teeshirt",
    "street light": "streetlight, street lamp, streetlamp",
    "traffic light": "traffic signal, stop light, stoplight, traffic lamp",
    "donut": "doughnut",
    "hot dog": "hotdog",
    "trash can": "trashcan, garbage can, trash bin, garbage bin, rubbish bin, waste basket, wastebasket",
    "surfboard": "surf board",
    "skateboard": "skate board",
    "snowboard": "snow board",
    "sailboat": "sail boat",
    "laptop": "lap top, laptop computer",
    "tie": "necktie",
    "racket": "racquet",
    "photograph": "photo",
    "microwave": "microwave oven",
    "computer mouse": "pc mouse",
    "bathtub": "bath tub",
    "sunglasses": "sun glasses",
    "lamp post": "lamppost, lamp pole, light post, light pole",
}


def reworded(scene: Scene) -> Scene:
    """The scene in the words of its questions; one of a closed schema as it is."""
    if scene.schema.closed:
        return scene
    parted: dict[str, Sequence[str]] = dict(scene.note("modifiers", ()))
    renamed = {name: _modified(*parts) for name, parts in parted.items()}
    company = sum(1 << k for k, thing in enumerate(scene.objects) if _alive(thing))
    found: dict[str, list[int]] = {}
    for one in scene.relations:
        for name, rows in _said(one, renamed.get(one.name, ""), company):
            before = found.setdefault(name, [0] * len(rows))
            found[name] = [a | b for a, b in zip(before, rows, strict=True)]
    return replace(
        scene,
        objects=tuple(map(_described, scene.objects)),
        relations=tuple(Relation(name, tuple(rows)) for name, rows in found.items()),
        notes=_noted(scene.notes, {renamed[name]: parts for name, parts in parted.items()}),
    )


@lru_cache(maxsize=8192)
def relation_word(name: str) -> str:
    """The relation as it answers "holding it or wearing it"; as it is where we have no words for it."""
    said = predicate(name)
    if said is None:
        return name
    words = HAVE if said.verb == HAVE and not said.rest else said.reduced()
    return words if predicate(words) == said else name  # what is spread on a bed is not spreading on it


@lru_cache(maxsize=8192)
def attribute_word(value: str) -> str:
    """The attribute as it answers "running or looking up"."""
    said = described(value)
    return value if said is None or described(said.words) != said else said.words


def name_word(name: str) -> str:
    """The one name of a thing that has several: airplane for plane."""
    return _NAMES.get(name, name)


def _said(one: Relation, renamed: str, company: int) -> list[tuple[str, tuple[int, ...]]]:
    """The relation under its new name; one is *with* somebody, but *has* something."""
    if renamed or one.name != WITH:
        return [(renamed or relation_word(one.name), one.rows)]
    rows = {
        name: tuple(row if (company >> k & 1) == alive else 0 for k, row in enumerate(one.rows))
        for name, alive in ((WITH, 1), (HAVE, 0))
    }
    return [(name, kept) for name, kept in rows.items() if any(kept)]


def _modified(relation: str, modifier: str) -> str:
    return f"{relation_word(relation)} {modifier}"


def _noted(notes: Notes, modifiers: dict[str, Sequence[str]]) -> Notes:
    parts = {name: [relation_word(relation), word] for name, (relation, word) in modifiers.items()}
    return tuple((key, parts if key == "modifiers" else value) for key, value in notes)


def _described(thing: Object) -> Object:
    words = tuple((a, name_word(v) if a == "name" else attribute_word(v)) for a, v in thing.attributes)
    return thing if words == thing.attributes else replace(thing, attributes=tuple(dict.fromkeys(words)))


def _alive(thing: Object) -> bool:
    return any(map(is_alive, thing.values("name")))


_NAMES = {
    form: instead
    for name, others in _SYNONYMS.items()
    for other in others.split(", ")
    for form, instead in ((other, name), (plural(other), plural(name)))
}
