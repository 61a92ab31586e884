"""What the back ends that train a network share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import torch
from torch import nn

from affectlab.core.errors import InputError
from affectlab.core.types import Floats
from affectlab.models.devices import pick_device, pick_precision, private_seed
from affectlab.models.text.classifier import TextClassifier
from affectlab.models.text.label_penalty import LabelPenalty, label_relations, laplacian
from affectlab.models.text.model import Report
from affectlab.models.text.networks.loop import Problem, Split, logits_of, train
from affectlab.models.text.networks.stopping import EarlyStopping, read_history, write_history
from affectlab.models.text.networks.tensors import check_finite, check_shapes, load_weights, misfit
from affectlab.models.text.settings import Training
from affectlab.models.training import fingerprint_of, fingerprint_of_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["NetworkTextClassifier"]


class NetworkTextClassifier(TextClassifier):
    """A classifier whose logits come from a network with a dense last layer.

    Sigmoid cross-entropy on all outputs of the plan; soft labels are learned as they are. A
    subclass reads texts, builds the network, and stores it.

    Parameters
    ----------
    label_penalty, penalty_weight
        Pull probabilities of related labels together and those of opposed ones apart (see
        :func:`label_relations`), with this weight beside the mean loss. Off by default.
    settings
        Of :class:`Training`, and of :class:`TextClassifier`.
    """

    defaults: ClassVar[Training] = Training()
    """Settings of training that this back end starts from."""
    shares_training: ClassVar[bool] = True

    def __init__(
        self,
        *,
        label_penalty: LabelPenalty | ArrayLike = "none",
        penalty_weight: float = 1.0,
        **settings: Any,
    ) -> None:
        self.schedule, others = Training.split(self.defaults, settings)
        super().__init__(**others)
        if penalty_weight < 0:
            raise InputError(f"penalty_weight = {penalty_weight}: expected 0 or more")
        self.label_penalty, self.penalty_weight = label_penalty, penalty_weight
        self.problem: Problem | None = None
        self.history: list[dict[str, float]] = []
        """What each epoch reached: epoch, loss, and the score on dev."""
        self.stopped_on: EarlyStopping | None = None
        """The texts that chose the epoch whose weights were kept; None: the last one was."""
        self._start: tuple[Self, bool] | None = None

    # -- to be written by back ends --------------------------------------------------------------

    @abstractmethod
    def _prepare(self, texts: Sequence[str]) -> None:
        """Learn from the training texts what reading them needs, such as a vocabulary."""

    @abstractmethod
    def _encode(self, texts: Sequence[str], progress: Report | None = None) -> Any:
        """Read texts; each becomes something that has a length."""

    @abstractmethod
    def _build(self) -> Problem:
        """Make a network for the outputs of the plan, with random weights where none are known."""

    @abstractmethod
    def _adopt(self, source: Any) -> None:
        """Take over from another model how texts are read."""

    @abstractmethod
    def _reads(self) -> str:
        """Hash how texts are read, such as the vocabulary."""

    @abstractmethod
    def _save_network(self, folder: Path) -> None:
        """Write the network, and what reading texts needs."""

    @abstractmethod
    def _load_network(self, folder: Path) -> None:
        """Read what :meth:`_save_network` wrote."""

    @abstractmethod
    def _own_settings(self) -> dict[str, Any]:
        """Settings of the back end beside those of training."""

    def _adapted(self, network: Any) -> AbstractContextManager[None]:  # noqa: ARG002
        """Put what is learned in place of weights into a network, and take it out again."""
        return nullcontext()

    # -- shared ----------------------------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        """Give the settings of this back end, as plain values."""
        penalty = self.label_penalty
        return {
            **self._own_settings(),
            **self.schedule.to_dict(),
            "label_penalty": penalty if isinstance(penalty, str) else np.asarray(penalty).tolist(),
            "penalty_weight": self.penalty_weight,
        }

    def start_from(self, source: TextClassifier, *, freeze: bool = False) -> Self:
        """Start training from another model: all of it but the last layer.

        Parameters
        ----------
        source
            A trained model of the same back end; its labels may be others.
        freeze
            Train the new last layer alone.

        Raises
        ------
        InputError
            When the source is of another back end, or not trained.

        References
        ----------
        Demszky et al. (2020), GoEmotions, section 6.2.
        """
        if not isinstance(source, type(self)):
            raise InputError(
                f"a {self.backend!r} model cannot start from one of back end {source.backend!r}; "
                "expected the same back end"
            )
        source._require_fitted()
        self._start = (source, freeze)
        return self

    def _fit(
        self, texts: Sequence[str], targets: Floats, dev: Any, progress: Report | None
    ) -> None:
        if self._start is None:
            self._prepare(texts)
        else:
            self._adopt(self._start[0])
        with private_seed(self.seed):
            problem = self._build()
        if self._start is not None:
            self._take_over(problem, *self._start)
        data = Split(self._encode(texts, progress), targets)
        beside = None if dev is None else Split(self._encode(dev[0], progress), dev[1])
        k = len(self.taxonomy)
        relations = label_relations(self.label_penalty, self.taxonomy, targets[:, :k], signed=True)
        coupling = None
        if relations is not None and self.penalty_weight > 0:
            # The sum over all pairs has each of them twice, and the mean is over k * k.
            coupling = self.penalty_weight * 2 / k**2 * laplacian(relations)
        with self._adapted(problem.network):
            self.history = train(
                problem,
                data,
                beside,
                self.schedule,
                n_labels=k,
                coupling=coupling,
                seed=self.seed,
                fingerprint=self._fingerprint(texts, targets, dev),
                progress=progress,
            )
        for part in problem.network.parameters():
            part.requires_grad_(True)
        self.problem = problem
        self.stopped_on = None
        if dev is not None:
            self.stopped_on = EarlyStopping.of(self.history, self.schedule.watch, dev[0])

    def _take_over(self, problem: Problem, source: Any, freeze: bool) -> None:
        """Copy weights, all but those of the last layer."""
        last = next(
            name for name, part in problem.network.named_modules() if part is problem.output
        )
        known = {
            name: weight
            for name, weight in source._ready().network.state_dict().items()
            if name.rpartition(".")[0] != last
        }
        own = {
            name: weight.shape
            for name, weight in problem.network.state_dict().items()
            if name.rpartition(".")[0] != last
        }
        for name in sorted(own.keys() | known.keys()):
            if name not in own or name not in known or own[name] != known[name].shape:
                raise InputError(
                    f"the models differ in more than their labels ({name}); expected one with the "
                    "same settings"
                )
        problem.network.load_state_dict(known, strict=False)
        if freeze:
            for part in problem.network.parameters():
                part.requires_grad_(False)
            for part in problem.output.parameters():
                part.requires_grad_(True)

    def _fingerprint(self, texts: Sequence[str], targets: Floats, dev: Any) -> str:
        start = None if self._start is None else (self._start[0].fingerprint(), self._start[1])
        return fingerprint_of(
            self.backend,
            self.settings(),
            self.seed,
            self.plan.outputs,
            start,
            "\x00".join(texts),
            targets.tobytes(),
            None if dev is None else ("\x00".join(dev[0]), dev[1].tobytes()),
        )

    def fingerprint(self) -> str:
        """Hash what decides on the answers of the network: all its weights, and how it reads.

        Raises
        ------
        InputError
            When the model is not trained.
        """
        return fingerprint_of(fingerprint_of_weights(self._ready().network), self._reads())

    def _save(self, folder: Path) -> None:
        self._save_network(folder)
        write_history(folder, self.history, self.stopped_on)

    def _load(self, folder: Path) -> None:
        self._load_network(folder)
        check_finite(self._ready().network, folder)
        self.history, self.stopped_on = read_history(folder)

    def _rebuilt(self, weights: Path) -> Problem:
        """Make the network of a folder, once the shapes of its weights are known to fit."""
        try:
            # Without memory: settings of another size would ask for any amount of it.
            with torch.device("meta"):
                outline = self._build().network
        except (RuntimeError, TypeError, OverflowError):
            raise misfit(weights) from None
        check_shapes(outline, weights)
        problem = self._build()
        load_weights(problem.network, weights)
        problem.network.eval()
        return problem

    def _ready(self) -> Problem:
        if self.problem is None:
            raise InputError("this model is not trained yet; call fit, or load one")
        return self.problem

    def _logits(self, texts: Sequence[str], progress: Report | None = None) -> Floats:
        problem = self._ready()
        device = pick_device(self.schedule.device)
        problem.network.to(device)
        data = Split(self._encode(texts, progress), np.zeros((len(texts), 0)))
        precision = pick_precision(self.schedule.precision, device)
        return logits_of(
            problem, problem.network, data, self.schedule, precision, progress=progress
        )

    def on_device(self, device: str, precision: str = "auto") -> Self:
        """Answer on another device, such as ``cpu``, from now on."""
        pick_precision(precision, pick_device(device))
        self.schedule = replace(self.schedule, device=device, precision=precision)
        return self

    def save(self, path: str | Path) -> Path:
        """Write the model to a folder; of several processes that trained it, the first does.

        Raises
        ------
        InputError
            As :meth:`TextClassifier.save`.
        """
        many = torch.distributed.is_available() and torch.distributed.is_initialized()
        try:
            if many and torch.distributed.get_rank() > 0:
                return Path(path)
            return super().save(path)
        finally:
            if many:
                torch.distributed.barrier()


def output_layer(network: nn.Module, n_outputs: int) -> nn.Linear | None:
    """Find the last dense layer with so many outputs."""
    found = [
        part
        for part in network.modules()
        if isinstance(part, nn.Linear) and part.out_features == n_outputs
    ]
    return found[-1] if found else None
