"""What each kind of fact reads like: the only place where words of reliability are compared."""

from __future__ import annotations

import pytest

from affectlab.core.facts import Cause, Reason
from affectlab.reliability import wording
from affectlab.reliability.agreement import wording as agreement
from affectlab.reliability.components import wording as components
from affectlab.reliability.planning import wording as planning
from affectlab.reliability.screening import wording as screening
from affectlab.reliability.subject_models import wording as subject_models

pytestmark = pytest.mark.wording


def test_wording() -> None:
    assert [
        wording.severity_text(
            "joy",
            ("ann", -1.0),
            ("bob", 1.5),
            wording.chi_squared_text(3, 20.5, 0.0001),
            different=True,
        ),
        wording.misfit_text("joy", ["ann"], noisier=True),
        wording.by_group_text(
            "joy", "gender", wording.chi_squared_text(3, 1.5, 0.7), 0, different=False
        ),
        wording.batch_text(2, 30, 0.9),
        wording.set_text(
            20, 10, 5, [(Reason(Cause.DISSENT), 3), (Reason(Cause.NOT_IN_EVERY_BATCH), 2)]
        ),
        wording.single_votes(4, 6),
        wording.inferred_split(30, 3, 9),
        wording.against_majority(["joy"], 0.2),
        wording.least_accurate("ann", "joy", 0.1, 0.5, 0.7),
        wording.sure_text(18, 20, 0.95, 1),
        wording.trace_text(4, "", 0.94, 0.63, (-1.0, 2.0)),
        wording.alpha_text("Cronbach's alpha", 4, "0.81", 0.82),
        wording.reversed_items(["tense"], "reverse"),
        wording.below_chance(7, 7),
        wording.range_text(wording.alpha_among("3 people"), ("fear", 0.2), ("joy", 0.6)),
        wording.not_correlated("joy", nominal=True),
        wording.alike_pair("a", "b", wording.alike_evidence(40, 1.0, 3.0, 0.0, 11.9, 1e-20)),
        wording.equal_shares(1.0, 0.4, 40, 0.0005),
        wording.few_alike(40, 0.1),
        wording.careless_included(["ann", "bob"], "screen"),
        wording.preserved_text(2, 5, 30, 6, 10),
    ] == [
        (
            "joy: raters differ in severity, from ann (−1.00) to bob (1.50; χ²(3) = 20.5, p < "
            "0.001)."
        ),
        "joy: 1 rater noisier than the model (infit, Holm): ann.",
        (
            "joy: severity could not be shown to depend on gender (χ²(3) = 1.5, p = 0.700; 0 "
            "differences with Holm's correction)."
        ),
        "batch 2: 30 items, 90.0% confirmed",
        (
            "Consensus set: 20 items present, 10 absent; 5 excluded (dissent: 3; not asked in "
            "every batch: 2)"
        ),
        (
            "4 single yes and 6 single no votes may belong to batch 1 or to the contrastive "
            "batch, so that their agreement is only bounded."
        ),
        (
            "Given 30 items confirmed in batch 1, 3 of them were not rated again, and 9 single "
            "yes votes are contrastive."
        ),
        (
            "joy: more than 20\xa0% of items have another category than most answers; answers "
            "may depend on each other, or categories may be swapped"
        ),
        (
            "ann has the lowest chance-corrected accuracy on joy: 0.10 (50\xa0% of answers "
            "right; median of raters 0.70)."
        ),
        (
            "18 of 20 items have a category with a probability of 95\xa0% or more; in 1 item "
            "it is not that of most answers."
        ),
        (
            "Concordance among 4 raters is 0.94 after removing lags of −1.0 to 2.0 s, and 0.63 "
            "as recorded."
        ),
        "Cronbach's alpha of 4 items is 0.81, omega 0.82.",
        "negative item-rest r: tense; if worded in reverse, use reverse",
        (
            "agreement is below chance on 7 of 7 labels, as where answers decide who rates a "
            "stimulus next: agreement then does not describe raters"
        ),
        "Krippendorff's alpha among 3 people is between 0.20 (fear) and 0.60 (joy).",
        "interrater correlation leaves out joy: categories have no order",
        (
            "raters 'a' and 'b' answer alike: 40 shared stimuli, 100% of answers equal after a "
            "shift of 3; SD of differences 0, expected 11.9 (p < 1e-12)"
        ),
        "100% of answers to 40 shared stimuli equal, 40% expected (p = 0.0005)",
        "differences over 40 shared stimuli are 0.10 of what is expected, possibly by chance",
        "Scores include careless answers of ann and bob (see screen).",
        "2 of 5 components preserved; 30 examples, 6 raters, 10 splits",
    ]


