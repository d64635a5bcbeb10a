"""Which everyday attributes and relations exclude each other: facts of English, in an arrangement of our own.

A table is deliberately small: where it says nothing, the next source is asked, and at last two words are
taken to be able to hold together.
"""

from __future__ import annotations


def _listed(words: str) -> frozenset[str]:
    return frozenset(" ".join(word.split()) for word in words.split(","))


# Of the GQA schema's attributes, those of which a thing has one value. Poses and activities are not here:
# one can sit and eat. Words that share a line below overlap all the same.
ONE_VALUED = _listed(
    """color, size, height, length, width, depth, thickness, weight, fatness, age, gender, shape, hardness,
    cleanliness, wetness, fullness, opening, power, realism, ripeness, material, brightness, hposition,
    vposition"""
)

OVERLAPPING = tuple(
    tuple(word.strip() for word in line.split(","))
    for line in """
    gray, silver, grey, charcoal
    gray, metal
    gold, golden, yellow, orange, blond, blonde, mustard
    beige, tan, cream colored, khaki, brown, light brown, white, yellow
    brown, brunette, dark, dark brown, maroon
    black, dark, dark blue, dark green, dark brown, navy blue
    red, maroon, pink, orange, brown
    red, maroon, burgundy, wine, crimson, scarlet, dark red, brown, purple, rust
    pink, peach, salmon, coral, rose, orange
    cream, cream colored, white, off white, ivory, beige
    purple, lavender, pink, maroon, violet, magenta
    blue, teal, turquoise, green, purple, aqua, violet
    blue, light blue, dark blue, navy blue, navy, royal blue
    light blue, teal, turquoise, aqua
    green, light green, dark green, olive, lime
    dark green, teal, olive
    dark, gray, charcoal
    dark, blue
    dark, green
    dark, red
    dark, purple
    metal, steel, stainless steel, iron, aluminum, brass, copper, wire, mesh, chain link
    stone, granite, marble, brick, cobblestone, cement, concrete, gravel, clay, ceramic, porcelain
    plastic, rubber, vinyl, styrofoam
    cloth, cotton, wool, denim, lace, velvet, leather
    wood, wicker, straw, bamboo, cardboard, paper
    tiny, small, little
    large, huge, giant
    skinny, thin
    fat, chubby
    little, young
    old, adult
    dirty, stained, muddy
    closed, shut
    round, oval, spherical, cylindrical, curved
    square, rectangular
    flat, round, oval, square, rectangular, triangular, octagonal, curved, pointy
    """.strip().splitlines()
)

OVERLAPPING_NOUNS = tuple(  # one annotator says this, another that
    tuple(word.strip() for word in line.split(","))
    for line in """
    cup, mug, glass, coffee cup, coffee mug
    photo, picture, photograph, image, painting, poster, drawing, portrait
    couch, sofa, loveseat, love seat, armchair, bench
    street, road, roadway, highway, pavement, asphalt, lane, path
    sidewalk, pavement, path, walkway, ground
    field, grass, ground, lawn, yard, pasture, meadow, dirt, park
    sand, beach, shore, ground
    water, ocean, sea, lake, river, wave, pond
    bag, purse, backpack, handbag, suitcase, luggage
    jacket, coat, blazer, sweater, hoodie, suit, vest
    pants, jeans, trousers, slacks
    hat, cap, helmet
    shoe, boot, sneaker, sandal
    rock, stone, boulder, pebble
    sign, board, poster, signboard
    hill, mountain, slope
    plate, dish, bowl, platter, saucer
    rug, carpet, mat
    table, desk, counter, countertop
    tree, bush, plant, branch, leaf, leaves, shrub
    monitor, screen, television, tv, computer, laptop
    light, lamp, lantern, street light, bulb
    cloth, towel, blanket, sheet, napkin
    boat, ship, yacht, canoe
    plane, airplane, aircraft, jet
    wall, building, house
    fence, railing, rail, gate
    pole, post, rod
    bike, bicycle, motorcycle, motorbike
    cow, bull, cattle, ox
    food, meal, dish, lunch, dinner
    floor, ground, flooring
    sky, air
    shirt, t-shirt, tee shirt, top, blouse, jersey, tank top
    track, train track, railroad, railway, rail
    stove, oven, range
    hill, hillside, mountainside
    forest, woods, tree
    trash can, garbage can, trash bin, bin, can
    door, doorway, entrance
    stair, staircase, step
    """.strip().splitlines()
)

