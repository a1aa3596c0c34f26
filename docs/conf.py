"""Settings of the documentation site, which `make site` builds with Sphinx. Every warning is an error."""

from __future__ import annotations

import re
import sys
import warnings
from enum import Enum
from pathlib import Path
from typing import Any

from docutils import nodes

import golem

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # site_pages is next to this file

import site_pages  # noqa: E402

site_pages.write()

project = "golem"
author = "The golem developers"
copyright = author
version = release = golem.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["examples", "gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.json"]
templates_path = ["_templates"]
default_role = "code"
nitpicky = False
smartquotes = False  # they turn --option into a dash, and quotes to copy into others

# Markdown. Three levels of headings can be linked to, as on the pages of a repository.
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

# The API reference. The docstrings state the types; signatures with annotations would be hard to read.
autosummary_generate = True
autosummary_filename_map = site_pages.FILE_NAMES
autodoc_typehints = "none"
autodoc_default_options = {
    "members": True,
    "undoc-members": False,
    "inherited-members": True,
    "member-order": "bysource",
}
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"  # fit() instead of Golem.fit() in the list of a page
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("golem",),
    "backreferences_dir": "gallery/backreferences",
    "abort_on_example_error": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 0,
    "write_computation_times": False,
    "image_scrapers": ("matplotlib",),
    "capture_repr": ("_repr_html_",),
    "matplotlib_animations": False,
    "remove_config_comments": True,
    "first_notebook_cell": "# Needs golem-dag and pandas; see the page Install.\n%matplotlib inline",
}
# Examples must not warn. Agg has no window to show.
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

html_title = "golem"
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_use_index = html_domain_indices = False  # the API reference lists all names
html_context = {"default_mode": "auto"}
html_sidebars = {"install": [], "ten-minutes": [], "questions": [], "index": []}
html_theme_options = {
    "logo": {"text": "golem", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "show_prev_next": True,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-light",
    "pygments_dark_style": "a11y-dark",
}


def link_pages(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Turn the names of pages in docstrings, such as docs/noise.md or benchmarks/noise.md, into links."""
    lines[:] = [re.sub(r"(?:docs/)?\b((?<=docs/)[\w/-]+|benchmarks/[\w-]+)\.md", r":doc:`/\1`", line) for line in lines]


def skip_member(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Describe methods and properties of golem's own classes alone.

    Fields and fitted attributes are in the lists of parameters and attributes; scikit-learn describes its methods.
    """
    function = getattr(obj, "fget", None) or getattr(obj, "func", None) or getattr(obj, "__func__", obj)
    is_own = isinstance(obj, Enum) or str(getattr(function, "__module__", "")).startswith("golem")
    is_elsewhere = name.endswith("_") or name == "set_fit_request"
    return None if is_own and not is_elsewhere else True


def enlarge_figures(app: Any, doctree: Any) -> None:
    """Let figures of experiments, which have many panels, fill the page and open in full size at a click."""
    for image in doctree.findall(nodes.image):
        if Path(image["uri"]).stem in ("figure", "figure-all"):
            image["width"] = "100%"  # Sphinx links images with a width to their files


def link_evidence(app: Any, name: str, source: list[str]) -> None:
    """Point links between docs/, benchmarks/ and results/ to the copies in the site."""
    source[0] = site_pages.site_links(name, source[0])


def setup(app: Any) -> None:
    """Register what the settings above cannot say."""
    app.connect("source-read", link_evidence)
    app.connect("doctree-read", enlarge_figures)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("autodoc-process-docstring", link_pages)
