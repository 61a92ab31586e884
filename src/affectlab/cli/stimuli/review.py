"""``affectlab stimuli review``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from affectlab.cli._output import Output, write_csv

if TYPE_CHECKING:
    import polars as pl

    from affectlab.core.types import Count
    from affectlab.stimuli.review import ReviewKind, ReviewRule

__all__ = ["review"]

_DECISIONS, _ACCEPTED = "decisions.csv", "accepted.csv"


def review(
    out: Output,
    items: Path,
    *,
    to: Path = Path("review"),
    kind: str = "pictures",
    images: Path | None = None,
    raters: Count = 2,
    per_session: Count = 50,
    contact: str = "",
    answers: Path | None = None,
    decided: Path | None = None,
    rule: str = "any",
    seed: int = 0,
) -> None:
    """Have people review pictures or comments, and decide from their answers what is kept.

    Without --answers it writes a study that `affectlab study serve` opens. With them it writes
    decisions.csv, and the table of what is kept, accepted.csv, whose files are beside ITEMS. After
    more pictures were made, --decided leaves out what an earlier review settled, and carries its
    decisions over; a picture that was made again is reviewed again.

    Parameters
    ----------
    items
        Table of pictures (stimulus, file) or of comments (stimulus, text).
    to
        Folder of the review.
    kind
        pictures; comments; or emotions: do the pictures evoke a clear emotion?
    images
        Folder of the pictures; by default that of ITEMS.
    raters
        Answers wanted for each item.
    per_session
        Items of one session.
    contact
        Whom reviewers can ask, such as an e-mail address.
    answers
        Decide from these answers: the folder of an export, or a file of ratings.
    decided
        Decisions of an earlier review: what they settled is not asked again.
    rule
        Objections that leave an item out: any, majority, or a number.
    """
    from affectlab.stimuli.review import check_rule

    check_rule(_rule(rule), raters)
    table = _items(items)
    settled = _settled(decided, table)
    if answers is not None:
        _apart(to, items, decided, answers)
        found = _decisions(table, settled, answers, _rule(rule), raters, to)
        _write(table, found, to, out)
        return
    asked = table.filter(~table["stimulus"].is_in(settled["stimulus"].implode()))
    if table.height and not asked.height:
        from affectlab.core.words import plural

        out.show(f"all {plural(table.height, 'item')} are settled, nothing is left to review")
        out.finish({"n_items": 0, "n_settled": table.height})
        return
    _ask(
        items,
        asked,
        to,
        out,
        # A kind that is not known is refused there.
        kind=cast("ReviewKind", kind),
        raters=raters,
        per_session=per_session,
        contact=contact,
        seed=seed,
        images=images or items.parent,
        again=["--decided", decided] if decided is not None else [],
        rule=rule,
    )


def _ask(
    items: Path,
    asked: pl.DataFrame,
    to: Path,
    out: Output,
    *,
    kind: ReviewKind,
    raters: int,
    per_session: int,
    contact: str,
    seed: int,
    images: Path,
    again: list[object],
    rule: str,
) -> None:
    """Write the study, and say how to go on: in commands that can be copied as they are."""
    from affectlab.core.words import plural
    from affectlab.stimuli.review import review_queue

    queue = review_queue(
        asked,
        to,
        kind,
        raters=raters,
        images=images,
        per_session=per_session,
        contact=contact,
        seed=seed,
    )
    what = plural(queue.n_items, queue.item)
    out.show(f"{what} to review, {plural(queue.raters, 'answer')} for each")
    answers = to / "answers"
    out.show_line(f"Open it:       {_command('study', 'serve', queue.study)}")
    out.show_line(f"Take answers:  {_command('study', 'export', queue.study, '--out', answers)}")
    given = ["--raters", raters, "--rule", rule, *again, "--answers", answers]
    decide = _command("stimuli", "review", items, "--out", to, *given)
    out.show_line(f"Decide:        {decide}")
    out.finish(queue)


def _command(*words: object) -> str:
    import shlex

    return shlex.join(["affectlab", *map(str, words)])


def _apart(to: Path, items: Path, decided: Path | None, answers: Path) -> None:
    """Refuse to write over what is read."""
    from affectlab.core.errors import InputError

    given = {one.resolve() for one in (items, decided, answers) if one is not None}
    for file in (to / _DECISIONS, to / _ACCEPTED):
        if file.resolve() in given:
            raise InputError(f"{file} would be written over itself; give another folder with --out")


def _items(path: Path) -> pl.DataFrame:
    import polars as pl

    from affectlab.core.csv import read_table
    from affectlab.core.errors import InputError

    table = read_table(path, "items to review")
    if "stimulus" not in table.columns and "id" in table.columns:
        table = table.rename({"id": "stimulus"})
    if "stimulus" not in table.columns:
        raise InputError(f"{path}: no column 'stimulus'; found: {', '.join(table.columns)}")
    table = table.with_columns(pl.col("stimulus").cast(pl.String))
    twice = table.filter(pl.col("stimulus").is_duplicated())
    if twice.height:
        raise InputError(f"{path}: {twice['stimulus'][0]!r} stands twice; expected once")
    return table


def _settled(path: Path | None, table: pl.DataFrame) -> pl.DataFrame:
    """Give what an earlier review decided about items that are as they were then."""
    import polars as pl

    from affectlab.core.errors import InputError
    from affectlab.stimuli.review import DECISIONS, about, read_decisions

    if path is None:
        return pl.DataFrame(schema=DECISIONS)
    found = read_decisions(path)
    for name in DECISIONS:
        if name not in found.columns:
            raise InputError(f"{path}: no column {name!r}; expected the decisions of a review")
    return about(found, table).filter(pl.col("keep").is_not_null()).select(list(DECISIONS))


def _decisions(
    table: pl.DataFrame,
    settled: pl.DataFrame,
    answers: Path,
    rule: ReviewRule,
    raters: int,
    to: Path,
) -> pl.DataFrame:
    """Decide about what was not settled, in the order of the items."""
    import polars as pl

    from affectlab.core.csv import read_table
    from affectlab.stimuli.review import DECISIONS, DIGEST, review_decisions

    asked = table.filter(~table["stimulus"].is_in(settled["stimulus"].implode()))
    written = to / "review.csv"
    new = review_decisions(
        answers,
        rule=rule,
        raters=raters,
        items=asked,
        reviewed=read_table(written, "reviewed items") if written.exists() else None,
    ).select(list(DECISIONS))
    order = table.select("stimulus", *([DIGEST] if DIGEST in table.columns else []))
    both = pl.concat([settled, new])
    found = order.join(both, on="stimulus", how="left", maintain_order="left")
    return found.select(*DECISIONS, *order.columns[1:])


def _write(table: pl.DataFrame, decided: pl.DataFrame, to: Path, out: Output) -> None:
    """Write what was decided, and the table of what is kept."""
    import polars as pl

    from affectlab.core.words import plural

    kept = decided.filter(pl.col("keep"))
    left_out = decided.filter(~pl.col("keep"))
    undecided = decided.filter(pl.col("keep").is_null())
    to.mkdir(parents=True, exist_ok=True)
    write_csv(decided, to / _DECISIONS)
    accepted = to / _ACCEPTED
    write_csv(table.filter(pl.col("stimulus").is_in(kept["stimulus"].implode())), accepted)
    out.show(
        f"{kept.height:,} kept, {left_out.height:,} left out, {undecided.height:,} undecided, of "
        f"{decided.height:,}"
    )
    _list(left_out, "Left out", ["stimulus", "reason", "n_raters", "votes", "notes"], to, out)
    _list(undecided, "Undecided", ["stimulus", "reason", "votes"], to, out)
    if left_out.height or undecided.height:
        out.show("")
    out.show(f"decisions written to {to / _DECISIONS}")
    out.show(f"{plural(kept.height, 'item')} kept written to {accepted}")
    out.finish(
        {
            "n_items": decided.height,
            "n_kept": kept.height,
            "n_left_out": left_out.height,
            "undecided": undecided["stimulus"].to_list(),
            "decisions": to / _DECISIONS,
            "accepted": accepted,
        }
    )


def _list(rows: pl.DataFrame, title: str, columns: list[str], to: Path, out: Output) -> None:
    import polars as pl

    if rows.height:
        out.head(f"\n{title}")
        texts = rows.select(pl.col(pl.String)).columns
        columns = [name for name in columns if name not in texts or (rows[name] != "").any()]
        out.show_frame(rows, columns, most=20, more=f"see {to / _DECISIONS}")


def _rule(text: str) -> ReviewRule:
    """Read a rule; what is none is refused where it is used."""
    if text.isascii() and text.isdigit():
        return int(text)
    return cast("Literal['any', 'majority']", text)
