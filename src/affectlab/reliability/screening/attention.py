"""How probable it is that a rater answered without looking, given the others of the panel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, logit

from affectlab.core.arrays import ratio, with_few_gaps
from affectlab.core.types import Bools, Floats, Ints
from affectlab.reliability.rank_correlation import sums_of_others
from affectlab.reliability.screening.outliers import predictive_tails
from affectlab.reliability.screening.wording import Gap, Unjudged

FEWEST = 10
"""Answers shared with others below which nothing is judged."""
LIMIT, LIMIT_OF_FEW, FEW = 0.5, 0.9, 25
"""Probability of carelessness above which a rater is taken to be careless; with few answers."""
_RATERS = 4
_ROUNDS = 10
_SMALL = 1e-12
_LARGEST = 1 / 3
"""Share of raters who can be careless: more would be the panel itself."""

# What is thought before any answer was seen, and how many raters or answers that is worth.
_CARELESS, _CARELESS_RATERS = 0.1, 10.0
_REVERSED = 0.2
"""Of the careless, those who turn the scale round."""
_CONSTANT = 0.3
"""Of the careless, those who always give the same answer."""
_SLOPES, _NOISE, _WORTH = 0.2, 0.3, 5.0
"""SD of the log slopes, and of the log errors, of honest raters."""
_NOISE_OF_CARELESS = 0.4
_NOISE_SAYS = float(np.log(20.0))
"""Most that noise alone can say: there are honest raters with a lot of it."""
_SKEWED = 0.2
"""Skewness of the score beyond which its distribution is too far from normal to judge by."""
_CHANCE = 2.4
"""Whose answers go along with the others by more standard errors than this has looked."""
SPARSE = 0.5
"""Share of the others' answers from which on giving always this answer shows nothing."""

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True, eq=False)
class Lines:
    """The regression of each rater's answers on the mean of the others, in each label apart."""

    n: Ints
    """Answers shared with others."""
    slope: Floats
    error: Floats
    """Standard error of the slope, if the rater is honest and of middle noise."""
    chance: Floats
    """Standard error of the slope, if the answers do not depend on what was shown."""
    noise: Floats
    """Logarithm of the SD about the line, 0 for a middle rater of the panel."""
    noise_error: Floats
    of_careless: float
    """The same of middle answers that do not depend on what was shown."""
    constant: Bools
    """Whether all answers to a label are equal."""
    skew: Floats
    """Skewness of the slope where answers do not depend on what was shown."""

    @property
    def usable(self) -> Bools:
        """Raters whose line can be known."""
        return np.isfinite(self.slope) & np.isfinite(self.noise) & ~self.constant


@dataclass(frozen=True)
class Honest:
    """Honest raters of a panel: slope and noise are log-normal."""

    slope: float
    slope_sd: float
    noise: float
    noise_sd: float


@dataclass(frozen=True, eq=False)
class Attention:
    """What is known of the attention of each rater."""

    n: Ints
    careless: Floats
    """Probability that the rater did not look, or turned the scale round; nan where not judged."""
    reversed: Bools
    """Whether that is because the scale was turned round."""
    constant: Bools
    slope: Floats
    """Slope on the mean of the others, 1 for a middle honest rater."""
    refused_honest: float
    """Chance that an honest rater of this panel, with as many answers, is taken for careless."""
    found_random: float
    """Chance that one who answers at random is."""
    missing: Unjudged | None = None
    """Why nobody is judged."""

    def named(self, above: float = LIMIT, above_of_few: float = LIMIT_OF_FEW) -> Bools:
        """Say who is taken to be careless."""
        return _named(self.careless, self.n, above, above_of_few)


