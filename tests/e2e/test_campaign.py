"""A short slice of the campaign: a few attacks of each part, a journal that goes on, and the page it makes."""

import json

import pytest

from campaign import calls
from campaign.__main__ import PARTS, attempt, load, run
from campaign.report import write_report
from campaign.stories import STORIES
from campaign.trial import Journal, Trial

TRIALS = {"calls": 1, "figures": 12, "fuzz": 3}


@pytest.mark.parametrize(
    "name", [pytest.param("calls", marks=pytest.mark.full), "figures", pytest.param("fuzz", marks=pytest.mark.full)]
)
def test_nothing_breaks(name, tmp_path, monkeypatch):
    monkeypatch.setattr(calls, "IMAGES", 6)  # ten questions each
    trials = [attempt(load(name), 0, k, tmp_path) for k in range(TRIALS[name])]
    assert [trial.fault for trial in trials] == [""] * TRIALS[name]
    assert sum(trial.count for trial in trials) >= TRIALS[name]


@pytest.mark.full
@pytest.mark.parametrize("name", ["kills", "hostile"])
def test_nothing_is_lost(name, tmp_path, monkeypatch):
    """Of the verbs that end soonest; the whole campaign has them all."""
    quick = tuple(story for story in STORIES if story.verb in ("audit", "run", "split", "export to files"))
    part = load(name)
    monkeypatch.setattr(part, "draw_story", lambda random, *_: quick[int(random.integers(len(quick)))])
    trials = [attempt(part, 0, k, tmp_path) for k in range(5)]
    assert [trial.fault for trial in trials] == [""] * 5


class Breaks:
    """A part of which every third trial finds something."""

    NAME, UNIT, TARGET, PROMISE = "breaks", "blows", 9, "Nothing breaks."

    def __init__(self):
        self.seen = []

    def attack(self, random, folder):
        (folder / "found").touch()
        self.seen.append(float(random.random()))
        fault = "it broke" if len(self.seen) % 3 == 0 else ""
        return Trial("breaks", 0, "a blow", fault=fault, figures={"blows": 1.0})

    def describe(self, trials):
        return f"{len(trials)} blows."

    def judge(self, trials):
        return ["too many broke"] if sum(bool(t.fault) for t in trials) > 2 else []


def test_a_campaign_goes_on_where_it_stopped_and_keeps_what_it_found(tmp_path, capsys):
    part, out = Breaks(), tmp_path / "out"
    journal = Journal(out / "trials.jsonl")
    part.TARGET = 4
    assert run({"breaks": part}, journal, 5, 1.0, out) == 1
    with journal.path.open("a") as file:
        file.write('{"part": "breaks", "num')  # killed in the midst of a line
    part.TARGET = 9
    assert run({"breaks": part}, Journal(journal.path), 5, 1.0, out) == 2
    assert [trial.number for trial in journal.trials()] == [*range(9)]
    assert len(set(part.seen)) == 9
    assert sorted(p.name for p in (out / "faults").iterdir()) == ["breaks-5-2", "breaks-5-5", "breaks-5-8"]
    assert (out / "faults" / "breaks-5-2" / "found").exists()
    page = tmp_path / "page.md"
    write_report(page, {"breaks": part}, [*journal.trials()])
    told = page.read_text()
    assert "| breaks | 9 blows | 9 | 9 | 0 | 4 | Nothing breaks. |" in told
    assert "**Does not hold: too many broke.**" in told
    assert "**Fault** of trial 2 (seed 5), a blow: it broke" in told


def test_an_attack_that_fails_itself_is_a_fault(tmp_path):
    part = Breaks()
    part.attack = lambda random, folder: 1 / 0
    trial = attempt(part, 0, 0, tmp_path)
    assert "ZeroDivisionError" in trial.fault
    assert json.loads(json.dumps(trial.what)) == "the attack itself"


def test_every_part_says_what_it_counts():
    for name in PARTS:
        part = load(name)
        assert name == part.NAME and part.UNIT and part.PROMISE and part.TARGET > 0
