"""Vocabulary: every term that a slot may hold, objects' first and then parts', as numbers for the search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..scenetable import Terms
from ..schema import Schema

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """One numbering for the terms, and one for the attributes (columns), of objects and parts."""

    schema: Schema
    names: tuple[str, ...]  # [term]
    columns: tuple[tuple[str, bool], ...]  # (attribute, whether of parts)
    objects: int  # number of object terms; part terms follow
    wider: Numbers  # [term, …] how many kinds contain the value, and which
    span: Numbers  # [column, 2] first term, number of terms
    covers: NDArray[np.bool_]  # [term, term] whether all that fits the second also fits the first
    value: Numbers  # [term] the object term of the same attribute and value, where there is one

    @classmethod
    def of(cls, schema: Schema) -> Vocabulary:
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
        widest = max(map(len, kinds), default=0)
        return cls(
            schema=schema,
            names=terms.names + part_terms.names,
            columns=tuple((a.name, known is part_terms) for a, known, _ in attributes),
            objects=start,
            wider=np.array([[len(k), *k, *[0] * (widest - len(k))] for k in kinds], np.int64),
            span=np.array(span, np.int64).reshape(-1, 2),
            covers=np.array([[b <= a for b in members] for a in members], np.bool_),
            value=np.array(value, np.int64),
        )

    def apart(self, a: int, b: int) -> bool:
        """Whether nothing can fit both terms, of one attribute."""
        both = self.covers[a] & self.covers[b]
        return not bool(both.any())

    def terms(self, column: int) -> range:
        first, size = self.span[column].tolist()
        return range(first, first + size)
