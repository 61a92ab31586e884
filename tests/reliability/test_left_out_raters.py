"""Intervals about other raters move with the raters, of every statistic that claims them."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t

import affectlab
from affectlab import Ratings
from affectlab.analysis import circumplex
from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, IntervalFact, Reason
from affectlab.core.inference import infer
from affectlab.core.statistic import STIMULI_AND_RATERS, Design, Draws, Statistic, Sums, from_sums
from affectlab.evaluation import alignment, discrepancy, recognition
from affectlab.ratings.answers.arrays import Answers, answers_of
from affectlab.reliability import (
    concordance,
    internal_consistency,
    interrater_correlation,
)
from affectlab.reliability.agreement import Coefficient, load_coefficients
from affectlab.reliability.agreement.wording import PAIRED_UNIT
from affectlab.reliability.rater_agreement import rater_agreement

PEOPLE = [f"p{k}" for k in range(6)]
LABELS = ("valence", "arousal", "dominance")


def answers(people: list[str] = PEOPLE) -> Ratings:
    """Six people answer thirty stimuli on three labels, the later ones with more noise."""
    rng = np.random.default_rng(11)
    truth = rng.normal(3.5, 1.2, 30)
    rows = []
    for k, name in enumerate(PEOPLE):
        for label in LABELS:
            given = np.clip(np.rint(truth + rng.normal(0.1 * k, 0.3 + 0.3 * k, 30)), 0, 7)
            here = rng.random(30) > 0.1 if label == "valence" and k else np.ones(30, bool)
            rows += [(f"s{i:02}", name, label, given[i]) for i in np.flatnonzero(here)]
    kept = [row for row in rows if row[1] in people]
    columns = ("stimulus", "rater", "label", "value")
    return Ratings(dict(zip(columns, zip(*kept, strict=True), strict=True)), scale="0-7")


def valence(ratings: Ratings) -> Ratings:
    return ratings.select(labels=["valence"])


def _consistency(ratings: Ratings, **options: object) -> tuple[float, float]:
    row = internal_consistency(ratings, **options).to_frame().row(0, named=True)
    return row["value"], row["se"]


def _concordance(ratings: Ratings, **options: object) -> tuple[float, float]:
    row = concordance(valence(ratings), **options).to_frame().row(0, named=True)
    return row["value"], row["se"]


def _interrater(ratings: Ratings, **options: object) -> tuple[float, float]:
    row = interrater_correlation(valence(ratings), **options)["valence"]
    return row.value, row.se


def _machine() -> Ratings:
    rng = np.random.default_rng(12)
    value = np.clip(np.rint(np.random.default_rng(11).normal(3.5, 1.2, 30)), 0, 7)
    columns = {"stimulus": [f"s{i:02}" for i in range(30)], "rater": ["m"] * 30}
    return Ratings(
        {**columns, "label": ["arousal"] * 30, "value": value + rng.integers(-1, 2, 30)},
        scale="-1-9 interval",
        raters={"rater": ["m"], "rater_kind": ["model"]},
    )


def _alignment(ratings: Ratings, **options: object) -> tuple[float, float]:
    people = ratings.select(labels=["arousal"])
    row = alignment(people, _machine(), **options).difference["spearman", "m"]
    return row.value, row.se


def _discrepancy(ratings: Ratings, **options: object) -> tuple[float, float]:
    row = discrepancy(ratings.select(labels=["arousal"]), _machine(), **options)["m", "arousal"]
    return row.value, row.se


def _recognition(ratings: Ratings, **options: object) -> tuple[float, float]:
    # The label with the highest number is what is recognised.
    names = [f"s{i:02}" for i in range(30)]
    shown = {"stimulus": names, "intended": [LABELS[i % 3] for i in range(30)]}
    table = recognition(ratings.with_stimuli(shown), **options).to_frame("estimates")
    row = table.filter(measure="unbiased_hit_rate").row(0, named=True)
    return row["value"], row["se"]


OTHERS: dict[str, Callable[..., tuple[float, float]]] = {
    "reliability/internal_consistency.py": _consistency,
    "reliability/agreement/concordance.py": _concordance,
    "reliability/correlation/interrater.py": _interrater,
    "evaluation/human_alignment/measures.py": _alignment,
    "evaluation/human_alignment/discrepancy.py": _discrepancy,
    "evaluation/recognition.py": _recognition,
}


ELSEWHERE = {
    # In the registry of coefficients, below.
    "reliability/agreement/alpha.py",
    "reliability/agreement/icc.py",
    # Below.
    "analysis/circumplex.py",
    # tests/reliability/test_components.py and tests/evaluation/test_preferences.py.
    "reliability/components/left_out.py",
    "evaluation/preference/tally.py",
}


def by_hand(value: Callable[[Ratings], float]) -> tuple[float, np.ndarray]:
    """The jackknife error over raters, from six smaller sets of ratings, and their values."""
    left = np.array([value(answers([one for one in PEOPLE if one != out])) for out in PEOPLE])
    n = len(PEOPLE)
    return float(np.sqrt((n - 1) / n * ((left - left.mean()) ** 2).sum())), left


@pytest.mark.parametrize("function", OTHERS.values(), ids=OTHERS)
def test_error_over_raters_is_that_of_leaving_each_out(function) -> None:
    value, se = function(answers(), target="raters")
    expected, left = by_hand(lambda left: function(left, target="sample")[0])
    assert np.abs(left - value).min() > 1e-6
    assert se == pytest.approx(expected, rel=1e-9)


def test_places_on_a_circumplex_move_with_raters() -> None:
    def mean(ratings: Ratings) -> float:
        return circumplex(ratings).to_frame().row(0, named=True)["x"]

    expected, _ = by_hand(mean)
    row = circumplex(answers()).to_frame().row(0, named=True)
    assert row["x_high"] - row["x_low"] == pytest.approx(2 * t.ppf(0.975, 5) * expected)


@pytest.mark.parametrize("one", load_coefficients(), ids=lambda one: one.name)
def test_every_coefficient_about_raters_moves_with_them(one) -> None:
    ratings = answers().select(labels=["arousal"])
    options = one.usual(ratings.scale)

    def row(left: Ratings, target: str) -> dict[str, float]:
        found = one(left.select(labels=["arousal"]), target=target, **options)
        return found.to_frame().row(0, named=True)

    found = row(ratings, "raters")
    expected, left = by_hand(lambda some: row(some, "sample")["value"])
    assert np.abs(left - found["value"]).min() > 1e-6
    assert found["se"] == pytest.approx(expected, rel=1e-6)


def test_no_statistic_claims_raters_unseen() -> None:
    """Who writes another one adds it to the list above, or takes sums that know raters."""
    source = Path(affectlab.__file__).parent
    claims = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if re.search(r"targets=STIMULI_AND_RATERS|targets=\(.*raters", path.read_text("utf-8"))
    }
    assert claims - {"core/statistic.py"} == {
        *OTHERS,
        *ELSEWHERE,
    }
    assert Statistic.__dataclass_fields__["targets"].default == ("stimuli",)


# A coefficient as somebody else would add it: Finn's r, from sums over stimuli.


def finn_r(given: Answers) -> Statistic:
    """Compute one less the variance within stimuli over that of uniform answers on 0 to 7.

    Parameters
    ----------
    answers
        Answers.

    Returns
    -------
    Estimates by label.
    """
    parts, units, raters = [], [], []
    for part in given.by_label():
        unit, place = np.unique(part.unit, return_inverse=True)
        n = np.bincount(place)
        mean = np.bincount(place, part.value) / n
        square = np.bincount(place, (part.value - mean[place]) ** 2)
        sums = np.column_stack([square, n - 1.0])
        parts.append(Sums(sums, lambda t: 1 - t[:, 0] / t[:, 1] / 5.25, unit))
        units.append(unit)
        raters.append(part.rater)
    design = Design.of(units, len(given.units), raters, len(given.raters))
    n = len(given.labels)
    return from_sums(
        parts,
        design,
        keys={"label": given.labels},
        bounds=(-np.inf, 1.0),
        method=["Finn's r"] * n,
        n_items=design.stimulus.sum(axis=1),
        n_raters=design.rater.sum(axis=1),
        n_ratings=np.bincount(given.label, minlength=n),
        undefined=Reason(Cause.NONE, of=PAIRED_UNIT),
    )


def test_sums_over_stimuli_give_no_interval_about_raters() -> None:
    made = Coefficient("finn_r", "Finn's r", finn_r)
    ratings = valence(answers())
    found = made(ratings)["valence"]
    assert found.target == "stimuli"
    assert found.interval == IntervalFact("jackknife", ("stimuli",))
    assert found.se == pytest.approx(made(ratings, target="stimuli")["valence"].se)
    for target in ("both", "raters"):
        with pytest.raises(InputError, match=f"target '{target}': not possible for Finn's r"):
            made(ratings, target=target)
    statistic = finn_r(answers_of(ratings))
    with pytest.raises(InputError, match="cannot be drawn over raters"):
        statistic.evaluate(Draws(6, rater=1.0 - np.eye(6)))
    with pytest.raises(InputError, match="target 'both'"):
        infer(statistic, interval="percentile", target="both")


def test_sums_that_know_raters_are_drawn_over_them() -> None:
    class Known(Sums):
        def rater_totals(self, draws: Draws) -> np.ndarray:
            assert draws.rater is not None
            return draws.rater @ np.column_stack([np.arange(4.0), np.ones(4)])

    def made(part: Sums) -> Statistic:
        every = np.arange(4)
        return from_sums(
            [part, None],
            Design.of([every, every[:0]], 4, [every, every[:0]], 4),
            keys={"of": ["x", "y"]},
            bounds=(-np.inf, np.inf),
            method=["mean"] * 2,
            n_items=[4, 0],
            n_raters=[4, 0],
            n_ratings=[4, 0],
            undefined="",
        )

    sums = np.column_stack([np.arange(4.0), np.ones(4)])
    known = made(Known(sums, lambda t: t[:, 0] / t[:, 1], np.arange(4)))
    assert known.targets == STIMULI_AND_RATERS
    row = infer(known, interval="jackknife", target="raters")["x"]
    assert row.se == pytest.approx(np.arange(4.0).std(ddof=1) / 2)
    assert made(Sums(sums, lambda t: t[:, 0] / t[:, 1], np.arange(4))).targets == ("stimuli",)


def test_a_table_of_coefficients_takes_one_about_stimuli(monkeypatch) -> None:
    """By default each has the widest target it can; what was asked for by name is refused."""
    room = importlib.import_module("affectlab.reliability.agreement.coefficient")
    monkeypatch.setitem(room._OURS, "finn_r", Coefficient("finn_r", "Finn's r", finn_r))
    ratings = valence(answers())
    table = rater_agreement(ratings, more=True).table("finn_r")
    assert table.frame["target"].to_list() == ["stimuli"]
    with pytest.raises(InputError, match="Finn's r"):
        rater_agreement(ratings, more=True, target="raters")
