"""Lazy modules: not loaded by an import, complete as soon as they are used."""

from __future__ import annotations

import subprocess
import sys


def test_a_module_loads_when_it_is_used():
    code = """
import sys
from golem.cli.running import skip_slow_imports
skip_slow_imports()
import scipy.stats, golem
golem.Golem
assert not {"scipy.stats._stats_py", "numpy.f2py.rules", "pandas"} & set(sys.modules)
import pandas, sklearn.utils
from scipy.stats import norm
import scipy.stats._stats_py
assert scipy.stats.norm is norm and norm.cdf(0) == 0.5 and sys.modules["scipy.stats"] is scipy.stats
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_fit_of_a_small_table_loads_neither_scipy_stats_nor_numba(tmp_path):
    (tmp_path / "table.csv").write_text("a,b\n" + "".join(f"{k % 7},{k % 7 + k % 5}\n" for k in range(100)))
    code = "import sys; from golem.cli import main\ntry: main()\nfinally: print(*sys.modules)"
    command = [sys.executable, "-c", code, "fit", str(tmp_path / "table.csv"), "-o", str(tmp_path / "out"), "-q"]
    loaded = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert {"golem.workflow", "scipy.stats"} <= set(loaded)
    assert not {"scipy.stats._stats_py", "numba", "pandas", "sklearn.linear_model", "networkx"} & set(loaded)
