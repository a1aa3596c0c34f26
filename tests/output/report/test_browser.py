"""The report as a person uses it: in Chromium, from disk, with the network off."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from golem import Golem
from golem.comparison.other_packages import Estimate
from golem.comparison.result import Comparison, Row, report_comparison
from golem.data.knowledge import Knowledge
from golem.data.typed_edges import with_edges
from golem.graphs.graph_document import document_of as checked
from golem.graphs.named_graph import NamedGraph
from golem.output.report import report_document
from golem.simulate import random_dag, simulate

pytestmark = pytest.mark.browser


def write_report(content, path, **options):
    """Write the page of plain data, as a graph.json of version 1 has them."""
    return report_document(checked(content), path, **options)


@pytest.fixture
def open_page(browser):
    """Open a file with the network off; no error, no message and no request may come of it."""
    troubles, requests, contexts = [], [], []

    def make(path, **options):
        context = browser.new_context(offline=True, viewport={"width": 1400, "height": 1000}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: (troubles.append("dialog " + dialog.message), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=yes]", timeout=10_000)
        return page

    yield make
    for context in contexts:
        context.close()
    assert not troubles
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []


def document_of(weights, names=None, **more):
    """Make a graph document by hand, as `graph.json` has it."""
    d = len(weights)
    names = list(names or (f"x{k}" for k in range(d)))
    table = [
        {
            "source": names[i], "target": names[j], "weight": float(weights[i, j]), "directed": True,
            "standardized_weight": float(weights[i, j]),
            "drop_loss": 100 * float(weights[i, j]) ** 2,
        }
        for i, j in np.argwhere(weights)
    ]  # fmt: skip
    return {
        "names": names, "weights": weights.tolist(), "edge_table": table, "n": 500, "d": d,
        "noise_variances": [1.0] * d, "intercepts": [0.5] * d,
    } | more  # fmt: skip


@pytest.fixture
def chain():
    """Return A -> B -> C, A -> C and D alone, with the weights 0.5, -1, 0.2."""
    weights = np.zeros((4, 4))
    weights[0, 1], weights[1, 2], weights[0, 2] = 0.5, -1.0, 0.2
    return document_of(weights, ["A", "B", "C", "D"])


def shown_edges(page):
    return page.locator("#graph .edge:not(.faded)").count()


def set_slider(page, selector, position):
    page.locator(selector).evaluate(
        "(slider, to) => { slider.value = to; slider.dispatchEvent(new Event('input', {bubbles: true})); }", position
    )


def choose_edge(page, source, target):
    names = page.evaluate("JSON.parse(document.getElementById('content').textContent).names")
    edge = page.locator(f'#graph [data-edge="{names.index(source)}>{names.index(target)}"] .hit').first
    edge.dispatch_event("click")


def test_the_slider_fades_edges_and_counts_them(open_page, chain, tmp_path):
    page = open_page(write_report(chain, tmp_path / "r.html"))
    assert page.locator("#graph .node").count() == 4
    assert shown_edges(page) == 3
    assert page.locator("#counts").inner_text().startswith("3 of 3 edges")
    # Positions go with the root of the threshold: 0.09, then 0.25, then 1.
    for position, left in ((300, 3), (500, 2), (900, 1), (1000, 1), (0, 3)):
        set_slider(page, "#threshold", position)
        assert shown_edges(page) == left
        assert page.locator("#counts").inner_text().startswith(f"{left} of 3 edges")
        assert page.locator("#graph .node").count() == 4


def test_a_threshold_below_the_chosen_one_brings_edges_back(open_page, chain, tmp_path):
    raw = np.array(chain["weights"])
    raw[1, 3] = 0.1
    chain |= {"raw_weights": raw.tolist(), "used": {"threshold": 0.15}}
    page = open_page(write_report(chain, tmp_path / "r.html"))
    assert shown_edges(page) == 3
    mark = page.locator("#mark").evaluate("mark => Number(mark.style.getPropertyValue('--at'))")
    assert mark == pytest.approx(np.sqrt(0.15), abs=1e-3)
    set_slider(page, "#threshold", 100)
    assert shown_edges(page) == 4
    page.locator("#threshold-reset").click()
    assert shown_edges(page) == 3


def test_a_bootstrap_has_a_slider_on_frequency(open_page, chain, tmp_path):
    pairs = [("A", "B", 0.9), ("B", "C", 0.6), ("A", "C", 0.3)]
    chain["bootstrap"] = {
        "replicates": 100, "unit": "rows", "seed": 0, "consensus": [["A", "B"]],
        "edges": [
            {"source": a, "target": b, "direction_frequency": f, "adjacency_frequency": 1.0, "weight_low": 0.1,
             "weight_high": 0.7, "effect_low": 0.0, "effect_high": 1.0}
            for a, b, f in pairs
        ],
    }  # fmt: skip
    page = open_page(write_report(chain, tmp_path / "r.html"))
    opacity = [page.locator(f'[data-edge="{k}"]').evaluate("e => +e.style.opacity") for k in ("0>1", "1>2", "0>2")]
    assert opacity == sorted(opacity, reverse=True)
    set_slider(page, "#frequency", 50)
    assert shown_edges(page) == 2
    set_slider(page, "#frequency", 95)
    assert shown_edges(page) == 0
    set_slider(page, "#frequency", 0)
    choose_edge(page, "A", "B")
    assert "0.100 to 0.700" in page.locator("#details").inner_text()
    text = page.locator("#details").inner_text()
    assert re.search(r"Connected in\s+100% of the resamples", text)
    assert re.search(r"Directed in\s+90% of the resamples", text)
    row = page.locator("#edge-table tbody tr", has_text="0.5").inner_text().split("\t")
    heads = page.locator("#edge-table thead th").all_inner_texts()
    assert (row[heads.index("connected")], row[heads.index("directed")]) == ("100%", "90%")


@pytest.mark.parametrize("replicates", [7, 100, 200, 400, 1000])
def test_a_share_is_written_as_in_the_terminal(open_page, tmp_path, replicates):
    counts = np.unique(np.linspace(0, replicates, 201).astype(int))
    d = len(counts) + 1
    weights = np.zeros((d, d))
    weights[0, 1:] = 1
    document = document_of(weights)
    shares = counts / replicates
    for row, share in zip(document["edge_table"], shares, strict=True):
        row |= {"adjacency_frequency": float(share), "direction_frequency": float(share / 2)}
    page = open_page(write_report(document, tmp_path / "r.html"))
    if d > 101:
        page.locator("#edge-table .more").click()
    heads = page.locator("#edge-table thead th").all_inner_texts()
    texts = [row.split("\t") for row in page.locator("#edge-table tbody tr").all_inner_texts()]
    for name, values in (("connected", shares), ("directed", shares / 2)):
        assert [text[heads.index(name)] for text in texts] == [f"{value:.0%}" for value in values]


def test_an_edge_that_is_always_joined_stays_where_its_direction_is_open(open_page, chain, tmp_path):
    chain["edge_table"][0] |= {"directed": False, "direction_from": "none"}  # A -- B
    chain["edge_table"][1]["direction_from"] = "variances"  # A -> C
    share = {"direction_frequency": 0.5, "adjacency_frequency": 1.0}
    chain["bootstrap"] = {"edges": [{"source": a, "target": b} | share for a, b in ("AB", "BC", "AC")]}
    page = open_page(write_report(chain, tmp_path / "r.html"))
    opacity = [page.locator(f'[data-edge="{k}"]').evaluate("e => +e.style.opacity") for k in ("0>1", "1>2", "0>2")]
    assert opacity == pytest.approx([1, 0.6, 0.6])
    set_slider(page, "#frequency", 60)
    assert page.locator("#graph .edge:not(.faded)").get_attribute("data-edge") == "0>1"
    # What supports a direction is next to its share.
    set_slider(page, "#frequency", 0)
    assert page.locator("#edge-table .tag").all_inner_texts() == ["open", "from the noise variances"]
    choose_edge(page, "A", "C")
    fact = page.locator("#details tr", has_text="Directed in")
    assert "50%" in fact.inner_text()
    assert fact.locator(".tag").inner_text() == "from the noise variances"
    choose_edge(page, "A", "B")
    assert "Directed in" not in page.locator("#details").inner_text()


def test_a_click_on_a_node_or_an_edge_tells_about_it(open_page, chain, tmp_path):
    page = open_page(write_report(chain, tmp_path / "r.html"))
    page.locator('[data-node="2"]').click()
    text = page.locator("#details").inner_text()
    assert "C = 0.500 - 1 · B + 0.200 · A + noise" in " ".join(text.split())
    assert "variance 1, standard deviation 1" in text
    assert re.search(
        r"Total effects of other variables \(original units\)\s+B\s+-1\s+A\s+-0.300", text
    )  # 0.2 + 0.5 * -1 along both paths
    page.locator('[data-node="0"]').click()
    assert re.search(
        r"Total effects on other variables \(original units\)\s+B\s+0.500\s+C\s+-0.300",
        page.locator("#details").inner_text(),
    )
    choose_edge(page, "B", "C")
    text = page.locator("#details").inner_text()
    assert "B → C" in text
    assert re.search(r"Weight \(original units\)\s+-1", text)
    assert re.search(r"Loss of score without it\s+100", text)
    page.keyboard.press("Escape")
    assert "Click a variable" in page.locator("#details").inner_text()


def test_the_keyboard_reaches_everything(open_page, chain, tmp_path):
    page = open_page(write_report(chain, tmp_path / "r.html"))
    page.keyboard.press("/")
    page.keyboard.type("a")
    page.keyboard.press("Enter")
    focused = "document.activeElement.dataset.node"
    assert page.evaluate(focused) == "0"
    page.keyboard.press("ArrowRight")  # the strongest effect of A
    assert page.evaluate(focused) == "1"
    page.keyboard.press("ArrowRight")
    assert page.evaluate(focused) == "2"
    page.keyboard.press("ArrowLeft")
    assert page.locator("#details h2").first.inner_text() == "B"
    assert page.locator(".node.chosen").get_attribute("aria-pressed") == "true"
    outline = page.locator('[data-node="1"] rect').evaluate("box => getComputedStyle(box).strokeWidth")
    assert outline == "3px"
    page.keyboard.press("Escape")
    assert page.locator(".node.chosen").count() == 0
    # The edges are buttons of a table, one Tab apart.
    page.locator("#edge-table tbody button").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#details h2").first.inner_text() == "A → B"


HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    '" onmouseover="alert(3)',
    "javascript:alert(4)",
    "'; alert(5); '",
    "<svg onload=alert(6)>",
    *("{{ 7 * 7 }}", "&lt;b&gt;", "a\u2028b", "<!--", "]]>", "</title>", "__proto__"),
)


def test_hostile_names_are_shown_and_never_run(open_page, tmp_path):
    weights = np.triu(np.ones((len(HOSTILE), len(HOSTILE))), k=1) * 0.5
    document = document_of(
        weights, HOSTILE, settings={HOSTILE[0]: HOSTILE[1]}, noise={"reason": HOSTILE[1]},
        status={"message": HOSTILE[0]}, versions={HOSTILE[1]: HOSTILE[2]},
        diagnostics=[{"name": HOSTILE[0], "level": HOSTILE[2], "finding": HOSTILE[1], "remedy": HOSTILE[5]}],
    )  # fmt: skip
    graph = NamedGraph.from_weights(weights, tuple(HOSTILE))
    path = write_report(document, tmp_path / "r.html", title=HOSTILE[1], truth=graph, other=(HOSTILE[0], graph))
    page = open_page(path)
    assert page.locator("h1").inner_text() == HOSTILE[1]
    titles = page.locator("#graph .node title").evaluate_all("all => all.map(one => one.textContent)")
    assert sorted(titles) == sorted(HOSTILE)
    for node in range(len(HOSTILE)):
        page.locator(f'[data-node="{node}"]').dispatch_event("pointerdown", {"button": 0, "pointerId": 1})
        page.evaluate("window.dispatchEvent(new PointerEvent('pointerup', {pointerId: 1}))")
        assert page.locator("#details h2").first.text_content() == HOSTILE[node]
    choose_edge(page, HOSTILE[0], HOSTILE[1])
    assert HOSTILE[1] in page.locator("#details").inner_text()
    page.locator("#search").fill("<script")
    assert page.locator("#found li").first.inner_text() == HOSTILE[0]
    assert page.locator("img, iframe, object, embed").count() == 0
    assert page.locator("script").count() == 2
    assert page.locator("svg[onload], [onerror], [onmouseover]").count() == 0


def test_a_policy_stops_scripts_that_are_not_ours(browser, chain, tmp_path):
    path = write_report(chain, tmp_path / "r.html")
    path.write_text(path.read_text().replace("</main>", "<script>document.title = 'taken'</script></main>"))
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.title() != "taken"
    page.close()


def test_a_graph_without_edges_opens(open_page, tmp_path):
    page = open_page(write_report(document_of(np.zeros((3, 3))), tmp_path / "r.html"))
    assert page.locator("#graph .node").count() == 3
    assert page.locator("#counts").inner_text().startswith("0 of 0 edges")
    page.locator("#isolated").uncheck()
    set_slider(page, "#threshold", 500)
    assert page.locator("#graph .node:visible").count() == 0


def test_a_truth_marks_edges(open_page, chain, tmp_path):
    truth = np.zeros((4, 4))
    truth[0, 1] = truth[2, 1] = truth[0, 3] = 1  # right, reversed, missing; A -> C is extra
    page = open_page(write_report(chain, tmp_path / "r.html", truth=NamedGraph.from_weights(truth, tuple("ABCD"))))
    kinds = {kind: page.locator(f"#graph .edge.{kind}").count() for kind in ("true", "reversed", "extra", "missing")}
    assert kinds == {"true": 1, "reversed": 1, "extra": 1, "missing": 1}
    assert "compared with truth: 1 true, 1 reversed, 1 extra, 1 missing" in page.locator("#counts").inner_text()
    assert page.locator("#compared tbody tr").inner_text().split() == ["truth", "1", "1", "1", "1"]
    page.locator("#reference").select_option("")
    assert page.locator("#graph .edge.missing").count() == 0
    assert page.locator("#graph .edge.negative").count() == 1


def test_a_link_has_no_arrowhead_and_is_neither_right_nor_reversed(open_page, chain, tmp_path):
    chain["edge_table"][0] |= {"directed": False, "direction_from": "none"}  # A -- B
    truth = np.zeros((4, 4))
    truth[1, 0] = 1
    page = open_page(write_report(chain, tmp_path / "r.html", truth=NamedGraph.from_weights(truth, tuple("ABCD"))))
    assert page.locator('[data-edge="0>1"] .head').get_attribute("d") == ""
    assert page.locator('[data-edge="1>2"] .head').get_attribute("d") != ""
    counts = {"true": 0, "reversed": 0, "open": 1, "extra": 2, "missing": 0}
    assert {kind: page.locator(f"#graph .edge.{kind}").count() for kind in counts} == counts
    assert "0 true, 0 reversed, 1 direction open, 2 extra, 0 missing" in page.locator("#counts").inner_text()
    assert page.locator("#compared tbody tr").inner_text().split()[1:] == [str(count) for count in counts.values()]


def test_a_link_tells_no_effect(open_page, chain, tmp_path):
    """A -- B -> C, A -> C: only the effect of B on C does not depend on the direction of the link of its causes."""
    chain["edge_table"][0] |= {"directed": False, "direction_from": "none"}
    page = open_page(write_report(chain, tmp_path / "r.html"))
    choose_edge(page, "A", "B")
    text = page.locator("#details").inner_text()
    assert "A and B are linked" in text
    assert not re.search("rises by one unit|Weight \\(original units|Go to cause", text)
    for node, row in ((0, "A"), (1, "B")):
        page.locator(f'[data-node="{node}"]').click()
        text = page.locator("#details").inner_text()
        assert "Causes (0)" in text
        assert "Links, cause or effect (1)" in text
        assert "Its equation depends on the direction of 1 link" in text
        assert "Its effects on 2 other variables depend on the direction of links" in text
        assert "Total effects on other variables" not in text
        cells = page.locator("#variable-table tbody tr", has_text=row).first.inner_text().split("\t")
        assert cells[:4] == [row, "0", "1", "1"]
    page.locator('[data-node="2"]').click()
    text = page.locator("#details").inner_text()
    assert "C = 0.500" in text
    assert "Total effects of other variables" not in text
    page.locator("#matrix").hover(position={"x": 5, "y": 5})
    heads = page.locator("#edge-table thead th").all_inner_texts()
    row = page.locator("#edge-table tbody tr", has_text="A \u2013 B").inner_text().split("\t")
    assert row[heads.index("weight (original units)")].strip() == ""


def test_convergence_has_a_chart_a_term(open_page, chain, tmp_path):
    steps = [{"iteration": k, "seconds": k / 10, "terms": {"score": 5.0 / (k + 1), "h": 10.0**-k}} for k in range(6)]
    page = open_page(write_report(chain | {"trace": steps}, tmp_path / "r.html"))
    assert page.locator("#trace figure").count() == 2
    assert len(page.locator("#trace polyline").first.get_attribute("points").split()) == 6
    assert "log scale" in page.locator("#trace").inner_text()
    # A search reports only the score, and the other terms at its end.
    search = [{"iteration": k, "seconds": 0.1, "terms": {"score": -k}} for k in range(3)]
    page = open_page(write_report(chain | {"trace": [*search, steps[-1]]}, tmp_path / "r.html"))
    assert page.locator("#trace figure").count() == 1
    assert len(page.locator("#trace polyline").get_attribute("points").split()) == 4
    assert "Final values" in page.locator("#trace").inner_text()
    assert page.locator("#trace tr").count() == 1


def test_a_comparison_shows_each_method(open_page, tmp_path):
    truth = random_dag(12, "ER2", 0)
    other = random_dag(12, "ER2", 1)
    both = truth | truth.T
    estimates = {"order": Estimate(truth, False, truth, truth * 0.7), "<b>pc</b>": Estimate(both, True, truth)}
    estimates["fgs"] = Estimate(other, False, other)
    rows = (Row("order", edges=int(truth.sum()), shd=0.0, seconds=0.1), Row("<b>pc</b>", edges=int(truth.sum())),
            Row("fgs", edges=int(other.sum())), Row("golem-ev", status="time limit"))  # fmt: skip
    result = Comparison(tuple(f"x{k}" for k in range(12)), rows, estimates, truth, {"careful": ("fgs",)})
    page = open_page(report_comparison(result, tmp_path / "r.html"))
    count = int(truth.sum())
    assert page.locator("#graph .edge.true").count() == count
    assert page.locator("#methods tbody tr").count() == 4
    assert page.locator("#distances td.heat").count() == 16
    assert page.locator("#agreement tbody tr").count() == int(np.triu(both | other | other.T).sum())
    page.locator("#shown").select_option(label="<b>pc</b>")
    assert page.locator("#graph .edge.open").count() == count
    assert page.locator("#graph .edge.open .head").first.get_attribute("d") == ""
    page.locator("#methods tbody button", has_text="fgs").click()
    right = int((truth & other).sum())
    assert page.locator("#graph .edge.true").count() == right
    assert page.locator("#graph .edge.missing").count() == int((truth & ~(other | other.T)).sum())


def test_methods_without_a_number_are_last_however_the_table_is_sorted(open_page, tmp_path):
    graph = random_dag(4, "ER1", 0)
    seconds = {"a": 2.0, "failed": None, "b": 0.5, "stopped": None, "c": 10.0}
    rows = tuple(Row(name, seconds=s, status="done" if s else "error") for name, s in seconds.items())
    estimates = {name: Estimate(graph, False, graph) for name, s in seconds.items() if s}
    page = open_page(report_comparison(Comparison(tuple("wxyz"), rows, estimates, None, {}), tmp_path / "r.html"))
    for expected in (["c", "a", "b", "failed", "stopped"], ["b", "a", "c", "failed", "stopped"]):
        page.locator("#methods thead button", has_text="seconds").click()
        assert page.locator("#methods tbody td:first-child").all_inner_texts() == expected


def test_no_graph_is_set_against_itself(open_page, tmp_path):
    graphs = {name: random_dag(6, "ER1", seed) for seed, name in enumerate(("order", "pc", "fgs"))}
    estimates = {name: Estimate(graph, False, graph) for name, graph in graphs.items()}
    rows = tuple(Row(name, edges=int(graph.sum())) for name, graph in graphs.items())
    for truth, instead in ((None, "nothing"), (graphs["pc"], "truth")):
        result = Comparison(tuple("uvwxyz"), rows, estimates, truth, {})
        page = open_page(report_comparison(result, tmp_path / "r.html"))
        offered = "() => [...document.getElementById('reference').options].filter(o => !o.hidden).map(o => o.text)"
        chosen = "() => document.getElementById('reference').selectedOptions[0].text"
        assert "order" not in page.evaluate(offered)
        page.locator("#reference").select_option(label="fgs")
        page.locator("#shown").select_option(label="fgs")
        assert "fgs" not in page.evaluate(offered)
        assert "order" in page.evaluate(offered)
        assert page.evaluate(chosen) == instead


def test_without_a_truth_nothing_is_called_true(open_page, tmp_path):
    graphs = {name: random_dag(6, "ER1", seed) for seed, name in enumerate(("order", "pc"))}
    estimates = {name: Estimate(graph, False, graph) for name, graph in graphs.items()}
    rows = tuple(Row(name, edges=int(graph.sum())) for name, graph in graphs.items())
    page = open_page(report_comparison(Comparison(tuple("uvwxyz"), rows, estimates, None, {}), tmp_path / "r.html"))
    assert page.locator("#reference").input_value() == ""
    assert "compared with" not in page.locator("#counts").inner_text()
    page.locator("#reference").select_option(label="pc")
    here, there = graphs["order"], graphs["pc"]
    same, turned = (here & there).sum(), (here & there.T).sum()
    alone = [graph.sum() - same - turned for graph in (here, there)]
    counts = f"compared with pc: {same} same, {turned} reversed, {alone[0]} only here, {alone[1]} only there"
    assert counts in page.locator("#counts").inner_text()
    legend = page.locator("#legend .key").all_inner_texts()
    assert {"same", "reversed", "only here", "only there"} <= set(legend)
    page.locator("#graph .edge.missing .hit").first.dispatch_event("click")
    assert re.search(r"Compared with pc\s+only there", page.locator("#details").inner_text())
    shown = page.locator("body").inner_text()
    assert not re.search(r"\btrue\b|\bextra\b", shown)


def test_another_graph_than_the_truth_is_not_called_true(open_page, chain, tmp_path):
    weights = np.array(chain["weights"])
    graph = NamedGraph.from_weights(weights, tuple("ABCD"))
    for options, words in (
        ({"truth": graph}, ["true", "reversed", "extra", "missing"]),
        ({"other": ("theirs", graph)}, ["same", "reversed", "only here", "only there"]),
        ({"truth": graph, "other": ("theirs", graph)}, ["same", "reversed", "only here", "only there"]),
    ):
        page = open_page(write_report(chain, tmp_path / "r.html", **options))
        assert page.locator("#compared thead th").all_inner_texts()[1:] == words
        column = {row.split("\t")[-1] for row in page.locator("#edge-table tbody tr").all_inner_texts()}
        assert column == {"true" if "truth" in options else "same"}


@pytest.mark.parametrize("several", [False, True])
def test_the_path_of_a_selection_is_drawn(open_page, chain, tmp_path, several):
    path = [
        {"edge_penalty": 2.0**k, "score": abs(k - 3.0), "edges": 9 - k, "chosen": k == 3}
        | ({"threshold": t} if several else {})
        for t in ((0.1, 0.2) if several else (0.1,))
        for k in range(6)
    ]
    path[-1] |= {"chosen": False, "score": None}
    if several:
        path[3]["chosen"] = False
    chain["selection"] = {"method": "bic", "chosen": {}, "path": path}
    page = open_page(write_report(chain, tmp_path / "r.html"))
    assert page.locator("#selection polyline").count() == 1 + several
    assert page.locator("#selection circle:not(.choice)").count() == len(path) - 1
    ring = page.locator("#selection circle.choice")
    lowest = page.locator("#selection circle:not(.choice)").evaluate_all(
        "all => all.sort((a, b) => b.cy.baseVal.value - a.cy.baseVal.value)[0].cx.baseVal.value"
    )
    assert float(ring.get_attribute("cx")) == pytest.approx(lowest)
    assert "6 edges" in page.locator("#selection").inner_text()
    assert page.locator("tr.picked").count() == 1


def test_a_thousand_nodes_are_there_soon(open_page, tmp_path):
    weights = random_dag(1000, "ER4", 0) * np.random.default_rng(0).uniform(0.5, 2, size=(1000, 1000))
    path = write_report(document_of(weights, raw_weights=weights.tolist()), tmp_path / "r.html")
    assert path.stat().st_size < 2_000_000
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        page = open_page(path)
        page.locator("#search").fill("x77")
        page.locator("#search").press("Enter")
        assert page.locator("#details h2").first.inner_text() == "x77"
        seconds.append(time.perf_counter() - began)
    assert min(seconds) < 15  # less than 3 s on a quiet machine
    assert page.locator("#graph .node").count() == 1 + int((weights[77] != 0).sum() + (weights[:, 77] != 0).sum())
    # Every step of the slider repaints the matrix and the neighbourhood: it must keep up with a hand.
    seconds = []
    for position in range(0, 1000, 50):
        began = time.perf_counter()
        set_slider(page, "#threshold", position)
        seconds.append(time.perf_counter() - began)
    assert np.median(seconds) < 0.5  # less than 0.1 s on a quiet machine
    kept = int((weights >= weights.max() * 0.95**2).sum())
    assert page.locator("#counts").inner_text().startswith(f"{kept} of {int((weights != 0).sum())} edges")


def test_the_matrix_tells_and_chooses(open_page, chain, tmp_path):
    page = open_page(write_report(chain, tmp_path / "r.html"))
    matrix = page.locator("#matrix")
    matrix.scroll_into_view_if_needed()
    # Causal order A, B, C, D; rows are causes. The labels take the margin.
    side = page.evaluate("document.getElementById('matrix').clientWidth")
    cell = 26
    margin = side - 4 - 4 * cell
    matrix.hover(position={"x": margin + 2.5 * cell, "y": margin + 1.5 * cell})
    assert page.locator("#matrix-readout").inner_text() == "B → C, weight (original units) -1"
    matrix.click(position={"x": margin + 2.5 * cell, "y": margin + 1.5 * cell})
    assert page.locator("#details h2").first.inner_text() == "B → C"
    page.keyboard.press("Escape")
    matrix.focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#matrix-readout").inner_text() == "A → B, weight (original units) 0.500"
    page.keyboard.press("Enter")
    assert page.locator("#details h2").first.inner_text() == "A → B"


@pytest.mark.parametrize("width", [1000, 1220, 1400])
def test_the_graph_of_a_large_page_is_seen_at_once(open_page, tmp_path, width):
    weights = random_dag(400, "ER2", 0) * 1.0
    page = open_page(write_report(document_of(weights), tmp_path / "r.html"))
    page.set_viewport_size({"width": width, "height": 800})
    box = {part: page.locator("#" + part).bounding_box() for part in ("search", "graph", "details", "matrix")}
    assert all(box[part]["y"] < 300 for part in ("search", "graph", "details"))
    assert box["details"]["x"] > box["graph"]["x"] + box["graph"]["width"]
    assert box["matrix"]["y"] > box["graph"]["y"] + box["graph"]["height"]
    stage = page.locator("#stage").bounding_box()
    reset = page.locator("#threshold-reset").bounding_box()
    assert reset["x"] + reset["width"] <= stage["x"] + stage["width"]
    assert page.locator(".matrix-words").bounding_box()["y"] >= box["matrix"]["y"] + box["matrix"]["height"]


def test_a_wide_table_scrolls_in_a_narrow_window(open_page, chain, tmp_path):
    chain["bootstrap"] = {
        "edges": [{"source": "A", "target": "B", "direction_frequency": 0.5, "adjacency_frequency": 1.0,
                   "weight_low": 0.1, "weight_high": 0.7}],
    }  # fmt: skip
    page = open_page(write_report(chain, tmp_path / "r.html"))
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    last = page.locator("#edge-table th").last
    page.locator("#edge-table").focus()
    page.locator("#edge-table").evaluate("table => { table.scrollLeft = table.scrollWidth; }")
    box = last.bounding_box()
    assert box["x"] + box["width"] <= 400


def test_a_dense_graph_opens_on_its_matrix(open_page, tmp_path):
    weights = np.triu(np.ones((60, 60)), k=1)
    page = open_page(write_report(document_of(weights), tmp_path / "r.html"))
    assert page.locator("body.large").count() == 1
    assert page.locator("#graph .node").count() == 60


def test_views_zoom_drag_and_isolated_nodes(open_page, chain, tmp_path):
    page = open_page(write_report(chain, tmp_path / "r.html"))
    place = "document.querySelector('[data-node=\"0\"]').getAttribute('transform')"
    before = page.evaluate(place)
    box = page.locator('[data-node="0"]').bounding_box()
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 70, box["y"] + 40, steps=3)
    page.mouse.up()
    assert page.evaluate(place) != before
    scale = "+document.querySelector('.scene').getAttribute('transform').match(/scale\\(([\\d.]+)/)[1]"
    small = page.evaluate(scale)
    page.locator("#zoom-in").click()
    assert page.evaluate(scale) > small
    page.locator("#isolated").uncheck()
    assert not page.locator('[data-node="3"]').is_visible()
    page.locator('[data-node="1"]').click()
    page.locator("#view").select_option("1")
    assert page.locator("#graph .node").count() == 3
    page.locator("#view").select_option("0")
    assert page.locator("#graph .node").count() == 4


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_are_legible(open_page, chain, tmp_path, scheme):
    page = open_page(write_report(chain, tmp_path / "r.html"), color_scheme=scheme)
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    ink = "getComputedStyle(document.documentElement).color"
    first = page.evaluate(ground)
    assert contrast(first, page.evaluate(ink)) > 7
    page.locator("#theme").click()
    assert page.evaluate(ground) != first
    assert contrast(page.evaluate(ground), page.evaluate(ink)) > 7


def contrast(*colours):
    """Contrast of two colours by the rule of WCAG 2."""
    levels = []
    for colour in colours:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        levels.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)
    return max(levels) / min(levels)


def test_pictures_can_be_saved(open_page, tmp_path):
    weights = np.zeros((3, 3))
    weights[0, 1], weights[1, 2] = 1, -1
    page = open_page(write_report(document_of(weights, ["<a>", "b&", 'c"']), tmp_path / "r.html"))
    with page.expect_download() as download:
        page.locator("#save-svg").click()
    root = ElementTree.parse(download.value.path()).getroot()
    space = "{http://www.w3.org/2000/svg}"
    assert sorted(text.text for text in root.iter(space + "text")) == sorted(["<a>", "b&", 'c"'])
    strokes = {path.get("stroke") for path in root.iter(space + "path") if path.get("class") == "line"}
    assert len(strokes) == 2
    assert all(stroke.startswith("rgb") for stroke in strokes)
    with page.expect_download() as download:
        page.locator("#save-png").click()
    assert download.value.path().read_bytes().startswith(b"\x89PNG")


def test_it_can_be_printed(open_page, chain, tmp_path):
    page = open_page(write_report(chain, tmp_path / "r.html"), color_scheme="dark")
    page.emulate_media(media="print")
    assert not page.locator(".toolbar").is_visible()
    assert page.locator("#graph .node").first.is_visible()
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf().startswith(b"%PDF")


LEVELS = ("ok", "note", "warning", "note", "warning")


def test_findings_are_next_to_the_graph_worst_first(open_page, chain, tmp_path):
    chain["diagnostics"] = [{"name": f"f{k}", "level": level, "finding": "!"} for k, level in enumerate(LEVELS)]
    page = open_page(write_report(chain, tmp_path / "r.html"))
    levels = page.locator(".findings-card > .findings .level").all_inner_texts()
    assert levels == ["warning", "warning", "note", "note"]
    assert page.locator(".findings-card summary").inner_text() == "1 check found no problem"
    card, graph = page.locator(".findings-card").bounding_box(), page.locator("#stage").bounding_box()
    assert card["x"] >= graph["x"] + graph["width"]
    assert abs(card["y"] - graph["y"]) < 2
    page.set_viewport_size({"width": 600, "height": 900})
    tops = [page.locator(part).bounding_box()["y"] for part in ("#stage", ".findings-card", ".answers")]
    assert tops == sorted(tops)  # on a phone the graph comes first


def test_from_100_variables_on_the_page_opens_around_a_hub(open_page, tmp_path):
    graph = random_dag(120, "ER1", 0)
    weights = graph * np.random.default_rng(0).uniform(0.5, 2, size=graph.shape)
    page = open_page(write_report(document_of(weights), tmp_path / "r.html"), color_scheme="dark")
    degrees = graph.sum(axis=0) + graph.sum(axis=1)
    assert page.locator("#graph .node").count() == degrees.max() + 1
    shown = page.locator("#graph .edge").count()
    assert page.locator("#counts").inner_text().startswith(f"{shown} of {graph.sum()} edges")
    assert page.locator("#overlay").inner_text().startswith(f"Around x{degrees.argmax()}.")
    page.locator("#hubs button").nth(1).click()
    assert page.locator("#graph .node.chosen").count() == 1


def test_a_graph_that_would_be_illegible_on_a_phone_opens_around_a_hub(open_page, tmp_path):
    graph = random_dag(40, "ER2", 4)
    page = open_page(write_report(document_of(graph * 1.0), tmp_path / "r.html"))
    assert page.locator("#graph .node").count() == 40
    page.set_viewport_size({"width": 400, "height": 800})
    page.reload()
    page.wait_for_selector("html[data-ready=yes]")
    degrees = graph.sum(axis=0) + graph.sum(axis=1)
    assert page.locator("#graph .node").count() == degrees.max() + 1
    page.wait_for_timeout(600)  # it moves there
    assert page.locator("#graph .node rect").first.bounding_box()["height"] >= 12 / 13 * 30
    page.locator("#view").select_option("0")
    assert page.locator("#graph .node").count() == 40


@pytest.mark.parametrize(("d", "kind"), [(90, "ER1"), (60, "ER4"), (60, "ER2")])
def test_a_graph_with_many_edges_opens_with_the_strongest(open_page, tmp_path, d, kind):
    graph = random_dag(d, kind, 0)
    weights = graph * np.random.default_rng(0).uniform(0.5, 2, size=(d, d))
    page = open_page(write_report(document_of(weights), tmp_path / "r.html"))
    edges, many = int(graph.sum()), d > 80 or graph.sum() > 200
    assert page.locator("#view").input_value() == ("-1" if many else "0")
    if many:
        strongest = np.argwhere(weights >= np.sort(weights[graph])[-60])
        shown = {page_edge.get_attribute("data-edge") for page_edge in page.locator("#graph .edge").all()}
        assert shown == {f"{i}>{j}" for i, j in strongest}
        assert page.locator("#graph .node").count() == len(np.unique(strongest))
        assert page.locator("#overlay").inner_text().startswith(f"Only the 60 strongest of {edges} edges are shown.")
        assert page.locator("#counts").inner_text().startswith(f"60 of {edges} edges")
        page.locator("#overlay button").click()
    assert page.locator("#graph .edge").count() == edges
    assert page.locator("#graph .node").count() == d


def test_a_large_graph_without_weights_opens_with_a_neighbourhood(open_page, tmp_path):
    graph = random_dag(100, "ER1", 0)
    names = [f"x{k}" for k in range(100)]
    rows = [{"source": names[i], "target": names[j]} for i, j in np.argwhere(graph)]
    document = {"names": names, "edge_table": rows, "weighted": False, "format_version": 2}
    page = open_page(write_report(document, tmp_path / "r.html"))
    links = graph.sum(axis=0) + graph.sum(axis=1)
    assert page.locator("#graph .node").count() == 1 + links.max()


def test_tiers_are_bands(open_page, chain, tmp_path):
    chain["knowledge"] = {"required": [], "forbidden": [], "tiers": [["A", "D"], ["B", "C"]]}
    page = open_page(write_report(chain, tmp_path / "r.html"))
    assert page.locator(".band-label").all_text_contents() == ["tier 1", "tier 2"]
    bands = [band.bounding_box() for band in page.locator(".band").all()]
    for node, band in ((0, 0), (3, 0), (1, 1), (2, 1)):
        box = page.locator(f'[data-node="{node}"] rect').bounding_box()
        assert bands[band]["y"] <= box["y"]
        assert box["y"] + box["height"] <= bands[band]["y"] + bands[band]["height"]


def test_a_click_anywhere_in_a_row_selects(open_page, chain, tmp_path):
    page = open_page(write_report(chain, tmp_path / "r.html"))
    page.locator("#edge-table tbody tr").nth(2).locator("td").last.click()
    assert page.locator("#details h2").first.inner_text() == "B → C"
    page.locator("#variable-table tbody tr").nth(3).locator("td").last.click()
    assert page.locator("#details h2").first.inner_text() == "D"


def test_weights_are_labelled_raw_or_standardized(open_page, chain, tmp_path):
    for row in chain["edge_table"]:
        row["standard_error"] = 0.01
    page = open_page(write_report(chain, tmp_path / "r.html"))
    choose_edge(page, "A", "B")
    texts = page.locator("#edge-table th, #details th, #measure option, #legend .key, #matrix-title").all_inner_texts()
    labels = [text for text in texts if "weight" in text.lower() or "error" in text.lower()]
    assert len(labels) >= 8
    assert all("(original units)" in label or "(standardized)" in label for label in labels)


def test_counts_follow_what_is_shown(open_page, chain, tmp_path):
    chain["edge_table"][0] |= {
        "direction_from": "shape",
        "direction_strength": 12.5,
        "direction_error_rate": 1e-5,
    }  # A -> B
    chain["edge_table"][1]["direction_from"] = "knowledge"  # A -> C
    chain["edge_table"][2]["direction_from"] = "structure"  # B -> C
    page = open_page(write_report(chain, tmp_path / "r.html"))
    legend = page.locator("#legend label").all_inner_texts()
    assert [text.strip() for text in legend] == [
        "given by you (1)", "from the structure (1)", "from the shape of the noise (1)"
    ]  # fmt: skip
    assert page.locator("#edges-title").inner_text() == "Edges (3)"
    page.locator("[data-direction=shape]").uncheck()
    assert shown_edges(page) == 2
    assert page.locator("#counts").inner_text().startswith("2 of 3 edges · 1 isolated node")
    assert page.locator("#edges-title").inner_text() == "Edges (2 of 3)"
    assert page.locator("#edge-table tbody tr").count() == 2
    rows = [row.split("\t")[:3] for row in page.locator("#variable-table tbody tr").all_inner_texts()]
    assert rows == [["A", "0", "1"], ["B", "0", "1"], ["C", "2", "0"], ["D", "0", "0"]]
    page.locator("[data-direction=shape]").check()
    choose_edge(page, "A", "B")
    assert re.search(
        r"Evidence for it\s+12.5 \(deviance\), p-value below 0.001 under Gaussian noise",
        page.locator("#details").inner_text(),
    )
    page.locator('[data-node="3"]').click()
    page.locator("#view").select_option("1")  # D has no neighbours
    assert page.locator("#counts").inner_text().startswith("0 of 3 edges · 1 isolated node")


def test_empty_panels_are_not_shown(open_page, chain, tmp_path):
    titles = page_titles(open_page(write_report(document_of(np.zeros((2, 2))), tmp_path / "r.html")))
    cards = {"What was learned", "What to check", "What you may say"}
    assert titles == {*cards, "Details", "Variables", "Settings and versions", "Limits", "How to cite"}
    titles |= {"Edges (3)", "Weights (standardized)"}
    assert page_titles(open_page(write_report(chain, tmp_path / "r.html"))) == titles


def page_titles(page):
    return {title.inner_text() for title in page.locator("h2").all() if title.is_visible()}


def test_knowledge_is_collected_for_the_next_run(open_page, chain, tmp_path):
    chain["knowledge"] = {"required": [["A", "C"]], "forbidden": [], "tiers": []}
    chain |= {"data": {"paths": ["my data.csv"], "drop": ["E,F"]}, "settings": {"noise": "nv", "random_state": 3}}
    page = open_page(write_report(chain, tmp_path / "r.html"))
    choose_edge(page, "A", "B")
    page.get_by_label("A → B: forbidden").click()
    page.locator('[data-node="3"]').click()
    page.locator('[data-node="1"]').click(modifiers=["Shift"])
    assert page.locator("#details h2").first.inner_text() == "D and B"
    page.get_by_label("D → B: required").click()
    assert page.get_by_label("D → B: required").get_attribute("aria-pressed") == "true"
    page.get_by_label("B → D: forbidden").click()
    page.get_by_label("B → D: clear").click()
    words = shlex.split(page.locator("#known-command").input_value())
    assert words[:9] == ["golem", "fit", "my data.csv", "--noise", "nv", "--seed", "3", "--drop", '"E,F"']
    assert words[9:] == ["--require", "A->C", "--require", "D->B", "--forbid", "A->B"]
    document = json.loads(page.locator("#known-json").input_value())
    assert document == {"required": [["A", "C"], ["D", "B"]], "forbidden": [["A", "B"]]}
    # The buttons reach the pair without Shift, and the list clears an entry.
    page.locator('[data-node="3"]').click()
    page.locator("#pair").click()
    page.locator('[data-node="0"]').click()
    assert page.locator("#details h2").first.inner_text() == "D and A"
    page.get_by_label("Clear A → C").click()
    assert "A->C" not in page.locator("#known-command").input_value()


def test_the_command_and_the_json_name_hostile_variables_exactly(open_page, tmp_path):
    names = ["it's", 'the "x"', "a->b", " blank ", "$(rm)", "é, ü"]
    page = open_page(write_report(document_of(np.zeros((6, 6)), names), tmp_path / "r.html"))
    expected = []
    for a, b in ((0, 1), (2, 3), (4, 5)):
        page.locator(f'[data-node="{a}"]').click()
        page.locator(f'[data-node="{b}"]').click(modifiers=["Shift"])
        page.locator("#details [data-known=required]").first.click()
        expected.append((names[a], names[b]))
    words = shlex.split(page.locator("#known-command").input_value())
    edges = [word for option, word in itertools.pairwise(words) if option == "--require"]
    assert with_edges(None, [], edges, names).required == tuple(expected)
    (tmp_path / "known.json").write_text(page.locator("#known-json").input_value(), encoding="utf-8")
    assert Knowledge.read(tmp_path / "known.json").required == tuple(expected)


def test_dependent_rows_mark_confidence_as_overstated(open_page, chain, tmp_path):
    chain["edge_table"][0] |= {"standard_error": 0.1, "direction_frequency": 0.9, "adjacency_frequency": 0.9}
    for rows in (None, 40):
        page = open_page(write_report(chain | {"effective_rows": rows}, tmp_path / "r.html"))
        assert page.locator("text=as little information as 40 independent ones").count() == (rows is not None)
        choose_edge(page, "A", "B")
        assert page.locator("#details").inner_text().count("rows depend on each other") == (0 if rows is None else 3)


def test_a_weight_outside_its_interval_is_explained(open_page, chain, tmp_path):
    chain["edge_table"][0] |= {"weight_low": 0.0, "weight_high": 0.1, "direction_frequency": 0.4}  # A -> B, 0.5
    chain["edge_table"][1] |= {"weight_low": 0.0, "weight_high": 0.1, "direction_frequency": 0.9}  # A -> C, 0.2
    chain["edge_table"][2] |= {"weight_low": -2.0, "weight_high": 0.0, "direction_frequency": 0.9}
    page = open_page(write_report(chain, tmp_path / "r.html"))
    for ends, text in (("AB", "lack or reverse the edge"), ("AC", "other causes"), ("BC", None)):
        choose_edge(page, *ends)
        shown = page.locator("#details").inner_text()
        assert ("outside its interval" in shown) == (text is not None)
        assert text is None or text in shown


def test_an_edge_shows_its_rows_with_the_line_and_the_residuals(open_page, tmp_path):
    drawn = simulate(4, 100, "ER2", random_state=1)
    model = Golem("nv").fit(drawn.data)
    page = open_page(model.report(tmp_path / "r.html", rows=drawn.data))
    i, j = np.argwhere(model.adjacency_)[0]
    choose_edge(page, f"x{i}", f"x{j}")
    charts = page.locator("#details .scatter")
    assert charts.count() == 2
    for k in range(2):
        assert charts.nth(k).locator(".points").get_attribute("d").count("M") == 100
    line = charts.first.locator(".fit")
    falls = float(line.get_attribute("y2")) > float(line.get_attribute("y1"))
    assert falls == (model.weights_[i, j] < 0)
    page = open_page(model.report(tmp_path / "r.html"))
    choose_edge(page, f"x{i}", f"x{j}")
    assert page.locator("#details .scatter").count() == 0
