"""Annotation: who is given what, what is kept, how far people agree, and what comes out as a run and a dataset."""

import re
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("fastapi")
from starlette.testclient import TestClient

import explore_toys as toys
from shiftscope.answer import spell
from shiftscope.explore.annotation.agreement import measure_agreement
from shiftscope.explore.annotation.export import export_annotations
from shiftscope.explore.annotation.pages import open_annotation
from shiftscope.explore.annotation.qualification import QualificationRound, select_counting
from shiftscope.explore.annotation.store import AnnotationStore
from shiftscope.explore.app import build_app
from shiftscope.explore.collection import open_collection
from shiftscope.report.drops import find_shifts
from shiftscope.report.runs import read_runs
from shiftscope.rng import derive
from shiftscope.store.dataset import Dataset
from shiftscope.store.run_log import read_rows, read_run, read_spec

BASE = "http://127.0.0.1"
HEADERS = {"origin": BASE}


def make_store(path, questions=6, per_question=2, qualification=None):
    store = AnnotationStore(path / "a.sqlite")
    store.prepare("data", "test", [f"q{k}" for k in range(questions)], per_question, qualification)
    return store


def judge(store, place, name, verdict="accept", answer="yes", **more):
    store.save_answer(place, name, answer, answer or None)
    store.save_judgement(place, name, verdict, **more)


def test_an_annotator_stays_at_a_question_until_it_is_judged(tmp_path):
    store = make_store(tmp_path)
    assert [store.assign("ann") for _ in range(3)] == [0, 0, 0]
    judge(store, 0, "ann")
    assert store.assign("ann") == 1
    assert store.assign("bob") == 0  # what somebody judged comes first


def test_a_question_goes_to_so_many_people_and_no_more(tmp_path):
    store = make_store(tmp_path, questions=2)
    for name in ("ann", "bob"):
        while (place := store.assign(name)) is not None:
            judge(store, place, name)
    assert store.assign("cid") is None
    assert Counter(one.question for one in store.list_annotations()) == {"q0": 2, "q1": 2}


def test_many_at_once_are_never_given_one_place_twice(tmp_path):
    store = make_store(tmp_path, questions=12, per_question=2)

    def work(name):
        while (place := store.assign(name)) is not None:
            judge(store, place, name)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, [f"p{k}" for k in range(6)]))
    found = store.list_annotations()
    assert set(Counter(one.question for one in found).values()) == {2}
    assert len({(one.question, one.annotator) for one in found}) == 24


def test_a_file_made_for_other_questions_is_refused(tmp_path, refuses):
    store = make_store(tmp_path, questions=6)
    for n in (4, 8):
        with refuses(f"was made for the first 6 questions, not for {n}; give --limit 6, or name another file"):
            make_store(tmp_path, questions=n)
    with refuses("holds annotations of other questions"):
        store.prepare("data", "val", ["q0"], 2)
    make_store(tmp_path, questions=6, per_question=3)
    assert store.count_questions() == 6 and store.read_about()["per_question"] == "3"


def test_only_who_judges_as_the_expert_does_goes_on(tmp_path, refuses):
    qualification = QualificationRound(questions=3, expert="eve", above=60)
    store = make_store(tmp_path, questions=5, qualification=qualification)
    assert store.assign("ann") is None  # the expert has not judged yet
    for verdict in ("accept", "wrong", "accept"):
        judge(store, store.assign("eve"), "eve", verdict)
    for name, verdicts in {"ann": ("accept", "accept", "accept"), "bob": ("accept", "accept", "wrong")}.items():
        for place, verdict in enumerate(verdicts):  # everybody gets all of them, in order
            assert store.assign(name) == place
            judge(store, place, name, verdict)
    assert (
        str(store.measure_round("ann")) == "2 of 3, passed" and str(store.measure_round("bob")) == "1 of 3, not passed"
    )
    assert store.assign("bob") is None and store.assign("ann") == 3 and store.assign("eve") == 3
    with refuses("the qualification round is over"):
        judge(store, 2, "bob")
    judge(store, 3, "ann", "wrong")
    judge(store, 3, "eve")
    counting = select_counting(qualification, store.list_annotations())
    assert [(one.place, one.annotator) for one in counting] == [
        (0, "eve"),
        (1, "eve"),
        (2, "eve"),
        (3, "ann"),
        (3, "eve"),
    ]
    with refuses("was made with --qualify 3 --expert 'eve' --qualify-above 60"):
        make_store(tmp_path, questions=5)
    with refuses("--qualify 5 of 5 questions leaves none to annotate"):
        make_store(tmp_path, questions=5, qualification=QualificationRound(5, "eve"))


