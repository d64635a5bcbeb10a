"""The explorer's pages over HTTP: what they show, and what they change by."""

import html
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

pytest.importorskip("fastapi")
from starlette.testclient import TestClient

import explore_toys as toys
from explore_toys import BASE, shown
from shiftscope.explore.app import build_app
from shiftscope.explore.ask import ModelAsker, load_asker
from shiftscope.explore.collection import open_collection
from shiftscope.explore.filters import ExampleFilter
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.text import parse_program
from shiftscope.result import records_of
from shiftscope.run.audit import AuditFiles, audit_files
from shiftscope.shortcuts.audit import AuditSettings
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.image import StoredImage, decode_mask
from shiftscope.store.run_log import read_run


def test_a_list_is_what_the_filter_lets_through(opened):
    dataset, collection, client = opened
    data = collection.data[0]
    questions = list(dataset.questions())
    cases = {
        (("f.kind", "count"),): [q.kind == "count" for q in questions],
        (("f.level", "1"), ("f.kind", "count")): [q.note("level") == 1 and q.kind == "count" for q in questions],
        (("q", "CUBES"),): ["cubes" in q.text for q in questions],
        (("run.0", "wrong"),): [k == 0 for k in range(len(questions))],
        (("run.0", "asked"),): [True] * len(questions),
        (("run.0", "not right"),): [k in (0, 1) for k in range(len(questions))],
        (("run.0", "unanswered"),): [k == 1 for k in range(len(questions))],
        (("pair", "0.1.first"),): [k == 2 for k in range(len(questions))],
        (("pair", "0.1.neither"),): [k == 0 for k in range(len(questions))],
        (("pair", "0.1.differ"),): [k in (0, 1, 2) for k in range(len(questions))],
    }
    for conditions, wanted in cases.items():
        chosen = ExampleFilter.parse([*conditions, ("page", "2"), ("step", "3")])
        assert chosen.conditions == conditions
        assert chosen.select(data).tolist() == wanted
        text = shown(client, f"/d/0{chosen.to_query()}")
        links = re.findall(r'href="/d/0/e/(\d+)[?"]', text)
        assert [int(row) for row in links] == np.flatnonzero(wanted).tolist()
        assert f"{sum(wanted)} of {len(questions)} questions" in text


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("f.smell=1", "no fact &#x27;smell&#x27;"),
        ("run.7=right", "there is no run &#x27;7&#x27;"),
        ("run.0=lucky", "no outcome &#x27;lucky&#x27;"),
        ("pair=0.1.how", "no way to part &#x27;how&#x27;"),
        ("worst=0.99", "there is no slice"),
        ("group.QT=x", "no shortcut &#x27;QT&#x27;"),
        ("page=x", "is no number"),
    ],
)
def test_an_address_that_means_nothing_says_so(opened, query, why):
    text = shown(opened[2], f"/d/0?{query}", 400)
    assert html.unescape(why) in html.unescape(text)


def test_an_edit_changes_the_answer_as_execution_says(opened):
    dataset, _, client = opened
    example = dataset.example(1, "test")  # how many cubes
    scene = example.images[0].scene
    shapes = [o.values("shape")[0] for o in scene.objects]
    edits = [f"0:{i}.shape=cube" for i, shape in enumerate(shapes) if shape != "cube"][:1]
    edited = replace(
        scene,
        objects=tuple(
            replace(o, attributes=(*o.attributes[:-1], ("shape", "cube"))) if f"0:{i}.shape=cube" in edits else o
            for i, o in enumerate(scene.objects)
        ),
    )
    expected = execute(example.question.program, edited).answer
    assert expected != example.question.answer
    text = shown(client, f"/d/0/e/1?edit={edits[0]}")
    assert re.search(r'id="answer-now">(\w+)<', text)[1] == str(expected)
    # another program, in the same scene
    program = "count(filter(scene(), size=small))"
    text = shown(client, f"/d/0/e/1?program={program}")
    assert re.search(r'id="answer-now">(\w+)<', text)[1] == str(execute(parse_program(program), scene).answer)


