"""What asking a model costs besides the model: 20,000 questions to one that answers at once."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks._harness import Mismatch, Size, Workload

_TEXTS = {"tiny": 20, "quick": 1000, "full": 20_000}
_PART = 2000
"""Questions that the peer asks at most; what it takes grows with them at least evenly."""
_AT_ONCE = 8
_ANSWER = '{"chosen": ["joy"]}'


@dataclass(frozen=True)
class _Data:
    texts: tuple[str, ...]
    prompts: tuple[tuple[str, str], ...]
    """System and question of each text, as ours asks."""


def _model() -> str:
    """Register a model that answers at once, with tokens as a provider counts them."""
    from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, modelapi

    class Instant(ModelAPI):
        async def generate(self, *_: object, **__: object) -> ModelOutput:
            output = ModelOutput.from_content(self.model_name, _ANSWER)
            output.usage = ModelUsage(input_tokens=300, output_tokens=8, total_tokens=308)
            return output

    modelapi("instant")(Instant)
    return "instant/m"


def make(size: Size) -> _Data:
    """Write texts, and the prompts about them."""
    from affectlab.models.vlm import build_prompt
    from affectlab.models.vlm.prompts import Stimulus
    from affectlab.protocols import load_protocol

    texts = tuple(
        f"This is comment number {i}, and it is a happy one." for i in range(_TEXTS[size])
    )
    protocol = load_protocol("multilabel")
    prompts = [build_prompt(protocol, Stimulus(texts=(text,)), order_seed=0) for text in texts]
    return _Data(texts, tuple((one.system, one.text) for one in prompts))


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="affectlab-asking-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def ours(data: _Data) -> tuple[int, int]:
    """Ask with a purse and a ledger that survives a kill; gives usable answers and tokens."""
    import polars as pl

    from affectlab.models.vlm import Budget, VlmRater

    model = _model()
    with _folder() as folder:
        table = folder / "texts.csv"
        names = [f"t{i}" for i in range(len(data.texts))]
        pl.DataFrame({"stimulus": names, "text": data.texts}).write_csv(table)
        rater = VlmRater(
            model,
            "multilabel",
            folder / "run",
            budget=Budget(usd=1e6),
            price_in=1.0,
            price_out=1.0,
            concurrency=_AT_ONCE,
        )
        run = rater.rate(table)
        return run.n_usable, run.usage.total


def theirs(data: _Data) -> tuple[int, int]:
    """Run a Task with the same questions, which writes a log."""
    import json

    from inspect_ai import Task, eval as evaluate
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser
    from inspect_ai.scorer import CORRECT, INCORRECT, Score, Target, accuracy, scorer
    from inspect_ai.solver import TaskState

    @scorer(metrics=[accuracy()])
    def chosen() -> Any:
        async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
            try:
                good = isinstance(json.loads(state.output.completion)["chosen"], list)
            except (ValueError, KeyError):
                good = False
            return Score(value=CORRECT if good else INCORRECT)

        return score

    model = _model()
    samples = [
        Sample(
            id=f"t{i}", input=[ChatMessageSystem(content=system), ChatMessageUser(content=question)]
        )
        for i, (system, question) in enumerate(data.prompts[:_PART])
    ]
    with _folder() as folder:
        (log,) = evaluate(
            Task(dataset=samples, scorer=chosen()),
            model=model,
            log_dir=str(folder),
            display="none",
            max_connections=_AT_ONCE,
            max_samples=_AT_ONCE,
        )
        if log.results is None:
            raise Mismatch(f"the Task ended as {log.status}: {log.error and log.error.message}")
        share = log.results.scores[0].metrics["accuracy"].value
        usage = log.stats.model_usage[model]
        return round(share * len(samples)), usage.total_tokens


def check(data: _Data, mine: Any, peer: Any) -> str:
    """Both have asked everything, and counted the same tokens for a question."""
    n, part = len(data.texts), min(len(data.texts), _PART)
    if (mine[0], peer[0]) != (n, part) or mine[1] * part != peer[1] * n:
        raise Mismatch(f"ours has {mine} usable answers and tokens, the peer {peer}")
    return "all answers usable, the same tokens for each"


def scale(data: _Data) -> float:
    """Give all questions over those that the peer asks."""
    return len(data.texts) / min(len(data.texts), _PART)


WORKLOADS = (
    Workload(
        name="20,000 questions to a model that answers at once, 8 at a time",
        peer="inspect-ai, a Task with generate() and a scorer",
        make=make,
        ours=ours,
        theirs=theirs,
        check=check,
        faster=1.0,
        scale=scale,
        extrapolated="the peer asks 2,000 of 20,000, times 10; its memory is that of 2,000.",
        packages=("inspect-ai",),
        rounds=1,
        best="No display; as many samples as connections. Its prompts are made beforehand.",
        note="Ours builds its prompts, writes each question and each answer to the disk before it "
        "goes on, counts money, and writes an Inspect log as well.",
    ),
)
