"""A study that was stopped goes on with the next cell; rows of other weights are made anew. Nothing is trained."""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from shiftscope.errors import UserError
from shiftscope.model import Prompt
from shiftscope.question import Question
from shiftscope.result import Prediction, QuestionRecord
from shiftscope.run.study import part_training
from shiftscope.run.study import study as module
from shiftscope.run.study.entries import ORACLES, OracleDiagnosis, StudyTestId, TrainingRecord, TransferEntry
from shiftscope.run.study.entry_store import EntryStore, build_transfer_matrix, hash_test_data
from shiftscope.run.study.evaluation import EntryRun, score_rows
from shiftscope.run.study.study import study
from shiftscope.run.study.study_spec import StudySpec
from shiftscope.run.study.test_sets import StudyQuestions, StudyTestSet
from shiftscope.suites.superclevr.study import StudyScale, SuperclevrStudy
from shiftscope.train.loop import TrainingPaused

MODELS = ("nsvqa", "p_nsvqa", "p_nsvqa_exact")
TINY = StudyScale("paper", 12, (96, 64), questions=1, part_questions=0)  # as of the paper: no runs are written


@dataclass
class Weights:
    """What a training leaves; `version` tells trainings of one parser apart."""

    about: dict
    FIGURES = ("calibration",)

    @property
    def parts(self):
        return [name for name in ("scene_parser", "question_parser") if name in self.about]

    @property
    def folder(self):
        return Path(self.about["name"])

    def id(self):
        return self.about["name"]

    def config(self, stage):
        return {"width": 3}


class Lab:
    """Stands in for all that makes data, trains and answers; keeps what it was asked for."""

    def __init__(self):
        self.trained, self.asked, self.kept, self.version = [], [], {}, "1"
        self.made, self.bases = [], {}  # parts whose data were made together; what each stands on
        self.calibration = 1.0

    def make_data(self, suite, parts, **rest):
        self.made.append([part.name for part in parts])
        return [f"data of {part.name}" for part in parts]

    def train(self, suite, part, data, folder, base=None, **rest):
        assert data == f"data of {part.name}"
        self.trained.append(part.name)
        self.bases[part.name] = base and base.name
        told = f"train --out /tmp/of/this/machine/{part.name} --seed 0"
        entry = {"blake2b": f"{part.name} {self.version}", "val": {"exact": 1.0}, "command": told, "recipe": {}}
        about = {"seconds": {"all": 1.0}, "device": "toy", "calibration": self.calibration, "name": part.name}
        self.kept[part.name] = Weights(about | dict.fromkeys(part.stages, entry))
        return self.kept[part.name]

    def make_testset(self, domain, split):
        prompts = tuple(Prompt(Question(name, f"{name}?", (f"s{k}",))) for k, name in enumerate("ab"))
        records = (QuestionRecord("a", ("s0",), "yes"), QuestionRecord("b", ("s1",), "no"))
        objects = StudyQuestions(prompts, records, np.array([1, 1]))
        groups = {"object": objects, "part": StudyQuestions((), (), np.array([0, 0]))}
        described = StudyTestId(domain, hash_test_data(domain, TINY), f"questions of {domain.label}", split)
        return StudyTestSet(described, (), (), groups, 0.5, (domain.label,))

    def ask(self, model, name, testset, keep_rows=True):
        assert model.name == name
        self.asked.append((testset.test.tested.label, name))
        said = Prediction("a", "yes", confidence=0.9), Prediction("b", status="undefined")
        rows = {"object": list(zip(testset.groups["object"].records, said, strict=True)), "part": []}
        return EntryRun(testset, model, score_rows(rows, testset), {"see": 1.0, "read": 1.0, "execute": 1.0}, rows)


@dataclass(frozen=True)
class Asked:
    """A model that keeps what it adapts to hard, and nothing of what it adapts to anything else."""

    name: str
    adapted: tuple | None = None

    def adapt(self, pictures, kind):
        return Asked(self.name, (kind,) if pictures == ("hard",) else ())


