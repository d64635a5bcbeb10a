"""The pipeline on a whole exam: blocks, sheets, runs and the order of things, without any training."""

import copy
import json
from dataclasses import replace

import numpy as np
import pytest

from shiftscope.answer import spell
from shiftscope.lang.beliefs import certain
from shiftscope.lang.exec.likeliest import likeliest
from shiftscope.lang.exec.packed import Lowering, execute_many
from shiftscope.lang.exec.soft import SoftAnswers
from shiftscope.lang.text import parse
from shiftscope.metrics.accuracy import measure
from shiftscope.models import _scene_parser, nsvqa, p_nsvqa, p_nsvqa_exact
from shiftscope.models._neuro_symbolic import load_parsers
from shiftscope.models._scene_parser import expect
from shiftscope.models._scene_parser.attune import Attuned
from shiftscope.models._weights import SHIPPED, read_trained
from shiftscope.run.study.ahead import working_ahead
from shiftscope.run.study.cell import BOTH, OBJECTS, ORACLES, SCENE, Diagnosis, Origin
from shiftscope.run.study.diagnose import _plain, diagnose
from shiftscope.run.study.exam import Exams, make_exam
from shiftscope.run.study.matrix import MODELS, Domain, Trained
from shiftscope.run.study.pipeline import Clock, Eyes, Reader, Said, Seen, answering, answers, in_blocks, look
from shiftscope.run.study.runs import places, write_runs
from shiftscope.run.study.scale import Scale
from shiftscope.scenetable import Terms, pack
from shiftscope.schemas.superclevr import SCHEMA
from shiftscope.store.runlog import read_run
from study_toys import origin

torch = pytest.importorskip("torch")
FEW = Scale("few", 18, (96, 64), questions=3, part_questions=2, shard=2)
TERMS = Terms.of(SCHEMA.attributes)


def prepared(sheet):
    """The true programs of a sheet."""
    return Lowering(SCHEMA).prepare([q.program for q in sheet.questions])


@pytest.fixture(scope="module")
def exam():
    return make_exam(Domain(), FEW, device="cpu", whole=True)


def test_an_exam_is_what_make_would_write(exam):
    from shiftscope.suites.superclevr import make_shard

    assert exam.pixels.shape == (3, 64, 96, 3)
    order = Domain().order(FEW)
    made = [q for k in range(2) for q in make_shard(order.spec(), "test", k)[1]]
    asked = [q for sheet in exam.sheets.values() for q in sheet.questions]
    assert sorted(q.id for q in made) == sorted(q.id for q in asked)
    assert {q.provenance.template[:5] for q in exam.sheets["part"].questions} == {"part_"}
    assert exam.sheets["object"].counts.tolist() == [3, 3, 3]
    assert exam.sheets["object"].rows.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_visual_twins_ask_the_same_and_easy_ones_nothing_of_parts(exam):
    easy = make_exam(Domain.of("easy"), FEW, device="cpu")
    assert easy.sheets["object"].id == exam.sheets["object"].id
    assert easy.asked.questions != exam.asked.questions  # it has no part questions
    assert len(easy.sheets["part"]) == 0
    assert not easy.sheets["object"].questions
    assert not torch.equal(easy.pixels, exam.pixels)


def test_an_exam_is_made_once():
    exams = Exams(FEW, device="cpu")
    assert exams.get(Domain.of("easy")) is exams.get(Domain.of("easy"))


def test_true_scenes_and_programs_answer_everything(exam):
    for sheet in exam.sheets.values():
        found = answers(execute_many, prepared(sheet), pack(exam.scenes), sheet.rows)
        assert found.right(sheet).all()
        assert found.belief is None
        assert found.outcome(sheet).right == len(sheet)


def test_blocks_give_every_question_its_own_scene(exam, monkeypatch):
    monkeypatch.setattr("shiftscope.run.study.pipeline.BLOCK", 2)
    beliefs = certain(pack(exam.scenes))
    sheet = exam.sheets["object"]

    def count(programs, held, rows):
        many = held.exists[rows].sum(1).astype(np.int64) + 1000 * np.diff(programs.start)
        sure = np.full(len(rows), 0.5, np.float32)
        return SoftAnswers(many, sure, sure > 0, programs.kinds, TERMS, TERMS)

    said = in_blocks(count)(prepared(sheet), beliefs, sheet.rows)
    many = [len(exam.scenes[row].objects) for row in sheet.rows]
    long = [len(q.program) for q in sheet.questions]
    assert said.value.tolist() == [n + 1000 * length for n, length in zip(many, long, strict=True)]
    assert len(said.belief) == len(said.settled) == len(sheet)


