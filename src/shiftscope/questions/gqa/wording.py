"""Wording: a question over one image in English, read off its program: "Is the cat that is on the mat black?"

The same program always gives the same words; one that we have no good words for is Unsayable. An
ObjectDescription is how a program refers to objects: a name, words, and a relation to others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...english.adjectives import AdjectivePhrase as Adjective
from ...english.adjectives import describe_attribute as adjective
from ...english.inflection import capitalize_first, plural
from ...english.nouns import GAMES, THE_AFTER, capitalize_name, is_noun, is_person, is_plural_noun, pronoun
from ...english.relations import RelationPredicate, add_article, be_form, helper_verb, parse_relation
from ...english.word_lists import word_set
from ...errors import UserError
from ...lang.notations.gqa.steps import IMPLICIT, VERIFY_REL
from ...lang.program import Node, Program, ProgramBuilder
from ...schemas.gqa import SCHEMA

NOT_ABOUT = word_set("gqa", "not about")
ANYTHING = ""  # the name where there is none


@dataclass(frozen=True, slots=True)
class DescriptionWord:
    """A value that a thing has, or has not."""

    attribute: str
    value: str
    denied: bool = False


@dataclass(frozen=True, slots=True)
class DescriptionLink:
    """A relation to another thing; `subject` says that the thing described is the relation's subject.

    With `alike`, `relation` is an attribute in which the two are the same.
    """

    relation: str
    other: ObjectDescription
    subject: bool = True
    alike: bool = False


@dataclass(frozen=True, slots=True)
class ObjectDescription:
    name: str = ANYTHING
    words: tuple[DescriptionWord, ...] = ()
    link: DescriptionLink | None = None

    def names(self) -> frozenset[str]:
        return frozenset({self.name}) | (self.link.other.names() if self.link else frozenset())


def read_description(program: Program, at: int) -> ObjectDescription | None:
    """How the set at a node is described; None where it is not by one name and at most one relation."""
    n = program.nodes[at]
    match n.op:
        case "scene":
            return ObjectDescription()
        case "find":
            return ObjectDescription(n.params[0])
        case "unique":
            return read_description(program, n.inputs[0])
        case "related" | "relate" | "same":
            other = read_description(program, n.inputs[0])
            if other is None:
                return None
            subject = n.op == "relate" or n.params[1:] in ((), ("subject",))
            return ObjectDescription(link=DescriptionLink(n.params[0], other, subject, n.op == "same"))
        case "filter" | "exclude":
            inside = read_description(program, n.inputs[0])
            attribute, value = n.params
            if inside is None or (attribute == "name" and (inside.name or n.op == "exclude")):
                return None
            if attribute == "name":
                return ObjectDescription(value, inside.words, inside.link)
            word = DescriptionWord(attribute, value, n.op == "exclude")
            return ObjectDescription(inside.name, (*inside.words, word), inside.link)
    return None


class GqaProgramBuilder(ProgramBuilder):
    """The programs of descriptions, as GQA writes them."""

    def add_set(self, thing: ObjectDescription) -> int:
        link = thing.link
        if link is None:
            at = self.put("find", words=(thing.name,)) if thing.name else self.put("scene")
        else:
            other = self.add_unique(link.other) if link.alike else self.add_set(link.other)
            role = () if link.alike else ("subject" if link.subject else "object",)
            at = self.put("same" if link.alike else "related", other, words=(link.relation, *role))
            at = self.put("filter", at, words=("name", thing.name)) if thing.name else at
        for word in thing.words:
            at = self.put("exclude" if word.denied else "filter", at, words=(word.attribute, word.value))
        return at

    def add_unique(self, thing: ObjectDescription) -> int:
        """The only one that fits the description."""
        return self.put("unique", self.add_set(thing), notes=IMPLICIT)


# Questions in words.

PEOPLE = ("person", "people")
THING = "thing"
MADE_OF = "made of "
_ATTRIBUTE_QUESTIONS = {
    "color": "what color {be} {it}",
    "size": "what size {be} {it}",
    "shape": "what shape {be} {it}",
    "material": "what {be} {it} made of",
    "pattern": "what kind of pattern is on {it}",
    **dict.fromkeys(("pose", "activity", "sportActivity"), "what {be} {it} doing"),
}
_PLACES = {
    ("hposition", "left"): "on the left of the picture",
    ("hposition", "right"): "on the right of the picture",
    ("vposition", "top"): "at the top of the picture",
    ("vposition", "middle"): "in the middle of the picture",
    ("vposition", "bottom"): "at the bottom of the picture",
}
ABOUT_THINGS = ("query", "verify", "choose", "choose_relation", "choose_more", "exist", "alike", "differ", "common")
MATERIALS = frozenset(SCHEMA.attribute("material").values)
_OF_IMAGE = {"location": "where was the picture taken", "weather": "what is the weather like"}


class Unsayable(UserError):
    """A program that we have no words for."""


def question_text(program: Program) -> str:
    return f"{capitalize_first(_write_question(program, len(program) - 1))}?"


def is_sayable(program: Program) -> bool:
    try:
        question_text(program)
    except Unsayable:
        return False
    return True


def _require_description(program: Program, at: int) -> ObjectDescription:
    found = read_description(program, at)
    if found is None:
        raise Unsayable(f"node {at} ({program.nodes[at].op}) describes things in a way we have no words for")
    return found


def _write_question(program: Program, at: int) -> str:
    """The question that a node asks, without capital and question mark."""
    n = program.nodes[at]
    things = [_require_description(program, i) for i in n.inputs] if n.op in ABOUT_THINGS else []
    match n.op:
        case "query" if n.params[0] == "name":
            return _ask_name(things[0])
        case "query":
            form = _ATTRIBUTE_QUESTIONS.get(n.params[0], f"what is the {n.params[0]} of {{it}}")
            return form.format(be=_be_form(things[0]), it=write_phrase(things[0]))
        case "verify":
            return _ask_is(things[0], _get_predicate_words(*n.params))
        case "not" if program.nodes[n.inputs[0]].op == "verify":
            inside = program.nodes[n.inputs[0]]
            thing = _require_description(program, inside.inputs[0])
            return _ask_is(thing, f"not {_get_predicate_words(*inside.params)}")
        case "choose" if n.params[0] == "name":
            link = things[0].link
            relation = "" if link is None or link.subject or link.alike else link.relation
            options = (_write_other(relation, ObjectDescription(name), "a") for name in n.params[1:])
            return f"{_ask_name(things[0])}, {' or '.join(options)}"
        case "choose":
            attribute, *values = n.params
            first, *others = (_get_predicate_words(attribute, value) for value in values)
            return _ask_is(things[0], " or ".join((first, *(one.removeprefix(MADE_OF) for one in others))))
        case "choose_relation":
            return _ask_which_relation(things[0], things[1], *n.params)
        case "choose_more":
            return f"which is {n.params[0]}, {' or '.join(map(write_phrase, things))}"
        case "exist":
            return _ask_relation(things[0]) if n.note("said") == VERIFY_REL else _ask_existence(things, "")
        case "and" | "or":
            return _write_conjunction(program, n)
        case "alike" | "differ" | "common":
            return _ask_comparison(n.op, things[0], things[1], "".join(n.params))
        case "query_image":
            return _OF_IMAGE.get(n.params[0], f"what {n.params[0]} is shown in the picture")
        case "verify_image":
            return f"is it {n.params[1]}"
        case "choose_image":
            return f"is it {n.params[1]} or {n.params[2]}"
    raise Unsayable(f"node {at} ({n.op}) is nothing we have a question for")


def _write_conjunction(program: Program, n: Node) -> str:
    first, second = (program.nodes[i] for i in n.inputs)
    same = first.op == second.op == "verify" and first.params == second.params
    if same or (first.op == second.op == "exist" and not (first.note("said") or second.note("said"))):
        things = [_require_description(program, m.inputs[0]) for m in (first, second)]
        if same and not things[0].link and (n.op == "and" or _is_plural(things[0]) == _is_plural(things[1])):
            start = "are both" if n.op == "and" else _be_form(things[0])
            return f"{start} {f' {n.op} '.join(map(write_phrase, things))} {_get_predicate_words(*first.params)}"
        if not same and not any(
            thing.link for thing in things
        ):  # else what follows could be of both: "a cat or a dog on a mat"
            return _ask_existence(things, n.op)
    return f", {n.op} ".join(_write_question(program, i) for i in n.inputs)


def write_phrase(thing: ObjectDescription, article: str = "the", reduced: bool = False, inner: str = "") -> str:
    """The things in words: "the black cat that is on the mat"; `a` gives a, an or what the noun wants.

    `reduced` says it without "that is": "a black cat on a mat". `inner` is the article of the others, if not the same.
    """
    inner = inner or article
    name = thing.name or THING
    if not is_noun(name) and name != THING:
        raise Unsayable(f"the name {name!r} does not read as a noun")
    before, after = _split_words(thing.words)
    noun = capitalize_name(" ".join((*before, name)))
    clauses = [f"{_be_form(thing)} {word}" for word in after]
    tail = ""
    if thing.link is not None:
        if reduced and not after and thing.link.subject and not thing.link.alike:
            said = _require_predicate(thing.link.relation).write_reduced()
            tail = f" {said} {_write_other(thing.link.relation, thing.link.other, inner)}"
        elif not after and _has_something(thing.link):
            place = _require_predicate(thing.link.relation).rest
            tail = f" with {write_phrase(thing.link.other, inner)} {place} {pronoun(name)}"
        else:
            clauses.append(_write_clause(thing, thing.link, inner))
    who = "who" if is_person(name) and (after or (thing.link and thing.link.subject)) else "that"
    tail = f" {who} {f' and {who} '.join(clauses)}" if clauses else tail
    return add_article(f"{noun}{tail}", name, article)


def _has_something(link: DescriptionLink) -> bool:
    """Whether another is somewhere about the thing: "the mat with the cat on it", not "the mat that the cat is on"."""
    return not (link.subject or link.alike) and can_be_about(link.relation)


def can_be_about(relation: str) -> bool:
    """Whether one can say "with something RELATION it": on, sitting on; not at, between, hidden by."""
    predicate = parse_relation(relation)
    if predicate is None or predicate.verb or not predicate.is_place:
        return False
    return predicate.rest not in NOT_ABOUT and not predicate.rest.endswith(" by")


def _split_words(words: tuple[DescriptionWord, ...]) -> tuple[list[str], list[str]]:
    """What can stand before the noun, the last word nearest to it, and what only after "that is"."""
    before, after = [], []
    for word in words:
        phrase = _get_phrase(word.attribute, word.value)
        if phrase is None:
            raise Unsayable(f"{word.value!r} is no word that we can describe a thing with")
        if word.denied:
            after.append(f"not {phrase.words}")
        elif phrase.before:
            before.append(phrase.words)
        else:
            after.append(phrase.words)
    return before, after


def _write_clause(thing: ObjectDescription, link: DescriptionLink, article: str = "the") -> str:
    """The clause after "that": "is on the mat", "the man is wearing", "has the same color as the cat"."""
    if link.alike:
        return f"{'have' if _is_plural(thing) else 'has'} the same {link.relation} as {write_phrase(link.other)}"
    predicate = _require_predicate(link.relation)
    if link.subject:
        return f"{predicate.write_finite(_is_plural(thing))} {_write_other(link.relation, link.other, article)}"
    return f"{write_phrase(link.other, article)} {predicate.write_finite(_is_plural(link.other))}"


def _ask_name(thing: ObjectDescription) -> str:
    """What the thing is: "What is on the mat", "What animal is the man riding", "Who is wearing the hat"."""
    link = thing.link
    before, after = _split_words(thing.words)
    word = " ".join(["what", *before, thing.name or (THING if before else "")]).rstrip()
    if thing.name in PEOPLE and not thing.words:
        word = "who"
    several = word != "who" and _is_plural(thing)
    if word != "who" and after:
        raise Unsayable(f"we do not ask what thing that is {after[0]} there is")
    if link is None:
        return f"{word} {be_form(several)} in the picture"
    if link.alike:
        return f"{word} {_write_clause(ObjectDescription('one'), link)}"
    predicate = _require_predicate(link.relation)
    if link.subject:
        return f"{word} {predicate.write_finite(several)} {_write_other(link.relation, link.other)}"
    helper = helper_verb(predicate, _is_plural(link.other))
    return f"{word} {helper} {write_phrase(link.other)} {predicate.write_bare()}"


def _ask_is(thing: ObjectDescription, what: str) -> str:
    return f"{_be_form(thing)} {write_phrase(thing)} {what}"


def _ask_which_relation(one: ObjectDescription, others: ObjectDescription, this: str, that: str, role: str) -> str:
    """Which of two: "is the cat on the mat or under it"; the second follows the first's object."""
    subject, other = (others, one) if role == "subject" else (one, others)
    first, second = _require_predicate(this), _require_predicate(that)
    if first.verb or second.verb:
        raise Unsayable(f"{this!r} or {that!r} is no choice that we have words for")
    return f"{_ask_is(subject, first.rest)} or {second.rest} {write_phrase(other)}"


