"""Discrete networks: a BIF file is read as written, and tables have its probabilities."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from golem_experiments.network_files import read_bif


def test_a_bif_file_is_read_and_drawn_from(network_folder):
    network = read_bif(network_folder / "asia.bif.gz")
    assert network.names == ("rain", "sprinkler", "wet")
    assert network.adjacency.astype(int).tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    rain, sprinkler, wet = network.sample(40_000, random_state=1).T
    np.testing.assert_allclose(np.bincount(rain) / 40_000, [0.7, 0.2, 0.1], atol=0.01)
    assert np.mean(sprinkler[rain == 1] == 0) == pytest.approx(0.1, abs=0.02)
    assert np.mean(wet[(sprinkler == 1) & (rain == 1)] == 0) == pytest.approx(0.6, abs=0.02)
    assert np.all(wet[(sprinkler == 1) & (rain == 0)] == 1)


def test_an_incomplete_file_is_refused(tmp_path, network_folder):
    whole = gzip.decompress((network_folder / "asia.bif.gz").read_bytes()).decode()
    (tmp_path / "lawn.bif").write_text(whole.split("probability ( wet")[0])
    with pytest.raises(ValueError, match=r"no probabilities of \['wet'\]"):
        read_bif(tmp_path / "lawn.bif")
