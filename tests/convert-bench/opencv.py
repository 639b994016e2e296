"""OpenCV and NumPy, asked through standard input.

A line `NAME THREADS TIMES` is answered with the nanoseconds of so many conversions, those that passed
and those that the processors worked.
"""

import sys
import time

import cv2
import numpy as np

MEAN = np.float32([123.675, 116.28, 103.53])
STD = np.float32([58.395, 57.12, 57.375])

HD = np.random.default_rng(7).integers(0, 256, (1080 * 3 // 2, 1920), np.uint8)
UHD = np.random.default_rng(7).integers(0, 256, (2160 * 3 // 2, 3840), np.uint8)
RGB = np.empty((1080, 1920, 3), np.uint8)
RGB_UHD = np.empty((2160, 3840, 3), np.uint8)
IMAGE = np.empty((360, 640, 3), np.uint8)
CANVAS = np.empty((640, 640, 3), np.uint8)
PAD = (114, 114, 114)
SMALL = np.empty((224, 224, 3), np.uint8)
I8 = np.empty((640, 640, 3), np.uint8)
FLOATS = np.empty((640, 640, 3), np.float32)
F32 = np.empty((3, 640, 640), np.float32)


def letterbox():
    cv2.cvtColor(HD, cv2.COLOR_YUV2RGB_NV12, dst=RGB)
    cv2.resize(RGB, (640, 360), dst=IMAGE, interpolation=cv2.INTER_LINEAR)
    cv2.copyMakeBorder(IMAGE, 140, 140, 0, 0, cv2.BORDER_CONSTANT, dst=CANVAS, value=PAD)


def i8():
    letterbox()
    np.bitwise_xor(CANVAS, 0x80, out=I8)


def f32():
    letterbox()
    np.subtract(CANVAS, MEAN, out=FLOATS)
    np.divide(FLOATS, STD, out=FLOATS)
    np.copyto(F32, FLOATS.transpose(2, 0, 1))


def shrink(interpolation):
    cv2.cvtColor(UHD, cv2.COLOR_YUV2RGB_NV12, dst=RGB_UHD)
    cv2.resize(RGB_UHD, (224, 224), dst=SMALL, interpolation=interpolation)


CELLS = {
    "letterbox-u8": letterbox,
    "letterbox-i8": i8,
    "letterbox-f32": f32,
    "uhd-bilinear": lambda: shrink(cv2.INTER_LINEAR),
    "uhd-area": lambda: shrink(cv2.INTER_AREA),
}

for line in sys.stdin:
    name, threads, times = line.split()
    cv2.setNumThreads(int(threads))
    begin, worked = time.perf_counter_ns(), time.process_time_ns()
    for _ in range(int(times)):
        CELLS[name]()
    print(time.perf_counter_ns() - begin, time.process_time_ns() - worked, flush=True)
