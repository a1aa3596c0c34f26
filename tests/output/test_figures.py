"""Figures: what is drawn is what was learned."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

from golem import Golem, GolemCV, plots
from golem.comparison.other_packages import Estimate
from golem.comparison.result import Comparison, Row
from golem.output import figures
from golem.output.edge_list import list_edges
from golem.plots import plot_comparison, plot_graph, plot_model, plot_weights
from golem.simulate import simulate


@pytest.fixture(scope="module")
def model():
    return Golem("nv").fit(simulate(7, 500, "ER1", random_state=1).data)


def test_a_graph_has_an_arrow_an_edge_and_a_label_a_node(model):
    ax = model.plot()
    assert len(ax.patches) == model.adjacency_.sum()
    assert {text.get_text() for text in ax.texts} == set(model.moments_.names)
    lines = sum(type(patch.get_arrowstyle()).__name__ == "Curve" for patch in ax.patches)
    assert lines == model.undecided_.sum()
    assert 0 < lines < len(ax.patches)
    plt.close(ax.figure)


def test_the_legend_explains_links_only_if_there_are_any(model):
    labels = {text.get_text() for text in model.plot().get_legend().get_texts()}
    assert labels == {"positive", "negative", "sign open", "arrow: from cause to effect", "line: direction open"}
    rows = simulate(2, 500, "ER1", random_state=1).data
    arrows = Golem(knowledge={"required": [("a", "b")]}).fit(pd.DataFrame(rows, columns=["a", "b"]))
    assert {text.get_text() for text in arrows.plot().get_legend().get_texts()} == {"positive", "negative"}
    plt.close("all")


def test_arrows_begin_and_end_at_boxes(model):
    ax = model.plot()
    ax.figure.canvas.draw()
    boxes = {text.get_text(): text.get_bbox_patch().get_window_extent() for text in ax.texts}
    names = model.moments_.names
    for (i, j), patch in zip(np.argwhere(model.adjacency_), ax.patches, strict=True):
        points = ax.transData.transform(patch._path_original.vertices)  # with the head, the drawn path ends earlier
        for (x, y), box, edge in ((points[0], boxes[names[i]], "y0"), (points[-1], boxes[names[j]], "y1")):
            assert box.x0 <= x <= box.x1
            assert abs(y - getattr(box, edge)) < 3  # pixels
    plt.close(ax.figure)


def test_a_given_axes_is_used(model):
    figure, ax = plt.subplots()
    assert plot_graph(model, ax=ax) is ax
    plt.close(figure)


def test_weights_in_causal_order_lie_above_the_diagonal_and_those_of_links_on_both_sides(model):
    ax = plot_weights(model)
    image = np.asarray(ax.images[0].get_array())
    assert np.count_nonzero(np.triu(image)) == model.adjacency_.sum()
    below = np.tril(image)
    assert np.count_nonzero(below) == model.undecided_.sum()
    np.testing.assert_array_equal(below[below != 0], image.T[below != 0])
    plt.close(ax.figure)


def test_the_weights_of_a_very_large_graph_are_points(model, monkeypatch):
    monkeypatch.setattr(figures, "LARGEST_HEAT_MAP", 3)
    ax = plot_weights(model)
    (points,) = ax.collections[:1]
    x, y = points.get_offsets().T
    assert np.sum(y > x) == model.undecided_.sum()  # effects come after causes; links are on both sides
    sizes = [edge.standardized_weight for edge in list_edges(model)]
    np.testing.assert_allclose(np.sort(np.asarray(points.get_array())[y < x]), np.sort(sizes))
    plt.close(ax.figure)


def test_a_large_graph_is_drawn_as_its_weights():
    data = simulate(61, 400, "ER1", random_state=0).data
    ax = plot_model(Golem("ev").fit(data))
    assert len(ax.images) == 1
    plt.close(ax.figure)


def test_an_empty_graph_can_be_drawn():
    X = np.random.default_rng(0).normal(size=(500, 4))
    ax = Golem("ev").fit(X).plot()
    assert len(ax.patches) == 0
    plt.close(ax.figure)


def test_dollars_in_names_are_dollars(tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = Golem().fit(pd.DataFrame(X, columns=["$x_$", "US$", "a$\\frac$b"]))
    for plot in (plot_graph, plot_weights):
        ax = plot(model)
        ax.figure.savefig(tmp_path / "graph.png")
        plt.close(ax.figure)


def test_a_comparison_has_a_bar_a_method_and_a_cell_a_pair():
    graph = np.triu(np.ones((3, 3), dtype=bool), k=1)
    estimates = {name: Estimate(graph, False, graph) for name in ("pc", "fgs")}
    rows = (Row("pc", edges=3, seconds=0.1, shd=2.0, shd_c=1.0), Row("fgs", edges=3, seconds=2.0), Row("dagma"))
    figure = plot_comparison(Comparison(("x", "y", "z"), rows, estimates, None, {}))
    bars, times, pairs = figure.axes[:3]
    assert [label.get_text() for label in bars.get_yticklabels()] == ["fgs", "pc"]
    assert len(times.patches) == 2
    assert len(pairs.texts) == 4
    with_truth = plot_comparison(Comparison(("x", "y", "z"), rows, estimates, graph, {}))
    assert len(with_truth.axes[0].patches) == 4
    assert len(with_truth.axes[2].texts) == 9
    nothing = plot_comparison(Comparison(("x", "y", "z"), rows[2:], {}, None, {}))
    assert not nothing.axes[2].texts


@pytest.mark.parametrize(("base", "select"), [(Golem("ev"), "bic"), (Golem("ev"), "cv"), (Golem("ev", "lbfgs"), "bic")])
def test_a_path_shows_every_point_and_the_choice(base, select):
    thresholds = {} if base.solver == "order" else {"threshold": [0.3, "lr"], "lambda_sparsity": [0.02, 0.1]}
    model = GolemCV(base, select, **thresholds).fit(simulate(6, 200, "ER1", random_state=0).data)
    ax = plots.plot_path(model.selection_)
    chosen = next(row for row in model.path_ if row["chosen"])
    drawn = {(x, y) for line in ax.get_lines() for x, y in zip(*line.get_data(), strict=True)}
    penalty = "edge_penalty" if base.solver == "order" else "lambda_sparsity"
    assert {(row[penalty], row["score"]) for row in model.path_} <= drawn
    assert (chosen[penalty], chosen["score"]) == tuple(ax.get_lines()[-1].get_xydata()[0])
    assert (ax.get_legend() is None) == (base.solver == "order")
