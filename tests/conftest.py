"""Shared fixtures: random problems, small and reproducible."""

from __future__ import annotations

import functools
import itertools
import os
import shutil

# The test processes share the cores; threads of BLAS or torch in each would only get in each other's way.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np
import pytest

from golem.data.moments import Moments
from golem.graphs.dag import cpdag, is_dag
from golem.simulate import simulate


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def problem():
    """Make a simulation and its moments by size, graph, noise and seed."""

    def make(d=8, graph="ER1", noise="gaussian-ev", seed=0, n=400):
        drawn = simulate(d, n, graph, noise, random_state=seed)
        return drawn, Moments.from_rows(drawn.data)

    return make


@pytest.fixture
def methods_here():
    """Run the methods of a comparison in this process."""
    from methods_here import methods_here

    with methods_here():
        yield


@pytest.fixture(scope="session")
def all_dags():
    """Every DAG on d labelled nodes, d <= 4, as boolean matrices."""

    @functools.cache
    def make(d):
        pairs = [(i, j) for i in range(d) for j in range(i + 1, d)]
        found = []
        for states in itertools.product((0, 1, 2), repeat=len(pairs)):
            adjacency = np.zeros((d, d), dtype=bool)
            for (i, j), state in zip(pairs, states, strict=True):
                if state == 1:
                    adjacency[i, j] = True
                elif state == 2:
                    adjacency[j, i] = True
            if is_dag(adjacency):
                found.append(adjacency)
        return found

    return make


@pytest.fixture(scope="session")
def members(all_dags):
    """Every member of the equivalence class of a DAG on d <= 4 nodes, also given as its CPDAG."""

    @functools.cache
    def classes(d):
        found = {}
        for dag in all_dags(d):
            found.setdefault(cpdag(dag).tobytes(), []).append(dag)
        return found

    def make(graph):
        by_class = classes(len(graph))
        return by_class.get(graph.tobytes()) or by_class[cpdag(graph).tobytes()]

    return make


@pytest.fixture(scope="session")
def browser():
    """Return one Chromium for all tests of a process: Playwright cannot start a second time in it."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: make test-browser")
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("there is no Chromium: make test-browser installs it on Debian")
    with driver.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()
