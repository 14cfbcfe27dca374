# SPDX-License-Identifier: Apache-2.0
"""The networks that PyTorch computes beside `bench`, with random weights."""

import torch
from torch import nn
from torch.nn import functional


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


class BertLayer(nn.Module):
    def __init__(self, width=768, heads=12, inner=3072):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm, self.last_norm = (nn.LayerNorm(width, eps=1e-12) for _ in range(2))

    def forward(self, x):
        heads = [layer(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                 for layer in (self.query, self.key, self.value)]
        context = functional.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(-2)
        x = self.norm(x + self.output(context))
        return self.last_norm(x + self.down(functional.gelu(self.up(x))))


def bert_base():
    """The encoder, from the embedded input to the last block."""
    return nn.Sequential(*(BertLayer() for _ in range(12)))


def mnist_cnn():
    return nn.Sequential(nn.Conv2d(1, 20, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5),
                         nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(800, 512), nn.ReLU(),
                         nn.Linear(512, 10))


class Gpt2Block(nn.Module):
    def __init__(self, width=768, heads=12):
        super().__init__()
        self.heads = heads
        self.norm, self.last_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, keys, values):
        query, key, value = self.qkv(self.norm(x)).chunk(3, -1)
        context = functional.scaled_dot_product_attention(query.view(1, self.heads, 1, -1), keys, values)
        x = x + self.output(context.view(1, -1))
        x = x + self.down(functional.gelu(self.up(self.last_norm(x)), approximate="tanh"))
        return x, key, value


class Gpt2Decode(nn.Module):
    """One new token; each block has a cache of keys and values, which contains the token's own."""

    def __init__(self, width=768, words=50257, blocks=12):
        super().__init__()
        self.blocks = nn.ModuleList(Gpt2Block(width) for _ in range(blocks))
        self.norm, self.words = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, x, *caches):
        added = []
        for block, keys, values in zip(self.blocks, caches[::2], caches[1::2]):
            x, key, value = block(x, keys, values)
            added += [key, value]
        return self.words(self.norm(x)), *added


class LlamaBlock(nn.Module):
    """A block of Llama 3 8B on a prompt; returns the keys and values too, for the cache."""

    def __init__(self, width=4096, heads=32, shared=8, inner=14336, rows=512):
        super().__init__()
        self.size = width // heads
        self.norm, self.last_norm = (nn.RMSNorm(width, eps=1e-5) for _ in range(2))
        self.query, self.output = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.key, self.value = (nn.Linear(width, shared * self.size, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(width, inner, bias=False) for _ in range(2))
        self.down = nn.Linear(inner, width, bias=False)
        frequencies = 500000 ** (-torch.arange(0, self.size, 2) / self.size)
        angles = torch.outer(torch.arange(rows), frequencies).repeat(1, 2)
        self.register_buffer("cosine", angles.cos())
        self.register_buffer("sine", angles.sin())

    def heads(self, rows):
        return rows.unflatten(-1, (-1, self.size)).transpose(0, 1).unsqueeze(0)

    def rotate(self, heads):
        low, high = heads.chunk(2, -1)
        return heads * self.cosine + torch.cat((-high, low), -1) * self.sine

    def forward(self, x):
        rows = self.norm(x)
        query, key = (self.rotate(self.heads(layer(rows))) for layer in (self.query, self.key))
        value = self.heads(self.value(rows))
        context = functional.scaled_dot_product_attention(query, key, value, is_causal=True,
                                                          enable_gqa=True)
        x = x + self.output(context.squeeze(0).transpose(0, 1).flatten(-2))
        rows = self.last_norm(x)
        return x + self.down(functional.silu(self.gate(rows)) * self.up(rows)), key, value


# Network: model, dimensions of each input, number of parameters.
NETWORKS = {
    "resnet50": (resnet50, [(1, 3, 224, 224)], 25_557_032),
    "bert_base": (bert_base, [(1, 128, 768)], 85_054_464),
    "gpt2_decode": (Gpt2Decode, [(1, 768)] + 24 * [(1, 12, 1024, 64)], 123_653_376),
    "llama3_8b_block": (LlamaBlock, [(512, 4096)], 218_112_000),
    "mnist_cnn_step": (mnist_cnn, [(64, 1, 28, 28)], 440_812),
    "resnet50_step": (resnet50, [(16, 3, 224, 224)], 25_557_032),
}


def build(network):
    """Returns the model in inference, and its random inputs."""
    make, dims, wanted = NETWORKS[network]
    model = make().eval()
    parameters = sum(parameter.numel() for parameter in model.parameters())
    if parameters != wanted:
        raise SystemExit(f"error: {parameters} parameters are not those of {network}")
    return model, [torch.rand(each) for each in dims]
