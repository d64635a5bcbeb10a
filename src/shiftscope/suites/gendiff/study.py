"""The study of generalization differences: both families of models learn from one world's COVR-style questions.

End-to-end models see regions of every image; neuro-symbolic ones parse the question, see each image by itself, and
execute. The data are those of COVR's study, so that its entries count here too (`--known`). Another benchmark of the
same world, Super-CLEVR's questions about one image, stands for the other side of a transfer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import UserError, unknown
from ...metrics.held_out_matrix import HeldOutMatrix
from ...metrics.held_out_records import HELD_OUT, IID, K_SHOT, OTHER, HeldOutTraining
from ...shift.held_out import COVR_SPLITS
from ..held_out_study import DerivedTestPlan, FigureTable, HeldOutStudy, StudyModel, load_held_out_study
from ..study import Finding
from .reported import SHOT_ROWS, SHOTS

VISUALBERT, TEXT_ONLY, VILBERT = "visualbert", "visualbert_text", "vilbert"
COMPOSING, T5, T5_ORIGINAL, BART, GPT2 = "composing", "t5", "t5_original", "bart", "gpt2"
LXMERT, NSVQA = "lxmert", "nsvqa"  # end-to-end and neuro-symbolic, about one image
PARSER_SIZES = ("width", "layers", "heads", "inside")


def _name_parser(parser: str, form: str = "compositional") -> StudyModel:
    return StudyModel("neuro_symbolic", (("parser", parser), ("form", form)), PARSER_SIZES)


MODELS: Mapping[str, StudyModel] = {
    VISUALBERT: StudyModel(VISUALBERT),
    TEXT_ONLY: StudyModel(TEXT_ONLY),
    COMPOSING: StudyModel("neuro_symbolic", (("parser", COMPOSING),)),
    T5: _name_parser("t5"),
    T5_ORIGINAL: _name_parser("t5", "original"),
    VILBERT: StudyModel(VILBERT),
    BART: _name_parser("bart"),
    GPT2: _name_parser("gpt2"),
    LXMERT: StudyModel(LXMERT),
    NSVQA: StudyModel(NSVQA, shipped=True),
}
SEEN = (VISUALBERT, VILBERT)  # end-to-end
OF_ONE_IMAGE = (LXMERT, NSVQA)  # learn from the other benchmark alone, and are asked about it alone
NEURO_SYMBOLIC = (BART, GPT2, T5, COMPOSING)  # in the order of the paper's columns, ours last
SEGMENTS, CONTRAST, OTHER_SPLIT, OBJECTS = "segment_combine", "contrast", "other", "objects"
TABLE_4 = (
    *("tpl_choose_object", "tpl_verify_quant_attr", "tpl_verify_attr"),
    *("has_count_has_attr", "has_count_rm_v_c", "has_sameattr_color"),
)
ZERO_SHOT_SPLITS = tuple(name for name, split in COVR_SPLITS.items() if not split.shots)
TRIAL_SPLIT = "tpl_verify_attr"
OTHER_SUITE = "superclevr"
OTHER_QUESTIONS = 2_000  # of its test split that are asked: parsers take their time over questions they never met


@dataclass(frozen=True, slots=True)
class GenDiffScale:
    """A size of study: that of COVR's study of the same name, and of what comes besides."""

    name: str
    covr: Any
    other_images: int  # of the other benchmark, over train, val and test
    splits: tuple[str, ...] = ZERO_SHOT_SPLITS  # that are held out
    shot_rows: tuple[tuple[str, str], ...] = SHOT_ROWS  # rows of the contrast set with K-shot trainings
    draws: int = 5  # of the example, where K is 1
    epochs: int | None = None  # else as many as a recipe says
    settings: tuple[tuple[str, str], ...] = ()  # sizes of networks


SMALL = (("width", "32"), ("heads", "2"), ("inside", "64"), ("layers", "1"), ("set_layers", "1"))
TRIAL_ROW = ("verify_quant", "some → none of the")


