"""A server on this machine that speaks both of Hume's interfaces, and does as it is told."""

from __future__ import annotations

import io
import json
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from PIL import Image

KEY = "hume-secret-key-0123456789"


@dataclass
class Reply:
    """One reply; by default whatever the interface says to a picture with one face."""

    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False
    """Close the connection without a word."""
    after: float = 0.0


def upload_face(width: float, scores: dict[str, float], measured: bool = True) -> dict[str, Any]:
    told = [{"name": name, "probability": value} for name, value in scores.items()]
    return {
        "face_id": 0 if measured else None,
        "bbox": [5.0, 5.0, 5.0 + width, 25.0],
        "confidence": 0.98,
        "expressions": told if measured else None,
        "descriptions": [] if measured else None,
    }


def uploaded(*faces: dict[str, Any]) -> bytes:
    told = {
        "request_id": "r",
        "run_id": "u",
        "received": {"frames": 1},
        "measurements": [{"frame_id": 0, "faces": list(faces)}],
    }
    return json.dumps(told).encode()


def batch_face(width: float, scores: dict[str, float]) -> dict[str, Any]:
    return {
        "frame": 0,
        "time": 0,
        "prob": 0.99,
        "box": {"x": 1.0, "y": 2.0, "w": width, "h": 20.0},
        "emotions": [{"name": name, "score": value} for name, value in scores.items()],
    }


def predicted(*faces: dict[str, Any], errors: list[Any] | None = None) -> bytes:
    groups = [{"id": f"face_{k}", "predictions": [face]} for k, face in enumerate(faces)]
    told = [
        {
            "source": {"type": "file", "filename": "picture.jpg", "md5sum": "0"},
            "results": {
                "predictions": [
                    {
                        "file": "picture.jpg",
                        "models": {"face": {"metadata": None, "grouped_predictions": groups}},
                    }
                ]
                if faces
                else [],
                "errors": errors or [],
            },
        }
    ]
    return json.dumps(told).encode()


class FakeHume:
    """What the server does and what it has seen. Pictures are told apart by their width."""

    def __init__(self) -> None:
        self.url = ""
        self.upload: defaultdict[int, list[Reply]] = defaultdict(list)
        self.start: defaultdict[int, list[Reply]] = defaultdict(list)
        self.states: defaultdict[int, list[Reply]] = defaultdict(list)
        self.predictions: defaultdict[int, list[Reply]] = defaultdict(list)
        self.labels: tuple[str, ...] = ()
        self.seen: list[tuple[str, str, int]] = []
        """Method, path without the name of the job, and width of the picture."""
        self.bodies: list[bytes] = []
        self.fields: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.times: list[float] = []
        self.jobs: dict[str, int] = {}
        self.at_once = 0
        self.most_at_once = 0
        self.together: threading.Barrier | None = None
        """Where there is one, replies wait until as many are asked for."""
        self.lock = threading.Lock()

    def counted(self, path: str, width: int) -> int:
        return sum(seen[1:] == (path, width) for seen in self.seen)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hume: FakeHume

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        hume = self.hume
        with hume.lock:
            hume.at_once += 1
            hume.most_at_once = max(hume.most_at_once, hume.at_once)
        try:
            reply = self._reply()
        finally:
            with hume.lock:
                hume.at_once -= 1
        if reply.drop:
            self.close_connection = True
            self.connection.close()
            return
        body = reply.body or b""
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _reply(self) -> Reply:
        hume = self.hume
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        path = self.path
        width = 0
        if self.command == "POST":
            parts = _parts(self.headers["Content-Type"], body)
            width = Image.open(io.BytesIO(parts["file"])).width
        else:
            job = path.split("/")[4]
            width = hume.jobs.get(job, 0)
            path = path.replace(job, "JOB")
        with hume.lock:
            hume.seen.append((self.command, path, width))
            hume.keys.append(self.headers.get("X-Hume-Api-Key"))
            hume.times.append(time.monotonic())
            if self.command == "POST":
                hume.bodies.append(body)
                hume.fields.append({k: v for k, v in parts.items() if k != "file"})
        if self.headers.get("X-Hume-Api-Key") != KEY:
            said = f"no such key: {self.headers.get('X-Hume-Api-Key')}"
            return Reply(401, json.dumps({"message": said}).encode())
        return self._scripted(path, width)

    def _scripted(self, path: str, width: int) -> Reply:
        hume = self.hume
        one = dict.fromkeys(hume.labels, 0.5)
        if path == "/v1/expression/video/file":
            script, usual = hume.upload, Reply(body=uploaded(upload_face(20, {"joy": 0.75})))
        elif path == "/v0/batch/jobs":
            name = f"job-{len(hume.jobs)}"
            script, usual = hume.start, Reply(body=json.dumps({"job_id": name}).encode())
            if not script[width] or script[width][0].status == 200:
                hume.jobs[name] = width
        elif path == "/v0/batch/jobs/JOB":
            script, usual = hume.states, Reply(body=b'{"state": {"status": "COMPLETED"}}')
        elif path == "/v0/batch/jobs/JOB/predictions":
            script, usual = hume.predictions, Reply(body=predicted(batch_face(20, one)))
        else:
            return Reply(404, b'{"message": "no such path"}')
        with hume.lock:
            reply = script[width].pop(0) if script[width] else usual
        if hume.together is not None:
            hume.together.wait(60)
        time.sleep(reply.after)
        return (
            reply
            if reply.body is not None
            else Reply(reply.status, b'{"message": "as told"}', reply.headers, reply.drop)
        )


def _parts(kind: str, body: bytes) -> dict[str, bytes]:
    whole = BytesParser().parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
    found: dict[str, bytes] = {}
    for part in whole.get_payload():
        assert isinstance(part, Message)
        name = part.get_param("name", header="content-disposition")
        found[str(name)] = part.get_payload(decode=True)  # type: ignore[assignment]
    return found


@contextmanager
def serving() -> Iterator[FakeHume]:
    hume = FakeHume()
    handler = type("Handler", (_Handler,), {"hume": hume})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    hume.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield hume
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
