"""A plugin of pytest: what fails for want of an optional library is skipped, and says so.

Modules and tests need no list of their own: a finder that Python asks last notes which libraries
were asked for in vain. Where none was, a failure is a failure. Where everything is installed, as in
CI on Python 3.11, nothing is skipped by this.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Generator
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TypeVar

import pytest

_PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
_IMPORTED_AS = {
    "argon2_cffi": "argon2",
    "pyspellchecker": "spellchecker",
    "scikit_image": "skimage",
    "umap_learn": "umap",
}
_BROUGHT_ALONG = {"grpc", "huggingface_hub", "psutil", "starlette", "tokenizers"}
"""Libraries that others bring, and that modules of ours import by name."""
_WANTED = "_affectlab_wants"


class _Noting:
    """A finder that finds nothing, and notes which optional libraries were not found before."""

    def __init__(self, optional: set[str]) -> None:
        self.optional = optional
        self.asked: set[str] = set()

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        if fullname in self.optional:
            self.asked.add(fullname)
        return None


def _optional_libraries() -> set[str]:
    extras = tomllib.loads(_PROJECT.read_text("utf-8"))["project"]["optional-dependencies"]
    named = {
        re.split(r"[^\w.-]", line)[0].lower().replace("-", "_")
        for extra, lines in extras.items()
        if extra not in ("dev", "docs")
        for line in lines
    }
    return {_IMPORTED_AS.get(name, name) for name in named - {"affectlab"}} | _BROUGHT_ALONG


_NOTING = _Noting(_optional_libraries())
sys.meta_path.append(_NOTING)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    _NOTING.asked.clear()
    report = yield
    if report.failed and isinstance(collector, pytest.File):
        _forget(collector.path)
    return _skipped(report, _NOTING.asked)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    _NOTING.asked.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.excinfo is None:
        return report
    # A fixture of many tests fails once, and hands the same exception to all of them.
    wanted = getattr(call.excinfo.value, _WANTED, None) or set(_NOTING.asked)
    setattr(call.excinfo.value, _WANTED, wanted)
    return _skipped(report, wanted)


def _forget(path: Path) -> None:
    """Forget a module that pytest imported in part; others would take it to be whole."""
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == str(path):
            del sys.modules[name]


_Report = TypeVar("_Report", pytest.CollectReport, pytest.TestReport)


def _skipped(report: _Report, missing: set[str]) -> _Report:
    if report.failed and missing:
        report.outcome = "skipped"
        reason = f"needs {', '.join(sorted(missing))}, which is not installed"
        report.longrepr = (__file__, 1, reason)
    return report
