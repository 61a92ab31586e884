"""The data that recipes need: what it is, where it is published, and what to do without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from affectlab.core.errors import InputError

__all__ = ["DataNeed", "MissingDataError", "find_input", "not_there", "told_needs"]


@dataclass(frozen=True)
class DataNeed:
    """A file that a recipe needs, and where people get it."""

    file: str
    what: str
    published: str
    """Where it is published, in words or as a DOI or repository name."""
    licence: str

    def __str__(self) -> str:
        return f"{self.file} ({self.what}; published: {self.published}; licence: {self.licence})"


class MissingDataError(InputError):
    """A folder holds none of the data of a recipe, or not what it cannot do without."""


def told_needs(needs: Sequence[DataNeed]) -> str:
    """List data in a sentence.

    Examples
    --------
    >>> need = DataNeed("a.csv", "2 answers", "example.org", "CC0")
    >>> told_needs([need])
    'a.csv (2 answers; published: example.org; licence: CC0)'
    """
    return "; ".join(str(need) for need in needs)


def not_there(folder: Path, recipe: str, needs: Sequence[DataNeed]) -> MissingDataError:
    """Make the error of a folder without the data of a recipe."""
    return MissingDataError(
        f"{recipe}: {folder} does not hold {told_needs(needs)}; meanwhile affectlab reproduce "
        f"{recipe} --simulate --quick runs the recipe on simulated data"
    )


def find_input(folder: Path, recipe: str, names: tuple[str, ...], need: DataNeed) -> Path:
    """Find an input file in a folder or in its subfolder named after the data set.

    Raises
    ------
    MissingDataError
        When there is none; the sentence says where it is published.
    """
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise not_there(folder, recipe, (need,))
