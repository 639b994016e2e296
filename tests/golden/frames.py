"""Frames of noise, and what a pixel of them is, told with NumPy alone."""

from typing import NamedTuple

import numpy as np

# Kr and Kb of ITU-R BT.601-7, BT.709-6 and BT.2020-2.
LUMA = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593)}


class Plane(NamedTuple):
    """A plane: the letters of a block, image columns and rows for a block, bytes of a sample."""

    letters: str
    columns: int = 1
    rows: int = 1
    bytes: int = 1


# Bits of a sample follow; those of 16-bit words are the highest.
FORMATS = {
    "rgb8": ([Plane("RGB")], 8),
    "bgr8": ([Plane("BGR")], 8),
    "rgba8": ([Plane("RGBA")], 8),
    "bgrx8": ([Plane("BGRx")], 8),
    "argb8": ([Plane("ARGB")], 8),
    "xbgr8": ([Plane("xBGR")], 8),
    "rgb8_planar": ([Plane("R"), Plane("G"), Plane("B")], 8),
    "mono8": ([Plane("Y")], 8),
    "mono16": ([Plane("Y", bytes=2)], 16),
    "YUYV": ([Plane("YUYV", 2)], 8),
    "YVYU": ([Plane("YVYU", 2)], 8),
    "UYVY": ([Plane("UYVY", 2)], 8),
    "NV12": ([Plane("Y"), Plane("UV", 2, 2)], 8),
    "NV21": ([Plane("Y"), Plane("VU", 2, 2)], 8),
    "NV16": ([Plane("Y"), Plane("UV", 2)], 8),
    "NV24": ([Plane("Y"), Plane("UV")], 8),
    "I420": ([Plane("Y"), Plane("U", 2, 2), Plane("V", 2, 2)], 8),
    "YV12": ([Plane("Y"), Plane("V", 2, 2), Plane("U", 2, 2)], 8),
    "Y42B": ([Plane("Y"), Plane("U", 2), Plane("V", 2)], 8),
    "Y444": ([Plane("Y"), Plane("U"), Plane("V")], 8),
    "P010": ([Plane("Y", bytes=2), Plane("UV", 2, 2, 2)], 10),
}


class Frame:
    """A frame: its bytes, and each component as an array with the columns and rows it stands for.

    `codes` are the least one and the one above the greatest; without it there are all.
    """

    def __init__(self, name: str, size: tuple[int, int], random: np.random.Generator, codes=None):
        planes, self.bits = FORMATS[name]
        width, height = size
        least, above = codes or (0, 1 << self.bits)
        self.name, self.width, self.height = name, width, height
        self.components: dict[str, tuple[np.ndarray, int, int]] = {}
        raw = []
        for plane in planes:
            blocks, rows = -(-width // plane.columns), -(-height // plane.rows)
            samples = random.integers(least, above, (rows, blocks * len(plane.letters)))
            stored = samples << (8 * plane.bytes - self.bits)
            raw.append(stored.astype("<u2" if plane.bytes == 2 else "u1").tobytes())
            for letter in set(plane.letters) - {"A", "x"}:
                count = plane.letters.count(letter)
                step = len(plane.letters) // count
                component = samples[:, plane.letters.index(letter) :: step].astype(float)
                self.components[letter] = (component, plane.columns // count, plane.rows)
        self.bytes = b"".join(raw)

    def pixels(self, resample, encoding: str, range_: str) -> np.ndarray:
        """Full range red, green and blue (of grey: luma thrice) between 0 and 255, not rounded.

        `resample` makes of a component the samples of the output's pixels.
        """
        got = {letter: resample(*component) for letter, component in self.components.items()}
        depth = 2.0 ** (self.bits - 8)
        white = 2.0**self.bits - 1
        low, swing, chroma = (16 * depth, 219 * depth, 224 * depth)
        if range_ == "full":
            low, swing, chroma = 0.0, white, white
        if "R" in got:
            rgb = np.stack([got["R"], got["G"], got["B"]], axis=-1)
            return np.clip((rgb - low) / swing * 255, 0, 255)
        luma = (got["Y"] - low) / swing
        if "U" not in got:
            return np.clip(np.stack([luma] * 3, axis=-1) * 255, 0, 255)
        kr, kb = LUMA[encoding]
        blue = (got["U"] - 128 * depth) / chroma
        red = (got["V"] - 128 * depth) / chroma
        r = luma + 2 * (1 - kr) * red
        b = luma + 2 * (1 - kb) * blue
        g = (luma - kr * r - kb * b) / (1 - kr - kb)
        return np.clip(np.stack([r, g, b], axis=-1) * 255, 0, 255)
