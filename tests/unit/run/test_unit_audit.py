"""An audit from files to its folder: what it replaces, what it refuses, and what an interrupt leaves behind."""

import json
import signal
from pathlib import Path

import pytest

import store_toys
from shiftscope.result import Prediction, QuestionRecord
from shiftscope.run.audit import AuditFiles, audit_files
from shiftscope.run.question_source import open_source
from shiftscope.run.score import describe_audit, read_results, score_records, score_run
from shiftscope.shortcuts.audit import AuditSettings
from shiftscope.shortcuts.audit_folder import STAGING_FOLDER, is_audit, set_file
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.run_log import RunWriter

COUNT = 120


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """120 questions of two types, each with a frequent and a rare answer, about 60 images; objects of 15."""
    folder = tmp_path_factory.mktemp("files")
    questions, answers = [], []
    for k in range(COUNT):
        start, usual, rare = (("is the", "yes", "no"), ("what", "red", "blue"))[k % 2]
        said = rare if k % 10 < 2 else usual
        questions.append({"question_id": k, "image_id": k % 60, "question": f"{start} w{k % 7} x{k % 3}?"})
        listed = [{"answer": said, "answer_confidence": "yes", "answer_id": n} for n in range(1, 11)]
        row = {"question_id": k, "image_id": k % 60, "question_type": start, "answers": listed}
        answers.append(row | {"multiple_choice_answer": said})
    objects = {
        "images": [{"id": k} for k in range(45, 60)],
        "annotations": [{"id": k, "image_id": k, "category_id": 1 + k % 2} for k in range(45, 60)],
        "categories": [{"id": 1, "name": "dog"}, {"id": 2, "name": "cat"}],
    }
    for name, rows in (("q.json", questions), ("a.json", answers), ("o.json", objects)):
        (folder / name).write_text(json.dumps(rows))
    train = [q for q in questions if q["image_id"] < 45]
    test = [q for q in questions if q["image_id"] >= 45]
    for name, rows in (("train.json", train), ("test.json", test)):
        (folder / name).write_text(json.dumps(rows))
    return folder


def given(files):
    return AuditFiles((files / "q.json",), (files / "a.json",))


def audited(files, out, **settings):
    return audit_files(given(files), out, AuditSettings(**settings), blind=False)


def listing(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def ids(folder, name="IID-Test"):
    return [row["question_id"] for row in json.loads(set_file(folder, name, "Ques").read_text())]


def iid_n(folder, tmp_path):
    """How many questions the IID test has, as scoring sees it."""
    said = [{"question_id": k, "answer": "yes"} for k in range(COUNT)]
    (tmp_path / "p.json").write_text(json.dumps(said))
    return score_records(read_results(tmp_path / "p.json", folder).records, ["shortcut_gap"])[0].n


def test_an_interrupt_leaves_the_earlier_audit_as_it_was(files, tmp_path):
    out = tmp_path / "out"
    audited(files, out)
    before = listing(out)

    def interrupt(what, done, total):
        if what == "writing" and done == 5:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        audit_files(given(files), out, AuditSettings(seed=7), tell=interrupt)
    assert listing(out) == before
    assert iid_n(out, tmp_path) == 30


def test_an_interrupted_first_audit_leaves_nothing(files, tmp_path):
    def interrupt(what, done, total):
        if what == "asking majority":
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        audit_files(given(files), tmp_path / "out", tell=interrupt)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("moved", [0, 3, 20])
def test_an_interrupt_while_moving_in_leaves_no_audit_to_score_by(files, tmp_path, monkeypatch, refuses, moved):
    out = tmp_path / "out"
    audited(files, out)
    left, replace = [moved], Path.replace

    def interrupted(self, target):
        if STAGING_FOLDER in self.parts and ".partial" not in self.suffixes and Path(target).parent != self.parent:
            if not left[0]:
                signal.raise_signal(signal.SIGINT)
            left[0] -= 1
        return replace(self, target)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Path, "replace", interrupted)
        audited(files, out, seed=7)
    assert not is_audit(out)
    for reader in (lambda: iid_n(out, tmp_path), lambda: open_source(out)):
        with refuses("the audit there was not finished (no audit.json); run the same shiftscope audit again"):
            reader()
    audited(files, out, seed=7)
    audited(files, tmp_path / "new", seed=7)
    assert listing(out) == listing(tmp_path / "new")


def test_sets_of_an_earlier_audit_go_and_what_is_not_ours_stays(files, tmp_path):
    out = tmp_path / "out"
    audit_files(given(files), out, blind=False, proportions=(0, 100), recipes={"changing_priors": {}})
    assert {"Proportion", "Changing-Priors"} <= {p.name for p in out.iterdir()}
    for name in ("notes.txt", "Proportion/mine.json", "OOD-Test/QT/mine.json"):
        (out / name).write_text("mine")
    audited(files, out, seed=3)
    audited(files, tmp_path / "new", seed=3)
    mine = dict.fromkeys(("notes.txt", "Proportion/mine.json", "OOD-Test/QT/mine.json"), b"mine")
    assert listing(out) == listing(tmp_path / "new") | mine


