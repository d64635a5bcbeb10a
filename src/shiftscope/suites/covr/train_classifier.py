"""Subgraph classifiers: does an image show what its scene graph may lack?

Five are trained on the graphs they are to check; one that never saw an image checks it.
"""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, partial
from io import BytesIO
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ... import rng
from ...english.nouns import grammatical_number
from ...errors import UserError
from ...executor import Executor, Progress
from ...files import digest_of, write_whole
from ...questions.covr.fluency import is_sayable
from ...questions.covr.phrases import phrase_one
from ...scene import Box
from ...scene_graph import subgraph_classifier as _classifier
from ...scene_graph.index import load_index
from ...scene_graph.related_images import RelatedImages
from ...scene_graph.subgraph import Subgraph
from ..graph_inputs import GraphInputs, load_stored_image
from ..split_graphs import DONE, SPLITS, SplitGraphs
from .verify import NamedClassifier

KEPT = 64  # pictures in memory


def phrase_subgraph(subgraph: Subgraph) -> str:
    """`a black dog`, `a man that is holding a ball`."""
    return phrase_one(subgraph, "a")


def phrase_question(subgraph: Subgraph) -> str:
    """`Is there a black dog?`."""
    be = "Are" if grammatical_number(subgraph.name) == "several" else "Is"
    return f"{be} there {phrase_subgraph(subgraph)}?"


def open_pictures(inputs: GraphInputs, graphs: SplitGraphs) -> Callable[[str], _classifier.ImageArray]:
    """What loads the picture of an image of a split; the last ones stay in memory."""
    from PIL import Image

    @lru_cache(KEPT)
    def load_picture(image: str) -> _classifier.ImageArray:
        k = graphs.numbers[image]
        found = load_stored_image(graphs.scene(k), inputs.files[graphs.sources[k]], inputs.images)
        if not found.png:
            raise UserError(f"--verify looks at pictures, and image {image} has none: see --images")
        with Image.open(BytesIO(found.png)) as opened:
            return np.asarray(opened.convert("RGB"))

    return load_picture


def build_verifier(
    inputs: GraphInputs,
    related: RelatedImages,
    graphs: SplitGraphs,
    classifier: _classifier.SubgraphClassifier | _classifier.ClassifierFolds,
    *,
    prompted: bool,
) -> _classifier.RelatedImageChecker:
    """The verifier of a split, whose classifier is prompted with questions or given phrases."""

    @lru_cache(KEPT)
    def list_boxes(image: str) -> list[Box | None]:
        return [o.box for o in graphs.scene(graphs.numbers[image]).objects]

    describe = phrase_question if prompted else phrase_subgraph
    return _classifier.RelatedImageChecker(related, classifier, open_pictures(inputs, graphs), list_boxes, describe)


# Training. Trained models stay in memory: a file of them would have to be a pickle, which runs what is in it.
# After a restart they are trained again, from the same examples and seeds. A digest of their predictions on some
# examples is stored, so that candidates checked by other models are not resumed.

BLOCK = 25  # images whose examples are looked for at a time
TRIED = 50  # examples that tell models apart
EACH = 10  # subgraphs of an image
MOST = 500_000  # over all images; then there are fewer of each
LEAST = 20  # examples for one model


@dataclass(frozen=True, slots=True)
class ClassifierTraining:
    """What the examples depend on, and where the models go."""

    graphs: Path
    folder: Path
    inputs: GraphInputs
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class TrainedClassifiers:
    """The five models, how many examples they were trained on, and a digest of their predictions on some."""

    classifiers: tuple[_classifier.SubgraphClassifier, ...]
    examples: int
    fingerprint: str


class SubgraphExample(NamedTuple):
    """A text, the picture it is about, and whether it is true of it."""

    split: str
    image: str
    picture: str  # that the image is, or is a region of
    text: str
    truth: bool
    hidden: tuple[Box, ...]  # painted over


class ExamplePictures(Sequence[_classifier.ImageArray]):
    """The pictures of tasks, each opened when it is looked at."""

    def __init__(self, inputs: GraphInputs, graphs: Path, tasks: Sequence[SubgraphExample]) -> None:
        self._tasks = tasks
        self._pictures = {split: open_pictures(inputs, SplitGraphs(graphs, split)) for split in SPLITS}

    def __len__(self) -> int:
        return len(self._tasks)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        task = self._tasks[k]
        return _classifier.mask_boxes(self._pictures[task.split](task.image), task.hidden)


