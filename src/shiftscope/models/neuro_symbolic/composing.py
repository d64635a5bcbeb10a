"""The parser that composes: a grammar and a lexicon learned from pairs, and a chart parser that uses them.

Nothing of the generator's is an input: neither templates nor wording nor word lists. What it knows besides the
pairs are the ops of the program language, with their types, and the laws in `meaning.py`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import UserError
from ...lang.check import check
from ...lang.program import Program, ProgramError
from ...schema import Schema
from .chart import ChartParser, Reading
from .grammar import GrammarRule, NodeLink, learn_grammar
from .lexicon import LearnedLexicon, TextMeaning, learn_lexicon, split_words
from .meaning import read_meaning, write_program

COMPOSING = "composing"
TRIED = 5  # readings, of which the first is taken that the type checker accepts
LIKELIER = 4.0  # by how much a reading with edits has to score more than one without
RULE = 2  # another number whenever grammars are learned otherwise: figures of both never mix

TextProgram = tuple[str, Program]


@dataclass(frozen=True, slots=True, eq=False)
class ComposingConfig:
    """Rules and phrases; how likely the rules are is learned as weights."""

    rules: tuple[GrammarRule, ...]
    counts: tuple[float, ...]  # [rule] how many kinds of questions use it
    links: Mapping[NodeLink, int]  # how many kinds of questions have a node below another
    lexicon: LearnedLexicon
    frequencies: Mapping[str, float]  # word → share of the training questions that have it
    schema: Schema

    def to_json(self) -> dict[str, Any]:
        entries = [
            [" ".join(phrase), *symbol, count]
            for phrase, symbols in self.lexicon.entries.items()
            for symbol, count in symbols.items()
        ]
        return {
            "parser": COMPOSING,
            "schema": self.schema.to_json(),
            "rules": [
                [r.label, r.category, list(r.pattern), list(r.holes), c]
                for r, c in zip(self.rules, self.counts, strict=True)
            ],
            "links": [[*link, count] for link, count in self.links.items()],
            "phrases": entries,
            "nouns": sorted(self.lexicon.nouns),
            "frequencies": dict(self.frequencies),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ComposingConfig":
        rules = tuple(
            GrammarRule(label, kind, tuple(pattern), tuple(holes)) for label, kind, pattern, holes, _ in data["rules"]
        )
        entries: dict[tuple[str, ...], dict[tuple[str, str], int]] = {}
        for phrase, kind, word, count in data["phrases"]:
            entries.setdefault(tuple(phrase.split(" ")), {})[kind, word] = count
        lexicon = LearnedLexicon(entries, frozenset(data["nouns"]))
        counts = tuple(float(row[4]) for row in data["rules"])
        links = {(parent, k, child): count for parent, k, child, count in data["links"]}
        return cls(rules, counts, links, lexicon, dict(data["frequencies"]), Schema.from_json(data["schema"]))


def learn_composing(pairs: Sequence[TextProgram], schema: Schema) -> ComposingConfig:
    """Learn rules and phrases from a split's training pairs alone."""
    examples = list(dict.fromkeys(pairs))
    if not examples:
        raise UserError("a question parser cannot be trained without questions that have programs")
    known = [TextMeaning(split_words(text), read_meaning(program)) for text, program in examples]
    lexicon = learn_lexicon(known)
    grammar = learn_grammar(known, lexicon)
    if not grammar.rules:
        raise UserError("no question's words could be divided among the parts of its program; train on more questions")
    held = Counter(word for words, _ in known for word in set(words))
    frequencies = {word: round(count / len(known), 6) for word, count in sorted(held.items())}
    return ComposingConfig(
        tuple(grammar.rules), tuple(grammar.rules.values()), grammar.links, lexicon, frequencies, schema
    )


class ComposingParser:
    """Reads questions as programs; one that it cannot read has none."""

    def __init__(self, config: ComposingConfig, counts: Sequence[float] | None = None) -> None:
        weights = dict(zip(config.rules, config.counts if counts is None else counts, strict=True))
        self.schema = config.schema
        self.chart = ChartParser(weights, config.links, config.lexicon, config.frequencies)

    def parse(self, text: str) -> Program | None:
        """The likeliest program that is well typed: as the rules say, unless a few edits make a much likelier one."""
        strict, *lenient = self.chart.build_charts(split_words(text))
        found = self._choose(strict.run())
        for chart in lenient:
            other = self._choose(chart.run())
            if other is not None and (found is None or other[0].score > found[0].score + LIKELIER):
                found = other
            if found is not None and found[0].edits < chart.edits:
                break  # where all edits are used that were allowed, more may make a likelier one
        return None if found is None else found[1]

    def _choose(self, readings: Sequence[Reading]) -> tuple[Reading, Program] | None:
        """The first reading whose program the type checker accepts."""
        for reading in readings[:TRIED]:
            try:
                program = write_program(reading.tree[1])
                check(program, self.schema)
            except ProgramError:
                continue
            return reading, program
        return None
