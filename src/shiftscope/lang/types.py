"""Types of the program language, and which type may stand where another is wanted."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Type:
    """A named type; `of` says which attribute a Value belongs to."""

    name: str
    of: str = ""

    def __str__(self) -> str:
        return f"{self.name}[{self.of}]" if self.of else self.name


OBJECTS = Type("Objects")  # a set
OBJECT = Type("Object")  # exactly one
PARTS = Type("Parts")
PART = Type("Part")
IMAGES = Type("Images")
GROUPS = Type("Groups")  # objects, grouped by the image they are in
INT = Type("Int")
BOOL = Type("Bool")
VALUE = Type("Value")  # as an input: a value of any attribute; as an output: of the attribute named
THING = Type("Thing")  # a description of an object that need not exist

SET_OF = {OBJECT: OBJECTS, PART: PARTS}
SCENE_TYPES = frozenset({OBJECTS, OBJECT, PARTS, PART, IMAGES, GROUPS})  # tied to one state of the scene


def fits(given: Type, wanted: Type) -> bool:
    """Whether a value of one type may be used as another: one object is also a set of one."""
    return given == wanted or SET_OF.get(given) == wanted or (wanted == VALUE and given.name == "Value")
