"""Examples: read by id from a dataset, and drawn as cards with images, answers and the program's trace."""

import io
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ..answer import Answer, is_same_answer, spell
from ..errors import UserError
from ..lang.exec.exact import execute, format_trace
from ..lang.execution_world import ExecutionWorld
from ..lang.program import Node, Program, ProgramError
from ..prompt import describe_scene
from ..result import AS_IS, Prediction
from ..store.dataset import Dataset, Example, ImageIndex
from ..store.run_log import read_rows
from ..store.shard import iterate_row_groups
from ..store.tables import parse_questions
from .chart.frame import draw_legend_mark
from .markup import NOTHING, Child, Html, render_details, shorten_text, tag
from .measure import spell_fact
from .runs import ReportRun

MOST_ROWS = 50_000  # of a run whose responses are read in full: a second or two


def read_examples(folder: Path, questions: Iterable[str], split: str | None = None) -> Mapping[str, Example]:
    """The examples of these ids with their pictures; ids that the dataset does not know are left out.

    Reads one column of the questions and, beyond that, only the rows asked for.
    """
    dataset = Dataset.open(folder)
    wanted = set(questions)
    shelf = ImageIndex(folder, dataset.shards())
    examples: dict[str, Example] = {}
    for shard in dataset.shards(split if split in dataset.splits else None):
        if shard.questions is None or len(examples) == len(wanted):
            continue
        path = folder / shard.questions.path
        ids = [table["question_id"].to_pylist() for table in iterate_row_groups(path, ["question_id"])]
        if wanted.isdisjoint(i for group in ids for i in group):
            continue
        for group, table in zip(ids, iterate_row_groups(path), strict=True):
            rows = [k for k, i in enumerate(group) if i in wanted]
            for question in parse_questions(table.take(rows)) if rows else ():
                images = tuple(shelf.get(i, shard) for i in question.scenes)
                examples.setdefault(question.id, Example(question, images, shard.split))
    return examples


def read_predictions(run: ReportRun, questions: Iterable[str]) -> Mapping[str, Prediction]:
    """The full predictions of a run for these questions, under no condition: raw response, program and trace.

    Every row of the run is read for it, so that a run of many rows gives none.
    """
    wanted = set(questions)
    if run.folder is None or len(run.log.records) > MOST_ROWS:
        return {}
    rows = (row for _, row in read_rows(run.folder) if row.condition == AS_IS)
    return {row.question: row for row in rows if row.question in wanted}


def has_dataset(folder: Path) -> bool:
    """Whether a finished dataset is there."""
    try:
        Dataset.open(folder)
    except UserError:
        return False
    return True


def has_images(run: ReportRun) -> bool:
    """Whether the dataset of a run is there, with its images."""
    return run.data is not None and has_dataset(run.data)


IMAGE_WIDTH = 440  # pixels: sharp enough at the size of a card
IMAGE_QUALITY = 72


