"""Sine and cosine that are the same bits on every machine.

Libraries of mathematics differ in the last place; a scene is accepted by counting pixels, so ours use
nothing but additions and multiplications.
"""

from __future__ import annotations

from math import fmod

_RADIANS = 0.017453292519943295
# Taylor coefficients; on ±45° the first term left out is below 1e-17
_SIN = (1.0, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800, 1 / 6227020800, -1 / 1307674368000)
_COS = (1.0, -1 / 2, 1 / 24, -1 / 720, 1 / 40320, -1 / 3628800, 1 / 479001600, -1 / 87178291200)
_REST = tuple(zip(_SIN[-2::-1], _COS[-2::-1], strict=True))


def unit_circle(degrees: float) -> tuple[float, float]:
    """(cosine, sine) of an angle in degrees; exact at the multiples of 90."""
    turned = fmod(degrees, 360.0)
    quarter = int(turned / 90.0 + (0.5 if turned >= 0 else -0.5))
    x = (turned - 90.0 * quarter) * _RADIANS
    square = x * x
    sine, cosine = _SIN[-1], _COS[-1]
    for s, c in _REST:
        sine = sine * square + s
        cosine = cosine * square + c
    sine *= x
    return ((cosine, sine), (-sine, cosine), (-cosine, -sine), (sine, -cosine))[quarter % 4]
