"""Images, or embeddings of them, on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from affectlab.cli._output import Report
    from affectlab.core.types import Device
    from affectlab.models.embedding import Embeddings
    from affectlab.models.heads import HeadBank

__all__ = ["embeddings_of", "is_embeddings"]


def is_embeddings(place: Path) -> bool:
    """Say whether a path is a folder that ``affectlab embed`` wrote, complete or not."""
    from affectlab.models.embedding.embeddings import CARD

    return (place / CARD).is_file()


def embeddings_of(
    bank: HeadBank,
    place: Path,
    *,
    encoder: str | None = None,
    cache: Path | None = None,
    set_aside: bool = False,
    device: Device = "auto",
    progress: Report | None = None,
) -> tuple[Embeddings, list[str]]:
    """Open embeddings, or embed images with the encoder of the heads; and what is to be said."""
    from affectlab.core.errors import InputError
    from affectlab.core.words import plural
    from affectlab.models.embedding import Embeddings

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
