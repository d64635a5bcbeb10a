"""Examples: valid files and folders of every family, small, for fuzzing to begin from."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shiftscope.errors import UserError

from .toys import picture, toy_dataset, toy_image, toy_questions

FILES = Path(__file__).parents[1] / "examples" / "data"
AUDITED = "IID-Test/IID-Test-Ques.json"
STUDY = {
    "format": 1,
    "variants": [
        {"variant": "default"},
        {"variant": "easy", "base": "default", "factor": "visual", "test_only": False},
    ],
}
GQA_GRAPHS = {
    "61": {
        "width": 300, "height": 200, "location": "indoors",
        "objects": {
            "10": {"name": "cup", "x": 10, "y": 20, "w": 30, "h": 40, "attributes": ["red", "small"],
                   "relations": [{"name": "on", "object": "11"}, {"name": "near", "object": "12"}]},
            "11": {"name": "table", "x": 0, "y": 90, "w": 300, "h": 100, "attributes": [], "relations": []},
            "12": {"name": "man", "x": 200, "y": 100, "w": 50, "h": 90, "attributes": [], "relations": {}},
        },
    },
    "62": {"width": 20, "height": 10, "weather": "rainy", "objects": {}},
}  # fmt: skip
GQA_QUESTIONS = {
    "0001": {
        "imageId": "61", "question": "What is on the table?", "answer": "cup", "fullAnswer": "The cup.",
        "isBalanced": True, "groups": {"global": None, "local": "10-table_on,s"},
        "types": {"detailed": "relS", "semantic": "rel", "structural": "query"},
        "annotations": {"question": {"4": "11"}, "answer": {"0": "10"}, "fullAnswer": {"1": "10"}},
        "semantic": [
            {"operation": "select", "dependencies": [], "argument": "table (11)"},
            {"operation": "relate", "dependencies": [0], "argument": "_,on,s (10)"},
            {"operation": "query", "dependencies": [1], "argument": "name"},
        ],
        "semanticStr": "select: table (11)->relate: _,on,s (10) [0]->query: name [1]",
        "entailed": ["0002"], "equivalent": ["0001"],
    },
    "0002": {"imageId": "62", "question": "Is it raining?", "isBalanced": False, "answer": "yes"},
}  # fmt: skip
GQA_CALLS = [
    ["[10]=select(cup)", "?=verify([0], red)"],
    ["?=select(man)", "?=relate([0], holding, bag)", "?=query([1], name)", "?=filter([0], white)"],
]
GQA_ROWS = [
    ["61", "Is the cup red?", GQA_CALLS[0], "0003", "yes", "Yes, the cup is red.",
     ["select", "(", "cup", ")", ";", "verify", "(", "[0]", ",", "red", ")"],
     {"question": {"2": "10"}, "answer": {}, "fullAnswer": {"2": "10"}}],
]  # fmt: skip
GQA_PROGRAMS = [
    GQA_QUESTIONS["0001"]["semantic"],
    [{"operation": "select", "dependencies": [], "argument": "shirt (4)"},
     {"operation": "filter cleanliness", "dependencies": [0], "argument": "not(clean)"},
     {"operation": "choose color", "dependencies": [1], "argument": "orange|light blue"}],
    [{"operation": "select", "dependencies": [], "argument": "cow (-)"},
     {"operation": "exist", "dependencies": [0], "argument": "?"},
     {"operation": "select", "dependencies": [], "argument": "fence (5) "},
     {"operation": "exist", "dependencies": [2], "argument": "?"},
     {"operation": "or", "dependencies": [1, 3], "argument": ""}],
]  # fmt: skip


def annotation(number: int, answer: str, kind: str) -> dict[str, Any]:
    said = [{"answer": answer, "answer_confidence": "yes", "answer_id": k} for k in range(1, 4)]
    return {"question_id": 10 * number, "image_id": number, "question_type": kind, "answer_type": "other",
            "multiple_choice_answer": answer, "answers": said}  # fmt: skip


VQA_QUESTIONS: dict[str, Any] = {
    "info": {"year": 2017}, "task_type": "Open-Ended", "data_type": "mscoco",
    "questions": [
        {"image_id": 1, "question": "What color is the dog?", "question_id": 10},
        {"image_id": 2, "question": "Is there a café?", "question_id": 20},
        {"image_id": 3, "question": "How many dogs are there?", "question_id": 30},
    ],
}  # fmt: skip
VQA_ANNOTATIONS: dict[str, Any] = {
    "info": {"year": 2017},
    "annotations": [
        annotation(1, "red", "what color is the"),
        annotation(2, "yes", "is there a"),
        annotation(3, "2", "how many"),
    ],
}
VQA_RESULTS = [{"question_id": 10, "answer": "red"}, {"question_id": 20, "answer": "no"},
               {"question_id": 30, "answer": "2"}]  # fmt: skip
PREDICTED = [{"question": "a", "answer": 3}, {"question": "b", "raw": "It is red."}, {"qid": "c", "answer": None}]
VQA_CP = [{"coco_split": "train2014", "image_id": 33, "question": "Is it red?", "question_id": 33001}]
COCO = {
    "info": {}, "licenses": [],
    "images": [{"id": 1, "width": 64, "height": 48, "file_name": "a_000000000001.jpg"},
               {"id": 2, "width": 64, "height": 48, "file_name": "b.jpg"}],
    "annotations": [
        {"id": 5, "image_id": 1, "category_id": 18, "bbox": [1, 2.5, 10, 20], "area": 200, "iscrowd": 0,
         "segmentation": [[1, 2, 3, 4, 5, 6]]},
        {"id": 6, "image_id": 2, "category_id": 1, "bbox": [0, 0, 64, 48], "area": 3072, "iscrowd": 1,
         "segmentation": {"counts": [1, 2], "size": [48, 64]}},
    ],
    "categories": [{"id": 1, "name": "person", "supercategory": "person"}, {"id": 18, "name": "dog"}],
}  # fmt: skip
YOLO = ("0 0.5 0.5 0.25 0.1\n2 0.1 0.9 0.2 0.2\n", "1 0 0 1 1", "")
SPACE = {
    "nouns": {"n1": {"gloss": ["man", "adult male"], "def": ""}, "n2": {"gloss": ["bottle"], "def": ""}},
    "verbs": {"uncorking": {"abstract": "an AGENT uncorks the ITEM with a TOOL in a PLACE",
                            "order": ["item", "agent", "tool", "place"], "roles": {}}},
}  # fmt: skip
IMSITU = {
    "uncorking_1.jpg": {"verb": "uncorking", "frames": [
        {"agent": "n1", "item": "n2", "tool": "", "place": ""}, {"agent": "n1", "item": "n2", "tool": "n2"}]},
}  # fmt: skip
GENOME = '''image_id,region_id,caption,scene_graph
7,71,large trunk through a deck,"( trunk , is , large ) , ( trunk , v:come through , deck )"
7,72,"words on paper, ""take""","( words , pv:write on , paper ) , ( paper , is , orange )"
8,81,a park,( urban park )
8,82,dark above white,"( clouds , above , clouds:1 ) , ( clouds:1 , is , white )"
'''


def rows(*lines: str) -> list[dict[str, Any]]:
    """`find man`, `with_relation wearing [1, 0]`: an operation, its words, its inputs."""
    made = []
    for line in lines:
        found = re.fullmatch(r"(\w+) ?(.*?) ?(\[[\d, ]+\])?", line)
        assert found is not None
        row: dict[str, Any] = {"operation": found[1]}
        row |= {"arguments": found[2].split(", ")} if found[2] else {}
        made.append(row | ({"dependencies": json.loads(found[3])} if found[3] else {}))
    return made


COVR_PROGRAMS = [
    [*rows("find dog"), {"operation": "all", "arguments": [rows("scene", "filter white [0]")], "dependencies": [0]}],
    rows("find dog", "group_by_images [0]", "keep_if_values_count_eq 1 [1]", "keys [2]", "count [3]"),
    rows("find ball", "find dog", "with_relation near [1, 0]", "unique [2]", "choose_attr black, white [3]"),
    rows("find cat", "exists [0]"),
]
COMPOSITIONAL_PROGRAMS = [
    rows("find table", "filter attr, wood [0]", "find book", "filter rel, on [2, 1]", "group_by_images [3]",
         "keep_if_values_count eq, 2 [4]", "count [5]"),
    [*rows("find dog"), {"operation": "map", "arguments": ["and", rows("scene", "filter attr, white [0]")],
                         "dependencies": [0]}],
]  # fmt: skip
COVR = [
    {"qid": "val_7", "utterance": "All dogs are white", "rephrase": "Every dog is white.",
     "scenes": ["61", "62"],
     "program": COVR_PROGRAMS[0], "answer": False, "pattern_name": "quantifier", "properties": ["has_quant"]},
    {"question": "Is the dog that is near a ball black or white?", "scenes": [61], "answer": "black",
     "pattern_index": 11, "pattern_name": "choose_attr", "program": COVR_PROGRAMS[2],
     "ref_text": "dog near ball",
     "sub_graphs": [[["dog", ["black"]], ["near"], ["ball", []]]], "starting_scene_id": "61",
     "sub_graph_info": {"length": 3, "depth": 3}, "qid": 12},
]  # fmt: skip
COVR_COMPOSITIONAL = [{"qid": "a", "utterance": "How many?", "scenes": ["61"], "answer": 1,
                       "pattern_name": "count", "properties": [],
                       "program": COMPOSITIONAL_PROGRAMS[0]}]  # fmt: skip


def listed(*lines: str) -> list[dict[str, Any]]:
    """`filter_color red [0]`: a function, its values, its inputs."""
    return [
        {"function": row["operation"], "inputs": row.get("dependencies", []), "value_inputs": row.get("arguments", [])}
        for row in rows(*lines)
    ]


HYP_PROGRAMS = [
    listed("scene", "filter_color red [0]", "unique [1]", "copy [2]", "add_abs [0, 3]"),
    listed("scene", "filter_shape sphere [0]", "change_color red [1]"),
    listed("scene", "filter_color red [0]", "count [1]"),
]
PROGRAMS = (
    "count(filter(relate(unique(filter(scene(), shape=sphere)), left), color=red))",
    'a = unique(find(water)); and(verify(a, color=dark), verify(a, size="light blue"))',
    "all(find(dog), verify(it(), attribute=white))",
    "add(scene(), copy(unique(filter(scene(), color=red))))",
    "at_least(count(keys(keep(group(find(cat)), at_most, 3))), 1)",
    "query(unique(related(filter(related(find(snow), in), name=person), wearing, object)), name)",
)
PREDICATES = ("has_quant_all & ~(has_num_3 | ans_3)", "HAS-QUANT-ALL ∪ RM/V/C", "~~program_0", "ans_yes")
REPLIES = (
    "The answer is red.", "3", "Yes, there are two cubes.", "<think>maybe blue?</think>\nAnswer: **red**",
    "There are 3 red cubes and 4 blue ones, so 7 in total.", "\\boxed{\\text{large}}", '{"answer": "no"}',
    "Between 2 and 4. Actually, wait: on second thought 3.", "#### 12",
    "It's a double-decker bus, not a sedan!",
)  # fmt: skip
CONCEPTS = "name,share\nred,0.5\nblue,0.5\nsedan,1\nmetal,1"
TEMPLATES = [
    {
        "text": ["What color is the <S2> [that is] <R> the <C> <S>?"],
        "nodes": [
            {"inputs": [], "type": "scene"},
            {"side_inputs": ["<C>", "<S>"], "inputs": [0], "type": "filter_unique"},
            {"side_inputs": ["<R>", "<C2>", "<S2>"], "inputs": [1], "type": "relate_filter_unique"},
            {"inputs": [2], "type": "query_color"},
        ],
        "params": [{"type": "Color", "name": "<C>"}, {"type": "Shape", "name": "<S>"},
                   {"type": "Relation", "name": "<R>"}, {"type": "Color", "name": "<C2>"},
                   {"type": "Shape", "name": "<S2>"}],
        "constraints": [{"params": ["<C2>"], "type": "NULL"}],
    }
]  # fmt: skip
VERDICTS = "first,second,type,exclusive\nman,woman,object,yes\nred,dark,attribute,0.2\non,under,relation,1"
REQUEST = {"model": "m", "messages": [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": [
        {"type": "text", "text": "Is it red?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]}]}  # fmt: skip
COMPLETION = {"id": "x", "choices": [{"message": {"content": "red"}, "finish_reason": "stop"}],
              "usage": {"prompt_tokens": 3, "completion_tokens": 1}, "system_fingerprint": "fp"}  # fmt: skip
LISTING = {"object": "list", "data": [{"id": "m", "created": 5, "owned_by": "me", "root": "r",
                                       "max_model_len": 9, "meta": {"n_params": 5, "size": 1.5}},
                                      {"id": "n"}]}  # fmt: skip


def matrix() -> str:
    from shiftscope.world.superclevr.concepts import COLORS, SHAPES

    share = 1 / len(COLORS)
    return "\n".join([",".join(["", *COLORS]), *(",".join([s, *[str(share)] * len(COLORS)]) for s in SHAPES)])


MATRIX = matrix()


def staged(name: str) -> Any:
    """The scenes of an official file with a camera and lamps of their own."""
    found = json.loads((FILES / name).read_bytes())
    for scene in found["scenes"]:
        scene |= {"camera": [7.5, -6.5, 5.3], "lamps": [[0.1, -0.2, 0.3], [0, 0, 0], [0.5, 0.5, 0.5]]}
    return found


def stored_scene() -> Any:
    from shiftscope.formats.clevr import read_scenes

    (scene,) = read_scenes(FILES / "superclevr_scenes.json")
    notes = (("camera", (7.5, -6.5, 5.3)), ("lamps", ((0.1, -0.2, 0.3), (0.0, 0.0, 0.0), (0.5, 0.5, 0.5))))
    return replace(scene, relations=(), notes=(*scene.notes, *notes)).to_json()


def scene_of(path: Path) -> Any:
    """The scene of a file, its numbers as wild as they may be."""
    from shiftscope.scene import Scene

    try:
        return Scene.from_json(json.loads(path.read_bytes()))
    except (ValueError, OverflowError):
        raise UserError("no scene") from None


def clevr_programs() -> list[Any]:
    return [q["program"] for q in json.loads((FILES / "clevr_questions.json").read_bytes())["questions"]]


def superclevr_programs() -> list[Any]:
    found = json.loads((FILES / "superclevr_questions.json").read_bytes())["questions"]
    return [q["program"] for q in found if "program" in q]


def vqa_files(folder: Path) -> None:
    named = {"q": VQA_QUESTIONS, "a": VQA_ANNOTATIONS, "r": VQA_RESULTS, "o": COCO}
    for name, value in named.items():
        (folder / f"{name}.json").write_text(json.dumps(value))


def yolo(folder: Path) -> None:
    for place in ("labels", "images"):
        (folder / place).mkdir()
    (folder / "labels" / "b.txt").write_text(YOLO[0])
    for name in "ab":
        (folder / "images" / f"{name}.png").write_bytes(picture(name))


def space(folder: Path) -> None:
    (folder / "imsitu_space.json").write_text(json.dumps(SPACE))


def questions(folder: Path, family: str) -> None:
    (folder / "q.json").write_bytes((FILES / f"{family}_questions.json").read_bytes())


def data(folder: Path) -> None:
    toy_dataset(folder, 3, 3)


def run(folder: Path) -> None:
    """The run of a built-in model over toy data; its pictures and data are not in it."""
    from shiftscope.run.evaluate import RunSpec, evaluate

    made = toy_dataset(folder / "data", 3, 3)
    evaluate(RunSpec("majority", made.folder), folder / "run")
    for path in (folder / "run").iterdir():
        path.rename(folder / path.name)


def shards(folder: Path) -> None:
    """The two files of a shard, and the same as JSON, so that their cells can be changed."""
    import pyarrow.parquet as pq

    from shiftscope.store.tables import build_image_table, build_question_table

    shown = [toy_image(f"i{k}") for k in range(2)]
    asked = [q for image in shown for q in toy_questions(image, "test", 3)]
    for name, made in (("images", build_image_table(shown)), ("questions", build_question_table(asked))):
        pq.write_table(made, folder / f"{name}.parquet", compression="zstd")
        (folder / f"{name}.json").write_text(json.dumps(_cells(made)))


def _cells(made: Any) -> list[dict[str, Any]]:
    """Rows, their JSON cells opened so that what is in them can be changed too."""
    plain = made.drop_columns(["image"]) if "image" in made.column_names else made
    rows = plain.to_pylist()
    for row in rows:
        for name in ("scene", "program", "notes"):
            if row.get(name):
                row[name] = json.loads(row[name])
    return list(rows)


def as_parquet(path: Path, what: str) -> Path:
    """The file that such rows are of, in the columns that they should have as far as their values fit."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from shiftscope.store.tables import IMAGE_COLUMNS, QUESTION_COLUMNS, arrow_type

    try:
        found = json.loads(path.read_bytes())
        names = [name for name, _ in (IMAGE_COLUMNS if what == "images" else QUESTION_COLUMNS)]
        kinds = dict(IMAGE_COLUMNS if what == "images" else QUESTION_COLUMNS)
        columns = {}
        for name in names:
            cells = [picture("x") if name == "image" else _cell(row.get(name), kinds[name]) for row in found]
            if name == "image":
                cells = [{"bytes": cell, "path": "x.png"} for cell in cells]
            columns[name] = _column(cells, arrow_type(kinds[name]))
        out = path.with_suffix(".parquet")
        pq.write_table(pa.table(columns), out)
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError, pa.ArrowException, RecursionError):
        raise UserError("not a table at all") from None
    return out


def _cell(value: Any, kind: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) and kind == "string" else value


def _column(cells: list[Any], kind: Any) -> Any:
    import pyarrow as pa

    try:
        return pa.array(cells, kind)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return pa.array(cells)


def split(folder: Path) -> None:
    parts = {"train": ("train", ["a", "b"]), "val_without": ("val", ["c"]), "test_comp": ("test", ["d"])}
    about = {name: {"split": of, "questions": len(ids)} for name, (of, ids) in parts.items()}
    told = {"format": 1, "name": "has_count", "data_id": "x", "parts": about}
    (folder / "split.json").write_text(json.dumps(told))
    for name, (_, ids) in parts.items():
        (folder / f"{name}.json").write_text(json.dumps(ids))


def cells(folder: Path) -> None:
    from shiftscope.metrics.transfer_matrix import EntryOutcome
    from shiftscope.run.study.entries import EntryOrigin, StudyTestId, TrainingRecord, TransferEntry
    from shiftscope.run.study.entry_store import EntryStore, hash_test_data, hash_train_data
    from shiftscope.suites.study import Contender
    from shiftscope.suites.superclevr.study import StudyDomain, StudyScale, TrainingSetup

    scale = StudyScale("toy", 60, (96, 64), questions=2, part_questions=1, shard=10)
    trained, tested = TrainingSetup(), StudyDomain()
    files = (("scene_parser", "s"), ("question_parser", "q"))
    origin = EntryOrigin(
        "superclevr",
        "neuro_symbolic",
        scale,
        trained,
        files,
        hash_train_data("superclevr", trained, scale, "neuro_symbolic"),
        "r",
        "cpu",
        "0",
        "2026-11-15T00:00:00Z",
    )
    asked = StudyTestId(tested, hash_test_data(tested, scale), "questions")
    hits = np.arange(20) < 7
    objects = EntryOutcome.from_arrays(hits, np.full(10, 2), confidence=np.where(hits, 0.9, 0.3))
    parts = EntryOutcome.from_arrays(np.arange(10) < 5, np.full(10, 1))
    seconds = (("make", 9.0), ("see", 2.0))
    cell = TransferEntry(Contender("p_nsvqa"), origin, asked, (("object", objects), ("part", parts)), seconds)
    shelf = EntryStore(folder / "cells.jsonl")
    shelf.add(cell)
    shelf.add(TrainingRecord(origin, seconds, (("color", 0.99),), "shiftscope study"))
    (folder / "cell.json").write_text(json.dumps(cell.to_json()))


def cell_in_place(path: Path) -> Any:
    """The record of a file, wherever it lies; where it belongs, a shelf reads it too."""
    from shiftscope.run.study.entry_store import EntryStore

    shelf = EntryStore(path.parent / "shelf")
    record = shelf.parse_line(path.read_bytes(), str(path))
    shelf.add(record)
    (found,) = shelf.read_records()
    (path.parent / "shelf" / record.name).unlink()
    assert found == record
    return None


def audit(folder: Path) -> None:
    from shiftscope.run.audit import AuditFiles, audit_files

    asked = [
        {"image_id": k, "question": f"What {('color', 'shape')[k % 2]} is the {w}?", "question_id": 10 * k}
        for k, w in enumerate(("dog", "cat", "bus", "cup", "car") * 40)
    ]
    told = [annotation(k, ("red", "blue", "2")[k % 3], "what") for k in range(len(asked))]
    place = folder.parent / f"{folder.name}-files"
    place.mkdir()
    for name, value in (("q", {"questions": asked}), ("a", {"annotations": told})):
        (place / f"{name}.json").write_text(json.dumps(value))
    audit_files(AuditFiles((place / "q.json",), (place / "a.json",)), folder, blind=False)


def weights(folder: Path) -> None:
    """What model.json of the shipped model says, and a small file of tensors."""
    import torch
    from safetensors.torch import save

    from shiftscope.models.nsvqa.trained_model import SHIPPED

    (folder / "model.json").write_bytes((SHIPPED / "superclevr" / "model.json").read_bytes())
    made = {"a": torch.zeros(3, 4, dtype=torch.float16), "b": torch.ones(2), "c": torch.arange(3)}
    (folder / "scene_parser.safetensors").write_bytes(save(made))


def use_trained(trained: Any) -> Any:
    """All that is asked of a model's description."""
    told = (trained.schema, trained.size, trained.trained_on, trained.calibration, trained.spatial)
    return told, trained.id(), trained.content()


def tensors(path: Path) -> Any:
    """The tensors of a file that is what its description says."""
    from shiftscope.files import digest_of
    from shiftscope.models.nsvqa.trained_model import SCENE_PARSER, TrainedModel

    trained = TrainedModel(path.parent, {SCENE_PARSER: {"blake2b": digest_of(path.read_bytes())}})
    return {name: str(tensor.shape) for name, tensor in trained.read_tensors(SCENE_PARSER).items()}


def concepts(folder: Path) -> None:
    from shiftscope.world.superclevr.concepts import COLORS

    file = io.BytesIO()
    np.savez(file, names=np.array(COLORS), dist=np.full(len(COLORS), 1 / len(COLORS)))
    (folder / "concepts.npz").write_bytes(file.getvalue())


PARSED_SCENES = {
    "info": "clevr derendered scene",
    "scenes": [
        {
            "image_index": 0,
            "image_filename": "CLEVR_val_000000.png",
            "objects": [
                {"shape": "cube", "size": "large", "material": "metal", "color": "red", "position": [0.5, -1.2, 0.7]},
                {
                    "shape": "sphere",
                    "size": "small",
                    "material": "rubber",
                    "color": "cyan",
                    "position": [-1, 0.4, 0.35],
                },
            ],
        }
    ],
}

SEVERAL_IMAGES = {
    "questions": [
        {
            "question": "How many things are there?",
            "question_index": 0,
            "template_filename": "1_zero_hop.json",
            "template_index": 0,
            "image_filenames": ["CLEVR_val_000000.png", "CLEVR_val_000001.png"],
            "image_indices": [0, 1],
            "answers": [2, 7],
            "program": [
                [
                    {"type": "scene", "inputs": [], "value_inputs": []},
                    {"type": "count", "inputs": [0], "value_inputs": []},
                ]
            ]
            * 2,
        }
    ]
}
