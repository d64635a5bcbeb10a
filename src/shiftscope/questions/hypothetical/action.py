"""Hypothetical action: what is done to a scene, its program and its words.

An action is worded as an imperative, in the passive, or done by somebody with a name (`english/data/actions.txt`);
its text stands alone or is joined with its question.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from ...english.inflection import add_indefinite_article, capitalize_first, lower_first, plural, third_person
from ...english.synonyms import THING, Lexicon
from ...english.word_lists import word_pairs, word_table
from ...lang.program import Node, ProgramBuilder, node
from ...rng import RandomChoices
from ...schemas.clevr import SCHEMA

Pairs = tuple[tuple[str, str], ...]

ATTRIBUTES = ("size", "color", "material", "shape")  # in the order of words
IN_PLANE = SCHEMA.relations
SUBSETS = tuple(tuple(a for i, a in enumerate(ATTRIBUTES) if bits >> i & 1) for bits in range(1, 16))
KINDS = ("add", "remove", "change", "move_in_plane", "move_on_top")  # the five of the paper
ON = "on"


@dataclass(frozen=True, slots=True)
class ObjectReference:
    """What is true of those meant and of no other object: in words and in a program."""

    pairs: Pairs
    mask: int  # the objects meant
    relation: str = ""
    anchor: "ObjectReference | None" = None  # what they stand in that relation to
    many: bool = False
    words: str = ""  # in place of a description: it, the copy, or NEW_ONE

    @property
    def index(self) -> int:
        """The number of the one object meant."""
        return self.mask.bit_length() - 1


@dataclass(frozen=True, slots=True)
class NewObject:
    """An object that comes into the scene: described, perhaps but for one attribute, or copied."""

    pairs: Pairs  # all it will be
    source: ObjectReference | None = None  # the object it is like
    attribute: str = ""  # the attribute it has from the source; empty: all of them


@dataclass(frozen=True, slots=True)
class HypotheticalAction:
    """One action. Which fields are filled depends on the op."""

    kind: str  # of KINDS
    op: str  # of our language: add, add_beside, remove, change, move, swap
    subject: ObjectReference | None = None  # what is removed, changed, moved or swapped
    anchor: ObjectReference | None = None  # what it is put beside or on, or swapped with
    relation: str = ""
    new: NewObject | None = None
    changes: Pairs = ()  # the attributes that change, and to what, in the order of words

    @property
    def form(self) -> str:
        """What the wordings are listed under."""
        if self.op == "move":
            return "put_on" if self.relation == ON else "move"
        if self.new is not None and self.new.source is not None:
            how = "inheriting" if self.new.attribute else "copy"
            return f"{self.op}_{how}"
        many = "_all" if self.subject is not None and self.subject.many else ""
        what = ""
        if self.changes:
            several, shape = len(self.changes) > 1, "shape" in dict(self.changes)
            what = ("_shape_and" if shape else "_several") if several else f"_{self.changes[0][0]}"
        return f"{self.op}{what}{many}"

    @property
    def leaves_place_open(self) -> bool:
        return self.op in ("add", "add_beside") or (self.op == "move" and self.relation != ON)


def build_action_nodes(action: HypotheticalAction, before: tuple[Node, ...] = ()) -> tuple[Node, ...]:
    """The action's nodes, after those of an action before it, whose outcome it is about."""
    draft = _ActionBuilder(before)
    changes = action.op == "change"
    inputs = [] if changes else [draft.state]
    words = tuple(w for pair in action.changes for w in pair) or ((action.relation,) if action.relation else ())
    inputs += [draft.add_new_object(action.new)] if action.new else []
    inputs += [draft.add_reference(ref) for ref in (action.subject, action.anchor) if ref]
    draft.put(action.op, *inputs, words=words)
    return tuple(draft.nodes)


class _ActionBuilder(ProgramBuilder):
    def __init__(self, before: tuple[Node, ...]) -> None:
        self.nodes = list(before) or [node("scene")]
        self.state = len(self.nodes) - 1

    def add_reference(self, ref: ObjectReference) -> int:
        at = self.state
        if ref.anchor is not None:
            at = self.put("relate", self.add_reference(ref.anchor), words=(ref.relation,))
        for pair in ref.pairs:
            at = self.put("filter", at, words=pair)
        return at if ref.many else self.put("unique", at)

    def add_new_object(self, new: NewObject) -> int:
        if new.source is None:
            return self.add_thing(new.pairs)
        if not new.attribute:
            return self.put("copy", self.add_reference(new.source))
        described = self.add_thing(tuple(p for p in new.pairs if p[0] != new.attribute))
        return self.put("inherit", described, self.add_reference(new.source), words=(new.attribute,))

    def add_thing(self, pairs: Pairs) -> int:
        return self.put("thing", words=tuple(w for pair in pairs for w in pair))


