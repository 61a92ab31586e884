"""What evaluation says in words, in one place: every template with plain facts.

``python -m tests.evaluation.test_wording`` writes the sentences anew; read what changed.
"""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from affectlab.core.estimates import Estimate
from affectlab.core.facts import Cause, Reason
from affectlab.evaluation import wording
from affectlab.evaluation.classes import wording as classes
from affectlab.evaluation.classification import wording as classification
from affectlab.evaluation.group_fairness import wording as group_fairness
from affectlab.evaluation.human_alignment import wording as human_alignment
from affectlab.evaluation.preference import wording as preference
from affectlab.evaluation.soft_labels import wording as soft_labels

pytestmark = pytest.mark.wording

WORDS = Path(__file__).with_name("wording.txt")


def estimate(value: float, low: float = np.nan, high: float = np.nan, n: int = 60) -> Estimate:
    return Estimate(value, low=low, high=high, n_items=n, n_raters=5, n_ratings=n)


def of_alignment() -> Iterator[str]:
    say = human_alignment
    basis = say.Basis(6, 120, 200, 8, 0.9, "8 actors")
    row = {
        "rater": "net",
        "measure": "kappa",
        "value": 0.004,
        "se": 0.02,
        "low": -0.06,
        "high": 0.069,
        "agreement": 0.779,
        "people": 0.774,
        "margin": 0.05,
        "p": 0.03,
        "verdict": "inside",
        "at_least": True,
        "n_items": 120,
    }
    words = "mean quadratic kappa"
    yield say.cannot_be_placed("net", "one person agrees with nobody else", basis)
    for changed, target in (
        ({}, "both"),
        ({"verdict": "below"}, "stimuli"),
        ({"verdict": "not shown"}, "raters"),
        ({"verdict": "not shown", "se": np.nan, "at_least": None}, "none"),
        ({"measure": "spearman", "verdict": "above"}, "both"),
    ):
        yield say.verdict(row | changed, words, target, basis, 0.95)
    yield say.without_careless(["ann"], {})
    yield say.without_careless(["ann", "bob"], {"net": "below"})
    test = {"rater": "net", "epsilon": 0.2, "passed": True, "wins": 4, "n_people": 6}
    yield say.alt_test_outcome(test | {"constant_answer": True})
    yield say.alt_test_outcome(test | {"passed": False, "constant_answer": False})
    few = asdict(Reason(Cause.FEWER, least=3, of="people"))
    yield say.alt_test_outcome(test | {"passed": None, "reason": few})
    best = {"value": 0.61, "min": 0.4, "max": 0.7, "best": "ann"}
    yield say.ceiling(best, "quadratic kappa")
    yield say.largest_discrepancy({"label": "joy", "value": -0.4, "rater": "net"})
    yield say.other_scale(["net"], "models and people have no common scale")
    yield say.one_person()
    yield from (say.about_these("stimuli", n) for n in (2, 5))
    yield say.few_people(4)
    yield say.pooled(3, "pooled quadratic kappa")
    yield say.few_shared(20, "quadratic kappa")
    yield say.disagreeing_people({"gus": 0.0}, 0.6)
    yield from (say.wide_margin(margin, 0.3) for margin in (0.2, 0.4))
    yield say.large_epsilon(0.2)
    yield say.partial_answers({"net": 0.74})
    yield say.undefined_labels("quadratic kappa", {"net": 2})
    yield from (say.several_models(4, 0.05, ["a", "b"], held) for held in ([], ["a"], ["a", "b"]))
    yield from say.models_notes(0.05, 6, 0.2)
    yield say.margin_caption("quadratic kappa", ", with 95 % intervals over stimuli", 0.05)


