"""Pin the diagnostic set: make parts of it whole, and write their digests into the package.

`python -m tools.pin_diagnostic_set [PART …]`, after `version` in the file was raised: results of one version are
comparable. Without parts, all are pinned anew.
"""

import json
import shutil
import sys
from collections.abc import Sequence

from shiftscope.run.diagnostic_set import FILE, digest_shards, load_diagnostic_set


def main(names: Sequence[str]) -> None:
    whole = load_diagnostic_set()
    found = dict(whole.digests)
    for part in whole.parts:
        if not part.same_as and (not names or part.name in names):
            for old in (part, *([whole.find(part.base)] if part.base else [])):  # earlier code may have made it
                shutil.rmtree(whole.locate(old, old.shards), ignore_errors=True)
            found[part.name] = digest_shards(whole.build(part, part.shards))
            print(part.name, *found[part.name][:2], flush=True)
    before, _, _ = FILE.read_text("utf-8").rpartition(' "digests":')
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(some)}" for name, some in found.items())
    FILE.write_text(f'{before} "digests": {{\n{lines}\n }}\n}}\n', "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
