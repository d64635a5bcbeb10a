"""Foundation: importing, executing programs exactly and packed, reading question files."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.clevr_programs import programs, scenes
from benchmarks.table import best, row
from shiftscope.answer import spell
from shiftscope.formats.clevr import write_questions, write_scenes
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.exec.packed import ProgramLowering, run_lowered
from shiftscope.lang.execution_world import ExecutionWorld
from shiftscope.question import Provenance, Question
from shiftscope.scene_table import pack_scenes

SCENES = 500
PROGRAMS = 20_000
QUESTIONS = 70_000

READ = """
import sys, time
from pathlib import Path
from shiftscope.formats.clevr import read_questions
start = time.perf_counter()
questions = list(read_questions(Path(sys.argv[1])))
seconds = time.perf_counter() - start
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(len(questions), seconds, int(status["VmHWM"].split()[0]) / 1024)
"""


def main() -> None:
    print("foundation (one core)")
    empty = best(lambda: subprocess.run([sys.executable, "-c", ""], check=True))
    whole = best(lambda: subprocess.run([sys.executable, "-c", "import shiftscope"], check=True))
    row("import shiftscope", f"{whole - empty:.3f} s", "0.3 s")
    helped = best(
        lambda: subprocess.run([sys.executable, "-m", "shiftscope", "--help"], check=True, capture_output=True)
    )
    row("shiftscope --help", f"{helped:.2f} s", "0.6 s")

    made = scenes(SCENES)
    table, worlds = pack_scenes(made), [ExecutionWorld((s,)) for s in made]
    asked, rows = programs(PROGRAMS, worlds)
    nodes = sum(map(len, asked)) / len(asked)
    pairs = list(zip(asked, rows.tolist(), strict=True))
    seconds = best(lambda: [execute(p, worlds[k]) for p, k in pairs])
    row(f"exact execution with trace, {nodes:.1f} nodes per program", f"{PROGRAMS / seconds:,.0f}/s", "40,000/s")

    lowering = ProgramLowering(table.schema, table.relations)
    run_lowered(lowering(asked, rows), table)  # compiles
    seconds = best(lambda: run_lowered(lowering(asked, rows), table))
    row("packed execution from Program objects", f"{PROGRAMS / seconds:,.0f}/s", "100,000/s")
    lowered = lowering(asked * 20, rows.tolist() * 20)
    seconds = best(lambda: run_lowered(lowered, table), runs=5)
    row("packed execution once lowered", f"{len(lowered) / seconds:,.0f}/s", "25,000,000/s")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "questions.json"
        write_scenes(Path(folder) / "scenes.json", made)
        write_questions(path, _questions(pairs, made, worlds))
        read = subprocess.run([sys.executable, "-c", READ, str(path)], check=True, capture_output=True, text=True)
        count, taken, memory = map(float, read.stdout.split())
        size = path.stat().st_size / 1e6
        row(f"reading {count:,.0f} CLEVR questions ({size:.0f} MB)", f"{taken:.2f} s", "4 s")
        row("  peak memory", f"{memory:.0f} MB", "600 MB")


def _questions(pairs, made, worlds):  # type: ignore[no-untyped-def]
    for i in range(QUESTIONS):
        program, k = pairs[i % len(pairs)]
        scene = made[k]
        yield Question(
            id=str(i),
            text="Are there more big green things that are in front of the small cyan cube than metal balls?",
            scenes=(scene.id,),
            program=program,
            answer=spell(execute(program, worlds[k]).answer),
            provenance=Provenance("clevr", "bench", "", i % 90),
            notes=(("question_index", i), ("image_index", k), ("image_filename", f"{scene.id}.png")),
        )


if __name__ == "__main__":
    main()
