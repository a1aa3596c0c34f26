"""Compiled choice of the parents of a node by grow-shrink.

The best candidate is added as long as that lowers the cost. Then the weakest parent is dropped as long as that does,
and then a candidate takes the place of a parent. All are repeated until none lowers the cost.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from golem.search.engines.correlation_kernel_arrays import (
    CENTRE,
    CLOSED,
    COLLINEAR,
    GIVEN,
    OPEN,
    PARENTS,
    PENALTY,
    REST,
    ROLE,
    SIZE,
    TARGET,
    THRESHOLD,
    TINY,
    B,
    CorrelationProblem,
    G,
    H,
    T,
    Work,
    X,
    Z,
)
from golem.search.engines.correlation_regression_kernels import delete, has_drifted, insert, invert, solve, whiten
from golem.search.jit import entry, inlined, kernel
from golem.search.order_kernel_arrays import ALLOWED, NO_NODE, REQUIRED
from golem.search.order_kernels import add_multiple

# Regressions are computed afresh at most so many times per choice.
MOST_REFRESHES = 8
# A swap lowers r by more than this share, which rounding does not.
SWAP = 1e-9
# The gain of an open candidate is below the penalty. So it can only take the place of a parent with a loss of less than
# (1 + rho) / (1 - rho) penalties, where rho is the partial correlation of the two; parents with a larger one stay.
STRONG = 20.0


@kernel
def node_cost(problem: CorrelationProblem, j: int, r: float, k: int) -> Any:
    """Return the cost of node j with k parents and residual variance r."""
    log_r = np.log(max(r, TINY))
    away = log_r - problem.values[CENTRE, j]
    return problem.n * log_r + problem.tightness * away * away + problem.values[PENALTY, k]


@kernel
def gain_window(problem: CorrelationProblem, j: int, r: float, k: int) -> Any:
    """Return the least and the largest decrease of r for which one more parent than k is worth its penalty."""
    if k >= problem.most_parents:
        return r, r
    if problem.tightness == 0.0:
        return problem.values[THRESHOLD, k] * r, r
    # f(x) = n x + tightness (x - centre)^2 is convex in x = log r, so that it is low enough between two roots.
    slope = problem.n + 2.0 * problem.tightness * (np.log(max(r, TINY)) - problem.values[CENTRE, j])
    step = problem.values[PENALTY, k + 1] - problem.values[PENALTY, k]
    discriminant = slope * slope - 4.0 * problem.tightness * step
    if slope <= 0.0 or discriminant < 0.0:
        return r, r
    both = slope + np.sqrt(discriminant)
    return r - r * np.exp(-2.0 * step / both), r - r * np.exp(-both / (2.0 * problem.tightness))


@inlined
def best_addition(problem: CorrelationProblem, R: Any, work: Work, j: int) -> Any:
    """Return the open candidate that lowers the cost most, or NO_NODE."""
    g, h, role = work.vectors[G], work.vectors[H], work.nodes[ROLE]
    best = NO_NODE
    most, top = gain_window(problem, j, work.vectors[REST, 0], work.nodes[SIZE, 0])
    useful = 0
    # Every choice ends without a further candidate. LLVM vectorizes this loop, but not the search for the largest gain.
    for c in range(R.shape[0]):
        gain = g[c] * g[c]
        useful += (gain > most * h[c]) & (h[c] > COLLINEAR) & (gain < top * h[c]) & (role[c] == OPEN)
    for c in range(R.shape[0] if useful > 0 else 0):
        gain = g[c] * g[c]
        if gain > most * h[c] and h[c] > COLLINEAR and gain < top * h[c] and role[c] == OPEN:
            best, most = c, gain / h[c]
    return best


@inlined
def best_removal(problem: CorrelationProblem, kinds: Any, work: Work, j: int) -> Any:
    """Return the index of the parent without which the cost is lower, or NO_NODE."""
    k, r, b = work.nodes[SIZE, 0], work.vectors[REST, 0], work.vectors[B]
    weakest, least = NO_NODE, np.inf
    for i in range(k):
        loss = b[i] * b[i] / work.K[i, i]
        if loss < least and kinds[work.nodes[PARENTS, i]] & REQUIRED == 0:
            weakest, least = i, loss
    if weakest != NO_NODE and node_cost(problem, j, r + least, k - 1) > node_cost(problem, j, r, k) - 1e-9:
        weakest = NO_NODE
    return weakest


@inlined
def best_swap(problem: CorrelationProblem, kinds: Any, R: Any, work: Work, j: int) -> Any:
    """Return the index of a parent and the open candidate in its place that lowers the cost most, or NO_NODE twice.

    Without a parent, g and h are as `delete` computes them.
    """
    g, h, role, z = work.vectors[G], work.vectors[H], work.nodes[ROLE], work.vectors[Z]
    k, r, b, P = work.nodes[SIZE, 0], work.vectors[REST, 0], work.vectors[B], work.nodes[PARENTS]
    out, add, most = NO_NODE, NO_NODE, SWAP * r
    strong = STRONG * problem.values[THRESHOLD, k] * r
    for i in range(k):
        pivot, beta = work.K[i, i], b[i]
        if beta * beta > strong * pivot or kinds[P[i]] & REQUIRED:
            continue
        for c in range(R.shape[0]):
            z[c] = 0.0
        for a in range(k):
            add_multiple(z, work.K[i, a] / pivot, R[P[a]])
        loss = beta * beta / pivot
        useful = 0
        for c in range(R.shape[0]):
            covariance, variance = g[c] + beta * z[c], h[c] + pivot * z[c] * z[c]
            useful += (covariance * covariance > (most + loss) * variance) & (h[c] > COLLINEAR) & (role[c] == OPEN)
        for c in range(R.shape[0] if useful > 0 else 0):
            covariance, variance = g[c] + beta * z[c], h[c] + pivot * z[c] * z[c]
            gain = covariance * covariance - loss * variance
            if gain > most * variance and h[c] > COLLINEAR and role[c] == OPEN:
                out, add, most = i, c, gain / variance
    if out != NO_NODE and node_cost(problem, j, r - most, k) > node_cost(problem, j, r, k) - 1e-6:
        out, add = NO_NODE, NO_NODE
    return out, add


@kernel
def adjust(problem: CorrelationProblem, kinds: Any, R: Any, work: Work, j: int, count: int, drop: int) -> Any:
    """Improve the parents of j until no candidate added, dropped or swapped lowers the cost; return the cost.

    At first the given candidates, `count` of them, are added, and the parent `drop` is dropped for good unless it is
    NO_NODE.
    """
    P, target, x = work.nodes[PARENTS], work.vectors[TARGET], work.vectors[X]
    fresh, refreshes, instead = True, 0, NO_NODE
    # The bound prevents infinite loops through rounding.
    for step in range(count + 8 * R.shape[0] + 8):
        add, out = NO_NODE, NO_NODE
        if step < count:
            c = work.nodes[GIVEN, step]
            sound = work.vectors[H, c] > COLLINEAR or kinds[c] & REQUIRED > 0
            if work.nodes[ROLE, c] == OPEN and sound and work.nodes[SIZE, 0] < problem.most_parents:
                add = c
        elif drop != NO_NODE:
            out = 0
            while work.nodes[PARENTS, out] != drop:
                out += 1
        elif instead != NO_NODE:
            add = instead
            instead = NO_NODE
        else:
            add = best_addition(problem, R, work, j)
            if add == NO_NODE:
                out = best_removal(problem, kinds, work, j)
            if add == NO_NODE and out == NO_NODE:
                out, instead = best_swap(problem, kinds, R, work, j)
            if add == NO_NODE and out == NO_NODE:
                k = work.nodes[SIZE, 0]
                if fresh or not has_drifted(R, P, k, target, work.W, x, work.vectors[REST, 0]):
                    break
                work.vectors[REST, 0] = whiten(R, P, k, target, work.W, x, work.vectors[G], work.vectors[H])
                invert(R, P, k, work.K, work.W, work.vectors[T])
                solve(R, P, k, work.K, target, x, work.vectors[B])
                fresh, refreshes = True, refreshes + 1
                if refreshes == MOST_REFRESHES:
                    break
        if add != NO_NODE:
            insert(R, work, add)
            fresh = False
        elif out != NO_NODE:
            delete(R, work, out)
            fresh = False
            if drop != NO_NODE:
                work.nodes[ROLE, drop] = CLOSED
                drop = NO_NODE
    return node_cost(problem, j, work.vectors[REST, 0], work.nodes[SIZE, 0])


@kernel
def begin(correlations: Any, work: Work) -> None:
    """Start a node with these correlations with its candidates, without parents."""
    g, h, target = work.vectors[G], work.vectors[H], work.vectors[TARGET]
    work.nodes[SIZE, 0] = 0
    work.vectors[REST, 0] = 1.0
    for c in range(correlations.size):
        target[c] = correlations[c]
        g[c] = correlations[c]
        h[c] = 1.0


@entry
def choose_parents(
    problem: CorrelationProblem,
    work: Work,
    nodes: Any,
    first: Any,
    listed: Any,
    within: bool,
    position: Any,
    known: Any,
    everyone: Any,
    kinds: Any,
    chosen: Any,
    r: Any,
    block: Any,
) -> None:
    """Choose parents of some nodes, the i-th of which begins with the nodes `listed[first[i] : first[i + 1]]`.

    With `within`, parents are only chosen from these. Otherwise they are chosen from all nodes at earlier positions, or
    from all nodes if none has a position. Row j of `known` has the kinds of the edges to j; it has no rows without
    knowledge. `everyone` lists all nodes. `kinds` has the kinds of edges without knowledge, and is scratch space
    otherwise. Row i of `chosen` gets the parents, followed by -1, and r[i] the residual
    variance. `block` is scratch space for correlations.
    """
    S, d = problem.S, problem.S.shape[0]
    for i in range(nodes.size):
        j, start = nodes[i], listed[first[i] : first[i + 1]]
        m = start.size if within else d
        R, others = S, everyone
        if within:
            R, others = block[: m * m].reshape((m, m)), start
            for a in range(m):
                for b in range(m):
                    R[a, b] = S[start[a], start[b]]
        for c in range(m):
            work.vectors[TARGET, c] = S[j, others[c]]
        begin(work.vectors[TARGET, :m], work)
        for c in range(m):
            if known.shape[0] > 0:
                kinds[c] = known[j, others[c]]
            precedes = position.size == 0 or position[others[c]] < position[j]
            work.nodes[ROLE, c] = OPEN if precedes and others[c] != j and kinds[c] & ALLOWED else CLOSED
        for q in range(start.size):
            work.nodes[GIVEN, q] = q if within else start[q]
        adjust(problem, kinds, R, work, j, start.size, NO_NODE)
        for q in range(chosen.shape[1]):
            chosen[i, q] = others[work.nodes[PARENTS, q]] if q < work.nodes[SIZE, 0] else -1
        r[i] = work.vectors[REST, 0]


@entry
def fill_blocks(S: Any, first: Any, others: Any, corner: Any, nodes: Any, blocks: Any) -> None:
    """Copy the correlations of the candidates of some nodes from S; those of node j begin at `corner[j]`."""
    for i in range(nodes.size):
        start, stop = first[nodes[i]], first[nodes[i] + 1]
        place = corner[nodes[i]]
        for a in range(start, stop):
            row = S[others[a]]
            for b in range(start, stop):
                blocks[place] = row[others[b]]
                place += 1
