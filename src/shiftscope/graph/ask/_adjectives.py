"""Attributes as English: before the noun ("black dog"), or after "that is" ("man that is looking up")."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ...schemas import clevr, gqa
from ._listed import listed


class Described(NamedTuple):
    """How an attribute is said."""

    words: str
    before: bool  # it can stand before the noun
    after: bool  # it can stand after "is"


# After "is" only; what is here is said as it stands on the right of the arrow, or as it is.
_AFTER_ONLY = listed(
    """alone, asleep, awake, afloat, ablaze, ajar, ready, visible, up, down, out, on, off, upside down,
    up high, indoors, outdoors, outside, inside, for sale, in the distance, in the background, in the
    foreground, in the air, in motion, in use, on top, at rest, turned on, turned off, turned around,
    lit up, pulled back, pulled up, pulled down, cut up, cut off, rolled up, hung up, sticking out,
    sticking up, hanging down, hanging up, hanging out, looking up, looking down, looking away, looking
    back, looking left, looking right, looking around, looking ahead, facing left, facing right, facing
    away, facing forward, pointing up, pointing down, pointing left, pointing right, sitting down,
    standing up, lying down, bending down, bending over, leaning over, leaning back, leaning forward,
    curled up, held up, taking off, taking a photo, taking a picture, taking pictures, making a face,
    shaking hands, brushing teeth, performing trick, doing a trick, wide open, half eaten, in half, on
    fire, under construction, in the middle, on the left, on the right, nearby, connected, gathered,
    dressed up, side by side, far away, in a row, in a line, upstairs, downstairs, backwards, available,
    present, full, covered, well lit, lined up, stacked up, talking on the phone, playing, waiting,
    watching, eating, driving, concentrating, batting, tricking, working, posing, pointing, gesturing,
    waving, talking, taking bath, performing, brushing, in flight, in bloom, airborne, boarded up, close
    together, together"""
)
_SAID = {
    "taking photo": "taking a photo",
    "taking photos": "taking photos",
    "taking picture": "taking a picture",
    "laying down": "lying down",
    "laying": "lying",
    "performing trick": "performing a trick",
    "tricking": "doing a trick",
    "taking bath": "taking a bath",
    "grey": "gray",
    **{f"{shade} grey": f"{shade} gray" for shade in ("light", "dark", "bright", "deep", "pale")},
    "greyish": "grayish",
    "blonde": "blond",
    "golden": "gold",
    "navy": "navy blue",
    "asian": "Asian",
    "american": "American",
    "indian": "Indian",
    "african": "African",
    "african american": "African American",
    "caucasian": "Caucasian",
    "german": "German",
    "italian": "Italian",
    "canadian": "Canadian",
    "australian": "Australian",
    "spanish": "Spanish",
    "french": "French",
    "chinese": "Chinese",
    "japanese": "Japanese",
    "british": "British",
}
_BEFORE_ONLY = listed(  # nouns and adjectives that tell a kind: not "is the player baseball"
    """baseball, computer, tennis, baby, wine, passenger, military, electrical, electric, utility,
    railroad, shower, double decker, double-decker, commercial, fighter, cargo, police, subway,
    birthday, wedding, christmas, cowboy, pine, palm, evergreen, football, soccer, basketball, ski,
    cruise, sail, race, fire, garbage, tow, pickup, street, traffic, safety, kitchen, bathroom, coffee,
    dining, hospital, army, school, sliding, folding, rolling, steering, parking, landing, outdoor,
    indoor, overhead, main, upper, lower, front, rear, hind, inner, outer, left, right, bare, lone,
    wild, fallen, fake, potted, stuffed, toy, decorative, residential, industrial, professional,
    chocolate, vanilla, strawberry, cheese, tomato, apple, vegetable, ice, roast, air force, wii,
    laptop, steam, motorized, digital, mobile, facial, acoustic, polar, grizzly, tabby, calico, remote,
    exhaust, team, winter, cooking, baking, serving, security, video, public, teenage, elderly, adult,
    two-story, exterior, interior, rock, ocean, storm, one way, stop, no parking, amusement, apartment,
    duffel, wheat, cone, double, butterfly, pedestrian, suit, motorcycle, model, mini, miniature, bmw,
    two story, top, bottom, back, second story, oak, birch, maple"""
)
_NOT_AFTER = listed(
    "lone, main, upper, lower, hind, inner, outer, left, right, front, rear, back, top, bottom, adult"
)
_PLAIN = listed(
    """white, black, blue, green, red, brown, yellow, orange, gray, silver, pink, purple, tan, gold,
    golden, beige, maroon, burgundy, khaki, cream, navy, teal, turquoise, lavender, peach, blonde,
    blond, brunette, magenta, violet, bronze, ivory, olive, multi-colored, colorful, dark, light,
    bright, pale, clear, clean, large, small, big, little, tiny, huge, giant, long, short, tall, low,
    high, thick, thin, wide, narrow, deep, shallow, flat, round, square, oval, circular, rectangular,
    triangular, octagonal, spherical, cylindrical, curved, arched, straight, pointed, pointy, curly,
    wavy, sharp, steep, sloped, slanted, tilted, vertical, horizontal, diagonal, upright, crooked, bent,
    twisted, spiral, jagged, rounded, oblong, domed, young, old, older, younger, elderly, male, female,
    bald, balding, skinny, slender, fat, chubby, muscular, happy, sad, angry, serious, calm, funny,
    hungry, tired, sleepy, curious, scared, surprised, wooden, metal, metallic, brick, glass, stone,
    plastic, concrete, cement, leather, steel, iron, ceramic, porcelain, wicker, rubber, marble,
    granite, tile, tiled, bamboo, aluminum, brass, copper, chrome, cardboard, paper, cloth, denim, lace,
    knit, wool, cotton, velvet, vinyl, straw, wire, gravel, dirt, clay, asphalt, hardwood, styrofoam,
    foil, tin, stainless steel, stainless, plaid, striped, checkered, floral, flowered, spotted, dotted,
    patterned, plain, camouflage, tie-dyed, open, closed, shut, empty, full, wet, dry, dirty, dusty,
    muddy, rusty, sandy, rocky, grassy, snowy, icy, leafy, leafless, bushy, shaggy, fluffy, fuzzy,
    furry, hairy, puffy, wispy, smooth, rough, soft, hard, shiny, reflective, sheer, transparent,
    tinted, frosted, stained, cloudy, sunny, overcast, hazy, foggy, rainy, stormy, cloudless, partly
    cloudy, fresh, ripe, unripe, raw, hot, cold, warm, frozen, crispy, creamy, whole, broken, cracked,
    worn, torn, faded, blurry, dead, alive, bare, lush, dense, sparse, heavy, loose, tight, ornate,
    fancy, antique, vintage, modern, ancient, new, busy, crowded, cluttered, messy, neat, rural, urban,
    wooded, distant, sleeveless, collared, hooded, shirtless, barefoot, button-down, v-neck, fake,
    artificial, real, natural, beautiful, pretty, cute, ugly, athletic, formal, casual, adult,
    electronic, enormous, massive, rusted, foamy, murky, glossy, grilled, fried, baked, lit, unlit,
    chain-link, dark-colored, light-colored, cream-colored, brightly colored, middle-aged, middle aged,
    chain link, old fashioned, short sleeved, long sleeved, long haired, short haired, dark skinned,
    light skinned, king size, queen size, light colored, dark colored, cream colored, multicolored,
    grey, wood, navy blue, off white, horse drawn, horse-drawn, high-rise, off-white, burnt, lovely,
    attractive, delicious, strong, vast, plush, overgrown, inflatable, disposable, woven, barren,
    semicircular, adorable, overweight, scrubby, scary, leftover, ornamental, healthy, mature, cheesy,
    fluorescent, rotten, filthy, lumpy, misty, stationary, elaborate, handwritten, crimson, playful,
    woolly, wooly, naked, polka dot, mesh, medium sized, long-haired, short-haired, dark-skinned,
    light-skinned, old-fashioned, short-sleeved, long-sleeved, king-size, queen-size, married,
    abandoned, historical, decorative, stylish, pregnant, thirsty, friendly, alert, energetic,
    rectangle, bearded, wrinkled, upside-down, floppy, spiky, frilly, grainy, chewy, juicy, sticky,
    slimy, mossy, scruffy, snow-covered, snow covered, chunky, bulky, sturdy, smoky, steamy, breezy,
    windy, gloomy, faint, dim, dull, vivid, Asian, American, Indian, African, Caucasian, African
    American, German, Italian, Canadian, Australian, Spanish, French, Chinese, Japanese, British,
    coarse, fine, choppy, still, gorgeous, nice, unfinished, elegant, shady, homemade, cubic, cool,
    lying, standing, sitting, reddish, brownish, greenish, bluish, grayish, yellowish, pinkish"""
)
_SHADES = (
    "light",
    "dark",
    "bright",
    "deep",
    "pale",
    "navy",
    "lime",
    "olive",
    "baby",
    "sky",
    "hot",
    "neon",
    "royal",
)
_HUES = listed(
    """white, black, blue, green, red, brown, yellow, orange, gray, grey, pink, purple, tan, gold,
    silver, beige"""
)
_NO_ADJECTIVE = listed(
    """same, different, other, another, additional, various, second, third, first, last, next, piece,
    part, patch, slice, slices, pieces, patches, pile, row, statue, sculpture, figurine, rear view, side
    view, his, her, their, its, mother, man, woman, women, boy, girl, limited, random, partial,
    interesting, odd, nice, good, great, awesome, used, covered in, wearing, holding, having, setting,
    making, being, going, doing, coming, putting, using, single, only, certain, own, such, painting,
    building, ceiling, railing, clothing, evening, morning, bedding, thing, string, king, wing, ring,
    icing, frosting, topping, dressing, missing, pictured, designed, called, named, carried, seen,
    partially seen, following, grinding, munching, colored, stripped, needed, located, based, related,
    supposed, three layer, ponytail, jumped, surfed, benched, petted, stationed, picked, turned,
    connecting, gaming, paving, plumbing, bowling, buying, tasting, docking, marketing, looking,
    meeting, opening, fueling, broadcasting, returning, assorted, opposing, helping, separating,
    supporting, sorting, mixing, constructing, touching, sharing, changing, intersecting, crossing,
    settled, boarded, batted, coded, backed, racked, propelling, advertising, mid-swing, unidentified,
    loving, rising, spring, lapping, reaching, lightening, extending, merging, de-icing, disturbed,
    grounded, complicated, older, younger, taller, shorter, smaller, bigger, larger, longer, darker, lighter,
    higher, closer, brighter, wider, thicker, thinner, further, farther, newer, smoother, heavier,
    nearer, deeper, cleaner, fatter, greener, oldest, youngest, tallest, shortest, smallest, biggest,
    largest, longest, closest, furthest, farthest, nearest"""
)


@lru_cache(maxsize=8192)
def described(attribute: str) -> Described | None:
    """How to say the attribute, or nothing if it is not one that reads well."""
    word = " ".join(attribute.strip().split())
    word = _SAID.get(word.lower(), word)
    lowered = word.lower()
    if not word.replace(" ", "").replace("-", "").replace("'", "").isalpha() or lowered in _NO_ADJECTIVE:
        return None
    if lowered in _AFTER_ONLY or word in _AFTER_ONLY:
        return Described(word, before=False, after=True)
    if word in _PLAIN or word in _schema_words():
        return Described(word, before=True, after=lowered not in _NOT_AFTER)
    if lowered in _BEFORE_ONLY:
        return Described(word, before=True, after=False)
    first, _, rest = word.partition(" ")
    if first in _SHADES and rest in _HUES:
        return Described(word, before=True, after=True)
    if rest:
        last = word.rpartition(" ")[2]
        if last in ("colored", "shaped", "sized", "patterned", "covered", "trimmed"):
            return Described(word, before=True, after=True)
        if first.endswith("ing") and rest in (
            "up",
            "down",
            "left",
            "right",
            "away",
            "back",
            "around",
            "out",
            "over",
        ):
            return Described(word, before=False, after=True)
        return None
    if len(word) > 4 and word.endswith(("ed", "ing")):
        return Described(word, before=True, after=True)
    return None


@lru_cache(maxsize=1)
def _schema_words() -> frozenset[str]:
    """What the schemas know as values of an attribute, single words that are adjectives; nouns are not."""
    nouns = ("name", "shape", "sport", "room", "flavor", "hposition", "vposition", "location", "power")
    return frozenset(
        value
        for schema in (clevr.SCHEMA, gqa.SCHEMA)
        for attribute in schema.attributes
        if attribute.name not in nouns
        for value in attribute.values
        if " " not in value
    )
