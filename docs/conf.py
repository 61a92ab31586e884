"""Sphinx configuration."""

import re
from importlib.util import find_spec
from typing import Any

from affectlab import __version__
from affectlab.models.embedding import LAYOUTS
from affectlab.ratings import list_formats

project = "affectlab"
author = "The affectlab developers"
project_copyright = "2026, the affectlab developers"
release = version = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
# Notebooks are pages in docs/notebooks; what they print is made anew where they or we changed. A
# cell that readers do not see checks what the text says of the numbers; a warning is an error.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_in_temp = True
nb_output_stderr = "error"
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
html_css_files = ["notebooks.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#2f5d8a", "color-brand-content": "#2f5d8a"},
    "dark_css_variables": {"color-brand-primary": "#8ab8e6", "color-brand-content": "#8ab8e6"},
}
mathjax_path = "https://cdn.jsdelivr.net/npm/mathjax@3/es5/tex-mml-chtml.js"

# A fence that names a file ("text pairs.csv") shows the name above its block.
NAMED_FENCE = re.compile(r"^```(text|toml) (\S+)$", re.MULTILINE)


LAYOUTS_TABLE = "<!-- table of layouts -->"
FORMATS_TABLE, FORMATS_CLASSES = "<!-- table of formats -->", "<!-- classes of formats -->"


def list_the_formats(_app: Any, _page: str, source: list[str]) -> None:
    """Put the formats of files, as they describe themselves, in the place of two marks."""
    if FORMATS_TABLE not in source[0]:
        return
    own = [one for one in list_formats() if type(one).__module__.startswith("affectlab.")]
    rows = ["| format | recognised by | what is taken | what is left out |", "|---|---|---|---|"]
    for one in own:
        layout = one.layout
        parts = [f"{role}: {name}" for role, name in layout.roles.items()]
        for kind in ("labels", "stimuli", "raters"):
            names = getattr(layout, kind)
            parts += [f"{kind}: {', '.join(names[:6])}{', …' if len(names) > 6 else ''}"] * bool(
                names
            )
        left = [f"{name}: {why}" if name else why for name, why in layout.unused.items()]
        cells = (f"`{one.name}`", one.title, "; ".join(parts), "; ".join(left))
        escaped = (cell.replace("|", r"\|") for cell in cells)
        rows.append(f"| {' | '.join(escaped)} |")
    classes = sorted(f"{type(one).__module__}.{type(one).__qualname__}" for one in own)
    directives = "\n".join(f".. autoclass:: {name}" for name in classes)
    listed = f"```{{eval-rst}}\n{directives}\n```"
    text = source[0].replace(FORMATS_TABLE, "\n".join(rows))
    source[0] = text.replace(FORMATS_CLASSES, listed)


def list_the_layouts(_app: Any, _page: str, source: list[str]) -> None:
    """Put the layouts of published weights in the place of a mark."""
    rows = ["| layout | told by | a picture becomes | a row is | file, and its licence |"]
    rows.append("|---|---|---|---|---|")
    for one in LAYOUTS:
        needs = [one.needs[-1], *([one.sign] if one.sign else [])]
        told = ", ".join(f"`{name}`".replace("|", r"\|") for name in needs)
        files = "; ".join(f"[{file.what}]({file.place}), {file.licence}" for file in one.files)
        rows.append(f"| `{one.name}` | {told} | {one.preparation} | {one.features} | {files} |")
    source[0] = source[0].replace(LAYOUTS_TABLE, "\n".join(rows))


def name_the_files(_app: Any, _page: str, source: list[str]) -> None:
    """Turn fences with the name of a file into blocks of code with a caption."""
    source[0] = NAMED_FENCE.sub(r"```{code-block} \1\n:caption: \2\n", source[0])


def skip_what_is_inherited(
    _app: Any, _what: str, _name: str, member: Any, _skip: bool, _options: Any
) -> bool | None:
    """Leave out what scikit-learn puts into every estimator, such as set_fit_request."""
    return True if str(getattr(member, "__module__", "")).startswith("sklearn.") else None


def setup(app: Any) -> None:
    """Take part in reading the pages."""
    app.connect("source-read", name_the_files)
    app.connect("source-read", list_the_formats)
    app.connect("source-read", list_the_layouts)
    app.connect("autodoc-skip-member", skip_what_is_inherited)
