"""A section shows what the metrics say of small runs, and is absent where the runs lack what it needs."""

import re

import numpy as np
import pytest

import store_toys
from report_toys import TEN, asked, body, log, right, study
from shiftscope.metrics import accuracy
from shiftscope.metrics.relative_degrade import VARIANTS
from shiftscope.metrics.significance import compare_models, correct_holm, fit_slope
from shiftscope.report.number_format import format_p, format_points
from shiftscope.report.page import SECTIONS
from shiftscope.report.run_page import build_report
from shiftscope.report.sections.reproduce import dataset_command, run_command
from shiftscope.result import MISSING, Prediction, RunLog, records_of
from shiftscope.store.build_dataset import build_dataset
from shiftscope.suites.clevr.suite import ClevrSpec
from shiftscope.suites.covr.suite import CovrSpec as CovrOrder

MANY = [asked(f"q{k}", "yes", f"s{k // 4}", kind="exist" if k % 2 else "count", length=k % 9) for k in range(200)]


def cells(markup, tag="td"):
    """The text of the cells, marks and all."""
    found = re.findall(rf"<{tag}\b[^>]*>(.*?)</{tag}>", markup, re.DOTALL)
    return [re.sub(r"<[^>]+>", " ", c).replace("  ", " ").strip() for c in found]


@pytest.mark.parametrize("name", SECTIONS.names())
def test_a_section_has_a_place_on_some_page_and_says_what_it_is(name):
    places = SECTIONS.load(name).PLACES
    assert places and set(places) <= {"report", "audit", "study", "selection_study"}
    assert all(isinstance(place, int) for place in places.values())
    assert SECTIONS.summary(name).endswith(".")


def test_a_plain_run_has_only_the_sections_it_can_fill():
    made = [name for name, _ in build_report(study(log(right(5)))).build_sections()]
    assert made == ["headline", "outcomes", "curves", "method", "reproduce"]


def test_a_run_of_nothing_scorable_still_makes_a_page():
    empty = log([(asked("q", None), "yes")])
    assert [name for name, _ in build_report(study(empty)).build_sections()] == [
        "headline",
        "outcomes",
        "method",
        "reproduce",
    ]


def test_the_headline_shows_the_metrics_figures_and_marks_what_is_significant():
    good, close, bad = (log(right(n, MANY), model=f"m{n}") for n in (190, 186, 100))
    shown = cells(body("headline", study(good, close, bad)))
    score = accuracy.measure(bad.records)[0]
    assert any(c.startswith(f"{100 * score.value:.1f} ") for c in shown)
    chances = correct_holm({name: compare_models(r.records, good.records).p for name, r in (("c", close), ("b", bad))})
    at = shown.index("best")
    assert shown[at + 1] == "–"
    assert [shown[at + 7], shown[at + 8]] == ["−2.0", format_p(chances["c"]).removeprefix("p = ")]
    assert [shown[at + 14], shown[at + 15]] == ["−45.0 ▼", "&lt; 0.001"]
    assert chances["b"] < 0.001


def test_reference_points_are_not_the_best():
    shown = body("headline", study(log(right(10), model="oracle"), log(right(5), model="film")))
    assert "Reference points (oracle)" in shown
    assert re.search(r'film</span></th>.*?class="num best"', shown, re.DOTALL)


def test_what_got_no_answer_is_counted_apart():
    rows = [(q, a) for q, a in zip(TEN, ["no", "wrong", "[undefined]", "[unreadable]", "[failed]", None], strict=False)]
    shown = body("outcomes", study(log(rows, questions=10)))
    assert cells(shown, "th") == [
        "Model",
        "Of all questions",
        "Right",
        "Wrong",
        "Undefined",
        "Unparseable",
        "Failed",
        MISSING.capitalize(),
        "toy",
    ]
    assert cells(shown)[1:] == ["1", "1", "1", "1", "1", "5"]


def test_curves_are_cut_the_same_for_all_models():
    shown = body("curves", study(log(right(150, MANY), model="a"), log(right(100, MANY), model="b")))
    assert shown.count("<figure") == 2  # length and kind; one answer only, so that nothing is rare
    assert "a, count: 75.0" in shown


