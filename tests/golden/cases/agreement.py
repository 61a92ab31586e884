"""Agreement of raters, scores of stimuli, screening and planning."""

from __future__ import annotations

from functools import partial

import numpy as np
from tests.golden.case import ITERATED, case

BY_FORMULA = {"interval": "analytic", "target": "stimuli"}
NUMERIC = (
    "full",
    "gaps",
    "ties",
    "unanimous",
    "one_rater",
    "two_raters",
    "slider",
    "models",
    "repeats",
    "two_scales",
    "guessed",
    "binary",
)
ORDERED = ("full", "gaps", "ties", "one_rater", "models")


@case(*NUMERIC, "nominal", "text")
def alpha(al, ratings):
    return al.reliability.krippendorff_alpha(ratings, target="sample")


@case("gaps", "ties", "one_rater", "binary", "nominal")
def alpha_levels(al, ratings):
    levels = (
        ("nominal",)
        if "nominal" in str(ratings.scale)
        else ("nominal", "ordinal", "interval", "ratio")
    )
    alpha = al.reliability.krippendorff_alpha
    return {level: alpha(ratings, level=level, target="sample") for level in levels}


@case("gaps", "ties", "unanimous", "one_rater", "nominal", "models")
def alpha_intervals(al, ratings):
    found = {
        f"{target.replace('stimuli', 'units')} {interval}": al.reliability.krippendorff_alpha(
            ratings, n_boot=60, target=target, interval=interval, seed=1
        )
        for target, interval in (
            ("stimuli", "percentile"),
            ("raters", "percentile"),
            ("both", "percentile"),
            ("stimuli", "bca"),
        )
    }
    found["pooled"] = al.reliability.krippendorff_alpha(
        ratings, by_label=False, n_boot=60, seed=1, interval="percentile", target="stimuli"
    )["pooled"]
    over_labels = al.reliability.over_labels
    found["over labels"] = over_labels(found["units percentile"]) if ratings.has_labels else None
    return found


@case("gaps")
def alpha_own_distance(al, ratings):
    steps = np.abs(np.subtract.outer(np.arange(8), np.arange(8))) ** 1.5
    return al.reliability.krippendorff_alpha(ratings, distance=steps, target="sample")


@case(*NUMERIC, "nominal")
def chance_corrected(al, ratings):
    reliability = al.reliability
    return {
        "fleiss": lambda: reliability.fleiss_kappa(ratings, **BY_FORMULA),
        "gwet": lambda: reliability.gwet_ac(ratings, **BY_FORMULA),
        "pairs at random": lambda: reliability.random_pair_kappa(ratings, seed=1),
        "percent": lambda: reliability.percent_agreement(ratings, **BY_FORMULA),
    }


@case("full", "gaps", "ties", "unanimous", "one_rater", "models", "binary")
def chance_corrected_weighted(al, ratings):
    reliability = al.reliability
    found = {
        "percent within 1": reliability.percent_agreement(ratings, tolerance=1.0, **BY_FORMULA)
    }
    for weights in ("linear", "quadratic"):
        found[f"fleiss {weights}"] = reliability.fleiss_kappa(
            ratings, weights=weights, **BY_FORMULA
        )
        found[f"gwet {weights}"] = reliability.gwet_ac(
            ratings, weights=weights, standard_error="gwet", **BY_FORMULA
        )
        found[f"random {weights}"] = reliability.random_pair_kappa(ratings, weights=weights, seed=2)
    return found


@case(*ORDERED, "unanimous", "nominal", "binary", "two_raters")
def kappa_of_pairs(al, ratings):
    return al.reliability.pairwise_kappa(ratings)


@case("gaps", "models", "full")
def kappa_summed_up(al, ratings):
    pairs = al.reliability.pairwise_kappa(ratings, weights="linear", truncate=True, confidence=0.9)
    return {
        "pairs": pairs,
        "matrix": al.reliability.agreement.kappa_matrix(pairs),
        "of people": pairs.of_kind("human-human"),
    }


@case()
def kappa_of_two(al):
    rng = np.random.default_rng(1)
    first = rng.integers(0, 8, 80)
    second = np.clip(first + rng.integers(-2, 3, 80), 0, 7)
    return {
        weights: al.reliability.weighted_kappa(first, second, weights=weights, scale="0-7")
        for weights in ("nominal", "linear", "quadratic")
    }


@case(*NUMERIC)
def correlation(al, ratings):
    return {
        "labels": al.reliability.interrater_correlation(ratings),
        "raters": al.reliability.interrater_correlation(
            ratings, by_rater=True, min_items=5, exclude=()
        ),
    }


@case("full", "gaps", "ties", "unanimous", "one_rater", "slider", "two_scales", "binary")
def intraclass(al, ratings):
    return {
        missing: al.reliability.intraclass_correlation(ratings, missing=missing)
        for missing in ("available", "listwise")
    }


