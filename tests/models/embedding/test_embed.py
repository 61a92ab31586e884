"""Embedding: every content once, in order, whatever stops it, and never a row of nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image
from tests.models.embedding.encoders import WIDTH, Watched, draw, half, pictures

from affectlab.core.errors import InputError
from affectlab.models.embedding import Embeddings, embed
from affectlab.models.embedding.embeddings import SetAside
from affectlab.models.embedding.jobs import work as lane_module
from affectlab.models.images.loading import AnimatedImageWarning


@pytest.fixture
def faces(tmp_path: Path) -> list[Path]:
    return draw(tmp_path / "faces", 23)


def test_rows_in_order_of_the_names(faces: list[Path], tmp_path: Path) -> None:
    encoder = Watched()
    found = embed(faces[0].parent, encoder, path=tmp_path / "out", batch=4)
    assert found.stimuli == tuple(file.stem for file in faces)
    assert found.files == tuple(map(str, faces))
    assert found.values.tobytes() == half(pictures(faces)).tobytes()
    assert encoder.given == [4, 4, 4, 4, 4, 3]
    assert found.run is not None
    assert (found.run.n_items, found.run.n_encoded, found.run.batch) == (23, 23, 4)
    assert found.run.per_second > 0
    assert Embeddings.load(tmp_path / "out").values.tobytes() == found.values.tobytes()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "embeddings.npy",
        "encoder.json",
        "index.parquet",
    ]


def test_a_list_keeps_its_order_and_a_table_its_names(faces: list[Path], tmp_path: Path) -> None:
    backwards = faces[::-1]
    assert embed(backwards, Watched()).values.tobytes() == half(pictures(backwards)).tobytes()
    table = pl.DataFrame({"stimulus": ["b", "a"], "file": [file.name for file in faces[:2]]})
    table.write_csv(faces[0].parent / "table.csv")
    found = embed(faces[0].parent / "table.csv", Watched())
    assert found.stimuli == ("b", "a")
    assert found.values.tobytes() == half(pictures(faces[:2])).tobytes()
    assert found.folder is None


def test_pictures_in_memory(faces: list[Path]) -> None:
    held = pictures(faces[:3])
    found = embed([*held, held[0].copy()], Watched())
    assert found.stimuli == ("picture 1", "picture 2", "picture 3", "picture 4")
    assert found.values.tobytes() == half([*held, held[0]]).tobytes()
    assert found.hashes[0] == found.hashes[3] != found.hashes[1]
    both = embed({"mine": held[1], "file": faces[0]}, Watched())
    assert both.values.tobytes() == half([held[1], held[0]]).tobytes()


@settings(max_examples=20)
@given(
    st.lists(st.text("ab cé", min_size=1).filter(str.strip), min_size=1, max_size=30),
    st.integers(1, 5),
    st.sampled_from([1, 3, 8, 100]),
)
def test_texts_as_one_by_one(texts: list[str], partitions: int, room: int) -> None:
    encoder = Watched("text", room=room)
    found = embed(texts, encoder, partitions=partitions)
    assert found.values.tobytes() == half(texts).tobytes()
    assert found.stimuli == tuple(f"text {row}" for row in range(1, len(texts) + 1))
    assert sum(encoder.given) == len(set(texts))
    assert found.run is not None
    assert found.run.n_repeated == len(texts) - len(set(texts))


def test_texts_from_files(tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("so happy\n\nso sad\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"texts\.txt"):
        embed(tmp_path / "texts.txt", "texts")
    found = embed(tmp_path / "texts.txt", "texts", on_bad="set_aside", width=32)
    assert found.stimuli == ("line 1", "line 3")
    assert found.run is not None
    assert found.run.notes == ("set aside: 1 empty text",)


def test_copies_are_encoded_once(faces: list[Path]) -> None:
    copy = faces[0].parent / "zz" / "copy.png"
    copy.parent.mkdir()
    copy.write_bytes(faces[3].read_bytes())
    encoder = Watched()
    found = embed(faces[0].parent, encoder)
    assert sum(encoder.given) == 23
    assert found.run is not None
    assert (found.run.n_encoded, found.run.n_repeated) == (23, 1)
    assert found.rows(["zz/copy"]).tolist() == found.rows([faces[3].stem]).tolist()


def test_nothing_is_encoded_again(faces: list[Path], tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    embed(faces[:10], Watched(), cache=cache)
    # Other names, another folder, and some that are new.
    moved = []
    for number, file in enumerate(faces[5:15]):
        moved.append(tmp_path / f"moved-{number}.png")
        moved[-1].write_bytes(file.read_bytes())
    encoder = Watched()
    found = embed(moved, encoder, cache=cache, path=tmp_path / "out")
    assert sum(encoder.given) == 5
    assert found.run is not None
    assert (found.run.n_encoded, found.run.n_reused) == (5, 5)
    assert found.values.tobytes() == half(pictures(moved)).tobytes()
    again = Watched()
    assert (
        embed(faces[:15], again, cache=cache).values.tobytes()
        == half(pictures(faces[:15])).tobytes()
    )
    assert again.given == []
    other = Watched(fingerprint="watched-2")
    embed(faces[:15], other, cache=cache)
    assert sum(other.given) == 15


def test_a_folder_is_its_own_cache(faces: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    embed([*faces[:10], (faces[0].stem + "-2", faces[0])], Watched(), path=out)
    encoder = Watched()
    found = embed([("again", faces[0]), *faces[::-1]], encoder, path=out)
    assert sum(encoder.given) == 13
    assert found.values.tobytes() == half(pictures([faces[0], *faces[::-1]])).tobytes()
    # Fewer than before: the folder holds what was asked for, and no more.
    fewer = embed(faces[:2], Watched(), path=out)
    assert fewer.run is not None
    assert (len(fewer), fewer.run.n_encoded) == (2, 0)
    assert fewer.values.shape == np.load(out / "embeddings.npy").shape


def test_a_folder_of_another_encoder_is_refused(faces: list[Path], tmp_path: Path) -> None:
    embed(faces, Watched(), path=tmp_path / "out")
    with pytest.raises(InputError, match="expected another folder for those of 'watched'"):
        embed(faces, Watched(fingerprint="watched-2"), path=tmp_path / "out")
    with pytest.raises(InputError, match="holds other files"):
        embed(faces, Watched(), path=tmp_path / "faces")
    assert len(Embeddings.load(tmp_path / "out")) == 23


@pytest.mark.parametrize("batch", ["auto", 16])
@pytest.mark.parametrize("error", ["MemoryError", "OutOfMemoryError"])
def test_memory_that_ends_loses_nothing(faces: list[Path], batch: Any, error: str) -> None:
    if error == "OutOfMemoryError":
        kind = pytest.importorskip("torch").cuda.OutOfMemoryError
    else:
        kind = MemoryError
    encoder = Watched(room=3, batch=8, error=kind)
    found = embed(faces, encoder, batch=batch)
    assert found.values.tobytes() == half(pictures(faces)).tobytes()
    assert max(encoder.given) <= 3
    assert found.run is not None
    assert found.run.batch == 2
    assert found.run.notes == (
        f"memory ran out with {8 if batch == 'auto' else 16} inputs at a time; went on with 2",
    )


def test_memory_for_not_even_one(faces: list[Path]) -> None:
    with pytest.raises(InputError, match=f"not enough memory to encode .*{faces[0].name} alone"):
        embed(faces, Watched(room=0))


def test_batches_grow_where_that_is_faster(faces: list[Path]) -> None:
    encoder = Watched(batch=1, pause=0.02)
    embed(faces, encoder)
    assert max(encoder.given) > 1


def test_large_pictures_come_in_small_batches(
    faces: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lane_module, "DECODED", 4000)
    encoder = Watched()
    found = embed(faces, encoder, batch=16)
    assert max(encoder.given) < 16
    assert found.values.tobytes() == half(pictures(faces)).tobytes()


def damage(faces: list[Path]) -> None:
    """Break three of the pictures, two of them in the same way."""
    faces[7].write_bytes(faces[7].read_bytes()[:60])
    faces[15].write_bytes(b"no picture")
    faces[19].write_bytes(b"no picture")


@pytest.mark.parametrize("partitions", [None, 6])
def test_the_first_broken_picture_is_named(
    faces: list[Path], tmp_path: Path, partitions: int | None
) -> None:
    damage(faces)
    with pytest.raises(InputError, match=faces[7].name):
        embed(faces, Watched(), path=tmp_path / "out", partitions=partitions)
    assert not (tmp_path / "out" / "embeddings.npy").exists()
    # What came before it was kept.
    faces[7].unlink()
    encoder = Watched()
    with pytest.raises(InputError, match=faces[15].name):
        embed([*faces[:7], *faces[8:]], encoder, path=tmp_path / "out", partitions=partitions)
    assert 0 < sum(encoder.given) <= 15


def test_broken_pictures_are_set_aside(faces: list[Path], tmp_path: Path) -> None:
    damage(faces)
    good = [file for row, file in enumerate(faces) if row not in (7, 15, 19)]
    found = embed(faces, Watched(), path=tmp_path / "out", on_bad="set_aside")
    assert found.stimuli == tuple(file.stem for file in good)
    assert found.values.tobytes() == half(pictures(good)).tobytes()
    assert np.abs(found.rows()).sum(axis=1).min() > 0
    listed = pl.read_csv(tmp_path / "out" / "set_aside.csv", infer_schema=False)
    assert listed["stimulus"].to_list() == [faces[row].stem for row in (7, 15, 19)]
    assert listed["file"].to_list() == [str(faces[row]) for row in (7, 15, 19)]
    assert all(listed["reason"].str.len_chars() > 20)
    assert found.run is not None
    assert [entry.stimulus for entry in found.run.set_aside] == listed["stimulus"].to_list()
    # They are not taken for known, nor listed when they are mended.
    assert len(embed(faces, Watched(), path=tmp_path / "out", on_bad="set_aside")) == 20
    for row in (7, 15, 19):
        faces[row].write_bytes(faces[0].read_bytes())
    assert len(embed(faces, Watched(), path=tmp_path / "out", on_bad="set_aside")) == 23
    assert not (tmp_path / "out" / "set_aside.csv").exists()


def test_nothing_that_can_be_used(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"none of 1 input can be used; the first: .*a\.png"):
        embed(tmp_path / "a.png", Watched(), path=tmp_path / "out", on_bad="set_aside")
    assert not (tmp_path / "out").exists()


def test_texts_that_cannot_be_used() -> None:
    bad = {"a": "so happy", "b": " ", "c": 3, "d": "half \ud800", "e": "so sad"}
    found = embed(bad, Watched("text"), on_bad="set_aside")
    assert found.stimuli == ("a", "e")
    assert found.run is not None
    assert found.run.set_aside == (
        SetAside("b", "", "b is empty; expected a text"),
        SetAside("c", "", "c: int; expected a text"),
        SetAside("d", "", "d holds half a character, which UTF-8 cannot write; expected text"),
    )
    with pytest.raises(InputError, match="b is empty"):
        embed(bad, Watched("text"))


class Wrapping(Watched):
    """Says in words of its own that memory ran out."""

    def encode(self, batch: Any) -> Any:
        try:
            return super().encode(batch)
        except MemoryError:
            raise InputError("cannot encode") from RuntimeError("can't allocate memory: 9 bytes")


def test_memory_that_ends_behind_an_error(faces: list[Path]) -> None:
    encoder = Wrapping(room=2)
    assert embed(faces, encoder).values.tobytes() == half(pictures(faces)).tobytes()
    assert max(encoder.given) == 2


def test_animated_pictures_are_warned_of(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    with pytest.warns(AnimatedImageWarning, match="first frame"):
        found = embed(tmp_path / "a.gif", Watched())
    assert found.values.tobytes() == half(frames[:1]).tobytes()


class Picky(Watched):
    """Refuses what begins with a question mark, and gives numbers that do not fit for others."""

    def encode(self, batch: Any) -> Any:
        if any(text.startswith("?") for text in batch):
            raise InputError("cannot be encoded")
        if any(text.startswith("!") for text in batch):
            raise RuntimeError("broken inside")
        rows = super().encode(batch)
        for row, text in zip(rows, batch, strict=True):
            row[0] = {"x": 1e6, "n": np.nan}.get(text[0], row[0])
        return rows


def test_what_an_encoder_refuses(tmp_path: Path) -> None:
    texts = {"a": "so happy", "b": "?", "c": "so sad", "d": "n"}
    found = embed(texts, Picky("text"), on_bad="set_aside")
    assert found.values.tobytes() == half(["so happy", "so sad"]).tobytes()
    assert found.run is not None
    assert [entry.stimulus for entry in found.run.set_aside] == ["b", "d"]
    with pytest.raises(InputError, match=r"[bd]: "):
        embed(texts, Picky("text"))
    with pytest.raises(InputError, match=r"gave 1e\+06 for a; .*half precision, up to 65,504"):
        embed({"a": "x"}, Picky("text"))
    with pytest.raises(InputError, match="failed on a batch of 1, a first: RuntimeError: broken"):
        embed({"a": "!"}, Picky("text"))


def test_a_file_that_changes_meanwhile(faces: list[Path], tmp_path: Path) -> None:
    def meddle(text: str, done: int, total: int) -> None:
        if text == "reading":
            faces[4].write_bytes(faces[5].read_bytes())

    with pytest.raises(InputError, match=f"{faces[4].name} has changed"):
        embed(faces, Watched(), cache=tmp_path / "cache", progress=meddle)
    assert (
        embed(faces, Watched(), cache=tmp_path / "cache").values.tobytes()
        == half(pictures(faces)).tobytes()
    )


def test_an_interrupted_run_goes_on(faces: list[Path], tmp_path: Path) -> None:
    def interrupt(text: str, done: int, total: int) -> None:
        if text != "reading" and done >= 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed(faces, Watched(), path=tmp_path / "out", progress=interrupt, batch=4)
    with pytest.raises(InputError, match="was interrupted"):
        Embeddings.load(tmp_path / "out")
    encoder = Watched()
    found = embed(faces, encoder, path=tmp_path / "out")
    assert sum(encoder.given) == 11
    assert found.values.tobytes() == half(pictures(faces)).tobytes()
    assert not (tmp_path / "out" / ".work").exists()


def test_progress_counts_inputs(faces: list[Path], tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    embed(faces[:6], Watched(), cache=tmp_path, progress=lambda *part: told.append(part), batch=4)
    assert told == [
        ("reading", 6, 6),
        ("embedding images", 0, 6),
        ("embedding images", 4, 6),
        ("embedding images", 6, 6),
    ]


@pytest.mark.parametrize(
    ("items", "options", "said"),
    [
        ([], {}, "nothing to embed"),
        (3, {}, "cannot embed int"),
        (b"so happy", {}, "cannot embed bytes"),
        ({"a": "so", "": "sad"}, {}, "stimulus ''"),
        (["so"], {"batch": 0}, "batch 0"),
        (["so"], {"batch": "many"}, "batch 'many'"),
        (["so"], {"batch": True}, "batch True"),
        (["so"], {"partitions": 0}, "partitions 0"),
        (["so"], {"on_bad": "ignore"}, "unknown on_bad 'ignore'"),
        (["so"], {"runner": "spark"}, "runner 'spark' is not known"),
        (["so"], {"encoder": "textz"}, "unknown encoder 'textz'"),
        (["so"], {"encoder": "texts", "widht": 3}, "widht"),
        (["so"], {"device": "cuda", "encoder": "texts"}, "device"),
    ],
)
def test_arguments_that_cannot_be_used(items: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        embed(items, **{"encoder": Watched("text"), **options})


def test_names_twice(faces: list[Path]) -> None:
    with pytest.raises(InputError, match="two files"):
        embed([("a", faces[0]), ("a", faces[1])], Watched())
    with pytest.raises(InputError, match="expected a file or a picture"):
        embed([Image.new("RGB", (3, 3)), 3], Watched())


SLOW = """
    import sys, time
    from pathlib import Path
    from affectlab.models.embedding import embed
    from tests.models.embedding.encoders import Watched

    folder, cache, out, pause = sys.argv[1:]
    found = embed(Path(folder), Watched(pause=float(pause)), cache=Path(cache), path=Path(out),
                  partitions=8, batch=2)
    print(found.run.n_encoded)
