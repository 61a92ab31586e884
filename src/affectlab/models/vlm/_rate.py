"""Letting a vision-language model rate images, as people are asked to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from affectlab.models.vlm._ask import Progress
from affectlab.models.vlm._rater import Images, VlmRater
from affectlab.models.vlm._run import VlmRun
from affectlab.protocols import Protocol

__all__ = ["rate_vlm"]


def rate_vlm(
    images: Images,
    model: str,
    protocol: str | Path | Protocol = "intensity",
    *,
    ledger: str | Path,
    control: str | Sequence[str] | None = None,
    repeats: int = 1,
    targets: Mapping[str, str] | None = None,
    hints: Mapping[str, str] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> VlmRun:
    """Ask a vision-language model about images, in the words in which people are asked.

    Every image is asked about once. What comes back has one of the nine outcomes of
    :data:`affectlab.evaluation.OUTCOMES`; only transport errors are asked again at once, and by the
    next run. A question is on the disk before it goes out, and its answer before the next one takes
    its place, so a run that was killed goes on where it stopped. What was in flight then is named
    by the next run, counts as spent with the most that it may have taken, and is asked again, since
    its answers never came.

    Parameters
    ----------
    images
        What :func:`affectlab.models.images.find_images` takes: a folder, a table, or a list.
    model
        Model string of inspect-ai.
    protocol
        How people are asked.
    ledger
        Folder of the ledger. A question is known by the content of the image, the prompt, the
        model, the settings, the control and the repeat: whatever run asked it, it is asked once.
    control
        Runs beside the main one that show whether the model looks: ``no_image``, ``wrong_image``
        (another image of the set), ``decoy_hint`` (a label that is not the target), ``repeat``.
    repeats
        How often each question is asked; answers after the first are trials of kind repeat.
    targets
        Stimulus to the label it is meant to show, for decoys.
    hints
        Stimulus to a label hinted at in the main run.
    seed
        Draws wrong images and decoys.
    progress
        Called with a text, the questions done and all of them.
    **options
        Fields of :class:`VlmRater`: ``style``, ``examples``, ``settings``, ``budget``, ….

    Raises
    ------
    InputError
        When the model, an image or a setting cannot be used; the ledger keeps what was answered.
    KeyboardInterrupt
        After Ctrl-C, once what was under way has come.

    References
    ----------
    Generalises section 4 of the EmoNet-Face paper, which asks each model with and without
    examples.

    Examples
    --------
    >>> rate_vlm("faces", "gpt-4o", ledger="answers")
    Traceback (most recent call last):
    affectlab.errors.InputError: model 'gpt-4o': expected a provider and a name, such as \
openai/gpt-4o-mini
    """
    known = {f for f in VlmRater.__dataclass_fields__ if not f.startswith("_")}
    for name in options:
        if name not in known - {"model", "protocol", "ledger"}:
            raise TypeError(f"rate_vlm() got an unexpected keyword argument {name!r}")
    rater = VlmRater(model, protocol, ledger, **options)
    return rater.rate(
        images,
        control=control,
        repeats=repeats,
        targets=targets,
        hints=hints,
        seed=seed,
        progress=progress,
    )
