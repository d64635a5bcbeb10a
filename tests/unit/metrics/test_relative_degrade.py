"""Relative Degrade: the three forms, and the paper's Table 2 out of its Table 1."""

import pytest

from rows import row
from shiftscope.metrics.relative_degrade import FORMS, VARIANTS, measure_runs, relative_degrade
from shiftscope.result import records_of
from shiftscope.suites.superclevr import reported

TOY = {("easy", "easy"): 0.8, ("easy", "mid"): 0.6, ("easy", "hard"): 0.4,
       ("mid", "easy"): 0.5, ("mid", "mid"): 0.5, ("mid", "hard"): 0.5,
       ("hard", "easy"): 0.5, ("hard", "mid"): 0.25, ("hard", "hard"): 0.5}  # fmt: skip


def test_the_mean_of_six_drops_and_the_mean_of_three_sums():
    # 0.25 + 0.5, 0 + 0, 0 + 0.5
    assert relative_degrade(TOY, "visual", "printed") == pytest.approx(1.25 / 6)
    assert relative_degrade(TOY, "visual", "footnote") == pytest.approx(1.25 / 6)
    assert relative_degrade(TOY, "visual", "tabulated") == pytest.approx(1.25 / 3)
    gaining = TOY | {("mid", "easy"): 1.0}
    assert relative_degrade(gaining, "visual", "tabulated") == pytest.approx(0.25 / 3)
    assert relative_degrade(gaining, "visual", "absolute") == pytest.approx(2.25 / 3)


def test_the_concept_distribution_in_its_three_forms():
    cells = {(k, t): a for k in ("bal", "slt", "long")
             for t, a in {"head": 0.9, "tail": 0.5, "long": 0.8, "oppo": 0.6, "bal": 0.75, "slt": 0.6}.items()}  # fmt: skip
    assert relative_degrade(cells, "distribution", "tabulated") == pytest.approx(0.6 / 0.75)
    assert relative_degrade(cells, "distribution", "footnote") == pytest.approx(0.3 / 0.75)
    assert relative_degrade(cells, "distribution", "printed") == pytest.approx(0.3 * (1 / 0.75 + 1 / 0.6 + 1 / 0.8) / 3)


FOLLOW = (
    [(m, "redundancy") for m in reported.MODELS]
    + [(m, "compositionality") for m in reported.MODELS]
    + [("NSVQA", "distribution"), ("P-NSVQA", "distribution")]
)


@pytest.mark.parametrize(("model", "factor"), FOLLOW)
def test_table_2_follows_from_table_1(model, factor):
    made = relative_degrade(reported.find_accuracies(model, factor), factor, "tabulated")
    assert 100 * made == pytest.approx(100 * reported.REPORTED.tables["relative_degrade"][model, factor], abs=0.02)


def test_the_misprinted_cell_does_not_give_table_2():
    made = relative_degrade(reported.find_accuracies("mDETR", "compositionality", as_printed=True), "compositionality")
    assert 100 * made == pytest.approx(10.22, abs=0.01)


@pytest.mark.parametrize(
    ("model", "factor", "ours"),
    [
        ("FiLM", "visual", 3.40), ("mDETR", "visual", 7.48), ("NSCL", "visual", 10.10), ("NSVQA", "visual", 15.63),
        ("P-NSVQA", "visual", 12.35), ("FiLM", "distribution", 24.72), ("mDETR", "distribution", 35.66),
        ("NSCL", "distribution", 36.45),
    ],
)  # fmt: skip
def test_cells_of_table_2_that_need_the_signs_dropped(model, factor, ours):
    made = relative_degrade(reported.find_accuracies(model, factor), factor, "tabulated")
    assert 100 * made == pytest.approx(ours, abs=0.005)
    assert abs(100 * made - 100 * reported.REPORTED.tables["relative_degrade"][model, factor]) > 0.5


@pytest.mark.parametrize("factor", reported.FACTORS)
@pytest.mark.parametrize("model", reported.MODELS)
def test_without_signs_all_of_table_2_follows(model, factor):
    made = relative_degrade(reported.find_accuracies(model, factor), factor, "absolute")
    assert 100 * made == pytest.approx(100 * reported.REPORTED.tables["relative_degrade"][model, factor], abs=0.02)


def test_the_printed_distribution_needs_slt_tested_on_itself(refuses):
    with refuses("no accuracy of the model trained on 'slt' and tested on 'slt'"):
        relative_degrade(reported.find_accuracies("NSVQA", "distribution"), "distribution", "printed")
    with refuses("no factor 'visal'; did you mean 'visual'?"):
        relative_degrade(TOY, "visal")
    with refuses("no form of Relative Degrade 'table'; did you mean"):
        relative_degrade(TOY, "visual", "table")


@pytest.mark.parametrize("form", FORMS)
def test_runs_give_the_figure_of_their_accuracies_with_an_interval(form):
    runs = {}
    for cell, share in TOY.items():
        right = round(40 * share)
        runs[cell] = records_of(row(f"{k} yes {'yes' if k < right else 'no'}", scene=f"scene {k}") for k in range(40))
    score = measure_runs(runs, "visual", form)
    assert score.value == pytest.approx(relative_degrade(TOY, "visual", form))
    assert score.low < score.value < score.high
    assert (score.n, score.missing, score.slice) == (360, 0, (("factor", "visual"),))
    assert set(VARIANTS) == set(reported.FACTORS)


def test_no_runs_have_no_figure(refuses):
    with refuses("Relative Degrade of visual needs runs on its variants; there are none"):
        measure_runs({}, "visual")


def test_a_model_that_is_never_right_has_nothing_to_lose(refuses):
    with refuses("never right in its own domain"):
        relative_degrade(TOY | {("mid", "mid"): 0.0}, "visual")
