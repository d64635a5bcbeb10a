"""Schema: the words a family of scenes is described in, and how their meanings contain each other.

Meaning (`values`, `kinds`) is kept apart from wording (`synonyms`): "ball" is another way to say
"sphere", whereas a sedan *is* a car.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .errors import unknown

Words = tuple[tuple[str, tuple[str, ...]], ...]


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
        for attribute in self.attributes:
            if value in attribute.terms:
                return attribute.name
        return None

    def kinds_of(self, attribute: str, value: str, *, part: bool = False) -> tuple[str, ...]:
        """The kinds that contain the value; none for a word the schema does not know."""
        for candidate in self.part_attributes if part else self.attributes:
            if candidate.name == attribute:
                return candidate.kinds_of(value)
        return ()

    def canonical(self, word: str) -> str:
        """The value a synonym stands for, or the word itself."""
        for value, words in self.synonyms:
            if word in words:
                return value
        return word

    def to_json(self) -> dict[str, Any]:
        def attribute(a: Attribute) -> dict[str, Any]:
            return {"name": a.name, "values": list(a.values), "kinds": {k: list(v) for k, v in a.kinds}}

        return {
            "name": self.name,
            "closed": self.closed,
            "attributes": [attribute(a) for a in self.attributes],
            "part_attributes": [attribute(a) for a in self.part_attributes],
            "relations": list(self.relations),
            "synonyms": {value: list(words) for value, words in self.synonyms},
            "parts": {value: list(names) for value, names in self.parts},
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Schema:
        def attribute(a: dict[str, Any]) -> Attribute:
            kinds = tuple((k, tuple(v)) for k, v in a.get("kinds", {}).items())
            return Attribute(a["name"], tuple(a["values"]), kinds)

        return cls(
            name=data["name"],
            closed=data.get("closed", True),
            attributes=tuple(map(attribute, data.get("attributes", ()))),
            part_attributes=tuple(map(attribute, data.get("part_attributes", ()))),
            relations=tuple(data.get("relations", ())),
            synonyms=tuple((k, tuple(v)) for k, v in data.get("synonyms", {}).items()),
            parts=tuple((k, tuple(v)) for k, v in data.get("parts", {}).items()),
        )


OPEN = Schema("open", closed=False)
