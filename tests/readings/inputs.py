"""The files that are read: samples of every format, a lab's files, and the cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.ratings.datasets.survey_samples import SURVEYS, cells
from tests.ratings.datasets.test_emotion_texts import FILES as TEXTS, write as write_texts
from tests.ratings.datasets.test_formats import SAMPLES
from tests.ratings.datasets.test_pairs import SHAPES
from tests.ratings.lab_year import YEAR, text, workbook
from tests.ratings.strangers import CASES
from tests.ratings.test_fuzz import LONG, TABLES, WIDE, written

from affectlab.ratings import Ratings


@dataclass(frozen=True)
class Input:
    """A file, and what is said of it when it is read."""

    write: Callable[[Path], Path]
    """Write it into a folder, and give its path."""
    options: Mapping[str, Any] = field(default_factory=dict)


def _texts(name: str) -> Input:
    return Input(lambda folder: Path(write_texts(folder / "texts", TEXTS[name])))


def _table(name: str, suffix: str, **options: Any) -> Input:
    def write(folder: Path) -> Path:
        (folder / f"table{suffix}").write_bytes(written(TABLES[name], suffix))
        return folder / f"table{suffix}"

    return Input(write, options)


def _stored(suffix: str) -> Input:
    return Input(lambda folder: Path(Ratings(LONG, scale="0-7").write(folder / f"own{suffix}")))


@cache
def inputs() -> dict[str, Input]:
    """Name every input: ``formats/qualtrics``, ``year/two columns of the same name``."""
    found = {f"formats/{name}": Input(text("sample.dat", SAMPLES[name])) for name in SAMPLES}
    found |= {f"texts/{name}": _texts(name) for name in TEXTS}
    found |= {f"pairs/{name}": Input(text("pairs.csv", SHAPES[name])) for name in SHAPES}
    for name in SURVEYS:
        rows = cells(name)
        if rows is not None:
            found[f"workbooks/{name}"] = Input(workbook(Sheet1=rows))
    for suffix in (".csv", ".txt", ".jsonl", ".parquet"):
        found |= {f"tables/{name}{suffix}": _table(name, suffix) for name in TABLES}
        found |= {f"tables/{name}{suffix} wide": _table(name, suffix, wide=name) for name in WIDE}
    found |= {f"stored/{suffix}": _stored(suffix) for suffix in (".csv", ".jsonl", ".parquet")}
    for messy in YEAR:
        found[f"year/{messy.title}"] = Input(messy.write, messy.options)
        if messy.options:
            found[f"year/{messy.title} (nothing said)"] = Input(messy.write)
    found |= {f"cases/{case.name}": Input(case.write) for case in CASES}
    return found
