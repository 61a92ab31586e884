"""What a recipe is, how it is run, and how its values are set beside the published ones."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab._plugs import Plug, added_names, find_plug, find_plugs
from affectlab._version import __version__
from affectlab.errors import InputError, unknown_name
from affectlab.recipes._published import PublishedFigure, PublishedFigures

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure
    from rich.table import Table

__all__ = [
    "Comparison",
    "DataNeed",
    "Finding",
    "Recipe",
    "RecipeFigure",
    "RecipeRun",
    "Reproduction",
    "list_recipes",
    "reproduce",
]

ENTRY_POINTS = "affectlab.recipes"
"""Entry point group under which other packages offer a :class:`Recipe`."""


@dataclass(frozen=True)
class DataNeed:
    """A file that a recipe needs, and where people get it."""

    file: str
    what: str
    published: str
    """Where it is published, in words or as a DOI or repository name."""
    licence: str

    def __str__(self) -> str:
        return f"{self.file} ({self.what}; published at {self.published}, {self.licence})"


@dataclass(frozen=True)
class Finding:
    """Our value for one published figure: a number, perhaps with its interval; or bounds.

    Bounds without a value are what the data allow.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""
    """Why there is no single value, when there is none."""


@dataclass(frozen=True)
class RecipeFigure:
    """A picture of what a run found, drawn when it is asked for."""

    name: str
    """Of its files, without suffix."""
    title: str
    description: str
    """For people who cannot see it."""
    draw: Callable[[], Figure]


@dataclass(frozen=True)
class RecipeRun:
    """What a run of a recipe found, and in which files."""

    findings: Mapping[str, Finding]
    inputs: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()
    doubt: str = ""
    """Why there is no verdict although real data were given: they are not the paper's own, or were
    not treated as the paper did."""
    figures: tuple[RecipeFigure, ...] = ()


@dataclass(frozen=True)
class Recipe:
    """One paper, as a function of its data."""

    name: str
    """Name on the command line, for example ``emonet-face``."""
    published: Callable[[], PublishedFigures]
    needs: tuple[DataNeed, ...]
    run: Callable[[Path, bool], RecipeRun]
    """Runs on a folder of real data; the second argument asks for a quick run."""
    simulate: Callable[[int, bool], RecipeRun]
    """Runs on simulated data, from a seed."""


@dataclass(frozen=True)
class Comparison:
    """One published figure beside ours."""

    figure: PublishedFigure
    finding: Finding
    own_data: bool
    """Whether ours comes from the paper's own data; only then is there a verdict."""
    doubt: str = ""
    """Why there is no verdict, where the data are real."""

    @property
    def difference(self) -> float | None:
        """Ours minus published, None when there is no single value of ours."""
        return None if self.finding.value is None else self.finding.value - self.figure.value

    @property
    def verdict(self) -> str:
        """Whether ours fits the published figure, or why nothing can be said.

        ``reproduced``, ``differs``, ``inside bounds``, ``outside bounds`` or ``no verdict: …``.
        """
        if not self.own_data:
            return "no verdict: simulated data"
        if self.doubt:
            return f"no verdict: {self.doubt}"
        if self.difference is not None:
            # A tolerance is half a unit of the last printed digit; the sum must not lose to
            # rounding in binary.
            around = self.figure.tolerance + 1e-12
            fits = abs(self.difference) <= around
            if self.finding.low is not None and self.finding.high is not None:
                # What is trained from several seeds is as exact as its interval.
                ends = self.finding.low - around, self.finding.high + around
                fits = fits or ends[0] <= self.figure.value <= ends[1]
            return "reproduced" if fits else "differs"
        if self.finding.low is not None and self.finding.high is not None:
            inside = self.finding.low <= self.figure.value <= self.finding.high
            return "inside bounds" if inside else "outside bounds"
        return f"no verdict: {self.finding.why or 'not part of this run'}"


@dataclass(frozen=True)
class Reproduction:
    """All figures of a paper beside ours, and what they were computed from."""

    paper: PublishedFigures
    rows: tuple[Comparison, ...]
    provenance: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    figures: tuple[RecipeFigure, ...] = ()

    def save_figures(self, folder: str | Path) -> tuple[Path, ...]:
        """Write all figures as PNG and SVG; a recipe without figures writes nothing."""
        from affectlab.report import save_figure

        return tuple(
            file
            for one in self.figures
            for file in save_figure(
                one.draw(), folder, one.name, title=one.title, description=one.description
            )
        )

    def to_frame(self) -> pl.DataFrame:
        """Give one row per figure."""
        import polars as pl

        return pl.DataFrame(
            {
                "key": [row.figure.key for row in self.rows],
                "name": [row.figure.name for row in self.rows],
                "where": [row.figure.where for row in self.rows],
                "published": [row.figure.value for row in self.rows],
                "ours": [row.finding.value for row in self.rows],
                "ours_low": [row.finding.low for row in self.rows],
                "ours_high": [row.finding.high for row in self.rows],
                "difference": [row.difference for row in self.rows],
                "verdict": [row.verdict for row in self.rows],
                "note": [row.figure.note for row in self.rows],
            },
            schema_overrides=dict.fromkeys(
                ("ours", "ours_low", "ours_high", "difference"), pl.Float64
            ),
        )

    def __rich__(self) -> Table:
        from rich.table import Table

        table = Table(box=None, header_style="bold", title=self.paper.title, title_justify="left")
        table.add_column("figure", overflow="fold")
        for name in ("published", "ours", "difference"):
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("verdict", min_width=len("outside bounds"))
        for row in self.rows:
            style = {"reproduced": "green", "differs": "red", "outside bounds": "red"}
            table.add_row(
                f"{row.figure.name} ({row.figure.where})",
                _published(row.figure),
                _ours(row),
                "" if row.difference is None else _shown(row.difference, row.figure.unit, sign="+"),
                row.verdict,
                style=style.get(row.verdict),
            )
        return table