def test_a_filled_form_becomes_an_address_of_what_differs(opened):
    dataset, _, client = opened
    scene = dataset.example(0, "test").images[0].scene
    fields = {}
    for i, thing in enumerate(scene.objects):
        fields |= {f"0:{i}.{a}": v for a, v in thing.attributes}
        fields |= {f"0:{i}.{axis}": f"{v:.2f}" for axis, v in zip("xy", thing.position[:2], strict=True)}
    same = client.get("/d/0/e/0/edit", params=fields, follow_redirects=False)
    assert same.headers["location"] == "/d/0/e/0"
    other = "red" if fields["0:0.color"] != "red" else "blue"
    changed = fields | {"0:0.color": other, "0:1.x": "1.5", "0:2.remove": "1", "f.kind": "count"}
    response = client.get("/d/0/e/0/edit", params=changed, follow_redirects=False)
    y = fields["0:1.y"]
    assert response.headers["location"] == (
        f"/d/0/e/0?edit=0%3A0.color%3D{other}&edit=0%3A1.place%3D1.5%2C{y}&edit=0%3A2.remove&f.kind=count"
    )


def test_an_edited_scene_is_drawn_anew_with_its_masks(opened):
    dataset, _, client = opened
    image = dataset.example(0, "test").images[0]
    plain = client.get("/d/0/e/0/picture/0")
    assert plain.content == image.png and plain.headers["content-type"] == "image/png"
    edited = client.get("/d/0/e/0/picture/0?edit=0:0.remove")
    assert edited.content.startswith(b"\x89PNG") and edited.content != image.png
    masks = client.get("/d/0/e/0/masks/0").json()
    assert (
        np.repeat(masks["objects"]["values"], masks["objects"]["lengths"]).tolist()
        == decode_mask(image.mask).ravel().tolist()
    )
    fewer = client.get("/d/0/e/0/masks/0?edit=0:0.remove").json()
    assert max(fewer["objects"]["values"]) == len(image.scene.objects) - 1


def test_what_cannot_be_run_or_edited_says_why_and_shows_the_rest(opened):
    client = opened[2]
    for query, why in (
        ("program=count(scene(", "character 13"),
        ("program=count(filter(scene(),color=mauve))", "mauve"),
        ("edit=0:99.color=red", "there is no object 99"),
        ("edit=nonsense", "is no edit"),
        ("edit=0:0.place=1e9,0", "is no place"),
    ):
        text = shown(client, f"/d/0/e/0?{query}")
        assert why in html.unescape(re.search(r'role="alert">([^<]*)<', text)[1])
        assert "How many things are there?" in re.sub(r"<[^>]+>", "", text)


def test_a_program_runs_on_a_scene_from_which_all_was_removed(opened):
    dataset, _, client = opened
    count = len(dataset.example(0, "test").images[0].scene.objects)
    page = shown(client, "/d/0/e/0?" + "&".join(f"edit=0:{i}.remove" for i in range(count)))
    assert re.search(r'id="answer-now">([^<]*)<', page)[1] == "0"
    assert "The picture is as it was: there is nothing in the scene." in page and 'id="program-field"' in page


def test_twins_are_found_both_ways_and_shown_beside_each_other(opened):
    client = opened[2]
    assert "/twins?a=0.0&amp;b=1.0" in shown(client, "/d/0/e/0")
    assert "/twins?a=1.0&amp;b=0.0" in shown(client, "/d/1/e/0")
    assert "/d/0/e/0" in shown(client, "/twins?a=0.0&b=1.0")
    exist = re.sub(r"<[^>]+>", " ", shown(client, "/twins?a=0.3&b=1.3"))
    assert re.search(r"Answer\s+(yes|no)\s", exist) and "True" not in exist and "False" not in exist
    shown(client, "/twins?a=0.0", 400)


def test_an_example_shows_what_each_run_answered(opened):
    text = html.unescape(re.sub(r"<[^>]+>", " ", shown(opened[2], "/d/0/e/0")))
    assert re.search(r"first\s+7\s+✗\s+\(wrong\)", text)
    assert "it is 7" in text and "Confidence 75.0" in text


def test_slices_and_models_count_as_the_metrics_do(opened):
    _, collection, client = opened
    records = collection.data[0].runs[0].run.records
    text = re.sub(r"<[^>]+>", " ", shown(client, "/d/0/slices?run=0&by=kind"))
    counts = records.column("kind").equals("count")
    assert re.search(rf"count\s+{counts.sum()}\s+{100 * records.right[counts].mean():.1f}", text)
    page = shown(client, "/d/0/slices?run=0&by=kind")
    links = [html.unescape(a) for a in re.findall(r'href="(/d/0\?f\.kind=count&amp;[^"]*)"', page)]
    listed = [int(re.search(r"(\d+) of 9 questions", shown(client, link))[1]) for link in links]
    assert listed == [counts.sum(), (counts & ~records.right).sum()]
    models = re.sub(r"<[^>]+>", " ", shown(client, "/d/0/models"))
    assert "9 questions that both were asked" in models


