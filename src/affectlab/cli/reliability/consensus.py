"""``affectlab reliability consensus``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from affectlab.cli._options import reads_ratings
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings
    from affectlab.reliability import ConsensusFlow

__all__ = ["consensus"]


@reads_ratings("reliability consensus")
def consensus(
    ratings: Ratings,
    out: Output,
    by_label: Annotated[bool, Option("--by-label", help="One flow per label.")] = False,
    figures: Annotated[
        Path | None,
        Option(help="Folder for the figure (PNG, SVG).", show_default=False),
    ] = None,
) -> None:
    """Follow a sequential yes/no protocol: items, share of the start and agreement per batch.

    Example: affectlab reliability consensus binary.csv --json
    """
    from affectlab.reliability import consensus_flow

    flow = consensus_flow(ratings, by_label=by_label)
    # Files first: who reads the output may leave early, as in `… | head`.
    if figures is not None:
        _figure(flow, figures)
    out.show(flow)
    if figures is not None:
        out.show(f"figure: {figures}")
    out.finish(
        {
            "batches": flow.batches,
            "start": flow.start,
            "single_positive": flow.single_positive,
            "single_negative": flow.single_negative,
            "notes": flow.notes,
        },
        ratings.warnings,
    )


def _figure(flow: ConsensusFlow, folder: Path) -> None:
    """Items of each batch, and the part that was confirmed."""
    from affectlab.report import fig_consensus_flow, save_figure

    names = [" ".join(filter(None, (b.label, f"batch {b.batch}"))) for b in flow.batches]
    parts = [(b.items, b.agreement_low, b.agreement_high) for b in flow.batches]
    save_figure(
        fig_consensus_flow(names, *([*column] for column in zip(*parts, strict=True))),
        folder,
        "consensus_flow",
        title="Consensus flow",
        description="; ".join(
            f"{name}: {batch.items:,} items"
            for name, batch in zip(names, flow.batches, strict=True)
        ),
    )
