"""Super-CLEVR: 21 vehicles in five categories, whose parts have attributes of their own."""

from ..english.word_lists import word_list, word_table
from ..schema import Attribute, Schema, Words
from .clevr import COLOR, MATERIAL, SIZE, SYNONYMS

CATEGORIES: Words = tuple(word_table("superclevr", "categories").items())
SINGLE_PARTS = word_list("superclevr", "single parts")
# Each part that has a place on its vehicle: (its word, (place, its names in the models' files) each)
PLACED_PARTS: tuple[tuple[str, Words], ...] = tuple(
    (word, tuple((place.strip(), tuple(names.split())) for place, _, names in (p.partition("=") for p in places)))
    for word, places in word_table("superclevr", "placed parts").items()
)
LIGHTS = ("headlight", "tail light")
SEATS = ("any seat", ("saddle", "seat"))  # a saddle is a seat, and `seat` alone is a motorbike's


def part_kinds() -> Words:
    """What each word for a part takes in: a front left wheel is a front wheel too, and a wheel."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for word, places in PLACED_PARTS:
        found.append((word, tuple(name for _, names in places for name in names)))
        for place, _ in places:
            inside = [names for other, names in places if set(place.split()) <= set(other.split())]
            members = tuple(name for names in inside for name in names)
            if place and len(members) > 1:
                found.append((f"{place} {word}", members))
    members_of = dict(found)
    return (*found, ("light", tuple(name for kind in LIGHTS for name in members_of[kind])), SEATS)


def part_words() -> Words:
    """The English name of each part of a file: door_mid_left is the middle left door."""
    spellings = word_table("superclevr", "part spellings")
    placed = [
        (name, tuple(f"{place} {way.removeprefix('any ')}".strip() for way in (word, *spellings.get(word, ()))))
        for word, places in PLACED_PARTS
        for place, names in places
        for name in names
        if name != "engine"
    ]
    single = [(name, (name.replace("_", " "),)) for name in SINGLE_PARTS if "_" in name]
    return tuple(sorted([*placed, *single]))


def model_words() -> Words:
    """How else each model may be called: a school is a school bus, a fighter a fighter plane or jet."""
    nouns, nicknames = word_table("superclevr", "nouns"), word_table("superclevr", "nicknames")
    return tuple(
        (model, tuple(dict.fromkeys((*(f"{model} {noun}" for noun in nouns[category]), *nicknames.get(model, ())))))
        for category, models in CATEGORIES
        for model in models
    )


PART_KINDS = part_kinds()
# The official files list a 22nd model, `addi`, that no scene holds. Their questions mention it: always none.
NO_MODEL: Words = (("addi", ()),)

SHAPE = Attribute("shape", tuple(model for _, models in CATEGORIES for model in models), CATEGORIES + NO_MODEL)
PART_NAME = Attribute(
    "name", tuple(sorted({*SINGLE_PARTS, *(name for _, names in PART_KINDS for name in names)})), PART_KINDS
)

SCHEMA = Schema(
    name="superclevr",
    attributes=(SIZE, COLOR, MATERIAL, SHAPE),
    part_attributes=(SIZE, COLOR, MATERIAL, PART_NAME),
    relations=("left", "right", "behind", "front"),
    synonyms=(
        ("thing", ("vehicle",)),
        ("addi", ("regular car",)),
        ("aeroplane", ("airplane", "plane")),
        *model_words(),
        ("motorbike", ("motorcycle",)),
        ("bicycle", ("bike",)),
        *SYNONYMS,
        *part_words(),
    ),
    parts=tuple(word_table("superclevr", "parts").items()),
)
