"""Super-CLEVR: 21 vehicles in five categories, whose parts have attributes of their own."""

from ..schema import Attribute, Schema, Words
from ._vehicle_parts import PARTS
from .clevr import COLOR, MATERIAL, SIZE

CATEGORIES: Words = (
    ("car", ("suv", "wagon", "minivan", "sedan", "truck")),
    ("bus", ("articulated", "regular", "double", "school")),
    ("motorbike", ("chopper", "dirtbike", "scooter", "cruiser")),
    ("aeroplane", ("jet", "fighter", "biplane", "airliner")),
    ("bicycle", ("road", "utility", "mountain", "tandem")),
)

# Every part that has a place on its vehicle: the plain word for it, and for each place the names that the
# models' files give it. Cars and buses spell one place in two ways (front_left_wheel, wheel_front_left).
PLACED: tuple[tuple[str, Words], ...] = (
    (
        "wheel",
        (
            ("back left", ("back_left_wheel", "wheel_back_left")),
            ("back right", ("back_right_wheel", "wheel_back_right")),
            ("front left", ("front_left_wheel", "wheel_front_left")),
            ("front right", ("front_right_wheel", "wheel_front_right")),
            ("back", ("wheel_back",)),
            ("front", ("wheel_front",)),
        ),
    ),
    (
        "door",
        (
            ("back left", ("back_left_door", "door_back_left")),
            ("back right", ("back_right_door", "door_back_right")),
            ("front left", ("door_front_left", "front_left_door")),
            ("front right", ("door_front_right", "front_right_door")),
            ("middle left", ("door_mid_left",)),
            ("middle right", ("door_mid_right",)),
            ("left", ("door_left_s",)),
            ("right", ("door_right_s",)),
        ),
    ),
    (
        "headlight",
        (
            ("left", ("head_light_left", "headlight_left", "left_head_light")),
            ("right", ("head_light_right", "headlight_right", "right_head_light")),
            ("center", ("headlight_center",)),
        ),
    ),
    (
        "tail light",
        (
            ("left", ("left_tail_light", "tail_light_left", "taillight_left")),
            ("right", ("right_tail_light", "tail_light_right", "taillight_right")),
            ("center", ("taillight_center",)),
            ("", ("rearlight",)),
        ),
    ),
    ("mirror", (("left", ("left_mirror", "mirror_left")), ("right", ("mirror_right", "right_mirror")))),
    ("bumper", (("back", ("back_bumper", "bumper_back")), ("front", ("bumper_front", "front_bumper")))),
    (
        "license plate",
        (
            ("back", ("back_license_plate", "license_plate_back")),
            ("front", ("front_license_plate", "license_plate_front")),
            ("", ("license_plate",)),
        ),
    ),
    ("wing", (("left", ("wing_left",)), ("right", ("wing_right",)))),
    ("tailplane", (("left", ("tailplane_left",)), ("right", ("tailplane_right",)))),
    ("handle", (("left", ("handle_left",)), ("right", ("handle_right",)))),
    ("pedal", (("left", ("pedal_left",)), ("right", ("pedal_right",)))),
    ("crank arm", (("left", ("crank_arm_left",)), ("right", ("crank_arm_right",)))),
    ("fender", (("back", ("fender_back",)), ("front", ("fender_front",)))),
    ("cover", (("back", ("cover_back",)), ("front", ("cover_front",)))),
    ("exhaust", (("left", ("exhaust_left_s",)), ("right", ("exhaust_right_s",)))),
    ("footrest", (("left", ("footrest_left_s",)), ("right", ("footrest_right_s",)))),
    ("any engine", (("left", ("engine_left",)), ("right", ("engine_right",)), ("", ("engine",)))),
)
WIDER: Words = (("light", ("headlight", "tail light")),)
SEATS = ("any seat", ("saddle", "seat"))  # a saddle is a seat, and `seat` alone is a motorbike's
SINGLE_PARTS = (
    *("brake_system", "carrier", "drive_chain", "fin", "fork", "gas_tank", "hood", "panel"),
    *("propeller", "roof", "saddle", "seat", "side_stand", "trunk", "windscreen"),
)


def part_kinds() -> Words:
    """What each word for a part takes in: a front left wheel is a front wheel too, and a wheel."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for word, places in PLACED:
        found.append((word, tuple(name for _, names in places for name in names)))
        for place, _ in places:
            inside = [names for other, names in places if set(place.split()) <= set(other.split())]
            members = tuple(name for names in inside for name in names)
            if place and len(members) > 1:
                found.append((f"{place} {word}", members))
    members_of = dict(found)
    found += [(word, tuple(n for kind in kinds for n in members_of[kind])) for word, kinds in WIDER]
    return (*found, SEATS)


def part_words() -> Words:
    """How each part of a file is said: door_mid_left is the middle left door."""
    placed = [
        (name, (f"{place} {word.removeprefix('any ')}".strip(),))
        for word, places in PLACED
        for place, names in places
        for name in names
        if name != "engine"
    ]
    single = [(name, (name.replace("_", " "),)) for name in SINGLE_PARTS if "_" in name]
    return tuple(sorted([*placed, *single]))


# Nouns that may follow a model's name ("school bus"), and what else it may be called.
NOUNS: Words = (
    ("car", ("car",)),
    ("bus", ("bus",)),
    ("motorbike", ("motorbike", "motorcycle", "bike")),
    ("aeroplane", ("plane", "airplane", "aeroplane")),
    ("bicycle", ("bike", "bicycle")),
)
NICKNAMES: Words = (
    ("suv", ("SUV", "sport utility vehicle", "sports utility vehicle")),
    ("wagon", ("station wagon",)),
    ("minivan", ("mini van", "van")),
    ("truck", ("pickup truck", "pickup", "pick-up truck", "pick-up")),
    ("articulated", ("bendy bus",)),
    ("double", ("double-decker", "double decker", "double-decker bus", "double decker bus")),
    ("dirtbike", ("dirt bike", "dirt motorbike", "dirt motorcycle")),
    ("scooter", ("motor scooter",)),
    ("fighter", ("fighter jet", "fighter aircraft", "jet fighter")),
    ("airliner", ("passenger plane", "passenger jet", "passenger airplane")),
)


def model_words() -> Words:
    """How else each model may be called: a school is a school bus, a fighter a fighter plane or jet."""
    nouns, known = dict(NOUNS), dict(NICKNAMES)
    return tuple(
        (
            model,
            tuple(dict.fromkeys((*(f"{model} {noun}" for noun in nouns[category]), *known.get(model, ())))),
        )
        for category, models in CATEGORIES
        for model in models
    )


PART_KINDS = part_kinds()
# The official files list a 22nd model, `addi`, that no scene holds. Their questions mention it: always none.
NO_MODEL: Words = (("addi", ()),)

SHAPE = Attribute(
    "shape", tuple(model for _, models in CATEGORIES for model in models), CATEGORIES + NO_MODEL
)
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
        ("large", ("big",)),
        ("small", ("tiny",)),
        ("metal", ("metallic", "shiny")),
        ("rubber", ("matte",)),
        ("gray", ("grey",)),
        *part_words(),
    ),
    parts=PARTS,
)
