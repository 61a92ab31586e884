"""Raters given as functions: labels, scales, outcomes, ledgers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest
from hypothesis import given, strategies as st
from tests.models.raters.conftest import pictures

from affectlab.core.errors import InputError
from affectlab.evaluation import outcome_table
from affectlab.models.raters import (
    Answer,
    Face,
    Rater,
    list_raters,
    load_rater,
    rate,
)
from affectlab.models.raters.rate import BrokenLedgerWarning, InFlightWarning, UnreadStimulusWarning
from affectlab.models.raters.rater import answer_of, largest
from affectlab.ratings import Ratings, read_ratings
from affectlab.taxonomy import map_labels

LABELS = ("happy", "sad", "calm")


def rater(answer: Any, **more: Any) -> Rater:
    def rate(batch: Any) -> list[Any]:
        return [answer(one) if callable(answer) else answer for one in batch]

    return Rater("mine", rate, more.pop("labels", LABELS), **more)


def by_label(found: Ratings, stimulus: str) -> dict[str, float | None]:
    frame = found.to_frame().filter(stimulus=stimulus)
    return dict(frame.select("label", "value").iter_rows())


@pytest.mark.parametrize(
    ("given", "outcome", "said"),
    [
        ({"happy": 0.2, "sad": 0.3, "calm": 0.5}, "ok", ""),
        ([], "empty", "no face found"),
        ([Face({"happy": 1, "sad": 0, "calm": 0})], "ok", ""),
        ({"happy": 0.2, "sad": 0.3}, "schema_invalid", "label 'calm' is missing"),
        (
            {"happy": 0.2, "sad": 0.3, "calm": 1.5},
            "schema_invalid",
            "calm = 1.5: expected interval",
        ),
        ({"happy": 0.2, "sad": float("nan"), "calm": 0}, "schema_invalid", "sad = nan"),
        ({"happy": None, "sad": 0, "calm": 0}, "schema_invalid", "happy = None"),
        ({"Happy": 0.2, "sad": 0.3, "calm": 0}, "schema_invalid", "'Happy' is none of"),
        ("joy", "unparseable", "gave str"),
        (None, "unparseable", "gave NoneType"),
        ([{"happy": 1}], "unparseable", "gave list"),
        (ValueError("no\nway"), "rejected", "ValueError: no way"),
        (Answer("refused", problem="not allowed"), "refused", "not allowed"),
        (Answer("ok", {"happy": 3, "sad": 0, "calm": 0}), "schema_invalid", "happy = 3"),
    ],
)
def test_what_becomes_of_what_a_rater_gives(
    given: Any, outcome: str, said: str, tmp_path: Path
) -> None:
    found = rate(rater(given), pictures(tmp_path / "p", 50), path=tmp_path / "o")
    row = pl.read_csv(tmp_path / "o" / "answers.csv").row(0, named=True)
    assert row["outcome"] == outcome
    assert said in (row["problem"] or "")
    # Whatever it is, there is a row for each label, and no 0 that nobody gave.
    assert found.label_names == LABELS
    if outcome != "ok":
        assert found.to_frame()["value"].null_count() == 3
        assert outcome_table(found).to_frame("usable")[outcome][0] == 1
    found.write(tmp_path / "r.parquet")
    assert read_ratings(tmp_path / "r.parquet").equals(found)


@given(
    st.lists(
        st.tuples(st.floats(0.1, 100), st.floats(0.1, 100), st.floats(0, 1)), min_size=1, max_size=6
    ),
    st.booleans(),
)
def test_the_largest_face(sizes: list[tuple[float, float, float]], boxes: bool) -> None:
    faces = [
        Face({"happy": k}, (0, 0, wide, high) if boxes else None, sure)
        for k, (wide, high, sure) in enumerate(sizes)
    ]
    keys = [wide * high if boxes else sure for wide, high, sure in sizes]
    assert largest(faces).scores["happy"] == keys.index(max(keys))


def test_unknown_outcomes_are_refused() -> None:
    with pytest.raises(InputError, match="unknown outcome 'fine'"):
        Answer("fine")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"labels": ()}, "no labels"),
        ({"labels": ("a", "a")}, "label 'a' stands twice"),
        ({"scale": "nominal:a,b"}, "expected one of numbers"),
        ({"batch": 0}, "batch = 0"),
        ({"join": "mean"}, "unknown way to join scores 'mean'"),
    ],
)
def test_raters_that_are_none(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        rater({}, **settings)


def test_functions_and_names() -> None:
    def glad(batch: Any) -> list[Any]:
        return [{"happy": 1.0} for _ in batch]

    assert load_rater(glad).others
    glad.labels, glad.version = ("happy",), "7"  # type: ignore[attr-defined]
    assert load_rater(glad).version == "7"
    with pytest.raises(InputError, match="threshold"):
        load_rater(glad, threshold=1)
    with pytest.raises(InputError, match="not int"):
        load_rater(3)  # type: ignore[arg-type]
    assert "hume" in list_raters()


class TestLabels:
    scores: ClassVar[dict[str, float]] = {"happy": 0.5, "sad": 0.3, "calm": 0.2}

    def test_a_file_of_ones_own(self, tmp_path: Path) -> None:
        file = tmp_path / "mine.toml"
        file.write_text(
            'source = "mine"\ntarget = "ekman"\nprovenance = "me"\n'
            '[labels]\nhappy = "joy"\ncalm = "joy"\n[unmapped]\nsad = "for a test"\n'
        )
        images = pictures(tmp_path / "p", 50)
        most = rate(rater(self.scores), images, label_map=file)
        assert by_label(most, "w50") == {"joy": 0.5}
        assert most.raters["left_out"][0] == "sad: for a test"
        added = rate(rater(self.scores, join="sum"), images, "ekman", file)
        assert by_label(added, "w50") == {"joy": pytest.approx(0.7)}
        file.write_text(file.read_text().replace('source = "mine"', 'source = "other"'))
        with pytest.raises(InputError, match="source = 'other'; expected 'mine'"):
            rate(rater(self.scores), images, label_map=file)
        file.write_text(file.read_text().replace('"other"', '"mine"').replace("sad", "bad"))
        with pytest.raises(InputError, match=r"mine\.toml: .*unknown label 'bad'"):
            rate(rater(self.scores), images, label_map=file)

    def test_names_given(self, tmp_path: Path) -> None:
        images = pictures(tmp_path / "p", 50)
        told = {"happy": "joy", "sad": "SADNESS"}
        found = rate(rater(self.scores), images, "ekman", told)
        assert by_label(found, "w50") == {"joy": 0.5, "sadness": 0.3}
        with pytest.raises(InputError, match="unknown label 'hapy'; did you mean 'happy'"):
            rate(rater(self.scores), images, "ekman", {"hapy": "joy"})
        with pytest.raises(InputError, match="unknown label 'glee'"):
            rate(rater(self.scores), images, "ekman", {"happy": "glee"})
        with pytest.raises(InputError, match="but to no taxonomy"):
            rate(rater(self.scores), images, label_map=told)

    def test_mappings_of_affectlab(self, tmp_path: Path) -> None:
        images = pictures(tmp_path / "p", 50)
        fine = {"amusement": 0.1, "contentment": 0.6, "anger": 0.3, "awe": 0.0}
        own = rater(fine, labels=tuple(fine))
        found = rate(own, images, label_map=map_labels("mikels", "ekman"))
        assert by_label(found, "w50") == {"anger": 0.3, "joy": 0.6}
        assert found.raters["left_out"][0].startswith("awe: ")
        with pytest.raises(InputError, match="0 of 1 labels have a name there"):
            rate(rater({"x": 1.0}, labels=("x",)), images, "ekman")
        with pytest.raises(InputError, match="unknown label 'x'"):
            rate(
                rater({"x": 1.0}, labels=("x",)),
                images,
                label_map=map_labels("mikels", "ekman"),
            )

    def test_a_failure_has_rows_of_the_same_labels(self, tmp_path: Path) -> None:
        images = pictures(tmp_path / "p", 50, 51)
        sometimes = rater(lambda image: [] if image.width == 50 else self.scores)
        told = {"happy": "joy", "sad": "sadness"}
        found = rate(sometimes, images, "ekman", told)
        assert by_label(found, "w50") == {"joy": None, "sadness": None}
        assert by_label(found, "w51") == {"joy": 0.5, "sadness": 0.3}


class TestFiles:
    def test_broken_images(self, tmp_path: Path) -> None:
        images = pictures(tmp_path / "p", 50)
        (images / "broken.png").write_bytes(b"\x89PNG no")
        good = {"happy": 1, "sad": 0, "calm": 0}
        with pytest.raises(InputError, match=r"stimulus 'broken': .*broken\.png"):
            rate(rater(good), images)
        with pytest.warns(UnreadStimulusWarning, match="1 picture could not be read"):
            found = rate(rater(good), images, path=tmp_path / "o", on_bad="set_aside")
        assert found.stimulus_names == ("w50",)
        rows = pl.read_csv(tmp_path / "o" / "answers.csv").select("stimulus", "outcome").rows()
        assert rows == [("w50", "ok"), ("broken", "not asked")]
        with pytest.raises(InputError, match="unknown on_bad 'skip'"):
            rate(rater(good), images, on_bad="skip")  # type: ignore[arg-type]

    def test_nothing_but_broken_images(self, tmp_path: Path) -> None:
        (tmp_path / "p").mkdir()
        (tmp_path / "p" / "a.png").write_bytes(b"no")
        with (
            pytest.warns(UnreadStimulusWarning),
            pytest.raises(InputError, match="no picture could be read"),
        ):
            rate(rater({}), tmp_path / "p", on_bad="set_aside")

    def test_what_was_rated_is_not_rated_again(self, tmp_path: Path) -> None:
        images = pictures(tmp_path / "p", *range(50, 60))
        seen: list[int] = []

        def one(image: Any) -> dict[str, float]:
            if len(seen) == 4:
                raise KeyboardInterrupt
            seen.append(image.width)
            return {"happy": image.width / 100, "sad": 0, "calm": 0}

        with pytest.raises(KeyboardInterrupt):
            rate(rater(one), images, path=tmp_path / "o")
        ledger = tmp_path / "o" / "ledger.jsonl"
        # A line that was cut off is asked about again.
        *lines, asked = ledger.read_bytes().splitlines(keepends=True)
        assert b"asking" in asked
        ledger.write_bytes(b"".join(lines)[:-20])
        again: list[int] = []

        def two(image: Any) -> dict[str, float]:
            again.append(image.width)
            return {"happy": image.width / 100, "sad": 0, "calm": 0}

        with pytest.warns(BrokenLedgerWarning, match="1 line of the ledger could not be read"):
            found = rate(rater(two), images, path=tmp_path / "o")
        assert again == list(range(53, 60))
        assert found.matrix("happy")[0].tolist() == [width / 100 for width in range(50, 60)]

    def test_what_was_in_flight_waits_for_its_own_rater(self, tmp_path: Path) -> None:
        images = pictures(tmp_path / "p", 50, 51)

        fine = dict.fromkeys(LABELS, 0.5)

        def one(image: Any, _: Any) -> dict[str, float]:
            if image.width == 51:
                raise KeyboardInterrupt
            return fine

        def asked(answer: Any, **more: Any) -> Rater:
            return rater({}, ask=answer, **more)

        with pytest.raises(KeyboardInterrupt):
            rate(asked(one), images, path=tmp_path / "o")
        # Another setting asks in between; nothing of its own was in flight.
        rate(asked(lambda *_: fine, version="2"), images, path=tmp_path / "o")
        with pytest.warns(InFlightWarning, match=r"1 picture was in flight .* \(w51\)"):
            rate(asked(lambda *_: fine), images, path=tmp_path / "o")
        # It is said until there is an answer.
        rate(asked(lambda *_: fine), images, path=tmp_path / "o")

    def test_a_folder_that_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        with pytest.raises(InputError, match="cannot be made"):
            rate(rater({}), pictures(tmp_path / "p", 50), path=tmp_path / "file")


def test_a_batch_with_too_few_answers_is_rated_one_by_one(tmp_path: Path) -> None:
    sizes: list[int] = []

    def short(batch: Any) -> list[Any]:
        sizes.append(len(batch))
        return [{"happy": 1.0}] * min(len(batch), 1)

    short.labels, short.batch = ("happy",), 3  # type: ignore[attr-defined]
    found = rate(short, pictures(tmp_path / "p", 50, 51, 52, 53))
    assert sizes == [3, 2, 1, 1, 1, 1]
    assert found.value.tolist() == [1.0] * 4


def test_answers_of_a_lone_face_keep_their_scores() -> None:
    face = Face({"happy": 0.1, "sad": 0.2, "calm": 0.3})
    assert answer_of([face], rater({})).scores == face.scores
