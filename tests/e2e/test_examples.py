"""Every example runs, as a newcomer would run it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(name, *words):
    command = [sys.executable, str(ROOT / "examples" / name), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def test_official_questions_are_answered():
    assert run("01_answer_official_questions.py").count("100.00% of those checked") == 4


@pytest.mark.full  # `make demo` runs it
def test_a_diagnosis_of_the_shipped_models_ends_with_the_path_of_its_report(tmp_path):
    shown = run("02_find_where_models_break.py", "--budget", 60, "--models", "p_nsvqa", "--out", tmp_path / "demo")
    assert "Visual complexity" in shown and "Question redundancy" in shown
    report = Path(shown.splitlines()[-1].removeprefix("the report: "))
    page = report.read_text("utf-8")
    assert "p_nsvqa" in page
    assert page.rstrip().endswith("</html>")


def test_every_example_is_tested():
    names = sorted(p.name for p in (ROOT / "examples").glob("*.py"))
    assert names == ["01_answer_official_questions.py", "02_find_where_models_break.py"]
