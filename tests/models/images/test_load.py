"""Images of every kind come out upright, in RGB and opaque; what is none is refused by name."""

from __future__ import annotations

import io
import os
import struct
import warnings
import zlib

import numpy as np
import pytest
from hypothesis import given, strategies as st
from PIL import Image, ImageCms

from affectlab.core.errors import InputError
from affectlab.models.images import load_image
from affectlab.models.images.loading import AnimatedImageWarning

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)


def corners() -> Image.Image:
    """Red, green and blue corners, so that no turn looks like another."""
    image = Image.new("RGB", (24, 16), "white")
    for place, colour in (((0, 0), RED), ((16, 0), GREEN), ((0, 8), BLUE)):
        image.paste(colour, (*place, place[0] + 8, place[1] + 8))
    return image


def held(image: Image.Image, kind: str = "PNG", **more) -> bytes:
    content = io.BytesIO()
    image.save(content, format=kind, **more)
    return content.getvalue()


def near(image: Image.Image, expected, tolerance: int = 4) -> bool:
    return bool(np.abs(np.asarray(image).astype(int) - np.asarray(expected)).max() <= tolerance)


@pytest.mark.parametrize("turn", range(1, 9))
def test_exif_turns_images_upright(turn):
    """Against the definition: where the first row and the first column are to be seen."""
    values = np.asarray(corners())
    # How upright pixels are stored for each value of the tag (EXIF 2.3, orientation).
    stored = {
        1: values,
        2: values[:, ::-1],
        3: values[::-1, ::-1],
        4: values[::-1],
        5: values.transpose(1, 0, 2),
        6: np.rot90(values, 1),
        7: values[::-1, ::-1].transpose(1, 0, 2),
        8: np.rot90(values, -1),
    }[turn]
    exif = Image.Exif()
    exif[0x0112] = turn
    found = load_image(held(Image.fromarray(np.ascontiguousarray(stored)), exif=exif))
    assert np.array_equal(np.asarray(found), values)
    assert not found.info
    assert found.getexif().get(0x0112) is None


@pytest.mark.parametrize("turn", [0, 9, 77])
def test_turns_that_nobody_defined_turn_nothing(turn):
    exif = Image.Exif()
    exif[0x0112] = turn
    assert load_image(held(corners(), exif=exif)).size == (24, 16)


def test_damaged_exif_turns_nothing():
    content = held(corners(), "JPEG", exif=b"Exif\0\0MM\0*" + b"\xff" * 30, quality=95)
    with warnings.catch_warnings():
        # Pillow remarks on it, which is raised in tests.
        warnings.simplefilter("ignore")
        assert load_image(content).size == (24, 16)


def test_what_can_be_seen_through_is_on_white():
    half = Image.new("RGBA", (4, 4), (255, 0, 0, 128))
    assert load_image(held(half)).getpixel((0, 0)) == (255, 127, 127)
    grey = Image.new("LA", (4, 4), (0, 0))
    assert load_image(held(grey)).getpixel((1, 1)) == WHITE
    palette = Image.new("P", (4, 4), 1)
    palette.putpalette([0, 0, 0, 0, 0, 255])
    assert load_image(held(palette)).getpixel((0, 0)) == BLUE
    assert load_image(held(palette, transparency=1)).getpixel((0, 0)) == WHITE
    one = Image.new("RGB", (4, 4), RED)
    assert load_image(held(one, transparency=RED)).getpixel((0, 0)) == WHITE
    assert load_image(held(half, "WEBP", lossless=True)).getpixel((0, 0)) == (255, 127, 127)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "YCbCr", "HSV", "RGBX"])
def test_modes_of_images_in_memory(mode):
    plain = Image.new("RGB", (6, 5), (80, 80, 80))
    image = plain.quantize(4) if mode == "P" else plain.convert(mode)
    found = load_image(image)
    assert (found.mode, found.size) == ("RGB", (6, 5))
    if mode != "1":
        assert near(found, (80, 80, 80))


