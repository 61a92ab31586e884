"""One procedure for the uncertainty of all statistics, tried on what is known by hand."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Formula, IntervalFact, Reason
from affectlab.core.inference import infer
from affectlab.core.jackknife import Jackknife, LeaveOneOut, of_variance
from affectlab.core.statistic import (
    STIMULI_AND_RATERS,
    Clusters,
    Design,
    Draws,
    Statistic,
    Sums,
    from_sums,
)
from affectlab.ratings import Ratings
from affectlab.ratings.answers.arrays import answers_of
from affectlab.reliability import (
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
)
from affectlab.reliability.agreement import load_coefficient, load_coefficients

STIMULI = IntervalFact("jackknife", ("stimuli",))
BOTH = IntervalFact("jackknife", ("stimuli", "raters"))


def mean_statistic(columns: dict[str, np.ndarray]) -> Statistic:
    """The mean of the values that are there, of several rows over the same stimuli."""
    n = len(next(iter(columns.values())))
    units = [np.flatnonzero(~np.isnan(column)) for column in columns.values()]
    parts = [
        Sums(
            np.stack([column[unit], np.ones(unit.size)]).T,
            lambda totals: totals[:, 0] / totals[:, 1],
            unit,
        )
        for unit, column in zip(units, columns.values(), strict=True)
    ]
    return from_sums(
        parts,
        Design.of(units, n, [np.array([0])] * len(units), 1),
        keys={"of": list(columns)},
        bounds=(-np.inf, np.inf),
        targets=("stimuli",),
        method=["mean"] * len(units),
        n_items=[unit.size for unit in units],
        n_raters=[1] * len(units),
        n_ratings=[unit.size for unit in units],
        undefined=Reason(Cause.NONE, of="values"),
    )


@pytest.fixture
def values() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(2)
    gaps = rng.gamma(2, size=30)
    gaps[::4] = np.nan
    return {"b": rng.gamma(2, size=30), "a": gaps}


def test_formula_and_leaving_out_give_the_error_of_a_mean(values) -> None:
    for interval in ("analytic", "jackknife"):
        table = infer(mean_statistic(values), interval=interval, confidence=0.9)
        for name, column in values.items():
            known = column[~np.isnan(column)]
            se = stats.sem(known)
            half = stats.t.ppf(0.95, known.size - 1) * se
            row = table[name]
            assert row.se == pytest.approx(se, rel=1e-12)
            assert (row.low, row.high) == pytest.approx((row.value - half, row.value + half))
            assert row.n_items == known.size
    assert table["a"].target == "stimuli"
    assert (table["a"].statistic, table["a"].interval) == ("mean", STIMULI)


def test_linearised_error_is_the_delta_method() -> None:
    """Of a ratio of means, which is no mean."""
    rng = np.random.default_rng(3)
    x, y = rng.gamma(3, size=50), rng.gamma(5, size=50)
    ratio = Sums(np.stack([x, y]).T, lambda totals: totals[:, 0] / totals[:, 1], np.arange(50))
    r = x.mean() / y.mean()
    assert ratio.error() == pytest.approx(np.std(x - r * y, ddof=1) / y.mean() / np.sqrt(50))
    assert ratio.influence().sum() == pytest.approx(0, abs=1e-12)


def test_replicates_are_weights_of_the_same_draws(values) -> None:
    statistic = mean_statistic(values)
    table = infer(statistic, n_boot=50, seed=4)
    rng = np.random.default_rng(4)
    drawn = rng.integers(0, 30, size=(50, 30), dtype=np.int32)
    for place, column in enumerate(values.values()):
        expected = [np.nanmean(column[rows]) for rows in drawn]
        np.testing.assert_allclose(table.replicates[:, place], expected)
    assert table["b"].low == pytest.approx(np.quantile(table.replicates[:, 0], 0.025))
    # Rows that do not share draws take theirs in the order of their names.
    apart = infer(statistic, n_boot=50, seed=4, joint=False)
    assert not apart.joint
    np.testing.assert_allclose(apart.replicates[:, 1], table.replicates[:, 1])
    assert np.abs(apart.replicates[:, 0] - table.replicates[:, 0]).min() > 0


def test_draws_do_not_depend_on_blocks(values) -> None:
    statistic = mean_statistic(values)
    whole = infer(statistic, n_boot=40, seed=1).replicates
    blocks = infer(replace(statistic, n_rows=7), n_boot=40, seed=1).replicates
    np.testing.assert_allclose(whole, blocks, rtol=1e-12)


@pytest.mark.parametrize("cluster", [False, True])
def test_totals_of_every_kind_of_row(cluster: bool) -> None:
    rng = np.random.default_rng(5)
    sums = rng.normal(size=(6, 3))
    unit = np.array([0, 2, 2, 1, 0, 1]) if cluster else np.arange(6)
    n = int(unit.max()) + 1
    weights = rng.integers(0, 3, (4, n)).astype(float)
    drawn = Draws(4, stimulus=weights).totals(sums, unit, n)
    np.testing.assert_allclose(drawn, weights[:, unit] @ sums)
    without = Draws(n, without=np.arange(n))
    expected = np.array([sums[unit != k].sum(axis=0) for k in range(n)])
    np.testing.assert_allclose(without.totals(sums, unit, n), expected)
    np.testing.assert_allclose(without.weights(n), 1 - np.eye(n))
    for rows, block in without.blocks(2):
        np.testing.assert_allclose(block.totals(sums, unit, n), expected[rows])


@pytest.mark.parametrize("function", [fleiss_kappa, gwet_ac])
@pytest.mark.parametrize("weights", ["nominal", "quadratic"])
def test_weights_of_raters_are_those_of_raters_left_out(function, weights: str) -> None:
    rng = np.random.default_rng(6)
    data = np.clip(rng.integers(0, 4, 25) + rng.integers(-1, 2, (5, 25)), 0, 3).astype(float)
    data[rng.random(data.shape) < 0.2] = np.nan
    statistic = function.coefficient.statistic(answers_of(data), weights=weights, scale="0-3")
    rater = np.ones((5, 5)) - np.eye(5)
    found = statistic.evaluate(Draws(5, rater=rater))[:, 0]
    expected = [
        function(np.delete(data, k, axis=0), weights=weights, scale="0-3").value for k in range(5)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    both = statistic.evaluate(
        Draws(1, stimulus=np.array([[2.0] * 10 + [0.0] * 15]), rater=np.ones((1, 5)))
    )
    alone = function(np.tile(data[:, :10], 2), weights=weights, scale="0-3").value
    assert both[0, 0] == pytest.approx(alone, abs=1e-12)


def test_raters_drawn_tell_more_than_units_where_they_differ() -> None:
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 3, 400)
    careful = rng.random((6, 400)) < np.array([0.95, 0.95, 0.9, 0.5, 0.3, 0.2])[:, None]
    data = np.where(careful, truth, rng.integers(0, 3, (6, 400)))
    options = {"scale": "0-2", "interval": "percentile", "n_boot": 200}
    wide, narrow = (gwet_ac(data, target=over, **options).se for over in ("raters", "stimuli"))
    assert wide > 3 * narrow
    by_formula = gwet_ac(data, scale="0-2", interval="analytic", target="stimuli").se
    assert by_formula == pytest.approx(narrow, rel=0.2)
    assert gwet_ac(data, scale="0-2").se > wide


def test_what_cannot_be_asked_for(values) -> None:
    statistic = mean_statistic(values)
    for options, said in (
        ({"interval": "basic"}, "interval"),
        ({"target": "everything"}, "target"),
        ({"n_boot": -1}, "n_boot"),
        ({"confidence": 1.0}, "confidence"),
        ({"target": "raters"}, "not possible for mean; expected 'stimuli'"),
        ({"target": "raters", "interval": "analytic"}, "expected it with target 'stimuli'"),
    ):
        with pytest.raises(InputError, match=said):
            infer(statistic, **options)
    with pytest.raises(InputError, match="no formula gives it"):
        krippendorff_alpha(
            [[1, 2, 3], [1, 2, 2]], level="nominal", interval="analytic", target="stimuli"
        )


def test_jackknife_of_alpha_is_that_by_hand() -> None:
    rng = np.random.default_rng(8)
    data = rng.normal(size=20) + rng.normal(0, 0.6, (3, 20))
    found = krippendorff_alpha(data, level="interval", target="stimuli")
    left_out = np.array(
        [
            krippendorff_alpha(np.delete(data, u, axis=1), level="interval", target="sample").value
            for u in range(20)
        ]
    )
    se = np.sqrt(19 / 20 * ((left_out - left_out.mean()) ** 2).sum())
    assert found.se == pytest.approx(se, rel=1e-9)
    # On the scale of Fisher's z of three answers, around the value less its bias.
    share = (found.value + 0.5) / 1.5
    slope = 1 / (1.5 * share * (1 - share))
    middle = logit(share) - slope * 19 * (left_out.mean() - found.value)
    half = slope * stats.t.ppf(0.975, 19) * se
    assert found.low == pytest.approx(1.5 * expit(middle - half) - 0.5)
    assert found.high == pytest.approx(1.5 * expit(middle + half) - 0.5)


def test_an_interval_holds_its_value() -> None:
    """Of four items, whose bias is larger than the interval is wide."""
    found = krippendorff_alpha([[1, 4, 6, 2], [1, 5, 6, 2], [2, 5, 6, 3]], level="ordinal")
    assert found.low <= found.value <= found.high


def test_pooled_alpha_leaves_whole_stimuli_out() -> None:
    """Labels are no further stimuli: given twice over, they tell nothing more of the skewness."""
    rng = np.random.default_rng(9)
    stimulus, rater = (part.ravel() for part in np.indices((25, 4)))
    value = np.rint(3 + rng.normal(size=25)[stimulus] + rng.normal(0, 0.5, 100)).clip(0, 7)
    one = {"stimulus": stimulus.astype(str), "rater": rater.astype(str), "value": value}
    two = {name: np.tile(column, 2) for name, column in one.items()}
    two["label"] = np.repeat(["joy", "fear"], 100)
    options = {"by_label": False, "interval": "bca", "n_boot": 400, "level": "nominal"}
    options["target"] = "stimuli"
    single, double = (
        krippendorff_alpha(Ratings(data, scale="0-7"), **options)["pooled"] for data in (one, two)
    )
    assert double.low == pytest.approx(single.low, abs=0.01)
    assert double.high == pytest.approx(single.high, abs=0.01)


@pytest.mark.parametrize(
    "name", [one.name for one in load_coefficients() if one.keys == ("label",)]
)
def test_every_coefficient_in_any_order_of_rows_and_by_every_interval(name: str) -> None:
    one = load_coefficient(name)
    rng = np.random.default_rng(10)
    stimulus, rater = (part.ravel() for part in np.indices((60, 4)))
    value = np.clip(stimulus % 4 + rng.integers(-1, 2, 240), 0, 3)
    order = rng.permutation(240)[:220]
    columns = {"stimulus": stimulus.astype(str), "rater": rater.astype(str), "value": value}
    tables = [
        Ratings({key: of[rows] for key, of in columns.items()}, scale="0-3")
        for rows in (order, np.sort(order))
    ]
    usual = one(tables[0], target="stimuli")["rating"]
    for interval in ("jackknife", "percentile", "bca"):
        options = {"interval": interval, "target": "stimuli", "n_boot": 400, "seed": 1}
        first, second = (one(table, **options)["rating"] for table in tables)
        for part in ("value", "se", "low", "high"):
            assert getattr(first, part) == pytest.approx(getattr(second, part), abs=1e-12)
        assert first.se == pytest.approx(usual.se, rel=0.15)
        assert first.low < first.value < first.high


def faces(seed: int = 11, n_actors: int = 12, n_faces: int = 10, n_raters: int = 6) -> np.ndarray:
    """Answers of shape (raters, faces): actors differ, and their faces, and raters."""
    rng = np.random.default_rng(seed)
    actor = np.repeat(np.arange(n_actors), n_faces)
    level = 3.5 + rng.normal(size=n_actors)[actor] + rng.normal(0, 0.7, actor.size)
    answers = level + rng.normal(0, 0.5, (n_raters, 1)) + rng.normal(size=(n_raters, actor.size))
    return np.clip(np.rint(answers), 0, 7)


def of_actors(n_actors: int = 12, n_faces: int = 10) -> Clusters:
    return Clusters.of("actor", np.repeat(np.arange(n_actors), n_faces).tolist())


def coefficients_of(data: np.ndarray) -> dict[str, Statistic]:
    """The statistic of every coefficient of which stimuli can be drawn."""
    answers = answers_of(data)
    made = {}
    for one in load_coefficients():
        if one.keys == ("label",):
            given = {"level": "interval", "scale": "0-7", "interval": "jackknife"}
            options = {}
            for name, part in list(signature(one.statistic).parameters.items())[1:]:
                options[name] = given.get(name, part.default)
            made[one.name] = one.statistic(answers, **options)
    return made


@pytest.mark.parametrize("name", sorted(coefficients_of(faces())))
def test_clusters_are_left_out_whole(name: str) -> None:
    """The error is that of leaving out the faces of one actor after the other, by hand."""
    data, actors = faces(), of_actors()
    whole = coefficients_of(data)[name]
    found = next(iter(infer(whole, interval="jackknife", clusters=actors)))[1]
    without = []
    for k in range(12):
        left = coefficients_of(data[:, actors.code != k])[name]
        without.append(left.evaluate(Draws(1))[0, 0])
    apart = np.array(without) - np.mean(without)
    assert found.se == pytest.approx(np.sqrt(11 / 12 * (apart**2).sum()), rel=1e-9)
    assert (found.target, found.interval) == ("actors", IntervalFact("jackknife", ("actors",)))
    both = next(iter(infer(whole, interval="jackknife", target="both", clusters=actors)))[1]
    raters = next(iter(infer(whole, interval="jackknife", target="raters", clusters=actors)))[1]
    assert both.se == pytest.approx(np.hypot(found.se, raters.se))
    assert (both.target, both.interval) == ("both", IntervalFact("jackknife", ("actors", "raters")))
    # What is about other raters alone does not draw faces.
    alone = next(iter(infer(whole, interval="jackknife", target="raters")))[1]
    assert (raters.low, raters.interval) == (alone.low, alone.interval)


@pytest.mark.parametrize("name", sorted(coefficients_of(faces())))
@pytest.mark.parametrize("interval", ["percentile", "bca"])
@pytest.mark.parametrize("target", ["stimuli", "both"])
def test_clusters_are_drawn_whole(name: str, interval: str, target: str) -> None:
    data, actors = faces(), of_actors()
    statistic = coefficients_of(data)[name]
    options = {"interval": interval, "target": target, "n_boot": 30, "seed": 3}
    found = infer(statistic, clusters=actors, **options)
    rng = np.random.default_rng(3)
    of_raters, of_actor = (None, rng) if target == "stimuli" else rng.spawn(2)
    rater = None if of_raters is None else of_raters.integers(0, 6, (30, 6), dtype=np.int32)
    drawn = of_actor.integers(0, 12, (30, 12), dtype=np.int32)
    for row in (0, 29):
        weight = np.bincount(drawn[row], minlength=12).repeat(10).astype(float)
        own = None if rater is None else np.bincount(rater[row], minlength=6).astype(float)[None]
        expected = statistic.evaluate(Draws(1, stimulus=weight[None], rater=own))[0, 0]
        assert found.replicates[row, 0] == pytest.approx(expected, abs=1e-12)
    ((_, one),) = found
    assert one.target == ("actors" if target == "stimuli" else "both")
    over = ("actors",) if target == "stimuli" else ("actors", "raters")
    assert replace(one.interval, undefined=0) == IntervalFact(interval, over, replicates=30)
    assert one.low < one.value < one.high


def test_stimuli_of_a_cluster_of_their_own_are_stimuli() -> None:
    data = faces()
    single = Clusters.of("face", [f"{k:03d}" for k in range(120)])
    for statistic in coefficients_of(data).values():
        for interval in ("jackknife", "percentile", "bca"):
            options = {"interval": interval, "n_boot": 20}
            plain, own = (infer(statistic, clusters=of, **options) for of in (None, single))
            for part in ("se", "low", "high"):
                first, second = (getattr(next(iter(of))[1], part) for of in (plain, own))
                assert first == pytest.approx(second, rel=1e-9)


def test_formula_of_clusters_is_that_of_their_sums(values) -> None:
    """A mean over clusters of equal size is the mean of their means."""
    x = values["b"]
    actors = of_actors(6, 5)
    found = infer(mean_statistic({"x": x}), interval="analytic", clusters=actors, confidence=0.9)[
        "x"
    ]
    means = x.reshape(6, 5).mean(axis=1)
    half = stats.t.ppf(0.95, 5) * stats.sem(means)
    assert found.se == pytest.approx(stats.sem(means))
    assert (found.low, found.high) == pytest.approx((x.mean() - half, x.mean() + half))
    assert found.target == "actors"
    assert found.interval == IntervalFact("analytic", ("actors",), formula=Formula.LINEARISED)
    alpha = coefficients_of(faces())["krippendorff_alpha"]
    with pytest.raises(InputError, match="drawn with their actors; expected another, or"):
        infer(alpha, interval="analytic", clusters=of_actors())


@pytest.mark.parametrize("interval", ["analytic", "jackknife", "percentile", "bca"])
def test_few_clusters_give_no_interval(values, interval: str) -> None:
    """Rows are counted by themselves: one has answers about four of five actors."""
    x = np.arange(30.0) % 7
    some = np.where(np.arange(30) < 24, x, np.nan)
    found = infer(
        mean_statistic({"all": x, "some": some}),
        interval=interval,
        n_boot=50,
        clusters=of_actors(5, 6),
    )
    assert found["all"].low < found["all"].value < found["all"].high
    assert np.isnan([found["some"].se, found["some"].low, found["some"].high]).all()
    assert found["some"].value == np.nanmean(some)
    assert found["some"].reason == Reason(Cause.FEW_UNITS, 4, 5, "actors")


def test_clusters_of_units_that_nobody_pairs_count_for_nothing() -> None:
    """Units with one answer are none of alpha's, and the actor of such faces is none, either."""
    data = faces()
    data[1:, :10] = np.nan
    alpha = coefficients_of(data)["krippendorff_alpha"]
    rest = coefficients_of(data[:, 10:])["krippendorff_alpha"]
    actors = of_actors()
    fewer = Clusters.of("actor", actors.code[10:].tolist())
    for interval in ("jackknife", "percentile"):
        options = {"interval": interval, "n_boot": 20}
        first = next(iter(infer(alpha, clusters=actors, **options)))[1]
        second = next(iter(infer(rest, clusters=fewer, **options)))[1]
        assert (first.se, first.low) == pytest.approx((second.se, second.low), abs=1e-12)