def test_agreement() -> None:
    assert [
        agreement.unpaired_text(2, 112, by_label=True),
        agreement.halves_text("0.80 to 0.90", ("joy", "fear"), "0.89 to 0.95"),
        agreement.percent_name(""),
        agreement.concordance_range("10 people", ("joy", 0.7), ("fear", 0.8)),
        agreement.single_rater(0.83),
        agreement.best_rater(
            "wide", 2, agreement.PEOPLE, "", "0.97", agreement.people_worth(0.05, 0.0, 0.25, 0.95)
        ),
        agreement.measures_caption(agreement.PEOPLE, people=True),
    ] == [
        "112 ratings, 2 unused: no second rating of the same stimulus and label.",
        (
            "Split-half correlation 0.80 to 0.90 (joy, fear); corrected to all ratings, 0.89 "
            "to 0.95."
        ),
        "percent agreement of pairs, mean over units",
        "Concordance among 10 people is between 0.70 (joy) and 0.80 (fear).",
        "The median rater has a concordance of 0.83 with the mean of the others.",
        (
            "wide, the best of 2 raters, has concordance 0.97 with the mean of people; its "
            "error is that of the mean of 20.0 people (95\xa0% interval from 4.0)."
        ),
        (
            "Comparison with the mean of people; of a person: median over people, absolute "
            "differences."
        ),
    ]


def test_components() -> None:
    assert [
        components.shares_text({"stimulus": 0.5, "residual": 0.5}, 1, latent=False),
        components.reliability_text({"rater": 4}, 0.8, 0.7, 0.9),
        components.few_raters(4),
        components.inseparable(["gender"], "stimulus", 4),
        components.labels_text("condition", ["joy"], 3),
        components.levels_text(
            "race", ("a", 4.0), ("b", 3.0), components.test_text(1, 12.0, 6.5, 0.02), different=True
        ),
        components.levels_text(
            "race", ("a", 4.0), ("b", 3.0), components.test_text(1, None, 1.5, 0.2), different=False
        ),
        components.slope_text(
            "age", {"value": 0.1, "low": 0.05, "high": 0.15}, "p = 0.02", different=True
        ),
        components.interaction_text("age", "race", "p = 0.5", different=False),
        components.latent_scale(probit=True),
        components.population_text(["raters", "stimuli"]),
        components.no_random_slope("race", "raters", "rater:race"),
    ] == [
        "Share of variance: stimulus 50\xa0% and residual 50\xa0%.",
        "The reliability of the mean of 4 raters is 0.80 (0.70 to 0.90).",
        (
            "The variance between 4 raters is estimated poorly; estimator='posterior' uses "
            "weak priors."
        ),
        "gender and stimulus (4 levels) cannot be separated",
        "Condition has an effect on 1 of 3 labels (joy), with Holm's correction.",
        (
            "Ratings differ by race: highest for a (4.00), lowest for b (3.00; F(1, 12.0) = "
            "6.50, p = 0.020)."
        ),
        (
            "No effect of race could be shown: highest for a (4.00), lowest for b (3.00; χ²(1) "
            "= 1.50, p = 0.200)."
        ),
        "Ratings change by 0.100 per unit of age (0.050 to 0.150; p = 0.02).",
        "No interaction of age and race could be shown (p = 0.5).",
        (
            "Estimates are on a latent scale with residual SD 1 (probit). Tests are "
            "asymptotic: too liberal with few raters or stimuli."
        ),
        "Tests and intervals generalise to other raters and stimuli.",
        (
            "Race varies within raters: the test is too liberal if its effect differs between "
            "them; add the factor rater:race."
        ),
    ]


