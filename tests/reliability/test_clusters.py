"""Intervals about other actors, whose faces are drawn together."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

from affectlab.cli import main
from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, IntervalFact, Reason
from affectlab.ratings import Ratings, read_ratings, write_ratings
from affectlab.ratings.answers.clusters import stimulus_clusters
from affectlab.reliability import (
    concordance,
    fleiss_kappa,
    gwet_ac,
    internal_consistency,
    interrater_correlation,
    intraclass_correlation,
    krippendorff_alpha,
    mean_spearman,
    pairwise_kappa,
    percent_agreement,
    plan,
    random_pair_kappa,
    split_half,
    traces,
    weighted_kappa,
)
from affectlab.reliability.rater_agreement import rater_agreement

N_ACTORS, N_FACES, N_RATERS = 8, 6, 5
ACTOR = np.repeat(np.arange(N_ACTORS), N_FACES)
NAMES = np.array([f"s{k:02d}" for k in range(ACTOR.size)])


def answers(seed: int = 1) -> np.ndarray:
    """Shape (raters, faces), on 0 to 7."""
    rng = np.random.default_rng(seed)
    level = 3.5 + rng.normal(size=N_ACTORS)[ACTOR] + rng.normal(0, 0.7, ACTOR.size)
    noise = rng.normal(0, 0.4, (N_RATERS, 1)) + rng.normal(size=(N_RATERS, ACTOR.size))
    return np.clip(np.rint(level + noise), 0, 7)


def columns_of(data: np.ndarray) -> pl.DataFrame:
    stimulus, rater = (part.ravel() for part in np.indices(data.T.shape))
    columns = {
        "stimulus": NAMES[stimulus],
        "rater": [f"r{k}" for k in rater],
        "value": data.T.ravel(),
        "actor": [f"a{k}" for k in ACTOR[stimulus]],
    }
    return pl.DataFrame(columns)


def table_of(data: np.ndarray) -> Ratings:
    return Ratings(columns_of(data), scale="0-7")


def without(ratings: Ratings, actor: int) -> Ratings:
    return ratings.select(stimuli=NAMES[actor != ACTOR].tolist())


ACTORS = IntervalFact("jackknife", ("actors",))
BOTH = IntervalFact("jackknife", ("actors", "raters"))
FEW = Reason(Cause.FEW_UNITS, 4, 5, "actors")


def interval_of(row: dict[str, Any]) -> IntervalFact | None:
    return IntervalFact.of_row(row["interval"])


STATISTICS = {
    "alpha": krippendorff_alpha,
    "fleiss": fleiss_kappa,
    "gwet": gwet_ac,
    "percent": percent_agreement,
    "icc": intraclass_correlation,
    "correlation": interrater_correlation,
    "concordance": concordance,
}


@pytest.mark.parametrize("name", STATISTICS)
def test_errors_are_those_of_leaving_out_actors(name: str) -> None:
    function, ratings = STATISTICS[name], table_of(answers())
    found = function(ratings, target="stimuli").tables[0].frame.row(0, named=True)
    left_out = np.array(
        [
            function(without(ratings, k), target="sample").tables[0].frame["value"][0]
            for k in range(N_ACTORS)
        ]
    )
    apart = left_out - left_out.mean()
    assert found["se"] == pytest.approx(np.sqrt(7 / 8 * (apart**2).sum()), rel=1e-9)
    assert found["target"] == "actors"
    assert interval_of(found) == ACTORS
    # Named, as a mapping, and of an array by place it is the same.
    of = dict(zip(NAMES.tolist(), ACTOR.tolist(), strict=True))
    for cluster in ("actor", of):
        same = function(ratings, target="stimuli", cluster=cluster).tables[0].frame
        assert same["se"][0] == pytest.approx(found["se"], rel=1e-12)


@pytest.mark.parametrize(
    "function", [interrater_correlation, concordance, split_half, krippendorff_alpha]
)
def test_stimuli_one_by_one_are_what_they_were(function) -> None:
    """``none`` is what a table without the column gives, and so is a cluster of each stimulus."""
    ratings = table_of(answers())
    options = {"n_splits": 5} if function is split_half else {}
    plain = Ratings(
        {name: ratings.to_frame()[name] for name in ("stimulus", "rater", "value")}, scale="0-7"
    )
    single = {name: name for name in NAMES.tolist()}
    rows = [
        function(data, cluster=cluster, **options).tables[0].frame.row(0, named=True)
        for data, cluster in ((ratings, "none"), (plain, None), (plain, single))
    ]
    for row in rows:
        assert [row[k] for k in ("se", "low", "high")] == pytest.approx(
            [rows[0][k] for k in ("se", "low", "high")], rel=1e-9
        )
    assert interval_of(rows[0]) == IntervalFact("jackknife", ("stimuli", "raters"))
    own = function(ratings, **options).tables[0].frame.row(0, named=True)
    assert interval_of(own) == BOTH
    assert own["high"] - own["low"] > 1.2 * (rows[0]["high"] - rows[0]["low"])
    assert own["value"] == rows[0]["value"]


def test_models_beside_people() -> None:
    people = table_of(answers())
    model = Ratings(
        {"stimulus": NAMES, "rater": ["m"] * NAMES.size, "value": answers()[:2].mean(axis=0)},
        scale="0-7 interval",
    )
    found = mean_spearman(people, model)["m"]
    left_out = [
        mean_spearman(without(people, k), model, n_boot=0)["m"].value for k in range(N_ACTORS)
    ]
    apart = np.array(left_out) - np.mean(left_out)
    assert found.se == pytest.approx(np.sqrt(7 / 8 * (apart**2).sum()), rel=1e-9)
    assert (found.target, mean_spearman(people, model, cluster="none")["m"].target) == (
        "actors",
        "stimuli",
    )
    # What is drawn there are labels.
    labels = mean_spearman(people, model, target="labels")["m"].reason
    assert labels == Reason(Cause.SINGLE_UNIT, of="labels")
    # Of arrays: the cluster of each unit.
    data = answers()
    array = mean_spearman(data[:1], data[None, 1:2], cluster=ACTOR)
    assert array["0"].target == "clusters"


def test_scales_of_several_items_and_traces() -> None:
    data, other = answers(1), answers(1) + np.random.default_rng(2).integers(-1, 2, (5, 48))
    both = table_of(np.concatenate([data, other.clip(0, 7)]))
    frame = both.to_frame()
    items = Ratings(
        {
            "stimulus": frame["stimulus"],
            "rater": [f"r{int(name[1:]) % 5}" for name in frame["rater"]],
            "label": ["joy" if int(name[1:]) < 5 else "calm" for name in frame["rater"]],
            "value": frame["value"],
        },
        scale="0-7",
    ).with_stimuli(both.stimuli)
    found = internal_consistency(items)
    assert interval_of(found.tables[0].frame.row(0, named=True)) == BOTH
    single = internal_consistency(items, cluster="none")
    assert single.tables[0].frame["se"][0] < found.tables[0].frame["se"][0]
    table = table_of(answers()[:3, :])
    moments = table.to_frame()
    traced = Ratings(
        {
            "stimulus": [name for name in moments["stimulus"] for _ in range(4)],
            "rater": [name for name in moments["rater"] for _ in range(4)],
            "value": [value + k % 2 for value in moments["value"] for k in range(4)],
            "at": [float(k) for _ in moments["value"] for k in range(4)],
        },
        scale="0-9",
    ).with_stimuli(table.stimuli)
    found = traces(traced, max_lag=0)
    assert interval_of(found.tables[0].frame.row(0, named=True)) == BOTH


def test_few_actors_give_no_interval_and_a_sentence() -> None:
    few = table_of(answers()).select(stimuli=NAMES[ACTOR < 4].tolist())
    for function in (*STATISTICS.values(), split_half):
        options = {"n_splits": 3} if function is split_half else {}
        row = function(few, **options).tables[0].frame.row(0, named=True)
        assert np.isnan([row["se"], row["low"], row["high"]]).all()
        assert Reason.of_row(row["reason"]) == FEW
        own = function(few, cluster="none", **options).tables[0].frame.row(0, named=True)
        assert own["low"] < own["value"] == row["value"] < own["high"]
    # About other raters there is one.
    raters = krippendorff_alpha(few, target="raters")["rating"]
    assert raters.low < raters.value < raters.high


def test_intervals_know_what_they_are_about() -> None:
    alpha = krippendorff_alpha(table_of(answers()))["rating"]
    assert (alpha.target, alpha.interval.over) == ("both", ("actors", "raters"))
    alpha = krippendorff_alpha(table_of(answers()), target="stimuli")["rating"]
    assert (alpha.target, alpha.interval.over) == ("actors", ("actors",))


def test_columns_across_each_other_are_said() -> None:
    ratings = table_of(answers())
    film = pl.DataFrame({"stimulus": NAMES, "film": [f"f{k % 6}" for k in range(NAMES.size)]})
    across = ratings.with_stimuli(ratings.stimuli.join(film, on="stimulus"))
    (note,) = stimulus_clusters(across).notes
    assert note in rater_agreement(across, more=True).notes


@pytest.mark.parametrize("method", ["coefficients", "concordance", "split-half"])
def test_verbs_take_clusters(method: str, tmp_path, capsys) -> None:
    path = tmp_path / "faces.csv"
    columns_of(answers()).write_csv(path)
    over = []
    for cluster in ((), ("--cluster", "none"), ("--cluster", "actor")):
        options = ["--method", method, "--scale", "0-7", "--json", *cluster]
        with pytest.raises(SystemExit):
            main(["reliability", "agreement", str(path), *options])
        found = json.loads(capsys.readouterr().out)["result"]
        table = found[{"coefficients": "krippendorff_alpha"}.get(method, method.replace("-", "_"))]
        over.append(table[0]["interval"]["over"])
    assert over == [["actors", "raters"], ["stimuli", "raters"], ["actors", "raters"]]


def test_draws_of_clusters_depend_on_their_names_alone() -> None:
    """The order of rows, and so of stimuli and actors, changes nothing."""
    columns = columns_of(answers())
    order = np.random.default_rng(3).permutation(columns.height)
    ratings, again = (Ratings(rows, scale="0-7") for rows in (columns, columns[order.tolist()]))
    for interval in ("percentile", "bca"):
        options = {"interval": interval, "n_boot": 50, "seed": 2}
        first, second = (krippendorff_alpha(data, **options)["rating"] for data in (ratings, again))
        assert (first.low, first.high) == pytest.approx((second.low, second.high), abs=1e-12)


def test_a_stored_table_keeps_its_clusters(tmp_path) -> None:
    path = tmp_path / "faces.parquet"
    write_ratings(table_of(answers()), path)
    assert krippendorff_alpha(read_ratings(path), target="stimuli")["rating"].target == "actors"


@pytest.mark.parametrize("quantity", ["alpha", "groups"])
def test_plans_about_other_stimuli_are_of_stimuli_drawn_one_by_one(quantity: str) -> None:
    """What is planned from several faces of an actor would be too narrow for the same again."""
    options = {"quantity": quantity, "goal": 0.5, "n_stimuli": 40, "n_pilots": 0, "n_sim": 20}
    if quantity == "groups":
        options["difference"] = 1.0
    ratings = table_of(answers())
    with pytest.raises(InputError, match="stimuli of the pilot share their actors"):
        plan(ratings, **options)
    with pytest.raises(InputError, match="plans a study with one stimulus of each cluster"):
        plan(answers(), cluster=ACTOR, **options)
    alone = plan(ratings, cluster="none", **options)
    plain = ratings.with_stimuli(ratings.stimuli.drop("actor"))
    assert alone.finding == plan(plain, **options).finding
    # What is about scores of single stimuli, or about halves, draws no stimuli.
    assert plan(ratings, goal=3.0, n_pilots=0, n_sim=20).recommended


SD = {"actor": 1.0, "face": 0.7, "rater": 0.5, "answer": 1.0}
"""Of the simulated study below, in points of a scale of 0 to 7."""


def study(rng: np.random.Generator, n_actors: int, n_faces: int, n_raters: int) -> np.ndarray:
    """Answers of shape (raters, faces), the faces of an actor beside each other."""
    actor = np.repeat(np.arange(n_actors), n_faces)
    level = 3.5 + rng.normal(0, SD["actor"], n_actors)[actor]
    level = level + rng.normal(0, SD["face"], actor.size)
    level = level + rng.normal(0, SD["rater"], (n_raters, 1))
    return np.clip(np.rint(level + rng.normal(0, SD["answer"], (n_raters, actor.size))), 0, 7)


@pytest.mark.long
@pytest.mark.parametrize("design", [(12, 10, 6), (60, 2, 6)])
def test_intervals_hold_the_truth_of_the_population(design: tuple[int, int, int]) -> None:
    """Of all actors, faces and raters; without clusters they hold less often than they say."""
    statistics = {
        "interval": lambda data, **more: krippendorff_alpha(data, level="interval", **more),
        "ordinal": lambda data, **more: krippendorff_alpha(data, level="ordinal", **more),
        "correlation": lambda data, **more: interrater_correlation(data, **more)["rating"],
    }
    n_actors, n_faces, n_raters = design
    rng = np.random.default_rng(21)
    # The correlation is of a panel of so many raters, alpha of all there are.
    truth = {
        name: np.mean(
            [
                statistic(study(rng, 400, 3, n_raters if name == "correlation" else 40),
                          target="sample").value
                for _ in range(12)
            ]
        )
        for name, statistic in statistics.items()
    }  # fmt: skip
    n_studies = 150
    held = {(name, clustered): 0 for name in statistics for clustered in (True, False)}
    for _ in range(n_studies):
        data = study(rng, *design)
        actor = np.repeat(np.arange(n_actors), n_faces)
        for name, statistic in statistics.items():
            for clustered in (True, False):
                found = statistic(data, cluster=actor if clustered else "none")
                held[name, clustered] += found.low <= truth[name] <= found.high
    share = {key: n / n_studies for key, n in held.items()}
    assert all(0.92 <= share[name, True] <= 1.0 for name in statistics), share
    if n_faces > 2:
        assert all(share[name, False] < 0.92 for name in statistics), share


def test_kappa_of_two_raters_leaves_actors_out() -> None:
    data = answers()
    pair = pairwise_kappa(table_of(data))["rating", "r0", "r1"]
    left_out = np.array(
        [weighted_kappa(*data[:2, actor != ACTOR], scale="0-7").value for actor in range(N_ACTORS)]
    )
    apart = left_out - left_out.mean()
    assert pair.se == pytest.approx(np.sqrt(7 / 8 * (apart**2).sum()), rel=1e-9)
    assert (pair.target, pair.interval) == ("actors", ACTORS)
    named = weighted_kappa(*data[:2], scale="0-7", cluster=ACTOR)
    assert (named.se, named.low, named.high) == pytest.approx((pair.se, pair.low, pair.high))
    # A cluster of each item is what it was, in value and interval, for every pair and label.
    plain, single = (
        pairwise_kappa(table_of(data), cluster=cluster).frame
        for cluster in ("none", {name: name for name in NAMES.tolist()})
    )
    for column in ("value", "se", "low", "high"):
        np.testing.assert_allclose(single[column], plain[column], rtol=1e-9)
    assert plain["target"].unique().to_list() == ["stimuli"]
    few = pairwise_kappa(table_of(data).select(stimuli=NAMES[ACTOR < 4].tolist()))
    assert few.frame["low"].is_nan().all()
    assert Reason.of_row(few.frame["reason"][0]) == FEW


def test_two_ratings_drawn_at_random_leave_actors_out() -> None:
    data = answers()
    found = random_pair_kappa(table_of(data), seed=3)["rating"]
    plain = random_pair_kappa(table_of(data), seed=3, cluster="none")["rating"]
    assert found.value == plain.value
    assert (found.target, found.interval) == ("actors", ACTORS)
    assert found.high - found.low > plain.high - plain.low
    single = {name: name for name in NAMES.tolist()}
    same = random_pair_kappa(table_of(data), seed=3, cluster=single)["rating"]
    assert (same.se, same.low, same.high) == pytest.approx((plain.se, plain.low, plain.high))
