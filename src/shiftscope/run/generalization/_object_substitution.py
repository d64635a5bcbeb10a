"""Object substitution: another thing's name in place of one, in text and program, so that the answer changes.

After Bitton et al. (2021), for questions about one image. The new name is of something in the image, or of
something that the data know and the image lacks; it must be distinct from whatever else is in the image
(a man is a person), and what it changes the answer to is found by execution. What is spoken of as known ("the
man") must be there afterwards, and still be one where it was one.

Photographs have names of all sorts. There a name gives way to one of the same grammatical number that is
frequent in its place and fits what the question says of it (`_attested_places`), the changed program must be one
that we have words for, and a question in our own words is worded again from it. An annotation does not say all:
"no" is taken only where the image has no such thing, and of a region only to who does something or is done to.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from ...answer import Answer, is_same_answer
from ...english.inflection import article, is_plural, plural
from ...english.nouns import OWN_PARTS, takes_same_article
from ...english.synonyms import Lexicon
from ...lang.check import plan_program
from ...lang.exec.exact import Undefined
from ...lang.op import OBJECTS
from ...lang.program import Program, node
from ...question import Question
from ...questions.gqa.commonplace import is_doing
from ...questions.gqa.scene_view import FEWEST, MOST, GqaVocabulary, is_thing
from ...questions.gqa.soundness import is_sound
from ...questions.gqa.wording import Unsayable, question_text, read_description
from ...rng import derive
from ...scene import Scene
from ...scene_graph.exclusivity import THRESHOLD, MutualExclusivity, build_exclusivity
from ...scene_graph.pack import get_noun_attribute
from ...scene_graph.wordnet import SHIPPED, load_wordnet
from ...schema import Schema
from ...shift.held_out.facts import truncate_program
from . import SourceSplit
from ._attested_places import AttestedPlaces, list_demands

TRIED = 40  # names that are tried in a place before it is given up
ANOTHER_OBJECT = "another object"  # what was changed, as the table calls it
NO_NAME = "no object's name stands in the text exactly once"
NO_OTHER = "no other object's name that fits changes the answer"
KNOWN = (  # of what these are given the question speaks as known, and it must be there
    *("unique", "related", "relate", "same", "query", "verify", "choose", "choose_relation", "choose_more"),
    *("alike", "differ", "common", "all"),
)

Mention = tuple[int, int, bool]  # where a name stands in a text, and whether for several


class ObjectSubstitution:
    """What may stand in for what, in the questions of one split."""

    def __init__(self, data: SourceSplit, seed: int, wordnet: Path = SHIPPED) -> None:
        self._data, self._seed, self._wordnet = data, seed, wordnet
        self._lexicons: dict[str, Lexicon] = {}
        self._places: dict[str, AttestedPlaces] = {}

    @cached_property
    def _vocabulary(self) -> GqaVocabulary:
        """The frequent names of each place in the split's scene graphs."""
        return GqaVocabulary.from_scenes(self._data.scenes((image,))[0] for image in self._data.images)

    def _load_places(self, schema: Schema) -> AttestedPlaces:
        """What the names of the split's scene graphs occur with."""
        if schema.name not in self._places:
            scenes = (self._data.scenes((image,))[0] for image in self._data.images)
            places = AttestedPlaces(scenes, schema, load_wordnet(self._wordnet), get_noun_attribute(schema))
            self._places[schema.name] = places
        return self._places[schema.name]

    @cached_property
    def _frequent_names(self) -> tuple[str, ...]:
        """The commonest names in the split's scene graphs."""
        names = (n for image in self._data.images for n in self._list_names((image,)))
        found = Counter(n for n in names if is_thing(n))
        kept = sorted((n for n in found if found[n] >= FEWEST), key=lambda n: (-found[n], n))
        return tuple(kept[: 4 * MOST])

    def _list_names(self, images: tuple[str, ...]) -> list[str]:
        (scene,) = self._data.scenes(images)
        noun = get_noun_attribute(scene.schema)
        return [value for thing in scene.objects for a, value in thing.attributes if a == noun]

    def substitute(self, question: Question) -> tuple[str, Program, Answer] | str:
        """Text, program and answer with another name in one place; or why there is none."""
        (scene,) = self._data.scenes(question.scenes)
        schema, program = scene.schema, question.program
        assert program is not None and question.answer is not None
        noun = get_noun_attribute(schema)
        lexicon = self._lexicons.setdefault(schema.name, Lexicon(schema))
        rng = derive("contrast", "objects", self._seed, question.id)
        ours = not schema.closed and _word_question(program) == question.text
        places = _find_places(question, noun, lexicon, ours)
        if not places:
            return NO_NAME
        present = self._list_names(question.scenes)
        # "does the cube share its size with a cube?" could mean the cube itself
        once = not schema.closed or any(n.op == "same" for n in program.nodes)
        taken = {n.params[-1] for n in program.nodes if _has_name(n.op, n.params, noun)} if once else set()
        for k in rng.permutation(sorted(places)).tolist():
            old = program.nodes[k]
            for name in self._iter_candidates(program, k, present, schema, rng):
                renamed = node(old.op, old.inputs, (*old.params[:-1], name))
                other = Program((*program.nodes[:k], renamed, *program.nodes[k + 1 :]))
                if name in taken or not (schema.closed or _word_question(other)):
                    continue
                made = _word_question(other) if ours else _replace_mention(question.text, places[k], name, lexicon)
                if not made or not self._is_founded(program, other, question.scenes):
                    continue
                answer = self._data.answer(other, question.scenes)
                if isinstance(answer, Undefined) or is_same_answer(answer, question.answer):
                    continue
                if not (schema.closed or is_sound(other, made, answer)):
                    continue
                if schema.closed or answer is not False or (name not in present and _can_deny(other, scene)):
                    return made, other, answer
        return NO_OTHER

    def _iter_candidates(self, program: Program, k: int, present: list[str], schema: Schema, rng: Any) -> Iterator[str]:
        """Names that can be told apart from the image's other things and from the one replaced."""
        name = program.nodes[k].params[-1]
        here, away = set(present), set(self._list_pool(program, k, schema)) - {*present, *OWN_PARTS}
        tried = [some[i] for some in (sorted(here), sorted(away)) for i in rng.permutation(len(some))[:TRIED]]
        overlap = _load_overlap(schema, self._wordnet)
        demands = [] if schema.closed else list_demands(program, k, get_noun_attribute(schema))
        for other in tried:
            if other == name or not (schema.closed or _is_alike(name, other)):
                continue
            if not (schema.closed or self._load_places(schema).fits(other, name, demands)):
                continue
            rest = [thing for thing in {*present, name} if thing != other]
            if all(m > THRESHOLD for m in overlap.score_exclusivity("object", other, sorted(rest))):
                yield other

    def _list_pool(self, program: Program, k: int, schema: Schema) -> Iterable[str]:
        """What the data know to stand in such a place."""
        if schema.closed:
            return schema.attribute(get_noun_attribute(schema)).values
        thing = read_description(program, k)
        if thing is None or thing.link is None:
            return self._frequent_names
        return self._vocabulary.names.get((thing.link.relation, thing.link.subject), {})

    def _is_founded(self, before: Program, after: Program, images: tuple[str, ...]) -> bool:
        """Whether all that the changed question speaks of as known is there, and one where it was one."""
        known = {at for n in after.nodes if n.op in KNOWN for at in n.inputs}
        types = plan_program(after).types
        for at in known:
            if types[at] != OBJECTS:
                continue
            was, found = (self._data.answer(truncate_program(program, at), images) for program in (before, after))
            if isinstance(found, Undefined) or not found or (_is_single(was) and not _is_single(found)):
                return False
        return True


