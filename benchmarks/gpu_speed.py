"""Claims: answers on a GPU match the CPU's, and replayed or stacked steps of the recipe are faster than single ones.

`fit_speed.py gpu` has the times of the order solver. Parts:

- same: 20 random problems, CPU and GPU, in double and in single precision
- steps: milliseconds per step of `Golem.paper("ev")`, for stacks of `--problems` and d of `--sizes`, after the first
  third of `--count` steps
- adam: milliseconds per step at d = 100 ... 3200: one by one with LU; replayed, in the first 1000 steps and in the next
  2000; and from d = 1024 on with accelerate=True; S(B) and the graph after 1000 steps, and of a control
- spread: S(B) after 1000 steps at d = 200, by LU and by warm inverses, from covariances that differ by rounding errors
- paths: S(B) during the solve at d = 1600, with both inverses, from three covariances each
- batch: many problems of d = 100 in one solve
- stacks: 144 problems of d = 10 ... 100 in one solve, with single steps and as golem runs them, over more steps
- products: the time of a matrix product, and of LU with the inverse, at d = 3200, in double and in single precision

    python benchmarks/gpu_speed.py same adam batch
    python benchmarks/gpu_speed.py same --device cpu --quick      # check that it runs without a GPU
"""

from __future__ import annotations

import argparse
import os
import platform
import time

import numpy as np
import torch

import golem
from golem import Golem, Moments
from golem.estimator import fit_stacked
from golem.gradient import adam as adam_module
from golem.gradient.adam import Adam
from golem.gradient.replayed_adam import pays_to_replay
from golem.gradient.rounding import round_to_dag
from golem.runtime.devices import Placement
from golem.runtime.gpu import accelerated
from golem.runtime.gpu.accelerated import LARGE, Accelerated, WarmInverse, accelerated_functions
from golem.runtime.linear_algebra import logabsdet_and_inverse_transpose
from golem.score.likelihood import GaussianEV
from golem.score.objective import Objective
from golem.simulate import simulate


