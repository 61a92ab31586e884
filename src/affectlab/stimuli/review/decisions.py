"""From the answers of reviewers to what is kept, what is left out, and what nobody has settled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.columns import require_columns, require_distinct, require_filled
from affectlab.core.files.csv import read_table
from affectlab.core.words import plural
from affectlab.ratings import Ratings, read_ratings

__all__ = [
    "DECISIONS",
    "DIGEST",
    "ReviewRule",
    "about",
    "check_rule",
    "read_decisions",
    "review_decisions",
    "typed_decisions",
]

# Decisions of a review as they are read again, and the pictures that they are about.


DECISIONS = {
    "stimulus": pl.String,
    "keep": pl.Boolean,
    "reason": pl.String,
    "n_raters": pl.Int64,
    "votes": pl.String,
    "notes": pl.String,
}
"""Columns of decisions."""
DIGEST = "sha256"
"""Column that says which picture was looked at, where it is known."""
_KEEP = {"true": True, "false": False}


def read_decisions(path: str | Path) -> pl.DataFrame:
    """Read what a review decided: a CSV or Parquet file; see :func:`typed_decisions`.

    Raises
    ------
    InputError
        When there is no such file, or it has no decisions.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "decisions.csv"
    >>> _ = file.write_text("stimulus,keep\\na,TRUE\\nb,\\n")
    >>> read_decisions(file).rows()
    [('a', True), ('b', None)]
    """
    return typed_decisions(read_table(path, "decisions"), str(path))


def typed_decisions(table: pl.DataFrame, where: str = "decisions") -> pl.DataFrame:
    """Give the columns of decisions their types: ``keep`` is True, False, or null where undecided.

    Parameters
    ----------
    table
        ``stimulus``, ``keep`` (truth values, or ``true`` and ``false`` in any case, or nothing),
        and of the other columns of decisions, and ``sha256``, those that there are; others are left
        out.
    where
        What the sentence of an error calls the table.

    Raises
    ------
    InputError
        When a column is missing, a name is empty or stands twice, or a value is none of its column.

    Examples
    --------
    >>> typed_decisions(pl.DataFrame({"stimulus": ["a"], "keep": ["maybe"]}))
    Traceback (most recent call last):
    affectlab.InputError: decisions, row 1: keep 'maybe': expected true, false or nothing
    """
    hint = "give the decisions of a review"
    require_columns(table, ("stimulus", "keep"), f"{where}: ", hint)
    table = table.select(name for name in (*DECISIONS, DIGEST) if name in table.columns)
    table = table.with_columns(
        _keep(table["keep"], where),
        *([_count(table["n_raters"], where)] if "n_raters" in table.columns else []),
        pl.col(name for name in table.columns if name not in ("keep", "n_raters"))
        .cast(pl.String)
        .fill_null(""),
    )
    require_filled(table, ["stimulus"], f"{where}: ")
    require_distinct(table, ["stimulus"], f"{where}: ")
    return table


def about(decisions: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Give the decisions about items as they are now.

    A picture that was made again under its name is another one: where both tables have its
    ``sha256``, they are to be the same. An item without one goes by its name alone.

    Parameters
    ----------
    decisions
        As :func:`typed_decisions` gives them.
    items
        ``stimulus``, and ``sha256`` where there is one.

    Examples
    --------
    >>> items = pl.DataFrame({"stimulus": ["a", "b"], "sha256": ["1", "2"]})
    >>> about(items.with_columns(keep=True, sha256=pl.lit("1")), items)["stimulus"].to_list()
    ['a']
    """
    now = items.select(pl.col("stimulus").cast(pl.String), _digest(items).alias("now"))
    found = decisions.join(now, on="stimulus", how="inner", maintain_order="left")
    other = (_digest(found) != found["now"]) & (_digest(found) != "") & (found["now"] != "")
    return found.filter(~other).drop("now")


def _digest(table: pl.DataFrame) -> pl.Series:
    if DIGEST not in table.columns:
        return pl.Series(DIGEST, [""] * table.height, dtype=pl.String)
    return table[DIGEST].cast(pl.String).fill_null("")


def _keep(column: pl.Series, where: str) -> pl.Series:
    if column.dtype in (pl.Boolean, pl.Null):
        return column.cast(pl.Boolean)
    text = column.cast(pl.String).fill_null("").str.strip_chars().str.to_lowercase()
    wrong = ~text.is_in([*_KEEP, ""])
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise InputError(
            f"{where}, row {row + 1}: keep {str(column[row])!r}: expected true, false or nothing"
        )
    return text.replace_strict(_KEEP, default=None, return_dtype=pl.Boolean)


