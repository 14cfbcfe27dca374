#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ci/gpu_torch.py product SIZE [SECONDS]|shapes RESULT.jsonl [SECONDS]|resnet50|bert|network:
PyTorch's side of ci/gpu_check.sh.

product  times torch.mm of bfloat16 matrices, SIZE x SIZE, on random data, and prints one JSON line:
         the median of samples of 10 products between CUDA events, each after a warm-up: 20 of them,
         and as many more as fit into SECONDS, so that a device settles at its clock under load.
shapes   times the cases of a result of `bench run` as replays of CUDA graphs with 20 calls each, for
         SECONDS each (default: 0.3), on random data, images in channels_last, and prints one JSON line
         for each: the median, of a convolution also that by torch.backends.cudnn.benchmark, or why
         PyTorch cannot be compared.
resnet50 times ResNet-50 for inference, 32 images, f16, channels_last, in the same way: its layers
         one by one with batch norm folded into the convolutions, and compiled by torch.compile.
bert     times the encoder of BERT base for inference, one sequence of 128, bf16, in the same way.
network  runs a small convolutional network forwards and backwards five times, the last three inside
         emit_nvtx(record_shapes=True) and a range "measured", for `bench profile` to record."""

import json
import pathlib
import re
import statistics
import sys
import time

import torch

functional = torch.nn.functional
SAMPLES, PRODUCTS = 20, 10


def product(size, seconds):
    a, b = (torch.randn(size, size, device="cuda").bfloat16() for _ in range(2))
    result = torch.empty(size, size, device="cuda", dtype=torch.bfloat16)
    for _ in range(PRODUCTS):
        torch.mm(a, b, out=result)
    times = []
    until = time.monotonic() + seconds
    while len(times) < SAMPLES or time.monotonic() < until:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(PRODUCTS):
            torch.mm(a, b, out=result)
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / PRODUCTS)
    median_ms = statistics.median(times)
    print(json.dumps({
        "record": "torch_product", "size": size, "version": torch.__version__,
        "cuda": torch.version.cuda, "device": torch.cuda.get_device_name(),
        "samples": len(times), "median_ns": round(median_ms * 1e6),
        "flops_per_s": 2 * size**3 / (median_ms * 1e-3)}))


DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}


def replayed(function, calls, seconds):
    """Returns the nanoseconds of a call: the median over replays of a graph of `calls` calls."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(5):
            function()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            function()
    times, until = [], time.monotonic() + seconds
    while len(times) < 10 or time.monotonic() < until:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return round(statistics.median(times) / calls * 1e6)