@dataclass(frozen=True, eq=False)
class Entries:
    """Answers that lines are put through, and what tells them apart; one entry per answer."""

    stimulus: Ints
    label: Ints
    rater: Ints
    value: Floats

    @cached_property
    def _sizes(self) -> tuple[int, int, int]:
        codes = (self.stimulus, self.label, self.rater)
        stimuli, labels, raters = (int(code.max(initial=-1)) + 1 for code in codes)
        return stimuli, labels, raters

    @cached_property
    def cell(self) -> Ints:
        """Code of the stimulus and label."""
        stimuli, labels, _ = self._sizes
        return with_few_gaps(self.stimulus * labels + self.label, stimuli * labels)

    @cached_property
    def group(self) -> Ints:
        """Code of the rater and label."""
        _, labels, raters = self._sizes
        return with_few_gaps(self.rater * labels + self.label, raters * labels)

    @cached_property
    def trial(self) -> Ints:
        """Code of the rater and stimulus."""
        stimuli, _, raters = self._sizes
        return with_few_gaps(self.rater * stimuli + self.stimulus, raters * stimuli)

    def take(self, kept: Bools) -> Entries:
        """Keep some of them."""
        return Entries(self.stimulus[kept], self.label[kept], self.rater[kept], self.value[kept])


class Fits:
    """The regressions behind :class:`Lines`, whoever is honest."""

    def __init__(self, entries: Entries, others: Floats, n_raters: int) -> None:
        self.rater, self.trial, self.others = entries.rater, entries.trial, others
        self.n_raters = n_raters
        group = entries.group
        size = np.bincount(group)

        def apart(part: Floats) -> Floats:
            return part - ratio(np.bincount(group, part), size, 0.0)[group]

        self.x, self.y = x, y = apart(others), apart(entries.value)
        scale = max(float(np.abs(y).max(initial=0.0)), 1e-300)
        self.n = np.bincount(self.rater, minlength=n_raters)
        self.df = self.n - self.of_raters(1 / size[group])
        self.xx, xy, self.yy = (self.of_raters(part) for part in (x * x, x * y, y * y))
        self.constant = (self.n > 0) & (self.yy <= self.n * (1e-9 * scale) ** 2)
        self.known = (self.xx > _SMALL * self.xx.max(initial=0.0)) & (self.df > 2)
        self.slope = np.where(self.known, ratio(xy, self.xx, 0.0), np.nan)
        self.left = y - np.nan_to_num(self.slope)[self.rater] * x
        with np.errstate(divide="ignore", invalid="ignore"):
            cubes = self.of_raters(x * x * x) * self.of_raters(y * y * y)
            self.skew = cubes / (self.xx * self.yy) ** 1.5
            """Skewness of the slope, but for how answers hang together."""

    def of_raters(self, part: Floats) -> Floats:
        """Sum over the answers of each rater."""
        return np.bincount(self.rater, part, self.n_raters).astype(np.float64)

    def lines(self, honest: Floats, times: int) -> Lines:
        """Say how far lines are known, raters being honest with some probability.

        Each answer stands in so many ``times`` entries.
        """
        n, df, of_raters = self.n, self.df, self.of_raters
        counts = honest * self.known * ~self.constant
        weight = counts[self.rater]
        squares = self.left**2
        squares *= ratio(n, np.maximum(df - 1, 1.0))[self.rater]
        variance = _variance(self.others, squares, weight)
        with np.errstate(divide="ignore", invalid="ignore"):
            # Answers to labels of one stimulus hang together.
            at_once = _at_once(self.trial, weight * self.x * self.left)
            standard = self.left**2 / variance
            square, kurtosis = np.nan, 3.0
            if counts.any():
                square, fourth = (np.average(standard**k, weights=weight) for k in (1, 2))
                kurtosis = fourth / square**2
            noise = np.log(of_raters(standard) / np.maximum(df - 1, 1)) / 2
            del standard, squares, weight
            whole = of_raters(self.y * self.y / variance) / np.maximum(df, 1)
            middle = np.average(whole, weights=counts) if counts.any() else 1.0
            xx = np.where(self.known, self.xx, np.nan)
            error = np.sqrt(at_once * of_raters(self.x * self.x * variance)) / xx
        return Lines(
            n=n // times,
            slope=self.slope,
            error=error,
            chance=np.sqrt(at_once * self.yy / np.maximum(df, 1) / xx),
            noise=noise,
            noise_error=np.sqrt(max(kurtosis - 1, 1.0) * at_once / (4 * np.maximum(df, 1))),
            of_careless=float(np.log(middle) / 2),
            constant=self.constant,
            skew=self.skew * np.sqrt(n * at_once),
        )


