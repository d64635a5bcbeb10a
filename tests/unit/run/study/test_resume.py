"""A study that was stopped goes on with the next cell; rows of other weights are made anew. Nothing is trained."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from shiftscope.model import Prompt
from shiftscope.models import p_nsvqa_exact
from shiftscope.question import Question
from shiftscope.result import Prediction, QuestionRecord
from shiftscope.run.study import study as module
from shiftscope.run.study.entries import ORACLES, OracleDiagnosis, StudyTestId, TrainingRecord, TransferEntry
from shiftscope.run.study.entry_store import EntryStore, build_transfer_matrix, hash_test_data
from shiftscope.run.study.evaluation import EntryRun, StudyQuestions, StudyTestSet
from shiftscope.run.study.study import StudySpec, study
from shiftscope.suites.superclevr.study import MODELS, StudyDomain, StudyScale, SuperclevrStudy

TINY = StudyScale("paper", 12, (96, 64), questions=1, part_questions=0)  # as of the paper: no runs are written


@dataclass
class Weights:
    """What a training leaves; `version` tells trainings of one parser apart."""

    about: dict


class Lab:
    """Stands in for all that makes data, trains and answers; keeps what it was asked for."""

    def __init__(self):
        self.trained, self.asked, self.kept, self.version = [], [], {}, "1"

    def train(self, suite, part, data, folder, **rest):
        assert data == f"data of {part.name}"
        self.trained.append(part.name)
        told = f"train --out /tmp/of/this/machine/{part.name} --seed 0"
        entry = {"blake2b": f"{part.name} {self.version}", "val": {"exact": 1.0}, "command": told}
        self.kept[part.name] = Weights({part.part: entry, "seconds": {"all": 1.0}})
        return self.kept[part.name]

    def make_testset(self, domain):
        prompts = tuple(Prompt(Question(name, f"{name}?", (f"s{k}",))) for k, name in enumerate("ab"))
        records = (QuestionRecord("a", ("s0",), "yes"), QuestionRecord("b", ("s1",), "no"))
        objects = StudyQuestions(prompts, records, np.array([1, 1]))
        groups = {"object": objects, "part": StudyQuestions((), (), np.array([0, 0]))}
        described = StudyTestId(domain, hash_test_data(domain, TINY), f"questions of {domain.label}")
        return StudyTestSet(described, (), (), groups, 0.5)

    def ask(self, model, name, testset):
        assert model == f"model {name}"
        self.asked.append((testset.test.tested.label, name))
        said = Prediction("a", "yes", confidence=0.9), Prediction("b", status="undefined")
        rows = {"object": list(zip(testset.groups["object"].records, said, strict=True)), "part": []}
        exact = name == "p_nsvqa_exact"
        seconds = {"see": 2.0 if exact else 1.0, "read": 1.0, "execute": 1.0}
        return EntryRun(testset, model, rows, seconds, True if exact else None)


@pytest.fixture
def lab(monkeypatch):
    made = Lab()
    device = SimpleNamespace(device=SimpleNamespace(type="cpu"))
    for name, value in {
        "require_torch": lambda model: None,
        "make_accelerator": lambda device_: device,
        "name_device": lambda device_: "toy",
        "make_training_data": lambda suite, part, **rest: f"data of {part.name}",
        "find_finished": lambda suite, part, folder: made.kept.get(part.name),
        "train_part": made.train,
        "StudyTestSets": lambda study_, scale, **rest: SimpleNamespace(get_or_make=made.make_testset),
        "build_model": lambda text, setting: f"model {text.partition(':')[0]}",
        "evaluate_testset": made.ask,
        "diagnose_models": lambda runs, base, testset, origin: OracleDiagnosis(
            origin, testset.test, tuple((model, "object", ORACLES[0], (1, 2)) for model in runs), ()
        ),
    }.items():
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(SuperclevrStudy, "combine_parts", lambda self, folder, parts: None)
    monkeypatch.setattr(SuperclevrStudy, "hash_recipes", lambda self, parts: "recipe")
    return made


def order(tmp_path, **rest):
    usual = {"suite": "superclevr", "out": tmp_path, "cells": tmp_path / "cells", "scale": TINY, "models": MODELS}
    return StudySpec(**(usual | {"factors": ("visual",)} | rest))


@pytest.mark.parametrize("background", [False, True])
def test_every_training_is_asked_about_every_test(lab, tmp_path, background):
    records = list(study(order(tmp_path, background=background)))
    assert lab.trained == [
        "paper-scene-default-0",
        "paper-questions-default-0",
        "paper-scene-easy-0",
        "paper-scene-hard-0",
    ]
    cells = [r for r in records if isinstance(r, TransferEntry)]
    assert len(cells) == 27
    assert len([r for r in records if isinstance(r, TrainingRecord)]) == 3
    assert len([r for r in records if isinstance(r, OracleDiagnosis)]) == 1
    assert {c.find_outcome("object").undefined for c in cells} == {1}
    assert len(build_transfer_matrix(EntryStore(tmp_path / "cells").read_records(), TINY).entries) == 27


def test_levels_of_redundancy_share_a_scene_parser(lab, tmp_path):
    records = list(study(order(tmp_path, factors=("redundancy",), models=("nsvqa",))))
    assert lab.trained == [
        "paper-scene-default-0",
        "paper-questions-default-0",
        "paper-questions-rd--0",
        "paper-questions-rd+-0",
    ]
    rows = {c.trained.label: c.origin.weights[0] for c in records if isinstance(c, TransferEntry)}
    assert list(rows) == ["default", "default rd-", "default rd+"]
    assert len(set(rows.values())) == 1


def test_a_stopped_study_goes_on_with_the_next_cell(lab, tmp_path):
    first = study(order(tmp_path))
    stopped = [next(first) for _ in range(9)]  # the training, seven cells and the diagnosis between them
    first.close()
    trained, lab.asked = list(lab.trained), []
    rest = list(study(order(tmp_path)))
    assert lab.trained[: len(trained)] == trained
    assert lab.trained[len(trained) :] == ["paper-scene-easy-0", "paper-scene-hard-0"]
    assert lab.asked[:2] == [("hard", "p_nsvqa"), ("hard", "p_nsvqa_exact")]
    names = [r.name for r in (*stopped, *rest)]
    assert len(names) == len(set(names)) == 27 + 3 + 1
    assert list(study(order(tmp_path))) == []  # all is there


def test_a_study_that_makes_data_in_the_background_is_stopped_and_goes_on(lab, tmp_path):
    first = study(order(tmp_path, background=True))
    stopped = [next(first) for _ in range(3)]
    first.close()
    there = EntryStore(tmp_path / "cells").read_records()
    assert {r.name for r in stopped} <= {r.name for r in there}
    rest = list(study(order(tmp_path, background=True)))
    assert {r.name for r in (*there, *rest)} == {r.name for r in EntryStore(tmp_path / "cells").read_records()}
    assert len(there) + len(rest) == 27 + 3 + 1
    assert len(lab.trained) == len(set(lab.trained)) == 4


def test_cells_say_what_they_rest_on_and_how_long_they_were_seen(lab, tmp_path):
    cells = [r for r in study(order(tmp_path, only=("easy",))) if isinstance(r, TransferEntry)]
    exact = [c for c in cells if c.model == "p_nsvqa_exact"]
    rest = [c for c in cells if c.model != "p_nsvqa_exact"]
    assert len({c.origin.learned for c in exact}) == 1 and exact[0].origin.learned
    assert {c.origin.learned for c in rest} == {None}
    assert {dict(c.seconds)["see"] for c in exact} == {2.0}
    assert {dict(c.seconds)["see"] for c in rest} == {1.0}
    assert {c.adapted for c in exact} == {True} and {c.adapted for c in rest} == {None}


def test_only_exact_inference_is_asked_again_once_it_rests_on_something_else(lab, tmp_path, monkeypatch):
    first = list(study(order(tmp_path, only=("mid",))))
    lab.asked = []
    monkeypatch.setattr(p_nsvqa_exact, "ADAPTATION_IMAGES", 5)
    again = list(study(order(tmp_path, only=("mid",))))
    assert {model for test, model in lab.asked if test != "default"} == {"p_nsvqa_exact"}
    assert len([r for r in again if isinstance(r, TransferEntry)]) == 3
    assert len([r for r in again if isinstance(r, OracleDiagnosis)]) == 1
    assert {r.origin.learned for r in again if isinstance(r, TransferEntry)} != {
        r.origin.learned for r in first if isinstance(r, TransferEntry) and r.model == "p_nsvqa_exact"
    }


def test_models_that_a_diagnosis_lacks_are_diagnosed_and_shown_beside_the_others(lab, tmp_path):
    def diagnosed(*models):
        return [r.models for r in study(order(tmp_path, models=models)) if isinstance(r, OracleDiagnosis)]

    assert diagnosed("p_nsvqa_exact") == [("p_nsvqa_exact",)]
    assert diagnosed("nsvqa") == [("nsvqa",)]
    assert diagnosed("nsvqa", "p_nsvqa_exact") == []
    (shown,) = build_transfer_matrix(EntryStore(tmp_path / "cells").read_records(), TINY).diagnoses
    assert shown.models == ("nsvqa", "p_nsvqa_exact")
    assert diagnosed("nsvqa", "p_nsvqa") == [("nsvqa", "p_nsvqa")]


def test_where_weights_are_lost_a_whole_row_is_made_anew(lab, tmp_path):
    first = study(order(tmp_path))
    for _ in range(9):
        next(first)
    first.close()
    lab.kept.clear()
    lab.version = "2"
    list(study(order(tmp_path)))
    board = build_transfer_matrix(EntryStore(tmp_path / "cells").read_records(), TINY)
    assert len(board.entries) == 27
    default = {c.origin.weights for key, c in board.entries.items() if key[1].label == "default"}
    assert default == {
        (("scene_parser", "paper-scene-default-0 2"), ("question_parser", "paper-questions-default-0 2"))
    }


def test_a_shipped_parser_is_used_where_stored_cells_rest_on_it(lab, tmp_path, monkeypatch):
    list(study(order(tmp_path, only=("mid",))))
    reading = lab.kept.pop("paper-questions-default-0")
    lab.kept.clear()
    lab.version, lab.trained = "2", []
    sent = {reading.about["question_parser"]["blake2b"]: reading}
    monkeypatch.setattr(SuperclevrStudy, "find_shipped", lambda self, part, digest: sent.get(digest))
    told = []
    records = list(study(order(tmp_path), tell=told.append))
    assert lab.trained == ["paper-scene-easy-0", "paper-scene-hard-0"]
    assert {r.trained.label for r in records} == {"easy", "hard"}
    assert len(build_transfer_matrix(EntryStore(tmp_path / "cells").read_records(), TINY).entries) == 27
    assert not [sentence for sentence in told if "stored entries rest on" in sentence]


def test_a_question_parser_trained_anew_is_told_of(lab, tmp_path):
    list(study(order(tmp_path, only=("mid",))))
    lab.kept.clear()
    lab.version = "2"
    told = []
    list(study(order(tmp_path, only=("easy",)), tell=told.append))
    assert [s for s in told if "stored entries rest on another training of paper-questions-default-0" in s]
    board = build_transfer_matrix(EntryStore(tmp_path / "cells").read_records(), TINY)
    assert {key[1].label for key in board.entries} == {"easy"}  # as many cells, and later


def test_what_is_finished_is_not_trained_even_where_weights_are_lost(lab, tmp_path):
    list(study(order(tmp_path)))
    lab.kept.clear()
    assert list(study(order(tmp_path))) == []
    assert len(lab.trained) == 4


def test_cells_of_earlier_studies_are_not_made_again(lab, tmp_path):
    list(study(order(tmp_path, only=("easy",))))
    asked = order(tmp_path, cells=tmp_path / "new.jsonl", known=tmp_path / "cells")
    assert {r.trained.label for r in study(asked)} == {"default", "hard"}


def test_no_training_is_begun_that_would_not_be_done(lab, tmp_path, monkeypatch):
    clock = iter(range(0, 100_000, 100))  # every look at the clock is 100 seconds later
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    told = []
    records = list(study(order(tmp_path, minutes=8.0), tell=told.append))
    # Begun at 0; the first row takes 100 s, the second from 400 s on would end too late.
    assert {r.trained.label for r in records} == {"default"}
    assert told[-1] == "the minutes are over; the same command resumes from here"


def test_seeds_are_of_the_default(lab, tmp_path):
    records = list(study(order(tmp_path, seeds=(0, 1), only=("mid",), models=("nsvqa",))))
    asked = [(r.trained.label, r.tested) for r in records if isinstance(r, TransferEntry)]
    assert asked[-1] == ("default seed 1", StudyDomain())
    assert "paper-questions-default-1" in lab.trained


def test_a_training_is_kept_with_the_commands_that_trained_it(lab, tmp_path):
    made = [r for r in study(order(tmp_path, only=("easy",))) if isinstance(r, TrainingRecord)]
    scenes, questions = "paper-scene-easy-0", "paper-questions-default-0"  # without the machine's folders
    assert [r.command for r in made] == [f"train --out {scenes} --seed 0; train --out {questions} --seed 0"]