EXCLUSIVE_WORDS = tuple(  # besides one-valued attributes: any two of different groups on a line
    tuple(tuple(word.strip() for word in group.split(",")) for group in line.split("|"))
    for line in """
    standing | sitting, seated | lying, lying down, laying, sleeping | kneeling | walking | running | jumping
    striped | plain | checkered, plaid | dotted, spotted, polka dot | floral
    bald | curly, straight, long haired, short haired
    curly | straight
    long haired | short haired
    happy, smiling, laughing | sad, crying | angry
    awake | asleep, sleeping
    wooden | metal, metallic, steel | plastic | glass | brick | concrete | stone
    large, big, huge, giant | small, little, tiny
    male | female
    old | young, new
    on, lit | off, unlit
    sunny, clear, cloudless, blue | cloudy, overcast, gray, grey, stormy
    raw | cooked, fried, baked, grilled, toasted
    whole | sliced, chopped, cut
    indoors | outdoors
    empty | full, filled
    white | black | red | green | blue | yellow | pink | purple | orange | brown | gray, grey
    """.strip().splitlines()
)

PLACES = {  # a preposition → where it puts the one of the other
    **dict.fromkeys(("on", "onto", "upon", "atop"), "on"),
    "on top of": "on top",
    **dict.fromkeys(("in", "into", "within"), "in"),
    "inside": "inside",
    **dict.fromkeys(("under", "below", "beneath", "underneath"), "under"),
    **dict.fromkeys(("above", "over"), "above"),
    "in front of": "front",
    **dict.fromkeys(("behind", "in back of"), "behind"),
    **dict.fromkeys(("outside", "outside of"), "outside"),
    **dict.fromkeys(
        ("near", "next to", "beside", "by", "close to", "alongside", "near to", "not far from", "around"),
        "near",
    ),
}
EXCLUSIVE_PLACES = frozenset(
    frozenset(pair.split(" | "))
    for pair in (
        *("on | under", "on top | under", "on | behind", "on | front", "on top | behind", "on top | front"),
        *("on top | inside", "on top | in", "above | under", "front | behind", "inside | outside"),
        *("in | outside", "inside | under", "inside | above", "inside | front", "inside | behind"),
    )
)
TOUCHING = _listed("on, on top, in, inside, under")  # where it is so, it is said rather than "near"

VERBS: dict[str, str] = dict(  # as regions have it → as GQA has it
    pair.split()
    for pair in _listed(
        """sit sitting, stand standing, lie lying, lay laying, sleep sleeping, walk walking, run running,
        kneel kneeling, jump jumping, ride riding, wear wearing, hold holding, carry carrying,
        throw throwing, catch catching, kick kicking, chase chasing, push pushing, pull pulling, eat eating,
        drink drinking, wash washing, enter entering, leave leaving, exit exiting, open opening,
        close closing, hit hitting, swing swinging, drive driving, hang hanging, lean leaning, cut cutting,
        feed feeding, grab grabbing, pet petting, hug hugging, kiss kissing, climb climbing, cover covering,
        park parked, fly flying, swim swimming, lick licking, touch touching"""
    )
)
AT_WORK = _listed(  # verbs that bring two things together, so that "near" would say too little
    """ride, wear, hold, carry, throw, catch, kick, push, pull, eat, drink, wash, open, close, hit, swing,
    drive, cut, grab, pet, hug, kiss, climb, cover, touch, lick"""
)
EXCLUSIVE_VERBS = tuple(
    tuple(frozenset(group.split()) for group in line.split(" | "))
    for line in (
        "sit | stand | lie lay sleep | walk | run | kneel | jump",
        "wear | hold carry | ride drive | throw | kick | chase",
        "wear | eat drink | ride drive | wash | kick | push | pull",
        "throw | catch",
        "hit kick | catch",
        "push | pull | carry",
        "enter | leave exit",
        "open | close",
        "cut | wear | ride drive",
    )
)
EXCLUSIVE_MODIFIERS = tuple(
    tuple(frozenset(group.split(", ")) for group in line.split(" | "))
    for line in ("from, out of | to, into, onto, toward", "with, using | without", "onto, on | off, off of")
)
