"""English, as far as questions need it: forms of nouns and verbs, and a or an before a word."""

from __future__ import annotations

from functools import lru_cache


def _pairs(words: str) -> dict[str, str]:
    return dict(pair.split() for pair in words.split(","))


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.replace(",", " ").split())


SAME = _listed("sheep fish deer moose bison shrimp aircraft watercraft spacecraft offspring species series")
IRREGULAR = {
    **_pairs("person people, man men, woman women, child children, mouse mice, foot feet, tooth teeth"),
    **_pairs("goose geese, ox oxen, leaf leaves, shelf shelves, bookshelf bookshelves, knife knives"),
    **_pairs("wife wives, calf calves, wolf wolves, loaf loaves, scarf scarves, half halves, elf elves"),
    **_pairs("thief thieves, cactus cacti, potato potatoes, tomato tomatoes, mango mangoes, hero heroes"),
    **_pairs("echo echoes, gas gases, lens lenses, canvas canvases, atlas atlases, quiz quizzes"),
    **_pairs("iris irises, trellis trellises, oasis oases, axis axes, ottoman ottomans, human humans"),
    **{word: word for word in sorted(SAME)},
}
ALREADY_PLURAL = frozenset(IRREGULAR.values()) - SAME | _listed(
    "cattle police livestock dice folk scarfs policemen firemen fishermen snowmen menus emus tutus gnus"
)
SINGULAR_IN_S = _listed(  # besides what ends in ss or us
    """lens gas canvas atlas christmas tennis iris trellis oasis axis chassis pelvis news series species
    gymnastics alias bias mathematics physics aerobics cannabis ibis mantis clematis tetris"""
)
DOUBLED = _listed(  # verbs that double their last letter before -ing and -ed
    """bat beg cap chip chop clap clip cut dig dip drag drip drop drum fan fit flap flip get grab grin grip
    hem hit hop hug jab jog jot jut knit knot lap let log lug map mop nap nod pat pet pin plan plot plug pop
    prop put quit rid rig rip rob rot rub run sag scan scrub set shed ship shop shred shrug shut sip sit skid
    skim skip slam slap slip slit snap snip sob spin spit split spot squat stab star stem step stir stop strap
    strip strum stun swab swap swat swim tag tan tap thin throb tip top trap trim trip trot tug wag wed wet
    whip wrap zip emit admit submit control begin forget"""
)
PAST_PARTICIPLES = {
    **_pairs("bend bent, bind bound, bite bitten, blow blown, break broken, bring brought, build built"),
    **_pairs("buy bought, catch caught, cast cast, cut cut, dig dug, draw drawn, drink drunk, drive driven"),
    **_pairs(
        "eat eaten, feed fed, find found, fly flown, freeze frozen, give given, grind ground, grow grown"
    ),
    **_pairs(
        "hang hung, have had, hide hidden, hit hit, hold held, keep kept, lay laid, lead led, leave left"
    ),
    **_pairs("light lit, make made, put put, read read, ride ridden, see seen, sell sold, set set, sew sewn"),
    **_pairs("shake shaken, shoot shot, show shown, shut shut, spin spun, split split, spread spread"),
    **_pairs("stick stuck, sweep swept, swing swung, take taken, teach taught, tear torn, throw thrown"),
    **_pairs("wear worn, weave woven, win won, wind wound, write written"),
}
CONSONANT_START = ("uni", "use", "usu", "uti", "ute", "eu", "ew", "one", "once")  # said "yoo…" or "wu…"
VOWEL_START = ("hour", "honest", "heir", "honor", "honour")
SPELLED_WITH_VOWEL = "AEFHILMNORSX"  # letters whose names begin with a vowel: an SUV, an FM radio


@lru_cache(maxsize=4096)
def plural(phrase: str) -> str:
    """The phrase for several: buses, SUVs, double-deckers, red boxes."""
    head, space, word = phrase.rpartition(" ")
    start = f"{head}{space}"
    if word.lower() in IRREGULAR:
        return start + IRREGULAR[word.lower()]
    if is_plural(word):
        return phrase
    if word.isupper() and len(word) > 1:
        return f"{phrase}s"
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return f"{phrase}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{phrase[:-1]}ies"
    if word.endswith("man"):
        return f"{phrase[:-3]}men"
    return f"{phrase}s"


@lru_cache(maxsize=4096)
def is_plural(phrase: str) -> bool:
    """Whether the phrase already names several: people, palm trees, sunglasses; not bus, grass, tennis."""
    word = phrase.rpartition(" ")[2].lower()
    if word in ALREADY_PLURAL:
        return True
    known = word.endswith(("ss", "us")) or word in SINGULAR_IN_S
    return len(word) > 2 and word.endswith("s") and not known


@lru_cache(maxsize=4096)
def gerund(verb: str) -> str:
    """What one is at: sitting, riding, lying."""
    if verb.endswith("ie"):
        return f"{verb[:-2]}ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return f"{verb[:-1]}ing"
    return f"{verb}{verb[-1]}ing" if verb in DOUBLED else f"{verb}ing"


@lru_cache(maxsize=4096)
def past_participle(verb: str) -> str:
    """What was done to it: parked, tied, written."""
    if verb in PAST_PARTICIPLES:
        return PAST_PARTICIPLES[verb]
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ied"
    return f"{verb}{verb[-1]}ed" if verb in DOUBLED else f"{verb}ed"


def third_person(verb: str) -> str:
    """What he, she or it does: wears, touches, carries, has."""
    if verb == "have":
        return "has"
    if verb.endswith("o"):
        return f"{verb}es"
    return plural(verb)


@lru_cache(maxsize=4096)
def article(phrase: str) -> str:
    """`an` before a vowel sound, else `a`."""
    word = phrase.partition(" ")[0].partition("-")[0]
    if word.isupper() and len(word) > 1:
        return "an" if word[0] in SPELLED_WITH_VOWEL else "a"
    lowered = word.lower()
    if lowered.startswith(VOWEL_START):
        return "an"
    return "an" if lowered[:1] in "aeiou" and not lowered.startswith(CONSONANT_START) else "a"
