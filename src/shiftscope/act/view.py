"""View: one state of a scene, looked at to point out objects: which names are true of which alone."""

from __future__ import annotations

from functools import cache, cached_property

from .ref import ATTRIBUTES, SUBSETS, Pairs
from .stage import COLUMN, TERMS, Stage

_PAIR = {code: pair for pair, code in TERMS.code.items()}
_COLUMNS = tuple(COLUMN[a] for a in ATTRIBUTES)


class View:
    """A scene in arrays, and what can be said of its objects."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.size = stage.n
        self.everything = (1 << self.size) - 1
        self._masks: list[int] = stage.sets[: len(TERMS.names)].tolist()  # by code
        told = stage.codes[: self.size].tolist()
        self._codes: list[tuple[int, ...]] = [
            tuple([row[c] for c in _COLUMNS]) for row in told
        ]  # in the order they are said
        self._names: dict[int, list[Pairs]] = {}
        self._rows: dict[str, list[int]] = {}

    def value(self, i: int, attribute: str) -> str:
        return TERMS.names[self._codes[i][ATTRIBUTES.index(attribute)]]

    def pairs(self, i: int, attributes: tuple[str, ...] = ATTRIBUTES) -> Pairs:
        """What the object is, as far as these attributes go."""
        return _pairs(self._codes[i], attributes)

    def fits(self, pairs: Pairs) -> int:
        """The objects that all of this is true of."""
        found = self.everything
        for pair in pairs:
            found &= self._masks[TERMS.code[pair]]
        return found

    def names(self, i: int) -> list[Pairs]:
        """Every description, short or long, that is true of this object alone."""
        if i not in self._names:
            own = [self._masks[code] for code in self._codes[i]]
            fits = [self.everything]  # by the attributes told, as bits
            for mask in own:
                fits += [found & mask for found in fits]
            alone = 1 << i
            self._names[i] = [
                self.pairs(i, SUBSETS[bits - 1]) for bits in range(1, 16) if fits[bits] == alone
            ]
        return self._names[i]

    @cached_property
    def nameable(self) -> int:
        """The objects that some description is true of alone."""
        masks, found = self._masks, 0
        for i, (a, b, c, d) in enumerate(self._codes):
            if masks[a] & masks[b] & masks[c] & masks[d] == 1 << i:
                found |= 1 << i
        return found

    def rows(self, relation: str) -> list[int]:
        """Which objects are in that relation to each."""
        if relation not in self._rows:
            self._rows[relation] = self.stage.rows(relation)
        return self._rows[relation]

    @cached_property
    def touched(self) -> int:
        """The objects that an action before put, changed or moved."""
        return self.stage.fresh()

    @cached_property
    def carried(self) -> int:
        """The objects that rest on another."""
        found = 0
        for row in self.rows("on"):
            found |= row
        return found

    @cached_property
    def carriers(self) -> int:
        """The objects that another rests on."""
        return sum(1 << i for i, row in enumerate(self.rows("on")) if row)


@cache
def _pairs(codes: tuple[int, ...], attributes: tuple[str, ...]) -> Pairs:
    return tuple([_PAIR[codes[ATTRIBUTES.index(a)]] for a in attributes])
