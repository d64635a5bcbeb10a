"""Names of things as English nouns: which are said without an article, which with "the", which not at all."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Literal

from ...ask.english import is_plural
from ...schemas.gqa import SCHEMA
from ._listed import listed

Number = Literal["one", "several", "mass"]


# What is not counted, told by its last word: "dry grass", "toilet paper".
MASS = listed(
    """water, grass, snow, sand, dirt, hair, food, fur, wood, metal, plastic, paper, cardboard,
    concrete, cement, asphalt, pavement, gravel, mud, soil, clay, dust, rust, moss, hay, straw, ice,
    rain, fog, mist, smoke, steam, air, foam, sunlight, daylight, lighting, traffic, graffiti, writing,
    lettering, text, clothing, furniture, luggage, baggage, jewelry, footwear, underwear, silverware,
    cutlery, tableware, equipment, machinery, hardware, scenery, foliage, greenery, vegetation,
    shrubbery, grassland, ivy, bamboo, seaweed, turf, farmland, terrain, scaffolding, fencing, netting,
    mesh, wiring, piping, bedding, carpeting, flooring, paneling, siding, trim, molding, grout, tape,
    foil, fabric, denim, leather, wool, cotton, lace, velvet, silk, fleece, cloth, wallpaper, paint,
    ink, soap, shampoo, toothpaste, trash, garbage, debris, litter, rubble, rubbish, junk, money, cash,
    mail, art, artwork, music, tennis, soccer, golf, polo, rugby, hockey, skiing, surfing, bread,
    butter, cheese, cream, milk, juice, coffee, tea, wine, beer, soda, alcohol, liquor, champagne,
    lemonade, liquid, oil, vinegar, sauce, gravy, ketchup, mustard, mayonnaise, mayo, dressing, salsa,
    syrup, honey, jam, jelly, frosting, icing, fruit, produce, meat, beef, pork, ham, bacon, pepperoni,
    salami, poultry, seafood, salmon, tuna, rice, pasta, spaghetti, macaroni, corn, wheat, flour, dough,
    sugar, salt, parsley, basil, cilantro, celery, broccoli, cauliflower, lettuce, spinach, kale,
    asparagus, arugula, garlic, zucchini, cereal, oatmeal, granola, yogurt, chocolate, candy, caramel,
    popcorn, soup, coleslaw, hummus, guacamole, tofu, chili, pudding, sushi, mozzarella, feta, spray, surf,
    glitter, stubble, skin, flesh, blood, sweat, wax, yarn, thread, gauze, lint, granite, marble,
    stonework, brickwork, woodwork, latticework, steel, iron, brass, copper, aluminum, gold, silver,
    rubber, porcelain, glassware, china, pottery, stucco, plaster, tarmac, sunshine, moonlight,
    darkness, weather, lava, tinsel, confetti, tilework, felt, plumbing, ducting, tubing, cabling,
    rigging, headgear, gear, camouflage, makeup, lipstick, mascara, polish, deodorant, mouthwash,
    detergent, stuff, merchandise, signage, seating, shade, underbrush, undergrowth, overgrowth,
    driftwood, firewood, lumber, timber, plywood, hardwood, linoleum, styrofoam, wrap, saliva, slime,
    mold, algae, bark, sap, manure, dung, poop, feed, grain, bran, seasoning, paprika, cinnamon, nature,
    clutter, attire, frost, jewelery, mulch, landscaping, shelving, cabinetry, boxing, skateboarding,
    advertising, plant life, broth, glaze, tissue, electricity, gasoline, fuel, exhaust, space, parking,
    land, breakfast, lunch, dinner"""
)
# What is said of a part of a thing, not of a thing.
NO_LAST = listed("of, side, part, piece, 's, portion, portions, section, sections, half, end, edge")
# Of these, what stands after another noun is counted: a table cloth.
COUNTED = listed("cloth, wrap, tape, feed, spray, polish, surf, space, gear")
ALWAYS_SEVERAL = listed(  # one of them is said as several
    """pants, jeans, shorts, trousers, slacks, khakis, leggings, tights, trunks, overalls, pajamas,
    pyjamas, capris, sweatpants, scissors, tongs, pliers, tweezers, clippers, shears, glasses,
    sunglasses, eyeglasses, goggles, binoculars, headphones, earphones, chopsticks, clothes, stairs,
    bleachers, blinds, drapes, fries, french fries, noodles, handlebars, surroundings, woods, remains,
    headquarters, groceries, electronics, toiletries, greens, chips, sprinkles, condiments, veggies,
    mashed potatoes, suspenders"""
)
THE = listed(  # there is one: the sky
    """sky, ground, air, background, foreground, sun, moon, ocean, sea, horizon, distance, world, rain,
    countryside, earth, wind, internet"""
)
THE_OR_A = listed("sky, ocean, sea, horizon")  # a sky that has clouds
THE_AFTER = listed(  # said with "the" where something is in or on them: in the water
    """water, grass, snow, sand, dirt, mud, rain, shade, sunlight, floor, ceiling, shore, seashore,
    sidewalk, pavement, hay, fog, air, surf, gravel, tarmac, asphalt, beach"""
)
GAMES = listed(  # played without an article
    """tennis, soccer, baseball, frisbee, football, basketball, volleyball, golf, polo, cricket, rugby,
    hockey, badminton, catch, chess, softball, ping pong, table tennis, ultimate frisbee, wii, bowling"""
)
BARE = listed("mid air, midair, downtown, horseback")  # no article at all: in midair
# Words that annotators leave where a noun should be, and nouns that say nothing one could look for.
NO_NOUN = listed(
    """birthday, white, black, red, green, blue, yellow, pink, purple, brown, gray, grey, beige, tan,
    gold, silver, left, right, top, bottom, front, back, side, sides, middle, center, centre, end, edge,
    corner, inside, outside, part, parts, piece, pieces, pair, row, rows, group, lot, lots, bunch, set,
    stack, pile, slice, slices, section, kind, type, sort, half, rest, amount, patch, strip, layer, it,
    him, her, them, he, she, they, his, its, their, this, that, these, those, one, ones, two, three,
    four, five, other, others, another, everyone, everything, someone, something, anyone, anything,
    nothing, nobody, each, all, both, some, many, few, several, none, who, what, which, there, here,
    now, then, day, night, time, daytime, nighttime, view, scene, image, area, place, thing, things,
    stuff, item, items, object, objects, point, way, bit, color, colors, colour, shape, size, style,
    design, pattern, position, direction, distance, leave, short, large, small, big, tall, long, wild,
    plain, high, low, male, female, adult, old, young, new, open, close, use, turn, stop, go, play, eat,
    look, walk, run, ride, is, are, of, the, a, an, and, or, to, in, on, with, by, life, love, fun,
    speed, motion, action, activity, trick, tricks, pose, air, mid air, midair, horseback, english,
    work, season, summer, winter, spring, fall, morning, afternoon, evening, brush, sheepv, sing, hear,
    beck, wet, meet, good, show, bend, sits, stunt, stunts, cros, slants, sideways, details, angles,
    backside, portion, destination, formation, tint, attraction, expression, body, downhill, weather,
    depth, length, height, width, areas, sections, portions, directions, destinations, formations,
    expressions, attractions, positions, styles, shapes, designs, patterns, views, scenes, places,
    points, ends, edges, corners, tops, bottoms, fronts, backs, surroundings"""
)
OWN_PARTS = listed(
    """head, heads, face, faces, nose, mouth, ear, ears, eye, eyes, leg, legs, arm, arms, hand, hands,
    neck, body, back, feet, foot, finger, fingers, chin, skin, shoulder, shoulders, hair, knee, knees,
    elbow, stomach, belly, chest, lips, teeth, forehead, paw, paws, fur, tail, front legs, back legs,
    left hand, right hand, left arm, right arm, left leg, right leg, left foot, right foot, left ear,
    right ear, right eye, left eye, thumb, waist, wrist, ankle, cheek, bottom, lap, beak, mane, trunk,
    horns, feathers, whiskers, hooves"""
)
FLESH = OWN_PARTS - listed(  # what no furniture, clock or airplane has
    """face, faces, nose, leg, legs, arm, arms, hand, hands, neck, body, back, foot, feet, tail, trunk,
    bottom, mouth"""
)
ON_FLESH = listed(
    """tattoo, scar, bandage, band, ring, bracelet, watch, wristband, sweatband, collar, necklace,
    bow, ribbon, tag, horn, horns, spot, spots, stripe, stripes, mark, marking, markings,
    freckles, beard, mustache, goatee, sticker, bell, harness, bridle, halter, saddle, glove,
    mitt, cast, crown, wig, bun, ponytail, braid, hair band, headband, helmet, hat, cap, glasses,
    goggles, sunglasses, earring, earrings, strap, leash, patch, sock, shoe, nail, mask, blanket,
    towel, bag, purse"""
)
INSIDE = listed(
    """room, kitchen, bathroom, bedroom, office, classroom, garage, basement, attic, hallway, closet,
    studio, laboratory, garden, yard, backyard, field, forest, street, park, city, town, house,
    building, gym, cave, alley, gymnasium, workshop, warehouse, barn, tent, car, bus, boat,
    desert, jungle, arena, hall, cell, tunnel"""
)
OUTSIDE = listed(
    """beach, outdoors, outside, inside, indoors, shore, ocean, lake, river, sidewalk, road, market,
    store, shop, school, stadium, farm, zoo, restaurant, church, hospital, hotel, bar, table,
    station, airport, playground, pool, court, track, construction site, countryside, woods"""
)
SIDED = listed(
    "hand, arm, leg, foot, ear, eye, wing, wheel, shoe, wrist, knee, shoulder, ski, paw, hoof, lane"
)
CAPITALS = {
    **{
        word: word.upper()
        for word in ("tv", "cd", "dvd", "suv", "pc", "usb", "vcr", "atv", "rv", "id", "atm")
    },
    **{word: word.upper() for word in ("bmw", "bmx", "lcd", "uk", "usa", "vhs")},
    **{f"{word}s": f"{word.upper()}s" for word in ("tv", "cd", "dvd", "suv")},
    **{
        word: word.capitalize()
        for word in ("american", "christmas", "british", "french", "chinese", "english")
    },
    "wii": "Wii",
    "ipod": "iPod",
    "iphone": "iPhone",
    "ipad": "iPad",
}
# Where something is, but nothing to ask about.
_IN_PLACE = listed("background, foreground, distance, air, mid air, midair")
_NAME = re.compile(r"[A-Za-z][A-Za-z'’.-]*(?: [A-Za-z'’-]+)*")
_ODD_START = listed(
    """both, each, every, all, a, an, the, his, her, their, its, some, other, another, two, three, four,
    five, many, of"""
)
_ODD_INSIDE = listed("and, or, is, are, with, on, in, that, which, who, from, behind, near, has, for, to")


@lru_cache(maxsize=8192)
def is_noun(name: str) -> bool:
    """Whether the name reads as what a thing is called."""
    lowered = name.lower()
    head = lowered.partition(" of ")[0]
    if lowered in NO_NOUN or head in NO_NOUN or len(name) < 2 or not _NAME.fullmatch(name):
        return False
    words = lowered.split()
    return (
        words[0] not in _ODD_START
        and not _ODD_INSIDE.intersection(words)
        and len(words) <= 4
        and words[-1] not in NO_LAST
        and len(set(words)) == len(words)
        and not (words[0] in ("left", "right") and words[-1] not in SIDED)
    )


def is_thing(name: str) -> bool:
    """Whether it is something to ask about: not the background."""
    return is_noun(name) and name not in _IN_PLACE


def is_place(name: str, preposition: str) -> bool:
    """Whether it can be where something is, though it is no thing to ask about: in the background."""
    return name in _IN_PLACE and preposition.split()[-1] in ("in", "through")


@lru_cache(maxsize=8192)
def number(name: str) -> Number:
    """Whether the name is one thing's, several things', or a mass noun."""
    lowered = name.lower().partition(" of ")[0]
    start, _, last = lowered.rpartition(" ")
    if lowered in ALWAYS_SEVERAL or last in ALWAYS_SEVERAL:
        return "several"
    if start and last in COUNTED:
        return "one"
    if lowered in MASS or last in MASS:
        return "mass"
    return "several" if is_plural(lowered) else "one"


def is_several(name: str) -> bool:
    """Whether the name itself is plural: trees, people, pants."""
    return number(name) == "several"


def is_countable(name: str) -> bool:
    """Whether "how many" goes with it, and one node of a graph is one of them."""
    return number(name) == "one" and name not in THE


def is_worn(name: str) -> bool:
    return name in _kind("clothing") or name in _kind("accessory")


def is_own_part(name: str) -> bool:
    """Whether every person or animal has it, so that to say so says nothing."""
    return name in OWN_PARTS


def is_inside(name: str) -> bool:
    """Whether one is in it rather than at it: a kitchen."""
    return name in INSIDE or name.rpartition(" ")[2] in INSIDE or is_kind(name, "room")


def is_where(name: str) -> bool:
    """Whether it is a place where something is done."""
    return is_inside(name) or is_kind(name, "building") or name in OUTSIDE


def is_flesh(name: str) -> bool:
    """Whether only what is alive has it: eyes, but not legs."""
    return name in FLESH


def is_kind(name: str, kind: str) -> bool:
    """Whether the name is the kind's or of one of its members: a tower is a building."""
    return name in _kind(kind)


@lru_cache(maxsize=8192)
def spelled(name: str) -> str:
    """The name as it is written: TV, American flag."""
    return " ".join(CAPITALS.get(word, word) for word in name.split(" "))


def is_person(name: str) -> bool:
    return name in _kind("person") or name.rpartition(" ")[2] in _kind("person")


def is_animal(name: str) -> bool:
    return name in _kind("animal")


def is_alive(name: str) -> bool:
    return is_person(name) or is_animal(name)


def pronoun(name: str, subject: bool = False) -> str:
    """What stands for the thing where it was named before: it, them, him, her; or it, they, he, she."""
    if number(name) == "several":
        return "they" if subject else "them"
    if name in _kind("woman") or name in ("girl", "daughter"):
        return "she" if subject else "her"
    if name in _kind("man") or name in ("boy", "son"):
        return "he" if subject else "him"
    if is_person(name):
        return "they" if subject else "them"
    return "it"


@cache
def _kind(word: str) -> frozenset[str]:
    """The nouns that name a kind of this, the word among them."""
    kinds = next(dict(a.kinds) for a in SCHEMA.attributes if a.name == "name")
    return frozenset((word, *kinds[word]))
