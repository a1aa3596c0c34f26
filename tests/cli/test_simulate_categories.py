"""golem simulate with categories: files that golem reads back as they were drawn."""

import pytest
from typer.testing import CliRunner

from golem.cli import app
from golem.readers import moments_from_file, read_graph
from golem.simulate import simulate_table


def golem(*arguments, expect=0):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == expect, result.output
    return result.output


@pytest.mark.parametrize("mechanism", ["threshold", "logistic", "discrete"])
def test_the_files_are_the_table_and_its_graph(mechanism, tmp_path):
    said = golem("simulate", "-d", 6, "-n", 300, "--categories", mechanism, "--levels", 2, 3, "-o", tmp_path)
    drawn = simulate_table(6, 300, "ER2", mechanism, levels=(2, 3), random_state=0)
    assert f"{drawn.adjacency.sum()} edges (ER2, {mechanism} categories, seed 0)" in said
    found = moments_from_file(tmp_path)  # the truth in the same folder is not data
    kinds = [(v.name, v.kind, set(v.levels)) for v in found.coding.variables]
    assert kinds == [(v.name, v.kind, set(v.levels)) for v in drawn.coding.variables]
    truth = read_graph(tmp_path / "truth.csv")
    assert (truth.aligned(drawn.coding.names).astype(bool) == drawn.adjacency).all()


def test_options_that_do_not_apply_are_refused(tmp_path):
    said = golem("simulate", "--categories", "discrete", "--noise", "gumbel", "-o", tmp_path, expect=1)
    assert "--categories cannot be combined with --noise" in said
    assert "--levels needs --categories" in golem("simulate", "--levels", 2, 3, "-o", tmp_path, expect=1)
