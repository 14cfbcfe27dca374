# SPDX-License-Identifier: Apache-2.0
"""A step of training in f32 through PyTorch on the CPU: forward, cross-entropy, gradients, SGD."""

import torch
from torch.nn import functional

import pytorch_models
import timing

MODES = ["eager", "eager_channels_last", "compiled"]


def main():
    options = timing.arguments(__doc__, pytorch_models.NETWORKS, MODES)
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    model, [images] = pytorch_models.build(options.network)
    model.train()
    if options.mode == "eager_channels_last":
        model = model.to(memory_format=torch.channels_last)
        images = images.to(memory_format=torch.channels_last)
    # So small a rate keeps the values in their range for any number of steps.
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    forward = torch.compile(model, backend="inductor") if options.mode == "compiled" else model
    with torch.no_grad():
        scores = model(images)
    labels = torch.randint(scores.shape[-1], (scores.shape[0],))

    def step():
        optimizer.zero_grad(set_to_none=True)
        functional.cross_entropy(forward(images), labels).backward()
        optimizer.step()

    timing.report(f"torch {torch.__version__}", timing.measure(options, step))


if __name__ == "__main__":
    main()
