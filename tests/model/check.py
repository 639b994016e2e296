#!/usr/bin/env python3
"""Compares what models find in frames through `classify` with what they find through Python.

usage: check.py CLASSIFY DIRECTORY

CLASSIFY is the example of that name, DIRECTORY an empty one for frames. Prints how far the outputs
of each model are apart at most; ends with 1 when that is further than one level of every pixel makes
of it, or when the model finds something else.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from PIL import Image, ImageDraw, ImageFont

HERE = Path(__file__).parent
SUMS = HERE.parent / "data/model/sums.onnx"
PACKAGES = Path(onnxruntime.__file__).parent.parent
DIRECTION = PACKAGES / "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx"
TEXTS = ["gst-tensor", "NV12 to RGB", "640 x 360", "Quick fox"]


def runtime() -> Path:
    """The library that Python's own module loads."""
    return next((PACKAGES / "onnxruntime/capi").glob("libonnxruntime.so*"))


def through_pipeline(classify, directory, model, frames, properties):
    """The first output for each frame."""
    path = directory / "frames.rgb"
    path.write_bytes(b"".join(frame.tobytes() for frame in frames))
    height, width, _ = frames[0].shape
    pipeline = (
        f"filesrc location={path} ! rawvideoparse format=rgb width={width} height={height} "
        f"! tensorconvert name=convert {properties} ! appsink name=sink"
    )
    lines = subprocess.run(
        [classify, "--json", runtime(), model, pipeline], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    outputs = [next(iter(json.loads(line)["outputs"].values())) for line in lines]
    assert len(outputs) == len(frames), f"{len(outputs)} of {len(frames)} frames came out"
    return np.array([np.reshape(output["values"], output["shape"])[0] for output in outputs])


def through_python(model, inputs):
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return np.array([session.run(None, {name: each[np.newaxis]})[0][0] for each in inputs])


def half(frame):
    """Half the size: the mean of four pixels, rounded as Pillow does."""
    return np.asarray(Image.fromarray(frame).reduce(2))


def check_sums(classify, directory) -> bool:
    """Noise, letterboxed: 24x12 in 12x8 is 12x6 pixels between one row of padding and another."""
    noise = np.random.default_rng(7)
    frames = [noise.integers(0, 256, (12, 24, 3), dtype=np.uint8) for _ in range(20)]
    inputs = []
    for frame in frames:
        canvas = np.full((8, 12, 3), 114, np.uint8)
        canvas[1:7] = half(frame)
        inputs.append((canvas.astype(np.float32) / 255).transpose(2, 0, 1))
    got = through_pipeline(classify, directory, SUMS, frames, "interpolation=area")
    apart = np.abs(got - through_python(SUMS, inputs)).max() * 255
    print(f"sums.onnx: {len(frames)} frames, means at most {apart:.4f} of 1 level apart")
    return apart <= 1


def text(line: str, width: int) -> np.ndarray:
    image = Image.new("RGB", (width, 96), (30, 60, 90))
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=int(1.7 * width / len(line)))
    draw.text((width / 2, 48), line, fill=(250, 240, 200), font=font, anchor="mm")
    return np.asarray(image)


def check_direction(classify, directory, width) -> bool:
    """Lines of text, upright and upside down, in the upper left of 192x48: BGR, -1 to 1."""
    frames = [frame for line in TEXTS for upright in [text(line, width)]
              for frame in (upright, np.ascontiguousarray(np.rot90(upright, 2)))]
    inputs = []
    for frame in frames:
        canvas = np.zeros((48, 192, 3), np.float32)
        canvas[:, : width // 2] = (half(frame)[..., ::-1].astype(np.float32) - 127.5) / 127.5
        inputs.append(canvas.transpose(2, 0, 1))
    got = through_pipeline(
        classify, directory, DIRECTION, frames,
        "width=192 height=48 order=bgr placement=topleft pad-space=normalized pad-value=0 "
        "mean=127.5 std=127.5 interpolation=area",
    )
    expected = through_python(DIRECTION, inputs)
    apart = np.abs(got - expected).max()
    found = got.argmax(axis=1)
    right = int((found == np.arange(len(frames)) % 2).sum())
    print(f"text direction, {width}x96: {len(frames)} frames, {right} told right, scores at most "
          f"{apart:.4f} apart")
    # The model errs at times; on a channel or an axis that is another it would guess.
    return apart <= 0.02 and (found == expected.argmax(axis=1)).all() and right > len(frames) / 2


def main() -> int:
    classify, directory = sys.argv[1], Path(sys.argv[2])
    checks = [check_sums(classify, directory)]
    checks += [check_direction(classify, directory, width) for width in (384, 256)]
    failed = checks.count(False)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
