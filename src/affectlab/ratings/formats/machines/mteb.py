"""MTEB: scores of a model on a task of the Massive Text Embedding Benchmark."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from affectlab.ratings.files import is_numeric
from affectlab.ratings.formats.answers import Answer, Answers, Place, Record
from affectlab.ratings.formats.format import Layout, file_format

_META = "model_meta.json"


class _Task(Record):
    task_name: str
    mteb_version: str | None
    dataset_revision: str | None
    scores: dict[str, list[dict[str, Any]]]


@file_format("mteb", "results of MTEB (JSON: task_name, mteb_version, scores)")
class MtebResults(Answers):
    """The results of one model on one task of MTEB.

    Stimuli are the splits of the task, with its subset where there are several
    (``EmotionClassification test``); a score is the answer, and its name the label. The model is
    that of ``model_meta.json``, which MTEB writes beside the results, or is called as the folder
    above the revision is.

    Parameters
    ----------
    metrics
        Names of the scores to take, such as ``accuracy``.

    Notes
    -----
    Source: the documentation of MTEB, ``TaskResult``.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> task = {"task_name": "EmotionClassification", "mteb_version": "2.1",
    ...         "dataset_revision": "a",
    ...         "scores": {"test": [{"hf_subset": "default", "main_score": 0.5, "accuracy": 0.5}]}}
    >>> file = Path(tempfile.mkdtemp()) / "EmotionClassification.json"
    >>> _ = file.write_text(json.dumps(task))
    >>> r = read_ratings(file)
    >>> r.stimulus_names, r.label_names, r.value.tolist()
    (('EmotionClassification test',), ('main_score',), [0.5])
    """

    metrics: tuple[str, ...] = ("main_score",)
    record = _Task
    layout = Layout(
        {
            "stimulus": "task_name, split, scores.hf_subset",
            "rater": "model_meta.json",
            "label": "name of the score",
            "value": "scores",
        },
        others=("mteb_version", "dataset_revision"),
        unused={"evaluation_time, kg_co2_emissions": "what it cost"},
    )

    def answers_of(self, record: _Task, at: Place) -> Iterable[Answer]:
        model = at.options.rater or _model(at)
        for split, parts in record.scores.items():
            for part in parts:
                subset = part.get("hf_subset")
                named = f" {subset}" if len(parts) > 1 and subset else ""
                for metric in self.metrics:
                    value = part.get(metric)
                    if not is_numeric(value):
                        at.skip(f"{metric}: no number")
                        continue
                    yield Answer(
                        stimulus=f"{record.task_name} {split}{named}",
                        rater=model,
                        kind="model",
                        question=metric,
                        given=float(value),
                        about={"task": record.task_name, "split": split, "subset": subset},
                    )


def _model(at: Place) -> str:
    """Name the model, from the file beside the results or from the folders around them."""
    path = at.head.path.absolute()
    try:
        named = json.loads((path.parent / _META).read_text(encoding="utf-8"))["name"]
    except (OSError, ValueError, KeyError, TypeError):
        return path.parent.parent.name or at.rater
    return str(named)
