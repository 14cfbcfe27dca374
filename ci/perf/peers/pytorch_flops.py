# SPDX-License-Identifier: Apache-2.0
"""Prints, as JSON, the parameters and the FLOPs of the networks of `configs/networks` as PyTorch's
and fvcore's counters see them. The models are those of torchvision and of Hugging Face transformers,
or the few lines below. Nothing is computed, except that fvcore traces convolutions."""

import json
import logging
import sys
import warnings
from math import prod

import torch
from fvcore.nn import FlopCountAnalysis
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
from torchvision import models
from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel, LlamaConfig
from transformers.cache_utils import DynamicCache
from transformers.models.llama.modeling_llama import LlamaDecoderLayer


def mobilenet_v1():
    def conv(c, k, r, stride, groups=1):
        return [nn.Conv2d(c, k, r, stride, r // 2, groups=groups, bias=False), nn.BatchNorm2d(k),
                nn.ReLU6()]

    layers, channels = conv(3, 32, 3, 2), 32
    for k, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1),
                      (512, 1), (512, 1), (512, 1), (1024, 2), (1024, 1)]:
        layers += conv(channels, channels, 3, stride, channels) + conv(channels, k, 1, 1)
        channels = k
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1024, 1000))


class UNet(nn.Module):
    def __init__(self, widths=(64, 128, 256, 512, 1024)):
        super().__init__()

        def double(c, k):
            return nn.Sequential(*(layer for i in (c, k) for layer in (
                nn.Conv2d(i, k, 3, padding=1, bias=False), nn.BatchNorm2d(k), nn.ReLU())))

        steps = list(zip(widths, widths[1:]))
        self.first, self.last = double(3, widths[0]), nn.Conv2d(widths[0], 2, 1)
        self.down = nn.ModuleList(nn.Sequential(nn.MaxPool2d(2), double(c, k)) for c, k in steps)
        self.up = nn.ModuleList(nn.ConvTranspose2d(k, c, 2, 2) for c, k in reversed(steps))
        self.join = nn.ModuleList(double(k, c) for c, k in reversed(steps))

    def forward(self, x):
        kept = [self.first(x)]
        for down in self.down:
            kept.append(down(kept[-1]))
        x = kept.pop()
        for up, join in zip(self.up, self.join):
            x = join(torch.cat([kept.pop(), up(x)], 1))
        return self.last(x)


def mnist_cnn():
    return nn.Sequential(nn.Conv2d(1, 20, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5),
                         nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(800, 512), nn.ReLU(),
                         nn.Linear(512, 10))


def mlp():
    return nn.Sequential(nn.Linear(10, 128), nn.Tanh(), nn.Linear(128, 64), nn.Tanh(),
                         nn.Linear(64, 32), nn.ReLU())


def bert(width, heads, layers):
    config = BertConfig(hidden_size=width, num_attention_heads=heads, num_hidden_layers=layers,
                        intermediate_size=4 * width)
    return BertModel(config, add_pooling_layer=False).encoder


class Gpt2(nn.Module):
    """GPT-2 behind its embeddings: the parameters of the positions stay out. `cached`: keys and
    values of earlier tokens per block."""

    def __init__(self, cached=0):
        super().__init__()
        self.model, self.cached = GPT2LMHeadModel(GPT2Config()), cached
        self.model.transformer.wpe = nn.Module()

    def forward(self, x):
        cache = DynamicCache()
        for i in range(12 if self.cached else 0):
            past = torch.empty(1, 12, self.cached, 64, device=x.device)
            cache.update(past, past, i)
        for block in self.model.transformer.h:
            x = block(x, cache)
            x = x if torch.is_tensor(x) else x[0]
        return self.model.lm_head(self.model.transformer.ln_f(x))


class LlamaBlock(nn.Module):
    def __init__(self, cached=0):
        super().__init__()
        config = LlamaConfig(hidden_size=4096, intermediate_size=14336, num_attention_heads=32,
                             num_key_value_heads=8, num_hidden_layers=1)
        config._attn_implementation = "sdpa"
        self.layer, self.cached = LlamaDecoderLayer(config, 0), cached

    def forward(self, x):
        cache = DynamicCache()
        if self.cached:
            past = torch.empty(1, 8, self.cached, 128, device=x.device)
            cache.update(past, past, 0)
        angles = torch.empty(1, x.shape[1], 128, device=x.device)
        return self.layer(x, position_embeddings=(angles, angles), past_key_values=cache)


def positions(*dims, like):
    return torch.zeros(dims, dtype=torch.long, device=like.device)


