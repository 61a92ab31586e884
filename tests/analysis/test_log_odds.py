"""Words that go with labels: known answers, rules for ratings, what is not defined."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from affectlab.analysis import log_odds, tokenize
from affectlab.analysis.words.wording import BY_SUBSTRING, criterion_text, odds_text, unlabelled
from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.ratings import Ratings

TEXTS = ["so happy today", "happy happy day", "afraid of the day", "so afraid"]
LABELS = ["joy", ["joy"], {"fear"}, ("fear", "joy")]


def row(found, label: str, word: str) -> dict:
    return found.kept_words(min_z=-99).row(
        by_predicate=(pl.col("label") == label) & (pl.col("word") == word), named=True
    )


def test_known_answer() -> None:
    found = log_odds(TEXTS, LABELS)
    # With joy: texts 1, 2 and 4, eight words, "happy" three times; without: four words.
    y1, y2, n1, n2, a, a0 = 3, 0, 8, 4, 3, 12
    delta = math.log((y1 + a) / (n1 + a0 - y1 - a)) - math.log((y2 + a) / (n2 + a0 - y2 - a))
    se = math.sqrt(1 / (y1 + a) + 1 / (y2 + a))
    happy = row(found, "joy", "happy")
    assert happy["value"] == pytest.approx(delta)
    assert happy["se"] == pytest.approx(se)
    assert happy["z"] == pytest.approx(delta / se)
    assert happy["high"] - happy["value"] == pytest.approx(1.959964 * se, rel=1e-6)
    assert (happy["count"], happy["share"]) == (3, 3 / 8)
    assert (happy["n_items"], happy["n_ratings"]) == (3, 4)
    # Both texts with "happy" have joy, which three of four texts have.
    assert happy["p"] == pytest.approx((3 / 4) ** 2)


def test_words_in_order_and_cut() -> None:
    found = log_odds(TEXTS, LABELS)
    frame = found.kept_words(2, min_z=-99)
    assert frame["label"].to_list() == ["joy", "joy", "fear", "fear"]
    assert frame.filter(frame["label"] == "fear")["word"][0] == "afraid"
    assert found.top("joy", 1, min_z=-99)["word"].to_list() == ["happy"]
    # Equal z: by the alphabet.
    same = log_odds(["b a", "c d"], ["x", "y"])
    assert same.top("x", min_z=0)["word"].to_list() == ["a", "b"]
    with pytest.raises(InputError, match="did you mean 'joy'"):
        found.top("joyy")


def test_the_order_of_texts_does_not_matter() -> None:
    order = [2, 0, 3, 1]
    one = log_odds(TEXTS, LABELS, names=["joy", "fear"]).kept_words(min_z=-99)
    two = log_odds(
        [TEXTS[k] for k in order], [LABELS[k] for k in order], names=["joy", "fear"]
    ).kept_words(min_z=-99)
    assert one.equals(two)


@pytest.mark.parametrize(
    "labels",
    [
        [{"joy"}, {"joy"}, {"fear"}, {"fear", "joy"}],
        [["joy"], ["joy", "joy"], ["fear"], ["joy", "fear"]],
        pl.Series([["joy"], ["joy"], ["fear"], ["fear", "joy"]]),
        np.array([[1, 0], [1, 0], [0, 1], [1, 1]]),
    ],
    ids=["sets", "repeated", "polars", "array"],
)
def test_forms_of_labels(labels) -> None:
    names = ["joy", "fear"]
    expected = log_odds(TEXTS, LABELS, names=names)
    found = log_odds(TEXTS, labels, names=names)
    np.testing.assert_array_equal(found.z, expected.z)
    assert found.n_texts.tolist() == [3, 2]


def test_texts_cut_before_give_the_same() -> None:
    tokens = tokenize(TEXTS)
    np.testing.assert_array_equal(log_odds(tokens, LABELS).z, log_odds(TEXTS, LABELS).z)
    with pytest.raises(InputError, match="cut into words already"):
        log_odds(tokens, LABELS, tokenizer=str.split)


def test_labels_never_used_or_always_used_say_so() -> None:
    found = log_odds(TEXTS, [["all", "joy"]] * 2 + [["all"]] * 2, names=["all", "never", "joy"])
    assert found.reasons == (
        Reason(Cause.ALL_TEXTS_LABELLED),
        Reason(Cause.NONE, of="text with the label"),
        None,
    )
    assert np.isnan(found.z[:2]).all()
    assert np.isnan(found.p[:2]).all()
    frame = found.to_frame()
    assert frame.filter(frame["status"] != "ok")["word"].to_list() == ["", ""]
    assert log_odds(TEXTS, ["joy"] * 4).reasons == (Reason(Cause.ALL_TEXTS_LABELLED),)


def test_empty_texts_and_one_word() -> None:
    empty = log_odds(["", "a", "b"], ["x", "y", "y"])
    assert empty.reasons == (Reason(Cause.NONE, of="words on one side"),) * 2
    assert log_odds(["a", "a a"], ["x", "y"]).reasons == (Reason(Cause.ONE_WORD),) * 2
    with pytest.raises(InputError, match="no words"):
        log_odds(["", "!"], ["x", "y"])


def test_texts_without_a_label() -> None:
    labels = [["joy"], [], ["fear"], []]
    left_out = log_odds(TEXTS, labels)
    assert left_out.n_all == 2
    assert unlabelled(2) in left_out.method
    kept = log_odds(TEXTS, labels, keep_unlabelled=True)
    assert kept.n_all == 4
    # Words that stand only in texts left out have no values.
    assert np.isnan(left_out.z[:, left_out.words.index("happy")]).sum() == 0
    only = left_out.words.index("afraid")
    assert left_out.total[only] == 1
    lost = log_odds(["a b", "c", "a d"], ["x", [], "y"])
    assert np.isnan(lost.z[:, lost.words.index("c")]).all()
    assert np.isnan(lost.p[:, lost.words.index("c")]).all()
    with pytest.raises(InputError, match="no text has a label"):
        log_odds(TEXTS, [[]] * 4)


def test_substrings_of_labels_count_in_the_published_way() -> None:
    labels = ["disapproval", "approval", "joy", "joy"]
    exact = log_odds(TEXTS, labels, names=["approval", "disapproval", "joy"])
    compat = log_odds(TEXTS, labels, names=["approval", "disapproval", "joy"], paper_compat=True)
    assert exact.n_texts.tolist() == [1, 1, 2]
    assert compat.n_texts.tolist() == [2, 1, 2]
    assert BY_SUBSTRING in compat.method


def test_p_values_count_a_text_once() -> None:
    # One text repeats a word a hundred times: a high z from one text.
    texts = ["crab " * 100, "sad sea", "sad day", "fine day", "fine sea", "fine sun"] * 1
    found = log_odds(texts, ["low"] * 3 + ["up"] * 3)
    crab, sad = row(found, "low", "crab"), row(found, "low", "sad")
    assert crab["z"] > 3 > sad["z"]
    assert crab["p"] == pytest.approx(1 / 2)
    assert sad["p"] == pytest.approx(1 / 4)
    assert set(found.top("low")["word"]) == {"crab"}
    assert found.top("low", criterion="holm").height == 0


def test_criteria_that_correct_for_many_words() -> None:
    texts = ["good a", "good b", "good c", "bad d", "bad e", "bad f"] * 20
    found = log_odds(texts, (["up"] * 3 + ["down"] * 3) * 20)
    for criterion in ("holm", "bh"):
        frame = found.top("up", criterion=criterion)
        assert frame["word"][0] == "good"
        assert "bad" not in frame["word"].to_list()
    with pytest.raises(InputError, match="unknown criterion"):
        found.kept("bonferroni")


def test_spread_of_z_under_the_null() -> None:
    """The formula of the notes, against words thrown at texts whatever their label."""
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(30)]
    texts = [" ".join(rng.choice(words, 20)) for _ in range(4000)]
    labels = ["rare" if k % 20 == 0 else "often" for k in range(4000)]
    found = log_odds(texts, labels)
    assert found.null_sd[0] == pytest.approx(found.null_sd[1])
    assert np.std(found.z[0]) == pytest.approx(found.null_sd[0], rel=0.3)
    assert found.null_sd[0] < 0.3


def ratings() -> Ratings:
    chosen = {
        "a": {"r1": "joy", "r2": "joy", "r3": "fear"},
        "b": {"r1": "joy", "r2": "fear", "r3": ""},
        "c": {"r1": "fear"},
    }
    rows = [
        (stimulus, rater, label, int(label == own))
        for stimulus, by in chosen.items()
        for rater, own in by.items()
        for label in ("joy", "fear")
    ]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    texts = {"stimulus": ["a", "b", "c"], "text": ["good one", "odd two", "bad one"]}
    return Ratings(frame, scale="binary", stimuli=texts)


@pytest.mark.parametrize(
    ("options", "n_texts"),
    [
        # a: joy by 2 of 3, fear by 1; b: each by 1 of 3; c: fear by 1 of 1.
        ({}, {"joy": 1, "fear": 1}),
        ({"min_raters": 1}, {"joy": 2, "fear": 3}),
        ({"min_raters": 2}, {"joy": 1, "fear": 0}),
        # Two agree on a, which three raters saw; all seven rows are texts.
        ({"paper_compat": True}, {"joy": 3, "fear": 0}),
        ({"paper_compat": True, "min_raters": 1}, {"joy": 6, "fear": 7}),
    ],
)
def test_labels_of_ratings(options, n_texts) -> None:
    found = log_odds(ratings(), **options)
    assert dict(zip(found.labels, found.n_texts.tolist(), strict=True)) == n_texts
    if options.get("paper_compat"):
        assert found.n_all == 7


def test_texts_that_count_once_per_rater_have_no_p() -> None:
    found = log_odds(ratings(), paper_compat=True)
    assert np.isnan(found.p).all()
    with pytest.raises(InputError, match="no p-values"):
        found.kept("bh")


def test_ratings_with_models_are_about_people() -> None:
    frame = {
        "stimulus": ["a", "b", "a", "b"],
        "rater": ["p", "p", "m", "m"],
        "label": ["joy", "fear", "fear", "joy"],
        "value": [1, 1, 1, 1],
    }
    stimuli = {"stimulus": ["a", "b"], "text": ["nice", "grim"]}
    raters = {"rater": ["p", "m"], "rater_kind": ["human", "model"]}
    found = log_odds(Ratings(frame, scale="binary", raters=raters, stimuli=stimuli))
    assert found.top("joy", 1, min_z=0)["word"].to_list() == ["nice"]


def test_texts_beside_the_answers() -> None:
    frame = {
        "stimulus": ["b", "a"],
        "rater": ["r", "r"],
        "label": ["fear", "joy"],
        "value": [1, 1],
        "text": ["grim", "nice"],
    }
    found = log_odds(Ratings(frame, scale="binary"))
    assert found.top("joy", 1, min_z=0)["word"].to_list() == ["nice"]
    again = {name: [*column, *column] for name, column in frame.items()}
    again |= {"rater": ["r", "r", "q", "q"], "text": ["grim", "nice", "grim", "I think so"]}
    with pytest.raises(InputError, match="differs between answers"):
        log_odds(Ratings(again, scale="binary"))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: log_odds(TEXTS), "one set of labels per text"),
        (lambda: log_odds(TEXTS, ["joy"]), "expected 4 sets"),
        (lambda: log_odds(TEXTS, "joy"), "not one text"),
        (lambda: log_odds(TEXTS, [1, 2, 3, 4]), r"labels\[0\] is 1"),
        (lambda: log_odds(TEXTS, [["a"], ["a"], [["x"]], ["b"]]), r"labels\[2\]"),
        (lambda: log_odds(TEXTS, [["a"], ["a"], [3], ["b"]]), "label 3"),
        (lambda: log_odds(TEXTS, np.eye(4)), "names of the 4 columns"),
        (lambda: log_odds(TEXTS, np.eye(3), names=list("abc")), "expected 4 rows"),
        (lambda: log_odds(TEXTS, 2 * np.eye(4), names=list("abcd")), "0 and 1"),
        (lambda: log_odds(TEXTS, LABELS, names=["joy", "joy"]), "different labels"),
        (lambda: log_odds(TEXTS, LABELS, min_raters=2), "is for ratings"),
        (lambda: log_odds(TEXTS, LABELS, confidence=95), "confidence"),
        (lambda: log_odds(ratings(), LABELS), "expected None"),
        (lambda: log_odds(ratings(), min_raters=0), "min_raters = 0"),
        (lambda: log_odds(ratings(), text="body"), "no attribute 'body'"),
        (
            lambda: log_odds(ratings().with_stimuli({"stimulus": ["a"], "text": [3]})),
            "expected texts",
        ),
    ],
)
def test_bad_input(call, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()


def test_it_prints_hostile_words_as_text() -> None:
    from rich.console import Console

    from affectlab.core.render.terminal import table_lines

    found = log_odds(["[red]x[/] \x1b[2J", "fine"], ["[b]", "ok"], tokenizer=str.split)
    console = Console(width=80, record=True, markup=False)
    console.print(table_lines(found.first_words(min_z=0)))
    text = console.export_text()
    assert "[red]x[/]" in text
    assert "\x1b" not in text
    assert repr(found) == f"LogOdds({odds_text(2, 3, 2, criterion_text('z', 3))})"
