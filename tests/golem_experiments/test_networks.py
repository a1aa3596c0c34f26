"""Networks in files: what is read, and what is said where they are missing."""

import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest

from golem.simulate import random_sem
from golem_experiments import Grid, load
from golem_experiments.network_files import FOLDER_VARIABLE, digest, network_file, read_network
from golem_experiments.networks import NETWORKS, draw


def test_a_network_is_read_as_it_was_written(network_folder):
    expected = random_sem(7, "ER1", "gaussian-nv", random_state=1)
    sem = read_network(network_folder / "magic-niab.json")
    np.testing.assert_allclose(sem.weights, expected.weights)
    np.testing.assert_allclose(sem.noise_variances, expected.noise_variances)
    assert sem.names[0] == "gene 0"


def test_a_file_that_is_no_network_is_refused(tmp_path):
    for text in ("{", "{}", '{"nodes": ["a"], "cpds": {"b": {}}}'):
        (tmp_path / "x.json").write_text(text)
        with pytest.raises(ValueError, match=r"x\.json is not a linear Gaussian network"):
            read_network(tmp_path / "x.json")


def test_a_missing_file_is_named_with_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    with pytest.raises(ValueError, match=r"ecoli70.*pip install --no-deps pgmpy.*GOLEM_NETWORKS"):
        load("networks").tasks(Grid())


def test_an_installed_pgmpy_is_found_without_importing_it(tmp_path, monkeypatch, network_folder):
    monkeypatch.delenv(FOLDER_VARIABLE)
    models = tmp_path / "utils" / "example_models"
    models.mkdir(parents=True)
    (models / "arth150.json").write_bytes((network_folder / "arth150.json").read_bytes())
    spec = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec if name == "pgmpy" else None)
    assert network_file("arth150") == models / "arth150.json"
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="not shipped"):
        network_file("arth150")


def test_tasks_know_their_file_and_columns_change_no_draw(network_folder):
    tasks = load("networks").tasks(Grid(seeds=1, methods=("pc",)))
    assert {task.cell["network"] for task in tasks} == set(NETWORKS)
    assert tasks[0].cell["file"] == digest(network_folder / "ecoli70.json")
    raw, standardized = (next(t for t in tasks if t.cell["columns"] == c) for c in ("raw", "standardized"))
    X, Z = draw(raw)[1], draw(standardized)[1]
    np.testing.assert_allclose((X - X.mean(axis=0)) / X.std(axis=0), Z)
    assert [t.cell["network"] for t in load("networks").tasks(Grid(seeds=1, sizes=(7,), methods=("pc",)))] == [
        "magic-niab"
    ] * 6


def made(method, shd_c, bic, n=1000, seeds=5):
    return [
        {"experiment": "networks", "network": "ecoli70", "columns": "raw", "d": 10, "n": n, "steps": 100_000,
         "method": method, "seed": seed, "status": "done", "shd_c": shd_c + seed % 2, "excess_bic": bic + 0.1 * seed}
        for seed in range(seeds)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("free", "few", "bic", "holds"),
    [(2, 9, -5.0, [True, True]), (9, 1, 5.0, [False, False]), (2, 2, -0.2, [None, None])],
)
def test_the_verdicts_follow_the_rows(free, few, bic, holds):
    table = made("order-nv", free, bic) + made("order-nv", few, bic, n=300)
    judge = load("networks").verdicts
    assert [judge(table)[k].holds for k in (2, 5)] == holds
    assert [judge([row for row in table if row["seed"] == 0])[k].holds for k in (2, 5)] == [None, None]


@pytest.mark.parametrize(("more", "holds"), [(0, True), (5, False)])
def test_a_choice_that_costs_nothing_is_within_the_margin(more, holds):
    table = made("order-nv", 2, 0.0) + made("order", 2 + more, 0.0)
    assert load("networks").verdicts(table)[4].holds is holds


def test_flopsearch_is_compared_at_both_of_its_penalties():
    table = made("order-nv", 2, 0.0) + made("flopsearch", 3, 0.0)
    verdict = load("networks").verdicts(table)[6]
    assert verdict.holds is None
    assert "Not run: flopsearch-mbic" in verdict.measured
    assert load("networks").verdicts(table + made("flopsearch-mbic", 2, 0.0))[6].holds is True
    assert load("networks").verdicts(table + made("flopsearch-mbic", 0, 0.0))[6].holds is False


def test_a_package_that_is_not_installed_is_left_out_unless_it_is_asked_for(network_folder, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    methods = {task.method for task in load("networks").tasks(Grid(seeds=1))}
    assert "order-nv" in methods
    assert not any(name.startswith("flopsearch") for name in methods)
    with pytest.raises(ValueError, match=r"'flopsearch' needs another package\. Install it with pip install flop"):
        load("networks").tasks(Grid(methods=("flopsearch",)))