def test_planning() -> None:
    assert [
        planning.unreached_text(
            4, 8, "split-half correlation", planning.goal_text(0.99, at_most=False), "0.9"
        ),
        planning.recommended_text(
            12,
            92,
            planning.width_text(0.95, None),
            "9.8",
            ("9.7", "9.9"),
            planning.goal_text(10, at_most=True),
        ),
        planning.open_text(10, None, 48),
        planning.model_text(20, 6, (12, 4), "interval 0 to 100", 0),
        planning.workload_text(8000, 250, 96, 100, 800.0),
        planning.size_text(25, 60, 1500),
        planning.shared_batch("pilot and main study share 1 stimulus: a"),
        planning.few_raters("joy", 4, 25, 0.4),
        planning.narrow_scores("joy", (40.0, 60.0), (0.0, 100.0)),
        planning.about_these(["joy"], "stimuli", Reason(Cause.TWO_RATERS)),
        planning.no_look("joy", "alpha", Reason(Cause.ONE_CATEGORY), unanimous=False),
        planning.go_on_text(
            "joy",
            planning.look_value("alpha", 0.5, (0.4, 0.6), 0.95),
            0.2,
            0.1,
            planning.needed_text(2.2, 1000, ["stimuli", "raters"]),
        ),
    ] == [
        (
            "4 to 8 raters per stimulus do not reach a split-half correlation of at least "
            "0.99; best 0.9."
        ),
        (
            "12 raters per stimulus and 92 stimuli: width of the 95 % interval (mean over "
            "stimuli) 9.8 (Monte Carlo 9.7 to 9.9); goal at most 10."
        ),
        "Other pilots of this size would recommend 10 to more than 48 raters (80 % of pilots).",
        "stimuli SD 20, rater bias SD 6, inconsistency 12 ± 4; interval 0 to 100",
        "8,000 ratings of 250 stimuli by 96 people with up to 100 each; cost 800.00.",
        "Pilot of 25 raters and 60 stimuli, 1,500 ratings.",
        "Pilot and main study share 1 stimulus: a; use separate batches.",
        ("joy: 4 raters, fewer than 25; the SD of their biases has a relative error of about 40%."),
        (
            "joy: mean scores lie within 40 to 60 of a scale of 0 to 100; consider more "
            "extreme stimuli."
        ),
        (
            "joy: intervals are about other stimuli, the same raters, since two raters cannot "
            "be generalised to others"
        ),
        "joy: go on, alpha has no interval (all answers are the same).",
        (
            "joy: go on, alpha is 0.50 (95 % interval 0.40 to 0.60 at any look). Stopping now "
            "gives an interval 0.20 wide; 0.1 takes 2.2 times the stimuli and 2.2 times the "
            "raters."
        ),
    ]


