"""What ``affectlab train heads`` learns from, judges by and calibrates on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from affectlab.errors import InputError, unknown_name

if TYPE_CHECKING:
    from affectlab.models.embedding import Embeddings
    from affectlab.ratings import Ratings
    from affectlab.taxonomy import Taxonomy

__all__ = ["Asked", "HeadData", "neutral_of", "prepare"]

_SHARE = 0.2
"""Share of the values of an attribute that is kept aside."""


@dataclass(frozen=True)
class Asked:
    """What was asked for."""

    embeddings: Path
    big: Path | None
    big_embeddings: Path | None
    held_out: str | None
    dev: Path | None
    dev_embeddings: Path | None
    neutral: Path | None
    labels: str | None
    fill_absent: Literal["none", "ratings", "big", "both"]
    seed: int


@dataclass
class HeadData:
    """What was found."""

    taxonomy: Taxonomy
    labels: tuple[str, ...]
    train: tuple[Embeddings, Ratings]
    source: str
    big: tuple[Embeddings, Ratings] | None = None
    big_source: str = ""
    dev: tuple[Embeddings, Ratings] | None = None
    dev_said: str = ""
    held_out: list[str] = field(default_factory=list)
    """Values of the attribute that were kept aside."""
    neutral: Embeddings | None = None
    notes: list[str] = field(default_factory=list)


def prepare(ratings: Ratings, asked: Asked) -> HeadData:
    """Read and cut what is needed; nothing that is kept aside is left in training."""
    from affectlab.models.embedding import Embeddings

    if asked.fill_absent in ("ratings", "both"):
        ratings = ratings.fill_absent()
    embedded = Embeddings.load(asked.embeddings)
    taxonomy = _taxonomy(ratings)
    big = None
    if asked.big is not None:
        big = _read(asked.big, ratings)
        if asked.fill_absent in ("big", "both"):
            big = big.fill_absent()
    labels = _labels(asked.labels, taxonomy, ratings, big)
    found = HeadData(taxonomy, labels, (embedded, ratings), _name(ratings))
    if big is not None:
        found.big_source = asked.big.name if asked.big else ""
        found.big = (_other(asked.big_embeddings, embedded), big)
    _keep_aside(found, asked)
    unknown = len(set(found.train[1].stimulus_names) - set(found.train[0].stimuli))
    if unknown:
        found.notes.append(f"{unknown:,} rated stimuli are not embedded, and left out")
    if asked.neutral is not None:
        found.neutral = neutral_of(asked.neutral, embedded)
    return found


def _keep_aside(found: HeadData, asked: Asked) -> None:
    embedded, ratings = found.train
    if asked.dev is not None:
        other = _other(asked.dev_embeddings, embedded)
        dev = _read(asked.dev, ratings)
        aside = {name for name in dev.stimulus_names if name in set(other.stimuli)}
        found.dev, found.dev_said = (other, dev), asked.dev.name
        # Only where both name stimuli of one folder is the same name the same stimulus.
        if other is embedded:
            _without(found, aside)
    elif asked.held_out is not None:
        chosen, aside = _of_attribute(ratings, asked.held_out, asked.seed)
        dev = ratings.select(stimuli=[n for n in ratings.stimulus_names if n in aside])
        found.dev, found.held_out = (embedded, dev), chosen
        found.dev_said = f"{len(chosen)} values of {asked.held_out} that were kept aside"
        _without(found, aside)


def _without(found: HeadData, aside: set[str]) -> None:
    """Take stimuli that are kept aside out of both stages."""

    def rest(ratings: Ratings) -> Ratings:
        left = [name for name in ratings.stimulus_names if name not in aside]
        if not left:
            raise InputError(
                "all rated stimuli are kept aside, and none is left to learn from; expected others"
            )
        return ratings if len(left) == ratings.n_stimuli else ratings.select(stimuli=left)

    found.train = (found.train[0], rest(found.train[1]))
    if found.big is not None and found.big[0] is found.train[0]:
        found.big = (found.big[0], rest(found.big[1]))


def _of_attribute(ratings: Ratings, column: str, seed: int) -> tuple[list[str], set[str]]:
    """Choose a fifth of the values of an attribute, and give their stimuli."""
    table = ratings.stimuli
    known = [name for name in table.columns if name != "stimulus"]
    if column not in known:
        if not known:
            raise InputError(
                f"--held-out {column}: the ratings say nothing about stimuli; give a table of them "
                "with --stimuli"
            )
        raise unknown_name("attribute of stimuli", column, known, "--held-out")
    values = table[column].cast(str)
    if values.null_count():
        name = table["stimulus"].filter(values.is_null())[0]
        raise InputError(f"--held-out {column}: stimulus {name!r} has no value; expected one")
    different = sorted(values.unique().to_list())
    if len(different) < 2:
        raise InputError(
            f"--held-out {column}: all stimuli have the value {different[0]!r}; expected several"
        )
    rng = np.random.default_rng([seed, len(different)])
    n = max(1, round(_SHARE * len(different)))
    chosen = sorted(different[place] for place in rng.permutation(len(different))[:n])
    aside = table["stimulus"].filter(values.is_in(chosen)).to_list()
    return chosen, set(aside)


def neutral_of(place: Path, embedded: Embeddings | None) -> Embeddings:
    """Give the embeddings of neutral stimuli: a folder of their own, or some rows of another."""
    from affectlab.models.embedding import Embeddings
    from affectlab.ratings import read_table

    if place.is_dir():
        return Embeddings.load(place)
    if embedded is None:
        raise InputError(f"{place}: expected a folder of embeddings or of images")
    names = read_table(place)["stimulus"].unique(maintain_order=True).to_list()
    missing = [name for name in names if name not in set(embedded.stimuli)]
    if missing:
        raise InputError(
            f"{place}: {len(missing)} of {len(names)} neutral stimuli are not embedded, such as "
            f"{missing[0]!r}"
        )
    return embedded.subset(names)


def _other(place: Path | None, embedded: Embeddings) -> Embeddings:
    from affectlab.models.embedding import Embeddings

    return embedded if place is None else Embeddings.load(place)


def _read(path: Path, like: Ratings) -> Ratings:
    """Read more ratings; they are taken to be on the scale of the first where they say none."""
    from affectlab.ratings import read_ratings

    found: Any = read_ratings(path, taxonomy=like.taxonomy)
    if not found.scale.declared and found.scale.kind != "binary":
        found = read_ratings(path, taxonomy=like.taxonomy, scale=like.scale)
    return found  # type: ignore[no-any-return]


def _taxonomy(ratings: Ratings) -> Taxonomy:
    from affectlab.taxonomy import Taxonomy

    if ratings.taxonomy is not None:
        return ratings.taxonomy
    return Taxonomy.from_labels(ratings.label_names, name="heads")


def _labels(
    asked: str | None, taxonomy: Taxonomy, ratings: Ratings, big: Ratings | None
) -> tuple[str, ...]:
    """Labels asked for, or all that are rated, in the order of the taxonomy."""
    rated = {*ratings.label_names, *(big.label_names if big is not None else ())}
    if asked is None:
        return tuple(label for label in taxonomy.labels if label in rated)
    names = [part.strip() for part in asked.split(",") if part.strip()]
    if not names:
        raise InputError("--labels names no label; expected joy,fear")
    found = [taxonomy.name_of(name) for name in names]
    for name in found:
        if name not in rated:
            raise InputError(f"--labels: nobody rated {name!r}; expected labels with ratings")
    return tuple(found)


def _name(ratings: Ratings) -> str:
    return Path(ratings.source).name if ratings.source else ""
