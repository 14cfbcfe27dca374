# SPDX-License-Identifier: Apache-2.0
"""A network in inference, batch 1, f32, through ONNX Runtime with all graph optimisations. Random
weights; batch norm is folded into the convolutions, as in a model exported for inference.
bert_base has the operators of ONNX; bert_base_fused those of ONNX Runtime's own optimiser of
transformers: one node for attention, for bias with GELU, and for addition with norm."""

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import timing


class Builder:
    """Collects the nodes and weights of an ONNX graph; values are identified by name."""

    def __init__(self):
        self.random = numpy.random.default_rng(1)
        self.nodes = []
        self.weights = []

    def weight(self, name, *dims, bound):
        values = self.random.uniform(-bound, bound, dims).astype(numpy.float32)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def node(self, kind, name, inputs, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def matrix(self, name, rows, columns):
        return self.weight(name, rows, columns, bound=(3 / rows) ** 0.5)

    def linear(self, name, source, rows, columns):
        product = self.node("MatMul", f"{name}.product", [source, self.matrix(f"{name}.w", rows, columns)])
        return self.node("Add", name, [product, self.weight(f"{name}.b", columns, bound=0.1)])

    def integers(self, name, values):
        self.weights.append(numpy_helper.from_array(numpy.array(values, numpy.int64), name))
        return name

    def conv(self, name, source, c, k, r, stride=1, relu=True):
        weights = self.weight(f"{name}.w", k, c, r, r, bound=(3 / (c * r * r)) ** 0.5)
        bias = self.weight(f"{name}.b", k, bound=0.1)
        value = self.node("Conv", name, [source, weights, bias], kernel_shape=[r, r],
                          strides=[stride, stride], pads=[r // 2] * 4)
        return self.node("Relu", f"{name}.relu", [value]) if relu else value

    def bottleneck(self, name, source, c, width, stride):
        value = self.conv(f"{name}.conv1", source, c, width, 1)
        value = self.conv(f"{name}.conv2", value, width, width, 3, stride)
        value = self.conv(f"{name}.conv3", value, width, 4 * width, 1, relu=False)
        if c != 4 * width:
            source = self.conv(f"{name}.downsample", source, c, 4 * width, 1, stride, relu=False)
        return self.node("Relu", f"{name}.relu", [self.node("Add", f"{name}.add", [value, source])])


    def model(self, inputs, outputs):
        def described(values):
            return [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
                    for name, dims in values.items()]
        graph = helper.make_graph(self.nodes, "network", described(inputs), described(outputs),
                                  self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20),
                                                        helper.make_opsetid("com.microsoft", 1)],
                                  ir_version=9)
        onnx.checker.check_model(model)
        return model.SerializeToString()

    def norm_weights(self, name):
        return [self.weight(f"{name}.scale", 768, bound=1), self.weight(f"{name}.shift", 768, bound=0.1)]

    def norm(self, name, values):
        total = self.node("Add", f"{name}.sum", values)
        return self.node("LayerNormalization", name, [total, *self.norm_weights(name)], epsilon=1e-12)

    def attention(self, name, source):
        heads = {}
        for part, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
            rows = self.linear(f"{name}.{part}", source, 768, 768)
            split = self.node("Reshape", f"{name}.{part}.rows", [rows, "head_rows"])
            heads[part] = self.node("Transpose", f"{name}.{part}.heads", [split], perm=order)
        scores = self.node("MatMul", f"{name}.scores", [heads["query"], heads["key"]])
        scaled = self.node("Mul", f"{name}.scaled", [scores, "head_scale"])
        weights = self.node("Softmax", f"{name}.softmax", [scaled], axis=-1)
        context = self.node("MatMul", f"{name}.context", [weights, heads["value"]])
        rows = self.node("Transpose", f"{name}.context.rows", [context], perm=[0, 2, 1, 3])
        return self.node("Reshape", f"{name}.matrix", [rows, "rows"])


def bert_base():
    build = Builder()
    build.integers("head_rows", [1, 128, 12, 64])
    build.integers("rows", [1, 128, 768])
    build.weights.append(numpy_helper.from_array(numpy.float32(0.125), "head_scale"))
    value = "input"
    for block in range(12):
        name = f"layer.{block}"
        attention = build.linear(f"{name}.attention.output", build.attention(name, value), 768, 768)
        value = build.norm(f"{name}.attention.norm", [attention, value])
        inner = build.node("Gelu", f"{name}.gelu", [build.linear(f"{name}.up", value, 768, 3072)])
        output = build.linear(f"{name}.down", inner, 3072, 768)
        value = build.norm("output" if block == 11 else f"{name}.norm", [output, value])
    return build.model({"input": [1, 128, 768]}, {"output": [1, 128, 768]})


def bert_base_fused():
    build = Builder()

    def norm(name, source, residual):
        weights = [*build.norm_weights(name), build.weight(f"{name}.bias", 768, bound=0.1)]
        return build.node("SkipLayerNormalization", name, [source, residual, *weights], epsilon=1e-12,
                          domain="com.microsoft")

    value = "input"
    for block in range(12):
        name = f"layer.{block}"
        weights = [build.matrix(f"{name}.qkv", 768, 2304), build.weight(f"{name}.qkv.b", 2304, bound=0.1)]
        context = build.node("Attention", f"{name}.attention", [value, *weights], num_heads=12,
                             domain="com.microsoft")
        output = build.node("MatMul", f"{name}.output", [context, build.matrix(f"{name}.w", 768, 768)])
        value = norm(f"{name}.attention.norm", output, value)
        up = build.node("MatMul", f"{name}.up", [value, build.matrix(f"{name}.up.w", 768, 3072)])
        inner = build.node("BiasGelu", f"{name}.gelu", [up, build.weight(f"{name}.up.b", 3072, bound=0.1)],
                           domain="com.microsoft")
        down = build.node("MatMul", f"{name}.down", [inner, build.matrix(f"{name}.down.w", 3072, 768)])
        value = norm("output" if block == 11 else f"{name}.norm", down, value)
    return build.model({"input": [1, 128, 768]}, {"output": [1, 128, 768]})


def resnet50():
    build = Builder()
    value = build.conv("conv1", "input", 3, 64, 7, 2)
    value = build.node("MaxPool", "maxpool", [value], kernel_shape=[3, 3], strides=[2, 2],
                       pads=[1] * 4)
    channels = 64
    for stage, (blocks, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)]):
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 0 else 1
            value = build.bottleneck(f"layer{stage + 1}.{block}", value, channels, width, stride)
            channels = 4 * width
    value = build.node("GlobalAveragePool", "avgpool", [value])
    value = build.node("Flatten", "flatten", [value])
    weights = build.weight("fc.w", 1000, 2048, bound=0.04)
    build.node("Gemm", "output", [value, weights, build.weight("fc.b", 1000, bound=0.1)], transB=1)
    return build.model({"input": [1, 3, 224, 224]}, {"output": [1, 1000]})


