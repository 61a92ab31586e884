"""What heads learn from: one number per stimulus and label, out of the answers of raters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from affectlab.core.errors import InputError, check_choice, check_once, unknown_name
from affectlab.core.types import Bools, Floats, Ints, by_name
from affectlab.core.words import shown

if TYPE_CHECKING:
    from affectlab.ratings import Ratings
else:
    Ratings = by_name("affectlab.ratings", "Ratings")

__all__ = ["HIGH", "Aggregate", "check_targets", "off_scale", "only_yes_no", "targets_from"]

Aggregate: TypeAlias = Literal["median", "mean"]

HIGH = 7.0
"""Upper end of the scale that people rate on; the lower end is 0."""


def targets_from(
    ratings: Ratings,
    stimuli: Sequence[str],
    labels: Sequence[str],
    how: Aggregate = "median",
) -> Floats:
    """Make the targets of heads from the answers of one or several raters.

    Parameters
    ----------
    ratings
        On the scale 0 to 7, with or without steps, or yes/no answers such as those of EmoNet-Face
        Binary. All raters count; choose them with :meth:`~affectlab.ratings.Ratings.select`,
        :meth:`~affectlab.ratings.Ratings.humans` or
        :meth:`~affectlab.ratings.Ratings.models`.
    stimuli
        Names, one for each row of the embeddings. Ratings of other stimuli are left out.
    labels
        The heads, in their order. Ratings without labels fit a single head.
    how
        How several raters of a stimulus become one number. The median of yes/no answers is 0.5
        where raters are divided in half.

    Returns
    -------
    numpy.ndarray
        Shape (stimuli, labels), 0 to 7, or 0 to 1 of yes/no answers; ``nan`` where nobody rated.
        A label that was left out is not a 0: where it is meant as one, call
        :meth:`~affectlab.ratings.Ratings.fill_absent` first.

    Raises
    ------
    InputError
        When the scale is another one, or no stimulus or no label of the ratings is asked for.

    References
    ----------
    Schuhmann et al. (2025), EmoNet-Face, section 4: medians over the raters of a stimulus.

    Examples
    --------
    >>> from affectlab.ratings import Ratings
    >>> people = Ratings({"stimulus": ["a", "a", "b"], "rater": ["r1", "r2", "r1"],
    ...                   "label": ["joy", "joy", "fear"], "value": [3, 6, 7]}, scale="0-7")
    >>> targets_from(people, ["b", "a"], ["joy", "fear"]).tolist()
    [[nan, 7.0], [4.5, nan]]
    """
    from affectlab.ratings import answers_of

    check_choice("aggregate", how, get_args(Aggregate))
    _check_scale(ratings)
    rows = _positions(stimuli, "stimuli")
    columns = _positions(labels, "labels")
    given = answers_of(ratings)
    if not ratings.has_labels:
        if len(labels) != 1:
            raise InputError(
                f"the ratings have no labels, and there are {len(labels)} heads; expected a column "
                "'label', or a single head"
            )
        of_label = np.zeros(1, dtype=np.int64)
    else:
        of_label = np.array([columns.get(name, -1) for name in given.labels], dtype=np.int64)
        if (of_label < 0).all():
            raise unknown_name("label", labels[0], given.labels, "ratings")
    of_unit = np.array([rows.get(name, -1) for name in given.units], dtype=np.int64)
    if (of_unit < 0).all():
        raise InputError(
            f"no rated stimulus is among the {len(stimuli)} that are embedded: rated is, for one, "
            f"{shown(given.units[0], 60)!r}, embedded {shown(stimuli[0], 60)!r}"
        )
    row, column = of_unit[given.unit], of_label[given.label]
    kept = (row >= 0) & (column >= 0)
    cell = row[kept] * len(labels) + column[kept]
    found = _aggregated(cell, given.value[kept], len(stimuli) * len(labels), how)
    return found.reshape(len(stimuli), len(labels))


def _check_scale(ratings: Ratings) -> None:
    scale = ratings.scale
    if scale.kind == "binary":
        return
    if scale.kind not in ("ordinal", "interval") or (scale.low, scale.high) != (0.0, HIGH):
        raise InputError(
            f"ratings on the scale {scale}; heads learn from 0 to 7 or from yes/no: declare "
            "the scale as '0-7', or bring the values to it with Ratings.with_values"
        )


def _positions(names: Sequence[str], what: str) -> dict[str, int]:
    if isinstance(names, str) or not len(names):
        raise InputError(f"{what}: expected a list of names, at least one")
    check_once("name", names, what)
    return {name: place for place, name in enumerate(names)}


def _aggregated(cell: Ints, value: Floats, size: int, how: Aggregate) -> Floats:
    """Median or mean of the values of each cell, ``nan`` for cells without any."""
    count = np.bincount(cell, minlength=size)
    there = count > 0
    found = np.full(size, np.nan)
    if how == "mean":
        found[there] = np.bincount(cell, value, minlength=size)[there] / count[there]
        return found
    ordered = value[np.lexsort((value, cell))]
    first = (np.cumsum(count) - count)[there]
    n = count[there]
    found[there] = 0.5 * (ordered[first + (n - 1) // 2] + ordered[first + n // 2])
    return found


def check_targets(
    given: Any,
    n: int,
    labels: Sequence[str],
    stimuli: Sequence[str] | None,
    what: str = "Y",
    how: Aggregate = "median",
) -> Floats:
    """Take targets in any form: ratings, a data frame, or an array.

    Parameters
    ----------
    given
        :class:`~affectlab.ratings.Ratings`, aligned by stimulus and label; a data frame with a
        column for each label (in any order), aligned by its column ``stimulus``, which only an
        array X without names can do without; or an array of shape (n, labels) in the order of the
        heads.
    n, stimuli
        Number of rows of the embeddings, and their names where they have any.
    what
        Name of the argument, for errors.

    Raises
    ------
    InputError
        When shapes or names do not fit, or a value is off the scale 0 to 7.
    """
    from affectlab.ratings import Ratings

    if isinstance(given, Ratings):
        if stimuli is None:
            raise InputError(
                f"{what} are ratings, and X is an array without names; expected Embeddings, or an "
                "array made with targets_from"
            )
        return targets_from(given, stimuli, labels, how)
    if hasattr(given, "columns") or isinstance(given, dict):
        found = _of_frame(given, n, labels, stimuli, what)
    else:
        try:
            found = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"{what}: expected numbers, shape (n, {len(labels)})") from None
    if found.shape != (n, len(labels)):
        raise InputError(
            f"{what} has shape {found.shape}; expected ({n}, {len(labels)}): a row per embedding "
            "and a column per head"
        )
    off = np.argwhere(off_scale(found))
    if off.size:
        row, column = off[0]
        raise InputError(
            f"{what}, row {row + 1}, {labels[column]!r}: {found[row, column]:g} is off the scale "
            "0 to 7"
        )
    return found


def _of_frame(
    given: Any, n: int, labels: Sequence[str], stimuli: Sequence[str] | None, what: str
) -> Floats:
    import polars as pl

    from affectlab.ratings.files import as_frame

    frame = as_frame(given, what=what)
    for label in labels:
        check_choice("label", label, frame.columns, f"{what}, columns")
        if not frame.schema[label].is_numeric() and frame.schema[label] not in (
            pl.Null,
            pl.Boolean,
        ):
            raise InputError(f"{what}, column {label!r}: expected numbers")
    if stimuli is not None:
        rows = _positions(_names(frame, what), f"{what}, stimulus")
        missing = [name for name in stimuli if name not in rows]
        if missing:
            raise InputError(f"{what}: no row for stimulus {shown(missing[0], 60)!r}")
        frame = frame[[rows[name] for name in stimuli]]
    if frame.height != n:
        raise InputError(f"{what} has {frame.height} rows; expected {n}, one per embedding")
    return frame.select(pl.col(list(labels)).cast(pl.Float64)).fill_null(np.nan).to_numpy()


def _names(frame: Any, what: str) -> list[str]:
    """Give the names of stimuli, which numbers may be, too."""
    import polars as pl

    if "stimulus" not in frame.columns:
        raise InputError(
            f"{what} has no column 'stimulus', and X has names: rows could be those of other "
            "stimuli; expected the column, or an array in the order of X"
        )
    column = frame["stimulus"]
    if column.null_count() or not (column.dtype.is_integer() or column.dtype == pl.String):
        raise InputError(f"{what}, column 'stimulus': expected names, one in each row")
    names: list[str] = column.cast(pl.String).to_list()
    return names


def off_scale(values: Floats) -> Bools:
    """Say which values are off the scale 0 to 7; nan is no rating."""
    return ~np.isnan(values) & ~((values >= 0) & (values <= HIGH))


def only_yes_no(given: Any, targets: Floats) -> bool:
    """Say whether targets are yes/no answers, and not ratings from 0 to 7.

    Parameters
    ----------
    given
        What the targets were made of. Ratings say by their scale what they are; values do not,
        since the median of a yes and a no is 0.5.
    targets
        Of arrays and frames, those that never exceed 1 are taken as yes/no.
    """
    from affectlab.ratings import Ratings

    if isinstance(given, Ratings):
        return given.scale.kind == "binary"
    rated = targets[~np.isnan(targets)]
    return bool(rated.size) and bool(rated.max() <= 1)
