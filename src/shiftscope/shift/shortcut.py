"""Shortcut: concepts tied to answers in train, and not in the OOD test.

A tie says that of the questions with a concept (a question type, a word, a kind of object in the image, or several of
these) that could be answered so, a chosen share has one answer. Of every scene several times as many questions are
generated as are wanted, and those are chosen with which the ties hold; no scene, question or answer is altered, and
every image and every template keeps its number of questions. Train, val and (IID) test are biased alike; a further
split, `ood_test`, is as the world is without ties (`balanced`), or makes tied answers as rare as the others are in
train (`inverted`). docs/decisions/050.

For example, `question_type:0.6,key_object=sedan>yes:0.8`: every question type has an answer that 60% of its questions
have; and of the yes/no questions about images with a bus, 80% are answered yes. `shortcuts/tied_answers.py` finds both
in the data.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..answer import spell
from ..errors import UserError, unknown
from ..kernels import exact
from ..question import Question
from ..question_table import object_kind
from ..questions.clevr.template import TemplateSet
from ..rng import derive, seed_of
from ..scene import Scene
from ..schema import Schema
from ..shortcuts.concepts import KO, KOP, KW, KWP, QT, SHORTCUTS
from ..shortcuts.tied_answers import OOD_TEST, AnswerTie
from ..shortcuts.tokens import tokenize

POOLS = 10  # times as many questions are generated as are kept
ROUNDS = 300  # of the fitting
CLOSE = 0.03  # within which a share must come of its strength
OOD_WAYS = ("balanced", "inverted")
LONG_NAMES = {"question_type": QT, "keyword": KW, "key_object": KO, "keyword_pair": KWP, "key_object_pair": KOP}
LEAST_EFFECT = 0.05  # above an even share that a strength must be, to tie anything
MOST_ANSWERS = 12  # of an answer space that is tied unless named: a scene shows few of many shapes
TIED_NUMBERS = ("0", "1", "2")  # that scenes can give often
_PLANT = re.compile(r"(?P<names>[A-Za-z_+]+)(?:=(?P<values>[^>:]+))?(?:>(?P<answer>[^:]+))?:(?P<strength>[0-9.]+)")
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class TieVocabulary:
    """What can be tied: question types with the answers each may have, words, and kinds of objects."""

    spaces: Mapping[str, tuple[str, ...]]  # by type; types with the same answers form one answer space
    words: tuple[str, ...]  # that are tied unless others are named
    kinds: tuple[str, ...]


def read_vocabulary(schema: Schema, sets: Sequence[TemplateSet]) -> TieVocabulary:
    """Of the questions that templates ask about scenes; types that ask for a part's name are not tied."""
    spaces: dict[str, tuple[str, ...]] = {}
    for template in (t for one in sets for t in one.templates):
        last = template.nodes[-1].meaning
        kind = last.tail or template.nodes[-1].function
        values = {a.name: a.values for a in schema.attributes}.get(kind.rpartition("query_")[2])
        if last.op == "query":
            if values:
                spaces[kind] = values
        elif "count" in (last.op, last.tail):
            spaces[kind] = tuple(map(str, range(11)))
        else:
            spaces[kind] = (spell(True), spell(False))
    return TieVocabulary(
        dict(sorted(spaces.items())), schema.attribute("color").values, schema.attribute("shape").values
    )


def plan_ties(text: str, vocabulary: TieVocabulary, seed: int = 0) -> tuple[AnswerTie, ...]:
    """The ties that a text such as `question_type:0.6,keyword=red>yes:0.8` asks for.

    Where no concept is named, shortcuts of the question type tie every type, others one concept in every answer space;
    where no answer is, one is drawn. A concept is left out where the strength is hardly above an even share.
    """
    ties: dict[AnswerTie, AnswerTie] = {}
    for number, plant in enumerate(text.split(",")):
        found = _PLANT.fullmatch(plant.strip())
        if found is None:
            raise UserError(
                f"shortcut {plant.strip()!r} is not of the form CONCEPT:STRENGTH or CONCEPT=VALUE>ANSWER:STRENGTH, "
                "as in question_type:0.6 or key_object=sedan>yes:0.8"
            )
        parts = _read_names(found["names"])
        strength = _read_strength(found["strength"])
        path = "shortcut", seed, number
        for tie in _list_ties(parts, found["values"], found["answer"], vocabulary, path, tuple(ties.values())):
            if found["values"] is None and strength < 1 / count_answers(tie.answer, vocabulary) + LEAST_EFFECT:
                continue  # a yes/no question is answered so half of the time anyway
            if tie.plain in ties:
                raise UserError(f"{tie.concept} is tied to {tie.answer} twice")
            ties[tie.plain] = replace(tie, strength=strength)
    return tuple(ties.values())


