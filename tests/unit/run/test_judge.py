"""A judge at an endpoint reads what the rules cannot, says how far it agrees with them, and never sees the answer."""

import json
import re

import pytest

from asked import dataset
from command import here, refused
from endpoints import completion, serving
from shiftscope.expected_answer import ANYTHING, NUMBER, TRUTH, expect_words
from shiftscope.model import Response
from shiftscope.result import Prediction
from shiftscope.run.judge import decide, describe_answers
from shiftscope.store.dataset import Dataset
from shiftscope.store.run_log import read_rows, read_run

MUMBLE = "Well, the thing is rather like a lobster."  # what no rule reads
TOY_QUESTIONS = 36


@pytest.fixture
def server(monkeypatch):
    with serving(monkeypatch) as running:
        yield running


@pytest.fixture
def judge(monkeypatch):
    with serving(monkeypatch) as running:
        yield running


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return dataset(tmp_path_factory.mktemp("judge") / "data").folder


def run(server, judge, data, out, *more, sample=3):
    words = ["run", "--model", f"openai:toy@{server.url}", "--data", data, "--out", out, "--in-flight", 1, "--no-cache"]
    given = ["--judge", f"openai:wise@{judge.url}", "--judge-sample", sample] if judge else []
    result = here(*words, *given, "--retries", 0, "--json", *more)
    assert not result.returncode, result.stderr
    return json.loads(result.stdout)


def tell_prompts(judge):
    """What the judge was sent: texts, and no picture."""
    contents = [body["messages"][-1]["content"] for body in judge.bodies]
    assert all([part["type"] for part in content] == ["text"] for content in contents)
    return [content[0]["text"] for content in contents]


def mumble_often(server, n=4):
    server.replies = [*[completion(MUMBLE)] * n, completion("2")]


def test_only_what_stays_unread_is_judged_and_a_sample(server, judge, data, tmp_path):
    mumble_often(server)
    judge.replies = [completion("UNCLEAR")]
    told = run(server, judge, data, tmp_path / "run")
    assert len(judge.bodies) == 4 + 3
    assert told["judge"] | {"model": ""} == {"model": "", "unread": 4, "read": 0, "sampled": 3, "agreed": 0}
    unread = [p for _, p in read_rows(tmp_path / "run") if p.status == "unreadable"]
    assert [p.judged for p in unread] == ["-"] * 4
    assert {p.reason for p in unread} == {"no answer"}


def test_what_the_judge_reads_is_the_answer_and_says_so(server, judge, data, tmp_path):
    mumble_often(server)
    judge.replies = [completion("2")]
    told = run(server, judge, data, tmp_path / "run")
    rows = [p for _, p in read_rows(tmp_path / "run")]
    by_judge = [p for p in rows if p.read_by == "judge"]
    admitted = told["judge"]["read"]  # a question for a color does not admit 2
    assert 0 < len(by_judge) == admitted <= 4
    assert all((p.answer, p.status, p.judged, p.raw) == (2, "answered", "2", MUMBLE) for p in by_judge)
    assert all(p.judged in ("2", "-") for p in rows if p.judged and p.read_by == "")
    assert len(rows) == TOY_QUESTIONS


def test_the_judge_sees_question_answers_and_reply_but_not_the_truth(server, judge, data, tmp_path):
    mumble_often(server, TOY_QUESTIONS)
    run(server, judge, data, tmp_path / "run", sample=0)
    texts = tell_prompts(judge)
    assert len(texts) == TOY_QUESTIONS
    shown = [re.search(f"Question: (.+)\nPossible answers: (.+)\nReply(.|\n)*{MUMBLE}", text) for text in texts]
    assert {match[1] for match in shown} == {question.text for question in Dataset.open(data).questions("test")}
    assert {match[2] for match in shown} <= {
        "yes, no",
        "a whole number",
        *(match[2] for match in shown if "," in match[2]),
    }
    rest = {text.replace(match[1], "").replace(match[2], "") for text, match in zip(texts, shown, strict=True)}
    assert len(rest) == 1  # nothing else differs, so nothing else tells


