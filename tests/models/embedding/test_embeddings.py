"""Folders of embeddings: what goes in comes out, and what is damaged or foreign is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.models.embedding import Embeddings
from affectlab.models.embedding.card import EncoderCard
from affectlab.models.embedding.embeddings import locked

CARD = EncoderCard("mine", "text", 3, "0ab1", {"seed": 1})
OTHER = EncoderCard("mine", "text", 3, "0ab2", {"seed": 2})


def make(names: str = "abcd", card: EncoderCard = CARD) -> Embeddings:
    rows = [[ord(name), -ord(name) / 8, 0.5] for name in names]
    values = np.array(rows, dtype=np.float16).reshape(len(names), 3)
    return Embeddings(values, tuple(names), tuple(f"{ord(name):064x}" for name in names), card)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make().save(tmp_path / "e")
    return tmp_path / "e"


def test_a_folder_gives_back_what_was_saved(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == [
        "embeddings.npy",
        "encoder.json",
        "index.parquet",
    ]
    found, made = Embeddings.load(folder), make()
    assert isinstance(found.values, np.memmap)
    assert found.values.tobytes() == made.values.tobytes()
    assert (found.stimuli, found.hashes, found.files) == (made.stimuli, made.hashes, ("",) * 4)
    assert found.encoder == CARD
    assert found.folder == folder
    assert "4 stimuli by 'mine'" in repr(found)
    assert len(Embeddings.load(folder, CARD)) == 4


def test_the_array_is_plain(folder: Path) -> None:
    values = np.load(folder / "embeddings.npy")
    index = pl.read_parquet(folder / "index.parquet")
    assert (values.dtype, values.shape) == (np.float16, (4, 3))
    assert index.columns == ["stimulus", "file", "sha256"]
    assert json.loads((folder / "encoder.json").read_text())["encoder"]["name"] == "mine"


def test_the_file_is_never_written_through_the_map(folder: Path) -> None:
    with pytest.raises(ValueError, match="read-only"):
        Embeddings.load(folder).values[0, 0] = 1


@given(st.lists(st.sampled_from("abcdefgh"), max_size=12))
def test_rows_by_name(names: list[str]) -> None:
    found = make("hgfedcba")
    slow = [[ord(name), -ord(name) / 8, 0.5] for name in names]
    assert found.rows(names).tolist() == slow
    assert found.rows(names).dtype == np.float32


@given(st.permutations("abcdefgh"), st.integers(0, 8), st.integers(0, 8))
def test_parts_put_together_are_the_whole(names: list[str], one: int, other: int) -> None:
    whole = make("abcdefgh")
    first, second = sorted((one, other))
    cuts = [names[:first], names[first:second], names[second:]]
    joined = Embeddings.concat(whole.subset(part) for part in cuts)
    assert joined.stimuli == tuple(names)
    assert joined.rows().tolist() == whole.rows(names).tolist()
    assert joined.hashes == tuple(f"{ord(name):064x}" for name in names)


def test_a_table(folder: Path) -> None:
    frame = Embeddings.load(folder).to_frame()
    assert frame.columns == ["stimulus", "file", "sha256", "embedding"]
    assert frame["embedding"].to_numpy().tolist() == make().rows().tolist()
    assert make("").to_frame().height == 0


def test_none_at_all_can_be_saved(tmp_path: Path) -> None:
    assert len(make("").save(tmp_path / "none")) == 0


def test_what_cannot_be_asked_for() -> None:
    found = make()
    with pytest.raises(InputError, match=r"embeddings: unknown stimulus 'aa'"):
        found.rows(["a", "aa"])
    with pytest.raises(InputError, match="'b' stands twice"):
        found.subset("abb")
    with pytest.raises(InputError, match="'a' stands twice"):
        Embeddings.concat([found, found])
    with pytest.raises(InputError, match="expected one encoder"):
        Embeddings.concat([found, make("xy", OTHER)])
    with pytest.raises(InputError, match="no embeddings"):
        Embeddings.concat([])


@pytest.mark.parametrize(
    ("values", "hashes"),
    [
        (np.zeros((2, 3), np.float32), ("0", "1")),
        (np.zeros((2, 4), np.float16), ("0", "1")),
        (np.zeros((3, 3), np.float16), ("0", "1")),
        (np.zeros((2, 3), np.float16), ("0",)),
    ],
)
def test_parts_that_do_not_fit(values: np.ndarray, hashes: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="expected"):
        Embeddings(values, ("a", "b"), hashes, CARD)


def _cut(path: Path, by: int) -> None:
    path.write_bytes(path.read_bytes()[:-by])


def _more(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"more")


def _exchange(folder: Path) -> None:
    make("wxyz").save(folder.parent / "other")
    (folder.parent / "other" / "index.parquet").replace(folder / "index.parquet")


def _another_key(folder: Path, key: str, value: object) -> None:
    meta = json.loads((folder / "encoder.json").read_text())
    (folder / "encoder.json").write_text(json.dumps({**meta, key: value}))


DAMAGES = {
    "array cut off": (lambda f: _cut(f / "embeddings.npy", 2), "cannot be read"),
    "array with more": (
        lambda f: _more(f / "embeddings.npy"),
        "in 156 bytes; expected",
    ),
    "array of other numbers": (
        lambda f: np.save(f / "embeddings.npy", np.zeros((4, 3))),
        r"float64 of shape \(4, 3\)",
    ),
    "array of fewer": (
        lambda f: np.save(f / "embeddings.npy", np.zeros((3, 3), np.float16)),
        r"shape \(3, 3\)",
    ),
    "objects": (
        lambda f: np.save(f / "embeddings.npy", np.array([None] * 12)),
        "cannot be read",
    ),
    "no array": (lambda f: (f / "embeddings.npy").unlink(), "No such file"),
    "index cut off": (lambda f: _cut(f / "index.parquet", 9), "index.parquet cannot be read"),
    "another index": (_exchange, "does not belong to"),
    "another table": (
        lambda f: pl.DataFrame({"a": [1]}).write_parquet(f / "index.parquet"),
        "expected the columns",
    ),
    "no card": (lambda f: (f / "encoder.json").unlink(), "holds no encoder.json"),
    "no JSON": (lambda f: (f / "encoder.json").write_text("{"), "not valid JSON"),
    "a list": (lambda f: (f / "encoder.json").write_text("[]"), "schema None"),
    "a later schema": (
        lambda f: _another_key(f, "schema", "affectlab/embeddings/9"),
        "schema 'affectlab/embeddings/9'",
    ),
    "half a card": (lambda f: _another_key(f, "encoder", {"name": "x"}), "kind is None"),
    "a wrong card": (
        lambda f: _another_key(f, "encoder", {**CARD.to_dict(), "width": 0}),
        "of width 0",
    ),
    "another width": (
        lambda f: _another_key(f, "encoder", {**CARD.to_dict(), "width": 6}),
        r"expected float16 of shape \(4, 6\)",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_folders_are_refused(folder: Path, name: str) -> None:
    damage, said = DAMAGES[name]
    damage(folder)
    with pytest.raises(InputError, match=said):
        Embeddings.load(folder)


def test_another_encoder_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match=r"holds embeddings of encoder 'mine'.*expected those of"):
        Embeddings.load(folder, OTHER)
    with pytest.raises(InputError, match="expected another folder"):
        make("xy", OTHER).save(folder)
    assert Embeddings.load(folder).stimuli == tuple("abcd")


def test_saving_replaces_its_own_kind_alone(folder: Path, tmp_path: Path) -> None:
    before = Embeddings.load(folder)
    after = make("wxyz").save(folder)
    assert after.stimuli == tuple("wxyz")
    # What was open stays what it was.
    assert before.rows().tolist() == make().rows().tolist()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("all of it")
    with pytest.raises(InputError, match="holds other files"):
        make().save(tmp_path / "mine")
    with pytest.raises(InputError, match="is a file"):
        make().save(tmp_path / "mine" / "thesis.txt")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
    with pytest.raises(InputError, match="no such folder"):
        Embeddings.load(tmp_path / "nowhere")


def test_one_writes_at_a_time(folder: Path) -> None:
    with locked(folder), pytest.raises(InputError, match="another process is embedding there"):
        make().save(folder)
    assert make().save(folder).stimuli == tuple("abcd")


def test_a_save_that_fails_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="stands twice"), locked(tmp_path / "new"):
        make("aa")
    assert not (tmp_path / "new").exists()
