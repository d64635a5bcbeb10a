"""Lists of relations: text and program get the same ones, in the same order, worded as rd+ words them."""

import re
from functools import cache

import pytest

from lazy import lazy
from parser_tokens import decode_program
from shiftscope.lang.check import check
from shiftscope.lang.text import parse_program as program
from shiftscope.schemas.superclevr import SCHEMA

add_lists = lazy("shiftscope.models.nsvqa.question_parser.add_lists")
drop_modifiers = lazy("shiftscope.models.nsvqa.question_parser.drop_modifiers")
loss = lazy("shiftscope.models.nsvqa.question_parser.loss")
torch = lazy("torch")
vocabulary_module = lazy("shiftscope.models.nsvqa.question_parser.vocabulary")

QUESTIONS = (
    ("What color is the small bus?", program("query(unique(filter(scene(), size=small, shape=bus)), color)")),
    ("How many red cars are there?", program("count(filter(scene(), color=red, shape=car))")),
    ("Which things are in the back?", program("count(scene())")),
    (
        "What size is the blue jet left of the rubber truck?",
        program(
            "query(unique(filter(relate(unique(filter(scene(), material=rubber, shape=truck)), left),"
            " color=blue, shape=jet)), size)"
        ),
    ),
    (
        "How many things are behind the big car and left of the jet?",
        program(
            "count(intersect(relate(unique(filter(scene(), size=large, shape=car)), behind),"
            " relate(unique(filter(scene(), shape=jet)), left)))"
        ),
    ),
    (
        "What material is the red door of the small truck?",
        program(
            "query(unique(filter(parts(unique(filter(scene(), size=small, shape=truck))), color=red, name=door)), material)"
        ),
    ),
)
RELATION = r"(left of|right of|behind|in front of)(?: and (behind|in front of))?"
SPOKEN = {"left of": "left", "right of": "right", "behind": "behind", "in front of": "front"}


@cache
def learned():
    return vocabulary_module.ParserVocabulary.learn(QUESTIONS, SCHEMA)


@cache
def listed(seed=0):
    """Texts, each with its program, its tokens and the number of the question that it was made from."""
    v = learned()
    rows = torch.arange(200) % len(QUESTIONS)
    batch = loss.QuestionParserBatch.from_encoded(*v.encode(QUESTIONS)).take(rows)
    add = add_lists.ListAdder(v, drop_modifiers.ModifierDropper(v))
    every = torch.ones(len(rows), dtype=torch.bool)
    words, tokens = add(batch.words, batch.tokens, every, torch.Generator().manual_seed(seed))
    found = []
    for row, text, ids in zip(rows.tolist(), words.tolist(), tokens.tolist(), strict=True):
        ids = [k for k in ids[1:] if k]
        found.append((row, " ".join(v.words[w] for w in text[1:] if w), decode_program(v, ids), ids))
    return found


def list_relations_of_text(text):
    """Each relation to each thing, in the order of the text, as a reader of English finds it."""
    found = []
    pieces = re.split(rf"{RELATION} (?=the )", text)
    for one, two, said in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        things = re.findall(r"\bthe ((?:[\w-]+ )*?(?:[\w-]+))(?= \)| ,| and\b| \?|$| that| in| left| right| are)", said)
        found += [(SPOKEN[r], thing) for thing in things or ["?"] for r in (one, two) if r]
    return found


def test_every_program_is_well_typed_and_is_what_its_tokens_say():
    for _, _, made, ids in listed():
        check(made, SCHEMA)
        assert learned().encode_program(made) == ids


def test_a_text_names_as_many_relations_as_its_program():
    longer = 0
    for row, text, made, _ in listed():
        if row == 5:
            continue
        relates = [n.params[0] for n in made.nodes if n.op == "relate"]
        said = [r for r, _ in list_relations_of_text(text)]
        assert sorted(said) == sorted(relates), text
        longer += len(relates) > 10
    assert longer > 10


def test_questions_about_parts_get_no_list():
    plain = {text for row, text, _, _ in listed() if row == 5}
    assert plain == {"what material is the red door of the small truck ?"}


@pytest.mark.parametrize(
    "row, pattern",
    [
        (0, r"what color is the small bus( , which is [^()]+| \( [^()]+ \))? \?"),
        (1, r"how many red cars( \( [^()]+ \))? are there( that are [^()]+)? \?"),
        (
            3,
            r"what size is the blue jet( \( [^()]+ \))? left of the rubber truck( , which is [^()]+| \( [^()]+ \))? \?",
        ),
    ],
)
def test_lists_are_worded_as_rd_plus_words_them(row, pattern):
    texts = [text for at, text, _, _ in listed() if at == row]
    assert all(re.fullmatch(pattern, text) for text in texts)
    assert all(any(word in text for text in texts) for word in ("(", "that are" if row == 1 else "which is"))


def test_what_is_not_chosen_stays_and_seeds_decide():
    v = learned()
    batch = loss.QuestionParserBatch.from_encoded(*v.encode(QUESTIONS)).take(torch.arange(len(QUESTIONS)))
    add = add_lists.ListAdder(v, drop_modifiers.ModifierDropper(v))
    words, tokens = add(batch.words, batch.tokens, torch.zeros(len(QUESTIONS), dtype=torch.bool))
    assert torch.equal(words[:, : batch.words.shape[1]], batch.words) and not words[:, batch.words.shape[1] :].any()
    assert torch.equal(tokens[:, : batch.tokens.shape[1]], batch.tokens)
    assert listed(0) != listed(1)


def test_a_vocabulary_without_intersections_has_no_lists():
    v = vocabulary_module.ParserVocabulary.learn(QUESTIONS[:2], SCHEMA)
    assert not add_lists.ListAdder(v, drop_modifiers.ModifierDropper(v)).lists
