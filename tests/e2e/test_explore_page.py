"""The explorer in a real browser, from the command line: steps light the right pixels, edits change answers, annotation
survives a kill, nothing complains, and axe-core finds no serious fault."""

import gzip
import json
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import explore_toys as toys
from browser import open_page
from shiftscope.explore.scene_edit import apply_edits, draw_scene
from shiftscope.geometry.camera import camera_of
from shiftscope.lang.exec.exact import execute
from shiftscope.scene import mask_members
from shiftscope.store.image import decode_mask

# axe-core 4.14.0 of npm, https://registry.npmjs.org/axe-core/-/axe-core-4.14.0.tgz; its licences lie beside it
AXE = Path(__file__).parents[1] / "data/axe-core/axe.min.js.gz"


@contextmanager
def serve(*words):
    """`shiftscope explore` with these words, on a free port; its process and address."""
    command = [sys.executable, "-m", "shiftscope", "explore", *map(str, words), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, json.loads(process.stdout.readline())["url"].rstrip("/")
        finally:
            process.send_signal(signal.SIGINT)


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """A dataset with a hostile question, a dataset of vehicles with parts, two runs; the address they are served at."""
    folder = tmp_path_factory.mktemp("explore")
    dataset = toys.build(folder / "data", hostile=True)
    vehicles = toys.build(folder / "vehicles", shards=1, world="superclevr")
    ids = [q.id for q in dataset.questions()]
    runs = [
        toys.write_run(folder / "first", dataset, "first", {ids[0]: "7", ids[1]: "[unreadable]"}),
        toys.write_run(folder / "second", dataset, "second", {ids[2]: "9"}),
    ]
    with serve(folder / "data", folder / "vehicles", *runs) as (_, address):
        yield dataset, vehicles, address


@contextmanager
def visit(browser, address, **how):
    """A page, and what it asked for elsewhere or complained of."""
    page, trouble = open_page(browser, address, **how)
    yield page, trouble
    page.context.close()


LIT = """() => {
  const canvas = document.querySelector('.lit canvas');
  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  return [...data].filter((v, k) => k % 4 === 3).map((alpha) => alpha === 0 ? 1 : 0);
}"""


def wait_until(page, condition):
    """As `wait_for_function`, which evaluates text inside the page: the policy forbids that."""
    for _ in range(500):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"never: {condition}")


def read_lit(page):
    wait_until(page, "!document.body.dataset.busy")
    return np.array(page.evaluate(LIT), bool)


DRAWN = """() => {
  const canvas = document.querySelector('.lit canvas');
  return [...canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data].filter((v, k) => k % 4 === 3 && v).length;
}"""


def test_the_address_holds_the_overlays_and_the_step_of_twins(browser, opened):
    dataset, _, address = opened
    mask = decode_mask(dataset.example(0, "test").images[0].mask)
    with visit(browser, address) as (page, trouble):
        page.goto(f"{address}/d/0/e/0")
        page.keyboard.press("m")
        wait_until(page, "!document.body.dataset.busy")
        assert page.url.endswith("?show=masks")
        page.goto(page.url)
        wait_until(page, "!document.body.dataset.busy")
        assert page.evaluate(DRAWN) == int((mask > 0).sum())
        page.keyboard.press("n")  # the overlays stay on
        page.wait_for_url("**/e/1?show=masks")
        assert page.locator("[data-layer=masks]").is_checked()
        page.keyboard.press("m")
        assert page.url.endswith("?show=") and "show" not in page.locator("a[data-key=n]").get_attribute("href")
        page.goto(f"{address}/twins?a=0.1&b=0.0")
        page.keyboard.press("ArrowRight")
        assert page.url.endswith("&step=0")
        page.goto(page.url)
        wait_until(page, "!document.body.dataset.busy")
        assert page.locator(".step[aria-pressed=true]").count() == 2
        assert trouble == []


def test_a_picture_that_cannot_be_read_says_why(browser, tmp_path):
    toys.build(tmp_path / "data", shards=1)
    file = tmp_path / "data/images/test/00000.parquet"
    file.chmod(0o644)
    file.write_bytes(file.read_bytes()[:-100])
    with serve(tmp_path / "data") as (_, address), visit(browser, address) as (page, _):
        page.goto(f"{address}/d/0")
        page.wait_for_selector(".card .no-picture")
        assert "is not what was written there" in page.locator(".card .no-picture").first.inner_text()


@pytest.mark.full
def test_stepping_lights_the_right_pixels(browser, opened):
    dataset, _, address = opened
    for row in (1, 2):
        example = dataset.example(row, "test")
        program, image = example.question.program, example.images[0]
        mask, values = decode_mask(image.mask).ravel(), execute(program, image.scene).values
        with visit(browser, address) as (page, trouble):
            page.goto(f"{address}/d/0/e/{row}")
            for node in range(len(program)):
                page.keyboard.press("ArrowRight")
                # a number lights what it counts: the set before it
                wanted = values[node - 1 if program.nodes[node].op == "count" else node]
                assert read_lit(page).tolist() == np.isin(mask, [i + 1 for i in mask_members(wanted)]).tolist()
                assert f"step={node}" in page.url
                assert page.locator(".step[aria-pressed=true]").get_attribute("data-node") == str(node)
            page.goto(page.url)  # the address holds the step
            assert read_lit(page).tolist() == np.isin(mask, [i + 1 for i in mask_members(wanted)]).tolist()
            page.keyboard.press("Escape")
            assert read_lit(page).all()
            assert trouble == []


