"""Layout of graphs in layers from top to bottom, causes above effects.

The method of Sugiyama, Tagawa and Toda (1981): layers with short edges (network simplex), few crossings (barycentres
and transposition), then positions. fast-sugiyama finds layers and orders; the positions are computed here, because
names have different widths.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from golem.graphs.dag import as_adjacency, is_dag, topological_order
from golem.graphs.edges import Edges
from golem.runtime.types import BoolMatrix

if TYPE_CHECKING:
    from collections.abc import Sequence

Points = NDArray[np.float64]
Pair = tuple[int, int]
# Sweeps over the layers; the picture no longer changes visibly after a few.
SWEEPS = 24
# Width divided by height of the space for a drawing.
SCREEN_SHAPE = 1.7
# With more layers than this, layers are closer to each other, so that names stay legible.
FEW_LAYERS = 6
# Room for an edge that passes a layer.
PASSING_WIDTH = 12.0
# Room between two layers from left to right.
RIGHTWARD_GAP = 56.0


@dataclass(frozen=True, eq=False)
class Layout:
    """The positions of a drawing; y grows downwards.

    Parameters
    ----------
    positions : array of shape (d, 2)
        Centres of the nodes.
    bends : dict of (int, int) to array of shape (k, 2)
        For an edge over several layers, the points where it passes the layers in between.
    size : tuple of float
        Width and height.
    """

    positions: Points
    bends: dict[Pair, Points]
    size: tuple[float, float]


def layered_layout(
    matrix: ArrayLike,
    widths: Sequence[float],
    gap: float = 22.0,
    layer_height: float = 92.0,
    *,
    shape: float | None = None,
) -> Layout:
    """Place the nodes of a graph in layers, causes above effects, without overlaps.

    Connected parts are placed on shelves, the largest first; isolated nodes in rows at the bottom. If there is a cycle,
    few edges point up. The same graph always gets the same layout.

    Parameters
    ----------
    matrix : array of shape (d, d)
        Edges or weights, [i, j] for i -> j.
    widths : sequence of float
        The widths of the nodes.
    gap : float
        The smallest distance between two nodes of a layer.
    layer_height : float
        The distance between two layers. It is larger for wide layers, so that edges can be followed, and a little
        smaller for many narrow ones, unless a shape is given.
    shape : float, optional
        Width divided by height of the space, by which connected parts are placed; that of a screen if it is None.

    Examples
    --------
    >>> layout = layered_layout([[0, 1, 1], [0, 0, 1], [0, 0, 0]], [40, 40, 40])
    >>> layout.positions[:, 1]
    array([ 46., 138., 230.])
    >>> sorted(layout.bends)
    [(0, 2)]
    """
    adjacency = _without_cycles(as_adjacency(matrix))
    room = np.asarray(widths, dtype=float) + gap
    isolated = np.nonzero(~(adjacency.any(axis=0) | adjacency.any(axis=1)))[0]
    parts = [_place_component(*part, room) for part in _components(adjacency)]
    parts.sort(key=lambda part: (-len(part.nodes), part.nodes[0]))
    if parts and shape is None:
        widest, layers = parts[0].extent
        least = layer_height if layers <= FEW_LAYERS else 0.72 * layer_height
        layer_height = min(max(least, widest / SCREEN_SHAPE / layers), 4 * layer_height)
    positions = np.zeros((len(adjacency), 2))
    bends: dict[Pair, Points] = {}
    scale, middle = np.array([1.0, layer_height]), np.array([0.0, layer_height / 2])
    extents = [part.extent * scale for part in parts]
    tried = [_shelves(extents, target) for target in np.cumsum([extent[0] for extent in extents])]
    space = np.array([shape or SCREEN_SHAPE, 1.0])
    corners, size = min(tried, key=lambda shelves: max(shelves[1] / space), default=([], np.zeros(2)))
    for part, corner in zip(parts, corners, strict=True):
        positions[part.nodes] = corner + part.places * scale + middle
        bends |= {edge: corner + points * scale + middle for edge, points in part.bends.items()}
    row_height = min(layer_height, 60.0) if shape is None else layer_height
    boxes = [np.array([room[node], row_height]) for node in isolated]
    corners, rows = _shelves(boxes, max(size[0], 6 * room.max(initial=0.0)))
    for node, corner, box in zip(isolated, corners, boxes, strict=True):
        positions[node] = [corner[0] + box[0] / 2, size[1] + corner[1] + row_height / 2]
    return Layout(positions, bends, (float(max(size[0], rows[0])), float(size[1] + rows[1])))


def tiered_layout(
    matrix: ArrayLike, widths: Sequence[float], tiers: Sequence[Sequence[int]], **options: float
) -> tuple[Layout, list[float]]:
    """Place the nodes of every tier below those of the tiers before it; return the layout and where the tiers begin.

    Between two tiers is an invisible node, an effect of the first and a cause of the second, which keeps them apart.
    Nodes without a tier can be anywhere. The options are those of `layered_layout`.

    Examples
    --------
    >>> layout, begin = tiered_layout(np.zeros((3, 3)), [40, 40, 40], [[2], [0, 1]])
    >>> layout.positions[2, 1] < begin[1] < layout.positions[0, 1] == layout.positions[1, 1]
    np.True_
    """
    adjacency = as_adjacency(matrix)
    d, more = len(adjacency), max(len(tiers) - 1, 0)
    apart = np.zeros((d + more, d + more), dtype=bool)
    apart[:d, :d] = adjacency
    for k in range(more):
        apart[list(tiers[k]), d + k] = True
        apart[d + k, list(tiers[k + 1])] = True
    layout = layered_layout(apart, [*widths, *[PASSING_WIDTH] * more], **options)
    bends = {edge: points for edge, points in layout.bends.items() if max(edge) < d}
    begin = [0.0, *layout.positions[d:, 1].tolist()]
    return Layout(layout.positions[:d], bends, layout.size), begin


def rightward_layout(
    matrix: ArrayLike, widths: Sequence[float], tiers: Sequence[Sequence[int]], node_height: float = 30.0
) -> tuple[Layout, list[float]]:
    """Place the nodes in layers from left to right; the arguments and the result are those of `tiered_layout`.

    Examples
    --------
    >>> layout, _ = rightward_layout([[0, 1], [0, 0]], [40, 60], [])
    >>> bool(layout.positions[0, 0] < layout.positions[1, 0])
    True
    """
    layers = max(widths, default=0.0) + RIGHTWARD_GAP
    layout, begin = tiered_layout(
        matrix, [node_height] * len(widths), tiers, gap=18.0, layer_height=layers, shape=1 / SCREEN_SHAPE
    )
    bends = {edge: points[:, ::-1] for edge, points in layout.bends.items()}
    return Layout(layout.positions[:, ::-1], bends, layout.size[::-1]), begin


def causal_order(edges: Edges) -> NDArray[np.intp]:
    """Return the nodes in causal order; if there is a cycle, few edges point back."""
    try:
        return edges.order()
    except ValueError:
        return topological_order(_without_cycles(edges.matrix()))


def _without_cycles(adjacency: BoolMatrix) -> BoolMatrix:
    """Reverse a few edges so that no cycle remains (the greedy order of Eades, Lin and Smyth 1993)."""
    if is_dag(adjacency):
        return adjacency
    left = np.ones(len(adjacency), dtype=bool)
    first: list[int] = []
    last: list[int] = []
    while left.any():
        out, into = adjacency[:, left].sum(axis=1), adjacency[left].sum(axis=0)
        # A sink goes to the end, a source to the beginning, else the node with the largest surplus of effects.
        sinks = np.nonzero(left & (out == 0))[0]
        if len(sinks):
            last.append(int(sinks[0]))
        else:
            first.append(int(np.argmax(np.where(left & (into == 0), np.inf, np.where(left, out - into, -np.inf)))))
        left[(last if len(sinks) else first)[-1]] = False
    place = np.empty(len(adjacency), dtype=int)
    place[first + last[::-1]] = np.arange(len(adjacency))
    forward = place[:, None] < place[None, :]
    return np.asarray((adjacency | adjacency.T) & forward)


def edge_curves(layout: Layout, widths: Sequence[float], matrix: ArrayLike, node_height: float) -> dict[Pair, Points]:
    """Return the cubic Bezier curve of every edge, from box to box through its bends, vertical at every layer.

    Edges leave and enter a box next to each other, sorted by their other ends. The script of the report does the same
    for nodes that are dragged.

    Returns
    -------
    dict of (int, int) to array of shape (3 k + 1, 2)
        The first point, then two control points and an end for each of k pieces.
    """
    place, half = layout.positions, node_height / 2
    edges = [(int(i), int(j)) for i, j in np.argwhere(as_adjacency(matrix))]
    middle = {edge: layout.bends.get(edge, np.zeros((0, 2))) for edge in edges}
    starts: dict[Pair, Points] = {}
    stops: dict[Pair, Points] = {}
    for node in range(len(place)):
        leaving = sorted((e for e in edges if e[0] == node), key=lambda e: [*middle[e][:, 0], place[e[1], 0]][0])
        entering = sorted((e for e in edges if e[1] == node), key=lambda e: [place[e[0], 0], *middle[e][:, 0]][-1])
        for ends, group, side in ((starts, leaving, half), (stops, entering, -half)):
            step = min(12.0, (widths[node] - 14) / max(1, len(group) - 1))
            for k, edge in enumerate(group):
                ends[edge] = place[node] + [(k - (len(group) - 1) / 2) * step, side]
    curves = {}
    for edge in edges:
        points = [starts[edge], *middle[edge], stops[edge]]
        curve = [points[0]]
        for a, b in itertools.pairwise(points):
            level = (a[1] + b[1]) / 2
            curve += [np.array([a[0], level]), np.array([b[0], level]), b]
        curves[edge] = np.array(curve)
    return curves


def _shelves(extents: list[Points], target: float) -> tuple[list[Points], Points]:
    """Place boxes on shelves of at most a width; return their corners and the size of all shelves."""
    corners, corner, shelf, width = [], np.zeros(2), 0.0, 0.0
    for extent in extents:
        if corner[0] and corner[0] + extent[0] > target:
            corner, shelf = np.array([0.0, corner[1] + shelf]), 0.0
        corners.append(corner.copy())
        corner[0] += extent[0]
        shelf, width = max(shelf, extent[1]), max(width, corner[0])
    return corners, np.array([width, corner[1] + shelf])


@dataclass(frozen=True, eq=False)
class _Component:
    """One connected part: places with the number of the layer as y, and the extent."""

    nodes: NDArray[np.intp]
    places: Points
    bends: dict[Pair, Points]
    extent: Points


def _components(adjacency: BoolMatrix) -> list[tuple[dict[int, tuple[float, float]], list[Pair]]]:
    """Return places and segments per connected part, with dummy nodes (numbers >= d) where edges pass layers."""
    from fast_sugiyama import from_edges

    edges = [(int(i), int(j)) for i, j in np.argwhere(adjacency)]
    if not edges:
        return []
    # The package numbers the nodes in the order of the edges.
    labels = sorted({node for edge in edges for node in edge})
    number = {node: k for k, node in enumerate(labels)}
    found: Any = from_edges(
        [(number[i], number[j]) for i, j in edges],
        vertex_spacing=1,
        dummy_vertices=True,
        ranking_type="minimize",
        crossing_minimization="barycenter",
        transpose=True,
    )

    def own(node: int) -> int:
        return labels[node] if node < len(labels) else len(adjacency) + node

    return [
        ({own(node): place for node, place in places}, [(own(a), own(b)) for a, b in segments or ()])
        for places, _, _, segments in found
    ]


def _place_component(places: dict[int, tuple[float, float]], segments: list[Pair], room: Points) -> _Component:
    """Turn layers and orders into places, each node as close to its neighbours as the others allow.

    Sweeps go down and up over the layers. In a layer, an isotonic regression of the wished places gives the
    least-squares places that keep the order and the distances.
    """
    from scipy.optimize import isotonic_regression
    from scipy.sparse import coo_array

    keys = sorted(places)
    index = {key: k for k, key in enumerate(keys)}
    wide = np.array([room[key] if key < len(room) else PASSING_WIDTH for key in keys])
    layer = np.unique([places[key][1] for key in keys], return_inverse=True)[1]
    # y may grow upwards or downwards: the layer of the causes is the first.
    if segments and np.mean([layer[index[b]] - layer[index[a]] for a, b in segments]) < 0:
        layer = layer.max() - layer
    rows = [
        sorted(np.nonzero(layer == k)[0], key=lambda node: places[keys[node]][0]) for k in range(int(layer.max()) + 1)
    ]
    # Long edges should be straighter than short ones (Gansner et al. 1993).
    stiffness = np.where(np.array(keys) >= len(room), 4.0, 1.0)
    ends = np.array([(index[a], index[b]) for a, b in segments])
    pulls = coo_array((stiffness[ends[:, 1]], (ends[:, 0], ends[:, 1])), shape=(len(keys), len(keys))).tocsr()
    pulls = pulls + coo_array((stiffness[ends[:, 0]], (ends[:, 1], ends[:, 0])), shape=pulls.shape).tocsr()
    layers = []
    x = np.zeros(len(keys))
    for row in rows:
        offset = np.cumsum(wide[row]) - wide[row] / 2
        x[row] = offset - offset.mean()
        layers.append((row, offset, pulls[row], np.asarray(pulls[row].sum(axis=1)).ravel()))
    for sweep in range(SWEEPS):
        for row, offset, pull, total in layers[:: 1 if sweep % 2 == 0 else -1]:
            wish = pull @ x / total
            x[row] = isotonic_regression(wish - offset, weights=stiffness[row]).x + offset
    x -= (x - wide / 2).min()
    extent = np.array([(x + wide / 2).max(), layer.max() + 1.0])
    # In sorted order the real nodes come before the dummy nodes.
    nodes = np.array([key for key in keys if key < len(room)])
    points = np.column_stack([x, layer.astype(float)])
    return _Component(nodes, points[: len(nodes)], _bends(index, segments, points, len(room)), extent)


def _bends(index: dict[int, int], segments: list[Pair], points: Points, d: int) -> dict[Pair, Points]:
    """Return the dummy nodes of each long edge, from its source to its target."""
    following = {a: b for a, b in segments if a >= d}
    bends = {}
    for start, step in segments:
        if start >= d or step < d:
            continue
        passed = []
        while step >= d:
            passed.append(points[index[step]])
            step = following[step]
        bends[start, step] = np.array(passed)
    return bends
