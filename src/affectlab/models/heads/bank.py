"""Many small networks on one embedding: each scores one label, and together they are a rater."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.types import Device, Floats, pl
from affectlab.core.words import joined, plural
from affectlab.models.embedding import Embeddings, EncoderCard
from affectlab.models.heads.agreement import head_agreement
from affectlab.models.heads.calibration import (
    FEWEST,
    By,
    CalibrationDroppedWarning,
    Neutral,
    NotCalibratedWarning,
    fit_intervals,
    fit_scale_map,
)
from affectlab.models.heads.fit import StagePlan, fit_stages
from affectlab.models.heads.folder import load_bank, save_bank
from affectlab.models.heads.heads import Heads, taxonomy_of
from affectlab.models.heads.notes import judging_notes, learning_notes
from affectlab.models.heads.rows import Rows, marks_of, warn_of_seen
from affectlab.models.heads.sampling import Tied
from affectlab.models.heads.shape import HeadShape, head_shape
from affectlab.models.heads.targets import (
    HIGH,
    Aggregate,
    check_targets,
    only_yes_no,
    targets_from,
)
from affectlab.models.heads.training.stage import Report, Stage
from affectlab.models.runs import HubModel
from affectlab.ratings import Ratings, mark_training
from affectlab.taxonomy import Taxonomy

__all__ = [
    "AnsweringHeads",
    "CalibratedHeads",
    "HeadBank",
    "embedded",
    "rate_embeddings",
    "rated_part",
]

# Calibrating trained heads: to the scale of people, to neutral stimuli, and intervals.


class CalibratedHeads(Heads):
    """Heads that can be calibrated; :class:`HeadBank` says in which order."""

    def agreement(
        self, embeddings: Embeddings, ratings: Ratings, *, how: Aggregate = "median"
    ) -> pl.DataFrame:
        """Compare the heads, as they are calibrated now, with ratings.

        Parameters
        ----------
        embeddings
            Of rated stimuli; others are left out.
        ratings, how
            As for :func:`targets_from`.

        Returns
        -------
        polars.DataFrame
            As of :func:`head_agreement`.

        Raises
        ------
        InputError
            When no stimulus is rated, or the ratings are on another scale.
        """
        part = rated_part(embeddings, ratings)
        predicted = self.predict(part)
        targets = targets_from(ratings, part.stimuli, self.labels, how)
        return head_agreement(predicted, targets, self.labels)

    def judge(
        self, embeddings: Embeddings, ratings: Ratings, *, how: Aggregate = "median", by: str = ""
    ) -> pl.DataFrame:
        """Compare the heads with ratings that were kept aside, as :meth:`agreement` does, and keep
        what is found with the heads.

        Parameters
        ----------
        by
            What was kept aside, in words.
        """
        found = self.agreement(embeddings, ratings, how=how)
        self.judged = {"by": by, "how": how, "steps": self.steps, "labels": found.to_dicts()}
        return found

    @property
    def notes(self) -> list[str]:
        """What a reader should know: which heads saw little, what they were not judged by."""
        stages = learning_notes(self.stages[-1], self.labels) if self.stages else []
        return [*stages, *judging_notes(self.judged["labels"] if self.judged else ())]

    def calibrate_scale(
        self, X: Any, Y: Any, *, how: Aggregate = "median", source: str = ""
    ) -> Self:
        """Fit the map that brings scores to 0 to 7; see :class:`HeadBank`, step 1.

        Parameters
        ----------
        X, Y
            As for :meth:`fit`, with ratings 0 to 7 that the heads were not trained on.

        Raises
        ------
        InputError
            When they do not fit, or no head has ten ratings or more.
        """
        rows, targets, marks = self._rated(X, Y, how, "maps to the scale")
        warn_of_seen(marks, self.seen, "maps to the scale are fitted")
        scores = self.scores(rows.values)
        found = fit_scale_map(scores.astype(np.float64), targets, self._default_map(), source)
        few = [label for label, own in zip(self.labels, found.knots, strict=True) if own is None]
        if len(few) == len(self.labels):
            raise InputError(
                f"no head has {FEWEST} ratings or more; expected as many for a map of at least one"
            )
        flat = [
            label
            for label, own in zip(self.labels, found.knots, strict=True)
            if own is not None and len(own[0]) == 1
        ]
        for names, why in (
            (few, f"fewer than {FEWEST} ratings: the scores stay {self._default_map().said}"),
            (flat, "higher scores never go with higher ratings: the map is the mean rating"),
        ):
            if names:
                warnings.warn(f"{joined(names)}: {why}", NotCalibratedWarning, stacklevel=2)
        self._drop("the map to the scale", neutral=True)
        self.scale_map = found
        self.seen = np.union1d(self.seen, marks)
        return self

    def calibrate_neutral(self, X: Any, *, source: str = "") -> Self:
        """Subtract from each head its mean over neutral stimuli; see :class:`HeadBank`, step 2.

        Parameters
        ----------
        X
            Embeddings of stimuli that show nothing, of people of all kinds: EmoNet-Face uses 1,700
            faces over all ages, ethnicities and genders. None of them should have been trained on.

        Notes
        -----
        The mean over these stimuli becomes 0 before ratings are clipped to 0 to 7; clipped, it
        stays a little above, since what lies below 0 counts as 0. After :meth:`calibrate_scale`,
        whose map gives what people say on average, the rating of every stimulus is lower by what
        the map gives neutral stimuli.

        Raises
        ------
        InputError
            When they do not fit.
        """
        rows = self._rows(X, "the neutral stimuli")
        marks = marks_of(rows)
        warn_of_seen(marks, self.seen, "neutral means are taken")
        means = self.scale_map.apply(self.scores(rows.values)).mean(axis=0)
        self._drop("the neutral mean", neutral=False)
        self.neutral = Neutral(tuple(means.tolist()), len(rows), source)
        self.seen = np.union1d(self.seen, marks)
        return self

    def calibrate_intervals(
        self,
        X: Any,
        Y: Any,
        confidence: float = 0.9,
        *,
        by: By = "score",
        how: Aggregate = "median",
        source: str = "",
    ) -> Self:
        """Calibrate intervals for the rating of a new stimulus; see :func:`fit_intervals`.

        Parameters
        ----------
        X, Y
            As for :meth:`fit`, with ratings 0 to 7 that nothing else was fitted to.
        confidence
            Share of ratings that an interval holds, at least. A rating is what Y holds after
            `how`: the median of as many raters as Y has, and not the answer of one of them, who is
            further off.
        by
            ``"score"`` or ``"label"``.

        Raises
        ------
        InputError
            When they do not fit, or the confidence is out of range.
        """
        rows, targets, marks = self._rated(X, Y, how, "intervals")
        warn_of_seen(marks, self.seen, "intervals are fitted")
        predicted = self.predict(rows.values)
        found = fit_intervals(predicted, targets, confidence, by, source)
        without = [label for label, n in zip(self.labels, found.n, strict=True) if not sum(n)]
        if len(without) == len(self.labels):
            raise InputError("no label has a rating; expected some to calibrate intervals on")
        if without:
            warnings.warn(
                f"{joined(without)}: no ratings; intervals are the whole scale",
                NotCalibratedWarning,
                stacklevel=2,
            )
        self.intervals = found
        return self

    def _rated(
        self, X: Any, Y: Any, how: Aggregate, what: str
    ) -> tuple[Rows, Floats, NDArray[np.uint64]]:
        """Take embeddings with ratings 0 to 7, and the hashes of those that have one."""
        rows = self._rows(X)
        targets = check_targets(Y, len(rows), self.labels, rows.stimuli, how=how)
        if only_yes_no(Y, targets):
            raise InputError(
                f"{what} need ratings from 0 to 7; those given are yes/no answers, nothing but 0 "
                "and 1 or between them"
            )
        marks = marks_of(rows)[~np.isnan(targets).all(axis=1)]
        return rows, targets, marks

    def _drop(self, changed: str, *, neutral: bool) -> None:
        """Drop the calibrations that hang on one that is made anew."""
        dropped = []
        if neutral and self.neutral is not None:
            self.neutral = None
            dropped.append("the neutral mean")
        if self.intervals is not None:
            self.intervals = None
            dropped.append("the intervals")
        if dropped:
            warnings.warn(
                f"{changed} is fitted anew, and {joined(dropped)} hung on it: calibrate again",
                CalibrationDroppedWarning,
                stacklevel=3,
            )


# Heads as a rater: from images, or embeddings of them, to a table of ratings.


class AnsweringHeads(CalibratedHeads):
    """Heads that rate images; :class:`HeadBank` says how."""

    def embed(
        self,
        images: Any,
        *,
        encoder: Any = None,
        device: Device = "auto",
        cache: str | Path | None = None,
        on_bad: Literal["raise", "set_aside"] = "raise",
        progress: Report | None = None,
    ) -> Embeddings:
        """Embed images with the encoder that the heads were trained on.

        Parameters
        ----------
        images
            As :func:`affectlab.models.embedding.embed` takes them; embeddings are given back.
        encoder
            The encoder, a name of one, or the folder it lies in; by default it is loaded by the
            name on its card. One with another fingerprint is refused.
        cache, on_bad
            Of :func:`affectlab.models.embedding.embed`.

        Raises
        ------
        InputError
            When the images or the encoder cannot be used.
        """

        settings = {"cache": cache, "on_bad": on_bad}
        return embedded(self, images, encoder, device, progress, **settings)

    def rate(
        self,
        images: Any,
        *,
        rater: str | None = None,
        intervals: bool = False,
        scores: bool = False,
        encoder: Any = None,
        device: Device = "auto",
        progress: Report | None = None,
    ) -> Ratings:
        """Answer as a rater: a rating from 0 to 7 of every label for every stimulus.

        Parameters
        ----------
        images
            :class:`~affectlab.models.embedding.Embeddings`; or images, as
            :func:`~affectlab.models.embedding.embed` takes them, which the encoder embeds.
        rater
            Name of the rater; by default that of the bank.
        intervals
            Add columns ``low`` and ``high``.
        scores
            Add a column ``score``: what the head gave, before any of the three steps.
        encoder
            As for :meth:`embed`.

        Returns
        -------
        Ratings
            On the interval scale 0 to 7, ``rater_kind`` model. What was done to the scores stands
            in the rater's ``answers``, and in the history. ``n_seen`` and ``share_seen`` of the
            rater count the stimuli of training or calibration, ``in_training`` says which.

        Raises
        ------
        InputError
            When the images, the encoder or the embeddings do not fit.
        """

        self._trained()
        if intervals:
            self.check_intervals()
        found = self.embed(images, encoder=encoder, device=device, progress=progress)
        return rate_embeddings(
            self, found, rater, intervals=intervals, scores=scores, device=device
        )


class HeadBank(HubModel, AnsweringHeads):
    """Heads that turn an embedding into ratings from 0 to 7, one head for each label.

    What a head gives is a score; three steps make a rating of it, in this order:

    1. **Scale**: a rising map brings the score to 0 to 7. Heads that were trained on ratings are
       there already; binarised heads, trained on 0/1, are multiplied by 7 until
       :meth:`calibrate_scale` fits a map to ratings.
    2. **Neutral**: the mean of the mapped scores over neutral stimuli is subtracted
       (:meth:`calibrate_neutral`). It comes after the map so that it is a number of points on the
       scale of people, and so that the mean over neutral stimuli is 0 whatever the map is.
    3. **Clipping** to 0 to 7. It comes last: a rating below neutral is no rating below 0.

    Calibrating a step again drops those after it, with a warning, since they hung on it.

    Parameters
    ----------
    taxonomy
        Taxonomy of the labels.
    labels
        The heads: labels of the taxonomy, in the order of columns. By default all.
    encoder
        Card of the encoder whose embeddings are scored; None: taken from the first embeddings.
        Embeddings of another encoder are refused.
    shape
        Layers of a head.
    binarised
        Train on whether an emotion is there (from half a point on) in place of how much of it.
    name
        Name as a rater.
    seed
        For initial weights, choice of rows, order and dropout.

    References
    ----------
    Schuhmann et al. (2025), EmoNet-Face, section 4 and appendix B.2.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 8)).astype(np.float32)
    >>> Y = np.clip(3.5 + 2 * X[:, :2], 0, 7)
    >>> bank = HeadBank.make(["joy", "fear"], shape=HeadShape((16,)))
    >>> stage = Stage(epochs=60, learning_rate=0.01, batch=32)
    >>> bank.fit(X, Y, stage=stage).predict(X[:5]).shape
    (5, 2)
    """

    @classmethod
    def make(
        cls,
        labels: str | Path | Taxonomy | Sequence[str] = "emonet_face",
        encoder: EncoderCard | None = None,
        *,
        shape: str | HeadShape = "small",
        **settings: Any,
    ) -> Self:
        """Make a bank from names.

        Parameters
        ----------
        labels
            A taxonomy, its name or file; or a list of names.
        shape
            ``"small"``, ``"big"`` or a shape of your own.
        settings
            Others of the constructor.

        Raises
        ------
        InputError
            When a name is not known.

        Examples
        --------
        >>> HeadBank.make(shape="big", binarised=True)
        HeadBank(40 labels of emonet_face, 1024-512-256-1, binarised, not trained)
        """

        return cls(taxonomy_of(labels), encoder=encoder, shape=head_shape(shape), **settings)

    # -- training --------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        Y: Any,
        *,
        stage: Stage | None = None,
        cap: float | None = 0.25,
        validation: float = 0.05,
        how: Aggregate = "median",
        tied: Tied = "present",
        device: Device = "auto",
        checkpoints: str | Path | None = None,
        source: str = "",
        progress: Report | None = None,
    ) -> Self:
        """Train in one stage.

        Parameters
        ----------
        X
            :class:`~affectlab.models.embedding.Embeddings`, or an array of shape (n, width),
            float16 or float32; a memory map is read in parts.
        Y
            Ratings 0 to 7, or yes/no answers where the heads are binarised:
            :class:`~affectlab.ratings.Ratings` (aligned by stimulus and label), a data frame with a
            column per label, or an array of shape (n, heads); ``nan`` where there is no rating.
        stage
            Epochs, learning rate and so on; dropout is that of the shape. By default up to 200
            epochs, fewer where the validation loss has not fallen for 30.
        cap, validation
            Of :func:`balanced_rows`: the largest share of the mean bucket that is taken from a
            bucket, and the share of every bucket that is kept for validation. Stimuli with the same
            embedding are copies, and are not on both sides.
        how
            How several raters become one number; see :func:`targets_from`.
        tied
            What binarised heads learn where raters are divided in half, at 0.5 between a yes and a
            no: that the emotion is ``"present"``, as 0.5 is rounded; ``"absent"``; or nothing,
            ``"leave_out"``. In EmoNet-Face Binary this is a fifth of all that is not a no, and the
            paper does not say what was done with it.
        device
            ``"auto"``, ``"cpu"`` or ``"cuda"``.
        checkpoints
            Folder for the state of the run: a run that was stopped goes on from there.
        source
            Where the ratings come from, for the card.
        progress
            Is told of progress.

        Raises
        ------
        InputError
            When shapes, labels, encoder or values do not fit, or a label has too few ratings.
        """
        first = stage or Stage(epochs=200, early_stopping=30)
        plan = StagePlan("training", X, Y, first, cap, validation, source)
        fit_stages(
            self,
            [plan],
            how=how,
            tied=tied,
            device=device,
            checkpoints=checkpoints,
            progress=progress,
        )
        return self

    def fit_two_stage(
        self,
        big: tuple[Any, Any],
        human: tuple[Any, Any],
        *,
        big_stage: Stage | None = None,
        human_stage: Stage | None = None,
        big_cap: float | None = 0.25,
        human_cap: float | None = 0.25,
        validation: float = 0.05,
        how: Aggregate = "median",
        tied: Tied = "present",
        device: Device = "auto",
        checkpoints: str | Path | None = None,
        sources: tuple[str, str] = ("", ""),
        progress: Report | None = None,
    ) -> Self:
        """Train on many ratings of machines first, then on ratings of people.

        The best weights of each head on the validation rows of the first stage are what the second
        begins with; optimiser and learning rate begin anew. The heads that are kept are the best
        ones on the validation rows of the second.

        Parameters
        ----------
        big, human
            X and Y of each stage, as for :meth:`fit`.
        big_stage, human_stage
            By default 5 and 200 epochs.
        big_cap, human_cap, validation
            As for :meth:`fit`.

        Raises
        ------
        InputError
            As :meth:`fit`.

        References
        ----------
        Schuhmann et al. (2025), EmoNet-Face, appendix B.2.
        """
        first, second = big_stage or Stage(epochs=5), human_stage or Stage(epochs=200)
        plans = [
            StagePlan("big", *big, first, big_cap, validation, sources[0]),
            StagePlan("human", *human, second, human_cap, validation, sources[1]),
        ]
        fit_stages(
            self,
            plans,
            how=how,
            tied=tied,
            device=device,
            checkpoints=checkpoints,
            progress=progress,
        )
        return self

    # -- storing ---------------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write the bank to a folder: weights as safetensors, all else as JSON, and a card.

        Raises
        ------
        InputError
            When the folder cannot be made, or holds something else.
        """
        return save_bank(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> HeadBank:
        """Read a bank, or heads as EmoNet-Face has published them (``model_EMOTION_best.pth``).

        Nothing in the folder is executed: it holds numbers and text.

        Raises
        ------
        InputError
            When the folder holds no bank, one of another version, or is not complete.
        """
        return load_bank(cls, Path(path))

    def __repr__(self) -> str:
        layers = "-".join(map(str, (*self.shape.hidden, 1)))
        parts = [f"{len(self.labels)} labels of {self.taxonomy.name}", layers]
        parts += ["binarised"] * self.binarised + ["not trained"] * (self.weights is None)
        return f"HeadBank({', '.join(parts)})"


# From scores of heads to a table of ratings.


def rated_part(embeddings: Embeddings, ratings: Ratings) -> Embeddings:
    """Give the embeddings of what was rated; where nothing was, one row, for others to say so."""
    rated = set(ratings.stimulus_names)
    names = [name for name in embeddings.stimuli if name in rated]
    return embeddings.subset(names or embeddings.stimuli[:1])


def embedded(
    bank: Heads,
    given: Any,
    encoder: Any,
    device: str,
    progress: Report | None,
    **settings: Any,
) -> Embeddings:
    """Give embeddings as they are, or embed images; see :meth:`HeadBank.embed`."""
    from affectlab.models.embedding import embed, encoder_of

    if isinstance(given, Embeddings):
        return given
    if isinstance(given, np.ndarray):
        raise InputError(
            "an array does not say which stimuli it is of; expected Embeddings or images (predict "
            "takes an array)"
        )
    if bank.encoder is None:
        raise InputError(
            "the heads were trained on an array, and know no encoder; expected Embeddings"
        )
    found = encoder_of(bank.encoder, encoder, device)
    return embed(given, found, path=None, progress=progress, **settings)


def rate_embeddings(
    bank: Heads,
    embeddings: Embeddings,
    rater: str | None,
    *,
    intervals: bool,
    scores: bool,
    device: Device,
) -> Ratings:
    """Make a table with one row per stimulus and label; see :meth:`HeadBank.rate`."""
    import polars as pl

    from affectlab.ratings import Scale, check_columns

    given = bank.scores(embeddings, device=device)
    value = bank.on_scale(given, clip=False)
    inside = np.clip(value, 0.0, HIGH)
    n, k = value.shape
    name = rater or bank.name
    stimulus = pl.Series("stimulus", list(embeddings.stimuli), dtype=pl.String)
    columns: dict[str, Any] = {
        "stimulus": stimulus.gather(np.repeat(np.arange(n), k)),
        "rater": pl.Series([name]).new_from_index(0, n * k),
        "label": pl.Series(list(bank.labels) * n, dtype=pl.String),
        "value": value.ravel(),
    }
    said = bank.said
    if scores:
        columns["score"] = given.ravel().astype(np.float64)
    if intervals:
        found_in = bank.check_intervals()
        low, high = found_in.bounds(inside)
        columns |= {"low": low.ravel(), "high": high.ravel()}
        said += f"; low and high: {found_in.said}"
    checked = check_columns(
        {column: pl.Series(column, values) for column, values in columns.items()},
        scale=Scale.parse("interval"),
        taxonomy=bank.taxonomy,
        on_bad="raise",
    )
    # Not split: an end of intervals that is the same everywhere stays a column, too.
    found = Ratings._from_checked(
        checked,
        pl.DataFrame({"rater": [name], "rater_kind": ["model"], "answers": [said]}),
        source=name,
        split=False,
    )
    if bank.seen.size:
        known = np.isin(marks_of(Rows(embeddings.values)), bank.seen)
        found = mark_training(found, [embeddings.stimuli[row] for row in np.flatnonzero(known)])
    beyond = int((inside != value).sum())
    step = f"{bank.steps}; {plural(beyond, 'answer')} beyond 0 to 7 taken as the bound"
    return found.with_values(np.clip(found.value, 0.0, HIGH), f"0-{HIGH:g} interval", step=step)
