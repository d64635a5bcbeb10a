"""Store the part of WordNet 3.0 that the package ships: `python -m tools.wordnet FOLDER`.

The folder has WordNet's own files: `dpkg-deb -x wordnet-base_*.deb DIR` puts Debian's in DIR/usr/share/wordnet.
Glosses, verbs and adverbs stay out; nouns keep what they are kinds of, adjectives what they are like, both
their opposites. Princeton's licence, which heads each of its files, is written beside the data.
"""

import io
import re
import sys
from pathlib import Path

import numpy as np

from shiftscope.files import read_whole, write_whole
from shiftscope.scene_graph.wordnet import SHIPPED, read_folder

LICENCE = SHIPPED.with_name("LICENSE.wordnet.txt")


def read_licence(folder: Path) -> str:
    """The numbered lines at the head of a file, without their numbers."""
    lines = read_whole(folder / "data.noun").decode().split("\n")
    head = [line for line in lines[:60] if line.startswith("  ")]
    return "\n".join(re.sub(r"^ +\d+ ?", "", line).rstrip() for line in head) + "\n"


def main() -> None:
    folder = Path(sys.argv[1])
    stored = io.BytesIO()
    np.savez_compressed(stored, **read_folder(folder))
    SHIPPED.parent.mkdir(exist_ok=True)
    write_whole(SHIPPED, stored.getvalue())
    write_whole(LICENCE, read_licence(folder).encode())
    print(f"{SHIPPED}: {SHIPPED.stat().st_size:,} bytes\n{LICENCE}")


if __name__ == "__main__":
    main()