def _ask_relation(thing: ObjectDescription) -> str:
    """Whether such a thing stands in a relation to the one meant: "is the man wearing a hat"."""
    link = thing.link
    if link is None or link.alike or link.subject:
        return _ask_existence([thing], "", "the")
    predicate = _require_predicate(link.relation)
    helper = helper_verb(predicate, _is_plural(link.other))
    other = _write_other(link.relation, ObjectDescription(thing.name, thing.words), "a")
    return f"{helper} {write_phrase(link.other)} {predicate.write_bare()} {other}"


def _ask_existence(things: list[ObjectDescription], joined: str, inner: str = "a") -> str:
    """Whether there are such things: "is there a cat or a dog", "is there a man eating a cake"."""
    link = things[0].link
    if len(things) == 1 and link is not None and not (link.subject or link.alike or _has_something(link)):
        predicate = _require_predicate(link.relation)
        doer = f"{_be_form(link.other)} there {write_phrase(link.other, inner)}"
        return f"{doer} {predicate.write_reduced()} {_write_other(link.relation, replace(things[0], link=None), 'a')}"
    # several first, and what has no words: not "is there a man and trees", nor "white shoes and shorts"
    things = sorted(things, key=lambda thing: (not _is_plural(thing), bool(thing.words)))
    description = [write_phrase(thing, "a", reduced=True, inner=inner) for thing in things]
    return f"{_be_form(things[0])} there {f' {joined} '.join(description)}"


