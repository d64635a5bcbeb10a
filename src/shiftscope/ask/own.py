"""Our own templates for a schema: CLEVR's nine groups of families in our own words."""

from __future__ import annotations

from functools import lru_cache

from ..catalog import Catalog
from ..errors import UserError
from ..schema import Schema
from .template import TemplateSet, check_template

GROUPS = Catalog("template group", "shiftscope.ask.templates")


@lru_cache(maxsize=16)
def own_templates(schema: Schema) -> TemplateSet:
    """Every family that the schema has attributes and relations for; 90 for CLEVR's."""
    if not schema.attributes or not schema.closed:
        raise UserError(f"schema {schema.name} has no closed attributes to ask about")
    return TemplateSet(
        tuple(check_template(t) for name in GROUPS.names() for t in GROUPS.load(name).templates(schema))
    )
