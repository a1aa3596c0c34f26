"""The package as a whole: cheap to import, documentation current."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import golem

ROOT = Path(__file__).parents[1]


def fresh(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_import_brings_no_heavy_packages():
    loaded = fresh("import sys, golem; golem.Golem, golem.LinearSEM, golem.simulate; print(*sys.modules)").split()
    assert not {"torch", "numba", "matplotlib", "gadjid", "typer", "rich", "networkx", "pydot"} & set(loaded)


def test_reading_a_table_of_edges_brings_no_networkx(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    code = "import sys; from golem.readers import read_graph; read_graph(sys.argv[1]); print(*sys.modules)"
    command = [sys.executable, "-c", code, str(tmp_path / "edges.csv")]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert not {"networkx", "pydot"} & set(loaded)


def test_the_cli_reference_is_current():
    generator = ROOT / "docs" / "generate_cli_reference.py"
    spec = importlib.util.spec_from_file_location("generate_cli_reference", generator)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == module.reference(), "run `make docs`"


def test_the_readmes_example_runs(tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    names = {}
    exec(code, names)
    assert names["model"].adjacency_.any()


def test_relative_links_lead_somewhere():
    for page in [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("benchmarks/*.md"),
        *ROOT.glob("results/*.md"),
    ]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_citation_names_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == golem.__version__
    assert {"cff-version", "title", "message", "authors"} <= set(re.findall(r"^([\w-]+):", citation, re.MULTILINE))


def test_the_classifiers_name_the_versions_of_python_that_are_allowed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert min(named, key=lambda version: int(version.split(".")[1])) == project["requires-python"].removeprefix(">=")