def matrix(model="NSVQA"):
    for variants in VARIANTS.values():
        tests = (*variants, "head", "tail", "oppo") if "long" in variants else variants
        for i in variants:
            for j in tests:
                rows = [
                    (asked(f"{j}{k}", "yes", f"s{k}"), "yes" if k < (9 if i == j else 6) else "no") for k in range(10)
                ]
                yield log(rows, model=model, trained_on=i, variant=j)


def test_every_training_stands_beside_every_test():
    shown = body("transfer", study(*matrix()))
    assert re.findall(r"<caption>([\w ]+)", shown)[:4] == [
        "Visual complexity",
        "Question redundancy",
        "Concept compositionality",
        "Concept distribution",
    ]
    assert "90.0" in shown
    assert "60.0<small>−30.0</small>" in shown
    assert body("transfer", study(log(right(5)))) is None


def test_the_models_of_a_transfer_matrix_share_one_grid():
    made = study(*matrix(), *matrix("FiLM"))
    shown = body("transfer", made)
    assert shown.count('<table class="heat">') == 4
    assert re.findall(r'class="group-name">(\w+)<', shown) == ["NSVQA", "FiLM"] * 4
    visual = SECTIONS.load("transfer").section(made).tables[0]
    assert [row[:2] for row in visual.list_text()] == [
        ["Model", "Trained on"],
        *([model, level] for model in ("NSVQA", "FiLM") for level in VARIANTS["visual"]),
    ]


def test_relative_degrade_is_labelled_measured_and_reported():
    shown = body("degrade", study(*matrix()))
    assert "NSVQA, measured" in shown
    assert "NSVQA, reported: 17.5" in shown
    assert "66.7" in shown  # (9 − 6) / 9 twice, in the form the charts show
    assert "FiLM, reported" in shown
    assert "FiLM, measured" not in shown


def test_half_a_matrix_has_no_relative_degrade():
    assert body("degrade", study(*list(matrix())[:5])) is None


def test_a_drop_between_twins_is_shown_with_its_mark():
    hard = [asked(f"h{k}", "yes", q.scenes[0], q.question) for k, q in enumerate(MANY)]
    made = study(log(right(190, MANY), variant="easy"), log(right(100, hard), variant="hard"))
    shown = cells(body("shifts", made))
    assert shown[:2] == ["easy → hard", "paired"]
    assert shown[2].startswith("−45.0 ▼")
    assert body("shifts", study(log(right(5)))) is None


def test_attribution_divides_the_error():
    rows = []
    for k in range(40):
        q = asked(f"q{k}", "yes", f"s{k}")
        for condition in ("as_is", "blind", "scene_text", "program_text"):
            answer = "yes" if k < 20 or (condition == "scene_text" and k < 30) or condition == "blind" else "no"
            rows.append((q, Prediction(q.question, answer, condition=condition)))
    made = study(RunLog((("model", "toy"), ("data", "d")), records_of(rows)))
    shown = body("attribution", made)
    assert cells(shown)[1].startswith("25.0")  # perception
    assert "reasoning 25.0" in shown
    assert body("attribution", study(log(right(5)))) is None


def test_beliefs_are_compared_with_truth_where_there_are_any():
    rows = [(q, Prediction(q.question, "yes", confidence=0.9)) for q in MANY]
    shown = body("calibration", study(RunLog((("model", "toy"),), records_of(rows))))
    assert cells(shown)[0].startswith("10.0")
    assert body("calibration", study(log(right(5)))) is None


def test_the_worst_slice_is_named():
    rows = [(q, "yes" if dict(q.facts)["kind"] == "exist" or k % 3 else "no") for k, q in enumerate(MANY)]
    shown = body("worst_slices", study(log(rows)))
    assert cells(shown, "th")[6] == "Questions of type count"
    assert body("worst_slices", study(log(right(5)))) is None


def test_commands_come_from_the_specs_and_hold_no_password():
    spec = {
        "model": "openai:m@http://me:secret@host/v1",
        "data": "my data",
        "split": "val",
        "conditions": ["as_is", "blind"],
    }
    shown = body("reproduce", study(log(right(5), **spec)))
    assert (
        "shiftscope run --model openai:m@http://host/v1 --data &#x27;my data&#x27; --split val --condition as_is --condition blind"
        in shown.replace("'", "&#x27;")
    )
    assert "secret" not in shown


