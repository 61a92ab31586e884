"""Agreement about labels, in whatever shape it was computed elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from affectlab.errors import InputError
from affectlab.estimates import Estimates
from affectlab.stimuli.taxonomy._intervals import wilson
from affectlab.stimuli.taxonomy._pilot import Pilot
from affectlab.taxonomy import Taxonomy

__all__ = ["Agreement", "agreement_by_label", "pairs_may_agree"]


@dataclass(frozen=True)
class Agreement:
    """Agreement about one label; ``nan`` where it is not defined."""

    value: float
    low: float
    high: float
    n_raters: int | None = None


def agreement_by_label(given: Any, taxonomy: Taxonomy) -> dict[str, Agreement]:
    """Read agreement: estimates, a data frame, or a mapping of label to value (low, high).

    Raises
    ------
    InputError
        When a label is not in the taxonomy, stands twice, or a value is no number.
    """
    if isinstance(given, Mapping):
        rows = [(label, *_ends(label, told)) for label, told in given.items()]
    else:
        frame = given.to_frame() if isinstance(given, Estimates) else given
        names = getattr(frame, "columns", ())
        for name in ("label", "value"):
            if name not in names:
                raise InputError(
                    "agreement: expected estimates by label, or columns label, value, low, high"
                )
        rows = [
            (row["label"], row["value"], row.get("low"), row.get("high"), row.get("n_raters"))
            for row in frame.iter_rows(named=True)
        ]
    found: dict[str, Agreement] = {}
    for label, value, low, high, n_raters in rows:
        name = taxonomy.name_of(label)
        if name in found:
            raise InputError(f"agreement: label {name!r} stands twice; expected each once")
        found[name] = Agreement(_float(value), _float(low), _float(high), n_raters)
    return found


def pairs_may_agree(pilot: Pilot, label: int, confidence: float) -> float:
    r"""Give how well pairs of raters may agree about a label, given the stimuli they share.

    With q the share of other raters who choose what one rater chose, and p the share of answers
    that choose it, the correlation of two raters is :math:`(q - p) / (1 - p)`. Here q is the upper
    end of Wilson's interval, counted over the stimuli for which somebody chose the label. An
    interval from the spread over raters says nothing about that: where a rare label was chosen
    twice for no stimulus, all raters are alike, and a few more stimuli would have changed them all.
    """
    again, base = (float(shares[label]) for shares in pilot.pairs)
    n = int(pilot.n_shared[label])
    if n == 0 or base >= 1:
        return math.nan
    return (wilson(again * n, n, confidence)[1] - base) / (1 - base)


def _float(value: Any) -> float:
    return math.nan if value is None else float(value)


def _ends(label: str, told: Any) -> tuple[Any, Any, Any, None]:
    parts = tuple(told) if isinstance(told, tuple | list) else (told, None, None)
    if len(parts) != 3:
        raise InputError(
            f"agreement about {label!r}: expected a number, or value, low and high; got {told!r}"
        )
    return (*parts, None)
