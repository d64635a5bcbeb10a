"""Inversion: the programs that a text may have been worded from.

Each text of each template is matched word by word against the question. A slot takes any of the ways to say
one of its terms, our own and the folder's; what the official generator gets wrong ("buss", "a airliner") is
understood too. A word that several terms share means the widest of them, as it does in our own questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ...english.inflection import plural
from ...english.synonyms import PART, THING, Lexicon, noun_attribute
from ...lang.program import Program
from ...question import Question
from ...schema import Schema
from .compiled_templates import EMPTY_SLOT, compile_templates
from .template import OTHER, RELATION, SLOT_TOKEN, TOKEN, Template, TemplateProgramBuilder, TemplateSet
from .wording import ANOTHER, find_part_slots

WORD_PATTERN = re.compile(r"\w[\w'’-]*|[^\w\s]")
ARTICLES = ("a", "an")

Words = tuple[str, ...]
PhraseTable = dict[str, list[tuple[Words, int]]]
Values = tuple[int, ...]  # codes of the slots; UNSAID where none was met yet
UNSAID = EMPTY_SLOT - 2


class SlotPattern(NamedTuple):
    """A slot; `ways` are, by their first word, the phrases that fill it and the term of each."""

    slot: int
    ways: PhraseTable
    silent: bool  # whether it may stay empty without a word


class OptionalWords(NamedTuple):
    items: tuple[TextItem, ...]


TextItem = str | SlotPattern | OptionalWords


class QuestionReading(NamedTuple):
    template: Template
    program: Program


class TemplateInverter:
    """Templates bound to a schema, read backwards."""

    def __init__(self, templates: TemplateSet, schema: Schema) -> None:
        self.vocabulary = compile_templates(templates.templates, schema, templates.synonyms).vocabulary
        self.lexicon = Lexicon(schema, templates.synonyms)
        self.texts: list[tuple[Template, TemplateProgramBuilder, tuple[TextItem, ...]]] = []
        self._known: dict[tuple[str, bool, bool, bool, str, str, str], PhraseTable] = {}
        for template in templates.templates:
            maker = TemplateProgramBuilder(template, self.vocabulary)
            on_parts = find_part_slots(template)
            for text in template.texts:
                self.texts.append((template, maker, self._parse_text(text, template, on_parts)))

    def __call__(self, text: str) -> tuple[QuestionReading, ...]:
        """Every way to read the text, each program once, in the order of the templates."""
        words = tokenize_question(text)
        found: dict[Program, QuestionReading] = {}
        for template, maker, items in self.texts:
            for values in _match_items(items, words, 0, (UNSAID,) * len(template.params)):
                program = maker([max(v, EMPTY_SLOT) for v in values])
                found.setdefault(program, QuestionReading(template, program))
        return tuple(found.values())

    def read_programs(self, question: Question) -> tuple[Program, ...]:
        """The programs of the question; its template, where it is noted, decides between several."""
        readings = self(question.text)
        source = question.provenance
        in_file = [r for r in readings if r.template.file == source.template]
        in_family = [r for r in in_file if r.template.family == source.family]
        return tuple(r.program for r in in_family or in_file or readings)

    def _parse_text(self, text: str, template: Template, on_parts: frozenset[int]) -> tuple[TextItem, ...]:
        schema = self.vocabulary.schema
        items: list[TextItem] = []
        outside: list[TextItem] = items
        for raw in TOKEN.findall(text):
            if raw == "[":
                items = []
            elif raw == "]":
                outside.append(OptionalWords(tuple(items)))
                items = outside
            elif found := SLOT_TOKEN.fullmatch(raw):
                before, name, several, ending, after = found.groups("")
                slot = template.find_slot(name)
                attribute, part, never = template.params[slot].attribute, slot in on_parts, slot in template.empty_slots
                key = (attribute, part, never, bool(several), before, ending, after)
                if key not in self._known:
                    self._known[key] = self._list_phrases(*key)
                noun = attribute == noun_attribute(schema.part_attributes if part else schema.attributes)
                items.append(SlotPattern(slot, self._known[key], attribute != RELATION and not noun))
            else:
                for word in tokenize_question(raw):
                    items.append(OptionalWords((word,)) if word == OTHER else word)
        return tuple(items)

    def _list_phrases(
        self, attribute: str, part: bool, never: bool, several: bool, before: str, ending: str, after: str
    ) -> PhraseTable:
        schema, names, covers = self.vocabulary.schema, self.vocabulary.names, self.vocabulary.covers
        terms: dict[int, str] = {}
        if attribute == RELATION:
            terms = dict(enumerate(schema.relations))
        elif not never:
            column = self.vocabulary.columns.index((attribute, part))
            terms = {c: names[c] for c in self.vocabulary.terms(column)}
        if attribute == noun_attribute(schema.part_attributes if part else schema.attributes):
            terms[EMPTY_SLOT] = PART if part else THING
        said: dict[Words, list[int]] = {}
        for code, term in terms.items():
            for way in self.lexicon.list_accepted_phrases(term):
                for form in (plural(way), f"{way}s") if several else (way,):
                    said.setdefault(tokenize_question(f"{before}{form}{ending}{after}"), []).append(code)
        ways: PhraseTable = {}
        for phrase, codes in said.items():
            distinct = list(dict.fromkeys(codes))
            for code in distinct:
                others = distinct if attribute != RELATION and code >= 0 else ()
                if not any(c >= 0 and covers[c, code] and not covers[code, c] for c in others):  # none takes it in
                    ways.setdefault(phrase[0], []).append((phrase, code))
        return ways


def tokenize_question(text: str) -> Words:
    """Words and marks, in lower case."""
    return tuple(WORD_PATTERN.findall(text.lower()))


def _match_items(items: tuple[TextItem, ...], words: Words, at: int, values: Values) -> Iterator[Values]:
    """What the slots hold, for each way in which the items give the words from `at` to the end."""
    if not items:
        if at == len(words):
            yield values
        return
    item, rest = items[0], items[1:]
    if isinstance(item, OptionalWords):
        yield from _match_items(item.items + rest, words, at, values)
        yield from _match_items(rest, words, at, values)
    elif isinstance(item, SlotPattern):
        known = values[item.slot]
        if item.silent and known in (UNSAID, EMPTY_SLOT):
            yield from _match_items(rest, words, at, _set_slot(values, item.slot, EMPTY_SLOT))
        for phrase, code in item.ways.get(words[at], ()) if at < len(words) else ():
            if known in (UNSAID, code) and words[at : at + len(phrase)] == phrase:
                yield from _match_items(rest, words, at + len(phrase), _set_slot(values, item.slot, code))
    # "an" matches "a", and "a" matches "another"
    elif at < len(words) and (words[at] == item or (words[at] in ARTICLES and item in (*ARTICLES, ANOTHER))):
        yield from _match_items(rest, words, at + 1, values)


def _set_slot(values: Values, slot: int, code: int) -> Values:
    return (*values[:slot], code, *values[slot + 1 :])
