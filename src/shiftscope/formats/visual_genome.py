"""Visual Genome region graphs: a caption and its triples, `( trunk , is , large ) , ( trunk , on , deck )`.

An `is` triple gives its subject an attribute, a lone `( deck )` is an object without either, any other
triple a relation. `clouds:1` is a second thing called clouds. `v:come through` marks a verb: the relation is
called "come through", and a note keeps that it was marked. `pv:write on` keeps its mark in the name: what is
written on paper does not write on it.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from .. import json_files as _json
from ..errors import UserError
from ..files import read_bytes
from ..scene import FREE, Notes, Object, Relation, Scene
from ..schemas.gqa import SCHEMA

RELEASE = ("Visual Genome", "cc-by-4.0")
COLUMNS = ("image_id", "region_id", "caption", "scene_graph")
IS = "is"
VERB = "v:"
_SEPARATOR = " ) , ( "
_NUMBERED_NAME = re.compile(r"(.*):\d+")


class RegionTriple(NamedTuple):
    """Subject, predicate and object as written; a lone thing has neither of the latter."""

    subject: str
    predicate: str = ""
    object: str = ""

    def __str__(self) -> str:
        return f"( {' , '.join(self) if self.predicate else self.subject} )"


def sniff_scenes(file: _json.InputFile) -> bool:
    """Whether it is a table of region graphs: it opens with the four columns."""
    return file.head[:200].split(b"\n")[0].strip() == ",".join(COLUMNS).encode()


def read_scenes(path: Path) -> Iterator[Scene]:
    """One scene a region, called by the region's id; a region that was described twice comes twice."""
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text (byte {error.start})") from None
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    at = 0
    try:
        if tuple(next(rows, ())) != COLUMNS:
            raise UserError(f"expected the columns {','.join(COLUMNS)}")
        for row in rows:
            at += 1
            if len(row) != len(COLUMNS):
                raise UserError(f"expected {len(COLUMNS)} columns, got {len(row)}")
            yield parse_scene(*row)
    except UserError as error:
        raise UserError(f"{path}: row {at}: {error}") from None
    except csv.Error as error:
        raise UserError(f"{path}: row {at + 1}: not a CSV row ({error})") from None
    if not at:
        raise UserError(f"{path}: there are no region graphs in it")


def parse_scene(image: str, region: str, caption: str, graph: str) -> Scene:
    triples = parse_graph(graph)
    index: dict[str, int] = {}
    words: list[list[tuple[str, str]]] = []
    pairs: dict[str, list[tuple[int, int]]] = {}
    verbs: set[str] = set()

    def add_object(text: str) -> int:
        if text not in index:
            counted = _NUMBERED_NAME.fullmatch(text)
            index[text] = len(index)
            words.append([("name", counted[1] if counted else text)])
        return index[text]

    for subject, predicate, target in triples:
        at = add_object(subject)
        if predicate == IS:
            words[at].append((FREE, target))
        elif predicate:
            name = predicate.removeprefix(VERB)
            if name != predicate:
                verbs.add(name)
            pairs.setdefault(name, []).append((at, add_object(target)))
    scene = Scene(
        id=region,
        schema=SCHEMA,
        objects=tuple(Object(tuple(w), id=text) for text, w in zip(index, words, strict=True)),
        relations=tuple(Relation.of(name, found, len(index)) for name, found in pairs.items()),
        notes=(("image_id", image), ("caption", caption), ("verbs", tuple(sorted(verbs)))),
    )
    ours = {triple: i for i, triple in enumerate(_list_triples(scene))}
    order = tuple(dict.fromkeys(ours[triple] for triple in triples))
    if order == tuple(range(len(ours))):
        return scene
    notes: Notes = (*scene.notes, ("order", order))  # in which the triples were written
    return Scene(scene.objects, scene.relations, schema=scene.schema, id=scene.id, notes=notes)


def parse_graph(graph: str) -> list[RegionTriple]:
    """The triples of a graph as a caption's row writes it."""
    if not (graph.startswith("( ") and graph.endswith(" )")):
        raise UserError(f"expected triples such as ( sky , is , blue ), got {graph!r}")
    triples = []
    for inside in graph[2:-2].split(_SEPARATOR):
        parts = inside.split(" , ")
        if len(parts) not in (1, 3) or not all(parts):
            raise UserError(f"expected three parts as in ( sky , is , blue ), got ( {inside} )")
        triples.append(RegionTriple(*parts))
    return triples


def _list_triples(scene: Scene) -> list[RegionTriple]:
    """What the scene says: its lone things, what each thing is, then the relations."""
    verbs = scene.note("verbs", ())
    names = [o.id or o.values("name")[0] for o in scene.objects]
    alone = {i for i, o in enumerate(scene.objects) if len(o.attributes) < 2}
    found = [
        RegionTriple(name, IS, value)
        for name, o in zip(names, scene.objects, strict=True)
        for attribute, value in o.attributes
        if attribute != "name"
    ]
    for relation in scene.relations:
        predicate = VERB + relation.name if relation.name in verbs else relation.name
        for subject, target in relation.triples():
            found.append(RegionTriple(names[subject], predicate, names[target]))
            alone -= {subject, target}
    return [*(RegionTriple(names[i]) for i in sorted(alone)), *found]


def format_graph(scene: Scene) -> str:
    """The scene's triples, in the order noted if they are still the same ones in number."""
    triples = _list_triples(scene)
    order = scene.note("order", ())
    if sorted(order) == list(range(len(triples))):
        triples = [triples[i] for i in order]
    return " , ".join(map(str, triples))


def write_scenes(path: Path, scenes: Iterable[Scene]) -> None:
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows((s.note("image_id", ""), s.id, s.note("caption", ""), format_graph(s)) for s in scenes)
    _json.write_text(path, text.getvalue())