def draw(d: int, n: int, seed: int, device: str) -> tuple[set[tuple[int, int]], torch.Tensor]:
    """Draw 2 d edges and data with unit noise, on the device; only the edges of a large graph fit everywhere."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(d)
    ends = np.sort(rng.integers(d, size=(3 * d, 2)), axis=1)
    ends = np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0)
    ends = rng.permutation(ends)[: 2 * d]
    weights = rng.uniform(0.5, 2.0, len(ends)) * rng.choice([-1.0, 1.0], len(ends))
    # Rows solve x (I - B) = e, which is triangular in causal order.
    M = torch.eye(d, dtype=torch.float64, device=device)
    M[torch.asarray(ends[:, 0], device=device), torch.asarray(ends[:, 1], device=device)] = -torch.asarray(
        weights, device=device
    )
    generator = torch.Generator(device=device).manual_seed(seed)
    X = torch.randn((n, d), dtype=torch.float64, device=device, generator=generator)
    X = torch.linalg.solve_triangular(M, X, upper=True, left=False)
    edges = {(int(order[i]), int(order[j])) for i, j in ends}
    return edges, X[:, torch.asarray(np.argsort(order), device=device)].contiguous()


def edges_and_shd(weights: np.ndarray, truth: set[tuple[int, int]]) -> tuple[int, int]:
    """Return the number of edges, and of node pairs that are wrong."""
    found = set(zip(*map(np.ndarray.tolist, np.nonzero(weights)), strict=True))
    return len(found), len({tuple(sorted(edge)) for edge in found ^ truth})


def wait(device: str) -> float:
    """Return the time once the device has finished its work."""
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    return time.perf_counter()


def same(options: argparse.Namespace) -> None:
    """Compare answers."""
    print("| precision | problems with the same graph | largest difference of a weight |")
    print("|---|---|---|")
    tables = []
    for seed in range(4 if options.quick else 20):
        graph, noise = (("ER1", "ER2", "ER4", "SF4")[seed % 4], ("gaussian-ev", "gumbel")[seed % 2])
        tables.append(simulate((30, 60, 100, 300)[seed // 5 % 4], 1000, graph, noise, random_state=seed).data)
    ours = [Golem("ev").fit(X).weights_ for X in tables]
    for dtype in ("float64", "float32"):
        alike, differences, refused = 0, [0.0], 0
        for X, a in zip(tables, ours, strict=True):
            try:
                b = Golem("ev", device=options.device, dtype=dtype).fit(X).weights_
            except ValueError:  # singular in single precision
                refused += 1
                continue
            alike += np.array_equal(a != 0, b != 0)
            differences.append(np.abs(a - b).max())
        print(f"| order-ev {dtype} | {alike} of {len(ours)}, {refused} refused | {max(differences):.1e} |", flush=True)
    small = tables[:4]
    steps = 50 if options.quick else 2000
    ours = [Golem("ev", "adam", max_iter=steps).fit(X) for X in small]
    for dtype in ("float64", "float32"):
        recipe = Golem("ev", "adam", max_iter=steps, device=options.device, dtype=dtype)
        theirs = [recipe.__class__(**recipe.get_params()).fit(X) for X in small]
        alike = [np.array_equal(a.adjacency_, b.adjacency_) for a, b in zip(ours, theirs, strict=True)]
        largest = max(np.abs(a.raw_weights_ - b.raw_weights_).max() for a, b in zip(ours, theirs, strict=True))
        print(f"| adam, {steps} steps, {dtype} | {sum(alike)} of {len(alike)} | {largest:.1e} |", flush=True)


def take(functions: Accelerated | None = None, replaying: bool = True) -> None:
    """Let Adam replay its steps or not, and accelerate by given functions; without arguments use the defaults."""
    adam_module.accelerated_functions = (lambda B: functions) if functions else accelerated_functions
    adam_module.pays_to_replay = pays_to_replay if replaying else lambda objective: False


def steps(options: argparse.Namespace) -> None:
    """Time steps of whole fits."""
    print("| problems | d | ms per step |")
    print("|---|---|---|")
    count = 30 if options.quick else options.count
    for d in (20,) if options.quick else options.sizes:
        tables = [simulate(d, 2 * d, random_state=100 + seed).data for seed in range(options.problems)]
        spent = []
        for taken in (count // 3, count):
            began = wait(options.device)
            fit_stacked(Golem.paper("ev", device=options.device, max_iter=taken), tables)
            spent.append(wait(options.device) - began)
        each = (spent[1] - spent[0]) / (count - count // 3) * 1e3
        print(f"| {options.problems} | {d} | {each:.2f} |", flush=True)


def adam(options: argparse.Namespace) -> None:
    """Time steps of Adam: one by one with LU, replayed, and accelerated.

    The control is another run, one by one, on a covariance changed by a rounding error. If it ends at a different
    score, so does every run whose sums are rounded differently.
    """
    print(
        "| d | LU, ms per step | replayed | later | accelerated | S(B) relative to LU's, same graph | the control's |"
    )
    print("|---|---|---|---|---|---|---|")
    steps = 30 if options.quick else 1000
    for d in (100,) if options.quick else options.sizes:
        S = Placement(options.device).put(Moments.from_rows(draw(d, 5000, 2, options.device)[1]).covariance)
        functions, found, seconds = Accelerated(), {}, {}
        runs = [("lu", S, steps), ("control", S * (1 + 1e-15), steps), ("replayed", S, steps), ("later", S, 3 * steps)]
        for name, matrix, count in runs + ([("accelerated", S, steps)] if d >= LARGE else []):
            objective = Objective(matrix, GaussianEV(), lambda_sparsity=2e-2, lambda_dag=5.0)
            take(functions, replaying=name not in ("lu", "control"))
            accelerate = name == "accelerated"
            Adam(max_iter=5, accelerate=accelerate).solve(objective)
            functions.inverse = WarmInverse()
            began = wait(options.device)
            found[name] = Adam(max_iter=count, accelerate=accelerate).solve(objective)
            seconds[name] = wait(options.device) - began
        each = {name: spent / steps * 1e3 for name, spent in seconds.items()}
        fast = ""
        if d >= LARGE:
            inverse = functions.inverse
            checks = inverse.checks / inverse.calls
            fast = f"{each['accelerated']:.2f} (LU in {inverse.cold_starts} of {inverse.calls}, {checks:.2f} checks)"
        ends = {name: (one.terms["score"], round_to_dag(one.weights, 0.3).weights != 0) for name, one in found.items()}
        told = [
            f"{abs(ends[name][0] / ends['lu'][0] - 1):.1e}, {np.array_equal(ends[name][1], ends['lu'][1])}"
            for name in ("replayed", "control")
        ]
        print(
            f"| {d} | {each['lu']:.2f} | {each['replayed']:.2f} | {(each['later'] - each['replayed']) / 2:.2f} | "
            f"{fast} | {told[0]} | {told[1]} |",
            flush=True,
        )


def spread(options: argparse.Namespace) -> None:
    """Compare where steps by LU and by warm inverses lead, each from many covariances a rounding error apart."""
    print("| inverses | runs | S(B): standard deviation / mean by LU | mean / mean by LU - 1 | largest | edges | SHD |")
    print("|---|---|---|---|---|---|---|")
    d, steps, runs = (50, 30, 2) if options.quick else (200, 1000, 20)
    truth, X = draw(d, 5000, 2, options.device)
    S = Placement(options.device).put(Moments.from_rows(X).covariance)
    usual, accelerated._DIRECTIONS = accelerated._DIRECTIONS, max(2, d // 50)  # the share of d = 3200
    ends: dict[str, list] = {"LU": [], "warm": []}
    for name, k in ((name, k) for name in ends for k in range(runs)):
        take(Accelerated(), replaying=False)
        objective = Objective(S * (1 + k * 1e-15), GaussianEV(), lambda_sparsity=2e-2, lambda_dag=5.0)
        ends[name].append(Adam(max_iter=steps, accelerate=name != "LU").solve(objective))
    accelerated._DIRECTIONS = usual
    centre = np.mean([one.terms["score"] for one in ends["LU"]])
    for name, solutions in ends.items():
        away = np.array([one.terms["score"] / centre - 1 for one in solutions])
        graphs = [round_to_dag(one.weights, 0.3).weights for one in solutions]
        edges, shd = np.mean([edges_and_shd(graph, truth) for graph in graphs], axis=0)
        print(
            f"| {name} | {runs} | {away.std(ddof=1):.1e} | {away.mean():+.1e} | {away.max():+.1e} | "
            f"{edges:.1f} | {shd:.1f} |",
            flush=True,
        )


def paths(options: argparse.Namespace) -> None:
    """Print S(B) by LU and by warm inverses: it jumps where I - B passes a singular matrix, and recovers."""
    d, steps, runs = (50, 500, 2) if options.quick else (1600, 2000, 3)
    S = Placement(options.device).put(Moments.from_rows(draw(d, 5000, 2, options.device)[1]).covariance)
    found = {}
    for name, k in ((name, k) for name in ("LU", "warm") for k in range(runs)):
        take(Accelerated(), replaying=False)
        objective = Objective(S * (1 + k * 1e-15), GaussianEV(), lambda_sparsity=2e-2, lambda_dag=5.0)
        solution = Adam(max_iter=steps, accelerate=name != "LU").solve(objective)
        found[name, k] = np.array([point.terms["score"] for point in solution.trace])
    middle = np.median([path for (name, _), path in found.items() if name == "LU"], axis=0)
    shown = [steps * k // 4 // 100 for k in (1, 2, 3, 4)]
    heads = " | ".join(f"S(B) at {100 * k}" for k in shown)
    tails = f"points of {steps // 100} 5% above the middle by LU | median of the later half"
    print(f"| inverses | covariance | {heads} | {tails} |")
    print("|---|---|" + "---|" * (len(shown) + 2))
    for (name, k), path in found.items():
        away = path[1:] / middle[1:] - 1
        print(
            f"| {name} | S x (1 + {k}e-15) | {' | '.join(f'{path[i]:.0f}' for i in shown)} | "
            f"{np.count_nonzero(away > 0.05)} | {np.median(away[len(away) // 2 :]):+.1e} |",
            flush=True,
        )


def batch(options: argparse.Namespace) -> None:
    """Time steps of many problems at a time."""
    print("| problems of d = 100 | ms per step | ms per step and problem |")
    print("|---|---|---|")
    steps = 10 if options.quick else 500
    for count in (2,) if options.quick else (1, 16, 64, 192):
        drawn = [simulate(100, 1000, "ER2", random_state=seed).data for seed in range(count)]
        S = Placement(options.device).put(np.stack([Moments.from_rows(X).covariance for X in drawn]))
        objective = Objective(S, GaussianEV(), lambda_sparsity=2e-2, lambda_dag=5.0)
        Adam(max_iter=5).solve(objective)
        began = wait(options.device)
        Adam(max_iter=steps).solve(objective)
        spent = (wait(options.device) - began) / steps * 1e3
        print(f"| {count} | {spent:.2f} | {spent / count:.3f} |", flush=True)


def stacks(options: argparse.Namespace) -> None:
    """Time steps of the stacks that experiments make."""
    print("| problems | d | one by one, ms per step | as taken, ms per step |")
    print("|---|---|---|---|")
    count = 4 if options.quick else 144
    for d in (10,) if options.quick else (10, 20, 50, 100):
        drawn = [simulate(d, 1000, ("ER1", "ER2", "ER4", "SF4")[k % 4], random_state=k).data for k in range(count)]
        S = Placement(options.device).put(np.stack([Moments.from_rows(X).covariance for X in drawn]))
        objective = Objective(S, GaussianEV(), lambda_sparsity=2e-2, lambda_dag=5.0)
        spent = []
        for replaying, steps in ((False, 1000), (True, 5000)):
            steps = 50 if options.quick else steps
            take(replaying=replaying)
            Adam(max_iter=3).solve(objective)
            began = wait(options.device)
            Adam(max_iter=steps).solve(objective)
            spent.append((wait(options.device) - began) / steps * 1e3)
        print(f"| {count} | {d} | {spent[0]:.2f} | {spent[1]:.2f} |", flush=True)


def products(options: argparse.Namespace) -> None:
    """Time the parts of a step of Adam on a large graph."""
    print("| d | numbers | product, ms | LU and inverse, ms |")
    print("|---|---|---|---|")
    d = 300 if options.quick else 3200
    for dtype in (torch.float64, torch.float32):
        A = (
            torch.eye(d, dtype=dtype, device=options.device)
            + torch.rand((d, d), dtype=dtype, device=options.device) / d
        )
        spent = []
        for act in (lambda A=A: A @ A, lambda A=A: logabsdet_and_inverse_transpose(A)):
            act()
            began = wait(options.device)
            for _ in range(20):
                act()
            spent.append((wait(options.device) - began) / 20 * 1e3)
        print(f"| {d} | {dtype} | {spent[0]:.2f} | {spent[1]:.2f} |", flush=True)


PARTS = {part.__name__: part for part in (same, steps, adam, spread, paths, batch, stacks, products)}


def main() -> None:
    """Run the parts named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=list(PARTS))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 400, 1600, 3200], help="of steps, adam")
    parser.add_argument("--problems", type=int, default=1, help="in the stack of steps")
    parser.add_argument("--count", type=int, default=900, help="of steps")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    name = torch.cuda.get_device_name() if options.device.startswith("cuda") else platform.machine()
    print(
        f"golem {golem.__version__}, torch {torch.__version__}, numpy {np.__version__}, {name}, {os.cpu_count()} cores"
    )
    for part in options.parts:
        print(f"\n{part}\n")
        PARTS[part](options)
        take()


if __name__ == "__main__":
    main()
