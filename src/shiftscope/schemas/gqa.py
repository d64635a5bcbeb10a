"""GQA: everyday words for photographs; an open vocabulary that knows which kind of thing a word names.

The tables (`english/data/gqa.txt`) are facts of English in an arrangement of our own: which words are colours, that
a calf is a cow and a cow an animal. A word that is not there passes through, as a kind of its own.
"""

from collections.abc import Iterator

from ..english.inflection import plural
from ..english.word_lists import word_list, word_set, word_table
from ..schema import Attribute, Schema, Words

RELATIONS = word_list("gqa", "relations")
# An answer to "left or right?" is one word; the relation is three.
SYNONYMS = (("left", ("to the left of",)), ("right", ("to the right of",)), ("front", ("in front of",)))


def plural_name(noun: str) -> str:
    """The noun as it names several, by its last word; itself if it has no other form."""
    if noun.rpartition(" ")[2] in word_set("gqa", "same in plural"):
        return noun
    return "shrimps" if noun == "shrimp" else plural(noun)  # what stored indexes hold


def _build_kinds() -> Words:
    """(kind, every noun it contains, through kinds inside kinds, in either number), a kind for each noun."""
    inside = word_table("gqa", "kinds")
    members = (noun for listed in inside.values() for noun in listed)
    kinds = []
    for noun in dict.fromkeys([*inside, *members, *word_list("gqa", "loose")]):
        contained = dict.fromkeys(_collect_contained(noun, inside, (noun,)))
        forms = tuple(dict.fromkeys(form for n in contained for form in (n, plural_name(n))))
        several = plural_name(noun)
        if several != noun:
            kinds += [(noun, (several, *forms)), (several, (noun, *forms))]
        elif forms:
            kinds.append((noun, forms))
    return tuple(kinds)


def _collect_contained(kind: str, inside: dict[str, tuple[str, ...]], above: tuple[str, ...]) -> Iterator[str]:
    """The nouns inside a kind; two kinds that contain each other (bike, bicycle) mean the same."""
    for noun in inside.get(kind, ()):
        if noun not in above:
            yield noun
            yield from _collect_contained(noun, inside, (*above, noun))


# The name comes last, so that `orange` alone is a colour before it is a fruit.
ATTRIBUTES = (
    *(Attribute(name, values) for name, values in word_table("gqa", "attributes").items()),
    Attribute("name", (), _build_kinds()),
)
SCHEMA = Schema("gqa", attributes=ATTRIBUTES, relations=RELATIONS, synonyms=SYNONYMS, closed=False)
