"""A server on this machine that speaks OpenAI's chat completions, and answers as a script says."""

from __future__ import annotations

import base64
import json
import math
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Call:
    """One request, as it arrived."""

    number: int
    """From 0 on."""
    body: dict[str, Any]
    headers: dict[str, str]
    images: list[bytes]
    """Bytes of the pictures, in order."""
    media: list[str]
    text: str
    """All texts of the prompt."""
    path: str = ""
    sounds: list[bytes] = field(default_factory=list)
    """Bytes of the sounds, in order."""
    seen: int = 1
    """How often the same body came, this one included."""
    method: str = "POST"
    raw: bytes = b""


@dataclass
class Answer:
    """What to send back."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    """Seconds before anything is sent."""
    cut_at: int | None = None
    """Bytes of the body after which the connection is dropped."""


Script = Callable[[Call], Answer]
THE_ONE_ASKED = "the model that was asked"
"""Stands in an answer for the name that the request says."""


def chat(
    text: str | None,
    *,
    finish: str = "stop",
    refusal: str | None = None,
    usage: Mapping[str, Any] | None = None,
    wait: float = 0.0,
    model: str | None = None,
    first: Mapping[str, float] | None = None,
) -> Answer:
    """An answer of a model: of the one that was asked, or of another one.

    Parameters
    ----------
    first
        Probabilities of first tokens, the chosen one first.
    """
    counted = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model or THE_ONE_ASKED,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": refusal},
                "finish_reason": finish,
            }
        ],
    }
    if first is not None:
        listed = [
            {"token": token, "logprob": math.log(share), "bytes": list(token.encode())}
            for token, share in first.items()
        ]
        body["choices"][0]["logprobs"] = {"content": [{**listed[0], "top_logprobs": listed}]}
    if usage is None or usage:
        body["usage"] = dict(usage or counted)
    return Answer(json.dumps(body).encode(), wait=wait)


def values(**rated: float) -> Answer:
    """A valid answer of the protocol intensity."""
    return chat(json.dumps(rated))


def error(status: int, message: str = "no", *, code: str | None = None, **headers: str) -> Answer:
    """An error in the form of OpenAI."""
    body = {"error": {"message": message, "type": "invalid_request_error", "code": code}}
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(json.dumps(body).encode(), status=status, headers=told)


def dropped(after: int = 40) -> Answer:
    """An answer whose connection ends within the body."""
    whole = values(Amusement=1)
    return Answer(whole.body, cut_at=after)


def garbled() -> Answer:
    """A body that is no JSON, although it says so."""
    return Answer(b'{"id": "x", "choices": [{')


def in_turn(*answers: Answer) -> Script:
    """Give one answer after the other to the same question, the last one for ever."""
    return lambda call: answers[min(call.seen, len(answers)) - 1]


class FakeServer:
    """Serves a script until it is left; see :class:`Call` for what is recorded."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.calls: list[Call] = []
        self.most_under_way = 0
        self._under_way = 0
        self._bodies: dict[bytes, int] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> FakeServer:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                outer._answer(self)

            def do_GET(self) -> None:
                outer._answer(self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request: Any, client_address: Any) -> None:
                # Clients that time out, or are killed, hang up.
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        content = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        with self._lock:
            self._under_way += 1
            self.most_under_way = max(self.most_under_way, self._under_way)
            self._bodies[content] = self._bodies.get(content, 0) + 1
            call = read_call(len(self.calls), content, dict(handler.headers), self._bodies[content])
            call.path, call.method = handler.path, handler.command
            self.calls.append(call)
        try:
            found = self.script(call)
            if found.wait:
                time.sleep(found.wait)
        finally:
            with self._lock:
                # Before the reply goes out: whoever has it may ask again at once.
                self._under_way -= 1
        asked = json.dumps(call.body.get("model"))[1:-1].encode()
        found = replace(found, body=found.body.replace(THE_ONE_ASKED.encode(), asked))
        handler.send_response(found.status)
        if "Content-Type" not in found.headers:
            handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(found.body)))
        for name, value in found.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(found.body[: found.cut_at])
        handler.wfile.flush()
        if found.cut_at is not None:
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)


def read_call(
    number: int, content: bytes, headers: Mapping[str, str] | None = None, seen: int = 1
) -> Call:
    """Read a request, or the body of a line of a batch."""
    told = dict(headers or {})
    plain = content and not told.get("Content-Type", "").startswith("multipart/")
    body = json.loads(content) if plain else {}
    images, media, texts, sounds = [], [], [], []
    for message in body.get("messages", ()):
        parts = message["content"]
        for part in [{"type": "text", "text": parts}] if isinstance(parts, str) else parts:
            if part["type"] == "text":
                texts.append(part["text"])
            elif part["type"] == "input_audio":
                media.append(part["input_audio"]["format"])
                sounds.append(base64.b64decode(part["input_audio"]["data"], validate=True))
            elif part["type"] == "image":
                # As Anthropic's messages have it.
                media.append(part["source"]["media_type"])
                images.append(base64.b64decode(part["source"]["data"], validate=True))
            else:
                head, _, data = part["image_url"]["url"].partition(";base64,")
                media.append(head.removeprefix("data:"))
                images.append(base64.b64decode(data, validate=True))
    return Call(
        number, body, told, images, media, "\n".join(texts), sounds=sounds, seen=seen, raw=content
    )
