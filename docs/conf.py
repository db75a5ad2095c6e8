"""The site of the documentation, by Sphinx: `make docs`.

Every page is a file of the repository at its own path, so that a link works on a code host and on the site alike.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What the reader of the site sees at the left, where there is such a page. Every page is in one of the lists.
NAVIGATION = {
    "Start": [
        "docs/tutorial",
        "docs/causes",
        "docs/known-faults",
        "docs/demos",
        "docs/how-it-works",
        "docs/compare",
        "docs/faq",
    ],
    "Use": [
        "docs/commands",
        "docs/python",
        "docs/files",
        "docs/lm-eval",
        "docs/metric-card",
        "docs/running",
        "docs/rehearsal",
        "docs/plan",
        "docs/scale",
        "docs/reproduce",
        "docs/annotation",
    ],
    "Extend": ["docs/extend", "docs/new-experiment"],
    "Kinds of experiment": ["src/textcritic/experiments/*/README"],
    "Configuration": ["config/README", "docs/config/config", "docs/config/studies", "docs/config/*"],
    "Measured results": [
        "docs/results",
        "docs/results/speed",
        "docs/results/runs",
        "docs/results/corpora",
        "docs/results/calibration",
        "docs/results/power",
        "docs/results/*",
    ],
    "Project": [
        "docs/security",
        "CONTRIBUTING",
        "docs/testing",
        "docs/mutants",
        "docs/releasing",
        "CHANGELOG",
    ],
}

project = "textcritic"
copyright = "textcritic developers, MIT licence"
version = re.search(r'__version__ = "(.+)"', (ROOT / "src/textcritic/__init__.py").read_text()).group(1)
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["*.md", "config/*.md", "docs/**", "src/textcritic/experiments/*/README.md"]
exclude_patterns = [".*", "results", "site", "mutants", "tests"]
# Links to headings, as code hosts name them.
myst_heading_anchors = 4
html_theme = "furo"
html_title = "textcritic"
html_copy_source = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_sphinx = False


def setup(app):
    """README.md is the first page; what only the site needs, the navigation and a file index.html, is added here."""
    app.connect("source-read", _add_navigation)
    app.connect("build-finished", _copy_index)


def _add_navigation(app, page, text):
    if page == root_doc:
        for caption, pages in NAVIGATION.items():
            there = "\n".join(page for page in pages if [*ROOT.glob(f"{page}.md")])
            text[0] += f"\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {caption}\n\n{there}\n```\n"


def _copy_index(app, exception):
    if exception is None and app.builder.name == "html":
        (Path(app.outdir) / "index.html").write_bytes((Path(app.outdir) / f"{root_doc}.html").read_bytes())
