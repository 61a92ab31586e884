"""Batches as providers sell them: OpenAI's files and batches, which others copy, and Anthropic's.

A line of a batch is the request that the provider's library would have sent at once, and its reply
is read as if it had come at once: neither is built a second time here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from affectlab.core.errors import InputError
from affectlab.models.vlm.asking.failures import failure_of
from affectlab.models.vlm.asking.ledger import Batch
from affectlab.models.vlm.asking.provider import ARRIVED, FILE, Provider, Reply
from affectlab.models.vlm.prompts import Prompt

__all__ = ["BatchService", "Desk", "Request", "State", "service_of"]

_MOST_BYTES = 96 * 1024 * 1024
"""Most bytes of a batch; the limits of providers are at twice that, and it is held in memory."""


@dataclass(frozen=True)
class Request:
    """What would be sent at once, as the provider's library builds it."""

    endpoint: str
    """Path behind the version, such as ``/chat/completions``."""
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    """Those that a provider reads for a whole batch."""


@dataclass(frozen=True)
class State:
    """How far a batch is."""

    ended: bool
    n_done: int
    refused: str = ""
    """Why none of its lines was taken, where the batch failed as a whole."""


Line = tuple[str, int | None, Any]
"""Key of a question, status and body of its reply; without a status the body says in a sentence why
it was never asked."""


class BatchService(Protocol):
    """What providers that sell batches can do; errors are those of their libraries."""

    most_bytes: int
    by_file: bool
    """Whether the lines are brought there first: a batch is known by its file before it is made."""

    async def check(self) -> None:
        """Ask whether there are batches here."""

    def line(self, key: str, request: Request) -> bytes:
        """Write a line of a batch."""

    async def upload(self, lines: Sequence[bytes]) -> str:
        """Bring the lines there; gives the name of the file, "" where none is needed."""

    async def create(self, file: str, lines: Sequence[bytes], request: Request) -> str:
        """Make a batch that is worked off; gives its id."""

    async def find(self, batch: Batch) -> tuple[str, bool]:
        """Find a batch whose id was not written: its id or "", and whether one may still be it."""

    async def state(self, batch: Batch) -> State:
        """Say how far a batch is."""

    def results(self, batch: Batch) -> AsyncGenerator[Line]:
        """Give the replies of a batch that has ended."""


class _OfOpenAI:
    """Lines in a file, and a batch that reads it: it is known by its file."""

    most_bytes = _MOST_BYTES
    by_file = True

    def __init__(self, client: Any) -> None:
        self._client = client

    async def check(self) -> None:
        await self._client.batches.list(limit=1)

    def line(self, key: str, request: Request) -> bytes:
        url = f"/v1{request.endpoint}"
        told = {"custom_id": key, "method": "POST", "url": url, "body": request.body}
        return json.dumps(told).encode() + b"\n"

    async def upload(self, lines: Sequence[bytes]) -> str:
        content = ("affectlab.jsonl", b"".join(lines), "application/jsonl")
        return str((await self._client.files.create(file=content, purpose="batch")).id)

    async def create(self, file: str, lines: Sequence[bytes], request: Request) -> str:  # noqa: ARG002
        made = await self._client.batches.create(
            input_file_id=file, endpoint=f"/v1{request.endpoint}", completion_window="24h"
        )
        return str(made.id)

    async def find(self, batch: Batch) -> tuple[str, bool]:
        if not batch.file:
            return "", False
        async for one in self._client.batches.list(limit=100):
            if one.input_file_id == batch.file:
                return str(one.id), False
            if one.created_at < _begun(batch).timestamp():
                break
        return "", False

    async def state(self, batch: Batch) -> State:
        told = await self._client.batches.retrieve(batch.id)
        counts = told.request_counts
        n_done = counts.completed + counts.failed if counts else 0
        refused = ""
        if told.status == "failed":
            errors = (told.errors.data if told.errors else None) or ()
            refused = "; ".join(str(one.message) for one in errors[:3]) or "it says no reason"
        ended = told.status in ("completed", "failed", "expired", "cancelled")
        return State(ended, n_done, refused)

    async def results(self, batch: Batch) -> AsyncGenerator[Line]:
        told = await self._client.batches.retrieve(batch.id)
        for file in (told.output_file_id, told.error_file_id):
            if not file:
                continue
            FILE.set(True)
            try:
                async with self._client.files.with_streaming_response.content(file) as content:
                    async for line in content.iter_lines():
                        if line.strip():
                            yield _openai_line(json.loads(line))
            finally:
                FILE.set(False)


