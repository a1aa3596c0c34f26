"""Figure 2 and proposition 1 (section 4.4, appendix E): both objectives of two variables, X1 -> X2.

The claims: B0 is the unique global minimizer of least squares under a hard DAG constraint, and of likelihood-EV under a
soft l1 or DAG penalty; without the constraint least squares is lowest at a cyclic graph. Contours of the objectives,
bare and with the penalties, and all their stationary points, certified and classified (`stationary_points.py`). Seed 0
has the paper's b0 = 1.5 and sigma^2 = 1; the others draw b0 from [-2, -0.5] u [0.5, 2]. Beyond the paper: noise
variances of X2 a quarter and four times that of X1, and likelihood-NV with the penalties.

An l1 penalty of any weight shrinks b, so that B0 itself is a minimizer only in the limit of small weights. The verdict
is on the graph of the minimizer, and states the shrinkage.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from golem.estimator.settings import PAPER_THRESHOLD
from golem.model.simulation import random_weights
from golem.score.likelihood import GaussianEV, GaussianNV, LeastSquares, Likelihood
from golem.score.objective import PAPER_PENALTIES
from golem_experiments.analysis.claims import Finding, Judge, finished, judge, verdicts
from golem_experiments.analysis.line_panels import mark_empty
from golem_experiments.analysis.styles import BLACK, BLUE, GREEN, GREY, VERMILLION
from golem_experiments.analysis.tables import column, distinct, done, metric, where
from golem_experiments.experiment import Experiment, Grid, Row, Table, Task
from golem_experiments.stationary_points import PlaneScore, StationaryPoint, indices, stationary_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OBJECTIVES: dict[str, Likelihood] = {
    "least-squares": LeastSquares(),
    "likelihood-ev": GaussianEV(),
    "likelihood-nv": GaussianNV(),
}
PENALTIES = ("none", "l1", "dag", "l1+dag", "hard-dag")
PAPER_B0 = 1.5
_SAME = 1e-6


def tasks(grid: Grid) -> list[Task]:
    """Return all tasks, without those of bare likelihood-NV, which has a curve of minima."""
    ratios = grid.pick((1.0, 0.25, 4.0), (1.0, 4.0), (1.0,))
    lambda_1, lambda_2 = PAPER_PENALTIES["ev"]
    found = []
    for method in grid.choose_methods(grid.pick(tuple(OBJECTIVES), tuple(OBJECTIVES), tuple(OBJECTIVES)[:2])):
        for penalty in PENALTIES:
            if (method, penalty) == ("likelihood-nv", "none"):
                continue
            for ratio in ratios:
                cell = {
                    "penalty": penalty,
                    "ratio": ratio,
                    "lambda_1": lambda_1 if "l1" in penalty else 0.0,
                    "lambda_2": lambda_2 if penalty in ("dag", "l1+dag") else 0.0,
                    "starts": grid.pick(41, 33, 11),
                }
                found += [Task("bivariate", cell, seed, method) for seed in grid.choose_seeds(quick=2)]
    return found


def true_weight(seed: int) -> float:
    """Return b0: that of the paper for seed 0, otherwise a draw of the simulator."""
    return PAPER_B0 if seed == 0 else float(random_weights(np.ones((1, 1), dtype=bool), seed)[0, 0])


def score(method: str, b0: float, row: Any) -> PlaneScore:
    """Return the score of a cell; X1 has noise variance 1, X2 that of `ratio`."""
    covariance = np.array([[1.0, b0], [b0, b0**2 + row["ratio"]]])
    hard = row["penalty"] == "hard-dag"
    return PlaneScore(covariance, OBJECTIVES[method], row["lambda_1"], row["lambda_2"], hard)


def run(task: Task) -> Row:
    """Find the stationary points and the global minimum."""
    b0 = true_weight(task.seed)
    starts: Any = task.cell["starts"]
    points = stationary_points(score(task.method, b0, task.cell), starts=starts)
    minima = [p for p in points if p.kind == "minimum"]
    best = minima[0]
    return {
        "b0": b0,
        "points": len(points),
        "minima": len(minima),
        "saddles": sum(p.kind == "saddle" for p in points),
        "b": best.b,
        "c": best.c,
        "value": best.value,
        "gap": minima[1].value - best.value if len(minima) > 1 else None,
        "cyclic": best.is_cyclic,
        "distance": math.hypot(best.b - b0, best.c),
        "residual": max(p.residual for p in points),
        "indices": " ".join(map(str, indices(points))),
        "stationary": "; ".join(f"{p.kind} {p.b!r} {p.c!r} {p.value!r}" for p in points),
    }


def read_points(row: Row) -> list[StationaryPoint]:
    """Read the stationary points of a row of the table."""
    points = []
    for part in str(row["stationary"]).split("; "):
        kind, b, c, value = part.split(" ")
        points.append(StationaryPoint(float(b), float(c), float(value), kind, 0.0))
    return points


def figure(table: Table) -> Figure:
    """Draw contours and the stationary points of seed 0: objectives and ratios down, penalties across."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    table = done(table)
    table = where(table, seed=min(distinct(table, "seed")))
    ratios, alike = (distinct(rows, "ratio") for rows in (table, where(table, method="least-squares")))
    # Least squares look the same for all variances.
    shown = {"least-squares": [1.0] if 1.0 in alike else alike[:1]}
    lines = [(method, ratio) for method in distinct(table, "method") for ratio in shown.get(method, ratios)]
    penalties = [name for name in PENALTIES if where(table, penalty=name)]
    whole = Figure(figsize=(2.3 * len(penalties) + 0.4, 2.2 * len(lines) + 0.9), layout="constrained")
    grid: Any = whole.subplots(len(lines), len(penalties), squeeze=False, sharex=True, sharey=True)
    for i, (method, ratio) in enumerate(lines):
        for j, penalty in enumerate(penalties):
            axes, rows = grid[i, j], where(table, method=method, ratio=ratio, penalty=penalty)
            if rows:
                _draw_contours(axes, method, rows[0])
            else:
                known = (method, penalty) == ("likelihood-nv", "none")
                mark_empty(axes, *(["a curve of minima"] if known else []))
            axes.tick_params(labelsize=8)
            if i == 0:
                axes.set_title(penalty, fontsize=10)
            if j == 0:
                axes.set_ylabel(f"{method}\nnoise variances 1 : {ratio:g}\nc  (X2 → X1)", fontsize=9)
            if i == len(lines) - 1:
                axes.set_xlabel("b  (X1 → X2)", fontsize=9)
    names = {"star": "true graph B0", "minimum": "minimum", "saddle": "saddle", "global": "global minimum"}
    handles = [Line2D([], [], linestyle="", label=label, **_marker(kind)) for kind, label in names.items()]
    handles.append(Line2D([], [], color=GREY, linestyle=":", label="bc = 1, the pole of the likelihoods"))
    whole.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False, fontsize=9)
    return whole


