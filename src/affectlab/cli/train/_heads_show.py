"""What ``affectlab train heads`` prints, draws and reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from affectlab.cli._output import Output, Report
from affectlab.cli.train._heads_data import HeadData

if TYPE_CHECKING:
    import polars as pl

    from affectlab.core.types import Floats
    from affectlab.models.embedding import Embeddings
    from affectlab.models.heads import HeadBank
    from affectlab.ratings import Ratings

    Dev: TypeAlias = tuple[Embeddings, Ratings]

__all__ = ["draw", "judged", "shown_heads", "write_dev_report"]


def judged(bank: HeadBank, data: HeadData, how: Literal["median", "mean"]) -> pl.DataFrame | None:
    """Compare predictions with the ratings that were kept aside; None: there are none.

    What is found stays with the bank.
    """
    from affectlab.models.heads import head_agreement

    if data.dev is None:
        return None
    found = head_agreement(*_pairs(bank, data.dev, how), bank.labels)
    rows = found.to_dicts()
    bank.judged = {"by": data.dev_said, "how": how, "steps": bank.steps, "labels": rows}
    return found


def _pairs(bank: HeadBank, dev: Dev, how: Literal["median", "mean"]) -> tuple[Floats, Floats]:
    """Predictions and ratings of what was kept aside, shape (stimuli, labels)."""
    from affectlab.models.heads import targets_from

    part = _rated(dev)
    return bank.predict(part), targets_from(dev[1], part.stimuli, bank.labels, how)


def _rated(dev: Dev) -> Embeddings:
    """The embeddings of what was rated."""
    embedded, ratings = dev
    rated = set(ratings.stimulus_names)
    return embedded.subset(name for name in embedded.stimuli if name in rated)


def shown_heads(
    out: Output, bank: HeadBank, data: HeadData, found: pl.DataFrame | None, seconds: float
) -> None:
    """Print a row for each head."""
    import polars as pl

    from affectlab.core.words import number, plural

    last = bank.stages[-1]
    out.head(
        f"{bank.name}: {plural(len(bank.labels), 'head')} on {bank.width} numbers of "
        f"{bank.encoder.name if bank.encoder else 'an encoder'}, trained in "
        f"{plural(len(bank.stages), 'stage')}, {number(seconds, 1)} s"
    )
    frame = pl.DataFrame(
        {
            "label": list(bank.labels),
            "rows": last["rows_per_head"],
            "best epoch": last["best_epoch"],
            "validation loss": last["best_loss"],
        }
    )
    if bank.neutral is not None:
        frame = frame.with_columns(pl.Series("neutral mean", bank.neutral.offsets))
    if found is not None:
        frame = frame.join(
            found.rename({"n": "judged by"}), on="label", how="left", maintain_order="left"
        )
        if not found["status"].count():
            frame = frame.drop("status")
        mean: Any = found["spearman"].mean()
        defined, n = found["spearman"].count(), found.height
        over = "" if defined == n else f" over {defined} of {plural(n, 'label')}"
        out.show(f"Judged by {data.dev_said}: mean Spearman {number(mean, 3)}{over}")
    out.show_frame(frame, frame.columns, more="all stand in the model's folder")


def draw(bank: HeadBank, dev: Dev, how: Literal["median", "mean"], folder: Path) -> None:
    """Draw ratings against predictions, a panel per label."""
    import numpy as np

    from affectlab.core.words import number
    from affectlab.models.heads import head_agreement
    from affectlab.report import draw_figure, save_figure

    predicted, targets = _pairs(bank, dev, how)
    found = head_agreement(predicted, targets, bank.labels)
    n = len(targets)
    data = {
        "label": np.repeat(bank.labels, n),
        "prediction": predicted.T.ravel(),
        "rating": targets.T.ravel(),
    }
    panels = [
        {
            "x": "prediction",
            "title": label,
            "rows": {"label": label},
            "note": f"Spearman {number(spearman)}",
        }
        for column, (label, spearman) in enumerate(found.select("label", "spearman").iter_rows())
        if not np.isnan(targets[:, column]).all()
    ]
    save_figure(
        draw_figure("scatter", data, y="rating", panels=panels, y_name="rating", share_x=True),
        folder,
        "predictions",
        title="Ratings against predictions",
        description="; ".join(f"{panel['title']}: {panel['note']}" for panel in panels),
    )


def write_dev_report(bank: HeadBank, dev: Dev, folder: Path, seed: int, progress: Report) -> Path:
    """Compare the heads with people on what was kept aside, as any model is."""
    from affectlab.report import write_report

    part = _rated(dev)
    return write_report(
        dev[1].select(stimuli=part.stimuli),
        folder,
        models=bank.rate(part),
        title=f"Heads of {bank.name} and people",
        seed=seed,
        progress=progress,
    ).html
