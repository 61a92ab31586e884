"""Comments that people look at before they are used: the study, and what comes back from it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.csv import read_table, text_of_sheet
from affectlab.stimuli.review.decisions import review_decisions
from affectlab.stimuli.review.queue import review_queue

__all__ = ["comment_decisions", "queue_comments"]

_NAME = "review"


def comment_decisions(path: Path, folder: Path) -> pl.DataFrame | Path:
    """Give decisions as curation takes them, from a table of them or from people's answers.

    Parameters
    ----------
    path
        The table, the answers, or the folder of exported answers.
    folder
        Where the review was written: a comment is only kept when as many reviewers as its study
        asks for have answered.
    """
    if not path.is_dir():
        named = read_table(path, "decisions").columns
        if "rater" not in named or "decision" in named or "keep" in named:
            return path
    try:
        found = review_decisions(path, raters=_raters(folder / f"{_NAME}.toml"))
    except InputError as problem:
        said = str(problem)
        raise InputError(said if str(path) in said else f"{path}: {said}") from None
    return found.filter(pl.col("keep").is_not_null()).select("stimulus", "keep")


def _raters(study: Path) -> int | None:
    """Reviewers that a review wants for each comment; None where there is no such study."""
    try:
        told = tomllib.loads(study.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise InputError(f"{study}: not a study ({problem})") from None
    raters = told.get("sessions", {}).get("raters")
    return raters if isinstance(raters, int) else None


def queue_comments(comments: Path) -> tuple[str, ...]:
    """Write a study of comments that await review, beside their table; say how to go on.

    Parameters
    ----------
    comments
        CSV file with id and text, whose texts are escaped for spreadsheets.
    """
    study, table = comments.with_name(f"{_NAME}.toml"), comments.with_name(f"{_NAME}.csv")
    # An id may come twice where the plan leaves the step out that looks for that.
    items = (
        pl.read_csv(comments, infer_schema=False)
        .select(text_of_sheet(pl.col("id", "text")))
        .unique("id", keep="first", maintain_order=True)
    )
    if not study.exists():
        table.unlink(missing_ok=True)
        review_queue(items, study.parent, "comments", name=_NAME)
    elif not table.exists():
        return (f"{study}: its table {table.name} is not there, so that nobody can review",)
    else:
        asked = pl.read_csv(table, infer_schema=False)["stimulus"]
        added = items.filter(~pl.col("id").is_in(asked.to_list())).height
        if added:
            return (
                f"{added:,} comments that await review are not in {study}, which was written "
                "before; move it away to have a new one written",
            )
    answers = study.parent / "answers"
    return (
        f"  ask people:  affectlab study serve {study}",
        f"  then:        affectlab study export {study} --out {answers}",
        f"  and repeat this command with --review {answers}",
    )