def _marker(kind: str) -> dict[str, Any]:
    shapes: dict[str, dict[str, Any]] = {
        "star": {"marker": "*", "color": BLACK, "markersize": 13},
        "global": {"marker": "o", "color": VERMILLION, "markersize": 13, "markerfacecolor": "none", "mew": 1.8},
        "minimum": {"marker": "o", "color": BLUE, "markersize": 6.5},
        "saddle": {"marker": "^", "color": GREEN, "markersize": 7.5},
    }
    return shapes.get(kind, {"marker": "x", "color": GREY})


def _draw_contours(axes: Axes, method: str, row: Row) -> None:
    """Draw one panel; lighter is lower."""
    from matplotlib.colors import BoundaryNorm

    b0 = float(row["b0"] or 0)
    reach = 4.0
    ticks = np.linspace(-reach, reach, 161)
    plane = np.stack(np.meshgrid(ticks, ticks), axis=-1)
    with np.errstate(divide="ignore"):
        height = score(method, b0, row).value(plane)
    lowest = float(height.min())
    # Levels in equal ratios show both the bottom and the walls.
    steps = np.geomspace(0.03, max(0.3, float(np.quantile(height, 0.9)) - lowest), 14)
    shades = BoundaryNorm([lowest, *(lowest + steps)], 256, extend="max")
    # The shades are an image: filled contours would make an SVG of many megabytes.
    axes.imshow(height, cmap="YlGnBu", norm=shades, alpha=0.75, origin="lower", extent=(-reach, reach, -reach, reach))
    axes.contour(ticks, ticks, height, levels=lowest + steps[::2], colors=BLACK, linewidths=0.4, alpha=0.55)
    if method != "least-squares":
        for branch in (ticks[ticks > 1 / reach], ticks[ticks < -1 / reach]):
            axes.plot(branch, 1 / branch, color=GREY, linestyle=":", linewidth=1)
    if row["penalty"] == "hard-dag":
        axes.axhline(0, color=BLACK, linewidth=1.6)
        axes.axvline(0, color=BLACK, linewidth=1.6)
    axes.plot(b0, 0, linestyle="", zorder=4, **_marker("star"))
    points = [p for p in read_points(row) if max(abs(p.b), abs(p.c)) <= reach]
    for p in points:
        axes.plot(p.b, p.c, linestyle="", zorder=3, **_marker(p.kind))
        if p.kind == "minimum" and p.value <= float(row["value"] or 0) + _SAME:
            axes.plot(p.b, p.c, linestyle="", zorder=5, **_marker("global"))
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    axes.set_aspect("equal")


