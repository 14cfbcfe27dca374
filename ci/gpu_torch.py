#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ci/gpu_torch.py product SIZE [SECONDS]|network: PyTorch's side of ci/gpu_check.sh.

product  times torch.mm of bfloat16 matrices, SIZE x SIZE, on random data, and prints one JSON line:
         the median of samples of 10 products between CUDA events, each after a warm-up: 20 of them,
         and as many more as fit into SECONDS, so that a device settles at its clock under load.
network  runs a small convolutional network forwards and backwards five times, the last three inside
         emit_nvtx(record_shapes=True) and a range "measured", for `bench profile` to record."""

import json
import statistics
import sys
import time

import torch

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
    elif sys.argv[1:] == ["network"]:
        network()
    else:
        sys.exit(__doc__)
