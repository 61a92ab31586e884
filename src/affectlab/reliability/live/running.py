"""Reliability of a study while it runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import numpy as np
import polars as pl
from scipy.special import stdtrit

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.inference import check_confidence
from affectlab.core.types import Floats
from affectlab.ratings import Ratings, Scale
from affectlab.reliability.agreement import LevelName, Pairable, alpha_of, level_maker
from affectlab.reliability.live.raters import RaterChecks
from affectlab.reliability.live.store import Store, TrialKind
from affectlab.reliability.live.sums import Cell, LabelSums, PairCounts, exact_alpha

if TYPE_CHECKING:
    from affectlab.reliability.agreement import Distance


__all__ = [
    "MOST_PAIRED_VALUES",
    "RunningReliability",
    "agreement_table",
    "alpha_table",
    "level_name",
    "read_state",
    "rows_of",
    "score_table",
    "state_of",
]

# A running study as plain data, and ratings as its answers.


_VERSION = 1
_INFINITE = "inf"


def state_of(store: Store, checks: RaterChecks, tolerance: float) -> dict[str, Any]:
    """Give everything as lists, text and finite numbers."""
    golden = [
        [key, None, value] if isinstance(key, str) else [*key, value]
        for key, value in store.golden.items()
    ]
    limits = {
        name: _INFINITE if value is not None and math.isinf(value) else value
        for name, value in checks.to_dict().items()
    }
    return {
        "version": _VERSION,
        "scale": store.scale.to_dict(),
        "labels": None if store.labels is None else list(store.labels),
        "golden": golden,
        "checks": limits,
        "tolerance": tolerance,
        "raters": list(store.given),
        "answers": [list(row) for row in store.rows()],
    }


def read_state(state: Mapping[str, Any]) -> tuple[dict[str, Any], list[str], list[Any]]:
    """Give the options of the constructor, the raters and the answers."""
    if state.get("version") != _VERSION:
        raise InputError(f"state of version {state.get('version')!r}; expected version {_VERSION}")
    try:
        limits: dict[str, Any] = {
            name: math.inf if value == _INFINITE else value
            for name, value in state["checks"].items()
        }
        options = {
            "scale": Scale.from_dict(state["scale"]),
            "labels": state["labels"],
            "golden": {
                stimulus if label is None else (stimulus, label): value
                for stimulus, label, value in state["golden"]
            },
            "checks": RaterChecks(**limits),
            "tolerance": state["tolerance"],
        }
        raters, answers = state["raters"], state["answers"]
    except KeyError as error:
        raise InputError(f"state without {error.args[0]!r}; expected a whole state") from None
    return options, raters, answers


def rows_of(ratings: Ratings) -> Iterable[tuple[Any, ...]]:
    """Usable answers of ratings, in the order of the arguments of ``Store.add``."""
    frame = ratings.frame
    if "outcome" in frame.columns:
        outcome = pl.col("outcome").cast(pl.String)
        frame = frame.filter(outcome.is_null() | (outcome == "ok"))
    frame = frame.filter(pl.col("value").is_not_null() & pl.col("value").is_not_nan())

    def column(name: str, default: Any, dtype: Any) -> list[Any]:
        if name not in frame.columns:
            return [default] * frame.height
        given = frame[name].cast(dtype)
        return (given if default is None else given.fill_null(default)).to_list()

    return zip(
        column("stimulus", None, pl.String),
        column("rater", None, pl.String),
        frame["value"].to_list(),
        column("label", None, pl.String) if ratings.has_labels else [None] * frame.height,
        column("trial_kind", "main", pl.String),
        column("session", None, pl.String),
        column("trial", None, pl.Int64),
        strict=True,
    )


# Tables of estimates from the sums of a running study, as the batch functions give them.


MOST_PAIRED_VALUES = 256
"""With more distinct values, ordinal and ratio alpha are computed from the answers themselves."""


def level_name(level: str | None, scale: Scale) -> str:
    """Give the level of measurement that alpha uses."""
    return level_maker(level, None, scale)[0]


def alpha_table(
    level: str,
    parts: Mapping[str, tuple[LabelSums, PairCounts | None, Iterable[Cell]]],
    note: str,
) -> Estimates:
    """Alpha of every label; a part without pair counts is computed from its answers."""
    values, status = [], []
    for sums, pairs, cells in parts.values():
        value = math.nan if not sums.questions else _alpha(level, sums, pairs, cells)
        values.append(value)
        if not sums.questions:
            status.append("undefined: no unit with two ratings")
        elif len(sums.margins) == 1:
            status.append("undefined: one category")
        else:
            undefined = "undefined: no expected disagreement"
            status.append(undefined if math.isnan(value) else "ok")
    totals = [sums for sums, _, _ in parts.values()]
    return Estimates.build(
        {"label": list(parts)},
        value=values,
        method=f"Krippendorff's alpha, {level}{note}",
        n_items=[sums.questions for sums in totals],
        n_raters=[len(sums.raters) for sums in totals],
        n_ratings=[sums.n for sums in totals],
        status=status,
    )


def _alpha(level: str, sums: LabelSums, pairs: PairCounts | None, cells: Iterable[Cell]) -> float:
    if level in ("nominal", "interval"):
        return exact_alpha(level, sums)
    if pairs is None:
        return _alpha_of_answers(level, cells)
    if level == "ordinal":
        return exact_alpha(level, sums, pairs)
    return _ratio(sums, pairs)


def _ratio(sums: LabelSums, pairs: PairCounts) -> float:
    distance = cast("Distance", level_maker("ratio", None, None)[1].distance)
    observed = []
    for m, counts in pairs.sizes.items():
        if counts:
            ends = np.array(list(counts))
            weight = np.fromiter(counts.values(), np.float64, len(counts)) / (m - 1)
            observed += (2 * weight * distance(ends[:, 0], ends[:, 1])).tolist()
    values = np.array(sorted(sums.margins))
    margins = np.array([sums.margins[value] for value in values.tolist()], dtype=np.float64)
    first, second = np.broadcast_arrays(values[:, None], values)
    terms = margins[:, None] * margins * distance(first, second)
    expected = math.fsum(terms.ravel().tolist()) / (sums.n - 1)
    return 1 - math.fsum(observed) / expected if expected > 0 else math.nan


def _alpha_of_answers(level: str, cells: Iterable[Cell]) -> float:
    kept = [sorted(cell.values()) for cell in cells if len(cell) > 1]
    sizes = [len(values) for values in kept]
    part = Pairable(
        cell=np.repeat(np.arange(len(kept)), sizes),
        rater=np.concatenate([np.arange(size) for size in sizes]),
        value=np.concatenate([np.array(values) for values in kept]),
        unit=np.arange(len(kept)),
        n_units=len(kept),
    )
    bound = level_maker(level, None, None)[1](part)
    return alpha_of(bound, bound.statistics())


def agreement_table(
    parts: Mapping[str, LabelSums], tolerance: float, confidence: float
) -> Estimates:
    """Percent agreement of every label, with Student's interval."""
    rows = [_agreement(sums, confidence) for sums in parts.values()]
    near = f", within {tolerance:g}" if tolerance else ""
    value, se, low, high = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Estimates.build(
        {"label": list(parts)},
        value=value,
        se=se,
        low=low,
        high=high,
        method=f"percent agreement of pairs{near}, mean over units",
        n_items=[sums.questions for sums in parts.values()],
        n_raters=[len(sums.raters) for sums in parts.values()],
        n_ratings=[sums.n for sums in parts.values()],
        status=[
            "ok" if sums.questions else "undefined: no unit with two ratings"
            for sums in parts.values()
        ],
    )


