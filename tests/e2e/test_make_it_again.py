"""Every command that a page prints is typed again, elsewhere: the same bytes of data, the same runs."""

import json
import re
import shlex
import shutil
from html import unescape
from pathlib import Path

import pytest
from PIL import Image

import several_toys
from command import here
from graphs import random_graph
from shiftscope.formats.clevr import write_scenes as write_clevr_scenes
from shiftscope.formats.gqa import write_scenes as write_graphs
from shiftscope.store.dataset import Dataset
from shiftscope.store.run_log import compute_run_content_id, read_spec
from shiftscope.suites.superclevr.suite import SuperclevrSpec
from shiftscope.world import clevr as solids
from shiftscope.world.superclevr import sample_scene
from store_toys import content

TINY = ("--images", 7, "--size", "96x64", "--shard", 4)
FEW = (*TINY, "--questions", 2, "--part-questions", 1)


def commands(page):
    """The command lines of a page, each as words; what stands behind a # is for people."""
    shown = re.search(r'<pre class="commands" tabindex="0">(.*?)</pre>', page.read_text(), re.DOTALL)[1]
    return [words for line in unescape(shown).splitlines() if (words := shlex.split(line, comments=True))]


def do(*words, cwd):
    one_process = ("--workers", 1) if words[0] == "make" else ()
    result = here(*words, *one_process, cwd=cwd)
    assert result.returncode in (0, None), (words, result.stderr)
    return result


class Places:
    """A folder where things are made, and a fresh one with the same files of the user's own."""

    def __init__(self, folder):
        self.first, self.again = folder / "first", folder / "again"
        for place in (self.first, self.again):
            place.mkdir()

    def given(self, name, write):
        """A file of the user's own, in both."""
        for place in (self.first, self.again):
            write(place / name)

    def made(self, *words):
        return do(*words, cwd=self.first)

    def typed_again(self, *runs):
        """Make a page of the runs, type what it prints in the fresh folder, and give the commands."""
        self.made("report", *runs, "--out", "page.html")
        printed = commands(self.first / "page.html")
        *others, shown = printed
        for words in others:
            do(*(word.replace(str(self.first), str(self.again)) for word in words[1:]), cwd=self.again)
        do(*shown[1:], cwd=self.first)
        assert (self.first / "report.html").read_bytes() == (self.first / "page.html").read_bytes()
        for run in runs:
            assert compute_run_content_id(self.again / run) == compute_run_content_id(self.first / run), run
        return printed

    def same_bytes(self, name):
        assert content(self.first / name) == content(self.again / name)


@pytest.fixture
def places(tmp_path):
    return Places(tmp_path)


SUITES = [
    pytest.param(("clevr", *TINY, "--questions", 2, "--seed", 5), id="clevr"),
    pytest.param(("superclevr", *FEW, "--variant", "rd-"), id="rd-"),
]
SLOW = [
    pytest.param(("superclevr", *FEW, "--variant", "oppo", "--visual", "hard", "--images", 12), id="oppo-hard"),
    *(
        pytest.param(("superclevr", *FEW, "--variant", name, "--images", 12), id=f"superclevr-{name}")
        for name in ("default", "easy", "hard", "rd", "rd+", "slt", "long", "head", "tail", "co-1", "co-2")
    ),
    *(
        pytest.param(("superclevr", *FEW, "--variant", name, "--visual", visual), id=f"superclevr-{name}-{visual}")
        for name, visual in (("default", "easy"), ("default", "hard"), ("rd+", "easy"), ("slt", "hard"), ("co-1", "hard"))
    ),
    pytest.param(("superclevr", *FEW, "--questions", 0), id="superclevr-parts-alone"),
    pytest.param(("clevr_hyp", *TINY), id="clevr_hyp"),
    pytest.param(("covr", "--world", "superclevr", "-n", 48, "--questions", 20, "--size", "96x64"), id="covr"),
    pytest.param(
        (
            *("covr", "--world", "superclevr", "-n", 48, "--size", "96x64", "--questions", "24,18,18", "--share", 4),
            *("--subgraphs", 5, "--sources", 6, "--easy-distractors", "--paraphrased", "--seed", 2, "--shard", 7),
        ),
        id="covr-otherwise",
    ),
]  # fmt: skip