def test_as_many_as_the_threshold_are_not_more(tmp_path):
    """COVR approved workers over 85%."""
    verdicts = dict.fromkeys(range(20), "accept")
    given = verdicts | {0: "wrong", 1: "wrong", 2: "wrong"}
    assert not QualificationRound(20, "eve").measure(given, verdicts).passed
    assert QualificationRound(20, "eve").measure(given | {0: "accept"}, verdicts).passed


def test_the_own_answer_is_not_changed_after_the_stored_one_was_seen(tmp_path, refuses):
    store = make_store(tmp_path)
    place = store.assign("ann")
    with refuses("give your own answer first"):
        store.save_judgement(place, "ann", "accept")
    store.save_answer(place, "ann", "three", "3")
    store.save_answer(place, "ann", "four", "4")
    store.save_judgement(place, "ann", "wrong", "Reworded?")
    store.save_judgement(place, "ann", "accept", "Reworded again?")
    one = store.get(place, "ann")
    assert (one.answer, one.parsed, one.verdict, one.paraphrase) == ("three", "3", "accept", "Reworded again?")
    with refuses("this question was not given to you"):
        store.save_answer(5, "ann", "x", None)
    with refuses("choose one of"):
        store.save_judgement(place, "ann", "maybe")


def test_a_file_is_of_one_set_of_questions(tmp_path, refuses):
    make_store(tmp_path)
    with refuses("holds annotations of other questions"):
        AnnotationStore(tmp_path / "a.sqlite").prepare("other data", "test", ["q"], 2)
    (tmp_path / "no.sqlite").write_bytes(b"this is no database, but a text of some length" * 40)
    with refuses("is it a file of annotations"):
        AnnotationStore(tmp_path / "no.sqlite").prepare("data", "test", ["q"], 2)


WRITER = """
import os, sys
from pathlib import Path
from shiftscope.explore.annotation.qualification import QualificationRound, select_counting
from shiftscope.explore.annotation.store import AnnotationStore
store = AnnotationStore(Path(sys.argv[1]))
for k in range(1000):
    place = store.assign("ann")
    store.save_answer(place, "ann", f"a{place}", None)
    store.save_judgement(place, "ann", "accept", f"p{place}")
    print(place, flush=True)  # acknowledged
"""