def _openai_line(told: Mapping[str, Any]) -> Line:
    key, response, error = str(told.get("custom_id")), told.get("response"), told.get("error")
    if isinstance(response, Mapping) and response.get("status_code"):
        return key, int(response["status_code"]), response.get("body")
    said = error if isinstance(error, Mapping) else {}
    code = str(said.get("code", ""))
    if code.isdecimal() and 400 <= int(code) <= 599:
        return key, int(code), {"error": dict(said)}
    return key, None, f"{code} {said.get('message') or 'no reply in the batch'}".strip()


class _OfAnthropic:
    """Requests in the body of one call: a batch is known by the keys of its replies."""

    most_bytes = _MOST_BYTES
    by_file = False

    def __init__(self, client: Any) -> None:
        self._batches = client.messages.batches

    async def check(self) -> None:
        await self._batches.list(limit=1)

    def line(self, key: str, request: Request) -> bytes:
        return json.dumps({"custom_id": key, "params": request.body}).encode()

    async def upload(self, lines: Sequence[bytes]) -> str:  # noqa: ARG002
        return ""

    async def create(self, file: str, lines: Sequence[bytes], request: Request) -> str:  # noqa: ARG002
        made = await self._batches.create(
            requests=[json.loads(line) for line in lines], extra_headers=dict(request.headers)
        )
        return str(made.id)

    async def find(self, batch: Batch) -> tuple[str, bool]:
        unsure = False
        async for one in self._batches.list(limit=100):
            if one.created_at < _begun(batch):
                break
            counts = one.request_counts
            n = sum(counts.model_dump(include=set(_COUNTS)).values())
            if n != batch.n_sent:
                continue
            if one.processing_status != "ended":
                unsure = True
                continue
            async with aclosing(self._lines(one.id)) as lines:
                async for key, _, _ in lines:
                    if key in batch.keys:
                        return str(one.id), False
                    break
        return "", unsure

    async def state(self, batch: Batch) -> State:
        told = await self._batches.retrieve(batch.id)
        done = told.request_counts.model_dump(include=set(_COUNTS) - {"processing"})
        return State(told.processing_status == "ended", sum(done.values()))

    def results(self, batch: Batch) -> AsyncGenerator[Line]:
        return self._lines(batch.id)

    async def _lines(self, name: str) -> AsyncGenerator[Line]:
        FILE.set(True)
        try:
            async for one in await self._batches.results(name):
                yield _anthropic_line(one.to_dict())
        finally:
            FILE.set(False)


