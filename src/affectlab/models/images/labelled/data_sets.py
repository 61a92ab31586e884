"""Images with one label each, from the layouts in which data sets are published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from affectlab.core.errors import InputError
from affectlab.core.words import shown
from affectlab.models.images.files import ImageFile
from affectlab.models.images.labelled.emoset import has_emoset_lists, of_annotations, of_emoset
from affectlab.models.images.labelled.emotic import is_emotic_list, of_emotic
from affectlab.models.images.labelled.lists import has_lists, of_lists
from affectlab.models.images.labelled.source_files import Found, split_name
from affectlab.models.images.labelled.tables import of_table
from affectlab.taxonomy import Taxonomy

__all__ = ["LabelledImages", "read_labelled_images"]


@dataclass(frozen=True)
class LabelledImages:
    """Images with one label each; see :func:`read_labelled_images`."""

    files: tuple[ImageFile, ...]
    labels: tuple[str, ...]
    """The label of each image, as the taxonomy names it."""
    splits: tuple[str, ...] | None
    """``train``, ``dev`` or ``test`` for each; None where nothing says."""
    layout: str = "folders"
    """``folders``, ``lists``, ``emoset``, ``table`` or ``emotic``."""
    set_aside: tuple[str, ...] = ()
    """Sentences on what was there and cannot be used."""
    unlabelled: tuple[ImageFile, ...] = ()
    """Images of a table whose label is empty."""

    def __len__(self) -> int:
        return len(self.files)

    def subset(self, rows: Iterable[int]) -> LabelledImages:
        """Give some of the images, by their places, without splits."""
        kept = list(rows)
        return replace(
            self,
            files=tuple(self.files[at] for at in kept),
            labels=tuple(self.labels[at] for at in kept),
            splits=None,
            unlabelled=(),
        )

    def part(self, split: str) -> LabelledImages:
        """Give the images of a split."""
        return self.subset(at for at, name in enumerate(self.splits or ()) if name == split)

    @property
    def counts(self) -> dict[str, int]:
        """Images of each label, the most frequent first."""
        return dict(Counter(sorted(self.labels)).most_common())


def read_labelled_images(
    path: str | Path, taxonomy: Taxonomy, column: str | None = None, *, gaps: bool = False
) -> LabelledImages:
    """Read images and the label of each.

    Labels are names, and are looked up by name; numbers of labels, whose order differs between
    data sets, are never used.

    Parameters
    ----------
    path
        One of these, told apart by what is there:

        - a folder whose folders are named by labels, perhaps within folders train, dev and test,
          as **FI** is handed on; with lists ``train.txt``, ``val.txt`` and ``test.txt`` in it, of
          a file and perhaps its label on each line, those are its splits;
        - the folder of **EmoSet**: ``train.json``, ``val.json`` and ``test.json``, lists of
          emotion, (number,) image and annotation; or, without lists, a folder ``annotation`` with
          a JSON file for each image, which holds its ``emotion``;
        - a table with ``stimulus``, ``file`` and a label, and perhaps ``split``;
        - a list in the manner of **EMOTIC**, CSV or JSON: a file, or a folder and a file, and its
          categories, several to each; several persons in one picture are one image, with the
          categories of all. Images count of which the taxonomy knows exactly one category.
    taxonomy
        Holds the labels.
    column
        Column of labels in a table; by default label, emotion or class.
    gaps
        Whether labels of a table may be empty: such images of split train are `unlabelled`.

    Raises
    ------
    InputError
        When nothing is found, a folder is given with a column, a file or label is missing, the
        taxonomy does not know a label, or what says the label of an image in two places does not
        agree.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from PIL import Image
    >>> from affectlab.taxonomy import load_taxonomy
    >>> with TemporaryDirectory() as folder:
    ...     for name in ("Awe", "Fear"):
    ...         (Path(folder) / name).mkdir()
    ...         Image.new("RGB", (8, 8)).save(Path(folder) / name / "1.png")
    ...     read_labelled_images(folder, load_taxonomy("mikels")).labels
    ('awe', 'fear')
    """
    path = Path(path)
    if path.is_dir():
        if column is not None:
            raise InputError(f"column {column!r} is for a table, and {shown(path)} is a folder")
        found, layout = _of_folder(path)
    elif column is None and is_emotic_list(path):
        found, layout = of_emotic(path, taxonomy), "emotic"
    else:
        found, layout = of_table(path, column, gaps=gaps), "table"
    named = _named(path, found, taxonomy)
    return LabelledImages(
        named.files, named.labels, named.splits, layout, named.set_aside, named.unlabelled
    )


def _of_folder(path: Path) -> tuple[Found, str]:
    if has_emoset_lists(path):
        return of_emoset(path), "emoset"
    if has_lists(path):
        return of_lists(path), "lists"
    if (path / "annotation").is_dir():
        return of_annotations(path), "emoset"
    from affectlab.models.images.find import find_images

    files = find_images(path)
    labels, splits = _folder_names(path, files)
    return Found(files, tuple(labels), splits), "folders"


def _folder_names(
    place: Path, files: Sequence[ImageFile]
) -> tuple[list[str], tuple[str, ...] | None]:
    labels, splits = [], []
    for file in files:
        above = PurePosixPath(file.path.relative_to(place).as_posix()).parts[:-1]
        if not above:
            raise InputError(
                f"{shown(file.path)} lies in no folder named by a label; expected "
                f"{shown(place)}/LABEL/{file.path.name}"
            )
        labels.append(above[-1])
        splits.append((split_name(above[0]) or "") if len(above) > 1 else "")
    if not any(splits):
        return labels, None
    if not all(splits):
        missing = files[splits.index("")]
        raise InputError(
            f"{shown(missing.path)} is in none of the folders train, dev and test, as others are"
        )
    return labels, tuple(splits)


def _named(place: Path, found: Found, taxonomy: Taxonomy) -> Found:
    """Name labels as the taxonomy does."""
    known: dict[str, str] = {}
    for file, name in zip(found.files, found.labels, strict=True):
        if name not in known:
            try:
                known[name] = taxonomy.name_of(name)
            except InputError as error:
                raise InputError(
                    f"{shown(place)}, stimulus {shown(file.stimulus, 60)!r}: {error}"
                ) from None
    for at, name in enumerate(found.folders or ()):
        # A folder may be called anything; one that is called as another label contradicts.
        label = known[found.labels[at]]
        if name and _known(taxonomy, name) not in (None, label):
            raise InputError(
                f"{shown(place)}: {shown(found.files[at].path)} is {label} by its "
                f"{found.said_by}, and lies in a folder {shown(name, 60)!r}; expected one label"
            )
    if not found.files:
        why = "; ".join(found.set_aside) or "it holds none"
        raise InputError(
            f"{shown(place)}: no image with one label of taxonomy {taxonomy.name} ({why})"
        )
    return replace(found, labels=tuple(known[name] for name in found.labels))


def _known(taxonomy: Taxonomy, name: str) -> str | None:
    try:
        return taxonomy.name_of(name)
    except InputError:
        return None
