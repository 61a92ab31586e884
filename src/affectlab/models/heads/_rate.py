"""From scores of heads to a table of ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab._words import plural
from affectlab.errors import InputError
from affectlab.models.heads._targets import HIGH

if TYPE_CHECKING:
    from affectlab._types import Device
    from affectlab.models.embedding import Embeddings
    from affectlab.models.heads._heads import Heads
    from affectlab.models.heads._stage import Report
    from affectlab.ratings import Ratings

__all__ = ["embedded", "rate_embeddings"]


def embedded(
    bank: Heads,
    given: Any,
    encoder: Any,
    device: str,
    progress: Report | None,
    **settings: Any,
) -> Embeddings:
    """Give embeddings as they are, or embed images; see :meth:`HeadBank.embed`."""
    from affectlab.models.embedding import Embeddings, embed
    from affectlab.models.heads._encoder_of import encoder_of

    if isinstance(given, Embeddings):
        return given
    if isinstance(given, np.ndarray):
        raise InputError(
            "an array does not say which stimuli it is of; expected Embeddings or images (predict "
            "takes an array)"
        )
    if bank.encoder is None:
        raise InputError(
            "the heads were trained on an array, and know no encoder; expected Embeddings"
        )
    found = encoder_of(bank.encoder, encoder, device)
    return embed(given, found, path=None, progress=progress, **settings)


def rate_embeddings(
    bank: Heads,
    embeddings: Embeddings,
    rater: str | None,
    *,
    intervals: bool,
    scores: bool,
    device: Device,
) -> Ratings:
    """Make a table with one row per stimulus and label; see :meth:`HeadBank.rate`."""
    import polars as pl

    from affectlab.ratings import Ratings, Scale
    from affectlab.ratings._build import check_columns

    given = bank.scores(embeddings, device=device)
    value = bank.on_scale(given, clip=False)
    inside = np.clip(value, 0.0, HIGH)
    n, k = value.shape
    name = rater or bank.name
    stimulus = pl.Series("stimulus", list(embeddings.stimuli), dtype=pl.String)
    columns: dict[str, Any] = {
        "stimulus": stimulus.gather(np.repeat(np.arange(n), k)),
        "rater": pl.Series([name]).new_from_index(0, n * k),
        "label": pl.Series(list(bank.labels) * n, dtype=pl.String),
        "value": value.ravel(),
    }
    said = bank.said
    if scores:
        columns["score"] = given.ravel().astype(np.float64)
    if intervals:
        found_in = bank.check_intervals()
        low, high = found_in.bounds(inside)
        columns |= {"low": low.ravel(), "high": high.ravel()}
        said += f"; low and high: {found_in.said}"
    checked = check_columns(
        {column: pl.Series(column, values) for column, values in columns.items()},
        scale=Scale.parse("interval"),
        taxonomy=bank.taxonomy,
        on_bad="raise",
    )
    # Not split: an end of intervals that is the same everywhere stays a column, too.
    found = Ratings._from_checked(
        checked,
        pl.DataFrame({"rater": [name], "rater_kind": ["model"], "answers": [said]}),
        source=name,
        split=False,
    )
    beyond = int((inside != value).sum())
    step = f"{bank.steps}; {plural(beyond, 'answer')} beyond 0 to 7 taken as the bound"
    return found.with_values(np.clip(found.value, 0.0, HIGH), f"0-{HIGH:g} interval", step=step)
