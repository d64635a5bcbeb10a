"""Conditions: the same question asked so that one stage is taken away from the model, or done for it.

as_is        the image and the question
blind        no image: what the language alone gives away
other_image  the image of another scene: whether the image is looked at
scene_text   the scene in words instead of the image: seeing is done for the model
program_text the program in words beside the question: parsing is done for the model
true_outcome the image after the action, drawn from the true scene, and the question without the action: acting is
             done for the model

`missing_image` is no choice of the user: what would show a picture that is not there is asked without it, if
that is allowed, and counted apart.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from ..errors import UserError, unknown
from ..lang.exec.exact import Undefined, execute
from ..lang.program import split_action
from ..lang.text import format_program
from ..model import Prompt
from ..picture import Picture
from ..prompt import check_mode, describe_scene, format_prompt, join_action
from ..question import JOINED, Question
from ..records import content_id
from ..result import CONDITIONS, IMAGE_CONDITIONS, MISSING_IMAGE, TRUE_OUTCOME
from ..scene import Scene
from ..store.dataset import Dataset, ImageIndex
from ..store.image import StoredImage
from ..store.shard import Shard, ShardFile, iterate_row_groups, read_questions

CACHED_PICTURES = 64
OUTCOME_QUESTIONS = 320  # whose pictures are drawn together, by several threads
Ids = frozenset[str]


@dataclass(frozen=True, slots=True)
class EvalExample:
    """A question with its answer and its own scenes, and the prompt that is made of it.

    Of several images all are shown, or none where one `lacks`: why one cannot be, in words.
    """

    question: Question
    scenes: tuple[Scene, ...]
    prompt: Prompt
    lacks: str = ""
    content: str = ""  # the same for the same question about the same images, in whichever dataset
    options: tuple[str, ...] = ()  # of a multiple choice, in order


def drop_image(item: EvalExample, mode: str) -> EvalExample:
    """The same question asked without its picture, because there is none."""
    question = item.prompt.question
    text = format_prompt(question, mode, blind=True)
    return replace(item, prompt=Prompt(question=question, text=text, condition=MISSING_IMAGE))


def read_conditions(words: Sequence[str]) -> tuple[str, ...]:
    """The conditions named, in the order of the list above; `all` names every one that needs no action."""
    named = [one for word in words for one in word.split(",") if one]
    for one in named:
        if one not in (*CONDITIONS, "all"):
            raise unknown("condition", one, (*CONDITIONS, "all"))
    if not named:
        raise UserError(f"no condition is named; known: {', '.join((*CONDITIONS, 'all'))}")
    return tuple(c for c in CONDITIONS if c in named or ("all" in named and c != TRUE_OUTCOME))


class DatasetPrompts:
    """The prompts of a split, condition by condition, in the dataset's order."""

    remedy = "make the data again with pictures"  # where some have none

    def __init__(self, dataset: Dataset, split: str, mode: str, joined: bool = False, only: Ids | None = None) -> None:
        check_mode(mode)
        self._dataset, self._split, self._mode, self._joined, self._only = dataset, split, mode, joined, only
        self._index = ImageIndex(dataset.folder, dataset.shards(), dataset.check_file)
        self._shards = dataset.shards(split)
        self._others: ImageSwap | None = None
        self._contents: dict[str, str] = {}
        self._pictures: dict[str, Picture] = {}

    def ids(self, limit: int | None = None) -> list[str]:
        """The ids of the questions asked, in order; programs and texts are not read."""
        return [name for name, _ in self._iter_questions(limit)]

    def missing_pictures(self, limit: int | None = None) -> dict[str, str]:
        """The questions asked about an image that has no picture, each with the first such image."""
        without = self._dataset.list_ids_without_picture()
        if not without:
            return {}
        pairs = self._iter_questions(limit)
        return {q: next(i for i in images if i in without) for q, images in pairs if without & set(images)}

    def pictures(self, limit: int | None = None) -> dict[str, str]:
        """None lies outside of the dataset."""
        return {}

    def _iter_questions(self, limit: int | None) -> Iterator[tuple[str, list[str]]]:
        """The ids of the questions asked, and of their images, in order."""
        columns = ["question_id", "image_ids"]
        pairs = (
            pair
            for shard in self._shards
            if shard.questions
            for table in iterate_row_groups(self._check_file(shard.questions), columns)
            for pair in zip(*(table[name].to_pylist() for name in columns), strict=True)
        )
        return islice((pair for pair in pairs if self._only is None or pair[0] in self._only), limit)

    def _check_file(self, file: ShardFile) -> Path:
        self._dataset.check_file(file)
        return self._dataset.folder / file.path

    def iter_examples(self, condition: str, limit: int | None = None, done: Ids = frozenset()) -> Iterator[EvalExample]:
        """The prompts under a condition, but for the questions that are done."""
        every = self._only is None and limit is None and not done
        wanted = None if every else frozenset(self.ids(limit)) - done
        for shard in self._shards:
            questions = iter(read_questions(self._check_file(shard.questions), wanted) if shard.questions else ())
            while condition == TRUE_OUTCOME and (some := list(islice(questions, OUTCOME_QUESTIONS))):
                yield from self._show_outcomes(some, shard)
            for question in questions:
                images = tuple(self._index.get(name, shard) for name in question.scenes)
                yield self._build_example(condition, question, images, shard)

    def _build_example(
        self, condition: str, question: Question, images: tuple[StoredImage, ...], shard: Shard
    ) -> EvalExample:
        own = tuple(image.scene for image in images)
        shown, scene, program = images, "", ""
        if condition == "other_image":
            shown = self._swap_images(question, shard)
        elif condition == "scene_text":
            scene = "\n".join(map(describe_scene, own))
        elif condition == "program_text" and question.program is not None:
            program = format_program(question.program)
        blind = condition == "blind"
        pictured = condition in IMAGE_CONDITIONS
        lacks = next((image.id for image in (*images, *shown) if not image.png), "") if pictured else ""
        unanswered = replace(question, answer=None, answers=(), grounding=())
        if self._joined:
            unanswered = join_action(unanswered)
        prompt = Prompt(
            question=unanswered,
            text=format_prompt(unanswered, self._mode, blind=blind, scene=scene, program=program),
            pictures=tuple(map(self._get_picture, shown)) if pictured and not lacks else (),
            scenes=() if blind else tuple(image.scene for image in shown),
            scene_text=scene,
            program_text=program,
            condition=condition,
        )
        return self._pair_example(question, images, prompt, lacks)

    def _show_outcomes(self, questions: Sequence[Question], shard: Shard) -> Iterator[EvalExample]:
        """Questions about what an action leads to, asked of its picture in the size of the one before."""
        from ..render import open_renderer

        images = {name: self._index.get(name, shard) for question in questions for name in question.scenes}
        outcomes: dict[tuple[str, str], Scene] = {}
        for question in questions:
            key = question.scenes[0], question.action
            if key not in outcomes:
                outcomes[key] = run_action(question, images[key[0]].scene)
        sizes = {image.id: Picture(image.png, name=image.id).size() for image in images.values() if image.png}
        pictures: dict[tuple[str, str], Picture] = {}
        for size in dict.fromkeys(sizes.values()):
            mine = [key for key in outcomes if sizes.get(key[0]) == size]
            drawn = open_renderer().render([outcomes[key] for key in mine], ("rgb",), size)
            for key, image in zip(mine, drawn, strict=True):
                assert image.rgb is not None
                pictures[key] = Picture(block=image.rgb[None], name=key[0])
        for question in questions:
            key = question.scenes[0], question.action
            asked = ask_outcome(question)
            prompt = Prompt(
                question=asked,
                text=format_prompt(asked, self._mode),
                pictures=(pictures[key],) if key in pictures else (),
                scenes=(outcomes[key],),
                condition=TRUE_OUTCOME,
            )
            yield self._pair_example(question, (images[key[0]],), prompt, "" if key in pictures else key[0])

    def _pair_example(
        self, question: Question, images: tuple[StoredImage, ...], prompt: Prompt, lacks: str
    ) -> EvalExample:
        for image in images:  # what an image shows is digested once for all questions about it
            if image.id not in self._contents:
                self._contents[image.id] = image.scene.content_id()
        content = digest_content(question, [self._contents[image.id] for image in images])
        own = tuple(image.scene for image in images)
        return EvalExample(question, own, prompt, f"image {lacks!r} has no picture" if lacks else "", content)

    def _get_picture(self, image: StoredImage) -> Picture:
        """One Picture for all questions about an image: they come one after the other."""
        if image.id not in self._pictures:
            if len(self._pictures) >= CACHED_PICTURES:
                self._pictures.clear()
            self._pictures[image.id] = Picture(image.png, name=image.id)
        return self._pictures[image.id]

    def _swap_images(self, question: Question, shard: Shard) -> tuple[StoredImage, ...]:
        if self._others is None:  # among the images with a picture; among all where none has one
            files = [self._check_file(shard.images) for shard in self._shards if shard.images]
            tables = (table for file in files for table in iterate_row_groups(file, ["image_id"]))
            ids = [name for table in tables for name in table["image_id"].to_pylist()]
            without = self._dataset.list_ids_without_picture()
            self._others = ImageSwap([name for name in ids if name not in without] or ids)
        names = self._others.pick_images(question.scenes)
        if names is None:
            raise UserError(
                f"split {self._split!r} has too few images to show others; leave out --condition other_image"
            )
        return tuple(self._index.get(name, shard) for name in names)


