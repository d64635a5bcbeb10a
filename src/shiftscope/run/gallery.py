"""Gallery: contact sheets of what suites can show, or a page of questions drawn from a dataset."""

from collections.abc import Sequence
from pathlib import Path

from ..errors import UserError, unknown
from ..files import write_whole
from ..folder import lock_folder
from ..render.image import encode_sheet
from ..suites import load_suites


def make_gallery(
    out: Path, seed: int = 0, worlds: Sequence[str] = (), data: Path | None = None, source: str = ""
) -> list[Path]:
    """Write the sheets of these suites into `out`, of all that have some by default.

    With `data`, the one suite named writes a page of that dataset's questions; `source` says what its graphs are.
    """
    found = {name: suite for name, suite in load_suites().items() if not worlds or name in worlds}
    pages = [name for name, suite in found.items() if suite.has_page and worlds]
    if bool(pages) != bool(data) or (pages and len(worlds) > 1):
        name = pages[0] if pages else "SUITE"
        raise UserError(f"--of {name} shows questions of a dataset: give it alone and name one with --data")
    if data is not None:
        return [found[pages[0]].write_gallery_page(data, out, seed, source)]
    for world in worlds:
        if world not in found or not found[world].has_sheets:
            raise unknown("world", world, [name for name, suite in load_suites().items() if suite.has_sheets])
    written = []
    with lock_folder(out):
        for suite in (suite for suite in found.values() if suite.has_sheets):
            for name, sheet in suite.build_sheets(seed).items():
                write_whole(out / name, encode_sheet(sheet))
                written.append(out / name)
    return written
