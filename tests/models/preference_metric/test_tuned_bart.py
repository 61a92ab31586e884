"""BARTScore tuned on what people chose, with a tiny BART of random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from tests.models.tiny_text_models import save_bart
from torch.nn import functional

from affectlab.core.errors import InputError
from affectlab.models.preference_metric import TunedBartScore, preference_texts
from affectlab.models.preference_metric.bart_tuning import _scores, both_scores
from affectlab.models.preference_metric.data import PreferenceTexts
from affectlab.models.text.encoders import collate
from affectlab.models.text_metrics.bart import BartScore, Writer

WARM = ("they feel warm inside", "it moves them deeply", "their hope is back")
COLD = ("a person is a person", "the thing is a thing", "it is what it is")
QUICK: dict[str, Any] = {"learning_rate": 3e-3, "epochs": 4, "device": "cpu"}


@pytest.fixture(scope="module")
def bart(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_bart(tmp_path_factory.mktemp("bart"), layers=1, width=16, seed=3)


def study(n: int = 60, seed: int = 0, *, planted: bool = True) -> PreferenceTexts:
    """People choose the warm text, or, unless planted, any."""
    rng = np.random.default_rng(seed)
    rows, said = [], {}
    for k in range(n):
        own_warm = rng.random() < 0.4
        own, other = (WARM, COLD) if own_warm else (COLD, WARM)
        liked = own_warm if planted else rng.random() < 0.5
        said[f"i{k}"] = "both" if k % 10 == 9 else "machine" if liked else "human"
        rows.append(
            {
                "item": f"i{k}",
                "text": f"the sea, number {k // 2}",
                "machine": own[rng.integers(3)],
                "human": other[rng.integers(3)],
                "pair": f"p{k // 2}",
            }
        )
    return preference_texts(said, pl.DataFrame(rows), cluster="pair")


def test_texts_stand_beside_verdicts() -> None:
    table = pl.DataFrame(
        {
            "stimulus": ["a", "b", "c", "z"],
            "text": ["x"] * 4,
            "option_a": ["a1", "b1", "c1", "z1"],
            "system_a": ["human", "model", "human", "human"],
            "option_b": ["a2", "b2", "c2", "z2"],
            "system_b": ["model", "human", "model", "other"],
        }
    )
    data = preference_texts({"a": "human", "b": "model", "c": "both", "d": "human"}, table)
    assert data.own == ("a2", "b1", "c2")
    assert data.other == ("a1", "b2", "c1")
    assert data.good.tolist() == [False, True, True]
    assert data.decided.tolist() == [True, True, False]
    assert data.own_chosen.tolist() == [False, True, False]
    assert data.n_left_out == 1
    for change, words in (
        ({"text": ["", "x", "x", "x"]}, "item 'a' has an empty text"),
        ({"system_b": ["human", "human", "model", "x"]}, "item 'a' has an empty text"),
        ({"stimulus": ["a", "a", "c", "z"]}, "stands twice"),
        ({"stimulus": ["p", "q", "r", "z"]}, "share no item"),
    ):
        wrong = table.with_columns(**{k: pl.Series(v) for k, v in change.items()})
        with pytest.raises(InputError, match=words):
            preference_texts({"a": "human", "b": "model"}, wrong)
    with pytest.raises(InputError, match="column 'caption' is missing"):
        preference_texts({"a": "human", "b": "model"}, table, context="caption")
    with pytest.raises(InputError, match="column 'option_a' is missing"):
        preference_texts({"a": "human", "b": "model"}, table.drop("option_a"))


def test_items_about_the_same_are_never_parted() -> None:
    table = pl.DataFrame(
        {
            "item": list("abcde"),
            "text": ["The sea.", "A hill.", " the  SEA.", "A tree.", "A hill."],
            "machine": ["m"] * 5,
            "human": ["h"] * 5,
            "pair": ["p", "p", "q", "r", ""],
        }
    )
    said = dict(zip("abcde", ["human", "machine", "human", "machine", "human"], strict=True))
    # a and b share a pair, c is about what a is about, and e about what b is about.
    together = preference_texts(said, table, cluster="pair").clusters
    assert together.tolist() == [0, 0, 0, 1, 0]
    assert preference_texts(said, table).clusters.tolist() == [0, 1, 0, 2, 1]


def test_scores_with_gradients_are_those_of_bart_score_and_sum_by_hand(bart: str) -> None:
    data = study(8)
    writer = Writer(bart, device="cpu")
    plain = both_scores(writer, data, np.arange(8))
    cut = writer.cut([*data.context, *data.own, *data.other])
    source = [cut.ids[cut.place[text]] for text in data.context]
    target = [cut.ids[cut.place[text]] for text in data.own]
    with torch.no_grad():
        inputs = collate(source, writer.padding)
        found = _scores(writer, writer.network, inputs, target).numpy()
    np.testing.assert_allclose(found, plain[:, 0], atol=1e-5)
    by_hand = BartScore(bart, direction="precision", device="cpu").score(
        list(data.other), list(data.context)
    )
    np.testing.assert_allclose(by_hand.scores, plain[:, 1], atol=1e-6)
    ids = torch.tensor(target[0][None])
    before = torch.cat([torch.tensor([[writer.start]]), ids[:, :-1]], dim=1)
    with torch.no_grad():
        logits = writer.network(
            input_ids=torch.tensor(source[0][None]), decoder_input_ids=before
        ).logits
    logs = functional.log_softmax(logits[0].double(), dim=1)
    total = sum(float(logs[k, token]) for k, token in enumerate(ids[0]))
    assert plain[0, 0] == pytest.approx(total / ids.shape[1], abs=1e-5)


def test_few_examples_help_where_there_is_something_to_learn(bart: str) -> None:
    report = TunedBartScore(bart, **QUICK).cross_validate(
        study(), examples=[12, 24], folds=2, n_boot=50
    )
    curve = {row["examples"]: row for row in report.to_frame().to_dicts()}
    assert set(curve) == {0, 12, 24}
    assert curve[24]["accuracy"] > 0.9
    assert curve[24]["gain_low"] > 0
    assert curve[24]["gain"] == pytest.approx(curve[24]["accuracy"] - curve[0]["accuracy"])
    assert np.isnan(curve[0]["gain_low"])
    assert curve[0]["n_pairs"] == 54
    scores = report.to_frame("scores").filter(pl.col("examples") == 24)
    assert scores.height == 60
    pair = pl.col("item").str.slice(1).cast(pl.Int64) // 2
    assert scores.group_by(pair).agg(pl.col("fold").n_unique())["fold"].to_list() == [1] * 30
    json.dumps(report.to_dict(), allow_nan=False)


def test_with_random_choices_nothing_is_learned(bart: str) -> None:
    # A tuned network would order pairs that it was tuned on; these are not among them.
    data = study(80, planted=False)
    metric = TunedBartScore(bart, **QUICK)
    report = metric.cross_validate(data, examples=[30], folds=2, n_boot=0)
    row = report.to_frame().to_dicts()[1]
    assert row["low"] < 0.5 < row["high"]
    assert not row["gain_low"] > 0


def test_it_is_saved_and_is_a_checkpoint(bart: str, tmp_path: Path) -> None:
    data = study(40)
    metric = TunedBartScore(bart, name="mine", **QUICK).fit(data)
    assert metric.n_pairs == 36
    folder = metric.save(tmp_path / "tuned")
    again = TunedBartScore.load(folder, device="cpu")
    own, context = list(data.own), list(data.context)
    ours = metric.score(own, context)
    np.testing.assert_array_equal(again.score(own, context), ours)
    assert (again.name, again.system, again.epoch) == ("mine", "machine", metric.epoch)
    as_metric = BartScore(folder, direction="precision", device="cpu").score(own, context)
    np.testing.assert_allclose(as_metric.scores, ours, atol=1e-6)
    before = both_scores(Writer(bart, device="cpu"), data, np.arange(40))[:, 0]
    assert metric.epoch > 0
    assert not np.allclose(before, ours)
    # The same seed gives the same network, and leaves the random numbers of the caller alone.
    state = torch.random.get_rng_state()
    twice = TunedBartScore(bart, **QUICK).fit(data)
    assert torch.equal(state, torch.random.get_rng_state())
    np.testing.assert_allclose(twice.score(own, context), ours, atol=1e-6)
    assert metric.writer is not None
    assert not any(weight.requires_grad for weight in metric.writer.network.parameters())
    content = json.loads((folder / "model.json").read_text())
    assert content["tuned_from"] == Path(bart).name
    assert str(tmp_path) not in (folder / "model.json").read_text()
    for key, value, words in (
        ("settings", {"epochs": 0}, "epochs 0"),
        ("settings", [], "settings is"),
        ("epoch", "1", "epoch is"),
        ("max_tokens", -3, "max_tokens is"),
        ("schema", "x", "schema 'x'"),
    ):
        (folder / "model.json").write_text(json.dumps({**content, key: value}))
        with pytest.raises(InputError, match=words):
            TunedBartScore.load(folder)


def test_where_tuning_does_not_help_the_network_stays_as_it_was(bart: str) -> None:
    data = study(24)
    metric = TunedBartScore(bart, epochs=1, learning_rate=1e-12, device="cpu").fit(data)
    before = both_scores(Writer(bart, device="cpu"), data, np.arange(24))[:, 0]
    np.testing.assert_allclose(metric.score(list(data.own), list(data.context)), before, atol=1e-6)


def test_bad_input_is_one_sentence(bart: str) -> None:
    data = study(30)
    for options, words in (
        ({"epochs": 0}, "epochs 0"),
        ({"epochs": 1.5}, "expected a whole number"),
        ({"learning_rate": -1.0}, "learning_rate -1.0"),
        ({"kept_aside": 0.9}, "kept_aside 0.9"),
        ({"weight_decay": -1.0}, "weight_decay"),
        ({"sharpness": float("nan")}, "sharpness nan"),
        ({"epoch": 1}, "unknown setting 'epoch'"),
        ({"seed": -1}, "seed -1"),
    ):
        with pytest.raises(InputError, match=words):
            TunedBartScore(bart, **options)  # type: ignore[arg-type]
    metric = TunedBartScore(bart, **QUICK)
    for options, words in (
        ({"examples": [0]}, "whole numbers from 1 on"),
        ({"examples": [99]}, "examples 99: a training part has"),
        ({"examples": [4], "folds": 99}, "folds 99"),
        ({"examples": [2], "folds": 2}, "too few to learn from"),
        ({"examples": [4], "n_boot": -1}, "n_boot -1"),
        ({"folds": 2}, "has 1. pairs .* expected 16 or more"),
    ):
        with pytest.raises(InputError, match=words):
            metric.cross_validate(data, **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="not tuned yet"):
        metric.score(["a"], ["b"])
    tuned = TunedBartScore(bart, epochs=1, learning_rate=1e-6, device="cpu").fit(data)
    with pytest.raises(InputError, match="2 texts and 1 contexts"):
        tuned.score(["a", "b"], ["c"])
    with pytest.raises(InputError, match="text 1 is empty"):
        tuned.score([" "], ["c"])
    with pytest.raises(InputError, match="no such folder"):
        TunedBartScore("./nowhere", device="cpu").fit(data)
    with pytest.raises(InputError, match=r"diverged in epoch .* lower learning_rate"):
        TunedBartScore(bart, learning_rate=1e30, epochs=3, device="cpu").fit(data)
