"""What ``affectlab train heads`` says once heads are trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from affectlab.cli._output import Output
from affectlab.cli.train._heads_data import HeadData
from affectlab.cli.train._heads_show import draw, shown_heads, write_dev_report
from affectlab.core.words import joined, plural

if TYPE_CHECKING:
    import polars as pl

    from affectlab.models.heads import HeadBank

__all__ = ["Asking", "finish", "learning_notes"]

_FEW = 100
"""Rows that a head should have learned from, at least."""
_SMALL_PART = 0.25
"""Share of the rated rows that balancing should leave, at least."""
_LAST = 0.02
"""Share of the epochs that are the last ones."""


@dataclass(frozen=True)
class Asking:
    """What was asked for beside the data."""

    to: Path
    how: Literal["median", "mean"]
    figures: Path | None
    report: Path | None
    seed: int


def finish(
    out: Output,
    bank: HeadBank,
    data: HeadData,
    found: pl.DataFrame | None,
    asked: Asking,
    seconds: float,
    warned: list[str],
) -> None:
    """Print, draw and report."""
    shown_heads(out, bank, data, found, seconds)
    if asked.figures is not None and data.dev is not None:
        draw(bank, data.dev, asked.how, asked.figures)
        out.show(f"figures: {asked.figures}")
    page = None
    if asked.report is not None and data.dev is not None:
        with out.progress("writing the report") as progress:
            page = write_dev_report(bank, data.dev, asked.report, asked.seed, progress)
        out.show(f"report: {page}")
    out.show(f"model: {asked.to}; its card: {asked.to / 'README.md'}")
    data.notes += [*learning_notes(bank.stages[-1], bank.labels), *_judging_notes(found)]
    if data.dev is None:
        data.notes.append("without --held-out or --dev nothing says how good the heads are")
    if bank.neutral is None:
        data.notes.append(
            "the heads are not calibrated on neutral stimuli; affectlab calibrate does it"
        )
    out.finish(
        {
            "model": asked.to,
            "report": page,
            "name": bank.name,
            "taxonomy": bank.taxonomy.name,
            "labels": bank.labels,
            "encoder": None if bank.encoder is None else bank.encoder.to_dict(),
            "shape": list(bank.shape.hidden),
            "parameters_per_head": bank.shape.n_parameters(bank.width or 1),
            "binarised": bank.binarised,
            "stages": [
                {key: value for key, value in stage.items() if not key.endswith("_loss")}
                | {"best_loss": stage["best_loss"]}
                for stage in bank.stages
            ],
            "scale": bank.scale_map.said,
            "neutral": None if bank.neutral is None else bank.neutral.to_dict(),
            "held_out": data.held_out,
            "dev": found,
            "mean_spearman": None if found is None else found["spearman"].mean(),
            "n_defined": None if found is None else found["spearman"].count(),
            "seconds": seconds,
            "notes": data.notes,
        },
        data.notes,
        doubts=[*data.doubts, *warned],
    )


def _judging_notes(found: pl.DataFrame | None) -> list[str]:
    """Say which labels have no rank correlation, and why."""
    if found is None:
        return []
    undefined = found.filter(found["status"].is_not_null())
    parts = undefined.partition_by("status", maintain_order=True)
    return [
        f"no rank correlation for {joined(part['label'])}: {part['status'][0]}" for part in parts
    ]


def learning_notes(stage: Mapping[str, Any], labels: tuple[str, ...]) -> list[str]:
    """Say which heads saw little, or were not done.

    Parameters
    ----------
    stage
        What the last stage of training did.
    """
    few, drawn, going = [], [], []
    for place, label in enumerate(labels):
        learned = stage["rows_per_head"][place]
        used = learned + stage["validation_rows_per_head"][place]
        if not learned:
            continue
        if learned < _FEW:
            few.append((learned, label))
        if stage["cap"] is not None and used < _SMALL_PART * stage["n_rated"][place]:
            drawn.append(label)
        if stage["best_epoch"][place] > (1 - _LAST) * stage["epochs"]:
            going.append(label)
    notes = []
    if few:
        least, label = min(few)
        notes.append(
            f"{_those(len(few), labels)} learned from fewer than {_FEW} rows, {label} from "
            f"{least}: rate more stimuli"
            + (", or take more of them with --cap 0" if stage["cap"] is not None else "")
        )
    if drawn and not stage["binarised"]:
        notes.append(
            f"for {_those(len(drawn), labels)} balancing left less than a quarter of the rated "
            "rows; --cap 0 takes all"
        )
    if going:
        notes.append(
            f"{_those(len(going), labels)} got better up to the end of {stage['epochs']} epochs: "
            "take more with --epochs, or a higher --learning-rate"
        )
    return notes


def _those(n: int, labels: tuple[str, ...]) -> str:
    return f"{n} of {plural(len(labels), 'head')}"
