"""Many small networks on one embedding: each scores one label, and together they are a rater."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.types import Device, Floats
from affectlab.core.words import plural
from affectlab.models.embedding import Embeddings, EncoderCard
from affectlab.models.heads.calibration import (
    By,
    Intervals,
    Neutral,
    ScaleMap,
    fit_bank_intervals,
    fit_bank_neutral,
    fit_bank_scale,
)
from affectlab.models.heads.rows import Rows, rows_of
from affectlab.models.heads.sampling import Tied
from affectlab.models.heads.shape import HeadShape, head_shape
from affectlab.models.heads.stacked import predict_heads
from affectlab.models.heads.stage import HeadPrecision, Report, Stage
from affectlab.models.heads.targets import HIGH, Aggregate
from affectlab.models.heads.weights import StackedWeights
from affectlab.models.runs import check_folder
from affectlab.ratings import Ratings
from affectlab.taxonomy import Taxonomy, load_taxonomy

__all__ = [
    "AnsweringHeads",
    "CalibratedHeads",
    "HeadBank",
    "Heads",
    "embedded",
    "labels_of",
    "rate_embeddings",
    "taxonomy_of",
]

# Which labels a bank has heads for.


def taxonomy_of(given: str | Path | Taxonomy | Sequence[str]) -> Taxonomy:
    """Give the taxonomy that is meant: by name, by file, or made of a list of labels."""
    if isinstance(given, str | Path | Taxonomy):
        return load_taxonomy(given)
    return Taxonomy.from_labels(given, name="heads")


def labels_of(taxonomy: Taxonomy, labels: Sequence[str] | None) -> tuple[str, ...]:
    """Give canonical names of labels, in the order given; None: all of the taxonomy.

    Raises
    ------
    InputError
        When a label is not known, occurs twice, or there is none.
    """
    if labels is None:
        return taxonomy.labels
    if isinstance(labels, str) or not len(labels):
        raise InputError("labels: expected a list of names, at least one")
    found = tuple(taxonomy.name_of(label) for label in labels)
    if len(set(found)) < len(found):
        twice = next(name for place, name in enumerate(found) if name in found[:place])
        raise InputError(f"labels: {twice!r} occurs twice; expected each label once")
    return found


# Trained heads as they answer: scores, ratings of them, and intervals around ratings.


class Heads:
    """Heads with their calibration; :class:`HeadBank` says what the parameters are."""

    def __init__(
        self,
        taxonomy: Taxonomy,
        labels: Sequence[str] | None = None,
        *,
        encoder: EncoderCard | None = None,
        shape: HeadShape | None = None,
        binarised: bool = False,
        name: str = "",
        seed: int = 0,
    ) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise InputError(f"seed = {seed!r}: expected a whole number from 0 on")
        self.taxonomy = taxonomy
        self.labels = labels_of(taxonomy, labels)
        self.encoder = encoder
        self.shape = head_shape("small") if shape is None else shape
        self.binarised = bool(binarised)
        self.name = name or "head bank"
        self.seed = seed
        self.weights: StackedWeights | None = None
        """What was learned."""
        self.stages: list[dict[str, Any]] = []
        """What each stage of training saw and did, with the losses of every head."""
        self.scale_map = self._default_map()
        self.neutral: Neutral | None = None
        self.intervals: Intervals | None = None
        self.seen: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
        """Hashes of the rows that were used in training and calibration, sorted."""

        self.judged: dict[str, Any] | None = None
        """How near the heads came to ratings that were kept aside: ``by``, ``how``, ``steps`` and
        ``labels``, the rows of :func:`head_agreement`; None: that is not known."""

    def _default_map(self) -> ScaleMap:
        return ScaleMap(HIGH if self.binarised else 1.0, (None,) * len(self.labels))

    def scores(
        self,
        X: Any,
        *,
        device: Device = "auto",
        precision: HeadPrecision = "fp32",
        batch: int | None = None,
    ) -> NDArray[np.float32]:
        """Give what the heads give, before any calibration.

        Parameters
        ----------
        X
            As for :meth:`fit`.
        device, precision, batch
            Of :func:`predict_heads`; by default float32 on the fastest device. ``"bf16"`` is faster
            where the processor has it, and rounds to about three digits.

        Returns
        -------
        numpy.ndarray
            Shape (n, heads): about 0 to 7, or about 0 to 1 of binarised heads.

        Raises
        ------
        InputError
            When X does not fit, or the bank is not trained.
        """
        rows = self._rows(X)
        return predict_heads(
            self._trained(), rows.values, device=device, precision=precision, batch=batch
        )

    def predict(
        self,
        X: Any,
        *,
        clip: bool = True,
        device: Device = "auto",
        precision: HeadPrecision = "fp32",
        batch: int | None = None,
    ) -> Floats:
        """Give ratings from 0 to 7, shape (n, heads).

        Parameters
        ----------
        clip
            False leaves the last step out: below 0 is less than in neutral stimuli.
        device, precision, batch
            As for :meth:`scores`.

        Raises
        ------
        InputError
            As :meth:`scores`.
        """
        given = self.scores(X, device=device, precision=precision, batch=batch)
        return self.on_scale(given, clip=clip)

    def on_scale(self, scores: NDArray[Any], *, clip: bool = True) -> Floats:
        """Make ratings of scores: map, neutral, clipping; shape (n, heads)."""
        found = self.scale_map.apply(scores)
        if self.neutral is not None:
            found -= np.asarray(self.neutral.offsets)
        return np.clip(found, 0.0, HIGH) if clip else found

    def predict_intervals(self, X: Any, **settings: Any) -> tuple[Floats, Floats]:
        """Give lower and upper ends of intervals, each of shape (n, heads).

        Raises
        ------
        InputError
            As :meth:`scores`, or when :meth:`calibrate_intervals` was not called.
        """
        return self.check_intervals().bounds(self.predict(X, **settings))

    @property
    def steps(self) -> str:
        """What is done to scores before they are clipped, in words."""
        if self.neutral is None:
            return f"scores {self.scale_map.said}"
        return f"scores {self.scale_map.said}; {self.neutral.said}"

    @property
    def said(self) -> str:
        """What the answers are, in words."""
        kind = "presence (0/1)" if self.binarised else "intensity (0 to 7)"
        on = f"embeddings of {self.encoder.name}" if self.encoder else "embeddings"
        neutral = "" if self.neutral else "; not calibrated on neutral stimuli"
        return (
            f"ratings of the head bank {self.name!r}, trained on {kind} over {on}; {self.steps}; "
            f"clipped to 0 to 7{neutral}"
        )

    @property
    def width(self) -> int | None:
        """Numbers per embedding; None: not known yet."""
        if self.weights is not None:
            return self.weights.width
        return self.encoder.width if self.encoder else None

    def _trained(self) -> StackedWeights:
        if self.weights is None:
            raise InputError("these heads are not trained yet; call fit, or load a bank")
        return self.weights

    def check_intervals(self) -> Intervals:
        """Give the intervals.

        Raises
        ------
        InputError
            When none are calibrated yet.
        """
        if self.intervals is None:
            raise InputError(
                "the heads have no intervals yet; call calibrate_intervals, or affectlab calibrate "
                "--intervals"
            )
        return self.intervals

    def _rows(self, X: Any, what: str = "X") -> Rows:
        return rows_of(X, self.width, self.encoder, what)


# Calibrating trained heads: to the scale of people, to neutral stimuli, and intervals.


class CalibratedHeads(Heads):
    """Heads that can be calibrated; :class:`HeadBank` says in which order."""

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
        fit_bank_scale(self, X, Y, how, source)
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
        fit_bank_neutral(self, X, source)
        return self

    def calibrate_intervals(
        self,
        X: Any,
        Y: Any,
        level: float = 0.9,
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
        level
            Share of ratings that an interval holds, at least. A rating is what Y holds after
            `how`: the median of as many raters as Y has, and not the answer of one of them, who is
            further off.
        by
            ``"score"`` or ``"label"``.

        Raises
        ------
        InputError
            When they do not fit, or the level is out of range.
        """
        fit_bank_intervals(self, X, Y, level, by, how, source)
        return self


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
            in the rater's ``answers``, and in the history.

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


