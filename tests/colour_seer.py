"""A verifier that learns: which hues a picture has when it shows a red car, by logistic regression."""

from __future__ import annotations

import colorsys

import numpy as np

HUES, GREYS = 18, 6
STEPS, RATE, DECAY = 300, 0.5, 3e-3


def _bin(red: float, green: float, blue: float) -> int:
    """Dark and light hues apart; what is nearly grey by how light it is."""
    hue, saturation, value = colorsys.rgb_to_hsv(red, green, blue)
    if saturation > 0.4:
        return int(hue * HUES) % HUES + HUES * (value > 0.45)
    return 2 * HUES + min(int(value * GREYS), GREYS - 1)


LEVELS = [(k + 0.5) / 16 for k in range(16)]
BINS = np.array([_bin(r, g, b) for r in LEVELS for g in LEVELS for b in LEVELS])


def hues(picture) -> np.ndarray:
    """How many pixels are in each bin, as logarithms."""
    red, green, blue = (picture[:, :, k].ravel().astype(np.int64) >> 4 for k in range(3))
    counts = np.bincount(BINS[red << 8 | green << 4 | blue], minlength=2 * HUES + GREYS)
    return np.log1p(counts)


class Colours:
    """One regression a text; of a text that it was never taught it has no opinion."""

    def __init__(self) -> None:
        self.weights: dict[str, np.ndarray] = {}

    def fit(self, texts, images, truths) -> None:
        seen = np.stack([hues(picture) for picture in images])
        self.middle, self.scale = seen.mean(0), seen.std(0) + 1e-6
        seen = self._features(seen)
        for text in sorted(set(texts)):
            mine = np.array([t == text for t in texts])
            x, y = seen[mine], np.array(truths)[mine]
            w = np.zeros(x.shape[1])
            for _ in range(STEPS):
                w -= RATE * (x.T @ (1 / (1 + np.exp(-x @ w)) - y) / len(y) + DECAY * w)
            self.weights[text] = w

    def probability(self, texts, images) -> list[float]:
        rows = self._features(np.stack([hues(picture) for picture in images]))
        none = np.zeros(rows.shape[1])
        pairs = zip(texts, rows, strict=True)
        return [float(1 / (1 + np.exp(-row @ self.weights.get(text, none)))) for text, row in pairs]

    def _features(self, seen) -> np.ndarray:
        return np.hstack([(seen - self.middle) / self.scale, np.ones((len(seen), 1))])