@pytest.mark.full
def test_parts_light_by_their_own_pixels(browser, opened):
    _, vehicles, address = opened
    image = vehicles.example(0, "test").images[0]
    listed = [p for o in image.scene.objects for p in o.parts]
    color = dict(listed[0].attributes)["color"]
    numbers = [k for k, p in enumerate(listed, 1) if dict(p.attributes)["color"] == color]
    with visit(browser, address) as (page, trouble):
        page.goto(f"{address}/d/1/e/0?program=count(filter(parts(scene()), color={color}))")
        page.keyboard.press("End")
        assert read_lit(page).tolist() == np.isin(decode_mask(image.part_mask).ravel(), numbers).tolist()
        assert page.locator("#answer-now").inner_text() == str(len(numbers))
        assert trouble == []


def test_an_edit_changes_answer_and_picture(browser, opened):
    dataset, _, address = opened
    example = dataset.example(1, "test")  # how many cubes
    scene, program = example.images[0].scene, example.question.program
    i = next(k for k, o in enumerate(scene.objects) if o.values("shape") != ("cube",))
    changed = replace(scene.objects[i], attributes=(*scene.objects[i].attributes[:-1], ("shape", "cube")))
    edited = replace(scene, objects=tuple(changed if k == i else o for k, o in enumerate(scene.objects)))
    pixels = """() => { const i = document.querySelector('.lit img'); const c = document.createElement('canvas');
      c.width = i.naturalWidth; c.height = i.naturalHeight; const d = c.getContext('2d'); d.drawImage(i, 0, 0);
      return [...d.getImageData(0, 0, c.width, c.height).data].filter((v, k) => k % 4 === 0); }"""
    with visit(browser, address) as (page, trouble):
        page.goto(f"{address}/d/0/e/1")
        before = page.evaluate(pixels)
        page.select_option(f'[name="0:{i}.shape"]', "cube")
        page.get_by_role("button", name="Show what changes").click()
        assert page.locator("#answer-now").inner_text() == str(execute(program, edited).answer)
        wait_until(page, "document.querySelector('.lit img').complete")
        after = np.array(page.evaluate(pixels))
        mask = decode_mask(example.images[0].mask).ravel()
        assert (after != np.array(before))[mask == i + 1].mean() > 0.2
        # the keys of the plan move a dot, and the form follows
        dot = page.locator(f'.plan .mover[data-object="{i}"]')
        dot.focus()
        x = float(page.locator(f'[name="0:{i}.x"]').input_value())
        for _ in range(3):
            page.keyboard.press("Shift+ArrowRight")
        right = dict(scene.directions)["right"]
        assert float(page.locator(f'[name="0:{i}.x"]').input_value()) == pytest.approx(x + 1.5 * right[0], abs=0.02)
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert f"edit=0%3A{i}.place" in page.url
        page.fill("#program-field", "count(filter(scene(), size=large))")
        page.get_by_role("button", name="Run it").click()
        large = [o for o in edited.objects if o.values("size") == ("large",)]
        assert page.locator("#answer-now").inner_text() == str(len(large))
        assert trouble == []


def test_an_object_is_moved_in_the_picture(browser, opened):
    dataset, _, address = opened
    image = dataset.example(1, "test").images[0]
    scene, i = image.scene, 1
    (width, height), (x, y, z) = image.size, scene.objects[i].position
    right, behind = (np.array(dict(scene.directions)[name][:2]) for name in ("right", "behind"))
    goal = np.array([x, y]) + 0.8 * right - 0.6 * behind
    (start, end) = camera_of(scene).project([(x, y, z), (*goal, z)], image.size)[:, :2]
    with visit(browser, address) as (page, trouble):
        page.goto(f"{address}/d/0/e/1?step=1")
        page.keyboard.press("v")
        page.keyboard.press("m")
        wait_until(page, "!document.body.dataset.busy")
        box = page.locator(".lit").bounding_box()
        on_screen = lambda at: (box["x"] + at[0] / width * box["width"], box["y"] + at[1] / height * box["height"])  # noqa: E731
        page.mouse.move(*on_screen(start))
        page.mouse.down()
        page.mouse.move(*on_screen((start + end) / 2))
        page.mouse.move(*on_screen(end))
        dragged = [float(page.locator(f'[name="0:{i}.{axis}"]').input_value()) for axis in "xy"]
        assert dragged == pytest.approx(goal.tolist(), abs=0.02)
        with page.expect_navigation():
            page.mouse.up()
        # what was in view is still so, the dot stands where it was put, and the keys move it on
        assert f"edit=0%3A{i}.place" in page.url and "show=places%2Cmasks" in page.url
        assert page.locator("[data-layer=masks]").is_checked()
        wait_until(page, "!document.body.dataset.busy")
        edited = apply_edits(scene, [f"{i}.place={dragged[0]:.2f},{dragged[1]:.2f}"])
        drawn = decode_mask(draw_scene(edited).mask)
        assert page.evaluate(DRAWN) == int((drawn > 0).sum())
        at = page.locator(f'.handles .mover[data-object="{i}"]').get_attribute("transform")
        assert [float(v) for v in re.findall(r"[\d.]+", at)] == pytest.approx(end.tolist(), abs=1.0)
        assert page.evaluate("document.activeElement.dataset.object") == str(i)
        page.keyboard.press("Shift+ArrowRight")
        moved = [float(page.locator(f'[name="0:{i}.{axis}"]').input_value()) for axis in "xy"]
        assert moved == pytest.approx((np.array(dragged) + 0.5 * right).tolist(), abs=0.02)
        page.keyboard.press("Escape")
        assert [float(page.locator(f'[name="0:{i}.{axis}"]').input_value()) for axis in "xy"] == dragged
        assert trouble == []


