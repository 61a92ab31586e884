"""The model card: what a model was made of, what it is worth, and what it is not for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from affectlab._version import __version__
from affectlab._words import count, joined, number, plural

if TYPE_CHECKING:
    from affectlab.models.text._base import TextClassifier
    from affectlab.models.text._tuning import LevelTuning

__all__ = ["card_text", "write_card"]


def write_card(model: TextClassifier, folder: Path) -> Path:
    """Write the model card as README.md."""
    path = folder / "README.md"
    path.write_text(card_text(model, folder.name), encoding="utf-8", newline="\n")
    return path


def card_text(model: TextClassifier, folder: str = "DIR") -> str:
    """Give the model card as Markdown."""
    training = model.training
    parts = [
        f"# {model.name}",
        f"Text emotion model, back end `{model.backend}`, {plural(len(model.labels), 'label')} of "
        f"`{model.taxonomy.name}`. Written by affectlab {__version__}.",
        "## Data",
        *_data(model),
        "## Thresholds and calibration",
        *_rules(model),
        "## Results on dev",
        *_results(model),
        "## Use",
        f"```sh\naffectlab rate text FILE --model {folder} --out ratings.parquet\n```",
        "The answers are ratings: a probability of every label for every text, and the labels that "
        "the thresholds choose (column `chosen`). Compare them with people on texts of the kind "
        "the model is meant for before relying on them.",
        "**Intended use**: studying how emotions are expressed in many texts like those it was "
        f"trained on ({training.get('source') or 'see above'}), where single mistakes "
        "do not matter.",
        "**Not for**: decisions about single persons, diagnosis, or judging what somebody feels. A "
        "text shows what readers see in it, not what its author felt.",
        "## Limits",
        *_limits(model),
        "## Licence",
        "Not chosen yet. State here the licence of the model, and check that of the training data.",
        "## Settings",
        "```text\n" + "\n".join(f"{key} = {value}" for key, value in _settings(model)) + "\n```",
    ]
    return "\n\n".join(parts) + "\n"


def _settings(model: TextClassifier) -> list[tuple[str, object]]:
    return [
        *model.settings().items(),
        ("levels", ", ".join(model.plan.levels) or "none"),
        ("group_scores", model.group_scores),
        ("seed", model.seed),
    ]


def _data(model: TextClassifier) -> list[str]:
    training = model.training
    targets = "shares of raters" if training.get("soft") else "labels"
    counts = training.get("texts_per_label", {})
    least = sorted(counts.items(), key=lambda entry: entry[1])[:3]
    said = [f"{label} ({count(value)})" for label, value in least]
    return [
        f"Trained on {count(training.get('n_texts', 0))} texts of "
        f"{training.get('source') or 'an unnamed source'}, with {targets} as targets. Rarest: "
        f"{joined(said)}."
    ]


def _rules(model: TextClassifier) -> list[str]:
    if not model.decisions:
        return ["None are fitted: labels are chosen from probability 0.5 on. Fit them on dev."]
    rows = []
    for level, rule in model.decisions.items():
        scaling = model.scalings[level]
        by = {"none": "not calibrated", "isotonic": "calibrated by isotonic regression"}
        how = by.get(scaling.kind, f"calibrated by temperature ({scaling.temperature:.3f})")
        rows.append(
            f"- {level or 'labels'}: {rule.said()}; {how}; fitted on "
            f"{rule.fitted_on}"
            + (f"; not seen there: {joined(rule.unseen)}" if rule.unseen else "")
        )
    return ["\n".join(rows)]


def _results(model: TextClassifier) -> list[str]:
    if not model.tuning:
        return ["Not measured."]
    first = next(iter(model.tuning.values()))
    head = (
        f"Cross-fitted: calibration and thresholds are fitted on one half of dev "
        f"({count(first.n_texts)} texts) and judged on the other, both ways; means over "
        f"{first.n_splits} random cuts. dev was also used to choose settings, so a test split may "
        "show less."
    )
    rows = [
        "| level | labels | macro F1 | of cuts | macro precision | macro recall | micro F1 | "
        "exact match | ECE | before calibration |",
        "|---|--:|--:|:-:|--:|--:|--:|--:|--:|--:|",
    ]
    for level, tuned in model.tuning.items():
        cells = [
            level or "labels",
            str(len(tuned.labels)),
            number(tuned.macro_f1, 3),
            f"{number(tuned.macro_f1_low, 3)}–{number(tuned.macro_f1_high, 3)}",
            number(tuned.macro_precision, 3),
            number(tuned.macro_recall, 3),
            number(tuned.micro_f1, 3),
            number(tuned.exact_match, 3),
            number(tuned.ece, 4),
            number(tuned.ece_before, 4),
        ]
        rows.append("| " + " | ".join(cells) + " |")
    return [head, "\n".join(rows), *[_table(model, level) for level in model.tuning]]


def _table(model: TextClassifier, level: str) -> str:
    tuned: LevelTuning = model.tuning[level]
    rule = model.decisions[level]
    rows = [
        f"### {level[:1].upper() + level[1:] if level else 'Labels'}\n",
        "| label | threshold | precision | recall | F1 | texts in dev |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    limits = rule.thresholds or (float("nan"),) * len(rule.labels)
    for row in zip(
        tuned.labels, limits, tuned.precision, tuned.recall, tuned.f1, tuned.support, strict=True
    ):
        label, limit, *values, support = row
        cells = [str(label).replace("|", "\\|"), number(limit, 3)]
        cells += [number(value, 3) for value in values]
        rows.append("| " + " | ".join([*cells, count(support)]) + " |")
    return "\n".join(rows)


def _limits(model: TextClassifier) -> list[str]:
    said = []
    tuned = model.tuning.get("")
    if tuned is not None:
        seen = [
            (label, f1)
            for label, f1, n in zip(tuned.labels, tuned.f1, tuned.support, strict=True)
            if n
        ]
        weak = [
            f"{label} ({number(f1)})" for label, f1 in sorted(seen, key=lambda pair: pair[1])[:5]
        ]
        said.append(f"- Weakest labels on dev (F1): {joined(weak)}.")
        rare = [label for label, n in zip(tuned.labels, tuned.support, strict=True) if n < 50]
        if rare:
            said.append(
                f"- Fewer than 50 texts in dev, so that threshold and result are uncertain: "
                f"{joined(rare)}."
            )
    said += [
        "- Languages, times, places and groups of people other than those of the training data "
        "are untested.",
        "- Irony, context outside the text and pictures are not seen.",
    ]
    return ["\n".join(said)]
