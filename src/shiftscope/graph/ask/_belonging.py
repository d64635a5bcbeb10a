"""What belongs to what: a head to a woman, a roof to a house, a plate to the table it is on.

A logo on a shirt is on the man who wears it too: of two such things one does not ask "on a man or a shirt".
"""

from __future__ import annotations

from functools import lru_cache

from ._listed import listed
from ._nouns import is_alive, is_kind, is_own_part, is_worn

_OF_A_BODY = listed("wing, wings, horn, beak, mane, ponytail, beard, mustache, body, clothes, clothing, bag")
_KINDS = {  # a kind → what its things have, or what lies on them
    "vehicle": listed(
        """wheel, wheels, tire, tires, window, windows, windshield, door, doors, hood, roof, trunk, bumper,
        seat, mirror, headlight, headlights, engine, wing, wings, tail, license plate, deck, sail, mast,
        cab, trailer, top, bed, handlebar, handlebars, car, cars"""
    ),
    "building": listed(
        """roof, wall, walls, window, windows, door, doors, chimney, balcony, porch, tower, room, floor,
        ceiling, brick, bricks, staircase, stairs, steps, ledge, steeple, kitchen, bedroom, bathroom,
        rooftop"""
    ),
    "room": listed("wall, walls, floor, ceiling, window, door, corner, tile, tiles, carpet, rug, cabinet"),
    "furniture": listed(
        """leg, legs, drawer, drawers, cushion, cushions, pillow, pillows, blanket, sheet, sheets, bedspread,
        comforter, quilt, mattress, headboard, arm, seat, plate, plates, bowl, tray, dish, cup, saucer,
        platter, napkin, placemat, tablecloth, cloth, cutting board, mat, laptop, keyboard, basket, box,
        book, stand, pizza, cake, sandwich"""
    ),
    "plant": listed("branch, branches, leaf, leaves, trunk, stem, twig, bark, flower, flowers"),
    "clothing": listed("pocket, sleeve, sleeves, collar, button, hood, belt, tie, strap, zipper, back"),
    "device": listed("screen, monitor, keyboard, button, buttons, cord, key, keys"),
}
_WHOLES = {  # the same, of single things
    **dict.fromkeys(("counter", "countertop"), _KINDS["furniture"]),
    "floor": listed("rug, carpet, mat, tile, tiles, towel, blanket"),
    "ground": listed(
        """rug, carpet, mat, tile, tiles, towel, blanket, grass, road, street, mound, sidewalk, dirt, field,
        runway, tarmac, beach, sand, hill, slope, track, tracks, snow, court, parking lot, yard, floor"""
    ),
    "forest": listed("grass, tree, trees, ground, bush, bushes"),
    **dict.fromkeys(
        ("tablecloth", "table cloth", "placemat"), listed("plate, plates, bowl, cup, tray, dish, platter")
    ),
    **dict.fromkeys(("plate", "tray", "dish", "platter", "bowl"), listed("napkin, pizza, bread, bun, paper")),
    **dict.fromkeys(("street", "road", "highway"), listed("lane, crosswalk, corner, curb, line, lines")),
    **dict.fromkeys(("wall", "walls"), listed("brick, bricks, tile, tiles, shelf, window, door")),
    **dict.fromkeys(
        ("pizza", "sandwich", "cake", "salad"), listed("cheese, crust, bread, bun, frosting, icing")
    ),
    **dict.fromkeys(("field", "park", "yard"), listed("grass, dirt, ground, snow, tree, bench")),
    **dict.fromkeys(("beach", "shore"), listed("sand, water, ocean, towel")),
    **dict.fromkeys(("ocean", "sea", "lake", "river", "water"), listed("wave, waves, water")),
    **dict.fromkeys(("pole", "post", "sign post"), listed("sign, signs, board")),
    **dict.fromkeys(("mountain", "hill", "slope"), listed("snow, rock, rocks, trees, grass, dirt")),
    **dict.fromkeys(("city", "town", "village"), listed("street, road, building, house")),
    "sky": listed("air, cloud, clouds"),
    "window": listed("window sill, sill, glass, ledge, frame"),
    "clock": listed("face, hand, hands"),
    "sink": listed("faucet, counter, tap"),
}

_NOTHING: frozenset[str] = frozenset()
_ANYTHING = listed("surface, area, background, foreground, distance, outdoors")  # where much is


@lru_cache(maxsize=16384)
def belong(first: str, second: str) -> bool:
    """Whether one of the two is a part of the other, is worn by it or lies on it."""
    return _belongs(first, second) or _belongs(second, first)


def _belongs(part: str, whole: str) -> bool:
    if whole in _ANYTHING or part.startswith(f"{whole} "):  # a tree branch
        return True
    if is_alive(whole):
        return is_own_part(part) or is_worn(part) or part in _OF_A_BODY
    parts = {part, part.rpartition(" ")[2]}
    wholes = {whole, whole.rpartition(" ")[2]}
    if any(parts & _WHOLES.get(one, _NOTHING) for one in wholes):
        return True
    return any(parts & listed_parts and is_kind(whole, kind) for kind, listed_parts in _KINDS.items())
