"""Strip: fewer adjectives, nouns and relations in a question and its program alike, so that none is too bare.

The adjectives before a noun are matched with the filters by the same values, one after another, if these
stand so once in the text and once in the program. Then any of them can go from both: "the small red bus"
becomes "the bus". A noun can become "thing", and "the bus that is left of the red car" the bus. What is like
another thing is called the other one, as it may not be told from it any more.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from ...ask.english import article
from ...ask.lexicon import PART, SAID
from ...ask.template import OTHER
from ...ask.wording import ANOTHER
from ...lang.types import OBJECTS
from ...rng import derive
from .described import LONGEST_NOUN, NONE, THINGS, Described, Random, where
from .tokens import AGAIN
from .vocabulary import PAD, UNKNOWN, Vocabulary

ROUNDS = 2  # relations that a chain of them may lose
CODES = 1 << 40  # the sum of a description's codes tells it from any other
EDGE = LONGEST_NOUN + 4  # columns behind the last that may be looked at


class Runs(NamedTuple):
    """Adjectives or their filters, one after another, in texts or programs: [question, place]."""

    held: Tensor  # whether one stands there
    first: Tensor  # the place of the first of its run
    last: Tensor
    key: Tensor  # where a run ends the sum of its codes, else NONE


class Found(NamedTuple):
    """Descriptions, each at the place of its last adjective in the text: [question, word]."""

    good: Tensor  # whether one ends there that is matched
    words: Runs
    tokens: Runs
    match: Tensor  # the place of the last adjective's filter
    noun: Tensor  # whether the noun has a filter too, which then stands next
    end: Tensor  # the place of the noun's last word


class Strip(Described):
    """Tables over a vocabulary; not learned, not saved."""

    code: Tensor  # [term]
    bare: Tensor  # [word] whether it is a noun that no filter is for
    things: Tensor  # [noun, 2] words for one and for several
    several: Tensor  # [word] whether it is a plural
    article: Tensor  # [word] the article before it
    articles: Tensor  # [word] whether it is one
    that: Tensor  # [word] whether it is "that"
    being: Tensor  # [word] whether it is "is" or "are"
    the: Tensor  # [word] whether it is "the"
    relating: Tensor  # [word] whether it helps to say a relation
    again: Tensor  # [token] whether it reads anything again
    relates: Tensor  # [token] whether it finds what stands in a relation
    single: Tensor  # [token] whether it is the only one of some things
    alike: Tensor  # [token] whether it finds what is like a thing
    ends: Tensor  # [token] whether a chain of relations ends with it
    other: Tensor  # the number of that word
    another: Tensor
    otherwise: Tensor  # [word] whether it is one of these

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary)
        v = vocabulary
        random = derive("question parser", "strip")
        relations = {w for t in v.tokens if t.op == "relate" for w in (t.words[0], *SAID.get(t.words[0], ()))}
        phrases = {k for phrase in sorted(relations) for k in v.text_ids(phrase)[1:]} - {UNKNOWN}
        self.hold(
            code=torch.from_numpy(random.integers(CODES, size=len(v.terms))),
            bare=torch.tensor([w in (*THINGS, PART, PART + "s") for w in v.words]),
            things=_things(v),
            several=_several(v),
            article=_article(v),
            articles=torch.tensor([w in ("a", "an") for w in v.words]),
            that=torch.tensor([w == "that" for w in v.words]),
            being=torch.tensor([w in ("is", "are") for w in v.words]),
            the=torch.tensor([w == "the" for w in v.words]),
            relating=torch.tensor([k in phrases for k in range(len(v.words))]),
            again=where(v, lambda t: t.op == AGAIN),
            relates=where(v, lambda t: t.op == "relate"),
            single=where(v, lambda t: t.op == "unique"),
            alike=where(v, lambda t: t.op == "same" and t.output == OBJECTS),
            ends=where(v, lambda t: t.op == "scene"),
            other=torch.tensor(v.text_ids(OTHER)[1]),
            another=torch.tensor(v.text_ids(ANOTHER)[1]),
            otherwise=torch.tensor([w in (OTHER, ANOTHER) for w in v.words]),
        )

    def forward(
        self, words: Tensor, tokens: Tensor, chosen: Tensor, random: Random = None
    ) -> tuple[Tensor, Tensor]:
        """Words and tokens, with less in them in those questions that are chosen."""
        wide = words.shape[1], tokens.shape[1]
        words, tokens = (functional.pad(t, (0, EDGE), value=PAD) for t in (words, tokens))
        chosen = (chosen & ~self.fixed[tokens].any(1))[:, None]
        again = self.again[tokens].any(1, keepdim=True)
        share = torch.rand(len(words), 1, device=words.device, generator=random)  # that each question loses
        for _ in range(ROUNDS):
            words, tokens = self._unrelated(words, tokens, share * (chosen & ~again), random)
        words, tokens = self._undescribed(words, tokens, share * chosen, random)
        return words[:, : wide[0]], tokens[:, : wide[1]]

    def _found(self, words: Tensor, tokens: Tensor) -> Found:
        said = self._runs(self.rank[words], self.term[words], torch.zeros_like(words))
        meant = self._runs(self.token_rank[tokens], self.token_term[tokens], self.token_kind[tokens])
        keys = meant.key.masked_fill(meant.key == NONE, NONE - 1)  # nothing is not like nothing
        equal = said.key[:, :, None] == keys[:, None]
        match = equal.view(torch.uint8).argmax(2)
        good = (equal.sum(2) == 1) & (_at(equal.sum(1), match) == 1)
        follows = _at(tokens, match + 1)
        kind = self.token_kind[_at(tokens, match)]
        noun = (self.token_rank[follows] == self.noun) & (self.token_kind[follows] == kind)
        term = self.token_term[follows].clamp(min=0)
        end = _places(words)
        going = good
        for k in range(1 + LONGEST_NOUN):  # "road bike" ends with its second word
            word = _at(words, end + 1)
            told = noun & self.told[word, term]
            going = going & (told if k else told | ~noun & self.bare[word])
            good = good if k else going
            end = end + going.long()
        return Found(good, said, meant, match, noun, end)

    def _runs(self, rank: Tensor, term: Tensor, kind: Tensor) -> Runs:
        """Where adjectives stand in their order, next to each other and of one kind of thing."""
        held = (rank != NONE) & (rank < self.noun)
        goes_on = torch.zeros_like(held)
        goes_on[:, 1:] = held[:, 1:] & held[:, :-1] & (rank[:, :-1] < rank[:, 1:])
        goes_on[:, 1:] &= kind[:, :-1] == kind[:, 1:]
        ends = held.clone()
        ends[:, :-1] &= ~goes_on[:, 1:]
        places = _places(rank)
        first = torch.where(held & ~goes_on, places, 0).cummax(1).values
        last = torch.where(ends, places, rank.shape[1] - 1).flip(1).cummin(1).values.flip(1)
        codes = self.code[term.clamp(min=0)] * held
        sums = codes.cumsum(1)
        key = sums - sums.gather(1, first) + codes.gather(1, first)
        return Runs(held, first, last, torch.where(ends, key, NONE))

    def _unrelated(
        self, words: Tensor, tokens: Tensor, share: Tensor, random: Random
    ) -> tuple[Tensor, Tensor]:
        """Without some of the relations that end a chain of them: "(that is) left of the red car"."""
        found = self._found(words, tokens)
        begins = found.words.held & (found.words.first == _places(words))
        after = _next(begins, found.end)  # where the next description starts
        other = _at(found.words.last, after)  # and where its adjectives end
        to = found.match + found.noun.long()  # the last filter of this description
        there = _at(found.match, other)
        gone = there + _at(found.noun.long(), other)  # the last filter of the other one
        linked = _at(self.that[words], found.end + 1) & _at(self.being[words], found.end + 2)
        before = found.end + 2 * linked.long()  # the relation starts behind
        good = found.good & _at(found.good, other) & (after > before + 2) & _at(self.the[words], after - 1)
        strange = (~self.relating[words]).cumsum(1)
        good &= _at(strange, after - 2) == _at(strange, before)
        good &= _at(self.relates[tokens], to + 1) & _at(self.single[tokens], to + 2)
        good &= (_at(found.tokens.first, there) == to + 3) & _at(self.ends[tokens], gone + 1)
        good &= torch.rand(words.shape, device=words.device, generator=random) < share
        lost = _between(words, found.end + 1, _at(found.end, other), good)
        return _without(words, lost), _without(tokens, _between(tokens, to + 1, gone, good))

    def _undescribed(
        self, words: Tensor, tokens: Tensor, share: Tensor, random: Random
    ) -> tuple[Tensor, Tensor]:
        """Without some of the adjectives and nouns."""
        found = self._found(words, tokens)
        places, runs = _places(words), found.words
        drawn = torch.rand(words.shape, device=words.device, generator=random) < share
        lost = drawn & runs.held & _at(found.good, runs.last)
        lost_tokens = _marked(tokens, _at(found.match, runs.last) - runs.last + places, lost)
        noun = found.good & found.noun & (self.token_kind[_at(tokens, found.match)] == 0)
        noun &= torch.rand(words.shape, device=words.device, generator=random) < share
        noun &= len(self.things) > 0
        lost_tokens |= _marked(tokens, found.match + 1, noun)
        words, lost = self._others(words, tokens, found, lost)
        lost |= _between(words, places + 1, found.end - 1, noun)
        if len(self.things):
            which = torch.randint(len(self.things), words.shape, device=words.device, generator=random)
            new = self.things[which, self.several[_at(words, found.end)].long()]
            words = _placed(words, found.end, new, noun)
        words = self._with_articles(_without(words, lost), share > 0)
        return words, _without(tokens, lost_tokens)

    def _others(self, words: Tensor, tokens: Tensor, found: Found, lost: Tensor) -> tuple[Tensor, Tensor]:
        """With "other" in place of the first adjective of what is like something, if it is lost."""
        runs = found.words
        match = _at(found.match + found.noun.long(), runs.last)
        before = functional.pad(words[:, :-1], (1, 0), value=PAD)
        good = lost & (runs.first == _places(words)) & _at(self.alike[tokens], match + 1)
        another = good & self.articles[before] & (self.another != UNKNOWN)
        other = good & ~another & ~self.articles[before] & ~self.otherwise[before] & (self.other != UNKNOWN)
        words = torch.where(other, self.other, words)
        words = torch.where(functional.pad(another[:, 1:], (0, 1)), self.another, words)
        return words, lost & ~other

    def _with_articles(self, words: Tensor, chosen: Tensor) -> Tensor:
        """With a or an as the next word asks for."""
        asked = self.article[functional.pad(words[:, 1:], (0, 1), value=PAD)]
        return torch.where(chosen & self.articles[words] & (asked != PAD), asked, words)


def _things(vocabulary: Vocabulary) -> Tensor:
    """The words for one and for several; an unknown plural is read as its singular."""
    found = [vocabulary.text_ids(" ".join(THINGS[k : k + 2]))[1:] for k in range(0, len(THINGS), 2)]
    return torch.tensor([ids for ids in found if UNKNOWN not in ids], dtype=torch.long).view(-1, 2)


def _several(vocabulary: Vocabulary) -> Tensor:
    """[word] whether it is the plural of another with the same meaning: buses, not bus."""
    known = dict(zip(vocabulary.words, vocabulary.meanings, strict=True))

    def plural(said: str) -> bool:
        ones = [said.removesuffix(end) for end in ("s", "es") if said.endswith(end)]
        return bool(known[said]) and any(known.get(one) == known[said] for one in ones)

    return torch.tensor([plural(w) for w in vocabulary.words])


def _article(vocabulary: Vocabulary) -> Tensor:
    """[word] the article before it; PAD before what is no word."""
    written = {w.lower(): w for ways in SAID.values() for way in ways for w in way.split()}
    number = {w: k for k, w in enumerate(vocabulary.words)}
    asked = [article(written.get(w, w)) if w.isalpha() else "" for w in vocabulary.words]
    return torch.tensor([number.get(a, PAD) for a in asked])


def _places(table: Tensor) -> Tensor:
    return torch.arange(table.shape[1], device=table.device).expand_as(table)


def _at(table: Tensor, places: Tensor) -> Tensor:
    """What stands at these places of each row; at a place outside it, what stands at the edge."""
    return table.gather(1, places.clamp(0, table.shape[1] - 1))


def _next(begins: Tensor, after: Tensor) -> Tensor:
    """The first place behind another where something begins; 0 where nothing does."""
    wide = begins.shape[1]
    ahead = torch.where(begins, _places(begins), wide).flip(1).cummin(1).values.flip(1)
    found = torch.where(after + 1 < wide, _at(ahead, after + 1), wide)
    return torch.where(found == wide, 0, found)


def _between(table: Tensor, first: Tensor, last: Tensor, good: Tensor) -> Tensor:
    """[question, place] what lies from a first to a last place, where these are good."""
    wide = table.shape[1]
    good = good & (first <= last)
    edges = table.new_zeros(len(table), wide + 2)
    one = good.long()
    edges.scatter_add_(1, torch.where(good, first, wide), one)
    edges.scatter_add_(1, torch.where(good, last + 1, wide), -one)
    return edges.cumsum(1)[:, :wide] > 0


def _marked(table: Tensor, places: Tensor, good: Tensor) -> Tensor:
    """[question, place] whether it is one of these places, where they are good."""
    wide = table.shape[1]
    marks = torch.zeros(len(table), wide + 1, dtype=torch.bool, device=table.device)
    return marks.scatter(1, torch.where(good, places, wide), True)[:, :wide]


def _placed(table: Tensor, places: Tensor, new: Tensor, good: Tensor) -> Tensor:
    """The table with something new at these places, where they are good."""
    wide = table.shape[1]
    spare = functional.pad(table, (0, 1), value=PAD)
    return spare.scatter(1, torch.where(good, places, wide), new)[:, :wide]


def _without(table: Tensor, lost: Tensor) -> Tensor:
    """The table without what is lost; the rest moves up, and PAD stands behind."""
    wide = table.shape[1]
    places = torch.where(lost, wide, (~lost).cumsum(1) - 1)
    return table.new_full((len(table), wide + 1), PAD).scatter(1, places, table)[:, :wide]
