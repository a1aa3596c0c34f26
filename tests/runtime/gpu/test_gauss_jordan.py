"""The kernel that inverts blocks, in Triton's interpreter, which runs it on CPU tensors."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import torch
from golem.runtime.gpu.planned_functions import LARGEST_BLOCK, _kernel

torch.manual_seed(0)
for d in (1, 7, 64):
    M = torch.eye(d, dtype=torch.float64) + 0.1 * torch.randn(3, d, d, dtype=torch.float64)
    for blocks in (M.clone(), M.mT.clone().mT):  # both orders in memory
        _kernel()[(3,)](blocks, *blocks.stride(), d=d, SIZE=LARGEST_BLOCK)
        assert (blocks - torch.linalg.inv(M)).abs().max() < 1e-12, d
singular = torch.zeros(1, 2, 2, dtype=torch.float64)
_kernel()[(1,)](singular, *singular.stride(), d=2, SIZE=LARGEST_BLOCK)
assert not torch.isfinite(singular).all()
"""


@pytest.mark.torch
def test_the_kernel_inverts_blocks_of_all_sizes_and_orders():
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT],
        env=os.environ | {"TRITON_INTERPRET": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-2000:]
