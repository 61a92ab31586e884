"""How severe raters are, how well they fit, and for which groups of stimuli they differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choice, name_hint
from affectlab.core.facts import Cause, Reason, reason_type
from affectlab.core.inference import check_confidence, holm
from affectlab.core.result import Result
from affectlab.core.tables import Column, Count, Figure, Interval, Key, Number, PValue, Table, Value
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import joined, plural, shown, some
from affectlab.ratings import ROW_COLUMNS, Ratings, of_known_raters, people_or_all
from affectlab.reliability.components import (
    RATER,
    STIMULUS,
    MixedDesign,
    designs,
    estimates_table,
)
from affectlab.reliability.severity.conditional import (
    ConditionalFit,
    OrderedAnswers,
    Weights,
    fit_conditional,
    n_groups,
    telling,
)
from affectlab.reliability.wording import (
    ABOVE_ZERO,
    FIT,
    IN_TWO_GROUPS,
    NO_GROUPS,
    RASCH,
    RASCH_THRESHOLDS,
    SEVERAL_RATERS,
    SEVERAL_STIMULI,
    SEVERITIES,
    SEVERITY_FIGURE,
    STIMULI,
    WITH_SEVERITY,
    by_group_text,
    chi_squared_text,
    differences_caption,
    misfit_text,
    models_unused,
    no_infit,
    not_an_attribute,
    severity_text,
    tests_caption,
)

Thresholds: TypeAlias = Literal["common", "own"]

_MOST_CATEGORIES = 20
_MOST_CELLS = 4000
"""Raters (in each group) times categories, of which each pair takes memory."""
_MOST_GROUPS = 20
_CERTAIN = 1e-9
"""Variance of an answer, given the sum, below which it tells nothing of fit."""
_RATERS: tuple[Column, ...] = (
    Key("label"),
    Key("rater"),
    Value(head="severity"),
    Interval(),
    Number("se", "SE", spare=True),
    Number("infit"),
    PValue("infit_p", "p (infit)"),
    Number("outfit"),
    PValue("outfit_p", "p (outfit)", spare=True),
    Count("n_ratings", "answers"),
)
_TESTS: tuple[Column, ...] = (
    Key("label"),
    Key("term"),
    Value(head="χ²", decimals=1),
    Count("df"),
    PValue("p"),
    Number("reliability"),
)
_THRESHOLDS: tuple[Column, ...] = (
    Key("label"),
    Key("rater"),
    Key("between"),
    Value(),
    Interval(),
    Number("se", "SE", spare=True),
)
_DIFFERENCES: tuple[Column, ...] = (
    Key("label"),
    Key("rater"),
    Key("group"),
    Value(head="severity difference"),
    Interval(),
    Number("se", "SE", spare=True),
    PValue("p"),
    PValue("p_holm", "p (Holm)"),
)
_FIT = ("infit", "infit_p", "outfit", "outfit_p")
_NOTHING_TO_FIT = Reason(Cause.ALWAYS_FITS)
_FITTED = 1e-6
"""Distance of infit and outfit from 1 below which the parameters leave nothing to misfit."""
_NO_GROUPS = ("stimulus", "rater", "label", "value", *ROW_COLUMNS)
_CAN_GROUP = ("session",)
"""Columns of single answers that can be a group all the same."""


@of_known_raters
def rater_severity(
    ratings: Ratings,
    *,
    thresholds: Thresholds = "common",
    group: str | None = None,
    everyone: bool = False,
    confidence: float = 0.95,
) -> Result:
    r"""Estimate how severe each rater is, apart from which stimuli the rater has judged.

    In the many-facet Rasch model stimulus i gets category k rather than k - 1 from rater r with the
    log odds

    .. math:: \log \frac{P(x_{ir} = k)}{P(x_{ir} = k - 1)} = \theta_i - \lambda_r - \tau_{rk},

    where :math:`\lambda_r` is the severity of the rater (above 0: lower answers than the mean rater
    to the same stimuli) and :math:`\tau_{rk}` the thresholds, 0 on average. Severities and
    thresholds are estimated by conditional maximum likelihood, since the sum of the answers to a
    stimulus holds all that they tell of :math:`\theta_i`: given the sums nothing is assumed of how
    stimuli are distributed, raters may have judged any of them, and there is none of the bias of
    joint maximum likelihood, which grows as raters of a stimulus become fewer.

    Parameters
    ----------
    ratings
        Ratings on scales with an order and at most 20 levels in use. Main trials count.
    thresholds
        ``common``: raters differ in severity alone (rating scale model). ``own``: each has own
        thresholds (partial credit model), which takes raters who use both ends of the scale.
    group
        An attribute of the stimuli (or a column of answers), such as ``gender``: tests whether
        raters are more severe with some group than with others, beyond how the groups are rated
        (bias interaction).
    everyone
        Take models in, too; without it only people where there are any.
    confidence
        Coverage of the intervals.

    Returns
    -------
    Result
        Severities, thresholds and measures are in logits.

        - ``severities``, by ``label`` and ``rater``: ``value``, which is 0 on average over raters,
          ``se``, ``low``, ``high``; ``infit`` and ``outfit``, mean squares of residuals given the
          sum of the answers to the stimulus, with 1 where the rater is as the model says, more
          where the rater is noisier and less where the rater repeats what others say, and p of
          their difference from 1; ``fit_reason`` says why there is no fit. With few raters this
          test is conservative: with three, p is below .05 in under 2 % of raters who fit.
        - ``thresholds``, by ``label``, ``rater`` (``all`` where they are common) and ``between``.
        - ``tests``, by ``label`` and ``term``: Wald's test of equal severities, with
          ``reliability``, the share of the variance of severities that is not error; with `group`
          the likelihood-ratio test of ``rater:group``.
        - ``differences``, with `group`, by ``label``, ``rater`` and ``group``: how much more severe
          the rater is with this group than with all, beside the other raters; ``p_holm`` is over
          the rows of a label.
        - ``stimuli``, by ``label`` and ``stimulus``: ``value``, the weighted likelihood estimate of
          :math:`\theta_i` with ``se``; ``fair``, the mean answer to be expected of all raters, in
          units of the scale, and ``mean``, the mean of the answers it got.

    Intervals are normal, about these raters on other stimuli. Raters whose answers to all stimuli
    that tell are at one end of the scale have no finite severity, and a status says so. Where
    raters use the scale with differing slopes, infit says so; intervals then hold less often.
    Covariances of answers to a stimulus with more than 20 raters are approximate: they take the sum
    as normal.

    Raises
    ------
    InputError
        When answers have no order or more than 20 levels, or the group is unknown, no attribute
        that can be a group, empty for some answers, or belongs to raters.

    References
    ----------
    Andrich (1978), Psychometrika 43; Masters (1982), Psychometrika 47; Linacre (1989), Many-Facet
    Rasch Measurement; Andersen (1973), Psychometrika 38, for the conditional tests; Christensen and
    Kreiner (2013) in Rasch Models in Health, for conditional fit; Warm (1989), Psychometrika 54.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> stimulus, rater = (part.ravel() for part in np.indices((200, 4)))
    >>> severity = np.array([-1, 0, 0, 1])
    >>> above = rng.logistic(rng.normal(0, 1, 200)[stimulus] - severity[rater])
    >>> ratings = Ratings({"stimulus": stimulus, "rater": rater, "value": above > 0},
    ...                   scale="binary")
    >>> rater_severity(ratings).to_frame()["value"].round(1).to_list()
    [-1.1, 0.1, 0.2, 0.8]
    """
    check_confidence(confidence)
    check_choice("thresholds", thresholds, get_args(Thresholds), "thresholds")
    attributes = [] if group is None else [group]
    panel = ratings if everyone else people_or_all(ratings)
    if group is not None:
        _check_attribute(panel, group)
    made = designs(
        panel,
        (STIMULUS, RATER),
        attributes,
        everyone=True,
        what="severities of raters",
        option="group",
    )
    panels = [_panel(design, thresholds == "own", group) for design in made]
    severities = estimates_table(
        "severities",
        SEVERITIES,
        [row for one in panels for row in one.severity_rows(confidence)],
        ("label", "rater"),
        dict.fromkeys(_FIT, pl.Float64) | {"fit_reason": reason_type()},
        _RATERS,
        notes=(ABOVE_ZERO, FIT),
    )
    tests = estimates_table(
        "tests",
        tests_caption(group),
        [row for one in panels for row in one.test_rows()],
        ("label", "term"),
        {"df": pl.Int64, "p": pl.Float64, "reliability": pl.Float64},
        _TESTS,
    )
    cut = estimates_table(
        "thresholds",
        RASCH_THRESHOLDS,
        [row for one in panels for row in one.threshold_rows(confidence)],
        ("label", "rater", "between"),
        {},
        _THRESHOLDS,
    )
    tables = [severities, tests, cut]
    if group is not None:
        rows = [row for one in panels for row in one.difference_rows(confidence)]
        table = estimates_table(
            "differences",
            differences_caption(group),
            rows,
            ("label", "rater", "group"),
            {"p": pl.Float64},
            _DIFFERENCES,
        )
        adjusted = holm([row["p"] for row in rows], [row["label"] for row in rows])
        tables.append(replace(table, frame=table.frame.with_columns(p_holm=pl.Series(adjusted))))
    tables.append(_stimuli(panels))
    return Result(
        tuple(tables),
        tuple(sentence for one in panels for sentence in one.sentences(tables, 1 - confidence)),
        (
            Figure(
                "severities",
                "intervals",
                "severities",
                "Severity of raters",
                SEVERITY_FIGURE,
                options={"value_name": "severity (logits)", "lines": [(0.0, "mean rater")]},
            ),
        ),
        notes=(*_not_used(ratings, panel), *(note for one in panels for note in one.notes())),
        settings={
            "thresholds": thresholds,
            "group": group,
            "everyone": everyone,
            "confidence": confidence,
        },
    )


@dataclass(frozen=True, eq=False)
class _Model:
    """A fitted model of some answers, and what its parameters say."""

    answers: OrderedAnswers
    """Those that tell, of raters who have codes without gaps."""
    raters: Ints
    """Codes of these raters among all, shape (raters,)."""
    levels: Floats
    """Values of the scale that categories stand for."""
    fit: ConditionalFit
    severity: Floats
    """Combinations of parameters that are the severities, shape (raters, parameters)."""
    thresholds: tuple[tuple[int, int, Floats], ...]
    """Rater (-1 of all), category, and the combination of parameters that is its threshold."""

    @cached_property
    def severities(self) -> tuple[Floats, Floats]:
        """Value and standard error."""
        return self.fit.combined(self.severity)

    @cached_property
    def mean_squares(self) -> dict[str, Floats]:
        """Infit and outfit of each rater with p of their difference from 1."""
        from scipy.special import ndtr

        answers, chance = self.answers, self.fit.chance
        k = np.arange(answers.n_categories)
        mean = chance @ k
        apart = k - mean[:, None]
        variance, fourth = ((chance * apart**power).sum(axis=1) for power in (2, 4))
        tells = variance > _CERTAIN
        rater, variance, fourth = answers.rater[tells], variance[tells], fourth[tells]
        square = (answers.category[tells] - mean[tells]) ** 2
        n = answers.n_raters

        def of_rater(x: Floats) -> Floats:
            return np.asarray(np.bincount(rater, x, n), dtype=np.float64)

        found = dict[str, Floats]()
        with np.errstate(divide="ignore", invalid="ignore"):
            for name, value, error in (
                (
                    "infit",
                    of_rater(square) / of_rater(variance),
                    np.sqrt(of_rater(fourth - variance**2)) / of_rater(variance),
                ),
                (
                    "outfit",
                    of_rater(square / variance) / of_rater(variance / variance),
                    np.sqrt(of_rater(fourth / variance**2 - 1)) / of_rater(variance / variance),
                ),
            ):
                found |= {name: value, f"{name}_p": 2 * ndtr(-np.abs(value - 1) / error)}
        # As of two raters who say yes or no, whose severities reproduce how often each says it.
        exact = np.abs([found["infit"] - 1, found["outfit"] - 1]).max(axis=0) < _FITTED
        return {name: np.where(exact, np.nan, value) for name, value in found.items()}


@dataclass(frozen=True, eq=False)
class _LabelSeverity:
    """The answers to a label, and the models of them."""

    design: MixedDesign
    raters: tuple[str, ...] = ()
    of_rater: tuple[Reason | None, ...] = ()
    """Status of each rater."""
    n_of_rater: tuple[int, ...] = ()
    model: _Model | None = None
    group: str = ""
    differences: _Differences | None = None
    dropped: tuple[str, ...] = ()
    """What was left out, in words."""

    def severity_rows(self, confidence: float) -> Iterator[dict[str, Any]]:
        """Give a row for each rater; one for the label where nothing is known of any."""
        none = dict.fromkeys(_FIT, np.nan)
        of = {name: place for place, name in enumerate(self._modelled)}
        for rater, reason, n in zip(self.raters, self.of_rater, self.n_of_rater, strict=True):
            row: dict[str, Any] = {"label": self.design.name, "rater": rater}
            place = of.get(rater) if reason is None else None
            if place is None or self.model is None:
                row |= {"value": np.nan, "se": np.nan, "low": np.nan, "high": np.nan, **none}
            else:
                value, se = (part[place] for part in self.model.severities)
                row |= _normal(value, se, confidence)
                row |= {name: fit[place] for name, fit in self.model.mean_squares.items()}
            unfit = _NOTHING_TO_FIT if rater in self._always_fitting else reason
            fit_reason = None if unfit is None else asdict(unfit)
            yield row | {"fit_reason": fit_reason} | self._about(reason, n_ratings=n)

    @cached_property
    def _always_fitting(self) -> list[str]:
        """Raters with a severity whom the model fits whatever they answer."""
        if self.model is None:
            return []
        fits = np.isnan(self.model.mean_squares["infit"]) & ~np.isnan(self.model.severities[0])
        return [name for name, fit in zip(self._modelled, fits, strict=True) if fit]

    @property
    def _modelled(self) -> list[str]:
        return [] if self.model is None else [self.raters[code] for code in self.model.raters]

    def _about(self, reason: Reason | None, **counts: int) -> dict[str, Any]:
        return {
            "statistic": RASCH,
            "target": "stimuli",
            "n_items": self.design.counts["n_items"],
            "n_raters": len(self.raters),
            **counts,
            "reason": reason,
        }

    def test_rows(self) -> Iterator[dict[str, Any]]:
        """Test equal severities, and that they do not depend on the group."""
        from scipy.special import chdtrc

        known = self.model is not None and len(self.model.raters) > 1
        value, df, reliability = np.nan, None, np.nan
        if known and self.model is not None:
            usable = ~np.isnan(self.model.severities[0])
            rows = self.model.severity[usable]
            covariance = rows @ self.model.fit.covariance @ rows.T
            severity, se = (part[usable] for part in self.model.severities)
            df = len(severity) - 1
            if df > 0:
                value = float(severity @ np.linalg.pinv(covariance, hermitian=True) @ severity)
                spread = float(severity.var(ddof=1))
                # Errors about the mean of all are a little smaller than those of single severities.
                error = float((se**2).mean()) * len(severity) / df
                reliability = max(1 - error / spread, 0.0) if spread > 0 else 0.0
        terms = [("rater", value, df, reliability, self.design.reason)]
        if self.group:
            other = self.differences
            term = f"rater:{self.group}"
            if other is None or not other.df:
                why = self.design.reason if self.model is None else _NO_DIFFERENCES
                terms.append((term, np.nan, None, np.nan, why))
            else:
                terms.append((term, other.chi_squared, other.df, np.nan, None))
        for term, value, df, reliability, reason in terms:
            p = chdtrc(df, value) if df and not np.isnan(value) else np.nan
            own = {"label": self.design.name, "term": term, "value": value}
            own |= {"df": df, "p": float(p), "reliability": reliability}
            yield own | self._about(reason, n_ratings=self.design.counts["n_ratings"])

    def threshold_rows(self, confidence: float) -> Iterator[dict[str, Any]]:
        """Give thresholds, of all raters or of each."""
        if self.model is None:
            return
        levels = [f"{one:g}" for one in self.model.levels]
        names = list(pairwise(levels))
        rows = np.array([row for _, _, row in self.model.thresholds])
        if not rows.size:
            return
        for (rater, category, _), value, se in zip(
            self.model.thresholds, *self.model.fit.combined(rows), strict=True
        ):
            below, above = names[category - 1]
            yield {
                "label": self.design.name,
                "rater": "all" if rater < 0 else self._modelled[rater],
                "between": f"{below} | {above}",
                **_normal(value, se, confidence),
                **self._about(None, n_ratings=self.design.counts["n_ratings"]),
            }

    def difference_rows(self, confidence: float) -> Iterator[dict[str, Any]]:
        """Give how severity depends on the group."""
        from scipy.special import ndtr

        if self.differences is None:
            return
        for rater, group, value, se in self.differences.rows:
            yield {
                "label": self.design.name,
                "rater": self.raters[rater],
                "group": group,
                **_normal(value, se, confidence),
                "p": float(2 * ndtr(-abs(value) / se)) if se > 0 else np.nan,
                **self._about(None, n_ratings=self.design.counts["n_ratings"]),
            }

    def sentences(self, tables: Sequence[Table], alpha: float) -> Iterator[str]:
        """Say who is most severe, whether that is more than chance, and who does not fit."""
        name = self.design.name
        frames = {table.name: table.frame.filter(label=name) for table in tables}
        raters = frames["severities"].filter(pl.col("status") == "ok").sort("value")
        if raters.height < 2:
            yield f"{name}: {self.design.reason or _FEW_SEVERITIES}."
            return
        low, high = raters.row(0, named=True), raters.row(-1, named=True)
        test = frames["tests"].filter(term="rater").row(0, named=True)
        least, most = ((one["rater"], one["value"]) for one in (low, high))
        outcome = chi_squared_text(test["df"], test["value"], test["p"])
        yield severity_text(name, least, most, outcome, different=test["p"] <= alpha)
        p = holm(raters["infit_p"].to_numpy())
        for sign in (1, -1):
            odd = (p <= alpha) & (sign * (raters["infit"].to_numpy() - 1) > 0)
            if odd.any():
                names = raters.filter(pl.Series(odd))["rater"].to_list()
                yield misfit_text(name, names, noisier=sign > 0)
        if self.group:
            test = frames["tests"].filter(term=f"rater:{self.group}").row(0, named=True)
            if test["df"] is None:
                return
            pairs = frames["differences"].filter(pl.col("p_holm") <= alpha).height
            outcome = chi_squared_text(test["df"], test["value"], test["p"])
            yield by_group_text(name, self.group, outcome, pairs, different=test["p"] <= alpha)

    def notes(self) -> Iterator[str]:
        """Say what was left out."""
        for words in self.dropped:
            yield f"{self.design.name}: {words}"
        if some_fit := self._always_fitting:
            who = "any rater" if len(some_fit) == len(self.raters) else some(some_fit, 5)
            yield no_infit(self.design.name, who, str(_NOTHING_TO_FIT))


_FEW_SEVERITIES = Reason(Cause.FEWER, least=2, of=WITH_SEVERITY)
_NO_DIFFERENCES = Reason(Cause.FEWER, least=2, of=IN_TWO_GROUPS)


@dataclass(frozen=True, eq=False)
class _Differences:
    """How severities depend on the group."""

    chi_squared: float
    df: int
    rows: tuple[tuple[int, str, float, float], ...]
    """Code of a rater among all, group, value and standard error."""


def _normal(value: float, se: float, confidence: float) -> dict[str, float]:
    from scipy.special import ndtri

    half = float(ndtri((1 + confidence) / 2)) * se
    return {"value": value, "se": se, "low": value - half, "high": value + half}


def _panel(design: MixedDesign, own: bool, group: str | None) -> _LabelSeverity:
    raters = design.frame["rater"].unique(maintain_order=True).to_list()
    code = {name: k for k, name in enumerate(raters)}
    rater = np.array([code[name] for name in design.frame["rater"].to_list()], dtype=np.int64)
    n = tuple(np.bincount(rater, minlength=len(raters)).tolist()) if rater.size else ()
    panel = _LabelSeverity(
        design, tuple(raters), (design.reason,) * len(raters), n, group=group or ""
    )
    if group is not None and rater.size:
        _check_group(design, group)
    if design.reason is not None:
        return _undefined(panel, _why_not(design))
    levels, category = np.unique(design.value, return_inverse=True)
    cells = len(raters) * levels.size * (design.frame[group].n_unique() if group else 1)
    for found, most, what in (
        (levels.size, _MOST_CATEGORIES, "different answers"),
        (cells, _MOST_CELLS, "raters times answers" + (" times groups" if group else "")),
    ):
        if found > most:
            raise InputError(
                f"severities of {shown(design.name)}: {found:,} {what}; expected at most {most:,}"
            )
    stimulus = design.frame["stimulus"].rank("dense").to_numpy().astype(np.int64) - 1
    owner = rater if own else np.zeros_like(rater)
    answers = OrderedAnswers(stimulus, rater, category.reshape(-1).astype(np.int64), owner)
    kept = telling(answers)
    if not kept.any():
        return _undefined(panel, Reason(Cause.ALL_AT_ONE_END))
    part = answers.where(kept)
    if (groups := n_groups(part, ordered=False)) > 1:
        return _undefined(panel, Reason(Cause.SEPARATE_GROUPS, groups))
    if n_groups(part, ordered=True) > 1:
        return _undefined(panel, Reason(Cause.INFINITE_DISTANCE))
    model = _fitted(part, levels, own=own)
    if model is None:
        return _undefined(panel, Reason(Cause.NO_FINITE_SEVERITIES))
    reasons = _rater_reasons(answers, model, len(raters))
    dropped = []
    if extreme := [raters[k] for k in range(len(raters)) if k not in set(model.raters.tolist())]:
        dropped.append(f"without severity: {joined(map(repr, extreme[:8]))}")
    panel = replace(panel, of_rater=reasons, model=model, dropped=tuple(dropped))
    if group is None:
        return panel
    names = design.frame[group].cast(pl.String).to_list()
    return replace(panel, differences=_differences(answers, levels, names, own=own))


def _not_used(ratings: Ratings, panel: Ratings) -> Iterator[str]:
    if panel is not ratings:
        yield models_unused(ratings.n_raters - panel.n_raters)


def _why_not(design: MixedDesign) -> Reason | None:
    """Say why raters cannot be compared, where there is no design."""
    frame = design.frame
    if frame[RATER].n_unique() == 1:
        return Reason(Cause.ONLY_ONE, of=SEVERAL_RATERS)
    if frame[STIMULUS].n_unique() == 1:
        return Reason(Cause.ONLY_ONE, of=SEVERAL_STIMULI)
    if frame.height and np.ptp(design.value) == 0:
        return Reason(Cause.ALIKE_ANSWERS)
    apart = frame.group_by(STIMULUS).agg(pl.col("value").n_unique())["value"]
    if frame.height > apart.len() and (apart == 1).all():
        return Reason(Cause.RATERS_AGREE)
    apart = frame.group_by(RATER).agg(pl.col("value").n_unique())["value"]
    if frame.height > apart.len() and (apart == 1).all():
        return Reason(Cause.ONE_ANSWER_EACH)
    return design.reason


def _check_attribute(ratings: Ratings, group: str) -> None:
    """Refuse what is no attribute of stimuli or answers."""
    frame, stimuli = ratings.to_frame(), ratings.stimuli
    own = {name: frame[name] for name in frame.columns if name != RATER}
    own |= {name: stimuli[name] for name in stimuli.columns}
    can = [
        name
        for name, column in own.items()
        if (name not in _NO_GROUPS or name in _CAN_GROUP)
        and 2 <= column.drop_nulls().n_unique() <= _MOST_GROUPS
    ]
    known = {*own, *ratings.raters.columns}
    if group in known and (group not in _NO_GROUPS or group in _CAN_GROUP):
        return
    no_group = not_an_attribute(group)
    what = no_group if group in known else f"unknown attribute {group!r}"
    hint = name_hint(group, can) if can else NO_GROUPS
    raise InputError(f"group: {what}; {hint}")


def _check_group(design: MixedDesign, group: str) -> None:
    frame = design.frame
    n = frame[group].n_unique()
    if n < 2 or n > _MOST_GROUPS:
        raise InputError(
            f"group {group!r} has {plural(n, 'value')} in {shown(design.name)}; expected 2 to "
            f"{_MOST_GROUPS} groups"
        )
    if frame.select(RATER, group).n_unique() == frame[RATER].n_unique():
        raise InputError(
            f"group {group!r} is one for all answers of a rater: expected a column of stimuli or "
            f"answers; whether groups of raters differ in level is tested by mixed_model "
            f"(affectlab reliability mixed-model --fixed {group})"
        )


def _undefined(panel: _LabelSeverity, reason: Reason | None) -> _LabelSeverity:
    design = replace(panel.design, reason=reason)
    return replace(panel, design=design, of_rater=(reason,) * len(panel.raters))


def _rater_reasons(answers: OrderedAnswers, model: _Model, n: int) -> tuple[Reason | None, ...]:
    modelled = dict(zip(model.raters.tolist(), model.severities[0].tolist(), strict=True))
    last = answers.n_categories - 1
    made: list[Reason | None] = []
    for rater in range(n):
        given = answers.category[answers.rater == rater]
        if rater in modelled:
            unused = np.isnan(modelled[rater])
            made.append(Reason(Cause.ENDS_UNUSED) if unused else None)
        elif (given == 0).all() or (given == last).all():
            made.append(Reason(Cause.ONE_END))
        else:
            made.append(Reason(Cause.ONE_END_WHERE_INFORMATIVE))
    return tuple(made)


def _coded(codes: Ints) -> tuple[Ints, Ints]:
    """Give codes that occur, and codes without gaps."""
    there, code = np.unique(codes, return_inverse=True)
    return there, code.reshape(-1).astype(np.int64)


def _fitted(
    answers: OrderedAnswers,
    levels: Floats,
    *,
    own: bool,
    whose: Ints | None = None,
    sums_of_more: Floats | None = None,
) -> _Model | None:
    """Arrange the parameters, and fit; None where the likelihood has no maximum.

    Parameters
    ----------
    answers
        Those that tell; codes may have gaps.
    levels
        What categories stand for.
    own
        Whether each rater has own thresholds.
    whose
        Rater whose severity and thresholds each rater of the answers has, who is then one part of
        that rater, shape (parts,).
    sums_of_more
        Combinations that are 0 of what parts are more severe by, shape (combinations, parts); by
        default parts of one rater are alike.
    """
    from scipy.linalg import block_diag

    there, category = _coded(answers.category)
    raters, rater = _coded(answers.rater)
    owner, stimulus = _coded(answers.owner)[1], _coded(answers.stimulus)[1]
    answers = OrderedAnswers(stimulus, rater, category, owner)
    levels = levels[there]
    of = np.arange(raters.size) if whose is None else whose
    n, k = answers.n_raters, answers.n_categories
    n_own = int(of.max()) + 1
    counts = np.zeros((n_own, k))
    np.add.at(counts, of, answers.counts)
    used = counts > 0 if own else np.ones((n_own, k), dtype=np.bool_)
    blocks, sums, severity, thresholds = _own(used) if own else _common(n_own, k)
    design = blocks.reshape(n_own, k, -1)[of].reshape(n * k, -1)
    if sums_of_more is not None:
        design = np.hstack([design, np.kron(np.eye(n), -np.arange(k)[:, None])])
        sums = np.asarray(block_diag(sums, sums_of_more))
    fit = fit_conditional(answers, Weights(design, used[of], sums))
    if fit is None:
        return None
    severity = np.hstack([severity, np.zeros((n_own, design.shape[1] - severity.shape[1]))])
    return _Model(answers, raters, levels, fit, severity, tuple(thresholds))


def _common(n: int, k: int) -> tuple[Floats, Floats, Floats, list[tuple[int, int, Floats]]]:
    """Arrange n severities and k - 1 thresholds, both 0 on average (rating scale model)."""
    size = n + k - 1
    design = np.zeros((n, k, size))
    for category in range(1, k):
        design[np.arange(n), category, np.arange(n)] = -category
        design[:, category, n : n + category] = -1
    sums = np.zeros((2, size))
    sums[0, :n], sums[1, n:] = 1, 1
    eye = np.eye(size)
    thresholds = [(-1, category, eye[n + category - 1]) for category in range(1, k)]
    return design, sums, eye[:n], thresholds if k > 2 else []


def _own(used: Bools) -> tuple[Floats, Floats, Floats, list[tuple[int, int, Floats]]]:
    """Arrange the weights of all categories that raters use (partial credit model).

    Beside the lowest that the rater uses. The mean of the thresholds, which is the severity, is the
    difference of the two ends, whichever categories between them are never used.
    """
    n, k = used.shape
    place = np.cumsum(used.ravel()).reshape(n, k) - 1
    size = int(used.sum())
    design = np.zeros((n, k, size))
    rows, columns = np.nonzero(used)
    design[rows, columns, place[rows, columns]] = 1
    lowest = used.argmax(axis=1)
    highest = k - 1 - used[:, ::-1].argmax(axis=1)
    sums = np.zeros((n + 1, size))
    severity = np.full((n, size), np.nan)
    thresholds = []
    whole = (lowest == 0) & (highest == k - 1)
    for rater in range(n):
        first, last = place[rater, lowest[rater]], place[rater, highest[rater]]
        sums[rater, first] = 1
        mean = np.zeros(size)
        mean[[first, last]] = 1.0, -1.0
        mean /= max(highest[rater] - lowest[rater], 1)
        if whole[rater]:
            severity[rater] = mean
        if whole[rater] or not whole.any():
            sums[n] += mean
        for category in range(1, k):
            if whole[rater] and used[rater, category - 1] and used[rater, category]:
                row = -mean
                row[place[rater, category - 1]] += 1
                row[place[rater, category]] -= 1
                thresholds.append((rater, category, row))
    return design, sums, severity, thresholds


def _differences(
    answers: OrderedAnswers, levels: Floats, names: Sequence[str], *, own: bool
) -> _Differences | None:
    """Test whether severities depend on the group, of raters who tell in two groups or more."""
    groups, group = np.unique(np.array(names), return_inverse=True)
    n_raters = answers.n_raters
    # A stimulus whose answers are of several groups is one for each of them.
    size = int(answers.stimulus.max()) + 1
    stimulus = group * size + answers.stimulus
    parts = replace(answers, stimulus=stimulus, rater=group * n_raters + answers.rater)
    kept = np.ones(parts.category.size, dtype=np.bool_)
    while True:
        kept[kept] = telling(parts.where(kept))
        found = np.unique(parts.rater[kept])
        lonely = np.bincount(found % n_raters, minlength=n_raters) < 2
        if not kept.any() or not (drop := kept & lonely[answers.rater]).any():
            break
        kept &= ~drop
    part = parts.where(kept)
    there, place = _coded(part.rater)
    of_group, of_rater = np.divmod(there, n_raters)
    inside = (part.where(of_group[place] == one) for one in np.unique(of_group))
    if not kept.any() or any(n_groups(one, ordered=True) > 1 for one in inside):
        return None
    by_rater, by_group = (
        (code == np.unique(code)[:, None]).astype(np.float64) for code in (of_rater, of_group)
    )
    fit = partial(_fitted, part, levels, own=own, whose=_coded(of_rater)[1])
    base, full = fit(), fit(sums_of_more=np.vstack([by_rater, by_group]))
    if base is None or full is None:
        return None
    combinations = np.zeros((there.size, full.fit.parameters.size))
    combinations[:, -there.size :] = np.eye(there.size)
    value, se = full.fit.combined(combinations)
    rows = tuple(
        (int(of_rater[k]), str(groups[of_group[k]]), float(value[k]), float(se[k]))
        for k in np.lexsort((of_group, of_rater))
    )
    chi_squared = 2 * (full.fit.log_likelihood - base.fit.log_likelihood)
    return _Differences(max(chi_squared, 0.0), full.fit.n_free - base.fit.n_free, rows)


def _stimuli(panels: Sequence[_LabelSeverity]) -> Table:
    """Give measures of stimuli, and the mean answers that all raters would have given."""
    rows = [row for one in panels for row in _stimulus_rows(one)]
    return estimates_table(
        "stimuli",
        STIMULI,
        rows,
        ("label", "stimulus"),
        {"fair": pl.Float64, "mean": pl.Float64},
        (
            Key("label"),
            Key("stimulus"),
            Value(),
            Number("se", "SE"),
            Number("fair"),
            Number("mean"),
        ),
        limit=0,
    )


def _stimulus_rows(panel: _LabelSeverity) -> Iterator[dict[str, Any]]:
    model = panel.model
    if model is None:
        return
    # All answers of raters with a severity count, those at one end, too.
    place = np.full(len(panel.raters), -1)
    place[model.raters] = np.arange(model.raters.size)
    code = {name: k for k, name in enumerate(panel.raters)}
    frame = panel.design.frame
    rater = place[[code[name] for name in frame["rater"].to_list()]]
    category = np.searchsorted(model.levels, panel.design.value)
    known = (rater >= 0) & np.isin(panel.design.value, model.levels)
    names = frame["stimulus"].filter(pl.Series(known)).to_list()
    stimuli = {name: k for k, name in enumerate(dict.fromkeys(names))}
    stimulus = np.array([stimuli[name] for name in names], dtype=np.int64)
    rater, category = rater[known], category[known]
    theta, se = _weighted_likelihood(model.fit.log_weight, stimulus, rater, category)
    fair = np.zeros(len(stimuli))
    for own in model.fit.log_weight:
        fair += _chances(own[None, :], theta) @ model.levels / len(model.fit.log_weight)
    n = np.bincount(stimulus)
    mean = np.bincount(stimulus, panel.design.value[known]) / n
    for name, k in stimuli.items():
        yield {
            "label": panel.design.name,
            "stimulus": name,
            "value": theta[k],
            "se": se[k],
            "fair": fair[k],
            "mean": mean[k],
            "statistic": "weighted likelihood",
            "target": "none",
            "n_items": 1,
            "n_raters": int(n[k]),
            "n_ratings": int(n[k]),
        }


def _chances(log_weight: Floats, theta: Floats) -> Floats:
    from scipy.special import softmax

    with np.errstate(invalid="ignore"):
        return np.asarray(
            softmax(log_weight + theta[:, None] * np.arange(log_weight.shape[1]), axis=1)
        )


def _weighted_likelihood(
    log_weight: Floats, stimulus: Ints, rater: Ints, category: Ints
) -> tuple[Floats, Floats]:
    """Solve Warm's equation for each stimulus by bisection, whatever the answers."""
    n, k = int(stimulus.max()) + 1, np.arange(log_weight.shape[1])
    low, high = np.full((2, n), [[-40.0], [40.0]])
    total, own = np.bincount(stimulus, category), log_weight[rater]
    for _ in range(50):
        theta = (low + high) / 2
        chance = _chances(own, theta[stimulus])
        mean = chance @ k
        apart = k - mean[:, None]
        second, third = (
            np.bincount(stimulus, (chance * apart**power).sum(axis=1), n) for power in (2, 3)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            correction = np.where(second > 0, third / (2 * second), 0.0)
        rises = total - np.bincount(stimulus, mean, n) + correction > 0
        low, high = np.where(rises, theta, low), np.where(rises, high, theta)
    return theta, 1 / np.sqrt(second)
