"""Videos: the frame that is asked for, at its time, the right way up; broken files are named."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.stimuli.frames.films import mouth, number_of, numbered, write_video

from affectlab.core.errors import MissingDependencyError
from affectlab.stimuli.frames import (
    Candidates,
    FiveFrameSampling,
    UnusableError,
    View,
    find_transitions,
    write_frames,
)
from affectlab.stimuli.frames.videos import VideoFile

pytest.importorskip("av")

IMAGES = [numbered(k) for k in range(30)]
UNEVEN = [0, 7, 19, 20, 41, 70, 71, 80, 90, 100]


@pytest.mark.parametrize(
    ("codec", "suffix", "options"),
    [
        ("mpeg4", ".mp4", {}),
        # Frames that are stored in another order than they are shown, and few whole ones.
        ("libx264", ".mp4", {"bf": "3", "g": "30"}),
        ("libx264", ".mkv", {"bf": "2", "g": "7"}),
        ("ffv1", ".mkv", {}),
        ("libvpx-vp9", ".webm", {"deadline": "realtime", "cpu-used": "8"}),
    ],
)
def test_every_frame_by_its_number(
    codec: str, suffix: str, options: dict[str, str], tmp_path: Path
) -> None:
    import av

    if codec not in av.codecs_available:
        pytest.skip(f"{codec} is not there")
    video = VideoFile(write_video(tmp_path / f"film{suffix}", IMAGES, codec=codec, options=options))
    assert len(video) == 30
    assert video.fps == pytest.approx(25)
    assert video.times_ms == pytest.approx([40 * k for k in range(30)])
    assert [number_of(image) for image in video.images(range(30))] == list(range(30))
    assert [number_of(image) for image in video.images([3, 4, 17, 29])] == [3, 4, 17, 29]


@pytest.mark.parametrize("suffix", [".mp4", ".mkv"])
def test_uneven_times(suffix: str, tmp_path: Path) -> None:
    film = tmp_path / f"ann_joy{suffix}"
    write_video(film, IMAGES[:10], pts=UNEVEN, base=Fraction(1, 100))
    video = VideoFile(film)
    assert video.times_ms == pytest.approx([10 * pts for pts in UNEVEN])
    assert video.fps == pytest.approx(9)
    # Candidates stand at even times, not at even numbers.
    (one,) = find_transitions(film).transitions
    chosen = Candidates(6).choose(one, View())
    assert [UNEVEN[frame] for frame in chosen.filmed] == [0, 20, 41, 70, 80, 100]


class TestUpright:
    @pytest.mark.parametrize(
        ("matrix", "undo"),
        [
            ((0, -1, 0, 1, 0, 0, 0, 0, 1), Image.Transpose.ROTATE_270),
            ((0, 1, 0, -1, 0, 0, 0, 0, 1), Image.Transpose.ROTATE_90),
            ((-1, 0, 0, 0, -1, 0, 0, 0, 1), Image.Transpose.ROTATE_180),
            ((-1, 0, 0, 0, 1, 0, 0, 0, 1), Image.Transpose.FLIP_LEFT_RIGHT),
            ((1, 0, 0, 0, -1, 0, 0, 0, 1), Image.Transpose.FLIP_TOP_BOTTOM),
            ((0, 1, 0, 1, 0, 0, 0, 0, 1), Image.Transpose.TRANSPOSE),
            ((0, -1, 0, -1, 0, 0, 0, 0, 1), Image.Transpose.TRANSVERSE),
        ],
    )
    def test_turned_by_the_file(
        self, matrix: tuple[int, ...], undo: Image.Transpose, tmp_path: Path
    ) -> None:
        """What was filmed lying, or in a mirror, stands up when the file says how."""
        lying = [image.transpose(undo) for image in IMAGES[:6]]
        video = VideoFile(write_video(tmp_path / "film.mp4", lying, matrix=matrix))
        seen = list(video.images(range(6)))
        assert {image.size for image in seen} == {IMAGES[0].size}
        assert [number_of(image) for image in seen] == list(range(6))

    def test_the_library_turns_the_same_way(self, tmp_path: Path) -> None:
        """A quarter to the left, said as an angle, is a quarter to the left."""
        import av

        film = tmp_path / "film.mp4"
        with av.open(str(film), "w") as out:
            stream = out.add_stream("mpeg4", rate=25)
            stream.width, stream.height = 64, 128
            stream.pix_fmt = "yuv420p"
            stream.bit_rate = 4_000_000
            stream.set_display_rotation(90)
            for image in IMAGES[:3]:
                lying = image.transpose(Image.Transpose.ROTATE_270)
                out.mux(stream.encode(av.VideoFrame.from_image(lying)))
            out.mux(stream.encode())
        assert [number_of(image) for image in VideoFile(film).images([0, 1, 2])] == [0, 1, 2]

    def test_pixels_become_square(self, tmp_path: Path) -> None:
        narrow = [image.resize((64, 64)) for image in IMAGES[:6]]
        video = VideoFile(write_video(tmp_path / "film.mp4", narrow, aspect=Fraction(2, 1)))
        (seen,) = video.images([5])
        assert seen.size == (128, 64)
        assert number_of(seen) == 5


class TestBroken:
    @pytest.mark.parametrize("share", [0.97, 0.6, 0.3, 0.05])
    @pytest.mark.parametrize(
        ("codec", "suffix", "container"),
        [
            ("libx264", ".mp4", {"movflags": "faststart"}),
            ("mpeg4", ".mp4", {"movflags": "faststart"}),
            ("ffv1", ".mkv", {}),
        ],
    )
    def test_cut_off(
        self, share: float, codec: str, suffix: str, container: dict[str, str], tmp_path: Path
    ) -> None:
        whole = write_video(tmp_path / f"whole{suffix}", IMAGES, codec=codec, container=container)
        data = whole.read_bytes()
        part = tmp_path / f"part{suffix}"
        part.write_bytes(data[: int(len(data) * share)])
        with pytest.raises(UnusableError, match=rf"^part\{suffix}"):
            len(VideoFile(part))

    def test_missing_its_index(self, tmp_path: Path) -> None:
        whole = write_video(tmp_path / "whole.mp4", IMAGES)
        part = tmp_path / "part.mp4"
        part.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
        with pytest.raises(UnusableError, match=r"part\.mp4"):
            len(VideoFile(part))

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"not a film",
            bytes(5000),
            # A playlist under the name of a film: what it names is not opened.
            b"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:9/x.ts\n",
        ],
    )
    def test_no_video(self, content: bytes, tmp_path: Path) -> None:
        film = tmp_path / "film.mp4"
        film.write_bytes(content)
        with pytest.raises(UnusableError, match=r"film\.mp4 (cannot be read as|holds no) video|a"):
            len(VideoFile(film))

    def test_damaged_within(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(5)
        whole = write_video(
            tmp_path / "film.mp4",
            IMAGES,
            codec="libx264",
            options={"g": "5", "bf": "0"},
            container={"movflags": "faststart"},
        )
        data = bytearray(whole.read_bytes())
        start = len(data) * 3 // 4
        data[start : start + 300] = rng.integers(0, 256, 300, dtype=np.uint8).tobytes()
        whole.write_bytes(bytes(data))
        with pytest.raises(
            UnusableError, match=r"film\.mp4: frame \d+ (is damaged|cannot be read)"
        ):
            len(VideoFile(whole))

    def test_sound_only(self, tmp_path: Path) -> None:
        import av

        film = tmp_path / "film.mkv"
        with av.open(str(film), "w") as out:
            stream = out.add_stream("pcm_s16le", rate=8000, layout="mono")
            frame = av.AudioFrame.from_ndarray(np.zeros((1, 1600), np.int16), layout="mono")
            frame.rate, frame.pts = 8000, 0
            out.mux(stream.encode(frame))
            out.mux(stream.encode())
        with pytest.raises(UnusableError, match=r"film\.mkv holds no video"):
            len(VideoFile(film))

    def test_others_go_on(self, tmp_path: Path) -> None:
        source = tmp_path / "films"
        source.mkdir()
        write_video(source / "ann_joy.mp4", [mouth(1 - k / 11) for k in range(12)])
        (source / "ann_fear.mp4").write_bytes(b"\0" * 900)
        made = write_frames(find_transitions(source), tmp_path / "out", FiveFrameSampling())
        assert made.n_transitions == 1
        assert [one.name for one in made.left_out] == ["ann_fear"]
        assert made.left_out[0].reason.startswith("ann_fear.mp4 ")


def flat(path: Path, width: int, height: int, codec: str = "mpeg4") -> Path:
    """Write two frames of one colour, which take few bytes whatever their size."""
    import av

    with av.open(str(path), "w") as film:
        stream = film.add_stream(codec, rate=25)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for pts in range(2):
            frame = av.VideoFrame(width, height, "yuv420p")
            for plane in frame.planes:
                plane.update(bytes(plane.buffer_size))
            frame.pts = pts
            film.mux(stream.encode(frame))
        film.mux(stream.encode())
    return path


class TestTooLarge:
    """A small file must not take the memory of the machine."""

    def test_more_than_any_film(self, tmp_path: Path) -> None:
        film = flat(tmp_path / "ann_joy.mp4", 8000, 6000)
        assert film.stat().st_size < 1_000_000
        said = r"ann_joy\.mp4 has frames of 8000 x 6000 pixels; expected at most 35,389,440"
        with pytest.raises(UnusableError, match=said):
            len(VideoFile(film))

    def test_the_limit_of_pictures_holds_too(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        film = write_video(tmp_path / "film.mp4", IMAGES[:6])
        monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 128 * 64)
        assert len(VideoFile(film)) == 6
        monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 128 * 64 - 1)
        with pytest.raises(UnusableError, match=r"frames of 128 x 64 .* at most 8,191 pixels"):
            len(VideoFile(film))

    def test_wide_pixels(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Frames are made wider where their pixels are not square."""
        film = write_video(tmp_path / "film.mp4", IMAGES[:6], aspect=Fraction(3, 1))
        monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 128 * 64 * 2)
        with pytest.raises(UnusableError, match="frames of 384 x 64 pixels"):
            len(VideoFile(film))

    @pytest.mark.parametrize(
        ("size", "said"),
        [
            ((256, 64), "has frames of 256 x 64 pixels; expected at most 8,192"),
            # The decoder does not even take the memory.
            ((2400, 2000), r"frame \d cannot be read"),
        ],
    )
    def test_frames_that_grow(
        self, size: tuple[int, int], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        codec = "mpeg2video"
        small = write_video(tmp_path / "small.mpg", IMAGES[:6], codec=codec).read_bytes()
        large = flat(tmp_path / "large.mpg", *size, codec=codec).read_bytes()
        (tmp_path / "film.mpg").write_bytes(small + large)
        monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 128 * 64)
        with pytest.raises(UnusableError, match=rf"^film\.mpg:? {said}"):
            len(VideoFile(tmp_path / "film.mpg"))


def test_frames_of_a_video(tmp_path: Path) -> None:
    film = write_video(tmp_path / "ann_joy.mp4", IMAGES)
    made = write_frames(
        find_transitions(film), tmp_path / "out", FiveFrameSampling(ends=1, along="steps", jnds=6)
    )
    numbers = []
    for row in made.frames.iter_rows(named=True):
        assert row["time_ms"] == pytest.approx(40 * row["source_frame"])
        assert (row["source"], row["fps"]) == ("ann_joy.mp4", 25.0)
        with Image.open(tmp_path / "out" / row["file"]) as image:
            assert image.format == "PNG"
            numbers.append(number_of(image))
    assert numbers == made.frames["source_frame"].to_list()
    assert (numbers[0], numbers[-1]) == (0, 29)


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "films").mkdir()
    (tmp_path / "films" / "ann_joy.mp4").write_bytes(b"anything")
    monkeypatch.setitem(sys.modules, "av", None)
    found = find_transitions(tmp_path / "films")
    with pytest.raises(MissingDependencyError, match=r'pip install .*\[vision\]"'):
        write_frames(found, tmp_path / "out", FiveFrameSampling())