def test_screening() -> None:
    assert [
        str(screening.Unjudged(screening.Gap.NO_COLUMN, "rt_ms")),
        str(screening.Unjudged(screening.Gap.FEW, "shared answers", 20)),
        str(screening.Unjudged(screening.Gap.FEW_RATERS, least=20, n=3)),
        screening.spread_text(10, "ratings", 2.0, 5.0),
        screening.run_text(30.0, 40, 20),
        screening.speed_text(10, 400.0, 1000.0),
        screening.violations_text(
            3,
            5,
            screening.golden_off(screening.far_text(25, percent_of_scale=False)),
            3.0,
            violated=True,
        ),
        screening.correlation_text(-0.5, 0.1, 12, 0.2),
        screening.outliers_text(3.0, 4.0, 40.0, (0.175, 0.05), (0.14, 0.3)),
        screening.careless_text(0.9995, 40, 0.05, constant=False, is_reversed=False),
        screening.panel_text("inconsistency", 3.0, 40, float("-inf"), 2.0),
        screening.panel_text("severity", 3.0, 40, -1.0, 1.0),
        screening.verdict_text("panel", "rater", 20, unused=2, look=1, unpaid=0, blocked=0),
        screening.careless_rates(0.0, 0.9),
        screening.correlation_rates(0.05, 0.2, 0.9),
        screening.judged_nobody("drift", screening.Unjudged(screening.Gap.NO_ORDER_COLUMN)),
        screening.overlap_text(["a", "b"]),
    ] == [
        "not applicable: no column 'rt_ms'",
        "not judged: fewer than 20 shared answers",
        "not applicable: fewer than 3 raters with 20 shared answers",
        "SD of 10 ratings: 2 < 5",
        "longest run of equal answers: 30 of 40 >= 20",
        "median of 10 response times: 400 < 1000 ms",
        "3 of 5 golden answers 25 or more off >= 3",
        "correlation with the others' mean -0.50 (n = 12), upper end 0.10 < 0.2",
        (
            "7 of 40 ratings far from the others (17.5% > 5%), 3 above and 4 below (imbalance "
            "0.14 < 0.3)"
        ),
        "slope on the others' answers 0.05 of a typical rater's (n = 40); P(careless) > 0.999",
        "SD of residuals 3.00 (n = 40); expected at most 2.00",
        "difference from the others 3.00 (n = 40); expected −1.00 to 1.00",
        "Policy panel: of 20 raters, 2 not used, 1 to look at, 0 not paid; 0 raters blocked.",
        (
            "In simulations the rule flags under 0.1 % of attentive raters and 90\xa0% of "
            "raters who answer at random."
        ),
        (
            "The rule flags raters whose true correlation is 0.2 or more in at most 5\xa0% of "
            "panels, and 90\xa0% of raters who answer at random."
        ),
        "Rule 'drift' not applicable: no column 'trial' or 'at' gives the order of answers.",
        "pilot and main study share 2 stimuli: a, b",
    ]


def test_subject_models() -> None:
    assert [
        subject_models.collapsed_text("", "ann", 0.991, 0.1, 2.0),
        subject_models.small_panel(3, "p910"),
        subject_models.known_weights("p910"),
        subject_models.separate_groups("", 2),
        subject_models.similar_text("a and b answer alike", subject_models.effect_of_pairs("reml")),
        subject_models.open_pair("", ("a", "b"), 0.9, "differences"),
        subject_models.fit_text(
            "reml", 40, 8, 12, converged=True, n_collapsed=1, alike=[("a", "b")]
        ),
    ] == [
        (
            "scores repeat rater 'ann', who has 99.10% of the weight on shared stimuli "
            "(inconsistency 0.1; median 2)"
        ),
        "3 raters per stimulus (median): p910 can collapse; prefer reml",
        (
            "p910 ignores errors of the weights: 95 % intervals of scores held in 87 to 90 % "
            "of simulated studies with 10 or 20 raters per stimulus, in 50 to 77 % with three; "
            "prefer reml"
        ),
        (
            "2 groups of raters share no stimulus: their scores are comparable only if mean "
            "biases are equal"
        ),
        "a and b answer alike; not enough to call one a copy, but they count as one rater",
        "raters 'a' and 'b' have 90% of the weight and may be copies: differences",
        (
            "reml, 40 scores, 8 raters, converged after 12 rounds, 1 rater collapsed, raters "
            "who answer alike: 'a' and 'b'"
        ),
    ]


@pytest.mark.parametrize("gap", screening.Gap)
def test_every_gap_has_a_template(gap: screening.Gap) -> None:
    words = str(screening.Unjudged(gap, "of", 5, 3))
    assert words.startswith(("not applicable: ", "not judged: "))
    assert "None" not in words