ACTIVE, PASSIVE = word_table("actions", "active", "|"), word_table("actions", "passive", "|")
PEOPLE = tuple(word_pairs("actions", "people").items())
MANNERS = ("imperative", "passive", "person")
RELATIONS = word_table("actions", "relations")
LOOKS = word_table("actions", "looks")  # materials, where an adjective is wanted
NEW_ONE = "the new"  # before the noun that a new object was called by
ALL = "all"  # what is before the nouns of several things
LONGER = 1  # words that one of two actions may be longer than its shortest wording
THEN = ("; then ", ", and then ")

_LEXICON = Lexicon(SCHEMA)
_VERB = re.compile(r"\[(\w+)\]")
_split_wording = cache(re.compile(r"\{(\w+)\}").split)  # words and gaps in turn


class ActionText(NamedTuple):
    """An action text, the same as a clause that "if" may stand before, and which wording it is."""

    sentence: str
    clause: str
    wording: str  # `change_color passive 3`; of two actions, joined by +


def word_actions(actions: tuple[HypotheticalAction, ...], dice: RandomChoices) -> ActionText:
    """One or two actions in words; two are worded in the same manner."""
    manner = dice.pick(MANNERS)
    name, pronoun = dice.pick(PEOPLE)
    sentences, clauses, wordings = [], [], []
    known: KnownWords = {}
    for number, action in enumerate(actions):
        table = (PASSIVE if manner == "passive" else ACTIVE)[action.form]
        subject, short = action.subject, len(actions) > 1
        again, is_long = bool(subject and subject.words), bool(subject and subject.anchor)
        wording = dice.pick(_select_wordings(table, action.relation, again, is_long, short))
        wordings.append(f"{action.form} {manner} {table.index(wording)}")
        filled = _fill_wording(wording.replace("{rel}", "{to}") if len(actions) > 1 else wording, action, dice, known)
        if manner == "passive":
            sentences.append(filled)
            clauses.append(filled)
        elif manner == "imperative":
            sentences.append(_VERB.sub(r"\1", filled))
            clauses.append(("" if number else "I ") + sentences[-1])
        else:
            done = _VERB.sub(lambda found: third_person(found[1]), filled)
            sentences.append(f"{pronoun if number else name} {done}")
            clauses.append(sentences[-1])
    text = dice.pick(THEN).join(sentences)
    return ActionText(capitalize_first(text) + ".", " and then ".join(clauses), " + ".join(wordings))


# How a text calls what it speaks of again, and the word that it has for a value; of a new object, the noun, by NEW_ONE.
KnownWords = dict[Pairs | str, str]


def word_reference(ref: ObjectReference | None, dice: RandomChoices, known: KnownWords) -> str:
    """A noun phrase for what is meant: the small ball, all cubes that are behind the red cylinder."""
    assert ref is not None
    if ref.words:
        return f"{NEW_ONE} {known[NEW_ONE]}" if ref.words == NEW_ONE else ref.words
    if ref.anchor is None and not ref.many:
        if ref.pairs not in known:
            known[ref.pairs] = f"the {word_description(ref.pairs, dice, known)}"
        return known[ref.pairs]
    if ref.many and ALL not in known:
        known[ALL] = dice.pick(("all the ", "all of the "))
    phrase = (known[ALL] if ref.many else "the ") + word_description(ref.pairs, dice, known, several=ref.many)
    if ref.anchor is None:
        return phrase
    link = "that are" if ref.many else "that is"
    return f"{phrase} {link} {dice.pick(RELATIONS[ref.relation])} {word_reference(ref.anchor, dice, known)}"


def word_description(pairs: Pairs, dice: RandomChoices, known: KnownWords, *, several: bool = False) -> str:
    """The words of a description, each by one of its synonyms; the noun last."""
    words = [choose_synonym(value, dice, known) for attribute, value in pairs if attribute != "shape"]
    last = choose_synonym(dict(pairs).get("shape", THING), dice, known)
    return " ".join([*words, plural(last) if several else last])


def choose_synonym(value: str, dice: RandomChoices, known: KnownWords) -> str:
    return _choose_word(value, _LEXICON.list_synonyms(value), dice, known)


