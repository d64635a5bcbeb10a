"""Compiled kernels are kept by the content of their file, and loaded without what only compiling needs."""

import fcntl
import importlib.util
import os
import subprocess
import sys
from shutil import copytree

import pytest

from lazy import lazy

kernel_cache = lazy("shiftscope.kernel_cache")

SOURCE = """
from shiftscope.kernels import exact

@exact
def double(x):
    return 2 * x

@exact
def quadruple(x):
    return double(double(x))
"""


@pytest.fixture
def load(tmp_path, monkeypatch):
    """The module as a new process would load it, and what of it is in the cache."""
    monkeypatch.setattr("shiftscope.kernel_cache.FOLDER", tmp_path / "kernels")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # two files of one size and one second have one .pyc

    def load(source):
        kernel_cache._digest_sources.cache_clear()
        file = tmp_path / "kernels_for_test.py"
        file.write_text(source)
        spec = importlib.util.spec_from_file_location("kernels_for_test", file)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "kernels_for_test", module)
        spec.loader.exec_module(module)
        return module

    return load


def count_uses(kernel, version="call"):
    """From the cache, and compiled."""
    stats = getattr(kernel, version).stats
    return sum(stats.cache_hits.values()), sum(stats.cache_misses.values())


def test_a_kernel_is_compiled_once_for_its_source(load, tmp_path):
    first = load(SOURCE)
    assert (first.quadruple(3), count_uses(first.quadruple)) == (12, (0, 1))
    os.utime(tmp_path / "kernels_for_test.py", (1, 1))
    again = load(SOURCE)
    assert (again.quadruple(5), count_uses(again.quadruple)) == (20, (1, 0))
    changed = load(SOURCE.replace("2 * x", "3 * x  # another size: Python keeps what it compiled too"))
    assert (changed.quadruple(1), count_uses(changed.quadruple)) == (9, (0, 1))
    assert len(list((tmp_path / "kernels").iterdir())) == 2
    for file in tmp_path.rglob("*.nbc"):
        file.write_bytes(b"damaged")
    mended = load(SOURCE)
    assert (mended.quadruple(3), count_uses(mended.quadruple)) == (12, (0, 1))
    old, new = sorted((tmp_path / "kernels").iterdir())
    os.utime(old, (1, 1))
    kernel_cache._drop_old_folders.__wrapped__(tmp_path / "kernels")
    assert list((tmp_path / "kernels").iterdir()) == [new]


def test_a_kernel_notices_changes_of_kernels_in_other_files(load, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    source = (
        "from other_kernels import double\nfrom shiftscope.kernels import exact\n\n" + SOURCE[SOURCE.rindex("@exact") :]
    )
    for times, made in ((2, 4), (3, 9)):
        (tmp_path / "other_kernels.py").write_text(SOURCE[: SOURCE.rindex("@exact")].replace("2 * x", f"{times} * x"))
        monkeypatch.delitem(sys.modules, "other_kernels", raising=False)
        importlib.invalidate_caches()
        kernel = load(source).quadruple
        assert (kernel(1), count_uses(kernel)) == (made, (0, 1))


CONSTANTS = """
import other_constants
from other_constants import FIRST, TABLE
from shiftscope.kernels import exact

@exact
def add_all(x, last=other_constants.LAST):
    return x + FIRST + other_constants.SECOND + TABLE[1] + last

@exact
def add(x):
    return add_all(x)
"""
OTHER = "import numpy as np\nFIRST, SECOND, TABLE, LAST = 1, 2, np.array([0, 3]), 4"


@pytest.fixture
def load_with(load, tmp_path, monkeypatch):
    """The kernel of CONSTANTS with these constants in another file."""
    monkeypatch.syspath_prepend(tmp_path)

    def load_with(constants):
        (tmp_path / "other_constants.py").write_text(constants)
        monkeypatch.delitem(sys.modules, "other_constants", raising=False)
        importlib.invalidate_caches()
        return load(CONSTANTS).add

    return load_with


def test_a_kernel_notices_constants_of_other_files(load_with):
    assert load_with(OTHER)(0) == 10
    for old, new, total in (("1,", "11,", 20), ("2,", "12,", 20), ("3]", "13]", 20), ("4", "4.0", 10.0)):
        kernel = load_with(OTHER.replace(old, new))
        assert (repr(kernel(0)), count_uses(kernel)) == (repr(total), (0, 1))
    again = load_with(OTHER + "\nUNUSED = 5")
    assert (again(0), count_uses(again)) == (10, (1, 0))


def test_a_file_that_is_edited_before_its_kernels_are_compiled_spoils_nothing(load, tmp_path):
    edited = SOURCE.replace("2 * x", "3 * x")
    early = load(SOURCE)
    (tmp_path / "kernels_for_test.py").write_text(edited)
    assert early.quadruple(1) == 4
    late = load(edited)
    assert (late.quadruple(1), count_uses(late.quadruple)) == (9, (0, 1))


def test_constants_are_noticed_in_a_folder_that_the_user_names(load_with, tmp_path, monkeypatch):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "named"))
    for constants, uses in ((OTHER, (0, 1)), (OTHER.replace("1,", "11,"), (0, 1)), (OTHER, (1, 0))):
        kernel = load_with(constants)
        assert (kernel(0), count_uses(kernel)) == (20 if "11" in constants else 10, uses)


