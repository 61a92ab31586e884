"""What was made: pictures in a folder, a line for each in a journal, and the manifest."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.columns import require_columns
from affectlab.core.files.csv import read_table, write_data_csv
from affectlab.stimuli.generation.generator import ImageGenerator
from affectlab.stimuli.generation.prompt_table import OWN_COLUMNS, PROMPT_COLUMNS, prompt_table

__all__ = [
    "FAILED",
    "JOURNAL",
    "MANIFEST",
    "Journal",
    "Manifest",
    "made_from",
    "read_failed",
    "read_manifest",
    "settings_text",
]

MANIFEST, FAILED, JOURNAL = "manifest.csv", "failed.csv", "images.jsonl"
_NUMBERS = ("width", "height", "bytes")
_DECIDE = (
    *(name for name in PROMPT_COLUMNS if name != "stimulus"),
    *("generator", "generator_version", "settings"),
)
_OF_FAILED = ("outcome", "problem")
"""Columns of the table of failures; every row of the manifest is a picture."""


@dataclass(frozen=True, eq=False)
class Manifest:
    """Pictures that were made, and prompts of which none was; see :func:`generate_images`."""

    folder: Path
    images: pl.DataFrame
    """One row per picture: ``stimulus``, ``file`` (in the folder), the columns of its prompt,
    ``generator``, ``generator_version``, ``settings`` (JSON), ``drawn`` (what stands in for the
    label's expression, where something does), ``note``, ``sha256``, ``width``, ``height``,
    ``bytes``."""
    failed: pl.DataFrame
    """One row per prompt of which no picture could be made: its columns, the generator, ``outcome``
    (``failed`` or ``refused``) and ``problem``. Where it was to be made again, the earlier picture
    stays among the images."""
    n_made: int
    """Pictures made now."""
    n_kept: int
    """Pictures of these prompts that were there already."""

    @property
    def path(self) -> Path:
        """The table of pictures, which is the stimulus table of a study."""
        return self.folder / MANIFEST

    def without(self) -> pl.DataFrame:
        """Give the failures that left a prompt without any picture."""
        return self.failed.join(self.images, on="stimulus", how="anti", maintain_order="left")

    def to_frame(self) -> pl.DataFrame:
        """Give all prompts once, with ``outcome``: ``ok``, ``failed`` or ``refused``."""
        images = self.images.with_columns(outcome=pl.lit("ok"))
        return pl.concat([images, self.without()], how="diagonal_relaxed")

    def __len__(self) -> int:
        return self.images.height


def read_manifest(path: str | Path) -> pl.DataFrame:
    """Read the table of pictures that :func:`generate_images` wrote.

    Parameters
    ----------
    path
        ``manifest.csv``, or the folder that it is in.

    Raises
    ------
    InputError
        When there is none, or it is none.

    Examples
    --------
    >>> read_manifest("nowhere")
    Traceback (most recent call last):
    affectlab.InputError: nowhere: there is no such file
    """
    place = Path(path)
    place = place / MANIFEST if place.is_dir() else place
    told = prompt_table(place)
    table = read_table(place, "pictures")
    require_columns(table, ["file"], f"{place}: ", "the manifest of pictures has it")
    own = [name for name in OWN_COLUMNS if name in table.columns]
    numbers = [pl.col(name).cast(pl.Int64, strict=False) for name in _NUMBERS if name in own]
    return pl.concat([told, table.select(own).with_columns(numbers)], how="horizontal")


def read_failed(path: str | Path) -> pl.DataFrame | None:
    """Read the prompts of which no picture could be made, beside a manifest; None without any."""
    place = Path(path)
    beside = (place if place.is_dir() else place.parent) / FAILED
    if not beside.exists():
        return None
    told, table = prompt_table(beside), read_table(beside, "prompts without a picture")
    own = [name for name in OWN_COLUMNS if name in table.columns]
    return pl.concat([told, table.select(own)], how="horizontal")


def made_from(row: Mapping[str, Any]) -> dict[str, str]:
    """Say what a line of the journal is made from: any other value would make another picture."""
    return {name: _text(row.get(name)) for name in _DECIDE}


def settings_text(generator: ImageGenerator) -> str:
    """Write settings as JSON, in the order of their names."""
    return json.dumps(dict(generator.settings), sort_keys=True, ensure_ascii=False, default=str)


def _text(value: object) -> str:
    return "" if value is None else str(value)


class Journal:
    """Lines of what became of each prompt: the last picture of it, and a failure after that.

    It is written as pictures are, so that an interrupted run loses none; the tables are made of it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / JOURNAL
        self.rows: dict[str, dict[str, Any]] = {}
        """What was made, by prompt."""
        self.failures: dict[str, dict[str, Any]] = {}
        """What could not be made since."""
        if self.path.exists():
            self._read()

    def _read(self) -> None:
        *lines, rest = self.path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, start=1):
            try:
                self._count(json.loads(line))
            except (ValueError, KeyError, TypeError):
                raise InputError(
                    f"{self.path}, line {number}: not a line of a journal of pictures; expected "
                    "the folder of an earlier run, or a new one"
                ) from None
        if rest:
            # A run that was killed left half a line; its picture is made again.
            self._replace(self.path, b"".join(line + b"\n" for line in lines))

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        """Add what became of some prompts, safe against a loss of power."""
        new = list(rows)
        if not new:
            return
        with self.path.open("ab") as file:
            for row in new:
                file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        for row in new:
            self._count(row)

    def _count(self, row: dict[str, Any]) -> None:
        """Take a line in: a picture settles its failures, a failure leaves the picture there is."""
        stimulus = row["stimulus"]
        if row["outcome"] == "ok":
            self.rows[stimulus] = row
            self.failures.pop(stimulus, None)
        else:
            self.failures[stimulus] = row

    def settle(self, stimuli: Iterable[str]) -> None:
        """Forget failures to make pictures anew that are kept as they are."""
        self.add(self.rows[name] for name in list(stimuli) if name in self.failures)

    def holds(self, stimulus: str) -> bool:
        """Whether there is a picture of a prompt, as it was written."""
        row = self.rows.get(stimulus)
        if row is None:
            return False
        file = self.folder / str(row["file"])
        return file.is_file() and file.stat().st_size == row["bytes"]

    def save(self, name: str, content: bytes) -> str:
        """Write a picture, whole or not at all; give its path in the folder and its digest."""
        self._replace(self.folder / name, content)
        return hashlib.sha256(content).hexdigest()

    @staticmethod
    def _replace(path: Path, content: bytes) -> None:
        part = path.with_name(f".{path.name}.part")
        part.write_bytes(content)
        part.replace(path)

    def tables(self, order: Iterable[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Write both tables, and give them: pictures, and what could not be made.

        Prompts of earlier runs come first, then those of this one in their `order`.
        """
        now = list(order)
        wanted = set(now)
        known = self.rows | self.failures
        names = [*(name for name in known if name not in wanted), *(n for n in now if n in known)]
        rest = [self.failures[name] for name in names if name in self.failures]
        # A picture that was lost, and could not be made again, is none.
        lost = {name for name in self.failures if not self.holds(name)}
        ok = [self.rows[name] for name in names if name in self.rows and name not in lost]
        images = _frame(ok).drop(_OF_FAILED, strict=False)
        # What pictures alone have is null in every row here.
        left = ("file", "drawn", "note", "sha256", *_NUMBERS)
        failed = _frame(rest).drop(left, strict=False)
        for table, name in ((images, MANIFEST), (failed, FAILED)):
            place = self.folder / name
            if table.height or name == MANIFEST:
                part = place.with_name(f".{name}.part")
                write_data_csv(table, part)
                part.replace(place)
            else:
                place.unlink(missing_ok=True)
        return images, failed


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Make a table of lines, its columns in a fixed order: name and file, prompt, what was made."""
    first = ["stimulus", "file", *(name for name in PROMPT_COLUMNS if name != "stimulus")]
    last = [name for name in OWN_COLUMNS if name != "file"]
    found = dict.fromkeys(name for row in rows for name in row)
    between = [name for name in found if name not in (*first, *last)]
    names = [name for name in (*first, *between, *last) if name in found or not rows]
    kinds: dict[str, Any] = dict.fromkeys((*OWN_COLUMNS,), pl.String)
    kinds |= dict.fromkeys(_NUMBERS, pl.Int64) | dict(PROMPT_COLUMNS)
    schema = {name: kinds.get(name) for name in names}
    return pl.DataFrame(
        [{name: row.get(name) for name in names} for row in rows],
        schema=schema,
        infer_schema_length=None,
    )
