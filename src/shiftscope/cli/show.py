"""Show one scene as a table, or one question as a tree with its trace on its scene."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import UserError
from ..files import write_whole
from ..scene import mask_members
from ._console import print_json, print_picture, print_table, print_tree, tree_to_json

if TYPE_CHECKING:
    from ..question import Question
    from ..scene import Scene

RELATION_PHRASES = {"left": "left of it", "right": "right of it", "front": "in front of it"}


def command(
    path: Annotated[Path, typer.Argument(help="A scene file, a question file, a folder of scenes, or a dataset.")],
    index: Annotated[int, typer.Option("--index", min=0, help="Which scene or question, from 0.")] = 0,
    scenes: Annotated[Path | None, typer.Option(help="The scenes a question file is about, for its trace.")] = None,
    split: Annotated[str, typer.Option(help="Of a dataset; the index then counts within it.")] = "",
    image: Annotated[Path | None, typer.Option(help="Save the picture of a dataset's example here.")] = None,
    grounding: Annotated[
        Path | None, typer.Option(help="Save the picture with the question and the boxes of what it refers to here.")
    ] = None,
    after: Annotated[Path | None, typer.Option(help="Save a picture of the scene after the action here.")] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Only check every file against its hash.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show a scene as a table, or a question's program as a tree with its trace on its scene."""
    from ..formats import read_questions, read_scenes
    from ..run.answer import SceneLookup
    from ..store.dataset import refuse_study

    if not path.exists():
        raise UserError(f"{path}: no such file or folder")
    if (path / "manifest.json").exists():
        if verify:
            _verify(path, as_json)
        else:
            show_example(path, split, index, image, as_json, after, grounding)
        return
    refuse_study(path)
    if split or image or grounding or after or verify:
        options = "--split, --image, --grounding, --after and --verify"
        raise UserError(f"{path}: {options} are for datasets made by shiftscope make")
    try:
        found = read_scenes(path)
    except UserError as not_scenes:
        try:
            questions = read_questions(path)
        except UserError:
            raise not_scenes from None
        question = next(islice(questions, index, None), None)
        if question is None:
            raise UserError(f"{path}: there is no question {index} in it") from None
        # CLEVR's own layout keeps the scenes of a question file beside it, or in a folder of their own.
        name = path.name.replace("questions", "scenes")
        beside = (path.with_name(name), path.parent.parent / "scenes" / name)
        source = scenes or next((one for one in beside if one != path and one.exists()), None)
        lookup = SceneLookup(read_scenes(source)) if source else None
        show_question(question, lookup.find_scenes(question) if lookup else None, as_json)
        return
    if index >= len(found):
        raise UserError(f"{path}: there is no scene {index} in it; it has {len(found)}")
    show_scene(found[index], as_json)


def show_scene(scene: Scene, as_json: bool) -> None:
    """A scene: one row per object, with its relations; an open-vocabulary scene lists them below."""
    if as_json:
        print_json(scene.to_json())
        return
    closed = scene.schema.closed
    names = [o.id or str(i) for i, o in enumerate(scene.objects)]
    rows: dict[str, list[str]] = {"": names}
    for attribute in dict.fromkeys(a for o in scene.objects for a, _ in o.attributes):
        rows[attribute] = [", ".join(o.values(attribute)) for o in scene.objects]
    rows["position"] = [" ".join(f"{v:.2f}" for v in o.position or ()) for o in scene.objects]
    rows["box"] = [" ".join(f"{v:g}" for v in o.box or ()) for o in scene.objects]
    for relation in scene.relations if closed else ():
        rows[RELATION_PHRASES.get(relation.name, f"{relation.name} it")] = [
            " ".join(names[j] for j in mask_members(r)) for r in relation.rows
        ]
    rows["parts"] = [
        ", ".join(f"{' '.join(v for _, v in p.attributes)} {p.name}" for p in o.parts) for o in scene.objects
    ]
    filled = {name: column for name, column in rows.items() if any(column)}
    title = f"scene {scene.id} ({scene.schema.name}), {len(scene.objects)} objects"
    print_table(list(filled), list(zip(*filled.values(), strict=True)), title)
    for attribute, value in scene.attributes:
        print(f"{attribute}: {value}")
    for relation in () if closed else scene.relations:
        pairs = [f"{_name_object(scene, s)} {relation.name} {_name_object(scene, t)}" for s, t in relation.triples()]
        print("; ".join(pairs[:6]) + (f"; and {len(pairs) - 6} more" if len(pairs) > 6 else ""))


def _name_object(scene: Scene, i: int) -> str:
    o = scene.objects[i]
    name = " ".join(o.values("name"))
    return name if o.id == name else f"{name} {o.id or i}".strip()