@pytest.mark.parametrize("sort", ["object", "part"])
def test_asked_in_bulk_a_model_says_what_it_says_one_by_one(exam, sort):
    trained = read_trained(SHIPPED / "superclevr")
    eyes, sheet = Eyes(trained, "cpu"), exam.sheets[sort]
    beliefs, programs = eyes.see(exam.pixels), [q.program for q in sheet.questions]
    each = {
        "nsvqa": nsvqa.execute,
        "p_nsvqa": p_nsvqa.execute,
        "p_nsvqa_exact": p_nsvqa_exact.executor(trained),
    }
    for model, execute in each.items():
        said = answers(answering(model, eyes), prepared(sheet), beliefs, sheet.rows)
        replies = execute(programs, beliefs, sheet.rows)
        assert said.answers == tuple(None if r.answer is None else spell(r.answer) for r in replies)
        sure = [np.nan if r.belief is None else r.belief for r in replies]
        assert (said.belief is None) == (model == "nsvqa")
        if said.belief is not None:
            np.testing.assert_allclose(said.belief, sure, rtol=1e-6)


def test_only_exact_inference_sees_attuned(exam, monkeypatch):
    eyes = Eyes(read_trained(SHIPPED / "superclevr"), "cpu")
    other = copy.deepcopy(eyes.module)
    other.heat.bias.data -= 20  # finds nothing
    used = []

    def attuned(module, images, calibration):
        assert calibration == eyes.calibration
        used.append(len(images))
        return Attuned(other, True)

    monkeypatch.setattr(_scene_parser, "attuned", attuned)
    monkeypatch.setattr(p_nsvqa_exact, "ATTUNED", 2)
    clock = Clock()
    seen = look(MODELS, exam.pixels, eyes, clock)
    assert used == [2] and len(exam.pixels) > 2
    assert [one.attuned for one in seen.values()] == [None, None, True]
    assert seen["nsvqa"].beliefs is seen["p_nsvqa"].beliefs
    assert seen["p_nsvqa"].beliefs.exists.any() and not seen["p_nsvqa_exact"].beliefs.exists.any()
    assert set(clock.seconds) == {"see", "see, attuned"}
    monkeypatch.setattr(_scene_parser, "attuned", lambda *given: Attuned(other, False))
    seen = look(MODELS[2:], exam.pixels, eyes, clock)["p_nsvqa_exact"]
    assert seen.attuned is False and not seen.beliefs.exists.any()


def test_what_is_undefined_is_said_of_none():
    table = pack([make_exam(Domain(), FEW, device="cpu", whole=True).scenes[0]])
    several = Lowering(SCHEMA).prepare([parse("query(unique(scene()), color)"), parse("count(scene())")])
    said = answers(execute_many, several, table, np.array([0, 0]))
    assert said.answers == (None, str(table.start[1]))
    assert said.belief is None


def test_a_diagnosis_tells_true_objects_from_true_scenes(exam):
    trained = read_trained(SHIPPED / "superclevr")
    eyes, reader = Eyes(trained, "cpu"), Reader(trained, "cpu")
    seen = look(MODELS, exam.pixels, eyes, Clock())
    made = diagnose(exam, seen, reader, eyes, replace(origin(), scale=FEW))
    found = {(model, sort, given): share for model, sort, given, share in made.oracles}
    assert len(found) == len(MODELS) * len(exam.sheets) * len(ORACLES)
    table = pack(exam.scenes)
    for sort, sheet in exam.sheets.items():
        every = (len(sheet), len(sheet))
        assert found["nsvqa", sort, BOTH] == found["p_nsvqa_exact", sort, BOTH] == every
        assert found["p_nsvqa", sort, OBJECTS] == found["p_nsvqa", sort, SCENE]
        own = answers(nsvqa.answers, reader.read(sheet).prepared, certain(table), sheet.rows)
        assert found["nsvqa", sort, OBJECTS] == (own.right(sheet).sum(), len(sheet))
    shares = dict(made.shares)
    each = [shares[f"program, {sort} questions"] for sort in exam.sheets]
    assert shares["program, all of it"] == tuple(map(sum, zip(*each, strict=True)))
    assert Diagnosis.from_json(made.to_json()) == made


def test_only_what_is_seen_as_trained_tells_of_the_parser(exam):
    eyes = Eyes(read_trained(SHIPPED / "superclevr"), "cpu")
    plain, other = eyes.see(exam.pixels), certain(pack(exam.scenes))
    told = {"p_nsvqa_exact": Seen(other, False), "p_nsvqa": Seen(plain)}
    assert _plain(exam, told, eyes) is plain
    assert (_plain(exam, {"p_nsvqa_exact": Seen(other, False)}, eyes).exists == plain.exists).all()


