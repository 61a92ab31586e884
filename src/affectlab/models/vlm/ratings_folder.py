"""The folder of a run: ratings that are there must be of the same rater and images."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from affectlab.core.errors import InputError
from affectlab.core.files.csv import read_table
from affectlab.core.words import plural, shown
from affectlab.models.vlm.asking.model_identity import is_rater
from affectlab.models.vlm.material import Shown
from affectlab.models.vlm.rater import VlmRater, how_asked
from affectlab.ratings import read_ratings

__all__ = ["check_ratings_of", "image_targets"]

_HOW = (
    *(
        "model",
        "protocol",
        "wording",
        "prompt_sha256",
        "prompt_version",
        "temperature",
        "top_p",
        "max_tokens",
    ),
    *("sampling_seed", "reasoning_effort", "label_order"),
)
"""Attributes of a rater that say how it was asked."""


def image_targets(images: Path) -> dict[str, str]:
    """Read what each image is meant to show, where the table of images says it."""
    if not images.is_file() or images.suffix.lower() not in (".csv", ".parquet"):
        return {}

    table = read_table(images, "images")
    if not {"stimulus", "label"} <= set(table.columns):
        return {}
    pairs = table.select("stimulus", "label").drop_nulls().iter_rows()
    return {str(stimulus): str(label) for stimulus, label in pairs}


def check_ratings_of(path: Path, asking: VlmRater, shows: Sequence[Shown]) -> None:
    """Refuse to put ratings in the place of others: of another rater, or of more images."""
    if not path.exists():
        return
    found = read_ratings(path)
    own = [name for name in found.rater_names if is_rater(name, asking.name)]
    if not own:
        raise InputError(
            f"{path} holds the ratings of {shown(found.rater_names[0], 60)!r}; expected another "
            f"folder for {shown(asking.name, 60)!r}"
        )
    before = found.raters.row(found.rater_names.index(own[0]), named=True)
    for name, now in how_asked(asking, shown=shows[0]).items():
        # What a model does not take is not among its attributes, whatever was wanted.
        was = before.get(name)
        if name in _HOW and was is not None and was != now:
            raise InputError(
                f"{path} holds ratings of the same rater asked in another way ({name} "
                f"{shown(str(was), 40)!r}, now {shown(str(now), 40)!r}); expected another folder, "
                "or the same settings"
            )
    stimuli = {one.stimulus for one in shows}
    missing = set(found.stimulus_names) - stimuli
    if missing:
        raise InputError(
            f"{path} holds ratings of {plural(len(missing), 'image')} that "
            f"{'is' if len(missing) == 1 else 'are'} not among the {len(stimuli):,} of this run, "
            f"such as {shown(min(missing), 40)!r}; expected another folder, or no smaller --limit"
        )
