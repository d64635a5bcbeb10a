"""The explorer on 100,000 questions and two runs: the first page, filters, single examples, and memory."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.store import _image, _picture
from shiftscope.lang.text import parse_program
from shiftscope.question import Provenance, Question
from shiftscope.result import Prediction, QuestionRecord
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.dataset import Dataset, data_id
from shiftscope.store.image import StoredImage
from shiftscope.store.run_log import RunWriter

SHARDS, IMAGES, QUESTIONS = 20, 25, 200  # questions per image: 100,000 in all
KINDS = ("count", "exist", "query_color", "query_shape", "equal_color", "greater_than")
ANSWERS = ("yes", "no", "red", "blue", "cube", "1", "2", "3")
PROGRAM = parse_program("count(filter(filter(scene(), shape=cube), size=small))")
FIRST_PAGE, FILTER, MEMORY = 300, 500, 600  # ms, ms, MB: what must hold


def main() -> None:
    if len(sys.argv) > 1 and sys.argv[1] == "--folder":
        measure(Path(sys.argv[2]))
        return
    with tempfile.TemporaryDirectory() as name:
        dataset = build_dataset(Path(name) / "data", {"suite": "benchmark"}, {"test": SHARDS}, make_shard)
        for model, every in (("first", 3), ("second", 4)):
            write_run(dataset, model, every, Path(name) / model)
        # A process of its own, so that memory is the explorer's alone.
        subprocess.run([sys.executable, "-m", "benchmarks.explore", "--folder", name], check=True)


def make_shard(spec: Mapping[str, Any], split: str, k: int) -> tuple[list[StoredImage], list[Question]]:
    images = [_image(k * IMAGES + i, *_picture(i)) for i in range(IMAGES)]
    return images, [_question(image, n) for image in images for n in range(QUESTIONS)]


def _question(image: StoredImage, n: int) -> Question:
    words = " ".join(["small"] * (1 + n % 19))
    return Question(
        f"{image.id}-{n}",
        f"How many {words} cubes are there?",
        (image.id,),
        PROGRAM,
        ANSWERS[(7 * n) % 8],
        kind=KINDS[n % 6],
        provenance=Provenance("benchmark", split="test", template=f"template_{n % 9}"),
        notes=(("question_index", n), ("factor", "visual"), ("level", n % 3)),
    )


def write_run(dataset: Dataset, model: str, every: int, out: Path) -> None:
    """A run that is wrong about each question whose number `every` divides."""
    spec = {
        "model": model,
        "data": str(dataset.folder),
        "data_id": data_id(dataset),
        "split": "test",
        "conditions": ["as_is"],
    }
    rows = []
    for n, q in enumerate(dataset.questions()):
        facts = (("kind", q.kind), ("length", len(q.text.split())), ("template", q.provenance.template))
        answer = "nothing" if n % every == 0 else q.answer
        rows.append((QuestionRecord(q.id, q.scenes, q.answer, facts=facts), Prediction(q.id, answer)))
    with RunWriter(out, spec, len(rows)) as writer:
        writer.add(rows)
        writer.finish()


def measure(folder: Path) -> None:
    from starlette.testclient import TestClient

    from shiftscope.explore.app import build_app
    from shiftscope.explore.collection import open_collection

    def open_client(*names: str) -> Any:
        return TestClient(build_app(open_collection([folder / name for name in names])), base_url="http://127.0.0.1")

    client: Any = None
    with timed("opening the dataset, and the web framework"):
        client = open_client("data")
    client.get("/static/style.css")  # the test client itself is not measured
    with timed("first page, nothing read before", FIRST_PAGE):
        get(client, "/d/0")
    filters = {
        "type": "f.kind=count",
        "type and template": "f.kind=count&f.template=template_3",
        "a note": "f.level=2",
        "words": "q=small+small+small+cubes",
        "other words": "q=there",
        "nothing, last page": "page=4167",
    }
    for name, query in filters.items():
        with timed(f"filter by {name}", FILTER):
            get(client, f"/d/0?{query}")
    with timed("one example"):
        get(client, "/d/0/e/54321?f.kind=equal_color")
    with timed("its picture"):
        get(client, "/d/0/e/54321/picture/0")
    with timed("opening it with two runs"):
        client = open_client("first", "second")
    get(client, "/d/0")
    for name, query in (
        ("outcome", "run.0=wrong"),
        ("where two runs part", "pair=0.1.first"),
        ("slice", "f.length=12&run.1=wrong"),
    ):
        with timed(f"filter by {name}", FILTER):
            get(client, f"/d/0?{query}")
    with timed("two models side by side"):
        get(client, "/d/0/models")
    with timed("slices"):
        get(client, "/d/0/slices")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"memory at its most: {peak:.0f} MB (at most {MEMORY})")


def get(client: Any, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 200, response.text


@contextmanager
def timed(what: str, most: int | None = None) -> Iterator[None]:
    """Print how long it takes: by the clock, and of the processors, which others cannot slow down."""
    clock, cpu = time.perf_counter(), time.process_time()
    yield
    clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
    limit = f" (at most {most})" if most else ""
    print(f"{what}: {1000 * clock:.0f} ms{limit}, {1000 * cpu:.0f} ms of the processors")


if __name__ == "__main__":
    main()
