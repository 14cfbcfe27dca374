# SPDX-License-Identifier: Apache-2.0
"""The operators of a file of cases through PyTorch on the CPU, in one of its modes. The result is
one JSON object: the medians in nanoseconds, in the order of the file; null: PyTorch has no such
call."""

import argparse
import json
import statistics
import time
from pathlib import Path

import torch
from torch.nn import functional


def tensor(case, *sizes):
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
    return torch.randn(*sizes).to(dtype[case.get("dtype", "f32")])


# Each function returns a function without arguments, which computes the case on data of its own.
# `wrap` compiles it, or does not.


def gemm(case, wrap):
    m, n, k = case["m"], case["n"], case["k"]
    if "batch" in case:
        a = tensor(case, case["batch"], m, k)
        if case.get("trans_b"):
            b = tensor(case, case["batch"], n, k)
            run = wrap(lambda x, y: torch.bmm(x, y.transpose(1, 2)))
        else:
            b = tensor(case, case["batch"], k, n)
            run = wrap(torch.bmm)
        return lambda: run(a, b)
    layer = torch.nn.Linear(k, n, bias=case.get("bias", False)).eval()
    x = tensor(case, m, k)
    run = wrap(layer.to(x.dtype))
    return lambda: run(x)


def layer_norm(case, wrap):
    x, width = tensor(case, *case["shape"]), case["shape"][-1]
    scale, shift = torch.rand(width), torch.rand(width)
    run = wrap(lambda x: functional.layer_norm(x, (width,), scale, shift, 1e-5))
    return lambda: run(x)


def rms_norm(case, wrap):
    x, width = tensor(case, *case["shape"]), case["shape"][-1]
    scale = torch.rand(width)
    run = wrap(lambda x: functional.rms_norm(x, (width,), scale, 1e-5))
    return lambda: run(x)


def batch_norm(case, wrap):
    x = tensor(case, case["n"], case["c"], case["h"], case["h"])
    scale, shift = torch.rand(case["c"]), torch.rand(case["c"])
    if case.get("direction") == "backward_weights":
        diff, mean, inverse = tensor(case, *x.shape), torch.rand(case["c"]), torch.rand(case["c"])
        run = wrap(lambda diff, x: torch.ops.aten.native_batch_norm_backward(
            diff, x, scale, None, None, mean, inverse, True, 1e-5, [True, True, True]))
        return lambda: run(diff, x)
    run = wrap(lambda x: functional.batch_norm(x, None, None, scale, shift, training=True))
    return lambda: run(x)


def softmax(case, wrap):
    x = tensor(case, *case["shape"])
    run = wrap(lambda x: torch.softmax(x, -1))
    return lambda: run(x)


def reduction(case, wrap):
    x, axes = tensor(case, *case["shape"]), case["axis"]
    function = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax}[case["function"]]
    run = wrap(lambda x: function(x, dim=axes))
    return lambda: run(x)


def attention(case, wrap):
    heads, q_len, size = case["heads"], case["q_len"], case["head_dim"]
    kv_heads, kv_len = case.get("kv_heads", heads), case.get("kv_len", q_len)
    q = tensor(case, case["batch"], heads, q_len, size)
    k = tensor(case, case["batch"], kv_heads, kv_len, size)
    v = tensor(case, case["batch"], kv_heads, kv_len, size)
    run = wrap(lambda q, k, v: functional.scaled_dot_product_attention(
        q, k, v, is_causal=case.get("causal", False), enable_gqa=kv_heads != heads))
    return lambda: run(q, k, v)


def embedding(case, wrap):
    table = tensor(case, case["rows"], case["dim"])
    indices = torch.randint(case["rows"], (case["indices"],))
    run = wrap(functional.embedding)
    return lambda: run(indices, table)


def sort(case, wrap):
    x, k = tensor(case, *case["shape"]), case["k"]
    run = wrap(lambda x: torch.topk(x, k, dim=-1))
    return lambda: run(x)


