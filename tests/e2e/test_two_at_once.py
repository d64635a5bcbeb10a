"""Two commands at once on one folder: the second is refused with the first one's process id, nothing is lost."""

import json
import os
import signal
import subprocess
import time
from pipes import Pipe

import pytest

import audit_toys
from asked import dataset
from command import ROOT, command, here, refused
from shiftscope.folder import list_contents, lock_folder, lock_path
from shiftscope.shortcuts.audit_folder import is_audit
from shiftscope.store.dataset import Dataset
from shiftscope.store.run_log import read_run

EXAMPLES = ROOT / "examples" / "data"
SCENES, GRAPHS = EXAMPLES / "clevr_scenes.json", EXAMPLES / "gqa_graphs.json"


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """A folder with what the commands below are given."""
    folder = tmp_path_factory.mktemp("given")
    data = dataset(folder / "data").folder
    made = audit_toys.dataset(300)
    for name in "qa":
        (folder / f"{name}.json").write_text(json.dumps(made[{"q": "questions", "a": "annotations"}[name]]))
    for seed in (0, 1):
        words = ("--model", "random", "--seed", seed, "--data", data, "--out", folder / f"run{seed}")
        assert here("run", *words).returncode == 0
    return folder


# Each command with where it writes at the end, and how that is held.
FOLDER, NAME = lock_folder, lock_path
VERBS = {
    "audit": (FOLDER, ["audit", "--questions", "G/q.json", "--annotations", "G/a.json", "--out", "OUT"]),
    "export": (NAME, ["export", "G/data", "--to", "clevr", "--out", "OUT"]),
    "gallery": (FOLDER, ["gallery", "--of", "clevr", "--out", "OUT"]),
    "make clevr_hyp": (FOLDER, ["make", "clevr_hyp", "--images", 9, "--workers", 1, "--out", "OUT"]),
    "make covr": (FOLDER, ["make", "covr", "--graphs", GRAPHS, "--overlap", "schema", "--workers", 1, "--out", "OUT"]),
    "make gqa": (FOLDER, ["make", "gqa", "--graphs", GRAPHS, "--overlap", "schema", "--workers", 1, "--out", "OUT"]),
    "make scenes": (FOLDER, ["make", "scenes", "-n", 2, "--size", "32x24", "--workers", 1, "--out", "OUT"]),
    "make superclevr": (FOLDER, ["make", "superclevr", "--study", "--images", 6, "--workers", 1, "--out", "OUT"]),
    "render": (FOLDER, ["render", "--scenes", SCENES, "--size", "32x24", "--out", "OUT"]),
    "report": (NAME, ["report", "G/run0", "G/run1", "--out", "OUT"]),
    "run": (FOLDER, ["run", "--model", "random", "--data", "G/data", "--out", "OUT"]),
    "split": (NAME, ["split", "G/data", "--hold-out", "has_count", "--out", "OUT"]),
    "study": (FOLDER, ["study", "superclevr", "--train", "easy", "--device", "cpu", "--out", "OUT"]),
    "test": (FOLDER, ["test", "contrast", "--model", "oracle", "--data", "G/data", "--out", "OUT"]),
    "train": (FOLDER, ["train", "--model", "p_nsvqa", "--data", "superclevr", "--images", 8, "--device", "cpu", "--out", "OUT"]),
}  # fmt: skip
QUICK = ("audit", "export", "make scenes", "render", "report", "run", "test")


def words_of(verb, given, out):
    return [str(w).replace("G/", f"{given}/").replace("OUT", str(out)) for w in VERBS[verb][1]]


@pytest.mark.parametrize("verb", VERBS)
def test_a_second_one_is_refused_and_leaves_nothing(verb, given, tmp_path):
    if verb in ("study", "train"):
        pytest.importorskip("torch")
    out = tmp_path / "deep" / "out"
    with VERBS[verb][0](out):
        before = sorted(tmp_path.rglob("*"))
        sentence = refused(here(*words_of(verb, given, out)))
        assert f"{out}: process {os.getpid()} is already working on it; wait for it to end" in sentence
        assert sorted(tmp_path.rglob("*")) == before
    assert not (tmp_path / "deep").exists()


@pytest.mark.parametrize("verb", QUICK)
def test_it_goes_on_once_the_first_one_has_ended(verb, given, tmp_path):
    out = tmp_path / "out"
    with VERBS[verb][0](out):
        refused(here(*words_of(verb, given, out)))
    done = here(*words_of(verb, given, out))
    assert done.returncode == 0, done.stderr
    assert not [p for p in tmp_path.rglob("*") if p.name.endswith((".lock", ".partial"))]