def _ask_comparison(how: str, one: ObjectDescription, other: ObjectDescription, attribute: str) -> str:
    alone = one == other
    them = f"all the {plural(one.name)}" if alone else f"{write_phrase(one)} and {write_phrase(other)}"
    if alone and (one.words or one.link or not one.name):
        raise Unsayable("we have no words for all things of a longer description")
    if how == "common":
        return f"what do {them} have in common"
    if attribute == "material":
        return f"are {them} made of {'the same material' if how == 'alike' else 'different materials'}"
    kind = "kind of thing" if attribute == "name" else attribute
    if attribute not in ("name", "color", "size", "shape"):
        return f"do {them} have {'the same' if how == 'alike' else 'a different'} {kind}"
    several = "kinds of things" if attribute == "name" else f"{kind}s"
    return f"are {them} {f'the same {kind}' if how == 'alike' else f'different {several}'}"


def _write_other(relation: str, thing: ObjectDescription, article: str = "the") -> str:
    """The object of a relation: a floor, a frisbee; but one stands on the floor, and plays frisbee."""
    predicate = parse_relation(relation) if relation else None
    if predicate is not None and thing == ObjectDescription(thing.name):
        if predicate.rest == "playing" and thing.name in GAMES:
            return capitalize_name(thing.name)
        if predicate.is_place and thing.name in THE_AFTER:
            article = "the"
    return write_phrase(thing, article)


def _get_predicate_words(attribute: str, value: str) -> str:
    if attribute == "material" and value in MATERIALS:
        return f"{MADE_OF}{value}"
    phrase = _get_phrase(attribute, value)
    if phrase is None or not phrase.after:
        raise Unsayable(f"one cannot ask whether something is {value!r}")
    return phrase.words


def _get_phrase(attribute: str, value: str) -> Adjective | None:
    place = _PLACES.get((attribute, value))
    return Adjective(place, before=False, after=True) if place else adjective(value)


def _require_predicate(relation: str) -> RelationPredicate:
    predicate = parse_relation(relation)
    if predicate is None:
        raise Unsayable(f"no words for the relation {relation!r}")
    return predicate


def _is_plural(thing: ObjectDescription) -> bool:
    return is_plural_noun(thing.name)


def _be_form(thing: ObjectDescription) -> str:
    return be_form(_is_plural(thing))
