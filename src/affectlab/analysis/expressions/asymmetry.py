"""Does it matter which side of the face moves, or whether one side moves alone?"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import polars as pl

from affectlab.analysis.expressions import wording
from affectlab.analysis.expressions.sides import Sides, SidesSource, sides_of
from affectlab.analysis.expressions.wording import SideProblem
from affectlab.analysis.pairs import PairSource, pair_scores
from affectlab.core.errors import InputError, check_choice
from affectlab.core.facts import Cause, Reason, fact_column, reason_type
from affectlab.core.inference import check_confidence
from affectlab.core.render.notes import row_status_text
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Interval, Key, Number, PValue, Table, Text
from affectlab.core.types import Floats
from affectlab.core.words import option

# Student's t-tests with their intervals, and the reason where there is none.


Alternative: TypeAlias = Literal["greater", "less", "two-sided"]
_FEW = Reason(Cause.FEWER, least=2, of="observations")
_CONSTANT = Reason(Cause.CONSTANT, of="observations")


def t_test(
    first: Floats,
    second: Floats,
    unit: str,
    alternative: Alternative,
    confidence: float,
    *,
    paired: bool,
) -> dict[str, object]:
    r"""Compare two means: those of two samples with variances taken as equal, or of pairs.

    .. math:: t = \frac{\bar x_1 - \bar x_2}{s \sqrt{1/n_1 + 1/n_2}}, \qquad
              s^2 = \frac{\sum (x_1 - \bar x_1)^2 + \sum (x_2 - \bar x_2)^2}{n_1 + n_2 - 2}

    or, with the differences d of n pairs, :math:`t = \bar d / (s_d / \sqrt n)` with
    :math:`n - 1` degrees of freedom.
    """
    from scipy.special import stdtr, stdtrit

    unknown = ("difference", "low", "high", "t", "df", "p", "p_two_sided")
    row: dict[str, object] = {
        "test": "paired" if paired else "two samples",
        "unit": unit,
        "n_first": int(first.size),
        "n_second": int(second.size),
        "mean_first": float(first.mean()) if first.size else math.nan,
        "mean_second": float(second.mean()) if second.size else math.nan,
        **dict.fromkeys(unknown, math.nan),
        "status": "ok",
        "reason": None,
    }
    df = first.size - 1 if paired else first.size + second.size - 2
    if min(first.size, second.size, df) < 1:
        apart = float((first - second).mean()) if paired and first.size else math.nan
        return row | {"difference": apart, "status": "undefined", "reason": _FEW}
    if paired:
        difference = float((first - second).mean())
        error = float((first - second).std(ddof=1)) / math.sqrt(first.size)
    else:
        difference = float(first.mean() - second.mean())
        squares = sum(float(((one - one.mean()) ** 2).sum()) for one in (first, second))
        error = math.sqrt(squares / df * (1 / first.size + 1 / second.size))
    row |= {"difference": difference, "df": float(df)}
    if not error > 1e-12 * max(1.0, abs(difference)):
        return row | {"status": "undefined", "reason": _CONSTANT}
    t = difference / error
    below, above = float(stdtr(df, t)), float(stdtr(df, -t))
    two_sided = min(1.0, 2 * min(below, above))
    half = float(stdtrit(df, (1 + confidence) / 2)) * error
    p = {"greater": above, "less": below, "two-sided": two_sided}[alternative]
    row |= {"low": difference - half, "high": difference + half}
    return row | {"t": t, "p": p, "p_two_sided": two_sided}


_LETTER = re.compile(r"(?<![^\W_])[LRlr](?![^\W_])")
"""A word of the one letter that may stand for a side."""
_Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AsymmetryTests(Result):
    """Tests of right against left, and of one-sided against symmetric expressions.

    Made by :func:`asymmetry_tests`.
    """

    unit: str

    @property
    def frame(self) -> pl.DataFrame:
        """One row per test.

        ``kind`` (intra, inter), ``comparison``, ``test``, ``unit`` (what counts as one
        observation), ``n_first``, ``n_second``, ``mean_first``, ``mean_second``, ``difference``
        with ``low`` and ``high``, ``t``, ``df``, ``p`` (of the alternative), ``p_two_sided``,
        ``alternative``, ``status``, ``reason``.
        """
        return self.to_frame()

    @property
    def points(self) -> pl.DataFrame:
        """One row per actor and mirrored expression.

        ``kind``, ``actor``, ``right``, ``left``, ``mean_right`` and ``mean_left`` over ``n_pairs``
        pairs that both have, and ``apart``, the first less the second.
        """
        return self.to_frame("points")

    @property
    def sides(self) -> pl.DataFrame:
        """``expression``, ``side`` (right, left, symmetric, unclear), ``mirror``."""
        return self.to_frame("sides")


_TESTS = (
    Key("comparison"),
    Key("kind"),
    Key("unit"),
    Count("n_first", "n₁", spare=True),
    Count("n_second", "n₂", spare=True),
    Number("difference", decimals=1),
    Interval(decimals=1, spare=True),
    Number("t", spare=True),
    PValue("p"),
)
_POINTS = (
    Key("kind"),
    Key("actor"),
    Key("right"),
    Key("left"),
    Number("mean_right"),
    Number("mean_left"),
    Number("apart", "right – left"),
    Count("n_pairs"),
)


def asymmetry_tests(
    scores: PairSource,
    *,
    sides: SidesSource | None = None,
    alternative: Alternative = "greater",
    confidence: float = 0.95,
) -> AsymmetryTests:
    """Test whether the side that moves changes how different faces look.

    The paper compares two samples of pairs with a one-sided t-test of equal variances. Pairs of one
    transition, and transitions of one actor, are alike, so that such a test counts the same thing
    many times; and right and left may be shown by different actors in different frames. Beside it
    stand paired tests, which compare an actor's right expression with the same actor's left one on
    the same pairs of frames, with a transition or an actor as one observation. **The paired test
    over transitions is the one to report**; the one over actors is about other actors, and weak
    with few of them.

    Parameters
    ----------
    scores
        Ratings or scores of pairs; see :func:`pair_scores`.
    sides
        Which left expression mirrors which right one; see :func:`sides_of`. By default told by the
        words "right" and "left" in the names. Expressions without a side are symmetric.
    alternative
        ``"greater"``, as in the paper: right above left, one-sided above symmetric; ``"less"``;
        or ``"two-sided"``. The two-sided p-value always stands beside it.
    confidence
        Coverage of the (two-sided) intervals of differences.

    Returns
    -------
    AsymmetryTests
        *Intra*: right against left, scores of pairs within transitions. *Inter*: right against
        left, where each is compared with the same third expression by the same actor; and
        one-sided against symmetric, where a pair with at least one one-sided expression is compared
        with pairs of two symmetric ones (the paper does not say which pairs it took). A test that
        is not defined says why in ``reason``. p-values are not corrected for being several: the
        tests are views of the same two questions.

        ``frame`` has a row per test, ``points`` one per actor and mirrored expression,
        ``sides`` one per expression.

    Raises
    ------
    InputError
        When no expression has a side, or an option is not known or out of range.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, section 3.5.4.

    Examples
    --------
    >>> table = pl.DataFrame({
    ...     "actor": ["ann", "bob", "ann", "bob"],
    ...     "expression_a": ["Jaw Right", "Jaw Right", "Jaw Left", "Jaw Left"],
    ...     "role_a": ["peak"] * 4, "role_b": ["neutral"] * 4,
    ...     "expression_b": ["Jaw Right", "Jaw Right", "Jaw Left", "Jaw Left"],
    ...     "value": [62.0, 71.0, 60.0, 68.0],
    ... })
    >>> found = asymmetry_tests(table).frame
    >>> found.filter(unit="transitions")["difference"].to_list()
    [2.5]
    """
    check_choice("alternative", alternative, get_args(Alternative))
    check_confidence(confidence)
    pairs = pair_scores(scores)
    found = sides_of(pairs.expressions, sides)
    if not (found.right or found.left):
        raise InputError(
            "no expression has a side: none is named with the word right or left; expected such "
            f"names, or a table of mirrored expressions ({option('sides', 'sides.csv')})"
        )
    intra, inter = pairs.intra().frame, pairs.inter().frame
    tests: list[tuple[str, str, list[_Row]]] = []
    points = []
    if intra.height:
        own = _matched_intra(intra, found)
        points.append(own.with_columns(kind=pl.lit("intra")))
        right, left = (
            intra.filter(pl.col("expression_a").is_in(side))["value"].to_numpy()
            for side in (found.right, found.left)
        )
        of_pairs = t_test(right, left, "pairs", alternative, confidence, paired=False)
        paired_ones = _paired_tests(own, alternative, confidence)
        tests.append(("intra", "right – left", [of_pairs, *paired_ones]))
    if inter.height:
        own = _matched_inter(inter, found)
        points.append(own.with_columns(kind=pl.lit("inter")))
        tests += [
            ("inter", "right – left", _paired_tests(own, alternative, confidence)),
            ("inter", "one-sided – symmetric", _against(inter, found, alternative, confidence)),
        ]
    rows = [
        {"kind": kind, "comparison": comparison, **one}
        for kind, comparison, several in tests
        for one in several
    ]
    order = ("kind", "actor", "right", "left", "mean_right", "mean_left", "n_pairs")
    apart = (pl.col("mean_right") - pl.col("mean_left")).alias("apart")
    marked = pl.concat(points).select(*order, apart)
    reasons = fact_column("reason", [one.pop("reason") for one in rows], reason_type())
    frame = pl.DataFrame(rows).with_columns(reasons, alternative=pl.lit(alternative))
    told = found.to_frame(pairs.expressions)
    return AsymmetryTests(
        (
            Table("tests", wording.TESTS, frame, _TESTS),
            Table("points", "Mirrored expressions.", marked, _POINTS, 0),
            Table(
                "sides",
                "Sides of expressions.",
                told,
                (Key("expression"), Text("side"), Text("mirror")),
                limit=0,
            ),
        ),
        _sentences(frame, told, pairs.unit),
        _figures(marked, pairs.unit),
        notes=(*_notes(found, from_names=sides is None), *pairs.notes),
        unit=pairs.unit,
    )


def _sentences(tests: pl.DataFrame, sides: pl.DataFrame, unit: str) -> tuple[str, ...]:
    """Say what p is of, how many expressions have a side, and which tests are not defined."""
    known = tests.filter(pl.col("status") == "ok").height
    undefined = {row_status_text(row) for row in tests.iter_rows(named=True)} - {""}
    return (
        wording.tests_text(tests.height, known, tests["alternative"][0], unit),
        wording.sides_text(dict(sides["side"].value_counts().iter_rows())),
        *(f"{text[0].upper()}{text[1:]}." for text in sorted(undefined)),
    )


def _figures(points: pl.DataFrame, unit: str) -> tuple[Figure, ...]:
    """Declare how much higher right is than left, for each actor and mirrored expression."""
    return tuple(
        Figure(
            f"asymmetry_{kind}",
            "ranges",
            "points",
            wording.asymmetry_title(kind),
            options={
                "kind": kind,
                "by": "right",
                "value": "apart",
                "value_name": wording.asymmetry_axis(kind, unit),
                "line": 0.0,
            },
        )
        for kind in points["kind"].unique(maintain_order=True)
    )


def _paired_tests(points: pl.DataFrame, alternative: Alternative, confidence: float) -> list[_Row]:
    """Compare right and left over transitions, and over actors."""
    by_actor = points.group_by("actor").agg(pl.col("mean_right", "mean_left").mean())
    return [
        t_test(
            table["mean_right"].to_numpy(),
            table["mean_left"].to_numpy(),
            unit,
            alternative,
            confidence,
            paired=True,
        )
        for unit, table in (("transitions", points), ("actors", by_actor.sort("actor")))
    ]


def _matched_intra(intra: pl.DataFrame, sides: Sides) -> pl.DataFrame:
    """Average right and left of each actor over the pairs of roles that both have."""
    pair = pl.concat_str(
        pl.min_horizontal("role_a", "role_b"), pl.max_horizontal("role_a", "role_b"), separator="\0"
    )
    own = intra.select(
        "actor", pl.col("expression_a").alias("expression"), pair.alias("on"), "value"
    )
    return _matched(own, sides)


def _matched_inter(inter: pl.DataFrame, sides: Sides) -> pl.DataFrame:
    """Average right and left of each actor over the third expressions that both are compared with.

    Frames are drawn anew for each pair, so that they cannot be matched as well.
    """
    turned = pl.concat(
        inter.select(
            "actor",
            pl.col(f"expression_{one}").alias("expression"),
            pl.col(f"expression_{two}").alias("on"),
            "value",
        )
        for one, two in ("ab", "ba")
    )
    return _matched(turned, sides)


def _matched(values: pl.DataFrame, sides: Sides) -> pl.DataFrame:
    """Put an actor's right and left expression side by side, on what both were shown with."""
    means = values.group_by("actor", "expression", "on").agg(pl.col("value").mean())
    mirrored = pl.DataFrame(
        list(sides.mirrored), schema={"right": pl.String, "left": pl.String}, orient="row"
    )
    first = mirrored.join(means.rename({"expression": "right", "value": "mean_right"}), on="right")
    both = first.join(
        means.rename({"expression": "left", "value": "mean_left"}), on=["left", "actor", "on"]
    )
    return (
        both.group_by("actor", "right", "left")
        .agg(pl.col("mean_right", "mean_left").mean(), pl.len().cast(pl.Int64).alias("n_pairs"))
        .sort("right", "actor")
    )


