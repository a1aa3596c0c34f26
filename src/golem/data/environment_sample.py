"""Resampling within environments: bootstrap resamples and halves of the rows of each."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from golem.data.environment_input import Targets, naming_environment, split_data
from golem.data.inputs import reader_for
from golem.data.missing import MissingChoice
from golem.data.moments import Moments
from golem.data.resampling import Sample, read_sample, rows_of_moments, with_columns
from golem.data.table import Table
from golem.runtime.types import Matrix


@dataclass(frozen=True, eq=False)
class EnvironmentSample:
    """Rows or shards of several environments, to be drawn from within each of them.

    Parameters
    ----------
    environments : Table
        The moments of all rows, and the targets.
    samples : tuple of Sample
        The rows or shards of each environment.
    """

    environments: Table
    samples: tuple[Sample, ...]

    @property
    def unit(self) -> Literal["rows", "shards"]:
        """What is resampled."""
        return self.samples[0].unit

    @property
    def is_incomplete(self) -> bool:
        """Whether moments of resamples are estimated by EM."""
        return any(sample.is_incomplete for sample in self.samples)

    @functools.cached_property
    def moments(self) -> Moments:
        """The moments of all rows, with the covariance within environments."""
        return self.environments.moments()

    def draw_with_rows(self, rng: np.random.Generator) -> tuple[Table, Callable[[], dict[str, Matrix] | None]]:
        """Return a bootstrap resample of each environment, and a function that returns its rows if there are any."""
        drawn = [sample.draw_with_rows(rng) for sample in self.samples]

        def rows() -> dict[str, Matrix] | None:
            found = {label: own() for label, (_, own) in zip(self.environments.labels, drawn, strict=True)}
            return {label: own for label, own in found.items() if own is not None} or None

        return self._with(moments for moments, _ in drawn), rows

    def halves(self, pairs: int, rng: np.random.Generator) -> Iterator[Table]:
        """Yield random complementary halves of each environment."""
        drawn = [sample.halves(pairs, np.random.default_rng(rng.integers(2**63))) for sample in self.samples]
        for parts in zip(*drawn, strict=True):
            yield self._with(parts)

    def _with(self, parts: Any) -> Table:
        """Return environments with other moments."""
        return self.environments.with_moments(parts)


def read_environment_sample(
    X: Any,
    environments: Any = None,
    targets: Targets | None = None,
    missing: MissingChoice = "error",
    names: tuple[str, ...] | None = None,
) -> EnvironmentSample:
    """Return the rows of the environments of a fit to draw from; see `read_environments` for the parameters.

    With names, the columns are put in that order, or matched by position if the data have no names.
    """
    if isinstance(X, EnvironmentSample):
        return X
    parts = split_data(X, environments)[0] if not isinstance(X, Table) else dict.fromkeys(X.labels)
    samples: dict[str, Sample] = {}
    for label, part in parts.items():
        with naming_environment(label):
            if isinstance(part, tuple):
                values, own = part
                samples[label] = rows_of_moments(Moments.from_rows(values, own, missing=missing), values)
                continue
            sample = None if part is None else read_sample(reader_for(missing), part)[1]
            if sample is None:
                raise ValueError("Moments of all rows cannot be resampled. Give the rows.")
            samples[label] = sample
    if names is not None:
        samples = {label: with_columns(sample, names) for label, sample in samples.items()}
    found = Table.of({label: sample.moments for label, sample in samples.items()}, targets)
    return EnvironmentSample(found, tuple(samples[label] for label in found.labels))
