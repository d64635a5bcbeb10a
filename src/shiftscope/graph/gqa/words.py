"""Words: a question over one image in English, read off its program: "Is the cat that is on the mat black?"

The same program always gives the same words. A program that we have no good words for is Unsayable.
"""

from __future__ import annotations

from ...ask.english import article as a_or_an
from ...ask.english import plural
from ...errors import UserError
from ...lang.dialects._gqa_steps import VERIFY_REL
from ...lang.program import Node, Program
from ..ask._adjectives import Described as Adjective
from ..ask._adjectives import described as adjective
from ..ask._nouns import BARE, THE, is_noun, number
from ..ask._relations import Predicate, predicate
from .described import Described, Link, Word, described

PEOPLE = ("person", "people")
THING = "thing"
_ASKED = {
    "color": "what color {be} {it}",
    "size": "what size {be} {it}",
    "shape": "what shape {be} {it}",
    "material": "what {be} {it} made of",
    "pattern": "what pattern {do} {it} have",
    **dict.fromkeys(("pose", "activity", "sportActivity"), "what {be} {it} doing"),
}
_PLACES = {
    ("hposition", "left"): "on the left of the picture",
    ("hposition", "right"): "on the right of the picture",
    ("vposition", "top"): "at the top of the picture",
    ("vposition", "middle"): "in the middle of the picture",
    ("vposition", "bottom"): "at the bottom of the picture",
}
_OF_IMAGE = {"location": "where was the picture taken", "weather": "what is the weather like"}


class Unsayable(UserError):
    """A program that we have no words for."""


def question_text(program: Program) -> str:
    """The question that the program asks."""
    said = _Saying(program).question(len(program) - 1)
    return f"{said[0].upper()}{said[1:]}?"


def sayable(program: Program) -> bool:
    try:
        question_text(program)
    except Unsayable:
        return False
    return True


class _Saying:
    """The nodes of one program in words; questions come without capital and question mark."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def node(self, at: int) -> Node:
        return self.program.nodes[at]

    def thing(self, at: int) -> Described:
        found = described(self.program, at)
        if found is None:
            raise Unsayable(f"node {at} ({self.node(at).op}) describes things in a way we have no words for")
        return found

    def question(self, at: int) -> str:
        n = self.node(at)
        match n.op:
            case "query":
                return _what(self.thing(n.inputs[0]), n.params[0])
            case "verify":
                return _is(self.thing(n.inputs[0]), _being(*n.params))
            case "not" if self.node(n.inputs[0]).op == "verify":
                inside = self.node(n.inputs[0])
                return _is(self.thing(inside.inputs[0]), f"not {_being(*inside.params)}")
            case "choose":
                return _which(self.thing(n.inputs[0]), *n.params)
            case "choose_relation":
                return _which_relation(self.thing(n.inputs[0]), self.thing(n.inputs[1]), *n.params)
            case "choose_more":
                first, second = map(self.thing, n.inputs)
                return f"which is {n.params[0]}, {phrase(first)} or {phrase(second)}"
            case "exist":
                found = self.thing(n.inputs[0])
                return _stands(found) if n.note("said") == VERIFY_REL else _there([found], "")
            case "and" | "or":
                return self.joined(n)
            case "alike" | "differ" | "common":
                one, other = map(self.thing, n.inputs)
                return _compared(n.op, one, other, "".join(n.params))
            case "query_image":
                return _OF_IMAGE.get(n.params[0], f"what {n.params[0]} is shown in the picture")
            case "verify_image":
                return f"is it {n.params[1]}"
            case "choose_image":
                return f"is it {n.params[1]} or {n.params[2]}"
        raise Unsayable(f"node {at} ({n.op}) is nothing we have a question for")

    def joined(self, n: Node) -> str:
        """Two questions in one."""
        first, second = map(self.node, n.inputs)
        if (first.op, second.op) == ("exist", "exist") and not (first.note("said") or second.note("said")):
            return _there([self.thing(first.inputs[0]), self.thing(second.inputs[0])], n.op)
        if (first.op, second.op) == ("verify", "verify") and first.params == second.params:
            one, other = self.thing(first.inputs[0]), self.thing(second.inputs[0])
            if n.op == "and":
                return f"are both {phrase(one)} and {phrase(other)} {_being(*first.params)}"
            return f"{_be(other)} {phrase(one)} or {phrase(other)} {_being(*first.params)}"
        return f"{self.question(n.inputs[0])} {n.op} {self.question(n.inputs[1])}"


def phrase(thing: Described, article: str = "the", reduced: bool = False) -> str:
    """The things in words: "the black cat that is on the mat"; `a` gives a, an or what the noun wants.

    `reduced` says it without "that is": "a black cat on the mat".
    """
    name = thing.name or THING
    if not is_noun(name) and name != THING:
        raise Unsayable(f"the name {name!r} does not read as a noun")
    before, after = _words(thing.words)
    noun = " ".join((*before, name))
    clauses = [f"{_be(thing)} {word}" for word in after]
    tail = ""
    if thing.link is not None:
        if reduced and not after and thing.link.subject and not thing.link.alike:
            tail = f" {_known(thing.link.relation).reduced()} {phrase(thing.link.other)}"
        else:
            clauses.append(_clause(thing, thing.link))
    tail = f" that {' and that '.join(clauses)}" if clauses else tail
    return _with_article(f"{noun}{tail}", name, article)


def _words(words: tuple[Word, ...]) -> tuple[list[str], list[str]]:
    """What can stand before the noun, the last word nearest to it, and what only after "that is"."""
    before, after = [], []
    for word in words:
        said = _place(word.attribute, word.value) or adjective(word.value)
        if said is None:
            raise Unsayable(f"{word.value!r} is no word that we can describe a thing with")
        if word.denied:
            after.append(f"not {said.words}")
        elif said.before:
            before.append(said.words)
        else:
            after.append(said.words)
    return before, after


def _clause(thing: Described, link: Link) -> str:
    """What is said after "that": "is on the mat", "the man is wearing", "has the same color as the cat"."""
    if link.alike:
        return f"{'have' if _several(thing) else 'has'} the same {link.relation} as {phrase(link.other)}"
    said = _known(link.relation)
    if link.subject:
        return f"{said.finite(_several(thing))} {phrase(link.other)}"
    return f"{phrase(link.other)} {said.finite(_several(link.other))}"


def _what(thing: Described, attribute: str) -> str:
    if attribute == "name":
        return _what_called(thing)
    form = _ASKED.get(attribute, f"what is the {attribute} of {{it}}")
    return form.format(be=_be(thing), do="do" if _several(thing) else "does", it=phrase(thing))


def _what_called(thing: Described) -> str:
    """What the thing is: "What is on the mat", "What animal is the man riding", "Who is wearing the hat"."""
    link = thing.link
    asked = "who" if thing.name in PEOPLE and not thing.words else " ".join(["what", *_kind(thing)])
    if link is None:
        return f"{asked} is in the picture"
    if link.alike:
        return f"{asked} {_clause(Described('one'), link)}"
    said = _known(link.relation)
    if link.subject:
        return f"{asked} {said.finite(False)} {phrase(link.other)}"
    helper = _be(link.other) if not said.verb else "do" if _several(link.other) else "does"
    return f"{asked} {helper} {phrase(link.other)} {said.bare()}"


def _kind(thing: Described) -> list[str]:
    before, after = _words(thing.words)
    if after:
        raise Unsayable(f"we do not ask what thing that is {after[0]} there is")
    return [*before, thing.name or (THING if before else "")] if before or thing.name else []


def _is(thing: Described, what: str) -> str:
    return f"{_be(thing)} {phrase(thing)} {what}"


def _which(thing: Described, attribute: str, this: str, that: str) -> str:
    if attribute == "name":
        return f"{_what_called(thing)}, {_a(this)} or {_a(that)}"
    return _is(thing, f"{_being(attribute, this)} or {_being(attribute, that)}")


def _which_relation(one: Described, others: Described, this: str, that: str, role: str) -> str:
    """Which of two: "is the cat on the mat or under it"; the second is said after the first's object."""
    subject, other = (others, one) if role == "subject" else (one, others)
    first, second = _known(this), _known(that)
    if first.verb or second.verb:
        raise Unsayable(f"{this!r} or {that!r} is no choice that we have words for")
    return f"{_is(subject, first.rest)} or {second.rest} {phrase(other)}"


