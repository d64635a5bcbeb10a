"""Vocabulary: every term that a slot may hold, objects' first and then parts', as numbers for the search."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ...english.synonyms import Lexicon, noun_attribute
from ...scene_table import Terms
from ...schema import Schema, Words

Numbers = NDArray[np.int64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class SlotVocabulary:
    """One numbering for the terms, and one for the attributes (columns), of objects and parts."""

    schema: Schema
    names: tuple[str, ...]  # [term]
    columns: tuple[tuple[str, bool], ...]  # (attribute, whether of parts)
    objects: int  # number of object terms; part terms follow
    sayings: Numbers  # [term, …] how many terms a value may be called by, and which
    offers: Numbers  # [column, …] how many terms a description may use, and which
    span: Numbers  # [column, 2] first term, number of terms
    covers: Truths  # [term, term] whether all that fits the second also fits the first
    value: Numbers  # [term] the object term of the same attribute and value, where there is one
    answer: Truths  # [term] whether it is the first of its attribute with its words
    nouns: tuple[int, ...]  # the columns that nouns name: of objects, of parts
    can_have: Truths  # [term, term] whether something that the first noun names may have a part so named
    outright: Truths  # [term] whether all it takes in is called by its words: the front left wheel, not a front wheel

    @classmethod
    @lru_cache(maxsize=4)  # questions about objects and about parts have the same
    def from_schema(cls, schema: Schema, synonyms: Words = ()) -> Self:
        """The vocabulary of a schema, worded as in `Lexicon(schema, synonyms)`.

        A term that reads like a wider one is not said: `wheel_front` of a bicycle, since the front left
        wheel of a car is a front wheel too. Of two values that read alike only the first is an answer.
        """
        terms, part_terms = Terms.of(schema.attributes), Terms.of(schema.part_attributes)
        start = len(terms.names)
        attributes = [(a, terms, 0) for a in schema.attributes]
        attributes += [(a, part_terms, start) for a in schema.part_attributes]
        kinds: list[list[int]] = []
        members: list[frozenset[int]] = []
        value: list[int] = []
        span: list[tuple[int, int]] = []
        for a, known, offset in attributes:
            code = {term: known.code[a.name, term] + offset for term in a.terms}
            inside = dict(a.kinds)
            span.append((len(kinds), len(a.terms)))
            for term in a.terms:
                kinds.append([code[k] for k in a.kinds_of(term)] if term in a.values else [])
                members.append(frozenset(code[v] for v in inside.get(term, (term,)) if v in code))
                value.append(terms.code.get((a.name, term), code[term]))
        names = terms.names + part_terms.names
        kinds_of_things = ((schema.attributes, False), (schema.part_attributes, True))
        columns = tuple((a.name, part) for of, part in kinds_of_things for a in of)
        lexicon = Lexicon(schema, synonyms)
        words = [set(lexicon.list_synonyms(n)) for n in names]
        said, answer = _find_unambiguous(words, members, span)
        return cls(
            schema=schema,
            names=names,
            columns=columns,
            objects=start,
            sayings=_pad_rows([[c for c in (t, *kinds[t]) if said[c]] or [t] for t in range(len(names))]),
            offers=_pad_rows([[t for t in range(first, first + size) if said[t]] for first, size in span]),
            span=np.array(span, np.int64).reshape(-1, 2),
            covers=np.array([[bool(b) and b <= a for b in members] for a in members], np.bool_),
            value=np.array(value, np.int64),
            answer=answer,
            nouns=tuple(columns.index((noun_attribute(of), part)) for of, part in kinds_of_things if of),
            can_have=_compute_part_compatibility(schema, names, start, members),
            outright=np.array(
                [all(words[c] & ways for c in m) for ways, m in zip(words, members, strict=True)], np.bool_
            ),
        )

    def terms(self, column: int) -> range:
        first, size = self.span[column].tolist()
        return range(first, first + size)


def _compute_part_compatibility(
    schema: Schema, names: tuple[str, ...], parts_from: int, members: list[frozenset[int]]
) -> Truths:
    """All True where the schema does not know which parts its things have."""
    if not schema.parts:
        return np.ones((len(names), len(names)), np.bool_)
    known = {value: set(parts) for value, parts in schema.parts}
    owned = [{p for v in m for p in known.get(names[v], ())} for m in members[:parts_from]]
    meant = [{names[v] for v in m} for m in members]
    found = np.zeros((len(names), len(names)), np.bool_)
    found[:parts_from, parts_from:] = [[bool(has & part) for part in meant[parts_from:]] for has in owned]
    return found


def _find_unambiguous(
    words: list[set[str]], members: list[frozenset[int]], span: list[tuple[int, int]]
) -> tuple[Truths, Truths]:
    """(which terms no wider one reads like, which values no earlier one reads like)"""
    said, answer = np.ones(len(words), np.bool_), np.ones(len(words), np.bool_)
    for first, size in span:
        for t in range(first, first + size):
            alike = [u for u in range(first, first + size) if u != t and words[u] & words[t]]
            said[t] = bool(members[t]) and not any(members[t] < members[u] for u in alike)
            answer[t] = members[t] == {t} and not any(members[u] == {u} for u in alike if u < t)
    return said, answer


def _pad_rows(rows: list[list[int]]) -> Numbers:
    """[row, …] how many numbers a row has, and which."""
    widest = max(map(len, rows), default=0)
    return np.array([[len(r), *r, *[0] * (widest - len(r))] for r in rows], np.int64)
