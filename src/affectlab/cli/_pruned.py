"""The tree of verbs, without the branches that a command does not ask about.

Making the options of a verb takes milliseconds, and there are many verbs: only those that are asked
for are made. Of the others remain the name and the help, which lists and suggestions show.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from copy import copy

import typer
from typer.models import CommandInfo, TyperInfo

__all__ = ["pruned"]

_COMPLETION = "_AFFECTLAB_COMPLETE"
"""Set by shells that ask what could follow; the words are elsewhere then."""


def pruned(app: typer.Typer, words: Sequence[str]) -> typer.Typer:
    """Keep the verb that words begin with; of its neighbours only what lists of them show.

    Parameters
    ----------
    app
        The whole tree; it stays as it is.
    words
        What is written on the command line behind the name of the program.

    Returns
    -------
    Typer
        A tree that answers these words as the whole one would.
    """
    options_first = len(words) > 1 and words[0].startswith("-")
    if options_first or _COMPLETION in os.environ:
        return app
    return _branch(app, words)


def _branch(app: typer.Typer, words: Sequence[str]) -> typer.Typer:
    kept = copy(app)
    first, following = next(iter(words), ""), words[1:]
    kept.registered_commands = [
        verb if verb.name == first else _named(verb) for verb in app.registered_commands
    ]
    kept.registered_groups = [
        _group(group, following if group.name == first else None) for group in app.registered_groups
    ]
    return kept


def _group(group: TyperInfo, words: Sequence[str] | None) -> TyperInfo:
    """Keep of a group what words ask for; without words, only its name and help."""
    kept = copy(group)
    if group.typer_instance is None:
        return kept
    if words is not None:
        kept.typer_instance = _branch(group.typer_instance, words)
        return kept
    kept.typer_instance = copy(group.typer_instance)
    kept.typer_instance.registered_commands = []
    kept.typer_instance.registered_groups = []
    return kept


def _named(verb: CommandInfo) -> CommandInfo:
    """Keep of a verb what lists show."""
    kept = copy(verb)
    if verb.callback is not None:
        kept.callback = _with_doc_of(verb.callback)
    return kept


def _with_doc_of(callback: Callable[..., object]) -> Callable[[], None]:
    def never_called() -> None:
        raise NotImplementedError("only verbs that were asked for are run")

    never_called.__doc__ = callback.__doc__
    return never_called
