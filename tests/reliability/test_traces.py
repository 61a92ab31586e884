"""Continuous traces: planted lags are found, gold standards by plain formulas, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.command import run_here

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, read_ratings
from affectlab.ratings.wording import answers_are_traces
from affectlab.reliability import traces
from affectlab.reliability.traces import lags_of

LAGS = np.array([0.0, 0.5, 1.2, 2.0, -1.0, 0.3])


def frame(
    seed: int = 0,
    *,
    lags: np.ndarray = LAGS,
    n_stimuli: int = 3,
    noise: float = 0.1,
    jitter: float = 0.03,
) -> pl.DataFrame:
    """Films that raters follow with planted lags, levels and noise, at times of their own."""
    rng = np.random.default_rng(seed)
    parts = []
    for film in range(n_stimuli):
        pace, phase = rng.uniform(0.02, 0.15, 6), rng.uniform(0, 6, 6)
        for rater, lag in enumerate(lags):
            at = np.arange(0, 60, 0.1) + jitter * rng.uniform(-1, 1)
            waves = np.sin(2 * np.pi * pace[:, None] * (at - lag) + phase[:, None]).sum(axis=0)
            value = waves / 4 + rng.normal(0, 0.1) + rng.normal(0, noise, at.size)
            parts.append(
                pl.DataFrame(
                    {
                        "stimulus": f"film{film}",
                        "rater": f"r{rater}",
                        "label": "valence",
                        "at": at.round(4),
                        "value": np.clip(value, -2, 2),
                    }
                )
            )
    return pl.concat(parts)


def ratings(*args: object, **options: object) -> Ratings:
    return Ratings(frame(*args, **options), scale="-2-2 interval")  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(4))
def test_planted_lags_are_recovered(seed: int) -> None:
    result = traces(ratings(seed))
    found = result.to_frame("raters")["lag"].to_numpy()
    assert found == pytest.approx(LAGS - LAGS.mean(), abs=0.21)
    row = result.to_frame().row(0, named=True)
    assert row["value"] > row["as_recorded"] + 0.05
    assert row["low"] < row["value"] < row["high"]
    # Without noise, and on the grid, exactly.
    exact = traces(ratings(seed, noise=0.0, jitter=0.0)).to_frame("raters")["lag"].to_numpy()
    assert exact == pytest.approx(LAGS - LAGS.mean(), abs=0.051)


def test_lags_do_not_go_beyond_the_most() -> None:
    lags = np.array([0.0, 0.0, 0.0, 0.0, 9.0])
    result = traces(ratings(lags=lags))
    assert np.abs(result.to_frame("raters")["lag"].to_numpy()).max() <= 6.0
    none = traces(ratings(), max_lag=0.0)
    assert none.to_frame("raters")["lag"].abs().max() == 0
    row = none.to_frame().row(0, named=True)
    assert row["value"] == pytest.approx(row["as_recorded"])


def test_lags_of_whole_points() -> None:
    rng = np.random.default_rng(1)
    base = np.cumsum(rng.normal(0, 1, 400))
    rows = [np.concatenate([base[20 - lag : 380 - lag], np.full(20, np.nan)]) for lag in (0, 5, 13)]
    assert lags_of(np.array(rows), 20).tolist() == [-6, -1, 7]


def test_gold_standards_by_hand() -> None:
    """Mean and evaluator-weighted estimator of Grimm and Kroschel, point by point."""
    rng = np.random.default_rng(2)
    value = rng.normal(0, 1, 50) + rng.normal(0, [[0.2], [0.5], [3.0]], (3, 50))
    rater, at = (part.ravel() for part in np.indices(value.shape))
    table = Ratings(
        {"stimulus": ["s"] * 150, "rater": rater, "at": at, "value": value.ravel()},
        scale="interval",
    )
    result = traces(table, max_lag=0, reaction=2.0)
    gold = result.to_frame("gold")
    r = np.maximum([np.corrcoef(one, value.mean(axis=0))[0, 1] for one in value], 0)
    assert gold["mean"].to_numpy() == pytest.approx(value.mean(axis=0))
    assert gold["ewe"].to_numpy() == pytest.approx(r @ value / r.sum())
    assert gold["sd"].to_numpy() == pytest.approx(value.std(axis=0, ddof=1))
    assert gold["at"].to_list() == [k - 2.0 for k in range(50)]
    assert result.to_frame("raters")["weight"].to_numpy() == pytest.approx(r / r.sum())
    assert result.settings["target"] == "raters"


def test_between_two_answers() -> None:
    rows = {
        "stimulus": ["s"] * 6,
        "rater": list("aaabbb"),
        "at": [0, 2, 4, 0, 2, 4],
        "value": [0, 1, 0, 0, 2, 0],
    }
    table = Ratings(rows, scale="0-4 interval")
    line = traces(table, step=1, max_lag=0).to_frame("gold")
    assert line["mean"].to_list() == [0, 0.75, 1.5, 0.75, 0]
    last = traces(table, step=1, max_lag=0, between="last").to_frame("gold")
    assert last["mean"].to_list() == [0, 0, 1.5, 1.5, 0]
    # A trace says nothing of times before its first answer and after its last.
    changed = {"at": [0, 2, 4, 1, 2, 3], "value": [0, 1, 0, 1, 2, 1]}
    table = Ratings(rows | changed, scale="0-4 interval")
    line = traces(table, step=1, max_lag=0).to_frame("gold")
    assert line["mean"].to_list() == [0, 0.75, 1.5, 0.75, 0]


def test_a_long_table_is_read(tmp_path: Path) -> None:
    """The check lets seconds tell answers apart; for other statistics each trace has a mean."""
    frame().write_csv(tmp_path / "traces.csv")
    read = read_ratings(tmp_path / "traces.csv", scale="-2-2 interval")
    assert answers_are_traces() in read.warnings
    means = read.averaged().answers().matrix("valence")
    assert means.shape == (6, 3)
    own = frame().filter(rater="r0", stimulus="film0")["value"].mean()
    assert means[0, 0] == pytest.approx(own)
    shuffled = Ratings(frame().sample(fraction=1, shuffle=True, seed=1), scale="-2-2 interval")
    ours, theirs = (
        traces(one).to_frame("raters").sort("rater")["value"].to_list() for one in (read, shuffled)
    )
    assert ours == pytest.approx(theirs, abs=1e-9)
    with pytest.raises(InputError, match="second answer"):
        Ratings(frame().with_columns(at=pl.lit("2020-01-01T00:00:00")), scale="-2-2 interval")


def test_bad_input() -> None:
    plain = Ratings({"stimulus": ["a", "b"], "rater": ["r", "r"], "value": [1, 2]}, scale="1-5")
    with pytest.raises(InputError, match="traces have times"):
        traces(plain)
    once = Ratings(
        {"stimulus": ["a", "b"], "rater": ["r", "r"], "value": [1, 2], "at": [0, 1]}, scale="1-5"
    )
    with pytest.raises(InputError, match="at two times"):
        traces(once)
    dates = Ratings(
        {"stimulus": ["a"], "rater": ["r"], "value": [1], "at": ["2020-01-01"]}, scale="1-5"
    )
    with pytest.raises(InputError, match="is no number"):
        traces(dates)
    alone = ratings(lags=np.zeros(1))
    with pytest.raises(InputError, match="no two raters"):
        traces(alone)
    with pytest.raises(InputError, match="max_lag"):
        traces(ratings(), max_lag=-1.0)


def test_the_verb(tmp_path: Path) -> None:
    frame().write_csv(tmp_path / "traces.csv")
    files = (tmp_path / "traces.csv", "--scale=-2-2 interval")
    out = ("--out", tmp_path / "out", "--figures", tmp_path / "figures")
    done = run_here("reliability", "traces", *files, *out)
    assert "0.916" in done.stdout  # The concordance after lags are removed.
    gold = pl.read_csv(tmp_path / "out" / "gold.csv")
    assert {"stimulus", "at", "mean", "ewe"} <= set(gold.columns)
    assert (tmp_path / "figures" / "traces.svg").exists()
    done = run_here("reliability", "traces", *files, "--json")
    wanted = traces(Ratings(frame(), scale="-2-2 interval")).to_dict()
    lags = [row["lag"] for row in json.loads(done.stdout)["result"]["raters"]]
    assert lags == pytest.approx([row["lag"] for row in wanted["raters"]])
