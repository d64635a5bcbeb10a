"""Super-CLEVR: 21 vehicles in five categories, whose parts have attributes of their own."""

from ..schema import Attribute, Schema, Words
from .clevr import COLOR, MATERIAL, SIZE

CATEGORIES: Words = (
    ("car", ("suv", "wagon", "minivan", "sedan", "truck")),
    ("bus", ("articulated", "regular", "double", "school")),
    ("motorbike", ("chopper", "dirtbike", "scooter", "cruiser")),
    ("aeroplane", ("jet", "fighter", "biplane", "airliner")),
    ("bicycle", ("road", "utility", "mountain", "tandem")),
)

# Every part name of the 21 models, under the plain word for such a part. Fighters and sedans spell sides
# in different places (wing_left, left_mirror), so a side is no kind here.
PART_KINDS: Words = (
    (
        "wheel",
        (
            *("back_left_wheel", "back_right_wheel", "front_left_wheel", "front_right_wheel"),
            *("wheel_back", "wheel_back_left", "wheel_back_right"),
            *("wheel_front", "wheel_front_left", "wheel_front_right"),
        ),
    ),
    (
        "door",
        (
            *("back_left_door", "back_right_door", "front_left_door", "front_right_door"),
            *("door_back_left", "door_back_right", "door_front_left", "door_front_right"),
            *("door_mid_left", "door_mid_right", "door_left_s", "door_right_s"),
        ),
    ),
    (
        "light",
        (
            *("left_head_light", "right_head_light", "left_tail_light", "right_tail_light"),
            *("head_light_left", "head_light_right", "tail_light_left", "tail_light_right"),
            *("headlight_center", "headlight_left", "headlight_right"),
            *("taillight_center", "taillight_left", "taillight_right", "rearlight"),
        ),
    ),
    ("mirror", ("left_mirror", "right_mirror", "mirror_left", "mirror_right")),
    ("bumper", ("back_bumper", "front_bumper", "bumper_back", "bumper_front")),
    (
        "plate",
        (
            *("back_license_plate", "front_license_plate", "license_plate"),
            *("license_plate_back", "license_plate_front"),
        ),
    ),
    ("wing", ("wing_left", "wing_right")),
    ("tail plane", ("tailplane_left", "tailplane_right")),
    ("handle", ("handle_left", "handle_right")),
    ("pedal", ("pedal_left", "pedal_right")),
    ("crank arm", ("crank_arm_left", "crank_arm_right")),
    ("fender", ("fender_back", "fender_front")),
    ("cover", ("cover_back", "cover_front")),
    ("exhaust", ("exhaust_left_s", "exhaust_right_s")),
    ("footrest", ("footrest_left_s", "footrest_right_s")),
    ("aircraft engine", ("engine_left", "engine_right")),
)

SINGLE_PARTS = (
    *("brake_system", "carrier", "drive_chain", "engine", "fin", "fork", "gas_tank", "hood", "panel"),
    *("propeller", "roof", "saddle", "seat", "side_stand", "trunk", "windscreen"),
)

SHAPE = Attribute("shape", tuple(model for _, models in CATEGORIES for model in models), CATEGORIES)
PART_NAME = Attribute(
    "name", tuple(sorted({*SINGLE_PARTS, *(name for _, names in PART_KINDS for name in names)})), PART_KINDS
)

SCHEMA = Schema(
    name="superclevr",
    attributes=(SIZE, COLOR, MATERIAL, SHAPE),
    part_attributes=(SIZE, COLOR, MATERIAL, PART_NAME),
    relations=("left", "right", "behind", "front"),
    synonyms=(
        ("aeroplane", ("airplane", "plane")),
        ("articulated", ("articulated bus",)),
        ("regular", ("regular bus",)),
        ("double", ("double bus", "double-decker", "double decker")),
        ("school", ("school bus",)),
        ("road", ("road bike",)),
        ("utility", ("utility bike",)),
        ("mountain", ("mountain bike",)),
        ("tandem", ("tandem bike",)),
        ("motorbike", ("motorcycle",)),
        ("bicycle", ("bike",)),
        ("large", ("big",)),
        ("small", ("tiny",)),
        ("metal", ("metallic", "shiny")),
        ("rubber", ("matte",)),
        ("gray", ("grey",)),
    ),
)
