"""What a way out has to say of itself, and how one is found by its name.

An export is a class in a file of its own under :func:`ratings_export`, as a format of reading is.
Each writes a folder, which is there when it is complete and not before.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, TypeVar

from affectlab.core.errors import InputError
from affectlab.core.registry import Classes, Described, described
from affectlab.ratings.derived import RatingsBase


@dataclass(frozen=True)
class Export(Described, ABC):
    """A kind of folder that ratings are written to for another tool.

    Subclasses stand under :func:`ratings_export`. Their fields are settings, which users write
    behind the name: ``ratings.export("argilla,rater=net", folder)``.
    """

    kind: ClassVar[str] = "export"

    @abstractmethod
    def write(self, ratings: RatingsBase, path: Path) -> None:
        """Write the files into a folder that is there and empty."""


AnyExport = TypeVar("AnyExport", bound=Export)


def ratings_export(name: str, title: str) -> Callable[[type[AnyExport]], type[AnyExport]]:
    """Make a class the export to a kind of folder.

    A class in a module of ``affectlab.ratings.exports`` is known by that alone; one of another
    package by an entry point of the group ``affectlab.exports``.

    Parameters
    ----------
    name
        Short name, for ``ratings.export(name, folder)``.
    title
        What it is, in a few words.

    Returns
    -------
    A decorator of subclasses of :class:`Export`; annotated fields of the class are settings.

    Examples
    --------
    >>> @ratings_export("names", "The names of the stimuli, one in each line")
    ... class Names(Export):
    ...     def write(self, ratings, path):
    ...         (path / "names.txt").write_text("\\n".join(ratings.stimulus_names))
    >>> import tempfile
    >>> from affectlab.ratings import Ratings
    >>> r = Ratings({"stimulus": ["a", "b"], "rater": ["r1", "r2"], "value": [1, 0]})
    >>> folder = export_ratings(r, Names(), Path(tempfile.mkdtemp()) / "out")
    >>> (folder / "names.txt").read_text()
    'a\\nb'
    """

    return described(name=name, title=title)


_EXPORTS: Classes[Export] = Classes(
    package="affectlab.ratings.exports",
    kind="export",
    group="affectlab.exports",
    accept=Export,
    expected="a class that @ratings_export was put on",
    from_modules=False,
    spec=True,
)


def list_exports() -> tuple[Export, ...]:
    """Give all known exports: ours, and those of installed plugins.

    Warns
    -----
    BrokenPlugWarning
        Of what another package adds and cannot be used; it is left out.

    Examples
    --------
    >>> "psych-ds" in [export.name for export in list_exports()]
    True
    """
    return tuple(_EXPORTS.load_all(skip_broken=True).values())


def export_ratings(ratings: RatingsBase, export: str | Export, path: str | Path) -> Path:
    """Write ratings as another tool takes them.

    Parameters
    ----------
    ratings
        The table.
    export
        Name of an export, see :func:`list_exports`, with its settings behind it as in
        ``"argilla,rater=net"``.
    path
        A new folder, or an empty one. It is there when all of it is written; an error leaves
        nothing.

    Returns
    -------
    pathlib.Path
        The folder.

    Raises
    ------
    InputError
        When there is no such export, the folder holds other files or cannot be written, or the
        answers do not fit the tool.

    Examples
    --------
    >>> import tempfile
    >>> from affectlab.ratings import Ratings
    >>> r = Ratings({"stimulus": ["a", "a"], "rater": ["r1", "r2"], "value": [1, 5]}, scale="1-5")
    >>> folder = export_ratings(r, "wide", Path(tempfile.mkdtemp()) / "wide")
    >>> sorted(file.name for file in folder.iterdir())
    ['answers.csv', 'answers.csv.mapping.toml', 'codebook.csv', 'read.R', 'read.sps']
    """
    ready = _EXPORTS.make(export, {}) if isinstance(export, str) else _EXPORTS.load(export)
    path = Path(path)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        what = "holds other files" if path.is_dir() else "is a file"
        raise InputError(f"{path} {what}; expected a new folder, or an empty one")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=path.parent, prefix=".new-") as beside:
            part = Path(beside) / "part"
            part.mkdir()
            ready.write(ratings, part)
            if path.is_dir():
                path.rmdir()
            part.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
    return path


def write_json(path: Path, content: Any) -> None:
    """Write JSON as people can read it, with names in any script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")
