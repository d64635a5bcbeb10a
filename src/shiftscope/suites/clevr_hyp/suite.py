"""CLEVR_HYP's spec, how its shards are made, and the statistics of the paper's Table 2 and Figure 5."""

import json
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, NamedTuple

from ... import suites
from ...errors import UserError
from ...executor import Executor
from ...geometry.camera import check_size
from ...question import Question
from ...questions.hypothetical import partitions
from ...questions.hypothetical.generator import ALL, EVERY_OTHER
from ...questions.hypothetical.partitions import MOST_PLACEMENTS, PLACEMENTS, REFUSED
from ...render import CPU
from ...scene import Scene
from ...schemas.clevr import SCHEMA
from ...store.dataset import Dataset
from ...store.image import StoredImage
from ...store.manifest import DatasetInfo, MakeCommand
from ...store.shard import ShardFile, iterate_row_groups
from ...world import Sampling
from ...world import clevr as world
from .. import Option, ProgressBar, ShardPlan, option
from ..scene_images import read_spool, write_spool
from ..sources import credit_sources

SHARE = 7  # one in so many images is for val, and one for test


class HypSplit(NamedTuple):
    """Where its images are, how they are asked about, and its examples for two images of that pool."""

    pool: str
    ask: Callable[[Sequence[Scene], int, int, str, int, int], Iterator[Question]]
    per_two: int


# Original has the plain names, so that models that learn find `train`, and runs find `test`.
POOLS = ("train", "val", "test")
SPLITS = {
    **{pool: HypSplit(pool, partitions.generate_original, 50) for pool in POOLS},
    **{f"balanced_{pool}": HypSplit(pool, partitions.generate_balanced, 27) for pool in POOLS},
    "two_hop_actions": HypSplit("test", partitions.generate_two_actions, 30),
    "two_hop_questions": HypSplit("test", partitions.generate_two_parts, 30),
}


# Statistics of a CLEVR_HYP dataset: those of the paper's Table 2 and Figure 5, and what was refused.

DISTRIBUTIONS = (("actions", "kinds"), ("question types", "types"), ("answers", "answers"))
COLUMNS = ("image_ids", "question", "action", "answer", "question_type", "notes")


@dataclass(slots=True)
class HypStatistics:
    split: str
    images: int = 0  # asked about
    objects: float = 0.0  # per image, on average
    actions: int = 0  # pairs of an image and an action text
    unique_actions: int = 0
    action_words: float = 0.0  # on average, between blanks
    questions: int = 0
    wanted: int = 0  # questions, were every image to allow as many
    unique_questions: int = 0
    question_words: float = 0.0
    kinds: Counter[str] = field(default_factory=Counter)  # of actions
    types: Counter[str] = field(default_factory=Counter)  # of questions
    answers: Counter[str] = field(default_factory=Counter)
    undefined: int = 0  # questions that have no answer before the action
    placed: int = 0  # questions about an action that leaves a place open
    elsewhere: int = 0  # and those refused because their answer depends on that place
    placements: int = 1  # that were compared; of one, nothing can be refused

    @property
    def refused_share(self) -> float | None:
        """Of the questions kept about free places and those refused before them, the share refused."""
        if self.placements == 1 or not self.placed:
            return None
        return self.elsewhere / (self.elsewhere + self.placed)

    @property
    def shortage(self) -> str:
        """`two_hop_actions: 14,800 of 15,000`, where some are missing."""
        return f"{self.split}: {self.questions:,} of {self.wanted:,}" if self.questions < self.wanted else ""

    def to_json(self) -> dict[str, Any]:
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        counted = {n: dict(sorted(v.items())) for n, v in plain.items() if isinstance(v, Counter)}
        refused = self.refused_share
        return plain | counted | {"refused": None if refused is None else round(refused, 6)}

    def to_row(self) -> tuple[Any, ...]:
        return (
            *(self.split, self.images, round(self.objects, 1), self.actions, self.unique_actions),
            *(round(self.action_words, 1), self.questions, self.unique_questions),
            *(round(self.question_words, 1), f"{self.undefined / max(self.questions, 1):.1%}"),
            "" if self.refused_share is None else f"{self.refused_share:.1%}",
        )


HEADER = (
    *("split", "images", "objects", "actions", "unique", "words", "questions", "unique", "words"),
    *("undefined before", "refused: place decides"),
)


