# SPDX-License-Identifier: Apache-2.0
"""Operators of networks for ci/perf/peers/operators: each row is a case of a configuration of
`bench`, and pytorch_operators.py computes the same. Shapes: BERT base (1 x 128), GPT-2 (1 x 1024),
Llama 3 8B (1 x 512 and one token)."""


def gemm(m, n, k, **more):
    return {"op": "gemm", "m": m, "n": n, "k": k, **more}


CASES = [
    # BERT base
    gemm(128, 768, 768, bias=True), gemm(128, 3072, 768, bias=True),
    gemm(128, 768, 3072, bias=True), gemm(128, 128, 64, batch=12, trans_b=True, two_inputs=True),
    gemm(128, 64, 128, batch=12, two_inputs=True),
    # GPT-2
    gemm(1024, 2304, 768, bias=True), gemm(1024, 3072, 768, bias=True),
    gemm(1, 2304, 768, bias=True), gemm(1024, 1024, 64, batch=12, trans_b=True, two_inputs=True),
    # Llama 3 8B
    gemm(512, 4096, 4096), gemm(512, 1024, 4096), gemm(1, 4096, 4096), gemm(1, 14336, 4096),
    {"op": "layer_norm", "shape": [128, 768]},
    {"op": "layer_norm", "shape": [1024, 768]},
    {"op": "rms_norm", "shape": [512, 4096]},
    {"op": "rms_norm", "shape": [1, 4096]},
    # ResNet-50 in training
    *({"op": "batch_norm", "mode": "training", "direction": direction, "n": 8, "c": c, "h": h}
      for direction in ("forward", "backward_weights") for c, h in ((64, 112), (256, 56), (512, 7))),
    {"op": "softmax", "shape": [12, 128, 128]},
    {"op": "softmax", "shape": [12, 1024, 1024]},
    {"op": "reduction", "function": "sum", "shape": [1024, 4096], "axis": [1]},
    {"op": "reduction", "function": "sum", "shape": [1024, 4096], "axis": [0]},
    {"op": "reduction", "function": "max", "shape": [12, 1024, 1024], "axis": [2]},
    {"op": "attention", "batch": 1, "heads": 12, "q_len": 128, "head_dim": 64},
    {"op": "attention", "batch": 1, "heads": 12, "q_len": 1024, "head_dim": 64, "causal": True},
    {"op": "attention", "batch": 1, "heads": 32, "kv_heads": 8, "q_len": 512, "head_dim": 128,
     "causal": True},
    {"op": "attention", "batch": 1, "heads": 32, "kv_heads": 8, "q_len": 1, "kv_len": 4096,
     "head_dim": 128},
    {"op": "embedding", "rows": 30522, "dim": 768, "indices": 128},
    {"op": "embedding", "rows": 50257, "dim": 768, "indices": 1024},
    # Logits of GPT-2, scores of 1000 classes, beams; rows of a vocabulary, bags, single elements
    *({"op": "sort", "function": "topk", "shape": shape, "k": k}
      for shape, k in (([64, 50257], 10), ([1024, 1000], 5), ([256, 4096], 128), ([2, 1000000], 50))),
    *({"op": "scatter_add", "rows": rows, "dim": dim, "indices": indices}
      for rows, dim, indices in ((30522, 768, 4096), (100000, 64, 65536), (1000000, 1, 1000000))),
    {"op": "optimizer", "function": "adam", "elements": 1048576},
    {"op": "optimizer", "function": "adam", "elements": 16777216},
    # GNMT and DeepBench, in inference and with the gradients of training
    *({"op": op, "direction": direction, "steps": steps, "n": n, "input": size}
      for op in ("lstm", "gru") for direction in ("forward", "backward_weights")
      for steps, n, size in ((30, 16, 512), (25, 32, 512), (25, 1, 1024))),
    # upsampling in U-Net and in pyramids, its gradient, and images halved
    *({"op": "resample", "function": function, "direction": direction, "layout": layout,
       "shape": [1, 64, 56, 56], "size": [size, size]}
      for function in ("nearest", "linear") for direction in ("forward", "backward_data")
      for layout in ("nchw", "nhwc") for size in (112, 28)),
]
