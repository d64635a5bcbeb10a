"""Asker: all valid questions that the templates have about the subgraphs of one image.

A template says what it means the answer to be; execution over the chosen images says what it is. Where the
two differ, or there is no answer, the question is refused and counted. A question whose words were already
asked about other images with another answer is half of a pair: both have the same words.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import zip_longest
from types import ModuleType

from ...answer import Answer
from ...catalog import TEMPLATES
from ...lang.exec.exact import Undefined, execute
from ...question import Notes, Provenance, Question
from ..extract import subgraphs
from ..related import Related
from ..subgraph import Subgraph
from ..verify import Verifier
from ._dice import Dice
from ._graph_world import Worlds
from .context import Case, Look
from .draft import Context, Draft
from .paraphrase import paraphrase
from .say import sayable, worded

SOURCE = "covr"
MOST = 60  # subgraphs of one image that are asked about
SPARE = 2  # times as many are drawn, since not all can be said


class Asker:
    """Templates over an index of scene graphs."""

    def __init__(
        self,
        related: Related,
        seed: int,
        *,
        easy: bool = False,
        verifier: Verifier | None = None,
        most: int = MOST,
    ) -> None:
        """`easy` takes random images for distractors; `most` limits the subgraphs of an image."""
        self.graphs, self.seed, self.most = related.graphs, seed, most
        self.worlds = Worlds(related.graphs)
        self.look = Look(related, seed, easy, verifier)
        self.refused: Counter[str] = Counter()  # why questions were not asked
        self.templates = templates()

    def about(self, graph: int) -> tuple[Question, ...]:
        """All valid questions of one graph; a function of the index, the seed and the graph alone."""
        made: list[Question] = []
        asked: set[str] = set()
        for subgraph in self.subgraphs(graph):
            case = Case(self.look, subgraph, graph)
            for template in self.templates.values():
                for draft in template.propose(case):
                    if draft.text not in asked:
                        examples = tuple(self._examples(case, draft, template.KIND, len(made)))
                        asked.update(one.text for one in examples)
                        made += examples
        return tuple(made)

    def subgraphs(self, graph: int) -> tuple[Subgraph, ...]:
        """The subgraphs to ask about, all of which can be said; of each shape in turn."""
        schema = self.graphs.schema
        found = subgraphs(self.graphs, graph, SOURCE, self.seed, most=SPARE * self.most)
        dice = Dice("subgraphs", self.seed, self.graphs.ids[graph])
        shapes: dict[tuple[object, ...], list[Subgraph]] = {}
        for one in dice.order(found):
            shapes.setdefault((one.depth, tuple(one.shape)), []).append(one)
        turns = zip_longest(*(shapes[key] for key in sorted(shapes, key=str)))
        each = (one for turn in turns for one in turn if one is not None)
        good = (one for one in each if sayable(worded(one, schema)))
        return tuple(one for one, _ in zip(good, range(self.most), strict=False))

    def _examples(self, case: Case, draft: Draft, kind: str, start: int) -> Iterator[Question]:
        """One question, or two with other images and another answer."""
        taken: list[tuple[tuple[int, ...], Answer]] = []
        for context in draft.contexts:
            if any(same(context.answer, answer) for _, answer in taken):
                continue
            graphs = case.ordered(context.graphs)
            if self._holds(draft, context, graphs):
                taken.append((graphs, context.answer))
            if len(taken) == 2:
                break
        image = self.graphs.ids[case.source]
        names = [f"{image}/{start + k}" for k in range(len(taken))]
        described: Notes = ()
        if taken:
            said = paraphrase(draft, self.seed, draft.text)
            described = (*_described(draft.about), ("paraphrase", said))
        for k, (graphs, answer) in enumerate(taken):
            pair: Notes = (("pair", names[1 - k]),) if len(taken) == 2 else ()
            yield Question(
                id=names[k],
                text=draft.text,
                scenes=tuple(self.graphs.ids[graph] for graph in graphs),
                program=draft.program,
                answer=answer,
                kind=kind,
                provenance=_provenance(draft.template),
                notes=(*described, *pair, ("distractors", self._distractors(case, graphs))),
            )

    def _holds(self, draft: Draft, context: Context, graphs: tuple[int, ...]) -> bool:
        """Whether execution gives the answer that the template means."""
        answer = execute(draft.program, self.worlds.of(graphs)).answer
        if isinstance(answer, Undefined):
            self.refused[f"{draft.template}: {answer.reason}"] += 1
            return False
        if not same(answer, context.answer):
            self.refused[f"{draft.template}: another answer"] += 1
            return False
        return True

    def _distractors(self, case: Case, graphs: Sequence[int]) -> list[list[str | int]]:
        near = ((graph, case.distance(graph)) for graph in graphs)
        return [[self.graphs.ids[graph], distance] for graph, distance in near if distance]


def collect_seldom() -> None:
    """For a process that asks: records have no cycles, and looking for these takes a tenth of its time."""
    gc.set_threshold(200_000, 20, 20)


def same(left: Answer, right: Answer) -> bool:
    """Whether two answers are one; True is not 1."""
    return type(left) is type(right) and left == right


@cache
def templates() -> dict[str, ModuleType]:
    """The templates by name."""
    return {name: TEMPLATES.load(name) for name in TEMPLATES.names()}


@cache
def _provenance(template: str) -> Provenance:
    return Provenance(SOURCE, "", template)


@lru_cache(maxsize=64)
def _described(about: tuple[Subgraph, ...]) -> Notes:
    shapes = [one.shape for one in about]
    structure = [
        word
        for word, there in (
            ("v", any(shape.two_relations for shape in shapes)),
            ("chain", any(shape.chain for shape in shapes)),
            ("modifier", any(shape.modifier for shape in shapes)),
        )
        if there
    ]
    return (
        ("nodes", [list(node) for one in about for node in one.nodes()]),
        ("size", about[0].size),
        ("depth", about[0].depth),
        ("structure", structure),
    )
