"""An audit that streams: the same bytes as in memory, however the samples are cut, stopped or numbered."""

import json
import signal

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.audit_stream import make_shards, measure
from sample_shards import KINDS, make_rows, write_shard, write_shards
from shiftscope.formats import sample_rows
from shiftscope.run.audit import AuditFiles, audit_files
from shiftscope.run.stream_audit import LEFT_OUT, audit_stream
from shiftscope.shortcuts import audit as in_memory
from shiftscope.shortcuts import sample_keys
from shiftscope.shortcuts.audit import AuditSettings
from shiftscope.shortcuts.audit_folder import SPOOL_FOLDER
from shiftscope.shortcuts.stream import counts, keys, scan, write
from shiftscope.shortcuts.stream.counts import PairCounts, Vocabularies

RECIPES = {"gqa_ood": {}}


def listing(folder):
    """Every file; the figures without what is left out."""
    found = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    figures = json.loads(found["audit.json"])
    figures.pop("blind_skipped")
    return found | {"audit.json": figures}


def audit_both(files, tmp_path, recipes=RECIPES, **options):
    chosen = AuditSettings(**options)
    audit_files(files, tmp_path / "memory", chosen, blind=False, recipes=recipes)
    audit_stream(files, tmp_path / "stream", chosen, recipes=recipes)
    return listing(tmp_path / "memory"), listing(tmp_path / "stream")


@pytest.fixture
def small_batches(monkeypatch):
    """Files of several parts, and merges in several ranges."""
    monkeypatch.setattr(sample_rows, "BATCH_ROWS", 23)
    for one in (counts, keys):
        monkeypatch.setattr(one, "RANGE_ENTRIES", 37)


@pytest.mark.parametrize(
    ("seed", "options", "recipe"),
    [
        (0, {}, {}),
        (1, {"statistics": "train", "split": "given"}, {"by": "QT"}),
        (2, {"types": "learned", "pairs": "any", "seed": 4}, {"entropy": 0.7}),
        (3, {"types": "prefixes", "type_words": "in", "shares": (0.5, 0.0)}, {"by": "KWP", "alpha": 0.5}),
        (4, {"split": "given", "imbalanced": 1.0, "rare": 0.9}, {"by": "QT+KW+KO"}),
        (5, {"statistics": "train", "imbalanced": 0.6, "rare": 1.5}, {}),
    ],
)
def test_a_streamed_audit_has_the_bytes_of_one_in_memory(seed, options, recipe, tmp_path, small_batches):
    rows = make_rows(90, seed, text_ids=seed == 5)
    paths = write_shards(tmp_path / "rows", rows, seed, KINDS[:2] if seed == 5 else KINDS)
    memory, stream = audit_both(AuditFiles(tuple(paths)), tmp_path, {"gqa_ood": recipe}, **options)
    assert stream == memory
    assert len(stream) == 2 * (3 + 3 * 9 + 3) + 2


@settings(max_examples=3)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.7]), st.sampled_from([0.0, 0.6]), st.data())
def test_any_samples_cut_anywhere(tmp_path_factory, seed, typed, shown, data):
    rows = make_rows(40, seed, typed=typed, shown=shown)
    options = {
        "seed": data.draw(st.integers(0, 3)),
        "statistics": data.draw(st.sampled_from(["all", "train"])),
        "pairs": data.draw(st.sampled_from(["two", "any"])),
        "types": data.draw(st.sampled_from(["auto", "learned", "prefixes"])),
    }
    folder = tmp_path_factory.mktemp("any")
    memory, stream = audit_both(AuditFiles(tuple(write_shards(folder / "rows", rows, seed))), folder, {}, **options)
    assert stream == memory