def _read_names(text: str) -> list[str]:
    """The parts of a concept, in the order of the text: QT, KW or KO each."""
    names = [LONG_NAMES.get(name, name) for name in text.split("+")]
    order = [*LONG_NAMES.values()]
    if not set(names) <= set(order) or "+".join(sorted(names, key=order.index)) not in SHORTCUTS:
        raise unknown("shortcut", text, [*LONG_NAMES, *SHORTCUTS])
    return "+".join(names).replace(KWP, f"{KW}+{KW}").replace(KOP, f"{KO}+{KO}").split("+")


def _read_strength(text: str) -> float:
    try:
        strength = float(text)
    except ValueError:
        strength = -1.0
    if not 0 < strength < 1:
        raise UserError(f"a shortcut's strength is a share between 0 and 1, not {text}")
    return strength


def _list_ties(
    parts: Sequence[str],
    values: str | None,
    answer: str | None,
    vocabulary: TieVocabulary,
    path: tuple[Any, ...],
    before: Sequence[AnswerTie],
) -> list[AnswerTie]:
    known = {QT: tuple(vocabulary.spaces), KO: vocabulary.kinds}
    if values is not None:
        named = [value.strip() for value in values.split("+")]
        if len(named) != len(parts):
            raise UserError(f"{'+'.join(parts)} is named by {len(parts)} values joined by +, not {values!r}")
        for part, value in zip(parts, named, strict=True):
            if part in known and value not in known[part]:
                raise unknown({QT: "question type", KO: "kind of object"}[part], value, known[part])
            if part == KW and tokenize(value) != [value]:
                raise UserError(f"a keyword is one word in lower case, not {value!r}")
        concepts = [named]
    else:
        words, kinds = (
            derive(*path, name).permutation(list(many))
            for name, many in ((KW, vocabulary.words), (KO, vocabulary.kinds))
        )
        small = {t: space for t, space in vocabulary.spaces.items() if len(space) <= MOST_ANSWERS}
        one_each = {space: t for t, space in reversed(small.items())}
        first = list(small if QT in parts else reversed(one_each.values()))
        concepts = []
        for place, kind in enumerate(first):
            own = {QT: iter([kind]), KW: _turn(words, place, parts), KO: _turn(kinds, place, parts)}
            concepts.append([str(next(own[part])) for part in parts])
    made: list[AnswerTie] = []
    for place, concept in enumerate(concepts):
        named_type = concept[parts.index(QT)] if QT in parts else ""
        if values is None:
            space = vocabulary.spaces[first[place]]
        elif named_type:
            space = vocabulary.spaces[named_type]
        else:
            space = next((s for s in vocabulary.spaces.values() if answer in s), (spell(True), spell(False)))
        if answer is not None and answer not in space:
            if values is not None:
                raise unknown("answer", answer, space, named_type or "any question type")
            continue
        others = [tie.answer for tie in (*before, *made) if tie.answer in space]
        chosen = answer or _draw_answer(space, others, (*path, "answer", place))
        mine = list(zip(parts, concept, strict=True))
        made.append(
            AnswerTie(
                named_type,
                tuple(sorted(v for p, v in mine if p == KW)),
                tuple(sorted(v for p, v in mine if p == KO)),
                chosen,
            )
        )
    if not made:
        raise UserError(f"no question type has the answer {answer!r}")
    return made


def _turn(values: Any, place: int, parts: Sequence[str]) -> Any:
    """The values for a place: each takes the next ones, and begins again after the last."""
    many = max(parts.count(KW), parts.count(KO), 1)
    return iter([values[(many * place + k) % len(values)] for k in range(many)])


def _draw_answer(space: tuple[str, ...], taken: Sequence[str], path: tuple[Any, ...]) -> str:
    """One of the answers that fewest ties have, so that ties of one answer space are told apart."""
    likely = [a for a in space if a in TIED_NUMBERS] or list(space)
    drawn = derive(*path).permutation(likely).tolist()
    return str(min(drawn, key=taken.count))


def invert_strength(tie: AnswerTie, vocabulary: TieVocabulary) -> float:
    """What each other answer of the space has in train, if these are even."""
    return (1 - tie.strength) / (count_answers(tie.answer, vocabulary) - 1)


