"""Names: which names of a dataset's scenes a name in a program stands for.

A program says `bird` where the scene says `parrot`. After Zhu et al. (2022), section 3.3, a dictionary gives
each name of a program the set of names that it may have in a scene. Its sources:

*table*      the user's own, a file with the columns `program` and `scene`
*annotated*  training programs that point at objects (GQA's ids): what those objects are called
*schema*     synonyms, and kinds that contain other names, of either dataset's schema
*wordnet*    synonyms and narrower words

A name always stands for itself. Scenes under `in_schema` are executed with the dictionary.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ...errors import UserError
from ...files import read_bytes, write_whole
from ...lang.check import plan_program
from ...lang.program import Program
from ...question import Question
from ...scene import Scene
from ...scene_graph.pack import get_noun_attribute
from ...scene_graph.wordnet import WordNet
from ...schema import Attribute, Schema
from ...shift.held_out.facts import NOUN_ATTRIBUTES

COLUMNS = ("program", "scene")

Pair = tuple[str, str]  # a program's name, a scene's name


@dataclass(frozen=True)
class NameDictionary:
    """The dictionary; each pair with the first source that gave it."""

    pairs: tuple[tuple[str, str, str], ...] = ()  # program, scene, source

    def look_up(self, word: str) -> tuple[str, ...]:
        """The names that a word of a program may have in a scene, besides its own."""
        return tuple(self._names_by_word.get(word, ()))

    @cached_property
    def _names_by_word(self) -> dict[str, list[str]]:
        names: dict[str, list[str]] = {}
        for program, scene, _ in self.pairs:
            names.setdefault(program, []).append(scene)
        return names

    def extend_schema(self, schema: Schema) -> Schema:
        """The scenes' schema in which each name of a program contains those it stands for."""
        noun = get_noun_attribute(schema)
        others = tuple(a for a in schema.attributes if a.name != noun)
        (known,) = [a for a in schema.attributes if a.name == noun] or [Attribute(noun, ())]
        kinds = {kind: dict.fromkeys(members) for kind, members in known.kinds}
        for program, scene, _ in self.pairs:
            kinds.setdefault(program, {})[scene] = None
        wide = replace(known, kinds=tuple((kind, tuple(members)) for kind, members in kinds.items()))
        return replace(schema, attributes=(*others, wide))

    def write(self, path: Path) -> None:
        """As a table that can be looked through, changed and given again."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow((*COLUMNS, "source"))
        writer.writerows(self.pairs)
        write_whole(path, text.getvalue().encode())


def build_dictionary(
    words: Iterable[str],
    scene_names: Iterable[str],
    schemas: Sequence[Schema] = (),
    *,
    annotated: Iterable[Pair] = (),
    table: Iterable[Pair] = (),
    wordnet: WordNet | None = None,
) -> NameDictionary:
    """The dictionary of these program words over these scene names."""
    wanted, known = sorted(set(words)), frozenset(scene_names)
    sources = [("table", table), ("annotated", annotated)]
    sources += [("schema", _pair_by_schema(wanted, known, schema)) for schema in schemas]
    sources += [("wordnet", _pair_by_wordnet(wanted, known, wordnet))] if wordnet is not None else []
    first: dict[Pair, str] = {}
    for source, pairs in sources:
        for word, name in pairs:
            if name in known and word != name:
                first.setdefault((word, name), source)
    listed = frozenset(wanted)
    return NameDictionary(tuple((*pair, first[pair]) for pair in sorted(first) if pair[0] in listed))


def _pair_by_schema(words: Sequence[str], known: frozenset[str], schema: Schema) -> Iterator[Pair]:
    by_value: dict[str, list[str]] = {}
    for name in sorted(known):
        by_value.setdefault(schema.canonical(name), []).append(name)
    kinds: dict[str, list[str]] = {}
    for attribute in schema.attributes:
        if attribute.name in NOUN_ATTRIBUTES:
            for kind, members in attribute.kinds:
                kinds.setdefault(kind, []).extend(members)
    for word in words:
        meant = schema.canonical(word)
        for value in (meant, *kinds.get(meant, ())):
            for name in by_value.get(schema.canonical(value), ()):
                yield word, name


def _pair_by_wordnet(words: Sequence[str], known: frozenset[str], wordnet: WordNet) -> Iterator[Pair]:
    """A word stands for what it contains, both in their most frequent senses: no person is a turkey."""
    inside: dict[int, list[str]] = {}
    for name in sorted(known):
        for sense in _find_hypernyms(_find_sense(name, wordnet), wordnet):
            inside.setdefault(sense, []).append(name)
    for word in words:
        for sense in _find_sense(word, wordnet):
            yield from ((word, name) for name in inside.get(sense, ()))


def _find_sense(phrase: str, wordnet: WordNet) -> tuple[int, ...]:
    """The most frequent one; none of what is no noun."""
    base = wordnet.find_base(phrase)
    return wordnet.find_senses(base, "noun")[:1] if base else ()


def _find_hypernyms(senses: Sequence[int], wordnet: WordNet) -> frozenset[int]:
    """These senses and all that they are kinds of."""
    return frozenset[int]().union(*map(wordnet.list_wider, senses))


def iter_program_words(program: Program) -> Iterator[tuple[int, str]]:
    """The names of things in a program, each with its node; names of parts are left out."""
    steps = plan_program(program).steps
    for i, node in enumerate(program.nodes):
        if node.op == "find":
            yield i, node.params[0]
        elif len(node.params) > 1 and node.params[0] in NOUN_ATTRIBUTES and not steps[i].on_parts:
            for word in node.params[1:]:
                yield i, word


def iter_scene_words(scenes: Iterable[Scene]) -> Iterator[str]:
    """What the objects are called."""
    for scene in scenes:
        noun = get_noun_attribute(scene.schema)
        for thing in scene.objects:
            yield from thing.values(noun)


def iter_annotated_pairs(question: Question, scenes: Sequence[Scene]) -> Iterator[Pair]:
    """What each name of the program calls the objects that the program points at."""
    if question.program is None:
        return
    named: dict[str, tuple[str, ...]] = {
        thing.id: thing.values(get_noun_attribute(scene.schema)) for scene in scenes for thing in scene.objects
    }
    for i, word in iter_program_words(question.program):
        ids = question.program.nodes[i].note("id")
        for one in ids.split(","):
            for name in named.get(one.strip(), ()):
                yield word, name


def check_mismatch(question: Question, scenes: Sequence[Scene], names: NameDictionary) -> tuple[bool, bool]:
    """Whether an object that the program points at is called otherwise there; and still is with `names`."""
    pairs = [pair for pair in iter_annotated_pairs(question, scenes) if pair[0] != pair[1]]
    return bool(pairs), any(scene not in names.look_up(word) for word, scene in pairs)


def read_name_table(path: Path) -> tuple[Pair, ...]:
    """The user's table: a CSV file with the columns `program` and `scene`; others are ignored."""
    if not path.is_file():
        raise UserError(f"{path}: cannot be read (there is no such file)")
    try:
        text = read_bytes(path).decode()
    except UnicodeDecodeError:
        raise UserError(f"{path}: cannot be read (it is not UTF-8)") from None
    rows = csv.DictReader(io.StringIO(text))
    if not set(COLUMNS) <= set(rows.fieldnames or ()):
        raise UserError(f"{path}: a table of names has the columns {' and '.join(COLUMNS)} in its first line")
    pairs = []
    for row in rows:
        program, scene = ((row[column] or "").strip() for column in COLUMNS)
        if not program or not scene:
            raise UserError(f"{path}: line {rows.line_num} lacks a name")
        pairs.append((program, scene))
    return tuple(pairs)


def apply_dictionary(
    names: NameDictionary | None, scenes: Sequence[Scene], memory: dict[Schema, Schema]
) -> tuple[Scene, ...]:
    """The scenes as the dictionary has them; `memory` keeps the schemas made for it."""
    if names is None:
        return tuple(scenes)
    for schema in {scene.schema for scene in scenes} - memory.keys():
        memory[schema] = names.extend_schema(schema)
    return tuple(replace(scene, schema=memory[scene.schema]) for scene in scenes)
