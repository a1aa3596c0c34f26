"""Figures show every number: zeros on logarithmic axes, ties side by side, methods of one figure in colours apart."""

import numpy as np
import pytest

from golem_experiments.analysis import figures
from golem_experiments.analysis.styles import EVIDENCE_STYLES, STYLES
from golem_experiments.bivariate import figure as bivariate_figure
from golem_experiments.identifiable import METHODS as IDENTIFIABLE


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


def test_negative_numbers_are_not_cut_off():
    axes = panel(rows("a", [-5.0, 1.0]) + rows("b", [0.1, 40.0]), "fit_seconds")
    assert axes.get_ylim()[0] < -5
    assert axes.get_yscale() == "linear"


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
    [
        ("fgs", "pc"),
        ("golem-ev-plain", "golem-nv-plain"),
        ("sort-regress-var", "sort-regress-r2"),
        ("flopsearch", "notears-l1"),
    ],
)
def test_methods_of_one_figure_have_colours_apart(first, second):
    assert STYLES[first].color != STYLES[second].color


def test_no_two_methods_of_a_figure_look_alike():
    styles = [STYLES[name] for name in IDENTIFIABLE]
    assert len({(style.color, style.marker, str(style.dashes)) for style in styles}) == len(styles)


def test_kinds_of_evidence_differ_without_colour():
    assert len({style.marker for style in EVIDENCE_STYLES.values()}) == len(EVIDENCE_STYLES)


def test_a_wide_range_makes_an_axis_logarithmic():
    narrow, wide = rows("a", [1.0, 2.0]) + rows("b", [3.0, 4.0]), rows("a", [0.01, 0.02]) + rows("b", [3.0, 4.0])
    assert panel(narrow, "fit_seconds").get_yscale() == "linear"
    axes = panel(wide, "fit_seconds")
    assert axes.get_yscale() == "log"
    labels = [text.get_text() for text in axes.yaxis.get_ticklabels()]
    assert {"0.01", "0.1", "1"} <= set(labels)


def test_numbers_that_explode_are_drawn_as_medians():
    table = [
        row | {"h": value, "d": d}
        for d in (10, 20)
        for row, value in zip(rows("a", [0.0], x=(d,)), (1.0, 3.0, 1e30), strict=True)
    ]
    axes = panel(table, "h", medians=("h",), log_y=("h",))
    (line,) = (container.lines[0] for container in axes.containers)
    assert list(line.get_ydata()) == [3.0, 3.0]
    assert axes.get_title() == "h(B) (median)"


def test_no_line_joins_different_hardware():
    table = [
        row | {"device": "cuda" if row["d"] == 40 else "cpu", "hardware": "GPU" if row["d"] == 40 else "CPU"}
        for row in rows("a", [1.0, 2.0, 3.0, 1.0], x=(10, 20, 30, 40))
    ]

    def pieces(name):
        drawn = figures.Panels((name,), "d", ("graph",), ("a",))(table)
        axes = drawn.axes[0]
        legend = [text.get_text() for text in drawn.legends[0].get_texts()]
        return [len(container.lines[0].get_xdata()) for container in axes.containers], legend[1:]

    both = ["on a GPU", "separate lines: other hardware"]
    assert pieces("fit_seconds") == ([3, 1], both)
    assert pieces("tpr") == ([3, 1], both[1:])


def test_error_bars_that_reach_zero_are_not_drawn_to_the_bottom_of_a_logarithmic_axis():
    table = rows("a", [0.0, 0.0]) + rows("b", [5.0, 5.0])
    for row, value in zip(table, (0.0, 0.0, 3.0), strict=False):
        row["fit_seconds"] = value  # mean 1 and standard error 1
    axes = panel(table, "fit_seconds", log_y=("fit_seconds",))
    bars = axes.containers[0].lines[2][0].get_segments()
    assert bars[0][0, 1] == pytest.approx(1.0)
    assert bars[0][1, 1] == pytest.approx(2.0)


def marks(drawn):
    """Return the numbers of small markers, the counts in the panel, and the last lines of the legend."""
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
    few, stopped = "small: fewer seeds", "runs stopped or failed"
    assert marks(draw(some)) == (1, ["1"], [few, stopped])
    # A size at which all runs were stopped keeps its place on the axis.
    none = [row for row in complete if row not in last] + [row | {"status": "timeout", "tpr": None} for row in last]
    assert marks(draw(none)) == (0, ["3"], [stopped])


def bivariate_row(method, penalty):
    return {"status": "done", "method": method, "penalty": penalty, "ratio": 1.0, "seed": 0, "b0": 1.5,
            "lambda_1": 0.0, "lambda_2": 0.0, "value": 0.0, "stationary": "minimum 1.5 0.0 0.0"}  # fmt: skip


def test_a_missing_panel_has_no_results_unless_it_has_no_points():
    table = [bivariate_row("likelihood-ev", "none"), bivariate_row("likelihood-nv", "dag")]
    texts = [text.get_text() for axes in bivariate_figure(table).axes for text in axes.texts]
    assert texts == ["no results", "a curve of minima"]


@pytest.mark.parametrize("log_x", [False, True])
def test_a_panel_without_rows_says_so(log_x):
    table = rows("a", [1.0, 2.0]) + rows("b", [1.0, 2.0])
    table = [row | {"noise": noise} for row in table for noise in ("gaussian-ev", "gumbel")]
    table += [row | {"graph": "ER4"} for row in table if row["noise"] == "gumbel"]
    drawn = figures.Panels(("tpr",), "d", ("graph",), ("a", "b"), columns="noise", log_x=log_x)(table)
    drawn.canvas.draw()
    texts = [[text.get_text() for text in axes.texts] for axes in drawn.subfigs[0].axes]
    assert texts == [[], [], ["no results"], []]


def test_least_squares_alone_at_another_ratio_are_drawn():
    drawn = bivariate_figure([bivariate_row("least-squares", "none") | {"ratio": 4.0}])
    assert [axes.get_title() for axes in drawn.axes] == ["none"]


def test_hollow_marks_compare_methods_on_the_data_that_all_have_completed():
    draw = figures.Panels(("tpr",), "d", ("graph",), ("a", "b"))
    table = [row | {"seed": seed, "tpr": 1.0 - seed / 10} for seed in range(5) for row in rows("a", [0.0], x=(10,))[:1]]
    table += [row | {"method": "b"} if row["seed"] < 3 else row | {"method": "b", "status": "timeout"} for row in table]
    (axes,) = draw(table).axes
    hollow = [line.get_ydata()[0] for line in axes.lines if line.get_gid() == "common"]
    # b solved the three easy tables; the mean of a over all five is 0.8.
    assert hollow == [pytest.approx(0.9)]
    complete = [row | {"status": "done"} for row in table]
    assert not [line for line in draw(complete).axes[0].lines if line.get_gid() == "common"]
