"""Lin's concordance: published values, a plain twin, properties, and how often intervals cover."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from tests.cli.command import run_here

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause
from affectlab.core.inference import DrawnTarget, Resampled
from affectlab.evaluation import fairness
from affectlab.ratings import Ratings
from affectlab.reliability import concordance
from affectlab.reliability.agreement import concordance_of_moments

WRIGHT = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]
MINI = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]
"""Peak flow by two meters, Bland and Altman (1986)."""
seeds = st.integers(0, 2**32 - 1)


def lin(x: np.ndarray, y: np.ndarray) -> float:
    """Lin (1989), equation 3, of those who answered both."""
    both = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[both], y[both]
    cov = ((x - x.mean()) * (y - y.mean())).mean()
    return float(2 * cov / (x.var() + y.var() + (x.mean() - y.mean()) ** 2))


def overall(data: np.ndarray) -> float:
    """Barnhart, Haber and Song (2002) of a complete table, pair by pair."""
    pairs = list(itertools.combinations(data, 2))
    top = sum(2 * np.cov(x, y, bias=True)[0, 1] for x, y in pairs)
    rest = sum(x.var() + y.var() + (x.mean() - y.mean()) ** 2 for x, y in pairs)
    return float(top / rest)


def table(data: np.ndarray, rater: str = "r") -> Ratings:
    who, what = np.nonzero(~np.isnan(data))
    return Ratings(
        {
            "stimulus": [f"s{k}" for k in what],
            "rater": [f"{rater}{k}" for k in who],
            "label": ["valence"] * who.size,
            "value": data[who, what],
        },
        scale="-9-9 interval",
    )


def panel(rng: np.random.Generator, n_raters: int, n: int, noise: float = 0.6) -> np.ndarray:
    return np.asarray(rng.normal(0, 1, n) + rng.normal(0, noise, (n_raters, n)))


def test_the_published_value() -> None:
    """Stata's ``concord`` (STB-43, sg84) prints 0.943 of these, and r = 0.943, C_b = 0.999."""
    result = concordance([WRIGHT, MINI])
    row = result.to_frame("raters").row(0, named=True)
    assert round(result.to_frame()["value"][0], 3) == 0.943
    assert (round(row["value"], 3), round(row["correlation"], 3)) == (0.943, 0.943)
    assert round(row["accuracy"], 3) == 0.999
    assert row["difference"] == pytest.approx(np.mean(WRIGHT) - np.mean(MINI))
    assert row["rmse"] == pytest.approx(np.sqrt(np.mean(np.subtract(WRIGHT, MINI) ** 2.0)))


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(2, 6), st.integers(3, 30))
def test_equals_the_plain_formulas(seed: int, n_raters: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    data = panel(rng, n_raters, n) + 100
    result = concordance(data, target="sample")
    assert result.to_frame()["value"][0] == pytest.approx(overall(data), abs=1e-9)
    of_raters = result.to_frame("raters")["value"].to_list()
    wanted = [lin(own, np.delete(data, k, 0).mean(axis=0)) for k, own in enumerate(data)]
    assert of_raters == pytest.approx(wanted, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_gaps_and_leaving_out(seed: int) -> None:
    """Values without each stimulus or rater are those of smaller tables, gaps included."""
    rng = np.random.default_rng(seed)
    data = panel(rng, 5, 12)
    data[1:][rng.random((4, 12)) < 0.25] = np.nan
    people = table(data)
    model = table(panel(rng, 1, 12), rater="m")
    whole = concordance(people, model, target="raters").to_frame("raters")
    names = people.rater_names
    means = []
    for one in names:
        own = people.select(raters=[name for name in names if name != one])
        part = concordance(own, model, target="sample").to_frame("raters")
        means.append(part.filter(rater="m0")["value"][0])
    row = whole.filter(rater="m0").row(0, named=True)
    spread = np.array(means)
    n = spread.size
    se = np.sqrt((n - 1) / n * ((spread - spread.mean()) ** 2).sum())
    assert row["se"] == pytest.approx(se, rel=1e-8)
    assert row["target"] == "raters"
    matrix = people.matrix("valence")
    known = [people.stimulus_names.index(f"s{k}") for k in range(12)]
    mean = np.nanmean(matrix[:, known], axis=0)
    wanted = lin(model.matrix("valence")[0], mean)
    assert row["value"] == pytest.approx(wanted, abs=1e-9)


def test_equal_means_and_variances_give_pearson() -> None:
    rng = np.random.default_rng(1)
    data = panel(rng, 2, 50)
    data = (data - data.mean(axis=1, keepdims=True)) / data.std(axis=1, keepdims=True)
    value = concordance(data, target="sample").to_frame()["value"][0]
    assert value == pytest.approx(np.corrcoef(data)[0, 1], abs=1e-12)
    # Moved or stretched answers correlate as before, and agree less.
    moved = concordance([data[0], data[1] + 1], target="sample").to_frame("raters")
    assert moved["correlation"][0] == pytest.approx(value)
    assert moved["value"][0] == pytest.approx(value * 2 / 3)


def test_a_gold_standard_is_not_resampled() -> None:
    rng = np.random.default_rng(2)
    data = panel(rng, 4, 40)
    result = concordance(table(data), reference="r3")
    assert result.to_frame()["n_raters"][0] == 3
    frame = result.to_frame("raters")
    assert frame["rater"].to_list() == ["r0", "r1", "r2"]
    assert frame["value"][0] == pytest.approx(lin(data[0], data[3]), abs=1e-9)
    assert set(frame["target"]) == {"stimuli"}
    with pytest.raises(InputError, match="a gold standard is no sample"):
        concordance(table(data), reference="r3", target="raters")
    with pytest.raises(InputError, match="unknown rater 'expert'"):
        concordance(table(data), reference=["expert"])


def test_nothing_varies_or_is_shared() -> None:
    result = concordance([[1, 1, 1], [1, 1, 1]])
    assert result.to_frame()["status"][0] == "undefined"
    assert result.to_frame("raters")["reason"][0] == Cause.CONSTANT
    constant = concordance([[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]]).to_frame("raters")
    assert constant["value"][0] == 0
    assert np.isnan(constant["correlation"][0])
    apart = np.array([[1.0, 2.0, np.nan, np.nan], [np.nan, np.nan, 1.0, 2.0]])
    assert concordance(apart).to_frame()["reason"][0] == Cause.NONE
    with pytest.raises(InputError, match="concordance needs answers in an order"):
        concordance(
            Ratings({"stimulus": ["a"], "rater": ["r"], "value": ["x"]}, scale="nominal:x,y")
        )


def test_models_on_other_ends_are_refused() -> None:
    people = Ratings({"stimulus": list("ab"), "rater": ["r", "r"], "value": [1, 9]}, scale="1-9")
    model = Ratings({"stimulus": list("ab"), "rater": ["m", "m"], "value": [0, 1]}, scale="0-1")
    with pytest.raises(InputError, match="the same ends"):
        concordance(people, model)


def test_order_of_rows_and_names_change_nothing() -> None:
    rng = np.random.default_rng(3)
    people = table(panel(rng, 5, 20))
    turned = Ratings(
        people.to_frame().sample(fraction=1, shuffle=True, seed=1), scale="-9-9 interval"
    )
    intervals: tuple[Resampled, ...] = ("jackknife", "percentile")
    for interval in intervals:
        first, second = (
            concordance(one, interval=interval, n_boot=50).to_frame() for one in (people, turned)
        )
        assert first["low"].to_list() == pytest.approx(second["low"].to_list(), abs=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("target", ["stimuli", "both"])
def test_coverage(target: DrawnTarget) -> None:
    """Of 95 % intervals, about 95 % hold the concordance of the population they are about."""
    rng = np.random.default_rng(4)
    held, trials = 0, 300
    for _ in range(trials):
        bias = rng.normal(0, 0.5, (15, 1))
        data = panel(rng, 15, 40) + bias
        truth = 1 / (1 + 0.36 + 0.25)
        if target == "stimuli":
            apart = np.mean([(a - b) ** 2 for a, b in itertools.combinations(bias.ravel(), 2)])
            truth = float(2 / (2 * 1.36 + apart))
        row = concordance(data, target=target).to_frame().row(0, named=True)
        held += row["low"] <= truth <= row["high"]
    assert 0.91 <= held / trials <= 0.99


def test_fairness_knows_it() -> None:
    """Its metric of a model is the value beside the mean of people."""
    rng = np.random.default_rng(5)
    people, model = table(panel(rng, 3, 30)), table(panel(rng, 1, 30), rater="m")
    groups = pl.DataFrame({"stimulus": [f"s{k}" for k in range(30)], "kind": ["a", "b"] * 15})
    people = people.with_stimuli(groups)
    result = fairness(people, model, by="stimulus.kind", metric="concordance", n_boot=0)
    frame = result.to_frame()
    half = [f"s{k}" for k in range(0, 30, 2)]
    wanted = concordance(people.select(stimuli=half), model.select(stimuli=half), target="sample")
    value = wanted.to_frame("raters").filter(rater="m0")["value"][0]
    own = frame.filter(pl.col("group") == "a")["value"][0]
    assert own == pytest.approx(value, abs=1e-9)


def test_the_verb(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    people, model = table(panel(rng, 4, 20)), table(panel(rng, 1, 20), rater="m")
    people.write(tmp_path / "people.csv")
    model.write(tmp_path / "model.csv")
    files = (tmp_path / "people.csv", "--scale=-9-9 interval", "--models", tmp_path / "model.csv")
    run_here(
        "reliability",
        "agreement",
        "--method",
        "concordance",
        *files,
        "--figures",
        tmp_path / "figures",
    )
    done = run_here("reliability", "agreement", "--method", "concordance", *files, "--json")
    rows = json.loads(done.stdout)["result"]["raters"]
    wanted = concordance(people, model).to_dict()["raters"]
    assert [row["rater"] for row in rows] == [row["rater"] for row in wanted]
    names = {path.name for path in (tmp_path / "figures").glob("*.svg")}
    assert names == {"concordance.svg", "raters.svg", "models.svg"}


def with_gaps(data: np.ndarray) -> float:
    """The overall concordance with gaps, pair by pair, as its docstring has it."""
    n_columns = int(((~np.isnan(data)).sum(axis=0) > 0).sum())
    top = rest = 0.0
    for x, y in itertools.combinations(data, 2):
        both = ~np.isnan(x) & ~np.isnan(y)
        n = int(both.sum())
        if n > 1:
            together = np.cov(x[both], y[both], ddof=1)[0, 1] * (1 - 1 / n_columns)
            top += n * 2 * together
            rest += ((x[both] - y[both]) ** 2).sum()
    return top / (top + rest)


@pytest.mark.parametrize(("n_raters", "n"), [(12, 40), (150, 200)])
def test_gaps_small_and_large(n_raters: int, n: int) -> None:
    """Tables that are multiplied at once, and those whose pairs are listed, give the same."""
    rng = np.random.default_rng(7)
    data = panel(rng, n_raters, n)
    data[rng.random(data.shape) < (0.5 if n_raters < 100 else 0.92)] = np.nan
    whole = concordance(data, interval="percentile", target="both", n_boot=20, seed=3)
    assert whole.to_frame()["value"][0] == pytest.approx(with_gaps(data), abs=1e-9)
    # Leaving out a rater: of few, each by itself.
    if n_raters < 100:
        row = concordance(data, target="raters").to_frame().row(0, named=True)
        left = np.array([with_gaps(np.delete(data, k, 0)) for k in range(n_raters)])
        se = np.sqrt((n_raters - 1) / n_raters * ((left - left.mean()) ** 2).sum())
        # Columns that only the rater left out answered still count there, in the third digit.
        assert row["se"] == pytest.approx(se, rel=2e-3)


def test_listed_pairs_equal_multiplied_ones() -> None:
    """With weights of stimuli and raters, too."""
    from affectlab.core.statistic import Draws
    from affectlab.reliability.agreement import AnswerMatrix

    rng = np.random.default_rng(8)
    data = panel(rng, 150, 200)
    data[rng.random(data.shape) < 0.93] = np.nan
    listed = AnswerMatrix(data, np.arange(200), 200)
    assert listed._is_sparse
    dense = AnswerMatrix(data, np.arange(200), 200)
    dense.__dict__["_is_sparse"] = False
    stimuli = rng.integers(0, 3, (4, 200)).astype(float)
    raters = rng.integers(0, 3, (4, 150)).astype(float)
    for draws in (
        Draws(1),
        Draws(4, stimulus=stimuli),
        Draws(4, rater=raters),
        Draws(4, stimulus=stimuli, rater=raters),
        Draws(3, without=np.array([0, 7, 199])),
    ):
        assert listed.pooled(draws) == pytest.approx(dense.pooled(draws), abs=1e-9)


def test_of_one_pair_there_is_a_kappa_but_no_concordance() -> None:
    sums = np.array([[1, 2, 5, 4, 25, 10], [1, 2, 2, 4, 4, 4]], dtype=np.float64)
    assert np.isnan(concordance_of_moments(sums)).all()
    assert np.array_equal(concordance_of_moments(sums, fewest=1), [0, np.nan], equal_nan=True)


def test_all_measures_of_models_beside_people() -> None:
    """Values are those of the plain formulas; each has an interval, and a person beside it."""
    rng = np.random.default_rng(4)
    data = panel(rng, 5, 40)
    data[1:][rng.random((4, 40)) < 0.3] = np.nan
    own = panel(rng, 1, 40) + 0.5
    result = concordance(table(data), table(own, "m"))
    rows = {row["measure"]: row for row in result.to_frame("measures").iter_rows(named=True)}
    mean, apart = np.nanmean(data, axis=0), own[0] - np.nanmean(data, axis=0)
    n = (~np.isnan(data)).sum(axis=0)
    two = n > 1
    variance = np.nanvar(data[:, two], axis=0, ddof=1)
    wanted = {
        "concordance": lin(own[0], mean),
        "correlation": np.corrcoef(own[0], mean)[0, 1],
        "mae": np.abs(apart).mean(),
        "difference": apart.mean(),
        "rmse": np.sqrt((apart**2).mean()),
        "error_share": (apart[two] ** 2 - variance / n[two]).sum() / variance.sum(),
    }
    assert {name: row["value"] for name, row in rows.items()} == pytest.approx(wanted)
    assert all(row["low"] < row["value"] < row["high"] for row in rows.values())
    assert {row["target"] for row in rows.values()} == {"both"}
    raters = result.to_frame("raters")
    alike = raters.filter(rater="m0").row(0, named=True)
    assert alike["mae"] == pytest.approx(wanted["mae"])
    assert alike["value"] == pytest.approx(rows["concordance"]["value"])
    assert alike["low"] == pytest.approx(rows["concordance"]["low"])
    people = raters.filter(pl.col("rater") != "m0")
    assert rows["rmse"]["person"] == pytest.approx(people["rmse"].median())
    assert rows["difference"]["person"] == pytest.approx(people["difference"].abs().median())


def test_the_mean_of_k_people_has_the_kth_part_of_the_error_of_one() -> None:
    rng = np.random.default_rng(8)
    truth = rng.normal(0, 1, 20_000)
    people = truth + rng.normal(0, 0.9, (6, truth.size))
    for k in (1, 4):
        own = truth + rng.normal(0, 0.9, (k, truth.size)).mean(axis=0)
        result = concordance(table(people), table(own[None], "m"), target="sample")
        share = result.to_frame("measures").filter(measure="error_share")["value"][0]
        assert share == pytest.approx(1 / k, rel=0.04)


def test_people_alone_are_not_judged_and_a_gold_standard_judges_all() -> None:
    rng = np.random.default_rng(2)
    data = panel(rng, 4, 30)
    assert [one.name for one in concordance(data).tables] == ["concordance", "raters"]
    gold = concordance(table(data), reference="r0").to_frame("measures")
    assert gold["rater"].unique(maintain_order=True).to_list() == ["r1", "r2", "r3"]
    assert "person" not in gold.columns
    # One gold rater does not say how much such raters differ.
    assert gold.filter(measure="error_share")["value"].is_nan().all()
    assert set(gold["target"]) <= {"stimuli", "none"}
