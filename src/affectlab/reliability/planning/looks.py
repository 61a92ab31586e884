"""Whether a running study has enough ratings, however often one looks."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from affectlab.core.errors import InputError, check_number
from affectlab.core.estimates import Estimates
from affectlab.core.inference import Target, check_confidence
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Interval, Key, Number, Table, Value, YesNo
from affectlab.core.words import number, shown
from affectlab.ratings import ClusterLike, Ratings, people_or_all
from affectlab.reliability.agreement import Coefficient, load_coefficient

_SUREST = 1 - 1e-12
"""Confidence above which an interval is as wide as it can be."""
_COLUMNS = (
    Value(),
    Interval(),
    Number("width", "width if one stops", decimals=3),
    YesNo("reached", "narrow enough"),
    Number("times", "times the ratings", decimals=1),
    Count("n_items", "stimuli"),
    Count("n_raters", "raters"),
    Count("n_ratings", "ratings"),
)


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
    target: Target = "both",
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
        whether it is ``reached``; ``times``, by how much the ratings would have to be multiplied, 1
        where it is.

    Each label has a chance of its own to be missed. Of labels most of whose answers are 0,
    intervals about these raters alone hold less often than they say (86 % at the stop, plain ones
    80 %); those about other raters, too, the default, do (93 to 97 %, plain ones 90 to 96 %).

    Raises
    ------
    InputError
        When the width or the coefficient cannot be used, or suits no label.

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
            rows.append({**row, "width": own, "reached": own <= width, "times": times})
        notes |= dict.fromkeys(found.notes)
    if not rows:
        raise InputError(
            f"coefficient {coefficient!r} suits none of the labels; expected another one, such as "
            "'krippendorff_alpha'"
        )
    extra = {"width": pl.Float64, "reached": pl.Boolean, "times": pl.Float64}
    estimates = Estimates.of_rows(rows, made.keys, extra)
    name = f"{made.title[0].upper()}{made.title[1:]}"
    table = Table(
        "looks",
        f"{name}, with intervals of {100 * confidence:g} % for any number of looks.",
        estimates.frame,
        (*map(Key, made.keys), *_COLUMNS),
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
                "With intervals that hold at any look.",
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


def _sentence(row: dict[str, Any], made: Coefficient, width: float, confidence: float) -> str:
    name, title = ", ".join(shown(row[key]) for key in made.keys), made.title
    if math.isnan(row["width"]):
        return f"{name}: go on, {title} has no interval yet."
    ends = (
        f"{title} is {number(row['value'])} ({100 * confidence:g} % interval "
        f"{number(row['low'])} to {number(row['high'])} at any look)"
    )
    if row["reached"]:
        return f"{name}: stop, {ends}."
    return (
        f"{name}: go on, {ends}. If one stops now its interval is {number(row['width'])} wide; "
        f"{width:g} takes about {number(row['times'], 1)} times the ratings."
    )
