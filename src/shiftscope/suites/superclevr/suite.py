"""Super-CLEVR's spec, and how its shards are made: new, as twins of a base, or about a user's own scenes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache, reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Self

from ... import suites
from ...errors import UserError
from ...executor import Executor
from ...geometry.camera import SIZE, check_size
from ...geometry.shapes.superclevr import vehicles_digest
from ...question import Notes, Question
from ...questions.clevr.generator import generate_questions
from ...questions.clevr.packed_scenes import PackedScenes
from ...questions.clevr.redundancy import generate_levels
from ...questions.clevr.template import TemplateSet
from ...questions.clevr.template_sets import builtin_part_templates, builtin_templates
from ...render import CPU
from ...scene import Scene
from ...schema import Schema
from ...schemas.superclevr import SCHEMA
from ...store.dataset import Dataset
from ...store.image import StoredImage
from ...store.manifest import DatasetInfo, MakeCommand
from ...store.shard import ShardFile, SharedImages, read_shard_scenes
from ...world import Sampling
from ...world import superclevr as world
from ...world.superclevr.concepts import BALANCED, ConceptDistribution, read_concept_file
from .. import Option, ProgressBar, ShardPlan, option, planted_shortcuts
from ..scene_images import read_spool
from ..sources import credit_sources
from . import inputs as _inputs
from .variants import DEFAULT, VARIANTS, SuperclevrVariant, find_variant

SHARE = 6  # one image in so many is for validation, and one for testing, as in the release
MOST_QUESTIONS = 1000  # per image; more than its scene could ever give
OWN = "own"  # the variant whose concepts are the user's
GIVEN = "given"  # the split of a user's own scenes, and where the spec identifies them
PICTURED = "pictured"  # where the spec says whether these were rendered
OWN_SIZE: dict[str, Any] = {"size": None}  # in the spec: each is rendered at its own
SHARED_QUESTIONS = ("visual", "redundancy")  # factors whose twins ask the same questions


class VisualLevel(StrEnum):
    EASY = "easy"
    MID = "mid"
    HARD = "hard"


EARLIER_MESHES = {2: "d493da1144742b7bb55d6cb77a4a3387"}  # by the version of the data that they were drawn in


@dataclass(frozen=True, slots=True)
class SuperclevrSpec(suites.SuiteSpec):
    suite: ClassVar[str] = "superclevr"
    version: ClassVar[int] = 3
    schema: ClassVar[Schema] = SCHEMA
    question_fields: ClassVar[tuple[str, ...]] = ("questions", "part_questions")

    variant: str = option(
        DEFAULT,
        "default (mid, rd, bal and co-0), easy, hard, rd-, rd+, slt, long, head, tail, oppo, co-1 or co-2; "
        "head, tail and oppo have a test split alone.",
    )
    visual: str = option(
        "mid", "Whole vehicles, parts of their own colour, or textures too.", shown=None, type=VisualLevel, parse=str
    )
    images: int = option(
        30_000, "How many, over train, val and test (4 : 1 : 1); else 30,000.", shown=None, type=int, min=1
    )  # a variant for testing only has its test split alone
    seed: int = suites.seed_option()
    size: tuple[int, int] = suites.size_option(
        "Width and height in pixels, or 'paper': 640x480; else 480x320, or what the given scenes say.",
        default="",
        paper=(640, 480),
    )
    questions: int = option(10, "Questions about vehicles, per image.", min=0)
    part_questions: int = option(10, "Questions about parts, per image.", min=0)  # none without parts
    shard: int = suites.shard_option(250)  # answers are balanced within a shard
    concepts: ConceptDistribution | None = None  # the user's own; else the variant's
    shortcut: str | None = planted_shortcuts.shortcut_option()
    ood: str | None = planted_shortcuts.ood_option()

    def __post_init__(self) -> None:
        least = SHARE if self.kind.test_only else 1
        if self.images < least:
            raise UserError(
                f"{self.images} images are too few for {self.variant}: at least {least}, of which one in "
                f"{SHARE} is for testing"
            )
        if self.shard < 1 or not all(0 <= n <= MOST_QUESTIONS for n in (self.questions, self.part_questions)):
            raise UserError(
                f"shard size must be at least 1, questions per image from 0 to {MOST_QUESTIONS:,} of each sort"
            )
        if self.kind.factor == "visual" and self.visual != self.variant:
            raise UserError(f"variant {self.variant} is {self.variant}; it cannot be made {self.visual}")
        if self.kind.concepts != VARIANTS[DEFAULT].concepts and self.concepts is not None:
            raise UserError(f"variant {self.variant} has its own distribution; give yours without --variant")
        if self.shortcut is not None and self.variant != DEFAULT:
            raise UserError(f"shortcuts are planted in the default alone, not in {self.variant}; omit --variant")
        check_size(self.size)
        self.rules()
        planted_shortcuts.check_fields(self)

    @classmethod
    def from_variant(cls, variant: str = DEFAULT, visual: str = "", **rest: Any) -> Self:
        """As a user names it: `mid` is the default, and the default at another visual level that level."""
        found = find_variant(variant or DEFAULT)
        name = find_variant(visual).name if found.name == DEFAULT and visual else found.name
        return cls(name, visual or found.visual, **rest)

    @property
    def kind(self) -> SuperclevrVariant:
        return find_variant(self.variant)

    @property
    def name(self) -> str:
        """The variant that its examples name."""
        if self.shortcut is not None:
            return planted_shortcuts.NAME
        return OWN if self.concepts else self.variant

    def list_templates(self) -> tuple[TemplateSet, ...]:
        return builtin_templates(SCHEMA), builtin_part_templates(SCHEMA)

    def rules(self) -> world.SuperClevrRules:
        return world.SuperClevrRules(size=self.size, visual=self.visual, concepts=self.concepts or self.kind.concepts)

    def base(self) -> Self:
        """The spec of the dataset whose layouts and questions this one shares; itself for the default."""
        if self.kind.factor == "visual":
            return replace(self, variant=DEFAULT, visual="mid")
        at = find_variant(self.visual).name  # the default, at this visual level
        return replace(self, variant=at, concepts=None)

    def identify(self, version: int | None = None) -> dict[str, Any]:
        given = version or self.version
        meshes = EARLIER_MESHES.get(given) or vehicles_digest()
        return {"suite": self.suite, "version": given, "meshes": meshes}

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Self:
        found = cls.read_fields(spec)
        own = ConceptDistribution.from_json(spec["concepts"]) if "concepts" in spec else None
        return cls(**found | {"size": found["size"] or SIZE, "concepts": own})

    def shard_range(self, split: str, k: int) -> range:
        size = self.images if split == GIVEN else self.splits()[split]  # a user's own scenes are all of one split
        return range(k * self.shard, min((k + 1) * self.shard, size))

    def splits(self) -> dict[str, int]:
        held = self.images // SHARE
        sizes = {"train": self.images - 2 * held, "val": held, "test": held}
        kept = {n: size for n, size in sizes.items() if size and (n == "test" or not self.kind.test_only)}
        return planted_shortcuts.add_ood_split(self, kept)


class SuperclevrSuite(suites.Suite[SuperclevrSpec]):
    spec = SuperclevrSpec
    about = DatasetInfo(
        title="Super-CLEVR, made by ShiftScope",
        summary="Vehicles with parts, rendered with masks; questions about vehicles and about their parts, with "
        "programs and twice-checked answers. Variants differ from the default in one factor only.",
    )
    help = "Make a Super-CLEVR dataset or a study of all its variants, with parts, masks, questions and answers."
    world = "superclevr"
    trainable = True
    has_sheets = True
    parts = True
    variants: Mapping[str, SuperclevrVariant] = VARIANTS
    options: Mapping[str, Option] = {
        "study": Option("Make every variant, each in OUT/VARIANT.", default=False),
        "check": Option("Compare the twins of the study field by field.", default=False),
        "distribution": Option(
            "Your own shares of shapes, colors, materials or colors by shape: .npz or .csv.", type=list[Path]
        ),
        "scenes": Option("Ask about these Super-CLEVR scenes instead of new ones.", type=Path),
        "no_images": Option("Do not render the given scenes.", default=False),
    }

    def count_images(self, spec: SuperclevrSpec, split: str, k: int, inputs: Any = None) -> int:
        """Inputs are a user's scenes, or the folder of the finished dataset whose scenes a twin changes, or nothing.

        A twin that differs in its questions alone takes over the images of its base.
        """
        if isinstance(inputs, Path) and spec.kind.factor == "redundancy":
            return 0
        return len(spec.shard_range(split, k))

    def begin_scenes(
        self, spec: SuperclevrSpec, split: str, k: int, places: range, inputs: Any = None
    ) -> Sequence[Sampling]:
        rules = spec.rules()
        if isinstance(inputs, Path):
            base = _read_base_scenes(inputs, _find_base_shard(inputs, split, k))
            return [world.begin_concept_twin(base[i], spec.seed, rules) for i in places]
        which = spec.shard_range(split, k)
        return [world.begin_scene(spec.seed, split, which[i], rules) for i in places]

    def sample_scenes(
        self, spec: SuperclevrSpec, split: str, k: int, places: range, inputs: Any = None, *, device: str = CPU
    ) -> Sequence[Scene]:
        if isinstance(inputs, _inputs.UserScenes):
            given = read_spool(inputs.path / str(k))
            return [given[i] for i in places]
        if isinstance(inputs, Path) and spec.kind.factor == "visual":
            base = _read_base_scenes(inputs, _find_base_shard(inputs, split, k))
            return [world.visual_twin(base[i], spec.visual, spec.seed) for i in places]
        return super().sample_scenes(spec, split, k, places, inputs, device=device)

    def ask(
        self,
        spec: SuperclevrSpec,
        split: str,
        k: int,
        scenes: Sequence[Scene],
        inputs: Any = None,
        *,
        grounding: bool = False,
    ) -> Sequence[Question]:
        if spec.shortcut is not None:
            return planted_shortcuts.ask_planted(self, spec, split, k, scenes, grounding)
        return make_questions(spec, scenes, split, k, grounding)

    def sample(
        self, spec: SuperclevrSpec, split: str, k: int, inputs: Any = None, *, grounding: bool = False
    ) -> ShardPlan:
        if self.count_images(spec, split, k, inputs):
            return super().sample(spec, split, k, inputs, grounding=grounding)
        file = _find_base_shard(inputs, split, k)
        scenes = _read_base_scenes(inputs, file)
        return ShardPlan(
            scenes, self.ask(spec, split, k, scenes, grounding=grounding), images=SharedImages(inputs, file)
        )

    def draws(self, spec: SuperclevrSpec, inputs: Any = None) -> bool:
        return not isinstance(inputs, _inputs.UserScenes) or inputs.pictured

    def draw(
        self, spec: SuperclevrSpec, split: str, plan: ShardPlan, inputs: Any = None, device: str = CPU
    ) -> Sequence[StoredImage]:
        if isinstance(inputs, _inputs.UserScenes):
            if not inputs.pictured:
                return [StoredImage(scene) for scene in plan.scenes]
            size = None if inputs.own_size else spec.size
            return [_inputs.render_user_scene(scene, size or scene.size or SIZE, device) for scene in plan.scenes]
        return super().draw(spec, split, plan, device=device)

    def check(self, spec: SuperclevrSpec, inputs: Any = None) -> None:
        """Sample the first scene: a spec that no scene can meet is refused."""
        if not isinstance(inputs, _inputs.UserScenes):
            world.sample_scene(spec.seed, next(iter(spec.splits())), 0, spec.rules())
            planted_shortcuts.check_ties(self, spec)

    def credit(self, spec: SuperclevrSpec, inputs: Any = None) -> DatasetInfo:
        return credit_sources(self.about, [inputs.path]) if isinstance(inputs, _inputs.UserScenes) else self.about

    @contextmanager
    def prepare(
        self, spec: SuperclevrSpec, out: Path, inputs: Any, executor: Executor, bar: ProgressBar
    ) -> Iterator[suites.PreparedInputs]:
        if not isinstance(inputs, _inputs.UserScenes):
            yield suites.PreparedInputs(spec.spec(), spec.jobs(), inputs)
            return
        with TemporaryDirectory() as spool:
            count = _inputs.spool_user_scenes(inputs.path, Path(spool), spec.shard, executor)
            stored = replace(spec, images=count).spec() | (OWN_SIZE if inputs.own_size else {})
            stored |= {GIVEN: suites.digest_scene_files(inputs.path), PICTURED: inputs.pictured}
            yield suites.PreparedInputs(stored, spec.jobs({GIVEN: count}), replace(inputs, path=Path(spool)))

    def label(self, spec: SuperclevrSpec, inputs: Any = None) -> str:
        return "asking" if isinstance(inputs, _inputs.UserScenes) else f"making {self.name} {spec.name}"

    def summarize(self, notes: Any, dataset: Dataset) -> str:
        """How often concepts occur, beside how often they were asked for."""
        found = _inputs.format_concepts(measure_concepts(dataset))
        planted = planted_shortcuts.format_ties(dataset, self.spec.of(dataset.manifest.spec))
        return "\n".join(filter(None, (found, planted)))

    def read_options(self, given: Mapping[str, Any]) -> tuple[SuperclevrSpec, Any]:
        _refuse_conflicts(given)
        files = given["distribution"] or ()
        own = reduce(lambda found, path: read_concept_file(path, found), files, BALANCED) if files else None
        rest = self.spec.parse_options(given) | {"concepts": own}
        if given["study"]:
            return self.spec(**rest | {"visual": "mid"}), None
        spec = self.spec.from_variant(rest.pop("variant"), rest.pop("visual", ""), **rest)
        if given["scenes"] is None:
            return spec, None
        return spec, _inputs.UserScenes(given["scenes"], not given["no_images"], own_size=not given["size"])

    def run(self, given: Mapping[str, Any], out: Path, **how: Any) -> Iterator[suites.MakeReport]:
        if not given["study"]:
            yield from super().run(given, out, **how)
            return
        from .make_variants import report_study

        spec, _ = self.read_options(given)
        yield from report_study(spec, given["visual"] or "mid", out, given["check"], **how)

    def make_command(self, spec: Mapping[str, Any]) -> MakeCommand:
        """A user's own scenes or shares must be at hand."""
        if spec["meshes"] != vehicles_digest():
            return MakeCommand({}, why_not="its vehicles have other meshes than those of this version")
        options = dict(super().make_command(spec).options)
        needs = []
        if GIVEN in spec:
            options = {name: value for name, value in options.items() if name not in ("visual", "images")}
            options |= {"scenes": "SCENES", "no-images": not spec[PICTURED]}
            needs.append(f"SCENES: the file or folder of scenes that was given (content {spec[GIVEN]})")
        if "concepts" in spec:
            options["distribution"] = "SHARES"
            needs.append("SHARES: the files of shares that were given, each with --distribution (concepts below)")
        return MakeCommand(options, tuple(needs))

    def describe(self, made: suites.MadeDataset) -> suites.MakeReport:
        """How much was made, and how often concepts occur beside how often they were asked for."""
        data = made.dataset
        plain = suites.describe_splits(data, "images" if data.manifest.spec.get(PICTURED, True) else "scenes")
        found, matrix, hidden = measure_concepts(data)
        report = {**plain.data, "concepts": [f._asdict() for f in found]}
        report |= {"colors_by_shape": [t._asdict() for t in matrix]} if matrix else {}
        report |= {"below_pixel_limits": hidden._asdict()} if hidden else {}
        *text, done = plain.text
        rows = [(f.attribute, f.value, "" if f.asked is None else f"{f.asked:.1%}", f"{f.measured:.1%}") for f in found]
        if rows:
            text.append(suites.TextTable(("attribute", "value", "asked for", "measured"), rows))
        if matrix:
            text.append("README.md has the colors of each shape, asked for beside measured")
        if hidden:
            text.append(_inputs.describe_low_visibility(hidden))
        return suites.MakeReport(report, [*text, done])

    def base_spec(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """Given scenes are nobody's variant."""
        if GIVEN in spec:
            return dict(spec)
        made = {name: spec.get(name) for name in ("version", "meshes")}
        return self.spec.of(spec).base().spec() | made

    def build_sheets(self, seed: int) -> dict[str, Any]:
        from .gallery import build_sheets

        return build_sheets(seed)


def _find_base_shard(folder: Path, split: str, k: int) -> ShardFile:
    shard = next(s for s in Dataset.open(folder).shards(split) if s.index == k)
    assert shard.images is not None
    return shard.images


@lru_cache(maxsize=2)  # a shard's scenes are asked for a few at a time
def _read_base_scenes(folder: Path, file: ShardFile) -> list[Scene]:
    return list(read_shard_scenes(folder / file.path))


def _refuse_conflicts(given: Mapping[str, Any]) -> None:
    scenes, study, variant = given["scenes"], given["study"], given["variant"]
    if given["no_images"] and scenes is None:
        raise UserError("--no-images asks about given scenes alone; name them with --scenes")
    if given["no_images"] and given["size"]:
        raise UserError("--no-images renders nothing; omit --size")
    if given["check"] and not study:
        raise UserError("--check compares the twins of a study; add --study")
    if study and (scenes or variant != DEFAULT):
        raise UserError("a study is made of all variants of its own scenes; omit --variant and --scenes")
    if study and given["shortcut"]:
        raise UserError("a study has no planted shortcuts; make them without --study")
    if study and given["distribution"]:
        raise UserError("a study has the distributions of its variants; make your own without --study")
    if scenes is None:
        return
    if find_variant(variant).name != DEFAULT and find_variant(variant).factor != "redundancy":
        raise UserError(f"given scenes cannot be made {variant}; with --scenes a --variant is default, rd- or rd+")
    for name in ("visual", "distribution", "images", "shortcut"):
        if given[name]:
            raise UserError(f"--{name} is for new scenes; omit it with --scenes")


def make_questions(
    spec: SuperclevrSpec, scenes: Sequence[Scene], split: str, k: int, grounding: bool
) -> list[Question]:
    """The questions of a shard, image by image: first about the vehicles, then about their parts."""
    first, level = k * spec.shard, spec.kind.redundancy
    subjects = PackedScenes(scenes)
    # Questions get names that no other variant has; a twin says of which question it is one. Scenes have one name in
    # all variants, so that what is asked about one place is resampled together; but where concepts differ, equal
    # places in the list are unrelated questions, and these are nobody's twins.
    kind = spec.kind
    own, base = (f"_{s.name}" if s.name != DEFAULT else "" for s in (spec, spec.base()))  # what names end with
    named: Notes = (("factor", kind.factor), ("level", kind.level)) if kind.factor else ()
    named += (("variant", spec.name),)
    where: dict[str, Any] = {"seed": spec.seed, "split": split, "shard": k, "grounding": grounding, "notes": named}
    found: list[Question] = []
    if spec.questions:
        where |= {"per_image": spec.questions, "start": first * spec.questions}
        found += generate_levels(subjects, builtin_templates(SCHEMA), (level,), **where)[level]
    if spec.part_questions and any(o.parts for s in scenes for o in s.objects):
        start = spec.images * spec.questions + first * spec.part_questions  # beyond those about vehicles
        where |= {"per_image": spec.part_questions, "start": start}
        found += generate_questions(subjects, builtin_part_templates(SCHEMA), **where)
    place = {scene.id: i for i, scene in enumerate(scenes)}
    found.sort(key=lambda q: place[q.scenes[0]])
    shared = kind.factor in SHARED_QUESTIONS
    return [_name_question(q, own, base if shared else None, len(named)) for q in found]


def _name_question(question: Question, own: str, base: str | None, more: int) -> Question:
    """The question by its name in a variant; with `base`, a twin of its like there. The last `more` notes stay last."""
    name = question.note("twin", question.id)
    if base is None and name + own == question.id:
        return question
    notes = tuple([n for n in question.notes if n[0] not in ("twin", "redundancy")])
    twin: Notes = () if base is None else (("twin", f"{name}{base}"),)
    return replace(question, id=f"{name}{own}", notes=(*notes[:-more], *twin, *notes[-more:]))


def measure_concepts(dataset: Dataset) -> _inputs.ConceptReport:
    """How often concepts occur, and were asked for unless the scenes were given; what of given ones is hardly seen."""
    spec = dataset.manifest.spec
    asked = None if GIVEN in spec else SuperclevrSpec.of(spec).rules().concepts
    return _inputs.count_concepts(dataset, asked, look=GIVEN in spec and bool(spec.get(PICTURED)))


SUITE = SuperclevrSuite()