def beside_others(entries: Entries, panel: Bools) -> tuple[Entries, Floats]:
    """Keep entries that others of the panel share, and give the mean of these others."""
    cell, rater = entries.cell, entries.rater
    unbiased = entries.value - biases(cell, rater, entries.value, panel)[rater]
    n_others, total = sums_of_others(cell, rater, unbiased, panel[rater].astype(np.float64))
    others = ratio(total, n_others, 0.0)
    shrunk = _shrunk(cell, entries.label, rater, unbiased, panel, n_others, others)
    shared = n_others > 0.5
    return (entries, shrunk) if shared.all() else (entries.take(shared), shrunk[shared])


def biases(cell: Ints, rater: Ints, value: Floats, panel: Bools) -> Floats:
    """Mean difference of each rater from the unbiased answers of the panel, which are 0 there."""
    counts = panel[rater].astype(np.float64)
    size = np.bincount(cell, counts)
    n = np.maximum(np.bincount(rater, (size > 0)[cell], panel.size), 1)
    bias = np.zeros(panel.size)
    for _ in range(50):
        total = np.bincount(cell, (value - bias[rater]) * counts)
        mean = ratio(total, size, 0.0)
        new = (
            np.bincount(rater, np.where(size > 0, 1, 0)[cell] * (value - mean[cell]), panel.size)
            / n
        )
        new -= new[panel].mean()
        change, bias = np.abs(new - bias).max(initial=0.0), new
        if change < 1e-9:
            break
    return bias


def _shrunk(
    cell: Ints,
    label: Ints,
    rater: Ints,
    unbiased: Floats,
    panel: Bools,
    n_others: Floats,
    others: Floats,
) -> Floats:
    """Draw means of few others towards the mean of the label, as far as they are uncertain."""
    own, some = panel[rater].astype(np.float64), (n_others > 0.5).astype(np.float64)
    size = np.bincount(cell, own)
    mean = ratio(np.bincount(cell, unbiased * own), size, 0.0)
    within = (own * (unbiased - mean[cell]) ** 2).sum() / max(own.sum() - (size > 0).sum(), 1.0)
    error = within / np.maximum(n_others, 1.0)
    middle = ratio(np.bincount(label, others * some), np.bincount(label, some), 0.0)[label]
    apart = (others - middle) * some
    whole = (apart**2).sum() / max(some.sum(), 1.0)
    between = max(whole - (error * some).sum() / max(some.sum(), 1.0), 0.05 * whole)
    return np.asarray(middle + apart * ratio(between, between + error, 0.0))


def _variance(others: Floats, squares: Floats, weight: Floats) -> Floats:
    """Fit how the variance of honest errors changes with the mean of the others."""
    if not others.size:
        return others
    spread = float(others.std()) or 1.0
    u = (others - others.mean()) / spread
    # Of powers of u from 0 to 4 the sums make the normal equations of a parabola.
    power, sums, right = weight, np.empty(5), np.empty(3)
    for k in range(5):
        sums[k] = power.sum()
        if k < 3:
            right[k] = power @ squares
        power = power * u
    gram = sums[np.add.outer(np.arange(3), np.arange(3))] + 1e-9 * np.eye(3)
    level, slope, bend = np.linalg.solve(gram, right)
    fitted = level + u * (slope + u * bend)
    middle = float(right[0] / max(sums[0], 1e-300))
    return np.asarray(np.maximum(fitted, max(0.1 * middle, 1e-300)))


