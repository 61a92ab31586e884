"""``affectlab stimuli images``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.cli._output import Output
from affectlab.cli._settings import read_settings

if TYPE_CHECKING:
    from affectlab.core.types import Count

__all__ = ["images"]


def images(
    out: Output,
    prompts: Path,
    *,
    to: Path = Path("images"),
    generator: str = "drawn",
    settings: Sequence[str] | None = None,
    again: bool = False,
    keep: bool = False,
    patience: Count = 20,
) -> None:
    """Make a picture of every prompt; an interrupted run goes on where it stopped.

    The manifest in the folder is the stimulus table of a study.

    Parameters
    ----------
    prompts
        Table of prompts: stimulus, prompt, label, seed, and who is asked for.
    to
        Folder of pictures and their manifest.
    generator
        drawn, diffusers:FOLDER_OR_NAME, or a generator that a package adds.
    settings
        Setting of the generator, such as size=512, or steps=30; may be given again.
    again
        Make pictures anew whose prompt or generator has changed.
    keep
        Keep pictures whose prompt or generator has changed.
    patience
        Failures in a row after which to stop.
    """
    from affectlab.core.errors import InputError
    from affectlab.core.words import plural
    from affectlab.stimuli.generation import generate_images

    if again and keep:
        raise InputError("--again and --keep contradict each other; give one of them")
    with out.progress("pictures") as report:
        made = generate_images(
            prompts,
            to,
            generator=generator,
            settings=read_settings(settings or ()),
            changed="again" if again else "keep" if keep else "refuse",
            patience=patience,
            progress=report,
        )
    kept = f"; {made.n_kept:,} were there" if made.n_kept else ""
    out.show(f"{plural(made.n_made, 'picture')} made{kept}")
    stand_ins = made.images.filter(made.images["drawn"] != "")
    if stand_ins.height:
        labels = stand_ins["label"].n_unique()
        out.show(
            f"{stand_ins.height:,} of {plural(len(made), 'picture')}, of "
            f"{plural(labels, 'label')}, show another expression than their label; the manifest "
            "says which"
        )
    doubts = []
    without = made.without()
    if without.height:
        first = without.row(0, named=True)
        doubts.append(
            f"{plural(without.height, 'prompt')} without a picture, {first['stimulus']} first: "
            f"{first['problem']}; see {to / 'failed.csv'}, and run again to try again"
        )
    earlier = made.failed.join(made.images, on="stimulus", how="semi", maintain_order="left")
    if earlier.height:
        first = earlier.row(0, named=True)
        doubts.append(
            f"{plural(earlier.height, 'picture')} could not be made again and stay as they were, "
            f"{first['stimulus']} first: {first['problem']}; see {to / 'failed.csv'}"
        )
    out.show(f"{plural(len(made), 'picture')} in {made.path}")
    out.finish(
        {
            "n_made": made.n_made,
            "n_kept": made.n_kept,
            "n_images": len(made),
            "n_failed": without.height,
            "n_not_made_again": earlier.height,
            "n_stand_ins": stand_ins.height,
            "manifest": made.path,
        },
        doubts=doubts,
    )
