"""The blind audit and the proportion study, on data in which the words or the objects give the answer away."""

import pytest

from audit_samples import samples_of
from shiftscope.question import Question
from shiftscope.run.audit import BlindBaselines, run_proportion_study
from shiftscope.scene import Object, Scene
from shiftscope.shortcuts.audit import AuditSettings, audit_shortcuts

PARTS = ("train", "val", "test")


def given_away(by):
    """Of two types, each answered by 8 in 10 alike; the rare answers show in the words, or in the picture."""
    questions, scenes, splits = [], [], []
    for split in PARTS:
        for k in range(40):
            start, usual = (("is", "yes"), ("what", "red"))[k % 2]
            rare = k % 10 in (0, 1)
            word = by == "words" and rare
            name = f"{split}{k}"
            questions.append(
                Question(
                    f"q{name}",
                    f"{start.title()} it {'odd' if word else 'plain'}?",
                    (name,),
                    answer=("no" if k % 2 == 0 else "blue") if rare else usual,
                    kind=start,
                )
            )
            scenes.append(Scene((Object((("name", "ghost" if rare else "tree"),)),), id=name))
            splits.append(split)
    known = scenes if by == "objects" else None
    return audit_shortcuts(samples_of(questions, known, splits), AuditSettings(split="given"))


def named(scores):
    return {(s.metric, dict(s.slice).get("shortcut", "")): s.value for s in scores}


@pytest.fixture(scope="module")
def words():
    return BlindBaselines(given_away("words"))


def test_the_prior_fails_on_every_rare_answer(words):
    made = named(words.score("prior"))
    assert made["iid", ""] == 0.8
    assert (made["acc_head", "QT"], made["ood", "QT"]) == (1.0, 0.0)
    assert made["gap", "QT"] == 0.8


def test_the_majority_knows_one_answer_only(words):
    assert named(words.score("majority"))["iid", ""] == 0.4


def test_words_that_give_the_answer_away_are_found_by_the_question_only_model(words):
    made = named(words.score("question_only"))
    assert made["iid", ""] == 1.0
    assert made["ood", "QT"] == 1.0


def test_without_objects_there_is_no_object_only(words):
    assert words.models == ("majority", "prior", "question_only")


def test_objects_give_the_answer_away_to_the_object_only_model():
    blind = BlindBaselines(given_away("objects"))
    assert blind.models == ("majority", "prior", "question_only", "object_only")
    made = named(blind.score("object_only"))
    assert made["iid", ""] == pytest.approx(0.5)  # which half of them is asked about, it does not know


def test_records_hold_the_test_with_its_parts(words):
    records = words.answer_test("prior")
    assert len(records) == 40
    assert int(dict(records.facts)["QT"].equals("tail").sum()) == 8


def test_what_is_learned_may_be_chosen(words):
    rare = words.audit.train["QT"].tail
    records = words.answer_test("majority", train=rare)
    assert set(records.answer.to_list()) == {"blue"}  # of blue and no, equally often, the first by spelling


def test_more_shortcut_samples_help_the_head_and_harm_the_tail(words):
    told = []
    made = run_proportion_study(words, ("QT",), (0, 100), model="prior", tell=lambda *at: told.append(at))
    assert [(b.shortcut, b.share, b.n_train, b.head.value, b.tail.value) for b in made] == [
        ("QT", 0, 8, 0.0, 1.0),
        ("QT", 100, 8, 1.0, 0.0),
    ]
    assert told == [("blending", 0, 2), ("blending", 1, 2), ("blending", 2, 2)]