def test_sixteen_bits_are_scaled_and_not_cut_off():
    values = np.array([[0, 257, 128 * 257, 65_535]], dtype=np.uint16)
    for kind in ("PNG", "TIFF"):
        found = load_image(held(Image.fromarray(values), kind))
        assert np.asarray(found)[0, :, 0].tolist() == [0, 1, 128, 255]
    wide = Image.fromarray(np.array([[0, 65_535]], dtype=np.int32))
    assert np.asarray(load_image(wide))[0, :, 1].tolist() == [0, 255]


def test_values_that_no_rule_shows_are_refused():
    for values in (np.array([[-1]], np.int32), np.array([[70_000]], np.int32)):
        with pytest.raises(InputError, match="values beyond 16 bits"):
            load_image(Image.fromarray(values))
    with pytest.raises(InputError, match="values with fractions"):
        load_image(held(Image.fromarray(np.array([[0.5]], np.float32)), "TIFF"), name="f.tif")


def test_cmyk():
    cyan = Image.new("CMYK", (8, 8), (255, 0, 0, 0))
    assert near(load_image(held(cyan, "JPEG", quality=100)), (0, 255, 255), 8)
    assert near(load_image(held(cyan, "TIFF")), (0, 255, 255))


def linear_profile() -> bytes:
    """A profile of sRGB's colours without its curve: the same numbers are much brighter."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    n = struct.unpack(">I", profile[128:132])[0]
    made = bytearray(profile)
    for entry in range(n):
        start = 132 + 12 * entry
        name, offset, size = struct.unpack(">4sII", profile[start : start + 12])
        if name in (b"rTRC", b"gTRC", b"bTRC"):
            made[offset : offset + size] = (b"curv" + b"\0" * 8).ljust(size, b"\0")
        if name == b"desc":
            made[offset : offset + size] = bytes(
                part if part not in b"sRGB" else ord("x") for part in made[offset : offset + size]
            )
            made[offset : offset + 4] = profile[offset : offset + 4]
    return bytes(made)


def test_colours_follow_the_profile_that_is_embedded():
    image = Image.new("RGB", (4, 4), (55, 55, 55))
    linear = linear_profile()
    # .0385 of the light, which sRGB writes as about 128.
    assert near(load_image(held(image, icc_profile=linear)), (128, 128, 128), 3)
    seen = image.convert("RGBA")
    seen.putalpha(128)
    assert near(load_image(held(seen, icc_profile=linear)), (192, 192, 192), 3)
    same = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    assert near(load_image(held(image, icc_profile=same)), (55, 55, 55), 0)
    # A profile that is damaged, or of other colours than the pixels, says nothing.
    for profile in (b"no profile", linear[:200], linear):
        grey = image.convert("L") if profile == linear else image
        assert near(load_image(held(grey, icc_profile=profile)), (55, 55, 55), 0)


def frames(n: int = 3) -> list[Image.Image]:
    return [Image.new("RGB", (8, 8), colour) for colour in (RED, GREEN, BLUE)[:n]]


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG", "TIFF"])
def test_of_animated_images_the_first_frame_is_taken(kind):
    first, *others = frames()
    more = {"lossless": True} if kind == "WEBP" else {}
    content = held(first, kind, save_all=True, append_images=others, **more)
    with pytest.warns(AnimatedImageWarning, match="its first frame is taken"):
        found = load_image(content)
    assert near(found, RED)


def test_animation_is_said_once():
    first, *others = frames()
    content = held(first, "GIF", save_all=True, append_images=others)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        for name in "abc":
            load_image(content, name=name)
    assert len(said) == 1


def test_two_views_of_one_moment_are_no_film():
    first, second, _ = frames()
    content = io.BytesIO()
    first.save(content, format="MPO", save_all=True, append_images=[second], quality=95)
    assert near(load_image(content.getvalue()), RED, 8)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "AVIF"])
def test_files_that_are_cut_off_are_refused_by_name(tmp_path, kind):
    values = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    content = held(Image.fromarray(values), kind)
    file = tmp_path / f"face.{kind.lower()}"
    for share in (0.9, 0.5, 0.1):
        file.write_bytes(content[: int(share * len(content))])
        with pytest.raises(InputError, match=f"face.{kind.lower()} ") as error:
            load_image(file)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0",
        b"<html><body>404 not found</body></html>",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"%PDF-1.7\n",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
        b"\xff\xd8\xff",
        b"\x89PNG\r\n\x1a\n",
        b"RIFF\x04\0\0\0WEBP",
        b"P6 9999999 9999999 255 ",
        b"P6 -3 -3 255 ",
    ],
)
def test_files_that_are_no_images(tmp_path, content):
    file = tmp_path / "strange\nname.jpg"
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"strange name\.jpg") as error:
        load_image(file)
    assert "\n" not in str(error.value)


@given(st.binary(max_size=60), st.sampled_from(["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP"]))
def test_damage_anywhere_raises_nothing_else(noise, kind):
    content = bytearray(held(corners(), kind))
    start = len(noise) * 7 % len(content)
    content[start : start + len(noise)] = noise
    with warnings.catch_warnings():
        # Pillow remarks on some of it, which is raised in tests, and is then damage.
        warnings.simplefilter("ignore")
        said = ""
        try:
            assert load_image(bytes(content)).mode == "RGB"
        except InputError as error:
            said = str(error)
    assert "\n" not in said


def png_of(width: int, height: int) -> bytes:
    """A small file that claims any size."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