def test_objects_from_a_file_and_splits_by_path(tmp_path, small_batches):
    rows = [{k: v for k, v in row.items() if k not in ("objects", "split")} for row in make_rows(120, 7)]
    train, test = (write_shards(tmp_path / name, part, 1) for name, part in (("a", rows[:70]), ("b", rows[70:])))
    assert train
    assert test
    objects = {
        "images": [{"id": k} for k in range(30)],
        "annotations": [{"id": k, "image_id": k % 25, "category_id": 1 + k % 3} for k in range(60)],
        "categories": [{"id": k, "name": name} for k, name in enumerate(("tie", "bus", "dog"), 1)],
    }
    (tmp_path / "o.json").write_text(json.dumps(objects))
    files = AuditFiles((tmp_path / "a", tmp_path / "b"), (), (tmp_path / "o.json",), ("train", "test"))
    memory, stream = audit_both(files, tmp_path, split="given")
    assert stream == memory
    assert "questions about images that the object" in str(stream["audit.json"]["remarks"])


def test_what_is_left_out_is_named(tmp_path):
    paths = write_shards(tmp_path / "rows", make_rows(60), 0)
    made = audit_stream(AuditFiles(tuple(paths)), tmp_path / "out")
    assert made.skipped == LEFT_OUT
    assert json.loads((tmp_path / "out" / "audit.json").read_text())["blind_skipped"] == dict(LEFT_OUT)
    assert not (tmp_path / "out" / SPOOL_FOLDER).exists()


# Ids and keys.


def test_a_repeated_id_is_refused_in_memory_and_streamed(tmp_path, refuses):
    rows = make_rows(60)
    paths = write_shards(tmp_path / "rows", rows, 3, ("jsonl",))
    paths.append(write_shard(tmp_path / "rows" / "last.parquet", [rows[5]]))
    for audit in (audit_files, audit_stream):
        with refuses(f"question_id {rows[5]['question_id']} stands for two rows"):
            audit(AuditFiles(tuple(paths)), tmp_path / "out")
    with refuses("last.parquet"):
        audit_stream(AuditFiles(tuple(paths)), tmp_path / "out")


def test_ids_with_equal_keys_are_told_apart(tmp_path, monkeypatch, small_batches):
    whole = sample_keys.hash_texts
    monkeypatch.setattr(
        sample_keys, "hash_texts", lambda texts, *path: whole(texts, *path) % np.uint64(16) << np.uint64(59)
    )
    monkeypatch.setattr(
        scan, "hash_texts", lambda t, *path: sample_keys.hash_texts(t, *path) if "split" in path else whole(t, *path)
    )
    assert in_memory.hash_ids([1, 2], "split")[0] % (1 << 59) == 0
    paths = write_shards(tmp_path / "rows", make_rows(90, 2), 2)
    memory, stream = audit_both(AuditFiles(tuple(paths)), tmp_path)
    assert stream == memory


def test_keys_are_siphash():
    message = np.arange(15, dtype=np.uint8)
    key = int.from_bytes(bytes(range(16)), "little")
    halves = np.uint64(key & (2**64 - 1)), np.uint64(key >> 64)
    found = sample_keys._hash_slices(message, np.array([0, 15, 15]), *halves)
    assert [hex(int(one)) for one in found] == ["0xa129ca6149be45e5", "0x726fdb47dd0e0e31"]  # Appendix A, and of ""


def test_an_image_has_the_same_objects_in_every_row(tmp_path, refuses):
    rows = make_rows(40, 1)
    one = next(row for row in rows[:20] if row["objects"])
    other = one | {"question_id": 555_555, "objects": [*one["objects"], "kite"]}
    paths = write_shard(tmp_path / "a.jsonl", rows), write_shard(tmp_path / "b.jsonl", [other])
    for audit in (audit_files, audit_stream):
        with refuses(f"image {one['image_id']} has other objects in one row than in another"):
            audit(AuditFiles(paths), tmp_path / "out")


# Partial counts.

pair_counts = st.dictionaries(st.integers(0, 2**62), st.integers(0, 2**40), max_size=20).map(
    lambda found: PairCounts(np.array(sorted(found), np.int64), np.array([found[k] for k in sorted(found)], np.int64))
)


