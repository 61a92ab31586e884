"""Files that go to participants as they are hold nothing but the picture."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image, PngImagePlugin, features
from tests.stimuli.frames.films import mouth, transition

from affectlab.stimuli.frames import FiveFrameSampling, find_transitions, write_frames
from affectlab.stimuli.frames.pictures import PictureFiles

SECRET = b"48.2082N 16.3738E, Ann's flat"
XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><exif:GPS>' + SECRET + b"</exif:GPS></x:xmpmeta>"


def chunk(name: bytes, content: bytes) -> bytes:
    sum_ = struct.pack(">I", zlib.crc32(name + content))
    return struct.pack(">I", len(content)) + name + content + sum_


def text() -> PngImagePlugin.PngInfo:
    made = PngImagePlugin.PngInfo()
    made.add_text("Author", SECRET.decode())
    return made


def late_text(file: Path) -> None:
    """After the pixels, where Pillow reads it only when it loads them."""
    file.write_bytes(
        file.read_bytes()[:-12] + chunk(b"tEXt", b"A\0" + SECRET) + chunk(b"IEND", b"")
    )


def own_chunk(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-12] + chunk(b"wHER", SECRET) + chunk(b"IEND", b""))


def behind(file: Path) -> None:
    file.write_bytes(file.read_bytes() + SECRET)


def own_segment(file: Path) -> None:
    data = file.read_bytes()
    part = b"\xff\xe7" + struct.pack(">H", len(SECRET) + 2) + SECRET
    file.write_bytes(data[:2] + part + data[2:])


def webp_part(file: Path) -> None:
    part = b"NOTE" + struct.pack("<I", len(SECRET)) + SECRET + b"\0" * (len(SECRET) % 2)
    body = file.read_bytes()[8:] + part
    file.write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)


WEBP = pytest.mark.skipif(not features.check("webp"), reason="Pillow without WebP")


@pytest.mark.parametrize(
    ("suffix", "options", "change"),
    [
        (".jpg", {"comment": SECRET}, None),
        (".jpg", {"xmp": XMP}, None),
        (".jpg", {}, own_segment),
        (".jpg", {}, behind),
        (".png", {"pnginfo": text()}, None),
        (".png", {}, late_text),
        (".png", {}, own_chunk),
        (".png", {}, behind),
        pytest.param(".webp", {"xmp": XMP}, None, marks=WEBP),
        pytest.param(".webp", {}, webp_part, marks=WEBP),
        pytest.param(".webp", {}, behind, marks=WEBP),
    ],
)
def test_what_is_told_beside_the_picture_stays_behind(
    suffix: str,
    options: dict[str, object],
    change: Callable[[Path], None] | None,
    tmp_path: Path,
) -> None:
    for k, file in enumerate(transition(tmp_path / "in/ann_joy", 5, f"{{}}{suffix}")):
        mouth(1 - k / 4).save(file, **options)  # type: ignore[arg-type]
        if change is not None:
            change(file)
        assert SECRET in file.read_bytes()
    made = write_frames(find_transitions(tmp_path / "in"), tmp_path / "out", FiveFrameSampling())
    for name in made.frames["file"]:
        assert name.endswith(".png")
        assert SECRET not in (tmp_path / "out" / name).read_bytes()
        with Image.open(tmp_path / "out" / name) as image:
            image.load()
            assert not set(image.info) - {"dpi", "gamma", "icc_profile"}


@pytest.mark.parametrize(
    ("suffix", "options"),
    [
        (".png", {"dpi": (72, 72), "icc_profile": b"a profile"}),
        (".jpg", {"dpi": (72, 72), "icc_profile": b"a profile"}),
        (".jpg", {"progressive": True, "quality": 95}),
        (".jpg", {"restart_marker_rows": 1, "subsampling": 0}),
        pytest.param(".webp", {"icc_profile": b"a profile"}, marks=WEBP),
        pytest.param(".webp", {"lossless": True}, marks=WEBP),
    ],
)
@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_plain_files_are_copied(
    suffix: str, options: dict[str, object], mode: str, tmp_path: Path
) -> None:
    file = tmp_path / f"a{suffix}"
    mouth(0.5, (320, 240)).convert(mode).save(file, **options)  # type: ignore[arg-type]
    assert PictureFiles((file,)).copyable(0) == file


@pytest.mark.parametrize("suffix", [".png", ".jpg", pytest.param(".webp", marks=WEBP)])
@pytest.mark.parametrize("share", [0.2, 0.6, 0.95])
def test_half_a_file_is_not_copied(suffix: str, share: float, tmp_path: Path) -> None:
    file = tmp_path / f"a{suffix}"
    mouth(0.5, (320, 240)).save(file)
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * share)])
    try:
        found = PictureFiles((file,)).copyable(0)
    except OSError:
        found = None
    assert found is None