def test_folders_that_are_something_else_are_refused_before_any_work(files, tmp_path, refuses):
    def audit_into(out):
        audit_files(AuditFiles((tmp_path / "gone.json",)), out)

    (tmp_path / "file").write_text("")
    with refuses("file is a file; --out names a folder for the audit"):
        audit_into(tmp_path / "file")
    with refuses(f"{tmp_path} holds {tmp_path / 'gone.json'}, which is audited; name a folder of its own"):
        audit_into(tmp_path)
    (tmp_path / "vs" / "IID-Test").mkdir(parents=True)
    with refuses("IID-Test is there already, and no audit made it; name another --out"):
        audit_into(tmp_path / "vs")
    build_dataset(tmp_path / "data", store_toys.SPEC, {"test": 1}, store_toys.make)
    with refuses("data holds a dataset (manifest.json); name a folder of its own for the audit"):
        audit_into(tmp_path / "data")


def test_a_blind_model_that_can_not_learn_is_passed_over(files, tmp_path):
    parts = AuditFiles(
        (files / "train.json", files / "test.json"), (files / "a.json",), (files / "o.json",), ("train", "test")
    )
    made = audit_files(parts, tmp_path / "out", AuditSettings(split="given"))
    assert list(made.blind) == ["majority", "prior", "question_only"]
    ((model, why),) = made.skipped
    assert model == "object_only"
    assert why.endswith("and none is known of the training images")
    told = json.loads((tmp_path / "out" / "audit.json").read_text())
    assert told["blind_skipped"] == {"object_only": why}
    assert [line.partition(",")[0] for line in told["sources"].splitlines()[:2]] == ["- `train.json`", "- `test.json`"]
    assert "in the format of VQA, which is released under cc-by-4.0" in told["sources"]


def test_recipes_with_their_settings_and_counts(files, tmp_path, refuses):
    recipes = {"gqa_ood": {"by": "QT", "alpha": 0.5, "entropy": 0.8}, "changing_priors": {"share": 0.25}}
    audit_files(given(files), tmp_path / "out", blind=False, recipes=recipes)
    told = json.loads((tmp_path / "out" / "audit.json").read_text())["recipes"]
    assert told["gqa_ood"]["settings"] == {"alpha": 0.5, "entropy": 0.8, "by": "QT"}
    counts = told["gqa_ood"]["counts"]
    assert counts["all"] == counts["head"] + counts["tail"] == 12  # the other type's groups are too even
    priors = told["changing_priors"]
    assert priors["settings"]["share"] == 0.25
    assert priors["counts"]["Train"] + priors["counts"]["Test"] == COUNT
    assert priors["counts"]["groups"] == 4
    assert 0 < priors["counts"]["covered"] <= 1
    with refuses("no recipe 'gqa'; did you mean 'gqa_ood'?"):
        audit_files(given(files), tmp_path / "o2", recipes={"gqa": {}})
    with refuses("no setting of gqa_ood 'alfa'; did you mean 'alpha'?"):
        audit_files(given(files), tmp_path / "o2", recipes={"gqa_ood": {"alfa": 1}})


def test_predictions_for_other_splits_are_named_as_such(files, tmp_path, refuses):
    audited(files, tmp_path / "out")
    train, test = ids(tmp_path / "out", "Training"), ids(tmp_path / "out")

    def results(*questions):
        said = [{"question_id": k, "answer": "yes"} for k in questions]
        (tmp_path / "p.json").write_text(json.dumps(said))
        return read_results(tmp_path / "p.json", tmp_path / "out")

    found = results(*train[:9], *test, "never")
    assert (found.extra, found.elsewhere) == (10, (("train", 9),))
    out = tmp_path / "out"
    with refuses(f"none of its predictions is for the IID test of {out}; 84 are for its train split"):
        results(*train)


def test_a_run_of_other_questions_is_scored_where_the_audit_has_them(files, tmp_path):
    audited(files, tmp_path / "out")
    names = [*ids(tmp_path / "out")[:20], *ids(tmp_path / "out", "Val"), "x", "y"]
    rows = [(QuestionRecord(str(k), (f"s{k}",), "yes"), Prediction(str(k), "yes")) for k in names]
    with RunWriter(tmp_path / "run", {"model": "m"}, questions=len(rows)) as writer:
        writer.add(rows)
        writer.finish([str(k) for k in names])
    said = []
    scores = score_run(tmp_path / "run", audit=tmp_path / "out", warn=said.append)
    whole = {dict(s.slice).get("split", ""): s.n for s in scores if s.metric == "iid"}
    assert whole == {"": 20, "val": 6}
    (accuracy,) = score_run(tmp_path / "run", ["accuracy"], audit=tmp_path / "out")
    assert accuracy.n == 26
    assert said == [
        f"2 of the 28 questions of {tmp_path / 'run'} are not in the audit {tmp_path / 'out'}; left out",
        f"6 questions of {tmp_path / 'run'} are of the audit's val split, not of its IID test",
    ]


