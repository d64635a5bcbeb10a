"""Asker: questions of all forms about one scene graph, each with its program, words and answer."""

from __future__ import annotations

from ... import rng
from ...lang.exec.exact import execute
from ...question import Provenance, Question
from ...scene import Scene
from ..overlap import Overlap
from .drawing import Drawing
from .forms import FORMS
from .view import View
from .vocabulary import Vocabulary
from .words import Unsayable, question_text

TRIES = 4  # draws of a form before it is given up


class Asker:
    """Asks of one graph after another; what it asks is a function of the seed, the words and the graph."""

    def __init__(self, words: Vocabulary, overlap: Overlap, seed: int = 0) -> None:
        self.words, self.overlap, self.seed = words, overlap, seed

    def about(self, scene: Scene, most: int, split: str = "") -> list[Question]:
        """At most so many questions, of different forms as far as may be; no two in the same words."""
        draw = rng.derive("gqa", self.seed, scene.id)
        drawing = Drawing(View(scene), self.words, self.overlap, draw)
        names = list(FORMS)
        found: dict[str, Question] = {}
        while names and len(found) < most:
            for name in [names[k] for k in draw.permutation(len(names))]:
                question = self._asked(drawing, name, len(found), split)
                if question is None or question.text in found:
                    names.remove(name)
                elif len(found) < most:
                    found[question.text] = question
        return list(found.values())

    def _asked(self, drawing: Drawing, name: str, number: int, split: str) -> Question | None:
        kind, form = FORMS[name]
        scene = drawing.view.scene
        draw = drawing.draw
        drawing = drawing._replace(holds=bool(draw.integers(2)), luck=draw.random())
        for _ in range(TRIES):
            drafted = form(drawing)
            if drafted is None:
                continue
            answer = execute(drafted.program, drawing.view.world).answer
            if type(answer) is not type(drafted.answer) or answer != drafted.answer:
                continue
            try:
                text = question_text(drafted.program)
            except Unsayable:
                continue
            where = Provenance("gqa", split, name)
            return Question(
                f"{scene.id}_{number}",
                text,
                (scene.id,),
                drafted.program,
                answer,
                kind=kind,
                provenance=where,
            )
        return None