def _is_truth(rows: Table) -> Iterable[Finding]:
    """Check that the global minimizer is B0, and the next minimum higher."""
    distance = max(metric(row, "distance") for row in rows)
    gap = min(metric(row, "gap") for row in rows)
    residual = max(*(metric(row, "residual") for row in rows), 1e-16)
    text = (
        f"{len(rows)} values of b0: the global minimizer is within {distance:.1e} of B0, and the next minimum is "
        f"higher by {gap:.3g} or more; gradients at stationary points are below {residual:.0e}"
    )
    yield text, distance < _SAME and gap > _SAME


@judge(select=finished(ratio=1.0, method="least-squares", penalty="none"))
def _cyclic_least_squares(rows: Table) -> Iterable[Finding]:
    away = 0.0
    for row in rows:
        b, c, b0 = (metric(row, name) for name in ("b", "c", "b0"))
        away = max(away, math.hypot(b - b0, c - b0 / (b0**2 + 1)))
    cyclic = sum(column(rows, "cyclic"))
    text = f"Cyclic for {cyclic} of {len(rows)} values of b0, the only stationary point, within {away:.1e} of that"
    yield text, cyclic == len(rows) and away < _SAME and set(column(rows, "points")) == {1}


@judge(select=finished(ratio=1.0, method="likelihood-ev", penalty="l1"))
def _shrunk_truth(rows: Table) -> Iterable[Finding]:
    right = sum(not row["cyclic"] and row["b"] != 0 for row in rows)
    shrinkage = max(metric(row, "distance") for row in rows)
    gap = min(metric(row, "gap") for row in rows)
    text = (
        f"With lambda_1 = {rows[0]['lambda_1']}: the global minimizer has c = 0 and b != 0 for {right} of {len(rows)} "
        f"values of b0, and the next minimum is higher by {gap:.3g} or more. The penalty shrinks b by up to "
        f"{shrinkage:.3g}, so B0 itself is the minimizer only in the limit of a small weight"
    )
    yield text, right == len(rows) and gap > _SAME


@judge(select=finished(ratio=1.0, method="likelihood-ev", penalty="none"))
def _three_points(rows: Table) -> Iterable[Finding]:
    away, tie, kinds = 0.0, 0.0, True
    for row in rows:
        b0, points = metric(row, "b0"), read_points(row)
        kinds &= [p.kind for p in points] == ["minimum", "minimum", "saddle"]
        expected = [(b0, 0.0), ((b0**2 + 2) / b0, 2 / b0), (-2 / b0, 2 / b0)]
        away = max(away, *(min(math.hypot(p.b - b, p.c - c) for p in points) for b, c in expected))
        tie = max(tie, abs(points[1].value - points[0].value))
    text = (
        f"{len(rows)} values of b0: {'two minima and a saddle each' if kinds else 'other points'}, within {away:.1e} "
        f"of the closed forms; the two minima differ by {tie:.0e} in value"
    )
    yield text, kinds and away < _SAME and tie < _SAME


def _thresholded(rows: Table) -> str:
    """State which edges of the global minimizers are left after the threshold."""
    kept = [tuple(abs(metric(row, name)) >= PAPER_THRESHOLD for name in ("b", "c")) for row in rows]
    return (
        f"after thresholding at {PAPER_THRESHOLD} they are X1 -> X2 in {kept.count((True, False))}, reversed in "
        f"{kept.count((False, True))}, cyclic in {kept.count((True, True))}"
    )


