"""Make all pictures of docs and README from the present code: figures of pages, screenshots of reports and studio.

`make pictures` installs Chromium and its driver, and runs this. benchmarks/fit_speed.py and reliability.py draw
what they measured.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

import numpy as np
import run_pages
from matplotlib.figure import Figure
from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright
from sklearn.datasets import load_diabetes

import golem
from golem.plots import plot_graph

IMAGES = Path(__file__).parent / "images"
Scheme = Literal["light", "dark"]


def sachs(folder: Path) -> Path:
    """Write the report of `golem demo`."""
    subprocess.run([sys.executable, "-m", "golem", "demo", "-o", folder / "sachs", "--quiet"], check=True)
    return folder / "sachs" / "report.html"


def studio(folder: Path, browser: Browser) -> None:
    """Draw the diabetes table in `golem studio` while its order of time is told: an animation, and the result."""
    command = [sys.executable, "-m", "golem", "studio", "-o", str(folder / "session"), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = re.search(r"http://\S+", server.stdout.readline())
        assert address is not None, "golem studio did not start"
        page = browser.new_page(viewport=ViewportSize(width=1200, height=760), device_scale_factor=1.5)
        page.set_default_timeout(300_000)
        page.goto(address.group())
        taken: list[Path] = []

        def take() -> None:
            version = page.evaluate(
                "fetch('/api/state').then((found) => found.json()).then((one) => one.state.version)"
            )
            page.wait_for_selector(f'html[data-drawn="{version} checked"]')
            page.locator("#findings details").first.wait_for()
            page.wait_for_timeout(800)  # what changed moves
            taken.append(folder / f"studio-{len(taken)}.png")
            page.screenshot(path=taken[-1])

        page.locator(".welcome button", has_text="Diabetes").click()
        page.locator("#graph .node").first.wait_for()
        take()
        for column, tier in (("age", 0), ("sex", 0), ("progression", 2)):
            page.locator(f'.chip[data-column="{column}"]').drag_to(page.locator(f".tier[data-tier='{tier}']"))
            page.wait_for_selector(f".tier[data-tier='{tier}'] [data-column={column}]")
            take()
        page.get_by_label("Compared with").select_option("start")
        take()
        shrink(taken[-1], IMAGES / "studio-after.png")
        edge = page.locator("#graph .edge[aria-label='bmi causes progression'] .hit")
        edge.dispatch_event("click")
        page.wait_for_function("() => !document.querySelector('#selected').innerText.includes('…')")
        take()
        animate(taken, IMAGES / "studio.webp")
        page.close()
        server.terminate()


def animate(pictures: list[Path], written: Path) -> None:
    """Write pictures as an animation, which shows the last two longer."""
    first, *others = (Image.open(one).convert("RGB").resize((960, 608), Image.Resampling.LANCZOS) for one in pictures)
    durations = [2500] * (len(others) - 1) + [4000, 4000]
    first.save(written, save_all=True, append_images=others, duration=durations, loop=0, quality=80, method=6)


def shrink(picture: Path, written: Path) -> None:
    """Write a picture with a palette of the 256 most frequent colours: exact for almost all pixels of a page."""
    shot = Image.open(picture).convert("RGB")
    frequent = sorted(shot.getcolors(shot.width * shot.height) or [], reverse=True)[:256]
    palette = Image.new("P", (1, 1))
    palette.putpalette([value for _, colour in frequent for value in colour])
    shot.quantize(palette=palette, dither=Image.Dither.NONE).save(written, optimize=True)


def diabetes() -> None:
    """Draw what a table seems to say if every edge is an arrow, and what follows once the order of time is given."""
    names = {"age": "age", "sex": "sex", "bmi": "bmi", "bp": "blood pressure", "s3": "HDL", "s5": "triglycerides"}
    names |= {"s6": "glucose", "target": "progression"}
    table = load_diabetes(as_frame=True, scaled=False).frame[[*names]].rename(columns=names)
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    plot_graph(golem.Golem().fit(table), left, "The best-fitting graph, every edge as an arrow (red: impossible)")
    names_at = {(text.get_position()): text.get_text() for text in left.texts}
    for arrow in left.patches:
        ends = arrow.get_path().vertices[[0, -1]]
        source, target = (min(names_at, key=lambda place, end=end: np.hypot(*(end - place))) for end in ends)
        wrong = names_at[target] in ("age", "sex") or names_at[source] == "progression"
        arrow.set(arrowstyle="-|>", color="#c62828" if wrong else "#8a8a8a")
    left.get_legend().remove()
    told = {"exogenous": ["age", "sex"], "outcome": ["progression"]}
    plot_graph(
        golem.Golem(knowledge=told).fit(table), right, "golem, told that age and sex come first, progression last"
    )
    figure.savefig(IMAGES / "diabetes.png", dpi=110)


def main() -> None:
    """Write the pictures, or some of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = ["pages", "report", "studio"]
    parser.add_argument("what", nargs="*", metavar="|".join(kinds), help="Which pictures; by default all.")
    wanted = parser.parse_args().what or kinds
    if "pages" in wanted:
        diabetes()
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
            shrink(folder / picture, IMAGES / picture)

        node = """
            document.querySelector('[aria-label^="PKC:"]').dispatchEvent(
                new PointerEvent("pointerdown", {button: 0, pointerId: 1, bubbles: true}));
            window.dispatchEvent(new PointerEvent("pointerup", {pointerId: 1}));
        """
        if "studio" in wanted:
            studio(folder, browser)
        if "report" in wanted:
            report = sachs(folder)
            take(report, "report-sachs.png", 836, node)
            take(report, "report-sachs-dark.png", 836, node, "dark")
        browser.close()


if __name__ == "__main__":
    main()