def count_answers(answer: str, vocabulary: TieVocabulary) -> int:
    """How many answers the answer space of an answer has."""
    return next(len(space) for space in vocabulary.spaces.values() if answer in space)


def list_split_ties(
    text: str | None, ood: str, split: str, vocabulary: TieVocabulary, seed: int
) -> tuple[AnswerTie, ...]:
    """The ties that hold in a split: none in a balanced OOD test."""
    if text is None:
        return ()
    ties = plan_ties(text, vocabulary, seed)
    if split != OOD_TEST:
        return ties
    if ood == "balanced":
        return ()
    return tuple(replace(tie, strength=invert_strength(tie, vocabulary)) for tie in ties)


def seed_pool(seed: int, pool: int) -> int:
    """The seed that the questions of a pool are drawn with; the first is what the world asks without ties."""
    return seed if not pool else seed_of("shortcut", seed, pool) >> 66


@dataclass(frozen=True, slots=True)
class PlantedShare:
    """A tie in the questions chosen for a shard: the share that was asked for, and that the candidates allow."""

    tie: AnswerTie
    share: float
    n: float  # questions that have the concept and could be answered so


def choose_questions(
    pools: Sequence[Sequence[Question]],
    scenes: Sequence[Scene],
    ties: Sequence[AnswerTie],
    vocabulary: TieVocabulary,
    path: tuple[str | int, ...],
) -> tuple[list[Question], tuple[PlantedShare, ...]]:
    """As many questions of each scene and each template as the first pool has, with which the ties hold.

    The probability of each candidate is fitted to these counts and to the ties (iterative proportional fitting: of all
    that fit, the one nearest to the world without ties), and every scene's questions are drawn by it. Questions keep
    the ids and numbers of the first pool's, in its order.
    """
    first = list(pools[0])
    candidates = list({(q.scenes, q.text): q for pool in reversed(pools) for q in reversed(pool)}.values())[::-1]
    if not ties or not first:
        return first, ()
    names = {key: k for k, key in enumerate(dict.fromkeys(map(_find_place, first)))}
    candidates = [q for q in candidates if _find_place(q) in names]
    order = sorted(range(len(candidates)), key=lambda k: names[_find_place(candidates[k])])
    order = derive("shortcut", "order", *path).permutation(order).tolist()
    order.sort(key=lambda k: names[_find_place(candidates[k])])
    candidates = [candidates[k] for k in order]
    place = np.array([names[_find_place(q)] for q in candidates], np.int64)
    many = np.bincount([names[_find_place(q)] for q in first], minlength=len(names)).astype(np.int64)
    forms = {key: k for k, key in enumerate(dict.fromkeys(map(_find_form, [*first, *candidates])))}
    form = np.array([forms[_find_form(q)] for q in candidates], np.int64)
    wanted = np.bincount([forms[_find_form(q)] for q in first], minlength=len(forms)).astype(np.float64)
    side = mark_ties(candidates, scenes, ties, vocabulary)
    shares = np.array([tie.strength for tie in ties])
    weight = _fit_weights(place, many, form, wanted, side, shares, ROUNDS)
    starts = derive("shortcut", "draw", *path).random(len(names))
    kept = _draw_by_weight(place, many, weight, starts)
    chosen = [candidates[k] for k in np.flatnonzero(kept).tolist()]
    totals = [(float(weight[side[j] == 1].sum()), float(weight[side[j] > 0].sum())) for j in range(len(ties))]
    reached = tuple(
        PlantedShare(tie, hit / total if total else 0.0, total) for tie, (hit, total) in zip(ties, totals, strict=True)
    )
    return _rename(chosen, first, names), reached


def _find_place(question: Question) -> tuple[str, str]:
    """The scene, and which set of templates asks: those about parts have names of their own."""
    return question.scenes[0], question.id.removeprefix(question.scenes[0]).rstrip("0123456789")


def _find_form(question: Question) -> tuple[str, int | None]:
    return question.provenance.template or "", question.provenance.family


def _rename(chosen: Sequence[Question], first: Sequence[Question], names: Mapping[Any, int]) -> list[Question]:
    """The questions chosen, each under the id and the number of one of the first pool's about its scene."""
    slots: dict[Any, list[Question]] = {}
    for q in first:
        slots.setdefault(_find_place(q), []).append(q)
    taken = {key: iter(some) for key, some in slots.items()}
    made: dict[str, Question] = {}
    for q in chosen:
        slot = next(taken[_find_place(q)])
        made[slot.id] = replace(q, id=slot.id, notes=slot.notes)
    return [made[q.id] for q in first if q.id in made]


