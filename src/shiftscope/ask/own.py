"""Our own templates for a schema: CLEVR's nine groups of families in our own words, and five about parts."""

from __future__ import annotations

from functools import lru_cache

from ..catalog import Catalog
from ..errors import UserError
from ..schema import Schema
from .template import TemplateSet, check_template

GROUPS = Catalog("template group", "shiftscope.ask.templates")
PART_GROUPS = Catalog("part template group", "shiftscope.ask.part_templates")


@lru_cache(maxsize=16)
def own_templates(schema: Schema) -> TemplateSet:
    """Every family about objects that the schema has attributes and relations for; 90 for CLEVR's."""
    if not schema.attributes or not schema.closed:
        raise UserError(f"schema {schema.name} has no closed attributes to ask about")
    return TemplateSet(
        tuple(check_template(t) for name in GROUPS.names() for t in GROUPS.load(name).templates(schema))
    )


@lru_cache(maxsize=16)
def own_part_templates(schema: Schema) -> TemplateSet:
    """The families about parts, 36 for Super-CLEVR's; their questions are told apart by the name `part`."""
    if not schema.part_attributes or not schema.closed:
        raise UserError(f"schema {schema.name} has no closed attributes of parts to ask about")
    made = tuple(
        check_template(t) for name in PART_GROUPS.names() for t in PART_GROUPS.load(name).templates(schema)
    )
    return TemplateSet(made, name="part")
