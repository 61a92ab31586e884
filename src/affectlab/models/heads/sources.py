"""Files that heads learn from, are judged by and calibrated on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from affectlab.core.errors import InputError
from affectlab.core.types import Device, Rare
from affectlab.core.words import plural
from affectlab.models.embedding import CARD, Embeddings
from affectlab.models.heads.bank import HeadBank
from affectlab.models.heads.data import HeadData, stimulus_values
from affectlab.models.heads.rows import same_encoder
from affectlab.ratings import Absent, Ratings, Scale, read_ratings, read_table
from affectlab.taxonomy import Taxonomy

__all__ = [
    "HeadSources",
    "embeddings_of",
    "is_embeddings",
    "neutral_of",
    "people_of",
    "read_zero_to_seven",
]


def people_of(ratings: Ratings, notes: list[str], where: str) -> Ratings:
    """Keep people where there are both people and models, and note it.

    Parameters
    ----------
    notes
        A sentence is added.
    where
        Name of the file, for the sentence.
    """
    kinds = set(ratings.rater_kinds)
    if not (kinds & {"model", "baseline"} and kinds & {"human", "simulated"}):
        return ratings
    people = ratings.humans()
    left = ratings.n_raters - people.n_raters
    notes.append(
        f"{where}: {plural(people.n_raters, 'person counts', 'people count')}; "
        f"{plural(left, 'model is', 'models are')} left out"
    )
    return people


def read_zero_to_seven(
    path: Path, absent: Absent | None, taxonomy: Taxonomy | None = None
) -> Ratings:
    """Read ratings; where the file says no scale, numbers are from 0 to 7, as heads learn."""
    found = read_ratings(path, taxonomy=taxonomy, absent=absent)
    if found.scale.declared or found.scale.kind not in ("ordinal", "interval"):
        return found
    # Nothing in the file says what could have been answered; what is off 0 to 7 is refused.
    scale = Scale.parse("0-7" if found.scale.step else "0-7 interval")
    return read_ratings(path, taxonomy=taxonomy, scale=scale, absent=absent)


@dataclass(frozen=True)
class HeadSources:
    """What heads learn from, are judged by and calibrated on, beside the ratings."""

    embeddings: Path
    """Embeddings of the rated stimuli, a folder that affectlab embed wrote."""
    big: Path | None = None
    """Many ratings, of machines as a rule, to train on first."""
    big_embeddings: Annotated[Path | None, Rare] = None
    """Embeddings of their stimuli; by default those of --embeddings."""
    big_absent: Annotated[Absent | None, Rare] = None
    """The same as --absent, of the ratings of --big."""
    labels: Sequence[str] | None = None
    """Labels to train heads for: joy,fear. By default all that are rated."""
    held_out: str | None = None
    """Attribute of stimuli, such as identity: those of a fifth of its values are kept aside, and
    judged."""
    dev: Path | None = None
    """Ratings of other stimuli to judge the heads by, in place of --held-out."""
    dev_embeddings: Annotated[Path | None, Rare] = None
    """Embeddings of --dev; by default those of --embeddings."""
    neutral: Annotated[Path | None, Rare] = None
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
                    f"{option}_embeddings is for --{option}; expected --{option} as well"
                )

    def read(
        self,
        ratings: Ratings,
        *,
        source: str,
        stimuli: Path | None,
        absent: Absent | None,
        seed: int,
    ) -> HeadData:
        """Read what is needed; nothing that is kept aside is left in training.

        Parameters
        ----------
        ratings, source
            What heads learn from, and the name of its file.
        stimuli
            Table of stimuli, rated or not.
        absent
            What a label left out means, in the ratings and in those that heads are judged by.
        """
        notes: list[str] = []
        people = people_of(ratings, notes, source)
        embedded = Embeddings.load(self.embeddings)
        data = HeadData((embedded, people), notes=notes)
        if self.big is not None:
            machine = read_zero_to_seven(self.big, self.big_absent, people.taxonomy)
            data.big = _other(self.big_embeddings, embedded, "big_embeddings"), machine
        if self.neutral is not None:
            neutral = neutral_of(self.neutral, embedded)
            data.neutral = _of_encoder(neutral, embedded, f"neutral {self.neutral}")
        if self.dev is not None:
            judging = read_zero_to_seven(self.dev, absent, people.taxonomy)
            other = _other(self.dev_embeddings, embedded, "dev_embeddings")
            data.keep_aside((other, people_of(judging, notes, self.dev.name)), self.dev.name)
        elif self.held_out is not None:
            table = {} if stimuli is None else stimulus_values(read_table(stimuli), self.held_out)
            data.hold_out(self.held_out, table, seed=seed)
        unknown = len(set(data.train[1].stimulus_names) - set(embedded.stimuli))
        if unknown:
            notes.append(f"{unknown:,} rated stimuli are not embedded, and left out")
        return data

    def labels_of(self, data: HeadData) -> tuple[Taxonomy, tuple[str, ...]]:
        """Give the taxonomy, and of it the labels asked for, or all that are rated."""
        people = data.train[1]
        taxonomy = people.taxonomy or Taxonomy.from_labels(people.label_names, name="heads")
        rated = {name for pair in (data.train, data.big) if pair for name in pair[1].label_names}
        if self.labels is None:
            return taxonomy, tuple(label for label in taxonomy.labels if label in rated)
        found = tuple(taxonomy.name_of(name) for name in self.labels if name)
        if not found:
            raise InputError("--labels names no label; expected joy,fear")
        for name in found:
            if name not in rated:
                raise InputError(f"--labels: nobody rated {name!r}; expected labels with ratings")
        return taxonomy, found


def neutral_of(place: Path, embedded: Embeddings) -> Embeddings:
    """Give the embeddings of neutral stimuli: a folder of their own, or some rows of another."""
    if place.is_dir():
        return Embeddings.load(place)
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
    if place is None:
        return embedded
    return _of_encoder(Embeddings.load(place), embedded, f"{option} {place}")


def _of_encoder(found: Embeddings, wanted: Embeddings, where: str) -> Embeddings:
    """Refuse embeddings of another encoder before anything is learned."""
    same_encoder(found.encoder, wanted.encoder, where)
    return found


def is_embeddings(place: Path) -> bool:
    """Say whether a path is a folder that ``affectlab embed`` wrote, complete or not."""
    return (place / CARD).is_file()


def embeddings_of(
    bank: HeadBank,
    place: Path,
    *,
    encoder: str | None = None,
    cache: Path | None = None,
    set_aside: bool = False,
    device: Device = "auto",
    progress: Callable[[str, int, int], None] | None = None,
) -> tuple[Embeddings, list[str]]:
    """Open embeddings, or embed images with the encoder of the heads; and what is to be said."""
    if not place.exists():
        raise InputError(f"{place}: there is no such file or folder")
    if is_embeddings(place):
        return Embeddings.load(place), []
    found = bank.embed(
        place,
        encoder=encoder,
        device=device,
        cache=cache,
        on_bad="set_aside" if set_aside else "raise",
        progress=progress,
    )
    if found.run is None:
        return found, []
    notes = list(found.run.notes)
    aside = found.run.set_aside
    if aside:
        notes.append(
            f"{plural(len(aside), 'image')} left out, for example {aside[0].stimulus!r}: "
            f"{aside[0].reason}"
        )
    return found, notes
