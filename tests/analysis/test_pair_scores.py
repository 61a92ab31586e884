"""Scores of pairs: what is read from ratings and from tables, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.analysis.pair_tables import inter_pair, intra_pair, table_of

from affectlab.analysis import pair_scores, wording
from affectlab.analysis.frames import place_of_role, placed
from affectlab.analysis.pairs import PairScores
from affectlab.core.errors import InputError
from affectlab.ratings import Ratings
from affectlab.reliability import mean_opinion_scores, subject_model

PAIRS = table_of(
    [
        intra_pair("2", "joy", "peak", "neutral", 70.0),
        intra_pair("10", "joy", "peak", "neutral", 60.0),
        inter_pair("2", "joy", "awe", 80.0),
    ]
)


def ratings(n_raters: int = 6, *, with_attributes: bool = True) -> Ratings:
    rng = np.random.default_rng(0)
    rows = []
    for k in range(n_raters):
        for name, value in PAIRS.select("stimulus", "value").rows():
            rows.append(
                (name, f"r{k}", "main", float(np.clip(value + 3 * k + rng.normal(0, 4), 0, 100)))
            )
        rows.append(("g", f"r{k}", "golden", 5.0))
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "trial_kind", "value"], orient="row")
    stimuli = PAIRS.drop("value") if with_attributes else None
    return Ratings(frame, scale="0-100 interval", stimuli=stimuli)


def test_ratings_become_scores_of_the_subject_model() -> None:
    found = pair_scores(ratings())
    model = subject_model(ratings(), target="sample").to_frame()
    spread = subject_model(ratings(), se="stimulus").to_frame()
    means = mean_opinion_scores(ratings(), interval="student").to_frame()
    for row in found.frame.iter_rows(named=True):
        own = model.filter(stimulus=row["stimulus"])
        assert row["value"] == own["value"][0]
        assert row["se"] == own["se"][0]
        assert row["se_stimulus"] == spread.filter(stimulus=row["stimulus"])["se"][0]
        assert row["sd"] == means.filter(stimulus=row["stimulus"])["sd"][0]
    assert found.unit == wording.score_unit(0, 100)
    assert found.method == "subject model, reml of 6 raters"
    assert (len(found), found.actors, found.expressions) == (3, ("2", "10"), ("awe", "joy"))
    assert found.frame.columns == [
        *("stimulus", "kind", "actor", "expression_a", "role_a", "expression_b", "role_b"),
        *("value", "se", "sd", "se_stimulus"),
    ]


def test_means_are_another_score() -> None:
    found = pair_scores(ratings(), score="mean").frame
    means = mean_opinion_scores(ratings(), interval="student").to_frame()
    for name in ("value", "se", "sd"):
        expected = found.select("stimulus").join(means, on="stimulus")[name]
        np.testing.assert_array_equal(found[name], expected)
    np.testing.assert_array_equal(found["se_stimulus"], found["se"])


def test_one_rater_gives_means_but_no_scores_of_a_model() -> None:
    assert pair_scores(ratings(1), score="mean").frame["se"].is_nan().all()
    with pytest.raises(InputError, match="no pair of kind intra or inter has a score"):
        pair_scores(ratings(1))


def test_models_are_left_out_beside_people() -> None:
    people = ratings()
    frame = pl.concat(
        [
            people.answers().to_frame().select("stimulus", "rater", "value"),
            pl.DataFrame({"stimulus": ["p0"], "rater": ["net"], "value": [0.0]}),
        ]
    )
    kinds = {"rater": ["net"], "rater_kind": ["model"]}
    both = Ratings(frame, scale="0-100 interval", raters=kinds, stimuli=PAIRS.drop("value"))
    only = both.humans()
    assert pair_scores(both).frame.equals(pair_scores(only).frame)
    alone = pair_scores(both.models(), score="mean")
    assert alone.frame["value"].to_list() == [0.0]


def test_labels_are_asked_for() -> None:
    frame = pl.DataFrame(
        {
            "stimulus": ["p0"] * 4,
            "rater": ["a", "b"] * 2,
            "label": ["x", "x", "y", "y"],
            "value": [1, 2, 3, 5],
        }
    )
    both = Ratings(frame, scale="0-100 interval", stimuli=PAIRS.drop("value"))
    with pytest.raises(InputError, match="2 labels; expected label to be one of: x, y"):
        pair_scores(both)
    assert pair_scores(both, score="mean", label="y").frame["value"].to_list() == [4.0]
    with pytest.raises(InputError, match="the ratings have no labels"):
        pair_scores(ratings(), label="x")


def test_attributes_come_from_a_table_of_pairs(tmp_path: Path) -> None:
    bare = ratings(with_attributes=False)
    with pytest.raises(InputError, match=r"column 'actor' is missing; .* \(pairs='pairs\.csv'\)"):
        pair_scores(bare)
    file = tmp_path / "pairs.csv"
    PAIRS.drop("value").write_csv(file)
    assert pair_scores(bare, pairs=file).frame.equals(pair_scores(ratings()).frame)
    scores = subject_model(bare, target="sample").to_frame()
    assert (
        pair_scores(scores, pairs=file)
        .frame.drop("sd")
        .equals(pair_scores(ratings()).frame.drop("sd"))
    )


def test_tables_and_files_say_the_same(tmp_path: Path) -> None:
    table = PAIRS.with_columns(se=pl.Series([1.0, None, 2.0]))
    table.write_csv(tmp_path / "a.csv")
    table.write_parquet(tmp_path / "a.parquet")
    found = pair_scores(table).frame
    assert found["se"].to_list()[:1] == [1.0]
    assert math.isnan(found["se"][1])
    for source in (tmp_path / "a.csv", str(tmp_path / "a.parquet"), table.to_pandas()):
        assert pair_scores(source).frame.equals(found, null_equal=True)
    again = pair_scores(table)
    assert pair_scores(again) is again
    ratings().to_frame().write_csv(tmp_path / "ratings.csv")
    read = pair_scores(tmp_path / "ratings.csv", pairs=tmp_path / "a.csv", score="mean")
    assert read.frame["value"].equals(pair_scores(ratings(), score="mean").frame["value"])


def test_kinds_are_told_by_the_expressions() -> None:
    found = pair_scores(PAIRS.drop("kind", "stimulus"))
    assert found.frame["kind"].to_list() == ["intra", "intra", "inter"]
    assert found.frame["stimulus"].to_list() == ["pair 1", "pair 2", "pair 3"]
    assert (len(found.intra()), len(found.inter())) == (2, 1)
    assert repr(found) == f"PairScores({wording.pairs_text(2, 1, 2, 2, found.method)})"


def test_what_is_left_out_is_said() -> None:
    known = pl.DataFrame({"stimulus": ["g"], "kind": ["known"], "value": [3.0]})
    more = pl.concat([PAIRS.with_columns(value=pl.Series([1.0, None, 2.0])), known], how="diagonal")
    found = pair_scores(more)
    assert len(found) == 2
    assert found.notes == (wording.other_kinds(1, ["known"]), wording.unscored(1))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"value": ["1", "x", "2"]}, "row 2, value: 'x'; expected a number"),
        ({"value": [1.0, math.inf, 2.0]}, "pair 'p1', value: inf; expected a finite number"),
        ({"value": [None, None, None]}, "no pair of kind intra or inter has a score"),
        ({"value": [True, False, True]}, "column 'value' holds Boolean values; expected numbers"),
        ({"se": [1.0, -2.0, 0.0]}, "pair 'p1', se: -2; expected a number from 0"),
        ({"actor": ["a", " ", "b"]}, "pair 'p1': actor is empty; expected a name"),
        ({"stimulus": ["x", "y", "x"]}, "stimulus 'x' stands twice; expected one score"),
        (
            {"kind": ["inter", "intra", "inter"]},
            "'p0' is inter with the expressions 'joy' and 'joy'",
        ),
        ({"rater": ["a", "b", "c"]}, "column 'rater' says that these are ratings"),
    ],
)
def test_bad_tables(change: dict, sentence: str) -> None:
    columns = [pl.Series(name, values, strict=False) for name, values in change.items()]
    with pytest.raises(InputError, match=sentence):
        pair_scores(PAIRS.with_columns(columns))


def test_bad_files_and_options(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv: there is no such file"):
        pair_scores(tmp_path / "none.csv")
    (tmp_path / "a.csv").write_text("stimulus,value\np0,1\n")
    with pytest.raises(InputError, match=r"a\.csv: column 'actor' is missing"):
        pair_scores(tmp_path / "a.csv")
    with pytest.raises(InputError, match="unknown score 'median'"):
        pair_scores(PAIRS, score="median")
    with pytest.raises(InputError, match="expected a data frame"):
        pair_scores(7)
    with pytest.raises(InputError, match="there are no pairs"):
        pair_scores(PAIRS.head(0))
    twice = pl.concat([PAIRS, PAIRS]).drop("value")
    with pytest.raises(InputError, match="the table of pairs: stimulus 'p0' stands twice"):
        pair_scores(PAIRS.select("stimulus", "value"), pairs=twice)
    with pytest.raises(InputError, match="the scores: column 'stimulus' is missing"):
        pair_scores(PAIRS.select("value"), pairs=PAIRS)


def test_places_of_roles() -> None:
    roles = [
        "peak",
        "near_peak",
        "step_3",
        "near_neutral",
        "neutral",
        "frame_12",
        "step_9",
        "frame_0",
    ]
    assert [place_of_role(role) for role in roles] == [1, 2, 3, 4, 5, 12, None, None]
    counted = table_of(
        [
            intra_pair("a", "joy", "frame_1", "frame_3", 1.0),
            intra_pair("a", "joy", "frame_7", "frame_3", 1.0),
            intra_pair("a", "awe", "peak", "middle", 1.0),
        ]
    )
    assert placed(counted)["last"].to_list() == [7, 7, 5]
    with pytest.raises(InputError, match="pair 'p0': role 'apex'; expected peak, near_peak"):
        placed(table_of([intra_pair("a", "joy", "apex", "neutral", 1.0)]))


def test_made_by_hand() -> None:
    found = PairScores.of(pair_scores(PAIRS).frame, unit="JND")
    assert found.inter().unit == "JND"