def test_a_command_holds_all_that_the_spec_does():
    spec = {
        "model": "openai:m@http://host/v1",
        "data": "d",
        "data_id": "x",
        "split": "test",
        "limit": 20,
        "conditions": ["as_is"],
        "seed": 3,
        "prompt": {"mode": "free"},
        "max_tokens": 64,
        "temperature": 0.5,
        "price": [0.15, 0.6],
        "learned_from": "y",
    }
    (run,) = study(log(right(5), **spec)).runs
    said = (
        "shiftscope run --model openai:m@http://host/v1 --data d --split test --limit 20 --condition as_is "
        "--mode free --learn-from e --price 0.15,0.6 --max-tokens 64 --temperature 0.5 --seed 3"
    )
    assert run_command(run, {"y": "e"}) == said
    assert run_command(run) == said.replace(" --learn-from e", "") + "  # add --learn-from: the dataset of id y"


def toy_shard(spec, split, k):
    return store_toys.make(store_toys.SPEC, split, k)


def test_the_command_of_a_dataset_comes_from_its_manifest(tmp_path):
    build_dataset(tmp_path / "d", {**ClevrSpec(images=4, size=(64, 48)).spec()}, {"test": 1}, toy_shard)
    (run,) = study(log(right(5), data=str(tmp_path / "d"))).runs
    assert dataset_command(run) == (
        f"shiftscope make clevr --images 4 --seed 0 --size 64x48 --questions 10 --shard 250 --out {tmp_path / 'd'}"
    )


def test_the_command_of_a_dataset_of_graphs_names_files_that_can_be_typed(tmp_path):
    spec = CovrOrder(
        world="",
        graphs=("my graphs.json 0123456789abcdef", "more.csv.gz fedcba9876543210"),
        images="pictures 00112233445566aa",
        overlap=("schema", "table t.csv 0011223344556677", "wordnet 8899aabbccddeeff", "nli a/b"),
    ).spec()
    build_dataset(tmp_path / "d", spec, {"test": 1}, toy_shard)
    (run,) = study(log(right(5), data=str(tmp_path / "d"))).runs
    made, _, remark = dataset_command(run).partition("  # ")
    assert made.startswith(
        "shiftscope make covr --graphs 'my graphs.json' --graphs more.csv.gz --images pictures "
        "--overlap schema --overlap table:t.csv --overlap wordnet --overlap nli:a/b --questions 9000,1500,1500"
    )
    assert remark == (
        "by name and content: my graphs.json 0123456789abcdef, more.csv.gz fedcba9876543210, "
        "pictures 00112233445566aa, table t.csv 0011223344556677, wordnet 8899aabbccddeeff"
    )


def test_the_headline_counts_what_an_unfinished_run_has_not_asked():
    shown = body("headline", study(log(right(5), questions=60)))
    assert cells(shown)[1:6] == ["8.3 3.0–17.8 17% answered", "not ranked", "–", "60", "16.7"]
    assert "toy on toys is not ranked: of 60 questions 50 are missing and 0 failed" in shown


def test_the_trend_over_a_factors_levels_is_that_of_the_statistics():
    rows = [asked(f"q{k}", "yes", f"s{k // 4}", factor="noise", level=k % 5) for k in range(200)]
    one = log([(q, "yes" if k % 5 < 2 or k % 3 else "no") for k, q in enumerate(rows)])
    made = fit_slope(one.records, np.arange(200) % 5)
    assert cells(body("slopes", study(one)))[0].startswith(format_points(made.per_level))
    assert body("slopes", study(log(right(150, MANY)))) is None


def test_time_and_cost_are_shown_where_known():
    rows = [(q, Prediction(q.question, "yes", seconds=0.02, cost=0.5)) for q in TEN]
    shown = cells(body("cost", study(RunLog((("model", "toy"),), records_of(rows)))))
    assert shown == ["10", "20 ms", "20 ms", "200 ms", "5"]
    assert body("cost", study(log(right(5)))) is None


def test_the_method_says_what_was_done_and_what_is_unfinished():
    cut_short = RunLog((("model", "toy"),), records_of([]), 10, finished=False)
    assert "Unfinished runs" in body("method", study(log(right(5)), cut_short))
    assert "Unfinished runs" not in body("method", study(log(right(5))))
