"""Contrast sets: a question's quantifier or one of its objects replaced, the answer found anew by execution.

After Zhu et al. (2022), section 4 and Tables 2 and 3. *Quantifiers*: questions over several images, with
other words of the same meaning (at least → no less than) or of the opposite one (at least → less than). The text says
"fewer" of what is counted and "not all of the" for *either none or only some*; nobody says "fewer than 1". Where it
says "some of the", *no* is "not one of the", so that it differs from "none of the".
*Objects*: questions about one image, with another object's name such that the answer changes (after Bitton et
al., 2021). A variant's answer is what its program gives on its images; where that is not what the change
should make of the original's answer, the variant is dropped, and counted.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...answer import Answer, spell
from ...english.inflection import third_person
from ...english.relations import STATES
from ...errors import unknown
from ...lang.exec.exact import Undefined
from ...lang.program import Program, node
from ...question import Question
from ...scene_graph.wordnet import SHIPPED, load_wordnet
from ...shift.held_out import facts
from .. import generalization as frame
from ._object_substitution import ANOTHER_OBJECT, ObjectSubstitution, match_case

NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
IMAGE = r"(?=(?:\s+of\s+the)?\s+(?:images?|pictures?|photos?|photographs?)\b)"
NOT_IMAGE = IMAGE.replace("(?=", "(?!", 1)
OPENING = {"no": "none", "some": "some", "all": "all"}  # the word → the op
_CLAUSE = re.compile(r"\b(that|which|who|and|or)\s+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QuantifierChange:
    """One row of the table: in questions of which kind, from which words to which."""

    kind: str
    before: str
    after: str
    alters: bool
    phrase: str = ""  # the words in the text, where they are not `after`
    of_the: str = ""  # the words for "some of the", where these are others again

    @property
    def level(self) -> str:
        """What the row is called; no → some and some → no are one row."""
        return "no ↔ some" if {self.before, self.after} == {"no", "some"} else f"{self.before} → {self.after}"

    @property
    def slug(self) -> str:
        return f"{self.before} to {self.after}".replace(" ", "_")

    def applies_to(self, shape: facts.QuestionShape) -> bool:
        """Whether a question of this shape has the quantifier, by its program."""
        wanted = OPENING.get(self.before, "at_least")
        return shape.kind == self.kind and shape.test == wanted

    def change_text(self, text: str, shape: facts.QuestionShape) -> str | None:
        """The text with the other words; None where the words to change do not stand in it exactly once."""
        phrase = r"\s+".join(self.before.split())
        pattern = rf"\b({'none' if self.before == 'no' else phrase} of the|{phrase})\b"
        if self.before == "at least":  # with the number itself behind it
            number = shape.number
            assert number is not None
            spelled = f"{number}|{NUMBERS[number]}" if number < len(NUMBERS) else str(number)
            ahead = {facts.COUNT_GROUP_BY: NOT_IMAGE, facts.VERIFY_COUNT_GROUP_BY: IMAGE}.get(shape.kind, "")
            pattern = rf"\b({phrase})\s+(?:{spelled})\b{ahead}"
        found = list(re.finditer(pattern, text, re.IGNORECASE))
        if len(found) != 1:
            return None
        start, end = found[0].span(1)
        words = (text[start:end].lower().endswith(" of the") and self.of_the) or self.phrase or self.after
        made = f"{text[:start]}{match_case(words, text[start:end])}{text[end:]}"
        return _make_singular(made) if words.endswith(" one of the") else made

    def change_program(self, program: Program) -> Program:
        """What the changed question means."""
        root = program.root
        rest = program.nodes[:-1]
        match self.before, self.after:
            case "at least", "less than":
                return Program((*rest, node("less", root.inputs)))
            case ("no", _) | ("some", _):
                return Program((*rest, node("some" if self.before == "no" else "none", root.inputs)))
            case "all", _:
                return Program((*program.nodes, node("not", (len(rest),))))
        return program


CHANGES = (
    QuantifierChange(facts.COUNT_GROUP_BY, "at least", "no less than", alters=False, phrase="no fewer than"),
    QuantifierChange(facts.VERIFY_COUNT, "at least", "no less than", alters=False, phrase="no fewer than"),
    QuantifierChange(facts.VERIFY_COUNT, "at least", "less than", alters=True, phrase="fewer than"),
    QuantifierChange(facts.VERIFY_COUNT_GROUP_BY, "at least", "no less than", alters=False, phrase="no fewer than"),
    QuantifierChange(facts.VERIFY_COUNT_GROUP_BY, "at least", "less than", alters=True, phrase="fewer than"),
    QuantifierChange(facts.VERIFY_QUANT, "no", "some", alters=True, of_the="some of the"),
    QuantifierChange(facts.VERIFY_QUANT, "some", "no", alters=True, of_the="not one of the"),
    QuantifierChange(facts.VERIFY_QUANT, "no", "at least one", alters=True, phrase="at least one of the"),
    QuantifierChange(facts.VERIFY_QUANT, "some", "none of the", alters=True),
    QuantifierChange(facts.VERIFY_QUANT, "all", "either none or only some", alters=True, phrase="not all of the"),
)


def _make_singular(text: str) -> str:
    """With the main verb in the singular, for "at least one of the …"; as it is where none is clearly it."""
    for words in (("are", "have"), STATES):  # a line is no verb where there is one of the first
        found = re.finditer(rf"\b({'|'.join(sorted(words))})\b", text, re.IGNORECASE)
        if verbs := [verb for verb in found if not _CLAUSE.search(text[: verb.start()])]:
            break
    if len(verbs) != 1:
        return text
    (verb,) = verbs
    word = verb[0].lower()
    phrase = "is" if word == "are" else third_person(word)
    return f"{text[: verb.start()]}{match_case(phrase, verb[0])}{text[verb.end() :]}"


APPLIES = (
    "it needs questions with programs and scenes, over several images with at least, no, some or all, or "
    "about one image with an object's name that can be replaced"
)
NAME = "contrast"
ONE_IMAGE = "one image"  # the kind of questions whose objects are replaced
SETS = ("quantifiers", "objects")
KEPT_NOTES = ("nodes", "size", "depth", "structure")  # true of the variant as well
NO_QUANTIFIER = "no quantifier of the table"
UNSAID = "it has no quantifier, as in how many images contain a dog"
NOT_ONCE = "the quantifier's words do not stand in the text exactly once"
OF_ONE = "fewer than 1 is none, and nobody says no fewer than 1"
OVER_NOTHING = "the quantifier ranges over nothing"
DISAGREES = "execution does not give the answer that the change should"
NO_PROGRAM = "no program"
OPPOSITE = {"yes": "no", "no": "yes"}
FIGURES = {  # of the metric → as the table calls them
    "contrast_accuracy": "accuracy",
    "original_accuracy": "original",
    "contrast_drop": "drop",
    "local_coherency": "local_coherency",
    "consistency": "consistency",
}
OVERALL = {k: v for k, v in FIGURES.items() if k != "local_coherency"}  # some answers change, others do not


@dataclass(frozen=True, slots=True)
class ContrastOptions(frame.GeneralizationOptions):
    """Which sets are made; `seed` draws the objects that stand in for others."""

    sets: tuple[str, ...] = frame.option(SETS, "quantifiers or objects; both by default; may be repeated.", "set")
    seed: int = frame.draw_option()
    wordnet: str = frame.option("", "Folder of a WordNet of your own, which tells objects' names apart.")

    def __post_init__(self) -> None:
        for name in self.sets:
            if name not in SETS:
                raise unknown("contrast set", name, SETS)


def plan(data: frame.SourceSplit, options: ContrastOptions) -> frame.GeneralizationPlan:
    """The questions that have variants, each followed by them."""
    wordnet = Path(options.wordnet) if options.wordnet else SHIPPED
    if options.wordnet:
        load_wordnet(wordnet)  # refused before anything is made
    objects = ObjectSubstitution(data, options.seed, wordnet) if "objects" in options.sets else None

    def build(question: Question, why: Counter[str]) -> list[Question]:
        variants = list(_iter_variants(question, data, options, objects, why))
        return [question, *variants] if variants else []

    questions, plan = frame.collect_questions(NAME, APPLIES, data, build)
    test_set = frame.GeneralizationTestSet(NAME, data.folder, tuple(questions))
    return replace(plan, test_sets=(test_set,)) if questions else plan


def _iter_variants(
    question: Question,
    data: frame.SourceSplit,
    options: ContrastOptions,
    objects: ObjectSubstitution | None,
    why: Counter[str],
) -> Iterator[Question]:
    """What can be made of a question; what cannot is counted in `why`."""
    if question.program is None or question.answer is None:
        why[NO_PROGRAM] += 1
        return
    shape = facts.find_shape(question.program)
    changes = [c for c in CHANGES if shape and c.applies_to(shape)] if "quantifiers" in options.sets else []
    objects = objects if len(question.scenes) == 1 and not question.action else None
    if not changes and objects is None:
        why[NO_QUANTIFIER] += 1
        return
    if not data.is_answer_right(question):
        why[frame.WRONG_ANSWER] += 1
        return
    for change in changes:
        assert shape is not None
        variant = _change_quantifier(question, change, shape, data)
        if isinstance(variant, str):
            why[f"{change.kind}, {change.level}: {variant}"] += 1
        else:
            yield _build_variant(question, change.slug, change.level, *variant)
    if objects is not None:
        variant = objects.substitute(question)
        if isinstance(variant, str):
            why[f"{ANOTHER_OBJECT}: {variant}"] += 1
        else:
            yield _build_variant(question, "another_object", ANOTHER_OBJECT, *variant)


def _change_quantifier(
    question: Question, change: QuantifierChange, shape: facts.QuestionShape, data: frame.SourceSplit
) -> tuple[str, Program, Answer] | str:
    """Text, program and answer with the quantifier changed; or why that cannot be."""
    assert question.program is not None and question.answer is not None
    text = change.change_text(question.text, shape)
    if text is None:
        return UNSAID if shape.kind == facts.COUNT_GROUP_BY and shape.keep < 0 else NOT_ONCE
    if change.before == "at least" and shape.number == 1:
        return OF_ONE
    if change.before == "all" and not data.answer(
        facts.truncate_program(question.program, shape.counted), question.scenes
    ):
        return OVER_NOTHING  # all of nothing are so, and none of it
    program = change.change_program(question.program)
    answer = data.answer(program, question.scenes)
    before = spell(question.answer)
    if isinstance(answer, Undefined) or spell(answer) != (OPPOSITE.get(before) if change.alters else before):
        return DISAGREES
    return text, program, answer


def _build_variant(question: Question, slug: str, level: str, text: str, program: Program, answer: Answer) -> Question:
    kept = tuple((key, value) for key, value in question.notes if key in KEPT_NOTES)
    return replace(
        question,
        id=f"{question.id}+{slug}",
        text=text,
        program=program,
        answer=_spell_like(answer, question.answer),
        answers=(),
        notes=(*kept, ("twin", question.id), ("factor", NAME), ("level", level)),
    )


def _spell_like(answer: Answer, like: Answer | None) -> Answer:
    """As the original's answer is: official files have True where others have yes."""
    if not isinstance(like, str):
        return answer
    if isinstance(answer, bool) and like.lower() in ("true", "false"):
        return str(answer).lower() if like.islower() else str(answer)
    return spell(answer)


