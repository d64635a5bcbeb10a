"""Targets: everything that reads what a user may give, with a valid example of it to begin from."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from shiftscope.errors import UserError
from shiftscope.expected_answer import ANYTHING, NUMBER, TRUTH, expect_value
from shiftscope.schemas import clevr as clevr_schema
from shiftscope.schemas import superclevr as superclevr_schema

from . import examples
from .mutate import Inputs, binary_file, json_file, lines_file, numbers_file, table_file, text_file

FILES = Path(__file__).parents[1] / "examples" / "data"
Read = Callable[[Path], Any]
SMALL = 32 << 10  # bytes of a binary file whose every byte may be flipped


@dataclass(frozen=True, slots=True)
class Target:
    """One reader: what its inputs are made of, and what is tried with each."""

    name: str
    inputs: Callable[[Path], Inputs]  # of the folder that `given` filled
    read: Read  # of the path of the input; a UserError refuses it
    file: str = "input.json"  # where the input is put, within the folder
    again: Callable[[Any, Path], Any] | None = None  # write what was read, and read it again
    given: Callable[[Path], None] | None = None  # makes what is valid besides; once
    examples: int = 300  # drawn in a trial; of each come up to five inputs


def all_of(read: Callable[[Path], Iterator[Any]]) -> Read:
    return lambda path: list(read(path))


def rewritten(write: Callable[[Path, Any], None], read: Callable[[Path], Any]) -> Callable[[Any, Path], Any]:
    def again(value: Any, path: Path) -> Any:
        write(path, value)
        return list(read(path))

    return again


def stored(name: str) -> Callable[[Path], Inputs]:
    """Inputs that begin from an official file of the examples."""
    return lambda folder: json_file(json.loads((FILES / name).read_bytes()))


def of(value: Any) -> Callable[[Path], Inputs]:
    return lambda folder: json_file(value)


def lines(rows: list[Any]) -> Callable[[Path], Inputs]:
    return lambda folder: lines_file(rows)


def table(text: str) -> Callable[[Path], Inputs]:
    import csv

    return lambda folder: table_file(list(csv.reader(text.splitlines())))


def texts(*given: str) -> Callable[[Path], Inputs]:
    return lambda folder: text_file(*given)


def there(name: str) -> Callable[[Path], Inputs]:
    """Inputs that begin from a file of the folder: by its structure, or by its bytes."""

    def inputs(folder: Path) -> Inputs:
        data = (folder / name).read_bytes()
        if name.endswith(".json"):
            return json_file(json.loads(data))
        if name.endswith(".jsonl"):
            return lines_file([json.loads(line) for line in data.splitlines()])
        return binary_file(data)

    return inputs


def either(*ways: Callable[[Path], Inputs]) -> Callable[[Path], Inputs]:
    return lambda folder: st.one_of(*(way(folder) for way in ways))


@cache
def targets() -> tuple[Target, ...]:
    return (*formats(), *notations(), *folders(), *others())


def formats() -> Iterator[Target]:
    """Official files."""
    from shiftscope import formats as _any
    from shiftscope.formats import clevr, coco, covr, gqa, imsitu, visual_genome, vqa, vqa_cp, yolo

    scenes = rewritten(clevr.write_scenes, clevr.read_scenes)
    yield Target("reader of CLEVR scenes", stored("clevr_scenes.json"), clevr.read_scenes, again=scenes)
    yield Target("reader of Super-CLEVR scenes", stored("superclevr_scenes.json"), clevr.read_scenes, again=scenes)
    yield Target("reader of NS-VQA scenes", of(examples.PARSED_SCENES), clevr.read_scenes, again=scenes)
    yield Target("reader of rows about several images", of(examples.SEVERAL_IMAGES), all_of(clevr.read_questions))
    for family in ("clevr", "superclevr", "clevr_hyp"):
        yield Target(
            f"reader of {family} questions",
            stored(f"{family}_questions.json"),
            all_of(clevr.read_questions),
            again=rewritten(clevr.write_questions, clevr.read_questions),
        )
    yield Target(
        "reader of GQA scene graphs",
        either(stored("gqa_graphs.json"), of(examples.GQA_GRAPHS)),
        all_of(gqa.read_scenes),
        again=rewritten(gqa.write_scenes, gqa.read_scenes),
    )
    yield Target(
        "reader of GQA questions",
        either(stored("gqa_questions.json"), of(examples.GQA_QUESTIONS)),
        all_of(gqa.read_questions),
        again=rewritten(gqa.write_questions, gqa.read_questions),
    )
    yield Target(
        "reader of GQA rows",
        of(examples.GQA_ROWS),
        all_of(gqa.read_questions),
        again=rewritten(gqa.write_call_rows, gqa.read_questions),
    )
    yield Target(
        "reader of VQA questions",
        either(of(examples.VQA_QUESTIONS), of(examples.VQA_QUESTIONS["questions"])),
        all_of(vqa.read_questions),
        again=rewritten(vqa.write_questions, vqa.read_questions),
    )
    yield Target("reader of VQA annotations", of(examples.VQA_ANNOTATIONS), all_of(vqa.read_annotations))
    yield Target("reader of VQA-CP questions", of(examples.VQA_CP), all_of(vqa_cp.read_questions))
    yield Target(
        "reader of joined VQA files",
        of(examples.VQA_ANNOTATIONS),
        lambda path: vqa.read_joined(path.with_name("q.json"), path),
        given=examples.vqa_files,
    )
    yield Target("reader of COCO instances", of(examples.COCO), all_of(coco.read_scenes))
    yield Target(
        "reader of YOLO labels",
        texts(*examples.YOLO),
        lambda path: list(yolo.read_scenes(path.parent)),
        "labels/a.txt",
        given=examples.yolo,
    )
    yield Target(
        "reader of YOLO classes",
        texts("person\ncar\nbus\n"),
        lambda path: list(yolo.read_scenes(path.parent)),
        "labels/classes.txt",
        given=examples.yolo,
    )
    yield Target(
        "reader of COVR questions",
        either(lines(examples.COVR), lines(examples.COVR_COMPOSITIONAL)),
        lambda path: list(covr.read_questions(path, clevr_schema.SCHEMA)),
        "input.jsonl",
    )
    yield Target("reader of imSitu frames", of(examples.IMSITU), all_of(imsitu.read_scenes), given=examples.space)
    yield Target("reader of imSitu's space", of(examples.SPACE), imsitu.read_space)
    yield Target(
        "reader of Visual Genome graphs",
        either(table(examples.GENOME), texts(examples.GENOME)),
        all_of(visual_genome.read_scenes),
        "input.csv",
        again=rewritten(visual_genome.write_scenes, visual_genome.read_scenes),
    )
    every = (stored(p.name) for p in sorted(FILES.glob("*.json")))
    mixed = either(*every, of(examples.COCO), of(examples.VQA_QUESTIONS), of(examples.IMSITU), lines(examples.COVR))
    yield Target("reader of any scenes", mixed, _any.read_scenes, given=examples.space)
    yield Target("reader of any questions", mixed, all_of(_any.read_questions))


def notations() -> Iterator[Target]:
    """Programs, predicates, replies: what is typed, or a part of other files."""
    from shiftscope.lang.notations import clevr, clevr_hyp, covr, covr_compositional, gqa, superclevr
    from shiftscope.lang.notations.gqa import read_calls, write_calls
    from shiftscope.lang.text import format_program, parse_program
    from shiftscope.response import parse_response
    from shiftscope.shift.held_out import get_split
    from shiftscope.shift.held_out.predicates import parse_expression as parse_predicate

    yield Target(
        "parser of our notation",
        texts(*examples.PROGRAMS),
        lambda path: parse_program(text_of(path)),
        again=lambda program, path: parse_program(format_program(program)),
    )
    for name, dialect, programs in (
        ("CLEVR", clevr, examples.clevr_programs()),
        ("Super-CLEVR", superclevr, examples.superclevr_programs()),
        ("CLEVR_HYP", clevr_hyp, examples.HYP_PROGRAMS),
        ("GQA", gqa, examples.GQA_PROGRAMS),
        ("COVR", covr, examples.COVR_PROGRAMS),
        ("compositional COVR", covr_compositional, examples.COMPOSITIONAL_PROGRAMS),
    ):
        yield notation(name, dialect.read, dialect.write, programs)
    yield notation("GQA calls", read_calls, write_calls, examples.GQA_CALLS)
    yield Target(
        "parser of predicates",
        texts(*examples.PREDICATES),
        lambda path: parse_predicate(text_of(path)),
        again=lambda predicate, path: parse_predicate(str(predicate)),
    )
    yield Target("names of splits", texts("has_quant_all", "HAS-NUM-3 ∪ ANS-3"), lambda path: get_split(text_of(path)))
    for kind, expected in (
        ("a number", NUMBER),
        ("yes or no", TRUTH),
        ("anything", ANYTHING),
        ("a color", expect_value(clevr_schema.SCHEMA, "color")),
        ("a shape", expect_value(superclevr_schema.SCHEMA, "shape")),
    ):
        yield Target(
            f"reader of replies, expecting {kind}",
            texts(*examples.REPLIES),
            lambda path, expected=expected: parse_response(text_of(path), expected),  # type: ignore[misc]
        )


def notation(name: str, read: Callable[[Any], Any], write: Callable[[Any], Any], programs: list[Any]) -> Target:
    def attempt(path: Path) -> Any:
        listed = json_value(path)
        if not isinstance(listed, list):  # as whoever calls it has seen to
            raise UserError("no list")
        return read(listed)

    return Target(
        f"parser of {name} programs",
        either(*map(of, programs)),
        attempt,
        again=lambda program, path: read(write(program)),
    )


def folders() -> Iterator[Target]:
    """What ShiftScope wrote itself, damaged or edited since."""
    from shiftscope.models.nsvqa.trained_model import read_trained_model
    from shiftscope.run.question_source import VqaFiles
    from shiftscope.run.study.entry_store import EntryStore
    from shiftscope.shortcuts.audit_folder import read_splits
    from shiftscope.store.dataset import Dataset
    from shiftscope.store.question_part import read_part
    from shiftscope.store.run_log import compute_run_content_id, read_rows, read_run
    from shiftscope.store.shard import read_images, read_questions
    from shiftscope.suites.superclevr.make_variants import read_study

    def run_of(path: Path) -> Any:
        return read_run(path.parent), list(read_rows(path.parent)), compute_run_content_id(path.parent)

    def dataset_of(path: Path) -> Any:
        dataset = Dataset.open(path.parent)
        return list(dataset.examples()), [dataset.count(s) for s in dataset.splits]

    run, data = examples.run, examples.data
    yield Target("reader of run.json", there("run.json"), run_of, "run.json", given=run)
    yield Target("reader of a run's Parquet", there("predictions.parquet"), run_of, "predictions.parquet", given=run)
    yield Target("reader of manifest.json", there("manifest.json"), dataset_of, "manifest.json", given=data)
    for what, read in (("images", read_images), ("questions", read_questions)):
        yield Target(
            f"reader of a shard of {what}",
            there(f"{what}.parquet"),
            all_of(read),
            f"{what}.parquet",
            given=examples.shards,
        )
        yield Target(
            f"reader of rewritten {what}",
            there(f"{what}.json"),
            lambda path, what=what, read=read: list(read(examples.as_parquet(path, what))),  # type: ignore[misc]
            f"{what}.json",
            given=examples.shards,
        )
    for file in ("split.json", "train.json"):
        yield Target(
            f"reader of a split's {file}",
            there(file),
            lambda path: read_part(f"{path.parent}:train"),
            file,
            given=examples.split,
        )
    yield Target("reader of a file of ids", of({"ids": ["a", 1, "b"]}), lambda path: read_part(str(path)))
    yield Target("reader of study.json", of(examples.STUDY), lambda p: read_study(p.parent), "study.json")
    yield Target(
        "reader of a study's cells",
        there("cells.jsonl"),
        lambda path: EntryStore(path).read_records(),
        "cells.jsonl",
        given=examples.cells,
    )
    yield Target(
        "reader of a study's cell",
        there("cell.json"),
        lambda path: examples.cell_in_place(path),
        "cell.json",
        given=examples.cells,
    )
    yield Target(
        "reader of an audit's marks",
        there("marks.parquet"),
        lambda path: read_splits(path.parent),
        "marks.parquet",
        given=examples.audit,
    )
    yield Target(
        "reader of an audit's sets",
        there(examples.AUDITED),
        lambda path: list(VqaFiles(path.parents[1]).questions("test")),
        examples.AUDITED,
        given=examples.audit,
    )
    yield Target(
        "reader of trained weights' model.json",
        there("model.json"),
        lambda path: examples.use_trained(read_trained_model(path.parent)),
        "model.json",
        given=examples.weights,
        examples=40,
    )
    yield Target(
        "reader of safetensors",
        there("scene_parser.safetensors"),
        examples.tensors,
        "scene_parser.safetensors",
        given=examples.weights,
        examples=100,
    )


def others() -> Iterator[Target]:
    from shiftscope import formats as _any
    from shiftscope.formats import clevr as clevr_files
    from shiftscope.formats import read_question_table
    from shiftscope.model import ModelSetting
    from shiftscope.models import predictions
    from shiftscope.models.openai.endpoint import read_completion
    from shiftscope.questions.clevr.template_sets import load_templates
    from shiftscope.render import LAYERS
    from shiftscope.render.raster import render
    from shiftscope.run.answer import SceneLookup, answer
    from shiftscope.run.generalization._name_dictionary import read_name_table as read_names
    from shiftscope.run.render import render_files
    from shiftscope.run.score import read_results
    from shiftscope.run.serve import read_messages
    from shiftscope.scene_graph.exclusivity import read_exclusivity_table as read_verdicts
    from shiftscope.server_identity import read_listing
    from shiftscope.world.superclevr.concepts import read_concept_file

    def answered(path: Path) -> Any:
        book = SceneLookup(_any.read_scenes(path))
        return [one.verdict for one in answer(_any.read_questions(path.with_name("q.json")), book)]

    def rendered(path: Path) -> Any:
        with tempfile.TemporaryDirectory(dir=path.parent) as out:
            return render_files(clevr_files.read_scenes(path), Path(out), (24, 16), LAYERS)

    def completion(path: Path) -> Any:
        try:
            return read_completion(json_value(path))
        except (KeyError, TypeError, IndexError) as error:  # as it says
            raise UserError(f"no completion: {error!r}") from None

    yield Target(
        "table of concepts", either(table(examples.CONCEPTS), table(examples.MATRIX)), read_concept_file, "input.csv"
    )
    yield Target(
        "arrays of concepts", there("concepts.npz"), read_concept_file, "concepts.npz", given=examples.concepts
    )
    for name, given in (("list", of(examples.VQA_RESULTS)), ("object", of({"a": "red", "b": 2, "c": None})),
                        ("lines", lines(examples.PREDICTED))):  # fmt: skip
        yield Target(f"reader of a {name} of predictions", given, lambda p: predictions.build(str(p), ModelSetting()))
    yield Target(
        "reader of results to score",
        either(of(examples.VQA_RESULTS), of(examples.PREDICTED)),
        lambda path: read_results(path, path.with_name("a.json")),
        given=examples.vqa_files,
    )
    yield Target(
        "reader of annotations to score by",
        of(examples.VQA_ANNOTATIONS),
        lambda path: read_results(path.with_name("r.json"), path),
        given=examples.vqa_files,
    )
    yield Target(
        "reader of audited files",
        of(examples.VQA_QUESTIONS),
        lambda path: read_question_table([path], [path.with_name("a.json")], [path.with_name("o.json")]),
        given=examples.vqa_files,
    )
    yield Target(
        "reader of audited annotations",
        of(examples.VQA_ANNOTATIONS),
        lambda path: read_question_table([path.with_name("q.json")], [path], [path.with_name("o.json")]),
        given=examples.vqa_files,
    )
    yield Target(
        "reader of audited objects",
        either(of(examples.COCO), of(examples.GQA_GRAPHS)),
        lambda path: read_question_table([path.with_name("q.json")], [path.with_name("a.json")], [path]),
        given=examples.vqa_files,
    )
    yield Target("reader of audited GQA", of(examples.GQA_QUESTIONS), lambda path: read_question_table([path]))
    yield Target("reader of templates", of(examples.TEMPLATES), load_templates)
    yield Target("table of verdicts", table(examples.VERDICTS), read_verdicts, "input.csv")
    yield Target("table of names", table("program,scene\ncup,mug\nman,person"), read_names, "input.csv")
    yield Target("reader of requests", of(examples.REQUEST), lambda path: read_messages(json_value(path)))
    yield Target("reader of completions", of(examples.COMPLETION), completion)
    yield Target("reader of listings", of(examples.LISTING), lambda path: read_listing(path.read_bytes(), "m"))
    for family in ("clevr", "superclevr"):
        yield Target(
            f"answers on {family} scenes",
            stored(f"{family}_scenes.json"),
            answered,
            given=lambda folder, family=family: examples.questions(folder, family),  # type: ignore[misc]
        )
        yield Target(
            f"pictures of {family} scenes", of(examples.staged(f"{family}_scenes.json")), rendered, examples=150
        )
    yield Target(
        "pictures of stored scenes",
        lambda folder: numbers_file(examples.stored_scene()),
        lambda path: render([examples.scene_of(path)], (24, 16), LAYERS),
        examples=150,
    )


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogatepass")


def json_value(path: Path) -> Any:
    """What the file holds; what is no JSON is refused before it reaches what is tested."""
    data = path.read_bytes()
    if re.search(rb"[\x80-\xff]|\[{500}", data):
        raise UserError("not plain")
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise UserError("not JSON") from None
