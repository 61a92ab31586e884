"""Many small networks on one embedding: each scores one label, and together they are a rater."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

# Before torch itself, to say what to install where it is not.
import affectlab.models._torch  # noqa: F401
from affectlab._types import Device
from affectlab.models._store import check_folder
from affectlab.models.embedding import EncoderCard
from affectlab.models.heads._answering import AnsweringHeads
from affectlab.models.heads._sampling import Tied
from affectlab.models.heads._shape import HeadShape, head_shape
from affectlab.models.heads._stage import Report, Stage
from affectlab.models.heads._targets import Aggregate
from affectlab.taxonomy import Taxonomy

__all__ = ["HeadBank"]


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
        from affectlab.models.heads._labels import taxonomy_of

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
        from affectlab.models.heads._fit import StagePlan, fit_stages

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
        from affectlab.models.heads._fit import StagePlan, fit_stages

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
        from affectlab.models.heads._folder import save_bank

        return save_bank(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> HeadBank:
        """Read a bank. Nothing in the folder is executed: it holds numbers and text.

        Raises
        ------
        InputError
            When the folder holds no bank, one of another version, or is not complete.
        """
        from affectlab.models.heads._folder import load_bank

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
