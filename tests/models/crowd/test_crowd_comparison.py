"""What learning from raters gains: shown where raters differ, judged alike by another path."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from benchmarks.crowd import simulated

from affectlab.core.errors import InputError
from affectlab.evaluation import disagreement_metrics
from affectlab.models.crowd import CrowdComparison, compare_crowd_models
from affectlab.ratings import Ratings
from affectlab.simulate import population

QUICK: dict[str, Any] = {
    "n_splits": 3,
    "penalties": [0.5],
    "shrinkages": [1.0, 10.0],
}


def gained(found: CrowdComparison) -> set[str]:
    """Ways that are better than majority and than soft labels in something."""
    both = found.gains.filter(pl.col("how") != "soft", "shown").group_by("how", "measure").len()
    return set(both.filter(pl.col("len") == 2)["how"])


def small(seed: int, kind: str, n: int = 36) -> tuple[Ratings, dict[str, Any]]:
    """Six raters, of whom one always says the same; features tell the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    rater, unit = (part.ravel() for part in np.indices((6, n)))
    value = np.where(rng.random(6 * n) < 0.2, rng.integers(0, 3, 6 * n), truth[unit])
    value[rater == 5] = 2
    names = np.array(["anger", "fear", "joy"])
    table = {
        "stimulus": [f"s{at}" for at in unit],
        "rater": [f"r{at}" for at in rater],
        "value": names[value] if kind == "categories" else value + 1,
        "actor": [f"a{at % 9}" for at in unit],
    }
    scale = "nominal:anger,fear,joy" if kind == "categories" else "1-3"
    features = np.eye(3)[truth] + rng.normal(0, 0.3, (n, 3))
    return Ratings(table, scale=scale), {f"s{at}": row for at, row in enumerate(features)}


def test_a_gain_is_shown_where_raters_differ_and_only_there() -> None:
    same = compare_crowd_models(*simulated("none", 0), seed=0, **QUICK)
    assert gained(same) == set()
    assert len(same.sentences) == 3
    hows = ["rater_embedding", "per_rater"]
    apart = compare_crowd_models(*simulated("groups", 0), seed=0, hows=hows, **QUICK)
    assert gained(apart) == set(hows)
    row = apart.gains.filter(how="per_rater", against="soft", measure="log loss").row(0, named=True)
    of = dict(apart.measures.filter(measure="log loss").select("how", "value").iter_rows())
    assert row["value"] == pytest.approx(of["soft"] - of["per_rater"])
    assert row["low"] < row["value"] < row["high"]


@pytest.mark.parametrize("kind", ["categories", "levels", "labels"])
def test_errors_are_those_of_the_task(kind: str) -> None:
    """What is predicted for people, judged by ``disagreement_metrics``."""
    ratings, features = simulated("spam", 3) if kind == "labels" else small(3, kind)
    found = compare_crowd_models(ratings, features, hows=["per_rater"], cluster="none", **QUICK)
    theirs = disagreement_metrics(ratings, found.predictions, cluster="none").to_frame()
    name = {"categories": "AER", "levels": "ANAD", "labels": "MER"}[kind]
    for how in ("majority", "soft", "per_rater"):
        ours = found.measures.filter(how=how, measure=name)["value"].item()
        expected = theirs.filter(pl.col("rater") == how, pl.col("measure") == name)["value"].item()
        assert ours == pytest.approx(expected, abs=1e-12)
    soft = {"categories": "AMD", "levels": "AWD", "labels": "MAMD"}[kind]
    assert set(found.measures["measure"]) == {"log loss", "cross-entropy", soft, name}


def test_stimuli_of_one_actor_are_kept_aside_and_drawn_together() -> None:
    rng = np.random.default_rng(0)
    actor = np.arange(36) % 9
    table = {
        "stimulus": [f"s{at}" for at in range(36)] * 3,
        "rater": np.repeat(["a", "b", "c"], 36),
        "value": np.tile(rng.permutation(9)[actor] % 3 + 1, 3),
        "actor": [f"a{at}" for at in actor] * 3,
    }
    # Features say who the actor is, and people rate no more: of another actor nothing is known.
    features = {f"s{at}": np.eye(9)[who] for at, who in enumerate(actor)}
    told = {"hows": [], **QUICK}
    of = {
        cluster: compare_crowd_models(
            Ratings(table, scale="1-3"), features, cluster=cluster, **told
        )
        for cluster in (None, "none")
    }
    loss = {
        cluster: one.measures.filter(how="soft", measure="log loss")["value"].item()
        for cluster, one in of.items()
    }
    assert loss["none"] < 0.5 < 0.9 < loss[None]
    about = {
        cluster: one.measures.filter(how="soft", measure="log loss")["target"].item()
        for cluster, one in of.items()
    }
    assert about[None] != "stimuli"
    assert about["none"] == "stimuli"


def test_raters_who_are_new_are_predicted_as_all_together_are() -> None:
    ratings, features = small(1, "levels")
    told = {**QUICK, "n_splits": 2, "shrinkages": [1.0]}
    known = compare_crowd_models(ratings, features, hows=["per_rater"], cluster="none", **told)
    new = compare_crowd_models(
        ratings, features, hows=["per_rater"], held_out="raters", cluster="none", **told
    )
    persons = new.measures.filter(pl.col("measure").is_in(["log loss", "ANAD"]))
    assert set(persons["n_items"]) == {6}
    assert set(new.measures.filter(measure="AWD")["n_items"]) == {36}
    # The one who always says the same is known, or is not.
    gain = [
        one.gains.filter(how="per_rater", against="soft", measure="log loss")["value"].item()
        for one in (known, new)
    ]
    assert gain[0] > gain[1] + 0.05


def test_stimuli_without_features_are_left_out_and_it_is_said() -> None:
    ratings, features = small(0, "levels")
    del features["s0"]
    told = {**QUICK, "shrinkages": [1.0]}
    found = compare_crowd_models(ratings, features, hows=[], **told)
    assert found.settings["n_stimuli"] == 35
    assert len(found.notes) > len(
        compare_crowd_models(*small(0, "levels"), hows=[], **told).notes
    )  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        {"hows": ["best"]},
        {"held_out": "labels"},
        {"n_splits": 1},
        {"n_splits": 10},
        {"held_out": "raters", "n_splits": 7},
        {"confidence": 1.0},
        {"cluster": "film"},
    ],
)
def test_options_that_cannot_be_used(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        compare_crowd_models(*small(0, "levels"), **options)


@pytest.mark.parametrize("scale", ["0-100", "0..100 interval"])
def test_answers_that_are_no_classes(scale: str) -> None:
    ratings, features = small(0, "levels")
    other = ratings.to_frame().select("stimulus", "rater", "value")
    with pytest.raises(InputError):
        compare_crowd_models(Ratings(other, scale=scale), features)
    with pytest.raises(InputError):
        compare_crowd_models(ratings, {"other": [0.0]})


def test_populations_differ_as_they_say() -> None:
    labels = ["joy", "fear"]
    of = {name: population(name, 10, 0, labels=labels) for name in ("none", "bias", "spam")}
    assert {(one.bias, one.inconsistency) for one in of["none"]} == {(0.0, 0.13 * 7)}
    assert len({one.bias for one in of["bias"]}) == 10
    assert sum(not one.attentive for one in of["spam"]) == 4
    with pytest.raises(InputError):
        population("some", 3, 0, labels=labels)
