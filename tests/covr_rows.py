"""COVR rows for tests: a short way to write them, random ones, and what they mean, worked out on plain lists."""

from __future__ import annotations

import json
import operator
import re
from typing import Any

from hypothesis import strategies as st

from shiftscope.scene import Scene

Rows = list[dict[str, Any]]
TESTS = {"eq": operator.eq, "gt": operator.gt, "lt": operator.lt, "geq": operator.ge, "leq": operator.le}
NAMES = ("man", "dog", "hat", "table", "cup")
WORDS = ("black", "white", "red", "large", "small")
RELATIONS = ("holding", "wearing", "near", "on")
UNREAD = ("with", "to the left of", "to the right of")  # by `relation_between_nouns`


def rows(*lines: str) -> Rows:
    """`rows("find hat", "find man", "with_relation wearing [1, 0]")`; JSON where a word is not plain."""
    made = []
    for line in lines:
        operation, words, inputs = re.fullmatch(r"(\w+) ?(.*?) ?(\[[\d, ]+\])?", line).groups()
        row: dict[str, Any] = {"operation": operation}
        if words:
            row["arguments"] = [_word(w) for w in words.split(", ")]
        if inputs:
            row["dependencies"] = json.loads(inputs)
        made.append(row)
    return made


def _word(text: str) -> Any:
    return json.loads(text) if re.match(r'[\d"\[{]|null', text) else text


def quantified(operation: str, first: list[Any], sub: Rows, *inputs: int) -> Rows:
    return [{"operation": operation, "arguments": [*first, sub], "dependencies": list(inputs)}]


class IllFounded(Exception):
    """No answer, in the words of whoever asks."""


def answer_of(program: Rows, scenes: tuple[Scene, ...]) -> Any:
    """What the original operations give, on (image, object) pairs; an IllFounded where there is no answer."""
    things = [(k, i) for k, scene in enumerate(scenes) for i in range(len(scene.objects))]

    def values(thing: tuple[int, int], attribute: str) -> list[str]:
        return [v for a, v in scenes[thing[0]].objects[thing[1]].attributes if a == attribute]

    def holds(subject: tuple[int, int], relation: str, target: tuple[int, int]) -> bool:
        found = scenes[subject[0]].relation(relation)
        return subject[0] == target[0] and found is not None and bool(found[target[1]] >> subject[1] & 1)

    def of_family(thing: tuple[int, int], family: str) -> list[str]:
        schema = scenes[thing[0]].schema
        return [v for v in values(thing, "attribute") if v in schema.attribute(family).values]

    def only(found: list[Any]) -> Any:
        if len(found) != 1:
            raise IllFounded
        return found[0]

    def choose(options: list[str], has: Any) -> str:
        return only([option for option in options if has(option)])

    done: list[Any] = []
    for row in program:
        given = [done[i] for i in row.get("dependencies", [])]
        words = row.get("arguments", [])
        operation = row["operation"]
        match operation:
            case "scene":
                out: Any = things
            case "find":
                names = words[0] if isinstance(words[0], list) else words
                out = [t for t in things if values(t, "name")[0] in names]
            case "filter":
                wanted = words[0] if isinstance(words[0], list) else words
                out = [t for t in given[0] if set(wanted) & set(values(t, "attribute"))]
            case "with_relation" | "with_relation_object":
                left, right = given if len(given) == 2 else (given[0], things)
                pairs = [(a, b) for a in left for b in right if holds(a, words[-1], b)]
                out = sorted({pair[operation == "with_relation_object"] for pair in pairs})
            case "unique":
                out = only(given[0])
            case "assert_unique":
                out = [only(given[0])]
            case "unique_images":
                out = sorted({image for image, _ in given[0]})
            case "group_by_images":
                out = {k: [t for t in given[0] if t[0] == k] for k, _ in given[0]}
            case "keys":
                out = list(given[0])
            case "count":
                out = len(given[0])
            case "exists":
                out = bool(given[0])
            case "logic_and":
                out = given[0] and given[1]
            case "logic_or":
                out = given[0] or given[1]
            case "query_name":
                out = given[0] if isinstance(given[0], str) else values(given[0], "name")[0]
            case "query_attr":
                out = only(of_family(given[0], words[0]))
            case "all_same":
                known = [set(of_family(t, words[0])) for t in given[0]]
                out = all(one & known[0] for one in known)
            case "verify_attr":
                out = words[0] in values(given[0], "attribute")
            case "choose_name":
                out = choose(words, lambda w, one=given[0]: w in values(one, "name"))
            case "choose_attr":
                out = choose(words, lambda w, one=given[0]: w in values(one, "attribute"))
            case "relation_between_nouns":
                names = [relation.name for relation in scenes[given[0][0]].relations]
                out = [r for r in names if r not in UNREAD for b in given[1] if holds(given[0], r, b)]
            case "choose_relation":
                out = choose(words, lambda w, found=given[0]: w == found)
            case "all" | "some" | "none":
                true = answer_of(words[0], scenes)
                each = [t in true for t in given[0]]
                out = {"all": all(each), "some": any(each), "none": not any(each)}[operation]
            case _ if operation in TESTS:
                out = TESTS[operation](*given, *words)
            case _:
                test = TESTS[operation.removeprefix("keep_if_values_count_")]
                out = {k: found for k, found in given[0].items() if test(len(found), words[0])}
        done.append(out)
    return done[-1]


