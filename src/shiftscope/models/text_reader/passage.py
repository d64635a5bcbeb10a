"""A scene as sentences, and with its action and question as one text to read.

After CLEVR_HYP, section 4.3: "There is a small green metal cube." of each object, and "The large yellow rubber sphere
is to the left of the small green metal cube." A sentence for each pair and relation would be longer than a reader
reads, so objects are told in order, from left to right and from front to behind, each with the next: the rest follows.
"""

from dataclasses import replace
from itertools import pairwise

from ...lang.exec.exact import describe_object
from ...question import Question
from ...scene import Scene, mask_members

ORDERED = {"left": "to the left of", "front": "in front of"}  # relations along which objects are told in order
QUESTION = "question"  # the word before the question; tokens of a text are words


def write_passage(scene: Scene) -> str:
    names = [describe_object(thing) for thing in scene.objects]
    sentences = [f"There is a {name}." for name in names]
    for relation, words in ORDERED.items():
        rows = scene.relation(relation) or ()
        ahead = sorted(range(len(rows)), key=lambda i: (rows[i].bit_count(), i))  # what none is left of comes first
        told = ((i, j) for i, j in pairwise(ahead) if i in mask_members(rows[j]))
        sentences += [f"The {names[i]} is {words} the {names[j]}." for i, j in told]
    return " ".join(sentences)


def write_reading(passage: str, question: Question) -> Question:
    """The question whose text is the passage, the action and then the question itself."""
    parts = (passage, question.action, QUESTION, question.text)
    return replace(question, text=" ".join(part for part in parts if part), action="")
