"""Semi-supervised training of any classifier that has one label for each stimulus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from torch import nn

from affectlab.core.errors import InputError
from affectlab.core.types import pl
from affectlab.models.losses import Order, Ties
from affectlab.models.processes import one_process
from affectlab.models.semi.loop import train
from affectlab.models.semi.material import Material
from affectlab.models.semi.registry import load_strategy
from affectlab.models.semi.settings import SemiTraining, Switch, SwitchWhen
from affectlab.models.semi.strategy import Strategy
from affectlab.models.training import fingerprint_of
from affectlab.models.vision import LossName, Report, VisionClassifier, loss_of

__all__ = ["SemiRun", "train_semi"]

_Model = TypeVar("_Model")
_HEAD = SemiTraining(epochs=50, batch_size=16, learning_rate=3e-3, patience=10)
"""What a head on embeddings starts from."""
_ALL = 0.98
"""Share of guesses that are learned from where a threshold holds none back."""


@dataclass(frozen=True, eq=False)
class SemiRun(Generic[_Model]):
    """A model that was trained, and how."""

    model: _Model
    """It predicts, rates, saves and loads as any of its kind."""
    history: list[dict[str, float]]
    """What each epoch reached: ``epoch``; ``loss`` on labelled examples, ``unlabelled_loss`` and
    ``extra_loss``; what the strategy tells, such as ``threshold``; ``utilisation``;
    ``pseudo_accuracy``, ``pseudo_ecc``, ``pseudo_emc`` and ``confirmed`` where the truth is known
    (see :meth:`Tally.entry`); ``switched``, 1 from the epoch on that the loss changed in; and
    ``dev acc``, ``dev acc2``, ``dev ecc``, ``dev emc`` and ``dev loss``."""
    best_epoch: int
    """Epoch whose weights were kept, from 1 on."""
    strategy: str
    labels: tuple[str, ...]
    switch: SwitchWhen = "start"
    """When the loss was to change from cross-entropy to the one that was asked for."""

    @property
    def switched_at(self) -> int | None:
        """First epoch that learned with the loss that was asked for; None: none did."""
        return next((int(entry["epoch"]) for entry in self.history if entry["switched"]), None)

    @property
    def notes(self) -> tuple[str, ...]:
        """What makes the run doubtful: a loss that never changed, a threshold that never rose."""
        return (*self._of_switch(), *self._of_threshold())

    def _of_switch(self) -> Iterator[str]:
        if self.switch == "never":
            return
        if self.switched_at is None:
            yield (
                f"switch {self.switch}: the loss never changed, and all was learned with "
                "cross-entropy; expected more epochs, or an earlier switch"
            )
        elif self.best_epoch < self.switched_at:
            yield (
                f"epoch {self.best_epoch} was kept, and the loss changed in epoch "
                f"{self.switched_at}: the model was learned with cross-entropy alone"
            )

    def _of_threshold(self) -> Iterator[str]:
        entries = [one for one in self.history if "threshold" in one and "utilisation" in one]
        # A threshold near 1 / C lets every guess count, the first ones of a random network too.
        if entries and all(
            one["utilisation"] >= _ALL and one["threshold"] <= 2 / len(self.labels)
            for one in entries
        ):
            yield (
                f"strategy {self.strategy}: its threshold never rose, so that nearly all guesses "
                "were learned from, wrong ones too; expected many more steps or epochs, or a lower "
                "momentum where the strategy has one"
            )

    def to_frame(self) -> pl.DataFrame:
        """Give the history, one row for each epoch; what an epoch did not reach is null."""
        import polars as pl

        names = dict.fromkeys(name for entry in self.history for name in entry)
        frame = pl.DataFrame(self.history, schema=dict.fromkeys(names, pl.Float64)).fill_nan(None)
        return frame.cast({"epoch": pl.Int64}).rename(
            {name: name.replace(" ", "_") for name in names}
        )


def train_semi(
    model: _Model,
    inputs: Any,
    labels: Any,
    unlabelled: Any,
    *,
    dev: tuple[Any, Any] | None = None,
    truth: Any = None,
    strategy: str | Strategy = "fixmatch",
    strategy_settings: dict[str, Any] | None = None,
    loss: LossName | nn.Module = "cross-entropy",
    lam: float = 1.0,
    order: Order = "true",
    ties: Ties = "random",
    temperature: float = 1.0,
    switch: SwitchWhen | Switch = "start",
    progress: Report | None = None,
    **settings: Any,
) -> SemiRun[_Model]:
    """Train a model on few labelled and many unlabelled stimuli.

    The loss of a step is that on labelled examples, plus ``lam_u`` times the mean over unlabelled
    ones of weight times cross-entropy between pseudo-label and strong view, plus what a strategy
    adds. Averaged weights are judged on `dev`, and the best epoch is kept.

    Parameters
    ----------
    model
        A :class:`~affectlab.models.vision.VisionClassifier`, on a network or on embeddings, or a
        text classifier of back end ``choice`` or ``choice-embedding``. It is trained in place.
    inputs, labels
        Labelled stimuli, as the model's ``fit`` takes them: images, embeddings or texts.
    unlabelled
        Others of the same kind; those in `inputs` may be among them.
    dev
        Stimuli and labels beside training that choose the epoch; None: the last one is kept.
    truth
        Labels of the unlabelled stimuli, where they are known. They go into the history, and
        decide on nothing.
    strategy, strategy_settings
        See :func:`load_strategy`.
    loss, lam, order, ties, temperature
        On labelled stimuli, as for :meth:`VisionClassifier.fit`.
    switch
        From when on `loss` is learned with; before, cross-entropy is (see :class:`Switch`).
    **settings
        Of :class:`SemiTraining`, such as ``epochs``, ``ratio`` and ``select``.

    Raises
    ------
    InputError
        When stimuli or labels are missing, a label or setting is not known, the taxonomy has not
        what the loss, the strategy or `select` needs, or training diverges.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, sections 4.2.1 and 4.2.2.

    Examples
    --------
    >>> from affectlab.simulate import draw_face
    >>> names = [name for name in ("amusement", "sadness", "anger") for _ in range(4)]
    >>> faces = [draw_face(name, identity=at % 4, size=48) for at, name in enumerate(names)]
    >>> model = VisionClassifier("mikels", backbone="embedding:hog")
    >>> run = train_semi(model, faces[::4], names[::4], faces, truth=names, epochs=20)
    >>> run.model.predict(faces[1:6:4])
    ['amusement', 'sadness']
    """
    # Strategies look at whole batches.
    one_process("semi-supervised training")
    chosen = load_strategy(strategy, **(strategy_settings or {}))
    when = switch if isinstance(switch, Switch) else Switch(switch)
    training, make = _training_of(model, settings)
    if dev is not None and (not isinstance(dev, tuple | list) or len(dev) != 2):
        raise InputError("dev: expected a pair of stimuli and their labels")
    if not isinstance(unlabelled, str) and hasattr(unlabelled, "__len__") and not len(unlabelled):
        raise InputError("unlabelled: there are none; expected one stimulus at least")
    material: Material = make(model, (inputs, labels), unlabelled, dev, truth, training, progress)
    material.check(training.select)
    seed: int = model.seed  # type: ignore[attr-defined]
    second, said = loss_of(
        loss,
        material.costs or material.taxonomy,
        material.labels,
        lam=lam,
        order=order,
        ties=ties,
        temperature=temperature,
        seed=seed,
    )
    told = {
        **said,
        **(when.to_dict() if said.get("loss") != "cross-entropy" else {}),
        "strategy": chosen.name,
        **{f"strategy {name}": value for name, value in chosen.settings().items()},
        **training.added(),
    }
    whole = fingerprint_of(
        training.to_dict(), told, repr(second), repr(when), seed, *material.told()
    )
    history, best = train(
        material,
        chosen,
        (nn.CrossEntropyLoss(), second),
        when,
        training,
        seed=seed,
        fingerprint=whole,
        progress=progress,
    )
    if isinstance(model, VisionClassifier):
        model.seen = material.seen
        model.history, model.best_epoch = history, best
        model.training, model.loss = training.base(), told
    else:
        from affectlab.models.semi.texts import finish

        finish(model, material, dev, training.select, history, best, chosen.name)
    return SemiRun(model, history, best, chosen.name, material.labels, when.when)


def _training_of(model: Any, settings: dict[str, Any]) -> tuple[SemiTraining, Any]:
    """Give the settings, and what makes the material of a model."""
    from affectlab.models.semi.images import of_images

    if isinstance(model, VisionClassifier):
        start = _HEAD if model.on_embeddings else SemiTraining()
        found = SemiTraining.with_settings(start, settings)
        assert isinstance(found, SemiTraining)
        return found, of_images
    from affectlab.models.semi.texts import defaults, of_texts

    found = SemiTraining.with_settings(defaults(model), settings)
    assert isinstance(found, SemiTraining)
    return found, of_texts
