"""`shiftscope report` as a user meets it: real run folders in, one page out, its numbers those of the metrics."""

import json
from html.parser import HTMLParser

import pytest

from command import here
from report_toys import write_runs
from shiftscope.metrics import accuracy
from shiftscope.metrics.significance import compare_models
from shiftscope.report.number_format import format_percent, format_points, format_spread
from shiftscope.store.run_log import read_run


class Tables(HTMLParser):
    """Every table by its caption, as rows of words."""

    def __init__(self, markup):
        super().__init__()
        self.tables, self.caption, self.row, self.cell = {}, None, None, None
        self.feed(markup)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.row = []
        if tag in ("td", "th", "caption"):
            self.cell = []

    def handle_endtag(self, tag):
        if tag == "caption":
            self.caption = "".join(self.cell)
            self.tables[self.caption] = []
        elif tag in ("td", "th"):
            self.row.append(" ".join(self.cell).strip())
        elif tag == "tr" and self.caption:
            self.tables[self.caption].append(self.row)
        elif tag == "table":
            self.caption = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell.append(data)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    runs = write_runs(folder)
    out = folder / "deep" / "report.html"
    result = here("report", *runs, "--out", out, "--json")
    assert result.returncode == 0, result.stderr
    return runs, out, json.loads(result.stdout)


def test_the_page_is_there_and_says_what_it_holds(made):
    runs, out, said = made
    assert said["page"] == str(out)
    assert said["bytes"] == out.stat().st_size < 1_000_000
    assert said["runs"] == len(runs)
    assert said["sections"] == [
        "verdict", "headline", "shifts", "outcomes", "attribution", "curves", "calibration", "worst_slices",
        "failures", "twin_failures", "cost", "method", "reproduce",
    ]  # fmt: skip


def test_the_numbers_are_those_of_the_metrics(made):
    runs, out, _ = made
    tables = Tables(out.read_text("utf-8")).tables
    head, *rows = tables["Accuracy by test"]
    shown = {(row[0], model): cell for row in rows for model, cell in zip(head[1:], row[1:], strict=True)}
    assert len(shown) == 4
    for run in runs:
        model, variant = run.name.split("_")
        score = accuracy.measure(read_run(run).records)[0]
        figure, interval = format_percent(score.value), format_spread(score.value, score.low, score.high)
        assert shown[variant, model].replace("▼", "").split() == [figure, *interval.split()]


def test_the_cost_of_the_shift_is_the_paired_drop(made):
    runs, out, _ = made
    tables = Tables(out.read_text("utf-8")).tables
    head, row = tables["Change from the base of a factor to its levels"]
    shown = dict(zip(head, row, strict=True))
    assert (shown["From → to"], shown["Estimate"]) == ("base → hard", "paired")
    for model in ("film", "nsvqa"):
        base, hard = (read_run(r).records for r in runs if r.name.startswith(model))
        drop = compare_models(base, hard).drop
        assert shown[model].startswith(format_points(-drop))


def test_a_page_is_replaced_whole_and_comes_out_the_same(made, tmp_path):
    runs, out, _ = made
    again = tmp_path / "report.html"
    again.write_text("old")
    result = here("report", *runs, "--out", again)
    assert result.returncode == 0
    assert result.stdout.startswith(f"wrote {again}")
    assert again.read_bytes() == out.read_bytes()


def test_what_is_not_a_run_a_page_or_a_dataset_is_refused_in_one_sentence(made, tmp_path):
    runs, *_ = made
    for words, sentence in (
        ([tmp_path / "gone"], "not the folder of a run"),
        ([runs[0], "--out", tmp_path], "is a folder; name the page"),
        ([runs[0], "--data", tmp_path, "--out", tmp_path / "r.html"], "no dataset there"),
    ):
        result = here("report", *words)
        assert result.returncode == 2
        assert sentence in result.stderr
        assert "Traceback" not in result.stderr
    assert not (tmp_path / "r.html").exists()


@pytest.mark.full
def test_the_format_is_named_or_that_of_the_file(made, tmp_path):
    runs, _, _ = made
    for words, name, start in (
        (("--format", "md"), "report.md", "# film, nsvqa on 2 tests\n"),
        (("--out", "mine.csv"), "mine.csv", "section,table,row,column,text,value\n"),
        (("--out", "mine.JSON"), "mine.JSON", "{\n"),
        (("--format", "md", "--out", "notes.txt"), "notes.txt", "# film"),
    ):
        result = here("report", *runs, *words, cwd=tmp_path)
        assert result.returncode == 0, result.stderr
        assert (tmp_path / name).read_text("utf-8").startswith(start)
    assert json.loads((tmp_path / "mine.JSON").read_text("utf-8"))["verdicts"][0]["contender"] == "film"
    result = here("report", *runs, "--format", "pdf", cwd=tmp_path)
    assert (result.returncode, "no format 'pdf'" in result.stderr) == (2, True)


def test_the_charts_are_written_beside(made, tmp_path):
    runs, _, _ = made
    result = here("report", *runs, "--figures", "figures", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    names = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert names[0] == "01-verdict-what-shifts-cost-film-accuracy-in-per-cent.pdf"
    assert {name.rpartition(".")[0] for name in names if name.endswith(".svg")} == {
        name.rpartition(".")[0] for name in names if name.endswith(".pdf")
    }
