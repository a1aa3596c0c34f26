"""Knowledge files of Tetrad: tiers, forbidden and required edges by name."""

from __future__ import annotations

import itertools
import re

BEGINS = re.compile(r"\s*/?\s*(?:knowledge|addtemporal|forbiddirect|requiredirect)\b", re.IGNORECASE)
_SECTIONS = {"addtemporal": "tiers", "forbiddirect": "forbidden", "requiredirect": "required"}
_TIER = re.compile(r"(\d+)\s*([*-]*)(?=\s|$)\s*(.*)")
_NAME = re.compile(r'"[^"]*"|[^\s,;]+')


def parse_tetrad_knowledge(text: str) -> dict[str, list[tuple[str, ...]]]:
    r"""Return the forbidden and required edges and the tiers of a knowledge file.

    A `*` after the number of a tier forbids edges within it, a `-` forbids edges to all but the next tier. Names with
    blanks are in double quotes.

    Examples
    --------
    >>> parse_tetrad_knowledge("/knowledge\naddtemporal\n1* a b\n2 c\nrequiredirect\na c")
    {'forbidden': [('a', 'b'), ('b', 'a')], 'required': [('a', 'c')], 'tiers': [('a', 'b'), ('c',)]}
    """
    tiers: dict[int, tuple[str, ...]] = {}
    marks: dict[int, str] = {}
    edges: dict[str, list[tuple[str, ...]]] = {"forbidden": [], "required": []}
    section = ""
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.strip()
        if not words or words.startswith("//") or words.lower().replace(" ", "") == "/knowledge":
            continue
        if re.fullmatch(r"[a-z]+", words) and words in (*_SECTIONS, "forbiddengroup", "requiredgroup"):
            section = words
        elif section == "addtemporal" and (tier := _TIER.fullmatch(words)):
            tiers[int(tier[1])] = tiers.get(int(tier[1]), ()) + _names(tier[3])
            marks[int(tier[1])] = tier[2]
        elif section in ("forbiddirect", "requiredirect") and len(_names(words)) == 2:
            edges[_SECTIONS[section]].append(_names(words))
        else:
            raise ValueError(_complaint(number, words, section))
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
    if section.endswith("group"):
        return f"Line {number}: {section} is not supported. List the edges under forbiddirect or requiredirect."
    expected = {
        "addtemporal": "a number of a tier and its names, such as '1 A B'",
        "": "addtemporal, forbiddirect or requiredirect",
    }.get(section, "two names, such as 'A B'")
    return f"Line {number} of the knowledge is {words[:80]!r}. Expected {expected}."
