"""Evaluation on a whole test set: prompts, pictures, runs and oracles, without any training."""

import json
from dataclasses import replace

import numpy as np
import pytest

from lazy import lazy
from shiftscope.lang.exec.possible_worlds import build_most_likely_scenes
from shiftscope.lang.scene_posterior import build_certain_posterior
from shiftscope.metrics.accuracy import measure
from shiftscope.model import ADAPTATION_IMAGES, ModelOptions, ModelSetting, build_model
from shiftscope.models import p_nsvqa_exact
from shiftscope.models.nsvqa import neuro_symbolic
from shiftscope.models.nsvqa.trained_model import SHIPPED, read_trained_model
from shiftscope.picture import Picture
from shiftscope.result import Prediction
from shiftscope.run.study import evaluation
from shiftscope.run.study.entries import ORACLE_BOTH, ORACLE_OBJECTS, ORACLE_SCENE, ORACLES, OracleDiagnosis
from shiftscope.run.study.evaluation import (
    EntryRun,
    adapt_model,
    diagnose_models,
    evaluate_testset,
    score_rows,
    write_run_folders,
)
from shiftscope.run.study.prefetch import prefetch
from shiftscope.run.study.test_sets import StudyTestSets, make_testset
from shiftscope.scene_table import pack_scenes
from shiftscope.schemas.superclevr import SCHEMA
from shiftscope.store.run_log import read_run
from shiftscope.suites import load_suite
from shiftscope.suites.study import Contender, list_studies, load_study
from shiftscope.suites.superclevr.study import StudyDomain, StudyScale, TrainingSetup
from study_toys import SYMBOLIC as MODELS
from study_toys import origin

torch = lazy("torch")

FEW = StudyScale("few", 18, (96, 64), questions=3, part_questions=2, shard=2)
STUDY = load_study("superclevr")


@pytest.fixture(scope="module")
def testset():
    return make_testset(STUDY, StudyDomain(), FEW, device="cpu", whole=True, adapted=True)


def built(model):
    return build_model(model, ModelSetting(schema=SCHEMA, options=ModelOptions(device="cpu", trace=False)))


@pytest.fixture(scope="module")
def runs(testset):
    return {model: evaluate_testset(built(model), model, testset) for model in MODELS}


def test_only_suites_with_a_study_have_one(refuses):
    assert list_studies() == ("clevr", "superclevr")
    with refuses("no study 'gqa'"):
        load_study("gqa")
    assert load_suite("superclevr").study is STUDY
    assert load_suite("gqa").study is None and not load_suite("clevr").reported.tables


def test_a_test_set_is_what_make_would_write(testset):
    from shiftscope.suites.superclevr.suite import SUITE

    assert [p.tensor().shape for p in testset.pictures] == [(64, 96, 3)] * 3
    spec = StudyDomain().build_spec(FEW)
    made = [q for k in range(2) for q in SUITE.make_shard(spec.spec(), "test", k)[1]]
    asked = [p.question for group in testset.groups.values() for p in group.prompts]
    assert sorted(q.id for q in made) == sorted(q.id for q in asked)
    assert {p.question.provenance.template[:5] for p in testset.groups["part"].prompts} == {"part_"}
    assert testset.groups["object"].counts.tolist() == [3, 3, 3]
    assert testset.groups["object"].image_rows.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_prompts_carry_neither_answer_nor_program_nor_scene(testset):
    for group in testset.groups.values():
        for prompt in group.prompts:
            assert prompt.question.answer is None and prompt.question.answers == ()
            assert prompt.question.program is None and prompt.scenes == ()
        assert all(record.truth is not None and record.program for record in group.records)


def test_visual_twins_ask_the_same_and_easy_ones_nothing_of_parts(testset):
    easy = make_testset(STUDY, StudyDomain.from_name("easy"), FEW, device="cpu")
    texts = [[p.question.text for p in one.groups["object"].prompts] for one in (easy, testset)]
    assert texts[0] == texts[1]
    assert easy.test.questions != testset.test.questions  # it has no part questions
    assert len(easy.groups["part"]) == 0
    assert not easy.scenes and not easy.groups["object"].programs
    assert easy.pictures[0].id != testset.pictures[0].id
    assert not torch.equal(easy.pictures[0].tensor(), testset.pictures[0].tensor())


def test_a_test_set_is_made_once():
    made = StudyTestSets(STUDY, FEW, device="cpu")
    easy = StudyDomain.from_name("easy")
    assert made.get_or_make(easy) is made.get_or_make(easy)


@pytest.mark.parametrize("model", MODELS)
def test_asked_in_bulk_a_model_says_what_it_says_one_by_one(testset, runs, model):
    alone = built(model)
    for group, questions in testset.groups.items():
        said = [prediction for _, prediction in runs[model].rows[group]]
        for prompt, prediction in zip(questions.prompts, said, strict=True):
            (one,) = alone.predict([replace(prompt, pictures=(Picture(prompt.pictures[0].png()),))])
            assert (one.answer, one.program) == (prediction.answer, prediction.program)
            assert (
                (one.confidence is None) == (prediction.confidence is None) == (model == "nsvqa" or one.answer is None)
            )
            if one.confidence is not None:
                assert prediction.confidence == pytest.approx(one.confidence, rel=1e-4)


