"""Series drawn from structural autoregressions have the covariances that theory gives them."""

import numpy as np
import pytest
from typer.testing import CliRunner

from golem.cli import app
from golem.simulate import sample_series, simulate_series

B = np.array([[0, 0.6], [0, 0]])
A = np.array([[[0.5, 0.2], [0, 0.3]]])


def test_the_covariance_is_the_solution_of_the_lyapunov_equation():
    X = sample_series(B, A, 200_000, units=10_000, random_state=0)
    M = np.linalg.inv(np.eye(2) - B)
    F = A[0] @ M
    S = np.linalg.solve(np.eye(4) - np.kron(F.T, F.T), (M.T @ M).ravel()).reshape(2, 2)
    within = X.reshape(10_000, 20, 2)
    lagged = np.einsum("uti,utj->ij", within[:, :-1], within[:, 1:]) / (10_000 * 19)
    # Intercepts of units have variance 1.
    np.testing.assert_allclose(X.T @ X / len(X), S + np.eye(2), atol=0.1)
    np.testing.assert_allclose(lagged, S @ F + np.eye(2), atol=0.1)


@pytest.mark.parametrize("noise", ["exponential", "gumbel", "gaussian-nv"])
def test_noise_has_mean_zero(noise):
    drawn = simulate_series(3, 4000, noise=noise, units=2000, random_state=1)
    assert np.abs(drawn.data.mean(axis=0)).max() < 0.5
    assert np.bincount(drawn.unit).tolist() == [2] * 2000


def test_random_series_are_stationary_and_have_a_dag_in_each_step():
    for seed in range(20):
        drawn = simulate_series(6, 50, lags=3, graph="ER2", random_state=seed)
        assert np.abs(drawn.data).max() < 1e3
        assert not np.linalg.matrix_power((drawn.present != 0).astype(float), 6).any()
        assert (np.diagonal(drawn.past[0]) > 0).all()


def test_series_that_grow_are_refused():
    with pytest.raises(ValueError, match="not stationary"):
        sample_series(B, 2 * A, 10)
    with pytest.raises(ValueError, match="units"):
        sample_series(B, A, 10, units=11)


def test_the_command_writes_a_panel_that_fit_reads(tmp_path):
    runner = CliRunner()
    folder, found = str(tmp_path / "sim"), str(tmp_path / "fit")
    drawn = runner.invoke(app, ["simulate", "--lags", "1", "--units", "30", "-d", "3", "-n", "900", "-o", folder])
    assert drawn.exit_code == 0, drawn.output
    fitted = runner.invoke(app, ["fit", f"{folder}/data.csv", "--lags", "1", "--unit", "unit", "-o", found])
    assert fitted.exit_code == 0, fitted.output
    scored = runner.invoke(app, ["score", f"{folder}/truth.csv", f"{found}/graph.json", "--json"])
    assert scored.exit_code == 0, scored.output
    shown = runner.invoke(app, ["effects", found, "--on", "x0", "--horizon", "2", "--json"])
    assert '"horizon": 2' in shown.output
    refused = runner.invoke(app, ["simulate", "--units", "3", "-o", str(tmp_path / "no")])
    assert refused.exit_code == 1
