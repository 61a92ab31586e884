"""Training runs of networks on the loop of transformers, resumable and stopping early.

The rows of every batch, and the seed of every step, follow from the seed of the model alone. So a
run goes on from a checkpoint as if it had never stopped, and processes share batches without
changing them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np
import torch
from accelerate.state import AcceleratorState, GradientState, PartialState
from torch import Tensor, nn
from torch.utils.data import DataLoader
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainerState, TrainingArguments

from affectlab.core.errors import InputError
from affectlab.core.types import Ints
from affectlab.models.devices import (
    autocast,
    pick_device,
    pick_precision,
    private_seed,
    quiet_transformers,
)
from affectlab.models.processes import can_meet, n_processes, started_alone
from affectlab.models.training.checkpoints import Checkpoints
from affectlab.models.training.steps import (
    all_finite,
    diverged,
    optimiser_of,
    seed_device,
    step_seed,
)

__all__ = ["Judge", "Report", "fine_tune"]

Inputs: TypeAlias = dict[str, Tensor]
Judge: TypeAlias = Callable[[Any], tuple[float, dict[str, float]]]
"""What dev says of an epoch, given accelerate's ``Accelerator``: a score, and measures by name."""
Report: TypeAlias = Callable[[str, int, int], None]


@dataclass
class _State:
    """Where training stands."""

    step: int = 0
    best_score: float = -np.inf
    best_epoch: int = 0
    worse: int = 0
    done: bool = False
    history: list[dict[str, float]] = field(default_factory=list)
    best: dict[str, Tensor] | None = None
    """Weights of the best epoch."""


def fine_tune(
    network: nn.Module,
    batches: Callable[[int], Sequence[Ints]],
    read: Callable[[Ints, int], Inputs],
    loss: Callable[[nn.Module, Inputs, Ints], tuple[Tensor, Tensor]],
    judge: Judge | None,
    training: Any,
    *,
    momentum: float = 0.0,
    judge_first: bool = False,
    seed: int = 0,
    fingerprint: str = "",
    progress: Report | None = None,
) -> tuple[list[dict[str, float]], int]:
    """Train a network in place.

    Parameters
    ----------
    batches
        Gives the rows of each batch of an epoch; all epochs have as many batches.
    read
        Makes the inputs of rows in an epoch.
    loss
        Of a network, inputs and their rows: the mean loss, and what is added to it for learning.
    judge
        None: the last epoch is kept.
    training
        Settings: :class:`affectlab.models.text.Training`, or that of
        :mod:`affectlab.models.vision`, which have the names that are used here.
    momentum
        Of the optimiser ``sgd``.
    judge_first
        Judge the network as it is, too, and keep it as epoch 0 where no epoch is better.
    fingerprint
        Says of a checkpoint whether it belongs to this run.

    Returns
    -------
    history
        What each epoch reached: epoch, loss, and what dev says.
    best_epoch
        Epoch whose weights were kept, from 1 on.

    Raises
    ------
    InputError
        When training diverges, a checkpoint is not one of this run, or processes that were started
        together cannot share the work.
    """
    device = pick_device(training.device)
    with private_seed(seed, device), quiet_transformers(), _as_it_was(), TemporaryDirectory() as at:
        arguments = _arguments(at, training, device)
        where, world = arguments.device, arguments.world_size
        optimiser = optimiser_of(
            [part for part in network.to(where).parameters() if part.requires_grad],
            training.optimiser,
            training.learning_rate,
            training.weight_decay,
            momentum,
        )
        run = _Run(network, batches, read, loss, judge, training, seed, progress)
        parts = _Parts(run, arguments.process_index, world)
        arguments.gradient_accumulation_steps = parts.pieces
        trainer = _Trainer(run, parts, optimiser, arguments)
        run.trainer = trainer
        run.checkpoints = Checkpoints.of(
            training.checkpoints, fingerprint, arguments.process_index == 0
        )
        with run.checkpoints or nullcontext():
            run.restore(optimiser)
            if judge_first and not run.state.step:
                run.judged()
            if not run.state.done:
                # Where the trainer begins, in the only way that it reads.
                begun = TrainerState(
                    global_step=run.state.step, train_batch_size=arguments.train_batch_size
                )
                begun.save_to_json(str(Path(at) / "trainer_state.json"))
                trainer.train(resume_from_checkpoint=at if run.state.step else None)
        trainer.accelerator.unwrap_model(network, keep_fp32_wrapper=False)
    state = run.state
    network.eval()
    if state.best is None:
        return state.history, len(state.history)
    network.load_state_dict(state.best)
    return state.history, state.best_epoch


