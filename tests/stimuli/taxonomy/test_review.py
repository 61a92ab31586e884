"""Reviews that a person edits, and the taxonomies and versions that they become."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.stimuli.taxonomy import read_review, revised_taxonomy, taxonomy_of
from affectlab.stimuli.taxonomy.review import Review, ReviewRow
from affectlab.stimuli.taxonomy.versions import next_version
from affectlab.taxonomy import Taxonomy, load_taxonomy
from affectlab.taxonomy.history import LabelChange, TaxonomyRevision
from affectlab.taxonomy.label import Label

LINE = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=20).map(
    lambda text: " ".join(text.split())
)
NAME = LINE.filter(lambda text: bool(text) and not text.startswith("'"))
NUMBERS = st.one_of(st.integers(-(10**6), 10**6), st.sampled_from([0.5, 0.0123, 1e-05, 2.5e10]))
ROWS = st.lists(
    st.tuples(NAME, st.sampled_from(["keep", "add", "drop"]), NAME, LINE, NUMBERS),
    min_size=1,
    max_size=6,
    unique_by=lambda row: row[0],
)


@given(ROWS)
def test_a_review_comes_back_from_its_file(
    tmp_path_factory: pytest.TempPathFactory, rows: list
) -> None:
    made = Review(
        tuple(
            ReviewRow(term, decision, "", reason, definition=more, evidence={"n": number})
            for term, decision, reason, more, number in rows
        )
    )
    path = made.write(tmp_path_factory.mktemp("review") / "review.csv")
    back = read_review(path)
    assert back.rows == made.rows


def test_a_spreadsheet_computes_nothing(tmp_path: Path) -> None:
    made = Review((ReviewRow("=1+1", "keep", reason="-x", groups={"a": "b", "c": "d"}),))
    path = made.write(tmp_path / "review.csv")
    text = path.read_text("utf-8")
    assert "'=1+1" in text
    assert "'-x" in text
    assert read_review(path).rows == made.rows


HEAD = "term,decision,label,reason\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "there is no such file"),
        (b"\xff", "not a review as CSV in UTF-8"),
        ("term,reason\na,b\n", "column 'decision' is missing"),
        (HEAD, "the review has no rows"),
        (HEAD + "joy,keep\n", "row 2: 2 cells; expected 4"),
        (HEAD + ",keep,,x\n", "row 2: the term is empty"),
        (HEAD + "joy,keeep,,x\n", "row 2: 'joy': unknown decision 'keeep'; did you mean 'keep'"),
        (HEAD + "joy,drop,,\n", "row 2: 'joy': drop has no reason"),
        (HEAD + "joy,merge,,x\n", "row 2: 'joy': merge names no label"),
        (HEAD + "joy,merge,glee,x\nglee,drop,,x\n", "'joy' is merged into: unknown label 'glee'"),
        (HEAD + "joy,keep,,x\njoy,drop,,x\n", "'joy' stands twice"),
        (HEAD + "joy,keep,glee,x\nglee,keep,,x\n", "both become 'glee'"),
        (HEAD + 'joy,keep,,"x\n', "not a review as CSV"),
        ("term,decision,reason,groups\njoy,add,x,sentiment\n", "groups: 'sentiment' is not"),
    ],
)
def test_reviews_that_cannot_be_used(
    tmp_path: Path, content: str | bytes | None, said: str
) -> None:
    path = tmp_path / "review.csv"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as raised:
        read_review(path)
    assert said in str(raised.value)


def test_what_a_person_may_do_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / "review.csv"
    text = '\ufeffreason,decision,TERM?,term,label\n"two\nlines", KEEP ,x,joy,\n\n'
    path.write_text(text, "utf-8")
    assert read_review(path).rows == (ReviewRow("joy", "keep", "", "two lines"),)


def test_the_first_version(tmp_path: Path) -> None:
    review = Review(
        (
            ReviewRow("joy", "keep", "happiness", "plainer", "positive", "A good mood."),
            ReviewRow("glee", "merge", "happiness", "a shade", evidence={"similarity": 0.9}),
            ReviewRow("fear", "keep", reason="in 9 blocks"),
            ReviewRow("hygge", "drop", reason="in 1 block"),
        )
    )
    made = taxonomy_of(review, name="mine", title="Mine", source="texts", neutral="none").taxonomy
    assert made.labels == ("happiness", "fear", "none")
    assert made.label("happiness") == Label(
        "happiness", "A good mood.", "positive", words=("joy", "glee")
    )
    assert made.label("fear").words == ()
    assert made.neutral == "none"
    (first,) = made.history
    assert (first.version, first.parent, first.source) == ("1", "", "texts")
    assert [(one.action, one.label, one.into) for one in first.changes] == [
        ("rename", "joy", "happiness"),
        ("merge", "glee", "happiness"),
        ("keep", "fear", ""),
        ("drop", "hygge", ""),
    ]
    assert first.changes[1].evidence == {"similarity": 0.9}
    path = made.save(tmp_path / "mine.toml")
    assert load_taxonomy(path) == made
    with pytest.raises(InputError, match="no term is kept"):
        taxonomy_of(Review((ReviewRow("joy", "drop", reason="x"),)), name="mine")


def all_kept(taxonomy: Taxonomy, *changed: ReviewRow) -> Review:
    told = {row.term: row for row in changed}
    kept = [told.pop(label, ReviewRow(label, "keep", reason="fine")) for label in taxonomy.labels]
    return Review((*kept, *told.values()))


def test_the_next_version_keeps_what_it_can() -> None:
    parent = load_taxonomy("goemotions")
    review = all_kept(
        parent,
        ReviewRow("grief", "merge", "sadness", "confused"),
        ReviewRow("relief", "drop", reason="scarce"),
        ReviewRow("joy", "keep", "happiness", "plainer"),
        ReviewRow(
            "boredom", "add", reason="suggested", polarity="negative",
            groups={"ekman": "sadness", "directed": "intrinsic"},
        ),
    )  # fmt: skip
    made = revised_taxonomy(parent, review, source="pilot").taxonomy
    assert made.version == "2"
    assert len(made) == len(parent) - 1
    assert made.labels[-2:] == ("boredom", "neutral")
    assert made.name_of("grief") == "sadness"
    assert made.name_of("joy") == "happiness"
    assert "relief" not in made
    assert made.label("boredom").groups == {
        "ekman": "sadness",
        "sentiment": "negative",
        "directed": "intrinsic",
    }
    assert made.label("anger") == parent.label("anger")
    first, second = made.history
    assert first == TaxonomyRevision("1", source=parent.source)
    assert second.parent == "1"
    assert second.parent_sha256 == sha256(parent.to_toml().encode()).hexdigest()
    assert LabelChange("merge", "grief", "sadness", "confused") in second.changes
    assert len(second.changes) == len(parent) + 1
    assert Taxonomy.from_toml(made.to_toml()) == made


def test_a_wheel_and_opposites() -> None:
    parent = load_taxonomy("plutchik")
    assert parent.ring is not None
    smaller = revised_taxonomy(parent, all_kept(parent, ReviewRow("trust", "drop", reason="x")))
    assert smaller.taxonomy.ring == tuple(one for one in parent.ring if one != "trust")
    lost = parent.label("trust").opposite
    assert smaller.warnings == (f"{lost!r} has lost its opposite, 'trust'",)
    renamed = revised_taxonomy(
        parent, all_kept(parent, ReviewRow("trust", "keep", "faith", "plainer"))
    )
    assert renamed.warnings == ()
    assert renamed.taxonomy.label(str(lost)).opposite == "faith"
    larger = revised_taxonomy(
        parent,
        all_kept(
            parent, ReviewRow("awe", "add", reason="x", groups=dict.fromkeys(parent.levels, "g"))
        ),
    )
    assert larger.taxonomy.ring is None
    assert larger.warnings == ("the wheel is left out: 'awe' has no place on it",)


def test_derived_costs_follow() -> None:
    parent = Taxonomy(
        "mine",
        (Label("up"), Label("high"), Label("down")),
        reference="mikels",
        stands_for={"up": ("awe",), "high": ("excitement",), "down": ("sadness",)},
    )
    merged = revised_taxonomy(parent, all_kept(parent, ReviewRow("high", "merge", "up", "same")))
    assert merged.taxonomy.stands_for == {"up": ("awe", "excitement"), "down": ("sadness",)}
    assert merged.taxonomy.cost_matrix().labels == ("up", "down")
    added = revised_taxonomy(parent, all_kept(parent, ReviewRow("side", "add", reason="x")))
    assert added.taxonomy.reference is None
    assert added.warnings[0].startswith("costs are no longer derived from mikels")


def test_the_label_for_no_emotion_can_go() -> None:
    parent = Taxonomy.from_labels(["up", "none"], neutral="none")
    gone = revised_taxonomy(parent, all_kept(parent, ReviewRow("none", "drop", reason="x")))
    assert gone.taxonomy.neutral is None
    assert gone.warnings == ("'none', the label for no emotion, is gone",)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ((ReviewRow("joy", "keep", reason="x"),), "label 'admiration' of goemotions is missing"),
        ("add-there", "'joy' is a label already; expected keep"),
        ("no-group", "'boredom' has no group at level 'ekman' of goemotions; expected groups such"),
    ],
)
def test_revisions_that_do_not_fit(rows: object, said: str) -> None:
    parent = load_taxonomy("goemotions")
    if rows == "add-there":
        review = all_kept(parent, ReviewRow("joy", "add", reason="x"))
    elif rows == "no-group":
        review = all_kept(parent, ReviewRow("boredom", "add", reason="x"))
    else:
        review = Review(rows)  # type: ignore[arg-type]
    with pytest.raises(InputError) as raised:
        revised_taxonomy(parent, review)
    assert said in str(raised.value)


def test_versions() -> None:
    parent = Taxonomy.from_labels(["up"])
    review = all_kept(parent)
    chain = parent
    for _ in range(3):
        chain = revised_taxonomy(chain, review).taxonomy
    assert [(one.version, one.parent) for one in chain.history] == [
        ("1", ""),
        ("2", "1"),
        ("3", "2"),
        ("4", "3"),
    ]
    with pytest.raises(InputError, match="version '2' of custom exists"):
        revised_taxonomy(chain, review, version="2")
    assert revised_taxonomy(chain, review, version="final").taxonomy.version == "final"
    assert next_version("2024-05") == "2024-06"
    assert Taxonomy.from_toml(replace(chain, title="t").to_toml()).history == chain.history


def test_coarser_labels_have_no_history() -> None:
    parent = load_taxonomy("goemotions")
    made = revised_taxonomy(parent, all_kept(parent)).taxonomy
    assert made.coarsen("sentiment").history == ()
