"""A first look at a file: enough to tell its format, never more than a few kilobytes."""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.words import option
from affectlab.ratings.files.labelled import labelled_kind, labelled_names
from affectlab.ratings.files.strict_json import BadJson, parse_json
from affectlab.ratings.files.workbook import Workbook, is_workbook, read_workbook
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import History, guess

_HEAD = 1 << 18
_LONGEST = 1 << 24
"""How much of a file is read to see its first record whole."""
_FIRST_ROWS = 50
DELIMITED = (".csv", ".tsv", ".tab", ".txt")
"""Endings of names that say that a file is a text table, whatever it begins with."""
JSON_LINES = (".jsonl", ".ndjson")
_LINE_END = re.compile(r"\r\n|\r|\n")
_DELIMITERS = (",", "\t", ";", "|")
_SAYS_DELIMITER = re.compile(r'"?sep=([^"\r\n])"?[,;\t|]*(?=[\r\n])', re.IGNORECASE)
"""A first line for spreadsheet programs that names the delimiter, such as ``sep=;``."""
_DECIMAL_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9])")
_SPACED = re.compile(r"\s*(?:[-+0-9.e]+|nan)(?: +(?:[-+0-9.e]+|nan))+\s*", re.IGNORECASE)
"""A line of nothing but numbers with spaces between them, as numpy writes a matrix."""
_QUOTED = re.compile(r'"[^"]*"(?: "[^"]*")+')
"""A header with spaces between names in quotes, as R's ``write.table`` writes it."""
_MOST_TITLES = 20
"""Lines above the header that may hold a title, a date or remarks."""
_ACCENTED = re.compile(r"[^\W\d_a-zA-Z]+")
_FOREIGN = re.compile(
    r"[^\t\n\r -~äöüßéèêëàâáãåæçîïíìñôóòõøœùûúÿ€£§°·«»¿¡‘’‚“”„–—…•™®©´´ªº ]", re.IGNORECASE
)
"""What does not stand in text of Western languages."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BINARY_MARKS = {
    b"PK\x03\x04": "an Excel or zip file; save the sheet as CSV",
    b"\x1f\x8b": "a gzip file; unpack it first",
    b"\x28\xb5\x2f\xfd": "a zstandard file; unpack it first",
    b"BZh": "a bzip2 file; unpack it first",
    b"\xfd7zXZ": "an xz file; unpack it first",
    b"\xd0\xcf\x11\xe0": "an old Excel file; save the sheet as CSV",
    b"%PDF": "a PDF file; expected CSV, Parquet or JSON Lines",
    b"<html": "a web page; open it in a spreadsheet and save the table as CSV",
    b"<!DOCTYPE html": "a web page; open it in a spreadsheet and save the table as CSV",
    b"<table": "a web page; open it in a spreadsheet and save the table as CSV",
}


def _first_value(text: str) -> Any:
    """Read the first value of a JSON list, or the first of a text; None where there is none."""
    text = text.removeprefix("\ufeff").lstrip()
    if not text.startswith(("{", "[")):
        return None
    listed = text.startswith("[")
    try:
        return json.JSONDecoder().raw_decode(text[1:].lstrip() if listed else text)[0]
    except (ValueError, RecursionError):
        return None


def _names_of(text: str) -> tuple[str, ...]:
    """Name the fields of the first objects of JSON: of a list, or one in a line."""
    listed = text.lstrip().startswith("[")
    rest = text.lstrip()[listed:]
    decoder = json.JSONDecoder()
    names: dict[str, None] = {}
    for _ in range(_FIRST_ROWS):
        rest = rest.lstrip(", \t\r\n")
        try:
            record, end = decoder.raw_decode(rest)
        except (ValueError, RecursionError):
            break
        if not isinstance(record, dict):
            break
        names |= dict.fromkeys(record)
        rest = rest[end:]
    return tuple(names)


@dataclass(frozen=True)
class Peek:
    """The beginning of a file, for recognising its format.

    Examples
    --------
    >>> Peek(Path("x.csv"), b"path,annotator\\n1,a\\n").header
    ('path', 'annotator')
    """

    path: Path
    head: bytes
    encoding: str | None = None
    """Encoding named by the user; None: told by a byte order mark, else UTF-8."""
    delimiter: str | None = None
    """Delimiter named by the user; None: the one that the first line uses most."""
    sheet: str | None = None
    """Sheet of a workbook named by the user; None: the first with anything in it."""
    shared: tuple[str, ...] | None = None
    """Columns that sheets must have to be read together; None: all that the first has, no more."""
    categories: tuple[str, ...] | None = None
    """Columns of SPSS or Stata whose values are names; None: those that the file calls nominal."""
    perhaps: tuple[str, ...] = ()
    """Columns of SPSS or Stata whose values are names where all have one."""
    steps: History = ()
    """What was decided about the file before it was read, for the history."""
    frame: pl.DataFrame | None = field(default=None, repr=False, compare=False)
    """A table that is in memory and in no file; `path` is what it is called, and `head` how it
    begins as CSV."""
    kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What was understood of it, so that a reader and a description read it once."""

    @classmethod
    def of_frame(cls, frame: pl.DataFrame, name: str, steps: History = ()) -> Peek:
        """Look at a table in memory.

        Raises
        ------
        InputError
            When it has no columns.
        """
        if not frame.width:
            raise InputError(f"{name} has no columns; expected a table of ratings")
        return cls(Path(name), _as_csv(frame.head(_FIRST_ROWS)), steps=steps, frame=frame)

    @classmethod
    def open(
        cls, path: str | Path, *, encoding: str | None = None, delimiter: str | None = None
    ) -> Peek:
        """Read the beginning of a file.

        Raises
        ------
        InputError
            When `path` is no path, there is no such file, it is a folder, cannot be read or is
            empty, or the encoding is not known.
        """
        path = as_path(path)
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
            raise InputError(f"delimiter {delimiter!r} cannot be used; expected one character")
        if encoding is not None:
            try:
                # Some codecs turn bytes into bytes; this call knows only those of text.
                "a".encode(encoding)
            except (LookupError, ValueError):
                raise InputError(
                    f"encoding {encoding!r} is not known; expected for example 'utf-8' or 'latin-1'"
                ) from None
        try:
            with path.open("rb") as file:
                head = file.read(_HEAD)
        except (FileNotFoundError, ValueError):
            # A name with a zero byte is the name of no file.
            raise InputError(f"{path}: no such file") from None
        except IsADirectoryError:
            raise InputError(f"{path} is a folder; expected a file of ratings") from None
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from None
        if not head.strip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n"):
            raise InputError(f"{path} is empty; expected a file of ratings")
        return cls(path, head, encoding, delimiter)

    def with_encoding(self) -> Peek:
        """Guess the encoding of text that is no UTF-8, where its beginning makes that plain.

        UTF-16 has a zero in every other byte. Of the encodings of one byte it is Windows-1252, or
        Latin-1, where it makes letters and signs of Western languages of all other bytes, and
        those letters mostly stand alone among others.
        """
        if self.encoding is not None or self.codec != "utf-8" or self.frame is not None:
            return self
        found = self._utf_16
        if found is None and not self.is_binary and self.looks_like is None:
            found = _western(self.head)
        if found is None:
            return self
        done = guess(StepKind.ENCODING, encoding=found)
        return replace(self, encoding=found, steps=(*self.steps, done))

    @property
    def _utf_16(self) -> str | None:
        """Name UTF-16 without a byte order mark, by its zeros."""
        for codec, zeros in (("utf-16-le", self.head[1:400:2]), ("utf-16-be", self.head[:400:2])):
            if zeros and zeros.count(0) > 0.8 * len(zeros) and self.head[:400].strip(b"\x00"):
                return codec
        return None

    @property
    def suffix(self) -> str:
        """Suffix of the file name, in lower case, with the dot."""
        return self.path.suffix.lower()

    @cached_property
    def codec(self) -> str:
        """Encoding to read the file with."""
        if self.encoding is not None:
            return self.encoding
        for mark, codec in _MARKS:
            if self.head.startswith(mark):
                return codec
        return "utf-8"

    @cached_property
    def text(self) -> str:
        """The head as text; a character cut at its end is left out, a wrong byte becomes U+FFFD."""
        decoder = codecs.getincrementaldecoder(self.codec)(errors="replace")
        try:
            return decoder.decode(self.head).removeprefix("\ufeff")
        except UnicodeError as error:
            raise InputError(f"{self.path} is not {self.codec.upper()} text: {error}") from None

    @cached_property
    def is_binary(self) -> bool:
        """Whether the file is not text (Parquet, Excel, an image, …)."""
        zeros = self.head.count(0)
        if self.codec != "utf-8" or not zeros:
            return False
        try:
            codecs.getincrementaldecoder("utf-8")().decode(self.head)
        except UnicodeDecodeError:
            return True
        # A stray zero byte may stand in a text; many are another encoding or no text.
        return zeros > len(self.head) // 10

    @cached_property
    def looks_like(self) -> str | None:
        """What a file is that is no text, in words, with what to do; None when not known."""
        for mark, words in _BINARY_MARKS.items():
            if self.head.startswith(mark):
                return words
        if self.codec != "utf-8":
            return None
        if (codec := self._utf_16) is not None:
            return (
                "UTF-16 text without a byte order mark; name its encoding "
                f"({option('encoding', codec)})"
            )
        return "not text; expected CSV, Parquet or JSON Lines" if self.is_binary else None

    @cached_property
    def separator(self) -> str:
        """Delimiter of the columns."""
        if self.delimiter is not None:
            return self.delimiter
        said = _SAYS_DELIMITER.match(self.text)
        if said:
            return said[1]
        if self.suffix == ".tsv":
            return "\t"
        lines = _LINE_END.split(self.text, maxsplit=_MOST_TITLES + 1)
        return _separator(lines[min(self.lines_before_header, len(lines) - 1)])

    @cached_property
    def lines_before_header(self) -> int:
        """Number of lines in front of the header.

        That is 1 where the first names the delimiter. Else it is those of a title or of remarks:
        lines that fill one field or two, from the left, above a line of three or more different
        names, as many as each further line has fields.
        """
        if _SAYS_DELIMITER.match(self.text):
            return 1
        lines = _LINE_END.split(self.text)[:_FIRST_ROWS]
        if len(self.head) == _HEAD:
            lines = lines[:-1]
        pairs = list[int]()
        for at, line in enumerate(lines[: _MOST_TITLES + 1]):
            mark = self.delimiter or ("\t" if self.suffix == ".tsv" else _separator(line))
            fields = _fields(line, mark)
            filled = sum(map(bool, fields))
            if filled > 2 or (filled > 1 and not all(fields[:filled])):
                # Two names and a nameless column are a header, which such a row would hide.
                title = at == 0 or (
                    len(fields) not in pairs and _heads(fields, lines[at + 1 :], mark)
                )
                return at if title else 0
            if filled > 1 and len(fields) == filled + 1:
                pairs.append(len(fields))
        return 0

    @property
    def title(self) -> tuple[str, ...]:
        """What stands above the header, where it does not say the delimiter."""
        if _SAYS_DELIMITER.match(self.text):
            return ()
        lines = _LINE_END.split(self.text, maxsplit=_MOST_TITLES + 1)[: self.lines_before_header]
        said = (" ".join(filter(None, _fields(line, _separator(line)))) for line in lines)
        return tuple(filter(None, said))

    @cached_property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The first complete rows as fields, the header included (at most 50)."""
        lines = self.text
        if len(self.head) == _HEAD:
            lines = lines[: max(lines.rfind("\n"), lines.rfind("\r")) + 1]
        found: list[tuple[str, ...]] = []
        try:
            reader = csv.reader(
                io.StringIO(lines, newline=""),
                delimiter=self.separator,
                skipinitialspace=self.separator == " ",
            )
            for row in reader:
                if row and reader.line_num > self.lines_before_header:
                    found.append(tuple(row))
                if len(found) == _FIRST_ROWS:
                    break
        except csv.Error:
            return tuple(found)
        return tuple(found)

    @cached_property
    def header(self) -> tuple[str, ...]:
        """The fields of the first line, or of the second where the first names the delimiter.

        R's ``write.table`` gives the column of row names none; it then has an empty one.
        Titles and remarks above the header are left out, see :attr:`lines_before_header`.
        """
        if not self.rows:
            return ()
        header, *rows = self.rows
        numbered = all(
            len(row) == len(header) + 1 and row[0] == str(number)
            for number, row in enumerate(rows, 1)
        )
        if rows and numbered:
            return ("", *header)
        stripped = tuple(map(str.strip, header))
        plain = all(stripped) and len({*stripped}) == len(stripped)
        if plain and stripped != header and not any("\n" in name for name in header):
            # Spaces beside a delimiter are no part of a name.
            header = stripped
        # Columns at the end that have no name are told apart by spaces.
        named = len(header)
        while named > 1 and not header[named - 1].strip():
            named -= 1
        return (*header[:named], *(" " * place for place in range(len(header) - named)))

    @cached_property
    def is_workbook(self) -> bool:
        """Whether the file is a workbook of a spreadsheet program."""
        return is_workbook(self.head, self.suffix)

    @cached_property
    def workbook(self) -> Workbook:
        """The sheet of a workbook, with those that are read together with it."""
        return read_workbook(self.path, self.sheet, self.shared)

    @cached_property
    def labelled(self) -> str | None:
        """The statistics program that wrote the file: SPSS or Stata; None: another."""
        return labelled_kind(self.head, self.suffix)

    @cached_property
    def first_rows(self) -> tuple[tuple[str, ...], ...]:
        """The first rows of a text table or of the sheet of a workbook, the header included."""
        if not self.is_workbook:
            return () if self.is_binary else self.rows
        try:
            rows = self.workbook.rows[:50]
        except InputError:
            # Reading says what is wrong with the file.
            return ()
        return tuple(tuple("" if one is None else str(one) for one in row) for row in rows)

    @property
    def is_table(self) -> bool:
        """Whether it is a table that names and types its columns: Parquet, Feather, in memory."""
        return self.frame is not None or self.head.startswith((b"PAR1", b"ARROW1"))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of a table: of its schema (Parquet, Feather), or its header.

        Of JSON they are the names in its first objects. Empty where the file is no table that names
        columns.
        """
        if self.frame is not None:
            return tuple(self.frame.columns)
        if self.is_workbook:
            return self.workbook.header if self.first_rows else ()
        if self.labelled is not None:
            return labelled_names(self.path, self.labelled)
        if self.is_table:
            parquet = self.head.startswith(b"PAR1")
            try:
                schema = (pl.read_parquet_schema if parquet else pl.read_ipc_schema)(self.path)
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
                # Reading says what is wrong with the file.
                return ()
            return tuple(schema)
        if self.is_json:
            if self.suffix not in JSON_LINES and self.text.lstrip().startswith("{"):
                # One object over many lines holds something else than a row.
                return _names_of(self.text) if self.is_json_lines else ()
            first = self.first_record
            return _names_of(self.text) or (tuple(first) if isinstance(first, dict) else ())
        return () if self.is_binary else self.header

    @cached_property
    def first_line(self) -> str:
        """The first line without its end; empty where the file is no text."""
        return "" if self.is_binary else self.text.partition("\n")[0].removesuffix("\r")

    @cached_property
    def is_json_lines(self) -> bool:
        """Whether the first line is JSON by itself: an object, or the first of several lines."""
        first, _, others = self.text.strip().partition("\n")
        try:
            json.loads(first)
        except (ValueError, RecursionError):
            return False
        return first.startswith("{") or (first.startswith("[") and bool(others))

    @cached_property
    def first_record(self) -> Any:
        """The first value of a JSON list, of JSON Lines or of the file; None where it is cut."""
        found = _first_value(self.text)
        cut = len(self.head) == _HEAD and self.path.is_file()
        if found is None and cut and self.starts_with_json():
            # A record may hold a whole picture, so that it is longer than the beginning.
            with self.path.open("rb") as file:
                found = _first_value(file.read(_LONGEST).decode(self.codec, errors="replace"))
        return found

    @property
    def is_json(self) -> bool:
        """Whether it is read as JSON or JSON Lines: by its name, or by how it begins."""
        if self.is_binary:
            return False
        if self.suffix == ".txt":
            # Names of such files say nothing, so that a whole value has to stand there.
            return isinstance(self.first_record, dict | list)
        return self.suffix in JSON_LINES or (
            self.suffix not in DELIMITED and self.starts_with_json()
        )

    def starts_with_json(self) -> bool:
        """Whether the file begins like a JSON object or list."""
        return self.text.lstrip()[:1] in ("{", "[")

    def decode(self) -> str:
        """Read the whole file as text, without a byte order mark.

        Raises
        ------
        InputError
            When a byte does not fit the encoding; the sentence names the line.
        """
        content = self.path.read_bytes() if self.frame is None else _as_csv(self.frame)
        try:
            return content.decode(self.codec).removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            before = content[: error.start].decode(self.codec, errors="replace")
            line = len(_LINE_END.findall(before)) + 1
            other = _other_codec(self.codec, content)
            raise InputError(
                f"{self.path}, line {line}: byte 0x{content[error.start]:02x} is not "
                f"{self.codec.upper()}; name the file's encoding ({option('encoding', other)})"
            ) from None

    @cached_property
    def other_encoding(self) -> str | None:
        """Encoding of a text file that has bytes that the one it is read with has not."""
        other = (
            self.is_table or self.is_workbook or self.is_binary or self.labelled or self.looks_like
        )
        if other or not self.path.is_file():
            return None
        content = self.path.read_bytes()
        return None if _is_in(content, self.codec) else _other_codec(self.codec, content)

    def load_json(self) -> Any:
        """Read the whole file as JSON.

        Raises
        ------
        InputError
            When the file is not JSON, or an object has a key twice; the sentence names the line
            where there is one.
        """
        try:
            return parse_json(self.decode())
        except BadJson as error:
            place = "" if error.line is None else f", line {error.line}"
            raise InputError(f"{self.path}{place}: {error}") from None


