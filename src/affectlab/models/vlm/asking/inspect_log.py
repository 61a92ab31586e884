"""A log of Inspect beside the ledger, for ``inspect view`` and ``inspect_ai.analysis``.

The ledger is the record; the log is made of it after each run. Inspect's models of a log are used
and not its writer, whose time grows with the square of the number of samples.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import uuid
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.evaluation import OUTCOMES
from affectlab.models.vlm.asking.budget import Usage
from affectlab.models.vlm.asking.ledger import Record
from affectlab.models.vlm.asking.limits import Halt
from affectlab.models.vlm.asking.outcomes import Judged, problem_of
from affectlab.models.vlm.asking.secrets import Secrets
from affectlab.models.vlm.asking.settings import AskSettings

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.model import ModelUsage

__all__ = ["Logged", "log_path", "write_log"]

_SCORE = "outcome"
_STOPS = ("stop", "max_tokens", "model_length", "content_filter")


@dataclass(frozen=True)
class Logged:
    """A question and what came of it."""

    name: str
    """Names it together with `number`."""
    number: int
    """How often the question was asked before, and this time."""
    prompt: str
    """All texts; a picture is named by its hash."""
    asked: Mapping[str, Any]
    record: Record
    judged: Judged


def log_path(folder: Path, rater: str) -> Path:
    """Name the log of a rater.

    Examples
    --------
    >>> log_path(Path("gpt.run"), "openai/gpt-4o-mini zero-shot").name
    'openai-gpt-4o-mini-zero-shot.eval'
    """
    return folder / f"{re.sub(r'[^A-Za-z0-9.]+', '-', rater).strip('-.')}.eval"


def write_log(
    path: Path,
    rater: str,
    model: str,
    settings: AskSettings,
    logged: Iterable[Logged],
    *,
    halt: Halt | None,
    secrets: Secrets,
) -> str:
    """Write the log, whole or not at all.

    Returns
    -------
    Why it could not be written, in a sentence; "" when it was. The answers do not depend on it.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        with (
            zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file,
            # A summary holds its prompt: those of a long run would fill the memory.
            tempfile.TemporaryFile() as summaries,
        ):
            header = _header(rater, model, settings, halt)
            for one in logged:
                sample = _sample(one, model, secrets)
                name = f"samples/{sample.id}_epoch_{sample.epoch}.json"
                file.writestr(name, sample.model_dump_json(exclude_none=True))
                summaries.write(b"," if summaries.tell() else b"[")
                summaries.write(sample.summary().model_dump_json(exclude_none=True).encode())
                _count(header, one)
            summaries.write(b"]" if summaries.tell() else b"[]")
            summaries.seek(0)
            with file.open("summaries.json", "w") as member:
                shutil.copyfileobj(summaries, member)
            file.writestr("header.json", header.model_dump_json(exclude_none=True))
        part.replace(path)
    # Whatever Inspect or the disk has against it: what was paid for stands in the ledger.
    except Exception as error:  # noqa: BLE001
        part.unlink(missing_ok=True)
        said = secrets.clean(" ".join(str(error).split())[:200])
        return f"the log for Inspect ({path}) could not be written: {type(error).__name__}: {said}"
    return ""


def _header(rater: str, model: str, settings: AskSettings, halt: Halt | None) -> EvalLog:
    from inspect_ai.log import (
        EvalConfig,
        EvalDataset,
        EvalError,
        EvalLog,
        EvalMetric,
        EvalResults,
        EvalScore,
        EvalSpec,
        EvalStats,
    )

    now = datetime.now(UTC).isoformat(timespec="seconds")
    usable = {"usable": EvalMetric(name="usable", value=0)}
    return EvalLog(
        status="success"
        if halt is None
        else "cancelled"
        if halt.kind == "interrupted"
        else "error",
        error=None
        if halt is None or halt.kind == "interrupted"
        else EvalError(message=halt.reason, traceback="", traceback_ansi=""),
        eval=EvalSpec(
            eval_id=uuid.uuid4().hex,
            run_id=uuid.uuid4().hex,
            task_id=uuid.uuid4().hex,
            created=now,
            task=rater,
            dataset=EvalDataset(name="stimuli", samples=0),
            model=model,
            model_base_url=settings.base_url,
            model_args=settings.sent(),
            config=EvalConfig(),
        ),
        results=EvalResults(scores=[EvalScore(name=_SCORE, scorer=_SCORE, metrics=usable)]),
        stats=EvalStats(completed_at=now),
    )


def _count(log: EvalLog, one: Logged) -> None:
    results = log.results
    assert results is not None
    results.total_samples += 1
    results.completed_samples += 1
    log.eval.dataset.samples = results.total_samples
    metric = results.scores[0].metrics["usable"]
    usable = OUTCOMES[one.judged.outcome].usable
    metric.value += (usable - metric.value) / results.total_samples
    log.stats.started_at = min(filter(None, (log.stats.started_at, one.record.at)), default="")
    before = log.stats.model_usage.get(log.eval.model)
    now = _usage(one.record.usage)
    if now is not None:
        log.stats.model_usage[log.eval.model] = now if before is None else before + now


def _usage(usage: Usage) -> ModelUsage | None:
    from inspect_ai.model import ModelUsage

    if not usage.known:
        return None
    return ModelUsage(
        input_tokens=usage.input or 0,
        output_tokens=usage.output or 0,
        total_tokens=usage.total,
        input_tokens_cache_read=usage.cached,
        input_tokens_cache_write=usage.written,
        reasoning_tokens=usage.reasoning,
    )


def _sample(one: Logged, model: str, secrets: Secrets) -> EvalSample:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import (
        ChatCompletionChoice,
        ChatMessageAssistant,
        ChatMessageUser,
        ModelOutput,
    )
    from inspect_ai.scorer import Score

    record, read = one.record, one.judged.read
    prompt = str(secrets.without(one.prompt))
    served = record.served or model
    usage = _usage(record.usage)
    problem = problem_of(record, one.judged)
    answer = ChatMessageAssistant(content=record.text or "", model=served, source="generate")
    stop: Any = record.stop_reason if record.stop_reason in _STOPS else "unknown"
    choice = ChatCompletionChoice(message=answer, stop_reason=stop)
    output = ModelOutput(
        model=served,
        choices=[] if record.text is None else [choice],
        usage=usage,
        time=record.seconds,
        error=problem if record.text is None else None,
    )
    score = Score(
        value=one.judged.outcome,
        answer=record.text,
        explanation=problem or None,
        metadata={"values": dict(read.values)},
    )
    about = {
        "key": record.key,
        "retries": record.retries,
        "served": record.served,
        "batch": record.batch,
        "charged": [record.charged.requests, record.charged.tokens, record.charged.usd],
    }
    return EvalSample(
        id=one.name,
        epoch=one.number,
        input=prompt,
        target="",
        messages=[ChatMessageUser(content=prompt), answer],
        output=output,
        scores={_SCORE: score},
        metadata=secrets.without({**one.asked, **about}),
        model_usage={} if usage is None else {model: usage},
        total_time=record.seconds,
        completed_at=record.at or None,
    )
