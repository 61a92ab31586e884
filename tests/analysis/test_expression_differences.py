"""Mean differences of expressions: known truth, plain versions, clusters, ranking, gaps."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import t as student
from tests.analysis.pair_tables import designed, inter_pair, intra_pair, table_of

from affectlab.analysis import expression_differences
from affectlab.analysis.expressions import wording
from affectlab.analysis.expressions.differences import adjusted, cells_of
from affectlab.analysis.labels import label_tree
from affectlab.analysis.pairs import pair_scores
from affectlab.core.errors import InputError
from affectlab.core.facts import Cause


def test_effects_of_actors_and_roles_are_taken_out_exactly() -> None:
    truth = designed(actor_sd=8, role_sd=6)
    found = expression_differences(truth.table, n_boot=0)
    np.testing.assert_allclose(found.matrix, truth.means, atol=1e-9)
    for told, true in ((found.actor_effects, truth.actors), (found.role_effects, truth.roles)):
        assert told == pytest.approx(true, abs=1e-9)
    plain = expression_differences(truth.table, n_boot=0, adjust=False)
    assert np.nanmax(np.abs(plain.matrix - truth.means)) > 2
    assert plain.actor_effects == plain.role_effects == {}


def test_adjusted_means_are_nearer_to_the_truth_with_noise() -> None:
    truth = designed(8, 15, 3, noise=6, interaction=5, actor_sd=6, seed=3)
    error = {}
    for adjust in (True, False):
        matrix = expression_differences(truth.table, n_boot=0, adjust=adjust).matrix
        error[adjust] = float(np.sqrt(np.nanmean((matrix - truth.means) ** 2)))
    assert error[True] < 0.8 * error[False]


def test_plain_means_by_hand() -> None:
    table = table_of(
        [
            inter_pair("ann", "joy", "awe", 20.0),
            inter_pair("ann", "awe", "joy", 30.0, role_a="middle"),
            inter_pair("bob", "joy", "awe", 45.0),
            inter_pair("bob", "joy", "fear", 90.0),
            intra_pair("bob", "joy", "peak", "neutral", 1.0),
        ]
    )
    found = expression_differences(table, adjust=False, n_boot=0)
    assert found.expressions == ("awe", "fear", "joy")
    frame = found.to_frame()
    # Each actor counts once: the mean of 25 and 45, not that of 20, 30 and 45.
    assert frame.rows() == [("awe", "joy", 35.0, 2, 3), ("fear", "joy", 90.0, 1, 1)]
    assert found.notes == (wording.not_compared(1, 3, ["awe"], filled=False),)
    assert found.clusters.reason is not None
    assert found.clusters.reason.cause is Cause.FEWER
    priority = {row["expression"]: row for row in found.priority.iter_rows(named=True)}
    assert priority["joy"]["value"] == pytest.approx((35 + 90) / 2)
    assert [priority[name]["n_others"] for name in ("awe", "fear", "joy")] == [1, 1, 2]
    assert [priority[name]["n_actors"] for name in ("awe", "fear", "joy")] == [2, 1, 2]
    assert found.priority["expression"].to_list() == ["awe", "joy", "fear"]
    assert found.priority["low"].is_nan().all()
    assert found.priority["target"].unique().to_list() == ["none"]


@st.composite
def cells(draw: st.DrawFn) -> pl.DataFrame:
    """Some pairs of some expressions on some actors, in any order of the two sides."""
    names, actors, roles = "abcde", ["x", "y", "z"], ["peak", "middle"]
    n = draw(st.integers(1, 40))
    rows = []
    for _ in range(n):
        first, second = draw(st.permutations(names))[:2]
        rows.append(
            inter_pair(
                draw(st.sampled_from(actors)),
                first,
                second,
                draw(st.floats(0, 100)),
                draw(st.sampled_from(roles)),
                draw(st.sampled_from(roles)),
            )
        )
    return table_of(rows)


@given(cells())
@settings(max_examples=60)
def test_cells_equal_a_plain_version(table: pl.DataFrame) -> None:
    found = expression_differences(table, adjust=False, n_boot=0)
    plain: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in table.iter_rows(named=True):
        key = tuple(sorted((row["expression_a"], row["expression_b"])))
        plain.setdefault(key, {}).setdefault(row["actor"], []).append(row["value"])
    frame = found.to_frame()
    assert frame.height == len(plain)
    for row in frame.iter_rows(named=True):
        own = plain[row["expression_a"], row["expression_b"]]
        assert row["value"] == pytest.approx(np.mean([np.mean(part) for part in own.values()]))
        assert row["n_actors"] == len(own)
        assert row["n_pairs"] == sum(map(len, own.values()))


@given(cells())
@settings(max_examples=60)
def test_adjustment_is_least_squares(table: pl.DataFrame) -> None:
    """Fitted cells equal those of dummy variables, whatever the design can tell apart."""
    made = cells_of(pair_scores(table), adjust=False)
    mean, effect = adjusted(made, made.asked, np.ones(len(made.actors)))
    pairs, actors = np.nonzero(made.n_pairs)
    design = np.zeros((pairs.size, made.first.size + len(made.actors)))
    design[np.arange(pairs.size), pairs] = 1
    design[np.arange(pairs.size), made.first.size + actors] = 1
    y = made.value[pairs, actors]
    fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    np.testing.assert_allclose(mean[pairs] + effect[actors], fitted, atol=1e-6)
    assert effect.sum() == pytest.approx(0, abs=1e-8)


def test_a_full_design_needs_no_adjustment() -> None:
    rng = np.random.default_rng(0)
    table = table_of(
        [
            inter_pair(actor, a, b, rng.uniform(0, 100), role_a, role_b)
            for actor in "xyz"
            for a, b in ("jk", "jl", "kl")
            for role_a in ("peak", "middle")
            for role_b in ("peak", "middle")
        ]
    )
    both = [
        expression_differences(table, adjust=adjust, n_boot=0).matrix for adjust in (True, False)
    ]
    np.testing.assert_allclose(both[0], both[1])


def test_actors_without_a_link_are_told() -> None:
    table = table_of(
        [
            inter_pair("x", "a", "b", 20.0),
            inter_pair("y", "c", "d", 60.0),
            inter_pair("y", "c", "e", 9.0),
        ]
    )
    found = expression_differences(table, n_boot=0)
    assert found.notes[0] == wording.not_linked(2)
    assert found.matrix[0, 1] == pytest.approx(20.0)


@pytest.mark.parametrize("groups", [2, 3, 5])
def test_planted_clusters_are_found_at_the_elbow(groups: int) -> None:
    truth = designed(6, 20, groups, noise=8, interaction=4, seed=groups)
    found = expression_differences(truth.table, n_boot=40, seed=0)
    assert found.clusters.k == groups
    of_name = {name: k % groups for k, name in enumerate(truth.expressions)}
    for names in found.clusters.members().values():
        assert len({of_name[name] for name in names}) == 1
    assert min(found.clusters.stability().values()) > 0.95
    assert found.clusters.n_boot == 40
    assert found.clusters.chosen == "elbow"
    assert found.clusters.scores[groups] == max(found.clusters.scores.values())
    assert expression_differences(truth.table, n_boot=0, k="silhouette").clusters.k == groups
    assert expression_differences(truth.table, n_boot=0, k=4).clusters.k == 4


def test_the_elbow_is_the_largest_bend() -> None:
    found = expression_differences(designed(4, 12, 4).table, n_boot=0)
    elbow = found.elbow
    height = elbow["height"].to_list()
    assert elbow["n_clusters"].to_list() == list(range(2, 13))
    assert height == sorted(height, reverse=True)
    for k in range(len(height) - 1):
        line = 1 - (k + 1) / len(height)
        assert elbow["bend"][k] == pytest.approx(line - height[k + 1] / height[0])
    assert elbow["n_clusters"][int(elbow["bend"].fill_nan(-math.inf).arg_max())] == found.clusters.k


def test_near_twins_make_no_elbow() -> None:
    # Of 12 expressions in three groups, two are all but alike: the first joining is very low.
    place = np.array([0.0, 0.1, 9, 12, 100, 107, 111, 118, 200, 206, 213, 219])
    distance = np.abs(place[:, None] - place[None, :])
    found = label_tree(
        tuple("abcdefghijkl"), distance, (), linkage="average", k="elbow", method="", undefined=""
    )
    assert (found.k, found.chosen) == (3, "elbow")


@pytest.mark.parametrize("method", ["average", "complete", "single", "ward"])
def test_clusters_are_those_of_scipy(method: str) -> None:
    found = expression_differences(designed(4, 14, 3, noise=9).table, n_boot=0, linkage=method, k=5)
    distance = np.nan_to_num(found.matrix)
    tree = linkage(squareform(distance, checks=False), method)
    np.testing.assert_allclose(found.clusters.linkage[:, 2], tree[:, 2])
    expected = fcluster(tree, 5, "maxclust")
    own = dict(zip(found.clusters.labels, found.clusters.cluster, strict=True))
    for i, first in enumerate(found.expressions):
        for j, second in enumerate(found.expressions):
            assert (own[first] == own[second]) == (expected[i] == expected[j])


def gappy() -> pl.DataFrame:
    """Joy and awe were never compared; the rest follows from one effect for each expression."""
    effect = {"joy": 10, "awe": 14, "fear": 30, "rage": 33}
    return table_of(
        [
            inter_pair(actor, a, b, effect[a] + effect[b] + level)
            for actor, level in (("x", -2.0), ("y", 2.0))
            for a in effect
            for b in effect
            if a < b and {a, b} != {"joy", "awe"}
        ]
    )


def test_missing_cells_leave_out_or_are_filled() -> None:
    left = expression_differences(gappy(), n_boot=0)
    assert left.clusters.left_out == ("awe",)
    assert left.clusters.labels == ("fear", "joy", "rage")
    assert left.priority.filter(expression="awe")["cluster"].to_list() == [None]
    assert left.notes == (wording.not_compared(1, 6, ["awe"], filled=False),)
    filled = expression_differences(gappy(), n_boot=10, missing="fill", k=2, seed=0)
    assert filled.clusters.left_out == ()
    assert filled.clusters.n_boot == 10
    # 10 + 14 is the nearest two, and the matrix still says that nobody was asked.
    assert filled.clusters.linkage[0, 2] == pytest.approx(24)
    assert math.isnan(filled.matrix[0, 2])
    assert filled.notes[0] == wording.not_compared(1, 6, [], filled=True)


@pytest.mark.long
def test_errors_over_actors_are_those_of_a_loop() -> None:
    truth = designed(5, 6, 2, noise=5, seed=1)
    found = expression_differences(truth.table, n_boot=2000, seed=0, adjust=False)
    made = cells_of(pair_scores(truth.table).inter(), adjust=False)
    rng = np.random.default_rng(5)
    drawn = []
    for _ in range(1500):
        weight = rng.dirichlet(np.ones(5))
        rows = []
        for k in range(6):
            means = [
                np.average(made.value[p][made.n_pairs[p] > 0], weights=weight[made.n_pairs[p] > 0])
                for p in np.flatnonzero((made.first == k) | (made.second == k))
            ]
            rows.append(np.mean(means))
        drawn.append(rows)
    spread = dict(zip(truth.expressions, np.std(drawn, axis=0, ddof=1), strict=True))
    for row in found.priority.iter_rows(named=True):
        assert row["se"] == pytest.approx(spread[row["expression"]] * math.sqrt(6 / 4), rel=0.12)
        half = student.ppf(0.975, 4) * row["se"]
        assert row["low"] == pytest.approx(row["value"] - half)
        assert row["high"] == pytest.approx(row["value"] + half)


def test_the_level_of_actors_does_not_count_between_expressions() -> None:
    truth = designed(6, 8, 2, noise=1, actor_sd=15)
    found = expression_differences(truth.table, n_boot=200, seed=0).priority
    width = (found["high"] - found["low"]).mean()
    relative = (found["relative_high"] - found["relative_low"]).mean()
    assert relative < 0.1 * width
    assert found["relative"].mean() == pytest.approx(0, abs=1e-9)


def test_ranking_of_care() -> None:
    effect = {name: 10.0 * k for k, name in enumerate("abcdef")}
    rng = np.random.default_rng(0)
    table = table_of(
        [
            inter_pair(actor, a, b, 20 + effect[a] + effect[b] + rng.normal(0, 3))
            for actor in ("x", "y", "z")
            for a in effect
            for b in effect
            if a < b
        ]
    )
    for resample in ("actors", "pairs"):
        found = expression_differences(table, n_boot=200, seed=1, resample=resample)
        priority = found.priority
        assert priority["expression"].to_list() == list("abcdef")
        assert priority["rank"].to_list() == [1, 2, 3, 4, 5, 6]
        assert (
            priority["rank_low"].to_list() == priority["rank_high"].to_list() == [1, 2, 3, 4, 5, 6]
        )
        assert (priority["low"] < priority["value"]).all()
        assert (priority["value"] < priority["high"]).all()
        assert priority["target"].unique().to_list() == [resample]
        again = expression_differences(table, n_boot=200, seed=1, resample=resample)
        assert again.priority.equals(priority)


def test_ranks_hold_with_four_actors() -> None:
    """People differ in how strongly they make an expression; the ranks allow for it."""
    n, actors = 8, 4
    held = []
    wide = 0
    for seed in range(15):
        rng = np.random.default_rng([5, seed])
        effect = rng.permutation(np.linspace(0, 8, n))
        own = rng.normal(0, 4, (actors, n))
        rows = [
            inter_pair(
                f"a{a}", f"e{i}", f"e{j}",
                float(50 + effect[i] + effect[j] + own[a, i] + own[a, j] + rng.normal(0, 2)),
            )
            for a in range(actors) for i in range(n) for j in range(i)
        ]  # fmt: skip
        found = expression_differences(table_of(rows), n_boot=150, seed=seed).priority
        ranks = {f"e{k}": 1 + int((effect < effect[k]).sum()) for k in range(n)}
        for row in found.iter_rows(named=True):
            held.append(row["rank_low"] <= ranks[row["expression"]] <= row["rank_high"])
            wide += row["rank_high"] - row["rank_low"]
    assert np.mean(held) >= 0.9
    # An interval of all ranks would hold, too.
    assert wide / len(held) < 0.8 * (n - 1)


def test_a_tree_without_groups_is_told() -> None:
    groups = designed(4, 12, 3, noise=1)
    found = expression_differences(groups.table, n_boot=0)
    assert wording.no_elbow(found.clusters.k, 12) not in found.notes
    alike = designed(4, 12, 12, noise=1, actor_sd=0, role_sd=0, between=70)
    found = expression_differences(alike.table, n_boot=0)
    assert wording.no_elbow(found.clusters.k, 12) in found.notes
    given = expression_differences(alike.table, n_boot=0, k=3)
    assert wording.no_elbow(3, 12) not in given.notes


def test_one_actor_has_no_interval_over_actors() -> None:
    table = designed(1, 6, 2, noise=4).table
    found = expression_differences(table, n_boot=50, seed=0)
    assert set(found.priority["reason"]) == {Cause.SINGLE_UNIT}
    assert found.priority["low"].is_nan().all()
    over_pairs = expression_differences(table, n_boot=50, seed=0, resample="pairs").priority
    assert set(over_pairs["reason"]) == {Cause.NO_VARIATION}
    assert over_pairs["low"].is_nan().all()


def test_errors_over_pairs_are_those_of_the_cells() -> None:
    """With cells of one variance, the error of a mean of means is known."""
    truth = designed(8, 12, 3, noise=0, interaction=5, actor_sd=0, role_sd=0, seed=2)
    found = expression_differences(truth.table, n_boot=500, seed=0, resample="pairs", adjust=False)
    # Eleven others, four actors each.
    expected = 5 / math.sqrt(11 * 4)
    assert found.priority["se"].mean() == pytest.approx(expected, rel=0.1)
    row = found.priority.row(0, named=True)
    half = student.ppf(0.975, 11 * 3) * row["se"]
    assert row["high"] - row["value"] == pytest.approx(half)


@pytest.mark.long
def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    held = total = 0
    for seed in range(15):
        truth = designed(8, 8, 2, noise=4, interaction=6, actor_sd=0, seed=seed)
        expected = np.nanmean(truth.means, axis=1)
        found = expression_differences(truth.table, n_boot=80, seed=seed).priority
        for row in found.iter_rows(named=True):
            own = expected[truth.expressions.index(row["expression"])]
            held += row["low"] <= own <= row["high"]
            total += 1
    assert 0.9 < held / total <= 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"linkage": "centroid"}, "unknown linkage 'centroid'"),
        ({"missing": "zero"}, "unknown way to treat missing cells 'zero'"),
        ({"resample": "raters"}, "unknown kind of resampling 'raters'"),
        ({"n_boot": -1}, "n_boot = -1: expected a whole number from 0 on"),
        ({"confidence": 1.0}, "expected a share between 0 and 1"),
        ({"k": 99}, "expected 1 to 9 clusters of 9 labels"),
        ({"k": "gap"}, "unknown way to choose k 'gap'"),
    ],
)
def test_bad_options(options: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        expression_differences(designed().table, **{"n_boot": 0, **options})


def test_no_inter_pairs() -> None:
    with pytest.raises(InputError, match="there are no pairs of two expressions"):
        expression_differences(table_of([intra_pair("a", "joy", "peak", "neutral", 3.0)]))
