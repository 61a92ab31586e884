"""Models judged as classifiers, beside people, and compared with each other."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, recall_score

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.evaluation import (
    classes_of,
    compare_models,
    evaluate_classification,
    precision_recall_f1,
    read_costs,
)
from affectlab.evaluation.classification.wording import (
    LEAVE_ONE_OUT,
    NO_COSTS,
    NO_MISTAKE,
    common_answers,
    not_judged,
    own_answers,
    severity,
)
from affectlab.ratings import Ratings, read_ratings
from affectlab.taxonomy import CostMatrix, load_taxonomy

MIKELS = load_taxonomy("mikels")
LABELS = MIKELS.labels
K = len(LABELS)
NEAR, FAR = {0: 1, 4: 5}, {0: 4, 4: 0}
"""Planted confusions: amusement and fear taken for a neighbour, or for the other polarity."""


def planted(n=800, seed=0, *, people=5):
    """People who are mostly right, and models with known confusions."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, K, n)
    answers = {}
    for person in range(people):
        wrong = rng.random(n) < 0.25
        answers[f"p{person}"] = np.where(wrong, rng.integers(0, K, n), truth)
    for name, swap in (("near", NEAR), ("far", FAR)):
        said = truth.copy()
        for one, other in swap.items():
            said[(truth == one) & (rng.random(n) < 0.6)] = other
        answers[name] = said
    return truth, answers


def table_of(answers, models=("near", "far"), keep=None):
    rows = [
        (f"s{i:03d}", rater, LABELS[code])
        for rater, codes in answers.items()
        for i, code in enumerate(codes)
        if keep is None or keep(rater, i)
    ]
    stimulus, rater, value = zip(*rows, strict=True)
    models = [name for name in models if name in answers]
    return Ratings(
        {"stimulus": stimulus, "rater": rater, "value": value},
        taxonomy="mikels",
        raters={"rater": models, "rater_kind": ["model"] * len(models)},
    )


def named_truth(truth):
    return {f"s{i:03d}": LABELS[code] for i, code in enumerate(truth)}


@pytest.fixture(scope="module")
def study():
    return planted()


@pytest.fixture(scope="module")
def found(study):
    return evaluate_classification(table_of(study[1]), seed=1)


def test_metrics_equal_those_of_scikit_learn(study) -> None:
    truth, answers = study
    made = evaluate_classification(table_of(answers), truth=named_truth(truth), n_boot=0)
    for rater in answers:
        said = answers[rater]
        assert made.estimates[rater, "accuracy"].value == pytest.approx(accuracy_score(truth, said))
        assert made.estimates[rater, "macro_f1"].value == pytest.approx(
            f1_score(truth, said, average="macro")
        )
        order = [LABELS.index(label) for label in made.classes.labels]
        assert made.confusions[rater].counts.tolist() == (
            confusion_matrix(truth, said, labels=order).tolist()
        )
        recall = made.to_frame("per_class").filter(pl.col("rater") == rater)["recall"]
        assert recall.to_list() == pytest.approx(
            recall_score(truth, said, average=None, labels=order).tolist()
        )


def test_planted_confusions_are_found_and_their_severity_told_apart(found) -> None:
    near, far = (
        found.confusions[name].to_frame("mistakes").row(0, named=True) for name in ("near", "far")
    )
    assert {near["true"], near["predicted"]} in (
        {"amusement", "contentment"},
        {"fear", "sadness"},
        {"amusement", "fear"},
    )
    assert far["cost"] == 8
    accuracy = {name: found.estimates[name, "accuracy"] for name in ("near", "far")}
    emc = {name: found.estimates[name, "emc"] for name in ("near", "far")}
    assert accuracy["near"].value == pytest.approx(accuracy["far"].value, abs=0.03)
    # Planted: costs 2 against costs 8, that is 1 / (2 - 1) against 1 / (8 - 1).
    assert emc["near"].low > 0.8
    assert emc["far"].high < 0.3
    guess = found.estimates["guessing", "emc"].value
    assert emc["far"].value < guess < emc["near"].value


def test_people_of_known_skill_are_recovered(found) -> None:
    people = found.estimates["people", "accuracy"]
    # A person is right in 25 % / 8 of wrong draws, too; the others' plurality is nearly the truth.
    assert people.value == pytest.approx(0.75 + 0.25 / 8, abs=0.04)
    assert people.low < people.value < people.high
    rows = found.to_frame("people")
    assert rows.filter(pl.col("metric") == "accuracy")["people"][0] == 5
    mean = rows.filter(pl.col("metric") == "accuracy")["mean"][0]
    assert mean == pytest.approx(people.value, abs=0.01)
    assert LEAVE_ONE_OUT in found.notes


