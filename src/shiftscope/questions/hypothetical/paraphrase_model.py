"""Paraphrase by a model: a user's own transformers seq2seq rewords actions and questions.

A rewording is kept only where it says the same things in the same order, going by every word of the vocabulary that
either text has; else the text stays as it was. Beam search, so that equal texts give equal rewordings.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from ...english.inflection import plural
from ...english.synonyms import THING, Lexicon
from ...english.word_lists import word_list
from ...errors import UserError
from ...question import JOINED, Question
from ...schemas.clevr import SCHEMA
from ...trust_remote_code import load_options, refuse_untrusted, weight_load_options
from .action import replace_joined_question

BATCH = 32
LONGEST = 96  # tokens
BEAMS = 4
BY_MODEL = "model"  # stands for the number of a wording


class Paraphraser:
    def __init__(self, name: str) -> None:
        try:
            from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
        except ImportError:
            raise UserError("a paraphrase model needs transformers and torch; install both") from None
        refuse_untrusted(name, "name another model")
        try:
            self._tokens: Any = AutoTokenizer.from_pretrained(name, **load_options())
            self._model: Any = AutoModelForSeq2SeqLM.from_pretrained(name, **weight_load_options()).eval()
        except Exception as error:  # of a library that meets a folder it was not made for
            why = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise UserError(f"paraphraser {name!r} is no seq2seq model that opens here ({why})") from None

    def __call__(self, texts: Sequence[str]) -> list[str]:
        import torch

        made: list[str] = []
        with torch.inference_mode():
            for start in range(0, len(texts), BATCH):
                batch = list(texts[start : start + BATCH])
                given = self._tokens(batch, return_tensors="pt", padding=True, truncation=True)
                given.pop("token_type_ids", None)
                out = self._model.generate(
                    **given, max_new_tokens=LONGEST, num_beams=BEAMS, do_sample=False, early_stopping=True
                )
                made += self._tokens.batch_decode(out, skip_special_tokens=True)
        return [" ".join(text.split()) for text in made]


get_paraphraser = cache(Paraphraser)


def paraphrase_questions(questions: Sequence[Question], name: str) -> list[Question]:
    """The questions, their texts and actions in the words of the model where these mean the same."""
    texts = sorted({t for q in questions for t in (q.text, q.action) if t})
    reworded = dict(zip(texts, get_paraphraser(name)(texts), strict=True))
    kept = {text: new if has_same_content(text, new) else text for text, new in reworded.items()}
    return [_reword_question(q, kept) for q in questions]


def _reword_question(q: Question, kept: dict[str, str]) -> Question:
    """The question with its texts as kept; a wording that is the model's is no longer one of ours."""
    text, action = kept[q.text], kept.get(q.action, q.action)
    notes: list[tuple[str, Any]] = []
    for name, value in q.notes:
        if name == JOINED:  # the joined text keeps its clause, which is no sentence to reword
            value = replace_joined_question(str(value), q.text, text)
        elif (name == "wording" and text != q.text) or (name == "action_wording" and action != q.action):
            value = BY_MODEL
        notes.append((name, value))
    return replace(q, text=text, action=action, notes=tuple(notes))


def has_same_content(before: str, after: str) -> bool:
    """Whether two texts have the same words of the vocabulary in the same order, and end alike."""
    if not after or before[-1:] != after[-1:]:
        return False
    return _list_content_words(before) == _list_content_words(after)


def _list_content_words(text: str) -> list[str]:
    known = _build_content_vocabulary()
    return [known[w] for w in re.findall(r"[a-z]+", text.lower()) if w in known]


@cache
def _build_content_vocabulary() -> dict[str, str]:
    """Each word that matters → what it stands for."""
    lexicon = Lexicon(SCHEMA)
    values = [v for a in SCHEMA.attributes for v in a.values]
    known = {mark: mark for mark in word_list("actions", "marks")} | {a.name: a.name for a in SCHEMA.attributes}
    for value in (*values, THING):
        for word in lexicon.list_synonyms(value):
            known |= {word: value, plural(word): value}
    return known
