"""What one attempt brought: the answer as inspect-ai gives it, in our words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from affectlab.models.vlm._cost import Usage
from affectlab.models.vlm._failures import Failure

if TYPE_CHECKING:
    from inspect_ai.model import ModelOutput

__all__ = ["STRUCTURED", "Reply", "left_out", "reply_of"]

STRUCTURED = "structured"
"""Stands for the schema among the settings of a request."""
_UNKNOWN = "unknown"
_SCHEMA_NAMES = (
    *("response_format", "output_format", "format", "response_schema", "responseSchema"),
    *("response_json_schema", "responseJsonSchema", "guided_json"),
)
"""Under which a request holds the schema, by provider."""


@dataclass(frozen=True)
class Reply:
    """What one attempt brought."""

    text: str | None = None
    stop_reason: str = ""
    refusal: str = ""
    failure: Failure | None = None
    """Why there is no answer."""
    usage: Usage = field(default_factory=Usage)
    served: str = ""
    """Model that answered, as the provider names it."""
    seconds: float = 0.0
    not_sent: tuple[str, ...] = ()
    """Settings that were wanted and left out, since the model does not take them."""

    @property
    def lost(self) -> bool:
        """Whether a transport error took the answer."""
        return self.failure is not None and bool(self.failure.transport_error)


def reply_of(output: ModelOutput, call: Any, seconds: float) -> Reply:
    """Read what inspect-ai made of an answer, and of the request that brought it."""
    usage, served = _usage(output), str(output.model or "")
    if output.empty:
        return Reply(usage=usage, served=served, seconds=seconds)
    text, stop = output.completion, str(output.stop_reason)
    said = getattr(call, "response", None)
    refused_request = bool(getattr(call, "error", False)) or (
        isinstance(said, dict) and "error" in said and "choices" not in said
    )
    if refused_request and stop == "model_length":
        # A prompt that is too long comes as an answer that was cut off, with the message as text.
        rejected = Failure(rejection=text or "the prompt is too long", http_status=400)
        return Reply(failure=rejected, usage=usage, served=served, seconds=seconds)
    return Reply(
        text=text,
        stop_reason="" if stop == _UNKNOWN else stop,
        refusal=_refusal(output, stop),
        usage=usage,
        served=served,
        seconds=seconds,
    )


def left_out(call: Any, wanted: list[str]) -> tuple[str, ...]:
    """Say which settings are not in the request that went out; it may hold them in an object."""
    request = getattr(call, "request", None)
    if not isinstance(request, dict):
        return ()
    parts = [request, *(value for value in request.values() if isinstance(value, dict))]
    missing = []
    for name in wanted:
        names = _SCHEMA_NAMES if name == STRUCTURED else (name,)
        if not any(part.get(one) is not None for part in parts for one in names):
            missing.append(name)
    return tuple(missing)


def _refusal(output: ModelOutput, stop: str) -> str:
    """Find the model's own refusal, which providers keep apart from its text."""
    content = output.message.content
    parts = content if isinstance(content, list) else []
    told = [str(getattr(part, "text", "")) for part in parts if getattr(part, "refusal", None)]
    if told:
        return " ".join(told).strip() or "refused"
    return str(output.error or "") if stop == "content_filter" else ""


def _usage(output: ModelOutput) -> Usage:
    found = output.usage
    if found is None or not (found.input_tokens or found.output_tokens or found.total_tokens):
        # Servers that count nothing are read as zeros.
        return Usage()
    return Usage(
        input=found.input_tokens,
        cached=found.input_tokens_cache_read,
        written=found.input_tokens_cache_write,
        output=found.output_tokens,
        reasoning=found.reasoning_tokens,
    )
