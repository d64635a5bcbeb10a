"""Generated pages are as fresh as the code."""

from pathlib import Path

import pytest

from tools import docs

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("path", docs.PAGES)
def test_a_generated_page_is_fresh(path):
    assert (ROOT / path).read_text("utf-8") == getattr(docs, docs.PAGES[path])(), "run `make docs`"