def mark_ties(
    questions: Sequence[Question], scenes: Sequence[Scene], ties: Sequence[AnswerTie], vocabulary: TieVocabulary
) -> npt.NDArray[np.int8]:
    """[tie, question] 1 where it has the concept and the answer, 2 where it could have the answer, else 0."""
    kinds = {scene.id: {k for o in scene.objects for k in object_kind(o.attributes)} for scene in scenes}
    spaces = {tie.answer: {t for t, space in vocabulary.spaces.items() if tie.answer in space} for tie in ties}
    side = np.zeros((len(ties), len(questions)), np.int8)
    for k, q in enumerate(questions):
        assert q.answer is not None
        words, shown, answer = set(tokenize(q.text)), kinds[q.scenes[0]], spell(q.answer)
        for j, tie in enumerate(ties):
            if q.kind not in spaces[tie.answer] or (tie.type and tie.type != q.kind):
                continue
            if words.issuperset(tie.words) and shown.issuperset(tie.kinds):
                side[j, k] = 1 if answer == tie.answer else 2
    return side


@exact
def _fit_weights(place: Any, many: Any, form: Any, wanted: Any, side: Any, shares: Any, rounds: int) -> Any:
    """[candidate] its probability: sums by place and by form, and shares by tie, are as wanted where they can be.

    Places come last, so that their sums are exact; no probability is above 1.
    """
    n, ties = len(place), len(shares)
    weight = np.empty(n)
    count = np.zeros(len(many))
    for i in range(n):
        count[place[i]] += 1.0
    for i in range(n):
        weight[i] = min(1.0, many[place[i]] / count[place[i]])
    total = np.zeros(len(wanted))
    free = np.zeros(len(many))
    full = np.zeros(len(many))
    for _ in range(rounds):
        total[:] = 0.0
        for i in range(n):
            total[form[i]] += weight[i]
        for i in range(n):
            if total[form[i]] > 0.0:
                weight[i] *= wanted[form[i]] / total[form[i]]
        for j in range(ties):
            hit = 0.0
            miss = 0.0
            for i in range(n):
                if side[j, i] == 1:
                    hit += weight[i]
                elif side[j, i] == 2:
                    miss += weight[i]
            if hit > 0.0 and miss > 0.0:
                up = shares[j] * (hit + miss) / hit
                down = (1.0 - shares[j]) * (hit + miss) / miss
                for i in range(n):
                    if side[j, i] == 1:
                        weight[i] *= up
                    elif side[j, i] == 2:
                        weight[i] *= down
        for _again in range(8):
            free[:] = 0.0
            full[:] = 0.0
            for i in range(n):
                if weight[i] >= 1.0:
                    weight[i] = 1.0
                    full[place[i]] += 1.0
                else:
                    free[place[i]] += weight[i]
            for i in range(n):
                p = place[i]
                if weight[i] < 1.0 and free[p] > 0.0:
                    weight[i] *= max(many[p] - full[p], 0.0) / free[p]
    return weight


@exact
def _draw_by_weight(place: Any, many: Any, weight: Any, starts: Any) -> Any:
    """[candidate] whether it is drawn: of each place as many as wanted, each with its probability (systematically)."""
    n = len(place)
    kept = np.zeros(n, np.bool_)
    drawn = np.zeros(len(many), np.int64)
    reached = np.zeros(len(many))
    for i in range(n):
        p = place[i]
        reached[p] += weight[i]
        if drawn[p] < many[p] and reached[p] > drawn[p] + starts[p]:
            kept[i] = True
            drawn[p] += 1
    for i in range(n):  # rounding: what is one short takes the first that is left
        p = place[i]
        if drawn[p] < many[p] and not kept[i]:
            kept[i] = True
            drawn[p] += 1
    return kept


def refuse_unreachable(reached: Sequence[PlantedShare]) -> None:
    """Refuse ties that candidates do not allow."""
    for one in reached:
        if not one.n:
            raise UserError(f"no question has {one.tie.concept} and could be answered {one.tie.answer!r}")
        if abs(one.share - one.tie.strength) > CLOSE:
            raise UserError(
                f"{one.tie.concept} cannot be tied to {one.tie.answer!r} at {one.tie.strength:g}: with the other ties, "
                f"questions about these scenes allow {one.share:.2f}; ask for less, or tie fewer concepts"
            )
