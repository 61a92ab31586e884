"""Reactions as items of a blind study."""

from __future__ import annotations

from typing import Any

import pytest

from affectlab.core.errors import InputError
from affectlab.evaluation import reaction_pairs
from affectlab.ratings import Ratings


def people(n: int = 30) -> Ratings:
    rows: dict[str, list[str]] = {"stimulus": [], "rater": [], "emotion": [], "text": []}
    for pair in range(n):
        for k, (rater, emotion) in enumerate((("ann", "Sad"), ("bob", "sad "), ("ann", "awe"))):
            rows["stimulus"].append(f"p{pair}")
            rows["rater"].append(rater)
            rows["emotion"].append(emotion)
            rows["text"].append(f"reason {k} of {pair}")
    shown = {
        "stimulus": [f"p{k}" for k in range(n)],
        "caption": [f"caption {k}" for k in range(n)],
        "image": [f"{k}.jpg" for k in range(n)],
        "source": ["bbc" if k % 2 else "cnn" for k in range(n)],
    }
    return Ratings(rows, scale="text", stimuli=shown)


def machine(n: int = 30, name: str = "blip", text: str = "It is {} of {}.") -> Ratings:
    rows: dict[str, Any] = {
        "stimulus": [f"p{pair}" for pair in range(n) for _ in range(2)],
        "rater": [name] * (2 * n),
        "emotion": ["sad", "Joy"] * n,
        "text": [text.format(k, pair) for pair in range(n) for k in range(2)],
    }
    kinds = {"rater": [name], "rater_kind": ["model"]}
    return Ratings(rows, scale="text", raters=kinds)


def test_both_are_about_the_same_pair_and_emotion() -> None:
    made = reaction_pairs(people(), machine(), seed=0)
    assert made.height == 30
    assert sorted(made["stimulus"].to_list()) == [f"item{k:04d}" for k in range(1, 31)]
    assert set(made["emotion"]) == {"sad"}
    assert made["pair"].n_unique() == 30
    drawn = set()
    for row in made.to_dicts():
        number = row["pair"][1:]
        texts = {row["system_a"]: row["option_a"], row["system_b"]: row["option_b"]}
        assert texts["machine"] == f"It is 0 of {number}."
        assert texts["human"] in {f"reason {k} of {number}" for k in (0, 1)}
        drawn.add(texts["human"].split()[1])
        assert row["file"] == f"{number}.jpg"
        assert row["source"] == ("bbc" if int(number) % 2 else "cnn")
        assert row["text"].startswith(f"caption {number}\nA person feels sad.")
        # Whose it is stands nowhere in what is shown.
        assert "machine" not in row["text"] + row["stimulus"]
    assert drawn == {"0", "1"}
    assert (made["system_a"] == "human").sum() == 15
    assert made["system_a"].to_list() != sorted(made["system_a"].to_list())


def test_a_sample_and_several_machines() -> None:
    some = reaction_pairs(people(), machine(), n=7, seed=1)
    assert some.height == 7
    assert some.equals(reaction_pairs(people(), machine(), n=7, seed=1))
    assert not some.equals(reaction_pairs(people(), machine(), n=7, seed=2))
    assert int((some["system_a"] == "human").sum()) in (3, 4)
    both = machine().merge(machine(name="flan", text="A {} and a {}."))
    made = reaction_pairs(people(), both, seed=0)
    assert made.height == 60
    assert set(made["system_a"]) | set(made["system_b"]) == {"human", "blip", "flan"}
    for name in ("blip", "flan"):
        of = made.filter((made["system_a"] == name) | (made["system_b"] == name))
        assert (of["system_a"] == "human").sum() == 15


def test_emotions_may_be_labels() -> None:
    rows = {
        "stimulus": [f"p{pair}" for pair in range(3) for _ in range(2)],
        "rater": ["net"] * 6,
        "label": ["sad", "joy"] * 3,
        "value": [None] * 6,
        "text": [f"made {k}" for k in range(6)],
    }
    kinds = {"rater": ["net"], "rater_kind": ["model"]}
    made = reaction_pairs(people(3), Ratings(rows, scale="binary", raters=kinds), seed=0)
    assert sorted(made["pair"].to_list()) == ["p0", "p1", "p2"]
    assert {"made 0", "made 2", "made 4"} <= set(made["option_a"]) | set(made["option_b"])


def test_the_same_text_is_no_choice() -> None:
    rows = {"stimulus": ["a", "b"], "emotion": ["sad", "sad"]}
    shown = {"stimulus": ["a", "b"], "caption": ["x", "y"]}
    human = Ratings(
        rows | {"rater": ["ann", "ann"], "text": ["Gone.", "Lost."]}, scale="text", stimuli=shown
    )
    net = Ratings(rows | {"rater": ["net", "net"], "text": ["gone.", "Old."]}, scale="text")
    made = reaction_pairs(human, net, seed=0)
    assert made["pair"].to_list() == ["b"]


def test_bad_input_is_one_sentence() -> None:
    no_caption = Ratings(
        {"stimulus": ["p1"], "rater": ["ann"], "emotion": ["sad"], "text": ["x"]}, scale="text"
    )
    plain = Ratings({"stimulus": ["p1"], "rater": ["ann"], "value": [1]}, scale="0-7")
    for ratings, options, words in (
        (people(), {"n": 31}, "n 31: expected 1 up to the 30"),
        (people(), {"n": 0}, "n 0"),
        (people(), {"text": "{place}"}, "text names {place}"),
        (people(), {"text": "{emotion.x}"}, "name of a column"),
        (people(), {"text": "{emotion"}, "not understood"),
        (no_caption, {}, "text names {caption}"),
        (plain, {}, "expected reactions with a column"),
    ):
        with pytest.raises(InputError, match=words.replace("{", r"\{")):
            reaction_pairs(ratings, machine(), **options)
    with pytest.raises(InputError, match="is called 'human'"):
        reaction_pairs(people(), machine(name="human"))
    with pytest.raises(InputError, match="share no stimulus"):
        reaction_pairs(no_caption, machine(1))
