"""Build every vehicle and store them in the package: `python -m tools.vehicles`."""

from pathlib import Path

from shiftscope.files import write_whole
from shiftscope.geometry.shapes import superclevr as vehicles

from .models import built, write_meshes

if __name__ == "__main__":
    meshes = built()
    write_whole(Path(vehicles.__file__).with_name(vehicles.FILE), write_meshes(meshes))
    for mesh in meshes:
        low, high = mesh.vertices.min(0), mesh.vertices.max(0)
        sides = " × ".join(f"{side:.3f}" for side in high - low)
        print(f"{mesh.name:12} {len(mesh.triangles):5} triangles  {len(set(mesh.parts)):3} parts  {sides}")