def test_intervals_cover_and_are_the_same_for_the_same_seed(study) -> None:
    truth, answers = study
    table, real = table_of({"far": answers["far"]}), named_truth(truth)
    one, again, other = (
        evaluate_classification(table, truth=real, seed=seed) for seed in (3, 3, 4)
    )
    assert one.to_frame().equals(again.to_frame())
    # Leaving out draws nothing.
    assert one.to_frame().equals(other.to_frame())
    part = one.estimates["far", "accuracy"]
    assert part.se == pytest.approx(math.sqrt(part.value * (1 - part.value) / 800), rel=0.15)


def test_baselines_have_their_known_values() -> None:
    truth = [0] * 6 + [4] * 2
    table = table_of({"near": truth})
    made = evaluate_classification(table, truth=named_truth(truth), n_boot=0)
    always, guess = (
        made.estimates["always amusement", "accuracy"],
        made.estimates["guessing", "ecc"],
    )
    assert always.value == 0.75
    # Two classes occur: guessing is right half the time, else it takes one for the other (cost 8).
    assert guess.value == pytest.approx((1 + 1 / 8) / 2)
    assert made.estimates["near", "emc"].reason == Reason(Cause.NONE, of="mistakes")
    assert NO_MISTAKE in made.sentences[0]
    assert set(made.to_frame()["role"].unique()) == {"model", "baseline"}


def test_missing_answers(study) -> None:
    truth, answers = study
    real = named_truth(truth)
    table = table_of(answers, keep=lambda rater, i: not (rater == "far" and i < 200))
    common = evaluate_classification(table, truth=real, n_boot=0)
    assert common.estimates["near", "accuracy"].n_items == 600
    assert common.n_common == 600
    assert common_answers(600, 800, "far 600 and near 800") in common.notes
    own = evaluate_classification(table, truth=real, n_boot=0, missing="own")
    assert own.estimates["near", "accuracy"].n_items == 800
    assert own.estimates["far", "accuracy"].n_items == 600
    assert own_answers(800, "far 600 and near 800") in own.notes
    wrong = evaluate_classification(table, truth=real, n_boot=0, missing="wrong")
    right = np.sum(answers["far"][200:] == truth[200:])
    assert wrong.estimates["far", "accuracy"].value == pytest.approx(right / 800)
    # As costly as the worst mistake: 8.
    costs = MIKELS.cost_matrix().matrix
    kept = sum(1 / costs[t, p] for t, p in zip(truth[200:], answers["far"][200:], strict=True))
    assert wrong.estimates["far", "ecc"].value == pytest.approx((kept + 200 / 8) / 800)
    assert "macro_f1" not in wrong.to_frame()["metric"]
    assert wrong.to_frame("per_class").filter(pl.col("rater") == "far").height == K
    assert wrong.estimates["p0", "ecc"].value == own.estimates["p0", "ecc"].value
    coverage = {row["rater"]: row for row in own.to_frame("coverage").iter_rows(named=True)}
    assert (coverage["far"]["answered"], coverage["far"]["of"]) == (600, 800)
    full = evaluate_classification(table_of(answers), truth=real, n_boot=0, missing="wrong")
    assert "macro_f1" in full.to_frame()["metric"]


def test_models_without_a_common_stimulus() -> None:
    answers = {"near": [0, 1, 2, 3], "far": [0, 1, 2, 3]}
    halves = table_of(answers, keep=lambda rater, i: (i < 2) == (rater == "near"))
    real = named_truth([0, 1, 2, 4])
    with pytest.raises(
        InputError, match="no stimulus with a true class was answered by all models"
    ):
        evaluate_classification(halves, truth=real)
    own = evaluate_classification(halves, truth=real, missing="own", n_boot=0)
    assert own.estimates["far", "accuracy"].value == 0.5
    with pytest.raises(InputError, match="near and far answered no stimulus"):
        compare_models(halves, truth=real, missing="own")
    # A model that shares nothing with the truth does not take the others down with it.
    silent = evaluate_classification(halves, truth={"s000": "awe", "s001": "awe"}, n_boot=0)
    assert silent.sentences[1] == not_judged("far")
    assert silent.estimates["far", "accuracy"].status == "undefined"
    assert silent.estimates["near", "accuracy"].n_items == 2


