"""Batches for the server of this folder, as OpenAI and Anthropic speak of them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from .fake_server import Answer, Call, Script, read_call

__all__ = ["FakeBatches", "Made"]


@dataclass
class Made:
    """A batch, as the server holds it."""

    id: str
    file: str
    lines: list[dict[str, Any]]
    at: float = field(default_factory=time.time)
    polls: int = 0


class FakeBatches:
    """Answers the lines of batches as a script answers what is asked at once.

    Parameters
    ----------
    script
        Answers a question, wherever it comes.
    polls
        Looks at a batch before it has ended.
    without
        Says of which lines nothing is said (of OpenAI) or that they expired.
    failed
        Why every batch is refused as a whole.
    n_lost
        Batches that are made, and whose maker is told of an error.
    """

    def __init__(
        self,
        script: Script,
        *,
        polls: int = 1,
        without: Callable[[Call], bool] = lambda _: False,
        failed: str = "",
        n_lost: int = 0,
    ) -> None:
        self.n_lost = n_lost
        self.script, self.polls, self.without, self.failed = script, polls, without, failed
        self.made: list[Made] = []
        self.at_once: list[Call] = []
        self.created, self.told = threading.Event(), threading.Event()
        """A batch is there; its id may be said."""
        self.told.set()
        self._files: dict[str, list[dict[str, Any]]] = {}
        self._lock = threading.Lock()

    def __call__(self, call: Call) -> Answer:
        path = call.path.partition("?")[0].removeprefix("/v1")
        claude = path.startswith("/messages/")
        rest = path.removeprefix("/messages").removeprefix("/batches").removeprefix("/")
        if path == "/files":
            return self._upload(call)
        if path.startswith("/files/"):
            return self._content(path.split("/")[2])
        if not path.removeprefix("/messages").startswith("/batches"):
            self.at_once.append(call)
            return self.script(call)
        if call.method == "POST":
            return self._create(call, claude)
        state = self._claude if claude else self._openai
        if not rest:
            listed = [state(one) for one in reversed(self.made)]
            return _json({"object": "list", "data": listed, "has_more": False})
        name, _, what = rest.partition("/")
        found = next((one for one in self.made if one.id == name), None)
        if found is None:
            return Answer(b'{"error": {"message": "no such batch"}}', status=404)
        if what:
            return self._results(found)
        found.polls += 1
        return _json({**state(found), "results_url": self._url(call, found)})

    @property
    def asked(self) -> list[str]:
        """Keys of all lines that were sent, in order."""
        return [line["custom_id"] for one in self.made for line in one.lines]

    @staticmethod
    def _url(call: Call, made: Made) -> str:
        return f"http://{call.headers['Host']}/v1/messages/batches/{made.id}/results"

    def _upload(self, call: Call) -> Answer:
        lines = [json.loads(one) for one in call.raw.splitlines() if one.startswith(b'{"custom')]
        with self._lock:
            name = f"file-{len(self._files)}"
            self._files[name] = lines
        return _json({"id": name, "object": "file", "bytes": 1, "created_at": 1, "purpose": "x"})

    def _create(self, call: Call, claude: bool) -> Answer:
        with self._lock:
            file = "" if claude else call.body["input_file_id"]
            lines = call.body["requests"] if claude else self._files[file]
            made = Made(f"batch_{len(self.made)}", file, lines)
            self.made.append(made)
        self.created.set()
        self.told.wait(120)
        if len(self.made) <= self.n_lost:
            return Answer(b"{}", status=504)
        return _json((self._claude if claude else self._openai)(made))

    def _ended(self, made: Made) -> bool:
        return made.polls >= self.polls

    def _openai(self, made: Made) -> dict[str, Any]:
        ended = self._ended(made)
        status = "failed" if self.failed else "completed" if ended else "in_progress"
        errors = {"data": [{"message": self.failed, "code": "x"}]} if self.failed else None
        done = len(made.lines) if ended else 0
        return {
            "id": made.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "created_at": int(made.at),
            "input_file_id": made.file,
            "status": status,
            "errors": errors,
            "output_file_id": f"out-{made.id}" if ended else None,
            "error_file_id": f"err-{made.id}" if ended else None,
            "request_counts": {"total": len(made.lines), "completed": done, "failed": 0},
        }

    def _claude(self, made: Made) -> dict[str, Any]:
        ended = self._ended(made)
        n = len(made.lines)
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        counts |= {"succeeded": n} if ended else {"processing": n}
        at = datetime.fromtimestamp(made.at, UTC).isoformat()
        return {
            "id": made.id,
            "type": "message_batch",
            "created_at": at,
            "expires_at": at,
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
        }

    def _answers(self, made: Made) -> list[tuple[str, Call, Answer | None]]:
        found = []
        for number, line in enumerate(made.lines):
            body = line.get("body", line.get("params"))
            call = read_call(number, json.dumps(body).encode())
            call.seen = self.asked.count(line["custom_id"])
            answer = None if self.without(call) else self.script(call)
            found.append((line["custom_id"], call, answer))
        return found

    def _content(self, name: str) -> Answer:
        kind, _, made = name.partition("-")
        lines = []
        for key, call, answer in self._answers(next(one for one in self.made if one.id == made)):
            if answer is None:
                if kind == "err":
                    error = {"code": "batch_expired", "message": "not within 24 hours"}
                    lines.append({"custom_id": key, "response": None, "error": error})
            elif (answer.status == 200) == (kind == "out"):
                told = {"status_code": answer.status, "body": _body(answer, call)}
                lines.append({"custom_id": key, "response": told, "error": None})
        content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        return Answer(content, headers={"Content-Type": "application/octet-stream"})

    def _results(self, made: Made) -> Answer:
        lines = []
        for key, call, answer in self._answers(made):
            result: dict[str, Any] = {"type": "expired"}
            if answer is not None:
                said = _body(answer, call)
                good = answer.status == 200
                result = {"type": "succeeded", "message": said} if good else {"type": "errored"}
                result |= {} if good else {"error": said}
            lines.append({"custom_id": key, "result": result})
        content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        return Answer(content, headers={"Content-Type": "application/x-jsonl"})


def _body(answer: Answer, call: Call) -> Any:
    from .fake_server import THE_ONE_ASKED

    return json.loads(answer.body.replace(THE_ONE_ASKED.encode(), call.body["model"].encode()))


def _json(told: Any) -> Answer:
    return Answer(json.dumps(told).encode())
