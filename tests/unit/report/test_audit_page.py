"""The page of an audit: what it says of a small dataset, escaped, also where there is little to say."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from audit_samples import samples_of
from shiftscope.errors import UserError
from shiftscope.question import Question
from shiftscope.question_table import Remark
from shiftscope.report.audit_page import (
    build_audit_page,
    find_commonest_answers,
    gather_evidence,
    score_guesses,
    write_audit_page,
)
from shiftscope.result import Score
from shiftscope.run.audit import BlendScore
from shiftscope.scene import Object, Scene
from shiftscope.shortcuts.audit import AuditSettings, audit_shortcuts

SPLITS = ("train", "test")


def asked(number, text, answer):
    """Each sample has an image of its own; the first word is the question's type."""
    return Question(f"q{number}", text, (f"i{number}",), answer=answer, kind=text.lower().partition(" ")[0])


def uneven(rare="no", text="Is it red?", count=10):
    """A group of ten: eight times yes, once each maybe and a rare answer; in train and in test."""
    said = ["yes"] * (count - 2) + ["maybe", rare]
    return [asked(k, text, answer) for k, answer in enumerate(said * 2)]


def found(questions, splits=None, scenes=None, **settings):
    half = len(questions) // 2
    named = splits or [SPLITS[k >= half] for k in range(len(questions))]
    return audit_shortcuts(samples_of(questions, scenes, named), AuditSettings(split="given", **settings))


def scores(iid=0.8, ood=0.1, shortcuts=("QT", "KW")):
    """As metrics.shortcut_gap makes them."""
    made = [Score("iid", iid, 10, iid - 0.1, iid + 0.1)]
    for name in shortcuts:
        where = (("shortcut", name),)
        made.append(Score("ood", ood, 2, 0.0, ood + 0.1, slice=where))
        made.append(Score("acc_head", 0.9, 8, 0.8, 1.0, slice=where))
        made.append(Score("gap", iid - ood, 2, iid - ood - 0.1, iid - ood + 0.1, slice=where))
    return (*made, Score("mean_ood", ood, 2, 0.0, 0.2), Score("mean_gap", iid - ood, 2, 0.6, 0.8))


def shown(audited, blind=None, blends=(), source="toys"):
    return build_audit_page(gather_evidence(audited, blind or {}, blends, source)).render()


class Sound(HTMLParser):
    """Every element is closed in its turn, no id stands twice, and nothing is fetched."""

    VOID = frozenset(("meta", "br", "img", "input", "link", "col"))

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.words, self.sections = [], set(), [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, name, attributes):
        known = dict(attributes)
        assert not {"src", "href"} & set(known) or str(known.get("href", "#")).startswith("#")
        if "id" in known:
            assert known["id"] not in self.ids
            self.ids.add(known["id"])
        if name == "section":
            self.sections.append(known["id"])
        if name not in self.VOID:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        pass

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", "".join(self.words))


def test_the_headline_names_the_strongest_shortcut_and_what_blind_models_make_of_it():
    text = Sound(shown(found(uneven()), {"question_only": scores(), "prior": scores(0.7, 0.2)})).text
    assert "Shortcuts in toys" in text
    # One group of 8, 1 and 1: entropy 0.639 over log 3 = 1.099.
    assert (
        "The strongest shortcut is QT, the question type: in training, answers that go with the same question "
        "type are uneven (E = 0.58, where 1 is even), and 2 of 10 IID test samples have an answer that is rare "
        "for theirs: its OOD set."
    ) in text
    assert "A model that reads only the question reaches 80.0% of the IID test and 10.0% of that OOD set." in text
    assert "A model that knows only the type of the question reaches 70.0% of the IID test" in text
    assert "Largest blind gap70.0 pointsquestion_only, from IID test to OOD QT" in text


def test_without_blind_models_the_guess_by_the_concept_speaks():
    made = Sound(shown(found(uneven())))
    assert (
        "Always giving the answer that it most often had in training is right for 80.0% of the IID test and "
        "0.0% of that OOD set."
    ) in made.text
    assert made.sections == ["shortcut_strength", "limitations", "shortcut_groups", "shortcut_overlap", "method"]


