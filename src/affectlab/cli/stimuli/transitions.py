"""Verbs of ``affectlab stimuli`` about expression transitions: frames and pairs of them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from annotated_types import Ge

from affectlab.cli._output import Output, write_table
from affectlab.cli.manifest import OptionsOf
from affectlab.core.errors import InputError
from affectlab.core.types import Count
from affectlab.core.words import plural
from affectlab.stimuli import pair_design, read_sequences
from affectlab.stimuli.frames import (
    Candidates,
    Direction,
    FiveFrameSampling,
    Sampling,
    View,
    WrittenFrames,
    find_transitions,
    read_jnds,
    write_frames,
)
from affectlab.stimuli.pairs import read_known_pairs, with_known_pairs


def frames(
    out: Output,
    source: Path,
    *,
    to: Path = Path("frames"),
    candidates: Annotated[int, Ge(5)] | None = None,
    staircases: Path | None = None,
    difference: str = "ssim",
    jnd: float | None = None,
    five: Annotated[dict[str, Any], OptionsOf("stimuli.frames.sampling:FiveFrameSampling")],
    direction: Direction = "peak-neutral",
    ends: Count | None = None,
    finding: Annotated[dict[str, Any], OptionsOf("stimuli.frames.find:find_transitions")],
    crop: str | None = None,
    size: Annotated[int, Ge(16)] | None = None,
    writing: Annotated[dict[str, Any], OptionsOf("stimuli.frames.write:write_frames")],
    seed: int = 0,
) -> None:
    """Take five frames of each expression transition: peak, 1 JND from it, middle, …, neutral.

    1 JND is what staircases found, or stated as a part of a difference of pictures. The table,
    frames.csv, is what affectlab stimuli pairs reads. With --candidates the table, candidates.csv,
    is that of a staircase study. A run that was broken off goes on where it was.

    Parameters
    ----------
    source
        Folder of transitions (folders of pictures, videos, or MultiFace), one video, or a table
        of frames.
    to
        Folder for pictures and table.
    candidates
        Take this many frames at even times, for a staircase study, instead of five.
    staircases
        Staircases that a study exported: 1 JND is what people saw.
    difference
        Without staircases: difference of pictures, ssim or rmse.
    jnds
        JNDs from peak to neutral: 1 JND is this part of the whole.
    along
        What adds up to 1 JND: steps from frame to frame, or the difference from the ends.
    crossed
        Where no frame lies between those 1 JND from the ends: even steps, or leave the
        transition out.
    direction
        How it was filmed; find looks for the peak, supposing rest in the first frame.
    layout
        What the source is; auto looks.
    names
        How names say who and what, such as '{expression}-{actor}'.
    cameras
        MultiFace: cameras, the preferred one first, separated by commas.
    expressions
        Only these, separated by commas; * stands for anything.
    fps
        Frames per second of pictures; videos know theirs.
    crop
        Cut this box out of every picture, in pixels.
    size
        Longer side of the pictures in pixels; larger ones are made smaller.
    strict
        Stop at the first transition that cannot be used.
    overwrite
        Remove what an earlier run made, and begin anew.

    Other Parameters
    ----------------
    jnd
        1 JND as a number of the difference, instead.
    ends
        Choose peak and neutral from so many frames at each end, the most typical; otherwise 5
        where there are 13 or more frames, or 1. With staircases always 1.
    """
    if source.is_dir() and to.resolve().is_relative_to(source.resolve()):
        raise InputError(f"--out {to} lies in {source}; expected a folder beside it")
    view = _view(crop, size)
    settings = {"direction": direction, "ends": ends, "difference": difference}
    sampling = _sampling(candidates, staircases, settings, {"jnd": jnd, **five}, out)
    with out.progress("looking for transitions") as progress:
        found = find_transitions(source, **finding)
        made = write_frames(found, to, sampling, view=view, progress=progress, **writing)
    _show(made, out)
    left = [{"transition": one.name, "reason": one.reason} for one in made.left_out]
    out.finish(
        {
            "n_transitions": made.n_transitions,
            "n_frames": made.frames.height,
            "n_kept": made.n_kept,
            "notes": made.notes,
            "left_out": left,
            "table": made.table,
            "sheets": made.sheets,
            "seed": seed,
        }
    )


def _show(made: WrittenFrames, out: Output) -> None:
    per_actor = made.frames.group_by("actor", maintain_order=True).agg(
        pl.col("expression").n_unique().alias("n_transitions"), pl.len().alias("n_frames")
    )
    out.show_frame(per_actor, ["actor", "n_transitions", "n_frames"], more=f"see {made.table}")
    if made.n_kept:
        out.show(f"{plural(made.n_kept, 'transition')} of an earlier run kept")
    notes = [f"{name}: {text}" for name, text in made.notes.items()]
    left = [f"{one.name} is left out: {one.reason}" for one in made.left_out]
    for say, lines, file in (
        (out.note, notes, made.table),
        (out.warn, left, made.folder / "left_out.csv"),
    ):
        for line in lines[:5]:
            say(line)
        if len(lines) > 5:
            say(f"… and {len(lines) - 5:,} more; see {file}")
    out.show(
        f"{plural(made.frames.height, 'frame')} of {plural(made.n_transitions, 'transition')} "
        f"written to {made.table}"
    )
    out.show(f"look at them: {', '.join(map(str, made.sheets[:3]))}{_more(made.sheets)}")


def _more(sheets: tuple[Path, ...]) -> str:
    return f" and {len(sheets) - 3} more" if len(sheets) > 3 else ""


def _sampling(
    candidates: int | None,
    staircases: Path | None,
    settings: dict[str, Any],
    five: dict[str, Any],
    out: Output,
) -> Sampling:
    if candidates is not None:
        if staircases is not None or five["jnd"] is not None:
            raise InputError(
                "--candidates takes frames for staircases to come; leave out --staircases and jnd"
            )
        return Candidates(candidates, **settings)
    if staircases is not None and five["jnd"] is not None:
        raise InputError("--staircases say what 1 JND is; leave out jnd")
    known = None if staircases is None else read_jnds(staircases)
    if known is not None and (left := sum(one.n_left for one in known.values())):
        out.note(f"{left:,} staircases were not finished or are not valid, and do not count")
    return FiveFrameSampling(**settings, **five, staircases=known)


def _view(crop: str | None, size: int | None) -> View:
    if crop is None:
        return View(None, size)
    try:
        left, top, width, height = (int(part) for part in crop.split(","))
    except ValueError:
        raise InputError(
            f"--crop {crop}: expected four whole numbers, LEFT,TOP,WIDTH,HEIGHT"
        ) from None
    return View((left, top, width, height), size)


def pairs(
    out: Output,
    frames: Path,
    *,
    to: Path = Path("pairs.csv"),
    design: Annotated[dict[str, Any], OptionsOf("stimuli.pairs.design:pair_design")],
    known: Path | None = None,
    seed: int = 0,
) -> None:
    """Design the pairs of a study of expression differences: within transitions, and across.

    Every pair of frames of a sequence is compared, and frames of two expressions of the same actor,
    on as many actors as --copies says. The table that it writes is the pairs.csv of a study, whose
    sessions are given whole batches of it; what it prints is counted from that table.

    Parameters
    ----------
    frames
        Table of frames: actor, expression, place (1 the peak, the last neutral), file.
    to
        CSV file of pairs to write.
    copies
        Actors for each pair of expressions; without it half of them.
    drawn
        Frames drawn from each of two expressions.
    batches
        Number of batches; without it as many as --per-batch asks for.
    per_batch
        Pairs in a batch, about.
    known
        Table of pairs for training and golden trials: stimulus, file_a, file_b, value.
    """
    sequences = read_sequences(frames)
    told = None if known is None else read_known_pairs(known)
    with out.progress("pairs"):
        made = pair_design(sequences, seed=seed, **design)
        report = made.report()
    table = made.to_frame() if told is None else with_known_pairs(made.to_frame(), told)
    write_table(table, to)
    for name, text in report.lines():
        out.show(f"{name:<39}{text}")
    if told is not None:
        out.show(f"{'pairs with a known difference':<39}{told.height:,}, in no batch")
    for first, second, actors in report.short[:5]:
        out.note(f"{first} and {second}: on {actors} of {report.copies} actors; no more have both")
    if len(report.short) > 5:
        out.note(f"… and {len(report.short) - 5:,} more pairs of expressions")
    out.show(f"pairs written to {to}")
    n_known = 0 if told is None else told.height
    result = {**asdict(report), "n_known": n_known, "pairs": to, "seed": seed}
    out.finish(result)
