"""Writes the models of this folder, and says what is in them.

Needs onnx 1.23, flatbuffers 25.12 and tflite 2.18 from PyPI. None computes anything worth having: the
tests read what they say of their first input, and run `sums.onnx`.
"""

import flatbuffers
import numpy as np
import onnx
import tflite
from onnx import TensorProto, helper, numpy_helper


def write_onnx(name, nodes, inputs, outputs, weights=()):
    graph = helper.make_graph(nodes, name, inputs, outputs, list(weights))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    with open(f"{name}.onnx", "wb") as file:
        file.write(model.SerializeToString(deterministic=True))


def value(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


# The mean of each channel: NCHW, f32, any batch.
write_onnx(
    "sums",
    [helper.make_node("ReduceMean", ["images"], ["means"], axes=[2, 3], keepdims=0)],
    [value("images", TensorProto.FLOAT, ["batch", 3, 8, 12])],
    [value("means", TensorProto.FLOAT, ["batch", 3])],
)
# A weight listed as the first input, as old files have it; u8, NHWC, any size.
write_onnx(
    "weights-first",
    [helper.make_node("Identity", ["frame"], ["out"])],
    [value("w", TensorProto.FLOAT, [3, 3]), value("frame", TensorProto.UINT8, [1, "h", "w", 3])],
    [value("out", TensorProto.UINT8, [1, "h", "w", 3])],
    [numpy_helper.from_array(np.ones((3, 3), np.float32), "w")],
)


def vector(builder, start, numbers, prepend):
    start(builder, len(numbers))
    for number in reversed(numbers):
        prepend(number)
    return builder.EndVector()


def write_tflite(name, shape, kind, scale, zero_point):
    b = flatbuffers.Builder(1024)
    text = b.CreateString("serving_default_image:0")
    dims = vector(b, tflite.TensorStartShapeVector, shape, b.PrependInt32)
    scales = vector(b, tflite.QuantizationParametersStartScaleVector, [scale], b.PrependFloat32)
    zeros = vector(b, tflite.QuantizationParametersStartZeroPointVector, [zero_point], b.PrependInt64)
    tflite.QuantizationParametersStart(b)
    tflite.QuantizationParametersAddScale(b, scales)
    tflite.QuantizationParametersAddZeroPoint(b, zeros)
    quantization = tflite.QuantizationParametersEnd(b)
    tflite.TensorStart(b)
    tflite.TensorAddShape(b, dims)
    tflite.TensorAddType(b, kind)
    tflite.TensorAddName(b, text)
    tflite.TensorAddQuantization(b, quantization)
    tensor = tflite.TensorEnd(b)
    tensors = vector(b, tflite.SubGraphStartTensorsVector, [tensor], b.PrependUOffsetTRelative)
    inputs = vector(b, tflite.SubGraphStartInputsVector, [0], b.PrependInt32)
    tflite.SubGraphStart(b)
    tflite.SubGraphAddTensors(b, tensors)
    tflite.SubGraphAddInputs(b, inputs)
    graph = tflite.SubGraphEnd(b)
    graphs = vector(b, tflite.ModelStartSubgraphsVector, [graph], b.PrependUOffsetTRelative)
    tflite.ModelStart(b)
    tflite.ModelAddVersion(b, 3)
    tflite.ModelAddSubgraphs(b, graphs)
    b.Finish(tflite.ModelEnd(b), file_identifier=b"TFL3")
    with open(f"{name}.tflite", "wb") as file:
        file.write(b.Output())


write_tflite("quantized", [1, 96, 128, 3], tflite.TensorType.INT8, 0.0078125, -1)
