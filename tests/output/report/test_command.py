"""The command of a page is that of the fit: typed again, it gives the same settings."""

from __future__ import annotations

import json

import numpy as np
from typer.testing import CliRunner

from golem.cli import app
from golem.graphs.formats import read_graph_document
from golem.output.report.command import fit_words


def test_the_words_repeat_the_fit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).normal(size=(60, 3)).cumsum(axis=1)
    rows[7, 2] = -9
    lines = ['a,"b,c",d,e', *(",".join([*map(str, row), "text"]) for row in rows)]
    (tmp_path / "my data.csv").write_text("\n".join(lines))
    first = ["my data.csv", "--noise", "nv", "--lambda-sparsity", "0.05", "--time-limit", "9", "--seed", "4", "--drop"]
    CliRunner().invoke(app, ["fit", *first, "e", "--na", "-9", "--missing", "drop", "-o", "one", "-q"])
    words = fit_words(read_graph_document(tmp_path / "one" / "graph.json"))
    result = CliRunner().invoke(app, ["fit", *words, "-o", "two", "-q"])
    assert result.exit_code == 0, result.output
    one, two = (json.loads((tmp_path / name / "graph.json").read_text()) for name in ("one", "two"))
    for key in ("settings", "data", "edge_table"):
        assert one[key] == two[key]