BEFORE = (
    "`undefined before` is the share of questions that have no answer in the picture as it is, such as one about an "
    "object that is yet to be added: their note `before` says so, `shiftscope score --by before` counts them apart, "
    "and `--defined-before` makes none of them. The paper asks that “a question must have different ground-truth "
    "answers for CLEVR_HYP and image-only model” (A.2), and several of its own examples have none for the latter. By "
    "default every other question is sought among those that have one. "
)


def compute_statistics(dataset: Dataset) -> list[HypStatistics]:
    sizes: dict[str, int] = {}
    for shard in dataset.shards():
        if shard.images:
            sizes.update(_read_rows(dataset, shard.images, ("image_id", "num_objects")))
    return [_compute_split_statistics(dataset, split, sizes) for split in dataset.splits]


def _read_rows(dataset: Dataset, file: ShardFile, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    for table in iterate_row_groups(dataset.folder / file.path, list(columns)):
        yield from zip(*(table[name].to_pylist() for name in columns), strict=True)


def _compute_split_statistics(dataset: Dataset, split: str, sizes: dict[str, int]) -> HypStatistics:
    found = HypStatistics(split, placements=dataset.manifest.spec["placements"])
    pool, ask, per_two = SPLITS[split]
    many = dataset.count(pool)[0]
    found.wanted = many // 2 * per_two if ask is partitions.generate_balanced else many * per_two // 2
    images: set[str] = set()
    actions: set[tuple[str, str]] = set()
    texts: set[str] = set()
    words = 0
    files = [shard.questions for shard in dataset.shards(split) if shard.questions]
    for (image, *_), text, action, answer, kind, notes in chain(*(_read_rows(dataset, f, COLUMNS) for f in files)):
        noted = json.loads(notes)
        images.add(image)
        actions.add((image, action))
        texts.add(text)
        words += len(text.split())
        found.questions += 1
        found.types[kind] += 1
        found.kinds[noted["action_kind"]] += 1
        found.answers[answer] += 1
        found.undefined += noted.get("before") == "undefined"
        found.placed += noted.get("placed") == "free"
        found.elsewhere += noted.get(REFUSED[1], 0)
    found.images, found.actions = len(images), len(actions)
    found.unique_actions, found.unique_questions = len({a for _, a in actions}), len(texts)
    found.objects = sum(sizes.get(i, 0) for i in images) / max(len(images), 1)
    found.action_words = sum(len(a.split()) for _, a in actions) / max(len(actions), 1)
    found.question_words = words / max(found.questions, 1)
    return found


def format_statistics(dataset: Dataset) -> str:
    found = compute_statistics(dataset)
    lines = ["## Statistics", "", f"| {' | '.join(HEADER)} |", "|---" + "|---:" * (len(HEADER) - 1) + "|"]
    for f in found:
        cells = (f"{c:,}" if isinstance(c, int) else str(c) for c in f.to_row())
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "`objects` is how many an image has on average, `words` how many a text has; an action counts once "
        "per image. " + BEFORE + "The last column is about actions that leave a place open: of the questions kept and "
        "those tried before them in the same search that differ in nothing else, the share refused because their "
        "answer depends on the place taken; a thing that is the one meant at some places only is never pointed out. "
        "The column is empty where only one place was looked at.",
    ]
    lines += list_shortages(found)
    for title, name in DISTRIBUTIONS:
        lines += ["", f"### Distribution of {title}", ""]
        lines += [f"- {f.split}: {format_shares(counts)}" for f in found if (counts := getattr(f, name))]
    return "\n".join(lines)


def list_shortages(found: Sequence[HypStatistics]) -> list[str]:
    """What is short, as Markdown: splits that have fewer examples than were asked for, or none."""
    lines: list[str] = []
    if any(f.shortage for f in found):
        lines += ["", "Fewer examples than asked for, since some scenes do not allow more:", ""]
        lines += [f"- {f.shortage}" for f in found if f.shortage]
    none = [name for name in SPLITS if name not in {f.split for f in found}]
    if none:
        lines += ["", f"With fewer than {SHARE} images there is no {', '.join(none)}."]
    return lines


def format_shares(counts: Counter[str]) -> str:
    """`add 20.0%, change 20.0%, …`, in the order of their names, numbers first."""
    total = counts.total()
    return ", ".join(f"{name} {n / total:.1%}" for name, n in sorted(counts.items()))


# The spec and the suite.

OBJECTS = (4, 10)
GIVEN = "scenes"  # names, in a spec, the user's own scenes by their content


