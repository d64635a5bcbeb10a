"""The command line: one file per verb, thin over a library call. Errors are one sentence and exit code 2."""

import atexit
import gc
import os
import sys

GC_THRESHOLD = 400_000  # records made before cycles are looked for: a small command makes half as many, all in use
LONGEST = 600  # characters of an error; a broken file may quote megabytes of itself


def main() -> None:
    """Run `shiftscope`; the entry point of the package."""
    gc.set_threshold(GC_THRESHOLD)
    # Before it ends Python looks for cycles among all records, a fifth of a small command's time; the system takes them
    # back anyway. Registered first, this runs after whatever libraries do at the end.
    atexit.register(gc.freeze)
    try:
        _run_command()
    except KeyboardInterrupt:  # outside of any command: while it is being loaded, or has just ended
        _leave("stopped; run the same command again to resume", 130)


def _run_command() -> None:
    from ..errors import UserError
    from ._app import command

    for stream in (sys.stdout, sys.stderr):  # a terminal that cannot show a letter shows its code
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = command()(standalone_mode=False)
    except UserError as error:
        _leave(str(error), error.exit_code)
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # the reader (head, less) has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        raise
    except OSError as error:  # the system refuses something, and says why
        named = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        _leave(f"{named}{error.strerror or error}", 2)
    except UnicodeEncodeError as error:
        _leave(f"{error.object[max(0, error.start - 40) : error.end + 40]!a} is not UTF-8; rename it", 2)
    except Exception as error:
        if not hasattr(error, "format_message"):  # a bug, not a mistyped command
            raise
        if type(error).__name__ == "NoArgsIsHelpError":  # a bare command: its message is its help
            print(error.format_message(), file=sys.stderr)
            sys.exit(2)
        _leave(f"{error.format_message()} (shiftscope --help)", 2)
    if code == 130:
        _leave("stopped; run the same command again to resume", 130)
    sys.exit(code if isinstance(code, int) else 0)


def _leave(message: str, code: int) -> None:
    """Say one sentence on the error stream and end."""
    line = " ".join(message.split())
    if len(line) > LONGEST:
        line = f"{line[: LONGEST - 200]} … {line[-200:]}"
    print(f"shiftscope: {line}", file=sys.stderr)
    sys.exit(code)
