"""Damaged files and odd frames: each gives ratings or one sentence; no answer is lost uncounted.

Each file is damaged a few times; AFFECTLAB_FUZZ=1000 does so a thousand times.
"""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.ratings.datasets.test_formats import SAMPLES
from tests.ratings.told import facts

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, StepKind, read_models, read_ratings, read_table

# Generated answers may look like several scales, which is then said.
pytestmark = [
    pytest.mark.filterwarnings("ignore::affectlab.ratings.GuessedScalesWarning"),
    pytest.mark.filterwarnings("ignore::affectlab.ratings.GuessedColumnsWarning"),
]

TIMES = int(os.environ.get("AFFECTLAB_FUZZ", "12"))

LONG = pl.DataFrame(
    {
        "stimulus": ["a", "b", "é", 'q"t'] * 6,
        "rater": ["x"] * 8 + ["y, z"] * 8 + ["007"] * 8,
        "label": (["joy"] * 4 + ["fear"] * 4) * 3,
        "value": [float(k % 5) for k in range(24)],
        "age": [31] * 8 + [None] * 16,
    }
)
WIDE = {
    "raters": pl.DataFrame({"image": ["a", "b", "c"], "ann": [1, 2, 3], "bo": [3, None, 5]}),
    "labels": pl.DataFrame(
        {"image": ["a", "b"], "rater": ["x", "y"], "joy": [1, 2], "fear": [0, None]}
    ),
    "stimuli": pl.DataFrame(
        {"id": [1, 2, 3], "sex": ["f", "m", "f"], "clip1": [1, 2, 3], "clip2": [4, 5, None]}
    ),
}
MODEL = pl.DataFrame({"stimulus": ["a", "b"], "prediction": [0.5, 3.2]})


def written(frame: pl.DataFrame, suffix: str) -> bytes:
    """Give a table as a file of a kind."""
    buffer = io.BytesIO()
    if suffix in (".csv", ".tsv", ".txt"):
        separator = {".csv": ",", ".tsv": "\t", ".txt": ";"}[suffix]
        frame.write_csv(buffer, separator=separator)
        content = buffer.getvalue()
        return content.replace(b".0\n", b",0\n") if suffix == ".txt" else content
    kinds: dict[str, Callable[[Any], None]] = {
        ".json": frame.write_json,
        ".jsonl": frame.write_ndjson,
        ".parquet": frame.write_parquet,
        ".feather": frame.write_ipc,
    }
    kinds[suffix](buffer)
    return buffer.getvalue()


SUFFIXES = (".csv", ".tsv", ".txt", ".json", ".jsonl")
BINARY = (".parquet", ".feather")
TABLES = {"long": LONG, **WIDE, "model": MODEL}
FILES = {
    **{f"{name}{suffix}": (name, suffix) for name in TABLES for suffix in SUFFIXES},
    **{f"stored{suffix}": ("stored", suffix) for suffix in (".csv", ".jsonl")},
    **{name: (name, ".dat") for name in SAMPLES},
}
TOKENS = (
    *(
        token.encode()
        for token in (
        '"', '""', ",", ";", "\t", "|", "\n", "\r", "\r\n", "\n\n", "\\", "{", "}", "[", "]", ":",
        "null", "NaN", "Infinity", "1e999", "-1", "9" * 30, "true", "é", "\ufeff", "\x00", " ",
        "NA", "sep=;\n", '{"rater": {}}', "[" * 40, "stimulus", "rater", "value", "#",
        )
    ),
    b"\xff", b"\xff\xfe", b"PAR1", b"\xed\xa0\x80",
)  # fmt: skip


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Cut, repeat, swap or overwrite a few pieces of a file."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(content) + 1)
        to = min(len(content), at + rng.choice((1, 1, 3, 20)))
        token = rng.choice(TOKENS)
        lines = content.splitlines(keepends=True)
        pieces = (
            (content[:at],),
            (content[:at], content[to:]),
            (content[:at], token, content[at:]),
            (content[:at], token, content[to:]),
            (content[:at], rng.randbytes(1), content[at + 1 :]),
            (content[:to], content[at:]),
            (content[:at], token),
            rng.sample(lines, len(lines)),
        )
        content = b"".join(rng.choice(pieces))
        if not content:
            break
    return content