def _word_question(program: Program) -> str:
    """The question in our own words; none where we have no words for it."""
    try:
        return question_text(program)
    except Unsayable:
        return ""


def _find_places(question: Question, noun: str, lexicon: Lexicon, ours: bool) -> dict[int, Mention]:
    """The nodes whose name can be changed, and where it stands in the text; anywhere in our own words."""
    program = question.program
    assert program is not None
    kind = _find_queried_nodes(program, noun)
    places = [k for k, n in enumerate(program.nodes) if _has_name(n.op, n.params, noun) and k not in kind]
    if ours:
        return dict.fromkeys(places, (0, 0, False))
    named = Counter(program.nodes[k].params[-1] for k in places)
    once = [k for k in places if named[program.nodes[k].params[-1]] == 1]  # else the words could be of either
    found = {k: _find_mention(question.text, program.nodes[k].params[-1], lexicon) for k in once}
    return {k: where for k, where in found.items() if where is not None}


def _find_queried_nodes(program: Program, noun: str) -> set[int]:
    """The nodes of what is asked for by kind: no "what hat is the man riding?" of "what animal …?"."""
    if program.root.op not in ("query", "choose") or program.root.params[0] != noun:
        return set()
    at, found = program.root.inputs[0], set()
    while program.nodes[at].op in ("unique", "filter", "exclude", "find"):
        found.add(at)
        if not program.nodes[at].inputs:
            break
        at = program.nodes[at].inputs[0]
    return found


