"""A model that answers as people do: learned, judged, kept in a folder, and asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab._version import __version__
from affectlab.core.errors import InputError, check_choice, check_choices
from affectlab.core.types import Floats
from affectlab.evaluation.soft_labels import ANSWERS_AS
from affectlab.models.crowd import wording
from affectlab.models.crowd.classifier import CrowdClassifier
from affectlab.models.crowd.comparison import (
    CrowdComparison,
    CrowdData,
    choose_settings,
    compare_crowd_models,
    likely_places,
    people_by_name,
)
from affectlab.models.crowd.network import AVERAGED, HOWS, Shape
from affectlab.models.embedding import Embeddings, EncoderCard
from affectlab.models.heads import is_embeddings
from affectlab.models.runs import (
    META,
    HubModel,
    front_matter,
    load_arrays,
    read_meta,
    replacing,
    save_arrays,
    write_json,
)
from affectlab.ratings import Ratings, Scale, mark_training, people_or_all, stimulus_clusters

__all__ = ["CrowdModel"]

_SCHEMA = "affectlab/crowd-model/1"
_KEYS = ("name", "settings", "shape", "scale", "labels", "raters", "encoder", "comparison")
_ARRAYS = "weights.npz"


class CrowdModel(HubModel):
    """A :class:`CrowdClassifier` on embeddings, with what its answers mean.

    Made by :meth:`train` or :meth:`load`.
    """

    name: str
    classifier: CrowdClassifier
    scale: Scale
    """What people answered on."""
    labels: tuple[str, ...]
    """What was asked about; empty where there was one question without a name."""
    encoder: EncoderCard
    seen: NDArray[np.uint64]
    """Numbers for the contents of the stimuli that were learned from."""
    comparison: Mapping[str, Any]
    """Settings, measures, gains and sentences of :func:`compare_crowd_models`."""

    @classmethod
    def train(
        cls,
        ratings: Ratings,
        embeddings: Embeddings,
        *,
        how: str | None = None,
        name: str = "crowd",
        **comparing: Any,
    ) -> tuple[Self, CrowdComparison]:
        """Compare ways of learning, and learn from all answers in one of them.

        Parameters
        ----------
        ratings, embeddings
            As for :func:`compare_crowd_models`.
        how
            The way; by default that with the least log loss among those that gain over soft labels,
            and soft labels where none is shown to.
        name
            Name as a rater.
        comparing
            Options of :func:`compare_crowd_models`.

        Raises
        ------
        InputError
            As of :func:`compare_crowd_models`.
        """
        hows = {} if how is None else {"hows": [how]}
        found = compare_crowd_models(ratings, embeddings, **{**comparing, **hows})
        model = cls()
        model.name, model.encoder = name, embeddings.encoder
        known = set(embeddings.stimuli)
        people = people_or_all(ratings)
        used = people.select(stimuli=[one for one in people.stimulus_names if one in known])
        answers = people_by_name(used)
        units = answers.answers.units
        clusters = stimulus_clusters(used, comparing.get("cluster")).on(units)
        data = CrowdData.of(answers, embeddings.rows(units).astype(np.float64), clusters)
        chosen = how or _best(found)
        settings = choose_settings(data, chosen, **comparing)
        model.classifier = data.fit(np.ones(data.unit.size, np.bool_), how=chosen, **settings)
        names = answers.answers.raters
        model.classifier.raters_ = np.array([names[int(at)] for at in model.classifier.raters_])
        model.scale = answers.scale
        model.labels = answers.answers.labels if used.has_labels else ()
        model.seen = _marks(embeddings.subset(units))
        if how is None and chosen == "soft":
            found = replace(found, sentences=(*found.sentences, wording.NO_GAIN_USED))
        model.comparison = {
            "settings": dict(found.settings),
            "sentences": list(found.sentences),
            **{name: _rows_of(found.to_frame(name)) for name in ("measures", "gains")},
        }
        return model, found

    @property
    def raters(self) -> tuple[str, ...]:
        """Those whose answers were learned from."""
        return tuple(self.classifier.raters_.tolist())

    def rate(
        self, embeddings: Embeddings | Path, *, people: Sequence[str] = (), rater: str | None = None
    ) -> Ratings:
        """Predict what people answer.

        Parameters
        ----------
        embeddings
            Of the same encoder, or the folder that holds them.
        people
            Answer as each of these, ``("all",)`` for all of training: the answer that is expected
            to err least, with the person in the column ``answers_as``. Without any the
            distribution over all raters is given: the share of each category, or of yes; of levels
            their mean.
        rater
            Name of the rater; by default that of the model.

        Raises
        ------
        InputError
            When the embeddings are of another encoder, or a person is not known.
        """
        if isinstance(embeddings, Path):
            if not is_embeddings(embeddings):
                raise InputError(wording.not_embedded(embeddings))
            embeddings = Embeddings.load(embeddings)
        if embeddings.encoder.fingerprint != self.encoder.fingerprint:
            raise InputError(wording.other_encoder(embeddings.encoder, self.encoder))
        x = embeddings.rows().astype(np.float64)
        name = rater or self.name
        if people:
            found = self._as_people(x, embeddings.stimuli, people, name)
        else:
            found = self._together(x, embeddings.stimuli, name)
        known = np.isin(_marks(embeddings), self.seen)
        return mark_training(found, [embeddings.stimuli[row] for row in np.flatnonzero(known)])

    def _ratings(self, frame: pl.DataFrame, scale: Scale | str, name: str) -> Ratings:
        raters = {"rater": [name], "rater_kind": ["model"], "learned": [self.classifier.how]}
        return Ratings(frame, scale=scale, raters=pl.DataFrame(raters), source=name)

    def _as_people(
        self, x: Floats, stimuli: Sequence[str], people: Sequence[str], name: str
    ) -> Ratings:
        asked = self.raters if tuple(people) == ("all",) else tuple(people)
        check_choices("person", asked, self.raters)
        labels = self.labels or ("",)
        ordered = self.scale.kind not in ("nominal", "binary")
        nominal = self.scale.kind == "nominal"
        values = np.array(self.scale.categories if nominal else self.scale.levels())
        frames = []
        for person in asked:
            found = self._probabilities(self.classifier.predict_proba_for(x, person))
            place = likely_places(found, ordered=ordered)
            frames.append(
                pl.DataFrame(
                    {
                        "stimulus": np.repeat(stimuli, len(labels)),
                        "label": np.tile(labels, len(stimuli)),
                        "value": values[place.ravel()],
                    }
                ).with_columns(rater=pl.lit(name), **{ANSWERS_AS: pl.lit(person)})
            )
        frame = pl.concat(frames)
        return self._ratings(frame if self.labels else frame.drop("label"), self.scale, name)

    def _together(self, x: Floats, stimuli: Sequence[str], name: str) -> Ratings:
        found = self._probabilities(self.classifier.predict_proba(x))
        scale: str | Scale = "0-1 interval"
        labels = self.labels or ("",)
        if self.scale.kind == "nominal":
            if self.labels:
                raise InputError(wording.several_questions(len(self.labels)))
            labels, value = self.scale.categories, found[:, 0]
        elif self.scale.kind == "binary":
            value = found[..., 1]
        else:
            levels = self.scale.levels()
            value = found @ levels
            scale = f"{levels[0]:g}..{levels[-1]:g} interval"
        frame = pl.DataFrame(
            {
                "stimulus": np.repeat(stimuli, len(labels)),
                "label": np.tile(labels, len(stimuli)),
                "value": value.ravel(),
            }
        ).with_columns(rater=pl.lit(name))
        return self._ratings(frame.drop("label") if labels == ("",) else frame, scale, name)

    def _probabilities(self, found: Floats) -> Floats:
        """Give probabilities with an axis of labels."""
        return found.reshape(len(found), -1, found.shape[-1])

    def save(self, path: str | Path) -> Path:
        """Write the model to a folder: arrays, a description as JSON, and a card with the tables.

        Raises
        ------
        InputError
            When the folder cannot be made, or holds something else.
        """
        folder, classifier = Path(path), self.classifier
        settings = {key: one for key, one in classifier.get_params().items() if key != "classes"}
        arrays: dict[str, NDArray[Any]] = {
            f"weights.{name}": one for name, one in classifier.weights_.items()
        }
        arrays |= {
            "mean": classifier.mean_,
            "length": np.array(classifier.length_),
            "n_answers": classifier.n_answers_,
            "seen": self.seen,
        }
        meta = {
            "schema": _SCHEMA,
            "affectlab": __version__,
            "name": self.name,
            "settings": settings,
            "shape": vars(classifier.shape_),
            "scale": self.scale.to_dict(),
            "labels": list(self.labels),
            "raters": list(self.raters),
            "encoder": self.encoder.to_dict(),
            "comparison": self.comparison,
        }
        try:
            with replacing(folder) as place:
                save_arrays(place / _ARRAYS, arrays)
                card = wording.card(self, front_matter("other"), folder.name or ".")
                (place / "README.md").write_text(card, encoding="utf-8", newline="\n")
                write_json(place / META, meta)
        except OSError as error:
            raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None
        return folder

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model; nothing in the folder is executed.

        Raises
        ------
        InputError
            When the folder holds none, one of another version, or is not complete.
        """
        folder = Path(path)
        meta = read_meta(folder, _SCHEMA, _KEYS, "crowd model")
        arrays = load_arrays(folder / _ARRAYS)
        model = cls()
        try:
            shape = Shape(**meta["shape"])
            classifier = CrowdClassifier(**meta["settings"])
            check_choice("how", classifier.how, HOWS)
            check_choice("how", shape.how, (classifier.how,))
            classifier.weights_ = {
                name.removeprefix("weights."): one
                for name, one in arrays.items()
                if name.startswith("weights.")
            }
            classifier.shape_, classifier.n_features_in_ = shape, shape.n_features
            classifier.classes_ = np.arange(shape.n_classes)
            classifier.raters_ = np.array(meta["raters"], dtype=str)
            classifier.n_answers_ = arrays["n_answers"]
            classifier.mean_, classifier.length_ = arrays["mean"], float(arrays["length"])
            classifier._flat = False
            model.seen = arrays["seen"]
            model.name, model.labels = str(meta["name"]), tuple(meta["labels"])
            model.scale = Scale.from_dict(meta["scale"])
            model.encoder = EncoderCard.from_dict(meta["encoder"], f"{folder / META}, encoder")
            model.comparison = dict(meta["comparison"])
            model.classifier = classifier
            classifier.predict_proba_for(np.zeros((1, shape.n_features)), model.raters[0])
        except (KeyError, TypeError, ValueError, IndexError, RuntimeError) as error:
            said = " ".join(str(error).split())[:160]
            raise InputError(wording.unusable(folder / META, said)) from None
        return model

    @property
    def said(self) -> str:
        """What was learned from what."""
        return wording.learned(self)

    def __repr__(self) -> str:
        return f"CrowdModel({self.classifier.how}, {len(self.raters)} raters, {self.scale})"


def _best(found: CrowdComparison) -> str:
    """Choose the way with the least log loss among those that gain over soft labels."""
    better = found.gains.filter(
        pl.col("shown"), pl.col("measure") == "log loss", ~pl.col("how").is_in(AVERAGED)
    )["how"].to_list()
    ways = [how for how in dict.fromkeys(better) if better.count(how) == len(AVERAGED)]
    losses = found.measures.filter(pl.col("measure") == "log loss", pl.col("how").is_in(ways))
    return str(losses.sort("value")["how"][0]) if ways else "soft"


def _marks(embeddings: Embeddings) -> NDArray[np.uint64]:
    """Give a number for the content of each stimulus."""
    return np.array([int(one[:16], 16) for one in embeddings.hashes], dtype=np.uint64)


def _rows_of(frame: pl.DataFrame) -> list[dict[str, Any]]:
    names = ("how", "against", "measure", "value", "low", "high", "shown")
    kept = frame.select([name for name in names if name in frame.columns])
    numbers = pl.col("value", "low", "high")
    return kept.with_columns(numbers.fill_nan(None)).to_dicts()
