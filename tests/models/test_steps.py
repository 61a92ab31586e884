"""Devices and processes of training: no fit decides for the next, none runs beside another."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

torch = pytest.importorskip("torch")
accelerate_state = pytest.importorskip("accelerate.state")

from affectlab.core.errors import InputError  # noqa: E402
from affectlab.models.ask.ledger import LineFile  # noqa: E402
from affectlab.models.devices import pick_precision  # noqa: E402
from affectlab.models.processes import is_main_process  # noqa: E402
from affectlab.models.training.checkpoints import Checkpoints, UnlockedWarning  # noqa: E402
from affectlab.models.vision import VisionClassifier  # noqa: E402
from affectlab.simulate import draw_face  # noqa: E402
from affectlab.stimuli.generation.diffusers import _best_dtype  # noqa: E402

LABELS = ["amusement", "sadness", "anger"] * 4
FACES = [draw_face(name, identity=k % 4, size=48) for k, name in enumerate(LABELS)]


def fit(device: str, **settings: Any) -> VisionClassifier:
    model = VisionClassifier("mikels", backbone="embedding:hog")
    return model.fit(FACES, LABELS, epochs=2, device=device, **settings)


@pytest.fixture
def state() -> Iterator[None]:
    """Take away what accelerate keeps for a process."""
    accelerate_state.AcceleratorState._reset_state(reset_partial_state=True)
    yield
    accelerate_state.AcceleratorState._reset_state(reset_partial_state=True)


@pytest.mark.usefixtures("state")
def test_a_fit_leaves_the_process_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    fit("cpu")
    assert not accelerate_state.PartialState._shared_state
    assert not accelerate_state.AcceleratorState._shared_state
    # As one that a trainer of another library has left behind, on a device of its own.
    monkeypatch.setenv("ACCELERATE_TORCH_DEVICE", "meta")
    accelerate_state.PartialState()
    monkeypatch.delenv("ACCELERATE_TORCH_DEVICE")
    drawn = np.random.get_state(legacy=False)["state"]["key"].tolist()  # noqa: NPY002
    model = fit("cpu")
    assert np.random.get_state(legacy=False)["state"]["key"].tolist() == drawn  # noqa: NPY002
    assert accelerate_state.PartialState().device == torch.device("meta")
    assert len(model.history) == 2
    assert model.predict(FACES[:1])[0] in LABELS


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_the_gpu_is_used_after_the_cpu_and_the_cpu_after_the_gpu() -> None:
    fit("cpu")
    for device, used in (("cuda", True), ("cpu", False), ("auto", True)):
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        fit(device)
        assert (torch.cuda.max_memory_allocated() > before) == used


def test_bf16_is_chosen_only_where_it_is_not_emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = torch.device("cuda")
    # As on a GPU before Ampere: bf16 works, but is emulated.
    monkeypatch.setattr(
        torch.cuda, "is_bf16_supported", lambda including_emulation=True: including_emulation
    )
    assert pick_precision("auto", gpu) == "fp16"
    assert _best_dtype(torch, "cuda:0") == "fp16"
    assert pick_precision("bf16", gpu) == "bf16"
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation=True: True)
    assert pick_precision("auto", gpu) == "bf16"
    assert _best_dtype(torch, "cuda:0") == "bf16"
    assert pick_precision("auto", torch.device("cpu")) == "fp32"


@pytest.mark.usefixtures("state")
@pytest.mark.parametrize("device", ["cpu", "auto"])
def test_processes_that_cannot_meet_do_not_train(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WORLD_SIZE", "2")
    for rank in ("0", "1"):
        monkeypatch.setenv("RANK", rank)
        with pytest.raises(InputError, match=r"2 processes .*\(WORLD_SIZE=2\).* train alone"):
            fit(device)
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert len(fit(device).history) == 2


@pytest.mark.parametrize(
    ("rank", "size"), [("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")]
)
def test_of_several_processes_the_first_speaks(
    rank: str, size: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(size, "2")
    for number, speaks in (("0", True), ("1", False)):
        monkeypatch.setenv(rank, number)
        assert is_main_process() == speaks


HOLDS = """
import sys
from affectlab.models.training.checkpoints import Checkpoints
with Checkpoints.of(sys.argv[1], "x", True):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.long
def test_two_runs_do_not_train_in_one_folder(tmp_path: Path) -> None:
    place = tmp_path / "c"
    other = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(place)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ},
    )
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(InputError, match=r"training\.pt is in use by another run"):
            fit("cpu", checkpoints=str(place))
        assert not (place / "training.pt").exists()
    finally:
        # However it ends, the folder is free again.
        other.kill()
        other.communicate()
    fit("cpu", checkpoints=str(place))
    assert (place / "training.pt").exists()
    # A second process of a run that shares its work writes nothing, and is in nobody's way.
    shared = Checkpoints.of(place, "x", writes=True)
    beside = Checkpoints.of(place, "x", writes=False)
    assert shared is not None
    assert beside is not None
    with shared, beside:
        pass


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK])
def test_a_file_system_without_locks_can_hold_checkpoints(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")

    def flock(*_: object) -> NoReturn:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", flock)
    checkpoints = Checkpoints.of(tmp_path, "x", writes=True)
    assert checkpoints is not None
    with pytest.warns(UnlockedWarning, match="no locks"), checkpoints:
        pass
    # A ledger of what is paid for is no place to try it.
    with pytest.raises(InputError, match=r"ledger\.jsonl cannot be locked \(.*\); expected"):
        LineFile(tmp_path / "ledger.jsonl", "test/1")
