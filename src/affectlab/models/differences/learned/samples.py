"""Pairs of frames with scores, and the embeddings of the frames: what a metric learns from."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.files.columns import numbers_of, require_columns, require_distinct
from affectlab.core.types import Floats, Ints
from affectlab.core.words import plural, shown

if TYPE_CHECKING:
    from affectlab.models.embedding import EncoderCard


__all__ = [
    "SCALE",
    "PairSamples",
    "SmallScoresWarning",
    "check_scale",
    "pair_samples",
    "scored_ratings",
]


class SmallScoresWarning(UserWarning):
    """All scores lie so near 0 that they seem to be on a smaller scale."""


# The embeddings of the frames that pairs name.


def _rows_of_files(
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


def _one_actor_each(
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


SCALE = (0.0, 100.0)
"""Scale of the protocol ``difference``: identical, and completely different."""
_KINDS = ("intra", "inter")
_SMALL = 1.0
"""Up to here all scores are taken to be on another scale."""
_OFF = 25.0
"""How far scores may lie outside the scale: those of a subject model can, by a rater's bias."""


@dataclass(frozen=True, eq=False)
class PairSamples:
    """Pairs to learn from; see :func:`pair_samples`."""

    values: NDArray[Any]
    """Embeddings of the frames, shape (frames, width), float16 or float32."""
    first: Ints
    """Row of the first frame of each pair, shape (n,)."""
    second: Ints
    """Row of the second frame of each pair, shape (n,)."""
    scores: Floats
    """How different people found them, 0 to 100, shape (n,)."""
    actor: Ints
    """Place of the actor of each pair in `actors`, shape (n,)."""
    actors: tuple[str, ...]
    """Names, sorted."""
    kind: NDArray[np.str_] | None
    """``intra`` or ``inter``, shape (n,); None where the pairs do not say."""
    stimuli: tuple[str, ...]
    """Names of the pairs."""
    encoder: EncoderCard | None
    """What made the embeddings; None where they came as plain numbers."""
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return self.scores.size

    @property
    def width(self) -> int:
        """Numbers per frame."""
        return int(self.values.shape[1])

    @property
    def mark(self) -> str:
        """Hash of the pairs, their scores, and the embeddings."""
        found = blake2b(digest_size=8)
        for part in (self.values, self.first, self.second, self.scores, self.actor):
            found.update(f"{part.dtype} {part.shape}".encode())
            found.update(np.ascontiguousarray(part).tobytes())
        found.update("\0".join(self.actors).encode())
        return found.hexdigest()

    def differences(self) -> NDArray[np.float32]:
        """Subtract the embeddings of the two frames of each pair, shape (n, width)."""
        first, second = (self.values[rows].astype(np.float32) for rows in (self.first, self.second))
        return np.subtract(first, second, out=first)

    def groups(self) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """Give all pairs, and those of each kind where there are two kinds."""
        yield "all", np.ones(len(self), dtype=bool)
        if self.kind is not None:
            parts = [(name, self.kind == name) for name in _KINDS]
            if all(mask.any() for _, mask in parts):
                yield from parts


def pair_samples(pairs: Any, scores: Any, embeddings: Any) -> PairSamples:
    """Bring pairs, their scores and the embeddings of their frames together.

    Parameters
    ----------
    pairs
        A table, or a CSV or Parquet file, with the columns ``file_a``, ``file_b`` and ``actor``,
        and perhaps ``stimulus``, ``kind`` (``intra``, ``inter``; others are left out) and
        ``value``; or ratings of the protocol ``difference`` whose stimuli have these attributes.
    scores
        How different people found them, from 0 to 100: an array in the order of the pairs, or a
        table with the columns ``stimulus`` and ``value``. None: the column ``value`` of the pairs,
        or the subject model of the ratings.
    embeddings
        :class:`~affectlab.models.embedding.Embeddings` of the frames, or a mapping from the names
        of their files to rows of numbers.

    Raises
    ------
    InputError
        When a column, a score or an embedding is missing, a number cannot be used, a stimulus
        stands twice, a file stands under two actors, or ratings are on another scale.

    Warns
    -----
    SmallScoresWarning
        When no score is above 1.
    """
    table, notes = _table(pairs, scores)
    table, left_out = _usable(table)
    values, rows, card = _rows_of_files(embeddings, table)
    first, second = rows
    actors = tuple(sorted(table["actor"].unique().to_list()))
    place = {name: k for k, name in enumerate(actors)}
    actor = np.array([place[name] for name in table["actor"]], dtype=np.int64)
    _one_actor_each(table, first, second, actor, actors)
    kind = table["kind"].to_numpy().astype(np.str_) if "kind" in table.columns else None
    return PairSamples(
        values,
        first,
        second,
        table["value"].to_numpy().astype(np.float64),
        actor,
        actors,
        kind,
        tuple(table["stimulus"].to_list()),
        card,
        (*notes, *left_out),
    )


