"""Resampling as dense matrices: slow, and simple enough to be believed."""

import numpy as np


def cubic(x: np.ndarray) -> np.ndarray:
    """Keys' kernel with a = -0.75."""
    a, x = -0.75, np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def matrix(kind: str, start: int, length: int, sub: int, samples: int, out: int) -> np.ndarray:
    """Rows of weights: output `i` is `matrix[i] @ samples`.

    The outputs share the image columns from `start` on, `length` of them, a sample has `sub`.
    """
    first, last = start // sub, -(-(start + length) // sub) - 1
    weights = np.zeros((out, samples))
    for i in range(out):
        if kind == "nearest":
            pixel = start + ((2 * i + 1) * length) // (2 * out)
            weights[i, pixel // sub] = 1
            continue
        left = (start + i * length / out) / sub
        right = (start + (i + 1) * length / out) / sub
        center = (left + right) / 2 - 0.5
        base = int(np.floor(center))
        if kind == "area":
            taps = np.arange(int(np.floor(left)), int(np.ceil(right)))
            parts = np.minimum(taps + 1, right) - np.maximum(taps, left)
            parts = np.maximum(parts, 0) / (right - left)
        elif kind == "bilinear":
            taps, part = np.array([base, base + 1]), center - base
            parts = np.array([1 - part, part])
        else:
            taps = np.arange(base - 1, base + 3)
            parts = cubic(center - taps)
        np.add.at(weights[i], np.clip(taps, first, last), parts)
    return weights


def resampler(kind: str, crop: tuple[int, int, int, int], size: tuple[int, int]):
    """What makes of a component the samples of `size` pixels that show `crop`."""
    x, y, width, height = crop

    def resample(component: np.ndarray, columns: int, rows: int) -> np.ndarray:
        across = matrix(kind, x, width, columns, component.shape[1], size[0])
        down = matrix(kind, y, height, rows, component.shape[0], size[1])
        return down @ component @ across.T

    return resample