def _against(
    inter: pl.DataFrame, sides: Sides, alternative: Alternative, confidence: float
) -> list[_Row]:
    """Compare pairs with a one-sided expression with pairs of two symmetric ones."""
    lateral = sides.right | sides.left
    known = [*lateral, *sides.symmetric]
    own = inter.filter(pl.col("expression_a").is_in(known) & pl.col("expression_b").is_in(known))
    own = own.with_columns(
        (pl.col("expression_a").is_in(lateral) | pl.col("expression_b").is_in(lateral)).alias("one")
    )
    first, second = (own.filter(pl.col("one") == one)["value"].to_numpy() for one in (True, False))
    by_actor = (
        own.group_by("actor")
        .agg(
            pl.col("value").filter(pl.col("one")).mean().alias("first"),
            pl.col("value").filter(~pl.col("one")).mean().alias("second"),
        )
        .drop_nulls()
        .sort("actor")
    )
    of_actors = by_actor["first"].to_numpy(), by_actor["second"].to_numpy()
    return [
        t_test(first, second, "pairs", alternative, confidence, paired=False),
        t_test(*of_actors, "actors", alternative, confidence, paired=True),
    ]


def _notes(sides: Sides, *, from_names: bool) -> tuple[str, ...]:
    # Names that a table gives are as they are meant.
    letters = tuple(sorted(filter(_LETTER.search, sides.symmetric))) if from_names else ()
    problems = {
        SideProblem.UNMATCHED: sides.unmatched,
        SideProblem.UNCLEAR: sides.unclear,
        SideProblem.LETTER: letters,
    }
    return tuple(wording.side_note(why, names) for why, names in problems.items() if names)
