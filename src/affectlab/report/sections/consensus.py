"""Rounds of a sequential yes/no protocol."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from affectlab.core.words import count, joined, percent
from affectlab.report.page import Bullets, Paragraph, Picture, Section, Skipped
from affectlab.report.statistics import Study

__all__ = ["flow_section"]


def flow_section(study: Study) -> Section | Skipped:
    """How many items were asked about and confirmed in each round."""
    title = "Consensus flow"
    flow = study.flow
    if flow is None:
        return Skipped(
            title,
            "the answers do not look like a sequential yes/no protocol, in which an item is voted "
            "on again after a yes and never after a no.",
        )
    frame = flow.to_frame()
    words = joined(_batch_in_words(row) for row in frame.iter_rows(named=True))
    words = words[0].upper() + words[1:] + "."
    picture = Picture.of(flow, "consensus_flow", description=words)
    table = replace(flow.table(), name="consensus_flow")
    how = Paragraph(
        "The answers say to which batch each of them belongs."
        if flow.recorded
        else "The votes look as if an item was voted on again only after a yes: how many votes it "
        "has differs, and those with fewer votes mostly end in a no. If they were collected "
        "otherwise, leave this part out."
    )
    blocks = (how, Paragraph(words), picture, table, Bullets(flow.notes))
    return Section("consensus-flow", title, blocks)


def _batch_in_words(row: dict[str, Any]) -> str:
    what = "of absence " if row["kind"] == "contrastive" else ""
    asked = f"batch {row['batch']} asked about {count(row['items'])} items"
    text = f"{asked} and found confirmation {what}"
    if row["agreement"] == row["agreement"]:
        return f"{text}for {percent(row['agreement'], 2)}"
    low, high = row["agreement_low"], row["agreement_high"]
    return f"{text}for {100 * low:.1f} to {percent(high, 1)} (the votes do not say more)"
