"""From an edit in `golem studio` to the new picture, in Chromium, with 50 and 200 columns.

    python benchmarks/studio_latency.py [--edits 30]

Aimed at: 0.3 s with 50 columns and 1.5 s with 200. An edit is a key press that puts a column into a
tier. It ends with the first frame of the new graph; nodes then move for 0.45 s. The checks of the graph before run
meanwhile, as they do for a user. Needs `make browser`.
"""

from __future__ import annotations

import argparse
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


def measured(page: Any, columns: list[str], edits: int, pause: float) -> list[float]:
    """Return the seconds of edits: columns go to the first tier, one after the other, and then back."""
    found = []
    for k in range(edits):
        column, turn = columns[k % len(columns)], k // len(columns)
        found.append(page.evaluate(EDIT, [column, "12"[turn % 2]]))
        page.wait_for_timeout(1000 * pause)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edits", type=int, default=30)
    parser.add_argument("--pause", type=float, default=1.0, help="Seconds between edits, in which the checks begin.")
    given = parser.parse_args()
    print("columns   median   90 %      limit")
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
                seconds = measured(page, columns, given.edits, given.pause)
                browser.close()
            finally:
                server.terminate()
                server.wait()
        print(f"{d:7}   {median(seconds):.2f} s   {quantiles(seconds, n=10)[-1]:.2f} s    {limit} s", flush=True)


if __name__ == "__main__":
    main()
