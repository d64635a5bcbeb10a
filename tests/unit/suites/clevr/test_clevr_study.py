"""CLEVR's study: what it trains, and its page beside Super-CLEVR's entries. Nothing is trained or measured."""

import json
from dataclasses import replace

import numpy as np
import pytest

from shiftscope.errors import UserError
from shiftscope.metrics.transfer_matrix import EntryOutcome
from shiftscope.model import ADAPTATION_IMAGES
from shiftscope.models.nsvqa.trained_model import PARSERS, SHIPPED, TrainedModel, read_trained_model
from shiftscope.report.sections.two_datasets import compare_datasets
from shiftscope.report.study_page import list_tables, read_matrix, render_markdown
from shiftscope.run.study.entries import EntryOrigin, StudyTestId, TransferEntry, parse_record
from shiftscope.run.study.entry_store import hash_test_data, hash_train_data
from shiftscope.run.study.test_sets import make_testset
from shiftscope.suites.clevr.findings import BETTER, HARDER, SIMPLE, SMALLER, check_paper_findings
from shiftscope.suites.clevr.study import HOME, STUDY, ClevrDomain, ClevrScale, ClevrTraining
from shiftscope.suites.clevr.suite import SUITE
from shiftscope.suites.study import FAILS, HOLDS, NOT_MEASURED, UNDECIDED, Contender, find_family, load_study
from shiftscope.suites.superclevr.study import StudyScale
from shiftscope.train.data import open_training_data

OTHER = load_study("superclevr")
TOY = ClevrScale("toy", 667, (96, 64), questions=2, shard=50)  # 100 images are tested
OTHER_TOY = StudyScale("toy", 600, (96, 64), questions=2, part_questions=0, shard=50)
EASY, HARD = dict.fromkeys(SIMPLE, 120) | dict.fromkeys(BETTER, 198), dict.fromkeys((*SIMPLE, *BETTER), 60)


def entry(model, right, study=STUDY, scale=TOY):
    """In domain, the first so many of 200 questions right."""
    (trained, tested), family = study.default, find_family(model)
    stages = [stage for part in study.list_parts(trained, scale, family) for stage in part.stages]
    learned = hash_train_data(study.suite, trained, scale, family)
    weights = tuple((stage, f"weights of {stage}") for stage in stages)
    origin = EntryOrigin(study.suite, family, scale, trained, weights, learned, "r", "cpu", "0", "2026-11-19T00:00:00Z")
    outcome = EntryOutcome.from_arrays(np.arange(200) < right, np.full(100, 2))
    test = StudyTestId(tested, hash_test_data(tested, scale), "q")
    return TransferEntry(Contender(model), origin, test, (("object", outcome),))


def entries(here, there, scale=OTHER_TOY):
    found = [entry(model, right) for model, right in here.items()]
    return [*found, *(entry(model, right, OTHER, scale) for model, right in there.items())]


def board(here, there, scale=OTHER_TOY):
    return read_matrix(entries(here, there, scale), scale=TOY)


def test_the_paper_scale_has_as_many_training_images_as_super_clevrs():
    paper, small = (STUDY.find_scale(name) for name in ("paper", "small"))
    assert paper.train_images == OTHER.find_scale("paper").train_images == 20_000
    assert (paper.test_images, small.train_images, small.test_images) == (4285, 336, 72)
    assert open_training_data("clevr", images=20_000).spec == ClevrDomain().build_spec(paper)
    assert STUDY.find_scale("small", 60) == replace(small, name="small-60", images=60)
    with pytest.raises(UserError, match="11 images are too few for a study: at least 12, of which 15% is tested"):
        STUDY.find_scale("small", 11)


def test_a_row_is_a_seed():
    rows = STUDY.plan_rows(seeds=(0, 2))
    assert [(row.trained.label, [at.label for at in row.tests]) for row in rows] == [
        ("default", ["default"]),
        ("default seed 2", ["default"]),
    ]
    assert [place for row in rows for place in STUDY.list_places(row.trained, ClevrDomain(), "")] == [
        ("in-domain", "default", "default"),
        ("seeds", "default-seed-2", "default"),
    ]


def test_the_shipped_parsers_are_those_that_the_paper_scale_would_train():
    whole, paper = read_trained_model(SHIPPED / "clevr"), STUDY.find_scale("paper")
    parts = STUDY.list_parts(ClevrTraining(), paper, TrainedModel.KIND)
    assert [stage for part in parts for stage in part.stages] == list(PARSERS)
    for part in parts:
        (stage,) = part.stages
        found = STUDY.find_shipped(part)
        assert found.read_bytes(stage) == whole.read_bytes(stage)
        assert found.about["seconds"] == {part.only: whole.about[stage]["seconds"]}
        assert STUDY.find_shipped(replace(part, seed=1)) is None
        assert STUDY.find_shipped(replace(part, scale=STUDY.find_scale("small"))) is None


def test_other_models_stand_on_the_parsers_of_their_row():
    (film,) = STUDY.list_parts(ClevrTraining(1), TOY, "film")
    assert [(part.name, part.seed) for part in film.base] == [("toy-scene-default-1", 1)]
    (lstm,) = STUDY.list_parts(ClevrTraining(1), TOY, "lstm")
    assert (lstm.name, lstm.base) == ("toy-lstm-default-1", ())


