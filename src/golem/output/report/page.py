"""A page as one HTML file that contains its style, script and data.

Names of variables are untrusted text. Jinja escapes them in the page; the data are in a JSON element that no `<` can
end, and the script writes them as text, never as markup. A content security policy with the hashes of our own script
and style keeps the browser from running or loading anything else.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files
from typing import Any

from golem.output.edge_list import edge_counts
from golem.output.report.content import worst_first
from golem.runtime.messages import counted

# In the order of their dependencies; the page has them as one script.
SCRIPTS = ("data.js", "state.js", "golem_graph.js", "views.js", "matrix.js", "knowledge.js", "details.js", "tables.js",
           "charts.js", "export.js", "controls.js", "main.js")  # fmt: skip

LONGEST_LIST = 12


def render(template: str, content: Mapping[str, Any], **shown: Any) -> str:
    """Return the text of a page, from a template among the assets, data for the script and values for the template."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("golem.output.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": written,
        "counted": partial(counted, written=written),
        "named_knowledge": named_knowledge,
        "worst_first": worst_first,
        "edge_counts": edge_counts,
        "without": lambda values, *keys: {name: value for name, value in values.items() if name not in keys},
    }
    script = '"use strict";\n(() => {\n' + "\n".join(_asset(name) for name in SCRIPTS) + "})();\n"
    style = _asset("golem_graph.css") + _asset("style.css")
    return environment.get_template(template).render(
        content=content,
        data=Markup(_embedded(content)),
        script=Markup(script),
        style=Markup(style),
        policy=f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'",
        **shown,
    )


def written(value: Any) -> str:
    """Format a setting or a number for readers; long lists are shortened.

    Examples
    --------
    >>> written(True), written([]), written(12345.678), written({"type": "L0", "criterion": "mbic", "gamma": 1})
    ('yes', 'none', '1.235e+04', 'MBIC')
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        parts = {key.replace("_", " "): written(part) for key, part in value.items() if part is not None}
        kind = parts.pop("type", None)
        if kind == "L0":
            return _penalty_words(value)
        listed = ", ".join(f"{key} {part}" for key, part in parts.items())
        return listed if kind is None else f"{kind} ({listed})" if listed else kind
    if isinstance(value, list | tuple):
        listed = ", ".join(map(written, value[:LONGEST_LIST])) or "none"
        return listed if len(value) <= LONGEST_LIST else f"{listed}, … {len(value) - LONGEST_LIST} more"
    return str(value)


def _penalty_words(penalty: Mapping[str, Any]) -> str:
    """Return a penalty per edge in words: the name of a criterion, or a number."""
    criterion, gamma = penalty.get("criterion"), penalty.get("gamma", 1)
    if not isinstance(criterion, str):
        return f"{written(criterion)} (lambda_sparsity)"
    return criterion.upper() + (f" (gamma {written(gamma)})" if gamma != 1 and criterion != "bic" else "")


def named_knowledge(document: Mapping[str, Any]) -> dict[str, str]:
    """Format the result of `NamedKnowledge.document`: arrows for edges, tiers in the order of time.

    Examples
    --------
    >>> named_knowledge({"forbidden": [["debt", "age"]], "required": [], "tiers": [["age", "sex"], ["debt"]]})
    {'forbidden': 'debt → age', 'tiers': '1: age, sex; 2: debt'}
    """
    edges = {key: document[key] for key in ("forbidden", "required") if document.get(key)}
    texts = {key: written([" → ".join(map(str, edge)) for edge in pairs]) for key, pairs in edges.items()}
    tiers = "; ".join(f"{k}: {written(tier)}" for k, tier in enumerate(document.get("tiers") or (), start=1))
    return texts | ({"tiers": tiers} if tiers else {})


def _embedded(content: Mapping[str, Any]) -> str:
    """Format data as JSON that cannot end its element."""
    text = json.dumps(content, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _hash(text: str) -> str:
    """Return the hash of an element for the content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _asset(name: str) -> str:
    """Read a file of the package."""
    return (files("golem.output.report") / "assets" / name).read_text(encoding="utf-8")
