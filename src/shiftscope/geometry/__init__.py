"""Meshes with named parts, the camera, and the integer visibility pass."""
