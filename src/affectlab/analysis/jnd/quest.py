"""QUEST: an adaptive staircase that puts every trial where the threshold is thought to be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from affectlab.analysis.jnd.json_state import PlainState, flags_of, floats_of, opened
from affectlab.analysis.jnd.psychometric import (
    check_shape,
    hazard,
    log_scale,
    number_of,
    psychometric_function,
)
from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.estimates import Estimate
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import check_confidence
from affectlab.core.types import Floats
from affectlab.core.words import count, plural

# What a staircase takes as known, and what it thinks of the threshold beforehand.


_MOST_POINTS = 1_000_000


@dataclass(frozen=True)
class QuestSettings(PlainState):
    """Prior and psychometric function of a staircase; lengths are log10 units."""

    _schema: ClassVar[str] = "affectlab/quest-settings/1"

    guess: float
    """Where the threshold may lie."""
    sd: float
    """Standard deviation of that guess; ``inf`` for a prior that is flat over the grid."""
    threshold: float
    """Share of correct (or "yes") answers that defines the threshold."""
    slope: float
    """Slope of the psychometric function, taken as known."""
    lapse: float
    """Share of trials answered blindly."""
    guess_rate: float
    """Share of correct (or "yes") answers when there is nothing to be seen."""
    low: float
    """Lowest threshold that is thought possible."""
    high: float
    """Highest threshold that is thought possible."""
    grain: float
    """Distance of the thresholds that are told apart."""

    def __post_init__(self) -> None:
        for field in fields(self):
            given = getattr(self, field.name)
            if field.name == "sd" and given == math.inf:
                continue
            object.__setattr__(self, field.name, number_of(field.name, given))
        if self.sd < math.inf:
            check_number("sd", self.sd, 0, above=True)
        check_number("grain", self.grain, 0, above=True)
        if not self.low < self.high:
            raise InputError(f"low is {self.low:g}; expected less than high, {self.high:g}")
        if not self.low <= self.guess <= self.high:
            raise InputError(
                f"guess is {self.guess:g}; expected a log10 intensity from low, {self.low:g}, "
                f"to high, {self.high:g}"
            )
        if (self.high - self.low) / self.grain > _MOST_POINTS:
            raise InputError(
                f"grain is {self.grain:g}; expected at most {_MOST_POINTS:,} steps "
                f"from {self.low:g} to {self.high:g}"
            )
        check_shape(self.threshold, self.slope, self.lapse, self.guess_rate, "threshold")

    @cached_property
    def grid(self) -> Floats:
        """Thresholds that are told apart, shape (n,), ascending."""
        steps = max(1, math.ceil((self.high - self.low) / self.grain - 1e-9))
        grid = np.linspace(self.low, self.high, steps + 1)
        grid.flags.writeable = False
        return grid

    @cached_property
    def edges(self) -> Floats:
        """Borders between the thresholds of the grid, shape (n + 1,)."""
        half = (self.grid[1] - self.grid[0]) / 2
        edges = np.append(self.grid - half, self.grid[-1] + half)
        edges.flags.writeable = False
        return edges

    @cached_property
    def log_prior(self) -> Floats:
        """Log of the prior on the grid, but for a constant."""
        prior: Floats = -0.5 * ((self.grid - self.guess) / self.sd) ** 2
        prior.flags.writeable = False
        return prior

    @cached_property
    def _log_kappa(self) -> float:
        return log_scale(self.threshold, self.lapse, self.guess_rate)

    @property
    def ceiling(self) -> float:
        """Highest share of correct (or "yes") answers, which lapses keep from 1."""
        return 1 - self.lapse * (1 - self.guess_rate)

    @cached_property
    def best_quantile(self) -> float:
        r"""Quantile of the posterior at which an answer tells most.

        For a psychometric function that steps from :math:`p_0` to :math:`p_1` (here floor and
        ceiling) an answer at quantile :math:`q` is correct with probability :math:`P = p_0 + q (p_1
        - p_0)`, and with the entropy :math:`H` of a yes or no, most is learnt where

        .. math:: \ln\frac{P}{1 - P} = -\frac{H(p_1) - H(p_0)}{p_1 - p_0}

        References
        ----------
        Pelli, D. G. (1987). The ideal psychometric procedure. Investigative Ophthalmology & Visual
        Science 28 (Suppl.), 366.
        """
        rise = self.ceiling - self.guess_rate
        odds = (_entropy(self.ceiling) - _entropy(self.guess_rate)) / rise
        return (1 / (1 + math.exp(odds)) - self.guess_rate) / rise

    def log_likelihood(
        self, intensity: float, correct: bool, thresholds: Floats | None = None
    ) -> Floats:
        """Give the log probability of an answer for every threshold, by default of the grid."""
        grid = self.grid if thresholds is None else thresholds
        seen = hazard(intensity, grid, self.slope, self._log_kappa)
        span = (1 - self.guess_rate) * (1 - self.lapse)
        if correct:
            with np.errstate(divide="ignore"):
                return np.log(self.guess_rate - span * np.expm1(-seen))
        if self.lapse == 0:
            return math.log(1 - self.guess_rate) - seen
        return np.log((1 - self.guess_rate) * self.lapse + span * np.exp(-seen))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> QuestSettings:
        """Take back what :meth:`to_dict` gave."""
        names = [field.name for field in fields(cls)]
        stored = opened(data, cls._schema, names)
        # What is infinite is nothing in JSON, and may only be the standard deviation.
        given = {name: stored[name] for name in names}
        return cls(**given | ({"sd": math.inf} if given["sd"] is None else {}))


def _entropy(p: float) -> float:
    """Entropy of a yes or no with probability `p`, in nats."""
    return -sum(share * math.log(share) for share in (p, 1 - p) if share > 0)


# How much an answer would tell about the threshold, intensity by intensity.


_MOST_CELLS = 5_000_000
"""Intensities times thresholds that are held at once."""
_KEPT_CELLS = 200_000
"""Size up to which a table is kept for the next trial."""


def candidates_of(among: ArrayLike) -> tuple[float, ...]:
    """Read the intensities that can be shown."""
    given = np.asarray(among, dtype=np.float64)
    if given.ndim != 1 or not given.size or not np.isfinite(given).all():
        raise InputError("among holds no list of finite numbers; expected log10 intensities")
    return tuple(given.tolist())


def expected_information(
    settings: QuestSettings, intensities: tuple[float, ...], posterior: Floats
) -> Floats:
    """Give by how much an answer lowers the entropy of the posterior, in nats, shape (m,).

    That is the mutual information of answer and threshold: the entropy of the answer, less what is
    left of it when the threshold is known.
    """
    cells = len(intensities) * settings.grid.size
    if cells > _MOST_CELLS:
        raise InputError(
            f"{count(len(intensities))} intensities by {count(settings.grid.size)} thresholds are "
            f"too many to compare; expected at most {count(_MOST_CELLS)} pairs: give fewer, or a "
            "coarser grain"
        )
    tables = _kept_tables if cells <= _KEPT_CELLS else _tables
    probability, noise = tables(settings, intensities)
    found: Floats = _entropies(probability @ posterior) - noise @ posterior
    return found


def _tables(settings: QuestSettings, intensities: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Give the probability of a correct answer, and its entropy, both (intensity, threshold)."""
    probability = psychometric_function(
        np.array(intensities)[:, None],
        settings.grid,
        slope=settings.slope,
        lapse=settings.lapse,
        guess_rate=settings.guess_rate,
        at=settings.threshold,
    )
    return probability, _entropies(probability)


