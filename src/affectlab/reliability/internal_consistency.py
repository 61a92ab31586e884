"""Do the items of a questionnaire measure one thing: Cronbach's alpha and McDonald's omega."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choices
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Formula, Reason
from affectlab.core.inference import Interval, Target, infer
from affectlab.core.result import Result
from affectlab.core.statistic import (
    MAX_JACKKNIFE_GROUPS,
    STIMULI_AND_RATERS,
    Clusters,
    Design,
    Draws,
    Ends,
    Statistic,
)
from affectlab.core.tables import (
    Count,
    Figure,
    Interval as IntervalColumn,
    Key,
    Number,
    Table,
    Value,
    YesNo,
)
from affectlab.core.types import Floats, Ints
from affectlab.core.wording import coverage_text
from affectlab.core.words import option, plural, shown, with_ends
from affectlab.ratings import (
    ClusterLike,
    Ratings,
    answers_of,
    of_known_raters,
    require_order,
    stimulus_clusters,
)
from affectlab.reliability.agreement import Rated, weak_design_like
from affectlab.reliability.wording import (
    ITEM_MEANS,
    ITEM_REST,
    ITEM_REST_TITLE,
    ITEMS,
    ITEMS_NOTE,
    ONE_FACTOR,
    SEVERAL_STIMULI_EACH,
    SUM_RELIABILITY,
    SUMS,
    alpha_text,
    incomplete_text,
    reversed_items,
    unequal_scales,
)

_LEAST = 0.005
"""Least uniqueness of a standardised item, as in R's ``factanal``."""
_BLOCK = 1 << 20
"""Weights of questionnaires that are multiplied at once."""
_FEWEST = 3
"""Items that a factor needs to be identified."""
_TITLES = {"alpha": "Cronbach's alpha", "omega": "McDonald's omega"}
_SIMULATED = {"alpha": "cronbach_alpha", "omega": "mcdonald_omega"}
"""What designs in which intervals hold too rarely are filed under."""


def one_factor(correlations: Floats) -> Floats:
    r"""Fit one factor to correlations of items by maximum likelihood.

    Minimises :math:`\log|\Sigma| + \mathrm{tr}(R \Sigma^{-1})` with :math:`\Sigma = \lambda
    \lambda^\top + \mathrm{diag}(\psi)` over the uniquenesses :math:`\psi \ge 0.005`, as R's
    ``factanal`` does.

    Parameters
    ----------
    correlations
        Shape (k, k).

    Returns
    -------
    Loadings, shape (k,), with a sum that is not below 0; ``nan`` where correlations are not
    positive definite, or for fewer than three items, of which a factor is not identified.

    References
    ----------
    Jöreskog (1967), Psychometrika 32. Lawley and Maxwell (1971), Factor Analysis as a Statistical
    Method.
    """
    from scipy.optimize import minimize

    k = len(correlations)
    if k < _FEWEST or np.isnan(correlations).any():
        return np.full(k, np.nan)
    if np.linalg.eigvalsh(correlations)[0] < 1e-10:
        return np.full(k, np.nan)

    def scaled(psi: Floats) -> tuple[Floats, Floats]:
        root = np.sqrt(psi)
        values, vectors = np.linalg.eigh(correlations / np.outer(root, root))
        return values, root * vectors[:, -1] * np.sqrt(max(values[-1] - 1.0, 0.0))

    def loss(psi: Floats) -> tuple[float, Floats]:
        values, loading = scaled(psi)
        rest = values[:-1]
        residual = loading**2 + psi - np.diag(correlations)
        return float(rest.sum() - np.log(rest).sum() - k + 1), residual / psi**2

    start = (1 - 0.5 / k) / np.diag(np.linalg.inv(correlations))
    settings = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 1000}
    fit = minimize(
        loss,
        np.clip(start, _LEAST, 1.0),
        jac=True,
        method="L-BFGS-B",
        bounds=[(_LEAST, 1.0)] * k,
        options=settings,
    )
    loading = scaled(fit.x)[1]
    return loading if loading.sum() >= 0 else -loading


