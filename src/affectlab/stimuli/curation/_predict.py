"""Predicted emotions of the comments that are left, by a user's function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from affectlab.errors import InputError
from affectlab.stimuli.curation._narrow import read_narrow
from affectlab.stimuli.curation._predictions import prediction_columns
from affectlab.stimuli.curation._tasks import PLACE_BITS, part_name, read_part, write_part

__all__ = ["Predict", "PredictionWork"]

Predict = Callable[[list[str]], Sequence[Sequence[str]]]
"""Takes texts and gives the labels of each, the most likely first."""
_AT_ONCE = 4096
"""Texts that are given to the function at once."""
_one_at_a_time = Lock()


@dataclass(frozen=True)
class PredictionWork:
    """Predicts the emotions of the comments of a part; a part that is written already stays."""

    parts: Sequence[Path]
    """Staged files."""
    pool: Path
    """Narrow tables of the comments that are left."""
    folder: Path
    """Where the narrow tables are written anew, with predictions."""
    predict: Predict
    taxonomy: str

    def __call__(self, part: int) -> dict[str, Any]:
        """Write the narrow table of one part with its predictions."""
        import polars as pl

        target = self.folder / part_name(part)
        if target.exists():
            return {}
        narrow = read_narrow(self.pool, part)
        rows = (narrow["place"] & ((1 << PLACE_BITS) - 1)).to_numpy()
        texts = read_part(self.parts[part], columns=["text"])["text"].gather(rows)
        labels: list[list[str]] = []
        for start in range(0, len(texts), _AT_ONCE):
            batch = texts[start : start + _AT_ONCE].fill_null("").to_list()
            # Parts are worked on side by side, and few models bear to be asked by two threads.
            with _one_at_a_time:
                answer = self.predict(batch)
            labels.extend(_checked(answer, len(batch)))
        told = pl.Series("labels", labels, pl.List(pl.String))
        table = narrow.hstack(prediction_columns(told, self.taxonomy)).with_columns(told)
        write_part(table, target, passing=True)
        return {}


def _checked(told: Any, n: int) -> list[list[str]]:
    """Check what a user's function gave: labels for each text."""
    if isinstance(told, str) or not isinstance(told, Iterable):
        raise InputError(
            f"predict: expected a list of labels for each text, got {type(told).__name__}"
        )
    found = list(told)
    if len(found) != n:
        raise InputError(f"predict: expected labels for {n:,} texts, got {len(found):,}")
    for labels in found:
        wrong = isinstance(labels, str) or not isinstance(labels, Iterable)
        if wrong or not all(isinstance(label, str) for label in labels):
            raise InputError(f"predict: expected a list of labels for each text, got {labels!r}")
    return [list(labels) for labels in found]