def of_classification() -> Iterator[str]:
    say, right = classification, estimate(0.6, 0.5, 0.7)
    yield say.not_judged("net")
    yield from (say.people(right, 0.95, sets, sets) for sets in (False, True))
    yield say.of_sets(right, estimate(0.5, 0.4, 0.6), estimate(0.55), 0.95)
    baselines = {"always joy": 0.3, "guessing": 0.2}
    yield from (say.right(one, 0.95, baselines) for one in (right, estimate(0.6, 0.2, 0.9)))
    yield say.right(estimate(0.6), 0.95, {})
    for emc in (estimate(0.7, 0.6, 0.8), estimate(0.5, 0.3, 0.6), estimate(0.7)):
        yield say.severity(emc, estimate(0.5), 12)
    yield say.severity(estimate(0.7), None, 1)
    yield say.truth("people", 60, 8, "hops, 1 to 4")
    yield say.answered_nothing("net")
    yield say.own_answers(60, "far 40 and near 60")
    yield from (say.common_answers(40, 60, shares) for shares in ("", "far 40 and near 60"))
    yield say.gaps_as_mistakes("net", 1, 60, True)
    yield say.no_distribution("there is no scale")
    yield say.macro_classes([], 8, [])
    yield say.macro_classes(["net"], 8, ["awe"])
    yield say.comparison("a", "b", {"a": ["ECC"]}, {"0.05": ["ACC"]}, ["F1"], ["EMC"])
    yield say.comparison("a", "b", {}, {}, [], [])
    yield say.pair("a", "b", {}, "ECC and EMC", 60)
    yield say.pair("a", "b", {"b": [say.values_of_pair("ECC", 0.7, 0.6)]}, "ECC", 60)
    yield from (say.winners(wins, 3) for wins in ({}, {"a": ["b", "c"]}))
    yield from (say.confusions("60", 0.9, worst) for worst in (None, ("joy", "awe", "4", "9")))
    yield say.confused_sets(60, 8, None)
    yield say.both_wrong(("a", "b"), (9, 8), 60, 5, 3)
    yield from (say.label_averages(0.5, n, 8, right) for n in (6, 8))
    yield from (
        classes.tied_truth(1, "leave_out"),
        classes.few_people(2, 3),
        classes.no_truth(2, True),
        classes.one_person(3, 60),
        classes.neutral_means("neutral", ["net"]),
        classes.tied_answers("random"),
        classes.partly_answered(),
    )


def of_distributions() -> Iterator[str]:
    say, far = soft_labels, estimate(0.2, 0.1, 0.3)
    yield say.not_judged("net")
    yield say.distance(far, "Jensen-Shannon divergence")
    for one in (far, estimate(-0.2, -0.3, -0.1), estimate(0.0, -0.1, 0.1)):
        yield say.beside_people(one, say.half(4))
    for over in (estimate(0.1, 0.05, 0.15), estimate(0.01, -0.05, 0.05)):
        yield from (say.confidence(over, far, majority) for majority in (False, True))
    yield say.unanimity(0.6, 0.2, 60, 0.9, 2.1)
    yield say.nobody_chose(60)
    yield say.source_of_people(60, 8, "share of the raters who chose the label")
    yield say.without_labels(1)
    yield say.partial_answers("net", 40, 60)
    yield say.nearest("Brier score", {}, np.nan, np.nan, [])
    yield say.nearest("Brier score", {"net": 0.2, "lazy": 0.5}, 0.3, 0.4, ["lazy"])
    yield say.cross_entropy(0.9, 0.001)
    yield say.distances_caption("Brier score, sum over labels")
    yield say.least("net", 0.2)
    yield say.calibration(0.1, 60, 0.8, 0.7)
    yield say.best_calibrated("net", 0.1, True)
    yield say.diagram_caption("share of people who agree")
    yield say.diagram(0.1, 60)


def of_groups() -> Iterator[str]:
    say = group_fairness
    row = {
        "rater": "net",
        "group": "woman",
        "against": "rest",
        "value": -0.8,
        "low": -1.1,
        "high": -0.5,
        "p_corrected": 0.005,
    }
    yield say.gap(row, "accuracy", "higher", "holm", 12)
    yield say.gap(row | {"label": "joy"}, "mean signed difference", "zero", "none", 2)
    yield from (say.nothing_tested("net", "gender", why) for why in ([], ["too few"]))
    yield say.nothing_can_be_shown("net", "bias by gender", "2 clusters can be shared out")
    yield say.gaps_are_small("net", "bias by gender", 2, 0.8, "60 stimuli")
    sizes = say.group_sizes([40, 60], "stimuli", "40 stimuli")
    yield from (say.no_gap("net", "bias", could, sizes) for could in ([], [0.2], [0.1, 0.2]))
    yield say.people_not_judged("mean signed difference")
    yield say.small_groups(5, "stimuli", ["other (3)"])
    yield say.few_clusters(1, "actor", 2)