def options(name: str, rng: random.Random) -> dict[str, Any]:
    """Say something of a file, most often what is true."""
    chosen: dict[str, Any] = {"on_bad": rng.choice(("raise", "set_aside"))}
    if name in WIDE:
        chosen["wide"] = rng.choice((name, name, "auto", "raters", "labels", "stimuli"))
        if rng.random() < 0.2:
            chosen["attributes"] = rng.choice(([], ["sex"], ["image", ""]))
    elif name in SAMPLES and rng.random() < 0.3:
        chosen["format"] = rng.choice((name, "table"))
    if rng.random() < 0.3:
        chosen["scale"] = rng.choice(("0-7", "binary", "nominal:a,b", "0-1 interval", "text"))
    if rng.random() < 0.1:
        chosen["columns"] = rng.choice(({"stimulus": "rater"}, {"rater": "x"}, {"value": "label"}))
    if rng.random() < 0.1:
        chosen |= rng.choice(({"encoding": "utf-16"}, {"encoding": "latin-1"}, {"delimiter": "x"}))
    return chosen


@pytest.mark.parametrize("case", FILES)
def test_a_damaged_file_gives_ratings_or_one_sentence(case: str, tmp_path: Path) -> None:
    name, suffix = FILES[case]
    file = tmp_path / f"x{suffix}"
    if name == "stored":
        Ratings(LONG, scale="0-7").write(file)
        content = file.read_bytes()
    else:
        content = SAMPLES[name].encode() if name in SAMPLES else written(TABLES[name], suffix)
    people = Ratings({"stimulus": ["a", "b"], "rater": ["x", "x"], "value": [0, 3]}, scale="0-7")
    beside = [one for one in tmp_path.iterdir() if one != file]
    for turn in range(TIMES):
        rng = random.Random(f"{case} {turn}")
        # Beside some files lies a description, which may be the one that is damaged.
        if beside and turn % 3 == 0:
            file.write_bytes(content)
            target, whole = beside[0], beside[0].read_bytes()
        else:
            target, whole = file, content
        target.write_bytes(damaged(whole, rng))
        chosen = options(name, rng)
        try:
            if name == "model":
                read_models(file, people)
                read_table(file, names=("stimulus",))
            else:
                ratings = read_ratings(file, **chosen)
                str(ratings.summary())
        except BaseException as error:
            if not isinstance(error, InputError) or "\n" in error.sentence:
                raise AssertionError(f"turn {turn}, {chosen}: {file.read_bytes()!r}") from error
        finally:
            if target is not file:
                target.write_bytes(whole)


CELLS = ("0", "1", "5", "3,5", "2.5", "", "NA", "x", "nan", "-1", "99", "agree", "inf", " ", "é")
NAMES = ("", " ", "id", "rater", "stimulus", "image", "age", "a", "b", "c", "joy", "fear", "value")


@pytest.mark.parametrize("wide", ["raters", "labels", "stimuli"])
def test_cells_of_a_wide_table_add_up(wide: str, tmp_path: Path) -> None:
    """Every cell is an answer, set aside, or in a column that is named as something else."""
    file = tmp_path / "w.csv"
    n_read = 0
    for turn in range(20 * TIMES):
        rng = random.Random(f"{wide} {turn}")
        names = rng.sample(NAMES, rng.randrange(2, 8))
        rows = [[rng.choice(CELLS[: rng.choice((3, 15))]) for _ in names] for _ in range(4)]
        for row, key in zip(rows, "pqrs", strict=True):
            row[0] = key
        lines = [",".join(f'"{cell}"' for cell in row) for row in [names, *rows]]
        file.write_text("\n".join(lines), encoding="utf-8")
        try:
            r = read_ratings(file, wide=wide, on_bad="set_aside")  # type: ignore[arg-type]
        except InputError:
            continue
        n_read += 1
        aside = sum(part.count for part in r.set_aside if part.unit == "cell")
        columns = facts(r, StepKind.RATED_COLUMNS)["columns"]
        assert r.n_rows + aside == len(rows) * len(columns), turn
        told = [
            name
            for one in r.history
            for fact in dict(one.facts).values()
            for name in (fact if isinstance(fact, tuple) else (fact,))
        ]
        roles = {"image", "stimulus", "id", "rater", *r.raters.columns, *r.stimuli.columns}
        for name in names:
            assert name in told or name in roles | set(r.frame.columns), (turn, name)
    assert n_read > TIMES


