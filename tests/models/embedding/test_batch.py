"""Batch sizes: found by what is fastest, lowered where memory ends."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from affectlab.models.embedding.jobs import batch_size as _batch
from affectlab.models.embedding.jobs.batch_size import (
    MOST,
    BatchSize,
    free_memory,
    is_out_of_memory,
    peak_memory,
)


def settle(size: BatchSize, fixed: float, each: float, batches: int = 60) -> int:
    """Time batches that cost something each, and something for each input."""
    for _ in range(batches):
        size.timed(size.now, size.now, fixed + each * size.now)
    return size.now


@given(st.floats(1e-4, 1.0), st.floats(1e-5, 1e-1), st.sampled_from([1, 3, 8, 32]))
def test_doubles_as_long_as_that_is_worth_it(fixed: float, each: float, start: int) -> None:
    found = settle(BatchSize(start), fixed, each)

    def rate(n: int) -> float:
        return n / (fixed + each * n)

    assert found % start == 0
    # Slower by less than the gain that is asked for than twice as many, or at an end.
    long = fixed + each * found > 1
    assert long or found * 2 > MOST or rate(2 * found) < 1.05 * rate(found) * 1.0001
    assert found == start or fixed + each * found / 2 <= 1
    assert found == start or rate(found) >= 1.05 * rate(found // 2) * 0.9999


def test_a_first_batch_that_warms_up_does_not_count() -> None:
    size = BatchSize(8)
    for seconds in (0.1, 0.1, 5.0, 0.1):
        size.timed(size.now, size.now, seconds)
    assert size.now == 32


def test_batches_that_are_not_full_say_nothing() -> None:
    size = BatchSize(8)
    for _ in range(9):
        size.timed(5, 5, 1e-3)
    assert size.now == 8


def test_what_did_not_fit_is_not_tried_again() -> None:
    size = BatchSize(8)
    size.timed(8, 8, 1.0)
    size.timed(8, 8, 1.0)
    assert size.now == 16
    size.too_large(16)
    assert settle(size, 0.9, 1e-9) == 8
    size.too_large(1)
    assert size.now == 1


def test_a_size_that_was_asked_for_stays() -> None:
    assert settle(BatchSize(8, grows=False), 0.9, 1e-9) == 8


def test_no_growth_without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    size = BatchSize(8)
    # What tests before this one took does not count.
    size._before = 10**9
    monkeypatch.setattr(_batch, "peak_memory", lambda: 3 * 10**9)
    monkeypatch.setattr(_batch, "free_memory", lambda: 3 * 10**9)
    assert settle(size, 0.9, 1e-9) == 8
    monkeypatch.setattr(_batch, "free_memory", lambda: 10**10)
    assert settle(BatchSize(8), 0.9, 1e-9) == MOST


def test_memory_of_this_machine() -> None:
    assert peak_memory() > 10**6
    free = free_memory()
    assert free is None or free > 10**6


def test_errors_of_memory() -> None:
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(RuntimeError("MPS backend out of memory (allocated 1 GB)"))
    assert not is_out_of_memory(RuntimeError("shapes do not fit"))
    assert not is_out_of_memory(ValueError("out of memory"))


def test_errors_of_torch() -> None:
    torch = pytest.importorskip("torch")
    assert is_out_of_memory(torch.cuda.OutOfMemoryError("tried to allocate 2 GiB"))
