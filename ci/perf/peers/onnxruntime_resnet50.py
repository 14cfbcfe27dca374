# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 v1.5 inference, batch 1, f32, through ONNX Runtime with all graph optimisations.
Random weights; batch norm is folded into the convolutions, as in a model exported for inference."""

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
    graph = helper.make_graph(
        build.nodes, "resnet50_v1_5",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 3, 224, 224])],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1, 1000])], build.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString()


def main():
    options = timing.arguments(__doc__)
    settings = onnxruntime.SessionOptions()
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    settings.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    settings.intra_op_num_threads = options.threads
    settings.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(resnet50(), settings, ["CPUExecutionProvider"])
    image = numpy.random.default_rng(2).uniform(-1, 1, (1, 3, 224, 224)).astype(numpy.float32)
    # Bound once: copies between Python and the session are not part of inference.
    binding = session.io_binding()
    binding.bind_cpu_input("input", image)
    binding.bind_output("output")
    samples = timing.measure(options, lambda: session.run_with_iobinding(binding))
    if not numpy.isfinite(binding.copy_outputs_to_cpu()[0]).all():
        raise SystemExit("error: the output is not finite")
    timing.report(f"onnxruntime {onnxruntime.__version__}", samples)


if __name__ == "__main__":
    main()
