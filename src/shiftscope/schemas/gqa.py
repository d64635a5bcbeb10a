"""GQA: everyday words for photographs; an open vocabulary that knows which kind of thing a word names.

The tables are facts of English in an arrangement of our own: which words are colours, that a calf is a cow
and a cow an animal. A word that is not here passes through, as a kind of its own.
"""

from ..schema import Attribute, Schema, Words
from ._nouns import kinds_of_nouns

_ATTRIBUTES = {
    "color": """white, black, gray, silver, red, maroon, pink, orange, gold, yellow, beige, cream
        colored, tan, khaki, brown, light brown, dark brown, green, light green, dark green, teal,
        turquoise, blue, light blue, dark blue, navy blue, purple, lavender, blond, brunette, dark""",
    "material": """wood, metal, steel, stainless steel, iron, aluminum, brass, copper, wire, mesh, chain
        link, plastic, rubber, vinyl, styrofoam, glass, porcelain, ceramic, clay, cement, concrete, brick,
        cobblestone, stone, granite, marble, sand, gravel, leather, cloth, cotton, wool, denim, lace,
        velvet, wicker, straw, bamboo, cardboard, paper""",
    "size": "tiny, small, little, large, huge, giant",
    "height": "short, tall",
    "length": "short, long",
    "width": "narrow, wide",
    "depth": "shallow, deep",
    "thickness": "thin, thick",
    "weight": "light, heavy",
    "fatness": "skinny, thin, fat, chubby",
    "age": "little, young, old, adult",
    "gender": "male, female",
    "shape": """round, oval, square, rectangular, triangular, octagonal, spherical, cylindrical, curved,
        flat, pointy""",
    "pattern": "plain, striped, checkered, plaid, dotted, spotted, floral, camouflage",
    "texture": "fine, coarse, fluffy, furry, fuzzy",
    "tone": "light, dark, bright",
    "brightness": "bright, dim",
    "hardness": "soft, hard",
    "cleanliness": "clean, dirty, stained, muddy",
    "state": "calm, still, smooth, wavy, choppy, rough",
    "wetness": "dry, wet",
    "fullness": "empty, full",
    "opening": "open, closed, shut",
    "power": "on, off",
    "realism": "real, fake",
    "ripeness": "ripe, unripe",
    "preparation": "raw, cooked, fried, baked, grilled, toasted, sliced, chopped",
    "flavor": "chocolate, vanilla, strawberry",
    "hair style": "bald, curly, straight, long haired, short haired",
    "face expression": "happy, smiling, laughing, sad, angry, serious, surprised, making a face",
    "pose": """standing, sitting, lying, kneeling, crouching, squatting, bending, leaning, walking,
        running, jumping, pointing, waving, shaking hands, taking a photo,
        taking a picture, taking pictures""",
    "activity": """eating, drinking, cooking, brushing teeth, taking bath, sleeping, resting, waiting,
        posing, playing, reading, talking, looking up, looking down, staring, driving, grazing, working,
        shopping""",
    "sportActivity": """surfing, swimming, skiing, snowboarding, skateboarding, skating, riding,
        sailing, performing trick""",
    "sport": "baseball, tennis, soccer, basketball, football, volleyball",
    "weather": "clear, sunny, cloudless, partly cloudy, cloudy, overcast, foggy, rainy, snowy, stormy",
    "location": "indoors, outdoors",
    "room": "kitchen, bathroom, bedroom, living room, dining room, office, attic",
    "hposition": "left, right",
    "vposition": "top, middle, bottom",
}

RELATIONS = (
    *("to the left of", "to the right of", "in front of", "behind", "above", "below", "on top of", "under"),
    *("on", "in", "inside", "near", "next to", "beside", "by", "at", "around", "with", "of", "between"),
    *("wearing", "holding", "carrying", "using", "riding", "eating", "playing", "swinging", "watching"),
    *("sitting on", "standing on", "walking on", "lying on", "hanging on", "parked on", "growing in"),
)


def _attributes() -> tuple[Attribute, ...]:
    described = tuple(
        Attribute(name, tuple(" ".join(word.split()) for word in words.split(",")))
        for name, words in _ATTRIBUTES.items()
    )
    kinds: Words = kinds_of_nouns()
    # The name comes last, so that `orange` alone is a colour before it is a fruit.
    return (*described, Attribute("name", (), kinds))


# An answer to "left or right?" is one word; the relation is three.
SYNONYMS = (("left", ("to the left of",)), ("right", ("to the right of",)), ("front", ("in front of",)))

SCHEMA = Schema("gqa", attributes=_attributes(), relations=RELATIONS, synonyms=SYNONYMS, closed=False)