def choose_adjective(value: str, dice: RandomChoices, known: KnownWords) -> str:
    """As what something is like: matte, and never rubber."""
    return _choose_word(value, LOOKS.get(value) or _LEXICON.list_synonyms(value), dice, known)


def _choose_word(value: str, words: tuple[str, ...], dice: RandomChoices, known: KnownWords) -> str:
    """One of the words, the same all through a text: who reads of a rubber and a matte ball thinks that they differ."""
    if known.get(value) not in words:
        known[value] = dice.pick(words)
    return known[value]


# What may follow a long phrase: "put the cube that is behind the ball on the can" would have the ball on the can.
_AFTER_LONG = re.compile(r"\{old\} (?:and \[|so that|(?:is|are|(?!its|as)\w+s) )|\{old\}$")


@cache
def _select_wordings(
    wordings: tuple[str, ...], relation: str, again: bool, is_long: bool, short: bool
) -> tuple[str, ...]:
    """The wordings that read well: no "the color of it", nothing after a long phrase that could belong to it.

    What the action is done to is spoken of `again`, as "it", by a long phrase, or by neither. `short` leaves out the
    longer wordings, as of two actions in one text.
    """
    if relation in ("behind", "front"):  # "move the ball behind the cube" might be the ball that is there
        wordings = tuple(w for w in wordings if "[move] {old} {to}" not in w)
    if short:
        most = min(w.count(" ") for w in wordings) + LONGER
        wordings = tuple(w for w in wordings if w.count(" ") <= most)
    if again:
        unfit = ("of {old}", "away {old}", "up {old}", "[take] {old} and")
        return tuple(w for w in wordings if not any(u in w for u in unfit)) or wordings
    if is_long:
        return tuple(w for w in wordings if _AFTER_LONG.search(w)) or wordings
    return wordings


def _fill_wording(wording: str, action: HypotheticalAction, dice: RandomChoices, known: KnownWords) -> str:
    new, attribute = action.new, action.new.attribute if action.new else ""
    value = action.changes[0][1] if action.changes else ""
    look = tuple(p for p in action.changes if p[0] != "shape")
    shape = dict(action.changes).get("shape", "")

    def fill(gap: str) -> str:
        match gap:
            case "old":
                return word_reference(action.subject, dice, known)
            case "anchor":
                return word_reference(action.anchor, dice, known)
            case "source":
                return word_reference(new.source if new else None, dice, known)
            case "new":
                described = tuple(p for p in new.pairs if p[0] != attribute) if new else ()
                words = word_description(described, dice, known)
                known[NEW_ONE] = words.rpartition(" ")[2]
                return add_indefinite_article(words)
            case "rel":
                return dice.pick(RELATIONS[action.relation])
            case "to":  # where something goes
                return RELATIONS[action.relation][0]
            case "attribute":
                return attribute
            case "value":
                return choose_adjective(value, dice, known)
            case "plain":  # a noun: metal, and never metallic
                return value
            case "a_value":
                return add_indefinite_article(choose_synonym(shape, dice, known))
            case "values":
                return plural(choose_synonym(shape, dice, known))
            case "look":  # small, red and shiny
                *more, last = (choose_adjective(v, dice, known) for _, v in look)
                return f"{', '.join(more)} and {last}"
            case "a_look":
                return add_indefinite_article(word_description(action.changes, dice, known))
            case "looks":
                return word_description(action.changes, dice, known, several=True)
            case "grow":
                return {"large": "enlarge", "small": "shrink"}[value]
            case "grown":
                return {"large": "enlarged", "small": "shrunk"}[value]
        raise KeyError(gap)

    return "".join([fill(piece) if i % 2 else piece for i, piece in enumerate(_split_wording(wording))])


# Joining: an action and a question as one sentence, for models that read a single text.

ASKING = ("How", "Which", "What", "Would", "Could")
IF, SUPPOSE = "If ", "Suppose "


def join_question(clause: str, question: str) -> str:
    """ "If I paint the ball red, how many …?"; a question asked in two steps gets a sentence of its own."""
    if question.partition(" ")[0] in ASKING:
        return f"{IF}{clause}, {lower_first(question)}"
    return f"{SUPPOSE}{clause}. {question}"


def replace_joined_question(text: str, before: str, after: str) -> str:
    """The joined text of a clause and a question, with the question reworded."""
    start = IF if text.startswith(IF) else SUPPOSE
    clause = text.removeprefix(start)[: -len(before) - len(", ")]
    return join_question(clause, after)
