"""From reactions that were written to a table of ratings of the protocol ``reaction``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from affectlab.models.reactions.items import ReactionItem
from affectlab.models.reactions.ledger import Written
from affectlab.protocols import entry_rows, label_field, load_protocol, reason_field

if TYPE_CHECKING:
    from affectlab.ratings import Ratings

__all__ = ["Answer", "make_ratings", "ratings_of", "rows_of"]


@dataclass(frozen=True)
class Answer:
    """One reaction to one item."""

    item: ReactionItem
    sample: int
    """From 1 on."""
    written: Written


def rows_of(item: ReactionItem, text: str) -> dict[str, Any]:
    """Give the row of a reaction as an export of a study has it."""
    protocol = load_protocol("reaction")
    entry = {label_field(protocol).name: item.emotion, reason_field(protocol).name: text}
    return next(entry_rows(protocol, [entry]))


def ratings_of(answers: Sequence[Answer], rater: Mapping[str, Any]) -> Ratings:
    """Make ratings of what a generator wrote.

    Parameters
    ----------
    rater
        Its attributes.
    """
    rows = []
    for one in answers:
        row = rows_of(one.item, one.written.text)
        rows.append(
            {
                **row,
                "stimulus": one.item.stimulus,
                "rater": rater["rater"],
                "text": row["text"] or None,
                "outcome": "ok" if row["text"] else "empty",
                "trial": one.sample,
                "log_likelihood": one.written.log_likelihood,
                "n_tokens": one.written.n_tokens,
                "ended": one.written.ended,
            }
        )
    return make_ratings(rows, [one.item for one in answers], [rater])


def make_ratings(
    rows: Sequence[Mapping[str, Any]],
    items: Sequence[ReactionItem],
    raters: Sequence[Mapping[str, Any]],
) -> Ratings:
    """Make ratings of rows, with caption and image as attributes of the stimuli.

    Parameters
    ----------
    raters
        Attributes of the raters that rows name; the first is the source.
    """
    import polars as pl

    from affectlab.ratings import Ratings, Scale, check_columns

    columns: dict[str, Any] = {
        "stimulus": [row["stimulus"] for row in rows],
        "rater": [row["rater"] for row in rows],
        "label": [row["label"] for row in rows],
        "value": pl.Series("value", [None] * len(rows), dtype=pl.String),
        "text": pl.Series("text", [row["text"] for row in rows], dtype=pl.String),
        "outcome": [row["outcome"] for row in rows],
        "trial": [row["trial"] for row in rows],
        "trial_kind": ["main" if row["trial"] == 1 else "repeat" for row in rows],
    }
    beside = dict.fromkeys(key for row in rows for key in row if key not in columns)
    columns |= {key: [row.get(key) for row in rows] for key in beside}
    checked = check_columns(
        {key: pl.Series(key, column) for key, column in columns.items()}, scale=Scale.parse("text")
    )
    pairs = {item.stimulus: item for item in items}
    stimuli = {
        "stimulus": list(pairs),
        "caption": [item.caption for item in pairs.values()],
    }
    if all(item.image is not None for item in pairs.values()):
        stimuli["image"] = [
            item.file or item.image.as_posix() for item in pairs.values() if item.image
        ]
    keys = [key for key in raters[0] if any(rater[key] is not None for rater in raters)]
    known = pl.DataFrame([{key: rater[key] for key in keys} for rater in raters])
    # Not split: what happens to be the same for a pair still belongs to its answers.
    return Ratings._from_checked(
        checked, known, pl.DataFrame(stimuli), source=str(raters[0]["rater"]), split=False
    )
