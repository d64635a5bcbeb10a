"""A study that was stopped goes on with the next cell; rows of other weights are made anew. Nothing is trained."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from shiftscope.run.study import study as module
from shiftscope.run.study.board import asked_order, board_of
from shiftscope.run.study.cell import ORACLES, Asked, Cell, Diagnosis, Training
from shiftscope.run.study.exam import Exam, Sheet
from shiftscope.run.study.matrix import Domain
from shiftscope.run.study.pipeline import Said, Seen
from shiftscope.run.study.scale import Scale
from shiftscope.run.study.shelf import Shelf
from shiftscope.run.study.study import Order, study

TINY = Scale("paper", 12, (96, 64), questions=1, part_questions=0)  # as of the paper: no runs are written


@dataclass
class Weights:
    """What a training leaves; `version` tells trainings of one parser apart."""

    about: dict


class Lab:
    """Stands in for all that makes data, trains and answers; keeps what it was asked for."""

    def __init__(self):
        self.trained, self.asked, self.kept, self.version = [], [], {}, "1"

    def train(self, parser, lessons, folder, **rest):
        assert lessons == f"lessons of {parser.name}"
        self.trained.append(parser.name)
        told = f"train --out /tmp/of/this/machine/{parser.name} --seed 0"
        entry = {"blake2b": f"{parser.name} {self.version}", "val": {"exact": 1.0}, "command": told}
        self.kept[parser.name] = Weights({parser.part: entry, "seconds": {"all": 1.0}})
        return self.kept[parser.name]

    def exam(self, domain):
        sheet = Sheet(("a?", "b?"), ("yes", "no"), np.array([1, 1]), "id")
        empty = Sheet((), (), np.array([0, 0]), "none")
        described = Asked(domain, asked_order(domain, TINY), f"questions of {domain.label}")
        return Exam(described, np.zeros((2, 1)), (), {"object": sheet, "part": empty}, 0.5)

    def ask(self, exam, seen, reader, eyes, clock):
        self.asked.append((exam.asked.tested.label, *seen))
        clock.seconds |= {"see": 1.0, "see, attuned": 2.0, "read": 1.0, **dict.fromkeys(seen, 1.0)}
        said = {"object": Said.of(("yes", None), np.array([0.9, np.nan])), "part": Said.of(())}
        return dict.fromkeys(seen, said)


@pytest.fixture
def lab(monkeypatch):
    made = Lab()
    device = SimpleNamespace(device=SimpleNamespace(type="cpu"))
    for name, value in {
        "need_torch": lambda model: None,
        "write_joined": lambda folder, scenes, questions: None,
        "accelerator_for": lambda device_: device,
        "device_name": lambda device_: "toy",
        "prepare": lambda parser, **rest: f"lessons of {parser.name}",
        "finished": lambda parser, folder: made.kept.get(parser.name),
        "train_parser": made.train,
        "recipe_id": lambda seeing, reading: "recipe",
        "Exams": lambda scale, **rest: SimpleNamespace(get=made.exam),
        "Eyes": lambda trained, device_: "eyes",
        "look": lambda models, pixels, eyes, clock: {
            m: Seen("beliefs", True if m == "p_nsvqa_exact" else None) for m in models
        },
        "Reader": lambda trained, device_: "reader",
        "ask": made.ask,
        "diagnose": lambda exam, seen, reader, eyes, origin: Diagnosis(
            origin, exam.asked, tuple((model, "object", ORACLES[0], (1, 2)) for model in seen), ()
        ),
    }.items():
        monkeypatch.setattr(module, name, value)
    return made


def order(tmp_path, **rest):
    return Order(
        **({"out": tmp_path, "cells": tmp_path / "cells", "scale": TINY, "factors": ("visual",)} | rest)
    )


@pytest.mark.parametrize("apart", [False, True])
def test_every_training_is_asked_about_every_test(lab, tmp_path, apart):
    records = list(study(order(tmp_path, apart=apart)))
    assert lab.trained == [
        "paper-scene-default-0",
        "paper-questions-default-0",
        "paper-scene-easy-0",
        "paper-scene-hard-0",
    ]
    cells = [r for r in records if isinstance(r, Cell)]
    assert len(cells) == 27
    assert len([r for r in records if isinstance(r, Training)]) == 3
    assert len([r for r in records if isinstance(r, Diagnosis)]) == 1
    assert {c.outcome("object").undefined for c in cells} == {1}
    assert len(board_of(Shelf(tmp_path / "cells").records(), TINY).cells) == 27


def test_levels_of_redundancy_share_a_scene_parser(lab, tmp_path):
    records = list(study(order(tmp_path, factors=("redundancy",), models=("nsvqa",))))
    assert lab.trained == [
        "paper-scene-default-0",
        "paper-questions-default-0",
        "paper-questions-rd--0",
        "paper-questions-rd+-0",
    ]
    rows = {c.trained.label: c.origin.weights[0] for c in records if isinstance(c, Cell)}
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
    assert lab.asked[0] == ("hard", "p_nsvqa", "p_nsvqa_exact")
    names = [r.name for r in (*stopped, *rest)]
    assert len(names) == len(set(names)) == 27 + 3 + 1
    assert list(study(order(tmp_path))) == []  # all is there


def test_a_study_that_makes_data_in_the_background_is_stopped_and_goes_on(lab, tmp_path):
    first = study(order(tmp_path, apart=True))
    stopped = [next(first) for _ in range(3)]
    first.close()
    there = Shelf(tmp_path / "cells").records()
    assert {r.name for r in stopped} <= {r.name for r in there}
    rest = list(study(order(tmp_path, apart=True)))
    assert {r.name for r in (*there, *rest)} == {r.name for r in Shelf(tmp_path / "cells").records()}
    assert len(there) + len(rest) == 27 + 3 + 1
    assert len(lab.trained) == len(set(lab.trained)) == 4


def test_cells_say_what_they_rest_on_and_how_long_they_were_seen(lab, tmp_path):
    cells = [r for r in study(order(tmp_path, only=("easy",))) if isinstance(r, Cell)]
    exact = [c for c in cells if c.model == "p_nsvqa_exact"]
    rest = [c for c in cells if c.model != "p_nsvqa_exact"]
    assert len({c.origin.learned for c in exact}) == 1 and exact[0].origin.learned
    assert {c.origin.learned for c in rest} == {None}
    assert {dict(c.seconds)["see"] for c in exact} == {2.0}
    assert {dict(c.seconds)["see"] for c in rest} == {1.0}
    assert {c.attuned for c in exact} == {True} and {c.attuned for c in rest} == {None}


def test_only_exact_inference_is_asked_again_once_it_rests_on_something_else(lab, tmp_path, monkeypatch):
    first = list(study(order(tmp_path, only=("mid",))))
    lab.asked = []
    monkeypatch.setattr(module, "ATTUNED", 5)
    again = list(study(order(tmp_path, only=("mid",))))
    assert {models for asked in lab.asked for models in asked[1:]} == {"p_nsvqa_exact"}
    assert len([r for r in again if isinstance(r, Cell)]) == 3
    assert len([r for r in again if isinstance(r, Diagnosis)]) == 1
    assert {r.origin.learned for r in again if isinstance(r, Cell)} != {
        r.origin.learned for r in first if isinstance(r, Cell) and r.model == "p_nsvqa_exact"
    }


def test_models_that_a_diagnosis_lacks_are_diagnosed_and_shown_beside_the_others(lab, tmp_path):
    def diagnosed(*models):
        return [r.models for r in study(order(tmp_path, models=models)) if isinstance(r, Diagnosis)]

    assert diagnosed("p_nsvqa_exact") == [("p_nsvqa_exact",)]
    assert diagnosed("nsvqa") == [("nsvqa",)]
    assert diagnosed("nsvqa", "p_nsvqa_exact") == []
    (shown,) = board_of(Shelf(tmp_path / "cells").records(), TINY).diagnoses
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
    board = board_of(Shelf(tmp_path / "cells").records(), TINY)
    assert len(board.cells) == 27
    default = {c.origin.weights for key, c in board.cells.items() if key[1].label == "default"}
    assert default == {
        (("scene_parser", "paper-scene-default-0 2"), ("question_parser", "paper-questions-default-0 2"))
    }


def test_a_shipped_parser_is_used_where_stored_cells_rest_on_it(lab, tmp_path, monkeypatch):
    list(study(order(tmp_path, only=("mid",))))
    reading = lab.kept.pop("paper-questions-default-0")
    lab.kept.clear()
    lab.version, lab.trained = "2", []
    sent = {reading.about["question_parser"]["blake2b"]: reading}
    monkeypatch.setattr(module, "shipped", lambda part, digest: sent.get(digest))
    told = []
    records = list(study(order(tmp_path), tell=told.append))
    assert lab.trained == ["paper-scene-easy-0", "paper-scene-hard-0"]
    assert {r.trained.label for r in records} == {"easy", "hard"}
    assert len(board_of(Shelf(tmp_path / "cells").records(), TINY).cells) == 27
    assert not [sentence for sentence in told if "stored cells rest on" in sentence]


def test_a_question_parser_trained_anew_is_told_of(lab, tmp_path):
    list(study(order(tmp_path, only=("mid",))))
    lab.kept.clear()
    lab.version = "2"
    told = []
    list(study(order(tmp_path, only=("easy",)), tell=told.append))
    assert [s for s in told if "stored cells rest on another training of paper-questions-default-0" in s]
    board = board_of(Shelf(tmp_path / "cells").records(), TINY)
    assert {key[1].label for key in board.cells} == {"easy"}  # as many cells, and later


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
    assert told[-1] == "the minutes are over; the same command goes on from here"


def test_seeds_are_of_the_default(lab, tmp_path):
    records = list(study(order(tmp_path, seeds=(0, 1), only=("mid",), models=("nsvqa",))))
    asked = [(r.trained.label, r.tested) for r in records if isinstance(r, Cell)]
    assert asked[-1] == ("default seed 1", Domain())
    assert "paper-questions-default-1" in lab.trained


def test_a_training_is_kept_with_the_commands_that_trained_it(lab, tmp_path):
    made = [r for r in study(order(tmp_path, only=("easy",))) if isinstance(r, Training)]
    scenes, questions = "paper-scene-easy-0", "paper-questions-default-0"  # without the machine's folders
    assert [r.command for r in made] == [f"train --out {scenes} --seed 0; train --out {questions} --seed 0"]
