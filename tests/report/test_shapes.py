"""Ratings of every shape, and names that try to break out."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from polars.testing import assert_frame_equal

from affectlab.ratings import Ratings, read_ratings
from affectlab.reliability.wording import STEPS_IN_WORDS
from affectlab.report import write_report

pytestmark = pytest.mark.long


@pytest.fixture
def titles(read_page):
    """Give the headings of the sections of a page."""
    return lambda text: [heading.text for heading in read_page(text).all("h2", "h3")]


def grid(n_stimuli: int, n_raters: int, values, **options) -> Ratings:
    frame = {
        "stimulus": np.repeat([f"s{k}" for k in range(n_stimuli)], n_raters),
        "rater": [f"r{k}" for k in range(n_raters)] * n_stimuli,
        "value": values,
    }
    return Ratings(frame, **options)


def test_no_labels(write, titles):
    rng = np.random.default_rng(0)
    text = write(grid(20, 4, rng.integers(1, 6, 80), scale="1-5"))
    assert "How often each label is used:" in text
    assert "the answers are on one scale without labels." in text
    assert "Agreement" in titles(text)


def test_texts_only(write, titles):
    frame = {"stimulus": ["a", "a"], "rater": ["r1", "r2"], "text": ["so <b>glad</b>", "sad 😀"]}
    text = write(Ratings(frame))
    assert "Answers in words" in titles(text)
    assert "Agreement" not in titles(text)
    assert "so &lt;b&gt;glad&lt;/b&gt;" in text


def test_one_rater(write):
    text = write(grid(5, 1, [1, 2, 3, 4, 5], scale="0-7"))
    assert "one rater alone cannot" in text
    assert "There is one human rater" in text


def test_one_stimulus(write):
    text = write(grid(1, 3, [1, 2, 3], scale="0-7"))
    assert "There is one stimulus" in text


def test_one_answer(write):
    assert "1 person gave 1 answer about 1 stimulus" in write(grid(1, 1, [1.0]))


def test_all_equal(write):
    text = write(grid(6, 3, [3] * 18, scale="0-7"))
    assert "Alpha is not defined" in text
    assert "one category" in text


def test_no_usable_answer(write, titles):
    ratings = grid(2, 2, [1, 2, 3, 4], scale="0-7").to_frame()
    text = write(Ratings(ratings.with_columns(trial_kind=pl.lit("golden")), scale="0-7"))
    assert "Agreement" not in titles(text)


@pytest.mark.parametrize(
    ("scale", "shares"),
    [
        ("nominal:yes,no,maybe", {"yes": 0.5, "no": 0.3, "maybe": 0.2}),
        ("binary", {"no": 0.7, "yes": 0.3}),
        ("0-1 step 0.5", {"0": 0.5, "0.5": 0.2, "1": 0.3}),
        ("0-1 step 0.1", {"0.7": 0.5, "0.3": 0.5}),
    ],
)
def test_kinds_of_scale(tmp_path, scale, shares):
    """Answers are counted under the names of the scale, and pairs compared as its kind says."""
    levels = {"yes": 0.0, "no": 1.0, "maybe": 2.0} if scale.startswith("nominal") else {}
    levels |= {"no": 0.0, "yes": 1.0} if scale == "binary" else {}
    values = [
        levels[name] if name in levels else float(name)
        for name, share in shares.items()
        for _ in range(round(60 * share))
    ]
    rng = np.random.default_rng(6)
    paths = write_report(grid(20, 3, rng.permutation(values), scale=scale), tmp_path, n_boot=0)
    answers = pl.read_csv(
        tmp_path / "tables" / "answers.csv", schema_overrides={"answer": pl.String}
    )
    found = {
        name: share for name, share in answers.select("answer", "people_share").rows() if share
    }
    assert found == pytest.approx(shares)
    pairs = pl.read_csv(tmp_path / "tables" / "pairs.csv")
    weights = "nominal" if scale.startswith("nominal") else "quadratic"
    assert pairs["method"].str.contains(weights).all()
    assert paths.html.is_file()


def test_nothing_is_ranked_on_a_nominal_scale(write):
    """Neither the order of categories nor their distance may enter."""
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 4, 60)
    panel = np.stack(
        [np.where(rng.random(60) < 0.7, truth, rng.integers(0, 4, 60)) for _ in "abcd"]
    )
    panel[3] = 3 - panel[0]
    kinds = {"rater": ["r0", "r1", "r2", "r3", "r4"], "rater_kind": ["human"] * 4 + ["model"]}
    values = np.vstack([panel, truth]).T.ravel()
    text = write(grid(60, 5, values, scale="nominal:joy,anger,fear,sad", raters=kinds))
    # What reliable shares are enough for is said of every kind of answers.
    body = text[text.index('<section id="scores"') :].replace(STEPS_IN_WORDS, "")
    for word in (
        "Spearman",
        "quadratic",
        "Interrater correlation",
        "With the others",
        "correlation",
    ):
        assert word not in body[: body.index('id="how-to-read"')]
    assert "answered against the others" not in text
    assert "Bias" not in body


def test_the_order_of_categories_changes_no_number(tmp_path):
    rng = np.random.default_rng(8)
    names = np.array(["joy", "anger", "fear", "sad"])
    truth = rng.integers(0, 4, 50)
    said = names[np.where(rng.random((50, 3)) < 0.7, truth[:, None], rng.integers(0, 4, (50, 3)))]
    frame = {
        "stimulus": np.repeat(np.arange(50), 3).astype(str),
        "rater": ["a", "b", "m"] * 50,
        "value": said.ravel(),
    }
    kinds = {"rater": ["a", "b", "m"], "rater_kind": ["human", "human", "model"]}
    for folder, order in (("one", "joy,anger,fear,sad"), ("two", "sad,joy,fear,anger")):
        write_report(
            Ratings(frame, scale=f"nominal:{order}", raters=kinds), tmp_path / folder, n_boot=0
        )
    for file in ("agreement", "pairs", "models_and_people", "raters"):
        first, second = (
            pl.read_csv(tmp_path / folder / "tables" / f"{file}.csv").drop(
                "method", "options", strict=False
            )
            for folder in ("one", "two")
        )
        assert_frame_equal(first, second)


def test_nominal_scale_with_many_categories(write):
    rng = np.random.default_rng(9)
    categories = ",".join(f"emotion {k}" for k in range(28))
    text = write(grid(30, 3, rng.integers(0, 28, 90), scale=f"nominal:{categories}"))
    assert "emotion 27" in text


@pytest.mark.parametrize("scale", ["0-100 interval", "interval", "0-100 step 1"])
def test_fine_scales_use_correlation(write, scale):
    rng = np.random.default_rng(1)
    truth = np.repeat(rng.uniform(20, 80, 25), 4)
    text = write(grid(25, 4, np.rint(truth + rng.normal(0, 5, 100)), scale=scale))
    assert "The mean Spearman&#39;s correlation is" in text


def test_forty_labels(write, read_page):
    rng = np.random.default_rng(2)
    labels = [f"label number {k}" for k in range(40)]
    frame = pl.DataFrame(
        [
            (f"s{j}", f"r{i}", label, int(rng.integers(0, 8)))
            for j in range(6)
            for i in range(3)
            for label in labels
        ],
        schema=["stimulus", "rater", "label", "value"],
        orient="row",
    )
    text = write(Ratings(frame, scale="0-7"))
    page = read_page(text)
    assert {f"label number {k}" for k in range(40)} <= {t.text.strip() for t in page.all("text")}


def test_a_thousand_raters(write):
    rng = np.random.default_rng(3)
    raters = np.concatenate([rng.choice(1000, 5, replace=False) for _ in range(600)])
    frame = {
        "stimulus": np.repeat(np.arange(600), 5).astype(str),
        "rater": raters.astype(str),
        "value": rng.integers(0, 8, 3000),
    }
    text = write(Ratings(frame, scale="0-7"))
    assert "the 40 with the most answers are shown" in text
    assert "raters with few answers have no entry" in text
    assert "The first 60 of" in text


def test_set_aside_rows_are_listed(write):
    frame = {"stimulus": ["a", "b", "c"], "rater": ["r1", "r2", "r1"], "value": ["1", "x", "2"]}
    text = write(Ratings(frame, scale="0-7", on_bad="set_aside"))
    assert "What was set aside of the source, and why." in text


def test_who_answered_nothing_is_counted_and_named(write):
    """145 took part, and the report said 139."""
    rng = np.random.default_rng(3)
    values = rng.integers(1, 6, (4, 145)).astype(float)
    values[:, 139:] = np.nan
    ratings = grid(4, 145, values.ravel(), scale="1-5")
    text = write(ratings)
    assert (
        "139 people gave 556 answers about 4 stimuli (ordinal 1 to 5, step 1); 6 more raters"
        in text
    )
    assert "6 more raters gave none that can be used." in text
    assert "6 raters of the source have no answer that can be used and are not counted" in text
    assert "6: r139, r140, r141, r142, r143, r144" in text
    assert "24 rows" in text


def test_odd_people_are_named(write):
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 8, 40)
    noisy = [np.clip(truth + rng.integers(-1, 2, 40), 0, 7) for _ in range(4)]
    values = np.stack([*noisy, 7 - truth, np.full(40, 3)], axis=1).ravel()
    text = write(grid(40, 6, values, scale="0-7"))
    assert "answers as on a reversed scale (n = 40)" in text
    assert "r5 (careless: always the same answer (n = 40)" in text
    assert "Without r4 and r5, who are taken to be careless, the reliability of the mean" in text


def test_models_that_answered_a_part_are_named(write):
    frame = {
        "stimulus": [f"s{k}" for k in range(20)] * 3 + ["s0", "s1", "s2", "s3", "s4"],
        "rater": ["a"] * 20 + ["b"] * 20 + ["c"] * 20 + ["m"] * 5,
        "value": [k % 8 for k in range(65)],
    }
    kinds = {"rater": list("abcm"), "rater_kind": ["human"] * 3 + ["model"]}
    text = write(Ratings(frame, scale="0-7", raters=kinds))
    assert "Answered of the items that people answered: m 25\u00a0%" in text


HOSTILE = [
    "<script>alert(1)</script>",
    "x" * 300,
    "😀 emoji",
    "עברית",
    "turn\u202eround\x07 bell",
    "$x^2$ & 'q' \"d\" ]]> {{ 7 * 7 }}",
]


def test_hostile_names(tmp_path, read_page):
    rng = np.random.default_rng(5)
    ratings = Ratings(
        {
            "stimulus": np.repeat(["<img src=x onerror=alert(1)>", "]]>", "b"], 6),
            "rater": HOSTILE * 3,
            "label": ["</title><script>"] * 9 + ["</svg><script>"] * 9,
            "value": rng.integers(0, 8, 18),
        },
        scale="0-7",
        source="</style><script>alert(1)</script>",
        raters={"rater": HOSTILE, "<b>attribute</b>": ["<i>x</i>", "y"] * 3},
    )
    paths = write_report(ratings, tmp_path, n_boot=10, title="</title><script>alert(1)</script>")
    text = paths.html.read_text(encoding="utf-8")
    page = read_page(text)
    assert page.all("script", "i", "img") == []
    assert page.unbalanced == []
    assert "{{ 7 * 7 }}" in text
    assert "\u202e" not in text
    assert "\x07" not in text
    assert "x" * 100 not in page.all("main")[0].text
    for path in paths.figures:
        if path.suffix == ".svg":
            ET.parse(path)
    assert "<script>alert(1)</script>" in pl.read_csv(tmp_path / "tables" / "raters.csv")["rater"]


names = st.text(min_size=1, max_size=12).filter(lambda text: text.strip())


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(names, min_size=2, max_size=4, unique=True), st.integers(0, 3))
def test_any_names(tmp_path, read_page, raters, seed):
    rng = np.random.default_rng(seed)
    n = len(raters)
    frame = {
        "stimulus": [name for name in ("a", "b", "c") for _ in range(n)],
        "rater": raters * 3,
        "value": rng.integers(0, 8, 3 * n),
    }
    paths = write_report(Ratings(frame, scale="0-7"), tmp_path, n_boot=0)
    page = read_page(paths.html.read_text(encoding="utf-8"))
    assert page.unbalanced == []
    for path in paths.figures:
        if path.suffix == ".svg":
            ET.parse(path)


@pytest.mark.data
def test_emonet_face(shared_data, write):
    file = shared_data / "emonet_face" / "binary.csv"
    text = write(read_ratings(file), n_boot=50)
    assert "look as if they were collected in rounds" in text
    assert "75\u00a0% of the 14,670 items in batch 2 and 82\u00a0% of the 11,018" in text
    assert str(file.parent) not in text
