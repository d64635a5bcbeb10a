"""Run all benchmarks, or those named: `python -m benchmarks.run foundation`."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

NAMES = sorted(
    p.stem
    for p in Path(__file__).parent.glob("*.py")
    if p.stem not in ("__init__", "run", "table", "clevr_programs", "cluster", "lanes", "scale", "scale_picture")
)


def main() -> None:
    wanted = sys.argv[1:] or NAMES
    for name in wanted:
        if name not in NAMES:
            sys.exit(f"no benchmark {name!r}; there are {', '.join(NAMES)}")
    sys.argv = sys.argv[:1]
    for name in wanted:
        import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
