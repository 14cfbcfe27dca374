# SPDX-License-Identifier: Apache-2.0
"""Replaces PyTorch for ci/gpu_torch.py: a product takes 10 us, a call in a replayed graph 5 us, a
replay of a network 100 us. Instead of the profiled network the program $FAKE_TORCH_PROGRAM runs on
the device, in a separate process."""
import os
import shlex
import subprocess
import sys
from unittest.mock import MagicMock

torch = MagicMock()
torch.__version__ = "0.0"
torch.version.cuda = "13.0"
torch.cuda.get_device_name.return_value = "Fake GPU"
torch.cuda.Event.return_value.elapsed_time.return_value = 0.1
torch.cuda.synchronize.side_effect = lambda: subprocess.run(
    shlex.split(os.environ["FAKE_TORCH_PROGRAM"]), check=True)
sys.modules[__name__] = torch
for name in ("torchvision", "torch.fx", "torch.fx.experimental", "torch.fx.experimental.optimization"):
    sys.modules[name] = MagicMock()
