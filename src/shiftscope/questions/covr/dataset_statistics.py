"""Statistics of questions over several images: those of COVR's Table 3 and Figures 4 to 6.

Bogin et al., COVR, 2021. Numbers in a program are no words: "exactly 2 dogs" and "exactly 3 cats" are two
anonymised programs.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...answer import spell
from ...lang.notations import covr
from ...question import Question
from ...records import canonical_json
from .balance import GENERATED

OPERATIONS = ("find", "filter", "with_relation")
KINDS = ("true/false", "or", "how many", "open")
TOP = 30  # answers that Figure 4 shows
TRUTHS = ("yes", "no")


@dataclass(slots=True)
class CovrStatistics:
    """One split in numbers."""

    split: str
    questions: int = 0
    words: int = 0  # of all texts as generated, between blanks
    paraphrased_words: int = 0
    paraphrased: int = 0  # questions that have a paraphrase
    shown: int = 0  # images, once per question
    answers_of: dict[str, set[str]] = field(default_factory=dict)  # text → its answers
    times: Counter[str] = field(default_factory=Counter)  # text → questions
    images: set[str] = field(default_factory=set)
    programs: Counter[str] = field(default_factory=Counter)  # anonymised
    kinds: Counter[str] = field(default_factory=Counter)
    templates: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    images_each: Counter[int] = field(default_factory=Counter)
    operations: dict[str, Counter[int]] = field(default_factory=dict)  # → times in a question
    structures: Counter[tuple[int, int]] = field(default_factory=Counter)  # size and depth of subgraphs

    def add(self, question: Question) -> None:
        text, answer = question.text, "" if question.answer is None else spell(question.answer)
        self.questions += 1
        self.words += len((question.note(GENERATED) or text).split())
        self.shown += len(question.scenes)
        self.answers_of.setdefault(text, set()).add(answer)
        self.times[text] += 1
        self.images.update(question.scenes)
        self.kinds[question.kind] += 1
        self.templates[question.provenance.template] += 1
        self.answers[answer] += 1
        self.images_each[len(question.scenes)] += 1
        if (size := question.note("size")) is not None:
            self.structures[int(size), int(question.note("depth", 0))] += 1
        if rewording := question.note("paraphrase") or (question.note(GENERATED) and text):
            self.paraphrased += 1
            self.paraphrased_words += len(rewording.split())
        if question.program is not None:
            rows = covr.write(question.program)
            self.programs[anonymise_program(rows)] += 1
            found = Counter(_list_operations(rows))
            for name in OPERATIONS:
                self.operations.setdefault(name, Counter())[found[name]] += 1

    def table(self) -> dict[str, int | float]:
        """Table 3."""
        return {
            "questions": self.questions,
            "unique questions": len(self.times),
            "with several answers": sum(n for text, n in self.times.items() if len(self.answers_of[text]) > 1),
            "unique answers": len(self.answers),
            "unique images": len(self.images),
            "anonymised programs": len(self.programs),
            **{kind: self.kinds[kind] for kind in (*KINDS, *sorted(self.kinds.keys() - set(KINDS)))},
            "words a question": _mean(self.words, self.questions),
            "words a paraphrase": _mean(self.paraphrased_words, self.paraphrased),
            "images a question": _mean(self.shown, self.questions),
        }

    def top_answers(self) -> list[tuple[str, int]]:
        """Figure 4: the commonest answers that are neither yes nor no."""
        found = [(answer, n) for answer, n in self.answers.items() if answer not in TRUTHS]
        return sorted(found, key=lambda item: (-item[1], item[0]))[:TOP]

    def to_json(self) -> dict[str, Any]:
        return {
            **{name.replace(" ", "_").replace("/", "_"): n for name, n in self.table().items()},
            "templates": dict(sorted(self.templates.items())),
            "truths": {answer: self.answers[answer] for answer in TRUTHS},
            "top_answers": dict(self.top_answers()),
            "images_a_question": {str(k): n for k, n in sorted(self.images_each.items())},
            "operations": {
                name: {str(k): n for k, n in sorted(found.items())} for name, found in self.operations.items()
            },
            "structures": {f"{size} nodes, depth {depth}": n for (size, depth), n in sorted(self.structures.items())},
        }


def compute_covr_statistics(split: str, questions: Iterable[Question]) -> CovrStatistics:
    found = CovrStatistics(split)
    for question in questions:
        found.add(question)
    return found


def format_statistics(
    found: Sequence[CovrStatistics], candidates: Mapping[str, Mapping[str, int]] | None = None
) -> str:
    """All of it as Markdown; `candidates` says how many candidates of each template a split had."""
    rule = "|---" + "|---:" * len(found) + "|"
    lines = ["## Statistics", "", _format_row("", *(f.split for f in found)), rule]
    tables = [f.table() for f in found]
    for name in tables[0]:
        values = [table[name] for table in tables]
        cells = [f"{value:,}" if isinstance(value, int) else f"{value:.1f}" for value in values]
        lines.append(_format_row(name.replace(" a ", " per "), *cells))
    lines += [
        "",
        "As in COVR's Table 3. *With several answers* are questions whose words are asked again of other "
        "images with another answer; *anonymised programs* are those left when words are blanked; *words per "
        "question* are those of its own text, also where its paraphrase is asked.",
        "",
        "### Templates",
        "",
    ]
    lines += [_format_row("template", *(f"{f.split}{', of' if candidates else ''}" for f in found)), rule]
    for name in list_template_names(found, candidates):
        cells = []
        for f in found:
            of = f" of {candidates.get(f.split, {}).get(name, 0):,}" if candidates else ""
            cells.append(f"{f.templates[name]:,}{of}")
        lines.append(_format_row(name, *cells))
    lines += ["", "### Answers", ""]
    for f in found:
        truths = ", ".join(f"{answer} {f.answers[answer]:,}" for answer in TRUTHS)
        lines.append(f"- {f.split}: {truths}; {_format_shares(f.top_answers(), f.questions)}")
    lines += ["", "### Images per question", ""]
    lines += [f"- {f.split}: {_format_shares(sorted(f.images_each.items()), f.questions)}" for f in found]
    lines += ["", "### Operations per question", ""]
    for name in OPERATIONS:
        for f in found:
            counts = sorted(f.operations.get(name, Counter()).items())
            lines.append(f"- `{name}`, {f.split}: {_format_shares(counts, f.questions)}")
    return "\n".join(lines)


def list_template_names(
    found: Sequence[CovrStatistics], candidates: Mapping[str, Mapping[str, int]] | None
) -> list[str]:
    """Every template that has questions or candidates."""
    names = {name for f in found for name in f.templates}
    return sorted(names.union(*(counts for counts in (candidates or {}).values())))


def _list_operations(rows: Sequence[Any], inner: bool = False) -> Iterable[str]:
    """The operations of rows and of the sub-programs in them; things filtered from all there are, are found.

    The first row of a sub-program stands for the things it is about, not for all.
    """
    everything = [k for k, row in enumerate(rows) if row["operation"] == "scene" and not (inner and k == 0)]
    for row in rows:
        found = row["operation"] == "filter" and row["dependencies"][0] in everything
        yield "find" if found else row["operation"]
        for word in row.get("arguments", ()):
            if isinstance(word, list):
                yield from _list_operations([one for one in word if isinstance(one, dict)], inner=True)


def anonymise_program(rows: Iterable[Any]) -> str:
    """The rows of a program in COVR's own operations with every noun, attribute and relation blanked."""

    def blank(part: Any) -> Any:
        if isinstance(part, dict):
            words = [blank(word) for word in part.get("arguments", ())]
            return [part["operation"], words, part.get("dependencies", [])]
        if isinstance(part, list):  # a sub-program, or two words to choose from
            return [blank(one) for one in part]
        return "_" if isinstance(part, str) else part

    return canonical_json([blank(row) for row in rows])


def _mean(total: int, count: int) -> float:
    return round(total / count, 2) if count else 0.0


def _format_shares(counts: Iterable[tuple[Any, int]], total: int) -> str:
    return ", ".join(f"{name} {n / max(total, 1):.1%}" for name, n in counts)


def _format_row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
