"""What FILE can be in place of ratings: a score for each pair of faces, or counts of choices."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.analysis import PairScores
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["COUNTS", "PAIRS", "ScoreOption", "pairs_of", "read_counts", "read_pairs"]

Score = Literal["subject-model", "mean"]
ScoreOption = Annotated[
    Score | None,
    Option(
        "--score",
        help="How ratings become scores; scores in FILE stay as they are. [default: subject-model]",
        show_default=False,
    ),
]
PAIRS = (
    "FILE holds ratings of the protocol difference, or a score for each pair (value, se), with the "
    "columns kind, actor, expression_a, role_a, expression_b and role_b in it or in --stimuli."
)
"""What FILE holds, for the help of these verbs."""
COUNTS = "In place of FILE stand counts where only these are known: human=707,model=292."
"""What FILE can be, for the help of verbs about choices."""


def read_pairs(options: Mapping[str, Any]) -> PairScores | None:
    """Read FILE as scores of pairs, where it is a table of these.

    That is so when it has the column ``value`` and none of raters, and it or the table given with
    --stimuli says which expressions a pair shows.
    """
    if any(options[name] is not None for name in ("format", "wide", "columns", "raters")):
        return None
    header = _header(options)
    pairs = options["stimuli"]
    if "value" not in header or "rater" in header:
        return None
    if pairs is None and "expression_a" not in header:
        return None
    from affectlab.analysis import pair_scores

    return pair_scores(options["file"], pairs=pairs)


def _header(options: Mapping[str, Any]) -> set[str]:
    """Columns of FILE; none where it is no table that scores are read from."""
    file: Path = options["file"]
    if file.suffix.lower() == ".parquet":
        import polars as pl

        try:
            return set(pl.read_parquet_schema(file))
        except (OSError, pl.exceptions.PolarsError):
            # The reader of ratings says what is wrong with the file.
            return set()
    from affectlab.ratings.files import Peek

    peek = Peek.open(file, encoding=options["encoding"], delimiter=options["delimiter"])
    return set() if peek.is_binary or peek.separator != "," else set(peek.header)


def read_counts(options: Mapping[str, Any]) -> dict[str, int] | None:
    """Read counts by choice, such as published ones: ``human=707,model=292``."""
    text = str(options["file"])
    if "=" not in text or options["file"].exists():
        return None
    counts: dict[str, int] = {}
    for part in text.split(","):
        name, _, number = part.rpartition("=")
        if not number.strip().isdecimal() or not name.strip() or name.strip() in counts:
            from affectlab.core.errors import InputError

            raise InputError(
                f"{part!r} is not understood; expected name=number, such as human=707,model=292"
            )
        counts[name.strip()] = int(number)
    return counts


def pairs_of(source: Ratings | PairScores, out: Output, score: Score) -> PairScores:
    """Give the scores that a verb works on, and keep people where there are models, too."""
    from affectlab.analysis import PairScores, pair_scores

    if isinstance(source, PairScores):
        out.who = "scores as given"
        return source
    people = out.panel(source, hint="")
    kinds = people.frame["trial_kind"] if "trial_kind" in people.frame.columns else None
    checks = 0 if kinds is None else int(kinds.cast(str).is_in(["golden", "repeat"]).sum())
    if checks:
        out.note(
            f"{checks:,} golden and repeated trials are there to judge sessions by, which is not "
            "done here: see affectlab reliability screen, if the ratings were not screened yet."
        )
    return pair_scores(people, score=score)
