"""``affectlab train preference``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge

from affectlab.cli._output import Output, write_csv
from affectlab.cli._settings import read_settings
from affectlab.core.errors import InputError, unknown_name

if TYPE_CHECKING:
    import polars as pl

    from affectlab.core.types import Count, Device
    from affectlab.ratings import Ratings

__all__ = ["preference"]

_OF_WEIGHING = {"inner_folds": int, "cs": list}
_OF_TUNING = ("epochs", "learning_rate", "pairs_at_once")


def preference(
    ratings: Ratings,
    out: Output,
    *,
    scores: Path | None = None,
    model: str | None = None,
    texts: Path | None = None,
    context: str = "text",
    examples: Sequence[int] | None = None,
    device: Device = "auto",
    settings: Sequence[str] = (),
    name: str | None = None,
    systems: Sequence[str] | None = None,
    system: str | None = None,
    rule: Literal["majority", "plurality"] = "majority",
    cluster: str | None = None,
    folds: Annotated[int, Ge(2)] = 5,
    repeats: Count = 5,
    n_boot: Annotated[int, Ge(0)] = 1000,
    everyone: bool = False,
    to: Path,
    table: Path | None = None,
    seed: int = 0,
) -> None:
    """Learn a metric from what people prefer, and judge it on items kept aside.

    With --scores it weighs metrics, by logistic regression; with --model it tunes a BARTScore on
    few pairs. Items that belong together are never parted.

    Parameters
    ----------
    scores
        Scores of metrics (item, metric, score) to weigh, as affectlab evaluate text --out writes
        them.
    model
        In place of --scores: a BART to tune, the folder or name of a checkpoint.
    texts
        Table of the texts, for --model: stimulus, text, option_a, system_a, option_b, system_b, as
        for the study.
    context
        Column of --texts with what both texts are about.
    examples
        Numbers of pairs to tune on; by default 16,32,64, as far as there are so many.
    device
        Where to tune.
    settings
        A setting: epochs=5, learning_rate=1e-5; without --model inner_folds=3 or cs=[0.1, 1]. May
        be given again.
    name
        Name of the metric; by default that of the folder.
    systems
        The two that are compared, where there are more: human,model.
    system
        The one whose texts are good or poor; by default the model.
    rule
        What makes the verdict of an item with several votes.
    cluster
        Column that says which items belong together and are never parted; by default pair, if
        there.
    folds
        Folds of the items.
    repeats
        Times that folds are drawn anew, with --scores.
    n_boot
        Draws for intervals.
    everyone
        Take models in, too; without it only people where there are any.
    to
        Folder for the metric.
    table
        Write the table of what was judged to this CSV file.
    """
    from affectlab.evaluation import metric_scores, preferences
    from affectlab.evaluation.preference import PAIR, item_table, machine_of
    from affectlab.models.preference_metric import (
        PreferenceMetric,
        preference_features,
        preference_texts,
    )
    from affectlab.models.runs import check_folder

    if (scores is None) == (model is None):
        raise InputError("expected either --scores FILE to weigh metrics, or --model NAME to tune")
    if model is None and texts is not None:
        raise InputError("--texts is for --model; expected both or neither")
    check_folder(to)
    judged = ratings if everyone else out.panel(ratings)
    found = preferences(judged, systems=systems, rule=rule, seed=seed)
    own = _own_settings(settings, weighing=scores is not None)
    called = name or to.resolve().name
    content: dict[str, Any] = {"model": to, "name": called}
    if scores is not None:
        with out.progress(f"reading {scores}") as progress:
            items = item_table(judged)
            read = metric_scores(scores, system=machine_of(found.choices[:2], system))
            together = cluster or (PAIR if PAIR in {*items.columns, *read.columns} else None)
            features = preference_features(
                found, read, system=system, items=items, cluster=together
            )
            metric = PreferenceMetric(called, folds=folds, repeats=repeats, seed=seed, **own)
            report = metric.cross_validate(features, n_boot=n_boot, progress=progress)
            metric.fit(features).save(to)
        weights, frame = metric.weights(), report.areas
        out.head(f"{called}: logistic regression on the scores of metrics")
        out.show(_parted(together), *(f"- {sentence}" for sentence in report.sentences))
        shown = frame.rename({"value": "AUC"})
        out.show_frame(shown, ["method", "AUC", ("low", "high"), "sd_of_repeats"])
        out.show(
            "",
            "Scores are standardised, C and the single metric are chosen without the items that "
            "are scored; items are compared within a fold. Intervals are about other items and "
            "keep the fitted models.",
        )
        out.head("\nWeights of the saved metric, in log odds per standard deviation")
        out.show_frame(weights, ["metric", "weight"])
        out.show("", f"metric: {to}")
        content |= {"learner": "logistic", "weights": weights, **report.to_dict()}
        content["sentences"] = report.sentences
    else:
        from affectlab.models.preference_metric import TunedBartScore

        given = _read_texts(texts, judged)
        known = {*given.columns, *judged.stimuli.columns}
        together = cluster or (PAIR if PAIR in known else None)
        data = preference_texts(
            found, given, system=system, context=context, cluster=together, items=judged.stimuli
        )
        tuned = TunedBartScore(str(model), name=called, device=device, seed=seed, **own)
        with out.progress("tuning") as progress:
            tuning = tuned.cross_validate(
                data, examples=examples, folds=folds, n_boot=n_boot, progress=progress
            )
            tuned.fit(data, progress=progress).save(to)
        frame = tuning.curve
        out.head(f"{called}: BARTScore tuned on what people chose")
        out.show(_parted(together), *(f"- {sentence}" for sentence in tuning.sentences))
        shown = frame.rename({"accuracy": "right", "auc": "AUC"})
        out.show_frame(shown, ["examples", "right", ("low", "high"), "gain", "AUC", "epochs"])
        taken = f"pass {tuned.epoch}" if tuned.epoch else "no pass: it stayed as it was"
        out.show("", f"tuned on all {tuned.n_pairs} pairs ({taken}); metric: {to}")
        out.show_line(f"The folder is a checkpoint, too, for affectlab evaluate text: {to}")
        content |= {
            "learner": "tuned BARTScore",
            "epoch": tuned.epoch,
            "n_pairs": tuned.n_pairs,
            "settings": tuned.settings.to_dict(),
            "sentences": tuning.sentences,
            **tuning.to_dict(),
            "scores": tuning.scores,
        }
    if table is not None:
        write_csv(frame, table)
        out.show(f"table: {table}")
    out.finish({**content, "cluster": together}, (*found.notes, *ratings.warnings))


def _own_settings(settings: Sequence[str], *, weighing: bool) -> dict[str, Any]:
    """Read settings of one of the two ways to learn."""
    given = read_settings(settings, ("folds", "repeats", "seed", "name", "model", "device"))
    for key, value in given.items():
        if not weighing:
            if key in ("batch_size", "max_tokens"):
                # One is about computing alone and the other about reading: neither about tuning.
                raise unknown_name("setting", key, _OF_TUNING)
            continue
        if key not in _OF_WEIGHING:
            raise unknown_name("setting", key, _OF_WEIGHING)
        numbers = value if isinstance(value, list) else [value]
        if not isinstance(value, _OF_WEIGHING[key]) or any(
            not isinstance(one, int | float) for one in numbers
        ):
            raise InputError(f"--set: {key} {value!r} is not understood; expected numbers")
    return given


def _read_texts(file: Path | None, judged: Ratings) -> pl.DataFrame:
    """Read the table of texts; where none is given, the stimuli hold them."""
    from affectlab.core.csv import read_table

    if file is not None:
        return read_table(file, "texts")
    if not {"option_a", "option_b"} <= set(judged.stimuli.columns):
        raise InputError(
            "the judgements do not hold the texts; expected --texts with the table of the study"
        )
    return judged.stimuli


def _parted(cluster: str | None) -> str:
    if cluster is None:
        return "Each item counts as one of its own; --cluster says which belong together."
    return f"Items that share a {cluster} are never parted."
