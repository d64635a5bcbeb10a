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
PLACES = ("front", "mid", "center", "back", "left", "right", "s")
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


def drop_places(name: str) -> str:
    """A part's name in the files without its place: wheel_front_left → wheel, door_left_s → door."""
    return "_".join(piece for piece in name.split("_") if piece not in PLACES)


def official_words() -> Words:
    """The official part names, whole (`wheel_front`) and without a place (`wheel`), with the parts each finds.

    The official engine looks for a name inside others, so its `wheel_front` finds a wheel_front_left too.
    """
    words = sorted({*PART_NAMES, *map(drop_places, PART_NAMES)})
    return tuple((word, tuple(name for name in PART_NAMES if word in name)) for word in words)


def official_terms() -> dict[str, str]:
    """What we call the parts that an official name finds: `wheel_front*` where no term of ours means the same."""
    ours = {frozenset(names): kind for kind, names in PART_KINDS} | {frozenset((name,)): name for name in PART_NAMES}
    return {word: ours.get(frozenset(found), f"{word}*") for word, found in OFFICIAL_WORDS}


def official_kind_words() -> Words:
    """Kinds that only official files name read like the next wider one of ours, and so are never said."""
    found = []
    for word, names in OFFICIAL_KINDS:
        wider = min((len(inside), kind) for kind, inside in PART_KINDS if set(names) < set(inside))[1]
        found.append((word, (wider.removeprefix("any "),)))
    return tuple(found)


def model_words() -> Words:
    """How else each model may be called: a school is a school bus, a fighter a fighter plane or jet."""
    nouns, nicknames = word_table("superclevr", "nouns"), word_table("superclevr", "nicknames")
    return tuple(
        (model, tuple(dict.fromkeys((*(f"{model} {noun}" for noun in nouns[category]), *nicknames.get(model, ())))))
        for category, models in CATEGORIES
        for model in models
    )


# How the official answers spell a model, where not as the scenes do.
OFFICIAL_MODELS = {
    model: f"{model} {noun}"
    for category, (noun,) in word_table("superclevr", "official nouns").items()
    for model in dict(CATEGORIES)[category]
}
PART_KINDS = part_kinds()
PART_NAMES = tuple(sorted({*SINGLE_PARTS, *(name for _, names in PART_KINDS for name in names)}))
OFFICIAL_WORDS = official_words()
OFFICIAL_TERMS = official_terms()
OFFICIAL_KINDS: Words = tuple((OFFICIAL_TERMS[w], names) for w, names in OFFICIAL_WORDS if OFFICIAL_TERMS[w] == f"{w}*")
# The official files list a 22nd model, `addi`, that no scene holds. Their questions mention it: always none.
NO_MODEL: Words = (("addi", ()),)

SHAPE = Attribute("shape", tuple(model for _, models in CATEGORIES for model in models), CATEGORIES + NO_MODEL)
PART_NAME = Attribute("name", PART_NAMES, PART_KINDS + OFFICIAL_KINDS)

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
        *official_kind_words(),
    ),
    parts=tuple(word_table("superclevr", "parts").items()),
)