def of_preferences() -> Iterator[str]:
    say = preference
    yield from map(say.target, ("stimuli", "raters", "both"))
    yield from map(say.too_few_judges, (0, 2))
    yield say.few_clusters_drawn("4 judges")
    a = {"choice": "a", "count": 60, "of": 100, "value": 0.6, "low": 0.52, "high": 0.68}
    b = {"choice": "b", "count": 40, "of": 100, "value": 0.4, "low": 0.32, "high": 0.48}
    yield say.preferred(a, b, 0.95)
    yield say.preferred(a | {"low": 0.4}, b, 0.95)
    yield say.preferred(a | {"low": 0.4}, b | {"count": 60}, 0.95)
    yield say.preferred(a | {"of": 0}, b, 0.95)
    yield say.undecided_votes({"both": 3}, 103)
    yield say.items_by_majority(a, b, {"count": 3}, 0.04)
    yield say.verdicts("majority", {"a": 5, "b": 4}, "no majority", 2)
    undefined = Estimate(np.nan, reason=Reason(Cause.ONE_CATEGORY))
    yield from map(say.agreement, (estimate(0.4), undefined))
    side = {"choice": "left", "value": 0.6, "low": 0.5, "p": 0.04}
    yield from (say.side(side | more) for more in ({}, {"p": np.nan}, {"choice": "B", "p": 0.3}))
    yield from say.intervals_of_shares("Wilson interval", "exact interval", True)
    ratio = {"value": 2.5, "low": 2.0, "high": 3.0, "count": 50, "of": 20}
    yield say.ratio(ratio, "human", "machine")
    yield say.good_items(a | {"of_what": "machine"})
    for bounds in (None, (0.2, 0.5)):
        yield say.items_without_verdict({"of": 9, "count": 6, "value": 2 / 3}, "none", bounds)
    yield from map(say.intervals_of_verdicts, ("", "jackknife over items"))
    yield say.no_scale("undefined")
    yield say.unlinked([["a", "b"], ["c"]])
    yield say.strongest("a", 0.8)
    effect = {"effect": "left", "value": 0.55, "low": 0.5, "high": 0.6, "p": 0.03}
    yield from (say.effect(effect | more) for more in ({}, {"effect": "tie"}))
    area = {"metric": "BART", "status": "ok", "value": 0.6, "low": 0.52, "high": 0.68}
    area |= {"all_low": 0.45, "all_high": 0.7, "n_together": 8, "verdict": "sees"}
    yield say.area(area, None)
    yield say.area(area | {"verdict": "does not show that it sees"}, None)
    yield say.area(area | {"verdict": "sees no more than the margin"}, 0.05)
    yield say.area(area | {"low": np.nan}, None)
    yield say.area_difference(area | {"other": "BLEU", "verdict": "no difference is shown"})
    yield say.groups_seen("emotion", 3, 2, 10, [], "95 % intervals for all 4 areas")
    yield say.judged_items(30, 20, "machine", "human", "item", {"both bad": 2})
    yield from (say.rough_intervals(10, clustered) for clustered in (False, True))
    yield say.without_scores(3, "item")
    yield say.meaning_of_areas("machine", "item", say.areas_left_out(0.95, 40, None))


def of_answers() -> Iterator[str]:
    yield from (wording.usable(100, 0.9, failed) for failed in ({}, {"timed_out": 10}))
    row = {"value": 0.8, "low": 0.7, "high": 0.9}
    yield wording.lowest_share(["net", "short"], row, 0.95)
    yield wording.partly_asked(["net"], 60, 70, 1)
    mean = row | {"status": "ok"}
    unbiased = {"value": 0.6, "low": 0.5, "high": 0.7, "status": "ok"}
    best, worst = (["joy"], 0.9), (["fear"], 0.5)
    yield wording.recognised("people", mean, unbiased, 0.2, best, worst, 0.95)
    alike = (["joy", "awe"], 0.9)
    yield wording.recognised("people", mean, unbiased, np.nan, alike, alike, 0.95)
    yield wording.intended_column("emotion")
    yield wording.without_intention(2)
    yield wording.never_answered("people", ["fear"])
    one, none = estimate(0.4), estimate(0.0)
    yield wording.repeats(one, True, 0.2, 0.9)
    yield wording.repeats(one, False, np.nan, np.nan)
    yield wording.control_not_compared("no_image", one)
    yield wording.nothing_to_keep("wrong_image", none, one)
    yield wording.agreement_kept("no_image", "quadratic kappa", one, none, one, one)
    yield wording.hints_followed(one, none)


SENTENCES = {
    "human_alignment": of_alignment,
    "classification": of_classification,
    "soft_labels": of_distributions,
    "group_fairness": of_groups,
    "preference": of_preferences,
    "answers": of_answers,
}


def written() -> str:
    parts = (f"# {name}\n" + "\n".join(say()) for name, say in SENTENCES.items())
    return "\n\n".join(parts) + "\n"


def test_words_are_those_that_were_read() -> None:
    assert written() == WORDS.read_text(encoding="utf-8")


if __name__ == "__main__":
    WORDS.write_text(written(), encoding="utf-8")