def test_what_there_is_not_is_refused(refuses):
    with refuses("no factor 'visual' in clevr's study"):
        STUDY.plan_rows(["visual"])
    with refuses("omit --visual"):
        STUDY.plan_rows(visual="hard")
    with refuses("no training 'hard'"):
        STUDY.plan_rows(only=["hard"])
    with refuses("no test set 'hard'"):
        STUDY.plan_rows(tests=["hard"])
    with refuses("a seed is 0 or more, not -1"):
        STUDY.plan_rows(seeds=[-1])


def test_an_entry_is_read_back_as_it_was_written():
    data = json.loads(json.dumps(entry("film", 120).to_json()))
    assert parse_record(data) == entry("film", 120)
    assert (data["trained"], data["tested"]) == ({"seed": 0}, {"variant": "default"})
    with pytest.raises(UserError, match="no variant 'hard'"):
        parse_record(data | {"tested": {"variant": "hard"}})


def test_a_test_set_is_what_make_would_write_and_has_other_images_to_adapt_to():
    few = ClevrScale("few", 14, (96, 64), questions=3, shard=2)
    made = make_testset(STUDY, ClevrDomain(), few, device="cpu", adapted=True)
    written = SUITE.make_shard(ClevrDomain().build_spec(few).spec(), "test", 0)[1]
    assert [p.question.id for p in made.groups["object"].prompts] == [q.id for q in written]
    assert list(made.groups) == ["object"] and made.groups["object"].counts.tolist() == [3, 3]
    assert len(made.unlabelled) == ADAPTATION_IMAGES


def test_figure_3_sets_both_data_sets_side_by_side():
    rows = {row[0]: row[1:] for row in compare_datasets(board({"nsvqa": 198, "film": 120}, {"nsvqa": 60})).rows}
    assert list(rows) == list(STUDY.planned)
    here, there, difference = rows["nsvqa"]
    assert here.startswith("99.00 ± ") and there.startswith("30.00 ± ") and difference.startswith("+69.00 (+")
    assert rows["film"][0].startswith("60.00 ± ") and rows["film"][1:] == ("–", "–")
    assert rows["lstm"] == ("–", "–", "–")


def test_figures_of_another_scale_are_not_set_beside():
    larger = replace(OTHER_TOY, name="paper")
    assert board(EASY, HARD, larger).beside is None
    assert {row[2] for row in compare_datasets(board(EASY, HARD, larger)).rows} == {"–"}


def test_the_page_tells_how_it_is_made_and_what_is_not_measured():
    text = render_markdown(entries({"nsvqa": 198}, {"nsvqa": 60}), scale=TOY)
    assert "--cells docs/results/clevr --known docs/results/cells --page docs/results/clevr.md`" in text
    assert "1 of 10 entries of the transfer matrix are finished" in text
    assert "shiftscope study clevr --scale toy --models film --out DIR" in text
    assert "--models nsvqa --out" not in text
    assert "Relative Degrade" not in text and "{shared}" not in text
    titles = [table.title for table in list_tables(board({"nsvqa": 198, "p_nsvqa": 199}, {}))]
    assert titles[:4] == [
        "The paper's findings",
        "Figure 3, in domain on CLEVR and on Super-CLEVR, accuracy in %",
        "Default, in domain",
        "Model comparison, points",
    ]
    assert not [title for title in titles if title.startswith(("Table 1", "Table 2"))]


def test_super_clevrs_page_takes_no_entry_of_clevr():
    records = entries(EASY, HARD)
    matrix = read_matrix(records, scale=OTHER_TOY)
    assert {one.origin.suite for one in matrix.entries.values()} == {"superclevr"} and matrix.beside is None


def findings(here, there):
    return {one.says: one for one in check_paper_findings(board(here, there))}


def test_both_findings_hold_where_intervals_say_so():
    found = findings(EASY, HARD | dict.fromkeys(SIMPLE, 80))
    assert [found[says].verdict for says in (HARDER, SMALLER)] == [HOLDS, HOLDS]
    assert found[HARDER].figures.startswith("lstm +20.00 points (+")


def test_one_model_that_is_surely_higher_on_super_clevr_settles_the_first():
    found = findings({"lstm": 20}, {"lstm": 180, "film": 1})
    assert found[HARDER].verdict == FAILS and found[SMALLER].verdict == NOT_MEASURED
    assert "; not measured: cnn_lstm, film, mdetr, nscl, nsvqa, p_nsvqa" in found[HARDER].figures


def test_a_simple_baseline_with_the_larger_gap_settles_the_second():
    found = findings({"lstm": 198, "nsvqa": 120}, {"lstm": 20, "nsvqa": 110})
    assert found[SMALLER].verdict == FAILS and found[HARDER].verdict == NOT_MEASURED


def test_a_gap_around_0_leaves_the_first_open():
    assert findings(EASY | {"film": 100}, HARD | {"film": 99})[HARDER].verdict == UNDECIDED


def test_nothing_is_decided_by_what_is_not_measured():
    assert {one.verdict for one in findings(EASY, {}).values()} == {NOT_MEASURED}
    assert {one.figures for one in findings(EASY, {}).values()} == {""}


def test_the_default_is_the_only_pair():
    assert STUDY.pairs == [HOME] and STUDY.default == HOME