def _verify(folder: Path, as_json: bool) -> None:
    """Read every byte of a dataset; refuse the first file that is not what was written."""
    from ..store.dataset import Dataset

    dataset = Dataset.open(folder)
    dataset.verify()
    files = [file for shard in dataset.shards() for file in shard.files]
    size = sum(file.bytes for file in files)
    if as_json:
        print_json({"folder": str(folder), "files": len(files), "bytes": size, "whole": True})
    else:
        print(f"all {len(files):,} files ({size:,} bytes) of {folder} are what was written")


def show_example(
    folder: Path,
    split: str,
    index: int,
    image: Path | None,
    as_json: bool,
    after: Path | None = None,
    grounding: Path | None = None,
) -> None:
    """A dataset's example: its picture, where a terminal can show one, its question and its scene."""
    from ..store.dataset import Dataset

    dataset = Dataset.open(folder)
    if len(dataset):
        example = dataset.example(index, split or None)
        pictures, question = example.images, example.question
    else:  # scenes alone
        question = None
        pictures = tuple(islice(dataset.images(split or None), index, index + 1))
        if not pictures:
            raise UserError(f"{folder}: there is no image {index} in it")
    if (image or grounding) and not pictures[0].png:
        raise UserError(f"{folder} holds scenes without pictures; make it without --no-images")
    changed_scene = apply_action(question, pictures[0].scene) if question else None
    if after and changed_scene is None:
        raise UserError(f"{folder}: question {index} has no action that can be applied; omit --after")
    if grounding and not (question and question.grounding):
        raise UserError(f"{folder}: question {index} has no grounding; omit --grounding, or make the dataset again")
    if image:
        write_whole(image, pictures[0].png)
    if grounding and question:
        from ..store.grounding_picture import draw_question

        write_whole(grounding, draw_question(question, pictures[0]))
    drawn = b""
    if changed_scene is not None and (after or (sys.stdout.isatty() and not as_json)):
        from ..render import open_renderer
        from ..render.png import encode_png

        [rendered] = open_renderer().render([changed_scene], ("rgb",), changed_scene.size or (480, 320))
        assert rendered.rgb is not None
        drawn = encode_png(rendered.rgb)
    if after:
        write_whole(after, drawn)
    if not as_json:
        for picture in (*(p.png for p in pictures), drawn):
            if picture:
                print_picture(picture)
    if question:
        show_question(question, tuple(p.scene for p in pictures), as_json)
    else:
        show_scene(pictures[0].scene, as_json)
    for path in (image, grounding, after) if not as_json else ():
        if path:
            print(f"wrote {path}")


def apply_action(question: Question, scene: Scene) -> Scene | None:
    """The scene after a question's action; None where it has none, or it cannot be applied."""
    from ..lang.exec.exact import execute
    from ..lang.program import split_action

    action = split_action(question.program)[0] if question.program else None
    if action is None:
        return None
    run = execute(action, scene)
    return run.worlds[-1].scenes[0] if run.is_defined and run.worlds else None


def show_question(question: Question, scenes: tuple[Scene, ...] | None, as_json: bool) -> None:
    """A question: its text, its answers, its program as a tree with the trace."""
    from ..answer import spell
    from ..lang.exec.exact import execute, format_trace
    from ..lang.execution_world import ExecutionWorld
    from ..lang.program import split_action
    from ..lang.text import format_program

    world = ExecutionWorld(scenes) if scenes else None
    execution = execute(question.program, world) if question.program and world else None
    tree = list(format_trace(question.program, execution, world)) if question.program else []
    changed_scene = apply_action(question, scenes[0]) if scenes and len(scenes) == 1 else None
    if as_json:
        after = {"after": changed_scene.to_json()} if changed_scene is not None else {}
        print_json(question.to_json() | {"trace": tree_to_json(tree)} | after)
        return
    if question.action:
        print(f"action    {question.action}")
    print(f"question  {question.text}")
    if question.answer is not None:
        print(f"answer    {spell(question.answer)}")
    print(f"image     {', '.join(question.scenes)}")
    for phrase in question.grounding:
        things = [*map(str, phrase.objects), *(f"{name} of {i}" for i, name in phrase.parts)]
        print(f"refers    {question.text[phrase.start : phrase.end]!r}: {', '.join(things) or 'nothing'}")
    if question.program:
        action, query = split_action(question.program)
        if action is not None:
            print(f"does      {format_program(action)}")
            print(f"asks      {format_program(query)}")
        print(f"program   {format_program(question.program)}\n")
        print_tree(tree)
    for scene in scenes or ():
        print()
        if changed_scene is not None:
            print("before the action")
        show_scene(scene, False)
    if changed_scene is not None:
        print("\nafter the action")
        show_scene(changed_scene, False)