@pytest.mark.parametrize("words", [*SUITES, *(pytest.param(*p.values, id=p.id, marks=pytest.mark.full) for p in SLOW)])
def test_a_suite_is_made_again(words, places):
    places.made("make", *words, "--out", "data")
    places.made("run", "--model", "oracle", "--data", "data", "--out", "run")
    made, asked, shown = places.typed_again("run")
    assert made[:3] == ["shiftscope", "make", words[0]]
    assert asked[:2] == ["shiftscope", "run"]
    assert shown[:2] == ["shiftscope", "report"]
    places.same_bytes("data")
    again = places.made("make", *words, "--out", "data").stdout
    assert again.splitlines()[-1].startswith("nothing to do: data was whole already")


@pytest.mark.full
def test_every_member_of_a_study_is_made_again_by_itself(places):
    words = ("make", "superclevr", "--study", "--images", 12, "--size", "96x64", "--questions", 2)
    places.made(*words, "--part-questions", 1, "--out", "study")
    names = sorted(p.parent.name for p in (places.first / "study").glob("*/manifest.json"))
    assert len(names) == 12
    runs = []
    for name in names:
        runs.append(f"runs/{name}")
        places.made("run", "--model", "oracle", "--data", f"study/{name}", "--variant", name, "--out", runs[-1])
    places.typed_again(*runs)
    for name in names:
        places.same_bytes(f"study/{name}")


@pytest.mark.full
def test_runs_are_made_again_with_all_that_they_were_given(places):
    """Every option of a run that changes what it is; each run is another one without its option."""
    for name, seed in (("data", 0), ("other", 1)):
        size = ("--images", 14, "--size", "64x48", "--questions", 4)
        places.made("make", "clevr", *size, "--seed", seed, "--out", name)
    places.made("split", "data", "--hold-out", "ans_num", "--shots", 1, "--out", "my split")
    ids = [q.id for q in Dataset.open(places.first / "data").questions("test")]
    places.given("said.json", lambda path: path.write_text(json.dumps(dict.fromkeys(ids, "yes"))))
    places.given("some.json", lambda path: path.write_text(json.dumps(ids[:2])))
    places.given(
        "again_for_test.py",
        lambda path: path.write_text(
            "class Own:\n    def predict(self, batch):\n        return ['yes'] * len(batch)\n"
        ),
    )
    given = [
        ("majority",),
        ("majority", "--split", "val", "--limit", 2),
        ("majority", "--learn-from", "other"),
        ("majority", "--part", "my split:test_comp", "--learn-part", "my split:train_iid"),
        ("majority", "--part", "some.json", "--variant", "two of them"),
        ("random", "--seed", 4, "--trained-on", "nothing at all"),
        ("oracle", "--condition", "all"),
        ("predictions:said.json", "--condition", "blind", "--condition", "as_is"),
        ("again_for_test:Own", "--mode", "free", "--max-tokens", 7, "--temperature", 0.5),
    ]
    runs = [f"run {k}" for k in range(len(given))]
    for run, (model, *options) in zip(runs, given, strict=True):
        places.made("run", "--model", model, "--data", "data", *options, "--out", run)
    printed = places.typed_again(*runs)
    assert [words[1] for words in printed] == ["make", "make", "split", *["run"] * len(runs), "report"]
    for name in ("data", "other", "my split"):
        places.same_bytes(name)


@pytest.mark.full
def test_runs_of_hypothetical_questions_told_in_one_text(places):
    places.made("make", "clevr_hyp", *TINY, "--placements", 1, "--no-images", "--out", "data")
    for name, more in (("apart", ()), ("joined", ("--joined",))):
        places.made("run", "--model", "majority", "--data", "data", *more, "--out", name)
    assert compute_run_content_id(places.first / "apart") != compute_run_content_id(places.first / "joined")
    places.typed_again("apart", "joined")
    places.same_bytes("data")


