"""``affectlab stimuli curate``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.cli._output import Output

if TYPE_CHECKING:
    from affectlab.core.types import Count
    from affectlab.models.text.pilot import PilotPredictor
    from affectlab.stimuli.curation import CurationPlan
    from affectlab.stimuli.curation.result import Curation

__all__ = ["curate"]


def curate(
    out: Output,
    sources: Sequence[str],
    *,
    to: Path,
    plan: Path | None = None,
    review: Path | None = None,
    pilot: Count | None = None,
    pilot_answers: Path | None = None,
    pilot_model: Path | None = None,
    pilot_annotator: str | None = None,
    pilot_agree: Count | None = None,
    near_duplicates: bool = False,
    until: str | None = None,
    draw: Count | None = None,
    seed: int | None = None,
    runner: str = "native",
    partitions: Count | None = None,
    strict: bool = False,
    restart: bool = False,
) -> None:
    """Curate comments for annotation: drop what harms, balance the rest, count every step.

    Takes the steps of GoEmotions (section 3.1). The ledger says how many comments each step was
    given and dropped, and why. Emotions are balanced by a pilot model's predictions: name a column
    that holds them in the plan, or have a pilot drawn (--pilot), answered, and learned from
    (--pilot-answers). Repeating a command goes on where it stopped.

    Parameters
    ----------
    sources
        Comments: files, folders, patterns or URLs; or a plan (TOML) that names them.
    to
        Folder for the results.
    plan
        TOML file with steps and thresholds.
    review
        What reviewers decided: exported answers to review/review.toml, or a table with id and
        decision (keep, drop).
    pilot
        Draw a pilot of this many comments, about 2,200, before emotions are needed, and write a
        study that asks about them.
    pilot_answers
        Train the pilot model on these answers, and go on with it.
    pilot_model
        Use a model that affectlab train text made.
    pilot_annotator
        Have the pilot answered by a model (its folder) or by an installed annotator, and go on
        with a model trained on that.
    pilot_agree
        Raters who must choose a label for the pilot model to learn it; 2, or 1 where most
        comments have one rater.
    near_duplicates
        Drop texts that are nearly the same.
    until
        Stop after this step.
    draw
        Also draw this many of the comments left into pilot.csv.
    runner
        native, ray or ray://host:port.
    partitions
        Pieces of work on Ray.
    strict
        End at the first line that cannot be read.
    restart
        Use nothing of an earlier run in the folder.
    """
    from affectlab.cli._output import write_csv
    from affectlab.cli._warned import caught_warnings
    from affectlab.cli.stimuli._curate_pilot import Pilot
    from affectlab.cli.stimuli._curate_review import decisions, review_study
    from affectlab.core.errors import InputError
    from affectlab.stimuli.curation import curate as run
    from affectlab.stimuli.curation import load_curation_plan

    named = [source for source in sources if source.endswith(".toml")]
    if plan is not None and named:
        raise InputError(f"{named[0]} and --plan {plan}: expected one plan")
    if len(named) > 1:
        raise InputError(f"{named[0]} and {named[1]}: expected one plan")
    chosen = load_curation_plan(named[0] if named else plan)
    if seed is not None:
        chosen = chosen.model_copy(update={"seed": seed})
    wish = Pilot(pilot, pilot_answers, pilot_model, pilot_annotator, pilot_agree)
    if wish.is_wanted:
        wish.check(chosen, until)
    files = [source for source in sources if source not in named]
    fresh = restart
    with out.progress("reading") as report, caught_warnings() as warned:
        decided = None if review is None else decisions(review, to / "review")

        def go(last: str | None, predict: PilotPredictor | None = None) -> Curation:
            nonlocal fresh
            # A restart is one: what the first part of this run finished is not done again.
            resume, fresh = not fresh, False
            return run(
                files or None,
                to,
                plan=chosen,
                predict=predict,
                review=decided,
                near_duplicates=near_duplicates,
                until=last,
                runner=runner,
                partitions=partitions,
                strict=strict,
                resume=resume,
                progress=report,
            )

        piloted = None
        if wish.is_wanted:
            piloted = wish.take(go, chosen, to / "pilot", resume=not restart)
        if piloted is None:
            done = go(until)
        elif piloted.predict is None and piloted.done is not None:
            done = piloted.done
        else:
            done = go(None, piloted.predict)
        drawn = None if draw is None else done.draw(draw, seed=chosen.seed)
    if drawn is not None:
        write_csv(drawn.rename({"id": "stimulus"}), to / "pilot.csv")
    queued = review_study(done)
    _show(out, done)
    for line in queued:
        out.show_line(line)
    if drawn is not None:
        out.show_line(f"{drawn.height:,} drawn into {to / 'pilot.csv'}")
    for line in () if piloted is None else piloted.lines:
        out.show_line(line)
    problems = [f"{n:,} × {kind.replace('_', ' ')}" for kind, n in done.counts.items()]
    warnings = [f"problems in reading: {', '.join(problems)}"] if problems else []
    # A column that is not there is a slip of the plan more often than a fault of one file.
    absent = done.problems.filter(done.problems["problem"] == "absent_column")
    warnings += [f"{file}: {detail}" for file, detail in absent.select("file", "detail").rows()[:3]]
    out.finish(
        {**_result(done, chosen), "pilot": None if piloted is None else piloted.told},
        [*done.notes, *warnings],
        doubts=[
            *warned,
            *(() if piloted is None else piloted.doubts),
            *([done.explained] if done.explained else []),
        ],
    )


def _show(out: Output, done: Curation) -> None:
    """Print the ledger, one line for each reason, and where the results are."""
    import polars as pl

    ledger = done.ledger
    first = pl.int_range(pl.len()).over("step") == 0
    shown = ledger.with_columns(
        pl.when(first).then(name).alias(name) for name in ("step", "rows_in", "kept")
    )
    plain = shown.select(
        pl.col("step").fill_null(""),
        "rows_in",
        "kept",
        pl.col("n").alias("dropped"),
        pl.col("threshold").alias("because"),
    )
    out.show_frame(plain, plain.columns, most=plain.height, more="")
    for step, found in ledger.select("step", "found").unique(maintain_order=True).iter_rows():
        if found:
            out.show(f"{step}: {found}")
    out.show(f"\n{done.n_kept:,} of {done.n_read:,} comments are left")
    if done.corpus is not None:
        out.show_line(f"corpus: {done.corpus}")
    out.show_line(f"ledger, reasons, distributions: {done.out}")
    if done.review is not None:
        out.show_line(f"{done.n_review:,} comments await review: {done.review}")


def _result(done: Curation, plan: CurationPlan) -> dict[str, object]:
    return {
        "n_read": done.n_read,
        "n_kept": done.n_kept,
        "n_review": done.n_review,
        "stopped_after": done.stopped_after,
        "ledger": done.ledger,
        "distributions": done.distributions,
        "problems": done.counts,
        "explained": done.explained,
        "out": done.out,
        "corpus": done.corpus,
        "review": done.review,
        "seed": plan.seed,
    }
