"""Texts, and the blocks of words that they are cut into."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from affectlab.core.errors import InputError
from affectlab.core.files.csv import read_table

__all__ = [
    "TextBlock",
    "read_texts",
    "text_blocks",
]

_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class TextBlock:
    """A piece of one text, or several short texts together."""

    number: int
    """From 1, in the order of the texts."""
    sources: tuple[str, ...]
    """Names of the texts it comes from."""
    texts: tuple[str, ...]
    """What it holds of each of them, in the same order."""
    n_words: int

    @property
    def text(self) -> str:
        """All of it, texts apart by an empty line."""
        return "\n\n".join(self.texts)


def text_blocks(
    texts: Mapping[str, str] | Iterable[str], *, words: int = 500, pack: bool = False
) -> tuple[TextBlock, ...]:
    """Cut texts into blocks of so many words (emonet-face, section 3).

    Parameters
    ----------
    texts
        Texts by name, or texts that are named by their number from 1.
    words
        Words in a block, told apart by white space; the last block of a text has what is left.
    pack
        Put short texts together until a block is full, which saves questions to a language model.
        A text that fits into a block is never cut then.

    Raises
    ------
    InputError
        When `words` is below 1, or there is no word in any text.

    Examples
    --------
    >>> [block.text for block in text_blocks(["one two three", "four"], words=2)]
    ['one two', 'three', 'four']
    >>> [block.sources for block in text_blocks(["one two three", "four"], words=4, pack=True)]
    [('1', '2')]
    """
    if words < 1:
        raise InputError(f"words = {words}: expected at least 1 word in a block")
    if isinstance(texts, str):
        raise InputError("texts: expected several texts or texts by name, not one text")
    named = texts if isinstance(texts, Mapping) else {str(k): t for k, t in enumerate(texts, 1)}
    pieces = ((name, piece, n) for name, text in named.items() for piece, n in _cut(text, words))
    made: list[TextBlock] = []
    held: list[tuple[str, str, int]] = []
    for piece in pieces:
        if held and (not pack or sum(n for *_, n in held) + piece[2] > words):
            made.append(_block(len(made) + 1, held))
            held = []
        held.append(piece)
    if held:
        made.append(_block(len(made) + 1, held))
    if not made:
        raise InputError(f"{len(named)} texts without a single word; expected some text")
    return tuple(made)


def _cut(text: str, words: int) -> Iterator[tuple[str, int]]:
    """Cut a text as it is written; line breaks within a block stay."""
    spans = [found.span() for found in _WORD.finditer(text)]
    for start in range(0, len(spans), words):
        part = spans[start : start + words]
        yield text[part[0][0] : part[-1][1]], len(part)


def _block(number: int, held: list[tuple[str, str, int]]) -> TextBlock:
    names, texts, sizes = zip(*held, strict=True)
    return TextBlock(number, names, texts, sum(sizes))


# Reading texts: text files, folders of them, and tables with a column of texts.


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
