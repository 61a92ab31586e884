"""Correlations and errors of metrics, against scipy and against a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy import stats

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import draw_weights, infer
from affectlab.evaluation import difference_metrics, logistic_fit
from affectlab.evaluation.differences.measures import METRICS, Measures
from affectlab.evaluation.differences.pairs import Pairs, pairs_of
from affectlab.ratings import Ratings

Floats = NDArray[np.float64]


def simulated(n: int, m: int = 2, seed: int = 0, *, step: float = 1.0) -> tuple[Floats, Floats]:
    """Scores from 0 to 100 in steps, and metrics that see them through a curve and noise."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(0, 100, n)
    scores = np.clip(np.round((truth + rng.normal(0, 6, n)) / step) * step, 0, 100)
    noise = rng.normal(0, 1, (m, n)) * (8 + 10 * np.arange(m))[:, None]
    return scores, 1 / (1 + np.exp(-(truth + noise - 50) / 15))


def by_scipy(x: Floats, y: Floats) -> dict[str, float]:
    fit = logistic_fit(x, y)
    return {
        "srocc": stats.spearmanr(x, y).statistic,
        "plcc": stats.pearsonr(x, y).statistic,
        "plcc_fit": abs(np.corrcoef(fit.predict(x), y)[0, 1]) * (1 if fit.rises else -1),
        "kendall": stats.kendalltau(x, y).statistic,
        "rmse": float(np.sqrt(np.mean((x - y) ** 2))),
        "rmse_fit": float(np.sqrt(np.mean((fit.predict(x) - y) ** 2))),
        "mae": float(np.abs(x - y).mean()),
    }


@given(
    n=st.integers(6, 60),
    levels=st.integers(5, 40),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=40)
def test_every_metric_equals_scipy_ties_or_not(n: int, levels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, levels, n).astype(float)
    x = y * rng.choice([-1.0, 1.0]) + rng.integers(0, levels, n)
    found = difference_metrics(y, x, names=["m"])
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        why = found["m", "all", "srocc"].reason
        assert why is not None
        assert why.cause is Cause.CONSTANT
        return
    theirs = by_scipy(x, y)
    for metric in METRICS:
        ours = found["m", "all", metric]
        if ours.ok:
            # A curve that is all but a line loses digits when it is drawn.
            near = 1e-4 if metric.endswith("fit") else 1e-9
            assert ours.value == pytest.approx(theirs[metric], abs=near), metric
        else:
            assert metric in ("plcc_fit", "rmse_fit")
            assert ours.reason is not None
            assert ours.reason.cause in (Cause.FEWER, Cause.NO_BEST_CURVE)


def replicates(pairs: Pairs, names: tuple[str, ...], n_boot: int, seed: int) -> Floats:
    measures = Measures(pairs, names)
    found = infer(measures.statistic, n_boot=n_boot, seed=seed)
    return found.replicates.reshape(n_boot, *measures.shape)


def drawn_weights(pairs: Pairs, n_boot: int, seed: int) -> NDArray[np.int64]:
    n = pairs.scores.size if pairs.clusters is None else pairs.clusters.n
    drawn = np.concatenate(list(draw_weights(np.random.default_rng(seed), n, n_boot))).astype(int)
    return drawn if pairs.clusters is None else drawn[:, pairs.clusters.code]


@pytest.mark.parametrize("clustered", [False, True])
def test_replicates_equal_a_plain_loop_over_drawn_items(clustered: bool) -> None:
    """The twin repeats items as often as they were drawn, and computes everything anew."""
    y, x = simulated(120, seed=3)
    kind = np.array(["intra", "inter"])[np.random.default_rng(0).integers(0, 2, 120)]
    clusters = np.arange(120) // 10 if clustered else None
    pairs, _ = pairs_of(
        y, x, names=None, by={"kind": kind}, cluster=clusters, score="mean", label=None
    )
    drawn = replicates(pairs, METRICS, 40, seed=7)
    weights = drawn_weights(pairs, 40, seed=7)
    assert drawn.shape == (40, 2, 3, 7)
    for b in range(40):
        for g, group in enumerate(pairs.groups):
            items = np.repeat(group.items, weights[b, group.items])
            for r in range(2):
                theirs = by_scipy(x[r, items], y[items])
                for k, metric in enumerate(METRICS):
                    fitted = metric.endswith("fit")
                    if fitted and g:
                        # Of so few pairs several curves are nearly as good.
                        continue
                    near = 3e-3 if fitted else 1e-9
                    assert drawn[b, r, g, k] == pytest.approx(theirs[metric], rel=near), metric


