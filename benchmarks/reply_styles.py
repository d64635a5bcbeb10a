"""Replies by rule: an answer said in one of many ways, wrapped in the style of a model; labelled as it is made.

Its word lists are its own, so that a word that the reader lacks is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from shiftscope import rng

Drawn = tuple[str, str, str, str, str, str]  # answer space, expected, style, language, rule, reply
COLORS = ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow")
SHAPES = ("cube", "sphere", "cylinder")
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
VALUES = {
    "truth": ("yes", "no"),
    "number": tuple(map(str, range(11))),
    "color": COLORS,
    "shape": SHAPES,
    "size": ("small", "large"),
    "material": ("rubber", "metal"),
    "vehicle": ("school bus", "minivan", "jet", "truck", "mountain bike", "biplane", "scooter", "tandem bike"),
    "open": ("dog", "surfboard", "traffic light", "living room", "2", "yes", "wooden", "to the left"),
}
CANONICAL = {"school bus": "school", "mountain bike": "mountain", "tandem bike": "tandem"}

# How an answer {a} is stated, where {b} is another one; a sentence of its own.
STATED = {
    "truth": ("{A}.", "{A}, {claim}.", "The answer is {a}.", "So {a}.", "I would say {a}."),
    "number": (
        "{a}.",
        "There are {a} objects.",
        "There are {w} of them.",
        "The total is {a}.",
        "I count {a} cubes.",
        "So there are {a} in total.",
        "The number of matching things is {w}.",
        "That makes {a}.",
    ),
    "color": (
        "{A}.",
        "It is {a}.",
        "The sphere is {a}.",
        "The cube left of the {b} ball is {a}.",
        "Its color is {a}.",
        "The thing behind the {b} cylinder has the color {a}.",
        "The object in front of the {b} one is colored {a}.",
    ),
    "shape": (
        "{A}.",
        "It is a {a}.",
        "The red object is a {a}.",
        "The thing left of the {b} is a {a}.",
        "The shape is a {a}.",
    ),
    "size": ("{A}.", "It is {a}.", "The sphere is {a}.", "The cube behind the {b} ball is {a}.", "The size is {a}."),
    "material": (
        "{A}.",
        "It is made of {a}.",
        "The sphere is {a}.",
        "The thing behind the {b} cube is made of {a}.",
        "The material is {a}.",
    ),
    "vehicle": (
        "{A}.",
        "It is a {a}.",
        "The red vehicle is a {a}.",
        "The vehicle behind the {b} is a {a}.",
        "It appears to be a {a}.",
    ),
    "open": ("{A}.", "The answer is {a}."),
}
CLAIMS = {
    "yes": ("there is a matching object behind it", "they are the same size", "no other cube blocks it"),
    "no": ("there is no such object", "they are not the same size", "the only match is rubber"),
}
# What a model thinks aloud before it answers, or explains after; it settles nothing.
THOUGHT = {
    "truth": (
        "The cube is red and the ball is blue.",
        "I notice a cube and, now that I know where to look, another one.",
        "The question is whether such an object exists.",
    ),
    "number": (
        "I look at every object, one by one.",
        "The question asks how many things match.",
        "The one on the left is a cube; the other one is a ball.",
    ),
    "color": (
        "First I find the {b} cube.",
        "There is a {b} ball on the left.",
        "I have to look at what is behind the {b} cylinder.",
    ),
    "shape": ("First I find the red {b}.", "There is a small {b} on the left."),
    "size": ("First I find the {b} cube.", "There is a {b} ball on the left."),
    "material": ("First I find the {b} cube.", "There is a {b} ball on the left."),
    "vehicle": ("First I find the {b}.", "There is a small {b} on the left."),
    "open": ("The picture shows a busy street in the evening, with a few people.",),
}
REASON = {
    "truth": ("I compared both objects.", "Only the cylinder on the left matters here."),
    "number": ("I did not include anything that is hidden.", "They all lie to the left of the sphere."),
    "color": ("The {b} cube is next to it.", "It stands left of the {b} one."),
    "shape": ("The {b} is next to it.", "It stands left of the {b}."),
    "size": ("The {b} cube is next to it.",),
    "material": ("The {b} cube is next to it.",),
    "vehicle": ("The {b} is next to it.",),
    "open": ("It can be seen in the middle of the picture.",),
}
# Style, and how it wraps: {a} the answer alone, {A} with a capital, {s} a sentence that states it, {t} and {u}
# thoughts, {r} a reason.
WRAPPED = (
    ("terse", "{a}"),
    ("terse", "{A}."),
    ("chatty", "{s}"),
    ("chatty", "Sure! {s}"),
    ("chatty", "Looking at the image: {s}"),
    ("final", "Answer: {a}"),
    ("final", "Final answer: {A}."),
    ("final", "The final answer is: {a}"),
    ("final", "{t}\nFinal Answer: {A}"),
    ("latex", "\\boxed{{{a}}}"),
    ("latex", "{t} Therefore the answer is $\\boxed{{\\text{{{A}}}}}$."),
    ("latex", "{t}\n\n\\[\n\\boxed{{{a}}}\n\\]"),
    ("json", '{{"answer": "{a}"}}'),
    ("json", '```json\n{{\n  "reasoning": "{t}",\n  "answer": "{a}"\n}}\n```'),
    ("json", '{{"answer": "{A}", "explanation": "{r}"}}'),
    ("json", "<answer>{a}</answer>"),
    ("json", "<think>{t}</think>\n<answer>\n{A}\n</answer>"),
    ("markdown", "**{A}**"),
    ("markdown", "**Answer:** {a}"),
    ("markdown", "### Reasoning\n{t}\n\n### Answer\n{A}"),
    ("markdown", "- {t}\n- {u}\n\n**Answer: {A}**"),
    ("markdown", "> {a}"),
    ("think", "<think>\n{t} {u}\n</think>\n\n{a}"),
    ("think", "<think>{t} So it might be {b}? Wait.</think>\n\n{s}"),
    ("think", "{t} {u}</think>\n\n{A}"),
    ("late", "{t} {u} {s}"),
    ("late", "1. {t}\n2. {u}\n\nAnswer: {a}"),
    ("late", "Let me think step by step. {t}\n\n{s}"),
    ("early", "{A}\n\n{r}"),
    ("early", "{A}. {r}"),
    ("early", "Answer: {A}\n\nExplanation: {r}"),
    ("early", "**{A}**. {r}"),
    ("hedge", "I am not completely sure, but I think the answer is {a}."),
    ("hedge", "My best guess: {a}"),
    ("correction", "Answer: {b}\n\nWait, I made a mistake. {t}\n\nAnswer: {a}"),
    ("tokens", "{a}<|im_end|>"),
    ("tokens", "assistant\n\n{A}"),
)
REFUSED = (
    "I'm sorry, but I can't see the image.",
    "I cannot determine that from the image.",
    "I am unable to answer this question.",
    "There is no image attached.",
    "Cannot be determined",
    "I don't know.",
    "Not enough information to answer.",
    "Sorry, I can't help with that.",
)
REFUSAL_WRAPPED = ("{s}", "Answer: {s}", "**{s}**", "<think>{t}</think>\n\n{s}", '{{"answer": "{s}"}}', "{t} {s}")
JOINED = ("{a} or {b}", "{a} and {b}", "either {a} or {b}", "{a}/{b}", "{a}, {b}")
TWO_WRAPPED = ("{s}", "Answer: {s}", "**{s}**", "\\boxed{{\\text{{{s}}}}}", "<think>{t}</think>\n\n{s}", "It is {s}.")
CUT = (
    "<think>{t} {u} So it could be {a}, but",
    "<think>\n{t} The answer is {a}. Hmm, let me check that again. {t}",
    "To answer the question, I go through the objects one after the other and",
    "{t} Then I look at the",
    "Answer:",
)

# yes, no; one to five; COLORS but cyan; what says "the answer is", "the ball is", "there are … cubes" and "yes, …"
LANGUAGES: dict[str, tuple[str, str, str, str, str, str, str, str]] = {
    "de": (
        "ja nein",
        "eins zwei drei vier fünf",
        "grau rot blau grün braun lila gelb",
        "Die Antwort ist {}.|Antwort: {}|Die endgültige Antwort lautet: {}",
        "Die Kugel ist {}.",
        "Es gibt {} Würfel.|Ich sehe {} Würfel.",
        "Ja, es gibt einen.|Ja, sie haben die gleiche Farbe.",
        "Nein, es gibt keinen.|Nein, sie haben nicht die gleiche Farbe.",
    ),
    "fr": (
        "oui non",
        "un deux trois quatre cinq",
        "gris rouge bleu vert marron violet jaune",
        "La réponse est {}.|Réponse : {}|Réponse finale : {}",
        "Le cube est {}.",
        "Il y a {} cubes.|Je vois {} cubes.",
        "Oui, il y en a un.|Oui, ils ont la même couleur.",
        "Non, il n'y en a pas.|Non, ils n'ont pas la même couleur.",
    ),
    "es": (
        "sí no",
        "uno dos tres cuatro cinco",
        "gris rojo azul verde marrón morado amarillo",
        "La respuesta es {}.|Respuesta: {}|Respuesta final: {}",
        "El cubo es {}.",
        "Hay {} cubos.|Veo {} cubos.",
        "Sí, hay uno.|Sí, tienen el mismo color.",
        "No, no hay ninguno.|No, no tienen el mismo color.",
    ),
    "it": (
        "sì no",
        "uno due tre quattro cinque",
        "grigio rosso blu verde marrone viola giallo",
        "La risposta è {}.|Risposta: {}|Risposta finale: {}",
        "Il cubo è {}.",
        "Ci sono {} cubi.|Vedo {} cubi.",
        "Sì, ce n'è uno.|Sì, hanno lo stesso colore.",
        "No, non ce n'è nessuno.|No, non hanno lo stesso colore.",
    ),
    "pt": (
        "sim não",
        "um dois três quatro cinco",
        "cinza vermelho azul verde marrom roxo amarelo",
        "A resposta é {}.|Resposta: {}|Resposta final: {}",
        "O cubo é {}.",
        "Há {} cubos.|Vejo {} cubos.",
        "Sim, há um.|Sim, têm a mesma cor.",
        "Não, não há nenhum.|Não, não têm a mesma cor.",
    ),
    "zh": (
        "是 否",
        "一 二 三 四 五",
        "灰色 红色 蓝色 绿色 棕色 紫色 黄色",
        "答案是{}。|答案：{}|最终答案：{}",
        "这个球是{}的。",
        "图中有{}个立方体。|我看到{}个立方体。",
        "是的，有一个。|是的，它们的颜色相同。",
        "不，没有。|不，它们的颜色不同。",
    ),
    "ja": (
        "はい いいえ",
        "一つ 二つ 三つ 四つ 五つ",
        "灰色 赤 青 緑 茶色 紫 黄色",
        "答えは{}です。|答え：{}|最終的な答え：{}",
        "その球は{}です。",
        "{}の立方体があります。|立方体は{}あります。",
        "はい、あります。|はい、同じ色です。",
        "いいえ、ありません。|いいえ、同じ色ではありません。",
    ),
    "ko": (
        "네 아니요",
        "하나 둘 셋 넷 다섯",
        "회색 빨간색 파란색 초록색 갈색 보라색 노란색",
        "정답은 {}입니다.|답: {}|최종 답변: {}",
        "공은 {}입니다.",
        "큐브가 {} 있습니다.|큐브가 모두 {} 보입니다.",
        "네, 있습니다.|네, 색이 같습니다.",
        "아니요, 없습니다.|아니요, 색이 다릅니다.",
    ),
    "ru": (
        "да нет",
        "один два три четыре пять",
        "серый красный синий зелёный коричневый фиолетовый жёлтый",
        "Ответ — {}.|Ответ: {}|Окончательный ответ: {}",
        "Куб {}.",
        "Там {} куба.|Я вижу {} куба.",
        "Да, есть.|Да, у них один цвет.",
        "Нет, такого нет.|Нет, цвета разные.",
    ),
}
UNITLESS = ("ja", "ko")  # a bare digit would lack its counter
FOREIGN_COLORS = tuple(c for c in COLORS if c != "cyan")
FOREIGN_WRAPPED = (
    ("terse", "{a}"),
    ("terse", "{A}."),
    ("markdown", "**{A}**"),
    ("think", "<think>{a}? {b}?</think>\n\n{a}"),
    ("latex", "\\boxed{{{a}}}"),
)


def make_replies(seed: int = 22) -> Iterator[Drawn]:
    """All replies by rule, each once."""
    yield from dict.fromkeys((*_make_english(seed), *_make_unread(seed), *_make_foreign(seed)))


def _make_english(seed: int) -> Iterator[Drawn]:
    for space, values in VALUES.items():
        draw = rng.derive("replies", seed, space)
        for k, (style, wrap) in enumerate(WRAPPED):
            for _ in range(3 if space in ("truth", "number", "color") else 2):
                a, b = _draw_two(draw, values)
                if space == "open" and style in ("chatty", "late", "hedge", "correction"):
                    a = str(draw.choice(["dog", "surfboard", "wooden"]))
                if space == "open" and "{t} {u} {s}" in wrap:
                    continue  # no one could say which word of a sentence is meant
                reply = wrap.format(**_fill(draw, space, a, b))
                yield space, CANONICAL.get(a, a), style, "en", f"wrap {k}", reply


def _make_unread(seed: int) -> Iterator[Drawn]:
    for space, values in VALUES.items():
        draw = rng.derive("replies", seed, space, "unread")
        for k, wrap in enumerate(REFUSAL_WRAPPED):
            a, b = _draw_two(draw, values)
            words = _fill(draw, space, a, b) | {"s": str(draw.choice(REFUSED))}
            yield space, "-refused", "refusal", "en", f"refuse {k}", wrap.format(**words)
        if space == "open":
            continue
        for k, wrap in enumerate(TWO_WRAPPED):
            a, b = _draw_two(draw, values)
            if space == "truth" and wrap.startswith("It is"):
                continue
            words = _fill(draw, space, a, b) | {"s": str(draw.choice(JOINED)).format(a=a, b=b)}
            yield space, "-two", "two", "en", f"two {k}", wrap.format(**words)
        for k, wrap in enumerate(CUT):
            a, b = _draw_two(draw, values)
            yield space, "-unread", "truncated", "en", f"cut {k}", wrap.format(**_fill(draw, space, a, b))


def _make_foreign(seed: int) -> Iterator[Drawn]:
    for language, (truths, counts, colors, answers, ball, there, yes, no) in LANGUAGES.items():
        draw = rng.derive("replies", seed, language)
        spaces = {
            "truth": (("yes", "no"), truths.split(), ""),
            "number": (tuple("12345"), counts.split(), there),
            "color": (FOREIGN_COLORS, colors.split(), ball),
        }
        for space, (values, words, frames) in spaces.items():
            for k, (style, wrap) in enumerate(FOREIGN_WRAPPED):
                a, b = _draw_two(draw, range(len(values)))
                said = wrap.format(a=words[a], A=words[a].capitalize(), b=words[b])
                yield space, values[a], style, language, f"{language} {k}", said
            for k, frame in enumerate((*answers.split("|"), *filter(None, frames.split("|")))):
                stating = k >= len(answers.split("|"))
                a = int(draw.integers(1 if stating and space == "number" else 0, len(values)))  # no plural of one
                digit = space == "number" and language not in UNITLESS and draw.random() < 0.4
                said = frame.format(a + 1 if digit else words[a]).replace("二个", "两个")
                yield space, values[a], "chatty" if stating else "final", language, f"{language} {k} {space}", said
        yield from (("truth", "yes", "chatty", language, f"{language} yes", one) for one in yes.split("|"))
        yield from (("truth", "no", "chatty", language, f"{language} no", one) for one in no.split("|"))


def _draw_two(draw: np.random.Generator, values: Sequence[Any]) -> tuple[Any, Any]:
    first, second = draw.choice(len(values), 2, replace=False)
    return values[first], values[second]


def _fill(draw: np.random.Generator, space: str, a: str, b: str) -> dict[str, str]:
    """What a frame may hold."""
    word = NUMBERS[int(a)] if space == "number" else a
    stated = [s for s in STATED[space] if a not in ("0", "1") or ("{a} " not in s and "{w} " not in s)]
    words = {"a": a, "A": a[0].upper() + a[1:], "b": b, "w": word}
    words["claim"] = str(draw.choice(CLAIMS[a])) if space == "truth" else ""
    words["s"] = str(draw.choice(stated)).format(**words)
    thoughts = draw.permutation(THOUGHT[space])
    words["t"], words["u"] = (str(t).format(**words) for t in (thoughts[0], thoughts[-1]))
    words["r"] = str(draw.choice(REASON[space])).format(**words)
    return words