def test_sets_of_classes() -> None:
    rng = np.random.default_rng(5)
    n, labels = 60, ("joy", "love", "fear")
    truth = rng.random((n, 3)) < 0.4
    said = truth ^ (rng.random((n, 3)) < 0.15)
    rows = [
        (f"s{i}", rater, label, float(value))
        for rater, values in (("p0", truth), ("p1", truth), ("net", said))
        for i in range(n)
        for label, value in zip(labels, values[i], strict=True)
    ]
    stimulus, rater, label, value = zip(*rows, strict=True)
    table = Ratings(
        {"stimulus": stimulus, "rater": rater, "label": label, "value": value},
        scale="binary",
        raters={"rater": ["net"], "rater_kind": ["model"]},
    )
    made = evaluate_classification(table, multilabel=True, n_boot=50)
    order = [labels.index(name) for name in made.classes.labels]
    direct = precision_recall_f1(truth[:, order], said[:, order], labels=made.classes.labels)
    assert made.estimates["net", "macro_f1"].value == direct.averages["macro", "f1"].value
    assert made.estimates["net", "exact_match"].value == (truth == said).all(axis=1).mean()
    assert made.estimates["p0", "exact_match"].value == 1.0
    assert made.confusions["net"].n == n
    with pytest.raises(InputError, match="sets of classes"):
        compare_models(classes_of(table, multilabel=True))


def test_costs(tmp_path, study) -> None:
    truth, answers = study
    table, real = table_of(answers), named_truth(truth)
    plain = Ratings(
        {"stimulus": ["a", "b"], "rater": ["net", "net"], "value": ["x", "y"]},
        raters={"rater": ["net"], "rater_kind": ["model"]},
    )
    without = evaluate_classification(plain, truth={"a": "x", "b": "x"}, n_boot=0)
    assert "ecc" not in without.to_frame()["metric"]
    assert NO_COSTS in without.notes
    file = tmp_path / "costs.csv"
    file.write_text("label,x,y\nx,1,5\ny,5,1\n", encoding="utf-8")
    priced = evaluate_classification(plain, truth={"a": "x", "b": "x"}, n_boot=0, costs=file)
    assert priced.estimates["net", "ecc"].value == pytest.approx((1 + 1 / 5) / 2)
    from_people = evaluate_classification(table, n_boot=0, costs="people")
    assert from_people.costs is not None
    assert from_people.costs.kind == "human confusions"
    groups = evaluate_classification(table, truth=real, n_boot=0, costs="groups")
    assert groups.costs is not None
    assert set(np.unique(groups.costs.matrix)) == {1.0, 2.0, 3.0}
    sides = evaluate_classification(
        table, truth=real, n_boot=0, groups={label: label[0] for label in LABELS}
    )
    # No planted confusion stays within an initial letter; those of "near" stay within a polarity.
    near = sides.estimates["near", "acc2"], sides.estimates["near", "accuracy"]
    assert near[0].value == near[1].value
    assert groups.estimates["near", "acc2"].value == 1.0
    with pytest.raises(InputError, match="class 'amusement' has none"):
        evaluate_classification(table, costs=CostMatrix(("awe", "fear"), [[1, 2], [2, 1]]))
    with pytest.raises(InputError, match="did you mean 'ring'"):
        evaluate_classification(table, costs="rings")
    with pytest.raises(InputError, match="answers of people"):
        evaluate_classification(plain, truth={"a": "x", "b": "x"}, costs="people")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("label,x\nx,1\ny,5\n", "'y' has no row or no column"),
        ("label,x,y\nx,1,far\ny,5,1\n", "row 'x', column 'y' is 'far'"),
        ("label,x,y\nx,1,5\ny,4,1\n", "costs.csv: costs: 'x' with 'y' is 5"),
    ],
)
def test_costs_that_are_none(tmp_path, content, words) -> None:
    file = tmp_path / "costs.csv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_costs(file)


def test_costs_as_written_by_the_taxonomy_are_read(tmp_path) -> None:
    costs = MIKELS.cost_matrix()
    costs.to_frame().write_csv(tmp_path / "long.csv")
    assert read_costs(tmp_path / "long.csv") == costs
    MIKELS.save(tmp_path / "own.toml")
    assert read_costs(tmp_path / "own.toml") == costs