def test_bins_hardly_change_the_fit_of_replicates() -> None:
    y, x = simulated(5000, 1, seed=1)
    pairs, _ = pairs_of(y, x, names=None, by={}, cluster=None, score="mean", label=None)
    drawn = replicates(pairs, ("plcc_fit", "rmse_fit"), 16, seed=5)[:, 0, 0]
    weights = drawn_weights(pairs, 16, seed=5)
    for b in range(16):
        items = np.repeat(np.arange(5000), weights[b])
        fit = logistic_fit(x[0, items], y[items])
        assert drawn[b, 0] == pytest.approx(fit.r, abs=2e-4)
        assert drawn[b, 1] == pytest.approx(fit.rmse, rel=1e-3)


def test_groups_are_the_metrics_of_their_stimuli() -> None:
    y, x = simulated(200, seed=4)
    actor = np.random.default_rng(1).integers(1, 12, 200)
    found = difference_metrics(y, x, names=["a", "b"], by={"actor": actor})
    assert found.settings["groups"] == ("all", *(f"actor={k}" for k in range(1, 12)))
    for level in (1, 11):
        rows = actor == level
        alone = difference_metrics(y[rows], x[:, rows], names=["a", "b"])
        for rater in "ab":
            for metric in METRICS:
                one = found[rater, f"actor={level}", metric]
                assert one.value == pytest.approx(alone[rater, "all", metric].value, nan_ok=True)
                assert one.n_items == rows.sum()
    frame = found.to_frame()
    assert set(frame["attribute"]) == {"", "actor"}
    assert frame.filter(frame["group"] == "actor=3")["level"].unique().to_list() == ["3"]


@pytest.mark.long
@given(scale=st.floats(1e-6, 1e6), shift=st.floats(-1e3, 1e3), sign=st.sampled_from([-1, 1]))
def test_what_stretching_a_metric_changes(scale: float, shift: float, sign: int) -> None:
    y, x = simulated(80, 1, seed=9)
    names = ["srocc", "plcc", "kendall", "plcc_fit", "rmse_fit"]
    before = difference_metrics(y, x, metrics=names)
    after = difference_metrics(y, sign * scale * (x + shift / scale), metrics=names)
    for metric in names:
        a, b = before["0", "all", metric].value, after["0", "all", metric].value
        flips = 1 if metric == "rmse_fit" else sign
        assert b == pytest.approx(flips * a, rel=1e-3), metric


def test_a_metric_is_judged_on_what_it_predicts_and_compared_on_what_both_do() -> None:
    y, x = simulated(300, seed=5)
    x[1, :60] = np.nan
    found = difference_metrics(y, x, names=["a", "b"], n_boot=200, seed=0)
    assert found["b", "all", "srocc"].n_items == 240
    assert found.to_frame().filter(found.to_frame()["rater"] == "b")["coverage"][0] == 0.8
    assert "b predicts 240 of 300 stimuli" in found.notes[0]
    apart = found.compare()["a", "b", "all", "srocc"]
    both = difference_metrics(y[60:], x[:, 60:], names=["a", "b"])
    value = both["a", "all", "srocc"].value - both["b", "all", "srocc"].value
    assert apart.value == pytest.approx(value)
    assert apart.n_items == 240


def test_shared_draws_make_differences_surer_than_their_parts() -> None:
    y, x = simulated(400, seed=6)
    found = difference_metrics(y, x, names=["a", "b"], n_boot=1000, seed=0, metrics=["plcc"])
    apart = found.compare()["a", "b", "all", "plcc"]
    parts = [found[name, "all", "plcc"].se for name in "ab"]
    assert apart.se < np.hypot(*parts)
    assert found.compare().to_frame()["better"].to_list() == ["a"]


def steiger_se(n: int, r_xy: float, r_zy: float, r_xz: float) -> float:
    """Standard error of r_xy - r_zy in normal samples (Olkin and Siotani 1976)."""
    own = (1 - r_xy**2) ** 2 + (1 - r_zy**2) ** 2
    shared = r_xz * (1 - r_xy**2 - r_zy**2) - 0.5 * r_xy * r_zy * (1 - r_xy**2 - r_zy**2 - r_xz**2)
    return float(np.sqrt((own - 2 * shared) / n))