def test_pictures_and_questions_are_parsed_once_for_all_models(testset, monkeypatch):
    seen, read = [], []
    parse_images, parse_questions = (
        neuro_symbolic.NsvqaParsers.parse_images,
        neuro_symbolic.NsvqaParsers.parse_questions,
    )
    monkeypatch.setattr(
        neuro_symbolic.NsvqaParsers, "parse_images", lambda self, x: seen.append(len(x)) or parse_images(self, x)
    )
    monkeypatch.setattr(
        neuro_symbolic.NsvqaParsers, "parse_questions", lambda self, x: read.extend(x) or parse_questions(self, x)
    )
    neuro_symbolic._CACHES.clear()
    models = {model: built(model) for model in MODELS}
    made = {name: evaluate_testset(model, name, testset) for name, model in models.items()}
    assert seen == [3]
    assert len(read) == len(set(read))
    assert made["nsvqa"].seconds["see"] == pytest.approx(made["p_nsvqa"].seconds["see"])  # shared, in full
    assert made["nsvqa"].seconds["read"] == pytest.approx(made["p_nsvqa_exact"].seconds["read"])
    assert all(run.seconds["execute"] > 0 for run in made.values())


@pytest.mark.parametrize("model", MODELS)
def test_an_entry_without_rows_has_the_same_outcomes(testset, runs, model):
    short = evaluate_testset(built(model), model, testset, keep_rows=False)
    for (group, one), (_, other) in zip(short.outcomes, runs[model].outcomes, strict=True):
        assert (one.asked, one.right, one.undefined, one.bits) == (
            other.asked,
            other.right,
            other.undefined,
            other.bits,
        )
        assert (one.confidence is None) == (other.confidence is None) == (model == "nsvqa"), group


def test_models_adapt_to_images_that_no_test_set_shows(testset):
    shown = {picture.pixels().tobytes() for picture in testset.pictures}
    assert len(testset.unlabelled) == ADAPTATION_IMAGES
    assert not shown & {picture.pixels().tobytes() for picture in testset.unlabelled}


@pytest.mark.full
def test_models_adapt_where_the_condition_says_so(testset):
    model = built("nsvqa")
    assert adapt_model(model, Contender("nsvqa"), testset) is model and model.adapted is None
    assert adapt_model(model, Contender("nsvqa", adapt="both"), testset).adapted is not None


def test_a_validation_set_is_of_other_images(testset):
    val = make_testset(STUDY, StudyDomain(), FEW, device="cpu", split="val")
    assert val.test.split == "val" and not val.unlabelled
    assert not {p.id for p in val.pictures} & {p.id for p in testset.pictures}
    assert val.test.questions != testset.test.questions


def test_blocks_of_scenes_answer_as_all_at_once(testset, monkeypatch):
    trained = read_trained_model(SHIPPED / "superclevr")
    posterior = build_certain_posterior(pack_scenes(testset.scenes))
    questions = testset.groups["object"]
    answer = p_nsvqa_exact.make_executor(trained, "predicted").answer
    order = np.random.default_rng(0).permutation(len(questions))
    programs, rows = [questions.programs[k] for k in order], questions.image_rows[order]
    whole = answer(programs, posterior, rows)
    monkeypatch.setattr(p_nsvqa_exact, "BLOCK", 2)
    blocks = answer(programs, posterior, rows)
    assert [blocks[k] for k in range(len(order))] == [whole[k] for k in range(len(order))]
    np.testing.assert_allclose(blocks.confidence, whole.confidence, rtol=1e-6)


def test_a_diagnosis_tells_true_objects_from_true_scenes(testset, runs):
    made = diagnose_models(runs, built("nsvqa"), testset, replace(origin(), scale=FEW))
    found = {(model, group, oracle): share for model, group, oracle, share in made.oracles}
    assert len(found) == len(MODELS) * len(testset.groups) * len(ORACLES)
    for group, questions in testset.groups.items():
        every = (len(questions), len(questions))
        assert found["nsvqa", group, ORACLE_BOTH] == found["p_nsvqa_exact", group, ORACLE_BOTH] == every
        assert found["p_nsvqa", group, ORACLE_OBJECTS] == found["p_nsvqa", group, ORACLE_SCENE]
    shares = dict(made.shares)
    each = [shares[f"program, {group} questions"] for group in testset.groups]
    assert shares["program, all of it"] == tuple(map(sum, zip(*each, strict=True)))
    assert {"object is there", "color", "color, calibrated"} <= set(dict(made.reliability))
    assert OracleDiagnosis.from_json(made.to_json()) == made


