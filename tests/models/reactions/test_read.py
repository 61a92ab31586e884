"""Pairs and reactions from tables, ratings and the published file."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.models.reactions import ReactionGenerator, read_items, read_reactions
from affectlab.models.reactions.items import PersonReaction, ReactionItem


def test_a_plain_table(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text(
        "pair,file,text,emotion\na,x/a.png,Storm hits coast,Sad\nb,b.png,Cup won,awe\n"
    )
    assert read_items(table) == (
        ReactionItem("a", "Storm hits coast", "Sad", tmp_path / "x" / "a.png"),
        ReactionItem("b", "Cup won", "awe", tmp_path / "b.png"),
    )
    assert read_items(table, images=tmp_path / "y")[1].image == tmp_path / "y" / "b.png"
    assert read_items(table, text_only=True)[0].image is None
    assert read_items(table, emotion="pair")[1].emotion == "b"


@pytest.mark.parametrize("name", ["../b.png", "/etc/b.png", "x/../../b.png", "a\0b.png"])
def test_images_outside_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    table = tmp_path / "pairs.parquet"
    pl.DataFrame(
        {"stimulus": ["a"], "caption": ["c"], "emotion": ["awe"], "image": [name]}
    ).write_parquet(table)
    with pytest.raises(InputError, match=r"pairs\.parquet, row 1: image '.*b\.png'"):
        read_items(table)
    assert read_items(table, text_only=True)[0].image is None
    if name.startswith("/"):
        assert read_items(table, images="/")[0].image == Path(name)


def test_the_published_file(tmp_path: Path) -> None:
    file = tmp_path / "published.json"
    content = {
        "7": [
            ["a.jpg", "Storm hits coast", ["Sad", "awe"], ["Homes are lost.", "Its power."], {}],
            ["a.jpg", "Storm hits coast", ["sad"], ["People suffer."], {}],
        ],
        "9": [["b.jpg", "Cup won", ["happy"], ["They have won."], {}]],
    }
    file.write_text(json.dumps(content))
    items = read_items(file)
    assert [(one.stimulus, one.emotion, one.caption) for one in items] == [
        ("7", "Sad", "Storm hits coast"),
        ("7", "awe", "Storm hits coast"),
        ("7", "sad", "Storm hits coast"),
        ("9", "happy", "Cup won"),
    ]
    assert items[0].image == tmp_path / "a.jpg"
    said = read_reactions(file, people=True)
    assert said[2] == PersonReaction("7", "Storm hits coast", "sad", "People suffer.", "7/2")
    assert len(said) == 4


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_what_a_model_wrote_can_be_read_again(
    t5: str, items: list[ReactionItem], tmp_path: Path, suffix: str
) -> None:
    ratings = ReactionGenerator(t5, text_only=True).rate(items)
    ratings.write(tmp_path / f"machine.{suffix}")
    said = read_reactions(tmp_path / f"machine.{suffix}")
    frame = ratings.to_frame().filter(pl.col("outcome") == "ok")
    assert [one.text for one in said] == [text.strip() for text in frame["text"]]
    assert {one.rater for one in said} == {"tiny-t5 text-only greedy"}
    assert said[0].caption == items[0].caption
    with pytest.raises(InputError, match="has no reactions of people"):
        read_reactions(tmp_path / f"machine.{suffix}", people=True)


def test_reactions_without_captions(tmp_path: Path) -> None:
    table = tmp_path / "said.csv"
    table.write_text("stimulus,rater,label,text\na,p1,sad,Homes are lost.\n")
    assert read_reactions(table, pairs={"a": "Storm"}) == (
        PersonReaction("a", "Storm", "sad", "Homes are lost.", "p1"),
    )
    with pytest.raises(InputError, match="row 1: stimulus 'a' is not among the pairs"):
        read_reactions(table, pairs={"b": "Storm"})


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("stimulus,image,caption\na,a.png,c\n", {}, r"has no column 'emotion' \(or label\)"),
        (
            "stimulus,image,caption,emotion\na,a.png,c,sad\n",
            {"emotion": "emotoin"},
            "'emotoin'.*emotion",
        ),
        ("stimulus,image,caption,emotion\na,a.png,,sad\n", {}, "row 1: the caption is empty"),
        ("stimulus,image,caption,emotion\na,a.png,c, \n", {}, "row 1: the emotion is empty"),
        ("stimulus,image,caption,emotion\na,,c,sad\n", {}, "row 1: the image is empty"),
        ("stimulus,caption,emotion\na,c,sad\n", {}, "has no column 'image'"),
        ("stimulus,image,caption,emotion\n", {}, "has no rows"),
    ],
)
def test_bad_tables(tmp_path: Path, content: str, options: dict[str, str], said: str) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text(content)
    with pytest.raises(InputError, match=said):
        read_items(table, **options)  # type: ignore[arg-type]


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_items(tmp_path / "none.csv")