def test_a_kill_loses_nothing_that_was_acknowledged(tmp_path):
    store = make_store(tmp_path, questions=1000, per_question=1)
    with subprocess.Popen([sys.executable, "-c", WRITER, str(store.path)], stdout=subprocess.PIPE, text=True) as writer:
        told = [int(writer.stdout.readline()) for _ in range(15)]
        writer.send_signal(signal.SIGKILL)
        told += [int(line) for line in writer.stdout.read().split()]
    kept = {one.place: one for one in store.list_annotations()}
    assert all(kept[place].paraphrase == f"p{place}" and kept[place].answer == f"a{place}" for place in told)
    assert sum(one.verdict is not None for one in kept.values()) in (len(told), len(told) + 1)
    with sqlite3.connect(store.path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert store.assign("ann") is not None


def test_agreement_by_hand():
    # Two of three questions alike: 2/3 observed; 4 accept and 2 wrong of 6, so 2·4·2/(6·5) expected apart.
    judged = {"a": {"x": "ok", "y": "ok"}, "b": {"x": "ok", "y": "no"}, "c": {"x": "ok", "y": "ok"}, "d": {"x": "no"}}
    found = measure_agreement(judged)
    assert (found.n, found.observed) == (3, pytest.approx(2 / 3))
    assert found.alpha == pytest.approx(1 - (2 / 6) / (2 * 5 * 1 / (6 * 5)))
    assert [(p.first, p.second, p.n) for p in found.pairs] == [("x", "y", 3)]
    alike = measure_agreement({"a": {"x": "ok", "y": "ok"}})
    assert (alike.observed, alike.alpha, alike.pairs[0].kappa) == (1.0, None, None)
    assert measure_agreement({"a": {"x": "ok"}}).n == 0


def test_kappa_is_what_statsmodels_computes():
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    for n in (5, 20, 60):
        draw = derive("tests", "agreement", n)
        pairs = [tuple("abc"[k] for k in draw.choice(3, 2, p=(0.6, 0.3, 0.1)).tolist()) for _ in range(n)]
        table = [[sum((a, b) == (x, y) for a, b in pairs) for y in "abc"] for x in "abc"]
        found = measure_agreement({str(k): {"x": a, "y": b} for k, (a, b) in enumerate(pairs)})
        assert found.pairs[0].kappa == pytest.approx(inter_rater.cohens_kappa(table, return_results=False))
        fleiss = inter_rater.fleiss_kappa([[pair.count(x) for x in "abc"] for pair in pairs])
        assert found.alpha == pytest.approx(fleiss + (1 - fleiss) / (2 * n))  # alpha is kappa for a sample of this size


@pytest.fixture
def annotated(tmp_path):
    return open_clients(tmp_path, ("ann", "bob <b>"))


def open_clients(tmp_path, names, qualification=None):
    dataset = toys.build(tmp_path / "data")
    store = AnnotationStore(tmp_path / "a.sqlite")
    collection = open_collection([tmp_path / "data"])
    pages = open_annotation(collection, store, "test", None, 2, qualification)
    clients = []
    for name in names:
        client = TestClient(build_app(collection, annotation=pages), base_url=BASE)
        client.post("/name", data={"name": name}, headers=HEADERS)
        clients.append(client)
    return dataset, store, clients


def answer_all(client, dataset, verdicts, paraphrase=""):
    """Answer every question: truly, but the first; and judge in turn."""
    questions = list(dataset.questions())
    for k, verdict in enumerate(verdicts):
        task = client.get("/next")
        assert task.url.path == f"/task/{k}"
        assert "Stored answer" not in task.text
        client.post(
            f"/task/{k}/answer", data={"answer": "99" if k == 0 else spell(questions[k].answer)}, headers=HEADERS
        )
        assert "Stored answer" in client.get(f"/task/{k}").text
        fields = {"verdict": verdict, "paraphrase": paraphrase and f"{paraphrase} {k}"}
        assert client.post(f"/task/{k}/judge", data=fields, headers=HEADERS).status_code == 200


def test_people_validate_reword_and_are_scored(annotated, tmp_path):
    dataset, store, (ann, bob) = annotated
    answer_all(ann, dataset, ["accept"] * 8, "In other words")
    answer_all(bob, dataset, ["accept", "accept", "wrong", "undetermined", *["accept"] * 4])
    assert "All done" in ann.get("/next").text
    progress = ann.get("/progress").text
    assert "16 judgements of 8 of 8 questions; 6 accepted" in progress
    assert "bob &lt;b&gt;" in progress and "<b>" not in progress
    assert "75.0% of pairs of judgements are alike" in progress
    assert "Over all 8 answered questions: 87.5" in progress, re.findall(r"Over[^<]*", progress)

    made = export_annotations(store, dataset.folder, tmp_path / "out")
    assert (made.answered, made.kept, made.dropped, made.paraphrased) == (8, 6, 2, 6)
    log = read_run(made.run)
    assert int(log.records.right.sum()) == 7
    assert {len(p.replies) for _, p in read_rows(made.run)} == {2}
    variant = Dataset.open(made.data)
    variant.verify()
    assert variant.splits == ("test",)
    originals = {q.id: q for q in dataset.questions()}
    pictures = {image.id: image.png for image in dataset.images()}
    for k, q in enumerate(variant.questions()):
        original = originals[q.note("twin")]
        assert q.text.startswith("In other words") and q.note("generated") == original.text
        assert (q.program, q.answer, q.scenes) == (original.program, original.answer, original.scenes)
        assert variant.example(k).images[0].png == pictures[q.scenes[0]]
    again = export_annotations(store, dataset.folder, tmp_path / "out")
    assert again == made

    first = next(variant.questions()).id
    runs = [
        toys.write_run(tmp_path / "own", dataset, "some", {}),
        toys.write_run(tmp_path / "reworded", variant, "some", {first: "no idea"}),
    ]
    [shift] = find_shifts(read_runs(runs))
    assert (shift.title, shift.base.folder, shift.twins.measure_drop().n) == ("Annotation", runs[0], 6)
    assert shift.measure_drop().drop == pytest.approx(1 / 6)


def test_a_remark_leaves_a_question_out_and_nothing_comes_of_nothing(annotated, tmp_path, refuses):
    dataset, store, (ann, _) = annotated
    with refuses("nobody has answered a question yet"):
        export_annotations(store, dataset.folder, tmp_path / "out")
    ann.get("/next")
    assert ann.post("/task/0/answer", data={"answer": " "}, headers=HEADERS).status_code == 400
    ann.post("/task/0/answer", data={"answer": "", "skip": "1"}, headers=HEADERS)
    ann.post("/task/0/judge", data={"verdict": "accept", "comment": "odd"}, headers=HEADERS)
    made = export_annotations(store, dataset.folder, tmp_path / "out")
    assert (made.answered, made.kept, made.dropped, made.data) == (1, 0, 1, None)
    ((_, row),) = read_rows(made.run)
    assert (row.status, row.answer) == ("undefined", None)


def test_annotators_do_not_see_the_explorer_or_others_tasks(annotated):
    _, _, (ann, bob) = annotated
    ann.get("/next")
    assert ann.get("/d/0").status_code == 404
    assert bob.get("/task/5", follow_redirects=False).headers["location"] == "/next"
    assert bob.post("/task/5/answer", data={"answer": "1"}, headers=HEADERS).status_code == 400
    stranger = TestClient(ann.app, base_url=BASE)
    assert stranger.get("/next").status_code == 400
    page = bob.get("/next").text
    assert "You are bob &lt;b&gt;. Not you?" in page and 'name="name"' in bob.get("/?rename=1").text
    bob.post("/name", data={"name": "cid"}, headers=HEADERS)
    assert "You are cid." in bob.get("/next").text
    assert stranger.post("/name", data={"name": "  "}, headers=HEADERS).status_code == 400


def test_the_round_is_shown_and_what_fails_it_is_left_out(tmp_path):
    dataset, store, (eve, ann, bob) = open_clients(tmp_path, ("eve", "ann", "bob"), QualificationRound(2, "eve", 85))
    assert "has not yet judged the 2 questions" in ann.get("/next").text
    answer_all(eve, dataset, ["wrong", "accept", "accept"])
    answer_all(ann, dataset, ["wrong", "accept"])
    passed = ann.get("/qualification").text
    assert "You are qualified" in passed and "every one as the expert" in passed
    answer_all(bob, dataset, ["accept", "accept"])
    failed = bob.get("/next").text
    assert "You judged 1 of 2 questions as the expert did" in failed and "no further questions" in failed
    assert "The answer is wrong" not in failed  # what the expert said stays unsaid
    ann.get("/next")  # the third question
    judge(store, 2, "ann", "wrong", answer="9")
    shown = eve.get("/progress").text
    assert "1 of 2, not passed" in shown and "2 of 2, passed" in shown and "4 judgements of 3 of 8 questions" in shown
    assert "0.0% of pairs of judgements are alike, over 1 question" in shown  # not over the round
    made = export_annotations(store, tmp_path / "data", tmp_path / "out")
    assert (made.answered, made.kept, made.dropped, made.unqualified) == (3, 1, 2, ("bob",))
    assert read_spec(made.run)["qualification"]["results"] == {"ann": "2 of 2, passed", "bob": "1 of 2, not passed"}
