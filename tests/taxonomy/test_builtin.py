"""Built-in taxonomies hold what their publications say."""

from __future__ import annotations

import csv
import json
from importlib.resources import files
from pathlib import Path

import pytest

from affectlab.core.errors import InputError
from affectlab.taxonomy import list_taxonomies, load_taxonomy, map_labels
from affectlab.taxonomy.taxonomy import match_taxonomy

SIZES = {
    "ekman": 6,
    "emonet_face": 40,
    "emotic": 26,
    "goemotions": 28,
    "mikels": 8,
    "plutchik": 8,
    "russell": 2,
}
BUILTIN = tuple(SIZES)


@pytest.fixture
def shared() -> Path:
    folder = Path(__file__).parents[2] / ".." / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the shared reference data are absent")
    return folder


@pytest.mark.parametrize("name", BUILTIN)
def test_each_is_complete(name: str) -> None:
    taxonomy = load_taxonomy(name)
    assert name in list_taxonomies()
    assert taxonomy.name == name
    assert len(taxonomy) == SIZES[name]
    assert taxonomy.title
    assert taxonomy.source
    assert taxonomy.licence
    definitions = list(taxonomy.definitions.values())
    assert all(len(text) > 20 and text.endswith(".") for text in definitions)
    assert len(set(definitions)) == len(definitions)
    assert match_taxonomy(reversed(taxonomy.labels)) == taxonomy


def test_a_built_in_is_read_once() -> None:
    assert load_taxonomy("ekman") is load_taxonomy("Ekman")
    assert load_taxonomy("emonet-face") is load_taxonomy("emonet_face")
    taxonomy = load_taxonomy("ekman")
    assert load_taxonomy(taxonomy) is taxonomy


def test_goemotions_is_as_published(shared: Path) -> None:
    folder = shared / "goemotions"
    taxonomy = load_taxonomy("goemotions")
    assert list(taxonomy.labels) == (folder / "labels.txt").read_text().split()
    for level in ("sentiment", "ekman"):
        published = json.loads((folder / f"{level}_mapping.json").read_text())
        groups = taxonomy.groups(level)
        assert groups.pop("neutral") == ("neutral",)
        assert {group: set(labels) for group, labels in groups.items()} == {
            group: set(labels) for group, labels in published.items()
        }
    mapping = map_labels("goemotions", "ekman")
    ekman = json.loads((folder / "ekman_mapping.json").read_text())
    assert {group: set(mapping.sources(group)) for group in ekman} == {
        group: set(labels) for group, labels in ekman.items()
    }
    assert mapping.unmapped == ("neutral",)


def test_goemotions_facts() -> None:
    taxonomy = load_taxonomy("goemotions")
    assert taxonomy.neutral == "neutral"
    assert taxonomy.labels[0] == "admiration"
    assert taxonomy.index("neutral") == 27
    directed = taxonomy.group_of("directed")
    # The two examples that the paper gives, section 3.3.
    assert directed["disapproval"] == "towards something"
    assert directed["joy"] == "intrinsic"
    assert set(directed.values()) == {"towards something", "intrinsic", "neutral"}
    counts = {group: len(labels) for group, labels in taxonomy.groups("sentiment").items()}
    assert counts == {"positive": 12, "negative": 11, "ambiguous": 4, "neutral": 1}
    assert set(taxonomy.emoji) == set(taxonomy.labels)


def test_emonet_face_is_as_published(shared: Path) -> None:
    guide = json.loads((shared / "emonet_face" / "guide.json").read_text())["options"]
    taxonomy = load_taxonomy("emonet_face")
    assert list(taxonomy.labels) == list(guide["labels"])
    assert {group: set(labels) for group, labels in taxonomy.groups("display").items()} == {
        group: set(labels) for group, labels in guide["buttons"].items()
    }
    for label, words in guide["labels"].items():
        assert {word.casefold() for word in taxonomy.words[label]} == {
            word.casefold() for word in words
        }
        assert len({word.casefold() for word in taxonomy.words[label]}) == len(
            taxonomy.words[label]
        )


def test_emonet_face_names_in_published_files_resolve(shared: Path) -> None:
    taxonomy = load_taxonomy("emonet_face")
    with (shared / "emonet_face" / "binary.csv").open(encoding="utf-8") as file:
        names = {row["emotion"] for row in csv.DictReader(file)}
    assert {taxonomy.name_of(name) for name in names} == set(taxonomy.labels)
    assert match_taxonomy(names) == taxonomy
    with (shared / "emonet_face" / "ferd.jsonl").open(encoding="utf-8") as file:
        keys = json.loads(file.readline())["results"]
    plain = {key.removeprefix("model_").removesuffix("_best") for key in keys}
    others = {"valence", "arousal", "dominance", "emotional_vulnerability"}
    assert {taxonomy.name_of(name) for name in plain - others} == set(taxonomy.labels)