@pytest.mark.full
def test_everything_can_be_done_from_the_keyboard(browser, opened):
    _, _, address = opened
    with visit(browser, address) as (page, trouble):
        page.goto(f"{address}/d/0")
        page.keyboard.press("?")
        assert page.locator("#keys").is_visible()
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        page.keyboard.type("cubes")
        page.keyboard.press("Enter")
        page.wait_for_url("**/d/0?q=cubes")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url("**/e/1?q=cubes")
        page.keyboard.press("n")
        page.wait_for_url("**/e/6?q=cubes")
        page.keyboard.press("m")
        wait_until(page, "!document.body.dataset.busy")
        assert page.locator('[data-layer="masks"]').is_checked()
        page.keyboard.press("e")
        assert page.evaluate("document.activeElement.id") == "program-field"
        page.keyboard.press("Escape")
        page.keyboard.press("u")
        page.wait_for_url("**/d/0?q=cubes")
        assert trouble == []


@pytest.mark.full
def test_annotation_survives_a_kill(browser, opened, tmp_path):
    dataset, _, _ = opened
    words = (dataset.folder, "--annotate", "--annotations", tmp_path / "a.sqlite")
    with serve(*words) as (process, address), visit(browser, address) as (page, _):
        page.goto(address)
        page.fill("[name=name]", "ann")
        page.keyboard.press("Enter")
        page.fill("#answer", "3")
        page.keyboard.press("Enter")
        page.get_by_text("Stored answer", exact=True).wait_for()
        page.locator("h1").click()
        page.keyboard.press("4")
        page.fill("[name=paraphrase]", "What is the number of things?")
        page.keyboard.press("Control+Enter")
        page.wait_for_url("**/task/1")
        page.fill("#answer", "1")
        page.keyboard.press("Enter")
        page.get_by_text("Stored answer", exact=True).wait_for()
        process.kill()
        process.wait()
    with serve(*words) as (_, address), visit(browser, address) as (page, trouble):
        page.goto(address)
        page.fill("[name=name]", "ann")
        page.keyboard.press("Enter")
        page.wait_for_url("**/task/1")
        assert page.get_by_text("Stored answer", exact=True).is_visible()  # the answer to the second is kept
        page.goto(f"{address}/task/0")
        assert page.input_value("[name=paraphrase]") == "What is the number of things?"
        assert page.locator("[name=verdict]:checked").get_attribute("value") == "wrong"
        assert check_with_axe(page) == []
        page.goto(f"{address}/progress")
        assert "1 judgement of 1 of 9 questions" in page.inner_text("main")
        assert check_with_axe(page) == []
        assert trouble == []


def check_with_axe(page):
    """What axe-core finds that is serious: the rule, and the elements."""
    page.evaluate(gzip.decompress(AXE.read_bytes()).decode())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = [v for v in found["violations"] if v["impact"] in ("serious", "critical")]
    return [(v["id"], [n["html"][:120] for n in v["nodes"][:3]]) for v in serious]


PAGES = ("/d/0", "/d/0?more=1&run.0=wrong", "/d/0/e/1?show=places", "/d/0/e/4", "/d/0/slices", "/d/0/models", "/d/9")


@pytest.mark.full
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1920), ("light", 400)])
def test_nothing_complains_and_axe_finds_no_serious_fault(browser, opened, scheme, width):
    _, _, address = opened
    with visit(browser, address, color_scheme=scheme, viewport={"width": width, "height": 800}) as (page, trouble):
        for path in PAGES:
            page.goto(f"{address}{path}")
            page.wait_for_load_state("networkidle")
            assert (path, check_with_axe(page)) == (path, [])
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert [t for t in trouble if not re.search("400", t)] == []  # /d/9 is not there, and says so


@pytest.mark.full
def test_hostile_words_do_nothing(browser, opened):
    _, _, address = opened
    with visit(browser, address) as (page, trouble):
        for path in ("/d/0", "/d/0/e/4"):
            page.goto(f"{address}{path}")
            page.wait_for_load_state("networkidle")
            assert "<script>alert(1)</script>" in page.inner_text("main")
        assert trouble == []
