"""Work on parts of what is embedded: one after the other here, or side by side on Ray."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from affectlab.core.errors import AffectlabError, InputError

__all__ = ["STOP", "Tick", "Where", "Work"]

STOP = "stop"
"""Key of a result after which parts that follow need not be worked on."""
Tick = Callable[[int], None]
"""Is told how many more inputs are done."""
Work = Callable[[Any, Tick], dict[str, Any]]
"""Works on one part; gives plain values, ``n`` among them: how many inputs it had."""
_TRIES = 3
"""Times that a part is worked on when processes or machines of the cluster die."""
_LEAST, _EACH = 64, 4
"""Rows of a part of a cluster at least, and parts for each lane, so that all end together."""


@dataclass(frozen=True)
class Where:
    """Where parts are worked on."""

    runner: str = "native"
    partitions: int | None = None
    """Into how many parts the work is cut; None: by its size."""

    @property
    def is_here(self) -> bool:
        """Whether this process does the work."""
        return self.runner == "native"

    def begin(self) -> None:
        """Make the runner ready.

        Raises
        ------
        InputError
            When it is not known, or cannot be used.
        MissingDependencyError
            When it needs libraries that are not installed.
        """
        from affectlab.core.remote.runner import use_ray

        if not self.is_here:
            use_ray(self.runner)

    def cut(self, entries: Sequence[Any], rows: int, *, gpu: bool = False) -> list[Sequence[Any]]:
        """Cut a list into parts that follow each other, by default of so many rows at most."""
        n = self.partitions or -(-len(entries) // rows)
        if self.partitions is None and not self.is_here:
            n = max(n, min(_EACH * _lanes(gpu), len(entries) // _LEAST))
        n = max(1, min(n, len(entries)))
        edges = [len(entries) * part // n for part in range(n + 1)]
        return [entries[start:end] for start, end in pairwise(edges)]

    def run(
        self, parts: Sequence[Any], work: Work, tick: Tick, *, gpu: bool = False
    ) -> list[dict[str, Any]]:
        """Work on parts, and give what they gave, in their order.

        In this process what a part gives may end it. On Ray all parts are worked on, as many at a
        time as there are processors, or GPUs; those of a process that died are worked on again.

        Parameters
        ----------
        gpu
            Whether a part needs a GPU of the cluster to itself.

        Raises
        ------
        InputError
            When the work on a part raised, or its process died three times.
        """
        if not self.is_here:
            return _on_ray(parts, work, tick, gpu)
        found = []
        for part in parts:
            found.append(work(part, tick))
            if found[-1].get(STOP):
                break
        return found


def _lanes(gpu: bool) -> int:
    """How many parts a cluster works on at a time."""
    import ray

    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return max(1, int(resources.get("GPU" if gpu else "CPU", 1)))


def _on_ray(parts: Sequence[Any], work: Work, tick: Tick, gpu: bool) -> list[dict[str, Any]]:
    import ray

    attempt = ray.remote(num_cpus=1, num_gpus=int(gpu), max_retries=_TRIES - 1)(_attempt)
    shared = ray.put(work)
    found: dict[int, dict[str, Any]] = {}
    left = iter(enumerate(parts))
    pending: dict[Any, int] = {}
    most = 2 * _lanes(gpu)
    try:
        while True:
            while len(pending) < most and (entry := next(left, None)) is not None:
                pending[attempt.remote(shared, entry[1])] = entry[0]
            if not pending:
                return [found[part] for part in range(len(parts))]
            for done in ray.wait(list(pending))[0]:
                part = pending.pop(done)
                result = ray.get(done)
                if isinstance(result, str):
                    raise InputError(result)
                found[part] = result
                tick(int(result["n"]))
    except ray.exceptions.WorkerCrashedError:
        raise InputError(
            f"part {part + 1} of {len(parts)}: the process that worked on it died {_TRIES} times, "
            "as where memory runs out; what was done is kept. Expected smaller parts (--partitions)"
        ) from None
    finally:
        for other in pending:
            ray.cancel(other, force=False)


def _attempt(work: Work, part: Any) -> dict[str, Any] | str:
    """Work on one part; a problem of the input comes back in words from another machine."""
    try:
        return work(part, _nobody)
    except AffectlabError as problem:
        return str(problem)


def _nobody(n: int) -> None:
    """Stand where nobody wants to be told."""
