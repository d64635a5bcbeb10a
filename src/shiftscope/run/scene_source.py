"""Files that a user names: the scenes of a scene file, of a folder of files, or of a dataset; and who made them."""

from collections.abc import Sequence
from pathlib import Path

from ..errors import UserError
from ..formats import read_scenes
from ..json_files import refuse_repeated_ids
from ..scene import Scene
from ..store.dataset import Dataset, refuse_study
from ..store.manifest import DEFAULT_INFO, MANIFEST_FILE
from ..suites.sources import credit_sources


def read_given_scenes(path: Path, splits: Sequence[str] = ()) -> list[Scene]:
    """All scenes of a file or folder of files, or of a dataset; at least one. Of a dataset `splits` names some."""
    refuse_study(path)
    if not (path / MANIFEST_FILE).is_file():
        if splits:
            raise UserError(f"--split is for datasets, and {path} is none; omit it")
        return read_scenes(path)
    dataset = Dataset.open(path)
    found = [scene for split in dict.fromkeys(splits or dataset.splits) for scene in dataset.scenes(split)]
    if not found:
        asked = f"the splits {', '.join(splits)} have" if splits else "the dataset has"
        raise UserError(f"{path}: {asked} no images, and so no scenes")
    refuse_repeated_ids((scene.id for scene in found), "scene", path)
    return found


def describe_licenses(paths: Sequence[Path]) -> dict[str, str]:
    """What a file made from these says of its licence and sources, as a dataset's card would."""
    about = credit_sources(DEFAULT_INFO, paths)
    return {"license": about.license, "sources": about.sources}