@dataclass(frozen=True, slots=True)
class ClevrHypSpec(suites.SuiteSpec):
    suite: ClassVar[str] = "clevr_hyp"
    version: ClassVar[int] = 7
    question_fields: ClassVar[tuple[str, ...]] = ()  # each image has as many as it allows

    images: int = option(
        7000,
        "How many, over train, val and test (5 : 1 : 1); from 7 on there are all three.",
        shown=None,
        type=int,
        min=1,
        show_default="7000, as in the paper, or all of --scenes",
    )
    seed: int = suites.seed_option()
    size: tuple[int, int] = suites.size_option()
    placements: int = option(
        PLACEMENTS,
        "Where words leave a place open, try so many places, in the corners, beyond all others and between them, "
        "at all of which the answer must be the same; 1 takes one place, as the paper does.",
        min=1,
    )
    pictured: bool = option(
        True,
        "Keep the scenes, and draw no pictures of them.",
        name="no-images",
        shown=False,
        parse=operator.not_,
        show=operator.not_,
    )
    paraphraser: str = option("", "A transformers seq2seq model, a folder or a name, that rewords the texts.")
    shard: int = suites.shard_option(250)  # answers are balanced within a shard
    defined_before: bool = option(
        False,
        "Ask only questions that also have an answer in the picture as it is, another one; by default every other "
        "question, as far as there is one.",
    )

    def __post_init__(self) -> None:
        if self.images < 1 or self.shard < 1:
            raise UserError("images and shard size must be at least 1")
        if not 1 <= self.placements <= MOST_PLACEMENTS:
            raise UserError(f"placements go from 1 to {MOST_PLACEMENTS:,}, not {self.placements:,}")
        check_size(self.size)

    def pools(self) -> dict[str, int]:
        held = self.images // SHARE
        return dict(zip(POOLS, (self.images - 2 * held, held, held), strict=True))

    def splits(self) -> dict[str, int]:
        """How many images each split asks about; those of train, val and test are in several."""
        pools = self.pools()
        return {split: pools[pool] for split, (pool, *_) in SPLITS.items()}


