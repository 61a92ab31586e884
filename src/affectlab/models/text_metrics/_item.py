"""What a text metric looks at: a candidate, references, an image, and where they are from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from affectlab._words import shown
from affectlab.errors import InputError

__all__ = ["TextItem", "check_items", "name_of", "text_items"]


@dataclass(frozen=True)
class TextItem:
    """One text to be scored, and what it is scored against.

    Examples
    --------
    >>> TextItem("They won.", references=("The team has won.",)).references
    ('The team has won.',)
    """

    candidate: str
    """The text that is scored."""
    references: tuple[str, ...] = ()
    """What people wrote in its place."""
    image: Any = None
    """What it is about: a file, or an image of Pillow."""
    item: str = ""
    """Its name in tables."""
    emotion: str = ""
    """The emotion that it explains, for metrics that build a sentence."""
    caption: str = ""
    """The caption of the image, for metrics that build a sentence."""
    where: str = ""
    """How errors name it, such as ``"pairs.csv, row 7"``."""


def text_items(
    candidates: Sequence[str] | Sequence[TextItem],
    references: Sequence[str] | Sequence[Sequence[str]] | None = None,
    images: Sequence[Any] | None = None,
) -> tuple[TextItem, ...]:
    """Put candidates beside their references and images.

    Parameters
    ----------
    candidates
        n texts; or n items, which have all else already.
    references
        n texts, or n lists of texts.
    images
        n files, or n images of Pillow.

    Raises
    ------
    InputError
        When the lengths differ, or an entry is of another kind.

    Examples
    --------
    >>> [item.references for item in text_items(["a", "b"], ["x", ["y", "z"]])]
    [('x',), ('y', 'z')]
    """
    for name, given in (("candidates", candidates), ("references", references)):
        if isinstance(given, str | bytes):
            raise InputError(f"{name}: expected a list of texts, not one text")
    if len(candidates) and isinstance(candidates[0], TextItem):
        if references is not None or images is not None:
            raise InputError("items have their references and images; expected none beside them")
        for place, one in enumerate(candidates):
            if not isinstance(one, TextItem):
                raise InputError(f"item {place}: expected a TextItem, not {type(one).__name__}")
        return tuple(candidates)  # type: ignore[arg-type]
    for name, other in (("references", references), ("images", images)):
        if other is not None and len(other) != len(candidates):
            raise InputError(
                f"{len(candidates)} candidates and {len(other)} {name}; expected as many of each"
            )
    return tuple(
        TextItem(
            candidate,  # type: ignore[arg-type]
            () if references is None else _several(references[place], place),
            None if images is None else images[place],
        )
        for place, candidate in enumerate(candidates)
    )


def _several(given: Any, place: int) -> tuple[str, ...]:
    if isinstance(given, str):
        return (given,)
    if isinstance(given, Sequence) and not isinstance(given, bytes):
        return tuple(given)
    raise InputError(
        f"item {place}: references are of type {type(given).__name__}; expected a text, or a list "
        "of texts"
    )


def name_of(item: TextItem, place: int) -> str:
    """Give how errors name an item."""
    if item.where:
        return item.where
    return f"item {place}" + (f" ({shown(item.item, 60)})" if item.item else "")


def check_items(
    items: Sequence[TextItem], metric: str, *, references: bool = False, image: bool = False
) -> None:
    """Refuse items that lack what a metric looks at.

    Parameters
    ----------
    references, image
        Whether the metric looks at them.

    Raises
    ------
    InputError
        When a candidate or a reference is empty or no text, or references or the image are missing.

    Examples
    --------
    >>> check_items([TextItem(" ")], "BARTScore")
    Traceback (most recent call last):
    affectlab.errors.InputError: item 0: the candidate is empty; expected a text for BARTScore
    """
    for place, item in enumerate(items):
        texts = [("candidate", item.candidate)]
        if references:
            texts += [("reference", text) for text in item.references]
        for what, text in texts:
            if not isinstance(text, str):
                raise InputError(
                    f"{name_of(item, place)}: the {what} is of type {type(text).__name__}; "
                    f"expected a text for {metric}"
                )
            if not text.strip():
                raise InputError(
                    f"{name_of(item, place)}: the {what} is empty; expected a text for {metric}"
                )
        if references and not item.references:
            raise InputError(
                f"{name_of(item, place)}: there is no reference; expected one or more for {metric}"
            )
        if image and (item.image is None or item.image == ""):
            raise InputError(f"{name_of(item, place)}: there is no image; {metric} needs one")