_kept_tables = lru_cache(maxsize=32)(_tables)


def _entropies(p: Floats) -> Floats:
    """Give the entropy of a yes or no, in nats; 0 where it is certain."""
    inside = np.clip(p, np.finfo(np.float64).tiny, 1.0)
    outside = np.clip(1 - p, np.finfo(np.float64).tiny, 1.0)
    found: Floats = -(p * np.log(inside) + (1 - p) * np.log(outside))
    return found


Method: TypeAlias = Literal["mean", "mode", "quantile", "entropy"]
"""How the next intensity follows from what is known of the threshold."""

_END = 0.01
"""Height at an end of the grid from which the posterior counts as cut off; its peak has 1."""


def check_method(method: str) -> None:
    """Refuse a name that is no way to choose the next intensity."""
    check_choice("method", method, get_args(Method))


@dataclass(frozen=True)
class Quest(PlainState):
    """What is known of one observer's threshold: settings and all answers so far.

    An update gives a new object and leaves the old one as it is. Settings and answers are the whole
    state, so that it is small, can be read, and comes back exactly from JSON; the posterior follows
    from them. Intensities and thresholds are log10 units throughout. Begin with :func:`quest`.

    Examples
    --------
    >>> state = quest(guess=1.0, sd=1.0)
    >>> state = state.update(state.next_intensity(), True)
    >>> state = state.update(state.next_intensity(), False)
    >>> state
    Quest(2 trials, threshold 1.506, SD 0.646)
    >>> state == Quest.from_dict(state.to_dict())
    True
    """

    _schema: ClassVar[str] = "affectlab/quest/1"
    settings: QuestSettings
    """Prior and psychometric function."""
    intensities: tuple[float, ...] = ()
    """Intensity of every trial, in order."""
    correct: tuple[bool, ...] = ()
    """Whether each was answered correctly, or with "yes"."""

    def __repr__(self) -> str:
        n = plural(self.n_trials, "trial")
        return f"Quest({n}, threshold {self.mean:.3f}, SD {self.sd:.3f})"

    @property
    def n_trials(self) -> int:
        """Answers so far."""
        return len(self.intensities)

    @property
    def grid(self) -> Floats:
        """Thresholds that are told apart, shape (n,), ascending."""
        return self.settings.grid

    @cached_property
    def _log_posterior(self) -> Floats:
        """Log posterior on the grid, but for a constant."""
        trials = list(zip(self.intensities, self.correct, strict=True))
        # The same intensities come again and again. Rows are added one by one in the order of the
        # trials, as updates do, so that a state that was stored gives the same bits.
        rows = {trial: self.settings.log_likelihood(*trial) for trial in set(trials)}
        found = self.settings.log_prior.copy()
        for trial in trials:
            found += rows[trial]
        return _explained(found, plural(self.n_trials, "trial"))

    @cached_property
    def posterior(self) -> Floats:
        """Probability of every threshold of the grid, shape (n,), summing to 1."""
        height = np.exp(self._log_posterior - self._log_posterior.max())
        share: Floats = height / height.sum()
        share.flags.writeable = False
        return share

    def update(self, intensity: float, correct: bool) -> Quest:
        """Give the state after one more answer.

        Parameters
        ----------
        intensity
            Log10 intensity that was shown, whether or not it was the one suggested; ``-inf`` for a
            trial with nothing to be seen, which says nothing about the threshold.
        correct
            Whether the answer was correct, or, where the answer is yes or no, whether it was "yes".

        Raises
        ------
        InputError
            When the intensity is no number, or the answer is not possible under the settings (no
            lapses, no guesses).
        """
        shown = -math.inf if intensity == -math.inf else number_of("intensity", intensity)
        if not isinstance(correct, (bool, np.bool_)):
            raise InputError(f"correct is {correct!r}; expected True or False")
        after = self._log_posterior + self.settings.log_likelihood(shown, bool(correct))
        _explained(after, f"trial {self.n_trials + 1}")
        new = Quest(self.settings, (*self.intensities, shown), (*self.correct, bool(correct)))
        # One step from here: no need to go through all answers again.
        new.__dict__["_log_posterior"] = after
        return new

    @cached_property
    def mean(self) -> float:
        """Posterior mean of the threshold: the estimate."""
        return float(self.posterior @ self.grid)

    @cached_property
    def sd(self) -> float:
        """Posterior standard deviation of the threshold."""
        return math.sqrt(float(self.posterior @ (self.grid - self.mean) ** 2))

    @cached_property
    def mode(self) -> float:
        """Most probable threshold; the middle of them where several are."""
        best = self._log_posterior == self._log_posterior.max()
        return float(self.grid[best].mean())

    @cached_property
    def _cumulative(self) -> Floats:
        """Posterior probability below each border between thresholds, shape (n + 1,)."""
        below: Floats = np.concatenate([[0.0], np.cumsum(self.posterior)])
        below /= below[-1]
        return below

    def cumulative(self, intensity: float) -> float:
        """Give the posterior probability that the threshold is at most `intensity`."""
        place = number_of("intensity", intensity)
        return float(np.interp(place, self.settings.edges, self._cumulative))

    def quantile(self, p: float) -> float:
        """Give the threshold below which the posterior probability is `p`, in [0, 1]."""
        check_number("p", p, 0, 1)
        # Where the posterior is 0 many borders have one cumulative probability. Those before the
        # first threshold that is possible go, and of others the lowest stays.
        first = int(np.searchsorted(self._cumulative, 0, side="right")) - 1
        below, edges = self._cumulative[first:], self.settings.edges[first:]
        kept = np.append(True, np.diff(below) > 0)
        return float(np.interp(p, below[kept], edges[kept]))

    def next_intensity(self, method: Method = "mean", among: ArrayLike | None = None) -> float:
        """Suggest the log10 intensity of the next trial.

        It is advice: update with what was shown.

        Parameters
        ----------
        method
            ``"mean"`` of the posterior (King-Smith et al. 1994), its ``"mode"`` (Watson & Pelli
            1983), the ``"quantile"`` at which an answer tells most if the psychometric function is
            a step (Pelli 1987), or ``"entropy"``: where the answer is expected to lower the entropy
            of the posterior most (QUEST+, Watson 2017).
        among
            Log10 intensities that can be shown. The nearest to what is suggested is given, or, by
            entropy, the best; of several the first. If not given, anything goes, and entropy
            chooses among the thresholds of the grid.

        Raises
        ------
        InputError
            When the method is not known, or `among` is no list of numbers.
        """
        check_method(method)
        if method == "entropy":
            shown = candidates_of(self.grid if among is None else among)
            return shown[int(np.argmax(self._information(shown)))]
        if method == "quantile":
            wanted = self.quantile(self.settings.best_quantile)
        else:
            wanted = self.mode if method == "mode" else self.mean
        if among is None:
            return wanted
        shown = candidates_of(among)
        return shown[int(np.argmin(np.abs(np.array(shown) - wanted)))]

    def information(self, intensities: ArrayLike) -> Floats:
        """Give what an answer at each log10 intensity is expected to tell, in nats, shape (m,).

        It is the mutual information of answer and threshold: how much the entropy of the posterior
        falls on average.
        """
        return self._information(candidates_of(intensities))

    def _information(self, intensities: tuple[float, ...]) -> Floats:
        return expected_information(self.settings, intensities, self.posterior)

    @property
    def cut_off(self) -> tuple[bool, bool]:
        """Whether the posterior is cut off by the lower and by the upper end of the grid."""
        least = _END * self.posterior.max()
        return bool(self.posterior[0] > least), bool(self.posterior[-1] > least)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Give the credible interval of the threshold that leaves equal tails."""
        check_confidence(confidence)
        return self.quantile((1 - confidence) / 2), self.quantile((1 + confidence) / 2)

    def estimate(self, confidence: float = 0.95) -> Estimate:
        """Give posterior mean, standard deviation and credible interval of the threshold.

        It is not defined (``nan``, with a status) before the first answer, and where the posterior
        is cut off by an end of the grid, since mean and interval then say where the grid ends.
        """
        share = 100 * self.settings.threshold
        what = "QUEST", ("posterior mean", f"{share:g} % threshold")
        if not self.n_trials:
            return Estimate(math.nan, *what, reason=Reason(Cause.NONE, of="answers yet"))
        low, high = self.interval(confidence)
        value, sd, reason = self.mean, self.sd, None
        for cut, end in zip(self.cut_off, (0, -1), strict=True):
            if cut:
                value = sd = low = high = math.nan
                reason = Reason(Cause.CUT_OFF, of=f"{self.grid[end]:g}")
        return Estimate(
            value,
            *what,
            sd,
            low,
            high,
            n_items=len(set(self.intensities)),
            n_raters=1,
            n_ratings=self.n_trials,
            reason=reason,
        )

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Quest:
        """Take back what :meth:`to_dict` gave.

        Raises
        ------
        InputError
            When the data are something else.
        """
        kept = opened(data, cls._schema, ("settings", "intensities", "correct"))
        intensities = floats_of("intensities", kept["intensities"], -math.inf)
        correct = flags_of("correct", kept["correct"])
        if len(intensities) != len(correct):
            raise InputError(
                f"stored state has {len(intensities)} intensities and {len(correct)} answers; "
                "expected one answer for each"
            )
        return cls(QuestSettings.from_dict(kept["settings"]), intensities, correct)


def _explained(log_posterior: Floats, trials: str) -> Floats:
    """Give the log posterior back, unless it is nowhere above 0."""
    if not math.isfinite(log_posterior.max()):
        raise InputError(
            f"{trials}: no threshold of the grid explains the answer; "
            "expected a lapse or guess_rate above 0"
        )
    return log_posterior


def quest(
    guess: float,
    sd: float,
    *,
    threshold: float = 0.75,
    slope: float = 3.5,
    lapse: float = 0.01,
    guess_rate: float = 0.5,
    low: float | None = None,
    high: float | None = None,
    grain: float = 0.01,
) -> Quest:
    r"""Begin a staircase (QUEST) with what is thought of the threshold beforehand.

    The threshold has a normal prior on a grid. Every answer multiplies it by the probability of
    that answer under :func:`psychometric_function`, with slope, lapses and guess rate as given, and
    the next trial goes where the posterior says.

    Parameters
    ----------
    guess
        Where the threshold may lie: log10 of the intensity.
    sd
        Standard deviation of that guess, in log10 units; be generous, since a threshold far outside
        is found late. ``inf`` for a flat prior.
    threshold
        Share of correct (or "yes") answers that defines the threshold, not corrected for guessing.
    slope
        Slope of the psychometric function per log10 unit. It is not estimated: the interval is as
        good as this number.
    lapse
        Share of trials answered blindly.
    guess_rate
        With m alternatives of which one is right, 1/m. Where the answer is yes or no, the false
        alarm rate: the share of "yes" when there is nothing to be seen.
    low, high
        Ends of the grid of thresholds, 2.5 on either side of `guess` if not given. Leave room
        beyond what can be shown, so that a threshold out of reach is found to be so.
    grain
        Distance of the grid's points, in log10 units.

    Returns
    -------
    Quest
        ``next_intensity(method, among)`` suggests a trial, and ``update(intensity,
        correct)`` gives the state after it; ``estimate(confidence)``, ``mean``, ``sd``,
        ``mode``, ``quantile(p)``, ``interval(confidence)`` and ``posterior`` say what is
        known; ``to_dict()`` and ``Quest.from_dict`` store it.

    Raises
    ------
    InputError
        When a number is out of its range.

    References
    ----------
    Watson, A. B., & Pelli, D. G. (1983). QUEST: A Bayesian adaptive psychometric method.
    Perception & Psychophysics 33, 113-120.
    King-Smith, P. E., et al. (1994). Efficient and unbiased modifications of the QUEST threshold
    method. Vision Research 34, 885-912.
    Watson, A. B. (2017). QUEST+: A general multidimensional Bayesian adaptive psychometric method.
    Journal of Vision 17 (3), 10.

    Examples
    --------
    >>> from affectlab.analysis import simulate_observer
    >>> observer = simulate_observer(-1.2, seed=1)
    >>> state = quest(guess=-1, sd=1)
    >>> for _ in range(50):
    ...     shown = state.next_intensity()
    ...     state = state.update(shown, observer(shown))
    >>> state.estimate()
    Estimate(-1.184 [-1.271, -1.060], QUEST, posterior mean, ...; 50 items, 1 raters, 50 ratings)
    """
    centre = number_of("guess", guess)
    return Quest(
        QuestSettings(
            guess=centre,
            sd=sd,
            threshold=threshold,
            slope=slope,
            lapse=lapse,
            guess_rate=guess_rate,
            low=centre - 2.5 if low is None else low,
            high=centre + 2.5 if high is None else high,
            grain=grain,
        )
    )
