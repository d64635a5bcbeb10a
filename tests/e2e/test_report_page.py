"""The page in a real browser: it loads nothing, fits every window, sorts, filters, prints, and works without scripts."""

import pytest

from browser import open_page
from report_toys import asked, log, right, study, write_runs
from shiftscope.report.run_page import build_report, report

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    report(write_runs(folder), folder / "report.html")
    return folder / "report.html"


def opened(browser, page_file, **how):
    """The page, and what it asked for or complained of besides itself."""
    page, trouble = open_page(browser, page_file.as_uri(), **({"viewport": {"width": 1280, "height": 900}} | how))
    page.goto(page_file.as_uri())
    return page, trouble


def test_it_loads_nothing_and_complains_of_nothing(browser, page_file):
    page, trouble = opened(browser, page_file, offline=True)
    assert page.locator("section").count() == 13
    load = "all => Promise.all(all.map(i => (i.loading = 'eager', i.decode().then(() => i.naturalWidth))))"
    assert min(page.locator("img").evaluate_all(load)) > 0
    assert trouble == []


@pytest.mark.parametrize("width", [360, 768, 1280, 2000])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_runs_out_of_the_window(browser, page_file, width, scheme):
    page, _ = opened(browser, page_file, viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("models", [3, 8, 12])
def test_no_table_scrolls_sideways_on_a_laptop(browser, tmp_path, models):
    questions = [
        asked(
            f"q{k}",
            "yes",
            f"s{k // 4}",
            kind=f"query_kind_{k % 12}",
            template=f"a_long_name_{k % 9}.json",
            length=k % 30,
        )
        for k in range(240)
    ]
    tests = ("default", "easy", "hard", "rd+", "tail", "co-2")
    runs = [
        log(
            right(240 - 9 * k - 5 * j, questions),
            model=f"hf:org/some-vision-language-model-{k}b-instruct",
            variant=test,
        )
        for k in range(models)
        for j, test in enumerate(tests)
    ]
    (tmp_path / "report.html").write_text(build_report(study(*runs)).render(), "utf-8")
    page, _ = opened(browser, tmp_path / "report.html")
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    wide = "[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.ariaLabel)"
    assert page.evaluate(wide) == []


def test_a_long_name_stays_in_the_window(browser, tmp_path):
    names = [f"{k}{'long_name_' * 8}" for k in range(2)]
    made = study(*(log(right(5 + k), model=name) for k, name in enumerate(names)))
    (tmp_path / "report.html").write_text(build_report(made).render(), "utf-8")
    shown, _ = opened(browser, tmp_path / "report.html", viewport={"width": 360, "height": 800})
    assert shown.evaluate("document.documentElement.scrollWidth") <= 360
    head = shown.locator("#headline tbody th .name").first
    assert head.bounding_box()["width"] <= 260
    assert head.get_attribute("title") in names


def test_text_can_be_read_in_both_schemes(browser, page_file):
    """Every piece of text against the background it stands on, WCAG AA: 4.5 to 1."""
    for scheme in ("light", "dark"):
        page, _ = opened(browser, page_file, color_scheme=scheme)
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert page.evaluate(CONTRAST) == []


CONTRAST = """() => {
  const parse = (c) => (c.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const bad = [];
  for (const e of document.querySelectorAll("main *:not(svg *), nav *")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
    if (e.tagName === "OPTION" || e.classList.contains("unseen")) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) bad.push(e.outerHTML.slice(0, 90));
  }
  return bad;
}"""


def test_a_table_sorts_by_a_click_and_by_a_key(browser, page_file):
    page, _ = opened(browser, page_file)
    page.locator("#outcomes details summary").click()
    table = page.locator("#outcomes details table")
    head = table.locator("th", has_text="Right")
    values = lambda: [int(v) for v in table.locator("tbody tr td:nth-of-type(3)").all_inner_texts()]  # noqa: E731
    head.click()
    assert values() == sorted(values(), reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    head.press("Enter")
    assert values() == sorted(values())
    assert head.get_attribute("aria-sort") == "ascending"


def test_cards_filter_by_model_and_kind(browser, page_file):
    page, _ = opened(browser, page_file)
    cards = page.locator("#failure-cards > .card")
    every = cards.count()
    page.select_option("#failures select[name=kind]", label="exist")
    shown = [c for c in cards.all() if c.is_visible()]
    assert 0 < len(shown) < every
    assert all("type exist" in c.inner_text() for c in shown)
    assert page.locator("#failures output").inner_text() == f"{len(shown)} of {every}"


def test_everything_is_there_without_scripts(browser, page_file):
    page, _ = opened(browser, page_file, java_script_enabled=False)
    assert page.locator("#failure-cards > .card").first.is_visible()
    assert not page.locator(".filters").is_visible()
    page.locator("#failures summary").first.click()
    assert page.locator("#failures .tree").first.is_visible()


def test_it_prints_in_black_on_white_without_menus(browser, page_file):
    page, _ = opened(browser, page_file, color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    assert page.pdf(format="A4", print_background=True).startswith(b"%PDF")


def test_it_can_be_walked_by_headings_and_names(browser, page_file):
    page, _ = opened(browser, page_file)
    assert page.locator("h1").count() == 1
    assert page.evaluate("document.documentElement.lang") == "en"
    unnamed = "all => all.filter(e => !e.getAttribute('aria-label') && !e.getAttribute('aria-hidden')).length"
    assert page.locator("svg").evaluate_all(unnamed) == 0
    for link in page.locator("nav a").all():
        assert page.locator(link.get_attribute("href")).count() == 1
