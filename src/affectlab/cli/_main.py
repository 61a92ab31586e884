"""The entry of the command line: finds the verb, and says in one sentence what went wrong."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from affectlab.core.errors import AffectlabError

EXIT_INPUT = 2
"""Exit code when the input cannot be used."""
_NEGATIVE = re.compile(r"-\.?\d")
_LONG_OPTION = re.compile(r"--[a-z][^=]*")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line.

    Parameters
    ----------
    arguments
        What follows ``affectlab``; None: taken from the process.

    Raises
    ------
    SystemExit
        Always: 0 when all went well, 1 when a check found problems, 2 when the input cannot be
        used, 130 when interrupted.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        from affectlab.cli._output import plugs_said
        from affectlab.core.words import command_line

        with command_line(), plugs_said(_say):
            _run(_with_negative_values(_with_default_wide(_with_standard_input(given))))
        sys.exit(0)
    except AffectlabError as error:
        # What can be done stands on lines of its own, so that it can be copied.
        _say(error.sentence)
        for way in error.ways:
            _say(way, who="")
        sys.exit(EXIT_INPUT)
    except ImportError as error:
        from affectlab.cli._extras import missing_library

        # A verb that forgot to say which extra it needs; what is our own mistake stays one.
        sentence = missing_library(error)
        if sentence is None:
            raise
        _say(sentence)
        sys.exit(EXIT_INPUT)
    except KeyboardInterrupt:
        _say("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has left (as in `affectlab … | head`): nothing more to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _say(f"{place}{error.strerror or error}")
        sys.exit(EXIT_INPUT)


def _with_standard_input(given: list[str]) -> list[str]:
    """Name standard input by its file where a dash does, which would be taken for an option."""
    return ["/dev/stdin" if word == "-" else word for word in given]


def _run(words: list[str]) -> None:
    """Run the verb that words begin with; say what they lack where it cannot be run."""
    from cyclopts import CycloptsError, UnknownOptionError

    from affectlab.cli.tree import find_verb, make_parser
    from affectlab.core.words import command_line

    asked = find_verb(words)
    try:
        with command_line(() if asked is None else asked.rarely):
            make_parser(words)(words)
    except CycloptsError as error:
        chain = tuple(error.command_chain or ())
        sentence = str(error)
        verb = find_verb(chain)
        if isinstance(error, UnknownOptionError) and verb is not None:
            option = (error.token.keyword or error.token.value).partition("=")[0]
            name = option.removeprefix("--").replace("-", "_")
            off = name.removeprefix("no_")
            if name in verb.rarely:
                sentence = f"{option} is rarely needed; expected --config {name}=VALUE"
            elif off in verb.rarely:
                sentence = f"{option} is rarely needed; expected --config {off}=false"
        _say(f"{sentence} ({' '.join(('affectlab', *chain))} --help says what there is)")
        sys.exit(EXIT_INPUT)


def _say(sentence: str, who: str = "affectlab: ") -> None:
    """Print a sentence on standard error; names in it may hold control codes, the screen not."""
    from affectlab.core.words import shown

    print(f"{who}{shown(sentence)}", file=sys.stderr)  # noqa: T201


def _with_default_wide(arguments: list[str]) -> list[str]:
    """Read ``--wide`` without a value as ``--wide auto``, which option parsers cannot say."""
    completed: list[str] = []
    for position, argument in enumerate(arguments):
        completed.append(argument)
        following = arguments[position + 1] if position + 1 < len(arguments) else "-"
        if argument == "--wide" and (following.startswith("-") or Path(following).exists()):
            completed.append("auto")
    return completed


def _with_negative_values(arguments: list[str]) -> list[str]:
    """Join an option and a value such as ``-1..1``, which would be taken for an option."""
    joined: list[str] = []
    for position, argument in enumerate(arguments):
        if argument == "--":
            return joined + arguments[position:]
        if _NEGATIVE.match(argument) and joined and _LONG_OPTION.fullmatch(joined[-1]):
            joined[-1] = f"{joined[-1]}={argument}"
        else:
            joined.append(argument)
    return joined
