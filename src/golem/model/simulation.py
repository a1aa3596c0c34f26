"""Random graphs, random models, and rows of one or several environments (paper, appendix G.2).

ERk and SFk have k edges per node on average. `random_state` determines every result.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from golem.graphs.interventional import Intervention
from golem.model.linear_equations import number_of
from golem.model.linear_sem import LinearSEM
from golem.runtime.messages import quoted
from golem.runtime.problems import Parameter, ProblemError
from golem.runtime.types import BoolMatrix, Matrix

__all__ = [
    "SimulatedEnvironments",
    "Simulation",
    "erdos_renyi",
    "random_dag",
    "random_sem",
    "random_weights",
    "scale_free",
    "simulate",
    "simulate_environments",
    "single_targets",
]

RandomState = int | np.random.Generator | None
NoiseName = Literal["gaussian-ev", "gaussian-nv", "exponential", "gumbel"]
NOISES: tuple[NoiseName, ...] = ("gaussian-ev", "gaussian-nv", "exponential", "gumbel")
# A randomized target is drawn from N(2, 1) or N(-2, 1) (Brouillard et al. 2020, DCDI); a changed one gets this factor.
_MEAN, _FACTOR = 2.0, 2.0
# Values of a graph with larger weights or noise may be infinite.
_LARGEST = 1e100


def erdos_renyi(d: int, degree: float, random_state: RandomState = None) -> BoolMatrix:
    """Draw an Erdős–Rényi DAG: each pair is joined with probability 2 degree / (d - 1), along a random order.

    Examples
    --------
    >>> from golem.simulate import erdos_renyi
    >>> int(erdos_renyi(50, 2, random_state=0).sum())  # about 2 per node
    98
    """
    rng = np.random.default_rng(random_state)
    probability = min(1.0, 2 * degree / (d - 1)) if d > 1 else 0.0
    upper = np.triu(rng.random((d, d)) < probability, k=1)
    return _shuffled(upper, rng)


def scale_free(d: int, degree: int, random_state: RandomState = None) -> BoolMatrix:
    """Draw a Barabási–Albert DAG: nodes are added one by one, each with edges to `degree` earlier nodes.

    An earlier node is chosen, without repetition, with probability proportional to 1 + the number of its parents so
    far, as in igraph's `Graph.Barabasi(d, m=degree, directed=True)`. Early nodes thus become hubs with many parents.
    The labels are shuffled afterwards.

    Examples
    --------
    >>> from golem.simulate import scale_free
    >>> int(scale_free(50, 2, random_state=0).sum())
    97
    """
    if degree != int(degree) or degree < 1:
        raise ValueError(f"The degree of a scale-free graph must be a positive whole number; got {degree}.")
    rng = np.random.default_rng(random_state)
    adjacency = np.zeros((d, d), dtype=bool)
    attraction = np.ones(d)
    for node in range(1, d):
        chosen = np.arange(node)
        if node > degree:
            share = attraction[:node] / attraction[:node].sum()
            chosen = rng.choice(node, size=int(degree), replace=False, p=share)
        adjacency[node, chosen] = True
        attraction[chosen] += 1
    return _shuffled(adjacency, rng)


def random_dag(d: int, graph: str = "ER2", random_state: RandomState = None) -> BoolMatrix:
    """Draw a DAG from a named model, such as "ER2" or "SF4".

    Examples
    --------
    >>> random_dag(20, "SF4", random_state=0).sum()
    np.int64(70)
    """
    model, degree = parse_graph(graph)
    if d < 1:
        raise ValueError(f"A graph needs at least one node; got d={d}.")
    return erdos_renyi(d, degree, random_state) if model == "ER" else scale_free(d, int(degree), random_state)


def parse_graph(graph: str) -> tuple[str, float]:
    """Split the name of a graph model into "ER" or "SF" and the number of edges per node."""
    match = re.fullmatch(r"(ER|SF)(\d+(?:\.\d+)?)", graph.upper())
    if not match or float(match[2]) == 0:
        raise ValueError(
            f"Unknown random graph {graph!r}. Use ER or SF with the edges per node, such as 'ER2' or 'SF4'."
        )
    if match[1] == "SF" and float(match[2]) != int(float(match[2])):
        raise ValueError(f"The degree of a scale-free graph must be a whole number, such as 'SF4'; got {graph!r}.")
    return match[1], float(match[2])


def random_weights(adjacency: BoolMatrix, random_state: RandomState = None, scale: float = 1.0) -> Matrix:
    """Draw the weights of a graph's edges uniformly from scale * ([-2, -0.5] u [0.5, 2]).

    Examples
    --------
    >>> import numpy as np
    >>> from golem.simulate import random_weights
    >>> random_weights(np.array([[False, True], [False, False]]), random_state=0).round(2)
    array([[-0. ,  0.9],
           [ 0. ,  0. ]])
    """
    rng = np.random.default_rng(random_state)
    size = rng.uniform(0.5, 2.0, adjacency.shape)
    sign = rng.choice([-1.0, 1.0], adjacency.shape)
    weights: Matrix = scale * size * sign * adjacency
    return weights


def random_sem(
    d: int,
    graph: str = "ER2",
    noise: NoiseName = "gaussian-ev",
    *,
    weight_scale: float = 1.0,
    noise_std: tuple[float, float] | None = None,
    random_state: RandomState = None,
) -> LinearSEM:
    """Draw a random model as in the paper's simulations.

    Parameters
    ----------
    d : int
        Number of nodes.
    graph : str
        "ER1", "ER2", "ER4", "SF4", ...
    noise : {"gaussian-ev", "gaussian-nv", "exponential", "gumbel"}
        N(0, 1); N(0, s_i^2) with s_i ~ U[1, 2]; Exp(1); Gumbel(0, 1).
    weight_scale : float
        alpha of section 5.5: multiplies the weights.
    noise_std : (float, float), optional
        If given, draw the standard deviations of the noise log-uniformly from this range, such as (0.1, 10), for any
        distribution of the noise.
    random_state : int, Generator or None
        Random seed.

    Examples
    --------
    >>> from golem.simulate import random_sem
    >>> sem = random_sem(5, "ER1", "gaussian-nv", random_state=0)
    >>> sem.sample(3, random_state=0).shape
    (3, 5)
    """
    if noise not in NOISES:
        raise ProblemError(Parameter("noise"), f" must be one of {quoted(NOISES)}; got {noise!r}.")
    if not 0 < weight_scale < _LARGEST:
        raise ProblemError(Parameter("weight_scale"), f" must be a positive number; got {weight_scale}.")
    rng = np.random.default_rng(random_state)
    weights = random_weights(random_dag(d, graph, rng), rng, weight_scale)
    shape = "gaussian" if noise.startswith("gaussian") else noise
    if noise_std is not None:
        low, high = noise_std
        if not 0 < low <= high < _LARGEST:
            raise ProblemError.of(
                "{parameter} must be a range (low, high) with 0 < low <= high; got {noise_std}.",
                parameter=Parameter("noise_std"),
                noise_std=noise_std,
            )
        deviation = np.exp(rng.uniform(np.log(low), np.log(high), d))
    elif noise == "gaussian-nv":
        deviation = rng.uniform(1.0, 2.0, d)
    else:
        deviation = np.full(d, np.pi / np.sqrt(6) if noise == "gumbel" else 1.0)
    # The means of Exp(1) and Gumbel(0, 1) become intercepts, because the noise of a LinearSEM has mean 0.
    mean = {"exponential": 1.0, "gumbel": np.euler_gamma * np.sqrt(6) / np.pi}.get(shape, 0.0) * deviation
    return LinearSEM(weights, deviation**2, mean, noise=shape)


@dataclass(frozen=True, eq=False)
class Simulation:
    """A model and rows drawn from it.

    Examples
    --------
    >>> from golem.simulate import simulate
    >>> drawn = simulate(5, 100, "ER1", random_state=0)
    >>> drawn.data.shape, drawn.sem.names
    ((100, 5), ('x0', 'x1', 'x2', 'x3', 'x4'))
    """

    sem: LinearSEM
    data: NDArray[np.float64]


def simulate(
    d: int,
    n: int = 1000,
    graph: str = "ER2",
    noise: NoiseName = "gaussian-ev",
    *,
    weight_scale: float = 1.0,
    noise_std: tuple[float, float] | None = None,
    standardize: bool = False,
    random_state: RandomState = None,
) -> Simulation:
    """Draw a model and n rows of data; see `random_sem` for the parameters.

    With `standardize`, the columns of the data are scaled to mean 0 and variance 1, so that variances no longer reveal
    the order of the nodes. The model is not changed.

    Examples
    --------
    >>> drawn = simulate(5, n=100, graph="ER1", random_state=1)
    >>> drawn.data.shape, drawn.sem.adjacency.sum()
    ((100, 5), np.int64(6))
    """
    if n < 1 + standardize:
        raise ValueError(
            f"The number of rows must be at least {1 + standardize}{' to standardize' * standardize}; got n={n}."
        )
    rng = np.random.default_rng(random_state)
    sem = random_sem(d, graph, noise, weight_scale=weight_scale, noise_std=noise_std, random_state=rng)
    data = sem.sample(n, rng)
    if standardize:
        data = (data - data.mean(axis=0)) / data.std(axis=0)
    return Simulation(sem, data)


def _shuffled(adjacency: BoolMatrix, rng: np.random.Generator) -> BoolMatrix:
    """Relabel the nodes at random, so that their numbers do not reveal their order."""
    order = rng.permutation(len(adjacency))
    return adjacency[np.ix_(order, order)]


@dataclass(frozen=True, eq=False)
class SimulatedEnvironments:
    """A model, and rows drawn from it in several environments.

    Parameters
    ----------
    sem : LinearSEM
        The model without interventions.
    data : ndarray of shape (n, d)
        The rows, one environment after the other.
    labels : ndarray of shape (n,)
        The environment of each row.
    targets : mapping of str to tuple of str
        The targets of each environment; none for the observational one.

    Examples
    --------
    >>> from golem.simulate import random_sem, simulate_environments
    >>> sem = random_sem(3, "ER1", random_state=0)
    >>> drawn = simulate_environments(sem, {"control": [], "shift": ["x0"]}, 50, random_state=0)
    >>> drawn.data.shape, drawn.targets
    ((50, 3), {'control': (), 'shift': ('x0',)})
    """

    sem: LinearSEM
    data: Matrix
    labels: NDArray[np.str_]
    targets: Mapping[str, tuple[str, ...]]


def simulate_environments(
    sem: LinearSEM,
    targets: Mapping[str, Sequence[str | int]],
    n: int,
    intervention: Intervention = "hard",
    random_state: int | np.random.Generator | None = None,
) -> SimulatedEnvironments:
    """Draw n rows in all, spread evenly over environments with the given targets.

    Hard: targets are drawn from N(2, 1) or N(-2, 1), independent of their parents. Soft: the weights of the edges into
    a target and its noise variance double. `LinearSEM.randomize` and `LinearSEM.change` have other changes.

    Parameters
    ----------
    sem : LinearSEM
        The model.
    targets : mapping of str to sequence of str or int
        The targets of each environment, by name or number; an empty list for an observational one.
    n : int
        Number of rows in all environments together.
    intervention : {"hard", "soft"}
        Whether targets lose their parents.
    random_state : int, Generator or None
        Random seed.

    Examples
    --------
    >>> chain = LinearSEM([[0, 1], [0, 0]], [1, 1], names=["a", "b"])
    >>> drawn = simulate_environments(chain, {"control": [], "only_b": ["b"]}, 5, random_state=0)
    >>> drawn.data.shape, drawn.labels.tolist()
    ((5, 2), ['control', 'control', 'control', 'only_b', 'only_b'])
    """
    if not targets:
        raise ValueError("targets must name at least one environment, such as {'control': []}.")
    if n < len(targets):
        raise ValueError(f"{len(targets)} environments need at least {len(targets)} rows; got n={n}.")
    if intervention not in ("hard", "soft"):
        raise ProblemError(Parameter("intervention"), f" must be 'hard' or 'soft'; got {intervention!r}.")
    rng = np.random.default_rng(random_state)
    sizes = [n // len(targets) + (k < n % len(targets)) for k in range(len(targets))]
    parts = []
    named = {label: tuple(sem.names[number_of(one, sem.names)] for one in chosen) for label, chosen in targets.items()}
    for chosen, size in zip(named.values(), sizes, strict=True):
        if intervention == "hard":
            changed = sem.randomize({one: (_MEAN * rng.choice((-1.0, 1.0)), 1.0) for one in chosen})
        else:
            changed = sem.change(chosen, weights=_FACTOR, variance=_FACTOR)
        parts.append(changed.sample(size, rng))
    return SimulatedEnvironments(sem, np.concatenate(parts), np.repeat(list(named), sizes), named)


def single_targets(
    sem: LinearSEM, count: int, intervention: Intervention, random_state: int | np.random.Generator | None = None
) -> dict[str, tuple[str, ...]]:
    """Return an observational environment and `count` environments with one target each, drawn without repetition.

    Examples
    --------
    >>> chain = LinearSEM([[0, 1], [0, 0]], [1, 1], names=["a", "b"])
    >>> single_targets(chain, 2, "hard")
    {'control': (), 'hard_a': ('a',), 'hard_b': ('b',)}
    """
    if not 0 <= count <= sem.d:
        raise ValueError(f"The number of targets must be between 0 and {sem.d}, the number of variables; got {count}.")
    chosen = np.sort(np.random.default_rng(random_state).permutation(sem.d)[:count])
    return {"control": ()} | {f"{intervention}_{sem.names[j]}": (sem.names[j],) for j in chosen}
