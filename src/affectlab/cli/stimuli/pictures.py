"""Verbs of ``affectlab stimuli`` about pictures: prompts, images, coverage, review."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import polars as pl

from affectlab.cli._output import Output, command, write_table
from affectlab.cli.manifest import OptionsOf
from affectlab.cli.parameters import read_settings
from affectlab.core.errors import InputError
from affectlab.core.types import Count
from affectlab.core.words import plural
from affectlab.report import draw_coverage
from affectlab.stimuli import face_prompts, load_prompt_plan, neutral_prompts
from affectlab.stimuli.generation import fill_manifest, generate_images, read_failed, read_manifest
from affectlab.stimuli.prompts import ATTRIBUTES, Undecided, awaiting_review, coverage_map
from affectlab.stimuli.review import (
    ReviewKind,
    ReviewQueue,
    ReviewRule,
    check_rule,
    decisions_about,
    items_to_review,
    read_decisions,
    review_queue,
    settled_decisions,
)

if TYPE_CHECKING:
    import polars as pl


def prompts(
    out: Output,
    number: Count | None = None,
    *,
    to: Path = Path("prompts.csv"),
    taxonomy: str = "emonet_face",
    labels: str | None = None,
    neutral: bool = False,
    words: Count | None = None,
    plan: Path | None = None,
    fill: Path | None = None,
    per_label: Count | None = None,
    decisions: Path | None = None,
    undecided: str = "coming",
    coverage: Path | None = None,
    seed: int = 0,
) -> None:
    """Make prompts for pictures of faces: labels, genders, ages and ethnicities in exact shares.

    With --fill and --per-label it aims at what accepted pictures lack, label by label and group by
    group, and the names go on from those of the manifest.

    Parameters
    ----------
    number
        How many prompts; with --fill, what is lacking says it.
    to
        CSV file of prompts to write.
    taxonomy
        Labels and their words: a name or a TOML file.
    labels
        Only these labels, separated by commas; Shame=2,Awe=1 gives them weights.
    neutral
        Faces without emotion.
    words
        Descriptor words drawn for each prompt; without it all.
    plan
        TOML file with sentences, ages and shares.
    fill
        Manifest of pictures: make prompts for what they lack of --per-label.
    per_label
        With --fill: accepted pictures wanted of each label.
    decisions
        With --fill: what a review decided; only pictures that it kept count.
    undecided
        With --fill: pictures that await a review count as coming, or as lacking.
    coverage
        Write labels against ethnicities to this CSV file.
    """
    told = load_prompt_plan(plan)
    if (fill is None) == (number is None):
        raise InputError("expected either the number of prompts, or --fill with --per-label")
    if (fill is None) != (per_label is None) or (decisions is not None and fill is None):
        raise InputError("--fill and --per-label go together, and --decisions goes with them")
    if fill is not None and neutral:
        raise InputError("--fill has no neutral faces; leave out --neutral")
    if neutral and (labels or words):
        raise InputError("--neutral has no labels and no words; leave out --labels and --words")
    waiting = 0
    with out.progress("prompts"):
        if fill is not None and per_label is not None:
            weights = _weights(labels)
            if weights is not None and set(weights.values()) != {1.0}:
                raise InputError(
                    "--labels: with --fill labels have no weights; --per-label says how many"
                )
            made, waiting = fill_manifest(
                fill,
                per_label,
                decisions,
                # A way that is not known is refused there.
                undecided=cast("Undecided", undecided),
                labels=None if weights is None else list(weights),
                taxonomy=taxonomy,
                plan=told,
                words=words,
                seed=seed,
            )
        elif number is not None and neutral:
            made = neutral_prompts(number, plan=told, seed=seed)
        else:
            made = face_prompts(
                number or 0,
                taxonomy=taxonomy,
                plan=told,
                weights=_weights(labels),
                words=words,
                seed=seed,
            )
    write_table(made.to_frame(), to)
    if coverage is not None:
        write_table(made.coverage(), coverage)
    balance = made.balance()
    for attribute in balance["attribute"].unique(maintain_order=True):
        counts = balance.filter(attribute=attribute)["n"]
        low, high = min(counts), max(counts)
        spread = f"{low:,} each" if low == high else f"{low:,} to {high:,} each"
        values = balance.filter(attribute=attribute).select("value", "n").rows()
        text = (
            ", ".join(f"{value} {n:,}" for value, n in values)
            if attribute == "gender"
            else f"{len(values)}, {spread}"
        )
        out.show(f"{attribute:<12}{text}")
    if waiting:
        out.show(
            f"{plural(waiting, 'picture')} not yet settled by the review, counted as {undecided}"
        )
    out.show(f"{len(made):,} prompts written to {to}")
    if coverage is not None:
        out.show(f"labels against ethnicities written to {coverage}")
    found: dict[str, Any] = {
        "n_prompts": len(made),
        "balance": balance,
        "prompts": to,
        "seed": seed,
    }
    if fill is not None:
        found["n_awaiting_review"] = waiting
    out.finish(found)


def _weights(text: str | None) -> dict[str, float] | None:
    """Read labels with weights; 1 where none is given."""
    if text is None:
        return None
    weights: dict[str, float] = {}
    for piece in text.split(","):
        label, _, weight = (part.strip() for part in piece.partition("="))
        try:
            weights[label] = float(weight or 1)
        except ValueError:
            raise InputError(
                f"--labels: {weight!r} is no weight of {label}; expected a number above 0"
            ) from None
    return weights


def images(
    out: Output,
    prompts: Path,
    *,
    to: Path = Path("images"),
    making: Annotated[dict[str, Any], OptionsOf("stimuli.generation.generate:generate_images")],
    settings: Sequence[str] | None = None,
    again: bool = False,
    keep: bool = False,
) -> None:
    """Make a picture of every prompt; an interrupted run goes on where it stopped.

    The manifest in the folder is the stimulus table of a study.

    Parameters
    ----------
    prompts
        Table of prompts: stimulus, prompt, label, seed, and who is asked for.
    to
        Folder of pictures and their manifest.
    generator
        drawn, diffusers:FOLDER_OR_NAME, or a generator that a package adds.
    settings
        Setting of the generator, such as size=512, or steps=30; may be given again.
    again
        Make pictures anew whose prompt or generator has changed.
    keep
        Keep pictures whose prompt or generator has changed.
    patience
        Failures in a row after which to stop.
    """
    if again and keep:
        raise InputError("--again and --keep contradict each other; give one of them")
    with out.progress("pictures") as report:
        made = generate_images(
            prompts,
            to,
            settings=read_settings(settings or ()),
            changed="again" if again else "keep" if keep else "refuse",
            progress=report,
            **making,
        )
    kept = f"; {made.n_kept:,} were there" if made.n_kept else ""
    out.show(f"{plural(made.n_made, 'picture')} made{kept}")
    stand_ins = made.images.filter(made.images["drawn"] != "")
    if stand_ins.height:
        labels = stand_ins["label"].n_unique()
        out.show(
            f"{stand_ins.height:,} of {plural(len(made), 'picture')}, of "
            f"{plural(labels, 'label')}, show another expression than their label; the manifest "
            "says which"
        )
    doubts = []
    without = made.without()
    if without.height:
        first = without.row(0, named=True)
        doubts.append(
            f"{plural(without.height, 'prompt')} without a picture, {first['stimulus']} first: "
            f"{first['problem']}; see {to / 'failed.csv'}, and run again to try again"
        )
    earlier = made.failed.join(made.images, on="stimulus", how="semi", maintain_order="left")
    if earlier.height:
        first = earlier.row(0, named=True)
        doubts.append(
            f"{plural(earlier.height, 'picture')} could not be made again and stay as they were, "
            f"{first['stimulus']} first: {first['problem']}; see {to / 'failed.csv'}"
        )
    out.show(f"{plural(len(made), 'picture')} in {made.path}")
    out.finish(
        {
            "n_made": made.n_made,
            "n_kept": made.n_kept,
            "n_images": len(made),
            "n_failed": without.height,
            "n_not_made_again": earlier.height,
            "n_stand_ins": stand_ins.height,
            "manifest": made.path,
        },
        doubts=doubts,
    )


def coverage(
    out: Output,
    manifest: Path,
    *,
    to: Path = Path("coverage"),
    decisions: Path | None = None,
    wanted: Annotated[dict[str, Any], OptionsOf("stimuli.prompts.coverage:coverage_map")],
    plan: Path | None = None,
) -> None:
    """Count prompts and accepted pictures of each label by ethnicity, age and gender.

    Writes coverage.csv, and maps of prompts and of accepted pictures as PNG and SVG. Cells with too
    few pictures are named; `stimuli prompts --fill` makes prompts for them.

    Parameters
    ----------
    manifest
        Manifest of pictures, or its folder.
    to
        Folder of the table and the figures.
    decisions
        What a review decided; only pictures that it kept count.
    per_label
        Accepted pictures wanted of each label; without it their mean.
    least
        Share of what is due below which a cell is under-covered.
    plan
        Plan whose shares say what is due; without it shares among all prompts.
    """
    images = read_manifest(manifest)
    failed = read_failed(manifest)
    asked = images
    if failed is not None:
        # A picture that could not be made again stands in both tables, and is one prompt.
        lost = failed.join(images, on="stimulus", how="anti")
        asked = pl.concat([images, lost], how="diagonal_relaxed")
    decided = None if decisions is None else read_decisions(decisions)
    found = coverage_map(
        asked,
        images,
        decisions=decided,
        attributes=[name for name in ATTRIBUTES if name in images.columns],
        plan=None if plan is None else load_prompt_plan(plan),
        **wanted,
    )
    to.mkdir(parents=True, exist_ok=True)
    write_table(found.counts, to / "coverage.csv")
    with out.progress("figures"):
        files = [*draw_coverage(found, "n_prompts", to), *draw_coverage(found, "n_accepted", to)]
    whole = found.counts.filter(attribute="all")
    short = found.under_covered()
    out.show(
        f"{whole['n_prompts'].sum():,} prompts, {whole['n_images'].sum():,} pictures, "
        f"{whole['n_accepted'].sum():,} accepted, of {plural(whole.height, 'label')}"
    )
    waiting = awaiting_review(images, decided).height
    if waiting:
        out.show(f"{plural(waiting, 'picture')} not yet settled by the review")
    out.show(f"{plural(short.height, 'cell')} under-covered")
    if short.height:
        columns = ["label", "attribute", "value", "n_prompts", "n_accepted", "due"]
        out.show_frame(short, columns, most=20, more=f"see {to / 'coverage.csv'}")
    out.show(f"tables and figures written to {to}")
    out.finish(
        {
            **{n: int(whole[n].sum()) for n in ("n_prompts", "n_images", "n_accepted")},
            "n_awaiting_review": waiting,
            "per_label": found.per_label,
            "under_covered": short,
            "files": [to / "coverage.csv", *files],
        }
    )


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
    check_rule(_rule(rule), raters)
    table = items_to_review(items)
    settled = settled_decisions(decided, table)
    if answers is not None:
        _apart(to, items, decided, answers)
        found = decisions_about(table, settled, answers, _rule(rule), raters, to)
        _write(table, found, to, out)
        return
    asked = table.filter(~table["stimulus"].is_in(settled["stimulus"].implode()))
    if table.height and not asked.height:
        out.show(f"all {plural(table.height, 'item')} are settled, nothing is left to review")
        out.finish({"n_items": 0, "n_settled": table.height})
        return
    queue = review_queue(
        asked,
        to,
        # A kind that is not known is refused there.
        cast("ReviewKind", kind),
        raters=raters,
        images=images or items.parent,
        per_session=per_session,
        contact=contact,
        seed=seed,
    )
    again = ["--decided", decided] if decided is not None else []
    given = ["--raters", raters, "--rule", rule, *again, "--answers", to / "answers"]
    _show_queue(out, queue, to, command("stimuli", "review", items, "--out", to, *given))


def _show_queue(out: Output, queue: ReviewQueue, to: Path, decide: str) -> None:
    """Say how to go on: in commands that can be copied as they are."""
    what = plural(queue.n_items, queue.item)
    out.show(f"{what} to review, {plural(queue.raters, 'answer')} for each")
    out.show_line(f"Open it:       {command('study', 'serve', queue.study)}")
    export = command("study", "export", queue.study, "--out", to / "answers")
    out.show_line(f"Take answers:  {export}")
    out.show_line(f"Decide:        {decide}")
    out.finish(queue)


def _apart(to: Path, items: Path, decided: Path | None, answers: Path) -> None:
    """Refuse to write over what is read."""
    given = {one.resolve() for one in (items, decided, answers) if one is not None}
    for file in (to / _DECISIONS, to / _ACCEPTED):
        if file.resolve() in given:
            raise InputError(f"{file} would be written over itself; give another folder with --out")


def _write(table: pl.DataFrame, decided: pl.DataFrame, to: Path, out: Output) -> None:
    """Write what was decided, and the table of what is kept."""
    kept = decided.filter(pl.col("keep"))
    left_out = decided.filter(~pl.col("keep"))
    undecided = decided.filter(pl.col("keep").is_null())
    to.mkdir(parents=True, exist_ok=True)
    write_table(decided, to / _DECISIONS)
    accepted = to / _ACCEPTED
    write_table(table.filter(pl.col("stimulus").is_in(kept["stimulus"].implode())), accepted)
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
