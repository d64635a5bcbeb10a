"""Explore datasets, runs and audits in a browser; or let people validate and reword questions."""

import os
import sys
from contextlib import suppress
from pathlib import Path
from socket import gethostname
from typing import Annotated

import typer

from ..errors import UserError, warn
from . import _console as shared
from ._console import print_json


def command(
    folders: Annotated[list[Path], typer.Argument(help="Datasets, runs and audits; runs of one dataset together.")],
    data: Annotated[Path | None, typer.Option(help="The dataset of the runs, if it has moved since.")] = None,
    images: Annotated[Path | None, typer.Option(help="The folder of the pictures of an audit's VQA files.")] = None,
    model: Annotated[
        str, typer.Option(help="Load a model to ask questions of your own; as shiftscope run takes it.")
    ] = "",
    trust_remote_code: shared.TrustRemoteCode = False,
    annotate: Annotated[bool, typer.Option("--annotate", help="Serve the annotators' pages instead.")] = False,
    split: Annotated[str, typer.Option(help="With --annotate: the questions of this split.")] = "test",
    limit: Annotated[int | None, typer.Option(min=1, help="With --annotate: only so many, the first.")] = None,
    per_question: Annotated[int, typer.Option(min=1, help="With --annotate: how many people judge a question.")] = 2,
    qualify: Annotated[
        int, typer.Option(min=0, help="With --annotate: the first so many questions qualify for the others.")
    ] = 0,
    expert: Annotated[str, typer.Option(help="With --qualify: who judges these first; others are held to it.")] = "",
    qualify_above: Annotated[
        float, typer.Option(min=0, max=99.9, help="With --qualify: of how many percent they must judge alike.")
    ] = 85.0,
    annotations: Annotated[
        Path | None,
        typer.Option(help="The file of annotations; by default DIR-annotations.sqlite, beside the dataset."),
    ] = None,
    export: Annotated[
        Path | None, typer.Option(help="Write the annotations to this folder as a run and a dataset, and end.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any that is free.")] = 8765,
    host: Annotated[
        str, typer.Option(help="Who can connect: 127.0.0.1 is this machine alone; wider, a token is needed.")
    ] = "127.0.0.1",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object when ready.")] = False,
) -> None:
    """Browse examples with their programs, edit them, compare models, look into slices and shortcuts.

    Press ? on any page for its keys. Nothing is loaded from elsewhere, and nothing that was opened is changed.
    """
    from ..explore.annotation.store import AnnotationStore

    if (annotate or export) and (len(folders) > 1 or data or images or model):
        raise UserError("annotations are of one dataset; name it alone")
    if annotate and export:
        raise UserError("--export writes what --annotate gathered; give one of the two")
    if not annotate and (limit or split != "test" or per_question != 2 or qualify):
        raise UserError("--split, --limit, --per-question and --qualify go with --annotate")
    if bool(qualify) != bool(expert.strip()) or (qualify_above != 85.0 and not qualify):
        raise UserError("--qualify says how many questions, and --expert whose judgements of them are right; give both")
    if annotations is not None and not (annotate or export):
        raise UserError("--annotations goes with --annotate or --export")
    place = folders[0].resolve()
    store = AnnotationStore(annotations or place.with_name(f"{place.name}-annotations.sqlite"))
    if export is not None:
        _export(store, folders[0], export, as_json)
        return

    from ..explore.app import LOOPBACK, Access, build_app, list_hosts
    from ..explore.collection import open_collection
    from ..run.serve import serve_app

    collection = open_collection(folders, data, images)
    asker = pages = None
    if model:
        from ..explore.ask import load_asker

        asker = load_asker(model, collection.data[0].folder, warn=warn, trust_remote_code=trust_remote_code)
    if annotate:
        from ..explore.annotation.pages import open_annotation
        from ..explore.annotation.qualification import QualificationRound

        wanted = QualificationRound(qualify, " ".join(expert.split()), qualify_above) if qualify else None
        pages = open_annotation(collection, store, split, limit, per_question, wanted)
    token = "" if host in LOOPBACK else _make_token()
    app = build_app(collection, asker, Access(list_hosts(host), token), pages)

    def print_ready(url: str) -> None:
        place = url.replace(f"//{host}:", f"//{gethostname()}:") if host == "0.0.0.0" else url
        address = f"{place}/{f'?token={token}' if token else ''}"
        if as_json:
            print_json({"url": address, "pid": os.getpid()})
        else:
            print(f"open {address} (Ctrl-C ends it)")
        sys.stdout.flush()

    with suppress(KeyboardInterrupt):
        serve_app(app, host, port, ready=print_ready)


def _make_token() -> str:
    from secrets import token_urlsafe

    return token_urlsafe(24)


def _export(store: object, folder: Path, out: Path, as_json: bool) -> None:
    from ..explore.annotation.export import export_annotations
    from ..explore.annotation.store import AnnotationStore

    assert isinstance(store, AnnotationStore)
    made = export_annotations(store, folder, out)
    if as_json:
        figures = {
            "answered": made.answered,
            "kept": made.kept,
            "dropped": made.dropped,
            "paraphrased": made.paraphrased,
            "unqualified": list(made.unqualified),
        }
        print_json({"run": str(made.run), "data": str(made.data) if made.data else None, **figures})
        return
    if made.unqualified:
        print(f"left out who did not qualify: {', '.join(made.unqualified)}")
    print(f"wrote {made.run}: the answers of people to {made.answered:,} questions")
    if made.data is None:
        print(f"no question was accepted ({made.dropped:,} were not), so there is no dataset")
    else:
        print(f"wrote {made.data}: {made.kept:,} questions, {made.paraphrased:,} reworded; {made.dropped:,} left out")
