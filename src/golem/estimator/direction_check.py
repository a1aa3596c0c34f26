"""The check of the directions of a fitted model, which needs its rows; see `golem.directions.by_structure`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from golem.data.series_reading import SeriesChoice
from golem.data.table import Table
from golem.data.table_reading import Targets, read_table
from golem.runtime.progress import Counter
from golem.runtime.types import Matrix

# A model keeps the rows of a table with at most so many numbers (8 MB) after its directions were checked.
_KEPT_NUMBERS = 1_000_000


def fitted_series(model: Any) -> SeriesChoice:
    """Return the order of the rows of a model, with the lags of its fit."""
    choice: SeriesChoice = model.settings.series
    series = getattr(getattr(model, "table_", None), "series", None)
    return choice if series is None else replace(choice, lags=series.lags)


class DirectionCheck:
    """What an estimator needs to check its directions, now or when they are first asked for.

    A small table is kept with its rows, for this check and those of `golem.diagnose`; a pickled model has none.
    """

    _table: Table | None = None

    def check_directions(
        self: Any,
        X: Any = None,
        *,
        environments: Any = None,
        targets: Targets | None = None,
        callback: Counter | None = None,
    ) -> Any:
        """Check which directions of the equivalence class have evidence; all others become links.

        Halves of the rows, and variants of the table that should not matter, are learned again, and graphs with the
        reverse of each direction are searched (`golem.directions.by_structure`). The seed is `random_state`.

        Parameters
        ----------
        X : array, DataFrame or Table, optional
            The rows of the fit; needed unless the model has kept them (`evidence="auto"`, small tables).
        environments, targets
            As for `fit`.
        callback : callable, optional
            Called with the numbers of steps done and expected.

        Examples
        --------
        >>> from golem import Golem
        >>> from golem.simulate import simulate
        >>> drawn = simulate(10, n=1000, graph="ER2", random_state=1)
        >>> model = Golem("nv", evidence="fast").fit(drawn.data)
        >>> bool(model.undecided_.sum() == model.adjacency_.sum())
        True
        >>> bool(model.check_directions(drawn.data).undecided_.sum() < model.adjacency_.sum())
        True
        """
        check_is_fitted(self, "fit_")
        table = self._table
        if table is not None and table.n * table.d > _KEPT_NUMBERS:
            self._table = None
        if X is not None:
            how: dict[str, Any] = {"missing": self.missing, "robust": "ranks" if self.table_.is_ranked else "off"}
            how["statistics"] = "sparse" if self.fit_.score.is_sparse else "dense"
            how |= {"names": self.table_.names, "series": fitted_series(self)}
            table = read_table(X, environments=environments, targets=targets, **how)
        if self.fit_.graph.sources is None or not self.fit_.graph.directed_by("unchecked").any():
            return self
        if table is None:
            raise ValueError("The directions are checked on the rows of the table. Call check_directions(X) with them.")
        seed = 0 if self.random_state is None else self.random_state
        if isinstance(seed, np.random.Generator):
            seed = int(seed.integers(2**31))
        self._set(self.fit_.checked(table, seed, callback))
        return self

    def check_if_kept(self: Any) -> None:
        """Check the directions if the rows were kept for this."""
        if self._table is not None:
            self.check_directions()

    def kept_rows(self: Any) -> Matrix | None:
        """Return the coded rows of a small, complete table, which the model keeps for checks, or None."""
        table: Table | None = self._table
        return None if table is None or table.missing is not None else table.parts[0].copied_rows()

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {name: value for name, value in state.items() if name != "_table"}