def _count(column: pl.Series, where: str) -> pl.Series:
    text = column.cast(pl.String).fill_null("").str.strip_chars()
    number = text.cast(pl.Int64, strict=False)
    wrong = (text != "") & (number.is_null() | (number < 0))
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise InputError(
            f"{where}, row {row + 1}: n_raters {str(column[row])!r}: expected a whole number of 0 "
            "or more"
        )
    return number


ReviewRule = Literal["any", "majority"] | int
"""How many objections leave an item out: one, more than half of the answers, or a number."""

_COUNTED = ("main", "repeat")
"""Kinds of trials that judge an item; others train or check the reviewer."""


def review_decisions(
    ratings: Ratings | str | Path,
    *,
    rule: ReviewRule = "any",
    raters: int | None = None,
    items: Sequence[str] | pl.Series | pl.DataFrame | None = None,
    reviewed: pl.DataFrame | None = None,
    fine: str = "fine",
) -> pl.DataFrame:
    """Decide from reviewers' answers which items are kept.

    A reviewer objects to an item by choosing any label but `fine`. An item is undecided, and its
    ``keep`` is null, when nobody or too few have answered and their objections do not settle it, or
    when a majority is wanted and just half of the reviewers object.

    Parameters
    ----------
    ratings
        Answers to a study of protocol ``review`` or ``review_comments``: a row for each label that
        a reviewer could choose, with value 1 or 0. Or the file of such answers, or the folder that
        ``affectlab study export`` wrote, whose notes are then taken, too.
    rule
        How many objections leave an item out: ``"any"`` (one), ``"majority"`` (more than half of
        the reviewers), or a number of them.
    raters
        Answers wanted for each item. None: those that are there will do, and of a number as `rule`
        at least so many.
    items
        Names of all items that were to be reviewed. Those without an answer are then named, too. Or
        their table: ``stimulus``, and ``sha256`` where there is one. An item is then undecided
        whose answers are about a picture of another digest, which has been made again since.
    reviewed
        The table that was reviewed, with the digests of its pictures. An export says them itself.
    fine
        Label that says that nothing is wrong.

    Returns
    -------
    polars.DataFrame
        One row per item, sorted by name, or in the order of `items`: ``stimulus``, ``keep`` (True,
        False, or null where undecided), ``reason`` (the problems that were named, the most frequent
        first; of an undecided one, why it is), ``n_raters`` (reviewers who answered), ``votes``
        (how many chose each label), ``notes`` (what reviewers wrote; empty without an export); and
        ``sha256``, where `items` is a table that has it.

    Raises
    ------
    InputError
        When the answers have no labels, or none is `fine`; the rule is not known, or wants more
        objections than there are `raters`; or an answer is about something that is none of the
        `items`.

    Examples
    --------
    >>> said = {"stimulus": ["a", "a", "b", "b"], "rater": ["x", "x", "x", "x"],
    ...         "label": ["fine", "harmful"] * 2, "value": [1, 0, 0, 1]}
    >>> decided = review_decisions(Ratings(said, scale="binary"), items=["a", "b", "c"])
    >>> decided.select("stimulus", "keep", "reason").rows()
    [('a', True, ''), ('b', False, 'harmful'), ('c', None, 'no answer')]
    """
    check_rule(rule, raters)
    notes: dict[str, list[str]] = {}
    if not isinstance(ratings, Ratings):
        ratings, notes = _read(Path(ratings))
    said = _said(ratings, fine)
    table = items if isinstance(items, pl.DataFrame) else None
    listed = items if table is None else table["stimulus"]
    names = sorted(said) if listed is None else [str(name) for name in listed]
    unknown = sorted(set(said) - set(names))
    if unknown:
        raise InputError(f"{unknown[0]!r} was reviewed and is none of the items")
    made_again = _made_again([ratings.stimuli, reviewed], table)
    rows: list[tuple[object, ...]] = []
    for name in names:
        if name in made_again and name in said:
            rows.append((name, None, "made again since it was reviewed", 0, "", ""))
            continue
        answers = said.get(name, {})
        counted = Counter(label for chosen in answers.values() for label in chosen)
        votes = sorted(counted.items(), key=lambda vote: (-vote[1], vote[0]))
        problems = [label for label, _ in votes if label != fine]
        objections = sum(bool(chosen - {fine}) for chosen in answers.values())
        keep, why = _decide(objections, len(answers), rule, raters)
        reason = why if keep is None else ", ".join([] if keep else problems)
        told = ", ".join(f"{label} {n}" for label, n in votes)
        rows.append((name, keep, reason, len(answers), told, "; ".join(notes.get(name, []))))
    found = pl.DataFrame(rows, schema=DECISIONS, orient="row")
    if table is None or DIGEST not in table.columns:
        return found
    return found.with_columns(table[DIGEST].cast(pl.String).fill_null(""))


