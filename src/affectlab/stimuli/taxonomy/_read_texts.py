"""Reading texts: text files, folders of them, and tables with a column of texts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from affectlab.errors import InputError
from affectlab.stimuli._tables import read_table

__all__ = ["read_texts"]

_PLAIN = frozenset({".txt", ".md"})
_TABLES = frozenset({".csv", ".parquet"})
_LINES = frozenset({".jsonl", ".ndjson"})
_NAMES = ("stimulus", "id", "name")


def read_texts(paths: Iterable[str | Path], *, column: str = "text") -> dict[str, str]:
    """Read texts from files: ``.txt`` and ``.md`` hold one each, tables one in each row.

    Parameters
    ----------
    paths
        Files, or folders whose ``.txt`` and ``.md`` files are read in the order of their names.
    column
        Column of the texts in CSV, Parquet and JSON Lines files. A column ``stimulus``, ``id`` or
        ``name`` names them; without one they are named by file and row.

    Returns
    -------
    Texts by name. Of a table, rows without a text are left out.

    Raises
    ------
    InputError
        When a file is missing, of another kind, not UTF-8 or without the column, when a name
        stands twice, or when there is no text.
    """
    texts: dict[str, str] = {}
    for path in _files(paths):
        found = _of_file(path, column)
        for name, text in found:
            if name in texts:
                raise InputError(f"{path}: the name {name!r} stands twice; expected each once")
            texts[name] = text
    if not texts:
        raise InputError("no text was found; expected .txt, .md, .csv, .parquet or .jsonl files")
    return texts


def _files(paths: Iterable[str | Path]) -> list[Path]:
    files: list[Path] = []
    for given in map(Path, paths):
        if given.is_dir():
            inside = sorted(one for one in given.iterdir() if one.suffix in _PLAIN)
            if not inside:
                raise InputError(f"{given}: the folder holds no .txt or .md file")
            files += inside
        else:
            files.append(given)
    return files


def _of_file(path: Path, column: str) -> list[tuple[str, str]]:
    if path.suffix in _PLAIN:
        return [(path.name, _read(path))]
    if path.suffix in _LINES:
        return _of_lines(path, column)
    if path.suffix not in _TABLES:
        raise InputError(
            f"{path}: expected a .txt, .md, .csv, .parquet or .jsonl file, or a folder of texts"
        )
    table = read_table(path, "texts")
    if column not in table.columns:
        shown = ", ".join(table.columns)
        raise InputError(
            f"{path}: unknown column {column!r} of texts; found: {shown}; name one of them with "
            "--column, or column= in Python"
        )
    naming = next((name for name in _NAMES if name in table.columns and name != column), None)
    names = table[naming].to_list() if naming else [None] * table.height
    rows = zip(names, table[column].to_list(), strict=True)
    return [
        (_name(path, name, row), str(text))
        for row, (name, text) in enumerate(rows, start=1)
        if text is not None and str(text).strip()
    ]


def _of_lines(path: Path, column: str) -> list[tuple[str, str]]:
    found = []
    for row, line in enumerate(_read(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            content = json.loads(line)
        except json.JSONDecodeError as problem:
            raise InputError(f"{path}, line {row}: not JSON ({problem})") from None
        if not isinstance(content, dict) or not isinstance(content.get(column), str):
            raise InputError(f"{path}, line {row}: expected an object with a text {column!r}")
        if content[column].strip():
            name = next((content[key] for key in _NAMES if key in content and key != column), None)
            found.append((_name(path, name, row), content[column]))
    return found


def _name(path: Path, name: object, row: int) -> str:
    return f"{path.name}:{row}" if name is None else str(name)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except UnicodeDecodeError as problem:
        raise InputError(
            f"{path}: byte {problem.start} is not UTF-8; save the file as UTF-8"
        ) from None