@contextmanager
def _as_it_was() -> Iterator[None]:
    """Leave the random numbers of the caller, and what accelerate knows of the process.

    The trainer seeds all there are. accelerate keeps one device for the life of a process, which
    must not decide for the next model, or for what else uses it.
    """
    drawn, numbers = random.getstate(), np.random.get_state()  # noqa: NPY002
    kinds: tuple[Any, ...] = (PartialState, AcceleratorState, GradientState)
    held = [(kind, dict(kind._shared_state)) for kind in kinds]
    try:
        yield
    finally:
        random.setstate(drawn)
        np.random.set_state(numbers)  # noqa: NPY002
        for kind, before in held if n_processes() == 1 else ():
            kind._shared_state.clear()
            kind._shared_state.update(before)


def _arguments(folder: str, training: Any, device: torch.device) -> TrainingArguments:
    """Join the processes of a run, or be the only one."""
    n = n_processes()
    if n > 1 and not can_meet():
        raise started_alone()
    precision = pick_precision(training.precision, device)
    found = TrainingArguments(
        output_dir=folder,
        num_train_epochs=training.epochs,
        max_grad_norm=training.clip,
        # Without a GPU processes meet on the processor, which is done only where it is told.
        use_cpu=device.type == "cpu",
        fp16=precision == "fp16",
        eval_strategy="no",
        save_strategy="no",
        logging_strategy="no",
        logging_nan_inf_filter=False,
        report_to="none",
        disable_tqdm=True,
        ddp_find_unused_parameters=False,
    )
    if n > 1 and found.world_size != n:
        raise started_alone()
    if found.device.type != device.type and training.device != "auto":
        raise InputError(
            f"device {training.device!r}: the processes of this run have met on "
            f"{found.device.type}, and cannot move; expected the same device for all models, or "
            "another run"
        )
    # One process uses one GPU: another is another process.
    found._n_gpu = min(found.n_gpu, 1)
    return found


@dataclass(eq=False)
class _Run(TrainerCallback):
    """One run: what is learned from, how it is judged, and where it stands."""

    network: nn.Module
    batches: Callable[[int], Sequence[Ints]]
    read: Callable[[Ints, int], Inputs]
    loss: Callable[[nn.Module, Inputs, Ints], tuple[Tensor, Tensor]]
    judge: Judge | None
    training: Any
    seed: int
    progress: Report | None
    state: _State = field(default_factory=_State)
    checkpoints: Checkpoints | None = None
    trainer: Any = None
    total: float = 0.0
    """Sum of the losses of rows of this process, in this epoch."""
    seen: int = 0
    """Rows of all processes."""
    rate: float = 0.0

    def __post_init__(self) -> None:
        self.per_epoch: int = len(self.batches(0))
        self.learned = [part for part in self.network.parameters() if part.requires_grad]

    @property
    def epoch(self) -> int:
        """Of the step that comes next, from 0 on."""
        return self.state.step // self.per_epoch

    def on_epoch_begin(self, *_: Any, **__: Any) -> None:
        """Count anew."""
        self.total, self.seen = 0.0, 0

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        """Seed a step, and set its rate."""
        arguments = self.trainer.args
        drawn = step_seed(self.seed, self.state.step, arguments.process_index)
        seed_device(drawn, arguments.device)
        self.rate = self.training.rate(self.state.step, self.per_epoch)
        for group in self.trainer.optimizer.param_groups:
            group["lr"] = self.rate

    def learn(self, network: nn.Module, given: dict[str, Any]) -> Tensor:
        """Compute what a part of a batch adds to the loss that is learned from."""
        rows, counts, of = given["rows"], given["counts"], given["of"]
        device = self.trainer.args.device
        with autocast(pick_precision(self.training.precision, device), device):
            reached, more = self.loss(network, given["inputs"], rows)
        value = float(reached.detach())
        if not np.isfinite(value):
            raise diverged(f"the loss is {value}", self.epoch, self.rate)
        self.total += value * counts
        # Gradients are averaged over processes; a sum over all is wanted.
        found: Tensor = (reached + more) * (self.trainer.args.world_size * counts / of)
        return found

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """Tell of a step, and write where training stands."""
        state, training = self.state, self.training
        state.step += 1
        done = state.step % self.per_epoch or self.per_epoch
        self.seen += len(self.trainer.parts.rows[done - 1])
        if self.progress is not None:
            loss = self.total * self.trainer.args.world_size / self.seen
            self.progress(
                f"epoch {-(-state.step // self.per_epoch)} of {training.epochs}, loss {loss:.4f}",
                state.step,
                self.per_epoch * training.epochs,
            )
        # At the end of an epoch dev has its say first.
        every = training.checkpoint_steps
        if every and state.step % every == 0 and done < self.per_epoch:
            self.write()

    def on_epoch_end(self, *_: Any, **__: Any) -> None:
        """Note what an epoch reached, and keep its weights when it is the best so far."""
        state = self.state
        # The last step of an epoch has no loss after it that would tell.
        if not all_finite(self.learned):
            raise diverged("a weight is not finite", self.epoch - 1, self.rate)
        entry = {"epoch": float(self.epoch)}
        if self.seen:
            total = torch.tensor(self.total, device=self.trainer.args.device)
            entry["loss"] = float(self.trainer.accelerator.reduce(total, "sum")) / self.seen
        entry |= self.judged()
        state.history.append(entry)
        state.done |= self.epoch >= self.training.epochs
        self.trainer.control.should_training_stop = state.done
        self.write()

    def judged(self) -> dict[str, float]:
        """Ask dev, and keep the weights when they are the best so far."""
        if self.judge is None:
            return {}
        state = self.state
        score, measures = self.judge(self.trainer.accelerator)
        if score > state.best_score:
            state.best_score, state.best_epoch, state.worse = score, self.epoch, 0
            held = self.network.state_dict()
            state.best = {name: part.detach().cpu().clone() for name, part in held.items()}
        else:
            state.worse += 1
            state.done = state.worse >= self.training.patience
        return measures

    @property
    def _scaler(self) -> Any:
        """What keeps gradients of half precision from vanishing."""
        return self.trainer.accelerator.scaler or torch.amp.GradScaler("cpu", enabled=False)

    def restore(self, optimiser: torch.optim.Optimizer) -> None:
        """Take up a state, where there is one."""
        self.optimiser = optimiser
        if self.checkpoints is not None:
            self.checkpoints.restore(self.state, self.network, optimiser, self._scaler)

    def write(self) -> None:
        """Write the state, where it is kept."""
        if self.checkpoints is not None:
            self.checkpoints.write(self.state, self.network, self.optimiser, self._scaler)
            self.trainer.accelerator.wait_for_everyone()