def train_classifiers(
    training: ClassifierTraining, factory: NamedClassifier, executor: Executor, tell: Progress
) -> TrainedClassifiers:
    """Train the models; the folder keeps what tells them from others."""
    tasks = _list_examples(training, executor)
    counted = f"{len(tasks):,} examples"
    fold = assign_picture_folds(training.graphs, training.seed)
    classifiers = []
    for k in range(_classifier.FOLDS):
        tell(k, _classifier.FOLDS, counted)
        classifiers.append(_train_fold(training, factory, [task for task in tasks if fold[task.picture] != k], k))
    if executor.workers > 1:  # other processes get a copy of the trained models
        unfit = "--verify: the trained models cannot be sent to other processes ("
        with _classifier.explain_model_errors(unfit, "); use --workers 1"):
            for classifier in classifiers:
                ForkingPickler.dumps(classifier)
    tell(_classifier.FOLDS, _classifier.FOLDS, counted)
    texts, shown = (
        [task.text for task in tasks[:TRIED]],
        ExamplePictures(training.inputs, training.graphs, tasks[:TRIED]),
    )
    with _classifier.explain_model_errors("--verify: the model stopped with ", " at what it was trained on"):
        predicted = [[round(float(p), 4) for p in s.probability(texts, shown[:])] for s in classifiers]
    made = TrainedClassifiers(tuple(classifiers), len(tasks), digest_of(repr(predicted).encode())[:16])
    write_whole(training.folder / DONE, json.dumps({"lessons": made.examples, "voice": made.fingerprint}).encode())
    return made


def read_trained_classifiers(folder: Path) -> TrainedClassifiers | None:
    """How many examples the models of this folder were trained on, and their fingerprint, without them."""
    try:
        found = json.loads((folder / DONE).read_bytes())
        return TrainedClassifiers((), int(found["lessons"]), str(found["voice"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def assign_classifiers(graphs: SplitGraphs, trained: TrainedClassifiers, seed: int) -> _classifier.ClassifierFolds:
    """The five models, and which of them checks each image of a split."""
    fold = assign_picture_folds(graphs.folder, seed)
    of_image = {image: fold[picture] for image, picture in graphs.picture_of.items()}
    return _classifier.ClassifierFolds(of_image, list(trained.classifiers))


def assign_picture_folds(graphs: Path, seed: int) -> Mapping[str, int]:
    """The fold of each picture of all splits; regions of one picture go together."""
    pictures = (name for split in SPLITS for name in SplitGraphs(graphs, split).pictures)
    return _classifier.assign_folds(pictures, seed).fold


def _list_examples(training: ClassifierTraining, executor: Executor) -> list[SubgraphExample]:
    """All examples, those about one image together, images in a drawn order."""
    counts = {split: len(SplitGraphs(training.graphs, split)) for split in SPLITS}
    each = max(1, min(EACH, MOST // max(1, sum(counts.values()))))
    blocks = [(split, k, each) for split in SPLITS for k in range(-(-counts[split] // BLOCK))]
    task, ahead = partial(_build_block_examples, training), 4 * executor.workers
    with closing(executor.limit(len(blocks)).map(task, blocks, ahead)) as built:
        found = [example for block in built for example in block]
    drawn = {name: rng.seed_of("taught", training.seed, name) for name in {task.image for task in found}}
    return sorted(found, key=lambda task: (drawn[task.image], task))


def _build_block_examples(training: ClassifierTraining, block: tuple[str, int, int]) -> list[SubgraphExample]:
    """The examples from a block of images, about them and about their distractors."""
    split, k, each = block
    graphs, related = _load_related(training, split)
    examples = []
    for number in range(k * BLOCK, min((k + 1) * BLOCK, len(graphs))):
        for example in _classifier.generate_classifier_examples(
            related, number, training.seed, most=each, sayable=is_sayable
        ):
            image, picture = graphs.ids[example.graph], graphs.pictures[example.graph]
            things = graphs.scene(example.graph).objects
            names = [next(iter(o.values("name")), "") for o in things]
            boxes = _classifier.choose_hidden_boxes(example, names, [o.box for o in things], training.seed, image)
            text = phrase_subgraph(example.subgraph)
            examples.append(SubgraphExample(split, image, picture, text, example.truth, boxes))
    return examples


@lru_cache(maxsize=1)
def _load_related(training: ClassifierTraining, split: str) -> tuple[SplitGraphs, RelatedImages]:
    graphs = SplitGraphs(training.graphs, split)
    index = load_index(graphs.index_path)
    return graphs, RelatedImages(index, training.inputs.overlap_sources.build_overlap(index.graphs.schema))


def _train_fold(
    training: ClassifierTraining, factory: NamedClassifier, tasks: Sequence[SubgraphExample], k: int
) -> _classifier.SubgraphClassifier:
    if len(tasks) < LEAST:
        raise UserError(f"--verify: the graphs give {len(tasks)} examples, too few to train a verifier")
    learner: Any = factory.make()
    texts, truths = [task.text for task in tasks], [task.truth for task in tasks]
    seed = rng.seed_of("verifier", training.seed, k) % (1 << 31)
    more = {"seed": seed} if "seed" in inspect.signature(learner.fit).parameters else {}
    with _classifier.explain_model_errors("--verify: the model stopped with ", " while it was trained"):
        learner.fit(texts, ExamplePictures(training.inputs, training.graphs, tasks), truths, **more)
    classifier: _classifier.SubgraphClassifier = learner
    return classifier
