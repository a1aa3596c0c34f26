"""The examples of the API reference that other tests skip run here: they need files, child processes or packages."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import golem
from golem.simulate import simulate

spec = importlib.util.spec_from_file_location("site_pages", Path(__file__).parents[2] / "docs" / "site_pages.py")
site_pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(site_pages)
SKIPPED = "  # doctest: +SKIP"
OBJECTS = {
    f"{path}.{name}": getattr(importlib.import_module(path), name)
    for path, names in site_pages.public_names().items()
    for name in names
}
EXAMPLES = {name: inspect.getdoc(value) for name, value in OBJECTS.items() if site_pages.is_described(value)}


@pytest.mark.site
def test_every_public_class_and_function_has_an_example():
    assert not [name for name, text in EXAMPLES.items() if ">>>" not in text]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write the files that examples read: data.csv, truth.csv and out/graph.json."""
    drawn = simulate(5, 500, "ER1", random_state=1)
    names = ",".join(drawn.sem.names)
    np.savetxt(tmp_path / "data.csv", drawn.data, delimiter=",", header=names, comments="")
    golem.export_graph(drawn.sem, tmp_path / "truth.csv")
    golem.fit_file(tmp_path / "data.csv", tmp_path / "out", diagnose=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.site
@pytest.mark.parametrize("name", [name for name, text in EXAMPLES.items() if SKIPPED in text])
def test_examples_with_files_and_packages_run(name, files):
    text = EXAMPLES[name]
    for package in re.findall(r"import (dask)|(causal)_learn", text):
        pytest.importorskip("".join(package).replace("causal", "causallearn"))
    test = doctest.DocTestParser().get_doctest(text.replace(SKIPPED, ""), {}, name, None, 0)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0
