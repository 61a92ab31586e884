"""Reliability of a study while it runs: answers one by one, and what they say so far."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args, overload

import polars as pl

from affectlab.core.errors import InputError, check_choice, check_number, unknown_name
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.inference import check_confidence
from affectlab.ratings import Ratings, Scale
from affectlab.reliability.agreement import (
    LevelName,
    krippendorff_alpha,
    level_maker,
    percent_agreement,
)
from affectlab.reliability.rank_correlation import rounding_digits
from affectlab.reliability.subject_models import mean_opinion_scores

TrialKind: TypeAlias = Literal["main", "golden", "repeat", "training"]
_UNNAMED = "rating"
_VERSION = 1
_INFINITE = "inf"
_PLACES = 6
_COLUMNS = {
    "stimulus": pl.String,
    "rater": pl.String,
    "value": pl.Float64,
    "label": pl.String,
    "trial_kind": pl.String,
    "session": pl.String,
    "trial": pl.Int64,
}


@dataclass(frozen=True)
class RaterChecks:
    """Limits of the flags of raters; points are those of the scale.

    The defaults are those of FaceExpressions-70k (section 3.4.5) per session of five golden and
    five repeated trials, with points as shares of the scale: 5 and 25 of 100. Counts must be
    reached, and as a share too, so that a rater of many sessions is not flagged for a few slips.
    ``None`` turns a check off, except for the tolerances.

    Examples
    --------
    >>> from affectlab.ratings import Scale
    >>> RaterChecks.of_scale(Scale.parse("0-100 interval")).straight_sd
    5.0
    """

    golden_tolerance: float
    """A golden answer this far from the reference, or farther, is a violation."""
    repeat_tolerance: float
    """A repeat this far from the first answer, or farther, is a violation."""
    straight_sd: float | None
    """Raters whose main answers have a population SD below it are straight-lining."""
    min_correlation: float | None = 0.2
    """Raters whose correlation with the others is below it are flagged."""
    golden_violations: int | None = 3
    repeat_violations: int | None = 3
    violations: int | None = 4
    """Golden and repeat violations together."""
    violation_share: float = 0.6
    """Share of the golden trials, or of the repeats, that must be violations as well."""
    total_violation_share: float = 0.4
    """Share of both together that must be violations as well."""
    min_answers: int = 10
    """Main answers, or shared questions, below which spread and correlation raise no flag."""

    def __post_init__(self) -> None:
        for name in ("golden_tolerance", "repeat_tolerance"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} {getattr(self, name)!r}: expected a number above 0")

    @classmethod
    def of_scale(cls, scale: Scale) -> RaterChecks:
        """Give the defaults for a scale.

        On a scale without two ends straight-lining is an SD of 0 and tolerances are infinite: say
        them to check golden trials and repeats.
        """
        if scale.kind in ("binary", "nominal"):
            correlation = None if scale.kind == "nominal" else 0.2
            return cls(0.5, 0.5, 1e-9, correlation)
        if scale.low is None or scale.high is None:
            return cls(math.inf, math.inf, 1e-9)
        width = scale.high - scale.low
        return cls(0.25 * width, 0.25 * width, 0.05 * width)

    def to_dict(self) -> dict[str, float | int | None]:
        """Give the limits as a plain dictionary."""
        return asdict(self)

    def words(self, row: Mapping[str, Any]) -> list[str]:
        """Say what is wrong with a rater; an empty list when nothing is."""
        words = []
        n, sd, correlation = row["n"], row["sd"], row["correlation"]
        if self.straight_sd is not None and n >= self.min_answers and sd < self.straight_sd:
            words.append(f"straight-lining: SD {sd:.3g} of {n} answers, below {self.straight_sd:g}")
        least, n_shared = self.min_correlation, row["n_shared"]
        if least is not None and n_shared >= self.min_answers and correlation < least:
            words.append(
                f"correlation {correlation:.2f} with the others on {n_shared} questions, "
                f"below {least:g}"
            )
        golden = row["golden"], row["golden_violations"]
        repeats = row["repeats"], row["repeat_violations"]
        both = golden[0] + repeats[0], golden[1] + repeats[1]
        own, of_both = self.violation_share, self.total_violation_share
        for name, (total, wrong), limit, share in (
            ("golden", golden, self.golden_violations, own),
            ("repeat", repeats, self.repeat_violations, own),
            ("golden and repeat", both, self.violations, of_both),
        ):
            enough = total and round(wrong / total, _PLACES) >= share
            if limit is not None and wrong >= limit and enough:
                words.append(f"{name} violations: {wrong} of {total}, {limit} or more")
        return words


class _Answer(NamedTuple):
    """An answer, with the columns of a table of ratings."""

    stimulus: str
    rater: str
    value: float
    label: str | None
    trial_kind: TrialKind
    session: str | None
    trial: int | None

    @property
    def place(self) -> tuple[Any, ...]:
        """Which answer it is: of whom, to what; other than main answers also when."""
        at = None if self.trial_kind == "main" else (self.session, self.trial)
        return self.trial_kind, self.label, self.stimulus, self.rater, at

    def __str__(self) -> str:
        of = "" if self.trial_kind == "main" else f"{self.trial_kind} "
        on = "" if self.label == _UNNAMED else f" on {self.label!r}"
        return f"{of}stimulus {self.stimulus!r}{on}"


class RunningReliability:
    """Take ratings one by one and say at any time what the functions for a finished study say.

    Answers may be corrected, and raters or sessions rejected, in any order, and leave no trace.
    Numbers are computed from the answers that are held when they are asked for.

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
    An object is not safe to use from several threads at once: a server guards it with a lock, also
    when it only asks.

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
        check_number("tolerance", tolerance, 0)
        self.scale = Scale.parse(scale)
        if not self.scale.numeric:
            raise InputError("expected a scale of numbers, got a text scale")
        self.checks = RaterChecks.of_scale(self.scale) if checks is None else checks
        self.tolerance = float(tolerance)
        self._labels = None if labels is None else tuple(labels)
        self._named: bool | None = None if labels is None else True
        self._answers: dict[tuple[Any, ...], _Answer] = {}
        self._kept: Ratings | None = None
        self._golden: dict[str | tuple[str, str], float] = {}
        for key, value in (golden or {}).items():
            if not isinstance(key, str) and self._labels is not None and key[1] not in self._labels:
                raise unknown_name("label", key[1], self._labels, f"golden {key[0]!r}")
            self._golden[key] = self._reference(value, f"golden {key!r}")

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
        answer = self._checked(stimulus, rater, value, label, trial_kind, session, trial)
        if (old := self._answers.get(answer.place)) is not None:
            raise InputError(
                f"rater {rater!r} already answered {answer}, with {old.value:g}; "
                "expected one answer per question, or replace"
            )
        if trial_kind == "golden" and self._expected(answer) is None:
            raise InputError(
                f"rater {rater!r}, {answer}: no reference answer is known; expected it among golden"
            )
        self._named = label is not None
        self._hold(answer)

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
        answer = self._checked(stimulus, rater, value, label, trial_kind, session, trial)
        old = self._answers.get(answer.place)
        if old is None:
            raise InputError(f"rater {rater!r} gave no answer to {answer}; expected one to replace")
        session = old.session if session is None else session
        self._hold(answer._replace(session=session, trial=old.trial if trial is None else trial))
        return old.value

    def remove(self, rater: str, *, session: str | None = None) -> int:
        """Remove a rejected rater, or one session of theirs, and give the number of answers.

        Raises
        ------
        InputError
            If the rater, or the session, is not known.
        """
        own = [one for one in self._answers.values() if one.rater == rater]
        if not own:
            raise unknown_name("rater", rater, self.rater_names)
        gone = [one.place for one in own if session in (None, one.session)]
        if not gone:
            known = sorted({one.session for one in own if one.session})
            raise unknown_name("session", str(session), known, f"rater {rater!r}")
        for place in gone:
            del self._answers[place]
        self._kept = None
        return len(gone)

    def extend(self, ratings: Ratings) -> None:
        """Take all usable answers of ratings on the same scale.

        Raises
        ------
        InputError
            As :meth:`add`; nothing is then changed.
        """
        if replace(ratings.scale, declared=True) != replace(self.scale, declared=True):
            raise InputError(f"scale {ratings.scale}: expected the same scale, {self.scale}")
        new = RunningReliability(self.scale, labels=self._labels, golden=self._golden)
        for row in _rows_of(ratings):
            new._add(*row)
        self.merge(new)

    def merge(self, other: RunningReliability) -> None:
        """Take over the answers and golden references of another accumulator.

        Raises
        ------
        InputError
            If the scales or references differ, or both hold an answer to the same question of the
            same rater; nothing is then changed.
        """
        if self.scale != other.scale:
            raise InputError(f"scale {other.scale}: expected the same scale, {self.scale}")
        for key, value in other._golden.items():
            if self._golden.get(key, value) != value:
                raise InputError(
                    f"golden {key!r}: reference {value:g}; expected the same, {self._golden[key]:g}"
                )
        rows = other._rows()
        for row in rows:
            answer = self._checked(*row)
            if answer.place in self._answers:
                raise InputError(
                    f"rater {answer.rater!r}: both hold an answer to {answer}; expected one"
                )
        self._golden.update(other._golden)
        for row in rows:
            self._add(*row)

    def _add(self, *row: Any) -> None:
        *answer, session, trial = row
        self.add(*answer, session=session, trial=trial)

    def _hold(self, answer: _Answer) -> None:
        self._kept = None
        self._answers[answer.place] = answer

    def _rows(self) -> list[_Answer]:
        """Give every answer, the main ones first."""
        rows = sorted(self._answers.values(), key=lambda one: one.trial_kind != "main")
        return rows if self._named else [one._replace(label=None) for one in rows]

    def _checked(
        self,
        stimulus: str,
        rater: str,
        value: float,
        label: str | None,
        kind: TrialKind,
        session: str | None,
        trial: int | None,
    ) -> _Answer:
        for name, given in (("stimulus", stimulus), ("rater", rater)):
            if not isinstance(given, str) or not given:
                raise InputError(f"{name} {given!r}: expected a name")
        check_choice("trial kind", kind, get_args(TrialKind))
        known = self._label_of(label, self._labels)
        number = self._value(value, f"rater {rater!r}, stimulus {stimulus!r}")
        return _Answer(stimulus, rater, number, known, kind, session, trial)

    def _label_of(self, label: str | None, known: tuple[str, ...] | None) -> str:
        if self._named is not None and self._named != (label is not None):
            expected = "a label with every answer" if self._named else "none, as before"
            raise InputError(f"label {label!r}: expected {expected}")
        if label is None:
            return _UNNAMED
        if known is not None and label not in known:
            raise unknown_name("label", label, known)
        return label

    def _value(self, value: float, where: str) -> float:
        try:
            number = math.nan if isinstance(value, str) else float(value) + 0.0
        except (TypeError, ValueError):
            number = math.nan
        if math.isnan(number):
            raise InputError(f"{where}: value {value!r}; expected a number")
        if not self.scale.contains([number])[0]:
            raise InputError(f"{where}: value {number:g} is off the scale ({self.scale})")
        return number

    def _reference(self, value: float, where: str) -> float:
        """Read a reference, which may be a mean and so lie between the steps of the scale."""
        low = -math.inf if self.scale.low is None else self.scale.low
        high = math.inf if self.scale.high is None else self.scale.high
        number = float(value)
        if not (math.isfinite(number) and low <= number <= high):
            raise InputError(f"{where}: value {number:g} is off the scale ({self.scale})")
        return number

    def _expected(self, answer: _Answer) -> float | None:
        """What a golden trial, or a repeat, is compared with; None where that is not known."""
        if answer.trial_kind == "golden":
            by_stimulus = self._golden.get(answer.stimulus)
            return self._golden.get((answer.stimulus, answer.label or ""), by_stimulus)
        main = self._answers.get(answer._replace(trial_kind="main").place)
        return None if main is None else main.value

    # -- what is known -----------------------------------------------------------------------------

    @property
    def _main(self) -> Ratings | None:
        """Main answers; None where there are none."""
        if self._kept is None and self.n_ratings:
            frame = self._frame().filter(pl.col("trial_kind") == "main")
            self._kept = Ratings(frame.drop("trial_kind"), scale=self.scale)
        return self._kept

    def _frame(self) -> pl.DataFrame:
        frame = pl.DataFrame(self._rows(), schema=_COLUMNS, orient="row")
        empty = [name for name in ("session", "trial") if frame[name].is_null().all()]
        return frame.drop(*empty, *([] if self._named else ["label"]))

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
        name = cast("LevelName", level_maker(level, None, self.scale)[0])
        if self._main is None:
            return _nothing(krippendorff_alpha([[math.nan]], level=name, target="sample"), by_label)
        found: Estimate | Estimates = krippendorff_alpha(
            self._main, level=name, by_label=by_label, target="sample"
        )
        return found

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
        options = {"tolerance": self.tolerance, "confidence": confidence}
        main = self._main
        if main is None:
            return _nothing(percent_agreement([[math.nan]], **options), by_label)
        if by_label:
            return percent_agreement(main, **options)
        frame = main.frame
        if main.has_labels:
            of_label = pl.concat_str("label", "stimulus", separator="\n").alias("stimulus")
            frame = frame.with_columns(of_label).drop("label")
        return percent_agreement(Ratings(frame, scale=self.scale), **options)[_UNNAMED]

    def scores(self, *, confidence: float = 0.95) -> Estimates:
        """Mean, standard deviation and interval, as :func:`mean_opinion_scores` gives them.

        One row per label and stimulus with a main answer.
        """
        check_confidence(confidence)
        if self._main is None:
            keys: dict[str, list[str]] = {"label": [], "stimulus": []}
            return Estimates.build(keys, value=[]).with_columns(pl.Series("sd", [], pl.Float64))
        return mean_opinion_scores(self._main, confidence=confidence)

    def score(self, stimulus: str, label: str | None = None) -> Estimate:
        """Mean and interval (95 %) of one stimulus with a main answer, as in :meth:`scores`."""
        name = self._label_of(label, self._labels or self.label_names)
        main = self._main
        if main is None or stimulus not in main.stimulus_names:
            raise unknown_name("stimulus", stimulus, self.stimulus_names)
        return mean_opinion_scores(main)[name, stimulus]

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
        frame = pl.DataFrame({"rater": self.rater_names}, schema={"rater": pl.String})
        for part in (self._of_answers(), self._of_checks()):
            frame = frame.join(part, on="rater", how="left", maintain_order="left")
        counts, numbers = pl.col(pl.Int64), pl.col(pl.Float64)
        frame = frame.with_columns(counts.fill_null(0), numbers.fill_null(math.nan))
        flags = [self.checks.words(row) for row in frame.iter_rows(named=True)]
        return frame.with_columns(pl.Series("flags", flags, dtype=pl.List(pl.String)))

    def _of_answers(self) -> pl.DataFrame:
        """Number, mean and spread of main answers by rater, and correlation with the others."""
        frame = pl.DataFrame(self._rows(), schema=_COLUMNS, orient="row")
        main = frame.filter(pl.col("trial_kind") == "main")
        value, question = pl.col("value"), ("label", "stimulus")
        digits = rounding_digits(float(main.select(value.abs().max()).item() or 0))
        others = (value.sum().over(question) - value) / (pl.len().over(question) - 1)
        # Equal means must tie exactly.
        main = main.with_columns(others=others.round(digits), m=pl.len().over(question))
        shared = pl.col("m") > 1
        x, y = value.filter(shared), pl.col("others").filter(shared)
        varies = (x.max() > x.min()) & (y.max() > y.min())
        return main.group_by("rater", maintain_order=True).agg(
            pl.len().cast(pl.Int64).alias("n"),
            value.mean().alias("mean"),
            value.std(ddof=0).alias("sd"),
            pl.when(varies).then(pl.corr(x, y)).otherwise(math.nan).alias("correlation"),
            shared.sum().cast(pl.Int64).alias("n_shared"),
        )

    def _of_checks(self) -> pl.DataFrame:
        """Golden and repeated trials of each rater, and how many of them are violations."""
        found = []
        for one in self._answers.values():
            if one.trial_kind not in ("golden", "repeat"):
                continue
            if (expected := self._expected(one)) is not None:
                off, golden = abs(one.value - expected), one.trial_kind == "golden"
                of_golden = golden, golden and off >= self.checks.golden_tolerance
                of_repeat = not golden, not golden and off >= self.checks.repeat_tolerance
                found.append((one.rater, *of_golden, *of_repeat))
        names = ("golden", "golden_violations", "repeats", "repeat_violations")
        schema = {"rater": pl.String, **dict.fromkeys(names, pl.Int64)}
        table = pl.DataFrame(found, schema=schema, orient="row")
        return table.group_by("rater", maintain_order=True).sum()

    # -- keeping -----------------------------------------------------------------------------------

    @property
    def n_ratings(self) -> int:
        """Main answers."""
        return sum(1 for _ in self._main_answers())

    @property
    def rater_names(self) -> tuple[str, ...]:
        """Raters with an answer of any kind, in the order of their first."""
        return tuple(dict.fromkeys(one.rater for one in self._answers.values()))

    @property
    def stimulus_names(self) -> tuple[str, ...]:
        """Stimuli with a main answer."""
        return tuple(dict.fromkeys(one.stimulus for one in self._main_answers()))

    @property
    def label_names(self) -> tuple[str, ...]:
        """Labels with a main answer."""
        return tuple(dict.fromkeys(one.label or "" for one in self._main_answers()))

    def _main_answers(self) -> Iterator[_Answer]:
        return (one for one in self._answers.values() if one.trial_kind == "main")

    def to_ratings(self) -> Ratings:
        """Give the answers that are held as ratings, for every other statistic."""
        return Ratings(self._frame(), scale=self.scale, source="running study")

    def state_dict(self) -> dict[str, Any]:
        """Give everything that is held as lists, text and numbers, fit for JSON."""
        return {
            "version": _VERSION,
            "scale": self.scale.to_dict(),
            "labels": None if self._labels is None else list(self._labels),
            "golden": [
                [key, None, value] if isinstance(key, str) else [*key, value]
                for key, value in self._golden.items()
            ],
            "checks": {
                name: _INFINITE if value is not None and math.isinf(value) else value
                for name, value in self.checks.to_dict().items()
            },
            "tolerance": self.tolerance,
            "answers": [list(row) for row in self._rows()],
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> RunningReliability:
        """Restore what :meth:`state_dict` gave.

        Raises
        ------
        InputError
            If the state is of another version or incomplete.
        """
        if state.get("version") != _VERSION:
            raise InputError(
                f"state of version {state.get('version')!r}; expected version {_VERSION}"
            )
        try:
            limits: dict[str, Any] = {
                name: math.inf if value == _INFINITE else value
                for name, value in state["checks"].items()
            }
            running = cls(
                Scale.from_dict(state["scale"]),
                labels=state["labels"],
                golden={
                    stimulus if label is None else (stimulus, label): value
                    for stimulus, label, value in state["golden"]
                },
                checks=RaterChecks(**limits),
                tolerance=state["tolerance"],
            )
            answers = state["answers"]
        except KeyError as error:
            raise InputError(f"state without {error.args[0]!r}; expected a whole state") from None
        for row in answers:
            running._add(*row)
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


def _nothing(one: Estimate, by_label: bool) -> Estimate | Estimates:
    """Say of no answers at all that nothing is defined, or give a table without rows."""
    return Estimates.build({"label": []}, value=[]) if by_label else one


def _rows_of(ratings: Ratings) -> Iterable[tuple[Any, ...]]:
    """Usable answers of ratings."""
    frame = ratings.coded_frame
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
