# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 v1.5 inference, batch 1, f32, through PyTorch on the CPU, in one of its modes."""

import torch
from torch import nn

import timing


def conv_norm(c, k, r, stride=1):
    return [nn.Conv2d(c, k, r, stride, r // 2, bias=False), nn.BatchNorm2d(k)]


class Bottleneck(nn.Module):
    def __init__(self, c, width, stride):
        super().__init__()
        self.main = nn.Sequential(
            *conv_norm(c, width, 1), nn.ReLU(inplace=True),
            *conv_norm(width, width, 3, stride), nn.ReLU(inplace=True),
            *conv_norm(width, 4 * width, 1))
        self.shortcut = nn.Identity()
        if c != 4 * width:
            self.shortcut = nn.Sequential(*conv_norm(c, 4 * width, 1, stride))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.main(x) + self.shortcut(x))


def resnet50():
    layers = [*conv_norm(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for stage, (blocks, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)]):
        for block in range(blocks):
            layers.append(Bottleneck(channels, width, 2 if block == 0 and stage > 0 else 1))
            channels = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


def eager(model, _):
    return model


def eager_channels_last(model, _):
    return model.to(memory_format=torch.channels_last)


def compiled(model, _):
    # Freezing makes the weights constants of the graph: it folds batch norm and selects layouts
    # ahead.
    torch._inductor.config.freezing = True
    return torch.compile(model, backend="inductor")


def jit(model, image):
    return torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(model, image)))


MODES = {
    "eager": eager,
    "eager_channels_last": eager_channels_last,
    "compiled": compiled,
    "jit": jit,
}


def main():
    options = timing.arguments(__doc__, MODES)
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    model = resnet50().eval()
    parameters = sum(parameter.numel() for parameter in model.parameters())
    if parameters != 25_557_032:
        raise SystemExit(f"error: {parameters} parameters are not those of ResNet-50 v1.5")
    image = torch.rand(1, 3, 224, 224)
    if options.mode == "eager_channels_last":
        image = image.to(memory_format=torch.channels_last)
    # Inference mode is the faster of the two; freezing and tracing only support the other.
    with torch.inference_mode("eager" in options.mode), torch.no_grad():
        expected = model(image)
        run = MODES[options.mode](model, image)
        torch.testing.assert_close(run(image), expected, rtol=1e-3, atol=1e-3)
        samples = timing.measure(options, lambda: run(image))
    timing.report(f"torch {torch.__version__}", samples)


if __name__ == "__main__":
    main()
