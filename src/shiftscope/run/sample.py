"""Sample: which questions of a split a run was to be asked, where it was declared not to be all."""

from __future__ import annotations

from ..result import RunLog


def sample_of(log: RunLog) -> str:
    """In words, as in `the first 200 of 5,000 questions`; nothing where all were asked.

    What is in the sample and has no reply counts as wrong; what is not in it was never to be asked.
    """
    spec = dict(log.spec)
    if log.questions is None or (log.population is not None and log.questions >= log.population):
        return ""
    part, limit = spec.get("part"), spec.get("limit")
    of = f" of {log.population:,}" if log.population is not None else ""
    if isinstance(part, dict):
        first = f"the first {log.questions:,} " if limit and limit < int(part.get("questions", 0)) else ""
        return f"{first}{'of ' if first else ''}{part.get('name')} ({log.questions:,}{of} questions)"
    return f"the first {log.questions:,}{of} questions" if limit else ""
