# SPDX-License-Identifier: Apache-2.0
"""A network in inference, batch 1, f32, through PyTorch on the CPU, in one of its modes."""

import torch

import pytorch_models
import timing


def eager(model, _):
    return model


def eager_channels_last(model, _):
    return model.to(memory_format=torch.channels_last)


def compiled(model, _):
    # Freezing makes the weights constants of the graph: it folds batch norm and selects layouts
    # ahead.
    torch._inductor.config.freezing = True
    return torch.compile(model, backend="inductor")


def jit(model, inputs):
    return torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(model, inputs)))


MODES = {
    "eager": eager,
    "eager_channels_last": eager_channels_last,
    "compiled": compiled,
    "jit": jit,
}


def main():
    options = timing.arguments(__doc__, pytorch_models.NETWORKS, MODES)
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    model, inputs = pytorch_models.build(options.network)
    if options.mode == "eager_channels_last":
        inputs = [each.to(memory_format=torch.channels_last) for each in inputs]
    # Inference mode is the faster of the two; freezing and tracing only support the other.
    with torch.inference_mode("eager" in options.mode), torch.no_grad():
        expected = model(*inputs)
        run = MODES[options.mode](model, tuple(inputs))
        torch.testing.assert_close(run(*inputs), expected, rtol=1e-3, atol=1e-3)
        samples = timing.measure(options, lambda: run(*inputs))
    timing.report(f"torch {torch.__version__}", samples)


if __name__ == "__main__":
    main()