def _agreement(sums: LabelSums, confidence: float) -> tuple[float, float, float, float]:
    n = sums.questions
    if not n:
        return math.nan, math.nan, math.nan, math.nan
    total, squares = sums.agreement()
    mean = float(total / n)
    if n == 1:
        return mean, math.nan, math.nan, math.nan
    se = math.sqrt((squares - total**2 / n) / (n * (n - 1)))
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * se
    return mean, se, max(mean - half, 0.0), min(mean + half, 1.0)


def score_table(
    rows: Mapping[tuple[str, str], tuple[int, float, float]], confidence: float
) -> Estimates:
    """Mean opinion scores from (n, mean, sd) by label and stimulus."""
    n = np.array([count for count, _, _ in rows.values()], dtype=np.int64)
    mean = np.array([mean for _, mean, _ in rows.values()], dtype=np.float64)
    sd = np.array([sd for _, _, sd in rows.values()], dtype=np.float64)
    se: Floats = sd / np.sqrt(n)
    half: Floats = stdtrit(np.maximum(n, 2) - 1, (1 + confidence) / 2) * se
    table = Estimates.build(
        {"label": [label for label, _ in rows], "stimulus": [stimulus for _, stimulus in rows]},
        value=mean,
        se=se,
        low=mean - half,
        high=mean + half,
        method="mean opinion score",
        n_items=1,
        n_raters=n,
        n_ratings=n,
    )
    return table.with_columns(pl.Series("sd", sd, dtype=pl.Float64))


