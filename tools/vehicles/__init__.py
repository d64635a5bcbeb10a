"""The 21 vehicles of Super-CLEVR as triangle meshes with named parts, built by our own code.

`python -m tools.vehicles` builds them all into `src/shiftscope/geometry/shapes/vehicles.npz`, which is all that the
package reads.
"""