def scatter_add(case, wrap):
    """As `bench`, out of place, with a permutation of the rows as long as there are rows."""
    rows, count = case["rows"], case["indices"]
    table, updates = tensor(case, rows, case["dim"]), tensor(case, count, case["dim"])
    indices = torch.cat([torch.randperm(rows) for _ in range(-(-count // rows))])[:count]
    run = wrap(lambda table, indices, updates: table.index_add(0, indices, updates))
    if case["dim"] > 1:
        return lambda: run(table, indices, updates)
    run = wrap(lambda table, indices, updates: table.scatter_add(0, indices, updates))
    table, updates = table.flatten(), updates.flatten()
    return lambda: run(table, indices, updates)


def optimizer(case, wrap):
    parameter = torch.nn.Parameter(tensor(case, case["elements"]))
    parameter.grad = tensor(case, case["elements"])
    # The fused implementation is the fastest of eager PyTorch; compilation takes the plain one.
    step = torch.optim.Adam([parameter], lr=1e-6, fused=wrap is eager)
    return wrap(lambda: step.step())


def recurrent(case, layer):
    """A layer of cells; of a step of training, the backward pass alone, which repeats on a graph
    that is kept."""
    n, size = case["n"], case["input"]
    layer = layer(size, size).to(tensor(case, 1).dtype)
    x = tensor(case, case["steps"], n, size)
    if case.get("direction") != "backward_weights":
        return lambda: layer(x)
    with torch.enable_grad():
        x.requires_grad_()
        result = layer(x)[0]
        inputs = [x, *layer.parameters()]
    gradient = torch.randn_like(result)
    return lambda: torch.autograd.grad(result, inputs, gradient, retain_graph=True)


def lstm(case, wrap):
    return recurrent(case, lambda *sizes: torch.nn.LSTM(*sizes))


def gru(case, wrap):
    return recurrent(case, lambda *sizes: torch.nn.GRU(*sizes))


def resample(case, wrap):
    shape, size = case["shape"], case["size"]
    mode = {"nearest": "nearest-exact", "linear": "bilinear"}[case["function"]]
    form = torch.channels_last if case.get("layout") == "nhwc" else torch.contiguous_format
    if case.get("direction") == "backward_data":
        diff = tensor(case, *shape[:2], *size).contiguous(memory_format=form)
        if mode == "bilinear":
            backward = torch.ops.aten.upsample_bilinear2d_backward
            run = wrap(lambda diff: backward(diff, size, shape, False))
        else:
            run = wrap(lambda diff: torch.ops.aten._upsample_nearest_exact2d_backward(
                diff, size, shape))
        return lambda: run(diff)
    x = tensor(case, *shape).contiguous(memory_format=form)
    run = wrap(lambda x: functional.interpolate(x, size=tuple(size), mode=mode))
    return lambda: run(x)


def eager(function):
    return function


def compiled(function):
    # Freezing makes weights constants: it packs them ahead.
    torch._inductor.config.freezing = True
    return torch.compile(function, backend="inductor", dynamic=False)


MODES = {"eager": eager, "compiled": compiled}
OPERATORS = {function.__name__: function for function in
             (gemm, layer_norm, rms_norm, batch_norm, softmax, reduction, attention, embedding,
              optimizer, sort, scatter_add, lstm, gru, resample)}


def measure(run, samples, warmup_ns, limit_ns):
    """Returns the median of at most `samples` calls that take `limit_ns` together, after a warm-up
    of at least three calls."""
    begin, calls = time.monotonic_ns(), 0
    while calls < 3 or time.monotonic_ns() < begin + warmup_ns:
        run()
        calls += 1
        if calls == 1:
            begin = time.monotonic_ns()  # the first call compiles
    times = []
    begin = time.monotonic_ns()
    while len(times) < samples and (len(times) < 10 or time.monotonic_ns() < begin + limit_ns):
        start = time.monotonic_ns()
        run()
        times.append(time.monotonic_ns() - start)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--mode", choices=MODES, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--warmup-ms", type=int, default=100)
    parser.add_argument("--limit-ms", type=int, default=300)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    medians = []
    with torch.no_grad():
        for case in json.loads(options.cases.read_text()):
            torch.compiler.reset()
            run = OPERATORS[case["op"]](case, MODES[options.mode])
            medians.append(measure(run, options.samples, options.warmup_ms * 1_000_000,
                                   options.limit_ms * 1_000_000))
    print(json.dumps({"version": f"torch {torch.__version__}", "medians_ns": medians}))


if __name__ == "__main__":
    main()