def check_rule(rule: ReviewRule, raters: int | None) -> None:
    """Refuse a rule that is not known, or that so many raters could never fulfil.

    Raises
    ------
    InputError
        When it cannot be used, or `raters` is below 1.

    Examples
    --------
    >>> check_rule(3, raters=2)
    Traceback (most recent call last):
    affectlab.InputError: rule 3: 2 raters cannot object so often; expected 1 to 2
    """
    counted = isinstance(rule, int) and not isinstance(rule, bool) and rule >= 1
    if not counted and rule not in ("any", "majority"):
        raise InputError(f"rule {rule!r}: expected 'any', 'majority' or a number of 1 or more")
    if raters is None:
        return
    if raters < 1:
        raise InputError(f"raters = {raters}: expected 1 or more")
    if isinstance(rule, int) and rule > raters:
        raise InputError(
            f"rule {rule}: {plural(raters, 'rater')} cannot object so often; expected 1 to {raters}"
        )


def _made_again(reviewed: Sequence[pl.DataFrame | None], items: pl.DataFrame | None) -> set[str]:
    """Names of items that are other pictures than those that were answered about."""
    found: set[str] = set()
    for table in reviewed:
        if items is not None and table is not None and DIGEST in table.columns:
            seen = table.select(pl.col("stimulus").cast(pl.String), DIGEST)
            found |= set(seen["stimulus"]) - set(about(seen, items)["stimulus"])
    return found


def _decide(
    objections: int, n: int, rule: ReviewRule, raters: int | None
) -> tuple[bool | None, str]:
    """Whether an item is kept; where nothing is settled, why."""
    if rule == "majority":
        total = max(n, raters or 0)
        if n and 2 * objections > total:
            return False, ""
        if n and 2 * (n - objections) > total:
            return True, ""
        if n and n == total:
            return None, f"{objections} of {plural(n, 'reviewer')} object, {n - objections} do not"
        return None, _too_few(n, raters)
    needed = 1 if rule == "any" else int(rule)
    if objections >= needed:
        return False, ""
    wanted = max(needed, raters or 1)
    if n >= wanted:
        return True, ""
    return None, _too_few(n, wanted)


def _too_few(n: int, wanted: int | None) -> str:
    return f"{n} of {wanted} answers" if n and wanted else "no answer"


def _said(ratings: Ratings, fine: str) -> dict[str, dict[str, set[str]]]:
    """Labels that each reviewer chose, by item; who chose none has not answered."""
    frame = ratings.to_frame()
    if "label" not in frame.columns:
        raise InputError("the answers have no labels; expected those of a review")
    frame = frame.with_columns(pl.col("stimulus", "rater", "label").cast(pl.String))
    labels = frame["label"].unique().sort().to_list()
    if fine not in labels:
        raise InputError(
            f"no answer is about {fine!r}; expected the answers of a review, found the labels: "
            f"{', '.join(labels)}"
        )
    if "trial_kind" in frame.columns:
        kind = pl.col("trial_kind").cast(pl.String)
        frame = frame.filter(kind.is_null() | kind.is_in(_COUNTED))
    said: dict[str, dict[str, set[str]]] = {}
    chosen = frame.filter(pl.col("value") > 0).select("stimulus", "rater", "label")
    for stimulus, rater, label in chosen.iter_rows():
        said.setdefault(stimulus, {}).setdefault(rater, set()).add(label)
    return said


def _read(place: Path) -> tuple[Ratings, dict[str, list[str]]]:
    """Read answers, and the notes that an export keeps beside them."""
    if not place.is_dir():
        return read_ratings(place, scale="binary"), {}
    file = place / "ratings.parquet"
    if not file.exists():
        raise InputError(
            f"{place}: there is no ratings.parquet; expected the folder that "
            "'affectlab study export' wrote"
        )
    notes: dict[str, list[str]] = {}
    written = place / "suggestions.csv"
    if written.exists():
        table = read_table(written, "notes").select("stimulus", "suggestion")
        for stimulus, text in table.iter_rows():
            notes.setdefault(stimulus, []).append(text)
    return read_ratings(file), notes
