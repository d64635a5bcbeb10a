"""What the explorer does not let pass: hostile words, other servers' forms, paths, odd numbers, damage."""

import html
from html.parser import HTMLParser

import pytest

pytest.importorskip("fastapi")
from starlette.testclient import TestClient

import explore_toys as toys
from explore_toys import BASE, shown
from shiftscope.explore.app import Access, build_app
from shiftscope.explore.collection import open_collection
from shiftscope.explore.pages.frame import SCRIPTS


def test_every_page_comes_with_the_policy_and_nothing_inside_it_that_the_policy_forbids(opened):
    _, _, client = opened
    pages = ("/d/0", "/d/0/e/0", "/d/0/e/4", "/d/0/slices", "/d/0/models", "/twins?a=0.0&b=1.0", "/d/9", "/nothing")
    for address in pages:
        response = client.get(address)
        assert "default-src 'none'" in response.headers["content-security-policy"]
        assert "unsafe" not in response.headers["content-security-policy"]
        page = ElementLister()
        page.feed(response.text)
        scripts = [attributes for name, attributes in page.elements if name == "script"]
        assert scripts == [{"src": f"/static/{name}", "defer": None} for name in SCRIPTS]
        for name, attributes in page.elements:
            assert name not in ("style", "iframe", "object", "base")
            assert not [key for key in attributes if key == "style" or key.startswith("on")]
            assert not [v for k, v in attributes.items() if k in ("src", "href", "action") and "//" in (v or "")]


class ElementLister(HTMLParser):
    """The elements of a page, each with its attributes."""

    def __init__(self):
        super().__init__()
        self.elements = []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))


def test_hostile_words_are_shown_as_words(opened):
    _, _, client = opened
    for address in ("/d/0", "/d/0/e/4", f"/d/0?q={'%3Cscript%3Ealert(9)%3C/script%3E'}", "/d/0/e/1", "/d/0/models"):
        text = shown(client, address)
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert "\x00" not in text
    assert html.escape("<script>alert(1)</script>", quote=False) in shown(client, "/d/0/e/4")


def test_numbers_of_any_length_are_refused_in_a_sentence(opened):
    client, long = opened[2], "9" * 5000
    for address in (
        f"/d/0?page={long}",
        f"/d/0?run.{long}=wrong",
        f"/d/0?worst=0.{long}",
        f"/twins?a=0.{long}&b=0.0",
        "/twins?a=0.²&b=0.0",
    ):
        assert 'role="alert"' in shown(client, address, 400)
    assert "is no edit" in shown(client, f"/d/0/e/0?edit={long}:0.remove")
    assert "5,000 fields" in shown(client, f"/d/0?{'&'.join('x=1' for _ in range(5001))}", 413)


def test_a_fault_of_ours_is_a_page_with_the_policy(opened, monkeypatch):
    collection = opened[1]
    client = TestClient(build_app(collection), base_url=BASE, raise_server_exceptions=False)
    monkeypatch.setattr(type(collection.data[0].index), "read_question", lambda self, row: 1 // 0)
    response = client.get("/d/0/e/0")
    assert response.status_code == 500 and "Something went wrong" in response.text
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "division" not in response.text


def test_a_form_of_another_page_and_a_name_of_another_server_are_refused(opened):
    client = opened[2]
    assert (
        client.post("/d/0/e/0/ask", data={"question": "x"}, headers={"origin": "http://evil.example"}).status_code
        == 403
    )
    assert client.post("/d/0/e/0/ask", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    for host in ("evil.example", "[", ""):
        assert client.get("/d/0", headers={"host": host}).status_code == 421
    assert client.post("/d/0/e/0/ask", headers={"origin": "http://["}).status_code == 403


@pytest.mark.parametrize(
    "address",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/%2e%2e/pyproject.toml",
        "/d/0/e/0/picture/../../../../../etc/passwd",
        "/d/0/e/0/picture/%2fetc%2fpasswd",
        "/d/..%2f..%2fetc/e/0",
        "/d/0/e/-1",
        "/d/0/e/999999",
        "/d/0/e/0/picture/9",
    ],
)
def test_no_path_leads_out_of_what_was_opened(opened, address):
    response = opened[2].get(address)
    assert response.status_code in (400, 404)
    assert "root:" not in response.text and "import" not in response.text


def test_a_wider_server_wants_its_token(opened):
    _, collection, _ = opened
    guarded = TestClient(build_app(collection, access=Access(frozenset(), "secret")), base_url="http://somewhere")
    assert guarded.get("/d/0").status_code == 401
    assert guarded.get("/d/0?token=wrong").status_code == 401
    assert guarded.get("/static/script.js").status_code == 401
    entered = guarded.get("/d/0?token=secret&q=red", follow_redirects=False)
    assert entered.status_code == 303 and entered.headers["location"] == "/d/0?q=red"
    assert "HttpOnly" in entered.headers["set-cookie"] and "samesite=lax" in entered.headers["set-cookie"].lower()
    assert guarded.get("/d/0").status_code == 200
    away = guarded.get("http://somewhere//evil.example/?token=secret", follow_redirects=False)
    assert away.headers["location"] == "/evil.example/"


def test_a_damaged_shard_shows_an_error_on_its_rows_and_no_dead_page(tmp_path):
    toys.build(tmp_path / "data", shards=3)
    for kind in ("questions/test/00001", "images/test/00002"):
        file = tmp_path / "data" / f"{kind}.parquet"
        file.chmod(0o644)
        file.write_bytes(file.read_bytes()[:-100])
    client = TestClient(build_app(open_collection([tmp_path / "data"])), base_url=BASE)
    text = shown(client, "/d/0")
    assert text.count('class="row-error"') == 4
    assert "Some rows cannot be read" in text
    assert "00001.parquet" in shown(client, "/d/0/e/5", 400)
    assert "00002.parquet" in shown(client, "/d/0/e/9", 400)
    shown(client, "/d/0/e/0")
    assert client.get("/d/0/e/9/picture/0").status_code == 400
    assert "2 of 12 questions" in shown(client, "/d/0?f.kind=exist")
