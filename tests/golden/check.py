#!/usr/bin/env python3
"""Compares the converter with NumPy, OpenCV and Pillow.

usage: check.py CONVERT DIRECTORY

CONVERT is the example of the same name, DIRECTORY an empty one for frames and inputs. Prints how
far each group of comparisons is apart at most; ends with 1 when that is further than the numeric
contract says.
"""

import itertools
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from frames import FORMATS, Frame
from resample import resampler

DTYPES = {"u8": np.uint8, "i8": np.int8, "f16": np.float16, "f32": np.float32}
MEAN = np.float32([123.675, 116.28, 103.53])
STD = np.float32([58.395, 57.12, 57.375])
PAD = (7, 114, 201)
KINDS = ["bilinear", "nearest", "bicubic", "area"]
SIZES = [(25, 19), (97, 53), (30, 50)]


class Case:
    """One conversion, what is expected of it, and how far apart they may be."""

    def __init__(self, group: str, frame: Frame, expected: np.ndarray, limit: float, **words):
        self.group, self.frame, self.words = group, frame, words
        self.expected, self.limit = expected.astype(float), limit

    def line(self, number: int, kernel: str, directory: Path) -> str:
        """The conversion, as the example reads it; the frame is written where that says."""
        path = directory / f"{number}.frame"
        path.write_bytes(self.frame.bytes)
        words = {"frame": path, "out": directory / f"{number}.out", "kernel": kernel}
        words["format"] = self.frame.name
        words |= {"size": f"{self.frame.width}x{self.frame.height}", "align": [1, 4, 64][number % 3]}
        return " ".join(f"{key}={value}" for key, value in (words | self.words).items())

    def apart(self, number: int, directory: Path) -> np.ndarray:
        """How far what was written is from what is expected."""
        width, height = map(int, self.words["input"].split("x"))
        got = np.fromfile(directory / f"{number}.out", DTYPES[self.words.get("dtype", "u8")])
        if self.words.get("layout") == "nchw":
            got = got.reshape(-1, height, width).transpose(1, 2, 0)
        return np.abs(got.reshape(self.expected.shape).astype(float) - self.expected)


