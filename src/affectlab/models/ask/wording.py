"""Sentences about what is asked elsewhere."""

from __future__ import annotations

from collections.abc import Collection

from affectlab.core.words import joined, plural

_OF_PEOPLE = {"picture": "faces", "sound": "voices", "text": "words"}


def sent_away(n: int, shows: Collection[str], to: str) -> str:
    """Say that what shows people leaves this machine.

    Parameters
    ----------
    n
        Stimuli that are sent.
    shows
        What each of them is: picture, sound, text.
    to
        Who gets them.

    Examples
    --------
    >>> sent_away(120, ("picture",), "openai")
    '120 pictures will be sent to openai: faces of people in them leave this machine'
    """
    known = [kind for kind in _OF_PEOPLE if kind in shows]
    first, behind = known[0], f" with {known[1]}" if len(known) > 1 else ""
    many = plural(n, f"{first}{behind}", f"{first}s{behind}")
    return (
        f"{many} will be sent to {to}: {joined([_OF_PEOPLE[kind] for kind in known])} of people in "
        f"{'it' if n == 1 else 'them'} leave this machine"
    )
