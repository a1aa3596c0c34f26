"""Take the pictures of docs/report.md: the reports of the Sachs data and of a comparison on 50 variables.

`make test-browser` installs Chromium and its driver; then run `python docs/make_screenshots.py`.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from golem import Golem, Moments
from golem.comparison.report import report_comparison
from golem.comparison.run import compare
from golem.datasets import load_sachs
from golem.graphs.named_graph import NamedGraph
from golem.output.document import Supplement
from golem.output.report import report_model
from golem.simulate import simulate

IMAGES = Path(__file__).parent / "images"


def sachs(folder: Path) -> Path:
    """Write the report of `golem demo`."""
    data = load_sachs()
    model = Golem().fit(Moments.from_rows(np.log(data.values), data.names))
    consensus = NamedGraph.from_class(data.truth, tuple(data.names))
    findings, path = Supplement(diagnosis=model.diagnose(np.log(data.values))), folder / "sachs.html"
    shown = {"title": "Sachs protein data", "other": ("consensus", consensus), "rows": np.log(data.values)}
    return report_model(model, path, findings, **shown)


def comparison(folder: Path) -> Path:
    """Write the report of six methods on 300 rows of 50 variables."""
    drawn = simulate(50, 300, "ER2", "gaussian-nv", random_state=1)
    methods = ["order", "sort-regress-var", "notears-l1", "fgs", "pc", "direct-lingam"]
    result = compare(drawn.data, methods, truth=drawn.sem.adjacency)
    return report_comparison(result, folder / "comparison.html", title="Six methods on 50 simulated variables")


def main() -> None:
    """Write both pictures."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])

        def take(page_file: Path, picture: str, height: int, choose: str) -> None:
            page: Page = browser.new_page(viewport={"width": 1360, "height": 880}, device_scale_factor=1.5)
            page.goto(page_file.as_uri())
            page.wait_for_selector("html[data-ready=yes]")
            page.evaluate(choose)
            page.wait_for_timeout(300)  # the fading of edges
            page.screenshot(
                path=folder / picture, full_page=True, clip={"x": 0, "y": 0, "width": 1360, "height": height}
            )
            page.close()
            # Pages have few colours, so a palette keeps all of them and makes the file small.
            small = Image.open(folder / picture).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE)
            small.save(IMAGES / picture, optimize=True)

        node = """
            document.querySelector('[aria-label^="PKC:"]').dispatchEvent(
                new PointerEvent("pointerdown", {button: 0, pointerId: 1, bubbles: true}));
            window.dispatchEvent(new PointerEvent("pointerup", {pointerId: 1}));
        """
        method = """
            const shown = document.getElementById("shown");
            shown.value = [...shown.options].find((option) => option.text === "sort-regress-var").value;
            shown.dispatchEvent(new Event("change"));
        """
        take(sachs(folder), "report-sachs.png", 828, node)
        take(comparison(folder), "report-comparison.png", 1128, method)
        browser.close()


if __name__ == "__main__":
    main()
