"""The model card: what a model was made of, what it is worth, and what it is not for."""

from __future__ import annotations

from pathlib import Path

from affectlab._version import __version__
from affectlab._words import count, joined, number, plural
from affectlab.models.text._base import TextClassifier
from affectlab.models.text._tuning import LevelTuning

__all__ = ["card_text", "model_card", "write_card"]


def write_card(model: TextClassifier, folder: Path, name: str) -> Path:
    """Write the model card as README.md, for a folder that will have this name."""
    path = folder / "README.md"
    path.write_text(card_text(model, name or "."), encoding="utf-8", newline="\n")
    return path


def card_text(model: TextClassifier, folder: str = "DIR") -> str:
    """Give the model card as Markdown."""
    said = model_card(model)
    parts = [
        f"# {model.name}",
        said["Model"],
        "## Data",
        said["Data"],
        "## Thresholds and calibration",
        *_rules(model),
        "## Results on dev",
        *_results(model),
        "## Use",
        f"```sh\naffectlab rate text FILE --model {folder} --out ratings.parquet\n```",
        said["Answers"],
        f"**Intended use**: {_small(said['Intended use'])}",
        f"**Not for**: {_small(said['Not for'])}",
        "## Limits",
        "\n".join(f"- {sentence}" for sentence in _limits(model)),
        "## Licence",
        said["Licence"],
        "## Settings",
        "```text\n" + "\n".join(f"{key} = {value}" for key, value in _settings(model)) + "\n```",
    ]
    return "\n\n".join(parts) + "\n"


def model_card(model: TextClassifier) -> dict[str, str]:
    """Say in words what a model was made of, what it is for, and what it is not.

    Parameters
    ----------
    model
        A trained model.

    Returns
    -------
    dict
        Part of the card to its text: Model, Data, Thresholds and calibration, Answers, Intended
        use, Not for, Limits, Licence, Settings. Results stand in ``model.tuning``.

    Examples
    --------
    >>> from affectlab.models.text import TextClassifier
    >>> model = TextClassifier.make("linear", taxonomy="ekman", name="mood")
    >>> _ = model.fit(["so happy", "so scared"], ["joy", "fear"], source="posts.csv")
    >>> model_card(model)["Data"][:38]
    'Trained on 2 texts of posts.csv, with '
    """
    return {
        "Model": f"Text emotion model, back end `{model.backend}`, "
        f"{plural(len(model.labels), 'label')} of `{model.taxonomy.name}`. Written by affectlab "
        f"{__version__}.",
        "Data": _data(model),
        "Thresholds and calibration": " ".join(
            sentence.removeprefix("- ").rstrip(".") + "."
            for part in _rules(model)
            for sentence in part.splitlines()
        ),
        "Answers": "The answers are ratings: a probability of every label for every text, and the "
        "labels that the thresholds choose (column `chosen`). Compare them with people on texts of "
        "the kind the model is meant for before relying on them.",
        "Intended use": "Studying how emotions are expressed in many texts like those it was "
        f"trained on ({model.training.get('source') or 'see above'}), where single mistakes do not "
        "matter.",
        "Not for": "Decisions about single persons, diagnosis, or judging what somebody feels. A "
        "text shows what readers see in it, not what its author felt.",
        "Limits": " ".join(_limits(model)),
        "Licence": _licence(model),
        "Settings": "; ".join(f"{key} = {value}" for key, value in _settings(model)),
    }


def _small(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _licence(model: TextClassifier) -> str:
    stated = str(model.training.get("licence") or "")
    if stated:
        return f"{stated}, as stated by whoever trained it."
    return (
        "Not chosen yet. State here the licence of the model, and check that of the training data."
    )


def _settings(model: TextClassifier) -> list[tuple[str, object]]:
    return [
        *model.settings().items(),
        ("levels", ", ".join(model.plan.levels) or "none"),
        ("group_scores", model.group_scores),
        ("seed", model.seed),
    ]


def _data(model: TextClassifier) -> str:
    training = model.training
    targets = "shares of raters" if training.get("soft") else "labels"
    counts = training.get("texts_per_label", {})
    least = sorted(counts.items(), key=lambda entry: entry[1])[:3]
    said = [f"{label} ({count(value)})" for label, value in least]
    return (
        f"Trained on {count(training.get('n_texts', 0))} texts of "
        f"{training.get('source') or 'an unnamed source'}, with {targets} as targets. Rarest: "
        f"{joined(said)}."
    )


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
    said = " ".join(filter(None, [head, *_flattered(model), first.truth_said]))
    rows = [
        "| level | labels | macro F1 | of cuts | macro precision | macro recall | micro F1 | "
        "exact match | pooled ECE | uncalibrated | classwise ECE | uncalibrated | largest |",
        "|---|--:|--:|:-:|--:|--:|--:|--:|--:|--:|--:|--:|:--|",
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
            number(tuned.mean_classwise_ece, 4),
            number(tuned.mean_classwise_ece_before, 4),
            tuned.worst_said.replace("|", "\\|"),
        ]
        rows.append("| " + " | ".join(cells) + " |")
    notes = (
        "ECE, the expected calibration error, is the gap between probabilities and the share of "
        "texts with the label, over 15 bins. Pooled, all labels share the bins: where most "
        "probabilities are near 0 it is small for any model. Classwise is the mean over labels of "
        "the error of each; the largest is named."
    )
    parts = [said, "\n".join(rows), notes]
    if len(model.tuning) > 1:
        parts.append(
            "Each level has thresholds of its own, which are the best for macro F1 at that level: "
            "the groups chosen for a text need not be those of the labels chosen for it. "
            "`--coherent` (`coherent=True`) gives the groups of the chosen labels."
        )
    return [*parts, *[_table(model, level) for level in model.tuning]]


def _flattered(model: TextClassifier) -> list[str]:
    """Say what makes the results on dev too good."""
    said = [f"Warning: {words}." for words in model.training.get("warnings", [])]
    said += [
        f"The texts of dev also stopped training early ({words}): they had a say in the weights, "
        "so that cross-fitted results are too good as well."
        for words in model.training.get("early_stopping", [])
    ]
    return said


def _table(model: TextClassifier, level: str) -> str:
    tuned: LevelTuning = model.tuning[level]
    rule = model.decisions[level]
    rows = [
        f"### {level[:1].upper() + level[1:] if level else 'Labels'}\n",
        "| label | threshold | precision | recall | F1 | texts in dev | ECE |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    limits = rule.thresholds or (float("nan"),) * len(rule.labels)
    errors = tuned.classwise_ece or (float("nan"),) * len(rule.labels)
    figures = (tuned.precision, tuned.recall, tuned.f1)
    for row in zip(tuned.labels, limits, *figures, tuned.support, errors, strict=True):
        label, limit, *values, support, error = row
        cells = [str(label).replace("|", "\\|"), number(limit, 3)]
        cells += [number(value, 3) for value in values]
        rows.append("| " + " | ".join([*cells, count(support), number(error, 3)]) + " |")
    return "\n".join(rows)


def _limits(model: TextClassifier) -> list[str]:
    said = _flattered(model)
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
        said.append(f"Weakest labels on dev (F1): {joined(weak)}.")
        rare = [label for label, n in zip(tuned.labels, tuned.support, strict=True) if n < 50]
        if rare:
            said.append(
                f"Fewer than 50 texts in dev, so that threshold and result are uncertain: "
                f"{joined(rare)}."
            )
    said += [
        "Languages, times, places and groups of people other than those of the training data "
        "are untested.",
        "Irony, context outside the text and pictures are not seen.",
    ]
    return said
