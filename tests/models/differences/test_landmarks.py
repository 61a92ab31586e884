"""How far landmarks lie apart once position, size and rotation are taken away."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from PIL import Image
from scipy.spatial.transform import Rotation
from tests.models.differences.fake_mediapipe import MODEL, face, installed

from affectlab.core.errors import InputError
from affectlab.models.differences import difference, load_difference_metric, rate_differences
from affectlab.models.differences.faces import FaceReading
from affectlab.models.differences.faces.landmarks import LAYOUTS, landmark_differences, layout_of


def turned(points: np.ndarray, seed: int) -> np.ndarray:
    """A face elsewhere, of another size and turned."""
    rng = np.random.default_rng(seed)
    if points.shape[-1] == 3:
        turn = Rotation.random(rng=rng).as_matrix()
    else:
        angle = rng.uniform(0, 2 * np.pi)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return rng.uniform(0.1, 50) * points @ turn.T + rng.uniform(-99, 99, points.shape[-1])


def slow(first: np.ndarray, second: np.ndarray, points: list[int] | None) -> float:
    """The same for one pair in two dimensions: the best of many angles."""
    layout = LAYOUTS[len(first)]
    sides = []
    for one in (first, second):
        eyes = [one[list(eye)].mean(axis=0) for eye in (layout.left_eye, layout.right_eye)]
        centred = one - one[list(layout.stable)].mean(axis=0)
        sides.append(centred / np.linalg.norm(eyes[0] - eyes[1]))
    a, b = sides
    stable = list(layout.stable)

    def rotated(angle: float) -> np.ndarray:
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        return b @ turn.T

    angles = np.linspace(0, 2 * np.pi, 4_001)
    error = [((a[stable] - rotated(angle)[stable]) ** 2).sum() for angle in angles]
    best = rotated(float(angles[int(np.argmin(error))]))
    chosen = slice(None) if points is None else points
    return float(np.mean([np.linalg.norm(x - y) for x, y in zip(a[chosen], best[chosen])]))  # noqa: B905


@given(st.integers(0, 2**32 - 1), st.integers(0, 99), st.sampled_from([2, 3]))
def test_position_size_and_rotation_do_not_count(seed: int, turn: int, axes: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, 1, 68, axes))
    layout = layout_of(68)
    found = landmark_differences(first, second, layout)
    moved = landmark_differences(turned(first, turn), turned(second, turn + 1), layout)
    assert moved == pytest.approx(found, rel=1e-6)
    assert landmark_differences(second, first, layout) == pytest.approx(found, rel=1e-9)
    assert landmark_differences(first, turned(first, turn), layout) == pytest.approx([0], abs=1e-8)
    assert landmark_differences(first, first, layout).tolist() == [0]
    # A mirror image is another face.
    mirror = first * ([-1] + [1] * (axes - 1))
    assert landmark_differences(first, mirror, layout)[0] > 0.01


@pytest.mark.parametrize("points", [None, [48, 54, 57]])
def test_it_is_what_the_slow_computation_gives(points: list[int] | None) -> None:
    rng = np.random.default_rng(3)
    first = rng.normal(size=(4, 68, 2))
    second = first + rng.normal(scale=0.1, size=first.shape)
    found = landmark_differences(first, second, layout_of(68), points)
    expected = [slow(a, b, points) for a, b in zip(first, second, strict=True)]
    assert found == pytest.approx(expected, rel=5e-3)


def test_known_answer() -> None:
    # Eyes two apart, nothing stable moves, one of 68 points moves by three: 3 / 2 / 68.
    first = np.zeros((1, 68, 2))
    first[0, 36:48] = np.column_stack([[-1] * 6 + [1] * 6, [-1, 0, 1, 1, 0, -1] * 2])
    first[0, 27:31] = [[0, y] for y in (0, 1, 2, 3)]
    second = first.copy()
    second[0, 60] += (3, 0)
    found = landmark_differences(first, second, layout_of(68))
    assert found == pytest.approx([3 / 2 / 68], abs=1e-12)
    assert landmark_differences(first, second, layout_of(68), [60, 61]) == pytest.approx([0.75])


def test_eyes_without_a_distance() -> None:
    flat = np.ones((1, 68, 2))
    other = np.random.default_rng(0).normal(size=(1, 68, 2))
    layout = layout_of(68)
    assert np.isnan(landmark_differences(flat, other, layout)).all()
    assert np.isnan(landmark_differences(flat, flat, layout)).all()


def test_layouts() -> None:
    assert layout_of(478).stable == layout_of(468).stable
    own = layout_of(5, [0, 1, 2], [0], [1])
    assert (own.stable, own.left_eye, own.right_eye) == ((0, 1, 2), (0,), (1,))
    with pytest.raises(InputError, match="5 points of unknown places; expected 478, 468 or 68"):
        layout_of(5, [0, 1], [0])
    with pytest.raises(InputError, match="left_eye names point 5; expected 0 to 4"):
        layout_of(5, [0, 1], [5], [1])


# ---- landmarks of a file -----------------------------------------------------------------------


def points_of(seed: int, axes: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(68, axes))


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "faces"
    (folder / "ann").mkdir(parents=True)
    for place, name in enumerate("abc"):
        Image.new("RGB", (8, 8), (place, 3, 4)).save(folder / "ann" / f"{name}.png")
    return folder


PAIRS = pl.DataFrame(
    {
        "stimulus": ["ab", "ba", "ac"],
        "file_a": ["ann/a.png", "ann/b.png", "ann/a.png"],
        "file_b": ["ann/b.png", "ann/a.png", "ann/c.png"],
    }
)


def table(faces: dict[str, np.ndarray]) -> pl.DataFrame:
    rows = [
        {"file": file, "point": point, **dict(zip("xyz", place.tolist(), strict=False))}
        for file, points in faces.items()
        for point, place in enumerate(points)
    ]
    return pl.DataFrame(rows)


@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_from_a_file(tmp_path: Path, images: Path, suffix: str, axes: int) -> None:
    faces = {f"ann/{name}.png": points_of(place, axes) for place, name in enumerate("abc")}
    file = tmp_path / f"points{suffix}"
    if suffix == ".npz":
        np.savez(file, **faces)
    elif suffix == ".csv":
        # The order of the rows does not matter.
        table(faces).sample(fraction=1, shuffle=True, seed=1).write_csv(file)
    else:
        table(faces).write_parquet(file)
    found = rate_differences(PAIRS, f"landmarks,file={file}", images=images)
    a, b, c = (one[None] for one in faces.values())
    expected = [landmark_differences(a, one, layout_of(68))[0] for one in (b, c)]
    values = dict(found.to_frame().select("stimulus", "value").iter_rows())
    assert [values["ab"], values["ac"]] == pytest.approx(expected, rel=1e-9)
    assert values["ba"] == pytest.approx(values["ab"], rel=1e-12)
    assert found.rater_names == ("landmarks",)


def test_names_without_folders_and_pictures_without_landmarks(tmp_path: Path, images: Path) -> None:
    file = tmp_path / "points.npz"
    np.savez(file, **{"a.png": points_of(0), "elsewhere/b.png": points_of(1)})
    with pytest.warns(UserWarning, match=r"landmarks: 1 pair without a value \(.*no landmarks"):
        found = rate_differences(PAIRS, f"landmarks,file={file}", images=images).to_frame()
    assert found["outcome"].to_list() == ["ok", "ok", "empty"]
    metric = load_difference_metric("landmarks", file=file)
    with pytest.raises(InputError, match="names landmarks by files, which pictures in memory"):
        difference(Image.new("RGB", (8, 8)), Image.new("RGB", (8, 8)), metric)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("file,point,x\na,0,1\n", "column 'y' is missing; expected file, point, x and y"),
        ("file,point,x,y\n", "no rows"),
        ("file,point,x,y\na,0,1,2\na,two,3,4\n", "row 2, point: 'two'; expected a whole number"),
        ("file,point,x,y\na,0,1,nan\n", "row 1, y: 'nan'; expected a number"),
        ("file,point,x,y\n ,0,1,2\n", "row 1, file: ' '; expected a name"),
        ("file,point,x,y\na,0,1,2\na,0,3,4\n", "a: points 0 to 0, 2 in all; expected 0, 1, 2"),
        ("file,point,x,y\na,0,1,2\nb,0,3,4\nb,1,3,4\n", r"b: landmarks of shape \(2, 2\)"),
        ("file,point,x,y\na,0,1,2\na,1,3,4\n", "2 points of unknown places"),
    ],
)
def test_tables_that_cannot_be_used(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "points.csv"
    file.write_text(content)
    with pytest.raises(InputError, match=said):
        load_difference_metric("landmarks", file=file)


def test_arrays_that_cannot_be_used(tmp_path: Path) -> None:
    file = tmp_path / "points.npz"
    for arrays, said in [
        ({}, "holds no array"),
        ({"a": np.zeros((68, 4))}, r"an array of shape \(68, 4\); expected \(points, 2\)"),
        ({"a": np.full((68, 2), np.inf)}, "expected finite numbers"),
        ({"a": np.array([{}], dtype=object)}, "cannot be read"),
    ]:
        np.savez(file, **arrays)
        with pytest.raises(InputError, match=said):
            load_difference_metric("landmarks", file=file)

    def packed(entry: str, shape: tuple[int, ...], numbers: bytes) -> None:
        held = io.BytesIO()
        about = {"descr": "<f8", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(held, about)
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(entry, held.getvalue() + numbers)

    packed("a.npy", (10**13, 2), b"")
    with pytest.raises(InputError, match=r"a\.npy: 0 bytes for an array of shape"):
        load_difference_metric("landmarks", file=file)
    packed("a.npy", (5 * 10**6, 2), bytes(80 * 10**6))
    with pytest.raises(InputError, match=r"unpacks to 80,000,1.. bytes, more than 100 times its"):
        load_difference_metric("landmarks", file=file)
    packed("a.npy", (68, 2), np.random.default_rng(0).normal(size=136).tobytes())
    assert load_difference_metric("landmarks", file=file).name == "landmarks"
    spoilt = bytearray(file.read_bytes())
    spoilt[300:340] = bytes(40)
    file.write_bytes(spoilt)
    with pytest.raises(InputError, match="cannot be read"):
        load_difference_metric("landmarks", file=file)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("notes.txt", "no array")
    with pytest.raises(InputError, match="cannot be read"):
        load_difference_metric("landmarks", file=file)
    file.write_bytes(b"no zip")
    with pytest.raises(InputError, match="cannot be read"):
        load_difference_metric("landmarks", file=file)
    with pytest.raises(InputError, match=r"nowhere\.npz: there is no such file"):
        load_difference_metric("landmarks", file="nowhere.npz")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "expected one of the two"),
        ({"model": "m.task", "file": "p.npz"}, "expected one of the two"),
        ({"file": "p.npz", "points": 3}, r"points = 3: expected numbers of points"),
        ({"file": "p.npz", "stable": ["a"]}, r"stable = \['a'\]: expected numbers of points"),
    ],
)
def test_settings_that_cannot_be_used(settings: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        load_difference_metric("landmarks", **settings)


# ---- landmarks that are found ------------------------------------------------------------------


def test_by_mediapipe_in_pixels_and_in_depth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch)
    model = tmp_path / "face_landmarker.task"
    model.write_bytes(MODEL)
    metric = load_difference_metric("landmarks", model=model)
    wide = [Image.new("RGB", (80, 40), (red, 9, 9)) for red in (20, 200)]
    (found,) = metric.differences(wide[:1], wide[1:])
    # Depth has the unit of width: a picture twice as wide as high.
    a, b = (
        np.round((face() + [0, red / 2550, 0] * (np.arange(478) % 2)[:, None]) * [80, 40, 80], 3)
        for red in (20, 200)
    )
    assert found == pytest.approx(landmark_differences(a[None], b[None], layout_of(478))[0])
    assert found > 0
    few = load_difference_metric("landmarks", model=model, points=[2, 4])
    chosen = landmark_differences(a[None], b[None], layout_of(478), [2, 4])
    assert few.differences(wide[:1], wide[1:]) == pytest.approx(chosen)
    beyond = load_difference_metric("landmarks", model=model, points=[478])
    with pytest.raises(InputError, match="points names point 478; expected 0 to 477"):
        beyond.differences(wide[:1], wide[1:])


def test_a_landmarker_of_ones_own_that_gives_no_points() -> None:
    class Odd:
        name, fingerprint = "odd", "o"

        def read(self, image: Image.Image) -> FaceReading:
            return FaceReading(np.zeros(image.width))

    with pytest.raises(InputError, match=r"landmarker 'odd' gave landmarks of shape \(8,\)"):
        difference(
            Image.new("RGB", (8, 8)), Image.new("RGB", (8, 9)), "landmarks", landmarker=Odd()
        )
