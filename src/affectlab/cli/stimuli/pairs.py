"""``affectlab stimuli pairs``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.cli._output import Output, write_csv

if TYPE_CHECKING:
    from affectlab.core.types import Count

__all__ = ["pairs"]


def pairs(
    out: Output,
    frames: Path,
    *,
    to: Path = Path("pairs.csv"),
    copies: Count | None = None,
    drawn: Count = 3,
    batches: Count | None = None,
    per_batch: Count = 200,
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
    from affectlab.stimuli import pair_design, read_sequences
    from affectlab.stimuli.pairs import read_known_pairs, with_known_pairs

    sequences = read_sequences(frames)
    told = None if known is None else read_known_pairs(known)
    with out.progress("pairs"):
        design = pair_design(
            sequences, copies=copies, drawn=drawn, batches=batches, per_batch=per_batch, seed=seed
        )
        report = design.report()
    table = design.to_frame() if told is None else with_known_pairs(design.to_frame(), told)
    write_csv(table, to)
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
