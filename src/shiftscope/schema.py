"""Schema: the words a family of scenes is described in, and how their meanings contain each other.

Meaning (`values`, `kinds`) is kept apart from wording (`synonyms`): "ball" is another way to say
"sphere", whereas a sedan *is* a car.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Self

from .errors import unknown
from .records import AS_OBJECT, from_json, to_json

Words = Annotated[tuple[tuple[str, tuple[str, ...]], ...], AS_OBJECT]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One property a thing has one value of, and the kinds that contain several values."""

    name: str
    values: tuple[str, ...]
    kinds: Words = ()  # (kind, the values it contains)

    @property
    def terms(self) -> tuple[str, ...]:
        """Everything a filter may ask for: the values, then the kinds."""
        return self.values + tuple(kind for kind, _ in self.kinds)

    def kinds_of(self, value: str) -> tuple[str, ...]:
        return tuple(kind for kind, members in self.kinds if value in members)


@dataclass(frozen=True, slots=True)
class Schema:
    """Closed vocabularies of objects, parts and relations; an open schema lets any word through."""

    name: str
    attributes: tuple[Attribute, ...] = ()  # in the order a description is worded: size, color, …
    part_attributes: tuple[Attribute, ...] = ()
    relations: tuple[str, ...] = ()
    synonyms: Words = ()  # (value, the words for it), wording only
    parts: Words = ()  # (value that a noun names, the names of the parts such a thing can have), if known
    closed: bool = True

    def __hash__(self) -> int:
        return hash(self.name)

    def attribute(self, name: str, *, part: bool = False) -> Attribute:
        """The attribute of that name, of objects or of parts."""
        for attribute in self.part_attributes if part else self.attributes:
            if attribute.name == name:
                return attribute
        options = [a.name for a in (self.part_attributes if part else self.attributes)]
        raise unknown("part attribute" if part else "attribute", name, options, f"schema {self.name}")

    def attribute_of(self, value: str) -> str | None:
        """The first attribute one of whose values or kinds this is: `white` → `color`."""
        return next((a.name for a in self.attributes if value in a.terms), None)

    def kinds_of(self, attribute: str, value: str, *, part: bool = False) -> tuple[str, ...]:
        """The kinds that contain the value; none for a word the schema does not know."""
        for candidate in self.part_attributes if part else self.attributes:
            if candidate.name == attribute:
                return candidate.kinds_of(value)
        return ()

    def canonical(self, word: str) -> str:
        """The value a synonym stands for, or the word itself."""
        return next((value for value, words in self.synonyms if word in words), word)

    def to_json(self) -> dict[str, Any]:
        data = to_json(self)
        return {"name": data.pop("name"), "closed": data.pop("closed"), **data}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        return from_json(cls, data)


OPEN = Schema("open", closed=False)
