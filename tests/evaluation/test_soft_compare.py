"""Models and people face the same people: plain twins, known truth, control runs, bad input."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Formula, IntervalFact, Reason
from affectlab.evaluation import evaluate_soft_labels, soft_label_metrics
from affectlab.evaluation.soft_labels import (
    LabelDistributions,
    jensen_shannon,
    model_calibration,
    soft_label_comparison,
)
from affectlab.evaluation.soft_labels.wording import not_judged, partial_answers
from affectlab.ratings import Ratings
from affectlab.taxonomy import load_taxonomy

LABELS = load_taxonomy("mikels").labels
SCALE = "nominal:" + ",".join(LABELS)
ONE, HALVES, MEAN = (
    "a person against the others",
    "half the people against half",
    "mean of all stimuli",
)


def panel(n: int = 60, raters: int = 8, seed: int = 1) -> tuple[Ratings, np.ndarray, np.ndarray]:
    """People who draw their answers from a known distribution; their answers as codes, too."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.full(8, 0.5), n)
    codes = np.array([[rng.choice(8, p=row) for _ in range(raters)] for row in truth])
    table = {
        "stimulus": np.repeat([f"s{k}" for k in range(n)], raters).tolist(),
        "rater": [f"p{k}" for k in range(raters)] * n,
        "value": [LABELS[code] for code in codes.ravel()],
    }
    return Ratings(table, scale=SCALE, taxonomy="mikels"), truth, codes


def scores(truth: np.ndarray, name: str = "net", **raters: list[str]) -> Ratings:
    """Make a model that gives a probability to each label."""
    n = truth.shape[0]
    table = {
        "stimulus": np.repeat([f"s{k}" for k in range(n)], 8).tolist(),
        "rater": [name] * (8 * n),
        "label": list(LABELS) * n,
        "value": truth.ravel().tolist(),
    }
    kinds = {"rater": [name], "rater_kind": ["model"], **raters}
    return Ratings(table, scale="0-1 interval", raters=kinds)


def given(values: np.ndarray) -> LabelDistributions:
    return LabelDistributions.of(values, LABELS, [f"s{k}" for k in range(values.shape[0])])


def test_against_a_person_is_the_plain_mean():
    people, truth, codes = panel(n=25, raters=5)
    found = soft_label_comparison(
        people, {"net": given(truth)}, metrics=["jensen_shannon", "brier"], n_boot=0, seed=0
    )
    eye = np.eye(8)
    js, brier = [], []
    for row, q in zip(codes, truth, strict=True):
        of_js, of_brier = [], []
        for person in range(5):
            others = eye[np.delete(row, person)].mean(axis=0)
            own = eye[row[person]]
            of_js.append(
                float(jensen_shannon([others], [q])[0] - jensen_shannon([others], [own])[0])
            )
            of_brier.append(((others - q) ** 2).sum() - ((others - own) ** 2).sum())
        js.append(np.mean(of_js))
        brier.append(np.mean(of_brier))
    assert found["net", ONE, "jensen_shannon"].value == pytest.approx(np.mean(js))
    assert found["net", ONE, "brier"].value == pytest.approx(np.mean(brier))
    assert found["net", ONE, "brier"].n_ratings == 125


def test_two_people_make_halves_of_one():
    """With two people the halves are persons, so both comparisons are the same number."""
    people, truth, _ = panel(n=40, raters=2)
    found = soft_label_comparison(
        people, {"net": given(truth)}, metrics=["brier"], n_splits=400, n_boot=0, seed=0
    )
    apart = found["net", HALVES, "brier"].value - found["net", ONE, "brier"].value
    assert abs(apart) < 0.02


