"""Ratings of pairs of picture files by difference metrics."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image
from tests.models.differences.pictures import drawn, noise

from affectlab.core.errors import InputError
from affectlab.evaluation import difference_metrics
from affectlab.models.differences import (
    ExpressionMetric,
    comparison as _engine,
    difference,
    rate_differences,
)
from affectlab.models.differences.metric import PreparedMetric
from affectlab.models.differences.rate import SeenActorWarning, UnratedPairWarning
from affectlab.ratings import Ratings, read_ratings


@pytest.fixture(scope="module")
def faces(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pl.DataFrame]:
    folder = tmp_path_factory.mktemp("study") / "faces"
    return folder, drawn(folder)


class Counting(PreparedMetric):
    """The mean grey of a picture, and how often it was asked for."""

    name, version = "counting", "1"
    settings: dict[str, Any] = {}  # noqa: RUF012
    batch = 3

    def __init__(self, weight: int = 8) -> None:
        self.made = 0
        self._weight = weight

    def prepare(self, pictures: Sequence[Image.Image]) -> list[np.ndarray]:
        self.made += len(pictures)
        assert len(pictures) <= 3
        mean = [np.asarray(one.convert("L"), dtype=np.float64).mean() for one in pictures]
        return [np.full(self._weight // 8, one) for one in mean]

    def compare(self, first: Sequence[Any], second: Sequence[Any]) -> np.ndarray:
        return np.array([abs(a[0] - b[0]) for a, b in zip(first, second, strict=True)])


def values(ratings: Ratings, rater: str) -> dict[str, float]:
    frame = ratings.to_frame().filter(rater=rater)
    return dict(frame.select("stimulus", "value").iter_rows())


def test_what_comes_out(faces: tuple[Path, pl.DataFrame]) -> None:
    folder, pairs = faces
    found = rate_differences(pairs, ["mse", "ssim", "deep:faces"], images=folder)
    assert found.rater_names == ("mse", "ssim", "deep:faces L1")
    assert set(found.rater_kinds) == {"model"}
    assert str(found.scale) == "interval"
    assert found.n_ratings == 3 * pairs.height
    assert found.stimuli.columns == ["stimulus", "kind", "actor", "file_a", "file_b"]
    assert found.stimuli.equals(pairs.select(found.stimuli.columns))
    about = found.raters.filter(rater="ssim").row(0, named=True)
    assert about["direction"] == "higher is more different"
    assert about["version"].startswith("scikit-image")
    assert json.loads(about["settings"]) == {"grey": True, "size": None}
    for row in pairs.iter_rows(named=True):
        files = folder / row["file_a"], folder / row["file_b"]
        for name, rater in (("mse", "mse"), ("ssim", "ssim"), ("deep:faces", "deep:faces L1")):
            assert values(found, rater)[row["stimulus"]] == difference(*files, name)


def test_metrics_beside_people(faces: tuple[Path, pl.DataFrame], tmp_path: Path) -> None:
    folder, pairs = faces
    found = rate_differences(pairs, ["mse", "ssim"], images=folder)
    rng = np.random.default_rng(0)
    truth = found.to_frame().filter(rater="ssim")["value"].to_numpy() * 200
    people = pl.concat(
        pairs.with_columns(
            rater=pl.lit(f"w{one}"),
            value=pl.Series(np.clip(truth + rng.normal(0, 2, pairs.height), 0, 100)),
        )
        for one in range(6)
    )
    ratings = Ratings(people, scale="0-100 interval")
    beside = difference_metrics(ratings, found, by=["kind", "actor"], n_boot=50, seed=0)
    assert beside.settings["groups"] == ("all", "kind=inter", "kind=intra", "actor=p0", "actor=p1")
    assert beside["ssim", "all", "srocc"].value > 0.9
    one = beside["mse", "all", "srocc"]
    assert one.low < one.value < one.high
    # From their file, people's ratings name the pairs as well as a table of pairs does.
    file = tmp_path / "people.parquet"
    ratings.write(file)
    assert values(rate_differences(file, "mse", images=folder), "mse") == values(found, "mse")
    assert values(rate_differences(ratings, "mse", images=folder), "mse") == values(found, "mse")
    file = tmp_path / "people.csv"
    people.write_csv(file)
    again = rate_differences(file, "mse", images=folder)
    assert values(again, "mse") == values(found, "mse")
    assert again.stimuli["actor"].to_list() == pairs["actor"].to_list()


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_written_and_read_again(
    faces: tuple[Path, pl.DataFrame], tmp_path: Path, suffix: str
) -> None:
    folder, pairs = faces
    found = rate_differences(pairs, "mse", images=folder)
    found.write(tmp_path / f"metrics{suffix}")
    again = read_ratings(tmp_path / f"metrics{suffix}")
    assert values(again, "mse") == pytest.approx(values(found, "mse"))


def test_a_table_beside_its_pictures_and_names_without_folders(
    faces: tuple[Path, pl.DataFrame], tmp_path: Path
) -> None:
    folder, pairs = faces
    expected = values(rate_differences(pairs, "mse", images=folder), "mse")
    pairs.write_csv(folder / "pairs.csv")
    assert values(rate_differences(folder / "pairs.csv", "mse"), "mse") == expected
    # As a study exports them: names alone, and pictures of one actor in folders of their own.
    short = pairs.filter(actor="p0").with_columns(
        pl.col("file_a", "file_b").str.split("/").list.last()
    )
    only = {name: value for name, value in expected.items() if name.startswith("p0")}
    assert values(rate_differences(short, "mse", images=folder / "p0"), "mse") == only
    # Pictures may lie elsewhere, behind a link in the folder.
    (tmp_path / "links").mkdir()
    for actor in ("p0", "p1"):
        (tmp_path / "links" / actor).symlink_to(folder / actor, target_is_directory=True)
    linked = rate_differences(pairs, "mse", images=tmp_path / "links")
    assert values(linked, "mse") == expected
    with pytest.raises(InputError, match=r"'joy_peak\.png' is there 2 times in .*\(p0.joy_peak"):
        rate_differences(short, "mse", images=folder)


def test_names_are_found_in_one_folder_within(
    faces: tuple[Path, pl.DataFrame], tmp_path: Path
) -> None:
    folder, pairs = faces
    one = pairs.head(1)
    inner = tmp_path / "some" / "where"
    inner.mkdir(parents=True)
    for file in one.select("file_a", "file_b").row(0):
        (inner / Path(file).name).write_bytes((folder / file).read_bytes())
    short = one.with_columns(pl.col("file_a", "file_b").str.split("/").list.last())
    found = rate_differences(short, "mse", images=tmp_path)
    assert found.value.tolist() == rate_differences(one, "mse", images=folder).value.tolist()


def test_columns_that_are_called_as_those_of_answers(faces: tuple[Path, pl.DataFrame]) -> None:
    folder, pairs = faces
    known = pairs.with_columns(value=pl.lit(7.0), text=pl.lit("x"))
    found = rate_differences(known, "mse", images=folder)
    assert found.stimuli["stimulus_value"].to_list() == [7.0] * pairs.height
    assert found.value.max() < 1


# ---- each picture once, in whatever memory -----------------------------------------------------


def test_each_picture_is_worked_on_once(faces: tuple[Path, pl.DataFrame]) -> None:
    folder, pairs = faces
    metric = Counting()
    found = rate_differences(pairs, metric, images=folder)
    n_pictures = len({*pairs["file_a"], *pairs["file_b"]})
    assert metric.made == n_pictures
    assert found.value.min() > 0


@settings(max_examples=25)
@given(
    memory=st.integers(1, 40_000),
    pairs=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=40),
)
def test_little_memory_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, memory: int, pairs: list[tuple[int, int]]
) -> None:
    folder = tmp_path_factory.getbasetemp() / "noise"
    if not folder.exists():
        folder.mkdir()
        for seed in range(8):
            # Two pairs of pictures have the same content.
            noise(seed // 2 if seed < 4 else seed).save(folder / f"{seed}.png")
    table = pl.DataFrame(
        {
            "stimulus": [f"pair {place}" for place in range(len(pairs))],
            "file_a": [f"{one}.png" for one, _ in pairs],
            "file_b": [f"{other}.png" for _, other in pairs],
        }
    )
    metric = Counting(weight=4096)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_engine, "MEMORY", memory)
        patch.setattr(_engine, "_WEIGHT", memory)
        found = rate_differences(table, ["mse", "ssim", metric], images=folder)
    for name in ("mse", "ssim"):
        told = values(found, name)
        for place, (one, other) in enumerate(pairs):
            a, b = (noise(seed // 2 if seed < 4 else seed) for seed in (one, other))
            assert told[f"pair {place}"] == difference(a, b, name)


def test_tiles_keep_work_small_where_memory_is() -> None:
    """All pairs of 24 pictures with room for 8: in order of the list each would be made anew."""
    opened: list[str] = []

    class Picture:
        def __init__(self, name: str) -> None:
            self.name = name

        def open(self) -> Image.Image:
            opened.append(self.name)
            return Image.new("RGB", (4, 4))

    first, second = np.triu_indices(24, 1)
    shuffled = np.random.default_rng(0).permutation(first.size)
    work = _engine.Work(
        tuple(Picture(str(place)) for place in range(24)),  # type: ignore[misc, arg-type]
        first[shuffled],
        second[shuffled],
        None,
        lambda text, done, total: None,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_engine, "MEMORY", 8 * 4096)
        patch.setattr(_engine, "_WEIGHT", 4 * 4096)
        _engine.judged_by([Counting(weight=4096)], work)
    assert 24 <= len(opened) < 24 * 6


def test_any_object_with_the_parts_of_a_metric(faces: tuple[Path, pl.DataFrame]) -> None:
    folder, pairs = faces

    class Theirs:
        name, version, higher_is_more_different = "theirs", "", False
        settings: dict[str, Any] = {}  # noqa: RUF012
        fails = False

        def differences(self, first: Sequence[Any], second: Sequence[Any]) -> Any:
            if self.fails:
                raise KeyError("x")
            return [np.nan if a.size != b.size else float(a == b) for a, b in zip(first, second)]  # noqa: B905

    found = rate_differences(pairs, Theirs(), images=folder)
    assert set(found.value.tolist()) == {0.0}
    assert found.raters["direction"].to_list() == ["higher is more alike"]
    broken = Theirs()
    broken.fails = True
    with pytest.raises(InputError, match=r"metric 'theirs' fails on \d+ pairs \(KeyError: 'x'\)"):
        rate_differences(pairs, broken, images=folder)
    broken.differences = lambda first, second: [1.0]  # type: ignore[method-assign]
    with pytest.raises(InputError, match=r"gave an array of shape \(1,\) for \d+ pairs"):
        rate_differences(pairs, broken, images=folder)


def test_a_learned_metric_from_its_folder(faces: tuple[Path, pl.DataFrame], tmp_path: Path) -> None:
    from affectlab.models.embedding import embed

    folder, pairs = faces
    names = sorted({*pairs["file_a"], *pairs["file_b"]})
    held = embed([(name, folder / name) for name in names], "faces", cache=tmp_path / "cache")
    scores = pl.Series("value", np.linspace(5, 80, pairs.height))
    metric = ExpressionMetric("ridge").fit(pairs.with_columns(scores), embeddings=held)
    metric.save(tmp_path / "metric")
    with pytest.warns(SeenActorWarning, match="same names as 2 of the 2 actors .*, such as 'p0'"):
        found = rate_differences(
            pairs, str(tmp_path / "metric"), images=folder, cache=tmp_path / "cache"
        )
    others = pairs.with_columns(pl.format("other {}", "actor").alias("actor"))
    again = rate_differences(others, str(tmp_path / "metric"), images=folder)
    assert again.value.tolist() == found.value.tolist()
    expected = metric.predict_embeddings(held.rows(pairs["file_a"]), held.rows(pairs["file_b"]))
    assert found.value == pytest.approx(expected, rel=1e-6)
    one = pairs.row(0, named=True)
    first = difference(folder / one["file_a"], folder / one["file_b"], str(tmp_path / "metric"))
    assert found.value[0] == pytest.approx(first, rel=1e-6)


# ---- what cannot be used -----------------------------------------------------------------------


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """Pictures of which one has another size, one is broken, and one is not there."""
    folder = tmp_path / "odd"
    folder.mkdir()
    for name, picture in {"a": noise(1), "b": noise(2), "large": noise(3, 80)}.items():
        picture.save(folder / f"{name}.png")
    (folder / "broken.png").write_bytes((folder / "a.png").read_bytes()[:90])
    return folder


def paired(*names: tuple[str, str]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "stimulus": ["-".join(one) for one in names],
            "file_a": [f"{one}.png" for one, _ in names],
            "file_b": [f"{other}.png" for _, other in names],
        }
    )


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (("a", "large"), r"metric 'mse', stimulus 'a-large': the pictures have 40 x 36 and 80 x"),
        (("broken", "a"), r"stimulus 'broken-a': .*broken\.png is damaged or cut off"),
        (("a", "nowhere"), r"stimulus 'a-nowhere': file 'nowhere\.png' is not in"),
        (("../odd/../../x", "a"), r"lies outside"),
        (("/etc/passwd", "a"), r"lies outside"),
        (("a", "b\0c"), r"file 'b c\.png' is not in"),
        (("a", "b" * 300), r"cannot be read \(File name too long\)"),
    ],
)
def test_pairs_that_cannot_be_compared(odd: Path, pair: tuple[str, str], said: str) -> None:
    table = paired(("a", "b"), pair)
    with pytest.raises(InputError, match=said):
        rate_differences(table, "mse", images=odd)
    for metrics in ("mse", ["mse", "deep:faces"]):
        with pytest.warns(UnratedPairWarning, match="mse: 1 pair without a value"):
            found = rate_differences(table, metrics, images=odd, on_bad="set_aside")
        frame = found.to_frame().filter(rater="mse")
        assert frame["outcome"].to_list() == ["ok", "rejected"]
        assert frame["value"][0] == difference(odd / "a.png", odd / "b.png", "mse")
        assert frame["value"][1] is None
    # An encoder takes pictures of any size.
    deep = found.to_frame().filter(rater="deep:faces L1")["value"]
    assert (deep[1] is None) == (pair != ("a", "large"))


def test_nothing_can_be_compared(odd: Path) -> None:
    with pytest.raises(InputError, match="no pair could be compared: the pictures have"):
        rate_differences(paired(("a", "large")), "mse", images=odd, on_bad="set_aside")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            {"stimulus": ["x"], "file_a": ["a.png"]},
            "column 'file_b' is missing; expected",
        ),
        ({"stimulus": [], "file_a": [], "file_b": []}, "no pairs"),
        (
            {"stimulus": ["x", "y"], "file_a": ["a.png", None], "file_b": ["b.png", "b.png"]},
            r"row 2 \(y\): file_a is empty",
        ),
        (
            {"stimulus": ["x", " "], "file_a": ["a.png"] * 2, "file_b": ["b.png"] * 2},
            "row 2: stimulus is empty",
        ),
        (
            {"stimulus": ["x", "x"], "file_a": ["a.png"] * 2, "file_b": ["b.png"] * 2},
            "stimulus 'x' stands twice",
        ),
        (7, "the table of pairs is a int; expected a data frame"),
    ],
)
def test_tables_that_cannot_be_used(odd: Path, table: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        rate_differences(table, "mse", images=odd)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "stimulus,left,right\nx,a.png,b.png\n",
            "column 'file_a' is missing; expected",
        ),
        ("stimulus,rater,value\nx,w1,3\n", "column 'file_a' is missing"),
        ("", "is empty"),
        ("\x00\x01\x02\x03" * 50, "pairs"),
    ],
)
def test_files_that_cannot_be_used(odd: Path, content: str, said: str) -> None:
    file = odd / "pairs.csv"
    file.write_text(content)
    with pytest.raises(InputError, match=said):
        rate_differences(file, "mse")


def test_arguments_that_cannot_be_used(odd: Path) -> None:
    table = paired(("a", "b"))
    for metrics, more, said in [
        ([], {}, "metrics is empty; expected one or more"),
        (3, {}, "expected names, metrics or functions, not int"),
        (["mse", "mse,size=32"], {}, "two metrics are called 'mse'; expected different names"),
        ("mse", {"images": None}, "is in no folder; expected the folder of its images"),
        ("mse", {"images": odd / "x"}, "there is no such folder; expected that of the images"),
        ("mse", {"on_bad": "skip"}, "unknown on_bad 'skip'"),
    ]:
        with pytest.raises(InputError, match=said):
            rate_differences(table, metrics, **({"images": odd} | more))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="is a folder; expected a table"):
        rate_differences(odd, "mse")
    with pytest.raises(InputError, match="no such file"):
        rate_differences(odd / "none.csv", "mse")


def test_progress_is_told(faces: tuple[Path, pl.DataFrame], tmp_path: Path) -> None:
    folder, pairs = faces
    told: list[tuple[str, int, int]] = []
    rate_differences(
        pairs, ["mse", "deep:faces"], images=folder, progress=lambda *one: told.append(one)
    )
    assert ("pairs by mse", pairs.height, pairs.height) in told
    assert ("pairs by deep:faces L1", pairs.height, pairs.height) in told
    assert any(text.startswith("faces: ") for text, _, _ in told)
    assert all(0 <= done <= total for _, done, total in told)
