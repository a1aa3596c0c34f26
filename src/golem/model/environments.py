"""Rows from several environments: an observational one, and one per experiment on some variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from golem.graphs.interventional import Intervention
from golem.model.interventions import number_of
from golem.model.linear_sem import LinearSEM
from golem.runtime.problems import Parameter, ProblemError
from golem.runtime.types import Matrix

# A randomized target is drawn from N(2, 1) or N(-2, 1) (Brouillard et al. 2020, DCDI); a changed one gets this factor.
_MEAN, _FACTOR = 2.0, 2.0


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
