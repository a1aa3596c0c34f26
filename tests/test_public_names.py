"""Every public name and its import path: a change here is a change for users, and belongs into CHANGELOG.md."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import golem

PUBLIC = {
    "golem": (
        "DataWarning Golem GolemCV Knowledge LinearSEM Moments __version__ baselines bootstrap check compare datasets "
        "diagnose diagnostics difference export_graph fit_file impulse_responses load markov_blanket metrics "
        "next_experiment output plots readers score simulate solvers to_networkx"
    ),
    # Short paths.
    "golem.datasets": "Dataset load_sachs",
    "golem.diagnostics": (
        "LARGEST_REFIT CarriedEdge Diagnosis EdgeAssumptions EdgeLoss EdgeScatter EqualVariances Finding Level "
        "Survival carried_edges certify diagnose drop_losses edge_assumptions edge_loss edge_scatters "
        "equal_variances_test find_outside_intervals outlying_rows standardized_refit survival"
    ),
    "golem.metrics": (
        "EdgeCounts GraphScores as_estimate as_truth count_edges evaluate f1 fdr precision shd shd_c sid tpr"
    ),
    "golem.plots": "plot_check plot_comparison plot_graph plot_model plot_path plot_responses plot_weights",
    "golem.readers": (
        "NamedGraph Paths Table TableFiles environments_from_file moments_from_dask moments_from_file read_covariance "
        "read_graph read_table rows_of shards_from_file"
    ),
    "golem.simulate": (
        "SimulatedEnvironments SimulatedSeries SimulatedTable Simulation erdos_renyi random_dag random_sem "
        "random_weights sample_series scale_free simulate simulate_environments simulate_series simulate_table "
        "single_targets"
    ),
    # Packages whose names users import.
    "golem.assessment.selection": "GolemCV Selection",
    "golem.baselines": "FGS PC DirectLiNGAM Notears SortRegress",
    "golem.comparison": "Comparison compare compare_file difference",
    "golem.estimator": "Golem fit_stacked",
    "golem_experiments": "EXPERIMENTS Experiment Grid Options Summary Task Verdict load run",
    "golem.output": (
        "Supplement effects_on export_graph from_causal_learn from_networkx impulse_responses list_edges load save "
        "summary_graph to_causal_learn to_networkx to_tigramite"
    ),
    "golem.output.report": "report_document report_model write_page",
    "golem.score": (
        "L0 L1 Acyclicity Expm GaussianEV GaussianNV GaussianTied LeastSquares Likelihood LogDet Objective Polynomial "
        "Sparsity"
    ),
    "golem.solvers": "LBFGS Adam AugmentedLagrangian Callback Order Progress Solution Status TracePoint",
    "golem.workflow": "FitResult fit_file repeat_fit",
}
LAYERS = {
    "cli", "studio", "workflow", "comparison", "output", "assessment", "estimator", "baselines", "directions",
    "search", "gradient", "score", "model", "data", "graphs", "runtime",
}  # fmt: skip
# What the short paths re-export.
HOMES_OF_SHORT_PATHS = {
    "golem.assessment.diagnostics", "golem.data.datasets", "golem.graphs.metrics", "golem.model.category_simulation",
    "golem.model.series_simulation", "golem.model.simulation",
}  # fmt: skip
SHORT_PATHS = {"datasets", "diagnostics", "metrics", "plots", "readers", "simulate", "solvers"}


def test_every_module_that_declares_public_names_is_listed():
    found = [info.name for info in pkgutil.walk_packages(golem.__path__, "golem.") if "__main__" not in info.name]
    found.remove("golem.studio.server")  # needs Starlette
    declared = {name for name in found if hasattr(importlib.import_module(name), "__all__")}
    assert declared - HOMES_OF_SHORT_PATHS == set(PUBLIC) - {"golem", "golem_experiments"}


@pytest.mark.parametrize("path", PUBLIC)
def test_the_public_names_are_these(path):
    module = importlib.import_module(path)
    assert sorted(module.__all__) == sorted(PUBLIC[path].split())
    for name in module.__all__:
        assert getattr(module, name) is not None


@pytest.mark.parametrize("path", PUBLIC)
def test_every_public_class_and_function_has_an_example(path):
    values = {name: getattr(importlib.import_module(path), name) for name in PUBLIC[path].split()}
    described = {name: value for name, value in values.items() if inspect.isclass(value) or inspect.isfunction(value)}
    assert not [name for name, value in described.items() if ">>>" not in (inspect.getdoc(value) or "")]


def test_the_top_level_holds_the_layers_and_the_short_paths_alone():
    found = {module.name for module in pkgutil.iter_modules([str(Path(golem.__file__).parent)])}
    assert found == LAYERS | SHORT_PATHS | {"__main__"}


@pytest.mark.parametrize("name", sorted(SHORT_PATHS))
def test_short_paths_define_nothing_of_their_own(name):
    module = importlib.import_module(f"golem.{name}")
    homes = {getattr(getattr(module, public), "__module__", "golem.typing") for public in module.__all__}
    assert f"golem.{name}" not in homes


def test_every_package_says_what_belongs_there():
    for name in LAYERS | SHORT_PATHS:
        assert importlib.import_module(f"golem.{name}").__doc__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        golem.nothing  # noqa: B018
