import sys

from shiftscope.registry import SCHEMAS, Registry


def test_a_file_is_an_entry_and_its_docstring_its_summary():
    assert "clevr" in SCHEMAS.names()
    assert SCHEMAS.summary("clevr") == "CLEVR: three solids in two sizes, eight colours and two materials."


def test_summaries_are_read_without_importing(tmp_path, monkeypatch):
    package = tmp_path / "zoo_for_test"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "lion.py").write_text('"""A lion."""\nraise RuntimeError("imported")\n')
    (package / "_hidden.py").write_text('"""Not listed."""\n')
    (package / "bear").mkdir()
    (package / "bear" / "__init__.py").write_text('"""A bear, as a folder."""\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    zoo = Registry("animal", "zoo_for_test")
    assert zoo.names() == ("bear", "lion")
    assert zoo.summary("lion") == "A lion."
    assert zoo.summary("bear") == "A bear, as a folder."
    assert "zoo_for_test.lion" not in sys.modules


def test_an_unknown_name_gets_the_nearest(refuses):
    with refuses("no schema 'clever'; did you mean 'clevr'?"):
        SCHEMAS.load("clever")