def test_the_error_of_a_difference_is_steigers() -> None:
    rng = np.random.default_rng(2)
    y = rng.normal(size=4000)
    common = rng.normal(size=4000)
    x = np.stack([y + common + rng.normal(size=4000), y + common + 2 * rng.normal(size=4000)])
    found = difference_metrics(y, x, names=["x", "z"], metrics=["plcc"], n_boot=1000, seed=1)
    r = np.corrcoef(np.vstack([y, x]))
    expected = steiger_se(4000, r[0, 1], r[0, 2], r[1, 2])
    assert found.compare()["x", "z", "all", "plcc"].se == pytest.approx(expected, rel=0.12)


def test_metrics_that_fall_are_compared_by_size() -> None:
    y, x = simulated(300, seed=8)
    x[0] = -x[0]
    found = difference_metrics(y, x, names=["ssim", "l1"], metrics=["srocc"], n_boot=200, seed=0)
    assert found["ssim", "all", "srocc"].value < -0.8
    assert found.compare().to_frame()["better"].to_list() == [""]
    sized = found.compare(absolute=True)
    assert sized.to_frame()["better"].to_list() == ["ssim"]
    both_fall = difference_metrics(y, -np.abs(x), metrics=["srocc"], n_boot=200, seed=0)
    assert both_fall.compare().to_frame()["better"].to_list() == ["0"]


def test_groups_are_compared_within_their_attribute() -> None:
    y, x = simulated(400, 1, seed=7)
    half = np.arange(400) < 200
    x[0, half] += np.random.default_rng(0).normal(0, 0.6, 200)
    by = {"kind": np.where(half, "inter", "intra"), "actor": np.arange(400) % 2}
    found = difference_metrics(y, x, by=by, metrics=["srocc", "rmse_fit"], n_boot=300, seed=0)
    table = found.compare("group")
    assert table.keys == ("rater", "group", "other", "metric")
    assert len(table) == 4
    rows = {(r["group"], r["metric"]): r for r in table.to_frame().to_dicts()}
    assert rows["kind=inter", "srocc"]["better"] == "kind=intra"
    assert rows["kind=inter", "rmse_fit"]["better"] == "kind=intra"
    assert rows["actor=0", "srocc"]["p_holm"] >= rows["actor=0", "srocc"]["p"]


def test_intervals_cover_the_true_rank_correlation() -> None:
    rng = np.random.default_rng(11)
    rho = 0.7
    truth = 6 / np.pi * np.arcsin(rho / 2)
    hits = 0
    for run in range(200):
        y = rng.normal(size=120)
        x = rho * y + np.sqrt(1 - rho**2) * rng.normal(size=120)
        one = difference_metrics(y, x, metrics=["srocc"], n_boot=200, seed=run)["0", "all", "srocc"]
        hits += one.low <= truth <= one.high
    assert 0.89 <= hits / 200 <= 0.985


def test_clusters_widen_intervals_where_actors_differ() -> None:
    rng = np.random.default_rng(12)
    actor = np.repeat(np.arange(30), 20)
    y = rng.normal(size=600)
    slope = rng.normal(0.5, 1.0, 30)[actor]
    x = slope * y + rng.normal(size=600)
    alone = difference_metrics(y, x, metrics=["plcc"], n_boot=400, seed=0)["0", "all", "plcc"]
    joint = difference_metrics(
        y, x, by={"actor": actor}, cluster="actor", metrics=["plcc"], n_boot=400, seed=0
    )
    one = joint["0", "all", "plcc"]
    assert one.se > 1.5 * alone.se
    assert one.target == "clusters of stimuli (actor)"
    within = joint["0", "actor=3", "plcc"]
    assert within.ok
    assert np.isnan(within.low)
    assert within.reason is not None
    assert any("one cluster" in note for note in joint.notes)


