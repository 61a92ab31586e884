"""Models in folders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from affectlab._version import __version__
from affectlab.core.errors import InputError
from affectlab.core.words import count, file_part, joined, number, plural
from affectlab.models.runs import (
    META,
    front_matter,
    load_arrays,
    read_meta,
    replacing,
    save_arrays,
    write_json,
)
from affectlab.models.text.decisions import DecisionRule, LevelTuning, Scaling
from affectlab.models.text.model import TextModel
from affectlab.models.text.settings import check_settings, check_written
from affectlab.taxonomy import Taxonomy

__all__ = [
    "card_text",
    "load_model",
    "model_card",
    "save_model",
    "write_card",
]

Model = TypeVar("Model", bound=TextModel)

_SCHEMA = "affectlab/text-model/1"
_KEYS = ("backend", "taxonomy", "labels", "settings", "levels")
_SEEN = "seen.npz"
_STALE = ("thresholds*.toml", _SEEN, "config.json", "*.safetensors")
"""Files that not every model has."""


def save_model(model: TextModel, folder: Path) -> Path:
    """Write a model; see :meth:`TextClassifier.save`."""

    model._require_fitted()
    description = {
        "schema": _SCHEMA,
        "affectlab": __version__,
        "backend": model.backend,
        "name": model.name,
        "taxonomy": model.given_taxonomy.to_toml(),
        "level": model.level,
        "levels": list(model.plan.levels),
        "group_scores": model.group_scores,
        "labels": list(model.labels),
        "seed": model.seed,
        "settings": model.settings(),
        "training": model.training,
        "decisions": {key: rule.to_dict() for key, rule in model.decisions.items()},
        "scalings": {key: scaling.to_dict() for key, scaling in model.scalings.items()},
        "tuning": {key: tuned.to_dict() for key, tuned in model.tuning.items()},
    }
    try:
        with replacing(folder, _STALE) as place:
            model._save(place)
            if model.seen is not None:
                save_arrays(place / _SEEN, {"fingerprints": model.seen})
            for key, rule in model.decisions.items():
                _write_thresholds(place, key, rule)
            write_card(model, place, folder.name)
            write_json(place / META, description)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None
    return folder


def _write_thresholds(folder: Path, level: str, rule: DecisionRule) -> None:
    """Write thresholds as ``affectlab evaluate`` reads them; a rule without any leaves no file."""
    path = folder / (f"thresholds-{file_part(level)}.toml" if level else "thresholds.toml")
    found = rule.to_thresholds()
    if found is None:
        return
    lines = [f"# {rule.said()}; fitted on {rule.fitted_on}"]
    if found.default is not None:
        lines.append(f"default = {found.default!r}")
    if found.labels:
        lines += ["", "[labels]"]
        lines += [f'"{_escaped(name)}" = {value!r}' for name, value in found.labels.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')


def load_model(backend: Callable[[str], type[Model]], folder: Path) -> Model:
    """Read a model; see :meth:`TextClassifier.load`. `backend` finds its class by name."""
    meta = read_meta(folder, _SCHEMA, _KEYS, "text model")
    found = backend(str(meta["backend"]))
    try:
        model = _made(found, meta, folder)
        if list(model.labels) != meta["labels"]:
            raise InputError("the labels are not those of the taxonomy")
        model.training = _training_of(meta["training"])
        model.decisions = {k: DecisionRule.from_dict(v) for k, v in meta["decisions"].items()}
        model.scalings = {k: Scaling.from_dict(v) for k, v in meta["scalings"].items()}
        model.tuning = {k: LevelTuning.from_dict(v) for k, v in meta["tuning"].items()}
        _check_levels(model)
    except RecursionError:
        raise InputError(
            f"{folder / META} cannot be used: brackets in brackets without end"
        ) from None
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        said = f"key {error} is missing" if isinstance(error, KeyError) else error
        raise InputError(
            f"{folder / META} cannot be used ({said}); expected what save wrote"
        ) from None
    if (folder / _SEEN).is_file():
        seen = load_arrays(folder / _SEEN).get("fingerprints")
        if seen is None or seen.ndim != 1 or seen.dtype != np.uint64:
            raise InputError(f"{folder / _SEEN}: expected the fingerprints of the training texts")
        model.seen = seen
    model._load(folder)
    model.fitted = True
    return model


def _made(found: type[Model], meta: dict[str, Any], folder: Path) -> Model:
    """Make the classifier that a folder describes, with settings that save writes alone."""
    settings = meta["settings"]
    check_settings(meta["backend"], settings, shared=False)
    shared = {name: meta[name] for name in ("level", "levels", "group_scores", "name", "seed")}
    check_settings(meta["backend"], shared)
    where = f"{folder / META}, taxonomy"
    model = found(taxonomy=Taxonomy.from_toml(meta["taxonomy"], where=where), **shared, **settings)
    check_written(settings, model.settings())
    return model


def _training_of(given: Any) -> dict[str, Any]:
    """Check what the card reads of the training."""
    found = dict(given)
    counts = found.get("texts_per_label", {})
    if not isinstance(counts, dict) or not all(isinstance(n, int | float) for n in counts.values()):
        raise InputError("training: expected a number of texts per label")
    for name in ("warnings", "early_stopping"):
        if not all(isinstance(said, str) for said in found.get(name, [])):
            raise InputError(f"training, {name}: expected sentences")
    return found


def _check_levels(model: TextModel) -> None:
    """Rules, calibration and results must be those of the levels, with their labels in order."""
    if not model.decisions.keys() == model.scalings.keys() == model.tuning.keys():
        raise InputError("decisions, scalings and tuning are not of the same levels")
    for level, rule in model.decisions.items():
        if level and level not in model.taxonomy.levels:
            raise InputError(f"there is no level {level!r}")
        labels = model.labels_at(level or None)
        said = f"level {level!r}" if level else "the labels"
        for what, own in (("rule", rule.labels), ("results", model.tuning[level].labels)):
            if own != labels:
                raise InputError(f"the {what} of {said} are not of these labels in this order")
        knots = model.scalings[level].knots
        if knots and len(knots) != len(labels):
            raise InputError(f"the calibration of {said} is of {len(knots)} labels")


# The model card: what a model was made of, what it is worth, and what it is not for.


def write_card(model: TextModel, folder: Path, name: str) -> Path:
    """Write the model card as README.md, for a folder that will have this name."""
    path = folder / "README.md"
    path.write_text(card_text(model, name or "."), encoding="utf-8", newline="\n")
    return path


def card_text(model: TextModel, folder: str = "DIR") -> str:
    """Give the model card as Markdown."""
    said = model_card(model)
    parts = [
        front_matter(
            "text-classification",
            [model.taxonomy.name],
            library=model.library,
            more=_decision(model),
        ),
        f"# {model.name}",
        said["Model"],
        "## Data",
        said["Data"],
        "## Thresholds and calibration",
        *_rules(model),
        "## Results on dev",
        *_results(model),
        "## Use",
        f"```sh\naffectlab rate {folder} FILE --out ratings.parquet\n```",
        *([_in_transformers(folder)] if model.library == "transformers" else []),
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


def _decision(model: TextModel) -> dict[str, Any]:
    """Say for programs how probabilities of the labels follow from scores, and what is chosen."""
    scaling, rule = model.scalings.get(""), model.decisions.get("")
    found: dict[str, Any] = {}
    if scaling is not None and scaling.kind == "temperature":
        found["temperature"] = scaling.temperature
    if rule is not None and rule.thresholds:
        found["thresholds"] = dict(zip(rule.labels, rule.thresholds, strict=True))
    return found


def _in_transformers(folder: str) -> str:
    return (
        "Without affectlab, the folder is a checkpoint of transformers whose outputs are the "
        "labels:\n\n```python\nfrom transformers import pipeline\n\n"
        f'read = pipeline("text-classification", "{folder}", top_k=None)\n```\n\n'
        "Where the head of this card has a `temperature` t, a score p of the pipeline stands for "
        "the probability 1 / (1 + ((1 - p) / p) ** (1 / t)). A label is chosen from its entry in "
        "`thresholds` on."
    )


def model_card(model: TextModel) -> dict[str, str]:
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


def _licence(model: TextModel) -> str:
    stated = str(model.training.get("licence") or "")
    if stated:
        return f"{stated}, as stated by whoever trained it."
    return (
        "Not chosen yet. State here the licence of the model, and check that of the training data."
    )


def _settings(model: TextModel) -> list[tuple[str, object]]:
    return [
        *model.settings().items(),
        ("levels", ", ".join(model.plan.levels) or "none"),
        ("group_scores", model.group_scores),
        ("seed", model.seed),
    ]


def _data(model: TextModel) -> str:
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


def _rules(model: TextModel) -> list[str]:
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


def _results(model: TextModel) -> list[str]:
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


def _flattered(model: TextModel) -> list[str]:
    """Say what makes the results on dev too good."""
    said = [f"Warning: {words}." for words in model.training.get("warnings", [])]
    said += [
        f"The texts of dev also stopped training early ({words}): they had a say in the weights, "
        "so that cross-fitted results are too good as well."
        for words in model.training.get("early_stopping", [])
    ]
    return said


def _table(model: TextModel, level: str) -> str:
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


def _limits(model: TextModel) -> list[str]:
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
