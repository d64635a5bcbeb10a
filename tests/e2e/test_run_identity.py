"""A run's folder keeps to one model by content: an edited file is noticed, and a run that does nothing says so."""

import importlib
import json
import shutil
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import store_toys
from asked import dataset
from command import here, refused
from shiftscope.models.nsvqa import make_executor
from shiftscope.models.nsvqa.neuro_symbolic import NeuroSymbolicModel, NsvqaParsers
from shiftscope.models.nsvqa.trained_model import SHIPPED, read_trained_model
from shiftscope.run.evaluate import RunSpec, evaluate
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.dataset import Dataset
from shiftscope.store.run_log import PLACES_FIELD, RunWriter, compute_run_content_id, read_rows, read_run, read_spec
from shiftscope.store.shard import QUESTIONS_IN_GROUP, _encode_parquet
from shiftscope.train.data import open_training_data
from shiftscope.trained_folder import MODEL_FILE


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return dataset(tmp_path_factory.mktemp("identity") / "data").folder


@pytest.fixture(scope="module")
def questions(data):
    return [q.id for q in Dataset.open(data).questions("test")]


@pytest.fixture(autouse=True)
def no_bytecode(monkeypatch):
    """Which Python would take for a file that was edited within the same second."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


def afresh(*words, cwd):
    """The command, and no module of the user's loaded before or after it, as in a process of its own."""
    before, path = set(sys.modules), list(sys.path)
    try:
        return here(*words, cwd=cwd)
    finally:
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(cwd)):
                del sys.modules[name]
        sys.path[:] = path
        importlib.invalidate_caches()


def say(path, questions, answer):
    path.write_text(json.dumps(dict.fromkeys(questions, answer)))


def test_an_edited_file_of_predictions_is_no_longer_the_run(data, questions, tmp_path):
    say(tmp_path / "said.json", questions, "2")
    words = ("run", "--model", "predictions:said.json", "--data", data, "--out", "run")
    assert here(*words, cwd=tmp_path).returncode == 0
    say(tmp_path / "said.json", questions, "3")
    before = compute_run_content_id(tmp_path / "run")
    assert refused(here(*words, cwd=tmp_path)) == (
        "shiftscope: said.json changed since run was made with model 'predictions:said.json'; choose another "
        "folder for --out, or delete run"
    )
    assert compute_run_content_id(tmp_path / "run") == before
    shutil.rmtree(tmp_path / "run")
    assert here(*words, cwd=tmp_path).returncode == 0
    assert compute_run_content_id(tmp_path / "run") != before


def test_a_file_written_again_as_it_was_is_the_same(data, questions, tmp_path):
    say(tmp_path / "said.json", questions, "2")
    order = RunSpec(f"predictions:{tmp_path / 'said.json'}", data)
    evaluate(order, tmp_path / "run")
    say(tmp_path / "said.json", questions, "2")
    evaluate(order, tmp_path / "run")


def test_a_run_that_has_nothing_to_do_says_so(data, questions, tmp_path):
    words = ("run", "--model", "oracle", "--data", data, "--out", "a run")
    first = here(*words, cwd=tmp_path)
    assert first.stdout.splitlines()[-1] == "wrote a run; next: shiftscope score 'a run'"
    again = here(*words, cwd=tmp_path)
    assert again.stdout.splitlines()[-1] == (
        "nothing to do: all 36 replies were in a run already; next: shiftscope score 'a run'"
    )
    told = json.loads(here(*words, "--json", cwd=tmp_path).stdout)
    assert (told["asked"], told["asked_before"]) == (0, 36)


def test_a_run_that_goes_on_says_how_much_is_new(data, questions, tmp_path):
    source = """
class Model:
    looks = False
    batch = 10
    def predict(self, batch):
        if not __import__("pathlib").Path("on").exists() and batch[0].question.id.startswith("toy_test_000003"):
            raise ValueError
        return ["2"] * len(batch)
"""
    (tmp_path / "stops_for_test.py").write_text(source)
    words = ("run", "--model", "stops_for_test:Model", "--data", data, "--out", "run")
    refused(afresh(*words, cwd=tmp_path))
    assert read_run(tmp_path / "run").records.status.to_list().count("missing") == 26
    (tmp_path / "on").touch()
    on = afresh(*words, cwd=tmp_path)
    assert on.stdout.splitlines()[-1].startswith("wrote run (new replies: 26; from before: 10)"), on.stderr


def test_predictions_that_lack_some_have_nothing_to_add(data, questions, tmp_path):
    say(tmp_path / "said.json", questions[:3], "2")
    words = ("run", "--model", "predictions:said.json", "--data", data, "--out", "run")
    here(*words, cwd=tmp_path)
    again = here(*words, cwd=tmp_path)
    said = "nothing to do: all 36 questions were asked in run already, and 33 have no reply"
    assert again.stdout.splitlines()[-1].startswith(said)


