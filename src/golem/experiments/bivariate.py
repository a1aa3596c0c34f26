"""Figure 2 and proposition 1 (section 4.4, appendix E): both objectives of two variables, X1 -> X2.

The claims: B0 is the unique global minimizer of least squares under a hard DAG constraint, and of likelihood-EV under a
soft l1 or DAG penalty; without the constraint least squares is lowest at a cyclic graph. Contours of the objectives,
bare and with the penalties, and all their stationary points, certified and classified (`stationary_points.py`). Seed 0
has the paper's b0 = 1.5 and sigma^2 = 1; the others draw b0 from [-2, -0.5] u [0.5, 2]. Beyond the paper: the noise
variance of X2 a quarter and four times that of X1, and likelihood-NV with the penalties.

An l1 penalty of any weight shrinks b, so that B0 itself is a minimizer only in the limit of small weights: the
graph of the minimizer is judged, and the shrinkage is told.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from golem.estimator.settings import PAPER_THRESHOLD
from golem.experiments.analysis.figures import BLACK, BLUE, GREEN, GREY, VERMILLION
from golem.experiments.analysis.tables import distinct, done, where
from golem.experiments.engine.task import Grid, Row, Task
from golem.experiments.experiment import Experiment, Table, Verdict, not_run
from golem.experiments.stationary_points import PlaneScore, StationaryPoint, indices, stationary_points
from golem.model.simulation import random_weights
from golem.score.likelihood import GaussianEV, GaussianNV, LeastSquares, Likelihood
from golem.score.objective import PAPER_PENALTIES

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
CLAIMS = (
    "Proposition 1(a): B0 is the unique global minimizer of least squares under a hard DAG constraint.",
    "Proposition 1(a): without the DAG constraint least squares returns a cyclic graph, at c = b0 / (b0^2 + 1).",
    "Proposition 1(b): B0 is the unique global minimizer of likelihood-EV with a soft DAG penalty.",
    "Proposition 1(b): B0 is the unique global minimizer of likelihood-EV with a soft l1 penalty.",
    "Appendix E: bare likelihood-EV has three stationary points: B0 and a cyclic graph, minima of the same value, and "
    "a saddle.",
    "Section 4.4: a soft penalty is enough for the likelihood and not for least squares, which never returns a DAG.",
    "Beyond the paper: where the noise variances are not equal, B0 is no minimizer of likelihood-EV.",
    "Beyond the paper: with free variances (likelihood-NV) and both penalties the minimizer is acyclic, but may be the "
    "reversed graph.",
)
_SAME = 1e-6


def tasks(grid: Grid) -> list[Task]:
    """All objectives, penalties and ratios of noise variances; bare likelihood-NV has a curve of minima, and is out."""
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
    """Return b0: the paper's for seed 0, else one of the simulator's."""
    return PAPER_B0 if seed == 0 else float(random_weights(np.ones((1, 1), dtype=bool), seed)[0, 0])


def score(method: str, b0: float, row: Any) -> PlaneScore:
    """Return the score of a cell; X1 has noise variance 1, X2 that of `ratio`."""
    covariance = np.array([[1.0, b0], [b0, b0**2 + row["ratio"]]])
    hard = row["penalty"] == "hard-dag"
    return PlaneScore(covariance, OBJECTIVES[method], row["lambda_1"], row["lambda_2"], hard)


def run(task: Task) -> Row:
    """Find the stationary points, and tell which is the global minimum."""
    b0 = true_weight(task.seed)
    starts: Any = task.cell["starts"]
    points = stationary_points(score(task.method, b0, task.cell), starts=starts)
    minima = [p for p in points if p.kind == "minimum"]
    best = minima[0]
    kinds = [p.kind for p in points]
    return {
        "b0": b0,
        "points": len(points),
        "minima": len(minima),
        "saddles": kinds.count("saddle"),
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
    """Draw contours: objectives and ratios down, penalties across, with the stationary points of seed 0."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    table = done(table)
    table = where(table, seed=min(distinct(table, "seed")))
    # Least squares look alike whatever the variances.
    lines = [
        (method, ratio)
        for method in distinct(table, "method")
        for ratio in distinct(table, "ratio")
        if method != "least-squares" or ratio == 1.0
    ]
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
                axes.text(0, 0, "a curve of minima" if known else "not run", ha="center", color=GREY, fontsize=9)
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
    # Of equal ratio: the bottom and the walls both have their lines.
    steps = np.geomspace(0.03, max(0.3, float(np.quantile(height, 0.9)) - lowest), 14)
    levels = [lowest, *(lowest + steps)]
    shades = BoundaryNorm(levels, 256, extend="max")
    # The shades are an image: as filled curves they would make an SVG of many megabytes.
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


