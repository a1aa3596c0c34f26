"""Make all pictures of docs and README from the present code: figures of pages, and screenshots of reports.

`make pictures` installs Chromium and its driver, and runs this. benchmarks/fit_speed.py and reliability.py draw
what they measured.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

import run_pages
from PIL import Image
from playwright.sync_api import Page, ViewportSize, sync_playwright

from golem.comparison.result import report_comparison
from golem.comparison.run import compare
from golem.simulate import simulate

IMAGES = Path(__file__).parent / "images"
Scheme = Literal["light", "dark"]


def sachs(folder: Path) -> Path:
    """Write the report of `golem demo`."""
    subprocess.run([sys.executable, "-m", "golem", "demo", "-o", folder / "sachs", "--quiet"], check=True)
    return folder / "sachs" / "report.html"


def comparison(folder: Path) -> Path:
    """Write the report of six methods on 300 rows of 50 variables."""
    drawn = simulate(50, 300, "ER2", "gaussian-nv", random_state=1)
    methods = ["order", "sort-regress-var", "notears-l1", "fgs", "pc", "direct-lingam"]
    result = compare(drawn.data, methods, truth=drawn.sem.adjacency)
    return report_comparison(result, folder / "comparison.html", title="Six methods on 50 simulated variables")


def main() -> None:
    """Write the pictures."""
    for page in run_pages.PAGES:
        run_pages.update(page)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])

        def take(page_file: Path, picture: str, height: int, choose: str, scheme: Scheme = "light") -> None:
            window = ViewportSize(width=1360, height=880)
            page: Page = browser.new_page(viewport=window, device_scale_factor=1.5, color_scheme=scheme)
            page.goto(page_file.as_uri())
            page.wait_for_selector("html[data-ready=yes]")
            page.evaluate(choose)
            page.wait_for_timeout(300)  # the fading of edges
            page.screenshot(
                path=folder / picture, full_page=True, clip={"x": 0, "y": 0, "width": 1360, "height": height}
            )
            page.close()
            # Pages have few colours. A palette of the 256 most frequent ones is exact for almost all pixels.
            shot = Image.open(folder / picture).convert("RGB")
            frequent = sorted(shot.getcolors(shot.width * shot.height) or [], reverse=True)[:256]
            palette = Image.new("P", (1, 1))
            palette.putpalette([value for _, colour in frequent for value in colour])
            shot.quantize(palette=palette, dither=Image.Dither.NONE).save(IMAGES / picture, optimize=True)

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
        report = sachs(folder)
        take(report, "report-sachs.png", 836, node)
        take(report, "report-sachs-dark.png", 836, node, "dark")
        take(comparison(folder), "report-comparison.png", 1128, method)
        browser.close()


if __name__ == "__main__":
    main()
