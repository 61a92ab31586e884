"""Preference studies: published counts, intervals, verdicts, sides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Formula, IntervalFact, Reason
from affectlab.evaluation import evaluate_preference_metrics, preferences
from affectlab.evaluation.preference import Preferences, wording
from affectlab.ratings import Ratings


def study(
    votes: list[tuple[str, str, str]],
    *,
    scale: str = "nominal:A,B,both,neither",
    stimuli: Any = None,
    left: list[str] | None = None,
) -> Ratings:
    """Make ratings of (item, judge, choice)."""
    item, judge, choice = zip(*votes, strict=True)
    table = {"stimulus": item, "rater": judge, "value": choice}
    if left is not None:
        table["left"] = left
    return Ratings(table, scale=scale, stimuli=stimuli)


def simulated(
    items: int,
    judges: int,
    *,
    seed: int,
    mean: float = 0.5,
    of_items: float = 0.8,
    of_judges: float = 0.5,
) -> Ratings:
    """Judges who differ choose between human and model on items that differ."""
    rng = np.random.default_rng(seed)
    logit = mean + rng.normal(0, of_items, (items, 1)) + rng.normal(0, of_judges, (1, judges))
    human = rng.random((items, judges)) < 1 / (1 + np.exp(-logit))
    item, judge = np.indices(human.shape)
    return Ratings(
        {
            "stimulus": [f"i{k}" for k in item.ravel()],
            "rater": [f"j{k}" for k in judge.ravel()],
            "value": np.where(human.ravel(), "human", "model").tolist(),
        },
        scale="nominal:human,model",
    )


def test_emonet_face_b3() -> None:
    found = preferences({"human": 707, "model": 292})
    one = found["decided votes", "human"]
    assert round(one.value, 4) == 0.7077
    assert round(found["votes", "model"].value, 4) == 0.2923
    test = stats.binomtest(707, 999)
    exact, wilson = test.proportion_ci(method="exact"), test.proportion_ci(method="wilson")
    assert (one.low, one.high) == pytest.approx((exact.low, exact.high))
    votes = found["votes", "human"]
    assert (votes.low, votes.high) == pytest.approx((wilson.low, wilson.high))
    p = found.to_frame().filter(found.to_frame()["about"] == "decided votes")["p"][0]
    assert p == pytest.approx(test.pvalue)
    rows = {(r["about"], r["choice"]): r for r in found.to_frame().to_dicts()}
    decided = (rows["decided votes", name] for name in ("human", "model"))
    assert found.sentences == (wording.preferred(*decided, 0.95),)


def test_to_err_like_human_user_study() -> None:
    """900 votes of 30 people on 30 images; more people prefer the first model on 24 of them."""
    votes = published_margins()
    assert votes.sum(axis=0).tolist() == [487, 242, 171]
    found = preferences(votes, choices=["higher ECC", "higher ACC", "indistinct"])
    rows = {(r["about"], r["choice"]): r for r in found.to_frame().to_dicts()}
    assert rows["votes", "higher ECC"]["count"] == 487
    assert round(rows["votes", "indistinct"]["value"], 2) == 0.19
    assert rows["items", "higher ECC"]["count"] == 24
    assert rows["items", "higher ECC"]["value"] == 0.8
    assert rows["decided items", "higher ECC"]["p"] == pytest.approx(stats.binomtest(24, 30).pvalue)


def test_to_err_like_human_intervals() -> None:
    """Published counts with the intervals of statsmodels; items that vary widen those of votes."""
    votes = published_margins()
    found = preferences(votes, choices=["higher ECC", "higher ACC", "indistinct"])
    rows = {(r["about"], r["choice"]): r for r in found.to_frame().to_dicts()}
    images = rows["decided items", "higher ECC"]
    exact = proportion_confint(24, 30, method="beta")
    assert (images["low"], images["high"]) == pytest.approx(exact)
    assert images["p"] == pytest.approx(0.00143, abs=1e-5)
    decided = rows["decided votes", "higher ECC"]
    assert (decided["count"], decided["of"]) == (487, 729)
    alone = preferences({"higher ECC": 487, "higher ACC": 242, "indistinct": 171})
    single = alone["decided votes", "higher ECC"]
    assert (single.low, single.high) == pytest.approx(proportion_confint(487, 729, method="beta"))
    assert decided["high"] - decided["low"] > single.high - single.low
    assert decided["low"] > 0.5


def test_emonet_face_b3_from_its_judgements() -> None:
    """999 images, 500 to one judge and 499 to the other: 707 for people, as the counts alone."""
    order = np.random.default_rng(0).permutation(999)
    said = np.where(order < 707, "human", "model")
    votes = [(f"face{k}", f"judge{int(k >= 500)}", choice) for k, choice in enumerate(said)]
    found = preferences(study(votes, scale="nominal:human,model"))
    counted = preferences({"human": 707, "model": 292})
    one, other = found["decided votes", "human"], counted["decided votes", "human"]
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))
    assert (round(one.low, 3), round(one.high, 3)) == (0.678, 0.736)
    assert found.notes == (wording.too_few_judges(2),)
    assert ("items", "tied") not in dict(iter(found))
    assert found.sentences[0] == counted.sentences[0]


def test_socratis_verdicts_of_three_judges() -> None:
    """500 items, 382 of them with a majority of two: the published verdicts, vote by vote."""
    scale = "nominal:machine,human,both,neither"
    published = {"machine": 91, "human": 233, "both": 47, "neither": 11}
    wanted = [name for name, n in published.items() for _ in range(n)] + [""] * 118
    other = {"machine": "human", "human": "both", "both": "human", "neither": "both", "": ""}
    votes = []
    for k, name in enumerate(wanted):
        three = [name, other[name], name] if name else ["machine", "human", "neither"]
        votes += [(f"item{k}", f"judge{j}", choice) for j, choice in enumerate(three)]
    found = preferences(study(votes, scale=scale))
    rows = {(r["about"], r["choice"]): r for r in found.to_frame().to_dicts()}
    assert {name: rows["verdicts", name]["count"] for name in published} == published
    assert rows["verdicts", "no majority"]["count"] == 118
    low, high = proportion_confint(233, 500, method="wilson")
    assert (rows["verdicts", "human"]["low"], rows["verdicts", "human"]["high"]) == pytest.approx(
        (low, high)
    )
    decided = rows["decided verdicts", "human"]
    assert decided["p"] == pytest.approx(stats.binomtest(233, 324).pvalue)
    assert decided["low"] > 0.5
    scores = {"item": found.tally.items, "metric": ["order"] * 500, "score": np.arange(500.0)}
    judged = evaluate_preference_metrics(found, scores, system="machine", n_permutations=0)
    about = judged.settings
    assert (about["n_good"], about["n_poor"], sum(about["set_aside"].values())) == (138, 233, 129)


def published_margins() -> Any:
    """30 votes on each of 30 images, 487, 242 and 171 in all; 24 images for the first."""
    rng = np.random.default_rng(0)
    first = np.array([18] * 24 + [9] * 6)
    second = np.array([6] * 24 + [14] * 6)
    while first.sum() != 487 or second.sum() != 242:
        k = rng.integers(0, 30)
        if first.sum() != 487:
            first[k] += np.sign(487 - first.sum())
        k = rng.integers(0, 30)
        if second.sum() != 242:
            second[k] += np.sign(242 - second.sum())
    assert ((first > second).sum(), (first + second).max() <= 30) == (24, True)
    return np.stack([first, second, 30 - first - second], axis=1)


def test_socratis() -> None:
    found = preferences({"machine": 91, "human": 233, "both": 47, "neither": 11})
    rows = {(r["about"], r["choice"]): r for r in found.to_frame().to_dicts()}
    assert rows["votes", "machine"]["of"] == 382
    assert rows["decided votes", "human"]["of"] == 324
    for name, k in (("machine", 91), ("human", 233), ("both", 47), ("neither", 11)):
        low, high = proportion_confint(k, 382, method="wilson")
        assert (rows["votes", name]["low"], rows["votes", name]["high"]) == pytest.approx(
            (low, high)
        )
    assert rows["decided votes", "human"]["count"] == 233
    assert rows["decided votes", "human"]["of"] == 324


def test_majority_of_three_judges() -> None:
    said = {
        "clear": ["A", "A", "B"],
        "all": ["B", "B", "B"],
        "split": ["A", "B", "both"],
        "both": ["both", "both", "A"],
        "bad": ["neither", "neither", "neither"],
    }
    votes = [(item, f"j{k}", c) for item, cs in said.items() for k, c in enumerate(cs)]
    found = preferences(study(votes))
    frame = found.to_frame("verdicts")
    assert dict(zip(frame["item"], frame["verdict"], strict=True)) == {
        "clear": "A",
        "all": "B",
        "split": "no majority",
        "both": "both",
        "bad": "neither",
    }
    assert dict(zip(frame["item"], frame["preferred"], strict=True)) == {
        "clear": "A",
        "all": "B",
        "split": "tied",
        "both": "A",
        "bad": "tied",
    }
    counts = {
        r["choice"]: r["count"] for r in found.to_frame().to_dicts() if r["about"] == "verdicts"
    }
    assert counts == {"A": 1, "B": 1, "both": 1, "neither": 1, "no majority": 1}
    plural = preferences(study([*votes, ("split", "j9", "A")]), rule="plurality").to_frame(
        "verdicts"
    )
    assert plural.filter(plural["item"] == "split")["verdict"][0] == "A"
    tied = preferences(study(votes), rule="plurality").to_frame("verdicts")
    assert tied.filter(tied["item"] == "split")["verdict"][0] == "tied"


def test_blind_options_are_traced_to_their_systems() -> None:
    stimuli = {"stimulus": ["x", "y"], "A": ["human", "model"], "B": ["model", "human"]}
    votes = [("x", "j1", "A"), ("x", "j2", "B"), ("y", "j1", "B"), ("y", "j2", "both")]
    found = preferences(study(votes, stimuli=stimuli))
    assert found.choices[:2] == ("human", "model")
    assert found.votes.tolist() == [[1, 1, 0, 0], [1, 0, 1, 0]]


def test_a_bias_to_one_side_is_seen_and_a_better_system_is_none() -> None:
    rng = np.random.default_rng(1)
    items = [f"i{k}" for k in range(200)]
    stood = rng.integers(0, 2, 200).astype(bool)
    stimuli = {
        "stimulus": items,
        "A": np.where(stood, "human", "model").tolist(),
        "B": np.where(stood, "model", "human").tolist(),
    }

    def answers(left: float, human: float) -> Preferences:
        votes = []
        for item, first in zip(items, stood, strict=True):
            for judge in range(3):
                wants = rng.random() < (human if first else 1 - human)
                votes.append((item, f"j{judge}", "A" if rng.random() < left or wants else "B"))
        return preferences(study(votes, stimuli=stimuli))

    def p(found: Preferences) -> float:
        frame = found.to_frame()
        return float(frame.filter(frame["about"] == "side")["p"][0])

    biased, fair = answers(0.3, 0.5), answers(0.0, 0.8)
    assert biased["side", "A"].value > 0.6
    assert p(biased) < 0.001
    row = biased.to_frame().filter(pl.col("about") == "side").row(0, named=True)
    assert biased.sentences[-1] == wording.side(row)
    assert p(fair) > 0.01
    assert fair["decided votes", "human"].low > 0.7


def test_the_column_left_is_the_side() -> None:
    votes = [(f"i{k}", "j", "A" if k % 2 else "B") for k in range(40)]
    always = ["A" if k % 2 else "B" for k in range(40)]
    found = preferences(study(votes, left=always))
    assert found["side", "left"].value == 1.0
    assert "side" not in preferences(study(votes)).to_frame()["about"]
    one_side = preferences(study(votes, left=["A"] * 40))
    row = one_side.to_frame().filter(pl.col("about") == "side").row(0, named=True)
    assert np.isnan(row["p"])
    assert one_side.sentences[-1] == wording.side(row)
    with pytest.raises(InputError, match="neither a choice nor a system"):
        preferences(study(votes, left=["C"] * 40))


def test_votes_on_an_item_go_together_for_the_side_too() -> None:
    rng = np.random.default_rng(2)
    wins, left = rng.integers(0, 2, (2, 60))

    def about_side(judges: int) -> dict[str, Any]:
        votes = [(f"i{k}", f"j{j}", "AB"[wins[k]]) for j in range(judges) for k in range(60)]
        sides = ["AB"[left[k]] for _, k in np.ndindex(judges, 60)]
        frame = preferences(study(votes, left=sides), target="stimuli").to_frame()
        return frame.row(by_predicate=pl.col("about") == "side", named=True)

    # Twenty judges who all say the same tell no more of other items than one.
    many, one = about_side(20), about_side(1)
    assert many["high"] - many["low"] == pytest.approx(one["high"] - one["low"], rel=0.02)
    assert many["p"] == pytest.approx(one["p"])
    assert many["interval"] == "analytic"


@pytest.mark.long
def test_a_side_that_draws_nobody_is_rarely_taken_for_a_bias() -> None:
    rng = np.random.default_rng(5)
    alarms = []
    for _ in range(200):
        left = rng.integers(0, 2, 60)
        appeal = rng.normal(0, 1, 60)[None] + rng.normal(0, 0.7, 8)[:, None]
        wins = (appeal + rng.normal(size=appeal.shape) > 0).astype(int)
        votes = [(f"i{k}", f"j{j}", "AB"[wins[j, k]]) for j in range(8) for k in range(60)]
        sides = ["AB"[left[k]] for _, k in np.ndindex(8, 60)]
        frame = preferences(study(votes, left=sides)).to_frame()
        alarms.append(frame.filter(about="side")["p"][0] < 0.05)
    # Votes as independent would give some 20 %.
    assert np.mean(alarms) < 0.1


@pytest.mark.long
def test_clustered_intervals_cover_and_independent_votes_do_not() -> None:
    rng = np.random.default_rng(3)
    spread = 0.5 + rng.normal(0, np.hypot(0.8, 0.5), 400_000)
    truth = float((1 / (1 + np.exp(-spread))).mean())
    hits = naive = drawn = 0
    runs = 120
    for run in range(runs):
        ratings = simulated(40, 20, seed=run)
        one = preferences(ratings)["decided votes", "human"]
        hits += one.low <= truth <= one.high
        k = round(one.value * 800)
        low, high = proportion_confint(k, 800, method="wilson")
        naive += low <= truth <= high
        boot = preferences(ratings, n_boot=200, seed=run)["decided votes", "human"]
        drawn += boot.low <= truth <= boot.high
    assert 0.88 <= hits / runs <= 0.99
    assert naive / runs < 0.75
    assert drawn / runs >= 0.93


@pytest.mark.long
@pytest.mark.parametrize(("items", "judges"), [(40, 4), (40, 8), (8, 20)])
def test_few_judges_or_items_are_covered(items: int, judges: int) -> None:
    spread = 0.5 + np.random.default_rng(3).normal(0, np.hypot(0.8, 0.5), 400_000)
    truth = float((1 / (1 + np.exp(-spread))).mean())
    hits = []
    for run in range(200):
        one = preferences(simulated(items, judges, seed=run), target="both")
        row = one["decided votes", "human"]
        hits.append(row.low <= truth <= row.high)
    assert np.mean(hits) >= 0.92


def test_votes_that_belong_together_and_what_intervals_are_about() -> None:
    ratings = simulated(40, 8, seed=2)
    names = ratings.stimulus_names
    scene = {"stimulus": list(names), "pair": [name[:-1] for name in names]}
    raters = {"rater": list(ratings.rater_names), "site": ["a", "b", "c", "d"] * 2}
    answers = ratings.to_frame().select("stimulus", "rater", "value")
    known = Ratings(answers, scale=ratings.scale, stimuli=scene, raters=raters)
    each, together = (
        preferences(known, target="stimuli", cluster=cluster) for cluster in (None, "auto")
    )
    assert each["votes", "human"].value == together["votes", "human"].value
    assert each["votes", "human"].se != together["votes", "human"].se
    sites = preferences(known, target="raters", judge_cluster="site")["votes", "human"]
    assert sites.high - sites.low != 0
    for n_boot in (0, 50):
        drawn = preferences(known, judge_cluster="site", n_boot=n_boot)
        assert drawn.settings["target"] == "stimuli"
        assert drawn.notes[0] == wording.too_few_judges(4)
    few = preferences(known, target="raters", n_boot=50)
    assert few.notes[0] == wording.few_clusters_drawn("8 judges")
    assert not preferences(known, target="stimuli", cluster=None, n_boot=50).notes
    both = preferences(known, target="both")
    assert wording.target("both") in both.tables[0].notes
    sample = preferences(known, target="sample")
    assert sample.to_frame()["low"].is_nan().all()
    with pytest.raises(InputError, match="columns of ratings"):
        preferences({"human": 3, "model": 2}, cluster="pair")


def test_the_clustered_variance_is_a_regression_with_clustered_errors() -> None:
    """Items as clusters: the variance that statsmodels gives for a mean."""
    import statsmodels.api as sm

    ratings = simulated(50, 6, seed=1)
    found = preferences(ratings, target="stimuli")["votes", "human"]
    y = (ratings.value == 0).astype(float)
    fit = sm.OLS(y, np.ones(y.size)).fit(
        cov_type="cluster", cov_kwds={"groups": ratings.stimulus_code, "df_correction": False}
    )
    assert found.se == pytest.approx(fit.bse[0], rel=1e-6)


def test_what_is_drawn() -> None:
    many, few = simulated(30, 12, seed=0), simulated(30, 3, seed=0)
    made = IntervalFact("analytic", ("items", "judges"), formula=Formula.CLUSTERED_WILSON)
    assert preferences(many)["votes", "human"].interval == made
    assert preferences(few)["votes", "human"].interval == replace(made, over=("items",))
    assert preferences(few).notes[0] == wording.too_few_judges(3)
    both = preferences(many, n_boot=300, seed=0)["votes", "human"]
    assert both.target == "both"
    assert preferences(few, n_boot=300, seed=0)["votes", "human"].target == "stimuli"
    items = preferences(many, target="stimuli", n_boot=300, seed=0)["votes", "human"]
    assert items.se < both.se
    judges = preferences(many, target="raters", n_boot=1000, seed=0)["votes", "human"]
    close = preferences(many, target="raters")["votes", "human"]
    assert judges.se == pytest.approx(close.se, rel=0.15)
    again = preferences(many, n_boot=300, seed=0).to_frame()
    assert again.equals(preferences(many, n_boot=300, seed=0).to_frame())


@given(
    votes=st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 3), st.sampled_from("AB") | st.just("both")),
        min_size=1,
        max_size=40,
        unique_by=lambda vote: vote[:2],
    ),
    rule=st.sampled_from(["majority", "plurality"]),
)
def test_shares_add_up_whatever_the_votes(votes: list[Any], rule: Any) -> None:
    rows = [(f"i{item}", f"j{judge}", choice) for item, judge, choice in votes]
    found = preferences(study(rows), rule=rule)
    frame = found.to_frame()
    for about in frame["about"].unique():
        part = frame.filter(frame["about"] == about)
        whole = part["of"][0]
        assert part["count"].sum() == whole
        if whole:
            assert part["value"].sum() == pytest.approx(1)
            assert (part["low"].fill_nan(0) <= part["value"] + 1e-12).all()
            assert (part["high"].fill_nan(1) >= part["value"] - 1e-12).all()
        else:
            assert (part["status"] == "undefined").all()
    assert found.sentences
    assert found.to_frame("verdicts").height == len({vote[0] for vote in votes})


def test_agreement_is_krippendorffs_alpha() -> None:
    from affectlab.reliability import krippendorff_alpha

    ratings = simulated(40, 5, seed=2)
    found = preferences(ratings)
    alpha = krippendorff_alpha(ratings.matrix(), level="nominal")
    assert found.to_frame("agreement")["value"][0] == pytest.approx(alpha.value)
    assert len(preferences({"a": 3, "b": 4}).tables) == 2


def test_several_labels_are_several_items_and_repeats_count_once() -> None:
    table = {
        "stimulus": ["x", "x", "x"],
        "rater": ["j", "j", "j"],
        "label": ["joy", "fear", "joy"],
        "value": ["A", "B", "B"],
        "trial": ["1", "2", "3"],
    }
    with pytest.raises(InputError, match="second answer"):
        Ratings({k: v for k, v in table.items() if k != "trial"}, scale="nominal:A,B")
    ratings = Ratings({k: v[:2] for k, v in table.items()}, scale="nominal:A,B")
    assert preferences(ratings).tally.items == ("x: joy", "x: fear")


def fails(words: str, data: Any, **options: Any) -> None:
    with pytest.raises(InputError, match=words):
        preferences(data, **options)


def test_input_that_cannot_be_used() -> None:
    votes = [("x", "j1", "A"), ("y", "j1", "B")]
    fails("nominal scale", Ratings({"stimulus": ["x"], "rater": ["j"], "value": [3]}, scale="0-7"))
    fails("whole numbers", {"a": 1.5, "b": 2})
    fails("whole numbers", {"a": -1, "b": 2})
    fails("not numbers", {"a": "x", "b": 2})
    fails("no vote", {"a": 0, "b": 0})
    fails("two systems among", {"a": 1, "both": 2})
    fails("two systems among", {"a": 1, "b": 2, "c": 3})
    fails("unknown system 'c'", {"a": 1, "b": 2}, systems=["a", "c"])
    fails("cannot be resampled", {"a": 1, "b": 2}, n_boot=10)
    fails("one different name for each", [[1, 2]], choices=["a"])
    fails("choices goes with", {"a": 1, "b": 2}, choices=["a", "b"])
    fails("one judge", study(votes), target="raters")
    fails("not known", [[1, 2]], choices=["a", "b"], target="both")
    fails("unknown rule", study(votes), rule="unanimity")
    fails("unknown target", study(votes), target="items")
    fails("n_boot", study(votes), n_boot=-1)
    three = {"stimulus": ["x", "y"], "A": ["m", "n"], "B": ["o", "o"]}
    fails("preference_scale for all", study(votes, stimuli=three))
    assert preferences(study(votes, stimuli=three), systems=("o", "n")).tally.items == ("y",)
    fails("no item compares", study(votes, stimuli=three), systems=["m", "n"])
    fails("different names", study(votes, stimuli=three), systems=["m", "m"])
    fails("with itself", study(votes, stimuli={**three, "B": ["m", "o"]}))
    fails("no system is named", study(votes, stimuli={**three, "B": [None, "o"]}))
    fails("two systems among", study(votes, scale="nominal:A,B,C"))


def test_ties_only_and_names_with_markup() -> None:
    found = preferences({"[red]a[/]": 0, "b": 0, "both": 5})
    rows = {(r["about"], r["choice"]): r for r in found.to_frame().to_dicts()}
    decided = (rows["decided votes", name] for name in ("[red]a[/]", "b"))
    assert found.sentences[0] == wording.preferred(*decided, 0.95)
    assert found["decided votes", "b"].reason == Reason(Cause.NONE, of="decided votes")
