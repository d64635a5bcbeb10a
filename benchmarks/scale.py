"""Cost against size: time, CPU time and memory of each verb, with the measured exponent.

`python -m benchmarks.scale [--verbs make,ask] [--up-to 1e6] [--seconds 300] [--minutes 12] [--again]` measures what is
not yet measured, prints the tables and writes `docs/results/scale.md` with its picture. Small sizes of every verb come
first. Each runs in a process of its own, and is kept in `docs/results/scale.json` as soon as it is done: after Ctrl-C
the same command resumes. A size that would take longer than `--seconds` or than is left of `--minutes`, or more memory
than there is, by what the size before took, is skipped with its reason.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.scale_machines import describe_machines, read_machines
from benchmarks.scale_picture import draw_panels

RESULTS = Path(__file__).parents[1] / "docs" / "results"
CELLS, PAGE, PICTURE = (RESULTS / f"scale.{suffix}" for suffix in ("json", "md", "svg"))
SIZES = (*(lead * 10**power for power in range(2, 7) for lead in (1, 3)), 10**7)
FITTED = 100  # sizes down to this part of the largest are fitted; smaller ones show the start, not the growth
LEAST_SECONDS = 0.3  # what takes less is repeated, and the time divided
LINEAR = 1.05  # a larger exponent, interval included, is a finding
MEMORY_SHARE = 0.8  # of the memory there is
# Two-sided 95% quantiles of Student's t, by degrees of freedom from 1 on.
T_QUANTILES = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31)

Work = Callable[[], object]
Prepare = Callable[[int, Path], Work]  # what is not measured; returns what is


def prepare_make_scenes(size: int, folder: Path) -> Work:
    return _prepare_command(folder, "clevr_hyp", "--no-images", "--images", str(size))


def prepare_make_images(size: int, folder: Path) -> Work:
    return _prepare_command(folder, "clevr", "--images", str(size))


def _prepare_command(folder: Path, *words: str) -> Work:
    command = [sys.executable, "-m", "shiftscope", "make", *words, "--out"]
    warm = [*command[:5], *(["--no-images"] if "--no-images" in words else []), "--images", "7", "--out"]
    subprocess.run([*warm, str(folder / "warm")], check=True, capture_output=True)  # compiles
    return lambda: subprocess.run([*command, str(folder / "data")], check=True, capture_output=True)


def prepare_ask(size: int, folder: Path) -> Work:
    from shiftscope.questions.clevr.generator import generate_questions
    from shiftscope.questions.clevr.template_sets import builtin_templates
    from shiftscope.world import clevr

    drawn = [clevr.sample_scene(0, "scale", i) for i in range(min(1000, size // 10))]
    scenes = [replace(drawn[k % len(drawn)], id=f"scale_{k}") for k in range(size // 10)]
    templates = builtin_templates(scenes[0].schema)
    generate_questions(scenes[:1], templates)
    return lambda: generate_questions(scenes, templates)


def prepare_execute(size: int, folder: Path) -> Work:
    from benchmarks.clevr_programs import programs, scenes
    from shiftscope.lang.exec.packed import ProgramLowering, run_lowered
    from shiftscope.lang.execution_world import ExecutionWorld
    from shiftscope.scene_table import pack_scenes

    made = scenes(500)
    table = pack_scenes(made)
    asked, rows = programs(1000, [ExecutionWorld((scene,)) for scene in made])
    times = size // len(asked)
    lowered = ProgramLowering(table.schema, table.relations)(asked * times, rows.tolist() * times)
    run_lowered(lowered, table)
    return lambda: run_lowered(lowered, table)


def prepare_audit(size: int, folder: Path) -> Work:
    from benchmarks import audit
    from shiftscope.executor import LocalExecutor
    from shiftscope.run.audit import AuditFiles, audit_files

    audit.SAMPLES, audit.IMAGES = size, max(1, size // 5)
    audit.BOXES = 7 * audit.IMAGES
    audit.write(folder, *audit.make_questions())
    paths = ((folder / f"{name}.json",) for name in ("questions", "annotations", "instances"))
    return lambda: audit_files(AuditFiles(*paths), folder / "audit", blind=False, executor=LocalExecutor(2))


def prepare_index(size: int, folder: Path) -> Work:
    from benchmarks.graph import graphs
    from shiftscope.scene_graph.index import build_index
    from shiftscope.scene_graph.pack import pack_graphs

    build_index(pack_graphs(graphs(10)))
    return lambda: build_index(pack_graphs(graphs(size)))


def prepare_look_up(size: int, folder: Path) -> Work:
    from benchmarks.graph import LOOKUPS, graphs
    from shiftscope import rng
    from shiftscope.scene_graph.exclusivity import build_exclusivity
    from shiftscope.scene_graph.extract import extract_subgraphs
    from shiftscope.scene_graph.index import build_index
    from shiftscope.scene_graph.pack import pack_graphs
    from shiftscope.scene_graph.related_images import RelatedImages
    from shiftscope.schemas.gqa import SCHEMA

    related = RelatedImages(build_index(pack_graphs(graphs(size))), build_exclusivity(SCHEMA))
    draw = rng.derive("scale", "look-ups")
    wanted = []
    for graph in draw.integers(size, size=LOOKUPS).tolist():
        mine = extract_subgraphs(related.graphs, graph, most=100)
        wanted.append((graph, mine[draw.integers(len(mine))]))

    def look_up() -> None:
        for k, (graph, subgraph) in enumerate(wanted):
            related.find_containing(subgraph, 3, k, without=[graph])
            related.find_distractors(subgraph, 4, k, without=[graph])

    look_up()  # compiles, and decides which words exclude which
    return look_up


def prepare_score(size: int, folder: Path) -> Work:
    from benchmarks import score
    from shiftscope.run.score import score_run

    score.ROWS = size
    score.write_run(folder)
    return lambda: score_run(folder, ["accuracy"], ("kind", "family", "length", "objects"))


def prepare_report(size: int, folder: Path) -> Work:
    from benchmarks import report
    from shiftscope.report.run_page import build_report
    from shiftscope.store.build_dataset import build_dataset

    report.VARIANTS = report.VARIANTS[:2]
    runs = len(report.VARIANTS) * len(report.MODELS)
    report.IMAGES = max(1, size // (runs * report.QUESTIONS))
    dataset = build_dataset(folder / "data", {"suite": "benchmark"}, {"test": 1}, report.make_shard)
    study = report.build_study(dataset)
    return lambda: build_report(study).render(list(build_report(study).build_sections()))


@dataclass(frozen=True, slots=True)
class ScaledVerb:
    title: str
    unit: str  # what the size counts
    about: str
    prepare: Prepare
    most: int  # beyond it, getting ready takes longer than what is measured, or the disk is not enough
    why: str = ""
    grows: bool = True  # with the size; else a fixed number of look-ups
    least: int = 1000  # the smallest size


VERBS = {
    "make": ScaledVerb(
        "make, scenes without images", "scenes",
        "`shiftscope make clevr_hyp --no-images`, every core, 42 questions per scene, start-up included",
        prepare_make_scenes, 10**5, "a million scenes are 42 million questions", least=100,
    ),
    "make-images": ScaledVerb(
        "make, with images", "images",
        "`shiftscope make clevr`, every core, 480×320, 10 questions per image, start-up included",
        prepare_make_images, 3 * 10**4, "a hundred thousand images are 10 GB of PNG", least=100,
    ),
    "ask": ScaledVerb(
        "ask", "questions", "CLEVR's 90 templates, 10 questions per scene, 1,000 layouts in turn, one core",
        prepare_ask, 10**6, "the questions are kept in memory; `make` asks shard by shard",
    ),
    "execute": ScaledVerb("execute", "programs", "packed programs, lowered before, one core", prepare_execute, 10**7),
    "audit": ScaledVerb(
        "audit", "questions",
        "`audit --no-blind`: JSON files of questions, annotations and boxes to all sets, marks and figures",
        prepare_audit, 3 * 10**6, "ten million are 15 GB of JSON; a file may have half of the memory there is",
    ),
    "index": ScaledVerb("index, build", "scene graphs", "20 objects and 30 relations per graph, drawing them included",
                        prepare_index, 10**6, "ten million graphs do not fit into memory"),
    "look-up": ScaledVerb(
        "index, look up", "scene graphs", "1,000 look-ups of images with a subgraph and of distractors, repeated",
        prepare_look_up, 10**6, "ten million graphs do not fit into memory", grows=False,
    ),
    "score": ScaledVerb("score", "predictions", "accuracy by four facts with intervals, from a run's folder",
                        prepare_score, 10**6, "writing ten million predictions takes seven minutes"),
    "report": ScaledVerb("report", "answers", "ten runs: five models on a variant and its twin", prepare_report, 10**6,
                         "ten million answers are a hundred thousand images"),
}  # fmt: skip

REPEATED = ("ask", "execute", "index", "look-up", "score", "report")  # what leaves no files behind


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--verbs", default=",".join(VERBS), help=f"some of {', '.join(VERBS)}")
    parser.add_argument("--up-to", type=float, default=SIZES[-1], help="the largest size")
    parser.add_argument("--seconds", type=float, default=300, help="the longest that one size may be expected to take")
    parser.add_argument("--minutes", type=float, default=math.inf, help="no size is begun that would end later")
    parser.add_argument("--again", action="store_true", help="measure anew what was measured before")
    parser.add_argument("--cell", nargs=2, metavar=("VERB", "SIZE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.cell:
        print(json.dumps(measure(given.cell[0], int(given.cell[1]))))
        return
    wanted = given.verbs.split(",")
    if unknown := [name for name in wanted if name not in VERBS]:
        parser.error(f"no verb {unknown[0]!r}; there are {', '.join(VERBS)}")
    cells: dict[str, dict[str, Any]] = json.loads(CELLS.read_text()) if CELLS.exists() else {}
    if given.again:
        cells = {name: found for name, found in cells.items() if name not in wanted}
    deadline = time.perf_counter() + 60 * given.minutes
    try:
        for size in SIZES:
            for name in wanted:
                if VERBS[name].least <= size <= given.up_to:
                    _fill_cell(cells, name, size, min(given.seconds, deadline - time.perf_counter()))
    except KeyboardInterrupt:
        print("\nstopped; the same command without --again resumes", file=sys.stderr)
    page = "".join(_write_page(cells))
    PAGE.write_text(page)
    panels = [(verb.title, verb.unit, _list_points(cells.get(name, {}))) for name, verb in VERBS.items()]
    PICTURE.write_text(draw_panels(panels))
    print(page)


def _fill_cell(cells: dict[str, dict[str, Any]], name: str, size: int, longest: float) -> None:
    mine = cells.setdefault(name, {})
    if "wall" in mine.get(str(size), {}):
        return
    skipped = _find_reason(VERBS[name], mine, size, longest)
    start = time.perf_counter()
    if not skipped:
        print(f"{name} {size:,}: ", end="", flush=True, file=sys.stderr)
        command = [sys.executable, "-m", "benchmarks.scale", "--cell", name, str(size)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no word of why"])[-1]
            skipped = f"failed: {last[:200]}"
    entry = {"skipped": skipped} if skipped else json.loads(done.stdout.splitlines()[-1])
    mine[str(size)] = entry
    CELLS.write_text(json.dumps(cells, indent=1) + "\n")
    spent = f"{time.perf_counter() - start:.0f} s with getting ready"
    shown = skipped or f"{entry['wall']:.2f} s, CPU {entry['cpu']:.2f} s, {entry['peak']:.2f} GB ({spent})"
    print(f"{name} {size:,} skipped: {shown}" if skipped else shown, flush=True, file=sys.stderr)


def _find_reason(verb: ScaledVerb, before: dict[str, Any], size: int, longest: float) -> str:
    """Why a size is not measured; empty if it is."""
    if size > verb.most:
        return verb.why
    known = sorted((int(n), cell) for n, cell in before.items() if "wall" in cell and int(n) < size)
    if len(known) < 2:
        return ""
    (less, small), (last, large) = known[-2:]
    seconds, needed = (
        large[what] + max(0, large[what] - small[what]) * (size - last) / (last - less) for what in ("total", "peak")
    )
    if seconds > longest:
        return f"it would take about {seconds:,.0f} s with getting ready, and {max(0, longest):,.0f} s were allowed"
    memory = MEMORY_SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return f"it would need about {needed:,.0f} GB of memory" if needed > memory else ""


def measure(name: str, size: int) -> dict[str, float]:
    """Seconds and gigabytes of one size: the fastest of up to three runs, where there is something to repeat."""
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        work = VERBS[name].prepare(size, Path(folder))
        runs = []
        for _ in range(3 if name in REPEATED else 1):
            start, cpu = time.perf_counter(), _cpu_seconds()
            times = 0
            while not times or (name in REPEATED and time.perf_counter() - start < LEAST_SECONDS):
                work()
                times += 1
            runs.append(((_cpu_seconds() - cpu) / times, (time.perf_counter() - start) / times))
            if runs[-1][1] > 5:
                break
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 2**20
    cpu, wall = min(runs)
    return {"wall": wall, "cpu": cpu, "peak": peak, "total": time.perf_counter() - begun}


def _cpu_seconds() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _list_points(cells: dict[str, Any]) -> list[tuple[int, float]]:
    """Sizes and CPU times, ascending."""
    return sorted((int(size), cell["cpu"]) for size, cell in cells.items() if "wall" in cell)


def fit_exponent(points: Sequence[tuple[int, float]]) -> tuple[float, float] | None:
    """The slope of log time on log size by least squares, and half its 95% interval; None of fewer than three."""
    if len(points) < 3:
        return None
    x, y = ([math.log(one[k]) for one in points] for k in (0, 1))
    n, mean_x, mean_y = len(x), sum(x) / len(x), sum(y) / len(y)
    spread = sum((a - mean_x) ** 2 for a in x)
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / spread
    rest = sum((b - mean_y - slope * (a - mean_x)) ** 2 for a, b in zip(x, y, strict=True))
    quantile = T_QUANTILES[min(n - 2, len(T_QUANTILES)) - 1]
    return slope, quantile * math.sqrt(rest / (n - 2) / spread)


def _describe_exponent(points: Sequence[tuple[int, float]], grows: bool) -> str:
    large = [one for one in points if one[0] * FITTED >= points[-1][0]]
    if (found := fit_exponent(large)) is None:
        return "Exponent: fewer than three sizes were measured."
    slope, half = found
    text = f"Exponent {slope:.2f} ± {half:.2f} ({len(large)} sizes from {large[0][0]:,} on)."
    if slope - half > LINEAR:
        text += f" **Above {LINEAR}.**"
    return text if grows else f"{text} The number of look-ups is the same at every size."


def _write_page(cells: dict[str, dict[str, Any]]) -> Iterator[str]:
    machine = f"{os.cpu_count()} cores ({platform.machine()})"
    yield f"""# Cost against size