def odd_columns(rng: random.Random, height: int) -> list[Any]:
    """Columns of types that data frames may have."""
    made: list[Any] = [
        pd.Series(pd.Categorical([rng.choice(["a", "b", None]) for _ in range(height)])),
        pd.Series(pd.array([rng.choice([1, 2, None]) for _ in range(height)], dtype="Int8")),
        pd.Series([rng.choice([1, "x", 2.5, None, True]) for _ in range(height)], dtype=object),
        pd.Series([rng.choice([1.5, float("nan"), float("inf")]) for _ in range(height)]),
        pd.Series(pd.to_datetime([rng.choice(["2026-01-01", None]) for _ in range(height)])),
        pd.Series([[1]] * height, dtype=object),
        pd.Series([b"x"] * height, dtype=object),
        pd.Series([1 + 2j] * height),
        pd.Series([None] * height, dtype=object),
        pd.Series([date(2026, 1, 1)] * height, dtype=object),
        pd.Series(pd.array(["a"] * height, dtype="string")),
        pd.Series(pd.period_range("2026", periods=height, freq="D")),
        pd.Series(pd.interval_range(0, height)),
        pd.Series(pd.to_timedelta(range(height), unit="s")),
        pd.Series(np.arange(height, dtype="uint64") + 2**63),
        pd.Series(pd.arrays.SparseArray([0.0] * height)),
        pd.Series([object()] * height, dtype=object),
    ]
    return made


def odd_polars(rng: random.Random, height: int) -> list[pl.Series]:
    """The same for polars."""
    words = [rng.choice(["a", "b", None]) for _ in range(height)]
    return [
        pl.Series(words, dtype=pl.Categorical),
        pl.Series(words, dtype=pl.Enum(["b", "a"])),
        pl.Series([None] * height),
        pl.Series([b"x"] * height),
        pl.Series([[1]] * height),
        pl.Series([{"a": 1}] * height),
        pl.Series([date(2026, 1, 1)] * height),
        pl.Series([1] * height, dtype=pl.Int128),
        pl.Series([2**64 - 1] * height, dtype=pl.UInt64),
        pl.Series(["1.5"] * height).cast(pl.Decimal(10, 2)),
        pl.Series([float("nan"), *[1.0] * (height - 1)]),
        pl.Series([object()] * height, dtype=pl.Object),
        pl.Series([True] * height),
        pl.Series(words),
    ]


@pytest.mark.filterwarnings("ignore::pandas.errors.PerformanceWarning")
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_rows_of_an_odd_frame_add_up(library: str) -> None:
    for turn in range(20 * TIMES):
        rng = random.Random(f"{library} {turn}")
        height = rng.choice((1, 3, 8))
        plain = {
            "stimulus": [f"s{k}" for k in range(height)],
            "rater": ["r"] * height,
            "value": [float(k % 2) for k in range(height)],
        }
        odd = odd_columns if library == "pandas" else odd_polars
        columns: list[tuple[Any, Any]] = list(plain.items())
        for _ in range(rng.choice((1, 2))):
            extra = rng.choice(odd(rng, height))
            if rng.random() < 0.6:
                at = rng.randrange(3)
                columns[at] = (columns[at][0], extra)
            else:
                columns.append((rng.choice(("", "age", "text", "outcome", "rt_ms", 7)), extra))
        if library == "pandas":
            frame: Any = pd.concat([pd.Series(values) for _, values in columns], axis=1)
            frame.columns = [name for name, _ in columns]
            if rng.random() < 0.2:
                frame.columns = ["stimulus", *frame.columns[1:-1], "stimulus"]
        else:
            frame = pl.DataFrame({str(name): values for name, values in columns})
        keys = {"raters": plain["rater"][:1], "stimuli": plain["stimulus"]}
        try:
            r = Ratings(frame, on_bad="set_aside")
            assert (
                r.n_rows + sum(part.count for part in r.set_aside if part.unit == "row") == height
            )
            for name, names in keys.items():
                table = frame.head(len(names))
                Ratings(plain, **{name: table})
        except BaseException as error:
            if not isinstance(error, InputError) or "\n" in error.sentence:
                raise AssertionError(f"turn {turn}: {frame.dtypes}") from error