def largest(half):
    """A scorer of one's own: the largest rating of every stimulus."""
    found = np.full(half.n_stimuli, -np.inf)
    np.maximum.at(found, half.stimulus, half.value)
    return found


@case("gaps", "one_rater", tolerance=ITERATED)
def halves(al, ratings):
    return {
        scorer: al.reliability.split_half(ratings, scorer=scorer, n_splits=4, seed=3)
        for scorer in ("reml", "mean", "p910")
    } | {"own": al.reliability.split_half(ratings, scorer=largest, n_splits=5, seed=3)}


@case("models", "gaps")
def spearman_of_raters(al, ratings):
    others = ratings.models() if "model" in ratings.rater_kinds else ratings
    found = {}
    for aggregate in ("median", "mean"):
        found[aggregate] = al.reliability.mean_spearman(
            ratings.humans(), others, aggregate=aggregate, n_boot=40, seed=4
        )
    found["by label"] = al.reliability.mean_spearman(
        ratings.humans(), others, by_label=True, n_boot=0
    )
    return found


@case(*NUMERIC)
def opinion_scores(al, ratings):
    return {
        "scores": al.reliability.mean_opinion_scores(ratings),
        "histogram": al.reliability.opinion_histogram(ratings),
        "all": al.reliability.opinion_histogram(ratings, by_stimulus=False),
    }


@case(*NUMERIC, tolerance=ITERATED)
def subject_reml(al, ratings):
    return al.reliability.subject_model(ratings)


@case("full", "gaps", "unanimous", "one_rater", "slider", "ties", "two_scales", tolerance=ITERATED)
def subject_methods(al, ratings):
    # Where the likelihood (mle) ends on a small table depends on how a processor rounds.
    found = {"p910": al.reliability.subject_model(ratings, method="p910")}
    for se in ("model", "rater", "stimulus"):
        found[f"se {se}"] = al.reliability.subject_model(ratings, se=se, by_label=False)
    return found


@case("repeats", "full")
def consistency(al, ratings):
    return al.reliability.self_consistency(ratings)


@case("repeats", "full", "slider", "one_rater")
def screening(al, ratings):
    found, golden = {}, {"g0": 4.0, "g1": 95.0, "g2": 50.0}
    for name in al.reliability.list_policies():
        found[name] = partial(al.reliability.screen, ratings, policy=name, golden=golden)
    screened = al.reliability.screen(ratings)
    return found | {
        "dropped": screened.raters_to_drop,
        "blocked": screened.blocked,
        "applied": lambda: len(screened.apply(ratings)),
    }


@case()
def policies(al):
    return {name: al.reliability.load_policy(name) for name in al.reliability.list_policies()}


@case("full", "slider", "gaps", "nominal", "one_rater")
def duplicates(al, ratings):
    return al.reliability.duplicate_raters(ratings)


@case()
def duplicates_planted(al):
    rng = np.random.default_rng(0)
    answers = rng.uniform(0, 100, 60) + rng.normal(0, 9, (5, 60))
    found = al.reliability.duplicate_raters(np.vstack([answers, answers[1] + 3]))
    return {"found": found, "groups": found.groups, "by rater": found.by_rater()}


@case("slider", "full")
def golden_items(al, ratings):
    found = {
        extremes: al.reliability.choose_golden(
            ratings,
            4,
            extremes=extremes,
            share=0.5,
            min_ratings=4,
            label="joy" if ratings.has_labels else None,
            seed=5,
        )
        for extremes in ("both", "low", "high")
    }
    return found | {"reference": found["both"].reference}


@case("slider", tolerance=ITERATED)
def planned(al, ratings):
    plan, given = (
        al.reliability.plan,
        al.reliability.PlanModel(
            stimulus_sd=20, rater_bias_sd=6, inconsistency=12, scale="0-100 interval"
        ),
    )
    found = {
        "interval": plan(given, quantity="interval", goal=10, n_stimuli=200, price=0.05),
        "power": plan(given, quantity="power", goal=0.8, difference=10, paired=True),
        "halves": plan(given, quantity="split_half", goal=0.9, n_raters=[8, 16, 32], n_sim=10),
        "pilot": plan(
            ratings, quantity="interval", goal=12, n_raters=[8, 16, 24], n_pilots=4, n_sim=6
        ),
    }
    return found | {"model": al.reliability.plan_model(ratings)}


@case("full", "gaps", tolerance=ITERATED)
def preserved_components(al, ratings):
    return al.reliability.ppca(ratings, n_splits=4, min_items=5, seed=6)


@case("binary")
def consensus(al, ratings):
    simulated = al.simulate.simulate_verification(120, seed=2)
    found = {"simulated": al.reliability.consensus_flow(simulated)}
    found["by label"] = al.reliability.consensus_flow(simulated, by_label=True)
    found["table"] = al.reliability.consensus_flow(ratings)
    return found
