"""Where work on many parts is done: in this process, on a Ray of its own, or on a cluster."""

from __future__ import annotations

import logging
import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from affectlab.core.environment.installing import install_line
from affectlab.core.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    from types import ModuleType

_LOOPBACK = "127.0.0.1"
_SILENT = {
    # Neither library may report to its makers what is done here.
    "DAFT_ANALYTICS_ENABLED": "0",
    "DO_NOT_TRACK": "true",
    "SCARF_NO_ANALYTICS": "true",
    "RAY_USAGE_STATS_ENABLED": "0",
}
_set: dict[str, str] = {}
"""The runner that this process uses, under the key ``runner``, once it is set."""


def _silence() -> None:
    for name, value in _SILENT.items():
        os.environ.setdefault(name, value)


def import_daft() -> ModuleType:
    """Import Daft, which then sends no usage statistics.

    Raises
    ------
    MissingDependencyError
        When Daft is not installed.
    """
    _silence()
    try:
        import daft
    except ImportError:
        raise MissingDependencyError(
            f"work on many parts needs the library daft: {install_line('scale')}"
        ) from None
    return daft


def use_ray(runner: str) -> ModuleType:
    """Connect this process to Ray, and give the library.

    Parameters
    ----------
    runner
        ``ray``: one that is started on this machine, listens on 127.0.0.1 only and ends with this
        process; or ``ray://host:port``.

    Raises
    ------
    InputError
        When the runner is not known, or cannot be reached.
    MissingDependencyError
        When Ray, or its client, is not installed.
    """
    check_runner(runner)
    _silence()
    try:
        import ray
    except ImportError:
        raise MissingDependencyError(
            f"the runner ray needs the library ray: {install_line('scale')}"
        ) from None
    if runner != "ray" and find_spec("grpc") is None:
        raise MissingDependencyError(
            f'the runner {runner} needs the client of ray: {install_line("scale")} "ray[client]"'
        )
    if ray.is_initialized():
        return ray
    quiet: dict[str, Any] = {"logging_level": logging.WARNING, "log_to_driver": False}
    try:
        if runner == "ray":
            # Left to itself, Ray listens on the machine's outer address, and lets its workers wait
            # for everything else that the machine does.
            os.environ.setdefault("RAY_worker_niceness", "0")
            ray.init(
                address="local",
                include_dashboard=False,
                dashboard_host=_LOOPBACK,
                _node_ip_address=_LOOPBACK,
                **quiet,
            )
        else:
            ray.init(address=runner, **quiet)
    except (ConnectionError, TimeoutError, ValueError) as problem:
        raise InputError(
            f"runner {runner!r}: no Ray cluster answers there, or it asks for a token that "
            f"RAY_AUTH_TOKEN does not hold ({problem})"
        ) from None
    return ray


def use_runner(runner: str = "native") -> None:
    """Say where Daft data frames are computed; the same runner may be set again.

    Parameters
    ----------
    runner
        ``native``: inside this process, on all its cores. ``ray``: on a Ray that is started on
        this machine, listens on 127.0.0.1 only and ends with this process. ``ray://host:port``: on
        the Ray cluster at this address, whose machines must see the folders that are written.

    Raises
    ------
    InputError
        When the runner is not known, cannot be reached, or another one is already in use: Daft
        allows one for each process.
    MissingDependencyError
        When Daft or Ray is not installed.

    Examples
    --------
    >>> use_runner("spark")
    Traceback (most recent call last):
    affectlab.InputError: runner 'spark' is not known; expected native, ray or ray://host:port
    """
    check_runner(runner)
    if _set.get("runner") == runner:
        return
    daft = import_daft()
    present = _present()
    if present is None and runner == "native":
        daft.set_runner_native()
    elif present is None:
        use_ray(runner)
        daft.set_runner_ray(noop_if_initialized=True)
    elif present != runner:
        raise InputError(
            f"runner {runner!r} cannot be used: this process already runs Daft on {present!r}, and "
            "Daft allows one runner for each process; start a new process"
        )
    _set["runner"] = runner


def partitions_for(frame: Any, number: int) -> Any:
    """Split a Daft data frame into parts that a cluster shares out.

    The native runner streams a frame and needs no parts, so it gets the frame as it is.
    """
    if _set.get("runner", "native") == "native":
        return frame
    return frame.into_partitions(max(1, number))


def check_runner(runner: str) -> None:
    """Refuse what is no runner."""
    if runner in ("native", "ray"):
        return
    if runner.startswith("ray://"):
        try:
            port = urlsplit(runner).port
        except ValueError:
            port = None
        if urlsplit(runner).hostname and port:
            return
        raise InputError(f"runner {runner!r}: expected an address such as ray://head-node:10001")
    raise InputError(f"runner {runner!r} is not known; expected native, ray or ray://host:port")


def _present() -> str | None:
    """The runner of this process, be it set here or by someone else; None before there is one."""
    from daft.runners import _get_runner

    present: Any = _get_runner()
    return None if present is None else _set.get("runner", present.name)