class RunningReliability:
    """Take ratings one by one and say at any time what the batch functions would say.

    Agreement, scores and flags of raters are kept as exact whole-number sums over questions (a
    stimulus on a label). A rating changes the sums of its own question only, which costs time in
    proportion to the answers to that question; answers may be corrected, and raters or sessions
    rejected, in any order, and nothing drifts.

    Parameters
    ----------
    scale
        The scale of the answers, such as ``"0-100 interval"``.
    labels
        Names of the labels that are accepted; any when not given. A study of one unnamed question
        has the label ``"rating"``.
    golden
        Reference answers of golden trials, by stimulus or by ``(stimulus, label)``.
    checks
        Limits for the flags of raters; by default those of the scale.
    tolerance
        Largest difference that counts as agreement in :meth:`percent_agreement`.

    Raises
    ------
    InputError
        If the scale is not numeric, or the tolerance is negative.

    Notes
    -----
    Alpha on the nominal, ordinal and interval level and percent agreement are exact fractions
    rounded once; the batch functions differ from them by rounding, below 1e-12. Where the batch
    interval form finds the expected disagreement too small for its precision, it says undefined;
    here it is known. Ordinal and ratio alpha over more than 256 distinct values are computed from
    the answers. Interrater correlation over ranks cannot be updated: give :meth:`to_ratings` to
    :func:`interrater_correlation`. An object is not safe to use from several threads at once: a
    server guards it with a lock, also when it only asks.

    Examples
    --------
    >>> running = RunningReliability("1-5")
    >>> for stimulus, rater, value in [("a", "r", 1), ("a", "s", 1), ("b", "r", 4), ("b", "s", 5)]:
    ...     running.add(stimulus, rater, value)
    >>> running.alpha("interval")["rating"]
    Estimate(0.941, Krippendorff's alpha, interval; 2 items, 2 raters, 4 ratings)
    >>> running.add("b", "s", 4)
    Traceback (most recent call last):
    affectlab.InputError: rater 's' already answered stimulus 'b', with 5; expected one \
answer per question, or replace
    >>> running.replace("b", "s", 4)
    5.0
    >>> running.alpha("interval")["rating"].value
    1.0
    >>> running.remove("s")
    2
    >>> running.alpha("interval")["rating"].status
    'undefined: no unit with two ratings'
    """

    def __init__(
        self,
        scale: str | Scale,
        *,
        labels: Iterable[str] | None = None,
        golden: Mapping[str | tuple[str, str], float] | None = None,
        checks: RaterChecks | None = None,
        tolerance: float = 0.0,
    ) -> None:
        if not tolerance >= 0:
            raise InputError(f"tolerance {tolerance!r}: expected 0 or more")
        self.scale = Scale.parse(scale)
        if not self.scale.numeric:
            raise InputError("expected a scale of numbers, got a text scale")
        self.checks = RaterChecks.of_scale(self.scale) if checks is None else checks
        self.tolerance = float(tolerance)
        self._store = Store(
            self.scale,
            None if labels is None else tuple(labels),
            dict(golden or {}),
            self.tolerance + 1e-9 * (self.tolerance > 0),
        )

    @classmethod
    def from_ratings(cls, ratings: Ratings, **options: Any) -> RunningReliability:
        """Start from ratings; ``options`` are those of the constructor.

        Takes main answers as :meth:`Ratings.answers` gives them, and golden, repeat and training
        trials; a second main answer of a rater to a question is an error.
        """
        running = cls(ratings.scale, **options)
        running.extend(ratings)
        return running

    # -- answers ---------------------------------------------------------------------------------

    def add(
        self,
        stimulus: str,
        rater: str,
        value: float,
        label: str | None = None,
        trial_kind: TrialKind = "main",
        *,
        session: str | None = None,
        trial: int | None = None,
    ) -> None:
        """Take one answer.

        Parameters
        ----------
        stimulus, rater, label
            Names; ``label`` is ``None`` where the study has one unnamed question per stimulus.
        value
            A number on the scale.
        trial_kind
            ``"main"``, ``"golden"``, ``"repeat"`` (compared with the rater's main answer, whichever
            comes first) or ``"training"`` (not used).
        session
            Name of the sitting, so that it can be rejected as a whole.
        trial
            Number of the trial; tells several golden or repeated trials of a question apart.

        Raises
        ------
        InputError
            If the value is off the scale, the rater already answered the question, a golden trial
            has no reference, or a name is not known. Nothing is then changed.
        """
        self._store.add(stimulus, rater, value, label, trial_kind, session, trial)

    def replace(
        self,
        stimulus: str,
        rater: str,
        value: float,
        label: str | None = None,
        trial_kind: TrialKind = "main",
        *,
        session: str | None = None,
        trial: int | None = None,
    ) -> float:
        """Correct an answer and give the one it had; arguments as for :meth:`add`.

        Of a main answer the session is kept when none is given.

        Raises
        ------
        InputError
            If there is no such answer, or the value is off the scale.
        """
        return self._store.replace(stimulus, rater, value, label, trial_kind, session, trial)

    def remove(self, rater: str, *, session: str | None = None) -> int:
        """Remove a rejected rater, or one session of theirs, and give the number of answers.

        Raises
        ------
        InputError
            If the rater, or the session, is not known.
        """
        return self._store.remove(rater, session)

    def extend(self, ratings: Ratings) -> None:
        """Take all usable answers of ratings on the same scale.

        Raises
        ------
        InputError
            As :meth:`add`; nothing is then changed.
        """
        if replace(ratings.scale, declared=True) != replace(self.scale, declared=True):
            raise InputError(f"scale {ratings.scale}: expected the same scale, {self.scale}")
        new = RunningReliability(
            self.scale,
            labels=self._store.labels,
            golden=self._store.golden,
            checks=self.checks,
            tolerance=self.tolerance,
        )
        new._store.restore((), rows_of(ratings))
        self.merge(new)

    def merge(self, other: RunningReliability) -> None:
        """Take over the answers and golden references of another accumulator.

        Raises
        ------
        InputError
            If the scales or references differ, or both hold an answer to the same question of the
            same rater; nothing is then changed.
        """
        self._store.merge(other._store)

    # -- what is known -----------------------------------------------------------------------------

    @overload
    def alpha(
        self, level: LevelName | None = ..., *, by_label: Literal[True] = ...
    ) -> Estimates: ...
    @overload
    def alpha(self, level: LevelName | None = ..., *, by_label: Literal[False]) -> Estimate: ...

    def alpha(
        self, level: LevelName | None = None, *, by_label: bool = True
    ) -> Estimate | Estimates:
        """Krippendorff's alpha without an interval, as :func:`krippendorff_alpha` gives it.

        Parameters
        ----------
        level
            ``"nominal"``, ``"ordinal"``, ``"interval"`` or ``"ratio"``; by default that of the
            scale.
        by_label
            One coefficient per label, or one pooled over labels.
        """
        name = level_name(level, self.scale)
        sums = self._store.settled_sums()
        questions = self._store.by_label()
        pairs: dict[str, PairCounts] | None = None
        if name in ("ordinal", "ratio"):
            if self._few_values(sums.values()):
                pairs = self._store.settled_pairs()
            else:
                self._store.drop_pairs()
        if by_label:
            parts = {
                label: (
                    sums.get(label, LabelSums()),
                    None if pairs is None else pairs.get(label, PairCounts()),
                    cells.values(),
                )
                for label, cells in questions.items()
            }
            return alpha_table(name, parts, "")
        whole = (
            LabelSums.pooled(sums.values()),
            None if pairs is None else PairCounts.pooled(pairs.values()),
            [cell for cells in questions.values() for cell in cells.values()],
        )
        note = ", pooled over labels" if len(questions) > 1 else ""
        return alpha_table(name, {"pooled": whole}, note)["pooled"]

    @staticmethod
    def _few_values(parts: Iterable[LabelSums]) -> bool:
        return len({value for part in parts for value in part.margins}) <= MOST_PAIRED_VALUES

    @overload
    def percent_agreement(
        self, *, by_label: Literal[True] = ..., confidence: float = ...
    ) -> Estimates: ...
    @overload
    def percent_agreement(
        self, *, by_label: Literal[False], confidence: float = ...
    ) -> Estimate: ...

    def percent_agreement(
        self, *, by_label: bool = True, confidence: float = 0.95
    ) -> Estimate | Estimates:
        """Share of rater pairs that agree, as :func:`percent_agreement` gives it.

        ``by_label=False`` takes every label of every stimulus as a unit.
        """
        check_confidence(confidence)
        sums = self._store.settled_sums()
        if by_label:
            parts = {label: sums.get(label, LabelSums()) for label in self._store.by_label()}
            return agreement_table(parts, self.tolerance, confidence)
        whole = {"pooled": LabelSums.pooled(sums.values())}
        return agreement_table(whole, self.tolerance, confidence)["pooled"]

    def scores(self, *, confidence: float = 0.95) -> Estimates:
        """Mean, standard deviation and interval, as :func:`mean_opinion_scores` gives them.

        One row per label and stimulus with a main answer, in the order of the first answer.
        """
        check_confidence(confidence)
        self._store.settled_sums()
        summaries = self._store.summaries
        rows = {question: summaries[question] for question in self._store.questions}
        return score_table(rows, confidence)

    def score(self, stimulus: str, label: str | None = None) -> Estimate:
        """Mean and interval (95 %) of one stimulus with a main answer, alone."""
        question = (self._store.label_of(label, known=True), stimulus)
        cell = self._store.questions.get(question)
        if not cell:
            known = [name for at, name in self._store.questions if at == question[0]]
            raise unknown_name("stimulus", stimulus, known)
        return score_table({question: self._store.summary_of(cell)}, 0.95)[question]

    def flags(self) -> pl.DataFrame:
        """What is known about each rater, and what is wrong.

        Returns
        -------
        One row per rater who gave an answer: ``rater``; ``n`` main answers over all labels, their
        ``mean`` and ``sd`` (population, as in screening); ``correlation``, Pearson's over the
        ``n_shared`` questions that somebody else answered too, with the mean of the others (``nan``
        where a side is constant); ``golden`` and ``repeats`` that could be checked, and their
        ``golden_violations`` and ``repeat_violations``; ``flags``, reasons in words by
        :class:`RaterChecks`, empty for a rater in order.

        References
        ----------
        FaceExpressions-70k, section 3.4.5, for straight-lining, golden and repeated trials. Flags
        are about raters while they rate; verdicts about sessions are left to screening.
        """
        return self._store.flags(self.checks)

    # -- keeping -----------------------------------------------------------------------------------

    @property
    def n_ratings(self) -> int:
        """Main answers."""
        return sum(map(len, self._store.questions.values()))

    @property
    def rater_names(self) -> tuple[str, ...]:
        """Raters with an answer of any kind, in the order of their first."""
        return tuple(self._store.given)

    @property
    def stimulus_names(self) -> tuple[str, ...]:
        """Stimuli with a main answer."""
        return tuple(dict.fromkeys(stimulus for _, stimulus in self._store.questions))

    @property
    def label_names(self) -> tuple[str, ...]:
        """Labels with a main answer."""
        return tuple(self._store.by_label())

    def to_ratings(self) -> Ratings:
        """Give the answers that are held as ratings, for every other statistic."""
        return self._store.to_ratings()

    def state_dict(self) -> dict[str, Any]:
        """Give everything that is held as lists, text and numbers, fit for JSON."""
        return state_of(self._store, self.checks, self.tolerance)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> RunningReliability:
        """Restore what :meth:`state_dict` gave.

        Raises
        ------
        InputError
            If the state is of another version or incomplete.
        """
        options, raters, answers = read_state(state)
        running = cls(**options)
        running._store.restore(raters, answers)
        return running

    def __getstate__(self) -> dict[str, Any]:
        return self.state_dict()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(type(self).from_state(state).__dict__)

    def __repr__(self) -> str:
        return (
            f"RunningReliability({self.n_ratings} ratings, {len(self.stimulus_names)} stimuli, "
            f"{len(self.rater_names)} raters, {self.scale})"
        )
