"""Transitions in folders: names, natural order, and pictures as they are meant to be seen."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.stimuli.frames.films import mouth, number_of, numbered, transition, write_folder

from affectlab import InputError
from affectlab.stimuli.frames import (
    FiveFrameSampling,
    UnusableError,
    View,
    find_transitions,
    write_frames,
)
from affectlab.stimuli.frames.pictures import PictureFiles, natural_key, open_picture


class TestNames:
    def test_flat_and_nested(self, tmp_path: Path) -> None:
        transition(tmp_path / "person-1_open_mouth", 5)
        transition(tmp_path / "ann/left wink", 5)
        transition(tmp_path / "day2/bob/joy", 5)
        found = find_transitions(tmp_path)
        assert [(one.name, one.actor, one.expression) for one in found.transitions] == [
            ("ann/left wink", "ann", "left wink"),
            ("day2/bob/joy", "day2/bob", "joy"),
            ("person-1_open_mouth", "person-1", "open_mouth"),
        ]

    def test_a_pattern(self, tmp_path: Path) -> None:
        transition(tmp_path / "take12-joy-ann", 5)
        (one,) = find_transitions(tmp_path, names="take*-{expression}-{actor}").transitions
        assert (one.actor, one.expression) == ("ann", "joy")

    def test_the_folder_itself(self, tmp_path: Path) -> None:
        transition(tmp_path / "ann_joy", 6)
        (one,) = find_transitions(tmp_path / "ann_joy").transitions
        assert (one.name, len(one.frames)) == ("ann_joy", 6)

    def test_only_some_expressions(self, tmp_path: Path) -> None:
        for name in ("ann_joy", "ann_fear", "bob_Joy"):
            transition(tmp_path / name, 5)
        found = find_transitions(tmp_path, expressions=["[jJ]oy"])
        assert [one.name for one in found.transitions] == ["ann_joy", "bob_Joy"]
        with pytest.raises(InputError, match="no expression fits awe; there are: Joy, fear, joy"):
            find_transitions(tmp_path, expressions=["awe"])

    @pytest.mark.parametrize("pattern", ["{actor}", "{actor}{actor}_{expression}", "", "x"])
    def test_bad_patterns(self, pattern: str, tmp_path: Path) -> None:
        transition(tmp_path / "ann_joy", 5)
        with pytest.raises(InputError, match=r"expected \{actor\} and \{expression\}, each once"):
            find_transitions(tmp_path, names=pattern)

    def test_a_name_that_says_nothing(self, tmp_path: Path) -> None:
        transition(tmp_path / "joy", 5)
        with pytest.raises(InputError, match="'joy' does not say actor and expression"):
            find_transitions(tmp_path)

    def test_the_same_twice(self, tmp_path: Path) -> None:
        transition(tmp_path / "ann/joy", 5)
        transition(tmp_path / "ann_joy", 5)
        with pytest.raises(InputError, match="'ann/joy' and 'ann_joy' are both actor 'ann'"):
            find_transitions(tmp_path)

    @pytest.mark.skipif(os.name == "nt", reason="names are text there")
    def test_a_name_that_is_no_text(self, tmp_path: Path) -> None:
        place = os.fsencode(tmp_path) + b"/ann_j\xf6y"
        try:
            os.mkdir(place)  # noqa: PTH102
        except OSError:
            pytest.skip("the file system takes text only")
        mouth(1).save(os.fsdecode(place) + "/0.png")
        with pytest.raises(InputError, match="is no text in UTF-8"):
            find_transitions(tmp_path)


class TestFound:
    def test_natural_order(self, tmp_path: Path) -> None:
        write_folder(tmp_path / "ann_joy", [numbered(k) for k in range(12)], "take 2 frame{}.png")
        (one,) = find_transitions(tmp_path).transitions
        seen = [number_of(image) for image in one.images(range(12), View())]
        assert seen == list(range(12))
        assert [number_of(image) for image in one.images([7, 2, 9], View())] == [7, 2, 9]

    def test_names_with_signs_that_only_look_like_numbers(self) -> None:
        names = ["x²_10.png", "x²_9.png", "x½.png", "١٠.png", "٩.png"]
        assert sorted(names, key=natural_key) == [
            "٩.png",
            "١٠.png",
            "x²_9.png",
            "x²_10.png",
            "x½.png",
        ]

    def test_hidden_and_foreign_files_are_passed_over(self, tmp_path: Path) -> None:
        files = transition(tmp_path / "ann_joy", 5)
        for name in ("._0.png", "Thumbs.db", "notes.txt", ".DS_Store"):
            (files[0].parent / name).write_bytes(b"x")
        transition(tmp_path / ".cache/x_y", 5)
        transition(tmp_path / "__MACOSX/ann_joy", 5)
        (one,) = find_transitions(tmp_path).transitions
        assert len(one.frames) == 5

    def test_pictures_beside_folders(self, tmp_path: Path) -> None:
        transition(tmp_path / "ann/joy", 5)
        mouth(0).save(tmp_path / "ann/portrait.png")
        with pytest.raises(InputError, match=r"portrait\.png belongs to no sequence"):
            find_transitions(tmp_path)

    def test_a_frame_in_two_formats(self, tmp_path: Path) -> None:
        files = transition(tmp_path / "ann_joy", 6)
        mouth(1).save(files[2].with_suffix(".jpg"))
        transition(tmp_path / "bob_joy", 6)
        found = find_transitions(tmp_path)
        assert [one.name for one in found.transitions] == ["bob_joy"]
        assert found.left_out[0].reason == "frame 2 is there twice, as 2.jpg and 2.png"

    def test_times(self, tmp_path: Path) -> None:
        transition(tmp_path / "ann_joy", 5)
        (unknown,) = find_transitions(tmp_path).transitions
        assert set(unknown.frames.times_ms) == {None}
        (known,) = find_transitions(tmp_path, fps=50).transitions
        assert known.frames.times_ms == (0, 20, 40, 60, 80)

    @pytest.mark.parametrize(
        ("names", "ticks"),
        [
            (["f007", "f008", "f010", "f011"], [0, 1, 3, 4]),
            (["10", "20", "40", "50"], [0, 1, 3, 4]),
            (["a1", "b3", "c5", "d9"], [0, 1, 2, 3]),
            (["first", "last", "middle", "x2"], [0, 1, 2, 3]),
            (["take2", "take2b", "take3", "take9"], [0, 1, 2, 3]),
        ],
    )
    def test_a_frame_that_is_missing_leaves_a_gap(
        self, names: list[str], ticks: list[int], tmp_path: Path
    ) -> None:
        files = tuple(tmp_path / f"{name}.png" for name in names)
        assert PictureFiles(files, 10).times_ms == pytest.approx([100 * tick for tick in ticks])

    @pytest.mark.parametrize("fps", [0, -1, float("nan"), float("inf")])
    def test_bad_rates(self, fps: float, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="expected frames per second"):
            find_transitions(tmp_path, fps=fps)

    def test_nothing_there(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="holds no pictures and no videos"):
            find_transitions(tmp_path)
        with pytest.raises(InputError, match="there is no such file or folder"):
            find_transitions(tmp_path / "none")
        (tmp_path / "film.doc").write_bytes(b"x")
        with pytest.raises(InputError, match="expected a folder, a video"):
            find_transitions(tmp_path / "film.doc")


class TestPictures:
    @pytest.mark.parametrize("orientation", range(1, 9))
    def test_turned_as_exif_says(self, orientation: int, tmp_path: Path) -> None:
        undo = {
            2: Image.Transpose.FLIP_LEFT_RIGHT,
            3: Image.Transpose.ROTATE_180,
            4: Image.Transpose.FLIP_TOP_BOTTOM,
            5: Image.Transpose.TRANSPOSE,
            6: Image.Transpose.ROTATE_90,
            7: Image.Transpose.TRANSVERSE,
            8: Image.Transpose.ROTATE_270,
        }
        image = numbered(178)
        lying = image if orientation == 1 else image.transpose(undo[orientation])
        exif = Image.Exif()
        exif[0x0112] = orientation
        lying.save(tmp_path / "a.jpg", exif=exif, quality=95)
        seen = open_picture(tmp_path / "a.jpg")
        assert seen.size == image.size
        assert number_of(seen) == 178

    def test_clear_parts_are_white(self, tmp_path: Path) -> None:
        image = Image.new("RGBA", (4, 4), (255, 0, 0, 0))
        image.putpixel((1, 1), (0, 0, 255, 255))
        image.save(tmp_path / "a.png")
        seen = open_picture(tmp_path / "a.png")
        assert (seen.mode, seen.getpixel((0, 0)), seen.getpixel((1, 1))) == (
            "RGB",
            (255, 255, 255),
            (0, 0, 255),
        )

    def test_sixteen_bits(self, tmp_path: Path) -> None:
        values = np.array([[0, 257, 32_896, 65_535]], dtype=np.uint16)
        for suffix in (".png", ".tif"):
            Image.fromarray(values).save(tmp_path / f"a{suffix}")
            seen = np.asarray(open_picture(tmp_path / f"a{suffix}"))
            assert seen[0, :, 0].tolist() == [0, 1, 128, 255]

    def test_a_palette(self, tmp_path: Path) -> None:
        numbered(77).quantize(8).save(tmp_path / "a.png")
        assert number_of(open_picture(tmp_path / "a.png")) == 77

    @pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n", b"<svg/>", bytes(300)])
    def test_no_picture(self, content: bytes, tmp_path: Path) -> None:
        (tmp_path / "a.png").write_bytes(content)
        with pytest.raises(UnusableError, match=r"a\.png is no picture that can be read"):
            open_picture(tmp_path / "a.png")

    def test_half_a_picture(self, tmp_path: Path) -> None:
        numbered(3, (512, 512)).save(tmp_path / "a.jpg")
        data = (tmp_path / "a.jpg").read_bytes()
        (tmp_path / "a.jpg").write_bytes(data[: len(data) // 2])
        with pytest.raises(UnusableError, match=r"a\.jpg is no picture that can be read"):
            open_picture(tmp_path / "a.jpg")

    def test_a_film_as_a_frame(self, tmp_path: Path) -> None:
        mouth(0).save(tmp_path / "a.gif", save_all=True, append_images=[mouth(0.5), mouth(1)])
        with pytest.raises(UnusableError, match=r"a\.gif holds 3 pictures; expected one frame"):
            open_picture(tmp_path / "a.gif")

    def test_a_bomb(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
        mouth(0).save(tmp_path / "a.png")
        with pytest.raises(UnusableError, match="decompression bomb"):
            open_picture(tmp_path / "a.png")

    def test_frames_of_two_sizes(self, tmp_path: Path) -> None:
        transition(tmp_path / "ann_joy", 8)
        mouth(0.5, (80, 60)).save(tmp_path / "ann_joy/4.png")
        (one,) = find_transitions(tmp_path).transitions
        with pytest.raises(UnusableError, match="frame 4 has 80 x 60 pixels, frames before it 64"):
            FiveFrameSampling().choose(one, View())


class TestView:
    def test_cut_then_made_smaller(self) -> None:
        image = Image.new("RGB", (100, 80), "black")
        image.paste((255, 255, 255), (20, 10, 60, 30))
        seen = View(crop=(20, 10, 40, 20), size=20).of(image)
        assert seen.size == (20, 10)
        assert np.asarray(seen).min() == 255

    def test_never_larger(self) -> None:
        assert View(size=400).of(mouth(0)).size == (64, 48)

    def test_the_box_lies_in_the_picture(self) -> None:
        with pytest.raises(UnusableError, match="reaches beyond the picture of 64 x 48 pixels"):
            View(crop=(40, 0, 25, 10)).of(mouth(0))

    @pytest.mark.parametrize("crop", [(-1, 0, 5, 5), (0, 0, 0, 5), (0, -2, 5, 5)])
    def test_bad_boxes(self, crop: tuple[int, int, int, int]) -> None:
        with pytest.raises(InputError, match="expected left, top, width and height"):
            View(crop=crop)
        with pytest.raises(InputError, match="expected at least 16"):
            View(size=8)

    def test_what_goes_to_participants(self, tmp_path: Path) -> None:
        """Files are copied byte for byte, unless the camera wrote more than the picture."""
        source, out = tmp_path / "in", tmp_path / "out"
        transition(source / "ann_joy", 5, "{}.png")
        transition(source / "bob_joy", 5, "{}.JPG")
        exif = Image.Exif()
        exif[0x010E] = "at home"
        for k in range(5):
            mouth(1 - k / 4).save(source / "bob_joy" / f"{k}.JPG", exif=exif)
        transition(source / "cleo_joy", 5, "{}.bmp")
        made = write_frames(find_transitions(source), out, FiveFrameSampling())
        files = dict(made.frames.filter(role="peak").select("actor", "file").iter_rows())
        assert (out / files["ann"]).read_bytes() == (source / "ann_joy/0.png").read_bytes()
        for actor in ("bob", "cleo"):
            assert files[actor].endswith("peak.png")
            with Image.open(out / files[actor]) as image:
                assert (image.format, len(image.getexif())) == ("PNG", 0)


def test_a_frame_twice_is_refused(tmp_path: Path) -> None:
    files = transition(tmp_path / "ann_joy", 5)
    with pytest.raises(UnusableError, match="frame 0 is there twice"):
        PictureFiles((files[0], files[0].with_suffix(".jpg")))
