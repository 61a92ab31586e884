"""A vision-language model as the annotator of a hinted loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from affectlab.core.errors import InputError
from affectlab.core.words import plural
from affectlab.models.images import ImageFile
from affectlab.models.vlm.asking import Progress, known_prices, unclear_said, warn_of_others
from affectlab.models.vlm.rater import Announce, VlmRater

__all__ = ["VlmAnnotator"]


@dataclass(frozen=True)
class VlmAnnotator:
    """Answers about images with hints, as :mod:`affectlab.models.hinted` asks.

    Parameters
    ----------
    rater
        The model and how it is asked; its ledger is the memory of the annotator.
    progress
        Called with a text, the questions done and all of them.

    Raises
    ------
    InputError
        When there is a limit in dollars and the prices of the model are not known.

    Examples
    --------
    >>> annotator = VlmAnnotator(VlmRater("openai/gpt-4o-mini", at_most=5))
    >>> annotator.name
    'openai/gpt-4o-mini zero-shot'
    """

    rater: VlmRater
    progress: Progress | None = None
    announce: Announce | None = None
    """Called before the first question of each round, as :func:`rate_vlm` does."""

    def __post_init__(self) -> None:
        rater = self.rater
        if rater.budget.usd is not None:
            # Said before the first picture is made, not when it is asked about.
            rater.budget.check_prices(known_prices(rater.model, rater.price_in, rater.price_out))

    @property
    def name(self) -> str:
        """Name of the rater."""
        return self.rater.name

    @property
    def version(self) -> str:
        """Hash of how it asks, the same for all images and hints."""
        return self.rater.design().version

    @property
    def left_out(self) -> str | None:
        """What its prompt says that labels are which an answer leaves out."""
        return self.rater.design().blank().left_out

    def __call__(
        self, images: Sequence[ImageFile], hints: Sequence[str]
    ) -> list[Mapping[str, float] | str]:
        """Ask about images.

        Parameters
        ----------
        images
            Files with the names of their stimuli.
        hints
            A label for each image, ``""`` for no hint.

        Returns
        -------
        For each image the values of its labels (those not rated are left out), or the outcome,
        such as ``"refused"``, where there is no usable answer.

        Raises
        ------
        InputError
            When the numbers differ, the run stopped before all were asked, or another model
            answered than the one that was asked.
        """
        if len(images) != len(hints):
            raise InputError(f"{len(hints)} hints for {len(images)} images; expected one for each")
        answers: list[Mapping[str, float] | str] = [""] * len(images)
        waiting = list(range(len(images)))
        while waiting:
            # One run asks about a stimulus once: the same one with another hint waits.
            first = {images[place].stimulus: place for place in reversed(waiting)}
            found = self._ask(
                [images[k] for k in first.values()], [hints[k] for k in first.values()]
            )
            for place in first.values():
                answers[place] = found[images[place].stimulus]
            waiting = [place for place in waiting if place not in set(first.values())]
        return answers

    def _ask(
        self, images: Sequence[ImageFile], hints: Sequence[str]
    ) -> dict[str, dict[str, float] | str]:
        """Ask about different stimuli; gives their answers."""
        given = {image.stimulus: hint for image, hint in zip(images, hints, strict=True) if hint}
        run = self.rater.rate(images, hints=given, progress=self.progress, announce=self.announce)
        if run.n_left:
            why = run.halt.reason if run.halt else "some images could not be asked about"
            raise InputError(
                f"{run.model}: {plural(run.n_left, 'image')} without an answer ({why}); the ledger "
                f"in {run.folder} keeps the others"
            )
        if run.others:
            # The answers of a loop are those of one rater, from its first round to its last.
            raise InputError(
                f"{run.others[0]}; expected one model for all rounds: name its dated version, and "
                f"begin with a new folder. The ledger in {run.folder} keeps what was answered"
            )
        warn_of_others(unclear_said(run.model, (entry.record for entry in run.entries)))
        answers: dict[str, dict[str, float] | str] = {}
        for entry in run.entries:
            place, outcome = entry.question.stimulus, entry.judged.outcome
            before = answers.get(place, {})
            if isinstance(before, str):
                # Where each label is a question of its own, one failure spoils the answer.
                continue
            values = entry.judged.read.values
            answers[place] = (
                before
                | {
                    label: float(value)
                    for label, value in values.items()
                    if isinstance(value, int | float)
                }
                if outcome == "ok"
                else outcome
            )
        return answers