def verdicts(table: Table) -> list[Verdict]:
    """Judge proposition 1 and what appendix E says on the way."""
    table = done(table)
    equal = where(table, ratio=1.0)
    squares, likelihood = where(equal, method="least-squares"), where(equal, method="likelihood-ev")
    return [
        _is_truth(CLAIMS[0], where(squares, penalty="hard-dag")),
        _cyclic_least_squares(where(squares, penalty="none")),
        _is_truth(CLAIMS[2], where(likelihood, penalty="dag")),
        _shrunk_truth(where(likelihood, penalty="l1")),
        _three_points(where(likelihood, penalty="none")),
        _soft_is_enough(squares, likelihood),
        _unequal([row for row in where(table, method="likelihood-ev") if row["ratio"] != 1.0]),
        _free_variances(where(table, method="likelihood-nv", penalty="l1+dag")),
    ]


def _number(row: Row, name: str) -> float:
    value = row[name]
    return math.nan if value is None else float(value)


def _is_truth(claim: str, rows: Table) -> Verdict:
    """Tell whether the global minimizer is B0, and the next minimum higher."""
    if not rows:
        return not_run(claim)
    distance = max(_number(row, "distance") for row in rows)
    gap = min(_number(row, "gap") for row in rows)
    measured = (
        f"{len(rows)} values of b0: the global minimizer is within {distance:.1e} of B0, and the next minimum is "
        f"higher by {gap:.3g} or more; gradients at stationary points are below {_residual(rows):.0e}."
    )
    return Verdict(claim, measured, distance < _SAME and gap > _SAME)


def _residual(rows: Table) -> float:
    return max(max(_number(row, "residual") for row in rows), 1e-16)


def _cyclic_least_squares(rows: Table) -> Verdict:
    if not rows:
        return not_run(CLAIMS[1])
    away = max(
        math.hypot(_number(r, "b") - _number(r, "b0"), _number(r, "c") - _number(r, "b0") / (_number(r, "b0") ** 2 + 1))
        for r in rows
    )
    cyclic = sum(bool(row["cyclic"]) for row in rows)
    measured = f"Cyclic for {cyclic} of {len(rows)} values of b0, the only stationary point, within {away:.1e} of that."
    return Verdict(CLAIMS[1], measured, cyclic == len(rows) and away < _SAME and all(r["points"] == 1 for r in rows))


def _shrunk_truth(rows: Table) -> Verdict:
    if not rows:
        return not_run(CLAIMS[3])
    right = [row for row in rows if not row["cyclic"] and row["b"] != 0]
    shrinkage = max(_number(row, "distance") for row in rows)
    gap = min(_number(row, "gap") for row in rows)
    weight = rows[0]["lambda_1"]
    measured = (
        f"With lambda_1 = {weight}: the global minimizer has c = 0 and b != 0 for {len(right)} of {len(rows)} values "
        f"of b0, the next minimum is higher by {gap:.3g} or more. The penalty shrinks b by up to {shrinkage:.3g}, so "
        f"B0 itself is the minimizer only in the limit of a small weight."
    )
    return Verdict(CLAIMS[3], measured, len(right) == len(rows) and gap > _SAME)