def region(fit: str, source: tuple[int, int], size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Where an image of `source` pixels lies in an input of `size`."""
    if fit != "letterbox":
        return (0, 0, *size)
    width, height = size
    if source[0] * height > source[1] * width:
        height = max(1, (2 * source[1] * width + source[0]) // (2 * source[0]))
    else:
        width = max(1, (2 * source[0] * height + source[1]) // (2 * source[1]))
    return ((size[0] - width) // 2, (size[1] - height) // 2, width, height)


def numpy_case(frame: Frame, size, way, colors, output) -> Case:
    """A whole conversion told by NumPy; a pixel value may be off by one."""
    (kind, fit, crop), (encoding, range_), (dtype, layout, order) = way, colors, output
    whole = (frame.width, frame.height)
    # The greatest part of an aspect is a letterbox turned round.
    part = {"whole": (0, 0, *whole), "center": region("letterbox", size, whole)}.get(crop, crop)
    x, y, width, height = region(fit, part[2:], size)
    resample = resampler(kind, part, (width, height))
    pixels = np.full((size[1], size[0], 3), PAD, float)
    pixels[y : y + height, x : x + width] = frame.pixels(resample, encoding, range_)
    pixels = np.floor(pixels + 0.5)
    words = {"input": f"{size[0]}x{size[1]}", "interpolation": kind, "fit": fit}
    words |= {"crop": crop if isinstance(crop, str) else ",".join(map(str, crop))}
    words |= {"encoding": encoding, "range": range_, "pad": ",".join(map(str, PAD))}
    words |= {"dtype": dtype, "layout": layout, "order": order}
    limit = 1.0
    if dtype == "i8":
        pixels -= 128
        words |= {"scale": "1", "zero-point": "-128"}
    elif dtype != "u8":
        words["normalization"] = "imagenet"
        pixels = (pixels - MEAN) / STD
        # One pixel value, and the float's own rounding.
        limit = float(1 / STD.min()) + (2e-3 if dtype == "f16" else 1e-5)
    channels = {"rgb": [0, 1, 2], "bgr": [2, 1, 0]}[order]
    return Case(f"NumPy {kind}", frame, pixels[..., channels], limit, **words)


def numpy_cases(random: np.random.Generator):
    """Every format in every way and as every output, in every way in every colour."""
    fits = [("stretch", "whole"), ("letterbox", "whole"), ("stretch", "center")]
    ways = [(kind, *fit) for kind, fit in itertools.product(KINDS, fits)]
    outputs = list(itertools.product(DTYPES, ["nhwc", "nchw"], ["rgb", "bgr"]))
    colors = list(itertools.product(["bt601", "bt709", "bt2020"], ["limited", "full"]))
    for name in FORMATS:
        frame = Frame(name, (61, 37), random)
        for index, (way, output) in enumerate(itertools.product(ways, outputs)):
            color = colors[(index + index // len(outputs)) % len(colors)]
            yield numpy_case(frame, SIZES[index % len(SIZES)], way, color, output)
        part = (7, 5, 31, 23)
        for kind, color in itertools.product(KINDS, colors):
            yield numpy_case(frame, (31, 23), (kind, "stretch", part), color, outputs[0])


def resize_cases(random: np.random.Generator):
    """Resizing against the peers that the documentation names."""
    frame = Frame("rgb8", (61, 37), random)
    image = np.frombuffer(frame.bytes, np.uint8).reshape(37, 61, 3)
    for size in [*SIZES, (61, 37)]:
        words = {"range": "full", "fit": "stretch", "input": f"{size[0]}x{size[1]}"}
        for kind, peer, limit in [
            ("bilinear", "INTER_LINEAR", 1),
            ("nearest", "INTER_NEAREST_EXACT", 0),
            ("bicubic", "INTER_CUBIC", 1),
            # Where it does not shrink, OpenCV's is another filter.
            *([("area", "INTER_AREA", 1)] if size == (25, 19) else []),
        ]:
            expected = cv2.resize(image, size, interpolation=getattr(cv2, peer))
            yield Case(f"OpenCV {peer}", frame, expected, limit, interpolation=kind, **words)
        expected = np.asarray(Image.fromarray(image).resize(size, Image.Resampling.NEAREST))
        yield Case("Pillow NEAREST", frame, expected, 0, interpolation="nearest", **words)
    # By whole factors, where Pillow's box has no other pixels in it.
    frame = Frame("rgb8", (60, 36), random)
    image = Image.frombytes("RGB", (60, 36), frame.bytes)
    expected = np.asarray(image.resize((20, 9), Image.Resampling.BOX))
    words = {"range": "full", "fit": "stretch", "input": "20x9", "interpolation": "area"}
    yield Case("Pillow BOX", frame, expected, 1, **words)


def color_cases(random: np.random.Generator):
    """Colours against OpenCV, which knows BT.601 alone."""
    words = {"encoding": "bt601", "fit": "stretch", "input": "64x48", "interpolation": "nearest"}
    frame = Frame("rgb8", (64, 48), random)
    grey = cv2.cvtColor(np.frombuffer(frame.bytes, np.uint8).reshape(48, 64, 3), cv2.COLOR_RGB2GRAY)
    yield Case("OpenCV grey", frame, grey[..., None], 1, order="grey", range="full", **words)
    planar = dict.fromkeys(["NV12", "NV21", "I420", "YV12"], (72, 64))
    for name, shape in (planar | dict.fromkeys(["YUY2", "UYVY", "YVYU"], (48, 64, 2))).items():
        # OpenCV takes luma below black for black.
        frame = Frame({"YUY2": "YUYV"}.get(name, name), (64, 48), random, codes=(16, 236))
        image = np.frombuffer(frame.bytes, np.uint8).reshape(shape)
        expected = cv2.cvtColor(image, getattr(cv2, f"COLOR_YUV2RGB_{name}"))
        yield Case("OpenCV YUV2RGB", frame, expected, 1, range="limited", **words)


def compare(cases: list[Case], kernel: str, convert: str, directory: Path) -> int:
    """Converts with `kernel`, prints how far apart that is, and gives the number of those too far."""
    lines = [case.line(number, kernel, directory) for number, case in enumerate(cases)]
    text = "\n".join(lines)
    subprocess.run([convert], input=text, text=True, stdout=subprocess.DEVNULL, check=True)
    failed = 0
    groups: dict[str, list[np.ndarray]] = {}
    for number, (case, line) in enumerate(zip(cases, lines)):
        apart = case.apart(number, directory)
        groups.setdefault(case.group, []).append(apart.ravel() / (case.limit or 1))
        # What is no number is not within the limit either.
        if not apart.max() <= case.limit:
            failed += 1
            print(f"apart by {apart.max()}, at most {case.limit}: {line}", file=sys.stderr)
    print(f"{f'the {kernel} kernel and':<28} {'frames':>6} {'samples':>9} {'apart':>9} {'furthest':>8}")
    for group, parts in groups.items():
        apart = np.concatenate(parts)
        share = np.count_nonzero(apart > 0.05) / apart.size
        print(f"{group:<28} {len(parts):>6} {apart.size:>9} {share:>9.4%} {apart.max():>8.3f}")
    return failed


def main(convert: str, directory: Path) -> int:
    sources = [resize_cases, color_cases, numpy_cases]
    cases = [case for source in sources for case in source(np.random.default_rng(7))]
    failed = sum(compare(cases, kernel, convert, directory) for kernel in ["fast", "reference"])
    print("furthest is in parts of what is allowed")
    print(f"{2 * len(cases)} conversions, {failed} too far apart")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
