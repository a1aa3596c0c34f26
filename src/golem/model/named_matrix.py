"""A matrix over named variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from golem.runtime.types import Matrix


class NamedMatrix(np.ndarray[Any, np.dtype[np.float64]]):
    """A (d, d) array that also takes names as indices: `effects["a", "y"]`. Parts of it are plain arrays.

    Examples
    --------
    >>> effects = NamedMatrix.of(np.array([[1.0, 2.0], [0.0, 1.0]]), ["a", "y"])
    >>> float(effects["a", "y"]), effects.names
    (2.0, ('a', 'y'))
    """

    names: tuple[str, ...]

    @classmethod
    def of(cls, values: Matrix, names: Sequence[str]) -> NamedMatrix:
        """Return a matrix with names for its rows and columns."""
        matrix = values.view(cls)
        matrix.names = tuple(names)
        return matrix

    def __getitem__(self, key: Any) -> Any:
        """Return an entry, or a part without names."""
        keys = key if isinstance(key, tuple) else (key,)
        places = tuple(self.names.index(one) if isinstance(one, str) else one for one in keys)
        return cast(Any, np.asarray(self))[places if isinstance(key, tuple) else places[0]]
