#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the small ONNX models of the tests, without the package onnx.

usage: make_models.py [FOLDER]

A message of protobuf is a list of fields here: bytes that `field()` made, joined. Weights have no
data: an import needs only their shapes.
"""
import pathlib
import struct
import sys

FLOAT, UINT8, INT8, INT64 = 1, 2, 3, 7


def varint(number):
    number &= (1 << 64) - 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(tag, value):
    """A field: an integer, a float, a text, or a message as bytes."""
    if isinstance(value, int):
        return varint(tag << 3) + varint(value)
    if isinstance(value, float):
        return varint(tag << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(tag << 3 | 2) + varint(len(data)) + data


def numbers(tag, values):
    return field(tag, b"".join(varint(value) for value in values))


def tensor(name, dims, values=None, kind=FLOAT):
    text = numbers(1, dims) + field(2, kind) + field(8, name)
    if values is not None and kind == INT64:
        text += numbers(7, values)
    elif values is not None and kind in (INT8, UINT8):
        text += field(9, bytes(value & 255 for value in values))
    elif values is not None:
        text += field(9, struct.pack(f"<{len(values)}f", *values))
    return text


def attribute(name, value):
    text = field(1, name)
    if isinstance(value, int):
        return text + field(3, value) + field(20, 2)
    if isinstance(value, float):
        return text + field(2, value) + field(20, 1)
    if isinstance(value, str):
        return text + field(4, value) + field(20, 3)
    return text + numbers(8, value) + field(20, 7)


def node(op, inputs, outputs, domain="", **attributes):
    text = b"".join(field(1, name) for name in inputs.split())
    text += b"".join(field(2, name) for name in outputs.split())
    text += field(3, f"/{outputs.split()[0]}/{op}") + field(4, op)
    if domain:
        text += field(7, domain)
    return text + b"".join(field(5, attribute(name, value)) for name, value in attributes.items())


def value(name, dims, kind=FLOAT):
    sizes = b"".join(field(1, field(2, size) if isinstance(size, str) else field(1, size)) for size in dims)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, sizes)))


def model(nodes, tensors, inputs, outputs, opset=17):
    graph = b"".join(field(1, each) for each in nodes) + field(2, "graph")
    graph += b"".join(field(5, each) for each in tensors)
    graph += b"".join(field(11, each) for each in inputs)
    graph += b"".join(field(12, value(name, [])) for name in outputs.split())
    opsets = field(8, field(1, "") + field(2, opset)) + field(8, field(1, "com.microsoft") + field(2, 1))
    return field(1, 10) + field(2, "make_models") + field(7, graph) + opsets


def cnn():
    """A residual network: convolutions with and without bias, a norm, pooling, a classifier."""
    norm = [tensor(f"norm.{part}", [8]) for part in ("scale", "bias", "mean", "var")]
    return model([
        node("Conv", "image stem.w stem.b", "stem", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
        node("Relu", "stem", "relu"),
        node("MaxPool", "relu", "pool", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
        node("Conv", "pool body.w", "body", auto_pad="SAME_UPPER", kernel_shape=[3, 3]),
        node("BatchNormalization", "body norm.scale norm.bias norm.mean norm.var", "norm", epsilon=0.001),
        node("Add", "norm pool", "sum"),
        node("Relu", "sum", "sum.relu"),
        node("GlobalAveragePool", "sum.relu", "mean"),
        node("Flatten", "mean", "flat", axis=1),
        node("Dropout", "flat", "dropped"),
        node("Gemm", "dropped fc.w fc.b", "scores", transB=1),
    ], [tensor("stem.w", [8, 3, 3, 3]), tensor("stem.b", [8]), tensor("body.w", [8, 8, 3, 3]), *norm,
        tensor("fc.w", [10, 8]), tensor("fc.b", [10])],
        [value("image", ["batch", 3, 32, 32])], "scores")


def attention():
    """A block of a transformer as exporters write it: shapes that nodes compute, GELU as five nodes."""
    nodes = [node("LayerNormalization", "x ln.w ln.b", "ln", axis=-1, epsilon=0.00001),
             node("Shape", "x", "shape"), node("Gather", "shape one", "rows", axis=0),
             node("Unsqueeze", "rows zero_axis", "rows1"),
             node("Concat", "minus_one rows1 heads size", "split", axis=0),
             node("Concat", "minus_one rows1 width", "joined", axis=0)]
    for part in "qkv":
        nodes += [node("MatMul", f"ln {part}.w", f"{part}.product"),
                  node("Add", f"{part}.b {part}.product", f"{part}.rows"),
                  node("Reshape", f"{part}.rows split", f"{part}.heads"),
                  node("Transpose", f"{part}.heads", part, perm=[0, 2, 1, 3])]
    nodes += [node("Transpose", "k", "kt", perm=[0, 1, 3, 2]), node("MatMul", "q kt", "scores"),
              node("Div", "scores root", "scaled"), node("Softmax", "scaled", "weights", axis=-1),
              node("MatMul", "weights v", "context"),
              node("Transpose", "context", "context.rows", perm=[0, 2, 1, 3]),
              node("Reshape", "context.rows joined", "context.matrix"),
              node("MatMul", "context.matrix out.w", "out"), node("Add", "out x", "sum"),
              node("MatMul", "sum up.w", "up"), node("Div", "up sqrt2", "up.scaled"),
              node("Erf", "up.scaled", "erf"), node("Add", "erf unit", "erf1"),
              node("Mul", "up erf1", "up.erf"), node("Mul", "up.erf half", "gelu")]
    tensors = [tensor(f"{part}.{kind}", dims) for part in "qkv" for kind, dims in (("w", [16, 16]), ("b", [16]))]
    tensors += [tensor("ln.w", [16]), tensor("ln.b", [16]), tensor("out.w", [16, 16]), tensor("up.w", [16, 64]),
                tensor("one", [], [1], INT64), tensor("zero_axis", [1], [0], INT64),
                tensor("minus_one", [1], [-1], INT64), tensor("heads", [1], [2], INT64),
                tensor("size", [1], [8], INT64), tensor("width", [1], [16], INT64), tensor("root", [], [2.828427]),
                tensor("sqrt2", [], [1.414214]), tensor("unit", [], [1.0]), tensor("half", [], [0.5])]
    return model(nodes, tensors, [value("x", ["batch", "sequence", 16])], "gelu")


def edges():
    """Nodes without an operator before and behind the layers."""
    return model([
        node("Sin", "mask", "mask.sin"), node("Gather", "table ids", "embedded", axis=0),
        node("Add", "embedded mask.sin", "masked"), node("Reshape", "masked rows", "flat"),
        node("Gemm", "flat w", "scores", transB=1), node("Softmax", "scores", "p", axis=-1),
        node("ArgMax", "p", "best", axis=1),
    ],
        [tensor("table", [100, 8]), tensor("w", [4, 8]), tensor("rows", [2], [-1, 8], INT64)],
        [value("ids", [1, "sequence"], INT64), value("mask", [1, "sequence", 1])], "best")


def hole():
    """A node without an operator between two layers."""
    return model([node("Conv", "x a", "first"), node("Sin", "first", "sin"), node("Conv", "sin a", "second"),
                  node("Conv", "second b", "third", group=4)],
                 [tensor("a", [4, 4, 1, 1]), tensor("b", [4, 1, 3, 3])], [value("x", [1, 4, 8, 8])], "third")


def quantised():
    """Quantised operands around a convolution and a product."""
    return model([
        node("QuantizeLinear", "x s zero", "x.q"), node("DequantizeLinear", "x.q s zero", "x.f"),
        node("DequantizeLinear", "w s zero.s8", "w.f"), node("Conv", "x.f w.f", "conv"),
        node("QuantizeLinear", "conv s zero", "conv.q"), node("DequantizeLinear", "conv.q s zero", "conv.f"),
        node("Flatten", "conv.f", "flat"), node("DequantizeLinear", "fc s.column zero.column", "fc.f", axis=1),
        node("MatMul", "flat fc.f", "y"),
        node("QuantizeLinear", "y s zero", "y.q"), node("DequantizeLinear", "y.q s zero", "y.f"),
        node("QuantizeLinear", "x s zero", "alone"), node("DequantizeLinear", "alone s zero", "alone.f"),
        node("Relu", "alone.f", "z"),
    ], [tensor("w", [4, 3, 1, 1], kind=INT8), tensor("s", [], [0.5]), tensor("zero", [], [128], UINT8),
        tensor("zero.s8", [], [0], INT8), tensor("fc", [64, 10], kind=INT8), tensor("s.column", [10]),
        tensor("zero.column", [10], [0] * 10, INT8)], [value("x", [1, 3, 4, 4])], "y.f z")


def patterns():
    """What exporters write as several nodes: padding, swish, hardswish, norms, safe softmax; opset 11."""
    return model([
        node("Pad", "x pads", "padded", mode="constant"), node("Conv", "padded w", "conv", auto_pad="VALID"),
        node("Sigmoid", "conv", "sigmoid"), node("Mul", "conv sigmoid", "swish"),
        node("Add", "swish three", "shifted"), node("Clip", "shifted zero six", "clipped"),
        node("Mul", "swish clipped", "product"), node("Div", "product six", "hardswish"),
        node("ReduceMean", "hardswish", "mean", axes=[-1]), node("Sub", "hardswish mean", "centred"),
        node("Pow", "centred two", "square"), node("ReduceMean", "square", "variance", axes=[-1]),
        node("Add", "variance epsilon", "variance.epsilon"), node("Sqrt", "variance.epsilon", "deviation"),
        node("Div", "centred deviation", "normal"), node("Mul", "normal gamma", "scaled"),
        node("Add", "scaled beta", "layer_norm"),
        node("Mul", "layer_norm layer_norm", "rms.square"), node("ReduceMean", "rms.square", "rms.mean", axes=[3]),
        node("Add", "rms.mean epsilon", "rms.sum"), node("Sqrt", "rms.sum", "rms.root"),
        node("Reciprocal", "rms.root", "rms.inverse"), node("Mul", "layer_norm rms.inverse", "rms_norm"),
        node("Softmax", "rms_norm", "probabilities", axis=3), node("IsNaN", "probabilities", "masked"),
        node("Where", "masked zero probabilities", "safe"),
        node("Squeeze", "safe", "y", axes=[0]),
    ], [tensor("pads", [8], [0, 0, 1, 1, 0, 0, 1, 1], INT64), tensor("w", [4, 4, 3, 3]), tensor("three", [], [3.0]),
        tensor("zero", [], [0.0]), tensor("six", [], [6.0]), tensor("two", [], [2.0]),
        tensor("epsilon", [], [0.001]), tensor("gamma", [8]), tensor("beta", [8])],
        [value("x", [1, 4, 8, 8])], "y", opset=11)


def almost_patterns():
    """What resembles one operator and is not: norms over channels, and other constants than those of gelu and hardswish."""
    return model([
        node("ReduceMean", "x", "mean", axes=[1]), node("Sub", "x mean", "centred"),
        node("Pow", "centred two", "square"), node("ReduceMean", "square", "variance", axes=[1]),
        node("Add", "variance epsilon", "sum"), node("Sqrt", "sum", "root"), node("Div", "centred root", "norm"),
        node("Mul", "norm norm", "rms.square"), node("ReduceMean", "rms.square", "rms.mean", axes=[1]),
        node("Add", "rms.mean epsilon", "rms.sum"), node("Sqrt", "rms.sum", "rms.root"), node("Div", "norm rms.root", "rms"),
        node("Add", "rms three", "shifted"), node("Clip", "shifted zero six", "clipped"),
        node("Mul", "rms clipped", "product"), node("Div", "six product", "inverse"),
        node("Add", "inverse two", "shifted2"), node("Clip", "shifted2 zero six", "clipped2"),
        node("Mul", "inverse clipped2", "product2"), node("Div", "product2 six", "quotient"),
        node("Div", "root2 quotient", "scaled"), node("Erf", "scaled", "erf"), node("Add", "erf one", "erf1"),
        node("Mul", "quotient erf1", "double"), node("Mul", "double half", "gelu"),
        node("Div", "gelu three", "scaled2"), node("Erf", "scaled2", "erf2"), node("Add", "erf2 one", "erf3"),
        node("Mul", "gelu erf3", "double2"), node("Mul", "double2 half", "gelu2"),
        node("Relu", "gelu2", "y"),
    ], [tensor("three", [], [3.0]), tensor("zero", [], [0.0]), tensor("six", [], [6.0]), tensor("two", [], [2.0]),
        tensor("one", [], [1.0]), tensor("half", [], [0.5]), tensor("root2", [], [1.41421356]),
        tensor("epsilon", [], [0.001])],
        [value("x", [1, 4, 8, 8])], "y", opset=11)


def shared():
    """Layers that have the same parameters: two norms, and a product with the other's matrix transposed."""
    return model([
        node("LayerNormalization", "x gamma beta", "first", axis=-1), node("MatMul", "first w", "product"),
        node("LayerNormalization", "product gamma beta", "second", axis=-1),
        node("Transpose", "w", "w.t", perm=[1, 0]), node("MatMul", "second w.t", "y"),
    ], [tensor("gamma", [8]), tensor("beta", [8]), tensor("w", [8, 8])], [value("x", [4, 8])], "y")


