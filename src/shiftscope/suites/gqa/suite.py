"""The spec of GQA-style data, and how graphs are read and asked about."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from ... import suites
from ...errors import UserError
from ...executor import Executor
from ...questions.gqa.scene_view import GqaVocabulary
from ...questions.gqa.templates import GqaQuestioner
from ...render import CPU
from ...store.image import StoredImage
from ...store.manifest import DatasetInfo, MakeCommand
from .. import Option, ProgressBar, ShardPlan, graph_inputs, option
from ..sources import credit_sources
from ..split_graphs import SPLITS, SplitGraphs, read_user_graphs, write_graphs

WORDS = "words.json"


@dataclass(frozen=True, slots=True)
class GqaSpec(suites.SuiteSpec):
    suite: ClassVar[str] = "gqa"
    version: ClassVar[int] = 2

    graphs: tuple[str, ...] = ()  # given files, by name and content
    images: str = ""  # the folder of their pictures, by name and content, if there is one
    questions: int = option(4, "Questions per image, at most.", min=1)
    share: int = option(6, "One image in so many is for val, and one for test.", min=3)
    seed: int = suites.seed_option("questions")
    overlap: tuple[str, ...] = ("schema",)  # who says which words exclude which
    shard: int = suites.shard_option(1000)

    def __post_init__(self) -> None:
        if self.questions < 1 or self.shard < 1 or self.share < len(SPLITS):
            raise UserError(f"questions and shard size are at least 1, the share at least {len(SPLITS)}")

    def splits(self) -> dict[str, int]:
        """At least one graph each; how many there are depends on the graphs."""
        return dict.fromkeys(SPLITS, 1)


class GqaSuite(suites.Suite[GqaSpec]):
    spec = GqaSpec
    about = DatasetInfo(
        title="GQA-style questions, made by ShiftScope",
        summary="Questions about one image each, made from scene graphs, with programs and executed answers; "
        "descriptions often say more than is needed to tell what is meant.",
    )
    help = "Make GQA-style questions: about one image each, from scene graphs, saying more than they must."
    options: Mapping[str, Option] = {
        "graphs": Option(
            "Scene graphs: GQA, Visual Genome regions, imSitu; several files are taken together.",
            type=list[Path],
            required=True,
        ),
        "images": Option("The folder of their pictures; graphs without one are left out.", type=Path),
        "overlap": Option(
            "Who says which words exclude which: schema, wordnet, wordnet:FOLDER, table:FILE, "
            "nli:MODEL; may be repeated.",
            type=list[str],
        ),
    }

    def count_images(self, spec: GqaSpec, split: str, k: int, inputs: Any = None) -> int:
        return 0  # which images a shard has depends on its questions

    def sample(self, spec: GqaSpec, split: str, k: int, inputs: Any = None, *, grounding: bool = False) -> ShardPlan:
        """The graphs about which there is something to ask, and the questions."""
        folder, given = inputs
        graphs, questioner = _load_questioner(folder, given.overlap_sources, split, spec.seed)
        scenes, questions, files = [], [], []
        for number in range(k * spec.shard, min((k + 1) * spec.shard, len(graphs))):
            scene = graphs.scene(number)
            if found := questioner.generate_questions(scene, spec.questions, split, graphs.list_elsewhere(number)):
                questions += found
                scenes.append(scene)
                files.append(given.files[graphs.sources[number]])
        return ShardPlan(scenes, questions, files)

    def draws(self, spec: GqaSpec, inputs: Any = None) -> bool:
        return False

    def draw(
        self, spec: GqaSpec, split: str, plan: ShardPlan, inputs: Any = None, device: str = CPU
    ) -> Sequence[StoredImage]:
        _, given = inputs
        pairs = zip(plan.scenes, plan.files, strict=True)
        return [graph_inputs.load_stored_image(scene, file, given.images) for scene, file in pairs]

    def check(self, spec: GqaSpec, inputs: Any = None) -> None:
        """It has no world of its own."""
        if not spec.graphs:
            raise UserError("gqa is made from scene graphs: shiftscope make gqa --graphs FILE --out DIR")

    def credit(self, spec: GqaSpec, inputs: Any = None) -> DatasetInfo:
        return credit_sources(self.about, inputs.files, inputs.images)

    @contextmanager
    def prepare(
        self, spec: GqaSpec, out: Path, inputs: Any, executor: Executor, bar: ProgressBar
    ) -> Iterator[suites.PreparedInputs]:
        """Read the graphs, deal them into splits, collect their words."""
        self.check(spec)
        left_out = dict.fromkeys(("repeated", "empty", "without_picture"), 0)
        with TemporaryDirectory() as spool:
            folder = Path(spool)
            with bar("reading graphs") as progress:
                lines = read_user_graphs(inputs, spec.share, progress or suites.ignore_progress, left_out)
                write_graphs(lines, folder, left_out)
            counts = {split: len(SplitGraphs(folder, split)) for split in SPLITS}
            # The words of the training graphs, or of all where none is for training.
            learned = SPLITS[:1] if counts[SPLITS[0]] else SPLITS
            scenes = (scene for split in learned for scene in SplitGraphs(folder, split).scenes())
            (folder / WORDS).write_text(json.dumps(GqaVocabulary.from_scenes(scenes).to_json()), "utf-8")
            yield suites.PreparedInputs(spec.spec(), spec.jobs(counts), (folder, inputs), left_out)

    def label(self, spec: GqaSpec, inputs: Any = None) -> str:
        return "asking"

    def make(self, spec: GqaSpec, out: Path, inputs: Any = None, **how: Any) -> suites.MadeDataset:
        made = super().make(spec, out, inputs, **how)
        if not len(made.dataset):
            raise UserError("the graphs were read, and none says anything that can be asked about")
        return made

    def read_options(self, given: Mapping[str, Any]) -> tuple[GqaSpec, Any]:
        rest = self.spec.parse_options(given)
        return build_gqa_spec(given["graphs"], given["images"], given["overlap"] or [], **rest)

    def make_command(self, spec: Mapping[str, Any]) -> MakeCommand:
        given, needs = graph_inputs.list_input_options(spec, ("graphs", "images"))
        return MakeCommand({**given, **super().make_command(spec).options}, needs)

    def describe(self, made: suites.MadeDataset) -> suites.MakeReport:
        data = made.dataset
        forms = {s: Counter(q.provenance.template for q in data.questions(s)) for s in data.splits}
        splits = {s: {"images": data.count(s)[0], "questions": dict(sorted(forms[s].items()))} for s in forms}
        names = sorted({name for found in forms.values() for name in found})
        rows = [(name, *(f"{found[name]:,}" for found in forms.values())) for name in names]
        rows.append(("all", *(f"{data.count(s)[1]:,} about {data.count(s)[0]:,} images" for s in data.splits)))
        text: list[str | suites.TextTable] = [suites.TextTable(("form", *data.splits), rows)]
        text += graph_inputs.describe_left_out(made.notes)
        record = suites.describe_folder(data) | {"splits": splits, "graphs_left_out": made.notes}
        return suites.MakeReport(record, [*text, suites.describe_done(data)])


@lru_cache(maxsize=1)
def _load_questioner(
    folder: Path, sources: graph_inputs.OverlapSources, split: str, seed: int
) -> tuple[SplitGraphs, GqaQuestioner]:
    graphs = SplitGraphs(folder, split)
    words = GqaVocabulary.from_json(json.loads((folder / WORDS).read_bytes()))
    return graphs, GqaQuestioner(words, sources.build_overlap(graphs.scene(0).schema), seed)


def build_gqa_spec(
    graphs: Sequence[Path], images: Path | None, overlap: Sequence[str], **rest: Any
) -> tuple[GqaSpec, graph_inputs.GraphInputs]:
    graph_inputs.GraphInputs(tuple(graphs), images=images)  # they are there
    schema = graph_inputs.read_schema(graphs[0])
    if schema.closed:
        raise UserError(f"{graphs[0]}: {schema.name} scenes have no graph of named relations to ask about")
    sources = graph_inputs.OverlapSources.from_names(overlap or ["schema"], schema)
    files = tuple(map(graph_inputs.identify_file, graphs))
    pictures = graph_inputs.identify_pictures(images) if images else ""
    spec = GqaSpec(graphs=files, images=pictures, overlap=tuple(sources.to_spec()), **rest)
    return spec, graph_inputs.GraphInputs(tuple(graphs), images=images, overlap_sources=sources)


SUITE = GqaSuite()
