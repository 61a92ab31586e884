"""What is written and read again is the same table, whatever its names and texts look like."""

from __future__ import annotations

import datetime as dt
import math
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, Scale, read_ratings
from affectlab.taxonomy import load_taxonomy

# Generated answers may look like several scales, which is then said.
pytestmark = pytest.mark.filterwarnings("ignore::affectlab.ratings.GuessedScalesWarning")

SUFFIXES = (".csv", ".parquet", ".jsonl")
AWKWARD = [
    "007",
    "1e5",
    "NA",
    "None",
    "nan",
    "true",
    "null",
    "-1",
    "3.0",
    "3",
    "+3",
    "inf",
    " lead",
    "trail ",
    "a,b",
    "a;b",
    'say "hi"',
    '"',
    '""',
    "two\nlines",
    "car\rriage",
    "both\r\nends",
    "tab\there",
    "\ufeffbom",
    "naïve",
    "悲しい",
    "😀",
    "e\u0301",
    "\x00",
    "#comment",
    "=1+1",
    "'",
    "\\",
    "{}",
    "[1]",
    "<b>",
    ".",
    "-",
]

names = st.one_of(
    st.sampled_from(AWKWARD),
    st.text(
        st.characters(exclude_categories=["Cs"]),
        min_size=1,
        max_size=8,
    ),
).filter(lambda text: bool(text.strip()) and not pl.Series([text]).str.strip_chars().eq("").any())
texts = st.one_of(st.none(), st.just(""), st.just("  "), names)
floats = st.floats(allow_nan=False, allow_infinity=False)
plain = settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@st.composite
def tables(draw: st.DrawFn) -> Ratings:
    """Any table: numbers, words or texts; labels, row columns and attributes or not."""
    n = draw(st.integers(1, 12))
    column = {
        "stimulus": draw(st.lists(names, min_size=n, max_size=n)),
        "rater": draw(st.lists(names, min_size=n, max_size=n)),
        "trial": draw(st.permutations(range(n))),
    }

    def cells(strategy: st.SearchStrategy) -> list:
        return draw(st.lists(strategy, min_size=n, max_size=n))

    if draw(st.booleans()):
        column["label"] = cells(names)
    kind = draw(st.sampled_from(["float", "whole", "nominal", "text", "with text"]))
    scale = None
    if kind in ("float", "with text"):
        column["value"] = cells(floats)
    elif kind == "whole":
        column["value"] = cells(st.integers(0, 7))
        scale = draw(st.sampled_from([None, "0-7", "0-10 interval"]))
    elif kind == "nominal":
        words = [f"{word}!" for word in "abc"]
        column["value"] = cells(st.sampled_from(words))
        scale = draw(st.sampled_from([None, "nominal:c!,b!,a!,d!", "ordinal:c!,B!,a!"]))
    if kind in ("text", "with text"):
        column["text"] = [text or ("" if text == "" else "said") for text in cells(texts)]
    optional = {
        "session": texts,
        "trial_kind": st.sampled_from(["main", "golden", "repeat"]),
        "outcome": st.sampled_from(["ok", "refused"]),
        "rt_ms": st.one_of(st.none(), floats),
        "at": texts,
        "flag": st.one_of(st.none(), st.booleans()),
        "note": texts,
        "count": st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
        'odd "name", really': st.one_of(st.none(), st.floats(allow_nan=False)),
    }
    for name, strategy in optional.items():
        if draw(st.booleans()):
            column[name] = cells(strategy)
    made = Ratings(column, scale=scale)
    attributes = {
        "age": st.one_of(st.none(), st.integers(0, 99)),
        "weight": st.one_of(st.none(), st.floats(allow_nan=False)),
        "comment": texts,
        "keen": st.one_of(st.none(), st.booleans()),
        "rater_kind": st.sampled_from(["human", "model", "baseline", "simulated"]),
    }
    table: dict[str, list] = {"rater": list(made.rater_names)}
    for name, strategy in attributes.items():
        if draw(st.booleans()):
            size = made.n_raters
            table[name] = draw(st.lists(strategy, min_size=size, max_size=size))
    return made.with_raters(table)


def assert_same(read: Ratings, written: Ratings) -> None:
    assert dict(read.scales) == dict(written.scales)
    assert read.to_frame().to_dict(as_series=False) == written.to_frame().to_dict(as_series=False)
    assert read.to_frame().schema == written.to_frame().schema
    assert read.stimulus_names == written.stimulus_names
    assert read.rater_names == written.rater_names
    assert read.label_names == written.label_names
    assert read.rater_code.tolist() == written.rater_code.tolist()
    assert read.raters.schema == written.raters.schema
    assert read.equals(written)
    assert read.set_aside == written.set_aside
    assert read.history == written.history
    assert read.source == written.source


