"""Build every vehicle and store them: `python -m shiftscope.geometry.vehicles`."""

from pathlib import Path

from ...whole import write_whole
from .models import built
from .stored import FILE, written

if __name__ == "__main__":
    meshes = built()
    write_whole(Path(__file__).with_name(FILE), written(meshes))
    for mesh in meshes:
        low, high = mesh.vertices.min(0), mesh.vertices.max(0)
        sides = " × ".join(f"{side:.3f}" for side in high - low)
        print(f"{mesh.name:12} {len(mesh.triangles):5} triangles  {len(set(mesh.parts)):3} parts  {sides}")