class _Parts:
    """The rows of each part of each step of this process, epoch by epoch."""

    def __init__(self, run: _Run, rank: int, world: int) -> None:
        self.run, self.rank, self.world = run, rank, world
        most = -(-run.training.batch_size // world)
        self.pieces: int = -(-most // (run.training.micro_batch or most))
        self.rows: Sequence[Ints] = ()
        """Of each batch of this epoch."""

    def __len__(self) -> int:
        return self.run.per_epoch * self.pieces

    def __iter__(self) -> Iterator[tuple[Ints, int, int, int]]:
        epoch = self.run.epoch
        self.rows = self.run.batches(epoch)
        for rows in self.rows:
            for own in np.array_split(rows[self.rank :: self.world], self.pieces):
                # A process without a row computes one for nothing, since all must take part.
                yield (own, len(own), len(rows), epoch) if len(own) else (rows[:1], 0, 1, epoch)

    def __getitems__(self, part: tuple[Ints, int, int, int]) -> dict[str, Any]:
        rows, counts, of, epoch = part
        return {"inputs": self.run.read(rows, epoch), "rows": rows, "counts": counts, "of": of}


class _Trainer(Trainer):
    """The loop of transformers with rows, losses and checkpoints of ours."""

    loss_is_scaled_for_ga = True

    def __init__(
        self,
        run: _Run,
        parts: _Parts,
        optimiser: torch.optim.Optimizer,
        arguments: TrainingArguments,
    ) -> None:
        constant = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda _: 1.0)
        super().__init__(run.network, arguments, callbacks=[run], optimizers=(optimiser, constant))
        # It prints.
        self.remove_callback(PrinterCallback)
        self.run, self.parts = run, parts

    def create_accelerator_and_postprocess(self) -> None:
        """Make the accelerator, without what takes long and is of no use here."""
        super().create_accelerator_and_postprocess()
        accelerator: Any = self.accelerator
        # It would collect the garbage of the process at each fit, half a second of it.
        accelerator.free_memory = _as_it_is
        if not self.args.fp16:
            # Its optimiser looks for a package on the disk at each step.
            accelerator.prepare_optimizer = _as_it_is

    def get_train_dataloader(self) -> DataLoader[Any]:
        """Give parts of batches, which processes share as they are."""
        parts: Any = self.parts
        return DataLoader(parts, batch_sampler=parts, collate_fn=_as_it_is)

    def compute_loss(self, model: nn.Module, inputs: Any, *_: Any, **__: Any) -> Any:
        """Leave the loss to the run."""
        return self.run.learn(model, inputs)

    def _load_from_checkpoint(self, *_: Any, **__: Any) -> None:
        """Leave weights as they are: the run has restored them."""

    def _get_grad_norm(self, _: Any, grad_norm: Any = None) -> Any:
        """Compute no norm that nobody reads."""
        return grad_norm

    def floating_point_ops(self, _: Any) -> int:
        """Count no operations: for each step, all weights would be counted."""
        return 0


def _as_it_is(given: Any = None, **_: Any) -> Any:
    return given
