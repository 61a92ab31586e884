"""Taxonomies made and revised by users: look-up, checks, files, display."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from rich.console import Console

from affectlab.core.errors import InputError
from affectlab.taxonomy import Taxonomy, list_taxonomies, load_taxonomy
from affectlab.taxonomy.label import Label
from affectlab.taxonomy.names import fold

TWO = 'name = "mood"\n[[labels]]\nname = "up"\n[[labels]]\nname = "down"\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "mood.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_lookup_forgives_spelling_but_not_guesses() -> None:
    taxonomy = load_taxonomy("ekman")
    assert taxonomy.name_of("JOY") == "joy"
    assert taxonomy.index("happiness") == 3
    assert "Happy" in taxonomy
    assert "hunger" not in taxonomy
    assert 7 not in taxonomy
    with pytest.raises(InputError, match=r"taxonomy ekman: unknown label 'angre'.*'anger'"):
        taxonomy.name_of("angre")
    with pytest.raises(InputError, match="unknown label ''"):
        taxonomy.index("")


def test_part_that_two_labels_share_is_ambiguous() -> None:
    taxonomy = Taxonomy.from_labels(["Fear/Surprise", "Joy/Surprise", "Awe"])
    assert taxonomy.name_of("joy") == "Joy/Surprise"
    with pytest.raises(InputError, match="'surprise' may mean 'Fear/Surprise' and 'Joy/Surprise'"):
        taxonomy.name_of("surprise")
    assert Taxonomy.from_labels(["Fear/Awe", "Awe"]).name_of("awe") == "Awe"


def test_frozen_hashable_and_picklable() -> None:
    taxonomy = load_taxonomy("emonet_face")
    assert taxonomy.index("hope") == 7
    with pytest.raises(FrozenInstanceError):
        taxonomy.name = "x"  # type: ignore[misc]
    copy = pickle.loads(pickle.dumps(taxonomy))
    assert copy == taxonomy
    assert hash(copy) == hash(taxonomy)
    assert copy.index("hope") == 7
    # What is handed out is a copy: changing it changes nothing here.
    taxonomy.polarity["Fear"] = "positive"
    assert taxonomy.polarity["Fear"] == "negative"


def test_groups_and_coarser_taxonomies() -> None:
    taxonomy = load_taxonomy("goemotions")
    ekman = taxonomy.coarsen("ekman")
    assert ekman.name == "goemotions-ekman"
    assert set(ekman.labels) == {*load_taxonomy("ekman").labels, "neutral"}
    assert ekman.neutral == "neutral"
    assert ekman.levels == ("sentiment",)
    assert ekman.polarity["surprise"] == "ambiguous"
    assert ekman.coarsen("sentiment").labels == taxonomy.coarsen("sentiment").labels
    mapping = taxonomy.group_to("ekman")
    assert mapping["grief"] == "sadness"
    assert mapping.taxonomy == ekman
    assert mapping.unmapped == ()
    assert mapping.matrix().shape == (28, 7)
    assert mapping.matrix().sum(axis=1).tolist() == [1] * 28
    with pytest.raises(InputError, match="unknown level 'sentimnt'; did you mean 'sentiment'"):
        taxonomy.groups("sentimnt")
    display = load_taxonomy("emonet_face").coarsen("display")
    assert len(display) == 7
    assert display.polarity["Longing & Lust"] is None


def test_user_file_is_read(tmp_path: Path) -> None:
    taxonomy = load_taxonomy(write(tmp_path, TWO))
    assert taxonomy.labels == ("up", "down")
    assert load_taxonomy(str(tmp_path / "mood.toml")) == taxonomy


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TWO + '[[labels]]\nname = "up"\n', "labels: 'up' appears twice"),
        (TWO + '[[labels]]\nname = "Up!"\n', "'up' and 'Up!' cannot be told apart"),
        ('ring = ["up", "dawn"]\n' + TWO, "ring: unknown label 'dawn'; did you mean 'down'"),
        ('ring = ["up"]\n' + TWO, "ring: label 'down' is missing"),
        ('ring = ["up", "up"]\n' + TWO, "ring: label 'up' stands twice"),
        ('neutral = "upp"\n' + TWO, "neutral: unknown label 'upp'"),
        ('levels = ["side"]\n' + TWO, "label 'up': no group at level 'side'"),
        ('levels = ["a", "a"]\n' + TWO, "levels: level 'a' stands twice"),
        (TWO + 'groups = { side = "x" }\n', "label 'down': groups: unknown level 'side'"),
        (TWO + 'polarity = "good"\n', r"labels.1.polarity = 'good': .*'positive', 'negative'"),
        (TWO + 'aliases = ["UP"]\n', "label 'down': alias 'UP' already means 'up'"),
        (TWO + 'opposite = "left"\n', "label 'down': opposite: unknown label 'left'"),
        (TWO + 'opposite = "up"\n', "but the opposite of 'up' is nothing"),
        (TWO + "limits = [1, -1]\n", "must be finite and rise"),
        (TWO + "limits = [0, inf]\n", "must be finite and rise"),
        (TWO + 'aliases = ["  "]\n', "an alias is empty"),
        (TWO + 'colour = "red"\n', "key 'labels.1.colour' is not known"),
        (TWO.replace("mood", "../mood"), "expected letters, digits"),
        ('name = "x"\nlabels = []\n', "taxonomy x has no labels"),
        ('name = "x"\n', "key 'labels' is missing"),
        ('name = "x\n', "not valid TOML"),
        ('name = "x"\n[[labels]]\nname = " "\n', "expected a name"),
        ('name = "x"\n[[labels]]\nname = 3\n', "labels.0.name = 3"),
        ('reference = "mikels"\n' + TWO, "stands_for: label 'up' is missing"),
    ],
)
def test_mistakes_in_a_file_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        load_taxonomy(write(tmp_path, text))
    assert str(caught.value).startswith(str(tmp_path / "mood.toml"))
    assert "\n" not in str(caught.value)


def test_unknown_names_and_places(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown taxonomy 'mikel'; did you mean 'mikels'"):
        load_taxonomy("mikel")
    with pytest.raises(InputError, match="no such file"):
        load_taxonomy(tmp_path / "absent.toml")
    with pytest.raises(InputError, match="expected a name, a path or a Taxonomy, not int"):
        load_taxonomy(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="does not exist"):
        load_taxonomy("ekman").save(tmp_path / "absent" / "x.toml")
    with pytest.raises(InputError, match="expected a list"):
        Taxonomy.from_labels("joy")


@pytest.mark.parametrize("name", list_taxonomies())
def test_built_in_files_survive_a_round_trip(name: str, tmp_path: Path) -> None:
    taxonomy = load_taxonomy(name)
    assert load_taxonomy(taxonomy.save(tmp_path / "copy.toml")) == taxonomy


def test_revision_under_a_new_version(tmp_path: Path) -> None:
    ekman = load_taxonomy("ekman")
    kept = tuple(entry for entry in ekman.entries if entry.name != "surprise")
    stands = {label: others for label, others in ekman.stands_for.items() if label != "surprise"}
    revised = replace(ekman, entries=kept, stands_for=stands, version="2")
    again = load_taxonomy(revised.save(tmp_path / "ekman5.toml"))
    assert again.version == "2"
    assert again.labels == ekman.labels[:5]
    assert again != ekman


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
names = text.map(str.strip).filter(bool)


@st.composite
def taxonomies(draw: st.DrawFn) -> Taxonomy:
    labels = draw(st.lists(names, min_size=1, max_size=5, unique_by=fold))
    levels = tuple(draw(st.lists(text, max_size=2, unique=True)))
    entries = [
        Label(
            label,
            definition=draw(text),
            polarity=draw(st.sampled_from(["positive", "negative", "ambiguous", "neutral", None])),
            emoji=draw(text),
            words=tuple(draw(st.lists(names, max_size=2))),
            groups={level: draw(names) for level in levels},
            ends=draw(st.none() | st.tuples(text, text)),
            limits=draw(st.none() | st.just((-0.1, 1e300))),
        )
        for label in labels
    ]
    neutral = draw(st.none() | st.sampled_from(labels))
    ring = draw(st.none() | st.permutations([label for label in labels if label != neutral]))
    return Taxonomy(
        "made-up",
        tuple(entries),
        title=draw(text),
        version=draw(text),
        notes=draw(text),
        levels=levels,
        ring=None if ring is None else tuple(ring),
        neutral=neutral,
    )


@given(taxonomies())
def test_any_taxonomy_survives_a_round_trip(taxonomy: Taxonomy) -> None:
    again = Taxonomy.from_toml(taxonomy.to_toml())
    assert again == taxonomy
    for place, label in enumerate(taxonomy.labels):
        assert again.index(label) == place


@given(st.text())
def test_folding_is_stable(name: str) -> None:
    assert fold(fold(name)) == fold(name)
    if any(character.isalnum() for character in name):
        assert fold(f"  {name}_") == fold(name)


def test_half_characters_cannot_be_written() -> None:
    with pytest.raises(InputError, match="UTF-8"):
        replace(load_taxonomy("ekman"), title="\ud83d").to_toml()


def test_display_escapes_what_users_wrote() -> None:
    nasty = Taxonomy(
        "nasty", (Label("<script>alert(1)</script>", definition="a & b [bold]x[/bold]"),)
    )
    html = nasty._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "a &amp; b" in html
    console = Console(width=200, file=StringIO())
    with console.capture() as shown:
        console.print(nasty)
    assert "[bold]x[/bold]" in shown.get()
    assert repr(nasty).startswith("Taxonomy('nasty', version 1, 1 labels: <script>")


ADDED = """
from affectlab.core.errors import InputError
from affectlab.taxonomy import list_taxonomies, load_taxonomy
assert {"added", "filed", "broken", "odd"} <= set(list_taxonomies())
assert load_taxonomy("added").labels == ("one", "two")
assert load_taxonomy("filed").labels == ("up", "down")
for name in ("broken", "odd"):
    try:
        load_taxonomy(name)
    except InputError as error:
        print(error)
"""


def test_entry_points_add_taxonomies(tmp_path: Path) -> None:
    """A package that is really installed (as files on the path) adds taxonomies of its own."""
    info = tmp_path / "moods-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: moods\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[affectlab.taxonomies]\nadded = moods:make\nfiled = moods:PATH\n"
        "broken = moods:absent\nodd = moods:NUMBER\n"
    )
    path = write(tmp_path, TWO)
    (tmp_path / "moods.py").write_text(
        "from affectlab.taxonomy import Taxonomy\n"
        "make = lambda: Taxonomy.from_labels(['one', 'two'])\n"
        f"PATH = {str(path)!r}\nNUMBER = 3\n"
    )
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{ADDED}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    broken, odd = done.stdout.splitlines()
    assert "entry point 'broken' (moods:absent)" in broken
    assert "cannot be loaded" in broken
    assert "gives int; expected a path or a Taxonomy, or a function" in odd
