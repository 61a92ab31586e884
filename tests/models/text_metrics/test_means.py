"""Means by group against a slow plain bootstrap; reading tables and reactions; the registry."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import affectlab as al
from affectlab.core.errors import InputError
from affectlab.models.text_metrics import (
    TextItem,
    TextScores,
    items_of_ratings,
    load_text_metric,
    read_text_items,
    score_means,
    text_items,
)


def made(name: str, values: list[float]) -> TextScores:
    n = len(values)
    none = np.zeros(n, dtype=np.int64)
    names = tuple(str(k) for k in range(n))
    return TextScores(name, np.array(values), names, none, none, none > 0, 77, "m", "d")


def test_published_table_of_means() -> None:
    """Group means as in Table 2 of Socratis, recomputed from item scores with those means."""
    published = {"machine": 0.74, "human": 0.76, "both": 0.75}
    sizes = {"machine": 91, "human": 233, "both": 47}
    rng = np.random.default_rng(0)
    values, groups = [], []
    for group, mean in published.items():
        drawn = rng.normal(0, 0.1, sizes[group])
        values += list(drawn - drawn.mean() + mean)
        groups += [group] * sizes[group]
    found = score_means([made("CLIPScore", values)], {"preferred": groups})
    for group, mean in published.items():
        one = found["CLIPScore", "preferred", group]
        assert one.value == pytest.approx(mean)
        assert one.n_items == sizes[group]
        assert one.se == pytest.approx(0.1 / np.sqrt(sizes[group]), rel=0.2)
        assert one.low < mean < one.high
    assert found["CLIPScore", "all", "all"].value == pytest.approx(np.mean(values))


@pytest.mark.parametrize("clusters", [None, ["a", "b", "a", "c", "b", "c", "c"]])
def test_bootstrap_by_hand(clusters: list[str] | None) -> None:
    values = [0.1, 0.5, 0.3, 0.9, 0.2, 0.4, 0.8]
    groups = ["x", "x", "y", "y", None, "x", "y"]
    found = score_means(
        [made("m", values), made("k", [-v for v in values])],
        {"g": groups},
        clusters=clusters,
        n_boot=400,
        seed=3,
    )
    unit = list(range(7)) if clusters is None else ["abc".index(one) for one in clusters]
    n = max(unit) + 1
    drawn = np.random.default_rng(3).integers(0, n, size=(400, n), dtype=np.int32)
    replicates = []
    for row in drawn:
        kept = [
            v
            for one in row
            for v, u, g in zip(values, unit, groups, strict=True)
            if u == one and g == "x"
        ]
        replicates.append(np.mean(kept) if kept else np.nan)
    defined = np.array(replicates)[~np.isnan(replicates)]
    one = found["m", "g", "x"]
    assert one.value == pytest.approx(np.mean([0.1, 0.5, 0.4]))
    if len(defined) < 360:
        assert np.isnan(one.low)
    else:
        low, high = np.quantile(defined, [0.025, 0.975])
        assert (one.low, one.high) == (pytest.approx(low), pytest.approx(high))
        assert found["k", "g", "x"].high == pytest.approx(-low)
    assert one.n_items == 3


def test_means_refuse() -> None:
    with pytest.raises(InputError, match="there are no scores"):
        score_means([])
    with pytest.raises(InputError, match="about other items"):
        score_means([made("a", [1.0]), made("b", [1.0, 2.0])])
    with pytest.raises(InputError, match="g: 1 values for 2 items"):
        score_means([made("a", [1.0, 2.0])], {"g": ["x"]})
    with pytest.raises(InputError, match="confidence"):
        score_means([made("a", [1.0])], confidence=2)
    alone = score_means([made("a", [1.0, 2.0])], n_boot=0)["a", "all", "all"]
    assert np.isnan(alone.low)


def write(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file


def test_reading_a_table(tmp_path: Path) -> None:
    file = write(
        tmp_path / "t.csv",
        "item,candidate,reference,reference_2,image,emotion\na,One.,Two.,,x.png,sad\nb,,R,S,,\n",
    )
    found = read_text_items(file)
    first, second = found.items
    assert (first.item, first.references, first.image) == ("a", ("Two.",), tmp_path / "x.png")
    assert first.emotion == "sad"
    assert (second.candidate, second.references, second.image) == ("", ("R", "S"), None)
    assert second.where.endswith("t.csv, row 2")
    named = read_text_items(file, references=["reference_2"], images="/pictures")
    assert named.items[1].references == ("S",)
    assert named.items[0].image == Path("/pictures/x.png")
    lists = pl.DataFrame({"candidate": ["a"], "references": [["x", "y", None]]})
    lists.write_parquet(tmp_path / "t.parquet")
    lists.write_ndjson(tmp_path / "t.jsonl")
    for name in ("t.parquet", "t.jsonl"):
        assert read_text_items(tmp_path / name).items[0].references == ("x", "y")


def test_tables_that_cannot_be(tmp_path: Path) -> None:
    for content, options, said in (
        ("text\na\n", {}, "unknown column 'candidate'"),
        ("candidate\n", {}, "has no row"),
        ("candidate,item\na,x\nb,x\n", {"item": "item"}, "row 2: 'x' stands in row 1 already"),
        ("candidate,item\na,\n", {"item": "item"}, "row 1: column 'item' is empty"),
        ("candidate\na\n", {"image": "picture"}, "unknown column 'picture'"),
    ):
        with pytest.raises(InputError, match=said):
            read_text_items(write(tmp_path / "t.csv", content), **options)
    with pytest.raises(InputError, match="there is no such file"):
        read_text_items(tmp_path / "none.jsonl")
    same = read_text_items(write(tmp_path / "s.csv", "stimulus,candidate\nx,a\nx,b\n"))
    assert [item.item for item in same.items] == ["1", "2"]


@pytest.fixture
def reactions(tmp_path: Path) -> al.ratings.Ratings:
    rows = [
        ("p", "ann", "Proud ", "They won."),
        ("p", "bob", "proud", "A win."),
        ("p", "bob", "sad", "They lost."),
        ("p", "blip", "proud", "It is gold."),
        ("p", "flan", "proud", "A cup."),
        ("q", "blip", "calm", "Water."),
        ("p", "blip", "sad", "No gold."),
    ]
    table = pl.DataFrame(rows, schema=["stimulus", "rater", "emotion", "text"], orient="row")
    table.write_csv(tmp_path / "reactions.csv")
    return al.ratings.read_ratings(
        tmp_path / "reactions.csv",
        scale="text",
        raters=pl.DataFrame({"rater": ["blip", "flan"], "rater_kind": ["model", "model"]}),
        stimuli=pl.DataFrame(
            {"stimulus": ["p", "q"], "image": ["p.png", "q.png"], "caption": ["A cup", "A sea"]}
        ),
    )


def test_reactions(reactions: al.ratings.Ratings) -> None:
    found = items_of_ratings(reactions, rater="blip", images="/pictures")
    assert [item.candidate for item in found.items] == ["It is gold.", "No gold."]
    first = found.items[0]
    assert first.references == ("They won.", "A win.")
    assert (first.image, first.caption, first.emotion) == (
        *(Path("/pictures/p.png"), "A cup", "proud"),
    )
    assert found.frame["rater"].to_list() == ["blip", "blip"]
    assert found.set_aside[0].startswith("1 of 3 reactions of machines are left out")
    both = items_of_ratings(reactions)
    assert {item.item for item in both.items} == {"p/proud/blip", "p/proud/flan", "p/sad/blip"}
    assert all("A cup." not in item.references for item in both.items)
    with pytest.raises(InputError, match="unknown rater 'blp'; did you mean 'blip'"):
        items_of_ratings(reactions, rater="blp")
    with pytest.raises(InputError, match="all raters are people"):
        items_of_ratings(reactions.humans())


def test_items() -> None:
    item = TextItem("a")
    assert text_items([item]) == (item,)
    with pytest.raises(InputError, match="items have their references"):
        text_items([item], ["x"])
    with pytest.raises(InputError, match="item 1: expected a TextItem, not str"):
        text_items([item, "x"])  # type: ignore[list-item]


class Length:
    """A metric of another package."""

    def __init__(self, place: str = "", times: int = 1) -> None:
        self.name, self.times = f"length {place}", times

    def score_items(self, items: tuple[TextItem, ...]) -> TextScores:
        return made(self.name, [self.times * float(len(item.candidate)) for item in items])


CHRF = """
import numpy as np
from affectlab.core.errors import InputError
from affectlab.models.text_metrics import TextScores