@pytest.fixture
def lab(monkeypatch):
    made = Lab()
    device = SimpleNamespace(device=SimpleNamespace(type="cpu"))
    for name, value in {
        "require_torch": lambda model: None,
        "make_accelerator": lambda device_: device,
        "name_device": lambda device_: "toy",
        "train_part": made.train,
        "StudyTestSets": lambda study_, scale, **rest: SimpleNamespace(get_or_make=made.make_testset),
        "build_model": lambda text, setting: Asked(text.partition(":")[0]),
        "evaluate_testset": made.ask,
        "diagnose_models": lambda runs, base, testset, origin: OracleDiagnosis(
            origin, testset.test, tuple((model, "object", ORACLES[0], (1, 2)) for model in runs), ()
        ),
    }.items():
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(part_training, "make_training_data", made.make_data)
    monkeypatch.setattr(part_training, "find_finished", lambda suite, part, folder, base: made.kept.get(part.name))
    monkeypatch.setattr(SuperclevrStudy, "combine_parts", lambda self, folder, parts: None)
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


def test_a_row_is_asked_before_the_parser_of_the_next_one_is_trained(lab, tmp_path):
    """A lease that ends while the last parser is trained has the entries of all others."""
    trained_by = {}
    for record in study(order(tmp_path, factors=("redundancy",), models=("nsvqa",))):
        if isinstance(record, TransferEntry):
            trained_by[record.trained.label] = lab.trained[-1]
    assert trained_by == {
        "default": "paper-questions-default-0",
        "default rd-": "paper-questions-rd--0",
        "default rd+": "paper-questions-rd+-0",
    }


def test_a_stopped_study_goes_on_with_the_next_cell(lab, tmp_path):
    first = study(order(tmp_path))
    stopped = [next(first) for _ in range(8)]  # the training and seven cells
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


def conditions(tmp_path, **rest):
    return order(tmp_path, only=("mid",), models=("p_nsvqa",), adapts=("none", "norm"), **rest)


def test_an_entry_says_what_was_adapted_and_whether_it_was_kept(lab, tmp_path):
    cells = [r for r in study(conditions(tmp_path)) if isinstance(r, TransferEntry)]
    told = {(c.tested.label, c.contender.adapt): c.adapted for c in cells}
    usual = {(at, "none"): None for at in ("easy", "default", "hard")}
    assert told == usual | {("easy", "norm"): (), ("default", "norm"): (), ("hard", "norm"): ("norm",)}
    # Where nothing was kept, nothing is asked again, and the outcome is that without adaptation.
    assert lab.asked.count(("easy", "p_nsvqa")) == 1 and lab.asked.count(("hard", "p_nsvqa")) == 2
    stored = EntryStore(tmp_path / "cells").read_records()
    assert {c.outcomes for c in stored if isinstance(c, TransferEntry) and c.adapted == ()} == {()}
    board = build_transfer_matrix(stored, TINY).entries
    plain, same = (
        next(c for k, c in board.items() if (k[0], k[2].label) == (m, "easy")) for m in ("p_nsvqa", "p_nsvqa, norm")
    )
    assert same.outcomes == plain.outcomes


def test_positions_and_splits_are_gone_through(lab, tmp_path):
    asked = conditions(tmp_path, positions=("boxes", "predicted"), splits=("test", "val"))
    cells = [r for r in study(asked) if isinstance(r, TransferEntry)]
    assert len(cells) == len({(c.model, c.tested, c.test.split) for c in cells}) == 2 * 2 * 3 * 2
    assert {c.model for c in cells} == {"p_nsvqa", "p_nsvqa, predicted", "p_nsvqa, norm", "p_nsvqa, predicted, norm"}
    stored = EntryStore(tmp_path / "cells").read_records()
    assert len(build_transfer_matrix(stored, TINY).entries) == 12  # of the test split
    assert len(build_transfer_matrix(stored, TINY, split="val").entries) == 12
    assert list(study(asked)) == []


def test_positions_that_weights_know_nothing_of_are_left_out_with_a_sentence(lab, tmp_path, monkeypatch, refuses):
    refused = ["predicted"]

    def build(text, setting):
        if setting.options.positions in refused:
            raise UserError("it has learned no relations")
        return Asked(text.partition(":")[0])

    monkeypatch.setattr(module, "build_model", build)
    told = []
    asked = conditions(tmp_path, positions=("boxes", "predicted"))
    cells = [r for r in study(asked, tell=told.append) if isinstance(r, TransferEntry)]
    assert {c.model for c in cells} == {"p_nsvqa", "p_nsvqa, norm"}
    assert set(told) >= {"p_nsvqa, predicted is left out: it has learned no relations"}
    refused.append("boxes")
    with refuses("it has learned no relations"):
        list(study(conditions(tmp_path / "again")))


