"""Assembly: pieces gathered under the names of parts, then finished as one mesh of Super-CLEVR's measures."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from shiftscope.geometry.mesh import Mesh
from shiftscope.geometry.shapes.superclevr import GLASS

from .piece import Piece, Points

BODY = "body"
CREASE = 0.77  # cosine of the angle (40°) beyond which an edge between two triangles is seen as one
GRID = 1e-5  # corners closer than this, in metres, are one


class Assembly:
    """What a builder adds pieces to. Metres; x to the right, y forward, z up, wheels on z = 0."""

    def __init__(self) -> None:
        self.pieces: list[tuple[str, float, Piece]] = []

    def add(self, part: str, *pieces: Piece, tone: float = 1.0) -> None:
        """Put pieces into a part; `tone` below 1 draws them darker than the rest of the part."""
        self.pieces.extend((part, tone, piece) for piece in pieces)

    def add_named(self, pieces: Mapping[str, Piece]) -> None:
        """Put what `skin_by` cut into the parts it is named after."""
        for part, piece in pieces.items():
            self.add(part, piece)

    def finished(self, name: str, turn: float, bottom: float) -> Mesh:
        """One mesh, whose box has a diagonal of 1, is centred in x and y, and begins at z = `bottom`.

        `turn` is how far it is turned about z from facing +y, in degrees.
        """
        surfaces = sorted({(part, tone) for part, tone, _ in self.pieces}, key=lambda s: (s[0] != BODY, s[0], -s[1]))
        points, faces, whose = [], [], []
        count = 0
        for part, tone, piece in self.pieces:
            points.append(piece.turned("z", turn).vertices)
            faces.append(piece.triangles + count)
            whose.append(np.full(len(piece.triangles), surfaces.index((part, tone)), np.int32))
            count += len(piece.vertices)
        vertices, triangles, part_of = np.concatenate(points), np.concatenate(faces), np.concatenate(whose)
        low, high = vertices.min(0), vertices.max(0)
        scale = 1.0 / float(np.linalg.norm(high - low))
        panes = np.array([part == GLASS for part, _ in surfaces])[part_of]
        corners, normals = _smoothed(vertices, triangles, panes)
        used, triangles, kept = _welded(corners, normals)
        place = np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]])
        order = np.argsort(part_of[kept], kind="stable")
        return Mesh(
            name,
            (used[:, :3] - place) * scale + np.array([0.0, 0.0, bottom]),
            used[:, 3:],
            triangles[order],
            tuple(part for part, _ in surfaces),
            part_of[kept][order],
            tuple(tone for _, tone in surfaces),
        )


def _smoothed(
    vertices: Points, triangles: npt.NDArray[np.int32], panes: npt.NDArray[np.bool_]
) -> tuple[Points, Points]:
    """[triangle, corner, xyz] and a normal for each: that of the surface where it is smooth.

    Between glass and what holds it there is always an edge, or a pane would mirror as if it were bent.
    """
    corners = vertices[triangles]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])  # length: twice the area
    length = np.linalg.norm(across, axis=1)
    flat = across / np.maximum(length, 1e-30)[:, None]
    # By area and angle: the two halves of a square then weigh as the square does, whichever way it is cut.
    one, two = np.roll(corners, -1, axis=1) - corners, np.roll(corners, 1, axis=1) - corners
    angles = np.arctan2(np.linalg.norm(np.cross(one, two), axis=2), np.sum(one * two, axis=2)).reshape(-1)
    keys = np.round(corners / GRID).astype(np.int64).reshape(-1, 3)
    _, place = np.unique(keys, axis=0, return_inverse=True)
    place = place.reshape(-1)
    face = np.repeat(np.arange(len(triangles)), 3)
    order = np.argsort(place, kind="stable")
    bounds = np.flatnonzero(np.diff(place[order])) + 1
    normals = np.empty((len(place), 3))
    for meeting in np.split(order, bounds):
        around = face[meeting]
        alike = (flat[around] @ flat[around].T > CREASE) & (panes[around][:, None] == panes[around])
        total = alike @ (across[around] * angles[meeting][:, None])
        size = np.linalg.norm(total, axis=1, keepdims=True)
        normals[meeting] = np.where(size > 1e-30, total / np.maximum(size, 1e-30), flat[around])
    return corners, normals.reshape(-1, 3, 3)


def _welded(corners: Points, normals: Points) -> tuple[Points, npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Distinct (position, normal) rows, the triangles over them, and which triangles have an area."""
    rows = np.concatenate([corners, normals], axis=2)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    kept = np.flatnonzero(np.linalg.norm(across, axis=1) > 1e-10)
    flat = rows[kept].reshape(-1, 6)
    keys = np.round(flat / np.array([GRID] * 3 + [1e-3] * 3)).astype(np.int64)
    _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return flat[first], inverse.reshape(-1, 3).astype(np.int32), kept
