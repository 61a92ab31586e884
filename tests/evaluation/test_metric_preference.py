"""Which metric sees what people prefer: against scikit-learn, plain loops and planted truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy.special import expit, logit
from scipy.stats import t
from sklearn.metrics import roc_auc_score

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause
from affectlab.evaluation import (
    evaluate_preference_metrics,
    metric_scores,
    preferences,
)
from affectlab.evaluation.preference.areas import (
    fold_areas,
)
from affectlab.evaluation.preference.judged_items import judged_items
from affectlab.evaluation.preference.metrics import area_verdict
from affectlab.ratings import Ratings

PUBLISHED = {
    "BART": (-5.48, -5.42, -5.54),
    "CLIP-Score": (0.74, 0.76, 0.75),
    "RefCLIP": (0.42, 0.43, 0.42),
}
"""Socratis (2023), Table 2: machine-better, human-better, both-good."""


def verdicts(machine: int, human: int, both: int, bad: int = 0) -> dict[str, str]:
    said = ["machine"] * machine + ["human"] * human + ["both good"] * both + ["both bad"] * bad
    order = np.random.default_rng(7).permutation(len(said))
    return {f"i{k:03d}": said[at] for k, at in enumerate(order)}


def table(said: dict[str, str], **scores: Any) -> dict[str, list[Any]]:
    """Make a long table of scores, each an array or a number by verdict."""
    rows: dict[str, list[Any]] = {"item": [], "metric": [], "score": []}
    for metric, values in scores.items():
        rows["item"] += list(said)
        rows["metric"] += [metric] * len(said)
        rows["score"] += list(map(float, values))
    return rows


def planted(seed: int, n: int = 200, *, apart: float, shared: float = 0.0) -> tuple[Any, Any, Any]:
    """Items, three to a pair; with `shared`, items of a pair share a part of both."""
    rng = np.random.default_rng(seed)
    pair = np.arange(n) // 3
    drawn = rng.normal(size=n) + shared * rng.normal(size=n)[pair]
    good = drawn > 0.4
    score = rng.normal(size=n) + shared * rng.normal(size=n)[pair] + apart * good
    said = dict(zip([f"i{k}" for k in range(n)], np.where(good, "model", "human"), strict=True))
    return {k: str(v) for k, v in said.items()}, score, [f"p{k}" for k in pair]


@given(seed=st.integers(0, 10**6), n=st.integers(4, 60), levels=st.integers(1, 9))
@settings(max_examples=40, deadline=None)
def test_areas_are_those_of_scikit_learn(seed: int, n: int, levels: int) -> None:
    rng = np.random.default_rng(seed)
    good = rng.random(n) < 0.4
    good[:2] = True, False
    x = rng.integers(0, levels, n).astype(float)
    said = {f"i{k}": "both" if k % 3 else "model" for k in range(n) if good[k]}
    said |= {f"i{k}": "human" for k in range(n) if not good[k]}
    said |= {"model won": "model", "human won": "human"}
    scores = {"item": [f"i{k}" for k in range(n)], "metric": ["m"] * n, "score": x.tolist()}
    found = evaluate_preference_metrics(said, scores, n_boot=0)
    assert found.to_frame("areas")["value"][0] == pytest.approx(roc_auc_score(good, x))
    assert (found.to_frame("areas")["n_good"][0], found.to_frame("areas")["n_poor"][0]) == (
        good.sum(),
        (~good).sum(),
    )
    assert found.settings["n_without_scores"] == 2


def test_group_means_of_table_2_come_from_item_scores() -> None:
    said = verdicts(91, 233, 47, 11)
    rng = np.random.default_rng(0)
    groups = ("machine", "human", "both good")
    scores = {}
    for metric, means in PUBLISHED.items():
        values = np.full(len(said), 99.0)
        for group, mean in zip(groups, means, strict=True):
            rows = np.array([verdict == group for verdict in said.values()])
            noise = rng.normal(0, 0.1, rows.sum())
            values[rows] = mean + noise - noise.mean()
        scores[metric] = values
    found = evaluate_preference_metrics(said, table(said, **scores), n_boot=200, seed=0)
    rows_of = {(row["metric"], row["group"]): row for row in found.to_frame("means").to_dicts()}
    for metric, means in PUBLISHED.items():
        for group, mean, n in zip(groups, means, (91, 233, 47), strict=True):
            row = rows_of[metric, group]
            assert row["value"] == pytest.approx(mean, abs=1e-9)
            assert row["n"] == n
            assert row["low"] < mean < row["high"]
            # Of n values with an SD of 0.1, a standard error of 0.1 / sqrt(n).
            assert row["se"] == pytest.approx(0.1 / np.sqrt(n), rel=0.3)
        both = (91 * means[0] + 47 * means[2]) / 138
        assert rows_of[metric, "good"]["value"] == pytest.approx(both)
    assert ("BART", "both bad") not in rows_of
    assert found.settings["set_aside"] == {"both bad": 11}


def test_a_metric_that_sees_and_one_that_does_not() -> None:
    said, sees, _ = planted(1, 380, apart=0.9)
    rng = np.random.default_rng(5)
    scores = table(said, sees=sees, blind=rng.normal(size=380), turned=-sees)
    found = evaluate_preference_metrics(said, scores, seed=0, n_boot=300)
    rows = {row["metric"]: row for row in found.to_frame("areas").to_dicts()}
    assert rows["sees"]["low"] > 0.5
    assert rows["sees"]["verdict"] == "sees"
    assert rows["blind"]["low"] < 0.5 < rows["blind"]["high"]
    assert rows["blind"]["verdict"] == "does not show that it sees"
    assert rows["turned"]["verdict"] == "sees the wrong way round"
    ahead = {(row["metric"], row["other"]): row for row in found.to_frame("differences").to_dicts()}
    assert ahead["sees", "blind"]["verdict"] == "sees sees more"
    assert ahead["sees", "blind"]["value"] == pytest.approx(
        rows["sees"]["value"] - rows["blind"]["value"]
    )
    # 380 items cannot rule out that a blind metric sees a little, but they rule out much.
    close = evaluate_preference_metrics(said, scores, seed=0, n_boot=300, margin=0.12)
    verdict = {row["metric"]: row["verdict"] for row in close.to_frame("areas").to_dicts()}
    assert verdict["blind"] == "sees no more than the margin"
    assert verdict["sees"] == "sees"


def test_verdicts_are_read_from_intervals() -> None:
    nan = float("nan")
    assert area_verdict(nan, nan, 0.1) == "no interval"
    assert area_verdict(0.3, 0.49, None) == "sees the wrong way round"
    assert area_verdict(0.44, 0.54, 0.05) == "does not show that it sees"
    assert area_verdict(0.505, 0.54, 0.05) == "sees no more than the margin"


def test_groups_are_left_out_as_in_a_plain_loop() -> None:
    said, score, pair = planted(2, 60, apart=0.5, shared=1.0)
    good = judged_items(said).good
    areas, means = [], []
    for one in sorted(set(pair)):
        rows = np.array(pair) != one
        areas.append(roc_auc_score(good[rows], score[rows]))
        means.append(score[rows & good].mean())
    scores = {**table(said, m=score), "pair": pair}
    found = evaluate_preference_metrics(said, scores, cluster="pair", seed=0)
    assert found.settings["n_clusters"] == 20
    row = found.to_frame("areas").to_dicts()[0]
    se = np.sqrt(19 * np.var(areas))
    assert row["se"] == pytest.approx(se)
    area = roc_auc_score(good, score)
    middle = area - 19 * (np.mean(areas) - area)
    slope = 1 / (area * (1 - area))
    ends = logit(area) + slope * (middle - area + np.array([-1, 1]) * t.ppf(0.975, 19) * se)
    np.testing.assert_allclose([row["low"], row["high"]], expit(ends))
    # Groups without a good item say nothing of the mean of good ones.
    held = np.array([(good & (np.array(pair) == one)).any() for one in sorted(set(pair))])
    n = held.sum()
    row = next(row for row in found.to_frame("means").to_dicts() if row["group"] == "good")
    assert row["se"] == pytest.approx(np.sqrt((n - 1) * np.var(np.array(means)[held])))


def test_areas_within_folds_are_those_of_a_plain_loop() -> None:
    rng = np.random.default_rng(0)
    x, good, fold = rng.normal(size=40), rng.random(40) < 0.5, rng.integers(0, 4, 40)
    weights = rng.integers(0, 3, (5, 40)).astype(float)
    found = fold_areas(x[:, None], good, weights, [fold])[:, 0]
    for value, weight in zip(found, weights, strict=True):
        won = pairs = 0.0
        for a in np.flatnonzero(good):
            for b in np.flatnonzero(~good):
                if fold[a] == fold[b]:
                    count = weight[a] * weight[b]
                    won += count * ((x[a] > x[b]) + 0.5 * (x[a] == x[b]))
                    pairs += count
        assert value == pytest.approx(won / pairs)


@pytest.mark.long
def test_intervals_cover_also_where_items_of_a_pair_go_together() -> None:
    said, score, _ = planted(99, 60_000, apart=0.7, shared=1.5)
    good = np.array([verdict == "model" for verdict in said.values()])
    truth = float(roc_auc_score(good, score))
    hits = {"pair": 0, None: 0}
    width = {"pair": 0.0, None: 0.0}
    runs = 120
    for seed in range(runs):
        said, score, pair = planted(seed, 150, apart=0.7, shared=1.5)
        scores = {**table(said, m=score), "pair": pair}
        for cluster in hits:
            found = evaluate_preference_metrics(
                said, scores, cluster=cluster, n_boot=150, seed=seed
            ).to_frame("areas")
            low, high = found["low"][0], found["high"][0]
            hits[cluster] += low <= truth <= high
            width[cluster] += (high - low) / runs
    assert 0.88 <= hits["pair"] / runs <= 0.995
    # Taking each item as one of its own promises too much.
    assert width[None] < width["pair"]
    assert hits[None] < hits["pair"]


def test_groups_hold_all_at_once_and_small_ones_say_so() -> None:
    said, score, _ = planted(3, 240, apart=0.8)
    emotion = ["sad"] * 100 + ["happy"] * 100 + ["odd"] * 10 + [""] * 30
    items = pl.DataFrame({"item": list(said), "emotion": emotion, "source": ["bbc"] * 240})
    found = evaluate_preference_metrics(
        said, table(said, m=score), items=items, by=["emotion", "source"], n_boot=200, seed=0
    )
    rows = {(row["by"], row["group"]): row for row in found.to_frame("areas").to_dicts()}
    assert set(rows) == {
        ("", "all"),
        ("emotion", "happy"),
        ("emotion", "odd"),
        ("emotion", "sad"),
        ("source", "bbc"),
    }
    part = np.arange(240) < 100
    good = np.array([verdict == "model" for verdict in said.values()])
    assert rows["emotion", "sad"]["value"] == pytest.approx(roc_auc_score(good[part], score[part]))
    assert rows["emotion", "odd"]["reason"] == Cause.FEWER
    assert rows["emotion", "odd"]["verdict"] == "too few to tell"
    assert np.isnan(rows["emotion", "odd"]["value"])
    sad = rows["emotion", "sad"]
    assert sad["n_together"] == 2
    assert sad["all_low"] < sad["low"] < sad["high"] < sad["all_high"]
    assert rows["source", "bbc"]["value"] == rows["", "all"]["value"]


@pytest.mark.long
def test_many_blind_groups_are_not_found_to_see() -> None:
    rng = np.random.default_rng(0)
    wrong = alone = 0
    for seed in range(15):
        said, _, _ = planted(seed, 400, apart=0.0)
        items = pl.DataFrame({"item": list(said), "emotion": [f"e{k % 10}" for k in range(400)]})
        found = evaluate_preference_metrics(
            said, table(said, m=rng.normal(size=400)), items=items, by=["emotion"], n_boot=150,
            seed=seed,
        )  # fmt: skip
        rows = found.to_frame("areas").filter(pl.col("by") == "emotion")
        assert rows.height == 10
        told = rows["verdict"].is_in(["sees", "sees the wrong way round"])
        wrong += told.any()
        # Each by itself, some of ten blind groups would often be found to see.
        alone += ((rows["low"] > 0.5) | (rows["high"] < 0.5)).any()
    assert wrong <= 3
    assert wrong < alone


def votes(n: int = 90, seed: int = 0) -> Ratings:
    rng = np.random.default_rng(seed)
    better = rng.normal(size=n)
    rows: dict[str, list[str]] = {"stimulus": [], "rater": [], "value": []}
    for item in range(n):
        for judge in range(3):
            drawn = better[item] + rng.normal()
            said = "model" if drawn > 0.8 else "both" if drawn > 0.4 else "human"
            rows["stimulus"].append(f"i{item}")
            rows["rater"].append(f"j{judge}")
            rows["value"].append("neither" if rng.random() < 0.1 else said)
    return Ratings(rows, scale="nominal:human,model,both,neither")


def test_votes_of_judges_count_one_by_one() -> None:
    found = preferences(votes())
    rng = np.random.default_rng(1)
    x = rng.normal(size=90)
    scores = {"item": [f"i{k}" for k in range(90)], "metric": ["m"] * 90, "score": x}
    of_votes = evaluate_preference_metrics(found, scores, unit="vote", n_boot=200, seed=0)
    at = {name: k for k, name in enumerate(found.tally.items)}
    truth, value = [], []
    for k in range(90):
        row = dict(zip(found.choices, found.votes[at[f"i{k}"]], strict=True))
        for name in ("model", "both", "human"):
            truth += [name != "human"] * int(row[name])
            value += [x[k]] * int(row[name])
    row = of_votes.to_frame("areas").to_dicts()[0]
    assert row["value"] == pytest.approx(roc_auc_score(truth, value))
    assert row["n_good"] + row["n_poor"] == len(truth)
    assert of_votes.settings["set_aside"]["neither"] == 270 - len(truth)
    # Votes on one item go together: the error is larger than that of as many items.
    apart = {"item": [f"v{k}" for k in range(len(truth))], "metric": ["m"] * len(truth)}
    said = {f"v{k}": "model" if good else "human" for k, good in enumerate(truth)}
    naive = evaluate_preference_metrics(said, {**apart, "score": value}, n_boot=200, seed=0)
    assert row["se"] > naive.to_frame("areas")["se"][0]
    of_items = evaluate_preference_metrics(found, scores, n_boot=0)
    assert (
        of_items.settings["n_good"]
        + of_items.settings["n_poor"]
        + sum(of_items.settings["set_aside"].values())
        == 90
    )
    assert "no majority" in of_items.settings["set_aside"]


def test_the_same_seed_gives_the_same_and_gaps_do_not_matter() -> None:
    said, score, _ = planted(0, 60, apart=0.5)
    scores = table(said, m=score, gappy=score)
    scores["score"][60:90] = [float("nan")] * 30
    one, two = (evaluate_preference_metrics(said, scores, seed=3, n_boot=50) for _ in range(2))
    assert one.to_frame("areas").equals(two.to_frame("areas"), null_equal=True) or str(
        one.to_frame("areas")
    ) == str(two.to_frame("areas"))
    assert one.to_frame("areas")["n_good"].sum() < 2 * one.settings["n_good"]
    assert one.to_frame("differences")["value"][0] == 0.0
    assert one.to_frame("differences")["n"][0] == 30
    scores["score"][60:] = [None] * 60
    empty = evaluate_preference_metrics(said, scores, seed=3, n_boot=50)
    assert empty.to_frame("areas")["reason"][1] == Cause.FEWER
    assert empty.to_frame("differences")["status"][0] == "undefined"


def test_scores_are_read_from_files(tmp_path: Path) -> None:
    text = "item,metric,score,emotion,system,n_tokens\n"
    text += "007,clip,0.5,sad,model,1\n007,bart,-5,sad,model,2\n8,clip,,joy,model,1\n"
    text += "007,clip,0.9,sad,human,1\n"
    file = tmp_path / "scores.csv"
    file.write_text(text, encoding="utf-8")
    read = metric_scores(file, system="model")
    assert read.items == ("007", "8")
    assert read.metrics == ("clip", "bart")
    assert read.columns == {"emotion": ("sad", "joy")}
    assert np.isnan(read.values[1]).all()
    frame = pl.read_csv(file, infer_schema=False).filter(pl.col("system") == "model")
    frame.with_columns(pl.col("score").cast(pl.Float64)).write_parquet(tmp_path / "scores.parquet")
    again = metric_scores(tmp_path / "scores.parquet")
    np.testing.assert_array_equal(again.values, read.values)


HOSTILE: list[tuple[dict[str, list[Any]], str]] = [
    ({"item": ["a"], "score": [1.0]}, "column 'metric' is missing"),
    ({"item": ["a"], "metric": ["m"], "score": ["high"]}, "'high' is no number"),
    ({"item": ["a"], "metric": ["m"], "score": [float("inf")]}, "infinite"),
    ({"item": ["a", "a"], "metric": ["m", "m"], "score": [1.0, 2.0]}, "has 2 scores of 'm'"),
    ({"item": ["a", None], "metric": ["m", "m"], "score": [1.0, 2.0]}, "row 2: column 'item'"),
    ({"item": [], "metric": [], "score": []}, "there is no score"),
    ({"item": ["a"], "metric": ["m"], "score": [[1.0]]}, "expected numbers"),
    ({"item": ["a", "b"], "metric": ["m"], "score": [1.0]}, "make no table"),
]


@pytest.mark.parametrize(("rows", "words"), HOSTILE)
def test_bad_scores_are_one_sentence(rows: dict[str, list[Any]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        metric_scores(rows)


def test_items_of_which_no_cluster_is_said_are_by_themselves() -> None:
    said, score, pair = planted(0, 60, apart=0.5)
    some = [name if k < 30 else "" for k, name in enumerate(pair)]
    scores = {**table(said, m=score), "pair": some}
    found = evaluate_preference_metrics(said, scores, cluster="pair", n_boot=50, seed=0)
    assert found.settings["n_clusters"] == 10 + 30


@pytest.mark.wording
def test_few_items_are_said_to_be_few() -> None:
    said, score, _ = planted(0, 12, apart=0.5)
    found = evaluate_preference_metrics(said, table(said, m=score), n_boot=50, seed=0)
    assert "With fewer than 10 good or poor items, intervals are rough" in found.sentences[2]


def test_bad_files_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        metric_scores(tmp_path / "none.csv")
    (tmp_path / "x.parquet").write_bytes(b"no parquet")
    with pytest.raises(InputError, match="cannot be read"):
        metric_scores(tmp_path / "x.parquet")
    (tmp_path / "x.csv").write_bytes(b"")
    with pytest.raises(InputError, match="cannot be read"):
        metric_scores(tmp_path / "x.csv")


def test_bad_input_is_one_sentence() -> None:
    said = {"a": "model", "b": "human"}
    scores = {"item": ["a", "b"], "metric": ["m", "m"], "score": [1.0, 2.0]}
    for given_, words in (
        ({"by": ["emotion"]}, "nothing says the 'emotion'"),
        ({"cluster": "pair"}, "nothing says the 'pair'"),
        ({"margin": 0.5}, "margin = 0.5"),
        ({"min_size": 0}, "min_size = 0"),
        ({"n_boot": -1}, "n_boot -1"),
        ({"confidence": 1.5}, "confidence 1.5"),
        ({"system": "gpt"}, "unknown system 'gpt'"),
        ({"unit": "judge"}, "unknown unit 'judge'"),
        ({"unit": "vote"}, "needs the votes"),
        ({"items": pl.DataFrame({"x": [1]})}, "column 'item' is missing"),
        ({"items": pl.DataFrame({"item": ["a", "a"], "p": [1, 2]})}, "'a' stands twice"),
    ):
        with pytest.raises(InputError, match=words):
            evaluate_preference_metrics(said, scores, **given_)
    for choices, words in (
        ({"a": "model", "b": "both"}, "name 'model'; expected 'model' and one other"),
        ({"a": "cat", "b": "dog"}, "not told by 'cat' and 'dog'"),
        ({"a": "model", "b": None}, "'b': verdict None"),
        ({"c": "model", "d": "human"}, "share no item"),
        (
            pl.DataFrame({"item": ["a", "a"], "verdict": ["model", "human"]}),
            "item 'a' stands twice",
        ),
        (["model"], "expected the result of preferences"),
        (preferences({"human": 3, "model": 2}), "only counts are known"),
    ):
        with pytest.raises(InputError, match=words):
            evaluate_preference_metrics(choices, scores)  # type: ignore[arg-type]
