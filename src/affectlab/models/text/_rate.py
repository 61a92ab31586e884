"""From probabilities to a table of ratings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from affectlab._types import Bools, Floats
from affectlab._words import shown
from affectlab.errors import InputError
from affectlab.models.text._answers import answers
from affectlab.models.text._labels import check_texts

if TYPE_CHECKING:
    from affectlab.models.text._base import TextClassifier
    from affectlab.ratings import Ratings
    from affectlab.taxonomy import Taxonomy

__all__ = ["as_ratings", "rate_texts"]


def as_ratings(
    texts: Sequence[str],
    stimuli: Sequence[str] | None,
    probabilities: Floats,
    chosen: Bools,
    *,
    taxonomy: Taxonomy,
    rater: str,
    said: str,
) -> Ratings:
    """Make a table of ratings with one row per text and label."""
    import polars as pl

    from affectlab.ratings import Ratings

    names = [f"text {row}" for row in range(1, len(texts) + 1)] if stimuli is None else [*stimuli]
    if len(names) != len(texts):
        raise InputError(
            f"stimuli: {len(names)} names; expected one for each of {len(texts)} texts"
        )
    first: dict[str, int] = {}
    for row, name in enumerate(names, 1):
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"stimuli, row {row}: {name!r} is no name; expected text")
        if first.setdefault(name, row) != row:
            raise InputError(
                f"stimuli, row {row}: {shown(name, 40)!r} stands in row {first[name]} already; "
                "expected a name of its own for each text"
            )
    k = len(taxonomy)
    stimulus = pl.Series("stimulus", names, dtype=pl.String)
    frame = pl.DataFrame(
        {
            "stimulus": stimulus.gather(np.repeat(np.arange(len(names)), k)),
            "rater": pl.Series([rater]).new_from_index(0, len(names) * k),
            "label": pl.Series(list(taxonomy.labels) * len(names), dtype=pl.String),
            "value": probabilities.ravel(),
            "chosen": chosen.ravel().astype(np.int8),
        }
    )
    return Ratings(
        frame,
        scale="0-1 interval",
        raters=pl.DataFrame({"rater": [rater], "rater_kind": ["model"], "answers": [said]}),
        stimuli=pl.DataFrame([stimulus, pl.Series("text", list(texts), dtype=pl.String)]),
        taxonomy=taxonomy,
        source=rater,
    )


def rate_texts(
    model: TextClassifier,
    texts: Iterable[str],
    stimuli: Sequence[str] | None,
    rater: str | None,
    level: str | None,
    coherent: bool,
    progress: Callable[[str, int, int], None] | None,
) -> Ratings:
    """Let a model rate texts; see :meth:`TextClassifier.rate`."""
    given = check_texts(texts)
    probabilities, chosen = answers(model, given, level, coherent, progress)
    from_labels = coherent and level is not None
    rule = model.decision(None if from_labels else level)
    how = "calibrated" if model._scaling(level).kind != "none" else "not calibrated"
    return as_ratings(
        given,
        stimuli,
        probabilities,
        chosen,
        taxonomy=model.taxonomy if level is None else model.taxonomy.coarsen(level),
        rater=rater or model.name,
        said=f"probabilities of the {model.backend} text model {model.name!r}, {how}; "
        f"{'groups of labels ' if from_labels else ''}chosen by {rule.said()}, fitted on "
        f"{rule.fitted_on}",
    )
