"""Copies between libraries and devices."""

from __future__ import annotations

import numpy as np

from golem.runtime.gpu.cuda_graphs import HostCopy


def test_numbers_arrive_on_the_host():
    assert HostCopy(np.array([1.0, 2.0])).read() == [1.0, 2.0]
    assert HostCopy(np.array(3.0)).read() == 3.0
