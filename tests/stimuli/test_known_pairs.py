"""Pairs of known difference beside those of a design, and what is wrong with a table of them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.stimuli import example_sequences, pair_design
from affectlab.stimuli.pairs.known import read_known_pairs, with_known_pairs

GOOD = "stimulus,file_a,file_b,value,note\nsame,x.png,x.png,0,easy\n far ,x.png,y.png,80.5,\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "known.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_they_are_in_no_batch_and_the_design_stays(tmp_path: Path) -> None:
    pairs = pair_design(example_sequences(2, 3)).to_frame()
    known = read_known_pairs(written(tmp_path, GOOD))
    assert known["value"].to_list() == [0.0, 80.5]
    both = with_known_pairs(pairs, known)
    assert both.columns == pairs.columns
    assert both.head(pairs.height).equals(pairs)
    below = both.tail(2).select("stimulus", "kind", "file_a", "file_b", "actor", "block", "batch")
    assert below.rows() == [
        ("same", "known", "x.png", "x.png", None, None, None),
        ("far", "known", "x.png", "y.png", None, None, None),
    ]


def test_parquet_gives_the_same(tmp_path: Path) -> None:
    known = read_known_pairs(written(tmp_path, GOOD))
    known.write_parquet(tmp_path / "known.parquet")
    assert read_known_pairs(tmp_path / "known.parquet").equals(known)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "file_b",
            "other",
            "'file_b' is missing; expected stimulus, file_a, file_b and value",
        ),
        ("80.5", "far", "row 2: value 'far'; expected a number"),
        ("80.5", "nan", "row 2: value 'nan'; expected a number"),
        ("80.5", "", "row 2: value is empty"),
        (" far ", "same", "stimulus 'same' stands twice"),
        (" far ", " ", "row 2: stimulus is empty"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    path = written(tmp_path, GOOD.replace(old, new))
    with pytest.raises(InputError, match=sentence) as refused:
        read_known_pairs(path)
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)


def test_a_name_of_the_design_is_refused() -> None:
    pairs = pair_design(example_sequences(2, 3)).to_frame()
    taken = pl.DataFrame({"stimulus": [pairs["stimulus"][3]], "file_a": ["x"], "file_b": ["y"]})
    with pytest.raises(InputError, match="has the name of a pair of the design"):
        with_known_pairs(pairs, taken)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_known_pairs(tmp_path / "none.csv")