def test_differences_of_models_are_those_of_their_metrics():
    people, truth, _ = panel()
    models = {"net": given(truth), "flat": given(np.full_like(truth, 1 / 8))}
    names = ["jensen_shannon", "earth_movers_distance"]
    single = soft_label_metrics(people, models, metrics=names, seed=3)
    found = soft_label_comparison(people, models, metrics=names, n_boot=300, seed=3)
    for name in names:
        ours, theirs = single["net", name].value, single["flat", name].value
        assert found["net", "flat", name].value == pytest.approx(ours - theirs)
        assert found["net", MEAN, name].value == pytest.approx(ours - single[MEAN, name].value)
    assert ("flat", "net", "jensen_shannon") not in dict(iter(found))
    frame = found.frame.filter(pl.col("metric") == "jensen_shannon")
    nearer = {row["rater"] + "|" + row["against"]: row["nearer"] for row in frame.to_dicts()}
    assert nearer["net|flat"] == "net"
    assert nearer[f"net|{HALVES}"] == "net"
    assert (frame["p_holm"] >= frame["p"]).all()


def test_coverage_of_the_interval_against_a_person():
    """Of a model that answers as one more person would, the interval holds 0 as often as said."""
    held = 0
    for seed in range(60):
        people, truth, _ = panel(n=40, raters=4, seed=seed)
        rng = np.random.default_rng(1000 + seed)
        own = np.eye(8)[[rng.choice(8, p=row) for row in truth]]
        found = soft_label_comparison(
            people, {"twin": given(own)}, metrics=["brier"], n_boot=200, seed=seed
        )
        one = found["twin", ONE, "brier"]
        held += one.low <= 0 <= one.high
    assert 50 <= held <= 60


def test_infinite_differences_have_no_number():
    people, truth, _ = panel(n=30)
    found = soft_label_comparison(
        people, {"net": given(truth)}, metrics=["cross_entropy"], n_boot=50, seed=0
    )
    one = found["net", ONE, "cross_entropy"]
    assert np.isnan(one.value)
    assert one.reason is not None
    assert one.reason.cause is Cause.INFINITE_SCORES
    floored = soft_label_comparison(
        people, {"net": given(truth)}, metrics=["cross_entropy"], floor=0.01, n_boot=50, seed=0
    )
    assert floored["net", ONE, "cross_entropy"].ok
    assert floored["net", ONE, "cross_entropy"].options == ("nats", "floor 0.01")


def test_people_name_one_label_where_models_score_each():
    people, truth, _ = panel()
    found = soft_label_metrics(people, scores(truth), metrics=["brier"], seed=0)
    same = soft_label_metrics(people, {"net": given(truth)}, metrics=["brier"], seed=0)
    assert found["net", "brier"].value == pytest.approx(same["net", "brier"].value)
    assert found[ONE, "brier"].value == pytest.approx(same[ONE, "brier"].value)
    sure = model_calibration(people, scores(truth))["net"]
    assert sure["mean_confidence"].value == pytest.approx(truth.max(axis=1).mean())


def test_labels_that_only_a_model_names_are_labels_that_people_never_chose():
    people = Ratings(
        {"stimulus": ["a", "a", "b", "b"], "rater": ["r", "s"] * 2, "value": ["joy", "awe"] * 2}
    )
    model = Ratings(
        {"stimulus": ["a", "b"], "rater": ["m", "m"], "value": ["joy", "fear"]},
        raters={"rater": ["m"], "rater_kind": ["model"]},
    )
    found = soft_label_metrics(people, model, metrics=["brier"], seed=0)
    assert found["m", "brier"].value == pytest.approx((0.5 + 1.5) / 2)
    declared = people.with_values(people.value, "nominal:joy,awe", step="declared")
    with pytest.raises(InputError, match="people were not asked about"):
        soft_label_metrics(declared, model, metrics=["brier"])


def test_control_runs_are_not_judged():
    people, truth, _ = panel(n=20)
    main = scores(truth)
    blind = scores(np.full_like(truth, 1 / 8), "blind", control=["no_image"], of=["net"])
    both = main.merge(blind)
    found = evaluate_soft_labels(people, both, n_boot=0, seed=0)
    assert found.models == ("net",)
    assert found.notes[0] == "1 control run not judged: blind"
    assert set(model_calibration(people, both)) == {"net"}
    assert "blind" not in soft_label_metrics(people, both, seed=0).frame["rater"].to_list()


