"""How much of a ranking of models is the way in which they were asked."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau

from affectlab import InputError
from affectlab.evaluation import protocol_effects
from affectlab.ratings import Ratings


def table(
    of_model: float, of_way: float, of_both: float, *, n_models: int = 6, seed: int = 0
) -> Ratings:
    """People and models on one label: models differ in noise by model, way and both."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=400)
    rows: dict[str, list] = {"stimulus": [], "rater": [], "value": []}
    about: dict[str, list] = {"rater": [], "rater_kind": [], "model": [], "readout": []}

    def add(name: str, kind: str, model: str | None, way: str | None, noise: float) -> None:
        about["rater"].append(name)
        about["rater_kind"].append(kind)
        about["model"].append(model)
        about["readout"].append(way)
        values = truth + noise * rng.normal(size=truth.size)
        rows["stimulus"] += [f"s{k}" for k in range(truth.size)]
        rows["rater"] += [name] * truth.size
        rows["value"] += values.tolist()

    for person in range(5):
        add(f"p{person}", "human", None, None, 0.3)
    models = rng.normal(size=n_models) * of_model
    ways = rng.normal(size=3) * of_way
    for m in range(n_models):
        for w, way in enumerate(("generate", "choice", "logprob")):
            noise = np.exp(models[m] + ways[w] + of_both * rng.normal())
            add(f"m{m} {way}", "model", f"m{m}", way, float(noise))
    return Ratings(rows, scale="interval", raters=pl.DataFrame(about))


@pytest.mark.parametrize(
    ("planted", "largest"),
    [((0.6, 0.0, 0.0), "model"), ((0.0, 0.9, 0.0), "way"), ((0.0, 0.0, 0.6), "model and way")],
)
def test_what_was_planted_is_found(planted: tuple[float, float, float], largest: str) -> None:
    found = protocol_effects(table(*planted), n_boot=100)
    shares = dict(found.shares.select("source", "share").iter_rows())
    assert max(shares, key=lambda name: shares[name]) == largest
    assert shares[largest] > 0.6
    assert sum(shares.values()) == pytest.approx(1)


def test_rankings_are_kendalls_tau() -> None:
    found = protocol_effects(table(0.5, 0.3, 0.3), n_boot=0)
    grid = found.scores.pivot("way", index="model", values="value").sort("model")
    for way_a, way_b, tau, n in found.rankings.iter_rows():
        assert tau == pytest.approx(kendalltau(grid[way_a], grid[way_b]).statistic)
        assert n == 6
    best = found.scores.filter(pl.col("rank") == 1)
    assert best.height == 3


def test_models_that_were_not_asked_in_every_way_are_named() -> None:
    whole = table(0.5, 0.3, 0.3)
    part = whole.select(raters=[name for name in whole.rater_names if name != "m5 choice"])
    found = protocol_effects(part, n_boot=0)
    assert set(found.scores["model"]) == {f"m{k}" for k in range(5)}
    assert any("m5" in note for note in found.notes)


@pytest.mark.parametrize(
    ("names", "options", "words"),
    [
        (lambda name: name.startswith("p"), {}, "no rater says which model"),
        (lambda name: "generate" in name or name.startswith("p"), {}, "asked in one way"),
        (lambda name: name.startswith(("p", "m0")), {}, "expected two models or more"),
        (lambda name: True, {"ways": ["voice"]}, "no attribute 'voice'"),
    ],
)
def test_refusals(names, options: dict, words: str) -> None:
    whole = table(0.5, 0.3, 0.3)
    part = whole.select(raters=[name for name in whole.rater_names if names(name)])
    with pytest.raises(InputError, match=words):
        protocol_effects(part, n_boot=0, **options)


def test_what_stimuli_share_is_no_interaction() -> None:
    """Errors that all cells have in common leave the rest alone, however large they are."""
    rng = np.random.default_rng(3)
    truth = rng.normal(size=60)
    noise = rng.normal(size=60)
    rows: dict[str, list] = {"stimulus": [], "rater": [], "value": []}
    about: dict[str, list] = {"rater": [], "rater_kind": [], "model": [], "readout": []}
    for m in range(5):
        for way in ("a", "b", "c"):
            about["rater"].append(f"m{m} {way}")
            about["rater_kind"].append("model")
            about["model"].append(f"m{m}")
            about["readout"].append(way)
            # The same errors in every cell, and a little of its own.
            own = truth + noise + 0.05 * rng.normal(size=60)
            rows["stimulus"] += [f"s{k}" for k in range(60)]
            rows["rater"] += [f"m{m} {way}"] * 60
            rows["value"] += own.tolist()
    for person in range(3):
        about["rater"].append(f"p{person}")
        about["rater_kind"].append("human")
        about["model"].append(None)
        about["readout"].append(None)
        rows["stimulus"] += [f"s{k}" for k in range(60)]
        rows["rater"] += [f"p{person}"] * 60
        rows["value"] += truth.tolist()
    ratings = Ratings(rows, scale="interval", raters=pl.DataFrame(about))
    found = protocol_effects(ratings, n_boot=200)
    variance = dict(found.shares.select("source", "variance").iter_rows())
    se = found.scores["high"].to_numpy() - found.scores["low"].to_numpy()
    # The standard error of a single score is many times as large.
    assert variance["sampling of stimuli"] < 0.05 * float(np.mean((se / 3.92) ** 2))


def test_groups_of_stimuli_are_left_out_whole_however_they_are_given() -> None:
    plain = table(0.3, 0.3, 0.3, n_models=4)
    actors = {name: f"a{int(name[1:]) % 40:02}" for name in plain.stimulus_names}
    told = pl.DataFrame({"stimulus": list(actors), "actor": list(actors.values())})
    with_column = Ratings(plain.to_frame(), scale=plain.scale, raters=plain.raters, stimuli=told)

    def sampling(ratings: Ratings, **options: object) -> float:
        shares = protocol_effects(ratings, n_boot=0, **options).shares
        return dict(shares.select("source", "variance").iter_rows())["sampling of stimuli"]

    by_column = sampling(with_column, cluster="actor")
    assert sampling(plain, cluster=actors) == by_column
    # A column that is called like what is drawn is taken by itself, as it is for the intervals.
    assert sampling(with_column) == by_column
    assert sampling(with_column, cluster="none") == sampling(plain) != by_column
