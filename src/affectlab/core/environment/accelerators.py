"""Where networks compute: what torch finds, and what driver the machine has."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from affectlab.core.environment.processes import ask, output_of

_TORCH = """\
import json, sys
found = {"torch": None, "devices": []}
try:
    import torch
    found["torch"] = str(torch.__version__)
    version = torch.version
    cuda, hip = getattr(version, "cuda", None), getattr(version, "hip", None)
    found["built_for"] = f"CUDA {cuda}" if cuda else f"ROCm {hip}" if hip else "CPU"
    found["threads"] = torch.get_num_threads()
    if torch.cuda.is_available():
        for k in range(torch.cuda.device_count()):
            one = torch.cuda.get_device_properties(k)
            free, total = torch.cuda.mem_get_info(k)
            found["devices"].append({"device": f"cuda:{k}", "name": one.name,
                "memory_bytes": total, "free_bytes": free,
                "bf16": bool(torch.cuda.is_bf16_supported(including_emulation=False))})
    mps = getattr(torch.backends, "mps", None)
    if mps is not None and mps.is_available():
        limit = getattr(torch.mps, "recommended_max_memory", None)
        found["devices"].append({"device": "mps", "name": "Apple GPU",
            "memory_bytes": int(limit()) if limit else None, "free_bytes": None, "bf16": True})
except ModuleNotFoundError as error:
    if error.name != "torch":
        found["problem"] = f"{type(error).__name__}: {error}"
except BaseException as error:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    found["problem"] = type(error).__name__ + (": " + lines[0] if lines else "")
say(json.dumps(found))
"""
_SECONDS = 180.0


def accelerator(*, look: bool = True) -> dict[str, Any]:
    """Ask torch for its devices, in a process of its own.

    Parameters
    ----------
    look
        Ask torch; without, only what the system says is told.

    Returns
    -------
    dict
        ``torch``, ``built_for``, ``devices``, ``threads``, ``driver`` (of NVIDIA), ``problem``
        (why torch cannot be asked) and ``advice``, one sentence, "" when there is none to give.
    """
    found: dict[str, Any] = {"torch": None, "built_for": None, "devices": [], "threads": None}
    found |= {"problem": ""} | (ask(_TORCH, None, seconds=_SECONDS) if look else {})
    found["driver"] = nvidia_driver()
    found["advice"] = _advice(found) if look else ""
    return found


def _advice(found: dict[str, Any]) -> str:
    if found["problem"] or found["devices"] or found["driver"] is None:
        return ""
    if found["torch"] is None:
        return "This machine has an NVIDIA driver; the extra models would bring torch to use it."
    if found["built_for"] == "CPU":
        return (
            "This machine has an NVIDIA driver, but this torch was built for CPUs only: install a "
            "build for CUDA to use the GPU."
        )
    return (
        f"This machine has an NVIDIA driver, and torch was built for {found['built_for']}, yet it "
        "finds no GPU: the driver may be too old, or the GPU hidden (CUDA_VISIBLE_DEVICES)."
    )


def nvidia_driver() -> str | None:
    """Find the version of NVIDIA's driver, "" where it is not said; None: there is no driver."""
    program = shutil.which("nvidia-smi")
    # The program alone is no driver: images of containers hold it everywhere.
    asked = ("--query-gpu=driver_version", "--format=csv,noheader")
    said = "" if program is None else output_of(program, *asked)
    if said:
        return said.splitlines()[0].strip()
    return "" if Path("/proc/driver/nvidia/version").exists() else None