def test_a_model_is_asked_in_the_users_own_words(opened):
    dataset, collection, _ = opened

    class Echo:
        reads = frozenset(("text", "images"))

        def predict(self, batch):
            return [f"{p.question.text} {len(p.pictures)} {p.question.program} {p.scenes}" for p in batch]

    client = TestClient(build_app(collection, ModelAsker("my.module:Echo", Echo())), base_url=BASE)
    own = {"origin": BASE}
    text = client.post("/d/0/e/0/ask", data={"question": "Where is <b>it</b>?"}, headers=own).text
    assert "Where is &lt;b&gt;it&lt;/b&gt;? 1 None ()" in text
    assert client.post("/d/0/e/0/ask", data={"question": " "}, headers=own).status_code == 400
    oracle = TestClient(build_app(collection, load_asker("oracle", dataset.folder, warn=print)), base_url=BASE)
    question = dataset.example(0, "test").question
    reply = oracle.post("/d/0/e/0/ask", data={"question": question.text}, headers=own).text
    assert f'<p class="reply-answer"><strong>{question.answer}</strong>' in reply


def test_an_action_is_asked_and_found_with_its_question(tmp_path):
    dataset = toys.build(tmp_path / "data", shards=1, action="Suppose all is gone")
    asker = load_asker("oracle", dataset.folder, warn=print)
    client = TestClient(build_app(open_collection([dataset.folder]), asker), base_url=BASE)
    page = shown(client, "/d/0/e/1")
    words = "Suppose all is gone 1. How many cubes are there?"
    assert re.search(r'id="ask-field"[^>]*>([^<]*)<', page)[1] == words
    reply = client.post("/d/0/e/1/ask", data={"question": words}, headers={"origin": BASE}).text
    assert f"<strong>{dataset.example(1, 'test').question.answer}</strong>" in reply
    other = client.post("/d/0/e/1/ask", data={"question": "How many cubes are there?"}, headers={"origin": BASE}).text
    assert "No answer: no program" in other
    assert "How many cubes" in re.sub(r"<[^>]+>", "", shown(client, "/d/0/e/1/ask"))  # a reply that is loaded again
    assert "1 of 4 questions" in shown(client, "/d/0?q=GONE+2")
    assert "1 of 4 questions" in shown(client, "/d/0?q=cubes")


def test_of_a_run_those_that_it_was_asked_come_first(opened):
    _, collection, client = opened
    assert client.get("/", follow_redirects=False).headers["location"] == "/d/0?run.0=asked"
    bare = TestClient(build_app(open_collection([collection.data[1].folder])), base_url=BASE)
    assert bare.get("/", follow_redirects=False).headers["location"] == "/d/0"


def test_a_run_brings_its_dataset_and_another_dataset_is_refused(opened, tmp_path, refuses):
    dataset, collection, _ = opened
    run = collection.data[0].runs[0].run.folder
    assert open_collection([run]).data[0].folder == dataset.folder.resolve()
    with refuses("is not about what was opened"):
        open_collection([run], data=collection.data[1].folder)
    with refuses("no such folder"):
        open_collection([Path("nowhere")])
    with refuses("is no dataset, run or audit"):
        open_collection([tmp_path])
    with refuses("--images is for the pictures of an audit"):
        open_collection([run], images=tmp_path)


def test_the_joined_run_is_the_run(opened):
    _, collection, _ = opened
    view = collection.data[0].runs[0]
    records = read_run(view.run.folder).records
    assert type(records) is type(records_of([]))
    for row, one in enumerate(collection.data[0].index.read_rows(range(9))):
        at = records.question.to_list().index(one.id)
        assert view.get_answer(row) == records.answer[at]
        assert (view.outcome[row] == "right") == bool(records.right[at])


def test_the_outcome_of_an_action_is_drawn(opened):
    client = opened[2]
    program = "count(filter(change(scene(), color=red), color=red))"
    text = html.unescape(shown(client, f"/d/0/e/0?program={program}"))
    assert "Before the action" in text and "After the action" in text
    before, after = (client.get("/d/0/e/0/picture/0", params={"program": program, "stage": s}) for s in ("0", "1"))
    assert before.content != after.content and after.content.startswith(b"\x89PNG")
    assert client.get("/d/0/e/0/picture/0", params={"program": program, "stage": "2"}).status_code == 400