def test_what_is_no_path_is_said(tmp_path: Path) -> None:
    people = Ratings({"stimulus": ["a"], "rater": ["x"], "value": [0]})
    frame = pd.DataFrame({"stimulus": ["a"], "rater": ["x"], "value": [1]})
    for given in (None, 3, b"x.csv", io.StringIO("a"), [], object()):
        with pytest.raises(InputError, match=r"expected the path of a file, .*a data frame"):
            read_ratings(given)
    for given in (frame, pl.from_pandas(frame), None, 3, {}, b"x.csv", io.StringIO("a")):
        for read in (read_table, lambda one: read_models(one, people)):
            with pytest.raises(InputError, match=r"expected the path of a file, .*frame"):
                read(given)  # type: ignore[arg-type]
    assert read_ratings(frame).equals(read_ratings(pl.from_pandas(frame)))
    with pytest.raises(InputError, match="no such file"):
        read_ratings(tmp_path / "a\0b.csv")


def test_a_file_cut_behind_a_quote(tmp_path: Path) -> None:
    file = tmp_path / "cut.csv"
    file.write_text('stimulus,rater,value\né,x,1\nb,y,"', encoding="utf-8")
    with pytest.raises(InputError, match="line 3: the quotes do not match up"):
        read_ratings(file)


READER = """
import json, sys
from affectlab.core.errors import InputError
from affectlab.ratings import read_ratings
for line in sys.stdin:
    file, chosen = json.loads(line)
    said = ""
    try:
        read_ratings(file, **chosen).summary()
    except InputError as error:
        said = str(error) if "\\n" in error.sentence else ""
    except BaseException as error:
        said = repr(error)
    print(json.dumps(said), flush=True)
"""


def test_a_damaged_table_in_bytes_gives_ratings_or_one_sentence(tmp_path: Path) -> None:
    """Polars panics over some broken pages, and over a few it ends the process.

    Of the latter no program can say a sentence, so another process reads, and goes on behind them.
    """
    whole = {
        (name, suffix): written(frame, suffix)
        for name, frame in TABLES.items()
        for suffix in BINARY
    }
    stored = Ratings(LONG, scale="0-7").write(tmp_path / "stored.parquet")
    whole["stored", ".parquet"] = Path(stored).read_bytes()
    cases = [
        (name, suffix, damaged(content, rng := random.Random(f"{name}{suffix} {turn}")), rng)
        for (name, suffix), content in whole.items()
        for turn in range(TIMES)
    ]
    page = whole["long", ".parquet"]
    rng = random.Random(0)
    cases += [
        ("long", ".parquet", page[:at] + byte + page[at + 1 :], rng)
        for at in range(4, len(page), max(1, 60 // TIMES))
        for byte in (b"\xff", b"\x29")
    ]
    lines = []
    for number, (name, suffix, content, rng) in enumerate(cases):
        file = tmp_path / f"{number}{suffix}"
        file.write_bytes(content)
        lines.append(json.dumps([str(file), options(name, rng)]))
    n_ended = 0
    done = 0
    while done < len(lines):
        child = subprocess.run(
            [sys.executable, "-c", READER],
            input="\n".join(lines[done:]),
            capture_output=True,
            text=True,
            check=False,
        )
        said = [json.loads(line) for line in child.stdout.splitlines()]
        wrong = [(lines[done + at], text) for at, text in enumerate(said) if text]
        assert not wrong, wrong[0]
        done += len(said)
        if done < len(lines):
            assert child.returncode < 0, child.stderr
            done += 1
            n_ended += 1
    assert n_ended < len(lines) / 50