def test_all_sections_stand_in_their_order():
    blends = [BlendScore("QT", s, 4, Score("acc_head", 0.5, 8), Score("acc_tail", 0.2, 2)) for s in (0, 100)]
    made = Sound(shown(found(uneven()), {"prior": scores()}, blends))
    assert made.sections == [
        "shortcut_strength", "limitations", "blind_models", "shortcut_groups", "shortcut_overlap", "imbalance",
        "shortcut_proportion", "method",
    ]  # fmt: skip
    assert "QT: question type, 4 training samples" in made.text


def test_facts_tell_the_split_the_types_and_what_is_missing():
    text = Sound(shown(found(uneven()))).text
    assert "20 questions over 20 images, with 3 distinct answers." in text
    assert "10 train, 0 val, 10 IID test; as the files say." in text
    assert "1 type, given by the files." in text
    assert "KO, KOP, QT+KO, KW+KO, QT+KW+KO: no object annotations are given." in text
    assert "No val splitThere are no OOD val sets" in text
    assert "Small OOD setsQT (2), KW (2)" in text
    assert "Odd in the filesNothing." in text


def test_remarks_and_unseen_words_are_told():
    audited = found([*uneven(), asked(98, "Is it?", "yes"), asked(99, "Is it blue?", "no")], statistics="train")
    odd = replace(audited.samples, remarks=(Remark("questions <b>", "kept", 3, (7, "x&y")),))
    text = Sound(shown(replace(audited, samples=odd))).text
    assert "questions <b>: 3, kept (7, x&y, …)" in text
    assert "Which word or object goes with an answer is counted over the train split only." in text
    assert "Unseen words" in text


def test_table_1_has_a_row_a_shortcut():
    made = shown(found(uneven()))
    row = re.search(r"<tr><th[^>]*>.{0,40}<span>QT</span>.*?</tr>", made).group()
    cells = [re.sub("<[^>]*>", "", c) for c in re.findall(r"<td.*?</td>", row)]
    # evenness, guess, bar, head, tail, OOD val, groups of train and test, imbalanced, one answer
    assert cells[0] == "0.582"
    assert cells[1].startswith("80.0")
    assert cells[3:] == ["8", "2", "0", "1", "1", "1", "0.0"]


def test_a_group_opens_to_its_answers_and_samples():
    made = shown(found(uneven()))
    group = re.search(r'<details class="group">.*?</details>', made).group()
    text = Sound(group).text
    assert text.startswith("isyes80%10 samples3 answers")
    assert "Train, n = 10" in text
    assert "OOD test, n = 2" in text
    assert "yes80.080.00" in text  # none of the OOD set says yes
    assert "maybe10.010.050.0" in text
    assert "Samples of the IID test" in text
    assert "tailIs it red?maybeid q18, image i18" in text
    assert text.count("head") == 3


def test_groups_that_the_test_has_balanced_are_shown_from_train():
    questions = [*uneven()[:10], *(asked(30 + k, "Is it red?", a) for k, a in enumerate(["yes", "no"] * 5))]
    made = shown(found([*questions, *uneven(text="Do you?")], splits=[*["train"] * 10, *["test"] * 10] * 2))
    text = Sound(made).text
    assert "Samples of the train split" in text


def test_questions_answers_ids_and_sources_are_escaped():
    bad = "<script>alert(1)</script>"
    questions = uneven(rare=bad, text=f"{bad} Straße & 女性?")
    made = shown(found([*questions, asked(f"{bad}", "Is?", "yes")]), {"prior": scores()}, source=bad)
    assert bad not in made
    text = Sound(made).text
    assert f"Shortcuts in {bad}" in text
    assert f"{bad} Straße & 女性?" in text


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        ([asked(k, "Is it?", ("yes", "no")[k % 2]) for k in range(20)], "0 of 9"),
        ([asked(k, "Is it?", "yes") for k in range(20)], "100% (QT), 100% (KW)"),
        ([asked(0, "", "yes"), asked(1, "", "")], "2 questions over 2 images"),
    ],
    ids=["balanced", "one answer", "two samples"],
)
def test_a_dataset_without_shortcuts_says_so(questions, said):
    made = Sound(shown(found(questions, [SPLITS[k * 2 >= len(questions)] for k in range(len(questions))])))
    assert "No shortcut was found: no group of the IID test has answers uneven enough" in made.text
    assert said in made.text
    assert made.sections == ["shortcut_strength", "limitations", "method"]
    assert "nan" not in made.text


def test_a_shortcut_of_the_test_alone_is_not_said_of_training():
    questions = [*(asked(k, "Is it red?", "yes") for k in range(10)), *uneven()[:10]]
    text = Sound(shown(found(questions))).text
    assert "in the IID test, though not in training, answers that go with the same question type" in text