def test_many_clusters_are_left_out_in_groups() -> None:
    """Groups of two thousand clusters tell the error that the clusters do."""
    x = np.repeat(np.random.default_rng(12).gamma(2, size=2000), 3)
    pairs = of_actors(2000, 3)
    found = infer(mean_statistic({"x": x}), interval="jackknife", clusters=pairs)
    assert found.jackknife.parts[0].values.shape == (1000, 1)
    assert found["x"].se == pytest.approx(stats.sem(x[::3]), rel=0.1)


def test_alike_stimuli_have_no_clusters_of_their_own() -> None:
    statistic = replace(mean_statistic({"x": np.arange(5.0)}), times=np.ones(5, np.int64))
    with pytest.raises(InputError, match="cluster 'actor': not possible for mean"):
        infer(statistic, clusters=Clusters(np.arange(5), 5, "actor"))


def crossed(values: np.ndarray, **more: object) -> Statistic:
    """The mean of a table of stimuli by raters, and its square."""
    n, p = values.shape

    def evaluate(draws: Draws) -> np.ndarray:
        people = np.ones((draws.n_rows, p)) if draws.rater is None else draws.rater
        weights = draws.weights(n)
        mean = ((weights @ values) * people).sum(axis=1) / (
            weights.sum(axis=1) * people.sum(axis=1)
        )
        both = np.column_stack([mean, mean**2])
        return both if draws.columns is None else both[:, draws.columns]

    return Statistic(
        keys={"of": ["mean", "square"]},
        design=Design(np.ones((2, n), np.bool_), np.ones((2, p), np.bool_)),
        evaluate=evaluate,
        method=["mean", "square"],
        n_items=[n] * 2,
        n_raters=[p] * 2,
        n_ratings=[n * p] * 2,
        undefined="",
        bounds=(-np.inf, np.inf),
        targets=STIMULI_AND_RATERS,
        **more,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(("n", "p"), [(20, 6), (12, 20), (60, 5), (45, 33)])
def test_single_answers_are_taken_off_once(n: int, p: int) -> None:
    """Of a mean over stimuli and raters the variance is known: that of an analysis of variance."""
    rng = np.random.default_rng(n)
    values = rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=p) + 2 * rng.normal(size=(n, p))
    stimulus, rater = values.mean(axis=1), values.mean(axis=0)
    rest = values - stimulus[:, None] - rater + values.mean()
    parts = (
        stimulus.var(ddof=1) / n,
        rater.var(ddof=1) / p,
        (rest**2).sum() / ((n - 1) * (p - 1)) / (n * p),
    )
    added = infer(crossed(values), interval="jackknife", target="both")
    once = infer(crossed(values, answers_once=True), interval="jackknife", target="both")
    assert added["mean"].se ** 2 == pytest.approx(parts[0] + parts[1], rel=0.02)
    # Of more than 20 stimuli, or raters, groups are left out, which tell as much on average.
    slack = 1e-9 if max(n, p) <= 20 else 0.25
    expected = max(parts[0] + parts[1] - parts[2], *parts[:2])
    assert once["mean"].se ** 2 == pytest.approx(expected, rel=slack)
    assert once["mean"].se < added["mean"].se
    assert once["mean"].interval == BOTH
    assert once["mean"].target == "both"
    one_row = infer(
        crossed(values, answers_once=np.array([False, True])), interval="jackknife", target="both"
    )
    assert one_row["mean"].se == pytest.approx(added["mean"].se, rel=1e-12)
    assert one_row["square"].se == pytest.approx(once["square"].se, rel=1e-12)


