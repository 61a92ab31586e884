"""Object stores: the real protocol of S3, spoken by a server on this machine."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.stimuli.curation.input.staging import stage

SERVER = os.environ.get("AFFECTLAB_MOTO_SERVER") or shutil.which(
    "moto_server", path=Path(sys.executable).parent
)
"""The S3 server of the package moto; it may live in an environment of its own."""

pytestmark = pytest.mark.skipif(SERVER is None, reason="moto_server is not installed")


@pytest.fixture(scope="module")
def options() -> Iterator[str]:
    """Options of a URL that lead to a server with three objects."""
    from pyarrow.fs import FileSystem

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [str(SERVER), "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(200):
            with socket.socket() as door:
                if door.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        found = f"?scheme=http&endpoint_override=127.0.0.1:{port}&region=us-east-1"
        found += "&allow_bucket_creation=true"
        system, _ = FileSystem.from_uri(f"s3://key:secret@comments{found}")
        system.create_dir("comments")
        for number in range(3):
            rows = [{"id": f"{number}-{k}", "body": f"Comment {k}"} for k in range(4)]
            text = "".join(json.dumps(row) + "\n" for row in rows)
            name = "comments/raw/" + ("c.txt" if number == 2 else f"20{number}/c{number}.jsonl")
            with system.open_output_stream(name) as file:
                file.write(text.encode())
        yield found
    finally:
        server.terminate()
        server.wait(20)


def test_urls_of_an_object_store(tmp_path: Path, options: str) -> None:
    expected = [f"{number}-{k}" for number in range(2) for k in range(4)]
    for number, path in enumerate(["raw", "raw/*/c*.jsonl", "raw/**/*.jsonl"]):
        pool = stage(f"s3://key:secret@comments/{path}{options}", tmp_path / str(number))
        ids = [name for part in pool.parts for name in pl.read_parquet(part)["id"]]
        assert ids == expected
        assert pool.files["url"].to_list() == [
            "s3://comments/raw/200/c0.jsonl",
            "s3://comments/raw/201/c1.jsonl",
        ]
        assert pool.counts == ({"unknown_file": 1} if path == "raw" else {})
        written = [file.read_bytes() for file in (tmp_path / str(number)).rglob("*.json")]
        assert len(written) == 3
        assert not any(b"secret" in content for content in written)


def test_an_object_that_is_not_there(tmp_path: Path, options: str) -> None:
    for path in ("raw/none.jsonl", "none/*.jsonl"):
        with pytest.raises(InputError, match=r"not found|no file to read") as caught:
            stage(f"s3://key:secret@comments/{path}{options}", tmp_path / "out")
        assert "secret" not in str(caught.value)
