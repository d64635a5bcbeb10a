"""Plain options: words, numbers and paths are read without pydantic, which takes longer to import than to parse a line.

Typer reads every value by a pydantic model. What is plainly right is read here; all else, and every error, is
Typer's.
"""

import os
import re
from pathlib import Path
from typing import Any, get_args, get_origin

from ..url_path import has_url, parse_path

PLAIN_NUMBER = {int: re.compile(r"-?[0-9]{1,15}"), float: re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")}
OTHER_PATHS = ("exists", "writable", "resolve_path", "allow_dash", "path_type")  # what else Typer may ask of a path


class PlainParam:
    """Reads the value of one option in Typer's place."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        kind, info = param.type_descriptor.annotation, param.type_descriptor.parameter_info
        several = param.multiple or param.nargs != 1
        if value is None:
            return () if several else None
        listed = several and get_origin(kind) is list and isinstance(value, list | tuple)
        values, kind = (value, get_args(kind)[0]) if listed else ((value,), kind)
        found = [] if (several and not listed) or info.parser is not None else [_read(v, kind, info) for v in values]
        if len(found) == len(values) and None not in found:
            return found if listed else found[0]
        param._runtime_param = None  # Typer makes its own
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def _read(value: Any, kind: Any, info: Any) -> Any:
    """The value, or None where it is not plain."""
    if kind is str and type(value) is str:
        return value
    if kind in PLAIN_NUMBER and PLAIN_NUMBER[kind].fullmatch(str(value)):
        number = kind(value)
        fits = (info.min is None or number >= info.min) and (info.max is None or number <= info.max)
        return number if fits else None
    if kind is Path and has_url(value):
        return parse_path(value)
    if kind is Path and isinstance(value, str | Path) and _is_plain_path(os.fspath(value), info):
        return Path(value)
    return None


def _is_plain_path(path: str, info: Any) -> bool:
    asks = any(getattr(info, name) for name in OTHER_PATHS) or not (info.file_okay and info.dir_okay)
    return not asks and "\0" not in path and (not os.path.lexists(path) or os.access(path, os.R_OK))


def read_plainly(command: Any) -> Any:
    """The command, and those below it that are built already, with options that are read here where possible."""
    list_params = command.get_params

    def get_params(ctx: Any) -> Any:
        found = list_params(ctx)
        for param in found:
            if getattr(param, "_runtime_param", param) is None:  # another version of Typer may have no such thing
                param._runtime_param = PlainParam()
        return found

    command.get_params = get_params
    commands = vars(command).get("commands")  # where they are a property, they are built when they are asked for
    for below in commands.values() if isinstance(commands, dict) else ():
        read_plainly(below)
    return command
