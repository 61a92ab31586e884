"""Images of folders, tables and lists, under the names of their stimuli."""

from __future__ import annotations

import os

import polars as pl
import pytest
from PIL import Image

from affectlab.core.errors import InputError
from affectlab.models.images import find_images
from affectlab.models.images.files import ImageFile, content_hash
from affectlab.simulate import face_specs, save_faces
from affectlab.stimuli.generation import generate_images


def draw(place, colour="red"):
    place.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (4, 4), colour).save(place)
    return place


def names(found):
    return [file.stimulus for file in found]


@pytest.fixture
def folder(tmp_path):
    for name in ("b.PNG", "a.jpg", "deep/er/c.webp", "deep/a.jpg", "with.dots.gif", ".hidden.png"):
        draw(tmp_path / name)
    draw(tmp_path / ".cache" / "x.png")
    (tmp_path / "notes.txt").write_text("no image")
    (tmp_path / "empty").mkdir()
    return tmp_path


def test_folders_are_searched_in_order(folder):
    found = find_images(folder)
    assert names(found) == ["a", "b", "deep/a", "deep/er/c", "with.dots"]
    assert find_images(str(folder)) == found
    assert [file.path for file in found][:2] == [folder / "a.jpg", folder / "b.PNG"]
    assert found[0].sha256 == content_hash((folder / "a.jpg").read_bytes())


def test_two_files_of_one_name_are_refused(folder):
    draw(folder / "a.png")
    with pytest.raises(InputError, match=r"stimulus 'a' has two files, .*a\.jpg and .*a\.png"):
        find_images(folder)


def test_links_are_followed_and_loops_end(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    draw(other / "far.png")
    (folder / "linked").symlink_to(other)
    (folder / "deep" / "up").symlink_to(folder)
    (folder / "copy.png").symlink_to(folder / "a.jpg")
    assert names(find_images(folder)) == [
        *("a", "b", "copy", "deep/a", "deep/er/c", "linked/far", "with.dots")
    ]
    (folder / "gone.png").symlink_to(folder / "nothing.png")
    with pytest.raises(InputError, match=r"gone\.png is a link to a file that is not there"):
        find_images(folder)


def test_odd_names(tmp_path):
    for name in ("ü 😀.png", 'a,b"c.png', "line\nbreak.png", "-rf.png"):
        draw(tmp_path / name)
    assert names(find_images(tmp_path)) == ["-rf", 'a,b"c', "line\nbreak", "ü 😀"]
    with open(os.fsencode(tmp_path) + b"/\xff\xfe.png", "wb") as file:  # noqa: PTH123
        file.write(b"x")
    with pytest.raises(InputError, match="the name of this file is not in UTF-8"):
        find_images(tmp_path)


@pytest.mark.parametrize("column", ["file", "image", "path"])
@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_tables(folder, column, suffix):
    table = pl.DataFrame({"stimulus": ["z", "y", "007"], column: ["a.jpg", "deep/a.jpg", "b.PNG"]})
    place = folder / f"table.{suffix}"
    {"csv": table.write_csv, "parquet": table.write_parquet, "jsonl": table.write_ndjson}[suffix](
        place
    )
    found = find_images(place)
    assert names(found) == ["z", "y", "007"]
    assert [file.path for file in found] == [
        *(folder / "a.jpg", folder / "deep/a.jpg", folder / "b.PNG")
    ]


def test_tables_that_others_of_ours_write(tmp_path):
    drawn = save_faces(tmp_path, face_specs(2, ["joy"]), size=32)
    drawn.write_csv(tmp_path / "faces.csv")
    assert names(find_images(tmp_path / "faces.csv")) == drawn["stimulus"].to_list()
    prompts = pl.DataFrame(
        {
            "stimulus": ["No 0", "No 1"],
            "prompt": ["a face", "a face"],
            "label": ["Awe", "Awe"],
            "seed": [1, 2],
        }
    )
    made = generate_images(prompts, tmp_path / "made", settings={"size": 32})
    assert names(find_images(made.path)) == ["No 0", "No 1"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "stimulus,picture\na,a.jpg\n",
            "columns stimulus, picture; expected 'stimulus' and",
        ),
        ("name,file\na,a.jpg\n", "columns name, file; expected 'stimulus'"),
        ("stimulus,file\na,a.jpg\nb,gone.jpg\n", r"row 2: stimulus 'b': .*gone\.jpg: there is no"),
        ("stimulus,file\na,\n", "row 1: expected a stimulus and its file"),
        ("stimulus,file\n,a.jpg\n", "row 1: expected a stimulus and its file"),
        ("stimulus,file\na,a.jpg\na,b.PNG\n", "stimulus 'a' has two files"),
        ("stimulus,file\n", "holds no image"),
        ("", "not a table of images"),
    ],
)
def test_tables_that_cannot_be_used(folder, content, said):
    place = folder / "table.csv"
    place.write_text(content)
    with pytest.raises(InputError, match=said) as error:
        find_images(place)
    assert "\n" not in str(error.value)


def test_lists(folder):
    known = ImageFile("mine", folder / "b.PNG")
    files = [folder / "a.jpg", str(folder / "with.dots.gif"), ("c", folder / "deep/a.jpg"), known]
    found = find_images(files)
    assert names(found) == ["a", "with.dots", "c", "mine"]
    assert found[-1] == known
    assert names(find_images(folder / "a.jpg")) == ["a"]
    for wrong, said in (
        ([3], "image 0: expected a file, or a pair"),
        ([("a", 3)], "expected the path of a file"),
        ([folder / "gone.png"], "there is no such file"),
        ([folder / "a.jpg", folder / "deep/a.jpg"], "stimulus 'a' has two files"),
        ([], "holds no image"),
        (3, "not int"),
        (b"a.jpg", "not bytes"),
    ):
        with pytest.raises(InputError, match=said):
            find_images(wrong)


def test_places_without_images(tmp_path):
    with pytest.raises(InputError, match="holds no image"):
        find_images(tmp_path)
    with pytest.raises(InputError, match="there is no such file or folder"):
        find_images(tmp_path / "nowhere")
    file = tmp_path / "notes.txt"
    file.write_text("x")
    with pytest.raises(InputError, match=r"notes\.txt: expected a folder of images, a table"):
        find_images(file)
    place = tmp_path / "x.jsonl"
    place.write_text('{"stimulus": "a"\n')
    with pytest.raises(InputError, match="not a table of images") as error:
        find_images(place)
    assert "\n" not in str(error.value)
