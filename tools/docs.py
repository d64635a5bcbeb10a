"""Generated reference pages: `make docs` writes them, a contract checks that they are fresh."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shiftscope.lang.exec.packed import PACKED_OPS
from shiftscope.lang.op import all_ops

PAGES = {"docs/reference/ops.md": "op_reference", "docs/reference/cli.md": "cli_reference"}
ENGINES = ("Every op runs exactly. *Soft* says whether it also runs on beliefs, *packed* whether by the thousand.\n",)
MADE = "<!-- made by `make docs`; edit the source, not this page -->\n"


def op_reference() -> str:
    """The ops by family: how each is written, what it gives, what it means, and which engine runs it."""
    page = [MADE, "# Ops\n", *ENGINES]
    family = ""
    for op in sorted(all_ops().values(), key=lambda o: o.family):
        if op.family != family:
            family = op.family
            page += [f"\n## {family}\n", "| op | gives | meaning | soft | packed |", "|---|---|---|---|---|"]
        gives = " or ".join(dict.fromkeys(str(s.output) for s in op.signatures))
        soft, packed = "yes" if op.soft else "", "yes" if op.name in PACKED_OPS else ""
        page.append(f"| `{op.usage}` | {gives} | {op.summary} | {soft} | {packed} |")
    return "\n".join(page) + "\n"


def cli_reference() -> str:
    """The help of every verb, as the command line prints it."""
    from typer.main import get_command
    from typer.testing import CliRunner

    from shiftscope.cli._app import app
    from shiftscope.registry import VERBS

    page = [MADE, "# Command line\n"]
    for verb in VERBS.names():
        command: Any = get_command(app).get_command(None, verb)
        kinds = [[verb, one] for one in command.list_commands(None)] if hasattr(command, "commands") else [[verb]]
        for words in kinds:
            shown = CliRunner().invoke(app, [*words, "--help"], prog_name="shiftscope", env={"COLUMNS": "100"})
            page += [f"## {' '.join(words)}\n", "```text", shown.output.strip(), "```\n"]
    return "\n".join(page)


def main(root: Path = Path()) -> None:
    for path, maker in PAGES.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(globals()[maker](), "utf-8")
        print(target)


if __name__ == "__main__":
    main()
