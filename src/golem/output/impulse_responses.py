"""Effects over time in a series: what a change of one variable does to all others, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from golem.assessment.bootstrap_result import Bootstrap, percentiles
from golem.model.linear_equations import number_of
from golem.output.lagged_graph import LaggedGraph
from golem.runtime.problems import ProblemError, Set
from golem.runtime.records import Records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

# Numbers with a step first: shape (horizon + 1, d, d).
Steps = NDArray[np.float64]


class Response(NamedTuple):
    """One effect; `pandas.DataFrame(responses.records())` makes a table.

    Parameters
    ----------
    source, target : str
        The cause and the effect.
    horizon : int
        Steps between them.
    effect : float
        The change of the target if the source is one unit higher for one step; NaN if directions that it may run along
        are open.
    low, high : float or None
        The band of a bootstrap.
    """

    source: str
    target: str
    horizon: int
    effect: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, eq=False)
class ImpulseResponses:
    """Effects over time.

    Parameters
    ----------
    names : tuple of str
        The d variables.
    effects : ndarray of shape (horizon + 1, d, d)
        Entry [h, i, j] is the total effect of i on j, h steps later; NaN if it may run along a link.
    low, high : ndarray of the same shape, or None
        Bands over the graphs of a bootstrap, which also covers open directions.
    level : float or None
        Share of the graphs between the bounds.
    cumulative : bool
        Whether effects are summed over the steps so far.
    """

    names: tuple[str, ...]
    effects: Steps
    low: Steps | None = None
    high: Steps | None = None
    level: float | None = None
    cumulative: bool = False

    def effect(self, source: str | int, target: str | int, horizon: int) -> float:
        """Return the total effect of one variable on another, so many steps later."""
        return float(self.effects[horizon, number_of(source, self.names), number_of(target, self.names)])

    def records(self) -> Records[Response]:
        """Return all effects that are not zero at every step, as a list for tables."""
        found: Records[Response] = Records()
        for i, source in enumerate(self.names):
            for j, target in enumerate(self.names):
                own = self.effects[:, i, j]
                if not (own != 0).any() and (self.high is None or not (self.high[:, i, j] != 0).any()):
                    continue
                for h, value in enumerate(own.tolist()):
                    band = (None if one is None else float(one[h, i, j]) for one in (self.low, self.high))
                    found.append(Response(source, target, h, value, *band))
        return found

    def plot(self, figure: Figure | None = None) -> Figure:
        """Draw them; see `golem.plots.plot_responses`."""
        return plot_responses(self, figure=figure)


def impulse_responses(
    model: Any, horizon: int = 10, *, bootstrap: Bootstrap | None = None, cumulative: bool = False
) -> ImpulseResponses:
    """Return what a variable that is one unit higher for one step does to all variables, step by step.

    Parameters
    ----------
    model : fitted Golem with lags, or what `golem.load` returns for one
        The graph.
    horizon : int
        Number of steps.
    bootstrap : Bootstrap, optional
        What `golem.bootstrap` returned for the model, for bands. It resamples blocks of windows, of panels units.
    cumulative : bool
        Sum the effects over the steps so far: what a variable that stays higher does, as far as the graph tells.

    Returns
    -------
    ImpulseResponses
        Effects are NaN where they may run along links, whose direction is open. Bands cover both directions.

    Examples
    --------
    >>> import numpy as np, golem
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> for t in range(1, 2000):
    ...     X[t] += X[t - 1] @ [[0.5, 0.8], [0, 0]]
    >>> responses = golem.impulse_responses(golem.Golem(lags=1).fit(X), 3)
    >>> [round(responses.effect("x0", "x1", h), 1) for h in range(4)]
    [0.0, 0.8, 0.4, 0.2]
    """
    if isinstance(horizon, bool) or horizon != int(horizon) or horizon < 0:
        raise ProblemError(Set("horizon"), f" must be a whole number of at least 0; got {horizon!r}.")
    graph, steps = LaggedGraph.of(model), int(horizon)
    effects = _effects(graph, steps)
    if cumulative:
        effects = effects.cumsum(axis=0)
    effects[_along_links(graph, steps, cumulative)] = np.nan
    if bootstrap is None:
        return ImpulseResponses(graph.names, effects, cumulative=cumulative)
    if not bootstrap.lagged or set(graph.names) - set(bootstrap.names):
        raise ValueError("The bootstrap is not one of this series. Run golem.bootstrap(model, X) with the same table.")
    drawn = np.empty((len(bootstrap.lagged), *effects.shape), dtype=np.float32)
    for k, (edges, weights) in enumerate(bootstrap.lagged):
        one = _effects(LaggedGraph.of_edges(bootstrap.names, edges[0], edges[1], weights), steps)
        drawn[k] = one.cumsum(axis=0) if cumulative else one
    tails = (1 - bootstrap.level) / 2, (1 + bootstrap.level) / 2
    low, high = percentiles(drawn, tails)
    order = np.ix_(range(steps + 1), *[[_variables(bootstrap).index(name) for name in graph.names]] * 2)
    return ImpulseResponses(graph.names, effects, low[order], high[order], bootstrap.level, cumulative)


def _variables(bootstrap: Bootstrap) -> tuple[str, ...]:
    """Return the variables of a bootstrap in the present."""
    none = np.zeros(0, dtype=np.intp)
    return LaggedGraph.of_edges(bootstrap.names, none, none, np.zeros(0)).names


def _effects(graph: LaggedGraph, steps: int) -> Steps:
    """Return the structural moving average: effects at step h are the sum over k of those at h - k times A_k M."""
    d = len(graph.names)
    M = np.linalg.inv(np.eye(d) - graph.present)
    found = np.zeros((steps + 1, d, d))
    found[0] = M
    reduced = graph.past @ M
    for h in range(1, steps + 1):
        for k in range(1, min(h, len(reduced)) + 1):
            found[h] += found[h - k] @ reduced[k - 1]
    return found


def _along_links(graph: LaggedGraph, steps: int, cumulative: bool) -> NDArray[np.bool_]:
    """Return which effects may run along a link, shape (steps + 1, d, d)."""
    d, links = len(graph.names), graph.links | graph.links.T
    reach = np.eye(d, dtype=bool)
    for _ in range(d):
        reach = reach | reach @ ((graph.present != 0) | links)
    linked = reach @ links @ reach & ~np.eye(d, dtype=bool)
    past = graph.past != 0
    reaches, along = np.zeros((steps + 1, d, d), dtype=bool), np.zeros((steps + 1, d, d), dtype=bool)
    reaches[0], along[0] = reach, linked
    for h in range(1, steps + 1):
        for k in range(1, min(h, len(past)) + 1):
            reaches[h] |= reaches[h - k] @ past[k - 1] @ reach
            along[h] |= along[h - k] @ past[k - 1] @ reach | reaches[h - k] @ past[k - 1] @ linked
    return np.logical_or.accumulate(along) if cumulative else along


def plot_responses(
    responses: ImpulseResponses,
    sources: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    figure: Figure | None = None,
) -> Figure:
    """Draw effects over time: a panel per pair, causes in rows, effects in columns, with bands if there are any.

    Examples
    --------
    >>> import numpy as np, golem
    >>> from matplotlib.figure import Figure
    >>> from golem.plots import plot_responses
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> X[1:, 1] += X[:-1, 0]
    >>> responses = golem.impulse_responses(golem.Golem(lags=1).fit(X), 3)
    >>> len(plot_responses(responses, figure=Figure()).axes)
    4
    """
    from matplotlib.ticker import MaxNLocator

    rows = [number_of(name, responses.names) for name in (responses.names if sources is None else sources)]
    columns = [number_of(name, responses.names) for name in (responses.names if targets is None else targets)]
    size = (2.3 * len(columns) + 0.6, 1.5 * len(rows) + 0.6)
    if figure is None:
        import matplotlib.pyplot as plt

        figure = plt.figure()
    figure.set_size_inches(size)
    figure.set_layout_engine("constrained")
    steps = np.arange(len(responses.effects))
    for (a, b), ax in np.ndenumerate(figure.subplots(len(rows), len(columns), squeeze=False, sharex=True)):
        i, j = rows[a], columns[b]
        ax.axhline(0, color="#5b5b5b", linewidth=0.6)
        if responses.low is not None and responses.high is not None:
            ax.fill_between(steps, responses.low[:, i, j], responses.high[:, i, j], color="#2166ac", alpha=0.2, lw=0)
        ax.plot(steps, responses.effects[:, i, j], color="#2166ac", marker="o", markersize=2.5, linewidth=1.2)
        ax.set_title(f"{responses.names[i]} → {responses.names[j]}", fontsize=8, parse_math=False)
        ax.tick_params(labelsize=7)
        ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    return figure
