"""Fixed effects of mixed models against lmerTest and emmeans, ordinary regression, and truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.reliability.mixed_model_data import made

from affectlab import InputError, Ratings
from affectlab.core.facts import Cause, Reason
from affectlab.core.result import Result
from affectlab.ratings import read_ratings
from affectlab.reliability import mixed_model
from affectlab.reliability.components.restricted_likelihood import Factor, MixedModel, fit
from affectlab.reliability.components.wording import labels_text, no_random_slope, random_slope

R = json.loads((Path(__file__).parent.parent / "data" / "mixed_models.json").read_text())


def model(value: str = "value", **more: Any) -> Result:
    table = made().with_columns(value=pl.col(value)).drop("flat", "answer")
    return mixed_model(Ratings(table, scale="interval"), **more)


PLAIN = ("stimulus", "rater")
MODELS = {
    "linear": {"fixed": ["race*gender", "kind", "age"], "factors": PLAIN},
    "slopes": {"fixed": ["race*age"], "factors": ("stimulus", "rater", "rater:race")},
    "singular": {"value": "flat", "fixed": ["race*gender", "kind"], "factors": PLAIN},
}


@pytest.mark.parametrize("name", MODELS)
def test_lmer_test(name: str) -> None:
    ours, theirs = model(**MODELS[name]), R[name]
    variances = {row["factor"]: row["value"] for row in ours.to_frame("components").to_dicts()}
    for factor, variance in theirs["variances"].items():
        wanted = pytest.approx(variance, rel=5e-4, abs=1e-9)
        assert variances[{"Residual": "residual"}.get(factor, factor)] == wanted
    terms = {row["term"]: row for row in ours.to_frame("terms").to_dicts()}
    assert len(terms) == len(theirs["terms"])
    for row in theirs["terms"]:
        own = terms[row["name"]]
        assert own["df"] == row["NumDF"]
        assert own["value"] == pytest.approx(row["F value"], rel=1e-3)
        assert own["df_error"] == pytest.approx(row["DenDF"], rel=1e-3)
        assert own["p"] == pytest.approx(row["Pr(>F)"], rel=2e-3)
    effects = {(row["term"], row["level"]): row for row in ours.to_frame("effects").to_dicts()}
    # The first levels have the columns of sum contrasts; interactions with a number, of its unit.
    places = {
        "(Intercept)": ("mean", ""),
        "race1": ("race", "a"),
        "race2": ("race", "b"),
        "gender1": ("gender", "f"),
        "kind1": ("kind", "lay"),
        "age": ("age", ""),
        "race1:gender1": ("race:gender", "a, f"),
        "race2:gender1": ("race:gender", "b, f"),
        "race1:age": ("race:age", "a"),
        "race2:age": ("race:age", "b"),
    }
    for row in theirs["effects"]:
        own = effects[places[row["name"]]]
        assert own["value"] == pytest.approx(row["Estimate"], rel=1e-3, abs=1e-6)
        assert own["se"] == pytest.approx(row["Std. Error"], rel=1e-3)
        assert own["df"] == pytest.approx(row["df"], rel=1e-3)
        assert own["p"] == pytest.approx(row["Pr(>|t|)"], rel=5e-3)


@pytest.mark.parametrize("name", MODELS)
def test_emmeans(name: str) -> None:
    ours, theirs = model(**MODELS[name]), R[name]
    means = {(row["term"], row["level"]): row for row in ours.to_frame("means").to_dicts()}
    n_compared = 0
    for term, rows in theirs["means"].items():
        for row in rows:
            levels = [row[key] for key in ("race", "gender", "kind") if key in row]
            own = means[{"both": "race:gender"}.get(term, term), ", ".join(levels)]
            ends = [own[key] for key in ("value", "se", "df", "low", "high")]
            wanted = [row[key] for key in ("emmean", "SE", "df", "lower.CL", "upper.CL")]
            assert ends == pytest.approx(wanted, rel=2e-3, abs=1e-3)
            n_compared += 1
    contrasts = ours.to_frame("contrasts").to_dicts()
    pairs = {(row["at"], f"{row['a']} - {row['b']}"): row for row in contrasts if row["a"] in "abc"}
    for row in [row for rows in theirs["contrasts"].values() for row in rows]:
        own = pairs[row.get("gender", ""), row["contrast"]]
        assert own["value"] == pytest.approx(row["estimate"], rel=1e-3)
        assert own["df"] == pytest.approx(row["df"], rel=1e-3)
        assert own["p"] == pytest.approx(row["p.value"], rel=1e-2)
        n_compared += 1
    assert n_compared >= 6


def test_a_search_that_a_bound_cuts_short_goes_on() -> None:
    """Actors do not differ; lme4 gives 4.1262 and 0.0098, and -2 log-likelihood 1829.684."""
    folder = Path(__file__).resolve().parents[2] / "examples" / "fairness"
    ratings = read_ratings(folder / "people.csv", scale="0-7", stimuli=folder / "faces.csv")
    names = ("stimulus", "rater", "actor")
    result = mixed_model(ratings, fixed=["gender*age"], factors=names)
    rows = {row["factor"]: row["value"] for row in result.to_frame("components").to_dicts()}
    assert [rows[name] for name in names] == pytest.approx([4.1262, 0.00985, 0], rel=1e-3, abs=1e-4)
    terms = result.to_frame("terms")
    assert terms["value"].to_list() == pytest.approx([0.0011, 1.3206, 0.3186], abs=1e-4)
    assert terms["df_error"].to_list() == pytest.approx([89.996] * 3, abs=0.01)


def test_several_labels_have_each_their_model_and_one_family() -> None:
    rng = np.random.default_rng(4)
    table = pl.DataFrame({"stimulus": np.repeat(np.arange(24), 6), "rater": list("abcdef") * 24})
    table = table.with_columns(condition=pl.col("stimulus") % 2 == 0)
    long = pl.concat(
        table.with_columns(
            label=pl.lit(name),
            value=pl.Series(rng.normal(0, 1, 144)) + shift * pl.col("condition"),
        )
        for name, shift in (("joy", 2.0), ("fear", 0.0), ("awe", 0.0))
    )
    result = mixed_model(Ratings(long, scale="interval"), fixed=["condition"])
    terms = result.to_frame("terms")
    assert terms["label"].to_list() == ["joy", "fear", "awe"]
    smallest = terms["p"].to_numpy().min()
    assert terms["p_holm"].min() == pytest.approx(3 * smallest)
    assert result.sentences == (labels_text("condition", ["joy"], 3),)
    # Names of levels are those of the data, in their order.
    assert result.to_frame("means")["level"].to_list() == ["false", "true"] * 3
    alone = mixed_model(Ratings(long.filter(label="joy"), scale="interval"), fixed=["condition"])
    assert alone.to_frame("terms")["value"][0] == pytest.approx(terms["value"][0])


def test_models_beside_people_are_an_attribute_of_raters() -> None:
    rng = np.random.default_rng(9)
    s, r = (part.ravel() for part in np.indices((30, 8)))
    kinds = pl.DataFrame({"rater": list("01234567"), "rater_kind": ["human"] * 5 + ["model"] * 3})
    value = rng.normal(0, 1, 30)[s] + rng.normal(0, 0.2, 8)[r] + rng.normal(0, 1, 240) + (r > 4)
    ratings = Ratings({"stimulus": s, "rater": r, "value": value}, scale="interval", raters=kinds)
    result = mixed_model(ratings, fixed=["rater_kind"], everyone=True)
    (row,) = result.to_frame("contrasts").to_dicts()
    assert (row["a"], row["b"]) == ("human", "model")
    assert row["low"] < -1 < row["high"] < 0
    # Between 8 raters there are some 6 degrees of freedom.
    assert 3 < row["df"] < 10
    people = mixed_model(ratings, fixed=["rater_kind"]).table("terms").frame
    assert Reason.of_row(people["reason"][0]) == Reason(
        Cause.FEWER, least=2, of="values of rater_kind"
    )


def test_labels_may_be_an_attribute() -> None:
    rng = np.random.default_rng(5)
    s, r, k = (part.ravel() for part in np.indices((12, 5, 3)))
    value = rng.normal(0, 1, 12)[s] + rng.normal(0, 1, s.size) + (k == 2)
    table = {"stimulus": s, "rater": r, "label": np.array(["x", "y", "z"])[k], "value": value}
    result = mixed_model(Ratings(table, scale="interval"), fixed=["label"])
    assert result.to_frame("terms").select("label", "term", "df").rows() == [("all", "label", 2)]


def test_names_of_levels_and_order_of_rows_change_nothing() -> None:
    table = made().drop("flat", "answer")
    other = table.sample(fraction=1.0, shuffle=True, seed=5)
    one, two = (
        mixed_model(Ratings(frame, scale="interval"), fixed=["race*gender"]).to_frame("contrasts")
        for frame in (table, other)
    )
    assert one["p"].to_list() == two["p"].to_list()


def test_effects_may_differ_between_raters_by_default_and_notes_say_where_not() -> None:
    within = no_random_slope("race", "raters", "rater:race")
    assert within in model(fixed=["race"], factors=PLAIN).notes
    usual, named = model(fixed=["race"]), model(fixed=["race"], factors=(*PLAIN, "rater:race"))
    assert usual.to_frame().equals(named.to_frame())
    assert usual.notes == named.notes
    assert random_slope("race", "raters", "rater:race") in usual.notes
    assert usual.settings["factors"] == [*PLAIN, "rater:race"]


def test_the_usual_factors_hold_other_raters() -> None:
    """Where raters use a zero-heavy scale differently, their effects differ, too."""
    rng, held = np.random.default_rng(4), {True: 0, False: 0}
    treated = np.arange(60) % 2 == 1
    stimulus, rater = (part.ravel() for part in np.indices((60, 6)))

    def answers(level: np.ndarray, n: int) -> np.ndarray:
        slope = np.exp(rng.normal(0, 0.4, n))
        return slope * level[:, None] + rng.normal(0, 0.7, n) + rng.normal(0, 1, (level.size, n))

    true = float(np.mean(np.exp(rng.normal(0, 0.4, 200_000))))
    for _ in range(60):
        value = answers(rng.normal(0, 1, 60) + treated, 6).ravel()
        table = {"stimulus": stimulus, "rater": rater, "value": value}
        table["condition"] = np.where(treated, "b", "a")[stimulus]
        ratings = Ratings(table, scale="interval")
        for usual in held:
            more = {} if usual else {"factors": PLAIN}
            row = (
                mixed_model(ratings, fixed=["condition"], **more)
                .to_frame("contrasts")
                .row(0, named=True)
            )
            held[usual] += row["low"] <= -true <= row["high"]
    assert held[True] >= 54
    assert held[True] >= held[False]


def test_what_stimuli_belong_to_is_drawn_by_default() -> None:
    """Actors of whom each has one condition: of 100 intervals 63 held without them."""
    held = 0
    for run in range(20):
        rng = np.random.default_rng(run)
        actor, stimulus = np.arange(120) % 12, np.arange(120)
        level = rng.normal(size=12)[actor] + 0.5 * rng.normal(size=120)
        value = level[:, None] + rng.normal(size=6) + rng.normal(size=(120, 6))
        cells = {
            "stimulus": np.repeat(stimulus, 6),
            "rater": np.tile(np.arange(6), 120),
            "value": value.ravel(),
            "actor": np.repeat([f"a{k}" for k in actor], 6),
            "condition": np.repeat(np.where(actor % 2, "b", "a"), 6),
        }
        result = mixed_model(Ratings(cells, scale="interval"), fixed=["condition"])
        assert result.settings["factors"][:3] == ["stimulus", "rater", "actor"]
        low, high = result.to_frame("contrasts").select("low", "high").row(0)
        held += low < 0 < high
    assert held >= 16


def test_what_cannot_be_told() -> None:
    def cause(**columns: list[Any]) -> str:
        ratings = Ratings(pl.DataFrame(columns, strict=False), scale="interval")
        result = mixed_model(ratings, fixed=["one", "two"])
        assert result.to_frame()["status"][0] == "undefined"
        return str(result.to_frame()["reason"][0])

    cells = {"stimulus": list("aabbccdd"), "rater": list("rs") * 4}
    value = [1.0, 2.0, 2.5, 2.0, 4.0, 7.0, 3.0, 3.5]
    same = cause(**cells, value=value, one=list("kkkkllll"), two=list("mmmmnnnn"))
    assert same == Cause.INSEPARABLE_EFFECTS
    single = cause(**cells, value=value, one=list("kkkkllll"), two=list("mmmmmmmm"))
    assert single == Cause.FEWER
    alike = cause(**cells, value=[1.0, 2.0] * 4, one=list("klkllklk"), two=list("mnmnmnmn"))
    assert alike == Cause.NO_RESIDUAL_WITHIN


def test_attributes_that_explain_everything_leave_nothing_to_test() -> None:
    s, r = (part.ravel() for part in np.indices((6, 4)))
    table = {"stimulus": s, "rater": r, "value": 1.0 * ((s + r) % 2), "odd": (s + r) % 2 == 1}
    result = mixed_model(Ratings(table, scale="interval"), fixed=["odd"])
    assert result.to_frame()["reason"][0] == Cause.NO_RESIDUAL_WITHIN


def test_bad_input_is_one_sentence() -> None:
    with pytest.raises(InputError, match=r"unknown attribute 'rase'.*race"):
        model(fixed=["rase"])
    with pytest.raises(InputError, match="fixed: rater cannot be a random factor, too"):
        model(fixed=["rater"])
    with pytest.raises(InputError, match=r"race\*gender\*kind; expected an attribute"):
        model(fixed=["race*gender*kind"])
    with pytest.raises(InputError, match="expected one attribute or more"):
        model(fixed=[])
    table = made().with_columns(race=pl.when(pl.col("stimulus") > 3).then("race"))
    with pytest.raises(InputError, match="fixed: race is empty for some answers"):
        mixed_model(Ratings(table.drop("flat", "answer"), scale="interval"), fixed=["race"])


@pytest.mark.long
def test_no_effect_is_found_as_often_as_it_should() -> None:
    """5 raters and 20 stimuli in two conditions: t tests of single answers err far more often."""
    from scipy.stats import f, ttest_ind

    runs, ours, naive = 400, 0, 0
    s, r = (part.ravel() for part in np.indices((20, 5)))
    loud = s % 2 == 1
    factors = [Factor("stimulus", s, 20), Factor("rater", r, 5)]
    for run in range(runs):
        rng = np.random.default_rng(run)
        value = rng.normal(0, 1, 20)[s] + rng.normal(0, 0.7, 5)[r] + rng.normal(0, 1, 100)
        columns = np.where(loud, 1.0, -1.0)[:, None]
        fixed = fit(MixedModel.of(value, factors, columns)).estimates()
        statistic, freedom = fixed.joint(np.array([[0.0, 1.0]]))
        ours += f.sf(statistic, 1, freedom) <= 0.05
        naive += ttest_ind(value[loud], value[~loud]).pvalue <= 0.05
    # Between what 5 % gives in all but one of 1,000 tries.
    assert 7 <= ours <= 36
    assert naive > 80
