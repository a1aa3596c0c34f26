"""The page of the studio as a person uses it: the real server, and Chromium."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from golem.runtime.files import csv_text
from golem.simulate import simulate

pytestmark = pytest.mark.browser
LONG = 120_000


def expect(locator: Any) -> Any:
    """Return assertions that wait until they hold: machines may be slow."""
    from playwright import sync_api

    sync_api.expect.set_options(timeout=30_000)
    return sync_api.expect(locator)


class Program:
    """A running `golem studio`."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.folder = folder
        command = [sys.executable, "-m", "golem", "studio", *words, "-o", str(folder), "--no-browser"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        found = re.search(r"http://\S+", self.process.stdout.readline())
        assert found is not None
        self.address = found.group()

    def end(self) -> None:
        self.process.terminate()
        self.wait()

    def wait(self) -> None:
        self.process.wait(20)
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    pytest.importorskip("starlette")
    one = Program(tmp_path_factory.mktemp("studio"))
    yield one
    one.end()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open the page; no error may be written to the console, unless it is expected."""
    troubles: list[str] = []
    contexts = []

    def make(address: str, **options: Any) -> Any:
        context = browser.new_context(**({"viewport": {"width": 1400, "height": 900}} | options))
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(LONG)
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: (troubles.append("dialog " + dialog.message), dialog.dismiss()))
        page.goto(address)
        return page

    make.troubles = troubles  # type: ignore[attr-defined]
    yield make
    for context in contexts:
        context.close()
    assert not troubles


@pytest.fixture
def page(open_page: Callable[..., Any], program: Program) -> Any:
    return open_page(program.address)


def upload(page: Any, columns: list[str], rows: Any, name: str = "data.csv") -> None:
    content = csv_text([columns, *([*row] for row in rows)])
    with page.expect_response("**/api/data?**") as answer:
        page.set_input_files("#file", {"name": name, "mimeType": "text/csv", "buffer": content.encode()})
    assert answer.value.ok
    page.locator("#title", has_text=name).wait_for()
    page.locator("#tiers .chip").first.wait_for()


def small(page: Any, d: int = 5, n: int = 300, seed: int = 2) -> list[str]:
    columns = [f"x{k}" for k in range(d)]
    upload(page, columns, simulate(d, n=n, graph="ER2", random_state=seed).data.round(4).tolist())
    wait_checked(page)
    return columns


def wait_checked(page: Any) -> None:
    """Wait for the checked graph of the newest version."""
    version = page.evaluate("fetch('/api/state').then((found) => found.json()).then((found) => found.state.version)")
    page.wait_for_selector(f'html[data-drawn="{version} checked"]', timeout=LONG)


def chip(page: Any, name: str) -> Any:
    return page.locator(f'.chip[data-column="{name}"]')


def tier(page: Any, number: int) -> list[str]:
    return page.locator(f".tier[data-tier='{number}'] .chip span").all_text_contents()


def edges(page: Any) -> list[str]:
    page.wait_for_timeout(600)  # what has left fades
    return sorted(page.locator("#graph .edge").evaluate_all("all => all.map((one) => one.getAttribute('aria-label'))"))


def choose_edge(page: Any, number: int = 0) -> list[str]:
    edge = page.locator("#graph .edge").nth(number)
    edge.locator(".hit").dispatch_event("click")
    return json.loads(edge.get_attribute("data-edge"))


def test_the_page_invites_and_opens_an_example(page: Any) -> None:
    page.locator("#graph .welcome").wait_for()
    expect(page.locator("#left")).not_to_be_visible()
    page.locator(".welcome button", has_text="Diabetes").click()
    page.locator("#graph .node").first.wait_for()
    expect(page.locator("#graph .node")).to_have_count(11)
    expect(chip(page, "progression")).to_be_visible()


def test_tiers_by_mouse_and_by_keyboard_are_obeyed_at_once(page: Any) -> None:
    small(page)
    assert tier(page, 1) == ["x0", "x1", "x2", "x3", "x4"]
    chip(page, "x3").drag_to(page.locator(".tier[data-tier='0']"))
    page.locator(".tier[data-tier='0'] .chip").wait_for()
    chip(page, "x0").focus()
    page.keyboard.press("3")
    page.locator(".tier[data-tier='2'] .chip").wait_for()
    assert page.evaluate("document.activeElement.dataset.column") == "x0"
    wait_checked(page)
    changed = page.locator("#changes details").count()
    page.get_by_label("Compared with").select_option("start")
    assert page.locator("#changes details").count() >= changed
    page.reload()
    wait_checked(page)
    assert "since the start" in page.locator("#changes").inner_text()
    chip(page, "x0").focus()
    assert (tier(page, 0), tier(page, 2)) == (["x3"], ["x0"])
    arrows = [re.fullmatch(r"(\w+) causes (\w+)", text) for text in edges(page)]
    found = [arrow.groups() for arrow in arrows if arrow]
    assert found
    assert all(effect != "x3" and cause != "x0" for cause, effect in found)
    assert page.locator("#graph .band-label").all_text_contents() == ["First", "Later", "Outcome"]
    assert "x3" in page.locator("#knowledge").inner_text()
    page.keyboard.press("Alt+ArrowUp")
    page.wait_for_selector(".tier[data-tier='1'] [data-column=x0]")
    learned = page.locator("#history .hint").inner_text()
    page.keyboard.press("2")  # it is there already
    page.keyboard.press("0")
    page.locator("#graph .node.no-tier[data-node=x0]").wait_for()
    wait_checked(page)
    steps = int(page.locator("#history .hint").inner_text().split()[0])
    assert steps == int(learned.split()[0]) + 1


def test_a_node_dragged_into_a_band_of_the_graph_changes_its_tier(page: Any) -> None:
    small(page)
    chip(page, "x3").focus()
    page.keyboard.press("1")
    page.locator(".band-label").first.wait_for()
    wait_checked(page)
    page.wait_for_timeout(700)
    start, goal = (page.locator(f"#graph .node[data-node={name}]").bounding_box() for name in ("x1", "x3"))
    page.mouse.move(start["x"] + 8, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(goal["x"] + 60, goal["y"] + 10, steps=5)
    page.mouse.up()
    page.wait_for_selector(".tier[data-tier='0'] [data-column=x1]")


def test_rules_about_an_edge_say_what_they_cost_and_can_be_removed(page: Any) -> None:
    small(page)
    ends = choose_edge(page)
    page.wait_for_function("() => !document.querySelector('#selected').innerText.includes('…')")
    costs = page.locator("#selected .rules small").all_text_contents()
    assert len(costs) == 5
    assert all(cost == "the data do not mind" or cost.startswith("the data object") for cost in costs)
    assert costs[-1].startswith("the data object")
    before = edges(page)
    page.locator("#selected button", has_text="No edge between them").click()
    page.locator("#knowledge li", has_text="No edge between").wait_for()
    wait_checked(page)
    assert not [text for text in edges(page) if all(end in text for end in ends)]
    page.locator("#knowledge button").click()
    page.locator("#knowledge .hint").wait_for()
    wait_checked(page)
    assert edges(page) == before


def test_a_pair_is_chosen_with_shift(page: Any) -> None:
    small(page)
    for name, modifiers in (("x0", []), ("x4", ["Shift"])):
        page.locator(f"#graph .node[data-node={name}]").click(modifiers=modifiers)
    page.locator("#selected button", has_text="x4 causes x0").click()
    page.locator("#knowledge li", has_text="x4 causes x0").wait_for()
    wait_checked(page)
    assert "x4 causes x0" in edges(page)


def test_columns_show_histograms_and_are_changed(page: Any) -> None:
    rng = np.random.default_rng(0)
    size = rng.lognormal(size=300)
    gap = np.where(rng.random(300) < 0.2, 0, rng.normal(10, 1, 300))
    rows = zip(size.round(4), gap.round(4), rng.integers(1, 4, 300), rng.choice(["a", "b"], 300), strict=True)
    upload(page, ["size", "gap", "code", "group"], [[*map(str, row)] for row in rows])
    wait_checked(page)
    chip(page, "gap").click()
    expect(page.locator("#column .histogram rect")).to_have_count(16)
    page.get_by_label("0 means missing").check()
    page.locator("#column", has_text="values are missing").wait_for()
    chip(page, "size").click()
    page.get_by_label("Take the logarithm").check()
    page.locator("#history li", has_text="logarithm").wait_for()
    page.locator("#findings .notes", has_text='use "category"').locator("button", has_text="code").click()
    page.locator("#column button", has_text="Categories").click()
    page.locator("#column .warning").wait_for(state="detached")
    wait_checked(page)
    assert page.locator("#graph .node[data-node=code] rect").get_attribute("rx") == "0"
    page.get_by_label("Drop this column").check()
    page.locator("#graph .node[data-node=code]").wait_for(state="detached")
    assert chip(page, "code").locator("small").inner_text() == "dropped"


def test_a_bootstrap_streams_in_and_is_cancelled_within_a_second(page: Any) -> None:
    small(page)
    page.locator("#bootstrap").click()
    page.locator("#trust").wait_for()
    assert re.search(r"Bootstrap \d+ %", page.locator("#progress").inner_text())
    page.locator("#cancel").click()
    page.locator("#cancel").wait_for(state="hidden", timeout=1000)
    shown = page.locator("#graph .edge:not(.faded)").count()
    page.locator("#least").fill("100")
    assert page.locator("#graph .edge:not(.faded)").count() < shown
    choose_edge(page)
    assert "% of the resamples" in page.locator("#selected").inner_text()


def test_what_if_gives_ranges_and_what_to_adjust_for(page: Any) -> None:
    names = small(page)
    chip(page, names[0]).focus()
    page.keyboard.press("1")
    wait_checked(page)
    page.locator("#graph .node[data-node=x0]").click()
    page.locator("#selected h2", has_text="What if x0").wait_for()
    page.locator("#selected .effects li, #selected p:has-text('Nothing changes')").first.wait_for()
    first = page.locator("#selected .effects li").all_text_contents()
    page.get_by_label("Change of x0").fill("0")
    assert page.locator("#selected .effects li").all_text_contents() != first or not first
    page.get_by_label("Effect on").select_option("x1")
    sentence = re.compile("djust for|does not affect|not the other way")
    expect(page.locator("#selected")).to_have_text(sentence)


def test_undo_redo_and_snapshots_side_by_side(page: Any) -> None:
    small(page)
    before = edges(page)
    page.get_by_label("Name of a snapshot").fill("start")
    page.keyboard.press("Enter")
    page.locator("#snapshots li", has_text="start").wait_for()
    chip(page, "x3").focus()
    page.keyboard.press("1")
    wait_checked(page)
    after = edges(page)
    page.keyboard.press("Control+z")
    page.wait_for_selector(".tier[data-tier='1'] [data-column=x3]")
    wait_checked(page)
    assert edges(page) == before
    page.keyboard.press("Control+Shift+Z")
    page.wait_for_selector(".tier[data-tier='0'] [data-column=x3]")
    wait_checked(page)
    assert edges(page) == after
    assert re.search(r"[2-9] graphs learned", page.locator("#refits").inner_text())
    page.locator("#snapshots button", has_text="Compare").click()
    expect(page.locator("#compare .golem-graph")).to_have_count(2)
    assert "Since start" in page.locator("#compare").inner_text()
    page.locator("#compare button", has_text="Close").click()
    page.locator("#snapshots button", has_text="Return").click()
    page.wait_for_selector(".tier[data-tier='1'] [data-column=x3]")


def test_what_is_saved_can_be_downloaded_and_gives_the_same_graph(page: Any, program: Program) -> None:
    small(page)
    chip(page, "x3").focus()
    page.keyboard.press("1")
    wait_checked(page)
    page.locator("#save").click()
    page.locator("#saved a", has_text="script.py").wait_for()
    expect(page.locator("#saved h2")).to_be_in_viewport()
    page.locator("#right").evaluate("one => one.scrollTop = one.scrollHeight")
    choose_edge(page)
    expect(page.locator("#selected h2")).to_be_in_viewport()
    with page.expect_download() as download:
        page.locator("#saved a", has_text="graph.json").click()
    saved = json.loads(download.value.path().read_text())
    subprocess.run([sys.executable, "script.py"], cwd=program.folder / "results", check=True, capture_output=True)
    again = json.loads((program.folder / "results" / "out" / "graph.json").read_text())
    assert again["edge_table"] == saved["edge_table"]
    assert saved["refits"] >= 2


def test_a_killed_program_resumes_with_the_last_edit(open_page: Callable[..., Any], tmp_path: Path) -> None:
    first = Program(tmp_path / "session")
    page = open_page(first.address)
    upload(page, ["a", "b", "c"], np.random.default_rng(0).normal(size=(200, 3)).tolist())
    chip(page, "b").focus()
    page.keyboard.press("1")
    page.locator(".tier[data-tier='0'] .chip").wait_for()
    first.process.send_signal(signal.SIGKILL)
    first.wait()
    page.locator("#progress", has_text="Waiting for golem studio").wait_for()
    second = Program(tmp_path / "session")
    page.goto(second.address)
    page.locator(".tier[data-tier='0'] [data-column=b]").wait_for()
    wait_checked(page)
    page.goto("about:blank")
    second.end()
    lost = [text for text in open_page.troubles if "Failed to load resource" in text]  # type: ignore[attr-defined]
    for text in lost:
        open_page.troubles.remove(text)  # type: ignore[attr-defined]


def test_two_tabs_see_each_other_and_a_late_edit_is_a_conflict(page: Any, open_page: Any, program: Program) -> None:
    small(page)
    other = open_page(program.address)
    chip(page, "x0").focus()
    page.keyboard.press("1")
    other.locator(".tier[data-tier='0'] [data-column=x0]").wait_for()
    # The second tab hears nothing for a while.
    late = json.dumps({"version": 1, "edit": {"kind": "place", "columns": ["x0"], "tier": 2}})
    other.route("**/api/edit", lambda route: route.continue_(post_data=late))
    chip(other, "x0").focus()
    other.keyboard.press("3")
    other.locator("#problem", has_text="changed elsewhere").wait_for()
    assert tier(other, 0) == ["x0"]
    assert "409" in open_page.troubles.pop()


def test_hostile_names_stay_text(page: Any) -> None:
    names = ["<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "a b,c;d", "\u202eevil", "__proto__"]
    upload(page, names, np.random.default_rng(1).normal(size=(150, 5)).cumsum(axis=1).round(4).tolist(), "<b>x.csv")
    wait_checked(page)
    assert page.locator(".chip span").all_text_contents() == names
    assert page.locator("#title").inner_text() == "<b>x.csv"
    for name in names:
        page.locator(".chip", has_text=name).first.focus()
        page.keyboard.press("1")
    expect(page.locator(".tier[data-tier='0'] .chip")).to_have_count(len(names))  # edits are sent one after another
    wait_checked(page)
    choose_edge(page)
    page.locator("#selected .rules").wait_for()
    expect(page.locator("#left script, #right script, #graph script, main img")).to_have_count(0)


def test_a_bad_file_gets_a_sentence(page: Any, open_page: Any) -> None:
    small(page)
    page.set_input_files("#file", {"name": "x.parquet", "mimeType": "text/plain", "buffer": b"\x00\x01\x02"})
    page.locator("#problem").wait_for()
    assert len(page.locator("#problem span").inner_text()) > 20
    assert page.locator("#title").inner_text() == "data.csv"
    page.locator("#problem button").click()
    expect(page.locator("#problem")).not_to_be_visible()
    assert "400" in open_page.troubles.pop()


def test_300_columns_open_with_a_search_box_and_show_neighbourhoods(page: Any) -> None:
    drawn = simulate(300, n=200, graph="ER1", random_state=0)
    upload(page, [f"gene{k}" for k in range(300)], drawn.data.round(3).tolist())
    page.locator("#around").wait_for()
    page.locator("#graph .node").first.wait_for()
    assert page.locator("#graph .node").count() < 61
    page.locator("#center").fill("gene7")
    page.locator("#graph .node[data-node=gene7].chosen").wait_for()
    counts = page.locator("#counts").inner_text()
    assert re.match(r"\d+ of \d+ edges around gene7", counts)
    expect(page.locator("#graph .edge")).to_have_count(int(counts.split()[0]))
    page.locator("#filter").fill("gene12")
    expect(page.locator(".chip")).to_have_count(11)
    chip(page, "gene12").click()
    page.locator("#graph .node[data-node=gene12].chosen").wait_for()
    small(page)  # neither the search nor the selection outlasts the table
    expect(page.locator(".chip")).to_have_count(5)
    expect(page.locator("#selected h2")).to_have_count(0)


def test_experiments_name_what_they_changed(page: Any) -> None:
    rng = np.random.default_rng(3)
    rows = []
    for label, scale in (("control", 1.0), ("knockout", 4.0)):
        a = rng.normal(0, scale, 150)
        rows += [[x.round(4), (x + e).round(4), label] for x, e in zip(a, rng.normal(size=150), strict=True)]
    upload(page, ["a", "b", "run"], [[*map(str, row)] for row in rows])
    wait_checked(page)
    chip(page, "run").click()
    page.locator("#column button", has_text="which experiment").click()
    page.get_by_label("Columns that knockout changed").wait_for()
    page.get_by_label("Columns that knockout changed").fill("a")
    page.keyboard.press("Enter")
    page.locator("#history li", has_text="Experiments").first.wait_for()
    wait_checked(page)
    assert edges(page) == ["a causes b"]


def test_a_series_is_drawn_by_steps_and_effects_run_over_time(page: Any) -> None:
    rng, n = np.random.default_rng(0), 400
    X = rng.exponential(size=(n, 2))
    for t in range(1, n):
        X[t] += X[t - 1] @ [[0.4, 0.7], [0, 0.2]]
    upload(page, ["day", "rain", "river"], [[t, *row] for t, row in enumerate(X.round(4).tolist())])
    wait_checked(page)
    chip(page, "day").click()
    page.locator("summary", has_text="Rows that follow").click()
    page.get_by_label("Role of the column").select_option("time")
    page.locator("#graph .node[data-node='rain@1']").wait_for()
    wait_checked(page)
    assert page.locator(".band-label").all_text_contents()[-1] == "Now"
    assert "rain@1 causes river" in edges(page)
    page.locator("#graph .node[data-node=rain]").click()
    page.locator("#selected .effects li", has_text="river: 0").wait_for()
    choose_edge(page)
    page.locator("#selected .rules li").first.wait_for()
    expect(page.locator("#selected .rules li")).to_have_count(2)


def test_the_command_line_opens_a_series(open_page: Callable[..., Any], tmp_path: Path) -> None:
    X = np.random.default_rng(0).exponential(size=(200, 2)).cumsum(axis=0) % 3
    rows = [[t, *row] for t, row in enumerate(X.round(4).tolist())]
    (tmp_path / "table.csv").write_text(csv_text([["day", "a", "b"], *rows]))
    program = Program(tmp_path / "session", str(tmp_path / "table.csv"), "--time", "day", "--lags", "1")
    page = open_page(program.address)
    page.locator("#graph .node[data-node=a]").wait_for()
    assert chip(page, "day").locator("small").inner_text() == "time"
    assert "Rows in time (lags: 1, time: 'day')" in page.locator("#history").inner_text()
    page.goto("about:blank")
    program.end()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_problem(open_page: Any, program: Program, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(program.address, color_scheme=scheme, bypass_csp=True)

    def check() -> None:
        found = axe.run(page).response["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        assert not serious, [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in serious]

    small(page)
    check()
    page.locator("#graph .node[data-node=x0]").click()
    page.locator("#column h2").wait_for()
    check()
    choose_edge(page)
    page.locator("#selected .rules").wait_for()
    check()


def test_on_a_phone_the_graph_comes_first(open_page: Any, program: Program) -> None:
    page = open_page(program.address, viewport={"width": 400, "height": 800})
    small(page)
    graph, left = (page.locator(part).bounding_box() for part in ("#graph", "#left"))
    assert graph["y"] < left["y"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