def _at_once(trial: Ints, score: Floats) -> float:
    """Give how much the variance of sums grows because answers to one stimulus hang together."""
    alone = float(score @ score)
    together = np.bincount(trial, score)
    return max(1.0, float(together @ together) / alone) if alone > 0 else 1.0


def honest_raters(found: Lines, weight: Floats) -> Honest:
    """Fit the distribution of slope and noise, each rater weighted by how surely it is honest."""
    w = np.where(found.usable, weight, 0.0)
    slope, noise = (np.where(w > 0, part, 0.0) for part in (found.slope, found.noise))
    total = max(float(w.sum()), _SMALL)
    again = total / max(total - 1, 1.0)
    middle = float((w * noise).sum() / total)
    excess = float((w * ((noise - middle) ** 2 * again - found.noise_error**2)).sum())
    noise_sd = np.sqrt(max((excess + _WORTH * _NOISE**2) / (total + _WORTH), 0.01))
    error = np.where(w > 0, found.error * np.exp(noise), 1.0) ** 2
    mean, between = float((w * slope).sum() / total), 0.0
    for _ in range(5):
        between = float((w * ((slope - mean) ** 2 * again - error)).sum()) / total
        between = max(between, (0.05 * mean) ** 2, _SMALL)
        precision = w / (error + between)
        mean = float((precision * slope).sum() / max(precision.sum(), _SMALL))
    spread = np.log1p(between / max(mean**2, _SMALL))
    slope_sd = np.sqrt((total * spread + _WORTH * _SLOPES**2) / (total + _WORTH))
    return Honest(
        max(mean, _SMALL) * float(np.exp(-(slope_sd**2) / 2)), slope_sd, middle, float(noise_sd)
    )


def evidence(found: Lines, honest: Honest) -> tuple[Floats, Floats]:
    """Log likelihood ratios to an honest rater: of answers at random, and of a turned scale."""

    def density(x: Floats, mean: Floats | float, sd: Floats) -> Floats:
        return np.asarray(np.exp(-0.5 * ((x - mean) / sd) ** 2) / sd + 1e-300)

    with np.errstate(invalid="ignore", divide="ignore", over="ignore", under="ignore"):
        share = honest.noise_sd**2 / (honest.noise_sd**2 + found.noise_error**2)
        own = np.exp(honest.noise + share * (found.noise - honest.noise))
        error, slope = (found.error * own)[:, None], found.slope[:, None]
        slopes = honest.slope * np.exp(honest.slope_sd * _NODES)
        straight = np.log(density(slope, slopes, error) @ _WEIGHTS)
        turned = np.log(density(slope, -slopes, error) @ _WEIGHTS)
        random = np.log(density(found.slope, 0.0, found.chance))
        wide = np.hypot(_NOISE_OF_CARELESS, found.noise_error)
        narrow = np.hypot(honest.noise_sd, found.noise_error)
        noise = np.log(
            density(found.noise, found.of_careless, wide)
            / density(found.noise, honest.noise, narrow)
        )
        noise = np.where(found.noise < honest.noise, np.minimum(noise, 0.0), noise)
        noise = np.clip(noise, -_NOISE_SAYS, _NOISE_SAYS)
    return random - straight + noise, turned - straight


def _posterior(random: Floats, turned: Floats, prior: float) -> Floats:
    with np.errstate(invalid="ignore"):
        odds = np.logaddexp(random + np.log(1 - _REVERSED), turned + np.log(_REVERSED))
        return np.asarray(expit(odds + logit(prior)))


