"""Template files in the official format: a JSON list of templates, or a folder of such files.

`synonyms.json` is looked for in the folder and beside it; `metadata.json` (or `metadata_part.json`) is not
needed, because our language knows the functions and the schema the vocabulary.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..formats import _json
from ..schema import Words
from .template import Constraint, Slot, Template, TemplateNode, TemplateSet, check_template

SYNONYMS = "synonyms.json"
LONGEST_SHOWN = 60
NOT_TEMPLATES = re.compile(r"synonyms|metadata(_\w+)?")  # names of files


def load_templates(path: Path | str) -> TemplateSet:
    """The templates of a file or folder, each checked, with the synonyms found beside them."""
    path = Path(path)
    folder = path if path.is_dir() else path.parent
    files = [path]
    if path.is_dir():
        files = sorted(f for f in path.glob("*.json") if not NOT_TEMPLATES.fullmatch(f.stem))
    found = tuple(template for file in files for template in _read(file))
    if not found:
        raise UserError(f"{path}: there are no templates in it")
    for place in (folder, folder.parent):
        if (place / SYNONYMS).is_file():
            return TemplateSet(found, _synonyms(place / SYNONYMS))
    return TemplateSet(found)


def _read(file: Path) -> list[Template]:
    data = _json.load(file)
    if not isinstance(data, list):
        raise UserError(f"{file}: a template file is a list of templates")
    templates = []
    for family, raw in enumerate(data):
        where = f"{file}: template {family}"
        try:
            template = template_from(raw, file.name, family)
        except Malformed as error:
            raise UserError(f"{where} is malformed: {error}") from None
        templates.append(check_template(template, where))
    return templates


class Malformed(ValueError):
    """A template that does not have the fields it needs."""


def template_from(raw: Any, file: str, family: int) -> Template:
    """A template record from one template of a file; its shape is checked, its sense is not."""
    if not isinstance(raw, dict):
        raise Malformed("a template is an object with params, text, nodes and constraints")
    texts = raw.get("text")
    return Template(
        file=file,
        family=family,
        texts=(texts,) if isinstance(texts, str) else _texts(raw, "text", "it"),
        params=tuple(Slot(_text(p, "name", w), _text(p, "type", w)) for p, w in _records(raw, "params")),
        nodes=tuple(
            TemplateNode(
                _text(n, "type", w),
                tuple(_number(i, w) for i in _list(n, "inputs", w, "node numbers", needed=False)),
                _texts(n, "side_inputs", w, needed=False),
            )
            for n, w in _records(raw, "nodes")
        ),
        constraints=tuple(
            Constraint(_text(c, "type", w), _constrained(c, w))
            for c, w in _records(raw, "constraints", needed=False)
        ),
    )


def template_to(template: Template) -> dict[str, Any]:
    """The template as the official files have it."""
    return {
        "params": [{"type": p.type, "name": p.name} for p in template.params],
        "text": list(template.texts),
        "nodes": [
            {"type": n.function, "inputs": list(n.inputs)}
            | ({"side_inputs": list(n.slots)} if n.slots else {})
            for n in template.nodes
        ],
        "constraints": [{"type": c.type, "params": list(c.params)} for c in template.constraints],
    }


def _records(raw: dict[str, Any], field: str, needed: bool = True) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects in a list, each with what to call it: `node 2`."""
    for number, entry in enumerate(_list(raw, field, "it", "objects", needed)):
        where = f"{field.removesuffix('s')} {number}"
        if not isinstance(entry, dict):
            raise Malformed(f"{where} must be an object, came {_shown(entry)}")
        yield entry, where


def _list(raw: dict[str, Any], field: str, where: str, of: str, needed: bool = True) -> list[Any]:
    if field not in raw and not needed:
        return []
    value = _field(raw, field, where)
    if not isinstance(value, list):
        raise Malformed(f"{field!r} in {where} must be a list of {of}, came {_shown(value)}")
    return value


def _texts(raw: dict[str, Any], field: str, where: str, needed: bool = True) -> tuple[str, ...]:
    found = _list(raw, field, where, "texts", needed)
    for value in found:
        if not isinstance(value, str):
            raise Malformed(f"{field!r} in {where} must be a list of texts, and has {_shown(value)} in it")
    return tuple(found)


def _text(raw: dict[str, Any], field: str, where: str) -> str:
    value = _field(raw, field, where)
    if not isinstance(value, str):
        raise Malformed(f"{field!r} in {where} must be a text, came {_shown(value)}")
    return value


def _number(value: Any, where: str) -> int:
    if type(value) is not int:
        raise Malformed(f"'inputs' in {where}: expected the number of a node, came {_shown(value)}")
    return value


def _constrained(raw: dict[str, Any], where: str) -> tuple[str | int, ...]:
    found = _list(raw, "params", where, "slots or node numbers")
    for value in found:
        if type(value) not in (str, int):
            raise Malformed(
                f"'params' in {where}: expected a slot or the number of a node, came {_shown(value)}"
            )
    return tuple(found)


def _field(raw: dict[str, Any], field: str, where: str) -> Any:
    if field not in raw:
        raise Malformed(f"there is no {field!r} in {where}")
    return raw[field]


def _shown(value: Any) -> str:
    """The value as the file has it, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _synonyms(file: Path) -> Words:
    data = _json.load(file)
    fine = isinstance(data, dict) and all(
        isinstance(words, list) and words and all(isinstance(w, str) and w.strip() for w in words)
        for words in data.values()
    )
    if not fine:
        raise UserError(f"{file}: synonyms are an object of word: [ways to say it]")
    return tuple((word, tuple(words)) for word, words in data.items())