def _three_points(rows: Table) -> Verdict:
    if not rows:
        return not_run(CLAIMS[4])
    away, tie, kinds = 0.0, 0.0, True
    for row in rows:
        b0, points = _number(row, "b0"), read_points(row)
        kinds &= [p.kind for p in points] == ["minimum", "minimum", "saddle"]
        expected = [(b0, 0.0), ((b0**2 + 2) / b0, 2 / b0), (-2 / b0, 2 / b0)]
        away = max(away, *(min(math.hypot(p.b - b, p.c - c) for p in points) for b, c in expected))
        tie = max(tie, abs(points[1].value - points[0].value))
    measured = (
        f"{len(rows)} values of b0: {'two minima and a saddle each' if kinds else 'other points'}, within {away:.1e} "
        f"of the closed forms; the two minima differ by {tie:.0e} in value."
    )
    return Verdict(CLAIMS[4], measured, kinds and away < _SAME and tie < _SAME)


def _soft_is_enough(squares: Table, likelihood: Table) -> Verdict:
    soft = ("l1", "dag", "l1+dag")
    counts = {
        name: [bool(row["cyclic"]) for row in where(rows, penalty=soft)]
        for name, rows in (("least squares", squares), ("likelihood-EV", likelihood))
    }
    if not all(counts.values()):
        return not_run(CLAIMS[5])
    measured = "Cyclic global minimizers with the soft penalties l1, DAG or both: " + ", ".join(
        f"{name} {sum(cyclic)} of {len(cyclic)}" for name, cyclic in counts.items()
    )
    kept = [
        (abs(_number(row, "b")) >= PAPER_THRESHOLD, abs(_number(row, "c")) >= PAPER_THRESHOLD)
        for row in where(squares, penalty=soft)
    ]
    measured += (
        f". After thresholding at {PAPER_THRESHOLD} those of least squares are cyclic in {kept.count((True, True))}, "
        f"X1 -> X2 in {kept.count((True, False))}, reversed in {kept.count((False, True))}: the claim is on the "
        f"minimizer before that"
    )
    complete = [row for row in where(likelihood, penalty=soft) if row["indices"] == "1 1 1"]
    measured += (
        f". Where a penalty makes the likelihood grow towards all ends, minima less saddles are 1 in each part of the "
        f"plane ({len(complete)} of {len(counts['likelihood-EV'])} scores), so that no point is missing."
    )
    return Verdict(CLAIMS[5], measured, all(counts["least squares"]) and not any(counts["likelihood-EV"]))


def _unequal(rows: Table) -> Verdict:
    bare = where(rows, penalty="none")
    if not bare:
        return not_run(CLAIMS[6])
    away = min(_number(row, "distance") for row in bare)
    soft = where(rows, penalty="l1+dag")
    kept = [(abs(_number(row, "b")) >= PAPER_THRESHOLD, abs(_number(row, "c")) >= PAPER_THRESHOLD) for row in soft]
    measured = (
        f"{len(bare)} scores with variances 1 : {', '.join(f'{r:g}' for r in distinct(bare, 'ratio'))}: the global "
        f"minimizer of bare likelihood-EV is {away:.2g} or more away from B0, and cyclic in "
        f"{sum(bool(row['cyclic']) for row in bare)}. With both penalties it is cyclic in "
        f"{sum(bool(row['cyclic']) for row in soft)} of {len(soft)}; after thresholding at {PAPER_THRESHOLD} it is "
        f"X1 -> X2 in {kept.count((True, False))}, reversed in {kept.count((False, True))}, still cyclic in "
        f"{kept.count((True, True))}."
    )
    return Verdict(CLAIMS[6], measured, away > _SAME)


def _free_variances(rows: Table) -> Verdict:
    if not rows:
        return not_run(CLAIMS[7])
    small = max(min(abs(_number(row, "b")), abs(_number(row, "c"))) for row in rows)
    turned = sum(abs(_number(row, "c")) > abs(_number(row, "b")) for row in rows)
    cyclic = sum(bool(row["cyclic"]) for row in rows)
    measured = (
        f"{len(rows)} scores: {cyclic} minimizers with both edges, the smaller weight {small:.2g} at most; X2 -> X1 is "
        f"the larger one in {turned}. The l1 penalty prefers the smaller weight, whatever the truth."
    )
    return Verdict(CLAIMS[7], measured, cyclic == 0 and turned > 0)


EXPERIMENT = Experiment("bivariate", "Figure 2, proposition 1", CLAIMS, tasks, run, figure, verdicts, has_sizes=False)
