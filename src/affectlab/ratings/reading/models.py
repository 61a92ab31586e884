"""Reading the answers of models, to be judged beside those of people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.words import option
from affectlab.ratings.files import Peek, read_columns
from affectlab.ratings.reading.columns import find_one
from affectlab.ratings.reading.formats import find_format
from affectlab.ratings.reading.read import read_ratings
from affectlab.ratings.reading.stored import is_stored
from affectlab.ratings.scale import Scale, fits_scale
from affectlab.ratings.table import Ratings

__all__ = ["read_models"]


def read_models(
    path: str | Path | Sequence[str | Path],
    like: Ratings,
    *,
    rater: str | None = None,
    scale: str | Scale | None = None,
    **options: Any,
) -> Ratings:
    """Read the answers of one or more models to what people were asked.

    Every rater of the file is taken as a model, unless it is said to be a baseline. A file without
    a column of raters holds the answers of one model; one without a column of values has a column
    per label.

    Parameters
    ----------
    path
        File of the answers, or several; see :func:`affectlab.ratings.read_ratings`.
    like
        The answers of people. Their taxonomy holds here, too.
    rater
        Name of the one model of a file that names none; by default the name of the file.
    scale
        Scale of the answers. None: that of a published format or of a file that affectlab wrote;
        else that of `like` when all answers are on it; the same bounds without steps when they lie
        in between (``3.2`` of 0 to 7); else inferred. Files on these two are put on the one without
        steps. Answers that all lie between 0 and 1 may be shares, and are not taken to be on a
        longer scale. What was taken stands in :attr:`Ratings.history`. A model may name a class
        that no person named, unless the categories were declared.
    options
        Further options of :func:`affectlab.ratings.read_ratings`.

    Raises
    ------
    InputError
        When a file cannot be read, or files have different scales.

    Examples
    --------
    >>> import tempfile
    >>> people = Ratings({"stimulus": ["a", "b"], "rater": ["r1", "r1"], "value": [3, 7]},
    ...                  scale="0-7")
    >>> file = Path(tempfile.mkdtemp()) / "tiny-model.csv"
    >>> _ = file.write_text("stimulus,prediction\\na,2.5\\nb,6.9\\n")
    >>> model = read_models(file, people)
    >>> model.rater_names, model.rater_kinds, model.scale
    (('tiny-model',), ('model',), Scale('interval 0 to 7'))
    """
    paths = [path] if isinstance(path, str) or not isinstance(path, Sequence) else list(path)
    if not paths:
        raise InputError("no file of models was given; expected one or more")
    read = [_read_one(one, like, rater, scale, dict(options)) for one in paths]
    found = [table for table, _ in read]
    _check_file_names(paths, found)
    if like.scale.kind not in ("nominal", "text"):
        found = _guessed(found, [unknown for _, unknown in read], like.scale)
        found = _without_steps(found, like.scale)
    names = all(table.scale.kind == "nominal" and not table.scale.declared for table in found)
    # Categories that were only inferred are put together when the tables are.
    if len({table.scale for table in found}) > 1 and not names:
        scales = "; ".join(f"{one}: {table.scale}" for one, table in zip(paths, found, strict=True))
        raise InputError(
            f"the files of models have different scales ({scales}); name one "
            f"({option('models_scale', '0-7')})"
        )
    return found[0].merge(*found[1:])


def _check_file_names(paths: Sequence[str | Path], found: Sequence[Ratings]) -> None:
    """Refuse two files whose name would be the name of both models."""
    seen: dict[str, str | Path] = {}
    for path, table in zip(paths, found, strict=True):
        if table.rater_names != (Path(path).stem,):
            continue
        name = table.rater_names[0]
        if name in seen:
            raise InputError(
                f"{seen[name]} and {path}: both models are called {name!r}; rename one of the "
                "files, or add a column 'rater'"
            )
        seen[name] = path


def _read_one(
    path: str | Path,
    like: Ratings,
    rater: str | None,
    scale: str | Scale | None,
    options: dict[str, Any],
) -> tuple[Ratings, bool]:
    """Read a file; the second part says whether nobody declared its scale."""
    peek = Peek.open(path, encoding=options.get("encoding"), delimiter=options.get("delimiter"))
    told = [options.get(name) for name in ("format", "columns", "wide")]
    if is_stored(peek) and rater is None and not any(told):
        # What affectlab wrote says itself what it holds; only what the user says goes first.
        return _as_models(read_ratings(path, scale=scale, **options)), False
    if scale is None and rater is None and told[0] != "table" and not any(told[1:]):
        known = find_format(peek, told[0])
        if known is not None:
            found = read_ratings(path, **{**options, "format": known.name})
            return _as_models(found), not found.scale.declared
    taxonomy = options.pop("taxonomy", None) or like.taxonomy
    header = tuple(read_columns(peek).columns) if peek.is_binary else peek.header
    roles = options.get("columns") or {}
    if options.get("format") is None and header:
        if rater is None and "rater" not in roles and find_one("rater", header) is None:
            rater = Path(path).stem
        if (
            options.get("wide") is None
            and "value" not in roles
            and find_one("value", header) is None
        ):
            options["wide"] = "labels"
    first = Scale.parse(scale) if scale is not None else like.scale
    try:
        found = read_ratings(path, scale=first, taxonomy=taxonomy, rater=rater, **options)
    except InputError:
        fixed = like.scale.declared if like.scale.categories else not like.scale.numeric
        if scale is not None or fixed:
            raise
        found = read_ratings(path, taxonomy=taxonomy, rater=rater, **options)
    return _as_models(found), scale is None


def _guessed(found: Sequence[Ratings], unknown: Sequence[bool], scale: Scale) -> list[Ratings]:
    """Put answers whose scale nobody declared on that of people where they fit, and say so.

    All files count together: a model that never answered above 1 says nothing of its scale where
    another did.
    """
    words = ("nominal", "text")
    numbers = [mine and t.scale.kind not in words for t, mine in zip(found, unknown, strict=True)]
    values = [t.value[~np.isnan(t.value)] for t, mine in zip(found, numbers, strict=True) if mine]
    low = -np.inf if scale.low is None else scale.low
    high = np.inf if scale.high is None else scale.high
    inside = {bool(((value >= low) & (value <= high)).all()) for value in values}
    if not values or (scale.declared and len(inside) > 1):
        return list(found)
    given = np.concatenate(values)
    taken, step = Scale.infer(given), "scale of models inferred from all their answers"
    if fits_scale(given, scale):
        taken, said = scale, "taken as that of people"
        if not scale.contains(given).all():
            taken = Scale("interval", scale.low, scale.high, declared=scale.declared)
            said = "bounds taken as those of people, between whose steps answers lie"
        step = f"answers of models: scale not declared, {said} ({taken})"
    return [
        table.with_values(table.value, taken, step=step) if mine else table
        for table, mine in zip(found, numbers, strict=True)
    ]


def _without_steps(found: Sequence[Ratings], scale: Scale) -> list[Ratings]:
    """Put files on the scale of people on the same one without steps where another file is on it.

    Only then may they stand in one table; no answer changes.
    """
    between = Scale("interval", scale.low, scale.high)
    if scale.categories or {table.scale for table in found} != {scale, between}:
        return list(found)
    step = f"steps of the scale left out, as other files of models have none ({between})"
    return [
        table if table.scale == between else table.with_values(table.value, between, step=step)
        for table in found
    ]


def _as_models(found: Ratings) -> Ratings:
    kinds = ["baseline" if kind == "baseline" else "model" for kind in found.rater_kinds]
    return found.with_raters(found.raters.with_columns(rater_kind=pl.Series(kinds)))
