"""CLEVR: three solids in two sizes, eight colours and two materials."""

from ..schema import Attribute, Schema

SIZE = Attribute("size", ("small", "large"))
COLOR = Attribute("color", ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow"))
MATERIAL = Attribute("material", ("rubber", "metal"))
SYNONYMS = (
    *(("large", ("big",)), ("small", ("tiny",)), ("metal", ("metallic", "shiny"))),
    *(("rubber", ("matte",)), ("gray", ("grey",))),
)

SCHEMA = Schema(
    name="clevr",
    attributes=(SIZE, COLOR, MATERIAL, Attribute("shape", ("cube", "sphere", "cylinder"))),
    relations=("left", "right", "behind", "front"),
    synonyms=(("sphere", ("ball",)), ("cube", ("block",)), *SYNONYMS),
)
