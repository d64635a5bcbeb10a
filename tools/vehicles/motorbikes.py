"""The motorbikes, a file each."""

from __future__ import annotations

from .chopper import chopper
from .cruiser import cruiser
from .dirtbike import dirtbike
from .scooter import scooter

MODELS = {"chopper": chopper, "dirtbike": dirtbike, "scooter": scooter, "cruiser": cruiser}
