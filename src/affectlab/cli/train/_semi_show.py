"""What ``affectlab train semi`` prints, writes and draws."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from affectlab.cli._output import Output
from affectlab.cli.train._image_runs import show_measures
from affectlab.core.errors import InputError
from affectlab.core.words import number, percent

__all__ = ["draw", "show", "write_history"]

_PSEUDO = {"acc": "pseudo_accuracy", "ecc": "pseudo_ecc", "emc": "pseudo_emc"}


def write_history(history: Sequence[Mapping[str, float]], file: Path) -> None:
    """Write one row for each epoch; what it did not reach is empty.

    Raises
    ------
    InputError
        When the file cannot be written.
    """
    columns = list(dict.fromkeys(name for entry in history for name in entry))
    try:
        with file.open("w", newline="", encoding="utf-8") as held:
            writer = csv.writer(held, lineterminator="\n")
            writer.writerow([name.replace(" ", "_") for name in columns])
            for entry in history:
                cells = [entry.get(name, float("nan")) for name in columns]
                writer.writerow(
                    [
                        "" if cell != cell else int(cell) if name == "epoch" else cell
                        for name, cell in zip(columns, cells, strict=True)
                    ]
                )
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror or error}") from None


def show(out: Output, result: Mapping[str, Any], kept: Mapping[str, float]) -> None:
    """Print what was reached."""
    out.head(
        f"{result['name']}: {len(result['labels'])} labels, {result['n_labelled']:,} labelled and "
        f"{result['n_unlabelled']:,} unlabelled images, {result['backbone']}, "
        f"{result['strategy']}"
    )
    sides: list[tuple[str, int, Mapping[str, float]]] = []
    if result["n_dev"]:
        sides.append(("dev", result["n_dev"], result["dev"]))
    if result["test"] is not None:
        sides.append(("test", result["n_test"], result["test"]))
    pseudo = {name: kept[column] for name, column in _PSEUDO.items() if column in kept}
    if pseudo:
        sides.append(("pseudo-labels", result["n_unlabelled"], pseudo))
    if sides:
        show_measures(out, sides)
    said = []
    if "utilisation" in kept:
        said.append(f"{percent(kept['utilisation'])} of unlabelled images counted")
    if "threshold" in kept:
        said.append(f"threshold {number(kept['threshold'], 3)}")
    if result["switched_at"] not in (None, 1):
        said.append(f"the loss changed in epoch {result['switched_at']}")
    if said:
        out.show(f"epoch {result['best_epoch']} of {result['epochs']}: {'; '.join(said)}")


def draw(histories: Mapping[str, Sequence[Mapping[str, float]]], folder: Path) -> list[Path]:
    """Draw what the histories hold, and give the pictures."""
    import polars as pl

    from affectlab.report import draw_figure, save_figure

    figures = {
        "threshold": ("Threshold", {"threshold": "threshold (mean over classes)"}),
        "utilisation": (
            "Use of unlabelled images",
            {"utilisation": "share of unlabelled examples that count"},
        ),
        "quality": (
            "Quality of pseudo-labels",
            {"pseudo_accuracy": "ACC", "pseudo_ecc": "ECC", "pseudo_emc": "EMC"},
        ),
    }
    drawn = []
    for file, (title, values) in figures.items():
        column = next(iter(values))
        runs = {
            run: entries
            for run, entries in histories.items()
            if any(column in entry for entry in entries)
        }
        if not runs:
            continue
        last = "; ".join(
            f"{run}: {number(entries[-1].get(column, float('nan')))}"
            for run, entries in runs.items()
        )
        rows = [{"run": run, **entry} for run, entries in runs.items() for entry in entries]
        page = draw_figure("epochs", pl.DataFrame(rows, infer_schema_length=None), values=values)
        png, _ = save_figure(
            page, folder, file, title=title, description=f"In the last epoch, {last}."
        )
        drawn.append(png)
    return drawn
