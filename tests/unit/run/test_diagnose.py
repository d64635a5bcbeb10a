"""The frozen set, how a budget is spent on it, and what a diagnosis refuses."""

import json
from collections import Counter
from dataclasses import replace

import pytest

from asked import dataset
from campaign.proxy import Proxy
from endpoints import completion, serving
from shiftscope.errors import UserError
from shiftscope.metrics.attribution import measure
from shiftscope.model import ModelOptions
from shiftscope.question import Provenance, Question
from shiftscope.records import content_id
from shiftscope.report.runs import read_runs
from shiftscope.report.verdict import find_verdict
from shiftscope.run import diagnosis_plan
from shiftscope.run.diagnose import diagnose, refuse_other_diagnosis
from shiftscope.run.diagnosis_plan import DiagnosisPlan, DiagnosisSpec, choose_questions, plan_diagnosis
from shiftscope.run.diagnostic_set import FACTORS, digest_shards, load_diagnostic_set
from shiftscope.run.evaluate import RunSpec, evaluate
from shiftscope.store.dataset import Dataset
from shiftscope.store.question_part import QuestionPart
from shiftscope.store.run_log import read_run

PUBLIC = "a6d59ec4a7536b65"  # the digest of version 1; another means another version


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def small(monkeypatch, cache):
    """The set without what is beside the factors, at a fraction of its pictures' size and of a shard's number, in a
    cache of its own."""
    monkeypatch.setattr("shiftscope.run.diagnostic_set.find_cache_folder", lambda: cache)  # that of kernels stays
    whole = load_diagnostic_set(1)
    parts = [
        replace(part, fields={**part.fields, "size": [120, 80], "shard": 10})
        for part in whole.parts
        if part.group == FACTORS and part.name in ("default", "hard", "rd+")
    ]
    made = replace(whole, parts=tuple(parts))
    monkeypatch.setattr(diagnosis_plan, "load_diagnostic_set", lambda seed: made)
    return made


def test_version_1_is_pinned():
    whole = load_diagnostic_set()
    assert (whole.version, whole.digest) == (1, PUBLIC)
    made = [part for part in whole.parts if not part.same_as]
    assert {part.name: part.shards for part in made} == {name: len(some) for name, some in whole.digests.items()}


def test_a_seed_makes_another_set_that_says_so():
    public, private = load_diagnostic_set(), load_diagnostic_set(5)
    assert public.digest != private.digest
    assert private.describe(private.base) == {"version": 1, "digest": private.digest, "part": "default", "seed": 5}
    assert public.build_spec(public.base).seed != private.build_spec(private.base).seed
    with pytest.raises(UserError, match="above it for a private one"):
        load_diagnostic_set(-1)


def test_data_that_are_not_as_pinned_are_refused(tmp_path, refuses):
    made, whole = dataset(tmp_path / "data"), load_diagnostic_set()
    with refuses("is not that of version 1"):
        whole._check(whole.base, made)
    replace(whole, digests={"default": digest_shards(made)})._check(whole.base, made)
    load_diagnostic_set(3)._check(whole.base, made)  # nobody pinned a private one


def test_questions_are_spread_over_scenes():
    asked = [Question(f"{s}{k}", "?", (s,)) for s in "abc" for k in range(2)]
    assert [q.id for q in diagnosis_plan._spread(asked)] == ["a0", "b1", "c0", "a1", "b0", "c1"]


def test_questions_are_chosen_for_spread_answers():
    """Of four questions of each scene two are asked: types as often as before, rare answers more often."""
    asked = []
    for s in range(40):
        answers = (2 if s % 10 == 3 else 1, 1, s % 2 == 0, True)
        kinds = ("count", "count", "exist", "exist")
        asked += [
            Question(f"{s}-{k}", "?", (f"s{s}",), answer=a, kind=kind, provenance=Provenance(template=kind))
            for k, (a, kind) in enumerate(zip(answers, kinds, strict=True))
        ]
    chosen = choose_questions(asked, 2)
    assert Counter(q.scenes[0] for q in chosen) == dict.fromkeys((f"s{s}" for s in range(40)), 2)
    assert Counter(q.kind for q in chosen) == {"count": 40, "exist": 40}
    assert Counter(q.answer for q in chosen if q.kind == "exist") == {True: 20, False: 20}
    assert sum(q.answer == 2 for q in chosen) == 4  # all that there are
    assert choose_questions(asked[: 20 * 4], 2) == chosen[: 20 * 2]  # whatever follows
    assert choose_questions(asked, 9) == asked


def test_every_twin_asks_what_the_base_asks(small):
    plan = plan_diagnosis(DiagnosisSpec("oracle", 250, 1))
    base, hard, more = plan.runs
    assert plan.count("calls") <= 250
    assert base.scenes == hard.scenes == more.scenes > 5
    twins = {q.id: q.note("twin") for q in Dataset.open(hard.data).questions("test")}
    assert {twins[name] for name in hard.questions.ids} == base.questions.ids
    assert {twins[name] for name in hard.subset.ids} == base.subset.ids
    said = {q.id: q for q in Dataset.open(more.data).questions("test")}
    assert more.questions.ids == {name for name, q in said.items() if name in more.questions.ids and q.kind}
    assert len(more.questions.ids) < len(base.questions.ids)  # what is asked about parts is the same in both
    assert base.conditions == ("as_is", "other_image", "scene_text", "program_text")  # the oracle does not guess
    assert [run.part.factor for run in plan.runs] == ["", "Visual complexity", "Question redundancy"]