@pytest.mark.parametrize("suffix", SUFFIXES)
@plain
@given(table=tables())
def test_any_table_survives(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, table: Ratings
) -> None:
    file = table.write(tmp_path_factory.mktemp("round") / f"ratings{suffix}")
    assert_same(read_ratings(file), table)


@pytest.mark.parametrize("suffix", SUFFIXES)
@plain
@given(table=tables(), data=st.data())
def test_any_part_survives(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, table: Ratings, data: st.DataObject
) -> None:
    kept = data.draw(st.lists(st.sampled_from(table.rater_names), min_size=1, unique=True))
    part = table.select(raters=kept)
    file = part.write(tmp_path_factory.mktemp("round") / f"ratings{suffix}")
    assert_same(read_ratings(file), part)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_awkward_names_stay_as_they_are(tmp_path: Path, suffix: str) -> None:
    table = Ratings(
        {
            "stimulus": AWKWARD,
            "rater": AWKWARD[::-1],
            "label": AWKWARD,
            "value": range(len(AWKWARD)),
        }
    )
    read = read_ratings(table.write(tmp_path / f"r{suffix}"))
    assert read.stimulus_names == tuple(AWKWARD)
    assert read.rater_names == tuple(AWKWARD[::-1])
    assert_same(read, table)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_attributes_of_all_types(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame({"stimulus": ["a", "b"], "rater": ["r", "r"], "value": [1.5, 2.5]})
    stimuli = pl.DataFrame(
        {
            "stimulus": ["b", "a"],
            "small": pl.Series([1, None], dtype=pl.UInt8),
            "huge": pl.Series([2**64 - 1, 1], dtype=pl.UInt64),
            "real": pl.Series([0.1, None], dtype=pl.Float32),
            "endless": [math.inf, math.nan],
            "day": [dt.date(2026, 1, 2), None],
            "moment": [dt.datetime(2026, 1, 2, 3, 4, 5), None],
            "kind": pl.Series(["x", None], dtype=pl.Categorical),
            "nothing": pl.Series([None, None], dtype=pl.Null),
            "flag": [True, None],
        }
    )
    table = Ratings(frame, stimuli=stimuli)
    assert table.stimuli["stimulus"].to_list() == ["a", "b"]
    assert table.stimuli["huge"].to_list() == ["1", str(2**64 - 1)]
    assert table.stimuli["day"].to_list() == [None, "2026-01-02"]
    assert table.stimuli["endless"].to_list() == [None, math.inf]
    assert set(table.stimuli.dtypes) <= {pl.Int64, pl.Float64, pl.Boolean, pl.String}
    assert_same(read_ratings(table.write(tmp_path / f"r{suffix}")), table)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_infinite_row_columns_and_taxonomy(tmp_path: Path, suffix: str) -> None:
    labels = list(load_taxonomy("ekman").labels)
    n = len(labels)
    table = Ratings(
        {
            "stimulus": ["a"] * n + ["b"],
            "rater": ["r"] * n + ["s"],
            "label": [*labels, labels[0]],
            "value": [1.0] * (n + 1),
            "x": [math.inf, -math.inf, *range(n - 1)],
        }
    ).fill_absent()
    assert table.taxonomy is not None
    read = read_ratings(table.write(tmp_path / f"r{suffix}"))
    assert_same(read, table)
    assert read.taxonomy == table.taxonomy
    part = table.select(labels=labels[:2])
    assert_same(read_ratings(part.write(tmp_path / f"p{suffix}")), part)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_numeric_categories_are_not_taken_for_indices(tmp_path: Path, suffix: str) -> None:
    table = Ratings(
        {"stimulus": ["a", "b", "c"], "rater": ["r"] * 3, "value": [3, 1, 2]},
        scale="nominal:1,2,3",
    )
    assert table.value.tolist() == [2.0, 0.0, 1.0]
    assert_same(read_ratings(table.write(tmp_path / f"r{suffix}")), table)


def test_rows_added_by_hand_are_read(tmp_path: Path) -> None:
    table = Ratings({"stimulus": ["a", "b"], "rater": ["r", "s"], "value": [1, 5]})
    file = table.write(tmp_path / "r.csv")
    file.write_text(file.read_text() + "c,new,9,,\n")
    for alone in (False, True):
        if alone:
            (tmp_path / "r.csv.meta.json").unlink()
        read = read_ratings(file)
        assert read.rater_names == ("r", "s", "new")
        assert read.rater_kinds == ("human",) * 3
        assert read.value.tolist() == [1, 5, 9]
        assert not read.scale.declared


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_without_what_lay_beside_it_a_table_keeps_kinds_and_scales(
    suffix: str, tmp_path: Path
) -> None:
    table = Ratings(
        {
            "stimulus": ["007", "b"] * 4,
            "rater": ["r", "r", "gpt", "gpt"] * 2,
            "label": ["joy"] * 4 + ["what, and why"] * 4,
            "value": [1.0, 5.0, 2.5, None, "a", "b, c", "b, c", "a"],
        },
        scale={"joy": "0-7 interval", "what, and why": Scale.nominal(("never", "a", "b, c"))},
        raters={"rater": ["gpt"], "rater_kind": ["model"]},
    )
    file = table.write(tmp_path / f"r{suffix}")
    (tmp_path / f"r{suffix}.meta.json").unlink()
    read = read_ratings(file)
    assert (read.scales, read.rater_kinds) == (table.scales, table.rater_kinds)
    assert read.frame.equals(table.frame)


def test_a_column_called_scale_stays_what_it_is(tmp_path: Path) -> None:
    given = {"stimulus": ["a", "a"], "rater": ["r", "s"], "value": [1, 5], "trial": [1, 2]}
    table = Ratings({**given, "scale": ["big", "small"], "n": [1, 2]}, scale="0-7")
    assert read_ratings(table.write(tmp_path / "r.csv")).equals(table)


def test_hand_edited_cells_are_checked(tmp_path: Path) -> None:
    table = Ratings(
        {"stimulus": ["a", "b"], "rater": ["r", "s"], "value": [1, 5], "trial": [1, 2]},
        scale="0-7",
    )
    file = table.write(tmp_path / "r.csv")
    text = file.read_text()
    file.write_text(text.replace("b,s,5,2", "b,s,9,2"))
    with pytest.raises(InputError, match=r"r\.csv, line 3: value 9 is off the scale"):
        read_ratings(file)
    file.write_text(text.replace("b,s,5,2", "b,s,5,two"))
    with pytest.raises(InputError, match=r"r\.csv, line 3: trial 'two' is not understood"):
        read_ratings(file)


@pytest.mark.parametrize(
    "meta", ["{", "[]", '{"schema": "other"}', '{"schema": "affectlab/ratings/1"}', "\xff"]
)
def test_a_broken_description_is_one_sentence(tmp_path: Path, meta: str) -> None:
    table = Ratings({"stimulus": ["a"], "rater": ["r"], "value": [1]})
    file = table.write(tmp_path / "r.csv")
    (tmp_path / "r.csv.meta.json").write_bytes(meta.encode("latin-1"))
    with pytest.raises(InputError, match=r"r\.csv\.meta\.json"):
        read_ratings(file)


def test_writing_where_it_cannot_be(tmp_path: Path) -> None:
    table = Ratings({"stimulus": ["a"], "rater": ["r"], "value": [1]})
    with pytest.raises(InputError, match="expected one of"):
        table.write(tmp_path / "r.xlsx")
    with pytest.raises(InputError, match="does not exist"):
        table.write(tmp_path / "no" / "r.csv")
    (tmp_path / "dir.csv").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        table.write(tmp_path / "dir.csv")


# -- files that are half written -----------------------------------------------------------------


def _breaking(frame: pl.DataFrame, path: Path, **_: object) -> None:
    Path(path).write_bytes(b"half")
    raise OSError(28, "no space left on device")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_write_that_breaks_off_leaves_the_file_before(tmp_path, monkeypatch, suffix):
    first = Ratings({"stimulus": ["a"], "rater": ["r"], "value": [3]}, scale="0-7")
    file = first.write(tmp_path / f"ratings{suffix}")
    before = sorted(tmp_path.iterdir())
    for writer in ("write_csv", "write_parquet", "write_ndjson"):
        monkeypatch.setattr(pl.DataFrame, writer, _breaking)
    other = Ratings({"stimulus": ["b"], "rater": ["r"], "value": [4]}, scale="0-7")
    with pytest.raises(InputError, match="cannot be written: no space"):
        other.write(file)
    with pytest.raises(InputError, match="cannot be written: no space"):
        other.write(tmp_path / f"new{suffix}")
    assert sorted(tmp_path.iterdir()) == before
    assert read_ratings(file).equals(first)


def test_a_file_keeps_its_rights_and_a_link_its_target(tmp_path):
    made = Ratings({"stimulus": ["a"], "rater": ["r"], "value": [3]}, scale="0-7")
    file = tmp_path / "private.parquet"
    file.write_bytes(b"")
    file.chmod(0o600)
    link = tmp_path / "link.parquet"
    link.symlink_to(file)
    assert made.write(link) == link
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o600
    assert read_ratings(file).equals(made)