_COUNTS = ("processing", "succeeded", "errored", "canceled", "expired")
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""Status with which Anthropic sends an error at once, which a line of a batch does not say."""


def _anthropic_line(told: Mapping[str, Any]) -> Line:
    key, result = str(told["custom_id"]), told["result"]
    if result["type"] == "succeeded":
        return key, 200, result["message"]
    if result["type"] == "errored":
        return key, _STATUS.get(result["error"]["error"]["type"], 500), result["error"]
    return key, None, f"{result['type']} in the batch"


def _begun(batch: Batch) -> datetime:
    """When a batch can have been made at the earliest; clocks differ."""
    return datetime.fromisoformat(batch.at) - timedelta(minutes=10)


def service_of(provider: Provider) -> BatchService:
    """Find how a provider sells batches.

    Raises
    ------
    InputError
        When it sells none that we know of.
    """
    client = provider.client
    if hasattr(client, "batches") and hasattr(client, "chat"):
        return _OfOpenAI(client)
    if hasattr(getattr(client, "messages", None), "batches"):
        return _OfAnthropic(client)
    raise no_batches(provider.model)


def no_batches(model: str) -> InputError:
    """Say that a provider sells no batches."""
    return InputError(
        f"model {model!r} cannot be asked in batches; expected OpenAI, Anthropic, or a server that "
        "has OpenAI's /batches, or --config batch=no"
    )


async def check_service(service: BatchService, provider: Provider) -> None:
    """Check that a server has batches, before anything is sent.

    Raises
    ------
    InputError
        When it has none, or cannot be reached.
    """
    try:
        await service.check()
    except Exception as error:  # noqa: BLE001
        found = failure_of(error)
        if found is None or found.http_status in _NONE:
            raise no_batches(provider.model) from None
        said = provider.secrets.clean(found.rejection or found.transport_error)
        raise InputError(f"the batches of {provider.model!r} cannot be reached: {said}") from None


_NONE = (404, 405, 501)
_REPLY: ContextVar[tuple[int, bytes] | None] = ContextVar("_REPLY", default=None)
_SENT: ContextVar[list[Request] | None] = ContextVar("_SENT", default=None)
_OF_BATCHES = ("anthropic-beta",)
_ENDPOINTS = ("/chat/completions", "/responses", "/messages")


class Desk:
    """Builds requests without sending them, and reads replies that came in a batch.

    Both are done by the provider's own library, whose transport is put in the place of the network:
    so the line of a batch is what would have been sent at once.
    """

    def __init__(self, provider: Provider) -> None:
        self._paper = provider.beside(_transport(provider.client))

    async def request(self, prompt: Prompt) -> Request:
        """Give the request that asks a prompt.

        Raises
        ------
        InputError
            When the library cannot put the question.
        """
        sent: list[Request] = []
        _SENT.set(sent)
        try:
            reply = await self._paper.ask(prompt)
        finally:
            _SENT.set(None)
        if not sent:
            why = reply.failure.transport_error if reply.failure else ""
            raise InputError(f"model {self._paper.model!r} cannot be asked: {why}")
        return sent[0]

    async def read(self, prompt: Prompt, status: int, body: Any) -> Reply:
        """Read a reply as if it had come at once."""
        _REPLY.set((status, json.dumps(body).encode()))
        try:
            return await self._paper.ask(prompt)
        finally:
            _REPLY.set(None)

    async def close(self) -> None:
        """Let go of the library."""
        await self._paper.close()


def _transport(client: Any) -> Any:
    """Make a transport of the library that a client asks through: it answers, and sends nothing."""
    kinds = type(client._client).__mro__
    home = next(kind.__module__ for kind in kinds if kind.__name__ == "AsyncClient")
    library = sys.modules[home.partition(".")[0]]

    async def handle(_: Any, request: Any) -> Any:
        reply, sent = _REPLY.get(), _SENT.get()
        content = await request.aread()
        if sent is not None:
            path = request.url.path
            endpoint = next((one for one in _ENDPOINTS if path.endswith(one)), path)
            body = json.loads(content)
            # Nothing streams out of a batch.
            body.pop("stream", None)
            headers = {name: request.headers[name] for name in _of_batches(request.headers)}
            sent.append(Request(endpoint, body, headers))
        arrived = ARRIVED.get()
        status, body = reply or (500, b"{}")
        if arrived is not None:
            arrived.append(status)
        return library.Response(status, content=body, headers={"content-type": "application/json"})

    return type("Paper", (library.AsyncBaseTransport,), {"handle_async_request": handle})()


def _of_batches(headers: Iterable[str]) -> list[str]:
    return [name for name in _OF_BATCHES if name in headers]
