"""Augmentation: add adjectives and relations to a question and its program alike, so that none is too long."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from ....english.synonyms import SYNONYMS
from ....lang.op import OBJECT, OBJECTS, PARTS
from ....rng import derive
from .network import TableModule
from .tokens import AGAIN, FILTER, RELATE, ParserToken
from .vocabulary import PAD, SPECIAL_TOKENS, UNKNOWN, ParserVocabulary, pad_rows

NONE = -1
KINDS = (OBJECTS, PARTS)  # what a filter filters
THINGS = ("thing", "things", "object", "objects", "vehicle", "vehicles")  # nouns that no filter is for
LONGEST_NOUN = 3  # words after the first

Random = torch.Generator | None  # None: torch's own


class DescriptionTables(TableModule):
    """Which words and tokens describe things, and how they correspond."""

    def __init__(self, vocabulary: ParserVocabulary) -> None:
        super().__init__()
        v = vocabulary
        self.order = {name: k for k, name in enumerate(v.adjectives)}
        self.noun = len(self.order)  # the rank of what is no adjective
        number = {term: k for k, term in enumerate(v.terms)}
        self.filters = {(t.words, t.output): k for k, t in enumerate(v.tokens, SPECIAL_TOKENS) if t.op == FILTER}
        wide = len(v.tokens) + SPECIAL_TOKENS
        token_term, token_rank, token_kind = (torch.full((wide,), NONE) for _ in range(3))
        for ((name, value), output), k in self.filters.items():
            token_term[k] = number[value]
            token_rank[k] = self.order.get(name, self.noun)
            token_kind[k] = KINDS.index(output)
        self.attribute = {number[value]: name for (name, value), _ in self.filters}
        term, rank = (torch.full((len(v.words),), NONE) for _ in range(2))
        for w in range(len(v.words)):
            meant = v.find_spelled_term(w)
            if meant in self.attribute:
                term[w], rank[w] = meant, self.order.get(self.attribute[meant], self.noun)
        self.register_tables(
            term=term,  # [word] the value it spells
            rank=rank,  # [word] the place of that value's attribute in a description
            spells=torch.from_numpy(v.word_terms()) > 0,  # [word, term] whether the word helps to spell it
            plain=mark_words(v, *THINGS),
            token_term=token_term,  # [token] the value it filters by
            token_rank=token_rank,
            token_kind=token_kind,
            # whether it reads a filter again, and counts how many stand before
            fixed=mark_tokens(v, lambda t: t.op == AGAIN and t.words[0] == FILTER),
        )


def mark_words(vocabulary: ParserVocabulary, *words: str) -> Tensor:
    """[word] whether it is one of these."""
    return torch.tensor([w in words for w in vocabulary.words])


def mark_tokens(vocabulary: ParserVocabulary, holds: Callable[[ParserToken], bool]) -> Tensor:
    """[token] of which ones it holds."""
    return torch.tensor([False] * SPECIAL_TOKENS + [holds(t) for t in vocabulary.tokens])


# A word that spells a value and occurs once is matched with the one filter for that value. Before both stands
# what comes earlier in a description: "the rubber thing" becomes "the small rubber thing", with filters for
# both. Where a description ends, a relation to another thing may follow: "the rubber thing left of the red
# car".

ROUNDS = 6  # tries to add an adjective to a question; about half succeed
RELATED = 2  # tries to add a relation
CLAUSES = 2048  # different relations to add, drawn once
LINKS = ("", "that is", "that are")
BOUND = "with"  # what it begins would seem to belong to the thing that is added


class AddedAdjective(NamedTuple):
    """A word that may be added: the place of its attribute in a description, its filter for each kind."""

    word: int
    rank: int
    tokens: tuple[int, ...]


class ModifierAdder(DescriptionTables):
    """Adds adjectives and relations."""

    def __init__(self, vocabulary: ParserVocabulary) -> None:
        super().__init__(vocabulary)
        v = vocabulary
        new: list[AddedAdjective] = []
        nouns: list[AddedAdjective] = []
        for w, (word, meant) in enumerate(zip(v.words, self.term.tolist(), strict=True)):
            if meant == NONE:
                continue
            name, value = self.attribute[meant], v.terms[meant]
            tokens = tuple(self.filters.get(((name, value), kind), PAD) for kind in KINDS)
            if name in self.order:
                new.append(AddedAdjective(w, self.order[name], tokens))
            elif tokens[0] != PAD and word == value:
                nouns.append(AddedAdjective(w, self.noun, tokens))
        clauses = _make_clauses(v, new, nouns)
        self.register_tables(
            bound=mark_words(v, BOUND),
            ends=mark_tokens(v, lambda t: t.op == "scene"),  # a description ends before it
            new_word=torch.tensor([a.word for a in new], dtype=torch.long),
            new_rank=torch.tensor([a.rank for a in new], dtype=torch.long),
            new_token=torch.tensor([a.tokens for a in new], dtype=torch.long).view(-1, len(KINDS)),  # [adjective, kind]
            clause=torch.from_numpy(pad_rows([words for words, _ in clauses])).long(),  # [clause, word]
            clause_token=torch.from_numpy(pad_rows([tokens for _, tokens in clauses])).long(),
        )

    def forward(self, words: Tensor, tokens: Tensor, chosen: Tensor, random: Random = None) -> tuple[Tensor, Tensor]:
        """Words and tokens, with more in them in those questions that are chosen."""
        many, device = len(words), words.device
        chosen = chosen & ~self.fixed[tokens].any(1)  # a new filter would throw their count out
        for _ in range(RELATED if len(self.clause) else 0):
            some = chosen & (torch.rand(many, device=device, generator=random) < 0.5)
            words, tokens = self._add_relations(words, tokens, some, random)
        for _ in range(ROUNDS if len(self.new_word) else 0):
            words, tokens = self.add_adjectives(words, tokens, chosen, random)
        return words, tokens

    def _find_anchors(self, words: Tensor, tokens: Tensor, random: Random) -> tuple[Tensor, Tensor, Tensor]:
        """In each question a place in the text and its match in the program, and whether there is one."""
        meant, filtered = self.term[words], self.token_term[tokens]
        once = (self._count_terms(meant) == 1) & (self._count_terms(filtered) == 1)  # [question, term]
        good = (meant != NONE) & once.gather(1, meant - NONE)
        drawn = torch.rand(words.shape, device=words.device, generator=random)
        best, at = drawn.masked_fill(~good, 0).max(1)
        return at, (filtered == meant.gather(1, at[:, None])).int().argmax(1), best > 0

    def _count_terms(self, found: Tensor) -> Tensor:
        """[question, term] how often each term is found, those that are NONE first."""
        counts = found.new_zeros(len(found), self.spells.shape[1] - NONE)
        return counts.scatter_add_(1, found - NONE, torch.ones_like(found))

    def add_adjectives(
        self, words: Tensor, tokens: Tensor, chosen: Tensor, random: Random = None
    ) -> tuple[Tensor, Tensor]:
        at, to, good = self._find_anchors(words, tokens, random)
        rows = torch.arange(len(words), device=words.device)
        which = torch.randint(len(self.new_word), (len(words),), device=words.device, generator=random)
        rank = self.new_rank[which]
        anchor = tokens[rows, to]
        token = self.new_token[which, self.token_kind[anchor].clamp(min=0)]
        good = good & chosen & (token != PAD) & (rank < self.token_rank[anchor])
        good &= self.token_rank[tokens[rows, (to - 1).clamp(min=0)]] < rank
        good &= self.rank[words[rows, (at - 1).clamp(min=0)]] < rank
        word = self.new_word[which]
        return insert_pieces(words, at, word[:, None], good), insert_pieces(tokens, to, token[:, None], good)

    def _add_relations(
        self, words: Tensor, tokens: Tensor, chosen: Tensor, random: Random = None
    ) -> tuple[Tensor, Tensor]:
        at, to, good = self._find_anchors(words, tokens, random)
        rows = torch.arange(len(words), device=words.device)
        words, tokens = (functional.pad(t, (0, LONGEST_NOUN + 2)) for t in (words, tokens))
        meant = self.term[words[rows, at]].clamp(min=0)
        noun = self.token_rank[tokens[rows, to]] == self.noun
        end = at + 1
        for _ in range(LONGEST_NOUN):  # "road bike" ends with its second word
            end = end + (noun & self.spells[words[rows, end], meant] & (end < at + 1 + LONGEST_NOUN)).long()
        end = torch.where(noun, end, at + 2)
        good = good & chosen & (noun | self.plain[words[rows, at + 1]]) & self.ends[tokens[rows, to + 1]]
        good &= (self.token_kind[tokens[rows, to]] == 0) & ~self.bound[words[rows, end]]
        which = torch.randint(len(self.clause), (len(words),), device=words.device, generator=random)
        return (
            insert_pieces(words, end, self.clause[which], good),
            insert_pieces(tokens, to + 1, self.clause_token[which], good),
        )


def _make_clauses(
    vocabulary: ParserVocabulary, adjectives: Sequence[AddedAdjective], nouns: Sequence[AddedAdjective]
) -> list[tuple[list[int], list[int]]]:
    """Relations to things, such as "left of the red car": their words and their tokens."""
    numbers = {t: k for k, t in enumerate(vocabulary.tokens, SPECIAL_TOKENS)}
    relations = [t for t in vocabulary.tokens if t.op == RELATE and (t.inputs, t.output) == ((OBJECT,), OBJECTS)]
    unique = numbers.get(ParserToken("unique", (), (OBJECTS,), OBJECT))
    usual = [a for a in adjectives if a.tokens[0] != PAD]
    if unique is None or not relations or not usual or not nouns:
        return []
    random = derive("question parser", "clauses")

    def draw_below(n: int) -> int:
        return int(random.integers(n))

    made: list[tuple[list[int], list[int]]] = []
    for _ in range(CLAUSES):
        relation = relations[draw_below(len(relations))]
        phrases = SYNONYMS.get(relation.words[0], relation.words)
        begin = f"{LINKS[draw_below(len(LINKS))]} {phrases[draw_below(len(phrases))]} the"
        drawn = {a.rank: a for a in (usual[draw_below(len(usual))] for _ in range(3))}
        some = [drawn[rank] for rank in sorted(drawn)][: 1 + draw_below(3)]
        noun = nouns[draw_below(len(nouns))] if random.random() < 0.7 else None
        if noun:
            value = vocabulary.tokens[noun.tokens[0] - SPECIAL_TOKENS].words[1]
            name = SYNONYMS.get(value, (value,))[0]  # a school is a school bus
        else:
            name = THINGS[2 * draw_below(3)]
        words = [*vocabulary.encode_text(begin)[1:], *(a.word for a in some), *vocabulary.encode_text(name)[1:]]
        if UNKNOWN not in words:
            filters = [a.tokens[0] for a in (*some, *([noun] if noun else []))]
            made.append((words, [numbers[relation], unique, *filters]))
    return made


def insert_pieces(table: Tensor, at: Tensor, pieces: Tensor, rows: Tensor) -> Tensor:
    """The table with a piece before place `at` in some rows; the piece of each row is padded behind."""
    wide = table.shape[1] + pieces.shape[1]
    places = torch.arange(wide, device=table.device).expand(len(table), -1)
    start = torch.where(rows, at, wide)[:, None]
    length = torch.where(rows, (pieces != PAD).sum(1), 0)[:, None]
    padded_table = functional.pad(table, (0, pieces.shape[1]), value=PAD)
    old = padded_table.gather(1, torch.where(places < start, places, places - length).clamp(min=0))
    new = pieces.gather(1, (places - start).clamp(0, pieces.shape[1] - 1))
    return torch.where((places >= start) & (places < start + length), new, old)