names, words, relations = st.sampled_from(NAMES), st.sampled_from(WORDS), st.sampled_from(RELATIONS)
tests = st.sampled_from(sorted(TESTS))


class Draft:
    """Random rows in the making."""

    def __init__(self, draw: Any) -> None:
        self.draw, self.rows = draw, []

    def put(self, operation: str, arguments: list[Any] | None = None, *inputs: int) -> int:
        row: dict[str, Any] = {"operation": operation}
        if arguments:
            row["arguments"] = arguments
        if inputs:
            row["dependencies"] = list(inputs)
        self.rows.append(row)
        return len(self.rows) - 1

    def value(self, options: Any) -> Any:
        one = self.draw(options)
        return [one, *self.draw(st.lists(options, max_size=2))] if self.draw(st.integers(0, 9)) == 0 else one

    def objects(self, depth: int, whole: bool = False) -> int:
        """Rows of a set; with `whole`, one that starts with the scene."""
        if depth == 0:
            return self.put("scene") if whole else self.put("find", [self.value(names)])
        first = self.draw(st.booleans())  # which side is told first
        match self.draw(st.integers(0, 5)):
            case 0 | 1:
                return self.put("filter", [self.value(words)], self.objects(depth - 1, whole))
            case 2:
                return self.put("with_relation", [None, self.draw(relations)], self.objects(depth - 1, whole))
            case 3:
                return self.put("with_relation_object", [self.draw(relations)], *self.two(depth - 1, whole, not first))
            case _:
                return self.put("with_relation", [self.draw(relations)], *self.two(depth - 1, whole, first))

    def two(self, depth: int, whole: bool, first: bool) -> tuple[int, int]:
        if first:
            one = self.objects(depth, whole)
            return one, self.objects(0)
        other = self.objects(0)
        return self.objects(depth, whole), other

    def one(self) -> int:
        return self.put("unique", None, self.objects(self.draw(st.integers(0, 2))))

    def number(self) -> int:
        found = self.objects(self.draw(st.integers(0, 2)))
        match self.draw(st.integers(0, 2)):
            case 0:
                found = self.put("unique_images", None, found)
            case 1:
                found = self.put("group_by_images", None, found)
                found = self.put(f"keep_if_values_count_{self.draw(tests)}", [self.draw(st.integers(0, 3))], found)
                found = self.put("keys", None, found) if self.draw(st.booleans()) else found
        return self.put("count", None, found)

    def quantifier(self) -> int:
        among = self.objects(self.draw(st.integers(0, 1)))
        sub = Draft(self.draw)
        sub.objects(self.draw(st.integers(1, 2)), whole=self.draw(st.integers(0, 3)) > 0)
        return self.put(self.draw(st.sampled_from(["all", "some", "none"])), [sub.rows], among)

    def truth(self, depth: int) -> int:
        match self.draw(st.integers(0, 5)):
            case 0 if depth:
                both = self.truth(depth - 1), self.truth(depth - 1)
                return self.put(self.draw(st.sampled_from(["logic_and", "logic_or"])), None, *both)
            case 1 | 2:
                return self.quantifier()
            case 3:
                return self.put("verify_attr", [self.draw(words)], self.one())
            case 4:
                both = self.number(), self.number()
                return self.put(self.draw(tests), None, *both)
            case 5:
                return self.put(self.draw(tests), [self.draw(st.integers(0, 3))], self.number())
            case _:
                return self.put("exists", None, self.objects(self.draw(st.integers(0, 2))))


@st.composite
def programs(draw: Any) -> Rows:
    """A random typed program of the original operations."""
    draft = Draft(draw)
    match draw(st.integers(0, 5)):
        case 0:
            draft.number()
        case 1:
            draft.put("query_name", None, draft.one())
        case 2:
            draft.put("choose_name", ["man", "dog"], draft.one())
        case 3:
            draft.put("choose_attr", ["red", "black"], draft.one())
        case 4:
            found = draft.put("relation_between_nouns", None, draft.one(), draft.objects(0))
            found = draft.put("query_name", None, draft.put("unique", None, found))
            draft.put("choose_relation", ["holding", "wearing"], found)
        case _:
            draft.truth(2)
    return draft.rows


def _sets() -> Any:
    """Texts of sets in our notation, with `it()` in them or not."""
    roles = st.sampled_from(["", ", object"])
    found = names.map(lambda n: f"find({n})")
    free = st.one_of(
        found,
        st.builds("filter({}, attribute={})".format, found, words),
        st.builds("related({}, {}{})".format, found, relations, roles),
        st.builds("intersect({}, related({}, {}))".format, found, found, relations),
    )
    return free, st.recursive(
        st.just("it()"),
        lambda inner: st.one_of(
            st.builds("filter({}, attribute={})".format, inner, words),
            st.builds("filter({}, name={})".format, inner, names),
            st.builds("intersect({}, {})".format, inner, free),
            st.builds("intersect({}, {})".format, free, inner),
            st.builds("related({}, {}{})".format, inner, relations, roles),
        ),
        max_leaves=5,
    )


FREE_SETS, SETS_OF_IT = _sets()
TRUTHS_OF_IT = st.one_of(
    st.builds("exist({})".format, SETS_OF_IT),
    st.builds("and(verify(it(), attribute={}), exist({}))".format, words, SETS_OF_IT),
)
