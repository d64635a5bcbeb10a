"""What commands on small inputs import: nothing that takes longer to load than the command takes to run."""

import json
import subprocess
import sys

HEAVY = {"asyncio", "numpy.f2py", "pandas", "pydantic", "rich.console", "scipy.linalg", "scipy.stats", "torch"}
MAKE = ["make", "clevr", "--images", "10", "--size", "48x32", "--workers", "1", "--out", "data"]
RUN = ["run", "--model", "majority", "--data", "data", "--limit", "3", "--out", "log"]

CODE = """
import json, sys
from shiftscope.cli._app import command
for line in json.loads(sys.argv[1]):
    command()(line, standalone_mode=False)
print("imported", *sorted(set(json.loads(sys.argv[2])) & set(sys.modules)))
"""


def list_imports(lines, named, folder):
    given = [sys.executable, "-c", CODE, json.dumps(lines), json.dumps(sorted(named))]
    done = subprocess.run(given, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()[1:]


def test_the_list_of_commands_imports_no_arrays(tmp_path):
    code = "import sys; sys.argv = ['shiftscope', '--help']\ntry:\n    from shiftscope.cli import main; main()\n"
    code += "except SystemExit:\n    print('imported', *sorted({'numpy', 'shiftscope.suites'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "imported"


def test_small_jobs_import_nothing_heavy(tmp_path):
    """Making needs Numba: that it is found says that the others would be."""
    assert list_imports([MAKE, RUN, ["score", "log"]], {*HEAVY, "numba"}, tmp_path) == ["numba"]
    (tmp_path / "log").rename(tmp_path / "old")
    assert list_imports([RUN], {*HEAVY, "numba"}, tmp_path) == []


COUNT_COLLECTIONS = """
import atexit, gc, sys
gc.set_threshold(1_000_000_000)
def count():
    return sum(generation["collections"] for generation in gc.get_stats())
before = count()
from shiftscope.cli import main
atexit.register(lambda: print("collections", count() - before, "frozen", gc.get_freeze_count() > 100_000))
main()
"""


def test_a_small_command_never_looks_for_cycles(tmp_path):
    """Neither while it works nor at its end, and nothing that it printed is lost."""
    for folder in ("compiled", "kept"):  # compiling makes more records
        command = ["make", "superclevr", "--images", "3", "--size", "48x32", "--out", folder]
        given = [sys.executable, "-c", COUNT_COLLECTIONS, *command]
        done = subprocess.run(given, cwd=tmp_path, capture_output=True, text=True, check=True)
    wrote, counts = done.stdout.splitlines()[-2:]
    assert wrote.startswith("wrote kept")
    assert counts == "collections 0 frozen True"