def _list_rows() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The rows of the paper's Table 3 in its order, and the objects' at the end.

    Each is of questions of one kind: what was changed, and the levels of its variants. A row whose change is none of
    these levels is of their originals.
    """
    for kind in dict.fromkeys(c.kind for c in CHANGES if c.kind != facts.VERIFY_QUANT):
        levels = tuple(c.level for c in CHANGES if c.kind == kind)
        yield kind, "at least → at least", levels
        yield from ((kind, level, (level,)) for level in levels)
    yield facts.VERIFY_QUANT, "no → no, some → some", ("no ↔ some",)
    for level in dict.fromkeys(c.level for c in CHANGES if c.kind == facts.VERIFY_QUANT):
        before = level.partition(" → ")[0]
        if before != level:
            yield facts.VERIFY_QUANT, f"{before} → {before}", (level,)
        yield facts.VERIFY_QUANT, level, (level,)
    yield ONE_IMAGE, "as asked", (ANOTHER_OBJECT,)
    yield ONE_IMAGE, ANOTHER_OBJECT, (ANOTHER_OBJECT,)


def pair_questions(questions: Sequence[Question]) -> list[frame.PairedQuestion]:
    """Every variant with its original; rows of originals count each of them once, with its first variant."""
    by_id = {q.id: q for q in questions}
    pairs, counted = [], set()
    for variant in questions:
        twin = variant.note("twin")
        if twin is None:
            continue
        original = by_id[str(twin)]
        level, shape = variant.note("level"), _find_kind(original)
        rows = []
        for kind, change, levels in _list_rows():
            if level not in levels or (kind != ONE_IMAGE and kind != shape):
                continue
            name = name_row(kind, change)
            if change in levels or (name, twin) not in counted:
                rows.append(name)
                counted.add((name, twin))
        pairs.append(frame.PairedQuestion(original, (variant,), tuple(rows)))
    return pairs


def name_row(kind: str, change: str) -> str:
    return f"{kind}: {change}"


def _find_kind(question: Question) -> str:
    shape = facts.find_shape(question.program)
    return shape.kind if shape else ""


def findings(plan: frame.GeneralizationPlan, runs: frame.TestRuns, options: ContrastOptions) -> frame.Findings:
    """Accuracy on originals and variants, the paired drop, how often the answer stays; then over all."""
    records, questions = runs[NAME].log.records, runs[NAME].test_set.questions or ()
    twins = {q.id: str(q.note("twin")) for q in questions if q.note("twin") is not None}
    kinds = {q.id: shape.kind for q in questions if q.id not in twins and (shape := facts.find_shape(q.program))}
    levels = {q.id: q.note("level") for q in questions}
    lines = []
    for kind, change, of_levels in _list_rows():
        variants = {
            variant: twin
            for variant, twin in twins.items()
            if levels[variant] in of_levels and (kind == ONE_IMAGE or kinds.get(twin) == kind)
        }
        of = (("template", kind), ("change", change))
        if variants and change not in of_levels:
            lines.append(
                frame.FindingsRow((*of, ("answer", "")), (frame.measure_originals(records, set(variants.values())),))
            )
        elif variants:
            flips = kind == ONE_IMAGE or any(c.alters for c in CHANGES if c.level == change)
            answer = ("answer", "changed" if flips else "same")
            lines.append(frame.FindingsRow((*of, answer), frame.measure_pairs(records, variants, FIGURES)))
    of_all = (("template", "all"), ("change", "all of a question's variants"), ("answer", ""))
    lines.append(frame.FindingsRow(of_all, frame.measure_pairs(records, twins, OVERALL)))
    return frame.Findings(tuple(lines))


OPTIONS = ContrastOptions
