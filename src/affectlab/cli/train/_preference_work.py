"""What the verb that learns from preferences reads and prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from affectlab.cli._output import Output
    from affectlab.models.preference_metric import (
        PreferenceMetric,
        PreferenceReport,
        TunedBartScore,
        TuningReport,
    )
    from affectlab.ratings import Ratings

__all__ = ["read_examples", "show_logistic", "show_tuned", "texts_of"]


def read_examples(text: str | None) -> list[int] | None:
    """Read numbers of pairs between commas."""
    from affectlab.core.errors import InputError

    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise InputError(f"--examples {text!r} is not understood; expected numbers such as 16,32")
    return sorted({int(part) for part in parts})


def texts_of(
    file: Path | None, judged: Ratings, cluster: str | None
) -> tuple[pl.DataFrame, str | None]:
    """Read the table of texts, or that of the stimuli; and the column of what goes together."""
    import polars as pl

    from affectlab.core.errors import InputError

    if file is None:
        table = judged.stimuli
        if not {"option_a", "option_b"} <= set(table.columns):
            raise InputError(
                "the judgements do not hold the texts; expected --texts with the table of the study"
            )
    else:
        if not file.is_file():
            raise InputError(f"{file}: no such file; expected the table of the texts")
        try:
            table = (
                pl.read_parquet(file)
                if file.suffix.casefold() == ".parquet"
                else pl.read_csv(file, infer_schema=False)
            )
        except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
            said = " ".join(str(error).split())[:120]
            raise InputError(f"{file} cannot be read ({said}); expected CSV or Parquet") from None
    key = "item" if "item" in table.columns else "stimulus"
    if key not in table.columns:
        raise InputError(
            f"{file or 'stimuli'}: no column 'stimulus'; found {', '.join(table.columns[:12])}"
        )
    known = judged.stimuli
    lacking = [name for name in known.columns if name not in table.columns and name != "item"]
    if key == "stimulus" and lacking:
        table = table.join(
            known.select(list(dict.fromkeys(["stimulus", *lacking]))), on=key, how="left"
        )
    if cluster is None and "pair" in table.columns:
        return table, "pair"
    return table, cluster


def _parted(cluster: str | None) -> str:
    if cluster is None:
        return "Each item counts as one of its own; --cluster says which belong together."
    return f"Items that share a {cluster} are never parted."


def show_logistic(
    metric: PreferenceMetric,
    report: PreferenceReport,
    cluster: str | None,
    to: Path,
    out: Output,
) -> None:
    """Print what logistic regression found on items kept aside."""
    out.head(f"{metric.name}: logistic regression on the scores of metrics")
    out.show(_parted(cluster), *(f"- {sentence}" for sentence in report.sentences))
    frame = report.areas.rename({"value": "AUC"})
    out.show_frame(frame, ["method", "AUC", ("low", "high"), "sd_of_repeats"])
    out.show(
        "",
        "Scores are standardised, C and the single metric are chosen without the items that are "
        "scored; items are compared within a fold. Intervals are about other items and keep the "
        "fitted models.",
    )
    out.head("\nWeights of the saved metric, in log odds per standard deviation")
    out.show_frame(metric.weights(), ["metric", "weight"])
    out.show("", f"metric: {to}")


def show_tuned(
    metric: TunedBartScore,
    report: TuningReport,
    cluster: str | None,
    to: Path,
    out: Output,
) -> None:
    """Print what tuning on few pairs found on pairs kept aside."""
    out.head(f"{metric.name}: BARTScore tuned on what people chose")
    out.show(_parted(cluster), *(f"- {sentence}" for sentence in report.sentences))
    frame = report.curve.rename({"accuracy": "right", "auc": "AUC"})
    out.show_frame(frame, ["examples", "right", ("low", "high"), "gain", "AUC", "epochs"])
    taken = f"pass {metric.epoch}" if metric.epoch else "no pass: it stayed as it was"
    out.show("", f"tuned on all {metric.n_pairs} pairs ({taken}); metric: {to}")
    out.show_line(f"The folder is a checkpoint, too, for affectlab evaluate text: {to}")