def test_options_are_checked(study) -> None:
    table = table_of(study[1])
    made = classes_of(table)
    for judge in (evaluate_classification, compare_models):
        with pytest.raises(InputError, match="the classes are made already"):
            judge(made, truth="rater:p0")
        with pytest.raises(InputError, match="the classes are made already"):
            judge(made, ties="first")
    with pytest.raises(InputError, match="rater 'guessing' is called as a row"):
        evaluate_classification(
            table_of({"guessing": [0, 1]}, models=("guessing",)),
            truth=named_truth([0, 1]),
            n_boot=0,
        )
    with pytest.raises(InputError, match="unknown missing 'drop'"):
        evaluate_classification(table, missing="drop")
    with pytest.raises(InputError, match="unknown metric 'auc'"):
        evaluate_classification(table, metrics=["auc"])


# -- comparing -------------------------------------------------------------------------------------


def test_which_of_two_models_is_better_on_what(study) -> None:
    truth, answers = study
    real = named_truth(truth)
    result = compare_models(table_of(answers), a="near", b="far", truth=real, n_boot=200)
    frame = {row["metric"]: row for row in result.to_frame().iter_rows(named=True)}
    assert frame["emc"]["better"] == "near"
    assert frame["acc2"]["better"] == "near"
    assert frame["accuracy"]["better"] == ""
    assert frame["acc2"]["low"] > 0
    # All mistakes of each cost the same, 2 and 8: there is nothing that could vary.
    assert (frame["emc"]["value_a"], frame["emc"]["value_b"]) == (1.0, pytest.approx(1 / 7))
    assert frame["emc"]["reason"] == Cause.NO_VARIATION
    turned = compare_models(table_of(answers), a="far", b="near", truth=real, n_boot=0)
    assert turned["far", "near", "emc"].value == -frame["emc"]["value"]


def test_all_pairs_are_adjusted_together(study) -> None:
    truth, answers = study
    more = {**answers, "copy": answers["near"], "worse": np.roll(answers["near"], 1)}
    table = table_of(more, models=("near", "far", "copy", "worse"))
    result = compare_models(table, truth=named_truth(truth), n_boot=0, n_permutations=999)
    assert len(result.pairs) == 6
    p = result.to_frame()["p_value"].to_numpy()
    adjusted = result.to_frame()["p_adjusted"].to_numpy()
    order = np.argsort(p, kind="stable")
    by_hand = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)))
    assert adjusted[order].tolist() == pytest.approx(by_hand.tolist())
    same = result.to_frame().filter((pl.col("model_a") == "near") & (pl.col("model_b") == "copy"))
    assert same["better"].to_list() == [""] * same.height
    assert "near" in set(result.to_frame()["better"])
    one = compare_models(table, a="worse", truth=named_truth(truth), n_boot=0, n_permutations=99)
    assert set(one.pairs) == {("worse", "near"), ("worse", "far"), ("worse", "copy")}


def test_who_cannot_be_compared(study) -> None:
    table = table_of(study[1])
    with pytest.raises(InputError, match="'p0' is a person"):
        compare_models(table, a="near", b="p0")
    with pytest.raises(InputError, match="unknown model 'nearr'; did you mean 'near'"):
        compare_models(table, a="nearr")
    with pytest.raises(InputError, match="with itself"):
        compare_models(table, a="near", b="near")
    with pytest.raises(InputError, match="only 'near'"):
        compare_models(table_of({"near": [0, 1], "p0": [0, 1]}))


def test_two_that_differ_nowhere() -> None:
    truth = [0, 1, 2, 3] * 10
    table = table_of({"near": truth, "far": truth})
    result = compare_models(table, truth=named_truth(truth), n_boot=0)
    assert set(result.to_frame()["better"]) == {""}


# -- real data -------------------------------------------------------------------------------------


@pytest.mark.data
def test_published_model_on_eight_expressions(shared_data) -> None:
    table = read_ratings(shared_data / "emonet_face" / "ferd.jsonl")
    made = evaluate_classification(
        table,
        truth="attribute:expression",
        label_map="emonet_face--ferd",
        scores=["value", "mean_subtracted"],
        seed=0,
    )
    raw, centred = made.models
    seen = made.confusions[raw]
    assert seen.counts.sum(axis=1).tolist() == [19] * 8
    # The release judges by another map and a rule under which several classes may be right.
    (beside,) = (note for note in made.notes if "rule of the release" in note)
    assert "(mean_subtracted) 0.7829; it prints 0.7829 (152 faces of FERD" in beside
    # What the mapping gives; the numbers are ours.
    assert round(made.estimates[raw, "accuracy"].value * 152) == 61
    assert round(made.estimates[centred, "accuracy"].value * 152) == 59
    assert made.estimates[raw, "accuracy"].low > made.estimates["guessing", "accuracy"].value
    assert made.costs is not None
    assert made.costs.kind == "groups, 3 levels"


