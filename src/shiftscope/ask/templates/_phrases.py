"""Phrases that several groups of templates share: asking for a value, comparing two, chains of relations."""

from __future__ import annotations

from ...schema import Schema
from ..lexicon import noun_of

VALUE_QUESTIONS = {
    "size": (
        "How large is {X}?",
        "Which size is {X}?",
        "Find {X}; how large is it?",
        "Look at {X}. Which size does it have?",
    ),
    "color": (
        "Which color is {X}?",
        "What would you call the color of {X}?",
        "Find {X}; which color does it have?",
        "Look at {X}. Which color is it?",
    ),
    "material": (
        "Which material is {X}?",
        "Which material has been used for {X}?",
        "Find {X}; what is it made from?",
        "Look at {X}. Which material does it consist of?",
    ),
    "shape": (
        "Which shape is {X}?",
        "What would you call the shape of {X}?",
        "Find {X}; which shape does it have?",
        "Look at {X}. Which shape is it?",
    ),
    "model": (
        "Which model is {X}?",
        "Find {X}; which model is it?",
        "Look at {X}. Which model do you see?",
    ),
}
OTHER_VALUE_QUESTIONS = (
    "Which {a} do you see on {X}?",
    "Find {X}; which {a} does it have?",
    "Look at {X}. Which {a} is it?",
)
# "{X} and {Y}" would mislead: "the cube that is left of the ball and the cone"
COMPARISONS = (
    "Is {X} the same {a} as {Y}?",
    "Does {X} share its {a} with {Y}?",
)
VALUE_COMPARISON = "Does {X} have the same {a} as {Y}?"  # a vehicle is a model, it does not have one
MORE_COMPARISONS = {
    "size": ("Is {X} just as large as {Y}?",),
    "material": ("Is {X} made from the same material as {Y}?",),
}


def word_for(attribute: str, schema: Schema) -> str:
    """What a question calls the attribute; a shape that has kinds is the model of a vehicle."""
    nouns_have_kinds = attribute == noun_of(schema.attributes) and schema.attribute(attribute).kinds
    return "model" if nouns_have_kinds else attribute


def value_questions(attribute: str, subject: str, schema: Schema) -> list[str]:
    """Questions for the value of one thing's attribute; the subject is a noun phrase with its article."""
    word = word_for(attribute, schema)
    patterns = VALUE_QUESTIONS.get(word, OTHER_VALUE_QUESTIONS)
    return [p.replace("{X}", subject).replace("{a}", word) for p in patterns]


def comparisons(attribute: str, left: str, right: str, schema: Schema) -> list[str]:
    """Questions whether two things have the same value of the attribute."""
    word = word_for(attribute, schema)
    patterns = COMPARISONS
    if word != "model":
        patterns += (VALUE_COMPARISON, *MORE_COMPARISONS.get(word, ()))
    return [p.replace("{X}", left).replace("{Y}", right).replace("{a}", word) for p in patterns]


def chain(hops: int) -> str:
    """`the {3} [that is] <R2> the {2} that is <R> the {1}`: one thing, found over relations."""
    phrase = "the {1}"
    for hop in range(1, hops + 1):
        link = "[that is]" if hop == hops else "that is"
        phrase = f"the {{{hop + 1}}} {link} <R{hop if hop > 1 else ''}> {phrase}"
    return phrase