class Shape:
    """A case by its id: an operator that PyTorch has as one call."""

    def __init__(self, case):
        self.id = case
        words = case.split("/")
        self.operator, self.direction, self.problem = words[:3]
        self.dtype = DTYPES[words[3]]
        self.tf32 = words[-1] == "tf32"
        self.flags = self.problem.split("+")[1:]
        self.sizes = {name: int(value) for name, value in
                      re.findall(r"([a-z])(\d+)", self.problem.split("+")[0])}
        self.shapes = [tuple(map(int, text.split("x"))) for text in self.problem.split("-")
                       if re.fullmatch(r"\d+(x\d+)+", text)]

    def size(self, name, default=1):
        return self.sizes.get(name, default)

    def random(self, *dims):
        values = torch.randn(*dims, device="cuda", dtype=self.dtype)
        return values.contiguous(memory_format=torch.channels_last) if len(dims) == 4 else values

    def plain(self, *dims):
        return torch.randn(*dims, device="cuda", dtype=self.dtype)

    def gemm(self):
        batch = [self.size("b")] if "b" in self.sizes else []
        rows, columns, inner = (self.size(name) for name in "mnk")
        a = self.plain(*batch, rows, inner)
        known = {"tb", "two", "bias"} | ({"gelu_tanh"} if "bias" in self.flags else set())
        if set(self.flags) - known:
            raise ValueError("more than one call")
        b = self.plain(*batch, columns, inner) if "tb" in self.flags else self.plain(*batch, inner, columns)
        if "tb" in self.flags:
            b = b.transpose(-1, -2)
        if "bias" in self.flags:
            bias = self.plain(columns)
            if "gelu_tanh" in self.flags:
                return lambda: torch._addmm_activation(bias, a, b, use_gelu=True)
            return lambda: torch.addmm(bias, a, b)
        result = self.plain(*batch, rows, columns)
        return lambda: torch.matmul(a, b, out=result)

    def conv(self):
        groups, stride, padding = self.size("g"), self.size("u"), self.size("p", 0)
        source = self.random(self.size("n"), self.size("c"), self.size("h"), self.size("w"))
        weights = self.random(self.size("k"), self.size("c") // groups, self.size("r"), self.size("s"))
        forward = lambda: torch.conv2d(source, weights, None, stride, padding, 1, groups)
        if self.direction == "forward":
            return forward
        gradient = torch.randn_like(forward())
        wanted = [self.direction == "backward_data", self.direction == "backward_weights", False]
        return lambda: torch.ops.aten.convolution_backward(
            gradient, source, weights, None, [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], groups,
            wanted)

    def softmax(self):
        x = self.plain(*self.shapes[0])
        return lambda: torch.softmax(x, -1)

    def layer_norm(self):
        x, width = self.plain(*self.shapes[0]), self.shapes[0][-1]
        scale, shift = self.plain(width), self.plain(width)
        return lambda: functional.layer_norm(x, (width,), scale, shift, 1e-5)

    def rms_norm(self):
        x, width = self.plain(*self.shapes[0]), self.shapes[0][-1]
        scale = self.plain(width)
        return lambda: functional.rms_norm(x, (width,), scale, 1e-5)

    def reduction(self):
        x = self.plain(*self.shapes[0])
        call = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax,
                "l2": torch.linalg.vector_norm}[self.problem.split("-")[0]]
        return lambda: call(x, dim=-1)

    def pointwise(self):
        name = self.problem.split("-")[0]
        sources = [self.plain(*shape) for shape in self.shapes]
        call = {"gelu_erf": functional.gelu, "add": torch.add, "mul": torch.mul, "swish": functional.silu,
                "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh")}[name]
        return lambda: call(*sources)

    def attention(self):
        batch, heads, queries, width = (self.size(name) for name in "bhqd")
        groups, keys = self.size("g", heads), self.size("k", queries)
        if self.direction != "forward" or "w" in self.sizes or "l" in self.sizes:
            raise ValueError("more than one call")
        q = self.plain(batch, heads, queries, width)
        k, v = self.plain(batch, groups, keys, width), self.plain(batch, groups, keys, width)
        # A single query at the end of its keys sees all of them. PyTorch aligns the mask at the first.
        causal = "causal" in self.flags and queries > 1
        if causal and keys != queries:
            raise ValueError("PyTorch aligns the causal mask at the first key")
        return lambda: functional.scaled_dot_product_attention(
            q, k, v, is_causal=causal, enable_gqa=groups != heads)

    def embedding(self):
        table = self.plain(self.size("r"), self.size("d"))
        indices = torch.randint(self.size("r"), (self.size("i"),), device="cuda")
        return lambda: functional.embedding(indices, table)

    def loss(self):
        if self.direction != "forward":
            raise ValueError("more than one call")
        batch, classes = self.size("b"), self.size("c")
        x, labels = self.plain(batch, classes), torch.randint(classes, (batch,), device="cuda")
        return lambda: functional.cross_entropy(x, labels, reduction="none")

    def optimizer(self):
        parameter = torch.nn.Parameter(self.plain(self.size("e")))
        parameter.grad = self.plain(self.size("e"))
        if "sgd" in self.problem:
            step = torch.optim.SGD([parameter], lr=1e-6, fused=True)
        else:
            method = torch.optim.AdamW if "adamw" in self.problem else torch.optim.Adam
            step = method([parameter], lr=1e-6, fused=True, capturable=True)
        return step.step

    OPERATORS = {function.__name__: function for function in (
        gemm, conv, softmax, layer_norm, rms_norm, reduction, pointwise, attention, embedding, loss,
        optimizer)}

    def times(self, seconds):
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = self.tf32
        if self.operator not in self.OPERATORS:
            raise ValueError("PyTorch has no such operator")
        function = self.OPERATORS[self.operator](self)
        found = {}
        for name, searches in (("median_ns", False), ("benchmark_ns", True)):
            torch.backends.cudnn.benchmark = searches
            found[name] = replayed(function, 20, seconds)
            if self.operator != "conv":
                break
        return found


