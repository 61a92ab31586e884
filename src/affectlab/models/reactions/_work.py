"""What is still to be written or computed, batch by batch, with a ledger."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from affectlab._words import plural, shown
from affectlab.errors import InputError
from affectlab.models.reactions._decoding import Decoding
from affectlab.models.reactions._items import key_of
from affectlab.models.reactions._ledger import Ledger, Progress, Written
from affectlab.models.reactions._network import Asked, ReactionNetwork

__all__ = ["Task", "do_all", "likelihood_task", "writing_task"]


@dataclass(frozen=True)
class Task:
    """One answer that is wanted."""

    key: str
    """Names it by all that decides about it."""
    asked: Asked
    name: str
    """Seeds the draws of a generation."""
    target: tuple[int, ...]
    """Tokens of the answer whose likelihood is wanted; empty for a generation."""
    told: Mapping[str, Any]
    """What readers of the ledger should know."""


def writing_task(
    asked: Asked, rater: str, decoding: Decoding, sample: int, told: Mapping[str, Any]
) -> Task:
    """Want an answer written.

    Parameters
    ----------
    rater
        Names the network and its precision.
    """
    # Greedily there is one answer; a number would only file it twice.
    numbered = {} if decoding.greedy else {"n": sample}
    return _task(asked, rater, {**decoding.settings(), **numbered}, sample, (), told)


def likelihood_task(
    asked: Asked, rater: str, target: tuple[int, ...], told: Mapping[str, Any]
) -> Task:
    """Want the likelihood of an answer."""
    return _task(asked, rater, {"likelihood_of": list(target)}, 0, target, told)


def _task(
    asked: Asked,
    rater: str,
    what: Mapping[str, Any],
    sample: int,
    target: tuple[int, ...],
    told: Mapping[str, Any],
) -> Task:
    question = key_of(json.dumps(asked.tokens), asked.sha256)
    key = key_of(rater, question, json.dumps(what, sort_keys=True))
    return Task(key, asked, key_of(question, str(sample)), target, told)


def do_all(
    tasks: Sequence[Task],
    network: ReactionNetwork,
    decoding: Decoding,
    *,
    batch_size: int,
    path: str | Path | None,
    what: str,
    progress: Progress | None,
) -> list[Written]:
    """Do what the ledger does not hold yet, each task once, and give all that was wanted.

    Raises
    ------
    InputError
        When a batch cannot be done; those before it are in the ledger.
    """
    with Ledger(path) as ledger:
        todo = {task.key: task for task in tasks if ledger.get(task.key) is None}
        total = len({task.key for task in tasks})
        done = total - len(todo)
        for batch in _batches(list(todo.values()), batch_size):
            if progress is not None:
                progress(what, done, total)
            answers = _answers(batch, network, decoding)
            ledger.add(
                [(task.key, task.told, one) for task, one in zip(batch, answers, strict=True)]
            )
            done += len(batch)
        if progress is not None:
            progress(what, done, total)
        found = {task.key: ledger.get(task.key) for task in tasks}
    # Every key was held or has been added.
    return [one for task in tasks if (one := found[task.key]) is not None]


def _batches(tasks: Sequence[Task], size: int) -> Iterator[list[Task]]:
    """Give tasks of about one length together, the longest first: what fits fits to the end."""
    order = sorted(tasks, key=lambda one: (-len(one.asked.tokens), -len(one.target), one.key))
    for first in range(0, len(order), size):
        yield order[first : first + size]


def _answers(batch: Sequence[Task], network: ReactionNetwork, decoding: Decoding) -> list[Written]:
    asked = [task.asked for task in batch]
    try:
        if not batch[0].target:
            return network.write(asked, [task.name for task in batch], decoding)
        targets = [task.target for task in batch]
        values = network.log_likelihood(asked, targets)
    except InputError as error:
        names = ", ".join(dict.fromkeys(shown(task.told["stimulus"], 30) for task in batch[:3]))
        raise InputError(f"a batch with {names}: {error}") from None
    except torch.OutOfMemoryError:
        raise InputError(
            f"{plural(len(batch), 'prompt')} at a time do not fit into the memory of the GPU; "
            "expected a smaller batch_size (--batch-size), or bf16"
        ) from None
    return [
        Written("", value, len(target), True) for value, target in zip(values, targets, strict=True)
    ]