def attention(
    stimulus: Ints,
    label: Ints,
    rater: Ints,
    value: Floats,
    n_raters: int,
    *,
    nominal: bool = False,
) -> Attention:
    """Give the probability that each rater is careless.

    Each rater's answers are held against the mean of the others, who are left without those that
    are careless themselves: what an honest rater answers rises with that mean, by a slope and with
    a noise that differ between honest raters as far as they do in this panel (both log-normal);
    what a careless one answers does not depend on it, is its opposite, or is always the same. The
    share of careless raters is learned from the panel, too, so that a panel without any asks for
    more evidence. Honest is who goes along with the others beyond chance, whatever the model says.

    Parameters
    ----------
    stimulus, label, rater, value
        One entry per answer; codes from 0.
    n_raters
        How many raters there are.
    nominal
        Whether values are codes of categories without an order: each category is a label then,
        chosen or not.

    References
    ----------
    Meade and Craig (2012), Psychological Methods 17: one in ten answers carelessly. Scott and
    Berger (2010), Annals of Statistics 38: a learned share corrects for the number of raters.
    """
    counts = np.bincount(rater, minlength=n_raters)
    if (counts >= FEWEST).sum() < _RATERS:
        return _nobody(counts, np.zeros(n_raters, dtype=bool))
    plain, times = (label, rater, value), 1
    if nominal:
        codes, code = np.unique(value, return_inverse=True)
        times = max(codes.size, 1)
        every = np.tile(np.arange(times), value.size)
        stimulus, rater = np.repeat(stimulus, times), np.repeat(rater, times)
        label = np.repeat(label, times) * times + every
        value = (np.repeat(code, times) == every).astype(np.float64)
    entries = Entries(stimulus, label, rater, value)
    given = np.bincount(rater, minlength=n_raters) > 0
    panel, honest, prior = given.copy(), given.astype(np.float64), _CARELESS
    middle = Honest(0.0, 0.0, 0.0, 1.0)
    fits = Fits(*beside_others(entries, panel), n_raters)
    for at in range(_ROUNDS):
        found = fits.lines(honest, times)
        known = found.usable & (found.n >= FEWEST)
        if known.sum() < _RATERS:
            return _nobody(found.n, found.constant)
        if at == 0:
            # The middle of the panel, which a few careless raters hardly move.
            apart = np.abs(found.slope - np.median(found.slope[known]))
            near = apart <= 3 * 1.4826 * np.median(apart[known])
            honest = np.where(known & near, 1.0, 0.0)
            found = fits.lines(honest, times)
        middle = honest_raters(found, honest * known)
        random, turned = evidence(found, middle)
        p = np.where(known, _posterior(random, turned, prior), np.where(found.constant, 1.0, 0.0))
        left = given & (p < 0.5)
        if left.sum() < max(_RATERS - 1, given.sum() * (1 - _LARGEST)):
            break
        counted = known | found.constant
        prior = (_CARELESS * _CARELESS_RATERS + p[counted].sum()) / (
            _CARELESS_RATERS + counted.sum()
        )
        change = np.abs(1 - p - honest).max()
        same = bool((left == panel).all())
        panel, honest = left, np.where(given, 1 - p, 0.0)
        if same and change < 1e-3:
            break
        if not same:
            fits = Fits(*beside_others(entries, panel), n_raters)
    return _judged(found, middle, float(prior), *plain)


def _named(p: Floats, n: Ints, above: float, above_of_few: float) -> Bools:
    with np.errstate(invalid="ignore"):
        return np.asarray(p > np.where(n < FEW, above_of_few, above))


def _nobody(n: Ints, constant: Bools) -> Attention:
    nothing, none = np.full(n.size, np.nan), np.zeros(n.size, dtype=bool)
    why = Unjudged(Gap.FEW_RATERS, least=FEWEST, n=4)
    return Attention(n, nothing, none, constant, nothing, np.nan, np.nan, why)


def _judged(
    found: Lines,
    honest: Honest,
    prior: float,
    label: Ints,
    rater: Ints,
    value: Floats,
) -> Attention:
    """Put together what is known when the panel has settled."""
    p, turned = _careless(found, honest, prior)
    p = np.where(found.n >= FEWEST, p, np.nan)
    for one in np.flatnonzero(found.constant & (found.n >= FEWEST)):
        p[one] = _careless_constant(int(one), found.constant, prior, label, rater, value)
    refused_honest, found_random = _rates(found, honest, prior)
    return Attention(
        found.n,
        p,
        turned & (p > 0.5),
        found.constant,
        found.slope / honest.slope,
        refused_honest,
        found_random,
    )


