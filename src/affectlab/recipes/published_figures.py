"""Figures that a paper prints, kept as data: one TOML file per paper."""

from __future__ import annotations

from importlib.resources import files
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from affectlab.core.errors import check_once
from affectlab.core.files.toml import parse_toml

__all__ = ["PublishedFigure", "PublishedFigures", "load_published"]


class PublishedFigure(BaseModel):
    """One number of a paper."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    """Name under which a recipe gives its own value."""
    name: str
    """What it is, in words."""
    where: str
    """Table, figure or section."""
    value: float
    unit: str = ""
    """``count``, ``share`` (a fraction) or empty."""
    tolerance: Annotated[float, Field(ge=0)] = 0.0
    """Largest difference that rounding in print explains."""
    note: str = ""
    """What is lost, or read in one of several ways."""
    inconsistent: str = ""
    """Why it cannot be right beside what else is printed; empty where it can."""
    contradicts: str = ""
    """Name of the figure of the same column that is marked so and that it does not fit."""

    @property
    def is_marked(self) -> bool:
        """Whether it cannot be right, or contradicts others."""
        return bool(self.inconsistent or self.contradicts)


class PublishedFigures(BaseModel):
    """The figures of one paper."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    paper: str
    title: str
    citation: str
    figure: tuple[PublishedFigure, ...]


def load_published(name: str, package: str = "affectlab.recipes") -> PublishedFigures:
    """Read the published figures of a paper, such as ``"emonet_face"``.

    Examples
    --------
    >>> load_published("emonet_face").figure[0].where
    'Table 2'
    """
    source = files(package).joinpath("published", f"{name}.toml")
    figures = parse_toml(source.read_text(encoding="utf-8"), PublishedFigures, where=f"{name}.toml")
    check_once("key", (figure.key for figure in figures.figure), f"{name}.toml")
    return figures
