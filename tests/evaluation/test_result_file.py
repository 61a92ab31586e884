"""Result files: what they hold, how they are read, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.wording import undefined_text
from affectlab.evaluation import ResultFile, data_set, human_results, write_result
from affectlab.evaluation.outcomes import OUTCOMES
from affectlab.evaluation.rankings import Cost, Coverage, DataSet, Metric, parse_result, read_result
from affectlab.evaluation.rankings.result_file import Outcome
from affectlab.ratings import Ratings

ROOT = Path(__file__).resolve().parents[2]
FINGERPRINT = "sha256:" + 64 * "0"
DATA = DataSet(name="demo", fingerprint=FINGERPRINT, n_stimuli=10, n_raters=4)


def plain(**changes):
    """Give the content of a result file with changes; a key given as ... is left out."""
    content = {
        "schema": "affectlab/result/1",
        "name": "gazer",
        "data": {"name": "demo", "fingerprint": FINGERPRINT, "n_stimuli": 10, "n_raters": 4},
        "metrics": [{"name": "kappa", "value": 0.5, "low": 0.4, "high": 0.6}],
    }
    content.update(changes)
    return {key: value for key, value in content.items() if value is not ...}


def refused(content, where="net.json"):
    text = content if isinstance(content, str) else json.dumps(content)
    with pytest.raises(InputError) as error:
        parse_result(text, where=where)
    assert str(error.value).startswith(where)
    assert "\n" not in str(error.value)
    return str(error.value)


# -- what is taken ------------------------------------------------------------------------------


def test_outcomes_are_those_of_the_room():
    assert set(get_args(Outcome)) == set(OUTCOMES)


def test_smallest_file():
    result = parse_result(json.dumps(plain()), where="x.json")
    assert (result.name, result.kind, result.prompt, result.outcomes) == (
        "gazer",
        "model",
        None,
        {},
    )
    assert result.metric("kappa").high == 0.6
    assert result.metric("kappa", "joy") is None


numbers = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=40).filter(
    lambda text: text.strip()
)


@st.composite
def results(draw):
    names = draw(st.lists(texts, min_size=1, max_size=4, unique=True))
    metrics = []
    for name in names:
        low, high = sorted([draw(numbers), draw(numbers)])
        metrics.append(
            Metric(
                name=name,
                value=draw(numbers),
                low=low,
                high=high,
                label=draw(st.none() | texts),
                higher_is_better=draw(st.booleans()),
            )
        )
    metrics.append(Metric(name="gap" + max(names), value=None, status="undefined: one class"))
    return ResultFile(
        name=draw(texts),
        kind=draw(st.sampled_from(["human", "model", "baseline"])),
        prompt=draw(st.none() | texts),
        data=DATA,
        metrics=metrics,
        outcomes=draw(st.dictionaries(st.sampled_from(list(OUTCOMES)), st.integers(0, 10**6))),
        coverage=Coverage(n_answered=draw(st.integers(0, 10)), n_stimuli=10),
        cost=Cost(amount=draw(st.floats(0, 1e6)), currency="EUR"),
        notes=draw(st.lists(st.text(st.characters(exclude_categories=("Cs",)), max_size=20))),
    )


@given(results())
def test_round_trip(tmp_path_factory, result):
    file = tmp_path_factory.mktemp("r") / "result.json"
    assert write_result(result, file) == file
    assert read_result(file) == result


def test_from_estimates():
    per_rater = Estimates.build(
        {"rater": ["gazer", "other"], "label": ["joy", "joy"]}, value=[0.5, 0.1], statistic="kappa"
    )
    by_metric = Estimates.build({"metric": ["acc", "ecc"]}, value=[0.5, np.nan],
                                reason=[None, Reason(Cause.NONE, of="answers")])  # fmt: skip
    result = ResultFile.from_estimates(
        "gazer",
        {"kappa": [Estimate(0.4, low=0.3, high=0.5, n_items=9), per_rater], "error": Estimate(2.0)},
        data=DATA,
        lower_is_better=["error"],
        prompt="zero-shot",
        notes=["said"],
    )
    assert [(m.name, m.label, m.value) for m in result.metrics] == [
        ("kappa", None, 0.4),
        ("kappa", "joy", 0.5),
        ("error", None, 2.0),
    ]
    assert [m.higher_is_better for m in result.metrics] == [True, True, False]
    assert result.metrics[0].n_items == 9
    named = ResultFile.from_estimates("Gazer 2", by_metric, data=DATA, rater="gazer")
    assert [(m.name, m.value, m.status) for m in named.metrics] == [
        ("acc", 0.5, "ok"),
        ("ecc", None, undefined_text(Reason(Cause.NONE, of="answers"))),
    ]


def test_from_estimates_bad_input():
    table = Estimates.build({"rater": ["gazer"]}, value=[0.5])
    with pytest.raises(InputError, match="unknown rater 'gaser'; did you mean 'gazer'"):
        ResultFile.from_estimates("gaser", {"kappa": table}, data=DATA)
    with pytest.raises(InputError, match="names no metric"):
        ResultFile.from_estimates("gazer", table, data=DATA)
    with pytest.raises(InputError, match="lower_is_better names 'err'"):
        ResultFile.from_estimates("gazer", {"k": table}, data=DATA, lower_is_better=["err"])
    with pytest.raises(InputError, match="results of 'gazer': date = '1 May'"):
        ResultFile.from_estimates("gazer", {"k": table}, data=DATA, date="1 May")
    with pytest.raises(InputError, match="key 'promt' is not known"):
        ResultFile.from_estimates("gazer", {"k": table}, data=DATA, promt="x")


def test_people_best_median_worst_and_ceiling():
    people = {
        "kappa": Estimates.build(
            {"rater": list("abcd")},
            value=[0.5, 0.7, np.nan, 0.6],
            reason=[None, None, Cause.ONE_CATEGORY, None],
        ),
        "error": Estimates.build({"rater": list("abc")}, value=[1.0, 3.0, 2.0]),
    }
    rows = human_results(
        people, data=DATA, ceiling={"kappa": Estimate(0.9)}, lower_is_better=["error"]
    )
    assert [row.role for row in rows] == ["best", "median", "worst", "ceiling"]
    assert [row.metric("kappa").value for row in rows] == [0.7, 0.6, 0.5, 0.9]
    assert [row.metric("error").value for row in rows[:3]] == [1.0, 2.0, 3.0]
    assert all(row.kind == "human" for row in rows)
    nobody = Estimates.build({"rater": ["a"]}, value=[np.nan], reason=Cause.ONE_CATEGORY)
    with pytest.raises(InputError, match="defined for nobody"):
        human_results({"kappa": nobody}, data=DATA)
    by_label = Estimates.build({"label": ["joy"]}, value=[1.0])
    with pytest.raises(InputError, match="one estimate per rater"):
        human_results({"kappa": by_label}, data=DATA)


# -- fingerprints --------------------------------------------------------------------------------


def table(rows, **options):
    columns = dict(
        zip(("stimulus", "rater", "label", "value"), zip(*rows, strict=True), strict=True)
    )
    return Ratings({name: list(column) for name, column in columns.items()}, scale="0-7", **options)


ROWS = [("a", "r1", "joy", 1), ("a", "r2", "joy", 2), ("b", "r1", "fear", 0), ("b", "r2", "joy", 7)]


@given(st.permutations(ROWS))
def test_order_of_rows_does_not_matter(rows):
    assert data_set(table(rows), "x") == data_set(table(ROWS), "x")


@pytest.mark.parametrize("place", range(4))
def test_every_answer_matters(place):
    other = [(*row[:3], row[3] + (k == place) if row[3] < 7 else 6) for k, row in enumerate(ROWS)]
    assert data_set(table(other), "x").fingerprint != data_set(table(ROWS), "x").fingerprint


def test_only_people_and_main_trials_matter():
    kinds = {"rater": ["r1", "r2", "net"], "rater_kind": ["human", "simulated", "model"]}
    with_model = table([*ROWS, ("a", "net", "joy", 5)], raters=kinds)
    found = data_set(with_model, "x")
    assert found.fingerprint == data_set(table(ROWS), "x").fingerprint
    assert found.simulated
    assert (found.n_stimuli, found.n_raters, found.n_labels) == (2, 2, 2)
    names = [("ab", "c", "joy", 1)], [("a", "bc", "joy", 1)]
    assert data_set(table(names[0]), "x") != data_set(table(names[1]), "x")


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (plain(name=7), ["name = 7", "expected text"]),
        (plain(name=""), ["name = ''", "at least 1 character"]),
        (plain(name="  "), ["name = '  '", "expected some text"]),
        (plain(name="x" * 201), ["name = 'xxx", "at most 200"]),
        (plain(name=...), ["key 'name' is missing"]),
        (plain(nmae="x"), ["key 'nmae' is not known", "did you mean 'name'?"]),
        (plain(kind="robot"), ["kind = 'robot'", "'human', 'model' or 'baseline'"]),
        (plain(role="best"), ["role 'best' with kind 'model'", "kind 'human'"]),
        (plain(date="2026-13-01"), ["date = '2026-13-01'", "2026-01-31"]),
        (plain(link="javascript:alert(1)"), ["link = 'javascript:alert(1)'", "pattern"]),
        (plain(link='https://x/" onclick="'), ["link"]),
        (plain(metrics=[]), ["metrics = []", "at least 1 item"]),
        (plain(metrics=[{"name": "k", "value": "0.5"}]), ["metrics.0.value = '0.5'", "a number"]),
        (plain(metrics=[{"name": "k", "value": True}]), ["metrics.0.value = true", "a number"]),
        (plain(metrics=[{"name": "k", "value": None}]), ["metrics.0", "with the reason"]),
        (plain(metrics=[{"name": "k", "value": 1, "low": 0}]), ["both ends"]),
        (
            plain(metrics=[{"name": "k", "value": 1, "low": 2, "high": 1}]),
            ["low 2 is above high 1"],
        ),
        (plain(metrics=[{"name": "k", "value": 1}] * 2), ["metric 'k' stands twice"]),
        (
            plain(metrics=[{"name": "k", "value": 1, "n": 2}]),
            ["'metrics.0.n'", "one of: name, value"],
        ),
        (plain(metrics={"kappa": 1}), ["metrics = an object", "expected a list"]),
        (plain(data={"name": "x"}), ["data.fingerprint", "missing"]),
        (plain(data={**plain()["data"], "fingerprint": "abc"}), ["data.fingerprint = 'abc'"]),
        (plain(data={**plain()["data"], "n_stimuli": 1.5}), ["data.n_stimuli = 1.5", "whole"]),
        (plain(data={**plain()["data"], "n_stimuli": -1}), ["data.n_stimuli = -1"]),
        (plain(coverage={"n_answered": 3, "n_stimuli": 2}), ["coverage", "3 answered of 2"]),
        (plain(outcomes={"fine": 1}), ["outcomes.fine", "'transport'"]),
        (plain(outcomes={"ok": -1}), ["outcomes.ok = -1"]),
        (plain(cost={"amount": 1, "currency": "euro"}), ["cost.currency = 'euro'"]),
        (plain(schema=...), ["key 'schema' is missing", "affectlab/result/1"]),
        (plain(schema="affectlab/result/2"), ["affectlab/result/2", "a newer affectlab"]),
        (plain(schema="other"), ["schema = 'other'"]),
        ([1], ["holds [1]", "an object"]),
        ("null", ["holds null"]),
        ("", ["line 1", "not valid JSON"]),
        ("{'name': 1}", ["not valid JSON"]),
        ('{"name": "a", "name": "b"}', ["key 'name' stands twice"]),
        ('{"a": NaN}', ["NaN is no JSON number"]),
        ('{"a": -Infinity}', ["-Infinity is no JSON number"]),
        ("[" * 200_000, ["too deep"]),
        ('{"a": ' + "9" * 5000 + "}", ["not valid JSON"]),
    ],
)
def test_refused_with_a_sentence(content, words):
    said = refused(content)
    for word in words:
        assert word in said
    assert len(said) < 400


def test_numbers_beyond_all_bounds():
    text = json.dumps(plain()).replace("0.5", "1e999")
    assert "metrics.0.value = inf" in refused(text)


def test_half_a_character():
    said = refused(json.dumps(plain(name="\ud800")))
    assert "name" in said
    assert "valid" in said


def test_the_number_of_other_problems_is_said():
    assert "(and 1 more problem)" in refused(plain(name=7, kind="robot"))


def test_files_that_are_no_files(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_result(tmp_path / "none.json")
    with pytest.raises(InputError, match="is a folder"):
        read_result(tmp_path)
    latin = tmp_path / "latin.json"
    latin.write_bytes(b'{"name": "\xe9"}')
    with pytest.raises(InputError, match="not UTF-8"):
        read_result(latin)
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(17 * 2**20)
    with pytest.raises(InputError, match="17 MiB; expected a result file of at most 16 MiB"):
        read_result(large)


def test_a_mark_at_the_start_of_the_file_is_no_problem(tmp_path):
    file = tmp_path / "bom.json"
    file.write_text(json.dumps(plain()), encoding="utf-8-sig")
    assert read_result(file).name == "gazer"


# -- writing ------------------------------------------------------------------------------------


def result(name="gazer", **fields):
    return ResultFile.from_estimates(name, {"kappa": Estimate(0.5)}, data=DATA, **fields)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("Gazer 2", "gazer-2.json"),
        ("../../etc/passwd", "etc-passwd.json"),
        ("/tmp/x", "tmp-x.json"),
        ("..", "result.json"),
        ("日本", "result.json"),
        ("Élan\u202e\x00", "elan.json"),
        ("x" * 200, "x" * 80 + ".json"),
    ],
)
def test_names_never_lead_out_of_the_folder(tmp_path, name, file):
    folder = tmp_path / "results"
    written = write_result(result(name), folder)
    assert written == folder / file
    assert read_result(written).name == name
    assert [path.name for path in tmp_path.iterdir()] == ["results"]


def test_a_file_of_another_model_is_kept(tmp_path):
    write_result(result("日本"), tmp_path)
    with pytest.raises(InputError, match="holds results of '日本'"):
        write_result(result("中国"), tmp_path)
    assert write_result(result("日本", licence="MIT"), tmp_path).name == "result.json"
    assert read_result(tmp_path / "result.json").licence == "MIT"
    assert (
        write_result(result("gazer", prompt="few shots"), tmp_path).name == "gazer-few-shots.json"
    )


def test_only_json_is_written(tmp_path):
    with pytest.raises(InputError, match=r"ends in \.json"):
        write_result(result(), tmp_path / "x.txt")
    assert write_result(result(), tmp_path / "new" / "x.json").exists()


# -- documentation ------------------------------------------------------------------------------


def test_the_published_schema_is_the_one_in_use():
    reference = ROOT / "docs" / "reference"
    schema = json.loads((reference / "result-file.schema.json").read_text(encoding="utf-8"))
    assert schema == ResultFile.model_json_schema()
    page = (reference / "result-file.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    assert parse_result(example, where="page").kind == "model"


@pytest.mark.parametrize("file", sorted((ROOT / "examples" / "leaderboard").glob("*.json")),
                         ids=lambda file: file.name)  # fmt: skip
def test_examples_can_be_read_and_are_simulated(file):
    found = read_result(file)
    assert found.data.simulated
    assert parse_result(file.read_text(encoding="utf-8"), where="x") == found
