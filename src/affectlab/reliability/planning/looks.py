"""Whether a running study has enough ratings, however often one looks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, get_args

import polars as pl

from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.estimates import Estimates
from affectlab.core.facts import IntervalFact, Reason
from affectlab.core.inference import DrawnTarget, check_confidence
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Interval, Key, Number, Table, Text, Value, YesNo
from affectlab.core.words import shown
from affectlab.ratings import ClusterLike, Ratings, people_or_all
from affectlab.reliability.agreement import Coefficient, load_coefficient
from affectlab.reliability.planning.wording import (
    LOOKS_FIGURE,
    about_these,
    go_on_text,
    look_value,
    looks_caption,
    models_unused,
    needed_text,
    no_look,
    stop_text,
)

_SUREST = 1 - 1e-12
"""Confidence above which an interval is as wide as it can be."""
_MOST_TIMES = 1000
"""Factor above which only that it is larger is said."""


def confidence_at_any_look(confidence: float) -> float:
    r"""Give the confidence at which one look is as sure as all looks together are to be.

    An estimate that gains information, seen as a Brownian motion B up to the information at which
    one stops, leaves :math:`\pm c` at any time with a probability of :math:`4 (1 - \Phi(c))` at
    most (reflection): twice that of leaving it at the end.

    Examples
    --------
    >>> confidence_at_any_look(0.95)
    0.975
    """
    return 1 - (1 - confidence) / 2


def enough_ratings(
    ratings: Ratings,
    *,
    width: float,
    coefficient: str = "krippendorff_alpha",
    everyone: bool = False,
    target: DrawnTarget = "both",
    cluster: ClusterLike = None,
    confidence: float = 0.95,
) -> Result:
    r"""Say whether agreement is known well enough to stop, however often one has looked.

    Who looks again and again, and stops when a 95 % interval looks right, stops on lucky errors: of
    20 looks at intervals of alpha all held in 78 % of simulated studies (600 stimuli, six raters).
    The rule here holds for any number of looks. With :math:`\alpha` = 1 - `confidence`, stop when
    the interval of confidence :math:`1 - \alpha/2`, such as 97.5 %, is no wider than `width`; it
    then is an interval of 95 %. At a look before, the interval is wider than that one by as much as
    that one is wider than `width`: the boundary of O'Brien and Fleming for looks without number,
    whose end is where the width is reached.

    Parameters
    ----------
    ratings
        The ratings so far.
    width
        Width that is wanted, end to end. Fix it before the first look.
    coefficient
        Coefficient of agreement by name.
    everyone
        Take models in, too; without it only people where there are any.
    target
        What intervals are about: other ``stimuli``, other ``raters``, or ``both``.
    cluster
        What stimuli belong to, and are left out with: a column of the stimulus table, or a mapping
        from stimulus to cluster; ``"none"`` for stimuli drawn one by one.

        By default a column like ``actor``, ``identity``, ``speaker``, ``film`` or ``author`` that
        several stimuli share.
    confidence
        Probability with which the intervals of all looks hold together.

    Returns
    -------
    Result
        By ``label`` (and what else the coefficient has rows for): ``value``, ``low`` and ``high``,
        which hold whenever one stops; ``width``, that of the interval at :math:`1 - \alpha/2`, and
        whether it is ``reached``; ``times``, by how much what the interval generalises over would
        have to be multiplied, 1 where it is: stimuli, raters, or the number of stimuli *and* the
        number of raters, as ``needed`` lists. More stimuli alone do not tell more of other raters.
        ``n_raters`` is empty for counts of votes.

    Each label has a chance of its own to be missed. Of labels most of whose answers are 0,
    intervals about these raters alone hold less often than they say (86 % at the stop, plain ones
    80 %); those about other raters, too, the default, do (93 to 97 %, plain ones 90 to 96 %).

    Raises
    ------
    InputError
        When the width, the target or the coefficient cannot be used, or suits no label.

    References
    ----------
    O'Brien and Fleming (1979), Biometrics 35; Lan and DeMets (1983), Biometrika 70; Jennison and
    Turnbull (1989), Journal of the Royal Statistical Society B 51, for intervals at each look.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> stimulus, rater = (part.ravel() for part in np.indices((150, 5)))
    >>> value = np.clip(stimulus % 7 + rng.integers(-2, 3, 750), 0, 7)
    >>> ratings = Ratings({"stimulus": stimulus, "rater": rater, "value": value}, scale="0-7")
    >>> enough_ratings(ratings, width=0.2).finding
    "rating: stop, Krippendorff's alpha is 0.69 (95 % interval 0.61 to 0.76 at any look)."
    """
    check_confidence(confidence)
    check_choice("target", target, get_args(DrawnTarget))
    check_number("width", width, 0)
    if width == 0:
        raise InputError("width 0: expected a width above 0, such as 0.1")
    made = load_coefficient(coefficient)
    panel = ratings if everyone else people_or_all(ratings)
    options: dict[str, Any] = {"cluster": cluster}
    if target != "both":
        # By default each coefficient has the widest target that can be drawn for it.
        options["target"] = target

    def intervals(labels: list[str], confidence: float) -> Estimates | None:
        return made.estimates(panel.select(labels=labels), confidence=confidence, **options)

    once = confidence_at_any_look(confidence)
    rows, notes = list[dict[str, Any]](), dict[str, None]()
    for label in panel.label_names:
        found = intervals([label], once)
        if found is None:
            continue
        for place, row in enumerate(found.frame.to_dicts()):
            own = row["high"] - row["low"]
            if own > width:
                wider = intervals([label], _confidence(once, own / width))
                assert wider is not None
                row = wider.frame.row(place, named=True)
            times = max((own / width) ** 2, 1.0)
            more = {"reached": own <= width, "times": times}
            rows.append({**row, "width": own, **more, "needed": _needed(row, times)})
        notes |= dict.fromkeys(found.notes)
    if not rows:
        raise InputError(
            f"coefficient {coefficient!r} suits none of the labels; expected another one, such as "
            "'krippendorff_alpha'"
        )
    if panel is not ratings:
        n_models = ratings.n_raters - panel.n_raters
        notes = {models_unused(n_models): None, **notes}
    if panel.raters_known and target != "stimuli":
        notes |= dict.fromkeys(_about_these(rows, made.keys))
    extra = {
        "width": pl.Float64,
        "reached": pl.Boolean,
        "times": pl.Float64,
        "needed": pl.List(pl.String),
    }
    frame = Estimates.of_rows(rows, made.keys, extra).frame
    counts = [Count("n_items", "stimuli"), Count("n_ratings", "ratings")]
    if panel.raters_known:
        counts.insert(1, Count("n_raters", "raters"))
    else:
        frame = frame.with_columns(n_raters=pl.lit(None, pl.Int64))
    columns = (
        Value(),
        Interval(),
        Number("width", "width now", decimals=3),
        YesNo("reached", "narrow enough"),
        Number("times", "times as many", decimals=1, spare=True),
        Text("needed", spare=True),
        *counts,
    )
    name = f"{made.title[0].upper()}{made.title[1:]}"
    table = Table(
        "looks",
        looks_caption(name, confidence),
        frame,
        (*map(Key, made.keys), *columns),
    )
    return Result(
        (table,),
        tuple(_sentence(row, made, width, confidence) for row in rows),
        (
            Figure(
                "looks",
                "intervals",
                "looks",
                f"{name} so far",
                LOOKS_FIGURE,
                options={"value_name": made.title},
            ),
        ),
        notes=tuple(notes),
        settings={"width": float(width), "coefficient": coefficient, "confidence": confidence},
    )


def _confidence(once: float, times: float) -> float:
    """Give the confidence of an interval that is so many times as wide."""
    from scipy.special import ndtr, ndtri

    return min(1 - 2 * float(ndtr(-times * ndtri((1 + once) / 2))), _SUREST)


def _needed(row: dict[str, Any], times: float) -> list[str]:
    """Give of what more is needed: error over raters does not shrink with stimuli."""
    if math.isnan(times) or times <= 1:
        return []
    target = row["target"]
    units = _drawn_whole(row) or "stimuli"
    return {"both": [units, "raters"], "raters": ["raters"]}.get(target, [units])


def _drawn_whole(row: dict[str, Any]) -> str:
    made = IntervalFact.of_row(row["interval"])
    return "" if made is None else made.drawn_whole(row["target"])


def _about_these(rows: Sequence[dict[str, Any]], keys: Sequence[str]) -> Iterator[str]:
    """Say which intervals are about these raters, although others were asked for."""
    about: dict[tuple[str, Reason | None], list[str]] = {}
    for row in rows:
        if row["target"] not in ("both", "raters", "none"):
            reason, units = Reason.of_row(row["reason"]), _drawn_whole(row) or row["target"]
            about.setdefault((units, reason), []).append(_name(row, keys))
    for (units, why), names in about.items():
        yield about_these(names, units, why)


def _name(row: dict[str, Any], keys: Sequence[str]) -> str:
    return ", ".join(shown(row[key]) for key in keys)


def _sentence(row: dict[str, Any], made: Coefficient, width: float, confidence: float) -> str:
    name, title = _name(row, made.keys), made.title
    if math.isnan(row["width"]):
        reason = Reason.of_row(row["reason"])
        return no_look(name, title, reason, unanimous=row["value"] == 1)
    value = look_value(title, row["value"], (row["low"], row["high"]), confidence)
    if row["reached"]:
        return stop_text(name, value)
    needed = needed_text(row["times"], _MOST_TIMES, row["needed"])
    return go_on_text(name, value, row["width"], width, needed)
