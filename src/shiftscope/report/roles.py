"""Roles: what a run is for in a study of a held-out property, told from what its model learned from.

`shiftscope split` lists the parts: train_text_only, train_m_shot or train_zero_shot, train_iid_size and
train_iid. A run names its part with --learn-part; of a model that was trained elsewhere, with --trained-on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

TEXT, UPPER, HELD_OUT, ALL = "text_only", "iid_size", "shot", "iid"
_ROLES = re.compile(r"(?:train_)?(text_only|iid_size|iid|(?:zero|m|\d+)_shot)")


def learned_part(spec: Mapping[str, Any]) -> str:
    """What part of a dataset the model learned from, without the split's name."""
    part = spec.get("learned_part")
    return str(part.get("name") or "").rpartition(":")[2] if isinstance(part, Mapping) else ""


def asked_part(spec: Mapping[str, Any]) -> str:
    """What part of a dataset was asked about, with the split's name; nothing where it was all."""
    part = spec.get("part")
    return str(part.get("name") or "") if isinstance(part, Mapping) else ""


def role_of(spec: Mapping[str, Any]) -> str:
    """text_only, iid_size (the upper bound), shot (what is to generalise), iid; or nothing."""
    said = learned_part(spec) or str(spec.get("trained_on") or "")
    found = _ROLES.fullmatch(said.rpartition(":")[2].replace("-", "_").replace(" ", "_"))
    if found is None:
        return ""
    return HELD_OUT if found[1].endswith("_shot") else found[1]
