"""The 21 vehicles of Super-CLEVR as triangle meshes with named parts, built by our own code.

`python -m shiftscope.geometry.vehicles` builds them all and stores them beside this file; drawing reads the
stored meshes only (`stored.py`), so every machine draws the same vertices and needs no mesh library.
"""
