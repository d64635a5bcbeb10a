"""The page is one well-formed file that loads nothing, whatever the runs hold."""

from html.parser import HTMLParser
from types import MappingProxyType, SimpleNamespace

import pytest

import store_toys
from report_toys import asked, log, right, study
from shiftscope.report.page import Page, Section
from shiftscope.report.run_page import build_report
from shiftscope.report.table import Table
from shiftscope.result import Prediction, RunLog, build_question_record, records_of
from shiftscope.store.build_dataset import build_dataset

HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(2)>\x00\ud800"
VOID = {"meta", "img", "br", "col", "input", "link"}


class Reader(HTMLParser):
    """Checks that elements nest, and keeps what an attack would need."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def read(markup):
    reader = Reader()
    reader.feed(markup)
    reader.close()
    assert reader.open == []
    return reader


def made(of):
    return build_report(of).render()


def test_hostile_names_answers_and_facts_stay_text():
    questions = [asked(f"{HOSTILE} {k}", HOSTILE, kind=f"{HOSTILE} {k % 2}", length=k) for k in range(80)]
    of = study(
        log(right(40, questions), model=HOSTILE, data=HOSTILE, split=HOSTILE),
        log(right(70, questions), model=f"{HOSTILE} 2"),
    )
    markup = made(of)
    reader = read(markup)
    assert reader.seen.count("script") == 1  # our own
    assert "img" not in reader.seen
    assert not [name for name, _ in reader.attributes if name.startswith("on")]
    markup.encode()


def test_the_page_loads_nothing():
    reader = read(made(study(log(right(5), model="openai:m@https://host/v1"))))
    assert {"link", "iframe", "object", "embed"}.isdisjoint(reader.seen)
    for name, value in reader.attributes:
        if name in ("src", "href"):
            assert value.startswith(("#", "data:"))
        assert name != "style" or "url(" not in value


def test_ids_are_unique_and_contents_lead_to_sections():
    reader = read(made(study(log(right(5)))))
    ids = [value for name, value in reader.attributes if name == "id"]
    assert len(set(ids)) == len(ids)
    assert {value[1:] for name, value in reader.attributes if name == "href"} <= set(ids)


def test_the_same_runs_make_the_same_page():
    assert made(study(log(right(5)))) == made(study(log(right(5))))


def shown_failures(tmp_path, hostile=""):
    """A run on the toy dataset that gets every second question wrong."""
    dataset = build_dataset(tmp_path / "data", store_toys.SPEC, {"test": 2}, store_toys.make)
    rows = []
    for k, e in enumerate(dataset.examples("test")):
        said = Prediction(e.question.id, (hostile or "blue") if k % 2 else e.question.answer)
        rows.append((build_question_record(e.question, [i.scene for i in e.images]), said))
    spec = {"model": "film", "data": str(dataset.folder), "split": "test"}
    return study(RunLog(tuple(spec.items()), records_of(rows)))


def test_failures_show_picture_question_answers_and_program(tmp_path):
    markup = made(shown_failures(tmp_path))
    reader = read(markup)
    assert reader.seen.count("article") == 9
    assert reader.seen.count("img") == 9
    assert all(v.startswith("data:image/webp;base64,") for n, v in reader.attributes if n == "src")
    assert all(v for n, v in reader.attributes if n == "alt")
    assert "Is anything red?" in markup
    assert "count()" in markup


def test_a_hostile_answer_in_a_card_stays_text(tmp_path):
    assert read(made(shown_failures(tmp_path, HOSTILE))).seen.count("script") == 1


def test_without_the_dataset_there_are_no_failures_to_show():
    names = [name for name, _ in build_report(study(log(right(5), data="gone"))).build_sections()]
    assert "failures" not in names


@pytest.mark.full
def test_a_large_study_stays_small():
    questions = [asked(f"q{k}", "yes", f"s{k // 10}", kind=f"kind {k % 12}", length=k % 30) for k in range(600)]
    runs = [log(right(600 - 20 * k, questions), model=f"m{m}", variant=f"v{k}") for m in range(5) for k in range(12)]
    assert len(made(study(*runs)).encode()) < 1_000_000


def test_a_section_is_drawn_on_the_pages_it_names_and_in_its_place(monkeypatch):
    def section(records):
        return Section("Mine", [Table("t", ("a",), [("<b>",)]), "prose & more"], "How to read it.") if records else None

    class Sections:
        modules = MappingProxyType(
            {
                "first": SimpleNamespace(PLACES={"report": 20, "audit": 1}, section=section),
                "second": SimpleNamespace(PLACES={"report": 10}, section=section),
            }
        )
        load_all = modules.items

    monkeypatch.setattr("shiftscope.report.page.SECTIONS", Sections)
    assert [name for name, _ in Page("report", {"x"}, "T").build_sections()] == ["second", "first"]
    assert [name for name, _ in Page("audit", {"x"}, "T").build_sections()] == ["first"]
    assert not list(Page("report", {}, "T").build_sections())
    drawn = Page("audit", {"x"}, "T").render()
    read(drawn)
    assert "<title>ShiftScope audit: T</title>" in drawn
    assert '<section id="first" aria-labelledby="first-title"><h2 id="first-title">Mine</h2>' in drawn
    assert "&lt;b&gt;" in drawn and "prose &amp; more" in drawn