@pytest.mark.parametrize("size", [(10_000, 8_001), (20_000, 20_000), (2**31 - 1, 2**31 - 1)])
def test_bombs_are_not_decoded(size):
    with pytest.raises(InputError, match=r"pixels; expected at most 80,000,000|damaged"):
        load_image(png_of(*size), name="bomb.png")


def test_files_that_are_too_large_are_not_read(tmp_path, monkeypatch):
    file = tmp_path / "huge.png"
    with file.open("wb") as opened:
        # A hole: no space is taken on the disk.
        opened.truncate(2**28 + 1)
    with pytest.raises(InputError, match=r"huge\.png is larger than 256 MiB"):
        load_image(file)


def test_what_is_no_file(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.png: there is no such file"):
        load_image(tmp_path / "nowhere.png")
    with pytest.raises(InputError, match="is a folder"):
        load_image(tmp_path)
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(InputError, match="is no ordinary file"):
        load_image(tmp_path / "pipe.png")
    with pytest.raises(InputError, match="cannot be read"):
        load_image("a\0b.png")
    with pytest.raises(InputError, match="not int"):
        load_image(3)
    loop = tmp_path / "loop.png"
    loop.symlink_to(loop)
    with pytest.raises(InputError, match=r"loop\.png"):
        load_image(loop)


def test_links_and_odd_names_are_followed(tmp_path):
    file = tmp_path / "Gesicht – ü 😀 #1.png"
    corners().save(file)
    link = tmp_path / "link"
    link.symlink_to(file)
    for place in (file, str(file), link):
        assert np.array_equal(np.asarray(load_image(place)), np.asarray(corners()))


def test_what_is_given_stays_as_it_was():
    image = corners()
    image.info["note"] = "mine"
    found = load_image(image)
    found.putpixel((0, 0), (1, 2, 3))
    assert image.getpixel((0, 0)) == RED
    assert image.info == {"note": "mine"}
    assert not found.info


def test_published_images(shared_data):
    folder = shared_data / "emonet_face" / "images"
    if not folder.is_dir():
        pytest.skip(f"no images at {folder}")
    for path in sorted(folder.iterdir()):
        image = load_image(path)
        assert image.mode == "RGB"
        assert min(image.size) >= 256