def _is_alike(name: str, other: str) -> bool:
    """Whether one noun reads well where the other does."""
    return takes_same_article(name, other) and is_thing(other)


def _can_deny(program: Program, scene: Scene) -> bool:
    """Whether "no" holds of the picture: a region of it does not tell what else is there, only who does what."""
    if not scene.note("caption"):
        return True
    asked = [read_description(program, n.inputs[0]) for n in program.nodes if n.op == "exist" and not n.note("said")]
    return all(thing is not None and thing.link is not None and is_doing(thing.link.relation) for thing in asked)


def _is_single(found: int | Undefined) -> bool:
    """Of a mask of objects."""
    return not isinstance(found, Undefined) and found.bit_count() == 1


@lru_cache(maxsize=8)
def _load_overlap(schema: Schema, wordnet: Path) -> MutualExclusivity:
    """What tells names apart."""
    return build_exclusivity(schema, wordnet=wordnet)


def _has_name(op: str, params: tuple[str, ...], noun: str) -> bool:
    return op == "find" or (op in ("filter", "verify") and params[0] == noun)


def _find_mention(text: str, name: str, lexicon: Lexicon) -> Mention | None:
    """Where a name stands, in any of its forms; None unless exactly once, and for clearly one or several."""
    forms: dict[str, bool] = {}
    for way in lexicon.list_accepted_phrases(name):
        several = plural(way)
        if several == way and not is_plural(way):  # sheep: one or several, it is ambiguous
            return None
        forms |= {way.lower(): is_plural(way), several.lower(): True}
    longest = sorted(forms, key=len, reverse=True)
    found = list(re.finditer(rf"\b(?:{'|'.join(map(re.escape, longest))})\b", text, re.IGNORECASE))
    if len(found) != 1:
        return None
    return found[0].start(), found[0].end(), forms[found[0][0].lower()]


def _replace_mention(text: str, where: Mention, name: str, lexicon: Lexicon) -> str | None:
    """The text with another name in that place, its article with it; None where the number would change."""
    start, end, several = where
    word = lexicon.list_synonyms(name)[0]
    if is_plural(word) and not several:
        return None
    phrase = plural(word) if several else word
    before = re.sub(
        r"\b(an?)(\s+)$", lambda m: f"{match_case(article(phrase), m[1])}{m[2]}", text[:start], flags=re.IGNORECASE
    )
    return f"{before}{match_case(phrase, text[start:end])}{text[end:]}"


def match_case(words: str, like: str) -> str:
    """With a capital where the words that they replace had one."""
    return words[0].upper() + words[1:] if like[:1].isupper() else words