def _careless(found: Lines, honest: Honest, prior: float) -> tuple[Floats, Bools]:
    """Give the probability that raters are careless, 0 where answers follow what was shown."""
    random, turned = evidence(found, honest)
    with np.errstate(invalid="ignore"):
        p = np.where(found.slope > _CHANCE * found.chance, 0.0, _posterior(random, turned, prior))
        p = np.where(found.usable & (np.abs(found.skew) <= _SKEWED), p, np.nan)
        return p, turned + np.log(_REVERSED) > random + np.log(1 - _REVERSED)


def same_as_others(one: int, apart: Bools, label: Ints, rater: Ints, value: Floats) -> float:
    """Share of the others' answers that are what one rater always answers to the label.

    Those who are ``apart`` are no others; nan without any.
    """
    mine = rater == one
    answer = np.full(int(label.max(initial=0)) + 1, np.nan)
    answer[label[mine]] = value[mine]
    rest = ~apart[rater] & ~mine & ~np.isnan(answer[label])
    if not rest.any():
        return np.nan
    same = np.bincount(label[rest], value[rest] == answer[label[rest]], answer.size)
    share = ratio(same, np.bincount(label[rest], minlength=answer.size), 0.0)
    return float(share[label[mine]].mean())


def _careless_constant(
    one: int, constant: Bools, prior: float, label: Ints, rater: Ints, value: Floats
) -> float:
    """Give the probability that one who always gives the same answer to a label is careless.

    nan where most answers of the others are this answer, too.
    """
    if not same_as_others(one, constant, label, rater, value) < SPARSE:
        return np.nan
    # How often the others give their own most frequent answer.
    mine, rest = rater == one, ~constant[rater]
    n_labels = int(label.max()) + 1
    values, code = np.unique(value[rest], return_inverse=True)
    group = rater[rest] * n_labels + label[rest]
    kinds, count = np.unique(group * values.size + code, return_counts=True)
    groups, at = np.unique(kinds // values.size, return_inverse=True)
    most = np.zeros(groups.size)
    np.maximum.at(most, at, count)
    hits = np.bincount(groups // n_labels, most, constant.size)
    trials = np.bincount(rater[rest], minlength=constant.size)
    some, n = np.flatnonzero(trials), int(mine.sum())
    tails = predictive_tails(
        np.append(hits[some], n).astype(np.int64), np.append(trials[some], n).astype(np.int64)
    )
    return float(expit(logit(prior) + np.log(_CONSTANT) - np.log(max(tails[-1], 1e-300))))


_DRAWS = 10_000


def _rates(found: Lines, honest: Honest, prior: float) -> tuple[float, float]:
    """Simulate honest raters of this panel, and random ones, in the place of each rater."""
    rng = np.random.default_rng(0)
    at = np.flatnonzero(found.usable & (found.n >= FEWEST))
    if not at.size:
        return np.nan, np.nan
    at = np.tile(at, -(-_DRAWS // at.size))
    shares = []
    for careless in (False, True):
        z = rng.normal(size=(3, at.size))
        error = found.noise_error[at]
        chance = found.error[at] * np.exp(found.of_careless)
        if careless:
            true, slope = np.full(at.size, found.of_careless), chance * z[0]
        else:
            true = honest.noise + honest.noise_sd * z[0]
            slope = honest.slope * np.exp(honest.slope_sd * z[1])
            slope = slope + found.error[at] * np.exp(true) * z[2]
        drawn = Lines(
            found.n[at],
            slope,
            found.error[at],
            chance,
            true + error * rng.normal(size=at.size),
            error,
            found.of_careless,
            np.zeros(at.size, dtype=bool),
            found.skew[at],
        )
        p, _ = _careless(drawn, honest, prior)
        shares.append(float(_named(p, drawn.n, LIMIT, LIMIT_OF_FEW).mean()))
    return shares[0], shares[1]