def test_a_kernel_that_kernels_call_is_kept_too_and_python_calls_its_own(load, tmp_path):
    load(SOURCE).quadruple(3)
    for file in tmp_path.rglob("*.nbi"):
        if not file.name.startswith("inner-"):
            file.unlink()
    again = load(SOURCE)
    assert (again.quadruple(5), count_uses(again.quadruple)) == (20, (0, 1))
    assert count_uses(again.double, "inner") == (1, 0)
    assert (again.double(5), count_uses(again.double)) == (10, (0, 1))


def test_a_kernel_that_another_process_compiles_is_waited_for(load, tmp_path, monkeypatch):
    load(SOURCE).quadruple(3)
    (tmp_path / "kernels").rename(tmp_path / "ready")
    asked = []

    def flock(file, operation):
        """Held by another process, which ends with the kernel in the cache."""
        asked.append(operation)
        if len(asked) == 1:
            raise BlockingIOError
        if len(asked) == 2:
            copytree(tmp_path / "ready", tmp_path / "kernels", dirs_exist_ok=True)

    monkeypatch.setattr("fcntl.flock", flock)
    waiting = load(SOURCE)
    assert (waiting.quadruple(5), count_uses(waiting.quadruple)) == (20, (1, 0))
    assert asked[1:] == [asked[0], fcntl.LOCK_UN]


def test_a_process_that_does_not_end_holds_nobody_up(load, tmp_path, monkeypatch):
    first = load(SOURCE)
    first.quadruple(3)
    monkeypatch.setattr("shiftscope.kernel_cache.WAIT_SECONDS", 0.0)
    (lock,) = tmp_path.rglob("*quadruple-*.lock")
    with lock.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # given back by the first
        again = load(SOURCE)
        assert (again.quadruple(3), count_uses(again.quadruple)) == (12, (1, 0))  # what is there needs no lock
        assert (again.quadruple(1.5), count_uses(again.quadruple)) == (6.0, (1, 1))


ALONE = """if True:
    import sys
    from shiftscope import cli, kernels
    from shiftscope.geometry import visibility
    assert "numba" not in sys.modules
    import numpy as np
    kernels.find_free_place(np.zeros((1, 2)), np.zeros(2), np.zeros(2), np.zeros((0, 3)), 1.0, 9.0, 0.1, 0.1)
    assert "numba" in sys.modules and not {"scipy.linalg", "numpy.ma"} & set(sys.modules)
    from numba import njit
    assert njit(lambda a: np.dot(a, a))(np.ones((2, 2))).tolist() == [[2, 2], [2, 2]]
    assert "scipy.linalg" in sys.modules
"""


def test_numba_waits_for_a_kernel_and_scipy_for_linear_algebra():
    subprocess.run([sys.executable, "-c", ALONE], check=True)


def test_a_loaded_kernel_can_be_part_of_one_that_is_compiled(load):
    load(SOURCE).double(1)
    again = load(SOURCE)
    assert (again.double(2), count_uses(again.double)) == (4, (1, 0))
    assert (again.quadruple(2), count_uses(again.quadruple)) == (8, (0, 1))