def test_a_study_and_a_run_get_used_to_images_alike(exam, monkeypatch):
    trained = read_trained(SHIPPED / "superclevr")
    monkeypatch.setattr(expect, "MUCH_SURER", 10.0)
    monkeypatch.setattr(expect, "LEAST", 1)
    eyes, _ = Eyes(trained, "cpu").attuned(exam.pixels)
    parsers = load_parsers(trained, "cpu")
    used = parsers.attuned(exam.pixels)
    heads = zip(eyes.module.object.attributes, used.scene.object.attributes, strict=True)
    assert all(torch.equal(one.bias, other.bias) for one, other in heads)
    shift = used.scene.object.attributes[3].bias - parsers.scene.object.attributes[3].bias
    assert shift.abs().max() > 0.01


def test_true_objects_do_not_settle_their_sides_by_box_centres(exam):
    # CLEVR's rule is of the ground: of two things side by side in the picture neither may be in front.
    table = pack(exam.scenes)
    assert (likeliest(certain(table)).rows != table.rows).any()


def test_no_answer_is_counted_apart(exam):
    sheet = exam.sheets["part"]
    said = Said.of((None, *sheet.truths[1:]), np.array([np.nan, *([0.9] * (len(sheet) - 1))]))
    outcome = said.outcome(sheet)
    assert (outcome.undefined, outcome.right) == (1, len(sheet) - 1)
    assert outcome.belief.n == len(sheet) - 1


def test_a_cell_is_written_as_runs_that_score(exam, tmp_path):
    said = {sort: Said.of(sheet.truths) for sort, sheet in exam.sheets.items()}
    came: Origin = replace(origin(), scale=FEW)
    folders = write_runs(tmp_path, "nsvqa", came, exam, said, "mid")
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
    assert write_runs(tmp_path, "nsvqa", came, exam, said, "mid") == folders  # nothing twice


def test_a_run_of_other_weights_is_written_anew(exam, tmp_path):
    right = {sort: Said.of(sheet.truths) for sort, sheet in exam.sheets.items()}
    wrong = {sort: Said.of(("no such answer",) * len(sheet)) for sort, sheet in exam.sheets.items()}
    old, new = (replace(origin(weights=w), scale=FEW) for w in ("old", "new"))
    folder = write_runs(tmp_path, "nsvqa", old, exam, wrong, "mid")[0]
    write_runs(tmp_path, "nsvqa", old, exam, right, "mid")
    assert measure(read_run(folder).records)[0].value == 0.0  # the same run is not written twice
    write_runs(tmp_path, "nsvqa", new, exam, right, "mid")
    assert measure(read_run(folder).records)[0].value == 1.0
    assert json.loads((folder / "run.json").read_text())["spec"]["weights"] == dict(new.weights)


def test_a_run_that_no_study_wrote_is_refused(exam, tmp_path, refuses):
    said = {sort: Said.of(sheet.truths) for sort, sheet in exam.sheets.items()}
    came = replace(origin(), scale=FEW)
    folder = write_runs(tmp_path, "nsvqa", came, exam, said, "mid")[0]
    about = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(about | {"spec": {"model": "film"}}))
    with refuses("holds a run that no study wrote"):
        write_runs(tmp_path, "nsvqa", came, exam, said, "mid")
    (folder / "run.json").write_text("{")
    with refuses("is damaged"):
        write_runs(tmp_path, "nsvqa", came, exam, said, "mid")


def test_where_a_cell_stands():
    assert list(places(Trained.of("slt", "hard"), Domain.of("head", "hard"), "hard")) == [
        ("distribution-hard", "slt", "head")
    ]
    assert list(places(Trained(seed=1), Domain(), "mid")) == [("seeds", "default-seed-1", "default")]


@pytest.mark.parametrize("most", [0, 1, 3])
def test_things_come_in_order_however_far_ahead_they_are_made(most):
    made = []

    def maker(k):
        return lambda: made.append(k) or k

    with working_ahead([maker(k) for k in range(5)], most) as ahead:
        assert [ahead.next() for _ in range(3)] == [0, 1, 2]
    assert made[:3] == [0, 1, 2]
    assert len(made) <= 3 + most + 1


def test_an_error_in_the_background_comes_out_in_front():
    def broken():
        raise ValueError("no room")

    with working_ahead([broken], 1) as ahead, pytest.raises(ValueError, match="no room"):
        ahead.next()
