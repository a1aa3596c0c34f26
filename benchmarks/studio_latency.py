"""From an edit in `golem studio` to the new picture, in Chromium, with 50 and 200 columns.

    python benchmarks/studio_latency.py [--edits 30] [--many 1000]

Aimed at: 0.3 s with 50 columns and 1.5 s with 200. An edit is a key press that puts a column into a
tier. It ends with the first frame of the new graph; nodes then move for 0.45 s. The checks of the graph before run
meanwhile, as they do for a user. "Processors" is what all processes of browser and studio compute in that time, which
other work on the machine hardly changes; leave a `--pause` that is longer than the checks. `--many` presses keys 50
times per second, and prints how memory grows. Needs `make browser` and Linux.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from playwright.sync_api import sync_playwright

from golem.runtime.files import csv_text
from golem.simulate import simulate

SIZES = {50: 0.3, 200: 1.5}
# Presses a key on a column, and returns the seconds until the first frame of a newer graph.
EDIT = """([column, key]) => new Promise((done) => {
  const chip = [...document.querySelectorAll(".chip")].find((one) => one.dataset.column === column);
  const before = parseInt(document.documentElement.dataset.drawn), began = performance.now();
  new MutationObserver((changes, observer) => {
    if (!(parseInt(document.documentElement.dataset.drawn) > before)) return;
    observer.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => done((performance.now() - began) / 1000)));
  }).observe(document.documentElement, { attributeFilter: ["data-drawn"] });
  chip.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
})"""


# Presses keys on columns 50 times per second, and returns when the server has acknowledged the last edit.
MANY = """async (edits) => {
  const version = async () => (await (await fetch("/api/state")).json()).state.version;
  for (let k = 0; k < edits; k++) {
    const chips = document.querySelectorAll(".chip"), chip = chips[k % chips.length];
    const key = chip.closest(".tier").dataset.tier === "0" ? "3" : "1";
    chip.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await new Promise((done) => setTimeout(done, 20));
  }
  for (let last = -1, now = await version(); now !== last; now = await version()) {
    last = now;
    await new Promise((done) => setTimeout(done, 1000));
  }
}"""


def processes() -> dict[int, tuple[int, float, int]]:
    """Return parent, seconds on processors and megabytes of the processes below this one."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state = (path / "stat").read_text().rpartition(")")[2].split()
            times = [int((task / "schedstat").read_text().split()[0]) for task in (path / "task").iterdir()]
            found[int(path.name)] = int(state[1]), sum(times) / 1e9, int(state[21]) * os.sysconf("SC_PAGE_SIZE") >> 20
    below = {os.getpid()}
    while more := {one for one, (parent, *_) in found.items() if parent in below} - below:
        below |= more
    return {one: found[one] for one in below - {os.getpid()}}


def measured(page: Any, columns: list[str], edits: int, pause: float) -> list[tuple[float, float]]:
    """Return the seconds by the clock and on processors: columns go to the first tier one by one, then back."""
    found = []
    for k in range(edits):
        column, turn = columns[k % len(columns)], k // len(columns)
        before = processes()
        clock = page.evaluate(EDIT, [column, "12"[turn % 2]])
        used = sum(now - before[one][1] for one, (_, now, _) in processes().items() if one in before)
        found.append((clock, used))
        page.wait_for_timeout(1000 * pause)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edits", type=int, default=30)
    parser.add_argument("--pause", type=float, default=1.0, help="Seconds between edits, in which the checks begin.")
    parser.add_argument("--many", type=int, default=0, help="Edits at 50 per second, with 50 columns.")
    given = parser.parse_args()
    print("columns   median   90 %     processors   limit")
    for d, limit in SIZES.items():
        with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
            drawn = simulate(d, 1000, "ER2", "gaussian-nv", random_state=1)
            columns, table = [f"x{k}" for k in range(d)], Path(name) / "table.csv"
            table.write_text(csv_text([columns, *drawn.data.round(6).tolist()]), encoding="utf-8")
            command = [sys.executable, "-m", "golem", "studio", str(table), "-o", name, "--no-browser"]
            server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            try:
                assert server.stdout is not None
                found = re.search(r"http://\S+", server.stdout.readline())
                assert found is not None, "golem studio did not start"
                browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
                page = browser.new_page(viewport={"width": 1400, "height": 900})
                page.goto(found.group())
                page.wait_for_selector("html[data-drawn]", timeout=300_000)
                seconds, used = zip(*measured(page, columns, given.edits, given.pause), strict=True)
                tail = quantiles(seconds, n=10)[-1]
                print(
                    f"{d:7}   {median(seconds):.2f} s   {tail:.2f} s   {median(used):.2f} s       {limit} s", flush=True
                )
                for done in range(0, given.many, max(1, given.many // 5)) if d == min(SIZES) else ():
                    page.evaluate(MANY, given.many // 5)
                    memory = [mb for one, (parent, _, mb) in processes().items() if server.pid in (one, parent)]
                    graphs = page.locator("#refits").inner_text()
                    print(f"    {done + given.many // 5} more edits: {memory} MB, {graphs}", flush=True)
                browser.close()
            finally:
                server.terminate()
                server.wait()


if __name__ == "__main__":
    main()
