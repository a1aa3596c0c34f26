"""Warnings point at the user's line, from wherever in golem they come."""

import functools

import numpy as np
import pandas as pd
import pytest

from golem import DataWarning, Golem, GolemCV, bootstrap, fit_file
from golem.baselines import SortRegress
from golem.readers import moments_from_file, shards_from_file
from golem.runtime.messages import warn_user


def rare_levels() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60), "c": ["x", "y"] * 30})
    return table.assign(c=table["c"].mask(table.index == 7, "z"))


def few_rows() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(25, 20))


@pytest.mark.parametrize(
    ("run", "data"),
    [
        (Golem().fit, rare_levels()),
        (functools.partial(bootstrap, Golem(), replicates=2), rare_levels()),
        (Golem().fit, few_rows()),
        (SortRegress().fit, few_rows()),
        (GolemCV(Golem(noise="ev")).fit, few_rows()),
    ],
)
def test_tables_in_memory(run, data):
    with pytest.warns(DataWarning) as found:
        run(data)
    assert {one.filename for one in found} == {__file__}


def test_files(tmp_path):
    file = tmp_path / "table.csv"
    rare_levels().to_csv(file, index=False)
    runs = [
        moments_from_file,
        functools.partial(shards_from_file, shards=2),
        lambda path: fit_file(path, tmp_path / "out", diagnose=False),
    ]
    for run in runs:
        with pytest.warns(DataWarning, match="'z'") as found:
            run(file)
        assert {one.filename for one in found} == {__file__}


def test_frames_of_golem_are_passed_over():
    where = {"__name__": "golem.nowhere", "warn_user": warn_user}
    with pytest.warns(UserWarning, match="few") as found:
        exec("warn_user('few rows')", where)
    assert found[0].filename == __file__