def test_select_does_not_write_into_a_run_that_goes_on(given):
    words = ("select", given / "run0", given / "run1", "--on-ood")
    with lock_folder(given / "run0"), lock_folder(given / "run1"):
        assert f"process {os.getpid()} is already working on it" in refused(here(*words))
    assert not [*given.glob("run*/selection.json")]
    assert here(*words).returncode == 0


def together(*commands):
    """Start processes at once and wait; their exit codes and what they complained of."""
    started = [subprocess.Popen(c, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for c in commands]
    return [(p.returncode, err) for p in started for _, err in [p.communicate(timeout=300)]]


WHOLE = {
    "audit": lambda out: is_audit(out) and (out / "report.html").exists() and (out / "IID-Test").is_dir(),
    "export": lambda out: sorted(list_contents(out)) == ["images", "questions", "scenes"],
    "make scenes": lambda out: Dataset.open(out).verify() is None,
    "render": lambda out: len([*out.glob("*.png")]) == len(json.loads(SCENES.read_text())["scenes"]),
    "report": lambda out: out.read_text().endswith("</html>\n"),
    "run": lambda out: read_run(out).finished and len(read_run(out).records) == 36,
    "split": lambda out: all(json.loads(path.read_text()) for path in out.rglob("*.json")),
    "test": lambda out: json.loads((out / "result.json").read_text())["test"] == "contrast",
}


@pytest.mark.parametrize(
    "verb", [verb if verb == "run" else pytest.param(verb, marks=pytest.mark.full) for verb in WHOLE]
)
def test_of_three_at_once_each_succeeds_or_is_refused_and_the_result_is_whole(verb, given, tmp_path):
    out = tmp_path / "out"
    ended = together(*[command(*words_of(verb, given, out))] * 3)
    assert {code for code, _ in ended} <= {0, 2} and 0 in {code for code, _ in ended}, ended
    for code, complaint in ended:
        if code == 2:
            assert "is already working on it" in complaint or "is already there" in complaint, complaint
            assert len(complaint.strip().splitlines()) == 1
    assert WHOLE[verb](out)
    assert not [p for p in tmp_path.rglob("*") if p.name.endswith((".lock", ".partial"))]


def waits(process, path):
    """Until the process holds the lock at `path`."""
    deadline = time.monotonic() + 120
    while not (path.exists() and path.read_text().split()[:1] == [str(process.pid)]):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)


def test_an_audit_under_way_keeps_its_folder_and_ends_whole(given, tmp_path):
    out, pipe = tmp_path / "out", Pipe(tmp_path / "q.json")
    slow = ("audit", "--questions", pipe.path, "--annotations", given / "a.json", "--out", out)
    first = subprocess.Popen(command(*slow), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    waits(first, out / ".lock")
    sentence = refused(here(*words_of("audit", given, out)))
    assert f"{out}: process {first.pid} is already working on it" in sentence
    pipe.write((given / "q.json").read_bytes())
    _, complaint = first.communicate(timeout=300)
    assert first.returncode == 0, complaint
    assert WHOLE["audit"](out)
    assert not (out / ".lock").exists()


def test_a_kill_leaves_no_folder_locked(given, tmp_path):
    out, pipe = tmp_path / "out", Pipe(tmp_path / "q.json")
    slow = ("audit", "--questions", pipe.path, "--annotations", given / "a.json", "--out", out)
    first = subprocess.Popen(command(*slow), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    waits(first, out / ".lock")
    first.send_signal(signal.SIGKILL)
    first.wait()
    pipe.close()
    assert (out / ".lock").exists()
    assert here(*words_of("audit", given, out)).returncode == 0
    assert WHOLE["audit"](out)
    assert not (out / ".lock").exists()


@pytest.mark.full
def test_two_trainings_at_once(tmp_path):
    pytest.importorskip("torch")
    from shiftscope.models.nsvqa.trained_model import PARSERS, read_trained_model
    from shiftscope.run.make import make
    from shiftscope.suites.superclevr import suite as superclevr

    data, out = tmp_path / "data", tmp_path / "out"
    order = superclevr.SuperclevrSpec(images=18, size=(128, 96), questions=2, part_questions=1)
    make("superclevr", order, data, workers=1)
    words = ("train", "--model", "p_nsvqa", "--data", data, "--epochs", 1, "--device", "cpu", "--out", out)
    ended = together(*[command(*words, "--workers", 1)] * 2)
    assert sorted(code for code, _ in ended) in ([0, 2], [0, 0]), ended
    for code, complaint in ended:
        assert code == 0 or f"{out}: process " in complaint, complaint
        assert "Traceback" not in complaint
    trained = read_trained_model(out)
    assert all(trained.read_bytes(part) for part in PARSERS)
    assert not [p for p in out.rglob("*") if p.name.endswith((".lock", ".partial"))]
