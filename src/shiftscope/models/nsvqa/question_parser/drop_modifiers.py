"""Augmentation: drop adjectives, nouns and relations from a question and its program alike."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from ....english.inflection import article
from ....english.synonyms import PART, SYNONYMS
from ....lang.op import OBJECTS
from ....questions.clevr.template import OTHER
from ....questions.clevr.wording import ANOTHER
from ....rng import derive
from .add_modifiers import LONGEST_NOUN, NONE, THINGS, DescriptionTables, Random, mark_tokens, mark_words
from .tokens import AGAIN
from .vocabulary import PAD, UNKNOWN, ParserVocabulary

ROUNDS = 2  # relations that a chain of them may lose
CODES = 1 << 40  # the sum of a description's codes tells it from any other
EDGE = LONGEST_NOUN + 4  # columns behind the last that may be looked at


class ModifierRuns(NamedTuple):
    """Adjectives or their filters, one after another, in texts or programs: [question, place]."""

    held: Tensor  # whether one stands there
    first: Tensor  # the place of the first of its run
    last: Tensor
    key: Tensor  # where a run ends the sum of its codes, else NONE


class DescriptionMatch(NamedTuple):
    """Descriptions, each at the place of its last adjective in the text: [question, word]."""

    good: Tensor  # whether one ends there that is matched
    words: ModifierRuns
    tokens: ModifierRuns
    match: Tensor  # the place of the last adjective's filter
    noun: Tensor  # whether the noun has a filter too, which then stands next
    end: Tensor  # the place of the noun's last word


class ModifierDropper(DescriptionTables):
    """Drops adjectives, nouns and relations."""

    def __init__(self, vocabulary: ParserVocabulary) -> None:
        super().__init__(vocabulary)
        v = vocabulary
        random = derive("question parser", "strip")
        relations = {w for t in v.tokens if t.op == "relate" for w in (t.words[0], *SYNONYMS.get(t.words[0], ()))}
        phrases = {k for phrase in sorted(relations) for k in v.encode_text(phrase)[1:]} - {UNKNOWN}
        things = [v.encode_text(" ".join(THINGS[k : k + 2]))[1:] for k in range(0, len(THINGS), 2)]
        written = {w.lower(): w for ways in SYNONYMS.values() for way in ways for w in way.split()}
        number = {w: k for k, w in enumerate(v.words)}
        articles = [article(written.get(w, w)) if w.isalpha() else "" for w in v.words]
        self.register_tables(
            code=torch.from_numpy(random.integers(CODES, size=len(v.terms))),  # [term]
            bare=mark_words(v, *THINGS, PART, PART + "s"),  # nouns that no filter is for
            # [noun, 2] words for one and for several; an unknown plural is read as its singular
            things=torch.tensor([pair for pair in things if UNKNOWN not in pair], dtype=torch.long).view(-1, 2),
            several=_mark_plurals(v),
            article=torch.tensor([number.get(a, PAD) for a in articles]),  # [word] before it; PAD before what is none
            articles=mark_words(v, "a", "an"),
            that=mark_words(v, "that"),
            being=mark_words(v, "is", "are"),
            the=mark_words(v, "the"),
            relating=torch.tensor([k in phrases for k in range(len(v.words))]),  # words that help to say a relation
            again=mark_tokens(v, lambda t: t.op == AGAIN),
            relates=mark_tokens(v, lambda t: t.op == "relate"),
            single=mark_tokens(v, lambda t: t.op == "unique"),
            alike=mark_tokens(v, lambda t: t.op == "same" and t.output == OBJECTS),
            ends=mark_tokens(v, lambda t: t.op == "scene"),  # a chain of relations ends with it
            other=torch.tensor(v.encode_text(OTHER)[1]),  # the number of that word
            another=torch.tensor(v.encode_text(ANOTHER)[1]),
            otherwise=mark_words(v, OTHER, ANOTHER),
        )

    def forward(self, words: Tensor, tokens: Tensor, chosen: Tensor, random: Random = None) -> tuple[Tensor, Tensor]:
        """Words and tokens, with less in them in those questions that are chosen."""
        wide = words.shape[1], tokens.shape[1]
        words, tokens = (functional.pad(t, (0, EDGE), value=PAD) for t in (words, tokens))
        chosen = (chosen & ~self.fixed[tokens].any(1))[:, None]
        again = self.again[tokens].any(1, keepdim=True)
        share = torch.rand(len(words), 1, device=words.device, generator=random)  # that each question loses
        for _ in range(ROUNDS):
            words, tokens = self._drop_relations(words, tokens, share * (chosen & ~again), random)
        words, tokens = self._drop_adjectives(words, tokens, share * chosen, random)
        return words[:, : wide[0]], tokens[:, : wide[1]]

    def find_descriptions(self, words: Tensor, tokens: Tensor) -> DescriptionMatch:
        """Those that text and program say once in the same words; EDGE columns of both are to be empty."""
        adjectives = self._find_runs(self.rank[words], self.term[words], torch.zeros_like(words))
        filters = self._find_runs(self.token_rank[tokens], self.token_term[tokens], self.token_kind[tokens])
        keys = filters.key.masked_fill(filters.key == NONE, NONE - 1)  # nothing is not like nothing
        equal = adjectives.key[:, :, None] == keys[:, None]
        match = equal.view(torch.uint8).argmax(2)
        good = (equal.sum(2) == 1) & (take_at(equal.sum(1), match) == 1)
        follows = take_at(tokens, match + 1)
        kind = self.token_kind[take_at(tokens, match)]
        noun = (self.token_rank[follows] == self.noun) & (self.token_kind[follows] == kind)
        term = self.token_term[follows].clamp(min=0)
        end = _number_columns(words)
        going = good
        for k in range(1 + LONGEST_NOUN):  # "road bike" ends with its second word
            word = take_at(words, end + 1)
            spells = noun & self.spells[word, term]
            going = going & (spells if k else spells | ~noun & self.bare[word])
            good = good if k else going
            end = end + going.long()
        return DescriptionMatch(good, adjectives, filters, match, noun, end)

    def _find_runs(self, rank: Tensor, term: Tensor, kind: Tensor) -> ModifierRuns:
        """Where adjectives stand in their order, next to each other and of one kind of thing."""
        held = (rank != NONE) & (rank < self.noun)
        goes_on = torch.zeros_like(held)
        goes_on[:, 1:] = held[:, 1:] & held[:, :-1] & (rank[:, :-1] < rank[:, 1:])
        goes_on[:, 1:] &= kind[:, :-1] == kind[:, 1:]
        ends = held.clone()
        ends[:, :-1] &= ~goes_on[:, 1:]
        places = _number_columns(rank)
        first = torch.where(held & ~goes_on, places, 0).cummax(1).values
        last = torch.where(ends, places, rank.shape[1] - 1).flip(1).cummin(1).values.flip(1)
        codes = self.code[term.clamp(min=0)] * held
        sums = codes.cumsum(1)
        key = sums - sums.gather(1, first) + codes.gather(1, first)
        return ModifierRuns(held, first, last, torch.where(ends, key, NONE))

    def _drop_relations(self, words: Tensor, tokens: Tensor, share: Tensor, random: Random) -> tuple[Tensor, Tensor]:
        """Without some of the relations that end a chain of them: "(that is) left of the red car"."""
        found = self.find_descriptions(words, tokens)
        begins = found.words.held & (found.words.first == _number_columns(words))
        after = _find_next(begins, found.end)  # where the next description starts
        other = take_at(found.words.last, after)  # and where its adjectives end
        to = found.match + found.noun.long()  # the last filter of this description
        there = take_at(found.match, other)
        gone = there + take_at(found.noun.long(), other)  # the last filter of the other one
        linked = take_at(self.that[words], found.end + 1) & take_at(self.being[words], found.end + 2)
        before = found.end + 2 * linked.long()  # the relation starts behind
        good = found.good & take_at(found.good, other) & (after > before + 2) & take_at(self.the[words], after - 1)
        strange = (~self.relating[words]).cumsum(1)
        good &= take_at(strange, after - 2) == take_at(strange, before)
        good &= take_at(self.relates[tokens], to + 1) & take_at(self.single[tokens], to + 2)
        good &= (take_at(found.tokens.first, there) == to + 3) & take_at(self.ends[tokens], gone + 1)
        good &= torch.rand(words.shape, device=words.device, generator=random) < share
        lost = _mark_between(words, found.end + 1, take_at(found.end, other), good)
        return _remove_marked(words, lost), _remove_marked(tokens, _mark_between(tokens, to + 1, gone, good))

    def _drop_adjectives(self, words: Tensor, tokens: Tensor, share: Tensor, random: Random) -> tuple[Tensor, Tensor]:
        """Without some of the adjectives and nouns."""
        found = self.find_descriptions(words, tokens)
        places, runs = _number_columns(words), found.words
        drawn = torch.rand(words.shape, device=words.device, generator=random) < share
        lost = drawn & runs.held & take_at(found.good, runs.last)
        lost_tokens = _mark_places(tokens, take_at(found.match, runs.last) - runs.last + places, lost)
        noun = found.good & found.noun & (self.token_kind[take_at(tokens, found.match)] == 0)
        noun &= torch.rand(words.shape, device=words.device, generator=random) < share
        noun &= len(self.things) > 0
        lost_tokens |= _mark_places(tokens, found.match + 1, noun)
        words, lost = self._insert_other(words, tokens, found, lost)
        lost |= _mark_between(words, places + 1, found.end - 1, noun)
        if len(self.things):
            which = torch.randint(len(self.things), words.shape, device=words.device, generator=random)
            new = self.things[which, self.several[take_at(words, found.end)].long()]
            spare = functional.pad(words, (0, 1), value=PAD)  # a column for what is not written
            words = spare.scatter(1, torch.where(noun, found.end, words.shape[1]), new)[:, :-1]
        words = _remove_marked(words, lost)
        wanted = self.article[functional.pad(words[:, 1:], (0, 1), value=PAD)]  # a or an, by the next word
        words = torch.where((share > 0) & self.articles[words] & (wanted != PAD), wanted, words)
        return words, _remove_marked(tokens, lost_tokens)

    def _insert_other(
        self, words: Tensor, tokens: Tensor, found: DescriptionMatch, lost: Tensor
    ) -> tuple[Tensor, Tensor]:
        """With "other" in place of the first adjective of what is like something, if it is lost."""
        runs = found.words
        match = take_at(found.match + found.noun.long(), runs.last)
        before = functional.pad(words[:, :-1], (1, 0), value=PAD)
        good = lost & (runs.first == _number_columns(words)) & take_at(self.alike[tokens], match + 1)
        another = good & self.articles[before] & (self.another != UNKNOWN)
        other = good & ~another & ~self.articles[before] & ~self.otherwise[before] & (self.other != UNKNOWN)
        words = torch.where(other, self.other, words)
        words = torch.where(functional.pad(another[:, 1:], (0, 1)), self.another, words)
        return words, lost & ~other


def _mark_plurals(vocabulary: ParserVocabulary) -> Tensor:
    """[word] whether it is the plural of another with the same meaning: buses, not bus."""
    known = dict(zip(vocabulary.words, vocabulary.meanings, strict=True))
    singulars = {w: [w.removesuffix(end) for end in ("s", "es") if w.endswith(end)] for w in known}
    return torch.tensor([bool(meant) and meant in map(known.get, singulars[w]) for w, meant in known.items()])


def _number_columns(table: Tensor) -> Tensor:
    return torch.arange(table.shape[1], device=table.device).expand_as(table)


def take_at(table: Tensor, places: Tensor) -> Tensor:
    """What stands at these places of each row; at a place outside it, what stands at the edge."""
    return table.gather(1, places.clamp(0, table.shape[1] - 1))


def _find_next(begins: Tensor, after: Tensor) -> Tensor:
    """The first place behind another where something begins; 0 where nothing does."""
    wide = begins.shape[1]
    ahead = torch.where(begins, _number_columns(begins), wide).flip(1).cummin(1).values.flip(1)
    found = torch.where(after + 1 < wide, take_at(ahead, after + 1), wide)
    return torch.where(found == wide, 0, found)


def _mark_between(table: Tensor, first: Tensor, last: Tensor, good: Tensor) -> Tensor:
    """[question, place] what lies from a first to a last place, where these are good."""
    wide = table.shape[1]
    good = good & (first <= last)
    edges = table.new_zeros(len(table), wide + 2)
    one = good.long()
    edges.scatter_add_(1, torch.where(good, first, wide), one)
    edges.scatter_add_(1, torch.where(good, last + 1, wide), -one)
    return edges.cumsum(1)[:, :wide] > 0


def _mark_places(table: Tensor, places: Tensor, good: Tensor) -> Tensor:
    """[question, place] whether it is one of these places, where they are good."""
    wide = table.shape[1]
    marks = torch.zeros(len(table), wide + 1, dtype=torch.bool, device=table.device)
    return marks.scatter(1, torch.where(good, places, wide), True)[:, :wide]


def _remove_marked(table: Tensor, lost: Tensor) -> Tensor:
    """The table without what is lost; the rest moves up, and PAD stands behind."""
    wide = table.shape[1]
    places = torch.where(lost, wide, (~lost).cumsum(1) - 1)
    return table.new_full((len(table), wide + 1), PAD).scatter(1, places, table)[:, :wide]
