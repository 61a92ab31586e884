"""What installed packages add: told by name when it is broken, left out where nobody asked."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from affectlab import InputError
from affectlab.cli._output import plugs_said
from affectlab.core.registry import BrokenPlugWarning, find_plug, find_sound_plugs
from affectlab.ratings import Format, list_formats, read_ratings
from affectlab.recipes import list_recipes, reproduce
from affectlab.recipes.emonet_face.recipe import RECIPE
from affectlab.recipes.recipe import Recipe

TABLE = "stimulus,rater,label,value\na,ada,joy,1\na,bo,joy,0\n"


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package whose parts are good, of a wrong kind, and not there."""
    (tmp_path / "hailstones.py").write_text(
        "from affectlab.ratings import Format, Ratings, file_format\n"
        "from affectlab.recipes.emonet_face.recipe import RECIPE\n"
        "@file_format('hail-table', 'hail')\n"
        "class Good(Format):\n"
        "    def read(self, head, options):\n"
        "        one = {'stimulus': ['h'], 'rater': ['h'], 'value': [1]}\n"
        "        return Ratings(one, scale='binary')\n"
        "WRONG = 7\n"
    )
    told = tmp_path / "hailstones-1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: hailstones\nVersion: 1\n")
    points = "wrong = hailstones:WRONG\ngone = hailstones:GONE\n"
    (told / "entry_points.txt").write_text(
        f"[affectlab.formats]\nhail = hailstones:Good\n{points}"
        f"[affectlab.recipes]\nhail = hailstones:RECIPE\nemonet-face = hailstones:WRONG\n{points}"
    )
    monkeypatch.syspath_prepend(tmp_path)
    list_formats.cache_clear()
    yield
    list_formats.cache_clear()
    sys.modules.pop("hailstones", None)


@pytest.mark.usefixtures("added")
def test_sound_plugs_are_found_beside_broken_ones() -> None:
    with pytest.warns(BrokenPlugWarning, match=r"'gone' .*'affectlab.formats'.*; it is left out$"):
        names = {plug.name for plug in find_sound_plugs("affectlab.formats")}
    assert names == {"hail", "wrong"}
    assert find_plug("affectlab.formats", "gon") is None


@pytest.mark.usefixtures("added")
def test_formats(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text(TABLE)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert read_ratings(file, scale="binary").n_ratings == 2
    told = sorted(str(one.message) for one in said if one.category is BrokenPlugWarning)
    assert len(told) == 2
    assert "'gone'" in told[0]
    assert "'wrong'" in told[1]
    assert "gives int; expected" in told[1]
    # Asked for by name, each speaks for itself: by that of its entry point, or by its own.
    for name in ("hail", "hail-table"):
        assert read_ratings(file, format=name).stimulus_names == ("h",)
    with pytest.raises(InputError, match=r"'wrong' .*gives int; expected"):
        read_ratings(file, format="wrong")
    with pytest.raises(InputError, match=r"'gone' .*cannot be loaded"):
        read_ratings(file, format="gone")
    with pytest.raises(InputError, match="unknown format 'hial'"):
        read_ratings(file, format="hial")


@pytest.mark.usefixtures("added")
def test_recipes(tmp_path: Path) -> None:
    # Built in comes first, whatever a package offers under that name.
    for name in ("emonet-face", "hail"):
        with pytest.raises(InputError, match=r"^emonet-face: .* does not hold "):
            reproduce(name, data=tmp_path)
    with pytest.raises(InputError, match=r"affectlab.recipes"):
        list_recipes()


def test_recipes_without_packages() -> None:
    assert list_recipes()["emonet-face"] is RECIPE
    assert all(isinstance(recipe, Recipe) for recipe in list_recipes().values())
    assert all(isinstance(entry, Format) for entry in list_formats())


def test_only_warnings_of_packages_become_sentences() -> None:
    said: list[str] = []
    with warnings.catch_warnings(record=True) as others:
        warnings.simplefilter("always")
        with plugs_said(said.append):
            warnings.warn("x cannot be loaded", BrokenPlugWarning, stacklevel=1)
            warnings.warn("something else", UserWarning, stacklevel=1)
    assert said == ["x cannot be loaded"]
    assert [str(one.message) for one in others] == ["something else"]