def embed_image(png: bytes, alt: str) -> Html:
    """An inline WebP; `alt` stands for it where images are not seen."""
    from PIL import Image

    with Image.open(io.BytesIO(png)) as opened:
        image = opened.convert("RGB")
    if image.width > IMAGE_WIDTH:
        image = image.resize((IMAGE_WIDTH, round(image.height * IMAGE_WIDTH / image.width)), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    image.save(file, "WEBP", quality=IMAGE_QUALITY, method=4)
    source = f"data:image/webp;base64,{b64encode(file.getvalue()).decode('ascii')}"
    return tag("img", src=source, width=image.width, height=image.height, alt=alt, loading="lazy")


# Where a wrong answer departs from the true one. For a model that gives nothing but its answer the step cannot be
# seen; what can be told is which single step, left out, would give just that answer.

DROPPABLE_OPS = ("filter", "exclude", "relate", "same")  # steps that narrow or move a set of objects
StepNotes = Mapping[int, str]  # remarks on nodes of a program
NO_NOTES: StepNotes = MappingProxyType({})


def find_decisive_steps(program: Program, world: ExecutionWorld, answer: Answer) -> tuple[int, ...]:
    """The nodes of which each, left out alone so that it hands on its input, makes the program give this answer."""
    steps = []
    for i, dropped in enumerate(program.nodes):
        if dropped.op not in DROPPABLE_OPS or len(dropped.inputs) != 1:
            continue
        place = [dropped.inputs[0] if j == i else j - (j > i) for j in range(len(program))]
        rest = (n for j, n in enumerate(program.nodes) if j != i)
        try:
            nodes = tuple(Node(n.op, tuple(place[j] for j in n.inputs), n.params) for n in rest)
            other = execute(Program(nodes), world).answer
        except ProgramError:  # the rest is ill-founded without it
            continue
        if isinstance(other, bool | int | str) and is_same_answer(other, answer):
            steps.append(i)
    return tuple(steps)


def render_program(program: Program, world: ExecutionWorld, notes: StepNotes) -> Html:
    """The program as an indented list with the value of every node, noted steps marked and explained."""
    items = []
    for line in format_trace(program, execute(program, world), world):
        why = notes.get(line.node)
        words: list[Child] = [tag("span", line.text, class_="code"), tag("span", line.value, class_="value")]
        words.append(tag("span", why, class_="why") if why else None)
        items.append(tag("li", words, class_="parts" if why else None, style=f"--depth:{line.depth}"))
    return tag("ul", items, class_="tree")


FACTS = {"kind": "type"} | {
    name: name for name in ("action", "template", "objects", "length", "steps", "factor", "level", "variant")
}
MOST_NOTES = 3  # steps marked, at most, for one answer
MOST_IMAGES = 5  # pictures that the page has an arrangement for
MOST_SCENE_TEXT = 500  # letters of a scene that has no picture


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """One contender's answer to an example."""

    contender: str
    series: int
    answer: str | None
    status: str
    right: bool
    reason: str = ""
    raw: str = ""  # shown where it could not be parsed
    program: str = ""  # the predicted one, where it is not the true one
    trace: str = ""  # the model's own account of its steps


def render_card(example: Example, answers: Sequence[ModelAnswer], facts: Mapping[str, object], **data: str) -> Html:
    """One example with its images, question, true answer and those given; `data` are what the page filters by."""
    known = [f"{FACTS[name]} {spell_fact(facts[name])}" for name in FACTS if name in facts]
    below = tag("p", " · ".join([*known, f"question {example.question.id}"]), class_="facts")
    words = render_words(example, answers, below=below)
    look = "card wide" if len(example.images) > 2 else "card"
    return tag("article", render_images(example), words, class_=look, **data)


def render_words(
    example: Example,
    answers: Sequence[ModelAnswer],
    notes: StepNotes = NO_NOTES,
    *,
    above: Child = None,
    below: Child = None,
) -> Html:
    """What stands beside the images: the question, the answers, the program with its trace."""
    question = example.question
    return tag(
        "div",
        above,
        tag("p", f"{question.action} " if question.action else "", question.text, class_="asked"),
        render_answers(question.answer, answers),
        below,
        render_program_trace(example, answers, notes),
        class_="words",
    )


def render_images(example: Example) -> Html:
    """Every image of the question in its order, numbered where there are several; without one, its scene as text."""
    many, shown = len(example.images), []
    for place, image in enumerate(example.images, 1):
        alt = f"Image {image.id}: a scene of {len(image.scene.objects)} objects"
        number = tag("span", place, class_="place", title=alt) if many > 1 else None
        if image.png:
            shown.append(tag("div", embed_image(image.png, alt), number, class_="shot"))
        else:
            scene = shorten_text(describe_scene(image.scene), MOST_SCENE_TEXT)
            shown.append(tag("div", number, tag("p", f"No image. {scene}", class_="facts"), class_="shot told"))
    return tag("div", shown, class_=f"pictures of-{min(many, MOST_IMAGES)}")


def render_answers(truth: Answer | None, answers: Sequence[ModelAnswer]) -> Html:
    """The true answer and every one given, in words and marks as well as in colour."""
    true = tag("td", "not known" if truth is None else spell(truth))
    rows = [tag("tr", tag("th", "Truth", scope="row"), true)]
    for one in answers:
        name = tag("th", draw_legend_mark(one.series), one.contender, scope="row", class_="name")
        if one.answer is None:
            shown = f"{one.status}: “{shorten_text(one.raw, 90)}”" if one.raw else one.status
            cell = tag("td", shown, class_="is-none", title=one.reason or None)
        else:
            sign, look = ("✓", "right") if one.right else ("✗", "wrong")
            cell = tag("td", f"{one.answer} ", tag("span", sign, aria_label=look), class_=f"is-{look}")
        rows.append(tag("tr", name, cell))
    return tag("table", tag("tbody", rows), class_="said")


def render_program_trace(example: Example, answers: Sequence[ModelAnswer], notes: StepNotes) -> Html:
    """The program with its trace, folded; steps that, left out alone, give a wrong answer are marked."""
    program = example.question.program
    if program is None:
        return NOTHING
    world = ExecutionWorld(tuple(image.scene for image in example.images))
    marked: dict[int, str] = {}
    try:
        for answer in dict.fromkeys(one.answer for one in answers if one.answer is not None and not one.right):
            for node in find_decisive_steps(program, world, answer)[:MOST_NOTES]:
                marked.setdefault(node, f"without this step: {answer}")
        marked = {**notes, **marked}
        shown = render_program(program, world, marked)
    except ProgramError:
        return NOTHING
    hint = " and where a wrong answer may depart from it" if marked else ""
    parsed = [
        tag("p", f"{one.contender} {verb}: ", tag("span", what, class_="code"), class_="facts")
        for one in answers
        for verb, what in (("parsed it as", one.program), ("gives as its steps", shorten_text(one.trace, 400)))
        if what
    ]
    return render_details(f"Program, step by step{hint}", shown, parsed)