def test_a_run_resumes_its_judging_and_pays_for_nothing_twice(server, judge, data, tmp_path):
    mumble_often(server)
    judge.replies = [*[completion("UNCLEAR")] * 2, (400, ""), *[completion("UNCLEAR")] * 100]
    first = run(server, judge, data, tmp_path / "run")
    assert first["judge"]["unread"] + first["judge"]["sampled"] == 6
    asked = len(judge.bodies)
    second = run(server, judge, data, tmp_path / "run")
    assert len(judge.bodies) == asked + 1  # the call that failed
    assert second["judge"] | {"model": ""} == {"model": "", "unread": 4, "read": 0, "sampled": 3, "agreed": 0}
    third = run(server, judge, data, tmp_path / "run")
    assert (third["asked"], len(judge.bodies)) == (0, asked + 1)
    assert third["judge"] == second["judge"]


def test_a_finished_run_may_be_judged_later_but_by_one_judge(server, judge, data, tmp_path):
    mumble_often(server)
    run(server, None, data, tmp_path / "run")
    assert read_run(tmp_path / "run").judge is None
    asked = len(server.bodies)
    told = run(server, judge, data, tmp_path / "run")
    assert (told["judge"]["unread"], len(server.bodies)) == (4, asked)
    run(server, None, data, tmp_path / "run")  # without naming it, the judge stays
    assert read_run(tmp_path / "run").judge.unread == 4
    words = ["run", "--model", f"openai:toy@{server.url}", "--data", data, "--out", tmp_path / "run"]
    assert "judge" in refused(here(*words, "--judge", f"openai:other@{judge.url}"))


def test_score_and_report_show_the_agreement(server, judge, data, tmp_path):
    mumble_often(server)
    judge.replies = [completion("2")]
    run(server, judge, data, tmp_path / "run", sample=20)
    log = read_run(tmp_path / "run")
    assert log.judge.sampled == 20
    assert f"judge: {log.judge}" in here("score", tmp_path / "run").stdout
    assert json.loads(here("score", tmp_path / "run", "--json").stdout.splitlines()[0])["judge"][0]["sampled"] == 20
    here("report", tmp_path / "run", "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "replies that the rules could not read" in page
    assert "--judge-sample 20" in page


def test_a_judge_must_read_prompts(data, tmp_path):
    words = ["run", "--model", "random", "--data", data, "--out", tmp_path / "run", "--judge", "majority"]
    assert "--judge majority reads no prompts" in refused(here(*words))
    assert not (tmp_path / "run").exists()


COLORS = expect_words([("red", "red"), ("blue", "blue")])


@pytest.mark.parametrize(
    ("expected", "said", "judged", "answer"),
    [
        (TRUTH, "yes", "yes", True),
        (TRUTH, "UNCLEAR", "-", None),
        (TRUTH, "2", "-", None),  # of another kind
        (NUMBER, "The reply gives 0.", "0", 0),
        (NUMBER, "<think>none?</think>UNCLEAR", "-", None),
        (COLORS, "Red", "red", "red"),
        (COLORS, "pink", "-", None),
        (ANYTHING, "an umbrella", "umbrella", "umbrella"),
    ],
)
def test_a_decision_is_an_answer_that_the_question_admits(expected, said, judged, answer):
    unread = Prediction("q", None, MUMBLE, "unreadable", "no answer")
    decided = decide(unread, Response(said), expected)
    assert (decided.judged, decided.answer) == (judged, answer)
    assert decided.status == ("unreadable" if answer is None else "answered")


def test_a_decision_does_not_change_what_the_rules_read():
    decided = decide(Prediction("q", 3, "There are 3."), Response("4"), NUMBER)
    assert (decided.answer, decided.judged, decided.read_by) == (3, "4", "")


def test_the_judge_is_told_what_may_be_answered():
    assert [describe_answers(e) for e in (TRUTH, NUMBER, COLORS, ANYTHING)] == [
        *("yes, no", "a whole number", "red, blue", "a few words")
    ]