def test_many_answers_are_left_out_in_fewer_groups_and_it_is_said() -> None:
    """Forty groups of stimuli tell the error that a hundred do, at a million answers or more."""
    values = np.random.default_rng(8).normal(size=(300, 30)) + np.linspace(0, 1, 30)
    asked = []
    statistic = crossed(values, n_groups=100, answers_once=True)
    counted = replace(
        statistic,
        evaluate=lambda draws: asked.append(draws.n_rows) or statistic.evaluate(draws),
    )
    few = infer(counted, interval="jackknife", target="both")
    assert sum(asked) == 1 + 100 + 30 + 21 * 21
    assert few["mean"].interval == BOTH
    asked.clear()
    many = infer(replace(counted, n_ratings=[10**6, 10]), interval="jackknife", target="both")
    assert sum(asked) == 1 + 40 + 30 + 11 * 11
    assert many["mean"].interval == replace(BOTH, n_groups=(40, 0))
    assert many["mean"].value == few["mean"].value
    assert many["mean"].se == pytest.approx(few["mean"].se, rel=0.15)
    actors = Clusters(np.arange(300) // 2, 150, "actor")
    of_actors = infer(
        replace(statistic, n_ratings=[10**6, 10]),
        interval="jackknife",
        target="both",
        clusters=actors,
    )["mean"]
    assert of_actors.interval == IntervalFact("jackknife", ("actors", "raters"), (40, 0))


def test_two_raters_leave_nothing_to_take_off() -> None:
    values = np.random.default_rng(4).normal(size=(15, 2))
    for target in ("both", "stimuli"):
        added, once = (
            infer(crossed(values, answers_once=flag), interval="jackknife", target=target)["mean"]
            for flag in (False, True)
        )
        assert once.se == pytest.approx(added.se, rel=1e-12)
        assert once.target == "stimuli"


def test_share_and_bias_of_a_jackknife() -> None:
    values = np.random.default_rng(5).normal(size=(15, 6))
    table = infer(crossed(values), interval="jackknife", target="both")
    jackknife = table.jackknife
    assert jackknife is not None
    of_raters = infer(crossed(values), interval="jackknife", target="raters")["mean"].se ** 2
    assert jackknife.share("raters")[0] == pytest.approx(of_raters / table["mean"].se ** 2)
    np.testing.assert_allclose(jackknife.share("raters") + jackknife.share("stimuli"), 1)
    assert jackknife.bias[0] == pytest.approx(0, abs=1e-12)
    # The square of a mean is too large by the variance of the mean.
    assert jackknife.bias[1] == pytest.approx(table["mean"].se ** 2, rel=1e-9)


@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
def test_kurtosis_tells_the_degrees_of_freedom_of_a_variance(share: float) -> None:
    """Yes or no answers of known kurtosis, against the spread of simulated variances."""
    n = 60
    count = np.random.default_rng(8).binomial(n, share, 400_000)
    variance = count * (n - count) / (n * (n - 1))
    simulated = 2 * variance.mean() ** 2 / variance.var()
    kurtosis = (1 - 3 * share * (1 - share)) / (share * (1 - share))
    found = of_variance(np.array([n / kurtosis]), np.array([n]))[0]
    assert found == pytest.approx(simulated, rel=0.02)


def test_degrees_of_freedom_by_kurtosis_are_few_where_few_stimuli_add() -> None:
    rng = np.random.default_rng(9)
    normal = rng.normal(0, 1, 100_000)
    x = np.stack([stats.norm.ppf((np.arange(50) + 0.5) / 50), rng.normal(0, 1, 50) ** 5], axis=1)
    part = LeaveOneOut("stimuli", x, np.ones(x.shape, bool), by_kurtosis=np.array([True, True]))
    even, uneven = part.degrees()
    assert 40 < even <= 49
    assert 4 <= uneven < 15
    assert replace(part, by_kurtosis=False).degrees().tolist() == [49, 49]
    wide = LeaveOneOut("stimuli", normal[:, None], np.ones((100_000, 1), bool), by_kurtosis=True)
    assert wide.degrees()[0] == pytest.approx(99_999, rel=0.05)
    rows = Jackknife(x.mean(axis=0), (part,)).of_all(lambda values: values[..., :1])
    assert rows.parts[0].degrees()[0] == even


@pytest.mark.parametrize("few", [False, True])
def test_spread_of_sums_of_rows(few: bool) -> None:
    """By the covariance of rows as by leaving out of each sum."""
    rng = np.random.default_rng(3)
    parts = tuple(
        LeaveOneOut(what, rng.normal(size=(n, 4)), np.ones((n, 4), np.bool_), times=times)
        for what, n, times in (
            ("stimuli", 7, rng.integers(1, 4, 7)),
            ("raters", 1 if few else 5, None),
            ("answers", 9, None),
        )
    )
    jackknife = Jackknife(rng.normal(size=4), parts, fewest_raters=2)
    contrasts = rng.normal(size=(4, 6))
    expected = jackknife.of_all(lambda values: values @ contrasts).spread()
    for own, plain in zip(jackknife.spread(contrasts), expected, strict=True):
        assert own == pytest.approx(plain, rel=1e-10, nan_ok=True)
