"""Stimuli to ask about next: better than the same number at random, and a study's stimuli."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import ttest_1samp
from tests.cli.command import run_here

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings
from affectlab.reliability import suggest_stimuli
from affectlab.simulate import panel, simulate_raters, simulate_truth


def error(ratings: Ratings, truth: pl.DataFrame, default: float) -> float:
    """Mean squared error of the means of all stimuli."""
    means = ratings.to_frame().group_by("stimulus", "label").agg(mean=pl.col("value").mean())
    both = truth.join(means, on=["stimulus", "label"], how="left")
    return float(((both["value"] - both["mean"].fill_null(default)) ** 2).mean())


def fall(seed: int, scale: str) -> float:
    """By how much more the error falls than with stimuli at random, as a share of it."""
    rng = np.random.default_rng(seed)
    truth = simulate_truth(50, ["joy", "fear"], scale, seed=seed)
    people = panel(20, seed, scale=scale, careless=0)
    every = simulate_raters(truth, people, seed=seed, raters_per_stimulus=8).ratings.to_frame()
    pairs = every.select("stimulus", "rater").unique(maintain_order=True)
    pairs = pairs.with_columns(draw=pl.Series(rng.random(pairs.height)))
    pairs = pairs.with_columns(place=pl.col("draw").rank("ordinal").over("stimulus"))
    first = dict(zip(truth.stimuli, rng.integers(1, 6, 50).tolist(), strict=True))

    def with_more(names: Any) -> Ratings:
        wanted = {name: n + 3 * (name in set(names)) for name, n in first.items()}
        most = pl.col("stimulus").replace_strict(wanted, return_dtype=pl.Int64)
        chosen = pairs.filter(pl.col("place") <= most)
        answers = every.join(chosen, on=["stimulus", "rater"], how="semi")
        return Ratings(answers.select("stimulus", "rater", "label", "value"), scale=scale)

    now, known = with_more(()), truth.to_frame()
    default = float(truth.value.mean())
    suggested = suggest_stimuli(now, n=12, answers=3).to_frame()["stimulus"].to_list()
    at_random = [rng.choice(truth.stimuli, 12, replace=False).tolist() for _ in range(2)]
    errors = [error(with_more(names), known, default) for names in (suggested, *at_random)]
    return (float(np.mean(errors[1:])) - errors[0]) / error(now, known, default)


@pytest.mark.parametrize("scale", ["0-7", "binary"])
def test_means_get_better_than_with_stimuli_at_random(scale: str) -> None:
    gains = [fall(seed, scale) for seed in range(16)]
    low = ttest_1samp(gains, 0).confidence_interval(0.95).low
    assert low > 0


def table(**more: Any) -> Ratings:
    """Three stimuli that agree, one with two minds, one with one answer."""
    said = {"a": [1, 1, 1], "b": [5, 5, 5], "c": [3, 3, 3], "two": [1, 5, 3], "one": [2]}
    rows = [(name, f"r{k}", v) for name, vs in said.items() for k, v in enumerate(vs)]
    stimulus, rater, value = zip(*rows, strict=True)
    return Ratings({"stimulus": stimulus, "rater": rater, "value": value}, scale="1-5", **more)


def test_few_answers_disagreement_and_models_decide() -> None:
    found = suggest_stimuli(table(), n=5).to_frame()
    assert set(found["stimulus"][:2]) == {"one", "two"}
    assert found.columns == ["stimulus", "n_answers", "disagreement", "difference", "reduction"]
    assert (found["reduction"].diff().drop_nulls() <= 0).all()
    assert found.filter(stimulus="one")["disagreement"].item() is None
    names = ["a", "b", "c", "two", "one", "unseen"]
    net = Ratings(
        {"stimulus": names, "rater": ["net"] * 6, "value": [1.0, 1.0, 3.0, 3.0, 2.0, 3.0]},
        scale="1..5 interval",
        raters={"rater": ["net"], "rater_kind": ["model"]},
    )
    beside = suggest_stimuli(table(), net, n=6).to_frame()
    assert beside["stimulus"][0] == "unseen"
    assert beside["n_answers"][0] == 0
    # People and the model disagree about b, about which people agree.
    places = beside["stimulus"].to_list()
    assert places.index("b") < min(places.index("a"), places.index("c"))


def test_categories() -> None:
    said = {"a": "joy joy joy", "b": "fear fear fear", "c": "joy fear awe", "d": "joy joy fear"}
    rows = [(s, f"r{k}", v) for s, vs in said.items() for k, v in enumerate(vs.split())]
    stimulus, rater, value = zip(*rows, strict=True)
    ratings = Ratings(
        {"stimulus": stimulus, "rater": rater, "value": value}, scale="nominal:joy,fear,awe,calm"
    )
    found = suggest_stimuli(ratings, n=2, answers=2)
    assert set(found.to_frame()["stimulus"]) == {"c", "d"}
    assert 0 < found.settings["share"] < 1


def test_what_cannot_be_used() -> None:
    with pytest.raises(InputError):
        suggest_stimuli(table(), n=0)
    with pytest.raises(InputError):
        suggest_stimuli(table(), answers=0)
    same = Ratings({"stimulus": ["a", "b"], "rater": ["r", "r"], "value": [1, 1]}, scale="1-5")
    with pytest.raises(InputError):
        suggest_stimuli(same)


def test_one_rater_and_one_answer_each() -> None:
    one = Ratings({"stimulus": list("abc"), "rater": ["r"] * 3, "value": [1, 2, 5]}, scale="1-5")
    found = suggest_stimuli(one, n=9).to_frame()
    assert found.height == 3
    assert found["reduction"].is_finite().all()


def test_a_study_asks_about_what_was_written(tmp_path: Path) -> None:
    from affectlab.study import load_study
    from affectlab.study.design.stimuli import stimuli_of

    people, out = tmp_path / "people.csv", tmp_path / "next.csv"
    rows = table().to_frame().with_columns(text=pl.format("text of {}", pl.col("stimulus")))
    rows.select("stimulus", "rater", "value", "text").write_csv(people)
    run_here("suggest", people, "--scale", "1-5", "--n", "2", "--out", out)
    file = tmp_path / "study.toml"
    run_here("study", "init", file, "--protocol", "multilabel")
    lines = file.read_text(encoding="utf-8").splitlines()
    told = [f'table = "{out.name}"' if line.startswith("table = ") else line for line in lines]
    assert told != lines
    file.write_text("\n".join(told), encoding="utf-8")
    found = stimuli_of(load_study(file))
    assert {one.name for one in found} == {"one", "two"}
    assert found[0].texts == (f"text of {found[0].name}",)