def _shown(value: float, unit: str, sign: str = "") -> str:
    digits, suffix, factor = {"count": (0, "", 1), "share": (2, " %", 100)}.get(unit, (4, "", 1))
    # Adding 0 turns a rounded -0 into 0.
    return f"{round(factor * value, digits) + 0.0:{sign},.{digits}f}{suffix}"


def _published(figure: PublishedFigure) -> str:
    """Show a printed figure; one that cannot be right is marked."""
    mark = " †" if figure.note.startswith("inconsistent") else ""
    return _shown(figure.value, figure.unit) + mark


def _ours(row: Comparison) -> str:
    if row.finding.value is not None:
        said = _shown(row.finding.value, row.figure.unit)
        if row.finding.low is None or row.finding.high is None:
            return said
        low, high = (_shown(end, row.figure.unit) for end in (row.finding.low, row.finding.high))
        return f"{said}\n({low} to {high})"
    if row.finding.low is not None and row.finding.high is not None:
        low, high = (_shown(end, row.figure.unit) for end in (row.finding.low, row.finding.high))
        return f"{low} to\n{high}"
    return "–"


@cache
def _own_recipes() -> dict[str, Recipe]:
    from affectlab.recipes import emonet_face, face_expressions, socratis, to_err_like_human

    ours = (
        emonet_face.RECIPE,
        face_expressions.RECIPE,
        socratis.RECIPE,
        to_err_like_human.RECIPE,
    )
    return {recipe.name: recipe for recipe in ours}


def list_recipes() -> dict[str, Recipe]:
    """Give all recipes by name: our own, and those of installed packages.

    A package adds one by an entry point in the group ``affectlab.recipes`` that leads to a
    :class:`Recipe`; it is known by the name of the entry point.

    Raises
    ------
    InputError
        When an entry point cannot be loaded, or leads to something else.

    Examples
    --------
    >>> "emonet-face" in list_recipes()
    True
    """
    added = {plug.name: _of_plug(plug) for plug in find_plugs(ENTRY_POINTS)}
    return added | _own_recipes()


def _find_recipe(name: str) -> Recipe:
    """Find one recipe; what other packages add under other names is not loaded."""
    own = _own_recipes()
    if name in own:
        return own[name]
    plug = find_plug(ENTRY_POINTS, name)
    if plug is None:
        raise unknown_name("recipe", name, (*own, *added_names(ENTRY_POINTS)))
    return _of_plug(plug)


def _of_plug(plug: Plug) -> Recipe:
    if not isinstance(plug.found, Recipe):
        raise InputError(
            f"{plug.where} offers a {type(plug.found).__name__} as a recipe; "
            "expected affectlab.recipes.Recipe"
        )
    return plug.found


def reproduce(
    paper: str,
    *,
    data: str | Path | None = None,
    simulate: bool = False,
    quick: bool = False,
    seed: int = 0,
) -> Reproduction:
    """Run the recipe of a paper and set its figures beside the published ones.

    Parameters
    ----------
    paper
        Name of a recipe, see :func:`list_recipes`.
    data
        Folder with the paper's data.
    simulate
        Run on simulated data instead; there is then no verdict.
    quick
        Leave out what takes long.
    seed
        Seed of everything random.

    Raises
    ------
    InputError
        When the recipe is not known, or its data is not there; the sentence says which files are
        needed, where they are published and under which licence.

    Examples
    --------
    >>> reproduce("emonet-face", simulate=True, quick=True).rows[0].verdict
    'no verdict: simulated data'
    """
    recipe = _find_recipe(paper)
    if (data is None) == (not simulate):
        raise InputError(
            f"{paper}: give either the folder of its data (--data DIR) or --simulate; the data is "
            + "; ".join(str(need) for need in recipe.needs)
        )
    published = recipe.published()
    if data is None:
        run = recipe.simulate(seed, quick)
    else:
        folder = Path(data)
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder; expected the data of {paper}")
        run = recipe.run(folder, quick)
    unknown = set(run.findings) - {figure.key for figure in published.figure}
    if unknown:
        raise InputError(f"{paper}: found {min(unknown)!r}, which is no published figure")
    rows = tuple(
        Comparison(
            figure,
            run.findings.get(figure.key, Finding()),
            own_data=data is not None,
            doubt=run.doubt,
        )
        for figure in published.figure
    )
    return Reproduction(published, rows, _provenance(run, seed, quick), run.notes, run.figures)


def _provenance(run: RecipeRun, seed: int, quick: bool) -> dict[str, Any]:
    return {
        "affectlab": __version__,
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in ("numpy", "scipy", "polars")},
        "seed": seed,
        "quick": quick,
        "inputs": [{"file": path.name, "sha256": _digest(path)} for path in run.inputs],
    }


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find_input(folder: Path, recipe: str, names: tuple[str, ...], need: DataNeed) -> Path:
    """Find an input file in a folder or in its subfolder named after the data set.

    Raises
    ------
    InputError
        When there is none; the sentence says where it is published.
    """
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise InputError(
        f"{recipe}: {folder} does not hold {need}; --simulate runs the recipe without it"
    )
