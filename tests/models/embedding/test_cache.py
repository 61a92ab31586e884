"""The cache of rows: what was put in is found, whatever else happens in the folder."""

from __future__ import annotations

import os
import time
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from affectlab.core.errors import InputError
from affectlab.models.embedding.card import EncoderCard
from affectlab.models.embedding.jobs.cache import RowCache

CARD = EncoderCard("mine", "image", 2, "0ab1")


def key(number: int) -> str:
    return sha256(str(number).encode()).hexdigest()


def rows(numbers: list[int]) -> np.ndarray:
    return np.array([[number, -number] for number in numbers], dtype=np.float16).reshape(-1, 2)


def taken(cache: RowCache, numbers: list[int]) -> tuple[np.ndarray, set[str]]:
    target = np.full((len(numbers), 2), 99, dtype=np.float16)
    missing = {key(number): row for row, number in enumerate(numbers)}
    cache.take(missing, target)
    return target, set(missing)


@settings(max_examples=25)
@given(st.lists(st.lists(st.integers(0, 30), max_size=8), max_size=45), st.booleans())
def test_as_a_dictionary(added: list[list[int]], tidied: bool) -> None:
    with TemporaryDirectory() as folder:
        cache = RowCache.of(Path(folder), CARD)
        for numbers in added:
            cache.add([key(number) for number in numbers], rows(numbers))
        if tidied:
            cache.tidy()
        slow = {number for numbers in added for number in numbers}
        again = RowCache.of(Path(folder), CARD)
        assert again.known([key(number) for number in range(40)]) == {key(n) for n in slow}
        wanted = list(range(35))
        found, missing = taken(again, wanted)
        assert missing == {key(number) for number in wanted if number not in slow}
        kept = [row for row, number in enumerate(wanted) if number in slow]
        assert found[kept].tolist() == rows([wanted[row] for row in kept]).tolist()
        assert not again.damaged


def test_small_files_are_put_together(tmp_path: Path) -> None:
    cache = RowCache.of(tmp_path, CARD)
    for number in range(31):
        cache.add([key(number)], rows([number]))
    cache.tidy()
    assert len(list(cache.folder.glob("rows-*.keys"))) == 31
    cache.add([key(31), key(0)], rows([31, 0]))
    cache.tidy()
    assert len(list(cache.folder.glob("rows-*"))) == 2
    found, missing = taken(cache, list(range(32)))
    assert not missing
    assert found.tolist() == rows(list(range(32))).tolist()


def test_another_process_tidies_while_rows_are_taken(tmp_path: Path) -> None:
    cache, other = RowCache.of(tmp_path, CARD), RowCache.of(tmp_path, CARD)
    for number in range(40):
        cache.add([key(number)], rows([number]))
    real, listed = cache._names, 0

    def names() -> list[str]:
        nonlocal listed
        found, listed = real(), listed + 1
        if listed == 1:
            other.tidy()
        return found

    cache._names = names  # type: ignore[method-assign]
    found, missing = taken(cache, list(range(40)))
    assert not missing
    assert found.tolist() == rows(list(range(40))).tolist()
    assert not cache.damaged


def test_what_others_wrote_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, other = RowCache.of(tmp_path, CARD), RowCache.of(tmp_path, CARD)
    other.add([key(1)], rows([1]))
    assert cache.known([key(1), key(2)]) == {key(1)}
    real, read = cache._keys, []

    def keys(name: str) -> list[bytes]:
        read.append(name)
        return real(name)

    monkeypatch.setattr(cache, "_keys", keys)
    cache.add([key(2)], rows([2]))
    other.add([key(3), key(4)], rows([3, 4]))
    for number in (3, 4):
        assert cache.later([key(1), key(2), key(number)]) == {key(number)}
    assert len(read) == 1


def test_what_a_killed_process_left_is_not_there(tmp_path: Path) -> None:
    cache = RowCache.of(tmp_path, CARD)
    cache.add([key(1)], rows([1]))
    (cache.folder / ".rows-1.npy.tmp").write_bytes(b"half")
    np.save(cache.folder / "rows-2.npy", rows([2]))
    assert cache.known([key(1), key(2)]) == {key(1)}
    cache.tidy()
    assert (cache.folder / "rows-2.npy").exists()
    long_ago = time.time() - 100_000
    for name in (".rows-1.npy.tmp", "rows-2.npy"):
        os.utime(cache.folder / name, (long_ago, long_ago))
    cache.tidy()
    assert len(list(cache.folder.glob("rows-*"))) == 2
    assert not list(cache.folder.glob("*.tmp"))
    assert cache.known([key(1)]) == {key(1)}


@pytest.mark.parametrize("damage", ["short", "none", "other", "keys"])
def test_damaged_files_are_not_used(tmp_path: Path, damage: str) -> None:
    cache = RowCache.of(tmp_path, CARD)
    cache.add([key(1), key(2)], rows([1, 2]))
    (held,) = cache.folder.glob("rows-*.npy")
    (keys,) = cache.folder.glob("rows-*.keys")
    if damage == "short":
        held.write_bytes(held.read_bytes()[:-1])
    elif damage == "none":
        held.unlink()
    elif damage == "other":
        np.save(held, np.zeros((2, 3), np.float16))
    else:
        keys.write_bytes(keys.read_bytes()[:-1])
    assert cache.known([key(1), key(2)]) == set()
    assert len(cache.damaged) == 1
    assert taken(cache, [1])[1] == {key(1)}
    cache.add([key(1)], rows([1]))
    assert taken(cache, [1])[0].tolist() == [[1, -1]]


def test_encoders_do_not_mix(tmp_path: Path) -> None:
    mine = RowCache.of(tmp_path, CARD)
    mine.add([key(1)], rows([1]))
    for change in ({"fingerprint": "0ab2"}, {"kind": "text"}, {"width": 3}):
        other = EncoderCard(**{**vars(CARD), **change})
        assert RowCache.of(tmp_path, other).known([key(1)]) == set()
    (mine.folder / "encoder.json").write_text(
        (RowCache.of(tmp_path, other).folder / "encoder.json").read_text()
    )
    with pytest.raises(InputError, match="holds rows of encoder"):
        RowCache.of(tmp_path, CARD)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cache: .* cannot be made"):
        RowCache.of(tmp_path / "file", CARD)


def test_rows_that_cannot_be_written(tmp_path: Path) -> None:
    cache = RowCache.of(tmp_path, CARD)
    (cache.folder / "encoder.json").unlink()
    cache.folder.rmdir()
    with pytest.raises(InputError, match=r"cache: .* cannot be written: No such file"):
        cache.add([key(1)], rows([1]))