def run_action(question: Question, scene: Scene) -> Scene:
    """The scene that a question's action leads to; a question without any is refused."""
    action = split_action(question.program)[0] if question.program is not None else None
    if action is None or len(question.scenes) != 1:
        raise UserError(
            f"question {question.id!r} tells of no action on one image with a program, whose outcome could be shown; "
            f"leave out --condition {TRUE_OUTCOME}"
        )
    run = execute(action, scene)
    if isinstance(run.answer, Undefined):
        raise UserError(f"the action of question {question.id!r} cannot be done: {run.answer}")
    after: Scene = run.worlds[-1].scenes[0]
    return after


def ask_outcome(question: Question) -> Question:
    """The question as it is put to who sees the scene after its action, without its answer."""
    assert question.program is not None
    asked, notes = split_action(question.program)[1], tuple(note for note in question.notes if note[0] != JOINED)
    return replace(question, action="", program=asked, notes=notes, answer=None, answers=(), grounding=())


def digest_content(question: Question, images: Sequence[str]) -> str:
    """What is asked, and about what: `images` are the same where the same is shown."""
    answers = [question.answer, *question.answers]
    return content_id([question.text, question.action, answers, list(images)])


class ImageSwap:
    """For each image another, half the split further on: no neighbour, and read in order like the first."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._ids = list(ids)
        self._places = {name: k for k, name in enumerate(self._ids)}

    def pick_images(self, names: Sequence[str]) -> list[str] | None:
        """As many images, none of them among those given; None where there are not enough."""
        size, taken, found = len(self._ids), set(names), []
        if size < 2 * len(taken):
            return None
        for name in names:
            place = self._places.get(name, 0) + size // 2
            while self._ids[place % size] in taken:
                place += 1
            found.append(self._ids[place % size])
            taken.add(found[-1])
        return found
