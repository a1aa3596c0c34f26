"""Figures show every number: zeros on logarithmic axes, ties side by side, methods of one figure in colours apart."""

import numpy as np
import pytest

from golem.experiments.analysis import figures
from golem.experiments.bivariate import figure as bivariate_figure
from golem.experiments.identifiable import METHODS as IDENTIFIABLE


def rows(method, values, x=(10, 20)):
    return [
        {"experiment": "x", "graph": "ER1", "d": d, "method": method, "seed": seed, "status": "done",
         "fit_seconds": value, "tpr": value}
        for d, value in zip(x, values, strict=True)
        for seed in range(3)
    ]  # fmt: skip


def panel(table, name, **more):
    drawn = figures.Panels((name,), "d", ("graph",), ("a", "b"), **more)(table)
    drawn.canvas.draw()
    return drawn.axes[0]


@pytest.mark.parametrize("log_x", [False, True])
def test_a_zero_on_a_logarithmic_axis_is_drawn_in_full(log_x):
    axes = panel(rows("a", [0.0, 5.0]) + rows("b", [0.2, 300.0]), "fit_seconds", log_y=("fit_seconds",), log_x=log_x)
    bottom = axes.transData.transform((10, axes.get_ylim()[0]))[1]
    place = axes.transData.transform((10, 0.0))[1]
    # A marker has a radius of some points.
    assert place - bottom > 4
    assert axes.get_yscale() == "symlog"


def test_markers_at_zero_are_not_cut_off_on_linear_axes():
    axes = panel(rows("a", [0.0, 5.0]) + rows("b", [0.0, 1.0]), "fit_seconds")
    assert axes.get_ylim()[0] < 0


def test_ties_stand_side_by_side():
    axes = panel(rows("a", [1.0, 1.0]) + rows("b", [1.0, 1.0]), "tpr", log_x=True)
    first, second = (np.asarray(container.lines[0].get_xdata()) for container in axes.containers)
    assert np.all(first < second)
    low, high = axes.get_xlim()
    assert low < first.min()
    assert second.max() < high


def test_narrow_logarithmic_axes_have_plain_labels():
    axes = panel(rows("a", [2.0, 5.0]) + rows("b", [1.5, 6.0]), "fit_seconds", log_y=("fit_seconds",))
    labels = [text.get_text() for text in axes.yaxis.get_ticklabels()]
    assert {"2", "5"} <= set(labels)
    assert not any(text.get_text() for text in axes.yaxis.get_ticklabels(minor=True))


@pytest.mark.parametrize(
    ("first", "second"),
    [("fgs", "pc"), ("golem-ev-plain", "golem-nv-plain"), ("sort-regress-var", "sort-regress-r2")],
)
def test_methods_of_one_figure_have_colours_apart(first, second):
    assert figures.STYLES[first].color != figures.STYLES[second].color


def test_no_two_methods_of_a_figure_look_alike():
    styles = [figures.STYLES[name] for name in IDENTIFIABLE]
    assert len({(style.color, style.marker, str(style.dashes)) for style in styles}) == len(styles)


def marks(drawn):
    """Return the numbers of small markers, the texts in the panel, and the last lines of the legend."""
    axes = drawn.axes[0]
    small = sum(sum(line.get_markevery()) for line in axes.lines if line.get_gid() == "few")
    legend = [text.get_text() for text in drawn.legends[0].get_texts()]
    return small, [text.get_text() for text in axes.texts], legend[2:]


def test_missing_runs_are_marked():
    draw = figures.Panels(("tpr",), "d", ("graph",), ("a", "b"))
    complete = rows("a", [1.0, 0.9]) + rows("b", [0.5, 0.4])
    assert marks(draw(complete)) == (0, [], [])
    # b has one of three seeds at d = 20: one was stopped, one never run.
    last = [row for row in complete if row["method"] == "b" and row["d"] == 20]
    some = [row for row in complete if row not in last[1:]] + [last[1] | {"status": "timeout", "tpr": None}]
    few, stopped = "small: fewer seeds", "stopped: time limit or failure"
    assert marks(draw(some)) == (1, ["1 stopped"], [few, stopped])
    # A size at which all runs were stopped keeps its place on the axis.
    none = [row for row in complete if row not in last] + [row | {"status": "timeout", "tpr": None} for row in last]
    assert marks(draw(none)) == (0, ["3 stopped"], [stopped])


def bivariate_row(method, penalty):
    return {"status": "done", "method": method, "penalty": penalty, "ratio": 1.0, "seed": 0, "b0": 1.5,
            "lambda_1": 0.0, "lambda_2": 0.0, "value": 0.0, "stationary": "minimum 1.5 0.0 0.0"}  # fmt: skip


def test_a_missing_panel_is_not_run_unless_it_has_no_points():
    table = [bivariate_row("likelihood-ev", "none"), bivariate_row("likelihood-nv", "dag")]
    texts = [text.get_text() for axes in bivariate_figure(table).axes for text in axes.texts]
    assert texts == ["not run", "a curve of minima"]