@settings(max_examples=40)
@given(pair_counts, pair_counts, pair_counts)
def test_partial_counts_merge_in_any_order(a, b, c):
    def plain(counted):
        return dict(zip(counted.keys.tolist(), counted.counts.tolist(), strict=True))

    merged = plain(a.merge(b, c))
    assert merged == plain(a.merge(b).merge(c)) == plain(a.merge(b.merge(c))) == plain(c.merge(a).merge(b))
    for key, count in merged.items():
        assert count == sum(plain(one).get(key, 0) for one in (a, b, c))


words = st.frozensets(st.text(max_size=3), max_size=4)
vocabularies = st.builds(Vocabularies, st.integers(0, 9), words, words, words, words, words)


@settings(max_examples=20)
@given(vocabularies, vocabularies, vocabularies)
def test_vocabularies_merge_in_any_order(a, b, c):
    assert a.merge(b).merge(c) == a.merge(b.merge(c)) == c.merge(b).merge(a)


# Stopped, resumed, edited.

PASSES = ("reading", "counting words", "writing")


@pytest.mark.parametrize("stop", PASSES)
def test_a_stopped_audit_goes_on_where_it_was(stop, tmp_path, monkeypatch):
    paths = write_shards(tmp_path / "rows", make_rows(80, 3), 3)
    files, read = AuditFiles(tuple(paths)), []
    audit_stream(files, tmp_path / "whole")

    def interrupt(what, done, total):
        if what == stop and done == 2:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        audit_stream(files, tmp_path / "out", tell=interrupt)
    assert {p.name for p in (tmp_path / "out").iterdir()} == {SPOOL_FOLDER}
    kept = {p.stem for p in (tmp_path / "out" / SPOOL_FOLDER).glob("scan-*.npz")}
    scanned = scan._scan_rows
    monkeypatch.setattr(scan, "_scan_rows", lambda job, name, *rest: read.append(name) or scanned(job, name, *rest))
    audit_stream(files, tmp_path / "out")
    assert not kept.intersection(name.rpartition("-")[0] for name in read)  # no file was scanned twice
    assert listing(tmp_path / "out") == listing(tmp_path / "whole")


def test_an_edited_file_is_read_anew_and_no_other(tmp_path, monkeypatch):
    rows = make_rows(80, 4)
    paths = [write_shard(tmp_path / f"{k}.jsonl", rows[20 * k : 20 * k + 20]) for k in range(4)]
    files, read = AuditFiles(tuple(paths)), []

    def interrupt(what, done, total):
        if what == "labelling" and done == 1:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        audit_stream(files, tmp_path / "out", tell=interrupt)
    rows[25] |= {"answer": "another", "question": "is the kite new?"}
    write_shard(paths[1], rows[20:40])
    scanned = scan._scan_rows
    monkeypatch.setattr(scan, "_scan_rows", lambda job, *rest: read.append(job.path) or scanned(job, *rest))
    audit_stream(files, tmp_path / "out")
    assert read == [paths[1]]
    audit_stream(files, tmp_path / "new")
    assert listing(tmp_path / "out") == listing(tmp_path / "new")


def test_a_file_edited_meanwhile_is_noticed(tmp_path, refuses):
    rows = make_rows(60, 5)
    paths = write_shards(tmp_path / "rows", rows, 5, ("jsonl",))

    def edit(what, done, total):
        if what == "labelling" and not done:
            paths[0].write_bytes(paths[0].read_bytes().replace(b"yes", b"no "))

    with refuses(f"{paths[0]} was changed while it was audited; run the same command again"):
        audit_stream(AuditFiles(tuple(paths)), tmp_path / "out", tell=edit)