def gpt2_decode():
    build = Builder()
    for name, values in (("heads", [1, 12, 1, 64]), ("row", [1, 768]), ("parts", [768, 768, 768])):
        build.integers(name, values)
    build.weights.append(numpy_helper.from_array(numpy.float32(0.125), "head_scale"))

    def norm(name, value):
        weights = [build.weight(f"{name}.{part}", 768, bound=1) for part in ("scale", "shift")]
        return build.node("LayerNormalization", name, [value, *weights], epsilon=1e-5)

    value, inputs, outputs = "x", {"x": [1, 768]}, {"words": [1, 50257]}
    for block in range(12):
        name = f"h.{block}"
        keys, values = f"keys.{block}", f"values.{block}"
        key, new_value = f"{name}.key", f"{name}.value"
        inputs.update({keys: [1, 12, 1024, 64], values: [1, 12, 1024, 64]})
        outputs.update({key: [1, 768], new_value: [1, 768]})
        rows = build.linear(f"{name}.qkv", norm(f"{name}.ln_1", value), 768, 2304)
        build.nodes.append(helper.make_node("Split", [rows, "parts"], [f"{name}.query", key, new_value],
                                            axis=1))
        query = build.node("Reshape", f"{name}.heads", [f"{name}.query", "heads"])
        columns = build.node("Transpose", f"{name}.columns", [keys], perm=[0, 1, 3, 2])
        scores = build.node("MatMul", f"{name}.scores", [query, columns])
        scaled = build.node("Mul", f"{name}.scaled", [scores, "head_scale"])
        weights = build.node("Softmax", f"{name}.softmax", [scaled], axis=-1)
        context = build.node("MatMul", f"{name}.context", [weights, values])
        row = build.node("Reshape", f"{name}.row", [context, "row"])
        value = build.node("Add", f"{name}.add", [build.linear(f"{name}.proj", row, 768, 768), value])
        up = build.linear(f"{name}.up", norm(f"{name}.ln_2", value), 768, 3072)
        inner = build.node("Gelu", f"{name}.gelu", [up], approximate="tanh")
        value = build.node("Add", f"{name}.out", [build.linear(f"{name}.down", inner, 3072, 768), value])
    build.node("MatMul", "words", [norm("ln_f", value), build.matrix("words.w", 768, 50257)])
    return build.model(inputs, outputs)


