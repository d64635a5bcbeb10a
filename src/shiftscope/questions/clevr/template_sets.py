"""Template sets: the built-in templates of a schema, and template files in the official format.

Built in are CLEVR's nine groups of families in our own words, and four groups about parts. A user's templates
are a JSON list, or a folder of such files; `synonyms.json` is looked for in the folder and beside it, and
`metadata.json` is not needed, because our language knows the functions and the schema the vocabulary.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from ... import json_files as _json
from ...errors import UserError
from ...schema import Schema
from .part_templates import PART_TEMPLATE_GROUPS
from .template import Template, TemplateConstraint, TemplateNode, TemplateSet, TemplateSlot, check_template
from .templates import TEMPLATE_GROUPS, build_templates


@lru_cache(maxsize=16)
def builtin_templates(schema: Schema) -> TemplateSet:
    """Every family about objects that the schema has attributes and relations for; 90 for CLEVR's."""
    if not schema.attributes or not schema.closed:
        raise UserError(f"schema {schema.name} has no closed attributes to ask about")
    return TemplateSet(tuple(build_templates(TEMPLATE_GROUPS, schema)))


@lru_cache(maxsize=16)
def builtin_part_templates(schema: Schema) -> TemplateSet:
    """The families about parts, 33 for Super-CLEVR's; the name `part` is in the ids of their questions."""
    if not schema.part_attributes or not schema.closed:
        raise UserError(f"schema {schema.name} has no closed attributes of parts to ask about")
    return TemplateSet(tuple(build_templates(PART_TEMPLATE_GROUPS, schema)), name="part")


# Template files in the official format.

SYNONYMS_FILE = "synonyms.json"
LONGEST_SHOWN = 60
META = "_meta"
NOT_TEMPLATES = re.compile(r"synonyms|metadata(_\w+)?")  # names of files


def load_templates(path: Path | str) -> TemplateSet:
    """The templates of a file or folder, each checked, with the synonyms found beside them."""
    path = Path(path)
    folder = path if path.is_dir() else path.parent
    files = [path]
    if path.is_dir():
        files = sorted(f for f in path.glob("*.json") if not NOT_TEMPLATES.fullmatch(f.stem))
    found = tuple(template for file in files for template in _read_file(file))
    if not found:
        raise UserError(f"{path}: there are no templates in it")
    for place in (folder, folder.parent):
        if (file := place / SYNONYMS_FILE).is_file():
            data = _json.load_json(file)
            fine = isinstance(data, dict) and all(
                isinstance(words, list) and words and all(isinstance(w, str) and w.strip() for w in words)
                for words in data.values()
            )
            if not fine:
                raise UserError(f"{file}: synonyms are an object of word: [ways to say it]")
            return TemplateSet(found, tuple((word, tuple(words)) for word, words in data.items()))
    return TemplateSet(found)


def _read_file(file: Path) -> list[Template]:
    data = _json.load_json(file)
    rows = data if isinstance(data, list) else [data]
    if file.stem.endswith("_meta") or any(isinstance(raw, dict) and META in raw for raw in rows):
        raise UserError(f"{file}: _meta template files are not supported; give a list of templates without it")
    if not isinstance(data, list):
        raise UserError(f"{file}: a template file is a list of templates")
    templates = []
    for family, raw in enumerate(data):
        where = f"{file}: template {family}"
        try:
            template = template_from_json(raw, file.name, family)
        except MalformedTemplate as error:
            raise UserError(f"{where} is malformed: {error}") from None
        templates.append(check_template(template, where))
    return templates


class MalformedTemplate(ValueError):
    """A template that does not have the fields it needs."""


ListKind = tuple[str, tuple[type, ...], str]  # what a list holds, their types, and the error for anything else
RECORDS: ListKind = ("objects", (object,), "")  # `_read_records` looks at each
TEXTS: ListKind = ("texts", (str,), " must be a list of texts, and has {} in it")
NODE_NUMBERS: ListKind = ("node numbers", (int,), ": expected the number of a node, got {}")
SLOTS_OR_NODES: ListKind = ("slots or node numbers", (str, int), ": expected a slot or the number of a node, got {}")


def template_from_json(raw: Any, file: str, family: int) -> Template:
    """A template record from one template of a file; its shape is checked, its sense is not."""
    if not isinstance(raw, dict):
        raise MalformedTemplate("a template is an object with params, text, nodes and constraints")
    texts = raw.get("text")
    return Template(
        file=file,
        family=family,
        texts=(texts,) if isinstance(texts, str) else _read_list(raw, "text", "it", TEXTS),
        params=tuple(
            TemplateSlot(_read_text(p, "name", w), _read_text(p, "type", w)) for p, w in _read_records(raw, "params")
        ),
        nodes=tuple(
            TemplateNode(
                _read_text(n, "type", w),
                _read_list(n, "inputs", w, NODE_NUMBERS, needed=False),
                _read_list(n, "side_inputs", w, TEXTS, needed=False),
            )
            for n, w in _read_records(raw, "nodes")
        ),
        constraints=tuple(
            TemplateConstraint(_read_text(c, "type", w), _read_list(c, "params", w, SLOTS_OR_NODES))
            for c, w in _read_records(raw, "constraints", needed=False)
        ),
    )


def _read_records(raw: dict[str, Any], field: str, needed: bool = True) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects in a list, each with what to call it: `node 2`."""
    for number, entry in enumerate(_read_list(raw, field, "it", RECORDS, needed)):
        where = f"{field.removesuffix('s')} {number}"
        if not isinstance(entry, dict):
            raise MalformedTemplate(f"{where} must be an object, got {_abbreviate(entry)}")
        yield entry, where


def _read_list(raw: dict[str, Any], field: str, where: str, kind: ListKind, needed: bool = True) -> tuple[Any, ...]:
    of, types, wrong = kind
    if field not in raw and not needed:
        return ()
    found = _read_field(raw, field, where, list, f"a list of {of}")
    for value in found:
        if not isinstance(value, types) or (int in types and isinstance(value, bool)):
            raise MalformedTemplate(f"{field!r} in {where}{wrong.format(_abbreviate(value))}")
    return tuple(found)


def _read_text(raw: dict[str, Any], field: str, where: str) -> str:
    return str(_read_field(raw, field, where, str, "a text"))


def _read_field(raw: dict[str, Any], field: str, where: str, type_: type, what: str) -> Any:
    if field not in raw:
        raise MalformedTemplate(f"there is no {field!r} in {where}")
    if not isinstance(raw[field], type_):
        raise MalformedTemplate(f"{field!r} in {where} must be {what}, got {_abbreviate(raw[field])}")
    return raw[field]


def _abbreviate(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
