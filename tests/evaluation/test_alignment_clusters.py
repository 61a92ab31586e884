"""Faces of the same actors are left out together, beside people as in coefficients of agreement."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.evaluation.panels import Array, models_of, people_of

from affectlab import Ratings
from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.evaluation import alignment, discrepancy, human_ceiling, spearman_with_people
from affectlab.evaluation.human_alignment import wording

ACTORS = 12


def played(seed: int, n_actors: int = ACTORS, n_each: int = 8) -> tuple[Array, Array]:
    """Seven people, and a model that errs alike on all faces of an actor."""
    rng = np.random.default_rng(seed)
    n = n_actors * n_each
    truth = rng.normal(3.5, 1.5, (2, n))
    people = truth + rng.normal(0, 1, (7, 2, n))
    error = np.repeat(rng.normal(0, 2, (2, n_actors)), n_each, axis=1)
    model = truth + error
    return np.clip(np.rint(people), 0, 7), np.clip(model, 0, 7)[None]


def with_actors(ratings: Ratings, n_each: int = 8) -> Ratings:
    names = list(ratings.stimulus_names)
    actors = [f"a{int(name[1:]) // n_each:02d}" for name in names]
    return ratings.with_stimuli(pl.DataFrame({"stimulus": names, "actor": actors}))


def test_actors_are_left_out_whole() -> None:
    people, models = played(1)
    sides = with_actors(people_of(people)), models_of(models)
    found = alignment(*sides, target="stimuli")
    row = found.difference["kappa", "m0"]
    assert row.target == "actors"
    assert row.interval is not None
    assert row.interval.over == ("actors",)
    left = []
    for k in range(ACTORS):
        kept = np.arange(people.shape[2]) // 8 != k
        part = alignment(
            people_of(people[:, :, kept]), models_of(models[:, :, kept]), target="sample"
        )
        left.append(part.difference["kappa", "m0"].value)
    apart = np.array(left) - np.mean(left)
    assert row.se == pytest.approx(np.sqrt((ACTORS - 1) / ACTORS * (apart**2).sum()), rel=1e-9)


def test_a_column_like_actor_is_found_said_and_turned_off() -> None:
    people, models = played(2)
    plain, judged = people_of(people), models_of(models)
    found = alignment(with_actors(plain), judged)
    apart = alignment(with_actors(plain), judged, cluster="none")
    row, alone = (one.difference["kappa", "m0"] for one in (found, apart))
    assert row.se > 1.2 * alone.se
    assert row.value == alone.value
    assert row.interval is not None
    assert row.interval.over == ("actors", "raters")
    own = found.difference.frame.filter(measure="kappa").row(0, named=True)
    basis = wording.Basis(7, 96, 96, 2, 1.0, "12 actors")
    words = f"mean {found.measure_words}"
    assert found.sentences[0] == wording.verdict(own, words, "both", basis, 0.95)
    assert found.settings["units"] == "actors"
    assert alone.se == alignment(plain, judged).difference["kappa", "m0"].se
    mapping = {name: f"a{int(name[1:]) // 8}" for name in plain.stimulus_names}
    assert alignment(plain, judged, cluster=mapping).difference["kappa", "m0"].se == pytest.approx(
        row.se, rel=0.15
    )
    with pytest.raises(InputError, match="cluster"):
        alignment(plain, judged, cluster="film")


def test_few_actors_give_no_verdict() -> None:
    people, models = played(3, n_actors=4, n_each=24)
    found = alignment(with_actors(people_of(people), 24), models_of(models))
    row = found.difference["kappa", "m0"]
    assert np.isnan(row.low)
    assert row.reason == Reason(Cause.FEW_UNITS, 4, 5, "actors")
    assert found.verdicts == {"m0": "not shown"}
    raters = alignment(with_actors(people_of(people), 24), models_of(models), target="raters")
    assert not np.isnan(raters.difference["kappa", "m0"].low)


def test_ceilings_and_discrepancies_take_them_too() -> None:
    people, models = played(4)
    ratings = with_actors(people_of(people))
    ceiling = human_ceiling(ratings, target="stimuli").frame
    assert set(ceiling["target"]) == {"actors"}
    differences = discrepancy(ratings, models_of(models), target="stimuli").frame
    assert set(differences["target"]) == {"actors"}
    alone = discrepancy(ratings, models_of(models), target="stimuli", cluster="none").frame
    assert (differences["se"] > alone["se"]).all()


@pytest.mark.long
def test_intervals_hold_where_a_model_errs_by_actor() -> None:
    truth = np.mean(
        [
            alignment(people_of(p), models_of(m), target="sample").difference["kappa", "m0"].value
            for p, m in (played(900 + k, n_actors=300) for k in range(6))
        ]
    )
    held = {"none": 0, None: 0}
    for seed in range(60):
        people, models = played(seed)
        for cluster in held:
            ratings = with_actors(people_of(people))
            row = alignment(ratings, models_of(models), cluster=cluster).difference["kappa", "m0"]
            held[cluster] += row.low <= truth <= row.high
    assert held[None] >= 53
    assert held["none"] < held[None]


def test_correlations_with_the_median_take_them_too() -> None:
    people, models = played(5)
    sides = with_actors(people_of(people)), models_of(models)
    own, alone = (spearman_with_people(*sides, cluster=of)["m0"] for of in (None, "none"))
    assert (own.target, alone.target) == ("actors", "stimuli")
    assert own.high - own.low > 1.2 * (alone.high - alone.low)
