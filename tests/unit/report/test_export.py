"""A report as Markdown, JSON and CSV holds its figures; charts stand alone as SVG and PDF."""

import csv
import io
import json
import re
from xml.etree import ElementTree

import pytest
from test_verdict import three

from report_toys import log, right, study, write_runs
from shiftscope.report.export import FORMATS
from shiftscope.report.figures import Shape, list_figures, measure_text, render_pdf, resolve_looks, write_figures
from shiftscope.report.run_page import build_report, report


def made(name, of):
    page = build_report(of)
    return FORMATS[name](page, list(page.build_sections()))


def test_markdown_opens_with_the_verdict_and_holds_the_tables():
    text = made("md", three())
    assert text.startswith("# toy on 3 tests\n")
    assert text.index("## Verdict") < text.index("## Results")
    assert "Visual complexity (default → hard) costs toy most: 20.0 points" in text
    assert "| Visual complexity | default → hard | −20.0 ▼ |" in text
    assert "<" not in re.sub(r"p < 0\.\d+|< 0\.001", "", text)


def test_json_holds_verdicts_runs_and_values():
    data = json.loads(made("json", three()))
    assert data["verdicts"][0]["factors"][0]["drop"] == pytest.approx(0.2)
    assert [run["test"] for run in data["runs"]] == ["default", "hard", "rd+"]
    (table, *_) = data["sections"][0]["tables"]
    assert table["values"][0][table["columns"].index("Points")] == pytest.approx(-0.2)
    assert len(table["values"]) == len(table["rows"]) == 2


def test_csv_has_a_line_per_cell():
    rows = list(csv.DictReader(io.StringIO(made("csv", three()))))
    (cell,) = [
        r for r in rows if r["section"] == "verdict" and r["row"] == "Visual complexity" and r["column"] == "Points"
    ]
    assert (cell["text"], float(cell["value"])) == ("−20.0 ▼", pytest.approx(-0.2))


def test_a_report_of_next_to_nothing_is_valid_in_every_format():
    for name in FORMATS:
        assert made(name, study(log(right(5)))).endswith("\n")
    json.loads(made("json", study(log([]))))


def test_charts_become_files_that_need_no_style_sheet(tmp_path):
    page = build_report(three())
    paths = write_figures(list(page.build_sections()), tmp_path)
    assert [p.name for p in paths[:2]] == [
        "01-verdict-what-shifts-cost-toy-accuracy-in-per-cent.svg",
        "01-verdict-what-shifts-cost-toy-accuracy-in-per-cent.pdf",
    ]
    for path in paths:
        if path.suffix == ".svg":
            text = path.read_text("utf-8")
            assert "class=" not in text and "var(" not in text
            root = ElementTree.fromstring(text)
            colours = {e.get("fill") or e.get("stroke") for e in root.iter() if e.tag.endswith("path")}
            assert None not in colours and all(re.fullmatch("#[0-9a-f]{6}|none", c) for c in colours)
    first = paths[0].read_text("utf-8")
    assert "Visual complexity: default → hard" in first
    assert ">at the base</text>" in first and ">shifted</text>" in first  # the legend


def test_a_pdf_is_whole(tmp_path):
    page = build_report(three())
    for path in write_figures(list(page.build_sections()), tmp_path):
        if path.suffix == ".pdf":
            data = path.read_bytes()
            assert data.startswith(b"%PDF-1.4") and data.endswith(b"%%EOF\n")
            start = int(re.search(rb"startxref\n(\d+)", data)[1])
            assert data[start : start + 4] == b"xref"
            for number, place in enumerate(re.findall(rb"(\d{10}) 00000 n", data), 1):
                assert data[int(place) :].startswith(b"%d 0 obj" % number)
            length, stream = re.search(rb"/Length (\d+) >>\nstream\n(.*)\nendstream", data, re.DOTALL).groups()
            assert int(length) == len(stream)
            assert stream.count(b"q") - stream.count(b"Q") == 0 and stream.count(b"BT") == stream.count(b"ET")


def test_text_keeps_its_signs_and_loses_no_place():
    assert measure_text("0 −", 10) == pytest.approx((556 + 278 + 549) / 100)
    text = Shape((("M", (5.0, 5.0)),), {"fill": "#000000", "text-anchor": "end"}, "a − b 车")
    made = render_pdf([text], 100, 50)
    assert b"/F3 11 Tf <2d> Tj" in made
    assert b"<2062203f> Tj" in made  # a question mark for what the fonts lack


def test_looks_are_those_of_the_style_sheet():
    assert resolve_looks("line", ["range", "wide", "hue-1"]) == {
        "stroke": "#c2410c", "stroke-width": "4", "stroke-linecap": "round", "opacity": "0.4",
    }  # fmt: skip
    assert resolve_looks("text", ["tick"])["fill"] == "#59626e"
    assert resolve_looks("rect", ["share", "wrong"])["fill"] == "#b6541c"


def test_small_charts_of_tables_are_no_figures():
    names = [figure.name for figure in list_figures(build_report(study(log(right(5)))).build_sections())]
    assert not [name for name in names if "headline" in name]


def test_the_report_is_written_in_the_format_asked_for(tmp_path, refuses):
    runs = write_runs(tmp_path)
    page = report(runs, tmp_path / "r.md", render=FORMATS["md"], figures=tmp_path / "figures")
    assert page.path.read_text("utf-8").startswith("# film, nsvqa on 2 tests")
    assert "verdict" in dict(page.sections)
    assert {p.suffix for p in (tmp_path / "figures").iterdir()} == {".svg", ".pdf"}
    (tmp_path / "file").write_text("")
    with refuses("is a file; give --figures a folder"):
        report(runs, tmp_path / "r.md", figures=tmp_path / "file")
