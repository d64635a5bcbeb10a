"""Where a user's own model class imported its records from; they are in `shiftscope.model`."""

from ..deprecated import forward_names

NAMES = {
    "Reply": "Response",
    "Prompt": "Prompt",
    "Model": "Model",
    "Setting": "ModelSetting",
    "Options": "ModelOptions",
}
__getattr__ = forward_names(__name__, {old: f"shiftscope.model:{new}" for old, new in NAMES.items()})