def people_and_metrics() -> tuple[Ratings, Ratings, Floats]:
    rng = np.random.default_rng(5)
    n, raters = 150, 10
    truth = rng.uniform(0, 100, n)
    item, rater = (part.ravel() for part in np.indices((n, raters)))
    value = np.clip(np.round(truth[item] + rng.normal(0, 15, item.size)), 0, 100)
    table = {"stimulus": [f"p{k}" for k in item], "rater": [f"w{k}" for k in rater], "value": value}
    about = {
        "stimulus": [f"p{k}" for k in range(n)],
        "actor": [str(k % 5) for k in range(n)],
        "kind": ["intra" if k % 3 == 0 else "inter" for k in range(n)],
    }
    people = Ratings(table, scale="0-100 interval", stimuli=about)
    names = [f"p{k}" for k in range(n)]
    models = Ratings(
        {
            "stimulus": names * 2,
            "rater": ["exact"] * n + ["coarse"] * n,
            "value": np.concatenate([truth / 100, truth / 100 + rng.normal(0, 0.3, n)]),
        },
        scale="interval",
        raters={"rater": ["exact", "coarse"], "rater_kind": ["model", "model"]},
    )
    return people, models, truth


def test_ratings_give_scores_groups_and_a_ceiling() -> None:
    people, models, _ = people_and_metrics()
    found = difference_metrics(
        people, models, by=["kind", "actor"], ceiling=True, n_splits=10, seed=0
    )
    mean = {}
    for name, value in zip(people.to_frame()["stimulus"], people.value, strict=True):
        mean.setdefault(name, []).append(value)
    scores = np.array([np.mean(mean[name]) for name in found.pairs.stimuli])
    assert found.pairs.scores == pytest.approx(scores)
    x = found.pairs.predictions[found.settings["raters"].index("coarse")]
    expected = stats.spearmanr(x, scores).statistic
    assert found["coarse", "all", "srocc"].value == pytest.approx(expected)
    assert found["coarse", "all", "srocc"].n_raters == 10
    assert found["coarse", "all", "srocc"].n_ratings == 1500
    assert found["coarse", "kind=intra", "srocc"].n_items == 50
    assert found.ceiling is not None
    rows = {row["group"]: row for row in found.ceiling.to_frame().to_dicts()}
    assert set(rows) == set(found.settings["groups"])
    # A prediction that is the truth reaches the ceiling, and the halves stay below it.
    assert found["exact", "all", "srocc"].value == pytest.approx(rows["all"]["ceiling"], abs=0.01)
    assert rows["all"]["value"] < rows["all"]["ceiling"]


def test_subject_model_scores() -> None:
    people, models, _ = people_and_metrics()
    from affectlab.reliability import subject_model

    found = difference_metrics(people, models, score="reml")
    theirs = subject_model(people).to_frame()
    score = dict(zip(theirs["stimulus"], theirs["value"], strict=True))
    assert found.pairs.scores == pytest.approx(
        np.array([score[name] for name in found.pairs.stimuli])
    )
    assert "subject model (reml)" in found["exact", "all", "plcc"].statistic


def test_one_table_and_labels_as_metrics() -> None:
    people, models, _ = people_and_metrics()
    labelled = Ratings(
        {
            "stimulus": models.to_frame()["stimulus"],
            "rater": ["metrics"] * 300,
            "label": models.to_frame()["rater"],
            "value": models.value,
        },
        scale="interval",
    )
    one = difference_metrics(people, models)
    other = difference_metrics(people, labelled)
    assert set(other.settings["raters"]) == {"exact", "coarse"}
    assert other["coarse", "all", "kendall"].value == one["coarse", "all", "kendall"].value


def test_the_same_seed_gives_the_same_bytes() -> None:
    y, x = simulated(90, seed=2)
    once, again, other = (
        difference_metrics(y, x, n_boot=50, seed=seed).to_frame() for seed in (3, 3, 4)
    )
    assert once.equals(again)
    assert not once.equals(other)


def test_what_is_not_defined_says_why() -> None:
    found = difference_metrics([1.0, 2, 3, 4], [[5, 5, 5, 5], [1, 2, 3, 4]], n_boot=20, seed=0)
    flat = found["0", "all", "srocc"]
    assert np.isnan(flat.value)
    assert flat.reason == Reason(Cause.CONSTANT, of="predictions")
    assert found["0", "all", "rmse"].ok
    few = Reason(Cause.FEWER, least=5, of="different predictions")
    assert found["1", "all", "plcc_fit"].reason == few
    one = difference_metrics([1.0], [2.0])
    assert one["0", "all", "kendall"].reason == Reason(Cause.FEWER, least=2, of="stimuli")
    assert one["0", "all", "mae"].value == 1.0
    same = difference_metrics([3.0, 3, 3], [1, 2, 3])
    assert same["0", "all", "plcc"].reason == Reason(Cause.CONSTANT, of="scores")


