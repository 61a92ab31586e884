"""Every workload gives the peer's result, on data that take a moment."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

# Warnings of peers are theirs.
pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("default")]

ROOT = Path(__file__).parent.parent
MODULES = sorted(path.stem for path in (ROOT / "benchmarks").glob("[!_]*.py"))


@pytest.mark.parametrize("module", MODULES)
def test_workload(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    for workload in importlib.import_module(f"benchmarks.{module}").WORKLOADS:
        data = workload.make("tiny")
        try:
            peer = workload.theirs(data)
        except ModuleNotFoundError as missing:
            pytest.skip(f"{missing.name} is not installed")
        assert workload.check(data, workload.ours(data), peer)