def llama3_8b_block():
    """Grouped heads, mask, rotation and softmax are one node of ONNX Runtime."""
    build = Builder()
    for name, values in (("batched", [1, 512, -1]), ("rows", [512, 4096])):
        build.integers(name, values)
    angles = numpy.outer(numpy.arange(512), 500000.0 ** (-numpy.arange(0, 128, 2) / 128))
    for name, values in (("cosine", numpy.cos(angles)), ("sine", numpy.sin(angles)),
                         ("epsilon", numpy.array(1e-5)), ("two", numpy.array(2.0)),
                         ("empty", numpy.zeros((1, 8, 0, 128)))):
        build.weights.append(numpy_helper.from_array(values.astype(numpy.float32), name))
    for name, values in (("last", [511]), ("total", [512])):
        build.weights.append(numpy_helper.from_array(numpy.array(values, numpy.int32), name))

    def norm(name, value):  # ONNX Runtime fuses these nodes
        mean = build.node("ReduceMean", f"{name}.mean",
                          [build.node("Pow", f"{name}.square", [value, "two"]), "axis"], keepdims=1)
        root = build.node("Sqrt", f"{name}.root", [build.node("Add", f"{name}.sum", [mean, "epsilon"])])
        scaled = build.node("Div", f"{name}.scaled", [value, root])
        return build.node("Mul", name, [scaled, build.weight(f"{name}.scale", 4096, bound=1)])

    def product(name, source, rows, columns):
        return build.node("MatMul", name, [source, build.matrix(f"{name}.w", rows, columns)])

    build.integers("axis", [-1])
    rows = norm("norm", "x")
    heads = [build.node("Reshape", f"{name}.rows", [product(name, rows, 4096, columns), "batched"])
             for name, columns in (("query", 4096), ("key", 1024), ("value", 1024))]
    build.nodes.append(helper.make_node(
        "GroupQueryAttention", [*heads, "empty", "empty", "last", "total", "cosine", "sine"],
        ["context", "keys", "values"], num_heads=32, kv_num_heads=8, do_rotary=1,
        domain="com.microsoft"))
    matrix = build.node("Reshape", "matrix", ["context", "rows"])
    value = build.node("Add", "attention.add", [product("attention.output", matrix, 4096, 4096), "x"])
    rows = norm("mlp.norm", value)
    gate = product("gate", rows, 4096, 14336)
    silu = build.node("Mul", "silu", [gate, build.node("Sigmoid", "sigmoid", [gate])])
    inner = build.node("Mul", "gated", [silu, product("up", rows, 4096, 14336)])
    build.node("Add", "output", [product("down", inner, 14336, 4096), value])
    cache = [1, 8, 512, 128]
    return build.model({"x": [512, 4096]}, {"output": [512, 4096], "keys": cache, "values": cache})


# Network: model.
NETWORKS = {
    "resnet50": resnet50,
    "bert_base": bert_base,
    "bert_base_fused": bert_base_fused,
    "gpt2_decode": gpt2_decode,
    "llama3_8b_block": llama3_8b_block,
}


def main():
    options = timing.arguments(__doc__, NETWORKS)
    settings = onnxruntime.SessionOptions()
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    settings.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    settings.intra_op_num_threads = options.threads
    settings.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(NETWORKS[options.network](), settings, ["CPUExecutionProvider"])
    random = numpy.random.default_rng(2)
    # Bound once: copies between Python and the session are not part of inference.
    binding = session.io_binding()
    for each in session.get_inputs():
        binding.bind_cpu_input(each.name, random.uniform(-1, 1, each.shape).astype(numpy.float32))
    for each in session.get_outputs():
        binding.bind_output(each.name)
    samples = timing.measure(options, lambda: session.run_with_iobinding(binding))
    if not all(numpy.isfinite(each).all() for each in binding.copy_outputs_to_cpu()):
        raise SystemExit("error: the output is not finite")
    timing.report(f"onnxruntime {onnxruntime.__version__}", samples)


if __name__ == "__main__":
    main()
