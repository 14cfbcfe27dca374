#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes mnist_cnn.json: the gradients that PyTorch computes in f64 for a training step of
configs/networks/mnist_cnn.yaml with given values. tests/training_test.cpp compares with it.

Run it with PyTorch installed: python3 pytorch_mnist_cnn.py > mnist_cnn.json
"""
import json

import torch

BATCH = 3


def values(shape, phase, factor):
    """The same formula as in the test."""
    count = 1
    for size in shape:
        count *= size
    index = torch.arange(count, dtype=torch.float64)
    return (factor * torch.sin(0.37 * index + phase)).reshape(shape)


def parameter(shape, phase, factor):
    return values(shape, phase, factor).requires_grad_()


def main():
    # The weights of products in networks are n x k, as those of torch.nn.Linear.
    shapes = [(20, 1, 5, 5), (20,), (50, 20, 5, 5), (50,), (512, 800), (512,), (10, 512), (10,)]
    names = [f"{layer}.{tensor}" for layer in ("conv0", "conv1", "dense0", "dense1")
             for tensor in ("weights", "bias")]
    parameters = [parameter(shape, phase, 0.05) for phase, shape in enumerate(shapes)]
    images = values((BATCH, 1, 28, 28), 0.5, 1.0)
    labels = torch.tensor([(3 * i + 1) % 10 for i in range(BATCH)])
    weights = values((BATCH,), 1.0, 0.5)

    functional = torch.nn.functional
    x = functional.conv2d(images, parameters[0], parameters[1]).relu()
    x = functional.max_pool2d(x, 2)
    x = functional.conv2d(x, parameters[2], parameters[3]).relu()
    x = functional.max_pool2d(x, 2).reshape(BATCH, -1)
    x = functional.linear(x, parameters[4], parameters[5]).relu()
    x = functional.linear(x, parameters[6], parameters[7])
    losses = functional.cross_entropy(x, labels, reduction="none")
    (losses * weights).sum().backward()

    def describe(gradient):
        flat = gradient.flatten()
        step = max(flat.numel() // 5, 1)
        return {"sum": flat.sum().item(), "squares": (flat * flat).sum().item(),
                "every": step, "values": [flat[i].item() for i in range(0, flat.numel(), step)]}

    result = {"torch": torch.__version__, "losses": losses.tolist(),
              "gradients": {name: describe(each.grad) for name, each in zip(names, parameters)}}
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