@pytest.mark.full
def test_runs_about_an_audit_name_its_pictures(places):
    rows = [{"question_id": k, "image_id": k, "question": f"What is {k % 3}?"} for k in range(60)]
    said = [{"question_id": k, "image_id": k, "multiple_choice_answer": "red"} for k in range(60)]
    places.given("q.json", lambda path: path.write_text(json.dumps(rows)))
    places.given("a.json", lambda path: path.write_text(json.dumps(said)))
    places.given(
        "sees_for_test.py",
        lambda path: path.write_text(
            "class Own:\n    def predict(self, batch):\n        return [str(len(p.images)) for p in batch]\n"
        ),
    )
    for place in (places.first, places.again):
        (place / "pictures").mkdir()
        for k in range(30):
            Image.new("RGB", (8, 8), (k, 0, 0)).save(place / "pictures" / f"{k}.png")
        do("audit", "--questions", "q.json", "--annotations", "a.json", "--out", "audit", cwd=place)
    asked = ("run", "--model", "sees_for_test:Own", "--data", "audit", "--images", "pictures", "--allow-missing")
    places.made(*asked, "--out", "seen")
    places.made("run", "--model", "majority", "--data", "audit", "--out", "unseen")
    printed = places.typed_again("seen", "unseen")
    assert [words[1] for words in printed] == ["run", "run", "report"]
    page = unescape((places.first / "page.html").read_text())
    assert f"# {places.first / 'audit'} is an audit, which shiftscope audit makes from files of your own" in page


def draw(folder):
    folder.mkdir()
    for k in range(60):
        Image.new("RGB", (4, 3), (k, 0, 0)).save(folder / f"{random_graph(6, k).id}.png")


COVR = ("--questions", 30, "--sources", 26, "--subgraphs", 3, "--overlap", "schema", "--shard", 20)


@pytest.mark.parametrize(
    ("suite", "count", "options"),
    [
        ("gqa", 60, ("--images", "pictures", "--questions", 2, "--overlap", "table:my table.csv")),
        pytest.param("covr", 240, COVR, marks=pytest.mark.full),
    ],
)
def test_graphs_are_named_as_they_were_given(suite, count, options, places):
    """The user has them in the folder where the commands are typed, by the names that the page says."""
    some = [random_graph(6, k) for k in range(count)]
    places.given("first graphs.json", lambda path: write_graphs(path, some[::2]))
    places.given("more.json", lambda path: write_graphs(path, some[1::2]))
    places.given("my table.csv", lambda path: path.write_text("first,second,type,exclusive\nman,woman,object,1\n"))
    places.given("pictures", draw)
    graphs = ("--graphs", "first graphs.json", "--graphs", "more.json")
    places.made("make", suite, *graphs, *options, "--out", "data")
    places.made("run", "--model", "oracle", "--data", "data", "--out", "run")
    printed = places.typed_again("run")
    assert printed[0][1:3] == ["make", suite]
    places.same_bytes("data")
    again = json.loads(places.made("make", suite, *graphs, *options, "--out", "data", "--json").stdout)
    assert again["shards_made"] == 0
    page = unescape((places.first / "page.html").read_text())
    assert re.search(r"# by name and content: first graphs\.json [0-9a-f]{16}, more\.json [0-9a-f]{16}", page)


@pytest.mark.full
def test_given_scenes_and_shares_are_asked_for(places):
    """What only the user has is no word of a command, but said behind it."""
    order = SuperclevrSpec(images=6, size=(96, 64))
    scenes = [sample_scene(0, "train", k, order.rules()) for k in range(4)]
    places.given("mine.json", lambda path: write_clevr_scenes(path, scenes))
    places.given("shares.csv", lambda path: path.write_text("red,0.5\nblue,0.5\n"))
    asked = ("--questions", 2, "--part-questions", 1)
    places.made(
        "make", "superclevr", "--scenes", "mine.json", *asked, "--variant", "rd+", "--size", "96x64", "--out", "drawn"
    )
    places.made("make", "superclevr", "--scenes", "mine.json", *asked, "--no-images", "--out", "bare")
    places.made("make", "superclevr", *FEW, "--distribution", "shares.csv", "--out", "own")
    given = {"drawn": "given", "bare": "given", "own": "test"}
    for data, split in given.items():
        places.made("run", "--model", "oracle", "--data", data, "--split", split, "--out", f"on_{data}")
    places.made("report", *(f"on_{data}" for data in given), "--out", "page.html")
    page = unescape((places.first / "page.html").read_text())
    assert len(re.findall(r"# SCENES: the file or folder of scenes that was given \(content [0-9a-f]{32}\)", page)) == 2
    assert "# SHARES: the files of shares that were given" in page
    for words in commands(places.first / "page.html")[:3]:
        own = {"SCENES": "mine.json", "SHARES": "shares.csv"}
        do(*(own.get(word, word.replace(str(places.first), str(places.again))) for word in words[1:]), cwd=places.again)
    for data in given:
        places.same_bytes(data)


