"""``affectlab stimuli pairs``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from affectlab.cli._options import JsonOption, QuietOption, SeedOption
from affectlab.cli._output import Output, write_csv
from affectlab.cli.parameters import Argument, Option

__all__ = ["pairs"]


def pairs(
    frames: Annotated[
        Path,
        Argument(
            metavar="FRAMES",
            help="Table of frames: actor, expression, place (1 the peak, the last neutral), file.",
        ),
    ],
    to: Annotated[Path, Option("--out", help="CSV file of pairs to write.", metavar="FILE")] = Path(
        "pairs.csv"
    ),
    copies: Annotated[
        int | None,
        Option(
            help="Actors for each pair of expressions; without it half of them.",
            min=1,
            show_default=False,
        ),
    ] = None,
    drawn: Annotated[int, Option(help="Frames drawn from each of two expressions.", min=1)] = 3,
    batches: Annotated[
        int | None,
        Option(
            help="Number of batches; without it as many as --per-batch asks for.",
            min=1,
            show_default=False,
        ),
    ] = None,
    per_batch: Annotated[int, Option(help="Pairs in a batch, about.", min=1)] = 200,
    known: Annotated[
        Path | None,
        Option(
            help="Table of pairs for training and golden trials: stimulus, file_a, file_b, value.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    seed: SeedOption = 0,
) -> None:
    """Design the pairs of a study of expression differences: within transitions, and across.

    Every pair of frames of a sequence is compared, and frames of two expressions of the same actor,
    on as many actors as --copies says. The table that it writes is the pairs.csv of a study, whose
    sessions are given whole batches of it; what it prints is counted from that table.

    Example: affectlab stimuli pairs frames.csv --out pairs.csv
    """
    from affectlab.stimuli import pair_design, read_sequences
    from affectlab.stimuli.pairs import read_known_pairs, with_known_pairs

    out = Output("stimuli pairs", as_json=as_json, quiet=quiet)
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
