"""Tables as the EmoNet-Face study gives them, beside scipy, scikit-learn and krippendorff."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score
from tests.evaluation.panels import copies_of

from affectlab import InputError, Ratings
from affectlab.core.facts import Cause, Reason
from affectlab.evaluation import discrepancy, published_tables, spearman_with_people
from affectlab.evaluation.human_alignment import neutral_calibrated
from affectlab.evaluation.human_alignment.discrepancy import _differences
from affectlab.evaluation.human_alignment.panel import panel_of
from affectlab.evaluation.rater_comparison import (
    alpha_by_side,
    merged,
    pair_kinds,
    pairwise_spearman,
    rater_table,
)
from affectlab.ratings import StepKind
from affectlab.reliability import pairwise_kappa

Array = NDArray[np.float64]


def table(
    values: Array, names: Sequence[str], kind: str, scale: str = "0-7", **attributes: Any
) -> Ratings:
    """Make ratings of an array by rater, label and stimulus; ``nan`` is no answer."""
    rater, label, unit = np.nonzero(~np.isnan(values))
    return Ratings(
        {
            "stimulus": [f"s{k:03d}" for k in unit],
            "rater": [names[k] for k in rater],
            "label": [f"e{k}" for k in label],
            "value": values[rater, label, unit],
        },
        scale=scale,
        raters={"rater": list(names), "rater_kind": [kind] * len(names), **attributes},
    )


PEOPLE = ("ann", "ben", "cai", "dua")
MODELS = ("net", "jet")


def simulated(seed: int, n: int = 40, gaps: float = 0.2) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    truth = rng.normal(3, 2, (3, n))
    people = np.clip(np.rint(truth + rng.normal(0, 1.5, (len(PEOPLE), 3, n))), 0, 7)
    models = np.clip(truth + rng.normal(0, 1.8, (len(MODELS), 3, n)), 0, 7)
    people[:, :, 4:][rng.random((len(PEOPLE), 3, n - 4)) < gaps] = np.nan
    models[1, :, 4:][:, rng.random(n - 4) < gaps] = np.nan
    return people, models


def sides(seed: int, gaps: float = 0.2) -> tuple[Ratings, Ratings]:
    people, models = simulated(seed, gaps=gaps)
    return table(people, PEOPLE, "human"), table(models, MODELS, "model", "0-7 interval")


def both(a: Array, b: Array) -> tuple[Array, Array]:
    here = ~np.isnan(a) & ~np.isnan(b)
    return a[here], b[here]


# -- pairs -----------------------------------------------------------------------------------------


def test_every_pair_is_what_scipy_and_scikit_learn_give() -> None:
    people, models = simulated(1)
    panel, judged = sides(1)
    kappa, rank = pairwise_kappa(merged(panel, judged)), pairwise_spearman(panel, judged)
    loose, steps = np.concatenate([people, models]), np.concatenate([people, np.rint(models)])
    names = PEOPLE + MODELS
    assert kappa.raters == rank.raters == names
    for e in range(3):
        for i in range(len(names)):
            for j in range(i + 1, len(names)):
                key = (f"e{e}", names[i], names[j])
                a, b = both(steps[i, e], steps[j, e])
                expected = cohen_kappa_score(a, b, weights="quadratic", labels=range(8))
                assert kappa[key].value == pytest.approx(expected, abs=1e-12)
                a, b = both(loose[i, e], loose[j, e])
                assert rank[key].value == pytest.approx(spearmanr(a, b).statistic, abs=1e-12)
                assert rank[key].n_items == a.size


def test_kinds_of_pairs() -> None:
    panel, judged = sides(2)
    pairs = pairwise_kappa(merged(panel, judged))
    found = pair_kinds(pairs).to_frame()
    assert found["pair_kind"].to_list() == ["human-human", "human-model", "model-model"]
    assert found["n"].to_list() == [6 * 3, 8 * 3, 1 * 3]
    for row in found.iter_rows(named=True):
        values = pairs.of_kind(row["pair_kind"])["value"].to_numpy()
        assert row["mean"] == pytest.approx(values.mean())
        assert row["sd"] == pytest.approx(values.std(ddof=1))
        assert row["median"] == pytest.approx(np.median(values))
    by_label = pair_kinds(pairs, by_label=True).to_frame()
    assert by_label.height == 9
    assert by_label.filter(pl.col("pair_kind") == "human-human")["n"].to_list() == [6, 6, 6]


def test_pairs_that_are_not_defined_are_counted_and_left_out() -> None:
    people, models = simulated(3)
    people[0, 0] = np.where(np.isnan(people[0, 0]), np.nan, 2.0)
    people[1, 0], people[2, 0] = np.nan, np.nan
    people[1, 0, :3], people[2, 0, 3:6] = 1.0, 2.0
    found = pairwise_spearman(
        table(people, PEOPLE, "human"), table(models, MODELS, "model", "0-7 interval")
    )
    assert found["e0", "ann", "dua"].reason == Reason(Cause.CONSTANT, of="ratings")
    few = Reason(Cause.FEWER, least=2, of="common stimuli")
    assert found["e0", "ben", "cai"].reason == few
    assert math.isnan(found["e0", "ben", "cai"].value)
    row = pair_kinds(found).to_frame().row(0, named=True)
    assert row["n"] + row["n_undefined"] == 18
    assert row["n_undefined"] >= 2
    assert not math.isnan(row["mean"])


@given(st.integers(0, 5_000))
@settings(max_examples=15, deadline=None)
def test_a_rising_curve_changes_no_rank_correlation(seed: int) -> None:
    people, models = simulated(seed, n=15)
    panel = table(people, PEOPLE, "human")
    first = pairwise_spearman(panel, table(models, MODELS, "model", "0-7 interval")).frame
    bent = np.exp(models / 3)
    second = pairwise_spearman(panel, table(bent, MODELS, "model", "interval")).frame
    np.testing.assert_allclose(first["value"], second["value"], atol=1e-12)


# -- the median, alpha, the table of raters --------------------------------------------------------


def test_correlation_with_the_median_as_scipy() -> None:
    people, models = simulated(4, gaps=0.0)
    models[1, :, 5:] = np.where(np.arange(35) % 3 == 0, np.nan, models[1, :, 5:])
    panel = table(people, PEOPLE, "human")
    judged = table(models, MODELS, "model", "0-7 interval")
    found = spearman_with_people(panel, judged, n_boot=200, seed=0)
    median = np.median(people, axis=0)
    for f, name in enumerate(MODELS):
        values = [spearmanr(*both(models[f, e], median[e])).statistic for e in range(3)]
        assert found[name].value == pytest.approx(np.mean(values), abs=1e-12)
        assert found[name].low < found[name].value < found[name].high
    shares = dict(found.frame.select("rater", "coverage").rows())
    assert shares["net"] == 1.0
    assert shares["jet"] == pytest.approx((~np.isnan(models[1])).mean())
    values = found.frame["value"].to_list()
    assert values == sorted(values, reverse=True)
    over_labels = spearman_with_people(panel, judged, n_boot=200, target="labels", seed=0)
    assert over_labels["net"].value == found["net"].value
    assert over_labels["net"].se != found["net"].se


def test_alpha_by_side_as_krippendorff() -> None:
    import krippendorff

    people, models = simulated(5)
    panel, judged = sides(5)
    found = alpha_by_side(panel, judged, level="interval")
    tables = {
        "human": people,
        "model": np.rint(models),
        "all": np.concatenate([people, np.rint(models)]),
    }
    for side, values in tables.items():
        for e in range(3):
            expected = krippendorff.alpha(values[:, e], level_of_measurement="interval")
            assert found[side, f"e{e}"].value == pytest.approx(expected, abs=1e-10)
    published = published_tables(panel, judged, truncate=False).alpha
    assert published.frame["value"].to_list() == found.frame["value"].to_list()


def test_one_model_has_no_alpha() -> None:
    people, models = simulated(6)
    judged = table(models[:1], MODELS[:1], "model", "0-7 interval")
    found = alpha_by_side(table(people, PEOPLE, "human"), judged, level="interval")
    assert not found["model", "e0"].ok
    assert found["all", "e0"].ok


@pytest.mark.parametrize("over", ["labels", "cells"])
def test_rater_table_as_a_plain_computation(over: Any) -> None:
    people, models = simulated(7)
    panel, judged = sides(7)
    found = rater_table(panel, judged, over=over).to_frame()
    steps = np.concatenate([people, np.rint(models)])
    rows = {row["rater"]: row for row in found.iter_rows(named=True)}
    for r, name in enumerate(PEOPLE + MODELS):
        cells = np.array(
            [
                [
                    cohen_kappa_score(
                        *both(steps[r, e], steps[j, e]), weights="quadratic", labels=range(8)
                    )
                    for j in range(len(PEOPLE))
                    if j != r
                ]
                for e in range(3)
            ]
        )
        values = cells.mean(axis=1) if over == "labels" else cells.ravel()
        row = rows[name]
        assert row["mean"] == pytest.approx(values.mean())
        assert row["sd"] == pytest.approx(values.std(ddof=1))
        assert row["median"] == pytest.approx(np.median(values))
        assert row["best_label"] == f"e{cells.mean(axis=1).argmax()}"
        assert row["n_people"] == cells.shape[1]
    assert found["mean"].to_list() == sorted(found["mean"], reverse=True)
    assert rows["net"]["coverage"] == 1.0
    assert rows["jet"]["coverage"] < 1.0


def test_a_rater_without_a_defined_kappa_comes_last() -> None:
    people, models = simulated(8, gaps=0.0)
    models[1, :, :] = np.nan
    models[1, :, 0] = 1.0
    people[:, :, 0] = 1.0
    found = rater_table(
        table(people, PEOPLE, "human"), table(models, MODELS, "model", "0-7 interval")
    ).to_frame()
    assert found["rater"].to_list()[-1] == "jet"
    assert found["mean"].to_list()[-1] is None
    assert found["n_labels"].to_list()[-1] == 0


# -- discrepancy -----------------------------------------------------------------------------------


def test_discrepancy_by_hand_and_in_every_replicate() -> None:
    people, models = simulated(9)
    panel = panel_of(*sides(9))
    order = [int(name[1:]) for name in panel.stimuli]
    people, models = people[:, :, order], models[:, :, order]
    draws = copies_of(len(order), len(PEOPLE), 6, 3)
    for e, part in enumerate(panel.parts):
        found = _differences(part, draws)
        for f, model in enumerate(models):
            for b in range(draws.n_rows):
                total = n = 0.0
                for j in range(len(PEOPLE)):
                    for s in range(model.shape[1]):
                        if np.isnan(people[j, e, s]) or np.isnan(model[e, s]):
                            continue
                        weight = float(draws.raters[b, j]) * float(draws.stimuli[b, s])
                        total += weight * (people[j, e, s] - model[e, s])
                        n += weight
                assert found[f, b] == pytest.approx(total / n, abs=1e-12)
    table_ = discrepancy(*sides(9), seed=0)
    row = table_.frame.row(0, named=True)
    assert (row["rater"], row["label"]) == ("net", "e0")
    shared = ~np.isnan(people[:, 0]) & ~np.isnan(models[0, 0])
    assert row["mean_people"] == pytest.approx(people[:, 0][shared].mean())
    assert row["value"] == pytest.approx(row["mean_people"] - row["mean_model"])
    assert row["n_ratings"] == shared.sum()
    assert row["low"] < row["value"] < row["high"]


def test_discrepancy_of_a_label_that_the_model_never_answered_where_people_did() -> None:
    people, models = simulated(10, gaps=0.0)
    models[0, 1] = np.nan
    found = discrepancy(
        table(people, PEOPLE, "human"), table(models, MODELS, "model", "0-7 interval")
    )
    row = found["net", "e1"]
    assert math.isnan(row.value)
    assert row.reason == Reason(Cause.NONE, of="common stimuli")
    assert found["jet", "e1"].ok


def test_a_planted_shift_is_found() -> None:
    # From 1 on, so that no model falls below the scale of people; a tenth of it, told by its scale.
    people = np.maximum(simulated(11, gaps=0.0)[0], 1)
    shifted = np.stack([people.mean(axis=0) - 0.5, people.mean(axis=0)]) / 10
    panel = table(people, PEOPLE, "human")
    found = discrepancy(panel, table(shifted, MODELS, "model", "0-0.7 interval"), target="sample")
    for e in range(3):
        assert found["net", f"e{e}"].value == pytest.approx(0.5, abs=1e-12)
        assert found["jet", f"e{e}"].value == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(InputError, match="that of models has no bounds"):
        discrepancy(panel, table(shifted, MODELS, "model", "interval"), target="sample")


# -- all of it -------------------------------------------------------------------------------------


def test_control_runs_are_in_no_table() -> None:
    people, models = simulated(12)
    panel = table(people, PEOPLE, "human")
    control: dict[str, Any] = {"control": [None, "no_image"], "of": [None, "net"]}
    judged = table(models, MODELS, "model", "0-7 interval", **control)
    found = published_tables(panel, judged, truncate=False, n_boot=10, seed=0)
    assert found.kappa is not None
    assert found.kappa.raters == (*PEOPLE, "net")
    assert found.spearman is not None
    assert found.spearman.raters == (*PEOPLE, "net")
    for frame in (found.with_median, found.discrepancy):
        assert frame is not None
        assert set(frame.frame["rater"]) == {"net"}
    assert found.raters is not None
    assert set(found.raters["rater"]) == {*PEOPLE, "net"}
    # The same where people and models stand in one table.
    steps = table(np.rint(models), MODELS, "model", **control)
    together = published_tables(panel.merge(steps), n_boot=0)
    assert together.raters is not None
    assert together.raters.drop("rater").equals(found.raters.drop("rater"))


def test_a_nominal_scale_has_kappa_and_alpha_alone() -> None:
    rng = np.random.default_rng(13)
    values = rng.integers(0, 3, (6, 2, 40)).astype(float)
    scale = "nominal:awe,fear,joy"
    found = published_tables(
        table(values[:4], PEOPLE, "human", scale), table(values[4:], MODELS, "model", scale)
    )
    assert found.kappa is not None
    assert found.spearman is None
    assert found.with_median is None
    assert found.discrepancy is None
    expected = cohen_kappa_score(values[0, 0], values[5, 0])
    assert found.kappa["e0", "ann", "jet"].value == pytest.approx(expected)


def test_a_scale_without_steps_has_no_kappa() -> None:
    rng = np.random.default_rng(14)
    values = rng.normal(size=(6, 1, 40))
    found = published_tables(
        table(values[:4], PEOPLE, "human", "-9-9 interval"),
        table(values[4:], MODELS, "model", "-9-9 interval"),
        n_boot=10,
        seed=0,
    )
    assert found.kappa is found.raters is found.groups is None
    assert found.spearman is not None


def test_sides_that_do_not_fit() -> None:
    panel, judged = sides(15)
    with pytest.raises(InputError, match="no label is left"):
        pairwise_spearman(panel, judged, exclude=["e0", "e1", "e2"])
    nominal = table(np.zeros((4, 1, 3)), PEOPLE, "human", "nominal:a,b")
    with pytest.raises(InputError, match="order"):
        discrepancy(nominal, table(np.zeros((1, 1, 3)), ["net"], "model", "nominal:a,b"))
    with pytest.raises(InputError, match="'ann' is the name of a person and of a model"):
        rater_table(panel, table(np.zeros((1, 3, 40)), ["ann"], "model"))
    with pytest.raises(InputError, match="over"):
        rater_table(panel, judged, over="people")  # type: ignore[arg-type]


# -- neutral stimuli -------------------------------------------------------------------------------


def test_neutral_means_are_taken_off_per_model_and_label() -> None:
    _, models = simulated(16, gaps=0.0)
    judged = table(models, MODELS, "model", "0-7 interval")
    neutral = ["s000", "s001", "s002"]
    found = neutral_calibrated(judged, neutral)
    expected = np.clip(models - models[:, :, :3].mean(axis=2, keepdims=True), 0, 7)
    frame = found.to_frame().select("rater", "label", "stimulus", "value")
    again = table(expected, MODELS, "model", "0-7 interval").to_frame()
    joined = frame.join(again, on=["rater", "label", "stimulus"], suffix="_expected")
    assert joined.height == models.size
    np.testing.assert_allclose(joined["value"], joined["value_expected"], atol=1e-12)
    assert found.history[-1].kind is StepKind.NEUTRAL_SUBTRACTED
    assert found.history[-1]["n"] == 3


def test_neutral_stimuli_have_to_be_there() -> None:
    _, models = simulated(17, gaps=0.0)
    judged = table(models, MODELS, "model", "0-7 interval")
    with pytest.raises(InputError, match="no neutral stimulus"):
        neutral_calibrated(judged, [])
    with pytest.raises(InputError, match="unknown stimulus 's0'"):
        neutral_calibrated(judged, ["s0"])
    models[1, 2, 0] = np.nan
    with pytest.raises(InputError, match="'jet' answered no neutral stimulus on label 'e2'"):
        neutral_calibrated(table(models, MODELS, "model", "0-7 interval"), ["s000"])


def test_fractions_of_models_are_dropped_as_in_the_study_and_it_is_said() -> None:
    people, models = simulated(8)
    sides = table(people, PEOPLE, "human"), table(models, MODELS, "model", "0-7 interval")
    found = published_tables(*sides, n_boot=0)
    # The notebooks of the study: astype(int), and kappa over all steps of the scale.
    for name, values in zip(MODELS, models, strict=True):
        for e in range(3):
            own, person = values[e], people[0, e]
            both = ~np.isnan(own) & ~np.isnan(person)
            by_hand = cohen_kappa_score(
                person[both].astype(int),
                own[both].astype(int),
                weights="quadratic",
                labels=range(8),
            )
            assert found.kappa is not None
            assert found.kappa[f"e{e}", PEOPLE[0], name].value == pytest.approx(by_hand, abs=1e-12)
    assert "as the study does" in found.notes[0]
    rounded = published_tables(*sides, truncate=False, n_boot=0)
    assert not found.kappa.frame["value"].equals(rounded.kappa.frame["value"])  # type: ignore[union-attr]
    # Where there are no fractions nothing is said.
    whole = table(np.rint(models), MODELS, "model")
    assert not any("steps" in note for note in published_tables(sides[0], whole, n_boot=0).notes)
