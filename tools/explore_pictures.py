"""The pictures of docs/guide/explore.md, taken anew: `python -m tools.explore_pictures FOLDER`.

Datasets and runs are made in FOLDER unless they are there; this takes some minutes. It needs Playwright and Chromium.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

OUT = Path(__file__).parents[1] / "docs/guide/explore"
WIDTH, HEIGHT = 1280, 800
MAKE = {  # folder → command
    "default": ("make", "superclevr", "--images", "60", "--questions", "4", "--part-questions", "4", "--shard", "20"),
    "hyp": ("make", "clevr_hyp", "--images", "21"),
    "covr": ("make", "covr", "--world", "superclevr", "-n", "120", "--questions", "200,40,60"),
    "p_nsvqa": ("run", "--model", "p_nsvqa", "--data", "{}/default"),
    "question_only": ("run", "--model", "question_only", "--data", "{}/default"),
}


def make_data(folder: Path) -> None:
    for name, words in MAKE.items():
        if not (folder / name).exists():
            call = [sys.executable, "-m", "shiftscope", *(word.format(folder) for word in words)]
            subprocess.run([*call, "--out", str(folder / name)], check=True)


@contextmanager
def serve(*words: object) -> Iterator[str]:
    """`shiftscope explore` with these words; its address."""
    command = [sys.executable, "-m", "shiftscope", "explore", *map(str, words), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["url"].rstrip("/")
        finally:
            process.send_signal(signal.SIGINT)


def settle(page: Any) -> None:
    """Wait until pictures and lights are drawn."""
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(200)
    while page.evaluate("document.body.dataset.busy"):
        page.wait_for_timeout(50)


def save(page: Any, name: str) -> None:
    from PIL import Image

    settle(page)
    with Image.open(BytesIO(page.screenshot())) as shot:
        shot.convert("RGB").save(OUT / f"{name}.png", optimize=True)


def drag_object(page: Any) -> None:
    """The car comes nearer the bicycle; the button is not released yet."""
    page.keyboard.press("v")
    settle(page)
    box = page.locator(".lit").bounding_box()
    scale = box["width"] / 480
    at = lambda x, y: (box["x"] + x * scale, box["y"] + y * scale)  # noqa: E731
    page.mouse.move(*at(190, 230))
    page.mouse.down()
    page.mouse.move(*at(240, 205))
    page.mouse.move(*at(275, 190))


def judge_example(page: Any) -> None:
    page.fill("[name=name]", "ann")
    page.keyboard.press("Enter")
    page.fill("#answer", "no")
    page.keyboard.press("Enter")
    page.get_by_text("Stored answer", exact=True).wait_for()
    page.locator("h1").click()
    page.keyboard.press("1")


def main() -> None:
    from playwright.sync_api import sync_playwright

    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    make_data(folder)
    annotations = folder / "pictures.sqlite"
    for path in folder.glob(f"{annotations.name}*"):  # with the files that SQLite keeps beside it
        path.unlink()
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])

        def shoot(name: str, address: str, scheme: str, then: Callable[[Any], None] = lambda page: None) -> None:
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
            page.goto(address)
            then(page)
            save(page, name)
            page.close()

        opened = [folder / name for name in MAKE]
        with serve(*opened) as explorer:
            shoot("list", f"{explorer}/d/0?run.0=wrong", "light")
            shoot("move", f"{explorer}/d/0/e/405", "light", drag_object)
            shoot("action", f"{explorer}/d/1/e/525?step=3", "dark")
            shoot("covr", f"{explorer}/d/2/e/12?step=3", "light")
            shoot("models", f"{explorer}/d/0/models", "dark")
        words = ("--annotate", "--annotations", annotations, "--limit", "5")
        with serve(folder / "covr", *words) as annotators:
            shoot("annotate", annotators, "light", judge_example)
        browser.close()


if __name__ == "__main__":
    main()
