"""The built site works from disk: links lead somewhere, nothing comes from other hosts, pages are found."""

from __future__ import annotations

import importlib.util
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.site
ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "site"
# What a browser fetches by itself; links that a reader may click are not among them.
LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src")}


class Page(HTMLParser):
    """The anchors, links and loaded resources of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        """Note the attributes of one element."""
        for name, value in attributes:
            if name in ("id", "name"):
                self.anchors.add(value)
            if (tag, name) in LOADED:
                self.loaded.append(value)
            elif name == "href":
                self.links.append(value)


@pytest.fixture(scope="module")
def pages():
    found = {path.resolve(): Page(path) for path in SITE.rglob("*.html") if "_static" not in path.parts}
    assert found, "run `make site`"
    return found


def test_nothing_is_loaded_from_other_hosts(pages):
    foreign = {(path.name, url) for path, page in pages.items() for url in page.loaded if urlsplit(url).netloc}
    assert not foreign
    for style in SITE.rglob("*.css"):
        assert not re.search(r"(@import\s*|url\()\s*[\"']?(https?:)?//", style.read_text(encoding="utf-8")), style


def test_every_link_leads_to_a_file_and_an_anchor(pages):
    broken = []
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[target].anchors if target in pages else set()
            if not target.exists() or (target in pages and parts.fragment and unquote(parts.fragment) not in anchors):
                broken.append((str(path.relative_to(SITE.resolve())), link))
    assert not broken


def test_the_start_page_leads_to_every_page(pages):
    seen, waiting = set(), [(SITE / "index.html").resolve()]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        links = (urlsplit(link) for link in pages[path].links)
        targets = ((path.parent / unquote(link.path)).resolve() for link in links if link.path and not link.netloc)
        waiting += [target for target in targets if target in pages]
    assert {path.name for path in pages if path not in seen} <= {"search.html"}


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_class_and_function_has_a_page(pages):
    generator, public = load(ROOT / "docs" / "site_pages.py"), load(ROOT / "tests" / "test_public_names.py").PUBLIC
    assert set(generator.MODULES) == set(public)
    for path, names in generator.public_names().items():
        described = [name for name in names if generator.is_described(getattr(importlib.import_module(path), name))]
        for name in described:
            page = generator.FILE_NAMES.get(f"{path}.{name}", f"{path}.{name}")
            assert (SITE / "api" / "generated" / f"{page}.html").resolve() in pages


def test_methods_that_a_class_inherits_are_described(pages):
    anchors = pages[(SITE / "api" / "generated" / "golem.Golem.html").resolve()].anchors
    assert {"golem.Golem.fit", "golem.Golem.plot", "golem.Golem.report", "golem.Golem.diagnose"} <= anchors
    assert not {"golem.Golem.get_params", "golem.Golem.weights_"} & anchors


def test_options_are_shown_as_they_are_typed(pages):
    text = (SITE / "cli.html").read_text(encoding="utf-8")
    assert "needs --solver" in text
    assert "\u2013solver" not in text


def test_names_of_files_differ_in_more_than_their_case():
    files = [str(path).lower() for path in SITE.rglob("*")]
    assert len(files) == len(set(files))


def test_figures_of_experiments_open_in_full_size(pages):
    links = pages[(SITE / "results" / "identifiable" / "verdict.html").resolve()].links
    assert len([link for link in links if link.endswith(".png")]) == 2


def test_every_example_shows_a_picture(pages):
    examples = list((ROOT / "docs" / "examples").glob("plot_*.py"))
    assert len(examples) >= 10
    for example in examples:
        page = pages[(SITE / "gallery" / f"{example.stem}.html").resolve()]
        assert any(f"sphx_glr_{example.stem}" in url for url in page.loaded), example.name
