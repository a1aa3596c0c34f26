"""Discrete networks: a BIF file is read as written, and tables have its probabilities."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from golem.experiments.discrete_networks import read_bif

SPRINKLER = """network lawn {
}
variable wet {
  type discrete [ 2 ] { yes, no };
}
variable rain {
  type discrete [ 3 ] { none, some, much };
}
variable sprinkler {
  type discrete [ 2 ] { on, off };
}
probability ( rain ) {
  table 0.7, 0.2, 0.1;
}
probability ( sprinkler | rain ) {
  (none) 0.4, 0.6;
  (some) 0.1, 0.9;
  (much) 0.0, 1.0;
}
probability ( wet | sprinkler, rain ) {
  (on, none) 0.8, 0.2;
  (off, none) 0.0, 1.0;
  (on, some) 0.95, 0.05;
  (off, some) 0.6, 0.4;
  (on, much) 1.0, 0.0;
  (off, much) 0.9, 0.1;
}
"""


def test_a_bif_file_is_read_and_drawn_from(tmp_path):
    (tmp_path / "lawn.bif.gz").write_bytes(gzip.compress(SPRINKLER.encode()))
    network = read_bif(tmp_path / "lawn.bif.gz")
    assert network.names == ("rain", "sprinkler", "wet")
    assert network.adjacency.astype(int).tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    rain, sprinkler, wet = network.sample(40_000, random_state=1).T
    np.testing.assert_allclose(np.bincount(rain) / 40_000, [0.7, 0.2, 0.1], atol=0.01)
    assert np.mean(sprinkler[rain == 1] == 0) == pytest.approx(0.1, abs=0.02)
    assert np.mean(wet[(sprinkler == 1) & (rain == 1)] == 0) == pytest.approx(0.6, abs=0.02)
    assert np.all(wet[(sprinkler == 1) & (rain == 0)] == 1)


def test_an_incomplete_file_is_refused(tmp_path):
    (tmp_path / "lawn.bif").write_text(SPRINKLER.split("probability ( wet")[0])
    with pytest.raises(ValueError, match=r"no probabilities of \['wet'\]"):
        read_bif(tmp_path / "lawn.bif")
