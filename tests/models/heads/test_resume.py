"""A run that was stopped anywhere ends with the bytes of one that was not."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from affectlab.core.errors import InputError
from affectlab.models.heads.fit import train_stage
from affectlab.models.heads.shape import HeadShape
from affectlab.models.heads.training.stage import Stage, StageResult
from affectlab.models.heads.weights import StackedWeights

from .planted import planted, rows_of, threads

SHAPE = HeadShape((16, 8), dropout=0.2)
STAGE = Stage(epochs=9, learning_rate=0.01, batch=32, dropout=0.2, patience=1, early_stopping=4)
X, Y = planted()
ROWS = rows_of(Y)


def run(folder: Path | None, **settings: object) -> StageResult:
    given = {"X": X, "Y": Y, "rows": ROWS, "stage": STAGE, "seed": 5, **settings}
    weights = StackedWeights.initial(SHAPE, width=12, heads=3, seed=int(given.pop("begin", 0)))  # type: ignore[call-overload]
    return train_stage(
        weights,
        given.pop("X"),  # type: ignore[arg-type]
        given.pop("Y"),  # type: ignore[arg-type]
        given.pop("rows"),  # type: ignore[arg-type]
        given.pop("stage"),  # type: ignore[arg-type]
        device="cpu",
        checkpoint=folder,
        checkpoint_seconds=0,
        **given,  # type: ignore[arg-type]
    )


class Stopped(Exception):
    """The run was interrupted."""


def stopping_after(reports: int) -> object:
    left = [reports]

    def report(what: str, done: int, total: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Stopped

    return report


def same(mine: StageResult, other: StageResult) -> None:
    assert mine.weights.flat.numpy().tobytes() == other.weights.flat.numpy().tobytes()
    assert mine.history == other.history
    assert mine.best_epoch == other.best_epoch
    assert mine.best_loss == other.best_loss


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_interrupted_again_and_again(tmp_path: Path, precision: str) -> None:
    stage = Stage(**{**STAGE.to_dict(), "precision": precision})
    whole = run(None, stage=stage)
    stops = 0
    while True:
        # Three more reports each time, the first of which may be of what was taken up.
        try:
            found = run(tmp_path, stage=stage, progress=stopping_after(3 + stops))
            break
        except Stopped:
            stops += 1
    assert stops > 1
    same(found, whole)
    # A run that is done is taken up as it is.
    same(run(tmp_path, stage=stage), whole)


def test_interrupted_on_two_threads(tmp_path: Path) -> None:
    whole = run(None)
    with threads(2):
        with pytest.raises(Stopped):
            run(tmp_path, progress=stopping_after(5))
        assert torch.get_num_threads() == 2
        same(run(tmp_path), whole)


_KILLED = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.models.heads import test_resume as here

def report(what, done, total):
    if done >= {after}:
        os.kill(os.getpid(), signal.SIGKILL)

here.run(Path({folder!r}), progress=report)
"""


@pytest.mark.long
def test_killed(tmp_path: Path) -> None:
    root = str(Path(__file__).parents[3])
    code = _KILLED.format(root=root, after=7, folder=str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert list(tmp_path.glob("head*.pt"))
    said: list[str] = []
    found = run(tmp_path, progress=lambda what, done, total: said.append(what))
    assert "taken up" in said[0]
    same(found, run(None))


def test_begun_as_a_stack_and_ended_one_at_a_time(tmp_path: Path) -> None:
    stage = Stage(**{**STAGE.to_dict(), "precision": "fp32"})
    with pytest.raises(Stopped):
        run(tmp_path, stage=stage, progress=stopping_after(3))
    found = run(tmp_path, stack=1, stage=stage)
    np.testing.assert_allclose(found.best_loss, run(None, stage=stage).best_loss, rtol=1e-4)


def test_states_are_written_when_it_is_time(tmp_path: Path) -> None:
    def report(what: str, done: int, total: int) -> None:
        # Nothing but heads that are done: the run takes less than an hour.
        files = len(list(tmp_path.glob("head*.pt")))
        assert files <= done / 5

    weights = StackedWeights.initial(SHAPE, width=12, heads=3)
    train_stage(
        weights,
        X,
        Y,
        ROWS,
        STAGE,
        device="cpu",
        checkpoint=tmp_path / "deep" / "er",
        checkpoint_seconds=3600,
        progress=report,
    )
    assert len(list((tmp_path / "deep" / "er").iterdir())) == 3


def test_states_of_another_run(tmp_path: Path) -> None:
    run(tmp_path)
    moved = X.copy()
    moved[0, 0] += 1
    rated = Y.copy()
    rated[ROWS[0].train[0], 0] = 7 - rated[ROWS[0].train[0], 0]
    fewer = [replace(ROWS[0], train=ROWS[0].train[1:]), *ROWS[1:]]
    for other in (
        {"X": moved},
        {"Y": rated},
        {"rows": fewer},
        {"stage": Stage(**{**STAGE.to_dict(), "batch": 16})},
        {"seed": 6},
        {"begin": 1},
    ):
        with pytest.raises(InputError, match="is the state of another run"):
            run(tmp_path, **other)
    same(run(tmp_path), run(None))


def test_states_that_are_broken(tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        run(tmp_path, stack=1, progress=stopping_after(3))
    (file,) = tmp_path.glob("head*.pt")
    whole = file.read_bytes()
    held = torch.load(file, weights_only=True)

    def refused(said: str) -> None:
        with pytest.raises(InputError, match=said):
            run(tmp_path)

    for content in (b"", b"no state", whole[: len(whole) // 2]):
        file.write_bytes(content)
        refused(r"head000\.pt cannot be read")
    torch.save({**held, "fingerprint": 3}, file)
    refused("holds no 'fingerprint'")
    for name, value in (
        ("weights", torch.zeros(3)),
        ("first", None),
        ("epoch", "two"),
        ("history", None),
        ("plateau", 3),
    ):
        torch.save({**held, name: value}, file)
        refused(r"head000\.pt is damaged \(.+\); expected the state")
    del held["second"]
    torch.save(held, file)
    refused("is damaged .'second'")
    file.write_bytes(whole)
    same(run(tmp_path), run(None))


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        run(tmp_path / "file")


def test_hashing_rows_holds_one_piece_at_a_time() -> None:
    import tracemalloc

    from affectlab.models.heads.training.progress import fingerprint_of_rows

    rows = np.random.default_rng(0).normal(size=(4000, 500)).astype(np.float32)
    whole = fingerprint_of_rows(rows)
    tracemalloc.start()
    try:
        assert fingerprint_of_rows(rows, pieces=100) == whole
        assert tracemalloc.get_traced_memory()[1] < rows.nbytes / 10
    finally:
        tracemalloc.stop()
    assert fingerprint_of_rows(rows[::-1]) != whole
    assert fingerprint_of_rows(rows.reshape(2000, 1000)) != whole


def test_a_state_that_cannot_be_written_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(InputError, match=r"head00\d\.pt cannot be written: No space left"):
        run(tmp_path)
