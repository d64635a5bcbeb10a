"""The shipped meshes are what the builders build."""

import numpy as np
import pytest

from meshes import built
from shiftscope.errors import UserError
from shiftscope.geometry.shapes.superclevr import load_vehicle, read_meshes, vehicle_names
from shiftscope.schemas.superclevr import SHAPE
from tools.vehicles.models import models, write_meshes


def test_every_model_of_the_schema_is_stored() -> None:
    assert sorted(vehicle_names()) == sorted(SHAPE.values) == sorted(models())


@pytest.mark.parametrize("name", models())
def test_the_stored_mesh_is_fresh(name: str) -> None:
    stored, fresh = load_vehicle(name), read_meshes(write_meshes([built(name)]))[name]
    assert stored.parts == fresh.parts, "run python -m tools.vehicles"
    assert stored.tones == fresh.tones
    assert stored.triangles.shape == fresh.triangles.shape
    assert np.abs(stored.vertices - fresh.vertices).max() < 1e-4  # another machine's sine may round elsewhere
    assert np.array_equal(stored.part_of, fresh.part_of)


def test_an_unknown_vehicle_is_named_with_the_nearest() -> None:
    with pytest.raises(UserError, match="no vehicle 'sedann'; did you mean 'sedan'"):
        load_vehicle("sedann")
