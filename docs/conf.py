"""Sphinx configuration."""

import re
from importlib.util import find_spec
from typing import Any

from affectlab import __version__

project = "affectlab"
author = "The affectlab developers"
project_copyright = "2026, the affectlab developers"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
suppress_warnings = ["ref.python"]

# Where the extra "models" is not installed its pages are made all the same.
autodoc_mock_imports = [name for name in ("torch", "torchmetrics") if find_spec(name) is None]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False
napoleon_use_ivar = True
add_module_names = False
nitpicky = False

html_theme = "furo"
html_title = f"affectlab {release}"
html_static_path = ["_static"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#2f5d8a", "color-brand-content": "#2f5d8a"},
    "dark_css_variables": {"color-brand-primary": "#8ab8e6", "color-brand-content": "#8ab8e6"},
}
mathjax_path = "https://cdn.jsdelivr.net/npm/mathjax@3/es5/tex-mml-chtml.js"

# A fence that names a file ("text pairs.csv") shows the name above its block.
NAMED_FENCE = re.compile(r"^```(text|toml) (\S+)$", re.MULTILINE)


def name_the_files(_app: Any, _page: str, source: list[str]) -> None:
    """Turn fences with the name of a file into blocks of code with a caption."""
    source[0] = NAMED_FENCE.sub(r"```{code-block} \1\n:caption: \2\n", source[0])


def setup(app: Any) -> None:
    """Take part in reading the pages."""
    app.connect("source-read", name_the_files)
