"""CovrQuestioner: all valid questions that the templates have about the subgraphs of one image.

A template says what it means the answer to be; execution over the chosen images says what it is. Where the
two differ, or there is no answer, the question is refused and counted. A question whose words were already
used for other images with another answer is half of a pair: both have the same words.
"""

import gc
from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache, partial
from itertools import zip_longest
from types import ModuleType

from ... import rng
from ...answer import Answer
from ...english.inflection import capitalize_first
from ...lang.exec.exact import Undefined, execute
from ...question import Notes, Provenance, Question
from ...registry import COVR_TEMPLATES
from ...rng import PathDice
from ...scene_graph.extract import extract_subgraphs
from ...scene_graph.related_images import RelatedImages
from ...scene_graph.subgraph import Subgraph
from ...scene_graph.subgraph_classifier import RelatedImageChecker
from .attested import is_usual
from .context_images import CaseSettings, SubgraphCase
from .draft import CovrDraft
from .fluency import is_sayable
from .phrases import spell_subgraph
from .program import GraphWorlds

SOURCE = "covr"
MOST = 60  # subgraphs of one image that questions are made about
MOST_WORDS = 35  # of a question
SPARE = 2  # times as many are drawn, since not all can be worded
_get_provenance = cache(partial(Provenance, SOURCE, ""))  # of a template


class CovrQuestioner:
    """Templates over an index of scene graphs."""

    def __init__(
        self,
        related: RelatedImages,
        seed: int,
        *,
        easy: bool = False,
        verifier: RelatedImageChecker | None = None,
        most: int = MOST,
    ) -> None:
        """`easy` takes random images for distractors; `most` limits the subgraphs of an image."""
        self.graphs, self.seed, self.most = related.graphs, seed, most
        self.worlds = GraphWorlds(related.graphs)
        self.look = CaseSettings(related, seed, easy, verifier)
        self.refused: Counter[str] = Counter()  # why questions were dropped
        self.templates = load_templates()

    def generate_questions(self, graph: int) -> tuple[Question, ...]:
        """All valid questions of one graph; a function of the index, the seed and the graph alone."""
        made: list[Question] = []
        texts: set[str] = set()
        for subgraph in self.choose_subgraphs(graph):
            case = SubgraphCase(self.look, subgraph, graph)
            for draft in self.propose_drafts(case):
                if draft.text not in texts:
                    examples = tuple(self._build_questions(case, draft, len(made)))
                    texts.update(one.text for one in examples)
                    made += examples
        return tuple(made)

    def propose_drafts(self, case: SubgraphCase) -> Iterator[CovrDraft]:
        """What the templates propose about a subgraph that is large enough for them, in 35 words at most."""
        for template in self.templates.values():
            if case.subgraph.size >= template.LEAST_NODES:
                yield from (draft for draft in template.propose(case) if len(draft.text.split()) <= MOST_WORDS)

    def choose_subgraphs(self, graph: int) -> tuple[Subgraph, ...]:
        """The subgraphs to ask about, all of which can be worded; of each shape in turn."""
        schema = self.graphs.schema
        found = extract_subgraphs(self.graphs, graph, SOURCE, self.seed, most=SPARE * self.most)
        dice = PathDice("subgraphs", self.seed, self.graphs.ids[graph])
        shapes: dict[tuple[object, ...], list[Subgraph]] = {}
        for one in dice.shuffle(found):
            shapes.setdefault((one.depth, tuple(one.shape)), []).append(one)
        turns = zip_longest(*(shapes[key] for key in sorted(shapes, key=str)))
        each = (one for turn in turns for one in turn if one is not None)
        usual = each if schema.closed else (one for one in each if is_usual(self.graphs, one))
        good = (one for one in usual if is_sayable(spell_subgraph(one, schema)))
        return tuple(one for one, _ in zip(good, range(self.most), strict=False))

    def _build_questions(self, case: SubgraphCase, draft: CovrDraft, start: int) -> Iterator[Question]:
        """One question, or two with other images and another answer."""
        taken: list[tuple[tuple[int, ...], Answer]] = []
        for context in draft.contexts:
            if any(is_same_answer(context.answer, answer) for _, answer in taken):
                continue
            graphs = case.order_images(context.graphs)
            answer = execute(draft.program, self.worlds.of(graphs)).answer
            if not isinstance(answer, Undefined) and is_same_answer(answer, context.answer):
                taken.append((graphs, context.answer))
            else:
                why = answer.reason if isinstance(answer, Undefined) else "another answer"
                self.refused[f"{draft.template}: {why}"] += 1
            if len(taken) == 2:
                break
        image = self.graphs.ids[case.source]
        names = [f"{image}/{start + k}" for k in range(len(taken))]
        described: Notes = ()
        if taken:
            other_words = paraphrase(draft, self.seed, draft.text)
            described = (*_describe_structure(draft.about), ("paraphrase", other_words))
        for k, (graphs, meant) in enumerate(taken):
            pair: Notes = (("pair", names[1 - k]),) if len(taken) == 2 else ()
            near = [(g, case.distance(g)) for g in graphs]
            yield Question(
                id=names[k],
                text=draft.text,
                scenes=tuple(self.graphs.ids[graph] for graph in graphs),
                program=draft.program,
                answer=meant,
                kind=self.templates[draft.template].KIND,
                provenance=_get_provenance(draft.template),
                notes=(*described, *pair, ("distractors", [[self.graphs.ids[g], d] for g, d in near if d])),
            )


def reduce_garbage_collection() -> None:
    """For a process that asks: records have no cycles, and looking for these takes a tenth of its time."""
    gc.set_threshold(200_000, 20, 20)


def is_same_answer(left: Answer, right: Answer) -> bool:
    """Whether two answers are one; True is not 1."""
    return type(left) is type(right) and left == right


@cache
def load_templates() -> dict[str, ModuleType]:
    return {name: COVR_TEMPLATES.load(name) for name in COVR_TEMPLATES.names()}


@lru_cache(maxsize=64)
def _describe_structure(about: tuple[Subgraph, ...]) -> Notes:
    words = {"two_relations": "v", "chain": "chain", "modifier": "modifier"}
    structure = [word for name, word in words.items() if any(getattr(one.shape, name) for one in about)]
    return (
        ("nodes", [list(node) for one in about for node in one.nodes()]),
        ("size", about[0].size),
        ("depth", about[0].depth),
        ("structure", structure),
    )


def paraphrase(draft: CovrDraft, *path: str | int) -> str:
    """The question in other words, a function of draft and path alone."""
    ways = list_paraphrases(draft)
    return ways[rng.seed_of("paraphrase", draft.template, *path) % len(ways)]


def list_paraphrases(draft: CovrDraft) -> tuple[str, ...]:
    """All the other ways to ask it; at least one, even of a question that is short already."""
    ways = tuple(capitalize_first(way) for way in load_templates()[draft.template].reword(draft))
    return tuple(way for way in ways if way != draft.text) or ways
