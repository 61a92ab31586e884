"""Reading labelled images as they are published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image
from tests.cli.command import run_here

from affectlab.core.errors import InputError
from affectlab.evaluation import confusion
from affectlab.models.images import (
    find_images,
    label_fraction,
    read_categories,
    read_labelled_images,
)
from affectlab.models.images.labelled import EMOTIC_CATEGORIES
from affectlab.taxonomy import Taxonomy, load_taxonomy

MIKELS = load_taxonomy("mikels")
# The order that EmoSet's info.json prints, another one, and that of the wheel.
EMOSET_ORDER = (
    *("amusement", "awe", "contentment", "excitement"),
    *("anger", "disgust", "fear", "sadness"),
)


def picture(path: Path, shade: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (4, 4), (shade % 256, 0, 0)).save(path)
    return path


def emoset(folder: Path, order: tuple[str, ...] = EMOSET_ORDER, short: bool = False) -> Path:
    """Write a tiny EmoSet: three images of each emotion, one for each split."""
    lists: dict[str, list[Any]] = {"train": [], "val": [], "test": []}
    for place, name in enumerate(order):
        for at, split in enumerate(lists):
            number = f"{name}_{at:05d}"
            picture(folder / "image" / name / f"{number}.jpg", 10 * place + at)
            said = folder / "annotation" / name / f"{number}.json"
            said.parent.mkdir(parents=True, exist_ok=True)
            said.write_text(json.dumps({"emotion": name, "image_id": number, "brightness": 0.3}))
            paths = [f"image/{name}/{number}.jpg", f"annotation/{name}/{number}.json"]
            lists[split].append([name, *paths] if short else [name, number, *paths])
    for split, entries in lists.items():
        (folder / f"{split}.json").write_text(json.dumps(entries))
    numbers = {name: at for at, name in enumerate(order)}
    (folder / "info.json").write_text(json.dumps({"emotion": {"label2idx": numbers}}))
    return folder


@pytest.mark.parametrize("short", [False, True])
def test_emoset(tmp_path: Path, short: bool) -> None:
    found = read_labelled_images(emoset(tmp_path, short=short), MIKELS)
    assert found.layout == "emoset"
    assert len(found) == 24
    assert all(
        file.path.parent.name == label
        for file, label in zip(found.files, found.labels, strict=True)
    )
    assert {split: len(found.part(split)) for split in ("train", "dev", "test")} == dict.fromkeys(
        ("train", "dev", "test"), 8
    )
    # Named as all images of the folder are, so that embeddings of the folder fit.
    assert {file.stimulus for file in found.files} == {
        file.stimulus for file in find_images(tmp_path)
    }


def test_emoset_without_lists(tmp_path: Path) -> None:
    whole = read_labelled_images(emoset(tmp_path), MIKELS)
    for split in ("train", "val", "test"):
        (tmp_path / f"{split}.json").unlink()
    (tmp_path / "info.json").unlink()
    found = read_labelled_images(tmp_path, MIKELS)
    assert (found.layout, found.splits) == ("emoset", None)
    said = {file.stimulus: label for file, label in zip(found.files, found.labels, strict=True)}
    assert said == {f.stimulus: label for f, label in zip(whole.files, whole.labels, strict=True)}
    (tmp_path / "annotation" / "awe" / "awe_00000.json").unlink()
    with pytest.raises(InputError, match=r"has no annotation; expected .*awe_00000\.json"):
        read_labelled_images(tmp_path, MIKELS)


def test_the_order_of_labels_changes_no_cell(tmp_path: Path) -> None:
    """A data set in another order of labels gives the same confusions and the same costs."""
    cells = []
    for at, order in enumerate((EMOSET_ORDER, EMOSET_ORDER[::-1], MIKELS.labels)):
        found = read_labelled_images(emoset(tmp_path / str(at), order), MIKELS)
        by_name = sorted(zip((f.stimulus for f in found.files), found.labels, strict=True))
        truth = [label for _, label in by_name]
        # Whatever is said depends on the image alone: here each is mistaken for its neighbour.
        wheel = MIKELS.ring or ()
        said = [wheel[(wheel.index(label) + 1) % 8] for label in truth]
        cells.append(confusion(truth, said, labels=MIKELS.labels))
    first, *others = [np.asarray(one.counts) for one in cells]
    for other in others:
        assert np.array_equal(first, other)


def test_fi_folders_and_lists(tmp_path: Path) -> None:
    for name in ("Amusement", "Anger", "awe"):
        for at in range(3):
            picture(tmp_path / name / f"{name.lower()}_{at:04d}.jpg", at)
    plain = read_labelled_images(tmp_path, MIKELS)
    assert (plain.layout, plain.splits) == ("folders", None)
    assert sorted(set(plain.labels)) == ["amusement", "anger", "awe"]
    # The alphabet's order of labels, and FI's: numbers mean nothing, folders do.
    for split, at in (("train", 0), ("val", 1), ("test", 2)):
        lines = [
            f"{name}/{name.lower()}_{at:04d}.jpg {number}"
            for number, name in enumerate(("Anger", "awe", "Amusement"))
        ]
        (tmp_path / f"{split}.txt").write_text("\n".join(lines) + "\n\n")
    found = read_labelled_images(tmp_path, MIKELS)
    assert found.layout == "lists"
    assert found.part("dev").labels == ("anger", "awe", "amusement")
    # Names instead of numbers, with other marks between.
    (tmp_path / "val.txt").write_text("Anger/anger_0001.jpg\tanger\nawe/awe_0001.jpg, Awe\n")
    assert read_labelled_images(tmp_path, MIKELS).part("dev").labels == ("anger", "awe")
    (tmp_path / "val.txt").write_text("Anger/anger_0001.jpg 1\n")
    with pytest.raises(InputError, match="'1' goes with 'Anger', and with 'awe'"):
        read_labelled_images(tmp_path, MIKELS)
    (tmp_path / "val.txt").write_text("Anger/anger_0001.jpg fear\n")
    with pytest.raises(InputError, match="is fear by its list, and lies in a folder 'Anger'"):
        read_labelled_images(tmp_path, MIKELS)


def test_emotic_lists(tmp_path: Path) -> None:
    for at in range(4):
        picture(tmp_path / "mscoco" / "images" / f"{at}.jpg", at)
    head = "Index,Folder,Filename,Image Size,BBox,Categorical_Labels,Continuous_Labels,Gender,Age\n"
    rows = (
        ("0.jpg", "['Anger', 'Annoyance']"),
        ("0.jpg", "['Aversion']"),
        ("1.jpg", "['Peace']"),
        ("2.jpg", "['Fear', 'Sadness']"),
        ("3.jpg", "['Excitement']"),
    )
    lines = [
        f'{at},mscoco/images,{file},"[640, 480]","[1, 2, 3, 4]","{names}","[5.0, 6.0]",Male,Adult'
        for at, (file, names) in enumerate(rows)
    ]
    table = tmp_path / "val.csv"
    table.write_text(head + "\n".join(lines) + "\n")
    listed = read_categories(table)
    assert listed.table() == {
        "mscoco/images/0": ["Anger", "Annoyance", "Aversion"],
        "mscoco/images/1": ["Peace"],
        "mscoco/images/2": ["Fear", "Sadness"],
        "mscoco/images/3": ["Excitement"],
    }
    assert listed.splits == ("dev",) * 4
    found = read_labelled_images(table, MIKELS)
    assert found.layout == "emotic"
    assert (found.labels, found.splits) == (("anger", "excitement"), ("dev", "dev"))
    assert found.set_aside == (
        "1 image has no category that taxonomy mikels knows",
        "1 image has several categories of it, and not one label",
    )
    # The same as JSON, and with categories of the whole set.
    said = [{"file": name, "categories": list(names)} for name, names in listed.table().items()]
    for entry in said:
        entry["file"] = f"{entry['file']}.jpg"
        entry["split"] = "train"
    file = tmp_path / "list.json"
    file.write_text(json.dumps(said))
    own = Taxonomy.from_labels(EMOTIC_CATEGORIES)
    again = read_labelled_images(file, own)
    assert again.labels == (own.name_of("Peace"), own.name_of("Excitement"))
    assert again.splits == ("train", "train")
    assert len(set(EMOTIC_CATEGORIES)) == 26


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not valid JSON"),
        ("{}", "expected a list of images"),
        ('[["awe"]]', "expected a list of emotion"),
        ('[[0, "x", "image/awe/awe_00000.jpg", "a.json"]]', "expected a list of emotion"),
        ('[["joyful", "x", "image/awe/awe_00000.jpg"]]', "joyful"),
        ('[["fear", "x", "image/awe/awe_00000.jpg"]]', "lies in a folder 'awe'"),
        ('[["awe", "x", "image/awe/none.jpg"]]', "there is no such file"),
        ('[["awe", "x", "../image/awe.jpg"]]', "leads out of the folder"),
        ('[["awe", "x", "/etc/awe.jpg"]]', "leads out of the folder"),
        (
            '[["awe", "x", "image/awe/awe_00000.jpg"], ["awe", "y", "image/awe/awe_00000.jpg"]]',
            "is listed in .*entry 1 as well",
        ),
    ],
)
def test_bad_lists_of_emoset(tmp_path: Path, text: str, said: str) -> None:
    emoset(tmp_path)
    for name in ("val", "test"):
        (tmp_path / f"{name}.json").unlink()
    (tmp_path / "train.json").write_text(text)
    with pytest.raises(InputError, match=said):
        read_labelled_images(tmp_path, MIKELS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("file,categories\n", "a list without rows"),
        ("file,categories\nnone.png,Fear\n", "there is no such file"),
        ("file,categories\n../a.png,Fear\n", "leads out of the folder"),
        ("file,categories\na.png,\n", "categories are None; expected names"),
        ("file,categories\na.png,3\n", "numbers depend on an order"),
        ("file,categories\na.png,[]\n", "no category"),
        ('file,categories\na.png,"[1, 2]"\n', "category 1; expected a name"),
        ("file,categories\na.png,[__import__('os')]\n", "expected names"),
        ("name,categories\na.png,Fear\n", "expected a column 'file'"),
        ("file,categories,split\na.png,Fear,later\n", "split is 'later'"),
        ("file,categories,split\na.png,Fear,train\na.png,Fear,test\n", "in split test, and in tr"),
        ("file,categories\na.png,Peace\n", r"no image with one label of taxonomy mikels \(1 image"),
    ],
)
def test_bad_lists_of_categories(tmp_path: Path, text: str, said: str) -> None:
    picture(tmp_path / "a.png")
    table = tmp_path / "table.csv"
    table.write_text(text)
    with pytest.raises(InputError, match=said):
        read_labelled_images(table, MIKELS)


def test_other_hostile_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_labelled_images(tmp_path / "none", MIKELS)
    with pytest.raises(InputError, match="cannot be read"):
        read_labelled_images(tmp_path / "none.json", MIKELS)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no image"):
        read_labelled_images(tmp_path / "empty", MIKELS)
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not in UTF-8"):
        read_labelled_images(tmp_path / "bytes.json", MIKELS)
    picture(tmp_path / "lists" / "awe.png")
    (tmp_path / "lists" / "train.txt").write_text("awe.png 3\n")
    with pytest.raises(InputError, match="says no name of a label"):
        read_labelled_images(tmp_path / "lists", MIKELS)
    (tmp_path / "lists" / "train.txt").write_text("# a list\n")
    with pytest.raises(InputError, match="expected an image file"):
        read_labelled_images(tmp_path / "lists", MIKELS)


def test_train_vision_reads_emoset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = emoset(tmp_path / "EmoSet")
    random = np.random.default_rng(0)
    for at, file in enumerate(find_images(folder)):
        Image.fromarray(random.integers(0, 255, (40, 40, 3), dtype=np.uint8) // (1 + at % 8)).save(
            file.path
        )
    common = ("--backbone", "embedding:hog", "--epochs", "2", "--out", "model", "--json")
    done = json.loads(run_here("train", "vision", "EmoSet", *common).stdout)["result"]
    assert (done["n_train"], done["n_dev"], done["n_test"]) == (8, 8, 8)
    assert done["labels"] == list(MIKELS.labels)


@given(
    counts=st.lists(st.integers(1, 60), min_size=1, max_size=8),
    fraction=st.floats(0.005, 1.0),
    seed=st.integers(0, 5),
)
@settings(max_examples=60, deadline=None)
def test_a_share_of_each_label(counts: list[int], fraction: float, seed: int) -> None:
    labels = np.random.default_rng(seed).permutation(
        [f"label {at}" for at, count in enumerate(counts) for _ in range(count)]
    )
    wanted = round(fraction * len(labels))
    if wanted < len(counts):
        with pytest.raises(InputError, match="so that each has an image"):
            label_fraction(labels.tolist(), fraction, seed=seed)
        return
    chosen = label_fraction(labels.tolist(), fraction, seed=seed)
    assert chosen.sum() == wanted
    for at, count in enumerate(counts):
        took = int(chosen[labels == f"label {at}"].sum())
        assert 1 <= took <= count
        # Where no label needed more than its share, all are as near to it as whole numbers are.
        if min(counts) * fraction >= 1:
            assert abs(took - wanted * count / len(labels)) < 1
    assert np.array_equal(chosen, label_fraction(labels.tolist(), fraction, seed=seed))


def test_shares_of_the_paper() -> None:
    labels = [name for name in MIKELS.labels for _ in range(2000)]
    for fraction, number in ((0.005, 80), (0.05, 800), (0.10, 1600)):
        chosen = label_fraction(labels, fraction, seed=3)
        assert chosen.sum() == number
        assert (
            np.unique(np.array(labels)[chosen], return_counts=True)[1].tolist() == [number // 8] * 8
        )
    other = label_fraction(labels, 0.05, seed=4)
    assert not np.array_equal(other, label_fraction(labels, 0.05, seed=3))
    for bad in (0, -1, 1.01, float("nan"), True, "5 %"):
        with pytest.raises(InputError, match="expected a share above 0"):
            label_fraction(labels, bad)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"is 2, fewer than the 8 labels; expected 0\.1 %"):
        label_fraction(labels, 0.0001)
    with pytest.raises(InputError, match="none are given"):
        label_fraction([], 0.5)


def test_emotic_is_a_taxonomy(tmp_path: Path) -> None:
    assert load_taxonomy("emotic").labels == EMOTIC_CATEGORIES
    for name in "ab":
        Image.new("RGB", (8, 8)).save(tmp_path / f"{name}.png")
    table = tmp_path / "train.csv"
    table.write_text('file,categories\na.png,doubt_confusion\nb.png,"Anger, Pain"\n')
    found = read_labelled_images(table, load_taxonomy("emotic"))
    assert (found.labels, found.splits) == (("Doubt/Confusion",), ("train",))
    assert found.set_aside == ("1 image has several categories of it, and not one label",)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("a,a.png,awe,train\nb,a.png,fear,train", "row 2: label of .* is 'fear', and 'awe' in"),
        ("a,a.png,awe,train\nb,a.png,awe,test", "row 2: split of .* is 'test', and 'train' in"),
    ],
)
def test_one_file_under_two_names(tmp_path: Path, rows: str, said: str) -> None:
    picture(tmp_path / "a.png")
    table = tmp_path / "table.csv"
    table.write_text(f"stimulus,file,label,split\n{rows}\n")
    with pytest.raises(InputError, match=said):
        read_labelled_images(table, MIKELS)
    table.write_text("stimulus,file,label,split\na,a.png,awe,train\nb,a.png,awe,train\n")
    assert read_labelled_images(table, MIKELS).labels == ("awe", "awe")
