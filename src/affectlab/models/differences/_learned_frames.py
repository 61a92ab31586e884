"""The embeddings of the frames that pairs name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab._types import Ints
from affectlab._words import plural, shown
from affectlab.errors import InputError

if TYPE_CHECKING:
    from affectlab.models.embedding import EncoderCard

__all__ = ["one_actor_each", "rows_of_files"]


def rows_of_files(
    embeddings: Any, table: pl.DataFrame
) -> tuple[NDArray[Any], tuple[Ints, Ints], EncoderCard | None]:
    """Find the rows of all frames; only those that some pair needs are held."""
    from affectlab.models.embedding import Embeddings

    files = pl.concat([table["file_a"], table["file_b"]]).unique(maintain_order=True).to_list()
    if isinstance(embeddings, Embeddings):
        at = _places(files, embeddings.stimuli, embeddings.files)
        _one_actor_per_picture(table, {name: embeddings.hashes[at[name]] for name in files})
        values = np.asarray(embeddings.values[np.array([at[name] for name in files])])
        card: EncoderCard | None = embeddings.encoder
    elif isinstance(embeddings, Mapping):
        missing = [name for name in files if name not in embeddings]
        if missing:
            raise _absent(missing, files)
        values, card = _plain(embeddings, files), None
    else:
        raise InputError(
            "embeddings: expected Embeddings, or a mapping from files to rows of numbers, not "
            f"{type(embeddings).__name__}"
        )
    finite = np.isfinite(values).all(axis=1)
    if not finite.all():
        name = files[int(np.flatnonzero(~finite)[0])]
        raise InputError(f"the embedding of {shown(name, 80)!r} has numbers that are not finite")
    row = {name: k for k, name in enumerate(files)}
    first, second = (
        np.array([row[name] for name in table[side]], dtype=np.int64)
        for side in ("file_a", "file_b")
    )
    return values, (first, second), card


def _plain(embeddings: Mapping[str, Any], files: Sequence[str]) -> NDArray[np.float32]:
    try:
        rows = [np.asarray(embeddings[name], dtype=np.float32) for name in files]
    except (TypeError, ValueError):
        raise InputError("embeddings: expected rows of numbers") from None
    for name, one in zip(files, rows, strict=True):
        if one.ndim != 1 or one.shape != rows[0].shape or not one.size:
            raise InputError(
                f"the embedding of {shown(name, 80)!r} has shape {one.shape}; expected "
                f"{rows[0].shape if rows[0].ndim == 1 else '(width,)'} as for the others"
            )
    return np.stack(rows)


def _places(files: Sequence[str], stimuli: Sequence[str], paths: Sequence[str]) -> dict[str, int]:
    """Find frames among embeddings: by name, by name without suffix, or by file."""
    by_name = {name: k for k, name in enumerate(stimuli)}
    by_path = {name: k for k, name in enumerate(paths) if name}
    stems: dict[str, int | None] = {}
    for k, name in enumerate(stimuli):
        stem = PurePosixPath(name).name
        stems[stem] = None if stem in stems else k

    def bare(name: str) -> int | None:
        """Find a name without its folder, where one of the two sides has none."""
        place = stems.get(PurePosixPath(name).name)
        folders = place is not None and "/" in stimuli[place] and "/" in name
        return None if folders else place

    found: dict[str, int] = {}
    for name in files:
        plain = str(PurePosixPath(name).with_suffix("")) if PurePosixPath(name).name else name
        for place in (
            by_name.get(name),
            by_name.get(plain),
            by_path.get(name),
            bare(plain),
        ):
            if place is not None:
                found[name] = place
                break
    missing = [name for name in files if name not in found]
    if missing:
        raise _absent(missing, files)
    if len(set(found.values())) < len(found):
        seen: dict[int, str] = {}
        for name, place in found.items():
            other = seen.setdefault(place, name)
            if other != name:
                raise InputError(
                    f"the files {shown(other, 80)!r} and {shown(name, 80)!r} both lead to the "
                    f"embedding of {shown(stimuli[place], 80)!r}; expected one for each"
                )
    return found


def _absent(missing: Sequence[str], files: Sequence[str]) -> InputError:
    return InputError(
        f"{len(missing):,} of {plural(len(files), 'frame')} have no embedding, such as "
        f"{shown(missing[0], 80)!r}; expected one for each file of the pairs"
    )


def _one_actor_per_picture(table: pl.DataFrame, hashes: Mapping[str, str]) -> None:
    """Refuse copies of a picture under two actors, whatever they are called."""
    seen: dict[str, tuple[str, str]] = {}
    for side in ("file_a", "file_b"):
        for name, actor in table.select(side, "actor").unique(maintain_order=True).iter_rows():
            other, owner = seen.setdefault(hashes[name], (name, actor))
            if owner != actor and other != name:
                two = sorted({owner, actor})
                raise InputError(
                    f"the files {shown(other, 80)!r} and {shown(name, 80)!r} are the same picture, "
                    f"under the actors {two[0]!r} and {two[1]!r}; expected one actor for each "
                    "picture, since a test would otherwise see what was learned from"
                )


def one_actor_each(
    table: pl.DataFrame, first: Ints, second: Ints, actor: Ints, actors: tuple[str, ...]
) -> None:
    """Refuse frames of two actors: a test would see what was learned from."""
    rows = np.concatenate([first, second])
    of = np.concatenate([actor, actor])
    held = np.full(int(rows.max()) + 1, -1, dtype=np.int64)
    held[rows] = of
    wrong = np.flatnonzero(held[rows] != of)
    if wrong.size:
        n = first.size
        at = int(wrong[0])
        name = table["file_a" if at < n else "file_b"][at % n]
        two = sorted({actors[of[at]], actors[held[rows[at]]]})
        raise InputError(
            f"file {shown(name, 80)!r} stands under the actors {two[0]!r} and {two[1]!r}; expected "
            "one actor for each file, since a test would otherwise see what was learned from"
        )
