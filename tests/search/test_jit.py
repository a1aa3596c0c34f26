"""Kernels are compiled once each, as the first call should be fast, and also where numba has no cache."""

import errno
import gc
import logging
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core import caching
from numba.core.runtime import _nrt_python, rtsys
from numba.core.types.functions import BaseFunction

import golem
from golem.data.moments import Moments
from golem.score.likelihood import GaussianEV, GaussianNV
from golem.score.node_scores import Counts, gaussian_blocks
from golem.score.sparsity import L0
from golem.search import jit, numba_compiler, order_kernels
from golem.search.engines import (
    block_kernels,
    correlation_kernels,
    correlation_parent_kernels,
    correlation_regression_kernels,
    count_kernels,
    record_kernels,
    record_parent_kernels,
)
from golem.search.equal import reversal_kernels, variance_kernels
from golem.search.search_order import search_order
from golem.simulate import simulate
from golem.solvers import Order

EQUAL_VARIANCES = (variance_kernels, reversal_kernels)
RECORDS = (block_kernels, count_kernels, record_parent_kernels, record_kernels, order_kernels)
FREE_VARIANCES = (correlation_regression_kernels, correlation_parent_kernels, correlation_kernels, order_kernels)


def dispatchers(modules):
    used = {name: value for module in modules for name, value in vars(module).items()}
    return {name: value for name, value in used.items() if hasattr(value, "overloads")}


def repeated(kernels):
    """Return the kernels that were compiled several times for one engine, the type of the first argument."""
    firsts = {name: [signature[0] for signature in kernel.overloads] for name, kernel in kernels.items()}
    return {name: types for name, types in firsts.items() if len({str(one) for one in types}) < len(types)}


@pytest.mark.parametrize(
    ("likelihood", "modules"), [(GaussianEV(), EQUAL_VARIANCES), (GaussianNV(), FREE_VARIANCES)], ids=["ev", "nv"]
)
def test_every_kernel_is_compiled_once_per_engine(likelihood, modules):
    d = 14
    rows = simulate(d, 200, random_state=0).data
    allowed, required = np.ones((d, d), dtype=bool), np.zeros((d, d), dtype=bool)
    required[0, 1] = True
    for moments in (Moments.from_rows(rows), Moments.from_rows(np.asfortranarray(rows)[:10])):
        Order("fast").solve(moments, likelihood, L0())
        Order("fast").solve(moments, likelihood, L0(), np.arange(d)[::-1])
        Order("fast").solve(moments, likelihood, L0(), allowed=allowed.T, required=np.asfortranarray(required))
    compiled = dispatchers(modules)
    assert compiled
    # With the code in numba's cache, kernels that others call are not compiled at all.
    assert repeated(compiled) == {}


@pytest.mark.parametrize(
    "score", [gaussian_blocks([np.eye(14) + 0.5], [60]), Counts(np.eye(14, dtype=int), np.full(14, 2))]
)
def test_every_kernel_of_records_is_compiled_once_per_engine(score):
    for required in (None, np.eye(14, k=5, dtype=bool)):
        search_order(score, effort="fast", required=required)
    compiled = dispatchers(RECORDS)
    assert compiled
    assert repeated(compiled) == {}


def test_arrays_that_kernels_allocate_are_freed():
    moments = Moments.from_rows(simulate(14, 200, random_state=0).data)
    Order().solve(moments, GaussianEV(), L0())
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        Order().solve(moments, GaussianEV(), L0())
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    assert after.alloc > before.alloc
    assert after.alloc - before.alloc == after.free - before.free


def test_a_kernel_is_compiled_where_numba_finds_no_folder_for_its_cache():
    namespace = {}
    exec("def twice(x): return 2 * x", namespace)  # code without a file has no folder for a cache
    jit._warn_without_cache.cache_clear()
    with pytest.warns(UserWarning, match="Set the environment variable NUMBA_CACHE_DIR"):
        twice = jit.entry(namespace["twice"])
    assert twice(21) == 42


@pytest.mark.slow
def test_a_fit_without_a_writable_folder_for_the_cache_warns_once(tmp_path):
    """A file in place of a folder cannot be written even by root."""
    package = tmp_path / "golem"
    shutil.copytree(Path(golem.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    search = package / "search"
    for folder in (search, search / "equal", search / "engines", package / "baselines"):
        (folder / "__pycache__").touch()
    (tmp_path / "file").touch()
    data = tmp_path / "data.csv"
    np.savetxt(data, simulate(14, 200, random_state=0).data, delimiter=",")
    places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "MPLCONFIGDIR"), str(tmp_path / "file"))
    environment = os.environ | places | {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "golem", "fit", str(data), "--noise", "ev", "-o", str(tmp_path / "out")]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "out" / "graph.json").is_file()
    assert ended.stderr.count("NUMBA_CACHE_DIR") == 1