def test_marks_are_written_a_group_of_rows_at_a_time(tmp_path, monkeypatch, small_batches):
    files = AuditFiles(tuple(write_shards(tmp_path / "rows", make_rows(90, 6), 6)))
    audit_stream(files, tmp_path / "one", recipes=RECIPES)
    monkeypatch.setattr(write, "ROW_GROUP", 31)
    audit_stream(files, tmp_path / "many", recipes=RECIPES)
    one, many = (pq.read_table(tmp_path / name / "marks.parquet") for name in ("one", "many"))
    assert pq.ParquetFile(tmp_path / "many" / "marks.parquet").num_row_groups == 3
    assert one.to_pylist() == many.to_pylist()


# What cannot be read.


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", "line 3 is not a row as JSON"),
        ("[1]", "line 3 is not a row as JSON"),
        ('{"question": "is it?", "answer": "yes"}', "line 3: it has no question_id"),
        ('{"question_id": 1.5, "question": "is it?"}', "line 3: its question_id must be a number or text, not 1.5"),
        ('{"question_id": 1, "question": 7}', "line 3: its question must be text, not 7"),
        ('{"question_id": 1, "question": "?", "answer": ["a"]}', "line 3: its answer must be text or a whole number"),
        ('{"question_id": 1, "question": "?", "objects": "dog"}', "line 3: its objects must be a list of text"),
        (
            '{"question_id": 1, "question": "?", "answer": "a", "objects": ["x"]}',
            "question 1 names objects, but no image",
        ),
    ],
)
def test_a_bad_row_is_named_by_file_and_line(line, sentence, tmp_path, refuses):
    path = write_shard(tmp_path / "a.jsonl", make_rows(1))
    path.write_text(path.read_text() + "\n" + line)
    for audit in (audit_files, audit_stream):
        with refuses(sentence) as refused:
            audit(AuditFiles((path,)), tmp_path / "out")
        assert str(path) in str(refused.value)
        assert not (tmp_path / "out").exists()


def test_what_cannot_be_streamed_is_refused(tmp_path, refuses):
    rows = write_shard(tmp_path / "a.jsonl", make_rows(30))
    (tmp_path / "q.json").write_text(json.dumps([{"question_id": 1, "image_id": 1, "question": "is it?"}]))
    with refuses("q.json cannot be streamed: it is neither Parquet, nor JSON Lines, nor a WebDataset tar"):
        audit_stream(AuditFiles((tmp_path / "q.json",)), tmp_path / "out")
    with refuses("the recipe changing_priors looks at all samples at once; omit --recipe changing_priors, or --stream"):
        audit_stream(AuditFiles((rows,)), tmp_path / "out", recipes={"changing_priors": {}})
    with refuses("no file fits this pattern"):
        audit_stream(AuditFiles((tmp_path / "*.parquet",)), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with refuses("the rows name the objects of their images; omit --objects"):
        objects = {"images": [{"id": 1}], "annotations": [], "categories": []}
        (tmp_path / "o.json").write_text(json.dumps(objects))
        audit_stream(AuditFiles((rows,), (), (tmp_path / "o.json",)), tmp_path / "out")


def test_a_worker_that_does_not_see_the_folder_says_so(tmp_path, refuses):
    class Elsewhere:
        workers = 1

        def map(self, task, jobs, ahead):
            (task.folder / "token").write_text("of another machine")
            return map(task, jobs)

    rows = write_shard(tmp_path / "a.jsonl", make_rows(30))
    with refuses("needs its files and its --out on a disk that all of them share"):
        audit_stream(AuditFiles((rows,)), tmp_path / "out", executor=Elsewhere())
    assert not (tmp_path / "out").exists()


@pytest.mark.full
def test_memory_does_not_grow_with_the_samples(tmp_path):
    """Four times the samples, hardly more memory: what grows is the number of words and groups."""
    peaks = []
    for samples in (250_000, 1_000_000):
        folder = tmp_path / str(samples)
        make_shards(folder / "shards", samples)
        peaks.append(measure(folder, 1)["peak_gb"])
    assert peaks[1] < 1.35 * peaks[0]
