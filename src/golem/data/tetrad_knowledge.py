"""Knowledge files of Tetrad: tiers, forbidden and required edges by name."""

from __future__ import annotations

import itertools
import re

_EDGES = {"forbiddirect": "forbidden", "requiredirect": "required"}
_GROUPS = {"forbiddengroup": "forbidden", "requiredgroup": "required"}
_SECTIONS = ("addtemporal", *_EDGES, *_GROUPS)
BEGINS = re.compile(rf"\s*/?\s*(?:knowledge|{'|'.join(_SECTIONS)})\b", re.IGNORECASE)
_TIER = re.compile(r"(\d+)\s*([*-]*)(?=\s|$)\s*(.*)")
_NAME = re.compile(r'"[^"]*"|[^\s,;]+')


def parse_tetrad_knowledge(text: str) -> dict[str, list[tuple[str, ...]]]:
    r"""Return the forbidden and required edges and the tiers of a knowledge file.

    A `*` after the number of a tier forbids edges within it, a `-` forbids edges to all but the next tier. A group is
    two lines of names, and stands for all edges from the first line to the second. Names with blanks are in double
    quotes.

    Examples
    --------
    >>> parse_tetrad_knowledge("/knowledge\naddtemporal\n1* a b\n2 c\nrequiredirect\na c")
    {'forbidden': [('a', 'b'), ('b', 'a')], 'required': [('a', 'c')], 'tiers': [('a', 'b'), ('c',)]}
    """
    tiers: dict[int, tuple[str, ...]] = {}
    marks: dict[int, str] = {}
    edges: dict[str, list[tuple[str, ...]]] = {"forbidden": [], "required": []}
    section, sources = "", None  # `sources` is the first line of a group
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.strip()
        if not words or words.startswith("//") or words.lower().replace(" ", "") == "/knowledge":
            continue
        if words.lower() in _SECTIONS and sources is None:
            section = words.lower()
        elif section == "addtemporal" and (tier := _TIER.fullmatch(words)):
            tiers[int(tier[1])] = tiers.get(int(tier[1]), ()) + _names(tier[3])
            marks[int(tier[1])] = tier[2]
        elif section in _EDGES and len(_names(words)) == 2:
            edges[_EDGES[section]].append(_names(words))
        elif section in _GROUPS and sources is None:
            sources = _names(words)
        elif section in _GROUPS and words.lower() not in _SECTIONS:
            edges[_GROUPS[section]] += itertools.product(sources or (), _names(words))
            sources = None
        else:
            raise ValueError(_complaint(number, words, section))
    if sources is not None:
        raise ValueError("The last group of the knowledge has one line. Add the names of the effects below it.")
    for k, tier_number in enumerate(ordered := sorted(tiers)):
        tier_names = tiers[tier_number]
        if "*" in marks[tier_number]:
            edges["forbidden"] += itertools.permutations(tier_names, 2)
        if "-" in marks[tier_number]:
            later = [name for other in ordered[k + 2 :] for name in tiers[other]]
            edges["forbidden"] += itertools.product(tier_names, later)
    return edges | {"tiers": [tiers[number] for number in ordered]}


def _names(text: str) -> tuple[str, ...]:
    """Split names at blanks and commas outside of quotes."""
    return tuple(name.strip('"') for name in _NAME.findall(text))


def _complaint(number: int, words: str, section: str) -> str:
    """Return the error for a line that is not understood."""
    names = ", ".join(_SECTIONS[:-1])
    expected = {
        "addtemporal": "a number of a tier and its names, such as '1 A B'",
        "": f"{names} or {_SECTIONS[-1]}",
    } | dict.fromkeys(_GROUPS, "the second line of a group, with the names of the effects")
    wanted = expected.get(section, "two names, such as 'A B'")
    return f"Line {number} of the knowledge is {words[:80]!r}. Expected {wanted}."
