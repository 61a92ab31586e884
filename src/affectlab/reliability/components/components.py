"""Where the variance of ratings lies, and how reliable one rating and the mean of several are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choice
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Reason
from affectlab.core.inference import Target, check_confidence
from affectlab.core.result import Result
from affectlab.core.tables import Column, Count, Figure, Interval, Key, Share, Table, Value
from affectlab.core.words import option, plural
from affectlab.ratings import ClusterLike, Ratings, of_known_raters, stimulus_clusters
from affectlab.reliability.components.designs import (
    RATER,
    STIMULUS,
    Components,
    Link,
    MixedDesign,
    check_link,
    designs,
    estimates_table,
    fitted,
    usual_factors,
)
from affectlab.reliability.components.generalizability import (
    coefficients_of,
    column_of,
    decision_studies,
    facets_of,
    reliability_rows,
)
from affectlab.reliability.components.left_out import LeftOutComponents
from affectlab.reliability.components.posterior import MOST_FACTORS, Posterior, posterior
from affectlab.reliability.components.restricted_likelihood import RESIDUAL
from affectlab.reliability.components.symmetric_sums import far_from_normal
from affectlab.reliability.components.wording import (
    KINDS,
    RELIABILITY,
    SHARES_FIGURE,
    SHARES_TITLE,
    few_raters,
    no_components,
    reliability_text,
    shares_text,
    skewed_answers,
)

Estimator: TypeAlias = Literal["reml", "posterior"]
ComponentInterval: TypeAlias = Literal["jackknife", "likelihood"]

_COLUMNS: tuple[Column, ...] = (
    Key("label"),
    Key("factor"),
    Value(head="variance"),
    Interval(),
    Share("share"),
    Column("share", "interval (share)", "share_interval", decimals=0),
    Count("n_levels", "levels"),
)
_FEW_RATERS = 7


@of_known_raters
def variance_components(
    ratings: Ratings,
    *,
    factors: Sequence[str] | None = None,
    k: Sequence[int] | Mapping[str, Sequence[int]] = (1, 3, 5, 10),
    link: Link = "identity",
    estimator: Estimator = "reml",
    interval: ComponentInterval = "jackknife",
    target: Target = "both",
    cluster: ClusterLike = None,
    everyone: bool = False,
    confidence: float = 0.95,
) -> Result:
    r"""Split the variance of ratings into parts due to stimuli, raters and what is left.

    The model of each label is

    .. math:: y = \mu + u_\text{stimulus} + u_\text{rater} + \dots + e

    with independent normal effects, crossed, with any gaps, fitted by restricted maximum likelihood
    (REML). From the variances follow the reliability of one rating and of the mean of k raters:
    with :math:`\sigma^2_s` of stimuli, :math:`\sigma^2_r` of raters, and the rest
    :math:`\sigma^2_e` (with stimulus by rater, where that is a factor),

    .. math::

        \text{agreement}_k = \frac{\sigma^2_s}{\sigma^2_s + (\sigma^2_r + \sigma^2_e)/k}, \quad
        \text{consistency}_k = \frac{\sigma^2_s}{\sigma^2_s + \sigma^2_e/k},

    for k = 1 the intraclass correlations (2,1) and (3,1); in generalizability theory the absolute
    coefficient :math:`\Phi` and the relative one :math:`E\rho^2`. Decision studies over several
    facets divide each component by the numbers of levels of its facets: with sessions t, the
    relative error is :math:`\sigma^2_{sr}/k_r + \sigma^2_{st}/k_t + \sigma^2_e/(k_r k_t)`, and
    the absolute one has those of r, t and r:t, too. A facet that is nested in another, as raters
    who answer to one label each, is divided by both.

    Parameters
    ----------
    ratings
        Ratings on scales with an order. Main trials count; where ``stimulus:rater`` is a factor,
        repeats count, too.
    factors
        Random factors; by default ``stimulus``, ``rater``, and ``session`` where raters answered
        the same questions in several.

        Beside these ``label`` or another column of the answers, raters or stimuli; and their
        interactions, as ``stimulus:session``, of which the last, such as ``stimulus:rater``, needs
        repeated answers. With ``label`` all labels are one analysis; else each has its own.
    k
        Numbers of raters whose mean is judged; or, by facet, of raters, sessions, labels, …:
        ``{"rater": [1, 3], "session": [1, 2]}``, every combination, 1 where a facet is not named.
    link
        ``identity``: answers are quantities. ``probit``, ``logit``: answers are ordered categories,
        cut from a latent scale with normal or logistic residual (cumulative link mixed model), on
        which all variances are.
    estimator
        ``reml``: restricted maximum likelihood. ``posterior``: for panels of 3 to 6 raters, medians
        and intervals under weak priors; of three factors at most.
    interval
        Of ``reml`` on quantities. ``jackknife``: from leaving out one stimulus, one rater, or
        either at a time. ``likelihood``: profile likelihood, for normal effects.
    target
        What intervals of the jackknife are about: other ``"stimuli"``, other ``"raters"`` or
        ``"both"``; ``"sample"`` for none.
    cluster
        What stimuli belong to, and are left out with: a column of the stimulus table, or a mapping
        from stimulus to cluster. By default a column like ``actor``; ``"none"`` for none.
    everyone
        Take models in, too; without it only people where there are any.
    confidence
        Coverage of the intervals.

    Returns
    -------
    Result
        The table ``components``: by ``label`` and ``factor`` (the last is ``residual``), ``value``
        (variance, in squared units of the scale), ``low``, ``high``, ``share`` of the whole with
        ``share_low`` and ``share_high``, ``n_levels``, counts and ``status``.
        The table ``reliability``: by ``label``, ``coefficient`` (``agreement``,
        ``consistency``) and numbers of ``raters``, and of
        ``sessions`` and so on where these are factors; empty where ``stimulus`` is no factor or
        each stimulus belongs to one level of a factor. On balanced data with positive variances,
        the estimates are those of the analysis of variance, as in Brennan's tables; where that has
        a negative variance, REML has 0 and other values of the rest.

    Without each stimulus and rater, variances are taken from moments (symmetric sums), around those
    that were fitted; so nothing is assumed of the distribution of answers. Other facets, such as
    sessions, stay these; a variance of theirs has the interval by likelihood.

    Profile likelihood: where the restricted deviance, minimised over all other variances, exceeds
    its least value by less than the quantile of the chi-squared distribution, up to 3 million
    answers. It is about other levels of all factors, and right for normal effects: where most
    answers are 0, or few are yes, such intervals hold in 65 to 85 % of studies. The latent scale
    has its residual's variance fixed, at 1 (probit) or :math:`\pi^2/3` (logit). Its variances are
    by maximum likelihood with Laplace's approximation, which makes those of few raters too small;
    intervals are by the delta method, and none where a variance is 0.

    Raises
    ------
    InputError
        When a factor is unknown or has one level, the answers have no order, or the levels of all
        factors but the largest are more than 4,000 in all.

    References
    ----------
    Bates et al. (2015), Journal of Statistical Software 67. McGraw and Wong (1996), Psychological
    Methods 1. Brennan (2001), Generalizability Theory. Searle, Casella and McCulloch (1992),
    Variance Components. Hedeker and Gibbons (1994), Biometrics 50, for ordered categories. Gelman
    (2006), Bayesian Analysis 1, for the priors.

    The posterior has independent half-Cauchy priors on all standard deviations, whose scale is half
    the standard deviation of the answers (Gelman 2006). It is integrated numerically, without
    sampling. Of 100 simulated panels of 3 raters and 30 stimuli each, in which the standard
    deviation of raters was 0.3, 0.7 and 1.5 of that of stimuli, 95 % intervals of the variance of
    raters held in 99, 98 and 95, of the agreement of single ratings in 94, 94 and 97. REML said of
    29, 12 and 1 of them that raters do not differ.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> stimulus, rater = (part.ravel() for part in np.indices((40, 6)))
    >>> value = rng.normal(0, 2, 40)[stimulus] + rng.normal(0, 1, 6)[rater] + rng.normal(0, 1, 240)
    >>> r = Ratings({"stimulus": stimulus, "rater": rater, "value": value}, scale="interval")
    >>> found = variance_components(r)
    >>> found.to_frame().select("factor", "value").rows()[0][0]
    'stimulus'
    >>> round(found.to_frame("reliability")["value"][0], 1)
    0.8
    """
    check_confidence(confidence)
    check_link(link)
    check_choice("estimator", estimator, get_args(Estimator), "estimator")
    factors = usual_factors(ratings) if factors is None else factors
    if estimator == "posterior" and (link != "identity" or len(factors) > MOST_FACTORS):
        raise InputError(
            f"estimator posterior takes the link identity and at most {MOST_FACTORS} factors; "
            f"got {link}, {plural(len(factors), 'factor')}"
        )
    check_choice("interval", interval, get_args(ComponentInterval))
    check_choice("target", target, get_args(Target))
    by_moments = interval == "jackknife" and estimator == "reml" and link == "identity"
    if target not in ("both", "sample") and not by_moments:
        raise InputError(
            f"target {target!r}: expected it with {option('interval', 'jackknife')} of restricted "
            "likelihood and the link identity; other intervals are about both"
        )
    facets = facets_of(factors)
    studies = decision_studies(k, facets)
    parts: list[tuple[MixedDesign, Components | None]] = [
        fitted(design, link) if estimator == "reml" else _posterior(design)
        for design in designs(ratings, factors, everyone=everyone, what="variance components")
    ]
    found = stimulus_clusters(ratings, cluster if by_moments else "none")
    by_fit = None if by_moments or target == "sample" else confidence
    rows, means = list[dict[str, Any]](), list[dict[str, Any]]()
    for design, fit in parts:
        coefficients = coefficients_of(design, factors, studies)
        about = {"label": design.name, **_about(design, fit, intervals=by_fit is not None)}
        own = list(component_rows(design, fit, factors, by_fit))
        of_means = [
            {**about, "se": np.nan, "target": "both", **row}
            for row in reliability_rows(fit, coefficients, by_fit)
        ]
        if by_moments and fit is not None and target != "sample":
            left_out = LeftOutComponents(design, fit, factors, coefficients)
            clusters = found.on(design.frame[STIMULUS].unique().sort().to_list())
            _put_intervals(
                own, of_means, left_out.intervals(target, confidence, clusters), fit, confidence
            )
        rows += own
        means += of_means
    components = components_table(rows)
    keys = ("label", "coefficient", *map(column_of, facets))
    reliability = estimates_table(
        "reliability",
        RELIABILITY,
        means,
        keys,
        {},
        (*map(Key, keys), Value(decimals=2), Interval()),
        notes=(KINDS,),
    )
    return Result(
        (components, reliability),
        tuple(_sentences(components.frame, reliability.frame, facets, link)),
        figures=(
            Figure(
                "variance_shares",
                "intervals",
                "components",
                SHARES_TITLE,
                SHARES_FIGURE,
                options={"value_name": "variance", "limits": (0.0, None)},
            ),
        ),
        notes=(
            *_notes([design for design, _ in parts], link, estimator, interval),
            *found.notes_for(row["target"] for row in rows),
        ),
        settings={
            "factors": list(factors),
            "k": {name: list(n) for name, n in k.items()} if isinstance(k, Mapping) else list(k),
            "link": link,
            "estimator": estimator,
            "interval": interval,
            "target": target,
            "confidence": confidence,
        },
    )


def _put_intervals(
    rows: list[dict[str, Any]],
    means: list[dict[str, Any]],
    found: Estimates,
    fit: Components,
    confidence: float,
) -> None:
    """Put the intervals from leaving out stimuli and raters into rows."""
    own = [
        {name: getattr(one, name) for name in ("se", "low", "high", "target", "interval", "reason")}
        for _, one in found
    ]
    n = len(rows)
    for row, of_variance, of_share in zip(rows, own[:n], own[n : 2 * n], strict=True):
        row |= {"share_low": of_share["low"], "share_high": of_share["high"]}
        if row["factor"] == RESIDUAL or set(row["factor"].split(":")) <= {STIMULUS, RATER}:
            row |= of_variance
            continue
        # Leaving out stimuli and raters tells nothing of other sessions.
        row["low"], row["high"] = fit.variance_interval(row["factor"], confidence)
        row |= _interval(fit)
    for row, of_mean in zip(means, own[2 * n :], strict=True):
        row |= of_mean


def _posterior(design: MixedDesign) -> tuple[MixedDesign, Posterior | None]:
    return design, posterior(design.model()) if design.reason is None else None


def _about(design: MixedDesign, fit: Components | None, *, intervals: bool) -> dict[str, Any]:
    """How a value and its interval are made, counts, and why there is no value."""
    made: dict[str, Any] = {"interval": None, "reason": None}
    if fit is not None and intervals:
        made = _interval(fit)
    made["reason"] = design.reason or made["reason"]
    return {"statistic": "" if fit is None else fit.method, **made, **design.counts}


def _interval(fit: Components) -> dict[str, Any]:
    made = fit.interval_method
    if isinstance(made, Reason):
        return {"interval": None, "reason": made}
    return {"interval": made, "reason": None}


def component_rows(
    design: MixedDesign, fit: Components | None, factors: Sequence[str], confidence: float | None
) -> Iterator[dict[str, Any]]:
    """Give the variance of each factor and of the residual, with intervals where asked for."""
    for factor in (*factors, RESIDUAL):
        row = {
            "label": design.name,
            "factor": factor,
            "value": np.nan,
            "se": np.nan,
            "low": np.nan,
            "high": np.nan,
            "share": np.nan,
            "share_low": np.nan,
            "share_high": np.nan,
            "target": "both",
            "n_levels": design.value.size if factor == RESIDUAL else design.levels.get(factor),
            **_about(design, fit, intervals=confidence is not None),
        }
        if fit is not None:
            row |= {"value": fit.variance(factor), "share": fit.share(factor)}
            if confidence is not None:
                row["low"], row["high"] = fit.variance_interval(factor, confidence)
        yield row


def components_table(rows: Sequence[dict[str, Any]], *, intervals: bool = True) -> Table:
    """Declare the table of variances."""
    shares = dict.fromkeys(("share", "share_low", "share_high"), pl.Float64)
    extra = {**shares, "n_levels": pl.Int64}
    return estimates_table(
        "components",
        "Variance components.",
        rows,
        ("label", "factor"),
        extra,
        [column for column in _COLUMNS if intervals or "interval" not in column.kind],
        size=min((row["value"] for row in rows if row["value"] > 0), default=1.0),
    )


def _notes(
    parts: Sequence[MixedDesign], link: Link, estimator: Estimator, interval: ComponentInterval
) -> Iterator[str]:
    if interval == "likelihood" and estimator == "reml":
        for part in parts:
            skewed = far_from_normal(part.value)
            if skewed:
                yield skewed_answers(part.name, str(skewed))
    fewest = min(part.counts["n_raters"] for part in parts)
    if estimator == "reml" and link == "identity" and 2 < fewest < _FEW_RATERS:
        yield few_raters(fewest)


def _sentences(
    components: pl.DataFrame, reliability: pl.DataFrame, facets: Sequence[str], link: Link
) -> Iterator[str]:
    known = components.filter(pl.col("status") == "ok")
    n_labels = components["label"].n_unique()
    if known.is_empty():
        yield no_components(Reason.of_row(components["reason"][0]))
        return
    means = known.group_by("factor", maintain_order=True).agg(pl.col("share").mean())
    yield shares_text(dict(means.iter_rows()), n_labels, latent=link != "identity")
    if n_labels > 1:
        return
    agreement = reliability.filter(coefficient="agreement", status="ok")
    for row in agreement.sort("value", maintain_order=True).iter_rows(named=True):
        sizes = {facet: int(row[column_of(facet)]) for facet in facets}
        yield reliability_text(sizes, row["value"], row["low"], row["high"])
