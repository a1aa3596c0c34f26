"""Compiled lists of the candidates of every node, from pairs of nodes."""

from __future__ import annotations

from typing import Any

from golem.search.jit import entry, kernel


@entry
def fill_lists(one: Any, other: Any, place: Any, others: Any, back: Any, pair: Any) -> None:
    """Write both ends of pairs into the lists of the other end; `place` has the first place of each list, and moves.

    `back` gets the place of each entry's counterpart, and `pair` the number of its pair. If the pairs are sorted and
    the first end is the lower one, so are the lists.
    """
    for p in range(one.size):
        i, j = one[p], other[p]
        a, b = place[i], place[j]
        place[i], place[j] = a + 1, b + 1
        others[a], others[b] = j, i
        back[a], back[b] = b, a
        pair[a], pair[b] = p, p


@kernel
def is_before(by_strength: bool, other: Any, strength: Any, a: int, b: int) -> Any:
    """Return whether entry a comes before entry b: the strongest first, or the lowest first."""
    if by_strength and strength[a] != strength[b]:
        return strength[a] > strength[b]
    return other[a] < other[b]


@kernel
def sort(by_strength: bool, other: Any, strength: Any, start: int, size: int) -> None:
    """Sort some entries by a heap."""
    for step in range(2 * size):
        # The first steps build a heap with the last entry at its root, the others take the root away.
        end = size if step < size else 2 * size - 1 - step
        root = size - 1 - step if step < size else start - start
        if step >= size:
            other[start], other[start + end] = other[start + end], other[start]
            strength[start], strength[start + end] = strength[start + end], strength[start]
        while 2 * root + 1 < end:
            child = 2 * root + 1
            if child + 1 < end and is_before(by_strength, other, strength, start + child, start + child + 1):
                child += 1
            if not is_before(by_strength, other, strength, start + root, start + child):
                break
            a, b = start + root, start + child
            other[a], other[b] = other[b], other[a]
            strength[a], strength[b] = strength[b], strength[a]
            root = child


@entry
def keep_strongest(first: Any, others: Any, strength: Any, most: int, start: int, stop: int, kept: Any) -> None:
    """Sort the strongest entries of some lists by node, before the others; `kept` gets their numbers."""
    for j in range(start, stop):
        size = first[j + 1] - first[j]
        if size > most:
            sort(True, others, strength, first[j], size)
        kept[j] = min(size, most)
        sort(False, others, strength, first[j], kept[j])


@entry
def find_slots(first: Any, others: Any, causes: Any, children: Any, slots: Any) -> None:
    """Find the places of causes in the sorted lists of their children."""
    for e in range(causes.size):
        low, high = first[children[e]], first[children[e] + 1] - 1
        while low < high:
            middle = (low + high) // 2
            if others[middle] < causes[e]:
                low = middle + 1
            else:
                high = middle
        slots[e] = low - first[children[e]]
