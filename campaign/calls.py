"""Calls: an endpoint that fails in every way between `run` and `serve`, and answers that come all the same.

Each trial asks a served model a few hundred questions through a proxy that faults most calls, some of them
several times; half of the trials are also killed, interrupted or refused on the way, and resumed. Then
- the run holds what an undisturbed one holds, whatever it met;
- no reply that was delivered whole is asked for again;
- no traceback is shown, and the key stands nowhere.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from shiftscope.rng import derive
from shiftscope.store.response_cache import NAME as REPLIES
from shiftscope.store.response_cache import DiskResponseCache
from shiftscope.store.run_log import compute_run_content_id, read_run

from .proxy import FAULTS, ODD, REFUSED, Choose, Proxy
from .toys import toy_dataset
from .trial import Trial

NAME, UNIT, TARGET = "calls", "faulted calls", 10_000
PROMISE = (
    "A run through an endpoint that fails in every way, stopped and resumed, ends with the answers of an "
    "undisturbed one; no response that arrived whole is requested again; no traceback."
)
IMAGES, QUESTIONS = 30, 10
KEY = "sk-campaign-0123456789"
TIMEOUT = 4.0  # seconds of a call
LONGEST = 120.0  # seconds of a run
FAST = "import shiftscope.models.openai.endpoint as e; e.FIRST_WAIT = 0.01; from shiftscope.cli import main; main()"
RARE = ("slow", "trickle", "endless", "gzip bomb")  # they cost seconds, or megabytes
STOPS = ("none", "none", "none", "SIGKILL", "SIGINT", "SIGTERM", "401")
LABELS = {  # of faults whose name does not say what happens
    "429 with a wish": "429 with Retry-After",
    "429 with a strange wish": "429 with an invalid Retry-After",
    "unknown packing": "unknown content encoding",
    "an error as success": "an error with status 200",
    "late": "delayed",
    "drip": "whole but in small pieces",
    "half": "half a body",
    "cut off": "cut off in the body",
    "dropped": "connection dropped",
    "dropped after the head": "connection dropped after the headers",
    "trickle": "spaces until the timeout",
    "slow": "nothing until the timeout",
    "endless": "an endless body",
    "empty": "an empty body",
    "wrong type": "a wrong content type",
    "nested deeply": "deeply nested JSON",
}
LISTING = ("500", "429", "dropped", "cut off", "not JSON")


@dataclass(frozen=True, slots=True)
class Stage:
    """What all trials share: the data, the proxy before a served model, and the undisturbed run."""

    data: Path
    proxy: Proxy
    questions: int
    content: str  # of the undisturbed run


@cache
def stage() -> Stage:
    held = ExitStack()
    atexit.register(held.close)
    folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="calls-stage-")))
    data = toy_dataset(folder / "data", IMAGES, QUESTIONS)
    words = ("serve", "--model", "oracle", "--port", "0", "--idle", "600", "--json")
    served = subprocess.Popen(
        [sys.executable, "-m", "shiftscope", *words, "--data", str(data.folder)], stdout=subprocess.PIPE, text=True
    )
    held.callback(served.wait, 20)
    held.callback(served.terminate)
    assert served.stdout is not None
    url = json.loads(served.stdout.readline())["url"]
    proxy = held.enter_context(Proxy(url, slow=2 * TIMEOUT))
    run = start(proxy.url, data.folder, folder, in_flight=16)
    _, complaint = run.communicate(timeout=LONGEST)
    assert run.returncode == 0, complaint
    return Stage(data.folder, proxy, data.count("test")[1], compute_run_content_id(folder / "run"))


def start(url: str, data: Path, folder: Path, in_flight: int) -> subprocess.Popen[str]:
    words = ["run", "--model", f"openai:oracle@{url}", "--data", str(data), "--out", str(folder / "run")]
    words += ["--cache", str(folder / "cache"), "--timeout", str(TIMEOUT), "--in-flight", str(in_flight)]
    return subprocess.Popen(
        [sys.executable, "-c", FAST, *words, "--retries", "12", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENAI_API_KEY": KEY},
        preexec_fn=_hear_interrupts,
    )


def _hear_interrupts() -> None:
    """As in a terminal, where the campaign is a background job that ignores them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def attack(random: np.random.Generator, folder: Path) -> Trial:
    on = stage()
    stop = STOPS[int(random.integers(len(STOPS)))]
    in_flight = int(random.integers(4, 65))
    choose = plan(random, whole=stop != "none")
    half = int(random.integers(5, on.questions // 2))
    on.proxy.reset(faults=choose, hold_after=None if stop == "none" else half)
    on.proxy.listing_faults = listing(random)
    faults = []
    if stop != "none":
        faults += interrupt(on, folder, in_flight, stop, half)
    faults += complete(on, folder, in_flight)
    faults = faults or compare(on, folder)
    if faults:
        folder.joinpath("met.json").write_text(json.dumps(on.proxy.met, indent=1))
    count = on.proxy.met.total()
    what = f"a run {STOPPED[stop]} at {in_flight} calls at once"
    return Trial(NAME, 0, what, count, "; ".join(faults), {k: float(v) for k, v in on.proxy.met.items()})


STOPPED = {
    "none": "that nothing stopped",
    "SIGKILL": "killed and resumed",
    "SIGINT": "interrupted and resumed",
    "SIGTERM": "terminated and resumed",
    "401": "whose key was refused, resumed",
}


def judge(trials: list[Trial]) -> list[str]:
    """Every fault is met, once there were enough calls for it."""
    if sum(t.count for t in trials) < TARGET:
        return []
    met = {name for trial in trials for name in trial.figures}
    lacking = [fault for fault in (*FAULTS, *REFUSED, *ODD) if fault not in met]
    return [f"no call met {', '.join(lacking)}"] if lacking else []


def describe(trials: list[Trial]) -> str:
    met: Counter[str] = Counter()
    for trial in trials:
        met.update({name: int(count) for name, count in trial.figures.items()})
    counts = ", ".join(f"{LABELS.get(name, name)} ({count:,})" for name, count in met.most_common())
    return f"Faults injected, and how often: {counts}."


def plan(random: np.random.Generator, whole: bool) -> Choose:
    """What each call meets: up to four faults, drawn from what it asks, so that it meets them again.

    Where a run is stopped, none says another fingerprint: what was said with the first would not be trusted.
    """
    seed = int(random.integers(1 << 62))
    likely = float(random.uniform(0.6, 0.95))
    names = [f for f in (*FAULTS, *REFUSED, *ODD) if not (whole and f == "another fingerprint")]
    share = np.array([0.1 if f in RARE else 1.0 for f in names])

    def choose(key: str, number: int, attempt: int) -> str:
        drawn = derive("fault", seed, key, attempt)
        if attempt >= 4 or drawn.random() > likely:
            return ""
        return str(drawn.choice(names, p=share / share.sum()))

    return choose


def listing(random: np.random.Generator) -> list[str]:
    """The first look at what the server says of itself may fail, and some of the later ones."""
    drawn = [str(random.choice(LISTING)) if random.random() < 0.3 else "" for _ in range(12)]
    return [drawn[0], "", "", "", *drawn[1:]]


def interrupt(on: Stage, folder: Path, in_flight: int, stop: str, kept: int) -> list[str]:
    """Stop a run once so many replies are kept and no other is under way."""
    process = start(on.proxy.url, on.data, folder, in_flight)
    reached = wait_for(lambda: remembered(folder / "cache") >= kept or process.poll() is not None)
    if process.poll() is None and stop.startswith("SIG"):
        process.send_signal(getattr(signal, stop))
    elif stop == "401":
        on.proxy.release("401")
    told = read_out(process)
    if told is None:
        return [f"{stop} does not end a run"]
    said, complaint = told
    on.proxy.release()
    if not reached:
        return [f"only {remembered(folder / 'cache')} of {kept} replies came: {complaint}"]
    expected = {"SIGKILL": -9, "SIGINT": 130, "SIGTERM": 143, "401": 2}[stop]
    if process.returncode not in (expected, -15 if stop == "SIGTERM" else expected):
        return [f"{stop} ends a run with {process.returncode}: {complaint}"]
    return blame(said, complaint)


def complete(on: Stage, folder: Path, in_flight: int) -> list[str]:
    """Run until nothing is left that failed: what is refused for good is asked again by the next run."""
    for _ in range(6):
        process = start(on.proxy.url, on.data, folder, in_flight)
        told = read_out(process)
        if told is None:
            return [f"a run does not end within {LONGEST:g} s"]
        said, complaint = told
        if process.returncode:
            return [f"a run ends with {process.returncode}: {complaint}"]
        faults = blame(said, complaint)
        if faults or not json.loads(said.splitlines()[-1])["conditions"][0]["failed"]:
            return faults
    return ["calls fail that meet no fault any more"]


def read_out(process: subprocess.Popen[str]) -> tuple[str, str] | None:
    """What a run prints and complains of, once it has ended; None where it does not, and is killed."""
    try:
        return process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None


def blame(said: str, complaint: str) -> list[str]:
    """What a user must never read."""
    faults = []
    if "Traceback" in complaint or "Error:" in complaint:
        faults.append(f"a traceback: {complaint[-2000:]}")
    if KEY in said + complaint:
        faults.append("the key is shown")
    return faults


def compare(on: Stage, folder: Path) -> list[str]:
    faults = []
    if compute_run_content_id(folder / "run") != on.content:
        faults.append("the answers differ from those of the undisturbed run")
    if not read_run(folder / "run").finished:
        faults.append("the run is not finished")
    twice = sum(1 for n in on.proxy.delivered.values() if n > 1)
    if twice:
        faults.append(f"{twice} replies that came whole were asked for again")
    if len(on.proxy.delivered) != on.questions:
        faults.append(f"{len(on.proxy.delivered)} of {on.questions} questions were answered")
    files = [p for p in folder.rglob("*") if p.is_file()]
    faults += [f"the key stands in {p.name}" for p in files if KEY.encode() in p.read_bytes()]
    return faults


def remembered(cache: Path) -> int:
    if not (cache / REPLIES).exists():
        return 0
    memory = DiskResponseCache(cache)
    try:
        return len(memory)
    finally:
        memory.close()


def wait_for(condition: Callable[[], bool], seconds: float = LONGEST) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