def name_row(kind: str, change: str) -> str:
    """A row of the contrast set, as its test names it."""
    return f"{kind}: {change}"


class GenDiffStudy(HeldOutStudy):
    suite = "gendiff"
    title = "Generalization differences: end-to-end and neuro-symbolic models"
    data_suite = "covr"
    models = tuple(MODELS)
    baselines = ("majority", "majority_per_template")
    splits = ZERO_SHOT_SPLITS
    scales = ("small", "paper")
    data_kinds = (OTHER,)
    test_sets = (
        DerivedTestPlan(SEGMENTS, SEGMENTS),
        DerivedTestPlan(CONTRAST, CONTRAST, options=(("sets", ("quantifiers",)),)),
        DerivedTestPlan(OTHER_SPLIT, data=OTHER, limit=OTHER_QUESTIONS),
        DerivedTestPlan(OBJECTS, CONTRAST, OTHER, (("sets", ("objects",)),), OTHER_QUESTIONS),
    )
    shots = SHOTS
    shots_from = CONTRAST
    differences = (
        (
            "questions",
            "COVR's, over photographs with scene graphs that people wrote",
            "COVR-style questions over rendered scenes of the world superclevr, whose graphs are exact",
        ),
        (
            "end-to-end models",
            "VisualBERT and ViLBERT, pretrained on captions",
            "the same architectures, smaller, over regions of our scene parser, pretrained on captions of the training "
            "images of COVR's questions and on which regions each phrase is true of (docs/decisions/048), once for all "
            "trainings: also of those that learn Super-CLEVR's questions, and with the pairs of names that lexical "
            "splits hold out, which question parsers do not meet",
        ),
        (
            "their epochs, their text-only twin, and words that training never showed",
            "8 epochs; images are zeroed; words are cut into known pieces",
            "as docs/results/covr.md tells: 8 epochs and up to four more; one image of zeros, no captions for the "
            "twin; new words say nothing to the twin, and stand for a hidden word to the others",
        ),
        (
            "question parsers",
            "T5, BART and GPT-2, pretrained on text",
            "the same architectures, smaller, from nothing; beside them a parser that composes (docs/decisions/049)",
        ),
        (
            "scene graphs",
            "of a generator (Causal-TDE) on photographs, which finds about half of what is asked about",
            "of the shipped scene parser of this world, which finds nearly all of it",
        ),
        (
            "in-distribution figures of Table 4",
            "VisualBERT trained on as many questions as the split leaves",
            "trained on all questions",
        ),
        (
            "contrast words",
            "no less than, less than, either none or only some",
            "no fewer than, fewer than, not all of the (docs/guide/generalization-tests.md)",
        ),
        (
            "object substitution (Table 2)",
            "in GQA questions about photographs, by models of one image",
            "in Super-CLEVR questions about one rendered image, by end-to-end models trained on such questions (not "
            "VinVL; visualbert is of its kind, one stream of words and regions). COVR's logical forms cannot say them, "
            "so that the neuro-symbolic model is nsvqa, as it is shipped",
        ),
        (
            "transfer (Table 5)",
            "GQA, which has programs, to VQA and back",
            "COVR-style questions, which have programs, to Super-CLEVR questions about one image and back",
        ),
        (
            "K-shot examples",
            "of the contrast set itself",
            "of the same changes in training questions, so that no test question is learned from",
        ),
    )

    @property
    def all_splits(self) -> tuple[str, ...]:
        return IID, *self.splits, OTHER, K_SHOT

    def find_model(self, name: str) -> StudyModel:
        return MODELS.get(name, StudyModel(name))

    def find_scale(self, name: str) -> GenDiffScale:
        if name not in self.scales:
            raise unknown("scale", name, self.scales)
        covr = load_held_out_study(self.data_suite).find_scale(name)
        if name == "small":
            return GenDiffScale(name, covr, 60, (TRIAL_SPLIT,), (TRIAL_ROW,), 2, covr.epochs, SMALL)
        return GenDiffScale(name, covr, 6_000, epochs=covr.epochs)

    def build_spec(self, scale: GenDiffScale, kind: str) -> Any:
        if kind != OTHER:
            return load_held_out_study(self.data_suite).build_spec(scale.covr, kind)
        from .. import load_suite

        return load_suite(OTHER_SUITE).spec(
            images=scale.other_images,
            size=scale.covr.size,
            questions=8,
            part_questions=0,
            shard=min(250, scale.other_images // 3),
        )

    def list_test_sets(self, training: HeldOutTraining) -> tuple[str, ...]:
        if training.kind == K_SHOT:
            return ("", CONTRAST) if training.model in SEEN else (CONTRAST,)  # the first also tells whether it sees
        if training.kind == OTHER:
            return (OTHER_SPLIT, OBJECTS) if training.model in OF_ONE_IMAGE else ("", OTHER_SPLIT, OBJECTS)
        if training.kind == IID and training.model not in (*self.baselines, TEXT_ONLY):
            return "", SEGMENTS, CONTRAST, OTHER_SPLIT
        return ("",)

    def list_trainings(
        self,
        models: Sequence[str],
        splits: Sequence[str],
        seeds: Sequence[int],
        *,
        shots: Sequence[int] = (),
        scale: Any = None,
    ) -> list[HeldOutTraining]:
        self.check_choice(models, splits, seeds)
        if min(shots, default=0) < 0:
            raise UserError(f"{min(shots)} shots cannot be drawn; give 0 or more")
        scale = scale or self.find_scale(self.scales[-1])
        found = [HeldOutTraining(name) for name in self.baselines if name in models and IID in splits]
        chosen = [name for name in self.models if name in models]
        without = (VISUALBERT, T5, COMPOSING) if K_SHOT in splits and 0 in shots else ()  # K = 0: no example
        in_domain = [n for n in chosen if n not in OF_ONE_IMAGE and (IID in splits or n in without)]
        found += [HeldOutTraining(name, seed=seed) for name in in_domain for seed in seeds]
        for split in (*TABLE_4, *(name for name in self.splits if name not in TABLE_4)):
            if split not in scale.splits:
                continue
            held = [VISUALBERT] if split in TABLE_4 else []  # on the others it is in COVR's study
            held += [T5, T5_ORIGINAL, COMPOSING]
            found += [
                HeldOutTraining(model, HELD_OUT, split, 0, seed)
                for model in held
                if model in chosen and split in splits
                for seed in seeds
            ]
        if OTHER in splits:
            found += [HeldOutTraining(name, OTHER) for name in (LXMERT, *SEEN, NSVQA) if name in chosen]
        if K_SHOT in splits:
            found += [
                HeldOutTraining(model, K_SHOT, name_row(*row), k, draw)
                for model in (VISUALBERT, T5, COMPOSING)
                if model in chosen
                for row in scale.shot_rows
                for k in shots
                if k
                for draw in range(scale.draws if k == 1 else 1)
            ]
        return found

    def describe_scale(self, scale: GenDiffScale) -> str:
        data = load_held_out_study(self.data_suite).describe_scale(scale.covr)
        return f"{data} The other benchmark has {scale.other_images:,} images, two thirds of them to learn from."

    def list_tables(self, matrix: HeldOutMatrix | None) -> Iterator[FigureTable]:
        from .tables import list_tables

        return list_tables(matrix)

    def check_findings(self, matrix: HeldOutMatrix | None) -> Iterator[Finding]:
        from .findings import check_findings

        return check_findings(matrix)

    def write_command(self, training: HeldOutTraining) -> str:
        what = training.split if training.kind == HELD_OUT else training.kind
        more = f" --shots {training.shots}" if training.kind == K_SHOT else ""
        more += f" --seeds {training.seed}" if training.seed and training.kind != K_SHOT else ""
        return (
            f"shiftscope study {self.suite} --scale paper --models {training.model} --splits {what}{more} "
            "--minutes 8 --out DIR"
        )


STUDY = GenDiffStudy()
