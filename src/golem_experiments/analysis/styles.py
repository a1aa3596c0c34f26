"""The look of methods, and of kinds of evidence, in figures.

The colours are those of Okabe and Ito (2008), which are distinct for every kind of colour vision, and a brown. Markers
and dashes distinguish the methods without colour. The lines of our methods are dashed and have open markers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
BLACK, GREY, BROWN = "#1d1d1d", "#8a8a8a", "#7a4b2a"
DASHED, DOTTED = (0, (5, 2)), (0, (1, 1.5))


@dataclass(frozen=True)
class Style:
    """The look of the line of a method."""

    color: str
    marker: str
    dashes: Any = "solid"
    open: bool = False

    def options(self) -> dict[str, Any]:
        """Return arguments for matplotlib's `errorbar` and `plot`."""
        return {
            "color": self.color,
            "marker": self.marker,
            "linestyle": self.dashes,
            "markerfacecolor": "white" if self.open else self.color,
            "markersize": 4.5,
            "linewidth": 1.3,
        }


STYLES: dict[str, Style] = {
    "golem-ev": Style(BLUE, "o"),
    "golem-ev-l1": Style(SKY, "^"),
    "golem-ev-accelerated": Style(SKY, "o", DOTTED),
    "golem-ev-plain": Style(BLACK, "v", DOTTED),
    "golem-nv": Style(VERMILLION, "s"),
    "golem-nv-l1": Style(ORANGE, "^"),
    "golem-nv-plain": Style(PURPLE, "<", DOTTED),
    "golem-nv-zeros": Style(ORANGE, "P", DOTTED),
    "order-ev": Style(BLUE, "o", DASHED, open=True),
    "order-nv": Style(VERMILLION, "s", DASHED, open=True),
    "order": Style(BLACK, "*", DASHED, open=True),
    "order-hard": Style(BLUE, "D", DASHED, open=True),
    "order-soft": Style(GREEN, "p", DASHED, open=True),
    "order-bdeu": Style(BLUE, "D", DASHED, open=True),
    "order-discrete-bic": Style(SKY, "^", DASHED, open=True),
    "order-mixed": Style(GREEN, "p", DASHED, open=True),
    "gies": Style(ORANGE, "s"),
    "gies-chordless": Style(ORANGE, "D", DOTTED, open=True),
    "pgmpy-hc-bdeu": Style(PURPLE, "D"),
    "pgmpy-hc-bic": Style(PURPLE, "d", DOTTED, open=True),
    "pgmpy-ges-bic": Style(ORANGE, "P"),
    "causal-learn-ges-bdeu": Style(BROWN, "h"),
    "pcmci-plus": Style(PURPLE, "D"),
    "var-lingam": Style(ORANGE, "P"),
    "notears-l1": Style(GREEN, "^"),
    "notears": Style(GREEN, "v", DOTTED),
    "fgs": Style(PURPLE, "D"),
    "fgs-bic": Style(PURPLE, "d", DOTTED, open=True),
    "pc": Style(SKY, "X", DOTTED),
    "direct-lingam": Style(ORANGE, "P"),
    "flopsearch": Style(BROWN, "h"),
    "flopsearch-mbic": Style(BROWN, "H", DOTTED, open=True),
    "sort-regress-var": Style(GREY, "<"),
    "sort-regress-r2": Style(ORANGE, ">", DOTTED),
}
# Kinds of evidence for a direction.
EVIDENCE_STYLES: dict[str, Style] = {
    "structure": Style(BLUE, "o"),
    "variances": Style(VERMILLION, "s", open=True),
    "shape": Style(GREEN, "^"),
    "none": Style(GREY, "D", open=True),
}
OTHER = Style(GREY, ".")


def style_of(method: str) -> Style:
    """Return the look of a method."""
    return STYLES.get(method, OTHER)
