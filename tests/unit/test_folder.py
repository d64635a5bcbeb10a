"""One holder of a folder or a name at a time: who is refused, what is left, and what a lock never does."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from shiftscope import folder as lock
from shiftscope.folder import list_contents, lock_folder, lock_path

HELD = f"process {os.getpid()} is already working on it; wait for it to end, or choose another"


def test_a_folder_is_made_for_its_holder_and_goes_if_it_stays_empty(tmp_path):
    with lock_folder(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b" / ".lock").read_text().split()[0] == str(os.getpid())
        assert list_contents(tmp_path / "a" / "b") == []
    assert [*tmp_path.iterdir()] == []
    with lock_folder(tmp_path / "a" / "b"):
        (tmp_path / "a" / "b" / "file").touch()
    assert [*(tmp_path / "a" / "b").iterdir()] == [tmp_path / "a" / "b" / "file"]


def test_an_empty_folder_that_was_there_stays(tmp_path):
    (tmp_path / "a").mkdir()
    with lock_folder(tmp_path / "a"):
        pass
    assert [*tmp_path.iterdir()] == [tmp_path / "a"]


def test_a_second_holder_is_refused_however_the_folder_is_spelled(tmp_path, refuses):
    (tmp_path / "link").symlink_to(tmp_path / "a")
    with lock_folder(tmp_path / "a"):
        for name in ("a", "link", "a/../a"):
            with refuses(f"{HELD} folder"), lock_folder(tmp_path / name):
                pytest.fail("held twice")
    with lock_folder(tmp_path / "a"):
        pass


def test_a_name_is_held_by_a_lock_beside_it(tmp_path, refuses):
    page = tmp_path / "page.html"
    (tmp_path / "link.html").symlink_to(page)
    with lock_path(page):
        assert [p.name for p in tmp_path.iterdir() if not p.is_symlink()] == [".page.html.lock"]
        for name in ("page.html", "link.html"):
            with refuses(f"{HELD} name"), lock_path(tmp_path / name):
                pytest.fail("held twice")
        with lock_path(tmp_path / "other.html"):
            pass
    assert not (tmp_path / ".page.html.lock").exists()


def test_a_thread_is_a_holder_of_its_own(tmp_path):
    said = []

    def second():
        try:
            with lock_folder(tmp_path):
                said.append("held")
        except Exception as error:
            said.append(str(error))

    with lock_folder(tmp_path):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert len(said) == 1 and HELD in said[0]


def test_a_device_is_not_held(tmp_path):
    with lock_path(Path("/dev/null")), lock_path(Path("/dev/null")):
        assert not Path("/dev/.null.lock").exists()


def test_the_file_that_a_link_leads_to_is_not_written_over(tmp_path, refuses):
    mine = tmp_path / "mine"
    mine.write_text("my notes")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".lock").symlink_to(mine)
    with refuses("cannot be written"), lock_folder(tmp_path / "out"):
        pytest.fail("held through a link")
    assert mine.read_text() == "my notes"


def test_what_is_no_file_is_no_lock(tmp_path, refuses):
    os.mkfifo(tmp_path / ".lock")
    with refuses(".lock is no file; remove it"), lock_folder(tmp_path):
        pytest.fail("held by a pipe")
    (tmp_path / ".lock").unlink()
    (tmp_path / ".lock").mkdir()
    with refuses("cannot be written (Is a directory)"), lock_folder(tmp_path):
        pytest.fail("held by a folder")


def test_a_folder_that_can_not_be_written_is_told(tmp_path, refuses):
    (tmp_path / "file").touch()
    for path in ("/proc/shiftscope", "/proc", tmp_path / "file", tmp_path / "file" / "below"):
        with refuses(f"{path}: cannot be written"), lock_folder(Path(path)):
            pytest.fail("written")
    with refuses("the root of the file system"), lock_path(Path("/")):
        pytest.fail("written")


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_folder_is_told(tmp_path, refuses):
    tmp_path.chmod(0o555)
    with refuses(f"{tmp_path}: cannot be written (Permission denied)"), lock_folder(tmp_path):
        pytest.fail("written")


def test_what_a_killed_process_left_is_taken_over(tmp_path):
    code = f"import os; from pathlib import Path; from shiftscope.folder import lock_folder\nwith lock_folder(Path({str(tmp_path)!r})): os._exit(1)"
    subprocess.run([sys.executable, "-c", code], check=False)
    assert (tmp_path / ".lock").exists()
    with lock_folder(tmp_path):
        assert (tmp_path / ".lock").read_text().split()[0] == str(os.getpid())
    assert not (tmp_path / ".lock").exists()


def test_a_holder_on_another_machine_is_named_with_it(tmp_path, refuses, monkeypatch):
    with lock_folder(tmp_path):
        monkeypatch.setattr(lock.socket, "gethostname", lambda: "here")
        with refuses(f"process {os.getpid()} on "), lock_folder(tmp_path):
            pytest.fail("held twice")


def test_a_lock_of_another_holder_is_not_removed(tmp_path):
    """As when a folder is deleted under its holder and made again by somebody else."""
    with lock_folder(tmp_path / "a"):
        (tmp_path / "a" / ".lock").unlink()
        (tmp_path / "a" / ".lock").write_text("1 elsewhere")
    assert (tmp_path / "a" / ".lock").read_text() == "1 elsewhere"


def test_contents_leave_out_what_writers_leave(tmp_path):
    for name in (".lock", ".a.html.lock", ".b.json.17.partial", "poetry.lock", "a.partial", ".hidden"):
        (tmp_path / name).touch()
    assert list_contents(tmp_path) == [".hidden", "a.partial", "poetry.lock"]


def test_what_a_killed_holder_left_half_written_goes_and_nothing_else(tmp_path):
    folder = tmp_path / "a"
    (folder / "b").mkdir(parents=True)
    left = [folder / "b" / ".x.json.123.partial", tmp_path / ".page.html.45.partial"]
    mine = [
        folder / "b" / "x.json.partial",
        folder / ".x.partial",
        folder / "x.json",
        tmp_path / ".other.html.45.partial",
    ]
    for path in (*left, *mine):
        path.touch()
    staged = tmp_path / ".page.html.46.partial"
    (staged / "x").mkdir(parents=True)
    with lock_folder(folder):
        assert not left[0].exists()
        assert left[1].exists()
    with lock_path(tmp_path / "page.html"):
        assert not left[1].exists() and not staged.exists()
    assert all(path.exists() for path in mine)