def _separator(line: str) -> str:
    """Tell the delimiter of a table by its header."""
    outside = "".join(line.split('"')[::2])
    if ";" in outside:
        outside = _DECIMAL_COMMA.sub("", outside)
    best = max(_DELIMITERS, key=outside.count)
    if outside.count(best):
        return best
    return " " if _SPACED.fullmatch(line) or _QUOTED.fullmatch(line) else ","


def _other_codec(codec: str, content: bytes) -> str:
    """Guess the encoding of a file that cannot be read with one."""
    if not codec.startswith("utf-8"):
        return "utf-8"
    # Of these bytes Windows makes letters and quotes, and Latin-1 nothing to see.
    windows = any(0x80 <= byte < 0xA0 for byte in content)
    return "cp1252" if windows and _is_in(content, "cp1252") else "latin-1"


def _western(head: bytes) -> str | None:
    """Name the encoding of Western text that is no UTF-8; None where it may be another."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        codec = _other_codec("utf-8", head)
        text = head.decode(codec)
        letters = _ACCENTED.findall(text)
        together = sum(len(run) for run in letters if len(run) > 2)
        plain = not _FOREIGN.search(text) and 2 * together <= sum(map(len, letters))
        return codec if plain else None
    return None


def _is_in(content: bytes, codec: str) -> bool:
    try:
        content.decode(codec)
    except UnicodeDecodeError:
        return False
    return True


def _fields(line: str, mark: str) -> list[str]:
    try:
        return [field.strip() for field in next(csv.reader([line], delimiter=mark), [])]
    except csv.Error:
        return []


def _heads(names: Sequence[str], lines: Sequence[str], mark: str) -> bool:
    """Whether a line that is not the first is the header: all others have as many fields."""
    widths = {len(_fields(line, mark)) for line in lines if line.strip()}
    words = len(names) > 2 and all(name and not name[0].isdigit() for name in names)
    return words and len(set(names)) == len(names) and widths == {len(names)}


def as_path(given: Any) -> Path:
    """Take what the user calls a file as a path.

    Raises
    ------
    InputError
        When it is no path.
    """
    if not isinstance(given, str | os.PathLike):
        raise InputError(
            f"expected the path of a file, found an object of type {type(given).__name__}; a "
            "data frame becomes ratings with affectlab.Ratings(frame)"
        )
    return Path(given)


def _as_csv(frame: pl.DataFrame) -> bytes:
    """Write a table in memory as the file that it could have been; lists and objects stay out."""
    columns = [
        pl.Series(column.name, [None] * len(column), dtype=pl.String)
        if column.dtype.is_nested() or column.dtype in (pl.Object, pl.Binary)
        else column
        for column in frame
    ]
    return pl.DataFrame(columns).write_csv().encode()
