"""Questions with their answers, as such a model learns them: words and answers as numbers, the image of each.

They are collected in the processes that make the data, as arrays, since there are hundreds of thousands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ...answer import Answer, spell
from ...errors import UserError
from ...question import Question
from ...scene import Scene
from ...schema import Schema
from ...shortcuts.tokens import TokenizedTexts, tokenize_texts

PAD, UNKNOWN, END = 0, 1, 2  # token ids; words follow
FIRST_WORD = 3
UNSEEN = -1  # the number of an answer that is not in the vocabulary: never right
COUNTS = 10  # numbers up to this are answers of every schema
PARTS_OP = "parts"  # a program with it asks about parts
SOFTMAX, SIGMOID = LOSSES = ("softmax", "sigmoid")  # forms of the loss of answers, see answer_loss.py

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class AnsweredQuestions:
    """Questions about some images; texts as in TokenizedTexts."""

    texts: TokenizedTexts
    answer_words: tuple[str, ...]  # each answer once, as `spell` writes it
    answers: Ints  # [question] number in answer_words
    images: Ints  # [question] number of its image
    about_parts: npt.NDArray[np.bool_]  # [question]
    image_count: int  # of all images, those without a question too
    type_words: tuple[str, ...] = ()  # each question type once, as the data name it; "" for a question without one
    types: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # [question] number in type_words
    image_ids: tuple[str, ...] = ()  # of all images, in their order
    # [question, annotator] what each answered, as a number in answer_words; UNSEEN where fewer did, no column for none
    votes: Ints = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    ids: tuple[str, ...] = ()  # [question]

    def __len__(self) -> int:
        return len(self.answers)

    @classmethod
    def collect(cls, scenes: Sequence[Scene], questions: Sequence[Question]) -> Self:
        """Those that have an answer; each must be about images as they are shown."""
        place = {scene.id: k for k, scene in enumerate(scenes)}
        kept = [q for q in questions if q.answer is not None]
        images = cls.locate_images(kept, place)
        answers = [spell(q.answer) for q in kept if q.answer is not None]
        words = tuple(sorted({*answers, *(vote for q in kept for vote in q.answers)}))
        number = {word: k for k, word in enumerate(words)}
        types = tuple(sorted({q.kind for q in kept}))
        type_number = {name: k for k, name in enumerate(types)}
        return cls(
            tokenize_texts([q.text for q in kept]),
            words,
            np.array([number[answer] for answer in answers], np.int64),
            images,
            np.array([q.program is not None and any(n.op == PARTS_OP for n in q.program.nodes) for q in kept], bool),
            len(scenes),
            types,
            np.array([type_number[q.kind] for q in kept], np.int64),
            tuple(place),
            _list_votes([q.answers for q in kept], number),
            tuple(q.id for q in kept),
        )

    @classmethod
    def locate_images(cls, questions: Sequence[Question], place: Mapping[str, int]) -> Ints:
        """What `images` holds: the number of the one image that each question is about."""
        for q in questions:
            if len(q.scenes) != 1 or q.action:
                what = f"about {len(q.scenes)} images" if len(q.scenes) != 1 else "told an action"
                raise UserError(f"question {q.id} is {what}; this model learns from one image as it is shown")
        return np.array([place[q.scenes[0]] for q in questions], np.int64)

    @classmethod
    def join_images(cls, images: Sequence[Ints], starts: Sequence[int]) -> Ints:
        """The images of several pieces, each counted on from where the pieces before end."""
        return np.concatenate([some + start for some, start in zip(images, starts, strict=True)])

    @classmethod
    def join(cls, pieces: Sequence[Self]) -> Self:
        words = tuple(sorted({word for piece in pieces for word in piece.texts.vocabulary}))
        answers = tuple(sorted({word for piece in pieces for word in piece.answer_words}))
        types = tuple(sorted({name for piece in pieces for name in piece.type_words}))
        lengths = np.concatenate([np.diff(piece.texts.at) for piece in pieces])
        past = np.cumsum([0, *(piece.image_count for piece in pieces)])
        return cls(
            TokenizedTexts(
                words,
                np.concatenate([_renumber(p.texts.vocabulary, words)[p.texts.codes] for p in pieces]).astype(np.int32),
                np.concatenate([[0], np.cumsum(lengths)]),
            ),
            answers,
            np.concatenate([_renumber(p.answer_words, answers)[p.answers] for p in pieces]),
            cls.join_images([piece.images for piece in pieces], past[:-1].tolist()),
            np.concatenate([piece.about_parts for piece in pieces]),
            int(past[-1]),
            types,
            np.concatenate([_renumber(p.type_words, types)[p.types] for p in pieces]),
            tuple(name for piece in pieces for name in piece.image_ids),
            _join_votes([_renumber_votes(p.votes, _renumber(p.answer_words, answers)) for p in pieces]),
            tuple(name for piece in pieces for name in piece.ids),
        )


def _list_votes(given: Sequence[Sequence[str]], number: Mapping[str, int]) -> Ints:
    """[question, annotator]"""
    found = np.full((len(given), max(map(len, given), default=0)), UNSEEN, np.int64)
    for k, votes in enumerate(given):
        found[k, : len(votes)] = [number[vote] for vote in votes]
    return found


def _renumber_votes(votes: Ints, number: Ints) -> Ints:
    return np.append(number, UNSEEN)[votes]  # the last is UNSEEN's


def _join_votes(pieces: Sequence[Ints]) -> Ints:
    most = max(piece.shape[1] for piece in pieces)
    pads = [((0, 0), (0, most - piece.shape[1])) for piece in pieces]
    return np.concatenate([np.pad(p, pad, constant_values=UNSEEN) for p, pad in zip(pieces, pads, strict=True)])


def _renumber(words: Sequence[str], known: Sequence[str]) -> Ints:
    """[word] its number among the known ones, −1 where it is none."""
    number = {word: k for k, word in enumerate(known)}
    return np.array([number.get(word, UNSEEN) for word in words], np.int64)


@dataclass(frozen=True, slots=True)
class AnswererConfig:
    """What a network is built from: its words and answers, its images and its sizes."""

    words: tuple[str, ...]  # of questions, learned from training data
    answers: tuple[str, ...]  # of the schema, and others that occur in training
    image_size: tuple[int, int]  # width and height; (0, 0) where no image is seen
    features: Mapping[str, Any]  # what sees images, as `image_features` describes it; empty for none
    sizes: Mapping[str, float]  # the model's own
    loss: str = SOFTMAX  # the form of the loss that gives its scores their meaning

    def to_json(self) -> dict[str, Any]:
        """Without the loss where it is a softmax, as configs were before there were two forms."""
        named = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "loss"}
        plain = {k: list(v) if isinstance(v, tuple) else dict(v) for k, v in named.items()}
        return plain if self.loss == SOFTMAX else {**plain, "loss": self.loss}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        plain: dict[str, Any] = {f.name: data[f.name] for f in fields(cls) if f.name != "loss"}
        named: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in plain.items()}
        return cls(**named, loss=data.get("loss", SOFTMAX))

    @property
    def tokens(self) -> int:
        """How many there are, words and others."""
        return FIRST_WORD + len(self.words)

    def encode_words(self, texts: TokenizedTexts) -> tuple[npt.NDArray[np.int32], Ints]:
        """[text, token] with END behind the words and then PAD, and [text] how many tokens each has."""
        lengths = np.diff(texts.at) + 1
        number = _renumber(texts.vocabulary, self.words)
        number = np.where(number == UNSEEN, UNKNOWN, number + FIRST_WORD)
        table = np.zeros((len(lengths), int(lengths.max(initial=1))), np.int32)
        column = np.arange(table.shape[1])
        table[column < lengths[:, None] - 1] = number[texts.codes]
        table[column == lengths[:, None] - 1] = END
        return table, lengths

    def encode_answers(self, questions: AnsweredQuestions) -> Ints:
        """[question] the number of its answer, or UNSEEN."""
        return _renumber(questions.answer_words, self.answers)[questions.answers]

    def encode_votes(self, questions: AnsweredQuestions) -> Ints:
        """[question, annotator] the number of what each answered, or UNSEEN."""
        return _renumber_votes(questions.votes, _renumber(questions.answer_words, self.answers))


def tell_action(question: Question) -> Question:
    """The question with its action in the same text, before it, as CLEVR_HYP gives both to models of one text."""
    return replace(question, text=f"{question.action} {question.text}", action="") if question.action else question


def list_answers(schema: Schema, others: Iterable[str]) -> tuple[str, ...]:
    """Whatever the schema lets one answer, then answers beyond it in the order of the alphabet."""
    named = [value for a in (*schema.attributes, *schema.part_attributes) for value in a.values]
    known = dict.fromkeys([spell(True), spell(False), *map(str, range(COUNTS + 1)), *map(spell, named)])
    return (*known, *sorted(set(others) - set(known)))


def type_answer(word: str) -> Answer:
    """The answer as programs give it: yes is true, 3 a number."""
    truths = {spell(True): True, spell(False): False}
    return truths[word] if word in truths else int(word) if word.isdecimal() else word