@pytest.mark.data
def test_people_of_goemotions_beside_each_other(shared_data) -> None:
    table = read_ratings(shared_data / "goemotions" / "raw_partial.csv")
    made = evaluate_classification(table, multilabel=True, agree=1, n_boot=0)
    assert made.models == ()
    people = made.to_frame("people")
    agreed = people.filter(pl.col("metric") == "exact_match")
    assert 0.1 < agreed["mean"][0] < 0.4
    assert made.estimates["people", "exact_match"].n_items == len(made.classes.people.rater)


def test_the_severity_of_few_mistakes_has_no_interval_and_the_sentence_counts_them():
    names = ["awe", "fear", "anger", "sadness"]
    true = [names[at % 4] for at in range(40)]
    for n, few in ((6, True), (12, False)):
        said = [names[(at + 1) % 4] if at < n else name for at, name in enumerate(true)]
        table = Ratings(
            {
                "stimulus": [f"s{at}" for at in range(40)] * 2,
                "rater": ["gold"] * 40 + ["net"] * 40,
                "value": true + said,
            },
            raters={"rater": ["net"], "rater_kind": ["model"]},
            taxonomy="mikels",
        )
        found = evaluate_classification(table, truth="rater:gold", n_boot=100)
        sentence, _ = found.sentences
        emc = found.estimates["net", "emc"]
        assert math.isnan(emc.low) is few
        assert severity(emc, found.estimates["guessing", "emc"], n) in sentence


def of_actors(n_actors: int, each: int = 6) -> Ratings:
    """Two models whose mistakes go by the actor of a face."""
    rng = np.random.default_rng(3)
    n = n_actors * each
    actor, labels = np.repeat(np.arange(n_actors), each), np.array(["joy", "fear", "anger"])
    truth = rng.integers(0, 3, n)
    said = [
        np.where(rng.random(n) < rng.random(n_actors)[actor], truth, (truth + 1) % 3) for _ in "ab"
    ]
    stimuli = [f"s{k:02d}" for k in range(n)]
    return Ratings(
        {
            "stimulus": stimuli * 3,
            "rater": np.repeat(["gold", "one", "two"], n).tolist(),
            "value": labels[np.concatenate([truth, *said])].tolist(),
        },
        scale="nominal:joy,fear,anger",
        raters={"rater": ["one", "two"], "rater_kind": ["model", "model"]},
        stimuli={"stimulus": stimuli, "actor": [f"a{k:02d}" for k in actor]},
    )


def test_faces_of_an_actor_are_left_out_together():
    ratings, options = of_actors(9), {"truth": "rater:gold", "soft_labels": False}
    found = evaluate_classification(ratings, **options)
    one = found.estimates["one", "accuracy"]
    assert one.interval is not None
    assert (one.target, one.statistic, one.interval.over) == ("actors", "accuracy", ("actors",))
    wide = ratings.to_frame().pivot("rater", index=["stimulus"], values="value")
    right = (wide["gold"] == wide["one"]).to_numpy().reshape(9, 6)
    without = np.array([np.delete(right, k, axis=0).mean() for k in range(9)])
    assert one.se == pytest.approx(np.sqrt(8 * without.var()))
    alone = evaluate_classification(ratings, cluster="none", **options)
    assert alone.estimates["one", "accuracy"].target == "stimuli"
    pair = compare_models(ratings, truth="rater:gold", metrics=["accuracy"], n_permutations=99)
    assert pair["one", "two", "accuracy"].target == "actors"
    few = evaluate_classification(of_actors(4), **options).estimates["one", "accuracy"]
    assert few.reason == Reason(Cause.FEW_UNITS, 4, 5, "actors")


def test_sets_of_labels_go_together_as_single_ones_do():
    rng = np.random.default_rng(1)
    true, said, cluster = rng.integers(0, 3, 60), rng.integers(0, 3, 60), np.repeat(range(12), 5)
    names = ["joy", "fear", "anger"]
    single = precision_recall_f1(true, said, labels=names, clusters=cluster)
    sets = precision_recall_f1(np.eye(3)[true], np.eye(3)[said], labels=names, clusters=cluster)
    for metric in ("precision", "recall", "f1"):
        a, b = (one.averages["macro", metric] for one in (single, sets))
        assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high))
    assert single.exact_match.se == pytest.approx(sets.exact_match.se)
