"""The graph component alone, in Chromium: it draws what it is given, moves, and tells what was clicked."""

from __future__ import annotations

import json

import numpy as np
import pytest

from golem.output.drawing import component, layouts, node_widths

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser):
    script, style = component()
    context = browser.new_context(viewport={"width": 1000, "height": 600})
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_content(f"<style>{style} body {{ margin: 0 }}</style><div id='holder'></div>")
    page.add_style_tag(content="#holder { position: relative; width: 100vw; height: 100vh }")
    page.add_script_tag(content=script)
    page.evaluate(
        """() => { window.said = [];
        const say = (name) => (...ids) => said.push([name, ...ids.filter((id) => !(id instanceof Event))]);
        window.graph = golemGraph(document.getElementById("holder"), Object.fromEntries(
          ["onNode", "onEdge", "onPair", "onEmpty", "onOpen", "onDrop"].map((name) => [name, say(name)]))); }"""
    )
    yield page
    context.close()
    assert not errors


def data_of(matrix, tiers=(), links=()):
    matrix = np.asarray(matrix)
    labels = [f"v{k}" for k in range(len(matrix))]
    widths = node_widths(labels, matrix != 0)
    nodes = [{"id": k, "label": label, "text": label, "width": widths[k]} for k, label in enumerate(labels)]
    edges = [
        {"source": i, "target": j, "directed": (i, j) not in links, "kind": "positive", "width": 2, "text": f"{i} {j}"}
        for i, j in np.argwhere(matrix).tolist()
    ]
    return {"nodes": nodes, "edges": edges, "layouts": layouts(matrix, widths, tiers)}


def draw(page, data, wait=True):
    page.evaluate("data => graph.set(data)", json.loads(json.dumps(data)))
    if wait:
        page.wait_for_timeout(600)


CHAIN = np.diag(np.ones(5), k=1)
DIAMOND = np.array([[0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]])


def places(page):
    return page.evaluate(
        """() => [...document.querySelectorAll(".node rect")].map((box) => box.getBoundingClientRect())
        .map((box) => [box.x, box.y, box.width, box.height])"""
    )


@pytest.mark.parametrize("size", [(1000, 600), (400, 700)])
@pytest.mark.parametrize("matrix", [CHAIN, DIAMOND, np.triu(np.ones((6, 6)), 1)])
def test_the_drawing_fills_its_canvas_with_legible_text(page, matrix, size):
    page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    draw(page, data_of(matrix))
    boxes = np.array(places(page))
    low, high = boxes[:, :2].min(axis=0), (boxes[:, :2] + boxes[:, 2:]).max(axis=0)
    assert (low >= 0).all()
    assert (high <= size).all()
    assert max((high - low) / size) > 0.75
    assert boxes[0, 3] >= 12 / 13 * 30


def test_a_tall_graph_lies_down_on_a_wide_canvas(page):
    draw(page, data_of(CHAIN))
    boxes = np.array(places(page))
    assert (np.diff(boxes[:, 0]) > 0).all()
    page.set_viewport_size({"width": 400, "height": 800})
    page.wait_for_timeout(700)
    boxes = np.array(places(page))
    assert (np.diff(boxes[:, 1]) > 0).all()


def test_links_have_no_head_and_edges_say_what_they_are(page):
    draw(page, data_of(DIAMOND, links=[(0, 1)]))
    heads = {
        edge.get_attribute("data-edge"): edge.locator(".head").get_attribute("d")
        for edge in page.locator(".edge").all()
    }
    assert heads.pop("0>1") == ""
    assert all(heads.values())
    assert page.locator('[data-edge="0>1"]').get_attribute("aria-label") == "0 1"


def test_a_change_of_data_moves_nodes_from_place_to_place(page):
    draw(page, data_of(DIAMOND))
    before = np.array(places(page))
    draw(page, data_of(DIAMOND.T), wait=False)
    page.wait_for_timeout(150)
    between = np.array(places(page))
    page.wait_for_timeout(600)
    after = np.array(places(page))
    way, done = (np.linalg.norm(now[0, :2] - before[0, :2]) for now in (after, between))
    assert 0 < done < way
    assert page.locator(".edge").count() == 4
    assert page.locator(".left").count() == 0


def test_clicks_pairs_and_the_empty_canvas_are_told(page):
    draw(page, data_of(DIAMOND))
    page.locator('[data-node="0"]').click()
    page.evaluate("graph.select({ node: 0 })")
    page.locator('[data-node="3"]').click(modifiers=["Shift"])
    page.locator('[data-edge="0>1"] .hit').dispatch_event("click")
    page.mouse.click(5, 5)
    assert page.evaluate("said") == [["onNode", 0], ["onPair", 0, 3], ["onEdge", "0>1"], ["onEmpty"]]
    assert page.locator(".edge.chosen").count() == 2
    assert page.locator(".node.chosen").get_attribute("aria-pressed") == "true"
    page.evaluate("graph.highlight({ edges: ['1>3'] })")
    assert page.locator(".edge.chosen").get_attribute("data-edge") == "1>3"
    assert page.locator(".node:not(.aside)").count() == 2


def test_nodes_and_edges_are_reached_by_keys(page):
    draw(page, data_of(DIAMOND))
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.node") == "0"
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+Tab")
    first = page.evaluate("document.activeElement.dataset.edge")
    page.keyboard.press("ArrowDown")
    second = page.evaluate("document.activeElement.dataset.edge")
    assert first
    assert second not in (None, first)
    assert page.evaluate("said") == [["onNode", 0], ["onEdge", second]]


def test_a_node_dropped_in_a_band_names_the_band(page):
    draw(page, data_of(DIAMOND, tiers=[[0, 1], [2, 3]]))
    assert page.locator(".band-label").all_text_contents() == ["tier 1", "tier 2"]
    start, goal = (page.locator(f'[data-node="{k}"]').bounding_box() for k in (0, 3))
    page.mouse.move(start["x"] + 10, start["y"] + 10)
    page.mouse.down()
    page.mouse.move(goal["x"] + 20, goal["y"] + 14, steps=4)
    page.mouse.up()
    assert page.evaluate("said") == [["onDrop", 0, 1]]
