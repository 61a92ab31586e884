"""Prompts for what the pictures in a folder lack."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from affectlab.stimuli.generation.manifest import read_failed, read_manifest
from affectlab.stimuli.prompts import FacePrompts, awaiting_review, fill_prompts
from affectlab.stimuli.review import read_decisions

__all__ = ["fill_manifest"]


def fill_manifest(
    manifest: Path, per_label: int, decisions: Path | None = None, **options: Any
) -> tuple[FacePrompts, int]:
    """Make prompts for what a manifest lacks; names of failed prompts are taken, too.

    Parameters
    ----------
    manifest
        Manifest of pictures, or its folder.
    per_label
        Accepted pictures wanted of each label.
    decisions
        What a review decided; only pictures that it kept count. None: all count.
    **options
        As for :func:`~affectlab.stimuli.prompts.fill_prompts`.

    Returns
    -------
    The prompts, and the number of pictures that await a review.
    """
    failed, images = read_failed(manifest), read_manifest(manifest)
    decided = None if decisions is None else read_decisions(decisions)
    taken = () if failed is None else failed["stimulus"].to_list()
    made = fill_prompts(images, per_label, decisions=decided, taken=taken, **options)
    return made, awaiting_review(images, decided).height