@pytest.mark.parametrize(
    ("method", "error"),
    [
        ("_save_data", OSError(errno.ENOSPC, "No space left on device")),
        ("_load_index", PermissionError(errno.EACCES, "Permission denied")),
        ("_load_index", EOFError("Ran out of input")),
        ("_load_index", pickle.UnpicklingError("pickle data was truncated")),
    ],
)
def test_a_cache_that_fails_while_it_is_used_does_not_stop_the_work(monkeypatch, tmp_path, method, error):
    def fail(*arguments):
        raise error

    jit._warn_without_cache.cache_clear()
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(caching.IndexDataCacheFile, method, fail)
    twice = jit.entry(lambda x: 2 * x)
    with pytest.warns(UserWarning, match="Set the environment variable NUMBA_CACHE_DIR") as warned:
        answers = [twice(21), twice(0.5)]
    assert answers == [42, 1.0]
    assert len(warned) == 1


def test_a_change_in_another_file_of_kernels_compiles_an_entry_again(monkeypatch, tmp_path):
    def hits_of_twice():
        twice = jit.entry(lambda x: 2 * x)
        assert twice(21) == 42
        return twice.stats.cache_hits.total()

    other = tmp_path / "other_kernels.py"
    other.write_text("ONE = 1")
    stamps = numba_compiler._kernel_stamps
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(numba_compiler, "_kernel_stamps", lambda folder: stamps(tmp_path))
    assert [hits_of_twice(), hits_of_twice()] == [0, 1]
    other.write_text("ONE = 11")
    assert [hits_of_twice(), hits_of_twice()] == [0, 1]


def test_the_files_of_all_kernels_are_watched():
    folder = Path(jit.__file__).parent
    watched = {name for name, _, _ in numba_compiler._kernel_stamps(folder)}
    assert {file.name for file in folder.rglob("*.py") if "search.jit import" in file.read_text()} < watched
    assert {"jit.py", "numba_compiler.py"} < watched


@pytest.mark.filterwarnings("ignore:Compiled code could not be read")
@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_as_before_after_compiling(enabled):
    (gc.enable if enabled else gc.disable)()
    try:
        assert jit.entry(lambda x: x + x)(21) == 42
        assert gc.isenabled() == enabled
    finally:
        gc.enable()


def test_compiling_is_logged_once_and_reading_the_cache_is_not(monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path))

    def twice(x):
        return 2 * x

    for _ in range(2):  # the second entry has nothing compiled and finds all in the cache
        compiled = jit.entry(twice)
        with caplog.at_level(logging.WARNING, logger="golem"), jit.logged_if_compiled("compiling"):
            assert [compiled(21), compiled(0.5)] == [42, 1.0]
    assert caplog.messages == ["compiling"]


def test_operators_are_typed_by_numba_again_after_compiling():
    before = BaseFunction.get_call_type
    assert jit.entry(lambda x: 2 * x)(21) == 42
    assert BaseFunction.get_call_type is before


def test_an_unknown_numba_compiles_without_its_internals(monkeypatch, tmp_path):
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(jit, "_IS_KNOWN", False)
    monkeypatch.setitem(sys.modules, "golem.search.numba_compiler", None)  # an import would fail
    twice = jit.kernel(lambda x: 2 * x)
    filled = jit.allocating_kernel(lambda n: np.ones(n))
    total = jit.allocating_entry(lambda n: twice(filled(n).sum()))
    assert total(3) == 6.0
    assert list(tmp_path.rglob("*.nbi"))


@pytest.mark.slow
def test_an_unknown_numba_gives_the_same_graph(tmp_path):
    rows = simulate(20, 200, random_state=0).data
    np.save(tmp_path / "rows.npy", rows)
    script = (
        "import numba, numpy as np; numba.__version__ = '9.0.0'; from golem import Golem; "
        f"print(Golem().fit(np.load({str(tmp_path / 'rows.npy')!r})).solution_.terms['score'])"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=600, check=True
    )
    assert float(ended.stdout) == golem.Golem().fit(rows).solution_.terms["score"]