def vector():
    """A transposed matrix times a vector."""
    return model([node("Transpose", "x", "x.t", perm=[1, 0]), node("MatMul", "x.t v", "y")], [],
                 [value("x", [4, 6]), value("v", [4])], "y")


def views():
    """A model without a layer: it only gives its input another shape."""
    return model([node("Reshape", "x sizes", "reshaped"), node("Identity", "reshaped", "y")],
                 [tensor("sizes", [2], [4, 2], INT64)], [value("x", [2, 4])], "y")


def images_and_sequences():
    """Slopes, windows, sizes and norms of images; recurrent layers. The last norm and the reversed cell cannot be expressed."""
    return model([
        node("InstanceNormalization", "x scale shift", "normal"), node("PRelu", "normal slopes", "prelu"),
        node("LRN", "prelu", "lrn", size=5), node("Upsample", "lrn factors", "larger", mode="nearest"),
        node("Resize", "larger none factors", "largest", mode="linear"), node("Relu", "largest", "y"),
        node("LSTM", "s w r b", "lstm last", hidden_size=8), node("Squeeze", "lstm", "states", axes=[1]),
        node("GRU", "states w3 r3 b3", "gru", hidden_size=8, direction="bidirectional", linear_before_reset=1),
        node("Relu", "gru", "z"), node("Relu", "last", "zz"),
        node("RNN", "states w1 r1 b1", "reversed", hidden_size=8, direction="reverse"),
    ], [tensor("scale", [4]), tensor("shift", [4]), tensor("slopes", [4, 1, 1]),
        tensor("factors", [4], [1.0, 1.0, 2.0, 2.0]), tensor("none", [0], []),
        tensor("w", [1, 32, 6]), tensor("r", [1, 32, 8]), tensor("b", [1, 64]),
        tensor("w3", [2, 24, 8]), tensor("r3", [2, 24, 8]), tensor("b3", [2, 48]),
        tensor("w1", [1, 8, 8]), tensor("r1", [1, 8, 8]), tensor("b1", [1, 16])],
        [value("x", [1, 4, 8, 8]), value("s", [5, 3, 6])], "y", opset=11)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for make in (cnn, attention, edges, hole, patterns, almost_patterns, quantised, shared, vector, views,
                 images_and_sequences):
        (folder / f"{make.__name__}.onnx").write_bytes(make())


if __name__ == "__main__":
    main()
