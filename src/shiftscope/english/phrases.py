"""Phrases: the pieces that every question is put together from: helper verbs, articles, numbers in words."""

from .inflection import NUMBER_WORDS
from .inflection import article as a_or_an
from .nouns import BARE, THE, grammatical_number
from .relations import RelationPredicate


def be_form(plural: bool) -> str:
    return "are" if plural else "is"


def do_form(plural: bool) -> str:
    return "do" if plural else "does"


def helper_verb(predicate: RelationPredicate, plural: bool) -> str:
    """What a question about the relation starts with: is it on …, does it have …."""
    return do_form(plural) if predicate.verb else be_form(plural)


def add_article(phrase: str, name: str, article: str, keep_the: bool = True) -> str:
    """The phrase, whose noun is the name, with an article; `a` gives a, an or what the noun wants."""
    if article == "a":
        article = "" if grammatical_number(name) != "one" or name in BARE else a_or_an(phrase)
        if name in THE and keep_the:
            article = "the"
    return f"{article} {phrase}" if article else phrase


def phrase_number(test: str, number: int) -> str:
    """two or more, no more than one, exactly three."""
    word = NUMBER_WORDS[number] if number < len(NUMBER_WORDS) else str(number)
    if test == "at least" and number > 1:
        return f"{word} or more"
    return f"no more than {word}" if test == "at most" else f"{test} {word}".lstrip()
