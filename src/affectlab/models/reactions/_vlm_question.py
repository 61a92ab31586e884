"""A pair and an emotion as a question of the vlm room."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from affectlab._words import shown
from affectlab.errors import InputError
from affectlab.evaluation._outcomes import looks_like_refusal
from affectlab.models.reactions._items import ReactionItem, key_of
from affectlab.models.reactions._prompt import PROMPT
from affectlab.models.reactions._rows import rows_of
from affectlab.models.vlm._ledger import question_key
from affectlab.models.vlm._prompt import Prompt
from affectlab.models.vlm._prompt_image import ImageLimits, image_part
from affectlab.models.vlm._read import Read

__all__ = ["DESIGN", "ReactionQuestion"]

DESIGN = key_of(PROMPT)[:16]
"""Names the wording that all prompts share."""


@dataclass(frozen=True)
class ReactionQuestion:
    """A pair and an emotion as they are put to a model; the answer is text as it comes."""

    item: ReactionItem
    sample: int
    text: str
    """The prompt."""
    sha256: str
    """Of the image; "" where none is shown."""
    limits: ImageLimits
    asked_of: dict[str, Any] = field(repr=False)

    @property
    def stimulus(self) -> str:
        """Name of the pair."""
        return self.item.stimulus

    @cached_property
    def key(self) -> str:
        """Names the question by all that decides about its answer."""
        return question_key(
            {
                "protocol": "reaction",
                "image": self.sha256,
                "encoding": str(self.limits) if self.sha256 else "",
                "prompt": self.text,
                "sample": self.sample,
                **self.asked_of,
            }
        )

    def prompt(self) -> Prompt:
        """Build what is sent: the image, where there is one, and the question behind it.

        Raises
        ------
        InputError
            When the image is broken, or is another one by now.
        """
        picture = []
        if self.sha256 and self.item.image is not None:
            picture = [image_part(self.item.image, limits=self.limits)]
            if picture[0].sha256 != self.sha256:
                raise InputError(
                    f"{shown(self.item.image)} has changed since the run began; expected pictures "
                    "that stay as they are, or the same command once more"
                )
        version = key_of(self.text)[:16]
        return Prompt(
            system="",
            parts=(*picture, self.text),
            schema={},
            labels=(),
            keys=(),
            protocol="reaction",
            version=version,
            design=DESIGN,
            style="zero-shot",
            shown=self.sha256,
        )

    def told(self) -> dict[str, Any]:
        """Say what was asked, for readers of the ledger."""
        return {
            "stimulus": self.item.stimulus,
            "emotion": self.item.emotion,
            "protocol": "reaction",
            "image": self.sha256,
            "sample": self.sample,
        }

    def read(self, text: str, *, held: bool) -> Read:  # noqa: ARG002
        """Take the text as the reaction; what begins by declining is none."""
        said = text.strip()
        if not said or looks_like_refusal(said):
            return Read(problem="it declines" if said else "no text")
        return Read(parsed=said, answer=said, rows=(rows_of(self.item, said),))
