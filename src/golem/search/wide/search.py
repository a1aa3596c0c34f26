"""The search over orders of very many nodes, in threads, with candidates for which correlations are computed."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from golem.graphs.edges import Edges
from golem.runtime.machine import available_cores
from golem.runtime.threads import in_chunks
from golem.runtime.types import BoolVector, Indices, Vector
from golem.search.chain import empty_agenda
from golem.search.engines import correlation_kernel_arrays as arrays
from golem.search.engines.correlation_candidates import empty_state, scratch
from golem.search.order_kernel_arrays import ALLOWED, COST, COUNT, LIKELY, POSITION
from golem.search.wide import column_kernels, list_kernels, local_kernels
from golem.search.wide.candidates import spaces
from golem.search.wide.screening import Columns

# Seeds that a thread takes at a time, and room for the patches that they give.
_SEEDS, _NODES, _PARENTS = 256, 1 << 15, 1 << 17
# Rounds of climbing at most; places are renumbered after so many.
_MOST_ROUNDS, _RENUMBER = 400, 8
# A walk ends if it raises the score by the penalty of so many edges: from a start or a reversal, and after a
# perturbation.
_FAR, _NEAR = 6.0, 2.0
# Visits of a local search while many nodes wait, and when few do; after a perturbation; with a reversed edge.
_FIRST_VISITS, _VISITS, _AFTER_KICK, _AFTER_REVERSAL = 1, 20, 60, 200
# Lists with more candidates are shortened.
_LONGEST = 250


class WideLists(NamedTuple):
    """The candidates of every node, sorted: the first place of each node, others, and whether they are likely.

    `back` has the places of the nodes in the lists of their candidates.
    """

    first: Indices
    others: Indices
    likely: BoolVector
    back: Indices

    @classmethod
    def of(cls, one: Indices, other: Indices, likely: BoolVector, d: int) -> WideLists:
        """Return the lists of sorted pairs, each of which is given once, with the lower end first."""
        degree = np.bincount(one, minlength=d) + np.bincount(other, minlength=d)
        if degree.max(initial=0) > _LONGEST:  # hubs: their likely pairs come first
            one, other, likely = _shortened(one, other, likely, d)
        degree = np.bincount(one, minlength=d) + np.bincount(other, minlength=d)
        first = np.append(0, np.cumsum(degree))
        others, back, pair = (np.empty(first[-1], dtype=np.int64) for _ in range(3))
        list_kernels.fill_lists(one, other, first.copy(), others, back, pair)
        return cls(first, others, likely[pair], back - first[others])


def _shortened(one: Indices, other: Indices, likely: BoolVector, d: int) -> tuple[Indices, Indices, BoolVector]:
    """Leave out pairs of nodes with very many candidates."""
    kept = np.ones(len(one), dtype=bool)
    for ends in (one, other):
        order = np.lexsort((~likely, ends))
        rank = np.arange(len(order)) - np.searchsorted(ends[order], ends[order])
        kept[order[rank >= _LONGEST // 2]] = False
    return one[kept], other[kept], likely[kept]


class WideSearch:
    """A search of one table, or of some of its rows, with given candidates.

    Parameters
    ----------
    Z : ndarray of shape (d, n)
        Standardized columns, in rows.
    rows : ndarray of int
        The rows to use.
    lists : WideLists
        The candidates.
    problem : CorrelationProblem
        The score.
    check : callable
        Called with a share of the work; it may raise to end the search.
    """

    def __init__(
        self,
        Z: Columns,
        rows: Indices,
        lists: WideLists,
        problem: arrays.CorrelationProblem,
        check: Callable[[str, float], None] = lambda stage, share: None,
    ) -> None:
        self.d, self.problem, self.lists, self._check = len(Z), problem, lists, check
        d, first, others = self.d, lists.first, lists.others
        sizes = np.diff(first)
        self.longest = int(sizes.max(initial=0))
        corner = np.cumsum(sizes**2) - sizes**2
        blocks, targets = np.empty(int((sizes**2).sum())), np.empty(len(others))

        def fill(a: int, b: int) -> None:
            column_kernels.fill_correlations(
                Z, rows, first, others, corner, a, b, *spaces(self.longest + 1), targets, blocks
            )

        check("correlations", 0.0)
        in_chunks(fill, d, 512)
        owners = np.repeat(np.arange(d), sizes)
        kinds = np.where(lists.likely, ALLOWED | LIKELY, ALLOWED)
        slots = np.stack([others, lists.back, np.arange(len(others)) - first[owners], kinds])
        self.candidates = arrays.Candidates(
            first=first,
            slots=slots,
            targets=targets,
            corner=corner,
            blocks=blocks,
            keys=np.random.default_rng(0).integers(1, 2**63, size=(2, d), dtype=np.uint64),
        )
        self.edge_penalty = float(problem.values[arrays.PENALTY, min(1, d - 1)])
        self.shared = empty_state(d, len(others))
        self._threads: list[arrays.CorrelationArrays] = []
        self._rounds = 0

    @property
    def score(self) -> float:
        """The sum of the costs of all nodes."""
        return float(self.shared.values[COST].sum())

    @property
    def edges(self) -> Edges:
        """The graph, its edges sorted by child, then cause."""
        count, first = self.shared.nodes[COUNT], self.candidates.first
        children = np.repeat(np.arange(self.d), count)
        corner = first[children]
        places = corner + np.arange(len(children)) - (np.cumsum(count) - count)[children]
        return Edges(self.lists.others[corner + self.shared.parents[places]], children, self.d)

    @property
    def residual_variances(self) -> Vector:
        """Of the standardized columns, given their parents."""
        return np.asarray(self.shared.values[arrays.RESIDUAL])

    def begin(self, order: Indices) -> None:
        """Begin with an order, and with parents chosen among the candidates that come first."""
        self.shared.nodes[POSITION, order] = np.arange(self.d) * local_kernels.SPACING
        with ThreadPoolExecutor(available_cores()) as pool:
            agendas = [self._arrays(self.shared, private=False) for _ in range(available_cores())]
            parts = np.linspace(0, self.d, len(agendas) + 1).astype(int).tolist()
            list(pool.map(local_kernels.choose_first, agendas, parts[:-1], parts[1:]))
        self._threads = []

    def begin_with(self, edges: Edges, order: Indices) -> None:
        """Begin with a graph whose edges connect candidates, in an order that it allows."""
        d, first = self.d, self.candidates.first
        self.shared.nodes[POSITION, order] = np.arange(d) * local_kernels.SPACING
        edges = edges.by_child()
        parents = np.empty(len(edges), dtype=np.int64)
        list_kernels.find_slots(first, self.lists.others, edges.causes, edges.children, parents)
        count = np.bincount(edges.children, minlength=d)
        where = np.cumsum(count) - count
        free = [self._arrays(self.shared, private=False) for _ in range(available_cores())]

        def apply(a: int, b: int) -> None:
            e = free.pop()
            local_kernels.apply_patches(e, np.arange(a, b), count[a:b], where[a:b], parents)
            free.append(e)

        in_chunks(apply, d, 4096)
        self._threads = []

    def climb(self, awake: BoolVector | None = None) -> None:
        """Move nodes to better places until none has one; by default all are visited."""
        waiting = np.ones(self.d, dtype=np.uint8) if awake is None else awake.astype(np.uint8)
        lowest, idle = math.inf, 0
        for _ in range(_MOST_ROUNDS):
            seeds = np.flatnonzero(waiting)
            if not len(seeds) or idle > 3:
                break
            visits = _FIRST_VISITS if len(seeds) > self.d / 8 else _VISITS
            waiting[:] = 0
            self._round(seeds, False, visits, _FAR * self.edge_penalty, waiting)
            score = self.score
            lowest, idle = (score, 0) if score < lowest - 1e-3 else (lowest, idle + 1)
            self._check("search", 1 - len(seeds) / self.d)

    def perturb(self, seeds: Indices, times: int) -> None:
        """Perturb the order near some nodes, and keep what improves."""
        for k in range(times):
            woken = np.zeros(self.d, dtype=np.uint8)
            self._round(seeds, True, _AFTER_KICK, _NEAR * self.edge_penalty, woken, salt=self._rounds)
            self.climb(woken > 0)
            self._check("perturbations", (k + 1) / times)

    def reversal_losses(self, causes: Indices, children: Indices) -> Vector:
        """Return how much worse the best graphs near this one are that have the reverse of each of some edges."""
        losses, barrier = np.empty(len(causes)), _FAR * self.edge_penalty
        free = self._private()

        def search(begin: int, a: int, b: int) -> None:
            e, some = free.pop(), slice(begin + a, begin + b)
            local_kernels.reverse_edges(
                e, self.shared, causes[some], children[some], _AFTER_REVERSAL, barrier, losses[some]
            )
            free.append(e)

        for begin in range(0, len(causes), 1 << 15):
            end = min(begin + (1 << 15), len(causes))
            in_chunks(functools.partial(search, begin), end - begin, 64)
            self._check("margins", end / max(len(causes), 1))
        return losses

    def _arrays(self, state: arrays.State, private: bool) -> arrays.CorrelationArrays:
        """Return the arrays of a thread."""
        candidates, total = self.candidates, len(self.lists.others)
        if private:
            candidates = candidates._replace(slots=candidates.slots.copy())
            state = arrays.State(*(part.copy() for part in state))
        work = self.longest, self.problem.most_parents
        agenda = empty_agenda(self.d, total if private else 0, 0)
        agenda = agenda._replace(pool=agenda.pool[:1], shift=np.zeros(self.longest + 2))
        return arrays.CorrelationArrays(self.problem, candidates, state, agenda, scratch(*work), scratch(*work))

    def _private(self) -> list[arrays.CorrelationArrays]:
        """Return the arrays of each thread, whose states are equal to the common one."""
        if not self._threads:
            with ThreadPoolExecutor(available_cores()) as pool:
                self._threads = list(pool.map(lambda _: self._arrays(self.shared, True), range(available_cores())))
        return self._threads

    def _round(
        self, seeds: Indices, kicks: bool, visits: int, barrier: float, woken: NDArray[np.uint8], salt: int = 0
    ) -> None:
        """Search near some nodes, apply patches that do not touch each other, and note which nodes to visit next."""
        free, patches = self._private(), []

        def search(a: int, b: int) -> None:
            e = free.pop()
            while a < b:
                header, gains = np.zeros((4, b - a), dtype=np.int64), np.zeros(b - a)
                body, parents = np.zeros((3, _NODES), dtype=np.int64), np.zeros(_PARENTS, dtype=np.int64)
                used = np.zeros(3, dtype=np.int64)
                a += local_kernels.explore(
                    e, self.shared, seeds[a:b], kicks, visits, barrier, salt, header, gains, body, parents, used
                )
                if used[0]:
                    patches.append(
                        (header[:, : used[0]], gains[: used[0]], body[:, : used[1]].copy(), parents[: used[2]].copy())
                    )
            free.append(e)

        in_chunks(search, len(seeds), _SEEDS)
        self._rounds += 1
        if patches:
            self._apply(patches, woken)
        if self._rounds % _RENUMBER == 0:
            self._renumber()

    def _apply(self, patches: list[Any], woken: NDArray[np.uint8]) -> None:
        """Apply the best patches that do not touch each other; the seeds of the others are visited again."""
        patches.sort(key=lambda patch: int(patch[0][0, 0]))  # by the first seed: threads end in any order
        nodes = np.cumsum([0] + [patch[2].shape[1] for patch in patches])
        lists = np.cumsum([0] + [len(patch[3]) for patch in patches])
        for patch, node, start in zip(patches, nodes, lists, strict=False):
            patch[0][local_kernels.BODY] += node
            patch[0][local_kernels.BODY_END] += node
            patch[0][local_kernels.LIST] += start
        header, gains, body, parents = (np.concatenate(parts, axis=-1) for parts in zip(*patches, strict=True))
        order = np.lexsort((header[0], -gains))
        accepted = np.zeros(len(gains), dtype=np.uint8)
        position, d = self.shared.nodes[POSITION], self.d
        local_kernels.select_patches(
            self.candidates.first, self.candidates.slots, position, order, header, body,
            np.zeros(d, dtype=np.uint8), np.zeros(d, dtype=np.uint8), accepted,
        )  # fmt: skip
        woken[header[0, accepted == 0]] = 1
        sizes = header[local_kernels.BODY_END] - header[local_kernels.BODY]
        chosen = np.repeat(accepted, sizes) > 0
        counts = body[local_kernels.PARENT_COUNT]
        where = (np.cumsum(counts) - counts)[chosen]
        changed, places, counts = body[0, chosen], body[local_kernels.PLACE, chosen], counts[chosen]
        position[changed] = places
        free = self._threads

        def apply(a: int, b: int) -> None:
            e = free.pop()
            common = e._replace(state=self.shared)
            local_kernels.apply_patches(common, changed[a:b], counts[a:b], where[a:b], parents)
            local_kernels.forget(common, woken)
            free.append(e)

        in_chunks(apply, len(changed), 1024)
        self._each(lambda e: local_kernels.follow(e, self.shared, changed))

    def _each(self, task: Callable[[arrays.CorrelationArrays], None]) -> None:
        """Do something with the private arrays of each thread."""
        with ThreadPoolExecutor(len(self._threads)) as pool:
            list(pool.map(task, self._threads))

    def _renumber(self) -> None:
        """Spread the places in the order evenly."""
        position = self.shared.nodes[POSITION]
        position[np.argsort(position, kind="stable")] = np.arange(self.d) * local_kernels.SPACING

        def copy(e: arrays.CorrelationArrays) -> None:
            e.state.nodes[POSITION] = position

        self._each(copy)
