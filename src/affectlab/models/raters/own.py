"""Model folders that affectlab has written, as raters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from affectlab.core.errors import InputError
from affectlab.core.files.toml import call_with
from affectlab.core.types import Device
from affectlab.core.words import shown
from affectlab.models.raters.stimuli import find_stimuli
from affectlab.models.runs import META, hub_folder, model_kind
from affectlab.ratings import Ratings

__all__ = ["OwnModel", "own_model", "rate_own"]

Progress = Callable[[str, int, int], None]
_KINDS = ("text-model", "head-bank", "vision-model", "crowd-model")


@dataclass(frozen=True)
class OwnModel:
    """A model that affectlab computes itself."""

    kind: str
    """``text-model``, ``head-bank``, ``vision-model`` or ``crowd-model``."""
    folder: Path
    """Where it lies; one on the hub was fetched to there."""


def own_model(place: str) -> OwnModel | None:
    """Find the model that affectlab computes itself in a folder or on the hub; None: there is none.

    Raises
    ------
    InputError
        When it holds one that rates nothing by itself.
    """
    folder = _local_folder(place)
    kind = model_kind(folder)
    if kind is None and not (folder / META).is_file() and _holds_heads(folder):
        kind = "head-bank"
    if kind is None or kind == "expression-metric":
        return None
    if kind not in _KINDS:
        raise InputError(
            f"{shown(place)} holds a {kind.replace('-', ' ')}, which rates nothing by itself; "
            "expected a model of texts, heads, or a model of images"
        )
    return OwnModel(kind, folder)


def _local_folder(place: str) -> Path:
    """Give the folder of a model; one of affectlab on the hub is fetched."""
    path = Path(place.removeprefix("hub:"))
    if path.exists():
        return path
    return hub_folder(str(path)) or path


def _holds_heads(folder: Path) -> bool:
    """Whether a folder holds heads in the published layout."""
    if not any(folder.glob("model_*_best.pth")):
        return False
    from affectlab.models.heads import is_published

    return is_published(folder)


def rate_own(
    own: OwnModel,
    stimuli: Any,
    settings: Mapping[str, Any],
    *,
    rater: str | None,
    set_aside: bool,
    progress: Progress | None,
) -> tuple[Ratings, list[str]]:
    """Let a model of affectlab rate; with the notes on what it was given."""
    place = own.folder

    def text(*, level: str | None = None, coherent: bool = False) -> tuple[Ratings, list[str]]:
        from affectlab.models.text import TextClassifier

        if coherent and level is None:
            raise InputError(
                "coherent chooses groups of a level; expected --set level=NAME as well"
            )
        model = TextClassifier.load(place)
        given, notes = find_stimuli(stimuli, "text", set_aside=set_aside)
        texts = [str(one.load()) for one in given]
        names = [one.stimulus for one in given]
        found = model.rate(texts, names, rater, level=level, coherent=coherent, progress=progress)
        return found, list(notes)

    def heads(
        *,
        intervals: bool = False,
        scores: bool = False,
        encoder: str | None = None,
        cache: Path | None = None,
        device: Device = "auto",
    ) -> tuple[Ratings, list[str]]:
        from affectlab.models.heads import HeadBank, embeddings_of

        bank = HeadBank.load(place)
        if intervals:
            bank.check_intervals()
        embedded, notes = embeddings_of(
            bank,
            Path(stimuli),
            encoder=encoder,
            cache=cache,
            set_aside=set_aside,
            device=device,
            progress=progress,
        )
        found = bank.rate(
            embedded,
            rater=rater,
            intervals=intervals,
            scores=scores,
            device=device,
            progress=progress,
        )
        if bank.neutral is None:
            notes.append(
                "the heads are not calibrated on neutral stimuli; affectlab calibrate does it"
            )
        return found, notes

    def images(
        *, decide: Literal["probable", "cost"] = "probable", device: Device = "auto"
    ) -> tuple[Ratings, list[str]]:
        from affectlab.models.vision import VisionClassifier

        model = VisionClassifier.load(place)
        model.training = replace(model.training, device=device)
        given = _images_of(Path(stimuli), model)
        return model.rate(given, rater=rater, decide=decide, progress=progress), []

    def crowd(*, people: str = "") -> tuple[Ratings, list[str]]:
        from affectlab.models.crowd import CrowdModel

        asked = [one.strip() for one in people.split(",") if one.strip()]
        return CrowdModel.load(place).rate(Path(stimuli), people=asked, rater=rater), []

    ways: dict[str, Callable[..., tuple[Ratings, list[str]]]] = {
        "text-model": text,
        "head-bank": heads,
        "vision-model": images,
        "crowd-model": crowd,
    }
    return call_with(ways[own.kind], settings, f"model {shown(place)!r}")


def _images_of(images: Path, model: Any) -> Any:
    """Give embeddings where the folder holds them, and the place of images otherwise."""
    from affectlab.models.embedding import Embeddings
    from affectlab.models.heads import is_embeddings

    if not images.exists():
        raise InputError(f"{images}: there is no such file or folder")
    if not is_embeddings(images):
        return images
    if not model.on_embeddings:
        raise InputError(
            f"{images} holds embeddings, and {model.name!r} looks at images; expected images"
        )
    return Embeddings.load(images)