@pytest.mark.full
def test_given_scenes_of_solids_are_asked_for(places):
    scenes = [solids.sample_scene(0, "mine", k, solids.ClevrRules(objects=(4, 6), size=(96, 64))) for k in range(9)]
    places.given("mine.json", lambda path: write_clevr_scenes(path, scenes))
    places.made("make", "clevr_hyp", "--scenes", "mine.json", "--images", 8, "--size", "96x64", "--out", "data")
    places.made("run", "--model", "oracle", "--data", "data", "--out", "run")
    places.made("report", "run", "--out", "page.html")
    words = commands(places.first / "page.html")[0]
    assert "SCENES" in words
    again = [{"SCENES": "mine.json"}.get(word, word.replace("first", "again")) for word in words[1:]]
    do(*again, cwd=places.again)
    places.same_bytes("data")


@pytest.mark.full
def test_a_test_is_made_again_as_one(places):
    places.given("data", several_toys.dataset)
    asked = ("--model", "majority", "--data", "data")
    places.made("test", "contrast", *asked, "--set", "quantifiers", "--draw", 3, "--out", "tests/contrast")
    comp = ("--hold-out", "has_count", "--shots", 2, "--text", "same", "--upper", "same")
    said = places.made("test", "compositional", *asked, *comp, "--out", "tests/comp").stdout
    assert "wrote tests/comp; next: shiftscope report " in said
    said = places.made("test", "compositional", *asked, *comp, "--out", "tests/comp").stdout
    assert "nothing to do: all replies were in tests/comp already; next: shiftscope report " in said
    runs = sorted(str(p.parent.relative_to(places.first)) for p in places.first.glob("tests/*/runs/*/run.json"))
    printed = places.typed_again(*runs)
    assert [words[1:3] for words in printed[:-1]] == [["test", "compositional"], ["test", "contrast"]]
    for name in ("contrast", "comp"):
        results = [
            json.loads((place / "tests" / name / "result.json").read_text()) for place in (places.first, places.again)
        ]
        assert results[0]["lines"] == results[1]["lines"]


def test_data_of_another_version_are_not_promised(places):
    places.made("make", "clevr", *TINY, "--questions", 1, "--out", "data")
    places.made("run", "--model", "oracle", "--data", "data", "--out", "run")
    path = places.first / "data" / "manifest.json"
    about = json.loads(path.read_text())
    now = about["spec"]["version"]
    about["spec"]["version"] -= 1
    path.write_text(json.dumps(about))
    places.made("report", "run", "--out", "page.html")
    page = unescape((places.first / "page.html").read_text())
    assert (
        f"# {places.first / 'data'} cannot be made again: clevr is at version {now} now, and it is of {now - 1}" in page
    )
    assert [words[1] for words in commands(places.first / "page.html")] == ["run", "report"]


def test_a_run_says_where_things_were(places):
    """The page of a run that was moved away from its data still names them by content."""
    places.made("make", "clevr", *TINY, "--questions", 1, "--out", "data")
    places.made("run", "--model", "oracle", "--data", "data", "--out", "run")
    assert read_spec(places.first / "run")["data"] == str((places.first / "data").resolve())
    shutil.rmtree(places.first / "data")
    places.made("report", "run", "--out", "page.html")
    page = unescape((places.first / "page.html").read_text())
    assert f"# {places.first / 'data'} does not hold the data that were used" in page
    assert Path(commands(places.first / "page.html")[0][5]) == places.first / "data"