def test_a_diagnosis_resumes_and_its_runs_are_ordinary(small, tmp_path):
    plan = plan_diagnosis(DiagnosisSpec("oracle", 250, 1))
    calls = []

    def stop(part, done, total):
        calls.append((part, done, total))
        if part == "rd+":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        diagnose(plan, tmp_path / "out", tell=stop)
    done = diagnose(plan_diagnosis(plan.spec), tmp_path / "out")
    assert 0 < done.new < plan.count("calls")
    assert sum(len(log.records) for log in done.logs) == plan.count("calls") == calls[-1][2]
    log = read_run(done.folders[1])
    assert log.count_expected("as_is") > log.count_expected("scene_text") == len(plan.runs[1].subset.ids)
    assert dict(log.spec)["diagnostic"] == {"version": 1, "digest": small.digest, "part": "hard", "seed": 1}
    assert not log.records.status.equals("missing").any()
    assert all(score.n == len(plan.runs[1].subset.ids) for score in measure(log.records))
    assert (tmp_path / "out" / "data" / "hard" / "manifest.json").is_file()


def test_another_set_model_or_budget_does_not_resume_it(small, tmp_path, refuses):
    plan = DiagnosisPlan(DiagnosisSpec("oracle", 250, 1), small, ())
    diagnose(plan, tmp_path / "out")
    refuse_other_diagnosis(tmp_path / "out", plan)
    for other, word in (
        (replace(plan, set=replace(small, version=2)), "version of the diagnostic set"),
        (replace(plan, spec=replace(plan.spec, model="random")), "model"),
        (replace(plan, spec=replace(plan.spec, budget=99)), "budget"),
    ):
        with refuses(f"another {word}"):
            refuse_other_diagnosis(tmp_path / "out", other)
    (tmp_path / "out" / "diagnosis.json").write_text(json.dumps([]))
    with refuses("not what shiftscope diagnose writes"):
        refuse_other_diagnosis(tmp_path / "out", plan)


def test_a_budget_that_is_too_small_says_so(small, refuses):
    with refuses("too small: no factor could be estimated"):
        plan_diagnosis(DiagnosisSpec("oracle", 5, 1))
    plan = plan_diagnosis(DiagnosisSpec("oracle", 60, 1))
    assert plan.too_small == ["Visual complexity (hard)", "Question redundancy (rd+)"]


def test_a_model_that_learns_needs_something_to_learn_from(refuses):
    with refuses("--learn-from"):
        plan_diagnosis(DiagnosisSpec("question_only"))


def test_what_does_not_suit_a_model_is_left_out():
    spec = DiagnosisSpec("p_nsvqa", 2000)
    whole = load_diagnostic_set()
    reasons = {part.name: diagnosis_plan._explain_unsuited(part, spec, whole.base) for part in whole.parts}
    assert "one image" in reasons["several images"]
    assert "actions" in reasons["hypothetical"]
    assert reasons["clevr"] == "other weights would answer it, those that ship for clevr"
    assert reasons["default"] == reasons["contrast"] == ""
    assert "6,000" in reasons["easy"]


def test_conditions_of_a_subset_are_asked_of_it_alone(tmp_path):
    data = dataset(tmp_path / "data").folder
    ids = [q.id for q in Dataset.open(data).questions("test")]
    some = QuestionPart("some", frozenset(ids[::4]))
    run = RunSpec("oracle", data, conditions=("as_is", "scene_text"), conditions_part=some)
    told = []
    log = evaluate(run, tmp_path / "run", tell=lambda done, total: told.append((done, total)))
    assert told[-1] == (len(ids) + len(some.ids),) * 2
    rows = log.records.filter_condition("scene_text")
    assert {rows.question.values[k] for k in rows.question.codes} == some.ids
    assert evaluate(run, tmp_path / "run").questions == len(ids)


def answer_by_content(handler, status):
    """The answer depends on all that was sent, and on nothing else."""
    content = handler.server.bodies[-1]["messages"]
    return completion(("yes", "no", "2", "rubber")[int(content_id(content), 16) % 4])[1]


@pytest.mark.full
def test_an_endpoint_behind_a_bad_line_gets_the_same_verdict(small, tmp_path, monkeypatch):
    options = ModelOptions(in_flight=1, timeout=0.5, price=(1.0, 2.0))
    found = []
    with serving(monkeypatch) as server, Proxy(server.url, slow=1.0) as proxy:
        server.replies = [(200, answer_by_content)]
        for url, faults in ((server.url, False), (proxy.url, True)):
            proxy.reset(faults=faults)
            plan = plan_diagnosis(DiagnosisSpec(f"openai:m@{url}", 150, 1, options=options))
            done = diagnose(plan, tmp_path / str(faults), cache=tmp_path / "replies" / str(faults))
            assert (done.failed, done.new) == (0, plan.count("calls"))
            report = read_runs(done.folders)
            found.append(find_verdict(report, *report.contenders).to_json() | {"commands": ()})
    assert sum(proxy.met.values()) > 50
    assert found[0]["factors"] and found[0] == found[1]
    assert plan.price == pytest.approx((plan.count("read") + 2 * plan.count("written")) / 1e6)