def alpha_of(covariances: Floats) -> Floats:
    """Compute Cronbach's alpha from covariances of items, shape (..., k, k) to (...)."""
    k = covariances.shape[-1]
    total = covariances.sum(axis=(-1, -2))
    own = np.trace(covariances, axis1=-1, axis2=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = k / (k - 1) * (1 - own / total) if k > 1 else np.full(total.shape, np.nan)
        return np.where(total > 1e-12 * np.abs(covariances).sum(axis=(-1, -2)), value, np.nan)


def omega_of(covariances: Floats) -> float:
    """Compute McDonald's omega of one factor from covariances of items, shape (k, k)."""
    sd = np.sqrt(np.diag(covariances))
    if not (sd > 0).all():
        return np.nan
    correlations = covariances / np.outer(sd, sd)
    loading = one_factor(correlations)
    common = float((sd * loading).sum()) ** 2
    return common / (common + float((sd**2 * (1 - loading**2)).sum()))


@dataclass(frozen=True, eq=False)
class _Questionnaires:
    """Complete answers to all items; one row for each rater and stimulus."""

    value: Floats
    """Shape (questionnaires, items), with reversed items turned; less the means of items."""
    mean: Floats
    """Means of the items."""
    unit: Ints
    rater: Ints
    units: tuple[str, ...]
    raters: tuple[str, ...]
    items: tuple[str, ...]
    n_incomplete: int
    standardized: bool

    @property
    def n(self) -> int:
        """Questionnaires."""
        return len(self.value)

    @cached_property
    def _products(self) -> Floats:
        """Products of all pairs of items, shape (questionnaires, k * k)."""
        k = len(self.items)
        return (self.value[:, :, None] * self.value[:, None, :]).reshape(self.n, k * k)

    def covariances(self, weights: Floats) -> Floats:
        """Covariances of items over n - 1, shape (rows, k, k); of SDs of 1 where standardised."""
        k = len(self.items)
        n = weights.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = weights @ self.value / n[:, None]
            products = (weights @ self._products).reshape(-1, k, k) / n[:, None, None]
            found: Floats = products - mean[:, :, None] * mean[:, None, :]
            found *= np.where(n > 1, n / (n - 1), np.nan)[:, None, None]
            # What rounding leaves of constant items is no variance.
            least = 1e-12 * np.maximum((self.value**2).mean(axis=0), 1e-300)
            constant = np.diagonal(found, axis1=1, axis2=2) <= least
            found[constant[:, :, None] | constant[:, None, :]] = 0.0
            if self.standardized:
                sd = np.sqrt(np.diagonal(found, axis1=1, axis2=2))
                found = found / (sd[:, :, None] * sd[:, None, :])
        return found

    def evaluate(self, draws: Draws) -> Floats:
        """Alpha and omega in each row of draws, shape (rows, 2)."""
        out = np.empty((draws.n_rows, 2))
        for rows, block in draws.blocks(max(1, _BLOCK // self.n)):
            weights = block.weights(len(self.units))[:, self.unit]
            if block.rater is not None:
                weights = weights * block.rater[:, self.rater]
            found = self.covariances(weights)
            out[rows, 0] = alpha_of(found)
            out[rows, 1] = [omega_of(one) for one in found]
        return out

    def statistic(self, interval: Interval) -> Statistic:
        """Make the statistic of alpha and omega."""
        n, k = self.n, len(self.items)
        units, raters = np.unique(self.unit), np.unique(self.rater)

        def feldt(value: Floats, confidence: float) -> Ends:
            from scipy.special import fdtri

            tails = np.array([(1 + confidence) / 2, (1 - confidence) / 2])
            low, high = 1 - (1 - value[0]) * fdtri(n - 1, (n - 1) * (k - 1), tails)
            none = np.array([np.nan, np.nan])
            return none, np.array([low, np.nan]), np.array([high, np.nan])

        kind = ["standardised items"] if self.standardized else []
        no_formula = Reason(Cause.NOT_THIS_FORMULA, of="alpha")
        few = Reason(Cause.UNIDENTIFIED_FACTOR, least=_FEWEST)
        return Statistic(
            keys={"coefficient": list(_TITLES)},
            design=Design.of([units] * 2, len(self.units), [raters] * 2, len(self.raters)),
            evaluate=self.evaluate,
            method=[
                (_TITLES["alpha"], *kind),
                (_TITLES["omega"], ONE_FACTOR, *kind),
            ],
            n_items=[units.size] * 2,
            n_raters=[raters.size] * 2,
            n_ratings=[n * k] * 2,
            undefined=[
                Reason(Cause.CONSTANT, of=SUMS),
                few if k < _FEWEST else Reason(Cause.DEPENDENT_ITEMS),
            ],
            closed=feldt,
            formula=[Formula.FELDT, None],
            over=["raters" if raters.size == n else "both", "none"],
            no_interval=[None, no_formula] if interval == "analytic" else (),
            bounds=(np.array([-np.inf, 0.0]), 1.0),
            targets=STIMULI_AND_RATERS,
            log_odds_from=np.zeros(2),
            n_groups=MAX_JACKKNIFE_GROUPS,
            columns=[pl.Series("k", [k] * 2), pl.Series("n_questionnaires", [n] * 2)],
        )

    def about(self, target: Target) -> Target:
        """What an interval for both can be about: where each rater stands for one stimulus, one."""
        several_units = np.unique(self.unit).size > 1
        several_raters = np.unique(self.rater).size > 1
        if target != "both":
            return target
        if not several_units or self.n == np.unique(self.rater).size == np.unique(self.unit).size:
            return "raters"
        return "both" if several_raters else "stimuli"


@of_known_raters
def internal_consistency(
    ratings: Ratings,
    *,
    items: Sequence[str] = (),
    reverse: Sequence[str] = (),
    standardized: bool = False,
    interval: Interval = "jackknife",
    target: Target = "both",
    n_boot: int = 1000,
    confidence: float = 0.95,
    cluster: ClusterLike = None,
    seed: int | np.random.Generator | None = 0,
) -> Result:
    r"""Compute Cronbach's alpha and McDonald's omega of a scale of several items.

    The items are labels that the same rater answered about the same stimulus: one questionnaire.
    With covariances :math:`s_{ij}` of k items, loadings :math:`\lambda` of one factor and
    uniquenesses :math:`\psi`, in units of the items,

    .. math::

        \alpha = \frac{k}{k - 1} \Bigl(1 - \frac{\sum_i s_{ii}}{\sum_{ij} s_{ij}}\Bigr), \quad
        \omega = \frac{(\sum_i \lambda_i)^2}{(\sum_i \lambda_i)^2 + \sum_i \psi_i}.

    Alpha is the reliability of the sum where all items measure one thing equally well, and a lower
    bound where they measure it unequally; omega allows for unequal loadings. Both ask whether items
    go together, not whether raters agree.

    Parameters
    ----------
    ratings
        Ratings with a label for each item.
    items
        Labels that make up the scale; all labels by default.
    reverse
        Items that are worded the other way round: their answers are turned on their scale.
    standardized
        Divide items by their standard deviations first, as for items on different scales.
    interval
        How intervals come about: leaving out stimuli and raters (jackknife), bootstrap replicates
        (percentile, bca), or Feldt's formula for alpha (analytic).

        Feldt's interval takes questionnaires as independent, and so suits one of each rater.
    target
        What intervals are about: other ``stimuli``, other ``raters``, or ``both``; ``sample`` for
        none. Where there is one stimulus, or each rater has one of their own, it is other raters.
    n_boot
        Bootstrap replicates, where intervals come from these; 0 for none.
    confidence
        Coverage of the intervals, in (0, 1).
    cluster
        What stimuli belong to, and are drawn and left out with: a column of the stimulus table, or
        a mapping from stimulus to cluster; ``"none"`` for stimuli drawn one by one.

        By default a column like ``actor``, ``identity``, ``speaker``, ``film`` or ``author`` that
        several stimuli share.
    seed
        Seed or generator of replicates, and of groups that are left out.

    Returns
    -------
    Result
        ``reliability``: alpha (at most 1, may be below 0) and omega (0 to 1) with intervals.
        ``items``: mean, SD, correlation with the rest, alpha without the item, and loading of each.
        ``scores``: the mean of the items in each questionnaire. Questionnaires that lack an item
        are not used, which a note says.

    Raises
    ------
    InputError
        If a name is unknown, fewer than two items or questionnaires are there, or a reversed item
        is on a scale without ends.

    References
    ----------
    Cronbach (1951), Psychometrika 16. McDonald (1999), Test Theory. Feldt (1965), Psychometrika 30.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> person, item = (part.ravel() for part in np.indices((200, 4)))
    >>> calm = rng.normal(0, 1, 200)[person] + rng.normal(0, 1, 800)
    >>> value = np.clip(np.rint(3 + calm), 1, 5)
    >>> value[item == 3] = 6 - value[item == 3]
    >>> ratings = Ratings({"stimulus": ["today"] * 800, "rater": person,
    ...                    "label": np.array(["calm", "at ease", "relaxed", "tense"])[item],
    ...                    "value": value}, scale="1-5")
    >>> internal_consistency(ratings, reverse=["tense"])
    Result(Cronbach's alpha of 4 items is 0.75 (95 % interval 0.69 to 0.81), omega 0.75.)
    """
    names = (items,) if isinstance(items, str) else tuple(items)
    turned = (reverse,) if isinstance(reverse, str) else tuple(reverse)
    cases = _questionnaires(ratings, names or ratings.label_names, turned, standardized)
    found = stimulus_clusters(ratings, cluster)
    of_raters = interval == "analytic" and np.unique(cases.rater).size == cases.n
    # Feldt's interval of one questionnaire of each rater is about other raters.
    clusters = None if of_raters else found.on(cases.units)
    estimates = infer(
        cases.statistic(interval),
        interval=interval,
        target=cases.about(target) if interval != "analytic" else "stimuli",
        n_boot=n_boot,
        confidence=confidence,
        seed=seed,
        clusters=clusters,
    )
    of_items = _of_items(cases, turned)
    return Result(
        (_reliability(estimates), of_items, _scores(cases)),
        tuple(_sentences(estimates.frame, cases, confidence)),
        (
            Figure(
                "items",
                "intervals",
                "items",
                ITEM_REST_TITLE,
                description=f"{plural(len(cases.items), 'item')}.",
                options={
                    "value": "r_rest",
                    "low": None,
                    "high": None,
                    "value_name": ITEM_REST,
                },
            ),
        ),
        (
            *_notes(ratings, of_items.frame, cases),
            *_weak(estimates, cases, clusters),
            *found.notes_for(estimates.frame["target"]),
        ),
        {
            "items": list(cases.items),
            "reverse": list(turned),
            "standardized": standardized,
            "interval": interval,
            "target": target,
            "n_boot": n_boot,
            "confidence": confidence,
        },
    )


def _questionnaires(
    ratings: Ratings, items: Sequence[str], reverse: Sequence[str], standardized: bool
) -> _Questionnaires:
    """Put the answers to all items beside each other."""
    check_choices("item", reverse, items, "reverse")
    if len(set(items)) < 2:
        raise InputError(
            f"internal consistency needs two items or more, got {', '.join(items) or 'none'}; name "
            f"the labels that make up the scale ({option('items', ['a', 'b'])})"
        )
    own = ratings.select(labels=list(items))
    require_order(own, "internal consistency")
    answers = answers_of(own, by_names=True)
    ballots = answers.on(answers.units, items).ballots()
    value = ballots.value
    for name in reverse:
        scale = own.scales[name]
        if scale.low is None or scale.high is None:
            raise InputError(
                f"reverse: {shown(name, 40)!r} is on a scale without ends ({scale}), on which "
                f"nothing can be turned; declare it ({option('scale', '1-5')})"
            )
        column = list(items).index(name)
        value[:, column] = scale.low + scale.high - value[:, column]
    whole = ~np.isnan(value).any(axis=1)
    if whole.sum() < 2:
        raise InputError(
            f"{plural(int(whole.sum()), 'questionnaire')} with answers to all of {len(items)} "
            "items; expected two or more (one is what a rater answered about a stimulus)"
        )
    value = value[whole]
    mean = value.mean(axis=0)
    return _Questionnaires(
        value - mean,
        mean,
        ballots.unit[whole],
        ballots.rater[whole],
        answers.units,
        answers.raters,
        tuple(items),
        int((~whole).sum()),
        standardized,
    )


def _of_items(cases: _Questionnaires, reverse: Sequence[str]) -> Table:
    found = cases.covariances(np.ones((1, cases.n)))[0]
    raw = replace(cases, standardized=False).covariances(np.ones((1, cases.n)))[0]
    sd = np.sqrt(np.diag(found))
    with np.errstate(invalid="ignore", divide="ignore"):
        loading = one_factor(found / np.outer(sd, sd))
        rest = found.sum(axis=1) - np.diag(found)
        of_rest = found.sum() - 2 * found.sum(axis=1) + np.diag(found)
        r_rest = rest / (sd * np.sqrt(np.maximum(of_rest, 0.0)))
    places = np.arange(len(cases.items))
    without = [float(alpha_of(found[np.ix_(places != k, places != k)])) for k in places]
    frame = pl.DataFrame(
        {
            "item": cases.items,
            "mean": cases.mean,
            "sd": np.sqrt(np.diag(raw)),
            "r_rest": np.where(np.isfinite(r_rest), r_rest, np.nan),
            "alpha_without": without,
            "loading": loading,
            "reversed": [name in reverse for name in cases.items],
        }
    )
    columns = (
        Key("item"),
        Number("mean"),
        Number("sd", "SD"),
        Number("r_rest", ITEM_REST),
        Number("alpha_without", "alpha without"),
        Number("loading"),
        YesNo("reversed"),
    )
    return Table("items", ITEMS, frame, columns, notes=(ITEMS_NOTE,))


def _reliability(estimates: Estimates) -> Table:
    columns = (
        Key("coefficient"),
        Value(),
        IntervalColumn(),
        Count("k", "items"),
        Count("n_questionnaires", "questionnaires"),
        Count("n_raters", "raters"),
        Count("n_items", "stimuli"),
    )
    caption = SUM_RELIABILITY
    return Table("reliability", caption, estimates.frame, columns)


def _scores(cases: _Questionnaires) -> Table:
    value = (cases.value + cases.mean).mean(axis=1)
    frame = pl.DataFrame(
        {
            "stimulus": [cases.units[code] for code in cases.unit],
            "rater": [cases.raters[code] for code in cases.rater],
            "value": value,
        }
    )
    columns = (Key("stimulus"), Key("rater"), Number("value", "mean of items"))
    return Table("scores", ITEM_MEANS, frame, columns, limit=0)


def _sentences(frame: pl.DataFrame, cases: _Questionnaires, confidence: float) -> Iterator[str]:
    alpha, omega = frame.to_dicts()
    if alpha["status"] != "ok":
        return
    value, of_factor = with_ends(alpha, confidence), omega["value"]
    defined = of_factor if omega["status"] == "ok" else None
    yield alpha_text(_TITLES["alpha"], len(cases.items), value, defined)


def _notes(ratings: Ratings, items: pl.DataFrame, cases: _Questionnaires) -> Iterator[str]:
    against = items.filter(pl.col("r_rest") < 0)["item"].to_list()
    if against:
        yield reversed_items(against, option("reverse", against))
    if cases.n_incomplete:
        yield incomplete_text(cases.n_incomplete, cases.n + cases.n_incomplete)
    if not cases.standardized and len({ratings.scales[name] for name in cases.items}) > 1:
        yield unequal_scales(option("standardized", True))
    per_rater = np.unique(cases.rater, return_counts=True)[1]
    if per_rater.max() > 1:
        yield SEVERAL_STIMULI_EACH


def _weak(estimates: Estimates, cases: _Questionnaires, clusters: Clusters | None) -> Iterator[str]:
    """Say of which coefficients intervals hold too rarely in studies like this one."""
    answers = Rated(cases.unit, cases.rater, cases.value.mean(axis=1))
    for row in estimates.frame.filter(pl.col("low").is_finite()).iter_rows(named=True):
        weak = weak_design_like(_SIMULATED[row["coefficient"]], row["target"], answers, clusters)
        if weak is not None:
            yield f"{_TITLES[row['coefficient']]}: {coverage_text(weak.fact)}"