"""


def start(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SLOW), *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


@pytest.mark.long
def test_killed_and_run_again(faces: list[Path], tmp_path: Path) -> None:
    folder, cache, out = faces[0].parent, tmp_path / "cache", tmp_path / "out"
    with start(folder, cache, out, 0.15) as process:
        end = time.monotonic() + 60
        while len(list(cache.glob("*/rows-*.keys"))) < 2:
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert not (out / "embeddings.npy").exists()
    encoder = Watched()
    found = embed(folder, encoder, cache=cache, path=out)
    assert 0 < sum(encoder.given) < 23
    assert found.run is not None
    assert found.run.n_reused == 23 - sum(encoder.given)
    assert found.values.tobytes() == half(pictures(faces)).tobytes()


@pytest.mark.long
def test_two_processes_share_a_cache(faces: list[Path], tmp_path: Path) -> None:
    folder, cache = faces[0].parent, tmp_path / "cache"
    both = [start(folder, cache, tmp_path / f"out-{one}", 0.02) for one in "ab"]
    assert all(0 <= int(process.communicate(timeout=100)[0]) <= 23 for process in both)
    for one in "ab":
        found = Embeddings.load(tmp_path / f"out-{one}")
        assert found.values.tobytes() == half(pictures(faces)).tobytes()
        assert found.width == WIDTH
    encoder = Watched()
    embed(folder, encoder, cache=cache)
    assert encoder.given == []
