"""Pictures inside other files: shards, Parquet with bytes, data sets that were saved."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from affectlab.core.errors import InputError
from affectlab.models.embedding import embed
from affectlab.models.images import content_hash, find_files, find_images, load_image, read_bytes
from affectlab.models.raters.stimuli import kind_of_stimuli
from affectlab.models.text import read_texts
from affectlab.models.vlm.prompts import image_part

NAMES = tuple(f"face-{number}" for number in range(7))


def contents() -> list[bytes]:
    found = []
    for number in range(len(NAMES)):
        held = io.BytesIO()
        Image.new("RGB", (8, 8), (30 * number, 0, 0)).save(held, "PNG")
        found.append(held.getvalue())
    return found


def as_tar(path: Path, extra: tuple[tuple[str, bytes], ...] = ()) -> Path:
    members = [(f"{name}.png", held) for name, held in zip(NAMES, contents(), strict=True)]
    beside = [(f"{name}.json", b"{}") for name in NAMES]
    with tarfile.open(path, "w") as file:
        for name, held in [*members, *beside, *extra]:
            info = tarfile.TarInfo(name)
            info.size = len(held)
            file.addfile(info, io.BytesIO(held))
    return path


def as_bytes(path: Path) -> Path:
    pytest.importorskip("pyarrow")
    frame = pl.DataFrame({"id": NAMES, "image": contents(), "label": ["joy"] * len(NAMES)})
    frame.write_parquet(path.with_suffix(".parquet"), use_pyarrow=True, row_group_size=3)
    return path.with_suffix(".parquet")


def as_structs(path: Path) -> Path:
    pytest.importorskip("pyarrow")
    cells = [{"bytes": held, "path": None} for held in contents()]
    pl.DataFrame({"image": cells}).write_parquet(path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


def as_saved(path: Path) -> Path:
    datasets = pytest.importorskip("datasets")
    cells = [{"bytes": held, "path": None} for held in contents()]
    features = datasets.Features({"key": datasets.Value("string"), "image": datasets.Image()})
    made = datasets.Dataset.from_dict({"key": NAMES[::-1], "image": cells[::-1]}, features)
    # Rows in another order than they are in the file.
    made.select(range(len(NAMES))[::-1]).save_to_disk(str(path))
    return path


def as_folder(path: Path) -> Path:
    path.mkdir()
    as_tar(path / "a.tar")
    pl.DataFrame({"stimulus": ["a"], "joy": [1.0]}).write_parquet(path / "ratings.parquet")
    return path


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda path: as_tar(path.with_suffix(".tar")), NAMES),
        (as_bytes, NAMES),
        (as_structs, tuple(f"row {row}" for row in range(7))),
        (as_saved, NAMES),
        (as_folder, tuple(f"a/{name}" for name in NAMES)),
    ],
)
def test_the_same_pictures_whatever_they_are_in(
    make: Callable[[Path], Path], names: tuple[str, ...], tmp_path: Path
) -> None:
    place = make(tmp_path / "faces")
    files = find_images(place)
    assert tuple(file.stimulus for file in files) == names
    assert [file.read() for file in reversed(files)] == contents()[::-1]
    assert files[3].sha256 == content_hash(contents()[3])
    assert load_image(files[3].path).getpixel((0, 0)) == (90, 0, 0)
    assert image_part(files[3].path).sha256 == files[3].sha256
    made = embed(place, "faces", path=tmp_path / "out")
    assert made.stimuli == names
    assert made.files == tuple(str(file.path) for file in files)
    again = embed([(file.stimulus, file.path) for file in files], "faces", path=tmp_path / "out")
    assert again.run is not None
    assert again.run.n_encoded == 0


def _cut_off(folder: Path) -> Path:
    whole = as_tar(folder / "whole.tar").read_bytes()
    (folder / "cut.tar").write_bytes(b"\0not a tar" + whole[:700])
    return folder / "cut.tar"


def _compressed(folder: Path) -> Path:
    with tarfile.open(folder / "packed.tar", "w:gz"):
        pass
    return folder / "packed.tar"


def _two_columns(folder: Path) -> Path:
    frame = pl.DataFrame({"left": contents(), "right": contents()})
    frame.write_parquet(folder / "two.parquet")
    return folder / "two.parquet"


def _splits(folder: Path) -> Path:
    datasets = pytest.importorskip("datasets")
    part = datasets.Dataset.from_dict({"a": [1]})
    datasets.DatasetDict({"train": part}).save_to_disk(str(folder / "whole"))
    return folder / "whole"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (_cut_off, "cannot be read as a tar without compression"),
        (_compressed, "without compression"),
        (_two_columns, "columns of bytes: left and right"),
        (_splits, "holds the splits train; expected one of them"),
        (lambda folder: as_tar(folder / "b.tar").with_name("none.tar"), "no such file or folder"),
    ],
)
def test_what_cannot_be_read(make: Callable[[Path], Path], said: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match=said):
        find_images(make(tmp_path))


def test_members_are_never_files_beside_the_shard(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(contents()[0])
    shard = as_tar(tmp_path / "a.tar", extra=(("../secret.png", contents()[6]),))
    with tarfile.open(shard, "a") as file:
        link = tarfile.TarInfo("link.png")
        link.type, link.linkname = tarfile.SYMTYPE, "../secret.png"
        file.addfile(link)
    found = {file.stimulus: file for file in find_images(shard)}
    assert "link" not in found
    assert found["../secret"].read() == contents()[6]
    for name in ("none.png", "link.png"):
        with pytest.raises(InputError, match="there is no file"):
            read_bytes(Path(f"{shard}::{name}"))
    with pytest.raises(InputError, match="larger than"):
        read_bytes(found["face-0"].path, limit=10)


def test_sounds_and_rows_that_are_not_there(tmp_path: Path) -> None:
    shard = as_tar(tmp_path / "a.tar", extra=(("voice.wav", b"RIFF"),))
    assert [file.stimulus for file in find_files(shard, "audio")] == ["voice"]
    table = as_bytes(tmp_path / "faces")
    for row in ("7", "-1", "x"):
        with pytest.raises(InputError, match="there is no row"):
            read_bytes(Path(f"{table}::{row}"))


def test_what_kind_a_place_holds(tmp_path: Path) -> None:
    assert kind_of_stimuli(as_tar(tmp_path / "a.tar")) == "image"
    assert kind_of_stimuli(as_bytes(tmp_path / "b")) == "image"
    pl.DataFrame({"audio": [b"RIFF"]}).write_parquet(tmp_path / "c.parquet")
    assert kind_of_stimuli(tmp_path / "c.parquet") == "sound"
    pl.DataFrame({"text": ["so happy"]}).write_parquet(tmp_path / "d.parquet")
    assert kind_of_stimuli(tmp_path / "d.parquet") == "text"
    (tmp_path / "e.csv").write_text("text\nso happy\n")
    assert kind_of_stimuli(tmp_path / "e.csv") == "text"
    as_tar(tmp_path / "a.tar", extra=(("voice.wav", b"RIFF"),))
    with pytest.raises(InputError, match="both pictures and sounds"):
        kind_of_stimuli(tmp_path)


def test_texts(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    shard = as_tar(tmp_path / "a.tar", extra=(("b.txt", "so glücklich".encode()),))
    assert read_texts(shard)[:2] == (("so glücklich",), ("b",))
    part = datasets.Dataset.from_dict({"text": ["so happy", None, "oh no"], "id": [3, 4, 5]})
    part.save_to_disk(str(tmp_path / "saved"))
    texts, names, notes = read_texts(tmp_path / "saved", on_bad="set_aside")
    assert (texts, names) == (("so happy", "oh no"), ("3", "5"))
    assert "1 empty text" in notes[0]
    bad = as_tar(tmp_path / "c.tar", extra=(("b.txt", b"\xff"),))
    with pytest.raises(InputError, match="not in UTF-8"):
        read_texts(bad)
