"""A port that is taken is told in one sentence, before any address is printed."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command import run_here

from affectlab.core.errors import InputError

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

from affectlab.study.server.serve import check_free


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield int(other.getsockname()[1])


def test_a_free_port_stays_free() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        port = int(other.getsockname()[1])
    check_free("127.0.0.1", port)
    check_free("127.0.0.1", port)


def test_a_taken_port(taken: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_here("study", "init", "faces.toml")
    done = run_here("study", "serve", "faces.toml", "--port", taken, code=2)
    assert done.stdout == ""
    assert f"port {taken} of 127.0.0.1 is taken" in done.stderr
    assert f"--port {taken + 1}" in done.stderr


def test_an_address_of_another_machine() -> None:
    with pytest.raises(InputError, match=r"^192\.0\.2\.1, port 8000: nothing can be served there"):
        check_free("192.0.2.1", 8000)
