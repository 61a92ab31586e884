"""The words of facts: one template for each kind, and what a few of them read like."""

from __future__ import annotations

import math
import string

import pytest

from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Formula, IntervalFact, Reason
from affectlab.core.render.notes import interval_notes, row_status_text
from affectlab.core.wording import (
    REASONS,
    coverage_text,
    interval_text,
    method_text,
    reason_text,
    target_text,
)

pytestmark = pytest.mark.wording


@pytest.mark.parametrize("cause", Cause)
def test_every_cause_has_a_template_that_takes_a_reason(cause: Cause) -> None:
    fields = {name for _, name, _, _ in string.Formatter().parse(REASONS[cause]) if name}
    assert fields <= {"n", "least", "few", "of", "one", "units"}
    words = reason_text(Reason(cause, n=3, least=5, of="raters"))
    assert words
    assert "None" not in words
    assert not words.endswith(".")


@pytest.mark.parametrize("formula", Formula)
def test_every_formula_has_a_name(formula: Formula) -> None:
    assert "interval" in interval_text(IntervalFact("analytic", formula=formula))


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (Reason(Cause.ONE_CATEGORY), "one category"),
        (Reason(Cause.NONE, of="stimulus with two ratings"), "no stimulus with two ratings"),
        (Reason(Cause.FEWER, least=2, of="raters"), "fewer than two raters"),
        (Reason(Cause.FEWER, least=12, of="raters"), "fewer than 12 raters"),
        (Reason(Cause.FEW_UNITS, 1, 5, "actors"), "1 actor, expected 5 or more"),
        (Reason(Cause.FEW_UNITS, 4, 5, "actors"), "4 actors, expected 5 or more"),
        (Reason(Cause.MANY_ANSWERS, 20_000, of="ratings"), "more than 20,000 ratings"),
        (Reason(Cause.SINGLE_UNIT, of="stimuli"), "a single stimulus gives no standard error"),
        (Reason.of_text("the sensor was off"), "the sensor was off"),
    ],
)
def test_reasons(reason: Reason, words: str) -> None:
    assert reason_text(reason) == words


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        (IntervalFact("analytic", formula=Formula.WILSON), "Wilson interval"),
        (
            IntervalFact("analytic", ("actors",), formula=Formula.LINEARISED),
            "linearised interval over actors",
        ),
        (
            IntervalFact("jackknife", ("stimuli", "raters")),
            "jackknife over stimuli and raters",
        ),
        (
            IntervalFact("jackknife", ("stimuli", "raters"), (40, 0)),
            "jackknife over stimuli and raters, stimuli in 40 groups",
        ),
        (
            IntervalFact("percentile", ("stimuli",), replicates=200),
            "percentile bootstrap, 200 replicates",
        ),
        (
            IntervalFact("bca", ("actors", "raters"), replicates=200, undefined=3),
            "bca bootstrap of actors and raters, 200 replicates, 3 undefined",
        ),
    ],
)
def test_intervals(interval: IntervalFact, words: str) -> None:
    assert interval_text(interval) == words


def test_methods() -> None:
    alpha = ("Krippendorff's alpha", "ordinal")
    jackknife = IntervalFact("jackknife", ("stimuli",))
    weak = IntervalFact("jackknife", ("stimuli",), coverage=0.85, design="6 raters")
    assert method_text(alpha, None, None) == "Krippendorff's alpha, ordinal"
    assert method_text(alpha, jackknife, None) == (
        "Krippendorff's alpha, ordinal; jackknife over stimuli"
    )
    assert method_text(alpha, None, Reason(Cause.NO_VARIATION)) == (
        "Krippendorff's alpha, ordinal; no interval: no variation to estimate an error from"
    )
    assert method_text(alpha, jackknife, Reason(Cause.TWO_RATERS)) == (
        "Krippendorff's alpha, ordinal; jackknife over stimuli; "
        "two raters cannot be generalised to others"
    )
    assert coverage_text(weak).replace("\u00a0", " ") == (
        "95 % intervals held in 85 % of simulated studies alike (6 raters)"
    )
    assert coverage_text(jackknife) == ""


def test_statuses_and_targets() -> None:
    assert row_status_text({"status": "ok", "reason": "one_category"}) == ""
    row = {"cause": "one_category", "n": None, "least": None, "of": ""}
    assert row_status_text({"status": "undefined", "reason": row}) == "undefined: one category"
    assert row_status_text({"status": "doubtful", "reason": None}) == "doubtful"
    assert target_text("both", IntervalFact("jackknife", ("stimuli", "raters"))) == (
        "other items and other raters"
    )
    assert target_text("actors", IntervalFact("jackknife", ("actors",))) == (
        "other actors, the same raters"
    )
    assert target_text("none", None) == ""


def table(**given: object) -> Estimates:
    columns = {"value": [0.5, 0.4], "se": 0.1, "low": [0.3, 0.2], "high": [0.7, 0.6]}
    return Estimates.build({"label": ["joy", "fear"]}, **{**columns, **given})  # type: ignore[arg-type]


def test_notes_name_the_rows_where_intervals_are_about_different_things() -> None:
    found = table(target=["none", "stimuli"])
    assert interval_notes(found.frame, found.keys) == [
        "intervals of joy follow from a formula",
        "intervals of fear are about other items, the same raters",
    ]


def test_notes_say_once_what_holds_of_all_rows() -> None:
    found = table(target="both", interval=IntervalFact("jackknife", ("actors", "raters")))
    assert interval_notes(found.frame, found.keys) == [
        "intervals are about other actors and other raters"
    ]


def test_notes_say_which_rows_have_no_interval() -> None:
    found = table(
        low=[math.nan, 0.2],
        high=[math.nan, 0.6],
        target="stimuli",
        reason=[Cause.UNDEFINED_REPLICATES, None],
    )
    assert interval_notes(found.frame, found.keys) == [
        "intervals are about other items, the same raters",
        "joy: no interval: too many replicates are undefined",
    ]
