"""``affectlab train text``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import polars as pl

from affectlab.cli._output import Output, caught_warnings
from affectlab.cli.parameters import read_settings
from affectlab.core.errors import InputError
from affectlab.core.words import count, number
from affectlab.models import is_main_process, one_process
from affectlab.models.text import LabelledTexts, TextClassifier, read_labelled_texts
from affectlab.report import check_report_folder, write_text_report

_OPTIONS = ("taxonomy", "level", "name", "seed")
"""Settings of a model that are options of this verb."""
_NO_DEV = "without --dev nothing is calibrated, and labels are chosen from probability 0.5 on"


def text(
    out: Output,
    train: Path,
    *,
    dev: Path | None = None,
    backend: str = "linear",
    taxonomy: str | None = None,
    level: str | None = None,
    soft: bool = False,
    agree: int | float | None = None,
    settings: Sequence[str] = (),
    name: str | None = None,
    thresholds: Literal["per_label", "global", "top_k"] = "per_label",
    at_least_one: bool = False,
    calibration: Literal["temperature", "isotonic", "none"] = "temperature",
    figures: Path | None = None,
    report: Path | None = None,
    licence: str | None = None,
    set_aside: bool = False,
    to: Path,
    seed: int = 0,
) -> None:
    """Train a model that says which emotions a text expresses.

    Choose everything on dev; keep a test split aside until the model is finished.

    Parameters
    ----------
    train
        Texts with labels: GoEmotions TSV or raw CSV, a table with columns text and labels, or
        ratings of texts.
    dev
        Texts kept aside, in any of these forms: calibration and thresholds are fitted to them.
    backend
        What computes the scores; linear needs no torch.
    taxonomy
        Taxonomy of the labels: a name or a TOML file. By default told by the labels.
    level
        Train on the groups of this level alone, such as ekman. By default labels and groups of all
        levels are trained together.
    soft
        Train on the share of raters who chose each label.
    settings
        A setting of the back end, such as cost=0.5; may be given again.
    name
        Name of the model as a rater; by default that of the folder.
    thresholds
        How labels are chosen from probabilities.
    figures
        Folder for reliability diagrams on dev (PNG, SVG).
    report
        Folder for a report: results on dev, confusions, words, a map, the model card.
    to
        Folder for the model.

    Other Parameters
    ----------------
    agree
        Number of raters (2), or share of them (0.5), that makes a label true. By default 2 where
        most texts have several raters.
    at_least_one
        Every text gets a label.
    calibration
        What makes probabilities true.
    licence
        Licence of the model, for its card.
    set_aside
        Leave out rows that cannot be used, and count them.
    """
    # Of several processes that train together, the first alone prints and writes.
    speaks = is_main_process()
    out.quiet = out.quiet or not speaks
    if figures is not None and dev is None:
        raise InputError("--figures draws what is measured on dev; expected --dev as well")
    if soft and agree is not None:
        raise InputError(
            "agree says when a label is true, and --soft trains on shares as they are; expected "
            "one of the two"
        )
    if report is not None:
        if dev is None:
            raise InputError("--report shows what is measured on dev; expected --dev as well")
        check_report_folder(report)
    options: dict[str, Any] = {
        "soft": soft,
        "agree": agree,
        "on_bad": "set_aside" if set_aside else "raise",
    }
    TextClassifier.check_folder(to)
    started = perf_counter()
    with out.progress(f"reading {train}") as progress, caught_warnings() as warned:
        data = read_labelled_texts(train, taxonomy=taxonomy, **options)
        aside = None
        if dev is not None:
            aside = read_labelled_texts(dev, taxonomy=data.taxonomy, **options)
        model = TextClassifier.make(
            backend,
            taxonomy=data.taxonomy,
            level=level,
            seed=seed,
            name=name or to.resolve().name,
            **read_settings(settings, _OPTIONS),
        )
        if not model.shares_training:
            one_process(f"training of the back end {backend!r}")
        beside = None if aside is None else (aside.texts, aside.targets)
        model.fit(
            data.texts,
            data.targets,
            dev=beside,
            tune=False,
            source=data.source,
            progress=progress,
        )
        if aside is not None:
            model.tune(
                aside.texts,
                aside.targets,
                calibrate=calibration,
                decision=thresholds,
                at_least_one=at_least_one,
                source=aside.source,
                split=aside.split,
                progress=progress,
            )
        if licence is not None:
            model.training["licence"] = licence
        model.save(to)
    if not speaks:
        return
    seconds = perf_counter() - started
    notes = [f"{part.source}: {note}" for part in (data, aside) if part for note in part.notes]
    _show(out, model, data, aside, seconds, to)
    if figures is not None and aside is not None:
        from affectlab.report import draw_reliability

        draw_reliability(model, aside, figures)
        out.show(f"figures: {figures}")
    page = None
    if report is not None and aside is not None:
        with out.progress("writing the report") as progress:
            page = write_text_report(
                model, report, train=data, dev=aside, seed=seed, progress=progress
            ).html
        out.show(f"report: {page}")
    out.show(f"model: {to}; its card: {to / 'README.md'}")
    for note in notes:
        out.note(note)
    out.finish(
        {
            "model": to,
            "report": page,
            "backend": model.backend,
            **{name: getattr(model, name) for name in ("name", "labels")},
            "taxonomy": model.taxonomy.name,
            "n_train": len(data),
            "n_dev": None if aside is None else len(aside),
            "seconds": seconds,
            "decisions": {key or "labels": r.to_dict() for key, r in model.decisions.items()},
            "calibration": {
                key or "labels": {"kind": s.kind, "temperature": s.temperature}
                for key, s in model.scalings.items()
            },
            "dev": {key or "labels": tuned.summary() for key, tuned in model.tuning.items()},
            "early_stopping": model.training.get("early_stopping", []),
            "notes": notes,
        },
        () if aside is not None else (_NO_DEV,),
        doubts=warned,
    )


def _show(
    out: Output,
    model: TextClassifier,
    data: LabelledTexts,
    aside: LabelledTexts | None,
    s: float,
    folder: Path,
) -> None:
    out.head(
        f"{model.name}: {model.backend}, trained on {count(len(data))} texts of {data.source} "
        f"in {number(s, 1)} s"
    )
    if aside is None:
        return

    out.show(
        f"On {aside.source} ({count(len(aside))} texts), cross-fitted: thresholds from one half, "
        "judged on the other"
    )
    levels = pl.DataFrame(
        [
            {
                "level": level or "labels",
                "n_labels": len(tuned.labels),
                "macro F1": tuned.macro_f1,
                "micro F1": tuned.micro_f1,
                "exact match": tuned.exact_match,
                "pooled ECE": tuned.ece,
                "classwise": tuned.mean_classwise_ece,
                "largest": tuned.worst_said,
            }
            for level, tuned in model.tuning.items()
        ]
    )
    out.show_frame(levels, levels.columns)
    if model.training.get("early_stopping"):
        networks = "; ".join(model.training["early_stopping"])
        out.show(f"These texts also stopped training early ({networks}): the results are too good")
    if model.tuning[""].shares:
        out.show(model.tuning[""].truth_said)
    rule = model.decision()
    per_label = model.tuning[""].to_frame()
    if rule.thresholds:
        per_label = per_label.insert_column(1, pl.Series("threshold", rule.thresholds))
    out.show(f"\nLabels are chosen by {rule.said()}; probabilities: {model.scalings[''].kind}")
    out.show_frame(per_label, per_label.columns, more=f"all stand in {folder / 'README.md'}")
