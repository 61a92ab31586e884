"""The training loop of semi-supervised learning: one for all strategies, resumable.

The rows of every batch, how each is changed, and the seed of every step, follow from the seed of
the model alone. All else, the sums of an epoch among it, is in checkpoints. So a run goes on from
any step as if it had never stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as nnf

from affectlab.core.errors import InputError
from affectlab.core.types import Ints
from affectlab.evaluation.classification import Confusion
from affectlab.models.devices import autocast, pick_device, pick_precision, private_seed
from affectlab.models.semi.material import Material
from affectlab.models.semi.settings import SemiTraining, Switch
from affectlab.models.semi.strategy import PoolLabels, Strategy, View
from affectlab.models.training import (
    Checkpoints,
    all_finite,
    diverged,
    on_device,
    optimiser_of,
    seed_device,
    shuffled,
    step_seed,
)
from affectlab.models.vision import Feed, Forward, Report, note_epoch, probabilities_of
from affectlab.taxonomy import CostMatrix, Taxonomy

__all__ = [
    "Average",
    "Cycle",
    "Learner",
    "Tally",
    "statistics_held",
    "train",
]

# A moving average of the weights of a network.


class Average(nn.Module):
    r"""Averages weights over steps: a <- d a + (1 - d) w.

    With `decay` :math:`\delta`, after step t (from 0 on) d is :math:`\min(\delta, (1+t)/(10+t))`,
    so that the average soon forgets the random weights it starts from. Buffers, such as those of
    batch norms, are taken as they are.

    Examples
    --------
    >>> layer = nn.Linear(1, 1, bias=False)
    >>> average = Average(layer, decay=0.9)
    >>> before = layer.weight.item()
    >>> _ = nn.init.constant_(layer.weight, before + 1.0)
    >>> average.update(layer, step=0)
    >>> round(average.network.weight.item() - before, 3)
    0.9
    """

    def __init__(self, network: nn.Module, decay: float) -> None:
        super().__init__()
        self.network, self.decay = deepcopy(network).requires_grad_(requires_grad=False), decay
        self.network.eval()

    @torch.no_grad()
    def update(self, network: nn.Module, step: int) -> None:
        """Take in the weights after a step."""
        kept = min(self.decay, (1 + step) / (10 + step))
        own: list[Tensor] = [part.detach() for part in self.network.parameters()]
        torch._foreach_lerp_(own, [part.detach() for part in network.parameters()], 1 - kept)
        held = list(network.buffers())
        if held:
            # One call for all: a deep network has hundreds of them.
            torch._foreach_copy_(list(self.network.buffers()), held)


# Batches of rows, pass after pass, that follow from a seed and a step alone.


class Cycle:
    """Goes through n rows again and again, in another order each time.

    Examples
    --------
    >>> cycle = Cycle(n=5, size=2, draw=(0, 1))
    >>> sorted(row for step in range(3) for row in cycle.batch(step)[1].tolist())
    [0, 1, 2, 3, 4]
    >>> cycle.batch(3)[0]
    1
    """

    def __init__(self, n: int, size: int, draw: tuple[int, ...]) -> None:
        self.n, self.draw = n, draw
        self.batches = -(-n // size)
        self._turn = -1
        self._held: list[Ints] = []

    def batch(self, step: int) -> tuple[int, Ints]:
        """Give which pass a step is in, and its rows, each once."""
        turn, place = divmod(step, self.batches)
        if turn != self._turn:
            self._held = shuffled(self.n, self.batches, (*self.draw, turn))
            self._turn = turn
        return turn, self._held[place]


# What an epoch adds up: how many pseudo-labels counted, and how good they were.


_MEASURES = {"pseudo_accuracy": "accuracy", "pseudo_ecc": "ecc", "pseudo_emc": "emc"}


class Tally(nn.Module):
    """Counts over an epoch; buffers alone, so that a checkpoint in its middle holds them.

    The truth of unlabelled examples, where it is known, is looked at here and nowhere else.
    """

    confusion: Tensor
    """Sums of weights, shape (C, C): true classes in rows, pseudo-labels in columns."""
    sums: Tensor
    """Sum of weights; examples; wrong pseudo-labels that were wrong before; the same ones."""
    wrong: Tensor
    """The wrong pseudo-label that each example had when it was last used, -1 for none, shape
    (N,)."""

    def __init__(
        self,
        labels: Sequence[str],
        taxonomy: Taxonomy,
        costs: CostMatrix | None,
        truth: Ints | None,
        n: int,
    ) -> None:
        super().__init__()
        self.labels, self.taxonomy, self.costs = tuple(labels), taxonomy, costs
        k = len(self.labels)
        self.register_buffer("confusion", torch.zeros(k, k))
        self.register_buffer("sums", torch.zeros(4))
        self.register_buffer("wrong", torch.full((n,), -1))
        known = torch.empty(0, dtype=torch.int64) if truth is None else torch.from_numpy(truth)
        self.register_buffer("truth", known, persistent=False)

    def clear(self) -> None:
        """Begin another epoch; what was wrong is remembered."""
        self.confusion.zero_()
        self.sums.zero_()

    @torch.no_grad()
    def add(self, rows: Tensor, targets: Tensor, weights: Tensor) -> None:
        """Count a step: rows, shape (u,), their pseudo-labels, shape (u, C), and weights."""
        weights = weights.float()
        self.sums[0] += weights.sum()
        self.sums[1] += len(weights)
        truth: Tensor = self.get_buffer("truth")
        if not len(truth):
            return
        said, true = targets.argmax(dim=1), truth[rows]
        k = len(self.labels)
        # A product of matrices adds up in the same order each time, on GPUs as well.
        self.confusion += nnf.one_hot(true, k).float().T @ (
            nnf.one_hot(said, k).float() * weights[:, None]
        )
        before = self.wrong[rows]
        mistaken = (weights > 0) & (said != true)
        self.sums[2] += (mistaken & (before >= 0)).sum()
        self.sums[3] += (mistaken & (before == said)).sum()
        now = torch.where(mistaken, said, torch.full_like(said, -1))
        self.wrong[rows] = torch.where(weights > 0, now, before)

    def entry(self) -> dict[str, float]:
        """Give what the history shows of an epoch.

        ``utilisation`` is the mean weight of unlabelled examples; ``pseudo_accuracy``,
        ``pseudo_ecc`` and ``pseudo_emc`` judge pseudo-labels by their weights; ``confirmed`` is the
        share of wrong ones that stayed the same since they were last used, among those that were
        wrong then. What cannot be said is nan.
        """
        used, seen, again, same = self.sums.tolist()
        if not seen:
            return {}
        found = {"utilisation": used / seen}
        if not len(self.get_buffer("truth")):
            return found
        counts = self.confusion.double().cpu().numpy()
        for name, metric in _MEASURES.items():
            found[name] = self._measured(counts, metric)
        found["confirmed"] = same / again if again else float("nan")
        return found

    def _measured(
        self, counts: np.ndarray[tuple[int, int], np.dtype[np.float64]], name: str
    ) -> float:
        if not counts.sum():
            return float("nan")
        try:
            seen = Confusion.from_counts(counts, self.labels, self.taxonomy, costs=self.costs)
            return seen.metric(name)
        except InputError:
            # A taxonomy may have no costs, and then ECC and EMC cannot be said.
            return float("nan")


# A network, and what of it strategies compare: features before its last layer, projected.


_ALONE = "more than 1 value per channel"
"""What torch says of a batch norm that was given one row."""


class Learner(nn.Module):
    """Gives logits, and where asked for features of length 1.

    Parameters
    ----------
    network, forward
        Gives logits, shape (n, C).
    output
        Its last layer; what goes in there is projected by two layers.
    width
        Of the features; 0: none.
    """

    def __init__(self, network: nn.Module, forward: Forward, output: nn.Linear, width: int) -> None:
        super().__init__()
        self.network, self.forward_network, self.width = network, forward, width
        self.projection: nn.Module = nn.Identity()
        if width:
            inner = output.in_features
            self.projection = nn.Sequential(
                nn.Linear(inner, inner), nn.ReLU(), nn.Linear(inner, width)
            )
        # In a list, so that it does not count as a part of its own.
        self._output = [output]

    def forward(self, inputs: dict[str, Tensor], precision: str) -> tuple[Tensor, Tensor | None]:
        """Give logits, shape (n, C), and features, shape (n, width), both in single precision.

        Raises
        ------
        InputError
            When there is one stimulus, and a batch norm would have to say how stimuli vary.
        """
        seen: list[Tensor] = []

        def look(_: nn.Module, given: tuple[Any, ...]) -> None:
            seen.append(given[0])

        device = next(self.network.parameters()).device
        hook = self._output[0].register_forward_pre_hook(look) if self.width else None
        try:
            with autocast(precision, device):
                logits = self.forward_network(self.network, inputs)
                features = self.projection(seen[-1].flatten(1)) if self.width else None
        except ValueError as error:
            if _ALONE not in str(error):
                raise
            raise InputError(
                "a step has one labelled or one unlabelled stimulus, and the network has batch "
                "norms, which need two; expected more stimuli, or a larger batch_size or ratio"
            ) from None
        finally:
            if hook is not None:
                hook.remove()
        if features is None:
            return logits.float(), None
        return logits.float(), nnf.normalize(features.float(), dim=1)


@contextmanager
def statistics_held(network: nn.Module) -> Iterator[None]:
    """Keep batch norms from taking what they see inside this context into their statistics."""
    held = [
        part
        for part in network.modules()
        if isinstance(part, nn.modules.batchnorm._BatchNorm) and part.track_running_stats
    ]
    for part in held:
        part.track_running_stats = False
    try:
        with torch.no_grad():
            yield
    finally:
        for part in held:
            part.track_running_stats = True


_MOMENTUM = 0.9
"""Of sgd."""
_LABELLED, _WEAK, _STRONG, _POOL = 3, 4, 5, 6
"""What a seed draws; 1 and 3 are those of :mod:`affectlab.models.vision`."""


@dataclass
class _State:
    """Where training stands."""

    step: int = 0
    begun: int = 0
    """Epochs that were begun."""
    switched: bool = False
    """Whether the loss is the one that was asked for."""
    best_score: float = -np.inf
    best_epoch: int = 0
    worse: int = 0
    done: bool = False
    sums: dict[str, float] = field(default_factory=dict)
    """Of this epoch, by name."""
    counts: dict[str, int] = field(default_factory=dict)
    """How many numbers each sum is of."""
    history: list[dict[str, float]] = field(default_factory=list)

    def add(self, name: str, value: float, n: int = 1) -> None:
        """Add to a mean over the epoch."""
        self.sums[name] = self.sums.get(name, 0.0) + value * n
        self.counts[name] = self.counts.get(name, 0) + n

    def means(self) -> dict[str, float]:
        """Give the means of the epoch."""
        return {name: total / self.counts[name] for name, total in self.sums.items()}


class _Run:
    """All parts of a run, on their device."""

    def __init__(
        self,
        material: Material,
        strategy: Strategy,
        losses: tuple[nn.Module, nn.Module],
        switch: Switch,
        training: SemiTraining,
        seed: int,
    ) -> None:
        self.material, self.training, self.switch, self.seed = material, training, switch, seed
        self.device = pick_device(training.device)
        self.precision = pick_precision(training.precision, self.device)
        self.state = _State()
        width = training.features if strategy.wants_features else 0
        # Weights of the projection are random too.
        with private_seed(seed):
            self.learner = Learner(material.network, material.forward, material.output, width)
        self.learner.to(self.device)
        strategy.begin(material.problem(training, width, seed, self.device))
        self.strategy = strategy.to(self.device)
        self.first, self.second = (part.to(self.device) for part in losses)
        self.average = Average(material.network, training.ema) if training.ema else None
        self.tally = Tally(
            material.labels,
            material.taxonomy,
            material.costs,
            material.truth,
            len(material.weak.names),
        ).to(self.device)
        self.kept = Average(material.network, 0.0) if material.dev is not None else None
        if self.kept is not None:
            self.kept.cpu()
        parts: dict[str, nn.Module] = {
            "learner": self.learner,
            "strategy": self.strategy,
            "tally": self.tally,
        }
        parts |= {} if self.average is None else {"average": self.average}
        parts |= {} if self.kept is None else {"kept": self.kept}
        self.whole = nn.ModuleDict(parts)
        self.learned = [part for part in self.learner.parameters() if part.requires_grad]
        self.optimiser = optimiser_of(
            self.learned,
            training.optimiser,
            training.learning_rate,
            training.weight_decay,
            momentum=_MOMENTUM,
        )
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=self.precision == "fp16")
        self.targets = torch.from_numpy(material.targets).to(self.device)
        self.labelled = Cycle(len(material.targets), training.batch_size, (seed, 1))
        self.pool = Cycle(len(material.weak.names), training.batch_size * training.ratio, (seed, 7))

    @property
    def judged(self) -> nn.Module:
        """The network that is judged and kept."""
        return self.learner.network if self.average is None else self.average.network

    def _inputs(self, feed: Feed, rows: Ints, *draw: int) -> dict[str, Tensor]:
        return on_device(feed.batch(rows, (self.seed, *draw)), self.device)

    def begin_epoch(self, epoch: int) -> None:
        """Decide on the loss, and show the pool to a strategy that asks for it."""
        state = self.state
        state.sums, state.counts = {}, {}
        self.tally.clear()
        if not state.switched:
            state.switched = self.switch.after([entry["loss"] for entry in state.history])
            # What was asked for begins here, and may take as long as any other training.
            state.worse = 0 if state.switched else state.worse
        pool = None
        if self.strategy.wants_pool:
            pool = PoolLabels(
                self._pool_labels(self.material.weak, (self.seed, _WEAK, _POOL, epoch)),
                self._pool_labels(self.material.strong, (self.seed, _STRONG, _POOL, epoch)),
            )
        for name, value in self.strategy.before_epoch(epoch, pool).items():
            state.add(name, float(value))
        state.begun = epoch + 1

    def _pool_labels(self, feed: Feed, draw: tuple[int, ...]) -> Tensor:
        """Give the labels of one view of the whole pool, by the network that learns."""
        proba = probabilities_of(
            self.learner.network,
            self.material.forward,
            feed,
            self._looking(),
            self.precision,
            draw=draw,
        )
        return torch.from_numpy(proba.argmax(axis=1)).to(self.device)

    def _looking(self) -> Any:
        """Settings for looking at stimuli without learning, as many at once as in a step."""
        size = self.training.batch_size * (1 + self.training.ratio)
        return self.training.base(micro_batch=size)

    def step(self, epoch: int, rate: float) -> float:
        """Learn from one batch; gives the loss on its labelled part."""
        state, training = self.state, self.training
        seed_device(step_seed(self.seed, state.step, 0), self.device)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        turn, own = self.labelled.batch(state.step)
        inputs = self._inputs(self.material.labelled, own, _LABELLED, turn)
        logits, features = self.learner(inputs, self.precision)
        wanted = self.targets[torch.from_numpy(own).to(self.device)]
        found = (self.second if state.switched else self.first)(logits, wanted)
        total, reached = found, float(found.detach())
        if self.strategy.strong_views:
            total = total + self._unlabelled(epoch, own, wanted, logits, features)
        whole = float(total.detach())
        if not np.isfinite(whole):
            raise diverged(f"the loss is {whole}", epoch, rate)
        self.scaler.scale(total).backward()
        if training.clip:
            self.scaler.unscale_(self.optimiser)
            nn.utils.clip_grad_norm_(self.learned, training.clip)
        self.scaler.step(self.optimiser)
        self.scaler.update()
        self.optimiser.zero_grad(set_to_none=True)
        if self.average is not None:
            self.average.update(self.learner.network, state.step)
        state.add("loss", reached, len(own))
        return reached

    def _unlabelled(
        self, epoch: int, own: Ints, wanted: Tensor, logits: Tensor, features: Tensor | None
    ) -> Tensor:
        """Give the loss on the unlabelled part of a batch, weighted."""
        material, state = self.material, self.state
        turn, rows = self.pool.batch(state.step)
        strong: list[tuple[Tensor, Tensor | None]] = [
            self.learner(self._inputs(material.strong, rows, _STRONG, at, turn), self.precision)
            for at in range(self.strategy.strong_views)
        ]
        with statistics_held(self.learner.network):
            weak, weak_features = self.learner(
                self._inputs(material.weak, rows, _WEAK, turn), self.precision
            )
        places = torch.from_numpy(rows).to(self.device)
        said = self.strategy.step(
            View(
                step=state.step,
                epoch=epoch,
                labelled_rows=torch.from_numpy(own).to(self.device),
                targets=wanted,
                labelled_logits=logits,
                labelled_features=features,
                rows=places,
                weak_logits=weak,
                weak_features=weak_features,
                strong_logits=tuple(one for one, _ in strong),
                strong_features=tuple(part for _, part in strong if part is not None),
            )
        )
        losses = [-(said.targets * torch.log_softmax(one, dim=1)).sum(dim=1) for one, _ in strong]
        found = (said.weights * torch.stack(losses).mean(dim=0)).mean()
        self.tally.add(places, said.targets, said.weights)
        state.add("unlabelled_loss", float(found.detach()))
        for name, value in said.told.items():
            state.add(name, float(value))
        total = self.training.lam_u * found
        if said.extra is not None:
            state.add("extra_loss", float(said.extra.detach()))
            total = total + said.extra
        return total

    def end_epoch(self, epoch: int, rate: float) -> None:
        """Judge an epoch, and note what it reached."""
        state, dev = self.state, self.material.dev
        # The last step of an epoch has no loss after it that would tell.
        if not all_finite(self.learned):
            raise diverged("a weight is not finite", epoch, rate)
        entry = {"epoch": float(epoch + 1), **state.means(), **self.tally.entry()}
        entry["switched"] = float(state.switched)
        if dev is not None and self.kept is not None:
            proba = probabilities_of(
                self.judged, self.material.forward, dev[0], self._looking(), self.precision
            )
            scores = self.material.judge(proba, self.training.select)
            if note_epoch(state, entry, scores, self.training):
                self.kept.network.load_state_dict(self.judged.state_dict())
            # Else a loss that is asked for later would never have its turn.
            state.done &= state.switched or self.switch.when == "never"
        state.history.append(entry)


def train(
    material: Material,
    strategy: Strategy,
    losses: tuple[nn.Module, nn.Module],
    switch: Switch,
    training: SemiTraining,
    *,
    seed: int = 0,
    fingerprint: str = "",
    progress: Report | None = None,
) -> tuple[list[dict[str, float]], int]:
    """Train the network of some material in place.

    Parameters
    ----------
    losses
        On labelled examples, before and after the switch; each takes logits, shape (n, C), and
        targets, shape (n,), and gives a mean.
    fingerprint
        Says of a checkpoint whether it belongs to this run.

    Returns
    -------
    history
        What each epoch reached.
    best_epoch
        Epoch whose weights were kept, from 1 on.
    """
    run = _Run(material, strategy, losses, switch, training, seed)
    state = run.state
    checkpoints = Checkpoints.of(training.checkpoints, fingerprint, writes=True)
    per_epoch = training.steps_of(len(material.targets), len(material.weak.names))
    every, rate = training.checkpoint_steps, training.learning_rate
    with checkpoints or nullcontext(), private_seed(seed, run.device):
        if checkpoints is not None:
            checkpoints.restore(state, run.whole, run.optimiser, run.scaler)
        while not state.done and state.step < per_epoch * training.epochs:
            epoch = state.step // per_epoch
            if state.begun <= epoch:
                run.begin_epoch(epoch)
            run.learner.train()
            while state.step < (epoch + 1) * per_epoch:
                rate = training.rate(state.step, per_epoch)
                run.step(epoch, rate)
                state.step += 1
                if progress is not None:
                    progress(
                        f"epoch {epoch + 1} of {training.epochs}, loss {state.means()['loss']:.4f}",
                        state.step,
                        per_epoch * training.epochs,
                    )
                # At the end of an epoch dev has its say first.
                ends = state.step % per_epoch == 0
                if checkpoints is not None and every and state.step % every == 0 and not ends:
                    checkpoints.write(state, run.whole, run.optimiser, run.scaler)
            run.end_epoch(epoch, rate)
            state.done |= state.step >= per_epoch * training.epochs
            if checkpoints is not None:
                checkpoints.write(state, run.whole, run.optimiser, run.scaler)
    best = run.judged if run.kept is None or not state.best_epoch else run.kept.network
    material.network.load_state_dict(best.state_dict())
    material.network.eval()
    return state.history, state.best_epoch or len(state.history)
