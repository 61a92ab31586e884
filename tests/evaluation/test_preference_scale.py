"""Scales of systems from pairwise choices, against choix, evalica, statsmodels and R."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import choix
import evalica
import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from hypothesis import assume, given, settings, strategies as st
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.evaluation import preference_scale
from affectlab.evaluation.preference import wording
from affectlab.evaluation.preference.choice_models import (
    ChoiceModel,
    Votes,
    fit_choices,
    why_undefined,
    without_clusters,
)
from affectlab.evaluation.preference.clusters import without_each
from affectlab.ratings import Ratings

Floats = NDArray[np.float64]


def strengths(wins: Any, **options: Any) -> Floats:
    scale = preference_scale(wins, **options)
    place = dict(scale.to_frame().select("system", "value").iter_rows())
    return np.array([place[str(k)] for k in range(len(place))])


def games(wins: Any) -> tuple[list[int], list[int]]:
    cells = [(i, j) for i, row in enumerate(wins) for j, n in enumerate(row) for _ in range(int(n))]
    return [i for i, _ in cells], [j for _, j in cells]


def random_wins(seed: int, k: int) -> Floats:
    rng = np.random.default_rng(seed)
    wins = rng.integers(1, 12, (k, k)).astype(float)
    np.fill_diagonal(wins, 0)
    return wins


# Each example takes both libraries half a second.
@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 6))
def test_bradley_terry_equals_choix_and_evalica(seed: int, k: int) -> None:
    wins = random_wins(seed, k)
    won, lost = games(wins)
    theirs = evalica.bradley_terry(
        won, lost, [evalica.Winner.X] * len(won), tolerance=1e-13, limit=100_000
    ).scores
    log = np.log([theirs[k] for k in sorted(theirs.index)])
    assert strengths(wins) == pytest.approx(log - log.mean(), rel=1e-5, abs=1e-5)
    assert strengths(wins) == pytest.approx(choix.ilsr_pairwise_dense(wins), abs=1e-6)


@pytest.mark.parametrize("model", ["bradley-terry", "thurstone"])
def test_both_models_equal_a_regression(model: str) -> None:
    wins = random_wins(3, 4)
    won, lost = games(wins)
    design = np.zeros((len(won), 4))
    design[np.arange(len(won)), won] += 1
    design[np.arange(len(won)), lost] -= 1
    links = {
        "bradley-terry": sm.families.links.Logit(),
        "thurstone": sm.families.links.Probit(),
    }
    both = np.vstack([design, -design])[:, :3]
    outcome = np.repeat([1.0, 0.0], len(won))
    fit = sm.GLM(outcome, both, family=sm.families.Binomial(links[model])).fit()
    theirs = np.append(fit.params, 0)
    assert strengths(wins, model=model) == pytest.approx(theirs - theirs.mean(), abs=1e-6)


def arena(seed: int, truth: dict[str, float], items: int, judges: int, ties: float) -> Ratings:
    rng = np.random.default_rng(seed)
    names = list(truth)
    rows, stimuli = [], []
    for item in range(items):
        a, b = rng.choice(len(names), 2, replace=False)
        stimuli.append((f"i{item}", names[a], names[b]))
        p = 1 / (1 + np.exp(-(truth[names[a]] - truth[names[b]])))
        for judge in range(judges):
            choice = "both" if rng.random() < ties else "A" if rng.random() < p else "B"
            rows.append((f"i{item}", f"j{judge}", choice))
    table = {
        name: [row[k] for row in rows] for k, name in enumerate(("stimulus", "rater", "value"))
    }
    about = {name: [row[k] for row in stimuli] for k, name in enumerate(("stimulus", "A", "B"))}
    return Ratings(table, scale="nominal:A,B,both,neither", stimuli=about)


def test_a_planted_scale_is_recovered_and_covered() -> None:
    truth = {"human": 1.2, "large": 0.4, "small": -0.4, "tiny": -1.2}
    hits, errors = [], []
    for seed in range(12):
        ratings = arena(seed, truth, 300, 3, ties=0.0)
        scale = preference_scale(ratings, seed=seed)
        for name, value in truth.items():
            one = scale[name]
            hits.append(one.low <= value <= one.high)
            errors.append(one.value - value)
        assert scale.to_frame()["system"].to_list() == list(truth)
    assert np.mean(hits) >= 0.85
    assert abs(np.mean(errors)) < 0.02
    assert np.std(errors) < 0.15


def wins_of(scale: Any) -> float:
    """Count wins, where a tie is half a win for both."""
    return float(scale.to_frame().select(pl.col("wins") + pl.col("ties") / 2).to_series().sum())


def test_ties_count_half_or_not_at_all() -> None:
    truth = {"a": 0.5, "b": 0.0, "c": -0.5}
    ratings = arena(1, truth, 100, 4, ties=0.3)
    half, dropped = preference_scale(ratings), preference_scale(ratings, ties="drop")
    assert half["a"].value < dropped["a"].value
    frame = half.to_frame()
    assert frame["wins"].sum() == frame["losses"].sum()
    assert frame["ties"].sum() == 2 * int((ratings.value == 2).sum())
    assert wins_of(half) == 400
    assert dropped.to_frame()["wins"].sum() == 400 - (ratings.value == 2).sum()


def test_where_there_is_no_scale() -> None:
    champion = [[0, 5, 5], [0, 0, 3], [0, 2, 0]]
    scale = preference_scale(champion, systems=["a", "b", "c"])
    assert np.isnan(scale["a"].value)
    assert scale["b"].reason == Reason(Cause.NEVER_LOST, of="a")
    regular = preference_scale(champion, systems=["a", "b", "c"], prior=0.5)
    assert regular["a"].value > 1
    assert regular["a"].options == ("0.5 wins beforehand",)
    apart = preference_scale([[0, 3, 0, 0], [2, 0, 0, 0], [0, 0, 0, 4], [0, 0, 1, 0]])
    assert apart["0"].reason == Reason(Cause.SEPARATE_SYSTEMS, 2)
    assert preference_scale(champion, prior=0.5, model="thurstone")["0"].value > 0.5


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 7), share=st.floats(0.1, 0.9))
def test_there_is_a_scale_where_every_system_has_a_chain_of_wins(
    seed: int, k: int, share: float
) -> None:
    rng = np.random.default_rng(seed)
    wins = (rng.random((k, k)) < share) * rng.integers(1, 4, (k, k)).astype(float)
    np.fill_diagonal(wins, 0)
    reach = np.linalg.matrix_power((wins > 0) + np.eye(k), k) > 0
    assert reach.all() == (why_undefined(wins, tuple(map(str, range(k)))) is None)
    if reach.all():
        for model in ("bradley-terry", "thurstone"):
            found = strengths(wins, model=model, target="sample")
            assert found.mean() == pytest.approx(0, abs=1e-9)
            if model == "bradley-terry":
                # At the maximum every system wins as often as the scale expects.
                chance = 1 / (1 + np.exp(found[None, :] - found[:, None]))
                won = ((wins + wins.T) * chance).sum(axis=1)
                assert won == pytest.approx(wins.sum(axis=1), abs=1e-4)


R = json.loads((Path(__file__).parents[1] / "data" / "preference_models.json").read_text("utf-8"))


def votes_of_r() -> tuple[Any, ...]:
    left, right, judge = (np.array(R[name]) for name in ("left", "right", "judge"))
    answer = np.array(R["answer"])
    lost = answer == "right"
    first, second = np.where(lost, right, left), np.where(lost, left, right)
    return first, second, np.where(lost, -1.0, 1.0), answer == "tie", judge


def test_ties_and_position_equal_r() -> None:
    first, second, left, tie, _ = votes_of_r()
    votes, _ = Votes.count(first, second, left, tie)
    plain = fit_choices(votes, 4, ChoiceModel("bradley-terry", "davidson", False))
    theirs = R["answers"]["davidson"]
    assert plain.strength[:3] - plain.strength[3] == pytest.approx(
        [theirs[name] for name in "abc"], abs=1e-6
    )
    assert plain.tau == pytest.approx(theirs["(undecided)"], abs=1e-6)
    both = fit_choices(votes, 4, ChoiceModel("bradley-terry", "davidson", True))
    *systems, position, tau = R["answers"]["davidson_position"]
    assert both.strength[1:] - both.strength[0] == pytest.approx(systems, abs=1e-6)
    # Their effect is on the choice of the left and, reversed, of the right.
    assert both.parameters[4:] == pytest.approx([2 * position, tau], abs=1e-6)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_position_and_what_leaving_out_judges_says_equal_r(link: str) -> None:
    first, second, left, tie, judge = (
        part[np.array(R["answer"]) != "tie"] for part in votes_of_r()
    )
    votes, kind = Votes.count(first, second, left, tie)
    model = "bradley-terry" if link == "logit" else "thurstone"
    fit = fit_choices(votes, 4, ChoiceModel(model, "drop", True))
    theirs = R["answers"][link]
    contrasts = np.zeros((5, 4))
    contrasts[4, 0] = 1
    contrasts[[1, 2, 3], [1, 2, 3]], contrasts[0, 1:] = 1, -1
    assert fit.parameters @ contrasts == pytest.approx(theirs["coefficients"], abs=1e-6)
    if link == "logit":
        home = R["answers"]["position"]
        names = ("at.left", "teamb", "teamc", "teamd")
        assert fit.parameters @ contrasts == pytest.approx([home[n] for n in names], abs=1e-6)
        left_out, times = without_clusters(fit, kind, judge)
        steps = (left_out - fit.parameters) @ contrasts
        assert times.tolist() == [1] * 8
        assert steps.T @ steps == pytest.approx(np.array(theirs["covariance"]), abs=1e-6)


@pytest.mark.parametrize("model", ["bradley-terry", "thurstone"])
def test_thresholds_equal_an_ordered_regression(model: str) -> None:
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    left, right = np.array(R["left"]), np.array(R["right"])
    answer = np.array([("right", "tie", "left").index(name) for name in R["answer"]])
    design = np.eye(4)[left] - np.eye(4)[right]
    link = "logit" if model == "bradley-terry" else "probit"
    ordered = OrderedModel(answer, design[:, 1:], distr=link)
    theirs = ordered.fit(method="bfgs", disp=False, gtol=1e-9, maxiter=500)
    low, high = ordered.transform_threshold_params(theirs.params[3:])[1:3]
    votes, _ = Votes.count(*votes_of_r()[:4])
    fit = fit_choices(votes, 4, ChoiceModel(model, "threshold", True))
    assert fit.strength[1:] - fit.strength[0] == pytest.approx(theirs.params[:3], abs=1e-4)
    assert fit.parameters[4:] == pytest.approx([-(low + high) / 2, (high - low) / 2], abs=1e-4)


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), tau=st.floats(0.3, 2), tie=st.booleans())
def test_derivatives_are_those_of_the_chances(seed: int, tau: float, tie: bool) -> None:
    u = np.random.default_rng(seed).uniform(-4, 4, 5)
    ties, h = np.full(5, tie), 1e-4
    for model, how in (
        ("bradley-terry", "half"),
        ("thurstone", "half"),
        ("bradley-terry", "davidson"),
        ("bradley-terry", "threshold"),
        ("thurstone", "threshold"),
    ):
        terms = ChoiceModel(model, how, False).terms
        _, slope, bend = terms(u, tau, ties)
        by_u = (terms(u + h, tau, ties)[0] - terms(u - h, tau, ties)[0]) / (2 * h)
        assert slope[:, 0] == pytest.approx(by_u, rel=1e-5, abs=1e-5)
        bend_u = -(terms(u + h, tau, ties)[1] - terms(u - h, tau, ties)[1]) / (2 * h)
        assert bend[:, 0] == pytest.approx(bend_u, rel=1e-5, abs=1e-5)
        if how != "half":
            by_tau = (terms(u, tau + h, ties)[0] - terms(u, tau - h, ties)[0]) / (2 * h)
            assert slope[:, 1] == pytest.approx(by_tau, rel=1e-5, abs=1e-5)
            bend_tau = -(terms(u, tau + h, ties)[1] - terms(u, tau - h, ties)[1]) / (2 * h)
            assert bend[:, 1] == pytest.approx(bend_tau, rel=1e-5, abs=1e-5)


def test_one_step_is_near_a_fit_without_the_cluster() -> None:
    first, second, left, tie, judge = votes_of_r()
    votes, kind = Votes.count(first, second, left, tie)
    model = ChoiceModel("bradley-terry", "davidson", True)
    left_out, _ = without_clusters(fit_choices(votes, 4, model), kind, judge)
    whole = fit_choices(votes, 4, model).parameters
    for row, name in enumerate(np.unique(judge)):
        rest = judge != name
        again, _ = Votes.count(first[rest], second[rest], left[rest], tie[rest])
        truth = fit_choices(again, 4, model).parameters
        assert left_out[row] == pytest.approx(truth, abs=0.02)
        assert np.abs(left_out[row] - truth).max() < 0.2 * np.abs(truth - whole).max() + 1e-4


@pytest.mark.parametrize("ties", ["drop", "davidson"])
def test_small_clusters_are_left_out_as_large_ones_are(ties: Any) -> None:
    """Clusters of few kinds of choices go by their own derivatives, others by all parameters."""
    first, second, left, tie, _ = (
        part[(ties != "drop") | (np.array(R["answer"]) != "tie")] for part in votes_of_r()
    )
    cluster = np.where(np.arange(first.size) < 3, 0, np.arange(first.size))
    votes, kind = Votes.count(first, second, left, tie)
    fit = fit_choices(votes, 4, ChoiceModel("bradley-terry", ties, True))
    left_out, times = without_clusters(fit, kind, cluster)
    assert times.sum() == first.size - 2
    mean = np.zeros((fit.parameters.size,) * 2)
    mean[:4, :4] = 0.25
    often = np.bincount(kind[:3], minlength=votes.weight.size).astype(float)
    rest = fit.information(votes.weight - often) + mean
    plain = fit.parameters - np.linalg.solve(rest, often @ fit.scores())
    assert np.abs(left_out - plain).sum(axis=1).min() < 1e-10


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    sizes=st.sampled_from([1, 3, 12, 40]),
    ties=st.sampled_from(["half", "drop", "davidson", "threshold"]),
    position=st.booleans(),
)
def test_clusters_are_left_out_as_a_plain_loop_does(
    seed: int, sizes: int, ties: Any, position: bool
) -> None:
    rng = np.random.default_rng(seed)
    n, k = 80, 5
    first = rng.integers(0, k, n)
    second = (first + rng.integers(1, k, n)) % k
    tie = (rng.random(n) < 0.25) & (ties != "drop")
    left = rng.choice([-1.0, 0.0, 1.0], n)
    cluster = rng.integers(0, n // sizes, n)
    votes, kind = Votes.count(first, second, left, tie)
    fit = fit_choices(votes, k, ChoiceModel("bradley-terry", ties, position))
    assume(np.isfinite(fit.parameters).all())
    left_out, times = without_clusters(fit, kind, cluster)
    mean = np.zeros((fit.parameters.size,) * 2)
    mean[:k, :k] = 1 / k
    contents: dict[tuple[int, ...], int] = {}
    for one in np.unique(cluster):
        inside = tuple(np.bincount(kind[cluster == one], minlength=votes.weight.size).tolist())
        contents[inside] = contents.get(inside, 0) + 1
    plain = np.full((len(contents), fit.parameters.size), np.nan)
    for row, inside in enumerate(contents):
        often = np.array(inside, dtype=float)
        rest = fit.information(votes.weight - often) + mean
        if np.linalg.eigvalsh(rest)[0] > 1e-9:
            plain[row] = fit.parameters - np.linalg.solve(rest, often @ fit.scores())
    # Of large clusters those that are alike may be left out one by one.
    assert times.sum() == sum(contents.values())
    assert np.repeat(left_out, times, axis=0).sum(axis=0) == pytest.approx(
        np.repeat(plain, list(contents.values()), axis=0).sum(axis=0), abs=1e-7, nan_ok=True
    )
    if times.tolist() == list(contents.values()):
        assert left_out == pytest.approx(plain, abs=1e-7, nan_ok=True)


def study(rng: np.random.Generator, items: int, judges: int) -> Ratings:
    """Judges who differ in what they like, a side that they prefer, and some ties."""
    names = list("abcd")
    liking = np.array([0.9, 0.3, -0.3, -0.9]) + rng.normal(0, 0.7, (judges, 4))
    rows, stimuli = [], []
    for item in range(items):
        a, b = rng.choice(4, 2, replace=False)
        stimuli.append((f"i{item}", names[a], names[b], f"p{item // 2}"))
        u = liking[:, a] - liking[:, b] + rng.normal(0, 0.3) + 0.4
        weight = np.exp(np.column_stack([u / 2, -u / 2, np.full(judges, -0.5)]))
        chance = (weight / weight.sum(axis=1, keepdims=True)).cumsum(axis=1)
        answer = (rng.random((judges, 1)) > chance).sum(axis=1)
        rows += [(f"i{item}", f"j{j}", ("A", "B", "both")[answer[j]]) for j in range(judges)]
    table = dict(zip(("stimulus", "rater", "value"), zip(*rows, strict=True), strict=True))
    about = dict(zip(("stimulus", "A", "B", "scene"), zip(*stimuli, strict=True), strict=True))
    raters = {"rater": [f"j{j}" for j in range(judges)]}
    raters["site"] = [f"s{j // 2}" for j in range(judges)]
    return Ratings(table, scale="nominal:A,B,both,neither", stimuli=about, raters=raters)


@pytest.mark.long
@pytest.mark.parametrize(("items", "judges"), [(40, 4), (60, 8), (60, 20)])
def test_intervals_for_other_judges_and_items_cover(items: int, judges: int) -> None:
    options: dict[str, Any] = {"ties": "davidson", "position": True}
    rng = np.random.default_rng(3)
    many = preference_scale(study(rng, 1500, 200), target="sample", **options)
    truth = {**dict(many.to_frame().select("system", "value").iter_rows())}
    truth |= dict(many.to_frame("effects").select("effect", "value").iter_rows())
    hits = []
    for _ in range(120):
        scale = preference_scale(study(rng, items, judges), target="both", **options)
        for name in ("scale", "effects"):
            for row in scale.to_frame(name).to_dicts():
                key = row.get("system") or row["effect"]
                hits.append(row["low"] <= truth[key] <= row["high"])
    assert np.mean(hits) >= 0.93


def test_ties_and_position_have_effects_in_a_table() -> None:
    ratings = study(np.random.default_rng(1), 60, 6)
    scale = preference_scale(ratings, ties="davidson", position=True)
    effects = {row["effect"]: row for row in scale.to_frame("effects").to_dicts()}
    left, tie = effects["left"], effects["tie"]
    assert left["value"] == pytest.approx(1 / (1 + np.exp(-left["parameter"])))
    assert tie["value"] == pytest.approx(1 / (1 + 2 * np.exp(-tie["parameter"])))
    assert left["low"] < left["value"] < left["high"]
    assert scale.sentences[1:3] == (wording.effect(left), wording.effect(tie))
    assert "Davidson" in scale.to_frame()["statistic"][0]
    assert "effects" not in {table.name for table in preference_scale(ratings).tables}


def test_what_intervals_are_about_is_declared() -> None:
    ratings = study(np.random.default_rng(2), 40, 6)
    wide = {}
    for target in ("stimuli", "raters", "both", "sample"):
        drawn = "none" if target == "sample" else target
        scale = preference_scale(ratings, target=target)
        frame = scale.to_frame()
        assert frame["target"].unique().to_list() == [drawn]
        assert scale.settings["target"] == target
        if target != "sample":
            assert wording.target(target) in scale.tables[0].notes
        wide[target] = (frame["high"] - frame["low"]).mean()
        assert np.isnan(frame["first"][0]) == (target == "sample")
    assert np.isnan(wide["sample"])
    assert wide["both"] > max(wide["stimuli"], wide["raters"])
    assert preference_scale(ratings).settings["target"] == "both"


def test_items_and_judges_that_belong_together_are_left_out_together() -> None:
    ratings = study(np.random.default_rng(4), 40, 8)
    each = preference_scale(ratings, target="stimuli")
    together = preference_scale(ratings, target="stimuli", cluster="scene")
    assert (each.to_frame()["value"] == together.to_frame()["value"]).all()
    assert (each.to_frame()["se"] != together.to_frame()["se"]).all()
    about = ratings.stimuli.rename({"scene": "pair"})
    answers = ratings.to_frame().select("stimulus", "rater", "value")
    named = Ratings(answers, scale=ratings.scale, stimuli=about, raters=ratings.raters)
    auto = preference_scale(named, target="stimuli").to_frame()
    assert auto["se"].to_list() == together.to_frame()["se"].to_list()
    sites = preference_scale(ratings, target="raters", judge_cluster="site")
    assert (sites.to_frame()["se"] != each.to_frame()["se"]).all()
    # Four sites are too few to speak of others by default.
    assert preference_scale(ratings, judge_cluster="site").settings["target"] == "stimuli"
    with pytest.raises(InputError, match="unknown judge_cluster 'class'"):
        preference_scale(ratings, judge_cluster="class")
    with pytest.raises(InputError, match="'room'"):
        preference_scale(ratings, cluster="room")


def test_both_ways_are_added_and_what_they_share_is_not_counted_twice() -> None:
    rng = np.random.default_rng(0)
    item, judge = np.repeat(np.arange(30), 10), np.tile(np.arange(10), 30)
    y = rng.normal(0, 1, 30)[item] + rng.normal(0, 1, 10)[judge] + rng.normal(0, 1, 300)

    def without(code: Any) -> tuple[Any, Any]:
        n = np.bincount(code)
        return ((y.sum() - np.bincount(code, y)) / (300 - n))[:, None], np.ones(n.size, dtype=int)

    jackknife = without_each("both", item, judge, np.array([y.mean()]), without)
    se, freedom = jackknife.spread()
    grid = y.reshape(30, 10)
    by_item, by_judge = (grid.mean(axis=axis).var(ddof=1) / n for axis, n in ((1, 30), (0, 10)))
    total = by_item + by_judge - y.var(ddof=1) / 300
    assert se**2 == pytest.approx(total)
    assert freedom == pytest.approx(total**2 / (by_item**2 / 29 + by_judge**2 / 9))
    assert jackknife.covariance(together=1)[0, 0, 0] == pytest.approx(total)


def test_where_a_cluster_carries_the_scale_there_is_no_interval() -> None:
    lonely = arena(0, {"a": 0.3, "b": 0.0}, 1, 12, ties=0.0)
    scale = preference_scale(lonely, target="stimuli")
    assert scale.to_frame()["reason"][0] == Cause.SINGLE_UNIT
    assert scale.to_frame()["low"].is_nan().all()
    steady = preference_scale([[0, 9], [1, 0]], prior=0.5)
    assert steady["0"].low < steady["0"].value < steady["0"].high


def test_pairs_compare_strengths() -> None:
    wins = [[0, 40, 45], [20, 0, 40], [15, 20, 0]]
    scale = preference_scale(wins, systems=["a", "b", "c"])
    frame = scale.to_frame("pairs")
    one = frame.row(0, named=True)
    assert (one["system"], one["other"]) == ("a", "b")
    assert one["difference"] == pytest.approx(scale["a"].value - scale["b"].value)
    assert one["value"] == pytest.approx(1 / (1 + np.exp(-one["difference"])))
    assert one["observed"] == pytest.approx(2 / 3)
    assert one["low"] < one["value"] < one["high"]
    assert frame.filter(frame["other"] == "c")["p"].max() < 0.05
    assert scale.to_frame()["first"][0] > 0.9
    once = preference_scale(wins, seed=2).to_frame()
    assert once.equals(preference_scale(wins, seed=2).to_frame())


def test_input_that_cannot_be_used() -> None:
    def fails(words: str, data: Any, **options: Any) -> None:
        with pytest.raises(InputError, match=words):
            preference_scale(data, **options)

    fails("shape", [[0, 1, 2], [1, 0, 2]])
    fails("array of numbers", [["x", 1], [1, 0]])
    fails("whole numbers", [[0, 1.5], [1, 0]])
    fails("whole numbers", [[0, -1], [1, 0]])
    fails("diagonal", [[1, 1], [1, 0]])
    fails("no win", [[0, 0], [0, 0]])
    fails("2 different names", [[0, 1], [1, 0]], systems=["a", "a"])
    fails("unknown model", [[0, 1], [1, 0]], model="elo")
    fails("unknown ties", [[0, 1], [1, 0]], ties="count")
    fails("prior", [[0, 1], [1, 0]], prior=-1)
    fails("prior", [[0, 1], [1, 0]], prior=float("nan"))
    fails("two or more judges", [[0, 1], [1, 0]], target="both")
    ratings = arena(0, {"a": 0.0, "b": 0.0}, 5, 2, ties=0.0)
    fails("ratings name their systems", ratings, systems=["a", "b"])
    fails("no answer is a tie", ratings, ties="davidson")
    fails("expected 'threshold'", ratings, ties="davidson", model="thurstone")
    fails("an array has none", [[0, 1], [1, 0]], cluster="scene")
    fails("stood on the left", [[0, 1], [1, 0]], position=True)
    all_ties = arena(0, {"a": 0.0, "b": 0.0}, 5, 2, ties=1.0)
    fails("no answer is for a system", all_ties, ties="drop")
    assert "undefined" in preference_scale(all_ties, ties="davidson").to_frame()["status"][0]
