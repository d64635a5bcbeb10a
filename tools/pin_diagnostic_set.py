"""Pin the diagnostic set: make every part of it whole, and write the digests into the package.

`python -m tools.pin_diagnostic_set`, after `version` in the file was raised: results of one version are comparable.
"""

import json

from shiftscope.run.diagnostic_set import FILE, digest_shards, load_diagnostic_set


def main() -> None:
    whole = load_diagnostic_set()
    found = {}
    for part in whole.parts:
        if not part.same_as:
            found[part.name] = digest_shards(whole.build(part, part.shards))
            print(part.name, *found[part.name][:2], flush=True)
    before, _, _ = FILE.read_text("utf-8").rpartition(' "digests":')
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(some)}" for name, some in found.items())
    FILE.write_text(f'{before} "digests": {{\n{lines}\n }}\n}}\n', "utf-8")


if __name__ == "__main__":
    main()
