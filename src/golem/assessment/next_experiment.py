"""Which experiment next? A ranking of variables by the undecided directions that an intervention would decide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from golem.assessment.plain_model import plain_model
from golem.directions.experiment_design import expected_decisions
from golem.runtime.messages import counted

_MOST_ROWS = 10


class CandidateExperiment(NamedTuple):
    """What an intervention on one variable would show.

    Parameters
    ----------
    variable : str
        The target of the intervention.
    decided : float
        How many undecided directions it would decide, averaged over the members of the class.
    least : int
        The number in the worst case.
    """

    variable: str
    decided: float
    least: int


@dataclass(frozen=True)
class NextExperiment:
    """Variables to intervene on, the most useful one first; `pandas.DataFrame(result.ranking)` makes a table.

    Parameters
    ----------
    ranking : tuple of CandidateExperiment
        The variables with an undecided edge. If there are none, no experiment is needed for the directions.
    undecided : int
        Number of undecided directions.
    sampled : bool
        Whether the averages come from random members of the class, because there are very many.
    """

    ranking: tuple[CandidateExperiment, ...]
    undecided: int
    sampled: bool = False

    def __iter__(self) -> Iterator[CandidateExperiment]:
        return iter(self.ranking)

    def __len__(self) -> int:
        return len(self.ranking)

    @property
    def sentence(self) -> str:
        """What the best experiment would decide, in one sentence."""
        if not self.ranking:
            return "No direction is undecided."
        best = self.ranking[0]
        return (
            f"An intervention on {best.variable!r} would decide {best.decided:.3g} of the "
            f"{counted(self.undecided, 'undecided direction')} on average, at least {best.least}."
        )

    def __str__(self) -> str:
        """Return the table of the most useful experiments."""
        if not self.ranking:
            return self.sentence
        width = max(len("variable"), *(len(row.variable) for row in self.ranking[:_MOST_ROWS]))
        lines = [f"{'variable':<{width}}  on average  at least"]
        lines += [f"{row.variable:<{width}}  {row.decided:>10.2f}  {row.least:>8}" for row in self.ranking[:_MOST_ROWS]]
        more = len(self.ranking) - _MOST_ROWS
        return "\n".join([self.sentence, *lines, *([f"... and {more} more"] if more > 0 else [])])

    __repr__ = __str__


def next_experiment(model: Any, *, random_state: int | np.random.Generator = 0) -> NextExperiment:
    """Rank the variables by how many undecided directions an intervention on each would decide.

    An intervention on a variable shows which of its neighbours are its causes. Directions that follow from these count
    too. The number depends on the graph behind the data, so it is averaged over all graphs that the data allow: the
    members of the equivalence class with all directions that have evidence. The experiment must change the variable
    enough for the directions to be seen.

    Parameters
    ----------
    model : Golem or GolemCV
        A fitted model.
    random_state : int or Generator
        Random seed, used only where the class has very many members.

    Examples
    --------
    In a chain, the middle is the best target:

    >>> from golem import Golem, Moments
    >>> S = [[1, 0.5, 0.25], [0.5, 1, 0.5], [0.25, 0.5, 1]]
    >>> model = Golem("nv").fit(Moments.from_covariance(S, 1000, names=["rain", "river", "flood"]))
    >>> next_experiment(model)
    An intervention on 'river' would decide 2 of the 2 undecided directions on average, at least 2.
    variable  on average  at least
    river           2.00         2
    flood           1.33         1
    rain            1.33         1
    """
    fitted = plain_model(model)
    check_is_fitted(fitted, "graph_")
    graph, names = fitted.graph_, fitted.table_.names
    undecided = graph.open_in_class  # an error if the graph has a cycle
    mean, least, sampled = expected_decisions(graph, undecided, random_state)
    order = sorted(np.flatnonzero(mean).tolist(), key=lambda j: (-round(float(mean[j]), 9), -int(least[j]), names[j]))
    ranking = tuple(CandidateExperiment(names[j], float(mean[j]), int(least[j])) for j in order)
    return NextExperiment(ranking, int(undecided.sum()), sampled)
