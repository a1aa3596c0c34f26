"""Make direct_lingam.npz: what lingam's DirectLiNGAM answers on random problems.

    python -m venv .other-packages/lingam && .other-packages/lingam/bin/pip install lingam==1.13.0
    PYTHONPATH=src .other-packages/lingam/bin/python tests/oracles/make_direct_lingam.py

lingam's matrix has [i, j] for j -> i; it is stored transposed, as everywhere here. The data are stored as 32-bit
floats, which lingam was given as well.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import numpy as np
from lingam import DirectLiNGAM

from golem.simulate import simulate

HERE = Path(__file__).parent
NOISES = ("exponential", "gumbel", "gaussian-nv")
PROBLEMS = 18
ROWS = 200


def main() -> None:
    """Draw the problems, ask lingam, and save data and answers."""
    stored: dict[str, np.ndarray] = {}
    for seed in range(PROBLEMS):
        d, graph = 4 + seed % 7, ("ER1", "ER2")[seed % 2]
        X = simulate(d, ROWS, graph, NOISES[seed % 3], random_state=seed).data.astype(np.float32)
        model = DirectLiNGAM()
        model.fit(X.astype(float))
        stored[f"data_{seed}"] = X
        stored[f"order_{seed}"] = np.array(model.causal_order_)
        stored[f"weights_{seed}"] = model.adjacency_matrix_.T
    np.savez_compressed(HERE / "direct_lingam.npz", made_with=np.array(f"lingam {version('lingam')}"), **stored)


if __name__ == "__main__":
    main()