def test_everything_is_asked_again_once_it_rests_on_something_else(lab, tmp_path):
    first = [r for r in study(order(tmp_path, only=("mid",))) if isinstance(r, TransferEntry)]
    for weights in lab.kept.values():
        weights.about["calibration"] = 2.0
    again = [r for r in study(order(tmp_path, only=("mid",))) if isinstance(r, TransferEntry)]
    assert len(again) == len(first) == 9
    assert {r.origin.learned for r in again}.isdisjoint({r.origin.learned for r in first})


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


def test_a_shipped_part_is_used_where_it_was_trained_in_the_same_way(lab, tmp_path, monkeypatch):
    list(study(order(tmp_path / "first", cells=tmp_path / "old", only=("mid",))))
    shipped, lab.kept, lab.trained = dict(lab.kept), {}, []
    monkeypatch.setattr(SuperclevrStudy, "find_shipped", lambda self, part: shipped.get(part.name))
    records = list(study(order(tmp_path)))
    assert lab.trained == ["paper-scene-easy-0", "paper-scene-hard-0"]
    assert {r.trained.label for r in records} == {"default", "easy", "hard"}


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


def test_a_piece_ends_between_entries_and_the_next_goes_on(lab, tmp_path, monkeypatch):
    clock = iter(range(0, 100_000, 40))  # every look at the clock is 40 seconds later
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    told, made = [], []
    for _ in range(30):
        made.append(list(study(order(tmp_path, minutes=8.0), tell=told.append)))
        if not made[-1]:
            break
    assert told.count("the minutes are over; the same command resumes from here") >= 3
    names = [record.name for piece in made for record in piece]
    assert len(names) == len(set(names)) == 27 + 3 + 1
    assert max(map(len, made)) < 12


def test_a_training_that_is_paused_ends_the_piece_and_is_resumed(lab, tmp_path, monkeypatch):
    def pause(suite, part, data, folder, minutes, **rest):
        assert 0 < minutes <= 8
        raise TrainingPaused

    told = []
    monkeypatch.setattr(module, "train_part", pause)
    assert list(study(order(tmp_path, minutes=8.0), tell=told.append)) == []
    assert told[-1].startswith("a training was paused; the same command resumes it")
    monkeypatch.setattr(module, "train_part", lab.train)
    assert list(study(order(tmp_path, minutes=8.0)))


def test_a_seed_is_of_every_row_asked_for(lab, tmp_path):
    records = list(study(order(tmp_path, seeds=(7,), only=("mid", "easy"), tests=("hard",), models=("nsvqa",))))
    asked = [(r.trained.label, r.tested.label) for r in records if isinstance(r, TransferEntry)]
    assert asked == [("default seed 7", "hard"), ("easy seed 7", "hard")]
    assert lab.trained == ["paper-scene-default-7", "paper-questions-default-7", "paper-scene-easy-7"]


def test_a_training_is_kept_with_the_commands_that_trained_it(lab, tmp_path):
    made = [r for r in study(order(tmp_path, only=("easy",))) if isinstance(r, TrainingRecord)]
    scenes, questions = "paper-scene-easy-0", "paper-questions-default-0"  # without the machine's folders
    assert [r.command for r in made] == [f"train --out {scenes} --seed 0; train --out {questions} --seed 0"]


SEEING = ("lstm", "film", "nscl")


@pytest.mark.parametrize("background", [False, True])
def test_what_sees_and_reads_has_the_parsers_of_its_row(lab, tmp_path, background):
    list(study(order(tmp_path, models=SEEING, only=("mid", "easy"), background=background)))
    assert lab.trained == [
        "paper-lstm-default-0",
        "paper-scene-default-0",
        "paper-film-default-0",
        "paper-questions-default-0",
        "paper-nscl-default-0",
        "paper-lstm-easy-0",
        "paper-scene-easy-0",
        "paper-film-easy-0",
        "paper-nscl-easy-0",
    ]
    assert {name: base for name, base in lab.bases.items() if base} == {
        "paper-film-default-0": "paper-scene-default-0",
        "paper-film-easy-0": "paper-scene-easy-0",
        "paper-nscl-default-0": "base-of-paper-nscl-default-0",
        "paper-nscl-easy-0": "base-of-paper-nscl-easy-0",
    }


@pytest.mark.parametrize("background", [False, True])
def test_models_that_learn_from_one_domain_share_its_data(lab, tmp_path, background):
    list(study(order(tmp_path, models=SEEING, only=("mid", "easy"), background=background)))
    assert [some for some in lab.made if len(some) > 1] == [
        [f"paper-{model}-{row}-0" for model in SEEING] for row in ("default", "easy")
    ]
    assert sorted(name for some in lab.made for name in some) == sorted(lab.trained)