class Chrf:
    def __init__(self, beta=2.0, **more):
        if more:
            raise InputError(f"chrf: unknown setting {next(iter(more))!r}")
        self.name = f"chrF{beta:g}"

    def score_items(self, items):
        same = np.array([float(item.candidate in item.references) for item in items])
        none, names = np.zeros(len(items), dtype=np.int64), tuple(map(str, range(len(items))))
        return TextScores(self.name, same, names, none, none, none > 0, 77, "chrf", "f")

def strict(*, beta=2.0):
    return Chrf(beta)

def on_device(device, precision="fp32"):
    made = Chrf()
    made.name = f"on {device} in {precision}"
    return made
"""


@pytest.fixture
def chrf_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that is installed, and adds metrics."""
    (tmp_path / "chrf_metric.py").write_text(CHRF)
    told = tmp_path / "chrf_metric-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: chrf-metric\nVersion: 1.0\n")
    (told / "entry_points.txt").write_text(
        "[affectlab.text_metrics]\nchrf = chrf_metric:Chrf\n"
        "strict = chrf_metric:strict\non-device = chrf_metric:on_device\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("chrf_package")
def test_a_metric_of_a_package_gets_the_settings_that_it_declares(tmp_path: Path) -> None:
    from tests.cli.command import run_here

    table = tmp_path / "texts.csv"
    table.write_text("item,candidate,reference\na,It is loud.,It is loud.\nb,No.,Yes.\n")
    for spec in ("chrf", "strict,beta=1", "on-device"):
        # The verb gives device, precision and the size of batches to all metrics.
        done = run_here("evaluate", "text", table, "--metric", spec, "--n-boot", 0, "--json")
        means = json.loads(done.stdout)["result"]["means"]
        assert [row["value"] for row in means] == [0.5]
    shared = {"device": "cpu", "precision": "bf16", "batch_size": 3, "cache": "x"}
    assert load_text_metric("chrf", beta=3, **shared).name == "chrF3"
    assert load_text_metric("strict", **shared).name == "chrF2"
    assert load_text_metric("on-device", **shared).name == "on cpu in bf16"
    for spec, more, said in (
        ("strict,gamma=1", {}, "metric 'strict': unknown setting 'gamma'"),
        ("strict,device=cpu", {}, "metric 'strict': unknown setting 'device'"),
        ("strict", {"betta": 1}, "unknown setting 'betta'; did you mean 'beta'"),
        ("chrf,gamma=1", {}, "chrf: unknown setting 'gamma'"),
    ):
        with pytest.raises(InputError, match=said):
            load_text_metric(spec, **more)


def test_names_with_settings(tiny_models: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint

    point = EntryPoint("length", f"{__name__}:Length", "affectlab.text_metrics")
    monkeypatch.setattr("affectlab.core.registry.entry_points", lambda group: [point])
    own = load_text_metric("length:x,times=2")
    assert own.name == "length x"
    assert own.score_items(text_items(["abc"])).scores.tolist() == [6.0]
    place = tiny_models["bart"]
    named = load_text_metric(f"bart:{place},direction=recall", device="cpu", cache="x")
    assert named.name.startswith("BARTScore recall")
    scaled = load_text_metric(f"refclip:{tiny_models['clip']},scale=1,reference_scale=unscaled")
    assert scaled.name == "RefCLIPScore [clip, w 1, unscaled image]"
    for spec, said in (
        (f"bart:{place},direktion=f", "metric 'bart': unknown setting 'direktion'"),
        (f"bart:{place},direction", "is not understood"),
    ):
        with pytest.raises(InputError, match=said):
            load_text_metric(spec)
