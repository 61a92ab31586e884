"""A hub of data sets on this machine: the part of the hub's HTTP interface that reading uses."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import yaml

NOTHING = (404, {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"})


@dataclass
class Repository:
    """A data set as it stands at one commit."""

    files: dict[str, bytes]
    gated: bool = False
    token: str = "hf_right"
    elsewhere: str = ""
    """Server to which readers of files are sent."""
    lost: int = 0
    """Bytes at the end of whatever is sent of a file that never come."""

    @property
    def sha(self) -> str:
        """The commit, made of the content as git does."""
        digest = hashlib.sha1(usedforsecurity=False)
        for name, content in sorted(self.files.items()):
            digest.update(name.encode() + b"\0" + content + b"\0")
        return digest.hexdigest()

    @property
    def card(self) -> dict[str, Any]:
        """The YAML at the head of the card."""
        text = self.files.get("README.md", b"").decode()
        return yaml.safe_load(text.split("---")[1]) if text.startswith("---") else {}


@dataclass
class Hub:
    """The repositories of a server, and what was asked of it."""

    repositories: dict[str, Repository] = field(default_factory=dict)
    endpoint: str = ""
    asked: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    """Authorization that came with each request."""
    sent: int = 0
    """Bytes of files that were sent."""
    broken: int = 0
    """A status that is answered to everything, when not zero."""
    down: bool = False
    """Close every connection without a word."""

    older: dict[str, Repository] = field(default_factory=dict)
    """Commits before the newest, by name and commit."""

    def add(self, name: str, files: dict[str, bytes], **more: Any) -> Repository:
        """Put a commit on top of a data set."""
        before = self.repositories.get(name)
        if before is not None:
            self.older[f"{name}@{before.sha}"] = before
        self.repositories[name] = Repository(files, **more)
        return self.repositories[name]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    hub: Hub

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_POST(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        url = urlsplit(self.path)
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.hub.asked.append(f"{self.command} {self.path}")
        self.hub.tokens.append(self.headers.get("Authorization") or "")
        if self.hub.down:
            self.close_connection = True
            return
        if self.hub.broken:
            self._send(self.hub.broken, {}, b"", body)
            return
        parts = [unquote(part) for part in url.path.strip("/").split("/")]
        api = parts[0] == "api"
        parts = parts[1:] if api else parts
        name = "/".join(parts[1:3])
        repository = self.hub.repositories.get(name)
        if parts[0] != "datasets" or repository is None:
            self._send(*NOTHING, b'{"error": "Repository not found"}', body)
            return
        verb, revision = [*parts[3:5], "", ""][:2]
        path = "/".join(parts[5:])
        known = ("", "main", repository.sha)
        repository = self.hub.older.get(f"{name}@{revision}", repository)
        if revision not in known and f"{name}@{revision}" not in self.hub.older:
            self._send(404, {"X-Error-Code": "RevisionNotFound"}, b'{"error": "no"}', body)
        elif not api:
            self._file(repository, name, path, body)
        elif verb in ("", "revision"):
            self._send_json(self._info(repository, name), body)
        elif verb == "tree":
            deep = parse_qs(url.query).get("recursive", [""])[0].lower() == "true"
            self._tree(repository, path, deep, body)
        elif verb == "paths-info":
            wanted = self._form(sent).get("paths", [])
            wanted = [wanted] if isinstance(wanted, str) else wanted
            found = [entry for path in wanted for entry in self._entries(repository, path, None)]
            self._send_json(found, body)
        else:
            self._send(404, {}, b'{"error": "no such part"}', body)

    def _form(self, sent: bytes) -> dict[str, Any]:
        kind = self.headers.get("Content-Type", "")
        if "json" in kind:
            return json.loads(sent)
        return parse_qs(sent.decode())

    def _info(self, repository: Repository, name: str) -> dict[str, Any]:
        return {
            "_id": "0",
            "id": name,
            "sha": repository.sha,
            "private": False,
            "gated": "manual" if repository.gated else False,
            "disabled": False,
            "tags": [],
            "downloads": 0,
            "likes": 0,
            "cardData": repository.card,
            "siblings": [{"rfilename": file} for file in sorted(repository.files)],
        }

    def _entries(
        self, repository: Repository, path: str, deep: bool | None
    ) -> Iterator[dict[str, Any]]:
        """Entries under a folder; None: the one entry of this path."""
        folders = set()
        for file, content in sorted(repository.files.items()):
            above = file.split("/")[:-1]
            folders |= {"/".join(above[: depth + 1]) for depth in range(len(above))}
            inside = file.startswith(path + "/") if path else True
            rest = file[len(path) + 1 :] if path else file
            if file == path if deep is None else inside and (deep or "/" not in rest):
                oid = hashlib.sha1(content, usedforsecurity=False).hexdigest()
                yield {"type": "file", "oid": oid, "size": len(content), "path": file}
        for folder in sorted(folders):
            inside = folder.startswith(path + "/") if path else True
            rest = folder[len(path) + 1 :] if path else folder
            if folder == path if deep is None else inside and (deep or "/" not in rest):
                yield {"type": "directory", "oid": "0" * 40, "size": 0, "path": folder}

    def _tree(self, repository: Repository, path: str, deep: bool, body: bool) -> None:
        found = list(self._entries(repository, path, deep))
        if not found:
            self._send(404, {"X-Error-Code": "EntryNotFound"}, b'{"error": "no"}', body)
        else:
            self._send_json(found, body)

    def _file(self, repository: Repository, name: str, path: str, body: bool) -> None:
        said = self.headers.get("Authorization", "")
        if repository.gated and said != f"Bearer {repository.token}":
            status = 403 if said else 401
            self._send(status, {"X-Error-Code": "GatedRepo"}, b'{"error": "gated"}', body)
            return
        content = repository.files.get(path)
        commit = {"X-Repo-Commit": repository.sha}
        if content is None:
            self._send(404, {"X-Error-Code": "EntryNotFound", **commit}, b"", body)
            return
        if repository.elsewhere:
            place = f"{repository.elsewhere}/datasets/{name}/resolve/main/{path}"
            size = {"X-Linked-Size": str(len(content)), "X-Linked-Etag": '"large"'}
            self._send(302, {"Location": place, **size, **commit}, b"", body)
            return
        etag = hashlib.sha1(content, usedforsecurity=False).hexdigest()
        headers = {"ETag": f'"{etag}"', "Accept-Ranges": "bytes", **commit}
        wanted = self.headers.get("Range")
        status = 200
        if wanted:
            first, last = wanted.removeprefix("bytes=").split("-")
            start = int(first)
            end = min(int(last) + 1 if last else len(content), len(content))
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(content)}"
            content, status = content[start:end], 206
        if body:
            content = content[: len(content) - repository.lost]
            self.hub.sent += len(content)
        self._send(status, headers, content, body)

    def _send_json(self, content: Any, body: bool) -> None:
        self._send(200, {"Content-Type": "application/json"}, json.dumps(content).encode(), body)

    def _send(self, status: int, headers: dict[str, str], content: bytes, body: bool) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self.wfile.write(content)


@contextmanager
def serving() -> Iterator[Hub]:
    """Run a hub on a free port of this machine."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