def shapes(results, seconds):
    with open(results, encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    for case in (r["id"] for r in found if r.get("record") == "case"):
        row = {"record": "torch_shape", "id": case}
        try:
            with torch.no_grad():
                row |= Shape(case).times(seconds)
        except (KeyError, RuntimeError, ValueError) as error:
            row["error"] = str(error)[:200]
        print(json.dumps(row), flush=True)


def print_network(network, model, *inputs):
    """Times a model layer by layer, and compiled by torch.compile."""
    with torch.inference_mode():
        for name, variant in (("layer by layer", model), ("torch.compile", torch.compile(model))):
            begin = time.monotonic()
            variant(*inputs)
            torch.cuda.synchronize()
            creation = time.monotonic() - begin
            print(json.dumps({"record": "torch_network", "network": network, "variant": name,
                              "version": torch.__version__, "first_s": round(creation, 2),
                              "median_ns": replayed(lambda: variant(*inputs), 1, 1.5)}), flush=True)


def bert():
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "perf/peers"))
    import pytorch_models
    model, tokens = pytorch_models.build("bert_base")
    print_network("bert_base", model.bfloat16().cuda(), tokens.bfloat16().cuda())


def resnet50():
    import torchvision
    from torch.fx.experimental.optimization import fuse
    torch.backends.cudnn.benchmark = True
    folded = fuse(torchvision.models.resnet50().eval()).half().cuda().to(memory_format=torch.channels_last)
    images = torch.randn(32, 3, 224, 224, device="cuda").half().contiguous(memory_format=torch.channels_last)
    print_network("resnet50_v1_5", folded, images)


def network():
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 64, 7, stride=2, padding=3), torch.nn.BatchNorm2d(64), torch.nn.ReLU(),
        torch.nn.MaxPool2d(3, stride=2, padding=1), torch.nn.Conv2d(64, 128, 3, padding=1),
        torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
        torch.nn.Linear(128, 1000)).cuda().half()
    images = torch.randn(16, 3, 224, 224, device="cuda").half()

    def iteration():
        model(images).float().sum().backward()

    for _ in range(2):
        iteration()
    torch.cuda.synchronize()
    with torch.autograd.profiler.emit_nvtx(record_shapes=True), torch.cuda.nvtx.range("measured"):
        for _ in range(3):
            iteration()
        torch.cuda.synchronize()


if __name__ == "__main__":
    if (len(sys.argv) in (3, 4) and sys.argv[1] == "product"
            and all(word.isdecimal() for word in sys.argv[2:])):
        product(int(sys.argv[2]), int((sys.argv[3:] or ["0"])[0]))
    elif len(sys.argv) in (3, 4) and sys.argv[1] == "shapes":
        shapes(sys.argv[2], float((sys.argv[3:] or ["0.3"])[0]))
    elif sys.argv[1:] == ["resnet50"]:
        resnet50()
    elif sys.argv[1:] == ["bert"]:
        bert()
    elif sys.argv[1:] == ["network"]:
        network()
    else:
        sys.exit(__doc__)
