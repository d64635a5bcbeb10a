"""Vehicle parts: which of the 21 models can have which part."""

from ..schema import Words


def _names(*texts: str) -> tuple[str, ...]:
    return tuple(sorted(name for text in texts for name in text.split()))


CAR = """
    back_bumper front_bumper hood roof trunk
    back_left_wheel back_right_wheel front_left_wheel front_right_wheel
    front_left_door front_right_door left_head_light right_head_light left_mirror right_mirror
    left_tail_light right_tail_light
"""
BACK_DOORS = "back_left_door back_right_door"
PLATES = "back_license_plate front_license_plate"
BUS = """
    bumper_back door_front_right head_light_left head_light_right license_plate_back license_plate_front
    mirror_left mirror_right roof tail_light_left tail_light_right
    wheel_back_left wheel_back_right wheel_front_left wheel_front_right
"""
MOTORBIKE = """
    cover_back cover_front drive_chain fork handle_left handle_right panel seat wheel_back wheel_front
"""
FOOTRESTS = "footrest_left_s footrest_right_s"
MIRRORS = "mirror_left mirror_right"
FENDERS = "fender_back fender_front"
CENTRAL_LIGHTS = "headlight_center taillight_center"
AEROPLANE = "fin tailplane_left tailplane_right wing_left wing_right"
ENGINES = "engine_left engine_right"
UNDERCARRIAGE = "wheel_back_left wheel_back_right wheel_front"
BICYCLE = """
    brake_system crank_arm_left crank_arm_right drive_chain fork handle_left handle_right
    pedal_left pedal_right
    saddle wheel_back wheel_front
"""

PARTS: Words = (
    ("suv", _names(CAR, BACK_DOORS)),
    ("wagon", _names(CAR, BACK_DOORS, PLATES)),
    ("minivan", _names(CAR, BACK_DOORS, PLATES)),
    ("sedan", _names(CAR, BACK_DOORS, PLATES)),
    ("truck", _names(CAR, "front_license_plate")),
    ("articulated", _names(BUS, "door_back_right door_mid_right trunk")),
    ("regular", _names(BUS, "bumper_front door_back_right door_mid_right trunk")),
    ("double", _names(BUS, "bumper_front door_front_left door_mid_left door_mid_right trunk")),
    ("school", _names(BUS, "bumper_front door_mid_left")),
    (
        "chopper",
        _names(
            *(
                "drive_chain engine exhaust_right_s fork gas_tank handle_left handle_right panel seat",
                FENDERS,
            ),
            *("wheel_back wheel_front windscreen", FOOTRESTS, MIRRORS, CENTRAL_LIGHTS),
        ),
    ),
    ("dirtbike", _names(MOTORBIKE, "engine exhaust_right_s fender_front gas_tank", FOOTRESTS)),
    ("scooter", _names(MOTORBIKE, "engine exhaust_left_s fender_back", MIRRORS, CENTRAL_LIGHTS)),
    (
        "cruiser",
        _names(
            *(MOTORBIKE, "exhaust_left_s exhaust_right_s gas_tank license_plate windscreen", FENDERS),
            *(
                "headlight_center headlight_left headlight_right taillight_left taillight_right",
                FOOTRESTS,
                MIRRORS,
            ),
        ),
    ),
    ("jet", _names(AEROPLANE, ENGINES, UNDERCARRIAGE, "door_left_s propeller")),
    ("fighter", _names(AEROPLANE, ENGINES)),
    ("biplane", _names(AEROPLANE, "propeller wheel_front")),
    ("airliner", _names(AEROPLANE, ENGINES, UNDERCARRIAGE, "door_left_s door_right_s propeller")),
    ("road", _names(BICYCLE)),
    ("utility", _names(BICYCLE, FENDERS, "carrier side_stand")),
    ("mountain", _names(BICYCLE)),
    ("tandem", _names(FENDERS, "fork rearlight wheel_back wheel_front")),
)
