#!/usr/bin/env python3
"""Reads what tensorpay writes: packets of tensor blobs. Python's own library is enough; with NumPy
each plane is an array without a copy: numpy.frombuffer(plane, tensor.numpy_dtype).

usage: tensor_stream.py FILE

    with open("frames.tensors", "rb") as stream:
        for packet in packets(stream):
            for index, tensor in packet.tensors:
                print(tensor.dtype, tensor.shape, tensor.format, tensor.name)

The formats of the packet and of the blob are in docs/blob.md.
"""

import struct
import sys
from collections import namedtuple

MAX_SIZE = 256 << 20
NO_TIME = 2**64 - 1

Packet = namedtuple("Packet", "pts duration tensors")

# By dtype code: its name, and the type that struct and NumPy call it by.
DTYPES = [
    ("u8", "B"), ("i8", "b"), ("u16", "<u2"), ("i16", "<i2"), ("u32", "<u4"), ("i32", "<i4"),
    ("u64", "<u8"), ("i64", "<i8"), ("f16", "<f2"), ("f32", "<f4"), ("f64", "<f8"),
]


class Tensor(namedtuple("Tensor", "dtype shape strides format colors scales zero_points planes name")):
    """One tensor: `shape` outermost first, `strides` in bytes or None when dense, `format` a pixel
    format or "", `planes` a list of (bytes, row stride)."""

    @property
    def numpy_dtype(self):
        return dict(DTYPES)[self.dtype]


def packets(stream, max_size=MAX_SIZE):
    """Every packet of a binary stream. ValueError for what is none."""
    while True:
        head = stream.read(40)
        if not head:
            return
        if len(head) < 40:
            raise ValueError(f"truncated: {len(head)} of 40 bytes of a packet's header")
        magic, header_len, packet_len, pts, duration, count, reserved = struct.unpack("<4sIQQQII", head)
        if magic != b"GTXP" or reserved != 0:
            raise ValueError(f"no packet: it begins {head[:8].hex()}")
        if not 1 <= count <= 16 or header_len < 40 + 4 * count or header_len % 8:
            raise ValueError(f"a header of {header_len} bytes for {count} tensors")
        if not header_len <= packet_len <= max_size:
            raise ValueError(f"a packet of {packet_len} bytes, at most {max_size} are taken")
        rest = stream.read(packet_len - 40)
        if len(rest) < packet_len - 40:
            raise ValueError(f"truncated: {len(rest) + 40} of {packet_len} bytes of a packet")
        indices = struct.unpack_from(f"<{count}I", rest)
        view, at, tensors = memoryview(rest), header_len - 40, []
        for index in indices:
            size, tensor = blob(view[at:])
            tensors.append((index, tensor))
            at += size
        if at != len(rest):
            raise ValueError(f"{len(rest) - at} bytes after the last tensor")
        time = [None if t == NO_TIME else t for t in (pts, duration)]
        yield Packet(*time, tensors)


def blob(data):
    """The inline blob at the front of `data`, and its size. ValueError for what is none."""
    try:
        return _blob(data)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"no blob: {error}") from error


def _blob(data):
    (size, required, planes_bytes, _kind, _pid, _fence, dtype, _axis, ndim, plane_count, scales,
     zero_points, strings_bytes, strides, reserved) = struct.unpack_from("<QQQIIiIiIIIIIII", data)
    if required != 0 or reserved != 0 or not 72 <= size <= len(data):
        raise ValueError(f"a blob of {size} bytes, {len(data)} are there; requires {required:#x}")
    at, data = 72, data[:size]
    regions = []
    for length, letter, width in [(ndim, "Q", 8), (strides, "q", 8), (scales, "f", 4), (zero_points, "i", 4)]:
        if at + length * width > size:
            raise ValueError(f"a region ends at {at + length * width} of {size} bytes")
        regions.append(list(struct.unpack_from(f"<{length}{letter}", data, at)))
        at += length * width
    end, strings = at + strings_bytes, []
    for _ in range(5):
        (length,) = struct.unpack_from("<I", data[:end], at)
        if at + 4 + length > end:
            raise ValueError("a string past its region")
        strings.append(bytes(data[at + 4:at + 4 + length]).decode())
        at += 4 + length
    at, planes = end, []
    if end + planes_bytes > size or plane_count * 56 > planes_bytes:
        raise ValueError(f"{plane_count} planes in {planes_bytes} bytes")
    for _ in range(plane_count):
        handle, _offset, stride, length = struct.unpack_from("<qQQQ", data, at)
        handle_bytes, data_len = struct.unpack_from("<II", data, at + 48)
        if handle != -1 or length != data_len or at + 56 + handle_bytes + data_len > size:
            raise ValueError(f"a plane of {data_len} bytes with handle {handle}")
        start = at + 56 + handle_bytes
        planes.append((data[start:start + data_len], stride))
        at += (56 + handle_bytes + data_len + 7) // 8 * 8
    name = ""
    if bytes(data[at:at + 4]) == b"GTX1":
        (length,) = struct.unpack_from("<I", data, at + 20)
        name = bytes(data[at + 24:at + 24 + length]).decode()
    shape, steps, scales, zero_points = regions
    return size, Tensor(DTYPES[dtype][0], shape, steps or None, strings[0], strings[1:], scales,
                        zero_points, planes, name)


def main():
    with open(sys.argv[1], "rb") as stream:
        for number, packet in enumerate(packets(stream)):
            said = []
            for index, tensor in packet.tensors:
                sizes = " + ".join(str(len(plane)) for plane, _ in tensor.planes)
                text = f"tensor {index}: {tensor.dtype} {tensor.shape} {tensor.format}, planes {sizes} bytes"
                if tensor.dtype == "u8":
                    text += ", mean " + " + ".join(
                        f"{sum(plane) / max(len(plane), 1):.1f}" for plane, _ in tensor.planes)
                said.append(text)
            print(f"packet {number} pts {packet.pts}", *said, sep="; ")


if __name__ == "__main__":
    try:
        main()
    except (ValueError, OSError) as error:
        sys.exit(f"tensor_stream.py: {error}")
