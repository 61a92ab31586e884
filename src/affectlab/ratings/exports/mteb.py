"""MTEB: how well people do a task of the Massive Text Embedding Benchmark."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.types import Floats
from affectlab.core.words import option
from affectlab.ratings.derived import RatingsBase, used_rows, with_label
from affectlab.ratings.exports.export import Export, ratings_export, write_json
from affectlab.ratings.scale import Scale, folded
from affectlab.ratings.schema import HUMAN_KINDS

_NAME, _REVISION = "Human", "human_evaluation"


@ratings_export("mteb", "MTEB: scores of people on a task, as results of a model called Human")
class Mteb(Export):
    """Scores of people beside known answers, in the form of results of MTEB.

    ``Human/human_evaluation`` holds ``model_meta.json`` and one file for the task. Of categories
    the score is the share of right answers (``accuracy``), beside macro and weighted F1; of numbers
    it is the correlation with the known ones (``spearman``, ``pearson``). The main score is the
    mean over people, each of whom is an entry of ``scores_per_experiment``; people of whom a score
    is not defined are left out.
    Answers of models are not written: MTEB runs models itself.

    Parameters
    ----------
    truth
        Attribute of the stimuli with the known answers.
    task
        Name of the task in MTEB; by default the label, or what the attribute is called.
    label
        Label whose answers count; needed where there are several.
    split, language
        Split of the task, and language and script of its texts.

    Notes
    -----
    Source: the documentation of MTEB, ``TaskResult``, and the results of people in its repository
    of results (HUME: El Assadi et al. 2025, arXiv:2510.10062).
    """

    truth: str = "truth"
    task: str = ""
    label: str = ""
    split: str = "test"
    language: str = "eng-Latn"

    def write(self, ratings: RatingsBase, path: Path) -> None:
        label = self._label(ratings)
        scale = ratings.scales[label]
        scores = _scores(self._answers(ratings, label), _known(ratings, self.truth, scale), scale)
        if not scores:
            raise InputError(
                f"of no person a score can be computed; expected answers of people to stimuli with "
                f"a known answer ({option('truth', self.truth)})"
            )
        means = {name: float(np.mean([one[name] for one in scores])) for name in scores[0]}
        entry = {
            **means,
            "main_score": next(iter(means.values())),
            "scores_per_experiment": scores,
            "hf_subset": "default",
            "languages": [self.language],
        }
        named = self.task or (label if ratings.has_labels else self.truth)
        content = {
            "dataset_revision": _REVISION,
            "task_name": named,
            "mteb_version": None,
            "scores": {self.split: [entry]},
            "evaluation_time": None,
            "kg_co2_emissions": None,
        }
        about = {
            "name": _NAME,
            "revision": _REVISION,
            "languages": [self.language],
            "modalities": ["text"],
        }
        folder = path / _NAME / _REVISION
        file = re.sub(r"[^\w-]", "", named) or "task"
        write_json(folder / f"{file}.json", content)
        write_json(folder / "model_meta.json", about)

    def _label(self, ratings: RatingsBase) -> str:
        names = list(ratings.scales)
        if self.label and self.label not in names:
            raise unknown_name("label", self.label, names)
        if not self.label and len(names) > 1:
            raise InputError(
                f"there are {len(names):,} labels ({', '.join(names[:8])}); name one "
                f"('{self.name},label={names[0]}')"
            )
        return self.label or names[0]

    def _answers(self, ratings: RatingsBase, label: str) -> pl.DataFrame:
        """Give the answers of people, with the name of each and of the stimulus."""
        frame = with_label(ratings.to_frame().filter(used_rows(ratings)), ratings)
        kinds = dict(zip(ratings.rater_names, ratings.rater_kinds, strict=True))
        people = [name for name, kind in kinds.items() if kind in HUMAN_KINDS]
        mine = frame.filter(pl.col("label") == label, pl.col("rater").is_in(people))
        return mine.select(pl.col("rater", "stimulus").cast(pl.String), "value").drop_nulls()


def _known(ratings: RatingsBase, truth: str, scale: Scale) -> pl.DataFrame:
    """Give the known answer of each stimulus, as a value of the scale."""
    table = ratings.stimuli
    if truth not in table.columns:
        known = [name for name in table.columns if name != "stimulus"]
        raise unknown_name("attribute of the stimuli", truth, known or ["none"])
    given = table[truth].cast(pl.String)
    if scale.categories:
        codes = {folded(name): place for place, name in enumerate(scale.categories)}
        words = given.drop_nulls().unique(maintain_order=True).to_list()
        for word in words:
            if folded(word) not in codes:
                raise unknown_name(truth, word, scale.categories)
        low = scale.low or 0.0
        values = [None if word is None else low + codes[folded(word)] for word in given.to_list()]
        known_values = pl.Series("known", values, dtype=pl.Float64)
    else:
        known_values = given.cast(pl.Float64, strict=False).alias("known")
    return pl.DataFrame([table["stimulus"].cast(pl.String), known_values]).drop_nulls()


def _scores(answers: pl.DataFrame, known: pl.DataFrame, scale: Scale) -> list[dict[str, float]]:
    """Score each person."""
    both = answers.join(known, on="stimulus", how="inner", maintain_order="left")
    people = both.partition_by("rater", maintain_order=True)
    if scale.categories or scale.kind == "binary":
        return [_of_categories(one["known"].to_numpy(), one["value"].to_numpy()) for one in people]
    methods: tuple[Literal["spearman", "pearson"], ...] = ("spearman", "pearson")
    measures = {name: pl.corr("value", "known", method=name) for name in methods}
    found = pl.concat(one.select(**measures) for one in people) if people else pl.DataFrame()
    return found.filter(pl.all_horizontal(pl.all().is_finite())).to_dicts()


def _of_categories(known: Floats, value: Floats) -> dict[str, float]:
    """Give the share of right answers and F1, mean over categories that occur and weighted."""
    classes = np.union1d(known, value)[:, None]
    true, said = known == classes, value == classes
    f1 = 2 * (true & said).sum(axis=1) / (true.sum(axis=1) + said.sum(axis=1))
    weighted = np.average(f1, weights=true.sum(axis=1))
    share = (known == value).mean()
    return {"accuracy": float(share), "f1": float(f1.mean()), "f1_weighted": float(weighted)}
