"""What is told of long work where nobody watches: a line now and then."""

from shiftscope.cli import _console


def test_a_log_gets_a_line_now_and_then(capsys, monkeypatch):
    now = iter([0.0, 29.0, 30.0, 30.0, 31.0, 60.0, 60.0])
    monkeypatch.setattr(_console.time, "monotonic", lambda: next(now))
    with _console.shard_bar("val data") as tell:
        for done, total in ((10, 40), (20, 40), (1_021, 0), (1_030, 0)):
            tell(done, total, "images" if total else "")
    assert capsys.readouterr().err.splitlines() == [
        "shiftscope: val data: 20 of 40, images",
        "shiftscope: val data: 1,030",
    ]