OWN = "from .inner.net import ANSWER\nclass Model:\n    looks = False\n    def predict(self, batch):\n"
LATER = OWN + "        from .later import WORD\n        return [WORD + ANSWER] * len(batch)\n"


def package(folder):
    """A model of several files, one of them loaded only when it is asked."""
    inner = folder / "own_package" / "inner"
    inner.mkdir(parents=True)
    (inner / "net.py").write_text("ANSWER = '2'\n")
    (folder / "own_package" / "model.py").write_text(LATER)
    (folder / "own_package" / "later.py").write_text("WORD = ''\n")
    (folder / "own_package" / "unused.py").write_text("")
    return folder / "own_package"


def test_an_edited_source_of_a_class_is_no_longer_the_run(data, tmp_path):
    made = package(tmp_path)
    words = ("run", "--model", "own_package.model:Model", "--data", data, "--out", "run", "--limit", "6")
    first = afresh(*words, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    (made / "unused.py").write_text("CHANGED = True\n")
    again = afresh(*words, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "nothing to do" in again.stdout
    for file, text, module in (
        ("model.py", LATER.replace("WORD +", "WORD + ' ' +"), "own_package.model"),
        ("inner/net.py", "ANSWER = '3'\n", "own_package.inner.net"),
        ("later.py", "WORD = 'It is '\n", "own_package.later"),
    ):
        before = (made / file).read_text()
        (made / file).write_text(text)
        said = refused(afresh(*words, cwd=tmp_path))
        assert said.startswith(f"shiftscope: the source of {module} changed since run was made with model")
        (made / file).write_text(before)


def test_a_module_beside_others_counts_those_it_loaded(data, tmp_path):
    (tmp_path / "model_for_test.py").write_text(
        "import helper_for_test\nclass Model:\n    looks = False\n"
        "    def predict(self, batch):\n        return [helper_for_test.ANSWER] * len(batch)\n"
    )
    (tmp_path / "helper_for_test.py").write_text("ANSWER = '2'\n")
    (tmp_path / "other_for_test.py").write_text("")
    words = ("run", "--model", "model_for_test:Model", "--data", data, "--out", "run", "--limit", "6")
    assert afresh(*words, cwd=tmp_path).returncode == 0
    assert set(read_spec(tmp_path / "run")["sources"]) == {"model_for_test", "helper_for_test"}
    (tmp_path / "helper_for_test.py").write_text("ANSWER = '3'\n")
    assert "the source of helper_for_test changed" in refused(afresh(*words, cwd=tmp_path))


def test_a_class_may_tell_its_version(data, tmp_path, monkeypatch, refuses):
    (tmp_path / "versioned_for_test.py").write_text(
        "import os\nclass Model:\n    looks = False\n"
        "    version = property(lambda self: eval(os.environ['WEIGHTS_FOR_TEST']))\n"
        "    def predict(self, batch):\n        return ['2'] * len(batch)\n"
    )
    monkeypatch.chdir(tmp_path)
    order = RunSpec("versioned_for_test:Model", data, limit=3)
    monkeypatch.setenv("WEIGHTS_FOR_TEST", "{'epoch': 3}")
    evaluate(order, tmp_path / "run")
    evaluate(order, tmp_path / "run")
    monkeypatch.setenv("WEIGHTS_FOR_TEST", "{'epoch': 4}")
    with refuses("version changed since"):
        evaluate(order, tmp_path / "run")
    monkeypatch.setenv("WEIGHTS_FOR_TEST", "object()")
    with refuses("its version must be plain data such as a text or number, not object"):
        evaluate(order, tmp_path / "other")


def test_a_run_of_an_earlier_version_goes_on(data, questions, tmp_path):
    """It has none of the fields that tell content: it is resumed, with a warning, and then knows them."""
    say(tmp_path / "said.json", questions[:4], "2")
    order = RunSpec(f"predictions:{tmp_path / 'said.json'}", data)
    evaluate(order, tmp_path / "now")
    rows = [row for row in read_rows(tmp_path / "now") if row[1].status != "missing"]
    spec = {k: v for k, v in read_spec(tmp_path / "now").items() if k != "model_id"}
    with RunWriter(tmp_path / "run", spec, 36) as writer:
        writer.add(rows)
        writer.finish()
    say(tmp_path / "said.json", questions, "2")
    warnings = []
    evaluate(order, tmp_path / "run", warn=warnings.append)
    assert warnings == [
        f"{tmp_path / 'run'} was begun by an earlier version, which did not record by content what its responses "
        "depend on; it is assumed that nothing has changed since"
    ]
    assert len(read_run(tmp_path / "run").records) == 36
    assert read_spec(tmp_path / "run")["model_id"]
    evaluate(order, tmp_path / "run", warn=warnings.append)
    assert len(warnings) == 1


def test_data_that_changed_in_place_are_named(data, tmp_path, refuses):
    copy = tmp_path / "data"
    shutil.copytree(data, copy)
    evaluate(RunSpec("oracle", copy, limit=3), tmp_path / "run")
    shutil.rmtree(copy)
    dataset(copy, {"suite": "toy", "seed": 0, "images_per_shard": 5})
    with refuses(f"the data in {copy} changed since {tmp_path / 'run'} was made; choose another folder"):
        evaluate(RunSpec("oracle", copy, limit=3), tmp_path / "run")


def other_answer(path):
    """A questions file as it would be with another first answer; by chance it is as large."""
    table = pq.read_table(path)
    at = table.schema.get_field_index("answer")
    answers = pa.array(["3", *table["answer"].to_pylist()[1:]], pa.string())
    contents = {}
    _encode_parquet("", table.set_column(at, table.schema.field(at), answers), QUESTIONS_IN_GROUP, contents)
    return bytes(contents[""])


def test_a_shard_that_is_edited_in_place_is_noticed(data, tmp_path, refuses):
    """As large as before, and a whole file: without its digest the true answers would be others in silence."""
    copy = tmp_path / "data"
    shutil.copytree(data, copy)
    path = copy / "questions" / "test" / "00000.parquet"
    size, edited = path.stat().st_size, other_answer(path)
    path.write_bytes(edited)
    assert path.stat().st_size == size
    assert next(Dataset.open(copy).questions("test")).answer == 3
    for model in ("oracle", "majority"):
        with refuses(f"{path} is not what was written there; run the shiftscope make that made it again with"):
            evaluate(RunSpec(model, copy), tmp_path / model)
        assert not (tmp_path / model).exists()


def test_an_image_that_is_edited_in_place_is_noticed(data, tmp_path, refuses):
    copy = tmp_path / "data"
    shutil.copytree(data, copy)
    path = copy / "images" / "test" / "00001.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with refuses(f"{path} is not what was written there"):
        evaluate(RunSpec("oracle", copy), tmp_path / "run")


def test_a_train_split_that_is_edited_in_place_is_noticed(data, tmp_path, refuses):
    copy = tmp_path / "data"
    shutil.copytree(data, copy)
    path = next((copy / "questions" / "train").glob("*.parquet"))
    content = bytearray(path.read_bytes())
    content[20] ^= 1
    path.write_bytes(content)
    evaluate(RunSpec("oracle", copy), tmp_path / "oracle")
    with refuses(f"{path} is not what was written there"):
        evaluate(RunSpec("majority", copy), tmp_path / "majority")


def test_every_verb_that_measures_reads_what_was_written(data, tmp_path, refuses):
    copy = tmp_path / "data"
    shutil.copytree(data, copy)
    path = copy / "questions" / "test" / "00000.parquet"
    path.write_bytes(other_answer(path))
    for words in (
        ("audit", "data", "--out", "audit"),
        ("split", "data", "--hold-out", "ans_num", "--out", "split"),
        ("test", "contrast", "--model", "oracle", "--data", "data"),
    ):
        assert "data/questions/test/00000.parquet is not what was written there" in refused(here(*words, cwd=tmp_path))


def test_a_training_reads_what_was_written(tmp_path, refuses):
    made = build_dataset(tmp_path / "data", store_toys.SPEC, store_toys.JOBS, store_toys.make)
    open_training_data(str(made.folder))
    path = made.folder / "images" / "train" / "00000.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with refuses(f"{path} is not what was written there"):
        open_training_data(str(made.folder))


def test_where_files_lie_is_kept_and_makes_no_difference(data, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(data, copy)
    evaluate(RunSpec("majority", data, learn_from=data), tmp_path / "run")
    assert read_spec(tmp_path / "run")[PLACES_FIELD] == {"learn_from": str(data.resolve())}
    evaluate(RunSpec("majority", data, learn_from=copy), tmp_path / "run")
    evaluate(RunSpec("majority", data, learn_from=copy), tmp_path / "other")
    assert compute_run_content_id(tmp_path / "run") == compute_run_content_id(tmp_path / "other")


def test_a_trained_model_is_known_by_all_that_its_replies_depend_on(tmp_path):
    shutil.copytree(SHIPPED / "superclevr", tmp_path / "model")
    trained = read_trained_model(tmp_path / "model")
    known = trained.content()
    model = NeuroSymbolicModel(NsvqaParsers(trained, "cpu", None, None), make_executor(trained))
    assert model.identity({}) == {"model_id": {MODEL_FILE: known}}
    about = json.loads((tmp_path / "model" / MODEL_FILE).read_text())
    for change in (
        {"size": [240, 160]},
        {"scene_parser": about["scene_parser"] | {"config": about["scene_parser"]["config"] | {"x": 1}}},
    ):
        (tmp_path / "model" / MODEL_FILE).write_text(json.dumps(about | change))
        assert read_trained_model(tmp_path / "model").content() != known
    (tmp_path / "model" / MODEL_FILE).write_text(json.dumps(about | {"command": "another", "device": "cpu"}))
    assert read_trained_model(tmp_path / "model").content() == known