def test_scores_that_were_read_as_names_are_refused():
    people, _, _ = panel(n=2, raters=2)
    words = Ratings(
        {"stimulus": ["s0"] * 2, "rater": ["m"] * 2, "label": ["awe", "fear"],
         "value": ["awe", "fear"]},
        raters={"rater": ["m"], "rater_kind": ["model"]},
    )  # fmt: skip
    with pytest.raises(InputError, match="declare their scale, as in '0-1 interval'"):
        soft_label_metrics(people, words)
    strange = Ratings(
        {"stimulus": ["x"], "rater": ["net"], "label": ["awe"], "value": [0.5]},
        scale="0-1 interval",
        raters={"rater": ["net"], "rater_kind": ["model"]},
    )
    with pytest.raises(InputError, match="share no stimulus"):
        soft_label_metrics(people, strange)


# -- the one call ------------------------------------------------------------------------------


def test_one_call_gives_what_its_parts_give():
    people, truth, _ = panel()
    found = evaluate_soft_labels(people, scores(truth), n_boot=100, seed=5)
    plain = soft_label_metrics(people, scores(truth), metrics=["jensen_shannon"], seed=1)
    assert found.metrics["net", "jensen_shannon"].value == pytest.approx(
        plain["net", "jensen_shannon"].value
    )
    assert found.metrics.frame["metric"].unique().sort().to_list() == [
        "cross_entropy",
        "earth_movers_distance",
        "jensen_shannon",
    ]
    made = IntervalFact("analytic", formula=Formula.ANY_BIN_ERRORS)
    assert found.calibration["net"]["ece"].interval == made
    again = evaluate_soft_labels(people, scores(truth), n_boot=100, seed=5)
    assert again.sentences == found.sentences
    assert again.comparison.frame.equals(found.comparison.frame)


@pytest.mark.wording
def test_sentences_hold_like_against_like():
    people, truth, codes = panel()
    hedging = evaluate_soft_labels(people, scores(truth), n_boot=200, seed=0).sentences[0]
    assert "compared with half of the people (4) judged by the other half it is nearer" in hedging
    assert "as sure as people are united" in hedging
    firm = {"firm": given(np.eye(8)[codes[:, 0]])}
    one = evaluate_soft_labels(people, firm, n_boot=200, seed=0)
    assert one.one_label == ("firm",)
    assert "compared with a person judged by the others" in one.sentences[0]
    assert one.sentences[0].endswith("it claims no probabilities.")
    lazy = np.broadcast_to(truth.mean(axis=0), truth.shape)
    blind = evaluate_soft_labels(people, {"lazy": given(lazy)}, n_boot=200, seed=0).sentences[0]
    assert "no nearer than one distribution for all stimuli" in blind


def test_overconfidence_is_told():
    people, truth, _ = panel(n=200)
    bold = truth**3 / (truth**3).sum(axis=1, keepdims=True)
    found = evaluate_soft_labels(people, scores(bold), n_boot=200, seed=0)
    assert found.calibration["net"]["overconfidence"].low > 0


def test_without_costs_there_is_no_earth_movers_distance():
    people = Ratings(
        {"stimulus": ["a", "a", "b", "b"], "rater": ["r", "s"] * 2, "value": ["joy", "awe"] * 2},
        scale="nominal:joy,awe",
    )
    part = LabelDistributions.of([[0.5, 0.5]], ["joy", "awe"], ["a"])
    found = evaluate_soft_labels(people, {"m": part}, n_boot=0)
    assert "earth_movers_distance" not in found.metrics.frame["metric"].to_list()
    assert str(Reason(Cause.NO_COSTS)) in " ".join(found.table("distances").notes)
    assert found.notes == (partial_answers("m", 1, 2),)
    asked = evaluate_soft_labels(people, {"m": part}, metrics=["earth_movers_distance"], n_boot=0)
    assert asked.metrics["m", "earth_movers_distance"].reason == Reason(Cause.NO_COSTS)
    elsewhere = LabelDistributions.of([[0.5, 0.5]], ["joy", "awe"], ["z"])
    lost = evaluate_soft_labels(people, {"m": elsewhere}, n_boot=0)
    assert lost.sentences == (not_judged("m"),)
    assert not lost.calibration