class ClevrHypSuite(suites.Suite[ClevrHypSpec]):
    spec = ClevrHypSpec
    about = DatasetInfo(
        title="CLEVR_HYP, made by ShiftScope",
        summary="Solids on a plane, an action in words, and a question about what would be true after it; "
        "with programs for both, and answers that the action changes.",
    )
    help = "Make a CLEVR_HYP dataset: scenes, images, actions in words, and questions about their outcome."
    world = "clevr"
    trainable = True
    options: Mapping[str, Option] = {
        "scenes": Option("Apply actions to these CLEVR scenes instead of new ones.", type=Path)
    }

    def count_images(self, spec: ClevrHypSpec, split: str, k: int, inputs: Any = None) -> int:
        return len(spec.shard_range(split, k)) if split == SPLITS[split].pool else 0

    def begin_scenes(
        self, spec: ClevrHypSpec, split: str, k: int, places: range, inputs: Any = None
    ) -> Sequence[Sampling]:
        rules, which = world.ClevrRules(objects=OBJECTS, size=spec.size), spec.shard_range(split, k)
        return [world.begin_scene(spec.seed, f"hyp_{SPLITS[split].pool}", which[i], rules) for i in places]

    def sample_scenes(
        self, spec: ClevrHypSpec, split: str, k: int, places: range, inputs: Any = None, *, device: str = CPU
    ) -> Sequence[Scene]:
        if inputs is not None:
            return [read_spool(inputs / f"{SPLITS[split].pool}{k}")[i] for i in places]
        return super().sample_scenes(spec, split, k, places, device=device)

    def ask(
        self,
        spec: ClevrHypSpec,
        split: str,
        k: int,
        scenes: Sequence[Scene],
        inputs: Any = None,
        *,
        grounding: bool = False,
    ) -> Sequence[Question]:
        defined = ALL if spec.defined_before else EVERY_OTHER
        first = spec.shard_range(split, k).start
        questions = list(SPLITS[split].ask(scenes, first, spec.seed, split, spec.placements, defined))
        if spec.paraphraser:
            from ...questions.hypothetical.paraphrase_model import paraphrase_questions

            questions = paraphrase_questions(questions, spec.paraphraser)
        return questions

    def sample(
        self, spec: ClevrHypSpec, split: str, k: int, inputs: Any = None, *, grounding: bool = False
    ) -> ShardPlan:
        scenes = self.sample_scenes(spec, split, k, range(len(spec.shard_range(split, k))), inputs)
        return ShardPlan(scenes, self.ask(spec, split, k, scenes, inputs))

    def draws(self, spec: ClevrHypSpec, inputs: Any = None) -> bool:
        return spec.pictured

    def draw(
        self, spec: ClevrHypSpec, split: str, plan: ShardPlan, inputs: Any = None, device: str = CPU
    ) -> Sequence[StoredImage]:
        """Images are stored with train, val and test; the other splits ask about these."""
        if split != SPLITS[split].pool:
            return []
        return (
            super().draw(spec, split, plan, device=device) if spec.pictured else [StoredImage(s) for s in plan.scenes]
        )

    def check(self, spec: ClevrHypSpec, inputs: Any = None) -> None:
        if spec.paraphraser:
            from ...questions.hypothetical.paraphrase_model import Paraphraser

            Paraphraser(spec.paraphraser)

    def credit(self, spec: ClevrHypSpec, inputs: Any = None) -> DatasetInfo:
        return credit_sources(self.about, inputs[:1]) if inputs else self.about

    @contextmanager
    def prepare(
        self, spec: ClevrHypSpec, out: Path, inputs: Any, executor: Executor, bar: ProgressBar
    ) -> Iterator[suites.PreparedInputs]:
        """Inputs are the file or folder of a user's own scenes and how many to take, or none."""
        if inputs is None:
            yield suites.PreparedInputs(spec.spec(), spec.jobs(), notes=0)
            return
        path, most = inputs
        with TemporaryDirectory() as spool:
            count, left_out = spool_user_scenes(path, Path(spool), spec, most)
            own = replace(spec, images=count)
            stored = own.spec() | {GIVEN: suites.digest_scene_files(path)}
            yield suites.PreparedInputs(stored, own.jobs(), Path(spool), left_out)

    def read_options(self, given: Mapping[str, Any]) -> tuple[ClevrHypSpec, Any]:
        spec, _ = super().read_options(given)
        scenes = given["scenes"]
        return spec, None if scenes is None else (scenes, given["images"])

    def make_command(self, spec: Mapping[str, Any]) -> MakeCommand:
        made = super().make_command(spec)
        if GIVEN not in spec:
            return made
        needs = f"SCENES: the file or folder of scenes that was given (content {spec[GIVEN]})"
        return MakeCommand({**made.options, "scenes": "SCENES"}, (needs,))

    def summarize(self, notes: Any, dataset: Dataset) -> str:
        return format_statistics(dataset)

    def describe(self, made: suites.MadeDataset) -> suites.MakeReport:
        found = compute_statistics(made.dataset)
        data = suites.describe_folder(made.dataset) | {"scenes_left_out": made.notes}
        data |= {"splits": {f.split: f.to_json() for f in found}}
        table = suites.TextTable(HEADER, [f.to_row() for f in found], "statistics, as in the paper's Table 2")
        text: list[str | suites.TextTable] = [table]
        for title, name in DISTRIBUTIONS:
            text.append(f"\ndistribution of {title}")
            text += [f"  {f.split:<18} {format_shares(getattr(f, name))}" for f in found]
        text += list_shortages(found)
        if made.notes:
            text.append(f"\n{made.notes:,} scenes do not have 4 to 10 objects and were left out")
        return suites.MakeReport(data, [*text, f"\n{suites.describe_done(made.dataset)}"])


def spool_user_scenes(path: Path, spool: Path, spec: ClevrHypSpec, most: int | None = None) -> tuple[int, int]:
    """Write a user's own scenes, the first `most` that fit, where other processes find them.

    Returns how many these are, and how many of all do not fit.
    """
    from ...formats.clevr import read_scenes
    from ...questions.hypothetical.scene_arrays import check_scene

    found = read_scenes(path)
    for scene in found:
        if scene.schema != SCHEMA:
            raise UserError(f"{path}: scene {scene.id!r} is no CLEVR scene but of {scene.schema.name}")
    fit = [s for s in found if OBJECTS[0] <= len(s.objects) <= OBJECTS[1]]
    if not fit:
        raise UserError(f"{path}: no scene has {OBJECTS[0]} to {OBJECTS[1]} objects")
    left_out = len(found) - len(fit)
    fit = fit[:most]
    try:
        for scene in fit:
            check_scene(scene)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    rest = iter(fit)
    for pool, size in replace(spec, images=len(fit)).pools().items():
        for k in range(0, size, spec.shard):
            write_spool(spool / f"{pool}{k // spec.shard}", list(islice(rest, min(spec.shard, size - k))))
    return len(fit), left_out


SUITE = ClevrHypSuite()
