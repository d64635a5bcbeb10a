"""Trust: what transformers may load by a user's name: no code of a model's own and no pickled weights.

Either can run anything on the machine, so both need the user's consent. `auto_map` in a model's configuration names
code in a file beside it; a pickle runs code as it is read.
"""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from .errors import UserError
from .files import read_whole

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


def load_options(trusted: bool = False) -> dict[str, bool]:
    """Arguments of `from_pretrained` for a tokenizer, processor or config; without them it would ask."""
    return {"trust_remote_code": trusted}


def weight_load_options(trusted: bool = False) -> dict[str, bool]:
    """The same for a model."""
    return load_options(trusted) | ({} if trusted else {"use_safetensors": True})


def refuse_untrusted(target: str, remedy: str) -> None:
    """Refuse a folder with code of its own, or whose weights are pickled; the remedy says what to do then."""
    folder = Path(target)
    if not folder.is_dir():
        return
    for name in CONFIGS:
        named = False
        with suppress(OSError, ValueError, RecursionError):  # a broken one is reported when it is loaded
            named = _names_code(json.loads(read_whole(folder / name)))
        if named:
            raise UserError(
                f"model {target} wants to run code of its own ({AUTO_MAP} in {folder / name}); {remedy}, or "
                f"remove {AUTO_MAP} there to load it with transformers' own code"
            )
    if (folder / GENERATE).exists():
        raise UserError(f"model {target} wants to run code of its own ({folder / GENERATE}); {remedy}, or remove it")
    for safe, pickled in WEIGHTS.items():
        found = sorted(folder.glob(pickled))
        if found and not any(folder.glob(safe)):
            raise UserError(
                f"model {target} has pickled weights ({found[0]}), which may run code; {remedy}, or save "
                "them as safetensors"
            )


def _names_code(value: Any) -> bool:
    """Whether a configuration names code, at any depth."""
    if isinstance(value, dict):
        return bool(value.get(AUTO_MAP)) or any(map(_names_code, value.values()))
    return isinstance(value, list) and any(map(_names_code, value))
