"""Differences in level between conditions and groups, with stimuli and raters as random."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, product
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import check_confidence, holm
from affectlab.core.result import Result
from affectlab.core.tables import (
    Column,
    Count,
    Figure,
    Interval,
    Key,
    Number,
    PValue,
    Table,
    Value,
)
from affectlab.core.types import Floats
from affectlab.core.words import (
    file_part,
    joined,
)
from affectlab.ratings import Ratings, of_known_raters, stimulus_clusters
from affectlab.reliability.components.components import component_rows, components_table
from affectlab.reliability.components.cumulative_link import CumulativeSolution
from affectlab.reliability.components.designs import (
    CELL,
    RATER,
    STIMULUS,
    FittedModel,
    Link,
    MixedDesign,
    check_link,
    designs,
    estimates_table,
    fitted,
)
from affectlab.reliability.components.restricted_likelihood import FixedEffects, row_codes
from affectlab.reliability.components.terms import Attribute, FixedPart, term_names
from affectlab.reliability.components.wording import (
    CONTRASTS,
    CONTRASTS_HOLM,
    EFFECTS,
    EFFECTS_SIZE,
    MEANS,
    MEANS_FIGURE,
    TERMS,
    TERMS_HOLM,
    THRESHOLDS,
    inseparable,
    interaction_text,
    labels_text,
    latent_scale,
    levels_text,
    means_title,
    no_random_slope,
    no_test,
    population_text,
    random_slope,
    slope_text,
    test_text,
)

_Combination: TypeAlias = tuple[dict[str, str], Floats]
"""What a combination of fixed effects is called, by keys, and its weights."""
_ROUNDING = 1e-12
_MOST_USUAL = 1000
"""Levels of factors, beside the largest, up to which a factor is added by itself."""
_TESTED = {"t": pl.Float64, "df": pl.Float64, "p": pl.Float64}
_ESTIMATED: tuple[Column, ...] = (
    Value(),
    Interval(),
    Number("se", "SE", spare=True),
    Number("df", decimals=1),
)
_TERMS: tuple[Column, ...] = (
    Key("label"),
    Key("term"),
    Value(head="F"),
    Count("df"),
    Number("df_error", "error df", decimals=1),
    PValue("p"),
    PValue("p_holm", "p (Holm)"),
)


@dataclass(frozen=True, eq=False)
class _FittedEffects:
    """The model of one label; nothing but its design where there is none."""

    design: MixedDesign
    part: FixedPart | None = None
    fit: FittedModel | None = None
    estimates: FixedEffects | None = None


@of_known_raters
def mixed_model(
    ratings: Ratings,
    *,
    fixed: Sequence[str],
    factors: Sequence[str] | None = None,
    link: Link = "identity",
    everyone: bool = False,
    confidence: float = 0.95,
) -> Result:
    r"""Test whether ratings differ in level between conditions or groups.

    Such as whether women's faces are rated higher. Whether a model or a person errs more for one
    group is asked with :func:`~affectlab.evaluation.fairness` (``affectlab evaluate fairness``).

    Other raters would have given other ratings of other stimuli, and answers to one stimulus, or of
    one rater, are alike. So each label has a linear mixed model, in which attributes of stimuli,
    raters or trials are fixed, stimuli and raters random:

    .. math:: y = X\beta + u_\text{stimulus} + u_\text{rater} + \dots + e

    It is fitted by restricted maximum likelihood, with any gaps. Categories have sum contrasts and
    numbers are centred, so that each term is tested beside all others (type III). Degrees of
    freedom are those of Satterthwaite,

    .. math:: \nu = \frac{2\,(c'Vc)^2}{g' A g}, \quad g = \frac{\partial\, c'Vc}{\partial \theta},

    with the covariance V of the fixed effects, a combination c of them, and the covariance A of the
    parameters :math:`\theta` of the variances: a condition that differs between 20 stimuli has some
    18, not thousands.

    Parameters
    ----------
    ratings
        Ratings on scales with an order. Main trials count; where ``stimulus:rater`` is a factor,
        repeats count, too.
    fixed
        Attributes whose effects are tested: columns of the stimuli, raters or answers, such as
        ``condition``; ``race*gender`` stands for both and their interaction. Columns of numbers
        have a slope, all others are categories.
    factors
        Random factors, as in ``variance_components``: ``stimulus``, ``rater``, ``session``, another
        column, and combinations such as ``stimulus:rater`` or ``rater:condition``. By default
        stimuli, raters, the actors, films and the like that stimuli belong to, as intervals of
        coefficients take them, and what differs between these: ``rater:condition`` of a category
        that changes within raters, ``stimulus:group`` of one that changes within stimuli,
        ``actor:condition`` of one that does within actors (Barr et al. 2013), where they have two
        answers or more on average and at most 1,000 levels beside the largest factor; of ordered
        categories (`link`) only stimuli and raters. A note says so.
    link
        ``identity``: answers are quantities. ``probit``, ``logit``: answers are ordered categories,
        cut from a latent scale with normal or logistic residual (cumulative link mixed model), on
        which means and effects are.
    everyone
        Take models in, too; without it only people where there are any.
    confidence
        Coverage of the intervals; terms are called different where p is at most the rest to 1.

    Returns
    -------
    Result
        By ``label``: ``terms``, with the F test of each ``term`` (``value``, ``df``, ``df_error``,
        ``p``, ``p_holm`` over labels); ``means``, estimated at each ``level`` of terms that are
        categories; ``contrasts``, differences of pairs of levels (``a`` - ``b``, of interactions
        ``at`` each level of the other attribute), ``p_holm`` over the pairs of a term; ``effects``;
        and ``components``, the variances of the random factors (``variance_components`` has
        intervals). All but the last have ``se``,
        ``t``, ``df`` and ``p`` beside ``value``, ``low`` and ``high``.

    Of ordered categories degrees of freedom are those of containment: levels of the random factor
    within which an effect is constant, less the effects that are. Errors of maximum likelihood, too
    small where many effects are taken out of few levels, are multiplied by the root of levels over
    degrees of freedom. Of simulated studies without an effect, with five answers, so many had p at
    most .05: in two conditions of 20 stimuli and 5 raters 5 % (Wald's test: 8 %), of 30 and 10 5 %
    (6.5 %), with five other attributes of these 30 stimuli 6 % (9 %), in two groups of 12 raters of
    30 stimuli 6 % (10 %). Tests of likelihood ratios were between.

    An effect that differs from rater to rater, of an attribute that changes within raters, has to
    have the factor ``rater:condition`` beside ``rater`` (and ``stimulus:kind``, of an attribute of
    raters), as it has by default: without it its test is about these raters, and notes say so. Of
    simulated studies of rare or zero-heavy answers .89 to .92 of the intervals held without it, and
    .93 to .96 with it (``python -m benchmarks.field_coverage --statistics "mixed model"``).

    Raises
    ------
    InputError
        When an attribute or factor is unknown or empty for some answers, an attribute is a random
        factor, too, has more than 50 categories, or the answers have no order.

    References
    ----------
    Satterthwaite (1946), Biometrics Bulletin 2. Fai and Cornelius (1996), Journal of Statistical
    Computation and Simulation 54. Kuznetsova, Brockhoff and Christensen (2017), Journal of
    Statistical Software 82. Barr et al. (2013), Journal of Memory and Language 68. Holm (1979),
    Scandinavian Journal of Statistics 6.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> stimulus, rater = (part.ravel() for part in np.indices((40, 6)))
    >>> value = rng.normal(0, 1, 40)[stimulus] + rng.normal(0, 1, 6)[rater] + rng.normal(0, 1, 240)
    >>> r = Ratings({"stimulus": stimulus, "rater": rater, "value": value + 2 * (stimulus % 2),
    ...              "condition": np.where(stimulus % 2, "loud", "soft")}, scale="interval")
    >>> result = mixed_model(r, fixed=["condition"])
    >>> [round(x, 1) for x in result.to_frame().select("value", "df", "df_error").row(0)]
    [38.8, 1, 33.6]
    >>> result.to_frame("contrasts").select("a", "b").row(0)
    ('loud', 'soft')
    """
    check_confidence(confidence)
    check_link(link)
    names = term_names(fixed)
    attributes = [name for (name, *more) in names if not more]
    units: tuple[str, ...] = (STIMULUS, RATER)
    if factors is None and link == "identity":
        drawn = stimulus_clusters(ratings).column
        units = (*units, drawn) if drawn and drawn not in attributes else units
    wanted = units if factors is None else factors
    both = sorted({*attributes} & {*wanted})
    if both:
        raise InputError(f"fixed: {joined(both)} cannot be a random factor, too")
    arranged = partial(designs, ratings, everyone=everyone, what="a mixed model")
    made = list(arranged(wanted, attributes))
    if factors is None and link == "identity" and (more := _differing(made, attributes, units)):
        wanted = (*wanted, *more)
        made = list(arranged(wanted, attributes))
    factors = wanted
    fits = [_fitted(design, names, link) for design in made]
    # Profiles of variances take far longer than tests, and are no question of this function.
    components = [row for one in fits for row in component_rows(one.design, one.fit, factors, None)]
    rows = [row for one in fits for row in _term_rows(one, names)]
    extra = {"df": pl.Int64, "df_error": pl.Float64, "p": pl.Float64}
    terms = estimates_table("terms", TERMS, rows, ("label", "term"), extra, _TERMS)
    terms = replace(terms, frame=_with_holm(terms.frame, "term"), notes=(TERMS_HOLM,))

    def table(
        name: str,
        caption: str,
        keys: Sequence[str],
        of: Callable[[FixedPart], list[_Combination]],
        columns: Sequence[Column] = (*_ESTIMATED, Number("t", spare=True), PValue("p")),
    ) -> Table:
        rows = [row for one in fits for row in _tested(one, of, confidence)]
        heads = (*(Key(key) for key in ("label", *keys)), *columns)
        return estimates_table(name, caption, rows, ("label", *keys), _TESTED, heads)

    means = table("means", MEANS, ("term", "level"), _means, _ESTIMATED)
    contrasts = table("contrasts", CONTRASTS, ("term", "at", "a", "b"), _contrasts)
    contrasts = replace(
        contrasts,
        frame=_with_holm(contrasts.frame, "label", "term"),
        columns=(*contrasts.columns, PValue("p_holm", "p (Holm)")),
        notes=(CONTRASTS_HOLM,),
    )
    effects = replace(table("effects", EFFECTS, ("term", "level"), _effects), notes=(EFFECTS_SIZE,))
    thresholds = [_thresholds(fits, confidence)] if link != "identity" else []
    return Result(
        (
            terms,
            means,
            contrasts,
            effects,
            components_table(components, intervals=False),
            *thresholds,
        ),
        tuple(_sentences(terms.frame, means.frame, effects.frame, 1 - confidence)),
        figures=tuple(_figures(means.frame)),
        notes=tuple(_notes(fits, factors, link)),
        settings={
            "fixed": list(fixed),
            "factors": list(factors),
            "link": link,
            "confidence": confidence,
        },
    )


def _differing(
    made: Sequence[MixedDesign], attributes: Sequence[str], units: Sequence[str]
) -> tuple[str, ...]:
    """Name what differs between raters, stimuli or clusters in effects that change within them."""
    found = dict[str, None]()
    for design, name, unit in product(made, attributes, reversed(units)):
        frame = design.frame
        if not frame.height or frame[name].dtype.is_numeric():
            continue
        groups = frame.select(unit, name).n_unique()
        # Of attributes that go together one factor is enough.
        alike = any(
            frame.select(unit, other, name).n_unique() == groups
            for other in attributes
            if f"{unit}:{other}" in found and other != name
        )
        sizes = [*design.levels.values(), groups]
        few = groups <= frame.height / 2 and sum(sizes) - max(sizes) <= _MOST_USUAL
        if few and not alike and _changes_within(frame, unit, name):
            found[f"{unit}:{name}"] = None
    return tuple(found)


def _changes_within(frame: pl.DataFrame, unit: str, attribute: str) -> bool:
    return frame.select(unit, attribute).n_unique() > frame[unit].n_unique()


def _fitted(design: MixedDesign, names: Sequence[tuple[str, ...]], link: Link) -> _FittedEffects:
    if design.reason is not None:
        return _FittedEffects(design)
    part = FixedPart.of(design.frame, names)
    single = next((one for one in part.attributes if one.n_distinct < 2), None)
    if single is not None:
        return _FittedEffects(design.undefined(Cause.FEWER, least=2, of=f"values of {single.name}"))
    columns = part.columns
    patterns = columns[np.unique(row_codes(columns), return_index=True)[1]]
    if np.linalg.matrix_rank(np.insert(patterns, 0, 1.0, axis=1)) < part.n_fixed:
        return _FittedEffects(design.undefined(Cause.INSEPARABLE_EFFECTS))
    if alias := _alias(design, part):
        return _FittedEffects(design.undefined(Cause.CONFOUNDED, of=alias))
    if design.has_cells and _change_within_cells(design, part.attributes):
        return _FittedEffects(design.undefined(Cause.CHANGES_WITHIN, of=CELL))
    if design.value.size <= part.n_fixed or _explained(design.value, columns):
        return _FittedEffects(design.undefined(Cause.NO_RESIDUAL))
    design, fit = fitted(design, link, columns)
    if fit is None:
        return _FittedEffects(design)
    return _FittedEffects(design, part, fit, fit.estimates())


def _alias(design: MixedDesign, part: FixedPart) -> str:
    """Say that fixed effects are all in which the levels of a random factor differ, if so.

    The variance of such a factor and they cannot be separated: what they explain between its
    levels leaves none over.
    """
    columns = np.insert(part.columns, 0, 1.0, axis=1)
    for factor in design.factors:
        n = np.bincount(factor.level, minlength=factor.n_levels)
        mean = np.stack([np.bincount(factor.level, one) / n for one in columns.T], axis=1)
        between = part.n_fixed - np.linalg.matrix_rank(columns - mean[factor.level])
        if between >= factor.n_levels:
            own = design.frame[factor.name]
            names = [
                one.name
                for one in part.attributes
                if pl.DataFrame([own, design.frame[one.name]]).n_unique() == factor.n_levels
            ]
            return inseparable(names, factor.name, factor.n_levels)
    return ""


def _change_within_cells(design: MixedDesign, attributes: Sequence[Attribute]) -> bool:
    cell = design.frame.select(STIMULUS, RATER)
    with_them = cell.with_columns(design.frame[one.name] for one in attributes)
    return with_them.n_unique() > cell.n_unique()


def _explained(value: Floats, columns: Floats) -> bool:
    """Whether fixed effects alone give every answer."""
    matrix = np.insert(columns, 0, 1.0, axis=1)
    rest = value - matrix @ np.linalg.lstsq(matrix, value, rcond=None)[0]
    return bool((rest**2).sum() <= _ROUNDING * ((value - value.mean()) ** 2).sum())


def _term_rows(one: _FittedEffects, names: Sequence[tuple[str, ...]]) -> Iterator[dict[str, Any]]:
    from scipy.special import chdtrc, fdtrc

    for place, parts in enumerate(names):
        row: dict[str, Any] = {
            "label": one.design.name,
            "term": ":".join(parts),
            "value": np.nan,
            "statistic": "",
            "df": None,
            "df_error": np.nan,
            "p": np.nan,
            **one.design.counts,
            "reason": one.design.reason,
        }
        if one.part is not None and one.estimates is not None:
            term = one.part.terms[place]
            rows = np.eye(one.part.n_fixed)[term.start : term.start + term.width]
            value, freedom = one.estimates.joint(rows)
            p = float(
                fdtrc(term.width, freedom, value)
                if np.isfinite(freedom)
                else chdtrc(term.width, term.width * value)
            )
            row |= {
                "value": value,
                "statistic": one.estimates.method,
                "df": term.width,
                "df_error": freedom,
                "p": p,
            }
        yield row


def _with_holm(frame: pl.DataFrame, *family: str) -> pl.DataFrame:
    families = frame.select(pl.struct(family).rank("dense")).to_series().to_numpy()
    # Without a row there is no column, either.
    p = frame["p"].to_numpy() if frame.height else np.empty(0)
    return frame.with_columns(p_holm=pl.Series(holm(p, families)))


def _tested(
    one: _FittedEffects, of: Callable[[FixedPart], list[_Combination]], confidence: float
) -> Iterator[dict[str, Any]]:
    """Give combinations of fixed effects with their errors, intervals and t tests."""
    from scipy.special import stdtr, stdtrit

    if one.estimates is None or one.part is None or not (combinations := of(one.part)):
        return
    value, error, freedom = one.estimates.combined(np.array([row for _, row in combinations]))
    t = value / error
    p = 2 * stdtr(freedom, -np.abs(t))
    half = stdtrit(freedom, (1 + confidence) / 2) * error
    for k, (keys, _) in enumerate(combinations):
        yield {
            "label": one.design.name,
            **keys,
            "value": value[k],
            "se": error[k],
            "low": value[k] - half[k],
            "high": value[k] + half[k],
            "statistic": one.estimates.method,
            "t": t[k],
            "df": freedom[k],
            "p": p[k],
            **one.design.counts,
        }


def _thresholds(fits: Sequence[_FittedEffects], confidence: float) -> Table:
    """Give where answers change on the latent scale, 0 at the mean of the thresholds."""
    from scipy.special import ndtri

    rows = []
    for one in fits:
        if not isinstance(one.fit, CumulativeSolution):
            continue
        value, error = one.fit.centred_thresholds()
        half = ndtri((1 + confidence) / 2) * error
        for k, (below, above) in enumerate(pairwise(one.fit.model.values)):
            rows.append(
                {
                    "label": one.design.name,
                    "between": f"{below} | {above}",
                    "value": value[k],
                    "se": error[k],
                    "low": value[k] - half[k],
                    "high": value[k] + half[k],
                    "statistic": one.fit.method,
                    **one.design.counts,
                }
            )
    columns = (Key("label"), Key("between"), Value(), Interval(), Number("se", "SE", spare=True))
    return estimates_table("thresholds", THRESHOLDS, rows, ("label", "between"), {}, columns)


def _means(part: FixedPart) -> list[_Combination]:
    return [
        ({"term": term.name, "level": _level(levels)}, row)
        for term in part.terms
        if term.is_categorical
        for levels, row in part.means(term).items()
    ]


def _contrasts(part: FixedPart) -> list[_Combination]:
    return [
        ({"term": term.name, "at": at, "a": a, "b": b}, row)
        for term in part.terms
        if term.is_categorical
        for a, b, at, row in part.contrasts(term)
    ]


def _effects(part: FixedPart) -> list[_Combination]:
    mean = np.eye(1, part.n_fixed)[0]
    return [({"term": "mean", "level": ""}, mean)] + [
        ({"term": term.name, "level": _level(levels)}, row)
        for term in part.terms
        for levels, row in term.effects(part.n_fixed)
    ]


def _level(levels: Sequence[str]) -> str:
    return ", ".join(level for level in levels if level)


def _figures(means: pl.DataFrame) -> Iterator[Figure]:
    labels = means["label"].unique(maintain_order=True).to_list()
    for term in means["term"].unique(maintain_order=True):
        # Of one label nobody needs to be told which.
        rows = {"term": [term]} | ({"label": labels} if len(labels) == 1 else {})
        yield Figure(
            f"means_{file_part(term)}",
            "intervals",
            "means",
            means_title(term.split(":")),
            MEANS_FIGURE,
            options={"value_name": "estimated mean", "rows": rows},
        )


def _sentences(
    terms: pl.DataFrame, means: pl.DataFrame, effects: pl.DataFrame, alpha: float
) -> Iterator[str]:
    known = terms.filter(pl.col("status") == "ok")
    if known.is_empty():
        yield no_test(Reason.of_row(terms["reason"][0]))
        return
    for name in known["term"].unique(maintain_order=True):
        rows = known.filter(term=name)
        if terms["label"].n_unique() > 1:
            below = rows.filter(pl.col("p_holm") <= alpha)["label"].to_list()
            yield labels_text(name, below, rows.height)
            continue
        row = rows.row(0, named=True)
        df_error = row["df_error"] if np.isfinite(row["df_error"]) else None
        test = test_text(row["df"], df_error, row["value"], row["p"])
        yield _sentence(
            name, test, row["p"] <= alpha, means.filter(term=name), effects.filter(term=name)
        )


def _sentence(
    name: str, test: str, different: bool, means: pl.DataFrame, effects: pl.DataFrame
) -> str:
    first, _, second = name.partition(":")
    if second:
        return interaction_text(first, second, test, different=different)
    if means.is_empty():
        return slope_text(first, effects.row(0, named=True), test, different=different)
    order = means.sort("value", descending=True).select("level", "value")
    return levels_text(first, order.row(0), order.row(-1), test, different=different)


def _notes(fits: Sequence[_FittedEffects], factors: Sequence[str], link: Link) -> Iterator[str]:
    if link != "identity":
        yield latent_scale(probit=link == "probit")
    plurals = {RATER: "raters", STIMULUS: "stimuli"}
    population = [many for one, many in plurals.items() if one in factors]
    if population:
        yield population_text(population)
    for one in fits:
        for attribute in () if one.part is None else one.part.attributes:
            for unit, many in plurals.items():
                by = f"{unit}:{attribute.name}"
                if by in factors:
                    yield random_slope(attribute.name, many, by)
                elif (
                    unit in factors
                    and attribute.levels
                    and _changes_within(one.design.frame, unit, attribute.name)
                ):
                    yield no_random_slope(attribute.name, many, by)
        if one.part is not None:
            return