Measured by `python -m benchmarks.scale`, last on {date.today()}, on {machine}. Each size runs in a process
of its own, after a warm-up; CPU time is over all processes, peak memory is of the largest process and includes getting
ready. Runs shorter than 5 s are the fastest of three, except `make` and `audit`. The exponent is the slope of log CPU
time on log size by least squares, with its 95% interval, over the two largest decades measured: 1 is linear, and
start-up makes it smaller. Sizes are measured at different times, some beside other jobs, which on such a machine can
double CPU times.

![CPU time against size, one panel per verb](scale.svg)
"""
    for name, verb in VERBS.items():
        mine = {int(size): cell for size, cell in cells.get(name, {}).items()}
        exponent = _describe_exponent(_list_points(cells.get(name, {})), verb.grows)
        yield f"\n## {verb.title}\n\n{verb.about}. {exponent}\n\n"
        yield f"| {verb.unit} | wall time, s | CPU time, s | {verb.unit} per CPU second | peak memory, GB |\n"
        yield "|---|---|---|---|---|\n"
        for size, cell in sorted(mine.items()):
            if "wall" in cell:
                rate = f"{size / cell['cpu']:,.0f}" if verb.grows else "–"
                yield f"| {size:,} | {cell['wall']:.3g} | {cell['cpu']:.3g} | {rate} | {cell['peak']:.2f} |\n"
        left: dict[str, list[str]] = {}
        for size, cell in sorted(mine.items()):
            if "skipped" in cell:
                left.setdefault(cell["skipped"], []).append(f"{size:,}")
        if left:
            yield "\n" + "\n".join(f"Not measured: {', '.join(sizes)} ({why})." for why, sizes in left.items()) + "\n"
    yield from describe_machines(read_machines())


if __name__ == "__main__":
    main()
