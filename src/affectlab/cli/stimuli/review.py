"""``affectlab stimuli review``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Optional, cast

import typer

from affectlab.cli._options import JsonOption, QuietOption, SeedOption
from affectlab.cli._output import Output, write_csv

if TYPE_CHECKING:
    import polars as pl

    from affectlab.stimuli._review_decisions import ReviewRule
    from affectlab.stimuli._review_queue import ReviewKind

__all__ = ["review"]


def review(
    items: Annotated[
        Path,
        typer.Argument(
            help="Table of pictures (stimulus, file) or of comments (stimulus, text).",
            show_default=False,
        ),
    ],
    to: Annotated[
        Path, typer.Option("--out", help="Folder of the review.", metavar="FOLDER")
    ] = Path("review"),
    kind: Annotated[str, typer.Option(help="pictures or comments.")] = "pictures",
    raters: Annotated[int, typer.Option(help="Answers wanted for each item.", min=1)] = 2,
    per_session: Annotated[int, typer.Option(help="Items of one session.", min=1)] = 50,
    contact: Annotated[
        str, typer.Option(help="Whom reviewers can ask, such as an e-mail address.")
    ] = "",
    answers: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="Decide from these answers: the folder of an export, or a file of ratings.",
            metavar="EXPORT",
            show_default=False,
        ),
    ] = None,
    decided: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="Decisions of an earlier review: what they settled is not asked again.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    rule: Annotated[
        str,
        typer.Option(help="Objections that leave an item out: any, majority, or a number."),
    ] = "any",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    seed: SeedOption = 0,
) -> None:
    """Have people review pictures or comments, and decide from their answers what is kept.

    Without --answers it writes a study that `affectlab study serve` opens. With them it writes
    decisions.csv, and beside ITEMS the table of what is kept, accepted.csv. After more
    pictures were made, --decided leaves out what an earlier review settled, and carries its
    decisions over.

    Example: affectlab stimuli review faces/manifest.csv --out review
    """
    out = Output("stimuli review", as_json=as_json, quiet=quiet)
    table = _items(items)
    settled = _settled(decided)
    if answers is None:
        from affectlab._words import plural
        from affectlab.stimuli._review_queue import review_queue

        queue = review_queue(
            table.filter(~table["stimulus"].is_in(settled["stimulus"].implode())),
            to,
            # A kind that is not known is refused there.
            cast("ReviewKind", kind),
            raters=raters,
            images=items.parent,
            per_session=per_session,
            contact=contact,
            seed=seed,
        )
        what = plural(queue.n_items, queue.kind.removesuffix("s"))
        out.show(f"{what} to review, {plural(queue.raters, 'answer')} for each")
        out.show(f"Open it:       affectlab study serve {queue.study}")
        out.show(f"Take answers:  affectlab study export {queue.study} --out {to / 'answers'}")
        again = f" --decided {decided}" if decided is not None else ""
        given = f"--out {to}{again} --answers {to / 'answers'}"
        out.show(f"Decide:        affectlab stimuli review {items} {given}")
        out.finish(queue)
        return
    found = _decisions(table, settled, answers, rule, raters)
    _write(items, table, found, to, out)


def _items(path: Path) -> pl.DataFrame:
    import polars as pl

    from affectlab.errors import InputError
    from affectlab.stimuli._tables import read_table

    table = read_table(path, "items to review")
    if "stimulus" not in table.columns and "id" in table.columns:
        table = table.rename({"id": "stimulus"})
    if "stimulus" not in table.columns:
        raise InputError(f"{path}: no column 'stimulus'; found: {', '.join(table.columns)}")
    return table.with_columns(pl.col("stimulus").cast(pl.String))


def _settled(path: Path | None) -> pl.DataFrame:
    """Give the decisions of an earlier review, without what it left undecided."""
    import polars as pl

    from affectlab.errors import InputError
    from affectlab.stimuli._review_decisions import DECISIONS
    from affectlab.stimuli._tables import read_table

    if path is None:
        return pl.DataFrame(schema=DECISIONS)
    table = read_table(path, "decisions")
    for name in DECISIONS:
        if name not in table.columns:
            raise InputError(f"{path}: no column {name!r}; expected the decisions of a review")
    known = {"true": True, "false": False}
    keep = pl.col("keep").replace_strict(known, default=None, return_dtype=pl.Boolean)
    typed = table.select(list(DECISIONS)).with_columns(keep, pl.col("n_raters").cast(pl.Int64))
    return typed.with_columns(pl.col(pl.String).fill_null("")).filter(pl.col("keep").is_not_null())


def _decisions(
    table: pl.DataFrame, settled: pl.DataFrame, answers: Path, rule: str, raters: int
) -> pl.DataFrame:
    """Decide about what was not settled, in the order of the items."""
    import polars as pl

    from affectlab.stimuli._review_decisions import review_decisions

    before = settled.filter(pl.col("stimulus").is_in(table["stimulus"].implode()))
    asked = table["stimulus"].filter(~table["stimulus"].is_in(before["stimulus"].implode()))
    new = review_decisions(answers, rule=_rule(rule), raters=raters, items=asked)
    order = table.select("stimulus")
    return order.join(pl.concat([before, new]), on="stimulus", how="left", maintain_order="left")


def _write(items: Path, table: pl.DataFrame, decided: pl.DataFrame, to: Path, out: Output) -> None:
    """Write what was decided, and the table of what is kept."""
    import polars as pl

    from affectlab._words import plural

    kept = decided.filter(pl.col("keep"))
    left_out = decided.filter(~pl.col("keep"))
    undecided = decided.filter(pl.col("keep").is_null())
    to.mkdir(parents=True, exist_ok=True)
    write_csv(decided, to / "decisions.csv")
    accepted = items.parent / "accepted.csv"
    write_csv(table.filter(pl.col("stimulus").is_in(kept["stimulus"].implode())), accepted)
    out.show(
        f"{kept.height:,} kept, {left_out.height:,} left out, {undecided.height:,} undecided, of "
        f"{decided.height:,}"
    )
    _list(left_out, "Left out", ["stimulus", "reason", "n_raters", "votes", "notes"], to, out)
    _list(undecided, "Undecided", ["stimulus", "reason", "votes"], to, out)
    if left_out.height or undecided.height:
        out.show("")
    out.show(f"decisions written to {to / 'decisions.csv'}")
    out.show(f"{plural(kept.height, 'item')} kept written to {accepted}")
    out.finish(
        {
            "n_items": decided.height,
            "n_kept": kept.height,
            "n_left_out": left_out.height,
            "undecided": undecided["stimulus"].to_list(),
            "decisions": to / "decisions.csv",
            "accepted": accepted,
        }
    )


def _list(rows: pl.DataFrame, title: str, columns: list[str], to: Path, out: Output) -> None:
    import polars as pl

    if rows.height:
        out.head(f"\n{title}")
        texts = rows.select(pl.col(pl.String)).columns
        columns = [name for name in columns if name not in texts or (rows[name] != "").any()]
        out.show_frame(rows, columns, most=20, more=f"see {to / 'decisions.csv'}")


def _rule(text: str) -> ReviewRule:
    """Read a rule; what is none is refused where it is used."""
    if text.isascii() and text.isdigit():
        return int(text)
    return cast("Literal['any', 'majority']", text)