def test_true_objects_do_not_settle_their_sides_by_box_centres(testset):
    # CLEVR's rule is of the ground: of two things side by side in the picture neither may be in front.
    table = pack_scenes(testset.scenes)
    assert (build_most_likely_scenes(build_certain_posterior(table)).rows != table.rows).any()


def given(testset, answer):
    """A run whose answers are made up."""
    rows = {group: [(r, answer(r)) for r in questions.records] for group, questions in testset.groups.items()}
    return EntryRun(testset, None, score_rows(rows, testset), {}, rows)


def right(record):
    return Prediction(record.question, record.truth, confidence=0.9)


def wrong(record):
    return Prediction(record.question, "no such answer")


def test_no_answer_is_counted_apart(testset):
    first = testset.groups["part"].records[0]
    run = given(testset, lambda r: Prediction(r.question, status="undefined") if r is first else right(r))
    outcome, many = dict(run.outcomes)["part"], len(testset.groups["part"])
    assert (outcome.asked, outcome.undefined, outcome.right) == (many, 1, many - 1)
    assert outcome.confidence.n == many - 1
    assert outcome.unpack_hits().tolist() == [False] + [True] * (many - 1)
    assert dict(given(testset, wrong).outcomes)["object"].confidence is None


def test_an_entry_is_written_as_runs_that_score(testset, tmp_path):
    came, run = replace(origin(), scale=FEW), given(testset, right)
    folders = write_run_folders(tmp_path, STUDY, "nsvqa", came, run, "mid")
    assert sorted(f.relative_to(tmp_path).as_posix() for f in folders) == [
        "compositionality/nsvqa-co-0-co-0",
        "distribution/nsvqa-bal-bal",
        "redundancy/nsvqa-rd-rd",
        "visual/nsvqa-mid-mid",
    ]
    log = read_run(folders[0])
    assert measure(log.records)[0].value == 1.0
    spec = json.loads((folders[0] / "run.json").read_text())["spec"]
    assert (spec["trained_on"], spec["variant"]) == ("mid", "mid")
    assert set(log.records.column("about").values) == {"object", "part"}
    assert set(read_run(tmp_path / "redundancy/nsvqa-rd-rd").records.column("variant").to_list()) == {"rd"}
    assert write_run_folders(tmp_path, STUDY, "nsvqa", came, run, "mid") == folders  # nothing twice


def test_a_run_of_other_weights_is_written_anew(testset, tmp_path):
    old, new = (replace(origin(weights=w), scale=FEW) for w in ("old", "new"))
    folder = write_run_folders(tmp_path, STUDY, "nsvqa", old, given(testset, wrong), "mid")[0]
    write_run_folders(tmp_path, STUDY, "nsvqa", old, given(testset, right), "mid")
    assert measure(read_run(folder).records)[0].value == 0.0  # the same run is not written twice
    write_run_folders(tmp_path, STUDY, "nsvqa", new, given(testset, right), "mid")
    assert measure(read_run(folder).records)[0].value == 1.0
    assert json.loads((folder / "run.json").read_text())["spec"]["weights"] == dict(new.weights)


def test_a_run_that_no_study_wrote_is_refused(testset, tmp_path, refuses):
    came, run = replace(origin(), scale=FEW), given(testset, right)
    folder = write_run_folders(tmp_path, STUDY, "nsvqa", came, run, "mid")[0]
    about = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(about | {"spec": {"model": "film"}}))
    with refuses("holds a run that no study wrote"):
        write_run_folders(tmp_path, STUDY, "nsvqa", came, run, "mid")
    (folder / "run.json").write_text("{")
    with refuses("is damaged"):
        write_run_folders(tmp_path, STUDY, "nsvqa", came, run, "mid")


def test_where_an_entry_stands():
    assert list(
        STUDY.list_places(TrainingSetup.from_name("slt", "hard"), StudyDomain.from_name("head", "hard"), "hard")
    ) == [("distribution-hard", "slt", "head")]
    assert list(STUDY.list_places(TrainingSetup(seed=1), StudyDomain(), "mid")) == [
        ("seeds", "default-seed-1", "default")
    ]


@pytest.mark.parametrize("most", [0, 1, 3])
def test_things_come_in_order_however_far_ahead_they_are_made(most):
    made = []

    def maker(k):
        return lambda: made.append(k) or k

    with prefetch([maker(k) for k in range(5)], most) as ahead:
        assert [next(ahead) for _ in range(3)] == [0, 1, 2]
    assert made[:3] == [0, 1, 2]
    assert len(made) <= 3 + most + 1


def test_an_error_in_the_background_comes_out_in_front():
    def broken():
        raise ValueError("no room")

    with prefetch([broken], 1) as ahead, pytest.raises(ValueError, match="no room"):
        next(ahead)


def test_a_model_is_asked_by_its_name_alone():
    """nscl is no name to run by itself, and its model does not say what it reads: its file does."""
    nothing = evaluation.StudyQuestions((), (), np.zeros(0, np.int64))
    assert evaluation._ask(object(), "nscl", nothing) == []