def test_two_seeds_of_one_model_go_by_their_folders(opened, tmp_path):
    dataset = opened[0]
    runs = [toys.write_run(tmp_path / name, dataset, "same", {}, seed) for seed, name in enumerate(("one", "other"))]
    assert [view.name for view in open_collection(runs).data[0].runs] == ["same (one)", "same (other)"]


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """An audit of VQA files: two types, each with a frequent and a rare answer; and a picture of one of the images."""
    folder = tmp_path_factory.mktemp("audit")
    questions, answers = [], []
    for k in range(120):
        start, usual, rare = (("is the", "yes", "no"), ("what", "red", "blue"))[k % 2]
        questions.append({"question_id": k, "image_id": k % 60, "question": f"{start} w{k % 7} x{k % 3}?"})
        row = {"question_id": k, "image_id": k % 60, "question_type": start, "answers": []}
        answers.append(row | {"multiple_choice_answer": rare if k % 10 < 2 else usual})
    for name, rows in (("q.json", questions), ("a.json", answers)):
        (folder / name).write_text(json.dumps(rows))
    audit_files(AuditFiles((folder / "q.json",), (folder / "a.json",)), folder / "audit", AuditSettings(), blind=False)
    (folder / "images").mkdir()
    (folder / "images/7.png").write_bytes(toys.draw("clevr", 0).png)
    return folder


def test_an_audit_without_pictures_says_so_and_links_to_none(audited):
    bare = shown(TestClient(build_app(open_collection([audited / "audit"])), base_url=BASE), "/d/0")
    assert "name their folder with --images" in bare and "<img" not in bare
    collection = open_collection([audited / "audit"], images=audited / "images")
    pictured = shown(TestClient(build_app(collection), base_url=BASE), "/d/0")
    assert "--images" not in pictured and "<img" in pictured


def test_an_audit_of_a_dataset_finds_its_pictures_or_says_what_to_open(tmp_path):
    toys.build(tmp_path / "data", shards=6)
    audit_files(AuditFiles(dataset=tmp_path / "data"), tmp_path / "audit", AuditSettings(), blind=False)

    def visit(*names, path="/d/0"):
        return shown(TestClient(build_app(open_collection([tmp_path / n for n in names])), base_url=BASE), path)

    assert "<img" in visit("audit")
    assert 'class="step' in visit("audit", path="/d/0/e/0")  # its program too
    (tmp_path / "data").rename(tmp_path / "moved")
    lost = visit("audit")
    assert "is no longer there; to see its pictures, open the dataset too" in lost and "<img" not in lost
    assert "<img" in visit("audit", "moved")
    toys.build(tmp_path / "data", shards=2)  # another in its place
    assert "has changed since" in visit("audit") and "<img" not in visit("audit")


def test_an_audit_is_filtered_by_its_groups(audited):
    collection = open_collection([audited / "audit"], images=audited / "images")
    data = collection.data[0]
    client = TestClient(build_app(collection), base_url=BASE)
    marks = pq.read_table(audited / "audit/marks.parquet").to_pylist()
    wanted = {m["question_id"] for m in marks if m["QT concept"] == "what" and m["QT"] == "tail"}
    chosen = ExampleFilter((("group.QT", "what"), ("part.QT", "tail")))
    rows = data.index.read_rows(np.flatnonzero(chosen.select(data)).tolist())
    assert {one.id for one in rows} == wanted and wanted
    assert {one.answer for one in rows} == {"blue"}
    text = shown(client, "/d/0/shortcuts?shortcut=QT")
    assert re.search(r'href="/d/0\?group.QT=what&amp;part.QT=tail">(\d+)<', text)[1] == str(len(wanted))
    row = data.index.find("7")
    assert client.get(f"/d/0/e/{row}/picture/0").content.startswith(b"\x89PNG")
    assert client.get(f"/d/0/e/{data.index.find('8')}/picture/0").status_code == 400
    assert "what w0 x1?" in shown(client, f"/d/0/e/{row}")


def make_bare(spec, split, k):
    images, questions = toys.make(spec, split, k)
    return [StoredImage(image.scene) for image in images], questions if k else []


def test_scenes_without_pictures_are_drawn_and_those_without_questions_are_no_fault(tmp_path):
    spec = {"suite": "bare", "world": "clevr"}
    build_dataset(tmp_path / "data", spec, {"train": 1, "test": 2}, make_bare)
    build_dataset(tmp_path / "empty", spec, {"test": 1}, make_bare)
    client = TestClient(build_app(open_collection([tmp_path / "data", tmp_path / "empty"])), base_url=BASE)
    assert client.get("/d/0/e/0/picture/0").content.startswith(b"\x89PNG")
    assert "/d/0/e/0/picture/0" in shown(client, "/d/0/e/0")
    assert "0 questions" in shown(client, "/d/1")
    shown(client, "/d/1/e/0", 400)
    shown(client, "/d/1/random")