def _table(pairs: Any, scores: Any) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Give one table of pairs with their values."""
    from affectlab.ratings import Ratings
    from affectlab.ratings.files import as_frame

    notes: tuple[str, ...] = ()
    if isinstance(pairs, Ratings):
        table = pairs.stimuli
        if scores is None:
            check_scale(pairs)
            scores, notes = scored_ratings(pairs)
    elif isinstance(pairs, str | Path):
        from affectlab.core.files.csv import read_table

        table = read_table(pairs, "pairs")
    else:
        table = as_frame(pairs, what="the table of pairs")
    needed = ("actor", "file_a", "file_b")
    require_columns(table, needed, "the table of pairs: ")
    if not table.height:
        raise InputError("there are no pairs; expected one row per pair")
    if "stimulus" not in table.columns:
        rows = pl.int_range(1, pl.len() + 1)
        table = table.with_columns(pl.format("pair {}", rows).alias("stimulus"))
    names = [name for name in ("stimulus", "kind", *needed) if name in table.columns]
    if scores is not None:
        named = table.select(names)
        return _with_scores(named, scores), notes
    require_columns(table, ["value"], "the table of pairs: ", "give scores, or ratings of people")
    return table.select(*names, "value"), notes


def check_scale(ratings: Any) -> None:
    """Refuse ratings whose scale was said to be another than 0 to 100.

    Raises
    ------
    InputError
        When it has other ends.
    """
    scale = ratings.scale
    ends = scale.low, scale.high
    if scale.declared and None not in ends and ends != SCALE:
        raise InputError(
            f"the ratings are on a scale from {scale.low:g} to {scale.high:g}; expected "
            f"{SCALE[0]:g} to {SCALE[1]:g}, on which a learned metric predicts"
        )


def scored_ratings(
    ratings: Any, score: str = "subject-model"
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Score the pairs by the subject model, or the mean, of the people among the raters."""
    from affectlab.reliability import mean_opinion_scores, subject_model

    kinds = set(ratings.rater_kinds)
    mixed = kinds & {"model", "baseline"} and kinds & {"human", "simulated"}
    people = ratings.humans() if mixed else ratings
    if people.has_labels and people.n_labels > 1:
        raise InputError(
            f"the ratings have {people.n_labels} labels; expected one score for each pair: select "
            "a label first"
        )
    if score == "mean":
        return mean_opinion_scores(people).to_frame().select("stimulus", "value"), ()
    model = subject_model(people)
    return model.to_frame().select("stimulus", "value"), tuple(model.notes)


def _with_scores(table: pl.DataFrame, scores: Any) -> pl.DataFrame:
    if isinstance(scores, pl.DataFrame):
        require_columns(scores, ("stimulus", "value"), "the scores: ")
        given = scores.select(pl.col("stimulus").cast(pl.String), "value")
        require_distinct(given, ["stimulus"], "the scores: ", "one score for each pair")
        own = table.with_columns(pl.col("stimulus").cast(pl.String))
        found = own.join(given, on="stimulus", how="left", maintain_order="left")
        if found["value"].null_count() == found.height:
            raise InputError(
                f"no pair has a score: the pairs have stimuli such as {own['stimulus'][0]!r}, the "
                f"scores such as {given['stimulus'][0] if given.height else 'none'!r}"
            )
        return found
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("scores: expected one number for each pair") from None
    if values.shape != (table.height,):
        raise InputError(
            f"scores of shape {values.shape} for {plural(table.height, 'pair')}; expected one for "
            "each"
        )
    return table.with_columns(pl.Series("value", values))


def _usable(table: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Check every cell; leave out pairs of another kind, and those without a score."""
    notes = []
    table = table.with_columns(numbers_of(table, "value"))
    texts = [name for name in table.columns if name != "value"]
    table = table.with_columns(pl.col(texts).cast(pl.String).str.strip_chars())
    if "kind" in table.columns and table["kind"].null_count() < table.height:
        other = ~pl.col("kind").is_in(_KINDS).fill_null(False)
        n_other = table.filter(other).height
        if n_other:
            notes.append(f"{plural(n_other, 'pair')} of another kind than intra and inter left out")
            table = table.filter(~other)
    elif "kind" in table.columns:
        table = table.drop("kind")
    unscored = table["value"].is_null()
    if unscored.any():
        notes.append(f"{plural(int(unscored.sum()), 'pair')} without a score left out")
        table = table.filter(~unscored)
    if not table.height:
        raise InputError("no pair of kind intra or inter has a score; expected some to learn from")
    for name in ("actor", "file_a", "file_b"):
        empty = table[name].is_null() | (table[name] == "")
        if empty.any():
            row = int(empty.arg_max() or 0)
            raise InputError(f"pair {shown(table['stimulus'][row], 80)!r}: {name} is empty")
    low, high = SCALE[0] - _OFF, SCALE[1] + _OFF
    off = ~table["value"].is_between(low, high)
    if off.any():
        row = int(off.arg_max() or 0)
        raise InputError(
            f"pair {shown(table['stimulus'][row], 80)!r}: score {table['value'][row]:g}; expected "
            f"{SCALE[0]:g} to {SCALE[1]:g}"
        )
    require_distinct(table, ["stimulus"], "the table of pairs: ", "each pair once")
    most = float(table["value"].max())  # type: ignore[arg-type]
    if table.height > 1 and most <= _SMALL:
        warnings.warn(
            f"the highest of {table.height:,} scores is {most:g}; expected a scale from 0 "
            "(identical) to 100, so multiply scores that lie from 0 to 1",
            SmallScoresWarning,
            stacklevel=4,
        )
    return table, tuple(notes)