def _stands(thing: Described) -> str:
    """Whether such a thing stands in a relation to the one meant: "is the man wearing a hat"."""
    link = thing.link
    if link is None or link.alike or link.subject:
        return _there([thing], "")
    said = _known(link.relation)
    other = phrase(Described(thing.name, thing.words), "a")
    if said.verb:
        return f"{'do' if _several(link.other) else 'does'} {phrase(link.other)} {said.bare()} {other}"
    return f"{_be(link.other)} {phrase(link.other)} {said.rest} {other}"


def _there(things: list[Described], joined: str) -> str:
    said = [phrase(thing, "a", reduced=True) for thing in things]
    if joined == "and":
        return f"are there both {said[0]} and {said[1]}"
    return f"{_be(things[0])} there {f' {joined} '.join(said)}"


def _compared(how: str, one: Described, other: Described, attribute: str) -> str:
    alone = one == other
    them = f"all the {plural(one.name)}" if alone else f"{phrase(one)} and {phrase(other)}"
    if alone and (one.words or one.link or not one.name):
        raise Unsayable("we have no words for all things of a longer description")
    if how == "common":
        return f"what do {them} have in common"
    kind = "kind of thing" if attribute == "name" else attribute
    return f"do {them} have {'the same' if how == 'alike' else 'a different'} {kind}"


def _being(attribute: str, value: str) -> str:
    said = _place(attribute, value) or adjective(value)
    if said is None or not said.after:
        raise Unsayable(f"one can not ask whether something is {value!r}")
    return said.words


def _place(attribute: str, value: str) -> Adjective | None:
    """Where in the picture it is, if the value says that."""
    words = _PLACES.get((attribute, value))
    return Adjective(words, before=False, after=True) if words else None


def _known(relation: str) -> Predicate:
    said = predicate(relation)
    if said is None:
        raise Unsayable(f"no words for the relation {relation!r}")
    return said


def _a(name: str) -> str:
    return _with_article(name, name, "a")


def _with_article(said: str, name: str, article: str) -> str:
    if article == "a":
        bare = name in BARE or number(name) != "one"
        article = "the" if name in THE else "" if bare else a_or_an(said)
    return f"{article} {said}" if article else said


def _several(thing: Described) -> bool:
    return number(thing.name) == "several"


def _be(thing: Described) -> str:
    return "are" if _several(thing) else "is"
