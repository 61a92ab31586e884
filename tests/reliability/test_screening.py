"""Screening: evidence by hand, recovery of planted raters, policies as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, StepKind, step
from affectlab.reliability import list_policies, load_policy, screen
from affectlab.reliability.screening.wording import NO_SESSIONS, Gap, Unjudged, judged_nobody
from affectlab.simulate import simulate_raters, simulate_truth
from affectlab.simulate.raters import rater_profile


def session(
    name: str,
    rater: str = "r1",
    *,
    values: list[float] | None = None,
    golden: list[float] | None = None,
    repeats: list[float] | None = None,
    movement: list[float] | None = None,
    first: int = 0,
) -> pl.DataFrame:
    """One session: ten main trials; golden answers (known: 50) and repeats as given."""
    values = values or [0, 10, 20, 30, 40, 60, 70, 80, 90, 100]
    rows: list[dict[str, Any]] = [
        {"stimulus": f"s{first + n:03d}", "value": float(value), "trial_kind": "main"}
        for n, value in enumerate(values)
    ]
    rows += [
        {"stimulus": f"g{n}", "value": float(value), "trial_kind": "golden"}
        for n, value in enumerate(golden or [])
    ]
    rows += [
        {"stimulus": f"s{first + n:03d}", "value": float(value), "trial_kind": "repeat"}
        for n, value in enumerate(repeats or [])
    ]
    frame = pl.DataFrame(rows).with_columns(rater=pl.lit(rater), session=pl.lit(name))
    frame = frame.with_columns(trial=pl.int_range(1, pl.len() + 1))
    if movement is not None:
        filled = movement + [50.0] * (frame.height - len(movement))
        frame = frame.with_columns(movement=pl.Series(filled))
    return frame


FACES = "faceexpressions"
GOLDEN = {f"g{n}": 50.0 for n in range(5)}


def ratings(*frames: pl.DataFrame, scale: str = "0-100 interval") -> Ratings:
    return Ratings(pl.concat(frames, how="diagonal"), scale=scale)


def only(result: Any) -> dict[str, Any]:
    (row,) = result.to_frame().to_dicts()
    return dict(row)


class TestFaceExpressions:
    def test_a_sound_session_passes(self) -> None:
        table = ratings(session("a", golden=[50, 60, 40, 74, 26], repeats=[5, 12, 24, 28, 44]))
        row = only(screen(table, policy=FACES, golden=GOLDEN))
        assert (row["pay"], row["use"], row["block"]) == (True, True, False)
        assert row["rules"] == []
        assert row["evidence"] == ""
        assert row["n_ratings"] == 10

    def test_equal_ratings(self) -> None:
        """SD of 52, 48, 52, … is 2; the limit is 5; the rater is blocked at once."""
        row = only(screen(ratings(session("a", values=[52, 48] * 5)), policy=FACES))
        assert (row["pay"], row["use"], row["block"]) == (False, False, True)
        assert row["rules"] == ["equal ratings"]

    def test_slider_that_hardly_moves(self) -> None:
        row = only(screen(ratings(session("a", movement=[3.0, 5.0] * 5)), policy=FACES))
        assert row["rules"] == ["still slider"]
        assert row["block"]

    def test_constant_movement_is_found_as_an_attribute(self) -> None:
        """A column with one value per rater becomes an attribute of the rater."""
        still = session("a").with_columns(movement=pl.lit(0.0))
        assert only(screen(ratings(still), policy=FACES))["rules"] == ["still slider"]

    @pytest.mark.parametrize(
        ("golden", "rejected"),
        [([25, 75, 75, 50, 50], True), ([25, 75, 74, 50, 50], False), ([0, 100, 0, 100, 0], True)],
    )
    def test_golden_trials(self, golden: list[float], rejected: bool) -> None:
        """25 off is a violation; three of five reject."""
        row = only(screen(ratings(session("a", golden=golden)), policy=FACES, golden=GOLDEN))
        assert row["pay"] is not rejected
        assert ("golden trials" in row["rules"]) is rejected
        assert not row["block"]

    def test_only_golden_trials_with_a_known_answer_are_judged(self) -> None:
        frame = session("a", golden=[0, 0, 50, 100, 100]).with_columns(
            expected=pl.when(~pl.col("stimulus").is_in(["g3", "g4"])).then(50.0)
        )
        (row,) = (
            screen(ratings(frame), policy=FACES)
            .evidence_frame()
            .filter(pl.col("rule") == "golden trials")
            .to_dicts()
        )
        assert (row["measure"], row["n"], row["violated"]) == (2, 3, False)

    @pytest.mark.parametrize(
        ("repeats", "rejected"),
        [([25, 35, 45, 30, 40], True), ([25, 35, 44, 30, 40], False)],
    )
    def test_repeats(self, repeats: list[float], rejected: bool) -> None:
        """Main answers are 0, 10, 20, 30, 40."""
        row = only(screen(ratings(session("a", repeats=repeats)), policy=FACES))
        assert row["pay"] is not rejected
        if rejected:
            assert "repeats" in row["rules"]

    def test_both_together(self) -> None:
        """Two of each are fine alone and four together are not."""
        table = ratings(session("a", golden=[0, 0, 50, 50, 50], repeats=[90, 90, 20, 30, 40]))
        row = only(screen(table, policy=FACES, golden=GOLDEN))
        assert row["rules"] == ["golden trials and repeats"]

    def test_five_rejected_sessions_block(self) -> None:
        bad = [session(f"s{n}", golden=[0] * 5, first=20 * n) for n in range(5)]
        good = session("s9", first=200, golden=[50] * 5)
        result = screen(ratings(*bad[:4], good), policy=FACES, golden=GOLDEN)
        assert result.blocked() == ()
        result = screen(ratings(*bad, good), policy=FACES, golden=GOLDEN)
        assert result.blocked() == ("r1",)
        assert result.raters_to_drop() == ()
        assert result.to_frame().filter("pay")["session"].to_list() == ["s9"]

    def test_a_batch_again_is_paid_and_not_used(self) -> None:
        result = screen(ratings(session("a"), session("b"), session("c", first=20)), policy=FACES)
        frame = result.to_frame()
        assert frame["pay"].to_list() == [True, True, True]
        assert frame["use"].to_list() == [True, False, True]

    def test_the_session_after_the_twentieth(self) -> None:
        sessions = [session(f"s{n:02d}", first=20 * n) for n in range(22)]
        frame = screen(ratings(*sessions), policy=FACES).to_frame()
        assert frame.filter(~pl.col("use"))["session"].to_list() == ["s20", "s21"]
        assert frame["pay"].all()

    def test_limits_follow_the_scale(self) -> None:
        """On 0-10 the SD below which ratings count as equal is 0.5."""
        for spread, rejected in ((0.4, True), (0.6, False)):
            values = [5 - spread, 5 + spread] * 5
            table = ratings(session("a", values=values), scale="0-10 interval")
            assert (only(screen(table, policy=FACES))["rules"] == ["equal ratings"]) is rejected
        table = ratings(session("a", values=[5.0, 5.1] * 5), scale="interval")
        result = screen(table, policy=FACES)
        assert only(result)["rules"] == []
        gaps = dict(result.evidence.select("rule", "gap").rows())
        assert gaps["equal ratings"] == Gap.LIMIT_IN_PERCENT
        no_limit = Unjudged(Gap.LIMIT_IN_PERCENT, "limit")
        assert result.notes[0] == judged_nobody("equal ratings", no_limit)

    def test_what_is_missing_is_said(self) -> None:
        result = screen(ratings(session("a").drop("session")), policy=FACES)
        assert result.per == "rater"
        assert result.notes[0] == NO_SESSIONS
        evidence = result.evidence_frame().filter(pl.col("rule") == "golden trials")
        assert evidence["violated"].to_list() == [None]
        assert evidence["verdicts"].to_list() == ["pay, use"]
        gaps = dict(result.evidence.select("rule", "gap").rows())
        assert gaps["still slider"] == Gap.NO_COLUMN

    def test_known_answers_from_a_column(self) -> None:
        frame = session("a", golden=[0] * 5).with_columns(
            expected=pl.when(pl.col("trial_kind") == "golden").then(50.0)
        )
        assert "golden trials" in only(screen(ratings(frame), policy=FACES))["rules"]


class TestApply:
    def test_leaves_out_sessions_and_says_so(self) -> None:
        table = ratings(session("a"), session("b", values=[50] * 10, first=30))
        result = screen(table, policy=FACES)
        kept = result.apply(table)
        assert kept.frame["session"].unique().to_list() == ["a"]
        facts = {"n": 1, "of": 2, "unit": "session", "rows": 10, "of_rows": 20}
        assert kept.history[-1] == step(StepKind.SCREENED, policy="faceexpressions", **facts)

    def test_leaves_out_raters(self) -> None:
        rng = np.random.default_rng(0)
        truth = rng.uniform(0, 100, 40)
        frames = [
            session(f"x{n}", f"r{n}", values=list(np.clip(truth + rng.normal(0, 5, 40), 0, 100)))
            for n in range(4)
        ]
        upside_down = session("y", "odd", values=list(100 - truth))
        table = ratings(*frames, upside_down)
        result = screen(table, policy="correlation")
        assert result.raters_to_drop() == ("odd",)
        assert "odd" not in result.apply(table).rater_names
        done = result.apply(table).history[-1]
        assert (done["n"], done["of"], done["unit"]) == (1, 5, "rater")

    @pytest.mark.parametrize(("kind", "dropped"), [("spearman", ()), ("pearson", ("odd",))])
    def test_a_curve_keeps_the_ranks(
        self, kind: str, dropped: tuple[str, ...], tmp_path: Path
    ) -> None:
        truth = np.geomspace(0.01, 100, 40)
        table = ratings(
            *(session(name, name, values=list(truth)) for name in ("a", "b", "c")),
            session("odd", "odd", values=list(np.linspace(0, 100, 40))),
        )
        path = tmp_path / "policy.toml"
        path.write_text(
            'name = "mine"\n[[rules]]\nname = "low"\ncheck = "correlation"\nbelow = 0.9\n'
            f'kind = "{kind}"\n[use]\nrules = ["low"]\n'
        )
        assert screen(table, policy=path).raters_to_drop() == dropped

    def test_nothing_left(self) -> None:
        table = ratings(session("a", values=[50] * 10))
        with pytest.raises(InputError, match="leaves no rating to use"):
            screen(table, policy=FACES).apply(table)

    def test_sessions_are_needed(self) -> None:
        table = ratings(session("a"))
        with pytest.raises(InputError, match="no column 'session'"):
            screen(table, policy=FACES).apply(ratings(session("a").drop("session")))


@pytest.fixture(scope="module")
def simulation() -> Any:
    presets = ("careful",) * 4 + ("average",) * 4 + ("generous", "stern")
    bad = ("lazy", "reversed", "straight_liner")
    raters = [
        rater_profile(preset, f"{preset}-{n}", scale="0-100")
        for n, preset in enumerate(presets + bad)
    ]
    truth = simulate_truth(150, "mikels", "0-100", seed=1)
    return simulate_raters(truth, raters, seed=2, golden=8, repeats=10)


class TestRecovery:
    def planted(self, simulation: Any) -> set[str]:
        return {rater.name for rater in simulation.profiles if not rater.attentive}

    def test_checks_find_the_planted_raters(self, simulation: Any) -> None:
        result = screen(simulation.ratings, policy=FACES, golden=simulation.golden)
        found = set(result.raters_to_drop())
        # Most labels are near 0 for most stimuli, where a lazy answer is not far off.
        assert {name for name in found if "lazy" not in name} == {
            name for name in self.planted(simulation) if "lazy" not in name
        }

    def test_correlation_finds_those_who_go_along_with_nobody(self, simulation: Any) -> None:
        found = set(screen(simulation.ratings, policy="correlation").raters_to_drop())
        assert found == {n for n in self.planted(simulation) if "lazy" not in n}

    def test_speed_and_runs_find_the_careless(self, simulation: Any, tmp_path: Path) -> None:
        path = tmp_path / "mine.toml"
        path.write_text(
            'name = "mine"\n[[rules]]\nname = "fast"\ncheck = "speed"\nbelow = 2000\n'
            '[[rules]]\nname = "run"\ncheck = "run"\nat_least = 30\nshare = 0.02\n'
            '[[rules]]\nname = "careless"\ncheck = "together"\nrules = ["fast", "run"]\n'
            'at_least = 2\n[use]\nrules = ["careless"]\n'
            '[pay]\nrules = ["fast", "run"]\nat_least = 2\n'
        )
        result = screen(simulation.ratings, policy=path)
        assert any(name.startswith("lazy") for name in result.raters_to_drop())
        assert not any(name.startswith("careful") for name in result.raters_to_drop())
        row = result.to_frame().filter(pl.col("rater").str.starts_with("straight")).to_dicts()[0]
        assert row["rules"] == ["fast", "run", "careless"]
        assert row["pay"] is row["use"] is False

    def test_slider_sessions_of_four_kinds_of_people(self) -> None:
        """Sessions of 190 pairs, 5 golden from both ends and 5 repeats, as published."""
        rng = np.random.default_rng(0)
        kinds = ["good"] * 40 + ["lazy"] * 20 + ["reversed"] * 10 + ["straight"] * 10
        known = {f"g{n}": value for n, value in enumerate([5.0, 10.0, 90.0, 95.0, 92.0])}
        frames = []
        for n, kind in enumerate(kinds):
            truth = rng.uniform(0, 100, 190)
            shown = np.concatenate([truth, list(known.values()), truth[:5]])
            answer = shown + rng.normal(0, 9, 200)
            if kind == "lazy":
                answer = np.where(rng.random(200) < 0.7, rng.uniform(0, 100, 200), answer)
            elif kind == "reversed":
                answer = 100 - answer
            elif kind == "straight":
                answer = rng.normal(50, 3, 200)
            values = np.clip(answer, 0, 100).tolist()
            frames.append(
                session(
                    "a",
                    f"{kind}{n}",
                    values=values[:190],
                    golden=values[190:195],
                    repeats=values[195:],
                )
            )
        result = screen(ratings(*frames), policy=FACES, golden=known)
        frame = result.to_frame().with_columns(kind=pl.col("rater").str.replace(r"\d+", ""))
        rejected = dict(frame.group_by("kind").agg((~pl.col("use")).mean()).iter_rows())
        assert rejected["good"] == 0
        assert rejected["lazy"] > 0.6
        assert rejected["reversed"] == rejected["straight"] == 1
        assert frame.filter("block")["kind"].unique().to_list() == ["straight"]

    def test_outliers_find_a_rater_who_errs_to_both_sides(self) -> None:
        """Of fewer than 22 raters none can be sqrt(20) SD from the mean."""
        rng = np.random.default_rng(0)
        sd = np.array([5.0] * 39 + [60.0])[:, None]
        matrix = rng.uniform(20, 80, 150) + sd * rng.standard_normal((40, 150))
        rater, stimulus = np.indices(matrix.shape).reshape(2, -1)
        names = [f"r{code}" for code in range(39)] + ["wild"]
        answers = Ratings(
            {
                "stimulus": [f"s{code}" for code in stimulus],
                "rater": [names[code] for code in rater],
                "value": matrix.ravel(),
            },
            scale="interval",
        )
        for policy in ("bt500", "p913"):
            result = screen(answers, policy=policy)
            assert result.raters_to_drop() == ("wild",)
            assert result.to_frame()["pay"].all()


class TestPolicies:
    def test_builtin_policies_load(self) -> None:
        for name in list_policies():
            policy = load_policy(name)
            assert policy.name == name
            assert policy.source

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ('name = "x"\nrules = []', "rules"),
            ('name = "x"\n[[rules]]\nname = "a"\ncheck = "spread"', "below' is missing"),
            ('name = "x"\n[[rules]]\nname = "a"\ncheck = "sprad"\nbelow = 1', "sprad"),
            (
                'name = "x"\n[[rules]]\nname="a"\ncheck="spread"\nbelow=1\n[use]\nrules=["b"]',
                "use: there is no rule 'b'",
            ),
            (
                'name = "x"\n[[rules]]\nname="a"\ncheck="together"\nrules=["b","c"]\nat_least=1',
                "there is no rule 'b' above it",
            ),
            (
                'name = "x"\n[[rules]]\nname="a"\ncheck="repeats"\ntolerance=1\nat_least=4\nof=3',
                "at_least 4 can never be reached of 3",
            ),
        ],
    )
    def test_errors_say_where(self, tmp_path: Path, text: str, message: str) -> None:
        path = tmp_path / "policy.toml"
        path.write_text(text)
        with pytest.raises(InputError, match=message) as caught:
            load_policy(path)
        assert "policy.toml" in str(caught.value)

    def test_unknown_names(self) -> None:
        table = ratings(session("a"))
        with pytest.raises(InputError, match="unknown policy 'bt50'; did you mean 'bt500'"):
            screen(table, policy="bt50")
        with pytest.raises(InputError, match="unknown per 'batch'"):
            screen(table, per="batch")
        with pytest.raises(InputError, match="golden table: column 'value' is missing"):
            screen(table, golden=pl.DataFrame({"stimulus": ["g0"]}))
        with pytest.raises(InputError, match="value 'much' is not a number"):
            screen(table, golden=pl.DataFrame({"stimulus": ["s000"], "value": ["much"]}))


def outlier_twin(matrix: np.ndarray, *, remove_bias: bool) -> list[bool]:
    """BT.500 rater by rater and stimulus by stimulus, as it is printed."""
    if remove_bias:
        bias = np.nanmean(matrix - np.nanmean(matrix, axis=0), axis=1)
        matrix = matrix - bias[:, None]
    rejected = []
    for i in range(matrix.shape[0]):
        p = q = n = 0
        for j in range(matrix.shape[1]):
            x = matrix[i, j]
            given_ratings = matrix[~np.isnan(matrix[:, j]), j]
            if np.isnan(x):
                continue
            n += 1
            if np.ptp(given_ratings) < 1e-9:
                continue
            mean, sd = given_ratings.mean(), given_ratings.std(ddof=1)
            apart = given_ratings - mean
            kurtosis = (apart**4).mean() / (apart**2).mean() ** 2
            wide = 2 if 2 <= kurtosis <= 4 else np.sqrt(20)
            p += x >= mean + wide * sd
            q += x <= mean - wide * sd
        rejected.append(bool(n and (p + q) / n > 0.05 and abs(p - q) / (p + q) < 0.3))
    return [False] * len(rejected) if all(rejected) else rejected


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.booleans())
def test_outliers_beside_a_slow_twin(seed: int, remove_bias: bool) -> None:
    rng = np.random.default_rng(seed)
    sd = np.where(rng.random(12) < 0.3, 30, 4)[:, None]
    matrix = rng.uniform(20, 80, 30) + sd * rng.standard_t(3, (12, 30))
    matrix[rng.random(matrix.shape) < 0.3] = np.nan
    rater, stimulus = np.nonzero(~np.isnan(matrix))
    table = Ratings(
        {
            "stimulus": [f"s{code:02d}" for code in stimulus],
            "rater": [f"r{code:02d}" for code in rater],
            "value": matrix[rater, stimulus],
        },
        scale="interval",
    )
    result = screen(table, policy="p913" if remove_bias else "bt500").to_frame().sort("rater")
    assert (~result["use"]).to_list() == outlier_twin(matrix, remove_bias=remove_bias)