@pytest.mark.parametrize(
    ("spelling", "label"),
    [
        ("hope_enthusiasm_optimism", "Hope/Enthusiasm/Optimism"),
        ("Hope/Optimism", "Hope/Enthusiasm/Optimism"),
        ("Hope", "Hope/Enthusiasm/Optimism"),
        ("ENTHUSIASM", "Hope/Enthusiasm/Optimism"),
        ("jealousy_&_envy", "Jealousy & Envy"),
        ("Jealousy and Envy", "Jealousy & Envy"),
        ("impatience & irritability", "Impatience and Irritability"),
        ("Ecstasy", "Pleasure/Ecstasy"),
        ("hopelessness", "Helplessness"),
        ("altered states of consciousness", "Intoxication/Altered States of Consciousness"),
    ],
)
def test_emonet_face_spellings(spelling: str, label: str) -> None:
    assert load_taxonomy("emonet_face").name_of(spelling) == label


def test_mikels_facts() -> None:
    taxonomy = load_taxonomy("mikels")
    assert taxonomy.ring == taxonomy.labels
    assert taxonomy.labels[:4] == ("amusement", "contentment", "awe", "excitement")
    assert taxonomy.labels[4:] == ("fear", "sadness", "disgust", "anger")
    assert [taxonomy.polarity[label] for label in taxonomy.labels] == ["positive"] * 4 + [
        "negative"
    ] * 4
    assert taxonomy.opposites["contentment"] == "sadness"


def test_plutchik_facts() -> None:
    taxonomy = load_taxonomy("plutchik")
    assert taxonomy.ring is not None
    for place, label in enumerate(taxonomy.ring):
        assert taxonomy.opposites[label] == taxonomy.ring[(place + 4) % 8]
    assert taxonomy.words["joy"] == ("serenity", "joy", "ecstasy")
    assert all(len(words) == 3 for words in taxonomy.words.values())


def test_ekman_and_russell_facts() -> None:
    ekman = load_taxonomy("ekman")
    assert ekman.name_of("Happiness") == "joy"
    assert ekman.polarity["surprise"] == "ambiguous"
    russell = load_taxonomy("russell")
    assert russell.label("valence").ends == ("unpleasant", "pleasant")
    assert russell.label("arousal").limits == (-1, 1)


def test_emotic_facts() -> None:
    taxonomy = load_taxonomy("emotic")
    assert list(taxonomy.labels) == sorted(taxonomy.labels)
    assert taxonomy.name_of("doubt_confusion") == "Doubt/Confusion"
    assert taxonomy.polarity["Surprise"] == "ambiguous"
    assert taxonomy.polarity["Suffering"] == "negative"
    assert {name: taxonomy.polarity[name] for name in taxonomy.labels} == {
        label: side for side, labels in taxonomy.groups("sentiment").items() for label in labels
    }
    costs = taxonomy.cost_matrix()
    assert costs.cost("Anger", "Pain") < costs.cost("Anger", "Peace")


def test_match_needs_all_labels() -> None:
    go = load_taxonomy("goemotions")
    assert match_taxonomy(go.labels[:-1]) == go
    assert match_taxonomy(go.labels[1:]) is None
    assert match_taxonomy([*go.labels, "hunger"]) is None
    assert match_taxonomy([]) is None


def test_every_built_in_mapping_loads() -> None:
    names = [
        entry.name.removesuffix(".toml")
        for entry in (files("affectlab.taxonomy") / "data" / "mappings").iterdir()
    ]
    assert len(names) == 5
    for name in names:
        mapping = map_labels(*name.split("--"))
        assert mapping.provenance
        assert len(mapping.targets) + len(mapping.unmapped) == len(mapping.source)
        assert all(len(reason) > 8 for reason in mapping.reasons.values())
        assert mapping.matrix().sum() == len(mapping.targets)


def test_mapping_by_name_and_what_is_missing() -> None:
    mapping = map_labels("emonet_face", "mikels")
    assert mapping["elation"] == "excitement"
    assert mapping["Pain"] is None
    assert mapping.sources("FEAR") == ("Fear", "Distress")
    frame = mapping.to_frame()
    assert frame.height == 40
    assert frame["target"].null_count() == len(mapping.unmapped)
    with pytest.raises(InputError, match="no built-in mapping from 'russell' to 'ekman'"):
        map_labels("russell", "ekman")
    assert map_labels("ekman", "ekman")["happy"] == "joy"


def test_own_mapping_file_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(
        'source = "russell"\ntarget = "ekman"\nprovenance = "test"\n[labels]\nvalence = "joi"\n'
    )
    with pytest.raises(InputError, match=r"own.toml: .*'valence': unknown label 'joi'.*'joy'"):
        map_labels("russell", "ekman", path=path)
    path.write_text(
        'source = "russell"\ntarget = "ekman"\nprovenance = "test"\n[labels]\nvalence = "joy"\n'
    )
    with pytest.raises(InputError, match="'arousal' is neither mapped and declared unmapped"):
        map_labels("russell", "ekman", path=path)
    path.write_text(path.read_text() + '[unmapped]\narousal = "no counterpart"\n')
    assert map_labels("russell", "ekman", path=path)["pleasure"] == "joy"
