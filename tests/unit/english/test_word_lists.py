"""Word lists: every section of a data file is read by some module, and holds clean words."""

import re
from pathlib import Path

import pytest

import shiftscope
from shiftscope.english import word_lists

ROOT = Path(shiftscope.__file__).parent
FILES = sorted(path.stem for path in (ROOT / "english" / "data").glob("*.txt"))
SOURCE = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py"))


@pytest.mark.parametrize("file", FILES)
def test_every_section_is_used_and_has_clean_words(file):
    sections = word_lists._read_sections(file)
    assert sections
    for section, lines in sections.items():
        assert re.search(rf"""["']{section}["']""", SOURCE), (file, section)
        words = re.split(r"[,|:]", " ".join(lines))
        assert all(word.strip() for word in words[1:]), (file, section)


def test_a_list_a_table_and_groups():
    assert word_lists.word_list("inflection", "same")[:2] == ("sheep", "fish")
    assert word_lists.word_pairs("inflection", "irregular plurals")["person"] == "people"
    assert word_lists.word_table("gqa", "kinds")["cat"] == ("kitten",)
    assert word_lists.word_groups("exclusivity", "exclusive modifiers")[1] == (("with", "using"), ("without",))