def fails(words: str, *arguments: object, **options: object) -> None:
    with pytest.raises(InputError, match=words):
        difference_metrics(*arguments, **options)  # type: ignore[arg-type]


def test_input_that_cannot_be_used() -> None:
    y, x = simulated(20)
    people, models, _ = people_and_metrics()
    fails("no predictions", y)
    fails("got ratings and an array", people, x)
    fails("expected scores of shape", y, x[:, :5])
    fails("2 different names", y, x, names=["a", "a"])
    fails("infinite", y, np.where(x > 0.9, np.inf, x))
    fails("unknown metric 'spearman'", y, x, metrics=["spearman"])
    fails("metrics is empty", y, x, metrics=[])
    fails("unknown score", people, models, score="median")
    fails("one for each of 20", y, x, by={"actor": [1, 2]})
    fails("which arrays lack", y, x, by=["actor"])
    fails("unknown attribute 'actor'", y, x, cluster="actor")
    fails("all items belong to one", y, x, cluster=np.zeros(20))
    fails("item 0 belongs to none", y, x, cluster=[None] * 20)
    fails("did you mean 'actor'", people, models, by=["actr"])
    fails("no labels", people, models, label="joy")
    fails("needs the ratings of people", y, x, ceiling=True)
    fails("n_boot -1", y, x, n_boot=-1)
    fails("confidence", y, x, confidence=95)
    fails("no rater is a model", people)
    fails("both a score and a prediction", np.full(20, np.nan), x)
    nominal = Ratings(
        {"stimulus": ["p0", "p1"], "rater": ["w", "w"], "value": ["a", "b"]}, scale="nominal:a,b"
    )
    fails("needs answers in an order", nominal, models)
    found = difference_metrics(y, x, n_boot=0)
    with pytest.raises(InputError, match="no replicates"):
        found.compare()
    drawn = difference_metrics(y, x[0], n_boot=10, seed=0)
    with pytest.raises(InputError, match="no two raters"):
        drawn.compare()


def test_missing_attributes_make_no_group() -> None:
    y, x = simulated(30)
    found = difference_metrics(y, x, by={"kind": [None if k < 10 else "intra" for k in range(30)]})
    assert found.settings["groups"] == ("all", "kind=intra")
    assert found["0", "kind=intra", "srocc"].n_items == 20


def test_control_runs_are_left_out() -> None:
    stimuli = [f"s{k}" for k in range(12)]
    people = Ratings(
        {"stimulus": stimuli * 2, "rater": ["a"] * 12 + ["b"] * 12, "value": [*range(12)] * 2},
        scale="0-100",
    )
    models = Ratings(
        {
            "stimulus": stimuli * 2,
            "rater": ["vlm"] * 12 + ["vlm-blind"] * 12,
            "value": [*range(12), *([5] * 12)],
        },
        scale="0-100",
        raters={
            "rater": ["vlm", "vlm-blind"],
            "rater_kind": ["model", "model"],
            "control": ["none", "no_image"],
            "of": [None, "vlm"],
        },
    )
    found = difference_metrics(people, models)
    assert found.settings["raters"] == ("vlm",)
    assert found.notes[0] == "1 control run not judged: vlm-blind"


def test_intra_inter_and_actors_as_published() -> None:
    """Groups of face-expressions-70k: each equals the same metric on its rows alone."""
    y, x = simulated(240, m=2, seed=3)
    kind = np.array(["intra", "inter"])[np.arange(240) % 2]
    actor = np.arange(240) // 30 + 1
    by = {"kind": kind.tolist(), "actor": actor.tolist(), "split": (actor > 6).tolist()}
    found = difference_metrics(y, x, names=["FaRL", "blendshapes"], by=by)
    groups = ["all", "kind=inter", "kind=intra", *(f"actor={k}" for k in range(1, 9))]
    assert found.settings["groups"] == (*groups, "split=False", "split=True")
    for rater, row in zip(found.settings["raters"], x, strict=True):
        for group, kept in (("kind=intra", kind == "intra"), ("actor=7", actor == 7)):
            plain = by_scipy(row[kept], y[kept])
            for name in ("srocc", "plcc", "kendall", "rmse"):
                assert found[rater, group, name].value == pytest.approx(plain[name])