def test_scores_without_a_value_are_left_out():
    empty = (Score("iid", None, 0), Score("ood", None, 0, slice=(("shortcut", "QT"),)))
    assert "blind_models" not in Sound(shown(found(uneven()), {"prior": empty})).sections


def dogs(places):
    return [Scene((Object((("name", "dog"),)),), id=f"i{k}") for k in places]


def test_objects_give_nine_shortcuts_and_tell_of_images_that_are_not_annotated():
    made = Sound(shown(found(uneven(), scenes=dogs(range(5, 20)))))
    assert "Shortcuts found9 of 9all could be looked for" in made.text
    assert "do not name 5 of 20 images: 25.0% of the samples are in no group of a shortcut with KO" in made.text
    assert "No group" not in made.text  # all of the test are annotated


def test_samples_whose_objects_are_not_known_are_counted_and_not_guessed():
    # Of the ten tested, the last five are known: three times yes, maybe and no.
    audited = found(uneven(), scenes=dogs([*range(10), *range(15, 20)]))
    text = Sound(shown(audited)).text
    assert "No group" in text
    guess = score_guesses(audited)
    assert (guess["KO"].iid.value, guess["KO"].iid.n) == (pytest.approx(3 / 5), 5)
    assert (guess["QT"].iid.value, guess["QT"].iid.n) == (pytest.approx(8 / 10), 10)


def test_objects_that_are_mostly_unknown_are_not_called_the_strongest():
    # The known ones are seven times yes, no and maybe: less even than the types.
    half = [("Do you?", "yes")] * 5 + [("Do you?", "no")] * 4
    half += [("Is it?", "yes")] * 8 + [("Is it?", "no"), ("Is it?", "maybe")]
    scenes = dogs([*range(10, 19), *range(29, 38)])
    made = gather_evidence(found([asked(k, *q) for k, q in enumerate(half * 2)], scenes=scenes), {}, (), "")
    assert made.ranked[0].shortcut == "KO"
    text = Sound(build_audit_page(made).render()).text
    assert "The strongest shortcut is QT" in text
    assert "The objects of 52.6% of the samples are not known" in text


def test_a_guess_is_the_commonest_train_answer_of_the_concept():
    others = [asked(50 + k, "Do you?", "no") for k in range(4)]
    audited = found([*uneven()[:10], *others[:2], *uneven()[10:], *others[2:]])
    answers = audited.samples.answers
    by_concept = find_commonest_answers(audited.train["QT"], answers.codes)
    assert [answers.values[k] for k in by_concept] == ["no", "yes"]  # of do, of is
    guess = score_guesses(audited)["QT"]
    assert (guess.iid.value, guess.iid.n) == (pytest.approx(10 / 12), 12)
    assert (guess.ood.value, guess.ood.low, guess.ood.n) == (0.0, 0.0, 2)


def test_of_equals_the_first_answer_is_guessed_and_for_an_unseen_concept_the_commonest_of_train():
    questions = [*(asked(k, "Is it?", answer) for k, answer in enumerate("bbaa")), asked(9, "Do you?", "c")]
    audited = found(questions, [*["train"] * 4, "test"])
    values = audited.samples.answers.values
    assert [values[k] for k in find_commonest_answers(audited.train["QT"], audited.samples.answers.codes)] == ["a", "a"]


def test_the_page_is_written_whole_and_not_into_a_folder(tmp_path):
    write_audit_page(tmp_path / "new" / "audit.html", found(uneven()), {"prior": scores()}, source="toys")
    text = (tmp_path / "new" / "audit.html").read_text("utf-8")
    assert text.startswith("<!doctype html>")
    assert Sound(text).sections[0] == "shortcut_strength"
    with pytest.raises(UserError, match="is a folder; name the page"):
        write_audit_page(tmp_path, found(uneven()), {})


def test_many_answers_are_cut_and_summed():
    said = ["a"] * 60 + [f"rare {k}" for k in range(60)]
    made = shown(found([asked(k, "What is it?", a) for k, a in enumerate(said * 2)]))
    text = Sound(made).text
    assert "answers, commonest in train first; 21 rarer answers not drawn" in text
    assert "51 other answers42.542.585.0" in text
    assert made.count("<details") == 4  # a group each of QT, KW, KWP and QT+KW
