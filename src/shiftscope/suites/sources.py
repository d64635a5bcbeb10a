"""Sources: what a dataset made from a user's files owes to whom, for its card: each file and its licence."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..formats import find_license
from ..store.manifest import OTHER_LICENSE, DatasetInfo, read_manifest


@dataclass(frozen=True, slots=True)
class DataSource:
    """A file or folder that data were made from, in words, and its licence; empty where that is not known."""

    text: str  # Markdown
    license: str = ""  # as Hugging Face spells it


def find_source(path: Path) -> DataSource:
    """What a file says of its licence, else that of the release whose format it has; a dataset of ours says it."""
    if path.is_dir() and (made := read_manifest(path)) is not None:
        about = made.about
        given = f", made from\n{_indent(about.sources)}" if about.sources else ""
        return DataSource(f"`{path.name}`: {about.title} ({about.license}){given}", about.license)
    release, stated, license = find_license(path)
    if stated:
        return DataSource(f"`{path.name}`, which says of its licence: {stated}", license)
    if license:
        return DataSource(f"`{path.name}`, in the format of {release}, which is released under {license}", license)
    return DataSource(f"`{path.name}`: its licence is not known here; see where it comes from")


def credit_sources(about: DatasetInfo, paths: Sequence[Path], pictures: Path | None = None) -> DatasetInfo:
    """The texts of a card that names the files given, and the strictest thing that can be said of its licence."""
    found = [find_source(path) for path in paths]
    lines = [f"- {source.text}" for source in found]
    if pictures is not None:
        lines.append(f"- the pictures in `{pictures.name}`, each under the licence of whoever took it")
    same = pictures is None and all(source.license == about.license for source in found)
    return replace(about, license=about.license if same else OTHER_LICENSE, sources="\n".join(lines))


def _indent(lines: str) -> str:
    return "\n".join(f"  {line}" for line in lines.splitlines())