# Before torch itself, to say what to install where it is not.


class HeadBank(AnsweringHeads):
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
        from affectlab.models.heads.fit import StagePlan, fit_stages

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
        from affectlab.models.heads.fit import StagePlan, fit_stages

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
        from affectlab.models.heads.folder import save_bank

        return save_bank(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> HeadBank:
        """Read a bank. Nothing in the folder is executed: it holds numbers and text.

        Raises
        ------
        InputError
            When the folder holds no bank, one of another version, or is not complete.
        """
        from affectlab.models.heads.folder import load_bank

        return load_bank(cls, Path(path))

    @staticmethod
    def check_folder(path: str | Path) -> None:
        """Say, before training, whether :meth:`save` could write to a folder.

        Raises
        ------
        InputError
            When the path is a file, or a folder that holds something else.
        """
        check_folder(Path(path))

    def __repr__(self) -> str:
        layers = "-".join(map(str, (*self.shape.hidden, 1)))
        parts = [f"{len(self.labels)} labels of {self.taxonomy.name}", layers]
        parts += ["binarised"] * self.binarised + ["not trained"] * (self.weights is None)
        return f"HeadBank({', '.join(parts)})"


# From scores of heads to a table of ratings.


def embedded(
    bank: Heads,
    given: Any,
    encoder: Any,
    device: str,
    progress: Report | None,
    **settings: Any,
) -> Embeddings:
    """Give embeddings as they are, or embed images; see :meth:`HeadBank.embed`."""
    from affectlab.models.embedding import Embeddings, embed
    from affectlab.models.embedding.registry import encoder_of

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

    from affectlab.ratings import Ratings, Scale
    from affectlab.ratings.build import check_columns

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
    beyond = int((inside != value).sum())
    step = f"{bank.steps}; {plural(beyond, 'answer')} beyond 0 to 7 taken as the bound"
    return found.with_values(np.clip(found.value, 0.0, HIGH), f"0-{HIGH:g} interval", step=step)
