"""A small server that speaks OpenAI's chat completions, with the moods of a real one."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[[dict[str, Any]], tuple[int, dict[str, str], bytes]]


def completion(content: str | None, *, finish: str = "stop", refusal: str | None = None) -> bytes:
    """Body of an answer."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    body = {
        "id": "x",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 3},
    }
    return json.dumps(body).encode()


def emotions(*terms: str) -> bytes:
    return completion(json.dumps({"emotions": list(terms)}))


@dataclass
class Server:
    """Where it listens, and what it was asked."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)


@contextmanager
def serving(reply: Reply) -> Iterator[Server]:
    """Serve on a free port of this machine."""
    server = Server()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            question = json.loads(body)
            with lock:
                server.asked.append(question)
                server.keys.append(self.headers.get("authorization"))
                found = (
                    reply(question)
                    if self.path == "/v1/chat/completions"
                    else (404, {}, b"no such path")
                )
            status, headers, answer = found
            self.send_response(status)
            for name, value in {"content-length": str(len(answer)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
    thread.start()
    server.url = f"http://127.0.0.1:{listening.server_port}/v1"
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def passage(question: dict[str, Any]) -> str:
    """The text that a question is about."""
    return str(question["messages"][1]["content"]).removeprefix("Passage:\n\n")
