"""What ``affectlab train heads`` learns from, judges by and calibrates on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.cli._people import people_of
from affectlab.cli.train._heads_aside import (
    Aside,
    big_values,
    chosen_values,
    names_of_values,
    table_values,
    values_of,
)
from affectlab.core.errors import InputError
from affectlab.core.words import plural

if TYPE_CHECKING:
    from affectlab.models.embedding import Embeddings, EncoderCard
    from affectlab.ratings import Ratings
    from affectlab.ratings.options import Absent
    from affectlab.taxonomy import Taxonomy

__all__ = ["HeadData", "HeadSources", "neutral_of", "prepare"]


@dataclass(frozen=True)
class HeadSources:
    """What heads learn from, are judged by and calibrated on, beside the ratings."""

    embeddings: Path
    """Embeddings of the rated stimuli, a folder that affectlab embed wrote."""
    big: Path | None = None
    """Many ratings, of machines as a rule, to train on first."""
    big_embeddings: Path | None = None
    """Embeddings of their stimuli; by default those of --embeddings."""
    big_absent: Absent | None = None
    """The same as --absent, of the ratings of --big."""
    labels: Sequence[str] | None = None
    """Labels to train heads for: joy,fear. By default all that are rated."""
    held_out: str | None = None
    """Attribute of stimuli, such as identity: those of a fifth of its values are kept aside, and
    judged."""
    dev: Path | None = None
    """Ratings of other stimuli to judge the heads by, in place of --held-out."""
    dev_embeddings: Path | None = None
    """Embeddings of --dev; by default those of --embeddings."""
    neutral: Path | None = None
    """Neutral stimuli: their embeddings (a folder), or a table whose column stimulus names them
    among --embeddings. The mean of each head over them is subtracted."""

    def __post_init__(self) -> None:
        if self.held_out and self.dev:
            raise InputError(
                "--held-out and --dev both say what to judge by; expected one of the two"
            )
        for option in ("big", "dev"):
            if getattr(self, f"{option}_embeddings") and not getattr(self, option):
                raise InputError(
                    f"--{option}-embeddings is for --{option}; expected --{option} as well"
                )


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
    doubts: list[str] = field(default_factory=list)


def prepare(
    ratings: Ratings,
    asked: HeadSources,
    *,
    source: str,
    stimuli: Path | None,
    absent: Absent | None,
    seed: int,
) -> HeadData:
    """Read and cut what is needed; nothing that is kept aside is left in training.

    Parameters
    ----------
    ratings, asked
        What heads learn from.
    source
        Name of the file of ratings.
    stimuli
        Table of stimuli, rated or not.
    absent
        What a label left out means, in the ratings and in those that heads are judged by.
    """
    from affectlab.models.embedding import Embeddings

    notes: list[str] = []
    ratings = people_of(ratings, notes, source)
    embedded = Embeddings.load(asked.embeddings)
    taxonomy = _taxonomy(ratings)
    big = None
    if asked.big is not None:
        big = _read(asked.big, ratings, asked.big_absent)
    labels = _labels(asked.labels, taxonomy, ratings, big)
    found = HeadData(taxonomy, labels, (embedded, ratings), source, notes=notes)
    if big is not None:
        found.big_source = asked.big.name if asked.big else ""
        found.big = (_other(asked.big_embeddings, embedded, "--big-embeddings"), big)
    if asked.neutral is not None:
        found.neutral = neutral_of(asked.neutral, embedded)
        _same_encoder(found.neutral.encoder, embedded.encoder, f"--neutral {asked.neutral}")
    _keep_aside(found, asked, stimuli, absent, seed)
    unknown = len(set(found.train[1].stimulus_names) - set(found.train[0].stimuli))
    if unknown:
        found.notes.append(f"{unknown:,} rated stimuli are not embedded, and left out")
    return found


def _keep_aside(
    found: HeadData,
    asked: HeadSources,
    stimuli: Path | None,
    absent: Absent | None,
    seed: int,
) -> None:
    """Take what heads are judged by out of both stages, and out of the neutral stimuli."""
    embedded, ratings = found.train
    if asked.dev is not None:
        other = _other(asked.dev_embeddings, embedded, "--dev-embeddings")
        dev = people_of(_read(asked.dev, ratings, absent), found.notes, asked.dev.name)
        embedded_names = set(other.stimuli)
        names = {name for name in dev.stimulus_names if name in embedded_names}
        found.dev, found.dev_said = (other, dev), asked.dev.name
        _without(found, Aside(other, names))
    elif asked.held_out is not None:
        column = asked.held_out
        table = table_values(stimuli, column)
        values = table | values_of(ratings, column)
        chosen, aside = chosen_values(ratings, values, column, seed)
        dev = ratings.select(stimuli=[n for n in ratings.stimulus_names if n in aside])
        found.dev, found.held_out = (embedded, dev), chosen
        were = "was" if len(chosen) == 1 else "were"
        found.dev_said = f"{plural(len(chosen), 'value')} of {column} that {were} kept aside"
        # Those that people did not rate, too: the machine may have, or they are neutral.
        names = aside | names_of_values(embedded.stimuli, values, chosen)
        _without(found, Aside(embedded, names), values, set(chosen), column, table)


def _without(
    found: HeadData,
    aside: Aside,
    values: dict[str, str] | None = None,
    chosen: set[str] | None = None,
    column: str = "",
    table: dict[str, str] | None = None,
) -> None:
    """Take stimuli that are kept aside out of all that is learned from."""
    embedded, ratings = found.train
    found.train = embedded, _rest(ratings, aside.among(embedded))
    if found.big is not None:
        embedded_big, big = found.big
        more: set[str] = set()
        if column:
            known, missing = big_values(
                big, embedded_big, column, embedded, values or {}, table or {}
            )
            more = names_of_values(known, known, chosen or ())
            if missing:
                found.doubts.append(
                    f"{plural(len(missing), 'stimulus', 'stimuli')} of --big without {column}, "
                    f"such as {missing[0]!r}: heads learn from them, and they could show who is "
                    f"kept aside; a column {column} in --big or in --stimuli says who they show"
                )
        found.big = embedded_big, _rest(big, aside.among(embedded_big, more))
    if found.neutral is not None:
        names = names_of_values(found.neutral.stimuli, table or {}, chosen or ())
        out = aside.among(found.neutral, names)
        left = [name for name in found.neutral.stimuli if name not in out]
        if not left:
            raise InputError("all neutral stimuli are kept aside; expected others for --neutral")
        n_out = len(found.neutral) - len(left)
        if n_out:
            found.neutral = found.neutral.subset(left)
            found.notes.append(
                f"{plural(n_out, 'neutral stimulus is', 'neutral stimuli are')} kept aside, and "
                "not calibrated on"
            )


def _rest(ratings: Ratings, aside: set[str]) -> Ratings:
    left = [name for name in ratings.stimulus_names if name not in aside]
    if not left:
        raise InputError(
            "all rated stimuli are kept aside, and none is left to learn from; expected others"
        )
    return ratings if len(left) == ratings.n_stimuli else ratings.select(stimuli=left)


def neutral_of(place: Path, embedded: Embeddings | None) -> Embeddings:
    """Give the embeddings of neutral stimuli: a folder of their own, or some rows of another."""
    from affectlab.models.embedding import Embeddings
    from affectlab.ratings import read_table

    if place.is_dir():
        return Embeddings.load(place)
    if embedded is None:
        raise InputError(f"{place}: expected a folder of embeddings or of images")
    names = read_table(place)["stimulus"].unique(maintain_order=True).to_list()
    known = set(embedded.stimuli)
    missing = [name for name in names if name not in known]
    if missing:
        raise InputError(
            f"{place}: {len(missing)} of {len(names)} neutral stimuli are not embedded, such as "
            f"{missing[0]!r}"
        )
    return embedded.subset(names)


def _other(place: Path | None, embedded: Embeddings, option: str) -> Embeddings:
    """Open other embeddings, of the same encoder."""
    from affectlab.models.embedding import Embeddings

    if place is None:
        return embedded
    found = Embeddings.load(place)
    _same_encoder(found.encoder, embedded.encoder, f"{option} {place}")
    return found


def _same_encoder(found: EncoderCard, wanted: EncoderCard, where: str) -> None:
    """Refuse embeddings of another encoder before anything is learned."""
    from affectlab.models.heads.rows import same_encoder

    same_encoder(found, wanted, where)


def _read(path: Path, like: Ratings, absent: Absent | None) -> Ratings:
    """Read more ratings; where the file says no scale, it is yes/no or 0 to 7, as heads learn."""
    from affectlab.ratings import Scale, read_ratings

    found = read_ratings(path, taxonomy=like.taxonomy, absent=absent)
    if found.scale.declared or found.scale.kind == "binary":
        return found
    # People may have said yes or no and a machine how much, or one whole numbers and one fractions.
    scale = Scale.parse("0-7" if found.scale.step else "0-7 interval")
    return read_ratings(path, taxonomy=like.taxonomy, scale=scale, absent=absent)


def _taxonomy(ratings: Ratings) -> Taxonomy:
    from affectlab.taxonomy import Taxonomy

    if ratings.taxonomy is not None:
        return ratings.taxonomy
    return Taxonomy.from_labels(ratings.label_names, name="heads")


def _labels(
    asked: Sequence[str] | None, taxonomy: Taxonomy, ratings: Ratings, big: Ratings | None
) -> tuple[str, ...]:
    """Labels asked for, or all that are rated, in the order of the taxonomy."""
    rated = {*ratings.label_names, *(big.label_names if big is not None else ())}
    if asked is None:
        return tuple(label for label in taxonomy.labels if label in rated)
    names = [name for name in asked if name]
    if not names:
        raise InputError("--labels names no label; expected joy,fear")
    found = [taxonomy.name_of(name) for name in names]
    for name in found:
        if name not in rated:
            raise InputError(f"--labels: nobody rated {name!r}; expected labels with ratings")
    return tuple(found)
