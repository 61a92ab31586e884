"""Embeddings: one row of numbers per stimulus, and which encoder gave them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from affectlab._types import pl
from affectlab._words import plural
from affectlab.errors import InputError, unknown_name
from affectlab.models.embedding._card import EncoderCard
from affectlab.models.embedding._encoder import Encoder
from affectlab.models.embedding._told import EmbedRun

__all__ = ["Embeddings", "Index"]


@dataclass(frozen=True)
class Index:
    """Whose rows they are; three columns of the same length."""

    stimuli: tuple[str, ...]
    files: tuple[str, ...]
    hashes: tuple[str, ...]

    def take(self, rows: Iterable[int]) -> Index:
        """Give some rows, in this order."""
        rows = list(rows)
        return Index(*(tuple(column[row] for row in rows) for column in vars(self).values()))


@dataclass(frozen=True, eq=False, repr=False)
class Embeddings:
    """One row of numbers per stimulus, kept in half precision.

    Those of a folder are memory-mapped: only rows that are used are read.

    Examples
    --------
    >>> import numpy as np
    >>> card = EncoderCard("mine", "text", 2, "0ab1")
    >>> found = Embeddings(np.eye(2, dtype=np.float16), ("a", "b"), ("0" * 64, "1" * 64), card)
    >>> found.rows(["b", "a"]).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """

    values: NDArray[np.float16]
    """Shape (n, width)."""
    stimuli: tuple[str, ...]
    """Names of the stimuli, each once."""
    hashes: tuple[str, ...]
    """SHA-256 of the content of each: the bytes of a file, or of a text in UTF-8."""
    encoder: EncoderCard
    """What gave the numbers."""
    files: tuple[str, ...] = ()
    """File of each stimulus, empty for what came from memory; () where none came from a file."""
    folder: Path | None = None
    """Folder they are in; None: in memory."""
    run: EmbedRun | None = None
    """What :func:`embed` did to make them; None where they were loaded."""

    def __post_init__(self) -> None:
        """Check that all parts fit together.

        Raises
        ------
        InputError
            When sizes differ, or a stimulus has two rows.
        """
        n = len(self.stimuli)
        if not self.files:
            object.__setattr__(self, "files", ("",) * n)
        if self.values.dtype != np.float16 or self.values.shape != (n, self.encoder.width):
            raise InputError(
                f"embeddings: values are {self.values.dtype} of shape {self.values.shape}; "
                f"expected float16 of shape {(n, self.encoder.width)}"
            )
        if len(self.hashes) != n or len(self.files) != n:
            raise InputError(
                f"embeddings: {plural(n, 'stimulus', 'stimuli')}, but {len(self.hashes)} hashes "
                f"and {len(self.files)} files; expected as many"
            )
        if len(self._places) != n:
            seen: set[str] = set()
            twice = next(name for name in self.stimuli if name in seen or seen.add(name))  # type: ignore[func-returns-value]
            raise InputError(f"embeddings: stimulus {twice!r} has two rows; expected one")

    def __repr__(self) -> str:
        """Say how many there are, and of what."""
        where = "in memory" if self.folder is None else f"in {self.folder}"
        return f"<Embeddings of {len(self)} stimuli by {self.encoder}, {where}>"

    def __len__(self) -> int:
        """Number of stimuli."""
        return len(self.stimuli)

    @property
    def width(self) -> int:
        """Numbers per stimulus."""
        return self.encoder.width

    @property
    def index(self) -> Index:
        """Whose rows they are."""
        return Index(self.stimuli, self.files, self.hashes)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.stimuli)}

    @classmethod
    def load(cls, path: str | Path, encoder: Encoder | EncoderCard | None = None) -> Embeddings:
        """Open a folder that :func:`embed` or :meth:`save` has written.

        Parameters
        ----------
        encoder
            The encoder that must have made them; None: any.

        Raises
        ------
        InputError
            When the folder holds no embeddings, its parts do not fit together, or they are those of
            another encoder.
        """
        from affectlab.models.embedding._folder import read_folder

        values, index, card = read_folder(Path(path))
        if encoder is not None and not card.same(encoder):
            raise InputError(
                f"{path} holds embeddings of encoder {card}; expected those of "
                f"{EncoderCard.of(encoder)}"
            )
        return cls(values, index.stimuli, index.hashes, card, index.files, Path(path))

    def save(self, path: str | Path) -> Embeddings:
        """Write a folder, and give the embeddings that are in it now.

        The folder may be new, empty, or hold embeddings of the same encoder, which are replaced.

        Raises
        ------
        InputError
            When the folder holds anything else, or cannot be written.
        """
        from affectlab.models.embedding._folder import check_target, locked, write_folder

        place = Path(path)
        check_target(place, self.encoder)
        with locked(place), write_folder(place, self.index, self.encoder) as values:
            values[:] = self.values
        return Embeddings.load(place)

    def places(self, stimuli: Iterable[str]) -> NDArray[np.int64]:
        """Give the rows in which stimuli are.

        Raises
        ------
        InputError
            When one is not here.
        """
        names = list(stimuli)
        try:
            return np.array([self._places[name] for name in names], dtype=np.int64)
        except KeyError as missing:
            where = "embeddings" if self.folder is None else str(self.folder)
            raise unknown_name("stimulus", missing.args[0], self.stimuli, where) from None

    def rows(self, stimuli: Iterable[str] | None = None) -> NDArray[np.float32]:
        """Give the numbers of stimuli in single precision, to compute with.

        Parameters
        ----------
        stimuli
            Names, which may repeat; None: all, in their order.

        Returns
        -------
        ndarray
            Shape (n, width).

        Raises
        ------
        InputError
            When one is not here.
        """
        held = self.values if stimuli is None else self.values[self.places(stimuli)]
        return np.asarray(held, dtype=np.float32)

    def subset(self, stimuli: Iterable[str]) -> Embeddings:
        """Keep some stimuli, in this order, in memory.

        Raises
        ------
        InputError
            When one is not here, or is named twice.
        """
        rows = self.places(stimuli)
        index = self.index.take(rows.tolist())
        return Embeddings(
            np.asarray(self.values[rows]), index.stimuli, index.hashes, self.encoder, index.files
        )

    @classmethod
    def concat(cls, parts: Iterable[Embeddings]) -> Embeddings:
        """Put embeddings of one encoder one below the other, in memory.

        Raises
        ------
        InputError
            When there are none, encoders differ, or a stimulus is in two of them.
        """
        parts = tuple(parts)
        if not parts:
            raise InputError("no embeddings to put together; expected one or more")
        card = parts[0].encoder
        for part in parts:
            if not card.same(part.encoder):
                raise InputError(
                    f"embeddings of encoder {card} and {part.encoder} cannot be put together; "
                    "expected one encoder"
                )
        stimuli, files, hashes = (
            tuple(entry for part in parts for entry in vars(part)[name])
            for name in ("stimuli", "files", "hashes")
        )
        return cls(np.concatenate([part.values for part in parts]), stimuli, hashes, card, files)

    def to_frame(self) -> pl.DataFrame:
        """Give a table: ``stimulus``, ``file``, ``sha256``, and ``embedding``, an array."""
        import polars as pl

        from affectlab.models.embedding._folder import index_frame

        frame = index_frame(self.index)
        if not len(self):
            kind = pl.Array(pl.Float32, self.width)
            return frame.with_columns(pl.Series("embedding", [], dtype=kind))
        return frame.with_columns(pl.Series("embedding", self.rows()))
