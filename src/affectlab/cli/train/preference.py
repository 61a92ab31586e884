"""``affectlab train preference``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from affectlab.cli._options import AllOption, SeedOption, reads_ratings
from affectlab.cli._output import Output, write_csv
from affectlab.cli.parameters import Option
from affectlab.cli.train import in_one_process
from affectlab.cli.train._preference_work import read_examples, show_logistic, show_tuned, texts_of

if TYPE_CHECKING:
    import polars as pl

    from affectlab.evaluation import Preferences
    from affectlab.ratings import Ratings

__all__ = ["preference"]

_JUDGED = "Judging"
_TUNING = "Tuning BARTScore"


@in_one_process
@reads_ratings("train preference")
def preference(
    ratings: Ratings,
    out: Output,
    to: Annotated[Path, Option("--out", "-o", help="Folder for the metric.", show_default=False)],
    scores: Annotated[
        Path | None,
        Option(
            "--scores",
            help="Scores of metrics (item, metric, score) to weigh, as affectlab evaluate text "
            "--out writes them.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str | None,
        Option(
            help="In place of --scores: a BART to tune, the folder or name of a checkpoint.",
            metavar="NAME",
            group=_TUNING,
            show_default=False,
        ),
    ] = None,
    texts: Annotated[
        Path | None,
        Option(
            help="Table of the texts, for --model: stimulus, text, option_a, system_a, option_b, "
            "system_b, as for the study.",
            metavar="FILE",
            group=_TUNING,
            show_default=False,
        ),
    ] = None,
    context: Annotated[
        str,
        Option(help="Column of --texts with what both texts are about.", group=_TUNING),
    ] = "text",
    examples: Annotated[
        str | None,
        Option(
            help="Numbers of pairs to tune on; by default 16,32,64, as far as there are so many.",
            group=_TUNING,
            show_default=False,
        ),
    ] = None,
    device: Annotated[
        Literal["auto", "cpu", "cuda", "mps"],
        Option(help="Where to tune.", group=_TUNING),
    ] = "auto",
    settings: Annotated[
        list[str] | None,
        Option(
            "--set",
            help="A setting: epochs=5, learning_rate=1e-5; without --model inner_folds=3 or "
            "cs=[0.1, 1]. May be given again.",
            metavar="KEY=VALUE",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str | None,
        Option(help="Name of the metric; by default that of the folder."),
    ] = None,
    systems: Annotated[
        str | None,
        Option(
            help="The two that are compared, where there are more: human,model.", show_default=False
        ),
    ] = None,
    system: Annotated[
        str | None,
        Option(
            help="The one whose texts are good or poor; by default the model.", show_default=False
        ),
    ] = None,
    rule: Annotated[
        Literal["majority", "plurality"],
        Option(help="What makes the verdict of an item with several votes."),
    ] = "majority",
    cluster: Annotated[
        str | None,
        Option(
            help="Column that says which items belong together and are never parted; by default "
            "pair, if there.",
            group=_JUDGED,
            show_default=False,
        ),
    ] = None,
    folds: Annotated[int, Option(help="Folds of the items.", min=2, group=_JUDGED)] = 5,
    repeats: Annotated[
        int,
        Option(help="Times that folds are drawn anew, with --scores.", min=1, group=_JUDGED),
    ] = 5,
    n_boot: Annotated[int, Option(help="Draws for intervals.", min=0, group=_JUDGED)] = 1000,
    table: Annotated[
        Path | None,
        Option(
            "--table",
            help="Write the table of what was judged to this CSV file.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    everyone: AllOption = False,
    seed: SeedOption = 0,
) -> None:
    """Learn a metric from what people prefer, and judge it on items kept aside.

    With --scores it weighs metrics, by logistic regression; with --model it tunes a BARTScore on
    few pairs. Items that belong together are never parted.

    Example: affectlab train preference judgements.csv --scores scores.csv --out metric/
    """
    from affectlab.cli._settings import read_settings
    from affectlab.core.errors import InputError
    from affectlab.evaluation import preferences
    from affectlab.models.runs import check_folder

    if (scores is None) == (model is None):
        raise InputError("expected either --scores FILE to weigh metrics, or --model NAME to tune")
    if model is None and texts is not None:
        raise InputError("--texts is for --model; expected both or neither")
    check_folder(to)
    judged = ratings if everyone else out.panel(ratings)
    pair = None if systems is None else [part.strip() for part in systems.split(",")]
    found = preferences(judged, systems=pair, rule=rule, seed=seed)
    given = read_settings(settings or (), ("folds", "repeats", "seed", "name", "model", "device"))
    called = name or to.resolve().name
    if scores is not None:
        content, frame = _weigh(
            judged, found, scores, to, called, given, out,
            system=system, cluster=cluster, folds=folds, repeats=repeats, n_boot=n_boot, seed=seed,
        )  # fmt: skip
    else:
        content, frame = _tune(
            judged, found, str(model), texts, to, called, given, out,
            system=system, cluster=cluster, folds=folds, n_boot=n_boot, seed=seed,
            context=context, examples=read_examples(examples), device=device,
        )  # fmt: skip
    if table is not None:
        write_csv(frame, table)
        out.show(f"table: {table}")
    out.finish(content, (*found.notes, *ratings.warnings))


def _weigh(
    judged: Ratings,
    found: Preferences,
    scores: Path,
    to: Path,
    name: str,
    given: dict[str, Any],
    out: Output,
    *,
    system: str | None,
    cluster: str | None,
    folds: int,
    repeats: int,
    n_boot: int,
    seed: int,
) -> tuple[dict[str, Any], pl.DataFrame]:
    from affectlab.core.errors import InputError, unknown_name
    from affectlab.evaluation import metric_scores
    from affectlab.evaluation.preference import PAIR, item_table, machine_of
    from affectlab.models.preference_metric import PreferenceMetric, preference_features

    for key, value in given.items():
        if key not in ("inner_folds", "cs"):
            raise unknown_name("setting", key, ("inner_folds", "cs"))
        kind = int if key == "inner_folds" else list
        if not isinstance(value, kind) or (
            isinstance(value, list) and any(not isinstance(c, int | float) for c in value)
        ):
            raise InputError(f"--set: {key} {value!r} is not understood; expected numbers")
    items = item_table(judged)
    with out.progress(f"reading {scores}") as progress:
        read = metric_scores(scores, system=machine_of(found.systems, system))
        # Texts on one pair belong together, where the columns say so.
        known = PAIR in {*items.columns, *read.columns}
        together = cluster or (PAIR if known else None)
        data = preference_features(found, read, system=system, items=items, cluster=together)
        metric = PreferenceMetric(name, folds=folds, repeats=repeats, seed=seed, **given)
        report = metric.cross_validate(data, n_boot=n_boot, progress=progress)
        metric.fit(data).save(to)
    show_logistic(metric, report, together, to, out)
    content = {
        "model": to,
        "name": name,
        "learner": "logistic",
        "cluster": together,
        "weights": metric.weights(),
        "sentences": report.sentences,
        **report.to_dict(),
    }
    return content, report.areas


def _tune(
    judged: Ratings,
    found: Preferences,
    model: str,
    texts: Path | None,
    to: Path,
    name: str,
    given: dict[str, Any],
    out: Output,
    *,
    system: str | None,
    cluster: str | None,
    folds: int,
    n_boot: int,
    seed: int,
    context: str,
    examples: list[int] | None,
    device: str,
) -> tuple[dict[str, Any], pl.DataFrame]:
    from affectlab.models.preference_metric import TunedBartScore, preference_texts

    table, together = texts_of(texts, judged, cluster)
    data = preference_texts(found, table, system=system, context=context, cluster=together)
    for key in ("batch_size", "max_tokens"):
        if key in given:
            # One is about computing alone and the other about reading: neither is about tuning.
            from affectlab.core.errors import unknown_name

            raise unknown_name("setting", key, ("epochs", "learning_rate", "pairs_at_once"))
    metric = TunedBartScore(model, name=name, device=device, seed=seed, **given)
    with out.progress("tuning") as progress:
        report = metric.cross_validate(
            data, examples=examples, folds=folds, n_boot=n_boot, progress=progress
        )
        metric.fit(data, progress=progress).save(to)
    show_tuned(metric, report, together, to, out)
    content = {
        "model": to,
        "name": name,
        "learner": "tuned BARTScore",
        "cluster": together,
        "epoch": metric.epoch,
        "n_pairs": metric.n_pairs,
        "settings": metric.settings.to_dict(),
        "sentences": report.sentences,
        **report.to_dict(),
        "scores": report.scores,
    }
    return content, report.curve
