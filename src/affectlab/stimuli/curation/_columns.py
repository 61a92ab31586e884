"""Which columns of the input hold the text, its id, its group and the predicted emotions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from affectlab.errors import InputError

__all__ = ["Columns"]

_USUAL = {
    "id": ("id", "comment_id"),
    "text": ("body", "text", "comment"),
    "group": ("subreddit", "group"),
}
"""Names that are looked for, in this order: those of Reddit dumps and of GoEmotions first."""
_STAGED = ("id", "text", "group", "emotions")


@dataclass(frozen=True)
class Columns:
    """Names of the input's columns, or of the keys of its JSON lines.

    ``None`` takes the first usual name that a file has; ``""`` says that there is no such column.

    Examples
    --------
    >>> Columns().found_in(["id", "body", "subreddit", "score"])
    Columns(id='id', text='body', group='subreddit', emotions=None, keep=(), taxonomy=None)
    >>> Columns(group="", keep=("score",)).found_in(["text", "subreddit", "score"])
    Columns(id=None, text='text', group=None, emotions=None, keep=('score',), taxonomy=None)
    """

    id: str | None = None
    """Names the comment; None: ``id`` or ``comment_id``. Without one, the id is file and line."""
    text: str | None = None
    """The comment itself; None: ``body``, ``text`` or ``comment``."""
    group: str | None = None
    """Where it was posted; None: ``subreddit`` or ``group``."""
    emotions: str | None = None
    """Emotions that a pilot model predicted: a label, labels joined by ``;`` or ``,``, or a list of
    them. None: there are none."""
    keep: tuple[str, ...] = ()
    """Further columns that are carried along, as text."""
    taxonomy: str | None = None
    """Name or TOML file of the taxonomy that `emotions` are from: labels that it does not have are
    counted as problems. None: labels are not looked at."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep", tuple(self.keep))
        for name in self.keep:
            if name in _STAGED:
                raise InputError(
                    f"columns: keep = {name!r}: this name is taken by the staged column {name}"
                )
        if len(set(self.keep)) != len(self.keep):
            raise InputError("columns: keep names a column twice")
        if self.text == "":
            raise InputError("columns: text is empty; expected the name of the column with texts")

    @property
    def staged(self) -> tuple[str, ...]:
        """Names of the columns that staging writes."""
        return (*(name for name in _STAGED if name != "emotions" or self.emotions), *self.keep)

    def found_in(self, names: Sequence[str]) -> Columns:
        """Name the columns that a file with these names has; None stands for an absent one.

        A name that was asked for is given back as it is, be it there or not.
        """
        present = set(names)

        def find(part: str) -> str | None:
            asked: str | None = getattr(self, part)
            usual = (name for name in _USUAL.get(part, ()) if name in present)
            return next(usual, None) if asked is None else asked or None

        return replace(
            self,
            id=find("id"),
            text=find("text"),
            group=find("group"),
            emotions=find("emotions"),
        )

    def needed(self) -> dict[str, str]:
        """Name of each column that is read, by the name under which it is staged.

        Examples
        --------
        >>> Columns(id="id", text="body", keep=("score",)).needed()
        {'id': 'id', 'text': 'body', 'score': 'score'}
        """
        given = {part: getattr(self, part) for part in _STAGED if getattr(self, part)}
        return {**given, **{name: name for name in self.keep}}
