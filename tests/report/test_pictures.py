"""Pictures of stimuli: which are found, which are refused, and how they are read."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

from affectlab.ratings import Ratings
from affectlab.report.images import thumbnail


def pictures(folder, names):
    folder.mkdir()
    for k, name in enumerate(names):
        Image.new("RGBA", (400, 300), (40 * k, 90, 200, 255)).save(folder / f"{name}.png")


def test_contact_sheet(tmp_path, write):
    pictures(tmp_path / "faces", ["a", "b", "c"])
    frame = {
        "stimulus": list("abc") * 2,
        "rater": ["r1"] * 3 + ["r2"] * 3,
        "label": ["joy"] * 6,
        "value": [1, 2, 3, 1, 2, 4],
    }
    text = write(Ratings(frame, scale="0-7"), images=tmp_path / "faces")
    cards, sheet = text.split('<section id="stimuli"')
    assert sheet.count('<img src="data:image/jpeg;base64,') == 3
    assert 'width="240" height="180"' in sheet
    assert cards.count('<img src="data:image/jpeg;base64,') == 3
    assert 'width="144" height="108" alt="Stimulus c"' in cards
    assert 'alt="Stimulus c. Highest mean answer: joy 3.5."' in text


def test_pictures_named_by_an_attribute(tmp_path, write):
    pictures(tmp_path / "faces", ["one"])
    (tmp_path / "faces" / "two.png").write_bytes(b"no picture")
    ratings = Ratings(
        {"stimulus": ["a", "b", "c"], "rater": ["r"] * 3, "value": [1, 2, 3]},
        scale="0-7",
        stimuli={
            "stimulus": ["a", "b", "c"],
            "file": ["one.png", "two.png", "https://example.org/three.png"],
        },
    )
    text = write(ratings, images=tmp_path / "faces")
    assert text.split('<section id="stimuli"')[1].count("<img ") == 1
    assert "Not readable as a picture: b." in text
    assert "example.org" not in text


@pytest.fixture
def beside(tmp_path, write):
    """Write a report on one stimulus whose picture is said to lie somewhere; count pictures."""

    def run(place: str, **options) -> int:
        ratings = Ratings(
            {"stimulus": ["a", "a"], "rater": ["r", "s"], "value": [1, 2]},
            scale="0-7",
            stimuli={"stimulus": ["a"], "file": [place]},
            source=options.pop("source", ""),
        )
        cards, _, sheet = write(ratings, **options).partition('<section id="stimuli"')
        # It is the highest, the lowest and the most disputed one, too.
        assert cards.count("<img ") == 3 * sheet.count("<img ")
        return sheet.count("<img ")

    return run


@pytest.mark.long
def test_paths_that_lead_out_of_the_folder_are_refused(tmp_path, beside, monkeypatch):
    pictures(tmp_path / "secret", ["private"])
    pictures(tmp_path / "faces", ["one"])
    (tmp_path / "faces" / "link.png").symlink_to(tmp_path / "secret" / "private.png")
    faces = tmp_path / "faces"
    assert beside("one.png", images=faces) == 1
    assert beside(str(faces / "one.png"), images=faces) == 1
    assert beside("../faces/one.png", images=faces) == 1
    assert beside("../secret/private.png", images=faces) == 0
    assert beside(str(tmp_path / "secret" / "private.png"), images=faces) == 0
    assert beside("link.png", images=faces) == 0
    monkeypatch.chdir(tmp_path / "secret")
    assert beside("private.png", images=faces) == 0
    assert beside("private.png") == 0


def test_pictures_beside_the_source_are_found_and_those_above_are_not(tmp_path, beside):
    pictures(tmp_path / "study", ["one"])
    pictures(tmp_path / "secret", ["private"])
    source = tmp_path / "study" / "ratings.csv"
    source.write_text("stimulus,rater,value\n")
    assert beside("one.png", source=str(source)) == 1
    assert beside("../secret/private.png", source=str(source)) == 0


def test_stimuli_named_like_a_link_that_leads_out_have_no_picture(tmp_path, beside):
    pictures(tmp_path / "secret", ["private"])
    (tmp_path / "faces").mkdir()
    (tmp_path / "faces" / "a.png").symlink_to(tmp_path / "secret" / "private.png")
    assert beside("none.png", images=tmp_path / "faces") == 0


@pytest.mark.parametrize("kind", ["EPS", "TIFF", "PPM"])
def test_other_formats_in_the_clothes_of_a_picture_are_not_opened(tmp_path, kind):
    """Pillow would start Ghostscript for EPS."""
    file = tmp_path / "a.png"
    Image.new("RGB", (40, 30), "red").save(file, kind)
    assert thumbnail(file) is None


def test_huge_pictures_are_refused_before_they_are_decoded(tmp_path):
    Image.new("1", (6001, 5000)).save(tmp_path / "huge.png")
    Image.new("1", (1000, 500)).save(tmp_path / "small.png")
    assert thumbnail(tmp_path / "huge.png") is None
    assert thumbnail(tmp_path / "small.png")[1:] == (240, 120)


@pytest.mark.parametrize(
    ("mode", "suffix"),
    [
        ("RGB", "jpg"),
        ("L", "jpg"),
        ("CMYK", "jpg"),
        ("RGBA", "png"),
        ("P", "png"),
        ("LA", "png"),
        ("1", "bmp"),
        ("P", "gif"),
        ("RGB", "webp"),
    ],
)
def test_modes_and_formats(tmp_path, mode, suffix):
    """Left half dark, right half light, in every mode; drawn small, it stays so."""
    grey = np.zeros((300, 600), dtype=np.uint8)
    grey[:, 300:] = 255
    file = tmp_path / f"a.{suffix}"
    Image.fromarray(grey).convert(mode).save(file)
    uri, width, height = thumbnail(file)
    assert (width, height) == (240, 120)
    with Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))) as small:
        shades = np.asarray(small.convert("L"))
    assert shades[:, :100].max() < 40
    assert shades[:, 140:].min() > 215


def test_photographs_are_turned_as_the_camera_says(tmp_path):
    picture = Image.new("RGB", (600, 300), "navy")
    exif = picture.getexif()
    exif[0x0112] = 6
    picture.save(tmp_path / "a.jpg", exif=exif)
    assert thumbnail(tmp_path / "a.jpg")[1:] == (120, 240)
