"""Inflection: plurals, verb forms, articles, numbers in words and lists."""

from collections.abc import Sequence
from functools import lru_cache

from .word_lists import word_pairs, word_set

CONSONANT_START = ("uni", "use", "usu", "uti", "ute", "eu", "ew", "one", "once")  # pronounced "yoo…" or "wu…"
VOWEL_START = ("hour", "honest", "heir", "honor", "honour")
SPELLED_WITH_VOWEL = "AEFHILMNORSX"  # letters whose names begin with a vowel: an SUV, an FM radio
NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SINGULAR_ENDINGS = {"ies": "y", "ses": "s", "xes": "x", "zes": "z", "ches": "ch", "shes": "sh", "men": "man", "s": ""}


@lru_cache(maxsize=4096)
def plural(phrase: str) -> str:
    """The phrase in the plural: buses, SUVs, double-deckers, red boxes."""
    head, space, word = phrase.rpartition(" ")
    irregular = word_pairs("inflection", "irregular plurals").get(word.lower())
    if irregular is None and word.lower() in word_set("inflection", "same"):
        irregular = word.lower()
    if irregular is not None:
        return f"{head}{space}{irregular}"
    if is_plural(word):
        return phrase
    if word.isupper() and len(word) > 1:
        return f"{phrase}s"
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return f"{phrase}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{phrase[:-1]}ies"
    return f"{phrase[:-3]}men" if word.endswith("man") else f"{phrase}s"


def list_singulars(word: str) -> list[str]:
    """What the word may be the plural of, by its ending alone."""
    endings = _SINGULAR_ENDINGS.items()
    return [word[: -len(end)] + new for end, new in endings if word.endswith(end) and len(word) > len(end) + 1]


@lru_cache(maxsize=4096)
def is_plural(phrase: str) -> bool:
    """Whether the phrase already names several: people, palm trees, sunglasses; not bus, grass, tennis."""
    word = phrase.rpartition(" ")[2].lower()
    irregular = word_pairs("inflection", "irregular plurals").values()
    if word in irregular or word in word_set("inflection", "more plurals"):
        return True
    singular = word.endswith(("ss", "us")) or word in word_set("inflection", "singular in s")
    return len(word) > 2 and word.endswith("s") and not singular


@lru_cache(maxsize=4096)
def gerund(verb: str) -> str:
    """sitting, riding, lying."""
    if verb.endswith("ie"):
        return f"{verb[:-2]}ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return f"{verb[:-1]}ing"
    return f"{_double_last_letter(verb)}ing"


@lru_cache(maxsize=4096)
def past_participle(verb: str) -> str:
    """parked, tied, written."""
    irregular = word_pairs("inflection", "past participles").get(verb)
    if irregular is not None:
        return irregular
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ied"
    return f"{_double_last_letter(verb)}ed"


def _double_last_letter(verb: str) -> str:
    return verb + verb[-1] if verb in word_set("inflection", "doubled") else verb


def third_person(verb: str) -> str:
    """What he, she or it does: wears, touches, carries, has."""
    if verb == "have":
        return "has"
    return f"{verb}es" if verb.endswith("o") else plural(verb)


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


def add_indefinite_article(phrase: str) -> str:
    """a bus, an SUV."""
    return f"{article(phrase)} {phrase}"


def join_list(parts: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def capitalize_first(text: str) -> str:
    """The text with a capital first letter, the rest as it is."""
    return text[:1].upper() + text[1:]


def lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


SIDES = ("front", "mid", "center", "back", "left", "right")  # in the order they precede a part
SEVERAL = "s"  # ends a part's name in the files: exhaust_left_s


def spell_file_name(name: str) -> str:
    """A part's name in the files as Super-CLEVR's own questions spell it: door_mid_left → mid left door."""
    pieces = name.removesuffix(f"_{SEVERAL}").split("_")
    last = next((i for i in range(len(pieces), 0, -1) if pieces[i - 1] not in SIDES), 0)
    return " ".join(pieces[last:] + pieces[:last])