class Dlrm(nn.Module):
    def __init__(self):
        super().__init__()

        def layers(*widths):
            return [layer for c, k in zip(widths, widths[1:]) for layer in (nn.Linear(c, k), nn.ReLU())]

        self.bottom = nn.Sequential(*layers(13, 512, 256, 128))
        self.tables = nn.Embedding(441165, 128)
        self.top = nn.Sequential(*layers(479, 1024, 1024, 512, 256, 1)[:-1], nn.Sigmoid())

    def forward(self, dense):
        bottom = self.bottom(dense)
        rows = self.tables(positions(len(dense), 26, like=dense))
        vectors = torch.cat([bottom[:, None], rows], 1)
        products = torch.bmm(vectors, vectors.transpose(1, 2)).flatten(1)
        pairs = products.index_select(1, positions(351, like=dense))
        return self.top(torch.cat([bottom, pairs], 1))


class Experts(nn.Module):
    """The mixture of experts of GraniteMoe with equally many rows per expert, and gate and up as
    products of their own."""

    def __init__(self, width=1024, inner=512, experts=32, chosen=8):
        super().__init__()
        self.norm = nn.RMSNorm(width, eps=1e-6)
        self.router = nn.Linear(width, experts, bias=False)
        self.gate, self.up, self.down = (nn.Parameter(torch.empty(experts, *dims)) for dims in (
            (width, inner), (width, inner), (inner, width)))
        self.chosen = chosen

    def forward(self, x):
        tokens, width = x.shape
        normed = self.norm(x)
        weights = self.router(normed)[:, :self.chosen].softmax(-1)
        rows = normed.index_select(0, positions(tokens * self.chosen, like=x))
        rows = rows.view(len(self.gate), -1, width)
        gated = nn.functional.silu(torch.bmm(rows, self.gate)) * torch.bmm(rows, self.up)
        results = torch.bmm(gated, self.down).view(tokens, self.chosen, width)
        return x + 0.22 * (results * weights[..., None]).sum(1)


IMAGE = (1, 3, 224, 224)
# Network: model, dimensions of the input.
NETWORKS = {
    "bert_base": (lambda: bert(768, 12, 12), (1, 128, 768)),
    "bert_large": (lambda: bert(1024, 16, 24), (1, 384, 1024)),
    "densenet121": (models.densenet121, IMAGE),
    "dlrm": (Dlrm, (1, 13)),
    "efficientnet_b0": (models.efficientnet_b0, IMAGE),
    "gpt2": (Gpt2, (1, 1024, 768)),
    "gpt2_decode": (lambda: Gpt2(cached=1023), (1, 1, 768)),
    "llama3_8b_block": (LlamaBlock, (1, 512, 4096)),
    "llama3_8b_block_decode": (lambda: LlamaBlock(cached=1023), (1, 1, 4096)),
    "mlp": (mlp, (1, 10)),
    "mnist_cnn": (mnist_cnn, (1, 1, 28, 28)),
    "mobilenet_v1": (mobilenet_v1, IMAGE),
    "mobilenet_v2": (models.mobilenet_v2, IMAGE),
    "mobilenet_v3_large": (models.mobilenet_v3_large, IMAGE),
    "mobilenet_v3_small": (models.mobilenet_v3_small, IMAGE),
    "moe_block": (Experts, (4, 1024)),
    "resnet18": (models.resnet18, IMAGE),
    "resnet50_v1_5": (models.resnet50, IMAGE),
    "unet": (UNet, (1, 3, 512, 512)),
    "vgg16": (models.vgg16, IMAGE),
    "vit_b_16": (models.vit_b_16, IMAGE),
}


def attention_macs(inputs, _):
    """The two products of all queries with all keys. fvcore has no rule for the fused function."""
    query, key = (value.type().sizes() for value in inputs[:2])
    return 2 * prod(query) * key[-2]


def count_fvcore(make, dims):
    model = make().eval()
    # Convolutions without values cannot be traced.
    device = "cpu" if any(isinstance(module, nn.Conv2d) for module in model.modules()) else "meta"
    analysis = FlopCountAnalysis(model.to(device), torch.zeros(dims, device=device))
    analysis.unsupported_ops_warnings(False).uncalled_modules_warnings(False)
    analysis.set_op_handle("aten::scaled_dot_product_attention", attention_macs)
    return int(analysis.total())


def count(network):
    make, dims = NETWORKS[network]
    with torch.device("meta"):
        model, x = make().eval(), torch.empty(dims)
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(x)
    result = {"parameters": sum(parameter.numel() for parameter in model.parameters()),
              "torch": counter.get_total_flops()}
    result["fvcore"] = count_fvcore(make, dims)
    return result


def main():
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    # The fused kernel of a whole encoder layer has no formula.
    torch.backends.mha.set_fastpath_enabled(False)
    json.dump({network: count(network) for network in sys.argv[1:] or NETWORKS}, sys.stdout)


if __name__ == "__main__":
    main()