def test_one_test_file_is_enough(files, tmp_path, refuses):
    only = AuditFiles((files / "test.json",), (files / "a.json",), splits=("test",))
    out = tmp_path / "o"
    made = audit_files(only, out, AuditSettings(split="given"), recipes={"gqa_ood": {"by": "QT"}})
    assert made.found.split.counts() == {"train": 0, "val": 0, "test": 30}
    assert made.blind == {}
    assert made.skipped == (("blind models", "there is no train split to learn from"),)
    assert sorted(ids(out, "GQA-OOD/all")) == sorted(ids(out, "GQA-OOD/head") + ids(out, "GQA-OOD/tail"))
    with refuses("there is no train split to count words and objects in; omit --statistics train"):
        audit_files(only, tmp_path / "p", AuditSettings(split="given", statistics="train"))


def score_file(out, path, answer=lambda row: row["multiple_choice_answer"], **options):
    rows = json.loads((out / "IID-Test/IID-Test-Ans.json").read_text())
    path.write_text(json.dumps([{"question_id": r["question_id"], "answer": answer(r)} for r in rows]))
    return score_records(read_results(path, out).records, ("shortcut_gap",), options=options)


def test_a_score_has_the_recipe_s_own_sets(files, tmp_path):
    out = tmp_path / "o"
    recipes = {"gqa_ood": {"by": "QT", "entropy": 0.9}, "changing_priors": {}}
    audit_files(given(files), out, AuditSettings(), blind=False, recipes=recipes)
    usual = {"is the": "yes", "what": "red"}
    scores = score_file(out, tmp_path / "r.json", lambda row: usual[row["question_type"]])
    # Changing-Priors has no set that lies in the IID test.
    sets = {s.metric: s for s in scores if dict(s.slice).get("recipe")}
    assert {dict(s.slice)["recipe"] for s in sets.values()} == {"gqa_ood"}
    assert {name: s.n for name, s in sets.items()} == {
        f"acc_{name}": len(ids(out, f"GQA-OOD/{name}")) for name in ("all", "head", "tail")
    }
    assert (sets["acc_head"].value, sets["acc_tail"].value) == (1, 0)
    assert sets["acc_all"].value == sets["acc_head"].n / sets["acc_all"].n


def test_an_exact_match_takes_every_letter(files, tmp_path):
    out = tmp_path / "o"
    audited(files, out)

    def iid(answer, **options):
        return score_file(out, tmp_path / "r.json", answer, **options)[0]

    assert iid(lambda row: row["multiple_choice_answer"] + " ").value == 1
    assert iid(lambda row: row["multiple_choice_answer"] + " ", normalise="never").value == 0
    assert iid(lambda row: row["multiple_choice_answer"], normalise="never").value == 1
    assert iid(lambda row: "yes", normalise="never").form == "VQA accuracy, thirds, never normalised"


@pytest.mark.parametrize("name", ["marks.parquet", "IID-Test/IID-Test-Ans.json", "IID-Test/IID-Test-Ques.json"])
def test_a_file_edited_after_the_audit_is_no_longer_scored(files, tmp_path, refuses, name):
    out = tmp_path / "o"
    audited(files, out)
    score_file(out, tmp_path / "r.json")
    (out / name).write_bytes((out / name).read_bytes() + b" ")
    with refuses(f"{out / name} was edited after the audit; run the same shiftscope audit again"):
        read_results(tmp_path / "r.json", out)
    (out / name).unlink()
    with refuses(name.rpartition("/")[2]):
        read_results(tmp_path / "r.json", out)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ("[]", "is not as an audit writes it"),
        ('{"version": "2"}', "is not as an audit writes it"),
        ('{"version": 99}', "is of version 99, and this program knows 3"),
        ("{", "not valid JSON"),
    ],
)
def test_figures_that_are_none_of_an_audit_are_refused(files, tmp_path, refuses, told, why):
    out = tmp_path / "o"
    audited(files, out)
    score_file(out, tmp_path / "r.json")
    (out / "audit.json").write_text(told)
    with refuses(why):
        read_results(tmp_path / "r.json", out)


def test_an_audit_of_the_first_version_is_scored_and_named(files, tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    audited(files, old, pairs="any")
    audited(files, new)
    told = json.loads((old / "audit.json").read_text())
    for key in ("version", "digests", "ties"):
        del told[key]
    for key in ("pairs", "type_words"):
        del told["settings"][key]
    (old / "audit.json").write_text(json.dumps(told))
    warnings: list[str] = []
    assert describe_audit(old, warnings.append).endswith("version 1, KWP pairs any, type words out")
    assert len(warnings) == 1
    assert "is an audit of version 1" in warnings[0]
    assert score_file(old, tmp_path / "r.json")[0].value == 1
    assert describe_audit(new, warnings.append).endswith("version 3, KWP pairs two, type words out")
    assert len(warnings) == 1
    assert len({describe_audit(out, warnings.append)[:12] for out in (old, new)}) == 2
