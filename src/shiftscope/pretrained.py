"""Pretrained: what transformers may load by a user's name: no code of a model's own and no pickled weights.

Either can do anything to the machine, so both take the user's word. `auto_map` in a file of a model tells of
code in a file beside it; pickles run what they are told to as they are read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .errors import UserError
from .whole import read_whole

CONFIGS = (
    "config.json",
    "generation_config.json",
    "processor_config.json",
    "preprocessor_config.json",
    "video_preprocessor_config.json",
    "tokenizer_config.json",
)
GENERATE = "custom_generate/generate.py"
AUTO_MAP = "auto_map"
WEIGHTS = {"model*.safetensors": "pytorch_model*.bin", "adapter_model.safetensors": "adapter_model*.bin"}


def loading(trusted: bool = False) -> dict[str, bool]:
    """What `from_pretrained` of a tokenizer, a processor or a config is told: without a word it would ask."""
    return {"trust_remote_code": trusted}


def loading_weights(trusted: bool = False) -> dict[str, bool]:
    """The same for a model."""
    return loading(trusted) | ({} if trusted else {"use_safetensors": True})


def refuse_untrusted(target: str, remedy: str) -> None:
    """Refuse a folder with code of its own, or whose weights are pickled; the remedy says what to do then."""
    folder = Path(target)
    if not folder.is_dir():
        return
    for name in CONFIGS:
        if _has_code(folder / name):
            raise UserError(
                f"model {target} wants to run code of its own ({AUTO_MAP} in {folder / name}); {remedy}, or "
                f"remove {AUTO_MAP} there to load it with transformers' own code"
            )
    if (folder / GENERATE).exists():
        raise UserError(
            f"model {target} wants to run code of its own ({folder / GENERATE}); {remedy}, or remove it"
        )
    for safe, pickled in WEIGHTS.items():
        found = sorted(folder.glob(pickled))
        if found and not any(folder.glob(safe)):
            raise UserError(
                f"model {target} has pickled weights ({found[0]}), which may run code; {remedy}, or save "
                "them as safetensors"
            )


def _has_code(path: Path) -> bool:
    """Whether a configuration names code, at any depth; one that is broken is told of by who loads it."""
    try:
        return _names_code(json.loads(read_whole(path)))
    except (OSError, ValueError, RecursionError):
        return False


def _names_code(value: Any) -> bool:
    if isinstance(value, dict):
        return bool(value.get(AUTO_MAP)) or any(map(_names_code, value.values()))
    return isinstance(value, list) and any(map(_names_code, value))