@judge(
    "least-squares",
    "likelihood-ev",
    title="Cyclic global minimizers with the soft penalties l1, DAG or both",
    select=finished(ratio=1.0, penalty=("l1", "dag", "l1+dag")),
)
def _soft_is_enough(rows: Table) -> Iterable[Finding]:
    squares, likelihood = (where(rows, method=name) for name in ("least-squares", "likelihood-ev"))
    cyclic = sum(column(squares, "cyclic"))
    text = (
        f"least squares {cyclic} of {len(squares)} ({_thresholded(squares)}; the claim is on the minimizer before that)"
    )
    yield text, cyclic == len(squares)
    cyclic, complete = sum(column(likelihood, "cyclic")), len(where(likelihood, indices="1 1 1"))
    text = (
        f"likelihood-EV {cyclic} of {len(likelihood)}. No stationary point is missing in {complete} of these "
        "scores: they grow in all directions, and minima minus saddles are 1 in each part of the plane"
    )
    yield text, cyclic == 0


@judge(select=finished(method="likelihood-ev"))
def _unequal(rows: Table) -> Iterable[Finding]:
    rows = [row for row in rows if row["ratio"] != 1.0]
    bare, soft = where(rows, penalty="none"), where(rows, penalty="l1+dag")
    if bare:
        away = min(metric(row, "distance") for row in bare)
        text = (
            f"{len(bare)} scores with variances 1 : {', '.join(f'{r:g}' for r in distinct(bare, 'ratio'))}: the global "
            f"minimizer of bare likelihood-EV is at least {away:.2g} away from B0, and cyclic in "
            f"{sum(column(bare, 'cyclic'))}. With both penalties {sum(column(soft, 'cyclic'))} of {len(soft)} "
            f"minimizers are cyclic; {_thresholded(soft)}"
        )
        yield text, away > _SAME


@judge(select=finished(method="likelihood-nv", penalty="l1+dag"))
def _free_variances(rows: Table) -> Iterable[Finding]:
    weights = [(abs(metric(row, "b")), abs(metric(row, "c"))) for row in rows]
    reversed_edges, cyclic = sum(c > b for b, c in weights), sum(column(rows, "cyclic"))
    text = (
        f"{len(rows)} scores: {cyclic} minimizers with both edges, the smaller weight at most "
        f"{max(map(min, weights)):.2g}; X2 -> X1 is the larger one in {reversed_edges}. The l1 penalty prefers the "
        "smaller weight, whatever the truth"
    )
    yield text, cyclic == 0 and reversed_edges > 0


CLAIMS = {
    "Proposition 1(a): B0 is the unique global minimizer of least squares under a hard DAG constraint.": Judge(
        _is_truth, select=finished(ratio=1.0, method="least-squares", penalty="hard-dag")
    ),
    "Proposition 1(a): without the DAG constraint least squares returns a cyclic graph, at c = b0 / (b0^2 + "
    "1).": _cyclic_least_squares,
    "Proposition 1(b): B0 is the unique global minimizer of likelihood-EV with a soft DAG penalty.": Judge(
        _is_truth, select=finished(ratio=1.0, method="likelihood-ev", penalty="dag")
    ),
    "Proposition 1(b): B0 is the unique global minimizer of likelihood-EV with a soft l1 penalty.": _shrunk_truth,
    "Appendix E: bare likelihood-EV has three stationary points: B0 and a cyclic graph, minima of the same value, and "
    "a saddle.": _three_points,
    "Section 4.4: a soft penalty is enough for the likelihood, but not for least squares, which never returns a "
    "DAG.": _soft_is_enough,
    "Beyond the paper: if the noise variances are not equal, B0 is not a minimizer of likelihood-EV.": _unequal,
    "Beyond the paper: with free variances (likelihood-NV) and both penalties the minimizer is acyclic, but may be the "
    "reversed graph.": _free_variances,
}
EXPERIMENT = Experiment(
    "bivariate", "Figure 2, proposition 1", tuple(CLAIMS), tasks, run, figure, verdicts(CLAIMS), has_sizes=False
)
